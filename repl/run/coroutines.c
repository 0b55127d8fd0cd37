/* coroutines.c - replacements for Lua's coroutine functions, xpcall and pcall, for Ctrl-C.
 *
 * The hook that stops a script belongs to one coroutine, so resume, wrap and close report which
 * one runs. The error of an interrupted coroutine is raised again in its resumer.
 *
 * A message handler runs inside the hook that raised the error, where Lua calls no hooks: it
 * could not be stopped. So xpcall wraps the handler in a function that returns this error
 * unchanged.
 *
 * A script's pcall may catch the error. The pcall of the program's own files does not: otherwise
 * a file would be reported as broken, or the exit status be wrong, because the user pressed
 * Ctrl-C.
 */
#include "coroutines.h"

#include <lauxlib.h>
#include <stdbool.h>

#include "ctrl_c.h"

/* ---- coroutines --------------------------------------------------------------- */

/* Resumes `co` with the top n_args values, as the running coroutine. Returns the
 * number of results, or -1 for an error value; they are on the stack's top. */
static int resume_noted(lua_State *L, lua_State *co, int n_args)
{
    if (!lua_checkstack(co, n_args)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, co, n_args);
    int n = 0;
    lua_State *before = interrupt_enter(co);
    int status = lua_resume(co, L, n_args, &n);
    interrupt_return(co, before);
    bool fine = status == LUA_OK || status == LUA_YIELD;
    if (fine && !lua_checkstack(L, n + 1)) {
        lua_pop(co, n);
        lua_pushliteral(L, "too many results to resume");
        return -1;
    }
    lua_xmove(co, L, fine ? n : 1);
    return fine ? n : -1;
}

/* Closes the to-be-closed variables of a failed coroutine; pushes the resulting error. */
static int close_failed(lua_State *L, lua_State *co)
{
    lua_State *before = interrupt_enter(co);
    int status = lua_resetthread(co);
    interrupt_return(co, before);
    lua_xmove(co, L, 1);
    return status;
}

static bool has_failed(lua_State *co)
{
    int status = lua_status(co);
    return status != LUA_OK && status != LUA_YIELD;
}

/* coroutine.resume, except that the error of an interrupted coroutine is raised, not returned.
 * The caller then has no chance to close the coroutine, so its variables are closed here. */
static int resume(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);
    luaL_argexpected(L, co, 1, "thread");
    int n = resume_noted(L, co, lua_gettop(L) - 1);
    if (n < 0 && interrupt_is_error(L)) {
        if (has_failed(co)) close_failed(L, co);
        return lua_error(L);
    }
    lua_pushboolean(L, n >= 0);
    lua_insert(L, n < 0 ? -2 : -(n + 1));
    return n < 0 ? 2 : n + 1;
}

/* What coroutine.wrap returns. Upvalue: the coroutine. */
static int wrapped(lua_State *L)
{
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    int n = resume_noted(L, co, lua_gettop(L));
    if (n >= 0) return n;
    int status = has_failed(co) ? close_failed(L, co) : lua_status(co);
    if (interrupt_is_error(L)) /* it says where, and that is enough */
        return lua_error(L);
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1); /* for the caller */
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

/* Pushes a coroutine of the function at index 1. */
static lua_State *push_coroutine(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *co = lua_newthread(L);
    interrupt_unhook(co);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    return co;
}

static int create(lua_State *L)
{
    push_coroutine(L);
    return 1;
}

static int wrap(lua_State *L)
{
    push_coroutine(L);
    lua_pushcclosure(L, wrapped, 1);
    return 1;
}

/* coroutine.close. Upvalue: Lua's own, which raises before it has run anything for a
 * coroutine of another status than these. */
static int close_noted(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);
    int n = lua_gettop(L);
    lua_State *before = NULL;
    bool runs = co && lua_status(co) != LUA_OK;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    if (runs) before = interrupt_enter(co);
    lua_call(L, n, LUA_MULTRET);
    if (runs) interrupt_return(co, before);
    if (runs && interrupt_is_error(L)) /* false, and the error of what was closed */
        return lua_error(L);
    return lua_gettop(L);
}

/* ---- xpcall --------------------------------------------------------------------- */

/* A tail call, so that the handler is at the same stack level as without the wrapper. */
static const char guard_code[] = "local passes = ...\n"
                                 "return function(handler)\n"
                                 "    return function(message)\n"
                                 "        if passes(message) then return message end\n"
                                 "        return handler(message)\n"
                                 "    end\n"
                                 "end\n";

static int passes(lua_State *L)
{
    lua_settop(L, 1);
    lua_pushboolean(L, interrupt_is_error(L));
    return 1;
}

static int finish_xpcall(lua_State *L, int status, lua_KContext extra)
{
    if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - (int)extra;
    lua_pushboolean(L, 0);
    lua_insert(L, -2);
    return 2;
}

/* xpcall(f, handler, ...). Upvalue: what makes the guarded handler of a handler. C functions are
 * not wrapped: debug.traceback returns soon. */
static int xpcall(lua_State *L)
{
    int n = lua_gettop(L);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    if (!lua_iscfunction(L, 2)) {
        lua_pushvalue(L, lua_upvalueindex(1));
        lua_pushvalue(L, 2);
        lua_call(L, 1, 1);
        lua_replace(L, 2);
    }
    lua_pushboolean(L, 1);
    lua_pushvalue(L, 1);
    lua_rotate(L, 3, 2);
    return finish_xpcall(L, lua_pcallk(L, n - 2, LUA_MULTRET, 2, 2, finish_xpcall), 2);
}

static int finish_own_pcall(lua_State *L, int status, lua_KContext extra)
{
    bool failed = status != LUA_OK && status != LUA_YIELD;
    if (failed && interrupt_is_error(L)) return lua_error(L);
    return finish_xpcall(L, status, extra);
}

int coroutines_own_pcall(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    int n = lua_gettop(L) - 2;
    return finish_own_pcall(L, lua_pcallk(L, n, LUA_MULTRET, 0, 0, finish_own_pcall), 0);
}

static void replace_xpcall(lua_State *L)
{
    if (luaL_loadbufferx(L, guard_code, sizeof guard_code - 1, "=streamlab", "t") != LUA_OK)
        lua_error(L);
    lua_pushcfunction(L, passes);
    lua_call(L, 1, 1);
    lua_pushcclosure(L, xpcall, 1);
    lua_setglobal(L, "xpcall");
}

void coroutines_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "create", create },
        { "resume", resume },
        { "wrap", wrap },
        { NULL, NULL },
    };
    replace_xpcall(L);
    if (lua_getglobal(L, "coroutine") == LUA_TTABLE) {
        luaL_setfuncs(L, functions, 0);
        lua_getfield(L, -1, "close");
        lua_pushcclosure(L, close_noted, 1);
        lua_setfield(L, -2, "close");
    }
    lua_pop(L, 1);
}
