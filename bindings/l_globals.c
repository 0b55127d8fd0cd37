/* l_globals.c - globals in a thread of lab.thread, which has globals of its own.
 *
 * A name that only the script has as a global would be nil in the thread, and an option that is nil
 * is none: work would go to the default stream. So reading it is an error. What the thread sets the
 * script never sees: a notice says so, once for each name.
 *
 * The starter's tables are searched by lua_next, which neither allocates nor raises, since an
 * error must not be raised in a state that another thread runs. Its thread is never in the
 * middle of Lua's work (l_thread.c). */
#include "l_error.h"
#include "l_thread.h"

#include <string.h>

enum { MOST_TABLES = 8, SEARCH_STACK = 8, NOTICES = 16 };

/* ---- what the starter has ----------------------------------------------------- */

/* Replaces the table on top by its value for the name, raw; false: pushes nothing, the table
 * stays. */
static bool raw_field(lua_State *from, const char *name)
{
    const int table = lua_gettop(from);
    lua_pushnil(from);
    while (lua_next(from, table)) {
        if (lua_type(from, -2) == LUA_TSTRING && strcmp(lua_tostring(from, -2), name) == 0) {
            lua_replace(from, table);
            lua_settop(from, table);
            return true;
        }
        lua_pop(from, 1);
    }
    return false;
}

/* Replaces the table on top by the one in which its metatable has it look; false: there is none. */
static bool next_table(lua_State *from)
{
    if (!lua_getmetatable(from, -1)) return false;
    if (!raw_field(from, "__index") || lua_type(from, -1) != LUA_TTABLE) {
        lua_pop(from, 1);
        return false;
    }
    lua_replace(from, -2);
    return true;
}

/* Whether a copy of the table on top would have all that it has: not of a class or a module. */
static bool has_functions(lua_State *from)
{
    const int table = lua_gettop(from);
    bool found = lua_getmetatable(from, table);
    lua_pushnil(from);
    while (lua_next(from, table) && !found) {
        found = lua_type(from, -1) == LUA_TFUNCTION;
        lua_pop(from, 1);
    }
    lua_settop(from, table);
    return found;
}

typedef enum outside { NOWHERE, A_VALUE, A_TABLE, CODE } outside;

static outside search(lua_State *from, const char *name)
{
    for (int i = 0; i < MOST_TABLES && lua_type(from, -1) == LUA_TTABLE; i++) {
        if (!raw_field(from, name)) {
            if (!next_table(from)) return NOWHERE;
            continue;
        }
        const int type = lua_type(from, -1);
        if (type == LUA_TTABLE) return has_functions(from) ? CODE : A_TABLE;
        return type == LUA_TFUNCTION ? CODE : A_VALUE;
    }
    return NOWHERE;
}

/* Whether a state that has started this one, or its starter, has the name as a global. */
static outside find_outside(const lsl_state *state, const char *name)
{
    for (; state->starter; state = state->starter) {
        lua_State *from = state->starter->main;
        const int top = lua_gettop(from);
        if (!lua_checkstack(from, SEARCH_STACK)) return NOWHERE;
        lua_rawgeti(from, LUA_REGISTRYINDEX, state->globals_ref);
        const outside found = search(from, name);
        lua_settop(from, top);
        if (found != NOWHERE) return found;
    }
    return NOWHERE;
}

/* ---- in the thread ---------------------------------------------------------------- */

static const char *const advice[] = {
    [A_VALUE] = "hand it over as an argument, lab.thread(f, %.60s)",
    [A_TABLE] = "hand it over as an argument, lab.thread(f, %.60s) (a copy: return what you want "
                "back)",
    [CODE] =
        "define it inside of the thread's function, or in a module that this function requires",
};

/* __index of the thread's globals: (globals, name) */
static int read_missing(lua_State *T)
{
    const char *name = lua_type(T, 2) == LUA_TSTRING ? lua_tostring(T, 2) : NULL;
    const outside found = name ? find_outside(lsl_get(T), name) : NOWHERE;
    if (found == NOWHERE) return 0;
    char how[160];
    snprintf(how, sizeof how, advice[found], name);
    return lsl_fail(T, SL_EINVAL, "thread",
                    "'%.60s' is a global variable of the script, which a thread cannot see: %s",
                    name, how);
}

static uint32_t digest(uint32_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 16777619U;
    return hash;
}

/* Whether this is the first notice about the name at this place, and not one too many. */
static bool is_new(lsl_state *state, const char *name, const char *where)
{
    const uint32_t hash = digest(digest(2166136261U, name), where);
    while (state->starter)
        state = state->starter;
    for (int i = 0; i < state->n_said_globals; i++)
        if (state->said_globals[i] == hash) return false;
    if (state->n_said_globals == NOTICES) return false;
    state->said_globals[state->n_said_globals++] = hash;
    return true;
}

/* Modules that the thread loads may have globals of their own. */
static bool is_own_code(lua_State *T)
{
    lua_Debug ar;
    return lua_getstack(T, 1, &ar) && lua_getinfo(T, "S", &ar) && ar.source == lsl_get(T)->code;
}

/* __newindex of the thread's globals: (globals, name, value) */
static int set_new(lua_State *T)
{
    char where[LSL_WHERE_TEXT];
    lua_settop(T, 3);
    const bool is_private = lua_isnil(T, 3) || lua_isfunction(T, 3); /* the script needs neither */
    if (lua_type(T, 2) == LUA_TSTRING && !is_private && is_own_code(T)) {
        const char *name = lua_tostring(T, 2);
        lsl_where_text(T, where, sizeof where);
        lua_pushfstring(
            T,
            "%s: thread: '%s' becomes a global variable of this thread alone, which the "
            "script will not see: declare it local, and return what the script needs",
            where, name);
        if (is_new(lsl_get(T), name, where)) lsl_notice(T, lua_tostring(T, -1));
        lua_pop(T, 1);
    }
    lua_rawset(T, 1);
    return 0;
}

void lsl_watch_globals(lua_State *T, lsl_state *state)
{
    static const luaL_Reg functions[] = { { "__index", read_missing },
                                          { "__newindex", set_new },
                                          { NULL, NULL } };
    lua_pushglobaltable(T);
    lua_newtable(T);
    lua_pushlightuserdata(T, state);
    luaL_setfuncs(T, functions, 1);
    lua_setmetatable(T, -2);
    lua_pop(T, 1);
}
