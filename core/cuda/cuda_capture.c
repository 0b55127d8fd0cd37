/* cuda_capture.c - captures that go on, and which of CUDA's nodes an operation became.
 *
 * CUDA captures what is launched into a stream that takes part; here is noted what it makes of
 * that. An operation may become several nodes (a split matmul), or none (a record, a wait). They
 * are what the stream's next node would come behind after the operation, and all before these up to
 * what it would have come behind before the operation.
 */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

typedef struct node_set {
    cudaGraphNode_t *at;
    size_t n, cap;
} node_set;

struct cuda_capture {
    cuda_capture *next;    /* in the device's list */
    unsigned long long id; /* CUDA's */
    cuda_stream *origin;
    cuda_needs *needs;
    cuda_node *nodes;
    uint32_t n_nodes;
    size_t cap_nodes;
    node_set before; /* what the stream's next node comes behind */
    node_set found;  /* what one node comes behind */
    bool incomplete; /* without memory for its nodes: they have no times in recordings */
};

/* ---- what CUDA says ---- */

typedef struct capture_info {
    enum cudaStreamCaptureStatus status;
    unsigned long long id;
    const cudaGraphNode_t *nodes; /* CUDA's, until the next call with the stream */
    size_t n_nodes;
} capture_info;

static cudaError_t ask(const cuda_stream *stream, capture_info *info)
{
    cudaGraph_t graph;
    const cudaGraphEdgeData *edges;
    *info = (capture_info){ .status = cudaStreamCaptureStatusNone };
#if CUDART_VERSION >= 13000
    return cudaStreamGetCaptureInfo(stream->handle, &info->status, &info->id, &graph, &info->nodes,
                                    &edges, &info->n_nodes);
#elif CUDART_VERSION >= 12030
    return cudaStreamGetCaptureInfo_v3(stream->handle, &info->status, &info->id, &graph,
                                       &info->nodes, &edges, &info->n_nodes);
#else
    (void)edges;
    return cudaStreamGetCaptureInfo_v2(stream->handle, &info->status, &info->id, &graph,
                                       &info->nodes, &info->n_nodes);
#endif
}

/* With NULL only *n is set. */
static cudaError_t dependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                cudaGraphEdgeData *edges, size_t *n)
{
#if CUDART_VERSION >= 13000
    return cudaGraphNodeGetDependencies(node, nodes, edges, n);
#elif CUDART_VERSION >= 12030
    return cudaGraphNodeGetDependencies_v2(node, nodes, edges, n);
#else
    (void)edges;
    return cudaGraphNodeGetDependencies(node, nodes, n);
#endif
}

/* ---- sets of nodes ---- */

static bool has(const node_set *set, cudaGraphNode_t node)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->at[i] == node) return true;
    return false;
}

static bool reserve(node_set *set, size_t n) { return SL__GROW(set->at, set->cap, n); }

static bool copy_nodes(node_set *set, const cudaGraphNode_t *nodes, size_t n)
{
    set->n = 0;
    if (!reserve(set, n)) return false;
    if (n > 0) memcpy(set->at, nodes, n * sizeof *nodes);
    set->n = n;
    return true;
}

static bool copy_dependencies(node_set *set, cudaGraphNode_t node)
{
    size_t n = 0;
    set->n = 0;
    if (dependencies(node, NULL, NULL, &n) || !reserve(set, n)) return false;
    if (n == 0) return true;
    cudaGraphEdgeData *edges = calloc(n, sizeof *edges);
    bool known = edges && !dependencies(node, set->at, edges, &n);
    free(edges);
    if (known) set->n = n;
    return known;
}

/* ---- the nodes of an operation ---- */

/* Among the nodes from `first` on, those of the operation. */
static bool is_known(const cuda_capture *capture, uint32_t first, cudaGraphNode_t node)
{
    for (uint32_t i = first; i < capture->n_nodes; i++)
        if (capture->nodes[i].handle == node) return true;
    return has(&capture->before, node);
}

static bool add(cuda_capture *capture, cudaGraphNode_t node, const sl_op *op)
{
    if (!SL__GROW(capture->nodes, capture->cap_nodes, (size_t)capture->n_nodes + 1)) return false;
    capture->nodes[capture->n_nodes++] = (cuda_node){ .handle = node, .op = op };
    return true;
}

static bool add_new(cuda_capture *capture, uint32_t first, const cudaGraphNode_t *nodes, size_t n,
                    const sl_op *op)
{
    for (size_t i = 0; i < n; i++)
        if (!is_known(capture, first, nodes[i]) && !add(capture, nodes[i], op)) return false;
    return true;
}

