/* holds.h - for every operation of a timeline, what it was held by: as the backend
 * told it, or inferred from the spans and calls.
 *
 * Records and waits of events are operations here as well: their streams run them in
 * order, and others wait for them. */
#ifndef SL_TIMELINE_HOLDS_H
#define SL_TIMELINE_HOLDS_H

#include "timeline.h"

#define SL__NO_ITEM SIZE_MAX

/* A span or a call, in order of issue. */
typedef struct sl__item {
    uint64_t correlation;
    size_t index;               /* of the span or call */
    size_t before;              /* the item before it in its stream (of a synchronisation: in
                                 * the stream that it waits for), or SL__NO_ITEM */
    int64_t start_ns, end_ns;   /* on the device; of calls that are no operations: 0 */
    bool is_call;
} sl__item;

typedef struct sl__holds {
    const sl_timeline *timeline;
    bool inferred;
    sl__item *items;
    sl_hold *holds;             /* one an item; correlation 0 for calls that are no operations */
    size_t n;
} sl__holds;

sl_status sl__holds_collect(const sl_timeline *timeline, sl__holds *holds, sl_error *err);
void sl__holds_free(sl__holds *holds);

/* The index of the item with this correlation, or SL__NO_ITEM. */
size_t sl__holds_find(const sl__holds *holds, uint64_t correlation);

/* The items that are spans of one engine (-1: of all), in order of their ends. The caller
 * frees *order, which is NULL if there are none. */
sl_status sl__holds_by_end(const sl__holds *holds, int engine, size_t **order, size_t *n,
                           sl_error *err);

/* What an item was in the script and on the host. Zero and NULL where it does not apply. */
const sl_span *sl__item_span(const sl__holds *holds, const sl__item *item);
const sl_call *sl__item_call(const sl__holds *holds, const sl__item *item);
void sl__item_host_ns(const sl__holds *holds, const sl__item *item, int64_t *start_ns,
                      int64_t *end_ns);

/* A span that copies from or to pageable memory. */
bool sl__span_is_pageable(const sl_span *span);

#endif
