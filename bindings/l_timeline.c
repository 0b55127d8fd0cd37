/* l_timeline.c - recordings and what is read off them. Pictures and tables are in
 * l_show.c.
 *
 * A timeline's box holds its device while the recording runs, and nothing but
 * the timeline afterwards. Times that scripts see are relative to the host's
 * time when the recording began.
 */
#include "l_timeline.h"

#include <string.h>

static lsl_timeline *check_any(lua_State *L, const char *op)
{
    lsl_timeline *box = lsl_to(L, 1, LSL_TIMELINE);
    if (box == NULL || box->p == NULL) lsl_type_error(L, 1, "self", "a timeline", op);
    return box;
}

lsl_timeline *lsl_check_timeline(lua_State *L, const char *op)
{
    lsl_timeline *box = check_any(L, op);
    if (box->device != NULL)
        lsl_fail(L, SL_ESTATE, op, "the timeline is still recording: call tl:stop() first");
    return box;
}

/* ---- recording ----------------------------------------------------------------------- */

/* Pushes the name of a recording that was given none: "lab.profile lab.lua:12". */
static const char *push_range_name(lua_State *L)
{
    char where[LSL_WHERE_TEXT];
    lsl_where_text(L, where, sizeof(where));
    luaL_checkstack(L, 4, NULL);
    const char *op = lsl_called_name(L, "record");
    return lua_pushfstring(L, "lab.%s%s%s", op, where[0] != '\0' ? " " : "", where);
}

/* lab.record({name =}): waits for the device and starts a recording. One that begins on an
 * idle device costs the host no time, so that its clock is the same without. */
static int lab_record(lua_State *L)
{
    const char *name = NULL;
    const lsl_option options[] = {{"name", LSL_OPT_TEXT, &name}};
    lsl_options(L, 1, options, LSL_COUNT(options), "record");
    lsl_no_more(L, 1, "record");
    sl_device *device = lsl_device(L, "record");
    if (name == NULL) name = push_range_name(L);
    lsl_timeline *box = lsl_new(L, LSL_TIMELINE, sizeof(*box));
    sl_error err;
    lsl_mark(L, device);
    lsl_check(L, sl_device_wait_idle(device, &err), &err, "record");
    sl_timeline *timeline;
    lsl_check(L, sl_record_start(device, name, &timeline, &err), &err, "record");
    box->p = timeline;
    box->device = sl_device_retain(device);
    box->host_start_ns = sl_device_host_now_ns(device);
    lsl_take_notice(L, device);
    return 1;
}

static void stop_recording(lsl_timeline *box)
{
    sl_device *device = box->device;
    if (device == NULL) return;
    box->device = NULL;
    sl_record_stop(device, box->p);
    sl_device_release(device);
}

/* tl:stop(): waits for the device and ends the recording. Again: nothing. */
static int timeline_stop(lua_State *L)
{
    lsl_timeline *box = check_any(L, "stop");
    lsl_no_more(L, 1, "stop");
    if (box->device == NULL) {
        lua_settop(L, 1);
        return 1;
    }
    if (lsl_get(L)->in_host_func > 0)
        lsl_fail(L, SL_ESTATE, "stop", "a host function must not wait for the device");
    sl_error err;
    lsl_mark(L, box->device);
    sl_status status = sl_device_synchronize(box->device, &err);
    stop_recording(box);
    lsl_check(L, status, &err, "stop");
    lua_settop(L, 1);
    return 1;
}

/* `local tl <close>`, and the end of a recording that an error cut short: stops
 * without waiting. */
static int timeline_close(lua_State *L)
{
    lsl_timeline *box = lsl_to(L, 1, LSL_TIMELINE);
    if (box == NULL || box->device == NULL) return 0;
    if (lsl_get(L)->in_host_func > 0)
        lsl_fail(L, SL_ESTATE, "stop", "a host function must not end a recording");
    stop_recording(box);
    return 0;
}

/* Inside a host function the core ends the recording later. */
static int timeline_gc(lua_State *L)
{
    lsl_timeline *box = lsl_to(L, 1, LSL_TIMELINE);
    if (box == NULL || box->p == NULL) return 0;
    lsl_state *state = lsl_get(L);
    state->in_gc++;
    stop_recording(box);
    sl_timeline_release(lsl_take(L, LSL_TIMELINE));
    state->in_gc--;
    return 0;
}

