/* explain.c - where time was lost, and to what.
 *
 * Two kinds of lost time are looked for.
 *   Idle: an engine stood still before a span X that came to it. The gap is walked
 *   backwards from X's start along what held X (holds.h): while an earlier operation P of
 *   its stream ran, the cause is stream order; before P started, it is what held P; and
 *   so on across events, the NULL stream and hardware channels (the first of these that
 *   was crossed gives the cause its name), until the gap's beginning is reached or an
 *   operation that the host had not issued yet. Then it is what the host did: waited in a
 *   call, worked, or issued other things.
 *   Busy: a span was ready, but its engine worked for others (or, for hardware channels
 *   and the NULL stream, it was held although its own stream had nothing before it).
 *
 * The reason that counts is always the last one, without which the operation would have
 * started earlier. The time from the call to the start is shifted away: had the host
 * issued the operation earlier, that time would have passed earlier too, so what the host
 * did before it is the cause, and not the latency.
 *
 * The same walk, from the last end to the first start and with the operations themselves
 * as parts of it, takes the makespan apart. There a synchronisation is no end: the walk
 * goes on with the operation that the host waited for.
 *
 * Each engine's gaps do not overlap, so every operation is looked at a few times at most:
 * O(n log n) in all. Stretches with the same cause, engine, and names and script lines on
 * both sides are taken together; a finding's loss is the union of its stretches.
 */
#include "timeline.h"

#include <stdlib.h>

#include "holds.h"
#include "overlap.h"
#include "store.h"

#define SHORT_PAUSE_NS 20000    /* between calls: still issuing, not busy with something else */
#define SLOW_CALL_NS 20000      /* an asynchronous call that takes longer was held up */
#define LONG_QUEUE 512          /* operations in flight: a slow call then means a full queue */

typedef struct stretch {        /* one sl_wait in the making, with what it is grouped by */
    uint32_t texts[4];          /* where and name of the waiter, and of what it waited for */
    uint8_t cause, engine;
    bool idle;
    size_t waiter, by;          /* items; by may be SL__NO_ITEM */
    int64_t from_ns, to_ns;
} stretch;

typedef struct search {
    sl__holds holds;
    sl_engine engine;           /* whose gaps are walked */
    bool chain;                 /* the makespan is taken apart: what ran is no cause */
    const size_t *by_end;       /* for the chain: the items that are spans, by end */
    size_t n_by_end;
    size_t waiter;              /* the item before which the gap is */
    int64_t from_ns;            /* the gap's beginning */
    stretch *found;
    size_t n, cap;
    bool failed;                /* out of memory */
} search;

static int64_t max_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- noting ------------------------------------------------------------------- */

static void texts_of(const search *s, size_t item, uint32_t texts[2])
{
    texts[0] = texts[1] = 0;
    if (item == SL__NO_ITEM)
        return;
    const sl_span *span = sl__item_span(&s->holds, &s->holds.items[item]);
    const sl_call *call = sl__item_call(&s->holds, &s->holds.items[item]);
    texts[0] = span ? span->where : call->where;
    texts[1] = span ? span->name : call->name;
}

static bool continues(const stretch *last, const stretch *next)
{
    return last->cause == next->cause && last->engine == next->engine
           && last->idle == next->idle && last->waiter == next->waiter
           && last->texts[2] == next->texts[2] && last->texts[3] == next->texts[3]
           && next->to_ns == last->from_ns;
}

static void note(search *s, sl_cause cause, bool idle, size_t by, int64_t from_ns, int64_t to_ns)
{
    stretch next = { .cause = (uint8_t)cause, .engine = (uint8_t)s->engine, .idle = idle,
                     .waiter = s->waiter, .by = by, .from_ns = from_ns, .to_ns = to_ns };
    if (from_ns >= to_ns || s->failed)
        return;
    texts_of(s, s->waiter, next.texts);
    texts_of(s, by, next.texts + 2);
    if (s->n > 0 && continues(&s->found[s->n - 1], &next)) {
        s->found[s->n - 1].from_ns = from_ns;
        return;
    }
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        stretch *grown = realloc(s->found, cap * sizeof *grown);
        s->failed = !grown;
        if (!grown)
            return;
        s->found = grown;
        s->cap = cap;
    }
    s->found[s->n++] = next;
}

/* ---- what the host did ----------------------------------------------------------- */

