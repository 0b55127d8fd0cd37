/* l_thread_end.c - what ends the Lua code of a thread (l_thread.c), and its state.
 *
 * A hook looks every HOOK_STEPS instructions whether the program is to end what runs: after
 * Ctrl-C, or when its time is up. Coroutines have the hook of the one that makes them. As in the
 * first thread, a script that catches the error gets it again, at every instruction, after a
 * limited number of steps for cleaning up; and a message handler, within which Lua calls no hooks,
 * does not see it. */
#include "l_box.h"
#include "l_thread.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { HOOK_STEPS = 1000, CLEAN_UP_STEPS = 10000, CLEAN_UP_SECONDS = 1, PATIENCE_SECONDS = 2 };

/* Of the running thread. */
static _Thread_local struct {
    bool raised;
    int clean_up_steps;
    time_t raised_at;
    bool is_told; /* that it is waited for */
    const char *started_at;
} own;

/* Since when the script's first thread, at its end, has waited for the others; 0: it does not. */
static time_t waited_since;

static time_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec;
}

/* Pushes the innermost line of the script's: "script.lua:12". Within a hook the running function is
 * level 0. */
static const char *push_line(lua_State *L)
{
    lua_Debug ar;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline > 0 && strcmp(ar.source, "=streamlab") != 0)
            return lua_pushfstring(L, "%s:%d", ar.short_src, ar.currentline);
    }
    return lua_pushliteral(L, "?");
}

/* ---- the hook -------------------------------------------------------------------------- */

/* A script that has ended, and does not end, says why. */
static void tell(lua_State *L)
{
    if (waited_since == 0 || own.is_told || now() - waited_since < PATIENCE_SECONDS) return;
    own.is_told = true;
    fflush(stdout);
    fprintf(stderr,
            "streamlab: the script has ended, but the thread that was started at %s still runs, at "
            "%s; Ctrl-C ends it\n",
            own.started_at, push_line(L));
    lua_pop(L, 1);
}

static bool may_go_on(void)
{
    return own.raised && own.clean_up_steps++ < CLEAN_UP_STEPS
           && now() - own.raised_at <= CLEAN_UP_SECONDS;
}

static void on_hook(lua_State *L, lua_Debug *ar);

/* The laboratory runs the hook as well, from a call that was stopped; that is no count. */
static void set_hook(lua_State *L, int steps) { lua_sethook(L, on_hook, LUA_MASKCOUNT, steps); }

static void go_on(lua_State *L)
{
    if (own.raised) set_hook(L, HOOK_STEPS); /* that Ctrl-C is over */
    own.raised = false;
    own.clean_up_steps = 0;
    tell(L);
    sl_thread_offer(lsl_own_state()->devices->device);
}

static void on_hook(lua_State *L, lua_Debug *ar)
{
    const bool counts = ar->event == LUA_HOOKCOUNT;
    if (counts && !sl_waits_end()) {
        go_on(L);
        return;
    }
    set_hook(L, 1);
    if (counts && may_go_on()) return;
    sl_interrupt(true); /* the wait that ended has cleared it, and the other threads are to end */
    if (!own.raised) own.raised_at = now();
    own.raised = true;
    push_line(L);
    lua_pushliteral(L, ": interrupted!");
    lua_concat(L, 2);
    lua_error(L);
}

void lsl_hook_thread(lua_State *T, const char *started_at)
{
    memset(&own, 0, sizeof own);
    own.started_at = started_at;
    set_hook(T, HOOK_STEPS);
}

void lsl_note_waiting(bool waits) { waited_since = waits ? now() : 0; }

/* ---- what a thread's libraries lack ------------------------------------------------------- */

