/* channel.c - two descriptors: lines of requests, and lines of replies.
 */
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../run/growing.h"

enum { FIRST_BYTES = 1 << 16 };

/* Whether it is open for that; a descriptor of a file has a mode, O_RDWR or one of the others. */
static bool is_open(int fd, int mode)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && ((flags & O_ACCMODE) == O_RDWR || (flags & O_ACCMODE) == mode);
}

/* Waits until the other end is closed; files have none. poll reports that even if it is asked for
 * nothing. A descriptor that we have closed is POLLNVAL. A program that leads a session has started
 * the others of its group; one that leads a group alone may stand first in a pipeline. */
static void *watch(void *ud)
{
    struct pollfd out = { .fd = (int)(intptr_t)ud };
    while (poll(&out, 1, -1) < 0 && errno == EINTR)
        continue;
    if (out.revents & (POLLERR | POLLHUP)) kill(getsid(0) == getpid() ? 0 : getpid(), SIGTERM);
    return NULL;
}

/* On a thread, since a script may run for ever. Signals are for the program's other threads. Where
 * there is no thread to be had, the end of the requests ends the program. */
static void start_watch(int out)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch, (void *)(intptr_t)out) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool channel_open(channel *c, int in, int out, char *message, int message_bytes)
{
    *c = (channel){ .in = in, .out = out };
    bool reads = is_open(in, O_RDONLY), writes = is_open(out, O_WRONLY);
    if (!reads || !writes) {
        snprintf(message, (size_t)message_bytes,
                 "--server needs descriptor %d open to read requests from, and %d to write replies"
                 " to; %d is not",
                 in, out, reads ? out : in);
        return false;
    }
    fcntl(in, F_SETFD, FD_CLOEXEC);
    fcntl(out, F_SETFD, FD_CLOEXEC);
    start_watch(out);
    return true;
}

void channel_close(channel *c)
{
    free(c->bytes);
    *c = (channel){ .in = -1, .out = -1 };
}

/* Makes room behind the bytes that are there. */
static bool reserve(channel *c)
{
    if (c->begin) memmove(c->bytes, c->bytes + c->begin, c->end - c->begin);
    c->end -= c->begin;
    c->begin = 0;
    return GROW(c->bytes, c->room, c->end < FIRST_BYTES ? FIRST_BYTES : c->end + 1);
}

/* Reads what there is into the memory. False at the end. */
static bool fill(channel *c)
{
    ssize_t n;
    do {
        n = read(c->in, c->bytes + c->end, c->room - c->end);
    } while (n < 0 && errno == EINTR);
    if (n > 0) c->end += (size_t)n;
    return n > 0;
}

void channel_await(const channel *c)
{
    struct pollfd in = { .fd = c->in, .events = POLLIN };
    while (c->begin == c->end && poll(&in, 1, -1) < 0 && errno == EINTR)
        continue;
}

channel_result channel_read_line(channel *c, const char **line, size_t *len)
{
    bool too_long = false;
    for (size_t seen = 0;;) {
        char *from = c->bytes + c->begin, *newline = NULL;
        size_t n = c->end - c->begin;
        if (n > seen) newline = memchr(from + seen, '\n', n - seen);
        if (newline) {
            *line = from;
            *len = (size_t)(newline - from);
            c->begin += *len + 1;
            return too_long || *len > CHANNEL_MOST_LINE_BYTES ? CHANNEL_TOO_LONG : CHANNEL_LINE;
        }
        seen = n;
        if (n > CHANNEL_MOST_LINE_BYTES || !reserve(c)) {
            too_long = true;
            seen = c->begin = c->end = 0;
        }
        if (!fill(c)) return CHANNEL_END;
    }
}

bool channel_read(channel *c, char *to, size_t n)
{
    while (n > 0) {
        size_t there = c->end - c->begin, some = there < n ? there : n;
        if (some == 0) {
            if (!reserve(c) || !fill(c)) return false;
            continue;
        }
        if (to) {
            memcpy(to, c->bytes + c->begin, some);
            to += some;
        }
        c->begin += some;
        n -= some;
    }
    return true;
}

bool channel_write(channel *c, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t some = write(c->out, bytes, n);
        if (some < 0 && errno == EINTR) continue;
        if (some <= 0) return false;
        bytes += some;
        n -= (size_t)some;
    }
    return true;
}
