/* rocprof_read.c - the lists of records in the JSON of AMD's rocprofv3, a record at a time.
 *
 * "buffer_records" has a list a kind. Taken are kernel_dispatch, memory_copy, hip_api (the host's
 * calls) and marker_api (ranges of ROCTx). A call and what it launched have the same
 * correlation_id.internal, which counts in each process from 1 on. Operations are in the stream of
 * stream_id; before ROCm 7 that is missing: kernels are in the queue of queue_id, and copies have
 * rows of their own.
 */
#include "rocprof.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../timeline/store.h"
#include "kineto.h"

/* ---- the numbers of a record ---- */

typedef enum field {
    KIND,
    OPERATION,
    THREAD,
    CORRELATION,
    START,
    END,
    AGENT,
    QUEUE,
    STREAM,
    SOURCE,
    TARGET,
    KERNEL,
    BYTES,
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    GRID_X,
    GRID_Y,
    GRID_Z,
    FIELDS
} field;

typedef struct numbers {
    const sl__scan *scan;
    const char *within; /* the object that is visited; "": the record itself */
    int depth;
    bool has[FIELDS];
    int64_t at[FIELDS];
} numbers;

/* A number is known by its key and that of the object which it is in; NULL: any. */
static const struct {
    const char *within, *key;
} fields[FIELDS] = {
    [KIND] = { "", "kind" },
    [OPERATION] = { "", "operation" },
    [THREAD] = { "", "thread_id" },
    [CORRELATION] = { "correlation_id", "internal" },
    [START] = { "", "start_timestamp" },
    [END] = { "", "end_timestamp" },
    [AGENT] = { "agent_id", "handle" },
    [QUEUE] = { "queue_id", "handle" },
    [STREAM] = { "stream_id", "handle" },
    [SOURCE] = { "src_agent_id", "handle" },
    [TARGET] = { "dst_agent_id", "handle" },
    [KERNEL] = { "dispatch_info", "kernel_id" },
    [BYTES] = { "", "bytes" },
    [BLOCK_X] = { "workgroup_size", "x" },
    [BLOCK_Y] = { "workgroup_size", "y" },
    [BLOCK_Z] = { "workgroup_size", "z" },
    [GRID_X] = { "grid_size", "x" },
    [GRID_Y] = { "grid_size", "y" },
    [GRID_Z] = { "grid_size", "z" },
};

static sl_status take_number(void *ud, const sl__json_value *key, const sl__json_value *value,
                             sl_error *err);

/* Objects lie in objects: handles in ids, ids in dispatch_info. */
static sl_status visit_within(numbers *n, const sl__json_value *key, const sl__json_value *value,
                              sl_error *err)
{
    enum { MOST_DEPTH = 3 };
    char within[32];
    const char *outer = n->within;
    const int length = snprintf(within, sizeof within, "%.*s", (int)sl__min(key->n, 32) - 2,
                                key->text + 1);
    if (length < 0 || n->depth == MOST_DEPTH) return SL_OK;
    n->within = within;
    n->depth++;
    sl_status status = sl__json_each(n->scan, value, take_number, n, err);
    n->within = outer;
    n->depth--;
    return status;
}

static bool read_number(field which, const sl__json_value *value, int64_t *number)
{
    const bool is_handle = which == AGENT || which == QUEUE || which == SOURCE || which == TARGET;
    if (!is_handle) return sl__json_whole(value, number);
    *number = (int64_t)sl__roc_handle(value);
    return value->type == SL__JSON_NUMBER;
}

static sl_status take_number(void *ud, const sl__json_value *key, const sl__json_value *value,
                             sl_error *err)
{
    numbers *n = ud;
    if (value->type == SL__JSON_OBJECT) return visit_within(n, key, value, err);
    for (int i = 0; i < FIELDS; i++)
        if (sl__json_is(key, fields[i].key) && strcmp(n->within, fields[i].within) == 0)
            n->has[i] = read_number((field)i, value, &n->at[i]);
    return SL_OK;
}

/* ---- records ---- */

typedef sl_status taker(sl__reader *r, sl__roc *p, const numbers *n, sl_error *err);

