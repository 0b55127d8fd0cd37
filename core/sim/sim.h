/* sim.h - the simulated GPU's own objects, shared by the files of this folder.
 *
 * One discrete-event simulation per machine, which has a host and one or more GPUs, in integer
 * picoseconds, with a clock for the host beside the devices'. Reading order; the first line of each
 * file says what it is for:
 *   calls of the core     sim_backend.c, enqueue.c, call_effects.c, call_cost.c, sim_memory.c,
 *                         ordered.c, custom.c, set_figures.c, chance.c
 *   the host              host.c, host_threads.c, thread_calls.c, staging.c, deadlock.c (host.h)
 *   the loop over events  machine.c, engine.c, heap.c
 *   the order of work     queue.c, ready.c, ... (queue.h), host_func_thread.c
 *   kernels               chip.c, placement.c, turns.c, start_causes.c, rates.c, groups.c,
 *                         waves.c (chip.h)
 *   copies                copies.c, relay.c, peers.c, peer_access.c (copies.h)
 *   collectives, graphs   sim_comm.h and sim_graph.h list their files
 *   what kernels take     costs.c, custom_cost.c, known_launches.c, cache_state.c
 *   contents of memory    results.c; values.c and the files of value_node.h, which know no time
 * docs/design/simulator.md has the rules and the source of each.
 *
 * Calls go in one direction: no two files need each other.
 *
 * Invariant: the device's clock passes that of a thread of the host only while the thread is
 * blocked, so that no call can change the past.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "../backend.h"
#include "../emulate/emulate.h"
#include "chip.h"
#include "compute.h"
#include "heap.h"
#include "profile.h"
#include "values.h"

enum { SIM_MOST_DEVICES = 64 }; /* of a machine */

typedef struct sim_stream sim_stream;
typedef struct sim_event sim_event;
typedef struct sim_buffer sim_buffer;
typedef struct sim_device sim_device;
typedef struct sim_channel sim_channel;
typedef struct sim_graph sim_graph;
typedef struct sim_custom sim_custom;
typedef struct sim_machine sim_machine;
typedef struct sim_meeting sim_meeting;
typedef struct sim_edge sim_edge;
typedef struct sim_record sim_record;
typedef struct sim_freed sim_freed;
typedef struct sim_relay sim_relay;
typedef struct sim_thread sim_thread;

/* A GEMM that scripts compute, host_worked when it was last called, and what its call costs the
 * host but for caches, if that is known. */
typedef struct sim_known_gemm {
    sl_work work;
    double called, us;
    bool known;
} sim_known_gemm;

enum { SIM_GEMMS = 256 }; /* a power of 2 */

enum { SIM_ENGINE_H2D, SIM_ENGINE_D2H, SIM_ENGINE_D2D, SIM_COPY_ENGINES };

typedef struct sim_copy_engine {
    sim_fifo waiting;     /* of each channel at most its first, and pageable ones */
    sim_op *active;       /* its fluid is the chunk under way */
    sim_op *next;         /* starts when the engine has turned to its channel */
    sim_channel *channel; /* served last */
    bool leaves;          /* that channel: what it moved last was a piece of a leg (relay.c) */
    sim_turn last;        /* when a chunk last ended, and whose */
} sim_copy_engine;

/* What a copy engine moves, in bytes. */
typedef struct sim_moved {
    size_t chunk, staged, sent; /* under way, cleared for DMA, moved */
    size_t piece, in_ring;      /* a pageable one's: most at a time, staging buffers held */
    double written;             /* a pinned upload: the part that the host has just written */
} sim_moved;

/* A rank's part of a collective (sim_comm.h). */
typedef struct sim_part {
    sim_op *meeting_next, *sides_next;
    sim_op *carrier, *carried_next; /* whose kernel does it; what that does further */
    int32_t meetings_left;          /* a carrier: until its kernel ends */
    double traffic_share;           /* of the memory's bandwidth, while it is under way */
    sim_op *turn_next, **turn_link; /* a carrier: in a list of its communicator (comm_turns.c) */
} sim_part;

/* Of a launch of a graph. */
typedef struct sim_nodes {
    uint64_t last;     /* the number of the node that ended last */
    sim_ps visible_at; /* when the device sees its first node */
    sim_value **read;  /* of each node its pageable source, or NULL: none has one */
    sim_ps reading;    /* how long the host reads those */
    uint32_t to_drain; /* copies to pageable memory that have not ended */
} sim_nodes;

