/* replays.c - launches of graphs.
 *
 * Edges alone order the nodes of a launch. "Each launch is ordered behind both any previous work in
 * stream and any previous launches of graphExec" (Runtime API, cudaGraphLaunch). */
#include "replays.h"

#include <stdlib.h>

#include "../device.h"
#include "../op.h"

typedef struct replay {
    sl__checker *checker;
    sl_op *op; /* the launch */
    const sl_body *body;
    sl__race_graph *graph;
    sl__race_clock *clock; /* of its stream */
    sl__race_launch *launch;
} replay;

/* ---- order ---- */

/* What all nodes come after: lane 0 is the stream itself. */
static bool begin_lanes(replay *r)
{
    sl__point base = sl__order_point(r->checker, r->clock);
    sl__seen first = sl__seen_retain(r->clock->seen);
    bool raised = false, done = true;
    r->graph->seen[0] = sl__seen_retain(r->clock->seen);
    if (r->body->n_lanes > 1) done = sl__seen_join(&first, &base, true, &raised);
    for (uint32_t lane = 1; lane < r->body->n_lanes; lane++)
        r->graph->seen[lane] = sl__seen_retain(first);
    sl__seen_release(&first);
    return done;
}

/* The node gets its place behind those that its edges name. */
static bool place(replay *r, uint32_t i)
{
    const sl_node *node = &r->body->nodes[i];
    sl__seen *seen = &r->graph->seen[node->lane];
    sl__point *point = &r->graph->points[i];
    bool raised = false;
    for (uint32_t k = 0; k < node->n_before; k++) {
        uint32_t before = r->body->before[node->first_before + k];
        if (r->body->nodes[before].lane != node->lane
            && !sl__seen_join(seen, &r->graph->points[before], true, &raised))
            return false;
    }
    point->slot = node->lane ? r->graph->slots[node->lane] : r->clock->slot;
    point->epoch = sl__slot_tick(r->checker, point->slot);
    point->host_epoch = r->checker->host_epoch++;
    point->seen = sl__seen_retain(*seen);
    return true;
}

/* The stream's next operation comes after all nodes. */
static bool end_lanes(replay *r)
{
    bool raised = false, done = true;
    sl__seen_release(&r->clock->seen);
    r->clock->seen = sl__seen_retain(r->graph->seen[0]);
    r->clock->epoch = r->checker->slots[r->clock->slot].epoch;
    r->clock->beyond_host = true;
    for (uint32_t lane = 1; lane < r->body->n_lanes && done; lane++) {
        uint32_t slot = r->graph->slots[lane];
        sl__point end = { slot, slot ? r->checker->slots[slot].epoch : 0, 0, r->graph->seen[lane] };
        if (slot) done = sl__seen_join(&r->clock->seen, &end, true, &raised);
    }
    return done;
}

static bool place_all(replay *r)
{
    bool done = begin_lanes(r);
    for (uint32_t i = 0; i < r->body->n_nodes && done; i++) {
        r->graph->points[i] = (sl__point){ 0 };
        r->graph->n_points = i + 1;
        if (sl_is_work(r->body->nodes[i].op)) done = place(r, i);
    }
    done = done && end_lanes(r);
    for (uint32_t lane = 0; lane < r->body->n_lanes; lane++)
        sl__seen_release(&r->graph->seen[lane]);
    return done;
}

/* ---- memory ---- */

static uint64_t number_of(const replay *r, uint32_t node) { return r->op->seq + 1 + node; }

static sl__touch touch_of(const replay *r, const sl__node_access *a, const sl__actor *actor)
{
    sl__touch t = sl__touch_of(r->checker, &a->operand, actor);
    t.access.seq = number_of(r, a->node);
    t.access.where = r->body->nodes[a->node].op->where;
    t.access.what = a->what;
    t.access.launch = r->launch;
    t.access.is_staged = a->operand.access == SL_READS && t.buffer->place == SL_PAGEABLE;
    return t;
}

