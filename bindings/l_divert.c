/* l_divert.c - runs of a script that leave files as they are: what Lua's io and os do in them
 * (core/text/divert.h).
 *
 * While a run lasts, functions here stand for those of Lua that open, remove or rename files,
 * and that run commands, in the state and in those of its threads. They call Lua's own with the
 * path of the file that stands for the one that was asked for. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../core/text/divert.h"
#include "l_box.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_thread.h"

/* Of files that the first run has opened for writing, weak: a module that a later run finds
 * loaded may write to one. */
static const char opened_key[] = "streamlab.opened";
static const char parked_key[] = "streamlab.parked"; /* file -> its descriptor's copy */

/* Calls Lua's own function, upvalue 1, with all that is on the stack. */
static int call_own(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int fail(lua_State *L, int error, const char *path)
{
    errno = error;
    return luaL_fileresult(L, 0, path);
}

/* ---- files ------------------------------------------------------------------------- */

static sl_file_use use_of(const char *mode)
{
    if (*mode == 'w') return SL_FILE_REPLACE;
    if (*mode == 'a') return SL_FILE_APPEND;
    return strchr(mode, '+') ? SL_FILE_CHANGE : SL_FILE_READ;
}

/* The file on top is open. */
static void note_opened(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, opened_key);
    if (!lua_getmetatable(L, -1)) {
        lua_createtable(L, 0, 1);
        lua_pushliteral(L, "k");
        lua_setfield(L, -2, "__mode");
        lua_pushvalue(L, -1);
        lua_setmetatable(L, -3);
    }
    lua_pop(L, 1);
    lua_pushvalue(L, -2);
    lua_pushboolean(L, 1);
    lua_settable(L, -3);
    lua_pop(L, 1);
}

/* io.open, upvalue 1, of the path at index 1. Pushes the file; or nil, a message and a number. */
static int open_file(lua_State *L, const char *path, const char *mode)
{
    const char *instead;
    const sl_file_use use = use_of(mode);
    const int error = sl_divert_open(path, use, &instead);
    if (error != 0) return fail(L, error, path);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushstring(L, instead);
    lua_pushstring(L, mode);
    lua_call(L, 2, 3);
    if (lua_isnil(L, -3)) return fail(L, (int)lua_tointeger(L, -1), path);
    lua_pop(L, 2);
    if (use != SL_FILE_READ && !sl_divert_is_diverted()) note_opened(L);
    return 1;
}

static int io_open(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1), *mode = luaL_optstring(L, 2, "r");
    return open_file(L, path, mode);
}

/* io.input and io.output of a path. Upvalues: io.open, Lua's own function. */
static int choose_file(lua_State *L, const char *mode)
{
    lua_settop(L, lua_gettop(L) > 0 ? 1 : 0);
    if (lua_type(L, 1) == LUA_TSTRING) {
        if (open_file(L, lua_tostring(L, 1), mode) != 1)
            return luaL_error(L, "cannot open file '%s' (%s)", lua_tostring(L, 1),
                              lua_tostring(L, -2));
        lua_replace(L, 1);
    }
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

static int io_input(lua_State *L) { return choose_file(L, "r"); }

static int io_output(lua_State *L) { return choose_file(L, "w"); }

static int io_lines(lua_State *L)
{
    const char *instead, *path = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : NULL;
    if (path) {
        const int error = sl_divert_open(path, SL_FILE_READ, &instead);
        if (error != 0) return luaL_error(L, "%s: %s", path, strerror(error));
        lua_pushstring(L, instead);
        lua_replace(L, 1);
    }
    return call_own(L);
}

static int os_remove(lua_State *L)
{
    int error = 0;
    const char *path = luaL_checkstring(L, 1);
    if (!sl_divert_remove(path, &error)) return call_own(L);
    errno = error;
    return luaL_fileresult(L, error == 0, path);
}

static int os_rename(lua_State *L)
{
    int error = 0;
    const char *from = luaL_checkstring(L, 1), *to = luaL_checkstring(L, 2);
    if (!sl_divert_rename(from, to, &error)) return call_own(L);
    errno = error;
    return luaL_fileresult(L, error == 0, error == 0 ? NULL : from);
}

/* Lua's own makes a file, of which a diverted run has its own. */
static int os_tmpname(lua_State *L)
{
    const char *instead;
    call_own(L);
    const char *path = lua_tostring(L, -1);
    if (!sl_divert_is_diverted() || !path) return 1;
    (void)sl_divert_open(path, SL_FILE_REPLACE, &instead);
    (void)remove(path);
    return 1;
}

/* ---- commands ------------------------------------------------------------------------- */

static int no_answer(lua_State *L, const char *name, const char *command, int error)
{
    if (error != ENOENT) return fail(L, error, command);
    return luaL_error(
        L,
        "%s: this run of several changes no files, so it starts no command, and the first "
        "run has not asked '%s' so often",
        name, command);
}

static int os_execute(lua_State *L)
{
    int status;
    const char *command = luaL_optstring(L, 1, NULL);
    if (!command) return call_own(L);
    const int error = sl_divert_command(command, NULL, &status);
    if (error != 0) return no_answer(L, "os.execute", command, error);
    errno = 0;
    return luaL_execresult(L, status);
}

/* io.close of what io_popen gives. User value 1: the status. */
static int close_answer(lua_State *L)
{
    luaL_Stream *file = luaL_checkudata(L, 1, LUA_FILEHANDLE);
    fclose(file->f);
    lua_getiuservalue(L, 1, 1);
    errno = 0;
    return luaL_execresult(L, (int)lua_tointeger(L, -1));
}

static int io_popen(lua_State *L)
{
    int status = 0, error = 0;
    const char *command = luaL_checkstring(L, 1), *mode = luaL_optstring(L, 2, "r");
    const char *output = "/dev/null";
    const bool reads = *mode != 'w';
    if (!reads && !sl_divert_is_diverted()) return call_own(L);
    luaL_argcheck(L, (*mode == 'r' || *mode == 'w') && mode[1] == '\0', 2, "invalid mode");
    if (reads) error = sl_divert_command(command, &output, &status);
    if (error != 0) return no_answer(L, "io.popen", command, error);
    luaL_Stream *file = lua_newuserdatauv(L, sizeof *file, 1);
    file->closef = NULL;
    luaL_setmetatable(L, LUA_FILEHANDLE);
    lua_pushinteger(L, status);
    lua_setiuservalue(L, -2, 1);
    file->f = fopen(output, reads ? "r" : "w");
    if (!file->f) return luaL_fileresult(L, 0, command);
    file->closef = close_answer;
    return 1;
}

/* ---- files that an earlier run has left open --------------------------------------------- */

/* What is written to them leads nowhere, until the run ends. */
static void park_files(lua_State *L)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    lua_newtable(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, opened_key);
    lua_pushnil(L);
    while (nowhere >= 0 && lua_next(L, -2)) {
        lua_pop(L, 1);
        const luaL_Stream *file = lua_touserdata(L, -1);
        if (!file->closef) continue;
        fflush(file->f);
        const int copy = fcntl(fileno(file->f), F_DUPFD_CLOEXEC, 3);
        if (copy < 0 || dup2(nowhere, fileno(file->f)) < 0) continue;
        lua_pushvalue(L, -1);
        lua_pushinteger(L, copy);
        lua_settable(L, -5);
    }
    lua_pop(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, parked_key);
    if (nowhere >= 0) close(nowhere);
}

