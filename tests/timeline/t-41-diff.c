/* t-41-diff.c - two timelines side by side, on timelines worked out by hand. */
#include "make.h"

#define MS INT64_C(1000000)

static char *diff_named(const sl_timeline *a, const sl_timeline *b, const char *name_a,
                        const char *name_b)
{
    sl_text text = { 0 };
    sl_error err;
    must(sl_timeline_diff(a, b, name_a, name_b, &text, &err), &err);
    return text.data;
}

/* Releases both. */
static char *diff(sl_timeline *a, sl_timeline *b)
{
    char *text = diff_named(a, b, NULL, NULL);
    sl_timeline_release(a);
    sl_timeline_release(b);
    return text;
}

static bool has(const char *text, const char *line)
{
    return strstr(text, line) != NULL;
}

/* One kernel of that length in stream 1. */
static sl_timeline *one_kernel(int64_t ns)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, ns);
    finish(tl);
    return tl;
}

static sl_timeline *empty(void)
{
    sl_timeline *tl = make();
    sl_timeline_finish(tl, 0, 390);
    return tl;
}

/* What comes next in `stream` waits for all that is in stream `of`. */
static void wait_for(sl_timeline *tl, uint32_t stream, uint32_t of)
{
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, of, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, stream, record, of);
}

/* A, in ms:  math    kernel 0..10            kernel 20..40
 *            copies            D2H 10..20                   D2H 40..50
 * each waits for an event of the one before: makespan and bound 50, nothing overlaps.
 * B:         math    kernel 0..10, 10..30                memset 38..39
 *            copies               D2H 10..20       D2H 30..40
 * only the copies wait, each for the kernel before it: makespan and bound 40, through both
 * kernels and the second copy; 10 of the first copy, and the memset, overlap.
 * Pauses: compute 10 and 8, d2h 20 and 10; math the same as compute, copies as d2h. */
static void test_by_hand(void)
{
    sl_timeline *a = make();
    note(a, 1, "math", false);
    note(a, 2, "copies", false);
    kernel(a, 1, 0, 10 * MS);
    wait_for(a, 2, 1);
    span(a, 2, SL_SPAN_MEMCPY_D2H, 10 * MS, 20 * MS);
    wait_for(a, 1, 2);
    kernel(a, 1, 20 * MS, 40 * MS);
    wait_for(a, 2, 1);
    span(a, 2, SL_SPAN_MEMCPY_D2H, 40 * MS, 50 * MS);
    sl_timeline_finish(a, -MS, 51 * MS);
    sl_timeline *b = make();
    note(b, 7, "copies", false);
    note(b, 9, "math", false);
    kernel(b, 9, 0, 10 * MS);
    wait_for(b, 7, 9);
    span(b, 7, SL_SPAN_MEMCPY_D2H, 10 * MS, 20 * MS);
    kernel(b, 9, 10 * MS, 30 * MS);
    wait_for(b, 7, 9);
    span(b, 9, SL_SPAN_MEMSET, 38 * MS, 39 * MS);
    span(b, 7, SL_SPAN_MEMCPY_D2H, 30 * MS, 40 * MS);
    sl_timeline_finish(b, -MS, 41 * MS);
    char *text = diff_named(a, b, "first.json", "second.json");
    char *causes = strstr(text, "\nwhat there is to gain\n");
    ok(causes && has(causes, "\n  A: To gain: at most ") && has(causes, "\n  B: Little to gain: ending "),
       "each has its verdict: in B the memset of 39 ms would still end the makespan");
    if (causes)
        *causes = '\0';
    is_str(text,
           "A  first.json\n"
           "B  second.json\n"
           "\n"
           "                                  A          B    change\n"
           "makespan                    50.0 ms    40.0 ms   -20.0 %\n"
           "lower bound                 50.0 ms    40.0 ms   -20.0 %\n"
           "makespan / bound               1.00       1.00\n"
           "host wall time              52.0 ms    42.0 ms   -19.2 %\n"
           "\n"
           "busy                              A          B    change   spans A   spans B\n"
           "kernel                      30.0 ms    30.0 ms     0.0 %         2         2\n"
           "memcpy_d2h                  20.0 ms    20.0 ms     0.0 %         2         2\n"
           "memset                            0    1.00 ms       new         0         1\n"
           "\n"
           "overlap                           A          B    change\n"
           "kernel & memcpy_d2h               0    10.0 ms       new\n"
           "memcpy_d2h & memset               0    1.00 ms       new\n"
           "\n"
           "the makespan's parts              A          B    change\n"
           "kernel running              30.0 ms    30.0 ms     0.0 %\n"
           "memcpy_d2h running          20.0 ms    10.0 ms   -50.0 %\n"
           "\n"
           "what moved\n"
           "  makespan 50.0 ms -> 40.0 ms (-20.0 %)\n"
           "  D2H copies now overlap kernels for 10.0 ms (not at all before)\n"
           "  the d2h engine now idles 10.0 ms between operations (was 20.0 ms)\n"
           "  the compute engine now idles 8.00 ms between operations (was 10.0 ms)\n"
           "  memsets now overlap D2H copies for 1.00 ms (not at all before)\n"
           "  new: 1 memset, 1.00 ms\n"
           "  stream math is now busy for 31.0 ms (was 30.0 ms)\n", "two timelines by hand");
    free(text);
    text = diff(b, a);
    ok(has(text, "makespan                    40.0 ms    50.0 ms   +25.0 %\n") &&
       has(text, "memset                      1.00 ms          0  -100.0 %         1         0\n"),
       "the other way round the changes have the other sign");
    ok(has(text, "  D2H copies no longer overlap kernels (was 10.0 ms)\n") &&
       has(text, "  gone: 1 memset, 1.00 ms\n"), "and what was new is gone");
    ok(strncmp(text, "      ", 6) == 0, "without names nothing says what A and B are");
    free(text);
}

