/* as_graphs.c - what the recorded work would take as graphs.
 *
 * Between two things that a capture cannot contain, all operations become the nodes of one graph, if
 * there are two at least. The first of their calls becomes the launch, the others and the short
 * pauses between them are gone. A node starts when the launch is done, what it comes behind in its
 * stream or by an event has ended and a gap has passed, and its engine lets it.
 *
 * A graph is launched in one stream, and what comes next waits for all of it. Where work that was
 * issued later ran before the last of a graph's nodes had ended, that would not be the same program:
 * such operations stay as they are.
 */
#include "as_graphs.h"

#include <stdlib.h>
#include <string.h>

#include "store.h"

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
                                             "cudaFree",    "cudaHost", "Graph" };
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
    if (ops->items[i].launch > 0) return false;
    if (span) return can_capture_span(span);
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD:
    case SL_CALL_STREAM_WAIT: return true;
    case SL_CALL_PLAIN: return is_harmless(ops, call);
    default: return false;
    }
}

/* ---- graphs --------------------------------------------------------------------------- */

static bool is_on_copy_engine(const sl_span *span)
{
    return span->engine != SL_ENGINE_COMPUTE && span->engine != SL_ENGINE_HOST;
}

static void count_node(sl__graphs *graphs, const sl__operations *ops, size_t i)
{
    sl__stretch_of_calls *at = &graphs->at[graphs->n - 1];
    const sl_span *span = sl__item_span(ops, i);
    at->last = i;
    if (ops->items[i].in_stream) at->end_ns = sl__max_ns(at->end_ns, ops->items[i].end_ns);
    if (!span) return;
    at->n_kernels += !is_on_copy_engine(span);
    at->n_copies += is_on_copy_engine(span);
}

static bool open_graph(sl__graphs *graphs, size_t i)
{
    if (!sl__reserve((void **)&graphs->at, graphs->n, &graphs->cap, sizeof *graphs->at))
        return false;
    graphs->at[graphs->n++] = (sl__stretch_of_calls){ .first = i, .last = i, .end_ns = SL__NEVER };
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
        count_node(graphs, ops, i);
    }
    return true;
}

/* The call gives all kernels to the device first, and then one copy after the other. */
static void set_ahead(sl__graphs *graphs, const sl__operations *ops, const sl__stretch_of_calls *at)
{
    int64_t copies_left = (int64_t)at->n_copies;
    for (size_t k = at->first; k <= at->last; k++) {
        const sl_span *span = sl__item_span(ops, k);
        bool is_copy = span && is_on_copy_engine(span);
        copies_left -= is_copy;
        graphs->ahead_ns[k] = (is_copy ? copies_left : (int64_t)at->n_copies)
                              * graphs->costs->copy_node_ns;
    }
}

/* Work that was issued behind a graph ran before its end, or it is not worth one. */
static void choose(sl__graphs *graphs, const sl__operations *ops)
{
    int64_t next_ns = INT64_MAX;
    size_t i = ops->n;
    for (size_t g = graphs->n; g-- > 0;) {
        sl__stretch_of_calls *at = &graphs->at[g];
        for (; i > at->last + 1; i--)
            if (ops->items[i - 1].in_stream)
                next_ns = sl__min_ns(next_ns, ops->items[i - 1].start_ns);
        bool chosen = at->n_kernels + at->n_copies >= 2 && at->end_ns <= next_ns;
        for (size_t k = at->first; k <= at->last; k++)
            graphs->of[k] = chosen ? (uint32_t)g + 1 : 0;
        if (!chosen) at->n_kernels = at->n_copies = 0;
        at->call_ns = graphs->costs->launch_ns + (int64_t)at->n_kernels * graphs->costs->node_ns
                      + (int64_t)at->n_copies * graphs->costs->copy_node_ns;
        set_ahead(graphs, ops, at);
    }
}

sl_status sl__graphs_find(const sl__operations *ops, const sl_graph_costs *costs,
                          sl__graphs *graphs, sl_error *err)
{
    *graphs = (sl__graphs){ .costs = costs };
    graphs->of = calloc(ops->n + 1, sizeof *graphs->of);
    graphs->ahead_ns = calloc(ops->n + 1, sizeof *graphs->ahead_ns);
    graphs->from = calloc(ops->n + 1, sizeof *graphs->from);
    graphs->lane_from = calloc(ops->lanes.n + 1, sizeof *graphs->lane_from);
    bool fits = graphs->of && graphs->ahead_ns && graphs->from && graphs->lane_from
                && cut(graphs, ops);
    if (!fits) return sl_fail(err, SL_ENOMEM, "no memory to put %zu operations in graphs", ops->n);
    choose(graphs, ops);
    return sl_interrupt_check(err);
}

