/* cuda_graphs.h - captures and graphs: a part of cuda.h, which includes it. */
#ifndef CUDA_GRAPHS_H
#define CUDA_GRAPHS_H

#include "cuda.h"

/* Memory for the nodes that were captured in one stream. A replay may run beside the stream's own
 * work, so it has its own. */
typedef struct cuda_fixed {
    struct cuda_fixed *next;
    const cuda_stream *stream; /* while the capture goes on */
    cuda_block *workspace, *scratch;
} cuda_fixed;

/* What the nodes of a graph use, until neither the graph nor a launch in flight needs it. */
struct cuda_needs {
    int32_t refs;
    cuda_device *device;
    cuda_fixed *fixed;
    cuda_node_func *funcs;
    uint32_t n_funcs;
    cuda_launch *launches, **launches_tail; /* in flight, the oldest first */
    uint64_t n_launched;
};

struct cuda_launch {
    cuda_launch *next; /* of cuda_needs.launches */
    cuda_needs *needs;
    uint64_t seq, number; /* of the operation; how many launches with these needs were before */
    int64_t n_nodes;
};

typedef struct cuda_node { /* CUDA's; an operation may be several */
    cudaGraphNode_t handle;
    union {
        const sl_op *op; /* while the capture goes on */
        uint32_t index;  /* in the body */
    };
} cuda_node;

typedef struct cuda_graph {
    sl_graph base;
    cudaGraph_t handle;   /* as captured; NULL: the capture failed */
    cudaGraphExec_t exec; /* NULL until instantiated */
    cuda_needs *needs;
    /* Those of `handle`. An update changes what `exec` does, not its nodes. */
    cuda_node *nodes;
    uint32_t n_nodes;
    cuda_node_ids *ids; /* of them, for recordings; NULL until needed */
    bool pageable;      /* it has a copy of pageable memory */
} cuda_graph;

/* ---- cuda_capture.c -------------------------------------------------------- */

/* Around the calls that make nodes of `op`, in the stream of a capture. Between them the stream has
 * the memory of the graph. after: also when the enqueueing failed, with false; not when before
 * failed. */
sl_status cuda_capture_before(sl_op *op, cuda_capture **capture, sl_error *err);
void cuda_capture_after(sl_op *op, cuda_capture *capture, bool enqueued);
/* Whether the driver refuses to be asked about the stream, and may spoil a capture then: the NULL
 * stream would have to wait for a captured stream, unless that is non-blocking. */
static inline bool cuda_capture_hides(const cuda_stream *stream)
{
    return cuda_captures > 0 && (stream->base.branch || stream->base.legacy);
}
/* cuBLAS has failed and does not say why: a sentence, if a capture was the cause. SL_OK: it was
 * not. `stream` may be NULL. */
sl_status cuda_capture_explain(cuda_device *dev, cuda_stream *stream, const char *call,
                               sl_error *err);

/* ---- cuda_graph.c ---------------------------------------------------------- */

sl_status cuda_graph_launch(cuda_device *dev, cuda_op *op, sl_error *err);
/* cudaGraphLaunch waits when more host functions behind kernels have been launched than the driver
 * keeps for a stream: on an H200 28 to 31 before the first one has run, of functions with no kernel
 * between them any number (tests/cuda/held_launches.cu). They run on the thread that it would
 * hold. */
enum { CUDA_MOST_NODE_FUNCS = 28 };
/* Whether its launch may hold the host now: it copies pageable memory, or has host functions. */
bool cuda_graph_may_hold(const cuda_graph *graph);
/* The launch has completed, or is lost. */
void cuda_graph_launched(cuda_op *op);

/* Without anything yet, with one reference. NULL: out of host memory. */
cuda_needs *cuda_needs_new(cuda_device *dev);
void cuda_needs_release(cuda_needs *needs);

/* ---- host_funcs.c ---------------------------------------------------------- */

/* A host function in a capture: it belongs to `needs`, and runs at each launch. */
sl_status cuda_funcs_capture(cuda_op *op, cuda_needs *needs, sl_error *err);
/* A launch of a graph with host functions is in flight. */
void cuda_funcs_launched(const cuda_needs *needs);
/* No launch uses the host functions any more. */
void cuda_funcs_free(cuda_needs *needs);

/* ---- graph_times.c --------------------------------------------------------- */

/* A host function of a graph has run. `seq`: as in sl_activity. */
void cuda_activity_func_ran(const cuda_device *dev, uint64_t seq, int64_t start_ns, int64_t end_ns);
/* For the graph's end. */
void cuda_node_ids_release(cuda_node_ids *ids);

#endif
