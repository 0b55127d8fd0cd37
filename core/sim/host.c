/* host.c - the host's virtual clock: what enqueueing costs, how the host waits, and what pageable
 * copies make it do. */
#include "sim.h"

void sim_host_spend_us(sim_device *dev, double us)
{
    /* Inside a host function it is the helper thread that works. */
    if (dev->running_host_func)
        dev->host_func_ps = sim_later(dev->host_func_ps, sim_us_to_ps(us));
    else
        dev->host_at = sim_later(dev->host_at, sim_us_to_ps(us));
}

static sl_status interrupted(sl_error *err)
{
    return sl_fail(err, SL_EINTERRUPT, "interrupted");
}

sl_status sim_host_catch_up(sim_device *dev, sl_error *err)
{
    if (dev->running_host_func)
        return SL_OK;
    sim_settle(dev);        /* has something to do only after a failure */
    return sim_run_until(dev, dev->host_at) ? SL_OK : interrupted(err);
}

/* The call's code and data have left the processor's caches if the host has meanwhile worked on
 * host_cold.bytes of other memory. The first call of its kind is always cold. */
static double cold_us(const sim_op *op)
{
    enum { LAUNCH, MATMUL, MEMCPY };
    sim_device *dev = sim_device_of(op);
    const sim_profile *p = &dev->profile;
    const sl_work *work = &op->base.work;
    const int kind = work->kind == SL_WORK_MEMCPY            ? MEMCPY
                     : work->kind != SL_WORK_KERNEL          ? -1
                     : work->kernel == SL_KERNEL_MATMUL ? MATMUL : LAUNCH;
    if (kind < 0)
        return 0;
    const bool cold = dev->host_worked >= dev->called[kind] + p->host_cold_bytes;
    dev->called[kind] = dev->host_worked;
    return !cold            ? 0
           : kind == LAUNCH ? p->host_cold_launch_us
           : kind == MATMUL ? p->host_cold_matmul_us : p->host_cold_memcpy_async_us;
}

void sim_host_forget_calls(sim_device *dev)
{
    for (size_t i = 0; i < sizeof dev->called / sizeof *dev->called; i++)
        dev->called[i] = -(double)SIM_LAST_PS;
}

/* cublasLt looks up the plan of a product; a product like the last one needs no look-up. */
static double product_us(const sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    const sl_work *work = &op->base.work, *last = &dev->last_product;
    const bool same = work->m == last->m && work->n == last->n && work->k == last->k
                      && work->dtype == last->dtype && work->flags == last->flags;
    dev->last_product = *work;
    return same ? dev->profile.host_matmul_us : dev->profile.host_other_matmul_us;
}

static double warm_us(const sim_op *op)
{
    const sim_profile *profile = &sim_device_of(op)->profile;
    switch ((sl_work_kind)op->base.work.kind) {
    case SL_WORK_KERNEL:
        return op->base.work.kernel == SL_KERNEL_MATMUL ? product_us(op)
                                                        : profile->host_launch_us;
    case SL_WORK_MEMCPY: return profile->host_memcpy_async_us;
    case SL_WORK_MEMSET: return profile->host_memset_us;
    case SL_WORK_HOST_FUNC: return profile->host_host_func_us;
    case SL_WORK_EVENT_RECORD:
        return op->base.event->timing ? profile->host_record_us : profile->host_record_untimed_us;
    case SL_WORK_EVENT_WAIT: return profile->host_wait_us;
    }
    return 0;
}

double sim_host_enqueue_us(const sim_op *op) { return warm_us(op) + cold_us(op); }

/* ---- waiting ---- */

static void catch_host_up(sim_device *dev)
{
    if (dev->host_at < dev->now)
        dev->host_at = dev->now;
}

/* No event is left, but there is unfinished work: blocks could not be placed because the host is
 * out of memory. The next wait tries again. */
static sl_status stuck(sim_device *dev, sl_error *err)
{
    catch_host_up(dev);
    if (dev->chip.dirty)
        return sl_fail(err, SL_ENOMEM, "the simulator is out of host memory");
    return sl_fail(err, SL_ESTATE, "the simulated device is stuck with %lld unfinished operations",
                   (long long)dev->unfinished);
}

/* One step of a wait, whose steps are counted in *steps. When the user interrupts it, the host's
 * clock is set to the device's: operations that have ended by then have ended, the others go on,
 * and a later wait begins there. That moment depends on when the user pressed Ctrl-C; nothing else
 * in virtual time does. */
static sl_status wait_on(sim_device *dev, uint32_t *steps, sl_error *err)
{
    if (sim_stopped(dev, steps)) {
        catch_host_up(dev);
        return interrupted(err);
    }
    return sim_step(dev) ? SL_OK : stuck(dev, err);
}

/* The host goes on wake_us after the device has reached `now`. */
static sl_status wake(sim_device *dev, sl_error *err)
{
    catch_host_up(dev);
    sim_host_spend_us(dev, dev->profile.wake_us);
    return sim_host_check_time(dev, err);
}

sl_status sim_host_check_time(const sim_device *dev, sl_error *err)
{
    if (dev->host_at < SIM_LAST_PS && dev->now < SIM_LAST_PS)
        return SL_OK;
    return sl_fail(err, SL_ESTATE, "virtual time has passed 46 days; open a new device");
}

/* Synchronising the NULL stream waits for all blocking streams (measured on an H200: it waits for a
 * kernel of another stream that was made without flags). */
