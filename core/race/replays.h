/* replays.h - launches of graphs, for the race checker.
 *
 * The nodes of a graph that were captured in one stream, a lane, run in order. Lane 0, where the
 * capture began, has the slot of the stream that the graph is launched in, the others have slots of
 * their own. So a launch is looked at as if its nodes were enqueued one after the other, each in
 * its lane, behind what the launching stream comes after and behind the nodes that its edges name;
 * and the launching stream comes after all of them.
 */
#ifndef SL_RACE_REPLAYS_H
#define SL_RACE_REPLAYS_H

#include "state.h"

typedef struct sl__node_access {
    sl_operand operand;  /* the graph's body holds its buffer */
    uint32_t node, what; /* the name, the device's text id */
} sl__node_access;

typedef struct sl__lane_slot {
    sl__entry entry; /* by the id of the stream where it was captured */
    struct sl__lane_slot *next;
    uint32_t slot;
} sl__lane_slot;

/* Whether the nodes of one launch race with each other; error mode asks. */
typedef enum sl__inside { SL__INSIDE_UNKNOWN, SL__INSIDE_ORDERED, SL__INSIDE_RACES } sl__inside;

struct sl__race_graph {
    sl__race_graph *next, **link; /* of all */
    sl_graph *graph;
    const sl_body *body; /* what the following is of; NULL: out of date */
    sl__node_access *accesses;
    size_t n_accesses;
    sl__inside inside;
    bool names_pageable;
    sl__point *points; /* of the nodes of the launch that is being looked at */
    uint32_t n_points; /* 0: none is */
    sl__seen *seen;    /* of its lanes */
    uint32_t *slots;   /* of the lanes; lane 0: not used */
    sl__lane_slot *lanes, **last_lane;
    sl__table by_stream; /* its lanes */
    bool was_launched;
    sl__point end; /* of the last launch: one executable never runs twice at once */
};

/* ---- graphs.c ---- */

/* The checker's part of a graph, up to date with what the graph does. NULL: out of memory. */
sl__race_graph *sl__race_graph_of(sl__checker *checker, sl_graph *graph, const sl_body *body);
/* Of the launch that has been looked at. */
void sl__race_graph_drop_points(sl__race_graph *graph);

/* ---- replays.c: what checker.c does for other operations ---- */

/* Without memory for it, `starved` of the checker is set. */
sl_status sl__replay_enqueue(sl__checker *checker, sl_op *launch, sl_error *err);
/* `point`: of the stream behind the launch. False: out of memory. */
bool sl__replay_enqueued(sl__checker *checker, sl_graph *graph, const sl__point *point);
void sl__replay_cancelled(sl__checker *checker, const sl_op *launch);
void sl__replay_retired(sl__checker *checker, const sl_op *launch);
void sl__replay_clear(sl__checker *checker); /* forgets all graphs */

#endif
