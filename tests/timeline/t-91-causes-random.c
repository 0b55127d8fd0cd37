/* t-91-causes-random.c - random programs for an idealised GPU: streams in order, one copy at a time an
 * engine, events. Their explanations must add up, whether waits were reported or not, in whatever order
 * the operations were added.
 */
#include "sound_causes.h"

#include "../../core/whatif/program.h"

#define STREAMS 7 /* the NULL stream, whose rules it does not know, has none */
#define OPERATIONS 120

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

static void test_random(void)
{
    static program p;
    soundness reported = { 0 }, inferred = { 0 };
    int differs = 0, programs = sized(75, 300);
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

int main(void)
{
    plan(12);
    test_random();
    return done_testing();
}