/* One that the run has closed has given up its descriptor. */
static void unpark_files(lua_State *L)
{
    if (lua_getfield(L, LUA_REGISTRYINDEX, parked_key) == LUA_TTABLE) {
        lua_pushnil(L);
        while (lua_next(L, -2)) {
            const luaL_Stream *file = lua_touserdata(L, -2);
            const int copy = (int)lua_tointeger(L, -1);
            lua_pop(L, 1);
            if (file->closef) {
                fflush(file->f);
                (void)dup2(copy, fileno(file->f));
            }
            close(copy);
        }
    }
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_setfield(L, LUA_REGISTRYINDEX, parked_key);
}

/* ---- the state's libraries ------------------------------------------------------------------ */

typedef struct replaced {
    const char *library, *name;
    lua_CFunction by;
    bool opens; /* upvalue 1 is io.open, and 2 its own, which otherwise is upvalue 1 */
} replaced;

/* io.open last: it is an upvalue of others. */
static const replaced functions[] = {
    { "io", "input", io_input, true },      { "io", "output", io_output, true },
    { "io", "lines", io_lines, false },     { "io", "popen", io_popen, false },
    { "os", "remove", os_remove, false },   { "os", "rename", os_rename, false },
    { "os", "tmpname", os_tmpname, false }, { "os", "execute", os_execute, false },
    { "io", "open", io_open, false },
};

/* The library is on top. */
static void replace_function(lua_State *L, const replaced *r)
{
    if (r->opens) lua_getfield(L, -1, "open");
    if (lua_getfield(L, -1 - r->opens, r->name) != LUA_TFUNCTION) {
        lua_pop(L, 1 + r->opens);
        return;
    }
    lua_pushcclosure(L, r->by, 1 + r->opens);
    lua_setfield(L, -2, r->name);
}

/* Where it is still one of ours. */
static void restore_function(lua_State *L, const replaced *r)
{
    lua_getfield(L, -1, r->name);
    if (lua_tocfunction(L, -1) == r->by && lua_getupvalue(L, -1, 1 + r->opens))
        lua_setfield(L, -3, r->name);
    lua_pop(L, 1);
}

static void each_function(lua_State *L, void (*with)(lua_State *L, const replaced *r))
{
    for (int i = 0; i < LSL_COUNT(functions); i++) {
        if (lua_getglobal(L, functions[i].library) == LUA_TTABLE) with(L, &functions[i]);
        lua_pop(L, 1);
    }
}

void lsl_divert_libraries(lua_State *L)
{
    if (sl_divert_is_on()) each_function(L, replace_function);
}

/* ---- for the program ----------------------------------------------------------------- */

static void release(void *memory) { sl_diversion_free(*(sl_diversion **)memory); }

/* core.diversion(): what the runs of one script share, for core.divert. */
static int internal_diversion(lua_State *L)
{
    sl_diversion **d = lsl_new_scratch(L, sizeof *d, release);
    *d = sl_diversion_new();
    if (!*d) lsl_fail(L, SL_ENOMEM, "divert", "out of host memory");
    return 1;
}

/* core.divert(diversion, diverted): a run begins; core.divert(): it has ended. */
static int internal_divert(lua_State *L)
{
    if (sl_divert_is_on()) {
        each_function(L, restore_function);
        unpark_files(L);
    }
    sl_divert_end();
    if (lua_isnoneornil(L, 1)) return 0;
    const bool diverted = lua_toboolean(L, 2);
    sl_divert_begin(*(sl_diversion **)lsl_scratch_at(L, 1), diverted);
    if (diverted) park_files(L);
    lsl_divert_libraries(L);
    return 0;
}

/* core.is_diverting(): whether a run has begun. */
static int internal_is_diverting(lua_State *L)
{
    lua_pushboolean(L, sl_divert_is_on());
    return 1;
}

const luaL_Reg lsl_divert_internals[] = {
    { "diversion", internal_diversion },
    { "divert", internal_divert },
    { "is_diverting", internal_is_diverting },
    { NULL, NULL },
};
