/* entry.c - an entry of the console, and what is done with it.
 *
 * repl/console/console.lua shows values and runs the console's own lines.
 */
#include "entry.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "../run/embedded.h"
#include "../run/ctrl_c.h"
#include "../run/run.h"
#include "../run/sources.h"
#include "compile.h"
#include "console.h"

static const char console_file[] = "repl/console/console.lua";

enum { CHUNK_NAME_BYTES = 32 };

static const char *chunk_name(char *name, int n)
{
    snprintf(name, CHUNK_NAME_BYTES, "=lab[%d]", n);
    return name;
}

/* ---- console.lua ------------------------------------------------------------ */

/* Calls a function and reports its error. But where SIGINT is to end more than this call, its error
 * is raised: within the run of a server's request. */
static void call_and_report(lua_State *L, int n_args)
{
    int status = run_call(L, n_args, 0);
    if (status != LUA_OK && interrupt_is_pending()) lua_error(L);
    run_report(L, status);
}

void entry_call_console(lua_State *L, const char *name)
{
    int n = lua_gettop(L) - 1;
    embedded_function(L, console_file, name);
    lua_insert(L, 2);
    call_and_report(L, n);
}

/* Calls the function of console.lua that is named by the argument. */
static int tell_console(lua_State *L)
{
    embedded_function(L, console_file, lua_tostring(L, 1));
    lua_call(L, 0, 0);
    return 0;
}

void entry_tell_console(lua_State *L, const char *name)
{
    lua_pushcfunction(L, tell_console);
    lua_pushstring(L, name);
    call_and_report(L, 1);
}

void console_close(lua_State *L)
{
    if (embedded_is_imported(L, console_file)) entry_tell_console(L, "close");
}

/* ---- lines for the console ---------------------------------------------------- */

bool entry_is_command(lua_State *L)
{
    const char *line = lua_tostring(L, 1);
    line += strspn(line, " \t");
    return line[0] == '?' || line[0] == '!' || (line[0] == '.' && line[1] >= 'a' && line[1] <= 'z');
}

static bool is_blank(lua_State *L)
{
    const char *line = lua_tostring(L, 1);
    return line[strspn(line, " \t\r\n")] == '\0';
}

/* The entry at index 1 begins with a line for the console. Of a pasted block the other lines
 * are an entry of their own, which takes its place; false: there are none. */
static bool run_command(lua_State *L)
{
    size_t len;
    const char *entry = lua_tolstring(L, 1, &len);
    size_t n = strcspn(entry, "\n");
    lua_settop(L, 1);
    lua_pushlstring(L, entry, n);
    entry_call_console(L, "command");
    if (n >= len) return false;
    lua_pushlstring(L, entry + n + 1, len - n - 1);
    lua_replace(L, 1);
    return true;
}

bool entry_obey_commands(lua_State *L)
{
    bool there = true;
    while (there && entry_is_command(L))
        there = run_command(L);
    return there && !is_blank(L);
}

/* ---- chunks ------------------------------------------------------------------- */

int entry_compile(lua_State *L, int n, bool *more, bool *silent)
{
    char name[CHUNK_NAME_BYTES];
    return compile_entry(L, 1, chunk_name(name, n), more, silent);
}

void entry_keep_text(lua_State *L, int n)
{
    char name[CHUNK_NAME_BYTES];
    const char *text = lua_tostring(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "streamlab.entries");
    if (text[0] == '=')
        lua_pushfstring(L, "return %s", text + 1);
    else
        lua_pushvalue(L, 1);
    lua_setfield(L, -2, chunk_name(name, n));
    lua_pop(L, 1);
}

int entry_run(lua_State *L, int n)
{
    char name[CHUNK_NAME_BYTES];
    sources_look(L, chunk_name(name, n));
    entry_tell_console(L, "before");
    int status = run_call(L, 0, LUA_MULTRET);
    if (status != LUA_OK) interrupt_forget(L); /* the entry was what it ended */
    luaL_checkstack(L, LUA_MINSTACK, "too many results");
    entry_tell_console(L, status == LUA_OK ? "after" : "after_error");
    return status;
}

void entry_keep_value(lua_State *L, int n)
{
    lua_pushglobaltable(L);
    lua_pushliteral(L, "_");
    lua_pushvalue(L, 2);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    embedded_function(L, console_file, "keep");
    lua_pushinteger(L, n);
    lua_pushvalue(L, 2);
    call_and_report(L, 2);
}
