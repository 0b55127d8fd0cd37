/* counters.c - how much there was of something at each time: steps up and down are collected and
 * put in order, and those of one time are one point.
 */
#include "timeline.h"

#include <stdlib.h>

#include "notes.h"
#include "overlap.h"
#include "store.h"

/* By how much the value changes, or what it becomes. */
typedef struct steps {
    sl_value *at;
    size_t n, cap;
} steps;

static bool step(steps *s, int64_t at_ns, int64_t by)
{
    if (!SL__GROW(s->at, s->cap, s->n + 1)) return false;
    s->at[s->n++] = (sl_value){ at_ns, by };
    return true;
}

static bool step_between(steps *s, int64_t from_ns, int64_t to_ns, int64_t by)
{
    return from_ns >= to_ns || by == 0 || (step(s, from_ns, by) && step(s, to_ns, -by));
}

/* ---- operations -------------------------------------------------------------------- */

/* Bytes a second, rounded down. */
static int64_t bytes_per_s(const sl_span *span)
{
    const int64_t ns = span->end_ns - span->start_ns;
    const double rate = ns > 0 ? (double)span->bytes * 1e9 / (double)ns : 0;
    return rate < 9e15 ? (int64_t)rate : 0; /* more than any machine has */
}

/* What a graph ran has been in the queue since the graph's launch. */
static int64_t called_ns(const sl_timeline *timeline, const sl_span *span)
{
    const size_t launch = sl_timeline_span_launch(timeline, span);
    return launch == SL_NOT_FOUND ? span->host_start_ns
                                  : sl_timeline_call(timeline, launch).host_start_ns;
}

static bool step_span(steps *s, const sl_timeline *timeline, sl_counter_kind kind,
                      const sl_span *span)
{
    static const sl_span_kind copies[SL_COUNTERS] = {
        [SL_COUNTER_H2D] = SL_SPAN_MEMCPY_H2D,
        [SL_COUNTER_D2H] = SL_SPAN_MEMCPY_D2H,
        [SL_COUNTER_P2P] = SL_SPAN_MEMCPY_P2P,
    };
    if (kind == SL_COUNTER_KERNELS)
        return !sl_span_kind_is_kernel((sl_span_kind)span->kind)
               || step_between(s, span->start_ns, span->end_ns, 1);
    if (kind == SL_COUNTER_QUEUE)
        return span->engine == SL_ENGINE_HOST
               || step_between(s, called_ns(timeline, span), span->start_ns, 1);
    return span->kind != copies[kind]
           || step_between(s, span->start_ns, span->end_ns, bytes_per_s(span));
}

static sl_status step_spans(steps *s, const sl_timeline *timeline, const sl_counter *counter,
                            sl_error *err)
{
    const size_t n = sl_timeline_span_count(timeline);
    for (size_t i = 0; i < n; i++) {
        const sl_span span = sl_timeline_span(timeline, i);
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        if (sl_timeline_place(timeline, span.stream) != counter->place) continue;
        if (!step_span(s, timeline, counter->kind, &span))
            return sl__no_memory(err, "what changes with %zu operations", n);
    }
    return SL_OK;
}

/* ---- memory -------------------------------------------------------------------------- */

/* Frees of what was there before the recording change nothing. */
static sl_status step_allocations(steps *s, const sl_timeline *timeline, sl_memory_kind kind,
                                  sl_error *err)
{
    const sl__notes *notes = &sl__timeline_notes(timeline)[SL__MEMORY];
    const sl_memory_note *all = notes->at;
    for (size_t i = 0; i < notes->n; i++) {
        const size_t at = sl_timeline_find_call(timeline, all[i].correlation);
        if (sl__stops_at(i)) return sl_interrupt_check(err);
        if (all[i].kind != kind || at == SL_NOT_FOUND || all[i].is_from_before) continue;
        const int64_t bytes = (int64_t)all[i].bytes;
        if (!step(s, sl_timeline_call(timeline, at).host_end_ns, all[i].frees ? -bytes : bytes))
            return sl__no_memory(err, "%zu allocations", notes->n);
    }
    return SL_OK;
}

/* Each says what there is, not what has changed. */
static sl_status take_samples(steps *s, const sl_timeline *timeline, sl_counter_kind kind,
                              sl_error *err)
{
    size_t n;
    const sl_memory_sample *all = sl_timeline_memory_samples(timeline, &n);
    for (size_t i = 0; i < n; i++) {
        const uint64_t bytes = kind == SL_COUNTER_ALLOCATED ? all[i].allocated_bytes
                                                            : all[i].reserved_bytes;
        if (!step(s, all[i].at_ns, (int64_t)bytes))
            return sl__no_memory(err, "%zu samples of memory", n);
    }
    return SL_OK;
}

