/* l_timeline.c - recordings, and reading them. Pictures and tables are in l_show.c.
 *
 * A timeline's box holds its device while the recording runs, and nothing but the timeline
 * afterwards. Times that scripts see are relative to the host's time when the recording began. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

#include <limits.h>
#include <string.h>

static lsl_timeline *check_any(lua_State *L, const char *op)
{
    lsl_timeline *box = lsl_to(L, 1, LSL_TIMELINE);
    if (!box || !box->p) lsl_type_error(L, 1, "self", "a timeline", op);
    return box;
}

lsl_timeline *lsl_check_sums(lua_State *L, const char *op)
{
    lsl_timeline *box = check_any(L, op);
    if (box->device)
        lsl_fail(L, SL_ESTATE, op, "the timeline is still recording: call tl:stop() first");
    return box;
}

lsl_timeline *lsl_check_timeline(lua_State *L, const char *op)
{
    lsl_timeline *box = lsl_check_sums(L, op);
    if (sl_timeline_is_summary(box->p))
        lsl_fail(L, SL_ESTATE, op,
                 "the timeline keeps only a summary, as its recording was asked to; this needs all "
                 "spans and calls: record it without keep = \"summary\"");
    return box;
}

lsl_timeline *lsl_to_timeline(lua_State *L, int idx)
{
    lsl_timeline *box = lsl_to(L, idx, LSL_TIMELINE);
    return box && box->p && !box->device && !sl_timeline_is_summary(box->p) ? box : NULL;
}

/* ---- recording ----------------------------------------------------------------------- */

/* Pushes the name of a recording that was given none: "lab.profile lab.lua:12". */
static const char *push_range_name(lua_State *L)
{
    char where[LSL_WHERE_TEXT];
    lsl_where_text(L, where, sizeof where);
    luaL_checkstack(L, 4, NULL);
    const char *op = lsl_called_name(L, "record");
    return lua_pushfstring(L, "lab.%s%s%s", op, where[0] != '\0' ? " " : "", where);
}

/* The open devices of the machine but `device`, one after the other; NULL: no more. */
static sl_device *next_beside(const lsl_state *state, const sl_device *device,
                              const lsl_device_node **at)
{
    const lsl_device_node *node = *at ? (*at)->next : state->devices;
    while (node && (node->device == device || !sl_device_are_of_one_machine(node->device, device)))
        node = node->next;
    *at = node;
    return node ? node->device : NULL;
}

/* Waits for those of them that have work. */
static sl_status wait_beside(lua_State *L, const sl_device *device, sl_error *err)
{
    const lsl_device_node *at = NULL;
    sl_status status = SL_OK;
    sl_device *other = next_beside(lsl_get(L), device, &at);
    for (; other && status == SL_OK; other = next_beside(lsl_get(L), device, &at)) {
        lsl_mark(L, other);
        status = sl_device_wait_idle(other, err);
    }
    return status;
}

static void stop_recording(lsl_timeline *box)
{
    sl_device *device = box->device;
    if (!device) return;
    box->device = NULL;
    sl_record_stop(device, box->p);
    sl_device_release(device);
}

/* Whether option 'keep' asks for a summary. */
static bool keeps_summary(lua_State *L, const char *keep)
{
    const bool summary = keep && strcmp(keep, "summary") == 0;
    if (keep && !summary && strcmp(keep, "spans") != 0)
        lsl_fail(L, SL_EINVAL, "record",
                 "option 'keep' must be \"spans\" or \"summary\", got \"%.60s\"", keep);
    return summary;
}

/* lab.record({name =, keep =}): waits for the machine's devices and starts a recording of all. One
 * that begins on an idle device costs the host no time, so that its clock is the same without. */
