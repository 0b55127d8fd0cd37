/* steps.c - steps, and what the host and the GPU did in two of them. What the host's time went to
 * is one sweep over the calls and ranges of a thread: at each instant it was in the innermost of
 * those that are open.
 */
#include "steps.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../base.h"
#include "keys.h"
#include "overlap.h"
#include "store.h"

/* ---- the list -------------------------------------------------------------------------- */

SL__ORDER(by_start, sl_step, x->start_ns, x->end_ns, x->name);

static sl_step step_at(const sl_timeline *timeline, size_t index, const sl__union *busy)
{
    const sl_host_range range = sl_timeline_host_range(timeline, index);
    return (sl_step){ .name = range.name,
                      .start_ns = range.start_ns,
                      .end_ns = range.end_ns,
                      .busy_ns = sl__union_measure_ns(busy, range.start_ns, range.end_ns) };
}

sl_status sl_timeline_steps(const sl_timeline *timeline, sl_step **steps, size_t *n, sl_error *err)
{
    const size_t first = sl_timeline_host_ranges_of(timeline, SL_HOST_RANGE_STEP, n);
    sl__union busy;
    *steps = calloc(*n + 1, sizeof **steps);
    sl_status status = *steps ? SL_OK : sl__no_memory(err, "%zu steps", *n);
    if (status == SL_OK && *n > 0) status = sl__union_collect(timeline, &sl_select_all, &busy, err);
    if (status != SL_OK) {
        free(*steps);
        *steps = NULL;
    }
    if (status != SL_OK || *n == 0) return status;
    for (size_t i = 0; i < *n; i++)
        (*steps)[i] = step_at(timeline, first + i, &busy);
    sl__union_free(&busy);
    sl__sort(*steps, *n, sizeof **steps, by_start);
    return SL_OK;
}

typedef struct length {
    int64_t ns;
    size_t step;
} length;

SL__ORDER(by_length, length, x->ns, x->step);

bool sl_steps_extremes(const sl_step *steps, size_t n, size_t *median, size_t *slowest)
{
    length *lengths = n < 2 ? NULL : malloc(n * sizeof *lengths);
    if (!lengths) return false;
    for (size_t i = 0; i < n; i++)
        lengths[i] = (length){ steps[i].end_ns - steps[i].start_ns, i };
    sl__sort(lengths, n, sizeof *lengths, by_length);
    *median = lengths[(n - 1) / 2].step;
    *slowest = lengths[n - 1].step;
    free(lengths);
    return true;
}

/* ---- two of them ----------------------------------------------------------------------- */

enum { WAS, IS, BOTH };

typedef struct stretch { /* of the host's time, in one of the two */
    int64_t start_ns, end_ns;
    bool is_call; /* lies within ranges that begin with it */
    uint32_t row;
} stretch;

typedef struct stretches {
    stretch *at;
    size_t n, cap;
} stretches;

typedef struct difference {
    const sl_timeline *timeline;
    sl_step of[BOTH];
    uint32_t caller;
    sl__keys keys; /* part, and what tells one of its rows from the others */
    sl_step_change *rows;
    size_t cap_rows;
    stretches host[BOTH];
    size_t *open; /* stretches that are, the innermost last */
    size_t cap_open;
} difference;

static void difference_close(difference *d)
{
    sl__keys_free(&d->keys);
    free(d->rows);
    free(d->host[WAS].at);
    free(d->host[IS].at);
    free(d->open);
}

/* The number of the row; false: no memory. */
static bool row_of(difference *d, sl_step_part part, uint32_t kind, uint32_t text, const char *name,
                   uint32_t *row)
{
    const uint64_t key = (uint64_t)part << 40 | (uint64_t)kind << 32 | text;
    const size_t known = d->keys.n;
    size_t at;
    if (!sl__keys_number(&d->keys, &key, &at) || !SL__GROW(d->rows, d->cap_rows, at + 1))
        return false;
    if (at == known) d->rows[at] = (sl_step_change){ .part = part, .name = name, .text = text };
    *row = (uint32_t)at;
    return true;
}

static void count(difference *d, int which, uint32_t row, int64_t ns)
{
    sl_step_change *r = &d->rows[row];
    int64_t *sum = which == IS ? &r->is_ns : &r->was_ns;
    *sum = sl__add_ns(*sum, ns);
}

static void count_one(difference *d, int which, uint32_t row)
{
    size_t *n = which == IS ? &d->rows[row].n_is : &d->rows[row].n_was;
    ++*n;
}

static bool is_in(const sl_step *step, int64_t ns)
{
    return ns >= step->start_ns && ns < step->end_ns;
}

/* ---- the host -------------------------------------------------------------------------- */

