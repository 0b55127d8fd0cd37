/* l_pictures.c - what of a timeline fits a picture, as records for bindings/pictures/.
 *
 * core.looks() gives the labels and colours of the kinds of work, in order, and those of the host's
 * calls: two lists of {name =, label =, brief =, light = {fill =, edge =, ink =}, dark = the same}.
 *
 * core.grid(tl, rows): {n_spans =, first_ns =, makespan_ns =, origin_ns = and whole_ns = the time
 * that all GPUs of its trace take, names = of all rows that there are, fill =, cell =, column =,
 * memory = what the caller closes at the end: the collector does not know how much it is}. rows:
 * "streams" or "engines".
 *   fill(from_ns, to_ns, n_cells, most)  puts the spans on a grid between two times of the
 *                         timeline; a list of {name =, busy_ns =} for the busiest rows, and how
 *                         many others there are
 *   cell(row, column)     the kind that takes most of it, nil: nothing ran; how much of it is busy,
 *                         in sixteenths and in eighths; separate stretches of work; whether work
 *                         reaches over its left and its right edge; whether another span begins
 *   column(ns)            in which a time lies
 *
 * core.picture(tl, rows): the same without cell and column; device = the GPU's name, simulated =,
 * makespan = a text, with that of other runs, lower_ns = its lower bound, has_threads =,
 * thread_names = a list, and
 *   fill(from_ns, to_ns, width, most_rows, most_bars)  {rows =, hosts =, left_out = how many rows}:
 *                    two lists of {name =, busy_ns =, n_lanes =, n_bars =}; `hosts` are threads of
 *                    the host, which have {thread = from 0, name = its own or ""}. Positions are in
 *                    hundredths of a pixel from the left edge, `width` is the range's
 *   bars(row, host)  a list of what lies in a row, or in a host's: see push_bar and push_call
 *   events(most), waits(most)  lists of the arrows that lie in the range, those that waited
 *                    longest; left_out = how many others: see push_event, push_wait
 *   counters(from_ns, to_ns, points)  a list as tl:counters() gives it, at most about so many
 *                    points each; times count from the first span's start
 * Rows, columns and lanes count from 1.
 */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

/* ---- labels and colours ----------------------------------------------------------------- */

static void set_paint(lua_State *L, const char *field, const sl_paint *paint)
{
    lua_createtable(L, 0, 3);
    lsl_set_text(L, "fill", paint->fill);
    lsl_set_text(L, "edge", paint->edge);
    lsl_set_text(L, "ink", paint->ink);
    lua_setfield(L, -2, field);
}

static void push_looks(lua_State *L, const sl_look *looks, int n)
{
    lua_createtable(L, n, 0);
    for (int i = 0; i < n; i++) {
        lua_createtable(L, 0, 5);
        lsl_set_text(L, "name", looks[i].name);
        lsl_set_text(L, "label", looks[i].label);
        set_paint(L, "light", &looks[i].light);
        set_paint(L, "dark", &looks[i].dark);
        lua_rawseti(L, -2, i + 1);
    }
}

static int internal_looks(lua_State *L)
{
    push_looks(L, sl_looks, SL_SPAN_KINDS);
    push_looks(L, sl_host_looks, SL_HOST_LOOKS);
    return 2;
}

/* ---- rows ------------------------------------------------------------------------------- */

/* Of one of the two kinds. */
typedef struct layout {
    sl_timeline *timeline; /* retained: a finalizer may release that of the box */
    sl_rows rows;
    sl_grid grid;
    sl_picture picture;
} layout;

static void close_layout(void *memory)
{
    layout *l = memory;
    sl_grid_close(&l->grid);
    sl_picture_close(&l->picture);
    sl_timeline_release(l->timeline);
}

static layout *upvalue_layout(lua_State *L)
{
    layout *l = lsl_scratch_at(L, lua_upvalueindex(2));
    if (!l) luaL_error(L, "it is closed");
    return l;
}

