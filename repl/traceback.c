/* traceback.c - an error as the user sees it: the message, then the user's lines.
 *
 * Frames of C functions (the laboratory's own, the program's) and of the
 * laboratory's prelude say nothing about the user's mistake and are left out.
 */
#include "traceback.h"

#include <lauxlib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_LEVELS = 12, LAST_LEVELS = 12 };   /* of a deep stack, as Lua does */

static bool is_users(const lua_Debug *ar)
{
    return strcmp(ar->what, "C") != 0 && strcmp(ar->source, "=streamlab") != 0;
}

/* The last level of the stack. Asking for a level takes time linear in it, so a
 * stack that has overflowed is not walked through. */
static int last_level(lua_State *L)
{
    lua_Debug ar;
    int inside = 0, outside = 1;
    while (lua_getstack(L, outside, &ar)) {
        inside = outside;
        outside *= 2;
    }
    while (outside - inside > 1) {
        int middle = inside + (outside - inside) / 2;
        if (lua_getstack(L, middle, &ar))
            inside = middle;
        else
            outside = middle;
    }
    return inside;
}

/* Pushes "file:line: in function 'name'". */
static void push_frame(lua_State *L, const lua_Debug *ar)
{
    if (ar->currentline > 0)
        lua_pushfstring(L, "%s:%d: in ", ar->short_src, ar->currentline);
    else
        lua_pushfstring(L, "%s: in ", ar->short_src);
    if (*ar->namewhat != '\0')
        lua_pushfstring(L, "%s '%s'", ar->namewhat, ar->name);
    else if (*ar->what == 'm')
        lua_pushliteral(L, "main chunk");
    else
        lua_pushfstring(L, "function <%s:%d>", ar->short_src, ar->linedefined);
    lua_concat(L, 2);
}

/* Adds "\n\tFRAME" to the text on the stack's top if the level is the user's. */
static void add_level(lua_State *L, int level)
{
    lua_Debug ar;
    if (!lua_getstack(L, level, &ar) || !lua_getinfo(L, "Slnt", &ar) || !is_users(&ar))
        return;
    lua_pushliteral(L, "\n\t");
    push_frame(L, &ar);
    lua_pushstring(L, ar.istailcall ? "\n\t(...tail calls...)" : "");
    lua_concat(L, 4);
}

/* Adds the user's frames to the text on the stack's top. */
static void add_users_frames(lua_State *L)
{
    int last = last_level(L);
    int gap = last - FIRST_LEVELS - LAST_LEVELS;
    lua_pushvalue(L, -1);
    lua_pushliteral(L, "\nstack traceback:");
    lua_concat(L, 2);
    size_t empty = lua_rawlen(L, -1);
    for (int level = 1; level <= last; level++) {
        if (gap > 1 && level == FIRST_LEVELS + 1) {
            lua_pushfstring(L, "\n\t...\t(skipping %d levels)", gap);
            lua_concat(L, 2);
            level += gap;
        }
        add_level(L, level);
    }
    if (lua_rawlen(L, -1) == empty)
        lua_pop(L, 1);
}

/* Replaces the error value at index 1 by its text. */
static void make_text(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TSTRING)
        return;
    if (lua_type(L, 1) == LUA_TNUMBER) {
        lua_tostring(L, 1);
    } else if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING) {
        lua_replace(L, 1);
    } else {
        lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
        lua_replace(L, 1);
    }
    lua_settop(L, 1);
}

int traceback_handler(lua_State *L)
{
    lua_settop(L, 1);
    make_text(L);
    const char *debug = getenv("STREAMLAB_DEBUG");
    if (debug && strcmp(debug, "1") == 0) {
        luaL_traceback(L, L, lua_tostring(L, 1), 1);
        return 1;
    }
    luaL_checkstack(L, 10, "traceback");
    add_users_frames(L);
    return 1;
}
