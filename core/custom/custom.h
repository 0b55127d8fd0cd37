/* custom.h - the public interface of custom kernels: CUDA C++ in a string. Included by streamlab.h.
 *
 * On a real GPU NVRTC compiles the source; on a simulated one the C++ compiler of this machine
 * does, so that the same source gives the values there. What each argument is, and whether a tensor
 * is read or written, is declared: the race checker and the simulator rely on it.
 */
#ifndef SL_CUSTOM_H
#define SL_CUSTOM_H

/* The types of arguments: a number, or what a tensor's elements are. X(ID, name, type in C++,
 * bytes) */
#define SL_ARG_TYPES(X)                    \
    X(F32, "f32", "float", 4)              \
    X(F64, "f64", "double", 8)             \
    X(I32, "i32", "int", 4)                \
    X(U32, "u32", "unsigned int", 4)       \
    X(I64, "i64", "long long", 8)          \
    X(U64, "u64", "unsigned long long", 8) \
    X(F16, "f16", "__half", 2)             \
    X(BF16, "bf16", "__nv_bfloat16", 2)    \
    X(U8, "u8", "unsigned char", 1)
typedef enum sl_arg_type {
#define X(id, name, type, bytes) SL_ARG_##id,
    SL_ARG_TYPES(X)
#undef X
        SL_ARG_TYPE_COUNT
} sl_arg_type;
const char *sl_arg_type_name(sl_arg_type type); /* "f32" */

/* ATOMIC is not declared: the source shows that only atomic functions touch the tensor. */
enum { SL_READS = 1, SL_WRITES = 2, SL_ATOMIC = 4 };

/* "f32" is a number (f32, f64, i32, u32, i64 or u64); "in f32*", "out f32*" and "inout f32*" are
 * tensors (f32, f64, f16, bf16, i32, u8). */
typedef struct sl_arg {
    uint8_t type;   /* sl_arg_type */
    uint8_t access; /* SL_READS | SL_WRITES | SL_ATOMIC of a tensor; 0: a number */
} sl_arg;
enum { SL_MOST_ARGS = 32 };
/* SL_EINVAL: err->msg says what it should be. */
sl_status sl_arg_parse(const char *text, sl_arg *arg, sl_error *err);

/* Values where nothing can compile the source: computes what the kernel does. */
typedef struct sl_custom_arg sl_custom_arg;
typedef struct sl_custom_launch sl_custom_launch;
typedef struct sl_compute_arg {
    double *values;  /* of a tensor: its elements, to be changed in place; NULL: a number */
    size_t n;        /* elements */
    bool is_written; /* the changes count */
    double number;   /* i64 and u64 above 2^53 are rounded */
} sl_compute_arg;
typedef sl_status (*sl_compute_fn)(void *ud, const uint32_t grid[3], const uint32_t block[3],
                                   const sl_compute_arg *args, size_t n, sl_error *err);

typedef struct sl_custom_spec {
    const char *source; /* CUDA C++; NULL: none, which a simulated GPU allows */
    const char *name;   /* of the __global__ function: "saxpy", "scale<float>" */
    const char *file;   /* what has the source: "lab.lua", "saxpy.cu", "" if unknown */
    int line;           /* and in which line of it the source begins, from 1 */
    const char *const *args;
    size_t n_args;
    const char *const *options; /* for NVRTC: "-DTILE=16", "--use_fast_math" */
    size_t n_options;
    sl_compute_fn compute; /* or NULL */
    void *compute_ud;
    void (*compute_release)(void *ud); /* called once, also if creating fails; or NULL */
} sl_custom_spec;

typedef struct sl_custom_info {
    int registers;        /* per thread; 0: not known */
    int64_t shared_bytes; /* static shared memory per block; -1: not known */
    int64_t local_bytes;  /* per thread; -1: not known */
    int max_threads;      /* per block that this kernel can have */
    bool has_values;      /* its results are known: it was compiled, or there is `compute` */
    bool from_cache;      /* nothing had to be compiled */
} sl_custom_info;

