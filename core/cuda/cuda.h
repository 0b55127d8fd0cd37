/* cuda.h - the CUDA backend inside: its structs, and what each file offers. Read
 * this first.
 *
 *   cuda_backend.c   the table of entries; devices, streams, events
 *   context.c        the clock, the current device, CUDA's errors, the store of events
 *   devices.c        which devices are open
 *   cuda_queue.c     operations in flight: enqueue, what has completed, reap
 *   cuda_capture.c   captures that go on, and the operations that become nodes (cuda_graphs.h)
 *   cuda_graph.c     captured graphs: what they need, instantiating, launching, updating
 *   wait.c           waiting, which also runs host functions and serves Ctrl-C
 *   host_funcs.c     host functions: the driver's threads and ours
 *   cuda_memory.c    buffers; device memory
 *   host_memory.c    pinned and pageable memory
 *   pin.c            pinning a tensor's memory in place
 *   pool.c           memory that nobody uses, by size class
 *   host_compute.c   filling, copying, reading and writing host memory
 *   plain.c          the host API calls of lab.cuda, peer access
 *   gemm.c           matmul through cublasLt; gemm_plan.c has its plans, gemm_candidates.c
 *                      lists others, gemm_tune.c measures them (gemm.h)
 *   kernels.cu       our own kernels (kernels.cuh)
 *   nvrtc.c          compiling custom kernels (cuda_custom.h)
 *   cuda_custom.c    loading and launching them
 *   driver.c         the driver's own functions (driver.h)
 *   nccl.c, cuda_comm.c, cuda_collective.c  collectives through NCCL (nccl.h)
 *   cuda_activity.c  the times of operations: CUPTI, or else events (cuda_activity.h)
 *   library.c        the libraries that are opened when they are first needed
 *
 * One thread calls the backend, for all devices. The driver's threads (host functions) and CUPTI's
 * only put something into a queue, under a lock.
 *
 * Which operation has completed is not asked for each one: that would cost an event
 * a launch. A stream has a mark, an event without timing, behind every
 * CUDA_MARK_EVERY operations, and reap asks for the oldest mark of each stream now
 * and then. A wait of the host shows that all operations before it have completed.
 */
#ifndef CUDA_H
#define CUDA_H

#include <cuda_runtime_api.h>
#include <pthread.h>

#include "../backend.h"

enum { CUDA_MARKS = 32, CUDA_MARK_EVERY = 64 };

typedef struct cuda_device cuda_device;
typedef struct cuda_block cuda_block;         /* cuda_memory.c */
typedef struct cuda_func cuda_func;           /* host_funcs.c: a host function */
typedef struct cuda_node_func cuda_node_func; /* host_funcs.c: one of a graph */
typedef struct cuda_needs cuda_needs;         /* cuda_graphs.h */
typedef struct cuda_capture cuda_capture;     /* cuda_capture.c */
typedef struct cuda_launch cuda_launch;       /* cuda_graph.c: a launch in flight */
typedef struct cuda_node_ids cuda_node_ids;   /* graph_times.c */
typedef struct cuda_gemm cuda_gemm;           /* gemm.c */
typedef struct cuda_activity cuda_activity;   /* cuda_activity.c */

typedef struct cuda_stream {
    sl_stream base;
    cudaStream_t handle;
    struct cuda_stream *next, **link; /* in the device's list */
    sl_op *head, **tail;              /* in flight, by sl_op.next */
    int64_t n_in_flight;
    uint32_t unmarked; /* operations since the last mark, large ones for more */
    uint32_t first_mark, n_marks;
    cuda_block *workspace; /* of matmul; NULL until needed */
    cuda_block *scratch;   /* of sum; NULL until needed */
    uint64_t held_from;    /* open_waits.c: from this operation on nothing ever begins */
    struct {
        cudaEvent_t event;
        uint64_t seq;
    } marks[CUDA_MARKS]; /* a ring */
} cuda_stream;

