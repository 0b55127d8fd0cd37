/* copying.h - a timeline as another one: what stays of it, and with which times, its owner says
 * for each operation. Texts, and with them their ids, correlations, devices and streams stay. */
#ifndef SL_TIMELINE_COPYING_H
#define SL_TIMELINE_COPYING_H

#include "host_ranges.h"
#include "samples.h"
#include "spans.h"

/* Each function gets `of`, and changes what it is given to what the copy has; false: that is left
 * out. They are asked again for what others refer to, so that the answer has to be the same. */
typedef struct sl__copying {
    const sl_timeline *whole; /* finished, and no summary */
    const void *of;
    bool (*span)(const void *of, sl_span *span);
    bool (*call)(const void *of, sl_call *call);
    /* Of a span or call that stays; one that was not reported has only its correlation. What holds
     * it and is left out is not known in the copy. */
    bool (*hold)(const void *of, bool is_reported, sl_hold *hold);
    /* When the ranks of a collective met, by its correlation. */
    int64_t (*met)(const void *of, uint64_t correlation, int64_t ns);
    bool (*range)(const void *of, sl_host_range *range);
    /* next: the one behind it in the whole, or NULL. */
    bool (*sample)(const void *of, const sl_memory_sample *next, sl_memory_sample *sample);
} sl__copying;

/* Fills `made`, which is empty, and neither finished nor in doubt afterwards. SL_ENOMEM,
 * SL_EINTERRUPT; SL_EINVAL: a time that no timeline can have. */
sl_status sl__timeline_copy(const sl__copying *copying, sl_timeline *made, sl_error *err);

#endif
