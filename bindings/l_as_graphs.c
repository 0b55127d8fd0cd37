/* l_as_graphs.c - what the work of a timeline would take as graphs: trace.as_graphs of an
 * explanation (l_records.c).
 */
#include "l_error.h"
#include "l_timeline.h"

#include <string.h>

enum { N_COSTS = sizeof(sl_graph_costs) / sizeof(double) };

void lsl_push_graph_costs(lua_State *L, const sl_graph_costs *costs)
{
    double list[N_COSTS];
    memcpy(list, costs, sizeof list);
    lua_createtable(L, N_COSTS, 0);
    for (int i = 0; i < N_COSTS; i++) {
        lua_pushnumber(L, list[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

static sl_graph_costs read_costs(lua_State *L, int idx)
{
    double list[N_COSTS];
    for (int i = 0; i < N_COSTS; i++) {
        lua_rawgeti(L, idx, i + 1);
        int is_number;
        list[i] = lua_tonumberx(L, -1, &is_number);
        luaL_argcheck(L, is_number && list[i] >= 0 && list[i] <= 1e9, idx, "no costs of graphs");
        lua_pop(L, 1);
    }
    sl_graph_costs costs;
    memcpy(&costs, list, sizeof costs);
    return costs;
}

/* A verdict and an explanation both ask: the answer is kept. */
static const sl_as_graphs *as_graphs(lua_State *L, lsl_timeline *box, const sl_graph_costs *costs)
{
    sl_error err;
    if (box->has_graphs && memcmp(&box->graph_costs, costs, sizeof *costs) == 0)
        return &box->as_graphs;
    lsl_check(L, sl_timeline_as_graphs(box->p, costs, &box->as_graphs, &err), &err, "explain");
    box->graph_costs = *costs;
    box->has_graphs = true;
    return &box->as_graphs;
}

/* as_graphs(costs): {makespan_ns =, n_graphs =, n_nodes =, issue_ns =}; nil if the timeline's
 * device does not tell what graphs cost, and there is no list of costs. Upvalues: the state, the
 * timeline. */
static int trace_as_graphs(lua_State *L)
{
    lsl_timeline *timeline = lua_touserdata(L, lua_upvalueindex(2));
    sl_graph_costs costs = sl_timeline_device(timeline->p)->graph;
    bool known = costs.launch_us[0] > 0;
    if (!known && !lua_istable(L, 1)) return 0;
    if (!known) costs = read_costs(L, 1);
    const sl_as_graphs *found = as_graphs(L, timeline, &costs);
    lua_createtable(L, 0, 4);
    lsl_set_integer(L, "makespan_ns", found->makespan_ns);
    lsl_set_integer(L, "n_graphs", (int64_t)found->n_graphs);
    lsl_set_integer(L, "n_nodes", (int64_t)found->n_nodes);
    lsl_set_integer(L, "issue_ns", found->issue_ns);
    return 1;
}

void lsl_set_as_graphs(lua_State *L, int timeline)
{
    timeline = lua_absindex(L, timeline);
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushvalue(L, timeline);
    lua_pushcclosure(L, trace_as_graphs, 2);
    lua_setfield(L, -2, "as_graphs");
}
