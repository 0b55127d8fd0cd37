/* kineto_write.c - a timeline as the JSON trace that PyTorch's kineto writes.
 *
 * One file serves Perfetto, chrome://tracing, Holistic Trace Analysis (HTA),
 * speedscope and Tracy, so it keeps to what all of them need:
 *   - Device work is on pid = device index, tid = stream + 7: CUPTI numbers the
 *     default stream 7, and HTA takes stream 0 for none. The host is pid 4242,
 *     a constant, since equal runs must give equal bytes.
 *   - Every operation is a pair with one correlation: a cuda_runtime slice of the
 *     host and the device's slice, joined by an "ac2g" flow.
 *   - Synchronisations are cuda_runtime slices, paired as CUPTI does with a
 *     cuda_sync slice of the device on a row of its own (tid + 1000000), where it
 *     cannot overlap kernels. Both last as long as the host's call, but for a stream's
 *     wait, which lasts no time on the device.
 *   - Slices of one row never overlap (Perfetto would drop them): times are exact
 *     to the ns, and one that begins before its predecessor's end is moved there; one
 *     that touches it is moved by 1 ns where arithmetic with doubles needs that.
 *   - A call within another one is on a row beside the script's; a thread that the script has
 *     started has a row of its own.
 *   - A host function is a cpu_op of the host process, without "stream" and
 *     "correlation": with them HTA would take it for device work and for a second
 *     launch. It has a row per stream, because only a stream orders its functions.
 *     So is the host's own work, on the script's row.
 *   - Ranges of the host have rows of their own (kineto_write_ranges.c).
 *   - A user_annotation on the script's row spans the recording: HTA's critical path
 *     is that of an annotation.
 *   - What a launch of a graph ran has the launch's correlation, as in kineto's files, and no call
 *     of its own; records and waits that were captured are instants of their rows.
 *   - The first event is metadata: HTA reads index 0 as "not linked".
 *   - "rank": 0 has its blank; HTA looks for one.
 *   - "traceName" is a constant, not the path: the same run saved under two names
 *     gives the same bytes.
 * Times are in us with three decimals, relative to the recording's start.
 */
#include "traces.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/json.h"
#include "../timeline/store.h"
#include "kineto.h"
#include "kineto_write.h"

#define CPU_TID 4242
#define THREAD_TID 5000  /* plus the number of a thread that the script has started */
#define SYNC_TID 1000000 /* plus the stream's; alone for the whole device */
#define CONTEXT "1"
#define WARP 32
#define RUNTIME "cuda_runtime"

static sl__trace_rows *lane_of(sl__writer *w, uint32_t stream)
{
    return &w->lanes[sl__lanes_find(&w->index, stream)];
}

/* Among the keys of our own a stream's number has its device in it. */
static uint64_t own_number(uint32_t stream) { return (uint64_t)stream + SL__FIRST_STREAM; }

/* ---- metadata --------------------------------------------------------------- */

static void name_process(sl__writer *w, int pid, const char *name, const char *label,
                         uint64_t order)
{
    sl__write_meta_begin(w, "process_name", pid, 0);
    sl__json_string(&w->file, "\"name\":", name);
    sl__json_raw(&w->file, "}}");
    sl__write_meta_begin(w, "process_labels", pid, 0);
    sl__json_string(&w->file, "\"labels\":", label);
    sl__json_raw(&w->file, "}}");
    sl__write_meta_begin(w, "process_sort_index", pid, 0);
    sl__json_uint(&w->file, "\"sort_index\":", order);
    sl__json_raw(&w->file, "}}");
}

/* "stream 8: compute", "stream 8 sync", ... */
static sl_status name_row(sl__writer *w, int pid, uint64_t tid, const char *prefix, uint32_t stream,
                          const char *suffix, sl_error *err)
{
    sl_text name = { 0 };
    sl_text_add(&name, "%sstream %" PRIu64 "%s", prefix, sl__written_stream(w, stream), suffix);
    if (!*suffix) {
        const sl_stream_note *note = sl__timeline_note(w->timeline, stream);
        if (note && note->name)
            sl_text_add(&name, ": %s", sl_timeline_text(w->timeline, note->name));
    }
    bool failed = name.failed;
    if (!failed) sl__write_row_name(w, pid, tid, name.data);
    sl_text_free(&name);
    return failed ? sl__no_memory(err, "a stream's name") : SL_OK;
}