/* Pushes one that is empty, for the timeline and the name of rows at 1 and 2. */
static layout *new_layout(lua_State *L, const char *op)
{
    static const char *const names[] = { "streams", "engines", NULL };
    lua_settop(L, 2);
    layout *l = lsl_new_scratch(L, sizeof *l, close_layout);
    l->rows = (sl_rows)luaL_checkoption(L, 2, NULL, names);
    l->timeline = sl_timeline_retain(lsl_check_timeline(L, op)->p);
    return l;
}

static void push_row_name(lua_State *L, const layout *l, uint32_t id)
{
    char buffer[SL_STREAM_NAME_BYTES];
    lua_pushstring(L, l->rows == SL_ROWS_ENGINES
                          ? sl_timeline_engine_name(l->timeline, id, buffer)
                          : sl_timeline_stream_name(l->timeline, id, buffer));
}

/* Pushes what both kinds have, and functions, for the layout at index 3. */
static void push_layout(lua_State *L, const uint32_t *ids, size_t n, const luaL_Reg *functions)
{
    const layout *l = lsl_scratch_at(L, 3);
    const sl_origin origin = sl_timeline_origin(l->timeline);
    const bool several = origin.first_ns < origin.last_ns;
    const int64_t first_ns = sl_timeline_first_ns(l->timeline);
    const int64_t makespan_ns = sl_timeline_makespan_ns(l->timeline);
    lua_createtable(L, 0, 16);
    lsl_set_integer(L, "n_spans", (int64_t)sl_timeline_span_count(l->timeline));
    lsl_set_integer(L, "first_ns", first_ns);
    lsl_set_integer(L, "makespan_ns", makespan_ns);
    lsl_set_integer(L, "origin_ns", several ? origin.first_ns : first_ns);
    lsl_set_integer(L, "whole_ns", several ? origin.last_ns - origin.first_ns : makespan_ns);
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        lsl_stop_at(L, (int64_t)i, "show");
        push_row_name(L, l, ids[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "names");
    lua_pushvalue(L, 3);
    lua_setfield(L, -2, "memory");
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushvalue(L, 3);
    luaL_setfuncs(L, functions, 2);
}

/* ---- charts ----------------------------------------------------------------------------- */

static int grid_fill(lua_State *L)
{
    enum { MOST_CELLS = 1 << 16, MOST_ROWS = 1 << 10 };
    layout *l = upvalue_layout(L);
    sl_grid *grid = &l->grid;
    const int64_t from_ns = luaL_checkinteger(L, 1), to_ns = luaL_checkinteger(L, 2);
    const int n_cells = (int)lsl_check_integer(L, 3, "n_cells", 1, MOST_CELLS, "show");
    const size_t most = (size_t)lsl_check_integer(L, 4, "most", 1, MOST_ROWS, "show");
    sl_error err;
    luaL_argcheck(L, grid->walk && !grid->cells, 1, "it is filled");
    luaL_argcheck(L, to_ns - from_ns >= n_cells, 2, "the range is too short");
    lsl_check(L, sl_grid_fill(grid, from_ns, to_ns, n_cells, most, &err), &err, "show");
    lua_createtable(L, (int)grid->n_rows, 0);
    for (size_t i = 0; i < grid->n_rows; i++) {
        lua_createtable(L, 0, 2);
        push_row_name(L, l, grid->rows[i].id);
        lua_setfield(L, -2, "name");
        lsl_set_integer(L, "busy_ns", grid->rows[i].busy_ns);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_pushinteger(L, (lua_Integer)grid->n_left_out);
    return 2;
}

static int grid_cell(lua_State *L)
{
    const sl_grid *grid = &upvalue_layout(L)->grid;
    const lua_Integer row = luaL_checkinteger(L, 1) - 1, column = luaL_checkinteger(L, 2) - 1;
    luaL_argcheck(L, grid->cells && row >= 0 && (size_t)row < grid->n_rows, 1, "no row");
    luaL_argcheck(L, column >= 0 && column < grid->n_cells, 2, "no column");
    const sl_cell *cell = grid->cells + row * grid->n_cells + column;
    const int kind = sl_cell_kind(cell);
    if (kind < 0) return 0;
    lua_pushstring(L, sl_span_kind_name((sl_span_kind)kind));
    lua_pushinteger(L, sl_cell_part(grid, (size_t)row, (int)column, 16));
    lua_pushinteger(L, sl_cell_part(grid, (size_t)row, (int)column, 8));
    lua_pushinteger(L, cell->pieces);
    lua_pushboolean(L, cell->left);
    lua_pushboolean(L, cell->right);
    lua_pushboolean(L, cell->begins);
    return 7;
}

static int grid_column(lua_State *L)
{
    const sl_grid *grid = &upvalue_layout(L)->grid;
    luaL_argcheck(L, grid->edges != NULL, 1, "it is not filled");
    lua_pushinteger(L, sl_grid_column(grid, luaL_checkinteger(L, 1)) + 1);
    return 1;
}

static int internal_grid(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "fill", grid_fill }, { "cell", grid_cell }, { "column", grid_column }, { NULL, NULL }
    };
    sl_error err;
    layout *l = new_layout(L, "show");
    lsl_check(L, sl_grid_open(l->timeline, l->rows, &l->grid, &err), &err, "show");
    push_layout(L, l->grid.ids, l->grid.n_ids, functions);
    return 1;
}

