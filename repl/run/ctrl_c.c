/* ctrl_c.c - Ctrl-C: stops the Lua code that runs. So does the end of a limit on
 * processor time, where there is one.
 *
 * As in lua.c, the signal handler only sets a hook, the one thing that Lua allows in a handler,
 * and the hook raises the error. Four things differ:
 *
 * A hook belongs to one coroutine. coroutines.c reports which one runs, and whoever returns to
 * another one sets the hook there.
 *
 * The hook stays set. A script that catches the error and goes on gets it again, so that `while
 * true do pcall(f) end` ends as well. Clean-up code gets a limited number of steps: see
 * may_go_on. The outermost run clears everything when it ends.
 *
 * The hook counts Lua instructions and ignores calls, so that the laboratory's closers, which are
 * C functions, run to their end while the stack is unwound.
 *
 * A call that waits or computes runs no Lua. The handler asks the laboratory to end it
 * (lsl_interrupt), and the call then runs the hook itself.
 */
#include "ctrl_c.h"

#include <errno.h>
#include <lauxlib.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "embedded.h"

/* bindings/ */
void lsl_interrupt(bool on);
void lsl_abandon_files(void);
void lsl_watch_host_funcs(lua_State *L, lua_State *(*enter)(lua_State *T),
                          bool (*leave)(lua_State *T, lua_State *before, bool failed));

static const char interrupted[] = "interrupted!";
static char used_up[64]; /* of interrupt_limit_time */

enum { EXIT_INTERRUPTED = 130 };

/* A second SIGINT within this time ends the process. */
static const double at_once_seconds = 2;

/* Limits for code that has caught the error, and for closers that run while the stack is
 * unwound. */
enum { CLEAN_UP_STEPS = 10000, OWN_STEPS = 200 };
static const double clean_up_seconds = 1;

/* A signal handler can reach nothing but globals. */
static lua_State *volatile running;      /* the state that runs; NULL: nothing armed */
static volatile sig_atomic_t pending;    /* SIGINT has come during this run */
static volatile sig_atomic_t is_new;     /* and the hook has not seen it */
static volatile sig_atomic_t time_is_up; /* it was SIGXCPU */
static volatile sig_atomic_t early;      /* SIGINT has come before the run that it is for */
static struct timespec latest;           /* when; of the handler alone */
static bool on_terminal;                 /* stderr is one */

static int depth;                   /* of the runs that are armed */
static struct sigaction before_run; /* what SIGINT did before them */
static int n_raised;                /* errors raised for SIGINT during this run */
static bool ended_run, came, has_come;

/* What the code has done since the latest SIGINT. */
static int own_steps, clean_up_steps;
static bool raised;
static struct timespec raised_at;

static double seconds_since(const struct timespec *then, struct timespec *now)
{
    clock_gettime(CLOCK_MONOTONIC, now);
    return (double)(now->tv_sec - then->tv_sec) + (double)(now->tv_nsec - then->tv_nsec) / 1e9;
}

/* ---- the error -------------------------------------------------------------- */

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
    lsl_interrupt(true); /* the wait that ended has cleared it */
    if (!raised) clock_gettime(CLOCK_MONOTONIC, &raised_at);
    raised = true;
    n_raised++;
    push_position(L);
    lua_pushstring(L, time_is_up ? used_up : interrupted);
    lua_concat(L, 2);
    return lua_error(L);
}

/* Whether the running function gets another instruction before the error is raised (again). The
 * laboratory's own Lua code gets a few: there must be no error between the call that makes a
 * guard and the variable that closes it. Code that has caught the error, or that closes variables
 * while the stack is unwound, gets some thousand, but at most a second: a thousand calls of C can
 * take hours. */
static bool may_go_on(lua_State *L, lua_Debug *ar)
{
    struct timespec now;
    if (own_steps < OWN_STEPS && lua_getinfo(L, "S", ar) && !strcmp(ar->source, "=streamlab")) {
        own_steps++;
        return true;
    }
    if (!raised || clean_up_steps >= CLEAN_UP_STEPS) return false;
    clean_up_steps++;
    return seconds_since(&raised_at, &now) < clean_up_seconds;
}

/* Also called by the laboratory, from a function that was stopped; `event` then is no count. */
static void on_hook(lua_State *L, lua_Debug *ar)
{
    if (!pending) {
        lua_sethook(L, NULL, 0, 0); /* a coroutine's that was made while it was set */
        return;
    }
    if (is_new) {
        is_new = 0;
        own_steps = clean_up_steps = 0;
        raised = false;
    }
    if (ar->event != LUA_HOOKCOUNT || !may_go_on(L, ar)) raise_interrupted(L);
}

static void set_hook(lua_State *L) { lua_sethook(L, on_hook, LUA_MASKCOUNT, 1); }

bool interrupt_is_error(lua_State *L)
{
    return n_raised > 0 && lua_type(L, -1) == LUA_TSTRING
           && strstr(lua_tostring(L, -1), time_is_up ? used_up : interrupted) != NULL;
}

bool interrupt_is_pending(void) { return pending; }

/* An event that is no count: the hook raises at once. */
void interrupt_raise(lua_State *L)
{
    lua_Debug ar = { .event = LUA_HOOKCALL, .currentline = -1 };
    on_hook(L, &ar);
}

/* ---- the signal ---------------------------------------------------------------- */

