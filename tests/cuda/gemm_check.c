/* gemm_check.c - matmul on a real GPU: values against float64 sums, and the time of our
 * plans beside cuBLAS's own calls. A program of its own, not a part of `make check`.
 *
 * Every candidate of the heuristic is timed as a plan. Times are diagnostics, with no limits: for
 * square matrices the device's time a matmul (events around LAUNCHES of them that were all enqueued
 * while a spin kernel held the stream) and the host's time an enqueue; medians of ROUNDS, cuBLAS and
 * we in turn. With STREAMLAB_MEMCHECK set nothing is timed.
 */
#include "../../core/cuda/gemm.h"

#include "../../core/dtype.h"
#include "../tap.h"

#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCHES = 50, ROUNDS = 11, CANDIDATES = 8, CANDIDATE_ROUNDS = 5, LARGEST = 4096 };

const sl_backend *sl_backend_entry(char *why, size_t why_bytes);

/* clang-format off */
#define BLAS_FUNCTIONS(X)                                                     \
    X(cublasCreate_v2) X(cublasDestroy_v2) X(cublasSetStream_v2)              \
    X(cublasSetMathMode) X(cublasSgemm_v2) X(cublasGemmEx)
/* clang-format on */

typedef struct mode {
    const char *name;
    sl_dtype dtype;
    uint8_t flags;
    double input_error, output_error; /* relative, of a rounding */
    double sum_error;                 /* likewise, of each addition */
} mode;

static const mode modes[] = {
    { "float32", SL_FLOAT32, 0, 0, 0x1p-23, 0x1p-22 },
    { "tf32", SL_FLOAT32, SL_WORK_TF32, 0x1p-9, 0x1p-23, 0x1p-22 },
    { "bfloat16", SL_BFLOAT16, 0, 0, 0x1p-8, 0x1p-22 },
    { "float16", SL_FLOAT16, 0, 0, 0x1p-10, 0x1p-22 },
    { "float64", SL_FLOAT64, 0, 0, 0x1p-52, 0x1p-51 },
};
enum { MODES = sizeof modes / sizeof *modes };

typedef struct bench {
    const sl_backend *backend;
    cuda_device *dev;
    cuda_stream *streams[2];
    struct {
#define X(name) __typeof__(name) *name;
        BLAS_FUNCTIONS(X)
#undef X
    } blas;
    cublasHandle_t handle;
    cudaEvent_t began, ended;
    void *a, *b, *c[2]; /* LARGEST x LARGEST elements of 4 bytes each */
} bench;

static void bail_out(const char *what, const char *why)
{
    printf("Bail out! %s: %s\n", what, why);
    exit(1);
}

static void need(cudaError_t code, const char *what)
{
    if (code) bail_out(what, cudaGetErrorString(code));
}

static void need_status(sl_status status, const sl_error *err, const char *what)
{
    if (status) bail_out(what, err->msg);
}

static void need_blas(cublasStatus_t code, const char *what)
{
    char text[32];
    snprintf(text, sizeof text, "cuBLAS's status %d", (int)code);
    if (code) bail_out(what, text);
}

/* ---- opening ---- */

static void open_device(bench *t)
{
    static const volatile sig_atomic_t not_interrupted = 0;
    sl_error err = { 0 };
    t->dev = calloc(1, t->backend->device_bytes);
    t->dev->base.backend = t->backend;
    t->dev->base.info.backend = t->backend->name;
    t->dev->base.refs = 1;
    t->dev->base.interrupted = &not_interrupted;
    need_status(t->backend->device_open(&t->dev->base, NULL, 0, &err), &err, "device_open");
    for (int i = 0; i < 2; i++) {
        t->streams[i] = calloc(1, t->backend->stream_bytes);
        t->streams[i]->base.device = &t->dev->base;
        t->streams[i]->base.id = (uint32_t)i + 1;
        t->streams[i]->base.refs = 1;
        t->streams[i]->base.non_blocking = true;
        need_status(t->backend->stream_open(&t->streams[i]->base, "check", &err), &err,
                    "stream_open");
    }
}