static bool note_nodes(cuda_capture *capture, const cuda_stream *stream, const sl_op *op)
{
    const uint32_t first = capture->n_nodes;
    capture_info info;
    if (ask(stream, &info) || !add_new(capture, first, info.nodes, info.n_nodes, op)) return false;
    for (uint32_t i = first; i < capture->n_nodes; i++)
        if (!copy_dependencies(&capture->found, capture->nodes[i].handle)
            || !add_new(capture, first, capture->found.at, capture->found.n, op))
            return false;
    return true;
}

/* ---- an operation ---- */

static cuda_capture *find(const cuda_device *dev, unsigned long long id)
{
    cuda_capture *capture = dev->captures;
    while (capture && capture->id != id)
        capture = capture->next;
    return capture;
}

static cuda_fixed *fixed_of(cuda_needs *needs, const cuda_stream *stream)
{
    cuda_fixed *fixed = needs->fixed;
    while (fixed && fixed->stream != stream)
        fixed = fixed->next;
    if (fixed || !(fixed = calloc(1, sizeof *fixed))) return fixed;
    fixed->stream = stream;
    fixed->next = needs->fixed;
    needs->fixed = fixed;
    return fixed;
}

static void exchange(cuda_stream *stream, cuda_fixed *fixed)
{
    cuda_block *workspace = stream->workspace, *scratch = stream->scratch;
    stream->workspace = fixed->workspace;
    stream->scratch = fixed->scratch;
    fixed->workspace = workspace;
    fixed->scratch = scratch;
}

static const char *call_of(const sl_work *work)
{
    return work->kind == SL_WORK_KERNEL && work->kernel == SL_KERNEL_MATMUL
               ? "cublasLtMatmul"
               : sl_work_row_of(work->kind)->call[0];
}

static sl_status out_of_memory(sl_error *err) { return sl__no_memory(err, "a capture"); }

/* For an invalidated capture the driver has the same answer to every call; cuBLAS would hide it. */
sl_status cuda_capture_before(sl_op *op, cuda_capture **out, sl_error *err)
{
    cuda_stream *stream = (cuda_stream *)op->stream;
    cuda_device *dev = cuda_of(op->stream->device);
    capture_info info;
    sl_status status = cuda_check(dev, ask(stream, &info), "cudaStreamGetCaptureInfo", err);
    if (status != SL_OK) return status;
    if (info.status == cudaStreamCaptureStatusInvalidated)
        return cuda_check(dev, cudaErrorStreamCaptureInvalidated, call_of(&op->work), err);
    cuda_capture *capture = find(dev, info.id);
    if (!capture)
        return sl_fail(err, SL_EBACKEND, "%s: the driver does not capture the stream",
                       call_of(&op->work));
    cuda_fixed *fixed = fixed_of(capture->needs, stream);
    if (!fixed || !copy_nodes(&capture->before, info.nodes, info.n_nodes))
        return out_of_memory(err);
    exchange(stream, fixed);
    dev->capturing = capture->needs;
    *out = capture;
    return SL_OK;
}

void cuda_capture_after(sl_op *op, cuda_capture *capture, bool enqueued)
{
    cuda_stream *stream = (cuda_stream *)op->stream;
    exchange(stream, fixed_of(capture->needs, stream));
    capture->needs->device->capturing = NULL;
    if (enqueued && !note_nodes(capture, stream, op)) {
        capture->incomplete = true;
        cudaGetLastError();
    }
}

/* ---- begin, end ---- */

static void close_capture(cuda_capture *capture)
{
    cuda_needs_release(capture->needs);
    free(capture->nodes);
    free(capture->before.at);
    free(capture->found.at);
    free(capture);
}

static enum cudaStreamCaptureMode mode_of(sl_capture_mode mode)
{
    return mode == SL_CAPTURE_GLOBAL         ? cudaStreamCaptureModeGlobal
           : mode == SL_CAPTURE_THREAD_LOCAL ? cudaStreamCaptureModeThreadLocal
                                             : cudaStreamCaptureModeRelaxed;
}