/* Unique in the file. */
static uint64_t correlation_of(const sl__roc *p, const numbers *n)
{
    const uint64_t own = (uint64_t)n->at[CORRELATION];
    return own > 0 && own <= UINT32_MAX ? p->index << 32 | own : 0;
}

/* Handles of queues may be addresses: those are numbered, *number from SL__ROC_QUEUES on. */
static sl_status number_queue(sl__roc *p, uint64_t handle, int64_t *number, sl_error *err)
{
    size_t i = 0;
    *number = (int64_t)handle;
    if (handle < SL__ROC_QUEUES) return SL_OK;
    while (i < p->n_queues && p->queues[i] != handle)
        i++;
    *number = SL__ROC_QUEUES + (int64_t)sl__min(i, SL__ROC_QUEUES - 1);
    return i < p->n_queues || i == SL__ROC_QUEUES ? SL_OK : SL__ROC_ADD(p, queues, &handle, err);
}

/* Streams of several processes must not be taken for one. */
static sl_status find_stream(sl__roc *p, const numbers *n, int64_t otherwise, int64_t *stream,
                             sl_error *err)
{
    sl_status status = SL_OK;
    *stream = n->has[STREAM] ? n->at[STREAM] : otherwise;
    if (!n->has[STREAM] && n->has[QUEUE])
        status = number_queue(p, (uint64_t)n->at[QUEUE], stream, err);
    if (*stream < 0 || *stream > SL__MAX_STREAM_NUMBER)
        return sl_fail(err, SL_EINVAL, "it is in no stream that can be");
    *stream += (int64_t)(p->index << 32);
    return status;
}

static sl_status add_work(sl__reader *r, sl__roc *p, sl__work *work, sl__roc_open *open,
                          const numbers *n, sl_error *err)
{
    sl_span *span = &work->span;
    const int64_t otherwise = open->is == SL__ROC_COPY ? SL__ROC_COPIES : 0;
    sl_status status = find_stream(p, n, otherwise, &work->stream, err);
    if (status != SL_OK) return status;
    work->number = r->number;
    span->start_ns = span->host_start_ns = span->host_end_ns = n->at[START];
    span->end_ns = n->at[END];
    span->correlation = correlation_of(p, n);
    open->index = r->records.n_works;
    status = SL__RECORDS_ADD(&r->records, works, work, err);
    return status == SL_OK ? SL__ROC_ADD(p, open, open, err) : status;
}

/* Streams are called by their numbers. */
static sl_status note_queue(sl__reader *r, const numbers *n, int64_t stream, sl_error *err)
{
    char name[40];
    if (n->has[STREAM] || !n->has[QUEUE]) return SL_OK;
    snprintf(name, sizeof name, "queue %" PRId64, stream & UINT32_MAX);
    return sl__roc_name_row(r, n->at[AGENT], stream, name, err);
}

/* A grid is counted in threads. */
static uint64_t blocks_of(const numbers *n, field grid, field block)
{
    const uint64_t threads = (uint64_t)sl__max(n->at[grid], 1), each = (uint64_t)n->at[block];
    return each == 0 || each > INT32_MAX || threads > INT32_MAX ? 1 : (threads + each - 1) / each;
}

static uint64_t times(uint64_t a, uint64_t b, uint64_t limit)
{
    return a != 0 && b > limit / a ? limit : a * b;
}

static sl_status take_kernel(sl__reader *r, sl__roc *p, const numbers *n, sl_error *err)
{
    sl__work work = { .span.kind = SL_SPAN_KERNEL, .span.engine = SL_ENGINE_COMPUTE };
    sl__roc_open open = { .is = SL__ROC_KERNEL,
                          .number = (uint64_t)n->at[KERNEL],
                          .agent = (uint64_t)n->at[AGENT] };
    uint64_t blocks = 1, threads = 1;
    for (int i = 0; i < 3; i++) {
        blocks = times(blocks, blocks_of(n, GRID_X + i, BLOCK_X + i), UINT32_MAX);
        threads = times(threads, (uint64_t)sl__max(n->at[BLOCK_X + i], 0), UINT16_MAX);
    }
    work.span.blocks = threads > 0 ? (uint32_t)blocks : 0;
    work.span.threads = (uint16_t)threads;
    sl_status status = add_work(r, p, &work, &open, n, err);
    return status == SL_OK ? note_queue(r, n, work.stream, err) : status;
}

