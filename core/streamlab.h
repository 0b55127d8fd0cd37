/* streamlab.h - the public interface of the core. Read this first.
 *
 * The core knows devices, streams, events, tensors and the operations between
 * them. It knows no Lua, no CUDA header and no terminal; a backend (the
 * simulated GPU, or the CUDA plugin) does the work behind core/backend.h.
 *
 * Conventions
 *   - Every function that can fail returns sl_status (0 is success) and takes a
 *     last parameter `sl_error *err`, which may be NULL, for the sentence.
 *     On failure nothing has changed: nothing is enqueued, nothing is leaked.
 *     The one exception is SL_EHOSTFUNC: the call has happened, and reports a
 *     host function that failed while it ran.
 *   - Objects are reference-counted: create gives the caller one reference,
 *     retain adds one, release(NULL) is a no-op. An enqueued operation retains
 *     everything that it names until it has retired.
 *   - These wait for the device: functions named synchronize, read and write, copies
 *     with pageable memory, blocking copies, and the CUDA calls whose comment says so.
 *     Any call that enqueues may wait until the launch queue has room.
 *   - Threads: call the core from the thread that opened the first device, and from those that
 *     sl_thread_start has started. One of them runs at a time. When all devices have been released,
 *     another thread may open one.
 *   - Units are in the names: _ns, _us, _ms, _bytes, _elems.
 */
#ifndef SL_STREAMLAB_H
#define SL_STREAMLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel_table.h"

/* ---- status and errors ------------------------------------------------- */

#define SL_STATUS_MAP(X)                                                \
    X(OK, 0)             /* success */                                  \
    X(EINVAL, -1)        /* invalid argument */                         \
    X(ESHAPE, -2)        /* shapes do not fit */                        \
    X(EDTYPE, -3)        /* dtypes do not fit */                        \
    X(EPLACE, -4)        /* memory in the wrong place */                \
    X(EDEVICE, -5)       /* objects of different devices */             \
    X(ECLOSED, -6)       /* the object is closed or freed */            \
    X(ESTATE, -7)        /* not possible in this state */               \
    X(ENOMEM, -8)        /* out of memory */                            \
    X(ENOTFOUND, -9)     /* not found */                                \
    X(EUNSUPPORTED, -10) /* not supported */                            \
    X(EIO, -11)          /* input or output failed */                   \
    X(EHOSTFUNC, -12)    /* a host function raised an error */          \
    X(EINTERRUPT, -13)   /* interrupted */                              \
    X(EFAULT, -14)       /* the device has failed */                    \
    X(EBACKEND, -15)     /* the device's library failed */              \
    X(ERACE, -16)        /* a race */                                   \
    X(ECAPTURE, -17)     /* not permitted while a stream is captured */ \
    X(ECOMPILE, -18)     /* a kernel does not compile */                \
    X(EKERNEL, -19)      /* a kernel went wrong */

typedef enum sl_status {
#define X(name, code) SL_##name = code,
    SL_STATUS_MAP(X)
#undef X
} sl_status;

/* What would avoid an error, for a binding to say in terms of its language. */
typedef enum sl_advice {
    SL_ADVICE_NONE,
    SL_ADVICE_COPY_TO_GPU,
    SL_ADVICE_CAST,        /* to the dtype sl_error.operand, or to that of the other (NULL) */
    SL_ADVICE_FREE_TENSOR, /* as a tensor, not by a call of CUDA */
    SL_ADVICE_TIME_EVENT   /* make the event with timing */
} sl_advice;

typedef struct sl_error {
    sl_status status;
    int backend_code; /* the backend's own error number, 0 if none */
    sl_advice advice;
    const char *operand; /* static: of the advice, CUDA's call of an SL_ECAPTURE, or NULL */
    char msg[512];       /* one sentence without the operation's name or position */
} sl_error;

/* The name of a status as users see it ("SL_ESHAPE"). */
const char *sl_status_name(sl_status status);

/* Fills *err (if not NULL) and returns `status`, so that callers can
 * `return sl_fail(err, SL_ESHAPE, "...")`. */
sl_status sl_fail(sl_error *err, sl_status status, const char *fmt, ...)
    __attribute__((cold, format(printf, 3, 4)));
/* Adds advice to *err (if not NULL), which sl_fail has filled, and returns `status`. */
sl_status sl_advise(sl_error *err, sl_status status, sl_advice advice, const char *operand);