static void find_rows(sl__writer *w)
{
    const size_t n_spans = sl_timeline_span_count(w->timeline);
    const size_t n_calls = sl_timeline_call_count(w->timeline);
    for (size_t i = 0; i < n_spans; i++) {
        sl_span span = sl_timeline_span(w->timeline, i);
        sl__trace_rows *l = lane_of(w, span.stream);
        bool host = span.kind == SL_SPAN_HOST_FUNC;
        l->host |= host;
        l->device |= !host;
    }
    for (size_t i = 0; i < n_calls; i++) {
        sl_call call = sl_timeline_call(w->timeline, i);
        if (sl_timeline_call_launch(w->timeline, &call) != SL_NOT_FOUND)
            lane_of(w, call.stream)->device = true;
        else if (call.kind == SL_CALL_STREAM_SYNC || call.kind == SL_CALL_STREAM_WAIT)
            lane_of(w, call.stream)->sync = true;
        if (call.kind == SL_CALL_EVENT_SYNC || call.kind == SL_CALL_DEVICE_SYNC)
            w->devices[sl_timeline_place(w->timeline, call.stream)].sync = true;
    }
}

static sl_status name_gpu(sl__writer *w, int place, sl_error *err)
{
    const sl_device_info *info = sl_timeline_device_at(w->timeline, place);
    sl_text gpu = { 0 };
    const bool is_rank = sl_timeline_origin(w->timeline).is_joined;
    sl_text_add(&gpu, "%s %d%s%s%s", is_rank ? "rank" : "GPU", info->index,
                info->name[0] ? ": " : "", info->name, info->simulated ? " (simulated)" : "");
    const bool named = !gpu.failed;
    if (named) name_process(w, info->index, gpu.data, "GPU", (uint64_t)place + 1);
    sl_text_free(&gpu);
    return named ? SL_OK : sl__no_memory(err, "a device's name");
}

static sl_status name_rows(sl__writer *w, size_t lane, sl_error *err)
{
    uint32_t id = w->index.ids[lane];
    int pid = sl__pid_of(w, id);
    uint64_t tid = sl__written_stream(w, id);
    sl_status status = SL_OK;
    if (w->lanes[lane].device) status = name_row(w, pid, tid, "", id, "", err);
    if (w->lanes[lane].sync && status == SL_OK)
        status = name_row(w, pid, SYNC_TID + tid, "", id, " sync", err);
    if (w->lanes[lane].host && status == SL_OK)
        status = name_row(w, SL__HOST_PID, SL__HOST_FUNC_TID + own_number(id), "host functions, ",
                          id, "", err);
    return status;
}

static sl_status put_metadata(sl__writer *w, sl_error *err)
{
    int n_devices = sl_timeline_device_count(w->timeline);
    sl_status status = SL_OK;
    name_process(w, SL__HOST_PID, "host", "CPU", 0);
    sl__write_row_name(w, SL__HOST_PID, CPU_TID, "script");
    w->n_cpu_rows = 1;
    for (int place = 0; place < n_devices && status == SL_OK; place++)
        status = name_gpu(w, place, err);
    for (size_t i = 0; i < w->index.n && status == SL_OK; i++)
        status = name_rows(w, i, err);
    for (int place = 0; place < n_devices; place++)
        if (w->devices[place].sync)
            sl__write_row_name(w, w->devices[place].pid, SYNC_TID, "device sync");
    return status;
}

/* ---- operations -------------------------------------------------------------- */

