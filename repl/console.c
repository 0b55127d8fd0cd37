/* console.c - reads entries from stdin and runs each: the REPL, and -i.
 *
 * An entry is a chunk of Lua, "=expression" as in lua5.4, or a line for the console itself
 * (".help", "?x"), which begins as no Lua does. A chunk is tried as an expression first
 * ("return ENTRY"). If it is neither an expression nor complete, which the compiler shows
 * by an error that ends in "<eof>", the next line is added to it. The n-th chunk is named
 * "lab[n]", and its text is kept for those who quote lines:
 * registry["streamlab.entries"]["=lab[n]"].
 *
 * What is done with values and with lines for the console is in repl/console/console.lua.
 */
#include "console.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "embedded.h"
#include "run.h"

static const char console_file[] = "repl/console/console.lua";

enum { CHUNK_NAME_BYTES = 32 };

typedef struct console {
    lua_State *L;
    bool terminal;          /* stdin is one */
    int n_chunks;           /* that were compiled */
} console;

bool console_from_terminal(void)
{
    return isatty(STDIN_FILENO);
}

/* ---- lines -------------------------------------------------------------- */

static void show_prompt(const console *c, bool first)
{
    lua_State *L = c->L;
    if (!c->terminal)
        return;
    int top = lua_gettop(L);
    lua_getglobal(L, first ? "_PROMPT" : "_PROMPT2");
    if (!lua_isstring(L, -1))
        lua_pushfstring(L, first ? "lab[%d]> " : "...> ", c->n_chunks + 1);
    fputs(lua_tostring(L, -1), stdout);
    fflush(stdout);
    lua_settop(L, top);
}

/* Pushes the next line without its newline; false at the end of stdin. */
static bool push_line(const console *c, bool first)
{
    show_prompt(c, first);
    luaL_Buffer line;
    luaL_buffinit(c->L, &line);
    int byte, n = 0;
    while ((byte = getchar()) != EOF && byte != '\n') {
        luaL_addchar(&line, (char)byte);
        n++;
    }
    luaL_pushresult(&line);
    if (byte != EOF || n > 0)
        return true;
    lua_pop(c->L, 1);
    return false;
}

/* ---- compiling ------------------------------------------------------------ */

/* Whether more lines could make a chunk of it. */
static bool is_incomplete(lua_State *L, int status)
{
    static const char mark[] = "<eof>";
    size_t len;
    const char *text = lua_tolstring(L, -1, &len);
    size_t n = sizeof mark - 1;
    return status == LUA_ERRSYNTAX && len >= n && strcmp(text + len - n, mark) == 0;
}

/* Whether the error on top is about the entry's very first word, where the parser got
 * nowhere: then the other reading of the entry has the better error. */
static bool is_about_first_word(lua_State *L, const char *entry)
{
    const char *near = strstr(lua_tostring(L, -1), " near '");
    if (!near)
        return false;
    near += strlen(" near '");
    size_t n = strcspn(near, "'");
    entry += strspn(entry, " \t\r\n");
    return n > 0 && strncmp(entry, near, n) == 0;
}

/* The entry is at index 1. Pushes the function "return ENTRY", or an error. */
static int load_expression(lua_State *L, const char *name)
{
    lua_pushliteral(L, "return ");
    lua_pushvalue(L, 1);
    lua_concat(L, 2);
    size_t len;
    const char *code = lua_tolstring(L, -1, &len);
    int status = luaL_loadbufferx(L, code, len, name, "t");
    lua_remove(L, -2);
    return status;
}

/* The same for an entry that ends in ";", which asks for silence; LUA_ERRRUN and nothing
 * for another one. */
static int load_silent(lua_State *L, const char *name)
{
    size_t len;
    const char *entry = lua_tolstring(L, 1, &len);
    while (len > 0 && strchr(" \t\r\n", entry[len - 1]))
        len--;
    if (len == 0 || entry[len - 1] != ';')
        return LUA_ERRRUN;
    lua_pushliteral(L, "return ");
    lua_pushlstring(L, entry, len - 1);
    lua_concat(L, 2);
    const char *code = lua_tolstring(L, -1, &len);
    int status = luaL_loadbufferx(L, code, len, name, "t");
    lua_remove(L, -2);
    if (status != LUA_OK)
        lua_pop(L, 1);
    return status;
}

/* The entry is at index 1. Pushes its function or an error; *more: further lines could
 * complete it. *silent: its values are not shown. */
static int load_entry(lua_State *L, const char *name, bool *more, bool *silent)
{
    size_t len;
    const char *entry = lua_tolstring(L, 1, &len);
    *more = false;
    *silent = load_silent(L, name) == LUA_OK;
    if (*silent || load_expression(L, name) == LUA_OK)
        return LUA_OK;
    int status = luaL_loadbufferx(L, entry, len, name, "t");
    if (status == LUA_OK) {
        lua_remove(L, -2);
        return LUA_OK;
    }
    *more = is_incomplete(L, status);
    bool expression_fits = is_about_first_word(L, entry);
    if (!*more) {       /* neither reading of the entry is right, so far */
        lua_pushvalue(L, -2);
        *more = is_incomplete(L, LUA_ERRSYNTAX);
        lua_pop(L, 1);
    }
    lua_remove(L, expression_fits ? -1 : -2);
    return status;
}

