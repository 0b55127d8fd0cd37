/* fake_graphs.c - the part of CUDA's run-time that captures streams and launches graphs, as CUDA's
 * documents and measurements on an H200 have it: which calls a capture refuses and which spoil it.
 *
 * A capture's streams have one list of nodes; each node comes behind the last one of its stream and
 * what its stream waits for. A launch runs the nodes in the order of their capture.
 */
#include "fake_graphs.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BEFORE = 8, MOST_NODES = 256, MOST_STREAMS = 8, MOST_CAPTURES = 8 };

struct CUgraphNode_st {
    fake_node does;
    cudaGraphNode_t before[MOST_BEFORE];
    int n_before;
    uint32_t id;
    cudaGraph_t graph;
};

struct CUgraph_st {
    uint32_t id;
    struct CUgraphNode_st nodes[MOST_NODES];
    int n;
};

struct CUgraphExec_st {
    fake_node nodes[MOST_NODES];
    int n, running;
    cudaGraphExec_t next; /* among those that were destroyed in a launch, by a loss */
};

typedef struct branch {
    const fake_stream *stream;
    cudaGraphNode_t before[MOST_BEFORE];
    int n_before;
} branch;

typedef struct capture {
    uint64_t id; /* 0: none */
    enum cudaStreamCaptureMode mode;
    bool invalidated;
    cudaGraph_t graph;
    branch branches[MOST_STREAMS]; /* the first is the origin's */
    int n;
} capture;

/* What was recorded in a capture: an event's mark is its index + 1. */
typedef struct mark {
    uint64_t capture;
    cudaGraphNode_t before[MOST_BEFORE];
    int n_before;
} mark;

static fake_cudart_state *const state = &fake_cudart;
static capture captures[MOST_CAPTURES];
static mark marks[1024];
static size_t n_marks;
static uint64_t last_id;
static cudaGraphExec_t late; /* a thread may still be in them */
static enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

static branch *find_branch(const fake_stream *stream, capture **of)
{
    for (int c = 0; c < MOST_CAPTURES; c++)
        for (int i = 0; captures[c].id && i < captures[c].n; i++)
            if (captures[c].branches[i].stream == stream) {
                *of = &captures[c];
                return &captures[c].branches[i];
            }
    return NULL;
}

static capture *find_capture(uint64_t id)
{
    for (int i = 0; i < MOST_CAPTURES; i++)
        if (id && captures[i].id == id) return &captures[i];
    return NULL;
}

static cudaError_t spoil(capture *c, cudaError_t code)
{
    c->invalidated = true;
    return fake_answer(code);
}

/* ---- what a capture takes ---- */

bool fake_capture_takes(const fake_stream *stream, fake_node does, cudaError_t *code)
{
    capture *c;
    branch *b = find_branch(stream, &c);
    if (!b) return false;
    *code = fake_lost()      ? fake_answer(fake_lost())
            : c->invalidated ? fake_answer(cudaErrorStreamCaptureInvalidated)
                             : cudaSuccess;
    if (*code) return true;
    if (c->graph->n == MOST_NODES) abort();
    cudaGraphNode_t node = &c->graph->nodes[c->graph->n];
    *node = (struct CUgraphNode_st){
        .does = does, .n_before = b->n_before, .id = (uint32_t)c->graph->n++, .graph = c->graph
    };
    memcpy(node->before, b->before, sizeof node->before);
    b->before[0] = node;
    b->n_before = 1;
    return true;
}

bool fake_capture_records(const fake_stream *stream, uint64_t *which, cudaError_t *code)
{
    capture *c;
    branch *b = find_branch(stream, &c);
    *which = 0;
    if (!b) return false;
    *code = c->invalidated ? fake_answer(cudaErrorStreamCaptureInvalidated) : cudaSuccess;
    marks[n_marks] = (mark){ .capture = c->id, .n_before = b->n_before };
    memcpy(marks[n_marks].before, b->before, sizeof b->before);
    *which = ++n_marks;
    return true;
}

