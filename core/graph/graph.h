/* graph.h - graphs, for the rest of the core. */
#ifndef SL_GRAPH_H
#define SL_GRAPH_H

#include "../op.h"

/* An empty graph, with one reference and none opened. SL_ENOMEM. */
sl_status sl__graph_create(sl_device *device, sl_graph **graph, sl_error *err);

/* Room for one more node with n edges to it, so that sl__body_add cannot fail. */
sl_status sl__body_reserve(sl_body *body, uint32_t n_before, sl_error *err);
/* Adds a node that comes behind n others; returns its index. `op` is the body's from then on. */
uint32_t sl__body_add(sl_body *body, sl_op *op, uint32_t lane, const uint32_t *before,
                      uint32_t n_before);

void sl__body_release(sl_body *body);

/* How many launches are in flight that use the memory, but for those of graphs updated since. */
int64_t sl__graph_launches_using(const sl_device *device, const sl_buffer *buffer);

/* A launch has retired: now its nodes do, for observers, as if each had been enqueued by it. Those
 * of which only the launch has times do not. */
void sl__graph_nodes_retire(const sl_op *launch);

#endif
