/* cuda_graph.c - captured graphs: what their nodes need, instantiating, updating, launching.
 *
 * A graph keeps what CUDA captured: an update compares with it, and recordings find their nodes by
 * it. What the nodes use besides the script's memory (workspaces, host functions) is counted apart
 * from the graph, since a launch in flight goes on with what it had when the graph is updated.
 */
#include "cuda.h"

#include <stdlib.h>

/* ---- what nodes need ---- */

cuda_needs *cuda_needs_new(cuda_device *dev)
{
    cuda_needs *needs = calloc(1, sizeof *needs);
    if (!needs) return NULL;
    needs->refs = 1;
    needs->device = dev;
    needs->launches_tail = &needs->launches;
    return needs;
}

static void free_fixed(cuda_needs *needs)
{
    while (needs->fixed) {
        cuda_fixed *fixed = needs->fixed;
        needs->fixed = fixed->next;
        if (fixed->workspace) cuda_block_give(needs->device, fixed->workspace);
        if (fixed->scratch) cuda_block_give(needs->device, fixed->scratch);
        free(fixed);
    }
}

void cuda_needs_release(cuda_needs *needs)
{
    if (!needs || --needs->refs > 0) return;
    free_fixed(needs);
    cuda_funcs_free(needs);
    free(needs);
}

/* ---- host functions and copies of pageable memory ---- */

static bool is_pageable(const sl_op *op)
{
    return op->span_flags & (SL_SPAN_SRC_PAGEABLE | SL_SPAN_DST_PAGEABLE);
}

static bool has_pageable(const sl_body *body)
{
    for (uint32_t i = 0; i < body->n_nodes; i++)
        if (is_pageable(body->nodes[i].op)) return true;
    return false;
}

/* Marks the nodes that come behind node `first`, and that one. */
static void mark_behind(const sl_body *body, uint32_t first, bool *marks)
{
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        const sl_node *node = &body->nodes[i];
        marks[i] = i == first;
        for (uint32_t k = 0; k < node->n_before && !marks[i]; k++)
            marks[i] = marks[body->before[node->first_before + k]];
    }
}

static sl_status would_deadlock(sl_error *err)
{
    return sl_fail(err, SL_EUNSUPPORTED,
                   "the graph has a host function and a copy to pageable memory that does not come "
                   "before it: a launch waits until such a copy is done, so that the function, "
                   "which runs on the same thread, could not run: copy to pinned memory");
}

/* A launch waits for copies to pageable memory; host functions run on the thread that it holds. */
static sl_status check_copy(const sl_body *body, uint32_t copy, bool *marks, sl_error *err)
{
    mark_behind(body, copy, marks);
    for (uint32_t i = 0; i < body->n_nodes; i++)
        if (body->nodes[i].op->work.kind == SL_WORK_HOST_FUNC && !marks[i])
            return would_deadlock(err);
    return SL_OK;
}

static sl_status check_funcs(const sl_body *body, uint32_t n_funcs, sl_error *err)
{
    sl_status status = SL_OK;
    if (n_funcs > CUDA_MOST_NODE_FUNCS)
        return sl_fail(err, SL_EUNSUPPORTED,
                       "the graph has %u host functions: its launch would wait for the first ones, "
                       "which run on the same thread; %d are possible",
                       (unsigned)n_funcs, CUDA_MOST_NODE_FUNCS);
    if (n_funcs == 0 || !has_pageable(body)) return SL_OK;
    bool *marks = calloc(body->n_nodes, sizeof *marks);
    if (!marks) return sl__no_memory(err, "a graph");
    for (uint32_t i = 0; i < body->n_nodes && status == SL_OK; i++)
        if (body->nodes[i].op->span_flags & SL_SPAN_DST_PAGEABLE)
            status = check_copy(body, i, marks, err);
    free(marks);
    return status;
}

/* ---- instantiating, updating, closing ---- */

static sl_status check_captured(const cuda_graph *graph, sl_error *err)
{
    return graph->handle ? SL_OK : sl_fail(err, SL_ESTATE, "the graph has not been captured");
}

/* Host functions are settled first: the driver may load kernels, which may wait for the device. */
sl_status cuda_graph_open(sl_graph *base, sl_error *err)
{
    cuda_graph *graph = (cuda_graph *)base;
    cuda_device *dev = cuda_of(base->device);
    const unsigned long long flags = base->priorities ? cudaGraphInstantiateFlagUseNodePriority : 0;
    sl_status status = check_captured(graph, err);
    if (status == SL_OK) status = check_funcs(base->body, graph->needs->n_funcs, err);
    if (status == SL_OK) status = cuda_funcs_settle(dev, err);
    if (status != SL_OK) return status;
    cuda_use(dev);
    cudaError_t code = cudaGraphInstantiateWithFlags(&graph->exec, graph->handle, flags);
    if (code == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        cuda_memory_trim(dev);
        cuda_use(dev);
        code = cudaGraphInstantiateWithFlags(&graph->exec, graph->handle, flags);
    }
    if (code != cudaSuccess) graph->exec = NULL;
    graph->pageable = has_pageable(base->body);
    return cuda_check(dev, code, "cudaGraphInstantiate", err);
}

