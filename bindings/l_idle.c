/* l_idle.c - tl:idle(): why the GPUs of a timeline were idle. The rows are in ns for
 * bindings/words/idle.lua, which has what scripts get and what is printed.
 */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

/* Pushes {{kind =, call =, no_kernel =, nothing =, count =}, ...}. */
static void push_rows(lua_State *L, const sl_idle *idle)
{
    lua_createtable(L, idle->n < INT32_MAX ? (int)idle->n : INT32_MAX, 0);
    for (size_t i = 0; i < idle->n; i++) {
        const sl_idle_row *row = &idle->rows[i];
        lua_createtable(L, 0, 5);
        lsl_set_text(L, "kind", sl_idle_kind_name(row->kind));
        lsl_set_text(L, "call", row->call);
        lsl_set_integer(L, "no_kernel", row->no_kernel_ns);
        lsl_set_integer(L, "nothing", row->nothing_ns);
        lsl_set_integer(L, "count", (int64_t)row->n);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* Pushes {device =, prefix = "gpu1: " or "", makespan =, no_kernel =, nothing =, rows =}. */
static void push_gpu(lua_State *L, const sl_timeline *timeline, int place, const char *op)
{
    char prefix[SL_PREFIX_BYTES];
    void **owner = lsl_new_owner(L);
    sl_idle idle;
    sl_error err;
    lsl_check(L, sl_timeline_idle(timeline, place, &idle, &err), &err, op);
    *owner = idle.rows;
    lua_createtable(L, 0, 6);
    lsl_set_integer(L, "device", sl_timeline_device_at(timeline, place)->index);
    lsl_set_text(L, "prefix", sl_timeline_device_prefix(timeline, place, prefix));
    lsl_set_integer(L, "makespan", sl_timeline_makespan_ns(timeline));
    lsl_set_integer(L, "no_kernel", idle.no_kernel_ns);
    lsl_set_integer(L, "nothing", idle.nothing_ns);
    push_rows(L, &idle);
    lua_setfield(L, -2, "rows");
    lua_remove(L, -2);
}

void lsl_push_idle(lua_State *L, const sl_timeline *timeline, const char *form, const char *op)
{
    lua_Integer n = 0;
    luaL_checkstack(L, 12, NULL);
    lsl_push_words(L, "idle");
    lua_getfield(L, -1, form);
    lua_remove(L, -2);
    lua_newtable(L);
    for (int k = 0; k < sl_timeline_device_count(timeline); k++) {
        sl_selection sel = sl_select_all;
        sel.place = sl_timeline_place_in_order(timeline, k);
        if (sl_timeline_count(timeline, &sel) == 0) continue;
        push_gpu(L, timeline, sel.place, op);
        lua_rawseti(L, -2, ++n);
    }
}

/* tl:idle(): a list of tables, one for each GPU. */
static int timeline_idle(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "idle");
    lsl_no_more(L, 1, "idle");
    lsl_push_idle(L, box->p, "list", "idle");
    lua_call(L, 1, 1);
    return 1;
}

/* After lsl_open_timeline. */
void lsl_open_idle(lua_State *L)
{
    static const luaL_Reg methods[] = { { "idle", timeline_idle }, { NULL, NULL } };
    lsl_add_methods(L, LSL_TIMELINE, methods);
}
