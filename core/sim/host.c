/* host.c - the host's virtual clock, and how the host waits. */
#include "sim.h"

void sim_host_spend_us(sim_device *dev, double us)
{
    /* Inside a host function it is the helper thread that works. */
    if (dev->machine->running_host_func)
        dev->machine->host_func_ps = sim_later(dev->machine->host_func_ps, sim_us_to_ps(us));
    else
        dev->machine->host_at = sim_later(dev->machine->host_at, sim_us_to_ps(us));
}

static sl_status interrupted(sl_error *err) { return sl_fail(err, SL_EINTERRUPT, "interrupted"); }

sl_status sim_host_catch_up(sim_device *dev, sl_error *err)
{
    if (dev->machine->running_host_func) return SL_OK;
    sim_settle(dev); /* has something to do only after a failure */
    return sim_run_until(dev->machine, dev->machine->host_at) ? SL_OK : interrupted(err);
}

/* ---- waiting ---- */

void sim_host_meet_device(sim_device *dev)
{
    if (dev->machine->host_at < dev->machine->now) dev->machine->host_at = dev->machine->now;
}

/* No event is left, but there is unfinished work: blocks could not be placed because the host is
 * out of memory. The next wait tries again. */
static sl_status stuck(sim_device *dev, sl_error *err)
{
    sim_host_meet_device(dev);
    if (dev->chip.dirty) return sl_fail(err, SL_ENOMEM, "the simulator is out of host memory");
    if (sim_comm_stuck(dev->machine, err) != SL_OK) return SL_ESTATE;
    return sl_fail(err, SL_ESTATE, "the simulated device is stuck with %lld unfinished operations",
                   (long long)dev->unfinished);
}

sl_status sim_host_step(sim_device *dev, uint32_t *steps, sl_error *err)
{
    if (sim_stopped(dev, steps)) {
        sim_host_meet_device(dev);
        return interrupted(err);
    }
    return sim_step(dev->machine) ? SL_OK : stuck(dev, err);
}

sl_status sim_host_check_time(const sim_device *dev, sl_error *err)
{
    if (dev->machine->host_at < SIM_LAST_PS && dev->machine->now < SIM_LAST_PS) return SL_OK;
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