/* ---- entries -------------------------------------------------------------- */

/* Whether the line at index 1 is for the console: ".word", "?". */
static bool is_command(lua_State *L)
{
    const char *line = lua_tostring(L, 1);
    line += strspn(line, " \t");
    return line[0] == '?' || (line[0] == '.' && line[1] >= 'a' && line[1] <= 'z');
}

/* Makes "return expr" of the line "=expr" at index 1. */
static void replace_equals(lua_State *L)
{
    size_t len;
    const char *line = lua_tolstring(L, 1, &len);
    if (line[0] != '=')
        return;
    lua_pushliteral(L, "return ");
    lua_pushlstring(L, line + 1, len - 1);
    lua_concat(L, 2);
    lua_replace(L, 1);
}

static bool is_blank(lua_State *L)
{
    const char *line = lua_tostring(L, 1);
    return line[strspn(line, " \t\r\n")] == '\0';
}

/* Keeps the text at index 1 under the chunk's name. */
static void keep_text(lua_State *L, const char *name)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "streamlab.entries");
    lua_pushvalue(L, 1);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

/* Compiles the entry that begins with the line at index 1, after adding further lines to
 * it as long as it is incomplete. Pushes its function or an error. */
static int read_chunk(console *c, bool *silent)
{
    lua_State *L = c->L;
    char name[CHUNK_NAME_BYTES];
    snprintf(name, sizeof name, "=lab[%d]", c->n_chunks + 1);
    replace_equals(L);
    bool more;
    int status;
    while ((status = load_entry(L, name, &more, silent)) != LUA_OK && more) {
        if (!push_line(c, false))
            break;
        lua_remove(L, 2);               /* the error */
        lua_pushliteral(L, "\n");
        lua_insert(L, 2);
        lua_concat(L, 3);
    }
    c->n_chunks++;
    keep_text(L, name);
    return status;
}

/* Calls the function `name` of console.lua with the values from index 2 on, which it takes
 * from the stack. */
static void call_console(lua_State *L, const char *name)
{
    int n = lua_gettop(L) - 1;
    embedded_function(L, console_file, name);
    lua_insert(L, 2);
    run_report(L, run_call(L, n, 0));
}

/* Calls the function of console.lua that is named by the argument. */
static int tell_console(lua_State *L)
{
    embedded_function(L, console_file, lua_tostring(L, 1));
    lua_call(L, 0, 0);
    return 0;
}

static void tell_protected(lua_State *L, const char *name)
{
    lua_pushcfunction(L, tell_console);
    lua_pushstring(L, name);
    run_report(L, run_call(L, 1, 0));
}

/* The values from index 2 on: the first becomes the global `_`, and all are shown. */
static void take_values(lua_State *L, bool silent)
{
    if (lua_gettop(L) < 2)
        return;
    lua_pushglobaltable(L);
    lua_pushliteral(L, "_");
    lua_pushvalue(L, 2);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    if (!silent)
        call_console(L, "show");
}

/* Calls the function at index 2, whose results or error take its place. */
static int run_chunk_timed(lua_State *L)
{
    tell_protected(L, "before");
    int status = run_call(L, 0, LUA_MULTRET);
    tell_protected(L, status == LUA_OK ? "after" : "after_error");
    return status;
}

/* Protected; the console is the light userdata. True: there was an entry. */
static int run_entry(lua_State *L)
{
    console *c = lua_touserdata(L, 1);
    lua_settop(L, 0);
    if (!push_line(c, true))
        return 0;
    bool silent = false;
    if (is_command(L)) {
        lua_pushvalue(L, 1);
        call_console(L, "command");
    } else if (!is_blank(L)) {
        int status = read_chunk(c, &silent);
        if (status == LUA_OK)
            status = run_chunk_timed(L);
        if (run_report(L, status) == LUA_OK)
            take_values(L, silent);
    }
    fflush(stdout);
    lua_pushboolean(L, 1);
    return 1;
}

void console_run(lua_State *L, const options *o, bool banner)
{
    console c = {.L = L, .terminal = console_from_terminal()};
    (void)o;
    lua_settop(L, 0);
    tell_protected(L, "open");
    if (banner && c.terminal)
        tell_protected(L, "banner");
    for (bool more = true; more;) {
        lua_settop(L, 0);
        lua_pushcfunction(L, run_entry);
        lua_pushlightuserdata(L, &c);
        if (run_report(L, lua_pcall(L, 1, 1, 0)) == LUA_OK)
            more = lua_toboolean(L, -1);
    }
    lua_settop(L, 0);
    console_close(L);
    if (c.terminal)
        puts("");
}

void console_close(lua_State *L)
{
    if (embedded_is_imported(L, console_file))
        tell_protected(L, "close");
}
