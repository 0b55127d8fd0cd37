/* gains.c - how much time removing each cause would gain: the makespan minus that of a replay
 * (replay.h) in which the cause delays nothing.
 *
 * What is left out of the replay:
 *   - of a call that blocked the host: all calls of its name and line; and a synchronisation
 *     right behind such a copy, which waits for the same;
 *   - of work of the host: the pause, or the call that did it;
 *   - of issuing: the host's time for all calls of its line (without lines: for all calls
 *     that wait for nothing). This is compared with a replay in which the host waits for
 *     nothing: a host that is never held up issues beside what the GPU does, and only what
 *     the GPU would wait for even then is the cost of issuing;
 *   - of order in a stream, events, engines and the like: that they held the operations
 *     from which the waits came.
 *   - of order in a stream among kernels that fit beside each other: every second one has
 *     another stream.
 * Findings that leave out the same share a replay. A replay in which engines hold
 * nothing takes at least as long as the busiest engine was busy, with copies or with kernels
 * that fill the GPU. The findings that lost least are not looked at, but for calls in which
 * the host waited: what it could not issue meanwhile is lost behind them.
 */
#include "findings.h"

#include <stdlib.h>

#include "overlap.h"
#include "replay.h"
#include "store.h"

#define MOST_REPLAYS 48
#define MOST_STEPS 60000000 /* of all replays together */
#define LEAST_PERMILLE 1    /* of the makespan; findings that lost less are not looked at */
#define CHAIN_STEPS 64      /* operations back to the one that the cause held */

typedef struct gains {
    const sl__operations *ops;
    sl_explanation *e;
    sl__replay replay;
    uint16_t *left_out; /* by item */
    int64_t makespan_ns, floor_ns;
    int64_t unheld_ns; /* the makespan if the host waits for nothing; -1: not played */
} gains;

static const sl__item *item_at(const gains *g, size_t i) { return &g->ops->items[i]; }

static void leave(gains *g, size_t i, unsigned bits)
{
    if (i != SL__NO_ITEM) g->left_out[i] |= (uint16_t)bits;
}

/* ---- what the host does ------------------------------------------------------------ */

/* The synchronisation right behind a copy whose call is left out waits for the copy. */
static void leave_next_sync(gains *g, size_t i)
{
    const sl_span *copy = sl__item_span(g->ops, i);
    if (!copy || copy->kind == SL_SPAN_KERNEL || i + 1 >= g->ops->n) return;
    const sl_call *next = sl__item_call(g->ops, i + 1);
    if (next && next->kind == SL_CALL_STREAM_SYNC && next->stream == copy->stream
        && next->host_start_ns - copy->host_end_ns < SL__SHORT_PAUSE_NS)
        leave(g, i + 1, SL__NO_CALL);
}

/* A call that only issues: it neither waits nor loads code. */
static bool is_launch(const sl__operations *ops, size_t i)
{
    const sl_call *call = sl__item_call(ops, i);
    const sl_span *span = sl__item_span(ops, i);
    const sl__item *item = &ops->items[i];
    if (item->host_end_ns - item->host_start_ns > SL__FIRST_CALL_NS) return false;
    if (span)
        return !sl__span_is_pageable(span)
               && !(span->flags & (SL_SPAN_HOST_WAITED | SL_SPAN_LOADED | SL_SPAN_QUEUE_FULL));
    return call->kind == SL_CALL_EVENT_RECORD || call->kind == SL_CALL_STREAM_WAIT
           || sl__launch_by(ops, i);
}

static void leave_host_work(gains *g, size_t by)
{
    const sl_call *call = sl__item_call(g->ops, by);
    leave(g, by,
          call && call->kind == SL_CALL_HOST_WORK ? SL__NO_CALL | SL__NO_PAUSE : SL__NO_PAUSE);
}

/* ---- what held operations ------------------------------------------------------------- */

static unsigned bits_of(sl_cause cause)
{
    static const uint16_t bits[SL_CAUSES] = {
#define X(id, name, traits, leaves_out) leaves_out,
        SL_CAUSE_MAP(X)
#undef X
    };
    return bits[cause];
}