/* ---- opaque types ------------------------------------------------------ */

typedef struct sl_device sl_device;
typedef struct sl_stream sl_stream;
typedef struct sl_event sl_event;
typedef struct sl_tensor sl_tensor;
typedef struct sl_graph sl_graph;
typedef struct sl_custom sl_custom;
typedef struct sl_thread sl_thread;
typedef struct sl_timeline sl_timeline; /* see core/timeline/timeline.h */
typedef struct sl_text sl_text;         /* a growing text: core/text/text.h */

/* ---- devices ----------------------------------------------------------- */

/* One entry of a backend's configuration; for the simulator, of a profile.
 * Nested tables are flattened with dots ("calls.cudaFree.us"); a list, also a
 * list of lists, becomes `values` in reading order; a boolean is 0 or 1. */
typedef struct sl_setting {
    const char *name;
    const double *values; /* NULL for a text */
    size_t n_values;
    const char *text; /* NULL for numbers */
} sl_setting;

/* What launching a graph costs the host, and how its nodes follow one another, in us
 * (core/graph_costs.h). All 0: not known. */
#define SL_GRAPH_LAUNCHES 16
typedef struct sl_graph_costs {
    /* The call, of chains of so many kernels: rows that ascend, and 0 behind the last. */
    double launch_kernels[SL_GRAPH_LAUNCHES], launch_us[SL_GRAPH_LAUNCHES];
    double upload_us;                        /* more for each kernel, the first time */
    double branch_us;                        /* for each branch but one, */
    double cross_node_us;                    /* for each node where branches begin or end, */
    double copy_us, memset_us, host_func_us; /* and for each such node */
    double submit_us;                        /* from the call to the first node */
    double root_us;                          /* from one first node to the next */
    double gap_us;                           /* from a node's end to the next: of kernels, */
    double copy_gap_us, switch_us;           /* of copies, of different engines; */
    double fork_us;                          /* more for each further node behind it, */
    double join_us;                          /* for one behind several, */
    double cross_us;                         /* and for each further of those */
    double launch_gap_us;                    /* from a launch's end to the next */
    double turn_us;                          /* of a copy engine, to another branch */
    double func_in_us, func_out_us;          /* before a host function and behind it */
} sl_graph_costs;

typedef struct sl_device_info {
    char name[96];       /* "NVIDIA H200" */
    char profile[64];    /* the simulator's profile, "" on real GPUs */
    const char *backend; /* "sim", "cuda" */
    int index;
    bool simulated;     /* for what is said of it; core asks for what a device can: */
    bool repeats;       /* equal runs have equal results and times, whatever the host has done */
    bool times_at_once; /* an operation's times are known when it retires; else they come later */
    bool knows_causes;  /* it says what operations and ranks waited for; else that is inferred */
    bool needs_no_code; /* kernels without code have times, from what is declared of them */
    int sm_count;
    int async_engine_count;
    int64_t memory_bytes;
    int compute_capability_major, compute_capability_minor;
    int priority_least, priority_greatest; /* 0, -5: lower is more urgent */
    int max_threads_per_block;
    int64_t max_shared_bytes_per_block;
    sl_graph_costs graph; /* of a simulated GPU */
} sl_device_info;

/* How much memory and how many processors this process may use: those of the machine, unless its
 * container (control groups) or its resource limits allow less. At least 1 processor. */
size_t sl_host_memory_bytes(void);
int sl_host_processors(void);

/* The folder of the running program, or of the module that holds this code; "." where it is not
 * known. What is installed with it is found from there. */
enum { SL_FOLDER_BYTES = 4096 };
void sl_own_folder(char folder[SL_FOLDER_BYTES]);

/* How many devices `backend` has; 0 is not an error, and err->msg then says why.
 * SL_ENOTFOUND if this build has no such backend; "cuda" is a plugin (core/plugin.c), and
 * err->msg says why it cannot be used. */
sl_status sl_backend_device_count(const char *backend, int *count, sl_error *err);

/* The name of a device, without opening it. SL_ENOTFOUND. */
sl_status sl_backend_device_name(const char *backend, int index, char *name, size_t name_bytes,
                                 sl_error *err);

/* Loads the libraries that the built-in backends otherwise load at their first use, for a
 * process that will soon be unable to open files. */
