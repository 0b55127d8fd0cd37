/* host_threads.c - the host's threads: each has a clock of its own, and the one whose clock is the
 * earliest goes on. Of two at the same time it is the one that has waited longer for its turn, so that
 * calls which take no time do not keep the others out for ever.
 *
 * A call into the driver is longer for each other thread that is inside of one; allocating memory and
 * page-locking it keep the driver's lock to their end (docs/design/threads.md).
 */
#include "host.h"

static sim_thread *running(const sim_machine *machine)
{
    return (sim_thread *)machine->threads->running;
}

static sim_thread *next_of(const sim_thread *thread) { return (sim_thread *)thread->base.next; }

static bool is_ready(const sim_thread *thread) { return !thread->base.ended && !thread->over; }

static bool comes_before(const sim_thread *a, const sim_thread *b)
{
    return a->host_at != b->host_at ? a->host_at < b->host_at : a->since < b->since;
}

/* The thread that comes first of those that can go on, without the running one; or NULL. */
static sim_thread *first_ready(const sim_machine *machine)
{
    sim_thread *first = NULL;
    for (sim_thread *t = (sim_thread *)machine->threads->first; t; t = next_of(t))
        if (t != running(machine) && is_ready(t) && (!first || comes_before(t, first))) first = t;
    return first;
}

bool sim_threads_others(const sim_machine *machine)
{
    for (sim_thread *t = (sim_thread *)machine->threads->first; t; t = next_of(t))
        if (t != running(machine) && !t->base.ended) return true;
    return false;
}

static void suspend(sim_machine *machine)
{
    running(machine)->host_at = machine->host_at;
    running(machine)->since = ++machine->suspended;
}

static void pass_to(sim_machine *machine, sim_thread *next)
{
    sim_thread *thread = running(machine);
    suspend(machine);
    machine->host_at = next->host_at;
    machine->threads->pass(machine->threads, &next->base);
    machine->host_at = thread->host_at;
}

void sim_threads_turn(sim_machine *machine)
{
    sim_thread *next = first_ready(machine);
    if (next && next->host_at <= machine->host_at) pass_to(machine, next);
}

void sim_thread_turn(sl_device *device)
{
    sim_machine *machine = ((sim_device *)device)->machine;
    if (!machine->running_host_func) sim_threads_turn(machine);
}

/* ---- waiting ------------------------------------------------------------------- */

static void wait_in(sim_machine *machine, sim_thread *next, sim_over_fn over, const void *what)
{
    sim_thread *thread = running(machine);
    thread->over = over;
    thread->what = what;
    pass_to(machine, next);
    thread->over = NULL; /* it may have been roused for lack of others */
}

bool sim_threads_wait(sim_machine *machine, sim_over_fn over, const void *what)
{
    sim_thread *next = first_ready(machine);
    if (!next) return false;
    wait_in(machine, next, over, what);
    return true;
}

static void wake(sim_thread *thread, sim_ps at)
{
    thread->over = NULL;
    if (thread->host_at < at) thread->host_at = at;
}

void sim_threads_wake(sim_machine *machine)
{
    for (sim_thread *t = (sim_thread *)machine->threads->first; t; t = next_of(t)) {
        if (!t->over || !t->over(t->what)) continue;
        wake(t, machine->now);
        machine->woken = true;
    }
}

/* ---- a thread's life -------------------------------------------------------------- */

void sim_thread_open(sl_thread *thread)
{
    sim_machine *machine = ((sim_device *)thread->device)->machine;
    machine->threads = thread->device->threads;
    ((sim_thread *)thread)->host_at = machine->host_at;
    ((sim_thread *)thread)->since = ++machine->suspended;
}

static bool has_ended(const void *thread) { return ((const sl_thread *)thread)->ended; }

/* One that waits for the device comes before those that wait for threads, which wait for it. */
static sim_thread *first_waiting(const sim_machine *machine)
{
    sim_thread *first = NULL;
    for (sim_thread *t = (sim_thread *)machine->threads->first; t; t = next_of(t)) {
        if (t == running(machine) || !t->over) continue;
        if (!first || (first->over == has_ended && t->over != has_ended)) first = t;
    }
    return first;
}

sl_thread *sim_thread_end(sl_thread *thread)
{
    sim_machine *machine = ((sim_device *)thread->device)->machine;
    suspend(machine);
    for (sim_thread *t = (sim_thread *)machine->threads->first; t; t = next_of(t))
        if (t->over == has_ended && t->what == thread) wake(t, machine->host_at);
    sim_thread *next = first_ready(machine);
    if (!next) next = first_waiting(machine);
    machine->host_at = next->host_at;
    return &next->base;
}

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
    if (sim_threads_wait(machine, has_ended, thread)) return SL_OK;
    if (!*thread->device->interrupted && sim_step(machine)) return SL_OK;
    sim_thread *other = first_waiting(machine);
    if (!other || other->over == has_ended)
        return sl_fail(err, SL_ESTATE, "all threads wait for each other");
    wait_in(machine, other, has_ended, thread);
    return SL_OK;
}

sl_status sim_thread_join(sl_thread *thread, sl_error *err)
{
    sim_device *dev = (sim_device *)thread->device;
    sl_status status = sim_host_catch_up(dev, err);
    if (status == SL_EINTERRUPT) status = SL_OK; /* so is the thread */
    while (status == SL_OK && !thread->ended)
        status = join_step(dev->machine, thread, err);
    const sim_ps ended_at = ((sim_thread *)thread)->host_at;
    if (status == SL_OK && dev->machine->host_at < ended_at) dev->machine->host_at = ended_at;
    return status;
}

/* ---- the driver's lock ---------------------------------------------------------------- */

void sim_threads_await_lock(sim_machine *machine)
{
    if (machine->host_at < machine->lock_until) machine->host_at = machine->lock_until;
}

void sim_threads_keep_lock(sim_machine *machine) { machine->lock_until = machine->host_at; }

double sim_threads_call_us(sim_device *dev, double us)
{
    sim_machine *machine = dev->machine;
    if (machine->running_host_func) return us;
    sim_threads_await_lock(machine);
    for (sim_thread *t = (sim_thread *)machine->threads->first; t; t = next_of(t))
        if (t != running(machine) && t->call_until > machine->host_at)
            us += dev->profile.thread_contention_us;
    running(machine)->call_until = sim_later(machine->host_at, sim_us_to_ps(us));
    return us;
}
