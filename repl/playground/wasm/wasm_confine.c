/* wasm_confine.c - repl/sandbox/confine.h in a page: the browser confines all code of it, which
 * reaches no file, no process and no network of its own. Time has no limit: Stop ends it. */
#include "../../sandbox/confine.h"

#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../run/embedded.h"

enum { REPORT = 3 };

static int prepare_filter(lua_State *L)
{
    (void)L;
    return 0;
}

static int confine(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_newtable(L);
    return 1;
}

static int call_confined(lua_State *L)
{
    luaL_checkany(L, 1);
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    luaL_checkstack(L, 2, NULL);
    lua_pushboolean(L, false); /* the time was not up */
    lua_pushboolean(L, status == LUA_OK);
    lua_rotate(L, 1, 2);
    return lua_gettop(L);
}

static int report(lua_State *L)
{
    size_t n;
    const char *bytes = luaL_checklstring(L, 1, &n);
    if (write(REPORT, bytes, n) == (ssize_t)n) return 0;
    return embedded_fail(L, "report: cannot write to descriptor 3: %s", strerror(errno));
}

static int leave(lua_State *L)
{
    (void)L;
    exit(0);
}

void confine_add(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "prepare_filter", prepare_filter },
        { "confine", confine },
        { "call_confined", call_confined },
        { "report", report },
        { "leave", leave },
        { NULL, NULL },
    };
    embedded_add(L, functions);
}
