/* launches.h - launches of graphs among the operations: which of them each one ran. */
#ifndef SL_TIMELINE_LAUNCHES_H
#define SL_TIMELINE_LAUNCHES_H

#include "timeline.h"

typedef struct sl__operations sl__operations;

typedef struct sl__launch {
    const sl_launch_note *note;
    size_t call; /* the item that launched it, or SL__NO_ITEM */
} sl__launch;

/* Fills ops->launches. The host did nothing for what a launch ran but launch the graph: these calls
 * get no length, and are at the launch's end, or at its beginning if they started before the end. */
sl_status sl__launches_gather(sl__operations *ops, sl_error *err);

/* The launch that ran the item, or NULL. */
sl__launch *sl__launch_of(const sl__operations *ops, size_t item);
/* The launch that the item, a call, made, or NULL. */
sl__launch *sl__launch_by(const sl__operations *ops, size_t item);

#endif