/* ---- pictures --------------------------------------------------------------------------- */

/* Sets where a script made the call, and the line there. */
static void set_where(lua_State *L, const sl_timeline *timeline, uint32_t where)
{
    lsl_set_known(L, "where", sl_timeline_text(timeline, where));
    lsl_set_known(L, "source", sl_timeline_source(timeline, where));
}

/* Sets {node = its number, graph = its name, or its number, or nil} of what a graph ran. */
static void set_node(lua_State *L, const sl_timeline *timeline, const sl_span *span)
{
    sl_node_note node;
    if (!sl_timeline_find_node(timeline, span->correlation, &node)) return;
    const sl_launch_note *launch = sl_timeline_find_launch(timeline, span->correlation);
    const char *name = launch ? sl_timeline_text(timeline, launch->name) : "";
    lsl_set_integer(L, "node", (int64_t)sl_timeline_node_number(timeline, &node));
    if (*name)
        lsl_set_text(L, "graph", name);
    else if (node.graph)
        lsl_set_integer(L, "graph", node.graph);
}

/* Sets what a bar's first span is; of one that is alone all that is known of it. */
static void set_span(lua_State *L, const sl_timeline *timeline, const sl_span *span, bool alone)
{
    char buffer[SL_STREAM_NAME_BYTES], kernel[SL__KERNEL_BYTES];
    const bool named = sl_span_kind_is_kernel(span->kind) || span->kind == SL_SPAN_HOST_FUNC;
    const char *name = sl_timeline_text(timeline, span->name);
    if (named && *name)
        lsl_set_text(L, "label", sl_timeline_kernel_label(timeline, span->name, kernel));
    set_where(L, timeline, span->where);
    if (!alone) return;
    lsl_set_known(L, "name", name);
    if (span->symbol != span->name)
        lsl_set_known(L, "symbol", sl_timeline_text(timeline, span->symbol));
    lsl_set_text(L, "stream", sl_timeline_stream_name(timeline, span->stream, buffer));
    lsl_set_integer(L, "blocks", span->blocks);
    lsl_set_integer(L, "threads", span->threads);
    lsl_set_integer(L, "bytes", (int64_t)span->bytes);
    set_node(L, timeline, span);
}

/* Sets {x =, width =, lane =, start_ns =, end_ns =, busy_ns =, n = pieces, crowded = another bar
 * lies over it, or below}. */
static void set_bar(lua_State *L, const sl_bar *bar)
{
    lsl_set_integer(L, "x", bar->x);
    lsl_set_integer(L, "width", bar->width);
    lsl_set_integer(L, "lane", bar->lane + 1);
    lsl_set_integer(L, "start_ns", bar->start_ns);
    lsl_set_integer(L, "end_ns", bar->end_ns);
    lsl_set_integer(L, "busy_ns", bar->busy_ns);
    lsl_set_integer(L, "n", (int64_t)bar->n);
    lsl_set_boolean(L, "crowded", bar->crowded);
}

