/* server.c - reads requests, and runs the entries in them.
 *
 * repl/server/server.lua reads what a request says and answers all but the running of entries,
 * which begins and ends outside of the program's own Lua, as at the prompt.
 */
#include "server.h"

#include <lauxlib.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../console/console.h"
#include "../console/entry.h"
#include "../run/embedded.h"
#include "../run/run.h"
#include "../run/signals.h"

static const char server_file[] = "repl/server/server.lua";
static const char key[] = "streamlab.server";

static server *get_server(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, key);
    server *s = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return s;
}

/* ---- for server.lua ----------------------------------------------------------- */

/* send(line, bytes): after what was printed */
static int send_reply(lua_State *L)
{
    size_t n, n_bytes;
    const char *line = luaL_checklstring(L, 1, &n), *bytes = luaL_optlstring(L, 2, "", &n_bytes);
    server *s = get_server(L);
    fflush(stdout);
    fflush(stderr);
    bool sent = channel_write(&s->channel, line, n) && channel_write(&s->channel, "\n", 1)
                && channel_write(&s->channel, bytes, n_bytes);
    if (!sent) return embedded_fail(L, "nobody reads the replies");
    return 0;
}

/* receive(n, keep): the n bytes behind the request's line, dropped unless `keep` */
static int receive(lua_State *L)
{
    size_t n = (size_t)luaL_checkinteger(L, 1);
    server *s = get_server(L);
    if (!lua_toboolean(L, 2)) {
        channel_read(&s->channel, NULL, n);
        return 0;
    }
    luaL_Buffer buffer;
    char *to = luaL_buffinitsize(L, &buffer, n);
    if (!channel_read(&s->channel, to, n))
        return embedded_fail(L, "fewer than %I bytes follow", (LUAI_UACINT)n);
    luaL_pushresultsize(&buffer, n);
    return 1;
}

/* entry_state(code): "complete", "incomplete" or "invalid" */
static int entry_state(lua_State *L)
{
    bool more = false, silent;
    luaL_checkstring(L, 1);
    lua_settop(L, 1);
    bool whole = entry_is_command(L)
                 || entry_compile(L, get_server(L)->n_chunks + 1, &more, &silent) == LUA_OK;
    lua_pushstring(L, whole ? "complete" : more ? "incomplete" : "invalid");
    return 1;
}

static void add_functions(lua_State *L, server *s)
{
    static const luaL_Reg functions[] = {
        { "send", send_reply },
        { "receive", receive },
        { "entry_state", entry_state },
        { NULL, NULL },
    };
    lua_pushlightuserdata(L, s);
    lua_setfield(L, LUA_REGISTRYINDEX, key);
    embedded_add(L, functions);
}

/* ---- requests ------------------------------------------------------------------- */

/* Calls the function `name` of server.lua with the stack's top `n_args` values. */
static int call_server(lua_State *L, const char *name, int n_args, int n_results)
{
    embedded_function(L, server_file, name);
    lua_insert(L, -n_args - 1);
    return run_call(L, n_args, n_results);
}

/* Replies with the error on the stack's top. */
static void reply_failed(lua_State *L, int status)
{
    run_push_report(L, status);
    run_report(L, call_server(L, "failed", 1, 0));
}

/* The entry at index 1; its values or its error come from index 2 on. */
static int run_entry(lua_State *L, server *s, bool *silent)
{
    bool more;
    if (!entry_obey_commands(L)) return LUA_OK;
    int status = entry_compile(L, s->n_chunks + 1, &more, silent);
    entry_keep_text(L, ++s->n_chunks);
    if (status == LUA_OK) status = entry_run(L, s->n_chunks);
    return status;
}

/* The code at index 1: runs it and replies. */
static void answer_run(lua_State *L, server *s)
{
    bool silent = false;
    int status = run_entry(L, s, &silent), n = lua_gettop(L) - 1;
    if (status == LUA_OK && n > 0) entry_keep_value(L, s->n_chunks);
    if (status == LUA_OK) {
        lua_pushinteger(L, s->n_chunks);
        lua_pushboolean(L, silent);
        lua_rotate(L, 2, 2);
        status = call_server(L, "ran", n + 2, 0);
    }
    if (status != LUA_OK) reply_failed(L, status);
}

/* Protected; the light userdata is the server, and the other argument a request's line, false for
 * one that was too long. Returns the request's name if there is more to do outside. */
static int answer(lua_State *L)
{
    server *s = lua_touserdata(L, 1);
    lua_remove(L, 1);
    int status = call_server(L, "answer", 1, 2);
    if (status != LUA_OK) {
        reply_failed(L, status);
        return 0;
    }
    lua_insert(L, 1);
    if (!lua_isstring(L, 2) || strcmp(lua_tostring(L, 2), "run") != 0) return 1;
    lua_settop(L, 1);
    answer_run(L, s);
    return 0;
}

/* Answers the next request. False: there was none; *word is "quit" or "reset" after such a
 * request, "" after others. */
static bool serve(lua_State *L, server *s, char *word, size_t word_bytes)
{
    const char *line;
    size_t len;
    lua_settop(L, 0);
    word[0] = '\0';
    channel_result result = channel_read_line(&s->channel, &line, &len);
    if (result == CHANNEL_END) return false;
    lua_pushcfunction(L, answer);
    lua_pushlightuserdata(L, s);
    if (result == CHANNEL_LINE)
        lua_pushlstring(L, line, len);
    else
        lua_pushboolean(L, false);
    if (run_report(L, lua_pcall(L, 2, 1, 0)) == LUA_OK && lua_isstring(L, -1))
        snprintf(word, word_bytes, "%s", lua_tostring(L, -1));
    return true;
}

bool server_open(server *s, int in, int out, char *message, int message_bytes)
{
    *s = (server){ .n_chunks = 0 };
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    return channel_open(&s->channel, in, out, message, message_bytes);
}

void server_close(server *s) { channel_close(&s->channel); }

bool server_run(lua_State *L, server *s)
{
    struct sigaction before;
    char word[8] = "";
    s->n_chunks = 0;
    add_functions(L, s);
    signals_ignore_interrupts(&before);
    entry_tell_console(L, "open");
    run_report(L, call_server(L, "open", 0, 0));
    while (word[0] == '\0' && serve(L, s, word, sizeof word))
        continue;
    sigaction(SIGINT, &before, NULL);
    lua_settop(L, 0);
    console_close(L);
    return strcmp(word, "reset") == 0;
}
