/* l_figures.c - the figures of a timeline as tables, for the sentences and tables of
 * bindings/words/. Times are integers, in ns.
 */
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

#include <stdlib.h>
#include <string.h>

/* The figures of one timeline, or of two and what moved between them. */
typedef struct figures {
    sl_figures of[2];
    sl_move *moves;
} figures;

static void free_figures(void *memory)
{
    figures *f = memory;
    sl_figures_free(&f->of[0]);
    sl_figures_free(&f->of[1]);
    free(f->moves);
}

/* ---- figures ------------------------------------------------------------------------------ */

/* Sets a field of the table on top of the stack. */
static void set_list(lua_State *L, const char *field, const int64_t *values, size_t n)
{
    lua_createtable(L, (int)(n & INT32_MAX), 0);
    for (size_t i = 0; i < n; i++) {
        lua_pushinteger(L, (lua_Integer)values[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, field);
}

/* {name =, one =, several = in a sentence, count =, busy =, overlaps = {with each kind}}, all kinds
 * in order */
static void set_kinds(lua_State *L, const sl_figures *f)
{
    lua_createtable(L, SL_SPAN_KINDS, 0);
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
        size_t count = 0;
        for (int engine = 0; engine < SL_ENGINES; engine++)
            count += f->count[engine][kind];
        lua_createtable(L, 0, 6);
        lsl_set_text(L, "name", sl_span_kind_name((sl_span_kind)kind));
        lsl_set_text(L, "one", sl_span_kind_noun((sl_span_kind)kind, 1));
        lsl_set_text(L, "several", sl_span_kind_noun((sl_span_kind)kind, 2));
        lsl_set_integer(L, "count", (int64_t)count);
        lsl_set_integer(L, "busy", f->kinds_ns[kind][kind]);
        set_list(L, "overlaps", f->kinds_ns[kind], SL_SPAN_KINDS);
        lua_rawseti(L, -2, kind + 1);
    }
    lua_setfield(L, -2, "kinds");
}

/* {name =, count =, busy =, kinds = {{name =, count =, busy =}, ...}}, all engines in order;
 * of kinds those that it did */
static void set_engines(lua_State *L, const sl_figures *f)
{
    lua_createtable(L, SL_ENGINES, 0);
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        size_t count = 0;
        lua_Integer n = 0;
        lua_createtable(L, 0, 4);
        lua_newtable(L);
        for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
            if (f->count[engine][kind] == 0) continue;
            lua_createtable(L, 0, 3);
            lsl_set_text(L, "name", sl_span_kind_name((sl_span_kind)kind));
            lsl_set_integer(L, "count", (int64_t)f->count[engine][kind]);
            lsl_set_integer(L, "busy", f->busy_ns[engine][kind]);
            lua_rawseti(L, -2, ++n);
            count += f->count[engine][kind];
        }
        lua_setfield(L, -2, "kinds");
        lsl_set_text(L, "name", sl_engine_name((sl_engine)engine));
        lsl_set_integer(L, "count", (int64_t)count);
        lsl_set_integer(L, "busy", f->engines_ns[1 << engine]);
        lua_rawseti(L, -2, engine + 1);
    }
    lua_setfield(L, -2, "engines");
}

/* `engine_sets`: by set of engines, 1 << i for the i-th, the time in which all of them were
 * busy. */
static void set_work(lua_State *L, const sl_figures *f)
{
    set_kinds(L, f);
    set_engines(L, f);
    set_list(L, "engine_sets", f->engines_ns + 1, (1 << SL_ENGINES) - 1);
}

/* {{prefix = "gpu1: ", kinds =, engines =, engine_sets =}, ...} by the devices' numbers, where
 * spans are of several; else nothing. */
