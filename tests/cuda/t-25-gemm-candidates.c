/* t-25-gemm-candidates.c - core/cuda/gemm_candidates.c: what is measured, and what is not. */
#include "tuning_rig.h"

static void test_tiles(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    fake->tiles = 4;
    fake->stages = 2;
    fake->tile_us[3] = 7;
    tune(r, 5, &tuning);
    is_int(tuning.candidates, 3 + 3 * 7, "each algorithm is tried with its other tiles and stages");
    ok(tuning.tile == 3 && tuning.stages == 0 && tuning.ns == 7000, "the fastest is found");
    is_int(in_use(r, shape(5)), 0, "and multiplies right");
    is_int(fake->tile, 3, "from then on");
    fake->most_tile = 2;
    tune(r, 6, &tuning);
    is_int(tuning.candidates, 3 + 3 * 5, "tiles that cublasLt refuses are not measured");
    fake->candidates = 1;
    tune(r, 7, &tuning);
    is_int(tuning.candidates, 1 + 5, "an algorithm that is offered once is tried once");
    fake->tiles = fake->stages = 1000;
    fake->most_tile = 0;
    tune(r, 8, &tuning);
    is_int(tuning.candidates, 1 + 256, "of a million at most 256 are measured");
    fake->tiles = 1025;
    tune(r, 9, &tuning);
    is_int(tuning.candidates, 1, "and none of more ids than there is room for");
    close_tuning(r, "tiles");
}

static void test_split(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    fake->most_split = 32;
    fake->split_us = 2;
    fake->split_need_bytes = 1000;
    tune(r, 64, &tuning);
    is_int(tuning.candidates, 3 + 3 * 3, "64 terms are split into 2, 3 and 4 parts of 16 or more");
    ok(tuning.split_k == 2 && tuning.ns == 2000, "the fastest of them is found");
    is_int(tuning.workspace_bytes, 2000, "with its workspace");
    is_int(in_use(r, shape(64)), 0, "and multiplies right");
    ok(fake->split == 2 && fake->workspace == r->streams[0].workspace->data
           && fake->workspace_bytes == 2000,
       "in the stream's workspace");
    tune(r, 31, &tuning);
    is_int(tuning.candidates, 3, "31 terms are not split");
    fake->most_split = 3;
    tune(r, 64, &tuning);
    is_int(tuning.candidates, 3 + 3 * 2, "what cublasLt refuses is not measured");
    fake->split_need_bytes = 11 << 20;
    tune(r, 65, &tuning);
    is_int(tuning.candidates, 3 + 3, "nor what needs more workspace than there is");
    close_tuning(r, "split sums");
}

/* A plan of two kernels has to save as much as a launch costs the host. */
static void test_two_kernels(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    fake->most_split = 32;
    fake->split_us = 7.1;
    tune(r, 64, &tuning);
    is_int(tuning.split_k, 1, "a plan of two kernels that is 2.9 us faster is not taken");
    set_us(10, 8, 8);
    fake->split_us = 5.1;
    tune(r, 65, &tuning);
    ok(tuning.split_k == 1 && tuning.ns == 8000, "but the fastest of one kernel");
    fake->split_us = 4.9;
    tune(r, 66, &tuning);
    ok(tuning.split_k == 2 && tuning.ns == 4900, "one that is 3.1 us faster is");
    set_us(10, 8, 4.85);
    tune(r, 66, &tuning);
    is_int(tuning.split_k, 2, "and stays if one of one kernel is one per cent faster");
    set_us(10, 8, 4.7);
    tune(r, 66, &tuning);
    is_int(tuning.split_k, 1, "but not if that is four per cent faster");
    close_tuning(r, "plans of two kernels");
}

/* The heuristic's first may be one. */
static void test_two_kernels_in_use(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    fake->offered_split[0] = 4;
    fake->offered_split[1] = 8;
    set_us(8, 7, 7.9);
    tune(r, 5, &tuning);
    is_int(tuning.split_k, 8,
           "of two kernels as well, one takes the other's place if it is faster");
    set_us(8, 7, 7.8);
    tune(r, 6, &tuning);
    is_int(tuning.split_k, 1, "and one kernel that is less so takes it before");
    close_tuning(r, "a plan of two kernels in use");
}

/* What rounds parts of sums, or adds them up in any order. */
static void test_precision(void)
{
    static const struct {
        int scheme;
        sl_dtype dtype;
        int chosen;
        const char *name;
    } cases[] = {
        { CUBLASLT_REDUCTION_SCHEME_INPLACE, SL_FLOAT32, 0, "sums in place are no candidates" },
        { CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, SL_FLOAT16, 1, "sums in float32 are" },
        { CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE, SL_FLOAT16, 0, "sums in float16 are none" },
        { CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE, SL_BFLOAT16, 0, "nor in bfloat16" },
        { CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE, SL_FLOAT32, 1,
          "those in an output of float32 are" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rig *r = open_tuning();
        sl_work work = matmul(3, 5, 7, cases[i].dtype);
        sl_tuning tuning;
        set_us(10, 1, 10);
        fake->scheme[1] = cases[i].scheme;
        tune_work(r, work, &tuning, NULL);
        is_int(in_use(r, work), cases[i].chosen, "%s", cases[i].name);
        close_tuning(r, "that");
    }
    rig *r = open_tuning();
    sl_tuning tuning;
    set_us(10, 20, 20);
    fake->scheme[0] = CUBLASLT_REDUCTION_SCHEME_INPLACE;
    tune(r, 5, &tuning);
    is_int(in_use(r, shape(5)), 0, "the plan in use is measured, however it sums");
    close_tuning(r, "that");
}

int main(int argc, char **argv)
{
    plan(0);
    (void)argc;
    if (!offer_fake(argv[0])) {
        diag("no folder beside %s", argv[0]);
        return 1;
    }
    if (!open_fake()) return done_testing();
    test_tiles();
    test_split();
    test_two_kernels();
    test_two_kernels_in_use();
    test_precision();
    return done_testing();
}
