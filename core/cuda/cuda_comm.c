/* cuda_comm.c - communicators: ranks of this process, connected by NCCL. */
#include "nccl.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    UNDEFINED = INT_MIN,
    CONFIG_VERSION = 22800, /* what cuda_nccl_config is */
    HAS_CHANNELS = 21700,
    HAS_POLICY = 22800,
    POLICY_ZERO = 2
};

/* Open ones, for cuda_comm_ask: the handles that have not been closed. */
enum { MOST_ASKED = 64 };
static cuda_comm *asked[MOST_ASKED];
static int n_asked;

static cuda_comm *rank_at(const sl_comm_ranks *ranks, int i) { return (cuda_comm *)ranks->rank[i]; }

/* ---- making ---- */

sl_status cuda_comm_id(sl_device *device, sl_comm_id *id, sl_error *err)
{
    const cuda_nccl *nccl = cuda_nccl_open(err);
    cuda_nccl_id made;
    if (!nccl) return SL_EUNSUPPORTED;
    cuda_use(cuda_of(device));
    sl_status status = cuda_nccl_check(NULL, nccl->GetUniqueId(&made), "ncclGetUniqueId", err);
    if (status == SL_OK) memcpy(id, &made, sizeof *id);
    return status;
}

static sl_status check_options(const cuda_nccl *nccl, const sl_comm_options *options, sl_error *err)
{
    const int major = nccl->version / 10000, minor = nccl->version / 100 % 100;
    if (options->channels && nccl->version < HAS_CHANNELS)
        return sl_fail(err, SL_EUNSUPPORTED,
                       "NCCL %d.%d does not let a communicator choose its channels: 2.17 does",
                       major, minor);
    if (options->copy_engines && nccl->version < HAS_POLICY)
        return sl_fail(err, SL_EUNSUPPORTED,
                       "NCCL %d.%d has no policy for copy engines (NCCL_CTA_POLICY_ZERO): 2.28 has",
                       major, minor);
    return SL_OK;
}

static cuda_nccl_config config_of(const cuda_nccl *nccl, const sl_comm_options *options)
{
    const int channels = options->channels ? options->channels : UNDEFINED;
    const bool is_new = nccl->version >= CONFIG_VERSION;
    return (cuda_nccl_config){
        .size = is_new ? sizeof(cuda_nccl_config) : offsetof(cuda_nccl_config, split_share),
        .magic = 0xcafebeef,
        .version = is_new ? CONFIG_VERSION : HAS_CHANNELS,
        .blocking = 1,
        .cga_cluster_size = UNDEFINED,
        .min_ctas = channels,
        .max_ctas = channels,
        .split_share = UNDEFINED,
        .traffic_class = UNDEFINED,
        .collnet_enable = UNDEFINED,
        .cta_policy = options->copy_engines ? POLICY_ZERO : UNDEFINED,
        .shrink_share = UNDEFINED,
        .nvls_ctas = UNDEFINED,
        .channels_per_net_peer = UNDEFINED,
        .nvlink_centric_sched = UNDEFINED,
    };
}

static int open_rank(const cuda_nccl *nccl, cuda_comm *comm, cuda_nccl_id id)
{
    const sl_comm_options *options = &comm->base.all->options;
    const int size = comm->base.all->size, rank = comm->base.rank;
    cuda_use(cuda_of(comm->base.device));
    if (!options->channels && !options->copy_engines)
        return nccl->CommInitRank(&comm->handle, size, id, rank);
    cuda_nccl_config config = config_of(nccl, options);
    return nccl->CommInitRankConfig(&comm->handle, size, id, rank, &config);
}

