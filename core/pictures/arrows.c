/* arrows.c - arrows from work to what waited for it.
 *
 * Arrows are found in one pass over spans and calls in order of issue. Each stream keeps the span
 * that its work so far ended with, and the waits that no span has followed yet; the next span takes
 * them all. A record's source is the last work that its stream did or waited for, so that a chain
 * of streams that only pass an event on still leads back to the work.
 */
#include "arrows.h"

#include <stdlib.h>

#include "../timeline/lanes.h"
#include "../timeline/store.h"

#define NONE SIZE_MAX

/* A stream: indices of spans and calls, or NONE. */
typedef struct tail {
    size_t last;       /* span */
    size_t source;     /* span: the last work done or waited for */
    size_t first_wait; /* call: the waits that no span has followed, the newest first */
} tail;

typedef struct finder {
    const sl_timeline *timeline;
    size_t n_calls;
    sl__arrow_kind kind;
    int64_t from_ns, to_ns;
    sl__lanes lanes;
    tail *tails;       /* by lane */
    size_t *source;    /* by call, of records and waits: the span at its end, or NONE */
    size_t *next_wait; /* by call */
    size_t blocking;   /* span: the latest end in blocking streams */
    size_t latest;     /* span: the latest end of all */
    sl__arrow *at;
    size_t n, cap;
    bool failed;
} finder;

static void finder_close(finder *f)
{
    sl__lanes_free(&f->lanes);
    free(f->tails);
    free(f->source);
    free(f->next_wait);
}

static sl_status finder_open(const sl_timeline *timeline, finder *f, sl_error *err)
{
    f->timeline = timeline;
    f->n_calls = sl_timeline_call_count(timeline);
    f->blocking = f->latest = NONE;
    sl_status status = sl__lanes_collect(timeline, true, &f->lanes, err);
    if (status != SL_OK) return status;
    f->tails = malloc((f->lanes.n + 1) * sizeof *f->tails);
    f->source = malloc((f->n_calls + 1) * sizeof *f->source);
    f->next_wait = malloc((f->n_calls + 1) * sizeof *f->next_wait);
    if (!f->tails || !f->source || !f->next_wait) {
        finder_close(f);
        return sl__no_memory(err, "the arrows between %zu calls", f->n_calls);
    }
    for (size_t i = 0; i < f->lanes.n; i++)
        f->tails[i] = (tail){ NONE, NONE, NONE };
    for (size_t i = 0; i < f->n_calls; i++) /* a wait may name a record that comes later */
        f->source[i] = NONE;
    return SL_OK;
}

static tail *tail_of(finder *f, uint32_t stream)
{
    return &f->tails[sl__lanes_find(&f->lanes, stream)];
}

static int64_t end_of(const finder *f, size_t span)
{
    return sl_timeline_span(f->timeline, span).end_ns;
}

/* Of two spans the one that ends later; either may be NONE. */
static size_t later(const finder *f, size_t a, size_t b)
{
    if (a == NONE || b == NONE) return a == NONE ? b : a;
    return end_of(f, b) >= end_of(f, a) ? b : a;
}

static void add_arrow(finder *f, sl__arrow_kind kind, const sl__arrow *arrow)
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
    sl__arrow arrow = {
        .from_ns = source.end_ns,
        .to_ns = span->start_ns,
        .from = source.correlation,
        .to = span->correlation,
        .wait = sl_timeline_call(f->timeline, wait).correlation,
        .held_ns = sl__max_ns(0, source.end_ns - ready_ns),
        .from_stream = source.stream,
        .to_stream = span->stream,
    };
    add_arrow(f, SL__ARROW_EVENT, &arrow);
}

/* The call returned because the work up to `source` had ended. One that was not held, or
 * not by this, has no arrow. */
static void add_host(finder *f, const sl_call *call, size_t source)
{
    if (source == NONE) return;
    sl_span span = sl_timeline_span(f->timeline, source);
    if (span.end_ns <= call->host_start_ns || span.end_ns > call->host_end_ns) return;
    sl__arrow arrow = {
        .from_ns = span.end_ns,
        .to_ns = call->host_end_ns,
        .from = span.correlation,
        .to = call->correlation,
        .wait = call->correlation,
        .held_ns = span.end_ns - call->host_start_ns,
        .from_stream = span.stream,
        .to_stream = call->stream,
    };
    add_arrow(f, SL__ARROW_HOST, &arrow);
}

