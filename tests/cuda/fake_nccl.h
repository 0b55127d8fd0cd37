/* fake_nccl.h - what fake_nccl.c, a played NCCL, has seen, and what a test sets. A test finds it in the library
 * as the symbol fake_nccl. */
#ifndef FAKE_NCCL_H
#define FAKE_NCCL_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

enum { FAKE_NCCL_LOG = 4096 };

typedef struct fake_nccl_state {
    /* Seen. */
    int comms;               /* open */
    int aborts, destroys;    /* so far */
    int groups;              /* that have ended */
    int misuses;             /* calls that NCCL would hang in, or that name what is closed */
    int channels, policy;    /* of the latest configuration, 0: not given */
    size_t config_bytes;     /* its size, 0: none */
    char log[FAKE_NCCL_LOG]; /* of each call in a group "AllReduce rank 0 n 4 type 7 op 0;" */
    /* Set by a test. */
    cudaError_t (*launch)(cudaStream_t stream); /* a kernel; NULL: nothing is launched */
    int version;
    int fail_init, fail_calls, fail_ends; /* the code of the next such call */
    int async_error;                      /* of all communicators */
} fake_nccl_state;

#endif
