/* t-36-call-times.c - what the host took for the calls of timelines made by hand. Times are in us. */
#include "causes.h"

enum { MOST = 16 };

static void is_sample(const sl_timed_call *sample, sl_timed_call_kind kind, int64_t us,
                      const char *what)
{
    ok(sample->kind == kind && sample->ns == us * 1000, "%s: %s, %lld ns", what,
       sl_timed_call_name(sample->kind), (long long)sample->ns);
}

/* A copy of pageable memory whose call is `host`, and which runs at `device`. */
static void copy(sl_timeline *tl, sl_span_kind kind, int64_t host_us, int64_t host_end_us,
                 int64_t start_us, int64_t end_us)
{
    const uint8_t flag = kind == SL_SPAN_MEMCPY_H2D ? SL_SPAN_SRC_PAGEABLE : SL_SPAN_DST_PAGEABLE;
    sl_span s = { .start_ns = start_us * 1000,
                  .end_ns = end_us * 1000,
                  .host_start_ns = host_us * 1000,
                  .host_end_ns = host_end_us * 1000,
                  .correlation = ++issued,
                  .bytes = 1 << 20,
                  .stream = 1,
                  .kind = (uint8_t)kind,
                  .flags = flag,
                  .engine = kind == SL_SPAN_MEMCPY_H2D ? SL_ENGINE_H2D : SL_ENGINE_D2H };
    sl_error err;
    s.name = text_id(tl, "copy");
    must(sl_timeline_add_span(tl, &s, &err), &err);
}

/* A recording whose recorder took 1 us of each launch, copy and memset. */
static sl_timeline *recording(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    sl_timeline_set_origin(tl, (sl_origin){ .costs.work_ns = 1000 });
    return tl;
}

/* Calls at 0 (a kernel), 8 (a product), 20 (a memset), 31 (a wait), 33 and 300 (kernels): between
 * the last two the script did something else. */
static void test_calls(void)
{
    sl_timeline *tl = recording();
    run(tl, SL_SPAN_KERNEL, 1, "pow_f32", AT(0, 2), AT(5, 7));
    run(tl, SL_SPAN_KERNEL, 1, "matmul_f32", AT(8, 10), AT(12, 30));
    run(tl, SL_SPAN_MEMSET, 1, "memset", AT(20, 22), AT(30, 31));
    wait_event(tl, 1, 0, AT(31, 32), 32);
    run(tl, SL_SPAN_KERNEL, 1, "pow_f32", AT(33, 35), AT(36, 38));
    run(tl, SL_SPAN_KERNEL, 1, "pow_f32", AT(300, 302), AT(303, 304));
    finish(tl);
    sl_timed_call at[MOST];
    is_int((int64_t)sl_timeline_call_times(tl, at, MOST), 3,
           "a product, work of the script and the last call show nothing");
    is_sample(&at[0], SL_TIMED_CALL_LAUNCH, 7,
              "a launch lasts to the next call, but for what the recorder took");
    is_sample(&at[1], SL_TIMED_CALL_MEMSET, 10, "so does a memset");
    is_sample(&at[2], SL_TIMED_CALL_WAIT, 2, "and a wait");
    is_int((int64_t)sl_timeline_call_times(tl, at, 2), 2, "there are no more than fit");
    sl_timeline_release(tl);
}

/* An upload that begins within its call, one that waits for other work, and a download that waits
 * until 1500. */
static void add_copies(sl_timeline *tl)
{
    copy(tl, SL_SPAN_MEMCPY_H2D, 0, 100, 10, 110);
    copy(tl, SL_SPAN_MEMCPY_H2D, 100, 900, 850, 910);
    copy(tl, SL_SPAN_MEMCPY_D2H, 900, 1600, 1500, 1590);
    run(tl, SL_SPAN_KERNEL, 1, "pow_f32", AT(1600, 1602), AT(1605, 1607));
    run(tl, SL_SPAN_KERNEL, 1, "pow_f32", AT(1610, 1612), AT(1615, 1617));
    finish(tl);
}

static void test_copies(void)
{
    sl_timeline *tl = recording();
    add_copies(tl);
    sl_timed_call at[MOST];
    is_int((int64_t)sl_timeline_call_times(tl, at, MOST), 3, "an upload that waited counts not");
    is_sample(&at[0], SL_TIMED_CALL_UPLOAD, 100, "an upload lasts as long as its call");
    is_int((int64_t)at[0].bytes, 1 << 20, "of so many bytes");
    is_sample(&at[1], SL_TIMED_CALL_DOWNLOAD, 100, "a download from the copy's start on");
    is_sample(&at[2], SL_TIMED_CALL_LAUNCH, 9, "a launch behind them as always");
    sl_timeline_release(tl);
}

static void test_foreign(void)
{
    sl_timeline *tl = make();
    add_copies(tl);
    sl_timed_call at[MOST];
    is_int((int64_t)sl_timeline_call_times(tl, at, MOST), 2,
           "of another program's timeline the copies alone count");
    sl_timeline_release(tl);
    tl = make();
    finish(tl);
    is_int((int64_t)sl_timeline_call_times(tl, at, MOST), 0, "an empty timeline shows nothing");
    sl_timeline_release(tl);
}

int main(void)
{
    reports_holds = false;
    test_calls();
    test_copies();
    test_foreign();
    return done_testing();
}
