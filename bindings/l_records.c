/* l_records.c - where time was lost: tl:causes(), tl:verdict() and tl:makespan_parts(), and an
 * explanation as bindings/words/ needs it: a table
 *
 *   {inferred =, room_unknown =, n_findings =, n_parts =,
 *    verdict = {good =, joint =, unknown =, gain_ns =, most_ns =, lost_ns =, makespan_ns =,
 *               pause_ns =,
 *               cause =, busiest = an engine, busiest_ns =, if that explains a loss,
 *               lead = nil or a number, also = nil or a number,
 *               n_recorded =, recording_host_ns =, recording_ns =, where recording cost something},
 *    trace = {language = "lua", "pytorch" or "cuda", several_gpus =, recorded = by our recorder,
 *             default_stream = its name,
 *             makespan_ns =, n_spans =, device = the GPU's name, profile = of a simulated one,
 *             as_graphs = function(costs)},  -- l_as_graphs.c
 *    finding = function(i),  -- a record, see push_record
 *    loss = function(i),     -- its lost_ns, gain_ns (-1: not known) and same_as
 *    part = function(i),     -- of the makespan: a record
 *    part_ns = function(i),
 *    waits = function()}     -- a list of {waiter =, by =, from_us =, to_us =} for each finding
 *
 * Records are made one at a time: of a million spans there may be thousands of findings, of
 * which a few are shown.
 */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

#include <string.h>

/* An explanation; the collector frees it if the timeline does not keep it. */
typedef struct causes {
    const sl_explanation *found;
    sl_explanation own;
} causes;

static void free_causes(void *memory) { sl_explanation_free(&((causes *)memory)->own); }

/* ---- fields ---------------------------------------------------------------------------- */

static void set_correlation(lua_State *L, const char *field, uint64_t correlation)
{
    if (correlation != 0) lsl_set_integer(L, field, (int64_t)correlation);
}

/* A field that is not true is not there. */
static void set_true(lua_State *L, const char *field, bool value)
{
    if (!value) return;
    lsl_set_boolean(L, field, true);
}

/* ---- records ----------------------------------------------------------------------------- */

/* What a graph ran: {node =, launch = its correlation, graph = its name, lost_priority = the more
 * urgent one of the stream that it was captured in, which it did not run with}. */
static void set_node(lua_State *L, const sl_side *side)
{
    bool lost = side->launch && !side->launch->priorities && side->node.priority < side->priority;
    lsl_set_integer(L, "node", side->node.node);
    set_correlation(L, "launch", side->node.launch);
    lsl_set_text(L, "graph", side->graph_name);
    if (lost) lsl_set_integer(L, "lost_priority", side->node.priority);
}

static void set_span(lua_State *L, const sl_timeline *timeline, const sl_side *side)
{
    const sl_span *span = &side->span;
    char stream[SL_STREAM_NAME_BYTES];
    lsl_set_integer(L, "correlation", (int64_t)span->correlation);
    lsl_set_text(L, "kind", sl_span_kind_name((sl_span_kind)span->kind));
    lsl_set_text(L, "engine", sl_engine_name((sl_engine)span->engine));
    if (side->short_name) lsl_set_text(L, "short_name", side->short_name);
    lsl_set_text(L, "stream", sl_timeline_stream_name(timeline, span->stream, stream));
    lsl_set_text(L, "stream_name", side->stream_name);
    lsl_set_integer(L, "stream_id", span->stream);
    lsl_set_integer(L, "priority", side->priority);
    lsl_set_integer(L, "bytes", (int64_t)(span->bytes & INT64_MAX));
    const sl_collective_note *note = sl_timeline_find_collective(timeline, span->correlation);
    if (note && note->met_ns) {
        lsl_set_integer(L, "late_rank", note->late_rank);
        set_correlation(L, "late_by", note->late_by);
    }
    set_true(L, "from_pageable", span->flags & SL_SPAN_SRC_PAGEABLE);
    set_true(L, "to_pageable", span->flags & SL_SPAN_DST_PAGEABLE);
    set_true(L, "host_waited", span->flags & SL_SPAN_HOST_WAITED);
    set_true(L, "loaded_code", span->flags & SL_SPAN_LOADED);
    if (side->is_node) set_node(L, side);
}

