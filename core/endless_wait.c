/* endless_wait.c - the error of a stream that waits for a value that nothing can write any more. */
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "dtype.h"
#include "tensor.h"

typedef struct number_text {
    char text[32];
} number_text;

static const char *text_of(sl_dtype dtype, uint32_t bits, number_text *of)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    if (dtype == SL_FLOAT32)
        snprintf(of->text, sizeof of->text, "%g", (double)number);
    else
        snprintf(of->text, sizeof of->text, "%d", (int)bits);
    return of->text;
}

static const char *text_at(const sl_device *device, uint32_t id)
{
    return sl__strings_text(&device->core->strings, id);
}

sl_status sl__wait_value_fail(const sl_op *op, uint32_t found, sl_error *err)
{
    static const char *const signs[SL_COMPARES] = { "at least", "equal to", "with a bit of" };
    const sl_operand *at = &op->side[0];
    const sl_buffer *buffer = at->buffer;
    const char *where = text_at(op->stream->device, op->where),
               *made = text_at(buffer->device, buffer->where);
    sl__shape_text shape;
    number_text wanted, there;
    return sl_fail(
        err, SL_ESTATE,
        "nothing can go on: wait_value%s%.60s waits until element %zu of tensor %llu "
        "(%.60s %s%s%.60s) is %s %s, it is %s, and nothing is left that could change it; "
        "t:set(i, v) of pinned memory, or write_value in another stream, ends it",
        *where ? " in " : "", where, at->offset / sizeof found + 1,
        (unsigned long long)buffer->tensor_id, sl__shape_format(&buffer->made_as, &shape),
        sl_dtype_name(buffer->made_as.dtype), *made ? ", made in " : "", made,
        signs[op->work.compare], text_of((sl_dtype)op->work.dtype, op->work.word, &wanted),
        text_of((sl_dtype)op->work.dtype, found, &there));
}