/* ---- files ------------------------------------------------------------------------------- */

/* lab.load(path): the timeline of a trace file. Needs no device. */
static int lab_load(lua_State *L)
{
    const char *path = lsl_check_text(L, 1, "path", "load");
    lsl_no_more(L, 1, "load");
    lsl_timeline *box = lsl_new(L, LSL_TIMELINE, sizeof(*box));
    sl_timeline *timeline;
    sl_error err;
    lsl_check(L, sl_timeline_load_kineto(path, &timeline, &err), &err, "load");
    box->p = timeline;
    box->host_start_ns = sl_timeline_host_start_ns(timeline);
    box->has_sources = true;    /* those of the file: a script of that name may be another */
    return 1;
}

/* ---- spans ------------------------------------------------------------------------------ */

static void set_us(lua_State *L, const char *field, int64_t ns)
{
    lua_pushnumber(L, (double)ns / 1000.0);
    lua_setfield(L, -2, field);
}

static void set_integer(lua_State *L, const char *field, uint64_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, field);
}

static void set_text(lua_State *L, const char *field, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, field);
}

static void push_span(lua_State *L, const lsl_timeline *box, const sl_span *span)
{
    char stream[SL_STREAM_NAME_BYTES];
    lua_createtable(L, 0, 18);
    set_text(L, "name", sl_timeline_text(box->p, span->name));
    set_text(L, "kind", sl_span_kind_name((sl_span_kind)span->kind));
    set_text(L, "stream", sl_timeline_stream_name(box->p, span->stream, stream));
    set_integer(L, "stream_id", span->stream);
    set_text(L, "engine", sl_engine_name((sl_engine)span->engine));
    set_us(L, "start_us", span->start_ns - box->host_start_ns);
    set_us(L, "end_us", span->end_ns - box->host_start_ns);
    set_us(L, "host_start_us", span->host_start_ns - box->host_start_ns);
    set_us(L, "host_end_us", span->host_end_ns - box->host_start_ns);
    set_integer(L, "bytes", span->bytes);
    set_integer(L, "correlation", span->correlation);
    set_text(L, "where", sl_timeline_text(box->p, span->where));
    set_integer(L, "blocks", span->blocks);
    set_integer(L, "threads", span->threads);
    if (span->symbol != 0) set_text(L, "symbol", sl_timeline_text(box->p, span->symbol));
    lua_pushboolean(L, (span->flags & SL_SPAN_HOST_WAITED) != 0);
    lua_setfield(L, -2, "host_waited");
}

