/* kineto_write_memory.c - what our own traces say of calls that allocate or free memory. */
#include "kineto_write.h"

void sl__write_memory(sl__writer *w, const sl_call *call)
{
    const sl_memory_note *note = sl_timeline_find_memory(w->timeline, call->correlation);
    if (!note) return;
    sl__json_uint(&w->file, ",\"bytes\":", note->bytes);
    sl__json_string(&w->file, ",\"memory\":", sl_memory_kind_name((sl_memory_kind)note->kind));
    if (note->reserved_bytes) sl__json_uint(&w->file, ",\"reserved bytes\":", note->reserved_bytes);
    if (note->frees) sl__json_raw(&w->file, ",\"frees\":true");
    if (note->is_from_before) sl__json_raw(&w->file, ",\"from before\":true");
}
