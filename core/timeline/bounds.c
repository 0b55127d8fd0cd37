/* bounds.c - how short the recorded work could have been.
 *
 * serial           the durations of all spans, added up.
 * busiest engine   the largest union of the spans of one engine of one device.
 * critical path    the longest sum of span durations over a chain in which each
 *                  span had to wait for the one before, because of
 *                    - stream order (where a span begins before an earlier one of its
 *                      stream has ended, the time in which both ran counts once);
 *                    - an event: what precedes the record, what follows the wait;
 *                    - the legacy NULL stream (id 0): each of its operations,
 *                      records and waits included, follows all earlier work of
 *                      blocking streams, and their later work follows it.
 *                      Streams noted as non-blocking are exempt; streams without
 *                      a note are blocking;
 *                      Every device has such a stream of its own;
 *                    - the host: what is issued after a call that waited (a stream,
 *                      event or device synchronisation, a plain call that waited for
 *                      the device, an operation with SL_SPAN_HOST_WAITED or
 *                      SL_SPAN_LOADED) follows what that call waited for, in the same thread of
 *                      the host.
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
 * One pass over spans and calls in issue order, and one more for each of the other two;
 * each stream keeps the longest chain that ends with its latest operation, the NULL
 * stream the maximum over all blocking streams, so the cost does not grow with the
 * number of streams.
 */
#include "timeline.h"

#include <stdlib.h>

#include "lanes.h"
#include "operations.h"
#include "pinned.h"
#include "store.h"

typedef struct stream {
    int64_t tail;   /* length of the chain up to its latest operation */
    int64_t end_ns; /* when that was over, a time */
    bool is_blocking;
} stream;

/* Every value is the length of the longest chain so far, in ns. */
typedef struct chains {
    const sl_timeline *timeline;
    bool host_waits;          /* they count */
    const sl__pinned *pinned; /* NULL: pageable copies take what they took */
    sl__lanes lanes;
    stream *streams; /* by lane */
    int64_t *record; /* by call: up to this event record, 0 for other calls */
    struct {
        int64_t null_tail;      /* up to the NULL stream's latest operation */
        int64_t blocking;       /* over all blocking streams, the NULL stream included */
        int64_t longest;        /* over everything */
    } of[SL_MOST_DEVICES];      /* by place of the device */
    int64_t longest;            /* over all of them */
    int64_t *host;              /* by thread of the host: what it has waited for */
    uint32_t n_threads, thread; /* whose calls are looked at */
} chains;

static void chains_close(chains *c)
{
    sl__lanes_free(&c->lanes);
    free(c->streams);
    free(c->record);
    free(c->host);
}

static sl_status chains_open(const sl_timeline *timeline, bool host_waits, const sl__pinned *pinned,
                             chains *c, sl_error *err)
{
    *c = (chains){ .timeline = timeline, .host_waits = host_waits, .pinned = pinned };
    sl_status status = sl__lanes_collect(timeline, true, &c->lanes, err);
    if (status != SL_OK) return status;
    const size_t n_calls = sl_timeline_call_count(timeline);
    c->streams = malloc((c->lanes.n + 1) * sizeof *c->streams);
    c->record = calloc(n_calls + 1, sizeof *c->record);
    c->n_threads = sl_timeline_thread_count(timeline);
    c->host = calloc(c->n_threads, sizeof *c->host);
    if (!c->streams || !c->record || !c->host) {
        chains_close(c);
        return sl_fail(err, SL_ENOMEM, "no memory for the bounds of %zu streams and %zu calls",
                       c->lanes.n, n_calls);
    }
    for (size_t lane = 0; lane < c->lanes.n; lane++)
        c->streams[lane] = (stream){ 0, INT64_MIN,
                                     sl__timeline_is_blocking(timeline, c->lanes.ids[lane]) };
    return SL_OK;
}

static stream *stream_of(const chains *c, uint32_t id)
{
    return &c->streams[sl__lanes_find(&c->lanes, id)];
}

/* An operation of `duration_ns` on stream `id` that also follows a chain of `after`.
 * Returns the length of the longest chain that ends with it. */
static int64_t extend(chains *c, uint32_t id, int64_t after, int64_t duration_ns)
{
    stream *s = stream_of(c, id);
    int64_t start = sl__max_ns(sl__max_ns(s->tail, after), c->host[c->thread]);
    int place = sl_timeline_place(c->timeline, id);
    bool is_null = sl_timeline_is_null_stream(c->timeline, id);
    if (is_null)
        start = sl__max_ns(start, c->of[place].blocking);
    else if (s->is_blocking)
        start = sl__max_ns(start, c->of[place].null_tail);
    int64_t end = sl__add_ns(start, duration_ns);
    s->tail = end;
    if (is_null) c->of[place].null_tail = end;
    if (s->is_blocking) c->of[place].blocking = sl__max_ns(c->of[place].blocking, end);
    c->of[place].longest = sl__max_ns(c->of[place].longest, end);
    c->longest = sl__max_ns(c->longest, end);
    return end;
}

/* The host waited for a chain of this length. */
static void wait_host(chains *c, int64_t chain_ns)
{
    if (c->host_waits) c->host[c->thread] = sl__max_ns(c->host[c->thread], chain_ns);
}

/* The longest chain on the device of a stream. */
static int64_t device_chain(const chains *c, uint32_t id)
{
    return c->of[sl_timeline_place(c->timeline, id)].longest;
}