void sl_backend_preload(void);

/* Opens a device. Blocking on real GPUs (context creation). */
sl_status sl_device_open(const char *backend, int index, const sl_setting *settings,
                         size_t n_settings, sl_device **device, sl_error *err);
/* Opens device `index` of the machine that `beside`, which is open, belongs to. On the simulator
 * they share a host and one clock, and copy to one another; its device_open alone makes a machine
 * of its own. SL_ESTATE: a simulated machine has that device already. */
sl_status sl_device_open_beside(sl_device *beside, int index, const sl_setting *settings,
                                size_t n_settings, sl_device **device, sl_error *err);
/* Whether they are of one machine: real GPUs of one backend are. */
bool sl_device_are_of_one_machine(const sl_device *a, const sl_device *b);
/* Other figures for an open device, in the form of sl_device_open's settings. Work in flight goes
 * on with them. SL_EUNSUPPORTED on a real GPU; SL_EINVAL if the settings are wrong, or change what
 * the device has (SMs, queues, engines, memory). On failure nothing changes. */
sl_status sl_device_set_figures(sl_device *device, const sl_setting *settings, size_t n_settings,
                                sl_error *err);
sl_device *sl_device_retain(sl_device *device);
void sl_device_release(sl_device *device);
const sl_device_info *sl_device_get_info(const sl_device *device);

/* Sets or clears the interrupt flag of the process. While it is set, calls that take long end
 * with SL_EINTERRUPT and clear it: waits for any device, computing the values of a simulated
 * GPU, reading large tensors, analysing and saving large timelines. Safe in a signal handler. */
void sl_interrupt(bool on);
bool sl_interrupt_wanted(void);
/* Whether waits end at once: the flag is set, or the process exits. */
bool sl_waits_end(void);
/* For loops of the caller. Returns SL_EINTERRUPT and clears the flag if it is set. */
sl_status sl_interrupt_check(sl_error *err);

/* For a process that exits: from now on every wait for every device fails with SL_EINTERRUPT, in
 * sl_device_drain too, and no call clears that. Timelines can still be saved. Safe in a signal
 * handler. */
void sl_leave(void);

/* A sentence of the backend for the user, given once; NULL if there is none. */
const char *sl_device_take_notice(sl_device *device);

/* Waits for all work and retires it; then drops host functions that have not
 * run. The owner calls it before its last release. Blocking. */
void sl_device_drain(sl_device *device);

/* Whether the caller's reference is the only one: all work has retired, and there is no stream,
 * event, tensor or recording of the device, but a current stream that nobody else has. */
bool sl_device_is_unused(const sl_device *device);

/* For the end of a run: waits for all work and retires it, without running host functions
 * that have not run yet. Fails with what no call has reported yet: the loss of the device, or
 * an error that the next call would have reported. Blocking. SL_EINTERRUPT if the wait was
 * interrupted; SL_ESTATE in a host function, and if something waits for what nothing will bring (a
 * rank, a value), which is ended then: for a rank the communicator, which takes no more calls. */
sl_status sl_device_finish(sl_device *device, sl_error *err);

/* cudaDeviceSynchronize. Blocking. */
sl_status sl_device_synchronize(sl_device *device, sl_error *err);

/* sl_device_synchronize if work is in flight. If not, it takes no time of the host. */
sl_status sl_device_wait_idle(sl_device *device, sl_error *err);

/* The host's clock for this device: virtual on the simulator. */
int64_t sl_device_host_now_ns(sl_device *device);

/* The host is busy for `duration_ns` (>= 0). */
sl_status sl_device_host_work(sl_device *device, int64_t duration_ns, sl_error *err);

/* Live objects and operations in flight, for leak checks and lab.who(). */
typedef struct sl_device_stats {
    int64_t streams, events, buffers, tensors, graphs, comms, ops_in_flight;
    int64_t device_bytes, pinned_bytes, pageable_bytes; /* of live buffers */
    uint64_t ops_enqueued;
} sl_device_stats;
void sl_device_get_stats(const sl_device *device, sl_device_stats *stats);

/* Sets the script position ("puzzler.lua:12") of the operations that follow. The device keeps
 * each text once; its id is valid as long as the device. 0 is "", and out of memory. */