static void set_devices(lua_State *L, const sl_timeline *timeline, const sl_figures *f)
{
    char prefix[SL_PREFIX_BYTES];
    if (!f->devices) return;
    lua_createtable(L, f->n_devices, 0);
    for (int k = 0; k < f->n_devices; k++) {
        int place = sl_timeline_place_in_order(timeline, k);
        lua_createtable(L, 0, 4);
        lsl_set_text(L, "prefix", sl_timeline_device_prefix(timeline, place, prefix));
        set_work(L, &f->devices[place]);
        lua_rawseti(L, -2, k + 1);
    }
    lua_setfield(L, -2, "devices");
}

/* {name =, busy =, count =, number =}, by id */
static void set_streams(lua_State *L, const sl_figures *f)
{
    lua_createtable(L, (int)(f->n_streams & INT32_MAX), 0);
    for (size_t i = 0; i < f->n_streams; i++) {
        lua_createtable(L, 0, 4);
        lsl_set_text(L, "name", f->streams[i].label);
        lsl_set_integer(L, "number", f->streams[i].number);
        lsl_set_integer(L, "count", (int64_t)f->streams[i].count);
        lsl_set_integer(L, "busy", f->streams[i].busy_ns);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "streams");
}

/* {kind = or cause =, time =}, all parts in order */
static void set_parts(lua_State *L, const sl_figures *f)
{
    lua_createtable(L, SL_SPAN_KINDS + SL_CAUSES, 0);
    for (int part = 0; part < SL_SPAN_KINDS + SL_CAUSES; part++) {
        lua_createtable(L, 0, 2);
        if (part < SL_SPAN_KINDS)
            lsl_set_text(L, "kind", sl_span_kind_name((sl_span_kind)part));
        else
            lsl_set_text(L, "cause", sl_cause_name((sl_cause)(part - SL_SPAN_KINDS)));
        lsl_set_integer(L, "time", f->part_ns[part]);
        lua_rawseti(L, -2, part + 1);
    }
    lua_setfield(L, -2, "parts");
}

static void set_bounds(lua_State *L, const sl_timeline *timeline, const sl_bounds *bounds)
{
    char title[SL_STREAM_NAME_BYTES];
    uint32_t busiest = (uint32_t)(bounds->busiest_place * SL_ENGINES + (int)bounds->busiest_engine);
    lua_createtable(L, 0, 7);
    lsl_set_integer(L, "serial", bounds->serial_ns);
    lsl_set_integer(L, "busiest", bounds->busiest_engine_ns);
    lsl_set_text(L, "busiest_engine", sl_engine_name(bounds->busiest_engine));
    lsl_set_text(L, "busiest_title", sl_timeline_engine_name(timeline, busiest, title));
    lsl_set_integer(L, "critical_path", bounds->critical_path_ns);
    lsl_set_integer(L, "lower", bounds->lower_ns);
    lsl_set_integer(L, "unblocked", bounds->unblocked_ns);
    lua_setfield(L, -2, "bounds");
}

static void set_device(lua_State *L, const sl_timeline *timeline)
{
    const sl_device_info *device = sl_timeline_device(timeline);
    char buffer[SL_DEVICE_NAME_BYTES];
    lua_createtable(L, 0, 4);
    lsl_set_text(L, "name", device->name);
    lsl_set_text(L, "full_name", sl_timeline_device_name(timeline, buffer));
    lsl_set_integer(L, "index", device->index);
    lsl_set_boolean(L, "simulated", device->simulated);
    lua_setfield(L, -2, "device");
}