static bool add_waiting(const replay *r, uint32_t node)
{
    return sl__waiting_add(r->checker, &(sl__waiting){ .point = r->graph->points[node],
                                                       .op = r->body->nodes[node].op,
                                                       .run = r->body->launches,
                                                       .until = r->op,
                                                       .seq = number_of(r, node),
                                                       .launch = r->launch });
}

/* What the node at *next in the list of accesses does; *next moves behind it. */
static bool touch_node(const replay *r, uint32_t node, size_t *next, bool meets, bool notes,
                       bool *is_refused)
{
    const sl__actor actor = { .point = r->graph->points[node] };
    bool done = true;
    for (; *next < r->graph->n_accesses && r->graph->accesses[*next].node == node; ++*next) {
        sl__touch t = touch_of(r, &r->graph->accesses[*next], &actor);
        if (meets) sl__touch_check(&t);
        *is_refused |= t.is_refused;
        if (notes && done) done = sl__touch_note(&t);
    }
    return done;
}

/* In the order of the capture, in which nodes come behind those that their edges name. */
static bool touch_all(const replay *r, bool meets, bool notes, bool waits, bool *is_refused)
{
    size_t next = 0;
    bool done = true;
    for (uint32_t i = 0; i < r->body->n_nodes && done; i++) {
        if (!sl_is_work(r->body->nodes[i].op)) continue;
        done = touch_node(r, i, &next, meets, notes, is_refused);
        if (done && waits && r->body->nodes[i].op->work.kind == SL_WORK_HOST_FUNC)
            done = add_waiting(r, i);
    }
    return done && !r->checker->starved;
}

/* ---- error mode: one launch against itself ---- */

/* Looks at the nodes with nothing before them, so that what was there stays as it is: `kept`, of a
 * buffer with its first access. */
static bool touch_alone(const replay *r, sl__race_memory **kept, bool *is_refused)
{
    const sl__race_graph *graph = r->graph;
    for (size_t i = 0; i < graph->n_accesses; i++) {
        sl_buffer *buffer = graph->accesses[i].operand.buffer;
        kept[i] = buffer->race;
        buffer->race = NULL;
    }
    bool done = touch_all(r, true, true, false, is_refused);
    for (size_t i = 0; i < graph->n_accesses; i++)
        sl__race_buffer_closed(graph->accesses[i].operand.buffer);
    for (size_t i = 0; i < graph->n_accesses; i++)
        if (kept[i]) graph->accesses[i].operand.buffer->race = kept[i];
    return done;
}

static bool check_inside(const replay *r, bool *is_refused)
{
    sl__race_graph *graph = r->graph;
    if (graph->inside == SL__INSIDE_ORDERED && !r->checker->needs.are_kept) return true;
    sl__race_memory **kept = malloc((graph->n_accesses + 1) * sizeof(sl__race_memory *));
    if (!kept) return false;
    bool done = touch_alone(r, kept, is_refused);
    free(kept);
    graph->inside = *is_refused ? SL__INSIDE_RACES : SL__INSIDE_ORDERED;
    return done;
}

/* ---- a launch ---- */

/* The stream where the capture began, if something was captured there. */
static const sl_stream *origin_of(const replay *r)
{
    for (uint32_t i = 0; i < r->body->n_nodes; i++)
        if (r->body->nodes[i].lane == 0) return r->body->nodes[i].op->stream;
    return r->op->stream;
}

static sl__race_launch *new_launch(const replay *r)
{
    const sl_stream *origin = origin_of(r);
    sl__race_launch *launch = malloc(sizeof *launch);
    if (!launch) return NULL;
    *launch = (sl__race_launch){
        .refs = 1,
        .slot = r->clock->slot,
        .where = r->op->where,
        .graph = r->op->graph->name,
        .origin = origin->name,
        .origin_made = origin->where,
    };
    return launch;
}

/* What the launch comes after besides its stream. */
static const sl__point *last_launch(const replay *r)
{
    bool is_elsewhere = r->graph->was_launched && r->graph->end.slot != r->clock->slot;
    return is_elsewhere ? &r->graph->end : NULL;
}