struct sim_op {
    sl_op base;
    sim_fluid fluid;     /* its node serves all that the operation waits for */
    sim_op *stream_next; /* the next operation of the stream */
    sim_op *channel_next, *fifo_next;
    sim_channel *channel; /* of a node that copies: as which the engines take it */
    sim_edge *dependents;
    sim_graph *node_of; /* a node: of which graph; else NULL */
    uint32_t node;      /* which one */
    int32_t deps_left;
    bool ready, done;            /* ready to run; ended */
    bool in_call;                /* the call that enqueues it has not returned: it is not reaped */
    bool queued;                 /* a copy: at its engine; a kernel: has started */
    bool let_go;                 /* a wait for a value: it ends without it */
    sim_ps ready_at;             /* not earlier, because of base.ready_cause; once ready: when */
    sim_value *value[SL_INPUTS]; /* inputs, captured */
    sim_relay *relays; /* a copy's, a leg's own, those of a launch's nodes; else NULL (relay.c) */
    union {            /* by base.work.kind */
        struct { /* what runs on the SMs: KERNEL, MEMSET, MEMCPY without an engine, COLLECTIVE */
            sim_launch launch;
            int64_t blocks_running;
            double slots, slot_rate; /* on the SM that rates.c looks at: asked for; its rate */
            int32_t threads_there;
            uint32_t waves; /* how often blocks of it were placed */
            union {
                sim_part part; /* COLLECTIVE */
                struct {
                    double warm; /* the part of what it reads that was in the L2 when described */
                    /* Of a custom kernel that has started: its launch, or the one that it repeats,
                     * and `value` what it found; NULL: no memory. */
                    sim_value *launched;
                    bool repeats;
                };
            };
        };
        sim_moved moved;    /* MEMCPY by an engine */
        sim_nodes nodes;    /* GRAPH */
        sim_record *record; /* EVENT_RECORD: its own; EVENT_WAIT: the one waited for */
    };
};

/* The legs of a copy through the host's memory: what the engines take. They are in no stream. */
enum { SIM_LEG_OUT, SIM_LEG_IN, SIM_LEGS };

struct sim_relay {
    sim_relay *next;  /* in machine->free_relays, or a launch's next one */
    sim_relay *after; /* in the list of the source */
    uint64_t seq;     /* the copy's */
    sim_op *op;       /* the copy, once its legs can move; else NULL */
    sim_op leg[SIM_LEGS];
};

/* Which streams a barrier is for: all, or those that take part in the NULL stream's rules. */
enum { SIM_BARRIER_ALL, SIM_BARRIER_BLOCKING, SIM_BARRIERS };

struct sim_stream {
    sl_stream base;
    sim_op *head, *tail; /* unfinished, in order */
    sim_channel *compute, *copy[2];
    sim_channel *last_channel;            /* where records and waits go */
    sim_ps work_done_at;                  /* when its last real operation ended */
    uint64_t work_done;                   /* seq of that operation */
    uint8_t work_done_engine;             /* sl_engine: where its last work ran, records aside */
    bool launch_done;                     /* and that was a graph's launch */
    sim_turn awaited[SL_ENGINES];         /* the latest record that it waited for, by its engine */
    sim_ps awaited_last;                  /* when the last of those was done */
    uint64_t legacy_seen;                 /* the NULL-stream operation that it already waits for */
    uint64_t barriers_seen[SIM_BARRIERS]; /* how many its last operation came after */
    sim_op *before_barrier[SIM_BARRIERS]; /* its last one before the latest, if unfinished */
    sim_stream *all_next, **all_link;     /* in the device's list of streams */
    sim_stream *busy_next, **busy_link;   /* of those in `busy`; not there: the link is NULL */
    int32_t level;                        /* of its kernels' queue */
    sim_op *carriers; /* of the group that is being enqueued, one a communicator, by sides_next */
    bool counted;     /* scratch of one count of a group's streams */
};

struct sim_event {
    sl_event base;
    sim_record *record; /* the latest; NULL if none */
};

struct sim_buffer {
    sl_buffer base;
    sim_value *value; /* its content at the device's time */
    double touched;   /* its memory's traffic when it was last used (cache_state.c) */
    bool asked;       /* new and pinned: core has collected what could serve it */
    bool of_copy;     /* pinned: made as the result of a copy */
    double written;   /* the same, when the host last wrote it and no engine has read it since */
};

struct sim_custom {
    sl_custom base;
    sl_emulated *emulated; /* NULL: nothing could compile it */
    bool loaded;           /* its code, at its first launch */
};

