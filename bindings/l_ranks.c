/* l_ranks.c - lab.ranks: the files of a distributed program's ranks, for bindings/ranks.lua.
 *
 * core.load_ranks(paths): {{rank =, ranks = as the file says, or nil, collectives =}, ...,
 *                         match = function(order)}
 *   match(order)  the rest, of the files in that order, a list of their numbers; nil and a number:
 *                 that file has nothing in common with the others. Times are in ns:
 *                 {is_apart =, early =, pairwise =, collectives = how many are matched,
 *                  ranks = {{rank's figures as in sl_rank}, ...},
 *                  sizes = {{kind =, bytes =, ranks =, count =, median =, best =, factor =}, ...},
 *                  steps = {{step =, rank = its place in the order, late =}, ...},
 *                  misfits = {{least =, most =, at =}, ...}}
 */
#include <stdlib.h>

#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

static void free_ranks(void *memory) { sl_ranks_free(memory); }

/* One timeline at a time is in memory. */
static void load(lua_State *L, sl_ranks *ranks, const char *path)
{
    sl_timeline *timeline;
    sl_error err;
    sl_status status = sl_timeline_load(path, SL_BUSIEST_DEVICE, &timeline, &err);
    if (status == SL_OK) {
        status = sl_ranks_add(ranks, timeline, &err);
        sl_timeline_release(timeline);
    }
    lsl_check(L, status, &err, "ranks");
}

static void push_head(lua_State *L, const sl_rank *rank)
{
    lua_createtable(L, 0, 3);
    lsl_set_integer(L, "collectives", (int64_t)rank->n_parts);
    if (rank->ranks == 0) return;
    lsl_set_integer(L, "rank", rank->rank);
    lsl_set_integer(L, "ranks", rank->ranks);
}

/* ---- what was found ------------------------------------------------------------------------ */

static void push_rank(lua_State *L, const sl_rank *rank)
{
    lua_createtable(L, 0, 14);
    lsl_set_integer(L, "makespan", rank->makespan_ns);
    lsl_set_integer(L, "compute", rank->compute_ns);
    lsl_set_integer(L, "comm", rank->comm_ns);
    lsl_set_integer(L, "covered", rank->covered_ns);
    lsl_set_integer(L, "wait", rank->wait_ns);
    lsl_set_integer(L, "offset", rank->offset_ns);
    lsl_set_integer(L, "spread", rank->spread_ns);
    lsl_set_integer(L, "drift", rank->drift_ns);
    lsl_set_integer(L, "collectives", (int64_t)rank->n_parts);
    lsl_set_integer(L, "matched", (int64_t)rank->n_matched);
    lsl_set_integer(L, "last", (int64_t)rank->n_last);
    lsl_set_integer(L, "late", rank->late_ns);
    lsl_set_integer(L, "last_steps", (int64_t)rank->n_last_steps);
    lsl_set_integer(L, "late_in_step", rank->late_in_step_ns);
}

static void push_size(lua_State *L, const sl_rank_size *size)
{
    const sl_exchange exchange = (sl_exchange)size->exchange;
    lua_createtable(L, 0, 7);
    lsl_set_text(L, "kind", sl_exchange_name(exchange));
    lsl_set_integer(L, "bytes", (int64_t)size->bytes);
    lsl_set_integer(L, "ranks", size->ranks);
    lsl_set_integer(L, "count", (int64_t)size->n);
    lsl_set_integer(L, "median", size->median_ns);
    lsl_set_integer(L, "best", size->best_ns);
    lua_pushnumber(L, sl_exchange_bus_factor(exchange, size->ranks));
    lua_setfield(L, -2, "factor");
}

static void push_step(lua_State *L, const sl_rank_step *step)
{
    lua_createtable(L, 0, 3);
    lsl_set_integer(L, "step", step->step);
    lsl_set_integer(L, "rank", (int64_t)step->rank + 1);
    lsl_set_integer(L, "late", step->late_ns);
}

static void push_misfit(lua_State *L, const sl_rank_misfit *misfit)
{
    lua_createtable(L, 0, 3);
    lsl_set_integer(L, "least", (int64_t)misfit->least);
    lsl_set_integer(L, "most", (int64_t)misfit->most);
    lsl_set_integer(L, "at", (int64_t)misfit->at);
}

/* Sets a field of the table on top to the list that push(L, &at[i]) makes. */
#define SET_LIST(L, field, at, n, push)                    \
    do {                                                   \
        lua_createtable((L), (int)sl__min((n), 4096u), 0); \
        for (size_t i_ = 0; i_ < (n); i_++) {              \
            push((L), &(at)[i_]);                          \
            lua_rawseti((L), -2, (lua_Integer)i_ + 1);     \
        }                                                  \
        lua_setfield((L), -2, (field));                    \
    } while (0)

static void push_found(lua_State *L, const sl_ranks *ranks)
{
    lua_createtable(L, 0, 8);
    lsl_set_boolean(L, "is_apart", ranks->is_apart);
    lsl_set_integer(L, "early", (int64_t)ranks->n_early);
    lsl_set_integer(L, "pairwise", (int64_t)ranks->n_pairwise);
    lsl_set_integer(L, "collectives", (int64_t)ranks->n_meetings);
    SET_LIST(L, "ranks", ranks->at, ranks->n, push_rank);
    SET_LIST(L, "sizes", ranks->sizes, ranks->n_sizes, push_size);
    SET_LIST(L, "steps", ranks->steps, ranks->n_steps, push_step);
    SET_LIST(L, "misfits", ranks->misfits, ranks->n_misfits, push_misfit);
}

/* ---- functions ----------------------------------------------------------------------------- */

/* `order`, a list at index 1, has each number once. */
static void put_in_order(lua_State *L, const sl_ranks *ranks)
{
    sl_rank *copy = lsl_scratch(L, ranks->n + 1, sizeof *copy, "ranks");
    for (size_t i = 0; i < ranks->n; i++)
        copy[i] = ranks->at[i];
    for (size_t i = 0; i < ranks->n; i++) {
        lua_rawgeti(L, 1, (lua_Integer)i + 1);
        ranks->at[i] = copy[lua_tointeger(L, -1) - 1];
        lua_pop(L, 1);
    }
}

static int match(lua_State *L)
{
    sl_ranks *ranks = lsl_scratch_at(L, lua_upvalueindex(2));
    sl_error err;
    size_t which;
    put_in_order(L, ranks);
    const sl_status status = sl_ranks_match(ranks, &which, &err);
    if (status == SL_ENOTFOUND) {
        lua_pushnil(L);
        lua_pushinteger(L, (lua_Integer)which + 1);
        return 2;
    }
    lsl_check(L, status, &err, "ranks");
    push_found(L, ranks);
    sl_ranks_free(ranks);
    return 1;
}

static int internal_load_ranks(lua_State *L)
{
    const lua_Integer n = (lua_Integer)lua_rawlen(L, 1);
    lsl_check_files(L, "ranks");
    sl_ranks *ranks = lsl_new_scratch(L, sizeof *ranks, free_ranks);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, 1, i);
        load(L, ranks, lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    lua_createtable(L, (int)n, 1);
    for (lua_Integer i = 1; i <= n; i++) {
        push_head(L, &ranks->at[i - 1]);
        lua_rawseti(L, -2, i);
    }
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushvalue(L, -3);
    lua_pushcclosure(L, match, 2);
    lua_setfield(L, -2, "match");
    return 1;
}

const luaL_Reg lsl_ranks_internals[] = {
    { "load_ranks", internal_load_ranks },
    { NULL, NULL },
};