typedef struct cuda_event {
    sl_event base;
    cudaEvent_t handle;
} cuda_event;

typedef struct cuda_buffer {
    sl_buffer base;
    void *data;        /* the block's; NULL: no bytes, or freed by a host API call */
    cuda_block *block; /* likewise */
} cuda_buffer;

typedef struct cuda_op {
    sl_op base;
    cudaEvent_t began, ended; /* only when events take the times, or the length (peer_times.c) */
    bool is_endless;          /* open_waits.c: a WAIT_VALUE that nothing can satisfy */
    union {
        cuda_launch *launch; /* of a graph, in flight */
        uint32_t node;       /* captured: its number in the body */
    };
} cuda_op;

typedef struct cuda_host_funcs {        /* host_funcs.c; the lists are under its lock */
    int32_t n_pending;                  /* enqueued and not run yet; the Lua thread's */
    cuda_func *launched;                /* the driver has not come back from them */
    cuda_func *reached, **reached_tail; /* their streams wait for the Lua thread to run them */
    cuda_node_func *nodes;              /* of graphs */
} cuda_host_funcs;

typedef struct cuda_pool { /* pool.c */
    cuda_block *classes[SL_SIZE_CLASSES];
    size_t bytes; /* in all of them */
} cuda_pool;

/* What every operation looks at comes first, in one cache line. */
struct cuda_device {
    sl_device base;
    sl_op *done, **done_tail; /* completed, not reaped yet */
    int64_t n_in_flight;
    uint32_t reaps;       /* since the marks were last asked */
    int32_t recording;    /* how many recordings are on */
    bool timed_by_events; /* while recording: CUPTI is not available */
    bool launches_block;  /* CUDA_LAUNCH_BLOCKING=1: every call holds the host */
    cuda_host_funcs funcs;
    cuda_stream *streams;
    cuda_device *next_open;     /* the open devices: host memory belongs to all of them */
    cudaStream_t memory_stream; /* the allocator's own: nothing else runs there, but for words */
    cuda_block *word;   /* pinned: copies of words that streams wait for; NULL until needed */
    cudaMemPool_t pool; /* of the driver's; NULL: the device has no pools */
    cuda_pool idle;     /* device memory that nobody uses */
    bool call_waited;   /* the latest buffer_open or host_pin: for plain_call */
    cudaEvent_t *free_events[2]; /* events to use again, without and with timing */
    size_t n_free_events[2], cap_free_events[2];
    cuda_gemm *gemm;         /* NULL until the first matmul */
    cuda_activity *activity; /* NULL until the first recording */
    int sm_count, threads_per_sm;
    uint64_t peers;         /* to whose memory a call gave it access: cuda_peer_bit */
    struct cuda_blas *blas; /* the handles of cublas_create, the latest first */
    int64_t n_replayed;     /* nodes of the graphs whose launches are in flight */
    cuda_capture *captures; /* that go on */
    cuda_needs *capturing;  /* of the graph whose operation is being enqueued, else NULL */
    cuda_block *late_frees; /* of cudaMallocAsync in a stream that is captured */
    bool has_pool;          /* cudaMallocAsync has been called */
    size_t limit_bytes;     /* the limit that device_set_limit found; 0: not asked */
    bool limit_raised;
    bool prefers_shared;      /* the kernel of spins, see plain.c */
    struct CUlib_st **closed; /* custom kernels that are to be unloaded */
    size_t n_closed, cap_closed;
    int64_t local_bytes; /* per thread: the most that a custom kernel has had */
};

/* ---- functions of backend.h, from several files ------------------------------ */

#define X(entry) __typeof__(*((sl_backend *)NULL)->entry) cuda_##entry;
SL_BACKEND_ENTRIES(X)
#undef X

/* ---- context.c ------------------------------------------------------------- */

#define cuda_of(device) ((cuda_device *)(device))

