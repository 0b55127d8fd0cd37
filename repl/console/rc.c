/* rc.c - the user's start file of the REPL.
 */
#include "console.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <unistd.h>

#include "../run/run.h"
#include "../run/sources.h"

/* Pushes the path if the file exists. */
static int push_existing(lua_State *L, const char *folder, const char *name)
{
    if (!folder || !folder[0]) return 0;
    if (access(lua_pushfstring(L, "%s/%s", folder, name), F_OK) == 0) return 1;
    lua_pop(L, 1);
    return 0;
}

/* Protected: gives the path, or nothing. A file that STREAMLAB_RC names may be missing: running
 * it reports that. */
static int find(lua_State *L)
{
    const char *asked = getenv("STREAMLAB_RC"), *home = getenv("HOME");
    const char *config = getenv("XDG_CONFIG_HOME");
    if (asked) {
        lua_pushstring(L, asked);
        return asked[0] != '\0';
    }
    bool has_config = config && config[0] == '/';
    return push_existing(L, has_config ? config : home,
                         has_config ? "streamlab/rc.lua" : ".config/streamlab/rc.lua")
           || push_existing(L, home, ".streamlabrc");
}

void rc_run(lua_State *L)
{
    int top = lua_gettop(L);
    lua_pushcfunction(L, find);
    if (run_report(L, lua_pcall(L, 0, 1, 0)) == LUA_OK && lua_isstring(L, -1)) {
        int status = sources_load_file(L, lua_tostring(L, -1), NULL);
        run_report(L, status == LUA_OK ? run_call(L, 0, 0) : status);
    }
    lua_settop(L, top);
}
