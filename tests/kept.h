/* kept.h - what a timeline keeps, as arrays of records, which tests look at again and again. They stay
 * until the test ends. */
#ifndef TESTS_KEPT_H
#define TESTS_KEPT_H

#include <stdlib.h>

#include "../core/streamlab.h"
#include "../core/timeline/store.h"
#include "tap.h"

typedef struct kept_array {
    struct kept_array *next;
    sl_span first[]; /* as large as any of the records needs it */
} kept_array;

static kept_array *kept_arrays;

TAP_UNUSED static void free_kept(void)
{
    while (kept_arrays) {
        kept_array *next = kept_arrays->next;
        free(kept_arrays);
        kept_arrays = next;
    }
}

TAP_UNUSED static void *keep_array(size_t bytes)
{
    kept_array *array = malloc(sizeof *array + bytes);
    if (!array) exit(1);
    if (!kept_arrays) atexit(free_kept);
    array->next = kept_arrays;
    kept_arrays = array;
    return array->first;
}

TAP_UNUSED static const sl_span *spans_of(const sl_timeline *timeline, size_t *n)
{
    *n = sl_timeline_span_count(timeline);
    sl_span *spans = keep_array(*n * sizeof *spans);
    for (size_t i = 0; i < *n; i++)
        spans[i] = sl_timeline_span(timeline, i);
    return spans;
}

TAP_UNUSED static const sl_call *calls_of(const sl_timeline *timeline, size_t *n)
{
    *n = sl_timeline_call_count(timeline);
    sl_call *calls = keep_array(*n * sizeof *calls);
    for (size_t i = 0; i < *n; i++)
        calls[i] = sl_timeline_call(timeline, i);
    return calls;
}

/* Of spans and calls together, those that have one. */
TAP_UNUSED static const sl_hold *holds_of(const sl_timeline *timeline, size_t *n)
{
    sl__issues at = { .timeline = timeline };
    sl_hold *holds = keep_array(
        (sl_timeline_span_count(timeline) + sl_timeline_call_count(timeline)) * sizeof *holds);
    for (*n = 0; sl__issues_next(&at);)
        *n += at.is_call ? sl_timeline_call_hold(timeline, at.index, &holds[*n])
                         : sl_timeline_span_hold(timeline, at.index, &holds[*n]);
    return holds;
}

/* NULL: there is none with this correlation. */
TAP_UNUSED static const sl_span *span_of(const sl_timeline *timeline, uint64_t correlation)
{
    size_t at = sl_timeline_find_span(timeline, correlation);
    sl_span *span = at != SL_NOT_FOUND ? keep_array(sizeof *span) : NULL;
    if (span) *span = sl_timeline_span(timeline, at);
    return span;
}

TAP_UNUSED static const sl_call *call_of(const sl_timeline *timeline, uint64_t correlation)
{
    size_t at = sl_timeline_find_call(timeline, correlation);
    sl_call *call = at != SL_NOT_FOUND ? keep_array(sizeof *call) : NULL;
    if (call) *call = sl_timeline_call(timeline, at);
    return call;
}

#endif
