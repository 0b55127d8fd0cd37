/* t-20-gemm.c - core/cuda/gemm*.c and library.c over fake_cublaslt.c, without a GPU:
 * row-major products, the plans, workspaces, failures. */
#define _GNU_SOURCE /* mkdtemp */
#include "gemm_rig.h"

#include <math.h>

static void test_values(void)
{
    rig *r = open_rig();
    const float a[] = { 1, 2, 3, 4, 5, 6 };                                     /* 2x3 */
    const float b[] = { 1, 10, 100, 1000, 2, 20, 200, 2000, 3, 30, 300, 3000 }; /* 3x4 */
    float c[8];
    memset(c, 0xff, sizeof c);
    sl_work work = matmul(2, 3, 4, SL_FLOAT32);
    is_int(cuda_gemm_enqueue(&r->dev, &r->streams[0], &work, c, a, b, NULL, NULL), SL_OK,
           "a product is enqueued");
    ok(c[0] == 14 && c[1] == 140 && c[2] == 1400 && c[3] == 14000,
       "the first row is the row-major product, whatever was in its place");
    ok(c[4] == 32 && c[5] == 320 && c[6] == 3200 && c[7] == 32000, "the second row likewise");
    is_int((intptr_t)fake->stream, (intptr_t)r->streams[0].handle, "it ran in its stream");

    static const int64_t shapes[][3] = {
        { 1, 1, 1 },    { 3, 5, 7 },  { 17, 33, 65 }, { 1, 64, 1 },
        { 100, 1, 90 }, { 1, 8, 40 }, { 40, 8, 1 },
    };
    static const sl_dtype floats[] = { SL_FLOAT32, SL_BFLOAT16, SL_FLOAT16, SL_FLOAT64 };
    for (size_t d = 0; d < sizeof floats / sizeof *floats; d++) {
        int right = 0;
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            work = matmul(shapes[i][0], shapes[i][1], shapes[i][2], floats[d]);
            right += product_is_right(r, 0, &work);
        }
        is_int(right, sizeof shapes / sizeof *shapes, "products of all shapes are right in %s",
               sl_dtype_name(floats[d]));
    }
    close_rig(r, "products");
}

static void test_stacks(void)
{
    rig *r = open_rig();
    const float a[] = { 1, 2, 3, 4 };               /* two of 1x2 */
    const float b[] = { 1, 10, 2, 20, 3, 4, 5, 6 }; /* two of 2x2 */
    float c[4] = { 0 };
    sl_work work = matmul(1, 2, 2, SL_FLOAT32);
    work.outer = 2;
    is_int(cuda_gemm_enqueue(&r->dev, &r->streams[0], &work, c, a, b, NULL, NULL), SL_OK,
           "a stack of products is enqueued");
    ok(c[0] == 5 && c[1] == 50 && c[2] == 29 && c[3] == 36, "each matrix is multiplied by its own");
    is_int(fake->matmuls, 1, "in one call");
    work = matmul(3, 5, 7, SL_BFLOAT16);
    for (work.outer = 1; work.outer <= 3; work.outer++)
        ok(product_is_right(r, 0, &work), "%d of another shape are right", (int)work.outer);
    is_int(fake->heuristics, 4, "as many matrices, another plan");
    work.k = 0;
    enqueue_at(r, 0, &work, 0, 0, 0);
    is_int(rest.fill.n, 4 * 3 * 7, "without terms all become zeros");

    work = matmul(3, 5, 7, SL_FLOAT16);
    work.outer = 3;
    fake->candidates = 0;
    is_int(enqueue_at(r, 0, &work, 0, 0, 0), SL_EBACKEND, "a stack may have no algorithm");
    is_str(r->err.msg,
           "cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED for 3x3x5 "
           "times 3x5x7 float16",
           "which is said with its shape");
    work.outer = (int64_t)INT32_MAX + 1;
    work.m = work.n = work.k = 1;
    is_int(cuda_gemm_enqueue(&r->dev, &r->streams[0], &work, NULL, NULL, NULL, NULL, &r->err),
           SL_EBACKEND, "cublasLt counts matrices in 32 bits");
    is_str(r->err.msg,
           "cublasLtMatrixLayoutSetAttribute: CUBLAS_STATUS_NOT_SUPPORTED for 2147483648x1x1 "
           "times 2147483648x1x1 float16",
           "more are refused");
    close_rig(r, "stacks");
}

