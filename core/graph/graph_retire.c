/* graph_retire.c - the nodes of a launch retire behind it, as operations that observers see: each
 * as if it had been enqueued by the launch, in the order of its capture. */
#include "../observers.h"
#include "graph.h"

/* A record or a wait is an edge: it is reached when what it comes behind has ended. What comes
 * first in its lane waited for what the launch did. */
static void set_edge(const sl_op *launch, const sl_node *node, sl_run *run)
{
    const sl_run *prior = node->prior ? &launch->runs[node->prior - 1] : NULL;
    const bool waits = node->op->work.kind == SL_WORK_EVENT_WAIT;
    const int64_t reached = waits ? launch->runs[node->record].end_ns : 0;
    *run = (sl_run){
        .ready_ns = prior ? prior->end_ns : launch->start_ns,
        .ready_cause = prior ? SL_CAUSE_STREAM_ORDER : launch->ready_cause,
        .ready_by = prior ? launch->seq + node->prior : launch->ready_by,
    };
    if (waits && (!prior || reached > run->ready_ns)) {
        run->ready_cause = SL_CAUSE_EVENT;
        run->ready_by = launch->seq + 1 + node->record;
        run->ready_ns = reached;
    }
    run->start_ns = run->end_ns = run->ready_ns;
}

static void retire(const sl_op *launch, uint32_t i)
{
    const sl_node *node = &launch->body->nodes[i];
    sl_op op = *node->op;
    op.launch = launch;
    op.seq = launch->seq + 1 + i;
    op.lost = launch->lost;
    op.host_start_ns = launch->host_start_ns;
    op.host_end_ns = launch->host_end_ns;
    op.thread = launch->thread;
    op.wait_target = op.work.kind == SL_WORK_EVENT_WAIT ? launch->seq + 1 + node->record : 0;
    if (launch->runs && !sl_is_work(&op)) set_edge(launch, node, &launch->runs[i]);
    op.run = launch->runs ? launch->runs[i]
                          : (sl_run){ .start_ns = SL_TIME_LATER, .end_ns = SL_TIME_LATER };
    sl__tell(retired, &op);
}

void sl__graph_nodes_retire(const sl_op *launch)
{
    if (!launch->runs && launch->end_ns != SL_TIME_LATER) return;
    for (uint32_t i = 0; i < launch->body->n_nodes; i++)
        retire(launch, i);
}
