/* gains.h - what the end of each cause would gain. */
#ifndef SL_TIMELINE_GAINS_H
#define SL_TIMELINE_GAINS_H

#include "operations.h"

/* Sets gain_ns of the findings, and puts findings and waits in order of it. */
sl_status sl__gains_find(const sl__operations *ops, sl_explanation *explanation, sl_error *err);

#endif
