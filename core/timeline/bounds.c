/* bounds.c - how short the recorded work could have been.
 *
 * serial           the durations of all spans, added up.
 * busiest engine   the largest union of the spans of one engine of one device.
 * critical path    the longest sum of span durations over a chain in which each span comes behind
 *                  the one before, by the rules of streams (rules.h); where a span begins before an
 *                  earlier one of its stream has ended, the time in which both ran counts once.
 * lower            the larger of the two before, where copies from and to pageable memory take
 *                  what pinned ones would, and hold no host, as in gains.c; but not more than
 *                  the makespan: traces from elsewhere have clocks that are coarse, and
 *                  dependences that are guessed.
 * unblocked        the larger of the busiest engine and the longest chain, likewise, without
 *                  the host's waits, again not more than the makespan: what the same
 *                  operations could have taken if the host had issued them all without
 *                  ever waiting.
 *
 * Not counted: what a thread of the host has waited for before it started or joined another one,
 * the host's own time, the gaps between operations, the submission
 * and wake-up latencies, the order in which engines, hardware channels and the
 * launch queue serve streams, partial waits (a pageable copy whose call returned
 * before the copy's end), and data that no stream, event or wait orders. Waits for records
 * made before the recording began add nothing. So "lower" holds for every schedule
 * of the same spans in the same streams with these durations and, per engine, this concurrency:
 * kernels that shared the SMs count for their union only, and kernels that could
 * have shared them, but did not, count in full. "unblocked" does not ask whether
 * the script could do without a wait: it may need what it waited for.
 *
 * One pass over spans and calls in issue order. A board for each of the three has the longest chain
 * that ends in each joint.
 */
#include "timeline.h"

#include <stdlib.h>

#include "../base.h"
#include "operations.h"
#include "overlap.h"
#include "rules.h"
#include "store.h"

/* The longest chain under some rules, in ns. */
typedef struct chain {
    bool host_waits;
    const sl__pinned *pinned; /* NULL: copies take what they took */
    sl__board board;
    int64_t longest_ns;
} chain;

enum { CHAINS = 3 }; /* as recorded; with pinned memory; with it and without the host's waits */

typedef struct chains {
    sl__rules rules;
    chain at[CHAINS];
    int64_t *ends_ns; /* by lane: when its latest operation was over, a time */
} chains;

static void chains_close(chains *c)
{
    for (int k = 0; k < CHAINS; k++)
        sl__board_close(&c->at[k].board);
    sl__rules_close(&c->rules);
    free(c->ends_ns);
}

static sl_status chains_open(const sl_timeline *timeline, const sl__pinned *pinned, chains *c,
                             sl_error *err)
{
    *c = (chains){ .at = { { .host_waits = true },
                           { .host_waits = true, .pinned = pinned },
                           { .pinned = pinned } } };
    sl_status status = sl__rules_open(timeline, &c->rules, err);
    if (status != SL_OK) return status;
    for (int k = 0; k < CHAINS && status == SL_OK; k++)
        status = sl__board_open(&c->rules, &c->at[k].board, err);
    c->ends_ns = malloc((c->rules.lanes.n + 1) * sizeof *c->ends_ns);
    if (status == SL_OK && !c->ends_ns)
        status = sl__no_memory(err, "the bounds of %zu streams", c->rules.lanes.n);
    if (status != SL_OK) chains_close(c);
    return status;
}

/* The time of the span in which nothing issued before it ran in its stream. Only traces from
 * elsewhere have less of it than the span lasts. */
static int64_t own_ns(chains *c, const sl_span *span, uint32_t lane)
{
    int64_t from_ns = sl__max(span->start_ns, c->ends_ns[lane]);
    c->ends_ns[lane] = sl__max(c->ends_ns[lane], span->end_ns);
    return sl__max(span->end_ns - from_ns, 0);
}

/* The longest chain that the operation comes behind. */
static int64_t behind_ns(const chain *c, const sl__ruling *ruling)
{
    int64_t ns = 0;
    for (int k = 0; k < ruling->n_behind; k++)
        if (c->host_waits || ruling->behind[k].cause != SL_CAUSE_HOST_BLOCKED)
            ns = sl__max(ns, c->board.at[ruling->behind[k].joint].ns);
    return ns;
}

