/* l_stream.c - streams, the current stream, and host functions.
 *
 * A host function lives on a Lua thread of its own, anchored in the registry
 * until the operation has retired. The core runs it inside some later call of
 * the laboratory, on the thread of that call.
 */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sl_stream *check_self(lua_State *L, const char *op)
{
    return lsl_check_stream(L, 1, "self", op);
}

void lsl_push_stream(lua_State *L, sl_stream *stream)
{
    if (lsl_push_known(L, LSL_STREAM, stream)) return;
    lsl_box *box = lsl_new_box(L, LSL_STREAM);
    box->p = sl_stream_retain(stream);
    box->id = sl_stream_id(stream);
    box->device_index = sl_device_get_info(sl_stream_device(stream))->index;
    lsl_remember(L);
}

/* ---- creation ------------------------------------------------------------------ */

/* The priority option at stack index `slot`: a number, "high" or "low". */
static int read_priority(lua_State *L, int slot, const sl_device_info *info)
{
    int least = info->priority_least, greatest = info->priority_greatest, whole = 0;
    if (lua_isnil(L, slot)) return least;
    const char *text = lua_type(L, slot) == LUA_TSTRING ? lua_tostring(L, slot) : "";
    if (strcmp(text, "high") == 0) return greatest;
    if (strcmp(text, "low") == 0) return least;
    if (lua_type(L, slot) != LUA_TNUMBER)
        lsl_fail(L, SL_EINVAL, "stream",
                 "option 'priority' must be \"high\", \"low\" or a whole number, got %s",
                 lsl_push_given(L, slot));
    lua_Integer value = lua_tointegerx(L, slot, &whole);
    if (!whole)
        lsl_fail(L, SL_EINVAL, "stream", "option 'priority' must be a whole number, got %.14g",
                 lsl_printable(lua_tonumber(L, slot)));
    lua_Integer clamped = value > least ? least : value < greatest ? greatest : value;
    if (clamped != value && !lsl_get(L)->said_clamped) {
        char notice[128];
        lsl_get(L)->said_clamped = true;
        snprintf(notice, sizeof notice, "priority %lld is outside %d..%d: %lld is used",
                 (long long)value, least, greatest, (long long)clamped);
        lsl_notice(L, notice);
    }
    return (int)clamped;
}

/* The device option at stack index `slot`; the current one without. */
static sl_device *read_device(lua_State *L, int slot)
{
    lsl_home home = { .host = false };
    if (!lua_isnil(L, slot) && (!lsl_read_home(L, slot, &home, "stream") || home.host))
        lsl_fail(L, SL_EINVAL, "stream",
                 "option 'device' must be \"cuda\", the number of a GPU as "
                 "in \"cuda:1\", or a device, got %s",
                 lsl_push_given(L, slot));
    return home.device ? home.device : lsl_device(L, "stream");
}

static int lab_stream(lua_State *L)
{
    lsl_no_more(L, 1, "stream");
    lua_settop(L, 3);
    int priority = 2, device_slot = 3, non_blocking = lsl_get(L)->torch_defaults;
    const char *name = NULL;
    const lsl_option options[] = {
        { "priority", LSL_OPT_ANY, &priority },
        { "non_blocking", LSL_OPT_BOOL, &non_blocking },
        { "name", LSL_OPT_TEXT, &name },
        { "device", LSL_OPT_ANY, &device_slot },
    };
    lsl_options(L, 1, options, LSL_COUNT(options), "stream");
    sl_device *device = read_device(L, device_slot);
    sl_stream_options core_options = {
        .priority = read_priority(L, priority, sl_device_get_info(device)),
        .non_blocking = non_blocking,
        .name = name,
    };
    lsl_box *box = lsl_new_box(L, LSL_STREAM);
    sl_stream *stream;
    sl_error err;
    lsl_mark(L, device);
    lsl_check(L, sl_stream_create(device, &core_options, &stream, &err), &err, "stream");
    box->p = stream;
    box->id = sl_stream_id(stream);
    box->device_index = sl_device_get_info(sl_stream_device(stream))->index;
    lsl_remember(L);
    return 1;
}

