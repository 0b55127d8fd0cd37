/* adding.c - what is added to a timeline is checked here once, so that its readers can index
 * without checking.
 */
#include "fields.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../base.h"

static bool time_fits(int64_t ns) { return ns > -SL__TIME_LIMIT_NS && ns < SL__TIME_LIMIT_NS; }

static sl_status check_interval(int64_t start_ns, int64_t end_ns, const char *what,
                                uint64_t correlation, sl_error *err)
{
    if (start_ns <= end_ns && time_fits(start_ns) && time_fits(end_ns)) return SL_OK;
    return sl_fail(err, SL_EINVAL,
                   "the %s of operation %" PRIu64 " lasts from %" PRId64 " to %" PRId64
                   " ns; it must not end before it starts, nor lie beyond 2^61 ns",
                   what, correlation, start_ns, end_ns);
}

static bool may_be_untimed(const sl_timeline *timeline, int64_t ns)
{
    return timeline->expects_times && ns == SL__UNTIMED;
}

static sl_status check_span(const sl_timeline *timeline, const sl_span *span, sl_error *err)
{
    sl_status status = sl__refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    if (span->correlation == 0)
        return sl_fail(err, SL_EINVAL, "a span needs a correlation of at least 1, got 0");
    if (span->kind >= SL_SPAN_KINDS || span->engine >= SL_ENGINES)
        return sl_fail(err, SL_EINVAL,
                       "span %" PRIu64 " has kind %d and engine %d; "
                       "there are %d kinds and %d engines",
                       span->correlation, span->kind, span->engine, SL_SPAN_KINDS, SL_ENGINES);
    bool untimed = may_be_untimed(timeline, span->start_ns) && span->end_ns == SL__UNTIMED;
    if (!untimed)
        status = check_interval(span->start_ns, span->end_ns, "span", span->correlation, err);
    if (status == SL_OK)
        status = check_interval(span->host_start_ns, span->host_end_ns, "enqueueing call",
                                span->correlation, err);
    if (status == SL_OK) status = sl__check_texts(timeline, span->name, span->where, err);
    if (status == SL_OK) status = sl__check_texts(timeline, span->symbol, 0, err);
    return status;
}

static void extend(sl_timeline *timeline, const sl_span *span, bool first)
{
    if (first || span->start_ns < timeline->first_ns) timeline->first_ns = span->start_ns;
    if (first || span->end_ns > timeline->last_ns) timeline->last_ns = span->end_ns;
}

static sl_status sum_up(sl_timeline *timeline, const sl_span *span, sl_error *err)
{
    const bool first = timeline->summary->all.n == 0;
    if (!sl__summary_add(timeline->summary, span, sl_timeline_place(timeline, span->stream)))
        return sl__no_memory(err, "the summary of a timeline");
    extend(timeline, span, first);
    return SL_OK;
}

sl_status sl_timeline_add_span(sl_timeline *timeline, const sl_span *span, sl_error *err)
{
    sl_status status = check_span(timeline, span, err);
    if (status != SL_OK) return status;
    if (timeline->summary) return sum_up(timeline, span, err);
    if (!sl__packed_add_span(&timeline->spans, span))
        return sl__no_memory(err, "more than %zu spans of a timeline", timeline->spans.n);
    if (span->end_ns == SL__UNTIMED)
        timeline->has_untimed = true;
    else
        extend(timeline, span, timeline->spans.n == 1);
    return SL_OK;
}

sl_status sl_timeline_add_call(sl_timeline *timeline, const sl_call *call, sl_error *err)
{
    sl_status status = sl__refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    bool untimed = may_be_untimed(timeline, call->device_ns);
    if (call->correlation == 0 || call->kind >= SL_CALL_KINDS
        || !(untimed || time_fits(call->device_ns)))
        return sl_fail(err, SL_EINVAL,
                       "a call has correlation %" PRIu64 " (at least 1), kind %d "
                       "(0 to %d) and device time %" PRId64 " ns (below 2^61)",
                       call->correlation, call->kind, SL_CALL_KINDS - 1, call->device_ns);
    status = check_interval(call->host_start_ns, call->host_end_ns, "call", call->correlation, err);
    if (status == SL_OK) status = sl__check_texts(timeline, call->name, call->where, err);
    if (status != SL_OK || timeline->summary) return status;
    if (!sl__packed_add_call(&timeline->calls, call))
        return sl__no_memory(err, "more than %zu calls of a timeline", timeline->calls.n);
    timeline->has_untimed |= untimed;
    return SL_OK;
}

