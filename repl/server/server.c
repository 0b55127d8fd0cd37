/* server.c - reads requests, and runs the entries in them.
 *
 * repl/server/server.lua reads what a request says and composes the answers. Entries begin and end
 * outside of the program's own Lua, as at the prompt.
 *
 * Each request has one answer, whatever happens. A request is read, and its answer written, outside
 * of the run that SIGINT can end: neither is ever cut off. A SIGINT that comes while a request is
 * read is for its run (on_sigint).
 */
#include "server.h"

#include <errno.h>
#include <lauxlib.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../console/console.h"
#include "../console/entry.h"
#include "../run/embedded.h"
#include "../run/ctrl_c.h"
#include "../run/run.h"

static const char server_file[] = "repl/server/server.lua";
static const char key[] = "streamlab.server";

enum { WORD_BYTES = 8 }; /* "quit", "reset" */

static server *get_server(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, key);
    server *s = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return s;
}

/* ---- for server.lua ----------------------------------------------------------- */

/* Writes a reply, after what was printed. False: nobody reads it. */
static bool write_reply(server *s, const char *line, size_t n, const char *bytes, size_t n_bytes)
{
    fflush(stdout);
    fflush(stderr);
    return channel_write(&s->channel, line, n) && channel_write(&s->channel, bytes, n_bytes);
}

/* send(line): an event */
static int send_event(lua_State *L)
{
    size_t n;
    const char *line = luaL_checklstring(L, 1, &n);
    if (!write_reply(get_server(L), line, n, "", 0))
        return embedded_fail(L, "nobody reads the replies");
    return 0;
}

/* receive(n, keep): the n bytes behind the request's line, dropped unless `keep` */
static int receive(lua_State *L)
{
    size_t n = (size_t)luaL_checkinteger(L, 1);
    server *s = get_server(L);
    s->n_behind = n;
    if (!lua_toboolean(L, 2)) return 0;
    luaL_Buffer buffer;
    char *to = luaL_buffinitsize(L, &buffer, n); /* without memory they are dropped */
    s->n_behind = 0;
    if (!channel_read(&s->channel, to, n))
        return embedded_fail(L, "fewer than %I bytes follow", (LUAI_UACINT)n);
    luaL_pushresultsize(&buffer, n);
    return 1;
}

/* note_id(text): the request's id as JSON, nil for none, for an answer that is made without Lua */
static int note_id(lua_State *L)
{
    size_t n;
    const char *text = luaL_optlstring(L, 1, "", &n);
    server *s = get_server(L);
    snprintf(s->id, sizeof s->id, "%s", n < sizeof s->id ? text : "");
    return 0;
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
        { "send", send_event },         { "receive", receive }, { "note_id", note_id },
        { "entry_state", entry_state }, { NULL, NULL },
    };
    lua_pushlightuserdata(L, s);
    lua_setfield(L, LUA_REGISTRYINDEX, key);
    embedded_add(L, functions);
}

/* ---- SIGINT -------------------------------------------------------------------- */

/* A handler reaches nothing but globals. */
static volatile sig_atomic_t answering;   /* a request, from its first byte to its answer */
static volatile sig_atomic_t requests_fd; /* where they come from */

/* Outside of runs: it is for the request that is being read or can be; without one it is for
 * nothing. */
static void on_sigint(int number)
{
    (void)number;
    int error = errno;
    struct pollfd in = { .fd = requests_fd, .events = POLLIN };
    if (answering || (poll(&in, 1, 0) > 0 && (in.revents & POLLIN))) interrupt_note_early();
    errno = error;
}