static int lab_record(lua_State *L)
{
    const char *name = NULL, *keep = NULL;
    const lsl_option options[] = { { "name", LSL_OPT_TEXT, &name },
                                   { "keep", LSL_OPT_TEXT, &keep } };
    lsl_options(L, 1, options, LSL_COUNT(options), "record");
    lsl_no_more(L, 1, "record");
    const bool summary = keeps_summary(L, keep);
    sl_device *device = lsl_device(L, "record");
    if (!name) name = push_range_name(L);
    lsl_timeline *box = lsl_new(L, LSL_TIMELINE, sizeof *box);
    sl_error err;
    lsl_check(L, wait_beside(L, device, &err), &err, "record");
    lsl_mark(L, device);
    lsl_check(L, sl_device_wait_idle(device, &err), &err, "record");
    sl_timeline *timeline;
    lsl_check(L, sl_record_start(device, name, &timeline, &err), &err, "record");
    box->p = timeline;
    box->device = sl_device_retain(device);
    box->host_start_ns = sl_device_host_now_ns(device);
    if (summary) {
        sl_status status = sl_record_keep_summary(device, timeline, &err);
        if (status != SL_OK) stop_recording(box);
        lsl_check(L, status, &err, "record");
    }
    lsl_take_notice(L, device);
    return 1;
}

/* tl:stop(): waits for the machine's devices and ends the recording. Again: nothing. */
static int timeline_stop(lua_State *L)
{
    lsl_timeline *box = check_any(L, "stop");
    lsl_no_more(L, 1, "stop");
    if (!box->device) return 1;
    if (lsl_get(L)->in_host_func > 0)
        lsl_fail(L, SL_ESTATE, "stop", "a host function must not wait for the device");
    sl_error err;
    sl_status status = wait_beside(L, box->device, &err);
    lsl_mark(L, box->device);
    if (status == SL_OK) status = sl_device_synchronize(box->device, &err);
    stop_recording(box);
    lsl_check(L, status, &err, "stop");
    lsl_tell_recorded(L, box->p);
    return 1;
}

/* `local tl <close>`, and the end of a recording that an error cut short: stops
 * without waiting. */
static int timeline_close(lua_State *L)
{
    lsl_timeline *box = lsl_to(L, 1, LSL_TIMELINE);
    if (!box || !box->device) return 0;
    if (lsl_get(L)->in_host_func > 0)
        lsl_fail(L, SL_ESTATE, "stop", "a host function must not end a recording");
    stop_recording(box);
    return 0;
}

/* Inside a host function the core ends the recording later. */
static int timeline_gc(lua_State *L)
{
    lsl_timeline *box = lsl_to(L, 1, LSL_TIMELINE);
    if (!box || !box->p) return 0;
    lsl_state *state = lsl_get(L);
    state->in_gc++;
    stop_recording(box);
    sl_timeline_release(lsl_take(L, LSL_TIMELINE));
    state->in_gc--;
    return 0;
}

/* ---- files ------------------------------------------------------------------------------- */

/* lab.load(path, {device =}): the timeline of a trace file. Needs no device. */
static int lab_load(lua_State *L)
{
    const char *path = lsl_check_text(L, 1, "path", "load");
    int64_t device = SL_BUSIEST_DEVICE;
    const lsl_option options[] = { { "device", LSL_OPT_INTEGER, &device } };
    lsl_no_more(L, 2, "load");
    lsl_options(L, 2, options, LSL_COUNT(options), "load");
    if (device > INT_MAX)
        lsl_fail(L, SL_EINVAL, "load", "option 'device' must be a GPU's number, got %lld",
                 (long long)device);
    lsl_check_files(L, "load");
    lsl_timeline *box = lsl_new(L, LSL_TIMELINE, sizeof *box);
    sl_timeline *timeline;
    sl_error err;
    lsl_check(L, sl_timeline_load(path, (int)device, &timeline, &err), &err, "load");
    box->p = timeline;
    box->host_start_ns = sl_timeline_host_start_ns(timeline);
    box->has_sources = true; /* those of the file: a script of that name may be another */
    return 1;
}

/* ---- spans ------------------------------------------------------------------------------ */

/* {graph =, launch =} of a launch that has times as a whole, but none of its nodes. */
static void set_whole(lua_State *L, const lsl_timeline *box, const sl_span *span)
{
    size_t at = sl_timeline_span_launch(box->p, span);
    if (at == SL_NOT_FOUND) return;
    sl_call call = sl_timeline_call(box->p, at);
    lsl_set_text(L, "graph", sl_timeline_text(box->p, span->name));
    lsl_set_integer(L, "launch", (int64_t)call.correlation);
}

