/* queue.h - the order of operations: hardware channels, what one waits for, records of events.
 *
 *   queue.c         streams and channels: entering, coming forward, ending
 *   dependencies.c  which operations of other streams one waits for
 *   barriers.c      barriers that calls put into the device
 *   records.c       records of events
 *   comm_turns.c    the kernels of one communicator run one after the other
 *   ready.c         where an operation goes that has come forward
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include "sim.h"

/* A hardware work queue: in order, shared by the streams that map to it. */
struct sim_channel {
    sim_op *head, *tail; /* linked by channel_next */
    int64_t unfinished;  /* issued through it and not done */
};

struct sim_edge { /* `op` waits for the op that holds the edge */
    struct sim_edge *next;
    sim_op *op;
    uint8_t cause; /* sl_cause */
};

/* One record of an event: what waits, queries and elapsed_time refer to. */
struct sim_record {
    int32_t refs;
    bool done;
    sim_ps at;      /* timestamp, once done */
    sim_ps done_at; /* when waiters may go on */
    uint8_t engine; /* sl_engine: where the last work before it ran */
    union {
        sim_op *op;       /* until done */
        sim_record *next; /* in machine->free_records */
    };
};

/* A timed record takes time on the device, so a gap follows it. */
static inline bool sim_is_timed_record(const sim_op *op)
{
    return op->base.work.kind == SL_WORK_EVENT_RECORD && op->base.event->timing;
}
static inline bool sim_waits_in_own_stream(const sim_op *op)
{
    return op->base.event->device == op->base.stream->device
           && op->base.wait_target_stream == op->base.stream->id;
}
/* That of a queue's copies in one direction: those from the host and to it have the same, unless
 * there are two engines. */
static inline sim_channel *sim_copy_channel(const sim_device *dev, uint32_t queue, bool is_d2h)
{
    const bool second = is_d2h && dev->profile.async_engine_count > 1;
    return dev->channel + dev->n_connections + (second ? dev->n_copy_connections : 0)
           + queue % (uint32_t)dev->n_copy_connections;
}
/* Only blocking streams take part in the NULL stream's rules. */
static inline bool sim_takes_part(const sim_stream *stream)
{
    return !stream->base.legacy && !stream->base.non_blocking;
}

/* queue.c */
bool sim_queue_open(sim_device *dev);
void sim_queue_figures(sim_device *dev); /* the profile is another one */
void sim_queue_close(sim_device *dev);
void sim_stream_init(sim_stream *stream);
/* Links a prepared operation, whose channel has room, into that and its stream at the host's time.
 * Reserves first: false on lack of memory, nothing changed. */
bool sim_queue_issue(sim_op *op);
/* For all of them, so that sim_queue_issue cannot fail. */
bool sim_queue_reserve(sl_op *const *ops, size_t n);
sim_channel *sim_queue_channel(const sim_op *op); /* that it will enter */
void sim_queue_leave_channel(sim_op *op);
void sim_queue_done(sim_op *op, sim_ps done_at); /* of a stream: publish, release successors */
void sim_queue_give_to_core(sim_op *op);         /* it is done, to be reaped */

/* dependencies.c */
/* How many operations of other streams it waits for if it is issued now, */
int64_t sim_dependencies_count(const sim_op *op);
/* and at most when all of these are. */
int64_t sim_dependencies_at_most(sl_op *const *ops, size_t n);
void sim_dependencies_add(sim_op *op); /* as many edges are reserved */
bool sim_edges_reserve(sim_machine *machine,
                       int64_t n); /* so that n are free; false: out of memory */
static inline void sim_edge_free(sim_machine *machine, sim_edge *edge)
{
    edge->next = machine->free_edges;
    machine->free_edges = edge;
}

/* These call `wait`, unless it is NULL, for each operation that `op`, which is issued next, comes
 * behind, and return their number. */
typedef void (*sim_wait_fn)(sim_op *op, sim_op *earlier);
int64_t sim_barriers_each(sim_op *op, sim_wait_fn wait); /* because of barriers */
int64_t sim_turns_each(sim_op *op,
                       sim_wait_fn wait); /* kernels of its communicator in other streams */
void sim_turns_leave(sim_op *op);

/* barriers.c */
/* Work enqueued from now on in the streams that it reaches waits for all work in them. */
void sim_barriers_put(sim_device *dev, sim_reach reach);
/* Whether there are any that none of the stream's operations has come to. */
static inline bool sim_barriers_ahead(const sim_stream *stream)
{
    const sim_device *dev = (const sim_device *)stream->base.device;
    return stream->barriers_seen[SIM_BARRIER_ALL] < dev->barriers[SIM_BARRIER_ALL]
           || stream->barriers_seen[SIM_BARRIER_BLOCKING] < dev->barriers[SIM_BARRIER_BLOCKING];
}
/* An operation that waits for them is in the stream. */
static inline void sim_barriers_passed(sim_stream *stream)
{
    const sim_device *dev = (const sim_device *)stream->base.device;
    for (int kind = 0; kind < SIM_BARRIERS; kind++)
        stream->barriers_seen[kind] = dev->barriers[kind];
}
void sim_barriers_ended(sim_stream *stream, const sim_op *op);

/* records.c */
sim_record *sim_record_new(sim_machine *machine); /* NULL: out of memory */
/* Of an event of any device of the machine; NULL is fine. */
static inline void sim_record_release(sim_machine *machine, sim_record *record)
{
    if (!record || --record->refs > 0) return;
    record->next = machine->free_records;
    machine->free_records = record;
}
void sim_record_issued(sim_op *op); /* its record is the event's latest */
/* An operation that has a record, its own or one that it has waited for, ends. */
void sim_record_ended(sim_op *op, sim_ps done_at);
/* The wait's turn has come: notes when, and on which engine, its record was done, since the
 * stream's next work may run on another engine. It follows the wait, and the wait has the record as
 * its cause. */
void sim_record_awaited(sim_op *op);

/* host_func_thread.c */
void sim_host_func_submit(sim_op *op);
void sim_host_func_start(sim_op *op); /* its SIM_HOST_FUNC_START */

/* ready.c */
void sim_ready(sim_op *op); /* its SIM_READY */

#endif
