/* complete.c - gets completions of the word before the cursor from the console's Lua and copies
 * them into C memory: repl/editor/ knows no Lua.
 */
#include "console.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "../run/embedded.h"

static char *copy_text(lua_State *L, const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    if (!copy) luaL_error(L, "not enough memory");
    return strcpy(copy, text);
}

/* What is asked, and the answer. */
typedef struct question {
    const char *text;
    size_t len;
    completion *answer;
} question;

/* Protected; the light userdata is the question. */
static int find_words(lua_State *L)
{
    question *q = lua_touserdata(L, 1);
    completion *c = q->answer;
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

bool console_complete(void *context, const char *text, size_t len, completion *c)
{
    lua_State *L = context;
    *c = (completion){ 0 };
    question q = { text, len, c };
    if (!lua_checkstack(L, 4)) return false;
    int top = lua_gettop(L);
    lua_pushcfunction(L, find_words);
    lua_pushlightuserdata(L, &q);
    int status = lua_pcall(L, 1, 0, 0);
    lua_settop(L, top);
    if (status != LUA_OK || c->n_words == 0) {
        completion_free(c);
        return false;
    }
    completion_sort(c);
    return true;
}
