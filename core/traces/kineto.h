/* kineto.h - what the writer and the reader of traces have to agree on.
 *
 * What other tools have no keys for stands under keys of our own, so that reading the file
 * gives the same timeline again (kineto_read.c). Each is left out where it is 0, false, or
 * follows from the rest. Streams are numbered as in "tid".
 *   header     "streamlab": {"version", "backend", "device", "profile", "simulated",
 *              "pytorch", "recorded", "nsys" (not by our recorder), "played", "async_engines",
 *              "recording_ns": sl_recording_costs.work_ns,
 *              "priorities": [least, greatest], "start_ns", "wall_ns": the host's interval, where
 *              0 of the times lies and how long it is,
 *              "range": {"low_ns", "high_ns", "runs", "swapped", "earlier", "later"}: sl_range,
 *              "streams": [{"id": 1 for tid 8, "name", "priority", "non_blocking",
 *              "number" of a stream that another program numbered, "context", "is_null"}],
 *              "threads": [{"id", "caller", "name"}]: sl_host_thread, of other programs,
 *              "sources": {"x.lua:3": the text of that line}}
 *   cuda_runtime and host_work slices
 *              "loc" of the event, "where" of its args: position in the script;
 *              "host waited": SL_SPAN_HOST_WAITED; "queue full": SL_SPAN_QUEUE_FULL, or
 *              queue_full of a record or wait; "loaded": SL_SPAN_LOADED;
 *              "waited for device" of a host API call; "thread": of the host, but for the first;
 *              "device us": device_ns of a record or wait; "in stream": the call's
 *              stream where no cuda_sync slice has it (records; waits without a record);
 *              "waits for", "recorded in": a wait's target and its stream if the record
 *              is not in this file
 *   kernel, gpu_memcpy, gpu_memset, and the cpu_op of a host function (its number is its
 *              "External id")
 *              "kernel": the kernel's own name (symbol); "guessed": SL_SPAN_GUESSED; "kind",
 *              "engine": where they do not follow from cat and name, and from the kind; "memory":
 *              "Pageable -> Device", where the flags do not follow from the name
 *   nodes of graphs   "graph id" and "graph node id" are kineto's. Without a call of its own an
 *              operation has, as kineto's have, the "correlation" of the graph's launch; "issue" is
 *              its own number, and "where" and the flags of calls are among its own args.
 *              "launched by": the launch, where "correlation" is not its number (host functions)
 *              "captured priority" is that of the stream it was captured in. A launch has "graph",
 *              the graph's name, "nodes", how many it has, "last issue", the number of the last
 *              that it ran, "keeps priorities", "uploads": sl_launch_note
 *   graph_edge instants (ph "i"): captured records and waits, with the args of their calls, their
 *              number as "External id", and "launched by"
 *   collectives   PyTorch's keys, "Rank", "Seq", "Reduction", and "met us", "late by", "late rank"
 *   copies from one GPU to another   kineto's "fromDevice", "toDevice"
 *   holds      of a span among the device's args, of a record or wait among the call's:
 *              "ready us", "held cause", "held by" (ready_cause, ready_by), "start
 *              cause", "start by"; causes by their names (sl_cause_name)
 *   cpu_op, python_function and user_annotation slices on rows from SL__RANGE_TID on
 *              are ranges of the host: "range", its kind (sl_host_range_kind_name), "thread", as
 *              that of a call; of operators that make or run a node of autograd kineto's
 *              "Sequence number", and "Fwd thread id" 1 of those in the backward pass, where
 *              kineto has a thread's number
 *   any slice that had to be moved (kineto_write.c)
 *              "own ts", "own dur": its real times
 */
#ifndef SL_TRACES_KINETO_H
#define SL_TRACES_KINETO_H

#include "../timeline/timeline.h"

#define SL__FIRST_STREAM 7                 /* CUPTI's number of the default stream */
#define SL__HOST_PID 4242                  /* the host's process in our files */
#define SL__EDGE "graph_edge"              /* category of captured records and waits */
#define SL__SAMPLE "[memory]"              /* name of what an allocator says */
#define SL__RANGE_TID 1100000              /* there: rows of ranges, */
#define SL__RANGE_ROWS 900000              /* as many as there can be */
#define SL__RANGE "range"                  /* among args: the kind of one */
#define SL__NODE "Sequence number"         /* of an operator the number of its node, and */
#define SL__FORWARD_THREAD "Fwd thread id" /* above 0 in the backward pass */
#define SL__MODULE "nn.Module: "  /* how names of modules begin among functions in Python */
#define SL__HOST_FUNC_TID 2000000 /* a row of host functions there: plus the stream's number */

/* As torch.distributed calls collectives on the way to NCCL, and dtypes. */
extern const char *const sl__torch_collectives[SL_COLLECTIVES];
extern const char *const sl__torch_dtypes[SL_DTYPES];

/* Whether a kernel's name is one that a library for communication gives its own. */
bool sl__names_collective(const char *kernel);

/* The engine that does work of a kind unless a file says otherwise. */
static inline sl_engine sl__usual_engine(sl_span_kind kind)
{
    switch (kind) {
    case SL_SPAN_COLLECTIVE: return SL_ENGINE_COMM;
    case SL_SPAN_MEMCPY_H2D: return SL_ENGINE_H2D;
    case SL_SPAN_MEMCPY_D2H: return SL_ENGINE_D2H;
    case SL_SPAN_MEMCPY_P2P: return SL_ENGINE_P2P;
    case SL_SPAN_HOST_FUNC: return SL_ENGINE_HOST;
    case SL_SPAN_KERNEL:
    case SL_SPAN_MEMCPY_D2D:
    case SL_SPAN_MEMSET:
    case SL_SPAN_KINDS: break;
    }
    return SL_ENGINE_COMPUTE;
}

#endif
