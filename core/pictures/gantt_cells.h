/* gantt_cells.h - the timeline on a grid: a row a stream or engine, a cell a piece of time.
 *
 * What a Gantt chart in characters draws, before it has chosen any character.
 */
#ifndef SL_PICTURES_GANTT_CELLS_H
#define SL_PICTURES_GANTT_CELLS_H

#include "pictures.h"

typedef struct sl__cell {
    int64_t fill_ns[SL_SPAN_KINDS]; /* how much of the cell each kind takes */
    int64_t busy_ns;                /* and all of them, counting no instant twice */
    uint8_t seen;                   /* bit per kind, also for spans of no length */
    uint8_t pieces;                 /* separate stretches of work, at most 2 */
    bool left, right;               /* work reaches over this edge of the cell */
    bool begins;                    /* a span of several cells begins here that would look like
                                         * a part of the one before */
} sl__cell;

typedef struct sl__grid_row {
    uint32_t id;     /* of the stream, or the engine */
    int64_t busy_ns; /* in the range shown */
} sl__grid_row;

typedef struct sl__grid {
    int64_t from_ns, to_ns; /* absolute; to - from >= n_cells */
    int n_cells;
    int64_t *edges;            /* n_cells + 1 times: where the cells begin */
    sl__grid_row *rows;        /* by id */
    size_t n_rows, n_left_out; /* those beyond max_rows, the least busy */
    sl__cell *cells;           /* n_rows x n_cells */
} sl__grid;

/* Shows every stream, or engine, that has spans, or the max_rows busiest of them.
 * O(spans x log cells + cells), and where the spans have to be sorted that as well. */
sl_status sl__grid_fill(const sl_timeline *timeline, sl_rows what, int64_t from_ns, int64_t to_ns,
                        int n_cells, size_t max_rows, sl__grid *grid, sl_error *err);
void sl__grid_free(sl__grid *grid);

/* The cell in which a time of the range lies. */
int sl__grid_cell(const sl__grid *grid, int64_t ns);

#endif
