/* t-24-gemm-tune.c - core/cuda/gemm_tune.c and gemm_kept.c: which plan is found, what is kept, failures. */
#include "tuning_rig.h"

static void test_fastest(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    set_us(10, 8, 6);
    is_int(in_use(r, shape(5)), 0, "until it is measured the first candidate multiplies");
    is_int(tune(r, 5, &tuning), SL_OK, "a shape is measured");
    ok(tuning.tuned && tuning.candidates == 3, "all that the heuristic offers");
    is_int(fake->wanted, 32, "of which it is asked for 32");
    is_int(tuning.ns, 6000, "the fastest takes 6 us");
    is_int(tuning.first_ns, 10000, "the heuristic's first 10");
    ok(tuning.algorithm == 2 && tuning.split_k == 1 && tuning.workspace_bytes == 0,
       "with its configuration");
    is_int(in_use(r, shape(5)), 2, "it multiplies from then on");
    is_int(in_use(r, shape(6)), 0, "other shapes are multiplied as before");
    sl_work tf32 = shape(5);
    tf32.flags = SL_WORK_TF32;
    is_int(in_use(r, tf32), 0, "and other modes");
    is_int(fake->compute_type, CUBLAS_COMPUTE_32F_FAST_TF32, "which are asked for");
    tune(r, 5, &tuning);
    is_int(fake->compute_type, CUBLAS_COMPUTE_32F, "what is measured computes as before");
    is_int(seen.device_waits, 2, "the device is idle whenever it measures");
    is_int((intptr_t)fake->stream, (intptr_t)r->streams[0].handle, "and measures in the stream");
    close_tuning(r, "measuring");
}

