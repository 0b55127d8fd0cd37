/* product.c - matrix products as the tensor cores compute them. */
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

/* The product of the inputs as the tensor cores see them: half types widened,
 * TF32 rounded, sums in float32. */
sl_status sim_multiply(const sim_job *job, void *out, const void *in0, const void *in1)
{
    const size_t scratch_bytes = sim_job_scratch_bytes(job);
    if (job->dtype == SL_FLOAT64)
        return sim_blas_dgemm(job->m, job->n, job->k, in0, in1, out) ? SL_OK : SL_EINTERRUPT;
    if (scratch_bytes == 0) /* plain float32, or nothing to do */
        return sim_blas_sgemm(job->m, job->n, job->k, in0, in1, out) ? SL_OK : SL_EINTERRUPT;
    float *a = malloc(scratch_bytes);
    if (!a) return SL_ENOMEM;
    const size_t a_elems = (size_t)(job->m * job->k), b_elems = (size_t)(job->k * job->n);
    float *b = a + a_elems;
    float *c = job->dtype == SL_FLOAT32 ? out : b + b_elems;
    bool finished = load_matrix(a, in0, job, a_elems) && load_matrix(b, in1, job, b_elems)
                    && sim_blas_sgemm(job->m, job->n, job->k, a, b, c);
    if (finished && job->dtype != SL_FLOAT32)
        numbers_store(out, c, job->dtype, 0, (size_t)(job->m * job->n));
    free(a);
    return finished ? SL_OK : SL_EINTERRUPT;
}