/* The host's row for a call: the first that is free then, or else the last. */
static int cpu_row_at(sl__writer *w, int64_t start_ns)
{
    int i = 0;
    while (i < SL__CPU_ROWS - 1 && w->cpu_rows[i].filled && start_ns < w->cpu_rows[i].own_end_ns)
        i++;
    if (i >= w->n_cpu_rows) {
        char name[] = "beside the script, 1";
        name[sizeof name - 2] = (char)('0' + i);
        sl__write_row_name(w, SL__HOST_PID, CPU_TID + (uint64_t)i, name);
        w->n_cpu_rows = i + 1;
    }
    return i;
}

/* Where a slice went. */
typedef struct spot {
    uint64_t tid;
    sl__interval when;
} spot;

static spot place_in_thread(sl__writer *w, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
    spot at = { .tid = THREAD_TID + (uint64_t)thread };
    if (!w->threads[thread].filled) {
        sl_text name = { 0 };
        sl__add_thread_name(w, thread, &name);
        sl__write_row_name(w, SL__HOST_PID, at.tid, name.failed ? "" : name.data);
        sl_text_free(&name);
    }
    at.when = sl__row_place(&w->threads[thread], w->base_ns, start_ns, end_ns);
    return at;
}

static spot place_call(sl__writer *w, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
    if (thread > 0) return place_in_thread(w, thread, start_ns, end_ns);
    const int i = cpu_row_at(w, start_ns);
    return (spot){ CPU_TID + (uint64_t)i,
                   sl__row_place(&w->cpu_rows[i], w->base_ns, start_ns, end_ns) };
}

/* The slice of the host's call; the caller may add to its args. What is no call of CUDA's
 * has its issue number as "External id" alone: nothing on the device belongs to it. */
static spot begin_call(sl__writer *w, const char *cat, const char *name, uint64_t correlation,
                       uint32_t where, int64_t start_ns, int64_t end_ns)
{
    const uint32_t thread = sl_timeline_thread(w->timeline, correlation);
    const spot at = place_call(w, thread, start_ns, end_ns);
    sl__slice_begin(w, cat, name, SL__HOST_PID, at.tid, at.when);
    const char *position = sl_timeline_text(w->timeline, where);
    if (*position) sl__json_string(&w->file, ",\"loc\":", position);
    sl__json_uint(&w->file, ",\"args\":{\"External id\":", correlation);
    if (strcmp(cat, RUNTIME) == 0) sl__json_uint(&w->file, ",\"correlation\":", correlation);
    if (*position) sl__json_string(&w->file, ",\"where\":", position);
    if (thread > 0) sl__json_uint(&w->file, ",\"thread\":", thread);
    sl__slice_own_times(w, at.when, start_ns, end_ns);
    return at;
}

/* bytes / ns is GB/s; its thousandths, rounded down. 0 for copies of no duration. */
static int64_t bandwidth_milli(uint64_t bytes, int64_t duration_ns)
{
    if (duration_ns <= 0) return 0;
    uint64_t duration = (uint64_t)duration_ns;
    uint64_t milli = bytes <= UINT64_MAX / 1000 ? bytes * 1000 / duration : bytes / duration;
    return milli > INT64_MAX ? INT64_MAX : (int64_t)milli;
}

static void begin_device_args(sl__writer *w, int pid, uint64_t correlation)
{
    sl__json_uint(&w->file, ",\"args\":{\"External id\":", correlation);
    sl__json_uint(&w->file, ",\"device\":", (uint64_t)pid);
    sl__json_raw(&w->file, ",\"context\":" CONTEXT);
    sl__json_uint(&w->file, ",\"correlation\":", correlation);
}

/* Does a copy's name say which kind it is, as CUPTI's names do? */
static bool names_kind(const char *name, sl_span_kind kind)
{
    static const char *const starts[SL_SPAN_KINDS] = {
        [SL_SPAN_MEMCPY_H2D] = "Memcpy HtoD",
        [SL_SPAN_MEMCPY_D2H] = "Memcpy DtoH",
        [SL_SPAN_MEMCPY_D2D] = "Memcpy DtoD",
        [SL_SPAN_MEMCPY_P2P] = "Memcpy PtoP",
    };
    if (sl_span_kind_is_kernel(kind))
        return sl__names_collective(name) == (kind == SL_SPAN_COLLECTIVE);
    return !starts[kind] || strncmp(name, starts[kind], strlen(starts[kind])) == 0;
}

