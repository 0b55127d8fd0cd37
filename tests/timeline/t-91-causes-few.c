/* t-91-causes-few.c - explanations of timelines with no operations, one or a few. */
#include "causes.h"

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
    plan(11);
    test_empty();
    test_one();
    test_grouped();
    test_union();
    test_half_reported();
    return done_testing();
}
