/* t-21-concurrency.c - how much at once, what n selections have in common, and gaps: by
 * hand, and against counting every nanosecond. */
#include "make.h"

static int64_t common(const sl_timeline *tl, const sl_selection *sels, size_t n)
{
    sl_error err;
    int64_t ns = -1;
    must(sl_timeline_common_ns(tl, sels, n, &ns, &err), &err);
    return ns;
}

/* "0:12 1:50 2:7": the profile as a text. */
static const char *profile(const sl_timeline *tl, sl_selection sel, sl_concurrent of)
{
    static char text[1000];
    sl_concurrency found;
    sl_error err;
    must(sl_timeline_concurrency(tl, &sel, of, &found, &err), &err);
    text[0] = '\0';
    for (size_t k = 0, used = 0; k < found.n; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu:%" PRId64,
                                 k > 0 ? " " : "", k, found.at_ns[k]);
    free(found.at_ns);
    return text;
}

/* "20..30 55..60": the gaps as a text. */
static const char *gaps(const sl_timeline *tl, sl_selection sel)
{
    static char text[1000];
    sl_gap *found;
    size_t n, used = 0;
    sl_error err;
    must(sl_timeline_gaps(tl, &sel, &found, &n, &err), &err);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64 "..%" PRId64,
                                 i > 0 ? " " : "", found[i].start_ns, found[i].end_ns);
    free(found);
    return text;
}

/*   compute  0 ......... 100
 *   h2d             50 ........... 150
 *   d2h                 80 90   120 ...... 200
 * All three: 80 to 90. One engine: 0-50, 100-120, 150-200. Two: 50-80, 90-100, 120-150. */
static void test_pipeline(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 100);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 50, 150);
    span(tl, 3, SL_SPAN_MEMCPY_D2H, 80, 90);
    span(tl, 3, SL_SPAN_MEMCPY_D2H, 120, 200);
    finish(tl);
    sl_selection three[] = {
        engine(SL_ENGINE_COMPUTE),
        engine(SL_ENGINE_H2D),
        engine(SL_ENGINE_D2H),
    };
    is_int(common(tl, three, 3), 10, "three engines have 80 to 90 in common");
    is_int(common(tl, three, 2), 50, "two of them 50 to 100");
    is_int(common(tl, three, 1), 100, "one with itself its own time");
    sl_selection four[] = { three[2], sl_select_all, three[0], three[1] };
    is_int(common(tl, four, 4), 0, "everything has no span of its own beside all three");
    sl_selection none[] = { three[0], three[1], engine(SL_ENGINE_P2P), three[2] };
    is_int(common(tl, none, 4), 0, "with one that did nothing there is nothing");
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_ENGINES), "0:0 1:120 2:70 3:10",
           "one engine for 120 ns, two for 70, all three for 10, none never");
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_STREAMS), "0:0 1:120 2:70 3:10",
           "the same for streams, of which each has its engine");
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_SPANS), "0:0 1:120 2:70 3:10", "and for spans");
    is_str(profile(tl, engine(SL_ENGINE_D2H), SL_CONCURRENT_ENGINES), "0:30 1:90",
           "a selection counts from its own start, 80, to its own end, 200");
    is_str(gaps(tl, engine(SL_ENGINE_D2H)), "90..120", "and that is its gap");
    is_str(gaps(tl, sl_select_all), "", "where always something runs there is none");
    sl_timeline_release(tl);
}

/*   stream 1  0 ........ 40                    (kernel)
 *   stream 2    10 ........ 50                 (kernel)
 *   stream 3       20 .. 30     60 .. 70       (kernels)
 *   stream 3                       70 .. 75    (a memset, on the same engine)
 * Kernels: one 0-10 and 40-50 and 60-70, two 10-20 and 30-40, three 20-30, none 50-60. */