/* Operations of the item's stream that were in flight when it was issued, up to a limit. */
static bool has_long_queue(const search *s, size_t item)
{
    int64_t issued_ns, end_ns;
    sl__item_host_ns(&s->holds, &s->holds.items[item], &issued_ns, &end_ns);
    size_t at = s->holds.items[item].before;
    for (int n = 0; n < LONG_QUEUE; n++) {
        if (at == SL__NO_ITEM || s->holds.items[at].end_ns <= issued_ns)
            return false;
        at = s->holds.items[at].before;
    }
    return true;
}

static sl_cause cause_of_launch(const search *s, size_t item, bool queue_full)
{
    int64_t start_ns, end_ns;
    sl__item_host_ns(&s->holds, &s->holds.items[item], &start_ns, &end_ns);
    bool slow = s->holds.inferred && end_ns - start_ns > SLOW_CALL_NS;
    return queue_full || (slow && has_long_queue(s, item)) ? SL_CAUSE_QUEUE_FULL
                                                           : SL_CAUSE_HOST_ISSUING;
}

static sl_cause cause_of_call(const search *s, size_t item)
{
    const sl_span *span = sl__item_span(&s->holds, &s->holds.items[item]);
    const sl_call *call = sl__item_call(&s->holds, &s->holds.items[item]);
    if (span && (span->flags & (SL_SPAN_HOST_WAITED | SL_SPAN_LOADED)
                 || sl__span_is_pageable(span)))
        return SL_CAUSE_HOST_BLOCKED;
    if (span)
        return cause_of_launch(s, item, span->flags & SL_SPAN_QUEUE_FULL);
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD:
    case SL_CALL_STREAM_WAIT: return cause_of_launch(s, item, call->queue_full);
    case SL_CALL_HOST_WORK: return SL_CAUSE_HOST_WORK;
    default: return SL_CAUSE_HOST_BLOCKED;
    }
}

