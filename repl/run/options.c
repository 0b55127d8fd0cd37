/* options.c - the program's command line, read into a struct.
 *
 * The options are described in repl/usage/program.lua, and read by repl/run/options.lua, in a Lua
 * state that has the libraries alone which that needs: which others it gets, they say themselves.
 */
#include "options.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "coroutines.h"
#include "embedded.h"
#include "run.h"

int lsl_nearest(lua_State *L); /* bindings/: core.nearest(name, names) */

/* The options that are words, and those that are given or not. */
static const struct field {
    const char *name;
    size_t at;
} words[] = {
    { "backend", offsetof(options, backend) }, { "profile", offsetof(options, profile) },
    { "host", offsetof(options, host) },       { "trace", offsetof(options, trace) },
    { "display", offsetof(options, display) }, { "color", offsetof(options, colour) },
    { "check", offsetof(options, check) },     { "problem", offsetof(options, problem) },
    { "text", offsetof(options, help) },
}, flags[] = {
    { "i", offsetof(options, interactive) },        { "tune", offsetof(options, tune) },
    { "v", offsetof(options, show_version) },       { "W", offsetof(options, warnings) },
    { "E", offsetof(options, ignore_environment) }, { "norc", offsetof(options, no_rc) },
};

/* The integer t[key] of the table on the stack's top; or `none`. */
static lua_Integer integer_of(lua_State *L, const char *key, lua_Integer none)
{
    lua_Integer value = lua_getfield(L, -1, key) == LUA_TNIL ? none : lua_tointeger(L, -1);
    lua_pop(L, 1);
    return value;
}

static bool is_given(lua_State *L, const char *key)
{
    bool given = lua_getfield(L, -1, key) != LUA_TNIL && lua_toboolean(L, -1);
    lua_pop(L, 1);
    return given;
}

/* The i-th item of the list on the stack's top, which keeps the text alive. */
static const char *text_at(lua_State *L, int i)
{
    lua_rawgeti(L, -1, i);
    const char *text = lua_tostring(L, -1);
    lua_pop(L, 1);
    return text;
}

static void take_lists(lua_State *L, options *o)
{
    if (lua_getfield(L, -1, "server") == LUA_TTABLE) {
        o->server = true;
        lua_rawgeti(L, -1, 1);
        lua_rawgeti(L, -2, 2);
        o->requests = (int)lua_tointeger(L, -2);
        o->replies = (int)lua_tointeger(L, -1);
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
    if (lua_getfield(L, -1, "chunks") == LUA_TTABLE) {
        o->n_chunks = (int)lua_rawlen(L, -1);
        for (int i = 0; i < o->n_chunks; i++) {
            lua_rawgeti(L, -1, i + 1);
            o->chunks[i].letter = *text_at(L, 1);
            o->chunks[i].text = text_at(L, 2);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

/* What is in the table on the stack's top. */
static void take(lua_State *L, options *o, int argc)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (lua_getfield(L, -1, words[i].name) == LUA_TSTRING)
            *(const char **)((char *)o + words[i].at) = lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        *(bool *)((char *)o + flags[i].at) = is_given(L, flags[i].name);
    o->has_device = is_given(L, "device");
    o->has_seed = is_given(L, "seed");
    o->device = integer_of(L, "device", 0);
    o->seed = integer_of(L, "seed", 0);
    o->devices = (int)integer_of(L, "devices", 0);
    o->spread = (int)integer_of(L, "spread", 0);
    o->script = (int)integer_of(L, "script", argc);
    take_lists(L, o);
    o->request = is_given(L, "help")         ? REQUEST_HELP
                 : is_given(L, "version")    ? REQUEST_VERSION
                 : is_given(L, "subcommand") ? REQUEST_SUBCOMMAND
                                             : REQUEST_RUN;
}

/* Protected. Arguments: light userdata, the options and argv; argc. What it leaves in the registry
 * keeps the texts alive. */
static int read(lua_State *L)
{
    static const luaL_Reg libraries[] = {
        { LUA_GNAME, luaopen_base },
        { LUA_STRLIBNAME, luaopen_string },
        { LUA_TABLIBNAME, luaopen_table },
        { LUA_MATHLIBNAME, luaopen_math },
        { LUA_OSLIBNAME, luaopen_os },
        { LUA_DBLIBNAME, luaopen_debug },
        { NULL, NULL },
    };
    options *o = lua_touserdata(L, 1);
    char **argv = lua_touserdata(L, 2);
    int argc = (int)lua_tointeger(L, 3);
    lua_gc(L, LUA_GCSTOP); /* nearly all of it stays */
    for (const luaL_Reg *library = libraries; library->func; library++) {
        luaL_requiref(L, library->name, library->func, 1);
        lua_pop(L, 1);
    }
    lua_newtable(L);
    lua_pushcfunction(L, lsl_nearest);
    lua_setfield(L, -2, "nearest");
    lua_setfield(L, LUA_REGISTRYINDEX, "streamlab.internals");
    embedded_open(L, coroutines_own_pcall);
    embedded_function(L, "repl/run/options.lua", "read");
    embedded_import(L, "repl/usage/program.lua");
    lua_createtable(L, argc, 0);
    for (int i = 1; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i);
    }
    lua_call(L, 2, 1);
    take(L, o, argc);
    lua_setfield(L, LUA_REGISTRYINDEX, "streamlab.options");
    return 0;
}

bool options_read(options *o, chunk *chunks, int argc, char **argv)
{
    memset(o, 0, sizeof *o);
    o->chunks = chunks;
    o->colour = "auto";
    o->script = argc;
    o->state = memory_new_state();
    if (!o->state) return false;
    lua_pushcfunction(o->state, read);
    lua_pushlightuserdata(o->state, o);
    lua_pushlightuserdata(o->state, argv);
    lua_pushinteger(o->state, argc);
    return lua_pcall(o->state, 3, 0, 0) == LUA_OK;
}

void options_close(options *o)
{
    if (o->state) lua_close(o->state);
}