/* What the host did in calls that its line made; not what it did between them. */
static bool is_by_line(sl_cause cause)
{
    return sl_cause_traits(cause) & SL_CAUSE_BY_HOST && bits_of(cause) != 0;
}

/* All calls of the line that the finding names, where a line is to blame. */
static void leave_calls(gains *g, const sl_finding *f)
{
    unsigned bits = bits_of(f->cause);
    size_t by = sl__operations_find(g->ops, f->by);
    if (!is_by_line(f->cause) || by == SL__NO_ITEM) return;
    sl__line wanted = sl__item_line(g->ops, by);
    for (size_t i = 0; i < g->ops->n; i++) {
        sl__line at = sl__item_line(g->ops, i);
        bool same_call = sl__line_is_same(&at, &wanted);
        if (bits == SL__NO_ISSUE
                ? is_launch(g->ops, i) && (wanted.where == 0 || at.where == wanted.where)
                : same_call)
            leave(g, i, bits);
        if (bits == SL__NO_CALL && same_call) leave_next_sync(g, i);
    }
}

/* The waiter, or the operation that it followed and that the cause held. */
static size_t held_one(const gains *g, size_t i, sl_cause cause)
{
    size_t at = i;
    if (cause == SL_CAUSE_LATENCY) return i;
    for (int n = 0; n < CHAIN_STEPS && at != SL__NO_ITEM; n++) {
        const sl__item *item = item_at(g, at);
        if (item->ready_cause == cause || item->start_cause == cause) return at;
        at = item->ready_by;
    }
    return i;
}

/* A launch comes behind all that its stream had before: without that, all that it runs goes on. */
static bool leave_launch(gains *g, size_t waiter, size_t by, sl_cause cause)
{
    const sl__launch *launch = sl__launch_of(g->ops, waiter);
    if (cause != SL_CAUSE_STREAM_ORDER || !launch || launch == sl__launch_of(g->ops, by))
        return false;
    uint32_t number = item_at(g, waiter)->launch;
    for (size_t i = waiter; i-- > 0 && item_at(g, i)->launch == number;)
        leave(g, i, SL__NO_LAUNCH);
    for (size_t i = waiter; i < g->ops->n && item_at(g, i)->launch == number; i++)
        leave(g, i, SL__NO_LAUNCH);
    return true;
}

static void leave_wait(gains *g, const sl_wait *wait, sl_cause cause, unsigned bits)
{
    size_t waiter = sl__operations_find(g->ops, wait->waiter);
    size_t by = sl__operations_find(g->ops, wait->by);
    if (waiter != SL__NO_ITEM && g->left_out[waiter] & SL__NO_LAUNCH) return;
    if (leave_launch(g, waiter, by, cause)) return;
    if (cause == SL_CAUSE_HOST_WORK)
        leave_host_work(g, by);
    else if (is_by_line(cause))
        leave(g, by, bits);
    else if (waiter != SL__NO_ITEM)
        leave(g, held_one(g, waiter, cause), bits);
}

/* The waits of a finding, of which the first is waits[first]. */
static void leave_waits(gains *g, const sl_finding *f, size_t first, unsigned bits)
{
    for (size_t k = 0; k < f->n_waits; k++)
        leave_wait(g, &g->e->waits[first + k], f->cause, bits);
}

/* ---- findings ----------------------------------------------------------------------------- */

/* Both leave out the same calls. */
static bool shares_replay(const gains *g, const sl_finding *a, const sl_finding *b)
{
    bool by_host = sl_cause_traits(a->cause) & SL_CAUSE_BY_HOST;
    if (a->cause != b->cause || !by_host || !a->by || !b->by) return false;
    sl__line x = sl__item_line(g->ops, sl__operations_find(g->ops, a->by));
    sl__line y = sl__item_line(g->ops, sl__operations_find(g->ops, b->by));
    bool pauses = a->cause == SL_CAUSE_HOST_WORK && x.kind != SL_CALL_HOST_WORK
                  && y.kind != SL_CALL_HOST_WORK;
    return x.where == y.where
           && (a->cause == SL_CAUSE_HOST_ISSUING || (pauses && x.where == 0)
               || sl__line_is_same(&x, &y));
}

