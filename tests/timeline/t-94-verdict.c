/* t-94-verdict.c - whether there is anything to gain, and kernels' names that differ. */
#include "causes.h"

#include "../../core/timeline/store.h"

static sl_verdict judge(sl_timeline *tl)
{
    sl_explanation e = explain(tl);
    return sl_explanation_judge(tl, &e);
}

/* Two kernels of 100, and between them the host is busy for `pause`, from 10 on. Without the
 * pause the second would start 1 behind the first. */
static sl_timeline *with_pause(int64_t pause)
{
    sl_timeline *tl = make();
    of_script(tl);
    run(tl, SL_SPAN_KERNEL, 1, "K1", AT(0, 5), AT(10, 110));
    add_call(tl, (sl_call){ .kind = SL_CALL_HOST_WORK }, AT(5, 5 + pause));
    int64_t start = 5 + pause + 10 > 110 ? 5 + pause + 10 : 110;
    run(tl, SL_SPAN_KERNEL, 1, "K2", AT(5 + pause, 10 + pause), AT(start, start + 100));
    finish(tl);
    return tl;
}

static void test_good(void)
{
    sl_timeline *tl = with_pause(20);
    sl_verdict v = judge(tl);
    ok(v.good && !v.joint && v.gain_ns == 0,
       "the schedule is good: work of the host beside a kernel costs nothing");
    is_int(v.makespan_ns, 200000, "of 200 us");
    sl_timeline_release(tl);
    tl = with_pause(101); /* 116 in place of 111 */
    v = judge(tl);
    ok(v.good && v.gain_ns > 0 && v.gain_ns <= 5000, "5 of 206 us are not worth mentioning");
    sl_timeline_release(tl);
}

/* The second kernel starts at 415 in place of 111: 405 + 100 - 201 = 304. */
static void test_gain(void)
{
    sl_timeline *tl = with_pause(400);
    sl_verdict v = judge(tl);
    ok(!v.good && !v.joint && v.cause == SL_CAUSE_HOST_WORK && v.also == 0,
       "a pause that is longer than the kernel leads, alone");
    is_int(v.gain_ns, 304000, "with what it gains");
    is_int(v.makespan_ns, 505000, "of the makespan");
    sl_timeline_release(tl);
}

/* Two synchronisations, of streams that end together: without one the host still waits for
 * the other. Only both together gain anything: the copy of 100 then runs beside the kernels.
 *   stream 1   |K1 10..210|
 *   stream 2   |K2 12..212|
 *   stream 3                        |H2D 225..325|
 *   host       h h [sync 1 ..214][sync 2 ..216][H2D 218]  */
static void test_joint(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    run_blocks(tl, 1, 10, "K1", AT(0, 4), AT(10, 210));
    run_blocks(tl, 2, 10, "K2", AT(4, 8), AT(12, 212));
    add_call(tl, (sl_call){ .kind = SL_CALL_STREAM_SYNC, .stream = 1, .where = text_id(tl, "a:1") },
             AT(8, 214));
    add_call(tl, (sl_call){ .kind = SL_CALL_STREAM_SYNC, .stream = 2, .where = text_id(tl, "a:2") },
             AT(214, 216));
    run(tl, SL_SPAN_MEMCPY_H2D, 3, NULL, AT(216, 218), AT(225, 325));
    finish(tl);
    sl_verdict v = judge(tl);
    ok(!v.good && v.joint, "two waits that hide each other are no good schedule");
    ok(v.gain_ns > 100000 && v.gain_ns < 115000, "the copy runs beside the kernels, 113 earlier");
    sl_timeline_release(tl);
}

/* ---- what is not overlooked ------------------------------------------------------------ */

/* The GPU's clock is 60 early: kernels start before their calls, so that no replay finds what holds
 * them. Ten kernels of 10, one each 50: nothing runs for 9 * 40 of 460. */
