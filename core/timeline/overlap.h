/* overlap.h - unions of time intervals, for the readers of this folder. */
#ifndef SL_TIMELINE_OVERLAP_H
#define SL_TIMELINE_OVERLAP_H

#include "timeline.h"

typedef struct sl__interval { int64_t start_ns, end_ns; } sl__interval;

/* Disjoint, not touching, ascending intervals; none is empty. */
typedef struct sl__union { sl__interval *at; size_t n; } sl__union;

/* The union of the selected spans. On failure *result is empty. */
sl_status sl__union_collect(const sl_timeline *timeline, const sl_selection *sel,
                            sl__union *result, sl_error *err);
/* What a and b have in common; *result may not be one of them. */
sl_status sl__union_intersect(const sl__union *a, const sl__union *b, sl__union *result,
                              sl_error *err);
int64_t sl__union_length_ns(const sl__union *u);
void sl__union_free(sl__union *u);      /* leaves it empty */

#endif
