/* l_state.c - what every file of the module may ask of the state: which thread runs, what the
 * program has set, the devices that are open, and which of them and of their streams is current. */
#include "l_error.h"

#include <stdio.h>
#include <string.h>

/* ---- the thread that runs ---------------------------------------------------- */

static _Thread_local lsl_state *own_state;

lsl_state *lsl_own_state(void) { return own_state; }

void lsl_set_own_state(lsl_state *state) { own_state = state; }

void lsl_refuse_in_thread(lua_State *L, const char *op)
{
    if (lsl_get(L)->of_thread)
        lsl_fail(L, SL_ESTATE, op, "only the script's first thread can do that");
}

/* ---- what the program has set ------------------------------------------------ */

void lsl_push_default(lua_State *L, const char *field)
{
    if (lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.defaults") == LUA_TTABLE)
        lua_getfield(L, -1, field);
    else
        lua_pushnil(L);
    lua_remove(L, -2);
}

void lsl_tell_recorded(lua_State *L, const sl_timeline *timeline)
{
    if (sl_timeline_device(timeline)->simulated || sl_timeline_is_summary(timeline)) return;
    lsl_push_default(L, "on_recorded");
    if (lua_isfunction(L, -1)) {
        lua_pushvalue(L, 1);
        lua_call(L, 1, 0);
    } else {
        lua_pop(L, 1);
    }
}

void lsl_notice(lua_State *L, const char *text)
{
    bool alone = lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.defaults") != LUA_TTABLE;
    lua_pop(L, 1);
    if (alone) {
        fprintf(stderr, "streamlab: %s\n", text);
        return;
    }
    lsl_push_default(L, "notice");
    if (lua_isfunction(L, -1)) {
        lua_pushstring(L, text);
        lua_call(L, 1, 0);
    } else {
        lua_pop(L, 1);
    }
}

void lsl_take_notice(lua_State *L, sl_device *device)
{
    const char *text = sl_device_take_notice(device);
    if (text) lsl_notice(L, text);
}

/* ---- devices that are open ---------------------------------------------------- */

sl_device *lsl_find_open(const lsl_state *state, const char *backend, int index)
{
    for (const lsl_device_node *node = state->devices; node; node = node->next) {
        const sl_device_info *info = sl_device_get_info(node->device);
        if (info->index == index && strcmp(info->backend, backend) == 0) return node->device;
    }
    return NULL;
}

sl_device *lsl_find_real(const lsl_state *state, const char *backend)
{
    for (const lsl_device_node *node = state->devices; node; node = node->next) {
        const sl_device_info *info = sl_device_get_info(node->device);
        if (!info->simulated && strcmp(info->backend, backend) == 0) return node->device;
    }
    return NULL;
}

sl_device *lsl_find_beside(const lsl_state *state, const sl_device *device, int index)
{
    for (const lsl_device_node *node = state->devices; node; node = node->next)
        if (sl_device_get_info(node->device)->index == index
            && sl_device_are_of_one_machine(node->device, device))
            return node->device;
    return NULL;
}

lsl_device_node *lsl_node_of(const lsl_state *state, const sl_device *device)
{
    lsl_device_node *node = state->devices;
    while (node->device != device)
        node = node->next;
    return node;
}

void lsl_add_device(lsl_state *state, lsl_device_node *node, sl_device *device)
{
    node->device = device;
    node->key = ++state->last_device_key;
    node->note_ref = LUA_NOREF;
    node->next = state->devices;
    state->devices = node;
}

/* ---- what is current --------------------------------------------------------- */

void lsl_set_current(lsl_state *state, sl_device *device)
{
    sl_device *before = state->current;
    state->current = sl_device_retain(device);
    sl_device_release(before);
}

void lsl_swap_guard(lsl_state *state, lsl_guard *g)
{
    sl_device *of = sl_stream_device(g->stream), *device = g->device;
    sl_stream *kept = g->stream;
    g->stream = sl_stream_retain(sl_device_current_stream(of));
    (void)sl_device_set_current_stream(of, kept, NULL);
    sl_stream_release(kept);
    g->device = state->current; /* with its reference */
    state->current = device;
}

/* Its coroutine does not run. */
static bool is_suspended(const lsl_guard *g) { return lua_status(g->thread) != LUA_OK; }

/* Restores from the newest to the oldest; sets again from the oldest to the newest. */
void lsl_switch_guards(lsl_state *state)
{
    lsl_guard *oldest = NULL;
    for (lsl_guard *g = state->guards; g; oldest = g, g = g->older) {
        if (g->parked || !is_suspended(g)) continue;
        lsl_swap_guard(state, g);
        g->parked = true;
    }
    for (lsl_guard *g = oldest; g; g = g->newer) {
        if (!g->parked || is_suspended(g)) continue;
        lsl_swap_guard(state, g);
        g->parked = false;
    }
}

sl_device *lsl_device(lua_State *L, const char *op)
{
    lsl_state *state = lsl_get(L);
    if (state->closing) lsl_fail(L, SL_ECLOSED, op, "the laboratory was closed");
    lsl_settle_guards(L);
    if (state->current) return state->current;
    luaL_checkstack(L, 4, NULL);
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.open");
    lua_call(L, 0, 0);
    if (!state->current) lsl_fail(L, SL_ESTATE, op, "no device is open");
    return state->current;
}
