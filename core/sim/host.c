/* host.c - the host's virtual clock: what enqueueing costs, and how the host waits. */
#include "sim.h"

void sim_host_spend_us(sim_device *dev, double us)
{
    /* Inside a host function it is the helper thread that works. */
    if (dev->running_host_func)
        dev->host_func_ps = sim_later(dev->host_func_ps, sim_us_to_ps(us));
    else
        dev->host_at = sim_later(dev->host_at, sim_us_to_ps(us));
}

static sl_status interrupted(sl_error *err) { return sl_fail(err, SL_EINTERRUPT, "interrupted"); }

sl_status sim_host_catch_up(sim_device *dev, sl_error *err)
{
    if (dev->running_host_func) return SL_OK;
    sim_settle(dev); /* has something to do only after a failure */
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
    const int kind = work->kind == SL_WORK_MEMCPY       ? MEMCPY
                     : work->kind != SL_WORK_KERNEL     ? -1
                     : work->kernel == SL_KERNEL_MATMUL ? MATMUL
                                                        : LAUNCH;
    if (kind < 0) return 0;
    const bool cold = dev->host_worked >= dev->called[kind] + p->host_cold_bytes;
    dev->called[kind] = dev->host_worked;
    return !cold            ? 0
           : kind == LAUNCH ? p->host_cold_launch_us
           : kind == MATMUL ? p->host_cold_matmul_us
                            : p->host_cold_memcpy_async_us;
}

void sim_host_forget_calls(sim_device *dev)
{
    for (size_t i = 0; i < sizeof dev->called / sizeof *dev->called; i++)
        dev->called[i] = -(double)SIM_LAST_PS;
}

/* The backend looks up the plan of a product, unless it is like the last one (core/cuda/gemm.c). */
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
        return op->base.work.kernel == SL_KERNEL_MATMUL ? product_us(op) : profile->host_launch_us;
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

void sim_host_meet_device(sim_device *dev)
{
    if (dev->host_at < dev->now) dev->host_at = dev->now;
}

/* No event is left, but there is unfinished work: blocks could not be placed because the host is
 * out of memory. The next wait tries again. */
static sl_status stuck(sim_device *dev, sl_error *err)
{
    sim_host_meet_device(dev);
    if (dev->chip.dirty) return sl_fail(err, SL_ENOMEM, "the simulator is out of host memory");
    return sl_fail(err, SL_ESTATE, "the simulated device is stuck with %lld unfinished operations",
                   (long long)dev->unfinished);
}

sl_status sim_host_step(sim_device *dev, uint32_t *steps, sl_error *err)
{
    if (sim_stopped(dev, steps)) {
        sim_host_meet_device(dev);
        return interrupted(err);
    }
    return sim_step(dev) ? SL_OK : stuck(dev, err);
}

sl_status sim_host_check_time(const sim_device *dev, sl_error *err)
{
    if (dev->host_at < SIM_LAST_PS && dev->now < SIM_LAST_PS) return SL_OK;
    return sl_fail(err, SL_ESTATE, "virtual time has passed 46 days; open a new device");
}

typedef struct wait {
    sim_device *dev;
    uint32_t steps;
    sl_status status;
    sl_error *err;
} wait;

static wait begin_wait(sim_device *dev, sl_error *err)
{
    return (wait){ dev, 0, sim_host_catch_up(dev, err), err };
}

static bool goes_on(wait *w)
{
    if (w->status == SL_OK) w->status = sim_host_step(w->dev, &w->steps, w->err);
    return w->status == SL_OK;
}

/* After a wait that took any steps the host goes on wake_us later than the device. */
static sl_status end_wait(wait *w)
{
    if (w->status != SL_OK || w->steps == 0) return w->status;
    sim_host_meet_device(w->dev);
    sim_host_spend_us(w->dev, w->dev->profile.wake_us);
    return sim_host_check_time(w->dev, w->err);
}

/* Synchronising the NULL stream waits for all blocking streams (docs/design/simulator.md,
 * section 3). */
bool sim_host_sees_idle(const sim_stream *stream)
{
    const sim_device *dev = (const sim_device *)stream->base.device;
    return !stream->head && !(stream->base.legacy && dev->busy);
}

sl_status sim_host_wait_stream(sim_stream *stream, sl_error *err)
{
    wait w = begin_wait((sim_device *)stream->base.device, err);
    while (!sim_host_sees_idle(stream) && goes_on(&w))
        continue;
    return end_wait(&w);
}

sl_status sim_host_wait_op(sim_op *op, sl_error *err)
{
    wait w = begin_wait(sim_device_of(op), err);
    while (!op->done && goes_on(&w))
        continue;
    return end_wait(&w);
}

sl_status sim_host_wait_idle(sim_device *dev, sl_error *err)
{
    wait w = begin_wait(dev, err);
    while (dev->unfinished > 0 && goes_on(&w))
        continue;
    return end_wait(&w);
}