/* tl:spans(): a list of tables in the order of issue. */
static int timeline_spans(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "spans");
    lsl_no_more(L, 1, "spans");
    size_t n;
    const sl_span *spans = sl_timeline_spans(box->p, &n);
    lua_createtable(L, n < INT32_MAX ? (int)n : INT32_MAX, 0);
    for (size_t i = 0; i < n; i++) {
        lsl_stop_at(L, (int64_t)i, "spans");
        push_span(L, box, &spans[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* ---- selections ---------------------------------------------------------------------------- */

static int fail_kind(lua_State *L, const char *text, const char *op)
{
    return lsl_fail(L, SL_EINVAL, op,
                    "\"%.60s\" is neither a kind (kernel, memcpy_h2d, memcpy_d2h, memcpy_d2d, "
                    "memcpy_p2p, memset, host_func) nor an engine (compute, h2d, d2h, p2p, host); "
                    "for a stream: {stream = \"%.60s\"}", text, text);
}

static void select_kind(lua_State *L, const char *text, sl_selection *sel, const char *op)
{
    sl_span_kind kind;
    if (!sl_span_kind_parse(text, &kind)) fail_kind(L, text, op);
    sel->kind = (int)kind;
}

static void select_engine(lua_State *L, const char *text, sl_selection *sel, const char *op)
{
    sl_engine engine;
    if (!sl_engine_parse(text, &engine)) fail_kind(L, text, op);
    sel->engine = (int)engine;
}

/* The one stream of that name. */
static void select_stream_name(lua_State *L, const char *name, const sl_timeline *timeline,
                               sl_selection *sel, const char *op)
{
    size_t n, same = 0;
    const sl_stream_note *notes = sl_timeline_streams(timeline, &n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(sl_timeline_text(timeline, notes[i].name), name) != 0) continue;
        sel->stream = notes[i].id;
        same++;
    }
    if (same == 0)
        lsl_fail(L, SL_ENOTFOUND, op, "the timeline has no stream named \"%.100s\"", name);
    if (same > 1)
        lsl_fail(L, SL_EINVAL, op,
                 "the timeline has %zu streams named \"%.100s\": give the stream object", same,
                 name);
}

/* A stream by itself (also a closed one), its id or its name, at stack index `idx`. */
static void select_stream(lua_State *L, int idx, const sl_timeline *timeline, sl_selection *sel,
                          const char *op)
{
    const lsl_box *box = lsl_to(L, idx, LSL_STREAM);
    if (box != NULL) {
        sel->stream = box->id;
        return;
    }
    if (lua_type(L, idx) == LUA_TNUMBER) {
        sel->stream = lsl_check_integer(L, idx, "stream", 0, UINT32_MAX, op);
        return;
    }
    if (lua_type(L, idx) != LUA_TSTRING)
        lsl_fail(L, SL_EINVAL, op, "a selected stream is a stream, its name or its id, not %s",
                 lsl_type_name(L, idx));
    select_stream_name(L, lua_tostring(L, idx), timeline, sel, op);
}

/* The selection at `arg`: a stream, a kind, an engine, or {stream =, kind =,
 * engine =, name =}. Texts in it belong to the argument. */
static void read_selection(lua_State *L, int arg, const sl_timeline *timeline, sl_selection *sel,
                           const char *op)
{
    *sel = sl_select_all;
    if (lsl_to(L, arg, LSL_STREAM) != NULL) {
        select_stream(L, arg, timeline, sel, op);
        return;
    }
    if (lua_type(L, arg) == LUA_TSTRING) {
        sl_engine engine;
        if (sl_engine_parse(lua_tostring(L, arg), &engine))
            sel->engine = (int)engine;
        else
            select_kind(L, lua_tostring(L, arg), sel, op);
        return;
    }
    if (!lua_istable(L, arg))
        lsl_type_error(L, arg, "selection", "a stream, a kind, an engine or a table of these", op);
    lua_pushnil(L);
    int stream = lua_gettop(L);
    const char *kind = NULL, *engine = NULL;
    const lsl_option options[] = {
        {"stream", LSL_OPT_ANY, &stream}, {"kind", LSL_OPT_TEXT, &kind},
        {"engine", LSL_OPT_TEXT, &engine}, {"name", LSL_OPT_TEXT, &sel->name},
    };
    lsl_options(L, arg, options, LSL_COUNT(options), op);
    if (!lua_isnil(L, stream)) select_stream(L, stream, timeline, sel, op);
    if (kind != NULL) select_kind(L, kind, sel, op);
    if (engine != NULL) select_engine(L, engine, sel, op);
}

static int timeline_busy_us(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "busy_us");
    lsl_no_more(L, 2, "busy_us");
    sl_selection sel = sl_select_all;
    if (!lua_isnoneornil(L, 2)) read_selection(L, 2, box->p, &sel, "busy_us");
    int64_t busy_ns;
    sl_error err;
    lsl_check(L, sl_timeline_busy_ns(box->p, &sel, &busy_ns, &err), &err, "busy_us");
    lua_pushnumber(L, (double)busy_ns / 1000.0);
    return 1;
}

/* tl:overlap_us(a, b, ...): two selections or more. */
static int timeline_overlap_us(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "overlap_us");
    int last = lua_gettop(L) > 3 ? lua_gettop(L) : 3;
    lua_settop(L, last);
    sl_selection *sels = lsl_scratch(L, (size_t)last - 1, sizeof(*sels), "overlap_us");
    for (int arg = 2; arg <= last; arg++) {
        read_selection(L, arg, box->p, &sels[arg - 2], "overlap_us");
        lua_settop(L, last + 1);        /* its texts stay in the argument */
    }
    int64_t common_ns;
    sl_error err;
    sl_status status = sl_timeline_common_ns(box->p, sels, (size_t)last - 1, &common_ns, &err);
    lsl_check(L, status, &err, "overlap_us");
    lua_pushnumber(L, (double)common_ns / 1000.0);
    return 1;
}

