/* store.h - what the files of this folder know of a timeline beyond timeline.h.
 *
 * The layout of the store stays in timeline.c; the readers beside it need only
 * these few questions.
 */
#ifndef SL_TIMELINE_STORE_H
#define SL_TIMELINE_STORE_H

#include "timeline.h"

/* The id of `text` if it is interned; never adds. */
bool sl__timeline_find_text(const sl_timeline *timeline, const char *text, uint32_t *id);

/* When the recording began, on the clock of the spans; 0 before finish. */
int64_t sl__timeline_host_start_ns(const sl_timeline *timeline);

/* The first span's start, 0 without spans. */
int64_t sl__timeline_first_ns(const sl_timeline *timeline);

/* The note of stream `id`, or NULL. */
const sl_stream_note *sl__timeline_note(const sl_timeline *timeline, uint32_t id);

/* a + b for b >= 0, at most INT64_MAX: sums over absurdly long spans must not overflow. */
static inline int64_t sl__add_ns(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

#endif
