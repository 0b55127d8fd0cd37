/* l_device.c - devices: how they are opened, their fields, their clock, and the counts of live
 * objects. prelude.lua decides which backend and profile to open. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_figures.h"

/* ---- devices of the current machine ------------------------------------------- */

/* A simulated machine has as many GPUs as the program's --devices says; without it, those that
 * scripts open. */
static void check_in_machine(lua_State *L, int index, const char *op)
{
    lsl_push_default(L, "devices");
    const bool is_set = !lua_isnil(L, -1);
    const int count = is_set ? (int)lua_tointeger(L, -1) : 1;
    lua_pop(L, 1);
    if (index < count) return;
    if (is_set)
        lsl_fail(
            L, SL_ENOTFOUND, op,
            "there is no device %d: the simulated machine has %d; --devices %lld gives it as many",
            index, count, index + 1LL);
    lsl_fail(L, SL_ENOTFOUND, op,
             "there is no device %d: the simulated machine has %d; streamlab --devices %lld SCRIPT "
             "gives it as many, or lab.open{ index = %d } opens one beside it",
             index, count, index + 1LL, index);
}

sl_device *lsl_device_at(lua_State *L, int index, const char *op)
{
    lsl_state *state = lsl_get(L);
    sl_device *current = lsl_device(L, op), *device;
    const sl_device_info *info = sl_device_get_info(current);
    if (info->index == index) return current;
    device = lsl_find_beside(state, current, index);
    if (device) return device;
    int count = 0;
    if (info->simulated) check_in_machine(L, index, op);
    if (sl_backend_device_count(info->backend, &count, NULL) == SL_OK && index >= count)
        lsl_fail(L, SL_ENOTFOUND, op, "there is no device %d: backend %s has %d device%s", index,
                 info->backend, count, count == 1 ? "" : "s");
    luaL_checkstack(L, 5, NULL);
    lsl_push_device(L, current); /* keeps it */
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.open");
    lua_createtable(L, 0, 2);
    lsl_set_text(L, "backend", info->backend);
    lsl_set_integer(L, "index", index);
    lua_call(L, 1, 0);
    device = state->current;
    lsl_set_current(state, current);
    lua_pop(L, 1);
    return device;
}

/* The collector on the main thread, and of the thread that asks, when the core runs out of memory.
 * Lua itself refuses it inside finalizers; in_gc covers ours. */
static void collect(void *ud)
{
    lsl_state *state = ud;
    if (!state->closing && state->in_gc == 0) lua_gc(state->main, LUA_GCCOLLECT);
    state = lsl_own_state();
    if (state && state->in_gc == 0) lua_gc(state->main, LUA_GCCOLLECT);
}

/* ---- settings ------------------------------------------------------------------ */

/* The list at `idx` has items {name, text} and {name, {number, ...}}; it is the
 * prelude's, so its form is not checked. The texts stay in the list. */
static sl_setting *read_settings(lua_State *L, int idx, size_t *n, const char *op)
{
    *n = (size_t)lua_rawlen(L, idx);
    size_t n_values = 0;
    for (size_t i = 1; i <= *n; i++) {
        lua_rawgeti(L, idx, (lua_Integer)i);
        if (lua_rawgeti(L, -1, 2) == LUA_TTABLE) n_values += (size_t)lua_rawlen(L, -1);
        lua_pop(L, 2);
    }
    sl_setting *settings = lsl_scratch(L, *n, sizeof *settings, op);
    double *values = lsl_scratch(L, n_values, sizeof *values, op);
    for (size_t i = 0; i < *n; i++) {
        lua_rawgeti(L, idx, (lua_Integer)i + 1);
        lua_rawgeti(L, -1, 1);
        settings[i].name = lua_tostring(L, -1);
        if (lua_rawgeti(L, -2, 2) == LUA_TTABLE) {
            settings[i].values = values;
            settings[i].n_values = (size_t)lua_rawlen(L, -1);
            for (size_t k = 1; k <= settings[i].n_values; k++) {
                lua_rawgeti(L, -1, (lua_Integer)k);
                *values++ = lua_tonumber(L, -1);
                lua_pop(L, 1);
            }
        } else {
            settings[i].text = lua_tostring(L, -1);
        }
        lua_pop(L, 3);
    }
    return settings;
}