uint32_t sl_device_intern(sl_device *device, const char *text);
void sl_device_set_where(sl_device *device, uint32_t where_id);
const char *sl_device_text(const sl_device *device, uint32_t id); /* such a text, borrowed */

/* Called when memory runs out, at most once per allocation that fails: frees objects that the
 * host language holds and no longer uses. Must not raise. */
typedef void (*sl_pressure_hook)(void *ud);
void sl_device_set_pressure_hook(sl_device *device, sl_pressure_hook hook, void *ud);

/* ---- tensors ----------------------------------------------------------- */

#define SL_MAX_DIMS 8

typedef enum sl_dtype {
    SL_FLOAT32,
    SL_BFLOAT16,
    SL_FLOAT16,
    SL_UINT8,
    SL_FLOAT64,
    SL_INT32,
    SL_DTYPES
} sl_dtype;
typedef enum sl_place { SL_ON_DEVICE, SL_PAGEABLE, SL_PINNED } sl_place;

const char *sl_dtype_name(sl_dtype dtype); /* "float32" */
size_t sl_dtype_bytes(sl_dtype dtype);
bool sl_dtype_parse(const char *name, sl_dtype *dtype);

typedef struct sl_tensor_spec {
    sl_dtype dtype;
    sl_place place;
    int ndim;                 /* 0 is a scalar */
    int64_t dim[SL_MAX_DIMS]; /* row-major, each >= 0 */
} sl_tensor_spec;

/* An uninitialised tensor (zeros on the simulator). Device memory may be memory that an earlier
 * tensor of `stream` has freed (core/reuse.h); for host memory `stream` is not used. SL_ESHAPE if
 * a dimension is negative or the number of bytes overflows. */
sl_status sl_tensor_create(sl_device *device, const sl_tensor_spec *spec, sl_stream *stream,
                           sl_tensor **tensor, sl_error *err);
sl_tensor *sl_tensor_retain(sl_tensor *tensor);
void sl_tensor_release(sl_tensor *tensor);
/* Frees the tensor: every later use fails with SL_ECLOSED, freeing it again too. Its memory is
 * released when work in flight has retired and no view is left; the next tensor of its stream
 * may get it earlier. */
sl_status sl_tensor_free(sl_tensor *tensor, sl_error *err);

const sl_tensor_spec *sl_tensor_get_spec(const sl_tensor *tensor); /* place as of now */
sl_device *sl_tensor_device(const sl_tensor *tensor);              /* borrowed */
int64_t sl_tensor_numel(const sl_tensor *tensor);
size_t sl_tensor_bytes(const sl_tensor *tensor);
uint64_t sl_tensor_id(const sl_tensor *tensor); /* 1, 2, ... in order of creation */
bool sl_tensor_is_freed(const sl_tensor *tensor);

/* Views: tensors that share the memory of another, each with its own id. The memory stays as long
 * as one of them, or an operation in flight, uses it. All of them are contiguous. Positions and
 * dimensions count from 0 here, and from 1 in the messages of errors, as in Lua. */

/* The dimension that scripts call `number`, from 1, or from -1 for the last: *dim. SL_ESHAPE. */
sl_status sl_dimension(const sl_tensor_spec *spec, int64_t number, int *dim, sl_error *err);

/* The same elements in another shape; one size may be -1, and is worked out. SL_ESHAPE. */
sl_status sl_tensor_view(sl_tensor *tensor, int ndim, const int64_t *dim, sl_tensor **view,
                         sl_error *err);
/* `length` positions of dimension `dim`, from `start` on. SL_ESHAPE if they are out of range, or
 * not contiguous, which is so when a dimension before `dim` is larger than 1. */
sl_status sl_tensor_narrow(sl_tensor *tensor, int dim, int64_t start, int64_t length,
                           sl_tensor **view, sl_error *err);
bool sl_tensor_is_view(const sl_tensor *tensor);
size_t sl_tensor_offset(const sl_tensor *tensor); /* in bytes, in the memory that it sees */

/* A device tensor is filled by a kernel on `stream` (for 0 by a memset), a host tensor by the host
 * before the call returns. Random numbers are Philox4x32-10 by (seed, sequence), element by
 * element: the same bits on every backend, whatever the shape. */
sl_status sl_tensor_fill(sl_tensor *tensor, double value, sl_stream *stream, sl_error *err);
sl_status sl_tensor_rand(sl_tensor *tensor, uint64_t seed, uint64_t sequence, sl_stream *stream,
                         sl_error *err);