/* The launch as an operation of its stream that touches nothing, and then its nodes. */
static bool begin(replay *r)
{
    sl__actor actor;
    r->clock = sl__order_clock(r->checker, r->op->stream);
    r->graph = r->clock ? sl__race_graph_of(r->checker, r->op->graph, r->body) : NULL;
    r->launch = r->graph ? new_launch(r) : NULL;
    if (!r->launch) return false;
    sl__order_keep(r->clock);
    return sl__order_next(r->checker, r->op->stream, last_launch(r), &actor) && place_all(r);
}

/* Their races have no outcome. */
static void cancel_nodes(sl__checker *checker, sl__race_graph *graph)
{
    for (uint32_t i = 0; i < graph->n_points; i++)
        if (graph->points[i].epoch)
            sl__races_cancelled(checker, graph->points[i].slot, graph->points[i].epoch);
    sl__race_graph_drop_points(graph);
}

static sl_status refuse(const replay *r, sl_error *err)
{
    cancel_nodes(r->checker, r->graph);
    sl__order_undo(r->checker, r->clock);
    return sl__races_fail(r->checker, err);
}

static sl_status enqueue(replay *r, sl_error *err)
{
    bool strict = r->checker->mode == SL_CHECK_ERROR, is_refused = false;
    bool done = begin(r);
    if (done && strict) done = touch_all(r, true, false, false, &is_refused);
    if (done && strict && !is_refused) done = check_inside(r, &is_refused);
    if (done && is_refused) return refuse(r, err);
    if (done) done = touch_all(r, !strict, true, true, &is_refused);
    if (!done) {
        r->checker->starved = true;
        return SL_OK;
    }
    r->op->race_epoch = r->clock->epoch;
    return SL_OK;
}

sl_status sl__replay_enqueue(sl__checker *checker, sl_op *launch, sl_error *err)
{
    replay r = { .checker = checker, .op = launch, .body = launch->body };
    sl_status status = enqueue(&r, err);
    sl__race_launch_release(r.launch);
    return status;
}

/* A launch returns when its copies to pageable memory have arrived: measured, and promised
 * nowhere. */
static bool wait_for_copies(sl__checker *checker, const sl__race_graph *graph)
{
    sl_device *device = graph->graph->device;
    const sl__accident accident = { .why = SL_ACCIDENT_TO_PAGEABLE,
                                    .where = sl__race_where(checker, device) };
    bool done = true;
    for (size_t i = 0; i < graph->n_accesses && done; i++) {
        const sl__node_access *a = &graph->accesses[i];
        if (a->operand.access == SL_WRITES && a->operand.buffer->place == SL_PAGEABLE)
            done = sl__order_join_host(checker, &graph->points[a->node], &accident);
    }
    return done;
}

bool sl__replay_enqueued(sl__checker *checker, sl_graph *of, const sl__point *point)
{
    sl__race_graph *graph = of->race;
    bool done = !graph->names_pageable || wait_for_copies(checker, graph);
    sl__seen_retain(point->seen);
    sl__seen_release(&graph->end.seen);
    graph->end = *point;
    graph->was_launched = true;
    sl__race_graph_drop_points(graph);
    return done;
}

void sl__replay_cancelled(sl__checker *checker, const sl_op *launch)
{
    sl__race_graph *graph = launch->graph->race;
    for (size_t i = 0; graph && i < graph->n_accesses; i++) {
        const sl__node_access *a = &graph->accesses[i];
        const sl__point *point = &graph->points[a->node];
        sl__race_memory *memory = a->operand.buffer->race;
        if (memory) sl__memory_cancel(memory, point->slot, point->epoch);
    }
    sl__waiting_forget(checker, launch);
    if (graph) cancel_nodes(checker, graph);
    sl__order_undo(checker, launch->stream->race);
}

void sl__replay_retired(sl__checker *checker, const sl_op *launch)
{
    const sl__race_graph *graph = launch->graph->race;
    for (const sl__lane_slot *lane = graph ? graph->lanes : NULL; lane; lane = lane->next)
        checker->slots[lane->slot].retired = sl__op_last_number(launch);
}
