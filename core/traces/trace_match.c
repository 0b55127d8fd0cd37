/* trace_match.c - what belongs together in a trace, and what it does not say.
 *
 * In this order:
 *   device      the timeline is of one: trace_device.c.
 *   launches    the call with an operation's correlation enqueued it. Others of the same
 *               correlation (the driver's call within the run-time's) are part of it. The launch
 *               of a graph stays a call, of what it ran each gets a number: trace_graphs.c. An
 *               operation whose launch is not in the file is taken to be issued when it
 *               started, and no later than what follows it in its stream.
 *   synchronisations   say which stream and record a call was about. A record that none
 *               refers to, and a wait that none explains, stay host API calls: their stream is
 *               not known.
 *   order       of issue. The file's correlations are kept if they are unique and ascend
 *               with the host's time; if not, everything gets new numbers.
 *   waits       that show in the times alone: trace_waits.c. A copy that was over when its
 *               call returned blocked the host.
 * Our own files contain all of this; their parts are only put together again.
 */

#include "trace_match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../timeline/guess.h"
#include "../timeline/sort.h"
#include "../timeline/store.h"
#include "kineto.h"
#include "comm_nvtx.h"

#define ISSUE_NS 12000  /* longer than a call that only issues a copy */
#define RETURN_NS 50000 /* from a copy's end to the return of the call that waited for it */

/* ---- storage -------------------------------------------------------------------- */

static sl_status array_of(void **array, size_t n, size_t size, sl_error *err)
{
    *array = calloc(n + 1, size);
    return *array ? SL_OK : sl__no_memory(err, "%zu events of a trace", n);
}

static void match_close(sl__match *m)
{
    sl__streams_free(&m->streams);
    sl_text_free(&m->devices);
    free(m->items);
    free(m->position);
    free(m->by_number);
}

/* ---- launches --------------------------------------------------------------------- */

/* Host API calls first, which may be launches; of these the outermost first. */
SL__ORDER(by_correlation, sl__host, x->call.correlation, SL__DOWN(sl__is_plain(x)),
          x->call.host_start_ns, SL__DOWN(x->call.host_end_ns), x->number);

/* Whether the call of a copy, which had begun before that was over, waited for it. Only copies from
 * or to pageable memory are known to do this by their names; of another one (AMD's names do not
 * tell pageable memory) it shows in the times: a call that only issues is short, and returns
 * before. */
static bool call_waited(const sl_span *copy, const sl__host *host)
{
    int64_t took_ns = copy->host_end_ns - copy->host_start_ns;
    int64_t since_ns = copy->host_end_ns - copy->end_ns;
    if (copy->kind < SL_SPAN_MEMCPY_H2D || copy->kind > SL_SPAN_MEMCPY_P2P || since_ns < 0)
        return false;
    bool known = host->does == SL__DOES_COPY
                 || copy->flags & (SL_SPAN_SRC_PAGEABLE | SL_SPAN_DST_PAGEABLE);
    return known || (took_ns > ISSUE_NS && since_ns <= RETURN_NS);
}

/* Our own files say which calls waited for a copy. */
static void take_launch(const sl__records *records, sl__work *work, const sl__host *host)
{
    sl_span *span = &work->span;
    span->host_start_ns = host->call.host_start_ns;
    span->host_end_ns = host->call.host_end_ns;
    work->thread = (uint32_t)host->thread;
    work->launched = true;
    if (work->has_no_call) return; /* it says the rest itself */
    span->where = host->call.where;
    const bool copies = span->kind >= SL_SPAN_MEMCPY_H2D && span->kind <= SL_SPAN_MEMSET;
    if (span->bytes == 0 && copies) span->bytes = host->bytes;
    if (span->blocks == 0 && host->blocks > 0 && span->kind == SL_SPAN_KERNEL) {
        span->blocks = host->blocks;
        span->threads = host->threads;
    }
    if (host->waited || (!records->own && call_waited(span, host)))
        span->flags |= SL_SPAN_HOST_WAITED;
    if (host->loaded) span->flags |= SL_SPAN_LOADED;
    if (host->queue_full) span->flags |= SL_SPAN_QUEUE_FULL;
}