static void set_call(lua_State *L, const sl_side *side)
{
    const sl_call *call = &side->call;
    lsl_set_integer(L, "correlation", (int64_t)call->correlation);
    lsl_set_text(L, "kind", sl_call_kind_name((sl_call_kind)call->kind));
    set_true(L, "is_call", true);
    set_true(L, "has_own_name", call->name != 0);
    set_true(L, "waited_for_device", call->waited_for_device != 0);
    if (!side->launch) return;
    lsl_set_text(L, "graph", side->graph_name);
    lsl_set_integer(L, "nodes", side->launch->n_nodes);
    set_true(L, "uploads", side->launch->uploads);
}

/* Sets the side, {name =, where =, source =, range =, ...}, unless nothing is known of it. */
static void set_side(lua_State *L, const char *field, const sl_timeline *timeline,
                     const sl_side *side)
{
    if (!side->is_span && !side->is_call) return;
    lua_createtable(L, 0, 20);
    if (side->is_span)
        set_span(L, timeline, side);
    else
        set_call(L, side);
    lsl_set_text(L, "name", side->name);
    lsl_set_text(L, "where", side->where);
    lsl_set_text(L, "source", side->source);
    if (side->range[0]) lsl_set_text(L, "range", side->range);
    lua_setfield(L, -2, field);
}

/* lack = {threads =, registers =, shared_bytes =, block_slot = true}: those that lack. */
static void set_lack(lua_State *L, const sl_sm_lack *lack)
{
    if (!lack->threads && !lack->registers && !lack->shared_bytes && !lack->block_slot) return;
    lua_createtable(L, 0, 4);
    if (lack->threads) lsl_set_integer(L, "threads", lack->threads);
    if (lack->registers) lsl_set_integer(L, "registers", lack->registers);
    if (lack->shared_bytes) lsl_set_integer(L, "shared_bytes", lack->shared_bytes);
    set_true(L, "block_slot", lack->block_slot);
    lua_setfield(L, -2, "lack");
}

/* gpu = "gpu1", that of the engine, where spans are of several. */
static void set_gpu(lua_State *L, const sl_timeline *timeline, const sl_finding *finding)
{
    char prefix[SL_PREFIX_BYTES];
    size_t n = strlen(sl_timeline_device_prefix(timeline, finding->place, prefix));
    if (n == 0) return;
    prefix[n - 2] = '\0';
    lsl_set_text(L, "gpu", prefix);
}

/* Pushes {cause =, engine =, gpu =, idle =, guess =, lost_ns =, gain_ns = nil if not known, count =
 * of what its sentence names, by_host_ns =, by_calls =, many_waiters =, many_by =, by_itself = it
 * waited for its own call, from_us =, to_us =, waiter_id = and by_id = correlations, if known,
 * engineless =, waiter = side, by = side, copy = side, if `by` is its synchronisation, lack = what
 * no SM had free, sms = how many of sm_count it had, trace = what upvalue 4 is}. */
static void push_record(lua_State *L, const lsl_timeline *timeline, const sl_finding *finding)
{
    sl_cause_record record;
    sl_cause_read(timeline->p, finding, &record);
    lua_createtable(L, 0, 20);
    lsl_set_text(L, "cause", sl_cause_name(finding->cause));
    set_true(L, "engineless", sl_cause_traits(finding->cause) & SL_CAUSE_ENGINELESS);
    lsl_set_text(L, "engine", sl_engine_name(finding->engine));
    set_gpu(L, timeline->p, finding);
    set_true(L, "idle", finding->idle);
    set_true(L, "guess", record.guess);
    lsl_set_integer(L, "lost_ns", finding->lost_ns);
    if (finding->gain_ns >= 0) lsl_set_integer(L, "gain_ns", finding->gain_ns);
    lsl_set_integer(L, "count", (int64_t)finding->count);
    lsl_set_integer(L, "by_host_ns", finding->by_host_ns);
    lsl_set_integer(L, "by_calls", (int64_t)finding->by_calls);
    set_true(L, "many_waiters", finding->many_waiters);
    set_true(L, "many_by", finding->many_by);
    set_true(L, "by_itself", finding->waiter == finding->by);
    lsl_set_us(L, "from_us", finding->from_ns - timeline->host_start_ns);
    lsl_set_us(L, "to_us", finding->to_ns - timeline->host_start_ns);
    set_correlation(L, "waiter_id", finding->waiter);
    set_correlation(L, "by_id", finding->by);
    set_side(L, "waiter", timeline->p, &record.waiter);
    set_side(L, "by", timeline->p, &record.by);
    set_side(L, "copy", timeline->p, &record.copy);
    set_lack(L, &record.lack);
    if (record.sm_count) {
        lsl_set_integer(L, "sms", record.sms);
        lsl_set_integer(L, "sm_count", record.sm_count);
    }
    lua_pushvalue(L, lua_upvalueindex(4));
    lua_setfield(L, -2, "trace");
}

