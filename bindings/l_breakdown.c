/* l_breakdown.c - tl:by(key): a timeline's operations by what they belong to. The rows are in ns
 * for bindings/words/breakdown.lua, which has what scripts get and what is printed.
 */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

#include <stdio.h>
#include <string.h>

/* The keys, as "a", "b" or "c". */
LSL_COLD static int fail_key(lua_State *L, const char *key, const char *op)
{
    luaL_Buffer known;
    luaL_buffinit(L, &known);
    for (int by = 0; by < SL_BYS; by++) {
        luaL_addstring(&known, by == 0 ? "\"" : by == SL_BYS - 1 ? "\" or \"" : "\", \"");
        luaL_addstring(&known, sl_by_name((sl_by)by));
    }
    luaL_addchar(&known, '"');
    luaL_pushresult(&known);
    return lsl_fail(L, SL_EINVAL, op, "operations are listed by %s, not by \"%.60s\"",
                    lua_tostring(L, -1), key);
}

/* What a row is called; "" where the timeline does not say. */
static const char *name_of(const sl_timeline *timeline, sl_by by, uint32_t id, char *buffer)
{
    switch (by) {
    case SL_BY_STREAM: return sl_timeline_stream_name(timeline, id, buffer);
    case SL_BY_KERNEL:
    case SL_BY_COMMUNICATION: return sl_timeline_kernel_label(timeline, id, buffer);
    case SL_BY_OPERATOR:
    case SL_BY_MODULE:
    case SL_BY_LINE:
    case SL_BY_STEP:
    case SL_BYS: break;
    }
    return sl_timeline_text(timeline, id);
}

/* Pushes the rows: {{name =, full_name =, count =, sum =, busy =, covered =}, ...} */
static void push_rows(lua_State *L, const sl_timeline *timeline, sl_by by, const char *op)
{
    char buffer[SL__KERNEL_BYTES];
    _Static_assert(sizeof buffer >= SL_STREAM_NAME_BYTES, "it has room for every name");
    void **owner = lsl_new_owner(L);
    sl_share *shares;
    size_t n;
    sl_error err;
    lsl_check(L, sl_timeline_breakdown(timeline, by, &shares, &n, &err), &err, op);
    *owner = shares;
    lua_createtable(L, n < INT32_MAX ? (int)n : INT32_MAX, 0);
    for (size_t i = 0; i < n; i++) {
        lua_createtable(L, 0, 6);
        lsl_set_text(L, "name", name_of(timeline, by, shares[i].id, buffer));
        if (by == SL_BY_KERNEL || by == SL_BY_COMMUNICATION)
            lsl_set_text(L, "full_name", sl_timeline_text(timeline, shares[i].id));
        lsl_set_integer(L, "count", (int64_t)shares[i].n);
        lsl_set_integer(L, "sum", shares[i].sum_ns);
        lsl_set_integer(L, "busy", shares[i].busy_ns);
        lsl_set_integer(L, "covered", shares[i].covered_ns);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_remove(L, -2);
}

void lsl_push_breakdown(lua_State *L, const sl_timeline *timeline, const char *key,
                        const char *form, const char *op)
{
    sl_by by;
    if (!sl_by_parse(key, &by)) fail_key(L, key, op);
    lsl_push_words(L, "breakdown");
    lua_getfield(L, -1, form);
    lua_remove(L, -2);
    lua_pushstring(L, key);
    push_rows(L, timeline, by, op);
}

/* tl:by(key): a list of tables. */
static int timeline_by(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "by");
    const char *key = lsl_check_text(L, 2, "key", "by");
    lsl_no_more(L, 2, "by");
    lsl_push_breakdown(L, box->p, key, "list", "by");
    lua_call(L, 2, 1);
    return 1;
}

/* After lsl_open_timeline. */
void lsl_open_breakdown(lua_State *L)
{
    static const luaL_Reg methods[] = { { "by", timeline_by }, { NULL, NULL } };
    lsl_add_methods(L, LSL_TIMELINE, methods);
}
