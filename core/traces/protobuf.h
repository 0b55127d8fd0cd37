/* protobuf.h - messages in the wire format of Protocol Buffers: a growing text of bytes.
 *
 * A message within another one is begun, filled and ended; its length is put before it then. */
#ifndef SL_TRACES_PROTOBUF_H
#define SL_TRACES_PROTOBUF_H

#include "../text/outfile.h"

typedef struct sl__proto { /* all zero: empty */
    unsigned char *data;
    size_t n, cap;
    bool failed; /* no memory: what is called after that does nothing */
} sl__proto;

void sl__proto_free(sl__proto *proto);

void sl__proto_number(sl__proto *proto, uint64_t number); /* alone, as in a packed list */
void sl__proto_uint(sl__proto *proto, unsigned field, uint64_t value);
void sl__proto_text(sl__proto *proto, unsigned field, const char *text);
/* Also of a packed list. Gives what end wants. */
size_t sl__proto_begin(sl__proto *proto, unsigned field);
void sl__proto_end(sl__proto *proto, size_t begun);

/* Writes the message with its length before it, as files of several messages have it, and empties
 * it. SL_ENOMEM if it has failed. */
sl_status sl__proto_write(sl__proto *proto, sl__outfile *file, sl_error *err);

#endif
