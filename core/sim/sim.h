/* sim.h - the simulated GPU's own objects, shared by the files of this folder.
 *
 * One discrete-event simulation per machine, which has a host and one or more
 * GPUs, in integer picoseconds, with a clock for the host beside the devices'.
 * Reading order:
 *   sim_backend.c  the interface to core: opening, reaping, waiting
 *   enqueue.c      the call that enqueues an operation
 *   memory.c       the memory of buffers, and the host's
 *   ordered.c      the pool of cudaMallocAsync: when it grows, and when it is trimmed
 *   calls.c        the costs of calls, and what they wait for
 *   host.c         the host's clock, and how the host waits
 *   host_threads.c the host's threads, each with a clock of its own
 *   staging.c      the host's part of pageable copies
 *   machine.c      a host and its GPUs
 *   engine.c       the loop over the events in the heap (heap.c)
 *   queue.c        streams, hardware channels, dependencies, events
 *   barriers.c     barriers that calls put into the device
 *   host_func.c    the thread of host functions
 *   placement.c    kernels: placing blocks on SMs (chip.h)
 *   start_causes.c what kept them from starting
 *   rates.c        and the rates at which they run
 *   groups.c       SMs in the same state, and the blocks on them
 *   waves.c        many waves of a kernel's blocks in one step
 *   copies.c       copy engines, staging of pageable copies
 *   relay.c        copies between GPUs through the host's memory
 *   peers.c        copies and signals from one GPU to another
 *   peer_access.c  and the calls that ask for access to another's memory
 *   comm.c         collectives (comm.h)
 *   results.c      what operations leave in memory
 *   graph.c        captures, executable graphs (graph.h)
 *   graph_shape.c  roots, edges and size of an executable graph
 *   graph_cost.c   what graphs cost the host, from the profile
 *   graph_call.c   the call of a launch of a graph
 *   graph_run.c    its nodes
 *   figures.c      other figures for an open device
 *   costs.c        how long a kernel's block takes, from the profile
 *   launches.c     and those that are known already
 *   custom.c       custom kernels
 *   call_cost.c    what a call costs the host, from the profile
 *   chance.c       how calls and engines differ from run to run
 *   cache_state.c  what caches hold
 *   values.c       the contents of memory (knows no time); value_node.h lists the files behind it
 * docs/design/simulator.md has the rules and the source of each.
 *
 * Calls go in one direction but for the circles that tests/layers/circles lists, with why.
 *
 * Invariant: the device's clock passes that of a thread of the host only while the thread is blocked,
 * so that no call can change the past.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "../backend.h"
#include "../emulate/emulate.h"
#include "../table.h"
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
typedef struct sim_record sim_record;
typedef struct sim_freed sim_freed;
typedef struct sim_relay sim_relay;
typedef struct sim_thread sim_thread;

/* ---- copies (copies.c) ---- */

/* A product that scripts compute, host_worked when it was last called, and what its call costs the
 * host but for caches, if that is known. */
typedef struct sim_product {
    sl_work work;
    double called, us;
    bool known;
} sim_product;

enum { SIM_PRODUCTS = 256 }; /* a power of 2 */

typedef struct sim_copy_engine {
    sim_fifo waiting;     /* of each channel at most its first, and pageable ones */
    sim_op *active;       /* its fluid is the chunk under way */
    sim_op *next;         /* starts when the engine has turned to its channel */
    sim_channel *channel; /* served last */
    bool leaves;          /* that channel: what it moved last was a piece of a leg (relay.c) */
    sim_turn last;        /* when a chunk last ended, and whose */
} sim_copy_engine;

/* ---- queues (queue.c) ---- */

/* A hardware work queue: in order, shared by the streams that map to it. */
struct sim_channel {
    sim_op *head, *tail; /* linked by channel_next */
    int64_t unfinished;  /* issued through it and not done */
};

typedef struct sim_edge { /* `op` waits for the op that holds the edge */
    struct sim_edge *next;
    sim_op *op;
    uint8_t cause; /* sl_cause */
} sim_edge;

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

