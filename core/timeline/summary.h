/* summary.h - what is kept of spans that are not kept themselves: how many there were and how long
 * they ran, by stream, by name, and by lane, which is an engine of a device with a kind of work;
 * and how long each set of lanes, and of streams, was busy at the same time.
 *
 * Spans come in any order. A span whose time is settled, so that none that starts earlier can come,
 * takes no memory any more. */
#ifndef SL_TIMELINE_SUMMARY_H
#define SL_TIMELINE_SUMMARY_H

#include "sets.h"
#include "sweep.h"
#include "timeline.h"

/* The rows of spans that have the same of each. */
typedef struct sl__rows_of {
    uint32_t stream, lane; /* numbers */
    uint32_t name;         /* text id */
} sl__rows_of;

typedef struct sl__summary {
    sl__tally all;
    sl__keys streams, lanes; /* ids; sl__lane_key */
    sl__tally *stream, *lane, *name;
    size_t cap_streams, cap_lanes, n_names;
    sl__sets stream_sets, lane_sets;
    sl__keys kinds; /* of spans: a stream, a lane and a name */
    sl__rows_of *rows;
    size_t cap_rows;
    sl__sweep sweep; /* rows are numbers of kinds */
    size_t full;     /* with so many spans to come it is worth settling */
} sl__summary;

static inline uint64_t sl__lane_key(int place, unsigned engine, unsigned kind)
{
    return (uint64_t)place << 16 | engine << 8 | kind;
}

/* False: no memory; nothing changed. */
bool sl__summary_add(sl__summary *summary, const sl_span *span, int place);
static inline bool sl__summary_is_full(const sl__summary *summary)
{
    return sl__sweep_waiting(&summary->sweep) > summary->full;
}
/* No span that is added from now on starts before `until_ns`. */
void sl__summary_settle(sl__summary *summary, int64_t until_ns);
bool sl__summary_has_several(const sl__summary *summary); /* devices */
void sl__summary_free(sl__summary *summary);

/* The same questions as of a timeline. A selection is of streams or of names, or it is not: then it
 * is of lanes. SL_EUNSUPPORTED: a summary does not have it. */
sl_status sl__summary_tally(const sl_timeline *timeline, const sl_selection *sel, sl__tally *tally,
                            sl_error *err);
sl_status sl__summary_common_ns(const sl_timeline *timeline, const sl_selection *sels, size_t n,
                                int64_t *common_ns, sl_error *err);

/* NULL: it keeps its spans. */
sl__summary *sl__timeline_summary(const sl_timeline *timeline);

#endif
