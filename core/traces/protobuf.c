/* protobuf.c - messages in the wire format of Protocol Buffers: numbers of seven bits a byte, the lowest
 * first. */
#include "protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "../timeline/store.h"

enum { VARINT = 0, DELIMITED = 2 }; /* how a field's value is written */
enum { NUMBER_BYTES = 10 };

static size_t encode(uint64_t number, unsigned char bytes[NUMBER_BYTES])
{
    size_t n = 0;
    for (; number > 0x7f; number >>= 7)
        bytes[n++] = (unsigned char)(number | 0x80);
    bytes[n++] = (unsigned char)number;
    return n;
}

static void put(sl__proto *p, const void *bytes, size_t n)
{
    p->failed = p->failed || !SL__GROW(p->data, p->cap, p->n + n);
    if (p->failed || n == 0) return;
    memcpy(p->data + p->n, bytes, n);
    p->n += n;
}

void sl__proto_free(sl__proto *p) { free(p->data); }

void sl__proto_number(sl__proto *p, uint64_t number)
{
    unsigned char bytes[NUMBER_BYTES];
    put(p, bytes, encode(number, bytes));
}

static void put_key(sl__proto *p, unsigned field, unsigned type)
{
    sl__proto_number(p, (uint64_t)field << 3 | type);
}

void sl__proto_uint(sl__proto *p, unsigned field, uint64_t value)
{
    put_key(p, field, VARINT);
    sl__proto_number(p, value);
}

void sl__proto_text(sl__proto *p, unsigned field, const char *text)
{
    put_key(p, field, DELIMITED);
    sl__proto_number(p, strlen(text));
    put(p, text, strlen(text));
}

size_t sl__proto_begin(sl__proto *p, unsigned field)
{
    put_key(p, field, DELIMITED);
    return p->n;
}

void sl__proto_end(sl__proto *p, size_t begun)
{
    unsigned char length[NUMBER_BYTES];
    size_t inner = p->n - begun, n = encode(inner, length);
    put(p, length, n);
    if (p->failed) return;
    memmove(p->data + begun + n, p->data + begun, inner);
    memcpy(p->data + begun, length, n);
}

sl_status sl__proto_write(sl__proto *p, sl__outfile *file, sl_error *err)
{
    unsigned char length[NUMBER_BYTES];
    if (p->failed) return sl__no_memory(err, "a message of %zu bytes", p->n);
    sl__outfile_write(file, (const char *)length, encode(p->n, length));
    if (p->n > 0) sl__outfile_write(file, (const char *)p->data, p->n);
    p->n = 0;
    return SL_OK;
}