/* Sets the list of "40 kernels", "10 memsets". */
static void set_counts(lua_State *L, const sl_bar *bar)
{
    lua_Integer n = 0;
    lua_newtable(L);
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
        if (bar->counts[kind] == 0) continue;
        lua_pushfstring(L, "%I %s", (LUAI_UACINT)bar->counts[kind],
                        sl_span_kind_noun((sl_span_kind)kind, bar->counts[kind]));
        lua_rawseti(L, -2, ++n);
    }
    lua_setfield(L, -2, "counts");
}

/* Pushes what set_bar sets, look = its kind; of several spans noun = of so many of their kind,
 * counts = where they are of several kinds, same_name =; and of the first one label = a kernel's
 * short name, where =, source =. Of one that is alone also name =, symbol = if that differs, stream
 * =, blocks =, threads =, bytes = (of 2^63 and more negative), and what set_node sets. */
static void push_bar(lua_State *L, const sl_timeline *timeline, const sl_bar *bar)
{
    const sl_span first = sl_timeline_span(timeline, bar->first);
    lua_createtable(L, 0, 20);
    set_bar(L, bar);
    lsl_set_text(L, "look", sl_looks[bar->kind].name);
    if (bar->n > 1) {
        lsl_set_text(L, "noun", sl_span_kind_noun((sl_span_kind)bar->kind, bar->n));
        lsl_set_boolean(L, "same_name", bar->same_name);
        if (bar->counts[bar->kind] != bar->n) set_counts(L, bar);
    }
    set_span(L, timeline, &first, bar->n == 1);
}

/* Pushes what set_bar sets, look =, does = "wait", "copy", "queue", "call", "work" or "issue",
 * name = and brief = of the first call, where =, source =. */
static void push_call(lua_State *L, const sl_picture *picture, const sl_bar *bar)
{
    static const char *const does[] = {
        [SL_DOES_WAIT] = "wait", [SL_DOES_COPY] = "copy", [SL_DOES_QUEUE] = "queue",
        [SL_DOES_CALL] = "call", [SL_DOES_WORK] = "work", [SL_DOES_ISSUE] = "issue",
    };
    const sl_host_call *call = &picture->calls.at[bar->first];
    lua_createtable(L, 0, 14);
    set_bar(L, bar);
    lsl_set_text(L, "look", sl_host_looks[sl_host_call_look(bar->kind)].name);
    lsl_set_text(L, "does", does[bar->kind]);
    lsl_set_text(L, "name", sl_host_call_name(picture->timeline, call, false));
    lsl_set_text(L, "brief", sl_host_call_name(picture->timeline, call, true));
    set_where(L, picture->timeline, call->where);
}

static void push_row(lua_State *L, const sl_picture_row *row)
{
    lua_createtable(L, 0, 4);
    lsl_set_integer(L, "busy_ns", row->busy_ns);
    lsl_set_integer(L, "n_lanes", row->n_lanes);
    lsl_set_integer(L, "n_bars", (int64_t)row->n_bars);
}

static void push_rows(lua_State *L, const layout *l)
{
    const sl_picture *picture = &l->picture;
    lua_createtable(L, 0, 3);
    lua_createtable(L, (int)picture->n, 0);
    for (size_t i = 0; i < picture->n; i++) {
        push_row(L, &picture->at[i]);
        push_row_name(L, l, picture->at[i].id);
        lua_setfield(L, -2, "name");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "rows");
    lua_createtable(L, (int)picture->n_hosts, 0);
    for (size_t i = 0; i < picture->n_hosts; i++) {
        push_row(L, &picture->hosts[i]);
        lsl_set_integer(L, "thread", picture->hosts[i].id);
        lsl_set_text(L, "name", sl_timeline_thread_name(l->timeline, picture->hosts[i].id));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "hosts");
    lsl_set_integer(L, "left_out", (int64_t)picture->n_left_out);
}

