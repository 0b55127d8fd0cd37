/* graph_launch.c - instantiating, launching and updating graphs. */
#include <stdlib.h>

#include "../buffer.h"
#include "../device.h"
#include "../observers.h"
#include "../op.h"
#include "../record.h"
#include "../stream.h"
#include "capture.h"
#include "graph.h"

static sl_status enter_graph(const sl_graph *graph, const char *what, sl_error *err)
{
    if (!graph) return sl_fail(err, SL_ECLOSED, "the graph is freed");
    return sl__device_enter(graph->device, what, err);
}

/* Two executable graphs never have the same nodes: these have memory, and host functions, that only
 * one launch at a time can use. */
static sl_status check_unshared(const sl_graph *graph, sl_error *err)
{
    return graph->body->refs == 1
               ? SL_OK
               : sl_fail(
                   err, SL_ESTATE,
                   "%s has updated another graph, which has its nodes now: capture them again",
                   sl_graph_name(graph));
}

static sl_status open_graph(sl_graph *graph, sl_error *err)
{
    sl_call call;
    sl_status status = sl__call_begin_as(graph->device, &call, "cudaGraphInstantiate", err);
    if (status != SL_OK) return status;
    status = graph->device->backend->graph_open(graph, err);
    sl__call_end(graph->device, &call, NULL, status);
    return status;
}

sl_status sl_graph_instantiate(sl_graph *graph, bool priorities, sl_error *err)
{
    sl_status status = enter_graph(graph, "instantiate", err);
    if (status != SL_OK) return status;
    if (graph->opened) return sl_fail(err, SL_ESTATE, "the graph is instantiated already");
    status = check_unshared(graph, err);
    if (status != SL_OK) return status;
    graph->priorities = priorities;
    status = sl__capture_check(graph->device, SL__CALLED_UNSAFE, "cudaGraphInstantiate", NULL, NULL,
                               err);
    if (status == SL_OK) status = open_graph(graph, err);
    graph->opened = status == SL_OK;
    return sl__device_leave(graph->device, status, err);
}

/* ---- launching ---- */

/* Memory that was lent while the graph was captured comes behind work of one stream only; a launch
 * may be in any. */
static sl_status settle_lent(sl_graph *graph, sl_error *err)
{
    sl_status status = SL_OK;
    for (uint32_t i = 0; i < graph->body->n_nodes && status == SL_OK; i++)
        if (sl__op_is_lent(graph->body->nodes[i].op))
            status = sl_device_wait_idle(graph->device, err);
    graph->lent = status != SL_OK;
    return status;
}

static void let_go(sl_op *launch)
{
    free(launch->runs);
    sl__body_release(launch->body);
    sl_graph_release(launch->graph);
}

static sl_status submit_launch(sl_graph *graph, sl_stream *stream, sl_error *err)
{
    const sl_work work = { .kind = SL_WORK_GRAPH };
    sl__device_core *core = stream->device->core;
    sl_run *runs = NULL;
    sl_op *op;
    if (stream->device->info.times_at_once && sl__observers
        && !(runs = calloc((size_t)graph->body->n_nodes + 1, sizeof *runs)))
        return sl__no_memory(err, "a launch of %u nodes", (unsigned)graph->body->n_nodes);
    sl_status status = sl__op_begin(stream, &work, &(sl__operands){ 0 }, &op, err);
    if (status != SL_OK) {
        free(runs);
        return status;
    }
    op->let_go = let_go;
    op->graph = sl_graph_retain(graph);
    op->body = graph->body;
    op->body->refs++;
    op->runs = runs;
    core->numbers->last_seq = sl__op_last_number(op);
    status = sl__op_submit(op, err);
    if (status != SL_OK) return status;
    if (!graph->uploaded_by) graph->uploaded_by = op->seq;
    graph->launches++;
    graph->body->launches++;
    return SL_OK;
}

sl_status sl_graph_launch(sl_graph *graph, sl_stream *stream, sl_error *err)
{
    sl_status status = enter_graph(graph, "launch", err);
    if (status == SL_OK) status = sl__stream_enter(stream, "launch", err);
    if (status != SL_OK) return status;
    status = sl__device_check_same(stream->device, "the stream", graph->device, "the graph", err);
    if (status != SL_OK) return status;
    if (!graph->opened)
        return sl_fail(err, SL_ESTATE, "%s is not instantiated: instantiate it first",
                       sl_graph_name(graph));
    if (graph->lent) status = settle_lent(graph, err);
    if (status == SL_OK) status = submit_launch(graph, stream, err);
    return sl__device_finish(stream->device, status, err);
}