/* What is counted: "kernels" are spans of that kind. */
static sl_concurrent read_counted(lua_State *L, int arg, sl_selection *sel)
{
    static const char *const names[] = {"engines", "kernels", "spans", "streams"};
    static const sl_concurrent counted[] = {
        SL_CONCURRENT_ENGINES, SL_CONCURRENT_SPANS, SL_CONCURRENT_SPANS, SL_CONCURRENT_STREAMS
    };
    const char *name = names[0];
    if (!lua_isnoneornil(L, arg)) name = lsl_check_text(L, arg, "of", "concurrency");
    int i = 0;
    while (i < LSL_COUNT(names) && strcmp(name, names[i]) != 0) i++;
    if (i == LSL_COUNT(names))
        lsl_fail(L, SL_EINVAL, "concurrency", "cannot count \"%.60s\" at once; it counts "
                 "\"engines\", \"kernels\", \"spans\" or \"streams\"", name);
    if (strcmp(name, "kernels") == 0) {
        if (sel->kind >= 0 && sel->kind != SL_SPAN_KERNEL)
            lsl_fail(L, SL_EINVAL, "concurrency", "kernels are counted, but the selection has "
                     "kind %s; to count these: \"spans\"",
                     sl_span_kind_name((sl_span_kind)sel->kind));
        sel->kind = SL_SPAN_KERNEL;
    }
    return counted[i];
}

/* tl:concurrency([of [, sel]]): a list, at k the time with exactly k of them busy, at 0
 * the time with none, and .max, the most at once. */
static int timeline_concurrency(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "concurrency");
    lsl_no_more(L, 3, "concurrency");
    lua_settop(L, 3);
    sl_selection sel = sl_select_all;
    if (!lua_isnil(L, 3)) read_selection(L, 3, box->p, &sel, "concurrency");
    sl_concurrent of = read_counted(L, 2, &sel);
    lsl_box *scratch = lsl_new_box(L, LSL_SCRATCH);
    sl_concurrency profile;
    sl_error err;
    lsl_check(L, sl_timeline_concurrency(box->p, &sel, of, &profile, &err), &err, "concurrency");
    scratch->p = profile.at_ns;
    lua_Integer n = (lua_Integer)profile.n;
    lua_createtable(L, n < INT32_MAX ? (int)n : INT32_MAX, 2);
    lua_pushnumber(L, 0);
    lua_rawseti(L, -2, 0);              /* also where nothing is selected */
    for (lua_Integer k = 0; k < n; k++) {
        lua_pushnumber(L, (double)profile.at_ns[k] / 1000.0);
        lua_rawseti(L, -2, k);
    }
    set_integer(L, "max", n > 0 ? (uint64_t)n - 1 : 0);
    return 1;
}

/* tl:gaps([sel]): a list of {start_us =, end_us =}. */
static int timeline_gaps(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "gaps");
    lsl_no_more(L, 2, "gaps");
    lua_settop(L, 2);
    sl_selection sel = sl_select_all;
    if (!lua_isnil(L, 2)) read_selection(L, 2, box->p, &sel, "gaps");
    lsl_box *scratch = lsl_new_box(L, LSL_SCRATCH);
    sl_gap *gaps;
    size_t n;
    sl_error err;
    lsl_check(L, sl_timeline_gaps(box->p, &sel, &gaps, &n, &err), &err, "gaps");
    scratch->p = gaps;
    lua_createtable(L, n < INT32_MAX ? (int)n : INT32_MAX, 0);
    for (size_t i = 0; i < n; i++) {
        lua_createtable(L, 0, 2);
        set_us(L, "start_us", gaps[i].start_ns - box->host_start_ns);
        set_us(L, "end_us", gaps[i].end_ns - box->host_start_ns);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int timeline_bounds(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "bounds");
    lsl_no_more(L, 1, "bounds");
    sl_bounds bounds;
    sl_error err;
    lsl_check(L, sl_timeline_bounds(box->p, &bounds, &err), &err, "bounds");
    lua_createtable(L, 0, 6);
    set_us(L, "serial_us", bounds.serial_ns);
    set_us(L, "busiest_engine_us", bounds.busiest_engine_ns);
    set_text(L, "busiest_engine", sl_engine_name(bounds.busiest_engine));
    set_us(L, "critical_path_us", bounds.critical_path_ns);
    set_us(L, "lower_us", bounds.lower_ns);
    set_us(L, "unblocked_us", bounds.unblocked_ns);
    return 1;
}

