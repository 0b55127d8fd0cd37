/* kineto_call.c - the host's calls in a trace, and the device's side of synchronisations. */
#include "call_names.h"
#include "kineto_read.h"

static int64_t read_stream(sl__event *event, sl__arg arg)
{
    int64_t stream = SL__NO_STREAM;
    sl__event_whole(event, arg, &stream);
    bool is_one = stream >= 0 && stream <= SL__MAX_STREAM_NUMBER && stream != UINT32_MAX;
    return is_one ? stream : SL__NO_STREAM; /* CUPTI says -1 for none, also without a sign */
}

/* Of a call that launched a graph. */
static void take_launch(sl__reader *r, const sl__host *host)
{
    sl__event *event = &r->event;
    sl_launch_note note = {
        .correlation = host->call.correlation,
        .last = host->call.correlation,
        .name = sl__reader_intern(r, &event->arg[SL__ARG_GRAPH_NAME]),
        .priorities = sl__event_flag(event, SL__ARG_KEEPS_PRIORITIES),
        .uploads = sl__event_flag(event, SL__ARG_UPLOADS),
    };
    uint64_t graph = 0, n_nodes = 0;
    sl__event_count(event, SL__ARG_GRAPH, &graph);
    sl__event_count(event, SL__ARG_NODES, &n_nodes);
    sl__event_count(event, SL__ARG_LAST_ISSUE, &note.last);
    note.graph = graph <= UINT32_MAX ? (uint32_t)graph : 0;
    note.n_nodes = n_nodes <= UINT32_MAX ? (uint32_t)n_nodes : 0;
    if (event->status == SL_OK)
        event->status = SL__RECORDS_ADD(&r->records, launches, &note, event->err);
}

/* What our own files say of a call. */
static void take_own_call(sl__reader *r, sl__host *host)
{
    sl__event *event = &r->event;
    host->call.where = sl__reader_intern(r, &event->arg[SL__ARG_WHERE]);
    sl__event_count(event, SL__ARG_WAITS_FOR, &host->call.target);
    sl__event_time(event, SL__ARG_DEVICE_TIME, &host->call.device_ns);
    host->stream = read_stream(event, SL__ARG_IN_STREAM);
    host->target_stream = read_stream(event, SL__ARG_RECORDED_IN);
    if (event->arg[SL__ARG_DEVICE_TIME].type != SL__JSON_MISSING)
        host->call.device_ns += r->records.start_ns;
    host->waited = sl__event_flag(event, SL__ARG_HOST_WAITED);
    host->queue_full = sl__event_flag(event, SL__ARG_QUEUE_FULL);
    host->loaded = sl__event_flag(event, SL__ARG_LOADED);
    sl__event_count(event, SL__ARG_THREAD, &host->thread);
    if (host->thread >= SL_MOST_THREADS) host->thread = 0;
    host->call.waited_for_device = sl__event_flag(event, SL__ARG_DEVICE_WAITED);
    if (event->arg[SL__ARG_LAST_ISSUE].type != SL__JSON_MISSING) take_launch(r, host);
    sl__memory_read(r, host->call.correlation);
    sl__hold_read(r, host->call.correlation);
}

/* What AMD's traces say here of what is launched. */
static void take_sizes(sl__event *event, sl__host *host)
{
    uint64_t blocks = 0, threads = 0;
    sl__event_count(event, SL__ARG_SIZE, &host->bytes);
    sl__event_product(event, SL__ARG_GRID, UINT32_MAX, &blocks);
    sl__event_product(event, SL__ARG_BLOCK, UINT16_MAX, &threads);
    host->blocks = (uint32_t)blocks;
    host->threads = (uint16_t)threads;
}

sl_status sl__host_read(sl__reader *r, sl__host *host)
{
    sl__event *event = &r->event;
    sl__records *records = &r->records;
    bool host_work = event->category == SL__CAT_CPU_OP;
    host->stream = host->target_stream = SL__NO_STREAM;
    host->call.name = sl__reader_intern(r, &event->name);
    bool numbered = host_work || event->category == SL__CAT_EDGE;
    sl__event_count(event, numbered ? SL__ARG_EXTERNAL_ID : SL__ARG_CORRELATION,
                    &host->call.correlation);
    sl__call_classify(sl_timeline_text(records->timeline, host->call.name), host);
    if (host_work) host->call.kind = SL_CALL_HOST_WORK;
    sl__json_whole(&event->pid, &host->pid);
    sl__json_whole(&event->tid, &host->tid);
    if (records->own)
        take_own_call(r, host);
    else
        take_sizes(event, host);
    records->n_recorded[SL__RECORDED_CALL] += !host_work;
    if (event->status == SL_OK) event->status = SL__RECORDS_ADD(records, hosts, host, event->err);
    return event->status;
}

sl_status sl__sync_read(sl__reader *r)
{
    sl__event *event = &r->event;
    sl__records *records = &r->records;
    sl__sync sync = { .record = -1 };
    sl__event_count(event, SL__ARG_CORRELATION, &sync.correlation);
    sl__json_scaled(&event->ts, 3, &sync.start_ns);
    sync.device = sl__device_read(event);
    sync.stream = read_stream(event, SL__ARG_STREAM);
    sync.wait_stream = read_stream(event, SL__ARG_WAIT_STREAM);
    int64_t wait_device = sync.device;
    sl__event_whole(event, SL__ARG_WAIT_DEVICE, &wait_device);
    sync.stream = sl__own_stream(records, sync.device, sync.stream);
    sync.wait_stream = sl__own_stream(records, wait_device, sync.wait_stream);
    sl__event_whole(event, SL__ARG_WAIT_RECORD, &sync.record);
    if (event->status == SL_OK) event->status = SL__RECORDS_ADD(records, syncs, &sync, event->err);
    return event->status;
}
