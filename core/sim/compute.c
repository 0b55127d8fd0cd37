/* compute.c - the simulated GPU's kernels as loops on the CPU.
 *
 * Elements pass through blocks of floats on the C stack: load (from any dtype),
 * one operation, store (rounded). The order of every operation is fixed, so that
 * the same inputs give the same bits on every machine, but for what the C
 * library's powf and expf and the BLAS library's summation order leave open.
 */
#include "compute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../numbers/elements.h"
#include "../numbers/generate.h"
#include "../numbers/half.h"
#include "blas.h"

enum { BLOCK = 512 };   /* elements that pass at a time */

/* ---- jobs ---- */

enum { USES_SCALAR = 1, USES_SEED = 2, USES_M = 4, USES_K = 8, ELEMENTWISE = 16 };

static const struct { uint8_t inputs, traits, flops; } kernel_traits[SL_KERNELS] = {
    [SL_KERNEL_MATMUL] = {2, USES_M | USES_K, 2},
    [SL_KERNEL_POW] = {1, USES_SCALAR | ELEMENTWISE, 20},
    [SL_KERNEL_ADD] = {2, ELEMENTWISE, 1},
    [SL_KERNEL_MUL] = {2, ELEMENTWISE, 1},
    [SL_KERNEL_ADD_SCALAR] = {1, USES_SCALAR | ELEMENTWISE, 1},
    [SL_KERNEL_MUL_SCALAR] = {1, USES_SCALAR | ELEMENTWISE, 1},
    [SL_KERNEL_SOFTMAX] = {1, USES_M, 40},
    [SL_KERNEL_SUM] = {1, 0, 1},
    [SL_KERNEL_FILL] = {0, USES_SCALAR, 1},
    [SL_KERNEL_RAND] = {0, USES_SEED, 20},
    [SL_KERNEL_RANDN] = {0, USES_SEED, 40},
};

void sim_job_init(sim_job *job, const sl_work *work)
{
    const int traits = kernel_traits[work->kernel].traits;
    memset(job, 0, sizeof *job);
    job->kernel = work->kernel;
    job->dtype = work->dtype;
    job->n = work->n;
    job->m = traits & USES_M ? work->m : 1;
    job->k = traits & USES_K ? work->k : 1;
    if (traits & USES_SCALAR)
        job->scalar = work->scalar;
    if (traits & USES_SEED) {
        job->seed = work->seed;
        job->tensor_id = work->tensor_id;
    }
    if (work->kernel == SL_KERNEL_MATMUL && work->dtype == SL_FLOAT32)
        job->flags = work->flags & SL_WORK_TF32;
}

int sim_job_inputs(const sim_job *job)
{
    return kernel_traits[job->kernel].inputs;
}

size_t sim_job_bytes(const sim_job *job, int side)
{
    int64_t elems = job->m * job->n;
    if (job->kernel == SL_KERNEL_SUM && side == 2)
        elems = 1;
    if (job->kernel == SL_KERNEL_MATMUL && side == 0)
        elems = job->m * job->k;
    if (job->kernel == SL_KERNEL_MATMUL && side == 1)
        elems = job->k * job->n;
    return (size_t)elems * numbers_dtype_bytes(job->dtype);
}

bool sim_job_is_elementwise(const sim_job *job)
{
    return kernel_traits[job->kernel].traits & ELEMENTWISE;
}

bool sim_job_is_generator(const sim_job *job)
{
    return kernel_traits[job->kernel].inputs == 0;
}

double sim_job_flops(const sim_job *job)
{
    return (double)job->m * (double)job->n * (double)job->k * kernel_traits[job->kernel].flops;
}

size_t sim_job_scratch_bytes(const sim_job *job)
{
    if (job->kernel != SL_KERNEL_MATMUL)
        return 0;
    size_t inputs = (size_t)(job->m * job->k) + (size_t)(job->k * job->n);
    if (job->dtype == SL_FLOAT32)
        return job->flags & SL_WORK_TF32 ? inputs * sizeof(float) : 0;
    return (inputs + (size_t)(job->m * job->n)) * sizeof(float);
}

/* ---- elementwise ---- */

static size_t block_size(int64_t n, int64_t first)
{
    return (size_t)(n - first < BLOCK ? n - first : BLOCK);
}

/* x^exponent. Small whole exponents multiply from the left, ((x x) x) x, as the
 * CUDA backend does: powf differs between the C library and CUDA in the last bit. The
 * root of -0 and of -infinity is not their power 0.5. */
static void power(float *x, size_t n, double exponent)
{
    const float e = (float)exponent;
    const int count = fabs(exponent) <= 16 ? (int)fabs(exponent) : -1;
    if (exponent == 0.5) {
        for (size_t i = 0; i < n; i++)
            x[i] = x[i] == -INFINITY ? INFINITY : fabsf(sqrtf(x[i]));
    } else if (count == fabs(exponent)) {
        for (size_t i = 0; i < n; i++) {
            float product = count > 0 ? x[i] : 1;
            for (int j = 1; j < count; j++)
                product *= x[i];
            x[i] = exponent < 0 ? 1 / product : product;
        }
    } else {
        for (size_t i = 0; i < n; i++)
            x[i] = powf(x[i], e);
    }
}

/* ---- kernels ---- */

