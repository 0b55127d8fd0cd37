/* peers.c - what goes from one GPU of a machine to another: copies and signals.
 *
 * With access a copy moves over the link between the two, and occupies the engine of its stream's
 * device that copies within the device, not those to the host. Measured on two H100s
 * (tests/bench/cuda/raw_comm.cu): such copies in both directions, or beside uploads, do not slow
 * each other; in a stream of the destination one takes longer, and at least peer.pull_us. Without
 * access the driver moves a copy through the host's memory (relay.c). */
#include "copies.h"

static bool has_access(const sl_device *source, const sl_device *destination)
{
    return (((const sim_device *)source)->peers & sim_peer_bit(destination))
           || (((const sim_device *)destination)->peers & sim_peer_bit(source));
}

bool sim_peer_through_host(const sl_op *op)
{
    return op->work.kind == SL_WORK_MEMCPY && op->work.copy_kind == SL_SPAN_MEMCPY_P2P
           && op->work.bytes > 0
           && !has_access(op->side[0].buffer->device, op->side[SL_OUTPUT].buffer->device);
}

double sim_peer_copy_us(const sl_op *op)
{
    const sl_device *source = op->side[0].buffer->device;
    const sim_profile *p = &((const sim_device *)op->stream->device)->profile;
    const double bytes = (double)op->work.bytes;
    if (!has_access(source, op->side[SL_OUTPUT].buffer->device))
        return p->peer_host_latency_us; /* of no bytes */
    if (op->stream->device == source) return p->peer_latency_us + bytes / (p->peer_gb_per_s * 1e3);
    double us = p->peer_pull_latency_us + bytes / (p->peer_gb_per_s * 1e3);
    return us > p->peer_pull_us ? us : p->peer_pull_us;
}

double sim_peer_signal_us(const sim_op *op, const sl_device *earlier)
{
    const sim_profile *p = &sim_device_of(op)->profile;
    return p->cross_stream_us + (op->base.stream->device == earlier ? 0 : p->peer_event_us);
}
