/* t-20-overlap.c - busy times and overlaps, by hand and against brute force. */
#include "make.h"

static int64_t busy(const sl_timeline *tl, sl_selection sel)
{
    sl_error err;
    int64_t ns = -1;
    must(sl_timeline_busy_ns(tl, &sel, &ns, &err), &err);
    return ns;
}

static int64_t overlap(const sl_timeline *tl, sl_selection a, sl_selection b)
{
    sl_error err;
    int64_t ns = -1;
    must(sl_timeline_common_ns(tl, (sl_selection[]){ a, b }, 2, &ns, &err), &err);
    return ns;
}

/*   compute  0 ......... 100
 *   h2d             50 ......... 150
 *   d2h                      120 ......... 200 */
static void test_pipeline(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 100);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 50, 150);
    span(tl, 3, SL_SPAN_MEMCPY_D2H, 120, 200);
    finish(tl);
    is_int(busy(tl, engine(SL_ENGINE_COMPUTE)), 100, "one kernel is busy for its length");
    is_int(busy(tl, sl_select_all), 200, "the union of everything has no gap: 0 to 200");
    is_int(overlap(tl, engine(SL_ENGINE_COMPUTE), engine(SL_ENGINE_H2D)), 50, "50 to 100");
    is_int(overlap(tl, engine(SL_ENGINE_H2D), engine(SL_ENGINE_D2H)), 30, "120 to 150");
    is_int(overlap(tl, engine(SL_ENGINE_COMPUTE), engine(SL_ENGINE_D2H)), 0, "100 < 120");
    is_int(overlap(tl, sl_select_all, stream(3)), 30,
           "a part overlaps the rest of the whole: 120 to 150");
    sl_selection both = stream(2);
    both.kind = SL_SPAN_KERNEL;
    is_int(busy(tl, both), 0, "every field of a selection must match");
    sl_timeline_release(tl);
}

/*   stream 1   0 ...... 60          kernels share the engine: its union is 0 to 100,
 *   stream 2       40 ...... 100    stream 1 and 2 have 40 to 60 in common. */
static void test_concurrent_kernels(void)
{
    sl_timeline *tl = make();
    kernel(tl, 2, 40, 100);
    kernel(tl, 1, 0, 60);
    finish(tl);
    is_int(busy(tl, engine(SL_ENGINE_COMPUTE)), 100, "kernels side by side count once");
    is_int(overlap(tl, stream(1), stream(2)), 20, "two streams of one engine overlap 40 to 60");
    is_int(overlap(tl, stream(2), stream(1)), 20, "in either order");
    sl_timeline_release(tl);
}

/*   kernels  0..10 10..20      30..30 (no length)      40 ............ 80
 *   copies      5...15      25 ............. 35             50..60 60..61
 *   common: 5..15 = 10, and 50..61 = 11. */
static void test_touching_and_nested(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 10);
    kernel(tl, 1, 10, 20);
    kernel(tl, 1, 30, 30);
    kernel(tl, 1, 40, 80);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 5, 15);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 25, 35);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 50, 60);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 60, 61);
    finish(tl);
    is_int(busy(tl, kind(SL_SPAN_KERNEL)), 60, "touching spans join, empty ones add nothing");
    is_int(overlap(tl, kind(SL_SPAN_KERNEL), kind(SL_SPAN_MEMCPY_H2D)), 21, "10 and 11 ns");
    sl_timeline_release(tl);
}

static void test_names(void)
{
    sl_timeline *tl = make();
    sl_error err;
    sl_span s = { .start_ns = 0, .end_ns = 7, .correlation = 1, .name = text_id(tl, "matmul_f32") };
    must(sl_timeline_add_span(tl, &s, &err), &err);
    s = (sl_span){ .start_ns = 3, .end_ns = 13, .correlation = 2, .name = text_id(tl, "pow_f32") };
    must(sl_timeline_add_span(tl, &s, &err), &err);
    finish(tl);
    sl_selection matmul = sl_select_all, pow = sl_select_all, none = sl_select_all;
    matmul.name = "matmul_f32";
    pow.name = "pow_f32";
    none.name = "matmul";
    is_int(busy(tl, pow), 10, "a name selects its spans");
    is_int(overlap(tl, matmul, pow), 4, "3 to 7");
    is_int(busy(tl, none), 0, "a prefix of a name selects nothing");
    none.name = "";
    is_int(busy(tl, none), 0, "the empty name selects spans without a name");
    sl_timeline_release(tl);
}

