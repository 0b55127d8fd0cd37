/* graphs.c - what the checker keeps of a graph: what its nodes touch, listed once, and the slots of
 * its lanes. */
#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "../op.h"
#include "replays.h"

/* ---- what its nodes touch ---- */

static size_t count_accesses(const sl_body *body)
{
    sl_operand list[SL__MOST_OPERANDS];
    size_t n = 0;
    for (uint32_t i = 0; i < body->n_nodes; i++)
        if (sl_is_work(body->nodes[i].op)) n += (size_t)sl__operands_of(body->nodes[i].op, list);
    return n;
}

static void add_accesses(sl__race_graph *graph, const sl_body *body, uint32_t node)
{
    const sl_op *op = body->nodes[node].op;
    sl_operand list[SL__MOST_OPERANDS];
    int n = sl__operands_of(op, list);
    uint32_t what = sl__span_name(body->device, op);
    for (int i = 0; i < n; i++) {
        graph->names_pageable |= list[i].buffer->place != SL_ON_DEVICE;
        graph->accesses[graph->n_accesses++] = (sl__node_access){ list[i], node, what };
    }
}

/* ---- lanes ---- */

static bool add_lane(sl__race_graph *graph, uint32_t stream, uint32_t slot)
{
    sl__lane_slot *lane = calloc(1, sizeof *lane);
    if (!lane || !sl__table_add(&graph->by_stream, &lane->entry, stream)) {
        free(lane);
        return false;
    }
    lane->slot = slot;
    *graph->last_lane = lane;
    graph->last_lane = &lane->next;
    return true;
}

/* The slot of the lane of that stream; 0: out of memory. */
static uint32_t slot_of(sl__checker *checker, sl__race_graph *graph, const sl_stream *stream)
{
    const sl__entry *lane = sl__table_find(&graph->by_stream, stream->id);
    uint32_t slot = lane ? ((const sl__lane_slot *)lane)->slot : sl__slot_of_lane(checker, stream);
    if (lane || !slot || add_lane(graph, stream->id, slot)) return slot;
    sl__slot_close(checker, slot);
    return 0;
}

static void close_lanes(sl__checker *checker, sl__race_graph *graph)
{
    for (sl__lane_slot *lane = graph->lanes, *next; lane; lane = next) {
        next = lane->next;
        sl__slot_close(checker, lane->slot);
        free(lane);
    }
    sl__table_free(&graph->by_stream);
}

static bool list_slots(sl__checker *checker, sl__race_graph *graph, const sl_body *body)
{
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        uint32_t lane = body->nodes[i].lane;
        if (lane == 0 || graph->slots[lane]) continue;
        graph->slots[lane] = slot_of(checker, graph, body->nodes[i].op->stream);
        if (!graph->slots[lane]) return false;
    }
    return true;
}

/* ---- its life ---- */

static void free_lists(sl__race_graph *graph)
{
    sl__race_graph_drop_points(graph);
    free(graph->accesses);
    free(graph->points);
    free(graph->seen);
    free(graph->slots);
    graph->accesses = NULL;
    graph->points = NULL;
    graph->seen = NULL;
    graph->slots = NULL;
    graph->n_accesses = 0;
    graph->names_pageable = false;
    graph->inside = SL__INSIDE_UNKNOWN;
    graph->body = NULL;
}

static bool make_lists(sl__checker *checker, sl__race_graph *graph, const sl_body *body)
{
    size_t n = count_accesses(body);
    free_lists(graph);
    graph->accesses = calloc(n + 1, sizeof *graph->accesses);
    graph->points = calloc((size_t)body->n_nodes + 1, sizeof *graph->points);
    graph->seen = calloc((size_t)body->n_lanes + 1, sizeof *graph->seen);
    graph->slots = calloc((size_t)body->n_lanes + 1, sizeof *graph->slots);
    if (!graph->accesses || !graph->points || !graph->seen || !graph->slots) return false;
    for (uint32_t i = 0; i < body->n_nodes; i++)
        if (sl_is_work(body->nodes[i].op)) add_accesses(graph, body, i);
    graph->body = body;
    return list_slots(checker, graph, body);
}

static sl__race_graph *new_graph(sl__checker *checker, sl_graph *of)
{
    sl__race_graph *graph = calloc(1, sizeof *graph);
    if (!graph) return NULL;
    graph->graph = of;
    graph->last_lane = &graph->lanes;
    SL__PUSH(checker->graphs, graph, next, link);
    of->race = graph;
    return graph;
}

sl__race_graph *sl__race_graph_of(sl__checker *checker, sl_graph *of, const sl_body *body)
{
    sl__race_graph *graph = of->race ? of->race : new_graph(checker, of);
    if (!graph || graph->body == body) return graph;
    return make_lists(checker, graph, body) ? graph : NULL;
}

void sl__race_graph_drop_points(sl__race_graph *graph)
{
    for (uint32_t i = 0; i < graph->n_points; i++)
        sl__seen_release(&graph->points[i].seen);
    graph->n_points = 0;
}

void sl__race_graph_updated(sl_graph *graph)
{
    if (graph->race) free_lists(graph->race);
}

void sl__race_graph_closed(sl_graph *of)
{
    sl__race_graph *graph = of->race;
    if (!graph) return;
    free_lists(graph);
    close_lanes(sl__race, graph);
    sl__seen_release(&graph->end.seen);
    SL__UNLINK(graph, next, link);
    of->race = NULL;
    free(graph);
}

void sl__replay_clear(sl__checker *checker)
{
    while (checker->graphs)
        sl__race_graph_closed(checker->graphs->graph);
}