static void test_kernels(void)
{
    sl_timeline *tl = make();
    kernel(tl, 2, 10, 50);
    kernel(tl, 3, 20, 30);
    kernel(tl, 1, 0, 40);
    kernel(tl, 3, 60, 70);
    span(tl, 3, SL_SPAN_MEMSET, 70, 75);
    finish(tl);
    is_str(profile(tl, kind(SL_SPAN_KERNEL), SL_CONCURRENT_SPANS), "0:10 1:30 2:20 3:10",
           "kernels side by side are counted one by one, whatever the order of issue");
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_SPANS), "0:10 1:35 2:20 3:10",
           "with the memset, 5 ns more for one");
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_ENGINES), "0:10 1:65", "they are one engine");
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_STREAMS), "0:10 1:35 2:20 3:10",
           "and three streams");
    is_str(gaps(tl, kind(SL_SPAN_KERNEL)), "50..60", "no kernel from 50 to 60");
    is_str(gaps(tl, stream(3)), "30..60", "one stream's gap, between spans that touch none");
    is_str(gaps(tl, kind(SL_SPAN_MEMSET)), "", "a single span has no gap");
    sl_timeline_release(tl);
}

/* Spans of one stream that overlap, as traces from elsewhere may have them. */
static void test_one_group(void)
{
    sl_timeline *tl = make();
    kernel(tl, 7, 0, 10);
    kernel(tl, 7, 5, 20);
    kernel(tl, 7, 20, 25);
    kernel(tl, 4000000000u, 5, 6);
    finish(tl);
    is_str(profile(tl, stream(7), SL_CONCURRENT_SPANS), "0:0 1:20 2:5",
           "spans of one stream count each");
    is_str(profile(tl, stream(7), SL_CONCURRENT_STREAMS), "0:0 1:25", "their stream counts once");
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_STREAMS), "0:0 1:24 2:1",
           "ids may be far apart");
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_SPANS), "0:0 1:20 2:4 3:1",
           "what touches at 20 is not taken together");
    sl_timeline_release(tl);
}

/* Nothing at 0, a kernel 10 to 20 and one of no length in its middle, nothing at 50. */
static void test_no_length(void)
{
    sl_timeline *tl = make();
    span(tl, 1, SL_SPAN_HOST_FUNC, 0, 0);
    kernel(tl, 2, 10, 20);
    kernel(tl, 3, 15, 15);
    kernel(tl, 3, 30, 30);
    span(tl, 1, SL_SPAN_HOST_FUNC, 50, 50);
    finish(tl);
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_SPANS), "0:40 1:10",
           "spans of no length bound the time that is divided, and count nowhere");
    is_str(gaps(tl, sl_select_all), "0..10 20..50", "and they end no gap");
    is_str(profile(tl, stream(3), SL_CONCURRENT_STREAMS), "0:15", "from 15 to 30 nothing ran");
    is_str(gaps(tl, stream(3)), "15..30", "which is one gap");
    sl_timeline_release(tl);
    tl = make();
    kernel(tl, 1, 5, 5);
    finish(tl);
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_ENGINES), "0:0", "one span of no length");
    is_str(gaps(tl, sl_select_all), "", "has no gap either");
    sl_timeline_release(tl);
}

static void test_nothing(void)
{
    sl_timeline *tl = make();
    finish(tl);
    sl_selection all[] = { sl_select_all, sl_select_all, sl_select_all };
    is_int(common(tl, all, 3), 0, "an empty timeline has nothing in common with itself");
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_SPANS), "", "no profile");
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_STREAMS), "", "not of streams either");
    is_str(gaps(tl, sl_select_all), "", "and no gaps");
    sl_timeline_release(tl);
    tl = make();
    kernel(tl, 1, 3, 9);
    finish(tl);
    sl_selection unknown = sl_select_all;
    unknown.name = "nobody";
    is_str(profile(tl, unknown, SL_CONCURRENT_ENGINES), "", "nor has a name that nobody has");
    is_str(gaps(tl, unknown), "", "which has no gaps");
    is_str(profile(tl, stream(2), SL_CONCURRENT_STREAMS), "", "nor has a stream without spans");
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_STREAMS), "0:0 1:6", "one span has one");
    sl_timeline_release(tl);
}