/* The call and those within it launched something. A graph's launch stays in the timeline. */
static void mark_launch(const sl__records *records, sl__host *host)
{
    const sl__host *end = records->hosts + records->n_hosts, *outermost = host;
    for (; host < end && !host->launch && sl__is_plain(host)
           && host->call.correlation == outermost->call.correlation;
         host++)
        host->launch = host != outermost || host->does != SL__DOES_LAUNCH_GRAPH;
}

/* Captured records and waits of our own files were made by the graph's launch. */
static void time_edges(const sl__records *records)
{
    for (size_t i = 0; i < records->n_hosts; i++) {
        sl__host *host = &records->hosts[i];
        const sl__host *launch = sl__host_find(records, host->launched_by, true);
        if (!launch) continue;
        host->call.host_start_ns = launch->call.host_start_ns;
        host->call.host_end_ns = launch->call.host_end_ns;
    }
}

/* One launch may have many operations (a graph's), and an operation many calls, of which
 * all but the outermost are left out. */
static void find_launches(sl__match *m)
{
    sl__records *records = m->records;
    for (size_t i = 0; i < records->n_works; i++) {
        sl__work *work = &records->works[i];
        sl__host *host = sl__launch_find(records, work);
        if (!host) continue;
        host->has_work = true;
        take_launch(records, work, host);
        if (m->takes_one && work->device != m->device)
            continue; /* for this device it is like any other call */
        if (!records->own && host->does == SL__DOES_LAUNCH_GRAPH) {
            work->is_node = true;
            work->launch = host->call.correlation;
        }
        if (!work->has_no_call) mark_launch(records, host);
    }
    time_edges(records);
}

/* ---- synchronisations ---------------------------------------------------------------- */

/* Whose record it was; only one with a stream can be waited for. */
static void take_record(sl__records *records, const sl__sync *sync, sl__host *host)
{
    sl__host *record = sync->record > 0 ? sl__host_find(records, (uint64_t)sync->record, false)
                                        : NULL;
    if (!record || record->elsewhere || record->call.kind != SL_CALL_EVENT_RECORD) return;
    if (record->stream == SL__NO_STREAM) record->stream = sync->wait_stream;
    if (record->stream == SL__NO_STREAM) return;
    host->call.target = record->call.correlation;
    host->target_stream = sync->wait_stream != SL__NO_STREAM ? sync->wait_stream : record->stream;
}

/* Which calls were about another device, before records are looked for. */
static void find_elsewhere(sl__match *m)
{
    sl__records *records = m->records;
    for (size_t i = 0; i < records->n_syncs && m->takes_one; i++) {
        const sl__sync *sync = &records->syncs[i];
        sl__host *host = sl__host_find(records, sync->correlation, false);
        if (host && sync->device != m->device) host->elsewhere = true;
    }
}

static void apply_sync(sl__records *records, const sl__sync *sync)
{
    sl__host *host = sl__host_find(records, sync->correlation, false);
    if (!host) return;
    host->explained = true;
    if (host->elsewhere || host->failed) return;
    if (host->stream == SL__NO_STREAM) host->stream = sync->stream;
    take_record(records, sync, host);
}

/* Whether enough is known of a call to be of its kind. Ours have a cuda_sync event for each
 * synchronisation: one without comes from a foreign trace, which did not say more, either. */
static bool is_understood(const sl__match *m, const sl__host *host)
{
    switch ((sl_call_kind)host->call.kind) {
    case SL_CALL_EVENT_RECORD:
    case SL_CALL_STREAM_WAIT: return !host->elsewhere && host->stream != SL__NO_STREAM;
    case SL_CALL_STREAM_SYNC:
    case SL_CALL_EVENT_SYNC:
    case SL_CALL_DEVICE_SYNC: return !host->elsewhere && (host->explained || !m->records->own);
    case SL_CALL_PLAIN:
    case SL_CALL_HOST_WORK:
    case SL_CALL_KINDS: break;
    }
    return true;
}

