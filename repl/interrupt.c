/* interrupt.c - Ctrl-C: ends the running Lua code with an error.
 *
 * As in lua.c, the signal handler only sets a hook, the one thing that Lua
 * allows there, and the hook raises the error. A hook belongs to one coroutine,
 * so the one that runs must be known: coroutine.resume and coroutine.wrap are
 * replaced by Lua's own, written anew, which note it. When the interrupted
 * coroutine has ended by that error, its resumer fails too, up to the main program;
 * a script can catch the error with pcall as any other.
 *
 * A call that waits for a GPU runs no Lua. The handler asks the laboratory to end the
 * wait (lsl_interrupt), and the call then runs the hook itself.
 */
#include "interrupt.h"

#include <lauxlib.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

void lsl_interrupt(bool on);            /* bindings/ */
void lsl_leave(void);

static const char message[] = "interrupted!";

/* A signal handler can reach nothing but globals. */
static lua_State *volatile running;     /* the coroutine that runs; NULL: nothing armed */
static volatile sig_atomic_t pending;   /* SIGINT has come and its error is not raised yet */
static int n_raised;                    /* errors raised for SIGINT since the latest arm */
static bool ended_run;

/* Pushes "script.lua:12: " of the line of the user's that runs: the innermost one that is
 * not the laboratory's own Lua code, whose chunk is "=streamlab". Inside a hook the running
 * function is level 0. */
static void push_position(lua_State *L)
{
    lua_Debug ar;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline > 0 && strcmp(ar.source, "=streamlab") != 0) {
            lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.currentline);
            return;
        }
    }
    lua_pushliteral(L, "");
}

static int raise_interrupted(lua_State *L)
{
    pending = 0;
    lsl_interrupt(false);
    n_raised++;
    push_position(L);
    lua_pushstring(L, message);
    lua_concat(L, 2);
    return lua_error(L);
}

static void on_hook(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    lua_sethook(L, NULL, 0, 0);
    if (pending)                        /* else it was inherited by a new coroutine */
        raise_interrupted(L);
}

static void on_sigint(int number)
{
    signal(number, SIG_DFL);            /* the next one ends the process */
    pending = 1;
    lsl_interrupt(true);
    lua_State *L = running;
    if (L)
        lua_sethook(L, on_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

/* Whether the error on the stack's top is, or tells of, the one that was raised. */
static bool is_interruption(lua_State *L)
{
    return n_raised > 0 && lua_type(L, -1) == LUA_TSTRING
           && strstr(lua_tostring(L, -1), message) != NULL;
}

void interrupt_arm(lua_State *L)
{
    pending = 0;
    lsl_interrupt(false);
    n_raised = 0;
    running = L;
    signal(SIGINT, on_sigint);
}

void interrupt_disarm(lua_State *L, int status)
{
    signal(SIGINT, SIG_DFL);
    lsl_interrupt(false);
    running = NULL;
    ended_run = status != LUA_OK && is_interruption(L);
}

bool interrupt_ended_run(void)
{
    return ended_run;
}

void interrupt_leave(void)
{
    lsl_leave();
}

/* ---- which coroutine runs ------------------------------------------------ */

/* Resumes `co` with the top n_args values, as the running coroutine. Returns the
 * number of results, or -1 for an error value; they are on the stack's top. */
static int resume_noted(lua_State *L, lua_State *co, int n_args)
{
    if (!lua_checkstack(co, n_args)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_State *outer = running;
    lua_xmove(L, co, n_args);
    int n = 0;
    if (outer)
        running = co;
    int status = lua_resume(co, L, n_args, &n);
    if (outer)
        running = outer;
    if (outer && pending) {             /* it came too late for the coroutine's hook */
        lua_sethook(co, NULL, 0, 0);
        lua_sethook(L, NULL, 0, 0);
        return raise_interrupted(L);
    }
    bool fine = status == LUA_OK || status == LUA_YIELD;
    if (fine && !lua_checkstack(L, n + 1)) {
        lua_pop(co, n);
        lua_pushliteral(L, "too many results to resume");
        return -1;
    }
    lua_xmove(co, L, fine ? n : 1);
    return fine ? n : -1;
}

/* coroutine.resume, but an interrupted coroutine's error is raised. */
static int resume(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);
    luaL_argexpected(L, co, 1, "thread");
    int before = n_raised;
    int n = resume_noted(L, co, lua_gettop(L) - 1);
    if (n < 0 && n_raised != before && is_interruption(L))
        return lua_error(L);
    lua_pushboolean(L, n >= 0);
    lua_insert(L, n < 0 ? -2 : -(n + 1));
    return n < 0 ? 2 : n + 1;
}

/* What coroutine.wrap returns. Upvalue: the coroutine. */
static int wrapped(lua_State *L)
{
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    int n = resume_noted(L, co, lua_gettop(L));
    if (n >= 0)
        return n;
    int status = lua_status(co);
    if (status != LUA_OK && status != LUA_YIELD) {
        status = lua_resetthread(co);   /* closes its variables; leaves the error */
        lua_xmove(co, L, 1);
    }
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);               /* for the caller */
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int wrap(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, wrapped, 1);
    return 1;
}

void interrupt_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"resume", resume}, {"wrap", wrap}, {NULL, NULL}};
    if (lua_getglobal(L, "coroutine") == LUA_TTABLE)
        luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
}