/* With a handler, not SIG_IGN, which programs that are started would inherit. */
static void take_sigint(int fd, struct sigaction *before)
{
    struct sigaction action = { .sa_handler = on_sigint, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    requests_fd = fd;
    answering = 0;
    sigaction(SIGINT, &action, before);
}

/* ---- answers -------------------------------------------------------------------- */

/* Pushes the function `name` of server.lua below the stack's top n_args values. */
static void insert_function(lua_State *L, const char *name, int n_args)
{
    embedded_function(L, server_file, name);
    lua_insert(L, -n_args - 1);
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

/* The code at index 1: runs it and returns the answer. */
static int answer_run(lua_State *L, server *s)
{
    bool silent = false;
    int status = run_entry(L, s, &silent), n = lua_gettop(L) - 1;
    if (status != LUA_OK) {
        run_push_report(L, status);
        insert_function(L, "failed", 1);
        lua_call(L, 1, 1);
        return 1;
    }
    if (n > 0) entry_keep_value(L, s->n_chunks);
    lua_pushinteger(L, s->n_chunks);
    lua_pushboolean(L, silent);
    lua_rotate(L, 2, 2);
    insert_function(L, "ran", n + 2);
    lua_call(L, n + 2, 1);
    return 1;
}

/* The entry gets the number that the client has for it, unless an entry had it. */
static void take_number(lua_State *L, server *s)
{
    lua_getfield(L, 1, "number");
    lua_Integer number = lua_tointeger(L, -1);
    if (number > s->n_chunks) s->n_chunks = (int)number - 1;
    lua_pop(L, 1);
}

/* Within a run. The light userdata is the server, the other argument the request. Returns the
 * answer, and perhaps bytes. */
static int answer_request(lua_State *L)
{
    server *s = lua_touserdata(L, 1);
    lua_remove(L, 1);
    lua_getfield(L, 1, "request");
    if (strcmp(lua_tostring(L, -1), "run") == 0) {
        take_number(L, s);
        lua_getfield(L, 1, "code");
        lua_replace(L, 1);
        lua_settop(L, 1);
        return answer_run(L, s);
    }
    lua_settop(L, 1);
    insert_function(L, "answer", 1);
    lua_call(L, 1, 2);
    return 2;
}

/* Replaces the error on the stack's top by the answer about it. */
static int replace_error(lua_State *L, int status)
{
    run_push_report(L, status);
    lua_remove(L, -2);
    insert_function(L, "failed", 1);
    return lua_pcall(L, 1, 1, 0);
}

/* Composes the answer to the line at index 1, false for one that was too long: at index 1 then,
 * perhaps with bytes behind. Copies "quit" or "reset" into `word` after such a request. */
static int compose(lua_State *L, server *s, char *word)
{
    s->id[0] = '\0';
    s->n_behind = 0;
    insert_function(L, "read", 1);
    int status = lua_pcall(L, 1, 2, 0);
    channel_read(&s->channel, NULL, s->n_behind);
    if (status != LUA_OK) return status;
    if (lua_isnil(L, 1)) {
        lua_remove(L, 1);
        return LUA_OK;
    }
    lua_settop(L, 1);
    lua_getfield(L, 1, "request");
    const char *name = lua_tostring(L, 2);
    if (strcmp(name, "quit") == 0 || strcmp(name, "reset") == 0)
        snprintf(word, WORD_BYTES, "%s", name);
    lua_pop(L, 1);
    lua_pushcfunction(L, answer_request);
    lua_pushlightuserdata(L, s);
    lua_rotate(L, 1, 2);
    status = run_call(L, 2, 2);
    return status == LUA_OK ? status : replace_error(L, status);
}

/* Sends the answer at index 1; without one, what can be said without Lua. SIGINT that comes from
 * now on is for the next request. */
static bool send_answer(lua_State *L, server *s, bool composed)
{
    char plain[256];
    size_t n = 0, n_bytes = 0;
    const char *line = composed ? lua_tolstring(L, 1, &n) : NULL;
    const char *bytes = composed ? lua_tolstring(L, 2, &n_bytes) : NULL;
    if (!line) {
        n = (size_t)snprintf(plain, sizeof plain,
                             "{\"error\":{\"message\":\"there is no memory for the answer\","
                             "\"name\":\"SL_ENOMEM\",\"traceback\":[]}%s%s,\"ok\":false}\n",
                             s->id[0] != '\0' ? ",\"id\":" : "", s->id);
        line = plain;
    }
    answering = 0;
    interrupt_forget_early();
    return write_reply(s, line, n, bytes ? bytes : "", bytes ? n_bytes : 0);
}

/* Protected. The light userdata are the server and the word; the last argument is the line. */
static int compose_protected(lua_State *L)
{
    server *s = lua_touserdata(L, 1);
    char *word = lua_touserdata(L, 2);
    lua_rotate(L, 1, 1);
    lua_settop(L, 1);
    if (compose(L, s, word) != LUA_OK) return lua_error(L);
    lua_settop(L, 2);
    return 2;
}

/* Answers the next request. False: there was none, or nobody reads the answer; *word is "quit" or
 * "reset" after such a request. */
static bool serve(lua_State *L, server *s, char *word)
{
    const char *line;
    size_t len;
    lua_settop(L, 0);
    channel_await(&s->channel);
    answering = 1;
    channel_result result = channel_read_line(&s->channel, &line, &len);
    if (result == CHANNEL_END) return false;
    lua_pushcfunction(L, compose_protected);
    lua_pushlightuserdata(L, s);
    lua_pushlightuserdata(L, word);
    if (result == CHANNEL_LINE)
        lua_pushlstring(L, line, len);
    else
        lua_pushboolean(L, false);
    return send_answer(L, s, lua_pcall(L, 3, 2, 0) == LUA_OK);
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
    char word[WORD_BYTES] = "";
    s->n_chunks = 0;
    add_functions(L, s);
    take_sigint(s->channel.in, &before);
    entry_tell_console(L, "open");
    insert_function(L, "open", 0);
    run_report(L, run_call(L, 0, 0));
    while (word[0] == '\0' && serve(L, s, word))
        continue;
    sigaction(SIGINT, &before, NULL);
    lua_settop(L, 0);
    console_close(L);
    return strcmp(word, "reset") == 0;
}
