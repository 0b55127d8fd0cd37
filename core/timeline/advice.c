/* advice.c - which findings one piece of advice ends, and which advice is a word in the program.
 */
#include "advice.h"

#include <string.h>

#include "causes.h"
#include "store.h"

static bool is_copy(const sl_span *span)
{
    return span
           && (span->kind == SL_SPAN_MEMCPY_H2D || span->kind == SL_SPAN_MEMCPY_D2H
               || span->kind == SL_SPAN_MEMCPY_D2D || span->kind == SL_SPAN_MEMCPY_P2P);
}

/* ---- calls --------------------------------------------------------------------------- */

sl__first sl__first_launch(const sl__operations *ops, size_t item)
{
    const sl_span *span = sl__item_span(ops, item);
    const sl__launch *launch = item == SL__NO_ITEM ? NULL : sl__launch_by(ops, item);
    if (launch) return launch->note->uploads ? SL__FIRST_GRAPH : SL__NOT_FIRST;
    if (!span || !sl_span_kind_is_kernel(span->kind)) return SL__NOT_FIRST;
    bool is_long = span->host_end_ns - span->host_start_ns > SL__FIRST_CALL_NS;
    return is_long || span->flags & SL_SPAN_LOADED ? SL__FIRST_KERNEL : SL__NOT_FIRST;
}

size_t sl__copy_before_sync(const sl__operations *ops, size_t item)
{
    const sl_call *sync = sl__item_call(ops, item);
    size_t i = item;
    if (!sync || sync->kind != SL_CALL_STREAM_SYNC) return SL__NO_ITEM;
    while (i > 0 && ops->items[i - 1].issue.thread != ops->items[item].issue.thread)
        i--;
    const sl_span *copy = i > 0 ? sl__item_span(ops, i - 1) : NULL;
    bool fits = is_copy(copy) && copy->stream == sync->stream && copy->where == sync->where
                && sync->host_start_ns - copy->host_end_ns < SL__SHORT_PAUSE_NS;
    return fits ? i - 1 : SL__NO_ITEM;
}

bool sl__is_of_launches(const sl__operations *ops, const sl_finding *f)
{
    size_t waiter = sl__operations_find(ops, f->waiter), by = sl__operations_find(ops, f->by);
    if (f->cause != SL_CAUSE_HOST_ISSUING || waiter == SL__NO_ITEM || by == SL__NO_ITEM)
        return false;
    return waiter == by || sl__item_stream(ops, waiter) == sl__item_stream(ops, by);
}

bool sl__is_one_word(const sl__operations *ops, const sl_finding *f)
{
    size_t by = sl__operations_find(ops, f->by);
    const sl_span *span = sl__item_span(ops, by);
    if (f->cause != SL_CAUSE_HOST_BLOCKED) return false;
    if (!span) return sl__copy_before_sync(ops, by) != SL__NO_ITEM;
    return is_copy(span) && (sl__span_is_pageable(span) || span->flags & SL_SPAN_HOST_WAITED);
}

/* ---- the same advice ------------------------------------------------------------------- */

/* Of a trace that has no lines, names of kernels do not matter: a loop has dozens. */
static bool is_same_waiter(const sl__operations *ops, size_t a, size_t b)
{
    const sl_span *s = sl__item_span(ops, a), *t = sl__item_span(ops, b);
    if (!s || !t) return false;
    sl__line x = sl__item_line(ops, a), y = sl__item_line(ops, b);
    bool kernels = sl__timeline_is_foreign(ops->timeline) && x.where == 0 && y.where == 0
                   && s->engine == SL_ENGINE_COMPUTE && t->engine == SL_ENGINE_COMPUTE;
    return s->engine == t->engine && (kernels || sl__line_is_same(&x, &y));
}