static const char *why_not(enum cudaGraphExecUpdateResult result)
{
    switch (result) {
    case cudaGraphExecUpdateErrorTopologyChanged: return "the nodes' edges differ";
    case cudaGraphExecUpdateErrorNodeTypeChanged: return "a node is of another kind";
    case cudaGraphExecUpdateErrorFunctionChanged:
    case cudaGraphExecUpdateErrorUnsupportedFunctionChange:
        return "a kernel cannot be replaced by the new one";
    case cudaGraphExecUpdateErrorParametersChanged:
        return "a node's operands have changed in a way that CUDA does not permit";
    case cudaGraphExecUpdateErrorNotSupported: return "CUDA cannot update a node of this kind";
    case cudaGraphExecUpdateErrorAttributesChanged:
        return "a node's attributes have changed, its stream's priority for one";
    default: return "CUDA does not say why";
    }
}

sl_status cuda_graph_update(sl_graph *base, sl_graph *base_from, sl_error *err)
{
    cuda_graph *graph = (cuda_graph *)base, *from = (cuda_graph *)base_from;
    cuda_device *dev = cuda_of(base->device);
    cudaGraphExecUpdateResultInfo info = { .result = cudaGraphExecUpdateSuccess };
    sl_status status = check_captured(from, err);
    if (status == SL_OK) status = check_funcs(base_from->body, from->needs->n_funcs, err);
    if (status == SL_OK) status = cuda_funcs_settle(dev, err);
    if (status != SL_OK) return status;
    cuda_use(dev);
    cudaError_t code = cudaGraphExecUpdate(graph->exec, from->handle, &info);
    if (code == cudaErrorGraphExecUpdateFailure) {
        cudaGetLastError();
        sl_fail(err, SL_EUNSUPPORTED, "%s: capture a new graph", why_not(info.result));
        if (err) err->backend_code = (int)code;
        return SL_EUNSUPPORTED;
    }
    status = cuda_check(dev, code, "cudaGraphExecUpdate", err);
    if (status != SL_OK) return status;
    cuda_needs_release(graph->needs);
    graph->needs = from->needs;
    graph->needs->refs++;
    graph->pageable = has_pageable(base_from->body);
    return SL_OK;
}

/* Perhaps while another graph is captured: destroying one would spoil that capture. */
void cuda_graph_close(sl_graph *base)
{
    cuda_graph *graph = (cuda_graph *)base;
    cuda_use(cuda_of(base->device));
    cuda_own_begin();
    if (graph->exec) cudaGraphExecDestroy(graph->exec);
    if (graph->handle) cudaGraphDestroy(graph->handle);
    cudaGetLastError();
    cuda_own_end();
    cuda_needs_release(graph->needs);
    cuda_node_ids_release(graph->ids);
    free(graph->nodes);
}

/* ---- launching ---- */

bool cuda_graph_may_hold(const cuda_graph *graph)
{
    const int32_t n_funcs = (int32_t)graph->needs->n_funcs;
    return graph->pageable || (n_funcs > 0 && cuda_funcs_pending + n_funcs > CUDA_MOST_NODE_FUNCS);
}

/* With CUDA_LAUNCH_BLOCKING a launch returns when the graph has run, its host functions too. */
static sl_status check_launch(const cuda_device *dev, const cuda_needs *needs, sl_error *err)
{
    if (!dev->launches_block || needs->n_funcs == 0) return SL_OK;
    return sl_fail(err, SL_EUNSUPPORTED,
                   "CUDA_LAUNCH_BLOCKING makes the launch wait for the graph's host functions, "
                   "which run on the same thread");
}

static void note_launch(cuda_device *dev, cuda_op *op, cuda_launch *launch, cuda_needs *needs)
{
    *launch = (cuda_launch){ .needs = needs,
                             .seq = op->base.seq,
                             .number = needs->n_launched++,
                             .n_nodes = op->base.body->n_work };
    *needs->launches_tail = launch;
    needs->launches_tail = &launch->next;
    needs->refs++;
    dev->n_replayed += launch->n_nodes;
    op->launch = launch;
    cuda_funcs_launched(needs);
}

sl_status cuda_graph_launch(cuda_device *dev, cuda_op *op, sl_error *err)
{
    cuda_graph *graph = (cuda_graph *)op->base.graph;
    sl_status status = check_launch(dev, graph->needs, err);
    cuda_launch *launch = status != SL_OK ? NULL : malloc(sizeof *launch);
    if (status != SL_OK) return status;
    if (!launch) return sl__no_memory(err, "a launch of a graph");
    status = cuda_check(dev, cudaGraphLaunch(graph->exec, ((cuda_stream *)op->base.stream)->handle),
                        "cudaGraphLaunch", err);
    if (status != SL_OK)
        free(launch);
    else
        note_launch(dev, op, launch, graph->needs);
    return status;
}

/* Launches in different streams may be found to have completed in another order. */
void cuda_graph_launched(cuda_op *op)
{
    cuda_launch *launch = op->launch;
    cuda_needs *needs = launch->needs;
    cuda_launch **link = &needs->launches;
    while (*link != launch)
        link = &(*link)->next;
    *link = launch->next;
    if (!launch->next) needs->launches_tail = link;
    needs->device->n_replayed -= launch->n_nodes;
    free(launch);
    cuda_needs_release(needs);
}
