/* l_causes.c - where time was lost, as tables for scripts. tl:explain(), which prints
 * it, is in l_show.c.
 */
#include "l_timeline.h"

#include <string.h>

/* What {waits =, inferred =} at argument 2 asks for. */
typedef struct wishes { int waits, inferred; } wishes;

static wishes read_wishes(lua_State *L, bool with_waits, const char *op)
{
    wishes w = {0};
    const lsl_option options[] = {
        {"inferred", LSL_OPT_BOOL, &w.inferred}, {"waits", LSL_OPT_BOOL, &w.waits},
    };
    lsl_no_more(L, 2, op);
    lua_settop(L, 2);
    lsl_options(L, 2, options, with_waits ? 2 : 1, op);
    return w;
}

static void set_correlation(lua_State *L, const char *field, uint64_t correlation)
{
    if (correlation == 0) return;
    lsl_set_integer(L, field, correlation);
}

static void push_finding(lua_State *L, const lsl_timeline *timeline, const sl_finding *finding)
{
    sl_cause_record record;
    sl_cause_read(timeline->p, finding, &record);
    lua_createtable(L, 0, 15);
    lsl_set_boolean(L, "guess", record.guess);
    lsl_set_known(L, "cause", finding->cause == SL_CAUSE_NONE ? "running"
                                                              : sl_cause_name(finding->cause));
    lsl_set_known(L, "engine", sl_engine_name(finding->engine));
    lsl_set_us(L, "lost_us", finding->lost_ns);
    if (finding->gain_ns >= 0) lsl_set_us(L, "gain_us", finding->gain_ns);
    lsl_set_integer(L, "count", finding->n_waits);
    lsl_set_us(L, "from_us", finding->from_ns - timeline->host_start_ns);
    lsl_set_us(L, "to_us", finding->to_ns - timeline->host_start_ns);
    set_correlation(L, "waiter", finding->waiter);
    set_correlation(L, "by", finding->by);
    lsl_set_known(L, "waiter_where", record.waiter.where);
    lsl_set_known(L, "by_where", record.by.where);
}

/* Sets the finding's sentence and remedy in the table on top; `words` is where core.words.say
 * stands on the stack, behind the explanation. */
static void set_words(lua_State *L, int words, size_t finding)
{
    static const char *const fields[] = {"sentence", "remedy"};
    int table = lua_gettop(L);
    lua_getfield(L, words - 1, "finding");
    lua_pushinteger(L, (lua_Integer)finding + 1);
    lua_call(L, 1, 1);
    for (int i = 0; i < LSL_COUNT(fields); i++) {
        lua_pushvalue(L, words);
        lua_pushvalue(L, table + 1);
        lua_pushstring(L, fields[i]);
        lua_call(L, 2, 1);
        lua_setfield(L, table, fields[i]);
    }
    lua_settop(L, table);
}

/* Sets `waits`, a list of {waiter =, by =, from_us =, to_us =}, in the table on top. The
 * waits of finding `i` begin at *at, which is moved behind them. */
static void set_waits(lua_State *L, const lsl_timeline *timeline, const sl_explanation *found,
                      size_t i, size_t *at)
{
    lua_newtable(L);
    for (lua_Integer n = 1; *at < found->n_waits && found->waits[*at].finding == i; n++, ++*at) {
        const sl_wait *wait = &found->waits[*at];
        lsl_stop_at(L, n, "causes");
        lua_createtable(L, 0, 4);
        set_correlation(L, "waiter", wait->waiter);
        set_correlation(L, "by", wait->by);
        lsl_set_us(L, "from_us", wait->from_ns - timeline->host_start_ns);
        lsl_set_us(L, "to_us", wait->to_ns - timeline->host_start_ns);
        lua_rawseti(L, -2, n);
    }
    lua_setfield(L, -2, "waits");
}

/* tl:causes{waits =, inferred =}: a list of tables, the largest gain first. */
static int timeline_causes(lua_State *L)
{
    lsl_timeline *timeline = lsl_check_timeline(L, "causes");
    wishes w = read_wishes(L, true, "causes");
    const sl_explanation *found = lsl_push_explanation(L, 1, w.inferred, "causes");
    lsl_push_words(L, "say");
    int words = lua_gettop(L);
    size_t at = 0;
    lua_createtable(L, (int)(found->n_findings & INT32_MAX), 0);
    for (size_t i = 0; i < found->n_findings; i++) {
        const sl_finding *finding = &found->findings[i];
        push_finding(L, timeline, finding);
        lsl_set_boolean(L, "idle", finding->idle);
        lsl_set_boolean(L, "inferred", found->inferred);
        set_words(L, words, i);
        if (w.waits) set_waits(L, timeline, found, i, &at);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* tl:verdict(): whether there is anything to gain. */
static int timeline_verdict(lua_State *L)
{
    lsl_timeline *timeline = lsl_check_timeline(L, "verdict");
    wishes w = read_wishes(L, false, "verdict");
    const sl_explanation *found = lsl_push_explanation(L, 1, w.inferred, "verdict");
    sl_verdict verdict = sl_explanation_judge(timeline->p, found);
    lua_createtable(L, 0, 6);
    lsl_push_words(L, "verdict");
    lua_pushvalue(L, -3);
    lua_call(L, 1, 1);
    lua_setfield(L, -2, "sentence");
    lsl_set_boolean(L, "good", verdict.good);
    lsl_set_boolean(L, "joint", verdict.joint);
    lsl_set_us(L, "gain_us", verdict.gain_ns);
    int64_t left_ns = verdict.makespan_ns - verdict.gain_ns;
    if (left_ns > 0) {
        lua_pushnumber(L, (double)verdict.makespan_ns / (double)left_ns);
        lua_setfield(L, -2, "ratio");
    }
    if (verdict.gain_ns > 0) lsl_set_known(L, "cause", sl_cause_name(verdict.cause));
    return 1;
}

/* tl:makespan_parts{inferred =}: what the makespan consists of; the lost_us of all add up
 * to it. */
static int timeline_makespan_parts(lua_State *L)
{
    lsl_timeline *timeline = lsl_check_timeline(L, "makespan_parts");
    wishes w = read_wishes(L, false, "makespan_parts");
    const sl_explanation *found = lsl_push_explanation(L, 1, w.inferred, "makespan_parts");
    lua_createtable(L, (int)(found->n_chain & INT32_MAX), 0);
    for (size_t i = 0; i < found->n_chain; i++) {
        push_finding(L, timeline, &found->chain[i]);
        if (sl_cause_traits(found->chain[i].cause) & SL_CAUSE_ENGINELESS) {
            lua_pushnil(L);
            lua_setfield(L, -2, "engine");
        }
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static const luaL_Reg methods[] = {
    {"causes", timeline_causes}, {"verdict", timeline_verdict},
    {"makespan_parts", timeline_makespan_parts}, {NULL, NULL}
};

/* After lsl_open_timeline. */
void lsl_open_causes(lua_State *L)
{
    lsl_add_methods(L, LSL_TIMELINE, methods);
}
