/* console.c - reads entries and runs each: the REPL, and -i.
 *
 * An entry is a chunk of Lua (compile.h) or a line for the console itself (".help", "?x", "!ls"),
 * which begins as no Lua does. While a chunk is incomplete, which the compiler shows by an
 * error that ends in "<eof>", the next line is added to it. The n-th chunk is named "lab[n]",
 * and its text is kept for those who quote lines:
 * registry["streamlab.entries"]["=lab[n]"].
 *
 * repl/console/console.lua shows values and runs the console's own lines.
 */
#include "console.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../editor/reader.h"
#include "../run/embedded.h"
#include "../run/run.h"
#include "../run/sources.h"
#include "compile.h"

static const char console_file[] = "repl/console/console.lua";

enum { CHUNK_NAME_BYTES = 32 };

typedef struct console {
    lua_State *L;
    reader reader;
    int n_chunks;    /* that were compiled */
    bool remembered; /* the entry is in the history already */
} console;

/* ---- prompts ---------------------------------------------------------------- */

/* Whether prompts are to have colours. */
static bool has_colour(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.internals");
    lua_getfield(L, -1, "colour");
    lua_pushinteger(L, STDOUT_FILENO);
    lua_call(L, 1, 1);
    bool colour = lua_toboolean(L, -1);
    lua_pop(L, 2);
    return colour;
}

/* Pushes the global by a raw access: an error in a metamethod of the user's would come at every
 * prompt, before the user could type anything to correct it. */
static int push_raw_global(lua_State *L, const char *name)
{
    lua_pushglobaltable(L);
    lua_pushstring(L, name);
    int type = lua_rawget(L, -2);
    lua_remove(L, -2);
    return type;
}

/* Pushes the prompt for an entry's first line, or for the others. */
static const char *push_prompt(const console *c, bool first)
{
    lua_State *L = c->L;
    push_raw_global(L, first ? "_PROMPT" : "_PROMPT2");
    if (lua_isstring(L, -1)) return lua_tostring(L, -1);
    lua_pop(L, 1);
    bool colour = c->reader.editor && has_colour(L);
    const char *begin = colour ? "\033[32m" : "", *end = colour ? "\033[0m" : "";
    if (!first) return lua_pushfstring(L, "%s...>%s ", begin, end);
    return lua_pushfstring(L, "%slab[%d]>%s ", begin, c->n_chunks + 1, end);
}

/* Pushes the next line without its newline if there is one. `before` is what the entry has
 * so far, "" for nothing. */
static reader_result push_line(console *c, const char *before)
{
    const char *prompt = "", *line;
    size_t len;
    int top = lua_gettop(c->L);
    if (c->reader.terminal) prompt = push_prompt(c, before[0] == '\0');
    reader_result result = reader_read(&c->reader, prompt, before, &line, &len);
    lua_settop(c->L, top);
    if (result == READER_LINE) lua_pushlstring(c->L, line, len);
    return result;
}

/* ---- entries -------------------------------------------------------------- */

/* Whether the line at index 1 is for the console: ".word", "?", "!". */
static bool is_command(lua_State *L)
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

/* Whether the line at index 1 is "exit" or "quit", also as a call, and no variable of the
 * user's. */
static bool is_farewell(lua_State *L)
{
    static const char *const words[] = { "exit", "quit" };
    const char *line = lua_tostring(L, 1);
    line += strspn(line, " \t");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i]);
        if (strncmp(line, words[i], n) != 0) continue;
        const char *rest = line + n;
        rest += strncmp(rest, "()", 2) == 0 ? 2 : 0;
        rest += strspn(rest, " \t\r\n;");
        bool taken = push_raw_global(L, words[i]) != LUA_TNIL;
        lua_pop(L, 1);
        return *rest == '\0' && !taken;
    }
    return false;
}

