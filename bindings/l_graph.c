/* l_graph.c - graphs: launching, updating by another, what is in them, freeing. How they are
 * captured is in l_capture.c. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

static sl_graph *check_self(lua_State *L, const char *op)
{
    return lsl_check_graph(L, 1, "self", op);
}

/* ---- launching ------------------------------------------------------------------ */

/* For g:launch and lab.cuda.graph_launch: in the stream at argument 2, else in the current one. */
static int launch(lua_State *L, const char *name, const char *op)
{
    sl_graph *graph = lsl_check_graph(L, 1, name, op);
    sl_stream *stream = lsl_stream_option(L, 2, op);
    lsl_no_more(L, 2, op);
    if (!stream) stream = lsl_current_stream(L, sl_graph_device(graph));
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_graph_launch(graph, stream, &err), &err, op);
    return 0;
}

static int graph_launch(lua_State *L) { return launch(L, "self", "launch"); }
static int cuda_graph_launch(lua_State *L) { return launch(L, "graph", "cuda.graph_launch"); }

/* lab.cuda.graph_instantiate(g, {priorities =}) */
static int cuda_graph_instantiate(lua_State *L)
{
    const char *op = "cuda.graph_instantiate";
    sl_graph *graph = lsl_check_graph(L, 1, "graph", op);
    int priorities = 0;
    const lsl_option options[] = { { "priorities", LSL_OPT_BOOL, &priorities } };
    lsl_options(L, 2, options, LSL_COUNT(options), op);
    lsl_no_more(L, 2, op);
    sl_error err;
    lsl_mark(L, sl_graph_device(graph));
    lsl_check(L, sl_graph_instantiate(graph, priorities, &err), &err, op);
    return 0;
}

/* lab.cuda.graph_exec_update(g, from): true; or false and why it cannot be an update. */
static int cuda_graph_exec_update(lua_State *L)
{
    const char *op = "cuda.graph_exec_update";
    sl_graph *graph = lsl_check_graph(L, 1, "graph", op);
    sl_graph *from = lsl_check_graph(L, 2, "from", op);
    lsl_no_more(L, 2, op);
    sl_error err;
    lsl_mark(L, sl_graph_device(graph));
    sl_status status = sl_graph_update(graph, from, &err);
    if (status == SL_EUNSUPPORTED) return lsl_push_false(L, &err);
    lsl_check(L, status, &err, op);
    lua_pushboolean(L, 1);
    return 1;
}

/* ---- nodes and edges ---------------------------------------------------------------- */

static bool has_bytes(sl_span_kind kind)
{
    return kind >= SL_SPAN_MEMCPY_H2D && kind <= SL_SPAN_MEMSET;
}

static void push_node(lua_State *L, const sl_graph_node *node)
{
    lua_createtable(L, 0, 6);
    lsl_set_text(L, "name", node->name);
    lsl_set_text(L, "kind",
                 node->kind == SL_SPAN_KINDS ? node->name : sl_span_kind_name(node->kind));
    lsl_set_known(L, "where", node->where);
    lsl_set_text(L, "stream", node->stream);
    lsl_set_integer(L, "priority", node->priority);
    if (has_bytes(node->kind)) lsl_set_integer(L, "bytes", (int64_t)node->bytes);
}

sl_graph_node *lsl_graph_nodes(lua_State *L, const sl_graph *graph, const char *op)
{
    sl_graph_node *nodes = lsl_scratch(L, sl_graph_node_count(graph), sizeof *nodes, op);
    sl_error err;
    lsl_check(L, sl_graph_get_nodes(graph, nodes, &err), &err, op);
    return nodes;
}

sl_graph_edge *lsl_graph_edges(lua_State *L, const sl_graph *graph, const char *op)
{
    sl_graph_edge *edges = lsl_scratch(L, sl_graph_edge_count(graph), sizeof *edges, op);
    sl_graph_get_edges(graph, edges);
    return edges;
}

