/* arrows.c - arrows from work to what waited for it.
 *
 * Arrows are found in one pass over spans and calls in order of issue. What a call or a record
 * stands behind is what the rules of streams say (rules.h): a joint reaches as far as the span that
 * ends last of all that leads to it, so that a chain of streams that only pass an event on still
 * leads back to the work. Each stream keeps the waits that no span has followed yet; the next span
 * takes them all.
 */
#include "pictures.h"

#include <stdlib.h>

#include "../timeline/rules.h"

#define NONE SIZE_MAX

/* A stream: indices of spans and calls, or NONE. */
typedef struct tail {
    size_t last;       /* span */
    size_t first_wait; /* call: the waits that no span has followed, the newest first */
} tail;

typedef struct finder {
    const sl_timeline *timeline;
    size_t n_calls;
    sl_arrow_kind kind;
    int64_t from_ns, to_ns;
    sl__rules rules;
    sl__board board;   /* of spans, by when they end */
    tail *tails;       /* by lane */
    size_t *source;    /* by call, of waits: the span that they wait for */
    size_t *next_wait; /* by call */
    sl_arrow *at;
    size_t n, cap;
    bool failed;
} finder;

static void finder_close(finder *f)
{
    sl__rules_close(&f->rules);
    sl__board_close(&f->board);
    free(f->tails);
    free(f->source);
    free(f->next_wait);
}

static sl_status finder_open(const sl_timeline *timeline, finder *f, sl_error *err)
{
    f->timeline = timeline;
    f->n_calls = sl_timeline_call_count(timeline);
    sl_status status = sl__rules_open(timeline, &f->rules, err);
    if (status != SL_OK) return status;
    const size_t n_lanes = f->rules.lanes.n;
    f->tails = malloc((n_lanes + 1) * sizeof *f->tails);
    f->source = malloc((f->n_calls + 1) * sizeof *f->source);
    f->next_wait = malloc((f->n_calls + 1) * sizeof *f->next_wait);
    status = sl__board_open(&f->rules, &f->board, err);
    if (status == SL_OK && (!f->tails || !f->source || !f->next_wait))
        status = sl__no_memory(err, "the arrows between %zu calls", f->n_calls);
    for (size_t i = 0; i < n_lanes && status == SL_OK; i++)
        f->tails[i] = (tail){ NONE, NONE };
    if (status != SL_OK) finder_close(f);
    return status;
}

static int64_t end_of(const finder *f, size_t span)
{
    return sl_timeline_span(f->timeline, span).end_ns;
}

static void add_arrow(finder *f, sl_arrow_kind kind, const sl_arrow *arrow)
{
    bool shown = kind == f->kind && arrow->from_ns >= f->from_ns && arrow->from_ns <= f->to_ns
                 && arrow->to_ns >= f->from_ns && arrow->to_ns <= f->to_ns;
    if (!shown || f->failed) return;
    f->failed = !SL__GROW(f->at, f->cap, f->n + 1);
    if (!f->failed) f->at[f->n++] = *arrow;
}

/* A span follows a wait for an event; `ready_ns` is when it could have started without. */
static void add_event(finder *f, const sl_span *span, size_t wait, int64_t ready_ns)
{
    sl_span source = sl_timeline_span(f->timeline, f->source[wait]);
    sl_arrow arrow = {
        .from_ns = source.end_ns,
        .to_ns = span->start_ns,
        .from = source.correlation,
        .to = span->correlation,
        .wait = sl_timeline_call(f->timeline, wait).correlation,
        .held_ns = sl__max(0, source.end_ns - ready_ns),
        .from_stream = source.stream,
        .to_stream = span->stream,
    };
    add_arrow(f, SL_ARROW_EVENT, &arrow);
}

/* The call returned because the work up to `source` had ended. One that was not held, or
 * not by this, has no arrow. */
static void add_host(finder *f, const sl_call *call, size_t source)
{
    if (source == NONE) return;
    sl_span span = sl_timeline_span(f->timeline, source);
    if (span.end_ns <= call->host_start_ns || span.end_ns > call->host_end_ns) return;
    sl_arrow arrow = {
        .from_ns = span.end_ns,
        .to_ns = call->host_end_ns,
        .from = span.correlation,
        .to = call->correlation,
        .wait = call->correlation,
        .held_ns = span.end_ns - call->host_start_ns,
        .from_stream = span.stream,
        .to_stream = call->stream,
    };
    add_arrow(f, SL_ARROW_HOST, &arrow);
}