static int picture_fill(lua_State *L)
{
    enum { MOST_WIDTH = 1 << 24, MOST_ROWS = 1 << 10, MOST_BARS = 1 << 20 };
    layout *l = upvalue_layout(L);
    sl_picture *picture = &l->picture;
    const sl_scale scale = { luaL_checkinteger(L, 1), luaL_checkinteger(L, 2),
                             lsl_check_integer(L, 3, "width", 1, MOST_WIDTH, "save") };
    const int64_t most_rows = lsl_check_integer(L, 4, "most_rows", 1, MOST_ROWS, "save");
    const int64_t most_bars = lsl_check_integer(L, 5, "most_bars", 1, MOST_BARS, "save");
    sl_error err;
    luaL_argcheck(L, !picture->pieces, 1, "it is filled");
    luaL_argcheck(L, scale.from_ns < scale.to_ns, 2, "the range is empty");
    lsl_check(L, sl_picture_fill(picture, &scale, (size_t)most_rows, (size_t)most_bars, &err), &err,
              "save");
    push_rows(L, l);
    return 1;
}

static int picture_bars(lua_State *L)
{
    const sl_picture *picture = &upvalue_layout(L)->picture;
    const bool host = lua_toboolean(L, 2);
    const size_t n = host ? picture->n_hosts : picture->n;
    const lua_Integer number = luaL_checkinteger(L, 1);
    luaL_argcheck(L, number >= 1 && (size_t)number <= n, 1, "no row");
    const sl_picture_row *row = (host ? picture->hosts : picture->at) + number - 1;
    lua_createtable(L, (int)row->n_bars, 0);
    for (size_t i = 0; i < row->n_bars; i++) {
        const sl_bar *bar = &picture->bars.at[row->first_bar + i];
        lsl_stop_at(L, (int64_t)i, "save");
        if (host)
            push_call(L, picture, bar);
        else
            push_bar(L, picture->timeline, bar);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* Sets {row =, lane =} of the span with that correlation, unless it is left out. */
static void set_place(lua_State *L, const char *field, const sl_picture *picture,
                      uint64_t correlation)
{
    int lane;
    const sl_picture_row *row = sl_picture_find(picture, correlation, &lane);
    if (!row) return;
    lua_createtable(L, 0, 2);
    lsl_set_integer(L, "row", row - picture->at + 1);
    lsl_set_integer(L, "lane", lane + 1);
    lua_setfield(L, -2, field);
}

/* Pushes {from_x =, to_x =, from = {row =, lane =}, nil: its row is left out}. */
static void push_arrow(lua_State *L, const sl_picture *picture, const sl_arrow *arrow)
{
    lua_createtable(L, 0, 9);
    lsl_set_integer(L, "from_x", sl_scale_x(&picture->scale, arrow->from_ns));
    lsl_set_integer(L, "to_x", sl_scale_x(&picture->scale, arrow->to_ns));
    set_place(L, "from", picture, arrow->from);
}

/* The same, and to = as `from`, held_ns = how long it waited, from_stream =, to_stream = names,
 * where =, source = of the wait. */
static void push_event(lua_State *L, const sl_picture *picture, const sl_arrow *arrow)
{
    const sl_timeline *timeline = picture->timeline;
    char name[SL_STREAM_NAME_BYTES];
    const size_t wait = sl_timeline_find_call(timeline, arrow->wait);
    push_arrow(L, picture, arrow);
    set_place(L, "to", picture, arrow->to);
    lsl_set_integer(L, "held_ns", arrow->held_ns);
    lsl_set_text(L, "from_stream", sl_timeline_stream_name(timeline, arrow->from_stream, name));
    lsl_set_text(L, "to_stream", sl_timeline_stream_name(timeline, arrow->to_stream, name));
    if (wait != SL_NOT_FOUND) set_where(L, timeline, sl_timeline_call(timeline, wait).where);
}

/* The same as push_arrow, and host = the row of the thread that waited, nil: it has none, length =
 * that of the wait. */
static void push_wait(lua_State *L, const sl_picture *picture, const sl_arrow *arrow)
{
    const uint32_t thread = sl_timeline_thread(picture->timeline, arrow->to);
    const sl_picture_row *host = sl_picture_find_host(picture, thread);
    push_arrow(L, picture, arrow);
    if (host) lsl_set_integer(L, "host", host - picture->hosts + 1);
    lsl_set_integer(L, "length",
                    sl_scale_x(&picture->scale, arrow->from_ns)
                        - sl_scale_x(&picture->scale, arrow->from_ns - arrow->held_ns));
}

static void free_arrows(void *memory) { sl_arrows_free(memory); }

static int push_arrows(lua_State *L, sl_arrow_kind kind,
                       void (*push)(lua_State *L, const sl_picture *picture, const sl_arrow *arrow))
{
    enum { MOST = 1 << 16 };
    const sl_picture *picture = &upvalue_layout(L)->picture;
    const size_t most = (size_t)lsl_check_integer(L, 1, "most", 1, MOST, "save");
    sl_error err;
    luaL_argcheck(L, picture->pieces != NULL, 1, "it is not filled");
    sl_arrows *arrows = lsl_new_scratch(L, sizeof *arrows, free_arrows);
    lsl_check(L,
              sl_arrows_find(picture->timeline, kind, picture->scale.from_ns, picture->scale.to_ns,
                             most, arrows, &err),
              &err, "save");
    lua_createtable(L, (int)arrows->n, 2);
    for (size_t i = 0; i < arrows->n; i++) {
        push(L, picture, &arrows->at[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lsl_set_integer(L, "left_out", (int64_t)arrows->n_left_out);
    return 1;
}

static int picture_events(lua_State *L) { return push_arrows(L, SL_ARROW_EVENT, push_event); }

static int picture_waits(lua_State *L) { return push_arrows(L, SL_ARROW_HOST, push_wait); }

static int picture_counters(lua_State *L)
{
    enum { MOST = 1 << 20 };
    const sl_timeline *timeline = upvalue_layout(L)->timeline;
    const lsl_counter_part part = {
        .from_ns = luaL_checkinteger(L, 1),
        .to_ns = luaL_checkinteger(L, 2),
        .base_ns = sl_timeline_first_ns(timeline),
        .points = (size_t)lsl_check_integer(L, 3, "points", 1, MOST, "save"),
    };
    lsl_push_counters(L, timeline, &part, "save");
    return 1;
}

static void set_makespan(lua_State *L, const sl_timeline *timeline)
{
    char text[SL__RANGE_BYTES];
    const sl_range range = sl_timeline_range(timeline);
    const int64_t makespan_ns = sl_timeline_makespan_ns(timeline);
    if (range.runs > 0)
        sl_format_range(text, makespan_ns, range.low_ns, range.high_ns);
    else
        sl_format_duration(text, makespan_ns);
    lsl_set_text(L, "makespan", text);
}

/* Of the table on top the field thread_names: the names of threads but the first that have one. */
static void push_thread_names(lua_State *L, const sl_timeline *timeline)
{
    lua_Integer n = 0;
    lua_newtable(L);
    for (uint32_t thread = 1; thread < sl_timeline_known_threads(timeline); thread++) {
        const char *name = sl_timeline_thread_name(timeline, thread);
        if (*name == '\0') continue;
        lua_pushstring(L, name);
        lua_rawseti(L, -2, ++n);
    }
    lua_setfield(L, -2, "thread_names");
}

static int internal_picture(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "fill", picture_fill },   { "bars", picture_bars },         { "events", picture_events },
        { "waits", picture_waits }, { "counters", picture_counters }, { NULL, NULL },
    };
    char device[SL_DEVICE_NAME_BYTES];
    sl_bounds bounds = { 0 };
    sl_error err;
    layout *l = new_layout(L, "save");
    lsl_check(L, sl_picture_open(l->timeline, l->rows, &l->picture, &err), &err, "save");
    if (sl_timeline_span_count(l->timeline) > 0)
        lsl_check(L, sl_timeline_bounds(l->timeline, &bounds, &err), &err, "save");
    push_layout(L, l->picture.ids, l->picture.n_ids, functions);
    lsl_set_text(L, "device", sl_timeline_device_name(l->timeline, device));
    lsl_set_boolean(L, "simulated", sl_timeline_device(l->timeline)->simulated);
    lsl_set_boolean(L, "has_threads", sl_timeline_thread_count(l->timeline) > 1);
    push_thread_names(L, l->timeline);
    set_makespan(L, l->timeline);
    lsl_set_integer(L, "lower_ns", bounds.lower_ns);
    return 1;
}

const luaL_Reg lsl_pictures_internals[] = {
    { "looks", internal_looks },
    { "grid", internal_grid },
    { "picture", internal_picture },
    { NULL, NULL },
};
