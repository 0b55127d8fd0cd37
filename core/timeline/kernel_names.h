/* kernel_names.h - short names of kernels that differ where the kernels do. */
#ifndef SL_TIMELINE_KERNEL_NAMES_H
#define SL_TIMELINE_KERNEL_NAMES_H

#include "../text/labels.h"
#include "timeline.h"

#define SL__NAME_COLUMNS 60     /* of an operation's name: those of templates have hundreds */

/* By text id, up to n; NULL where the name that sl_label_kernel gives differs from all others. */
typedef struct sl__kernel_names { char **at; size_t n; } sl__kernel_names;

/* Of all kernels of the timeline. Without memory some names stay NULL. */
sl__kernel_names sl__kernel_names_find(const sl_timeline *timeline);
void sl__kernel_names_free(sl__kernel_names *names);

/* Of a finished timeline (timeline.c); NULL: as sl_label_kernel has it. */
const char *sl__timeline_kernel_name(const sl_timeline *timeline, uint32_t name);

/* The short name of a kernel, by the text id of its name; it is the timeline's, or in `buffer`. */
const char *sl__kernel_label(const sl_timeline *timeline, uint32_t name,
                             char buffer[SL__KERNEL_BYTES]);

#endif
