/* t-50-summary.c - the table of figures, on timelines worked out by hand. */
#include "make.h"

static char *summary(sl_timeline *tl)
{
    sl_text text = { 0 };
    sl_error err;
    must(sl_timeline_summary(tl, false, &text, &err), &err);
    sl_timeline_release(tl);
    return text.data;
}

/*   compute  0 .. 40 ms          h2d  30 .. 45.2 ms        d2h  44 .. 56.7 ms
 * makespan 56.7; overlaps 10 of 15.2 (65.8 %), 0, 1.2 of 12.7 (9.4 %), all three 0;
 * two at once 10 + 1.2 = 11.2, so one for 56.7 - 11.2 = 45.5;
 * serial 40 + 15.2 + 12.7 = 67.9; streams are independent, so the path is 40;
 * 56.7 / 40 = 1.4175. */
static void test_three_engines(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 40000000);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 30000000, 45200000);
    span(tl, 3, SL_SPAN_MEMCPY_D2H, 44000000, 56700000);
    sl_timeline_finish(tl, -1000, 57100000);
    char *text = summary(tl);
    is_str(text,
           "makespan                      56.7 ms\n"
           "host wall time                57.1 ms\n"
           "\n"
           "engine                           busy   of makespan     spans\n"
           "compute                       40.0 ms        70.5 %         1\n"
           "h2d                           15.2 ms        26.8 %         1\n"
           "d2h                           12.7 ms        22.4 %         1\n"
           "\n"
           "overlap                          time   of shortest\n"
           "compute & h2d                 10.0 ms        65.8 %\n"
           "compute & d2h                 0.00 ms         0.0 %\n"
           "h2d & d2h                     1.20 ms         9.4 %\n"
           "compute & h2d & d2h           0.00 ms         0.0 %\n"
           "\n"
           "busy at once                  engines   of makespan\n"
           "none                          0.00 ms         0.0 %\n"
           "1                             45.5 ms        80.2 %\n"
           "2                             11.2 ms        19.8 %\n"
           "\n"
           "work                             time\n"
           "one after the other           67.9 ms\n"
           "busiest engine (compute)      40.0 ms\n"
           "critical path                 40.0 ms\n"
           "\n"
           "at best, in this order           time    makespan / best\n"
           "with your host waits          40.0 ms               1.42\n"
           "without any host wait         40.0 ms               1.42\n", "three engines");
    free(text);
}

static void test_verdict(void)
{
    sl_timeline *tl = make();
    sl_text text = { 0 };
    sl_error err;
    kernel(tl, 1, 0, 40000000);
    finish(tl);
    must(sl_timeline_summary(tl, true, &text, &err), &err);
    ok(text.data && strncmp(text.data, "Nothing to gain: no wait made the makespan of 40.0 ms "
                            "longer.\n\nmakespan  ", 66) == 0, "the verdict comes first");
    sl_text_free(&text);
    sl_timeline_release(tl);
}

/* 300 us of kernel and, side by side, 2 us of copy. */
static void test_two_engines(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 300000);
    span(tl, 2, SL_SPAN_MEMCPY_P2P, 1000, 3000);
    sl_timeline_finish(tl, 0, 1500000000);
    char *text = summary(tl);
    ok(strstr(text, "host wall time                1.50 s\n") == NULL &&
       strstr(text, "host wall time                 1.50 s\n") != NULL, "units keep the right edge");
    ok(strstr(text, "compute & p2p                 2.00 us       100.0 %\n") != NULL,
       "one pair, of the shorter one");
    ok(strstr(text, "of shorter\n") != NULL &&
       strstr(text, "with your host waits           300 us               1.00\n"),
       "at its bound the ratio is 1.00");
    free(text);
}

static void test_one_engine_and_none(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 0);
    finish(tl);
    char *text = summary(tl);
    ok(strstr(text, "overlap") == NULL, "one engine has no overlaps");
    ok(strstr(text, "compute                          0 ns             -         1\n") != NULL &&
       strstr(text, "without any host wait            0 ns\n") != NULL, "nothing is divided by 0");
    free(text);
    tl = make();
    sl_timeline_finish(tl, 0, 56743);
    text = summary(tl);
    is_str(text, "The timeline is empty: nothing ran on the device in 56.7 us.\n",
           "an empty timeline is one sentence");
    free(text);
}

/* A copy of 100 us that the host waited for, then a kernel of 50 us on another
 * stream and, between them, a memset of no length on the host's engine. */
static void test_waits_and_unused(void)
{
    sl_error err;
    sl_timeline *tl = make();
    sl_span copy = { .end_ns = 100000, .stream = 1, .correlation = ++issued,
                     .kind = SL_SPAN_MEMCPY_D2H, .engine = SL_ENGINE_D2H,
                     .flags = SL_SPAN_HOST_WAITED };
    must(sl_timeline_add_span(tl, &copy, &err), &err);
    span(tl, 3, SL_SPAN_HOST_FUNC, 100000, 100000);
    kernel(tl, 2, 110000, 160000);
    finish(tl);
    char *text = summary(tl);
    ok(strstr(text, "with your host waits           150 us               1.07\n"
                    "without any host wait          100 us               1.60\n") != NULL,
       "the makespan is held against both bounds");
    ok(strstr(text, "compute & d2h                 0.00 us         0.0 %\n\n") != NULL,
       "zero has the unit of its column");
    ok(strstr(text, "& host") == NULL, "an engine that was busy for no time has no overlaps");
    free(text);
    tl = make();
    span(tl, 7, SL_SPAN_MEMCPY_H2D, 0, 100);
    kernel(tl, 7, 100, 200);
    finish(tl);
    text = summary(tl);
    ok(strstr(text, "\nno overlap: all work was in one stream\n\nwork") != NULL &&
       strstr(text, "compute &") == NULL, "one stream has no table of overlaps, and that is said");
    free(text);
}

