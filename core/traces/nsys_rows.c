/* nsys_rows.c - the rows of a report of Nsight Systems that are CUPTI's records. */
#include "nsys_report.h"

#include <stdio.h>

#include "../base.h"
#include "../timeline/store.h"

/* Times count from the start of the session. What began before has less; what is 0 has none. */
#define SESSION_NS INT64_C(3600000000000)

/* ---- values ---- */

uint32_t sl__nsys_number(const sl__rows *rows, int column, uint32_t otherwise)
{
    const int64_t value = sl__rows_whole(rows, column, -1);
    return value >= 0 && value < UINT32_MAX ? (uint32_t)value : otherwise;
}

uint64_t sl__nsys_size(const sl__rows *rows, int column)
{
    return (uint64_t)sl__max(sl__rows_whole(rows, column, 0), INT64_C(0));
}

/* Of three columns, from `column` on; 0: it is more than `most`, or unknown. */
static uint32_t product(const sl__rows *rows, int column, uint32_t most)
{
    uint64_t n = 1;
    for (int i = 0; i < 3; i++) {
        n *= sl__nsys_number(rows, column + i, 0);
        if (n > most) return 0;
    }
    return (uint32_t)n;
}

uint64_t sl__nsys_moment(const sl__rows *rows, int column)
{
    const int64_t ns = sl__rows_whole(rows, column, INT64_MIN);
    if (ns <= -SESSION_NS || ns >= INT64_MAX / 4) return 0;
    return (uint64_t)(ns + SESSION_NS);
}

uint64_t sl__nsys_time(const sl__rows *rows, int column)
{
    const uint64_t ns = sl__nsys_moment(rows, column);
    return ns == SESSION_NS ? 0 : ns;
}

/* Processes number those that they see. Where two mean different ones by a number, that of the
 * machine holds for all. */
uint32_t sl__nsys_device(const sl__nsys_report *r, const sl__nsys_process *m, uint32_t cuda)
{
    for (size_t i = 0; r->are_apart && i < r->n_gpus; i++)
        if (r->gpus[i].cuda == cuda && r->gpus[i].pid == (uint32_t)(m->global & 0xffffff))
            return r->gpus[i].gpu;
    return cuda;
}

/* CUPTI's number of a node has its graph's in the upper half. */
static void take_node(const sl__rows *rows, int graph, int node, uint32_t *to_graph,
                      uint32_t *to_node)
{
    const uint64_t number_of_node = sl__nsys_size(rows, node);
    *to_node = (uint32_t)number_of_node;
    *to_graph = graph >= 0 ? sl__nsys_number(rows, graph, 0) : 0;
    if (*to_graph == 0) *to_graph = (uint32_t)(number_of_node >> 32);
}

/* ---- one row ---- */

/* The first columns of operations. */
#define OPERATION_COLUMNS \
    "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"
enum { START, END, DEVICE, CONTEXT, STREAM, CORRELATION, PROCESS, OWN };

#define TAKE_OPERATION(record, rows)                                                 \
    do {                                                                             \
        (record).start_ns = sl__nsys_time((rows), START);                            \
        (record).end_ns = sl__nsys_time((rows), END);                                \
        (record).device = sl__nsys_device(r, m, sl__nsys_number((rows), DEVICE, 0)); \
        (record).context = sl__nsys_number((rows), CONTEXT, 0);                      \
        (record).stream = sl__nsys_number((rows), STREAM, 0);                        \
        (record).correlation = sl__nsys_number((rows), CORRELATION, 0);              \
    } while (0)

/* An operation says on which device its context is. */
static sl_status note_context(sl__nsys_process *m, uint32_t id, uint32_t device, sl_error *err)
{
    spool_context context = { .kind = SPOOL_CONTEXT, .context = id, .device = device };
    for (int i = 0; i < m->n_contexts; i++)
        if (m->contexts[i] == id) return SL_OK;
    if (m->n_contexts == SL__NSYS_CONTEXTS) return SL_OK;
    m->contexts[m->n_contexts++] = id;
    return SL__NSYS_HAND_OVER(m, context, context, err);
}

static const char *const kernel_columns[] = { OPERATION_COLUMNS,
                                              "demangledName",
                                              "shortName",
                                              "registersPerThread",
                                              "staticSharedMemory",
                                              "dynamicSharedMemory",
                                              "graphNodeId",
                                              "graphId",
                                              "gridX",
                                              "gridY",
                                              "gridZ",
                                              "blockX",
                                              "blockY",
                                              "blockZ",
                                              NULL };