bool sim_host_sees_idle(const sim_stream *stream)
{
    const sim_device *dev = (const sim_device *)stream->base.device;
    return !stream->head && !(stream->base.legacy && dev->busy);
}

sl_status sim_host_wait_stream(sim_stream *stream, sl_error *err)
{
    sim_device *dev = (sim_device *)stream->base.device;
    uint32_t steps = 0;
    sl_status status = sim_host_catch_up(dev, err);
    if (status != SL_OK || sim_host_sees_idle(stream))
        return status;
    while (status == SL_OK && !sim_host_sees_idle(stream))
        status = wait_on(dev, &steps, err);
    return status == SL_OK ? wake(dev, err) : status;
}

sl_status sim_host_wait_op(sim_op *op, sl_error *err)
{
    sim_device *dev = sim_device_of(op);
    uint32_t steps = 0;
    sl_status status = sim_host_catch_up(dev, err);
    if (status != SL_OK || op->done)
        return status;
    while (status == SL_OK && !op->done)
        status = wait_on(dev, &steps, err);
    return status == SL_OK ? wake(dev, err) : status;
}

sl_status sim_host_wait_idle(sim_device *dev, sl_error *err)
{
    uint32_t steps = 0;
    sl_status status = sim_host_catch_up(dev, err);
    if (status != SL_OK || dev->unfinished == 0)
        return status;
    while (status == SL_OK && dev->unfinished > 0)
        status = wait_on(dev, &steps, err);
    return status == SL_OK ? wake(dev, err) : status;
}

/* ---- pageable copies ---- */

/* How fast the host copies to or from this memory, in bytes a us: the part that is in its caches at
 * one speed, the rest at another. */
static double staging_speed(const sim_table *warm, const sim_table *cold,
                            const sl_buffer *buffer, size_t bytes)
{
    const sim_device *dev = (const sim_device *)buffer->device;
    const double warm_speed = sim_table_at(warm, (double)bytes) * 1e3;
    if (cold->n == 0)
        return warm_speed;
    const double part = sim_warm_part(buffer, bytes, dev->profile.host_cache_bytes);
    return 1 / (part / warm_speed + (1 - part) / (sim_table_at(cold, (double)bytes) * 1e3));
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

/* Staging buffers are filled in pieces of stage_bytes; a huge copy in larger ones, for
 * the sake of the simulation's own time. */
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
    catch_host_up(dev);
    sim_host_spend_us(dev, us);
    return sim_host_catch_up(dev, err);
}

/* Whether the host may fill one more piece, up to `staged` bytes. */
static bool may_stage(const sim_op *op, size_t staged, size_t piece)
{
    const sim_device *dev = sim_device_of(op);
    if (op->deps_left > 0 && (double)staged > dev->profile.h2d_async_bytes)
        return false;
    return dev->ring_used == 0 || (double)(dev->ring_used + piece) <= ring_bytes(dev);
}

/* The host copies into staging buffers; each goes to the copy engine at once. With all of them
 * in use the host waits, and also, with h2d_async_bytes staged, for the stream's earlier work.
 * It returns when the last piece is staged. */
sl_status sim_host_stage_h2d(sim_op *op, sl_error *err)
{
    sim_device *dev = sim_device_of(op);
    size_t total = op->base.work.bytes, staged = 0;
    uint32_t steps = 0;
    const double speed = staging_speed(&dev->profile.h2d_staging_gb_per_s,
                                       &dev->profile.h2d_staging_cold_gb_per_s, op->base.in[0],
                                       total);
    op->piece = piece_of(dev, total);
    while (staged < total) {
        size_t piece = smaller(op->piece, total - staged);
        sl_status status = SL_OK;
        while (status == SL_OK && !may_stage(op, staged + piece, piece))
            status = wait_on(dev, &steps, err);
        if (status == SL_OK)
            status = spend_on_piece(dev, (double)piece / speed, err);
        if (status != SL_OK)
            return status;
        dev->ring_used += piece;
        op->in_ring += piece;
        staged += piece;
        sim_copies_feed(op, staged);
        sim_settle(dev);
    }
    return SL_OK;
}

/* The device fills staging buffers, the host empties them behind it, and returns
 * when it has emptied the last. */
sl_status sim_host_drain_d2h(sim_op *op, sl_error *err)
{
    sim_device *dev = sim_device_of(op);
    size_t total = op->base.work.bytes, drained = 0;
    uint32_t steps = 0;
    const double speed = staging_speed(&dev->profile.d2h_staging_gb_per_s,
                                       &dev->profile.d2h_staging_cold_gb_per_s, op->base.out,
                                       total);
    op->piece = piece_of(dev, total);
    size_t ahead = (size_t)larger(ring_bytes(dev), (double)op->piece);
    sim_copies_feed(op, smaller(total, ahead));
    while (drained < total) {
        size_t piece = smaller(op->piece, total - drained);
        sl_status status = SL_OK;
        while (status == SL_OK && op->sent < drained + piece)
            status = wait_on(dev, &steps, err);
        if (status == SL_OK)
            status = spend_on_piece(dev, (double)piece / speed, err);
        if (status != SL_OK)
            return status;
        drained += piece;
        if (!op->done) {
            sim_copies_feed(op, smaller(total, drained + ahead));
            sim_settle(dev);
        }
    }
    return total > 0 ? SL_OK : sim_host_wait_op(op, err);
}