/* Keeps the text at index 1 under the chunk's name; "=expression" as the Lua that it is. */
static void keep_text(lua_State *L, const char *name)
{
    const char *text = lua_tostring(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "streamlab.entries");
    if (text[0] == '=')
        lua_pushfstring(L, "return %s", text + 1);
    else
        lua_pushvalue(L, 1);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

/* Compiles the entry that begins with the text at index 1, after adding further lines to it
 * as long as it is incomplete. Pushes its function or an error. False: the user has dropped
 * the entry. */
static bool read_chunk(console *c, int *status, bool *silent)
{
    lua_State *L = c->L;
    char name[CHUNK_NAME_BYTES];
    snprintf(name, sizeof name, "=lab[%d]", c->n_chunks + 1);
    bool more;
    while ((*status = compile_entry(L, 1, name, &more, silent)) != LUA_OK && more) {
        lua_pushvalue(L, 1);
        lua_pushliteral(L, "\n");
        lua_concat(L, 2);
        reader_result result = push_line(c, lua_tostring(L, -1));
        if (result == READER_END && !c->reader.terminal) {
            lua_pop(L, 1); /* the error stays */
            break;
        }
        if (result != READER_LINE) return false;
        lua_concat(L, 2);
        lua_replace(L, 1);
        lua_pop(L, 1); /* the error */
    }
    if (!c->remembered) reader_remember(&c->reader, lua_tostring(L, 1));
    c->n_chunks++;
    keep_text(L, name);
    return true;
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

/* The values from index 2 on: the first becomes the global `_` and Out[n], and all are shown. */
static void take_values(const console *c, bool silent)
{
    lua_State *L = c->L;
    if (lua_gettop(L) < 2) return;
    lua_pushglobaltable(L);
    lua_pushliteral(L, "_");
    lua_pushvalue(L, 2);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    embedded_function(L, console_file, "keep");
    lua_pushinteger(L, c->n_chunks);
    lua_pushvalue(L, 2);
    run_report(L, run_call(L, 2, 0));
    if (!silent) call_console(L, "show");
}

/* Calls the function at index 2, whose results or error take its place. */
static int run_chunk_timed(lua_State *L)
{
    tell_protected(L, "before");
    int status = run_call(L, 0, LUA_MULTRET);
    luaL_checkstack(L, LUA_MINSTACK, "too many results");
    tell_protected(L, status == LUA_OK ? "after" : "after_error");
    return status;
}

/* The entry at index 1 is a chunk. */
static void run_chunk_entry(console *c)
{
    lua_State *L = c->L;
    bool silent;
    int status;
    if (!read_chunk(c, &status, &silent)) return;
    if (status == LUA_OK) {
        char name[CHUNK_NAME_BYTES];
        snprintf(name, sizeof name, "=lab[%d]", c->n_chunks);
        sources_look(L, name);
        status = run_chunk_timed(L);
    }
    if (run_report(L, status) == LUA_OK) take_values(c, silent);
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
    call_console(L, "command");
    if (n >= len) return false;
    lua_pushlstring(L, entry + n + 1, len - n - 1);
    lua_replace(L, 1);
    return true;
}

/* Protected; the console is the light userdata. True: there may be more entries. */
static int run_entry(lua_State *L)
{
    console *c = lua_touserdata(L, 1);
    lua_settop(L, 0);
    reader_result result = push_line(c, "");
    bool goes_on = result == READER_DROPPED;
    if (result == READER_LINE) {
        goes_on = !is_farewell(L);
        bool there = goes_on && !is_blank(L);
        c->remembered = there && is_command(L);
        if (c->remembered) reader_remember(&c->reader, lua_tostring(L, 1));
        while (there && is_command(L))
            there = run_command(L);
        if (there && !is_blank(L)) run_chunk_entry(c);
    }
    fflush(stdout);
    lua_pushboolean(L, goes_on);
    return 1;
}

void console_run(lua_State *L, const options *o, bool banner)
{
    console c = { .L = L };
    lua_settop(L, 0);
    tell_protected(L, "open");
    reader_open(&c.reader, &console_language, L);
    if (c.reader.terminal && !o->no_rc && !o->ignore_environment) rc_run(L);
    if (banner && c.reader.terminal && c.reader.prompts == stdout) tell_protected(L, "banner");
    for (bool more = true; more;) {
        lua_settop(L, 0);
        lua_pushcfunction(L, run_entry);
        lua_pushlightuserdata(L, &c);
        if (run_report(L, lua_pcall(L, 1, 1, 0)) == LUA_OK) more = lua_toboolean(L, -1);
    }
    lua_settop(L, 0);
    reader_close(&c.reader);
    console_close(L);
}

void console_close(lua_State *L)
{
    if (embedded_is_imported(L, console_file)) tell_protected(L, "close");
}
