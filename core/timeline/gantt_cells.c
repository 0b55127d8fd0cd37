/* gantt_cells.c - puts the spans of a timeline on a grid of streams and cells.
 *
 * The spans of a stream come in order of time, as the stream ran them, so one
 * running end per stream is enough to count no instant twice and to tell where
 * a stretch of work begins. Two passes: the first finds how busy each stream is,
 * the second fills the cells of those that are shown.
 */
#include "gantt_cells.h"

#include <stdlib.h>

#include "lanes.h"

#define NO_ROW SIZE_MAX
#define MARKED_CELLS 3      /* spans of that length are told from each other */

typedef struct lane {
    uint32_t stream;
    size_t row;             /* or NO_ROW */
    int64_t busy_ns;
    int64_t end_ns;         /* of the work seen so far */
    uint8_t kind;           /* of the latest span */
} lane;

static int64_t max_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Cell i begins at from + i * range / n, computed without overflow. */
static sl_status make_edges(sl__grid *grid, sl_error *err)
{
    int n = grid->n_cells;
    int64_t range = grid->to_ns - grid->from_ns;
    grid->edges = malloc(((size_t)n + 1) * sizeof *grid->edges);
    if (!grid->edges)
        return sl_fail(err, SL_ENOMEM, "no memory for a chart of %d columns", n);
    for (int i = 0; i <= n; i++)
        grid->edges[i] = grid->from_ns + range / n * i + range % n * i / n;
    return SL_OK;
}

int sl__grid_cell(const sl__grid *grid, int64_t ns)
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

/* ---- rows ------------------------------------------------------------------ */

static void measure(const sl_timeline *timeline, const sl__grid *grid, const sl__lanes *index,
                    lane *lanes)
{
    for (size_t i = 0; i < index->n; i++)
        lanes[i] = (lane){ .stream = index->ids[i], .row = NO_ROW, .end_ns = INT64_MIN };
    size_t n;
    const sl_span *spans = sl_timeline_spans(timeline, &n);
    for (size_t i = 0; i < n; i++) {
        lane *l = &lanes[sl__lanes_find(index, spans[i].stream)];
        int64_t start = max_ns(max_ns(spans[i].start_ns, grid->from_ns), l->end_ns);
        int64_t end = min_ns(spans[i].end_ns, grid->to_ns);
        if (start < end)
            l->busy_ns += end - start;
        l->end_ns = max_ns(l->end_ns, end);
    }
}

static int by_busy(const void *left, const void *right)
{
    const lane *a = left, *b = right;
    if (a->busy_ns != b->busy_ns)
        return a->busy_ns < b->busy_ns ? 1 : -1;
    return (a->stream > b->stream) - (a->stream < b->stream);
}

/* Marks the busiest lanes with a row each, rows in order of the stream's id. */
static sl_status choose_rows(sl__grid *grid, lane *lanes, size_t n, size_t max_rows,
                             sl_error *err)
{
    grid->n_rows = n < max_rows ? n : max_rows;
    grid->n_left_out = n - grid->n_rows;
    grid->rows = malloc(grid->n_rows * sizeof *grid->rows);
    lane *order = malloc(n * sizeof *order);
    if (!grid->rows || !order) {
        free(order);
        return sl_fail(err, SL_ENOMEM, "no memory for a chart of %zu streams", n);
    }
    for (size_t i = 0; i < n; i++) {
        order[i] = lanes[i];
        order[i].row = i;
    }
    if (grid->n_left_out > 0)
        qsort(order, n, sizeof *order, by_busy);
    for (size_t i = 0; i < grid->n_rows; i++)
        lanes[order[i].row].row = 0;
    free(order);
    for (size_t i = 0, row = 0; i < n; i++) {
        if (lanes[i].row == NO_ROW)
            continue;
        grid->rows[row] = (sl__grid_row){ lanes[i].stream, lanes[i].busy_ns };
        lanes[i].row = row++;
    }
    return SL_OK;
}

/* ---- cells ----------------------------------------------------------------- */

/* A gap of less than an eighth of a cell does not show, so it separates nothing. */
static bool begins_stretch(const sl__grid *grid, const lane *l, int64_t start_ns)
{
    int64_t cell_ns = (grid->to_ns - grid->from_ns) / grid->n_cells;
    return l->end_ns == INT64_MIN || start_ns - l->end_ns > cell_ns / 8;
}