/* Compiles the source, or finds it in the cache (in $STREAMLAB_CACHE, else
 * $XDG_CACHE_HOME/streamlab, else ~/.cache/streamlab). Blocks for as long as that takes. The caller
 * owns *kernel. SL_ECOMPILE: it does not compile; *log, which the caller frees, has the compiler's
 * messages, with the source's lines, else it is NULL. SL_EINVAL: an argument or the name is wrong.
 * SL_EUNSUPPORTED: a real GPU without NVRTC. A simulated GPU without a compiler gives a kernel
 * whose results are unknown. */
sl_status sl_custom_create(sl_device *device, const sl_custom_spec *spec, sl_custom **kernel,
                           char **log, sl_error *err);
sl_custom *sl_custom_retain(sl_custom *kernel);
void sl_custom_release(sl_custom *kernel); /* launches in flight keep what they need */
sl_device *sl_custom_device(const sl_custom *kernel);
const char *sl_custom_name(const sl_custom *kernel);
size_t sl_custom_arg_count(const sl_custom *kernel);
const sl_arg *sl_custom_args(const sl_custom *kernel);
const sl_custom_info *sl_custom_get_info(const sl_custom *kernel);
/* Identifies source, name, arguments and options, on every machine: 16 hexadecimal digits. */
const char *sl_custom_hash(const sl_custom *kernel);
/* What is known from elsewhere (a calibration) of a kernel of a simulated GPU. 0 and below: not
 * known, and nothing changes. */
void sl_custom_set_footprint(sl_custom *kernel, int registers, int64_t shared_bytes);
/* Blocks of so many threads, with so much dynamic shared memory, that an SM holds at a time
 * (cudaOccupancyMaxActiveBlocksPerMultiprocessor). */
sl_status sl_custom_occupancy(sl_custom *kernel, int threads, int64_t shared_bytes, int *blocks,
                              sl_error *err);

struct sl_custom_arg {
    sl_tensor *tensor; /* NULL: a number */
    bool is_integer;   /* which of the two */
    int64_t integer;
    double number;
};

struct sl_custom_launch {
    int64_t grid[3], block[3]; /* x, y, z */
    int64_t shared_bytes;      /* dynamic, per block */
    bool cooperative;          /* cudaLaunchCooperativeKernel: blocks may wait for one another */
    /* How long it takes alone, for a simulated GPU: `us`, or what it moves and computes. Below 0:
     * not given. With none of them each tensor is moved once, which timelines call a guess. */
    double us, bytes, flops;
    double cold_us; /* beside `us`: with nothing of its tensors in the L2; 0 or below: not known */
};

/* Enqueues the kernel. Asynchronous. SL_EINVAL, SL_EDTYPE, SL_EPLACE, SL_EDEVICE: the number of
 * arguments, one of them, or the launch does not fit; err->msg names it. */
sl_status sl_custom_launch_in(sl_custom *kernel, const sl_custom_launch *launch,
                              const sl_custom_arg *args, size_t n_args, sl_stream *stream,
                              sl_error *err);

/* ---- kernels of strangers ---- */

/* From now on this process takes kernels for those of somebody who is not trusted, as in a course
 * lab that is graded: a source that names files, or has what only compilers need, is refused
 * (SL_ECOMPILE), and so are options but for a few (SL_EINVAL). Never taken back. */
void sl_custom_distrust(void);

/* From now on kernels of simulated GPUs are compiled and run by the process at the other end of the
 * socket `fd`, which is in sl_custom_serve. This process then opens and starts nothing for them.
 * When the time of that process is up, this one gets SIGXCPU. SIGPIPE is ignored from now on.
 * SL_EUNSUPPORTED: no compiler is there; SL_EIO: nothing is. */
sl_status sl_custom_use_server(int fd, sl_error *err);

/* What confines the processes in which strangers' kernels are compiled and run. */
typedef struct sl_custom_fences {
    bool (*time_is_left)(void); /* in the server, before and after each kernel that it serves */
    bool (*compiler)(void);     /* in a process that will be a compiler; false: it must not be */
    bool (*kernel)(void);       /* in one that will run a kernel. It has all it needs in memory */
} sl_custom_fences;

/* Serves until the other end is closed. Before, the caller has confined this process, and has set
 * TMPDIR to a folder that can be written. */
void sl_custom_serve(int fd, const sl_custom_fences *fences);

#endif