/* From where to where, unless the name says it: "Memcpy HtoD (Pinned -> Device)". */
static void put_memory(sl__writer *w, const char *name, const sl_span *span)
{
    static const char *const ways[3][3] = {
        { "Device -> Device", "Device -> Pageable", "Device -> Pinned" },
        { "Pageable -> Device", "Pageable -> Pageable", "Pageable -> Pinned" },
        { "Pinned -> Device", "Pinned -> Pageable", "Pinned -> Pinned" },
    };
    int src = span->flags & SL_SPAN_SRC_PAGEABLE ? 1 : span->flags & SL_SPAN_SRC_PINNED ? 2 : 0;
    int dst = span->flags & SL_SPAN_DST_PAGEABLE ? 1 : span->flags & SL_SPAN_DST_PINNED ? 2 : 0;
    bool implied = strstr(name, " -> ") ? strstr(name, ways[src][dst]) != NULL : !src && !dst;
    if (!implied) sl__json_string(&w->file, ",\"memory\":", ways[src][dst]);
}

/* What every kind of span has among its args, at their end. */
static void end_span(sl__writer *w, const sl_span *span, sl__interval when)
{
    const char *name = sl_timeline_text(w->timeline, span->name);
    if (!names_kind(name, (sl_span_kind)span->kind))
        sl__json_string(&w->file, ",\"kind\":", sl_span_kind_name((sl_span_kind)span->kind));
    if (span->engine != sl__usual_engine((sl_span_kind)span->kind))
        sl__json_string(&w->file, ",\"engine\":", sl_engine_name((sl_engine)span->engine));
    put_memory(w, name, span);
    sl__write_node(w, span);
    sl__write_hold(w, span->correlation);
    sl__slice_own_times(w, when, span->start_ns, span->end_ns);
    sl__json_raw(&w->file, "}}");
}

static void put_host_func(sl__writer *w, const sl_span *span, uint64_t tid, sl__interval when)
{
    sl__slice_begin(w, "cpu_op", sl_timeline_text(w->timeline, span->name), SL__HOST_PID, tid,
                    when);
    sl__json_uint(&w->file, ",\"args\":{\"External id\":", span->correlation);
    end_span(w, span, when);
}

/* Thousandths of a figure for each SM, rounded down. */
static void per_sm(sl__writer *w, const char *key, uint64_t figure, uint64_t parts)
{
    sl__json_milli(&w->file, key, (int64_t)(figure * 1000 / parts));
}

static void put_grid(sl__writer *w, const sl_span *span)
{
    sl__json_uint(&w->file, ",\"grid\":[", span->blocks);
    sl__json_uint(&w->file, ",1,1],\"block\":[", span->threads);
    sl__json_raw(&w->file, ",1,1]");
}

static void put_resources(sl__writer *w, const sl_span *span)
{
    if (!span->registers) return;
    sl__json_uint(&w->file, ",\"registers per thread\":", span->registers);
    sl__json_uint(&w->file, ",\"shared memory\":", span->shared_bytes);
}

static void put_kernel_args(sl__writer *w, const sl_span *span)
{
    int place = sl_timeline_place(w->timeline, span->stream);
    int sms = sl_timeline_device_at(w->timeline, place)->sm_count;
    sl__json_raw(&w->file, ",\"queued\":0");
    const sl_stream_note *note = sl__timeline_note(w->timeline, span->stream);
    if (note) sl__json_int(&w->file, ",\"priority\":", note->priority);
    put_resources(w, span);
    if (sms > 0) { /* the whole grid's share, as kineto counts, also if it cannot fit */
        uint64_t blocks = span->blocks, n = (uint64_t)sms;
        per_sm(w, ",\"blocks per SM\":", blocks, n);
        per_sm(w, ",\"warps per SM\":", blocks * span->threads, n * WARP);
    }
    put_grid(w, span);
    sl__write_collective(w, span);
    if (span->flags & SL_SPAN_GUESSED) sl__json_raw(&w->file, ",\"guessed\":true");
    if (span->symbol)
        sl__json_string(&w->file, ",\"kernel\":", sl_timeline_text(w->timeline, span->symbol));
}

