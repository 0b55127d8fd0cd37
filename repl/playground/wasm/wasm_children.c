/* wasm_children.c - repl/sandbox/children.h where there are no processes: each "child" is the
 * program once more, in an instance of WebAssembly of its own, which program.js makes. One runs at
 * a time, when it is waited for, and ends by itself: Stop ends the worker, and all of them with
 * it. */
#include "../../sandbox/children.h"

#include <emscripten.h>
#include <lauxlib.h>

#include "../../run/embedded.h"
#include "../../sandbox/fork_server.h"

static const char key[] = "streamlab.children";

/* clang-format off */
EM_JS(int, run_again, (const char *arguments, int n), {
    const list = [];
    for (let at = arguments; list.length < n; at += lengthBytesUTF8(list[list.length - 1]) + 1)
        list.push(UTF8ToString(at));
    const ended = Module.runAgain(list, FS);
    for (const name of [ "output", "errors", "report" ]) FS.writeFile("/tmp/" + name, ended[name]);
    return ended.status;
});
/* clang-format on */

/* Keeps the command; wait runs it. */
static int spawn(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_getfield(L, LUA_REGISTRYINDEX, key);
    lua_Integer id = luaL_len(L, -1) + 1;
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, id);
    lua_pushinteger(L, id);
    return 1;
}

/* Pushes the arguments behind the program's path, each with a zero at its end. */
static int push_arguments(lua_State *L, int command)
{
    luaL_Buffer buffer;
    const int n = (int)luaL_len(L, command);
    luaL_buffinit(L, &buffer);
    for (int i = 2; i <= n; i++) {
        lua_rawgeti(L, command, i);
        luaL_addvalue(&buffer);
        luaL_addchar(&buffer, '\0');
    }
    luaL_pushresult(&buffer);
    return n - 1;
}

static void set_file(lua_State *L, const char *name, const char *path)
{
    luaL_Buffer buffer;
    FILE *file = fopen(path, "rb");
    size_t n = 1;
    luaL_buffinit(L, &buffer);
    while (file && n > 0) {
        n = fread(luaL_prepbuffer(&buffer), 1, LUAL_BUFFERSIZE, file);
        luaL_addsize(&buffer, n);
    }
    if (file) fclose(file);
    luaL_pushresult(&buffer);
    lua_setfield(L, -2, name);
}

/* The next one that has not run: {id =, output =, errors =, report =, status =, ...}. */
static int wait_for_next(lua_State *L)
{
    lua_settop(L, 0);
    lua_getfield(L, LUA_REGISTRYINDEX, key);
    lua_Integer id = 1, last = luaL_len(L, 1);
    while (id <= last && lua_rawgeti(L, 1, id) != LUA_TTABLE) {
        lua_pop(L, 1);
        id++;
    }
    if (id > last) return 0;
    lua_pushboolean(L, false);
    lua_rawseti(L, 1, id);
    lua_getfield(L, 2, "command");
    int n = push_arguments(L, 3);
    int status = run_again(lua_tostring(L, -1), n);
    lua_createtable(L, 0, 8);
    set_file(L, "output", "/tmp/output");
    set_file(L, "errors", "/tmp/errors");
    set_file(L, "report", "/tmp/report");
    lua_pushinteger(L, id);
    lua_setfield(L, -2, "id");
    lua_pushinteger(L, status);
    lua_setfield(L, -2, "status");
    lua_pushnumber(L, 0);
    lua_setfield(L, -2, "processor_s");
    return 1;
}

static int executable(lua_State *L)
{
    lua_pushliteral(L, "streamlab");
    return 1;
}

void children_add(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "spawn", spawn },
        { "wait", wait_for_next },
        { "executable", executable },
        { NULL, NULL },
    };
    lua_newtable(L);
    lua_setfield(L, LUA_REGISTRYINDEX, key);
    embedded_add(L, functions);
}
