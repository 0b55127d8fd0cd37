/* staging.c - pageable copies: the host copies between the memory of the tensor and staging
 * buffers, which the copy engine reads or fills. */
#include "cache_state.h"
#include "copies.h"
#include "host.h"

/* How fast the host copies to or from memory, in bytes a us: the part that is in its caches at one
 * speed, the rest at another. */
static double staging_speed(const sim_table *warm, const sim_table *cold, double part, size_t bytes)
{
    const double warm_speed = sim_table_at(warm, (double)bytes) * 1e3;
    if (cold->n == 0) return warm_speed;
    return 1 / (part / warm_speed + (1 - part) / (sim_table_at(cold, (double)bytes) * 1e3));
}

static double h2d_speed(sl_buffer *src, size_t bytes)
{
    const sim_profile *p = &((const sim_device *)src->device)->profile;
    return staging_speed(&p->h2d_staging_gb_per_s, &p->h2d_staging_cold_gb_per_s,
                         sim_host_reads(src, bytes), bytes);
}

static double d2h_speed(const sl_buffer *dst, size_t bytes)
{
    const sim_profile *p = &((const sim_device *)dst->device)->profile;
    return staging_speed(&p->d2h_staging_gb_per_s, &p->d2h_staging_cold_gb_per_s,
                         sim_warm_part(dst, bytes, p->host_cache_bytes), bytes);
}

double sim_host_stage_us(sl_buffer *src, size_t bytes)
{
    return (double)bytes / h2d_speed(src, bytes);
}

double sim_host_drain_us(sl_buffer *dst, size_t bytes)
{
    return (double)bytes / d2h_speed(dst, bytes);
}

/* Staging buffers are filled in pieces of stage_bytes. The pieces of a huge copy are larger, to
 * save steps of the simulation. */
static size_t piece_of(const sim_device *dev, size_t total)
{
    enum { MOST_PIECES = 65536 };
    size_t stage = (size_t)dev->profile.stage_bytes;
    return total / stage < MOST_PIECES ? stage : total / MOST_PIECES + 1;
}

static double ring_bytes(const sim_device *dev)
{
    return dev->profile.stage_bytes * dev->profile.stage_buffers;
}

/* The host works on a piece, up to its end. */
static sl_status spend_on_piece(sim_device *dev, double us, sl_error *err)
{
    sim_host_meet_device(dev);
    sim_host_spend_us(dev, us);
    return sim_host_catch_up(dev, err);
}

/* The next piece of a copy, of which so much is on its way after it. */
typedef struct next_piece {
    const sim_op *op;
    size_t bytes, until;
} next_piece;

/* Whether the host may fill it. */
static bool may_stage(const void *what)
{
    const next_piece *piece = what;
    const sim_device *dev = sim_device_of(piece->op);
    if (piece->op->deps_left > 0 && (double)piece->until > dev->profile.h2d_async_bytes)
        return false;
    return dev->ring_used == 0 || (double)(dev->ring_used + piece->bytes) <= ring_bytes(dev);
}

/* Whether the device has filled it. */
static bool has_come(const void *what)
{
    const next_piece *piece = what;
    return piece->op->moved.sent >= piece->until;
}

/* The host fills staging buffers; each goes to the copy engine at once. The host waits if all of
 * them are in use, and, with h2d_async_bytes staged, for the stream's earlier work. The call
 * returns when the last piece is staged. */
sl_status sim_host_stage_h2d(sim_op *op, sl_error *err)
{
    sim_device *dev = sim_device_of(op);
    size_t total = op->base.work.bytes, staged = 0;
    uint32_t steps = 0;
    const double speed = h2d_speed(op->base.side[0].buffer, total);
    op->moved.piece = piece_of(dev, total);
    while (staged < total) {
        size_t piece = sl__min(op->moved.piece, total - staged);
        const next_piece next = { op, piece, staged + piece };
        sl_status status = SL_OK;
        while (status == SL_OK && !may_stage(&next))
            status = sim_host_step(dev, may_stage, &next, &steps, err);
        if (status == SL_OK) status = spend_on_piece(dev, (double)piece / speed, err);
        if (status != SL_OK) return status;
        dev->ring_used += piece;
        op->moved.in_ring += piece;
        staged += piece;
        sim_copies_feed(op, staged);
        sim_settle(dev);
    }
    return SL_OK;
}

/* The device fills staging buffers and the host empties them. The call returns when the last one is
 * empty. */
sl_status sim_host_drain_d2h(sim_op *op, sl_error *err)
{
    sim_device *dev = sim_device_of(op);
    size_t total = op->base.work.bytes, drained = 0;
    uint32_t steps = 0;
    const double speed = d2h_speed(op->base.side[SL_OUTPUT].buffer, total);
    op->moved.piece = piece_of(dev, total);
    size_t ahead = (size_t)sl__max(ring_bytes(dev), (double)op->moved.piece);
    sim_copies_feed(op, sl__min(total, ahead));
    while (drained < total) {
        size_t piece = sl__min(op->moved.piece, total - drained);
        const next_piece next = { op, piece, drained + piece };
        sl_status status = SL_OK;
        while (status == SL_OK && !has_come(&next))
            status = sim_host_step(dev, has_come, &next, &steps, err);
        if (status == SL_OK) status = spend_on_piece(dev, (double)piece / speed, err);
        if (status != SL_OK) return status;
        drained += piece;
        if (!op->done) {
            sim_copies_feed(op, sl__min(total, drained + ahead));
            sim_settle(dev);
        }
    }
    return total > 0 ? SL_OK : sim_host_wait_op(op, err);
}