static void ask_to_end(void)
{
    pending = 1;
    is_new = 1;
    lsl_interrupt(true);
    lua_State *L = running;
    if (L) set_hook(L);
}

static void on_sigint(int number)
{
    (void)number;
    int error = errno;
    struct timespec now;
    if (seconds_since(&latest, &now) < at_once_seconds && pending) {
        if (on_terminal && write(STDERR_FILENO, "\n", 1) < 0) errno = error;
        lsl_abandon_files();
        _exit(EXIT_INTERRUPTED);
    }
    latest = now;
    ask_to_end();
    errno = error;
}

static void on_sigxcpu(int number)
{
    (void)number;
    int error = errno;
    time_is_up = 1;
    ask_to_end();
    errno = error;
}

/* Where SIGINT is ignored, as in what a shell without job control runs in the background,
 * it stays so. Not SA_RESTART: io.read ends. */
static void take_signal(void)
{
    struct sigaction action = { .sa_handler = on_sigint };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, NULL, &before_run);
    if (before_run.sa_handler != SIG_IGN) sigaction(SIGINT, &action, NULL);
}

static void forget_signal(void)
{
    pending = 0;
    is_new = 0;
    time_is_up = 0;
    lsl_interrupt(false);
}

void interrupt_limit_time(long seconds)
{
    struct sigaction action = { .sa_handler = on_sigxcpu };
    sigemptyset(&action.sa_mask);
    snprintf(used_up, sizeof used_up, "used up its %ld s of processor time", seconds);
    sigaction(SIGXCPU, &action, NULL);
}

bool interrupt_end_limit(lua_State *L)
{
    signal(SIGXCPU, SIG_IGN);
    bool was_up = time_is_up;
    if (was_up) {
        forget_signal();
        interrupt_unhook(L);
    }
    return was_up;
}

bool interrupt_forget(lua_State *L)
{
    bool was_pending = pending;
    if (was_pending) {
        has_come = true;
        forget_signal();
        interrupt_unhook(L);
    }
    return was_pending;
}

void interrupt_note_early(void) { early = 1; }

void interrupt_forget_early(void) { early = 0; }

/* call_stoppable(f, ...): as pcall; but Ctrl-C, which the program's pcall passes on, ends f alone.
 * Then it gives false, the error and true. Where Ctrl-C has come before, f does not begin. */
static int program_call_stoppable(lua_State *L)
{
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    if (pending) {
        lua_pushcfunction(L, raise_interrupted);
        lua_replace(L, 2);
    }
    if (lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0) == LUA_OK) return lua_gettop(L);
    const bool stopped = interrupt_is_error(L) && interrupt_forget(L);
    lua_pushboolean(L, 0);
    lua_insert(L, -2);
    lua_pushboolean(L, stopped);
    return 3;
}

void interrupt_add(lua_State *L)
{
    static const luaL_Reg functions[] = { { "call_stoppable", program_call_stoppable },
                                          { NULL, NULL } };
    embedded_add(L, functions);
}

/* ---- runs -------------------------------------------------------------------- */

lua_State *interrupt_arm(lua_State *L)
{
    if (depth++ > 0) return interrupt_enter(L);
    forget_signal();
    n_raised = 0;
    running = L;
    take_signal();
    if (early) ask_to_end();
    early = 0;
    return NULL;
}

void interrupt_disarm(lua_State *L, lua_State *before, int status)
{
    ended_run = status != LUA_OK && interrupt_is_error(L);
    came = pending;
    if (--depth > 0) {
        interrupt_return(L, before);
        return;
    }
    sigaction(SIGINT, &before_run, NULL);
    running = NULL;
    has_come = has_come || pending;
    forget_signal();
    interrupt_unhook(L);
}

/* SIGINT gets its default action, and not the prompt's, which ignores it: the prompt has
 * ended. */
void interrupt_abandon(void)
{
    if (depth > 0 && before_run.sa_handler != SIG_IGN) signal(SIGINT, SIG_DFL);
    running = NULL;
}

bool interrupt_ended_run(void) { return ended_run; }

bool interrupt_came(void) { return came; }

bool interrupt_has_come(void) { return has_come; }

/* ---- which state runs --------------------------------------------------------- */

void interrupt_unhook(lua_State *co)
{
    if (lua_gethook(co) == on_hook) lua_sethook(co, NULL, 0, 0);
}

/* `running` changes first: a signal that comes before sets the hook that is then cleared,
 * but it is pending. */
static void run_in(lua_State *L, lua_State *other)
{
    running = L;
    if (other != L) interrupt_unhook(other);
    interrupt_unhook(L);
    if (pending) set_hook(L);
}

lua_State *interrupt_enter(lua_State *co)
{
    lua_State *before = running;
    if (before) run_in(co, co);
    return before;
}

void interrupt_return(lua_State *co, lua_State *before)
{
    if (before) run_in(before, co);
}

/* A host function has run in T. True if it failed because of SIGINT: this must not be reported
 * later, since the error is raised (again) where the run goes on. */
static bool leave_host_func(lua_State *T, lua_State *before, bool failed)
{
    interrupt_return(T, before);
    if (!before || !pending || !failed) return false;
    is_new = 1;
    return true;
}

void interrupt_open(lua_State *L)
{
    on_terminal = isatty(STDERR_FILENO);
    lsl_watch_host_funcs(L, interrupt_enter, leave_host_func);
}