static int64_t known_gain_ns(const gains *g, size_t finding)
{
    const sl_finding *f = g->e->findings;
    for (size_t k = 0; k < finding; k++) {
        if (f[k].gain_ns >= 0 && shares_replay(g, &f[k], &f[finding])) return f[k].gain_ns;
    }
    return -1;
}

/* Nothing is left out, or all waits of the host. */
static void begin(gains *g, bool host_waits)
{
    for (size_t i = 0; i < g->ops->n; i++) {
        const sl_span *span = sl__item_span(g->ops, i);
        const sl_call *call = sl__item_call(g->ops, i);
        bool waits = span ? span->flags & SL_SPAN_HOST_WAITED
                          : call->waited_for_device || call->kind == SL_CALL_STREAM_SYNC
                                || call->kind == SL_CALL_EVENT_SYNC
                                || call->kind == SL_CALL_DEVICE_SYNC;
        g->left_out[i] = waits && !host_waits ? SL__NO_CALL : 0;
    }
}

static int64_t unheld_makespan_ns(gains *g)
{
    if (g->unheld_ns < 0) {
        begin(g, false);
        g->unheld_ns = sl__replay_makespan_ns(&g->replay, g->left_out);
    }
    return g->unheld_ns;
}

static int64_t gain_of(gains *g, const sl_finding *f)
{
    bool issuing = f->cause == SL_CAUSE_HOST_ISSUING;
    int64_t whole_ns = issuing ? unheld_makespan_ns(g) : g->makespan_ns;
    bool in_turns = f->cause == SL_CAUSE_STREAM_ORDER && !f->idle;
    begin(g, !issuing);
    for (size_t i = 0, first = 0; i < g->e->n_findings; first += g->e->findings[i++].n_waits) {
        const sl_finding *other = &g->e->findings[i];
        if (other != f && !shares_replay(g, f, other)) continue;
        leave_waits(g, other, first, in_turns ? SL__NO_LAST : bits_of(f->cause));
    }
    leave_calls(g, f);
    int64_t ns = sl__replay_makespan_ns(&g->replay, g->left_out);
    if (bits_of(f->cause) & SL__NO_ENGINE) ns = sl__max_ns(ns, g->floor_ns);
    return sl__max_ns(0, whole_ns - ns);
}

/* What removing all of them gains, as one may hide another. */
static int64_t joint_gain_ns(gains *g)
{
    begin(g, true);
    for (size_t i = 0, first = 0; i < g->e->n_findings; first += g->e->findings[i++].n_waits) {
        const sl_finding *f = &g->e->findings[i];
        if (f->gain_ns < 0 || !(sl_cause_traits(f->cause) & SL_CAUSE_AVOIDABLE)) continue;
        leave_waits(g, f, first, bits_of(f->cause));
        leave_calls(g, f);
    }
    return sl__max_ns(0, g->makespan_ns - sl__replay_makespan_ns(&g->replay, g->left_out));
}

static bool is_worth_a_look(const gains *g, const sl_finding *f)
{
    if (f->cause == SL_CAUSE_FEWER_SMS) return false; /* how long it takes with all is not known */
    return f->cause == SL_CAUSE_HOST_BLOCKED
           || f->lost_ns >= g->makespan_ns / 1000 * LEAST_PERMILLE;
}

static void look_at_findings(gains *g)
{
    sl_finding *f = g->e->findings;
    size_t most = MOST_STEPS / (g->replay.n_steps + 1), n = 0;
    for (size_t i = 0; i < g->e->n_findings; i++) {
        f[i].gain_ns = -1;
        if (n >= MOST_REPLAYS || (n >= most && n > 0) || sl__stops_at(i)
            || !is_worth_a_look(g, &f[i]))
            continue;
        f[i].gain_ns = known_gain_ns(g, i);
        if (f[i].gain_ns < 0) {
            f[i].gain_ns = gain_of(g, &f[i]);
            n++;
        }
    }
}

/* ---- order ---------------------------------------------------------------------------------- */

typedef struct ranked {
    sl_finding finding;
    int64_t key_ns;
    size_t index, first;
} ranked;