/* All three engines run from 70 to 100 us; the first two spans are of one stream. */
static void test_common_time(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 50000);
    kernel(tl, 1, 50000, 100000);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 20000, 100000);
    span(tl, 3, SL_SPAN_MEMCPY_D2H, 70000, 120000);
    finish(tl);
    char *text = summary(tl);
    ok(strstr(text, "compute & h2d                 80.0 us       100.0 %\n"
                    "compute & d2h                 30.0 us        60.0 %\n"
                    "h2d & d2h                     30.0 us        60.0 %\n"
                    "compute & h2d & d2h           30.0 us        60.0 %\n") != NULL,
       "what three engines have in common is held against the shortest, here 50 us");
    ok(strstr(text, "one stream") == NULL, "a second stream is found behind several spans of one");
    free(text);
}

/*   stream 1   0 ...... 60             (kernel)
 *   stream 2       40 ...... 100       (kernel)
 *   stream 2                     100 .. 110 us (memset, on the same engine) */
static void test_one_engine_shared(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 60000);
    kernel(tl, 2, 40000, 100000);
    span(tl, 2, SL_SPAN_MEMSET, 100000, 110000);
    finish(tl);
    char *text = summary(tl);
    ok(strstr(text, "compute                        110 us       100.0 %         3\n"
                    "  kernel                       100 us        90.9 %         2\n"
                    "  memset                      10.0 us         9.1 %         1\n\n") != NULL,
       "what shares an engine is told apart");
    ok(strstr(text, "busy at once                  kernels   of makespan\n"
                    "none                          10.0 us         9.1 %\n"
                    "1                             80.0 us        72.7 %\n"
                    "2                             20.0 us        18.2 %\n\n") != NULL,
       "one engine has no column of its own, kernels at once have");
    free(text);
}

/* Kernel i of 12 runs from i to 20 us, each in its own stream; a copy from 5 to 10 and one
 * of no length at 30 us. Kernels: none 20-30, one 0-1, two 1-2, ..., twelve 11-20.
 * Engines: two 5-10, one 0-5 and 10-20. */
static void test_many_kernels(void)
{
    sl_timeline *tl = make();
    for (int i = 0; i < 12; i++)
        kernel(tl, (uint32_t)i + 1, i * 1000, 20000);
    span(tl, 20, SL_SPAN_MEMCPY_H2D, 5000, 10000);
    span(tl, 20, SL_SPAN_MEMCPY_H2D, 30000, 30000);
    finish(tl);
    char *text = summary(tl);
    ok(strstr(text,
              "busy at once                  engines   of makespan    kernels   of makespan\n"
              "none                          10.0 us        33.3 %    10.0 us        33.3 %\n"
              "1                             15.0 us        50.0 %    1.00 us         3.3 %\n"
              "2                             5.00 us        16.7 %    1.00 us         3.3 %\n"
              "3                                                      1.00 us         3.3 %\n"
              "4                                                      1.00 us         3.3 %\n"
              "5 to 8                                                 4.00 us        13.3 %\n"
              "9 to 12                                                12.0 us        40.0 %\n\n")
       != NULL, "many kernels at once are counted in ranges");
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        const char *end = strchr(line, '\n');
        if (end - line > 80 || (end > line && end[-1] == ' '))
            ok(false, "no line is wider than 80 columns or ends with a blank: %.*s",
               (int)(end - line), line);
    }
    free(text);
}

/* Three engines side by side, the kernels two at most. */
static void test_columns_end(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 10000);
    kernel(tl, 2, 0, 10000);
    span(tl, 3, SL_SPAN_MEMCPY_H2D, 0, 10000);
    span(tl, 4, SL_SPAN_MEMCPY_D2H, 0, 5000);
    finish(tl);
    char *text = summary(tl);
    ok(strstr(text,
              "2                             5.00 us        50.0 %    10.0 us       100.0 %\n"
              "3                             5.00 us        50.0 %\n\n") != NULL,
       "a column ends at the most that there ever were");
    free(text);
}

/* Rounding to three figures, also across units. */
static void test_durations(void)
{
    static const struct { int64_t ns; const char *text; } cases[] = {
        { 999, "999 ns" }, { 1000, "1.00 us" }, { 9994, "9.99 us" }, { 9995, "10.0 us" },
        { 99949, "99.9 us" }, { 999499, "999 us" }, { 999500, "1.00 ms" },
        { 56743210, "56.7 ms" }, { 999500000, "1.00 s" }, { 999499999999, "999 s" },
        { 999500000000, "1000 s" }, { 1234567890123, "1230 s" }, { 1235000000000, "1240 s" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[64];
        sl_timeline *tl = make();
        kernel(tl, 1, 0, cases[i].ns);
        finish(tl);
        char *text = summary(tl);
        snprintf(line, sizeof line, "makespan                   %10s\n", cases[i].text);
        ok(strncmp(text, line, strlen(line)) == 0, "%" PRId64 " ns is %s", cases[i].ns,
           cases[i].text);
        free(text);
    }
}

int main(void)
{
    plan(31);
    test_three_engines();
    test_verdict();
    test_two_engines();
    test_one_engine_and_none();
    test_waits_and_unused();
    test_common_time();
    test_one_engine_shared();
    test_many_kernels();
    test_columns_end();
    test_durations();
    return done_testing();
}
