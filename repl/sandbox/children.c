/* children.c - runs other programs side by side and collects their output, for grading.
 *
 * All of them belong to one userdata in the registry, so that neither an error nor the end of the
 * state leaves a process or a descriptor behind. child_start.c starts one, child.c reads its
 * output and detects its end.
 */
#include "children.h"

#include <errno.h>
#include <lauxlib.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "../run/embedded.h"
#include "../run/ctrl_c.h"
#include "../run/growing.h"
#include "child.h"
#include "child_start.h"
#include "delays.h"
#include "fork_server.h"

extern char **environ;

static const char key[] = "streamlab.children";

enum {
    MOST_ERROR_BYTES = 64 << 10,
    MOST_REPORT_BYTES = 4 << 20,
    /* How long poll may last. A child can end while its pipes stay open, because processes that
     * it has started hold them; so its end is checked for. Once the pipes are closed the end is
     * near. */
    TICK_MS = 50,
    CLOSED_TICK_MS = 2
};

typedef struct children {
    child *list;           /* in the order of their start */
    struct pollfd *polled; /* N_STREAMS for each of the list */
    size_t n, capacity, capacity_polled;
    lua_Integer latest_id;
} children;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- all of them ----------------------------------------------------------------- */

/* All are killed before the first is waited for. */
static void end_all(children *all)
{
    for (size_t i = 0; i < all->n; i++)
        child_kill(&all->list[i]);
    for (size_t i = 0; i < all->n; i++)
        child_end(&all->list[i]);
    all->n = 0;
}

static children *get_all(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, key);
    children *all = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return all;
}

static int collect(lua_State *L)
{
    children *all = get_all(L);
    if (lua_touserdata(L, 1) != all) return 0; /* a script has called this */
    end_all(all);
    free(all->list);
    free(all->polled);
    *all = (children){ 0 };
    return 0;
}

static bool make_room(children *all)
{
    return GROW(all->list, all->capacity, all->n + 1)
           && GROW(all->polled, all->capacity_polled, all->capacity * N_STREAMS);
}

/* How long poll may last at most, in ms: until the first deadline or the next tick. */
static int poll_ms(children *all)
{
    int64_t wait_ns = (int64_t)TICK_MS * 1000000;
    for (size_t i = 0; i < all->n; i++) {
        child *c = &all->list[i];
        bool open = false;
        for (int k = 0; k < N_STREAMS; k++) {
            all->polled[i * N_STREAMS + k] = (struct pollfd){ c->streams[k].fd, POLLIN, 0 };
            open = open || c->streams[k].fd >= 0;
        }
        int64_t end_ns = open ? c->left_ns : (int64_t)CLOSED_TICK_MS * 1000000;
        if (end_ns < wait_ns && !c->timed_out) wait_ns = end_ns;
    }
    return wait_ns > 0 ? (int)((wait_ns + 999999) / 1000000) : 0;
}

/* Gives back the time in which it waited for a processor: on a busy machine it has as long as on
 * one that is idle, up to so many times its time. Processes that wait for each other, in sum longer
 * than time passes, would never be at an end. */
enum { MOST_TIMES = 32 };

static void excuse(child *c)
{
    int64_t delay_ns = delays_of_session(c->pid), most_ns = c->spent_ns - c->spent_ns / MOST_TIMES;
    if (delay_ns > most_ns) delay_ns = most_ns;
    if (delay_ns <= c->excused_ns) return;
    c->left_ns += delay_ns - c->excused_ns;
    c->excused_ns = delay_ns;
}

/* Subtracts the time of a poll from what each child has left, and kills those whose time is over.
 * Only this time counts, and at most what poll was asked to take: while this process does
 * something else, or waits for a processor itself, nobody reads the pipes, and a child that has
 * filled one cannot go on. */
static void charge(children *all, int64_t elapsed_ns, int ms)
{
    int64_t most_ns = (int64_t)ms * 1000000;
    int64_t charged_ns = elapsed_ns < most_ns ? elapsed_ns : most_ns;
    for (size_t i = 0; i < all->n; i++) {
        child *c = &all->list[i];
        c->left_ns -= charged_ns;
        c->spent_ns += charged_ns;
        if (!c->timed_out && c->left_ns <= 0) excuse(c);
        if (!c->timed_out && c->left_ns <= 0) {
            c->timed_out = true;
            child_kill(c);
        }
    }
}

/* Waits until something may have happened, and reads what has come. */
static void wait_and_read(children *all)
{
    int ms = poll_ms(all);
    int64_t before = now_ns();
    int n = poll(all->polled, (nfds_t)(all->n * N_STREAMS), ms);
    charge(all, now_ns() - before, ms);
    for (size_t i = 0; n > 0 && i < all->n * N_STREAMS; i++) {
        child *c = &all->list[i / N_STREAMS];
        if (all->polled[i].revents != 0) child_read(c, &c->streams[i % N_STREAMS]);
    }
}

/* ---- spawn ----------------------------------------------------------------------- */

/* The child's pipes are its own from here on. */
static void add(children *all, const child_start *start, double wall_seconds, size_t output_bytes)
{
    child *c = &all->list[all->n++];
    *c = (child){ .id = ++all->latest_id, .pid = start->pid };
    for (int i = 0; i < N_STREAMS; i++)
        c->streams[i].fd = start->pipes[i];
    c->streams[OUTPUT].most = output_bytes;
    c->streams[ERRORS].most = MOST_ERROR_BYTES;
    c->streams[REPORT].most = MOST_REPORT_BYTES;
    c->left_ns = (int64_t)(wall_seconds * 1e9);
}

