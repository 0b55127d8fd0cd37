/* goal.h - a GOAL program while it is written: what the writer's files share. */
#ifndef SL_TRACES_GOAL_H
#define SL_TRACES_GOAL_H

#include "../text/outfile.h"
#include "tasks.h"

typedef struct sl__goal {
    const sl__tasks *tasks;
    sl__outfile file;
    size_t task; /* being written: its label is "t" and this */
    unsigned cpu;
} sl__goal;

/* Its rank's part of a collective, as a ring does it: sends and receives between "t9s", which is to
 * come behind what the collective comes behind, and "t9" (goal_collectives.c). */
void sl__goal_put_collective(sl__goal *goal, const sl__task *task);

#endif
