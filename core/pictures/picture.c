/* picture.c - what the pictures of a timeline share.
 *
 * Arrows are found in one pass over spans and calls in order of issue. Each stream
 * keeps the span that its work so far ended with, and the waits that no span has
 * followed yet; the next span takes them all. What a record stands for is the last
 * work that its stream did or waited for, so that a chain of streams that only pass an
 * event on still leads back to the work.
 */
#include "picture.h"

#include <stdlib.h>
#include <string.h>

#include "../timeline/lanes.h"
#include "../timeline/store.h"

#define NONE SIZE_MAX

/* Lightness (CIE L*) on white: 14 copy P2P, 21, 29, 38, 45 kernel, 52, 58 memset; on black 46
 * copy P2P, 53, 61, 70 kernel, 77, 87, 95. Found by a search for the greatest least difference
 * (CIEDE2000) under the three simulations, t-79-picture.c; edges are darker shades of the fills
 * on white, lighter ones on black. */
const sl__look sl__looks[SL_SPAN_KINDS] = {
    [SL_SPAN_KERNEL] = { "kernel", "kernel",
        { "#277849", "#1d5936", "#ffffff" }, { "#6abb99", "#a6d6c2", "#111418" } },
    [SL_SPAN_MEMCPY_H2D] = { "memcpy_h2d", "copy H2D",
        { "#0084bb", "#00628a", "#000000" }, { "#b6e1ff", "#d3edff", "#111418" } },
    [SL_SPAN_MEMCPY_D2H] = { "memcpy_d2h", "copy D2H",
        { "#5e1ba1", "#461477", "#ffffff" }, { "#8089f7", "#b3b8fa", "#111418" } },
    [SL_SPAN_MEMCPY_D2D] = { "memcpy_d2d", "copy D2D",
        { "#7f4f05", "#5e3a04", "#ffffff" }, { "#f7b167", "#fad0a4", "#111418" } },
    [SL_SPAN_MEMCPY_P2P] = { "memcpy_p2p", "copy P2P",
        { "#44004b", "#320038", "#ffffff" }, { "#ad3eac", "#ce8bcd", "#ffffff" } },
    [SL_SPAN_MEMSET] = { "memset", "memset",
        { "#a9892f", "#7d6523", "#111418" }, { "#fff727", "#fffa7d", "#111418" } },
    [SL_SPAN_HOST_FUNC] = { "host_func", "host function",
        { "#5d1f00", "#451700", "#ffffff" }, { "#8e7a70", "#bbafa9", "#111418" } },
};

const sl__look sl__host_looks[SL__HOST_LOOKS] = {
    [SL__HOST_CALLS] = { "issue", "host call",
        { "#898c93", "#65686d", "#111418" }, { "#6b6c77", "#a6a7ad", "#ffffff" } },
    [SL__HOST_WAITS] = { "wait", "host waits",
        { "#543b39", "#543b39", "#1d2329" }, { "#fcd5d8", "#fcd5d8", "#e8eaed" } },
    [SL__HOST_HELD_UP] = { "cost", "host held up",
        { "#ce5166", "#983c4b", "#000000" }, { "#e86144", "#f1a08f", "#111418" } },
    [SL__HOST_WORKS] = { "work", "host’s own work",
        { "#515a75", "#3c4357", "#ffffff" }, { "#a2a7b5", "#c7cad3", "#111418" } },
};

const char *sl__brief_label(sl_span_kind kind)
{
    const char *label = sl__looks[kind].label;
    return strncmp(label, "copy ", 5) == 0 ? label + 5 : label;
}

/* ---- arrows ------------------------------------------------------------------ */

/* A stream: indices of spans and calls, or NONE. */
typedef struct tail {
    size_t last;            /* span */
    size_t source;          /* span: the last work done or waited for */
    size_t first_wait;      /* call: the waits that no span has followed, the newest first */
} tail;