/* Where no line is known: whichever call the host was in, or came from, it is one cause. */
static bool is_one_without_lines(const sl_timeline *timeline, sl_cause cause, const sl__line *a,
                                 const sl__line *b)
{
    if (a->where != 0 || b->where != 0) return false;
    if (cause == SL_CAUSE_HOST_ISSUING) return sl__timeline_is_foreign(timeline);
    const bool is_work = a->kind == SL_CALL_HOST_WORK || b->kind == SL_CALL_HOST_WORK;
    return cause == SL_CAUSE_HOST_WORK && (!is_work || sl__timeline_is_foreign(timeline));
}

/* Waited for the same, in another engine's row or, of the host, beside what ran. */
static bool is_same_by(const sl__operations *ops, sl_cause cause, size_t a, size_t b)
{
    sl__line x = sl__item_line(ops, a), y = sl__item_line(ops, b);
    if (a == SL__NO_ITEM || b == SL__NO_ITEM) return false;
    return is_one_without_lines(ops->timeline, cause, &x, &y) || sl__line_is_same(&x, &y);
}

/* Memory that is there before the part that counts is neither allocated nor freed in it. */
static bool is_of_memory(const sl__operations *ops, size_t item)
{
    const sl_call *call = sl__item_call(ops, item);
    const char *name = call && call->kind == SL_CALL_PLAIN ? sl_call_name(ops->timeline, call) : "";
    return strcmp(name, "cudaMalloc") == 0 || strcmp(name, "cudaFree") == 0;
}

/* Held the host in calls that one change ends, whatever their lines. */
static bool is_one_for_host(const sl__operations *ops, size_t a, size_t b)
{
    sl__first first = sl__first_launch(ops, a);
    if (first != SL__NOT_FIRST) return first == sl__first_launch(ops, b);
    return is_of_memory(ops, a) && is_of_memory(ops, b);
}

/* What the cause alone says of it: work leaves the NULL stream, or its stream, as a whole. */
static bool is_one_by_cause(const sl__operations *ops, const sl_finding *a, const sl_finding *b)
{
    if (a->cause == SL_CAUSE_NULL_STREAM || a->cause == SL_CAUSE_CHANNEL
        || a->cause == SL_CAUSE_COMM_LAST)
        return true;
    if (sl_cause_traits(a->cause) & SL_CAUSE_STREAM_WAITS)
        return is_same_waiter(ops, sl__operations_find(ops, a->waiter),
                              sl__operations_find(ops, b->waiter));
    if (a->cause == SL_CAUSE_HOST_ISSUING)
        return sl__is_of_launches(ops, a) && sl__is_of_launches(ops, b);
    return a->cause == SL_CAUSE_HOST_BLOCKED
           && is_one_for_host(ops, sl__operations_find(ops, a->by),
                              sl__operations_find(ops, b->by));
}

static bool is_one(const sl__operations *ops, const sl_finding *a, const sl_finding *b)
{
    bool by_host = sl_cause_traits(a->cause) & SL_CAUSE_BY_HOST;
    bool any_row = by_host || a->cause == SL_CAUSE_LATE_RANK || a->cause == SL_CAUSE_COMM_LAST;
    if (a->cause != b->cause || !((a->idle && b->idle) || any_row)) return false;
    if (is_one_by_cause(ops, a, b)) return true;
    return a->cause != SL_CAUSE_STREAM_ORDER /* there the waiter has to move */
           && is_same_by(ops, a->cause, sl__operations_find(ops, a->by),
                         sl__operations_find(ops, b->by));
}

void sl__causes_group(const sl__operations *ops, sl_explanation *explanation)
{
    sl_finding *f = explanation->findings;
    for (size_t i = 0; i < explanation->n_findings; i++) {
        f[i].same_as = i;
        for (size_t k = 0; k < i && i < SL__GROUPED_FINDINGS && f[i].same_as == i; k++) {
            if (is_one(ops, &f[k], &f[i])) f[i].same_as = f[k].same_as;
        }
    }
}
