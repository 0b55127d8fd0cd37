/* backend.h - what a backend implements: the simulated GPU (core/sim/), or a plugin for real GPUs.
 * A backend sees this header, those that it includes, and no other of the core.
 *
 * Core has checked arguments, shapes, places and devices before it calls: a backend need only fail
 * for reasons of its own.
 */
#ifndef SL_BACKEND_H
#define SL_BACKEND_H

#include "objects.h"

#define SL_BACKEND_ABI 34

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

/* ---- tuning --------------------------------------------------------------- */

/* A matmul that may be enqueued. The output has no buffer if nobody has the result yet. */
typedef struct sl_product {
    sl_stream *stream;
    const sl_work *work;
    const sl_operand *side; /* SL_SIDES */
} sl_product;

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
        custom_bytes, comm_bytes, meeting_bytes, thread_bytes; /* thread_bytes 0: one thread only */
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

    /* Takes n operations into their streams: one, or n of kind COLLECTIVE as one group of NCCL's,
     * of which none waits on the host for another. May block where CUDA's call would. On failure
     * none has happened. EVENT_RECORD makes its op the event's latest record; EVENT_WAIT captures
     * the latest one now. */
    sl_status (*enqueue)(sl_op *const *ops, size_t n, sl_error *err);
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

    sl_status (*stream_query)(sl_stream *stream, bool *done, sl_error *err);
    sl_status (*stream_synchronize)(sl_stream *stream, sl_error *err);
    sl_status (*event_query)(sl_event *event, bool *done, sl_error *err);
    sl_status (*event_synchronize)(sl_event *event, sl_error *err);
    /* Both recorded and timed; SL_ESTATE if one has not completed. */
    sl_status (*event_elapsed)(sl_event *start, sl_event *end, double *ms, sl_error *err);
    sl_status (*device_synchronize)(sl_device *device, sl_error *err);
    /* Optional, after device_synchronize has failed with SL_ESTATE at the end of a run: ends one
     * wait that nothing else ends (aborts a communicator, writes a word). False: there is none. */
    bool (*end_wait)(sl_device *device);

    /* Threads of the host, for a backend that says who is next; the others have none of these. A
     * new thread begins at the running one's time; device->threads is set. */
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

/* clang-format off */
/* The entries that the backends of this program name alike: a backend b has b_stream_open and so
 * on. It declares these functions with it, and fills its table. */
#define SL_BACKEND_ENTRIES(X) \
    X(device_count) X(device_name) X(device_open) X(device_close) X(stream_open) X(stream_close) \
    X(event_open) X(event_close) X(buffer_open) X(buffer_close) X(buffer_part) X(reap) \
    X(capture_begin) X(capture_end) X(capture_status) X(graph_open) X(graph_update) X(graph_close) \
    X(custom_open) X(custom_close) X(custom_occupancy) X(comm_open) X(comm_close) X(comm_abort) \
    X(stream_query) X(stream_synchronize) X(event_query) X(event_synchronize) X(event_elapsed) \
    X(device_synchronize) X(end_wait) X(host_now_ns) X(host_work) X(host_compute) X(host_read) \
    X(host_write) X(host_pin) X(plain_call) X(memory_info) X(peer_access) X(record_begin) \
    X(record_collect) X(record_end)
/* clang-format on */

extern const sl_backend sl_sim_backend; /* core/sim/sim_backend.c */

#endif