/* A recorded process that waits for the device waits for its own work there. */
static void wait_as_process(sl__host *host)
{
    const bool waits = host->call.kind == SL_CALL_DEVICE_SYNC
                       || (sl__is_plain(host) && host->does == SL__DOES_WAIT_MAYBE);
    const uint64_t process = host->call.correlation >> SL__PROCESS_BITS;
    if (waits && process > 0 && host->stream == SL__NO_STREAM)
        host->stream = (int64_t)(process << SL__PROCESS_BITS | SL__FIRST_STREAM);
}

static void settle_kinds(sl__match *m)
{
    sl__records *records = m->records;
    find_elsewhere(m);
    for (size_t i = 0; i < records->n_syncs; i++)
        apply_sync(records, &records->syncs[i]);
    for (size_t i = 0; i < records->n_hosts; i++) {
        sl__host *host = &records->hosts[i];
        records->doubted[SL_DOUBT_UNKNOWN_WAITS].n += !records->own && !host->explained
                                                      && (host->call.kind == SL_CALL_STREAM_WAIT
                                                          || host->call.kind == SL_CALL_EVENT_SYNC);
        if (!is_understood(m, host)) sl__forget_kind(host);
        if (records->recorded && !records->own) wait_as_process(host);
    }
    if (records->doubted[SL_DOUBT_UNKNOWN_WAITS].n > 0)
        sl_text_add(&records->doubted[SL_DOUBT_UNKNOWN_WAITS].what, "%s",
                    records->nsys ? "the report has no record of the synchronisation"
                                  : "there is no cuda_sync event");
}

/* ---- order ----------------------------------------------------------------------------- */

static void shift_ranges(const sl__records *records)
{
    uint32_t numbers[SL__MOST_RANGE_THREADS];
    for (size_t i = 0; i < records->n_range_threads; i++)
        numbers[i] = records->range_threads[i].number;
    sl__host_ranges_move(records->timeline, records->first_ns, numbers, records->n_range_threads);
}

/* Times count from the first event. Our own files have the recording's clock. */
static sl_status shift_times(sl__match *m, sl_error *err)
{
    sl__records *records = m->records;
    int64_t base_ns = records->first_ns;
    if (records->own || !records->timed) return SL_OK;
    if (records->last_ns - base_ns >= SL__TIME_LIMIT_NS)
        return sl_fail(err, SL_EINVAL, "its events lie more than 73 years apart");
    for (size_t i = 0; i < records->n_works; i++) {
        sl_span *span = &records->works[i].span;
        span->start_ns -= base_ns;
        span->end_ns -= base_ns;
        span->host_start_ns -= base_ns;
        span->host_end_ns -= base_ns;
    }
    for (size_t i = 0; i < records->n_hosts; i++) {
        records->hosts[i].call.host_start_ns -= base_ns;
        records->hosts[i].call.host_end_ns -= base_ns;
    }
    shift_ranges(records);
    return SL_OK;
}

SL__ORDER(by_stream_and_start, sl__work, x->stream, x->span.start_ns, x->span.correlation,
          x->span.end_ns, x->number);

/* The works are in order of stream and start. */
static void place_unlaunched(sl__records *records)
{
    for (size_t i = records->n_works; i-- > 1;) {
        const sl__work *after = &records->works[i];
        sl__work *work = &records->works[i - 1];
        if (!work->launched && work->stream == after->stream
            && work->span.host_start_ns > after->span.host_start_ns)
            work->span.host_start_ns = work->span.host_end_ns = after->span.host_start_ns;
    }
}

SL__ORDER(by_issue, sl__issued, x->host_start_ns, x->correlation, SL__DOWN(x->launches_graph),
          x->start_ns, x->call, x->index);

SL__ORDER(by_number, sl__issued, x->correlation, x->host_start_ns, SL__DOWN(x->launches_graph),
          x->start_ns, x->call, x->index);

static void number_items(sl__match *m)
{
    sl__issued *items = m->items;
    m->renumbered = m->n_items > 0 && items[0].correlation == 0;
    for (size_t i = 1; i < m->n_items; i++)
        m->renumbered |= items[i].correlation <= items[i - 1].correlation;
    if (m->renumbered && m->records->own) /* the file was edited */
        sl__sort(items, m->n_items, sizeof *items, by_issue);
    for (size_t i = 0; i < m->n_items; i++) {
        items[i].issue = m->renumbered ? i + 1 : items[i].correlation;
        if (!items[i].call) m->position[items[i].index] = i;
    }
}