/* Upvalues of the functions: the state, the timeline, the explanation, the trace. */
static const lsl_timeline *upvalue_timeline(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(2));
}

static const sl_explanation *upvalue_found(lua_State *L)
{
    return ((const causes *)lsl_scratch_at(L, lua_upvalueindex(3)))->found;
}

/* Which of them argument 1 asks for. */
static const sl_finding *check_finding(lua_State *L, const sl_finding *findings, size_t n)
{
    lua_Integer i = luaL_checkinteger(L, 1);
    luaL_argcheck(L, i >= 1 && (size_t)i <= n, 1, "there is no such finding");
    return &findings[i - 1];
}

static int explanation_finding(lua_State *L)
{
    const sl_explanation *found = upvalue_found(L);
    push_record(L, upvalue_timeline(L), check_finding(L, found->findings, found->n_findings));
    return 1;
}

static int explanation_part(lua_State *L)
{
    const sl_explanation *found = upvalue_found(L);
    push_record(L, upvalue_timeline(L), check_finding(L, found->chain, found->n_chain));
    return 1;
}

static int explanation_part_ns(lua_State *L)
{
    const sl_explanation *found = upvalue_found(L);
    lua_pushinteger(L, check_finding(L, found->chain, found->n_chain)->lost_ns);
    return 1;
}

static int explanation_loss(lua_State *L)
{
    const sl_explanation *found = upvalue_found(L);
    const sl_finding *finding = check_finding(L, found->findings, found->n_findings);
    lua_pushinteger(L, finding->lost_ns);
    lua_pushinteger(L, finding->gain_ns);
    lua_pushinteger(L, (lua_Integer)finding->same_as + 1);
    return 3;
}