static void test_the_same(void)
{
    char *text = diff(one_kernel(5 * MS), one_kernel(5 * MS));
    ok(has(text, "\nwhat moved\n"
                 "  makespan 5.00 ms, the same\n"
                 "  nothing else by 1 % of it or more\n"), "equal ones are said to be so");
    ok(has(text, "\nno two kinds of work overlap, neither in A nor in B\n"),
       "where nothing overlaps one line says so");
    free(text);
    text = diff(one_kernel(1000 * MS), one_kernel(1009 * MS));
    ok(has(text, "  makespan 1.00 s -> 1.01 s (+0.9 %)\n"
                 "  nothing else by 1 % of it or more\n"), "less than a hundredth is not told");
    free(text);
}

/* The same 12 ms in streams of other names; the kernels are 3 instead of 2. */
static void test_streams(void)
{
    sl_timeline *a = make(), *b = make();
    note(a, 1, "old", false);
    kernel(a, 1, 0, 4 * MS);
    kernel(a, 1, 4 * MS, 8 * MS);
    span(a, 5, SL_SPAN_MEMCPY_H2D, 0, 4 * MS);
    finish(a);
    note(b, 1, "new", false);
    kernel(b, 1, 0, 2 * MS);
    kernel(b, 1, 2 * MS, 4 * MS);
    kernel(b, 6, 4 * MS, 7 * MS);
    span(b, 5, SL_SPAN_MEMCPY_H2D, 3 * MS, 4 * MS);
    finish(b);
    char *text = diff(a, b);
    ok(has(text, "\nwhat moved\n"
                 "  makespan 8.00 ms -> 7.00 ms (-12.5 %)\n"
                 "  only in A: stream old, busy for 8.00 ms\n"
                 "  only in B: stream new, busy for 4.00 ms\n"
                 "  waits of unknown cause: now 4.00 ms of the makespan (was nothing)\n"
                 "  H2D copies now overlap kernels for 1.00 ms (was 4.00 ms)\n"
                 "  H2D copies now take 1.00 ms (was 4.00 ms)\n"
                 "  only in B: stream 6, busy for 3.00 ms\n"
                 "\n"),
       "the six largest are told; streams go by their names, or numbers");
    free(text);
    a = make(), b = make();
    kernel(a, 1, 0, 4 * MS);
    kernel(a, 1, 4 * MS, 8 * MS);
    kernel(a, 2, 0, 2 * MS);
    finish(a);
    kernel(b, 1, 0, 4 * MS);
    kernel(b, 2, 3 * MS, 5 * MS);
    finish(b);
    text = diff(b, a);
    ok(has(text, "  3 kernels now take 8.00 ms (2 took 5.00 ms)\n"), "counts that changed are told");
    ok(has(text, "  stream 1 is now busy for 8.00 ms (was 4.00 ms)\n") &&
       !has(text, "stream 2 is"), "of the streams only the one that moved");
    free(text);
}

