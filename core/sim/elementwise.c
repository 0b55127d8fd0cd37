/* elementwise.c - the elementwise kernels on the CPU: float32, which the narrow dtypes pass
 * through, float64 and int32. The expressions are those of core/kernel_table.h; pow is here. */
#include "compute.h"

#include <string.h>
#include <tgmath.h>

#include "../numbers/elements.h"

/* ---- pow ---- */

/* x^exponent. Small whole exponents multiply from the left, ((x x) x) x, as the
 * CUDA backend does: powf differs between the C library and CUDA in the last bit. The
 * root of -0 and of -infinity is not their power 0.5. */
#define POWER(name, real)                                                           \
    static void name(real *x, size_t n, double exponent)                            \
    {                                                                               \
        const int count = fabs(exponent) <= 16 ? (int)fabs(exponent) : -1;          \
        if (exponent == 0.5) {                                                      \
            for (size_t i = 0; i < n; i++)                                          \
                x[i] = x[i] == -(real)INFINITY ? (real)INFINITY : fabs(sqrt(x[i])); \
        } else if (count == fabs(exponent)) {                                       \
            for (size_t i = 0; i < n; i++) {                                        \
                real product = count > 0 ? x[i] : 1;                                \
                for (int j = 1; j < count; j++)                                     \
                    product *= x[i];                                                \
                x[i] = exponent < 0 ? 1 / product : product;                        \
            }                                                                       \
        } else {                                                                    \
            for (size_t i = 0; i < n; i++)                                          \
                x[i] = pow(x[i], (real)exponent);                                   \
        }                                                                           \
    }
POWER(power_of_floats, float)
POWER(power_of_doubles, double)

/* Modulo 2^32; the exponent is whole and not negative. */
static void power_of_ints(int64_t *x, size_t n, double exponent)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t power = 1, square = (uint32_t)x[i];
        for (uint32_t left = (uint32_t)exponent; left > 0; left >>= 1, square *= square)
            if (left & 1) power *= square;
        x[i] = power;
    }
}

/* ---- operations ---- */

#define OPERATION(id, expression)               \
    case SL_KERNEL_##id:                        \
        for (size_t i = 0; i < n; i++) {        \
            const value x = to[i], y = from[i]; \
            (void)x, (void)y;                   \
            to[i] = (expression);               \
        }                                       \
        break;
#define OF_FLOATS(id, name, family, dtypes, slots, flops, expression) OPERATION(id, expression)
#define OF_INTS(id, name, family, dtypes, slots, flops, expression) OF_INTS_##dtypes(id, expression)
#define OF_INTS_SHORT(id, expression)
#define OF_INTS_FLOATS(id, expression)
#define OF_INTS_NUMBERS(id, expression) OPERATION(id, expression)

/* `from` is read by kernels of two tensors alone. */
#define OPERATE(name, type, power, OPERATIONS)                                                   \
    static void name(const sim_job *job, type *restrict to, const type *restrict from, size_t n) \
    {                                                                                            \
        typedef type value;                                                                      \
        const value s = (value)job->scalar;                                                      \
        switch (job->kernel) {                                                                   \
        case SL_KERNEL_POW:                                                                      \
            power(to, n, job->scalar);                                                           \
            break;                                                                               \
            SL_ELEMENTWISE_TABLE(OPERATIONS)                                                     \
        default: break;                                                                          \
        }                                                                                        \
    }
OPERATE(operate_on_floats, float, power_of_floats, OF_FLOATS)
OPERATE(operate_on_doubles, double, power_of_doubles, OF_FLOATS)
OPERATE(operate_on_ints, int64_t, power_of_ints, OF_INTS)

/* ---- elements ---- */

static void of_floats(const sim_job *job, int64_t first, size_t n, void *out, const void *in0,
                      const void *in1)
{
    float x[SIM_BLOCK], y[SIM_BLOCK];
    numbers_load(x, in0, job->dtype, first, n);
    if (sl_kernel_inputs((sl_kernel)job->kernel) == 2) numbers_load(y, in1, job->dtype, first, n);
    operate_on_floats(job, x, y, n);
    numbers_store(out, x, job->dtype, first, n);
}

static void of_doubles(const sim_job *job, int64_t first, size_t n, void *out, const void *in0,
                       const void *in1)
{
    double x[SIM_BLOCK], y[SIM_BLOCK];
    const size_t offset = (size_t)first * sizeof *x;
    memcpy(x, (const uint8_t *)in0 + offset, n * sizeof *x);
    if (sl_kernel_inputs((sl_kernel)job->kernel) == 2)
        memcpy(y, (const uint8_t *)in1 + offset, n * sizeof *y);
    operate_on_doubles(job, x, y, n);
    memcpy((uint8_t *)out + offset, x, n * sizeof *x);
}

static void load_ints(int64_t *to, const void *from, size_t offset, size_t n)
{
    int32_t element[SIM_BLOCK];
    memcpy(element, (const uint8_t *)from + offset, n * sizeof *element);
    for (size_t i = 0; i < n; i++)
        to[i] = element[i];
}

static void of_ints(const sim_job *job, int64_t first, size_t n, void *out, const void *in0,
                    const void *in1)
{
    int64_t x[SIM_BLOCK], y[SIM_BLOCK];
    uint32_t lower[SIM_BLOCK];
    const size_t offset = (size_t)first * sizeof *lower;
    load_ints(x, in0, offset, n);
    if (sl_kernel_inputs((sl_kernel)job->kernel) == 2) load_ints(y, in1, offset, n);
    operate_on_ints(job, x, y, n);
    for (size_t i = 0; i < n; i++)
        lower[i] = (uint32_t)x[i];
    memcpy((uint8_t *)out + offset, lower, n * sizeof *lower);
}

void sim_elementwise(const sim_job *job, int64_t first, size_t n, void *out, const void *in0,
                     const void *in1)
{
    switch (job->dtype) {
    case SL_FLOAT64: of_doubles(job, first, n, out, in0, in1); break;
    case SL_INT32: of_ints(job, first, n, out, in0, in1); break;
    default: of_floats(job, first, n, out, in0, in1);
    }
}