typedef struct finder {
    const sl_timeline *timeline;
    const sl_span *spans;
    const sl_call *calls;
    size_t n_spans, n_calls;
    sl__arrow_kind kind;
    int64_t from_ns, to_ns;
    sl__lanes lanes;
    tail *tails;            /* by lane */
    size_t *source;         /* by call, of records and waits: span that it stands for, NONE */
    size_t *next_wait;      /* by call */
    size_t blocking;        /* span: the latest end in blocking streams */
    size_t latest;          /* span: the latest end of all */
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
    f->spans = sl_timeline_spans(timeline, &f->n_spans);
    f->calls = sl_timeline_calls(timeline, &f->n_calls);
    f->blocking = f->latest = NONE;
    sl_status status = sl__lanes_collect(timeline, true, &f->lanes, err);
    if (status != SL_OK)
        return status;
    f->tails = malloc((f->lanes.n + 1) * sizeof *f->tails);
    f->source = malloc((f->n_calls + 1) * sizeof *f->source);
    f->next_wait = malloc((f->n_calls + 1) * sizeof *f->next_wait);
    if (!f->tails || !f->source || !f->next_wait) {
        finder_close(f);
        return sl_fail(err, SL_ENOMEM, "no memory for the arrows between %zu calls", f->n_calls);
    }
    for (size_t i = 0; i < f->lanes.n; i++)
        f->tails[i] = (tail){ NONE, NONE, NONE };
    for (size_t i = 0; i < f->n_calls; i++)     /* a wait may name a record that comes later */
        f->source[i] = NONE;
    return SL_OK;
}

static tail *tail_of(finder *f, uint32_t stream)
{
    return &f->tails[sl__lanes_find(&f->lanes, stream)];
}

/* Of two spans the one that ends later; either may be NONE. */
static size_t later(const finder *f, size_t a, size_t b)
{
    if (a == NONE || b == NONE)
        return a == NONE ? b : a;
    return f->spans[b].end_ns >= f->spans[a].end_ns ? b : a;
}

static void add_arrow(finder *f, sl__arrow_kind kind, const sl__arrow *arrow)
{
    bool shown = kind == f->kind && arrow->from_ns >= f->from_ns && arrow->from_ns <= f->to_ns &&
                 arrow->to_ns >= f->from_ns && arrow->to_ns <= f->to_ns;
    if (!shown || f->failed)
        return;
    f->failed = !sl__reserve((void **)&f->at, f->n, &f->cap, sizeof *f->at);
    if (!f->failed)
        f->at[f->n++] = *arrow;
}

/* A span follows a wait for an event; `ready_ns` is when it could have started without. */
static void add_event(finder *f, const sl_span *span, size_t wait, int64_t ready_ns)
{
    const sl_span *source = &f->spans[f->source[wait]];
    sl__arrow arrow = { .from_ns = source->end_ns,
                        .to_ns = span->start_ns, .from = source->correlation,
                        .to = span->correlation, .wait = f->calls[wait].correlation,
                        .held_ns = sl__max_ns(0, source->end_ns - ready_ns),
                        .from_stream = source->stream, .to_stream = span->stream };
    add_arrow(f, SL__ARROW_EVENT, &arrow);
}

/* The call returned because the work up to `source` had ended. One that was not held, or
 * not by this, has no arrow. */
static void add_host(finder *f, const sl_call *call, size_t source)
{
    if (source == NONE || f->spans[source].end_ns <= call->host_start_ns ||
        f->spans[source].end_ns > call->host_end_ns)
        return;
    const sl_span *span = &f->spans[source];
    sl__arrow arrow = { .from_ns = span->end_ns, .to_ns = call->host_end_ns,
                        .from = span->correlation,
                        .to = call->correlation, .wait = call->correlation,
                        .held_ns = span->end_ns - call->host_start_ns,
                        .from_stream = span->stream, .to_stream = call->stream };
    add_arrow(f, SL__ARROW_HOST, &arrow);
}

static void take_span(finder *f, size_t index)
{
    const sl_span *span = &f->spans[index];
    tail *t = tail_of(f, span->stream);
    int64_t ready_ns = span->host_start_ns;
    if (t->last != NONE)
        ready_ns = sl__max_ns(ready_ns, f->spans[t->last].end_ns);
    for (size_t wait = t->first_wait; wait != NONE; wait = f->next_wait[wait])
        add_event(f, span, wait, ready_ns);
    *t = (tail){ index, index, NONE };
    const sl_stream_note *note = sl__timeline_note(f->timeline, span->stream);
    if (!note || !note->non_blocking)
        f->blocking = later(f, f->blocking, index);
    f->latest = later(f, f->latest, index);
}

