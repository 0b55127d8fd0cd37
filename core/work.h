/* work.h - what an operation does, as the core tells it a backend (backend.h), and what a backend
 * tells of it later.
 */
#ifndef SL_WORK_H
#define SL_WORK_H

#include "op_table.h"
#include "streamlab.h"

enum { /* sl_work.flags */
       SL_WORK_TF32 = 1,
       SL_WORK_SYNC = 2,    /* the plain synchronous call (cudaMemcpy): host waits as CUDA's does */
       SL_WORK_TIMED = 4,   /* CUSTOM: duration_ns is given; else `bytes` and `flops` are */
       SL_WORK_GUESSED = 8, /* CUSTOM: and those are a guess */
       SL_WORK_BIAS = 16,   /* MATMUL: input 2 is a bias of n elements */
       SL_WORK_SHARED = 32  /* CUSTOM: its blocks have shared memory; shared_bytes lacks what the
                             * source declares where it is not compiled */
};

/* The sides of an operation: its inputs by number, without gaps, and the output. */
enum { SL_INPUTS = 3, SL_OUTPUT = SL_INPUTS, SL_SIDES };

typedef struct sl_work {
    uint8_t kind, kernel, dtype, flags;
    uint8_t copy_kind; /* MEMCPY: sl_span_kind */
    union {
        uint8_t byte_value; /* MEMSET */
        uint8_t reduction;  /* COLLECTIVE: sl_reduction */
        uint8_t activation; /* MATMUL: sl_activation */
        uint8_t compare;    /* WAIT_VALUE: sl_compare */
    };
    uint8_t in_dtype;   /* KERNEL: of the inputs; `dtype` but for CAST */
    uint8_t collective; /* COLLECTIVE: sl_collective */
    union {
        uint32_t threads; /* SPIN, CUSTOM: of a block */
        uint32_t word;    /* WRITE_VALUE, WAIT_VALUE: the bits of the value */
    };
    int64_t blocks; /* SPIN, CUSTOM */
    union {
        struct {
            int64_t m, n; /* COLLECTIVE: elements of the output, of the input */
        };
        struct {
            /* CUSTOM without a given time: of the largest tensor that it reads, its bytes, and how
             * often all threads together read an element of it */
            int64_t read_bytes, reads;
        };
    };
    union {
        int64_t k;       /* COLLECTIVE: ranks */
        int64_t cold_ns; /* CUSTOM: with nothing of its tensors in the L2; 0: not known */
    };
    int64_t duration_ns; /* SPIN, CUSTOM */
    size_t shared_bytes; /* SPIN, CUSTOM: per block, static and dynamic */
    size_t bytes;        /* MEMCPY, MEMSET: how many; CUSTOM: that it moves; COLLECTIVE: of the
                          * larger of input and output */
    union {
        double scalar;
        double flops; /* CUSTOM */
    };
    union {
        uint64_t seed;
        int64_t outer;
        int64_t registers; /* per thread; <= 0: not known, but that arrays take as many */
        int64_t peer;      /* root, destination or source; else -1 */
    };                     /* RAND, RANDN; MATMUL, TRANSPOSE; CUSTOM; COLLECTIVE */
    union {
        uint64_t sequence;
        int64_t middle;
        int64_t read_elems; /* CUSTOM: how many elements this tensor has */
        uint64_t number;    /* COLLECTIVE: which of its rank, from 1: those of two ranks with one
                          * number are one. SEND, RECV: which between its rank and the peer */
    };                      /* likewise */
} sl_work;

static inline int64_t sl_product_elems(const sl_work *work, int side)
{
    switch (side) {
    case 0: return work->outer * work->m * work->k;
    case 1: return work->outer * work->k * work->n;
    case 2: return work->flags & SL_WORK_BIAS ? work->n : 0;
    default: return work->outer * work->m * work->n;
    }
}

/* How many elements a kernel's operand has; 0 where there is none. */
static inline int64_t sl_kernel_elems(const sl_work *work, int side)
{
    if (work->kernel == SL_KERNEL_MATMUL) return sl_product_elems(work, side);
    if (side != SL_OUTPUT && side >= sl_kernel_inputs((sl_kernel)work->kernel)) return 0;
    switch (sl_kernel_family_of((sl_kernel)work->kernel)) {
    case SL_FAMILY_ROWS: return work->m * work->n;
    case SL_FAMILY_SUM: return side == SL_OUTPUT ? 1 : work->n;
    case SL_FAMILY_TRANSPOSE: return work->outer * work->m * work->middle * work->n * work->k;
    case SL_FAMILY_NONE: return 0;
    case SL_FAMILY_MATMUL:
    case SL_FAMILY_PAIR:
    case SL_FAMILY_NUMBER:
    case SL_FAMILY_ONE:
    case SL_FAMILY_CAST:
    case SL_FAMILY_FILL:
    case SL_FAMILY_RANDOM: break;
    }
    return work->n;
}

/* The dtype of that operand. */
static inline sl_dtype sl_kernel_dtype(const sl_work *work, int side)
{
    bool is_other = side != SL_OUTPUT && work->kernel == SL_KERNEL_CAST;
    return (sl_dtype)(is_other ? work->in_dtype : work->dtype);
}

#define SL_TIME_LATER INT64_MIN

/* When an operation ran on the device (equal for RECORD and WAIT; SL_TIME_LATER: that comes with an
 * sl_activity), and what it waited for, as in sl_hold, if the backend knows it (else ready_cause is
 * NONE). */
#define SL_RUN_FIELDS                   \
    int64_t start_ns, end_ns, ready_ns; \
    uint64_t ready_by, start_by;        \
    uint8_t ready_cause, start_cause;
typedef struct sl_run {
    SL_RUN_FIELDS
} sl_run;

/* What the device did for an operation, when that is known only later. Several of
 * one operation (a split matmul) make one span from the first start to the last end. */
typedef struct sl_activity {
    uint64_t seq;             /* the operation's */
    int64_t start_ns, end_ns; /* on the clock of host_now_ns */
    uint32_t blocks;          /* 0 if no kernel */
    uint16_t threads;         /* per block */
    uint16_t registers;       /* per thread; 0: not known, nor is what follows */
    uint32_t shared_bytes;    /* per block, static and dynamic */
    const char *symbol;       /* the kernel's own name, valid during the call; NULL: none */
} sl_activity;
typedef void (*sl_activity_fn)(void *ud, const sl_activity *activity);

#endif
