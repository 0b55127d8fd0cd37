/* l_breakdown.c - tl:by(key): a timeline's operations by what they belong to; tl:changes(other,
 * key): those of two. The rows are in ns for bindings/words/breakdown.lua and changes.lua, which
 * have what scripts get and what is printed.
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
    case SL_BY_PHASE: return sl_phase_name((sl_phase)id);
    case SL_BY_OPERATOR:
    case SL_BY_MODULE:
    case SL_BY_LINE:
    case SL_BY_STEP:
    case SL_BYS: break;
    }
    return sl_timeline_text(timeline, id);
}

/* Who wrote the timeline, by which the words say what to do about what it lacks. */
static const char *writer_of(const sl_timeline *timeline)
{
    const sl_origin origin = sl_timeline_origin(timeline);
    if (origin.recorded) return "recorder";
    return origin.pytorch ? "pytorch" : "other";
}

static void push_row(lua_State *L, const sl_timeline *timeline, sl_by by, const sl_share *share)
{
    char buffer[SL__KERNEL_BYTES];
    _Static_assert(sizeof buffer >= SL_STREAM_NAME_BYTES, "it has room for every name");
    lua_createtable(L, 0, 9);
    lsl_set_text(L, "name", name_of(timeline, by, share->id, buffer));
    if (by == SL_BY_KERNEL || by == SL_BY_COMMUNICATION)
        lsl_set_text(L, "full_name", sl_timeline_text(timeline, share->id));
    lsl_set_integer(L, "count", (int64_t)share->n);
    lsl_set_integer(L, "sum", share->sum_ns);
    lsl_set_integer(L, "busy", share->busy_ns);
    lsl_set_integer(L, "covered", share->covered_ns);
    lsl_set_integer(L, "part", share->part_ns);
    if (by != SL_BY_STEP || share->id == 0) return;
    lsl_set_integer(L, "wall", share->wall_ns);
    lsl_set_integer(L, "ran", share->ran_ns);
}

