/* xla_read.c - the events of a trace of XLA's profiler (jax.profiler, TensorFlow's).
 *
 *   /device:GPU:0   a process for each GPU. Its rows "Stream #14(Compute,MemcpyH2D)" have the
 *                   operations, by CUPTI's number of the stream. Its other rows ("XLA Ops", "XLA
 *                   Modules", "Steps", "Framework Ops") tell the same again, and are left out
 *   /host:CPU       a row a thread: CUDA's calls, which have a correlation_id; functions in Python
 *                   ("$train.py:12 main"); steps, which have a step_num; and what XLA or the
 *                   program marks
 *
 * All values of args are texts: "kernel_details" is "regs:16 static_shared:0 dynamic_shared:0
 * grid:8,1,1 block:256,1,1 occ_pct:100", "memcpy_details" is "kind_src:pinned kind_dst:device
 * size:4096 dest:0 async:1". hlo_op is the operation's name in XLA, and name (TensorFlow's: tf_op)
 * what made it.
 */
#include "xla.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../timeline/sort.h"
#include "../timeline/store.h"
#include "call_names.h"
#include "kineto.h"
#include "kineto_read.h"

enum { HOST = -1, PROCESS = -1, MOST_ROWS = 2048, MOST_SCOPE = 4096 };

/* ---- rows ---- */

static sl__xla_row *find_row(sl__xla *xla, int64_t pid, int64_t tid)
{
    for (size_t i = 0; i < xla->n_rows; i++) { /* events of a row often follow each other */
        const size_t at = (xla->last + i) % xla->n_rows;
        if (xla->rows[at].pid != pid || xla->rows[at].tid != tid) continue;
        xla->last = at;
        return &xla->rows[at];
    }
    return NULL;
}

static sl_status add_row(sl__reader *r, sl__xla_row row)
{
    sl__xla *xla = &r->xla;
    if (find_row(xla, row.pid, row.tid)) return r->event.status;
    if (xla->n_rows == MOST_ROWS)
        return r->event.status = sl_fail(r->event.err, SL_EINVAL,
                                         "it has more than %d rows of threads and streams",
                                         MOST_ROWS);
    return r->event.status = sl__records_add((void **)&xla->rows, &xla->n_rows, &xla->cap_rows,
                                             &row, sizeof row, r->event.err);
}

/* "/device:GPU:1" */
static bool gpu_of(const char *name, int64_t *device)
{
    static const char start[] = "/device:GPU:";
    char *end;
    if (strncmp(name, start, sizeof start - 1) != 0) return false;
    const char *digits = name + sizeof start - 1;
    *device = strtol(digits, &end, 10);
    return end > digits && *end == '\0' && *device >= 0 && *device <= INT32_MAX;
}

/* Devices' rows count once their process is known. */
sl_status sl__xla_note(sl__reader *r)
{
    sl__event *event = &r->event;
    sl__xla_row row = { .tid = PROCESS, .device = HOST };
    const bool is_thread = sl__json_is(&event->name, "thread_name");
    if (!is_thread && !sl__json_is(&event->name, "process_name")) return event->status;
    sl__event_read_args(&r->scan, event);
    if (!sl__json_whole(&event->pid, &row.pid) || !sl__reader_decode(r, &event->arg[SL__ARG_NAME]))
        return event->status;
    if (!is_thread)
        return gpu_of(r->text.data, &row.device) || strcmp(r->text.data, "/host:CPU") == 0
                   ? add_row(r, row)
                   : event->status;
    const sl__xla_row *process = find_row(&r->xla, row.pid, PROCESS);
    if (!process || process->device == HOST || strncmp(r->text.data, "Stream #", 8) != 0
        || !sl__json_whole(&event->tid, &row.tid) || row.tid < 0)
        return event->status;
    row.device = process->device;
    return add_row(r, row);
}

/* ---- args ---- */

typedef enum key {
    CORRELATION,
    KERNEL,
    COPY,
    MEMSET,
    HLO_OP,
    HLO_MODULE,
    NAME,
    TF_OP,
    GRAPH,
    NODE,
    STEP,
    SOURCE,
    KEYS
} key;

typedef struct args {
    sl__json_value at[KEYS];
} args;

