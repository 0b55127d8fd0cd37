/* subcommands.c - runs the Lua programs of repl/commands.
 *
 * Each file of that folder is one.
 */
#include "commands.h"

#include <lauxlib.h>

#include "../run/embedded.h"
#include "../run/run.h"

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