/* They were in order of what was lost. */
static int by_gain(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->key_ns != b->key_ns) return a->key_ns > b->key_ns ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Whether kernels of one stream need their order is a guess: it is listed last where another cause
 * gains more than a few percent. */
static bool is_guess(const sl_finding *f) { return f->cause == SL_CAUSE_STREAM_ORDER && !f->idle; }

static bool has_better(const sl_explanation *e, int64_t makespan_ns)
{
    for (size_t i = 0; i < e->n_findings; i++) {
        if (!is_guess(&e->findings[i]) && e->findings[i].gain_ns >= makespan_ns / 20) return true;
    }
    return false;
}

static sl_status put_in_order(sl_explanation *e, int64_t makespan_ns, sl_error *err)
{
    bool better = has_better(e, makespan_ns);
    ranked *all = malloc((e->n_findings + 1) * sizeof *all);
    sl_wait *waits = malloc((e->n_waits + 1) * sizeof *waits);
    if (!all || !waits) {
        free(all);
        free(waits);
        return sl_fail(err, SL_ENOMEM, "no memory for %zu causes of waiting", e->n_findings);
    }
    for (size_t i = 0, first = 0; i < e->n_findings; first += e->findings[i++].n_waits) {
        const sl_finding *f = &e->findings[i];
        all[i] = (ranked){ *f, better && is_guess(f) ? -2 : f->gain_ns, i, first };
    }
    qsort(all, e->n_findings, sizeof *all, by_gain);
    for (size_t i = 0, n = 0; i < e->n_findings; i++) {
        e->findings[i] = all[i].finding;
        for (size_t k = 0; k < all[i].finding.n_waits; k++, n++) {
            waits[n] = e->waits[all[i].first + k];
            waits[n].finding = (uint32_t)i;
        }
    }
    free(all);
    free(e->waits);
    e->waits = waits;
    return SL_OK;
}

/* Of copies, and of kernels that fill the GPU: what shares an engine with others may be
 * anywhere beside them. */
static bool counts(const sl_timeline *timeline, const sl_span *span, int unit)
{
    return sl__unit_of(timeline, span) == unit && span->end_ns > span->start_ns
           && (span->engine != SL_ENGINE_COMPUTE || sl__fills_gpu(timeline, span));
}

static sl_status find_floor(gains *g, sl_error *err)
{
    const sl_span *spans = g->ops->spans;
    const size_t n = g->ops->n_spans;
    sl__union busy = { .at = malloc((n + 1) * sizeof *busy.at) };
    if (!busy.at) return sl_fail(err, SL_ENOMEM, "no memory to replay %zu operations", n);
    for (int unit = 0; unit < sl__unit_count(g->ops->timeline); unit++) {
        busy.n = 0;
        for (size_t i = 0; i < n; i++) {
            if (counts(g->ops->timeline, &spans[i], unit))
                busy.at[busy.n++] = (sl__interval){ spans[i].start_ns, spans[i].end_ns };
        }
        sl__union_join(&busy);
        g->floor_ns = sl__max_ns(g->floor_ns, sl__union_length_ns(&busy));
    }
    sl__union_free(&busy);
    return SL_OK;
}

sl_status sl__gains_find(const sl__operations *ops, sl_explanation *explanation, sl_error *err)
{
    gains g = {
        .ops = ops,
        .e = explanation,
        .makespan_ns = sl_timeline_makespan_ns(ops->timeline),
        .unheld_ns = -1,
    };
    if (explanation->n_findings == 0) return SL_OK;
    sl_status status = find_floor(&g, err);
    if (status == SL_OK) status = sl__replay_open(ops, &g.replay, err);
    if (status != SL_OK) return status;
    g.left_out = malloc((ops->n + 1) * sizeof *g.left_out);
    if (!g.left_out) status = sl_fail(err, SL_ENOMEM, "no memory to replay %zu operations", ops->n);
    if (status == SL_OK) {
        look_at_findings(&g);
        explanation->joint_gain_ns = joint_gain_ns(&g);
        status = sl_interrupt_check(err);
    }
    if (status == SL_OK) status = put_in_order(explanation, g.makespan_ns, err);
    free(g.left_out);
    sl__replay_close(&g.replay);
    return status;
}