void sl__graphs_free(sl__graphs *graphs)
{
    free(graphs->of);
    free(graphs->at);
    free(graphs->ahead_ns);
    free(graphs->from);
    free(graphs->lane_from);
    *graphs = (sl__graphs){ 0 };
}

/* ---- a pass ------------------------------------------------------------------------------ */

void sl__graphs_call(sl__pass *p, size_t i)
{
    sl__played *played = &p->r->played[i];
    uint32_t graph = p->graphs->of[i];
    if (graph != p->graph) {
        p->graph = graph;
        p->launched_ns = played->host_start_ns + p->graphs->at[graph - 1].call_ns;
    } else {
        played->host_start_ns = p->launched_ns;
    }
    played->host_end_ns = p->launched_ns;
}

static int64_t gap_ns(const sl_graph_costs *costs, uint8_t from, uint8_t to)
{
    if (from == SL_ENGINE_HOST || to == SL_ENGINE_HOST) return 0;
    return from != to                ? costs->switch_ns
           : to == SL_ENGINE_COMPUTE ? costs->gap_ns
                                     : costs->copy_gap_ns;
}

/* One more thing that the item comes behind: the latest decides. A record or a wait takes no time. */
static void come_behind(const sl__pass *p, size_t i, int64_t end_ns, uint8_t from, int64_t *ns)
{
    const sl_span *span = sl__item_span(p->r->ops, i);
    if (end_ns == SL__NEVER) return;
    if (span) end_ns += gap_ns(p->graphs->costs, from, span->engine);
    if (end_ns < *ns) return;
    *ns = end_ns;
    p->graphs->from[i] = from;
}

static size_t awaited(const sl__pass *p, size_t i)
{
    const sl__item *item = &p->r->ops->items[i];
    const sl_call *call = sl__item_call(p->r->ops, i);
    if (call && call->kind == SL_CALL_STREAM_WAIT)
        return sl__operations_find(p->r->ops, call->target);
    return item->ready_cause == SL_CAUSE_EVENT ? item->ready_by : SL__NO_ITEM;
}

int64_t sl__graphs_start_ns(sl__pass *p, size_t i, int64_t free_ns)
{
    const sl__operations *ops = p->r->ops;
    size_t lane = sl__lanes_find(&ops->lanes, sl__item_stream(ops, i)), by = awaited(p, i);
    const sl__played_stream *s = &p->r->streams[lane];
    const sl_span *span = sl__item_span(ops, i);
    int64_t ns = p->r->played[i].host_end_ns - p->graphs->ahead_ns[i]
                 + (span ? p->graphs->costs->start_ns : 0);
    come_behind(p, i, s->tail_ns, p->graphs->lane_from[lane], &ns);
    if (s->is_blocking)
        come_behind(p, i, s->is_null ? p->blocking_ns : p->null_ns, SL_ENGINE_COMPUTE, &ns);
    if (by < i && ops->items[by].end_ns <= ops->items[i].start_ns)
        come_behind(p, i, p->r->played[by].end_ns, p->graphs->from[by], &ns);
    if (span) p->graphs->from[i] = span->engine;
    return sl__max_ns(ns, free_ns);
}

void sl__graphs_end(sl__pass *p, size_t i)
{
    const sl__operations *ops = p->r->ops;
    const sl_span *span = sl__item_span(ops, i);
    size_t lane = sl__lanes_find(&ops->lanes, sl__item_stream(ops, i));
    if (span) p->graphs->from[i] = span->engine;
    if (p->r->played[i].end_ns >= p->r->streams[lane].tail_ns)
        p->graphs->lane_from[lane] = p->graphs->from[i];
}

/* ---- all ---------------------------------------------------------------------------------- */

static void sum_up(const sl__graphs *graphs, const sl__operations *ops, sl_as_graphs *found)
{
    for (size_t g = 0; g < graphs->n; g++) {
        const sl__stretch_of_calls *at = &graphs->at[g];
        if (graphs->of[at->first] == 0) continue;
        found->n_graphs++;
        found->n_nodes += at->n_kernels + at->n_copies;
        found->issue_ns = sl__add_ns(
            found->issue_ns,
            sl__max_ns(0, ops->items[at->last].host_end_ns - ops->items[at->first].host_start_ns));
    }
}

static sl_status play(const sl__operations *ops, sl__graphs *graphs, sl_as_graphs *found,
                      sl_error *err)
{
    sl__replay replay;
    uint16_t *left_out = calloc(ops->n + 1, sizeof *left_out);
    if (!left_out) return sl_fail(err, SL_ENOMEM, "no memory to replay %zu operations", ops->n);
    sl_status status = sl__replay_open(ops, &replay, err);
    if (status == SL_OK) {
        found->makespan_ns = sl__replay_with_graphs_ns(&replay, left_out, graphs);
        status = sl_interrupt_check(err);
        sl__replay_close(&replay);
    }
    free(left_out);
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