/* The products are {{-1, 2, 0.5}} in both: 1x1 times 1x3. */
static void fused(rig *r, sl_activation activation, const float *bias, const float want[3],
                  const char *name)
{
    const float a[] = { 1, 1 }, b[] = { -1, 2, 0.5f, -1, 2, 0.5f };
    float c[6] = { 9, 9, 9, 9, 9, 9 };
    sl_work work = matmul(1, 1, 3, SL_FLOAT32);
    work.outer = 2;
    work.activation = (uint8_t)activation;
    work.flags = bias ? SL_WORK_BIAS : 0;
    bool right = !cuda_gemm_enqueue(&r->dev, &r->streams[0], &work, c, a, b, bias, &r->err);
    for (int i = 0; i < 6; i++)
        right = right && fabsf(c[i] - want[i % 3]) < 1e-6f;
    if (!ok(right, "%s, in each product of a stack", name)) diag("%s", r->err.msg);
}

static void test_epilogues(void)
{
    rig *r = open_rig();
    _Alignas(256) static const float bias[64] = { 3, -4, 0 }, other[64] = { 0, 1, 1 };
    fused(r, SL_NO_ACTIVATION, NULL, (const float[]){ -1, 2, 0.5f }, "without an epilogue");
    is_int(fake->epilogue, CUBLASLT_EPILOGUE_DEFAULT, "cublasLt does nothing further");
    fused(r, SL_RELU, NULL, (const float[]){ 0, 2, 0.5f }, "relu alone");
    fused(r, SL_NO_ACTIVATION, bias, (const float[]){ 2, -2, 0.5f },
          "an element of the bias is added to each column");
    fused(r, SL_RELU, bias, (const float[]){ 2, 0, 0.5f }, "before relu");
    /* x (1 + tanh(0.797884561 (x + 0.044715 x^3))) / 2 of 2, -2 and 0.5 */
    fused(r, SL_GELU, bias, (const float[]){ 1.9545977f, -0.0454023f, 0.3457140f }, "or gelu");
    is_int(fake->epilogue, CUBLASLT_EPILOGUE_GELU_BIAS, "which is one call");
    is_int(fake->heuristics, 5, "each is a plan of its own");
    fused(r, SL_GELU, other, (const float[]){ -0.1588080f, 2.9963627f, 1.3995716f },
          "another bias");
    is_int(fake->heuristics, 5, "needs no other plan");
    close_rig(r, "epilogues");

    r = open_rig();
    sl_work work = matmul(2, 2, 2, SL_BFLOAT16);
    const uint64_t a = 0, b = 0;
    _Alignas(256) uint16_t v[128] = { 0 };
    uint64_t c;
    work.flags = SL_WORK_BIAS;
    cuda_gemm_enqueue(&r->dev, &r->streams[0], &work, &c, &a, &b, v, &r->err);
    is_int(fake->bias_aligned, 256, "the heuristic gets the alignment of the bias");
    cuda_gemm_enqueue(&r->dev, &r->streams[0], &work, &c, &a, &b, v + 1, &r->err);
    is_int(fake->bias_aligned, 2, "also one that begins at any element");
    is_int(fake->heuristics, 2, "which has a plan of its own");
    fake->candidates = 0;
    work.activation = SL_GELU;
    is_int(cuda_gemm_enqueue(&r->dev, &r->streams[0], &work, &c, &a, &b, v + 1, &r->err),
           SL_EBACKEND, "and may have none");
    is_str(r->err.msg,
           "cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED for 2x2 times 2x2 "
           "bfloat16 with a bias at a multiple of 2 bytes and gelu",
           "which is said with all that decides");
    work.flags = 0;
    cuda_gemm_enqueue(&r->dev, &r->streams[0], &work, &c, &a, &b, NULL, &r->err);
    is_str(r->err.msg,
           "cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED for 2x2 times 2x2 "
           "bfloat16 with gelu",
           "as of an activation alone");
    close_rig(r, "biases that begin anywhere");
}

