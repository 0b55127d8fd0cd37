/* objects.h - what core and a backend know of the same objects (backend.h, which includes this).
 *
 * Core allocates devices, streams, events, buffers, operations and the rest, each with the
 * backend's own bytes behind the common part (the *_bytes fields of sl_backend: sizes of structs
 * whose first member is the common part, all zeroed); the backend fills and empties them.
 */
#ifndef SL_OBJECTS_H
#define SL_OBJECTS_H

#include <signal.h>

#include "streamlab.h"
#include "table.h"
#include "work.h"

typedef struct sl_backend sl_backend;
typedef struct sl_buffer sl_buffer;
typedef struct sl_op sl_op;
typedef struct sl_body sl_body;
typedef struct sl_node sl_node;
typedef struct sl_custom_call sl_custom_call;
typedef struct sl_meeting sl_meeting;

struct sl_buffer {     /* memory; a tensor's storage */
    sl_device *device; /* retained */
    uint64_t id;       /* never reused */
    size_t bytes;
    int32_t refs;
    uint8_t place;                /* sl_place; pin/unpin change PAGEABLE <-> PINNED */
    uint8_t how;                  /* sl_alloc_how; PLAIN once a plain call has freed it */
    uint32_t home;                /* id of the stream that it was made in */
    int32_t uses, foreign_uses;   /* operations in flight that hold it; those of other streams */
    sl_stream *home_stream;       /* core: `home`, while it has uses there */
    sl_buffer *lender, *heir;     /* whose memory it has; who has its memory (core/reuse.h) */
    uint32_t where;               /* device text id: where it was made */
    uint64_t tensor_id;           /* the tensor that it was made for, 0: none of the user's */
    sl_tensor_spec made_as;       /* and what that was */
    struct sl__race_memory *race; /* of the race checker (core/race/), or NULL */
    sl_tensor *tensors;           /* core: those that see it, views as well (core/view.h) */
    sl_buffer *next, **link;      /* core: in its device's list (core/live_memory.c) */
    sl_stream *freed_in;          /* core: of cudaFreeAsync, retained; else NULL */
    sl_buffer *freed_next, **freed_link; /* core: in its stream's list (core/reuse.c) */
};

struct sl_stream {
    sl_device *device; /* retained */
    uint32_t id;       /* order of creation; 0 is the legacy NULL stream */
    int32_t refs;
    int32_t priority; /* clamped */
    bool non_blocking;
    bool legacy;                 /* the NULL stream */
    bool owned;                  /* the device's own: who retains it retains the device */
    uint32_t name;               /* device text id */
    uint32_t where;              /* device text id: where it was made; 0: the device's own */
    uint64_t last_seq;           /* the last operation enqueued, 0 if none */
    int64_t in_flight;           /* operations that have not retired */
    sl_stream *next_own;         /* core: of the device's per-thread streams */
    struct sl__freed *freed;     /* core: memory that was freed in it, or NULL (core/reuse.c) */
    struct sl__branch *branch;   /* core: of the capture that it is in, or NULL (core/graph/) */
    struct sl__race_clock *race; /* of the race checker, or NULL */
};

struct sl_event {
    sl_device *device; /* retained */
    int32_t refs;
    bool timing;
    uint64_t record_seq;           /* the latest record's operation, 0 if none */
    uint32_t record_stream;        /* and its stream's id */
    uint64_t retired_seq;          /* the latest record that has retired */
    struct sl__captured *captured; /* core: the latest record was captured, else NULL */
    struct sl__race_record *race;  /* of the race checker, or NULL */
};

/* Memory that an operation touches, or a number that a custom kernel is given. */
typedef struct sl_operand {
    sl_buffer *buffer; /* NULL: a number, or a side that the operation does not have */
    union {
        /* Where in the buffer it begins, in bytes: tensors may be views. A multiple of the dtype's
         * size, but for MEMCPY and MEMSET. */
        size_t offset;
        uint64_t bits; /* the number as the kernel takes it, in the lowest bytes */
    };
    size_t bytes;
    uint8_t access; /* SL_READS, SL_WRITES, SL_ATOMIC */
    bool held;      /* the operation holds the buffer here: no operand before has the same one */
} sl_operand;

