/* matching.h - which operation a record of the device belongs to. That operation 5 made call 17 of
 * CUDA's is known before CUPTI reports "call 17 ran as a kernel from 10 to 20". Here both are kept
 * until they are matched. Does not use CUDA. */
#ifndef CUDA_MATCHING_H
#define CUDA_MATCHING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cuda_call { /* a call of CUDA's, made for an operation */
    uint64_t external_id;  /* whose: cupti_trace.c */
    uint32_t correlation;  /* CUPTI's number of the call */
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
    cuda_call *calls;
    cuda_record *records;
    size_t n_calls, cap_calls, n_records, cap_records;
    bool calls_unsorted, records_unsorted; /* by correlation */
    size_t n_lost; /* not kept for lack of memory, since the owner zeroed it */
} cuda_matching;

typedef void (*cuda_matched_fn)(void *ud, uint64_t external_id, const cuda_record *record);

/* Both copy what they are given; without memory it is lost and counted. */
void cuda_matching_add_call(cuda_matching *matching, uint64_t external_id, uint32_t correlation);
void cuda_matching_add_record(cuda_matching *matching, const cuda_record *record);

/* Gives fn each record whose call is known, and forgets all records: one without a call is
 * nobody's. The calls stay, since one may run as several kernels whose records come later. With
 * `all`, nothing more comes for the calls up to now, and the memory is freed. */
void cuda_matching_run(cuda_matching *matching, bool all, cuda_matched_fn fn, void *ud);

/* Forgets everything and frees the memory. */
void cuda_matching_clear(cuda_matching *matching);

#endif
