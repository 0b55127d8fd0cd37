/* fake_nccl.c - a played NCCL: it checks how it is called, and launches kernels that compute nothing.
 * One thread has all ranks of a process, so a collective outside of a group would hang. */
#include "fake_nccl.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fake_nccl_state fake_nccl = { .version = 22809 };

static fake_nccl_state *const state = &fake_nccl;

typedef struct ncclComm {
    int rank, size;
    bool open;
} ncclComm;

typedef struct id {
    char bytes[128];
} id;

typedef struct config { /* as of 2.28 */
    size_t size;
    unsigned magic, version;
    int blocking, cga_cluster_size, min_ctas, max_ctas;
    const char *net_name;
    int split_share, traffic_class;
    const char *comm_name;
    int collnet_enable, cta_policy;
} config;

enum { MOST_QUEUED = 64 };
static cudaStream_t queued[MOST_QUEUED];
static int n_queued, depth, in_init;

static int answer(int *code)
{
    int given = *code;
    *code = 0;
    return given;
}

/* ---- communicators ---- */

int ncclGetVersion(int *version);
int ncclGetVersion(int *version)
{
    *version = state->version;
    return 0;
}

int ncclGetUniqueId(id *made);
int ncclGetUniqueId(id *made)
{
    memset(made, 5, sizeof *made);
    return 0;
}

static int open_comm(ncclComm **comm, int size, const id *given, int rank)
{
    int code = answer(&state->fail_init);
    if (given->bytes[0] != 5 || rank < 0 || rank >= size) state->misuses++;
    if (depth == 0) state->misuses++;
    in_init = 1;
    if (code) return code;
    *comm = calloc(1, sizeof **comm);
    **comm = (ncclComm){ rank, size, true };
    state->comms++;
    return 0;
}

int ncclCommInitRank(ncclComm **comm, int size, id given, int rank);
int ncclCommInitRank(ncclComm **comm, int size, id given, int rank)
{
    state->config_bytes = 0;
    return open_comm(comm, size, &given, rank);
}

int ncclCommInitRankConfig(ncclComm **comm, int size, id given, int rank, const config *c);
int ncclCommInitRankConfig(ncclComm **comm, int size, id given, int rank, const config *c)
{
    if (c->magic != 0xcafebeef || c->blocking != 1 || c->min_ctas != c->max_ctas) state->misuses++;
    state->config_bytes = c->size;
    state->channels = c->min_ctas == INT_MIN ? 0 : c->min_ctas;
    state->policy = c->size > offsetof(config, cta_policy) && c->cta_policy != INT_MIN
                        ? c->cta_policy
                        : 0;
    return open_comm(comm, size, &given, rank);
}

static int end_comm(ncclComm *comm)
{
    if (!comm->open) state->misuses++;
    comm->open = false;
    state->comms--;
    free(comm);
    return 0;
}

int ncclCommDestroy(ncclComm *comm);
int ncclCommDestroy(ncclComm *comm)
{
    state->destroys++;
    return end_comm(comm);
}

int ncclCommAbort(ncclComm *comm);
int ncclCommAbort(ncclComm *comm)
{
    state->aborts++;
    return end_comm(comm);
}

int ncclCommGetAsyncError(ncclComm *comm, int *code);
int ncclCommGetAsyncError(ncclComm *comm, int *code)
{
    if (!comm->open) state->misuses++;
    *code = state->async_error;
    return 0;
}

const char *ncclGetErrorString(int code);
const char *ncclGetErrorString(int code)
{
    return code == 1   ? "unhandled cuda error"
           : code == 6 ? "remote process exited or there was a network error"
                       : "internal error";
}

const char *ncclGetLastError(ncclComm *comm);
const char *ncclGetLastError(ncclComm *comm)
{
    (void)comm;
    return "the last words";
}

/* ---- groups ---- */

int ncclGroupStart(void);
int ncclGroupStart(void)
{
    depth++;
    return 0;
}

int ncclGroupEnd(void);
int ncclGroupEnd(void)
{
    int code = in_init ? 0 : answer(&state->fail_ends);
    if (--depth < 0) state->misuses++;
    in_init = 0;
    state->groups++;
    for (int i = 0; i < n_queued && !code; i++)
        if (state->launch && state->launch(queued[i]) != cudaSuccess) code = 1;
    n_queued = 0;
    return code;
}

/* ---- collectives ---- */

static int take(const char *name, const ncclComm *comm, size_t n, int type, const char *more,
                int which, cudaStream_t stream)
{
    size_t length = strlen(state->log);
    int code = answer(&state->fail_calls);
    if (depth == 0 || !comm->open || n_queued == MOST_QUEUED) state->misuses++;
    snprintf(state->log + length, sizeof state->log - length, "%s rank %d n %zu type %d%s%d;", name,
             comm->rank, n, type, more, which);
    if (!code) queued[n_queued++] = stream;
    return code;
}

/* In place or not, as 0 or 1. */
static int is_apart(const void *in, const void *out) { return in != out; }

int ncclAllReduce(const void *in, void *out, size_t n, int type, int op, ncclComm *comm,
                  cudaStream_t stream);
int ncclAllReduce(const void *in, void *out, size_t n, int type, int op, ncclComm *comm,
                  cudaStream_t stream)
{
    return take(is_apart(in, out) ? "AllReduce apart" : "AllReduce", comm, n, type, " op ", op,
                stream);
}

int ncclAllGather(const void *in, void *out, size_t n, int type, ncclComm *comm,
                  cudaStream_t stream);
int ncclAllGather(const void *in, void *out, size_t n, int type, ncclComm *comm,
                  cudaStream_t stream)
{
    return take("AllGather", comm, n, type, " apart ", is_apart(in, out), stream);
}

int ncclReduceScatter(const void *in, void *out, size_t n, int type, int op, ncclComm *comm,
                      cudaStream_t stream);
int ncclReduceScatter(const void *in, void *out, size_t n, int type, int op, ncclComm *comm,
                      cudaStream_t stream)
{
    (void)in, (void)out;
    return take("ReduceScatter", comm, n, type, " op ", op, stream);
}

int ncclBroadcast(const void *in, void *out, size_t n, int type, int root, ncclComm *comm,
                  cudaStream_t stream);
int ncclBroadcast(const void *in, void *out, size_t n, int type, int root, ncclComm *comm,
                  cudaStream_t stream)
{
    if (in != out) state->misuses++;
    return take("Broadcast", comm, n, type, " root ", root, stream);
}

int ncclSend(const void *in, size_t n, int type, int peer, ncclComm *comm, cudaStream_t stream);
int ncclSend(const void *in, size_t n, int type, int peer, ncclComm *comm, cudaStream_t stream)
{
    (void)in;
    return take("Send", comm, n, type, " to ", peer, stream);
}

int ncclRecv(void *out, size_t n, int type, int peer, ncclComm *comm, cudaStream_t stream);
int ncclRecv(void *out, size_t n, int type, int peer, ncclComm *comm, cudaStream_t stream)
{
    (void)out;
    return take("Recv", comm, n, type, " from ", peer, stream);
}