/* A host and its GPUs. */
struct sim_machine {
    sim_device *devices; /* in the order of their index */
    int32_t n_devices;
    sim_ps host_at, now; /* the two clocks: the host's (of the thread that runs), and that of all
                          * devices */
    sl_threads *threads; /* NULL: the host has one */
    sim_thread *ready;   /* a heap of those that can go on, without the running one */
    sim_thread *waiting; /* the others, unless they have ended */
    sim_thread *calling; /* those whose latest call into the driver may go on */
    bool woken;          /* a thread that waited can go on */
    uint64_t suspended;  /* how often a thread has given its turn away */
    sim_ps lock_until;   /* a call that keeps the driver's lock ends then */
    uint64_t issued;     /* number of the latest operation that has entered a stream */
    sim_ps horizon;      /* where the loop stops, unless a wait ends earlier */
    uint64_t steps;      /* of the loop, so far: tests bound them */
    sim_ps before;       /* what `now` was before this event: the same if others of this instant
                          * have been settled */
    sim_heap heap;
    sim_device *touched; /* to settle after this instant, linked by touched_next */
    sim_edge *free_edges;
    sim_record *free_records;
    sim_relay *free_relays;
    uint32_t n_relays;         /* in use */
    sim_meeting *meetings;     /* that are not over */
    sim_op *running_host_func; /* on a helper thread; the devices stand still meanwhile */
    sim_ps host_func_ps;       /* what it has worked */
    int64_t left_pinned[SL_SIZE_CLASSES]; /* blocks that pinned tensors have left (sim_memory.c) */
};

/* The pool of cudaMallocAsync, in bytes (ordered.c). */
typedef struct sim_ordered {
    int64_t reserved; /* that it has from the system */
    int64_t used;     /* of these */
    sim_freed *freed; /* of the others: what work in flight may use */
} sim_ordered;

/* Figures of the profile that the queue adds up. */
typedef struct sim_delays {
    sim_ps submit, graph_submit;
    sim_ps stream_gap, copy_gap, launch_gap;
    sim_ps engine_switch, record;
} sim_delays;

struct sim_device {
    sl_device base;
    sim_machine *machine;
    sim_device *machine_next, *touched_next;
    bool touched;
    sim_profile profile;
    sim_delays delay;
    bool enqueues_only; /* no call that enqueues has effects beside that (call_effects.c) */
    uint64_t peers;     /* bit i: it has access to the memory of device i */
    int64_t used_bytes; /* of the device's memory */
    sim_ordered ordered;
    sim_chip chip;
    sim_copy_engine engine[SIM_COPY_ENGINES];
    sim_relay *relays;    /* of copies that have not left it, in the order of their turns */
    sim_channel *channel; /* connections, then copy_connections per direction */
    int32_t n_connections, n_copy_connections;
    sim_stream *legacy;      /* the NULL stream once opened */
    sim_stream *streams;     /* all that are open */
    sl_stream driver_stream; /* says of which device a leg is (relay.c) */
    sim_stream *busy;        /* blocking streams (not the NULL stream) with unfinished work */
    uint64_t blocking_done;  /* the operation that last left a blocking stream empty */
    uint64_t barriers[SIM_BARRIERS];     /* that calls have put into the device */
    int64_t unfinished;                  /* operations on the device */
    uint32_t graph_nodes;                /* of all graphs that are instantiated */
    size_t ring_used;                    /* bytes of the H2D staging buffers in use */
    double traffic_device, traffic_host; /* bytes used of its memory and of the host's */
    uint64_t chances;                    /* how often chance has been asked (chance.c) */
    double host_worked;                  /* bytes that the host itself has read and written */
    double called[2];                    /* host_worked when a call of the kind was last made */
    sim_known_gemm gemms[SIM_GEMMS];     /* hashed; one that comes to another's place replaces it */
    sim_known_launch launches[SIM_LAUNCHES]; /* likewise */
    sim_known_launch *last_launch;           /* of these, used last; or NULL */
    bool copies_dirty;                       /* a copy engine has something to start or to stop */
    sim_op *done_head, *done_tail;
    sim_fifo host_funcs; /* that wait for the helper thread, which runs one at a time */
    sim_ps host_func_free_at;
    uint64_t last_host_func;              /* seq */
    bool loaded[SL_KERNELS][SL_DTYPES];   /* kernels: lazy loading */
    sim_table gemm_ratio[SIM_GEMM_MODES]; /* measured / formula by n */
    bool out_of_memory;                   /* of the host, for a result */
    sim_op *word_waits;                   /* for a value, that have come to it (results.c) */
};

