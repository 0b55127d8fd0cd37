/* undefined.c - see undefined.h. */
#include "undefined.h"

#include <lauxlib.h>

#include "embedded.h"

/* Protected. Argument: the source. */
static int look(lua_State *L)
{
    embedded_function(L, "repl/run/undefined.lua", "look");
    lua_insert(L, 1);
    lua_call(L, 1, 0);
    return 0;
}

void undefined_look(lua_State *L, const char *source)
{
    if (!lua_checkstack(L, 3))
        return;
    lua_pushcfunction(L, look);
    lua_pushstring(L, source);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK)
        lua_pop(L, 1);                  /* no memory: then there is no warning */
}
