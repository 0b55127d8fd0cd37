/* as_graphs.c - what the recorded work would take as graphs.
 *
 * Between two things that a capture cannot contain, all operations become the nodes of one graph,
 * if there are two at least. The first of their calls becomes the launch, the others and the short
 * pauses between them are gone. A node starts when the launch has given it to the device, what it
 * has edges from has ended and a gap has passed, and its engine lets it.
 *
 * A graph is launched in one stream, and what comes next waits for all of it. Where work that was
 * issued later ran before the last of a graph's nodes had ended, that would not be the same
 * program: such operations stay as they are.
 */
#include "as_graphs.h"

#include <stdlib.h>
#include <string.h>

#include "../timeline/store.h"
#include "whatif.h"

#define LOOP_CALL_NS 10000 /* a plain call that returns sooner only asks for something */

/* ---- what a capture can contain ----------------------------------------------------- */

static bool can_capture_span(const sl_span *span)
{
    return !(span->flags & (SL_SPAN_HOST_WAITED | SL_SPAN_LOADED)) && !sl__span_is_pageable(span);
}

/* It is no work and none of the calls that a capture forbids: a question, an object made. */
static bool is_harmless(const sl__operations *ops, const sl_call *call)
{
    static const char *const forbidden[] = { "Synchronize", "Query",    "ElapsedTime", "Malloc",
                                             "cudaFree",    "cudaHost", "Graph",       "Capture" };
    const char *name = sl_call_name(ops->timeline, call);
    if (call->waited_for_device || call->host_end_ns - call->host_start_ns >= LOOP_CALL_NS)
        return false;
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        if (strstr(name, forbidden[i])) return false;
    return true;
}

static bool can_capture(const sl__operations *ops, size_t i)
{
    const sl_span *span = sl__item_span(ops, i);
    const sl_call *call = sl__item_call(ops, i);
    if (ops->items[i].issue.launch > 0) return false;
    if (span) return can_capture_span(span);
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD:
    case SL_CALL_STREAM_WAIT: return true;
    case SL_CALL_PLAIN: return is_harmless(ops, call);
    case SL_CALL_STREAM_SYNC:
    case SL_CALL_EVENT_SYNC:
    case SL_CALL_DEVICE_SYNC:
    case SL_CALL_HOST_WORK:
    case SL_CALL_KINDS: break;
    }
    return false;
}

/* ---- graphs --------------------------------------------------------------------------- */

static void count_item(sl__graphs *graphs, const sl__operations *ops, size_t i)
{
    sl__one_graph *at = &graphs->at[graphs->n - 1];
    at->last = i;
    if (ops->items[i].in_stream) at->end_ns = sl__max(at->end_ns, ops->items[i].end_ns);
    at->n_nodes += sl__item_span(ops, i) != NULL;
}

static bool open_graph(sl__graphs *graphs, size_t i)
{
    if (!SL__GROW(graphs->at, graphs->cap, graphs->n + 1)) return false;
    graphs->at[graphs->n++] = (sl__one_graph){ .first = i, .last = i, .end_ns = SL__NEVER };
    return true;
}

static bool cut(sl__graphs *graphs, const sl__operations *ops)
{
    bool open = false;
    for (size_t i = 0; i < ops->n && !sl__stops_at(i); i++) {
        bool pause = i > 0
                     && ops->items[i].host_start_ns - ops->items[i - 1].host_end_ns
                            >= SL__SHORT_PAUSE_NS;
        if (!can_capture(ops, i)) {
            open = false;
            continue;
        }
        if ((!open || pause) && !open_graph(graphs, i)) return false;
        open = true;
        count_item(graphs, ops, i);
    }
    return true;
}

/* Work that was issued behind a graph ran before its end, or it is not worth one. */
static void choose(sl__graphs *graphs, const sl__operations *ops)
{
    int64_t next_ns = INT64_MAX;
    size_t i = ops->n;
    for (size_t g = graphs->n; g-- > 0;) {
        const sl__one_graph *at = &graphs->at[g];
        for (; i > at->last + 1; i--)
            if (ops->items[i - 1].in_stream) next_ns = sl__min(next_ns, ops->items[i - 1].start_ns);
        bool chosen = at->n_nodes >= 2 && at->end_ns <= next_ns;
        for (size_t k = at->first; k <= at->last; k++)
            graphs->of[k] = chosen ? (uint32_t)g + 1 : 0;
    }
}

sl_status sl__graphs_find(const sl__operations *ops, const sl_graph_costs *costs,
                          sl__graphs *graphs, sl_error *err)
{
    *graphs = (sl__graphs){ .costs = costs };
    graphs->of = calloc(ops->n + 1, sizeof *graphs->of);
    const bool one_thread = ops->n_threads == 1; /* else calls in order are of several */
    if (!graphs->of || (one_thread && !cut(graphs, ops)))
        return sl__no_memory(err, "%zu operations in graphs", ops->n);
    choose(graphs, ops);
    return sl__graphs_link(ops, graphs, err);
}

void sl__graphs_free(sl__graphs *graphs)
{
    free(graphs->of);
    free(graphs->at);
    free(graphs->nodes);
    free(graphs->edges);
    free(graphs->sets);
    *graphs = (sl__graphs){ 0 };
}

/* ---- all ---------------------------------------------------------------------------------- */

static void sum_up(const sl__graphs *graphs, const sl__operations *ops, sl_as_graphs *found)
{
    for (size_t g = 0; g < graphs->n; g++) {
        const sl__one_graph *at = &graphs->at[g];
        if (graphs->of[at->first] == 0) continue;
        found->n_graphs++;
        found->n_nodes += at->n_nodes;
        found->issue_ns = sl__add_ns(
            found->issue_ns,
            sl__max(0, ops->items[at->last].host_end_ns - ops->items[at->first].host_start_ns));
    }
}