static void test_overlooked(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    for (int64_t i = 0; i < 10; i++)
        run_blocks(tl, 1, 132, "K", AT(100 + 50 * i, 104 + 50 * i), AT(44 + 50 * i, 54 + 50 * i));
    finish(tl);
    sl_explanation e = explain(tl);
    sl_verdict v = sl_explanation_judge(tl, &e);
    ok(!v.good && v.unknown,
       "where nothing runs for most of the time, the schedule is not called good");
    is_int(v.gain_ns, 0, "nothing is said to be gained");
    is_int(v.lost_ns, 360000, "what is lost is told");
    ok(e.n_findings > 0 && e.findings[v.lead].lost_ns == 360000 && e.findings[v.lead].gain_ns == -1,
       "by the finding that lost it, whose gain is not known");
    is_int(e.idle_ns, 360000, "nothing ran then");
    sl_timeline_release(tl);
}

/* A copy engine that has work all the time explains that the kernels wait: nothing is overlooked.
 *   stream 1   |H2D 10..110|H2D 110..210|H2D 210..310|
 *   stream 2               |K 112..122| |K 212..222| |K 312..322|, each behind the copy's event */
static void test_explained(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    for (int64_t i = 0; i < 3; i++) {
        int64_t at = 6 * i, end = 110 + 100 * i;
        run(tl, SL_SPAN_MEMCPY_H2D, 1, "H", AT(at, at + 2), AT(end - 100, end));
        uint64_t e = record(tl, 1, AT(at + 2, at + 3), end);
        wait_event(tl, 2, e, AT(at + 3, at + 4), end + 1);
        run_blocks(tl, 2, 132, "K", AT(at + 4, at + 6), AT(end + 2, end + 12));
    }
    finish(tl);
    sl_explanation e = explain(tl);
    sl_verdict v = sl_explanation_judge(tl, &e);
    ok(v.good && !v.unknown, "a copy engine that is never idle is a reason for kernels to wait");
    is_int(e.room_ns, 12000, "all but the last kernel is beside copies");
    sl_timeline_release(tl);
}

/* ---- what one advice ends ------------------------------------------------------------------- */

/* Five kernels, whose first launches take 20000 each, as their code is loaded, and run for 10000
 * behind that. Without: each call takes 4, and the kernels follow one another. */
static void test_first_launches(void)
{
    static const char *const names[] = { "A", "B", "C", "D", "E" };
    sl_timeline *tl = make();
    on_gpu(tl);
    for (int64_t i = 0; i < 5; i++) {
        int64_t from = 30000 * i, end = from + 20000;
        run(tl, SL_SPAN_KERNEL, 1, names[i], AT(from, end), AT(end + 5, end + 10005));
    }
    finish(tl);
    sl_explanation e = explain(tl);
    is_int(e.findings[0].cause, SL_CAUSE_HOST_BLOCKED, "first launches hold the host");
    is_int((long long)e.findings[0].count, 4,
           "four of five behind the first kernel, as one finding");
    ok(e.findings[0].gain_ns > 79000000 && e.findings[0].gain_ns < 81000000,
       "whose gain is that of all: four calls of 20 ms");
    for (size_t i = 1; i < e.n_findings; i++)
        ok(e.findings[i].cause != SL_CAUSE_HOST_BLOCKED, "there is no other one of them");
    sl_timeline_release(tl);
}

/* The host works for 50 behind a kernel; then come fifty kernels of 3, 3 apart. Latency takes 147 of
 * 354, and no program ends it. */
static void test_latency_does_not_lead(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    run_blocks(tl, 1, 132, "K", AT(0, 1), AT(4, 7));
    add_call(tl, (sl_call){ .kind = SL_CALL_HOST_WORK, .where = text_id(tl, "a:1") }, AT(1, 51));
    for (int64_t i = 0; i < 50; i++)
        run_blocks(tl, 1, 132, "K", AT(51 + i, 52 + i), AT(55 + 6 * i, 58 + 6 * i));
    finish(tl);
    sl_explanation e = explain(tl);
    sl_verdict v = sl_explanation_judge(tl, &e);
    is_int(v.cause, SL_CAUSE_HOST_WORK, "what a program can end leads");
    ok(v.gain_ns > 45000 && v.gain_ns < 51000, "with its own gain");
    ok(v.also > 0 && e.findings[v.also].cause == SL_CAUSE_LATENCY
           && e.findings[v.also].gain_ns > v.gain_ns,
       "and latency is named beside it, though it takes more");
    sl_timeline_release(tl);
}