static void test_modes(void)
{
    rig *r = open_rig();
    sl_work work = matmul(8, 8, 8, SL_FLOAT32);
    enqueue(r, 0, &work);
    is_int(fake->compute_type, CUBLAS_COMPUTE_32F, "float32 is computed in float32");
    work.flags = SL_WORK_TF32;
    enqueue(r, 0, &work);
    is_int(fake->compute_type, CUBLAS_COMPUTE_32F_FAST_TF32, "and in tf32 if that is asked for");
    is_int(fake->heuristics, 2, "which is a plan of its own");
    work.dtype = SL_BFLOAT16;
    enqueue(r, 0, &work);
    is_int(fake->compute_type, CUBLAS_COMPUTE_32F, "bfloat16 has no tf32");
    work.flags = 0;
    enqueue(r, 0, &work);
    is_int(fake->heuristics, 3, "nor two plans");
    work.dtype = SL_FLOAT64;
    enqueue(r, 0, &work);
    is_int(fake->compute_type, CUBLAS_COMPUTE_64F, "float64 is computed in float64");
    close_rig(r, "modes");
}

/* ---- plans ---- */

static void test_reuse(void)
{
    rig *r = open_rig();
    for (int i = 0; i < 100; i++)
        enqueue_shape(r, 4, 5, 6);
    is_int(fake->matmuls, 100, "100 products of a shape are 100 calls");
    is_int(fake->heuristics, 1, "and one question to the heuristic");
    int calls = fake->calls;
    for (int i = 0; i < 100; i++)
        enqueue_shape(r, i % 2 ? 4 : 6, 5, i % 2 ? 6 : 4);
    is_int(fake->heuristics, 2, "two shapes in turn ask once each");
    is_int(fake->calls - calls, 100 + 11, "a plan that is there costs one call of cublasLt");
    enqueue_shape(r, 5, 4, 6);
    enqueue_shape(r, 5, 6, 4);
    enqueue_shape(r, 4, 6, 5);
    enqueue_shape(r, 6, 4, 5);
    is_int(fake->heuristics, 6, "the same sizes in another order are another shape");
    enqueue_shape(r, 6, 3, 5);
    sl_work work = matmul(6, 3, 5, SL_FLOAT16);
    enqueue(r, 0, &work);
    is_int(fake->heuristics, 8, "as is another inner size, or another dtype");
    close_rig(r, "repeated products");
}

static void test_eviction(void)
{
    rig *r = open_rig();
    for (int64_t m = 1; m <= MAX_PLANS; m++)
        enqueue_shape(r, m, 1, 1);
    is_int(fake->heuristics, MAX_PLANS, "every shape asks the heuristic");
    for (int64_t m = 1; m <= MAX_PLANS; m++)
        enqueue_shape(r, m, 1, 1);
    is_int(fake->heuristics, MAX_PLANS, "and is found again in a table that has grown");
    int live = fake->live;
    is_int(live, 1 + 4 * MAX_PLANS, "a plan is a descriptor and three layouts");
    enqueue_shape(r, 1, 2, 3);
    is_int(fake->live, 1 + 4, "one shape more than the limit empties the table");
    sl_work work = matmul(7, 1, 1, SL_FLOAT32);
    ok(product_is_right(r, 0, &work), "a shape whose plan has gone is multiplied as before");
    enqueue_shape(r, 1, 2, 3);
    enqueue_shape(r, 7, 1, 1);
    is_int(fake->heuristics, MAX_PLANS + 2, "after asking once more, and only once");
    for (int64_t m = 1; m <= MAX_PLANS; m++)
        enqueue_shape(r, m, 1, 1);
    ok(fake->live <= live, "the limit holds from then on");
    close_rig(r, "many shapes");

    r = open_rig();
    for (int64_t m = 1; m <= MAX_PLANS; m++)
        enqueue_shape(r, m, 1, 1);
    fake->fail_at = fake->calls + 1;
    is_int(enqueue_shape(r, 1, 2, 3), SL_EBACKEND, "a plan that empties the table may fail");
    is_int(enqueue_shape(r, MAX_PLANS, 1, 1), SL_OK, "and the last shape before is made anew");
    close_rig(r, "an emptied table");
}