/* Pushes what took longer, up to MOST_CHANGES. */
static void push_changes(lua_State *L, const sl_timeline *timeline, const sl_step *was,
                         const sl_step *is, const char *op)
{
    enum { MOST_CHANGES = 20 };
    char buffer[SL__KERNEL_BYTES];
    void **owner = lsl_new_owner(L);
    sl_step_change *changes;
    size_t n;
    sl_error err;
    lsl_check(L, sl_timeline_step_changes(timeline, was, is, &changes, &n, &err), &err, op);
    *owner = changes;
    lua_newtable(L);
    for (size_t i = 0; i < n && i < MOST_CHANGES && changes[i].is_ns > changes[i].was_ns; i++) {
        const sl_step_change *c = &changes[i];
        const bool is_gpu = c->part == SL_STEP_GPU;
        lua_createtable(L, 0, 6);
        lsl_set_text(L, "part", sl_step_part_name(c->part));
        lsl_set_text(L, "name",
                     is_gpu ? sl_timeline_kernel_label(timeline, c->text, buffer) : c->name);
        lsl_set_integer(L, "was", c->was_ns);
        lsl_set_integer(L, "is", c->is_ns);
        lsl_set_integer(L, "n_was", (int64_t)c->n_was);
        lsl_set_integer(L, "n_is", (int64_t)c->n_is);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_remove(L, -2);
}

/* Sets the field `slowest` of the rows at the top, unless there are fewer than two steps: {name =,
 * wall =, ran =, median_name =, median =, median_ran =, changes = }. */
static void set_slowest(lua_State *L, const sl_timeline *timeline, const char *op)
{
    void **owner = lsl_new_owner(L);
    sl_step *steps;
    size_t n, median, slowest;
    sl_error err;
    lsl_check(L, sl_timeline_steps(timeline, &steps, &n, &err), &err, op);
    *owner = steps;
    if (sl_steps_extremes(steps, n, &median, &slowest)) {
        const sl_step *was = &steps[median], *is = &steps[slowest];
        lua_createtable(L, 0, 7);
        lsl_set_text(L, "name", sl_timeline_text(timeline, is->name));
        lsl_set_integer(L, "wall", is->end_ns - is->start_ns);
        lsl_set_integer(L, "ran", is->busy_ns);
        lsl_set_text(L, "median_name", sl_timeline_text(timeline, was->name));
        lsl_set_integer(L, "median", was->end_ns - was->start_ns);
        lsl_set_integer(L, "median_ran", was->busy_ns);
        push_changes(L, timeline, was, is, op);
        lua_setfield(L, -2, "changes");
        lua_setfield(L, -3, "slowest");
    }
    lua_pop(L, 1);
}

/* Pushes the rows: {{name =, full_name =, count =, sum =, busy =, covered =, part =}, ...}; of
 * steps also wall = and ran =, and behind them slowest =. */
static void push_rows(lua_State *L, const sl_timeline *timeline, sl_by by, const char *op)
{
    void **owner = lsl_new_owner(L);
    sl_share *shares;
    size_t n;
    sl_error err;
    lsl_check(L, sl_timeline_breakdown(timeline, by, &shares, &n, &err), &err, op);
    *owner = shares;
    lua_createtable(L, n < INT32_MAX ? (int)n : INT32_MAX, 1);
    lsl_set_text(L, "writer", writer_of(timeline));
    for (size_t i = 0; i < n; i++) {
        push_row(L, timeline, by, &shares[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_remove(L, -2);
    if (by == SL_BY_STEP) set_slowest(L, timeline, op);
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

/* ---- two timelines --------------------------------------------------------------------- */

lsl_timeline *lsl_check_other(lua_State *L, const char *op)
{
    lsl_timeline *other = lsl_to(L, 2, LSL_TIMELINE);
    if (!other || !other->p) lsl_type_error(L, 2, "other", "a timeline", op);
    if (other->device)
        lsl_fail(L, SL_ESTATE, op, "the other timeline is still recording: call its stop() first");
    if (!lsl_to_timeline(L, 2))
        lsl_fail(L, SL_ESTATE, op,
                 "the other timeline keeps only a summary: record it without keep = \"summary\"");
    return other;
}

/* Streams of two runs have nothing in common but their numbers. */
static bool is_compared(sl_by by)
{
    switch (by) {
    case SL_BY_KERNEL:
    case SL_BY_OPERATOR:
    case SL_BY_MODULE:
    case SL_BY_LINE:
    case SL_BY_STEP: return true;
    case SL_BY_PHASE:
    case SL_BY_STREAM:
    case SL_BY_COMMUNICATION:
    case SL_BYS: break;
    }
    return false;
}

static sl_by check_key(lua_State *L, const char *key, const char *op)
{
    sl_by by = SL_BYS;
    if (!sl_by_parse(key, &by) || !is_compared(by))
        lsl_fail(L, SL_EINVAL, op,
                 "timelines are compared by \"kernel\", \"operator\", \"module\", \"line\" or "
                 "\"step\", not by \"%.60s\"",
                 key);
    return by;
}

static void push_side(lua_State *L, const sl_timeline *timeline, sl_by by, const char *op)
{
    lua_createtable(L, 0, 2);
    push_rows(L, timeline, by, op);
    lua_setfield(L, -2, "rows");
    lsl_set_integer(L, "makespan", sl_timeline_makespan_ns(timeline));
}

void lsl_push_changes(lua_State *L, const sl_timeline *a, const sl_timeline *b, const char *key,
                      const char *form, int64_t columns, const char *op)
{
    const sl_by by = check_key(L, key, op);
    lsl_push_words(L, "changes");
    lua_getfield(L, -1, form);
    lua_getfield(L, -2, "compare");
    lua_remove(L, -3);
    lua_pushstring(L, key);
    push_side(L, a, by, op);
    push_side(L, b, by, op);
    lua_call(L, 3, 1);
    if (columns > 0) lua_pushinteger(L, columns);
    lua_call(L, columns > 0 ? 2 : 1, 1);
}

/* tl:changes(other, key): a list of tables. */
static int timeline_changes(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "changes");
    lsl_timeline *other = lsl_check_other(L, "changes");
    const char *key = lsl_check_text(L, 3, "key", "changes");
    lsl_no_more(L, 3, "changes");
    lsl_push_changes(L, box->p, other->p, key, "list", 0, "changes");
    return 1;
}

/* After lsl_open_timeline. */
void lsl_open_breakdown(lua_State *L)
{
    static const luaL_Reg methods[] = { { "by", timeline_by },
                                        { "changes", timeline_changes },
                                        { NULL, NULL } };
    lsl_add_methods(L, LSL_TIMELINE, methods);
}
