/* part_doubts.h - what is in doubt about a part of a timeline: what is about the whole, said
 * so that nobody takes its counts and times for those of the part.
 */
#ifndef SL_TIMELINE_PART_DOUBTS_H
#define SL_TIMELINE_PART_DOUBTS_H

#include "timeline.h"

/* Adds to the finished part what is in doubt about the whole, but for what is known to lie outside
 * of the part, which goes from first_ns to last_ns of the whole. Doubts about the file stay as they
 * are, and what counts operations or calls of the whole begins with "Of the whole trace: ". What
 * profiling cost is estimated for the part, by its operations and calls, and left out where the
 * device was not idle for that long. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__part_doubts(const sl_timeline *whole, int64_t first_ns, int64_t last_ns,
                          sl_timeline *part, sl_error *err);

#endif
