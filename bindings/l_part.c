/* l_part.c - tl:part: what the host began during some steps or ranges, or some operations one after
 * the other, as a timeline of its own. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

/* -1: not given. */
static void read_count(lua_State *L, int64_t skip, int64_t count, sl_part_choice *choice)
{
    if (skip < -1) lsl_fail(L, SL_EINVAL, "part", "option 'skip' must be at least 0");
    if (count == 0 || count < -1) lsl_fail(L, SL_EINVAL, "part", "option 'count' must be positive");
    if (skip < 0 && count < 0) return;
    choice->skip = skip < 0 ? 0 : (size_t)skip;
    choice->count = count < 0 ? SIZE_MAX : (size_t)count;
}

/* {step =, last_step =}, {range =} or {skip =, count =} at argument 2. */
static sl_part_choice read_choice(lua_State *L)
{
    const char *range = NULL;
    int64_t step = -1, last = -1, skip = -1, count = -1;
    const lsl_option options[] = {
        { "range", LSL_OPT_TEXT, &range },       { "step", LSL_OPT_INTEGER, &step },
        { "last_step", LSL_OPT_INTEGER, &last }, { "skip", LSL_OPT_INTEGER, &skip },
        { "count", LSL_OPT_INTEGER, &count },
    };
    lsl_options(L, 2, options, LSL_COUNT(options), "part");
    sl_part_choice choice = { .name = range, .first_step = step };
    read_count(L, skip, count, &choice);
    if ((range != NULL) + (step >= 0) + (choice.count > 0) != 1)
        lsl_fail(L, SL_EINVAL, "part",
                 "it needs option 'step', option 'range', or options 'skip' and 'count'");
    if (last >= 0 && step < 0)
        lsl_fail(L, SL_EINVAL, "part", "option 'last_step' goes with 'step'");
    if (last >= 0 && last < step)
        lsl_fail(L, SL_EINVAL, "part", "option 'last_step' must be at least %lld, got %lld",
                 (long long)step, (long long)last);
    choice.last_step = last < 0 ? step : last;
    return choice;
}

/* tl:part({step =, last_step =, range =, skip =, count =}) */
static int timeline_part(lua_State *L)
{
    lsl_timeline *whole = lsl_check_timeline(L, "part");
    lsl_no_more(L, 2, "part");
    lua_settop(L, 2);
    const sl_part_choice choice = read_choice(L);
    lsl_timeline_add_sources(L, whole, "part");
    lsl_timeline *box = lsl_new(L, LSL_TIMELINE, sizeof *box);
    sl_timeline *part;
    sl_error err;
    lsl_check(L, sl_timeline_part(whole->p, &choice, &part, &err), &err, "part");
    box->p = part;
    box->host_start_ns = sl_timeline_host_start_ns(part);
    box->has_sources = true;
    return 1;
}

/* After lsl_open_timeline. */
void lsl_open_part(lua_State *L)
{
    static const luaL_Reg methods[] = { { "part", timeline_part }, { NULL, NULL } };
    lsl_add_methods(L, LSL_TIMELINE, methods);
}
