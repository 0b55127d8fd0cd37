/* l_ranks.c - lab.ranks: the files of a distributed program's ranks, for bindings/ranks.lua.
 *
 * core.load_ranks(paths, step, last): of each file {place = its number among those that are taken,
 *   rank =, ranks = as the file says, or nil, collectives =, operations =,
 *   doubts = as lsl_set_doubts}, or {problem = why it is no trace}; with these also match =
 *   function(order). step and last, or nil: times and waits are of these steps.
 *   match(order)  the rest, of the files in that order, a list of their places; nil and a number:
 *                 that file has nothing in common with the others. Times are in ns:
 *                 {is_apart =, early =, pairwise =, collectives = how many are matched,
 *                  ranks = {{rank's figures as in sl_rank}, ...},
 *                  sizes = {{kind =, bytes =, ranks =, count =, median =, best =, factor =}, ...},
 *                  steps = {{step =, rank = its place in the order, late =, most =}, ...},
 *                  misfits = {{least =, most =, at =}, ...},
 *                  join = function(files)}
 *   join(files)   a timeline of all; files: {{path =, rank =}, ...}, in the same order
 */
#include <stdlib.h>

#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

static void free_ranks(void *memory) { sl_ranks_free(memory); }
static void free_join(void *memory) { sl_ranks_join_free(memory); }

typedef struct chosen { /* steps */
    bool any;
    int64_t first, last;
} chosen;

static chosen chosen_at(lua_State *L, int first, int last)
{
    if (lua_isnoneornil(L, first)) return (chosen){ false };
    return (chosen){ true, lua_tointeger(L, first), lua_tointeger(L, last) };
}