/* One kernel after the other, 4 ms in all, in streams 1 and 2 plus `offset`. */
static sl_timeline *two_streams(uint32_t offset, int64_t first_ms)
{
    sl_timeline *tl = make();
    kernel(tl, offset + 1, 0, first_ms * MS);
    kernel(tl, offset + 2, first_ms * MS, 4 * MS);
    finish(tl);
    return tl;
}

static void test_other_streams(void)
{
    char *text = diff(two_streams(0, 3), two_streams(10, 3));
    ok(has(text, "\nwhat moved\n"
                 "  makespan 4.00 ms, the same\n"
                 "  only in A: stream 1, busy for 3.00 ms\n"
                 "  only in B: stream 11, busy for 3.00 ms\n"
                 "  only in B: stream 12, busy for 1.00 ms\n"
                 "  only in A: stream 2, busy for 1.00 ms\n\n"),
       "where nothing but the streams' names differs, they are told");
    free(text);
    text = diff(two_streams(0, 3), one_kernel(8 * MS));
    ok(has(text, "  only in A: stream 2, busy for 1.00 ms\n"),
       "and where they have a stream in common");
    free(text);
    sl_timeline *b = make();
    kernel(b, 11, 0, 8 * MS);
    finish(b);
    text = diff(two_streams(0, 3), b);
    ok(has(text, "  1 kernel now takes 8.00 ms (2 took 4.00 ms)\n") && !has(text, "only in"),
       "else they do not keep what moved from being told");
    free(text);
}

/* Two kernels that begin in the other order than they were issued, of one stream: 4 and
 * 2 ms with 1 ms between them. */
static void test_order_and_pauses(void)
{
    sl_timeline *a = make(), *b = make();
    kernel(a, 1, 5 * MS, 7 * MS);
    kernel(a, 1, 0, 4 * MS);
    kernel(a, 2, 0, 20 * MS);
    finish(a);
    kernel(b, 1, 9 * MS, 11 * MS);
    kernel(b, 1, 0, 4 * MS);
    kernel(b, 1, 2 * MS, 3 * MS);
    kernel(b, 2, 0, 20 * MS);
    finish(b);
    char *text = diff(a, b);
    ok(has(text, "  stream 1 now idles 5.00 ms between operations (was 1.00 ms)\n"),
       "a stream's pauses are those between its operations in order of time");
    ok(!has(text, "busy for"), "and no instant of it is counted twice");
    free(text);
}

/* Two copies 8 ms apart, and none. */
static void test_no_pauses(void)
{
    sl_timeline *a = make();
    kernel(a, 1, 0, 10 * MS);
    span(a, 2, SL_SPAN_MEMCPY_D2H, 0, MS);
    span(a, 2, SL_SPAN_MEMCPY_D2H, 9 * MS, 10 * MS);
    finish(a);
    char *text = diff(a, one_kernel(10 * MS));
    ok(has(text, "  gone: 2 D2H copies, 2.00 ms\n") && !has(text, "idles"),
       "an engine that has nothing to do does not pause");
    free(text);
}

