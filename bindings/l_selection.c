/* l_selection.c - parts of a timeline, by stream, kind or engine, and figures of them: busy
 * times, overlaps, concurrency, gaps; and bounds of the whole. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

#include <stdlib.h>
#include <string.h>

/* ---- selections ------------------------------------------------------------------------- */

static int fail_kind(lua_State *L, const char *text, const char *op)
{
    return lsl_fail(L, SL_EINVAL, op,
                    "\"%.60s\" is neither a kind (kernel, collective, memcpy_h2d, memcpy_d2h, "
                    "memcpy_d2d, memcpy_p2p, memset, host_func) nor an engine (compute, comm, h2d, "
                    "d2h, p2p, copy, host); for a stream: { stream = \"%.60s\" }",
                    text, text);
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

/* Where spans are of several devices, names begin with the device's: "gpu1: copies". */
static const char *own_name(const sl_timeline *timeline, const sl_stream_note *note)
{
    char prefix[SL_PREFIX_BYTES];
    const char *name = sl_timeline_text(timeline, note->name);
    size_t n = strlen(
        sl_timeline_device_prefix(timeline, sl_timeline_place(timeline, note->id), prefix));
    return strncmp(name, prefix, n) == 0 ? name + n : name;
}

/* The names that there are, at most eight, as "a, b and 3 others". */
LSL_COLD static int fail_unknown(lua_State *L, const char *name, const sl_timeline *timeline,
                                 const char *op)
{
    enum { SHOWN = 8 };
    size_t n;
    const sl_stream_note *notes = sl_timeline_streams(timeline, &n);
    luaL_Buffer names;
    luaL_buffinit(L, &names);
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        luaL_addstring(&names, i ? "\", \"" : "; it has \"");
        luaL_addstring(&names, sl_timeline_text(timeline, notes[i].name));
    }
    if (n > 0) luaL_addchar(&names, '"');
    luaL_pushresult(&names);
    if (n > SHOWN) {
        lua_pushfstring(L, " and %d others", (int)(n - SHOWN));
        lua_concat(L, 2);
    }
    return lsl_fail(L, SL_ENOTFOUND, op, "the timeline has no stream named \"%.100s\"%s", name,
                    lua_tostring(L, -1));
}

/* The one stream of that name. */
static void select_stream_name(lua_State *L, const char *name, const sl_timeline *timeline,
                               sl_selection *sel, const char *op)
{
    size_t n, same = 0;
    const sl_stream_note *notes = sl_timeline_streams(timeline, &n);
    for (size_t i = 0; i < n; i++) {
        if (sel->place >= 0 && sl_timeline_place(timeline, notes[i].id) != sel->place) continue;
        if (strcmp(sl_timeline_text(timeline, notes[i].name), name) != 0
            && strcmp(own_name(timeline, &notes[i]), name) != 0)
            continue;
        sel->stream = notes[i].id;
        same++;
    }
    if (same == 0) fail_unknown(L, name, timeline, op);
    if (same > 1)
        lsl_fail(L, SL_EINVAL, op,
                 "the timeline has %zu streams named \"%.100s\": give the stream object", same,
                 name);
}

/* The place of the device with that number, or -1. */
static int find_place(const sl_timeline *timeline, int64_t index)
{
    int place = sl_timeline_device_count(timeline) - 1;
    while (place >= 0 && sl_timeline_device_at(timeline, place)->index != index)
        place--;
    return place;
}

/* In a timeline of one device every stream counts as one of that. */
static int place_of_stream(const lsl_box *box, const sl_timeline *timeline)
{
    return sl_timeline_device_count(timeline) == 1 ? 0 : find_place(timeline, box->device_index);
}

static void select_device(lua_State *L, int64_t index, const sl_timeline *timeline,
                          sl_selection *sel, const char *op)
{
    sel->place = find_place(timeline, index);
    if (sel->place < 0)
        lsl_fail(L, SL_ENOTFOUND, op, "the timeline has no work of device %lld", (long long)index);
}