/* Makes the device the calling thread's. Cheap when it is so already. */
void cuda_use(const cuda_device *dev);

/* A library may have made another device current: the next cuda_use asks for it again. */
void cuda_use_again(void);

/* Makes GPU `index` the current one, and its context if there is none; *prop describes it. */
sl_status cuda_context_open(int index, struct cudaDeviceProp *prop, sl_error *err);

/* The host's clock: nanoseconds since it was started, CLOCK_MONOTONIC. */
void cuda_clock_start(void);
int64_t cuda_now_ns(void);

/* What CUDA reported, as a status with a sentence: "cudaMalloc: out of memory
 * (cudaErrorMemoryAllocation)". Clears CUDA's last error; if it stays, the device is
 * lost: fills base.fault and gives SL_EFAULT; the next wait or reap gives up what is in
 * flight. Nothing happens on cudaSuccess. */
sl_status cuda_check(cuda_device *dev, cudaError_t code, const char *call, sl_error *err);
/* What the device answers now, without waiting; an error that stays is of an earlier call. */
cudaError_t cuda_ask_device(const cuda_device *dev);
/* Asks whether the device is lost, and fills base.fault then. Does not wait. */
void cuda_ask_fault(cuda_device *dev);

/* Around calls that the backend makes for itself: what a capture of the thread forbids, it permits
 * between the two, and they do not spoil the capture. The user's own calls are made without. They
 * nest, and cost nothing without a capture. */
void cuda_own_begin(void);
void cuda_own_end(void);
extern int32_t cuda_captures; /* that go on, of all devices */

/* Between the two another thread of the host may have the turn: while this one waits, and in calls
 * of the driver that need nothing of the backend's. Captures and recordings are in order of the
 * calls. */
static inline void cuda_leave(const cuda_device *dev)
{
    if (dev->base.threads) dev->base.threads->leave(dev->base.threads);
}
static inline void cuda_enter(const cuda_device *dev)
{
    if (dev->base.threads) dev->base.threads->enter(dev->base.threads);
}
static inline bool cuda_may_leave(const cuda_device *dev)
{
    return dev->base.threads && !dev->base.threads->in_order && dev->recording == 0
           && cuda_captures == 0;
}
void cuda_let_others(const cuda_device *dev); /* go on for a moment, if there are any */
#define CUDA_ASIDE(dev, code, call)                \
    do {                                           \
        const bool aside_ = cuda_may_leave((dev)); \
        if (aside_) cuda_leave((dev));             \
        (code) = (call);                           \
        if (aside_) cuda_enter((dev));             \
    } while (0)

/* Events from and to the device's store of them. */
cudaError_t cuda_event_take(cuda_device *dev, bool timing, cudaEvent_t *event);
void cuda_event_give(cuda_device *dev, bool timing, cudaEvent_t event);
void cuda_events_close(cuda_device *dev);

/* ---- devices.c ------------------------------------------------------------- */

/* All open devices belong to the thread that opened the first. SL_ESTATE: to another one. */
sl_status cuda_thread_claim(sl_error *err);
void cuda_thread_release(void);
/* The open devices, by next_open. */
cuda_device *cuda_open_devices(void);
void cuda_devices_add(cuda_device *dev);
void cuda_devices_remove(cuda_device *dev);
/* Whether a stream of the device has unfinished work; asked only where core wants to know
 * what a host API call waits for, false otherwise. */
bool cuda_is_busy(cuda_device *dev);

/* Its address; NULL where there is no memory. */
static inline void *cuda_data(const sl_operand *operand)
{
    char *data = operand->buffer ? (char *)((const cuda_buffer *)operand->buffer)->data : NULL;
    return data ? data + operand->offset : NULL;
}

/* ---- cuda_queue.c ---------------------------------------------------------- */

