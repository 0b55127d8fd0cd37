/* communication.h - how much of a GPU's communication its computation covers. */
#ifndef SL_TIMELINE_COMMUNICATION_H
#define SL_TIMELINE_COMMUNICATION_H

#include "timeline.h"

/* Lengths of unions, of one device. */
typedef struct sl_communication {
    size_t n_spans;     /* of kind SL_SPAN_COLLECTIVE */
    int64_t busy_ns;    /* some of them ran */
    int64_t covered_ns; /* and a kernel that is none ran at the same time */
} sl_communication;

/* Of the device at `place`. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_timeline_communication(const sl_timeline *timeline, int place, sl_communication *found,
                                    sl_error *err);

#endif