/* ---- host functions ----------------------------------------------------------------- */

typedef struct host_call {
    lsl_state *state;
    lua_State *thread; /* its stack holds the function */
    int ref;           /* of the thread, in the registry */
} host_call;

static bool run_host_call(void *ud, sl_error *err)
{
    const host_call *call = ud;
    lua_State *T = call->thread;
    if (call->state->closing) return true;
    lua_settop(T, 1);
    lua_pushvalue(T, 1);
    const char *text = lsl_call_inside(call->state, T, 0, 0);
    if (text) sl_fail(err, SL_EHOSTFUNC, "a host function failed: %s", text);
    lua_settop(T, 1);
    return !text;
}

/* unref allocates nothing; the thread itself is used for it, because its stack is
 * empty whatever the others are in the middle of. */
static void release_host_call(void *ud)
{
    host_call *call = ud;
    call->state->host_funcs--;
    if (!call->state->closing) luaL_unref(call->thread, LUA_REGISTRYINDEX, call->ref);
    free(call);
}

static int stream_launch_host_func(lua_State *L)
{
    const char *op = "launch_host_func";
    sl_stream *stream = check_self(L, op);
    lsl_check_function(L, 2, "f", op);
    lsl_no_more(L, 2, op);
    lua_settop(L, 2);
    lua_State *thread = lua_newthread(L);
    lua_pushvalue(L, 2);
    lua_xmove(L, thread, 1);
    int ref = luaL_ref(L, LUA_REGISTRYINDEX);
    host_call *call = malloc(sizeof *call);
    sl_error err;
    sl_status status;
    if (!call) {
        status = sl_fail(&err, SL_ENOMEM, "out of host memory");
    } else {
        *call = (host_call){ .state = lsl_get(L), .thread = thread, .ref = ref };
        lsl_mark(L, sl_stream_device(stream));
        status = sl_stream_launch_host_func(stream, run_host_call, call, release_host_call, &err);
    }
    if (status == SL_OK) {
        lsl_get(L)->host_funcs++;
    } else {
        luaL_unref(L, LUA_REGISTRYINDEX, ref);
        free(call);
    }
    lsl_check(L, status, &err, op);
    return 0;
}

/* ---- methods --------------------------------------------------------------------------- */

static int stream_synchronize(lua_State *L)
{
    sl_stream *stream = check_self(L, "synchronize");
    lsl_no_more(L, 1, "synchronize");
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_stream_synchronize(stream, &err), &err, "synchronize");
    return 0;
}

static int stream_query(lua_State *L)
{
    sl_stream *stream = check_self(L, "query");
    lsl_no_more(L, 1, "query");
    bool done;
    sl_error err;
    lsl_check(L, sl_stream_query(stream, &done, &err), &err, "query");
    lua_pushboolean(L, done);
    return 1;
}

static int stream_wait_event(lua_State *L)
{
    sl_stream *stream = check_self(L, "wait_event");
    sl_event *event = lsl_check_event(L, 2, "event", "wait_event");
    lsl_no_more(L, 2, "wait_event");
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_stream_wait_event(stream, event, &err), &err, "wait_event");
    return 0;
}

static int stream_wait_stream(lua_State *L)
{
    sl_stream *stream = check_self(L, "wait_stream");
    sl_stream *other = lsl_check_stream(L, 2, "stream", "wait_stream");
    lsl_no_more(L, 2, "wait_stream");
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_stream_wait_stream(stream, other, &err), &err, "wait_stream");
    return 0;
}

/* The arguments t, i and v. */
typedef struct value_args {
    sl_tensor *tensor;
    int64_t elem; /* from 0 */
    double value;
} value_args;

