/* t-11-matmul-values.c - products of matrices on the CPU against double precision and by hand, with
 * BLAS and without. */
#define _POSIX_C_SOURCE 200809L /* setenv, fork */

#include "../../core/sim/blas.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tap.h"
#include "kernel_jobs.h"

/* The worst |error| / (|A| |B|) of a random product. */
static double matmul_error(sl_dtype dtype, bool tf32, int64_t m, int64_t n, int64_t k)
{
    const size_t size = sizeof(float);
    float *a = calloc((size_t)(m * k), size), *b = calloc((size_t)(k * n), size);
    float *c = calloc((size_t)(m * n), size);
    sim_job job = make_job(SL_KERNEL_MATMUL, dtype, m, n, k, 0);
    job.flags = tf32 ? SL_WORK_TF32 : 0;
    double worst = INFINITY;
    if (!a || !b || !c) goto done;
    for (int64_t i = 0; i < m * k; i++)
        set_element(dtype, a, (size_t)i, sin(0.37 * (double)i));
    for (int64_t i = 0; i < k * n; i++)
        set_element(dtype, b, (size_t)i, cos(0.53 * (double)i));
    if (sim_job_run(&job, c, SIM_INPUTS(a, b))) goto done;
    worst = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0, size_of_terms = 0;
            for (int64_t l = 0; l < k; l++) {
                const double term = element(dtype, a, (size_t)(i * k + l))
                                    * element(dtype, b, (size_t)(l * n + j));
                sum += term;
                size_of_terms += fabs(term);
            }
            worst = fmax(worst, fabs(element(dtype, c, (size_t)(i * n + j)) - sum) / size_of_terms);
        }
done:
    free(a);
    free(b);
    free(c);
    return worst;
}

static const int64_t shapes[][3] = { { 1, 1, 1 }, { 2, 3, 4 }, { 31, 33, 32 }, { 70, 600, 130 } };
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* The error of a product over what its dtype allows. */
static double matmul_excess(const int64_t shape[3], sl_dtype dtype, bool tf32)
{
    const double rounding = tf32 ? 0x1p-10 * 1.01 : unit_roundoff[dtype];
    return matmul_error(dtype, tf32, shape[0], shape[1], shape[2])
           / (rounding + (double)shape[2] * 0x1p-24);
}

static void matmuls(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        for (sl_dtype dtype = SL_FLOAT32; dtype <= SL_FLOAT16; dtype++) {
            double excess = matmul_excess(shapes[i], dtype, false);
            ok(excess <= 1, "product %zu in %s (%.2g of the tolerance)", i, dtype_names[dtype],
               excess);
        }
        double excess = matmul_excess(shapes[i], SL_FLOAT32, true);
        ok(excess <= 1, "product %zu in TF32 (%.2g of the tolerance)", i, excess);
    }
}

/* Likewise below 2^53 in float64. */
static bool wide_products_are_exact(void)
{
    enum { N = 96 };
    static double a[N * N], b[N * N], c[N * N], plain[N * N];
    for (int i = 0; i < N * N; i++) {
        a[i] = i * 7919 % 1000003 + 1e6;
        b[i] = i * 104729 % 1000003 - 1e6;
    }
    sim_blas_dgemm(N, N, N, a, b, c);
    sim_plain_dgemm(N, N, N, a, b, plain);
    bool exact = true;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int64_t sum = 0;
            for (int l = 0; l < N; l++)
                sum += (int64_t)a[i * N + l] * (int64_t)b[l * N + j];
            exact = exact && c[i * N + j] == (double)sum && plain[i * N + j] == (double)sum;
        }
    return exact;
}

/* Whole numbers whose sums stay below 2^24 are exact in any order. */
static bool whole_numbers_are_exact(void)
{
    enum { N = 96 };
    static float a[N * N], b[N * N], c[N * N], plain[N * N];
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i * 7 % 257 - 128);
        b[i] = (float)(i * 11 % 257 - 128);
    }
    sim_blas_sgemm(N, N, N, a, b, c);
    sim_plain_sgemm(N, N, N, a, b, plain);
    bool exact = wide_products_are_exact();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int64_t sum = 0;
            for (int l = 0; l < N; l++)
                sum += (int64_t)a[i * N + l] * (int64_t)b[l * N + j];
            exact = exact && c[i * N + j] == (float)sum && plain[i * N + j] == (float)sum;
        }
    return exact;
}

