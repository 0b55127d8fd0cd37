/* streamlab.c - the module: its state, what the prelude needs, and luaopen.
 *
 * The state is made before anything else, so that Lua finalizes it last: by then every tensor,
 * stream and event has been released, and the devices can be drained and closed. No Lua code
 * runs from then on; host functions that are still queued are dropped. Errors of that drain
 * cannot be reported any more, so the program calls registry["streamlab.finish"] before it
 * closes the state. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_thread.h"

#include <stdlib.h>
#include <string.h>

#include "embedded_files.h"

/* ---- state ------------------------------------------------------------------------- */

static int state_gc(lua_State *L)
{
    lsl_state *state = lua_touserdata(L, 1);
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.state");
    if (lua_touserdata(L, -1) != state) return 0; /* a script has called this */
    lsl_end_threads(L, state);
    state->closing = true;
    lsl_set_current(state, NULL);
    if (!state->of_thread) {
        lsl_drain_devices(state);
        lsl_stop_checking(state);
        lsl_close_kept();
    }
    lsl_close_devices(L, state);
    return 0;
}

/* registry["streamlab.finish"](failed, stopped): waits for the open GPUs and returns the errors
 * that have not been reported, a sentence each; if the run has failed, not that something waits for
 * what this may have prevented; if it was stopped, does not wait for the simulator, which may have
 * long to go. While the race checker is on, reports the races of the last operations, and how many
 * there are, and waits for this. */
static int finish(lua_State *L)
{
    lsl_state *state = lsl_get(L);
    const bool failed = lua_toboolean(L, 1);
    const bool stopped = lua_toboolean(L, 2) && sl_check_get_mode() == SL_CHECK_OFF;
    if (state->in_host_func > 0) return 0;
    int n = lsl_join_threads(L, state);
    for (lsl_device_node *node = state->devices; node; node = node->next) {
        const sl_device_info *info = sl_device_get_info(node->device);
        if (stopped && info->simulated) continue;
        sl_error err;
        sl_status status = sl_device_finish(node->device, &err);
        if (status == SL_OK || status == SL_EINTERRUPT || (failed && status == SL_ESTATE)) continue;
        luaL_checkstack(L, 1, NULL);
        lua_pushfstring(L, "%s %d, at the end: %s", info->backend, info->index, err.msg);
        n++;
    }
    lsl_sum_up_races(L);
    return n;
}

/* Pushes the state, which the registry keeps until lua_close. */
static lsl_state *new_state(lua_State *L)
{
    lsl_state *state = lua_newuserdatauv(L, sizeof *state, 0);
    memset(state, 0, sizeof *state);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    state->main = lua_tothread(L, -1);
    lua_pop(L, 1);
    state->open = luaopen_streamlab;
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, state_gc);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, "streamlab.state");
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    state->boxes_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    return state;
}

/* ---- for the prelude ------------------------------------------------------------------ */

static const lsl_embedded *find_embedded(const lsl_embedded *files, const char *name)
{
    for (const lsl_embedded *file = files; file->name; file++)
        if (strcmp(file->name, name) == 0) return file;
    return NULL;
}

/* core.embedded(name): the text of a file that is built in, or nil. */
static int internal_embedded(lua_State *L)
{
    const char *name = lsl_check_text(L, 1, "name", "embedded");
    const lsl_embedded *file = find_embedded(lsl_embedded_files, name);
    if (!file) return 0;
    lua_pushlstring(L, file->data, file->len);
    return 1;
}

