/* console.c - reads entries (entry.h) and runs each: the REPL, and -i.
 *
 * While a chunk is incomplete, which the compiler shows by an error that ends in "<eof>", the next
 * line is added to it.
 */
#include "console.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../editor/reader.h"
#include "../run/run.h"
#include "entry.h"

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

/* Compiles the entry that begins with the text at index 1, after adding further lines to it
 * as long as it is incomplete. Pushes its function or an error. False: the user has dropped
 * the entry. */
static bool read_chunk(console *c, int *status, bool *silent)
{
    lua_State *L = c->L;
    bool more;
    while ((*status = entry_compile(L, c->n_chunks + 1, &more, silent)) != LUA_OK && more) {
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
    entry_keep_text(L, ++c->n_chunks);
    return true;
}

/* The entry at index 1 is a chunk. */
static void run_chunk_entry(console *c)
{
    lua_State *L = c->L;
    bool silent;
    int status;
    if (!read_chunk(c, &status, &silent)) return;
    if (status == LUA_OK) status = entry_run(L, c->n_chunks);
    if (run_report(L, status) != LUA_OK || lua_gettop(L) < 2) return;
    entry_keep_value(L, c->n_chunks);
    if (!silent) entry_call_console(L, "show");
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
        c->remembered = goes_on && entry_is_command(L);
        if (c->remembered) reader_remember(&c->reader, lua_tostring(L, 1));
        if (goes_on && entry_obey_commands(L)) run_chunk_entry(c);
    }
    fflush(stdout);
    lua_pushboolean(L, goes_on);
    return 1;
}

void console_run(lua_State *L, const options *o, bool banner)
{
    console c = { .L = L };
    lua_settop(L, 0);
    entry_tell_console(L, "open");
    reader_open(&c.reader, &console_language, L);
    if (c.reader.terminal && !o->no_rc && !o->ignore_environment) rc_run(L);
    if (banner && c.reader.terminal && c.reader.prompts == stdout) entry_tell_console(L, "banner");
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