static void test_margin(void)
{
    static const struct {
        double us[3];
        int chosen;
        const char *name;
    } cases[] = {
        { { 10, 10, 10 }, 0, "of equals the one in use stays" },
        { { 10, 9.9, 11 }, 0, "one per cent is noise" },
        { { 10, 9.7, 9.75 }, 1, "three per cent are not" },
        { { 10, 7, 7 }, 1, "of faster ones that are equal the heuristic's earlier one is taken" },
        { { 2, 7, 7 }, 0, "the first may be the fastest" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rig *r = open_tuning();
        sl_tuning tuning;
        set_us(cases[i].us[0], cases[i].us[1], cases[i].us[2]);
        tune(r, 5, &tuning);
        is_int(in_use(r, shape(5)), cases[i].chosen, "%s", cases[i].name);
        close_tuning(r, "that");
    }
}

static void test_again(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    set_us(10, 8, 6);
    tune(r, 5, &tuning);
    set_us(10, 5.95, 6);
    tune(r, 5, &tuning);
    is_int(in_use(r, shape(5)), 2, "measured again, what was found stays unless others are faster");
    set_us(5.95, 8, 6);
    tune(r, 5, &tuning);
    is_int(in_use(r, shape(5)), 2, "the heuristic's first too has to be faster");
    is_int(tuning.first_ns, 5950, "whose time is given");
    set_us(10, 5, 6);
    tune(r, 5, &tuning);
    is_int(in_use(r, shape(5)), 1, "and one that is faster takes its place");
    close_tuning(r, "measuring again");
}

/* One sample is not enough: the best are measured again. */
static void test_luck(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    set_us(10, 8, 9);
    seen.lucky = 2;
    seen.lucky_left = 5;
    tune(r, 5, &tuning);
    is_int(in_use(r, shape(5)), 1, "a few lucky samples do not choose a plan");
    is_int(tuning.ns, 8000, "nor say how long it takes");
    close_tuning(r, "luck");
}

/* Products that last: not all candidates are measured, but always the plan in use. */
static void test_large(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    set_us(6e5, 5e5, 4e5);
    tune(r, 5, &tuning);
    is_int(tuning.candidates, 2, "of products of half a second each two have two samples in 2 s");
    is_int(in_use(r, shape(5)), 1, "the fastest of these is taken");
    set_us(4e5, 7e5, 4e5);
    tune(r, 5, &tuning);
    is_int(in_use(r, shape(5)), 0, "measured again, another may be");
    set_us(1, 1, 1);
    fake->us[3] = 0.5;
    fake->candidates = 4;
    tune(r, 7, &tuning);
    is_int(in_use(r, shape(7)), 3, "the last candidate is in use");
    set_us(9e5, 9e5, 9e5);
    fake->us[3] = 3e5;
    tune(r, 7, &tuning);
    ok(tuning.candidates == 3 && in_use(r, shape(7)) == 3, "which is measured in any case");
    close_tuning(r, "large products");
}

static void test_unsteady(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    set_us(10, 8, 6);
    fake->unsteady[2] = true;
    tune(r, 5, &tuning);
    is_int(in_use(r, shape(5)), 1, "a plan whose results differ from run to run is not taken");
    is_int(tuning.ns, 8000, "but the next best");
    fake->unsteady[1] = true;
    tune(r, 6, &tuning);
    is_int(in_use(r, shape(6)), 0, "and at last the one in use");
    close_tuning(r, "unsteady plans");
}

static void test_refused(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    set_us(10, 8, 6);
    fake->refused[2] = CUBLAS_STATUS_NOT_SUPPORTED;
    tune(r, 5, &tuning);
    is_int(in_use(r, shape(5)), 1, "a plan that fails is not taken");
    is_int(tuning.candidates, 2, "nor counted");
    fake->refused[0] = CUBLAS_STATUS_INTERNAL_ERROR;
    tune(r, 6, &tuning);
    is_int(in_use(r, shape(6)), 1, "if the one in use fails, another one is taken");
    is_int(tuning.first_ns, 0, "and the first has no time");
    fake->refused[1] = CUBLAS_STATUS_INTERNAL_ERROR;
    fake->refused[2] = CUBLAS_STATUS_INTERNAL_ERROR;
    is_int(tune(r, 8, &tuning), SL_EBACKEND, "if all fail, so does measuring");
    is_str(r->err.msg, "cublasLtMatmul: CUBLAS_STATUS_INTERNAL_ERROR for 3x8 times 8x7 float32",
           "with cublasLt's answer");
    ok(!tuning.tuned && seen.last_waits > 0, "and waits for what it has enqueued");
    close_tuning(r, "failures");
}

/* ---- memory ---- */

static void test_memory(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    rest.no_memory = true;
    is_int(tune(r, 5, &tuning), SL_ENOMEM, "without memory for results nothing is measured");
    is_str(r->err.msg,
           "no 512 bytes for results to measure: cudaMalloc: out of memory "
           "(cudaErrorMemoryAllocation)",
           "which the sentence says");
    is_int(r->err.backend_code, cudaErrorMemoryAllocation, "with CUDA's number");
    rest.no_memory = false;
    is_int(in_use(r, shape(5)), 0, "the shape is multiplied as before");

    set_us(10, 8, 10);
    rest.memory_for = 1;
    fake->most_split = 32;
    fake->split_us = 2;
    fake->split_need_bytes = 1000;
    is_int(tune(r, 64, &tuning), SL_OK, "without memory for a workspace a shape is measured");
    ok(tuning.candidates == 3 && tuning.ns == 8000, "without the candidates that need one");
    rest.memory_for = 0;
    tune(r, 64, &tuning);
    is_int(tuning.ns, 2000, "which are measured when there is some");
    close_tuning(r, "short memory");
}

/* A view's result is measured at an address like its own. */
static void test_aligned_result(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    sl_image image = { NULL, 0 };
    call *c = open_call(r, matmul(3, 5, 7, SL_FLOAT16));
    c->out.data = aligned_memory(256);
    c->side[SL_OUTPUT] = (sl_operand){ .buffer = &c->out.base, .offset = 8 };
    is_int(cuda_gemm_plan_measure(&c->product, &image, &tuning, NULL), SL_OK,
           "a product into a view is measured");
    is_int((intptr_t)fake->result % 16, 8, "into memory that is aligned as the view is");
    ok((char *)fake->result != (char *)c->out.data + 8, "but not into the view");
    free(image.data);
    free(c->out.data);
    close_call(c);
    close_tuning(r, "a view");
}

/* Tunes a product with an L2 cache of so many bytes: whether it was measured with copies of its
 * operands, whose number is *n; -1: the results were not right. */
static bool measured_with_copies(rig *r, int l2_bytes, int *n)
{
    sl_tuning tuning;
    sl_image image = { NULL, 0 };
    call *c = open_call(r, shape(5));
    seen.l2_bytes = l2_bytes;
    rest.largest = 0;
    for (int i = 0; i < 15; i++)
        ((float *)c->a.data)[i] = (float)i;
    sl_status status = cuda_gemm_plan_measure(&c->product, &image, &tuning, NULL);
    const bool copied = fake->right != c->a.data;
    *n = status == SL_OK ? (int)(rest.largest / (copied ? 768 : 256)) : -1;
    free(image.data);
    close_call(c);
    seen.l2_bytes = 0;
    return copied;
}

/* 60, 140 and 84 bytes, each at a multiple of 256. */
static void test_operands(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    int n;
    tune(r, 5, &tuning); /* takes the workspace */
    ok(measured_with_copies(r, 1000, &n), "products are measured with copies of the operands");
    is_int(n, 3, "in sets that are twice as large as the cache");
    ok(fake->right_first == 0 && fake->right_last == 14, "of their values");
    ok(!measured_with_copies(r, 0, &n), "without a cache with the operands themselves");
    is_int(n, 2, "and two results");
    ok(!measured_with_copies(r, 384, &n), "and likewise if they do not fit into it anyway");
    ok(measured_with_copies(r, 385, &n) && n == 2, "but if they do with two sets at least");
    measured_with_copies(r, 1 << 20, &n);
    is_int(n, 1024, "and at most 1024");
    rest.most_bytes = 1000;
    ok(!measured_with_copies(r, 1000, &n) && n == 2,
       "without memory for copies with the operands themselves");
    rest.most_bytes = 0;
    close_tuning(r, "copies");
}

/* ---- what is kept ---- */

static sl_status load_image(rig *r, sl_work work, const sl_image *image, sl_tuning *tuning)
{
    call *c = open_call(r, work);
    *tuning = (sl_tuning){ .tuned = false };
    sl_status status = cuda_gemm_plan_load(&c->product, image, tuning, &r->err);
    close_call(c);
    return status;
}

static bool is_tuned(rig *r, sl_work work, sl_tuning *tuning)
{
    call *c = open_call(r, work);
    bool tuned = cuda_gemm_plan_tuned(&c->product, tuning);
    close_call(c);
    return tuned;
}

static void test_kept(void)
{
    rig *r = open_tuning();
    sl_tuning tuning, loaded;
    sl_image image;
    set_us(10, 8, 6);
    ok(!is_tuned(r, shape(5), &tuning), "before cublasLt is open nothing is tuned");
    tune_work(r, shape(5), &tuning, &image);
    ok(is_tuned(r, shape(5), &loaded) && loaded.ns == 6000, "a shape that was measured is tuned");
    ok(!is_tuned(r, shape(6), &loaded), "another one is not");
    for (int64_t m = 1; m <= MAX_PLANS; m++)
        enqueue_shape(r, m, 1, 1);
    ok(!is_tuned(r, shape(5), &loaded), "nor any when all plans have been closed");
    close_tuning(r, "many shapes");

    r = open_tuning();
    is_int(load_image(r, shape(5), &image, &loaded), SL_OK, "another device loads what was kept");
    ok(loaded.tuned && loaded.ns == 6000 && loaded.first_ns == 10000 && loaded.candidates == 3
           && loaded.algorithm == 2 && loaded.split_k == 1,
       "with all that was found");
    is_int(fake->matmuls, 0, "and measures nothing");
    is_int(in_use(r, shape(5)), 2, "its plan multiplies");
    close_tuning(r, "loading");
    free(image.data);
}

static void test_damaged(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    sl_image image;
    set_us(10, 8, 6);
    tune_work(r, shape(5), &tuning, &image);
    sl_image cut = { image.data, image.bytes - 1 };
    is_int(load_image(r, shape(6), &cut, &tuning), SL_EIO, "what is cut off is not loaded");
    is_int(load_image(r, shape(6), &(sl_image){ "", 0 }, &tuning), SL_EIO, "nor nothing");
    fake->candidates = 2;
    is_int(load_image(r, shape(6), &image, &tuning), SL_EIO,
           "nor a plan that this cublasLt refuses");
    is_str(r->err.msg, "cublasLt refuses the plan of matmul that is kept", "in a sentence");
    fake->candidates = 3;
    ((kept_plan *)image.data)->algo.data[0]++;
    is_int(load_image(r, shape(6), &image, &tuning), SL_EIO, "nor one that is none of its own");
    ((char *)image.data)[0]++;
    is_int(load_image(r, shape(6), &image, &tuning), SL_EIO, "nor another kind of file");
    ok(!tuning.tuned && in_use(r, shape(6)) == 0, "the shape is multiplied as before");
    free(image.data);
    close_tuning(r, "damage");
}

static const char *key_text(rig *r, sl_work work, size_t at)
{
    static char text[512];
    call *c = open_call(r, work);
    c->side[0].offset = at;
    if (cuda_gemm_plan_key(&c->product, text, sizeof text, &r->err)) text[0] = '\0';
    close_call(c);
    return text;
}

static void test_key(void)
{
    rig *r = open_tuning();
    is_str(key_text(r, shape(5), 0),
           "matmul on GPU, 7 SMs; driver 13010, cublasLt 130001; float32 3x5x7; "
           "aligned 256, 256, 256",
           "a key has the device, the versions and the shape");
    sl_work tf32 = shape(5);
    tf32.flags = SL_WORK_TF32;
    is_str(key_text(r, tf32, 0),
           "matmul on GPU, 7 SMs; driver 13010, cublasLt 130001; float32 in tf32 3x5x7; "
           "aligned 256, 256, 256",
           "the mode");
    sl_work stack = shape(5);
    stack.outer = 4;
    is_str(key_text(r, stack, 0),
           "matmul on GPU, 7 SMs; driver 13010, cublasLt 130001; float32 4 of 3x5x7; "
           "aligned 256, 256, 256",
           "of a stack how many there are");
    sl_work fused = shape(5);
    fused.activation = SL_GELU;
    is_str(key_text(r, fused, 0),
           "matmul on GPU, 7 SMs; driver 13010, cublasLt 130001; float32 3x5x7 with gelu; "
           "aligned 256, 256, 256",
           "and what follows the product");
    fake->newer = 1;
    is_str(key_text(r, matmul(3, 5, 7, SL_FLOAT16), 8),
           "matmul on GPU, 7 SMs; driver 13010, cublasLt 130002; float16 3x5x7; "
           "aligned 8, 256, 256",
           "and how views are aligned");
    free(r);
}

/* ---- failures ---- */

static void test_interrupt(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    set_us(10, 8, 6);
    seen.interrupted = 1;
    seen.last_waits = 0;
    is_int(tune(r, 5, &tuning), SL_EINTERRUPT, "Ctrl-C ends measuring");
    is_int(seen.last_waits, 1, "after what is in flight has completed");
    seen.interrupted = 0;
    ok(!is_tuned(r, shape(5), &tuning) && in_use(r, shape(5)) == 0, "the plan is as it was");
    close_tuning(r, "Ctrl-C");
}

/* Each call of cublasLt that can fail, and each piece of host memory: either the candidate is none,
 * or nothing is measured. */
static void test_each_failure(void)
{
    const sl_work work = matmul(1, 32, 1, SL_FLOAT32);
    int wrong = 0, refused = 0, measured = 0;
    for (int n = 1;; n++) {
        rig *r = open_tuning();
        sl_tuning tuning;
        fake->most_split = 4;
        fake->fail_at = n;
        sl_status status = tune_work(r, work, &tuning, NULL);
        bool failed = fake->calls >= n;
        refused += status == SL_EBACKEND;
        measured += failed && status == SL_OK && tuning.tuned;
        fake->fail_at = 0;
        wrong += in_use(r, work) < 0 || seen.events != 0;
        cuda_gemm_close(&r->dev);
        for (int i = 0; i < 2; i++)
            if (r->streams[i].workspace) cuda_block_give(&r->dev, r->streams[i].workspace);
        wrong += fake->live != 0 || rest.blocks != 0;
        free(r);
        if (!failed) break;
    }
    ok(refused >= 13, "a shape that has no plan, and a heuristic that fails, are refused (%d)",
       refused);
    ok(measured >= 27, "a candidate that fails is left out (%d)", measured);
    is_int(wrong, 0, "the next product works, and nothing is left");
}

static void test_host_memory(void)
{
    int refused = 0, wrong = 0, n = 0;
    for (sl_status status = SL_ENOMEM; status != SL_OK; n++) {
        rig *r = open_tuning();
        sl_tuning tuning;
        set_us(10, 8, 6);
        callocs_until_failure = n + 1;
        status = tune(r, 5, &tuning);
        callocs_until_failure = 0;
        refused += status == SL_ENOMEM && strstr(r->err.msg, "host memory") != NULL;
        wrong += in_use(r, shape(5)) < 0 || seen.events != 0;
        cuda_gemm_close(&r->dev);
        wrong += fake->live != 0;
        for (int i = 0; i < 2; i++)
            if (r->streams[i].workspace) cuda_block_give(&r->dev, r->streams[i].workspace);
        free(r);
    }
    is_int(refused, n - 1, "without host memory nothing is measured");
    is_int(wrong, 0, "and nothing is lost by it");
    rig *r = open_tuning();
    sl_tuning tuning;
    set_us(10, 8, 6);
    mallocs_until_failure = 1;
    is_int(tune(r, 5, &tuning), SL_ENOMEM, "nor without memory to compare results in");
    mallocs_until_failure = 0;
    close_tuning(r, "short host memory");
}

static void test_lost(void)
{
    rig *r = open_tuning();
    sl_tuning tuning;
    enqueue_shape(r, 3, 5, 7);
    rest.sticky = cudaErrorIllegalAddress;
    is_int(tune(r, 5, &tuning), SL_EFAULT, "on a lost device nothing is measured");
    rest.sticky = cudaSuccess;
    close_tuning(r, "the loss of a device");
}

/* ---- host functions that multiply ---- */

static rig *outer;

static void multiply_many(void)
{
    for (int64_t m = 1; m <= MAX_PLANS + 1; m++)
        enqueue_shape(outer, m, 1, 1);
}

static void test_host_funcs(void)
{
    for (int chances = 0; chances < 5; chances++) {
        sl_tuning tuning;
        outer = open_tuning();
        set_us(10, 8, 6);
        rest.host_func = multiply_many;
        rest.chances = chances;
        ok(tune(outer, 5, &tuning) == SL_OK && !rest.host_func && in_use(outer, shape(5)) == 2,
           "a host function may close all plans before it measures, at chance %d", chances);
        close_tuning(outer, "that");
    }
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
    test_fastest();
    test_margin();
    test_again();
    test_luck();
    test_large();
    test_unsteady();
    test_refused();
    test_memory();
    test_aligned_result();
    test_operands();
    test_kept();
    test_damaged();
    test_key();
    test_interrupt();
    test_each_failure();
    test_host_memory();
    test_lost();
    test_host_funcs();
    return done_testing();
}