static value_args check_value_args(lua_State *L, const char *op)
{
    sl_tensor *tensor = lsl_check_tensor(L, 2, "t", op);
    int64_t index = lsl_check_integer(L, 3, "i", 1, INT64_MAX, op);
    return (value_args){ tensor, index - 1, lsl_check_number(L, 4, "v", op) };
}

static void doubt_memory(lua_State *L, const sl_stream *stream, const value_args *at,
                         const char *op)
{
    lsl_state *state = lsl_get(L);
    char where[LSL_WHERE_TEXT];
    if (state->said_pooled || !sl_device_get_info(sl_stream_device(stream))->simulated
        || sl_tensor_has_words(at->tensor))
        return;
    state->said_pooled = true;
    lsl_where_text(L, where, sizeof where);
    lua_pushfstring(
        L,
        "%s: %s: a real GPU refuses this tensor, because its memory is of a pool: use a "
        "pinned tensor, or memory of lab.cuda.malloc",
        where, op);
    lsl_notice(L, lua_tostring(L, -1));
}

static int stream_write_value(lua_State *L)
{
    const char *op = "write_value";
    sl_stream *stream = check_self(L, op);
    value_args at = check_value_args(L, op);
    lsl_no_more(L, 4, op);
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_stream_write_value(stream, at.tensor, at.elem, at.value, &err), &err, op);
    doubt_memory(L, stream, &at, op);
    return 0;
}

static sl_compare read_compare(lua_State *L, int arg, const char *op)
{
    static const char *const names[SL_COMPARES] = { "geq", "eq", "and" };
    const char *compare = names[0];
    const lsl_option options[] = { { "compare", LSL_OPT_TEXT, &compare } };
    lsl_options(L, arg, options, LSL_COUNT(options), op);
    for (int i = 0; i < SL_COMPARES; i++)
        if (strcmp(compare, names[i]) == 0) return (sl_compare)i;
    lsl_fail(L, SL_EINVAL, op, "option 'compare' must be \"geq\", \"eq\" or \"and\", got \"%.40s\"",
             compare);
    return SL_COMPARES;
}

static int stream_wait_value(lua_State *L)
{
    const char *op = "wait_value";
    sl_stream *stream = check_self(L, op);
    value_args at = check_value_args(L, op);
    lsl_no_more(L, 5, op);
    lua_settop(L, 5);
    sl_compare compare = read_compare(L, 5, op);
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    sl_status status = sl_stream_wait_value(stream, at.tensor, at.elem, at.value, compare, &err);
    lsl_check(L, status, &err, op);
    doubt_memory(L, stream, &at, op);
    return 0;
}

/* s:record_event([e]): a new event, as lab.event{...} makes it, unless one is given. */
static int stream_record_event(lua_State *L)
{
    const char *op = "record_event";
    sl_stream *stream = check_self(L, op);
    sl_device *device = sl_stream_device(stream);
    sl_error err;
    lsl_no_more(L, 2, op);
    if (!lsl_to(L, 2, LSL_EVENT) && (lua_isnoneornil(L, 2) || lua_istable(L, 2))) {
        lua_settop(L, 2);
        lsl_create_event(L, device, 2, op);
        lua_replace(L, 2);
    }
    sl_event *event = lsl_check_event(L, 2, "event", op);
    lsl_mark(L, device);
    lsl_check(L, sl_event_record(event, stream, &err), &err, op);
    return 1;
}

/* Fields. */

LSL_GETTER(sl_stream, id, integer, sl_stream_id(self))
LSL_GETTER(sl_stream, name, string, sl_stream_name(self))
LSL_GETTER(sl_stream, priority, integer, sl_stream_priority(self))
LSL_GETTER(sl_stream, non_blocking, boolean, sl_stream_is_non_blocking(self))

static int get_device(lua_State *L)
{
    lsl_push_device(L, sl_stream_device(check_self(L, "device")));
    return 1;
}