static void open_blas(bench *t)
{
    static const char *const names[] = {
#define X(name) #name,
        BLAS_FUNCTIONS(X)
#undef X
    };
    enum { N = sizeof names / sizeof *names };
    void *symbols[N];
    sl_error err = { 0 };
    _Static_assert(sizeof symbols == sizeof t->blas, "blas has pointers alone");
    for (size_t i = 0; i < N; i++) {
        symbols[i] = cuda_library_symbol(CUDA_CUBLAS, names[i], &err);
        need_status(symbols[i] ? SL_OK : err.status, &err, names[i]);
    }
    memcpy(&t->blas, symbols, sizeof t->blas);
    need_blas(t->blas.cublasCreate_v2(&t->handle), "cublasCreate");
    need_blas(t->blas.cublasSetStream_v2(t->handle, t->streams[0]->handle), "cublasSetStream");
}

static void open_memory(bench *t)
{
    size_t bytes = (size_t)LARGEST * LARGEST * 4;
    need(cudaMalloc(&t->a, bytes), "cudaMalloc");
    need(cudaMalloc(&t->b, bytes), "cudaMalloc");
    need(cudaMalloc(&t->c[0], bytes), "cudaMalloc");
    need(cudaMalloc(&t->c[1], bytes), "cudaMalloc");
    need(cudaEventCreate(&t->began), "cudaEventCreate");
    need(cudaEventCreate(&t->ended), "cudaEventCreate");
}

static void close_all(bench *t)
{
    t->blas.cublasDestroy_v2(t->handle);
    cudaEventDestroy(t->began);
    cudaEventDestroy(t->ended);
    cudaFree(t->a);
    cudaFree(t->b);
    cudaFree(t->c[0]);
    cudaFree(t->c[1]);
    for (int i = 0; i < 2; i++) {
        t->backend->stream_close(&t->streams[i]->base);
        free(t->streams[i]);
    }
    t->backend->device_close(&t->dev->base);
    ok(!t->dev->gemm && cudaDeviceSynchronize() == cudaSuccess, "the device closes in good order");
    free(t->dev);
}

/* ---- values ---- */

/* Numbers from -1 to 1 as the dtype has them, in host memory and at `device`. */
static double *random_operand(sl_dtype dtype, size_t n, void *device)
{
    static uint64_t seed = 1;
    double *values = malloc((n + 1) * sizeof *values);
    void *raw = malloc((n + 1) * sl_dtype_bytes(dtype));
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        values[i] = (double)(seed >> 40) * 0x1p-23 - 1;
    }
    sl__dtype_from_double(dtype, values, n, raw);
    sl__dtype_to_double(dtype, raw, n, values);
    need(cudaMemcpy(device, raw, n * sl_dtype_bytes(dtype), cudaMemcpyDefault), "cudaMemcpy");
    free(raw);
    return values;
}

static sl_work work_of(const mode *how, int64_t m, int64_t k, int64_t n)
{
    return (sl_work){ .kind = SL_WORK_KERNEL,
                      .kernel = SL_KERNEL_MATMUL,
                      .dtype = (uint8_t)how->dtype,
                      .flags = how->flags,
                      .m = m,
                      .n = n,
                      .k = k,
                      .outer = 1 };
}

/* The largest error as a part of what rounding allows: each product's inputs, the sum in
 * float32 or float64 in any order and by tensor cores, and the result's own. */
static double worst_error(const mode *how, const sl_work *work, const double *a, const double *b,
                          const double *got)
{
    double worst = 0;
    for (int64_t i = 0; i < work->m; i++)
        for (int64_t j = 0; j < work->n; j++) {
            double sum = 0, size = 0;
            for (int64_t l = 0; l < work->k; l++) {
                double product = a[i * work->k + l] * b[l * work->n + j];
                sum += product;
                size += fabs(product);
            }
            double summing = (double)(work->k + 8) * how->sum_error;
            double allowed = size * (how->input_error + summing) + fabs(sum) * how->output_error
                             + how->sum_error / 4;
            double error = fabs(got[i * work->n + j] - sum) / allowed;
            if (!(error <= worst)) /* so that a NaN stays */
                worst = error;
        }
    return worst;
}

