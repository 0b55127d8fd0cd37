/* l_part.c - tl:part: what the host began during some steps or ranges, some operations one after
 * the other, or what ran in some time, as a timeline of its own. */
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

static int64_t time_ns(lua_State *L, double us, const char *name)
{
    if (!(us >= 0 && us <= 9e15))
        lsl_fail(L, SL_EINVAL, "part", "option '%s' must be from 0 to 9e15, got %.14g", name,
                 lsl_printable(us));
    return (int64_t)llround(us * 1000.0);
}

/* Infinite: not given. */
static void read_time(lua_State *L, double from_us, double to_us, sl_part_choice *choice)
{
    const bool has_from = from_us < INFINITY, has_to = to_us < INFINITY;
    choice->is_time = has_from || has_to;
    choice->from_ns = has_from ? time_ns(L, from_us, "from_us") : 0;
    choice->to_ns = has_to ? time_ns(L, to_us, "to_us") : INT64_MAX;
    if (choice->to_ns <= choice->from_ns)
        lsl_fail(L, SL_EINVAL, "part", "the time is empty: from_us is %.14g, to_us is %.14g",
                 has_from ? from_us : 0.0, to_us);
}

/* {step =, last_step =}, {range =}, {skip =, count =} or {from_us =, to_us =} at argument 2. */
static sl_part_choice read_choice(lua_State *L)
{
    const char *range = NULL;
    int64_t step = -1, last = -1, skip = -1, count = -1;
    double from_us = INFINITY, to_us = INFINITY;
    const lsl_option options[] = {
        { "range", LSL_OPT_TEXT, &range },       { "step", LSL_OPT_INTEGER, &step },
        { "last_step", LSL_OPT_INTEGER, &last }, { "skip", LSL_OPT_INTEGER, &skip },
        { "count", LSL_OPT_INTEGER, &count },    { "from_us", LSL_OPT_NUMBER, &from_us },
        { "to_us", LSL_OPT_NUMBER, &to_us },
    };
    lsl_options(L, 2, options, LSL_COUNT(options), "part");
    sl_part_choice choice = { .name = range, .first_step = step };
    read_count(L, skip, count, &choice);
    read_time(L, from_us, to_us, &choice);
    if ((range != NULL) + (step >= 0) + (choice.count > 0) + choice.is_time != 1)
        lsl_fail(L, SL_EINVAL, "part",
                 "it needs option 'step', option 'range', options 'skip' and 'count', or options "
                 "'from_us' and 'to_us'");
    if (last >= 0 && step < 0)
        lsl_fail(L, SL_EINVAL, "part", "option 'last_step' goes with 'step'");
    if (last >= 0 && last < step)
        lsl_fail(L, SL_EINVAL, "part", "option 'last_step' must be at least %lld, got %lld",
                 (long long)step, (long long)last);
    choice.last_step = last < 0 ? step : last;
    return choice;
}

/* tl:part({step =, last_step =, range =, skip =, count =, from_us =, to_us =}) */
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