static void test_candidates(void)
{
    rig *r = open_rig();
    enqueue_shape(r, 1, 1, 1);
    ok(fake->wanted >= 1 && fake->candidate == 0, "the first candidate is taken");
    is_int(fake->promised_bytes, 256, "whole allocations are promised to begin at 256 bytes");
    fake->bad_candidates = 1;
    enqueue_shape(r, 2, 1, 1);
    is_int(fake->candidate, 1, "unless it is marked as unusable");
    fake->bad_candidates = 2;
    fake->bad_need_bytes = (size_t)33 << 20;
    enqueue_shape(r, 3, 1, 1);
    is_int(fake->candidate, 2, "or needs more workspace than there is");

    fake->bad_candidates = 3;
    sl_work work = matmul(3, 5, 7, SL_FLOAT16);
    int live = fake->live;
    is_int(enqueue(r, 0, &work), SL_EBACKEND, "a shape without an algorithm is refused");
    is_str(r->err.msg,
           "cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED for 3x5 "
           "times 5x7 float16",
           "with the call, its answer and the product");
    is_int(r->err.backend_code, CUBLAS_STATUS_NOT_SUPPORTED, "and cuBLAS's number");
    is_int(fake->live, live, "and leaves no plan");
    fake->candidates = 0;
    work = matmul(3, 5, 7, SL_FLOAT32);
    work.flags = SL_WORK_TF32;
    is_int(enqueue(r, 0, &work), SL_EBACKEND, "a shape without candidates is refused likewise");
    is_str(r->err.msg,
           "cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED for 3x5 "
           "times 5x7 float32 in tf32",
           "with its mode");
    close_rig(r, "candidates");
}

static void test_alignment(void)
{
    rig *r = open_rig();
    fake->most_aligned = 4;
    sl_work work = matmul(3, 5, 7, SL_BFLOAT16);
    ok(product_is_right(r, 0, &work),
       "a shape that has an algorithm only for less alignment is multiplied");
    is_int(fake->promised_bytes, 4, "with the largest that there is one for");
    is_int(fake->heuristics, 4, "256, 16 and 8 were asked for before");
    fake->most_aligned = 1;
    work = matmul(5, 3, 7, SL_BFLOAT16);
    is_int(enqueue(r, 0, &work), SL_EBACKEND, "the search ends");
    is_int(fake->promised_bytes, 2, "at the alignment of a 16-bit element");
    close_rig(r, "odd alignments");
}

static void test_views(void)
{
    rig *r = open_rig();
    sl_work work = matmul(8, 8, 8, SL_FLOAT16);
    enqueue(r, 0, &work);
    is_int(fake->promised_bytes, 256, "whole tensors begin at 256 bytes");
    enqueue_at(r, 0, &work, 32, 2, 8);
    ok(fake->promised[0] == 2 && fake->promised[1] == 16 && fake->promised[2] == 8
           && fake->promised[3] == 8,
       "of views no more is promised than holds, of each its own; cublasLt's first matrix is b");
    is_int(fake->heuristics, 2, "that is a plan of its own");
    enqueue_at(r, 0, &work, 48, 6, 24);
    enqueue_at(r, 0, &work, 16, 254, 40);
    is_int(fake->heuristics, 2, "for all that are aligned alike");
    enqueue_at(r, 0, &work, 2, 32, 8);
    enqueue_at(r, 0, &work, 8, 2, 32);
    is_int(fake->heuristics, 4, "the same alignments of other operands are another plan");
    enqueue(r, 0, &work);
    is_int(fake->heuristics, 4, "and the first plan is still there");
    is_int(fake->matmuls, 7, "all are multiplied");
    close_rig(r, "views");
}

