/* nodes.h - sets of a graph's nodes, in the order in which they came in. A stream of a capture and
 * the records of events share a set; it is copied before one of them changes it. */
#ifndef SL_GRAPH_NODES_H
#define SL_GRAPH_NODES_H

#include <stdbool.h>
#include <stdint.h>

/* NULL: the empty set. */
typedef struct sl__nodes {
    int32_t refs;
    uint32_t n, cap;
    uint32_t *at;    /* the nodes; room for cap, a power of two */
    uint32_t *table; /* 2 * cap places: 1 + where in `at` a node is, by its hash; NULL: few nodes */
} sl__nodes;

static inline uint32_t sl__nodes_count(const sl__nodes *set) { return set ? set->n : 0; }

sl__nodes *sl__nodes_retain(sl__nodes *set);
void sl__nodes_release(sl__nodes *set);

/* Makes room, so that joining `more` cannot fail: a set that others hold is copied. Costs what
 * `more` has, and what a set that has to be copied has. False: out of memory. */
bool sl__nodes_reserve(sl__nodes **set, const sl__nodes *more);
/* Adds the nodes of `more` that the set lacks, in their order. */
void sl__nodes_join(sl__nodes **set, sl__nodes *more);

/* A set for sl__nodes_become that may be `set` itself, as it is, if nobody else holds it. NULL: out
 * of memory. */
sl__nodes *sl__nodes_to_become(sl__nodes *set);
void sl__nodes_become(sl__nodes *set, uint32_t node); /* has that node alone from now on */

#endif