static sl_status take_copy(sl__reader *r, sl__roc *p, const numbers *n, sl_error *err)
{
    sl__work work = { .span.bytes = (uint64_t)sl__max(n->at[BYTES], 0) };
    sl__roc_open open = { .is = SL__ROC_COPY,
                          .kind = (uint64_t)n->at[KIND],
                          .operation = (uint64_t)n->at[OPERATION],
                          .agent = (uint64_t)n->at[TARGET],
                          .source = (uint64_t)n->at[SOURCE] };
    return add_work(r, p, &work, &open, n, err);
}

static sl_status take_call(sl__reader *r, sl__roc *p, const numbers *n, sl_error *err)
{
    sl__host host = { .call = { .host_start_ns = n->at[START],
                                .host_end_ns = n->at[END],
                                .correlation = correlation_of(p, n) },
                      .number = r->number,
                      .stream = SL__NO_STREAM,
                      .target_stream = SL__NO_STREAM,
                      .tid = n->at[THREAD] };
    sl__roc_open open = { .is = SL__ROC_CALL,
                          .index = r->records.n_hosts,
                          .kind = (uint64_t)n->at[KIND],
                          .operation = (uint64_t)n->at[OPERATION] };
    sl_status status = SL__RECORDS_ADD(&r->records, hosts, &host, err);
    return status == SL_OK ? SL__ROC_ADD(p, open, &open, err) : status;
}

static sl_status take_range(sl__reader *r, sl__roc *p, const numbers *n, sl_error *err)
{
    sl__roc_open open = { .is = SL__ROC_RANGE,
                          .kind = (uint64_t)n->at[KIND],
                          .operation = (uint64_t)n->at[OPERATION],
                          .number = (uint64_t)n->at[CORRELATION],
                          .tid = n->at[THREAD],
                          .start_ns = n->at[START],
                          .end_ns = n->at[END] };
    (void)r;
    return SL__ROC_ADD(p, open, &open, err);
}

static const struct list {
    const char *name;
    taker *take;
} lists[] = {
    { "kernel_dispatch", take_kernel },
    { "memory_copy", take_copy },
    { "hip_api", take_call },
    { "marker_api", take_range },
};

/* One that is not as it should be is left out. */
static sl_status take_record(sl__reader *r, sl__roc *p, const struct list *list, sl_error *err)
{
    numbers n = { .scan = &r->scan, .within = "" };
    char sentence[SL__SENTENCE];
    sl_status status = sl__json_each(&r->scan, &r->value, take_number, &n, err);
    const bool is_timed = n.has[START] && n.has[END] && n.at[START] > 0 && n.at[END] >= n.at[START]
                          && n.at[END] < SL__TIME_LIMIT_NS;
    if (status == SL_OK && !is_timed) status = sl_fail(err, SL_EINVAL, "its times are none");
    if (status == SL_OK) status = list->take(r, p, &n, err);
    if (status == SL_OK) sl__records_widen(&r->records, n.at[START], n.at[END]);
    if (status != SL_EINVAL) return status;
    snprintf(sentence, sizeof sentence, "record %" PRIu64 " (%s): %.100s", r->number, list->name,
             err->msg);
    sl__flaw_note(&r->records, SL_DOUBT_BAD_EVENTS, sentence);
    return SL_OK;
}

/* ---- steps through the file ---- */

static sl_status next_process(sl__reader *r, sl_error *err)
{
    sl_status status = sl__scan_next(&r->scan, ']', &r->first, &r->more, err);
    return status == SL_OK && r->more ? sl__scan_enter(&r->scan, '{', err) : status;
}