/* ---- workspaces ---- */

static void test_workspace(void)
{
    rig *r = open_rig();
    enqueue_shape(r, 1, 1, 1);
    is_int(fake->preferred_bytes, 32 << 20, "from capability 9.0 a plan may use 32 MiB");
    ok(!fake->workspace && !r->streams[0].workspace && rest.taken == 0,
       "a plan without workspace takes none");
    fake->need_bytes = 1000;
    sl_work work = matmul(2, 3, 4, SL_FLOAT32);
    ok(product_is_right(r, 0, &work), "a product with workspace is right");
    ok(r->streams[0].workspace && fake->workspace == r->streams[0].workspace->data,
       "the workspace is the stream's");
    is_int(fake->workspace_bytes, 1000, "and as much of it is used as the plan needs");
    is_int(r->streams[0].workspace->bytes, 32 << 20, "of the full size from the start");
    void *first = fake->workspace;
    enqueue(r, 1, &work);
    ok(fake->workspace == r->streams[1].workspace->data && fake->workspace != first,
       "another stream has another");
    fake->need_bytes = 32 << 20;
    enqueue_shape(r, 5, 5, 5);
    ok(fake->workspace == first, "a larger plan uses the same");
    is_int(rest.taken, 2, "so that a stream takes one once");
    close_rig(r, "workspaces");

    r = open_rig();
    r->dev.base.info.compute_capability_major = 8;
    fake->need_bytes = 1;
    rest.no_memory = true;
    is_int(enqueue(r, 0, &work), SL_ENOMEM, "without memory for the workspace there is no product");
    is_str(r->err.msg,
           "no workspace of 4 MiB for cuBLAS: cudaMalloc: out of memory "
           "(cudaErrorMemoryAllocation)",
           "which the sentence says; before 9.0 it has 4 MiB");
    is_int(r->err.backend_code, cudaErrorMemoryAllocation, "with CUDA's number");
    is_int(cuda_gemm_enqueue(&r->dev, &r->streams[0], &work, NULL, NULL, NULL, NULL, NULL),
           SL_ENOMEM, "also to a caller who wants no sentence");
    rest.no_memory = false;
    ok(product_is_right(r, 0, &work), "and once there is memory, there is one");
    close_rig(r, "a workspace that was refused");
}

/* ---- nothing to multiply ---- */

static void test_empty(void)
{
    rig *r = open_rig();
    char c;
    static const int64_t shapes[][4] = {
        { 0, 5, 7, 0 },
        { 3, 5, 0, 0 },
        { 0, 0, 0, 0 },
        { 3, 0, 7, 21 },
    };
    for (int i = 0; i < 4; i++) {
        sl_work work = matmul(shapes[i][0], shapes[i][1], shapes[i][2], SL_FLOAT16);
        rest.fills = 0;
        sl_status status = cuda_gemm_enqueue(&r->dev, &r->streams[1], &work, &c, NULL, NULL, NULL,
                                             NULL);
        ok(!status && rest.fills == 1 && rest.fill.kernel == SL_KERNEL_FILL
               && rest.fill.n == shapes[i][3] && rest.fill.scalar == 0
               && rest.fill.dtype == SL_FLOAT16 && rest.fill_out == &c
               && rest.fill_stream == r->streams[1].handle,
           "%dx%d times %dx%d fills %d elements with zeros, in its stream", (int)shapes[i][0],
           (int)shapes[i][1], (int)shapes[i][1], (int)shapes[i][2], (int)shapes[i][3]);
    }
    ok(!r->dev.gemm, "for which cuBLAS is not opened");
    free(r);
}