/* An enqueued operation. It retains stream, event and buffers until it retires. */
struct sl_op {
    sl_work work; /* first: a new operation has zeros in what follows it */
    sl_op *next;  /* in reap's chain */
    sl_stream *stream;
    sl_event *event; /* RECORD, WAIT; else NULL */
    /* All that it touches: its sides, or the arguments of a custom kernel. */
    sl_operand *operand;
    uint32_t n_operands; /* 0, SL_SIDES, or as many as the kernel has arguments */
    sl_operand side[SL_SIDES];
    uint64_t seq; /* issue number over all streams of the device, >= 1 */
    void (*host_release)(void *ud);
    void (*let_go)(sl_op *op); /* core: drops what its kind alone holds; NULL: nothing */
    uint32_t where;            /* device text id */
    uint32_t thread;           /* number of the host's thread that enqueued it */
    uint64_t race_epoch;       /* of the race checker, 0: it was off */
    bool lost;                 /* the backend: in flight when the device failed, never ran */
    bool captured; /* its stream is being captured: it becomes a node, and is not in flight */
    sl_custom_call *custom; /* CUSTOM: its kernel and arguments, retained; else NULL */
    sl_comm *comm;          /* COLLECTIVE: whose part it is, retained; else NULL */
    sl_meeting *meeting;    /* and of what, retained */
    sl_graph *graph;        /* GRAPH: retained; else NULL */
    sl_body *body;          /* GRAPH: what it does, retained */
    sl_run *runs; /* GRAPH: of each node, for a backend with times_at_once to fill, or NULL */
    const sl_op *launch; /* of a node that retires; else NULL */
    /* The backend fills these before the operation is reaped. */
    uint8_t engine;     /* sl_engine */
    uint8_t span_flags; /* sl_span.flags; where memory is: the core */
    uint16_t threads;
    uint16_t registers;                     /* as in sl_activity */
    uint8_t kernels : 4, kernels_after : 4; /* as in sl_span */
    uint32_t blocks;                        /* grid of a kernel */
    uint32_t shared_bytes;
    int64_t host_start_ns, host_end_ns; /* the enqueueing call */
    union {
        struct {
            SL_RUN_FIELDS
        };
        sl_run run; /* the same */
    };
    uint64_t wait_target; /* WAIT: seq of the record captured, 0 if none */
    uint32_t wait_target_stream;
    int64_t met_ns;     /* COLLECTIVE: when all ranks had come, if the backend knows it; else 0 */
    uint64_t late_by;   /* of the rank that came last: its operation, */
    int32_t late_rank;  /* and which one it is */
    sl_host_fn host_fn; /* HOST_FUNC: run exactly once with host_ud */
    void *host_ud;
};

/* An operation that does something, not an event's record or a wait for it, which only order. */
static inline bool sl_is_work(const sl_op *op) { return sl_work_row_of(op->work.kind)->is_work; }

/* It is a span in timelines; else they have its call. */
static inline bool sl_has_span(const sl_op *op)
{
    return sl_work_row_of(op->work.kind)->span != SL_SPAN_KINDS;
}

/* ---- custom kernels ------------------------------------------------------- */

/* What a compiler made: bytes for the cache, whose meaning the backend knows. */
typedef struct sl_image {
    void *data; /* of malloc; NULL: none */
    size_t bytes;
} sl_image;

struct sl_custom {
    sl_device *device; /* retained */
    int32_t refs;
    uint32_t span_name;         /* device text id */
    char *source, *name, *file; /* source: NULL if there is none */
    int line;                   /* of `file`, where the source begins */
    char **options;
    size_t n_options;
    sl_arg args[SL_MOST_ARGS];
    uint32_t n_args;
    char hash[17];
    /* Computes what a launch does, with a function of the caller's; NULL: there is none. */
    sl_status (*compute)(const sl_custom *kernel, const sl_custom_call *call,
                         const sl_compute_arg *args, sl_error *err);
    sl_compute_fn compute_fn;
    void *compute_ud;
    void (*compute_release)(void *ud);
    char *log; /* custom_build, after SL_ECOMPILE: the compiler's messages, of malloc; or NULL */
    char unknown[512];              /* why its results are unknown; "" if they are known */
    sl_custom_info info;            /* custom_open fills it */
    uint8_t array_registers;        /* of a thread, for its arrays, as far as the source says */
    bool declares_shared;           /* its body has __shared__ */
    sl_custom_call *free_calls;     /* core: memory for launches to come */
    struct sl__known_launch *known; /* core: the latest one (core/custom/custom_launch.c) */
};

