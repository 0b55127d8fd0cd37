/* l_lists.c - the numbers of a list, and of lists in it: a profile has thousands. Metatables are
 * not looked at.
 */
#include "l_args.h"
#include "l_parts.h"

#define MOST_DEPTH 8

/* Of internal_flat_list: its argument, and the table that gets the values in reading order. */
enum { LIST = 1, VALUES };

/* What is wrong with the keys of the list at idx, or NULL. */
static const char *key_fault(lua_State *L, int idx)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, idx);
    for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
        if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) < 1 || lua_tointeger(L, -2) > n) {
            lua_pop(L, 2);
            return "mixes list items and named ones";
        }
    }
    return NULL;
}

/* Appends the numbers of the list on top of the stack, from n on; booleans are 1 and 0. What is
 * wrong with it, or NULL. */
static const char *add_values(lua_State *L, lua_Integer *n, int depth)
{
    int list = lua_gettop(L);
    if (depth > MOST_DEPTH) return "is nested too deeply, or contains itself";
    const char *fault = key_fault(L, list);
    lua_Integer length = (lua_Integer)lua_rawlen(L, list);
    for (lua_Integer i = 1; i <= length && !fault; i++) {
        switch (lua_rawgeti(L, list, i)) {
        case LUA_TBOOLEAN:
            lua_pushinteger(L, lua_toboolean(L, -1));
            lua_replace(L, -2); /* fallthrough */
        case LUA_TNUMBER: lua_rawseti(L, VALUES, ++*n); break;
        case LUA_TTABLE:
            fault = add_values(L, n, depth + 1);
            lua_settop(L, list);
            break;
        default: return lua_pushfstring(L, "has an item that is a %s", lsl_type_name(L, -1));
        }
    }
    return fault;
}

/* How many items each row of a list has, if all are rows of as many; else 0. */
static lua_Integer width_of(lua_State *L)
{
    lua_Integer width = 0, length = (lua_Integer)lua_rawlen(L, LIST);
    for (lua_Integer i = 1; i <= length; i++) {
        bool is_row = lua_rawgeti(L, LIST, i) == LUA_TTABLE;
        lua_Integer n = is_row ? (lua_Integer)lua_rawlen(L, -1) : 0;
        lua_pop(L, 1);
        if (n == 0 || (i > 1 && n != width)) return 0;
        width = n;
    }
    return width;
}

/* core.flat_list(list): its numbers, and how many each row has, nil if it has no rows or not all
 * have as many; or nil and what is wrong with it. */
static int internal_flat_list(lua_State *L)
{
    lua_Integer n = 0;
    lua_settop(L, LIST);
    lua_newtable(L);
    luaL_checkstack(L, 4 * MOST_DEPTH + 8, NULL);
    lua_pushvalue(L, LIST);
    const char *fault = add_values(L, &n, 1);
    if (fault) {
        lua_pushnil(L);
        lua_pushstring(L, fault);
        return 2;
    }
    lua_settop(L, VALUES);
    lua_Integer width = width_of(L);
    if (width > 0)
        lua_pushinteger(L, width);
    else
        lua_pushnil(L);
    return 2;
}

const luaL_Reg lsl_lists_internals[] = { { "flat_list", internal_flat_list }, { NULL, NULL } };
