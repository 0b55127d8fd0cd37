/* span_holds.c - what each span waited for, as far as that is another span.
 */
#include "operations.h"

#include <stdlib.h>

#define CALLS_PASSED 64

/* What was held by a record or a wait was held by what these waited for in turn: the last
 * span before them, for the first reason that is more than their stream's order. An earlier one was
 * taken before; after one that came later it may be some more steps. */
static void see_through_calls(sl__operations *all)
{
    for (size_t i = 0; i < all->n; i++) {
        sl__item *held = &all->items[i];
        for (int n = 0; n < CALLS_PASSED && held->ready_by != SL__NO_ITEM; n++) {
            const sl__item *by = &all->items[held->ready_by];
            if (!by->is_call || by->ready_by == SL__NO_ITEM) break;
            if (held->ready_cause == SL_CAUSE_STREAM_ORDER) held->ready_cause = by->ready_cause;
            held->ready_by = by->ready_by;
        }
    }
}

static uint64_t correlation_of(const sl__operations *all, size_t item)
{
    return item != SL__NO_ITEM ? all->items[item].correlation : 0;
}

sl_status sl__span_holds_collect(const sl_timeline *timeline, sl_hold **holds, sl_error *err)
{
    sl__operations all;
    const size_t n = sl_timeline_span_count(timeline);
    size_t span = 0;
    sl_status status = sl__operations_collect(timeline, true, &all, err);
    if (status != SL_OK) return status;
    *holds = malloc((n + 1) * sizeof **holds);
    if (!*holds) status = sl__no_memory(err, "what %zu spans waited for", n);
    see_through_calls(&all);
    for (size_t i = 0; *holds && i < all.n; i++) {
        const sl__item *held = &all.items[i];
        if (!held->is_call)
            (*holds)[span++] = (sl_hold){ .correlation = held->correlation,
                                          .ready_ns = held->ready_ns,
                                          .ready_by = correlation_of(&all, held->ready_by),
                                          .start_by = correlation_of(&all, held->start_by),
                                          .ready_cause = held->ready_cause,
                                          .start_cause = held->start_cause };
    }
    sl__operations_free(&all);
    return status;
}
