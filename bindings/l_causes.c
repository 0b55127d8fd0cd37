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

int lsl_causes_gc(lua_State *L)
{
    causes_box *box = lsl_to(L, 1, LSL_CAUSES);
    if (box == NULL) return 0;
    sl_explanation_free(&box->found);
    sl_text_free(&box->sentence);
    sl_text_free(&box->remedy);
    memset(box, 0, sizeof(*box));
    return 0;
}

/* Pushes one, of the timeline at argument 1. */
static causes_box *push_causes(lua_State *L, lsl_timeline *timeline, const char *op)
{
    lsl_timeline_add_sources(L, timeline);
    causes_box *box = lsl_new(L, LSL_CAUSES, sizeof(*box));
    sl_error err;
    lsl_check(L, sl_timeline_find_causes(timeline->p, &box->found, &err), &err, op);
    return box;
}

static void set_us(lua_State *L, const char *field, int64_t ns)
{
    lua_pushnumber(L, (double)ns / 1000.0);
    lua_setfield(L, -2, field);
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
    lua_createtable(L, 0, 14);
    set_text(L, "cause", finding->cause == SL_CAUSE_NONE ? "running"
                                                         : sl_cause_name(finding->cause));
    set_text(L, "engine", sl_engine_name(finding->engine));
    set_us(L, "lost_us", finding->lost_ns);
    lua_pushinteger(L, (lua_Integer)finding->n_waits);
    lua_setfield(L, -2, "count");
    set_us(L, "from_us", finding->from_ns - timeline->host_start_ns);
    set_us(L, "to_us", finding->to_ns - timeline->host_start_ns);
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

/* tl:causes(): a list of tables, the largest loss first. */
int lsl_timeline_causes(lua_State *L)
{
    lsl_timeline *timeline = lsl_check_timeline(L, "causes");
    lsl_no_more(L, 1, "causes");
    causes_box *box = push_causes(L, timeline, "causes");
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
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* tl:makespan_parts(): what the makespan consists of; the lost_us of all add up to it. */
int lsl_timeline_makespan_parts(lua_State *L)
{
    lsl_timeline *timeline = lsl_check_timeline(L, "makespan_parts");
    lsl_no_more(L, 1, "makespan_parts");
    causes_box *box = push_causes(L, timeline, "makespan_parts");
    lua_createtable(L, (int)(box->found.n_chain & INT32_MAX), 0);
    for (size_t i = 0; i < box->found.n_chain; i++) {
        push_finding(L, timeline, &box->found.chain[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}