/* Of a thread, as sl_work has it. */
static inline int sl_custom_registers(const sl_custom *kernel)
{
    return kernel->info.registers > 0 ? kernel->info.registers : -kernel->array_registers;
}

/* A launch of such a kernel: its grid, block and arguments. Several operations may share it. */
struct sl_custom_call {
    int32_t refs;
    sl_custom_call *next; /* in kernel->free_calls */
    sl_custom *kernel;    /* retained */
    const char *where;    /* "lab.lua:12": the launch; "" if unknown. Lives as long as the device */
    uint32_t grid[3], block[3];
    size_t shared_bytes; /* dynamic */
    bool cooperative;
    uint32_t n; /* arguments, as many as kernel->n_args */
    sl_operand arg[];
};

/* Drops a reference. It does not hold the buffers. */
static inline void sl_custom_call_drop(sl_custom_call *call)
{
    if (--call->refs > 0) return;
    sl_custom *kernel = call->kernel;
    call->next = kernel->free_calls;
    kernel->free_calls = call;
    sl_custom_release(kernel);
}

static inline bool sl_op_uses(const sl_op *op, const sl_buffer *buffer)
{
    for (uint32_t i = 0; i < op->n_operands; i++)
        if (op->operand[i].buffer == buffer) return true;
    return false;
}

/* ---- communicators -------------------------------------------------------- */

/* The ranks of a communicator that this process has. They live and go together. */
typedef struct sl_comm_ranks {
    uint64_t id; /* 1, 2, ...: which communicator of this process, never reused */
    int32_t refs;
    int size; /* ranks in all */
    int n;    /* that this process has */
    sl_comm_options options;
    bool freed;           /* the backend has closed them */
    sl_meeting *meetings; /* core: that a side of this process has not been enqueued of */
    int64_t requests;     /* core: of open groups */
    sl_comm *rank[];      /* n, by rank */
} sl_comm_ranks;

struct sl_comm {        /* one rank */
    sl_device *device;  /* retained */
    sl_comm_ranks *all; /* shared; has the references */
    int rank;
    int64_t in_flight; /* operations of it that have not retired */
    uint64_t calls;    /* so far, without SEND and RECV */
    uint64_t *sent;    /* SENDs to each rank so far, and behind those RECVs from each; of core */
    uint32_t where;    /* device text id: where it was made */
};

/* What ranks do together: a collective of all of them, or a send and its recv. The operations of
 * its sides hold it. */
struct sl_meeting {
    sl__entry entry; /* core: in a table, by who meets and the number */
    int32_t refs;
    const sl_comm_ranks *all;
    uint64_t number;
    int32_t from, to; /* of a send and its recv; -1: a collective of all ranks */
    int32_t sides;    /* that this process has */
    /* Core (core/comm/meeting.c): */
    int32_t called, enqueued;
    sl_meeting *next, **link;             /* of the communicator's */
    uint8_t collective, reduction, dtype; /* of the first that was called, */
    int32_t rank;                         /* whose rank this is, */
    int64_t count, root;                  /* with so many elements */
    const sl_comm *named_by;              /* the first that gave a name; NULL: none */
    uint32_t name;                        /* its device's text id */
    struct sl__race_ranks *race;          /* of the race checker, or NULL */
};

/* ---- graphs --------------------------------------------------------------- */

/* One operation of a graph: work, or a record or a wait, which a graph has as edges alone. They are
 * in the order of their capture. Node i of the launch with number s is operation s + 1 + i. */
struct sl_node {
    sl_op *op;       /* core's, held until the graph is freed; never enqueued outside of a capture.
                      * Its stream is the one that it was captured in */
    uint32_t lane;   /* number of that stream in the capture; 0: where the capture began */
    uint32_t record; /* of a wait: which node it waits for */
    uint32_t number; /* how many nodes before it are work */
    uint32_t prior;  /* 1 + the node before it in its lane; 0: none is */
    uint32_t first_before, n_before; /* of work: in body->before, the work right before it */
};

/* What a graph does: its nodes. A launch in flight holds them, also when the graph has been updated
 * or freed since. */
struct sl_body {
    int32_t refs;
    sl_device *device; /* borrowed from the graph, or the launch's stream */
    sl_node *nodes;
    uint32_t n_nodes, cap_nodes;
    uint32_t n_work;   /* nodes that are work */
    uint32_t n_lanes;  /* streams that it was captured in */
    uint64_t launches; /* so far */
    uint32_t *before;  /* indices of nodes */
    size_t n_before, cap_before;
};

