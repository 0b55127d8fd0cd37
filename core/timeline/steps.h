/* steps.h - the steps of a program, as its profiler or the program itself marks them: how long each
 * took, for how long the GPU worked in it, and what took longer in one than in another. */
#ifndef SL_TIMELINE_STEPS_H
#define SL_TIMELINE_STEPS_H

#include "host_ranges.h"
#include "spans.h"

typedef struct sl_step {
    uint32_t name; /* text id */
    int64_t start_ns, end_ns;
    int64_t busy_ns; /* in which at least one operation ran, of any device and any step */
} sl_step;

/* In the order in which they began. The caller frees *steps. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_timeline_steps(const sl_timeline *timeline, sl_step **steps, size_t *n, sl_error *err);

/* The longest one, and the one that half of the others are no longer than; false: there are fewer
 * than two. `steps` stays in its order. SL_ENOMEM is false, too. */
bool sl_steps_extremes(const sl_step *steps, size_t n, size_t *median, size_t *slowest);

/* What a part of a step is about. */
typedef enum sl_step_part {
    SL_STEP_CALL,  /* the host was in a call of CUDA's, a launch among them, or in work that has a
                    * name; */
    SL_STEP_WAIT,  /* in a call that waits for the GPU; */
    SL_STEP_RANGE, /* in a range, and in no call and no other range within it; */
    SL_STEP_HOST,  /* or in nothing that has a name */
    SL_STEP_GPU,   /* operations of a name, wherever they ran */
    SL_STEP_PARTS
} sl_step_part;

/* One of them, in two steps. */
typedef struct sl_step_change {
    sl_step_part part;
    const char *name; /* of a call CUDA's, of operations their whole one; the timeline's */
    uint32_t text;    /* of GPU: the text id of that name */
    int64_t was_ns, is_ns;
    size_t n_was, n_is; /* calls, ranges or operations */
} sl_step_change;

/* What differs between two steps: the most time that `is` takes longer first. Parts of the host are
 * those of the caller (thread_names.h) that launched most of what `is` launched: they add up to the
 * two durations. *changes is freed by whoever asks. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_timeline_step_changes(const sl_timeline *timeline, const sl_step *was,
                                   const sl_step *is, sl_step_change **changes, size_t *n,
                                   sl_error *err);

const char *sl_step_part_name(sl_step_part part); /* "call" */

#endif
