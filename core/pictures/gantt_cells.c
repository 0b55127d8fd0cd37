/* gantt_cells.c - puts the spans of a timeline on a grid of rows and cells.
 *
 * In order of time, one running end per row is enough to count no instant twice and to tell where a
 * stretch of work begins. The spans of a stream come in that order, as the stream ran them; those
 * of an engine, which serves several streams, and those of other programs' traces may come in any
 * order, and are sorted then. Two passes: the first finds how busy each row is, the second fills
 * the cells of those that are shown.
 */
#include "pictures.h"

#include <stdlib.h>

#include "../text/units.h"

#include "../timeline/lanes.h"
#include "../timeline/store.h"

#define NO_ROW SIZE_MAX
#define MARKED_CELLS 3 /* spans of that length are marked off from each other */

typedef struct lane {
    uint32_t id; /* of the stream, or the engine */
    size_t row;  /* or NO_ROW */
    int64_t busy_ns;
    int64_t end_ns; /* of the work seen so far */
    uint8_t kind;   /* of the latest span */
} lane;

/* What all passes go through. */
typedef struct sl__walk {
    const sl_timeline *timeline;
    sl_rows what;
    size_t *sorted; /* the spans by start; NULL: they are in order as they are */
    size_t n;
    sl__lanes index;
    lane *lanes;
} walk;

/* Cell i begins at from + i * range / n, computed without overflow. */
static sl_status make_edges(sl_grid *grid, sl_error *err)
{
    int n = grid->n_cells;
    int64_t range = grid->to_ns - grid->from_ns;
    grid->edges = malloc(((size_t)n + 1) * sizeof *grid->edges);
    if (!grid->edges) return sl__no_memory(err, "a chart of %d columns", n);
    for (int i = 0; i <= n; i++)
        grid->edges[i] = grid->from_ns + range / n * i + range % n * i / n;
    return SL_OK;
}

