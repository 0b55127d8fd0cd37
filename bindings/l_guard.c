/* l_guard.c - lab.use: a stream that is current until the end of a block.
 *
 * What a coroutine has made current is current only while it runs. Lua has no hook for yields;
 * so before the current stream or device is read, the guards that were opened in coroutines are
 * checked: the guard of a coroutine that no longer runs restores the earlier stream, and sets
 * its own again when the coroutine continues. A coroutine that has returned without closing its
 * guard leaves the stream current, as a script's main chunk does. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

/* A capture that began in a stream that nobody has any more could not be ended. */
static void abandon_capture(lua_State *L, sl_stream *stream)
{
    if (lsl_push_known(L, LSL_STREAM, stream))
        lua_pop(L, 1);
    else if (sl_device_current_stream(sl_stream_device(stream)) != stream)
        sl_stream_abandon_capture(stream);
}

static void drop(lua_State *L, lsl_guard *g)
{
    if (g->stream && !lsl_get(L)->closing) abandon_capture(L, g->stream);
    sl_stream_release(g->stream);
    sl_device_release(g->device);
    g->stream = NULL;
    g->device = NULL;
}

/* The guard on top of the stack becomes the newest of the coroutine that runs. */
static void make_newest(lua_State *L)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, lsl_get(L)->guards_ref);
    lua_pushthread(L);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, -4, 1);
    lua_pushvalue(L, -1);
    lua_rawget(L, -3); /* the guard, the table, the coroutine, its guard so far */
    lua_setiuservalue(L, -4, 2);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

/* Drops the newest guards of the coroutine of the guard at index 1, as long as they are closed. */
static void drop_closed(lua_State *L)
{
    lua_settop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, lsl_get(L)->guards_ref);
    lua_getiuservalue(L, 1, 1);
    lua_pushvalue(L, -1);
    lua_rawget(L, 2); /* the newest */
    for (lsl_guard *g = lsl_to(L, 4, LSL_GUARD); g && !g->stream; g = lsl_to(L, 4, LSL_GUARD)) {
        lua_getiuservalue(L, 4, 2);
        lua_replace(L, 4);
    }
    lua_rawset(L, 2);
}

static void enlist(lsl_state *state, lsl_guard *g)
{
    g->older = state->guards;
    if (g->older) g->older->newer = g;
    state->guards = g;
}

static void delist(lsl_state *state, lsl_guard *g)
{
    if (g->newer)
        g->newer->older = g->older;
    else if (state->guards == g)
        state->guards = g->older;
    if (g->older) g->older->newer = g->newer;
    g->older = g->newer = NULL;
}

void lsl_push_guard(lua_State *L, sl_stream *stream, const char *op)
{
    lsl_state *state = lsl_get(L);
    if (state->in_host_func > 0)
        lsl_fail(L, SL_ESTATE, op, "a host function must not change the current stream");
    lsl_guard *g = lsl_new(L, LSL_GUARD, sizeof *g);
    if (L != state->main) make_newest(L);
    lsl_settle_guards(L);
    g->thread = L;
    g->device = sl_device_retain(sl_stream_device(stream));
    g->stream = sl_stream_retain(stream);
    lsl_swap_guard(state, g);
    if (L != state->main) enlist(state, g);
}

/* lab.use(s): makes s, and as in PyTorch its device, current. */
static int lab_use(lua_State *L)
{
    sl_stream *stream = lsl_check_stream(L, 1, "stream", "use");
    lsl_no_more(L, 1, "use");
    lsl_push_guard(L, stream, "use");
    return 1;
}

static int guard_close(lua_State *L)
{
    lsl_guard *g = lsl_to(L, 1, LSL_GUARD);
    if (!g || !g->stream) return 0;
    lsl_settle_guards(L);
    delist(lsl_get(L), g);
    if (!g->parked) lsl_swap_guard(lsl_get(L), g);
    drop(L, g);
    if (g->thread != lsl_get(L)->main) drop_closed(L);
    return 0;
}

/* A collected guard restores nothing, since the moment would depend on the collector. The guard
 * of a coroutine is collected with it, and must be parked then. */
static int guard_gc(lua_State *L)
{
    lsl_guard *g = lsl_to(L, 1, LSL_GUARD);
    if (!g) return 0;
    if (!lsl_get(L)->closing) lsl_settle_guards(L);
    delist(lsl_get(L), g);
    drop(L, g);
    g->tag = NULL;
    return 0;
}

static const luaL_Reg functions[] = { { "use", lab_use }, { NULL, NULL } };
static const luaL_Reg meta[] = { { "__close", guard_close }, { "__gc", guard_gc }, { NULL, NULL } };

void lsl_open_guard(lua_State *L)
{
    lsl_define(L, LSL_GUARD, meta, NULL, NULL);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lsl_get(L)->guards_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    lsl_set_functions(L, functions);
}
