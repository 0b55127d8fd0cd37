/* host.h - the host of the simulated GPUs: its clock and its waits, its threads, what its calls
 * cost, and its part of pageable copies. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "queue.h"

/* Whether what a thread waits for has come. */
typedef bool (*sim_over_fn)(const void *what);

struct sim_thread {
    sl_thread base;
    sim_ps host_at;    /* its clock while another one runs; in the end */
    uint64_t since;    /* of its suspensions, which one this is */
    sim_ps call_until; /* its latest call into the driver ends then */
    sim_over_fn over;  /* it waits for that; NULL: it can go on */
    const void *what;
    sim_over_fn was_over;     /* what it waited for until it was woken; NULL: nothing */
    sim_thread *left, *right; /* in machine->ready */
    sim_thread *waiting_next, **waiting_link; /* in machine->waiting; else the link is NULL */
    sim_thread *calling_next;                 /* in machine->calling */
    bool calling;
};

/* host.c */
static inline void sim_host_spend_us(sim_device *dev, double us)
{
    /* Inside a host function it is the helper thread that works. */
    sim_machine *machine = dev->machine;
    sim_ps *clock = machine->running_host_func ? &machine->host_func_ps : &machine->host_at;
    *clock = sim_later(*clock, sim_us_to_ps(us));
}
/* Runs the device up to the host's time. SL_EINTERRUPT: the user interrupted it, and its clock is
 * behind the host's; the next call goes on from there. */
sl_status sim_host_catch_up(sim_device *dev, sl_error *err);
/* SL_ESTATE once a clock has reached the end of virtual time. */
sl_status sim_host_fail_time(sl_error *err);
static inline sl_status sim_host_check_time(const sim_device *dev, sl_error *err)
{
    const sim_machine *machine = dev->machine;
    if (machine->host_at < SIM_LAST_PS && machine->now < SIM_LAST_PS) return SL_OK;
    return sim_host_fail_time(err);
}
bool sim_host_sees_idle(const sim_stream *stream);
/* Whether the stream's work to operation `last` is done; for the NULL stream all blocking ones'. */
bool sim_host_is_past(const sim_stream *stream, uint64_t last);
sl_status sim_host_wait_stream(sim_stream *stream, sl_error *err);
sl_status sim_host_wait_op(sim_op *op, sl_error *err);
sl_status sim_host_wait_record(sim_device *dev, sim_record *record, sl_error *err);
sl_status sim_host_wait_idle(sim_device *dev, sl_error *err);
/* One step of a wait, whose steps are counted in *steps, until over(what): other threads of the
 * host go on, or else the device does. SL_EINTERRUPT sets the host's clock to the device's:
 * operations that have ended by then have ended, the others go on, and a later wait begins there.
 * That moment depends on when the user pressed Ctrl-C; nothing else in virtual time does. */
sl_status sim_host_step(sim_device *dev, sim_over_fn over, const void *what, uint32_t *steps,
                        sl_error *err);
void sim_host_meet_device(sim_device *dev); /* the host's clock is not behind it */

/* host_threads.c */
static inline sim_thread *sim_thread_running(const sim_machine *machine)
{
    return (sim_thread *)machine->threads->running;
}
void sim_thread_open(sl_thread *thread); /* functions of backend.h */
void sim_thread_turn(sl_device *device);
sl_thread *sim_thread_end(sl_thread *thread);
bool sim_thread_has_ended(const void *thread); /* a sim_over_fn */
/* Lets those threads go on that come before the running one: with an earlier time, or with the same
 * one if they have waited for their turn. */
void sim_threads_turn(sim_machine *machine);
/* Whether there are threads beside the running one that have not ended. */
bool sim_threads_others(const sim_machine *machine);
/* The running thread waits until over(what): another one goes on, if one can. False: none. */
bool sim_threads_wait(sim_machine *machine, sim_over_fn over, const void *what);
void sim_threads_wake(sim_machine *machine); /* those for which it is over now */
/* The running thread waits for the end of `thread`, and one that waits for the device goes on, to
 * report why that does not come. False: all wait for threads. */
bool sim_threads_rouse(sim_machine *machine, const sl_thread *thread);

/* thread_calls.c */
sl_status sim_thread_query(sl_thread *thread, bool *ended,
                           sl_error *err); /* functions of backend.h */
sl_status sim_thread_join(sl_thread *thread, sl_error *err);
/* The running thread enters the driver for `us`, and stays longer for each other one that is in it:
 * how long that takes in all. */
double sim_threads_call_us(sim_device *dev, double us);
static inline double sim_call_us(sim_device *dev, double us)
{
    return dev->machine->threads ? sim_threads_call_us(dev, us) : us;
}
/* It waits until no call keeps the driver's lock; it keeps the lock up to its time now. */
void sim_threads_await_lock(sim_machine *machine);
void sim_threads_keep_lock(sim_machine *machine);

/* call_effects.c */
/* The effects of a call according to the profile: it waits, puts a barrier, costs time. *waited (or
 * NULL): whether the profile says that it waits. `stream` is NULL for a call without one. */
sl_status sim_call_make(sim_device *dev, sim_call call, sim_stream *stream, size_t bytes,
                        bool *waited, sl_error *err);
sl_status sim_call_enqueue(sim_op *op, sl_error *err);
void sim_calls_figures(sim_device *dev); /* the profile is another one */

/* enqueue.c */
/* Chooses its channel, and waits until that has room. */
sl_status sim_wait_for_queue(sim_op *op, sl_error *err);
void sim_describe_launch(sl_op *op, const sim_launch *launch);

/* deadlock.c */
/* SL_ESTATE: nothing can go on, because a collective waits for a rank, or a stream for a value:
 * says who waits for what. SL_OK: none waits. */
sl_status sim_stuck(const sim_machine *machine, sl_error *err);
/* Those that sim_stuck names: of each kind the one that was called first, or NULL. */
sim_meeting *sim_stuck_meeting(const sim_machine *machine);
sim_op *sim_stuck_word(const sim_machine *machine);

/* ordered.c */
/* cudaMallocAsync, cudaFreeAsync, and with stream NULL cudaFree: without the call's own cost. */
void sim_ordered_take(sim_device *dev, const sim_stream *stream, size_t bytes);
void sim_ordered_give(sim_device *dev, const sim_stream *stream, size_t bytes);
/* The end of a synchronisation of a stream, an event or the device. */
void sim_ordered_trim(sim_device *dev);
void sim_ordered_stream_closed(const sim_stream *stream);
void sim_ordered_close(sim_device *dev);

/* chance.c */
double sim_chance_factor(sim_device *dev); /* by which a call's cost differs from the usual one */
bool sim_chance_turns(sim_device *dev);    /* whether an engine passes over the next channel */

/* call_cost.c */
double sim_host_enqueue_us(const sim_op *op);
/* A recording begins: of each kind of call the next one is the first (docs/design/simulator.md,
 * section 5). */
void sim_host_forget_calls(sim_device *dev);
void sim_host_forget_costs(sim_device *dev); /* the figures have changed */

/* staging.c */
/* After issue of a pageable copy: the host copies into staging buffers, or out of them. */
sl_status sim_host_stage_h2d(sim_op *op, sl_error *err);
sl_status sim_host_drain_d2h(sim_op *op, sl_error *err);
double sim_host_stage_us(sl_buffer *src, size_t bytes); /* reading all of a source, no wait in it */
double sim_host_drain_us(sl_buffer *dst, size_t bytes);

#endif
