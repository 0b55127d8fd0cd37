/* memory_use.c - notes of calls that allocated or freed memory, and how much was allocated at once.
 */
#include <inttypes.h>
#include <string.h>

#include "notes.h"
#include "overlap.h"
#include "store.h"

#define MOST_BYTES (UINT64_C(1) << 62)

sl_status sl_timeline_add_memory(sl_timeline *timeline, const sl_memory_note *note, sl_error *err)
{
    if (note->kind >= SL_MEMORY_KINDS || note->bytes > MOST_BYTES
        || note->reserved_bytes > MOST_BYTES)
        return sl_fail(err, SL_EINVAL,
                       "memory has kind %d (below %d), %" PRIu64 " bytes and a pool of %" PRIu64
                       " (at most 2^62)",
                       note->kind, SL_MEMORY_KINDS, note->bytes, note->reserved_bytes);
    return sl__note_add(timeline, SL__MEMORY, note, err);
}

const sl_memory_note *sl_timeline_find_memory(const sl_timeline *timeline, uint64_t correlation)
{
    return sl__note_find(timeline, SL__MEMORY, correlation);
}

static uint64_t sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

static void add_call(sl_memory_use *use, const sl_call *call)
{
    const int64_t took_ns = call->host_end_ns - call->host_start_ns;
    use->calls_ns += took_ns;
    if (call->waited_for_device) use->waited_ns += took_ns;
}

static void add(sl_memory_use *use, const sl_memory_note *note, int64_t end_ns)
{
    use->n_allocations += !note->frees;
    use->n_frees += note->frees;
    if (note->reserved_bytes > use->reserved_bytes) use->reserved_bytes = note->reserved_bytes;
    if (note->frees) {
        const uint64_t freed = note->is_from_before ? 0 : note->bytes;
        use->left_bytes -= freed < use->left_bytes ? freed : use->left_bytes;
        return;
    }
    use->bytes = sum(use->bytes, note->bytes);
    use->left_bytes = sum(use->left_bytes, note->bytes);
    if (use->n_allocations > 1 && use->left_bytes <= use->peak_bytes) return;
    use->peak_bytes = use->left_bytes;
    use->peak_ns = end_ns;
}

sl_status sl_timeline_memory_use(const sl_timeline *timeline, sl_memory_use use[SL_MEMORY_KINDS],
                                 sl_error *err)
{
    const sl__notes *notes = &sl__timeline_notes(timeline)[SL__MEMORY];
    const sl_memory_note *all = notes->at;
    memset(use, 0, SL_MEMORY_KINDS * sizeof *use);
    for (size_t i = 0; i < notes->n; i++) {
        const size_t at = sl_timeline_find_call(timeline, all[i].correlation);
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        if (at == SL_NOT_FOUND) continue;
        const sl_call call = sl_timeline_call(timeline, at);
        add_call(&use[all[i].kind], &call);
        add(&use[all[i].kind], &all[i], call.host_end_ns);
    }
    return SL_OK;
}
