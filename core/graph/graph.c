/* graph.c - a captured graph: its nodes and edges, what is asked of it, and its end. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "../buffer.h"
#include "../device.h"
#include "../observers.h"
#include "../op.h"

/* ---- growing ---- */

static sl_body *create_body(sl_device *device)
{
    sl_body *body = calloc(1, sizeof *body);
    if (!body) return NULL;
    body->refs = 1;
    body->device = device;
    return body;
}

sl_status sl__graph_create(sl_device *device, sl_graph **out, sl_error *err)
{
    sl__device_core *core = device->core;
    sl_graph *graph = calloc(1, device->backend->graph_bytes);
    sl_body *body = graph ? create_body(device) : NULL;
    if (!body) {
        free(graph);
        return sl__no_memory(err, "a graph");
    }
    graph->device = sl_device_retain(device);
    graph->refs = 1;
    graph->body = body;
    graph->id = ++core->last_graph_id;
    SL__PUSH(core->graphs, graph, next, link);
    core->stats.graphs++;
    *out = graph;
    return SL_OK;
}

sl_status sl__body_reserve(sl_body *body, uint32_t n_before, sl_error *err)
{
    size_t cap = body->cap_nodes;
    bool fits = body->n_nodes < UINT32_MAX / 4 && body->n_before + n_before < UINT32_MAX
                && SL__GROW(body->nodes, cap, (size_t)body->n_nodes + 1)
                && SL__GROW(body->before, body->cap_before, body->n_before + n_before);
    body->cap_nodes = (uint32_t)cap;
    if (fits) return SL_OK;
    return sl__no_memory(err, "a graph of more than %u nodes", (unsigned)body->n_nodes);
}

uint32_t sl__body_add(sl_body *body, sl_op *op, uint32_t lane, const uint32_t *before,
                      uint32_t n_before)
{
    sl_node *node = &body->nodes[body->n_nodes];
    *node = (sl_node){
        .op = op, .lane = lane, .number = body->n_work, .first_before = (uint32_t)body->n_before
    };
    if (sl_is_work(node->op)) {
        if (n_before) memcpy(body->before + body->n_before, before, n_before * sizeof *before);
        node->n_before = n_before;
        body->n_before += n_before;
        body->n_work++;
    }
    return body->n_nodes++;
}

/* ---- lifecycle ---- */

sl_graph *sl_graph_retain(sl_graph *graph)
{
    if (graph) graph->refs++;
    return graph;
}

void sl__body_release(sl_body *body)
{
    if (--body->refs > 0) return;
    for (uint32_t i = 0; i < body->n_nodes; i++)
        sl__op_drop(body->device, body->nodes[i].op);
    free(body->nodes);
    free(body->before);
    free(body);
}

void sl_graph_release(sl_graph *graph)
{
    if (!graph || --graph->refs > 0) return;
    sl_device *device = graph->device;
    SL__UNLINK(graph, next, link);
    device->core->stats.graphs--;
    sl__tell(graph_closed, graph);
    device->backend->graph_close(graph);
    sl__body_release(graph->body);
    free(graph);
    sl_device_release(device);
}

/* ---- what it is ---- */

static bool uses_memory(const sl_body *body, const sl_buffer *buffer)
{
    for (uint32_t i = 0; i < body->n_nodes; i++)
        if (sl_op_uses(body->nodes[i].op, buffer)) return true;
    return false;
}

/* Those who hold a body besides graphs are launches. */
static int64_t count_launches(const sl_device *device, const sl_body *body)
{
    int64_t n = body->refs;
    for (const sl_graph *graph = device->core->graphs; graph; graph = graph->next)
        n -= graph->body == body;
    return n;
}

int64_t sl__graph_launches_using(const sl_device *device, const sl_buffer *buffer)
{
    int64_t n = 0;
    for (const sl_graph *graph = device->core->graphs; graph; graph = graph->next)
        if (graph->opened && graph->body->refs > 1 && uses_memory(graph->body, buffer))
            n += count_launches(device, graph->body);
    return n;
}

sl_device *sl_graph_device(const sl_graph *graph) { return graph->device; }

uint32_t sl_graph_id(const sl_graph *graph) { return graph->id; }

bool sl_graph_is_instantiated(const sl_graph *graph) { return graph->opened; }

bool sl_graph_has_priorities(const sl_graph *graph) { return graph->priorities; }

uint64_t sl_graph_launches(const sl_graph *graph) { return graph->launches; }

sl_status sl_graph_set_name(sl_graph *graph, const char *name, sl_error *err)
{
    uint32_t id = sl__strings_intern(&graph->device->core->strings, name);
    if (!*name) return SL_OK;
    if (!id) return sl__no_memory(err, "a graph's name");
    graph->name = id;
    return SL_OK;
}

const char *sl_graph_name(const sl_graph *graph)
{
    return sl__strings_text(&graph->device->core->strings, graph->name);
}

size_t sl_graph_node_count(const sl_graph *graph) { return graph->body->n_work; }

static sl_status describe_node(sl_device *device, const sl_op *op, sl_graph_node *out,
                               sl_error *err)
{
    sl__device_core *core = device->core;
    uint32_t name = sl__span_name(device, op);
    if (!name) return sl__no_memory(err, "a node's name");
    *out = (sl_graph_node){
        .name = sl__strings_text(&core->strings, name),
        .where = sl__strings_text(&core->strings, op->where),
        .stream = sl__stream_name(op->stream),
        .stream_id = op->stream->id,
        .priority = op->stream->priority,
        .kind = (uint8_t)sl__span_kind(&op->work),
        .bytes = op->work.bytes,
    };
    return SL_OK;
}

sl_status sl_graph_get_nodes(const sl_graph *graph, sl_graph_node *nodes, sl_error *err)
{
    const sl_body *body = graph->body;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        if (!sl_is_work(body->nodes[i].op)) continue;
        if (describe_node(graph->device, body->nodes[i].op, nodes++, err) != SL_OK)
            return SL_ENOMEM;
    }
    return SL_OK;
}

size_t sl_graph_edge_count(const sl_graph *graph) { return graph->body->n_before; }

/* Both nodes as users count them: without records and waits. */
void sl_graph_get_edges(const sl_graph *graph, sl_graph_edge *edges)
{
    const sl_body *body = graph->body;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        const sl_node *node = &body->nodes[i];
        for (uint32_t k = 0; k < node->n_before; k++)
            *edges++ = (sl_graph_edge){ body->nodes[body->before[node->first_before + k]].number,
                                        node->number };
    }
}

/* ---- names ---- */

static const char *const mode_names[] = {
    [SL_CAPTURE_GLOBAL] = "global",
    [SL_CAPTURE_THREAD_LOCAL] = "thread_local",
    [SL_CAPTURE_RELAXED] = "relaxed",
};

bool sl_capture_mode_parse(const char *name, sl_capture_mode *mode)
{
    const int i = SL__FIND_NAME(mode_names, *mode_names, name);
    if (i >= 0) *mode = (sl_capture_mode)i;
    return i >= 0;
}

const char *sl_capture_mode_name(sl_capture_mode mode) { return mode_names[mode]; }

const char *sl_capture_status_name(sl_capture_status status)
{
    return status == SL_CAPTURE_STATUS_NONE     ? "none"
           : status == SL_CAPTURE_STATUS_ACTIVE ? "active"
                                                : "invalidated";
}

const char *sl_capture_error_name(int number)
{
    switch (number) {
#define X(id, value, name) \
    case value: return name;
        SL_CAPTURE_ERROR_MAP(X)
#undef X
    }
    return NULL;
}
