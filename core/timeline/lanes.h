/* lanes.h - the streams that occur in a timeline, as dense indices.
 *
 * Stream ids may be sparse (a foreign trace numbers as it likes). The readers
 * that keep something per stream index an array by lane instead: lanes ascend
 * with the stream's id, those of one device after those of the one before it.
 */
#ifndef SL_TIMELINE_LANES_H
#define SL_TIMELINE_LANES_H

#include "keys.h"
#include "timeline.h"

typedef struct sl__lanes {
    uint32_t *ids; /* ascending */
    size_t n;
    sl__keys keys; /* ids to lanes */
} sl__lanes;

/* The streams of all spans and, if `calls`, those that calls name. */
sl_status sl__lanes_collect(const sl_timeline *timeline, bool calls, sl__lanes *lanes,
                            sl_error *err);
/* The same for engines: those that have spans, device by device (sl__unit). */
sl_status sl__lanes_collect_engines(const sl_timeline *timeline, sl__lanes *lanes, sl_error *err);
/* The lane of a stream, or engine, that occurs. */
size_t sl__lanes_find(const sl__lanes *lanes, uint32_t id);
void sl__lanes_free(sl__lanes *lanes);

#endif