/* ---- failures ---- */

static void test_each_call_fails(int64_t count, int calls)
{
    int n = 0, refused = 0, named = 0, kept = 0, repeated = 0;
    sl_work work = matmul(3, 5, 7, SL_FLOAT32);
    work.outer = count;
    for (bool failed = true; failed; n++) {
        rig *r = open_rig();
        fake->fail_at = n + 1;
        sl_status status = enqueue(r, 0, &work);
        failed = status != SL_OK;
        if (failed) {
            refused += status == SL_EBACKEND && r->err.backend_code == CUBLAS_STATUS_INVALID_VALUE;
            named += strncmp(r->err.msg, "cublasLt", 8) == 0
                     && strstr(r->err.msg, ": CUBLAS_STATUS_INVALID_VALUE") != NULL;
            int plan_objects = strncmp(r->err.msg, "cublasLtMatmul:", 15) == 0 ? 4 : 0;
            kept += fake->live == (r->dev.gemm ? 1 : 0) + plan_objects;
            repeated += product_is_right(r, 0, &work);
        }
        cuda_gemm_close(&r->dev);
        kept -= fake->live != 0;
        free(r);
    }
    is_int(n - 1, calls, "%d calls of cublasLt can fail at the first product of %d", calls,
           (int)count);
    is_int(refused, calls, "each refuses the product");
    is_int(named, calls, "in a sentence with the call and its answer");
    is_int(kept, calls, "and leaves nothing but what can be used again");
    is_int(repeated, calls, "and the next product works");
}

static void test_host_memory(void)
{
    int n = 0, refused = 0, repeated = 0;
    sl_work work = matmul(3, 5, 7, SL_FLOAT32);
    for (bool failed = true; failed; n++) {
        rig *r = open_rig();
        sl_error err;
        callocs_until_failure = n + 1;
        float a[15] = { 0 }, b[35] = { 0 }, c[21];
        failed = cuda_gemm_enqueue(&r->dev, &r->streams[0], &work, c, a, b, NULL, &err) != SL_OK;
        callocs_until_failure = 0;
        if (failed) {
            refused += err.status == SL_ENOMEM && strstr(err.msg, "host memory") != NULL;
            repeated += product_is_right(r, 0, &work);
        }
        cuda_gemm_close(&r->dev);
        repeated -= fake->live != 0;
        free(r);
    }
    is_int(n - 1, 3, "three pieces of host memory are asked for");
    is_int(refused, 3, "each failure is reported as one");
    is_int(repeated, 3, "and nothing is lost by it");
}

static void test_device_errors(void)
{
    rig *r = open_rig();
    enqueue_shape(r, 2, 2, 2);
    fake->fail_at = fake->calls + 1;
    fake->also_fail = 1;
    fake->fail_code = CUBLAS_STATUS_ALLOC_FAILED;
    is_int(enqueue_shape(r, 2, 2, 2), SL_ENOMEM, "out of memory in cuBLAS is out of memory");
    is_str(r->err.msg, "cublasLtMatmul: CUBLAS_STATUS_ALLOC_FAILED for 2x2 times 2x2 float32",
           "with its sentence");
    fake->fail_at = fake->calls + 1;
    fake->fail_code = CUBLAS_STATUS_EXECUTION_FAILED;
    rest.sticky = cudaErrorNotReady;
    is_int(enqueue_shape(r, 2, 2, 2), SL_EBACKEND,
           "a failed launch on a device that goes on is cuBLAS's error");
    fake->fail_at = fake->calls + 1;
    rest.sticky = cudaErrorIllegalAddress;
    is_int(enqueue_shape(r, 2, 2, 2), SL_EFAULT, "on one that does not, the device is lost");
    ok(r->dev.base.fault.status == SL_EFAULT, "and says so from then on");
    rest.sticky = cudaSuccess;
    close_rig(r, "errors of the device");

    r = open_rig();
    fake->fail_at = 1;
    fake->also_fail = 1;
    fake->fail_code = CUBLAS_STATUS_NOT_INITIALIZED;
    is_int(enqueue_shape(r, 2, 2, 2), SL_EBACKEND, "a handle that cannot be had is an error");
    is_str(r->err.msg, "cublasLtCreate: CUBLAS_STATUS_NOT_INITIALIZED", "with its sentence");
    is_int(enqueue_shape(r, 2, 2, 2), SL_OK, "which the next product asks for again");
    close_rig(r, "a handle that was refused");
}

