/* arrows.h - arrows of a picture: from work to what waited for it, in times of the
 * timeline. */
#ifndef SL_PICTURES_ARROWS_H
#define SL_PICTURES_ARROWS_H

#include "../timeline/timeline.h"

typedef enum sl__arrow_kind {
    SL__ARROW_EVENT, /* work of one stream waited for an event of another */
    SL__ARROW_HOST   /* a call of the host waited for work */
} sl__arrow_kind;

/* From the end of the last work before an event's record to the start of the first work
 * after the wait for it; or to the return of the call that waited. */
typedef struct sl__arrow {
    int64_t from_ns, to_ns;
    uint64_t from;   /* correlation of the span that was waited for */
    uint64_t to;     /* EVENT: of the span that waited; HOST: of the call */
    uint64_t wait;   /* of the call that ordered it */
    int64_t held_ns; /* how long it really waited; 0: there was nothing to wait for */
    uint32_t from_stream, to_stream;
} sl__arrow;

typedef struct sl__arrows {
    sl__arrow *at; /* in order of issue */
    size_t n;
    size_t n_left_out; /* beyond the most that were asked for */
} sl__arrows;

/* The arrows of a kind that lie in the range (times of the spans' clock) with both ends; at
 * most `max` of them, those that waited longest. Streams that wait for themselves have
 * none. SL_ENOMEM. */
sl_status sl__arrows_find(const sl_timeline *timeline, sl__arrow_kind kind, int64_t from_ns,
                          int64_t to_ns, size_t max, sl__arrows *arrows, sl_error *err);
void sl__arrows_free(sl__arrows *arrows); /* leaves it empty */

#endif
