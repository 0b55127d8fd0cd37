/* spool_memory.c - what a recorded process allocated and freed: a free belongs to the last
 * allocation of its address before it. One that has none is of what was there before the recording.
 */
#include "spool_memory.h"

#include "../timeline/overlap.h"
#include "../timeline/store.h"

#define MOST_BYTES (UINT64_C(1) << 62)

enum { ALLOCATION = 1, RELEASE }; /* CUpti_ActivityMemoryOperationType */

SL__ORDER(by_address, spool_memory, x->address, x->time_ns, x->correlation);

/* By CUPTI's kinds; SL_MEMORY_KINDS: none that CUDA gives. */
static sl_memory_kind kind_of(const spool_memory *memory)
{
    enum { PINNED = 2, DEVICE, ARRAY, MANAGED, DEVICE_STATIC, MANAGED_STATIC };
    switch (memory->memory) {
    case PINNED: return SL_MEMORY_PINNED;
    case MANAGED:
    case MANAGED_STATIC: return SL_MEMORY_MANAGED;
    case DEVICE:
    case ARRAY:
    case DEVICE_STATIC: return memory->is_ordered ? SL_MEMORY_POOL : SL_MEMORY_DEVICE;
    }
    return SL_MEMORY_KINDS;
}

static uint64_t cut(uint64_t bytes) { return bytes <= MOST_BYTES ? bytes : 0; }

/* cudaFree also frees memory of pools: a free is of the kind that was allocated. `allocation` is
 * NULL: there is none. */
static sl_status add(sl__records *records, const spool_memory *call, const spool_memory *allocation,
                     uint64_t number, sl_error *err)
{
    const bool frees = call->operation == RELEASE;
    const spool_memory *of = allocation ? allocation : call;
    const sl_memory_kind kind = kind_of(of);
    const bool is_on_device = kind == SL_MEMORY_DEVICE || kind == SL_MEMORY_POOL;
    const sl__memory memory = { .device = is_on_device ? (int64_t)of->device : -1,
                                .note = { .correlation = number,
                                          .bytes = cut(of->size),
                                          .reserved_bytes = cut(call->pool_bytes),
                                          .kind = (uint8_t)kind,
                                          .frees = frees,
                                          .is_from_before = frees && !allocation } };
    return kind == SL_MEMORY_KINDS ? SL_OK : SL__RECORDS_ADD(records, memory, &memory, err);
}

sl_status sl__spool_memory_take(sl__records *records, spool_memory *list, size_t n,
                                uint64_t first_number, sl_error *err)
{
    const spool_memory *live = NULL; /* at the address */
    sl_status status = SL_OK;
    sl__sort(list, n, sizeof *list, by_address);
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        const spool_memory *call = &list[i];
        if (i > 0 && call->address != list[i - 1].address) live = NULL;
        if (call->operation != ALLOCATION && call->operation != RELEASE) continue;
        if (call->correlation)
            status = add(records, call, call->operation == RELEASE ? live : NULL,
                         first_number + call->correlation, err);
        live = call->operation == ALLOCATION ? call : NULL;
    }
    return status;
}
