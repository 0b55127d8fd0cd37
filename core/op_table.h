/* op_table.h - all kinds of operations, a row each. From a row follow the kind's number
 * (SL_WORK_KERNEL, ...), what messages call it, CUDA's calls, and where and as what it is in
 * timelines. What a kind does is in switches that name all kinds: the compiler finds those that
 * lack a new one, and tests/00-kinds.t a `default:` that would hide it.
 */
#ifndef SL_OP_TABLE_H
#define SL_OP_TABLE_H

/* X(id, noun, call, sync call, span, engine):
 *   noun       of a node, in messages
 *   call       CUDA's function that enqueues it; the second one with SL_WORK_SYNC
 *   span       sl_span_kind; of a copy, the work says which; KINDS: none, it only orders others
 *   engine     where it runs, if the backend does not say more */
#define SL_WORK_TABLE(X)                                                                         \
    X(KERNEL, "a kernel", "cudaLaunchKernel", "cudaLaunchKernel", KERNEL, COMPUTE)               \
    X(MEMCPY, "a copy", "cudaMemcpyAsync", "cudaMemcpy", MEMCPY_D2D, COMPUTE)                    \
    X(MEMSET, "a memset", "cudaMemsetAsync", "cudaMemset", MEMSET, COMPUTE)                      \
    X(HOST_FUNC, "a host function", "cudaLaunchHostFunc", "cudaLaunchHostFunc", HOST_FUNC, HOST) \
    X(EVENT_RECORD, "an event", "cudaEventRecord", "cudaEventRecord", KINDS, COMPUTE)            \
    X(EVENT_WAIT, "an event", "cudaStreamWaitEvent", "cudaStreamWaitEvent", KINDS, COMPUTE)      \
    X(GRAPH, "a graph", "cudaGraphLaunch", "cudaGraphLaunch", KERNEL, COMPUTE)                   \
    X(COLLECTIVE, "a collective", "cudaLaunchKernel", "cudaLaunchKernel", COLLECTIVE, COMM)

typedef enum sl_work_kind {
#define X(id, noun, call, sync_call, span, engine) SL_WORK_##id,
    SL_WORK_TABLE(X)
#undef X
} sl_work_kind;

typedef struct sl_work_row {
    const char *noun, *call[2]; /* by whether it is SL_WORK_SYNC */
    sl_span_kind span;
    sl_engine engine;
} sl_work_row;

static inline const sl_work_row *sl_work_row_of(uint8_t kind)
{
    static const sl_work_row rows[] = {
#define X(id, noun, call, sync_call, span, engine) \
    { noun, { call, sync_call }, SL_SPAN_##span, SL_ENGINE_##engine },
        SL_WORK_TABLE(X)
#undef X
    };
    return &rows[kind];
}

#endif
