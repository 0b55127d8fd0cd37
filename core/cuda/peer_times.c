/* peer_times.c - how long copies between two GPUs without access to each other's memory take.
 *
 * The driver moves them through the host's memory, and CUPTI has a record of the last piece alone
 * (measured on H200s, CUDA 13.0: 57 us of 459). So while CUPTI takes the times, such a copy has an
 * event before it and one after it in its stream. Its span ends when CUPTI's record does, and is as
 * long as the time between the two events; like theirs, that includes waits for a copy engine.
 */
#include "cuda_activity.h"

#include <math.h>
#include <stdlib.h>

static bool goes_through_host(const sl_op *op)
{
    if (op->work.kind != SL_WORK_MEMCPY || op->work.copy_kind != SL_SPAN_MEMCPY_P2P
        || op->work.bytes == 0)
        return false;
    const cuda_device *from = cuda_of(op->side[0].buffer->device),
                      *to = cuda_of(op->side[SL_OUTPUT].buffer->device);
    return !(from->peers & cuda_peer_bit(&to->base)) && !(to->peers & cuda_peer_bit(&from->base));
}

sl_status cuda_peer_times_before(cuda_op *op, sl_error *err)
{
    cuda_activity *activity = cuda_of(op->base.stream->device)->activity;
    if (!goes_through_host(&op->base)) return SL_OK;
    if (!SL__GROW(activity->peers, activity->cap_peers, activity->n_peers + 1))
        return sl__no_memory(err, "a recording");
    return cuda_event_times_before(op, err);
}

void cuda_peer_times_after(cuda_op *op, bool enqueued)
{
    cuda_activity *activity = cuda_of(op->base.stream->device)->activity;
    cuda_event_times_after(op, enqueued);
    if (op->ended
        && SL__GROW(activity->peers, activity->cap_peers,
                    activity->n_peers + 1)) /* it has: before has seen to it */
        activity->peers[activity->n_peers++] = (cuda_peer_time){ .seq = op->base.seq };
}

/* Copies are noted in the order of their numbers. NULL: no copy through the host has this one. */
static cuda_peer_time *find(const cuda_activity *activity, uint64_t seq)
{
    size_t at;
    SL__SEARCH(at, activity->n_peers, activity->peers[at].seq < seq);
    return at < activity->n_peers && activity->peers[at].seq == seq ? &activity->peers[at] : NULL;
}

void cuda_peer_times_completed(cuda_op *op)
{
    cuda_peer_time *time = find(cuda_of(op->base.stream->device)->activity, op->base.seq);
    const double ms = cuda_event_times_between(op);
    if (time && ms > 0) time->length_ns = llround(ms * 1e6);
}

void cuda_peer_times_ended(cuda_activity *activity, uint64_t seq, int64_t end_ns)
{
    cuda_peer_time *time = activity->n_peers > 0 ? find(activity, seq) : NULL;
    if (time && end_ns > time->end_ns) time->end_ns = end_ns;
}

void cuda_peer_times_collect(cuda_activity *activity, sl_activity_fn fn, void *ud)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < activity->n_peers; i++) {
        const cuda_peer_time *time = &activity->peers[i];
        if (time->length_ns == 0 || time->end_ns == 0) {
            activity->peers[n_kept++] = *time;
            continue;
        }
        const sl_activity whole = { .seq = time->seq,
                                    .start_ns = time->end_ns - time->length_ns,
                                    .end_ns = time->end_ns };
        fn(ud, &whole);
    }
    activity->n_peers = n_kept;
}

void cuda_peer_times_clear(cuda_activity *activity)
{
    free(activity->peers);
    activity->peers = NULL;
    activity->n_peers = activity->cap_peers = 0;
}