static int explanation_waits(lua_State *L)
{
    const sl_explanation *found = upvalue_found(L);
    int64_t start_ns = upvalue_timeline(L)->host_start_ns;
    const sl_wait *wait = found->waits, *end = wait + found->n_waits;
    lua_newtable(L);
    for (size_t i = 0; i < found->n_findings; i++) {
        lua_newtable(L);
        for (lua_Integer n = 1; wait < end && wait->finding == i; n++, wait++) {
            lsl_stop_at(L, n, "causes");
            lua_createtable(L, 0, 4);
            set_correlation(L, "waiter", wait->waiter);
            set_correlation(L, "by", wait->by);
            lsl_set_us(L, "from_us", wait->from_ns - start_ns);
            lsl_set_us(L, "to_us", wait->to_ns - start_ns);
            lua_rawseti(L, -2, n);
        }
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void push_trace(lua_State *L, const sl_timeline *timeline)
{
    sl_origin origin = sl_timeline_origin(timeline);
    bool foreign = sl_timeline_device(timeline)->backend[0] == '\0';
    size_t n_streams;
    const sl_stream_note *streams = sl_timeline_streams(timeline, &n_streams);
    bool has_default = n_streams > 0 && streams[0].id == 0;
    lua_createtable(L, 0, 10);
    lsl_set_text(L, "language", origin.pytorch ? "pytorch" : foreign ? "cuda" : "lua");
    set_true(L, "several_gpus", origin.first_ns < origin.last_ns);
    set_true(L, "recorded", origin.recorded);
    lsl_set_text(L, "default_stream",
                 has_default ? sl_timeline_text(timeline, streams[0].name) : "");
    lsl_set_integer(L, "makespan_ns", sl_timeline_makespan_ns(timeline));
    lsl_set_integer(L, "n_spans", (int64_t)sl_timeline_span_count(timeline));
    lsl_set_text(L, "device", sl_timeline_device(timeline)->name);
    lsl_set_text(L, "profile", sl_timeline_device(timeline)->profile);
    lsl_set_range(L, timeline);
    lsl_set_doubts(L, timeline);
}

static void push_verdict(lua_State *L, const sl_timeline *timeline, const sl_explanation *found)
{
    sl_verdict verdict = sl_explanation_judge(timeline, found);
    lua_createtable(L, 0, 10);
    set_true(L, "good", verdict.good);
    set_true(L, "joint", verdict.joint);
    set_true(L, "unknown", verdict.unknown);
    if (verdict.explained) {
        lsl_set_text(L, "busiest", sl_engine_name(found->busiest));
        lsl_set_integer(L, "busiest_ns", found->busiest_ns);
    }
    lsl_set_integer(L, "gain_ns", verdict.gain_ns);
    lsl_set_integer(L, "most_ns", verdict.most_ns);
    lsl_set_integer(L, "lost_ns", verdict.lost_ns);
    lsl_set_integer(L, "pause_ns", found->pause_ns);
    if (found->n_findings > 0) lsl_set_integer(L, "lead", (int64_t)verdict.lead + 1);
    lsl_set_integer(L, "makespan_ns", verdict.makespan_ns);
    lsl_set_text(L, "cause", sl_cause_name(verdict.cause));
    if (verdict.also > 0) lsl_set_integer(L, "also", (int64_t)verdict.also + 1);
    if (found->n_recorded == 0) return;
    lsl_set_integer(L, "n_recorded", (int64_t)found->n_recorded);
    lsl_set_integer(L, "recording_host_ns", found->recording_host_ns);
    lsl_set_integer(L, "recording_ns", found->recording_ns);
}

static causes *push_causes(lua_State *L, const sl_timeline *timeline, bool inferred, const char *op)
{
    causes *c = lsl_new_scratch(L, sizeof *c, free_causes);
    sl_error err;
    c->found = &c->own;
    lsl_check(L,
              inferred ? sl_timeline_infer_causes(timeline, &c->own, &err)
                       : sl_timeline_causes(timeline, &c->found, &err),
              &err, op);
    return c;
}

/* A slot for what is found, and the sources of its lines. */
static lsl_timeline *prepare(lua_State *L, int arg, const char *op)
{
    lsl_timeline *timeline = lua_touserdata(L, arg);
    lsl_timeline_add_sources(L, timeline, op);
    luaL_checkstack(L, 8, NULL);
    return timeline;
}

/* In place of the scratch at `box`, the last on the stack: the table, whose functions keep it. */
static void push_explanation(lua_State *L, int arg, int box, const char *op)
{
    static const luaL_Reg functions[] = {
        { "finding", explanation_finding }, { "loss", explanation_loss },
        { "part", explanation_part },       { "part_ns", explanation_part_ns },
        { "waits", explanation_waits },     { NULL, NULL },
    };
    const lsl_timeline *timeline = lua_touserdata(L, arg);
    const sl_explanation *found = ((const causes *)lsl_scratch_at(L, box))->found;
    push_trace(L, timeline->p);
    lsl_set_guessed(L, timeline->p, op);
    lsl_set_communication(L, timeline->p, op);
    lsl_set_as_graphs(L, arg);
    lua_createtable(L, 0, 8);
    for (const luaL_Reg *f = functions; f->name; f++) {
        lua_pushlightuserdata(L, lsl_get(L));
        lua_pushvalue(L, arg);
        lua_pushvalue(L, box);
        lua_pushvalue(L, box + 1);
        lua_pushcclosure(L, f->func, 4);
        lua_setfield(L, -2, f->name);
    }
    set_true(L, "inferred", found->inferred);
    set_true(L, "room_unknown", found->room_unknown);
    lsl_set_integer(L, "n_findings", (int64_t)found->n_findings);
    lsl_set_integer(L, "n_parts", (int64_t)found->n_chain);
    push_verdict(L, timeline->p, found);
    lua_setfield(L, -2, "verdict");
    lua_pushvalue(L, box + 1);
    lua_setfield(L, -2, "trace");
    lua_replace(L, box);
    lua_settop(L, box);
}

const sl_explanation *lsl_push_explanation(lua_State *L, int arg, bool inferred, const char *op)
{
    arg = lua_absindex(L, arg);
    const lsl_timeline *timeline = prepare(L, arg, op);
    const sl_explanation *found = push_causes(L, timeline->p, inferred, op)->found;
    push_explanation(L, arg, lua_gettop(L), op);
    return found;
}

void lsl_push_stream_chain(lua_State *L, int arg, int stream, bool inferred, const char *op)
{
    arg = lua_absindex(L, arg);
    const lsl_timeline *timeline = prepare(L, arg, op);
    uint32_t id = lsl_select_stream(L, stream, timeline->p, op);
    causes *c = lsl_new_scratch(L, sizeof *c, free_causes);
    char name[SL_STREAM_NAME_BYTES];
    int64_t time_ns;
    sl_error err;
    c->found = &c->own;
    lsl_check(L, sl_timeline_chain_of_stream(timeline->p, id, !inferred, &c->own, &time_ns, &err),
              &err, op);
    push_explanation(L, arg, lua_gettop(L), op);
    lua_createtable(L, 0, 2);
    lsl_set_text(L, "name", sl_timeline_stream_name(timeline->p, id, name));
    lsl_set_integer(L, "time_ns", time_ns);
    lua_setfield(L, -2, "stream");
}

/* explanation(timeline): for the files in Lua */
static int internal_explanation(lua_State *L)
{
    lsl_check_timeline(L, "explain");
    lsl_push_explanation(L, 1, false, "explain");
    return 1;
}

/* cause_codes(): the names of all causes, a list */
static int internal_cause_codes(lua_State *L)
{
    lua_createtable(L, SL_CAUSES, 0);
    for (int cause = 0; cause < SL_CAUSES; cause++) {
        lua_pushstring(L, sl_cause_name((sl_cause)cause));
        lua_rawseti(L, -2, cause + 1);
    }
    return 1;
}

void lsl_push_words(lua_State *L, const char *name)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.internals");
    lua_getfield(L, -1, "words");
    lua_getfield(L, -1, name);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

/* ---- for scripts ---------------------------------------------------------------------------- */

enum { PLAIN, WITH_WAITS, OF_STREAM };

/* tl:NAME{inferred =}, and waits = or stream =: what that function of words/cause_tables.lua makes
 * of it. */
static int push_tables(lua_State *L, int form, const char *name)
{
    int inferred = 0, waits = 0, stream = 3;
    const lsl_option options[] = {
        { "inferred", LSL_OPT_BOOL, &inferred },
        form == OF_STREAM ? (lsl_option){ "stream", LSL_OPT_ANY, &stream }
                          : (lsl_option){ "waits", LSL_OPT_BOOL, &waits },
    };
    lsl_check_timeline(L, name);
    lsl_no_more(L, 2, name);
    lua_settop(L, 3);
    lsl_options(L, 2, options, form == PLAIN ? 1 : 2, name);
    lsl_push_words(L, "cause_tables");
    lua_getfield(L, -1, name);
    if (lua_isnil(L, stream))
        lsl_push_explanation(L, 1, inferred, name);
    else
        lsl_push_stream_chain(L, 1, stream, inferred, name);
    lua_pushboolean(L, waits);
    lua_call(L, 2, 1);
    return 1;
}

static int timeline_causes(lua_State *L) { return push_tables(L, WITH_WAITS, "causes"); }
static int timeline_verdict(lua_State *L) { return push_tables(L, PLAIN, "verdict"); }
static int timeline_parts(lua_State *L) { return push_tables(L, OF_STREAM, "makespan_parts"); }

/* After lsl_open_timeline. */
void lsl_open_records(lua_State *L)
{
    static const luaL_Reg methods[] = {
        { "causes", timeline_causes },
        { "verdict", timeline_verdict },
        { "makespan_parts", timeline_parts },
        { NULL, NULL },
    };
    lsl_add_methods(L, LSL_TIMELINE, methods);
}

const luaL_Reg lsl_records_internals[] = {
    { "explanation", internal_explanation },
    { "cause_codes", internal_cause_codes },
    { NULL, NULL },
};
