/* host_gemm.c - matrix products as the tensor cores compute them, one after another, and what
 * follows in the same kernel. The order of operations is fixed, but for the BLAS library's order of
 * summation and the C library's tanhf.
 */
#include <math.h>
#include <stdlib.h>

#include "../numbers/elements.h"
#include "../numbers/half.h"
#include "blas.h"
#include "compute.h"
#include "interrupt_flag.h"

enum { PIECE = 128 * SIM_BLOCK }; /* elements after which the interrupt flag is read */

/* What a product needs beside its operands, each NULL where it needs none. */
typedef struct scratch {
    float *a, *b; /* the inputs as float32, rounded to TF32 if asked */
    float *c;     /* the product before it is rounded */
    float *bias;
} scratch;

static bool loads_inputs(const sim_job *job)
{
    return job->dtype != SL_FLOAT32 || (job->flags & SL_WORK_TF32);
}

size_t sim_job_scratch_bytes(const sim_job *job)
{
    size_t elems = 0;
    if (job->kernel != SL_KERNEL_MATMUL || job->dtype == SL_FLOAT64) return 0;
    if (loads_inputs(job)) elems += (size_t)(job->m * job->k) + (size_t)(job->k * job->n);
    if (job->dtype != SL_FLOAT32) elems += (size_t)(job->m * job->n);
    if (job->flags & SL_WORK_BIAS) elems += (size_t)job->n;
    return elems * sizeof(float);
}

static scratch divide(const sim_job *job, float *memory)
{
    scratch s = { NULL, NULL, NULL, NULL };
    if (!memory) return s;
    if (job->flags & SL_WORK_BIAS) {
        s.bias = memory;
        memory += job->n;
    }
    if (!loads_inputs(job)) return s;
    s.a = memory;
    s.b = s.a + job->m * job->k;
    if (job->dtype != SL_FLOAT32) s.c = s.b + job->k * job->n;
    return s;
}

/* ---- the product ---- */

/* Loads a matrix, with TF32's rounding if asked. False: stopped. */
static bool load_matrix(float *to, const void *from, const sim_job *job, size_t elems)
{
    for (size_t first = 0; first < elems; first += PIECE) {
        size_t n = elems - first < PIECE ? elems - first : PIECE;
        if (first > 0 && sim_is_interrupted()) return false;
        numbers_load(to + first, from, job->dtype, (int64_t)first, n);
        if (job->dtype == SL_FLOAT32)
            for (size_t i = first; i < first + n; i++)
                to[i] = half_tf32_of_float(to[i]);
    }
    return true;
}

/* A product of the inputs as the tensor cores see them: half types widened, TF32 rounded, sums in
 * float32. False: stopped. */
static bool multiply(const sim_job *job, const scratch *s, float *c, const void *a, const void *b)
{
    if (!s->a) return sim_blas_sgemm(job->m, job->n, job->k, a, b, c);
    return load_matrix(s->a, a, job, (size_t)(job->m * job->k))
           && load_matrix(s->b, b, job, (size_t)(job->k * job->n))
           && sim_blas_sgemm(job->m, job->n, job->k, s->a, s->b, c);
}

/* ---- the epilogue ---- */

/* x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 */
static float gelu(float x)
{
    return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

static void activate(sl_activation activation, float *x, int64_t n)
{
    if (activation == SL_RELU)
        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] <= 0 ? 0 : x[i];
    if (activation == SL_GELU)
        for (int64_t i = 0; i < n; i++)
            x[i] = gelu(x[i]);
}

/* False: stopped. */
static bool finish(const sim_job *job, const float *bias, float *c)
{
    int64_t since = 0; /* elements since the interrupt flag was read */
    if (!bias && job->activation == SL_NO_ACTIVATION) return true;
    for (int64_t i = 0; i < job->m; i++) {
        float *row = c + i * job->n;
        if (since >= PIECE && sim_is_interrupted()) return false;
        since = since >= PIECE ? 0 : since + job->n;
        for (int64_t j = 0; bias && j < job->n; j++)
            row[j] += bias[j];
        activate((sl_activation)job->activation, row, job->n);
    }
    return true;
}

/* ---- all products of a stack ---- */

static bool run_product(const sim_job *job, const scratch *s, void *out, const void *a,
                        const void *b)
{
    float *c = s->c ? s->c : out;
    if (job->dtype == SL_FLOAT64) return sim_blas_dgemm(job->m, job->n, job->k, a, b, out);
    if (!multiply(job, s, c, a, b) || !finish(job, s->bias, c)) return false;
    if (s->c) numbers_store(out, c, job->dtype, 0, (size_t)(job->m * job->n));
    return true;
}

sl_status sim_multiply(const sim_job *job, void *out, const void *const in[SL_INPUTS])
{
    const size_t scratch_bytes = sim_job_scratch_bytes(job);
    const size_t cell = numbers_dtype_bytes(job->dtype);
    const size_t a_bytes = (size_t)(job->m * job->k) * cell;
    const size_t b_bytes = (size_t)(job->k * job->n) * cell;
    const size_t c_bytes = (size_t)(job->m * job->n) * cell;
    float *memory = scratch_bytes > 0 ? malloc(scratch_bytes) : NULL;
    if (scratch_bytes > 0 && !memory) return SL_ENOMEM;
    const scratch s = divide(job, memory);
    bool finished = true;
    if (s.bias) numbers_load(s.bias, in[2], job->dtype, 0, (size_t)job->n);
    for (size_t i = 0; i < (size_t)job->outer && finished; i++)
        finished = !(i > 0 && sim_is_interrupted())
                   && run_product(job, &s, (uint8_t *)out + i * c_bytes,
                                  (const uint8_t *)in[0] + i * a_bytes,
                                  (const uint8_t *)in[1] + i * b_bytes);
    free(memory);
    return finished ? SL_OK : SL_EINTERRUPT;
}