/* The spans or the calls that have one with this correlation, and where, or NULL. */
static sl__packed_list *find_held(sl_timeline *timeline, uint64_t correlation, size_t *index)
{
    *index = sl__packed_find(&timeline->spans, correlation);
    if (*index != SL_NOT_FOUND) return &timeline->spans;
    *index = sl__packed_find(&timeline->calls, correlation);
    return *index != SL_NOT_FOUND ? &timeline->calls : NULL;
}

sl_status sl_timeline_add_hold(sl_timeline *timeline, const sl_hold *hold, sl_error *err)
{
    sl_status status = sl__refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    bool earlier = hold->ready_by < hold->correlation
                   || (hold->ready_cause == SL_CAUSE_VALUE && hold->ready_by != hold->correlation);
    if (!earlier || hold->ready_cause >= SL_CAUSES || hold->start_cause >= SL_CAUSES
        || !time_fits(hold->ready_ns))
        return sl_fail(
            err, SL_EINVAL,
            "a hold of operation %" PRIu64 " by %" PRIu64
            " (an earlier one, but for a value) has causes %d and %d (below %d) and time %" PRId64
            " ns (below 2^61)",
            hold->correlation, hold->ready_by, hold->ready_cause, hold->start_cause, SL_CAUSES,
            hold->ready_ns);
    if (timeline->summary) return SL_OK;
    size_t index;
    sl__packed_list *held = find_held(timeline, hold->correlation, &index);
    if (held)
        return sl__packed_set_hold(held, index, hold)
                   ? SL_OK
                   : sl__no_memory(err, "more than %zu holds of a timeline", index);
    if (!SL__GROW(timeline->holds, timeline->cap_holds, timeline->n_holds + 1))
        return sl__no_memory(err, "more than %zu holds of a timeline", timeline->n_holds);
    timeline->holds[timeline->n_holds++] = *hold;
    return SL_OK;
}

sl_status sl_timeline_add_node(sl_timeline *timeline, const sl_node_note *note, sl_error *err)
{
    sl_status status = sl__refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    if (note->correlation <= note->launch
        || (note->launch > 0 && note->correlation - note->launch > UINT32_MAX))
        return sl_fail(err, SL_EINVAL,
                       "node %" PRIu64 " of a graph has launch %" PRIu64
                       ", which is no earlier one, or 2^32 before it",
                       note->correlation, note->launch);
    if (timeline->summary) return SL_OK;
    timeline->n_nodes++;
    const size_t at = sl__packed_find(&timeline->spans, note->correlation);
    if (at == SL_NOT_FOUND) return sl__note_add(timeline, SL__NODES, note, err);
    return sl__packed_set_node(&timeline->spans, at, note)
               ? SL_OK
               : sl__no_memory(err, "more than %zu nodes of a timeline", timeline->n_nodes);
}

sl_status sl_timeline_add_thread(sl_timeline *timeline, const sl_thread_note *note, sl_error *err)
{
    if (note->thread == 0 || note->thread >= SL_MOST_THREADS)
        return sl_fail(err, SL_EINVAL, "a call was made by thread %u: not from 1 to %d",
                       (unsigned)note->thread, SL_MOST_THREADS - 1);
    if (timeline->summary) return SL_OK;
    size_t index;
    sl__packed_list *list = find_held(timeline, note->correlation, &index);
    if (note->thread > timeline->last_thread) timeline->last_thread = note->thread;
    if (!list) return sl__note_add(timeline, SL__THREADS, note, err);
    return sl__packed_set_thread(list, index, note->thread)
               ? SL_OK
               : sl__no_memory(err, "calls of thread %u", (unsigned)note->thread);
}

