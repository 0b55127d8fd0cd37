/* subcommands.c - runs the Lua programs of repl/commands.
 *
 * Each is a file of that folder and sees what a script sees: `lab` and its arguments. They
 * share command.lua, which they require as "streamlab.command"; its name keeps it from
 * being a subcommand itself. Their chunks have the prelude's name, so that no position
 * and no traceback shows lines that the user cannot see.
 */
#include "subcommands.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

static const char shared[] = "command";
static const char chunk_name[] = "=streamlab";

static const command_file *find_file(const char *name)
{
    char path[64];
    int n = snprintf(path, sizeof path, "repl/commands/%s.lua", name);
    if (n < 0 || n >= (int)sizeof path)
        return NULL;
    for (const command_file *file = command_files; file->name; file++) {
        if (strcmp(file->name, path) == 0)
            return file;
    }
    return NULL;
}

bool subcommand_exists(const char *name)
{
    return strcmp(name, shared) != 0 && find_file(name) != NULL;
}

static int load_file(lua_State *L, const char *name)
{
    const command_file *file = find_file(name);
    return luaL_loadbufferx(L, file->data, file->len, chunk_name, "t");
}

/* The loader of "streamlab.command". */
static int load_shared(lua_State *L)
{
    if (load_file(L, shared) != LUA_OK)
        return lua_error(L);
    lua_call(L, 0, 1);
    return 1;
}

/* Protected; the light userdata is the subcommand's name. */
static int call(lua_State *L)
{
    const char *name = lua_touserdata(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, load_shared);
    lua_setfield(L, -2, "streamlab.command");
    if (load_file(L, name) != LUA_OK)
        return lua_error(L);
    lua_getglobal(L, "arg");
    int list = lua_gettop(L), n = (int)luaL_len(L, list);
    luaL_checkstack(L, n + 1, "too many arguments");
    lua_pushvalue(L, list - 1);
    for (int i = 1; i <= n; i++)
        lua_rawgeti(L, list, i);
    lua_call(L, n, 0);
    return 0;
}

int subcommand_run(lua_State *L, const char *name)
{
    lua_pushcfunction(L, call);
    lua_pushlightuserdata(L, (void *)name);
    return run_report(L, run_call(L, 1, 0));
}