/* g:nodes(): a list, in the order of their capture. */
static int graph_nodes(lua_State *L)
{
    const sl_graph *graph = check_self(L, "nodes");
    lsl_no_more(L, 1, "nodes");
    size_t n = sl_graph_node_count(graph);
    const sl_graph_node *nodes = lsl_graph_nodes(L, graph, "nodes");
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        lsl_stop_at(L, (int64_t)i, "nodes");
        push_node(L, &nodes[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* g:edges(): a list of {from, to}, numbers of nodes. */
static int graph_edges(lua_State *L)
{
    const sl_graph *graph = check_self(L, "edges");
    lsl_no_more(L, 1, "edges");
    size_t n = sl_graph_edge_count(graph);
    const sl_graph_edge *edges = lsl_graph_edges(L, graph, "edges");
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        lsl_stop_at(L, (int64_t)i, "edges");
        lua_createtable(L, 2, 0);
        lua_pushinteger(L, (lua_Integer)edges[i].from + 1);
        lua_rawseti(L, -2, 1);
        lua_pushinteger(L, (lua_Integer)edges[i].to + 1);
        lua_rawseti(L, -2, 2);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* ---- the object ------------------------------------------------------------------------- */

static int free_graph(lua_State *L, const char *name, const char *op)
{
    if (!lsl_to(L, 1, LSL_GRAPH)) lsl_type_error(L, 1, name, lsl_nouns[LSL_GRAPH], op);
    lsl_no_more(L, 1, op);
    return lsl_close(L, LSL_GRAPH);
}

static int graph_free(lua_State *L) { return free_graph(L, "self", "free"); }

static int cuda_graph_destroy(lua_State *L)
{
    lsl_check_graph(L, 1, "graph", "cuda.graph_destroy");
    return free_graph(L, "graph", "cuda.graph_destroy");
}

static int graph_end_scope(lua_State *L) { return lsl_close(L, LSL_GRAPH); }

LSL_GETTER(sl_graph, id, integer, sl_graph_id(self))
LSL_GETTER(sl_graph, name, string, sl_graph_name(self))
LSL_GETTER(sl_graph, launches, integer, (lua_Integer)sl_graph_launches(self))
LSL_GETTER(sl_graph, priorities, boolean, sl_graph_has_priorities(self))
LSL_GETTER(sl_graph, instantiated, boolean, sl_graph_is_instantiated(self))

static int get_device(lua_State *L)
{
    lsl_push_device(L, sl_graph_device(check_self(L, "device")));
    return 1;
}

static int get_freed(lua_State *L)
{
    const lsl_box *box = lsl_to(L, 1, LSL_GRAPH);
    if (!box) lsl_type_error(L, 1, "self", "a graph", "freed");
    lua_pushboolean(L, !lsl_is_open(box));
    return 1;
}

/* "graph 2 "step" (12 nodes, launched 3 times)" */
static void push_text(lua_State *L, const lsl_box *box)
{
    if (!lsl_is_open(box)) {
        lua_pushliteral(L, "graph (freed)");
        return;
    }
    char state[48];
    unsigned long long launches = sl_graph_launches(box->p);
    size_t n = sl_graph_node_count(box->p);
    if (!sl_graph_is_instantiated(box->p))
        snprintf(state, sizeof state, "not instantiated");
    else if (launches == 0)
        snprintf(state, sizeof state, "not launched");
    else
        snprintf(state, sizeof state, "launched %llu time%s", launches, launches == 1 ? "" : "s");
    lua_pushfstring(L, "graph %d \"%s\" (%I node%s, %s)", (int)sl_graph_id(box->p),
                    sl_graph_name(box->p), (LUAI_UACINT)n, n == 1 ? "" : "s", state);
}

/* ---- those that are live -------------------------------------------------------------------- */

static bool is_live(const lsl_box *box, const sl_device *device)
{
    return box->tag == &lsl_tags[LSL_GRAPH] && lsl_is_open(box)
           && sl_graph_device(box->p) == device;
}

/* Called without the collector, whose finalizers take boxes out of the state's list. The list has
 * the latest first. */
static int list_graphs(lua_State *L)
{
    const sl_device *device = lua_touserdata(L, 1);
    lua_Integer n = 0;
    for (const lsl_box *box = lsl_get(L)->boxes; box; box = box->next)
        n += is_live(box, device);
    lua_createtable(L, (int)n, 0);
    for (const lsl_box *box = lsl_get(L)->boxes; box; box = box->next)
        if (is_live(box, device) && lsl_push_known(L, LSL_GRAPH, box->p)) lua_rawseti(L, 2, n--);
    return 1;
}

/* lab.graphs(): of the current device, in the order of their capture. */
static int lab_graphs(lua_State *L)
{
    lsl_no_more(L, 0, "graphs");
    sl_device *device = lsl_device(L, "graphs");
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushcclosure(L, list_graphs, 1);
    lua_pushlightuserdata(L, device);
    return lsl_call_uncollected(L, 1, 1) == LUA_OK ? 1 : lua_error(L);
}

/* ---- tables ------------------------------------------------------------------------------- */

static const luaL_Reg functions[] = { { "graphs", lab_graphs }, { NULL, NULL } };
static const luaL_Reg cuda_functions[] = {
    { "graph_instantiate", cuda_graph_instantiate },
    { "graph_launch", cuda_graph_launch },
    { "graph_exec_update", cuda_graph_exec_update },
    { "graph_destroy", cuda_graph_destroy },
    { NULL, NULL },
};
static const luaL_Reg methods[] = {
    { "launch", graph_launch }, { "nodes", graph_nodes }, { "edges", graph_edges },
    { "free", graph_free },     { NULL, NULL },
};
static const luaL_Reg getters[] = {
    { "id", get_id },
    { "name", get_name },
    { "launches", get_launches },
    { "priorities", get_priorities },
    { "instantiated", get_instantiated },
    { "freed", get_freed },
    { "device", get_device },
    { NULL, NULL },
};
static const lsl_class class = { push_text, graph_end_scope, methods, getters };

void lsl_open_graph(lua_State *L)
{
    lsl_define_boxes(L, LSL_GRAPH, &class);
    lsl_set_functions(L, functions);
    lua_getfield(L, -1, "cuda");
    lsl_set_functions(L, cuda_functions);
    lua_pop(L, 1);
}
