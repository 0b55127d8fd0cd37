/* l_behind.c - which operations each one of a timeline comes behind, for the module's Lua files.
 *
 * core.behind(tl): {foreign = whether another program recorded it, threads = of the host,
 *                   first_ns =, devices = the number of the one at each place,
 *                   streams = {{place =, spans = how many}, ...}, those that occur,
 *                   next = function(after), on = function(place, after), note = function()}
 *
 * Places, streams and operations count from 1.
 *   next(after)  the next span in order of issue: operation, stream, kind, name, start_ns, end_ns,
 *                bytes, how many operations it comes behind, which `after` becomes a list of (what
 *                was further back in it stays), and its note: nil or a table, see push_note.
 *                Nothing at the end. Spans of one operation are one kernel.
 *   on(place, after)  the operations that this one comes behind on one device only; how many.
 *   note()       the notes of collectives alone, in the order of spans, each with its place.
 */
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

typedef struct order {
    sl_behind *behind;
    int64_t n_read;   /* by next, */
    size_t next_note; /* and by note: an index of spans */
} order;

static void free_order(void *memory) { sl_behind_close(((order *)memory)->behind); }

static order *check_order(lua_State *L) { return lsl_scratch_at(L, lua_upvalueindex(2)); }

static const sl_timeline *timeline_of(lua_State *L)
{
    return lsl_to_timeline(L, lua_upvalueindex(3))->p;
}

static void set_bytes(lua_State *L, const char *field, const sl_collective_note *note,
                      int64_t elems)
{
    lsl_set_integer(L, field, elems * (int64_t)sl_dtype_bytes((sl_dtype)note->dtype));
}

/* {collective = "all_reduce", comm =, number =, rank =, ranks =, peer =, in_bytes =, out_bytes
 * =} */
static void push_collective(lua_State *L, const sl_collective_note *note)
{
    lua_createtable(L, 0, 8);
    lsl_set_text(L, "collective", sl_collective_name((sl_collective)note->collective));
    lsl_set_integer(L, "comm", (int64_t)note->comm);
    lsl_set_integer(L, "number", (int64_t)note->number);
    lsl_set_integer(L, "rank", note->rank);
    lsl_set_integer(L, "ranks", note->ranks);
    lsl_set_integer(L, "peer", note->peer);
    set_bytes(L, "in_bytes", note, note->in_elems);
    set_bytes(L, "out_bytes", note, note->out_elems);
}

/* The same of a collective, a send or a receive; of a copy from one GPU to another {from =, to =},
 * the places; else nil. */
static void push_note(lua_State *L, const sl_timeline *timeline, const sl_behind_span *at)
{
    const sl_peer_note *copy = sl_timeline_find_peer(timeline, at->span.correlation);
    if (at->note) {
        push_collective(L, at->note);
    } else if (copy) {
        lua_createtable(L, 0, 2);
        lsl_set_integer(L, "from", copy->from + 1);
        lsl_set_integer(L, "to", copy->to + 1);
    } else {
        lua_pushnil(L);
    }
}

static void fill_list(lua_State *L, int list, const size_t *ops, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        lua_pushinteger(L, (lua_Integer)ops[i] + 1);
        lua_rawseti(L, list, (lua_Integer)i + 1);
    }
}

static int order_next(lua_State *L)
{
    order *o = check_order(L);
    const sl_timeline *timeline = timeline_of(L);
    sl_behind_span at;
    lsl_stop_at(L, o->n_read++, "save");
    if (!sl_behind_next(o->behind, &at)) return 0;
    fill_list(L, 1, at.after, at.n_after);
    luaL_checkstack(L, 9, NULL);
    lua_pushinteger(L, (lua_Integer)at.op + 1);
    lua_pushinteger(L, (lua_Integer)at.stream + 1);
    lua_pushstring(L, sl_span_kind_name((sl_span_kind)at.span.kind));
    lua_pushstring(L, sl_timeline_text(timeline, at.span.name));
    lua_pushinteger(L, at.span.start_ns);
    lua_pushinteger(L, at.span.end_ns);
    lua_pushinteger(L, (lua_Integer)at.span.bytes);
    lua_pushinteger(L, (lua_Integer)at.n_after);
    push_note(L, timeline, &at);
    return 9;
}

static int order_on(lua_State *L)
{
    const size_t *after;
    const int place = (int)luaL_checkinteger(L, 1) - 1;
    size_t n = sl_behind_on(check_order(L)->behind, place, &after);
    fill_list(L, 2, after, n);
    lua_pushinteger(L, (lua_Integer)n);
    return 1;
}

static int order_note(lua_State *L)
{
    order *o = check_order(L);
    const sl_timeline *timeline = timeline_of(L);
    const size_t n = sl_timeline_span_count(timeline);
    while (o->next_note < n) {
        sl_span span = sl_timeline_span(timeline, o->next_note++);
        const sl_collective_note *note = sl_timeline_find_collective(timeline, span.correlation);
        if (!note) continue;
        push_collective(L, note);
        lua_pushinteger(L, sl_timeline_place(timeline, span.stream) + 1);
        return 2;
    }
    return 0;
}

static void set_devices(lua_State *L, const sl_timeline *timeline)
{
    const int n = sl_timeline_device_count(timeline);
    lua_createtable(L, n, 0);
    for (int place = 0; place < n; place++) {
        lua_pushinteger(L, sl_timeline_device_at(timeline, place)->index);
        lua_rawseti(L, -2, place + 1);
    }
    lua_setfield(L, -2, "devices");
}

static void set_streams(lua_State *L, const sl_behind *behind)
{
    const size_t n = sl_behind_streams(behind);
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        int place;
        lua_createtable(L, 0, 2);
        lsl_set_integer(L, "spans", (int64_t)sl_behind_stream(behind, i, &place));
        lsl_set_integer(L, "place", place + 1);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "streams");
}

/* The order is at index 2, the timeline at 1. */
static void set_function(lua_State *L, const char *field, lua_CFunction f)
{
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, f, 3);
    lua_setfield(L, -2, field);
}

static int internal_behind(lua_State *L)
{
    const sl_timeline *timeline = lsl_check_timeline(L, "save")->p;
    sl_error err;
    lua_settop(L, 1);
    order *o = lsl_new_scratch(L, sizeof *o, free_order);
    lsl_check(L, sl_behind_open(timeline, &o->behind, &err), &err, "save");
    lua_createtable(L, 0, 8);
    lsl_set_boolean(L, "foreign", sl_timeline_device(timeline)->backend[0] == '\0');
    lsl_set_integer(L, "threads", sl_timeline_caller_count(timeline));
    lsl_set_integer(L, "first_ns", sl_behind_first_ns(o->behind));
    set_devices(L, timeline);
    set_streams(L, o->behind);
    set_function(L, "next", order_next);
    set_function(L, "on", order_on);
    set_function(L, "note", order_note);
    return 1;
}

const luaL_Reg lsl_behind_internals[] = { { "behind", internal_behind }, { NULL, NULL } };