void lsl_set_communication(lua_State *L, const sl_timeline *timeline, const char *op)
{
    lua_Integer n = 0;
    char name[SL_PREFIX_BYTES];
    lua_newtable(L);
    for (int k = 0; k < sl_timeline_device_count(timeline); k++) {
        const int place = sl_timeline_place_in_order(timeline, k);
        sl_communication found;
        sl_error err;
        lsl_check(L, sl_timeline_communication(timeline, place, &found, &err), &err, op);
        if (found.n_spans == 0) continue;
        lua_createtable(L, 0, 4);
        lsl_set_text(L, "prefix", sl_timeline_device_prefix(timeline, place, name));
        lsl_set_integer(L, "count", (int64_t)found.n_spans);
        lsl_set_integer(L, "busy_ns", found.busy_ns);
        lsl_set_integer(L, "covered_ns", found.covered_ns);
        lua_rawseti(L, -2, ++n);
    }
    if (n > 0)
        lua_setfield(L, -2, "communication");
    else
        lua_pop(L, 1);
}

void lsl_set_guessed(lua_State *L, const sl_timeline *timeline, const char *op)
{
    sl_guessed guessed;
    sl_error err;
    lsl_check(L, sl_timeline_guessed(timeline, &guessed, &err), &err, op);
    if (guessed.n_spans == 0) return;
    lua_createtable(L, 0, 5);
    lsl_set_text(L, "name", sl_timeline_text(timeline, guessed.name));
    lsl_set_boolean(L, "others", guessed.other_names);
    lsl_set_integer(L, "count", (int64_t)guessed.n_spans);
    lsl_set_integer(L, "busy_ns", guessed.busy_ns);
    lsl_set_integer(L, "makespan_ns", sl_timeline_makespan_ns(timeline));
    lua_setfield(L, -2, "guessed");
}

void lsl_set_doubts(lua_State *L, const sl_timeline *timeline)
{
    size_t n;
    const sl_doubt *doubts = sl_timeline_doubts(timeline, &n);
    if (n == 0) return;
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        lua_createtable(L, 0, 4);
        lsl_set_text(L, "kind", sl_doubt_name(doubts[i].kind));
        lsl_set_integer(L, "count", (int64_t)doubts[i].n);
        lsl_set_integer(L, "ns", doubts[i].ns);
        lsl_set_text(L, "sentence", doubts[i].sentence);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "doubts");
}

/* Pushes the table. engines_at_once and the like: the time with none, one, two, ... busy. */
static void push_figures(lua_State *L, const sl_timeline *timeline, const sl_figures *f,
                         unsigned parts, const char *op)
{
    lua_createtable(L, 0, 16);
    lsl_set_integer(L, "span_count", (int64_t)f->n_spans);
    lsl_set_boolean(L, "many_streams", f->many_streams);
    lsl_set_integer(L, "makespan", f->makespan_ns);
    lsl_set_integer(L, "wall", f->wall_ns);
    set_bounds(L, timeline, &f->bounds);
    set_work(L, f);
    set_devices(L, timeline, f);
    set_list(L, "engines_at_once", f->engines_at_once_ns,
             f->n_spans > 0 ? (size_t)f->most_engines + 1 : 0);
    set_list(L, "kernels_at_once", f->kernels_at_once.at_ns, f->kernels_at_once.n);
    set_device(L, timeline);
    lsl_set_range(L, timeline);
    lsl_set_doubts(L, timeline);
    size_t n_launches;
    sl_timeline_launches(timeline, &n_launches);
    lsl_set_integer(L, "graph_launches", (int64_t)n_launches);
    lsl_set_integer(L, "graph_spans", (int64_t)sl_timeline_node_count(timeline));
    if (parts & SL_FIGURES_STREAMS) {
        set_list(L, "streams_at_once", f->streams_at_once.at_ns, f->streams_at_once.n);
        set_streams(L, f);
    }
    if (parts & SL_FIGURES_CAUSES) set_parts(L, f);
    lsl_set_communication(L, timeline, op);
    lsl_set_memory(L, timeline, op);
    lsl_set_sampled_memory(L, timeline, op);
}

