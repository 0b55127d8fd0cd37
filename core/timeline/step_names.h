/* step_names.h - steps of a training among the ranges of the host. */
#ifndef SL_TIMELINE_STEP_NAMES_H
#define SL_TIMELINE_STEP_NAMES_H

#include "host_ranges.h"

/* The number of a step by its name: 3 of "ProfilerStep#3" and of "step 3"; false: none is at its
 * end. */
bool sl_step_number(const char *name, int64_t *number);

/* Where a timeline has no steps of PyTorch's profiler, ranges that the program calls so ("step 3",
 * "iteration: 3", "train_step#3") are steps as well as what they were. Before finish. SL_ENOMEM. */
sl_status sl__timeline_add_steps(sl_timeline *timeline, sl_error *err);

#endif