/* *part is NULL where no steps are chosen. */
static sl_status load(const char *path, chosen steps, sl_timeline **whole, sl_timeline **part,
                      sl_error *err)
{
    const sl_part_choice choice = { .first_step = steps.first, .last_step = steps.last };
    *part = NULL;
    sl_status status = sl_timeline_load(path, SL_BUSIEST_DEVICE, whole, err);
    if (status != SL_OK || !steps.any) return status;
    status = sl_timeline_part(*whole, &choice, part, err);
    if (status == SL_OK) return SL_OK;
    sl_timeline_release(*whole);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Of the rank that was added last. */
static void push_head(lua_State *L, const sl_ranks *ranks, const sl_timeline *timeline)
{
    const sl_rank *rank = &ranks->at[ranks->n - 1];
    lua_createtable(L, 0, 6);
    lsl_set_integer(L, "place", (int64_t)ranks->n);
    lsl_set_integer(L, "collectives", (int64_t)rank->n_parts);
    lsl_set_integer(L, "operations", (int64_t)sl_timeline_span_count(timeline));
    lsl_set_doubts(L, timeline);
    if (rank->ranks == 0) return;
    lsl_set_integer(L, "rank", rank->rank);
    lsl_set_integer(L, "ranks", rank->ranks);
}

/* What is no trace is said; that there is no such file is an error. */
static void push_problem(lua_State *L, sl_status status, const sl_error *err)
{
    if (status == SL_EIO || status == SL_ENOMEM || status == SL_EINTERRUPT)
        lsl_check(L, status, err, "ranks");
    lua_createtable(L, 0, 1);
    lsl_set_text(L, "problem", err->msg);
}

/* Pushes what load_ranks gives of a file. One timeline at a time is in memory. */
static void push_file(lua_State *L, sl_ranks *ranks, const char *path, chosen steps)
{
    sl_timeline *whole, *part;
    sl_error err;
    sl_status status = load(path, steps, &whole, &part, &err);
    if (status != SL_OK) {
        push_problem(L, status, &err);
        return;
    }
    status = sl_ranks_add(ranks, whole, part, &err);
    if (status == SL_OK) push_head(L, ranks, part ? part : whole);
    sl_timeline_release(whole);
    sl_timeline_release(part);
    lsl_check(L, status, &err, "ranks");
}

/* ---- what was found ------------------------------------------------------------------------ */

static void push_rank(lua_State *L, const sl_rank *rank)
{
    lua_createtable(L, 0, 16);
    lsl_set_integer(L, "makespan", rank->makespan_ns);
    lsl_set_integer(L, "compute", rank->compute_ns);
    lsl_set_integer(L, "comm", rank->comm_ns);
    lsl_set_integer(L, "covered", rank->covered_ns);
    lsl_set_integer(L, "wait", rank->wait_ns);
    lsl_set_integer(L, "offset", rank->offset_ns);
    lsl_set_integer(L, "spread", rank->spread_ns);
    lsl_set_integer(L, "drift", rank->drift_ns);
    lsl_set_integer(L, "epoch", rank->epoch_ns);
    lsl_set_integer(L, "collectives", (int64_t)rank->n_chosen);
    lsl_set_integer(L, "matched", (int64_t)rank->n_matched);
    lsl_set_integer(L, "last", (int64_t)rank->n_last);
    lsl_set_integer(L, "late", rank->late_ns);
    lsl_set_integer(L, "last_steps", (int64_t)rank->n_last_steps);
    lsl_set_integer(L, "late_in_step", rank->late_in_step_ns);
    lsl_set_integer(L, "most_in_step", rank->most_in_step_ns);
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
    lua_createtable(L, 0, 4);
    lsl_set_integer(L, "step", step->step);
    lsl_set_integer(L, "rank", (int64_t)step->rank + 1);
    lsl_set_integer(L, "late", step->late_ns);
    lsl_set_integer(L, "most", step->most_ns);
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

/* `order`, a list at index 1, has no number twice: those that it lacks are left out. */
static void put_in_order(lua_State *L, sl_ranks *ranks)
{
    const size_t n = (size_t)lua_rawlen(L, 1);
    sl_rank *copy = lsl_scratch(L, ranks->n + 1, sizeof *copy, "ranks");
    for (size_t i = 0; i < ranks->n; i++) {
        copy[i] = ranks->at[i];
        ranks->at[i] = (sl_rank){ 0 };
    }
    for (size_t i = 0; i < n; i++) {
        lua_rawgeti(L, 1, (lua_Integer)i + 1);
        sl_rank *from = &copy[lua_tointeger(L, -1) - 1];
        ranks->at[i] = *from;
        from->parts = NULL;
        lua_pop(L, 1);
    }
    for (size_t i = 0; i < ranks->n; i++)
        free(copy[i].parts);
    ranks->n = n;
}

/* Of the i-th file, which is described by the table on top of the stack. */
static void join_file(lua_State *L, sl_rank_join *joined, const sl_ranks *ranks, size_t i)
{
    const chosen steps = { ranks->has_steps, ranks->first_step, ranks->last_step };
    sl_timeline *whole, *part;
    sl_error err;
    lua_getfield(L, -1, "path");
    lua_getfield(L, -2, "rank");
    sl_status status = load(lua_tostring(L, -2), steps, &whole, &part, &err);
    lsl_check(L, status, &err, "timeline");
    status = sl_ranks_join_add(joined, ranks, i, (int32_t)lua_tointeger(L, -1), part ? part : whole,
                               &err);
    sl_timeline_release(whole);
    sl_timeline_release(part);
    lsl_check(L, status, &err, "timeline");
    lua_pop(L, 2);
}

static int join(lua_State *L)
{
    const sl_ranks *ranks = lsl_scratch_at(L, lua_upvalueindex(2));
    sl_error err;
    lsl_check_files(L, "timeline");
    sl_rank_join *joined = lsl_new_scratch(L, sizeof *joined, free_join);
    for (size_t i = 0; i < ranks->n; i++) {
        lua_rawgeti(L, 1, (lua_Integer)i + 1);
        join_file(L, joined, ranks, i);
        lua_pop(L, 1);
    }
    lsl_timeline *box = lsl_new(L, LSL_TIMELINE, sizeof *box);
    sl_timeline *made;
    lsl_check(L, sl_ranks_join_end(joined, ranks, &made, &err), &err, "timeline");
    box->p = made;
    box->host_start_ns = sl_timeline_host_start_ns(made);
    box->has_sources = true;
    return 1;
}

/* Sets a field of the table on top to a function that has the ranks at `scratch`. */
static void set_function(lua_State *L, const char *name, lua_CFunction f, int scratch)
{
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushvalue(L, scratch);
    lua_pushcclosure(L, f, 2);
    lua_setfield(L, -2, name);
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
    set_function(L, "join", join, lua_upvalueindex(2));
    return 1;
}

static int internal_load_ranks(lua_State *L)
{
    const lua_Integer n = (lua_Integer)lua_rawlen(L, 1);
    const chosen steps = chosen_at(L, 2, 3);
    lsl_check_files(L, "ranks");
    sl_ranks *ranks = lsl_new_scratch(L, sizeof *ranks, free_ranks);
    *ranks = (sl_ranks){ .has_steps = steps.any,
                         .first_step = steps.first,
                         .last_step = steps.last };
    lua_createtable(L, (int)n, 1);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, 1, i);
        push_file(L, ranks, lua_tostring(L, -1), steps);
        lua_rawseti(L, -3, i);
        lua_pop(L, 1);
    }
    set_function(L, "match", match, lua_gettop(L) - 1);
    return 1;
}

const luaL_Reg lsl_ranks_internals[] = {
    { "load_ranks", internal_load_ranks },
    { NULL, NULL },
};