static sl_status take_arg(void *ud, const sl__json_value *name, const sl__json_value *value,
                          sl_error *err)
{
    static const char *const names[KEYS] = {
        [CORRELATION] = "correlation_id",
        [KERNEL] = "kernel_details",
        [COPY] = "memcpy_details",
        [MEMSET] = "Memset_details",
        [HLO_OP] = "hlo_op",
        [HLO_MODULE] = "hlo_module",
        [NAME] = "name",
        [TF_OP] = "tf_op",
        [GRAPH] = "cuda_graph_id",
        [NODE] = "cuda_graph_node_id",
        [STEP] = "step_num",
        [SOURCE] = "_src",
    };
    (void)err;
    for (int i = 0; i < KEYS; i++)
        if (sl__json_is(name, names[i])) ((args *)ud)->at[i] = *value;
    return SL_OK;
}

static args read_args(sl__reader *r)
{
    args a = { 0 };
    sl__json_each(&r->scan, &r->event.args, take_arg, &a, NULL);
    return a;
}

/* Behind a key in a text of details, until its end; NULL: the key is not there. */
static const char *detail(const char *details, const char *name)
{
    const char *at = strstr(details, name);
    return at && (at == details || at[-1] == ' ') ? at + strlen(name) : NULL;
}

static uint64_t number(const char *details, const char *name)
{
    const char *at = detail(details, name);
    return at && *at >= '0' && *at <= '9' ? strtoull(at, NULL, 10) : 0;
}

/* Of bytes; 0: more than there can be. */
static uint64_t size(const char *details, const char *name)
{
    const uint64_t bytes = number(details, name);
    return bytes <= INT64_MAX ? bytes : 0;
}

/* Of "8,1,1". */
static uint64_t product(const char *details, const char *name, uint64_t limit)
{
    const char *at = detail(details, name);
    uint64_t value = at ? 1 : 0;
    while (at && *at >= '0' && *at <= '9') {
        char *end;
        const uint64_t factor = strtoull(at, &end, 10);
        value = factor > 0 && value > limit / factor ? limit : value * factor;
        at = *end == ',' ? end + 1 : "";
    }
    return value;
}

/* ---- operations ---- */

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* What memory is allocated and freed stands among the operations of streams. */
static bool is_operation(const char *name)
{
    return !begins(name, "MemoryAlloc") && !begins(name, "MemoryFree")
           && !begins(name, "MemoryResidency") && !begins(name, "CUPTI ");
}

static sl_span_kind kind_of(const char *name)
{
    if (begins(name, "Memcpy")) return sl__named_copy_kind(name);
    if (begins(name, "Memset")) return SL_SPAN_MEMSET;
    return sl__names_collective(name) ? SL_SPAN_COLLECTIVE : SL_SPAN_KERNEL;
}

static void take_kernel_details(sl_span *span, const char *details)
{
    const uint64_t registers = number(details, "regs:");
    const uint64_t shared = number(details, "static_shared:") + number(details, "dynamic_shared:");
    span->blocks = (uint32_t)product(details, "grid:", UINT32_MAX);
    span->threads = (uint16_t)product(details, "block:", UINT16_MAX);
    if (registers == 0 || registers > UINT16_MAX || shared > UINT32_MAX) return;
    span->registers = (uint16_t)registers;
    span->shared_bytes = (uint32_t)shared;
}

static void take_copy_details(sl_span *span, const char *details)
{
    const char *src = detail(details, "kind_src:"), *dst = detail(details, "kind_dst:");
    const char *old = detail(details, "kind:"); /* of the host's side */
    if (old && span->kind == SL_SPAN_MEMCPY_H2D) src = old;
    if (old && span->kind == SL_SPAN_MEMCPY_D2H) dst = old;
    span->bytes = size(details, "size:");
    if (src && begins(src, "pageable")) span->flags |= SL_SPAN_SRC_PAGEABLE;
    if (src && begins(src, "pinned")) span->flags |= SL_SPAN_SRC_PINNED;
    if (dst && begins(dst, "pageable")) span->flags |= SL_SPAN_DST_PAGEABLE;
    if (dst && begins(dst, "pinned")) span->flags |= SL_SPAN_DST_PINNED;
}

static void take_details(sl__reader *r, sl_span *span, const args *a)
{
    if (sl__reader_decode(r, &a->at[KERNEL])) take_kernel_details(span, r->text.data);
    if (sl__reader_decode(r, &a->at[COPY])) take_copy_details(span, r->text.data);
    if (sl__reader_decode(r, &a->at[MEMSET])) span->bytes = size(r->text.data, "num_bytes:");
}

/* As in kineto's traces (kineto_operation.c). */
static void take_node(sl__work *work, const args *a)
{
    int64_t graph = 0, node = 0;
    sl__json_whole(&a->at[GRAPH], &graph);
    sl__json_whole(&a->at[NODE], &node);
    if (graph == 0) graph = (int64_t)((uint64_t)node >> 32);
    if (graph == 0 && node == 0) return;
    work->is_node = work->is_numbered = true;
    work->graph = (uint32_t)graph;
    work->node = (uint32_t)node;
    work->launch = work->span.correlation;
}

