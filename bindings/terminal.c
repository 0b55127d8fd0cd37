/* terminal.c - the terminal: its width, whether it shows UTF-8 and colours, and which characters
 * of a text may be written to it. The core knows no terminal. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* struct winsize */
#endif
#include "l_box.h"
#include "l_parts.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *env(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] != '\0' ? value : NULL;
}

/* A width that is too small or too large for charts is replaced by the nearest that is not, and
 * not refused: the user did not give it for this chart. */
int lsl_terminal_columns(int descriptor)
{
    enum { LEAST = 20, GREATEST = 4096 };
    const char *text = env("COLUMNS");
    long columns = text ? strtol(text, NULL, 10) : 0;
    struct winsize size;
    if (columns <= 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
    if (columns <= 0) return 80;
    return columns < LEAST ? LEAST : columns > GREATEST ? GREATEST : (int)columns;
}

static bool names_utf8(const char *text)
{
    for (; *text != '\0'; text++)
        if (strncasecmp(text, "utf-8", 5) == 0 || strncasecmp(text, "utf8", 4) == 0) return true;
    return false;
}

/* The first of the three variables that is set decides, as it would for setlocale: plain
 * lua5.4 never calls that, and the program only so that its line editor takes all that is
 * typed. */
bool lsl_terminal_unicode(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (int i = 0; i < LSL_COUNT(names); i++)
        if (env(names[i])) return names_utf8(env(names[i]));
    return names_utf8(nl_langinfo(CODESET));
}

/* In this order: --color, NO_COLOR, CLICOLOR_FORCE, whether it is a terminal, TERM. */
bool lsl_terminal_colour(lua_State *L, int descriptor)
{
    luaL_checkstack(L, 4, NULL);
    lsl_push_default(L, "colour");
    const char *asked = lua_tostring(L, -1);
    bool always = asked && strcmp(asked, "always") == 0;
    bool never = asked && strcmp(asked, "never") == 0;
    lua_pop(L, 1);
    if (always || never) return always;
    if (env("NO_COLOR")) return false;
    if (env("CLICOLOR_FORCE")) return strcmp(env("CLICOLOR_FORCE"), "0") != 0;
    const char *term = env("TERM");
    return isatty(descriptor) && term && strcmp(term, "dumb") != 0;
}

/* ---- for the program's Lua code ----------------------------------------------------- */

/* columns(2): of stderr, where it is a terminal; without an argument of stdout */
static int internal_columns(lua_State *L)
{
    lua_Integer descriptor = luaL_optinteger(L, 1, STDOUT_FILENO);
    lua_pushinteger(L, lsl_terminal_columns((int)descriptor));
    return 1;
}

static int internal_unicode(lua_State *L)
{
    lua_pushboolean(L, lsl_terminal_unicode());
    return 1;
}

/* colour(1) for stdout, colour(2) for stderr */
static int internal_colour(lua_State *L)
{
    lua_pushboolean(L, lsl_terminal_colour(L, (int)luaL_checkinteger(L, 1)));
    return 1;
}

/* terminal(2): whether stderr is one */
static int internal_terminal(lua_State *L)
{
    lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
    return 1;
}

/* ---- texts from files ----------------------------------------------------------------- */

LUAMOD_API void lsl_put_safe(const char *text, FILE *file)
{
    char shown[SL_SAFE_BYTES];
    for (const char *end = text + strlen(text); text < end;)
        fprintf(file, "%.*s", sl_safe_character(&text, end, true, shown), shown);
}

/* safe(text, lines): the text as a terminal may show it; newlines and tabs stay if `lines`. */
static int internal_safe(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n), *end = text + n;
    bool lines = lua_toboolean(L, 2);
    char shown[SL_SAFE_BYTES];
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    while (text < end)
        luaL_addlstring(&buffer, shown, (size_t)sl_safe_character(&text, end, lines, shown));
    luaL_pushresult(&buffer);
    return 1;
}

/* character_columns(code): on a terminal; -1: it must not reach one */
static int internal_character_columns(lua_State *L)
{
    lua_pushinteger(L, sl_character_columns((uint32_t)luaL_checkinteger(L, 1)));
    return 1;
}

const luaL_Reg lsl_terminal_internals[] = {
    { "columns", internal_columns },
    { "unicode", internal_unicode },
    { "colour", internal_colour },
    { "terminal", internal_terminal },
    { "safe", internal_safe },
    { "character_columns", internal_character_columns },
    { NULL, NULL },
};
