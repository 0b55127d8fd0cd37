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

#include "streamlab.h"

#define SL_BACKEND_ABI 1

typedef struct sl_backend sl_backend;
typedef struct sl_buffer sl_buffer;
typedef struct sl_op sl_op;

/* ---- work: what an operation does --------------------------------------- */

typedef enum sl_work_kind {
    SL_WORK_KERNEL, SL_WORK_MEMCPY, SL_WORK_MEMSET, SL_WORK_HOST_FUNC,
    SL_WORK_EVENT_RECORD, SL_WORK_EVENT_WAIT
} sl_work_kind;

/* Order as in sl__kernel_name (core/kernel.c). */
typedef enum sl_kernel {
    SL_KERNEL_MATMUL,       /* out[m,n] = in0[m,k] in1[k,n] */
    SL_KERNEL_POW,          /* n elements; scalar is the exponent */
    SL_KERNEL_ADD, SL_KERNEL_MUL,                   /* n elements, in0 and in1 */
    SL_KERNEL_ADD_SCALAR, SL_KERNEL_MUL_SCALAR,     /* n elements, in0 and scalar */
    SL_KERNEL_SOFTMAX,      /* m rows of n */
    SL_KERNEL_SUM,          /* n elements to one */
    SL_KERNEL_FILL,         /* n elements; scalar */
    SL_KERNEL_RAND, SL_KERNEL_RANDN,                /* n elements; seed, tensor_id */
    SL_KERNEL_SPIN,         /* duration_ns, blocks, threads, shared_bytes */
    SL_KERNELS
} sl_kernel;

enum {                      /* sl_work.flags */
    SL_WORK_TF32 = 1,
    SL_WORK_SYNC = 2        /* the plain synchronous call (cudaMemcpy): host waits as CUDA's does */
};

typedef struct sl_work {
    uint8_t kind, kernel, dtype, flags;
    uint8_t copy_kind;              /* MEMCPY: sl_span_kind */
    uint8_t byte_value;             /* MEMSET */
    uint32_t threads;               /* SPIN */
    int64_t blocks;                 /* SPIN */
    int64_t m, n, k;
    int64_t duration_ns;            /* SPIN */
    size_t shared_bytes;            /* SPIN */
    size_t bytes;                   /* MEMCPY, MEMSET: how many from the buffers' starts */
    size_t dst_offset, src_offset;  /* MEMCPY */
    double scalar;
    uint64_t seed, tensor_id;
} sl_work;

/* ---- objects ------------------------------------------------------------- */

struct sl_buffer {              /* memory; a tensor's storage */
    sl_device *device;          /* retained */
    uint64_t id;                /* never reused */
    size_t bytes;
    int32_t refs;
    uint8_t place;              /* sl_place; pin/unpin change PAGEABLE <-> PINNED */
};

struct sl_stream {
    sl_device *device;          /* retained */
    uint32_t id;                /* order of creation; 0 is the legacy NULL stream */
    int32_t refs;
    int32_t priority;           /* clamped */
    bool non_blocking;
    bool legacy;                /* the NULL stream */
    uint32_t name;              /* device text id */
    uint64_t last_seq;          /* the last operation enqueued, 0 if none */
};

struct sl_event {
    sl_device *device;          /* retained */
    int32_t refs;
    bool timing;
    uint64_t record_seq;        /* the latest record's operation, 0 if none */
    uint32_t record_stream;     /* and its stream's id */
};

/* An enqueued operation. It retains stream, event and buffers until it retires. */
struct sl_op {
    sl_op *next;                /* in reap's chain */
    sl_stream *stream;
    sl_event *event;            /* RECORD, WAIT; else NULL */
    sl_buffer *out, *in[2];     /* NULL where unused */
    uint64_t seq;               /* issue number over all streams of the device, >= 1 */
    uint32_t where;             /* device text id */
    sl_work work;
    sl_host_fn host_fn;         /* HOST_FUNC: run exactly once with host_ud */
    void *host_ud;
    void (*host_release)(void *ud);
    uint64_t wait_target;       /* WAIT: seq of the record captured, 0 if none */
    uint32_t wait_target_stream;
    /* The backend fills these before the operation is reaped. */
    int64_t host_start_ns, host_end_ns;     /* the enqueueing call */
    int64_t start_ns, end_ns;               /* on the device; equal for RECORD and WAIT */
    uint32_t blocks;                        /* grid of a kernel */
    uint16_t threads;
    uint8_t engine;                         /* sl_engine */
    uint8_t span_flags;                     /* sl_span.flags */
};

struct sl_device {
    const sl_backend *backend;
    sl_device_info info;        /* filled by device_open */
    int32_t refs;
    struct sl__device_core *core;   /* the core's own part (core/device.h) */
};

/* ---- the plain calls that enqueue nothing -------------------------------- */