static sl_status take_kernel(sl__nsys_report *r, sl__rows *rows, sl__nsys_process *m, sl_error *err)
{
    enum { NAME = OWN, SHORT, REGISTERS, STATIC, DYNAMIC, NODE, GRAPH, GRID, BLOCK = GRID + 3 };
    const uint64_t shared = (uint64_t)sl__nsys_number(rows, STATIC, 0)
                            + sl__nsys_number(rows, DYNAMIC, 0);
    spool_kernel kernel = { .kind = SPOOL_KERNEL,
                            .threads = (uint16_t)product(rows, BLOCK, UINT16_MAX),
                            .blocks = product(rows, GRID, UINT32_MAX),
                            .registers = (uint16_t)sl__min(sl__nsys_number(rows, REGISTERS, 0),
                                                           (uint32_t)UINT16_MAX),
                            .shared_bytes = (uint32_t)sl__min(shared, (uint64_t)UINT32_MAX) };
    TAKE_OPERATION(kernel, rows);
    take_node(rows, GRAPH, NODE, &kernel.graph, &kernel.node);
    sl_status status = sl__nsys_string(&r->strings, rows, NAME, &kernel.name, err);
    if (status == SL_OK && kernel.name == 0)
        status = sl__nsys_string(&r->strings, rows, SHORT, &kernel.name, err);
    if (status == SL_OK) status = note_context(m, kernel.context, kernel.device, err);
    return status == SL_OK ? SL__NSYS_HAND_OVER(m, kernel, kernel, err) : status;
}

static const char *const copy_columns[] = { OPERATION_COLUMNS, "bytes",       "copyKind",
                                            "srcKind",         "dstKind",     "srcDeviceId",
                                            "dstDeviceId",     "graphNodeId", NULL };

/* Pages of managed memory that move are in no stream. */
static sl_status take_copy(sl__nsys_report *r, sl__rows *rows, sl__nsys_process *m, sl_error *err)
{
    enum { BYTES = OWN, KIND, FROM, TO, FROM_DEVICE, TO_DEVICE, NODE };
    spool_copy copy = { .kind = SPOOL_COPY,
                        .direction = sl__nsys_direction(&r->enums, sl__rows_whole(rows, KIND, 0)),
                        .from = sl__nsys_memory(&r->enums, sl__rows_whole(rows, FROM, -1)),
                        .to = sl__nsys_memory(&r->enums, sl__rows_whole(rows, TO, -1)),
                        .size = sl__nsys_size(rows, BYTES),
                        .from_device = sl__nsys_number(rows, FROM_DEVICE, SPOOL_NONE),
                        .to_device = sl__nsys_number(rows, TO_DEVICE, SPOOL_NONE) };
    TAKE_OPERATION(copy, rows);
    take_node(rows, -1, NODE, &copy.graph, &copy.node);
    if (copy.from_device != SPOOL_NONE) copy.from_device = sl__nsys_device(r, m, copy.from_device);
    if (copy.to_device != SPOOL_NONE) copy.to_device = sl__nsys_device(r, m, copy.to_device);
    if (copy.direction == SL__NSYS_MIGRATION) {
        sl__doubted *doubted = &r->all->records.doubted[SL_DOUBT_MIGRATIONS];
        doubted->n++;
        if (copy.end_ns > copy.start_ns)
            doubted->ns = sl__add_ns(doubted->ns, (int64_t)(copy.end_ns - copy.start_ns));
        return SL_OK;
    }
    sl_status status = note_context(m, copy.context, copy.device, err);
    return status == SL_OK ? SL__NSYS_HAND_OVER(m, copy, copy, err) : status;
}

static const char *const set_columns[] = { OPERATION_COLUMNS, "bytes", "memKind", "graphNodeId",
                                           NULL };

static sl_status take_set(sl__nsys_report *r, sl__rows *rows, sl__nsys_process *m, sl_error *err)
{
    enum { BYTES = OWN, KIND, NODE };
    spool_copy set = { .kind = SPOOL_SET,
                       .to = sl__nsys_memory(&r->enums, sl__rows_whole(rows, KIND, -1)),
                       .size = sl__nsys_size(rows, BYTES) };
    TAKE_OPERATION(set, rows);
    take_node(rows, -1, NODE, &set.graph, &set.node);
    sl_status status = note_context(m, set.context, set.device, err);
    return status == SL_OK ? SL__NSYS_HAND_OVER(m, copy, set, err) : status;
}

static const char *const graph_columns[] = { OPERATION_COLUMNS, "graphId", "graphExecId", NULL };

/* A launch of a graph of which the report does not have the nodes is one operation. */
static sl_status take_graph(sl__nsys_report *r, sl__rows *rows, sl__nsys_process *m, sl_error *err)
{
    enum { GRAPH = OWN, EXEC };
    char name[32];
    spool_kernel whole = { .kind = SPOOL_KERNEL,
                           .graph = sl__nsys_number(rows, EXEC, sl__nsys_number(rows, GRAPH, 0)),
                           .node = 1 };
    TAKE_OPERATION(whole, rows);
    snprintf(name, sizeof name, "graph %u", whole.graph);
    r->all->records.doubted[SL_DOUBT_WHOLE_GRAPHS].n++;
    sl_status status = sl_timeline_intern(r->all->records.timeline, name, &whole.name, err);
    if (status == SL_OK) status = note_context(m, whole.context, whole.device, err);
    return status == SL_OK ? SL__NSYS_HAND_OVER(m, kernel, whole, err) : status;
}

static const char *const call_columns[] = { "start",  "end",         "globalTid", "correlationId",
                                            "nameId", "returnValue", NULL };
enum { CALL_THREAD = 2 };

