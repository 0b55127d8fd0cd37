/* stream_value.c - values that streams write and wait for.
 *
 * A word is an event with a value: its latest write is the event's record. A wait that this write
 * satisfies is a wait for the event, for timelines and for the race checker. One that it does not
 * satisfy has no event: what will, only the device knows. */
#include <math.h>
#include <stdlib.h>

#include "device.h"
#include "dtype.h"
#include "observers.h"
#include "op.h"
#include "stream.h"
#include "table.h"
#include "tensor.h"

typedef struct word {
    sl__entry by_place, by_buffer;
    sl_buffer *buffer; /* borrowed: the word goes with it */
    size_t offset;
    sl_event *event;
    uint32_t value; /* of the latest write, if the event has a record */
} word;

static sl__table places, buffers; /* the same words */

static word *of_buffer(const sl_buffer *buffer)
{
    sl__entry *at = sl__table_find(&buffers, sl__table_key(buffer, 0, 0));
    for (; at; at = sl__table_next(at)) {
        word *found = (word *)((char *)at - offsetof(word, by_buffer));
        if (found->buffer == buffer) return found;
    }
    return NULL;
}

static void buffer_closed(sl_buffer *buffer);
static sl__observer observer = { .buffer_closed = buffer_closed };

static void free_if_empty(void)
{
    if (places.n > 0) return;
    sl__unobserve(&observer);
    sl__table_free(&places);
    sl__table_free(&buffers);
}

static void buffer_closed(sl_buffer *buffer)
{
    for (word *gone; (gone = of_buffer(buffer));) {
        sl__table_remove(&places, &gone->by_place);
        sl__table_remove(&buffers, &gone->by_buffer);
        sl_event_release(gone->event);
        free(gone);
    }
    free_if_empty();
}

static word *find(const sl_operand *of)
{
    sl__entry *at = sl__table_find(&places, sl__table_key(of->buffer, of->offset, 0));
    for (; at; at = sl__table_next(at)) {
        word *found = (word *)at;
        if (found->buffer == of->buffer && found->offset == of->offset) return found;
    }
    return NULL;
}

static bool add(word *made)
{
    const sl_buffer *buffer = made->buffer;
    if (!sl__table_add(&places, &made->by_place, sl__table_key(buffer, made->offset, 0)))
        return false;
    if (sl__table_add(&buffers, &made->by_buffer, sl__table_key(buffer, 0, 0))) return true;
    sl__table_remove(&places, &made->by_place);
    return false;
}

static sl_status make(const sl_stream *stream, const sl_operand *of, word **out, sl_error *err)
{
    sl_event *event;
    *out = find(of);
    if (*out) return SL_OK;
    sl_status status = sl_event_create(stream->device, false, &event, err);
    if (status != SL_OK) return status;
    word *made = malloc(sizeof *made);
    if (made) *made = (word){ .buffer = of->buffer, .offset = of->offset, .event = event };
    if (!made || !add(made)) {
        free(made);
        free_if_empty();
        sl_event_release(event);
        return sl__no_memory(err, "a word that streams write");
    }
    *out = made;
    sl__observe(&observer);
    return SL_OK;
}

/* ---- what both check ---- */

/* Memory of lab.cuda.malloc has no type: it is taken as words. */
static sl_status check_memory(const sl_tensor *tensor, sl_error *err)
{
    const sl_dtype dtype = tensor->spec.dtype;
    if (tensor->spec.place == SL_PAGEABLE)
        return sl_fail(err, SL_EPLACE,
                       "the tensor is in pageable memory, which the GPU cannot reach: pin it");
    if (dtype != SL_INT32 && dtype != SL_FLOAT32 && dtype != SL_UINT8)
        return sl_fail(err, SL_EDTYPE,
                       "takes 32-bit elements (int32, float32, or uint8 as words of four), got %s",
                       sl_dtype_name(dtype));
    return SL_OK;
}

bool sl_tensor_has_words(const sl_tensor *tensor)
{
    return tensor->spec.place != SL_ON_DEVICE || tensor->buffer->how == SL_ALLOC_PLAIN;
}

