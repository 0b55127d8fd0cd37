/* sound_causes.h - what holds for the explanation of every timeline, however strange; and the random
 * numbers of those who make such timelines.
 */
#ifndef TESTS_SOUND_CAUSES_H
#define TESTS_SOUND_CAUSES_H

#include "causes.h"

#include "../../core/timeline/overlap.h"

static uint64_t state;

static uint32_t random_below(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % n;
}

static void seed(uint64_t value)
{
    state = value * 2654435761u + 12345;
    for (int i = 0; i < 4; i++)
        random_below(2);
}

/* ---- what must hold ------------------------------------------------------------ */

static int64_t first_ns(const sl_timeline *tl)
{
    size_t n;
    const sl_span *spans = spans_of(tl, &n);
    int64_t first = n > 0 ? spans[0].start_ns : 0;
    for (size_t i = 0; i < n; i++)
        first = spans[i].start_ns < first ? spans[i].start_ns : first;
    return first;
}

/* The time before the engine's last start in which it did nothing. */
static int64_t idle_ns(const sl_timeline *tl, sl_engine engine, const sl__union *busy)
{
    size_t n;
    const sl_span *spans = spans_of(tl, &n);
    int64_t last_start = first_ns(tl), idle;
    for (size_t i = 0; i < n; i++) {
        if (spans[i].engine == engine && spans[i].start_ns > last_start)
            last_start = spans[i].start_ns;
    }
    idle = last_start - first_ns(tl);
    for (size_t i = 0; i < busy->n && busy->at[i].start_ns < last_start; i++)
        idle -= (busy->at[i].end_ns < last_start ? busy->at[i].end_ns : last_start)
                - busy->at[i].start_ns;
    return idle;
}

static bool touches(const sl__union *busy, int64_t from_ns, int64_t to_ns)
{
    for (size_t i = 0; i < busy->n; i++) {
        if (busy->at[i].start_ns < to_ns && busy->at[i].end_ns > from_ns) return true;
    }
    return false;
}

static bool is_known(const sl_timeline *tl, uint64_t correlation)
{
    return correlation == 0 || sl_timeline_find_span(tl, correlation) != SL_NOT_FOUND
           || sl_timeline_find_call(tl, correlation) != SL_NOT_FOUND;
}

/* Whether a kernel needs those before it in its stream. */
static bool is_guess(const sl_finding *f) { return f->cause == SL_CAUSE_STREAM_ORDER && !f->idle; }

/* The largest loss of those that the same advice ends. */
static int64_t most_lost_ns(const sl_explanation *e, size_t same_as)
{
    int64_t ns = 0;
    for (size_t i = 0; i < e->n_findings; i++)
        if (e->findings[i].same_as == same_as && e->findings[i].lost_ns > ns)
            ns = e->findings[i].lost_ns;
    return ns;
}

/* The largest gain first, but for latency and what is nearly as large; then the most lost. */
static bool is_order_sound(const sl_explanation *e, size_t i)
{
    const sl_finding *f = &e->findings[i], *before = &e->findings[i - 1];
    if (f->gain_ns > before->gain_ns && i == 1)
        return f->cause == SL_CAUSE_LATENCY || before->gain_ns >= f->gain_ns / 100 * 95;
    if (f->gain_ns > before->gain_ns) return is_guess(before);
    return f->gain_ns < before->gain_ns || f->same_as == before->same_as || i == 1
           || most_lost_ns(e, f->same_as) <= most_lost_ns(e, before->same_as);
}

/* What one advice ends stands behind the first of it, and gains what that does, or too little to look. */
static bool is_group_sound(const sl_explanation *e, size_t i)
{
    const sl_finding *f = &e->findings[i], *first = &e->findings[f->same_as];
    return f->same_as <= i && first->same_as == f->same_as && first->cause == f->cause
           && (f->gain_ns == first->gain_ns || f->gain_ns < 0);
}

static bool are_findings_sound(const sl_timeline *tl, const sl_explanation *e)
{
    size_t waits = 0;
    for (size_t i = 0; i < e->n_findings; i++) {
        const sl_finding *f = &e->findings[i];
        if (f->lost_ns <= 0 || f->gain_ns > sl_timeline_makespan_ns(tl) || f->cause == SL_CAUSE_NONE
            || f->from_ns >= f->to_ns || sl_timeline_find_span(tl, f->waiter) == SL_NOT_FOUND
            || !is_known(tl, f->by) || (i > 0 && !is_order_sound(e, i)) || !is_group_sound(e, i))
            return false;
        waits += f->n_waits;
    }
    return waits == e->n_waits;
}