static double *read_result(const sl_work *work, const void *c)
{
    size_t n = (size_t)(work->m * work->n), bytes = n * sl_dtype_bytes((sl_dtype)work->dtype);
    double *values = malloc((n + 1) * sizeof *values);
    void *raw = malloc(bytes + 1);
    need(cudaMemcpy(raw, c, bytes, cudaMemcpyDefault), "cudaMemcpy");
    sl__dtype_to_double((sl_dtype)work->dtype, raw, n, values);
    free(raw);
    return values;
}

/* `at`: the elements that a, b and c have before them in their memory, as views do. */
static void check_product(bench *t, const mode *how, int64_t m, int64_t k, int64_t n,
                          const int at[3])
{
    sl_work work = work_of(how, m, k, n);
    sl_error err = { 0 };
    size_t size = sl_dtype_bytes(how->dtype);
    char *at_a = (char *)t->a + (size_t)at[0] * size, *at_b = (char *)t->b + (size_t)at[1] * size;
    char *at_c = (char *)t->c[0] + (size_t)at[2] * size;
    double *a = random_operand(how->dtype, (size_t)(m * k), at_a);
    double *b = random_operand(how->dtype, (size_t)(k * n), at_b);
    need(cudaMemset(at_c, 0xff, (size_t)(m * n) * size), "cudaMemset"); /* NaNs */
    need(cudaDeviceSynchronize(), "cudaMemset");
    sl_status status = cuda_gemm_enqueue(t->dev, t->streams[0], &work, at_c, at_a, at_b, NULL,
                                         &err);
    if (!ok(status == SL_OK, "%s %dx%d times %dx%d, at elements %d, %d and %d, is enqueued",
            how->name, (int)m, (int)k, (int)k, (int)n, at[0], at[1], at[2])) {
        diag("%s", err.msg);
    } else {
        need(cudaStreamSynchronize(t->streams[0]->handle), "cudaStreamSynchronize");
        double *got = read_result(&work, at_c);
        double worst = worst_error(how, &work, a, b, got);
        if (!ok(worst <= 1, "and is right"))
            diag("its largest error is %g of what rounding allows", worst);
        free(got);
    }
    free(a);
    free(b);
}

