/* subcommands.c - runs the Lua programs of repl/commands.
 *
 * Each file of that folder is one.
 */
#include "commands.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "../run/embedded.h"
#include "../run/run.h"

/* Pushes a table of the subcommands' names. */
static void push_names(lua_State *L)
{
    static const char folder[] = "repl/commands/";
    lua_newtable(L);
    for (const embedded_file *file = embedded_files; file->name; file++) {
        if (strncmp(file->name, folder, sizeof folder - 1) != 0) continue;
        const char *name = file->name + sizeof folder - 1, *dot = strrchr(name, '.');
        lua_pushlstring(L, name, (size_t)(dot - name));
        lua_pushboolean(L, true);
        lua_rawset(L, -3);
    }
}

void subcommand_suggest(lua_State *L, const char *typed)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.internals");
    lua_getfield(L, -1, "nearest");
    lua_pushstring(L, typed);
    push_names(L);
    lua_call(L, 2, 1);
    if (lua_isstring(L, -1))
        fprintf(stderr, "hint: did you mean streamlab %s?\n", lua_tostring(L, -1));
    lua_pop(L, 2);
}

/* Protected; the light userdata is the subcommand's name. */
static int call(lua_State *L)
{
    const char *name = lua_touserdata(L, 1);
    if (embedded_load(L, lua_pushfstring(L, "repl/commands/%s.lua", name)) != LUA_OK)
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