/* A stream by itself (also a closed one), its id or its name, at stack index `idx`. */
static void select_stream(lua_State *L, int idx, const sl_timeline *timeline, sl_selection *sel,
                          const char *op)
{
    const lsl_box *box = lsl_to(L, idx, LSL_STREAM);
    if (box) {
        int place = place_of_stream(box, timeline);
        sel->stream = place < 0 ? UINT32_MAX : sl_timeline_stream_id(place, (uint32_t)box->id);
        return;
    }
    if (lua_type(L, idx) == LUA_TNUMBER) {
        int whole;
        sel->stream = lua_tointegerx(L, idx, &whole);
        if (!whole || sel->stream < 0 || sel->stream > UINT32_MAX)
            lsl_fail(L, SL_EINVAL, op, "a stream's id is a whole number from 0 to %u, not %.14g",
                     UINT32_MAX, lsl_printable(lua_tonumber(L, idx)));
        return;
    }
    if (lua_type(L, idx) != LUA_TSTRING)
        lsl_fail(L, SL_EINVAL, op, "a selected stream is a stream, its name or its id, not %s",
                 lsl_type_name(L, idx));
    select_stream_name(L, lua_tostring(L, idx), timeline, sel, op);
}

uint32_t lsl_select_stream(lua_State *L, int idx, const sl_timeline *timeline, const char *op)
{
    sl_selection sel = sl_select_all;
    select_stream(L, idx, timeline, &sel, op);
    return (uint32_t)sel.stream;
}

/* By itself, "h2d" is all copies to the device: on a GPU with one copy engine as well. */
static void select_name(lua_State *L, const char *text, sl_selection *sel, const char *op)
{
    sl_engine engine;
    if (!sl_engine_parse(text, &engine))
        select_kind(L, text, sel, op);
    else if (engine == SL_ENGINE_H2D || engine == SL_ENGINE_D2H)
        sel->kind = engine == SL_ENGINE_H2D ? SL_SPAN_MEMCPY_H2D : SL_SPAN_MEMCPY_D2H;
    else
        sel->engine = (int)engine;
}

/* The selection at `arg`: a stream, a kind, an engine, or {stream =, device =, kind =,
 * engine =, name =}. Texts in it belong to the argument. */
static void read_selection(lua_State *L, int arg, const sl_timeline *timeline, sl_selection *sel,
                           const char *op)
{
    *sel = sl_select_all;
    if (lsl_to(L, arg, LSL_STREAM)) {
        select_stream(L, arg, timeline, sel, op);
        return;
    }
    if (lua_type(L, arg) == LUA_TSTRING) {
        select_name(L, lua_tostring(L, arg), sel, op);
        return;
    }
    if (!lua_istable(L, arg))
        lsl_type_error(L, arg, "selection", "a stream, a kind, an engine or a table of these", op);
    lua_pushnil(L);
    int stream = lua_gettop(L);
    const char *kind = NULL, *engine = NULL;
    int64_t device = -1;
    const lsl_option options[] = {
        { "stream", LSL_OPT_ANY, &stream },   { "device", LSL_OPT_INTEGER, &device },
        { "kind", LSL_OPT_TEXT, &kind },      { "engine", LSL_OPT_TEXT, &engine },
        { "name", LSL_OPT_TEXT, &sel->name },
    };
    lsl_options(L, arg, options, LSL_COUNT(options), op);
    if (device != -1) select_device(L, device, timeline, sel, op);
    if (!lua_isnil(L, stream)) select_stream(L, stream, timeline, sel, op);
    if (kind) select_kind(L, kind, sel, op);
    if (engine) select_engine(L, engine, sel, op);
}

/* The selection at `arg`; all spans if it is missing or nil. */
static sl_selection opt_selection(lua_State *L, int arg, const sl_timeline *timeline,
                                  const char *op)
{
    sl_selection sel = sl_select_all;
    if (!lua_isnoneornil(L, arg)) read_selection(L, arg, timeline, &sel, op);
    return sel;
}

/* ---- figures of selections --------------------------------------------------------------- */

static int timeline_busy_us(lua_State *L)
{
    lsl_timeline *box = lsl_check_sums(L, "busy_us");
    lsl_no_more(L, 2, "busy_us");
    sl_selection sel = opt_selection(L, 2, box->p, "busy_us");
    int64_t busy_ns;
    sl_error err;
    lsl_check(L, sl_timeline_busy_ns(box->p, &sel, &busy_ns, &err), &err, "busy_us");
    lua_pushnumber(L, (double)busy_ns / 1000.0);
    return 1;
}