/* Its module: of its name the scopes, else what was compiled. */
static uint32_t read_module(sl__reader *r, const args *a, bool *is_backward)
{
    static const key names[] = { NAME, TF_OP };
    sl_text module = { 0 };
    uint32_t id = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && module.len == 0; i++)
        if (a->at[names[i]].n < MOST_SCOPE && sl__reader_decode(r, &a->at[names[i]]))
            sl__xla_scope(r->text.data, &module, is_backward);
    if (module.failed)
        r->event.status = sl__no_memory(r->event.err, "the name of a module");
    else if (module.len > 0)
        r->event.status = sl_timeline_intern(r->records.timeline, module.data, &id, r->event.err);
    else
        id = sl__reader_intern(r, &a->at[HLO_MODULE]);
    sl_text_free(&module);
    return id;
}

/* What a graph ran was not launched alone. */
static void take_use(sl__reader *r, const sl__work *work, const args *a)
{
    sl__xla *xla = &r->xla;
    sl__xla_use use = { .correlation = work->span.correlation };
    if (work->is_node || use.correlation == 0) return;
    use.operator= sl__reader_intern(r, &a->at[HLO_OP]);
    use.module = read_module(r, a, &use.is_backward);
    if (r->event.status == SL_OK && (use.operator!= 0 || use.module != 0))
        r->event.status = sl__records_add((void **)&xla->uses, &xla->n_uses, &xla->cap_uses, &use,
                                          sizeof use, r->event.err);
}

static int64_t correlation_of(const args *a)
{
    int64_t correlation = 0;
    sl__json_whole(&a->at[CORRELATION], &correlation);
    return correlation > 0 ? correlation : 0;
}

static sl_status take_operation(sl__reader *r, const sl__xla_row *row, int64_t start_ns,
                                int64_t end_ns)
{
    const args a = read_args(r);
    sl__event *event = &r->event;
    sl__work work = { .span = { .start_ns = start_ns,
                                .end_ns = end_ns,
                                .host_start_ns = start_ns,
                                .host_end_ns = start_ns,
                                .correlation = (uint64_t)correlation_of(&a) },
                      .number = event->number,
                      .stream = row->tid,
                      .device = row->device };
    sl_span *span = &work.span;
    if (row->tid > SL__MAX_STREAM_NUMBER || !sl__reader_decode(r, &event->name)
        || !is_operation(r->text.data))
        return event->status;
    const sl_span_kind kind = kind_of(r->text.data);
    span->kind = (uint8_t)kind;
    span->engine = (uint8_t)sl__usual_engine(kind);
    span->name = sl__reader_intern(r, &event->name);
    take_details(r, span, &a);
    take_node(&work, &a);
    take_use(r, &work, &a);
    if (event->status == SL_OK)
        event->status = SL__RECORDS_ADD(&r->records, works, &work, event->err);
    return event->status;
}

/* ---- the host ---- */

/* "cuGraphLaunch (CudaGraph:12)" is a call of cuGraphLaunch. */
static sl_status take_call(sl__reader *r, sl__xla_row row, int64_t start_ns, int64_t end_ns,
                           int64_t correlation)
{
    sl__event *event = &r->event;
    sl__host host = { .call = { .host_start_ns = start_ns,
                                .host_end_ns = end_ns,
                                .correlation = (uint64_t)correlation },
                      .number = event->number,
                      .stream = SL__NO_STREAM,
                      .target_stream = SL__NO_STREAM,
                      .pid = row.pid,
                      .tid = row.tid };
    char *end = strstr(r->text.data, " (");
    if (end) *end = '\0';
    sl__call_classify(r->text.data, &host);
    event->status = sl_timeline_intern(r->records.timeline, r->text.data, &host.call.name,
                                       event->err);
    if (event->status == SL_OK)
        event->status = SL__RECORDS_ADD(&r->records, hosts, &host, event->err);
    return event->status;
}

static sl_status take_frame(sl__reader *r, sl__xla_row row, sl__xla_frame *frame, const args *a)
{
    int64_t step = -1;
    frame->tid = row.tid;
    frame->number = r->event.number;
    frame->is_xlas = a->at[SOURCE].type != SL__JSON_MISSING;
    sl__json_whole(&a->at[STEP], &step);
    return sl__xla_frame_take(r, frame, step);
}