static void push_text(lua_State *L, const lsl_box *box)
{
    if (!lsl_is_open(box)) {
        lua_pushliteral(L, "stream (closed)");
        return;
    }
    lua_pushfstring(L, "stream %d \"%s\" (priority %d, %s)", (int)sl_stream_id(box->p),
                    sl_stream_name(box->p), sl_stream_priority(box->p),
                    sl_stream_is_non_blocking(box->p) ? "non-blocking" : "blocking");
}

/* What kind of default stream the box holds, which belongs to its device; NULL: a
 * stream that can be closed. */
static const char *default_kind(lua_State *L, const lsl_box *box)
{
    if (!box || !lsl_is_open(box)) return NULL;
    if (box->id == 0) return "default";
    for (lsl_device_node *node = lsl_get(L)->devices; node; node = node->next)
        if (node->per_thread == box->p) return "per-thread default";
    return NULL;
}

static int stream_close(lua_State *L)
{
    const lsl_box *box = lsl_to(L, 1, LSL_STREAM);
    if (!box) lsl_type_error(L, 1, "self", "a stream", "close");
    lsl_no_more(L, 1, "close");
    const char *kind = default_kind(L, box);
    if (kind) lsl_fail(L, SL_EINVAL, "close", "the %s stream cannot be closed", kind);
    return lsl_close(L, LSL_STREAM);
}

/* `local s <close> = lab.current_stream()`: nothing happens to a default stream. */
static int stream_end_scope(lua_State *L)
{
    return default_kind(L, lsl_to(L, 1, LSL_STREAM)) ? 0 : lsl_close(L, LSL_STREAM);
}

/* ---- the current stream ------------------------------------------------------------------ */

static int lab_default_stream(lua_State *L)
{
    lsl_no_more(L, 0, "default_stream");
    lsl_push_stream(L, sl_device_default_stream(lsl_device(L, "default_stream")));
    return 1;
}

static int lab_current_stream(lua_State *L)
{
    lsl_no_more(L, 0, "current_stream");
    lsl_push_stream(L, lsl_current_stream(L, lsl_device(L, "current_stream")));
    return 1;
}

static int lab_per_thread_stream(lua_State *L)
{
    lsl_no_more(L, 0, "per_thread_stream");
    sl_device *device = lsl_device(L, "per_thread_stream");
    sl_stream *stream;
    sl_error err;
    lsl_check(L, sl_device_per_thread_stream(device, &stream, &err), &err, "per_thread_stream");
    lsl_node_of(lsl_get(L), device)->per_thread = stream;
    lsl_push_stream(L, stream);
    return 1;
}

/* ---- tables -------------------------------------------------------------------------------- */

static const luaL_Reg functions[] = {
    { "stream", lab_stream },
    { "default_stream", lab_default_stream },
    { "current_stream", lab_current_stream },
    { "per_thread_stream", lab_per_thread_stream },
    { NULL, NULL },
};
static const luaL_Reg methods[] = {
    { "synchronize", stream_synchronize },
    { "query", stream_query },
    { "wait_event", stream_wait_event },
    { "wait_stream", stream_wait_stream },
    { "record_event", stream_record_event },
    { "write_value", stream_write_value },
    { "wait_value", stream_wait_value },
    { "launch_host_func", stream_launch_host_func },
    { "close", stream_close },
    { NULL, NULL },
};
static const luaL_Reg getters[] = {
    { "id", get_id },
    { "name", get_name },
    { "priority", get_priority },
    { "non_blocking", get_non_blocking },
    { "device", get_device },
    { NULL, NULL },
};
static const lsl_class class = { push_text, stream_end_scope, methods, getters };

void lsl_open_stream(lua_State *L)
{
    lsl_define_boxes(L, LSL_STREAM, &class);
    lsl_set_functions(L, functions);
}
