/* operations.h - the operations of a timeline in order of issue, and what each one waited for: as
 * the backend said, or inferred from the spans and calls (infer.c).
 *
 * Records and waits of events are operations here as well: their streams run them in
 * order, and others wait for them. */
#ifndef SL_TIMELINE_OPERATIONS_H
#define SL_TIMELINE_OPERATIONS_H

#include "rules.h"
#include "store.h"
#include "timeline.h"

#define SL__NO_ITEM SIZE_MAX

#define SL__SHORT_PAUSE_NS 50000 /* between calls: still issuing, not busy with something else */
#define SL__FIRST_CALL_NS 500000 /* longer than any launch that only launches */

/* Items in order of one of their times. */
typedef struct sl__moment {
    int64_t at_ns;
    size_t item;
} sl__moment;
typedef struct sl__order {
    sl__moment *at;
    size_t n;
} sl__order;

/* A span or a call, in order of issue, and what it waited for, as in sl_hold. */
typedef struct sl__item {
    uint64_t correlation;
    uint32_t index;           /* of the span or call */
    size_t before;            /* the item before it in its stream (of a call that waits: what
                               * ended last of what it waits for), or SL__NO_ITEM */
    int64_t start_ns, end_ns; /* on the device; of calls that are no operations: 0 */
    int64_t host_start_ns, host_end_ns;
    int64_t ready_ns;
    size_t ready_by, start_by; /* items, or SL__NO_ITEM; ready_by is an earlier one, but
                                * for a value that work wrote which was issued later */
    sl__issue issue;           /* its stream, its thread, ...: what the rules look at */
    uint8_t ready_cause, start_cause;
    bool is_call, in_stream; /* in_stream: a span, a record or a wait */
    bool is_reported;        /* by the backend */
} sl__item;

typedef struct sl__launch { /* of a graph */
    const sl_launch_note *note;
    size_t call; /* the item that launched it, or SL__NO_ITEM */
} sl__launch;

typedef struct sl__operations {
    const sl_timeline *timeline;
    sl_span *spans; /* the timeline's, which are read many times */
    sl_call *calls;
    size_t n_spans, n_calls;
    bool inferred;      /* at least one of them */
    bool unknown_edges; /* a graph's */
    uint32_t n_threads; /* of the host */
    sl__item *items;
    size_t n;
    sl__rules rules;
    size_t *by_lane;      /* the items in streams: stream after stream, each in order */
    size_t *place;        /* by item: where it stands in by_lane */
    size_t *lane_start;   /* by lane: where its items begin; rules.lanes.n + 1 of them */
    sl__order *orders;    /* those asked for so far (sl__operations_order) */
    size_t *n_among;      /* by selection: how many items it has */
    sl__launch *launches; /* of graphs, as in the timeline */
    size_t n_launches;
} sl__operations;

/* The operations; if `reported`, with what the backend said about their waits. On failure there is
 * something to free, too. */
sl_status sl__operations_gather(const sl_timeline *timeline, bool reported, sl__operations *ops,
                                sl_error *err);
/* The same with what they waited for: the rest is inferred (infer.c). */
sl_status sl__operations_collect(const sl_timeline *timeline, bool reported, sl__operations *ops,
                                 sl_error *err);
void sl__operations_free(sl__operations *ops);

/* The index of the item with this correlation, or SL__NO_ITEM; no item has correlation 0. */
size_t sl__operations_find(const sl__operations *ops, uint64_t correlation);

typedef enum sl__time {
    SL__BY_START,
    SL__BY_END,
    SL__BY_HOST_START,
    SL__BY_HOST_END,
    SL__TIMES
} sl__time;

enum {
    SL__ALL_SPANS = SL__UNITS,
    SL__ALL_IN_STREAMS,
    SL__ALL_ITEMS,
    SL__ON_SMS, /* plus the place of a device: what its SMs ran, collectives, too */
    SL__SELECTIONS = SL__ON_SMS + SL_MOST_DEVICES
};

/* The spans of a device's engine (sl__unit), or one of those above. Items of the same time are in
 * order of issue. Sorted once: sl__operations_free frees it, and the times stay as they are. */
sl_status sl__operations_order(const sl__operations *ops, int which, sl__time by, sl__order *order,
                               sl_error *err);
/* Gives their memory back: those that were asked for are no longer valid. */
void sl__operations_forget_orders(const sl__operations *ops);
/* How many of them have a time up to `ns`. */
size_t sl__order_count(const sl__order *order, int64_t ns);
/* The same where the next one is asked for a time near the last: *near is what that came to, 0 at
 * first. */
size_t sl__order_count_near(const sl__order *order, int64_t ns, size_t *near);

/* Its blocks run on the SMs. */
static inline bool sl__is_on_sms(const sl_span *span)
{
    return sl_engine_on_gpu(span->engine) == SL_ENGINE_COMPUTE;
}