/* ---- updating ---- */

static sl_status differ_in_edges(sl_error *err)
{
    return sl_fail(err, SL_EUNSUPPORTED, "the nodes' edges differ: capture a new graph");
}

static bool same_edges(const sl_body *a, const sl_body *b, uint32_t node)
{
    const sl_node *x = &a->nodes[node], *y = &b->nodes[node];
    if (x->n_before != y->n_before) return false;
    for (uint32_t i = 0; i < x->n_before; i++)
        if (a->before[x->first_before + i] != b->before[y->first_before + i]) return false;
    return true;
}

/* `number`: as users count, from 1 and only work. */
static sl_status check_node(const sl_work *a, const sl_work *b, uint32_t number, sl_error *err)
{
    if (a->kind != b->kind)
        return sl_fail(err, SL_EUNSUPPORTED,
                       "node %u of the graph is %s and of the new one %s: capture a new graph",
                       (unsigned)number, sl_work_row_of(a->kind)->noun,
                       sl_work_row_of(b->kind)->noun);
    if (a->kind == SL_WORK_MEMCPY && a->copy_kind != b->copy_kind)
        return sl_fail(
            err, SL_EUNSUPPORTED,
            "node %u, a copy, has another direction in the new graph: capture a new graph",
            (unsigned)number);
    return SL_OK;
}

/* What cudaGraphExecUpdate compares ("Whole Graph Update" in the Programming Guide). */
static sl_status check_update(const sl_body *graph, const sl_body *from, sl_error *err)
{
    uint32_t number = 0;
    if (graph->n_work != from->n_work)
        return sl_fail(
            err, SL_EUNSUPPORTED, "the graph has %u node%s and the new one %u: capture a new graph",
            (unsigned)graph->n_work, graph->n_work == 1 ? "" : "s", (unsigned)from->n_work);
    if (graph->n_nodes != from->n_nodes) return differ_in_edges(err);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const sl_node *a = &graph->nodes[i], *b = &from->nodes[i];
        const bool is_work = sl_is_work(a->op);
        sl_status status;

        if (is_work != sl_is_work(b->op)) return differ_in_edges(err);
        if (is_work) {
            status = check_node(&a->op->work, &b->op->work, ++number, err);
            if (status != SL_OK) return status;
        }
        if (a->op->work.kind != b->op->work.kind || !same_edges(graph, from, i))
            return differ_in_edges(err);
    }
    return SL_OK;
}

/* Launches in flight keep what the graph did until now. */
static void take_over(sl_graph *graph, const sl_graph *from)
{
    sl_body *was = graph->body;
    graph->body = from->body;
    graph->body->refs++;
    graph->lent = from->lent;
    sl__tell(graph_updated, graph);
    sl__body_release(was);
}

static sl_status update_from(sl_graph *graph, sl_graph *from, sl_error *err)
{
    sl_call call;
    sl_status status = sl__call_begin_as(graph->device, &call, "cudaGraphExecUpdate", err);
    if (status != SL_OK) return status;
    status = graph->device->backend->graph_update(graph, from, err);
    sl__call_end(graph->device, &call, NULL, status);
    return status;
}

sl_status sl_graph_update(sl_graph *graph, sl_graph *from, sl_error *err)
{
    sl_status status = enter_graph(graph, "update", err);
    if (status == SL_OK) status = enter_graph(from, "update", err);
    if (status != SL_OK) return status;
    status = sl__device_check_same(from->device, "the new graph", graph->device, "the graph", err);
    if (status != SL_OK) return status;
    if (!graph->opened || from->opened)
        return sl_fail(err, SL_ESTATE, "%s",
                       from->opened ? "the new graph is instantiated already"
                                    : "the graph is not instantiated: instantiate it first");
    status = check_unshared(from, err);
    if (status != SL_OK) return status;
    status = check_update(graph->body, from->body, err);
    if (status == SL_OK) status = update_from(graph, from, err);
    if (status == SL_OK) take_over(graph, from);
    return sl__device_leave(graph->device, status, err);
}