/* What the record with this correlation stands for. */
static size_t record_source(const finder *f, uint64_t correlation)
{
    const sl_call *record = sl_timeline_find_call(f->timeline, correlation);
    bool earlier = record && record->kind == SL_CALL_EVENT_RECORD;
    return earlier ? f->source[record - f->calls] : NONE;
}

/* The same work waited for twice is one arrow. */
static void take_wait(finder *f, size_t index)
{
    const sl_call *call = &f->calls[index];
    tail *t = tail_of(f, call->stream);
    size_t source = record_source(f, call->target);
    f->source[index] = source;
    if (source == NONE || f->spans[source].stream == call->stream ||
        (t->first_wait != NONE && f->source[t->first_wait] == source))
        return;
    f->next_wait[index] = t->first_wait;
    t->first_wait = index;
    t->source = later(f, t->source, source);
}

static void take_call(finder *f, size_t index)
{
    const sl_call *call = &f->calls[index];
    f->source[index] = NONE;
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD:      /* the NULL stream's follow all blocking streams */
        f->source[index] = call->stream == 0 ? f->blocking : tail_of(f, call->stream)->source;
        break;
    case SL_CALL_STREAM_WAIT:
        take_wait(f, index);
        break;
    case SL_CALL_STREAM_SYNC:
        add_host(f, call, tail_of(f, call->stream)->source);
        break;
    case SL_CALL_EVENT_SYNC:
        add_host(f, call, record_source(f, call->target));
        break;
    case SL_CALL_DEVICE_SYNC:
        add_host(f, call, f->latest);
        break;
    case SL_CALL_PLAIN:
        if (call->waited_for_device)
            add_host(f, call, f->latest);
        break;
    case SL_CALL_HOST_WORK:
    case SL_CALL_KINDS:
        break;
    }
}

static int by_held(const void *left, const void *right)
{
    const sl__arrow *a = left, *b = right;
    if (a->held_ns != b->held_ns)
        return a->held_ns < b->held_ns ? 1 : -1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->wait > b->wait) - (a->wait < b->wait);
}

static int by_issue(const void *left, const void *right)
{
    const sl__arrow *a = left, *b = right;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->wait > b->wait) - (a->wait < b->wait);
}

static void keep_longest(sl__arrows *arrows, size_t max)
{
    if (arrows->n <= max)
        return;
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
    if (status != SL_OK)
        return status;
    for (size_t i = 0, j = 0; i < f.n_spans || j < f.n_calls;) {
        bool span_first = j == f.n_calls ||
                          (i < f.n_spans && f.spans[i].correlation <= f.calls[j].correlation);
        if (span_first)
            take_span(&f, i++);
        else
            take_call(&f, j++);
    }
    finder_close(&f);
    *arrows = (sl__arrows){ .at = f.at, .n = f.n };
    if (f.failed) {
        sl__arrows_free(arrows);
        return sl_fail(err, SL_ENOMEM, "no memory for the arrows between %zu calls", f.n_calls);
    }
    keep_longest(arrows, max);
    if (arrows->n > 0)
        qsort(arrows->at, arrows->n, sizeof *arrows->at, by_issue);
    return SL_OK;
}

void sl__arrows_free(sl__arrows *arrows)
{
    free(arrows->at);
    *arrows = (sl__arrows){ 0 };
}

/* ---- the host ---------------------------------------------------------------- */

/* A pageable copy whose call was still there when the device had begun was fed by the host. */
static uint8_t span_does(const sl_span *span)
{
    bool pageable = span->flags & (SL_SPAN_SRC_PAGEABLE | SL_SPAN_DST_PAGEABLE);
    bool waited = span->flags & SL_SPAN_HOST_WAITED;
    if (waited || (pageable && span->host_end_ns > span->start_ns))
        return SL__DOES_COPY;
    return span->flags & SL_SPAN_QUEUE_FULL ? SL__DOES_QUEUE : SL__DOES_ISSUE;
}