void lsl_push_figures(lua_State *L, const sl_timeline *timeline, unsigned parts, const char *op)
{
    luaL_checkstack(L, 12, NULL);
    figures *f = lsl_new_scratch(L, sizeof *f, free_figures);
    sl_error err;
    lsl_check(L, sl_timeline_figures(timeline, parts, &f->of[0], &err), &err, op);
    push_figures(L, timeline, &f->of[0], parts, op);
    lsl_set_guessed(L, timeline, op);
    sl_figures_free(&f->of[0]);
    lua_remove(L, -2);
}

/* ---- two timelines ------------------------------------------------------------------------- */

/* {what = "overlap", a = and b = two kinds (indices), ...; was =, is =, n_was =, n_is =} */
static void push_move(lua_State *L, const sl_move *move)
{
    static const char *const names[] = {
        [SL_MOVED_OVERLAP] = "overlap",
        [SL_MOVED_BUSY] = "busy",
        [SL_MOVED_PAUSE] = "pause",
        [SL_MOVED_PART] = "part",
        [SL_MOVED_STREAM_BUSY] = "stream_busy",
        [SL_MOVED_STREAM_PAUSE] = "stream_pause",
    };
    lua_createtable(L, 0, 7);
    lsl_set_text(L, "what", names[move->what]);
    lsl_set_integer(L, "was", move->was_ns);
    lsl_set_integer(L, "is", move->is_ns);
    lsl_set_integer(L, "n_was", (int64_t)move->n_was);
    lsl_set_integer(L, "n_is", (int64_t)move->n_is);
    switch (move->what) {
    case SL_MOVED_OVERLAP: lsl_set_integer(L, "b", move->b + 1); /* fall through */
    case SL_MOVED_BUSY: lsl_set_integer(L, "a", move->a + 1); break;
    case SL_MOVED_PAUSE: lsl_set_text(L, "engine", sl_engine_name((sl_engine)move->a)); break;
    case SL_MOVED_PART: lsl_set_text(L, "cause", sl_cause_name((sl_cause)move->a)); break;
    case SL_MOVED_STREAM_BUSY:
    case SL_MOVED_STREAM_PAUSE: lsl_set_text(L, "stream", move->stream); break;
    }
}

/* Pushes the figures of both and a list of what moved, the largest first. */
void lsl_push_moves(lua_State *L, const sl_timeline *a, const sl_timeline *b, const char *op)
{
    const unsigned parts = SL_FIGURES_STREAMS | SL_FIGURES_CAUSES;
    luaL_checkstack(L, 12, NULL);
    figures *f = lsl_new_scratch(L, sizeof *f, free_figures);
    size_t n;
    sl_error err;
    lsl_check(L, sl_timeline_figures(a, parts, &f->of[0], &err), &err, op);
    lsl_check(L, sl_timeline_figures(b, parts, &f->of[1], &err), &err, op);
    lsl_check(L, sl_timeline_moves(&f->of[0], &f->of[1], &f->moves, &n, &err), &err, op);
    push_figures(L, a, &f->of[0], parts, op);
    push_figures(L, b, &f->of[1], parts, op);
    lua_createtable(L, (int)(n & INT32_MAX), 0);
    for (size_t i = 0; i < n; i++) {
        push_move(L, &f->moves[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_remove(L, -4);
}

/* These two are for tests, as tl:summary() and tl:diff() print their texts:
 * figures(tl): as for a summary */
static int internal_figures(lua_State *L)
{
    lsl_push_figures(L, lsl_check_timeline(L, "figures")->p, 0, "figures");
    return 1;
}

/* moves(a, b): the figures of both, and what moved */
static int internal_moves(lua_State *L)
{
    lsl_timeline *a = lsl_check_timeline(L, "moves"), *b = lsl_to_timeline(L, 2);
    luaL_argcheck(L, b != NULL, 2, "no complete timeline");
    lsl_push_moves(L, a->p, b->p, "moves");
    return 3;
}

const luaL_Reg lsl_figures_internals[] = {
    { "figures", internal_figures },
    { "moves", internal_moves },
    { NULL, NULL },
};
