/* l_counters.c - tl:counters(): memory, queues, kernels at once and copies over time. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

#include <stdlib.h>

#define USUAL_POINTS 2000

static const char *const units[] = {
    [SL_UNIT_COUNT] = "count",
    [SL_UNIT_BYTES] = "bytes",
    [SL_UNIT_BYTES_PER_S] = "bytes/s",
};

/* Sets two fields, lists of times and of values. */
static void set_points(lua_State *L, const sl_counter *counter, int64_t base_ns)
{
    const int n = counter->n < INT32_MAX ? (int)counter->n : INT32_MAX;
    lua_createtable(L, n, 0);
    lua_createtable(L, n, 0);
    for (size_t i = 0; i < counter->n; i++) {
        lua_pushnumber(L, (lua_Number)(counter->at[i].at_ns - base_ns) / 1000);
        lua_rawseti(L, -3, (lua_Integer)i + 1);
        lua_pushinteger(L, counter->at[i].value);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -3, "values");
    lua_setfield(L, -2, "at_us");
}

/* Appends {name =, title =, unit =, device =, max =, max_us =, at_us =, values =} to the list on
 * top of the stack, unless there is nothing of it; of a part of the time, from from_ns to to_ns. */
static void add_counter(lua_State *L, const sl_timeline *timeline, const sl_counter *counter,
                        int64_t base_ns)
{
    if (counter->n == 0) return;
    lua_createtable(L, 0, 8);
    lsl_set_text(L, "name", sl_counter_name(counter->kind));
    lsl_set_text(L, "title", sl_counter_title(counter->kind));
    lsl_set_text(L, "unit", units[sl_counter_unit(counter->kind)]);
    char prefix[SL_PREFIX_BYTES] = "";
    if (sl_counter_is_of_gpu(counter->kind)) {
        lsl_set_integer(L, "device", sl_timeline_device_at(timeline, counter->place)->index);
        sl_timeline_device_prefix(timeline, counter->place, prefix);
    }
    lsl_set_text(L, "prefix", prefix);
    lsl_set_integer(L, "max", counter->most);
    lsl_set_us(L, "max_us", counter->most_ns - base_ns);
    set_points(L, counter, base_ns);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

void lsl_push_counters(lua_State *L, const sl_timeline *timeline, const lsl_counter_part *part,
                       const char *op)
{
    luaL_checkstack(L, 8, NULL);
    lua_newtable(L);
    void **owner = lsl_new_owner(L);
    lua_insert(L, -2);
    for (int k = 0; k < sl_timeline_device_count(timeline); k++) {
        for (int kind = 0; kind < SL_COUNTERS; kind++) {
            const int place = sl_timeline_place_in_order(timeline, k);
            sl_counter counter;
            sl_error err;
            lsl_check(L,
                      sl_timeline_counter(timeline, (sl_counter_kind)kind, place, &counter, &err),
                      &err, op);
            *owner = counter.at;
            if (part->points > 0)
                sl_counter_reduce(&counter, part->from_ns, part->to_ns, part->points);
            add_counter(L, timeline, &counter, part->base_ns);
            *owner = NULL;
            free(counter.at);
        }
    }
    lua_remove(L, -2);
}

/* tl:counters({points =}): a list of tables. */
static int timeline_counters(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "counters");
    int64_t points = USUAL_POINTS;
    const lsl_option options[] = { { "points", LSL_OPT_INTEGER, &points } };
    lsl_no_more(L, 2, "counters");
    lsl_options(L, 2, options, LSL_COUNT(options), "counters");
    const int64_t first_ns = sl_timeline_first_ns(box->p);
    const lsl_counter_part all = {
        .from_ns = first_ns,
        .to_ns = first_ns + sl_timeline_makespan_ns(box->p),
        .base_ns = box->host_start_ns,
        .points = (size_t)points,
    };
    lsl_push_counters(L, box->p, &all, "counters");
    return 1;
}

/* After lsl_open_timeline. */
void lsl_open_counters(lua_State *L)
{
    static const luaL_Reg methods[] = { { "counters", timeline_counters }, { NULL, NULL } };
    lsl_add_methods(L, LSL_TIMELINE, methods);
}
