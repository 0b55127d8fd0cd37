/* svg_rows.h - the rows of a picture: one a stream or an engine, and the host's. */
#ifndef SL_PICTURES_SVG_ROWS_H
#define SL_PICTURES_SVG_ROWS_H

#include "../timeline/lanes.h"
#include "host_calls.h"
#include "svg_bars.h"

typedef struct sl__row {
    uint32_t id; /* stream id, or engine */
    int n_lanes;
    int64_t busy_ns; /* in the range */
    size_t first_piece, n_pieces;
    size_t first_bar, n_bars;
    int y, lane_height; /* in pixels; the picture's to set */
} sl__row;

enum { SL__MOST_HOSTS = 16 };

typedef struct sl__rows {
    const sl_timeline *timeline;
    sl_rows by;
    sl__row *at;          /* by id */
    size_t n, n_left_out; /* the least busy, beyond the most that were asked for */
    sl__row *hosts; /* by thread of the host, its id; pieces are indices of `calls`, kinds what
                           * they do */
    size_t n_hosts; /* that have calls, at most SL__MOST_HOSTS: the first ones */
    sl__host_calls calls;
    sl__piece *pieces;
    sl__bar_list bars;
    sl__lanes lanes;  /* streams, or engines, that have spans */
    size_t *row_of;   /* by stream's lane, or engine; SIZE_MAX: left out */
    uint8_t *lane_of; /* by span, of those that are shown */
} sl__rows;

/* The rows of all streams or engines that have spans, at most `max_rows`, the busiest, with what is
 * shown of them as bars: at most about `max_bars` in all, which become coarser until they fit.
 * SL_ENOMEM. */
sl_status sl__rows_fill(const sl_timeline *timeline, sl_rows by, const sl__scale *scale,
                        size_t max_rows, size_t max_bars, sl__rows *rows, sl_error *err);
void sl__rows_free(sl__rows *rows);
static inline bool sl__rows_is_host(const sl__rows *rows, const sl__row *row)
{
    return row >= rows->hosts && row < rows->hosts + rows->n_hosts;
}
/* The row of a thread of the host, NULL if it has none. */
const sl__row *sl__rows_find_host(const sl__rows *rows, uint32_t thread);
/* The row in which a span lies, NULL if it is left out. */
const sl__row *sl__rows_find(const sl__rows *rows, const sl_span *span);

#endif