int sl_grid_column(const sl_grid *grid, int64_t ns)
{
    int low = 0, high = grid->n_cells;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (grid->edges[middle] <= ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- the order of the spans --------------------------------------------------- */

static sl_span span_at(const walk *w, size_t i)
{
    return sl_timeline_span(w->timeline, w->sorted ? w->sorted[i] : i);
}

static lane *lane_of(const walk *w, const sl_span *span)
{
    uint32_t id = w->what == SL_ROWS_ENGINES ? (uint32_t)sl__unit_of(w->timeline, span)
                                             : span->stream;
    return &w->lanes[sl__lanes_find(&w->index, id)];
}

/* Forgets what of the spans was seen. */
static void rewind_lanes(walk *w)
{
    for (size_t i = 0; i < w->index.n; i++)
        w->lanes[i].end_ns = INT64_MIN;
}

static bool is_in_order(walk *w)
{
    bool in_order = true;
    rewind_lanes(w);
    for (size_t i = 0; i < w->n && in_order; i++) {
        sl_span span = span_at(w, i);
        lane *l = lane_of(w, &span);
        in_order = l->end_ns <= span.start_ns;
        l->end_ns = span.start_ns;
    }
    return in_order;
}

typedef struct moment {
    int64_t ns;
    size_t index;
} moment;

SL__ORDER(by_start, moment, x->ns, x->index);

static sl_status sort_spans(walk *w, sl_error *err)
{
    moment *starts = malloc(w->n * sizeof *starts);
    size_t *sorted = malloc(w->n * sizeof *sorted);
    if (!starts || !sorted) {
        free(starts);
        free(sorted);
        return sl__no_memory(err, "a chart of %zu spans", w->n);
    }
    for (size_t i = 0; i < w->n; i++)
        starts[i] = (moment){ sl_timeline_span(w->timeline, i).start_ns, i };
    qsort(starts, w->n, sizeof *starts, by_start);
    for (size_t i = 0; i < w->n; i++)
        sorted[i] = starts[i].index;
    free(starts);
    w->sorted = sorted;
    return SL_OK;
}

static void end_walk(walk *w)
{
    if (!w) return;
    sl__lanes_free(&w->index);
    free(w->sorted);
    free(w->lanes);
    free(w);
}

static sl_status begin_walk(walk *w, sl_error *err)
{
    sl_status status = w->what == SL_ROWS_ENGINES
                           ? sl__lanes_collect_engines(w->timeline, &w->index, err)
                           : sl__lanes_collect(w->timeline, false, &w->index, err);
    if (status != SL_OK) return status;
    w->lanes = calloc(w->index.n + 1, sizeof *w->lanes);
    if (!w->lanes) return sl__no_memory(err, "a chart of %zu rows", w->index.n);
    for (size_t i = 0; i < w->index.n; i++)
        w->lanes[i] = (lane){ .id = w->index.ids[i], .row = NO_ROW };
    return SL_OK;
}

sl_status sl_grid_open(const sl_timeline *timeline, sl_rows what, sl_grid *grid, sl_error *err)
{
    walk *w = calloc(1, sizeof *w);
    *grid = (sl_grid){ .walk = w };
    if (!w) return sl__no_memory(err, "a chart");
    *w = (walk){ .timeline = timeline, .what = what, .n = sl_timeline_span_count(timeline) };
    sl_status status = begin_walk(w, err);
    grid->ids = w->index.ids;
    grid->n_ids = w->index.n;
    if (status != SL_OK) sl_grid_close(grid);
    return status;
}

/* ---- rows ------------------------------------------------------------------ */

static void measure(const sl_grid *grid, walk *w)
{
    rewind_lanes(w);
    for (size_t i = 0; i < w->n; i++) {
        sl_span span = span_at(w, i);
        lane *l = lane_of(w, &span);
        int64_t start = sl__max(sl__max(span.start_ns, grid->from_ns), l->end_ns);
        int64_t end = sl__min(span.end_ns, grid->to_ns);
        if (start < end) l->busy_ns += end - start;
        l->end_ns = sl__max(l->end_ns, end);
    }
}

SL__ORDER(by_busy, lane, SL__DOWN(x->busy_ns), x->id);

/* Marks the busiest lanes with a row each, rows in order of the id. */
static sl_status choose_rows(sl_grid *grid, lane *lanes, size_t n, size_t max_rows, sl_error *err)
{
    grid->n_rows = n < max_rows ? n : max_rows;
    grid->n_left_out = n - grid->n_rows;
    grid->rows = malloc(grid->n_rows * sizeof *grid->rows);
    lane *order = malloc(n * sizeof *order);
    if (!grid->rows || !order) {
        free(order);
        return sl__no_memory(err, "a chart of %zu rows", n);
    }
    for (size_t i = 0; i < n; i++) {
        order[i] = lanes[i];
        order[i].row = i;
    }
    if (grid->n_left_out > 0) qsort(order, n, sizeof *order, by_busy);
    for (size_t i = 0; i < grid->n_rows; i++)
        lanes[order[i].row].row = 0;
    free(order);
    for (size_t i = 0, row = 0; i < n; i++) {
        if (lanes[i].row == NO_ROW) continue;
        grid->rows[row] = (sl_grid_row){ lanes[i].id, lanes[i].busy_ns };
        lanes[i].row = row++;
    }
    return SL_OK;
}

/* ---- cells ----------------------------------------------------------------- */

/* A gap of less than an eighth of a cell does not show, so it separates nothing. */
static bool begins_stretch(const sl_grid *grid, const lane *l, int64_t start_ns)
{
    int64_t cell_ns = (grid->to_ns - grid->from_ns) / grid->n_cells;
    return l->end_ns == INT64_MIN || start_ns - l->end_ns > cell_ns / 8;
}

/* Would the span look like a part of the one before? Only long ones count: a mark in every cell or
 * two would hide the work itself. */
static bool needs_mark(const sl_grid *grid, const lane *l, const sl_span *span)
{
    int64_t cell_ns = (grid->to_ns - grid->from_ns) / grid->n_cells;
    return span->start_ns >= grid->from_ns && l->end_ns != INT64_MIN && l->kind == span->kind
           && span->start_ns - l->end_ns < cell_ns
           && (span->end_ns - span->start_ns) / MARKED_CELLS >= cell_ns;
}

static void fill_cells(sl_grid *grid, lane *l, const sl_span *span)
{
    int64_t first_ns = sl__max(span->start_ns, grid->from_ns);
    int64_t last_ns = sl__min(span->end_ns, grid->to_ns);
    bool begins = begins_stretch(grid, l, span->start_ns);
    sl_cell *row = grid->cells + l->row * (size_t)grid->n_cells;
    int first = sl_grid_column(grid, first_ns);
    row[first].begins |= needs_mark(grid, l, span);
    for (int i = first; i < grid->n_cells; i++) {
        int64_t cell_start = grid->edges[i], cell_end = grid->edges[i + 1];
        if (cell_start >= last_ns && cell_start > first_ns) break;
        int64_t start = sl__max(first_ns, cell_start), end = sl__min(last_ns, cell_end);
        sl_cell *cell = &row[i];
        cell->seen |= (uint8_t)(1u << span->kind);
        cell->fill_ns[span->kind] = sl__add_ns(cell->fill_ns[span->kind], end - start);
        cell->busy_ns += sl__max(0, end - sl__max(start, l->end_ns));
        cell->left |= span->start_ns <= cell_start && end > start;
        cell->right |= span->end_ns >= cell_end && end > start;
        if (cell->pieces < 2 && (begins || cell->pieces == 0)) cell->pieces++;
    }
    l->end_ns = sl__max(l->end_ns, span->end_ns);
    l->kind = span->kind;
}

static sl_status fill_grid(sl_grid *grid, walk *w, sl_error *err)
{
    grid->cells = calloc(grid->n_rows * (size_t)grid->n_cells, sizeof *grid->cells);
    if (!grid->cells)
        return sl__no_memory(err, "a chart of %zu rows and %d columns", grid->n_rows,
                             grid->n_cells);
    rewind_lanes(w);
    for (size_t i = 0; i < w->n; i++) {
        sl_span span = span_at(w, i);
        lane *l = lane_of(w, &span);
        bool shown = span.start_ns < grid->to_ns
                     && (span.end_ns > grid->from_ns || span.start_ns >= grid->from_ns);
        if (l->row != NO_ROW && shown) fill_cells(grid, l, &span);
    }
    return SL_OK;
}

sl_status sl_grid_fill(sl_grid *grid, int64_t from_ns, int64_t to_ns, int n_cells, size_t max_rows,
                       sl_error *err)
{
    walk *w = grid->walk;
    grid->from_ns = from_ns;
    grid->to_ns = to_ns;
    grid->n_cells = n_cells;
    sl_status status = make_edges(grid, err);
    if (status == SL_OK && !is_in_order(w)) status = sort_spans(w, err);
    if (status == SL_OK) {
        measure(grid, w);
        status = choose_rows(grid, w->lanes, w->index.n, max_rows, err);
    }
    return status == SL_OK ? fill_grid(grid, w, err) : status;
}

void sl_grid_close(sl_grid *grid)
{
    end_walk(grid->walk);
    free(grid->edges);
    free(grid->rows);
    free(grid->cells);
    *grid = (sl_grid){ 0 };
}

/* ---- what a cell shows --------------------------------------------------------- */

int sl_cell_kind(const sl_cell *cell)
{
    int best = -1;
    for (int kind = 0; kind < SL_SPAN_KINDS; kind++) {
        bool seen = cell->seen >> kind & 1;
        if (seen && (best < 0 || cell->fill_ns[kind] > cell->fill_ns[best])) best = kind;
    }
    return best;
}

int sl_cell_part(const sl_grid *grid, size_t row, int column, int parts)
{
    const sl_cell *cell = grid->cells + row * (size_t)grid->n_cells + column;
    return (int)sl_ratio(cell->busy_ns, grid->edges[column + 1] - grid->edges[column], parts);
}
