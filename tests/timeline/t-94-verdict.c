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

int main(void)
{
    plan(0);
    test_good();
    test_gain();
    test_joint();
    test_names();
    return done_testing();
}
