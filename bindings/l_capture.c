/* l_capture.c - captures: lab.graph and g:update, which capture what a function enqueues, and the
 * host API calls begin_capture and end_capture.
 *
 * The function is called between two to-be-closed values, so that an error passes as it is, and
 * yields pass too: one makes the old stream current again, the other throws the capture away unless
 * it has ended. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

#include <string.h>

/* ---- modes ---------------------------------------------------------------------------- */

#define MODES "\"global\", \"thread_local\" or \"relaxed\""

static sl_capture_mode check_mode(lua_State *L, int arg, const char *op)
{
    sl_capture_mode mode = SL_CAPTURE_GLOBAL; /* as PyTorch's capture_begin */
    if (lua_isnoneornil(L, arg)) return mode;
    if (lua_type(L, arg) != LUA_TSTRING || !sl_capture_mode_parse(lua_tostring(L, arg), &mode))
        lsl_fail(L, SL_EINVAL, op, "argument %d (mode) must be " MODES ", got %s", arg,
                 lsl_push_given(L, arg));
    return mode;
}

/* ---- of a function ---------------------------------------------------------------------- */

/* The stack of lab.graph and g:update while the function runs; its results come behind. */
enum {
    SUBJECT = 1, /* a name or nil; the graph that is updated */
    FUNCTION,
    OPTIONS,
    STREAM,
    GUARD,
    CAPTURE,
    GRAPH /* the new one's box; true */
};

typedef struct plan {
    sl_stream *stream; /* NULL: the current one */
    sl_capture_mode mode;
    int priorities;
} plan;

/* What the collector, or an error, throws away: a capture that goes on. */
typedef struct capture {
    sl_stream *stream; /* retained; NULL: none */
} capture;

static void abandon(void *p)
{
    capture *c = p;
    sl_stream_abandon_capture(c->stream);
    sl_stream_release(c->stream);
    c->stream = NULL;
}

static sl_capture_mode read_mode(lua_State *L, const char *name, const char *op)
{
    sl_capture_mode mode = SL_CAPTURE_THREAD_LOCAL;
    if (name && !sl_capture_mode_parse(name, &mode))
        lsl_fail(L, SL_EINVAL, op, "option 'mode' must be " MODES ", got \"%.40s\"", name);
    return mode;
}

/* Pushes the stream to capture in: the NULL stream cannot be, so that it gets one of its own. */
static void push_stream(lua_State *L, sl_stream *given, const char *op)
{
    sl_device *device = given ? sl_stream_device(given) : lsl_device(L, op);
    sl_stream *stream = given ? given : lsl_current_stream(L, device);
    sl_error err;
    if (given || sl_stream_id(stream) != 0) {
        lsl_push_stream(L, stream);
        return;
    }
    lsl_box *box = lsl_new_box(L, LSL_STREAM);
    const sl_stream_options options = {
        .priority = sl_device_get_info(device)->priority_least,
        .non_blocking = lsl_get(L)->torch_defaults,
        .name = "capture",
    };
    lsl_mark(L, device);
    lsl_check(L, sl_stream_create(device, &options, &stream, &err), &err, op);
    box->p = stream;
    box->id = sl_stream_id(stream);
    box->device_index = sl_device_get_info(sl_stream_device(stream))->index;
    lsl_remember(L);
}

/* From SUBJECT, FUNCTION and OPTIONS on the stack to CAPTURE. */
static void begin(lua_State *L, const plan *p, const char *op)
{
    sl_error err;
    push_stream(L, p->stream, op);
    sl_stream *stream = ((lsl_box *)lua_touserdata(L, STREAM))->p;
    lsl_push_guard(L, stream, op);
    lua_toclose(L, GUARD);
    capture *c = lsl_new_scratch(L, sizeof *c, abandon);
    lua_toclose(L, CAPTURE);
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_stream_begin_capture(stream, p->mode, &err), &err, op);
    c->stream = sl_stream_retain(stream);
}

/* The capture that began in begin(). */
static sl_graph *end(lua_State *L, const char *op)
{
    sl_stream *stream = ((capture *)lsl_scratch_at(L, CAPTURE))->stream;
    sl_graph *graph;
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_stream_end_capture(stream, &graph, &err), &err, op);
    return graph;
}

/* Pushes an empty box. */
static void push_box(lua_State *L) { lsl_new_box(L, LSL_GRAPH); }

/* Fills the box at idx. */
static void fill_box(lua_State *L, int idx, sl_graph *graph)
{
    lsl_box *box = lua_touserdata(L, idx);
    box->p = graph;
    lua_pushvalue(L, idx);
    lsl_remember(L);
    lua_pop(L, 1);
}

/* lab.graph, when the function has returned: the graph, then what the function gave. */
static int finish_graph(lua_State *L, int status, lua_KContext priorities)
{
    (void)status;
    sl_graph *graph = end(L, "graph");
    const char *name = lua_tostring(L, SUBJECT);
    sl_error err;
    fill_box(L, GRAPH, graph);
    if (name) lsl_check(L, sl_graph_set_name(graph, name, &err), &err, "graph");
    lsl_check(L, sl_graph_instantiate(graph, priorities != 0, &err), &err, "graph");
    return lua_gettop(L) - GRAPH + 1;
}