sl_status sl_tensor_randn(sl_tensor *tensor, uint64_t seed, uint64_t sequence, sl_stream *stream,
                          sl_error *err);

/* dst := src, same shape and dtype. Device copies run on `stream`. With
 * non_blocking the call returns when CUDA's cudaMemcpyAsync would (pageable
 * memory may still block); without, it waits for the stream if one side is on the
 * host. A copy from host to host is done by the host before the call returns. Between two devices
 * of a backend that can copy between them, `stream` belongs to either; otherwise SL_EDEVICE. */
sl_status sl_tensor_copy(sl_tensor *dst, sl_tensor *src, bool non_blocking, sl_stream *stream,
                         sl_error *err);

/* Elements as doubles. Of a device tensor by a synchronous copy on `stream` (blocking); of a host
 * tensor as the memory is now, without waiting. */
sl_status sl_tensor_read(sl_tensor *tensor, int64_t first_elem, int64_t n_elems, double *values,
                         sl_stream *stream, sl_error *err);
sl_status sl_tensor_write(sl_tensor *tensor, int64_t first_elem, int64_t n_elems,
                          const double *values, sl_stream *stream, sl_error *err);

/* cudaHostRegister / cudaHostUnregister of a host tensor in place, with all its views.
 * SL_EINVAL of a view: pin the tensor that it was made of. */
sl_status sl_tensor_pin(sl_tensor *tensor, sl_error *err);
sl_status sl_tensor_unpin(sl_tensor *tensor, sl_error *err);

/* ---- kernels (asynchronous; all operands on the device of `stream`) ---- */

bool sl_kernel_takes(sl_kernel kernel, sl_dtype dtype);

/* Whether the kernel takes tensors of `dtype` and, if it has one, `number` beside them: with
 * int32 that is whole, and of pow not negative. If not SL_EDTYPE, in a sentence about `a`. */
sl_status sl_kernel_check(sl_kernel kernel, sl_dtype dtype, double number, sl_error *err);

/* What matmul does to each element of a product, in the same kernel: adds the bias of its column,
 * then applies the activation. In float32; float64 is refused (SL_EDTYPE), as cublasLt does not
 * have it. GELU is the approximation by tanh, cublasLt's. */
typedef enum sl_activation { SL_NO_ACTIVATION, SL_RELU, SL_GELU, SL_ACTIVATIONS } sl_activation;
const char *sl_activation_name(sl_activation activation); /* "relu" */
bool sl_activation_parse(const char *name, sl_activation *activation);
typedef struct sl_epilogue {
    sl_tensor *bias; /* of n elements; NULL: none. SL_ESHAPE if the product has no terms */
    sl_activation activation;
} sl_epilogue;

/* What a kernel of core/kernel_table.h takes. */
typedef struct sl_kernel_args {
    sl_tensor *a, *b; /* b: of kernels of two tensors, else NULL */
    double number;    /* of kernels of a tensor and a number */
    union {
        int dim[2];                  /* transpose: the dimensions that change places, from 0 */
        const sl_epilogue *epilogue; /* matmul; NULL: the product is the result */
    };
    sl_dtype dtype; /* cast: of the result */
    bool tf32;      /* matmul of float32: TF32 is allowed */
} sl_kernel_args;

/* Checks the arguments as sl_launch does and gives what the result is: dtype, shape, place.
 *   matmul       out[m,n] = a[m,k] b[k,n]; with more dimensions before these, which then are the
 *                same, matrix by matrix; with more in a alone, each matrix of a by b
 *   cast         the same numbers in another dtype. To whole numbers they are cut off towards
 *                zero, and saturate; NaN becomes 0
 *   softmax      over the last dimension
 *   transpose    two dimensions change places; copies
 *   sum          one element, a scalar; of int32 modulo 2^32
 *   the others   elementwise, of tensors of one shape
 * SL_EINVAL if the kernel takes no tensors, or one and is given two. */
sl_status sl_kernel_result(sl_kernel kernel, const sl_kernel_args *args, sl_stream *stream,
                           sl_tensor_spec *result, sl_error *err);

/* Enqueues the kernel. `out` is as sl_kernel_result says; of sum it has one element in any shape.
 * It may be an operand, or lies apart from them: SL_EINVAL if they share some bytes only. Of
 * matmul, cast and transpose it lies apart. */
