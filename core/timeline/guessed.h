/* guessed.h - which part of a timeline is a guess: custom kernels of a simulated GPU that nothing
 * says the duration of (SL_SPAN_GUESSED). */
#ifndef SL_TIMELINE_GUESSED_H
#define SL_TIMELINE_GUESSED_H

#include "timeline.h"

typedef struct sl_guessed {
    size_t n_spans;
    int64_t busy_ns;  /* in which at least one of them ran */
    uint32_t name;    /* of the longest */
    bool other_names; /* there are more */
} sl_guessed;

/* SL_ENOMEM, SL_EINTERRUPT */
sl_status sl_timeline_guessed(const sl_timeline *timeline, sl_guessed *guessed, sl_error *err);

#endif
