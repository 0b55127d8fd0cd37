/* l_compute.c - Lua functions that the core calls in the middle of its work: host functions, and
 * those that compute what a custom kernel does. */
#include "l_error.h"
#include "l_parts.h"

#include <stdlib.h>
#include <string.h>

/* Message handler: any error as text. A value that has none is named by its type,
 * as lua5.4 does; its address would differ from run to run. */
static int error_text(lua_State *L)
{
    bool has_text = lua_type(L, 1) == LUA_TSTRING || lua_type(L, 1) == LUA_TNUMBER;
    if (has_text || luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL)
        luaL_tolstring(L, 1, NULL);
    else
        lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
    return 1;
}

const char *lsl_call_inside(lsl_state *state, lua_State *T, int n, int n_results)
{
    lua_State *before = NULL;
    const int handler = lua_gettop(T) - n;
    lua_pushcfunction(T, error_text);
    lua_insert(T, handler);
    state->in_host_func++;
    if (state->enter_host_func) before = state->enter_host_func(T);
    bool fine = lua_pcall(T, n, n_results, handler) == LUA_OK;
    bool is_stopped = state->leave_host_func && state->leave_host_func(T, before, !fine);
    state->in_host_func--;
    if (fine || is_stopped) return NULL;
    const char *text = lua_tostring(T, -1);
    if (text && strstr(text, "attempt to yield"))
        return "it yields, and nobody could resume it: what it does has to be done when it returns";
    return text ? text : "?";
}

/* ---- what a kernel computes ---------------------------------------------------------- */

typedef struct computer {
    lsl_state *state;
    lua_State *thread; /* its stack holds the function */
    int ref;           /* of the thread, in the registry */
} computer;

static void push_size(lua_State *T, const uint32_t size[3])
{
    lua_createtable(T, 3, 0);
    for (int i = 0; i < 3; i++) {
        lua_pushinteger(T, size[i]);
        lua_rawseti(T, -2, i + 1);
    }
}

static void push_values(lua_State *T, const sl_compute_arg *arg)
{
    if (!arg->values) {
        lua_pushnumber(T, arg->number);
        return;
    }
    lua_createtable(T, (int)arg->n, 0);
    for (size_t i = 0; i < arg->n; i++) {
        lua_pushnumber(T, arg->values[i]);
        lua_rawseti(T, -2, (lua_Integer)i + 1);
    }
}

/* The numbers of the table on top. */
static void take_values(lua_State *T, const sl_compute_arg *arg, int number)
{
    for (size_t i = 0; i < arg->n; i++) {
        if (lua_rawgeti(T, -1, (lua_Integer)i + 1) != LUA_TNUMBER)
            luaL_error(T, "element %I of argument %d is no number, but %s", (LUAI_UACINT)(i + 1),
                       number, luaL_typename(T, -1));
        arg->values[i] = lua_tonumber(T, -1);
        lua_pop(T, 1);
    }
}

typedef struct computation {
    const uint32_t *grid, *block;
    const sl_compute_arg *args;
    int n;
} computation;

/* Stack: the function, the computation. */
static int compute(lua_State *T)
{
    const computation *c = lua_touserdata(T, 2);
    const int first = 3;
    luaL_checkstack(T, 3 * c->n + 8, NULL);
    for (int i = 0; i < c->n; i++)
        push_values(T, &c->args[i]);
    lua_pushvalue(T, 1);
    push_size(T, c->grid);
    push_size(T, c->block);
    for (int i = 0; i < c->n; i++)
        lua_pushvalue(T, first + i);
    lua_call(T, 2 + c->n, 0);
    for (int i = 0; i < c->n; i++) {
        if (!c->args[i].is_written) continue;
        lua_pushvalue(T, first + i);
        take_values(T, &c->args[i], i + 1);
        lua_pop(T, 1);
    }
    return 0;
}

static sl_status run(void *ud, const uint32_t grid[3], const uint32_t block[3],
                     const sl_compute_arg *args, size_t n, sl_error *err)
{
    const computer *c = ud;
    computation work = { grid, block, args, (int)n };
    lua_State *T = c->thread;
    if (c->state->closing) return sl_fail(err, SL_ESTATE, "the laboratory is being closed");
    lua_settop(T, 1);
    lua_pushcfunction(T, compute);
    lua_pushvalue(T, 1);
    lua_pushlightuserdata(T, &work);
    const char *text = lsl_call_inside(c->state, T, 2, 0);
    if (text) sl_fail(err, SL_EKERNEL, "the function cpu = failed: %s", text);
    lua_settop(T, 1);
    if (!text && sl_interrupt_wanted()) return sl_fail(err, SL_EINTERRUPT, "interrupted");
    return text ? SL_EKERNEL : SL_OK;
}

/* unref allocates nothing; the thread itself is used for it, because its stack is empty whatever
 * the others are in the middle of. */
static void release(void *ud)
{
    computer *c = ud;
    if (!c->state->closing) luaL_unref(c->thread, LUA_REGISTRYINDEX, c->ref);
    free(c);
}

void lsl_set_compute(lua_State *L, int idx, sl_custom_spec *spec)
{
    if (!lua_isfunction(L, idx)) return;
    /* Its values may be asked for after the thread's end. */
    lsl_refuse_in_thread(L, "kernel{ cpu = }");
    lua_State *thread = lua_newthread(L);
    lua_pushvalue(L, idx);
    lua_xmove(L, thread, 1);
    int ref = luaL_ref(L, LUA_REGISTRYINDEX);
    computer *c = malloc(sizeof *c);
    if (!c) {
        luaL_unref(L, LUA_REGISTRYINDEX, ref);
        lsl_fail(L, SL_ENOMEM, "kernel", "out of host memory");
        return;
    }
    *c = (computer){ .state = lsl_get(L), .thread = thread, .ref = ref };
    spec->compute = run;
    spec->compute_ud = c;
    spec->compute_release = release;
}
