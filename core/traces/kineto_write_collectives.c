/* kineto_write_collectives.c - what kineto writes of collectives: PyTorch's names, which readers of
 * traces know. */
#include <stdio.h>

#include "../timeline/store.h"
#include "kineto_write.h"

/* As torch.distributed calls them on the way to NCCL. */
static const char *const names[SL_COLLECTIVES] = {
    [SL_ALL_REDUCE] = "allreduce",
    [SL_ALL_GATHER] = "_allgather_base",
    [SL_REDUCE_SCATTER] = "_reduce_scatter_base",
    [SL_BROADCAST] = "broadcast",
    [SL_SEND] = "send",
    [SL_RECV] = "recv",
};

static const char *const dtypes[SL_DTYPES] = {
    [SL_FLOAT32] = "Float", [SL_BFLOAT16] = "BFloat16", [SL_FLOAT16] = "Half",
    [SL_UINT8] = "Byte",    [SL_FLOAT64] = "Double",    [SL_INT32] = "Int",
};

static void put_peer(sl__writer *w, const sl_collective_note *note)
{
    switch ((sl_collective)note->collective) {
    case SL_BROADCAST: sl__write_int(w, ",\"Root Rank\":", note->peer); break;
    case SL_SEND: sl__write_int(w, ",\"Dst Rank\":", note->peer); break;
    case SL_RECV: sl__write_int(w, ",\"Src Rank\":", note->peer); break;
    default: break;
    }
}

void sl__write_collective(sl__writer *w, const sl_span *span)
{
    const sl_collective_note *note = sl_timeline_find_collective(w->timeline, span->correlation);
    bool reduces = note
                   && (note->collective == SL_ALL_REDUCE || note->collective == SL_REDUCE_SCATTER);

    char comm[24];

    if (!note) return;
    sl__write_text(w, ",\"Collective name\":", names[note->collective]);
    sl__write_int(w, ",\"In msg nelems\":", note->in_elems);
    sl__write_int(w, ",\"Out msg nelems\":", note->out_elems);
    sl__write_int(w, ",\"Group size\":", note->ranks);
    sl__write_text(w, ",\"dtype\":", dtypes[note->dtype]);
    snprintf(comm, sizeof comm, "%llu", (unsigned long long)note->comm);
    sl__write_text(w, ",\"Process Group Name\":", comm);
    sl__write_int(w, ",\"Rank\":", note->rank);
    sl__write_number(w, ",\"Seq\":", note->number);
    if (reduces)
        sl__write_text(w, ",\"Reduction\":", sl_reduction_name((sl_reduction)note->reduction));
    put_peer(w, note);
}