/* The largest times there are: 2^61 - 1 on either side of 0. */
static void test_huge(void)
{
    const int64_t far = (INT64_C(1) << 61) - 1;
    sl_timeline *tl = make();
    kernel(tl, 1, -far, -far + 10);
    kernel(tl, 2, -far + 5, far);
    kernel(tl, 3, far - 1, far);
    finish(tl);
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_SPANS), "0:0 1:4611686018427387896 2:6",
           "half the range of the clock is exact");
    is_str(gaps(tl, stream(1)), "", "one span has no gap there");
    sl_selection two[] = { stream(2), stream(3) };
    is_int(common(tl, two, 2), 1, "and 1 ns in common at the end");
    sl_timeline_release(tl);
    tl = make();
    kernel(tl, 1, -far, -far + 1);
    kernel(tl, 1, far - 1, far);
    finish(tl);
    is_str(profile(tl, sl_select_all, SL_CONCURRENT_STREAMS), "0:4611686018427387900 1:2",
           "a gap as long as the clock");
    is_str(gaps(tl, sl_select_all), "-2305843009213693950..2305843009213693950",
           "with its ends to the ns");
    sl_timeline_release(tl);
}

/* ---- counting every nanosecond ------------------------------------------------- */

#define HORIZON 300
#define STREAMS 4

static uint32_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static bool in(const sl_span *s, const sl_selection *sel)
{
    return (sel->stream < 0 || sel->stream == s->stream) && (sel->kind < 0 || sel->kind == s->kind)
           && (sel->engine < 0 || sel->engine == s->engine);
}

static bool runs(const sl_span *s, int64_t ns) { return s->start_ns <= ns && ns < s->end_ns; }

static size_t count_busy(const sl_span *spans, size_t n, const sl_selection *sel, sl_concurrent of,
                         int64_t ns)
{
    size_t spans_busy = 0, groups_busy = 0;
    bool busy[SL_ENGINES + STREAMS] = { false };
    for (size_t i = 0; i < n; i++) {
        if (!in(&spans[i], sel) || !runs(&spans[i], ns)) continue;
        spans_busy++;
        busy[of == SL_CONCURRENT_ENGINES ? spans[i].engine : spans[i].stream] = true;
    }
    for (int i = 0; i < SL_ENGINES + STREAMS; i++)
        groups_busy += busy[i];
    return of == SL_CONCURRENT_SPANS ? spans_busy : groups_busy;
}

/* Where the selected spans begin and end; false without any. */
static bool bounds_of(const sl_span *spans, size_t n, const sl_selection *sel, int64_t *from,
                      int64_t *to)
{
    size_t found = 0;
    *from = HORIZON;
    *to = 0;
    for (size_t i = 0; i < n; i++) {
        if (!in(&spans[i], sel)) continue;
        found++;
        *from = spans[i].start_ns < *from ? spans[i].start_ns : *from;
        *to = spans[i].end_ns > *to ? spans[i].end_ns : *to;
    }
    return found > 0;
}

static int wrong_profile(const sl_timeline *tl, const sl_span *spans, size_t n_spans,
                         const sl_selection *sel, sl_concurrent of)
{
    sl_concurrency found;
    sl_error err;
    int64_t from, to, at_ns[100] = { 0 };
    size_t n = bounds_of(spans, n_spans, sel, &from, &to) ? 1 : 0;
    for (int64_t ns = from; n > 0 && ns < to; ns++) {
        size_t k = count_busy(spans, n_spans, sel, of, ns);
        at_ns[k]++;
        n = k + 1 > n ? k + 1 : n;
    }
    must(sl_timeline_concurrency(tl, sel, of, &found, &err), &err);
    bool same = found.n == n && (n == 0 || memcmp(found.at_ns, at_ns, n * sizeof *at_ns) == 0);
    free(found.at_ns);
    return !same;
}