/* NULL where it is not one, as for SL__NO_ITEM. */
static inline const sl_span *sl__item_span(const sl__operations *ops, size_t item)
{
    bool is_span = item != SL__NO_ITEM && !ops->items[item].is_call;
    return is_span ? &ops->spans[ops->items[item].index] : NULL;
}

static inline const sl_call *sl__item_call(const sl__operations *ops, size_t item)
{
    bool is_call = item != SL__NO_ITEM && ops->items[item].is_call;
    return is_call ? &ops->calls[ops->items[item].index] : NULL;
}

static inline uint32_t sl__item_stream(const sl__operations *ops, size_t item)
{
    return ops->rules.lanes.ids[ops->items[item].issue.lane];
}
/* The place of its device. */
static inline int sl__item_place(const sl__operations *ops, size_t item)
{
    return (int)ops->rules.of[ops->items[item].issue.lane].place;
}
/* That of its stream; of what a graph ran, which of the two the graph uses. */
int32_t sl__item_priority(const sl__operations *ops, size_t item);

/* The launch that ran the item, or NULL. */
static inline const sl__launch *sl__launch_of(const sl__operations *ops, size_t item)
{
    uint32_t launch = item != SL__NO_ITEM ? ops->items[item].issue.launch : 0;
    return launch > 0 ? &ops->launches[launch - 1] : NULL;
}
/* The launch that the item, a call, made, or NULL. */
const sl__launch *sl__launch_by(const sl__operations *ops, size_t item);

/* Work of the host's own that a script asked for. That of another program is a stall of its
 * profiler, which holds the host as a call does. */
static inline bool sl__item_is_host_work(const sl__operations *ops, size_t item)
{
    if (sl__timeline_is_foreign(ops->timeline)) return false;
    const sl_call *call = sl__item_call(ops, item);
    return call && call->kind == SL_CALL_HOST_WORK;
}

/* What tells calls of the script from others: its line, and what it called. */
typedef struct sl__line {
    uint32_t where, name; /* text ids */
    int kind;             /* of the call, or one of these */
} sl__line;

enum { SL__LINE_OF_SPAN = -1, SL__NO_LINE = -2 };

/* All 0 but for the kind where there is no item. */
static inline sl__line sl__item_line(const sl__operations *ops, size_t item)
{
    const sl_span *span = sl__item_span(ops, item);
    const sl_call *call = sl__item_call(ops, item);
    if (span) return (sl__line){ span->where, span->name, SL__LINE_OF_SPAN };
    return call ? (sl__line){ call->where, call->name, call->kind }
                : (sl__line){ 0, 0, SL__NO_LINE };
}
static inline bool sl__line_is_same(const sl__line *a, const sl__line *b)
{
    return a->where == b->where && a->name == b->name && a->kind == b->kind;
}

/* What each span waited for (span_holds.c): spans, where the records and waits between are passed
 * over; in order of the spans. The caller frees *holds. */
sl_status sl__span_holds_collect(const sl_timeline *timeline, sl_hold **holds, sl_error *err);

/* A span that copies from or to pageable memory. */
bool sl__span_is_pageable(const sl_span *span);
/* What such copies would take if that were pinned (pinned.c): bytes per ns from and to it. */
typedef struct sl__pinned {
    double h2d, d2h;
    bool any; /* there are copies from or to pageable memory */
} sl__pinned;
/* The rates of the timeline's large pinned copies; where there are none, what the PCIe bus of such
 * a GPU reaches. */
sl__pinned sl__pinned_find(const sl_timeline *timeline);
/* The length of a span; of a copy from or to pageable memory, if it were pinned: never more. */
int64_t sl__pinned_ns(const sl__pinned *rates, const sl_span *span);

/* The same of an item's call (recording_cost.c), which a node of a graph has none of. */
int64_t sl__recording_cost_ns(const sl__operations *ops, size_t item);

/* The item whose call submitted this one: the launch of a graph that ran it, or itself. */
static inline size_t sl__submitter_of(const sl__operations *ops, size_t item)
{
    const sl__launch *launch = sl__launch_of(ops, item);
    return launch && launch->call != SL__NO_ITEM ? launch->call : item;
}
/* What makes a launch slow (code is loaded, a graph uploaded) comes before the operation is
 * submitted to the device: where it begins this short before its call's end, it depends on the end.
 * In traces of others 3 to 8 us on NVIDIA's GPUs, 6 to 10 on AMD's. */
#define SL__CALL_END_NS 12000
/* Whether an operation begins so short before the end of its call, and the call does not wait for
 * it. */
bool sl__begins_at_call_end(const sl__operations *ops, size_t item);
/* When an operation that begins before its call has ended can have been submitted at the
 * earliest: that long before the call's end, or when the call begins. */
int64_t sl__submitted_ns(const sl__operations *ops, size_t item);

#endif