/* Those of a profile that is built in; NULL: it is not one of them. */
static const lsl_figures *find_figures(const char *profile)
{
    const lsl_figures *figures = lsl_built_in_figures;
    while (figures->profile && strcmp(figures->profile, profile) != 0)
        figures++;
    return figures->profile ? figures : NULL;
}

/* core.has_figures(profile): whether core.open takes the profile's name for its settings. */
static int internal_has_figures(lua_State *L)
{
    lua_pushboolean(L, lua_type(L, 1) == LUA_TSTRING && find_figures(lua_tostring(L, 1)));
    return 1;
}

/* The settings at `idx`, a list or the name of a profile. */
static const sl_setting *choose_settings(lua_State *L, int idx, size_t *n, const char *op)
{
    if (lua_type(L, idx) != LUA_TSTRING) return read_settings(L, idx, n, op);
    const lsl_figures *figures = find_figures(lua_tostring(L, idx));
    *n = figures->n;
    return figures->settings;
}

/* Waits for all open devices, which may never be used again. A failed device does not prevent
 * opening others; it reports its fault when it is used. */
static void wait_for_all(lua_State *L, const char *op)
{
    for (lsl_device_node *node = lsl_get(L)->devices; node; node = node->next) {
        sl_error err;
        lsl_mark(L, node->device);
        sl_status status = sl_device_synchronize(node->device, &err);
        if (status != SL_EFAULT) lsl_check(L, status, &err, op);
    }
}

/* Opening a real GPU again gives the same device; a simulated one is new, in a machine of its own
 * or beside another one (prelude.lua). */
static sl_device *find_real(lua_State *L, const char *backend, int index)
{
    sl_device *device = lsl_find_open(lsl_get(L), backend, index);
    return device && !sl_device_get_info(device)->simulated ? device : NULL;
}

/* core.open(backend, index, settings, [beside]): opens a device, of the machine of the device
 * `beside` if there is one, makes it current and returns it, and whether it was opened only now. */
static int internal_open(lua_State *L)
{
    const char *op = "open";
    lsl_state *state = lsl_get(L);
    lua_settop(L, 4);
    if (state->closing) lsl_fail(L, SL_ECLOSED, op, "the laboratory was closed");
    lsl_settle_guards(L);
    const char *backend = lsl_check_text(L, 1, "backend", op);
    int index = (int)lsl_check_integer(L, 2, "index", 0, INT32_MAX, op);
    size_t n;
    if (state->in_host_func > 0)
        lsl_fail(L, SL_ESTATE, op, "a host function must not open a device");
    lsl_refuse_in_thread(L, op);
    sl_device *known = find_real(L, backend, index);
    if (known) {
        lsl_set_current(state, known);
        lsl_push_device(L, known);
        return 1;
    }
    const sl_setting *settings = choose_settings(L, 3, &n, op);
    lsl_box *box = lsl_new_box(L, LSL_DEVICE);
    wait_for_all(L, op);
    lsl_device_node *node = calloc(1, sizeof *node);
    if (!node) lsl_fail(L, SL_ENOMEM, op, "out of host memory");
    sl_error err;
    sl_device *device = NULL;
    sl_device *beside = lua_isnoneornil(L, 4) ? lsl_find_real(state, backend)
                                              : lsl_check_device(L, 4, "beside", op);
    sl_status status = beside ? sl_device_open_beside(beside, index, settings, n, &device, &err)
                              : sl_device_open(backend, index, settings, n, &device, &err);
    if (status != SL_OK) {
        free(node);
        if (status == SL_ENOTFOUND && strcmp(backend, "sim") == 0)
            lsl_fail(L, status, op, "%s; choose the GPU with profile =", err.msg);
        lsl_check(L, status, &err, op);
    }
    sl_device_set_pressure_hook(device, collect, state);
    lsl_add_device(state, node, device);
    box->p = sl_device_retain(device);
    lsl_remember(L);
    lsl_set_current(state, device);
    lsl_close_unused(L);
    lsl_take_notice(L, device);
    lua_pushboolean(L, 1);
    return 2;
}