static void take_span(finder *f, const sl_span *span, size_t index)
{
    tail *t = tail_of(f, span->stream);
    int64_t ready_ns = span->host_start_ns;
    if (t->last != NONE) ready_ns = sl__max_ns(ready_ns, end_of(f, t->last));
    for (size_t wait = t->first_wait; wait != NONE; wait = f->next_wait[wait])
        add_event(f, span, wait, ready_ns);
    *t = (tail){ index, index, NONE };
    const sl_stream_note *note = sl__timeline_note(f->timeline, span->stream);
    if (!note || !note->non_blocking) f->blocking = later(f, f->blocking, index);
    f->latest = later(f, f->latest, index);
}

/* The source of the record with this correlation. */
static size_t record_source(const finder *f, uint64_t correlation)
{
    size_t call = sl_timeline_find_call(f->timeline, correlation);
    bool is_record = call != SL_NOT_FOUND
                     && sl_timeline_call(f->timeline, call).kind == SL_CALL_EVENT_RECORD;
    return is_record ? f->source[call] : NONE;
}

/* The same work waited for twice is one arrow. */
static void take_wait(finder *f, const sl_call *call, size_t index)
{
    tail *t = tail_of(f, call->stream);
    size_t source = record_source(f, call->target);
    f->source[index] = source;
    if (source == NONE || sl_timeline_span(f->timeline, source).stream == call->stream
        || (t->first_wait != NONE && f->source[t->first_wait] == source))
        return;
    f->next_wait[index] = t->first_wait;
    t->first_wait = index;
    t->source = later(f, t->source, source);
}

static void take_call(finder *f, const sl_call *call, size_t index)
{
    f->source[index] = NONE;
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD: /* the NULL stream's follow all blocking streams */
        f->source[index] = call->stream == 0 ? f->blocking : tail_of(f, call->stream)->source;
        break;
    case SL_CALL_STREAM_WAIT: take_wait(f, call, index); break;
    case SL_CALL_STREAM_SYNC: add_host(f, call, tail_of(f, call->stream)->source); break;
    case SL_CALL_EVENT_SYNC: add_host(f, call, record_source(f, call->target)); break;
    case SL_CALL_DEVICE_SYNC: add_host(f, call, f->latest); break;
    case SL_CALL_PLAIN:
        if (call->waited_for_device) add_host(f, call, f->latest);
        break;
    case SL_CALL_HOST_WORK:
    case SL_CALL_KINDS: break;
    }
}

static int by_issue(const void *left, const void *right)
{
    const sl__arrow *a = left, *b = right;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    return (a->wait > b->wait) - (a->wait < b->wait);
}

static int by_held(const void *left, const void *right)
{
    const sl__arrow *a = left, *b = right;
    if (a->held_ns != b->held_ns) return a->held_ns < b->held_ns ? 1 : -1;
    return by_issue(left, right);
}

static void keep_longest(sl__arrows *arrows, size_t max)
{
    if (arrows->n <= max) return;
    qsort(arrows->at, arrows->n, sizeof *arrows->at, by_held);
    arrows->n_left_out = arrows->n - max;
    arrows->n = max;
}

sl_status sl__arrows_find(const sl_timeline *timeline, sl__arrow_kind kind, int64_t from_ns,
                          int64_t to_ns, size_t max, sl__arrows *arrows, sl_error *err)
{
    *arrows = (sl__arrows){ 0 };
    finder f = { .kind = kind, .from_ns = from_ns, .to_ns = to_ns };
    sl_status status = finder_open(timeline, &f, err);
    if (status != SL_OK) return status;
    for (sl__issues at = { .timeline = timeline }; sl__issues_next(&at);) {
        if (at.is_call)
            take_call(&f, &at.call, at.index);
        else
            take_span(&f, &at.span, at.index);
    }
    finder_close(&f);
    *arrows = (sl__arrows){ .at = f.at, .n = f.n };
    if (f.failed) {
        sl__arrows_free(arrows);
        return sl__no_memory(err, "the arrows between %zu calls", f.n_calls);
    }
    keep_longest(arrows, max);
    if (arrows->n > 0) qsort(arrows->at, arrows->n, sizeof *arrows->at, by_issue);
    return SL_OK;
}

void sl__arrows_free(sl__arrows *arrows)
{
    free(arrows->at);
    *arrows = (sl__arrows){ 0 };
}
