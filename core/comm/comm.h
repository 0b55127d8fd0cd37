/* comm.h - the public interface of communicators: collectives between GPUs, as NCCL has them.
 * Included by streamlab.h.
 *
 * A communicator has ranks, each of which is one GPU. An sl_comm is one rank of it, as in NCCL. A
 * process has all ranks of a communicator, each with a device of its own (sl_comm_create), or one
 * of them, while other processes have the others (sl_comm_join).
 *
 * A collective is one operation in a stream of each rank. It begins when all ranks have reached it,
 * and every rank must call the same ones in the same order. No call here waits for the device but
 * creating, joining, freeing and aborting.
 */
#ifndef SL_COMM_H
#define SL_COMM_H

/* X(ID, name, NCCL's function) */
#define SL_COLLECTIVE_TABLE(X)                               \
    X(ALL_REDUCE, "all_reduce", "ncclAllReduce")             \
    X(ALL_GATHER, "all_gather", "ncclAllGather")             \
    X(REDUCE_SCATTER, "reduce_scatter", "ncclReduceScatter") \
    X(BROADCAST, "broadcast", "ncclBroadcast")               \
    X(SEND, "send", "ncclSend")                              \
    X(RECV, "recv", "ncclRecv")
typedef enum sl_collective {
#define X(id, name, nccl_name) SL_##id,
    SL_COLLECTIVE_TABLE(X)
#undef X
        SL_COLLECTIVES
} sl_collective;
const char *sl_collective_name(sl_collective collective);      /* "all_reduce" */
const char *sl_collective_nccl_name(sl_collective collective); /* "ncclAllReduce" */

/* In NCCL's order. The result of AVG is divided by the number of ranks; of whole numbers it is cut
 * off towards zero. */
typedef enum sl_reduction { SL_SUM, SL_PROD, SL_MAX, SL_MIN, SL_AVG, SL_REDUCTIONS } sl_reduction;
const char *sl_reduction_name(sl_reduction reduction); /* "sum" */
bool sl_reduction_parse(const char *name, sl_reduction *reduction);

typedef struct sl_comm sl_comm;

/* Which communicator a process joins: made by one of the processes, brought to all others. */
enum { SL_COMM_ID_BYTES = 128, SL_MOST_RANKS = 65536 };
typedef struct sl_comm_id {
    char bytes[SL_COMM_ID_BYTES];
} sl_comm_id;

typedef struct sl_comm_options {
    int channels;      /* blocks of a collective's kernel; 0: the library chooses */
    bool copy_engines; /* NCCL_CTA_POLICY_ZERO. NCCL 2.28.9 obeys only in symmetric windows */
} sl_comm_options;

/* Ranks 0 to n - 1, rank i on devices[i]. The caller owns comms[0] to comms[n - 1]. Blocks: tens of
 * milliseconds to seconds on real GPUs. SL_EINVAL, SL_EDEVICE: a device comes twice, or they are of
 * two backends. SL_EUNSUPPORTED: there is no NCCL, or it is too old, or cannot do what `options`
 * say. `options` may be NULL. */
sl_status sl_comm_create(sl_device *const *devices, size_t n, const sl_comm_options *options,
                         sl_comm **comms, sl_error *err);

/* An id for the processes of a new communicator. SL_EUNSUPPORTED of a simulated GPU, whose ranks
 * are all in one process. */
sl_status sl_comm_make_id(sl_device *device, sl_comm_id *id, sl_error *err);
/* Rank `rank` of `size`. Blocks until all ranks have joined. */
sl_status sl_comm_join(sl_device *device, int rank, int size, const sl_comm_id *id,
                       const sl_comm_options *options, sl_comm **comm, sl_error *err);

/* The same by way of a file that all processes see: rank 0 makes the id and writes it there (beside
 * its name, then renamed), the others wait for the file, at most `timeout_s` seconds. When all have
 * joined, rank 0 removes it. SL_EIO: it cannot be written or read, or is a leftover; SL_ESTATE:
 * rank 0 has not written it in that time; SL_EINTERRUPT. */
