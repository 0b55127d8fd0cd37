/* kineto_memory.c - what our own traces say of calls that allocate or free memory, read back
 * (kineto_write_memory.c). */
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
