/* op_table.h - all kinds of operations, a row each. From a row follow the kind's number
 * (SL_WORK_KERNEL, ...), what messages call it, CUDA's calls, where and as what it is in timelines,
 * what orders others, and what it costs the host on the simulator. What a kind does is in switches
 * that name all kinds: the compiler finds those that lack a new one, and tests/00-kinds.t a
 * `default:` that would hide it.
 */
#ifndef SL_OP_TABLE_H
#define SL_OP_TABLE_H

/* X(id, name, noun, call, sync call, span, engine, point, does, cost):
 *   name       in messages about a lost device; NULL: the work says more
 *   noun       of a node, in messages
 *   call       CUDA's function that enqueues it; the second one with SL_WORK_SYNC
 *   span       sl_span_kind; of a copy, the work says which; KINDS: none, timelines have its call
 *   engine     where it runs, if the backend does not say more
 *   point      whether others come behind it (RECORD), it behind one of those (WAIT); NONE
 *   does       WORK, which is a node of a graph; ORDER: it only orders others, as edges do there
 *   cost       sl_cost_class: which figures of a profile say what its call costs */
#define SL_WORK_TABLE(X)                                                                          \
    X(KERNEL, NULL, "a kernel", "cudaLaunchKernel", "cudaLaunchKernel", KERNEL, COMPUTE, NONE,    \
      WORK, LAUNCH)                                                                               \
    X(MEMCPY, NULL, "a copy", "cudaMemcpyAsync", "cudaMemcpy", MEMCPY_D2D, COMPUTE, NONE, WORK,   \
      COPY)                                                                                       \
    X(MEMSET, "memset", "a memset", "cudaMemsetAsync", "cudaMemset", MEMSET, COMPUTE, NONE, WORK, \
      MEMSET)                                                                                     \
    X(HOST_FUNC, "host_func", "a host function", "cudaLaunchHostFunc", "cudaLaunchHostFunc",      \
      HOST_FUNC, HOST, NONE, WORK, HOST_FUNC)                                                     \
    X(EVENT_RECORD, "record_event", "an event", "cudaEventRecord", "cudaEventRecord", KINDS,      \
      COMPUTE, RECORD, ORDER, RECORD)                                                             \
    X(EVENT_WAIT, "wait_event", "an event", "cudaStreamWaitEvent", "cudaStreamWaitEvent", KINDS,  \
      COMPUTE, WAIT, ORDER, WAIT)                                                                 \
    X(WRITE_VALUE, "write_value", "a write of a value", "cuStreamWriteValue32",                   \
      "cuStreamWriteValue32", KINDS, COMPUTE, RECORD, WORK, WAIT)                                 \
    X(WAIT_VALUE, "wait_value", "a wait for a value", "cuStreamWaitValue32",                      \
      "cuStreamWaitValue32", KINDS, COMPUTE, WAIT, WORK, WAIT)                                    \
    X(GRAPH, "a graph", "a graph", "cudaGraphLaunch", "cudaGraphLaunch", KERNEL, COMPUTE, NONE,   \
      WORK, GRAPH)                                                                                \
    X(COLLECTIVE, NULL, "a collective", "cudaLaunchKernel", "cudaLaunchKernel", COLLECTIVE, COMM, \
      NONE, WORK, COLLECTIVE)

typedef enum sl_work_kind {
#define X(id, ...) SL_WORK_##id,
    SL_WORK_TABLE(X)
#undef X
} sl_work_kind;

typedef enum sl_point { SL_POINT_NONE, SL_POINT_RECORD, SL_POINT_WAIT } sl_point;

typedef enum sl_cost_class {
    SL_COST_LAUNCH,
    SL_COST_COPY,
    SL_COST_MEMSET,
    SL_COST_HOST_FUNC,
    SL_COST_RECORD,
    SL_COST_WAIT,
    SL_COST_GRAPH,
    SL_COST_COLLECTIVE
} sl_cost_class;

typedef struct sl_work_row {
    const char *name, *noun, *call[2]; /* by whether it is SL_WORK_SYNC */
    sl_span_kind span;
    sl_engine engine;
    sl_point point;
    bool is_work;
    sl_cost_class cost;
} __attribute__((aligned(64))) sl_work_row; /* found by a shift */

static inline const sl_work_row *sl_work_row_of(uint8_t kind)
{
    enum { ORDER, WORK };
    static const sl_work_row rows[] = {
#define X(id, name, noun, call, sync_call, span, engine, point, does, cost) \
    { name,                                                                 \
      noun,                                                                 \
      { call, sync_call },                                                  \
      SL_SPAN_##span,                                                       \
      SL_ENGINE_##engine,                                                   \
      SL_POINT_##point,                                                     \
      does,                                                                 \
      SL_COST_##cost },
        SL_WORK_TABLE(X)
#undef X
    };
    return &rows[kind];
}

#endif
