/* trace.c - --trace FILE: records the whole run and saves it at the end.
 *
 * The bindings call the on_open function whenever they have opened a device and
 * made it current; it starts a recording with lab.record() and keeps the
 * timeline in a list in the registry, in the order of opening.
 */
#include "trace.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

bool lsl_try_file(const char *path, char *message, size_t message_bytes); /* bindings/ */

static const char list_key[] = "streamlab.trace"; /* false once they are saved */

bool trace_can_write(const char *path, char *message, int message_bytes)
{
    int n = snprintf(message, (size_t)message_bytes, "--trace: ");
    return lsl_try_file(path, message + n, (size_t)(message_bytes - n));
}

/* ---- recording ----------------------------------------------------------- */

/* Pushes the laboratory's function of that name. */
static void push_lab(lua_State *L, const char *name)
{
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, "streamlab");
    lua_getfield(L, -1, name);
}

static bool is_saved(lua_State *L)
{
    bool saved = lua_getfield(L, LUA_REGISTRYINDEX, list_key) == LUA_TBOOLEAN;
    lua_pop(L, 1);
    return saved;
}

static int on_open(lua_State *L)
{
    if (is_saved(L)) return 0;
    luaL_getsubtable(L, LUA_REGISTRYINDEX, list_key);
    int list = lua_gettop(L);
    push_lab(L, "record");
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "streamlab --trace"); /* in the views of profilers */
    lua_setfield(L, -2, "name");
    lua_call(L, 1, 1);
    lua_rawseti(L, list, luaL_len(L, list) + 1);
    return 0;
}

void trace_push_on_open(lua_State *L) { lua_pushcfunction(L, on_open); }

/* ---- saving -------------------------------------------------------------- */

/* Pushes `path` for the n-th device: x.json, x.2.json, ... */
static const char *push_nth_path(lua_State *L, const char *path, int n)
{
    if (n == 1) return lua_pushstring(L, path);
    size_t length = strlen(path), gz = strlen(".json.gz");
    bool compressed = length > gz && strcmp(path + length - gz, ".json.gz") == 0;
    const char *dot = compressed ? path + length - gz : strrchr(path, '.');
    lua_pushlstring(L, path, (size_t)(dot - path));
    lua_pushfstring(L, ".%d%s", n, dot);
    lua_concat(L, 2);
    return lua_tostring(L, -1);
}

/* Arguments: timeline, path. Stopping waits for the device. If that fails, because the
 * device has, the timeline has stopped all the same, and what it has is saved. */
static int stop_and_save(lua_State *L)
{
    lua_getfield(L, 1, "stop");
    lua_pushvalue(L, 1);
    bool stopped = lua_pcall(L, 1, 0, 0) == LUA_OK;
    lua_getfield(L, 1, "save");
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_call(L, 2, 0);
    if (stopped) return 0;
    const char *reason = luaL_tolstring(L, 3, NULL);
    lua_pushfstring(L, "--trace: %s has only what was recorded before this: %s", lua_tostring(L, 2),
                    reason);
    run_message(lua_tostring(L, -1));
    lua_pushboolean(L, 1);
    return 1;
}

/* Opens the default device, which is recorded from then on. */
static int open_default(lua_State *L)
{
    push_lab(L, "device");
    lua_call(L, 0, 0);
    return 0;
}

/* Light userdata: the path; whether the run failed. Returns how many could not be saved. A
 * script that opened no device has an empty timeline, that of the device it would have got. */
static int save_all(lua_State *L)
{
    const char *path = lua_touserdata(L, 1);
    lua_Integer failed = 0;
    if (is_saved(L)) {
        lua_pushinteger(L, 0);
        return 1;
    }
    luaL_getsubtable(L, LUA_REGISTRYINDEX, list_key);
    int list = lua_gettop(L);
    if (luaL_len(L, list) == 0 && !lua_toboolean(L, 2)) {
        lua_pushcfunction(L, open_default);
        failed += run_report(L, run_call(L, 0, 0)) != LUA_OK;
    }
    int n = (int)luaL_len(L, list);
    for (int i = 1; i <= n; i++) {
        lua_pushcfunction(L, stop_and_save);
        lua_rawgeti(L, list, i);
        push_nth_path(L, path, i);
        int status = run_call(L, 2, 1);
        failed += status != LUA_OK || lua_toboolean(L, -1);
        if (status != LUA_OK)
            run_report(L, status);
        else
            lua_pop(L, 1);
    }
    lua_pushboolean(L, 0);
    lua_setfield(L, LUA_REGISTRYINDEX, list_key);
    lua_pushinteger(L, failed);
    return 1;
}

bool trace_save(lua_State *L, const char *path, bool run_failed)
{
    lua_pushcfunction(L, save_all);
    lua_pushlightuserdata(L, (void *)path);
    lua_pushboolean(L, run_failed);
    int status = run_report(L, lua_pcall(L, 2, 1, 0));
    if (status != LUA_OK) return false;
    bool fine = lua_tointeger(L, -1) == 0;
    lua_pop(L, 1);
    return fine;
}
