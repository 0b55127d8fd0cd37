/* l_handover.c - values that one Lua state gives to another: numbers, booleans and texts, tables of
 * these, and streams, events and tensors, of which the other state gets boxes of its own around the
 * same objects.
 *
 * A value is checked first, in the state that is to raise the error; what is copied afterwards
 * fails only for lack of memory. Of the state that gives, nothing is called that raises. */
#include "l_box.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_thread.h"

#include <stdio.h>
#include <string.h>

enum { MOST_LEVELS = 100, PATH_TEXT = 128, STACK = 8 };

/* A value that is checked: at the bottom an argument or result, above it fields of tables. */
typedef struct level {
    const struct level *below; /* NULL: the bottom */
    const void *table;         /* whose field it is; NULL at the bottom */
    lua_State *from;
    int key; /* of `from`'s stack: under which it lies there */
    int depth;
} level;

typedef struct check {
    lua_State *L; /* raises */
    const sl_device *device;
    const char *what, *op; /* "argument 2" */
} check;

static void add_key(lua_State *from, int key, char *path, size_t size)
{
    const size_t used = strlen(path);
    char text[48];
    if (lua_type(from, key) == LUA_TSTRING)
        snprintf(text, sizeof text, ".%.40s", lua_tostring(from, key));
    else if (lua_isinteger(from, key))
        snprintf(text, sizeof text, "[%lld]", (long long)lua_tointeger(from, key));
    else
        snprintf(text, sizeof text, "[%s]", luaL_typename(from, key));
    snprintf(path + used, size - used, "%s", text);
}

static void add_path(const level *at, char *path, size_t size)
{
    if (!at->below) return;
    add_path(at->below, path, size);
    add_key(at->from, at->key, path, size);
}

static int refuse(const check *c, const level *at, const char *why)
{
    char path[PATH_TEXT] = "";
    add_path(at, path, sizeof path);
    return lsl_fail(c->L, SL_EINVAL, c->op, "%s%s%s %s", c->what, *path != '\0' ? ", " : "", path,
                    why);
}

static int refuse_kind(const check *c, const level *at, const char *noun)
{
    char why[192];
    snprintf(why, sizeof why,
             "is a %s, which another thread cannot have: nil, booleans, numbers, strings, tables "
             "of these, streams, events and tensors can be handed over",
             noun);
    return refuse(c, at, why);
}

/* lsl_kind_of for a state in which no function of the module runs: of open objects alone. */
static lsl_kind kind_by_tag(lua_State *L, int idx)
{
    const lsl_tag *tag = lua_touserdata(L, idx);
    int kind = 0;
    if (!tag || lua_rawlen(L, idx) < sizeof *tag) return LSL_KINDS;
    while (kind < LSL_KINDS && *tag != &lsl_tags[kind])
        kind++;
    return (lsl_kind)kind;
}

static const sl_device *device_of(lsl_kind kind, const lsl_box *box)
{
    if (kind == LSL_STREAM) return sl_stream_device(box->p);
    if (kind == LSL_EVENT) return sl_event_device(box->p);
    return sl_tensor_device(box->p);
}

static bool is_handed(lsl_kind kind)
{
    return kind == LSL_STREAM || kind == LSL_EVENT || kind == LSL_TENSOR;
}

static void check_box(const check *c, const level *at, lua_State *from, int idx)
{
    const lsl_kind kind = from == c->L ? lsl_kind_of(from, idx) : kind_by_tag(from, idx);
    if (!is_handed(kind))
        refuse_kind(c, at, kind < LSL_KINDS ? strchr(lsl_nouns[kind], ' ') + 1 : "userdata");
    const lsl_box *box = lua_touserdata(from, idx);
    if (!lsl_is_open(box) || (kind == LSL_TENSOR && sl_tensor_is_freed(box->p)))
        refuse(c, at, "has been closed or freed");
    if (!sl_device_are_of_one_machine(device_of(kind, box), c->device))
        refuse(c, at, "is of another machine than the thread");
}

static void check_value(const check *c, const level *at, lua_State *from, int idx);

static void check_table(const check *c, const level *at, lua_State *from, int idx)
{
    const void *table = lua_topointer(from, idx);
    for (const level *l = at; l; l = l->below)
        if (l->table == table) refuse(c, at, "is a table that lies in itself");
    if (at->depth >= MOST_LEVELS) refuse(c, at, "lies in more than 100 tables");
    if (!lua_checkstack(from, STACK)) refuse(c, at, "does not fit into memory");
    if (lua_getmetatable(from, idx)) refuse_kind(c, at, "table with a metatable");
    lua_pushnil(from);
    while (lua_next(from, idx)) {
        const int key = lua_gettop(from) - 1, type = lua_type(from, key);
        const level field = { at, table, from, key, at->depth + 1 };
        if (type != LUA_TSTRING && type != LUA_TNUMBER && type != LUA_TBOOLEAN)
            refuse_kind(c, &field, "key of a table");
        check_value(c, &field, from, key + 1);
        lua_settop(from, key);
    }
}

static void check_value(const check *c, const level *at, lua_State *from, int idx)
{
    switch (lua_type(from, idx)) {
    case LUA_TNIL:
    case LUA_TBOOLEAN:
    case LUA_TNUMBER:
    case LUA_TSTRING: return;
    case LUA_TTABLE: check_table(c, at, from, idx); return;
    case LUA_TUSERDATA: check_box(c, at, from, idx); return;
    default: refuse_kind(c, at, luaL_typename(from, idx));
    }
}

void lsl_check_handover(lua_State *L, lua_State *from, int idx, const sl_device *device,
                        const char *what, const char *op)
{
    const check c = { L, device, what, op };
    check_value(&c, &(level){ .from = from }, from, idx);
}

/* ---- copying --------------------------------------------------------------------- */

static void push_box(lua_State *L, lsl_kind kind, const lsl_box *from)
{
    if (kind == LSL_STREAM) {
        lsl_push_stream(L, from->p);
        return;
    }
    lsl_box *box = lsl_new_box(L, kind);
    box->p = kind == LSL_EVENT ? (void *)sl_event_retain(from->p) : sl_tensor_retain(from->p);
}

static void push_table(lua_State *L, lua_State *from, int idx)
{
    luaL_checkstack(L, STACK, NULL);
    lua_newtable(L);
    lua_pushnil(from);
    while (lua_next(from, idx)) {
        const int key = lua_gettop(from) - 1;
        lsl_hand_over(L, from, key);
        lsl_hand_over(L, from, key + 1);
        lua_rawset(L, -3);
        lua_settop(from, key);
    }
}

void lsl_hand_over(lua_State *L, lua_State *from, int idx)
{
    size_t n;
    switch (lua_type(from, idx)) {
    case LUA_TNIL: lua_pushnil(L); return;
    case LUA_TBOOLEAN: lua_pushboolean(L, lua_toboolean(from, idx)); return;
    case LUA_TNUMBER:
        if (lua_isinteger(from, idx))
            lua_pushinteger(L, lua_tointeger(from, idx));
        else
            lua_pushnumber(L, lua_tonumber(from, idx));
        return;
    case LUA_TSTRING: {
        const char *text = lua_tolstring(from, idx, &n);
        lua_pushlstring(L, text, n);
        return;
    }
    case LUA_TTABLE: push_table(L, from, idx); return;
    default: push_box(L, kind_by_tag(from, idx), lua_touserdata(from, idx));
    }
}