/* The chain up to the record with this correlation, 0 if it was not recorded. */
static int64_t record_chain(const chains *c, uint64_t correlation)
{
    size_t record = sl_timeline_find_call(c->timeline, correlation);
    return record != SL_NOT_FOUND ? c->record[record] : 0;
}

/* The time of the span in which nothing issued before it ran in its stream. Only traces from
 * elsewhere have less of it than the span lasts. */
static int64_t own_ns(chains *c, const sl_span *span)
{
    int64_t *end_ns = &stream_of(c, span->stream)->end_ns;
    int64_t from_ns = sl__max_ns(span->start_ns, *end_ns);
    *end_ns = sl__max_ns(*end_ns, span->end_ns);
    int64_t ns = sl__max_ns(span->end_ns - from_ns, 0);
    return c->pinned ? sl__min_ns(ns, sl__pinned_ns(c->pinned, span)) : ns;
}

/* The chain that a synchronisation of this stream waits for: that of the NULL stream takes in all
 * blocking ones. */
static int64_t stream_chain(const chains *c, uint32_t id)
{
    bool is_null = sl_timeline_is_null_stream(c->timeline, id);
    return is_null ? c->of[sl_timeline_place(c->timeline, id)].blocking : stream_of(c, id)->tail;
}

static void take_span(chains *c, const sl_span *span)
{
    if (span->flags & SL_SPAN_LOADED) wait_host(c, device_chain(c, span->stream));
    int64_t end = extend(c, span->stream, 0, own_ns(c, span));
    bool waits = span->flags & SL_SPAN_HOST_WAITED && !(c->pinned && sl__span_is_pageable(span));
    if (waits) wait_host(c, end);
}

static void take_call(chains *c, const sl_call *call, size_t index)
{
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD: c->record[index] = extend(c, call->stream, 0, 0); break;
    case SL_CALL_STREAM_WAIT: extend(c, call->stream, record_chain(c, call->target), 0); break;
    case SL_CALL_STREAM_SYNC: wait_host(c, stream_chain(c, call->stream)); break;
    case SL_CALL_EVENT_SYNC: wait_host(c, record_chain(c, call->target)); break;
    case SL_CALL_DEVICE_SYNC: wait_host(c, device_chain(c, call->stream)); break;
    case SL_CALL_PLAIN:
        if (call->waited_for_device) wait_host(c, device_chain(c, call->stream));
        break;
    case SL_CALL_HOST_WORK:
    case SL_CALL_KINDS: break;
    }
}

static void set_thread(chains *c, uint64_t correlation)
{
    if (c->n_threads > 1) c->thread = sl_timeline_thread(c->timeline, correlation);
}

static sl_status critical_path(const sl_timeline *timeline, bool host_waits,
                               const sl__pinned *pinned, int64_t *longest_ns, sl_error *err)
{
    chains c;
    sl_status status = chains_open(timeline, host_waits, pinned, &c, err);
    if (status != SL_OK) return status;
    for (sl__issues at = { .timeline = timeline }; sl__issues_next(&at);) {
        set_thread(&c, at.is_call ? at.call.correlation : at.span.correlation);
        if (at.is_call)
            take_call(&c, &at.call, at.index);
        else
            take_span(&c, &at.span);
    }
    *longest_ns = c.longest;
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

/* Among equally busy engines the first is named. */
static sl_status busiest_engine(const sl_timeline *timeline, const sl__pinned *pinned,
                                sl_bounds *bounds, sl_error *err)
{
    int64_t saved_ns[SL__UNITS] = { 0 };
    find_saved(timeline, pinned, saved_ns);
    for (int unit = 0; unit < sl__unit_count(timeline); unit++) {
        sl_selection sel = sl_select_all;
        sel.place = unit / SL_ENGINES;
        sel.engine = unit % SL_ENGINES;
        int64_t busy_ns;
        sl_status status = sl_timeline_busy_ns(timeline, &sel, &busy_ns, err);
        if (status != SL_OK) return status;
        bounds->lower_ns = sl__max_ns(bounds->lower_ns, busy_ns - saved_ns[unit]);
        if (busy_ns > bounds->busiest_engine_ns) {
            bounds->busiest_engine_ns = busy_ns;
            bounds->busiest_engine = (sl_engine)sel.engine;
            bounds->busiest_place = sel.place;
        }
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
    sl_status status = busiest_engine(timeline, &pinned, &found, err);
    if (status == SL_OK) status = critical_path(timeline, true, NULL, &found.critical_path_ns, err);
    int64_t lower_ns = found.critical_path_ns, unblocked_ns = 0;
    if (status == SL_OK && pinned.any)
        status = critical_path(timeline, true, &pinned, &lower_ns, err);
    if (status == SL_OK) status = critical_path(timeline, false, &pinned, &unblocked_ns, err);
    if (status != SL_OK) return status;
    const int64_t makespan_ns = sl_timeline_makespan_ns(timeline), busiest_ns = found.lower_ns;
    found.lower_ns = sl__min_ns(sl__max_ns(busiest_ns, lower_ns), makespan_ns);
    found.unblocked_ns = sl__min_ns(sl__max_ns(busiest_ns, unblocked_ns), makespan_ns);
    *bounds = found;
    return SL_OK;
}