/* {graph =, node =, launch =} of what a graph ran. */
static void set_node(lua_State *L, const lsl_timeline *box, const sl_span *span)
{
    const sl_launch_note *launch = sl_timeline_find_launch(box->p, span->correlation);
    sl_node_note node;
    if (!sl_timeline_find_node(box->p, span->correlation, &node)) {
        set_whole(L, box, span);
        return;
    }
    lsl_set_text(L, "graph", launch ? sl_timeline_text(box->p, launch->name) : "");
    lsl_set_integer(L, "node", (int64_t)sl_timeline_node_number(box->p, &node));
    if (node.launch) lsl_set_integer(L, "launch", (int64_t)node.launch);
}

/* collective = {...} of what is one. */
static void set_collective(lua_State *L, const lsl_timeline *box, const sl_span *span)
{
    const sl_collective_note *note = sl_timeline_find_collective(box->p, span->correlation);
    if (!note) return;
    lua_createtable(L, 0, 10);
    lsl_set_text(L, "name", sl_collective_name((sl_collective)note->collective));
    if (note->collective == SL_ALL_REDUCE || note->collective == SL_REDUCE_SCATTER)
        lsl_set_text(L, "op", sl_reduction_name((sl_reduction)note->reduction));
    lsl_set_text(L, "dtype", sl_dtype_name((sl_dtype)note->dtype));
    lsl_set_integer(L, "in_elems", note->in_elems);
    lsl_set_integer(L, "out_elems", note->out_elems);
    lsl_set_integer(L, "rank", note->rank);
    lsl_set_integer(L, "ranks", note->ranks);
    if (note->peer >= 0) lsl_set_integer(L, "peer", note->peer);
    lsl_set_integer(L, "comm", (int64_t)note->comm);
    lsl_set_integer(L, "number", (int64_t)note->number);
    lua_setfield(L, -2, "collective");
}

static const sl_device_info *device_of(const sl_timeline *timeline, uint32_t stream)
{
    return sl_timeline_device_at(timeline, sl_timeline_place(timeline, stream));
}

/* Which thread of the host made the call, where not all were made by one. */
static void set_thread(lua_State *L, const lsl_timeline *box, uint64_t correlation)
{
    if (box->n_threads > 1) {
        const uint32_t thread = sl_timeline_thread(box->p, correlation);
        lsl_set_integer(L, "thread", thread);
        lsl_set_known(L, "thread_name", sl_timeline_thread_name(box->p, thread));
    }
}

/* The call that enqueued it. */
static const char *call_name(const lsl_timeline *box, const sl_span *span)
{
    size_t launch = sl_timeline_span_launch(box->p, span);
    if (launch == SL_NOT_FOUND) return sl_span_call_name(span);
    sl_call call = sl_timeline_call(box->p, launch);
    return sl_call_name(box->p, &call);
}

/* Without what recording took of the call; and that, where it took something. */
static void set_host_end(lua_State *L, const lsl_timeline *box, int64_t ns, int64_t recording_ns)
{
    lsl_set_us(L, "host_end_us", ns - recording_ns - box->host_start_ns);
    if (recording_ns > 0) lsl_set_us(L, "recording_us", recording_ns);
}