/* From a node to one behind it. */
static int64_t edge_ns(const sl_graph_costs *costs, sl_engine from, sl_engine to,
                       const sl__graph_node *node, const sl__edge *edge)
{
    double gap_us;
    if (from == SL_ENGINE_HOST || to == SL_ENGINE_HOST)
        gap_us = (from == SL_ENGINE_HOST ? costs->func_out_us : 0)
                 + (to == SL_ENGINE_HOST ? costs->func_in_us : 0);
    else
        gap_us = sl_graph_gap_us(costs, from, to);
    return sl__ns_of_us(gap_us + sl_graph_signal_us(costs, edge->nth, node->n_edges > 1));
}

/* False: out of memory. */
static bool add_edges(const sl__graphs *graphs, sl__program *p, uint32_t i)
{
    const sl__graph_node *node = &graphs->nodes[i];
    const sl_engine to = sl_engine_on_gpu(sl__item_span(p->ops, i)->engine);
    if (!SL__GROW(p->extra, p->cap_extra, p->n_extra + node->n_edges)) return false;
    for (uint32_t k = 0; k < node->n_edges; k++) {
        const sl__edge *edge = &graphs->edges[node->first + k];
        const sl_engine from = sl_engine_on_gpu(sl__item_span(p->ops, edge->from)->engine);
        const int64_t ns = edge_ns(graphs->costs, from, to, node, edge);
        if (p->steps[edge->from].end_ns > p->steps[i].start_ns) continue;
        p->extra[p->n_extra++] = (sl__extra){ .from = edge->from, .to = i, .is_edge = true };
        p->extra[p->n_extra - 1].delay_ns = (uint32_t)sl__min(ns, (int64_t)SL__MOST_EDGE_NS);
    }
    return true;
}

/* The first call launches all; the others are gone. */
static void set_call(const sl__one_graph *graph, sl__step *step, bool is_first)
{
    step->awaits = SL__AWAITS_NOTHING;
    step->call_ns = is_first ? graph->call_ns : 0;
    step->return_ns = step->recording_ns = 0;
    if (!is_first) step->pause_ns = 0;
}

/* The launch gives it to the device; what comes before the graph is seen a gap later. */
static void set_start(const sl__graphs *graphs, const sl__program *p, uint32_t i)
{
    const sl_graph_costs *costs = graphs->costs;
    const sl__graph_node *node = &graphs->nodes[i];
    const sl__one_graph *graph = &graphs->at[graphs->of[i] - 1];
    const sl_span *span = sl__item_span(p->ops, i);
    const size_t by = p->ops->items[i].ready_by;
    sl__step *step = &p->steps[i];
    const bool is_root = span && node->n_edges == 0;
    const int64_t root_ns = is_root ? sl__ns_of_us(node->root * costs->root_us) : 0;
    step->submitter = (uint32_t)graph->first;
    step->submitted = SL__SUBMITTED_IN_CALL;
    step->at_call_end = step->is_beside = false;
    step->follows = SL__NO_STEP;
    step->has_hold &= by != SL__NO_ITEM && graphs->of[by] != graphs->of[i];
    step->submit_ns = span ? graph->call_ns - graph->push_ns + sl__ns_of_us(costs->submit_us)
                                 + sl__max(node->push_ns, root_ns)
                           : 0;
    step->follow_ns = is_root ? sl__ns_of_us(costs->launch_gap_us) + root_ns : 0;
    if (span && !sl__is_on_sms(span) && span->engine != SL_ENGINE_HOST)
        step->turn_ns = (uint32_t)sl__min(sl__ns_of_us(costs->turn_us), (int64_t)UINT32_MAX);
}

static bool change(const sl__graphs *graphs, sl__program *p)
{
    bool fine = true;
    for (uint32_t i = 0; i < p->n && fine; i++) {
        if (graphs->of[i] == 0) continue;
        const sl__one_graph *graph = &graphs->at[graphs->of[i] - 1];
        set_call(graph, &p->steps[i], i == graph->first);
        if (p->steps[i].is_operation) set_start(graphs, p, i);
        if (p->steps[i].is_span) fine = add_edges(graphs, p, i);
    }
    return fine;
}

static sl_status play(const sl__operations *ops, const sl__graphs *graphs, sl_as_graphs *found,
                      sl_error *err)
{
    sl__program program;
    sl__outcome outcome = { 0 };
    sl_status status = sl__program_open(ops, &program, err);
    if (status != SL_OK) return status;
    if (!change(graphs, &program)) status = sl__no_memory(err, "%zu operations in graphs", ops->n);
    if (status == SL_OK)
        status = sl__program_play(&program, false, SL__ASSUMED_LIKELY, NULL, &outcome, err);
    if (status == SL_OK && outcome.n_stuck == 0) found->makespan_ns = outcome.makespan_ns;
    sl__program_close(&program);
    return status;
}

sl_status sl_timeline_as_graphs(const sl_timeline *timeline, const sl_graph_costs *costs,
                                sl_as_graphs *found, sl_error *err)
{
    sl__operations ops;
    sl__graphs graphs = { 0 };
    *found = (sl_as_graphs){ .makespan_ns = sl_timeline_makespan_ns(timeline) };
    sl_status status = sl__operations_collect(timeline, true, &ops, err);
    if (status != SL_OK) return status;
    status = sl__graphs_find(&ops, costs, &graphs, err);
    if (status == SL_OK) sum_up(&graphs, &ops, found);
    if (status == SL_OK && found->n_graphs > 0) status = play(&ops, &graphs, found, err);
    sl__graphs_free(&graphs);
    sl__operations_free(&ops);
    return status;
}