static void test_empty_and_negative(void)
{
    sl_timeline *tl = make();
    finish(tl);
    is_int(busy(tl, sl_select_all), 0, "nothing is busy in an empty timeline");
    is_int(overlap(tl, sl_select_all, sl_select_all), 0, "and nothing overlaps");
    is_int(sl_timeline_makespan_ns(tl), 0, "its makespan is 0");
    sl_timeline_release(tl);
    tl = make();
    kernel(tl, 1, -50, -20);
    kernel(tl, 2, -30, 10);
    finish(tl);
    is_int(overlap(tl, stream(1), stream(2)), 10, "times before the clock's zero work");
    is_int(busy(tl, sl_select_all), 60, "-50 to 10");
    sl_timeline_release(tl);
}

/* ---- against brute force ---------------------------------------------------- */

#define HORIZON 300

static uint32_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static bool runs_in(const sl_span *span, const sl_selection *sel, int64_t ns)
{
    return span->start_ns <= ns && ns < span->end_ns
           && (sel->stream < 0 || sel->stream == span->stream)
           && (sel->engine < 0 || sel->engine == span->engine);
}

/* Whether each of the selections from the first on has a span of its own, apart from those
 * that are taken: tries everything. */
static bool each_has_one(const sl_span *spans, size_t n, const sl_selection *sels, size_t n_sels,
                         bool *taken, int64_t ns)
{
    bool found = n_sels == 0;
    for (size_t i = 0; i < n && !found; i++) {
        if (taken[i] || !runs_in(&spans[i], sels, ns)) continue;
        taken[i] = true;
        found = each_has_one(spans, n, sels + 1, n_sels - 1, taken, ns);
        taken[i] = false;
    }
    return found;
}

/* Counts the nanoseconds in which it is so. */
static int64_t brute(const sl_timeline *tl, const sl_selection *sels, size_t n_sels)
{
    size_t n;
    const sl_span *spans = spans_of(tl, &n);
    bool taken[64] = { false };
    int64_t common = 0;
    for (int64_t ns = 0; ns < HORIZON; ns++)
        common += each_has_one(spans, n, sels, n_sels, taken, ns);
    return common;
}

static int64_t common(const sl_timeline *tl, const sl_selection *sels, size_t n_sels)
{
    sl_error err;
    int64_t ns = -1;
    must(sl_timeline_common_ns(tl, sels, n_sels, &ns, &err), &err);
    return ns;
}

/* A stream, an engine, both, or everything. */
static sl_selection any_selection(void)
{
    sl_selection sel = stream((int64_t)draw(5) - 1);
    sel.engine = (int)draw(2 * SL_ENGINES) - SL_ENGINES;
    if (sel.engine < 0) sel.engine = -1;
    return sel;
}

static void test_brute_force(void)
{
    int wrong = 0;
    state = 12345;
    for (int round = 0; round < 200; round++) {
        sl_timeline *tl = make();
        int n = (int)draw(40);
        for (int i = 0; i < n; i++) {
            int64_t start = draw(HORIZON - 40);
            span(tl, draw(4), (sl_span_kind)draw(SL_SPAN_KINDS), start, start + draw(40));
        }
        finish(tl);
        sl_selection sels[4];
        for (int i = 0; i < 4; i++)
            sels[i] = any_selection();
        wrong += busy(tl, sels[0]) != brute(tl, sels, 1);
        for (size_t n_sels = 1; n_sels <= 4; n_sels++)
            wrong += common(tl, sels, n_sels) != brute(tl, sels, n_sels);
        sl_timeline_release(tl);
    }
    is_int(wrong, 0, "200 random timelines agree with counting every nanosecond");
}

int main(void)
{
    plan(22);
    test_pipeline();
    test_concurrent_kernels();
    test_touching_and_nested();
    test_names();
    test_empty_and_negative();
    test_brute_force();
    return done_testing();
}
