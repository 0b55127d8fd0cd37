/* summary.h - what is kept of spans that are not kept themselves: how many there were and how long they
 * ran, by stream, by name, and by lane, which is an engine of a device with a kind of work; and how long
 * each set of lanes, and of streams, was busy at the same time.
 *
 * Spans come in any order. A span whose time is settled, so that none that starts earlier can come, takes
 * no memory any more. */
#ifndef SL_TIMELINE_SUMMARY_H
#define SL_TIMELINE_SUMMARY_H

#include "keys.h"
#include "timeline.h"

enum { SL__SET_MEMBERS = 64 }; /* a set is a word of bits */

typedef struct sl__tally {
    size_t n;         /* spans */
    int64_t sum_ns;   /* of their lengths */
    int64_t busy_ns;  /* of their union */
    size_t running;   /* at the time that is settled */
    int64_t since_ns; /* with some running: since when */
} sl__tally;

/* How long exactly the members of each set were busy. */
typedef struct sl__sets {
    sl__keys sets;
    int64_t *ns; /* by number of the set */
    size_t cap;
    uint64_t now; /* the set at the time that is settled, */
    int64_t since_ns;
    sl_status lost; /* SL_EUNSUPPORTED: there were too many members or sets; SL_ENOMEM */
} sl__sets;

typedef struct sl__moment { /* a span that starts or ends then */
    int64_t at_ns, end_ns;
    uint32_t stream, name, lane; /* numbers; name: text id */
} sl__moment;

typedef struct sl__moments { /* a heap, the earliest first */
    sl__moment *at;
    size_t n, cap;
} sl__moments;

typedef struct sl__summary {
    sl__tally all;
    sl__keys streams, lanes; /* ids; sl__lane_key */
    sl__tally *stream, *lane, *name;
    size_t cap_streams, cap_lanes, n_names;
    sl__sets stream_sets, lane_sets;
    sl__moments starts, ends; /* of spans that are not settled; of those that run */
    size_t full;              /* with so many starts it is worth settling */
} sl__summary;

static inline uint64_t sl__lane_key(int place, unsigned engine, unsigned kind)
{
    return (uint64_t)place << 16 | engine << 8 | kind;
}

/* False: no memory; nothing changed. */
bool sl__summary_add(sl__summary *summary, const sl_span *span, int place);
static inline bool sl__summary_is_full(const sl__summary *summary)
{
    return summary->starts.n > summary->full;
}
/* No span that is added from now on starts before `until_ns`. */
void sl__summary_settle(sl__summary *summary, int64_t until_ns);
bool sl__summary_has_several(const sl__summary *summary); /* devices */
void sl__summary_free(sl__summary *summary);

/* The same questions as of a timeline. A selection is of streams or of names, or it is not: then it is of
 * lanes. SL_EUNSUPPORTED: a summary does not have it. */
sl_status sl__summary_tally(const sl_timeline *timeline, const sl_selection *sel, sl__tally *tally,
                            sl_error *err);
sl_status sl__summary_common_ns(const sl_timeline *timeline, const sl_selection *sels, size_t n,
                                int64_t *common_ns, sl_error *err);

/* timeline.c: NULL: it keeps its spans. */
sl__summary *sl__timeline_summary(const sl_timeline *timeline);

#endif
