/* kineto_operation.c - the operations of a trace: kernels, copies, memsets and host functions. */
#include "call_names.h"
#include "kineto.h"
#include "kineto_read.h"

uint32_t sl__reader_intern(sl__reader *r, const sl__json_value *value)
{
    uint32_t id = 0;
    if (sl__reader_decode(r, value))
        r->event.status = sl_timeline_intern(r->records.timeline, r->text.data, &id, r->event.err);
    return id;
}

/* ---- operations ----------------------------------------------------------------- */

/* Of NCCL and AMD's RCCL; PyTorch says of others which collective a kernel is. */
static bool is_collective(sl__reader *r, const char *name)
{
    return r->event.arg[SL__ARG_COLLECTIVE].type == SL__JSON_TEXT || sl__names_collective(name);
}

/* Kind, engine and memory where category and name do not give them, from our own files. */
static void take_own_kind(sl__reader *r, sl_span *span)
{
    const sl__json_value *arg = r->event.arg;
    sl_span_kind kind = (sl_span_kind)span->kind;
    sl_engine engine;
    if (sl__reader_decode(r, &arg[SL__ARG_KIND]) && sl_span_kind_parse(r->text.data, &kind))
        span->kind = (uint8_t)kind;
    span->engine = (uint8_t)sl__usual_engine(kind);
    if (sl__reader_decode(r, &arg[SL__ARG_ENGINE]) && sl_engine_parse(r->text.data, &engine))
        span->engine = (uint8_t)engine;
    if (sl__reader_decode(r, &arg[SL__ARG_MEMORY])) span->flags = sl__named_memory(r->text.data);
}

/* Traces of PyTorch's profiler say between which GPUs it was beside the name. */
static void name_peer_copy(sl__reader *r, sl_span *span)
{
    char name[SL__COPY_NAME_BYTES];
    int64_t from = -1, to = -1;
    sl__event_whole(&r->event, SL__ARG_FROM_DEVICE, &from);
    sl__event_whole(&r->event, SL__ARG_TO_DEVICE, &to);
    if (r->event.status != SL_OK || from < 0 || to < 0 || from == to) return;
    sl__peer_copy_name(from, to, name);
    r->event.status = sl_timeline_intern(r->records.timeline, name, &span->name, r->event.err);
}

static void take_kind(sl__reader *r, sl_span *span)
{
    static const sl_span_kind kinds[] = {
        [SL__CAT_KERNEL] = SL_SPAN_KERNEL,
        [SL__CAT_MEMSET] = SL_SPAN_MEMSET,
        [SL__CAT_CPU_OP] = SL_SPAN_HOST_FUNC,
    };
    bool copy = r->event.category == SL__CAT_MEMCPY;
    span->name = sl__reader_intern(r, &r->event.name);
    const char *name = sl_timeline_text(r->records.timeline, span->name);
    sl_span_kind kind = copy ? sl__named_copy_kind(name) : kinds[r->event.category];
    if (kind == SL_SPAN_KERNEL && is_collective(r, name)) kind = SL_SPAN_COLLECTIVE;
    span->kind = (uint8_t)kind;
    span->engine = (uint8_t)sl__usual_engine(kind);
    if (copy || r->records.own) span->flags = sl__named_memory(name);
    if (kind == SL_SPAN_MEMCPY_P2P && !r->records.own) name_peer_copy(r, span);
    if (r->records.own) take_own_kind(r, span);
}

/* Values that no GPU has are left out. */
static void take_resources(sl__event *event, sl_span *span)
{
    uint64_t registers = 0, shared_bytes = 0;
    sl__event_count(event, SL__ARG_REGISTERS, &registers);
    sl__event_count(event, SL__ARG_SHARED, &shared_bytes);
    if (registers > 0 && registers <= UINT16_MAX && shared_bytes <= UINT32_MAX) {
        span->registers = (uint16_t)registers;
        span->shared_bytes = (uint32_t)shared_bytes;
    }
}

static int32_t read_priority(sl__event *event, sl__arg arg)
{
    int64_t priority = 0;
    sl__event_whole(event, arg, &priority);
    return priority < INT32_MIN || priority > INT32_MAX ? 0 : (int32_t)priority;
}

static void take_sizes(sl__reader *r, sl__work *work)
{
    sl__event *event = &r->event;
    uint64_t blocks = 0, threads = 0;
    sl__event_count(event, SL__ARG_BYTES, &work->span.bytes);
    sl__event_product(event, SL__ARG_GRID, UINT32_MAX, &blocks);
    sl__event_product(event, SL__ARG_BLOCK, UINT16_MAX, &threads);
    take_resources(event, &work->span);
    if (sl__event_flag(event, SL__ARG_GUESSED)) work->span.flags |= SL_SPAN_GUESSED;
    work->span.symbol = sl__reader_intern(r, &event->arg[SL__ARG_SYMBOL]);
    work->span.blocks = (uint32_t)blocks;
    work->span.threads = (uint16_t)threads;
    work->priority = read_priority(event, SL__ARG_PRIORITY);
}

static uint8_t read_cause(sl__reader *r, sl__arg arg)
{
    sl_cause found;
    bool known = sl__reader_decode(r, &r->event.arg[arg]) && sl_cause_parse(r->text.data, &found);
    return known ? (uint8_t)found : SL_CAUSE_NONE;
}