static void push_span(lua_State *L, const lsl_timeline *box, const sl_span *span)
{
    char stream[SL_STREAM_NAME_BYTES];
    lua_createtable(L, 0, 24);
    lsl_set_text(L, "name", sl_timeline_text(box->p, span->name));
    lsl_set_text(L, "kind", sl_span_kind_name((sl_span_kind)span->kind));
    lsl_set_text(L, "stream", sl_timeline_stream_name(box->p, span->stream, stream));
    lsl_set_integer(L, "stream_id", span->stream);
    lsl_set_text(L, "engine", sl_engine_name((sl_engine)span->engine));
    lsl_set_integer(L, "device", device_of(box->p, span->stream)->index);
    lsl_set_us(L, "start_us", span->start_ns - box->host_start_ns);
    lsl_set_us(L, "end_us", span->end_ns - box->host_start_ns);
    lsl_set_us(L, "host_start_us", span->host_start_ns - box->host_start_ns);
    set_host_end(L, box, span->host_end_ns, sl_timeline_recording_of_span_ns(box->p, span));
    lsl_set_integer(L, "bytes", span->bytes);
    lsl_set_integer(L, "correlation", span->correlation);
    lsl_set_text(L, "where", sl_timeline_text(box->p, span->where));
    lsl_set_integer(L, "blocks", span->blocks);
    lsl_set_integer(L, "threads", span->threads);
    if (span->kernels > 1) {
        lsl_set_integer(L, "kernels", span->kernels);
        lsl_set_integer(L, "kernels_after", span->kernels_after);
    }
    if (span->registers != 0) {
        lsl_set_integer(L, "registers", span->registers);
        lsl_set_integer(L, "shared_bytes", span->shared_bytes);
    }
    lsl_set_text(L, "call", call_name(box, span));
    set_node(L, box, span);
    set_collective(L, box, span);
    if (span->symbol != 0) lsl_set_text(L, "symbol", sl_timeline_text(box->p, span->symbol));
    lsl_set_boolean(L, "host_waited", (span->flags & SL_SPAN_HOST_WAITED) != 0);
    if (span->flags & SL_SPAN_GUESSED) lsl_set_boolean(L, "guessed", true);
    set_thread(L, box, span->correlation);
}

/* tl:spans(): a list of tables in the order of issue. */
static int timeline_spans(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "spans");
    lsl_no_more(L, 1, "spans");
    const size_t n = sl_timeline_span_count(box->p);
    box->n_threads = sl_timeline_thread_count(box->p);
    lua_createtable(L, n < INT32_MAX ? (int)n : INT32_MAX, 0);
    for (size_t i = 0; i < n; i++) {
        lsl_stop_at(L, (int64_t)i, "spans");
        sl_span span = sl_timeline_span(box->p, i);
        push_span(L, box, &span);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* ---- calls ------------------------------------------------------------------------------ */

/* Whether the call takes a stream in CUDA. A host API call in the NULL stream counts as one without
 * a stream. */
static bool names_stream(const sl_timeline *timeline, const sl_call *call)
{
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD:
    case SL_CALL_STREAM_WAIT:
    case SL_CALL_STREAM_SYNC: return true;
    case SL_CALL_PLAIN: return !sl_timeline_is_null_stream(timeline, call->stream);
    case SL_CALL_EVENT_SYNC:
    case SL_CALL_DEVICE_SYNC:
    case SL_CALL_HOST_WORK:
    case SL_CALL_KINDS: break;
    }
    return false;
}

static bool has_waited(const sl_call *call)
{
    return call->kind == SL_CALL_STREAM_SYNC || call->kind == SL_CALL_EVENT_SYNC
           || call->kind == SL_CALL_DEVICE_SYNC || call->waited_for_device;
}

/* Whether it is a wait of tl:stop(), which come behind all else of a recording of ours: the last
 * one is for the device that was current, those from the same line before it for others. */
static bool is_of_stop(const sl_timeline *timeline, size_t index)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    const size_t last = sl_timeline_call_count(timeline) - 1;
    sl_call call = sl_timeline_call(timeline, index);
    if (call.kind != SL_CALL_DEVICE_SYNC) return false;
    uint32_t where = sl_timeline_call(timeline, last).where;
    for (size_t i = index; i < last; i++) {
        sl_call at = sl_timeline_call(timeline, i);
        if (at.kind != SL_CALL_DEVICE_SYNC || at.where != where
            || sl_timeline_place(timeline, at.stream) == 0)
            return false;
    }
    return (n_spans == 0 || sl_timeline_span(timeline, n_spans - 1).correlation < call.correlation)
           && sl_timeline_device(timeline)->backend[0] != '\0';
}

/* {graph =, nodes =} of a call that launched a graph. */
static void set_launch(lua_State *L, const lsl_timeline *box, const sl_call *call)
{
    const sl_launch_note *note = sl_timeline_find_launch(box->p, call->correlation);
    if (!note || note->correlation != call->correlation) return;
    lsl_set_text(L, "graph", sl_timeline_text(box->p, note->name));
    lsl_set_integer(L, "nodes", note->n_nodes);
}

