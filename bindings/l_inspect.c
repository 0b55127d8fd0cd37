/* l_inspect.c - for the program's Lua code: the state of objects, values of tensors, and lists
 * of objects. Nothing here opens a device, is recorded, or costs virtual time. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* clock_gettime */
#endif
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

#include <string.h>
#include <time.h>

/* ---- states ---------------------------------------------------------------------- */

/* Lets a device process completed work. An error there becomes the field `problem` of the table
 * on top, since it is not reported again. */
static void catch_up(lua_State *L, sl_device *device)
{
    sl_error err;
    if (lsl_get(L)->in_host_func > 0) return;
    sl_status status = sl_device_host_work(device, 0, &err);
    if (status == SL_EINTERRUPT) lsl_raise(L, status, "state", err.msg);
    if (status != SL_OK) lsl_set_text(L, "problem", err.msg);
}

static void set_device(lua_State *L, sl_device *device)
{
    sl_device_stats stats;
    sl_device_get_stats(device, &stats);
    const sl_device_info *info = sl_device_get_info(device);
    lsl_settle_guards(L);
    lsl_set_integer(L, "in_flight", stats.ops_in_flight);
    lsl_set_boolean(L, "current", lsl_get(L)->current == device);
    lsl_set_boolean(L, "recording", sl_device_is_recording(device));
    lsl_set_boolean(L, "simulated", info->simulated);
}

/* The fields for what is in an open box. */
static void set_object(lua_State *L, lsl_kind kind, void *p)
{
    if (kind == LSL_DEVICE) set_device(L, p);
    if (kind == LSL_STREAM) {
        lsl_set_integer(L, "in_flight", sl_stream_in_flight(p));
        lsl_set_integer(L, "id", sl_stream_id(p));
        lsl_set_integer(L, "priority", sl_stream_priority(p));
        lsl_set_boolean(L, "non_blocking", sl_stream_is_non_blocking(p));
        lsl_set_text(L, "name", sl_stream_name(p));
        sl_capture_status capture;
        if (sl_stream_capture_status(p, &capture, NULL) == SL_OK)
            lsl_set_text(L, "capture", sl_capture_status_name(capture));
    }
    if (kind == LSL_EVENT) {
        lsl_set_boolean(L, "recorded", sl_event_is_recorded(p));
        lsl_set_boolean(L, "happened", sl_event_has_happened(p));
        lsl_set_boolean(L, "timed", sl_event_has_timing(p));
    }
    if (kind == LSL_TENSOR) {
        lsl_set_integer(L, "bytes", (lua_Integer)sl_tensor_bytes(p));
        lsl_set_integer(L, "in_flight", sl_tensor_in_flight(p));
    }
    if (kind == LSL_GRAPH) {
        lsl_set_boolean(L, "instantiated", sl_graph_is_instantiated(p));
        lsl_set_integer(L, "launches", (lua_Integer)sl_graph_launches(p));
        lsl_set_integer(L, "nodes", (lua_Integer)sl_graph_node_count(p));
    }
}

static sl_device *device_of(lsl_kind kind, void *p)
{
    if (kind == LSL_STREAM) return sl_stream_device(p);
    if (kind == LSL_EVENT) return sl_event_device(p);
    if (kind == LSL_GRAPH) return sl_graph_device(p);
    if (kind == LSL_KERNEL) return sl_custom_device(p);
    return kind == LSL_TENSOR ? sl_tensor_device(p) : p;
}

/* The box at argument 1, if it is of a kind that is listed, and its kind. */
static lsl_box *to_box(lua_State *L, int arg, lsl_kind *kind)
{
    *kind = lsl_kind_of(L, arg);
    return lsl_is_listed(*kind) ? lua_touserdata(L, arg) : NULL;
}

static bool is_there(const lsl_box *box, lsl_kind kind)
{
    return lsl_is_open(box) && (kind != LSL_TENSOR || !sl_tensor_is_freed(box->p));
}

/* state(object): a table of its state; nil for a closed object, and for any other value. */
static int internal_state(lua_State *L)
{
    lsl_kind kind;
    const lsl_box *box = to_box(L, 1, &kind);
    if (!box || !is_there(box, kind)) return 0;
    lua_newtable(L);
    catch_up(L, device_of(kind, box->p));
    if (is_there(box, kind)) set_object(L, kind, box->p); /* a host function may have closed it */
    return 1;
}

/* ---- values ------------------------------------------------------------------------ */