static sl_status put_in_order(sl__match *m, sl_error *err)
{
    sl__records *records = m->records;
    size_t n = records->n_works + records->n_hosts;
    sl_status status = array_of((void **)&m->items, n, sizeof *m->items, err);
    if (status == SL_OK)
        status = array_of((void **)&m->position, records->n_works, sizeof *m->position, err);
    if (status != SL_OK) return status;
    if (records->n_works > 1)
        sl__sort(records->works, records->n_works, sizeof *records->works, by_stream_and_start);
    place_unlaunched(records);
    for (size_t i = 0; i < records->n_works; i++) {
        const sl_span *span = &records->works[i].span;
        m->items[m->n_items++] = (sl__issued){ .host_start_ns = span->host_start_ns,
                                               .start_ns = span->start_ns,
                                               .correlation = span->correlation,
                                               .index = i };
    }
    for (size_t i = 0; i < records->n_hosts; i++) {
        const sl_call *call = &records->hosts[i].call;
        if (!records->hosts[i].launch)
            m->items[m->n_items++] = (sl__issued){ .host_start_ns = call->host_start_ns,
                                                   .correlation = call->correlation,
                                                   .index = i,
                                                   .call = true,
                                                   .launches_graph = records->hosts[i].does
                                                                     == SL__DOES_LAUNCH_GRAPH };
    }
    sl__sort(m->items, m->n_items, sizeof *m->items, records->own ? by_number : by_issue);
    number_items(m);
    return SL_OK;
}

/* ---- the timeline ------------------------------------------------------------------------ */

static sl_status sort_by_number(sl__match *m, sl_error *err)
{
    if (!m->renumbered) return SL_OK;
    sl_status status = array_of((void **)&m->by_number, m->n_items, sizeof *m->items, err);
    if (status != SL_OK) return status;
    memcpy(m->by_number, m->items, m->n_items * sizeof *m->items);
    sl__sort(m->by_number, m->n_items, sizeof *m->items, by_number);
    return SL_OK;
}

static uint32_t stream_id(const sl__match *m, int64_t number)
{
    return number == SL__NO_STREAM ? 0 : m->streams.all[sl__streams_find(&m->streams, number)].id;
}

static sl_status add_thread(sl__match *m, uint64_t issue, uint32_t thread, sl_error *err)
{
    const sl_thread_note note = { issue, thread };
    return thread == 0 ? SL_OK : sl_timeline_add_thread(m->records->timeline, &note, err);
}

static sl_status add_call(sl__match *m, const sl__issued *it, sl_error *err)
{
    const sl__host *host = &m->records->hosts[it->index];
    sl_call call = host->call;
    call.correlation = it->issue;
    call.target = sl__issue_of(m, call.target);
    call.stream = stream_id(m, host->stream);
    call.target_stream = stream_id(m, host->target_stream);
    if (call.target >= call.correlation) /* nothing waits for what comes later */
        call.target = call.target_stream = 0;
    if (call.kind == SL_CALL_EVENT_RECORD || call.kind == SL_CALL_STREAM_WAIT)
        call.queue_full = host->queue_full;
    m->origin.unknown_waits |= !m->records->backend[0] && !m->origin.recorded
                               && sl__call_is_unknown_wait(m->records->timeline, &call);
    bool named = call.kind == SL_CALL_PLAIN || call.kind == SL_CALL_HOST_WORK;
    if (!named || strcmp(sl_timeline_text(m->records->timeline, call.name), "host_work") == 0)
        call.name = 0; /* the kind says it */
    sl_status status = sl_timeline_add_call(m->records->timeline, &call, err);
    return status == SL_OK ? add_thread(m, it->issue, (uint32_t)host->thread, err) : status;
}

static sl_status add_node(sl__match *m, const sl__work *work, uint64_t issue, sl_error *err)
{
    uint64_t launch = sl__issue_of(m, work->launch);
    sl_node_note note = {
        .correlation = issue,
        .launch = launch < issue ? launch : 0,
        .graph = work->graph,
        .node = work->node,
        .priority = m->records->own ? work->captured_priority : work->priority,
    };
    return sl_timeline_add_node(m->records->timeline, &note, err);
}