/* Two engines wait for one host. Copies of four bytes have hardly any work: the kernels' engine leads.
 *   host       work 0..500, K, D2H; work, K, D2H */
static void test_engine_with_work(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    for (int64_t i = 0; i < 4; i++) {
        int64_t from = 1000 * i;
        add_call(tl, (sl_call){ .kind = SL_CALL_HOST_WORK, .where = text_id(tl, "a:1") },
                 AT(from, from + 500));
        run_blocks(tl, 1, 132, "K", AT(from + 500, from + 504), AT(from + 507, from + 907));
        run(tl, SL_SPAN_MEMCPY_D2H, 2, "down", AT(from + 504, from + 506),
            AT(from + 510, from + 511));
    }
    finish(tl);
    sl_explanation e = explain(tl);
    is_int(e.findings[0].cause, SL_CAUSE_HOST_WORK, "the host's work keeps both engines idle");
    is_int(e.findings[0].engine, SL_ENGINE_COMPUTE, "the one with the most work leads");
    sl_timeline_release(tl);
}

/* A loop that asks something before each launch: fewer launches ask less. Fifty kernels of 2, one each
 * 20; the makespan is 982. At once they would take 50 * 3 - 1 = 149. */
static void test_questions(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    for (int64_t i = 0; i < 50; i++) {
        sl_call question = { .kind = SL_CALL_PLAIN, .name = text_id(tl, "cudaStreamIsCapturing") };
        add_call(tl, question, AT(20 * i, 20 * i + 5));
        run_blocks(tl, 1, 132, "K", AT(20 * i + 10, 20 * i + 15), AT(20 * i + 18, 20 * i + 20));
    }
    finish(tl);
    sl_verdict v = judge(tl);
    is_int(v.cause, SL_CAUSE_HOST_ISSUING,
           "the GPU waits for launches, and for what is asked before them");
    is_int(v.gain_ns, (982 - 149) * 1000, "both end with them");
    sl_timeline_release(tl);
}

/* ---- names ------------------------------------------------------------------------- */

static const char *name_of(sl_timeline *tl, const char *name)
{
    const char *short_name = sl__timeline_kernel_name(tl, text_id(tl, name));
    return short_name ? short_name : "as it is";
}

static void test_names(void)
{
    static const char *const names[] = {
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
        "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>)",
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
        "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>)",
        "void other<float>(int)",
        "matmul_f32",
        "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_warpgroupsize1x1x1_bias_cublas",
        "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x256x32_warpgroupsize1x1x1_bias_cublas",
    };
    sl_timeline *tl = make();
    for (int64_t i = 0; i < 6; i++)
        run(tl, SL_SPAN_KERNEL, 1, names[i], AT(i, i), AT(10 * i + 10, 10 * i + 20));
    for (size_t i = 0; i < 6; i++)
        text_id(tl, names[i]);
    finish(tl);
    is_str(name_of(tl, names[0]), "vectorized_elementwise_kernel<FillFunctor>",
           "the word that tells a kernel from the others of its template");
    is_str(name_of(tl, names[1]), "vectorized_elementwise_kernel<CUDAFunctor_add>",
           "each has its own");
    is_str(name_of(tl, names[2]), "as it is", "a name that is alone needs none");
    is_str(name_of(tl, names[3]), "as it is", "nor does one without a template");
    is_str(name_of(tl, names[4]), "sm90_xmma_gemm_f32f32...tilesize128x128x32",
           "what is cut in the middle shows where it differs");
    is_str(name_of(tl, names[5]), "sm90_xmma_gemm_f32f32...tilesize128x256x32", "both do");
    sl_timeline_release(tl);
}