static sl_status collect(steps *s, const sl_timeline *timeline, const sl_counter *counter,
                         sl_error *err)
{
    switch (counter->kind) {
    case SL_COUNTER_KERNELS:
    case SL_COUNTER_QUEUE:
    case SL_COUNTER_H2D:
    case SL_COUNTER_D2H:
    case SL_COUNTER_P2P: return step_spans(s, timeline, counter, err);
    case SL_COUNTER_ALLOCATED:
    case SL_COUNTER_RESERVED: return take_samples(s, timeline, counter->kind, err);
    case SL_COUNTER_DEVICE: return step_allocations(s, timeline, SL_MEMORY_DEVICE, err);
    case SL_COUNTER_POOL: return step_allocations(s, timeline, SL_MEMORY_POOL, err);
    case SL_COUNTER_PINNED: return step_allocations(s, timeline, SL_MEMORY_PINNED, err);
    case SL_COUNTER_MANAGED: return step_allocations(s, timeline, SL_MEMORY_MANAGED, err);
    case SL_COUNTERS: break;
    }
    return SL_OK;
}

/* ---- points -------------------------------------------------------------------------- */

/* At one time what comes before what goes, so that no value is below 0 in between. */
SL__ORDER(by_time, sl_value, x->at_ns, SL__DOWN(x->value));

static int64_t sum(int64_t value, int64_t by)
{
    return by > 0 && value > INT64_MAX - by ? INT64_MAX : sl__max(value + by, 0);
}

/* From steps to the values at the times at which they change. */
static size_t add_up(sl_value *at, size_t n, bool are_values)
{
    int64_t value = 0;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        value = are_values ? at[i].value : sum(value, at[i].value);
        if (i + 1 < n && at[i + 1].at_ns == at[i].at_ns) continue;
        if (value == (kept > 0 ? at[kept - 1].value : 0)) continue;
        at[kept++] = (sl_value){ at[i].at_ns, value };
    }
    return kept;
}

static void find_most(sl_counter *counter)
{
    for (size_t i = 0; i < counter->n; i++) {
        if (counter->at[i].value <= counter->most) continue;
        counter->most = counter->at[i].value;
        counter->most_ns = counter->at[i].at_ns;
    }
}

sl_status sl_timeline_counter(const sl_timeline *timeline, sl_counter_kind kind, int place,
                              sl_counter *counter, sl_error *err)
{
    steps s = { 0 };
    *counter = (sl_counter){ .kind = kind, .place = place };
    if (place > 0 && !sl_counter_is_of_gpu(kind)) return SL_OK;
    const sl_status status = collect(&s, timeline, counter, err);
    if (status != SL_OK) {
        free(s.at);
        return status;
    }
    const bool are_values = kind == SL_COUNTER_ALLOCATED || kind == SL_COUNTER_RESERVED;
    if (s.n > 1 && !are_values) sl__sort(s.at, s.n, sizeof *s.at, by_time);
    counter->n = add_up(s.at, s.n, are_values);
    counter->at = s.at;
    find_most(counter);
    return SL_OK;
}

/* The largest one of [first, end), and the last; how many these are. */
static size_t keep_two(sl_counter *counter, size_t kept, size_t first, size_t end)
{
    size_t most = first;
    for (size_t i = first; i < end; i++)
        if (counter->at[i].value > counter->at[most].value) most = i;
    counter->at[kept++] = counter->at[most];
    if (most != end - 1) counter->at[kept++] = counter->at[end - 1];
    return kept;
}

void sl_counter_reduce(sl_counter *counter, int64_t from_ns, int64_t to_ns, size_t most)
{
    const int64_t stretches = (int64_t)sl__max(most / 2, (uint64_t)1);
    const int64_t length_ns = sl__max((to_ns - from_ns) / stretches, 1);
    size_t first, end, kept = 0;
    SL__SEARCH(first, counter->n, counter->at[first].at_ns <= from_ns);
    if (first > 0) first--; /* what it was at the beginning */
    SL__SEARCH(end, counter->n, counter->at[end].at_ns <= to_ns);
    if (end - sl__min(first, end) <= most) {
        for (size_t i = first; i < end; i++)
            counter->at[kept++] = counter->at[i];
        counter->n = kept;
        return;
    }
    while (first < end) {
        const int64_t in = sl__max(counter->at[first].at_ns - from_ns, 0) / length_ns;
        size_t next = first + 1;
        while (next < end && (counter->at[next].at_ns - from_ns) / length_ns <= in)
            next++;
        kept = keep_two(counter, kept, first, next);
        first = next;
    }
    counter->n = kept;
}

/* ---- names --------------------------------------------------------------------------- */

static const struct {
    const char *name, *title;
    sl_unit unit;
} kinds[SL_COUNTERS] = {
#define X(id, name, title, unit) [SL_COUNTER_##id] = { name, title, SL_UNIT_##unit },
    SL_COUNTER_MAP(X)
#undef X
};

const char *sl_counter_name(sl_counter_kind kind) { return kinds[kind].name; }

const char *sl_counter_title(sl_counter_kind kind) { return kinds[kind].title; }

sl_unit sl_counter_unit(sl_counter_kind kind) { return kinds[kind].unit; }

bool sl_counter_is_of_gpu(sl_counter_kind kind) { return sl_counter_unit(kind) != SL_UNIT_BYTES; }
