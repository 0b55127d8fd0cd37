/* trial.c - tries the device that the command line names, before a script runs.
 *
 * A wrong --profile is wrong usage, and is better told at once than after half of
 * a script. The trial has a Lua state of its own, so that nothing of it stays: the
 * script's first device is its first one, with or without --trace.
 */
#include "trial.h"

#include <ctype.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_NAME 31         /* of a profile, for comparing */

int luaopen_streamlab(lua_State *L);    /* bindings/ */

static void set_text(lua_State *L, const char *name, const char *text)
{
    if (!text)
        return;
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

void trial_set_device(lua_State *L, const options *o)
{
    set_text(L, "backend", o->backend);
    set_text(L, "profile", o->profile);
    if (o->has_device) {
        lua_pushinteger(L, o->device);
        lua_setfield(L, -2, "index");
    }
}

/* ---- the nearest name ------------------------------------------------------ */

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Letters to insert, drop or change to get from one name to the other (up to
 * MAX_NAME letters of each), whatever their case. */
static int distance(const char *a, const char *b)
{
    int row[MAX_NAME + 1];
    int columns = (int)strnlen(b, MAX_NAME);
    for (int j = 0; j <= columns; j++)
        row[j] = j;
    for (int i = 1; i <= MAX_NAME && a[i - 1] != '\0'; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= columns; j++) {
            bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            int changed = diagonal + !same;
            diagonal = row[j];
            row[j] = least(changed, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[columns];
}

/* How unlike a name is what was typed; a beginning of it is hardly unlike. */
static int unlike(const char *typed, const char *name)
{
    size_t n = strlen(typed);
    return n >= 3 && strncmp(name, typed, n) == 0 ? 1 : distance(typed, name);
}

/* Pushes the name of the built-in profile that is most like what was typed, or nil
 * if none is: "a10" is like a100 and "rtx4060" like rtx4060_laptop. */
static void push_nearest(lua_State *L, const char *typed)
{
    int best = least(2, (int)strlen(typed) - 1) + 1;
    lua_pushnil(L);
    int nearest = lua_gettop(L);
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, "streamlab");
    lua_getfield(L, -1, "devices");
    lua_call(L, 0, 1);
    int list = lua_gettop(L);
    for (lua_Integer i = 1; lua_geti(L, list, i) == LUA_TTABLE; i++) {
        const char *name = lua_getfield(L, -1, "profile") == LUA_TSTRING ? lua_tostring(L, -1)
                                                                         : NULL;
        if (name && unlike(typed, name) < best) {
            best = unlike(typed, name);
            lua_copy(L, -1, nearest);
        }
        lua_settop(L, list);
    }
    lua_settop(L, nearest);
}

/* ---- the trial --------------------------------------------------------------- */

/* Pushes the sentence for the error value on the stack's top. One about a name that
 * no profile has gets a suggestion. */
static void push_sentence(lua_State *L, const options *o)
{
    static const char unknown[] = "there is no profile ";
    if (lua_istable(L, -1) || lua_isuserdata(L, -1))
        lua_getfield(L, -1, "message");
    const char *sentence = luaL_tolstring(L, -1, NULL);
    bool is_name = o->profile && !strpbrk(o->profile, "./");
    if (!is_name || strncmp(sentence, unknown, sizeof unknown - 1) != 0)
        return;
    push_nearest(L, o->profile);
    if (lua_isnil(L, -1))
        lua_pop(L, 1);
    else
        lua_pushfstring(L, "%s; did you mean %s?", sentence, lua_tostring(L, -1));
}

static int ignore(lua_State *L)
{
    (void)L;
    return 0;
}

/* Light userdata: the options. Returns nothing, or a sentence. */
static int try_device(lua_State *L)
{
    const options *o = lua_touserdata(L, 1);
    if (o->ignore_environment) {
        lua_pushboolean(L, 1);
        lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
    }
    luaL_openlibs(L);
    lua_newtable(L);
    trial_set_device(L, o);
    lua_pushcfunction(L, ignore);
    lua_setfield(L, -2, "notice");
    lua_setfield(L, LUA_REGISTRYINDEX, "streamlab.defaults");
    luaL_requiref(L, "streamlab", luaopen_streamlab, 0);
    lua_getfield(L, -1, "device");
    if (lua_pcall(L, 0, 0, 0) == LUA_OK)
        return 0;
    push_sentence(L, o);
    return 1;
}

/* Whether the profile comes from a pipe or the like: "--profile <(sed ... t4.lua)". */
static bool can_read_once(const char *profile)
{
    struct stat info;
    return profile && strchr(profile, '/') && stat(profile, &info) == 0
           && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

bool trial_open(const options *o, char *message, int message_bytes)
{
    if (!o->backend && !o->profile && !o->has_device)
        return true;
    if (can_read_once(o->profile))
        return true;            /* a trial would leave nothing of it for the run */
    lua_State *L = luaL_newstate();
    if (!L) {
        snprintf(message, (size_t)message_bytes, "not enough memory");
        return false;
    }
    lua_pushcfunction(L, try_device);
    lua_pushlightuserdata(L, (void *)o);
    bool fine = lua_pcall(L, 1, 1, 0) == LUA_OK && lua_isnil(L, -1);
    if (!fine) {
        const char *sentence = lua_tostring(L, -1);
        snprintf(message, (size_t)message_bytes, "%s", sentence ? sentence : "no device");
    }
    lua_close(L);
    return fine;
}
