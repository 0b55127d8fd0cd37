/* channel.h - two descriptors: lines of requests, between which there may be plain bytes, and
 * lines of replies.
 */
#ifndef REPL_CHANNEL_H
#define REPL_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

enum { CHANNEL_MOST_LINE_BYTES = 8 << 20 };

typedef enum channel_result { CHANNEL_LINE, CHANNEL_TOO_LONG, CHANNEL_END } channel_result;

typedef struct channel {
    int in, out;
    char *bytes; /* that were read and not yet taken: from `begin` to `end` */
    size_t room, begin, end;
} channel;

/* Programs that are started do not inherit them. When nobody can read replies any more, the program
 * gets SIGTERM: a client that was killed does not leave it running. False: a descriptor is not open
 * as it must be, which the message says. */
bool channel_open(channel *c, int in, int out, char *message, int message_bytes);
void channel_close(channel *c);

/* Waits until something can be read, or until the end. */
void channel_await(const channel *c);

/* The next line: *line, without its newline, is valid up to the next call. One that is too long,
 * or for which there is no memory, is read to its end and dropped. */
channel_result channel_read_line(channel *c, const char **line, size_t *len);

/* The next n bytes; false: there are fewer. Without `to` they are dropped. */
bool channel_read(channel *c, char *to, size_t n);

/* False: nobody reads them, or they cannot be written. */
bool channel_write(channel *c, const char *bytes, size_t n);

#endif