static void run_elementwise(const sim_job *job, void *out, const void *in0, const void *in1)
{
    float x[BLOCK], y[BLOCK];
    const float scalar = (float)job->scalar;
    for (int64_t first = 0; first < job->n; first += BLOCK) {
        size_t n = block_size(job->n, first);
        numbers_load(x, in0, job->dtype, first, n);
        if (sim_job_inputs(job) == 2)
            numbers_load(y, in1, job->dtype, first, n);
        switch (job->kernel) {
        case SL_KERNEL_POW:
            power(x, n, job->scalar);
            break;
        case SL_KERNEL_ADD:
            for (size_t i = 0; i < n; i++)
                x[i] += y[i];
            break;
        case SL_KERNEL_MUL:
            for (size_t i = 0; i < n; i++)
                x[i] *= y[i];
            break;
        case SL_KERNEL_ADD_SCALAR:
            for (size_t i = 0; i < n; i++)
                x[i] += scalar;
            break;
        default:    /* SL_KERNEL_MUL_SCALAR */
            for (size_t i = 0; i < n; i++)
                x[i] *= scalar;
        }
        numbers_store(out, x, job->dtype, first, n);
    }
}

static float row_maximum(const sim_job *job, const void *in, int64_t start)
{
    float x[BLOCK], largest = -INFINITY;
    for (int64_t first = 0; first < job->n; first += BLOCK) {
        size_t n = block_size(job->n, first);
        numbers_load(x, in, job->dtype, start + first, n);
        for (size_t i = 0; i < n; i++)
            if (x[i] > largest || isnan(x[i]))
                largest = x[i];
        if (isnan(largest))
            return largest;
    }
    return largest;
}

/* exp(x - max) / sum: the largest term is 1, so nothing overflows. */
static void run_softmax(const sim_job *job, void *out, const void *in)
{
    float x[BLOCK];
    for (int64_t row = 0; row < job->m; row++) {
        const int64_t start = row * job->n;
        const float largest = row_maximum(job, in, start);
        double sum = 0;
        for (int64_t first = 0; first < job->n; first += BLOCK) {
            size_t n = block_size(job->n, first);
            numbers_load(x, in, job->dtype, start + first, n);
            for (size_t i = 0; i < n; i++)
                sum += expf(x[i] - largest);
        }
        const float total = (float)sum;
        for (int64_t first = 0; first < job->n; first += BLOCK) {
            size_t n = block_size(job->n, first);
            numbers_load(x, in, job->dtype, start + first, n);
            for (size_t i = 0; i < n; i++)
                x[i] = expf(x[i] - largest) / total;
            numbers_store(out, x, job->dtype, start + first, n);
        }
    }
}

/* In double, element i in lane i % 8, the lanes added up in order: exact for
 * whole numbers, and quicker than one chain of additions. */
static void run_sum(const sim_job *job, void *out, const void *in)
{
    float x[BLOCK];
    double lane[8] = {0};
    for (int64_t first = 0; first < job->n; first += BLOCK) {
        size_t n = block_size(job->n, first);
        numbers_load(x, in, job->dtype, first, n);
        for (size_t i = 0; i < n; i++)
            lane[i % 8] += x[i];
    }
    for (int i = 1; i < 8; i++)
        lane[0] += lane[i];
    const float sum = (float)lane[0];
    numbers_store(out, &sum, job->dtype, 0, 1);
}

/* The product of the inputs as the tensor cores see them: half types widened,
 * TF32 rounded, sums in float32. */
static bool run_matmul(const sim_job *job, void *out, const void *in0, const void *in1)
{
    const size_t scratch_bytes = sim_job_scratch_bytes(job);
    if (scratch_bytes == 0) {       /* plain float32, or nothing to do */
        sim_blas_sgemm(job->m, job->n, job->k, in0, in1, out);
        return true;
    }
    float *a = malloc(scratch_bytes);
    if (!a)
        return false;
    const size_t a_elems = (size_t)(job->m * job->k), b_elems = (size_t)(job->k * job->n);
    float *b = a + a_elems;
    numbers_load(a, in0, job->dtype, 0, a_elems);
    numbers_load(b, in1, job->dtype, 0, b_elems);
    if (job->dtype == SL_FLOAT32) {
        for (size_t i = 0; i < a_elems + b_elems; i++)
            a[i] = half_tf32_of_float(a[i]);
        sim_blas_sgemm(job->m, job->n, job->k, a, b, out);
    } else {
        float *c = b + b_elems;
        sim_blas_sgemm(job->m, job->n, job->k, a, b, c);
        numbers_store(out, c, job->dtype, 0, (size_t)(job->m * job->n));
    }
    free(a);
    return true;
}

void sim_job_generate(const sim_job *job, uint64_t first, size_t n, void *out)
{
    const sl_work work = {.kernel = job->kernel, .dtype = job->dtype, .scalar = job->scalar,
                          .seed = job->seed, .tensor_id = job->tensor_id};
    numbers_generate(&work, first, n, out);
}

bool sim_job_run(const sim_job *job, void *out, const void *in0, const void *in1)
{
    switch (job->kernel) {
    case SL_KERNEL_MATMUL:
        return run_matmul(job, out, in0, in1);
    case SL_KERNEL_SOFTMAX:
        run_softmax(job, out, in0);
        return true;
    case SL_KERNEL_SUM:
        run_sum(job, out, in0);
        return true;
    case SL_KERNEL_FILL:
    case SL_KERNEL_RAND:
    case SL_KERNEL_RANDN:
        sim_job_generate(job, 0, (size_t)job->n, out);
        return true;
    default:
        run_elementwise(job, out, in0, in1);
        return true;
    }
}