/* Pushes a list of n numbers. */
static void push_values(lua_State *L, const double *values, size_t n)
{
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        lua_pushnumber(L, values[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* peek(tensor, most_s, n, first): a list of n elements from the position `first` on, which is
 * counted from 0 in reading order; nil if they take longer than most_s to compute; or nil, a
 * sentence and a code. */
static int internal_peek(lua_State *L)
{
    enum { MOST = 1 << 16 };
    sl_tensor *tensor = lsl_check_tensor(L, 1, "tensor", "peek");
    double most_s = lsl_check_number(L, 2, "most_s", "peek");
    size_t n = (size_t)lsl_check_integer(L, 3, "n", 1, MOST, "peek");
    int64_t first = luaL_checkinteger(L, 4);
    double *values = lsl_scratch(L, n, sizeof *values, "peek");
    /* Making the scratch may have run finalizers: the tensor may have been freed by one. */
    tensor = lsl_check_tensor(L, 1, "tensor", "peek");
    sl_stream *stream = lsl_current_stream(L, sl_tensor_device(tensor));
    bool has_values;
    sl_error err;
    sl_status status = sl_tensor_peek(tensor, first, (int64_t)n, most_s, values, &has_values,
                                      stream, &err);
    if (status == SL_EINTERRUPT) return lsl_raise(L, status, "peek", err.msg);
    if (status != SL_OK) return lsl_push_failure(L, status, &err);
    if (!has_values) return 0;
    push_values(L, values, n);
    return 1;
}

/* is_recording(tensor): whether a recording runs on its device. */
static int internal_is_recording(lua_State *L)
{
    sl_tensor *tensor = lsl_check_tensor(L, 1, "tensor", "is_recording");
    lua_pushboolean(L, sl_device_is_recording(sl_tensor_device(tensor)));
    return 1;
}

/* ---- what there is ----------------------------------------------------------------- */

static lsl_kind kind_of_tag(lsl_tag tag) { return (lsl_kind)(tag - lsl_tags); }

/* Puts a table about the box at the end of the list at index 1. Its key is a pointer and no Lua
 * value: only the collector may still reach the object. */
static void add_object(lua_State *L, const lsl_box *box)
{
    lsl_kind kind = kind_of_tag(box->tag);
    lua_createtable(L, 0, 12);
    lua_pushlightuserdata(L, (void *)box);
    lua_setfield(L, -2, "key");
    if (kind == LSL_DEVICE)
        lua_pushstring(L, sl_device_get_info(box->p)->name);
    else
        lsl_get(L)->push_text[kind](L, box);
    lua_setfield(L, -2, "text");
    set_object(L, kind, box->p);
    lsl_set_text(L, "kind", strchr(lsl_nouns[kind], ' ') + 1);
    lua_rawseti(L, 1, (lua_Integer)lua_rawlen(L, 1) + 1);
}

/* Protected; the argument is how many at most. */
static int list_objects(lua_State *L)
{
    lua_Integer most = lua_tointeger(L, 1), n = 0;
    lua_settop(L, 0);
    lua_newtable(L);
    for (const lsl_box *box = lsl_get(L)->boxes; box; box = box->next)
        if (is_there(box, kind_of_tag(box->tag)) && n++ < most) add_object(L, box);
    lua_pushinteger(L, n);
    return 2;
}

/* objects(most): a list of tables {key, kind, text, ...} of the devices, streams, events,
 * tensors and graphs that are open, the latest first, `most` at most; and how many there are. The
 * collector is stopped, because finalizers take boxes out of the state's list. */
static int internal_objects(lua_State *L)
{
    lua_settop(L, 1);
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushcclosure(L, list_objects, 1);
    lua_insert(L, 1);
    return lsl_call_uncollected(L, 1, 2) == LUA_OK ? 2 : lua_error(L);
}

/* key(value): its key in the list of objects(); nil for other values. */
static int internal_key(lua_State *L)
{
    lsl_kind kind;
    lsl_box *box = to_box(L, 1, &kind);
    if (!box) return 0;
    lua_pushlightuserdata(L, box);
    return 1;
}

/* module(): the module's table itself. */
static int internal_module(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.module");
    return 1;
}

/* ---- clocks -------------------------------------------------------------------------- */

/* current_device(): nil if none is open. */
static int internal_current_device(lua_State *L)
{
    lsl_settle_guards(L);
    sl_device *device = lsl_get(L)->current;
    if (!device) return 0;
    lsl_push_device(L, device);
    return 1;
}

/* wall_ns(): the real clock, from an arbitrary start. */
static int internal_wall_ns(lua_State *L)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    lua_pushinteger(L, (lua_Integer)now.tv_sec * 1000000000 + now.tv_nsec);
    return 1;
}

const luaL_Reg lsl_inspect_internals[] = {
    { "state", internal_state },
    { "peek", internal_peek },
    { "is_recording", internal_is_recording },
    { "objects", internal_objects },
    { "key", internal_key },
    { "module", internal_module },
    { "current_device", internal_current_device },
    { "wall_ns", internal_wall_ns },
    { NULL, NULL },
};
