/* svg_bars.h - what lies in a row of a picture: pieces of time as bars.
 *
 * Positions are in hundredths of a pixel from the left edge of the chart. What overlaps
 * in time lies in lanes of its own below each other; what is too short to be seen apart
 * is one bar.
 */
#ifndef SL_PICTURES_SVG_BARS_H
#define SL_PICTURES_SVG_BARS_H

#include "../timeline/timeline.h"

#define SL__PX 100 /* positions in a pixel */
#define SL__MAX_LANES 16
#define SL__BAR_KINDS 8 /* kinds of pieces, at most */

typedef struct sl__scale {
    int64_t from_ns, to_ns; /* from < to */
    int64_t width;          /* what they are apart */
} sl__scale;

/* The position of a time of the range; times outside are at the edges. */
int64_t sl__scale_x(const sl__scale *scale, int64_t ns);

/* A span, or a call of the host. */
typedef struct sl__piece {
    int64_t start_ns, end_ns;
    size_t index;  /* the caller's */
    uint32_t name; /* text id */
    int32_t x, end_x;
    uint8_t kind, lane;
} sl__piece;

typedef struct sl__bar {
    int64_t x, width; /* at least one pixel wide */
    int64_t start_ns, end_ns;
    int64_t busy_ns; /* of these: with pieces running */
    uint32_t counts[SL__BAR_KINDS];
    size_t n;     /* pieces */
    size_t first; /* index of the first one */
    uint8_t kind; /* which took most of the time */
    uint8_t lane;
    uint32_t name;  /* of the first one */
    bool same_name; /* all have it */
    bool crowded;   /* another bar of its lane lies over it, or below */
} sl__bar;

typedef struct sl__bar_list {
    sl__bar *at;
    size_t n, cap;
} sl__bar_list;

/* Sorts the pieces by start and gives each its place and its lane; the number of lanes,
 * at most SL__MAX_LANES. Pieces that find no free one lie over others. */
int sl__pieces_place(const sl__scale *scale, sl__piece *pieces, size_t n);
/* The time in which any of the placed pieces was running, within the range. */
int64_t sl__pieces_busy_ns(const sl__scale *scale, const sl__piece *pieces, size_t n);
/* Adds the bars of the placed pieces. Those of one kind that are shorter than `grain` and
 * follow each other with gaps shorter than that become one bar, and so do those of any
 * kind that lie within `grain` together. SL_ENOMEM. */
sl_status sl__pieces_merge(const sl__scale *scale, const sl__piece *pieces, size_t n, int64_t grain,
                           sl__bar_list *bars, sl_error *err);

#endif