sl_status cuda_enqueue(sl_op *op, sl_error *err);
/* An operation that was launched elsewhere is in flight from now on. */
void cuda_queue_add(sl_op *op);
/* Everything in the stream up to operation `seq` has completed. */
void cuda_queue_completed(cuda_stream *stream, uint64_t seq);
/* Everything in all streams has completed, or is lost with the device. */
void cuda_queue_all(cuda_device *dev, bool lost);
/* Asks every stream that holds operations whether it is idle. Never waits. */
void cuda_queue_poll(cuda_device *dev);

/* ---- open_waits.c ---------------------------------------------------------- */

/* While the host waits for the stream up to operation `last`: SL_ESTATE if it comes behind a wait
 * for a value that nothing can satisfy any more, as no other thread of the host runs. */
sl_status cuda_check_endless(const sl_stream *stream, uint64_t last, sl_error *err);

/* ---- host_funcs.c ---------------------------------------------------------- */

/* Host functions of all open devices that are enqueued and have not run, and whether one
 * runs now. There is one thread for all of them, so devices wait for each other's. */
extern int32_t cuda_funcs_pending;
bool cuda_funcs_running(void);

void cuda_funcs_open(cuda_device *dev);
/* Launches the host function of the operation in its stream. */
sl_status cuda_funcs_launch(cuda_op *op, sl_error *err);
/* Runs those that their streams have reached, on all devices; abandons those of lost ones.
 * True if it ran one. */
bool cuda_funcs_run_all(void);
/* Asks the devices that have some whether they are lost. */
void cuda_funcs_ask_devices(void);
/* The device failed or closes: the driver's threads go on, and none comes back to it. */
void cuda_funcs_abandon(cuda_device *dev);
/* Before a call that may hold the host: waits, running host functions, until none is
 * pending, since the driver would wait for the thread that it holds. SL_EINTERRUPT. */
sl_status cuda_funcs_settle_all(sl_error *err);
/* The same before a call for `dev`: where there was something to wait for, `dev` is the
 * thread's current one afterwards, and SL_EFAULT says that it is lost. */
sl_status cuda_funcs_settle(cuda_device *dev, sl_error *err);

/* ---- wait.c ---------------------------------------------------------------- */

/* `status` of a call with the event; says so if it failed since the latest record was captured. */
sl_status cuda_event_check(const sl_event *event, sl_status status, sl_error *err);

/* ---- cuda_memory.c --------------------------------------------------------- */

/* How a block's memory was had, and so how it is freed. */
typedef enum cuda_source {
    CUDA_FROM_POOL,         /* cudaMallocFromPoolAsync: the device memory of tensors */
    CUDA_FROM_MALLOC,       /* cudaMalloc; tensors too where the device has no pools */
    CUDA_FROM_MALLOC_ASYNC, /* cudaMallocAsync */
    CUDA_FROM_HOST_ALLOC,   /* cudaHostAlloc */
    CUDA_FROM_MMAP,
    CUDA_FROM_HEAP /* pageable */
} cuda_source;

struct cuda_block {   /* a piece of memory */
    cuda_block *next; /* in its size class, while nobody uses it */
    void *data;
    size_t bytes;       /* at least what was asked, and 512 */
    uint8_t source;     /* cuda_source */
    bool registered;    /* pinned by cudaHostRegister */
    uint32_t stream_id; /* MALLOC_ASYNC: where */
};

/* Opens the memory stream and the pool of `dev`. */
sl_status cuda_memory_open(cuda_device *dev, sl_error *err);
/* Frees what the pool of `dev` holds; the last device frees the host's pools too. */
void cuda_memory_close(cuda_device *dev);

/* Device memory for the backend itself; ready on return, whatever the stream. Does not
 * wait for the device. NULL: *err says why. */