/* Cut to what lies in the step; true if nothing does. */
static bool add_stretch(difference *d, int which, stretch s)
{
    const sl_step *step = &d->of[which];
    stretches *to = &d->host[which];
    if (is_in(step, s.start_ns)) count_one(d, which, s.row);
    s.start_ns = sl__max(s.start_ns, step->start_ns);
    s.end_ns = sl__min(s.end_ns, step->end_ns);
    if (s.start_ns >= s.end_ns) return true;
    if (!SL__GROW(to->at, to->cap, to->n + 1)) return false;
    to->at[to->n++] = s;
    return true;
}

static bool reaches(const difference *d, int which, int64_t start_ns, int64_t end_ns)
{
    return start_ns < d->of[which].end_ns && end_ns > d->of[which].start_ns;
}

static bool reaches_one(const difference *d, int64_t start_ns, int64_t end_ns)
{
    return reaches(d, WAS, start_ns, end_ns) || reaches(d, IS, start_ns, end_ns);
}

static bool add_both(difference *d, stretch s)
{
    for (int which = WAS; which < BOTH; which++)
        if (reaches(d, which, s.start_ns, s.end_ns) && !add_stretch(d, which, s)) return false;
    return true;
}

static bool waits(const sl_call *call)
{
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_STREAM_SYNC:
    case SL_CALL_EVENT_SYNC:
    case SL_CALL_DEVICE_SYNC: return true;
    case SL_CALL_PLAIN: return call->waited_for_device != 0;
    case SL_CALL_EVENT_RECORD:
    case SL_CALL_STREAM_WAIT:
    case SL_CALL_HOST_WORK:
    case SL_CALL_KINDS: break;
    }
    return false;
}

static bool has_own_name(const sl_call *call)
{
    return call->kind == SL_CALL_PLAIN || call->kind == SL_CALL_HOST_WORK;
}

static bool add_call(difference *d, const sl_call *call)
{
    stretch s = { call->host_start_ns, call->host_end_ns, true, 0 };
    const char *name = sl_call_name(d->timeline, call);
    return !reaches_one(d, s.start_ns, s.end_ns)
           || sl_timeline_caller(d->timeline, call->correlation) != d->caller
           || sl_timeline_call_launch(d->timeline, call) != SL_NOT_FOUND
           || (row_of(d, waits(call) ? SL_STEP_WAIT : SL_STEP_CALL, call->kind + 1U,
                      has_own_name(call) ? call->name : 0, name, &s.row)
               && add_both(d, s));
}

static sl_status add_calls(difference *d, sl_error *err)
{
    const size_t n = sl_timeline_call_count(d->timeline);
    for (size_t i = 0; i < n; i++) {
        const sl_call call = sl_timeline_call(d->timeline, i);
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        if (!add_call(d, &call)) return sl__no_memory(err, "the calls of a step");
    }
    return SL_OK;
}

static bool add_launch(difference *d, const sl_span *span)
{
    stretch s = { span->host_start_ns, span->host_end_ns, true, 0 };
    const sl_step_part part = span->flags & SL_SPAN_HOST_WAITED ? SL_STEP_WAIT : SL_STEP_CALL;
    return !reaches_one(d, s.start_ns, s.end_ns)
           || sl_timeline_caller(d->timeline, span->correlation) != d->caller
           || sl_timeline_span_launch(d->timeline, span) != SL_NOT_FOUND
           || (row_of(d, part, SL_CALL_KINDS + 1U + span->kind, 0, sl_span_call_name(span), &s.row)
               && add_both(d, s));
}

/* What PyTorch and Python do in functions of their own counts for what called them. A range that
 * is a step as well ("step 3") is no part of it. */
static bool is_step_itself(const sl_step *step, const sl_host_range *range)
{
    return range->name == step->name
           || (range->start_ns == step->start_ns && range->end_ns == step->end_ns);
}

static bool counts(const difference *d, const sl_host_range *range)
{
    return range->kind != SL_HOST_RANGE_STEP && range->kind != SL_HOST_RANGE_LIBRARY
           && !is_step_itself(&d->of[WAS], range) && !is_step_itself(&d->of[IS], range)
           && sl_timeline_host_thread(d->timeline, range->thread).caller == d->caller
           && reaches_one(d, range->start_ns, range->end_ns);
}

static sl_status add_ranges(difference *d, sl_error *err)
{
    const size_t n = sl_timeline_host_range_count(d->timeline);
    for (size_t i = 0; i < n; i++) {
        const sl_host_range range = sl_timeline_host_range(d->timeline, i);
        stretch s = { range.start_ns, range.end_ns, false, 0 };
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        if (counts(d, &range)
            && (!row_of(d, SL_STEP_RANGE, 0, range.name, sl_timeline_text(d->timeline, range.name),
                        &s.row)
                || !add_both(d, s)))
            return sl__no_memory(err, "the ranges of a step");
    }
    return SL_OK;
}

SL__ORDER(outermost_first, stretch, x->start_ns, SL__DOWN(x->end_ns), x->is_call);

