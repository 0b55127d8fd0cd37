/* matching.h - which operation a record of the device belongs to. While an operation was enqueued
 * is known; CUPTI reports two things in any order: "call 17 of CUDA's began at 3", and "call 17 ran
 * as a kernel from 10 to 20". Here all three are kept until they are matched. Does not use CUDA. */
#ifndef CUDA_MATCHING_H
#define CUDA_MATCHING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cuda_interval { /* in which calls of CUDA's are made for an operation */
    uint64_t external_id;      /* whose: cupti_trace.c */
    uint64_t start_ns, end_ns; /* on CUPTI's clock */
} cuda_interval;

typedef struct cuda_call { /* a call of CUDA's, made for an operation */
    uint64_t external_id;
    uint32_t correlation; /* CUPTI's number of the call */
} cuda_call;

typedef struct cuda_record {   /* what the device did for a call */
    uint64_t start_ns, end_ns; /* on CUPTI's clock */
    const char *symbol;        /* the kernel's name, NULL if none; borrowed */
    uint64_t graph_node;       /* CUPTI's number of the node that it was; 0: none of a graph */
    uint32_t correlation;
    uint32_t device;       /* CUDA's number */
    uint32_t blocks;       /* 0 if no kernel */
    uint32_t shared_bytes; /* per block, static and dynamic */
    uint16_t threads;      /* per block */
    uint16_t registers;    /* per thread */
} cuda_record;

typedef struct cuda_matching { /* all zero: empty */
    cuda_interval *intervals;  /* in order; they do not overlap */
    cuda_call *calls;
    cuda_record *records;
    size_t n_intervals, cap_intervals, n_calls, cap_calls, n_records, cap_records;
    size_t near;                           /* the interval that the latest call was in */
    bool calls_unsorted, records_unsorted; /* by correlation */
    size_t n_lost; /* not kept for lack of memory, since the owner zeroed it */
} cuda_matching;

typedef void (*cuda_matched_fn)(void *ud, uint64_t external_id, const cuda_record *record);

/* The operation whose calls are made from now on, and that they are made; `end_ns` may be too late,
 * since the next operation ends it as well. Without memory its calls are nobody's, and are
 * counted. */
void cuda_matching_begin(cuda_matching *matching, uint64_t external_id, uint64_t start_ns);
void cuda_matching_end(cuda_matching *matching, uint64_t end_ns);
/* A call that began at `start_ns`: of the operation in whose interval that is, else of nobody.
 * This and the next copy what they are given; without memory it is lost and counted. */
void cuda_matching_add_call(cuda_matching *matching, uint32_t correlation, uint64_t start_ns);
void cuda_matching_add_record(cuda_matching *matching, const cuda_record *record);

/* Gives fn each record whose call is known, once, and forgets it. The calls stay, since
 * one may run as several kernels whose records come later. With `all`, nothing more comes
 * for the calls up to now: what is left belongs to nobody, and the memory is freed. */
void cuda_matching_run(cuda_matching *matching, bool all, cuda_matched_fn fn, void *ud);

/* Forgets everything and frees the memory. */
void cuda_matching_clear(cuda_matching *matching);

#endif
