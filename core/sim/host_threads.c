/* host_threads.c - the host's threads: each has a clock of its own, and the one whose clock is the
 * earliest goes on. Of two at the same time it is the one that has waited longer for its turn, so
 * that calls which take no time do not keep the others out for ever. */
#include "host.h"

static sim_thread *next_of(const sim_thread *thread) { return (sim_thread *)thread->base.next; }

static bool is_ready(const sim_thread *thread) { return !thread->base.ended && !thread->over; }

static bool comes_before(const sim_thread *a, const sim_thread *b)
{
    return a->host_at != b->host_at ? a->host_at < b->host_at : a->since < b->since;
}

/* ---- those that can go on: a skew heap, which takes no memory (Sleator and Tarjan, 1986) ---- */

static sim_thread *merged(sim_thread *a, sim_thread *b)
{
    sim_thread *root = NULL, **link = &root;
    while (a && b) {
        sim_thread *first = comes_before(b, a) ? b : a;
        b = first == a ? b : a;
        a = first->right;
        first->right = first->left;
        *link = first;
        link = &first->left;
    }
    *link = a ? a : b;
    return root;
}

static void make_ready(sim_machine *machine, sim_thread *thread)
{
    thread->left = thread->right = NULL;
    machine->ready = merged(machine->ready, thread);
}

static void take_first(sim_machine *machine)
{
    machine->ready = merged(machine->ready->left, machine->ready->right);
}

bool sim_threads_others(const sim_machine *machine)
{
    for (sim_thread *t = (sim_thread *)machine->threads->first; t; t = next_of(t))
        if (t != sim_thread_running(machine) && !t->base.ended) return true;
    return false;
}

static void suspend(sim_machine *machine)
{
    sim_thread_running(machine)->host_at = machine->host_at;
    sim_thread_running(machine)->since = ++machine->suspended;
}

static void start_waiting(sim_machine *machine, sim_thread *thread, sim_over_fn over)
{
    thread->over = over;
    SL__PUSH(machine->waiting, thread, waiting_next, waiting_link);
}

/* It was woken, and another thread has taken what it waited for since. After an interrupt it has to
 * see that. */
static bool has_to_wait_again(const sim_machine *machine, const sim_thread *thread)
{
    return thread->was_over && !thread->was_over(thread->what)
           && !*machine->devices->base.interrupted;
}

/* The next one that has something to do: `next`, or those that come behind it. One that would only
 * wait again does so without a turn of its own, unless it is the only one. */
static sim_thread *first_in_need(sim_machine *machine, sim_thread *next)
{
    while (machine->ready && has_to_wait_again(machine, next)) {
        next->since = ++machine->suspended;
        start_waiting(machine, next, next->was_over);
        next->was_over = NULL;
        next = machine->ready;
        take_first(machine);
    }
    next->was_over = NULL;
    return next;
}

/* `next` is the first that can go on, or one that waits. */
static void pass_to(sim_machine *machine, sim_thread *next)
{
    sim_thread *thread = sim_thread_running(machine);
    suspend(machine);
    if (next == machine->ready) take_first(machine);
    if (is_ready(thread)) make_ready(machine, thread);
    next = first_in_need(machine, next);
    machine->host_at = next->host_at;
    if (next == thread) return;
    machine->threads->pass(machine->threads, &next->base);
    machine->host_at = thread->host_at;
}

void sim_threads_turn(sim_machine *machine)
{
    sim_thread *next = machine->ready;
    if (next && next->host_at <= machine->host_at) pass_to(machine, next);
}

void sim_thread_turn(sl_device *device)
{
    sim_machine *machine = ((sim_device *)device)->machine;
    if (!machine->running_host_func) sim_threads_turn(machine);
}

/* ---- waiting ------------------------------------------------------------------- */

static void stop_waiting(sim_thread *thread)
{
    thread->over = NULL;
    SL__UNLINK(thread, waiting_next, waiting_link);
    thread->waiting_link = NULL;
}

static void wait_in(sim_machine *machine, sim_thread *next, sim_over_fn over, const void *what)
{
    sim_thread *thread = sim_thread_running(machine);
    thread->what = what;
    start_waiting(machine, thread, over);
    pass_to(machine, next);
    if (thread->waiting_link) stop_waiting(thread); /* it was roused for lack of others */
}

bool sim_threads_wait(sim_machine *machine, sim_over_fn over, const void *what)
{
    sim_thread *next = machine->ready;
    if (!next) return false;
    wait_in(machine, next, over, what);
    return true;
}

static void wake(sim_machine *machine, sim_thread *thread, sim_ps at)
{
    thread->was_over = thread->over;
    stop_waiting(thread);
    if (thread->host_at < at) thread->host_at = at;
    make_ready(machine, thread);
}

void sim_threads_wake(sim_machine *machine)
{
    for (sim_thread *t = machine->waiting, *next; t; t = next) {
        next = t->waiting_next;
        if (!t->over(t->what)) continue;
        wake(machine, t, machine->now);
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
    make_ready(machine, (sim_thread *)thread);
}

bool sim_thread_has_ended(const void *thread) { return ((const sl_thread *)thread)->ended; }

/* One that waits for the device comes before those that wait for threads, which wait for it; else
 * the one that was started first. */
static bool is_roused_before(const sim_thread *a, const sim_thread *b)
{
    const bool a_joins = a->over == sim_thread_has_ended, b_joins = b->over == sim_thread_has_ended;
    return a_joins != b_joins ? b_joins : a->base.number < b->base.number;
}

static sim_thread *first_waiting(const sim_machine *machine)
{
    sim_thread *first = machine->waiting;
    for (sim_thread *t = first; t; t = t->waiting_next)
        if (is_roused_before(t, first)) first = t;
    return first;
}

sl_thread *sim_thread_end(sl_thread *thread)
{
    sim_machine *machine = ((sim_device *)thread->device)->machine;
    suspend(machine);
    for (sim_thread *t = machine->waiting, *next; t; t = next) {
        next = t->waiting_next;
        if (t->over == sim_thread_has_ended && t->what == thread)
            wake(machine, t, machine->host_at);
    }
    sim_thread *next = machine->ready;
    if (next) {
        take_first(machine);
        next = first_in_need(machine, next);
    } else {
        next = first_waiting(machine);
    }
    machine->host_at = next->host_at;
    return &next->base;
}

bool sim_threads_rouse(sim_machine *machine, const sl_thread *thread)
{
    sim_thread *other = first_waiting(machine);
    if (!other || other->over == sim_thread_has_ended) return false;
    wait_in(machine, other, sim_thread_has_ended, thread);
    return true;
}