struct sim_op {
    sl_op base;
    sim_fluid fluid;     /* its node serves all that the operation waits for */
    sim_op *stream_next; /* the next operation of the stream */
    sim_op *channel_next, *fifo_next;
    sim_channel *channel; /* of a node that copies: as which the engines take it */
    sim_edge *dependents;
    sim_record *record; /* RECORD: its own; WAIT: the one waited for */
    int32_t deps_left;
    bool ready, done;            /* ready to run; ended */
    bool in_call;                /* the call that enqueues it has not returned: it is not reaped */
    bool queued;                 /* a copy: at its engine; a kernel: has started */
    sim_ps ready_at;             /* not earlier, because of base.ready_cause; once ready: when */
    sim_value *value[SL_INPUTS]; /* inputs, captured */
    sim_launch launch;           /* kernels, memsets and D2D on SMs */
    int64_t blocks_running;
    double slots, slot_rate; /* on the SM that rates.c looks at: asked for; its rate */
    int32_t threads_there;
    uint32_t waves;             /* how often blocks of it were placed */
    size_t chunk, staged, sent; /* a copy's bytes: under way, cleared for DMA, moved */
    double written;             /* a pinned upload: the part that the host has just written */
    size_t piece, in_ring;      /* a pageable one's: most at a time, staging buffers held */
    double warm;        /* the part of what it reads that was in the L2 when it was described */
    sim_value **args;   /* of a custom kernel: the contents of those that it reads */
    sim_graph *node_of; /* a node: of which graph; else NULL */
    uint32_t node;      /* which one */
    /* a collective (comm.h) */
    sim_meeting *meeting; /* until it is over */
    sim_op *meeting_next, *sides_next;
    sim_op *carrier, *carried_next; /* whose kernel does it; what that does further */
    int32_t meetings_left;          /* a carrier: until its kernel ends */
    double traffic_share;           /* of the memory's bandwidth, while it is under way */
    sim_op *turn_next, **turn_link; /* a carrier: in a list of its communicator (comm_turns.c) */
    sim_relay *relays; /* a copy's, a leg's own, those of a launch's nodes; else NULL (relay.c) */
    /* a launch */
    uint64_t last_node; /* the number of the node that ended last */
    sim_ps visible_at;  /* when the device sees its first node */
    sim_value **read;   /* of each node its pageable source, or NULL: none has one */
    sim_ps reading;     /* how long the host reads those */
    uint32_t to_drain;  /* copies to pageable memory that have not ended */
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
    bool counted;                         /* scratch of one count of a group's streams */
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
    uint64_t steps;      /* of the loop, so far */
    sim_heap heap;
    sim_device *touched; /* to settle after this instant, linked by touched_next */
    sim_edge *free_edges;
    sim_record *free_records;
    sim_relay *free_relays;
    uint32_t n_relays;         /* in use */
    sim_meeting *meetings;     /* that are not over, */
    sl__table meeting_table;   /* by who meets and the number */
    sim_op *running_host_func; /* on a helper thread; the devices stand still meanwhile */
    sim_ps host_func_ps;       /* what it has worked */
    int64_t left_pinned[SL_SIZE_CLASSES]; /* blocks that pinned tensors have left (memory.c) */
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
    uint64_t peers;     /* bit i: it has access to the memory of device i */
    int64_t used_bytes; /* of the device's memory */
    sim_ordered ordered;
    sim_chip chip;
    sim_copy_engine engine[3]; /* H2D, D2H, device to device */
    sim_relay *relays;         /* of copies that have not left it, in the order of their turns */
    sim_channel *channel;      /* connections, then copy_connections per direction */
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
    sim_product products[SIM_PRODUCTS];  /* hashed; one that comes to another's place replaces it */
    sim_known_launch launches[SIM_LAUNCHES]; /* likewise */
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
/* Another operation's kernel does it (comm.h). */
static inline bool sim_is_carried(const sim_op *op) { return op->carrier && op->carrier != op; }
/* Without copy engines, copies and kernels take turns. */
static inline bool sim_takes_turns(const sim_device *dev)
{
    return dev->profile.async_engine_count == 0;
}
void sim_capture_custom(sim_op *op);
/* results.c */
static inline sim_stream *sim_stream_of(const sim_op *op) { return (sim_stream *)op->base.stream; }
/* At the operation's virtual start: captures the contents of its inputs. */
static inline void sim_capture(sim_op *op)
{
    op->base.start_ns = sim_device_of(op)->machine->now / SIM_PS_PER_NS;
    if (op->base.custom) sim_capture_custom(op);
    for (int i = 0; i < SL_INPUTS; i++)
        if (op->base.side[i].buffer && !op->value[i])
            op->value[i] = sim_value_retain(((sim_buffer *)op->base.side[i].buffer)->value);
}

/* machine.c */
/* Puts the device into the machine of `beside`, or into a new one. SL_ESTATE: that has a device of
 * its index; SL_ENOMEM. */
sl_status sim_machine_join(sim_device *dev, sim_device *beside, sl_error *err);
void sim_machine_leave(sim_device *dev); /* the last one takes the machine with it */
/* In the heap, for one more operation, or cohort of blocks, so that nothing can fail later. */
bool sim_machine_reserve_next(sim_machine *machine);
bool sim_machine_reserve(sim_machine *machine, size_t more); /* and for `more` of them */

/* engine.c */
/* Handles events up to limit; then now = limit. False: the user interrupted it before, or a thread
 * has woken. */
bool sim_run_until(sim_machine *machine, sim_ps limit);
bool sim_step(sim_machine *machine); /* to the next event; false: none */
/* Whether the user interrupts a loop over sim_step; *steps counts its rounds, from 0. The flag is
 * read about every millisecond, so a short wait is never interrupted. */
bool sim_stopped(const sim_device *dev, uint32_t *steps);
void sim_settle(sim_device *dev); /* starts what can start now */
/* While an event is handled, or a device settled: settle this one as well. */
void sim_settle_too(sim_device *dev);

/* calls.c */
/* The effects of a call according to the profile: it waits, puts a barrier, costs time. *waited (or
 * NULL): whether the profile says that it waits. `stream` is NULL for a call without one. */
sl_status sim_call_make(sim_device *dev, sim_call call, sim_stream *stream, size_t bytes,
                        bool *waited, sl_error *err);
sl_status sim_call_enqueue(sim_op *op, sl_error *err);

/* barriers.c */
/* Work enqueued from now on in the streams that it reaches waits for all work in them. */
void sim_barriers_put(sim_device *dev, sim_reach reach);
/* Calls fn, if not NULL, for each operation that the next one of `stream` waits for because of
 * barriers. Returns their number. */
typedef void (*sim_barriers_fn)(void *ud, sim_op *earlier);
int64_t sim_barriers_each(const sim_stream *stream, sim_barriers_fn fn, void *ud);
void sim_barriers_passed(sim_stream *stream); /* that next operation is in the stream */
/* Whether there are any that none of the stream's operations has come to. */
static inline bool sim_barriers_ahead(const sim_stream *stream)
{
    const sim_device *dev = (const sim_device *)stream->base.device;
    return stream->barriers_seen[SIM_BARRIER_ALL] < dev->barriers[SIM_BARRIER_ALL]
           || stream->barriers_seen[SIM_BARRIER_BLOCKING] < dev->barriers[SIM_BARRIER_BLOCKING];
}
void sim_barriers_ended(sim_stream *stream, const sim_op *op);

/* host_func.c */
void sim_host_func_submit(sim_op *op);
void sim_host_func_start(sim_op *op); /* its SIM_HOST_FUNC_START */

/* queue.c, placement.c and copies.c call one another: an operation that ends or starts frees its
 * hardware channel, and the next one there goes to the same SMs and copy engines. */

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
void sim_queue_ready(sim_op *op);                 /* its SIM_READY */
void sim_queue_leave_channel(sim_op *op);
void sim_queue_done(sim_op *op, sim_ps done_at); /* of a stream: publish, release successors */
void sim_op_ended(sim_op *op, sim_ps done_at);   /* of a stream or of a graph */
void sim_queue_give_to_core(sim_op *op);         /* it is done, to be reaped */
/* Of an event of any device of the machine; NULL is fine. */
void sim_record_release(sim_machine *machine, sim_record *record);
/* NULL: out of memory. */
sim_record *sim_record_new(sim_machine *machine);
void sim_edge_free(sim_machine *machine, sim_edge *edge);
/* So that there are n free edges. */
bool sim_edges_reserve(sim_machine *machine, int64_t n);

/* results.c */
void sim_publish(sim_op *op); /* its result is seen by what starts from now on */
/* From now on the buffer holds `value`, and takes it. False: it is NULL, for want of memory. */
bool sim_put(sl_buffer *buffer, sim_value *value, const sim_op *by);

/* Whether the value is there that a WAIT_VALUE waits for; else it comes forward again when it is. */
bool sim_word_arrived(sim_op *op);
/* What is there, and whether that is what it waits for. As sim_value_read. */
sl_status sim_word_look(const sim_op *op, uint32_t *found, bool *holds, sl_error *err);

/* memory.c: functions of backend.h */
sl_status sim_buffer_open(sl_buffer *buffer, sl_alloc_how how, sl_stream *stream, sl_error *err);
void sim_buffer_close(sl_buffer *buffer);
double sim_buffer_pending_s(sl_buffer *buffer, double most_s);
sl_status sim_buffer_part(sl_buffer *buffer, sl_error *err);
sl_status sim_memory_info(sl_device *device, int64_t *n_free, int64_t *n_total, sl_error *err);
sl_status sim_host_compute(const sl_operand *out, const sl_operand *in, const sl_work *work,
                           sl_error *err);
sl_status sim_host_read(sl_buffer *buffer, size_t offset, size_t bytes, void *data, sl_error *err);
sl_status sim_host_write(sl_buffer *buffer, size_t offset, size_t bytes, const void *data,
                         sl_error *err);
sl_status sim_host_pin(sl_buffer *buffer, bool pin, sl_error *err);

/* placement.c */
bool sim_chip_open(sim_device *dev);
void sim_chip_close(sim_device *dev);
int32_t sim_chip_level(const sim_device *dev, int32_t priority);
void sim_chip_submit(sim_op *op);     /* a ready kernel */
void sim_chip_place(sim_device *dev); /* what waits for room on the SMs */
void sim_chip_cohort_end(sim_device *dev, sim_cohort *cohort);
void sim_chip_kernel_end(sim_op *op);
void sim_chip_again(sim_op *op);                        /* its second kernel */
void sim_chip_end_blocks(sim_op *op);                   /* of a kernel without a time of its own */
bool sim_came_before(const sim_op *a, const sim_op *b); /* a was ready first */
/* Without copy engines: a kernel runs, or has waited longer than the copy. */
bool sim_chip_goes_first(const sim_device *dev, const sim_op *copy);

/* rates.c */
void sim_rates_set(sim_device *dev); /* of all blocks but those of collectives */
/* The rate of a kernel that has the chip for itself; 0: its blocks do not fit at once, or not all of
 * them run at one rate. Not for custom kernels. */
double sim_rates_alone(const sim_device *dev, const sim_launch *launch);

/* groups.c */
/* Blocks of `launch` that fit on one idle SM; 0: never. */
int64_t sim_chip_blocks_per_sm(const sim_device *dev, const sim_launch *launch);
int64_t sim_chip_room(const sim_device *dev,
                      const sim_launch *launch); /* as sim_group_room, idle */
int64_t sim_chip_split(const sim_device *dev, const sim_launch *launch);
int64_t sim_group_room(const sim_group *group, const sim_launch *launch); /* now, on each SM */
/* So many are there from the beginning: a kernel that is alone may need them later. */
enum { SIM_ALONE_COHORTS = 2 };
bool sim_cohorts_open(sim_chip *chip);
sim_cohort *sim_cohort_new(sim_device *dev); /* NULL: out of memory */
void sim_cohort_free(sim_chip *chip, sim_cohort *cohort);
/* Puts it first in the group's list. */
void sim_cohort_link(sim_cohort *cohort, sim_group *group);
void sim_cohort_unlink(sim_cohort *cohort);
void sim_group_charge(sim_group *group, const sim_cohort *cohort, int32_t sign);
sim_group *sim_group_split(sim_device *dev, int32_t index, int32_t sms);
void sim_groups_merge(sim_device *dev);
bool sim_groups_are_merged(const sim_chip *chip); /* no two neighbours are alike */

/* waves.c */
/* Called before the loop takes the next event: skips waves of blocks that are like the last one. */
void sim_waves_leap(sim_device *dev);

/* peer_access.c */
sl_status sim_peer_access(sl_device *device, sl_device *peer, sl_peer_call call, bool *answer,
                          sl_error *err);

/* peers.c */
/* That of a GPU in `peers`. */
static inline uint64_t sim_peer_bit(const sl_device *device)
{
    return (uint64_t)1 << device->info.index;
}
/* Whether an operation is a copy between two GPUs that have no access to each other's memory now. */
bool sim_peer_through_host(const sl_op *op);
double sim_peer_copy_us(const sl_op *op); /* of a copy between two GPUs, which nothing disturbs */
/* How long it takes until `op` sees what `earlier` of another stream has done. */
double sim_peer_signal_us(const sim_op *op, const sl_device *earlier);

/* relay.c */
/* What the operation will need, so that nothing can fail later; false: out of memory. */
bool sim_relays_reserve(sim_op *op);
void sim_relays_release(sim_op *op);
void sim_relays_lend(sim_op *launch, sim_op *node); /* to a node that goes through the host */
void sim_relay_enter(sim_op *op);                   /* takes its turn among those of its source */
void sim_relay_open(sim_op *op);                    /* its legs move when it has its turn */
bool sim_relay_has_turn(const sim_relay *relay);
sim_relay *sim_relay_leaves(const sim_relay *relay); /* gives the next one if it is open */
size_t sim_relay_most_out(const sim_relay *relay); /* how many bytes the first leg may have moved */
double sim_relay_us(const sl_op *op);              /* of the copy, undisturbed */
/* How long the call goes on while the copy moves: the driver gives the engines piece by piece. */
double sim_relay_call_us(const sim_op *op);
static inline bool sim_is_leg(const sim_op *op)
{
    return op->relays && op->relays->op && op->relays->op != op;
}

/* copies.c */
void sim_copies_submit(sim_op *op);              /* a ready copy */
void sim_copies_feed(sim_op *op, size_t staged); /* more of it may move */
void sim_copies_start(sim_op *op);               /* its SIM_COPY_START */
void sim_copies_relay(sim_op *op);               /* its SIM_RELAY_START */
void sim_copies_dispatch(sim_device *dev);
void sim_copies_chunk_end(sim_op *op);
/* Without copy engines: the copy that runs, or has waited longer than the kernel; or NULL. */
const sim_op *sim_copies_go_first(const sim_device *dev, const sim_op *kernel);
double sim_copies_alone_us(sim_op *op); /* moving all of it, undisturbed */
bool sim_copies_on_sm(const sim_device *dev, const sl_work *work);

/* meeting.c; comm.h has the rules */
void sim_collective_ready(sim_op *op);
void sim_collective_came(sim_op *op); /* all blocks of its kernel are on the SMs */
void sim_collective_end(sim_op *op);  /* its SIM_COLLECTIVE_END */
void sim_collectives_set_rates(sim_device *dev);
/* comm_turns.c */
/* The unfinished kernels, of other streams, that an operation about to be issued comes behind: how
 * many there are, after a call for each; `wait` may be NULL. */
int64_t sim_turns_each(const sim_op *op, void (*wait)(sim_op *op, sim_op *earlier));
void sim_turns_leave(sim_op *op);
void sim_meeting_end(sim_meeting *meeting); /* its SIM_MEETING_END */
sim_device *sim_meeting_device(const sim_meeting *meeting);

/* comm.c: functions of backend.h */
sl_status sim_comm_open(sl_comm_ranks *all, const sl_comm_id *id, sl_error *err);
void sim_comm_close(sl_comm_ranks *all);
void sim_comm_abort(sl_comm_ranks *all);
sl_status sim_comm_enqueue(sl_op *const *ops, size_t n, sl_error *err);

/* stuck.c */
/* SL_ESTATE: nothing can go on, because a collective waits for a rank: says who waits for whom. SL_OK:
 * none waits. */
sl_status sim_stuck(const sim_machine *machine, sl_error *err);

/* enqueue.c */
sl_status sim_enqueue(sl_op *op, sl_error *err); /* of backend.h */
/* Chooses its channel, and waits until that has room. */
sl_status sim_wait_for_queue(sim_op *op, sl_error *err);
void sim_describe_launch(sl_op *op, const sim_launch *launch);

/* figures.c */
sl_status sim_device_set_figures(sl_device *device, const sl_setting *settings, size_t n_settings,
                                 sl_error *err);

/* costs.c */
bool sim_costs_open(sim_device *dev);
void sim_costs_close(sim_device *dev);
/* `warm`: the part of its operands that is in the L2 cache. */
sl_status sim_costs_launch(const sim_device *dev, const sl_work *work, double warm,
                           sim_launch *launch, sl_error *err);
/* launches.c: what is known of the work, until another one is asked for, or the figures change; NULL:
 * that of a custom kernel is not kept. */
sim_known_launch *sim_launch_known(sim_device *dev, const sl_work *work);
/* Makes known->launch the one for `warm`. */
sl_status sim_launch_when(sim_device *dev, sim_known_launch *known, double warm, sl_error *err);
/* The launch of any work, as sim_costs_launch gives it. */
sl_status sim_launch_of(sim_device *dev, const sl_work *work, double warm, sim_launch *launch,
                        sl_error *err);
void sim_launches_forget(sim_device *dev);
/* costs.c. Of a product: its kernels, and what its call costs the host without those after the first,
 * relative to host.matmul_us. */
double sim_product_kernels(const sim_device *dev, const sl_work *work);
double sim_product_host_share(const sim_device *dev, const sl_work *work);

/* custom.c: functions of backend.h */
sl_status sim_custom_key(const sl_custom *kernel, char *key, size_t key_bytes, sl_error *err);
sl_status sim_custom_build(sl_custom *kernel, sl_image *image, sl_error *err);
sl_status sim_custom_open(sl_custom *kernel, const sl_image *image, sl_error *err);
void sim_custom_close(sl_custom *kernel);
sl_status sim_custom_occupancy(sl_custom *kernel, int threads, size_t shared_bytes, int *blocks,
                               sl_error *err);

/* cache_state.c */
void sim_touch(sl_buffer *buffer, size_t bytes); /* notes that so much of it is used now */
/* Memory that the host has just written is copied no faster than uncached memory
 * (docs/design/simulator.md, section 5). */
void sim_chill(sl_buffer *buffer);
/* The part of it, 0 to 1, that is in a cache which evicts the least recently used. */
double sim_warm_part(const sl_buffer *buffer, size_t bytes, double cache_bytes);
void sim_touch_operands(const sl_op *op);
/* The host writes its memory, past its caches. */
void sim_host_writes(sl_buffer *buffer);
/* The host reads `bytes` of it: the part of them, 0 to 1, that its caches have. They have nothing of
 * what it has written since it read it last. */
double sim_host_reads(sl_buffer *buffer, size_t bytes);
/* An engine reads `bytes` of it: the part of them that the host has just written. */
double sim_engine_reads(sl_buffer *buffer, size_t bytes);
/* The part, 0 to 1, of what a product or a custom kernel uses that is in the L2 (of a product 0 or 1). */
double sim_finds_warm(const sl_op *op);

#endif
