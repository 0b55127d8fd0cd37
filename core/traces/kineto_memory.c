/* kineto_memory.c - what our own traces say of calls that allocate or free memory, read back
 * (kineto_write_memory.c), and PyTorch's of its allocator. */
#include "kineto_read.h"

/* What the file says is checked when it is noted. */
sl_status sl__memory_read(sl__reader *r, uint64_t correlation)
{
    sl__event *event = &r->event;
    sl_memory_kind kind;
    sl__memory memory = { .note.correlation = correlation, .device = -1 };
    sl_memory_note *note = &memory.note;
    if (!sl__reader_decode(r, &event->arg[SL__ARG_MEMORY])
        || !sl_memory_kind_parse(r->text.data, &kind))
        return event->status;
    note->kind = (uint8_t)kind;
    sl__event_count(event, SL__ARG_BYTES, &note->bytes);
    sl__event_count(event, SL__ARG_RESERVED, &note->reserved_bytes);
    note->frees = sl__event_flag(event, SL__ARG_FREES);
    note->is_from_before = sl__event_flag(event, SL__ARG_FROM_BEFORE);
    if (event->status == SL_OK)
        event->status = SL__RECORDS_ADD(&r->records, memory, &memory, event->err);
    return event->status;
}

/* What is not as it should be is no sample. */
static bool is_bad(const sl__event *event) { return event->bad[0] || event->status != SL_OK; }

sl_status sl__sample_read(sl__reader *r)
{
    sl__event *event = &r->event;
    sl__sample sample = { .device = 0 };
    sl_memory_sample *of = &sample.sample;
    int64_t type = 0;
    sl__event_read_args(&r->scan, event);
    sl__event_whole(event, SL__ARG_DEVICE_TYPE, &type);
    sl__event_whole(event, SL__ARG_DEVICE_ID, &sample.device);
    sl__json_whole(&event->pid, &sample.pid);
    sl__event_count(event, SL__ARG_ALLOCATED, &of->allocated_bytes);
    sl__event_count(event, SL__ARG_ALL_RESERVED, &of->reserved_bytes);
    const bool of_gpu = type > 0 && event->arg[SL__ARG_ALLOCATED].type != SL__JSON_MISSING;
    if (is_bad(event) || !of_gpu) return event->status;
    sl__event_instant(event, &of->at_ns);
    of->at_ns += r->records.own ? r->records.start_ns : 0;
    if (event->status == SL_OK)
        event->status = SL__RECORDS_ADD(&r->records, samples, &sample, event->err);
    return event->status;
}
