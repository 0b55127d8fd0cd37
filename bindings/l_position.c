/* l_position.c - script positions: where in the user's script a call is.
 *
 * A position is that of the innermost Lua function outside the prelude, by the script's base
 * name, so that neither the prelude nor the folder that a script lies in shows in errors and
 * timelines. */
#include "l_error.h"

#include <stdio.h>
#include <string.h>

/* Whether *ar ("Sl") is a line of the user's. Comparing one character is enough for nearly every
 * chunk. */
static bool is_users_line(const lua_Debug *ar)
{
    bool prelude = ar->source[0] == '=' && strcmp(ar->source, "=streamlab") == 0;
    return ar->currentline > 0 && !prelude;
}

/* Whether *ar is in the preferred chunk (core.prefer_source). */
static bool is_preferred(const lsl_state *state, const lua_Debug *ar)
{
    return state->preferred && strcmp(ar->source, state->preferred) == 0;
}

/* Fills *ar ("Sl") with the user's innermost line, from `level` on: the innermost one of the
 * preferred chunk, if there is one. */
static bool find_caller(lua_State *L, int level, lua_Debug *ar)
{
    const lsl_state *state = lsl_get(L);
    int innermost = -1;
    for (; lua_getstack(L, level, ar); level++) {
        lua_getinfo(L, "Sl", ar);
        if (!is_users_line(ar)) continue;
        if (!state->preferred || is_preferred(state, ar)) return true;
        if (innermost < 0) innermost = level;
    }
    return innermost >= 0 && lua_getstack(L, innermost, ar) && lua_getinfo(L, "Sl", ar);
}

static void format_where(const lua_Debug *ar, char *text, size_t size)
{
    const char *name = ar->short_src;
    if (ar->source[0] == '@') {
        const char *slash = strrchr(ar->source, '/');
        name = slash ? slash + 1 : ar->source + 1;
    }
    snprintf(text, size, "%.*s:%d", (int)size - 16, name, ar->currentline);
}

void lsl_where_text(lua_State *L, char *text, size_t size)
{
    lua_Debug ar;
    if (find_caller(L, 1, &ar))
        format_where(&ar, text, size);
    else
        text[0] = '\0';
}

const char *lsl_calling_chunk(lua_State *L, char *name, size_t size)
{
    lua_Debug ar;
    char where[LSL_WHERE_TEXT];
    name[0] = '\0';
    if (!find_caller(L, 1, &ar)) return NULL;
    format_where(&ar, where, sizeof where);
    lsl_note_chunk(L, where, ar.source);
    snprintf(name, size, "%.*s", (int)(strrchr(where, ':') - where), where);
    lua_pushstring(L, ar.source);
    return lua_tostring(L, -1);
}

/* Whether the slot has *ar's short_src; both are padded with zeros. Compares eight bytes at a
 * time, because a call of strcmp would take a large part of lsl_mark's time. */
static inline bool same_source(const lsl_where_slot *slot, const lua_Debug *ar)
{
    enum { LAST = LUA_IDSIZE - sizeof(uint64_t) };
    uint64_t x, y, differing = 0;
    for (size_t i = 0; i < slot->source_bytes; i += sizeof x) {
        size_t at = i < LAST ? i : LAST;
        memcpy(&x, slot->source + at, sizeof x);
        memcpy(&y, ar->short_src + at, sizeof y);
        differing |= x ^ y;
    }
    return differing == 0;
}

/* The cache is direct-mapped. The chunk's address only picks the slot: what is
 * compared is its name, since the collector may give an address to another chunk. */
static lsl_where_slot *slot_of(lsl_state *state, const lua_Debug *ar, const sl_device *device)
{
    size_t hash = ((uintptr_t)ar->source >> 4) + ((uintptr_t)device >> 6) + (size_t)ar->currentline;
    return &state->where[hash % LSL_WHERE_SLOTS];
}

/* lsl_mark for a position that the cache does not have, or that is not the direct
 * caller's: as pcall(lab.matmul, a, b) has it. */
