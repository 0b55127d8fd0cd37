/* concurrency.h - how long each engine or each stream was busy, and how many were at once. */
#ifndef SL_TIMELINE_CONCURRENCY_H
#define SL_TIMELINE_CONCURRENCY_H

#include "lanes.h"
#include "overlap.h"
#include "sweep.h"

/* A row is an engine of a device (sl__unit), or a stream: row i is lanes.ids[i]. Of
 * SL_CONCURRENT_SPANS there is one row for all. */
typedef struct sl__busy {
    sl__lanes lanes;
    sl__tally *at;
    sl__interval *ranges; /* from a row's first start to its last end, if it has spans */
    size_t n;
    sl__interval range; /* of all, if there are spans */
    size_t n_spans;
} sl__busy;

/* On failure there is nothing to free, else both. Without selected spans both are empty. */
sl_status sl__busy_measure(const sl_timeline *timeline, const sl_selection *sel, sl_concurrent of,
                           sl__busy *rows, sl_concurrency *profile, sl_error *err);
void sl__busy_free(sl__busy *rows);

#endif