/* Would the span look like a part of the one before? Only long ones are asked for:
 * a mark in each cell or two would hide the work itself. */
static bool needs_mark(const sl__grid *grid, const lane *l, const sl_span *span)
{
    int64_t cell_ns = (grid->to_ns - grid->from_ns) / grid->n_cells;
    return span->start_ns >= grid->from_ns && l->end_ns != INT64_MIN && l->kind == span->kind &&
           span->start_ns - l->end_ns < cell_ns &&
           (span->end_ns - span->start_ns) / MARKED_CELLS >= cell_ns;
}

static void fill_cells(sl__grid *grid, lane *l, const sl_span *span)
{
    int64_t first_ns = max_ns(span->start_ns, grid->from_ns);
    int64_t last_ns = min_ns(span->end_ns, grid->to_ns);
    bool begins = begins_stretch(grid, l, span->start_ns);
    sl__cell *row = grid->cells + l->row * (size_t)grid->n_cells;
    int first = sl__grid_cell(grid, first_ns);
    row[first].begins |= needs_mark(grid, l, span);
    for (int i = first; i < grid->n_cells; i++) {
        int64_t cell_start = grid->edges[i], cell_end = grid->edges[i + 1];
        if (cell_start >= last_ns && cell_start > first_ns)
            break;
        int64_t start = max_ns(first_ns, cell_start), end = min_ns(last_ns, cell_end);
        sl__cell *cell = &row[i];
        cell->seen |= (uint8_t)(1u << span->kind);
        cell->fill_ns[span->kind] += end - start;
        cell->busy_ns += max_ns(0, end - max_ns(start, l->end_ns));
        cell->left |= span->start_ns <= cell_start && end > start;
        cell->right |= span->end_ns >= cell_end && end > start;
        if (cell->pieces < 2 && (begins || cell->pieces == 0))
            cell->pieces++;
    }
    l->end_ns = max_ns(l->end_ns, span->end_ns);
    l->kind = span->kind;
}

static sl_status fill_grid(const sl_timeline *timeline, sl__grid *grid, const sl__lanes *index,
                           lane *lanes, sl_error *err)
{
    grid->cells = calloc(grid->n_rows * (size_t)grid->n_cells, sizeof *grid->cells);
    if (!grid->cells)
        return sl_fail(err, SL_ENOMEM, "no memory for a chart of %zu rows and %d columns",
                       grid->n_rows, grid->n_cells);
    for (size_t i = 0; i < index->n; i++)
        lanes[i].end_ns = INT64_MIN;
    size_t n;
    const sl_span *spans = sl_timeline_spans(timeline, &n);
    for (size_t i = 0; i < n; i++) {
        lane *l = &lanes[sl__lanes_find(index, spans[i].stream)];
        bool shown = spans[i].start_ns < grid->to_ns &&
                     (spans[i].end_ns > grid->from_ns || spans[i].start_ns >= grid->from_ns);
        if (l->row != NO_ROW && shown)
            fill_cells(grid, l, &spans[i]);
    }
    return SL_OK;
}

sl_status sl__grid_fill(const sl_timeline *timeline, int64_t from_ns, int64_t to_ns, int n_cells,
                        size_t max_rows, sl__grid *grid, sl_error *err)
{
    *grid = (sl__grid){ .from_ns = from_ns, .to_ns = to_ns, .n_cells = n_cells };
    sl__lanes index;
    sl_status status = sl__lanes_collect(timeline, false, &index, err);
    if (status != SL_OK)
        return status;
    lane *lanes = calloc(index.n + 1, sizeof *lanes);
    if (!lanes)
        status = sl_fail(err, SL_ENOMEM, "no memory for a chart of %zu streams", index.n);
    if (status == SL_OK)
        status = make_edges(grid, err);
    if (status == SL_OK) {
        measure(timeline, grid, &index, lanes);
        status = choose_rows(grid, lanes, index.n, max_rows, err);
    }
    if (status == SL_OK)
        status = fill_grid(timeline, grid, &index, lanes, err);
    free(lanes);
    sl__lanes_free(&index);
    if (status != SL_OK)
        sl__grid_free(grid);
    return status;
}

void sl__grid_free(sl__grid *grid)
{
    free(grid->edges);
    free(grid->rows);
    free(grid->cells);
    *grid = (sl__grid){ 0 };
}