static sl_status find_word(const sl_stream *stream, const sl_tensor *tensor, int64_t elem,
                           sl_operand *at, sl_error *err)
{
    sl_status status = sl__tensor_check_stream(tensor, "the tensor", stream, err);
    if (status == SL_OK) status = check_memory(tensor, err);
    if (status != SL_OK) return status;
    const int64_t n = (int64_t)(tensor->bytes / sizeof(uint32_t));
    if (elem < 0 || elem >= n)
        return sl_fail(err, SL_ESHAPE, "element %lld of a tensor that has %lld of 32 bits",
                       (long long)elem + 1, (long long)n);
    *at = sl__operand_part(tensor, sizeof(uint32_t), 0);
    at->offset += (size_t)elem * sizeof(uint32_t);
    if (at->offset % sizeof(uint32_t) != 0)
        return sl_fail(err, SL_EINVAL, "the view begins at byte %zu: words begin at multiples of 4",
                       tensor->offset);
    return SL_OK;
}

static sl_status check_value(const sl_tensor *tensor, double value, sl_work *work, sl_error *err)
{
    const bool whole = value == trunc(value) && value >= INT32_MIN && value <= INT32_MAX;
    const sl_dtype dtype = tensor->spec.dtype == SL_FLOAT32 ? SL_FLOAT32 : SL_INT32;
    if (dtype == SL_INT32 && !whole)
        return sl_fail(err, SL_EINVAL,
                       "the value of an int32 element is whole, from %d to %d, got %.14g",
                       INT32_MIN, INT32_MAX, value);
    if (dtype == SL_FLOAT32 && work->kind == SL_WORK_WAIT_VALUE && work->compare != SL_COMPARE_EQ)
        return sl_fail(err, SL_EDTYPE,
                       "the GPU compares bits as whole numbers: float32 elements can only be "
                       "compared with \"eq\"");
    if (work->kind == SL_WORK_WAIT_VALUE && work->compare == SL_COMPARE_AND && value == 0)
        return sl_fail(err, SL_EINVAL,
                       "\"and\" with 0 is never true: the stream would wait for ever");
    work->dtype = (uint8_t)dtype;
    sl__dtype_from_double(dtype, &value, 1, &work->word);
    return SL_OK;
}

/* Makes the operation; `side` is where the word is. */
static sl_status begin(sl_stream *stream, sl_tensor *tensor, int64_t elem, double value,
                       sl_work *work, sl_operand *at, sl_error *err)
{
    sl_status status = sl__stream_enter(stream, sl_work_row_of(work->kind)->name, err);
    if (status == SL_OK) status = find_word(stream, tensor, elem, at, err);
    if (status == SL_OK) status = check_value(tensor, value, work, err);
    if (status != SL_OK) return status;
    work->bytes = sizeof work->word;
    return SL_OK;
}

/* ---- the two ---- */

sl_status sl_stream_write_value(sl_stream *stream, sl_tensor *tensor, int64_t elem, double value,
                                sl_error *err)
{
    sl_work work = { .kind = SL_WORK_WRITE_VALUE };
    sl_operand side[SL_SIDES] = { { .buffer = NULL } };
    word *written;
    sl_op *op;
    sl_status status = begin(stream, tensor, elem, value, &work, &side[SL_OUTPUT], err);
    if (status == SL_OK) status = make(stream, &side[SL_OUTPUT], &written, err);
    if (status != SL_OK) return status;
    side[SL_OUTPUT].access = SL_WRITES;
    status = sl__op_begin(stream, &work, &(sl__operands){ .side = side, .event = written->event },
                          &op, err);
    if (status == SL_OK) status = sl__op_submit(op, err);
    if (status == SL_OK && !stream->branch) {
        written->event->record_seq = op->seq;
        written->event->record_stream = stream->id;
        written->value = work.word;
    }
    return sl__device_finish(stream->device, status, err);
}

/* The word itself is no access: that another writes it meanwhile is what the wait is for. */
sl_status sl_stream_wait_value(sl_stream *stream, sl_tensor *tensor, int64_t elem, double value,
                               sl_compare compare, sl_error *err)
{
    sl_work work = { .kind = SL_WORK_WAIT_VALUE, .compare = (uint8_t)compare };
    sl_operand side[SL_SIDES] = { { .buffer = NULL } };
    sl_op *op;
    sl_status status = begin(stream, tensor, elem, value, &work, &side[0], err);
    if (status != SL_OK) return status;
    const word *found = find(&side[0]);
    const bool is_written = found && found->event->record_seq
                            && sl_compare_holds(compare, found->value, work.word);
    status = sl__op_begin(
        stream, &work, &(sl__operands){ .side = side, .event = is_written ? found->event : NULL },
        &op, err);
    if (status != SL_OK) return sl__device_finish(stream->device, status, err);
    if (is_written && found->event->device->core->numbers == stream->device->core->numbers) {
        op->wait_target = found->event->record_seq;
        op->wait_target_stream = found->event->record_stream;
    }
    return sl__device_finish(stream->device, sl__op_submit(op, err), err);
}
