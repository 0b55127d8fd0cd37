/* embedded.c - loads the Lua code that is built into the program.
 */
#include "embedded.h"

#include <lualib.h>
#include <stdarg.h>
#include <string.h>

static const char chunk_name[] = "=streamlab";
static const char environment_key[] = "streamlab.environment";
static const char imported_key[] = "streamlab.imported";
static const char strings_file[] = "repl/run/strings.lua";

static const embedded_file *find_file(const embedded_file *files, const char *path)
{
    for (const embedded_file *file = files; file->name; file++) {
        if (strcmp(file->name, path) == 0) return file;
    }
    return NULL;
}

int embedded_load(lua_State *L, const char *path)
{
    const embedded_file *compiled = find_file(compiled_files, path);
    const embedded_file *file = compiled ? compiled : find_file(embedded_files, path);
    if (!file) {
        lua_pushfstring(L, "streamlab was built without %s", path);
        return LUA_ERRRUN;
    }
    int status = luaL_loadbufferx(L, file->data, file->len, chunk_name, compiled ? "b" : "t");
    if (status == LUA_OK) {
        lua_getfield(L, LUA_REGISTRYINDEX, environment_key);
        lua_setupvalue(L, -2, 1);
    }
    return status;
}

void embedded_import(lua_State *L, const char *path)
{
    luaL_checkstack(L, 6, NULL);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, imported_key);
    if (lua_getfield(L, -1, path) == LUA_TNIL) {
        lua_pop(L, 1);
        if (embedded_load(L, path) != LUA_OK) lua_error(L);
        lua_call(L, 0, 1);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, path);
    }
    lua_remove(L, -2);
}

bool embedded_is_imported(lua_State *L, const char *path)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, imported_key);
    bool is = lua_getfield(L, -1, path) != LUA_TNIL;
    lua_pop(L, 2);
    return is;
}

/* Calls a function of the program's Lua code; upvalues: its file and its name there. While it
 * runs, strings have the program's methods; afterwards, also after an error, the script's. */
static int call_function(lua_State *L)
{
    int n = lua_gettop(L);
    luaL_checkstack(L, n + 4, NULL);
    embedded_import(L, strings_file);
    lua_getfield(L, -1, "own");
    lua_replace(L, -2);
    lua_call(L, 0, 1);
    lua_toclose(L, -1);
    embedded_import(L, lua_tostring(L, lua_upvalueindex(1)));
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_gettable(L, -2);
    lua_replace(L, -2);
    for (int i = 1; i <= n; i++)
        lua_pushvalue(L, i);
    lua_call(L, n, LUA_MULTRET);
    return lua_gettop(L) - n - 1;
}

void embedded_function(lua_State *L, const char *path, const char *name)
{
    lua_pushstring(L, path);
    lua_pushstring(L, name);
    lua_pushcclosure(L, call_function, 2);
}

/* import(path) */
static int import(lua_State *L)
{
    embedded_import(L, luaL_checkstring(L, 1));
    return 1;
}

/* embedded(prefix): the build sorts them. */
static int list(lua_State *L)
{
    size_t n;
    const char *prefix = luaL_checklstring(L, 1, &n);
    lua_newtable(L);
    for (const embedded_file *file = embedded_files; file->name; file++) {
        if (strncmp(file->name, prefix, n) != 0) continue;
        lua_pushstring(L, file->name);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
    return 1;
}

/* embedded_text(path): the bytes of a file, also of one that is no Lua. */
static int text(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    const embedded_file *file = find_file(embedded_files, path);
    if (!file) return luaL_error(L, "streamlab was built without %s", path);
    lua_pushlstring(L, file->data, file->len);
    return 1;
}

/* program.new_math(): the library with random numbers of its own. */
static int new_math(lua_State *L)
{
    lua_pushcfunction(L, luaopen_math);
    lua_call(L, 0, 1);
    return 1;
}

static bool is_library(const char *name)
{
    static const char *const libraries[] = {
        "coroutine", "debug", "io", "lab", "math", "os", "string", "table", "utf8",
    };
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        if (strcmp(name, libraries[i]) == 0) return true;
    }
    return false;
}

/* Copies the table on the stack's top, which it pops, into the one below it. With `deeply` a
 * library in it goes into a table of its own. */
static void copy(lua_State *L, bool deeply)
{
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        if (deeply && lua_istable(L, -1) && is_library(name)) {
            luaL_getsubtable(L, -4, name);
            lua_insert(L, -2);
            copy(L, false);
            lua_pop(L, 1);
        } else {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, -5);
        }
    }
    lua_pop(L, 1);
}

void embedded_open(lua_State *L, lua_CFunction pcall)
{
    const luaL_Reg functions[] = {
        { "import", import }, { "embedded", list }, { "embedded_text", text },
        { "pcall", pcall },   { NULL, NULL },
    };
    luaL_checkstack(L, 8, NULL);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, environment_key);
    lua_pushglobaltable(L);
    copy(L, true); /* `_G` in it is still the globals */
    luaL_setfuncs(L, functions, 0);
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.internals");
    lua_setfield(L, -2, "internals");
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, new_math);
    lua_setfield(L, -2, "new_math");
    lua_setfield(L, -2, "program");
    lua_pop(L, 1);
    embedded_import(L, strings_file); /* before the user can change them */
    lua_pop(L, 1);
}

int embedded_fail(lua_State *L, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    lua_pushvfstring(L, format, arguments);
    va_end(arguments);
    return lua_error(L);
}

void embedded_add(lua_State *L, const luaL_Reg *functions)
{
    lua_getfield(L, LUA_REGISTRYINDEX, environment_key);
    lua_getfield(L, -1, "program");
    for (const luaL_Reg *f = functions; f->name; f++) {
        if (lua_getfield(L, -1, f->name) != LUA_TNIL)
            luaL_error(L, "program.%s is there twice", f->name);
        lua_pop(L, 1);
    }
    luaL_setfuncs(L, functions, 0);
    lua_pop(L, 2);
}