/* core.is_recorded(device): whether a recording runs of its machine. */
static int internal_is_recorded(lua_State *L)
{
    lua_pushboolean(L, sl_device_is_recording(lsl_check_device(L, 1, "device", "is_recorded")));
    return 1;
}

/* core.beside(index): the open device of that index in the machine of the current device; nil:
 * there is none. And that current device, if it is a simulated one. */
static int internal_beside(lua_State *L)
{
    lsl_state *state = lsl_get(L);
    int index = (int)lsl_check_integer(L, 1, "index", 0, INT32_MAX, "open");
    sl_device *current = state->current;
    if (!current || !sl_device_get_info(current)->simulated) return 0;
    sl_device *found = lsl_find_beside(state, current, index);
    if (found)
        lsl_push_device(L, found);
    else
        lua_pushnil(L);
    lsl_push_device(L, current);
    return 2;
}

/* core.set_figures(device, settings): of a simulated device that is open. */
static int internal_set_figures(lua_State *L)
{
    const char *op = "profile";
    sl_device *device = lsl_check_device(L, 1, "device", op);
    size_t n;
    sl_setting *settings = read_settings(L, 2, &n, op);
    sl_error err;
    lsl_check(L, sl_device_set_figures(device, settings, n, &err), &err, op);
    return 0;
}

/* core.graph_costs(settings): what graphs cost on a GPU that is simulated with these settings, a
 * list for trace.as_graphs (l_as_graphs.c). */
static int internal_graph_costs(lua_State *L)
{
    const char *op = "explain";
    size_t n;
    sl_setting *settings = read_settings(L, 1, &n, op);
    sl_device *device = NULL;
    sl_error err;
    lsl_check(L, sl_device_open("sim", 0, settings, n, &device, &err), &err, op);
    sl_graph_costs costs = sl_device_get_info(device)->graph;
    sl_device_release(device);
    lsl_push_graph_costs(L, &costs);
    return 1;
}

/* core.device_count(backend): how many it has; with 0 also the reason. Nil, the reason
 * and the code if this build lacks the backend or it cannot work here. */
static int internal_device_count(lua_State *L)
{
    int count = 0;
    sl_error err;
    sl_status status = sl_backend_device_count(lua_tostring(L, 1), &count, &err);
    if (status != SL_OK) return lsl_push_failure(L, status, &err);
    lua_pushinteger(L, count);
    if (count > 0) return 1;
    lua_pushstring(L, err.msg[0] != '\0' ? err.msg : "no GPU answered");
    return 2;
}

/* core.device_name(backend, index): nil if the backend does not know it. */
static int internal_device_name(lua_State *L)
{
    char name[96];
    const char *backend = lsl_check_text(L, 1, "backend", "devices");
    int index = (int)lsl_check_integer(L, 2, "index", 0, INT32_MAX, "devices");
    if (sl_backend_device_name(backend, index, name, sizeof name, NULL) != SL_OK) return 0;
    lua_pushstring(L, name);
    return 1;
}

