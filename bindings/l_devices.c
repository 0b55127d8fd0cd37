/* l_devices.c - the devices that are open: what is noted of each, and when they are closed.
 *
 * The state holds a reference to each. A real GPU stays open until the end, since opening it again
 * gives the same device. A simulated one that nothing else refers to can never be used again: it
 * is closed when the next one is opened, and not when its last object is collected, because a
 * finalizer may run in the middle of any function of the module. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- closing ----------------------------------------------------------------- */

static void close_node(lua_State *L, lsl_state *state, lsl_device_node **at)
{
    lsl_device_node *node = *at;
    *at = node->next;
    lsl_forget_positions(state, node->device); /* another device may get its address */
    if (!state->of_thread) sl_device_set_pressure_hook(node->device, NULL, NULL);
    sl_device_release(node->device);
    luaL_unref(L, LUA_REGISTRYINDEX, node->note_ref);
    free(node);
}

/* The devices of a machine share a clock, on which closing one takes time: all of them close, or
 * none. */
static bool is_unused(const lsl_state *state, const sl_device *device)
{
    for (const lsl_device_node *node = state->devices; node; node = node->next)
        if (sl_device_are_of_one_machine(node->device, device)
            && !sl_device_is_unused(node->device))
            return false;
    return true;
}

void lsl_close_unused(lua_State *L)
{
    lsl_state *state = lsl_get(L);
    if (state->keeps_devices || sl_check_get_mode() != SL_CHECK_OFF || lsl_in_finalizer(L)) return;
    for (lsl_device_node **at = &state->devices; *at;) {
        sl_device *device = (*at)->device;
        if (sl_device_get_info(device)->simulated && is_unused(state, device)) {
            sl_device_drain(device);
            close_node(L, state, at);
        } else {
            at = &(*at)->next;
        }
    }
}

void lsl_drain_devices(const lsl_state *state)
{
    for (const lsl_device_node *node = state->devices; node; node = node->next)
        sl_device_drain(node->device);
}

void lsl_close_devices(lua_State *L, lsl_state *state)
{
    while (state->devices)
        close_node(L, state, &state->devices);
}

/* ---- functions --------------------------------------------------------------- */

static lsl_device_node *check_node(lua_State *L, const char *op)
{
    return lsl_node_of(lsl_get(L), lsl_check_device(L, 1, "device", op));
}

/* core.devices(): those that are open, the latest first. */
static int internal_devices(lua_State *L)
{
    lua_newtable(L);
    for (lsl_device_node *node = lsl_get(L)->devices; node; node = node->next) {
        lsl_push_device(L, node->device);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
    return 1;
}

/* core.device_key(device): a number that stands for it and does not keep it alive. */
static int internal_device_key(lua_State *L)
{
    lua_pushinteger(L, check_node(L, "device_key")->key);
    return 1;
}

/* core.note_device(device, value): keeps a value as long as the device is open. */
static int internal_note_device(lua_State *L)
{
    lsl_device_node *node = check_node(L, "note_device");
    lua_settop(L, 2);
    luaL_unref(L, LUA_REGISTRYINDEX, node->note_ref);
    node->note_ref = LUA_NOREF;
    node->note_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

/* core.noted_device(device): that value, or nil. */
static int internal_noted_device(lua_State *L)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, check_node(L, "noted_device")->note_ref);
    return 1;
}

/* core.keep_devices(): from now on all devices stay open, for a program that lists them. */
static int internal_keep_devices(lua_State *L)
{
    lsl_get(L)->keeps_devices = true;
    return 0;
}

const luaL_Reg lsl_devices_internals[] = {
    { "devices", internal_devices },           { "device_key", internal_device_key },
    { "note_device", internal_note_device },   { "noted_device", internal_noted_device },
    { "keep_devices", internal_keep_devices }, { NULL, NULL },
};