/* `issued`: the number of its call. */
static void put_device_work(sl__writer *w, const sl_span *span, uint64_t issued, uint64_t tid,
                            sl__interval when)
{
    bool kernel = sl_span_kind_is_kernel(span->kind), set = span->kind == SL_SPAN_MEMSET;
    int pid = sl__pid_of(w, span->stream);
    sl__slice_begin(w,
                    kernel ? "kernel"
                    : set  ? "gpu_memset"
                           : "gpu_memcpy",
                    sl_timeline_text(w->timeline, span->name), pid, tid, when);
    begin_device_args(w, pid, issued);
    sl__json_uint(&w->file, ",\"stream\":", tid);
    if (kernel)
        put_kernel_args(w, span);
    else if (span->blocks) { /* a memset, or a copy within the device: on the SMs as well */
        put_resources(w, span);
        put_grid(w, span);
    }
    if (!kernel || span->bytes) sl__json_uint(&w->file, ",\"bytes\":", span->bytes);
    if (!kernel) {
        sl__json_milli(&w->file, ",\"memory bandwidth (GB/s)\":",
                       bandwidth_milli(span->bytes, when.end_ns - when.start_ns));
        sl__write_peers(w, span);
    }
    end_span(w, span, when);
}

/* The call of an operation, and where the arrow to it starts. */
static void put_own_call(sl__writer *w, const sl_span *span)
{
    spot call = begin_call(w, RUNTIME, sl_span_call_name(span), span->correlation, span->where,
                           span->host_start_ns, span->host_end_ns);
    sl__write_call_flags(w, span);
    sl__json_raw(&w->file, "}}");
    sl__write_flow(w, true, span->correlation, SL__HOST_PID, call.tid, call.when.start_ns);
}

static void put_span(sl__writer *w, const sl_span *span)
{
    bool host = span->kind == SL_SPAN_HOST_FUNC;
    sl__trace_rows *l = lane_of(w, span->stream);
    int pid = host ? SL__HOST_PID : sl__pid_of(w, span->stream);
    uint64_t tid = host ? own_number(span->stream) + SL__HOST_FUNC_TID
                        : sl__written_stream(w, span->stream);
    size_t graph = sl_timeline_span_launch(w->timeline, span);
    uint64_t issued = graph != SL_NOT_FOUND ? sl_timeline_call(w->timeline, graph).correlation
                                            : span->correlation;
    if (graph == SL_NOT_FOUND) put_own_call(w, span);
    sl__interval when = sl__row_place(host ? &l->host_row : &l->device_row, w->base_ns,
                                      span->start_ns, span->end_ns);
    if (host)
        put_host_func(w, span, tid, when);
    else
        put_device_work(w, span, issued, tid, when);
    sl__write_flow(w, false, issued, pid, tid, when.start_ns);
}

/* ---- calls ------------------------------------------------------------------- */

static bool is_recorded(const sl_timeline *timeline, uint64_t correlation)
{
    size_t call = sl_timeline_find_call(timeline, correlation);
    return call != SL_NOT_FOUND && sl_timeline_call(timeline, call).kind == SL_CALL_EVENT_RECORD;
}

static bool is_of_stream(const sl_call *call)
{
    return call->kind == SL_CALL_STREAM_SYNC || call->kind == SL_CALL_STREAM_WAIT;
}

/* The name of the device's side of a synchronisation; NULL for a call without one, also for a wait
 * whose record is not in this trace. */
static const char *sync_name(const sl_call *call, bool recorded)
{
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_STREAM_WAIT: return recorded ? "Stream Wait Event" : NULL;
    case SL_CALL_STREAM_SYNC: return "Stream Sync";
    case SL_CALL_EVENT_SYNC: return "Event Sync";
    case SL_CALL_DEVICE_SYNC: return "Context Sync";
    case SL_CALL_EVENT_RECORD:
    case SL_CALL_PLAIN:
    case SL_CALL_HOST_WORK:
    case SL_CALL_KINDS: break;
    }
    return NULL;
}