/* By a span, of which `own_ns` counts, or a call: NULL. */
static void lengthen(const sl__rules *rules, chain *c, sl__issue issue, const sl_span *span,
                     int64_t own_ns)
{
    sl__ruling ruling;
    if (span && c->pinned && sl__span_is_pageable(span)) issue.waits = false;
    sl__rules_of(rules, &issue, &ruling);
    sl__board_wait(&c->board, &ruling);
    if (!ruling.is_operation) return;
    if (span && c->pinned) own_ns = sl__min(own_ns, sl__pinned_ns(c->pinned, span));
    const int64_t end_ns = sl__add_ns(behind_ns(c, &ruling), own_ns);
    sl__board_put(&c->board, &ruling, (sl__reach){ end_ns, 0 });
    c->longest_ns = sl__max(c->longest_ns, end_ns);
}

/* What pinned memory changes is nothing where no copy could use it. */
static sl_status critical_paths(const sl_timeline *timeline, const sl__pinned *pinned,
                                sl_bounds *bounds, sl_error *err)
{
    chains c;
    sl_status status = chains_open(timeline, pinned, &c, err);
    if (status != SL_OK) return status;
    for (size_t lane = 0; lane < c.rules.lanes.n; lane++)
        c.ends_ns[lane] = INT64_MIN;
    for (sl__reading at = sl__rules_read(&c.rules); sl__reading_next(&at);) {
        const sl_span *span = at.at.is_call ? NULL : &at.at.span;
        const int64_t ns = span ? own_ns(&c, span, at.issue.lane) : 0;
        for (int k = 0; k < CHAINS; k++)
            if (k != 1 || pinned->any) lengthen(&c.rules, &c.at[k], at.issue, span, ns);
    }
    bounds->critical_path_ns = c.at[0].longest_ns;
    bounds->lower_ns = c.at[pinned->any ? 1 : 0].longest_ns;
    bounds->unblocked_ns = c.at[2].longest_ns;
    chains_close(&c);
    return SL_OK;
}

/* By unit: by how much pinned memory would shorten its copies. */
static void find_saved(const sl_timeline *timeline, const sl__pinned *pinned, int64_t *saved_ns)
{
    const size_t n = pinned->any ? sl_timeline_span_count(timeline) : 0;
    for (size_t i = 0; i < n; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        int64_t *saved = &saved_ns[sl__unit_of(timeline, &span)];
        int64_t ns = span.end_ns - span.start_ns - sl__pinned_ns(pinned, &span);
        *saved = sl__add_ns(*saved, ns);
    }
}

/* Among equally busy engines the first is named. *work_ns: for how long the busiest one would have
 * work if all memory were pinned. */
static sl_status busiest_engine(const sl_timeline *timeline, const sl__pinned *pinned,
                                sl_bounds *bounds, int64_t *work_ns, sl_error *err)
{
    int64_t saved_ns[SL__UNITS] = { 0 }, busy_ns[SL__UNITS];
    sl_status status = sl__busy_by_unit(timeline, busy_ns, err);
    if (status != SL_OK) return status;
    find_saved(timeline, pinned, saved_ns);
    for (int unit = 0; unit < sl__unit_count(timeline); unit++) {
        *work_ns = sl__max(*work_ns, busy_ns[unit] - saved_ns[unit]);
        if (busy_ns[unit] <= bounds->busiest_engine_ns) continue;
        bounds->busiest_engine_ns = busy_ns[unit];
        bounds->busiest_engine = (sl_engine)(unit % SL_ENGINES);
        bounds->busiest_place = unit / SL_ENGINES;
    }
    return SL_OK;
}

sl_status sl_timeline_bounds(const sl_timeline *timeline, sl_bounds *bounds, sl_error *err)
{
    sl_bounds found = { .busiest_engine = SL_ENGINE_COMPUTE };
    const sl__pinned pinned = sl__pinned_find(timeline);
    const size_t n = sl_timeline_span_count(timeline);
    for (size_t i = 0; i < n; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        found.serial_ns = sl__add_ns(found.serial_ns, span.end_ns - span.start_ns);
    }
    int64_t work_ns = 0;
    sl_status status = busiest_engine(timeline, &pinned, &found, &work_ns, err);
    if (status == SL_OK) status = critical_paths(timeline, &pinned, &found, err);
    if (status != SL_OK) return status;
    const int64_t makespan_ns = sl_timeline_makespan_ns(timeline);
    found.lower_ns = sl__min(sl__max(work_ns, found.lower_ns), makespan_ns);
    found.unblocked_ns = sl__min(sl__max(work_ns, found.unblocked_ns), makespan_ns);
    *bounds = found;
    return SL_OK;
}