/* The handler of xpcall; upvalue: the script's. */
static int handle(lua_State *L)
{
    lua_settop(L, 1);
    if (sl_waits_end()) return 1;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

static int finish_xpcall(lua_State *L, int status, lua_KContext below)
{
    (void)status;
    return lua_gettop(L) - (int)below;
}

/* xpcall(f, handler, ...). Upvalue: Lua's own. */
static int guarded_xpcall(lua_State *L)
{
    const int n = lua_gettop(L);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    if (!lua_iscfunction(L, 2)) {
        lua_pushvalue(L, 2);
        lua_pushcclosure(L, handle, 1);
        lua_replace(L, 2);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_callk(L, n, LUA_MULTRET, 0, finish_xpcall);
    return finish_xpcall(L, LUA_OK, 0);
}

static int refuse_hook(lua_State *L)
{
    return luaL_error(L, "debug.sethook: in a thread the laboratory has the hook, for Ctrl-C");
}

static int refuse_exit(lua_State *L)
{
    return luaL_error(L, "os.exit: only the script's first thread can end the program");
}

/* Calls a function that starts a program, which would inherit that all signals are blocked in this
 * thread: no Ctrl-C would end it. Upvalues: the function, whether it needs an argument. */
static int with_signals(lua_State *L)
{
    const int n = lua_gettop(L);
    sigset_t none, before;
    if (!lua_isnoneornil(L, 1) || lua_toboolean(L, lua_upvalueindex(2)))
        luaL_checkstring(L, 1); /* with its name */
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, &before);
    const int status = lua_pcall(L, n, LUA_MULTRET, 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

static void wrap_starter(lua_State *T, const char *table, const char *name, bool needs_argument)
{
    lua_getglobal(T, table);
    lua_getfield(T, -1, name);
    lua_pushboolean(T, needs_argument);
    lua_pushcclosure(T, with_signals, 2);
    lua_setfield(T, -2, name);
    lua_pop(T, 1);
}

static void set_field(lua_State *T, const char *table, const char *name, lua_CFunction f)
{
    lua_getglobal(T, table);
    lua_pushcfunction(T, f);
    lua_setfield(T, -2, name);
    lua_pop(T, 1);
}

static void fence_libraries(lua_State *T)
{
    set_field(T, "os", "exit", refuse_exit);
    set_field(T, "debug", "sethook", refuse_hook);
    wrap_starter(T, "os", "execute", false);
    wrap_starter(T, "io", "popen", true);
    lua_getglobal(T, "xpcall");
    lua_pushcclosure(T, guarded_xpcall, 1);
    lua_setglobal(T, "xpcall");
}

static void copy_field(lua_State *T, lua_State *L, const char *table, const char *field)
{
    lua_getglobal(T, table);
    if (lua_getglobal(L, table) == LUA_TTABLE) {
        lua_pushstring(L, field);
        if (lua_rawget(L, -2) == LUA_TSTRING) {
            lua_pushstring(T, lua_tostring(L, -1));
            lua_setfield(T, -2, field);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    lua_pop(T, 1);
}

void lsl_open_libraries(lua_State *T, lua_State *L)
{
    luaL_openlibs(T);
    copy_field(T, L, "package", "path");
    copy_field(T, L, "package", "cpath");
    lsl_divert_libraries(T);
    fence_libraries(T);
}

/* ---- its state ---------------------------------------------------------------------------- */

/* States that host functions in flight name. */
static lsl_state *kept;

/* A graph holds the host functions that it has captured, and they name the state that holds the
 * graph. No other state has it: graphs are not handed over. */
static void release_graphs(lsl_state *state)
{
    for (lsl_box *box = state->boxes; box; box = box->next) {
        if (box->tag != &lsl_tags[LSL_GRAPH]) continue;
        sl_graph *graph = box->p;
        box->p = NULL;
        sl_graph_release(graph);
    }
}

/* A host function that Ctrl-C has kept from running names the state as long as it is in flight: no
 * Lua code runs in it any more, and it is closed later. */
void lsl_close_thread(lua_State *T, lsl_state *state)
{
    if (state && state->host_funcs > 0) release_graphs(state);
    if (!state || state->host_funcs == 0) {
        lua_close(T);
        return;
    }
    state->closing = true;
    state->next_kept = kept;
    kept = state;
}

void lsl_close_kept(void)
{
    for (lsl_state **at = &kept; *at;) {
        lsl_state *state = *at;
        if (state->host_funcs > 0) {
            at = &state->next_kept;
            continue;
        }
        *at = state->next_kept;
        lua_close(state->main);
    }
}