/* The device's side of a synchronisation, as CUPTI reports it: "stream" is -1
 * where the host waited for an event or the whole device. That of a stream's wait lasts
 * no time: its name makes it a computation to HTA, whose time would count. */
static void put_sync(sl__writer *w, const sl_call *call, const char *name, bool recorded)
{
    bool of_stream = is_of_stream(call);
    sl__trace_rows *l = lane_of(w, call->stream);
    uint64_t stream = sl__written_stream(w, call->stream);
    int place = sl_timeline_place(w->timeline, call->stream), pid = w->devices[place].pid;
    bool waits = call->kind == SL_CALL_STREAM_WAIT;
    sl__interval when = sl__row_place(of_stream ? &l->sync_row : &w->devices[place].sync_row,
                                      w->base_ns, call->host_start_ns,
                                      waits ? call->host_start_ns : call->host_end_ns);
    sl__slice_begin(w, "cuda_sync", name, pid, SYNC_TID + (of_stream ? stream : 0), when);
    begin_device_args(w, pid, call->correlation);
    sl__json_int(&w->file, ",\"stream\":", of_stream ? (int64_t)stream : -1);
    if (recorded) {
        sl__json_uint(&w->file, ",\"wait_on_stream\":", sl__written_stream(w, call->target_stream));
        if (sl_timeline_place(w->timeline, call->target_stream) != place)
            sl__json_int(&w->file, ",\"wait_on_device\":", sl__pid_of(w, call->target_stream));
        sl__json_uint(&w->file, ",\"wait_on_cuda_event_record_corr_id\":", call->target);
    }
    sl__json_raw(&w->file, "}}");
}

/* What only the call has. A member "stream" would make it device work for HTA. */
static void put_call_args(sl__writer *w, const sl_call *call, bool synced, bool recorded)
{
    bool in_stream = call->kind == SL_CALL_EVENT_RECORD || call->kind == SL_CALL_STREAM_WAIT;
    if (is_of_stream(call) ? !synced : in_stream || call->stream)
        sl__json_uint(&w->file, ",\"in stream\":", own_number(call->stream));
    if (!recorded && (call->target || call->target_stream)) {
        sl__json_uint(&w->file, ",\"waits for\":", call->target);
        sl__json_uint(&w->file, ",\"recorded in\":", own_number(call->target_stream));
    }
    if (call->device_ns) sl__json_milli(&w->file, ",\"device us\":", call->device_ns - w->base_ns);
    if (call->waited_for_device) sl__json_raw(&w->file, ",\"waited for device\":true");
    if (call->queue_full) sl__json_raw(&w->file, ",\"queue full\":true");
    sl__write_hold(w, call->correlation);
}

/* A captured record or wait. */
static void put_edge(sl__writer *w, const sl_call *edge, size_t launch)
{
    sl__write_edge_begin(w, edge, sl_timeline_call(w->timeline, launch).correlation);
    put_call_args(w, edge, false, false);
    sl__json_raw(&w->file, "}}");
}

/* Whether the `next` span is the first of a graph that this call launched. */
static bool launches_next(const sl__writer *w, size_t call, size_t next)
{
    if (next == sl_timeline_span_count(w->timeline)) return false;
    sl_span span = sl_timeline_span(w->timeline, next);
    return sl_timeline_span_launch(w->timeline, &span) == call;
}

static void put_call(sl__writer *w, const sl_call *call, bool launches)
{
    bool of_event = call->kind == SL_CALL_EVENT_SYNC || call->kind == SL_CALL_STREAM_WAIT;
    bool recorded = of_event && is_recorded(w->timeline, call->target);
    const char *sync = sync_name(call, recorded);
    spot at = begin_call(w, call->kind == SL_CALL_HOST_WORK ? "cpu_op" : RUNTIME,
                         sl_call_name(w->timeline, call), call->correlation, call->where,
                         call->host_start_ns, call->host_end_ns);
    put_call_args(w, call, sync != NULL, recorded);
    sl__write_launch(w, call);
    sl__write_memory(w, call);
    sl__json_raw(&w->file, "}}");
    if (launches)
        sl__write_flow(w, true, call->correlation, SL__HOST_PID, at.tid, at.when.start_ns);
    if (sync) put_sync(w, call, sync, recorded);
}