sl_status sl_launch(sl_kernel kernel, sl_tensor *out, const sl_kernel_args *args, sl_stream *stream,
                    sl_error *err);

/* How the products of one shape are computed. */
typedef struct sl_tuning {
    bool tuned;         /* it was measured; false: the library chooses, and what follows is 0 */
    bool measured;      /* by this call; false: earlier */
    int32_t candidates; /* that were measured */
    int32_t algorithm, tile, stages, split_k; /* of the fastest, in the library's own numbers */
    int64_t workspace_bytes;
    int64_t ns, first_ns; /* of a product on the device: the fastest, the library's own choice */
} sl_tuning;

/* Measures which way to compute matmul's products of one shape, dtype and mode is the fastest, and
 * computes them so from now on; a result is the same in each run, but its last bits may be others
 * than before. Takes what an earlier call, also of another process, has found, unless `again`.
 * Enqueues nothing. Blocks until all work of the device is done and then for up to seconds. A
 * simulated GPU measures nothing. SL_ESTATE: a stream of the device is being captured;
 * SL_EINTERRUPT. */
sl_status sl_tune(const sl_kernel_args *args, bool again, sl_stream *stream, sl_tuning *tuning,
                  sl_error *err);
/* From now on the first matmul of each shape does that before it is enqueued, but for those that
 * are captured. */
void sl_device_set_tuning(sl_device *device, bool on);

/* A kernel whose blocks each stay busy for duration_ns. */
typedef struct sl_spin_options {
    int64_t duration_ns;
    int64_t blocks;       /* 0: 1 */
    int64_t threads;      /* per block; 0: 32 */
    int64_t shared_bytes; /* dynamic shared memory per block */
} sl_spin_options;
sl_status sl_spin(const sl_spin_options *options, sl_stream *stream, sl_error *err);

/* A kernel that faults, to see what a lost device looks like: every later call on the
 * device fails with SL_EFAULT. SL_EUNSUPPORTED on the simulator. */
sl_status sl_trap(sl_stream *stream, sl_error *err);

/* ---- single CUDA calls, for probes (lab.cuda) ----------------------------- */

/* cudaMalloc, cudaMallocHost, cudaMallocAsync give a uint8 tensor of n bytes. */
sl_status sl_cuda_malloc(sl_device *device, size_t n_bytes, sl_tensor **memory, sl_error *err);
sl_status sl_cuda_malloc_host(sl_device *device, size_t n_bytes, sl_tensor **memory, sl_error *err);
sl_status sl_cuda_malloc_async(sl_stream *stream, size_t n_bytes, sl_tensor **memory,
                               sl_error *err);
/* cudaFree, cudaFreeHost: may block the host until the device is idle. Views of the memory are
 * freed with it; a view itself cannot be given (SL_EINVAL). */
sl_status sl_cuda_free(sl_tensor *memory, sl_error *err);
sl_status sl_cuda_free_host(sl_tensor *memory, sl_error *err);
sl_status sl_cuda_free_async(sl_tensor *memory, sl_stream *stream, sl_error *err);
/* The first n_bytes. cudaMemset and cudaMemcpy run on the NULL stream. */
sl_status sl_cuda_memset(sl_tensor *memory, int value, size_t n_bytes, sl_error *err);
sl_status sl_cuda_memset_async(sl_tensor *memory, int value, size_t n_bytes, sl_stream *stream,
                               sl_error *err);
sl_status sl_cuda_memcpy(sl_tensor *dst, sl_tensor *src, size_t n_bytes, sl_error *err);
sl_status sl_cuda_memcpy_async(sl_tensor *dst, sl_tensor *src, size_t n_bytes, sl_stream *stream,
                               sl_error *err);
/* Calls that only cost host time and may synchronise: "cudaFuncSetCacheConfig",
 * "cudaDeviceSetLimit", "cublasCreate", "cublasDestroy". */
sl_status sl_cuda_call(sl_device *device, const char *cuda_name, sl_error *err);

/* cudaMemGetInfo. Memory in the pools of streamlab counts as used. */
sl_status sl_cuda_mem_get_info(sl_device *device, int64_t *free_bytes, int64_t *total_bytes,
                               sl_error *err);