sl_status cuda_capture_begin(sl_stream *base, sl_capture_mode mode, sl_error *err)
{
    cuda_stream *stream = (cuda_stream *)base;
    cuda_device *dev = cuda_of(base->device);
    cuda_capture *capture = calloc(1, sizeof *capture);
    if (capture) capture->needs = cuda_needs_new(dev);
    if (!capture || !capture->needs) {
        free(capture);
        return out_of_memory(err);
    }
    capture_info info = { .id = 0 };
    cuda_use(dev);
    sl_status status = cuda_check(dev, cudaStreamBeginCapture(stream->handle, mode_of(mode)),
                                  "cudaStreamBeginCapture", err);
    if (status == SL_OK)
        status = cuda_check(dev, ask(stream, &info), "cudaStreamGetCaptureInfo", err);
    if (status != SL_OK) {
        close_capture(capture);
        return status;
    }
    capture->origin = stream;
    capture->id = info.id;
    capture->next = dev->captures;
    dev->captures = capture;
    cuda_captures++;
    return SL_OK;
}

static cuda_capture *take_out(cuda_device *dev, const cuda_stream *origin)
{
    for (cuda_capture **link = &dev->captures; *link; link = &(*link)->next) {
        cuda_capture *capture = *link;
        if (capture->origin != origin) continue;
        *link = capture->next;
        cuda_captures--;
        return capture;
    }
    return NULL;
}

/* The graph gets the nodes and what they need. */
static void hand_over(cuda_capture *capture, cuda_graph *graph)
{
    const sl_body *body = graph->base.body;
    for (uint32_t i = 0; i < body->n_nodes; i++)
        ((cuda_op *)body->nodes[i].op)->node = i;
    for (uint32_t i = 0; i < capture->n_nodes; i++)
        capture->nodes[i].index = ((const cuda_op *)capture->nodes[i].op)->node;
    graph->nodes = capture->nodes;
    graph->n_nodes = capture->n_nodes;
    graph->needs = capture->needs;
    graph->needs->refs++;
    capture->nodes = NULL;
}

sl_status cuda_capture_end(sl_stream *base, sl_graph *graph, sl_error *err)
{
    cuda_stream *stream = (cuda_stream *)base;
    cuda_device *dev = cuda_of(base->device);
    cuda_capture *capture = take_out(dev, stream);
    cudaGraph_t handle = NULL;
    cuda_use(dev);
    cudaError_t code = cudaStreamEndCapture(stream->handle, &handle);
    sl_status status = SL_OK;
    if (!graph)
        cudaGetLastError();
    else
        status = cuda_check(dev, code, "cudaStreamEndCapture", err);
    if (graph && status == SL_OK && capture) {
        hand_over(capture, (cuda_graph *)graph);
        ((cuda_graph *)graph)->handle = handle;
    } else if (code == cudaSuccess && handle) {
        cudaGraphDestroy(handle);
    }
    if (capture) close_capture(capture);
    if (dev->late_frees && !dev->captures) cuda_memory_free_late(dev);
    return status;
}

sl_status cuda_capture_status(sl_stream *base, sl_capture_status *status, sl_error *err)
{
    enum cudaStreamCaptureStatus now = cudaStreamCaptureStatusNone;
    cuda_device *dev = cuda_of(base->device);
    cuda_use(dev);
    cudaError_t code = cudaStreamIsCapturing(((cuda_stream *)base)->handle, &now);
    *status = now == cudaStreamCaptureStatusActive        ? SL_CAPTURE_STATUS_ACTIVE
              : now == cudaStreamCaptureStatusInvalidated ? SL_CAPTURE_STATUS_INVALIDATED
                                                          : SL_CAPTURE_STATUS_NONE;
    return cuda_check(dev, code, "cudaStreamIsCapturing", err);
}

/* ---- for the rest of the backend ---- */

static bool is_invalidated(const cuda_stream *stream)
{
    enum cudaStreamCaptureStatus now = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream->handle, &now) == cudaSuccess
           && now == cudaStreamCaptureStatusInvalidated;
}

/* An invalidated capture is not spoiled further by a question. */
sl_status cuda_capture_explain(cuda_device *dev, cuda_stream *stream, const char *call,
                               sl_error *err)
{
    const cuda_capture *capture = dev->captures;
    while (capture && !is_invalidated(capture->origin))
        capture = capture->next;
    if (!capture) return SL_OK;
    if (stream && stream->base.branch)
        return cuda_check(dev, cudaErrorStreamCaptureInvalidated, call, err);
    return cuda_check(dev,
                      stream && stream->base.legacy ? cudaErrorStreamCaptureImplicit
                                                    : cudaErrorStreamCaptureUnsupported,
                      call, err);
}