/* The number of items whose calls began before `ns`: the host issues in order. */
static size_t issued_before(const search *s, int64_t ns)
{
    size_t low = 0, high = s->holds.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int64_t start_ns, end_ns;
        sl__item_host_ns(&s->holds, &s->holds.items[middle], &start_ns, &end_ns);
        if (start_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Between two calls. A short pause belongs to the loop that issues. */
static void note_pause(search *s, size_t before, size_t after, int64_t from_ns, int64_t to_ns,
                       int64_t shift_ns)
{
    bool pause = to_ns - from_ns < SHORT_PAUSE_NS && after != SL__NO_ITEM
                 && cause_of_call(s, after) == SL_CAUSE_HOST_ISSUING;
    note(s, pause ? SL_CAUSE_HOST_ISSUING : SL_CAUSE_HOST_WORK, true, pause ? after : before,
         from_ns + shift_ns, to_ns + shift_ns);
}

/* The operation that ended last before the call did, and was issued before it. */
static size_t last_before_end(const search *s, size_t item, int64_t end_ns)
{
    size_t low = 0, high = s->n_by_end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->holds.items[s->by_end[middle]].end_ns <= end_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && s->by_end[low - 1] < item ? s->by_end[low - 1] : SL__NO_ITEM;
}

/* For the chain: what the host waited for in this call, if it ended during the call. */
static size_t synchronised_with(const search *s, size_t item)
{
    const sl_call *call = sl__item_call(&s->holds, &s->holds.items[item]);
    size_t found = SL__NO_ITEM;
    if (!s->chain || !call)
        return SL__NO_ITEM;
    if (call->kind == SL_CALL_STREAM_SYNC)
        found = s->holds.items[item].before;
    else if (call->kind == SL_CALL_EVENT_SYNC && call->target)
        found = sl__holds_find(&s->holds, call->target);
    else if (call->kind == SL_CALL_DEVICE_SYNC || call->waited_for_device)
        found = last_before_end(s, item, call->host_end_ns);
    bool fits = found < item && s->holds.items[found].end_ns > call->host_start_ns
                && s->holds.items[found].end_ns <= call->host_end_ns;
    return fits ? found : SL__NO_ITEM;
}

/* Backwards from `to_ns` to `from_ns` of the host's time; what is found counts
 * `shift_ns` later. Returns the operation with which the walk goes on, if there is one. */
static size_t walk_host(search *s, int64_t from_ns, int64_t to_ns, int64_t shift_ns)
{
    size_t after = SL__NO_ITEM;
    for (size_t i = issued_before(s, to_ns); i > 0 && to_ns > from_ns; i--) {
        int64_t start_ns, end_ns;
        sl__item_host_ns(&s->holds, &s->holds.items[i - 1], &start_ns, &end_ns);
        start_ns = max_ns(start_ns, from_ns);
        end_ns = min_ns(end_ns, to_ns);
        if (end_ns < to_ns)
            note_pause(s, i - 1, after, max_ns(end_ns, from_ns), to_ns, shift_ns);
        size_t awaited = synchronised_with(s, i - 1);
        if (awaited != SL__NO_ITEM && s->holds.items[awaited].end_ns < end_ns + shift_ns
            && end_ns > from_ns) {
            note(s, SL_CAUSE_HOST_BLOCKED, true, i - 1, s->holds.items[awaited].end_ns,
                 end_ns + shift_ns);
            return awaited;
        }
        note(s, cause_of_call(s, i - 1), true, i - 1, start_ns + shift_ns, end_ns + shift_ns);
        to_ns = min_ns(to_ns, max_ns(start_ns, from_ns));
        if (end_ns < from_ns)
            to_ns = from_ns;
        after = i - 1;
    }
    if (to_ns > from_ns)
        note_pause(s, SL__NO_ITEM, after, from_ns, to_ns, shift_ns);
    return SL__NO_ITEM;
}

/* ---- walking a gap ------------------------------------------------------------------ */

/* When the item could be seen by the device: its call's end, or, in a call that goes on
 * while the operation runs, when it was ready. */
static int64_t visible_ns(const search *s, size_t item)
{
    int64_t start_ns, end_ns;
    sl__item_host_ns(&s->holds, &s->holds.items[item], &start_ns, &end_ns);
    return min_ns(end_ns, s->holds.holds[item].ready_ns);
}

/* Between ready and start. Until the more urgent kernel went first there was no room, for
 * the reason that it had itself to wait for. */
static void note_start(search *s, size_t item, bool idle, int64_t from_ns, int64_t to_ns)
{
    const sl_hold *hold = &s->holds.holds[item];
    sl_cause cause = (sl_cause)hold->start_cause;
    size_t by = hold->start_by ? sl__holds_find(&s->holds, hold->start_by) : SL__NO_ITEM;
    if (cause == SL_CAUSE_NONE)
        cause = SL_CAUSE_LATENCY;
    if (cause == SL_CAUSE_PRIORITY && by != SL__NO_ITEM) {
        const sl_hold *urgent = &s->holds.holds[by];
        int64_t went_ns = min_ns(max_ns(from_ns, s->holds.items[by].start_ns), to_ns);
        bool had_to_wait = urgent->start_cause == SL_CAUSE_ROOM && urgent->start_by;
        size_t first = had_to_wait ? sl__holds_find(&s->holds, urgent->start_by) : by;
        note(s, cause, idle, by, went_ns, to_ns);
        note(s, SL_CAUSE_ROOM, idle, first, from_ns, went_ns);
        return;
    }
    note(s, cause, idle, by, from_ns, to_ns);
}

/* A pageable copy waits inside its own call until its stream has come to it: that is
 * the stream's order, and not the host's doing. */
static size_t awaited_in_call(const search *s, size_t item)
{
    const sl_span *span = sl__item_span(&s->holds, &s->holds.items[item]);
    size_t before = s->holds.items[item].before;
    if (!span || !sl__span_is_pageable(span) || before == SL__NO_ITEM)
        return SL__NO_ITEM;
    return s->holds.items[before].end_ns > span->host_start_ns ? before : SL__NO_ITEM;
}

/* What the item waited for until it was ready: an earlier item, or SL__NO_ITEM for the
 * host. *cause says by which rule. */
static size_t awaited(const search *s, size_t item, sl_cause *cause)
{
    const sl_hold *hold = &s->holds.holds[item];
    *cause = (sl_cause)hold->ready_cause;
    if (*cause == SL_CAUSE_LATENCY || *cause == SL_CAUSE_NONE) {
        *cause = SL_CAUSE_STREAM_ORDER;
        return awaited_in_call(s, item);
    }
    size_t by = hold->ready_by ? sl__holds_find(&s->holds, hold->ready_by) : SL__NO_ITEM;
    return by < item ? by : SL__NO_ITEM;
}

/* A stretch of the chain in which the item itself ran. */
static void note_run(search *s, size_t item, int64_t from_ns, int64_t to_ns)
{
    const sl_span *span = sl__item_span(&s->holds, &s->holds.items[item]);
    s->waiter = item;
    if (span)
        s->engine = (sl_engine)span->engine;
    note(s, SL_CAUSE_NONE, true, SL__NO_ITEM, from_ns, to_ns);
}

/* Backwards from `to_ns`, when `item` started, to the gap's beginning. */
static void walk_gap(search *s, size_t item, int64_t to_ns)
{
    sl_cause via = SL_CAUSE_NONE;
    while (to_ns > s->from_ns) {
        int64_t ready_ns = min_ns(max_ns(s->holds.holds[item].ready_ns, s->from_ns), to_ns);
        note_start(s, item, true, ready_ns, to_ns);
        sl_cause cause;
        size_t by = awaited(s, item, &cause);
        if (by == SL__NO_ITEM) {
            int64_t visible = visible_ns(s, item);
            int64_t shift = max_ns(0, ready_ns - visible);
            item = walk_host(s, s->from_ns - shift, min_ns(visible, ready_ns), shift);
            if (item == SL__NO_ITEM)
                return;
            const sl__item *awaited_by_host = &s->holds.items[item];
            note_run(s, item, max_ns(awaited_by_host->start_ns, s->from_ns),
                     awaited_by_host->end_ns);
            to_ns = awaited_by_host->start_ns;
            continue;
        }
        if (via == SL_CAUSE_NONE || via == SL_CAUSE_STREAM_ORDER)
            via = cause;
        const sl__item *p = &s->holds.items[by];
        int64_t end_ns = min_ns(max_ns(p->end_ns, s->from_ns), ready_ns);
        int64_t start_ns = min_ns(max_ns(p->start_ns, s->from_ns), end_ns);
        note(s, SL_CAUSE_LATENCY, true, by, end_ns, ready_ns);
        if (s->chain)
            note_run(s, by, start_ns, end_ns);
        else
            note(s, via, true, by, start_ns, end_ns);
        item = by;
        to_ns = start_ns;
    }
}

/* ---- engines -------------------------------------------------------------------------- */

typedef struct started { int64_t start_ns, end_ns; size_t item; } started;

static int by_start(const void *left, const void *right)
{
    const started *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

/* The span was ready, and its engine busy: only what other streams did counts. */
static void look_at_wait(search *s, size_t item)
{
    const sl__item *waiter = &s->holds.items[item];
    const sl_hold *hold = &s->holds.holds[item];
    bool queued = hold->start_cause == SL_CAUSE_ENGINE || hold->start_cause == SL_CAUSE_ROOM
                  || hold->start_cause == SL_CAUSE_PRIORITY || hold->start_cause == SL_CAUSE_CHANNEL;
    bool barred = hold->ready_cause == SL_CAUSE_CHANNEL || hold->ready_cause == SL_CAUSE_NULL_STREAM;
    s->waiter = item;
    if (queued)
        note_start(s, item, false, hold->ready_ns, waiter->start_ns);
    if (barred) {
        int64_t from_ns = visible_ns(s, item);
        if (waiter->before != SL__NO_ITEM)
            from_ns = max_ns(from_ns, s->holds.items[waiter->before].end_ns);
        note(s, (sl_cause)hold->ready_cause, false, sl__holds_find(&s->holds, hold->ready_by),
             from_ns, hold->ready_ns);
    }
}

static void look_at_engine(search *s, const started *order, size_t n, int64_t first_ns)
{
    int64_t end_ns = first_ns;
    for (size_t i = 0; i < n; i++) {
        if (order[i].start_ns > end_ns) {
            s->waiter = order[i].item;
            s->from_ns = end_ns;
            walk_gap(s, order[i].item, order[i].start_ns);
        }
        end_ns = max_ns(end_ns, order[i].end_ns);
    }
    for (size_t i = 0; i < n; i++)
        look_at_wait(s, order[i].item);
}

static sl_status take_makespan_apart(search *s, sl_error *err)
{
    size_t *order, n;
    sl_status status = sl__holds_by_end(&s->holds, -1, &order, &n, err);
    if (status != SL_OK || n == 0)
        return status;
    s->chain = true;
    s->n = 0;
    s->by_end = order;
    s->n_by_end = n;
    s->from_ns = sl__timeline_first_ns(s->holds.timeline);
    const sl__item *last = &s->holds.items[order[n - 1]];
    note_run(s, order[n - 1], last->start_ns, last->end_ns);
    walk_gap(s, order[n - 1], last->start_ns);
    free(order);
    return s->failed ? sl_fail(err, SL_ENOMEM, "no memory to explain %zu operations", s->holds.n)
                     : SL_OK;
}

/* Host functions are the host's own doing: their row is no engine that could be filled. */
static sl_status look_at_engines(search *s, sl_error *err)
{
    const sl__holds *holds = &s->holds;
    started *order = malloc((holds->n + 1) * sizeof *order);
    if (!order)
        return sl_fail(err, SL_ENOMEM, "no memory to explain %zu operations", holds->n);
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        size_t n = 0;
        for (size_t i = 0; i < holds->n; i++) {
            const sl_span *span = sl__item_span(holds, &holds->items[i]);
            if (span && span->engine == engine && engine != SL_ENGINE_HOST)
                order[n++] = (started){ span->start_ns, span->end_ns, i };
        }
        qsort(order, n, sizeof *order, by_start);
        s->engine = (sl_engine)engine;
        look_at_engine(s, order, n, sl__timeline_first_ns(holds->timeline));
    }
    free(order);
    if (s->failed)
        return sl_fail(err, SL_ENOMEM, "no memory to explain %zu operations", holds->n);
    return SL_OK;
}

/* ---- findings -------------------------------------------------------------------------- */

static int compare_groups(const stretch *a, const stretch *b)
{
    if (a->cause != b->cause)
        return a->cause < b->cause ? -1 : 1;
    if (a->engine != b->engine)
        return a->engine < b->engine ? -1 : 1;
    if (a->idle != b->idle)
        return a->idle ? -1 : 1;
    for (int i = 0; i < 4; i++) {
        if (a->texts[i] != b->texts[i])
            return a->texts[i] < b->texts[i] ? -1 : 1;
    }
    return 0;
}

static int by_group(const void *left, const void *right)
{
    const stretch *a = left, *b = right;
    int groups = compare_groups(a, b);
    if (groups != 0)
        return groups;
    if (a->from_ns != b->from_ns)
        return a->from_ns < b->from_ns ? -1 : 1;
    return (a->waiter > b->waiter) - (a->waiter < b->waiter);
}

/* How much of [from, to] lies in the union. */
static int64_t measure_within(const sl__union *u, int64_t from_ns, int64_t to_ns)
{
    size_t low = 0, high = u->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u->at[middle].end_ns <= from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t sum = 0;
    for (; low < u->n && u->at[low].start_ns < to_ns; low++)
        sum += min_ns(u->at[low].end_ns, to_ns) - max_ns(u->at[low].start_ns, from_ns);
    return sum;
}

/* Time that several waits share counts once; of waits for a busy engine, the time in which
 * it was busy. */
static sl_finding measure(const search *s, const stretch *group, size_t n, const sl__union *busy)
{
    sl_finding f = { .cause = (sl_cause)group->cause, .engine = (sl_engine)group->engine,
                     .idle = group->idle, .n_waits = n };
    const stretch *longest = group;
    int64_t from_ns = group->from_ns, to_ns = group->from_ns;
    for (size_t i = 0; i <= n; i++) {
        if (i == n || group[i].from_ns > to_ns) {
            f.lost_ns += group->idle ? to_ns - from_ns : measure_within(busy, from_ns, to_ns);
            if (i == n)
                break;
            from_ns = group[i].from_ns;
        }
        to_ns = max_ns(to_ns, group[i].to_ns);
        if (group[i].to_ns - group[i].from_ns > longest->to_ns - longest->from_ns)
            longest = &group[i];
    }
    f.waiter = s->holds.items[longest->waiter].correlation;
    f.by = longest->by == SL__NO_ITEM ? 0 : s->holds.items[longest->by].correlation;
    f.from_ns = longest->from_ns;
    f.to_ns = longest->to_ns;
    return f;
}

typedef struct ranked { sl_finding finding; size_t first; } ranked;

static int by_loss(const void *left, const void *right)
{
    const sl_finding *a = &((const ranked *)left)->finding, *b = &((const ranked *)right)->finding;
    if (a->lost_ns != b->lost_ns)
        return a->lost_ns > b->lost_ns ? -1 : 1;
    if (a->cause != b->cause)
        return a->cause < b->cause ? -1 : 1;
    if (a->engine != b->engine)
        return a->engine < b->engine ? -1 : 1;
    return (a->waiter > b->waiter) - (a->waiter < b->waiter);
}

static size_t group_length(const search *s, size_t first)
{
    size_t end = first + 1;
    while (end < s->n && compare_groups(&s->found[first], &s->found[end]) == 0)
        end++;
    return end - first;
}

static void give_wait(const search *s, const stretch *from, size_t finding, sl_wait *wait)
{
    *wait = (sl_wait){ .waiter = s->holds.items[from->waiter].correlation,
                       .by = from->by == SL__NO_ITEM ? 0 : s->holds.items[from->by].correlation,
                       .from_ns = from->from_ns, .to_ns = from->to_ns,
                       .finding = (uint32_t)finding };
}

/* The stretches by group, those that lost nothing left out, the largest loss first. */
static sl_status rank(search *s, const sl__union *busy, ranked **out, size_t *n_out, sl_error *err)
{
    size_t n_groups = 0, n = 0;
    if (s->n > 0)                   /* else found may be NULL */
        qsort(s->found, s->n, sizeof *s->found, by_group);
    for (size_t i = 0; i < s->n; i += group_length(s, i))
        n_groups++;
    ranked *groups = malloc((n_groups + 1) * sizeof *groups);
    if (!groups)
        return sl_fail(err, SL_ENOMEM, "no memory for %zu causes of waiting", n_groups);
    for (size_t i = 0, length; i < s->n; i += length) {
        length = group_length(s, i);
        groups[n] = (ranked){ measure(s, &s->found[i], length, &busy[s->found[i].engine]), i };
        n += groups[n].finding.lost_ns > 0;
    }
    qsort(groups, n, sizeof *groups, by_loss);
    *out = groups;
    *n_out = n;
    return SL_OK;
}

static sl_status give_findings(search *s, const sl__union *busy, sl_explanation *out, sl_error *err)
{
    ranked *groups;
    size_t n;
    sl_status status = rank(s, busy, &groups, &n, err);
    if (status != SL_OK)
        return status;
    out->findings = malloc((n + 1) * sizeof *out->findings);
    out->waits = malloc((s->n + 1) * sizeof *out->waits);
    if (!out->findings || !out->waits)
        status = sl_fail(err, SL_ENOMEM, "no memory for %zu stretches of waiting", s->n);
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        out->findings[out->n_findings++] = groups[i].finding;
        for (size_t k = 0; k < groups[i].finding.n_waits; k++)
            give_wait(s, &s->found[groups[i].first + k], i, &out->waits[out->n_waits++]);
    }
    free(groups);
    return status;
}

static sl_status give_chain(search *s, const sl__union *busy, sl_explanation *out, sl_error *err)
{
    ranked *groups;
    size_t n;
    sl_status status = take_makespan_apart(s, err);
    if (status == SL_OK)
        status = rank(s, busy, &groups, &n, err);
    if (status != SL_OK)
        return status;
    out->chain = malloc((n + 1) * sizeof *out->chain);
    if (!out->chain)
        status = sl_fail(err, SL_ENOMEM, "no memory for %zu parts of the makespan", n);
    for (size_t i = 0; i < n && status == SL_OK; i++)
        out->chain[out->n_chain++] = groups[i].finding;
    free(groups);
    return status;
}

static sl_status rank_all(search *s, sl_explanation *out, sl_error *err)
{
    sl__union busy[SL_ENGINES] = { { 0 } };
    sl_status status = SL_OK;
    for (int engine = 0; engine < SL_ENGINES && status == SL_OK; engine++) {
        sl_selection sel = sl_select_all;
        sel.engine = engine;
        status = sl__union_collect(s->holds.timeline, &sel, &busy[engine], err);
    }
    if (status == SL_OK)
        status = give_findings(s, busy, out, err);
    if (status == SL_OK)
        status = give_chain(s, busy, out, err);
    for (int engine = 0; engine < SL_ENGINES; engine++)
        sl__union_free(&busy[engine]);
    return status;
}

sl_status sl_timeline_find_causes(const sl_timeline *timeline, sl_explanation *explanation,
                                  sl_error *err)
{
    search s = { .n = 0 };
    *explanation = (sl_explanation){ 0 };
    sl_status status = sl__holds_collect(timeline, &s.holds, err);
    if (status != SL_OK)
        return status;
    explanation->inferred = s.holds.inferred;
    status = look_at_engines(&s, err);
    if (status == SL_OK)
        status = rank_all(&s, explanation, err);
    free(s.found);
    sl__holds_free(&s.holds);
    if (status != SL_OK)
        sl_explanation_free(explanation);
    return status;
}

void sl_explanation_free(sl_explanation *explanation)
{
    free(explanation->findings);
    free(explanation->waits);
    free(explanation->chain);
    *explanation = (sl_explanation){ 0 };
}
