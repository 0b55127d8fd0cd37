/* t-22-breakdown.c - operations by kernel, line, stream and communication: by hand, and against
 * brute force.
 */
#include "make.h"

static sl_share *shares;
static size_t n_shares;

static void look(const sl_timeline *tl, sl_by by)
{
    sl_error err;
    free(shares);
    must(sl_timeline_breakdown(tl, by, &shares, &n_shares, &err), &err);
}

/* The row with that id. */
static sl_share share_of(uint32_t id)
{
    for (size_t i = 0; i < n_shares; i++)
        if (shares[i].id == id) return shares[i];
    return (sl_share){ .n = 0 };
}

static void named(sl_timeline *tl, const char *name, const char *where, uint32_t stream,
                  sl_span_kind kind, int64_t start_ns, int64_t end_ns)
{
    sl_error err;
    sl_span s = { .start_ns = start_ns,
                  .end_ns = end_ns,
                  .stream = stream,
                  .correlation = ++issued,
                  .kind = (uint8_t)kind,
                  .name = text_id(tl, name),
                  .where = text_id(tl, where) };
    must(sl_timeline_add_span(tl, &s, &err), &err);
}

/*   stream 1   gemm 0..100   relu 100..130          gemm 200..240
 *   stream 2        relu 80 ........ 150   copy 190 ....... 300   */
static sl_timeline *make_step(void)
{
    sl_timeline *tl = make();
    named(tl, "gemm", "x.lua:3", 1, SL_SPAN_KERNEL, 0, 100);
    named(tl, "relu", "x.lua:4", 1, SL_SPAN_KERNEL, 100, 130);
    named(tl, "relu", "x.lua:3", 2, SL_SPAN_KERNEL, 80, 150);
    named(tl, "gemm", "", 1, SL_SPAN_KERNEL, 200, 240);
    named(tl, "copy", "x.lua:9", 2, SL_SPAN_MEMCPY_H2D, 190, 300);
    finish(tl);
    return tl;
}

static void test_kernels(void)
{
    sl_timeline *tl = make_step();
    look(tl, SL_BY_KERNEL);
    is_int((int64_t)n_shares, 3, "there are three names");
    const sl_share gemm = share_of(text_id(tl, "gemm")), relu = share_of(text_id(tl, "relu"));
    is_int(gemm.sum_ns, 140, "gemm took 100 and 40");
    is_int((int64_t)gemm.n, 2, "in two operations");
    is_int(gemm.covered_ns, 60, "80 to 100 and 200 to 240 others ran, too");
    is_int(relu.sum_ns, 100, "relu took 30 and 70");
    is_int(relu.busy_ns, 70, "80 to 150 one of the two ran");
    is_int(relu.covered_ns, 20, "of which gemm covers 80 to 100: two relu cover nothing");
    is_int(share_of(text_id(tl, "copy")).covered_ns, 40, "gemm covers 40 of the copy");
    is_str(sl_timeline_text(tl, shares[0].id), "gemm", "the longest comes first");
    is_str(sl_timeline_text(tl, shares[2].id), "relu", "and the shortest last");
    sl_timeline_release(tl);
}

static void test_lines_and_streams(void)
{
    sl_timeline *tl = make_step();
    look(tl, SL_BY_LINE);
    const sl_share third = share_of(text_id(tl, "x.lua:3")), none = share_of(0);
    is_int(third.sum_ns, 170, "line 3 launched work of 100 and 70");
    is_int(third.covered_ns, 30, "which line 4 covers for 30");
    is_int(none.sum_ns, 40, "work without a line has a row of its own");
    look(tl, SL_BY_STREAM);
    is_int((int64_t)n_shares, 2, "there are two streams");
    is_int(share_of(1).busy_ns, 170, "stream 1 is busy 0 to 130 and 200 to 240");
    is_int(share_of(1).covered_ns, 90, "stream 2 covers 80 to 130 and 200 to 240");
    is_int(share_of(2).covered_ns, 90, "and is covered as long");
    is_int(share_of(1).part_ns, 125, "of the makespan it has what is alone, and half of the rest");
    is_int(share_of(2).part_ns, 135, "so that both parts add up to the 260 in which any is busy");
    sl_timeline_release(tl);
}

/*   stream 1   gemm 0..100                  copy 160..220
 *   stream 2        reduce 60 .......... 180
 *   stream 3                      gather 120 ... 200   */
static void test_communication(void)
{
    sl_timeline *tl = make();
    sl_error err;
    named(tl, "gemm", "", 1, SL_SPAN_KERNEL, 0, 100);
    named(tl, "reduce", "", 2, SL_SPAN_COLLECTIVE, 60, 180);
    named(tl, "gather", "", 3, SL_SPAN_COLLECTIVE, 120, 200);
    named(tl, "copy", "", 1, SL_SPAN_MEMCPY_H2D, 160, 220);
    finish(tl);
    look(tl, SL_BY_COMMUNICATION);
    is_int((int64_t)n_shares, 2, "collectives alone have rows");
    is_int(share_of(text_id(tl, "reduce")).covered_ns, 40,
           "a kernel covers 60 to 100; a copy, and another collective, cover nothing");
    is_int(share_of(text_id(tl, "gather")).covered_ns, 0, "nothing covers the other");
    sl_communication whole;
    must(sl_timeline_communication(tl, 0, &whole, &err), &err);
    is_int(whole.covered_ns, 40, "as the figure of the whole has it");
    sl_timeline_release(tl);
}