static void push_call(lua_State *L, const lsl_timeline *box, const sl_call *call, size_t index)
{
    char stream[SL_STREAM_NAME_BYTES];
    lua_createtable(L, 0, 10);
    lsl_set_text(L, "name", sl_call_name(box->p, call));
    lsl_set_text(L, "kind", sl_call_kind_name((sl_call_kind)call->kind));
    lsl_set_us(L, "host_start_us", call->host_start_ns - box->host_start_ns);
    set_host_end(L, box, call->host_end_ns, sl_timeline_recording_of_call_ns(box->p, call));
    if (names_stream(box->p, call)) {
        lsl_set_text(L, "stream", sl_timeline_stream_name(box->p, call->stream, stream));
        lsl_set_integer(L, "stream_id", call->stream);
    }
    lsl_set_integer(L, "correlation", call->correlation);
    lsl_set_text(L, "where", sl_timeline_text(box->p, call->where));
    lsl_set_boolean(L, "waited", has_waited(call));
    set_launch(L, box, call);
    lsl_set_memory_of_call(L, box->p, call->correlation);
    lsl_set_boolean(L, "of_stop", is_of_stop(box->p, index));
    set_thread(L, box, call->correlation);
}

/* tl:calls(): what the host called and did besides enqueuing operations, a list of tables
 * in the order of issue. Records and waits that a launch of a graph runs are edges of the graph. */
static int timeline_calls(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "calls");
    lsl_no_more(L, 1, "calls");
    const size_t n = sl_timeline_call_count(box->p);
    box->n_threads = sl_timeline_thread_count(box->p);
    lua_Integer count = 0;
    lua_newtable(L);
    for (size_t i = 0; i < n; i++) {
        sl_call call = sl_timeline_call(box->p, i);
        lsl_stop_at(L, (int64_t)i, "calls");
        if (sl_timeline_call_launch(box->p, &call) != SL_NOT_FOUND) continue;
        push_call(L, box, &call, i);
        lua_rawseti(L, -2, ++count);
    }
    return 1;
}

/* ---- fields -------------------------------------------------------------------------------- */

static size_t count_spans(const sl_timeline *timeline)
{
    return sl_timeline_is_summary(timeline) ? sl_timeline_count(timeline, &sl_select_all)
                                            : sl_timeline_span_count(timeline);
}

#define check_self lsl_check_sums
LSL_GETTER(lsl_timeline, makespan_us, number, (double)sl_timeline_makespan_ns(self->p) / 1000.0)
LSL_GETTER(lsl_timeline, wall_us, number, (double)sl_timeline_wall_ns(self->p) / 1000.0)
LSL_GETTER(lsl_timeline, span_count, integer, (lua_Integer)count_spans(self->p))
LSL_GETTER(lsl_timeline, device_name, string, sl_timeline_device(self->p)->name)
LSL_GETTER(lsl_timeline, device_index, integer, sl_timeline_device(self->p)->index)
LSL_GETTER(lsl_timeline, keep, string, sl_timeline_is_summary(self->p) ? "summary" : "spans")
LSL_GETTER(lsl_timeline, simulated, boolean, sl_timeline_device(self->p)->simulated)

static int get_stream_count(lua_State *L)
{
    size_t n;
    sl_error err;
    lsl_timeline *box = lsl_check_sums(L, "stream_count");
    lsl_check(L, sl_timeline_stream_count(box->p, &n, &err), &err, "stream_count");
    lua_pushinteger(L, (lua_Integer)n);
    return 1;
}

/* The first of the trace file with work, in order, and its own. */
static int get_device_indices(lua_State *L)
{
    lsl_timeline *box = lsl_check_sums(L, "device_indices");
    uint64_t devices = sl_timeline_origin(box->p).devices;
    int own = sl_timeline_device(box->p)->index;
    lua_Integer n = 0;
    lua_newtable(L);
    for (int index = 0; index < 64; index++) {
        if (!(devices >> index & 1)) continue;
        lua_pushinteger(L, index);
        lua_rawseti(L, -2, ++n);
    }
    if (n > 0 && own >= 0 && own < 64) return 1;
    lua_pushinteger(L, own);
    lua_rawseti(L, -2, n + 1);
    return 1;
}

