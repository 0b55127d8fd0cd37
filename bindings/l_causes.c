/* l_causes.c - where time was lost, as tables for scripts. tl:explain(), which prints
 * it, is in l_show.c.
 */
#include "l_timeline.h"

#include <string.h>

/* An explanation that the collector frees. */
typedef struct causes_box {
    lsl_tag tag;
    sl_explanation found;
    sl_text sentence, remedy;
} causes_box;

static int causes_gc(lua_State *L)
{
    causes_box *box = lsl_to(L, 1, LSL_CAUSES);
    if (box == NULL) return 0;
    sl_explanation_free(&box->found);
    sl_text_free(&box->sentence);
    sl_text_free(&box->remedy);
    memset(box, 0, sizeof(*box));
    return 0;
}

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

/* Pushes one, of the timeline at argument 1. */
static causes_box *push_causes(lua_State *L, lsl_timeline *timeline, wishes w, const char *op)
{
    lsl_timeline_add_sources(L, timeline, op);
    causes_box *box = lsl_new(L, LSL_CAUSES, sizeof(*box));
    sl_error err;
    sl_status status = w.inferred ? sl_timeline_infer_causes(timeline->p, &box->found, &err)
                                  : sl_timeline_find_causes(timeline->p, &box->found, &err);
    lsl_check(L, status, &err, op);
    return box;
}

static void set_text(lua_State *L, const char *field, const char *text)
{
    if (*text == '\0') return;
    lua_pushstring(L, text);
    lua_setfield(L, -2, field);
}

static void set_correlation(lua_State *L, const char *field, uint64_t correlation)
{
    if (correlation == 0) return;
    lua_pushinteger(L, (lua_Integer)correlation);
    lua_setfield(L, -2, field);
}

static void set_where(lua_State *L, const sl_timeline *timeline, const char *field,
                      uint64_t correlation)
{
    const sl_span *span = sl_timeline_find_span(timeline, correlation);
    const sl_call *call = span == NULL ? sl_timeline_find_call(timeline, correlation) : NULL;
    uint32_t where = span != NULL ? span->where : call != NULL ? call->where : 0;
    set_text(L, field, sl_timeline_text(timeline, where));
}

static void push_finding(lua_State *L, const lsl_timeline *timeline, const sl_finding *finding)
{
    lua_createtable(L, 0, 15);
    lua_pushboolean(L, sl_finding_is_guess(timeline->p, finding));
    lua_setfield(L, -2, "guess");
    set_text(L, "cause", finding->cause == SL_CAUSE_NONE ? "running"
                                                         : sl_cause_name(finding->cause));
    set_text(L, "engine", sl_engine_name(finding->engine));
    lsl_set_us(L, "lost_us", finding->lost_ns);
    if (finding->gain_ns >= 0) lsl_set_us(L, "gain_us", finding->gain_ns);
    lua_pushinteger(L, (lua_Integer)finding->n_waits);
    lua_setfield(L, -2, "count");
    lsl_set_us(L, "from_us", finding->from_ns - timeline->host_start_ns);
    lsl_set_us(L, "to_us", finding->to_ns - timeline->host_start_ns);
    set_correlation(L, "waiter", finding->waiter);
    set_correlation(L, "by", finding->by);
    set_where(L, timeline->p, "waiter_where", finding->waiter);
    set_where(L, timeline->p, "by_where", finding->by);
}

static void set_told(lua_State *L, const char *field, const sl_text *text, const char *op)
{
    if (text->failed) lsl_fail(L, SL_ENOMEM, op, "no memory for an explanation");
    set_text(L, field, text->data != NULL ? text->data : "");
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
    causes_box *box = push_causes(L, timeline, w, "causes");
    size_t at = 0;
    lua_createtable(L, (int)(box->found.n_findings & INT32_MAX), 0);
    for (size_t i = 0; i < box->found.n_findings; i++) {
        const sl_finding *finding = &box->found.findings[i];
        push_finding(L, timeline, finding);
        lua_pushboolean(L, finding->idle);
        lua_setfield(L, -2, "idle");
        lua_pushboolean(L, box->found.inferred);
        lua_setfield(L, -2, "inferred");
        sl_text_free(&box->sentence);
        sl_text_free(&box->remedy);
        sl_finding_tell(timeline->p, finding, &box->sentence, &box->remedy);
        set_told(L, "sentence", &box->sentence, "causes");
        set_told(L, "remedy", &box->remedy, "causes");
        if (w.waits) set_waits(L, timeline, &box->found, i, &at);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* tl:verdict(): whether there is anything to gain. */
static int timeline_verdict(lua_State *L)
{
    lsl_timeline *timeline = lsl_check_timeline(L, "verdict");
    wishes w = read_wishes(L, false, "verdict");
    causes_box *box = push_causes(L, timeline, w, "verdict");
    sl_verdict verdict = sl_explanation_judge(timeline->p, &box->found);
    sl_verdict_tell(timeline->p, &box->found, &verdict, &box->sentence);
    lua_createtable(L, 0, 6);
    set_told(L, "sentence", &box->sentence, "verdict");
    lua_pushboolean(L, verdict.good);
    lua_setfield(L, -2, "good");
    lua_pushboolean(L, verdict.joint);
    lua_setfield(L, -2, "joint");
    lsl_set_us(L, "gain_us", verdict.gain_ns);
    int64_t left_ns = verdict.makespan_ns - verdict.gain_ns;
    if (left_ns > 0) {
        lua_pushnumber(L, (double)verdict.makespan_ns / (double)left_ns);
        lua_setfield(L, -2, "ratio");
    }
    if (verdict.gain_ns > 0) set_text(L, "cause", sl_cause_name(verdict.cause));
    return 1;
}

/* tl:makespan_parts{inferred =}: what the makespan consists of; the lost_us of all add up
 * to it. */
static int timeline_makespan_parts(lua_State *L)
{
    lsl_timeline *timeline = lsl_check_timeline(L, "makespan_parts");
    wishes w = read_wishes(L, false, "makespan_parts");
    causes_box *box = push_causes(L, timeline, w, "makespan_parts");
    lua_createtable(L, (int)(box->found.n_chain & INT32_MAX), 0);
    for (size_t i = 0; i < box->found.n_chain; i++) {
        push_finding(L, timeline, &box->found.chain[i]);
        if (sl_cause_traits(box->found.chain[i].cause) & SL_CAUSE_ENGINELESS) {
            lua_pushnil(L);
            lua_setfield(L, -2, "engine");
        }
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static const luaL_Reg meta[] = {{"__gc", causes_gc}, {NULL, NULL}};
static const luaL_Reg methods[] = {
    {"causes", timeline_causes}, {"verdict", timeline_verdict},
    {"makespan_parts", timeline_makespan_parts}, {NULL, NULL}
};

/* After lsl_open_timeline. */
void lsl_open_causes(lua_State *L)
{
    lsl_define(L, LSL_CAUSES, "causes", meta, NULL, NULL);
    lsl_add_methods(L, LSL_TIMELINE, methods);
}
