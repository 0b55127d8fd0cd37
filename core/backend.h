/* backend.h - what a backend implements: the simulated GPU (core/sim/), or a
 * plugin for real GPUs. A backend sees this header and no other of the core.
 *
 * Core allocates devices, streams, events, buffers and operations, each with
 * the backend's own bytes behind the common part (the *_bytes fields of
 * sl_backend: sizes of structs whose first member is the common part, all
 * zeroed); the backend fills and empties them. Core has checked
 * arguments, shapes, places and devices before it calls: a backend need only
 * fail for reasons of its own.
 */
#ifndef SL_BACKEND_H
#define SL_BACKEND_H

#include <signal.h>

#include "streamlab.h"

#include "work.h"

#define SL_BACKEND_ABI 29

typedef struct sl_backend sl_backend;
typedef struct sl_buffer sl_buffer;
typedef struct sl_op sl_op;
typedef struct sl_body sl_body;
typedef struct sl_node sl_node;
typedef struct sl_custom_call sl_custom_call;

/* ---- objects ------------------------------------------------------------- */

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
    uint32_t where;      /* device text id */
    uint32_t thread;     /* number of the host's thread that enqueued it */
    uint64_t race_epoch; /* of the race checker, 0: it was off */
    bool lost;           /* the backend: in flight when the device failed, never ran */
    bool captured;       /* its stream is being captured: it becomes a node, and is not in flight */
    sl_custom_call *custom; /* CUSTOM: its kernel and arguments, retained; else NULL */
    sl_comm *comm;          /* COLLECTIVE: whose part it is, retained; else NULL */
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
    char unknown[512];          /* why its results are unknown; "" if they are known */
    sl_custom_info info;        /* custom_open fills it */
    sl_custom_call *free_calls; /* core: memory for launches to come */
};

/* A launch of one: what an operation has of it. Several operations may share it. */
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

/* ---- tuning --------------------------------------------------------------- */

/* A matmul that may be enqueued. The output has no buffer if nobody has the result yet. */
typedef struct sl_product {
    sl_stream *stream;
    const sl_work *work;
    const sl_operand *side; /* SL_SIDES */
} sl_product;

/* ---- communicators -------------------------------------------------------- */

/* The ranks of a communicator that this process has. They live and go together. */
typedef struct sl_comm_ranks {
    uint64_t id; /* 1, 2, ...: which communicator of this process, never reused */
    int32_t refs;
    int size; /* ranks in all */
    int n;    /* that this process has */
    sl_comm_options options;
    bool freed;                   /* the backend has closed them */
    struct sl__meeting *meetings; /* core (core/comm/meeting.h) */
    sl_comm *rank[];              /* n, by rank */
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
    /* For a backend that says who is next: gives the turn of the running thread to `next`. Returns when
     * the caller has it again. */
    void (*pass)(struct sl_threads *threads, sl_thread *next);
    /* For the others: between the two the caller waits, or is in a call that needs nothing that threads
     * share, and another thread may have the turn. */
    void (*leave)(struct sl_threads *threads);
    void (*enter)(struct sl_threads *threads);
    struct sl__turn *turn; /* core: of those others */
    bool
        in_order; /* core: races are checked, so operations enter streams in the order of the calls */
    /* An enqueue has let other threads enqueue: gives the operations the numbers after theirs. Called
     * right before they enter their streams. */
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
    /* The backend fills this, once, when the device is lost (status SL_EFAULT); from
     * then on reap hands over all operations in flight, with `lost` set. */
    sl_error fault;
    sl_device_info info; /* filled by device_open */
};

/* Memory by size: eight classes between one power of two and the next, the smallest of 512
 * bytes. Class 8 e + k has (8 + k) / 8 * 512 * 2^e bytes, so that a block of that size is
 * larger than what was asked by at most an eighth. The smallest class that holds `bytes`: */
enum { SL_SIZE_CLASSES = 64 * 8, SL_LEAST_LOG2 = 9 };

static inline unsigned sl_size_class(size_t bytes)
{
    if (bytes <= (size_t)1 << SL_LEAST_LOG2) return 0;
    size_t last = bytes - 1;
    unsigned log2 = 63 - (unsigned)__builtin_clzll(last);
    return (log2 - SL_LEAST_LOG2) * 8 + ((unsigned)(last >> (log2 - 3)) & 7) + 1;
}

/* The engine of a copy that no kernel does, on a device with so many copy engines: one for
 * each direction from two on. Without any, copies and kernels take turns. */
static inline sl_engine sl_copy_engine(int async_engine_count, sl_span_kind kind)
{
    if (async_engine_count < 2) return async_engine_count == 1 ? SL_ENGINE_COPY : SL_ENGINE_COMPUTE;
    return kind == SL_SPAN_MEMCPY_H2D   ? SL_ENGINE_H2D
           : kind == SL_SPAN_MEMCPY_D2H ? SL_ENGINE_D2H
                                        : SL_ENGINE_P2P;
}