cuda_block *cuda_block_take(cuda_device *dev, size_t bytes, sl_error *err);
/* The same for memory of zeros. Waits until the device has zeroed it. */
cuda_block *cuda_block_take_zeros(cuda_device *dev, size_t bytes, sl_error *err);
/* Frees what was freed while the stream of its cudaMallocAsync was captured. */
void cuda_memory_free_late(cuda_device *dev);
/* All work that used the block has completed: the next one to take it may be given it
 * at once. */
void cuda_block_give(cuda_device *dev, cuda_block *block);
/* Gives all pooled device memory that nobody uses back to the driver. */
void cuda_memory_trim(cuda_device *dev);

/* ---- host_memory.c --------------------------------------------------------- */

/* Counts `dev` among the open devices. */
void cuda_host_open(cuda_device *dev);
/* The last device that closes frees the pools of host memory. */
void cuda_host_close(cuda_device *dev);
/* Before a call that may wait for any device, as those that pin memory or change who
 * reaches it do: settles host functions, and refuses inside one. `call` names it. */
sl_status cuda_host_settle(const char *call, sl_error *err);

/* Memory for a tensor, from a pool if one has it; `place` is not SL_ON_DEVICE. `dev` is
 * the device that asks; any other may use the memory. */
sl_status cuda_host_take(cuda_device *dev, sl_place place, size_t bytes, cuda_block **block,
                         sl_error *err);
/* cudaMallocHost itself. */
sl_status cuda_host_malloc(cuda_device *dev, size_t bytes, cuda_block **block, sl_error *err);
/* Into a pool. Never waits for a device. */
void cuda_host_give(cuda_block *block);
/* cudaFreeHost itself; may wait for the device. The block is gone on success. */
sl_status cuda_host_free(cuda_device *dev, cuda_block *block, sl_error *err);

/* cudaHostRegister of the whole block, so that it can serve any tensor of its class afterwards;
 * and cudaHostUnregister. The block has at least a page. */
sl_status cuda_host_register(cuda_device *dev, cuda_block *block, sl_error *err);
sl_status cuda_host_unregister(cuda_device *dev, cuda_block *block, sl_error *err);
size_t cuda_host_page_bytes(void);

/* How much pinned, and how much pageable memory that nobody uses is kept. The first
 * device to open sets it to a quarter of the memory that the process may have, if it is 0:
 * in a container allocations do not fail when that is used up, the process is killed. */
extern size_t cuda_host_idle_max_bytes;

/* ---- pool.c ---------------------------------------------------------------- */

/* The bytes of the size class that holds `bytes`, at most an eighth more. */
size_t cuda_class_bytes(size_t bytes);
void cuda_pool_put(cuda_pool *pool, cuda_block *block);
/* A block of at least `bytes`; NULL: there is none in its class. */
cuda_block *cuda_pool_take(cuda_pool *pool, size_t bytes);
/* A block of the largest class that has one; NULL: the pool is empty. */
cuda_block *cuda_pool_take_largest(cuda_pool *pool);
/* A block without memory yet, to be freed with free(). NULL: out of host memory. */
cuda_block *cuda_block_new(cuda_source source, size_t bytes, sl_error *err);

/* ---- plain.c --------------------------------------------------------------- */

/* In cuda_device.peers; 0: a device that has no bit there. */
static inline uint64_t cuda_peer_bit(const sl_device *peer)
{
    return peer->info.index < 64 ? UINT64_C(1) << peer->info.index : 0;
}
void cuda_plain_close(cuda_device *dev);

/* ---- gemm.c ---------------------------------------------------------------- */

/* c[m,n] = a[m,k] b[k,n], row-major, as `work` says. bias: NULL if there is none. */
sl_status cuda_gemm_enqueue(cuda_device *dev, cuda_stream *stream, const sl_work *work, void *c,
                            const void *a, const void *b, const void *bias, sl_error *err);
void cuda_gemm_close(cuda_device *dev);

/* ---- gemm_kept.c, gemm_tune.c ---------------------------------------------- */