sl_status sl_timeline_add_launch(sl_timeline *timeline, const sl_launch_note *note, sl_error *err)
{
    sl_status status = sl__refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    if (note->last < note->correlation || note->name >= sl_timeline_text_count(timeline))
        return sl_fail(err, SL_EINVAL,
                       "launch %" PRIu64 " of a graph ends with %" PRIu64
                       " (not an earlier one) and has name %" PRIu32 " (one of %zu texts)",
                       note->correlation, note->last, note->name, sl_timeline_text_count(timeline));
    return sl__note_add(timeline, SL__LAUNCHES, note, err);
}

/* ---- times that come later -------------------------------------------------- */

void sl__timeline_expect_times(sl_timeline *timeline) { timeline->expects_times = true; }

bool sl__timeline_has_untimed(const sl_timeline *timeline) { return timeline->has_untimed; }

void sl__timeline_sort(sl_timeline *timeline)
{
    sl__packed_sort(&timeline->spans);
    sl__packed_sort(&timeline->calls);
}

bool sl__timeline_set_span(sl_timeline *timeline, size_t index, const sl_span *span)
{
    return sl__packed_set_span(&timeline->spans, index, span);
}

bool sl__timeline_set_call(sl_timeline *timeline, size_t index, const sl_call *call)
{
    return sl__packed_set_call(&timeline->calls, index, call);
}

/* Those of operations that came after them. Without memory one is lost. */
static void join_holds(sl_timeline *timeline)
{
    for (size_t i = 0; i < timeline->n_holds; i++) {
        size_t index;
        sl__packed_list *held = find_held(timeline, timeline->holds[i].correlation, &index);
        if (held) sl__packed_set_hold(held, index, &timeline->holds[i]);
    }
    free(timeline->holds);
    timeline->holds = NULL;
    timeline->n_holds = timeline->cap_holds = 0;
}

/* The same. */
static void join_notes(sl_timeline *timeline)
{
    sl__notes *nodes = &timeline->notes[SL__NODES], *threads = &timeline->notes[SL__THREADS];
    size_t index;
    for (size_t i = 0; i < nodes->n; i++) {
        const sl_node_note *note = (const sl_node_note *)nodes->at + i;
        index = sl__packed_find(&timeline->spans, note->correlation);
        if (index != SL_NOT_FOUND) sl__packed_set_node(&timeline->spans, index, note);
    }
    for (size_t i = 0; i < threads->n; i++) {
        const sl_thread_note *note = (const sl_thread_note *)threads->at + i;
        sl__packed_list *list = find_held(timeline, note->correlation, &index);
        if (list) sl__packed_set_thread(list, index, note->thread);
    }
    sl__notes_forget(nodes);
    sl__notes_forget(threads);
}

/* What was edited is checked as if it were added now. */
static void take_out_untimed(sl_timeline *timeline)
{
    size_t n = 0;
    timeline->first_ns = timeline->last_ns = 0;
    for (size_t i = 0; i < timeline->spans.n; i++) {
        sl_span span = sl__packed_span(&timeline->spans, i);
        if (check_interval(span.start_ns, span.end_ns, "span", span.correlation, NULL) != SL_OK)
            continue;
        extend(timeline, &span, n == 0);
        timeline->spans.at[n++] = timeline->spans.at[i];
    }
    timeline->spans.n = n;
    for (size_t i = 0; i < timeline->calls.n; i++) {
        sl_call call = sl__packed_call(&timeline->calls, i);
        if (time_fits(call.device_ns)) continue;
        call.device_ns = 0;
        sl__packed_set_call(&timeline->calls, i, &call); /* needs no memory: nothing gets larger */
    }
    timeline->has_untimed = false;
}

void sl__timeline_settle(sl_timeline *timeline)
{
    if (timeline->summary) sl__summary_settle(timeline->summary, INT64_MAX);
    sl__timeline_sort(timeline);
    join_holds(timeline);
    join_notes(timeline);
    sl__notes_sort(timeline->notes);
    sl__touches_trim(&timeline->touches);
    if (timeline->has_untimed) take_out_untimed(timeline);
    sl__packed_trim(&timeline->spans);
    sl__packed_trim(&timeline->calls);
}
