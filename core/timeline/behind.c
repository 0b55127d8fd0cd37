/* behind.c - which operations each one comes behind: clocks of streams. */
#include "behind.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "store.h"

static size_t width(const sl__behind *b) { return b->rules.lanes.n; }

static uint32_t *clock_of_joint(const sl__behind *b, uint32_t joint)
{
    return b->clocks + joint * width(b);
}

/* That of a record or a wait, for a moment, stands behind those of all operations. */
static uint32_t *clock_of_op(const sl__behind *b, size_t op)
{
    return b->clocks + (b->rules.n_joints + op) * width(b);
}

static void join(const sl__behind *b, uint32_t *into, const uint32_t *from)
{
    for (size_t lane = 0; lane < width(b); lane++)
        if (from[lane] > into[lane]) into[lane] = from[lane];
}

/* ---- life ------------------------------------------------------------------------- */

static void count_ops(sl__behind *b)
{
    const sl_timeline *timeline = b->rules.timeline;
    const size_t n = sl_timeline_span_count(timeline);
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        b->lanes[sl__lanes_find(&b->rules.lanes, sl_timeline_span(timeline, i).stream)].n++;
    for (size_t lane = 0; lane < width(b); lane++) {
        b->lanes[lane].first = total;
        total += b->lanes[lane].n;
        b->lanes[lane].n = 0;
    }
}

static bool allocate(sl__behind *b, size_t n_spans)
{
    const size_t n_clocks = b->rules.n_joints + n_spans + 1, n = width(b) + 1;
    if (n_clocks > SIZE_MAX / sizeof *b->clocks / n) return false;
    b->clocks = calloc(n_clocks * n, sizeof *b->clocks);
    b->lanes = calloc(n, sizeof *b->lanes);
    b->targets = calloc(n, sizeof *b->targets);
    return b->clocks && b->lanes && b->targets;
}

sl_status sl__behind_open(const sl_timeline *timeline, sl__behind *b, sl_error *err)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    *b = (sl__behind){ 0 };
    sl_status status = sl__rules_open(timeline, &b->rules, err);
    if (status != SL_OK) return status;
    if (!allocate(b, n_spans)) {
        const size_t n_lanes = width(b);
        sl__behind_close(b);
        return sl__no_memory(err, "what %zu operations in %zu streams wait for", n_spans, n_lanes);
    }
    count_ops(b);
    return SL_OK;
}

void sl__behind_close(sl__behind *b)
{
    free(b->clocks);
    free(b->lanes);
    free(b->targets);
    sl__rules_close(&b->rules);
}

/* ---- questions ---------------------------------------------------------------------- */

static size_t op_at(const sl__behind *b, size_t lane, uint32_t nth)
{
    return b->lanes[lane].first + nth - 1;
}

static bool is_at(const sl__behind *b, size_t lane, int place)
{
    return place == SL__EVERY_PLACE || b->rules.of[lane].place == (uint32_t)place;
}

/* Whether another one of them comes behind the `nth` of the lane. */
static bool is_implied(const sl__behind *b, const uint32_t *wanted, size_t lane, int place)
{
    for (size_t other = 0; other < width(b); other++) {
        if (other == lane || wanted[other] == 0) continue;
        if (!is_at(b, other, place)) continue;
        if (clock_of_op(b, op_at(b, other, wanted[other]))[lane] >= wanted[lane]) return true;
    }
    return false;
}

static void find_targets(sl__behind *b, const uint32_t *wanted, int place)
{
    b->n_targets = 0;
    for (size_t lane = 0; lane < width(b); lane++) {
        if (wanted[lane] > 0 && is_at(b, lane, place) && !is_implied(b, wanted, lane, place))
            b->targets[b->n_targets++] = op_at(b, lane, wanted[lane]);
    }
}

size_t sl__behind_last(const sl__behind *b, uint32_t lane)
{
    return b->lanes[lane].n == 0 ? SL__NO_OP : op_at(b, lane, b->lanes[lane].n);
}

/* Its clock counts the operation itself. */
void sl__behind_find(sl__behind *b, size_t op, int place)
{
    uint32_t *clock = clock_of_op(b, op);
    size_t lane = 0;
    while (lane + 1 < width(b) && b->lanes[lane + 1].first <= op)
        lane++;
    clock[lane]--;
    find_targets(b, clock, place);
    clock[lane]++;
}

/* ---- adding ------------------------------------------------------------------------------ */

size_t sl__behind_add(sl__behind *b, const sl__issue *issue)
{
    const sl__ruling ruling = sl__rules_of(&b->rules, issue);
    sl__behind_lane *lane = &b->lanes[issue->lane];
    const size_t n_spans = sl_timeline_span_count(b->rules.timeline);
    const bool is_span = issue->kind == SL__ISSUE_SPAN;
    const size_t op = is_span ? op_at(b, issue->lane, ++lane->n) : SL__NO_OP;
    uint32_t *clock = clock_of_op(b, is_span ? op : n_spans);
    for (int k = 0; k < ruling.n_passed; k++)
        join(b, clock_of_joint(b, ruling.passed[k].into), clock_of_joint(b, ruling.passed[k].from));
    memset(clock, 0, width(b) * sizeof *clock);
    for (int k = 0; k < ruling.n_behind; k++)
        join(b, clock, clock_of_joint(b, ruling.behind[k].joint));
    if (is_span) {
        find_targets(b, clock, SL__EVERY_PLACE);
        clock[issue->lane] = lane->n;
    }
    for (int k = 0; k < ruling.n_into; k++)
        join(b, clock_of_joint(b, ruling.into[k].joint), clock);
    return op;
}
