/* l_host_ranges.c - tl:ranges([kind]): what the host was about, as programs mark it. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

static void push_range(lua_State *L, const lsl_timeline *box, size_t index)
{
    const sl_host_range range = sl_timeline_host_range(box->p, index);
    lua_createtable(L, 0, 6);
    lsl_set_text(L, "name", sl_timeline_text(box->p, range.name));
    lsl_set_text(L, "kind", sl_host_range_kind_name((sl_host_range_kind)range.kind));
    lsl_set_integer(L, "thread", range.thread);
    if (range.kind != SL_HOST_RANGE_STEP)
        lsl_set_known(L, "thread_name", sl_timeline_thread_name(box->p, range.thread));
    lsl_set_us(L, "start_us", range.start_ns - box->host_start_ns);
    lsl_set_us(L, "end_us", range.end_ns - box->host_start_ns);
}

/* The first range of the kind that the second argument names, and how many there are. */
static size_t find_kind(lua_State *L, const sl_timeline *timeline, size_t *n)
{
    const char *name = lsl_check_text(L, 2, "kind", "ranges");
    sl_host_range_kind kind;
    if (sl_host_range_kind_parse(name, &kind)) return sl_timeline_host_ranges_of(timeline, kind, n);
    lsl_fail(
        L, SL_EINVAL, "ranges",
        "kinds of ranges are \"operator\", \"python\", \"library\", \"module\", \"annotation\", "
        "\"step\" and \"nvtx\", not \"%.60s\"",
        name);
    return 0;
}

/* A list of tables. */
static int timeline_ranges(lua_State *L)
{
    const lsl_timeline *box = lsl_check_timeline(L, "ranges");
    size_t first = 0, n = sl_timeline_host_range_count(box->p);
    if (!lua_isnoneornil(L, 2)) first = find_kind(L, box->p, &n);
    lsl_no_more(L, 2, "ranges");
    lua_createtable(L, n < INT32_MAX ? (int)n : INT32_MAX, 0);
    for (size_t i = 0; i < n; i++) {
        lsl_stop_at(L, (int64_t)i, "ranges");
        push_range(L, box, first + i);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* After lsl_open_timeline. */
void lsl_open_host_ranges(lua_State *L)
{
    static const luaL_Reg methods[] = { { "ranges", timeline_ranges }, { NULL, NULL } };
    lsl_add_methods(L, LSL_TIMELINE, methods);
}
