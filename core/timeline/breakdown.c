/* breakdown.c - the time of operations by what they belong to: one sweep over all of them.
 *
 * A row that is the only busy one of its device is covered by nothing. Each device has a clock that
 * runs while that is so for one of its rows; the row reads it when it begins to be busy and when
 * it no longer is. Another clock, of all devices, runs the slower the more rows are busy: what a
 * row reads there is its part of the makespan.
 */
#include "timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "keys.h"
#include "phases.h"
#include "steps.h"
#include "store.h"
#include "sweep.h"

#define NO_ROW UINT32_MAX     /* of an operation that is left out */
#define COVERING (NO_ROW - 1) /* id of what covers communication: no text has it */

typedef struct row { /* of one device */
    uint32_t id;
    int place;
    int64_t first_ns; /* when the host began with the first of its operations */
    sl__tally tally;
    int64_t began_ns; /* its device's clock when it began to be busy */
    int64_t alone_ns;
    double shared_ns; /* the clock of all devices then, */
    double part_ns;   /* and how far it went while the row was busy */
    int64_t wall_ns, ran_ns;
} row;

typedef struct device {
    size_t n_busy;             /* rows, */
    bool is_covering;          /* and whether COVERING is one of them */
    int64_t clock_ns, seen_ns; /* how long one row was alone, up to the time of the last change */
} device;

typedef struct breakdown {
    const sl_timeline *timeline;
    sl_by by;
    sl__keys keys; /* by number of the row */
    row *rows;
    size_t cap_rows;
    uint32_t *node_lines; /* by LINE: of operators that made a node, by index of their range */
    sl__sweep sweep;
    device devices[SL_MOST_DEVICES];
    size_t n_busy;   /* rows of all devices */
    double clock_ns; /* the time in which any was, over how many were */
    int64_t seen_ns; /* up to this time */
} breakdown;

static void breakdown_close(breakdown *b)
{
    sl__keys_free(&b->keys);
    sl__sweep_free(&b->sweep);
    free(b->node_lines);
    free(b->rows);
}

/* ---- which row ------------------------------------------------------------------------- */

/* What the host was about when it launched the operation. Functions and modules are also those that
 * are open in the thread which waits for this one; operators are not. A call that takes no time is
 * one that the file does not have. */
static uint32_t range_of(const sl_timeline *timeline, const sl_span *span, sl_host_range_kind kind)
{
    if (span->host_start_ns >= span->host_end_ns) return 0;
    const uint32_t thread = sl_timeline_thread(timeline, span->correlation);
    const int64_t ns = span->host_start_ns;
    const size_t at = kind == SL_HOST_RANGE_OPERATOR
                          ? sl_timeline_find_host_range(timeline, kind, thread, ns)
                          : sl_timeline_find_range_of_caller(timeline, kind, thread, ns);
    return at == SL_NOT_FOUND ? 0 : sl_timeline_host_range(timeline, at).name;
}

/* Of an index, the innermost range around the start of that one in its thread. */
static uint32_t range_around(const sl_timeline *timeline, size_t index, sl_host_range_kind kind)
{
    if (index == SL_NOT_FOUND) return 0;
    const sl_host_range range = sl_timeline_host_range(timeline, index);
    return sl_timeline_host_range_name(timeline, kind, range.thread, range.start_ns);
}

static uint32_t module_of(const sl_timeline *timeline, const sl_span *span)
{
    const uint32_t module = range_of(timeline, span, SL_HOST_RANGE_MODULE);
    if (module != 0) return module;
    return range_around(timeline, sl_timeline_forward_operator(timeline, span),
                        SL_HOST_RANGE_MODULE);
}

/* What a graph ran has the line of its launch where it has none of its own. */
static uint32_t noted_line(const sl_timeline *timeline, const sl_span *span)
{
    if (span->where != 0) return span->where;
    const sl_launch_note *launch = sl_timeline_find_launch(timeline, span->correlation);
    size_t at = launch ? sl_timeline_find_call(timeline, launch->correlation) : SL_NOT_FOUND;
    return at == SL_NOT_FOUND ? 0 : sl_timeline_call(timeline, at).where;
}

static uint32_t line_of(const breakdown *b, const sl_span *span)
{
    const size_t forward = sl_timeline_forward_operator(b->timeline, span);
    uint32_t line = forward != SL_NOT_FOUND && b->node_lines ? b->node_lines[forward] : 0;
    if (line == 0) line = range_around(b->timeline, forward, SL_HOST_RANGE_PYTHON);
    if (line == 0) line = noted_line(b->timeline, span);
    return line != 0 ? line : range_of(b->timeline, span, SL_HOST_RANGE_PYTHON);
}