static sl_status take_call(sl__nsys_report *r, sl__rows *rows, sl__nsys_process *m, sl_error *err)
{
    enum { NUMBER = CALL_THREAD + 1, NAME, RESULT };
    spool_call call = { .kind = SPOOL_CALL,
                        .start_ns = sl__nsys_time(rows, START),
                        .end_ns = sl__nsys_time(rows, END),
                        .thread = (uint32_t)(sl__rows_whole(rows, CALL_THREAD, 0) & 0xffffff),
                        .result = sl__nsys_number(rows, RESULT, 0),
                        .correlation = sl__nsys_number(rows, NUMBER, 0) };
    sl_status status = sl__nsys_call_name(&r->strings, rows, NAME, &call.name, err);
    return status == SL_OK ? SL__NSYS_HAND_OVER(m, call, call, err) : status;
}

static const char *const sync_columns[] = { OPERATION_COLUMNS, "syncType", "eventId", "eventSyncId",
                                            NULL };

static sl_status take_sync(sl__nsys_report *r, sl__rows *rows, sl__nsys_process *m, sl_error *err)
{
    enum { TYPE = OWN, EVENT, RECORD };
    spool_sync sync = { .kind = SPOOL_SYNC,
                        .type = sl__nsys_sync(&r->enums, sl__rows_whole(rows, TYPE, 0)),
                        .start_ns = sl__nsys_time(rows, START),
                        .end_ns = sl__nsys_time(rows, END),
                        .correlation = sl__nsys_number(rows, CORRELATION, 0),
                        .context = sl__nsys_number(rows, CONTEXT, 0),
                        .stream = sl__nsys_number(rows, STREAM, SPOOL_NONE),
                        .event = sl__nsys_number(rows, EVENT, SPOOL_NONE),
                        .record = sl__nsys_size(rows, RECORD) };
    const uint32_t device = sl__nsys_device(r, m, sl__nsys_number(rows, DEVICE, 0));
    r->n_syncs++;
    sl_status status = note_context(m, sync.context, device, err);
    return status == SL_OK ? SL__NSYS_HAND_OVER(m, sync, sync, err) : status;
}

static const char *const event_columns[] = { "deviceId",      "contextId", "streamId",
                                             "correlationId", "globalPid", "eventId",
                                             "eventSyncId",   NULL };
enum { EVENT_PROCESS = 4 };

static sl_status take_event(sl__nsys_report *r, sl__rows *rows, sl__nsys_process *m, sl_error *err)
{
    enum { ON, IN, OF_STREAM, NUMBER, EVENT = EVENT_PROCESS + 1, RECORD };
    spool_event event = { .kind = SPOOL_EVENT,
                          .correlation = sl__nsys_number(rows, NUMBER, 0),
                          .context = sl__nsys_number(rows, IN, 0),
                          .stream = sl__nsys_number(rows, OF_STREAM, SPOOL_NONE),
                          .event = sl__nsys_number(rows, EVENT, SPOOL_NONE),
                          .record = sl__nsys_size(rows, RECORD) };
    const uint32_t device = sl__nsys_device(r, m, sl__nsys_number(rows, ON, 0));
    r->n_events++;
    sl_status status = note_context(m, event.context, device, err);
    return status == SL_OK ? SL__NSYS_HAND_OVER(m, event, event, err) : status;
}

static const char *const overhead_columns[] = { "start",         "end",          "globalTid",
                                                "correlationId", "overheadType", NULL };

static sl_status take_overhead(sl__nsys_report *r, sl__rows *rows, sl__nsys_process *m,
                               sl_error *err)
{
    enum { NUMBER = CALL_THREAD + 1, TYPE };
    spool_overhead overhead = { .kind = SPOOL_OVERHEAD,
                                .type = sl__nsys_overhead(&r->enums, sl__rows_whole(rows, TYPE, 0)),
                                .start_ns = sl__nsys_time(rows, START),
                                .end_ns = sl__nsys_time(rows, END),
                                .thread = (uint32_t)(sl__rows_whole(rows, CALL_THREAD, 0)
                                                     & 0xffffff),
                                .correlation = sl__nsys_number(rows, NUMBER, 0) };
    return SL__NSYS_HAND_OVER(m, overhead, overhead, err);
}

/* ---- tables ---- */

/* Threads are known by calls: they come first. */
const sl__nsys_table sl__nsys_tables[] = {
    { "CUPTI_ACTIVITY_KIND_RUNTIME", call_columns, CALL_THREAD, take_call },
    { "CUPTI_ACTIVITY_KIND_KERNEL", kernel_columns, PROCESS, take_kernel },
    { "CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns, PROCESS, take_copy },
    { "CUPTI_ACTIVITY_KIND_MEMSET", set_columns, PROCESS, take_set },
    { "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graph_columns, PROCESS, take_graph },
    { "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", sync_columns, PROCESS, take_sync },
    { "CUPTI_ACTIVITY_KIND_CUDA_EVENT", event_columns, EVENT_PROCESS, take_event },
    { "CUPTI_ACTIVITY_KIND_OVERHEAD", overhead_columns, CALL_THREAD, take_overhead },
    { NULL, NULL, 0, NULL },
};