/* Waits stand by finding and time; those for idle engines lie in gaps and do not overlap. */
static bool are_waits_sound(const sl_explanation *e, const sl__union busy[SL_ENGINES])
{
    for (size_t i = 0; i < e->n_waits; i++) {
        const sl_wait *w = &e->waits[i], *last = i > 0 ? &e->waits[i - 1] : NULL;
        const sl_finding *f = &e->findings[w->finding];
        bool same = last && last->finding == w->finding;
        if (w->from_ns >= w->to_ns || (last && last->finding > w->finding)
            || (same && last->from_ns > w->from_ns) || (same && f->idle && last->to_ns > w->from_ns)
            || (f->idle && touches(&busy[f->engine], w->from_ns, w->to_ns)))
            return false;
    }
    return true;
}

static bool do_gaps_add_up(const sl_timeline *tl, const sl_explanation *e,
                           const sl__union busy[SL_ENGINES])
{
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        int64_t lost = 0;
        for (size_t i = 0; i < e->n_findings; i++) {
            if (e->findings[i].idle && (int)e->findings[i].engine == engine)
                lost += e->findings[i].lost_ns;
        }
        bool counts = engine != SL_ENGINE_HOST && engine != SL_ENGINE_COMM;
        if (lost != (counts ? idle_ns(tl, (sl_engine)engine, &busy[engine]) : 0)) return false;
    }
    return true;
}

/* Each graph has two nodes at least, and without one nothing changes. */
static bool are_graphs_sound(const sl_timeline *tl)
{
    const sl_graph_costs costs = { .launch_us = { 0.001 }, .gap_us = 0.001, .fork_us = 0.001 };
    size_t n_spans;
    sl_as_graphs found;
    sl_error err;
    n_spans = sl_timeline_span_count(tl);
    must(sl_timeline_as_graphs(tl, &costs, &found, &err), &err);
    return found.makespan_ns >= 0 && found.n_nodes >= 2 * found.n_graphs && found.n_nodes <= n_spans
           && (found.n_graphs > 0 || found.makespan_ns == sl_timeline_makespan_ns(tl));
}

typedef struct soundness {
    int findings, waits, gaps, chain, played, graphs, runs;
} soundness;

static void examine(const sl_timeline *tl, soundness *wrong)
{
    sl__union busy[SL_ENGINES];
    sl_error err;
    sl_explanation e = explain(tl);
    for (int engine = 0; engine < SL_ENGINES; engine++) {
        sl_selection sel = sl_select_all;
        sel.engine = engine;
        must(sl__union_collect(tl, &sel, &busy[engine], &err), &err);
    }
    wrong->runs++;
    wrong->findings += !are_findings_sound(tl, &e);
    wrong->waits += !are_waits_sound(&e, busy);
    wrong->gaps += !do_gaps_add_up(tl, &e, busy);
    wrong->chain += chain_sum_ns(&e) != sl_timeline_makespan_ns(tl);
    wrong->graphs += !are_graphs_sound(tl);
    for (int engine = 0; engine < SL_ENGINES; engine++)
        sl__union_free(&busy[engine]);
}

static void report(const soundness *wrong, const char *what)
{
    is_int(wrong->findings, 0, "%s: findings have losses, waiters and order", what);
    is_int(wrong->waits, 0, "%s: waits lie in the gaps of their engines", what);
    is_int(wrong->gaps, 0, "%s: idle times of each engine add up", what);
    is_int(wrong->chain, 0, "%s: the makespan's parts add up to it", what);
    is_int(wrong->graphs, 0, "%s: graphs have nodes", what);
}

static void put_records(const sl_timeline *tl, const sl_finding *findings, size_t n, sl_text *text)
{
    for (size_t i = 0; i < n; i++) {
        sl_cause_record r;
        sl_cause_read(tl, &findings[i], &r);
        sl_text_add(text, "%s %s %d %d %" PRId64 " %" PRId64 " x%zu as %zu: %s in %s, %s in %s\n",
                    sl_cause_name(r.finding.cause), sl_engine_name(r.finding.engine),
                    r.finding.idle, r.guess, r.finding.lost_ns, r.finding.gain_ns,
                    r.finding.n_waits, r.finding.same_as, r.waiter.name, r.waiter.stream_name,
                    r.by.name, r.by.stream_name);
    }
}

/* All that sentences are made of. */
static char *text_of(const sl_timeline *tl)
{
    sl_text text = { 0 };
    sl_error err;
    const sl_explanation *e;
    must(sl_timeline_causes(tl, &e, &err), &err);
    sl_verdict verdict = sl_explanation_judge(tl, e);
    sl_text_add(&text, "%s %" PRId64 " %zu\n", sl_cause_name(verdict.cause), verdict.gain_ns,
                verdict.also);
    put_records(tl, e->findings, e->n_findings, &text);
    put_records(tl, e->chain, e->n_chain, &text);
    return text.data;
}

#endif
