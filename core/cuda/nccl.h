/* nccl.h - communicators: a part of cuda.h, which includes it. NCCL is opened at run time, and its
 * header is not needed to build: what is used of it is declared here.
 *
 *   nccl.c             opening the library, its functions, its errors
 *   cuda_comm.c        communicators: made, closed, aborted
 *   cuda_collective.c  what ranks do, enqueued as one group
 */
#ifndef CUDA_NCCL_H
#define CUDA_NCCL_H

#include "cuda.h"

typedef struct ncclComm *cuda_nccl_comm;
typedef struct cuda_nccl_id {
    char bytes[SL_COMM_ID_BYTES];
} cuda_nccl_id;

/* ncclConfig_t as of 2.28. An older library gets the first part of it: it grows at its end. */
typedef struct cuda_nccl_config {
    size_t size;
    unsigned magic, version;
    int blocking;
    int cga_cluster_size, min_ctas, max_ctas; /* from 2.17 on */
    const char *net_name;
    int split_share;
    int traffic_class;
    const char *comm_name;
    int collnet_enable;
    int cta_policy;
    int shrink_share, nvls_ctas, channels_per_net_peer, nvlink_centric_sched;
} cuda_nccl_config;

enum { /* ncclResult_t */
       CUDA_NCCL_SUCCESS = 0,
       CUDA_NCCL_CUDA_ERROR = 1,
       CUDA_NCCL_IN_PROGRESS = 7
};

/* clang-format off */
#define CUDA_NCCL_FUNCTIONS(X)                                                                 \
    X(GetVersion, (int *))                                                                     \
    X(GetUniqueId, (cuda_nccl_id *))                                                           \
    X(CommInitRank, (cuda_nccl_comm *, int, cuda_nccl_id, int))                                \
    X(CommDestroy, (cuda_nccl_comm))                                                           \
    X(CommAbort, (cuda_nccl_comm))                                                             \
    X(CommGetAsyncError, (cuda_nccl_comm, int *))                                              \
    X(GroupStart, (void))                                                                      \
    X(GroupEnd, (void))                                                                        \
    X(AllReduce, (const void *, void *, size_t, int, int, cuda_nccl_comm, cudaStream_t))       \
    X(AllGather, (const void *, void *, size_t, int, cuda_nccl_comm, cudaStream_t))            \
    X(ReduceScatter, (const void *, void *, size_t, int, int, cuda_nccl_comm, cudaStream_t))   \
    X(Broadcast, (const void *, void *, size_t, int, int, cuda_nccl_comm, cudaStream_t))       \
    X(Send, (const void *, size_t, int, int, cuda_nccl_comm, cudaStream_t))                    \
    X(Recv, (void *, size_t, int, int, cuda_nccl_comm, cudaStream_t))
/* clang-format on */

typedef struct cuda_nccl { /* nccl->AllReduce is ncclAllReduce */
#define X(name, args) int(*name) args;
    CUDA_NCCL_FUNCTIONS(X)
#undef X
    const char *(*GetErrorString)(int);
    /* NULL in releases before: 2.13, 2.14 */
    const char *(*GetLastError)(cuda_nccl_comm);
    int (*CommInitRankConfig)(cuda_nccl_comm *, int, cuda_nccl_id, int, cuda_nccl_config *);
    int version; /* 22809: 2.28.9 */
} cuda_nccl;

typedef struct cuda_comm {
    sl_comm base;
    cuda_nccl_comm handle; /* NULL once it is closed */
} cuda_comm;

/* ---- nccl.c ---------------------------------------------------------------- */

/* The library, opened at the first call and kept. NULL: *err says why there is none. */
const cuda_nccl *cuda_nccl_open(sl_error *err);
/* What NCCL reported of a call, as a status with a sentence; SL_EFAULT if it is that a device of
 * the communicator is lost. */
sl_status cuda_nccl_check(const cuda_comm *comm, int code, const char *call, sl_error *err);

/* ---- cuda_comm.c ----------------------------------------------------------- */

sl_status cuda_comm_id(sl_device *device, sl_comm_id *id, sl_error *err);
/* For a host that waits: fails if a communicator has failed meanwhile, of which another process may
 * have gone. Does not block. */
sl_status cuda_comm_ask(sl_error *err);

/* ---- cuda_collective.c ----------------------------------------------------- */

sl_status cuda_comm_enqueue(sl_op *const *ops, size_t n, sl_error *err);

#endif
