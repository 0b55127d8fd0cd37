/* pinned.h - how long copies from or to pageable memory would take if that were pinned. */
#ifndef SL_TIMELINE_PINNED_H
#define SL_TIMELINE_PINNED_H

#include "timeline.h"

/* Bytes per ns from and to pinned memory. */
typedef struct sl__pinned {
    double h2d, d2h;
    bool any; /* there are copies from or to pageable memory */
} sl__pinned;

/* The rates of the timeline's large pinned copies; where there are none, what the PCIe bus of such
 * a GPU reaches. */
sl__pinned sl__pinned_find(const sl_timeline *timeline);
/* The length of a span; of a copy from or to pageable memory, if it were pinned: never more. */
int64_t sl__pinned_ns(const sl__pinned *rates, const sl_span *span);

#endif
