/* launches.h - launches of graphs among the operations: which of them each one ran, and which launch
 * of the same graph came before it. */
#ifndef SL_TIMELINE_LAUNCHES_H
#define SL_TIMELINE_LAUNCHES_H

#include "timeline.h"

typedef struct sl__operations sl__operations;

typedef struct sl__launch {
    const sl_launch_note *note;
    size_t call;     /* the item that launched it, or SL__NO_ITEM */
    size_t previous; /* the launch of the same graph before it, or SL__NO_ITEM */
    size_t last; /* of the spans that it ran and that have been looked at the one that ended last,
                      * or SL__NO_ITEM */
} sl__launch;

/* Fills ops->launches, and notes in the items which launch ran them. The host did nothing for these
 * but launch the graph: their calls get no length, and are at the launch's end, or at its beginning
 * if they started before the end. */
sl_status sl__launches_gather(sl__operations *ops, sl_error *err);

/* The launch that ran the item, or NULL. */
sl__launch *sl__launch_of(const sl__operations *ops, size_t item);
/* The launch that the item, a call, made, or NULL. */
sl__launch *sl__launch_by(const sl__operations *ops, size_t item);

/* The item has been looked at: it is the last of its launch if it ends last so far. */
void sl__launch_keep_last(sl__operations *ops, size_t item);
/* The launch in another stream that the item, which a launch ran, has to come behind, as both are of
 * one graph; or NULL. */
const sl__launch *sl__launch_before(const sl__operations *ops, size_t item);

#endif
