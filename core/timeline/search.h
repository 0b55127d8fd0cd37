/* search.h - looking for lost time (explain.c): what is known meanwhile, and walks along what held
 * work (walk.c, walk_host.c). */
#ifndef SL_TIMELINE_SEARCH_H
#define SL_TIMELINE_SEARCH_H

#include "findings.h"
#include "operations.h"
#include "overlap.h"

typedef struct sl__search {
    sl__operations ops;
    sl__order by_host; /* all items, by when their calls began */
    size_t near_host;  /* where in it the last walk began, */
    size_t near_room;  /* and in a union of `busy` the last wait beside kernels */
    sl__order by_start[SL__UNITS];
    sl__order on_sms[SL_MOST_DEVICES]; /* by start */
    sl__order by_end;                  /* all spans */
    int unit;                          /* the engine whose gaps are walked */
    bool chain;                        /* the makespan is taken apart: what ran is no cause */
    bool beside;                       /* not an engine's gap, but a wait beside kernels */
    bool host_known;                   /* the calls of the host are in the timeline */
    sl__union *busy;   /* SL__BUSY_UNIONS; from SL__BESIDE on, kernels ran and left room */
    int64_t *first_ns; /* by thread of the host: when its first call began */
    size_t waiter;     /* the item before which the gap is */
    int64_t from_ns;   /* the gap's beginning */
    size_t steps;      /* that may still be made */
    sl__stretches found;
    sl__waits waits; /* of the findings (sl__causes_search) */
} sl__search;

/* What the SMs of the device at `place` ran, collectives as well, by start. */
static inline const sl__order *sl__kernels_of(const sl__search *search, int place)
{
    return &search->on_sms[place];
}

/* Not `reported`: what operations waited for is inferred. SL_ENOMEM, SL_EINTERRUPT; on failure
 * there is nothing to close. */
sl_status sl__search_open(sl__search *search, const sl_timeline *timeline, bool reported,
                          sl_error *err);
/* Nothing more is looked for: operations and what was found stay, other memory goes. */
void sl__search_end(sl__search *search);
void sl__search_close(sl__search *search);

/* From `from_ns` to `to_ns` the waiter waited for `by`, an item or SL__NO_ITEM. */
void sl__search_note(sl__search *search, sl_cause cause, bool idle, size_t by, int64_t from_ns,
                     int64_t to_ns);
/* False when there were too many steps: then the rest, which is this, is unknown. */
bool sl__search_may_step(sl__search *search, int64_t from_ns, int64_t to_ns);

/* ---- causes (explain.c) ---- */

/* All of an explanation but its gains, with the findings in order of what they lost. The caller
 * frees it, on failure, too. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__causes_search(sl__search *search, sl_explanation *explanation, sl_error *err);

/* ---- walks (walk.c) ---- */

/* Backwards from `to_ns`, when `item` started, to the gap's beginning. */
void sl__walk_gap(sl__search *search, size_t item, int64_t to_ns);
/* A stretch of the chain in which the item itself ran. */
void sl__walk_run(sl__search *search, size_t item, int64_t from_ns, int64_t to_ns);
/* Between ready and start. */
void sl__walk_start(sl__search *search, size_t item, bool idle, int64_t from_ns, int64_t to_ns);
/* When the item could be seen by the device: its call's end, or, in a call that goes on while the
 * operation runs, when it was ready. A launch goes on while its first nodes run. */
int64_t sl__visible_ns(const sl__search *search, size_t item);
/* What a rank's part waited for last, or the part itself, which the host called late. */
size_t sl__what_made_late(const sl__search *search, size_t part);

/* ---- the host (walk_host.c) ---- */

/* Backwards from `to_ns` to `from_ns` of the time of a thread of the host; what is found counts
 * `shift_ns` later. Returns the operation with which the walk goes on, if there is one. */
size_t sl__walk_host(sl__search *search, uint32_t thread, int64_t from_ns, int64_t to_ns,
                     int64_t shift_ns);
/* What a launch's call did. */
sl_cause sl__cause_of_graph(const sl__search *search, size_t item, const sl__launch *launch);

#endif
