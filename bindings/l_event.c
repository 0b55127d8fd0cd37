/* l_event.c - events. As in CUDA an event has timing unless timing = false; after
 * lab.torch_defaults() it has none unless timing = true, which PyTorch calls enable_timing.
 */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

static sl_event *check_self(lua_State *L, const char *op)
{
    return lsl_check_event(L, 1, "self", op);
}

static bool read_timing(lua_State *L, int arg, const char *op)
{
    enum { NOT_GIVEN = -1 };
    int timing = NOT_GIVEN, enable_timing = NOT_GIVEN;
    const lsl_option options[] = {
        { "timing", LSL_OPT_BOOL, &timing },
        { "enable_timing", LSL_OPT_BOOL, &enable_timing },
    };
    lsl_options(L, arg, options, LSL_COUNT(options), op);
    if (timing != NOT_GIVEN && enable_timing != NOT_GIVEN)
        lsl_fail(L, SL_EINVAL, op, "options 'timing' and 'enable_timing' are two names of one");
    if (enable_timing != NOT_GIVEN) timing = enable_timing;
    return timing != NOT_GIVEN ? timing : !lsl_get(L)->torch_defaults;
}

void lsl_create_event(lua_State *L, sl_device *device, int arg, const char *op)
{
    bool timing = read_timing(L, arg, op);
    lsl_box *box = lsl_new_box(L, LSL_EVENT);
    sl_event *event;
    sl_error err;
    lsl_check(L, sl_event_create(device, timing, &event, &err), &err, op);
    box->p = event;
}

static int lab_event(lua_State *L)
{
    lsl_no_more(L, 1, "event");
    lua_settop(L, 1);
    lsl_create_event(L, lsl_device(L, "event"), 1, "event");
    return 1;
}

/* lab.torch_defaults([on]) -> what was set before. */
static int lab_torch_defaults(lua_State *L)
{
    lsl_state *state = lsl_get(L);
    lsl_no_more(L, 1, "torch_defaults");
    if (!lua_isnoneornil(L, 1) && !lua_isboolean(L, 1))
        lsl_type_error(L, 1, "on", "true or false", "torch_defaults");
    lua_settop(L, 1);
    lua_pushboolean(L, state->torch_defaults);
    state->torch_defaults = lua_isnil(L, 1) || lua_toboolean(L, 1);
    return 1;
}

/* e:record([s]): on the current stream of the event's device by default. */
static int event_record(lua_State *L)
{
    sl_event *event = check_self(L, "record");
    sl_stream *stream = lsl_opt_stream(L, 2, "stream", "record");
    lsl_no_more(L, 2, "record");
    sl_device *device = sl_event_device(event);
    if (!stream) stream = lsl_current_stream(L, device);
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_event_record(event, stream, &err), &err, "record");
    return lsl_return_first(L);
}

static int event_query(lua_State *L)
{
    sl_event *event = check_self(L, "query");
    lsl_no_more(L, 1, "query");
    bool done;
    sl_error err;
    lsl_check(L, sl_event_query(event, &done, &err), &err, "query");
    lua_pushboolean(L, done);
    return 1;
}

static int event_synchronize(lua_State *L)
{
    sl_event *event = check_self(L, "synchronize");
    lsl_no_more(L, 1, "synchronize");
    sl_error err;
    lsl_mark(L, sl_event_device(event));
    lsl_check(L, sl_event_synchronize(event, &err), &err, "synchronize");
    return 0;
}

/* start:elapsed_time(end), in milliseconds. */
static int event_elapsed_time(lua_State *L)
{
    sl_event *start = check_self(L, "elapsed_time");
    sl_event *end = lsl_check_event(L, 2, "end_event", "elapsed_time");
    lsl_no_more(L, 2, "elapsed_time");
    double ms;
    sl_error err;
    lsl_check(L, sl_event_elapsed_ms(start, end, &ms, &err), &err, "elapsed_time");
    lua_pushnumber(L, ms);
    return 1;
}

LSL_GETTER(sl_event, timing, boolean, sl_event_has_timing(self))
LSL_GETTER(sl_event, recorded, boolean, sl_event_is_recorded(self))

static void push_text(lua_State *L, const lsl_box *box)
{
    if (!lsl_is_open(box))
        lua_pushliteral(L, "event (closed)");
    else
        lua_pushfstring(L, "event (%s, %s)",
                        sl_event_is_recorded(box->p) ? "recorded" : "not recorded",
                        sl_event_has_timing(box->p) ? "timed" : "untimed");
}

static int event_close(lua_State *L) { return lsl_close(L, LSL_EVENT); }

static const luaL_Reg functions[] = {
    { "event", lab_event },
    { "torch_defaults", lab_torch_defaults },
    { NULL, NULL },
};
static const luaL_Reg methods[] = {
    { "record", event_record },
    { "query", event_query },
    { "synchronize", event_synchronize },
    { "elapsed_time", event_elapsed_time },
    { "close", event_close },
    { NULL, NULL },
};
static const luaL_Reg getters[] = {
    { "timing", get_timing },
    { "recorded", get_recorded },
    { NULL, NULL },
};
static const lsl_class class = { push_text, event_close, methods, getters };

void lsl_open_event(lua_State *L)
{
    lsl_define_boxes(L, LSL_EVENT, &class);
    lsl_set_functions(L, functions);
}
