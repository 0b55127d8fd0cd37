/* kineto_write_memory.c - what our own traces say of calls that allocate or free memory, and of an
 * allocator, as PyTorch's do. */
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

void sl__write_samples(sl__writer *w)
{
    size_t n;
    const sl_memory_sample *all = sl_timeline_memory_samples(w->timeline, &n);
    for (size_t i = 0; i < n && !sl__outfile_failed(&w->file); i++) {
        sl__write_begin(
            w,
            "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"" SL__SAMPLE "\"");
        sl__write_place(w, SL__HOST_PID, SL__HOST_PID);
        sl__json_milli(&w->file, ",\"ts\":", all[i].at_ns - w->base_ns);
        sl__json_uint(&w->file,
                      ",\"args\":{\"Device Type\":1,\"Device Id\":", (uint64_t)w->devices[0].pid);
        sl__json_uint(&w->file, ",\"Total Allocated\":", all[i].allocated_bytes);
        sl__json_uint(&w->file, ",\"Total Reserved\":", all[i].reserved_bytes);
        sl__json_raw(&w->file, "}}");
    }
}