static int internal_embedded_names(lua_State *L)
{
    lua_newtable(L);
    for (int i = 0; lsl_embedded_files[i].name; i++) {
        lua_pushstring(L, lsl_embedded_files[i].name);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* core.raise("SL_EINVAL", op, message) */
static int internal_raise(lua_State *L)
{
    static const struct {
        const char *name;
        sl_status status;
    } codes[] = {
#define X(name, code) { "SL_" #name, SL_##name },
        SL_STATUS_MAP(X)
#undef X
    };
    const char *name = lsl_check_text(L, 1, "code", "raise");
    sl_status status = SL_EINVAL;
    for (int i = 0; i < LSL_COUNT(codes); i++)
        if (strcmp(codes[i].name, name) == 0) status = codes[i].status;
    return lsl_raise(L, status, lua_tostring(L, 2), lua_tostring(L, 3));
}

/* core.check_interrupt(op): raises if the user has stopped what runs. */
static int internal_check_interrupt(lua_State *L)
{
    sl_error err;
    lsl_check(L, sl_interrupt_check(&err), &err, lsl_check_text(L, 1, "op", "check_interrupt"));
    return 0;
}

static int internal_type_name(lua_State *L)
{
    lua_pushstring(L, lsl_type_name(L, 1));
    return 1;
}

static int internal_is_c_function(lua_State *L)
{
    lua_pushboolean(L, lua_iscfunction(L, 1));
    return 1;
}

static int finish_call(lua_State *L, int status, lua_KContext context)
{
    (void)status;
    (void)context;
    return lua_gettop(L);
}

/* A function of the prelude as the user calls it; upvalues: the state, the function,
 * its name.
 * Lua forgets the frame of a Lua function that tail-calls another, but not when it
 * calls one in C: so `return lab.with(...)` still has a position. */
static int call_prelude(lua_State *L)
{
    int n = lua_gettop(L);
    lsl_refuse_colon(L, lua_tostring(L, lua_upvalueindex(3)));
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 1);
    lua_callk(L, n, LUA_MULTRET, 0, finish_call);
    return finish_call(L, LUA_OK, 0);
}

/* Puts each Lua function of the table on top of the stack behind call_prelude. */
static void wrap_functions(lua_State *L)
{
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        if (!lua_isfunction(L, -1) || lua_iscfunction(L, -1)) {
            lua_pop(L, 1);
            continue;
        }
        lua_pushlightuserdata(L, lsl_get(L));
        lua_insert(L, -2);
        lua_pushvalue(L, -3);
        lua_pushcclosure(L, call_prelude, 3);
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4); /* a field that is there: allowed while traversing */
    }
}

/* core.define_class(metatable): of a class whose objects are tables; they have __name,
 * __methods and __fields like those of lsl_define. Its methods get positions like the module's
 * functions, and the program finds it in the registry. */