/* core.streams(): the streams that scripts have, of all devices, in no order. */
static int internal_streams(lua_State *L)
{
    lua_settop(L, 0);
    lua_newtable(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, lsl_get(L)->boxes_ref);
    lua_pushnil(L);
    while (lua_next(L, 2)) {
        const lsl_box *box = lsl_to(L, -1, LSL_STREAM);
        if (box && lsl_is_open(box))
            lua_rawseti(L, 1, (lua_Integer)lua_rawlen(L, 1) + 1);
        else
            lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return 1;
}

static int internal_notice(lua_State *L)
{
    lsl_notice(L, lsl_check_text(L, 1, "text", "notice"));
    return 0;
}

/* core.default(field) of the defaults that the program has set. */
static int internal_default(lua_State *L)
{
    lsl_push_default(L, lsl_check_text(L, 1, "field", "default"));
    return 1;
}

/* core.set_default(field, value): in place of what the program's command line says. */
static int internal_set_default(lua_State *L)
{
    lsl_check_text(L, 1, "field", "set_default");
    lua_settop(L, 2);
    if (lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.defaults") != LUA_TTABLE) return 0;
    lua_insert(L, 1);
    lua_settable(L, 1);
    return 0;
}

/* core.leave_device(): none is current until the next call that needs one. */
static int internal_leave_device(lua_State *L)
{
    lsl_settle_guards(L);
    lsl_set_current(lsl_get(L), NULL);
    return 0;
}

/* ---- the device's fields ---------------------------------------------------------- */

static const sl_device_info *check_self(lua_State *L, const char *op)
{
    return sl_device_get_info(lsl_check_device(L, 1, "self", op));
}

#define INFO_GETTER(field, push) LSL_GETTER(const sl_device_info, field, push, self->field)
INFO_GETTER(name, string)
INFO_GETTER(backend, string)
INFO_GETTER(profile, string)
INFO_GETTER(simulated, boolean)
INFO_GETTER(index, integer)
INFO_GETTER(sm_count, integer)
INFO_GETTER(async_engine_count, integer)
INFO_GETTER(memory_bytes, integer)
INFO_GETTER(max_threads_per_block, integer)
INFO_GETTER(max_shared_bytes_per_block, integer)

/* "9.0", as NVIDIA writes it. */
static int get_compute_capability(lua_State *L)
{
    const sl_device_info *info = check_self(L, "compute_capability");
    lua_pushfstring(L, "%d.%d", info->compute_capability_major, info->compute_capability_minor);
    return 1;
}

static int get_priority_range(lua_State *L)
{
    const sl_device_info *info = check_self(L, "priority_range");
    lua_createtable(L, 0, 2);
    lsl_set_integer(L, "least", info->priority_least);
    lsl_set_integer(L, "greatest", info->priority_greatest);
    return 1;
}

/* d:make_current(): what lab.open has done when it returns. */
static int device_make_current(lua_State *L)
{
    check_self(L, "make_current");
    lsl_no_more(L, 1, "make_current");
    lsl_settle_guards(L);
    lsl_set_current(lsl_get(L), ((lsl_box *)lua_touserdata(L, 1))->p);
    lua_settop(L, 1);
    return 1;
}

static void push_text(lua_State *L, const lsl_box *box)
{
    if (!lsl_is_open(box)) {
        lua_pushliteral(L, "device (closed)");
        return;
    }
    const sl_device_info *info = sl_device_get_info(box->p);
    lua_pushfstring(L, "device %d %s (%s%s%s)", info->index, info->name, info->backend,
                    info->profile[0] != '\0' ? ", profile " : "", info->profile);
}

/* ---- functions --------------------------------------------------------------------- */

static int lab_device(lua_State *L)
{
    lsl_no_more(L, 0, "device");
    lsl_push_device(L, lsl_device(L, "device"));
    return 1;
}

static int lab_synchronize(lua_State *L)
{
    lsl_no_more(L, 0, "synchronize");
    sl_device *device = lsl_device(L, "synchronize");
    sl_error err;
    lsl_mark(L, device);
    lsl_check(L, sl_device_synchronize(device, &err), &err, "synchronize");
    return 0;
}

static int lab_host_work(lua_State *L)
{
    int64_t duration_ns = lsl_check_ms(L, 1, "ms", "host_work");
    lsl_no_more(L, 1, "host_work");
    sl_device *device = lsl_device(L, "host_work");
    sl_error err;
    lsl_mark(L, device);
    lsl_check(L, sl_device_host_work(device, duration_ns, &err), &err, "host_work");
    return 0;
}

/* lab.now_us(): the host's clock, virtual on the simulator. */
static int lab_now_us(lua_State *L)
{
    lsl_no_more(L, 0, "now_us");
    lua_pushnumber(L, (double)sl_device_host_now_ns(lsl_device(L, "now_us")) / 1000.0);
    return 1;
}

/* now_ns(device): the same in whole nanoseconds, differences of which are exact; of the
 * current device if none is given. */
static int internal_now_ns(lua_State *L)
{
    sl_device *device = lua_isnone(L, 1) ? lsl_device(L, "now_us")
                                         : lsl_check_device(L, 1, "device", "now_us");
    lua_pushinteger(L, sl_device_host_now_ns(device));
    return 1;
}

/* lab.live(): what is alive on all devices that are open. Opens none. Work of
 * no duration makes the core retire what has completed; a host function, which
 * must not call CUDA, sees the counts as they are. */
static int lab_live(lua_State *L)
{
    lsl_no_more(L, 0, "live");
    static const struct {
        const char *name;
        size_t offset;
    } fields[] = {
        { "streams", offsetof(sl_device_stats, streams) },
        { "events", offsetof(sl_device_stats, events) },
        { "tensors", offsetof(sl_device_stats, tensors) },
        { "buffers", offsetof(sl_device_stats, buffers) },
        { "graphs", offsetof(sl_device_stats, graphs) },
        { "comms", offsetof(sl_device_stats, comms) },
        { "ops", offsetof(sl_device_stats, ops_in_flight) },
        { "device_bytes", offsetof(sl_device_stats, device_bytes) },
        { "pinned_bytes", offsetof(sl_device_stats, pinned_bytes) },
        { "pageable_bytes", offsetof(sl_device_stats, pageable_bytes) },
    };
    int64_t sums[LSL_COUNT(fields)] = { 0 };
    for (lsl_device_node *node = lsl_get(L)->devices; node; node = node->next) {
        sl_device_stats one;
        sl_error err;
        if (lsl_get(L)->in_host_func == 0)
            lsl_check(L, sl_device_host_work(node->device, 0, &err), &err, "live");
        sl_device_get_stats(node->device, &one);
        for (int i = 0; i < LSL_COUNT(fields); i++)
            sums[i] += *(const int64_t *)((const char *)&one + fields[i].offset);
    }
    lua_createtable(L, 0, LSL_COUNT(fields));
    for (int i = 0; i < LSL_COUNT(fields); i++)
        lsl_set_integer(L, fields[i].name, sums[i]);
    return 1;
}

/* load_blas(): the simulator's, which is otherwise loaded with the first large product. */
static int internal_load_blas(lua_State *L)
{
    (void)L;
    sl_backend_preload();
    return 0;
}

/* ---- tables ----------------------------------------------------------------------------- */

static const luaL_Reg functions[] = {
    { "device", lab_device },       { "synchronize", lab_synchronize },
    { "host_work", lab_host_work }, { "now_us", lab_now_us },
    { "live", lab_live },           { NULL, NULL },
};
const luaL_Reg lsl_device_internals[] = {
    { "open", internal_open },
    { "has_figures", internal_has_figures },
    { "set_figures", internal_set_figures },
    { "graph_costs", internal_graph_costs },
    { "device_count", internal_device_count },
    { "beside", internal_beside },
    { "is_recorded", internal_is_recorded },
    { "device_name", internal_device_name },
    { "streams", internal_streams },
    { "load_blas", internal_load_blas },
    { "notice", internal_notice },
    { "default", internal_default },
    { "set_default", internal_set_default },
    { "leave_device", internal_leave_device },
    { "now_ns", internal_now_ns },
    { NULL, NULL },
};
static const luaL_Reg methods[] = { { "make_current", device_make_current }, { NULL, NULL } };
static const luaL_Reg getters[] = {
    { "name", get_name },
    { "backend", get_backend },
    { "profile", get_profile },
    { "index", get_index },
    { "simulated", get_simulated },
    { "sm_count", get_sm_count },
    { "async_engine_count", get_async_engine_count },
    { "memory_bytes", get_memory_bytes },
    { "compute_capability", get_compute_capability },
    { "priority_range", get_priority_range },
    { "max_threads_per_block", get_max_threads_per_block },
    { "max_shared_bytes_per_block", get_max_shared_bytes_per_block },
    { NULL, NULL },
};
static const lsl_class class = { push_text, NULL, methods, getters };

void lsl_open_device(lua_State *L)
{
    lsl_define_boxes(L, LSL_DEVICE, &class);
    lsl_set_functions(L, functions);
}