static void check_values(bench *t)
{
    static const int64_t shapes[][3] = {
        { 1, 1, 1 },       { 3, 5, 7 },     { 17, 33, 65 },    { 1000, 1, 1000 }, { 1, 1000, 1 },
        { 1, 129, 513 },   { 513, 129, 1 }, { 129, 257, 127 }, { 2, 4096, 3 },    { 512, 512, 512 },
        { 64, 16384, 64 }, { 3, 5, 0 },     { 0, 5, 7 },       { 3, 0, 7 },
    };
    static const int whole[3] = { 0, 0, 0 };
    for (int i = 0; i < MODES; i++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            check_product(t, &modes[i], shapes[s][0], shapes[s][1], shapes[s][2], whole);
}

/* After check_values, so that plans of the same shapes for whole tensors are there. */
static void check_views(bench *t)
{
    static const int64_t shapes[][3] = { { 512, 512, 512 }, { 17, 33, 65 }, { 64, 16384, 64 } };
    static const int at[][3] = {
        { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 },        { 1, 3, 5 },
        { 2, 4, 8 }, { 8, 8, 8 }, { 128, 256, 1024 },
    };
    for (int i = 0; i < MODES; i++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (size_t p = 0; p < sizeof at / sizeof *at; p++)
                check_product(t, &modes[i], shapes[s][0], shapes[s][1], shapes[s][2], at[p]);
}

/* Products with long sums, which use the workspace most, on two streams at once: what one
 * computes alone, both compute together. */
static void check_two_streams(bench *t)
{
    enum { REPEATS = 200 };
    sl_work work = work_of(&modes[0], 64, 65536, 64);
    int same = 0;
    size_t bytes = 64 * 64 * sizeof(float);
    char *alone = malloc(bytes), *together = malloc(bytes);
    free(random_operand(SL_FLOAT32, (size_t)(work.m * work.k), t->a));
    free(random_operand(SL_FLOAT32, (size_t)(work.k * work.n), t->b));
    for (int i = 0; i <= REPEATS; i++) {
        for (int s = 0; s < (i == 0 ? 1 : 2); s++)
            cuda_gemm_enqueue(t->dev, t->streams[s], &work, t->c[s], t->a, t->b, NULL, NULL);
        need(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        need(cudaMemcpy(i == 0 ? alone : together, t->c[0], bytes, cudaMemcpyDefault),
             "cudaMemcpy");
        same += i > 0 && memcmp(alone, together, bytes) == 0;
        need(cudaMemcpy(together, t->c[1], bytes, cudaMemcpyDefault), "cudaMemcpy");
        same += i > 0 && memcmp(alone, together, bytes) == 0;
    }
    is_int(same, 2 * REPEATS, "two streams do not disturb each other's sums");
    diag("their plan needs %zu bytes of workspace", t->dev->gemm->last->workspace_bytes);
    free(alone);
    free(together);
}

/* ---- tuning ---- */

/* What is multiplied by the plan that was measured is right, and a plan that is kept is taken. */
static void check_tuned_product(bench *t, const mode *how, int64_t m, int64_t k, int64_t n)
{
    static const int whole[3] = { 0, 0, 0 };
    sl_work work = work_of(how, m, k, n);
    cuda_buffer a = { .data = t->a }, b = { .data = t->b };
    const sl_operand side[SL_SIDES] = { { .buffer = &a.base }, { .buffer = &b.base } };
    sl_product product = { &t->streams[0]->base, &work, side };
    sl_image image = { NULL, 0 };
    sl_tuning measured = { 0 }, loaded = { 0 };
    sl_error err = { 0 };
    free(random_operand(how->dtype, (size_t)(m * k), t->a));
    free(random_operand(how->dtype, (size_t)(k * n), t->b));
    sl_status status = t->backend->plan_measure(&product, &image, &measured, &err);
    if (status == SL_OK) status = t->backend->plan_load(&product, &image, &loaded, &err);
    if (!ok(status == SL_OK && measured.tuned && measured.ns > 0 && loaded.ns == measured.ns,
            "%s %dx%d times %dx%d is tuned, and its plan loaded", how->name, (int)m, (int)k, (int)k,
            (int)n))
        diag("%s", err.msg);
    diag("    %.2f us, first %.2f us, of %d; algorithm %d tile %d stages %d split-K %d, "
         "workspace %lld",
         (double)measured.ns / 1000, (double)measured.first_ns / 1000, measured.candidates,
         measured.algorithm, measured.tile, measured.stages, measured.split_k,
         (long long)measured.workspace_bytes);
    free(image.data);
    check_product(t, how, m, k, n, whole);
}

/* After the times: plans stay. */
static void check_tuned(bench *t)
{
    static const int64_t shapes[][3] = { { 256, 256, 256 }, { 17, 33, 65 }, { 64, 16384, 64 } };
    for (int i = 0; i < MODES; i++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            check_tuned_product(t, &modes[i], shapes[s][0], shapes[s][1], shapes[s][2]);
}

/* ---- times ---- */

typedef struct times {
    double device_us, host_us;
} times;

/* One matmul of n x n: by cuBLAS, or by `plan` of ours, or by cuda_gemm_enqueue. */
typedef struct job {
    bench *t;
    const mode *how;
    int n;
    bool by_cublas;
    const gemm_plan *plan; /* NULL: cuda_gemm_enqueue finds it */
} job;

static bool enqueue_cublas(const job *j)
{
    static const float one = 1, zero = 0;
    bench *t = j->t;
    int n = j->n;
    if (j->how->dtype == SL_FLOAT32)
        return t->blas.cublasSgemm_v2(t->handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, t->b, n,
                                      t->a, n, &zero, t->c[0], n)
               == CUBLAS_STATUS_SUCCESS;
    cudaDataType_t type = cuda_lt_type(j->how->dtype);
    return t->blas.cublasGemmEx(t->handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, t->b, type, n,
                                t->a, type, n, &zero, t->c[0], type, n, CUBLAS_COMPUTE_32F,
                                CUBLAS_GEMM_DEFAULT)
           == CUBLAS_STATUS_SUCCESS;
}

static bool enqueue_job(const job *j)
{
    bench *t = j->t;
    if (j->by_cublas) return enqueue_cublas(j);
    if (j->plan)
        return (t->streams[0]->workspace || !cuda_gemm_take_workspace(t->dev, t->streams[0], NULL))
               && cuda_gemm_multiply(t->dev, t->streams[0], j->plan, t->c[0], t->a, t->b)
                      == CUBLAS_STATUS_SUCCESS;
    sl_work work = work_of(j->how, j->n, j->n, j->n);
    return cuda_gemm_enqueue(t->dev, t->streams[0], &work, t->c[0], t->a, t->b, NULL, NULL)
           == SL_OK;
}

/* Holds the stream, so that what follows waits in it and then runs without gaps. */
static void hold_stream(bench *t)
{
    sl_work spin = {
        .kind = SL_WORK_KERNEL,
        .kernel = SL_KERNEL_SPIN,
        .duration_ns = 1000000,
        .blocks = 1,
        .threads = 32,
    };
    uint32_t blocks;
    uint16_t threads;
    sl_error err;
    need_status(cuda_kernel_launch(t->dev, &spin, NULL, NULL, NULL, NULL, t->streams[0]->handle,
                                   &blocks, &threads, &err),
                &err, "spin");
}

static times run_once(const job *j)
{
    bench *t = j->t;
    cudaStream_t stream = t->streams[0]->handle;
    float ms = 0;
    bool all = true;
    hold_stream(t);
    need(cudaEventRecord(t->began, stream), "cudaEventRecord");
    int64_t start_ns = cuda_now_ns();
    for (int i = 0; i < LAUNCHES; i++)
        all &= enqueue_job(j);
    int64_t end_ns = cuda_now_ns();
    need(cudaEventRecord(t->ended, stream), "cudaEventRecord");
    need(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    need(cudaEventElapsedTime(&ms, t->began, t->ended), "cudaEventElapsedTime");
    double nothing = all ? 1 : NAN;
    return (times){ nothing * ms * 1e3 / LAUNCHES,
                    nothing * (double)(end_ns - start_ns) * 1e-3 / LAUNCHES };
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The medians of each job; the jobs take turns, after one round that does not count. */
static void run_in_turn(const job *jobs, int n_jobs, int rounds, times *medians)
{
    double device_us[16][ROUNDS], host_us[16][ROUNDS];
    for (int r = -1; r < rounds; r++)
        for (int i = 0; i < n_jobs; i++) {
            times one = run_once(&jobs[i]);
            if (r < 0) continue;
            device_us[i][r] = one.device_us;
            host_us[i][r] = one.host_us;
        }
    for (int i = 0; i < n_jobs; i++) {
        qsort(device_us[i], (size_t)rounds, sizeof(double), compare);
        qsort(host_us[i], (size_t)rounds, sizeof(double), compare);
        medians[i] = (times){ device_us[i][rounds / 2], host_us[i][rounds / 2] };
    }
}

static int64_t config(const cublasLtMatmulAlgo_t *algo,
                      cublasLtMatmulAlgoConfigAttributes_t attribute)
{
    static __typeof__(cublasLtMatmulAlgoConfigGetAttribute) *get;
    uint32_t value = 0;
    size_t written = 0;
    if (!get) {
        void *symbol = cuda_library_symbol(CUDA_CUBLAS_LT, "cublasLtMatmulAlgoConfigGetAttribute",
                                           NULL);
        memcpy(&get, &symbol, sizeof get);
    }
    if (!get || get(algo, attribute, &value, sizeof value, &written)) return -1;
    return value;
}

/* All that the heuristic offers for the last plan, as plans. */
static int list_candidates(bench *t, gemm_plan *plans)
{
    const cuda_gemm *gemm = t->dev->gemm;
    const gemm_plan *p = gemm->last;
    cublasLtMatmulHeuristicResult_t found[CANDIDATES];
    const char *call = NULL;
    int n = 0;
    need_blas(cuda_plan_candidates(gemm, p, CANDIDATES, found, &n, &call), call);
    for (int i = 0; i < n; i++) {
        plans[i] = *p;
        plans[i].algo = found[i].algo;
        plans[i].workspace_bytes = found[i].workspaceSize;
    }
    return n;
}

static void time_candidates(bench *t, const mode *how, int n)
{
    gemm_plan plans[CANDIDATES];
    job jobs[CANDIDATES];
    times took[CANDIDATES];
    int n_plans = list_candidates(t, plans);
    for (int i = 0; i < n_plans; i++)
        jobs[i] = (job){ t, how, n, false, &plans[i] };
    run_in_turn(jobs, n_plans, CANDIDATE_ROUNDS, took);
    for (int i = 0; i < n_plans; i++) {
        const cublasLtMatmulAlgo_t *algo = &plans[i].algo;
        diag("    %d: %8.2f us  algorithm %2d tile %3d stages %2d split-K %2d reduction %d "
             "swizzle %d, workspace %zu",
             i, took[i].device_us, (int)config(algo, CUBLASLT_ALGO_CONFIG_ID),
             (int)config(algo, CUBLASLT_ALGO_CONFIG_TILE_ID),
             (int)config(algo, CUBLASLT_ALGO_CONFIG_STAGES_ID),
             (int)config(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM),
             (int)config(algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME),
             (int)config(algo, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING), plans[i].workspace_bytes);
    }
}

static void time_mode(bench *t, const mode *how)
{
    bool tf32 = how->flags & SL_WORK_TF32;
    need_blas(t->blas.cublasSetMathMode(t->handle,
                                        tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH),
              "cublasSetMathMode");
    free(random_operand(how->dtype, (size_t)LARGEST * LARGEST, t->a));
    free(random_operand(how->dtype, (size_t)LARGEST * LARGEST, t->b));
    for (int n = 128; n <= LARGEST; n *= 2) {
        job jobs[] = { { t, how, n, true, NULL }, { t, how, n, false, NULL } };
        times took[2];
        run_in_turn(jobs, 2, ROUNDS, took);
        ok(!isnan(took[0].device_us) && !isnan(took[1].device_us), "%s %d is timed", how->name, n);
        diag("%s %d: device %.2f us, cuBLAS %.2f us, ratio %.3f; host %.2f us, cuBLAS %.2f us",
             how->name, n, took[1].device_us, took[0].device_us,
             took[1].device_us / took[0].device_us, took[1].host_us, took[0].host_us);
        time_candidates(t, how, n);
    }
}

int main(void)
{
    char why[256] = "";
    int count = 0;
    sl_error err = { 0 };
    bench t = { .backend = sl_backend_entry(why, sizeof why) };
    if (!t.backend || t.backend->device_count(&count, &err) || count == 0) {
        printf("1..0 # SKIP %s\n", t.backend ? err.msg : why);
        return 0;
    }
    plan(0);
    open_device(&t);
    open_blas(&t);
    open_memory(&t);
    diag("%s", t.dev->base.info.name);
    check_values(&t);
    check_views(&t);
    check_two_streams(&t);
    for (int i = 0; i < 3 && !getenv("STREAMLAB_MEMCHECK"); i++)
        time_mode(&t, &modes[i]);
    check_tuned(&t);
    close_all(&t);
    return done_testing();
}