sl_status sl__hold_read(sl__reader *r, uint64_t correlation)
{
    sl__event *event = &r->event;
    sl__records *records = &r->records;
    if (!records->own || event->arg[SL__ARG_READY].type == SL__JSON_MISSING) return event->status;
    sl_hold hold = { .correlation = correlation };
    sl__event_time(event, SL__ARG_READY, &hold.ready_ns);
    hold.ready_ns += records->start_ns;
    sl__event_count(event, SL__ARG_HELD_BY, &hold.ready_by);
    sl__event_count(event, SL__ARG_START_BY, &hold.start_by);
    hold.ready_cause = read_cause(r, SL__ARG_HELD_CAUSE);
    hold.start_cause = read_cause(r, SL__ARG_START_CAUSE);
    if (event->status == SL_OK) event->status = SL__RECORDS_ADD(records, holds, &hold, event->err);
    return event->status;
}

/* What a launch of a graph ran. In CUPTI's number of a node that of the graph has the upper half;
 * newer traces have the lower half alone. Both are 0 for all other operations. */
static void take_node(sl__event *event, sl__work *work, bool own)
{
    int64_t graph = 0, node = 0;
    bool given = sl__json_whole(&event->arg[SL__ARG_GRAPH_NODE], &node);
    sl__json_whole(&event->arg[SL__ARG_GRAPH], &graph);
    if (graph == 0) graph = (int64_t)((uint64_t)node >> 32);
    if (own ? !given : graph == 0 && node == 0) return;
    work->is_node = work->is_numbered = true;
    work->graph = (uint32_t)graph;
    work->node = (uint32_t)node;
    work->launch = work->span.correlation;
}

/* Of ours: the operation's own number, where "correlation" is that of the launch, and what else is
 * usually among the args of its call. */
static void take_own_node(sl__reader *r, sl__work *work)
{
    sl__event *event = &r->event;
    sl_span *span = &work->span;
    work->captured_priority = read_priority(event, SL__ARG_CAPTURED_PRIORITY);
    sl__event_count(event, SL__ARG_LAUNCHED_BY, &work->launch);
    work->has_no_call = work->is_node && event->arg[SL__ARG_ISSUE].type != SL__JSON_MISSING;
    if (!work->has_no_call) return;
    sl__event_count(event, SL__ARG_ISSUE, &span->correlation);
    span->where = sl__reader_intern(r, &event->arg[SL__ARG_WHERE]);
    if (sl__event_flag(event, SL__ARG_HOST_WAITED)) span->flags |= SL_SPAN_HOST_WAITED;
    if (sl__event_flag(event, SL__ARG_QUEUE_FULL)) span->flags |= SL_SPAN_QUEUE_FULL;
    if (sl__event_flag(event, SL__ARG_LOADED)) span->flags |= SL_SPAN_LOADED;
}

static bool is_stream(int64_t number) { return number >= 0 && number <= SL__MAX_STREAM_NUMBER; }

/* The stream's number: "stream", or the row if that is a number. */
static int64_t read_stream(sl__reader *r)
{
    sl__event *event = &r->event;
    bool given = event->arg[SL__ARG_STREAM].type != SL__JSON_MISSING;
    int64_t row = 0, number = -1;
    bool has_row = sl__json_whole(&event->tid, &row) && is_stream(row);
    if (!given && (has_row || !sl__json_whole(&event->tid, &row))) return has_row ? row : 0;
    sl__event_whole(event, SL__ARG_STREAM, &number);
    if (is_stream(number)) return number;
    sl__event_reject(event, SL__ARG_STREAM, "a stream's number");
    if (event->status == SL_OK && !has_row)
        sl__event_fail(event, "%s", given ? event->bad : "it is in no stream that can be");
    return row;
}

int64_t sl__device_read(sl__event *event)
{
    int64_t device = 0;
    if (!sl__json_whole(&event->pid, &device)) device = 0;
    sl__event_whole(event, SL__ARG_DEVICE, &device);
    return device;
}

/* Further rows have their ids. */
int64_t sl__own_stream(const sl__records *records, int64_t device, int64_t stream)
{
    int64_t local = stream - SL__FIRST_STREAM;
    if (local < 0 || local >= INT64_C(1) << SL_PLACE_SHIFT) return stream;
    for (size_t place = 1; place < records->n_places; place++)
        if (records->places[place].index == device)
            return (int64_t)sl_timeline_stream_id((int)place, (uint32_t)local) + SL__FIRST_STREAM;
    return stream;
}

sl_status sl__work_read(sl__reader *r, sl__work *work)
{
    sl_span *span = &work->span;
    sl__event *event = &r->event;
    sl__records *records = &r->records;
    bool host_func = event->category == SL__CAT_CPU_OP;
    span->host_start_ns = span->host_end_ns = span->start_ns;
    take_kind(r, span);
    take_sizes(r, work);
    sl__event_count(event, host_func ? SL__ARG_EXTERNAL_ID : SL__ARG_CORRELATION,
                    &span->correlation);
    take_node(event, work, records->own);
    if (records->own && work->is_node) take_own_node(r, work);
    if (!host_func) {
        work->stream = read_stream(r);
        work->device = sl__device_read(event);
        work->stream = sl__own_stream(records, work->device, work->stream);
    }
    if (sl__hold_read(r, span->correlation) == SL_OK
        && sl__exchange_read(r, span->correlation) == SL_OK)
        event->status = SL__RECORDS_ADD(records, works, work, event->err);
    return event->status;
}