/* lab.graph(f, {mode =, priorities =, stream =, name =}) */
static int lab_graph(lua_State *L)
{
    const char *op = "graph", *mode = NULL, *name = NULL;
    plan p = { .stream = NULL };
    const lsl_option options[] = {
        { "mode", LSL_OPT_TEXT, &mode },
        { "priorities", LSL_OPT_BOOL, &p.priorities },
        { "stream", LSL_OPT_STREAM, &p.stream },
        { "name", LSL_OPT_TEXT, &name },
    };
    lsl_check_function(L, 1, "f", op);
    lsl_no_more(L, 2, op);
    lua_settop(L, 2);
    lsl_options(L, 2, options, LSL_COUNT(options), op);
    p.mode = read_mode(L, mode, op);
    lua_pushstring(L, name);
    lua_insert(L, SUBJECT);
    begin(L, &p, op);
    push_box(L);
    lua_pushvalue(L, FUNCTION);
    lua_callk(L, 0, LUA_MULTRET, p.priorities, finish_graph);
    return finish_graph(L, LUA_OK, p.priorities);
}

/* g:update, when the function has returned: true and what the function gave, or false and why. */
static int finish_update(lua_State *L, int status, lua_KContext context)
{
    (void)context;
    sl_graph *graph = lsl_check_graph(L, SUBJECT, "self", "update");
    sl_graph *from = end(L, "update");
    sl_error err;
    sl_status updated = sl_graph_update(graph, from, &err);
    sl_graph_release(from);
    (void)status;
    if (updated == SL_EUNSUPPORTED) return lsl_push_false(L, &err);
    lsl_check(L, updated, &err, "update");
    return lua_gettop(L) - GRAPH + 1;
}

/* g:update(f, {mode =, stream =}) */
static int graph_update(lua_State *L)
{
    const char *op = "update", *mode = NULL;
    plan p = { .stream = NULL };
    const lsl_option options[] = {
        { "mode", LSL_OPT_TEXT, &mode },
        { "stream", LSL_OPT_STREAM, &p.stream },
    };
    lsl_check_graph(L, SUBJECT, "self", op);
    lsl_check_function(L, FUNCTION, "f", op);
    lsl_no_more(L, OPTIONS, op);
    lua_settop(L, OPTIONS);
    lsl_options(L, OPTIONS, options, LSL_COUNT(options), op);
    p.mode = read_mode(L, mode, op);
    begin(L, &p, op);
    lua_pushboolean(L, 1);
    lua_pushvalue(L, FUNCTION);
    lua_callk(L, 0, LUA_MULTRET, 0, finish_update);
    return finish_update(L, LUA_OK, 0);
}

/* ---- host API calls ------------------------------------------------------------------- */

static int begin_capture(lua_State *L, const char *name, const char *op)
{
    sl_stream *stream = lsl_check_stream(L, 1, name, op);
    sl_capture_mode mode = check_mode(L, 2, op);
    sl_error err;
    lsl_no_more(L, 2, op);
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_stream_begin_capture(stream, mode, &err), &err, op);
    return 0;
}

static int end_capture(lua_State *L, const char *name, const char *op)
{
    lsl_check_stream(L, 1, name, op);
    lsl_no_more(L, 1, op);
    lua_settop(L, 1);
    push_box(L);
    sl_stream *stream = lsl_check_stream(L, 1, name, op); /* a finalizer may have closed it */
    sl_graph *graph;
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_stream_end_capture(stream, &graph, &err), &err, op);
    fill_box(L, 2, graph);
    return 1;
}

static int capture_status(lua_State *L, const char *name, const char *op)
{
    sl_stream *stream = lsl_check_stream(L, 1, name, op);
    sl_capture_status status;
    sl_error err;
    lsl_no_more(L, 1, op);
    lsl_check(L, sl_stream_capture_status(stream, &status, &err), &err, op);
    lua_pushstring(L, sl_capture_status_name(status));
    return 1;
}

static int stream_begin_capture(lua_State *L) { return begin_capture(L, "self", "begin_capture"); }
static int stream_end_capture(lua_State *L) { return end_capture(L, "self", "end_capture"); }
static int stream_capture_status(lua_State *L)
{
    return capture_status(L, "self", "capture_status");
}

static int cuda_begin_capture(lua_State *L)
{
    return begin_capture(L, "stream", "cuda.stream_begin_capture");
}

static int cuda_end_capture(lua_State *L)
{
    return end_capture(L, "stream", "cuda.stream_end_capture");
}

static int cuda_is_capturing(lua_State *L)
{
    return capture_status(L, "stream", "cuda.stream_is_capturing");
}

/* ---- tables ---------------------------------------------------------------------------- */

static const luaL_Reg functions[] = { { "graph", lab_graph }, { NULL, NULL } };
static const luaL_Reg cuda_functions[] = {
    { "stream_begin_capture", cuda_begin_capture },
    { "stream_end_capture", cuda_end_capture },
    { "stream_is_capturing", cuda_is_capturing },
    { NULL, NULL },
};
static const luaL_Reg graph_methods[] = { { "update", graph_update }, { NULL, NULL } };
static const luaL_Reg stream_methods[] = {
    { "begin_capture", stream_begin_capture },
    { "end_capture", stream_end_capture },
    { "capture_status", stream_capture_status },
    { NULL, NULL },
};

void lsl_open_capture(lua_State *L)
{
    lsl_add_methods(L, LSL_GRAPH, graph_methods);
    lsl_add_methods(L, LSL_STREAM, stream_methods);
    lsl_set_functions(L, functions);
    lua_getfield(L, -1, "cuda");
    lsl_set_functions(L, cuda_functions);
    lua_pop(L, 1);
}