LSL_COLD static void mark_slowly(lua_State *L, sl_device *device, lua_Debug *ar)
{
    if (!find_caller(L, 1, ar)) {
        sl_device_set_where(device, 0);
        return;
    }
    char text[LSL_WHERE_TEXT];
    const lsl_state *state = lsl_get(L);
    if (state->preferred && !is_preferred(state, ar)) {
        format_where(ar, text, sizeof text); /* next time another one may be found */
        lsl_note_chunk(L, text, ar->source);
        sl_device_set_where(device, sl_device_intern(device, text));
        return;
    }
    lsl_where_slot *slot = slot_of(lsl_get(L), ar, device);
    if (slot->line != ar->currentline || slot->device != device
        || strcmp(slot->source, ar->short_src) != 0) {
        format_where(ar, text, sizeof text);
        lsl_note_chunk(L, text, ar->source); /* may raise: the slot is still whole */
        slot->id = sl_device_intern(device, text);
        slot->line = ar->currentline;
        slot->device = device;
        slot->source_bytes = (uint32_t)strlen(ar->short_src) + 1;
        memset(slot->source, 0, sizeof slot->source);
        memcpy(slot->source, ar->short_src, slot->source_bytes);
    }
    sl_device_set_where(device, slot->id);
}

/* ---- positions that are known ---- */

/* Of the call that runs; NULL: the caller is a C function. lua_getinfo would count a function's
 * instructions to find its line. */
static const void *calling_pc(lua_State *L)
{
    const lsl_raw_frame *caller = lsl_layout_fits ? lsl_raw_running(L)->previous : NULL;
    return caller && caller->function->tag == LSL_TAG_FUNCTION ? caller->pc : NULL;
}

static size_t pc_place(const void *pc) { return (uintptr_t)pc / 4 % LSL_WHERE_SLOTS; }

/* Whether the code that the slot is of is still there. An instruction's address means one line as
 * long as a function that has it lives: the slot's function is in a weak table. */
static bool has_function(const lsl_state *state, size_t place)
{
    const lsl_raw_table *functions = state->pc_functions;
    return !lsl_raw_is_nil(functions->list[place].tag);
}

/* The caller's position, a line of the user's, is `id` on the device. */
static void know(lua_State *L, sl_device *device, lua_Debug *ar, uint32_t id)
{
    lsl_state *state = lsl_get(L);
    const void *pc = calling_pc(L);
    const size_t place = pc_place(pc);
    if (!pc) return;
    state->pc[place] = (lsl_pc_slot){ .pc = pc, .device = device, .id = id };
    lua_rawgeti(L, LUA_REGISTRYINDEX, state->pc_functions_ref);
    lua_getinfo(L, "f", ar);
    lua_rawseti(L, -2, (lua_Integer)place + 1); /* in its array part: allocates nothing */
    lua_pop(L, 1);
}

/* lsl_mark for a call whose address is not known. Slots hold only the user's lines, so a hit needs
 * no further test. */
LSL_COLD static void mark_by_line(lua_State *L, sl_device *device)
{
    lua_Debug ar;
    if (!lua_getstack(L, 1, &ar)) {
        sl_device_set_where(device, 0);
        return;
    }
    memset(ar.short_src, 0, sizeof ar.short_src);
    lua_getinfo(L, "Sl", &ar);
    const lsl_where_slot *slot = slot_of(lsl_get(L), &ar, device);
    if (slot->line != ar.currentline || slot->device != device || !same_source(slot, &ar)) {
        mark_slowly(L, device, &ar);
        return;
    }
    sl_device_set_where(device, slot->id);
    know(L, device, &ar, slot->id);
}

void lsl_mark(lua_State *L, sl_device *device)
{
    lsl_state *state = lsl_get(L);
    const void *pc = calling_pc(L);
    const size_t place = pc_place(pc);
    const lsl_pc_slot *slot = &state->pc[place];
    if (pc && slot->pc == pc && slot->device == device && has_function(state, place))
        sl_device_set_where(device, slot->id);
    else
        mark_by_line(L, device);
}

void lsl_forget_positions(lsl_state *state, const sl_device *device)
{
    for (int i = 0; i < LSL_WHERE_SLOTS; i++) {
        if (!device || state->where[i].device == device) state->where[i].device = NULL;
        if (!device || state->pc[i].device == device) state->pc[i].device = NULL;
    }
}

void lsl_define_positions(lua_State *L)
{
    lua_createtable(L, LSL_WHERE_SLOTS, 0);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lsl_get(L)->pc_functions = lua_topointer(L, -1);
    lsl_get(L)->pc_functions_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}
