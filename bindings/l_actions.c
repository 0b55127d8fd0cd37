/* l_actions.c - what a script has to do that does again what a program does, for
 * bindings/exports/actions.lua: core/whatif/actions.h says what each is.
 *
 * {streams = {{name =, priority =, null =, blocking =}, ...}, follow =, graph_follow =, total =,
 * name = of the timeline, {kind =, stream = of that list, start =, stop =, returns =, work =,
 * event =, graph =, inside = of a graph, waits =, and what its kind has}, ...}. Times are in ns.
 */
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

static void free_actions(void *memory) { sl_actions_free(memory); }

static void set_true(lua_State *L, const char *field, bool value)
{
    if (value) lsl_set_boolean(L, field, true);
}

static void set_known(lua_State *L, const char *field, int64_t value)
{
    if (value != 0) lsl_set_integer(L, field, value);
}

static void push_action(lua_State *L, const sl_action *action)
{
    lua_createtable(L, 0, 12);
    lsl_set_text(L, "kind", sl_action_name((sl_action_kind)action->kind));
    lsl_set_integer(L, "stream", (int64_t)action->stream + 1);
    lsl_set_integer(L, "start", action->start_ns);
    lsl_set_integer(L, "stop", action->end_ns);
    lsl_set_integer(L, "returns", action->return_ns);
    lsl_set_integer(L, "event", action->event);
    lsl_set_text(L, "name", action->name);
    lsl_set_integer(L, "work", action->work_ns);
    set_known(L, "graph", action->graph);
    set_true(L, "inside", action->runs_in_graph);
    set_true(L, "waits", action->waits);
    switch ((sl_action_kind)action->kind) {
    case SL_ACTION_KERNEL:
        lsl_set_integer(L, "blocks", action->blocks);
        lsl_set_integer(L, "threads", action->threads);
        lsl_set_integer(L, "shared", action->shared_bytes);
        break;
    case SL_ACTION_COPY:
        lsl_set_text(L, "from", sl_action_memory_name((sl_action_memory)action->from));
        lsl_set_text(L, "to", sl_action_memory_name((sl_action_memory)action->to));
        lsl_set_integer(L, "bytes", (int64_t)action->bytes);
        break;
    case SL_ACTION_MEMSET: lsl_set_integer(L, "bytes", (int64_t)action->bytes); break;
    case SL_ACTION_RECORD:
    case SL_ACTION_WAIT:
    case SL_ACTION_STREAM_SYNC:
    case SL_ACTION_EVENT_SYNC:
    case SL_ACTION_DEVICE_SYNC:
    case SL_ACTION_GRAPH:
    case SL_ACTIONS: break;
    }
}

static void push_streams(lua_State *L, const sl_actions *actions)
{
    lua_createtable(L, (int)actions->n_streams, 0);
    for (size_t i = 0; i < actions->n_streams; i++) {
        lua_createtable(L, 0, 4);
        lsl_set_text(L, "name", actions->streams[i].name);
        lsl_set_integer(L, "priority", actions->streams[i].priority);
        set_true(L, "null", actions->streams[i].is_null);
        set_true(L, "blocking", actions->streams[i].is_blocking);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

void lsl_push_actions(lua_State *L, sl_whatif *whatif, const sl_timeline *timeline)
{
    sl_actions *found = lsl_new_scratch(L, sizeof *found, free_actions);
    sl_error err;
    *found = (sl_actions){ 0 };
    lsl_check(L, sl_whatif_actions(whatif, found, &err), &err, "whatif");
    lua_createtable(L, (int)found->n, 4);
    for (size_t i = 0; i < found->n; i++) {
        push_action(L, &found->at[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    push_streams(L, found);
    lua_setfield(L, -2, "streams");
    lsl_set_integer(L, "follow", found->follow_ns);
    lsl_set_integer(L, "graph_follow", found->graph_follow_ns);
    lsl_set_integer(L, "total", found->total_ns);
    lsl_set_text(L, "name", sl_timeline_name(timeline));
}