bool cuda_gemm_plan_tuned(const sl_product *product, sl_tuning *tuning);
sl_status cuda_gemm_plan_key(const sl_product *product, char *text, size_t bytes, sl_error *err);
sl_status cuda_gemm_plan_load(const sl_product *product, const sl_image *image, sl_tuning *tuning,
                              sl_error *err);
sl_status cuda_gemm_plan_measure(const sl_product *product, sl_image *image, sl_tuning *tuning,
                                 sl_error *err);

/* ---- kernels.cu ------------------------------------------------------------ */

/* Launches any kernel but MATMUL. `scratch`: CUDA_SCRATCH_BYTES of device memory of the
 * stream, zero before its first use and left usable by each kernel; only SUM needs it.
 * Kernels of no elements are launched too, with one block, so that they keep their
 * place in the stream. *blocks and *threads: the grid. Does not block, but for a kernel
 * that is not loaded yet while host functions are pending: those run first, and
 * SL_EINTERRUPT from there means that nothing was launched. SL_EBACKEND: the launch
 * failed; SL_EFAULT: the device is lost. */
enum { CUDA_SCRATCH_BYTES = 64 << 10 };
sl_status cuda_kernel_launch(cuda_device *dev, const sl_work *work, void *out, const void *in0,
                             const void *in1, void *scratch, cudaStream_t stream, uint32_t *blocks,
                             uint16_t *threads, sl_error *err);
/* Whether the build has kernels that the current device can run; the driver may compile PTX
 * for it here. cudaErrorNoKernelImageForDevice or another error that says why not. */
cudaError_t cuda_kernel_find_code(void);
/* Lets the kernel of spins prefer shared memory, or else the L1 cache. */
cudaError_t cuda_kernel_set_cache_config(bool shared);

/* ---- cuda_activity.c ------------------------------------------------------- */

/* Around the calls that enqueue `op`, while a recording is on. after: also when the
 * enqueueing failed, with false. */
sl_status cuda_activity_before(cuda_op *op, sl_error *err);
void cuda_activity_after(cuda_op *op, bool enqueued);
/* The same around a group of collectives, perhaps of several devices. */
sl_status cuda_activity_group_before(sl_op *const *ops, size_t n, sl_error *err);
void cuda_activity_group_after(sl_op *const *ops, size_t n, bool enqueued);
/* The operation has completed or is lost: fills its times, if events took them, and gives
 * the events back. */
void cuda_activity_completed(cuda_op *op);
/* For a host that waits: takes over what CUPTI has delivered, if much of it has piled up.
 * Costs nothing otherwise. */
void cuda_activity_tidy(const cuda_device *dev);
/* The device is idle: what it did until now is to survive if it fails later, and CUPTI's
 * buffers with it. Costs the host a little, now and then. */
void cuda_activity_idle(const cuda_device *dev);
/* Ends the recordings that are on. */
void cuda_activity_close(cuda_device *dev);

/* ---- library.c ------------------------------------------------------------- */

typedef enum cuda_library {
    CUDA_CUBLAS_LT,
    CUDA_CUBLAS,
    CUDA_CUPTI,
    CUDA_NVRTC,
    CUDA_LIBRARIES
} cuda_library;

/* The library, opened at the first call and kept. NULL: *err names it and says what the
 * loader said. */
void *cuda_library_open(cuda_library which, sl_error *err);
/* A function of it; NULL: *err names it. */
void *cuda_library_symbol(cuda_library which, const char *name, sl_error *err);
/* Stores n functions, at most CUDA_MOST_FUNCTIONS, at `functions`, a struct of as many pointers to
 * functions. SL_EUNSUPPORTED: *err names the first that is missing, and nothing is stored. */
enum { CUDA_MOST_FUNCTIONS = 16 };
sl_status cuda_library_functions(cuda_library which, const char *const *names, size_t n,
                                 void *functions, sl_error *err);

#include "cuda_custom.h"
#include "cuda_graphs.h"
#include "nccl.h"

#endif
