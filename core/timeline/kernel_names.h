/* kernel_names.h - short names of kernels that differ where the kernels do. */
#ifndef SL_TIMELINE_KERNEL_NAMES_H
#define SL_TIMELINE_KERNEL_NAMES_H

#include "../text/strings.h"
#include "timeline.h"

#define SL__NAME_COLUMNS 60 /* of an operation's name: those of templates have hundreds */

/* By text id, up to n; NULL where the name that sl_label_kernel gives differs from all others. */
typedef struct sl__kernel_names {
    char **at;
    size_t n;
} sl__kernel_names;

/* Of all kernels among the timeline's spans. Without memory some names stay NULL. */
sl__kernel_names sl__kernel_names_find(const sl_timeline *timeline, const sl__strings *texts);
void sl__kernel_names_free(sl__kernel_names *names);

#endif
