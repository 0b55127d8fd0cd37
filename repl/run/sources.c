/* sources.c - the text of the chunks that the program runs. See sources.h.
 */
#include "sources.h"

#include <errno.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "embedded.h"

static const char entries_key[] = "streamlab.entries"; /* source -> text, or false */
static const char latest_key[] = "streamlab.latest";   /* source -> its latest text */
static const char files_key[] = "streamlab.files";     /* "@" and path -> its stamp */

/* ---- a look at what was loaded ----------------------------------------------- */

/* Protected. Argument: the source. */
static int look(lua_State *L)
{
    embedded_function(L, "repl/run/undefined.lua", "look");
    lua_insert(L, 1);
    lua_call(L, 1, 0);
    return 0;
}

void sources_look(lua_State *L, const char *source)
{
    if (!lua_checkstack(L, 3)) return;
    lua_pushcfunction(L, look);
    lua_pushstring(L, source);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1); /* no memory: then there is no warning */
}

/* ---- files ---------------------------------------------------------------- */

/* Pushes the function of that name that the bindings keep for the program. */
static void push_internal(lua_State *L, const char *name)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.internals");
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
}

/* Notes the file as it is now, just before it is loaded. */
static void note_file(lua_State *L, const char *path)
{
    luaL_checkstack(L, 6, NULL);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, files_key);
    lua_pushfstring(L, "@%s", path);
    push_internal(L, "stamp");
    lua_pushstring(L, path);
    lua_call(L, 1, 1);
    lua_settable(L, -3);
    lua_pop(L, 1);
}

/* ---- texts ---------------------------------------------------------------- */

void sources_note_text(lua_State *L, const char *name, const char *text)
{
    luaL_checkstack(L, 5, NULL);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, latest_key);
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, entries_key);
    lua_getfield(L, -1, name);
    const char *known = lua_tostring(L, -1);
    bool other = !lua_isnil(L, -1) && (!known || strcmp(known, text) != 0);
    if (other)
        lua_pushboolean(L, 0);
    else
        lua_pushstring(L, text);
    lua_setfield(L, -3, name);
    lua_pop(L, 3);
}

/* Skips a mark of UTF-8 and a first line that begins with "#", but for its end. */
static const char *skip_comment(const char *text, size_t *len)
{
    const char *at = text, *end = text + *len;
    if (*len >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) at += 3;
    if (at < end && *at == '#') {
        while (at < end && *at != '\n')
            at++;
        if (end - at >= 2 && at[1] == LUA_SIGNATURE[0]) at++; /* a binary chunk behind it */
    }
    *len = (size_t)(end - at);
    return at;
}

int sources_load_stdin(lua_State *L)
{
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    size_t n;
    do {
        char *room = luaL_prepbuffer(&buffer);
        n = fread(room, 1, LUAL_BUFFERSIZE, stdin);
        luaL_addsize(&buffer, n);
    } while (n == LUAL_BUFFERSIZE);
    int error = errno;
    luaL_pushresult(&buffer);
    if (ferror(stdin)) {
        lua_pushfstring(L, "cannot read stdin: %s", strerror(error));
        lua_remove(L, -2);
        return LUA_ERRFILE;
    }
    size_t len;
    const char *text = lua_tolstring(L, -1, &len);
    const char *code = skip_comment(text, &len);
    if (len > 0 && code[0] != LUA_SIGNATURE[0]) sources_note_text(L, "=stdin", code);
    int status = luaL_loadbufferx(L, code, len, "=stdin", NULL);
    lua_remove(L, -2);
    if (status == LUA_OK) sources_look(L, "=stdin");
    return status;
}

/* ---- Lua's functions that load files ---------------------------------------- */

static int finish_dofile(lua_State *L, int status, lua_KContext context)
{
    (void)status;
    (void)context;
    return lua_gettop(L) - 1;
}

int sources_load_file(lua_State *L, const char *path, const char *mode)
{
    if (path) note_file(L, path);
    int status = luaL_loadfilex(L, path, mode);
    if (path && status == LUA_OK) {
        sources_look(L, lua_pushfstring(L, "@%s", path));
        lua_pop(L, 1);
    }
    return status;
}

static int dofile(lua_State *L)
{
    const char *path = luaL_optstring(L, 1, NULL);
    lua_settop(L, 1);
    if (sources_load_file(L, path, NULL) != LUA_OK) return lua_error(L);
    lua_callk(L, 0, LUA_MULTRET, 0, finish_dofile);
    return finish_dofile(L, 0, 0);
}

static int loadfile(lua_State *L)
{
    const char *path = luaL_optstring(L, 1, NULL);
    const char *mode = luaL_optstring(L, 2, NULL);
    bool has_environment = !lua_isnone(L, 3);
    if (sources_load_file(L, path, mode) != LUA_OK) {
        luaL_pushfail(L);
        lua_insert(L, -2);
        return 2;
    }
    if (has_environment) {
        lua_pushvalue(L, 3);
        if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
    }
    return 1;
}

/* The searcher of require for files in Lua. Upvalue: Lua's own, which loads the file. What it
 * loads may fail to compile, so that the file is looked for before. */
static int search(lua_State *L)
{
    luaL_checkstring(L, 1);
    lua_settop(L, 1);
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, "package");
    if (lua_istable(L, -1) && lua_getfield(L, -1, "searchpath") == LUA_TFUNCTION
        && lua_getfield(L, -2, "path") == LUA_TSTRING) {
        lua_pushvalue(L, 1);
        lua_insert(L, -2);
        if (lua_pcall(L, 2, 1, 0) == LUA_OK && lua_type(L, -1) == LUA_TSTRING)
            note_file(L, lua_tostring(L, -1));
    }
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, LUA_MULTRET);
    return lua_gettop(L);
}

void sources_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "dofile", dofile },
        { "loadfile", loadfile },
        { NULL, NULL },
    };
    lua_pushglobaltable(L);
    luaL_setfuncs(L, functions, 0);
    lua_getfield(L, -1, "package");
    lua_getfield(L, -1, "searchers");
    lua_rawgeti(L, -1, 2);
    lua_pushcclosure(L, search, 1);
    lua_rawseti(L, -2, 2);
    lua_pop(L, 3);
}

/* ---- for the program's Lua code --------------------------------------------- */

static int program_source(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    if (name[0] == '@') {
        luaL_getsubtable(L, LUA_REGISTRYINDEX, files_key);
        push_internal(L, "stamped");
        lua_pushstring(L, name + 1);
        lua_getfield(L, -3, name);
        lua_call(L, 2, 1);
        return 1;
    }
    bool latest = lua_toboolean(L, 2);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, latest_key);
    if (latest && lua_getfield(L, -1, name) == LUA_TSTRING) return 1;
    luaL_getsubtable(L, LUA_REGISTRYINDEX, entries_key);
    if (lua_getfield(L, -1, name) == LUA_TSTRING) return 1;
    return 0;
}

static int program_files(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, files_key);
    return 1;
}

static int program_entries(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, entries_key);
    return 1;
}

void sources_add(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "source", program_source },
        { "files", program_files },
        { "entries", program_entries },
        { NULL, NULL },
    };
    embedded_add(L, functions);
}
