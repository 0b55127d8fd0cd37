/* trial.c - tries the device that the command line names, before a script runs.
 *
 * A wrong --profile is wrong usage, and should be reported at once and not in the middle of a
 * script. The trial has a Lua state of its own, so that nothing of it stays: the script's first
 * device has the same number as without a trial.
 */
#include "trial.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run.h"

int luaopen_streamlab(lua_State *L); /* bindings/ */

static void set_text(lua_State *L, const char *name, const char *text)
{
    if (!text) return;
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

void trial_set_device(lua_State *L, const options *o)
{
    set_text(L, "backend", o->backend);
    set_text(L, "profile", o->profile);
    set_text(L, "host", o->host);
    if (o->devices > 0) {
        lua_pushinteger(L, o->devices);
        lua_setfield(L, -2, "devices");
    }
    if (o->has_device) {
        lua_pushinteger(L, o->device);
        lua_setfield(L, -2, "index");
    }
}

/* ---- the trial --------------------------------------------------------------- */

/* Pushes the sentence for the error value on the stack's top. */
static void push_sentence(lua_State *L)
{
    if (lua_istable(L, -1) || lua_isuserdata(L, -1)) lua_getfield(L, -1, "message");
    luaL_tolstring(L, -1, NULL);
}

static int ignore(lua_State *L)
{
    (void)L;
    return 0;
}

/* Light userdata: the options. Returns nothing, or a sentence. */
static int try_device(lua_State *L)
{
    const options *o = lua_touserdata(L, 1);
    if (o->ignore_environment) {
        lua_pushboolean(L, 1);
        lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
    }
    luaL_openlibs(L);
    lua_newtable(L);
    trial_set_device(L, o);
    lua_pushcfunction(L, ignore);
    lua_setfield(L, -2, "notice");
    lua_setfield(L, LUA_REGISTRYINDEX, "streamlab.defaults");
    luaL_requiref(L, "streamlab", luaopen_streamlab, 0);
    lua_getfield(L, -1, "device");
    if (lua_pcall(L, 0, 0, 0) == LUA_OK) return 0;
    push_sentence(L);
    return 1;
}

/* Whether the profile comes from a pipe or the like: "--profile <(sed ... t4.lua)". */
static bool can_read_once(const char *profile)
{
    struct stat info;
    return profile && strchr(profile, '/') && stat(profile, &info) == 0 && !S_ISREG(info.st_mode)
           && !S_ISDIR(info.st_mode);
}

/* Whether it is the simulated GPU that is built in as the default: that opens, and takes longer to
 * open than all else that the program does before a script runs. */
static bool is_built_in(const options *o)
{
    if (strcmp(o->backend, "sim") != 0) return false;
    return o->ignore_environment
           || (!getenv("STREAMLAB_PROFILE") && !getenv("STREAMLAB_HOST")
               && !getenv("STREAMLAB_DEVICE"));
}

bool trial_open(const options *o, char *message, int message_bytes)
{
    if (!o->profile && !o->host && !o->has_device && (!o->backend || is_built_in(o))) return true;
    if (can_read_once(o->profile) || can_read_once(o->host))
        return true; /* a trial would read it, and the run would find it empty */
    lua_State *L = memory_new_state();
    if (!L) {
        snprintf(message, (size_t)message_bytes, "not enough memory");
        return false;
    }
    lua_pushcfunction(L, try_device);
    lua_pushlightuserdata(L, (void *)o);
    bool fine = lua_pcall(L, 1, 1, 0) == LUA_OK && lua_isnil(L, -1);
    if (!fine) {
        const char *sentence = lua_tostring(L, -1);
        snprintf(message, (size_t)message_bytes, "%s", sentence ? sentence : "no device");
    }
    lua_close(L);
    return fine;
}
