/* traceback.c - an error as the user sees it: the message, then the user's lines.
 *
 * Frames of C functions (the laboratory's own, the program's) and of the
 * laboratory's prelude say nothing about the user's mistake and are left out.
 *
 * This runs where the error was raised, perhaps with no stack or memory left. So it only
 * collects; repl/run/errors/errors.lua reads source lines and composes the text later.
 */
#include "traceback.h"

#include <lauxlib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char report_key[] = "streamlab.report";

enum { FIRST_LEVELS = 12, LAST_LEVELS = 12 }; /* of a deep stack, as Lua does */
enum { VALUE = 1, TEXT, FRAMES };             /* the handler's stack */

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

/* ---- frames --------------------------------------------------------------- */

/* Pushes "file:line: in function 'name'". */
static void push_frame_text(lua_State *L, const lua_Debug *ar)
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
    lua_pushstring(L, ar->istailcall ? "\n\t(...tail calls...)" : "");
    lua_concat(L, 3);
}

/* Appends the table or text on the stack's top to the list of frames. */
static void append(lua_State *L) { lua_rawseti(L, FRAMES, (lua_Integer)lua_rawlen(L, FRAMES) + 1); }

/* Appends {text, source, name, line, main} if the level is the user's. */
static void add_level(lua_State *L, int level)
{
    lua_Debug ar;
    if (!lua_getstack(L, level, &ar) || !lua_getinfo(L, "Slnt", &ar) || !is_users(&ar)) return;
    lua_createtable(L, 0, 5);
    push_frame_text(L, &ar);
    lua_setfield(L, -2, "text");
    lua_pushstring(L, ar.source);
    lua_setfield(L, -2, "source");
    lua_pushstring(L, ar.short_src);
    lua_setfield(L, -2, "name");
    lua_pushinteger(L, ar.currentline);
    lua_setfield(L, -2, "line");
    lua_pushboolean(L, *ar.what == 'm');
    lua_setfield(L, -2, "main");
    append(L);
}

/* Pushes the list of the user's frames, the innermost first. */
static void push_frames(lua_State *L)
{
    int last = last_level(L);
    int gap = last - FIRST_LEVELS - LAST_LEVELS;
    lua_newtable(L);
    for (int level = 1; level <= last; level++) {
        if (gap > 1 && level == FIRST_LEVELS + 1) {
            lua_createtable(L, 0, 1);
            lua_pushfstring(L, "...\t(skipping %d levels)", gap);
            lua_setfield(L, -2, "text");
            append(L);
            level += gap;
        }
        add_level(L, level);
    }
}

/* Pushes the message and all frames as one text. */
static void push_whole(lua_State *L)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, FRAMES);
    lua_pushvalue(L, TEXT);
    if (n == 0) return;
    lua_pushliteral(L, "\nstack traceback:");
    lua_concat(L, 2);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_pushliteral(L, "\n\t");
        lua_rawgeti(L, FRAMES, i);
        lua_getfield(L, -1, "text");
        lua_remove(L, -2);
        lua_concat(L, 3);
    }
}

/* ---- the error value ------------------------------------------------------- */

/* Pushes the error value's text. */
static void push_text(lua_State *L)
{
    if (lua_type(L, VALUE) == LUA_TSTRING || lua_type(L, VALUE) == LUA_TNUMBER) {
        lua_pushvalue(L, VALUE);
        lua_tostring(L, -1);
        return;
    }
    if (luaL_callmeta(L, VALUE, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return;
    lua_settop(L, VALUE);
    lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, VALUE));
}

/* Sets the field of the report on top to that of an error object of the laboratory. */
static void copy_field(lua_State *L, const char *name)
{
    lua_pushstring(L, name);
    lua_rawget(L, VALUE);
    if (lua_type(L, -1) == LUA_TSTRING)
        lua_setfield(L, -2, name);
    else
        lua_pop(L, 1);
}

static bool is_laboratorys(lua_State *L)
{
    if (lua_type(L, VALUE) != LUA_TTABLE || !lua_getmetatable(L, VALUE)) return false;
    luaL_getmetatable(L, "streamlab.error");
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
}

/* registry["streamlab.report"] = {whole, message, frames, op, code}; whole is the text on
 * the stack's top, by which the report is found again. */
static void keep_report(lua_State *L)
{
    lua_createtable(L, 0, 6);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "whole");
    lua_pushvalue(L, TEXT);
    lua_setfield(L, -2, "message");
    lua_pushvalue(L, FRAMES);
    lua_setfield(L, -2, "frames");
    if (is_laboratorys(L)) {
        copy_field(L, "op");
        copy_field(L, "code");
    }
    lua_setfield(L, LUA_REGISTRYINDEX, report_key);
}

int traceback_handler(lua_State *L)
{
    lua_settop(L, VALUE);
    push_text(L);
    if (traceback_wants_all()) {
        luaL_traceback(L, L, lua_tostring(L, TEXT), 1);
        return 1;
    }
    luaL_checkstack(L, 12, "traceback");
    push_frames(L);
    push_whole(L);
    keep_report(L);
    return 1;
}

bool traceback_wants_all(void)
{
    const char *debug = getenv("STREAMLAB_DEBUG");
    return debug && strcmp(debug, "1") == 0;
}

/* ---- afterwards ------------------------------------------------------------- */

void traceback_mark_interrupted(lua_State *L)
{
    if (lua_getfield(L, LUA_REGISTRYINDEX, report_key) == LUA_TTABLE) {
        lua_pushboolean(L, 1);
        lua_setfield(L, -2, "interrupted");
    }
    lua_pop(L, 1);
}

void traceback_take_report(lua_State *L)
{
    int value = lua_gettop(L);
    bool found = lua_getfield(L, LUA_REGISTRYINDEX, report_key) == LUA_TTABLE;
    lua_pushnil(L);
    lua_setfield(L, LUA_REGISTRYINDEX, report_key);
    if (found) {
        lua_getfield(L, -1, "whole");
        found = lua_rawequal(L, -1, value);
        lua_pop(L, 1);
    }
    if (found) return;
    lua_pop(L, 1);
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, value);
    lua_setfield(L, -2, "message");
    lua_newtable(L);
    lua_setfield(L, -2, "frames");
}