sl_status sl_comm_join_by_file(sl_device *device, int rank, int size, const char *path,
                               double timeout_s, const sl_comm_options *options, sl_comm **comm,
                               sl_error *err);

/* Rank and size of this process as Slurm, Open MPI or another MPI gives them in the environment
 * (SLURM_PROCID and SLURM_NTASKS, OMPI_COMM_WORLD_RANK and _SIZE, PMI_RANK and PMI_SIZE, RANK and
 * WORLD_SIZE of torchrun). SL_ENOTFOUND: none of them is set; SL_EINVAL: one is, and makes no
 * sense.
 */
sl_status sl_comm_rank_here(int *rank, int *size, sl_error *err);

sl_comm *sl_comm_retain(sl_comm *comm);
/* Never blocks: a communicator with collectives in flight goes when they have completed. */
void sl_comm_release(sl_comm *comm);

/* Frees all ranks of the communicator that this process has; every later use fails with SL_ECLOSED.
 * SL_ESTATE: collectives are in flight (err->msg names a rank): synchronise first. Freeing it again
 * fails with SL_ECLOSED, too. */
sl_status sl_comm_free(sl_comm *comm, sl_error *err);
/* The same while collectives are in flight: they end without their results, also those that wait
 * for a rank that never comes (ncclCommAbort). */
sl_status sl_comm_abort(sl_comm *comm, sl_error *err);

bool sl_comm_is_freed(const sl_comm *comm);
int sl_comm_rank(const sl_comm *comm);
int sl_comm_size(const sl_comm *comm);
sl_device *sl_comm_device(const sl_comm *comm); /* borrowed */
/* How many ranks this process has; the i-th of them, from 0: borrowed; NULL once it is freed. */
int sl_comm_local_count(const sl_comm *comm);
sl_comm *sl_comm_local(const sl_comm *comm, int i);

/* What one rank does. In elements, with n of them given by each rank:
 *   all_reduce      out[n] = in_0[n] op in_1[n] op ...
 *   all_gather      out[size * n] = in_0[n], in_1[n], ...
 *   reduce_scatter  of in[size * n], reduced over all ranks, rank r gets part r: out[n]
 *   broadcast       out[n] = in[n] of rank `peer`
 *   send            in[n] goes to rank `peer`
 *   recv            out[n] = what rank `peer` sends
 * `in` and `out` may be the same tensor where they have the same size; of all_gather and
 * reduce_scatter the smaller one may be the rank's own part of the larger one; else they lie
 * apart. Of broadcast both are the rank's tensor, of send and recv the other one is NULL. */
typedef struct sl_comm_call {
    sl_comm *comm;
    sl_collective collective;
    sl_reduction reduction; /* of all_reduce and reduce_scatter */
    sl_tensor *in, *out;
    int peer; /* root, destination or source */
    sl_stream *stream;
    const char
        *name; /* what the caller calls it; NULL: nothing. Ranks of this process that meet must
                       * not give two names */
} sl_comm_call;

/* Enqueues what `n` ranks do, as one group (ncclGroupStart, ncclGroupEnd). Asynchronous. Before
 * anything is enqueued all is checked that this process can know; err->msg names the rank that is
 * wrong. SL_ESHAPE: sizes do not fit, in a rank or between two; SL_EDTYPE, SL_EPLACE, SL_EDEVICE,
 * SL_ECLOSED; SL_EINVAL: an unknown rank, or two ranks of this process that call different
 * collectives, or give different names, where they should meet. SL_ESTATE: a rank of this process
 * has no part in it, on a real GPU (NCCL would wait for it in this call). */
sl_status sl_comm_call_all(const sl_comm_call *calls, size_t n, sl_error *err);

/* Between begin and end, which nest, calls are checked and kept, and the outermost end enqueues
 * them as one group, in order. They may be of several communicators of one backend. Other
 * operations are enqueued at once, so that they come before the group's. abort is an end that
 * forgets what the group has so far. */
void sl_comm_group_begin(void);
sl_status sl_comm_group_end(sl_error *err);
void sl_comm_group_abort(void);

#endif
