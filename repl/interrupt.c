/* interrupt.c - Ctrl-C: ends the running Lua code with an error.
 *
 * As in lua.c, the signal handler only sets a hook, the one thing that Lua
 * allows there, and the hook raises the error. A hook belongs to one coroutine,
 * so the one that runs must be known: coroutine.resume and coroutine.wrap are
 * wrapped to note it. When the interrupted coroutine has ended, its resumer
 * fails too, up to the main program.
 */
#include "interrupt.h"

#include <lauxlib.h>
#include <signal.h>
#include <stddef.h>

/* A signal handler can reach nothing but globals. */
static lua_State *volatile running;     /* the coroutine that runs; NULL: nothing armed */
static volatile sig_atomic_t seen;

static void raise_interrupted(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    lua_sethook(L, NULL, 0, 0);
    luaL_error(L, "interrupted!");
}

static void on_sigint(int number)
{
    signal(number, SIG_DFL);            /* the next one ends the process */
    seen = 1;
    lua_State *L = running;
    if (L)
        lua_sethook(L, raise_interrupted, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT,
                    1);
}

void interrupt_arm(lua_State *L)
{
    seen = 0;
    running = L;
    signal(SIGINT, on_sigint);
}

void interrupt_disarm(void)
{
    signal(SIGINT, SIG_DFL);
    running = NULL;
}

bool interrupt_seen(void)
{
    return seen != 0;
}

/* ---- which coroutine runs ------------------------------------------------ */

/* Calls the function at index 1 with the arguments above it, while `co` counts
 * as the running coroutine. Like lua_pcall, leaves results or an error value. */
static int call_within(lua_State *L, lua_State *co)
{
    lua_State *outer = running;
    if (outer)
        running = co;
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    if (outer)
        running = outer;
    if (status == LUA_OK && outer && seen)
        return luaL_error(L, "interrupted!");
    return status;
}

/* Upvalue 1 is the original coroutine.resume. */
static int resume(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    if (call_within(L, co ? co : L) != LUA_OK)
        return lua_error(L);
    return lua_gettop(L);
}

/* Upvalue 1 is a function that the original coroutine.wrap made; its own first
 * upvalue is the coroutine. */
static int wrapped(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_State *co = NULL;
    if (lua_getupvalue(L, 1, 1)) {
        co = lua_tothread(L, -1);
        lua_pop(L, 1);
    }
    int status = call_within(L, co ? co : L);
    if (status == LUA_OK)
        return lua_gettop(L);
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);               /* as the original does, for its caller */
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

/* Upvalue 1 is the original coroutine.wrap. */
static int wrap(lua_State *L)
{
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    lua_pushcclosure(L, wrapped, 1);
    return 1;
}

static void replace(lua_State *L, const char *name, lua_CFunction function)
{
    if (lua_getfield(L, -1, name) != LUA_TFUNCTION) {
        lua_pop(L, 1);
        return;
    }
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
}

void interrupt_open(lua_State *L)
{
    if (lua_getglobal(L, "coroutine") == LUA_TTABLE) {
        replace(L, "resume", resume);
        replace(L, "wrap", wrap);
    }
    lua_pop(L, 1);
}
