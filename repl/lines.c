/* lines.c - reads lines from stdin and runs each: -i, and no arguments at all.
 *
 * A line is tried as an expression ("return LINE") first; "=LINE" is one, as in
 * lua5.4. If it is neither an
 * expression nor complete, which the compiler shows by an error that ends in
 * "<eof>", the next line is added to it.
 */
#include "lines.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

static const char chunk_name[] = "=stdin";

bool lines_from_terminal(void)
{
    return isatty(STDIN_FILENO);
}

static void show_prompt(lua_State *L, bool first)
{
    if (!lines_from_terminal())
        return;
    int top = lua_gettop(L);
    if (lua_getglobal(L, first ? "_PROMPT" : "_PROMPT2") == LUA_TNIL)
        lua_pushstring(L, first ? "> " : ">> ");
    fputs(luaL_tolstring(L, -1, NULL), stdout);
    fflush(stdout);
    lua_settop(L, top);
}

/* Pushes the next line without its newline; false at the end of stdin. */
static bool push_line(lua_State *L, bool first)
{
    show_prompt(L, first);
    luaL_Buffer line;
    luaL_buffinit(L, &line);
    int c, n = 0;
    while ((c = getchar()) != EOF && c != '\n') {
        luaL_addchar(&line, (char)c);
        n++;
    }
    luaL_pushresult(&line);
    if (c != EOF || n > 0)
        return true;
    lua_pop(L, 1);
    return false;
}

static bool is_incomplete(lua_State *L, int status)
{
    static const char mark[] = "<eof>";
    size_t len;
    const char *text = lua_tolstring(L, -1, &len);
    size_t n = sizeof mark - 1;
    return status == LUA_ERRSYNTAX && len >= n && strcmp(text + len - n, mark) == 0;
}

/* The stack's top is a line; pushes the function "return LINE" if that compiles. */
static int load_expression(lua_State *L)
{
    const char *code = lua_pushfstring(L, "return %s;", lua_tostring(L, -1));
    int status = luaL_loadbuffer(L, code, strlen(code), chunk_name);
    lua_remove(L, -2);
    if (status != LUA_OK)
        lua_pop(L, 1);
    return status;
}

/* The stack's top is a line; pushes its function or an error, after adding
 * further lines to it as long as it is incomplete. */
static int load_statement(lua_State *L)
{
    for (;;) {
        size_t len;
        const char *code = lua_tolstring(L, -1, &len);
        int status = luaL_loadbuffer(L, code, len, chunk_name);
        if (!is_incomplete(L, status) || !push_line(L, false))
            return status;
        lua_remove(L, -2);
        lua_pushliteral(L, "\n");
        lua_insert(L, -2);
        lua_concat(L, 3);
    }
}

/* Makes "return expr" of the line "=expr" on the stack's top. */
static void replace_equals(lua_State *L)
{
    size_t len;
    const char *line = lua_tolstring(L, -1, &len);
    if (line[0] != '=')
        return;
    lua_pushliteral(L, "return ");
    lua_pushlstring(L, line + 1, len - 1);
    lua_concat(L, 2);
    lua_remove(L, -2);
}

/* Replaces the stack by one function or error; -1 at the end of stdin. */
static int load_next(lua_State *L)
{
    lua_settop(L, 0);
    if (!push_line(L, true))
        return -1;
    replace_equals(L);
    int status = load_expression(L);
    if (status != LUA_OK)
        status = load_statement(L);
    lua_remove(L, 1);
    return status;
}

static void print_results(lua_State *L)
{
    int n = lua_gettop(L);
    if (n == 0)
        return;
    luaL_checkstack(L, LUA_MINSTACK, "too many results to print");
    lua_getglobal(L, "print");
    lua_insert(L, 1);
    run_report(L, run_call(L, n, 0));
}

void lines_run(lua_State *L)
{
    int status;
    while ((status = load_next(L)) != -1) {
        if (status == LUA_OK)
            status = run_call(L, 0, LUA_MULTRET);
        if (run_report(L, status) == LUA_OK)
            print_results(L);
        fflush(stdout);
    }
    lua_settop(L, 0);
    if (lines_from_terminal())
        puts("");
}