/* Those that did something while it was recorded: {{index =, name =}, ...}, the first one first. */
static int get_devices(lua_State *L)
{
    lsl_timeline *box = lsl_check_sums(L, "devices");
    int n = sl_timeline_device_count(box->p);
    lua_createtable(L, n, 0);
    for (int place = 0; place < n; place++) {
        const sl_device_info *info = sl_timeline_device_at(box->p, place);
        lua_createtable(L, 0, 2);
        lsl_set_integer(L, "index", info->index);
        lsl_set_text(L, "name", info->name);
        lua_rawseti(L, -2, place + 1);
    }
    return 1;
}

static int get_recording(lua_State *L)
{
    lua_pushboolean(L, check_any(L, "recording")->device != NULL);
    return 1;
}

/* What a file had that the timeline has not; nil if nothing. */
static int get_notice(lua_State *L)
{
    const char *notice = sl_timeline_notice(lsl_check_sums(L, "notice")->p);
    if (notice[0] == '\0') return 0;
    lua_pushstring(L, notice);
    return 1;
}

static int get_range_us(lua_State *L)
{
    const sl_range range = sl_timeline_range(lsl_check_sums(L, "range_us")->p);
    if (range.runs == 0) return 0;
    lua_createtable(L, 2, 1);
    lua_pushnumber(L, (double)range.low_ns / 1000.0);
    lua_rawseti(L, -2, 1);
    lua_pushnumber(L, (double)range.high_ns / 1000.0);
    lua_rawseti(L, -2, 2);
    lsl_set_integer(L, "runs", range.runs);
    return 1;
}

/* {{kind =, count =, us =, sentence =}, ...} */
static int get_doubts(lua_State *L)
{
    size_t n;
    const sl_doubt *doubts = sl_timeline_doubts(lsl_check_sums(L, "doubts")->p, &n);
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        lua_createtable(L, 0, 4);
        lsl_set_text(L, "kind", sl_doubt_name(doubts[i].kind));
        lsl_set_integer(L, "count", (int64_t)doubts[i].n);
        if (doubts[i].ns > 0) {
            lua_pushnumber(L, (double)doubts[i].ns / 1000.0);
            lua_setfield(L, -2, "us");
        }
        lsl_set_text(L, "sentence", doubts[i].sentence);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int timeline_tostring(lua_State *L)
{
    lsl_timeline *box = lsl_to(L, 1, LSL_TIMELINE);
    if (!box) lsl_type_error(L, 1, "self", "a timeline", "tostring");
    if (!box->p || box->device) {
        lua_pushstring(L, !box->p ? "timeline (closed)" : "timeline (recording)");
        return 1;
    }
    size_t n = count_spans(box->p);
    lua_pushfstring(L, "timeline of %d span%s, makespan %f us, wall %f us", (int)n,
                    n == 1 ? "" : "s", (lua_Number)sl_timeline_makespan_ns(box->p) / 1000.0,
                    (lua_Number)sl_timeline_wall_ns(box->p) / 1000.0);
    return 1;
}

/* ---- tables --------------------------------------------------------------------------------- */

static const luaL_Reg functions[] = { { "record", lab_record },
                                      { "load", lab_load },
                                      { NULL, NULL } };
static const luaL_Reg methods[] = {
    { "stop", timeline_stop },
    { "spans", timeline_spans },
    { "calls", timeline_calls },
    { NULL, NULL },
};
static const luaL_Reg getters[] = {
    { "makespan_us", get_makespan_us },
    { "range_us", get_range_us },
    { "wall_us", get_wall_us },
    { "span_count", get_span_count },
    { "stream_count", get_stream_count },
    { "device_name", get_device_name },
    { "device_index", get_device_index },
    { "device_indices", get_device_indices },
    { "devices", get_devices },
    { "keep", get_keep },
    { "simulated", get_simulated },
    { "recording", get_recording },
    { "notice", get_notice },
    { "doubts", get_doubts },
    { NULL, NULL },
};
static const luaL_Reg meta[] = {
    { "__gc", timeline_gc },
    { "__close", timeline_close },
    { "__tostring", timeline_tostring },
    { NULL, NULL },
};

void lsl_open_timeline(lua_State *L)
{
    lsl_define(L, LSL_TIMELINE, meta, methods, getters);
    lsl_set_functions(L, functions);
}