/* Of operators that launched something: a range itself has no line. */
static sl_status find_node_lines(breakdown *b, sl_error *err)
{
    const size_t n = sl_timeline_span_count(b->timeline);
    if (b->by != SL_BY_LINE || !sl_timeline_has_nodes(b->timeline)) return SL_OK;
    const size_t n_ranges = sl_timeline_host_range_count(b->timeline);
    b->node_lines = calloc(n_ranges, sizeof *b->node_lines);
    if (!b->node_lines) return sl__no_memory(err, "the lines of %zu ranges", n_ranges);
    for (size_t i = 0; i < n; i++) {
        const sl_span span = sl_timeline_span(b->timeline, i);
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        const size_t node = span.where != 0 ? sl_timeline_node_operator(b->timeline, &span)
                                            : SL_NOT_FOUND;
        if (node != SL_NOT_FOUND) b->node_lines[node] = span.where;
    }
    return SL_OK;
}

static uint32_t communication_of(const sl_span *span)
{
    if (span->kind == SL_SPAN_COLLECTIVE) return span->name;
    return span->kind == SL_SPAN_KERNEL ? COVERING : NO_ROW;
}

static uint32_t id_of(const breakdown *b, const sl_span *span)
{
    switch (b->by) {
    case SL_BY_KERNEL: return span->name;
    case SL_BY_OPERATOR: return range_of(b->timeline, span, SL_HOST_RANGE_OPERATOR);
    case SL_BY_MODULE: return module_of(b->timeline, span);
    case SL_BY_LINE: return line_of(b, span);
    case SL_BY_PHASE: return sl_timeline_phase(b->timeline, span);
    case SL_BY_STEP: return range_of(b->timeline, span, SL_HOST_RANGE_STEP);
    case SL_BY_STREAM: return span->stream;
    case SL_BY_COMMUNICATION: return communication_of(span);
    case SL_BYS: break;
    }
    return NO_ROW;
}

/* ---- times ----------------------------------------------------------------------------- */

/* The number of the row, which begins at `first_ns` or earlier; false: no memory. */
static bool row_of(breakdown *b, int place, uint32_t id, int64_t first_ns, size_t *at)
{
    const uint64_t key = (uint64_t)place << 32 | id;
    const size_t known = b->keys.n;
    if (!sl__keys_number(&b->keys, &key, at) || !SL__GROW(b->rows, b->cap_rows, *at + 1))
        return false;
    if (*at == known) b->rows[*at] = (row){ .id = id, .place = place, .first_ns = first_ns };
    b->rows[*at].first_ns = sl__min(b->rows[*at].first_ns, first_ns);
    return true;
}

static bool add_span(breakdown *b, const sl_span *span)
{
    const int place = sl_timeline_place(b->timeline, span->stream);
    const uint32_t id = id_of(b, span);
    size_t at;
    if (id == NO_ROW) return true;
    if (!row_of(b, place, id, span->host_start_ns, &at)) return false;
    sl__tally_count(&b->rows[at].tally, span);
    return sl__sweep_add(&b->sweep, span, (uint32_t)at);
}

/* A step has a row also if it launched nothing. */
static sl_status add_steps(breakdown *b, sl_error *err)
{
    sl_step *steps;
    size_t n, at;
    sl_status status = sl_timeline_steps(b->timeline, &steps, &n, err);
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        if (!row_of(b, 0, steps[i].name, steps[i].start_ns, &at)) {
            status = sl__no_memory(err, "the rows of %zu steps", n);
            break;
        }
        b->rows[at].wall_ns = sl__add_ns(b->rows[at].wall_ns, steps[i].end_ns - steps[i].start_ns);
        b->rows[at].ran_ns = sl__add_ns(b->rows[at].ran_ns, steps[i].busy_ns);
    }
    free(steps);
    return status;
}

static sl_status add_spans(breakdown *b, sl_error *err)
{
    const size_t n = sl_timeline_span_count(b->timeline);
    for (size_t i = 0; i < n; i++) {
        sl_span span = sl_timeline_span(b->timeline, i);
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        if (!add_span(b, &span)) return sl__no_memory(err, "the intervals of %zu operations", n);
    }
    return SL_OK;
}

static bool one_is_alone(const breakdown *b, const device *d)
{
    return b->by == SL_BY_COMMUNICATION ? !d->is_covering : d->n_busy == 1;
}

static void turn_part(breakdown *b, row *r, const sl__change *change)
{
    if (b->n_busy > 0) b->clock_ns += (double)(change->at_ns - b->seen_ns) / (double)b->n_busy;
    b->seen_ns = change->at_ns;
    if (change->starts) {
        r->shared_ns = b->clock_ns;
        b->n_busy++;
    } else {
        r->part_ns += b->clock_ns - r->shared_ns;
        b->n_busy--;
    }
}

static void turn(breakdown *b, const sl__change *change)
{
    row *r = &b->rows[change->row];
    device *d = &b->devices[r->place];
    if (!sl__tally_turn(&r->tally, change)) return;
    turn_part(b, r, change);
    if (one_is_alone(b, d)) d->clock_ns += change->at_ns - d->seen_ns;
    d->seen_ns = change->at_ns;
    d->n_busy = change->starts ? d->n_busy + 1 : d->n_busy - 1;
    if (r->id == COVERING) d->is_covering = change->starts;
    if (change->starts)
        r->began_ns = d->clock_ns;
    else
        r->alone_ns += d->clock_ns - r->began_ns;
}