static sl_status add_items(sl__match *m, sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t i = 0; i < m->n_items && status == SL_OK; i++) {
        const sl__issued *it = &m->items[i];
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        if (it->call) {
            if (!m->records->hosts[it->index].is_part) status = add_call(m, it, err);
            continue;
        }
        const sl__work *work = &m->records->works[it->index];
        sl_span span = work->span;
        span.correlation = it->issue;
        status = sl_timeline_add_span(m->records->timeline, &span, err);
        if (status == SL_OK) status = add_thread(m, it->issue, work->thread, err);
        if (status == SL_OK && work->is_node) status = add_node(m, work, it->issue, err);
    }
    return status;
}

static sl_status add_holds(sl__match *m, sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t i = 0; i < m->records->n_holds && status == SL_OK; i++) {
        sl_hold hold = m->records->holds[i];
        hold.correlation = sl__issue_of(m, hold.correlation);
        hold.ready_by = sl__issue_of(m, hold.ready_by);
        hold.start_by = sl__issue_of(m, hold.start_by);
        if (m->renumbered && hold.ready_by >= hold.correlation) hold.ready_by = 0;
        if (hold.correlation != 0) status = sl_timeline_add_hold(m->records->timeline, &hold, err);
    }
    return status;
}

static sl_device_info info_of(const sl__records *records, int index)
{
    sl_device_info info = { .index = index };
    for (size_t i = records->n_devices; i-- > 0;) {
        if (records->devices[i].index == index) info = records->devices[i];
    }
    if (records->own) {
        memcpy(info.profile, records->info.profile, sizeof info.profile);
        info.backend = records->info.backend;
        info.simulated = info.knows_causes = records->info.simulated;
        info.async_engine_count = records->info.async_engine_count;
        info.priority_least = records->info.priority_least;
        info.priority_greatest = records->info.priority_greatest;
        for (size_t i = 1; i < records->n_places; i++)
            if (records->places[i].index == index)
                memcpy(info.profile, records->places[i].profile, sizeof info.profile);
    } else if (!info.name[0]) {
        snprintf(info.name, sizeof info.name, "GPU %d", info.index);
    }
    return info;
}

/* Of ours, those behind the first one. */
static sl_status add_devices(const sl__records *records, sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t i = 1; i < records->n_places && status == SL_OK; i++) {
        sl_device_info info = info_of(records, records->places[i].index);
        int at;
        status = sl_timeline_add_device(records->timeline, &info, &at, err);
    }
    return status;
}

static sl_status set_devices(const sl__match *m, sl_error *err)
{
    const sl__records *records = m->records;
    bool fits = m->device >= 0 && m->device <= INT32_MAX;
    sl_device_info info = info_of(records, fits ? (int)m->device : 0);
    sl_timeline_set_device(records->timeline, &info);
    sl_timeline_set_origin(records->timeline, m->origin);
    if (records->own && m->takes_one) return SL_OK; /* the range is that of all */
    sl_timeline_set_range(records->timeline, records->range);
    return add_devices(records, err);
}

/* Where work of several GPUs is in the file, and what has no launch. */
static void doubt_parts(sl__match *m)
{
    sl__records *records = m->records;
    sl__doubted *several = &records->doubted[SL_DOUBT_SEVERAL_GPUS];
    sl__doubted *loose = &records->doubted[SL_DOUBT_NO_LAUNCH];
    loose->of = records->n_works;
    records->doubted[SL_DOUBT_PLAYED].n = records->is_played;
    for (size_t i = 0; i < records->n_works; i++)
        loose->n += !records->works[i].launched;
    if (!m->devices.len) return;
    several->n = m->n_devices;
    sl_text_add(&several->what, "%s. This is GPU %" PRId64 "%s", m->devices.data, m->device,
                records->own ? ", without what it waited for on the others" : "");
}

