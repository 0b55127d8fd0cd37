/* step_names.h - steps of a training among the ranges of the host. */
#ifndef SL_TIMELINE_STEP_NAMES_H
#define SL_TIMELINE_STEP_NAMES_H

#include "host_ranges.h"

/* The number of a step by its name: 3 of "ProfilerStep#3", "step 3" and "step 3 (2)"; false: none
 * is at its end. */
bool sl_step_number(const char *name, int64_t *number);

/* Where a timeline has no steps of PyTorch's profiler, ranges that the program calls so ("step 3",
 * "iteration: 3", "train_step#3") are steps as well as what they were. Before finish. SL_ENOMEM. */
sl_status sl__timeline_add_steps(sl_timeline *timeline, sl_error *err);

/* A name that several steps have, of two threads or of a profiler that was started twice, is the
 * first one's: others are called "ProfilerStep#3 (2)" and so on, in their order. Before finish,
 * once ranges are in order. Without memory the rest stay as they are. */
void sl__timeline_tell_steps_apart(sl_timeline *timeline);

#endif