/* tl:overlap_us(a, b, ...): two selections or more. */
static int timeline_overlap_us(lua_State *L)
{
    lsl_timeline *box = lsl_check_sums(L, "overlap_us");
    int last = lua_gettop(L) > 3 ? lua_gettop(L) : 3;
    lua_settop(L, last);
    sl_selection *sels = lsl_scratch(L, (size_t)last - 1, sizeof *sels, "overlap_us");
    for (int arg = 2; arg <= last; arg++) {
        read_selection(L, arg, box->p, &sels[arg - 2], "overlap_us");
        lua_settop(L, last + 1); /* its texts stay in the argument */
    }
    int64_t common_ns;
    sl_error err;
    sl_status status = sl_timeline_common_ns(box->p, sels, (size_t)last - 1, &common_ns, &err);
    lsl_check(L, status, &err, "overlap_us");
    lua_pushnumber(L, (double)common_ns / 1000.0);
    return 1;
}

/* What to count: "kernels" are spans of that kind. */
static sl_concurrent read_counted(lua_State *L, int arg, sl_selection *sel)
{
    static const char *const names[] = { "engines", "kernels", "spans", "streams" };
    static const sl_concurrent counted[] = {
        SL_CONCURRENT_ENGINES,
        SL_CONCURRENT_SPANS,
        SL_CONCURRENT_SPANS,
        SL_CONCURRENT_STREAMS,
    };
    const char *name = names[0];
    if (!lua_isnoneornil(L, arg)) name = lsl_check_text(L, arg, "of", "concurrency");
    int i = 0;
    while (i < LSL_COUNT(names) && strcmp(name, names[i]) != 0)
        i++;
    if (i == LSL_COUNT(names))
        lsl_fail(L, SL_EINVAL, "concurrency",
                 "cannot count \"%.60s\" at once; it counts "
                 "\"engines\", \"kernels\", \"spans\" or \"streams\"",
                 name);
    if (strcmp(name, "kernels") == 0) {
        if (sel->kind >= 0 && sel->kind != SL_SPAN_KERNEL)
            lsl_fail(L, SL_EINVAL, "concurrency",
                     "kernels are counted, but the selection has "
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
    sl_selection sel = opt_selection(L, 3, box->p, "concurrency");
    sl_concurrent of = read_counted(L, 2, &sel);
    void **owner = lsl_new_owner(L);
    sl_concurrency profile;
    sl_error err;
    lsl_check(L, sl_timeline_concurrency(box->p, &sel, of, &profile, &err), &err, "concurrency");
    *owner = profile.at_ns;
    lua_Integer n = (lua_Integer)profile.n;
    lua_createtable(L, n < INT32_MAX ? (int)n : INT32_MAX, 2);
    lua_pushnumber(L, 0);
    lua_rawseti(L, -2, 0); /* also where nothing is selected */
    for (lua_Integer k = 0; k < n; k++) {
        lua_pushnumber(L, (double)profile.at_ns[k] / 1000.0);
        lua_rawseti(L, -2, k);
    }
    lsl_set_integer(L, "max", n > 0 ? n - 1 : 0);
    return 1;
}

/* tl:gaps([sel]): a list of {start_us =, end_us =}. */
static int timeline_gaps(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "gaps");
    lsl_no_more(L, 2, "gaps");
    lua_settop(L, 2);
    sl_selection sel = opt_selection(L, 2, box->p, "gaps");
    void **owner = lsl_new_owner(L);
    sl_gap *gaps;
    size_t n;
    sl_error err;
    lsl_check(L, sl_timeline_gaps(box->p, &sel, &gaps, &n, &err), &err, "gaps");
    *owner = gaps;
    lua_createtable(L, n < INT32_MAX ? (int)n : INT32_MAX, 0);
    for (size_t i = 0; i < n; i++) {
        lua_createtable(L, 0, 2);
        lsl_set_us(L, "start_us", gaps[i].start_ns - box->host_start_ns);
        lsl_set_us(L, "end_us", gaps[i].end_ns - box->host_start_ns);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* ---- totals ----------------------------------------------------------------------------- */

static int by_sum(const void *left, const void *right)
{
    const sl_total *a = left, *b = right;
    if (a->sum_ns != b->sum_ns) return a->sum_ns > b->sum_ns ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static int by_id(const void *left, const void *right)
{
    const sl_total *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static sl_totals_of read_totals_of(lua_State *L, int arg)
{
    const char *of = lua_isnoneornil(L, arg) ? "names" : lsl_check_text(L, arg, "of", "totals");
    if (strcmp(of, "streams") == 0) return SL_TOTALS_STREAMS;
    if (strcmp(of, "names") != 0)
        lsl_fail(L, SL_EINVAL, "totals",
                 "there are no totals of \"%.60s\"; there are those of \"names\" and \"streams\"",
                 of);
    return SL_TOTALS_NAMES;
}

static void push_total(lua_State *L, const sl_timeline *timeline, sl_totals_of of,
                       const sl_total *total)
{
    char stream[SL_STREAM_NAME_BYTES];
    lua_createtable(L, 0, 5);
    if (of == SL_TOTALS_STREAMS) {
        lsl_set_text(L, "name", sl_timeline_stream_name(timeline, total->id, stream));
        lsl_set_integer(L, "stream_id", total->id);
    } else {
        lsl_set_text(L, "name", sl_timeline_text(timeline, total->id));
    }
    lsl_set_integer(L, "count", (int64_t)total->n);
    lsl_set_us(L, "busy_us", total->busy_ns);
    lsl_set_us(L, "sum_us", total->sum_ns);
}

/* tl:totals([of]): a list, names by their sums, streams by their ids. */
static int timeline_totals(lua_State *L)
{
    lsl_timeline *box = lsl_check_sums(L, "totals");
    lsl_no_more(L, 2, "totals");
    lua_settop(L, 2);
    const sl_totals_of of = read_totals_of(L, 2);
    void **owner = lsl_new_owner(L);
    sl_total *totals;
    size_t n;
    sl_error err;
    lsl_check(L, sl_timeline_totals(box->p, of, &totals, &n, &err), &err, "totals");
    *owner = totals;
    qsort(totals, n, sizeof *totals, of == SL_TOTALS_NAMES ? by_sum : by_id);
    lua_createtable(L, n < INT32_MAX ? (int)n : INT32_MAX, 0);
    for (size_t i = 0; i < n; i++) {
        push_total(L, box->p, of, &totals[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* core.count_spans(tl, sel): how many are selected. */
int lsl_timeline_count(lua_State *L)
{
    lsl_timeline *box = lsl_check_sums(L, "span_count");
    sl_selection sel;
    lua_settop(L, 2);
    read_selection(L, 2, box->p, &sel, "span_count");
    lua_pushinteger(L, (lua_Integer)sl_timeline_count(box->p, &sel));
    return 1;
}

/* core.selected(tl, sel): a list of the places in tl:spans() of those that are selected. */
int lsl_timeline_selected(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "spans");
    sl_selection sel;
    lua_settop(L, 2);
    read_selection(L, 2, box->p, &sel, "spans");
    lua_newtable(L);
    const size_t n = sl_timeline_span_count(box->p);
    lua_Integer count = 0;
    for (size_t i = 0; (i = sl_timeline_find(box->p, &sel, i)) < n; i++) {
        lua_pushinteger(L, (lua_Integer)i + 1);
        lua_rawseti(L, -2, ++count);
    }
    return 1;
}

static int timeline_memory(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "memory");
    lsl_no_more(L, 1, "memory");
    lsl_push_memory(L, box->p, "memory");
    return 1;
}

static int timeline_bounds(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "bounds");
    lsl_no_more(L, 1, "bounds");
    sl_bounds bounds;
    sl_error err;
    lsl_check(L, sl_timeline_bounds(box->p, &bounds, &err), &err, "bounds");
    lua_createtable(L, 0, 7);
    lsl_set_us(L, "serial_us", bounds.serial_ns);
    lsl_set_us(L, "busiest_engine_us", bounds.busiest_engine_ns);
    lsl_set_text(L, "busiest_engine", sl_engine_name(bounds.busiest_engine));
    lsl_set_integer(L, "busiest_device",
                    sl_timeline_device_at(box->p, bounds.busiest_place)->index);
    lsl_set_us(L, "critical_path_us", bounds.critical_path_ns);
    lsl_set_us(L, "lower_us", bounds.lower_ns);
    lsl_set_us(L, "unblocked_us", bounds.unblocked_ns);
    return 1;
}

static const luaL_Reg methods[] = {
    { "busy_us", timeline_busy_us },         { "overlap_us", timeline_overlap_us },
    { "concurrency", timeline_concurrency }, { "gaps", timeline_gaps },
    { "totals", timeline_totals },           { "memory", timeline_memory },
    { "bounds", timeline_bounds },           { NULL, NULL },
};

/* After lsl_open_timeline. */
void lsl_open_selection(lua_State *L) { lsl_add_methods(L, LSL_TIMELINE, methods); }
