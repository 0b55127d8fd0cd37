/* subcommands.c - runs the Lua programs of repl/commands.
 *
 * Each is a file of that folder. They share command.lua, whose name keeps it from being a
 * subcommand itself.
 */
#include "subcommands.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "embedded.h"
#include "run.h"

enum { PATH_BYTES = 64 };

/* The file of the subcommand; one of a longer name there cannot be. */
static const char *path_of(const char *name, char path[PATH_BYTES])
{
    int n = snprintf(path, PATH_BYTES, "repl/commands/%s.lua", name);
    return n < PATH_BYTES ? path : "";
}

bool subcommand_exists(const char *name)
{
    char path[PATH_BYTES];
    return strcmp(name, "command") != 0 && embedded_exists(path_of(name, path));
}

/* Protected; the light userdata is the subcommand's name. */
static int call(lua_State *L)
{
    char path[PATH_BYTES];
    if (embedded_load(L, path_of(lua_touserdata(L, 1), path)) != LUA_OK)
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