/* How many bytes of a lender's memory its heir has; the rest is in use until the lender closes. */
static inline int64_t sl_lent_bytes(const sl_buffer *lender, const sl_buffer *heir)
{
    if (!lender || !heir) return 0;
    return (int64_t)(lender->bytes < heir->bytes ? lender->bytes : heir->bytes);
}

/* ---- the plain calls that enqueue nothing -------------------------------- */

typedef enum sl_plain_call {
    SL_PLAIN_MALLOC,
    SL_PLAIN_FREE,
    SL_PLAIN_MALLOC_HOST,
    SL_PLAIN_FREE_HOST,
    SL_PLAIN_HOST_REGISTER,
    SL_PLAIN_HOST_UNREGISTER,
    SL_PLAIN_MALLOC_ASYNC,
    SL_PLAIN_FREE_ASYNC,
    SL_PLAIN_FUNC_SET_CACHE_CONFIG,
    SL_PLAIN_DEVICE_SET_LIMIT,
    SL_PLAIN_CUBLAS_CREATE,
    SL_PLAIN_CUBLAS_DESTROY,
    SL_PLAIN_CALLS
} sl_plain_call;

/* CUDA's name for each, in that order ("cudaMalloc", ...); core/cuda_calls.c has them. */
extern const char *const sl__plain_call_names[SL_PLAIN_CALLS];

/* How a buffer is allocated, which decides what that costs and what it waits for. */
typedef enum sl_alloc_how {
    SL_ALLOC_TENSOR, /* lab.empty and friends: pools; freeing costs nothing */
    SL_ALLOC_PLAIN,  /* cudaMalloc, cudaMallocHost; core makes the plain_call */
    SL_ALLOC_ASYNC   /* cudaMallocAsync in the stream; likewise */
} sl_alloc_how;

typedef enum sl_peer_call { SL_PEER_CAN_ACCESS, SL_PEER_ENABLE, SL_PEER_DISABLE } sl_peer_call;

/* The one symbol of a plugin: a function of this type named SL_BACKEND_ENTRY. It gives
 * the backend, or NULL with a sentence in `why` when it cannot work here. */
#define SL_BACKEND_ENTRY "sl_backend_entry"
typedef const struct sl_backend *(*sl_backend_entry_fn)(char *why, size_t why_bytes);

/* ---- the interface -------------------------------------------------------- */

/* Every entry is required but those that say otherwise. `err` may be NULL. */
struct sl_backend {
    uint32_t abi_version; /* SL_BACKEND_ABI; first, so that it can be read from any version */
    const char *name;     /* "sim", "cuda" */
    size_t device_bytes, stream_bytes, event_bytes, buffer_bytes, op_bytes, graph_bytes,
        custom_bytes, comm_bytes, thread_bytes; /* thread_bytes 0: one thread only */
    /* Its library refuses what a capture forbids, with the codes of streamlab.h in
     * sl_error.backend_code. If not, core refuses it before it calls the backend. */
    bool checks_captures;
    bool peer_copies; /* its devices copy to one another, and a stream of one may
                                 * wait for an event of another */
    bool comm_alone;  /* one of several ranks of this process may be given a collective without the
                      * others: it waits in its stream, and holds nobody up */

    /* With a count of 0, err->msg says why (a success all the same). */
    sl_status (*device_count)(int *count, sl_error *err);
    /* Without opening it. */
    sl_status (*device_name)(int index, char *name, size_t name_bytes, sl_error *err);
    /* Fills device->info (but for backend and index, which core has set). */
    sl_status (*device_open)(sl_device *device, const sl_setting *settings, size_t n_settings,
                             sl_error *err);
    void (*device_close)(sl_device *device); /* all work has retired */
    /* Optional, for a simulator: other figures for an open device, in the form of device_open's.
     * Work in flight goes on with them. SL_EINVAL if they change what the device has (SMs, queues,
     * memory); on failure nothing changes. */
    sl_status (*device_set_figures)(sl_device *device, const sl_setting *settings,
                                    size_t n_settings, sl_error *err);

    /* `name` is for profilers. */
    sl_status (*stream_open)(sl_stream *stream, const char *name, sl_error *err);
    void (*stream_close)(sl_stream *stream); /* it has drained */
    sl_status (*event_open)(sl_event *event, sl_error *err);
    void (*event_close)(sl_event *event);

