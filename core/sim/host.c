/* host.c - the host's virtual clock, and how the host waits. */
#include "host.h"

static sl_status interrupted(sl_error *err) { return sl_fail(err, SL_EINTERRUPT, "interrupted"); }

/* Each thread that wakes meanwhile goes on first. */
static bool catch_up_in_turns(sim_machine *machine)
{
    bool done;
    do {
        sim_threads_turn(machine);
        machine->woken = false;
        done = sim_run_until(machine, machine->host_at);
    } while (machine->woken);
    return done;
}

sl_status sim_host_catch_up(sim_device *dev, sl_error *err)
{
    sim_machine *machine = dev->machine;
    if (machine->running_host_func) return SL_OK;
    if (sim_is_unsettled(dev)) sim_settle(dev); /* after a failure */
    bool done = machine->threads ? catch_up_in_turns(machine)
                                 : sim_run_until(machine, machine->host_at);
    return done ? SL_OK : interrupted(err);
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
    if (dev->chip.dirty) return sl__no_memory(err, "the simulator");
    if (sim_stuck(dev->machine, err) != SL_OK) return SL_ESTATE;
    return sl_fail(err, SL_ESTATE, "the simulated device is stuck with %lld unfinished operations",
                   (long long)dev->unfinished);
}

sl_status sim_host_step(sim_device *dev, sim_over_fn over, const void *what, uint32_t *steps,
                        sl_error *err)
{
    const bool in_turns = dev->machine->threads != NULL;
    if (sim_stopped(dev, steps)
        || (in_turns && *dev->base.interrupted && sim_threads_others(dev->machine))) {
        sim_host_meet_device(dev);
        return interrupted(err);
    }
    if (in_turns && sim_threads_wait(dev->machine, over, what)) return SL_OK;
    return sim_step(dev->machine) ? SL_OK : stuck(dev, err);
}

sl_status sim_host_fail_time(sl_error *err)
{
    return sl_fail(err, SL_ESTATE, "virtual time has passed 46 days; open a new device");
}

/* After a wait that took any steps the host goes on wake_us later than the device. */
static sl_status wait_until(sim_device *dev, sim_over_fn over, const void *what, sl_error *err)
{
    uint32_t steps = 0;
    sl_status status = SL_OK;
    while (status == SL_OK && !over(what))
        status = sim_host_step(dev, over, what, &steps, err);
    if (status != SL_OK || steps == 0) return status;
    sim_host_meet_device(dev);
    sim_host_spend_us(dev, dev->profile.wake_us);
    return sim_host_check_time(dev, err);
}

/* Synchronising the NULL stream waits for all blocking streams (docs/design/simulator.md,
 * section 3). */
bool sim_host_sees_idle(const sim_stream *stream)
{
    const sim_device *dev = (const sim_device *)stream->base.device;
    return !stream->head && !(stream->base.legacy && dev->busy);
}

/* What was enqueued when the wait began; other threads may enqueue more. */
typedef struct work_until {
    const sim_device *dev;
    const sim_stream *stream; /* NULL: of all streams */
    uint64_t last;
} work_until;

static bool is_past(const sim_stream *stream, uint64_t last)
{
    return !stream->head || stream->head->base.seq > last;
}

bool sim_host_is_past(const sim_stream *stream, uint64_t last)
{
    const sim_device *dev = (const sim_device *)stream->base.device;
    if (!is_past(stream, last)) return false;
    for (const sim_stream *s = stream->base.legacy ? dev->busy : NULL; s; s = s->busy_next)
        if (!is_past(s, last)) return false;
    return true;
}

static bool stream_is_done(const void *what)
{
    const work_until *work = what;
    return sim_host_is_past(work->stream, work->last);
}

static bool device_is_done(const void *what)
{
    const work_until *work = what;
    if (work->dev->unfinished == 0) return true;
    if (!work->dev->machine->threads) return false;
    for (const sim_stream *s = work->dev->streams; s; s = s->all_next)
        if (!is_past(s, work->last)) return false;
    return true;
}

static bool op_is_done(const void *what) { return ((const sim_op *)what)->done; }

static bool record_is_done(const void *what) { return ((const sim_record *)what)->done; }

sl_status sim_host_wait_stream(sim_stream *stream, sl_error *err)
{
    sim_device *dev = (sim_device *)stream->base.device;
    sl_status status = sim_host_catch_up(dev, err);
    const work_until work = { dev, stream, dev->machine->issued };
    return status == SL_OK ? wait_until(dev, stream_is_done, &work, err) : status;
}

sl_status sim_host_wait_op(sim_op *op, sl_error *err)
{
    sim_device *dev = sim_device_of(op);
    sl_status status = sim_host_catch_up(dev, err);
    return status == SL_OK ? wait_until(dev, op_is_done, op, err) : status;
}

sl_status sim_host_wait_record(sim_device *dev, sim_record *record, sl_error *err)
{
    record->refs++; /* another thread may make the event's next one */
    sl_status status = wait_until(dev, record_is_done, record, err);
    sim_record_release(dev->machine, record);
    return status;
}

sl_status sim_host_wait_idle(sim_device *dev, sl_error *err)
{
    sl_status status = sim_host_catch_up(dev, err);
    const work_until work = { dev, NULL, dev->machine->issued };
    return status == SL_OK ? wait_until(dev, device_is_done, &work, err) : status;
}
