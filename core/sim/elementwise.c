/* elementwise.c - the elementwise kernels on the CPU. All but pow are in
 * core/numbers/operations.h. */
#include "elementwise.h"

#include <math.h>

#include "../numbers/operations.h"

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

void sim_elementwise(const sim_job *job, float *restrict to, const float *restrict from, size_t n)
{
    const float s = (float)job->scalar;
    switch (job->kernel) {
    case SL_KERNEL_POW:
        power(to, n, job->scalar);
        break;
#define X(id, expression)                   \
    case SL_KERNEL_##id:                    \
        for (size_t i = 0; i < n; i++) {    \
            const float x = to[i];          \
            to[i] = (expression);           \
        }                                   \
        break;
    NUMBERS_OF_ONE(X)
#undef X
#define X(id, expression)                   \
    case SL_KERNEL_##id:                    \
        for (size_t i = 0; i < n; i++) {    \
            const float x = to[i], y = from[i]; \
            to[i] = (expression);           \
        }                                   \
        break;
    NUMBERS_OF_PAIRS(X)
#undef X
    default:
        break;
    }
}