/* Pushes the field of the table at index 1, which must be of that type. */
static void push_field(lua_State *L, const char *name, int type)
{
    if (lua_getfield(L, 1, name) != type)
        luaL_error(L, "spawn: %s must be a %s, not a %s", name, lua_typename(L, type),
                   luaL_typename(L, -1));
}

/* Each child takes three descriptors, and the soft limit is low for the sake of select. */
static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* The limit on descriptors is the one that users meet first. */
static int fail_to_start(lua_State *L, const child_start *start)
{
    struct rlimit limit;
    bool none_left = start->error == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0;
    if (none_left)
        lua_pushfstring(L, " (this process may have %I; ulimit -n raises that)",
                        (lua_Integer)limit.rlim_cur);
    else
        lua_pushliteral(L, "");
    return embedded_fail(L, "spawn: cannot %s %s: %s%s", start->failed, start->argv[0],
                         strerror(start->error), lua_tostring(L, -1));
}

static int spawn(lua_State *L)
{
    enum { MOST_SECONDS = 1000000 };
    children *all = get_all(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    push_field(L, "wall_seconds", LUA_TNUMBER);
    push_field(L, "output_bytes", LUA_TNUMBER);
    double wall_seconds = lua_tonumber(L, 2), output_bytes = lua_tonumber(L, 3);
    luaL_argcheck(L, wall_seconds > 0 && wall_seconds <= MOST_SECONDS, 1,
                  "wall_seconds must be positive, and a million at most");
    luaL_argcheck(L, output_bytes >= 0 && output_bytes <= INT_MAX, 1,
                  "output_bytes must be from 0 to 2 GiB");
    child_start start = { 0 };
    push_field(L, "command", LUA_TTABLE);
    start.argv = child_push_arguments(L, 4);
    const bool inherits = lua_getfield(L, 1, "environment") == LUA_TBOOLEAN && lua_toboolean(L, -1);
    start.environment = inherits ? environ : child_push_environment(L, lua_gettop(L));
    if (!make_room(all)) return embedded_fail(L, "spawn: not enough memory");
    allow_descriptors();
    lua_getfield(L, 1, "server");
    if (!fork_server_run(L, -1, &start) && !child_run(&start)) return fail_to_start(L, &start);
    add(all, &start, wall_seconds, (size_t)output_bytes);
    lua_pushinteger(L, all->latest_id);
    return 1;
}

/* ---- wait ------------------------------------------------------------------------ */

static void push_flag(lua_State *L, const char *name, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, name);
}

static void push_result(lua_State *L, const child *c)
{
    static const char *const names[] = { "output", "errors", "report" };
    lua_createtable(L, 0, 11);
    for (int i = 0; i < N_STREAMS; i++) {
        lua_pushlstring(L, c->streams[i].n ? c->streams[i].data : "", c->streams[i].n);
        lua_setfield(L, -2, names[i]);
    }
    lua_pushinteger(L, c->id);
    lua_setfield(L, -2, "id");
    if (c->status != -1) {
        bool killed = WIFSIGNALED(c->status);
        lua_pushinteger(L, killed ? WTERMSIG(c->status) : WEXITSTATUS(c->status));
        lua_setfield(L, -2, killed ? "signal" : "status");
    }
    lua_pushnumber(L, c->processor_s);
    lua_setfield(L, -2, "processor_s");
    push_flag(L, "timed_out", c->timed_out);
    push_flag(L, "truncated", c->streams[OUTPUT].too_long);
    push_flag(L, "report_too_long", c->streams[REPORT].too_long);
    push_flag(L, "out_of_memory", c->out_of_memory);
}

/* It stays in the list until Lua has all of its values. */
static int hand_over(lua_State *L, children *all, size_t i)
{
    child *c = &all->list[i];
    push_result(L, c);
    child_end(c);
    memmove(c, c + 1, (--all->n - i) * sizeof *c);
    return 1;
}

static int wait_for_next(lua_State *L)
{
    children *all = get_all(L);
    for (;;) {
        for (size_t i = 0; i < all->n; i++) {
            if (child_has_ended(&all->list[i])) return hand_over(L, all, i);
        }
        if (all->n == 0) return 0;
        if (interrupt_is_pending()) {
            end_all(all);
            interrupt_raise(L);
        }
        wait_and_read(all);
    }
}

static int end_children(lua_State *L)
{
    end_all(get_all(L));
    return 0;
}

/* ---- this program ---------------------------------------------------------------- */

static int executable(lua_State *L)
{
    char path[PATH_MAX];
    if (!child_own_path(path, sizeof path))
        return embedded_fail(L, "executable: this system does not say where the program lies");
    lua_pushstring(L, path);
    return 1;
}

void children_add(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "spawn", spawn },
        { "wait", wait_for_next },
        { "end_children", end_children },
        { "executable", executable },
        { NULL, NULL },
    };
    children *all = lua_newuserdatauv(L, sizeof *all, 0);
    *all = (children){ 0 };
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, collect);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_setfield(L, LUA_REGISTRYINDEX, key);
    embedded_add(L, functions);
}
