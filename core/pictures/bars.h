/* bars.h - what lies in a row of a picture: pieces of time as bars.
 *
 * Positions are in hundredths of a pixel from the left edge of the chart. What overlaps
 * in time lies in lanes of its own below each other; what is too short to be seen apart
 * is one bar.
 */
#ifndef SL_PICTURES_BARS_H
#define SL_PICTURES_BARS_H

#include "pictures.h"

#define SL__MAX_LANES 16

/* A span, or a call of the host. */
typedef struct sl__piece {
    int64_t start_ns, end_ns;
    size_t index;  /* the caller's */
    uint32_t name; /* text id */
    int32_t x, end_x;
    uint8_t kind, lane;
} sl__piece;

/* Sorts the pieces by start and gives each its place and its lane; the number of lanes,
 * at most SL__MAX_LANES. Pieces that find no free one lie over others. */
int sl__pieces_place(const sl_scale *scale, sl__piece *pieces, size_t n);
/* The time in which any of the placed pieces was running, within the range. */
int64_t sl__pieces_busy_ns(const sl_scale *scale, const sl__piece *pieces, size_t n);
/* Adds the bars of the placed pieces. Those of one kind that are shorter than `grain` and
 * follow each other with gaps shorter than that become one bar, and so do those of any
 * kind that lie within `grain` together. SL_ENOMEM. */
sl_status sl__pieces_merge(const sl_scale *scale, const sl__piece *pieces, size_t n, int64_t grain,
                           sl_bars *bars, sl_error *err);

#endif