static void test_changes(void)
{
    static const struct { int64_t was, is; const char *line; } cases[] = {
        { 1000, 1001, "makespan                    1.00 us    1.00 us    +0.1 %\n" },
        { 100000, 100001, "makespan                     100 us     100 us     0.0 %\n" },
        { 3, 2, "makespan                       3 ns       2 ns   -33.3 %\n" },
        { 1000, 9999, "makespan                    1.00 us    10.0 us  +899.9 %\n" },
        { 1000, 10000, "makespan                    1.00 us    10.0 us    x 10.0\n" },
        { 1000, 999900, "makespan                    1.00 us    1.00 ms   x 999.9\n" },
        { 1, 1000 * MS, "makespan                       1 ns     1.00 s   x 1000+\n" },
        { 1000, 0, "makespan                    1.00 us          0  -100.0 %\n" },
        { 0, 1000, "makespan                          0    1.00 us       new\n" },
        { 0, 0, "makespan                          0          0\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = diff(one_kernel(cases[i].was), one_kernel(cases[i].is));
        ok(has(text, cases[i].line), "%" PRId64 " to %" PRId64 " ns", cases[i].was, cases[i].is);
        free(text);
    }
}

static void test_empty(void)
{
    char *text = diff(empty(), one_kernel(MS));
    is_str(text, "                                  A          B    change\n"
                 "makespan                          0    1.00 ms       new\n"
                 "lower bound                       0    1.00 ms       new\n"
                 "makespan / bound                  -       1.00\n"
                 "host wall time               390 ns      20 ns   -94.9 %\n"
                 "\nA is empty: nothing ran on the device.\n", "an empty timeline is said to be so");
    free(text);
    text = diff(one_kernel(MS), empty());
    ok(has(text, "\nB is empty: nothing ran on the device.\n"), "as the second one, too");
    free(text);
    text = diff(empty(), empty());
    ok(has(text, "\nA and B are empty: nothing ran on the device.\n"), "and both");
    free(text);
}

static int widest(const char *text)
{
    int most = 0, now = 0;
    for (; *text; text++) {
        now = *text == '\n' ? 0 : now + ((*text & 0xC0) != 0x80);
        most = now > most ? now : most;
    }
    return most;
}

static void test_names(void)
{
    char path[400];
    sl_timeline *a = make(), *b = make();
    sl_device_info gpu = { .name = "NVIDIA H200", .backend = "sim", .simulated = true };
    kernel(a, 2, 0, MS);
    finish(a);
    snprintf(path, sizeof path, "%0300d.json", 1);
    note(b, 1, "a stream with a name that is too long\033[31m", false);
    kernel(b, 1, 0, 3 * MS);
    kernel(b, 1, 123 * MS, 900 * MS);
    kernel(b, 2, 0, 900 * MS);
    sl_timeline_set_device(b, &gpu);
    finish(b);
    char *text = diff_named(a, b, path, "bb.json\n\033[31m");
    ok(has(text, "A  0000") && has(text, "01.json\n"), "a long name is cut in the middle");
    ok(has(text, "\nB  bb.json??[31m: NVIDIA H200 (simulated)\n"),
       "control characters do not reach a terminal; the device is named");
    ok(has(text, "only in B: stream a stream w…long?[31m, busy for 780 ms\n"),
       "streams' names are cut, too");
    is_int(widest(text), 78, "no line is wider than 80 columns");
    free(text);
    memset(gpu.name, 'x', sizeof gpu.name - 1);
    sl_timeline *c = make();
    note(c, 1, "a stream with a name that is too long\033[31m", false);
    kernel(c, 1, 0, 100 * MS);
    kernel(c, 1, 101 * MS, 900 * MS);
    kernel(c, 2, 0, 900 * MS);
    sl_timeline_set_device(c, &gpu);
    finish(c);
    text = diff_named(c, b, path, path);
    is_int(widest(text), 80, "nor with the longest names and sentences");
    ok(has(text, "  stream a stream w…long?[31m now idles 120 ms between"),
       "nor a sentence about such a stream");
    free(text);
    sl_timeline_release(a);
    sl_timeline_release(b);
    sl_timeline_release(c);
}

int main(void)
{
    plan(36);
    test_by_hand();
    test_the_same();
    test_streams();
    test_other_streams();
    test_order_and_pauses();
    test_no_pauses();
    test_changes();
    test_empty();
    test_names();
    return done_testing();
}