static inline sim_device *sim_device_of(const void *op)
{
    return (sim_device *)((const sl_op *)op)->stream->device;
}
/* Another operation's kernel does it (sim_comm.h). */
static inline bool sim_is_carried(const sim_op *op)
{
    return op->base.comm && op->part.carrier && op->part.carrier != op;
}
/* Without copy engines, copies and kernels take turns. */
static inline bool sim_takes_turns(const sim_device *dev)
{
    return dev->profile.async_engine_count == 0;
}
void sim_capture_custom(sim_op *op);
static inline sim_stream *sim_stream_of(const sim_op *op) { return (sim_stream *)op->base.stream; }
/* Whether a copy within the device runs on the SMs, as a kernel. */
static inline bool sim_copies_on_sm(const sim_device *dev, const sl_work *work)
{
    return work->copy_kind == SL_SPAN_MEMCPY_D2D && dev->profile.d2d_on_sm;
}
static inline bool sim_takes_copy_engine(const sim_op *op)
{
    return op->base.work.kind == SL_WORK_MEMCPY
           && !sim_copies_on_sm(sim_device_of(op), &op->base.work);
}
static inline bool sim_runs_on_sms(const sim_op *op)
{
    const sl_work *work = &op->base.work;
    return work->kind == SL_WORK_KERNEL || work->kind == SL_WORK_MEMSET
           || (work->kind == SL_WORK_MEMCPY && sim_copies_on_sm(sim_device_of(op), work));
}
/* At the operation's virtual start: captures the contents of its inputs. */
static inline void sim_capture(sim_op *op)
{
    op->base.start_ns = sim_device_of(op)->machine->now / SIM_PS_PER_NS;
    if (op->base.custom) sim_capture_custom(op);
    for (int i = 0; i < SL_INPUTS; i++)
        if (op->base.side[i].buffer && !op->value[i])
            op->value[i] = sim_value_retain(((sim_buffer *)op->base.side[i].buffer)->value);
}

/* Before an operation enters its channel: a kernel that is alone leaves it in time. */
static inline void sim_look_into_channel(const sim_op *op)
{
    const sim_chip *chip = &sim_device_of(op)->chip;
    if (chip->ahead > 0 && chip->alone->op->channel == op->channel)
        sim_alone_unfold(sim_device_of(op), false);
}

/* machine.c */
/* Puts the device into the machine of `beside`, or into a new one. SL_ESTATE: that has a device of
 * its index; SL_ENOMEM. */
sl_status sim_machine_join(sim_device *dev, sim_device *beside, sl_error *err);
void sim_machine_leave(sim_device *dev); /* the last one takes the machine with it */
/* In the heap, for one more operation, or wave of blocks, so that nothing can fail later. */
bool sim_machine_reserve_next(sim_machine *machine);
bool sim_machine_reserve(sim_machine *machine, size_t more); /* and for `more` of them */
/* While an event is handled, or a device settled: settle this one as well. */
static inline void sim_settle_too(sim_device *dev)
{
    if (dev->touched) return;
    dev->touched = true;
    dev->touched_next = dev->machine->touched;
    dev->machine->touched = dev;
}

/* engine.c */
/* Handles events up to limit; then now = limit. False: the user interrupted it before, or a thread
 * has woken. */
bool sim_run_until(sim_machine *machine, sim_ps limit);
bool sim_step(sim_machine *machine); /* to the next event; false: none */
/* Whether the user interrupts a loop over sim_step; *steps counts its rounds, from 0. The flag is
 * read about every millisecond, so a short wait is never interrupted. */
bool sim_stopped(const sim_device *dev, uint32_t *steps);
void sim_settle(sim_device *dev); /* starts what can start now */
static inline bool sim_is_unsettled(const sim_device *dev)
{
    return dev->copies_dirty || dev->chip.dirty || dev->chip.rates_dirty;
}

/* results.c */
void sim_publish(sim_op *op); /* its result is seen by what starts from now on */
/* From now on the buffer holds `value`, and takes it. False: it is NULL, for lack of memory. */
bool sim_put(sl_buffer *buffer, sim_value *value, const sim_op *by);

/* Whether the value is there that a WAIT_VALUE waits for; else it comes forward again when it
 * is. */
bool sim_word_arrived(sim_op *op);
/* Writes what it waits for, and ends it also where there is no memory for that. */
void sim_word_end(sim_op *op);
/* What is there, and whether that is what it waits for. As sim_value_read. */
sl_status sim_word_look(const sim_op *op, uint32_t *found, bool *holds, sl_error *err);

#endif