/* Which rank of a distributed program it is; and its clock. */
static void set_rank(sl__match *m)
{
    const sl__records *records = m->records;
    m->origin.is_joined = records->is_joined;
    m->origin.is_played = records->is_played;
    if (records->rank < records->ranks) {
        m->origin.rank = records->rank;
        m->origin.ranks = records->ranks;
    }
    if (!records->own)
        m->origin.epoch_ns = records->clock_ns + (records->timed ? records->first_ns : 0);
    else if (records->clock_ns > 0) /* of the file's time 0, when the recording began */
        m->origin.epoch_ns = records->clock_ns - records->start_ns;
}

static void finish(const sl__match *m)
{
    const sl__records *records = m->records;
    int64_t start_ns = records->start_ns, length_ns = records->wall_ns;
    if (length_ns < 0) {
        length_ns = records->last_ns - (records->own ? 0 : records->first_ns);
        length_ns = sl__min(sl__max(length_ns, 0), SL__TIME_LIMIT_NS - 1); /* as in a file */
    }
    sl_timeline_finish(records->timeline, start_ns, start_ns + length_ns);
}

static sl_status match_all(sl__match *m, sl_error *err)
{
    sl__records *records = m->records;
    sl_status status = sl__untimed_leave(records, err);
    if (status == SL_OK) status = sl__processes_part(records, err);
    if (status == SL_OK) status = sl__threads_find(records, err);
    if (status == SL_OK) status = sl__stalls_add(records, err);
    if (status == SL_OK) status = shift_times(m, err);
    if (status == SL_OK) status = sl__device_choose(m, err);
    if (status != SL_OK) return status;
    if (records->n_hosts > 1)
        sl__sort(records->hosts, records->n_hosts, sizeof *records->hosts, by_correlation);
    sl__too_long_cut(records);
    status = sl__clock_settle(m, err);
    if (status != SL_OK) return status;
    find_launches(m);
    status = sl__missing_count(records, err);
    if (status != SL_OK) return status;
    status = sl__collectives_find(m, err);
    if (status == SL_OK) status = sl__exchanges_find(m, err);
    if (status != SL_OK) return status;
    sl__device_leave_others(m);
    status = sl__turns_find(records, err);
    if (status != SL_OK) return status;
    status = sl_interrupt_check(err);
    if (status != SL_OK) return status;
    settle_kinds(m);
    status = sl__graphs_arrange(m, err);
    if (status != SL_OK) return status;
    status = sl__streams_collect(records, m->device, &m->streams, err);
    for (size_t i = 0; status == SL_OK && i < records->n_works; i++)
        records->works[i].span.stream = stream_id(m, records->works[i].stream);
    if (status == SL_OK) status = put_in_order(m, err);
    if (status == SL_OK) status = sl_interrupt_check(err);
    if (status == SL_OK) status = sl__infer_waits(m, err);
    if (status == SL_OK) status = sl__streams_describe(records, m->device, &m->streams, err);
    return status == SL_OK ? sort_by_number(m, err) : status;
}

sl_status sl__records_match(sl__records *records, sl_error *err)
{
    sl__match m = { .records = records,
                    .origin = { .pytorch = records->pytorch,
                                .recorded = records->recorded && !records->open_waits } };
    if (records->recorded && !records->nsys && !records->is_played)
        m.origin.costs = sl__recorder_costs;
    else if (records->own)
        m.origin.costs.work_ns = records->recording_ns;
    sl_status status = match_all(&m, err);
    if (status == SL_OK) status = sl__streams_note(records, &m.streams, err);
    if (status == SL_OK) status = add_items(&m, err);
    if (status == SL_OK) status = add_holds(&m, err);
    if (status == SL_OK) status = sl__graphs_note(&m, err);
    if (status == SL_OK) status = sl__memory_note_all(&m, err);
    doubt_parts(&m);
    if (status == SL_OK) status = sl__profiler_cost(records, err);
    if (status == SL_OK) status = sl__doubts_tell(records->doubted, records->timeline, err);
    set_rank(&m);
    if (status == SL_OK) status = set_devices(&m, err);
    if (status == SL_OK) status = sl__exchanges_note(&m, err);
    if (status == SL_OK) finish(&m);
    match_close(&m);
    return status;
}