/* A captured graph; once the backend has opened it, it can be launched. */
struct sl_graph {
    sl_device *device; /* retained */
    uint32_t id;       /* 1, 2, ... on its device, never reused */
    int32_t refs;
    sl_body *body;          /* retained; a graph that has updated another one shares it with that */
    uint32_t name;          /* device text id */
    bool opened;            /* cudaGraphInstantiate */
    bool priorities;        /* cudaGraphInstantiateFlagUseNodePriority */
    bool lent;              /* a node uses memory that was lent (core/reuse.h) */
    uint64_t launches;      /* so far */
    uint64_t uploaded_by;   /* of what brought it to the device, the first launch; 0: nothing yet */
    sl_graph *next, **link; /* core: in its device's list */
    struct sl__race_graph *race; /* of the race checker, or NULL */
};

/* ---- threads of the host ---------------------------------------------------- */

/* A thread of the host that scripts have started, or (number 0) the one that opened the machine's
 * devices. One of a machine's has the turn: the others wait for it inside of some call. */
struct sl_thread {
    sl_device *device; /* retained; NULL of number 0 */
    uint32_t number;   /* 1, 2, ... in the order of their start, never reused */
    bool ended;
    sl_thread *next;       /* of the machine's, in the order of their numbers */
    struct sl__os *os;     /* core: the thread of the operating system */
    struct sl__seat *seat; /* core: what is current in it, by the index of the device */
};

typedef struct sl_threads {
    sl_thread *first;   /* number 0 */
    sl_thread *running; /* has the turn */
    uint32_t last_number;
    /* For a backend that says who is next: gives the turn of the running thread to `next`. Returns
     * when the caller has it again. */
    void (*pass)(struct sl_threads *threads, sl_thread *next);
    /* For the others: between the two the caller waits, or is in a call that needs nothing that
     * threads share, and another thread may have the turn. */
    void (*leave)(struct sl_threads *threads);
    void (*enter)(struct sl_threads *threads);
    struct sl__turn *turn; /* core: of those others */
    /* Core (core/threads.c). Before a call: other threads may come first. */
    void (*before_call)(sl_device *device);
    void (*free)(struct sl_threads *threads); /* of a machine without devices by now */
    bool
        in_order; /* core: operations enter streams in the order of the calls, for a race checker */
    /* An enqueue has let other threads enqueue: gives the operations the numbers after theirs.
     * Called right before they enter their streams. */
    void (*renumber)(sl_op *const *ops, size_t n);
} sl_threads;

/* What every operation uses comes first, in one cache line. */
struct sl_device {
    const sl_backend *backend;
    struct sl__device_core *core; /* the core's own part (core/device.h) */
    int32_t refs;
    /* Address of the interrupt flag of the process. While it is not 0, a wait fails with
     * SL_EINTERRUPT and changes nothing. Core sets the pointer before device_open; a signal
     * handler may set the flag. */
    const volatile sig_atomic_t *interrupted;
    /* Core sets it before device_open: SL_ESTATE, of a WAIT_VALUE that nothing can satisfy any
     * more, with the bits that are there now. */
    sl_status (*fail_wait)(const sl_op *op, uint32_t found, sl_error *err);
    sl_threads *threads; /* of its machine; NULL: there has been one thread only */
    /* Core sets it for device_open alone: an open device of the backend, whose machine this one
     * joins; NULL: none. */
    sl_device *beside;
    /* Devices of one machine have the same. The backend sets it where devices of the process may be
     * of several machines; else NULL. */
    const void *machine;
    /* Core sets it before a plain call when it wants to know whether the host waited. */
    bool asks_waits;
    /* Core: products are tuned before the first of a shape is enqueued (core/tuning.h). */
    bool tunes;
    /* A sentence for the user, or NULL; the backend sets it, core takes it and sets NULL. */
    const char *notice;
    /* What recording adds to a call that gives the device work, in ns. The backend measures it as a
     * recording begins; 0: it is not known. */
    int32_t recording_ns;
    /* The backend fills this, once, when the device is lost (status SL_EFAULT); from
     * then on reap hands over all operations in flight, with `lost` set. */
    sl_error fault;
    sl_device_info info; /* filled by device_open */
};

#endif
