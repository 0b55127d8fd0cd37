/* l_range.c - what other runs of a timeline's work took, for bindings/words/ and the files that
 * make such runs. */
#include "l_parts.h"
#include "l_timeline.h"

#include <math.h>

void lsl_set_range(lua_State *L, const sl_timeline *timeline)
{
    char text[SL__RANGE_BYTES];
    const sl_range range = sl_timeline_range(timeline);
    if (range.runs == 0) return;
    sl_format_range(text, sl_timeline_makespan_ns(timeline), range.low_ns, range.high_ns);
    lua_createtable(L, 0, 8);
    lsl_set_integer(L, "low_ns", range.low_ns);
    lsl_set_integer(L, "high_ns", range.high_ns);
    lsl_set_integer(L, "runs", range.runs);
    lsl_set_boolean(L, "drawn", sl_timeline_device(timeline)->simulated);
    lsl_set_text(L, "makespan", text);
    if (range.swapped > 0) {
        lsl_set_integer(L, "swapped", range.swapped);
        lsl_set_text(L, "earlier", sl_cause_name(range.earlier));
        lsl_set_text(L, "later", sl_cause_name(range.later));
    }
    lua_setfield(L, -2, "range");
}

static int64_t check_ns(lua_State *L, int arg)
{
    const double us = luaL_checknumber(L, arg);
    luaL_argcheck(L, us >= 0 && us < 9e15, arg, "no time");
    return (int64_t)llround(us * 1000.0);
}

static sl_cause check_cause(lua_State *L, int arg)
{
    sl_cause cause = SL_CAUSE_NONE;
    if (!lua_isnil(L, arg) && !sl_cause_parse(luaL_checkstring(L, arg), &cause))
        luaL_argerror(L, arg, "no cause");
    return cause;
}

/* core.set_range(tl, low_us, high_us, runs, swapped, earlier, later): as in sl_range; the causes
 * are names, or nil. */
static int internal_set_range(lua_State *L)
{
    const lsl_timeline *box = lsl_to(L, 1, LSL_TIMELINE);
    luaL_argcheck(L, box && box->p, 1, "no timeline");
    lua_settop(L, 7);
    sl_timeline_set_range(box->p, (sl_range){
                                      .low_ns = check_ns(L, 2),
                                      .high_ns = check_ns(L, 3),
                                      .runs = (int32_t)luaL_checkinteger(L, 4),
                                      .swapped = (int32_t)luaL_optinteger(L, 5, 0),
                                      .earlier = check_cause(L, 6),
                                      .later = check_cause(L, 7),
                                  });
    return 0;
}

/* core.range_text(us, low_us, high_us): "97.2 ms (90.1 to 106)" */
static int internal_range_text(lua_State *L)
{
    char text[SL__RANGE_BYTES];
    sl_format_range(text, check_ns(L, 1), check_ns(L, 2), check_ns(L, 3));
    lua_pushstring(L, text);
    return 1;
}

const luaL_Reg lsl_range_internals[] = {
    { "set_range", internal_set_range },
    { "range_text", internal_range_text },
    { NULL, NULL },
};