/* Whether `device` can access the memory of `peer`; enabling and disabling that. Without it copies
 * between the two go through host memory. SL_ESTATE if it is enabled, or disabled, already. */
sl_status sl_cuda_device_can_access_peer(sl_device *device, sl_device *peer, bool *can,
                                         sl_error *err);
sl_status sl_cuda_device_enable_peer_access(sl_device *device, sl_device *peer, sl_error *err);
sl_status sl_cuda_device_disable_peer_access(sl_device *device, sl_device *peer, sl_error *err);

/* ---- states, and values to show ------------------------------------------ */

/* Counts and states as of the last call that retired work: sl_device_host_work of duration 0 does
 * so, and takes no time. */
int64_t sl_stream_in_flight(const sl_stream *stream);
int64_t sl_tensor_in_flight(const sl_tensor *tensor); /* operations that use its memory */
bool sl_event_has_happened(const sl_event *event);    /* its latest record; none: false */
bool sl_device_is_recording(const sl_device *device);

/* sl_tensor_read for showing values. On a real GPU it is the same. On the simulator no virtual
 * time passes, the values are those in memory now, and *has_values is false if computing them
 * takes about `most_s` seconds or longer. SL_ESTATE: while a stream of its device is captured. */
sl_status sl_tensor_peek(sl_tensor *tensor, int64_t first_elem, int64_t n_elems, double most_s,
                         double *values, bool *has_values, sl_stream *stream, sl_error *err);

/* ---- threads of the host ------------------------------------------------- */

/* Starts a thread that calls fn(ud), for the device and the others of its machine. Each thread has
 * a current stream of its own, first the NULL stream. Threads take turns: another one goes on only
 * inside of a call of the core, so that what they share needs no locks. On a real GPU calls of the
 * driver run at the same time. SL_ESTATE: the race checker is on. */
sl_status sl_thread_start(sl_device *device, void (*fn)(void *ud), void *ud, sl_thread **thread,
                          sl_error *err);
/* For long work of the caller's own: on a real GPU another thread may go on first. */
void sl_thread_offer(sl_device *device);
/* Whether fn has returned. Takes the host as long as a query. */
sl_status sl_thread_query(sl_thread *thread, bool *ended, sl_error *err);
/* The same of what has happened so far, in no time. */
bool sl_thread_has_ended(const sl_thread *thread);
/* Blocks until fn has returned, and releases the thread, unless it fails. SL_ESTATE: it never can,
 * because all threads wait. */
sl_status sl_thread_join(sl_thread *thread, sl_error *err);
/* The number of the thread: 1, 2, ... in the order of their start; 0: the first one. */
uint32_t sl_thread_number(const sl_thread *thread);

/* ---- recording --------------------------------------------------------- */

/* Records the operations that are enqueued from now until sl_record_stop in *timeline, on the
 * device and on the others of its machine (sl_device_open_beside), also on those that are opened
 * meanwhile. Recordings may nest. Neither call synchronises. The caller owns the timeline, which
 * stays readable after stop and may outlive the device. `name` is the NVTX range that profilers
 * show; NULL gives "recording". */
sl_status sl_record_start(sl_device *device, const char *name, sl_timeline **timeline,
                          sl_error *err);
/* Right after start: the timeline keeps only sums (sl_timeline_keep_summary), so that a recording
 * of any length takes bounded memory: that of the operations that are in flight, and of those that
 * run during the longest of them. SL_EUNSUPPORTED: the GPU is not simulated; SL_ENOMEM. */
sl_status sl_record_keep_summary(sl_device *device, sl_timeline *timeline, sl_error *err);
/* Operations that have not retired yet are left out: synchronise first. Operations whose times the
 * profiler of a real GPU lost are left out, too, and a later call reports SL_EBACKEND, once.
 * Called in a host function, it ends the recording at the next call on the device after that. */
void sl_record_stop(sl_device *device, sl_timeline *timeline);

#include "comm/comm.h"
#include "custom/custom.h"
#include "graph/graphs.h"
#include "pictures/pictures.h"
#include "race/races.h"
#include "streams.h"
#include "text/bytes.h"
#include "text/file.h"
#include "text/labels.h"
#include "text/text.h"
#include "text/units.h"
#include "text/xml.h"
#include "timeline/timeline.h"
#include "traces/traces.h"
#include "whatif/actions.h"
#include "whatif/whatif.h"

#endif