/* ---- fields -------------------------------------------------------------------------------- */

static int get_makespan_us(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "makespan_us");
    lua_pushnumber(L, (double)sl_timeline_makespan_ns(box->p) / 1000.0);
    return 1;
}

static int get_wall_us(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "wall_us");
    lua_pushnumber(L, (double)sl_timeline_wall_ns(box->p) / 1000.0);
    return 1;
}

static int get_span_count(lua_State *L)
{
    size_t n;
    sl_timeline_spans(lsl_check_timeline(L, "span_count")->p, &n);
    lua_pushinteger(L, (lua_Integer)n);
    return 1;
}

static int get_stream_count(lua_State *L)
{
    size_t n;
    sl_error err;
    lsl_timeline *box = lsl_check_timeline(L, "stream_count");
    lsl_check(L, sl_timeline_stream_count(box->p, &n, &err), &err, "stream_count");
    lua_pushinteger(L, (lua_Integer)n);
    return 1;
}

static int get_device_name(lua_State *L)
{
    lua_pushstring(L, sl_timeline_device(lsl_check_timeline(L, "device_name")->p)->name);
    return 1;
}

static int get_simulated(lua_State *L)
{
    lua_pushboolean(L, sl_timeline_device(lsl_check_timeline(L, "simulated")->p)->simulated);
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
    const char *notice = sl_timeline_notice(lsl_check_timeline(L, "notice")->p);
    if (notice[0] == '\0') return 0;
    lua_pushstring(L, notice);
    return 1;
}

static int timeline_tostring(lua_State *L)
{
    lsl_timeline *box = lsl_to(L, 1, LSL_TIMELINE);
    if (box == NULL) lsl_type_error(L, 1, "self", "a timeline", "tostring");
    if (box->p == NULL || box->device != NULL) {
        lua_pushstring(L, box->p == NULL ? "timeline (closed)" : "timeline (recording)");
        return 1;
    }
    size_t n;
    sl_timeline_spans(box->p, &n);
    lua_pushfstring(L, "timeline of %d span%s, makespan %f us, wall %f us", (int)n,
                    n == 1 ? "" : "s", (lua_Number)sl_timeline_makespan_ns(box->p) / 1000.0,
                    (lua_Number)sl_timeline_wall_ns(box->p) / 1000.0);
    return 1;
}

/* ---- tables --------------------------------------------------------------------------------- */

static const luaL_Reg functions[] = {{"record", lab_record}, {"load", lab_load}, {NULL, NULL}};
static const luaL_Reg methods[] = {
    {"stop", timeline_stop}, {"spans", timeline_spans}, {"busy_us", timeline_busy_us},
    {"overlap_us", timeline_overlap_us}, {"concurrency", timeline_concurrency},
    {"gaps", timeline_gaps}, {"bounds", timeline_bounds}, {"json", lsl_timeline_json},
    {"show", lsl_timeline_show}, {"text", lsl_timeline_text},
    {"summary", lsl_timeline_summary}, {"diff", lsl_timeline_diff},
    {"explain", lsl_timeline_explain}, {"causes", lsl_timeline_causes},
    {"makespan_parts", lsl_timeline_makespan_parts},
    {"save", lsl_timeline_save}, {NULL, NULL}
};
static const luaL_Reg getters[] = {
    {"makespan_us", get_makespan_us}, {"wall_us", get_wall_us}, {"span_count", get_span_count},
    {"stream_count", get_stream_count}, {"device_name", get_device_name},
    {"simulated", get_simulated}, {"recording", get_recording},
    {"notice", get_notice}, {NULL, NULL}
};
static const luaL_Reg meta[] = {
    {"__gc", timeline_gc}, {"__close", timeline_close}, {"__tostring", timeline_tostring},
    {NULL, NULL}
};
static const luaL_Reg causes_meta[] = {{"__gc", lsl_causes_gc}, {NULL, NULL}};
static const luaL_Reg text_meta[] = {{"__gc", lsl_text_gc}, {NULL, NULL}};

void lsl_open_timeline(lua_State *L)
{
    lsl_define(L, LSL_TIMELINE, "timeline", meta, methods, getters);
    lsl_define(L, LSL_TEXT, "text", text_meta, NULL, NULL);
    lsl_define(L, LSL_CAUSES, "causes", causes_meta, NULL, NULL);
    lsl_set_functions(L, functions);
}
