/* compile.c - makes a function of an entry of the console.
 */
#include "compile.h"

#include <ctype.h>
#include <lauxlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

/* Whether the text is incomplete: Lua's errors at the end of a text end with "<eof>". */
static bool is_incomplete(lua_State *L, int index)
{
    static const char mark[] = "<eof>";
    size_t len;
    const char *text = lua_tolstring(L, index, &len);
    size_t n = sizeof mark - 1;
    return text && len >= n && strcmp(text + len - n, mark) == 0;
}

/* Whether the entry begins with a line such as "for i in range(3):". Lua would go on after the
 * colon with a method's name; who writes so expects an indented block. */
static bool is_python_block(const char *entry)
{
    static const char *const words[] = { "for", "while", "if", "try", "with", "def" };
    entry += strspn(entry, blanks);
    size_t end = strcspn(entry, "\n");
    while (end > 0 && strchr(blanks, entry[end - 1]))
        end--;
    if (end == 0 || entry[end - 1] != ':') return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i]);
        if (strncmp(entry, words[i], n) == 0 && entry[n] != '_'
            && !isalnum((unsigned char)entry[n]))
            return true;
    }
    return false;
}

/* Whether the error on top is about the entry's very first word, where the parser got
 * nowhere: then the other reading of the entry has the better error. */
static bool is_about_first_word(lua_State *L, const char *entry)
{
    const char *near = strstr(lua_tostring(L, -1), " near '");
    if (!near) return false;
    near += strlen(" near '");
    size_t n = strcspn(near, "'");
    entry += strspn(entry, blanks);
    return n > 0 && strncmp(entry, near, n) == 0;
}

/* Compiles the entry with "return " in front of the byte `at`. Pushes a function or error. */
static int load_return(lua_State *L, const char *entry, size_t len, size_t at, const char *name)
{
    lua_pushlstring(L, entry, at);
    lua_pushliteral(L, "return ");
    lua_pushlstring(L, entry + at, len - at);
    lua_concat(L, 3);
    size_t n;
    const char *code = lua_tolstring(L, -1, &n);
    int status = luaL_loadbufferx(L, code, n, name, "t");
    lua_remove(L, -2);
    return status;
}

/* The length without blanks at the end and, if there is one, a last ";". */
static size_t without_semicolon(const char *entry, size_t len, bool *has_one)
{
    while (len > 0 && strchr(blanks, entry[len - 1]))
        len--;
    *has_one = len > 0 && entry[len - 1] == ';';
    return *has_one ? len - 1 : len;
}

/* Whether the first `len` bytes are a whole chunk by themselves. */
static bool is_whole(lua_State *L, const char *entry, size_t len, const char *name)
{
    bool whole = luaL_loadbufferx(L, entry, len, name, "t") == LUA_OK;
    lua_pop(L, 1);
    return whole;
}

/* Whether a statement may begin at the byte `at` for sure, where Lua reads the text from there
 * as part of the line before as well: with a name, and not within a comment. "a = b\n(c)" and
 * "a = 1 -- one; two" are one statement each. */
static bool begins_statement(const char *entry, size_t at)
{
    const char *first = entry + at + strspn(entry + at, blanks);
    if (!isalpha((unsigned char)*first) && *first != '_') return false;
    for (; at > 0 && entry[at - 1] != '\n'; at--)
        if (at > 1 && entry[at - 1] == '-' && entry[at - 2] == '-') return false;
    return true;
}

/* Whether "return " and the text are a chunk: whether it can be a last expression. */
static bool is_expression(lua_State *L, const char *text, size_t len, const char *name)
{
    bool can = load_return(L, text, len, 0, name) == LUA_OK;
    lua_pop(L, 1);
    return can;
}

/* An entry whose last statement is an expression, as in "x = 1; x + 1" or the same on lines
 * of a block: its value is what the entry gives. Pushes the function, or nothing. What is in
 * front of the expression has to be whole: "return" must not become part of an "if". This is
 * tried after each line that is typed, so that of a long entry only the end is looked at.
 * A call is a statement as well: `calls` says that this is what is looked for. */
static bool load_block(lua_State *L, const char *entry, size_t len, const char *name, bool calls)
{
    enum { MOST_TRIES = 100, MOST_BYTES = 1 << 16 };
    size_t at = len, loaded = 0;
    for (int tried = 0; tried < MOST_TRIES && loaded < MOST_BYTES; tried++) {
        while (at > 0 && entry[at - 1] != '\n' && entry[at - 1] != ';')
            at--;
        if (at == 0) return false;
        if ((!calls || begins_statement(entry, at))
            && is_expression(L, entry + at, len - at, name)) {
            if (is_whole(L, entry, at, name)) {
                if (load_return(L, entry, len, at, name) == LUA_OK) return true;
                lua_pop(L, 1);
            }
            loaded += len;
        }
        loaded += len - at;
        at--;
    }
    return false;
}

/* Pushes the function of statements, of which the last one may be an expression, or the error.
 * `len` is without a semicolon at the end. */
static int load_statements(lua_State *L, const char *entry, size_t all, size_t len,
                           const char *name)
{
    int status = luaL_loadbufferx(L, entry, all, name, "t");
    return load_block(L, entry, len, name, status == LUA_OK) ? LUA_OK : status;
}

/* Neither an expression nor statements. Which error is the user's, that of the expression
 * (under the top) or that of the statements (on top)? It takes the place of the entry. */
static int choose_error(lua_State *L, int index, const char *entry, bool *more)
{
    int expression = lua_gettop(L) - 1;
    *more = (is_incomplete(L, expression) || is_incomplete(L, expression + 1))
            && !is_python_block(entry);
    lua_pushvalue(L, is_about_first_word(L, entry) ? expression : expression + 1);
    lua_replace(L, index);
    return LUA_ERRSYNTAX;
}

/* Makes "return expression" of "=expression". */
static void replace_equals(lua_State *L, int index)
{
    size_t len;
    const char *entry = lua_tolstring(L, index, &len);
    if (entry[0] != '=') return;
    lua_pushliteral(L, "return ");
    lua_pushlstring(L, entry + 1, len - 1);
    lua_concat(L, 2);
    lua_replace(L, index);
}

int compile_entry(lua_State *L, int index, const char *name, bool *more, bool *silent)
{
    lua_pushvalue(L, index);
    index = lua_gettop(L);
    replace_equals(L, index);
    size_t len;
    const char *entry = lua_tolstring(L, index, &len);
    size_t n = without_semicolon(entry, len, silent);
    int status = LUA_OK;
    *more = false;
    if ((*silent && load_return(L, entry, n, 0, name) == LUA_OK)
        || load_return(L, entry, len, 0, name) == LUA_OK
        || load_statements(L, entry, len, n, name) == LUA_OK)
        lua_replace(L, index);
    else
        status = choose_error(L, index, entry, more);
    lua_settop(L, index);
    return status;
}