static sl_status take_of_host(sl__reader *r, int64_t pid, int64_t start_ns, int64_t end_ns)
{
    const args a = read_args(r);
    const int64_t correlation = correlation_of(&a);
    sl__xla_frame frame = { .range = { .start_ns = start_ns, .end_ns = end_ns }, .pid = pid };
    sl__xla_row row = { .pid = pid, .device = HOST };
    sl__json_whole(&r->event.tid, &row.tid);
    if (!sl__reader_decode(r, &r->event.name) || r->text.len == 0) return r->event.status;
    return correlation > 0 ? take_call(r, row, start_ns, end_ns, correlation)
                           : take_frame(r, row, &frame, &a);
}

/* ---- events ---- */

bool sl__xla_has(sl__reader *r)
{
    int64_t pid;
    return r->xla.n_rows > 0 && sl__json_whole(&r->event.pid, &pid)
           && find_row(&r->xla, pid, PROCESS);
}

sl_status sl__xla_take(sl__reader *r)
{
    int64_t pid = 0, tid = 0, start_ns, end_ns;
    sl__json_whole(&r->event.pid, &pid);
    const sl__xla_row *process = find_row(&r->xla, pid, PROCESS);
    r->xla.n_events++;
    const bool is_host = process->device == HOST;
    const sl__xla_row *stream = !is_host && sl__json_whole(&r->event.tid, &tid)
                                    ? find_row(&r->xla, pid, tid)
                                    : NULL;
    if (!is_host && !stream) return SL_OK;
    if (sl__event_interval(&r->event, &start_ns, &end_ns) != SL_OK) return r->event.status;
    sl__records_widen(&r->records, start_ns, end_ns);
    r->records.xla = true;
    return is_host ? take_of_host(r, pid, start_ns, end_ns)
                   : take_operation(r, stream, start_ns, end_ns);
}

/* ---- operators and modules ---- */

typedef struct launch {
    uint64_t correlation;
    size_t host; /* index */
} launch;

SL__ORDER(by_correlation, launch, x->correlation, x->host);

static sl_status add_use(sl__reader *r, const sl__xla_use *use, const sl__host *host, sl_error *err)
{
    sl_host_range range = { .start_ns = host->call.host_start_ns,
                            .end_ns = host->call.host_end_ns,
                            .name = use->module,
                            .kind = SL_HOST_RANGE_MODULE };
    sl_status status = use->module == 0
                           ? SL_OK
                           : sl__records_add_range(&r->records, host->pid, host->tid, range, err);
    range.name = use->operator;
    range.kind = SL_HOST_RANGE_OPERATOR;
    range.is_backward = use->is_backward;
    return status == SL_OK && use->operator!= 0
               ? sl__records_add_range(&r->records, host->pid, host->tid, range, err)
               : status;
}

/* XLA leaves out the last events of a file that would have more than so many. */
static void doubt_end(sl__reader *r)
{
    static const uint64_t most[] = { 1000000, 5000000 }; /* before 2025, and since */
    sl__doubted *early = &r->records.doubted[SL_DOUBT_ENDS_EARLY];
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        if (r->xla.n_events != most[i] || early->n++ > 0) continue;
        sl_text_add(&early->what,
                    "XLA's profiler puts no more than %" PRIu64 " events into such a file",
                    most[i]);
    }
}

sl_status sl__xla_end(sl__reader *r, sl_error *err)
{
    const sl__records *records = &r->records;
    doubt_end(r);
    sl_status framed = sl__xla_frames_end(r, err);
    if (framed != SL_OK) return framed;
    const size_t n = records->n_hosts;
    sl_status status = SL_OK;
    if (r->xla.n_uses == 0) return SL_OK;
    launch *launches = malloc((n + 1) * sizeof *launches);
    if (!launches) return sl__no_memory(err, "the launches of %zu operations", r->xla.n_uses);
    for (size_t i = 0; i < n; i++)
        launches[i] = (launch){ records->hosts[i].call.correlation, i };
    sl__sort(launches, n, sizeof *launches, by_correlation);
    for (size_t i = 0; i < r->xla.n_uses && status == SL_OK; i++) {
        const sl__xla_use *use = &r->xla.uses[i];
        size_t at;
        SL__SEARCH(at, n, launches[at].correlation < use->correlation);
        if (sl__stops_at(i)) status = sl_interrupt_check(err);
        if (status == SL_OK && at < n && launches[at].correlation == use->correlation)
            status = add_use(r, use, &records->hosts[launches[at].host], err);
    }
    free(launches);
    return status;
}

void sl__xla_free(sl__xla *xla)
{
    free(xla->rows);
    free(xla->uses);
    free(xla->frames);
}