/* Of kernels that differ in the last of many arguments. */
static void test_two_words(void)
{
#define MULTI "void at::native::multi_tensor_apply_kernel<at::native::ListMetadata<1>, at::native::"
    static const char *const names[] = {
        MULTI "BinaryOp<float, 1, 1, 0>, std::multiplies<float>, float>(int)",
        MULTI "BinaryOp<float, 1, 1, 0>, std::plus<float>, float>(int)",
        MULTI "PointwiseOp<float, 3, 3, 0>, std::multiplies<float>, float>(int)",
    };
#undef MULTI
    static const char *const expected[] = { "multi_tensor_apply_kernel<BinaryOp, multiplies>",
                                            "multi_tensor_apply_kernel<plus>",
                                            "multi_tensor_apply_kernel<PointwiseOp>" };
    sl_timeline *tl = make();
    for (int64_t i = 0; i < 3; i++)
        run(tl, SL_SPAN_KERNEL, 1, names[i], AT(i, i), AT(10 * i + 10, 10 * i + 20));
    for (size_t i = 0; i < 3; i++)
        text_id(tl, names[i]);
    finish(tl);
    for (size_t i = 0; i < 3; i++)
        is_str(name_of(tl, names[i]), expected[i],
               "one word that only this kernel has, or two; numbers only if names do not do");
    sl_timeline_release(tl);
}

/* Two engines; both are idle from 110 to 300. */
static void test_pause(void)
{
    sl_timeline *tl = make();
    run(tl, SL_SPAN_KERNEL, 1, "K1", AT(0, 5), AT(10, 100));
    run(tl, SL_SPAN_MEMCPY_H2D, 2, NULL, AT(5, 7), AT(90, 110));
    run(tl, SL_SPAN_KERNEL, 1, "K2", AT(290, 295), AT(300, 400));
    run(tl, SL_SPAN_KERNEL, 1, "K3", AT(400, 405), AT(410, 420));
    finish(tl);
    is_int(explain(tl).pause_ns, 190000, "the longest time in which nothing ran, on any engine");
    sl_timeline_release(tl);
}

/* A kernel waits for a copy, which waits for the kernel before that. Each copy begins 2 behind that,
 * and each kernel 1002 behind its copy, for which nothing in the records is a reason. */
static void test_latency_beside_unknown(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    int64_t end = 100;
    for (int64_t host = 0; host < 60; host += 10) {
        run(tl, SL_SPAN_MEMCPY_H2D, 1, NULL, AT(host, host + 1), AT(end + 2, end + 82));
        uint64_t copied = record(tl, 1, AT(host + 1, host + 2), end + 82);
        wait_event(tl, 2, copied, AT(host + 2, host + 3), end + 82);
        end += 82 + 1002 + 10;
        run_blocks(tl, 2, 132, "K", AT(host + 3, host + 4), AT(end - 10, end));
        uint64_t used = record(tl, 2, AT(host + 4, host + 5), end);
        wait_event(tl, 1, used, AT(host + 5, host + 6), end);
    }
    finish(tl);
    sl_explanation e = explain(tl);
    is_int(e.findings[0].cause, SL_CAUSE_UNKNOWN, "5 times 1002 us have no reason");
    int64_t gain_ns = 0;
    for (size_t i = 0; i < e.n_findings; i++)
        if (e.findings[i].cause == SL_CAUSE_LATENCY)
            gain_ns = sl__max(gain_ns, e.findings[i].gain_ns);
    ok(gain_ns <= 10000, "launch latency of 10 us does not gain them, too");
    sl_timeline_release(tl);
}

int main(void)
{
    plan(0);
    test_good();
    test_gain();
    test_joint();
    test_overlooked();
    test_explained();
    test_first_launches();
    test_latency_does_not_lead();
    test_engine_with_work();
    test_questions();
    test_names();
    test_two_words();
    test_pause();
    test_latency_beside_unknown();
    return done_testing();
}
