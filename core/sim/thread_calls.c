/* thread_calls.c - calls that the host's threads make: those that ask or wait for a thread, and how
 * long one into the driver takes while other threads are in it. It is longer for each of them;
 * those that allocate memory and page-lock it keep the driver's lock to their end
 * (docs/design/threads.md). */
#include "host.h"

/* ---- the driver ---- */

void sim_threads_await_lock(sim_machine *machine)
{
    if (machine->host_at < machine->lock_until) machine->host_at = machine->lock_until;
}

void sim_threads_keep_lock(sim_machine *machine) { machine->lock_until = machine->host_at; }

/* Calls that have ended before the device's clock are over for all: no thread's clock is behind
 * it. */
static int64_t count_calling(sim_machine *machine)
{
    int64_t n = 0;
    for (sim_thread **link = &machine->calling; *link;) {
        sim_thread *t = *link;
        if (t->call_until <= machine->now) {
            *link = t->calling_next;
            t->calling = false;
            continue;
        }
        n += t != sim_thread_running(machine) && t->call_until > machine->host_at;
        link = &t->calling_next;
    }
    return n;
}

double sim_threads_call_us(sim_device *dev, double us)
{
    sim_machine *machine = dev->machine;
    if (machine->running_host_func) return us;
    sim_threads_await_lock(machine);
    for (int64_t n = count_calling(machine); n > 0; n--)
        us += dev->profile.thread_contention_us;
    sim_thread *thread = sim_thread_running(machine);
    thread->call_until = sim_later(machine->host_at, sim_us_to_ps(us));
    if (thread->calling) return us;
    thread->calling = true;
    thread->calling_next = machine->calling;
    machine->calling = thread;
    return us;
}

/* It is about to be freed. */
static void forget_call(sim_machine *machine, sim_thread *thread)
{
    sim_thread **link = &machine->calling;
    if (!thread->calling) return;
    while (*link != thread)
        link = &(*link)->calling_next;
    *link = thread->calling_next;
    thread->calling = false;
}

/* ---- asking and waiting for a thread ---- */

sl_status sim_thread_query(sl_thread *thread, bool *ended, sl_error *err)
{
    sim_device *dev = (sim_device *)thread->device;
    sim_host_spend_us(dev, dev->profile.host_query_us);
    sl_status status = sim_host_catch_up(dev, err);
    *ended = thread->ended;
    return status;
}

/* One step of a wait for a thread that has not ended. With nothing left to happen, or after an
 * interrupt, another thread that waits has to report that. */
static sl_status join_step(sim_machine *machine, const sl_thread *thread, sl_error *err)
{
    if (sim_threads_wait(machine, sim_thread_has_ended, thread)) return SL_OK;
    if (!*thread->device->interrupted && sim_step(machine)) return SL_OK;
    if (sim_threads_rouse(machine, thread)) return SL_OK;
    return sl_fail(err, SL_ESTATE, "all threads wait for each other");
}

sl_status sim_thread_join(sl_thread *thread, sl_error *err)
{
    sim_device *dev = (sim_device *)thread->device;
    sl_status status = sim_host_catch_up(dev, err);
    if (status == SL_EINTERRUPT) status = SL_OK; /* so is the thread */
    while (status == SL_OK && !thread->ended)
        status = join_step(dev->machine, thread, err);
    if (status != SL_OK) return status;
    const sim_ps ended_at = ((sim_thread *)thread)->host_at;
    if (dev->machine->host_at < ended_at) dev->machine->host_at = ended_at;
    forget_call(dev->machine, (sim_thread *)thread);
    return SL_OK;
}
