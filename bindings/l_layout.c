/* l_layout.c - finds out whether Lua is laid out as layout.h says. */
#include "layout.h"

bool lsl_layout_fits;

/* Of the call that runs, whose first upvalue is a userdata. */
static bool frame_fits(lua_State *L)
{
    lua_Debug ar, caller;
    const lsl_raw_frame *frame = lsl_raw_running(L);
    if (!lua_getstack(L, 0, &ar) || (const void *)frame != ar.i_ci) return false;
    if (lua_getstack(L, 1, &caller) && (const void *)frame->previous != caller.i_ci) return false;
    const lsl_raw_closure *closure = lsl_raw_closure_of(L);
    return closure && closure->upvalue[0].value.p == lua_touserdata(L, lua_upvalueindex(1));
}

/* Of the number on top. */
static bool number_fits(lua_State *L, unsigned char tag)
{
    const lsl_raw_value *slot = lsl_raw_argument(L, lua_gettop(L));
    if (!slot || slot->tag != tag) return false;
    return tag == LSL_TAG_INTEGER ? slot->value.i == lua_tointeger(L, -1)
                                  : slot->value.n == lua_tonumber(L, -1);
}

static bool numbers_fit(lua_State *L)
{
    lua_pushinteger(L, 7);
    const bool integer_fits = number_fits(L, LSL_TAG_INTEGER);
    lua_pushnumber(L, 0.5);
    const bool fits = integer_fits && number_fits(L, LSL_TAG_NUMBER);
    lua_pop(L, 2);
    return fits;
}

/* Of the userdata on top, whose memory that is. */
static bool userdata_fits(lua_State *L, const void *memory)
{
    const lsl_raw_value *slot = lsl_raw_argument(L, lua_gettop(L));
    return slot && lsl_raw_memory(slot->tag, slot->value, 1) == memory
           && !lsl_raw_memory(slot->tag, slot->value, 2);
}

static bool userdata_fit(lua_State *L)
{
    bool fit = true;
    for (int values = 0; values <= 2 && fit; values++) {
        const void *memory = lua_newuserdatauv(L, 1, values);
        fit = userdata_fits(L, memory);
        lua_pop(L, 1);
    }
    return fit;
}

/* Of the table on top: { true, tf32 = true, stream = a userdata with this memory }. */
static bool table_fits(lua_State *L, const void *memory)
{
    const lsl_raw_value *slot = lsl_raw_argument(L, lua_gettop(L));
    if (!slot || lsl_raw_argument(L, lua_gettop(L) + 1)) return false;
    const lsl_raw_table *table = lua_topointer(L, -1);
    if (slot->tag != LSL_TAG_TABLE || slot->value.p != table) return false;
    if (table->listed != 1 || table->list->tag != LSL_TAG_TRUE || table->log2_nodes != 1)
        return false;
    const char *names[] = { "tf32", "stream" };
    const lsl_raw_node *node[2];
    for (int i = 0; i < 2; i++) {
        lua_pushstring(L, names[i]);
        node[i] = lsl_raw_find(table, lua_topointer(L, -1));
        lua_pop(L, 1);
    }
    return node[0] && node[1] && node[0]->tag == LSL_TAG_TRUE
           && lsl_raw_memory(node[1]->tag, node[1]->value, 1) == memory;
}

static bool fits(lua_State *L)
{
    if (!frame_fits(L) || !numbers_fit(L) || !userdata_fit(L)) return false;
    lua_createtable(L, 1, 2);
    lua_pushboolean(L, true);
    lua_rawseti(L, -2, 1);
    lua_pushboolean(L, true);
    lua_setfield(L, -2, "tf32");
    const void *memory = lua_newuserdatauv(L, 1, 0);
    lua_setfield(L, -2, "stream");
    const bool found = table_fits(L, memory);
    lua_pop(L, 1);
    return found;
}

/* Threads open states of their own, all of one Lua: once is enough. */
void lsl_check_layout(lua_State *L)
{
    if (!lsl_layout_fits) lsl_layout_fits = fits(L);
}