static void test_short_memory(void)
{
    static const int codes[] = { CUBLAS_STATUS_ALLOC_FAILED, CUBLAS_STATUS_NOT_INITIALIZED };
    sl_work work = matmul(3, 5, 7, SL_FLOAT32);
    for (int i = 0; i < 2; i++) {
        rig *r = open_rig();
        fake->fail_at = 1;
        fake->fail_code = codes[i];
        rest.trims = 0;
        ok(product_is_right(r, 0, &work) && rest.trims == 1,
           "a handle that cuBLAS has no memory for gets what nobody uses");
        fake->fail_at = fake->calls + 1;
        ok(product_is_right(r, 0, &work) && rest.trims == 2, "so does a product");
        fake->fail_at = fake->calls + 1;
        fake->fail_code = CUBLAS_STATUS_INVALID_VALUE;
        ok(enqueue(r, 0, &work) == SL_EBACKEND && rest.trims == 2, "other failures free nothing");
        close_rig(r, "short memory");
    }
}

/* ---- host functions that multiply ---- */

static rig *outer;

static void multiply_the_same(void) { enqueue_shape(outer, 3, 5, 7); }

static void multiply_many(void)
{
    for (int64_t m = 1; m <= MAX_PLANS + 1; m++)
        enqueue_shape(outer, m, 1, 1);
}

/* The first product of a device and a stream, during which `func` runs at the chance after
 * the first `chances`; and the next one. */
static bool multiplies_around(void (*func)(void), int chances)
{
    sl_work work = matmul(3, 5, 7, SL_FLOAT32);
    outer = open_rig();
    fake->need_bytes = 1000;
    fake->fail_at = 1;
    fake->fail_code = CUBLAS_STATUS_ALLOC_FAILED;
    rest.host_func = func;
    rest.chances = chances;
    bool right = product_is_right(outer, 0, &work) && !rest.host_func
                 && product_is_right(outer, 0, &work);
    close_rig(outer, "that");
    return right;
}

/* They are settled before cuBLAS is opened, before a plan is made and after a stream got its
 * workspace; and may run while memory is given back or taken. */
static void test_host_funcs(void)
{
    for (int chances = 0; chances < 5; chances++)
        ok(multiplies_around(multiply_the_same, chances),
           "a host function may multiply in the stream of a product, at chance %d", chances);
    for (int chances = 2; chances < 5; chances++)
        ok(multiplies_around(multiply_many, chances),
           "also so often that all plans go, at chance %d", chances);
}

int main(int argc, char **argv)
{
    plan(0);
    (void)argc;
    if (!offer_fake(argv[0])) {
        diag("no folder beside %s", argv[0]);
        return 1;
    }
    test_empty();
    if (!open_fake()) return done_testing();
    test_values();
    test_stacks();
    test_epilogues();
    test_modes();
    test_reuse();
    test_eviction();
    test_candidates();
    test_alignment();
    test_views();
    test_workspace();
    test_each_call_fails(1, 13);
    test_each_call_fails(2, 19);
    test_host_memory();
    test_device_errors();
    test_short_memory();
    test_host_funcs();
    return done_testing();
}
