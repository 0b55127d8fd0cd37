/* concurrency.h - the busy times of each engine or each stream at once. */
#ifndef SL_TIMELINE_CONCURRENCY_H
#define SL_TIMELINE_CONCURRENCY_H

#include "lanes.h"
#include "overlap.h"

/* The selected spans' intervals group by group, a group an engine, a stream, or a kind of work
 * of an engine (engine * SL_SPAN_KINDS + kind). What a group has is a union; of
 * SL_CONCURRENT_SPANS there is one group, in which every span keeps its interval. */
typedef struct sl__groups {
    sl__interval *at;
    size_t *end; /* by group: where it ends, and the next one begins */
    size_t n;
    sl__lanes lanes; /* of streams: group i is that of stream lanes.ids[i] */
} sl__groups;

/* On failure there is nothing to free. */
sl_status sl__groups_collect(const sl_timeline *timeline, const sl_selection *sel, sl_concurrent by,
                             sl__groups *groups, sl_error *err);
/* The time of the range with k groups busy (k intervals, where there is one group). All
 * of them lie in the range. The caller frees profile->at_ns. */
sl_status sl__groups_profile(const sl__groups *groups, const sl__interval *range,
                             sl_concurrency *profile, sl_error *err);
sl__union sl__groups_get(const sl__groups *groups, size_t group); /* borrowed */
void sl__groups_free(sl__groups *groups);

#endif