/* ---- the result ------------------------------------------------------------------------ */

SL__ORDER(by_id, row, x->id, x->place);
SL__ORDER(by_sum, sl_share, SL__DOWN(x->sum_ns), x->id);
SL__ORDER(by_first, sl_share, x->id != 0, x->first_ns, x->id);

static void add_row(sl_share *share, const row *r)
{
    share->first_ns = sl__min(share->first_ns, r->first_ns);
    share->n += r->tally.n;
    share->sum_ns = sl__add_ns(share->sum_ns, r->tally.sum_ns);
    share->busy_ns = sl__add_ns(share->busy_ns, r->tally.busy_ns);
    share->covered_ns = sl__add_ns(share->covered_ns, r->tally.busy_ns - r->alone_ns);
    share->part_ns = sl__add_ns(share->part_ns, llround(r->part_ns));
    share->wall_ns = sl__add_ns(share->wall_ns, r->wall_ns);
    share->ran_ns = sl__add_ns(share->ran_ns, r->ran_ns);
}

/* One of several devices is put together with those of the others. */
static size_t collect(const breakdown *b, sl_share *shares)
{
    size_t n = 0;
    for (size_t i = 0; i < b->keys.n; i++) {
        const row *r = &b->rows[i];
        if (r->id == COVERING) continue;
        if (n == 0 || shares[n - 1].id != r->id)
            shares[n++] = (sl_share){ .id = r->id, .first_ns = r->first_ns };
        add_row(&shares[n - 1], r);
    }
    if (n > 1) qsort(shares, n, sizeof *shares, b->by == SL_BY_STEP ? by_first : by_sum);
    return n;
}

static sl_status measure(breakdown *b, sl_share **shares, size_t *n, sl_error *err)
{
    sl_status status = b->by == SL_BY_STEP ? add_steps(b, err) : SL_OK;
    if (status == SL_OK) status = find_node_lines(b, err);
    if (status == SL_OK) status = add_spans(b, err);
    if (status != SL_OK) return status;
    for (sl__change change; sl__sweep_next(&b->sweep, INT64_MAX, &change);)
        turn(b, &change);
    if (b->keys.n > 1) qsort(b->rows, b->keys.n, sizeof *b->rows, by_id);
    *shares = calloc(b->keys.n + 1, sizeof **shares);
    if (!*shares) return sl__no_memory(err, "%zu rows", b->keys.n);
    *n = collect(b, *shares);
    return SL_OK;
}

static sl_status refuse_summary(const sl_timeline *timeline, sl_by by, sl_error *err)
{
    if (!sl_timeline_is_summary(timeline)) return SL_OK;
    return sl_fail(err, SL_EUNSUPPORTED,
                   "the timeline keeps only a summary; its operations by %s need all of them",
                   sl_by_name(by));
}

sl_status sl_timeline_keys(const sl_timeline *timeline, sl_by by, uint32_t **ids, sl_error *err)
{
    const size_t n = sl_timeline_span_count(timeline);
    breakdown b = { .timeline = timeline, .by = by };
    *ids = NULL;
    sl_status status = refuse_summary(timeline, by, err);
    if (status == SL_OK) status = find_node_lines(&b, err);
    if (status == SL_OK && !(*ids = malloc((n + 1) * sizeof **ids)))
        status = sl__no_memory(err, "what %zu operations belong to", n);
    for (size_t i = 0; status == SL_OK && i < n && !sl__stops_at(i); i++) {
        const sl_span span = sl_timeline_span(timeline, i);
        (*ids)[i] = id_of(&b, &span);
    }
    free(b.node_lines);
    return status == SL_OK ? sl_interrupt_check(err) : status;
}

sl_status sl_timeline_breakdown(const sl_timeline *timeline, sl_by by, sl_share **shares, size_t *n,
                                sl_error *err)
{
    *shares = NULL;
    *n = 0;
    sl_status refused = refuse_summary(timeline, by, err);
    if (refused != SL_OK) return refused;
    breakdown *b = calloc(1, sizeof *b);
    if (!b) return sl__no_memory(err, "the rows of a timeline");
    b->timeline = timeline;
    b->by = by;
    sl_status status = measure(b, shares, n, err);
    breakdown_close(b);
    free(b);
    return status;
}

/* ---- names ----------------------------------------------------------------------------- */

static const char *const names[SL_BYS] = {
#define X(id, name) [SL_BY_##id] = name,
    SL_BY_MAP(X)
#undef X
};

const char *sl_by_name(sl_by by) { return (unsigned)by < SL_BYS ? names[by] : "unknown"; }

bool sl_by_parse(const char *name, sl_by *by)
{
    const int i = SL__FIND_NAME(names, *names, name);
    if (i >= 0) *by = (sl_by)i;
    return i >= 0;
}
