/* product.c - matrix products as the tensor cores compute them, one after another. */
#include <stdlib.h>

#include "../numbers/elements.h"
#include "../numbers/half.h"
#include "blas.h"
#include "compute.h"
#include "interrupt.h"

enum { PIECE = 128 * SIM_BLOCK }; /* elements after which the interrupt flag is read */

size_t sim_job_scratch_bytes(const sim_job *job)
{
    if (job->kernel != SL_KERNEL_MATMUL || job->dtype == SL_FLOAT64) return 0;
    size_t inputs = (size_t)(job->m * job->k) + (size_t)(job->k * job->n);
    if (job->dtype == SL_FLOAT32) return job->flags & SL_WORK_TF32 ? inputs * sizeof(float) : 0;
    return (inputs + (size_t)(job->m * job->n)) * sizeof(float);
}

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
static bool multiply(const sim_job *job, float *a, void *out, const void *in0, const void *in1)
{
    if (job->dtype == SL_FLOAT64) return sim_blas_dgemm(job->m, job->n, job->k, in0, in1, out);
    if (!a) /* plain float32, or nothing to do */
        return sim_blas_sgemm(job->m, job->n, job->k, in0, in1, out);
    const size_t a_elems = (size_t)(job->m * job->k), b_elems = (size_t)(job->k * job->n);
    float *b = a + a_elems;
    float *c = job->dtype == SL_FLOAT32 ? out : b + b_elems;
    bool finished = load_matrix(a, in0, job, a_elems) && load_matrix(b, in1, job, b_elems)
                    && sim_blas_sgemm(job->m, job->n, job->k, a, b, c);
    if (finished && job->dtype != SL_FLOAT32)
        numbers_store(out, c, job->dtype, 0, (size_t)(job->m * job->n));
    return finished;
}

sl_status sim_multiply(const sim_job *job, void *out, const void *in0, const void *in1)
{
    const size_t scratch_bytes = sim_job_scratch_bytes(job);
    const size_t cell = numbers_dtype_bytes(job->dtype);
    const size_t a_bytes = (size_t)(job->m * job->k) * cell;
    const size_t b_bytes = (size_t)(job->k * job->n) * cell;
    const size_t c_bytes = (size_t)(job->m * job->n) * cell;
    float *scratch = scratch_bytes > 0 ? malloc(scratch_bytes) : NULL;
    bool finished = true;
    if (scratch_bytes > 0 && !scratch) return SL_ENOMEM;
    for (size_t i = 0; i < (size_t)job->outer && finished; i++)
        finished = !(i > 0 && sim_is_interrupted())
                   && multiply(job, scratch, (uint8_t *)out + i * c_bytes,
                               (const uint8_t *)in0 + i * a_bytes,
                               (const uint8_t *)in1 + i * b_bytes);
    free(scratch);
    return finished ? SL_OK : SL_EINTERRUPT;
}
