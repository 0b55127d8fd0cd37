/* kineto_write_exchanges.c - what kineto writes of collectives, and of copies from one GPU to
 * another: PyTorch's names, which readers of traces know. */
#include <stdio.h>
#include <string.h>

#include "../timeline/store.h"
#include "kineto_write.h"

/* As torch.distributed calls them on the way to NCCL. */
const char *const sl__torch_collectives[SL_COLLECTIVES] = {
    [SL_ALL_REDUCE] = "allreduce",
    [SL_ALL_GATHER] = "_allgather_base",
    [SL_REDUCE_SCATTER] = "_reduce_scatter_base",
    [SL_BROADCAST] = "broadcast",
    [SL_SEND] = "send",
    [SL_RECV] = "recv",
};

const char *const sl__torch_dtypes[SL_DTYPES] = {
    [SL_FLOAT32] = "Float", [SL_BFLOAT16] = "BFloat16", [SL_FLOAT16] = "Half",
    [SL_UINT8] = "Byte",    [SL_FLOAT64] = "Double",    [SL_INT32] = "Int",
};

/* NCCL's, AMD's RCCL's, and those that this takes from MSCCL. */
bool sl__names_collective(const char *kernel)
{
    static const char *const starts[] = { "nccl", "rccl", "msccl" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(kernel, starts[i], strlen(starts[i])) == 0) return true;
    return false;
}

static void put_peer(sl__writer *w, const sl_collective_note *note)
{
    switch ((sl_collective)note->collective) {
    case SL_BROADCAST: sl__json_int(&w->file, ",\"Root Rank\":", note->peer); break;
    case SL_SEND: sl__json_int(&w->file, ",\"Dst Rank\":", note->peer); break;
    case SL_RECV: sl__json_int(&w->file, ",\"Src Rank\":", note->peer); break;
    case SL_ALL_REDUCE:
    case SL_ALL_GATHER:
    case SL_REDUCE_SCATTER:
    case SL_COLLECTIVES: break;
    }
}

static void put_meeting(sl__writer *w, const sl_collective_note *note)
{
    if (!note->met_ns) return;
    sl__json_milli(&w->file, ",\"met us\":", note->met_ns - w->base_ns);
    sl__json_uint(&w->file, ",\"late by\":", note->late_by);
    sl__json_int(&w->file, ",\"late rank\":", note->late_rank);
}

static void put_text(sl__writer *w, const char *key, uint32_t id)
{
    if (id != 0) sl__json_string(&w->file, key, sl_timeline_text(w->timeline, id));
}

/* As the trace said it that the timeline was read from: without "Seq", which ours have. */
static void put_exchange(sl__writer *w, const sl_exchange_note *note)
{
    put_text(w, ",\"Collective name\":", note->name);
    if (note->in_elems) sl__json_int(&w->file, ",\"In msg nelems\":", note->in_elems);
    if (note->out_elems) sl__json_int(&w->file, ",\"Out msg nelems\":", note->out_elems);
    if (note->ranks) sl__json_int(&w->file, ",\"Group size\":", note->ranks);
    put_text(w, ",\"dtype\":", note->dtype);
    put_text(w, ",\"Process Group Name\":", note->group_name);
    put_text(w, ",\"Process Group Ranks\":", note->group_ranks);
}

void sl__write_collective(sl__writer *w, const sl_span *span)
{
    const sl_collective_note *note = sl_timeline_find_collective(w->timeline, span->correlation);
    const sl_exchange_note *exchange = sl_timeline_find_exchange(w->timeline, span->correlation);
    bool reduces = note
                   && (note->collective == SL_ALL_REDUCE || note->collective == SL_REDUCE_SCATTER);
    char comm[24];

    if (exchange && !note) put_exchange(w, exchange);
    if (!note) return;
    sl__json_string(&w->file, ",\"Collective name\":", sl__torch_collectives[note->collective]);
    sl__json_int(&w->file, ",\"In msg nelems\":", note->in_elems);
    sl__json_int(&w->file, ",\"Out msg nelems\":", note->out_elems);
    sl__json_int(&w->file, ",\"Group size\":", note->ranks);
    sl__json_string(&w->file, ",\"dtype\":", sl__torch_dtypes[note->dtype]);
    snprintf(comm, sizeof comm, "%llu", (unsigned long long)note->comm);
    sl__json_string(&w->file, ",\"Process Group Name\":", comm);
    sl__json_int(&w->file, ",\"Rank\":", note->rank);
    sl__json_uint(&w->file, ",\"Seq\":", note->number);
    if (reduces)
        sl__json_string(&w->file,
                        ",\"Reduction\":", sl_reduction_name((sl_reduction)note->reduction));
    put_peer(w, note);
    put_meeting(w, note);
}

void sl__write_peers(sl__writer *w, const sl_span *span)
{
    const sl_peer_note *note = sl_timeline_find_peer(w->timeline, span->correlation);
    if (!note) return;
    sl__json_int(&w->file, ",\"fromDevice\":", w->devices[note->from].pid);
    sl__json_int(&w->file, ",\"toDevice\":", w->devices[note->to].pid);
}