static void matmul_by_hand(void)
{
    const float a[6] = { 1, 2, 3, 4, 5, 6 }, b[6] = { 1, 0, 0, 1, 2, -1 },
                want[4] = { 7, -1, 16, -1 };
    float c[4] = { 9, 9, 9, 9 };
    sim_job job = make_job(SL_KERNEL_MATMUL, SL_FLOAT32, 2, 2, 3, 0);
    sim_job_run(&job, c, SIM_INPUTS(a, b));
    ok(memcmp(c, want, sizeof c) == 0, "2x3 times 3x2 by hand");
    job = make_job(SL_KERNEL_MATMUL, SL_FLOAT32, 1, 2, 1, 0);
    job.outer = 2;
    sim_job_run(&job, c, SIM_INPUTS(a + 1, a + 2)); /* 2 [3 4], 3 [5 6] */
    ok(c[0] == 6 && c[1] == 8 && c[2] == 15 && c[3] == 18, "a stack is multiplied one by one");
    job = make_job(SL_KERNEL_MATMUL, SL_FLOAT32, 2, 2, 0, 0);
    sim_job_run(&job, c, SIM_INPUTS(a, b));
    ok(c[0] == 0 && c[3] == 0, "a product over nothing is zeros");
    job = make_job(SL_KERNEL_MATMUL, SL_FLOAT32, 1, 1, 1, 0);
    const float x = 2049, one = 1;
    job.flags = SL_WORK_TF32;
    sim_job_run(&job, c, SIM_INPUTS(&x, &one));
    is_double(c[0], 2050, 0, "TF32 rounds the inputs of a matmul");
}

/* 257 is no bfloat16: rounded before 1 is added it is 256, and so is the sum. */
static void epilogues_by_hand(void)
{
    const float a[2] = { 1, -2 }, b[3] = { 1, 2, -3 }, bias[3] = { 10, 0, 1 };
    float c[6];
    sim_job job = make_job(SL_KERNEL_MATMUL, SL_FLOAT32, 2, 3, 1, 0);
    job.activation = SL_RELU;
    sim_job_run(&job, c, SIM_INPUTS(a, b));
    ok(c[0] == 1 && c[1] == 2 && c[2] == 0 && c[3] == 0 && c[4] == 0 && c[5] == 6,
       "relu of a product by hand");
    job.flags = SL_WORK_BIAS;
    sim_job_run(&job, c, SIM_INPUTS(a, b, bias));
    ok(c[0] == 11 && c[1] == 2 && c[2] == 0 && c[3] == 8 && c[4] == 0 && c[5] == 7,
       "after the bias of each column");
    job.activation = SL_GELU;
    sim_job_run(&job, c, SIM_INPUTS(a, b, bias));
    ok(c[0] == 11 && fabsf(c[1] - 1.9545977f) < 1e-6f && fabsf(c[2] + 0.0454023f) < 1e-6f,
       "or gelu, by tanh");
    uint16_t x[2], sum[2], out[1];
    set_element(SL_BFLOAT16, x, 0, 1);
    set_element(SL_BFLOAT16, x, 1, 1);
    set_element(SL_BFLOAT16, sum, 0, 256);
    set_element(SL_BFLOAT16, sum, 1, 1);
    job = make_job(SL_KERNEL_MATMUL, SL_BFLOAT16, 1, 1, 2, 0); /* 257 */
    job.flags = SL_WORK_BIAS;
    sim_job_run(&job, out, SIM_INPUTS(x, sum, x));
    is_double(element(SL_BFLOAT16, out, 0), 258, 0, "the result is rounded once, at the end");
}

/* BLAS is looked for once a process, so what goes without it is a process of its
 * own; it looks before the parent does. */
static void matmuls_without_blas(void)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        bool right = setenv("STREAMLAB_BLAS", "none", 1) == 0 && whole_numbers_are_exact();
        for (size_t i = 0; i < SHAPES; i++)
            for (sl_dtype dtype = SL_FLOAT32; dtype <= SL_FLOAT16; dtype++)
                right = right && matmul_excess(shapes[i], dtype, false) <= 1;
        _exit(right ? 0 : 1);
    }
    int status = -1;
    ok(child > 0 && waitpid(child, &status, 0) == child && status == 0,
       "all products are right without a BLAS library");
}

int main(void)
{
    plan(0);
    matmul_by_hand();
    epilogues_by_hand();
    matmuls_without_blas();
    matmuls();
    ok(whole_numbers_are_exact(), "products of small whole numbers are exact");
    return done_testing();
}