bool fake_capture_waits(fake_stream *stream, uint64_t which, cudaError_t *code)
{
    capture *c = which ? find_capture(marks[which - 1].capture) : NULL, *own = NULL;
    branch *b = find_branch(stream, &own);
    *code = cudaSuccess;
    if (b && !c) {
        *code = own->invalidated ? fake_answer(cudaErrorStreamCaptureInvalidated)
                                 : spoil(own, cudaErrorStreamCaptureIsolation);
        return true;
    }
    if (!c) {
        if (which) *code = fake_answer(cudaErrorInvalidValue);
        return which != 0;
    }
    if (!b) {
        b = &c->branches[c->n++];
        *b = (branch){ .stream = stream };
    }
    const mark *m = &marks[which - 1];
    for (int i = 0; i < m->n_before; i++) {
        bool known = false;
        for (int k = 0; k < b->n_before; k++)
            known = known || b->before[k] == m->before[i];
        if (!known) b->before[b->n_before++] = m->before[i];
    }
    return true;
}

cudaError_t fake_capture_asks_event(uint64_t which)
{
    capture *c = which ? find_capture(marks[which - 1].capture) : NULL;
    if (c) return spoil(c, cudaErrorCapturedEvent);
    return which ? fake_answer(cudaErrorInvalidValue) : fake_unsafe(NULL);
}

cudaError_t fake_capture_times_event(uint64_t which)
{
    bool goes_on = which && find_capture(marks[which - 1].capture);
    return fake_answer(goes_on ? cudaErrorCapturedEvent
                       : which ? cudaErrorInvalidValue
                               : cudaSuccess);
}

cudaError_t fake_unsafe(const fake_stream *stream)
{
    capture *of;
    cudaError_t code = cudaSuccess;
    if (stream && find_branch(stream, &of)) return spoil(of, cudaErrorStreamCaptureUnsupported);
    if (thread_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
    for (int i = 0; i < MOST_CAPTURES; i++)
        if (captures[i].id && captures[i].mode != cudaStreamCaptureModeRelaxed)
            code = spoil(&captures[i], cudaErrorStreamCaptureUnsupported);
    return code;
}

cudaError_t fake_unsafe_device(void)
{
    cudaError_t code = cudaSuccess;
    for (int i = 0; i < MOST_CAPTURES; i++)
        if (captures[i].id) code = spoil(&captures[i], cudaErrorStreamCaptureUnsupported);
    return code;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    enum cudaStreamCaptureMode was = thread_mode;
    thread_mode = *mode;
    *mode = was;
    return cudaSuccess;
}

/* ---- captures ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, enum cudaStreamCaptureMode mode)
{
    capture *c = captures, *of;
    if (!handle || handle == cudaStreamLegacy)
        return fake_answer(cudaErrorStreamCaptureUnsupported);
    if (find_branch((fake_stream *)handle, &of)) return fake_answer(cudaErrorIllegalState);
    if (fake_lost()) return fake_answer(fake_lost());
    while (c->id)
        c++;
    *c = (capture){ .id = ++last_id, .mode = mode, .n = 1 };
    c->graph = calloc(1, sizeof *c->graph);
    c->graph->id = (uint32_t)last_id;
    c->branches[0].stream = (fake_stream *)handle;
    state->graphs++;
    return cudaSuccess;
}

/* A fork is joined when the origin comes behind the last node of it. */
static bool is_behind(cudaGraphNode_t later, cudaGraphNode_t node)
{
    if (later == node) return true;
    for (int i = 0; i < later->n_before; i++)
        if (is_behind(later->before[i], node)) return true;
    return false;
}

static bool is_joined(const capture *c, const branch *b)
{
    const branch *origin = &c->branches[0];
    for (int i = 0; i < b->n_before; i++) {
        bool joined = false;
        for (int k = 0; k < origin->n_before; k++)
            joined = joined || is_behind(origin->before[k], b->before[i]);
        if (!joined) return false;
    }
    return true;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph)
{
    capture *c;
    cudaError_t code = cudaSuccess;
    branch *b = find_branch((fake_stream *)handle, &c);
    *graph = NULL;
    if (!b) return fake_answer(cudaErrorIllegalState);
    for (int i = 1; i < c->n; i++)
        if (!is_joined(c, &c->branches[i])) code = cudaErrorStreamCaptureUnjoined;
    if (c->invalidated) code = cudaErrorStreamCaptureInvalidated;
    if (fake_lost()) code = fake_lost();
    if (code) {
        free(c->graph);
        state->graphs--;
    } else {
        *graph = c->graph;
    }
    c->id = 0;
    return fake_answer(code);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, enum cudaStreamCaptureStatus *status)
{
    capture *c;
    *status = !find_branch((fake_stream *)handle, &c) ? cudaStreamCaptureStatusNone
              : c->invalidated                        ? cudaStreamCaptureStatusInvalidated
                                                      : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

static cudaError_t capture_info(cudaStream_t handle, enum cudaStreamCaptureStatus *status,
                                unsigned long long *id, cudaGraph_t *graph,
                                const cudaGraphNode_t **before, size_t *n)
{
    capture *c = NULL;
    branch *b = find_branch((fake_stream *)handle, &c);
    cudaStreamIsCapturing(handle, status);
    if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
    *id = c->id;
    *graph = c->graph;
    *before = b->before;
    *n = (size_t)b->n_before;
    return cudaSuccess;
}

static cudaError_t dependencies(cudaGraphNode_t node, cudaGraphNode_t *before, size_t *n)
{
    if (before) memcpy(before, node->before, *n * sizeof *before);
    *n = (size_t)node->n_before;
    return cudaSuccess;
}

#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **before,
                                     const cudaGraphEdgeData **edges, size_t *n)
{
    *edges = NULL;
    return capture_info(stream, status, id, graph, before, n);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *before,
                                         cudaGraphEdgeData *edges, size_t *n)
{
    (void)edges;
    return dependencies(node, before, n);
}
#elif CUDART_VERSION >= 12030
cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **before,
                                        const cudaGraphEdgeData **edges, size_t *n)
{
    *edges = NULL;
    return capture_info(stream, status, id, graph, before, n);
}

cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *before,
                                            cudaGraphEdgeData *edges, size_t *n)
{
    (void)edges;
    return dependencies(node, before, n);
}
#else
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **before, size_t *n)
{
    return capture_info(stream, status, id, graph, before, n);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *before, size_t *n)
{
    return dependencies(node, before, n);
}
#endif

/* ---- graphs ---- */

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                          unsigned long long flags)
{
    cudaError_t code = fake_unsafe(NULL);
    if (code) return code;
    *exec = calloc(1, sizeof **exec);
    for (int i = 0; i < graph->n; i++)
        (*exec)->nodes[i] = graph->nodes[i].does;
    (*exec)->n = graph->n;
    state->instantiate_flags = flags;
    state->execs++;
    return fake_enter();
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    if (exec->running && !fake_lost()) state->misuses++;
    state->execs--;
    fake_unsafe(NULL);
    if (exec->running) {
        exec->next = late;
        late = exec;
    } else {
        free(exec);
    }
    return fake_enter();
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    free(graph);
    state->graphs--;
    return fake_enter();
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info)
{
    info->result = state->update_result;
    if (state->update_result == cudaGraphExecUpdateSuccess && exec->n != graph->n)
        info->result = cudaGraphExecUpdateErrorTopologyChanged;
    if (info->result) return fake_answer(cudaErrorGraphExecUpdateFailure);
    for (int i = 0; i < graph->n; i++)
        exec->nodes[i] = graph->nodes[i].does;
    return fake_enter();
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    fake_node *nodes = malloc(sizeof exec->nodes);
    memcpy(nodes, exec->nodes, sizeof exec->nodes);
    state->graph_launches++;
    return fake_replay(stream, nodes, exec->n, &exec->running);
}

void fake_graphs_forget(void)
{
    while (late) {
        cudaGraphExec_t gone = late;
        late = gone->next;
        free(gone);
    }
    memset(captures, 0, sizeof captures);
    n_marks = 0;
    thread_mode = cudaStreamCaptureModeGlobal;
}