    /* place and bytes are set. `stream` may be NULL for host memory. With
     * SL_ALLOC_PLAIN no time is charged here: plain_call has done that.
     * buffer->lender, if it is not NULL, was freed in `stream` and is of the same size class or
     * a larger one: only work in flight still uses its memory, which comes before all that is
     * enqueued in `stream` from now on. The buffer gets that memory; if it cannot, the backend
     * sets lender to NULL. */
    sl_status (*buffer_open)(sl_buffer *buffer, sl_alloc_how how, sl_stream *stream, sl_error *err);
    /* Takes no virtual time, never blocks. The memory of an heir goes back to its lender; that of a
     * lender stays with its heir. */
    void (*buffer_close)(sl_buffer *buffer);
    /* A buffer with a lender, which no operation has used, gets memory of its own, and the
     * lender has its own again. SL_ENOMEM: everything is as it was. Costs no virtual time. */
    sl_status (*buffer_part)(sl_buffer *buffer, sl_error *err);

    /* How a library computes products of one shape is a plan. Optional, all four or none: measuring
     * which plan is the fastest. No stream of the device is being captured.
     * plan_tuned: whether the product's was measured or loaded; fills *tuning then.
     * plan_key: what decides about it (shape, dtype, device, versions), for a cache, quickly.
     * plan_load: takes one that plan_measure gave, for the same key. SL_EIO: it is broken.
     * plan_measure: waits for the device and measures on it; blocks, up to seconds. Neither the
     * product nor any operation is enqueued. SL_EINTERRUPT; on failure the plan is as it was. */
    bool (*plan_tuned)(const sl_product *product, sl_tuning *tuning);
    sl_status (*plan_key)(const sl_product *product, char *key, size_t key_bytes, sl_error *err);
    sl_status (*plan_load)(const sl_product *product, const sl_image *image, sl_tuning *tuning,
                           sl_error *err);
    sl_status (*plan_measure)(const sl_product *product, sl_image *image, sl_tuning *tuning,
                              sl_error *err);

    /* Takes the operation into its stream. May block where CUDA's call would.
     * On failure the operation has not happened. EVENT_RECORD makes its op the
     * event's latest record; EVENT_WAIT captures the latest one now. */
    sl_status (*enqueue)(sl_op *op, sl_error *err);
    /* Operations that have completed since the last call, per stream in order,
     * chained by `next`; NULL if none. Core owns them from then on. Never blocks. */
    sl_op *(*reap)(sl_device *device);

    /* Graphs. From capture_begin to capture_end an operation with `captured` set, given to enqueue,
     * becomes a node: core keeps it, and reap never gives it back. Its engine, grid and flags are
     * filled as for any other. */
    sl_status (*capture_begin)(sl_stream *stream, sl_capture_mode mode, sl_error *err);
    /* Of the stream where the capture began; out of the capture also on failure. `graph` has all
     * nodes; NULL: the capture is thrown away, which cannot fail. */
    sl_status (*capture_end)(sl_stream *stream, sl_graph *graph, sl_error *err);
    sl_status (*capture_status)(sl_stream *stream, sl_capture_status *capture, sl_error *err);
    /* cudaGraphInstantiate, with graph->priorities. */
    sl_status (*graph_open)(sl_graph *graph, sl_error *err);
    /* cudaGraphExecUpdate: `graph`, opened, does what `from`, not opened, would. Core has found the
     * same nodes and edges, and gives `graph` the body of `from` afterwards. SL_EUNSUPPORTED: it
     * cannot be an update; err->msg says why. */
    sl_status (*graph_update)(sl_graph *graph, sl_graph *from, sl_error *err);
    void (*graph_close)(sl_graph *graph); /* opened or not; no launch is in flight */

    /* Custom kernels with a source. custom_key: what decides the image besides source, name,
     * arguments and options (architecture, the compiler's version), quickly. custom_build compiles
     * it; blocks. The source's first line is line `line` of `file`, for messages. SL_ECOMPILE with
     * kernel->log; SL_EUNSUPPORTED: there is no compiler, err->msg says so. */
    sl_status (*custom_key)(const sl_custom *kernel, char *key, size_t key_bytes, sl_error *err);
    sl_status (*custom_build)(sl_custom *kernel, sl_image *image, sl_error *err);
    /* Loads an image and fills kernel->info; `image` is NULL if there is no source, or no compiler
     * (of a simulated GPU). SL_EIO: the image is broken. */
    sl_status (*custom_open)(sl_custom *kernel, const sl_image *image, sl_error *err);
    void (*custom_close)(sl_custom *kernel); /* no launch is in flight */
    sl_status (*custom_occupancy)(sl_custom *kernel, int threads, size_t shared_bytes, int *blocks,
                                  sl_error *err);