static uint8_t call_does(const sl_call *call)
{
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD:
    case SL_CALL_STREAM_WAIT:
        return call->queue_full ? SL__DOES_QUEUE : SL__DOES_ISSUE;
    case SL_CALL_STREAM_SYNC:
    case SL_CALL_EVENT_SYNC:
    case SL_CALL_DEVICE_SYNC:
        return SL__DOES_WAIT;
    case SL_CALL_HOST_WORK:
        return SL__DOES_WORK;
    case SL_CALL_PLAIN:
    case SL_CALL_KINDS:
        break;
    }
    return call->waited_for_device ? SL__DOES_WAIT : SL__DOES_CALL;
}

sl__host_look sl__host_call_look(int does)
{
    return does == SL__DOES_WORK                            ? SL__HOST_WORKS
           : does == SL__DOES_CALL || does == SL__DOES_ISSUE ? SL__HOST_CALLS
                                                             : SL__HOST_WAITS;
}

static int by_start(const void *left, const void *right)
{
    const sl__host_call *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

/* What took no time is not seen, nor is the call of a span that the records do not have. */
static bool append(sl__host_calls *list, size_t *cap, const sl__host_call *call)
{
    if (call->end_ns <= call->start_ns)
        return true;
    if (!sl__reserve((void **)&list->at, list->n, cap, sizeof *list->at))
        return false;
    list->at[list->n++] = *call;
    return true;
}

static bool collect_calls(const sl_timeline *timeline, sl__host_calls *list)
{
    size_t n_spans, n_calls, cap = 0;
    const sl_span *spans = sl_timeline_spans(timeline, &n_spans);
    const sl_call *calls = sl_timeline_calls(timeline, &n_calls);
    bool fine = true;
    for (size_t i = 0; i < n_spans && fine; i++) {
        const sl_span *s = &spans[i];
        fine = append(list, &cap, &(sl__host_call){
            s->host_start_ns, s->host_end_ns, s->correlation, s->stream, s->name, s->where,
            span_does(s), s->kind, true });
    }
    for (size_t i = 0; i < n_calls && fine; i++) {
        const sl_call *c = &calls[i];
        fine = append(list, &cap, &(sl__host_call){
            c->host_start_ns, c->host_end_ns, c->correlation, c->stream, c->name, c->where,
            call_does(c), c->kind, false });
    }
    return fine;
}

sl_status sl__host_calls_find(const sl_timeline *timeline, sl__host_calls *list, sl_error *err)
{
    *list = (sl__host_calls){ 0 };
    if (!collect_calls(timeline, list)) {
        sl__host_calls_free(list);
        return sl_fail(err, SL_ENOMEM, "no memory for the calls of the host");
    }
    if (list->n > 0)
        qsort(list->at, list->n, sizeof *list->at, by_start);
    return SL_OK;
}

void sl__host_calls_free(sl__host_calls *list)
{
    free(list->at);
    *list = (sl__host_calls){ 0 };
}

static const char *call_name(uint8_t kind, bool brief)
{
    switch ((sl_call_kind)kind) {
    case SL_CALL_STREAM_SYNC: return brief ? "sync" : "stream synchronize";
    case SL_CALL_EVENT_SYNC: return brief ? "sync" : "event synchronize";
    case SL_CALL_DEVICE_SYNC: return brief ? "sync" : "device synchronize";
    case SL_CALL_EVENT_RECORD: return brief ? "record" : "event record";
    case SL_CALL_STREAM_WAIT: return brief ? "wait" : "wait for event";
    case SL_CALL_HOST_WORK: return brief ? "work" : "host work";
    case SL_CALL_PLAIN:
    case SL_CALL_KINDS: break;
    }
    return "call";
}

const char *sl__host_call_name(const sl_timeline *timeline, const sl__host_call *call, bool brief)
{
    const char *name = sl_timeline_text(timeline, call->name);
    bool own = call->kind == SL_CALL_PLAIN || call->kind == SL_CALL_HOST_WORK;
    if (!call->of_span)
        return *name && (own || !brief) ? name : call_name(call->kind, brief);
    bool named = call->kind == SL_SPAN_KERNEL || call->kind == SL_SPAN_HOST_FUNC;
    if (named && *name)
        return name;
    return brief ? sl__brief_label(call->kind) : sl__looks[call->kind].label;
}