static int internal_define_class(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_getfield(L, 1, "__methods");
    wrap_functions(L);
    lua_pop(L, 1);
    luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

/* Pushes a file of bindings/ as a function. */
static void push_chunk(lua_State *L, const char *name)
{
    const lsl_embedded *compiled = find_embedded(lsl_compiled_files, name);
    const lsl_embedded *file = compiled ? compiled : find_embedded(lsl_embedded_files, name);
    const char *mode = compiled ? "b" : "t";
    if (!file) luaL_error(L, "streamlab was built without %s", name);
    if (luaL_loadbufferx(L, file->data, file->len, "=streamlab", mode) != LUA_OK) lua_error(L);
}

/* core.chunk(name, globals): the file as a function that has these globals. */
static int internal_chunk(lua_State *L)
{
    push_chunk(L, lsl_check_text(L, 1, "name", "chunk"));
    lua_pushvalue(L, 2);
    if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
    return 1;
}

static int internal_refuse_files(lua_State *L)
{
    lsl_get(L)->files_closed = true;
    return 0;
}

/* core.prefer_source(source): from now on positions are those of that chunk ("=lab.lua") where
 * a line of it runs, also when what it called is the user's as well. */
static int internal_prefer_source(lua_State *L)
{
    lsl_state *state = lsl_get(L);
    lsl_check_text(L, 1, "source", "prefer_source");
    lua_settop(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "streamlab.preferred");
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.preferred");
    state->preferred = lua_tostring(L, -1);
    lsl_forget_positions(state, NULL);
    return 0;
}

static int internal_processors(lua_State *L)
{
    lua_pushinteger(L, sl_host_processors());
    return 1;
}

static int internal_own_folder(lua_State *L)
{
    char folder[SL_FOLDER_BYTES];
    sl_own_folder(folder);
    lua_pushstring(L, folder);
    return 1;
}

static const luaL_Reg internals[] = {
    { "embedded", internal_embedded },
    { "embedded_names", internal_embedded_names },
    { "raise", internal_raise },
    { "type_name", internal_type_name },
    { "is_c_function", internal_is_c_function },
    { "as", lsl_call_as },
    { "nearest", lsl_nearest },
    { "define_class", internal_define_class },
    { "chunk", internal_chunk },
    { "refuse_files", internal_refuse_files },
    { "prefer_source", internal_prefer_source },
    { "check_interrupt", internal_check_interrupt },
    { "processors", internal_processors },
    { "own_folder", internal_own_folder },
    { NULL, NULL },
};

/* Runs the prelude with the module's table, which is on top of the stack. */
static void run_prelude(lua_State *L)
{
    lua_createtable(L, 0, 256); /* about twice what is in it */
    lsl_set_functions(L, internals);
#define X(part) lsl_open_##part(L);
    LSL_INTERNAL_PARTS(X)
#undef X
#define X(part) lsl_set_functions(L, lsl_##part##_internals);
    LSL_INTERNALS(X)
#undef X
    lua_getfield(L, LUA_REGISTRYINDEX, "LUA_NOENV"); /* the program's -E, as in lua.c */
    lua_setfield(L, -2, "ignores_environment");
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, "streamlab.internals"); /* for the program */
    push_chunk(L, "bindings/prelude.lua");
    lua_pushvalue(L, -3);
    lua_rotate(L, -3, -1); /* the prelude, the module, the functions */
    lua_call(L, 2, 0);
    wrap_functions(L);
    lua_getfield(L, -1, "open");
    lua_setfield(L, LUA_REGISTRYINDEX, "streamlab.open");
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushcclosure(L, finish, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "streamlab.finish");
}

/* ---- the module ---------------------------------------------------------------------------- */

/* lab.float64 is "float64": as torch.float64 is written, where nil would be float32. */
static void name_dtypes(lua_State *L)
{
    for (int i = 0; i < SL_DTYPES; i++) {
        const char *name = sl_dtype_name((sl_dtype)i);
        lsl_set_text(L, name, name);
    }
}

/* Returns the module's table. Upvalue: the state. */
static int open_module(lua_State *L)
{
    lua_createtable(L, 0, 128); /* about twice what is in it */
    lsl_get(L)->module = lua_topointer(L, -1);
    lsl_check_layout(L);
    lsl_define_error(L);
    lsl_define_options(L);
    lsl_define_positions(L);
    lsl_define(L, LSL_SCRATCH, lsl_scratch_meta, NULL, NULL);
#define X(part) lsl_open_##part(L);
    LSL_PARTS(X)
#undef X
    lua_pushliteral(L, STREAMLAB_VERSION);
    lua_setfield(L, -2, "version");
    name_dtypes(L);
    run_prelude(L);
    return 1;
}

LUAMOD_API void lsl_interrupt(bool on) { sl_interrupt(on); }

LUAMOD_API void lsl_leave(void) { sl_leave(); }

LUAMOD_API void lsl_watch_host_funcs(lua_State *L, lua_State *(*enter)(lua_State *T),
                                     bool (*leave)(lua_State *T, lua_State *before, bool failed))
{
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.state");
    lsl_state *state = lua_touserdata(L, -1);
    state->enter_host_func = enter;
    state->leave_host_func = leave;
    lua_pop(L, 1);
}

/* Opening again gives the same module: there is one state in a Lua state. */
LUAMOD_API int luaopen_streamlab(lua_State *L)
{
    luaL_checkversion(L);
    if (lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.module") == LUA_TTABLE) return 1;
    lsl_state *state = new_state(L);
    lua_pushlightuserdata(L, state);
    lua_pushcclosure(L, open_module, 1);
    lua_call(L, 0, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, "streamlab.module");
    return 1;
}