/* Of an object or a list whose members are gone through the bracket alone. */
static sl_status next_of(sl__reader *r, char opens, bool (*goes_in)(const sl__json_value *),
                         sl_error *err)
{
    sl_status status = sl__scan_next(&r->scan, '}', &r->first, &r->more, err);
    if (status != SL_OK || !r->more) return status;
    status = sl__scan_key(&r->scan, &r->key, err);
    if (status != SL_OK) return status;
    r->value = (sl__json_value){ 0 };
    return goes_in(&r->key) && sl__scan_peek(&r->scan) == opens
               ? sl__scan_enter(&r->scan, opens, err)
               : sl__scan_value(&r->scan, &r->value, err);
}

static bool has_lists(const sl__json_value *key)
{
    return sl__json_is(key, "buffer_records") || sl__json_is(key, "callback_records");
}

static bool is_any(const sl__json_value *key)
{
    (void)key;
    return true;
}

static sl_status next_member(sl__reader *r, sl_error *err)
{
    return next_of(r, '{', has_lists, err);
}

static sl_status next_list(sl__reader *r, sl_error *err) { return next_of(r, '[', is_any, err); }

static sl_status next_record(sl__reader *r, sl_error *err)
{
    sl_status status = sl__scan_next(&r->scan, ']', &r->first, &r->more, err);
    return status == SL_OK && r->more ? sl__scan_value(&r->scan, &r->value, err) : status;
}

static sl_status read_list(sl__reader *r, sl__roc *p, const struct list *list, sl_error *err)
{
    sl_status status = SL_OK;
    r->first = true;
    for (; status == SL_OK; r->number++) {
        if (sl__stops_at(r->number)) status = sl_interrupt_check(err);
        if (status == SL_OK) status = sl__reader_step(r, next_record, err);
        if (status != SL_OK || !r->more) break;
        if (list) status = take_record(r, p, list, err);
    }
    return status;
}

static const struct list *find_list(const sl__json_value *key)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (sl__json_is(key, lists[i].name)) return &lists[i];
    return NULL;
}

static sl_status read_lists(sl__reader *r, sl__roc *p, bool are_taken, sl_error *err)
{
    sl_status status;
    r->first = true;
    while ((status = sl__reader_step(r, next_list, err)) == SL_OK && r->more) {
        if (r->value.type != SL__JSON_MISSING) continue;
        status = read_list(r, p, are_taken ? find_list(&r->key) : NULL, err);
        if (status != SL_OK) return status;
        r->first = false;
    }
    return status;
}

static sl_status read_members(sl__reader *r, sl__roc *p, sl_error *err)
{
    sl_status status;
    r->first = true;
    while ((status = sl__reader_step(r, next_member, err)) == SL_OK && r->more) {
        if (r->value.type != SL__JSON_MISSING)
            status = sl__roc_take(r, p, &r->key, &r->value, err);
        else
            status = read_lists(r, p, sl__json_is(&r->key, "buffer_records"), err);
        if (status != SL_OK) return status;
        r->first = false;
    }
    return status;
}

/* What comes before the end of a file that is cut off is put together, too. */
static sl_status read_process(sl__reader *r, uint64_t index, sl_error *err)
{
    sl__roc p = { .index = index, .first_host = r->records.n_hosts };
    sl_error later;
    sl_status status = read_members(r, &p, err);
    sl_status finished = status == SL_OK || status == SL_EINVAL ? sl__roc_finish(r, &p, &later)
                                                                : SL_OK;
    sl__roc_free(&p);
    return finished == SL_OK ? status : sl_fail(err, finished, "%s", later.msg);
}

sl_status sl__rocprof_read(sl__reader *r, sl_error *err)
{
    sl_status status;
    r->writer = SL__WRITER_ROC;
    r->number = 1;
    if (r->scan.at[-1] == '{') return read_process(r, 0, err);
    r->first = true;
    for (uint64_t i = 0; (status = sl__reader_step(r, next_process, err)) == SL_OK && r->more;
         i++) {
        if (i == SL__MOST_SPOOLS)
            return sl_fail(err, SL_EINVAL, "it has more than %d processes", SL__MOST_SPOOLS);
        status = read_process(r, i, err);
        if (status != SL_OK) return status;
        r->first = false;
    }
    return status;
}