static void test_devices(void)
{
    sl_timeline *tl = make();
    sl_error err;
    int place = 0;
    const sl_device_info info = { .index = 1 };
    must(sl_timeline_add_device(tl, &info, &place, &err), &err);
    const uint32_t there = sl_timeline_stream_id(place, 1);
    named(tl, "gemm", "", 1, SL_SPAN_KERNEL, 0, 100);
    named(tl, "relu", "", there, SL_SPAN_KERNEL, 50, 150);
    named(tl, "gemm", "", there, SL_SPAN_KERNEL, 120, 200);
    finish(tl);
    look(tl, SL_BY_KERNEL);
    const sl_share gemm = share_of(text_id(tl, "gemm"));
    is_int((int64_t)n_shares, 2, "a name on two devices has one row");
    is_int(gemm.busy_ns, 180, "with the time on both");
    is_int(gemm.covered_ns, 30, "what runs on another device covers nothing: 120 to 150");
    sl_timeline_release(tl);
}

static void test_corners(void)
{
    sl_timeline *tl = make();
    sl_error err;
    finish(tl);
    look(tl, SL_BY_KERNEL);
    is_int((int64_t)n_shares, 0, "an empty timeline has no rows");
    sl_timeline_release(tl);
    tl = make();
    named(tl, "none", "", 1, SL_SPAN_KERNEL, 7, 7);
    named(tl, "some", "", 1, SL_SPAN_KERNEL, 7, 9);
    finish(tl);
    look(tl, SL_BY_KERNEL);
    is_int((int64_t)share_of(text_id(tl, "none")).n, 1, "an operation of no length counts");
    is_int(share_of(text_id(tl, "some")).covered_ns, 0, "and covers nothing");
    sl_timeline_release(tl);
    tl = make();
    must(sl_timeline_keep_summary(tl, &err), &err);
    finish(tl);
    free(shares);
    is_int(sl_timeline_breakdown(tl, SL_BY_STREAM, &shares, &n_shares, &err), SL_EUNSUPPORTED,
           "a summary has no single operations");
    ok(strstr(err.msg, "stream") != NULL && !shares, "and the message names the key");
    sl_timeline_release(tl);
}

static void test_keys(void)
{
    for (int by = 0; by < SL_BYS; by++) {
        sl_by found = SL_BYS;
        ok(sl_by_parse(sl_by_name((sl_by)by), &found) && found == (sl_by)by,
           "the key %s is found by its name", sl_by_name((sl_by)by));
    }
    sl_by found;
    ok(!sl_by_parse("kernels", &found), "and no other name is one");
}

/* ---- against brute force ---------------------------------------------------- */

#define HORIZON 200
#define NAMES 4

static uint32_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

/* At each ns, which names run. */
static void count_ns(const sl_timeline *tl, uint32_t first, int64_t *busy, int64_t *covered)
{
    size_t n;
    const sl_span *spans = spans_of(tl, &n);
    for (int64_t ns = 0; ns < HORIZON; ns++) {
        unsigned running = 0;
        for (size_t i = 0; i < n; i++)
            if (spans[i].start_ns <= ns && ns < spans[i].end_ns)
                running |= 1u << (spans[i].name - first);
        for (unsigned k = 0; k < NAMES; k++) {
            if (!(running >> k & 1)) continue;
            busy[k]++;
            covered[k] += running != 1u << k;
        }
    }
}

static void test_random(void)
{
    static const char *const names[NAMES] = { "a", "b", "c", "d" };
    size_t wrong = 0;
    for (uint32_t seed = 1; seed <= 300; seed++) {
        state = seed;
        sl_timeline *tl = make();
        const uint32_t first = text_id(tl, names[0]);
        int64_t busy[NAMES] = { 0 }, covered[NAMES] = { 0 };
        for (int k = 0; k < NAMES; k++)
            text_id(tl, names[k]);
        for (uint32_t n = draw(12); n > 0; n--) {
            const int64_t start_ns = draw(HORIZON - 60);
            named(tl, names[draw(NAMES)], "", draw(3), SL_SPAN_KERNEL, start_ns,
                  start_ns + draw(60));
        }
        finish(tl);
        count_ns(tl, first, busy, covered);
        look(tl, SL_BY_KERNEL);
        for (uint32_t k = 0; k < NAMES; k++) {
            const sl_share share = share_of(first + k);
            wrong += share.busy_ns != busy[k] || share.covered_ns != covered[k];
        }
        sl_timeline_release(tl);
        free_kept();
    }
    is_int((int64_t)wrong, 0, "busy and covered times are those that counting each ns gives");
}

int main(void)
{
    test_kernels();
    test_lines_and_streams();
    test_communication();
    test_devices();
    test_corners();
    test_keys();
    test_random();
    free(shares);
    return done_testing();
}