    /* Communicators; comm_open is NULL where there are none, and comm_id where all ranks
     * are in one process. comm_open: all ranks that this process has; `id` is NULL if there are no
     * others. Blocks. comm_close: none has an operation in flight. comm_abort: ends those that are,
     * before comm_close. Both may block. */
    sl_status (*comm_id)(sl_device *device, sl_comm_id *id, sl_error *err);
    sl_status (*comm_open)(sl_comm_ranks *ranks, const sl_comm_id *id, sl_error *err);
    void (*comm_close)(sl_comm_ranks *ranks);
    void (*comm_abort)(sl_comm_ranks *ranks);
    /* Takes n operations of kind COLLECTIVE into their streams, as one group of NCCL's: none of them
     * waits on the host for another. On failure none has happened. */
    sl_status (*comm_enqueue)(sl_op *const *ops, size_t n, sl_error *err);

    sl_status (*stream_query)(sl_stream *stream, bool *done, sl_error *err);
    sl_status (*stream_synchronize)(sl_stream *stream, sl_error *err);
    sl_status (*event_query)(sl_event *event, bool *done, sl_error *err);
    sl_status (*event_synchronize)(sl_event *event, sl_error *err);
    /* Both recorded and timed; SL_ESTATE if one has not completed. */
    sl_status (*event_elapsed)(sl_event *start, sl_event *end, double *ms, sl_error *err);
    sl_status (*device_synchronize)(sl_device *device, sl_error *err);

    /* Threads of the host, for a backend that says who is next; the others have none of these. A new
     * thread begins at the running one's time; device->threads is set. */
    void (*thread_open)(sl_thread *thread);
    /* Before each call: lets those threads go on that come before the running one. */
    void (*thread_turn)(sl_device *device);
    /* The running thread has ended: which one goes on. */
    sl_thread *(*thread_end)(sl_thread *thread);
    sl_status (*thread_query)(sl_thread *thread, bool *ended, sl_error *err);
    /* Until it has ended. After an interrupt as well: the thread is interrupted, too, and ends. */
    sl_status (*thread_join)(sl_thread *thread, sl_error *err);

    int64_t (*host_now_ns)(sl_device *device);
    sl_status (*host_work)(sl_device *device, int64_t duration_ns, sl_error *err);

    /* Host memory, on the host, done on return. host_compute: FILL, RAND, RANDN (in is NULL)
     * or MEMCPY (in = source, also host memory) as `work` says. */
    sl_status (*host_compute)(const sl_operand *out, const sl_operand *in, const sl_work *work,
                              sl_error *err);
    sl_status (*host_read)(sl_buffer *buffer, size_t offset, size_t bytes, void *data,
                           sl_error *err);
    sl_status (*host_write)(sl_buffer *buffer, size_t offset, size_t bytes, const void *data,
                            sl_error *err);
    /* cudaHostRegister / cudaHostUnregister of host memory in place; the time is
     * charged by plain_call. Core changes buffer->place afterwards. */
    sl_status (*host_pin)(sl_buffer *buffer, bool pin, sl_error *err);

    /* What a plain call does and costs. Memory: the calls that allocate or page-lock come
     * after buffer_open or host_pin, which on a real GPU have done it, and only charge the
     * simulated host; those that free let the memory of `buffer` go (in `stream` for
     * cudaFreeAsync), and buffer_close does not free it again. `buffer` and `stream` are
     * NULL where the call has none. *waited: the host waited for all earlier work, where
     * device->asks_waits. */
    sl_status (*plain_call)(sl_device *device, sl_plain_call call, sl_buffer *buffer,
                            sl_stream *stream, size_t bytes, bool *waited, sl_error *err);

    /* cudaMemGetInfo. */
    sl_status (*memory_info)(sl_device *device, int64_t *free_bytes, int64_t *total_bytes,
                             sl_error *err);
    /* cudaDeviceCanAccessPeer, ...EnablePeerAccess, ...DisablePeerAccess: `device` reaches the
     * memory of `peer`. *answer: it can; for the other two, it changed something. */
    sl_status (*peer_access)(sl_device *device, sl_device *peer, sl_peer_call call, bool *answer,
                             sl_error *err);

    /* Timelines. Between begin and end (they nest) the backend notes the host's and the
     * device's times of operations. `name` is the range that profilers show. */
    sl_status (*record_begin)(sl_device *device, const char *name, sl_error *err);
    /* Calls fn for every activity of operations that have completed and that was not handed
     * over before. Waits for its delivery, not for the device. */
    void (*record_collect)(sl_device *device, sl_activity_fn fn, void *ud);
    void (*record_end)(sl_device *device);

    /* Optional, for a simulator whose host_read reads device memory too: about how many seconds
     * it takes to compute what the buffer holds now; above `most_s`: that long or longer. */
    double (*pending_s)(sl_buffer *buffer, double most_s);

    /* Optional: sl_backend_preload. */
    void (*preload)(void);
};

extern const sl_backend sl_sim_backend; /* core/sim/sim_backend.c */

#endif
