/* samples.h - how much of a GPU's memory an allocator has given away and holds, as it says itself
 * from time to time: PyTorch's profiler notes that at each allocation. */
#ifndef SL_TIMELINE_SAMPLES_H
#define SL_TIMELINE_SAMPLES_H

#include "../streamlab.h"

typedef struct sl_memory_sample { /* from at_ns on, until the next one */
    int64_t at_ns;
    uint64_t allocated_bytes, reserved_bytes; /* at most INT64_MAX */
} sl_memory_sample;

/* Before finish, in order of time. SL_EINVAL: it is not, or beyond a timeline's time, or has 2^63
 * bytes and more. SL_ENOMEM. In a timeline that keeps a summary it has no effect. */
sl_status sl_timeline_add_memory_sample(sl_timeline *timeline, const sl_memory_sample *sample,
                                        sl_error *err);
/* After finish, in the order in which they were added. */
const sl_memory_sample *sl_timeline_memory_samples(const sl_timeline *timeline, size_t *n);

/* ---- for the timeline ---- */

typedef struct sl__samples { /* all zero: none */
    sl_memory_sample *at;
    size_t n, cap;
} sl__samples;

void sl__samples_settle(sl__samples *samples);

#endif
