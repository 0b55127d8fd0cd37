/* t-91-causes-random.c - what holds for explanations of every timeline, however strange.
 *
 * Random programs for an idealised GPU (streams in order, one copy at a time an engine,
 * events) whose explanations must add up; and timelines that contradict themselves, which
 * must be explained all the same, in bounded time.
 */
#include "causes.h"

#include "../../core/timeline/overlap.h"
#include "../../core/whatif/program.h"

#define STREAMS 7 /* the NULL stream, whose rules it does not know, has none */
#define OPERATIONS 120

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

/* Played unchanged, everything happens when it was recorded to happen. */
static bool is_played_as_recorded(const sl_timeline *tl)
{
    sl__operations ops;
    sl__program program;
    sl__outcome outcome;
    sl_error err;
    must(sl__operations_collect(tl, true, &ops, &err), &err);
    must(sl__program_open(&ops, &program, &err), &err);
    sl__played_step *played = calloc(ops.n + 1, sizeof *played);
    must(sl__program_play(&program, true, SL__ASSUMED_LIKELY, played, &outcome, &err), &err);
    bool same = outcome.n_stuck == 0 && outcome.makespan_ns == sl_timeline_makespan_ns(tl);
    for (size_t i = 0; i < ops.n; i++) {
        const sl__item *item = &ops.items[i];
        same &= played[i].host_start_ns == item->host_start_ns
                && played[i].host_end_ns == item->host_end_ns;
        same &= !program.steps[i].is_span
                || (played[i].start_ns == item->start_ns && played[i].end_ns == item->end_ns);
    }
    free(played);
    sl__program_close(&program);
    sl__operations_free(&ops);
    return same;
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

/* ---- an idealised GPU ------------------------------------------------------------- */

typedef struct program {
    sl_span spans[OPERATIONS];
    sl_call calls[OPERATIONS];
    sl_hold holds[2 * OPERATIONS];
    size_t n_spans, n_calls, n_holds;
} program;

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

typedef struct machine {
    int64_t host, stream_end[STREAMS], engine_end[SL_ENGINES], record_at;
    uint64_t stream_last[STREAMS], engine_last[SL_ENGINES], record_last, seq;
    uint32_t record_stream;
} machine;

static void hold_op(program *p, machine *m, int64_t submitted, uint32_t stream, uint64_t seq)
{
    bool in_order = m->stream_last[stream] && m->stream_end[stream] >= submitted;
    p->holds[p->n_holds++] = (sl_hold){ .correlation = seq,
                                        .ready_ns = later(submitted, m->stream_end[stream]),
                                        .ready_cause = in_order ? SL_CAUSE_STREAM_ORDER
                                                                : SL_CAUSE_LATENCY,
                                        .ready_by = in_order ? m->stream_last[stream] : 0 };
}

static void put_span(program *p, machine *m)
{
    static const sl_span_kind kinds[] = {
        SL_SPAN_KERNEL,
        SL_SPAN_MEMCPY_H2D,
        SL_SPAN_MEMCPY_D2H,
        SL_SPAN_HOST_FUNC,
    };
    sl_span_kind kind = kinds[random_below(4)];
    sl_engine engine = usual[kind].engine;
    uint32_t stream = 1 + random_below(STREAMS - 1);
    int64_t call_end = m->host + 1000 + random_below(5000);
    int64_t ready = later(call_end + 3000, m->stream_end[stream]);
    bool busy = engine != SL_ENGINE_COMPUTE && m->engine_end[engine] > ready;
    int64_t start = busy ? m->engine_end[engine] : ready;
    sl_span s = {
        .start_ns = start,
        .end_ns = start + random_below(60) * 1000,
        .host_start_ns = m->host,
        .host_end_ns = call_end,
        .correlation = ++m->seq,
        .stream = stream,
        .kind = (uint8_t)kind,
        .engine = (uint8_t)engine,
        .blocks = 1 + random_below(20), /* in all streams they have SMs of their own */
    };
    hold_op(p, m, call_end + 3000, stream, s.correlation);
    if (busy) {
        p->holds[p->n_holds - 1].start_cause = SL_CAUSE_ENGINE;
        p->holds[p->n_holds - 1].start_by = m->engine_last[engine];
    }
    m->host = call_end;
    if (random_below(6) == 0) {
        s.flags = SL_SPAN_HOST_WAITED;
        m->host = s.host_end_ns = later(call_end, s.end_ns);
    }
    m->stream_end[stream] = s.end_ns;
    m->stream_last[stream] = s.correlation;
    m->engine_end[engine] = s.end_ns;
    m->engine_last[engine] = s.correlation;
    p->spans[p->n_spans++] = s;
}

static void put_call(program *p, machine *m)
{
    static const sl_call_kind kinds[] = {
        SL_CALL_EVENT_RECORD,
        SL_CALL_STREAM_WAIT,
        SL_CALL_STREAM_SYNC,
        SL_CALL_HOST_WORK,
    };
    uint32_t stream = 1 + random_below(STREAMS - 1);
    sl_call c = {
        .kind = (uint8_t)kinds[random_below(4)],
        .stream = stream,
        .host_start_ns = m->host,
        .correlation = ++m->seq,
    };
    m->host += 1000 + random_below(3000);
    if (c.kind == SL_CALL_HOST_WORK) m->host += random_below(100) * 1000;
    if (c.kind == SL_CALL_STREAM_SYNC) m->host = later(m->host, m->stream_end[stream] + 1000);
    if (c.kind == SL_CALL_EVENT_RECORD || c.kind == SL_CALL_STREAM_WAIT) {
        hold_op(p, m, m->host, stream, c.correlation);
        sl_hold *h = &p->holds[p->n_holds - 1];
        if (c.kind == SL_CALL_STREAM_WAIT && m->record_last) {
            c.target = m->record_last;
            c.target_stream = m->record_stream;
            if (m->record_at >= h->ready_ns) {
                h->ready_ns = m->record_at;
                h->ready_cause = SL_CAUSE_EVENT;
                h->ready_by = c.target;
            }
        }
        c.device_ns = m->stream_end[stream] = h->ready_ns;
        m->stream_last[stream] = c.correlation;
    }
    if (c.kind == SL_CALL_EVENT_RECORD) {
        m->record_at = c.device_ns;
        m->record_last = c.correlation;
        m->record_stream = stream;
    }
    c.host_end_ns = m->host;
    p->calls[p->n_calls++] = c;
    if (random_below(4) == 0) m->host += random_below(90) * 1000;
}

static void write_program(program *p, uint64_t number)
{
    machine m = { .host = 0 };
    seed(number);
    *p = (program){ .n_spans = 0 };
    for (int i = 0; i < OPERATIONS; i++) {
        if (random_below(3) == 0)
            put_call(p, &m);
        else
            put_span(p, &m);
    }
}

static void swap(size_t *a, size_t *b)
{
    size_t kept = *a;
    *a = *b;
    *b = kept;
}

/* The same program, its parts added in another order each time (0: as issued). */
static sl_timeline *play(const program *p, bool reported, int shuffle)
{
    sl_timeline *tl = make();
    sl_error err;
    on_gpu(tl);
    size_t order[OPERATIONS];
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    seed((uint64_t)shuffle);
    for (size_t i = 0; i < OPERATIONS; i++)
        order[i] = i;
    for (size_t i = OPERATIONS - 1; shuffle && i > 0; i--)
        swap(&order[i], &order[random_below((uint32_t)i + 1)]);
    for (size_t i = 0; i < OPERATIONS; i++) {
        size_t k = order[i];
        if (k < p->n_spans) {
            sl_span s = p->spans[k];
            s.name = text_id(tl, names[s.correlation % 5]);
            s.where = text_id(tl, names[s.correlation % 3]);
            must(sl_timeline_add_span(tl, &s, &err), &err);
        }
        if (k < p->n_calls) must(sl_timeline_add_call(tl, &p->calls[k], &err), &err);
    }
    for (size_t i = 0; reported && i < p->n_holds; i++) {
        size_t k = shuffle ? p->n_holds - 1 - i : i;
        must(sl_timeline_add_hold(tl, &p->holds[k], &err), &err);
    }
    finish(tl);
    return tl;
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

static void test_random(void)
{
    static program p;
    soundness reported = { 0 }, inferred = { 0 };
    int differs = 0, programs = sized(150, 300);
    for (int number = 1; number <= programs; number++) {
        write_program(&p, (uint64_t)number);
        for (int with = 0; with < 2; with++) {
            sl_timeline *tl = play(&p, with, 0), *shuffled = play(&p, with, number);
            soundness *wrong = with ? &reported : &inferred;
            examine(tl, wrong);
            wrong->played += !is_played_as_recorded(tl);
            char *a = text_of(tl), *b = text_of(shuffled);
            differs += strcmp(a, b) != 0;
            free(a);
            free(b);
            sl_timeline_release(tl);
            sl_timeline_release(shuffled);
        }
    }
    report(&reported, "random programs, reported");
    report(&inferred, "random programs, inferred");
    is_int(reported.played + inferred.played, 0, "played unchanged they are what was recorded");
    is_int(differs, 0, "the order in which operations were added does not matter");
}

/* ---- what cannot be ------------------------------------------------------------------ */

static int64_t any_ns(void)
{
    static const int64_t extremes[] = {
        0, 1, -1, 1000000, (INT64_C(1) << 61) - 1, 1 - (INT64_C(1) << 61),
    };
    return random_below(3) == 0 ? extremes[random_below(6)] : (int64_t)random_below(3000000);
}

static void any_interval(int64_t *from, int64_t *to)
{
    int64_t a = any_ns(), b = any_ns();
    *from = a < b ? a : b;
    *to = a < b ? b : a;
}

/* Launches that overlap, of graphs and nodes that may not be there. */
static void add_launches(sl_timeline *tl)
{
    sl_error err;
    for (int i = 0; i < 10; i++) {
        uint64_t from = 1 + random_below(80);
        sl_launch_note launch = { .correlation = from,
                                  .last = from + random_below(30),
                                  .graph = random_below(3),
                                  .priorities = random_below(2),
                                  .uploads = random_below(2) };
        sl_node_note node = { .correlation = from + 1 + random_below(40),
                              .launch = from,
                              .priority = (int32_t)random_below(9) - 5 };
        must(sl_timeline_add_launch(tl, &launch, &err), &err);
        must(sl_timeline_add_node(tl, &node, &err), &err);
    }
}

/* Every field that can be anything is: correlations come twice, holds name operations that
 * come later, that are not there, or that ended after the waiter had started. */
static sl_timeline *make_nonsense(uint64_t number)
{
    sl_timeline *tl = make();
    sl_error err;
    seed(number);
    on_gpu(tl);
    uint32_t name = text_id(tl, "x");
    for (int i = 0; i < 60; i++) {
        sl_span s = {
            .correlation = 1 + random_below(80),
            .stream = random_below(4),
            .kind = (uint8_t)random_below(SL_SPAN_KINDS),
            .name = random_below(2) * name,
            .engine = (uint8_t)random_below(SL_ENGINES),
            .blocks = random_below(1000),
            .flags = (uint8_t)random_below(64),
        };
        any_interval(&s.start_ns, &s.end_ns);
        any_interval(&s.host_start_ns, &s.host_end_ns);
        must(sl_timeline_add_span(tl, &s, &err), &err);
        sl_call c = {
            .correlation = 1 + random_below(80),
            .stream = random_below(4),
            .kind = (uint8_t)random_below(SL_CALL_KINDS),
            .target = random_below(90),
            .device_ns = any_ns(),
            .queue_full = (uint8_t)random_below(2),
            .waited_for_device = (uint8_t)random_below(2),
        };
        any_interval(&c.host_start_ns, &c.host_end_ns);
        must(sl_timeline_add_call(tl, &c, &err), &err);
        sl_hold h = {
            .correlation = 1 + random_below(80),
            .ready_ns = any_ns(),
            .start_by = random_below(90),
            .ready_cause = (uint8_t)random_below(SL_CAUSES),
            .start_cause = (uint8_t)random_below(SL_CAUSES),
        };
        h.ready_by = random_below((uint32_t)h.correlation);
        if (number % 2 == 0) must(sl_timeline_add_hold(tl, &h, &err), &err);
    }
    if (number % 3 == 0) add_launches(tl);
    finish(tl);
    return tl;
}

static void test_nonsense(void)
{
    soundness wrong = { 0 };
    for (uint64_t number = 1; number <= 400; number++) {
        sl_timeline *tl = make_nonsense(number);
        examine(tl, &wrong);
        free(text_of(tl));
        sl_timeline_release(tl);
    }
    report(&wrong, "400 timelines that cannot be");
}

/* Each gap's walk goes through all operations of the host, and through a chain that lies
 * behind it: too many steps in all, so that the rest is unknown. */
static void test_steps(void)
{
    enum { GAPS = 3000 };
    sl_timeline *tl = make();
    sl_error err;
    for (int i = 0; i < GAPS; i++)
        add_call(tl, (sl_call){ .kind = SL_CALL_PLAIN }, AT(0, 0));
    for (int64_t i = 0; i < GAPS; i++) {
        sl_span s = {
            .start_ns = i * 10,
            .end_ns = i * 10 + 1,
            .stream = (uint32_t)i,
            .correlation = ++issued,
        };
        sl_hold h = {
            .correlation = s.correlation,
            .ready_ns = 20 * GAPS,
            .ready_cause = SL_CAUSE_LATENCY,
        };
        must(sl_timeline_add_span(tl, &s, &err), &err);
        must(sl_timeline_add_hold(tl, &h, &err), &err);
    }
    finish(tl);
    soundness wrong = { 0 };
    examine(tl, &wrong);
    is_int(wrong.findings + wrong.waits + wrong.gaps + wrong.chain, 0,
           "a timeline with far too many steps is explained, as far as they reach");
    sl_timeline_release(tl);
}

/* ---- small ones ---------------------------------------------------------------------- */

static void test_empty(void)
{
    sl_timeline *tl = make();
    finish(tl);
    sl_explanation e = explain(tl);
    ok(e.n_findings == 0 && e.n_waits == 0 && e.n_chain == 0, "nothing ran, nothing waited");
    sl_timeline_release(tl);

    tl = make();
    add_call(tl, (sl_call){ .kind = SL_CALL_DEVICE_SYNC }, AT(0, 5));
    finish(tl);
    e = explain(tl);
    ok(e.n_findings == 0 && e.n_chain == 0, "calls alone lose nothing");
    sl_timeline_release(tl);
}

static void test_one(void)
{
    sl_timeline *tl = make();
    run(tl, SL_SPAN_KERNEL, 1, NULL, AT(0, 4), AT(7, 17));
    finish(tl);
    sl_explanation e = explain(tl);
    is_int(e.n_findings, 0, "one span waits for nothing");
    is_str(tell_chain(&e), "none 10 #1", "and is the makespan");
    sl_timeline_release(tl);

    tl = make();
    run(tl, SL_SPAN_KERNEL, 1, NULL, AT(0, 4), AT(7, 7));
    run(tl, SL_SPAN_MEMCPY_H2D, 1, NULL, AT(0, 4), AT(7, 7));
    finish(tl);
    e = explain(tl);
    ok(e.n_findings == 0 && e.n_chain == 0, "spans of no length lose nothing");
    sl_timeline_release(tl);
}

/* Stream 1 repeats H2D 10, kernel 10 on the same two lines: each time the kernels' row
 * stands still for the copy, and the copies' for the kernel. */
static void test_grouped(void)
{
    sl_timeline *tl = make();
    for (int64_t i = 0; i < 3; i++) {
        run(tl, SL_SPAN_MEMCPY_H2D, 1, NULL, AT(i, i), AT(10 + 20 * i, 20 + 20 * i));
        run(tl, SL_SPAN_KERNEL, 1, NULL, AT(i, i), AT(20 + 20 * i, 30 + 20 * i));
    }
    finish(tl);
    sl_explanation e = explain(tl);
    is_str(tell_findings(e.findings, e.n_findings),
           "stream_order compute idle 30 x3 #2<-#1 gains 24\n"
           "stream_order h2d idle 20 x2 #3<-#2 gains 20",
           "the same wait again and again is one finding, reported by the first of the longest");
    is_int(e.n_waits, 5, "whose waits are listed");
    ok(e.waits[0].from_ns == 10000 && e.waits[1].from_ns == 30000 && e.waits[2].from_ns == 50000
           && e.waits[3].finding == 1,
       "in order of time");
    sl_timeline_release(tl);
}

/* Two kernels wait for the same one, 5..105, over 7..105 and 57..105: the time counts once. */
static void test_union(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    reports_holds = true;
    uint64_t k = run_blocks(tl, 1, 1000, NULL, AT(0, 2), AT(5, 105));
    uint64_t a = run_blocks(tl, 2, 1000, "late", AT(2, 4), AT(105, 115));
    uint64_t b = run_blocks(tl, 3, 1000, "late", AT(52, 54), AT(115, 125));
    hold(tl, k, 5, SL_CAUSE_LATENCY, 0);
    hold_start(tl, a, 7, SL_CAUSE_LATENCY, 0, SL_CAUSE_ROOM, k);
    hold_start(tl, b, 57, SL_CAUSE_LATENCY, 0, SL_CAUSE_ROOM, k);
    finish(tl);
    sl_explanation e = explain(tl);
    is_str(tell_findings(e.findings, e.n_findings), "no_sm_room compute busy 108 x2 #2<-#1",
           "time that two kernels wait at once counts once");
    sl_timeline_release(tl);
}

/* What was reported of a few operations only is completed by what can be inferred. */
static void test_half_reported(void)
{
    sl_timeline *tl = make();
    reports_holds = true;
    uint64_t h = run(tl, SL_SPAN_MEMCPY_H2D, 1, NULL, AT(0, 2), AT(5, 105));
    run(tl, SL_SPAN_KERNEL, 1, NULL, AT(2, 6), AT(105, 155));
    hold(tl, h, 5, SL_CAUSE_LATENCY, 0);
    hold(tl, 77, 5, SL_CAUSE_LATENCY, 0);
    finish(tl);
    sl_explanation e = explain(tl);
    is_str(tell_findings(e.findings, e.n_findings),
           "stream_order compute idle 100 x1 #2<-#1 gains 50",
           "holds may be missing, and may be of operations that are not there");
    ok(e.inferred, "then the explanation counts as inferred");
    sl_timeline_release(tl);
}

int main(void)
{
    plan(29);
    test_random();
    test_nonsense();
    test_steps();
    test_empty();
    test_one();
    test_grouped();
    test_union();
    test_half_reported();
    return done_testing();
}