static void take_span(finder *f, const sl_span *span, size_t index, tail *t)
{
    int64_t ready_ns = span->host_start_ns;
    if (t->last != NONE) ready_ns = sl__max(ready_ns, end_of(f, t->last));
    for (size_t wait = t->first_wait; wait != NONE; wait = f->next_wait[wait])
        add_event(f, span, wait, ready_ns);
    *t = (tail){ index, NONE };
}

/* The same work waited for twice is one arrow. */
static void take_wait(finder *f, const sl_call *call, size_t index, size_t source, tail *t)
{
    if (source == NONE || sl_timeline_span(f->timeline, source).stream == call->stream
        || (t->first_wait != NONE && f->source[t->first_wait] == source))
        return;
    f->source[index] = source;
    f->next_wait[index] = t->first_wait;
    t->first_wait = index;
}

/* Which span a record or a wait stands behind; what the host had waited for before is no part of
 * it. */
static sl__reach reach_of(const finder *f, const sl__ruling *ruling)
{
    sl__reach latest = { SL__NEVER, NONE };
    for (int k = 0; k < ruling->n_behind; k++) {
        const sl__reach *behind = &f->board.at[ruling->behind[k].joint];
        if (ruling->behind[k].cause != SL_CAUSE_HOST_BLOCKED && behind->ns >= latest.ns)
            latest = *behind;
    }
    return latest;
}

static void take_issue(finder *f, const sl__reading *at)
{
    const sl__issue *issue = &at->issue;
    sl__ruling ruling;
    sl__rules_of(&f->rules, issue, &ruling);
    const uint32_t awaited = issue->kind == SL__ISSUE_WAIT ? issue->joint
                                                           : sl__awaited_joint(&f->rules, issue);
    const size_t source = awaited != SL__NO_JOINT ? f->board.at[awaited].item : NONE;
    tail *t = &f->tails[issue->lane];
    sl__board_wait(&f->board, &ruling);
    if (!at->at.is_call)
        take_span(f, &at->at.span, at->at.index, t);
    else if (issue->kind == SL__ISSUE_WAIT)
        take_wait(f, &at->at.call, at->at.index, source, t);
    else
        add_host(f, &at->at.call, source);
    sl__reach span = { at->at.span.end_ns, at->at.index };
    if (ruling.is_operation)
        sl__board_put(&f->board, &ruling, at->at.is_call ? reach_of(f, &ruling) : span);
}

SL__ORDER(by_issue, sl_arrow, x->to, x->wait);

SL__ORDER(by_held, sl_arrow, SL__DOWN(x->held_ns), x->to, x->wait);

static void keep_longest(sl_arrows *arrows, size_t max)
{
    if (arrows->n <= max) return;
    qsort(arrows->at, arrows->n, sizeof *arrows->at, by_held);
    arrows->n_left_out = arrows->n - max;
    arrows->n = max;
}

sl_status sl_arrows_find(const sl_timeline *timeline, sl_arrow_kind kind, int64_t from_ns,
                         int64_t to_ns, size_t max, sl_arrows *arrows, sl_error *err)
{
    *arrows = (sl_arrows){ 0 };
    finder f = { .kind = kind, .from_ns = from_ns, .to_ns = to_ns };
    sl_status status = finder_open(timeline, &f, err);
    if (status != SL_OK) return status;
    for (sl__reading at = sl__rules_read(&f.rules); sl__reading_next(&at);)
        take_issue(&f, &at);
    finder_close(&f);
    *arrows = (sl_arrows){ .at = f.at, .n = f.n };
    if (f.failed) {
        sl_arrows_free(arrows);
        return sl__no_memory(err, "the arrows between %zu calls", f.n_calls);
    }
    keep_longest(arrows, max);
    if (arrows->n > 0) qsort(arrows->at, arrows->n, sizeof *arrows->at, by_issue);
    return SL_OK;
}

void sl_arrows_free(sl_arrows *arrows)
{
    free(arrows->at);
    *arrows = (sl_arrows){ 0 };
}