/* ---- the file ------------------------------------------------------------------ */

static void widen(sl__interval *all, int64_t start_ns, int64_t end_ns)
{
    if (start_ns < all->start_ns) all->start_ns = start_ns;
    if (end_ns > all->end_ns) all->end_ns = end_ns;
}

/* The recording as a slice that all calls lie in; longer by 2 ns, so that the last one
 * does also if it was moved, and in doubles. */
static void put_recording(sl__writer *w)
{
    sl__interval all = { w->base_ns, w->base_ns };
    widen(&all, w->base_ns, w->base_ns + sl_timeline_wall_ns(w->timeline));
    for (sl__issues at = { .timeline = w->timeline }; sl__issues_next(&at);) {
        if (at.is_call)
            widen(&all, at.call.host_start_ns, at.call.host_end_ns);
        else
            widen(&all, at.span.host_start_ns, at.span.host_end_ns);
    }
    all.end_ns += 2;
    sl__slice_begin(w, "user_annotation", "streamlab", SL__HOST_PID, CPU_TID, all);
    sl__json_raw(&w->file, "}");
}

static void put_events(sl__writer *w)
{
    sl__issues at = { .timeline = w->timeline };
    while (!sl__outfile_failed(&w->file) && sl__issues_next(&at)) {
        size_t graph = at.is_call ? sl_timeline_call_launch(w->timeline, &at.call) : SL_NOT_FOUND;
        if (!at.is_call)
            put_span(w, &at.span);
        else if (graph != SL_NOT_FOUND)
            put_edge(w, &at.call, graph);
        else
            put_call(w, &at.call, launches_next(w, at.index, at.n_spans));
    }
    sl__json_raw(&w->file, "\n],\n\"traceName\":\"streamlab\"\n}\n");
}

static sl_status save(const sl_timeline *timeline, const char *path, bool has_counters,
                      sl_error *err)
{
    sl__writer w = {
        .timeline = timeline,
        .first = true,
        .file = { .fd = -1 },
        .base_ns = sl_timeline_host_start_ns(timeline),
    };
    for (int place = 0; place < sl_timeline_device_count(timeline); place++)
        w.devices[place].pid = sl_timeline_device_at(timeline, place)->index;
    sl_status status = sl__lanes_collect(timeline, true, &w.index, err);
    if (status != SL_OK) return status;
    w.lanes = calloc(w.index.n + 1, sizeof *w.lanes);
    w.threads = calloc(sl_timeline_thread_count(timeline), sizeof *w.threads);
    if (!w.lanes || !w.threads) status = sl__no_memory(err, "the trace of %zu streams", w.index.n);
    if (status == SL_OK) status = sl__outfile_open_packed(path, &w.file, err);
    if (status == SL_OK) {
        find_rows(&w);
        sl__kineto_put_header(&w);
        status = put_metadata(&w, err);
        if (status == SL_OK) {
            put_recording(&w);
            status = sl__write_ranges(&w, err);
            sl__write_samples(&w);
        }
        if (status == SL_OK && has_counters) status = sl__write_counters(&w, err);
        if (status == SL_OK) {
            put_events(&w);
            status = sl__outfile_close(&w.file, err);
        } else {
            sl__outfile_abandon(&w.file);
        }
    }
    free(w.lanes);
    free(w.threads);
    sl__lanes_free(&w.index);
    return status;
}

sl_status sl_timeline_save_kineto(const sl_timeline *timeline, const char *path, sl_error *err)
{
    return save(timeline, path, false, err);
}

sl_status sl_timeline_save_with_counters(const sl_timeline *timeline, const char *path,
                                         sl_error *err)
{
    return save(timeline, path, true, err);
}
