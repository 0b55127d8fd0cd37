/* l_dot.c - g:dot(): a graph in DOT, Graphviz's language, with a box around the nodes of each
 * stream. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

#include <string.h>

/* Inside double quotes; what a terminal must not print is written as Lua escapes it. */
static void add_escaped(sl_text *out, const char *text)
{
    char shown[SL_SAFE_BYTES];
    const char *end = text + strlen(text);
    while (text < end) {
        int n = sl_safe_character(&text, end, false, shown);
        for (int i = 0; i < n; i++)
            sl_text_add(out, shown[i] == '"' || shown[i] == '\\' ? "\\%c" : "%c", shown[i]);
    }
}

static void add_node(sl_text *out, size_t number, const sl_graph_node *node)
{
    sl_text_add(out, "        n%zu [label=\"%zu ", number, number);
    add_escaped(out, node->name);
    if (*node->where) sl_text_add(out, "\\n");
    add_escaped(out, node->where);
    sl_text_add(out, "\"];\n");
}

/* The nodes of the stream in which node `first` was captured. */
static void add_cluster(lua_State *L, sl_text *out, const sl_graph_node *nodes, size_t n,
                        size_t first)
{
    sl_text_add(out, "    subgraph cluster_%u {\n        label=\"", nodes[first].stream_id);
    add_escaped(out, nodes[first].stream);
    sl_text_add(out, "\";\n");
    for (size_t i = first; i < n; i++) {
        lsl_stop_at(L, (int64_t)i, "dot");
        if (nodes[i].stream_id == nodes[first].stream_id) add_node(out, i + 1, &nodes[i]);
    }
    sl_text_add(out, "    }\n");
}

static bool is_first_of_stream(const sl_graph_node *nodes, size_t i)
{
    for (size_t k = i; k-- > 0;)
        if (nodes[k].stream_id == nodes[i].stream_id) return false;
    return true;
}

static int graph_dot(lua_State *L)
{
    const sl_graph *graph = lsl_check_graph(L, 1, "self", "dot");
    lsl_no_more(L, 1, "dot");
    size_t n_nodes = sl_graph_node_count(graph), n_edges = sl_graph_edge_count(graph);
    const sl_graph_node *nodes = lsl_graph_nodes(L, graph, "dot");
    const sl_graph_edge *edges = lsl_graph_edges(L, graph, "dot");
    sl_text *out = lsl_new_text(L);
    sl_text_add(out, "digraph \"");
    add_escaped(out, sl_graph_name(graph));
    sl_text_add(out, "\" {\n    node [shape=box];\n");
    for (size_t i = 0; i < n_nodes; i++)
        if (is_first_of_stream(nodes, i)) add_cluster(L, out, nodes, n_nodes, i);
    for (size_t i = 0; i < n_edges; i++)
        sl_text_add(out, "    n%u -> n%u;\n", edges[i].from + 1, edges[i].to + 1);
    sl_text_add(out, "}\n");
    return lsl_push_text(L, out, "dot");
}

void lsl_open_dot(lua_State *L)
{
    static const luaL_Reg methods[] = { { "dot", graph_dot }, { NULL, NULL } };
    lsl_add_methods(L, LSL_GRAPH, methods);
}
