/* l_bounded.c - runs a chunk that computes a value (a profile), within limits.
 *
 * A chunk without globals can still run without end, take all memory, and call the methods of
 * strings. So its instructions are counted, Lua's allocator stops at a limit, and strings have
 * only methods whose time is bounded by the size of their arguments. An instruction on a string
 * of megabytes takes as long as a million others: so processor time is limited as well. */
#include "l_parts.h"

#include <time.h>

enum { INSTRUCTIONS_A_LOOK = 1000, DEFAULT_SECONDS = 1 };

typedef struct bounds {
    lua_Alloc allocate;
    void *ud;
    size_t left_bytes;
    int left_looks; /* of the hook, each after so many instructions */
    clock_t ends;   /* processor time */
} bounds;

static void *allocate_bounded(void *bounds_, void *block, size_t old_bytes, size_t new_bytes)
{
    bounds *b = bounds_;
    size_t had = block ? old_bytes : 0; /* otherwise it is the kind of object */
    if (new_bytes > had && new_bytes - had > b->left_bytes) return NULL;
    void *got = b->allocate(b->ud, block, old_bytes, new_bytes);
    if (got || new_bytes == 0) b->left_bytes -= new_bytes - had;
    return got;
}

/* A hook gets only the state; the allocator has limits of its own. In a hook the running
 * function is level 0. Once the limit is reached, each instruction raises, so that no pcall goes
 * on. A coroutine keeps this hook when the call has ended. */
static void look(lua_State *L, lua_Debug *ar)
{
    void *bounds_;
    (void)ar;
    bool has_ended = lua_getallocf(L, &bounds_) != allocate_bounded;
    bounds *b = bounds_;
    if (has_ended) lua_sethook(L, NULL, 0, 0);
    if (has_ended || (b->left_looks > 0 && b->left_looks-- && clock() < b->ends)) return;
    b->left_looks = 0;
    lua_sethook(L, look, LUA_MASKCOUNT, 1);
    luaL_where(L, 0);
    lua_pushliteral(L, "it does not come to an end");
    lua_concat(L, 2);
    lua_error(L);
}

/* Pushes the methods that strings have while the chunk runs: without those that search and rep,
 * whose time has no bound. */
static void push_methods(lua_State *L, int methods)
{
    static const char *const names[] = {
        "byte", "char", "format", "len", "lower", "reverse", "sub", "upper",
    };
    lua_newtable(L);
    for (size_t i = 0; i < sizeof names / sizeof *names && lua_istable(L, methods); i++) {
        lua_pushstring(L, names[i]);
        lua_pushvalue(L, -1);
        lua_rawget(L, methods);
        lua_rawset(L, -3);
    }
}

/* Calls the function on top of the stack for one result. Restores everything in any case, except
 * a hook that something else has set meanwhile (Ctrl-C). */
static int call_bounded(lua_State *L, bounds b)
{
    lua_Hook hook = lua_gethook(L);
    int mask = lua_gethookmask(L), count = lua_gethookcount(L);
    b.allocate = lua_getallocf(L, &b.ud);
    lua_sethook(L, look, LUA_MASKCOUNT, INSTRUCTIONS_A_LOOK);
    lua_setallocf(L, allocate_bounded, &b);
    int status = lua_pcall(L, 0, 1, 0);
    lua_setallocf(L, b.allocate, b.ud);
    if (lua_gethook(L) == look) lua_sethook(L, hook, mask, count);
    return status;
}

/* Of the arguments of core.compute. */
static bounds read_bounds(lua_State *L)
{
    lua_Integer seconds = luaL_optinteger(L, 4, DEFAULT_SECONDS);
    return (bounds){
        .left_looks = (int)(luaL_checkinteger(L, 2) / INSTRUCTIONS_A_LOOK),
        .left_bytes = (size_t)luaL_checkinteger(L, 3),
        .ends = clock() + (clock_t)seconds * CLOCKS_PER_SEC,
    };
}

/* Calls the chunk, which is argument 1, while strings have their own methods. */
static int compute_with_methods(lua_State *L, bounds b)
{
    lua_settop(L, 1);
    lua_pushboolean(L, call_bounded(L, b) == LUA_OK);
    lua_insert(L, 1);
    return 2;
}

/* core.compute(chunk, instructions, bytes[, seconds]): true and the chunk's value, or false and the
 * error, a text or any value. Without seconds it is to compute a table: it has one second, and
 * strings have bounded methods alone. */
static int internal_compute(lua_State *L)
{
    bounds b = read_bounds(L);
    if (!lua_isnoneornil(L, 4)) return compute_with_methods(L, b);
    lua_settop(L, 1);
    lua_pushliteral(L, "");
    if (!lua_getmetatable(L, 2)) lua_newtable(L); /* 3 */
    lua_pushliteral(L, "__index");                /* 4 */
    lua_pushvalue(L, 4);
    lua_rawget(L, 3); /* 5 */
    lua_pushvalue(L, 4);
    push_methods(L, 5);
    lua_rawset(L, 3);
    lua_pushvalue(L, 1);
    int status = call_bounded(L, b);
    lua_pushvalue(L, 4);
    lua_pushvalue(L, 5);
    lua_rawset(L, 3);
    lua_pushboolean(L, status == LUA_OK);
    lua_insert(L, -2);
    return 2;
}

const luaL_Reg lsl_bounded_internals[] = { { "compute", internal_compute }, { NULL, NULL } };
