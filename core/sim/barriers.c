/* barriers.c - barriers that calls put into the device. Work that is enqueued after a barrier, in
 * all streams or in the blocking ones, waits for the work before it. */
#include "queue.h"

static bool takes_part(const sim_stream *stream, sim_reach reach)
{
    return reach == SIM_DEVICE || !stream->base.non_blocking;
}

/* It is enough to wait for the last operation of each stream: earlier ones end before it. */
void sim_barriers_put(sim_device *dev, sim_reach reach)
{
    const int kind = reach == SIM_DEVICE ? SIM_BARRIER_ALL : SIM_BARRIER_BLOCKING;
    dev->barriers[kind]++;
    for (sim_stream *s = dev->streams; s; s = s->all_next)
        s->before_barrier[kind] = takes_part(s, reach) ? s->tail : NULL;
}

static bool is_behind_new(const sim_stream *stream, int kind)
{
    const sim_device *dev = (const sim_device *)stream->base.device;
    sim_reach reach = kind == SIM_BARRIER_ALL ? SIM_DEVICE : SIM_BLOCKING;
    return stream->barriers_seen[kind] < dev->barriers[kind] && takes_part(stream, reach);
}

int64_t sim_barriers_each(sim_op *op, sim_wait_fn wait)
{
    const sim_stream *stream = sim_stream_of(op);
    const sim_device *dev = (const sim_device *)stream->base.device;
    int64_t n = 0;
    for (int kind = 0; kind < SIM_BARRIERS; kind++) {
        if (!is_behind_new(stream, kind)) continue;
        for (const sim_stream *s = dev->streams; s; s = s->all_next) {
            if (s == stream || !s->before_barrier[kind]) continue;
            n++;
            if (wait) wait(op, s->before_barrier[kind]);
        }
    }
    return n;
}

void sim_barriers_ended(sim_stream *stream, const sim_op *op)
{
    for (int kind = 0; kind < SIM_BARRIERS; kind++)
        if (stream->before_barrier[kind] == op) stream->before_barrier[kind] = NULL;
}
