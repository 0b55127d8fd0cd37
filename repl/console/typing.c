/* typing.c - asks the console's Lua what the editor wants to know, and copies the answers into C
 * memory: repl/editor/ knows no Lua. Nothing here raises, and the stack is left as it was.
 */
#include "console.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "../run/embedded.h"

static const char typing_file[] = "repl/console/typing.lua";

static char *copy_text(lua_State *L, const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    if (!copy) luaL_error(L, "not enough memory");
    return strcpy(copy, text);
}

/* What is asked, and the answer. */
typedef struct question {
    const char *function, *text; /* the function of typing.lua */
    size_t len, cursor;
    completion *words;
    char *answer; /* NULL: none, or an error */
    int number;
} question;

/* Calls that function, protected; false: there was an error. */
static bool ask(lua_State *L, lua_CFunction function, question *q)
{
    if (!lua_checkstack(L, 4)) return false;
    int top = lua_gettop(L);
    lua_pushcfunction(L, function);
    lua_pushlightuserdata(L, q);
    int status = lua_pcall(L, 1, 0, 0);
    lua_settop(L, top);
    return status == LUA_OK;
}

/* ---- completion ------------------------------------------------------------------------ */

static int find_words(lua_State *L)
{
    question *q = lua_touserdata(L, 1);
    completion *c = q->words;
    embedded_function(L, "repl/console/completion/complete.lua", "complete");
    lua_pushlstring(L, q->text, q->len);
    lua_call(L, 1, 2);
    lua_Integer first = lua_tointeger(L, 2);
    if (first < 1 || (size_t)first > q->len + 1 || !lua_istable(L, 3)) return 0;
    lua_Integer n = (lua_Integer)lua_rawlen(L, 3);
    c->first = (size_t)first - 1;
    c->words = calloc((size_t)n + 1, sizeof *c->words);
    for (lua_Integer i = 1; c->words && i <= n; i++) {
        if (lua_rawgeti(L, 3, i) == LUA_TSTRING)
            c->words[c->n_words++] = copy_text(L, lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    return 0;
}

static bool complete(void *context, const char *text, size_t len, completion *c)
{
    *c = (completion){ 0 };
    question q = { .text = text, .len = len, .words = c };
    if (!ask(context, find_words, &q) || c->n_words == 0) {
        completion_free(c);
        return false;
    }
    completion_sort(c);
    return true;
}

/* ---- colours, signatures, indenting ------------------------------------------------------ */

/* The function's answer is a text, a number, or nil. */
static int find_answer(lua_State *L)
{
    question *q = lua_touserdata(L, 1);
    embedded_function(L, typing_file, q->function);
    lua_pushlstring(L, q->text, q->len);
    lua_pushinteger(L, (lua_Integer)q->cursor);
    lua_call(L, 2, 1);
    q->number = (int)lua_tointeger(L, -1);
    if (lua_type(L, -1) == LUA_TSTRING) q->answer = copy_text(L, lua_tostring(L, -1));
    return 0;
}

static char *styles(void *context, const char *text, size_t len, size_t cursor)
{
    question q = { .function = "styles", .text = text, .len = len, .cursor = cursor };
    if (ask(context, find_answer, &q) && q.answer && strlen(q.answer) == len) return q.answer;
    free(q.answer);
    return NULL;
}

static char *hint(void *context, const char *text, size_t len)
{
    question q = { .function = "hint", .text = text, .len = len };
    ask(context, find_answer, &q);
    return q.answer;
}

static int indent(void *context, const char *text, size_t len)
{
    question q = { .function = "indent", .text = text, .len = len };
    ask(context, find_answer, &q);
    return q.number;
}

const lineedit_language console_language = { complete, styles, hint, indent };