static int wrong_gaps(const sl_timeline *tl, const sl_span *spans, size_t n_spans,
                      const sl_selection *sel)
{
    sl_gap *found;
    size_t n;
    sl_error err;
    int64_t from, to;
    bool idle[HORIZON] = { false }, want, same = true;
    must(sl_timeline_gaps(tl, sel, &found, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        same &= found[i].start_ns < found[i].end_ns;
        same &= i == 0 || found[i - 1].end_ns < found[i].start_ns;
        for (int64_t ns = found[i].start_ns; ns < found[i].end_ns; ns++)
            idle[ns] = true;
    }
    free(found);
    bool any = bounds_of(spans, n_spans, sel, &from, &to);
    for (int64_t ns = 0; ns < HORIZON; ns++) {
        want = any && from <= ns && ns < to
               && count_busy(spans, n_spans, sel, SL_CONCURRENT_SPANS, ns) == 0;
        same &= idle[ns] == want;
    }
    return !same;
}

static void test_every_nanosecond(void)
{
    int profiles = 0, holes = 0;
    state = 20250;
    for (int round = 0; round < 200; round++) {
        sl_timeline *tl = make();
        int n = (int)draw(60);
        for (int i = 0; i < n; i++) {
            int64_t start = draw(HORIZON - 40);
            span(tl, draw(STREAMS), (sl_span_kind)draw(SL_SPAN_KINDS), start,
                 start + draw(round % 2 ? 40 : 8));
        }
        finish(tl);
        size_t n_spans;
        const sl_span *spans = spans_of(tl, &n_spans);
        sl_selection sels[] = {
            stream((int64_t)draw(STREAMS + 1) - 1),
            engine((int)draw(SL_ENGINES + 1) - 1),
            kind((int)draw(SL_SPAN_KINDS + 1) - 1),
        };
        for (int i = 0; i < 3; i++) {
            for (int of = SL_CONCURRENT_SPANS; of <= SL_CONCURRENT_STREAMS; of++)
                profiles += wrong_profile(tl, spans, n_spans, &sels[i], (sl_concurrent)of);
            holes += wrong_gaps(tl, spans, n_spans, &sels[i]);
        }
        sl_timeline_release(tl);
    }
    is_int(profiles, 0, "profiles of 200 random timelines are those counted by the nanosecond");
    is_int(holes, 0, "so are their gaps");
}

/* Kernel i runs from 0 to 100 + i, and each of 70 selections has all of them. All 70 kernels run from
 * 0 to 100, so that each selection has one of its own then; 71 selections would need one more. */
static void test_more_selections_than_a_word_has_bits(void)
{
    enum { N = 70 };
    sl_timeline *tl = make();
    sl_selection all[N + 1];
    for (int i = 0; i < N; i++)
        kernel(tl, (uint32_t)i, 0, 100 + i);
    finish(tl);
    for (int i = 0; i <= N; i++)
        all[i] = sl_select_all;
    is_int(common(tl, all, N), 100, "70 selections share 70 kernels while all of them run");
    is_int(common(tl, all, N + 1), 0, "71 selections are never busy with 70 kernels");
    all[N - 1] = stream(0);
    is_int(common(tl, all, N), 100, "kernel 0 is left to the one selection that has no other");
    all[N - 2] = stream(0);
    is_int(common(tl, all, N), 0, "two selections of one kernel are not busy together");
    sl_timeline_release(tl);
}

int main(void)
{
    plan(47);
    test_pipeline();
    test_kernels();
    test_one_group();
    test_no_length();
    test_nothing();
    test_huge();
    test_every_nanosecond();
    test_more_selections_than_a_word_has_bits();
    return done_testing();
}