/* One thread has several ranks, so NCCL must be given all before it waits for any. */
static sl_status open_all(const cuda_nccl *nccl, const sl_comm_ranks *ranks, cuda_nccl_id id,
                          sl_error *err)
{
    sl_status status = cuda_nccl_check(NULL, nccl->GroupStart(), "ncclGroupStart", err);
    if (status != SL_OK) return status;
    for (int i = 0; i < ranks->n && status == SL_OK; i++)
        status = cuda_nccl_check(NULL, open_rank(nccl, rank_at(ranks, i), id), "ncclCommInitRank",
                                 err);
    int code = nccl->GroupEnd();
    cuda_use_again();
    return status != SL_OK ? status : cuda_nccl_check(NULL, code, "ncclCommInitRank", err);
}

static void ask_later(const sl_comm_ranks *ranks)
{
    for (int i = 0; i < ranks->n && n_asked < MOST_ASKED; i++)
        asked[n_asked++] = rank_at(ranks, i);
}

static void ask_no_more(const cuda_comm *comm)
{
    int kept = 0;
    for (int i = 0; i < n_asked; i++)
        if (asked[i] != comm) asked[kept++] = asked[i];
    n_asked = kept;
}

sl_status cuda_comm_open(sl_comm_ranks *ranks, const sl_comm_id *id, sl_error *err)
{
    const cuda_nccl *nccl = cuda_nccl_open(err);
    cuda_nccl_id common;
    sl_status status = nccl ? check_options(nccl, &ranks->options, err) : SL_EUNSUPPORTED;
    if (status == SL_OK) status = cuda_funcs_settle_all(err);
    if (status != SL_OK) return status;
    cuda_own_begin();
    if (id)
        memcpy(&common, id, sizeof common);
    else
        status = cuda_nccl_check(NULL, nccl->GetUniqueId(&common), "ncclGetUniqueId", err);
    if (status == SL_OK) status = open_all(nccl, ranks, common, err);
    cuda_own_end();
    if (status == SL_OK)
        ask_later(ranks);
    else
        cuda_comm_abort(ranks);
    return status;
}

/* ---- the end ---- */

static void end_rank(const cuda_nccl *nccl, cuda_comm *comm, bool abort)
{
    if (!comm->handle) return;
    ask_no_more(comm);
    cuda_use(cuda_of(comm->base.device));
    if (abort || comm->base.device->fault.status)
        nccl->CommAbort(comm->handle);
    else
        nccl->CommDestroy(comm->handle);
    comm->handle = NULL;
    cuda_use_again();
}

static void end_all(sl_comm_ranks *ranks, bool abort)
{
    const cuda_nccl *nccl = cuda_nccl_open(NULL);
    if (!nccl) return;
    cuda_own_begin();
    for (int i = 0; i < ranks->n; i++)
        end_rank(nccl, rank_at(ranks, i), abort);
    cudaGetLastError();
    cuda_own_end();
}

void cuda_comm_close(sl_comm_ranks *ranks) { end_all(ranks, false); }

void cuda_comm_abort(sl_comm_ranks *ranks)
{
    end_all(ranks, true);
    for (int i = 0; i < ranks->n; i++)
        cuda_queue_poll(cuda_of(ranks->rank[i]->device));
}

/* ---- failures that come later ---- */

static sl_status ask_rank(const cuda_nccl *nccl, const cuda_comm *comm, sl_error *err)
{
    int code = CUDA_NCCL_SUCCESS;
    char call[48];
    if (nccl->CommGetAsyncError(comm->handle, &code) != CUDA_NCCL_SUCCESS
        || code == CUDA_NCCL_SUCCESS || code == CUDA_NCCL_IN_PROGRESS)
        return SL_OK;
    snprintf(call, sizeof call, "the communicator has failed on rank %d", comm->base.rank);
    return cuda_nccl_check(comm, code, call, err);
}

sl_status cuda_comm_ask(sl_error *err)
{
    const cuda_nccl *nccl = n_asked ? cuda_nccl_open(NULL) : NULL;
    sl_status status = SL_OK;
    for (int i = 0; i < n_asked && status == SL_OK; i++)
        status = ask_rank(nccl, asked[i], err);
    return status;
}