typedef enum sl_plain_call {
    SL_PLAIN_MALLOC, SL_PLAIN_FREE, SL_PLAIN_MALLOC_HOST, SL_PLAIN_FREE_HOST,
    SL_PLAIN_HOST_REGISTER, SL_PLAIN_HOST_UNREGISTER,
    SL_PLAIN_MALLOC_ASYNC, SL_PLAIN_FREE_ASYNC,
    SL_PLAIN_FUNC_SET_CACHE_CONFIG, SL_PLAIN_DEVICE_SET_LIMIT,
    SL_PLAIN_CUBLAS_CREATE, SL_PLAIN_CUBLAS_DESTROY,
    SL_PLAIN_CALLS
} sl_plain_call;

/* CUDA's name for each, in that order ("cudaMalloc", ...); core/cuda_calls.c has them. */
extern const char *const sl__plain_call_names[SL_PLAIN_CALLS];

/* How a buffer's memory is had, and its cost and synchronisation with it. */
typedef enum sl_alloc_how {
    SL_ALLOC_TENSOR,    /* lab.empty and friends: pools; freeing costs nothing */
    SL_ALLOC_PLAIN      /* cudaMalloc, cudaMallocHost, cudaMallocAsync: core makes the plain_call */
} sl_alloc_how;

/* ---- the interface -------------------------------------------------------- */

/* Every entry is required. `err` may be NULL. */
struct sl_backend {
    uint32_t abi_version;       /* SL_BACKEND_ABI; first, so that it can be read from any version */
    const char *name;           /* "sim", "cuda" */
    size_t device_bytes, stream_bytes, event_bytes, buffer_bytes, op_bytes;

    sl_status (*device_count)(int *count, sl_error *err);
    /* Fills device->info (but for backend and index, which core has set). */
    sl_status (*device_open)(sl_device *device, const sl_setting *settings, size_t n_settings,
                             sl_error *err);
    void (*device_close)(sl_device *device);            /* all work has retired */

    sl_status (*stream_open)(sl_stream *stream, sl_error *err);
    void (*stream_close)(sl_stream *stream);            /* it has drained */
    sl_status (*event_open)(sl_event *event, sl_error *err);
    void (*event_close)(sl_event *event);

    /* place and bytes are set. `stream` may be NULL for host memory. With
     * SL_ALLOC_PLAIN no time is charged here: plain_call has done that. */
    sl_status (*buffer_open)(sl_buffer *buffer, sl_alloc_how how, sl_stream *stream,
                             sl_error *err);
    void (*buffer_close)(sl_buffer *buffer);            /* costs no virtual time, never blocks */

    /* Takes the operation into its stream. May block where CUDA's call would.
     * On failure the operation has not happened. EVENT_RECORD makes its op the
     * event's latest record; EVENT_WAIT captures the latest one now. */
    sl_status (*enqueue)(sl_op *op, sl_error *err);
    /* Operations that have completed since the last call, per stream in order,
     * chained by `next`; NULL if none. Core owns them from then on. Never blocks. */
    sl_op *(*reap)(sl_device *device);

    sl_status (*stream_query)(sl_stream *stream, bool *done, sl_error *err);
    sl_status (*stream_synchronize)(sl_stream *stream, sl_error *err);
    sl_status (*event_query)(sl_event *event, bool *done, sl_error *err);
    sl_status (*event_synchronize)(sl_event *event, sl_error *err);
    /* Both recorded and timed; SL_ESTATE if one has not completed. */
    sl_status (*event_elapsed)(sl_event *start, sl_event *end, double *ms, sl_error *err);
    sl_status (*device_synchronize)(sl_device *device, sl_error *err);

    int64_t (*host_now_ns)(sl_device *device);
    sl_status (*host_work)(sl_device *device, int64_t duration_ns, sl_error *err);

    /* Host memory, on the host, done on return. host_compute: FILL, RAND, RANDN
     * or MEMCPY (in = source, also a host buffer) as `work` says. */
    sl_status (*host_compute)(sl_buffer *out, sl_buffer *in, const sl_work *work, sl_error *err);
    sl_status (*host_read)(sl_buffer *buffer, size_t offset, size_t bytes, void *data,
                           sl_error *err);
    sl_status (*host_write)(sl_buffer *buffer, size_t offset, size_t bytes, const void *data,
                            sl_error *err);
    /* cudaHostRegister / cudaHostUnregister of host memory in place; the time is
     * charged by plain_call. Core changes buffer->place afterwards. */
    sl_status (*host_pin)(sl_buffer *buffer, bool pin, sl_error *err);

    /* The host cost and synchronisation of a plain call on `bytes` bytes. Host
     * waits are reported in *waited (true: it waited for all earlier work). */
    sl_status (*plain_call)(sl_device *device, sl_plain_call call, size_t bytes, bool *waited,
                            sl_error *err);
};

extern const sl_backend sl_sim_backend;     /* core/sim/sim_backend.c */

#endif
