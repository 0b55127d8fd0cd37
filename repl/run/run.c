/* run.c - runs chunks of Lua and reports their errors.
 *
 * What lua.c does, with the program's own traceback and interrupt. repl/run/errors/errors.lua
 * composes the text of an error, with its line and a hint; if that fails too, the plain message
 * is printed.
 */
#include "run.h"

#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "embedded.h"
#include "ctrl_c.h"
#include "sources.h"
#include "traceback.h"

void lsl_put_safe(const char *text, FILE *file); /* bindings/ */

static void put_message(const char *text, void (*put)(const char *text, FILE *file))
{
    fflush(stdout);
    fputs("streamlab: ", stderr);
    put(text, stderr);
    fputc('\n', stderr);
    fflush(stderr);
}

void run_message(const char *text) { put_message(text, lsl_put_safe); }

static void put_as_it_is(const char *text, FILE *file) { fputs(text, file); }

void run_coloured_message(const char *text) { put_message(text, put_as_it_is); }

void run_push_report(lua_State *L, int status)
{
    traceback_take_report(L);
    lua_pushboolean(L, status == LUA_ERRSYNTAX);
    lua_setfield(L, -2, "syntax");
}

/* Protected. Arguments: the error value, which is a text, and its status. Returns the text
 * that the user is to see. */
static int describe(lua_State *L)
{
    int status = (int)lua_tointeger(L, 2);
    lua_settop(L, 1);
    run_push_report(L, status);
    embedded_function(L, "repl/run/errors/errors.lua", "text");
    lua_insert(L, -2);
    lua_call(L, 1, 1);
    return 1;
}

int run_report(lua_State *L, int status)
{
    if (status == LUA_OK) return status;
    int value = lua_gettop(L);
    const char *text = lua_tostring(L, value), *described = NULL;
    if (text && !traceback_wants_all() && lua_checkstack(L, 4)) {
        lua_pushcfunction(L, describe);
        lua_pushvalue(L, value);
        lua_pushinteger(L, status);
        if (lua_pcall(L, 2, 1, 0) == LUA_OK && lua_type(L, -1) == LUA_TSTRING)
            described = lua_tostring(L, -1);
    }
    if (described)
        run_coloured_message(described);
    else
        run_message(text ? text : "(error message is no text)");
    lua_settop(L, value - 1);
    return status;
}

int run_call(lua_State *L, int n_args, int n_results)
{
    int base = lua_gettop(L) - n_args;
    lua_pushcfunction(L, traceback_handler);
    lua_insert(L, base);
    lua_State *before = interrupt_arm(L);
    int status = lua_pcall(L, n_args, n_results, base);
    interrupt_disarm(L, before, status);
    if (interrupt_ended_run()) traceback_mark_interrupted(L);
    if (interrupt_came() && isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        fputc('\n', stderr); /* the terminal has shown ^C */
    lua_remove(L, base);
    return status;
}

static int call_loaded(lua_State *L, int status)
{
    return run_report(L, status == LUA_OK ? run_call(L, 0, 0) : status);
}

static int run_string(lua_State *L, const char *text, const char *name)
{
    sources_note_text(L, name, text);
    int status = luaL_loadbuffer(L, text, strlen(text), name);
    if (status == LUA_OK) sources_look(L, name);
    return call_loaded(L, status);
}

int run_environment(lua_State *L)
{
    const char *name = "=LUA_INIT_5_4";
    const char *init = getenv(name + 1);
    if (!init) {
        name = "=LUA_INIT";
        init = getenv(name + 1);
    }
    if (!init) return LUA_OK;
    if (init[0] == '@') return call_loaded(L, sources_load_file(L, init + 1, NULL));
    return run_string(L, init, name);
}

/* MOD, or G=MOD: the global G := require "MOD". */
static int run_library(lua_State *L, const char *text)
{
    const char *equals = strchr(text, '=');
    lua_getglobal(L, "require");
    lua_pushstring(L, equals ? equals + 1 : text);
    int status = run_call(L, 1, 1);
    if (status != LUA_OK) return run_report(L, status);
    lua_pushlstring(L, text, equals ? (size_t)(equals - text) : strlen(text));
    lua_insert(L, -2);
    lua_pushglobaltable(L);
    lua_insert(L, -3);
    lua_settable(L, -3);
    lua_pop(L, 1);
    return LUA_OK;
}

int run_chunk(lua_State *L, const chunk *c)
{
    if (c->letter == 'e') return run_string(L, c->text, "=(command line)");
    return run_library(L, c->text);
}

/* Calls the function at index 1 with arg[1], arg[2], ..., which the user's chunks may
 * have changed: `arg` may be anything, and its length too. */
static int call_with_arguments(lua_State *L)
{
    if (lua_getglobal(L, "arg") != LUA_TTABLE) return luaL_error(L, "'arg' is not a table");
    lua_Integer length = luaL_len(L, 2);
    int n = length < 0 ? 0 : length > INT_MAX ? INT_MAX : (int)length;
    lua_pushvalue(L, 1);
    luaL_checkstack(L, n, "too many arguments to script");
    for (int i = 1; i <= n; i++)
        lua_rawgeti(L, 2, i);
    lua_call(L, n, 0);
    return 0;
}

int run_script(lua_State *L, const char *path)
{
    lua_pushcfunction(L, call_with_arguments);
    int status = strcmp(path, "-") == 0 ? sources_load_stdin(L) : sources_load_file(L, path, NULL);
    if (status == LUA_OK) return run_report(L, run_call(L, 1, 0));
    lua_remove(L, -2);
    return run_report(L, status);
}