/* Credits the time up to `ns` to the innermost that is open, or to none. */
static void pass(difference *d, int which, size_t *n_open, int64_t *at_ns, int64_t ns,
                 uint32_t nothing)
{
    const stretch *all = d->host[which].at;
    while (*n_open > 0) {
        const stretch *top = &all[d->open[*n_open - 1]];
        if (top->end_ns > ns) break;
        if (top->end_ns > *at_ns) {
            count(d, which, top->row, top->end_ns - *at_ns);
            *at_ns = top->end_ns;
        }
        --*n_open;
    }
    const uint32_t row = *n_open > 0 ? all[d->open[*n_open - 1]].row : nothing;
    if (ns > *at_ns) count(d, which, row, ns - *at_ns);
    *at_ns = sl__max(*at_ns, ns);
}

static sl_status share_out(difference *d, int which, sl_error *err)
{
    stretches *host = &d->host[which];
    int64_t at_ns = d->of[which].start_ns;
    size_t n_open = 0;
    uint32_t nothing;
    if (!row_of(d, SL_STEP_HOST, 0, 0, "", &nothing) || !SL__GROW(d->open, d->cap_open, host->n))
        return sl__no_memory(err, "the time of a step");
    if (host->n > 0) sl__sort(host->at, host->n, sizeof *host->at, outermost_first);
    for (size_t i = 0; i < host->n; i++) {
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        pass(d, which, &n_open, &at_ns, host->at[i].start_ns, nothing);
        d->open[n_open++] = i;
    }
    pass(d, which, &n_open, &at_ns, d->of[which].end_ns, nothing);
    return SL_OK;
}

/* ---- the GPU --------------------------------------------------------------------------- */

static bool add_operation(difference *d, const sl_span *span)
{
    uint32_t row;
    for (int which = WAS; which < BOTH; which++) {
        if (!is_in(&d->of[which], span->host_start_ns)) continue;
        if (!row_of(d, SL_STEP_GPU, 0, span->name, sl_timeline_text(d->timeline, span->name), &row))
            return false;
        count(d, which, row, span->end_ns - span->start_ns);
        count_one(d, which, row);
    }
    return add_launch(d, span);
}

static sl_status add_operations(difference *d, sl_error *err)
{
    const size_t n = sl_timeline_span_count(d->timeline);
    for (size_t i = 0; i < n; i++) {
        const sl_span span = sl_timeline_span(d->timeline, i);
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        if (!add_operation(d, &span)) return sl__no_memory(err, "the operations of a step");
    }
    return SL_OK;
}

/* ---- both ------------------------------------------------------------------------------ */

/* The caller that launched most of the step's operations, the first of equal ones. */
static sl_status find_caller(difference *d, sl_error *err)
{
    const size_t n = sl_timeline_span_count(d->timeline);
    const uint32_t n_callers = sl_timeline_caller_count(d->timeline);
    size_t *launched = calloc(n_callers, sizeof *launched);
    if (!launched) return sl__no_memory(err, "%" PRIu32 " callers", n_callers);
    for (size_t i = 0; i < n; i++) {
        const sl_span span = sl_timeline_span(d->timeline, i);
        if (!is_in(&d->of[IS], span.host_start_ns)) continue;
        const uint32_t caller = sl_timeline_caller(d->timeline, span.correlation);
        launched[caller]++;
        if (launched[caller] > launched[d->caller]
            || (launched[caller] == launched[d->caller] && caller < d->caller))
            d->caller = caller;
    }
    free(launched);
    return sl_interrupt_check(err);
}

SL__ORDER(by_growth, sl_step_change, SL__DOWN(x->is_ns - x->was_ns), x->part, x->text);

static sl_status compare(difference *d, sl_error *err)
{
    sl_status status = find_caller(d, err);
    if (status == SL_OK) status = add_operations(d, err);
    if (status == SL_OK) status = add_calls(d, err);
    if (status == SL_OK) status = add_ranges(d, err);
    for (int which = WAS; which < BOTH && status == SL_OK; which++)
        status = share_out(d, which, err);
    return status;
}

sl_status sl_timeline_step_changes(const sl_timeline *timeline, const sl_step *was,
                                   const sl_step *is, sl_step_change **changes, size_t *n,
                                   sl_error *err)
{
    difference d = { .timeline = timeline, .of = { *was, *is } };
    const sl_status status = compare(&d, err);
    *changes = NULL;
    *n = 0;
    if (status == SL_OK) {
        *changes = d.rows;
        *n = d.keys.n;
        sl__sort(d.rows, d.keys.n, sizeof *d.rows, by_growth);
        d.rows = NULL;
    }
    difference_close(&d);
    return status;
}

const char *sl_step_part_name(sl_step_part part)
{
    static const char *const names[SL_STEP_PARTS] = {
        [SL_STEP_CALL] = "call", [SL_STEP_WAIT] = "wait", [SL_STEP_RANGE] = "range",
        [SL_STEP_HOST] = "host", [SL_STEP_GPU] = "gpu",
    };
    return (unsigned)part < SL_STEP_PARTS ? names[part] : "unknown";
}
