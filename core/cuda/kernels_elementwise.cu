/* kernels_elementwise.cu - pow and the operations of core/numbers/operations.h: element i of the
 * output from element i of the inputs, which may be the output. */
#include <math.h>

#include "../numbers/operations.h"
#include "kernels.cuh"

/* ---- the operations -------------------------------------------------------- */

/* Each works on one vector, x from the first input and y from the second. INPUTS are read,
 * ITEMS elements of each by a thread at most: as many as 32 registers hold, so that an SM
 * is full of threads. */

#define OPERATION(id, inputs, items, expression)                                            \
    struct of_##id {                                                                        \
        enum { INPUTS = inputs, ITEMS = items };                                            \
        float s;                                                                            \
        template <int N> __device__ void operator()(float (&a)[N], const float (&b)[N]) const \
        {                                                                                   \
            _Pragma("unroll") for (int i = 0; i < N; i++)                                   \
            {                                                                               \
                const float x = a[i], y = b[i];                                             \
                (void)y;                                                                    \
                a[i] = (expression);                                                        \
            }                                                                               \
        }                                                                                   \
    };
#define X(id, expression) OPERATION(id, 2, 8, expression)
NUMBERS_OF_PAIRS(X)
#undef X
#define X(id, expression) OPERATION(id, 1, 16, expression)
NUMBERS_OF_ONE(X)
#undef X

/* ((x x) x) x ... from the left, as the simulator multiplies; x^0 is 1 for every x. */
template <int COUNT> struct pow_fixed {
    enum { INPUTS = 1, ITEMS = 16 };
    template <int N> __device__ void operator()(float (&x)[N], const float (&)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const float base = x[i];
#pragma unroll
            for (int j = 1; j < COUNT; j++)
                x[i] = __fmul_rn(x[i], base);
        }
    }
};

template <int N> static __device__ __forceinline__ void raise(float (&x)[N], int count)
{
    float product[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        product[i] = 1.0f;
#pragma unroll 1
    for (int j = 0; j < count; j++) {
#pragma unroll
        for (int i = 0; i < N; i++)
            product[i] = __fmul_rn(product[i], x[i]);
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = product[i];
}

struct pow_whole {
    enum { INPUTS = 1, ITEMS = 16 };
    int count;
    template <int N> __device__ void operator()(float (&x)[N], const float (&)[N]) const
    {
        raise(x, count);
    }
};

struct pow_minus_whole {
    enum { INPUTS = 1, ITEMS = 8 };
    int count;
    template <int N> __device__ void operator()(float (&x)[N], const float (&)[N]) const
    {
        raise(x, count);
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = __frcp_rn(x[i]);
    }
};

/* The root of -0 is -0 and that of -infinity is not a number, but their powers 0.5 are 0
 * and infinity. */
struct pow_half {
    enum { INPUTS = 1, ITEMS = 8 };
    template <int N> __device__ void operator()(float (&x)[N], const float (&)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = x[i] == -INFINITY ? INFINITY : fabsf(__fsqrt_rn(x[i]));
    }
};

struct pow_any {
    enum { INPUTS = 1, ITEMS = 4 };     /* it computes more than it waits */
    float exponent;
    template <int N> __device__ void operator()(float (&x)[N], const float (&)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = powf(x[i], exponent);
    }
};

/* ---- the kernel ------------------------------------------------------------ */

/* A thread loads all its vectors before it computes, so that the loads are under way
 * together. */
template <typename Operation, typename T, int VECTORS, bool ALIGNED>
__global__ void __launch_bounds__(THREADS)
    elementwise(T *out, const T *in0, const T *in1, int64_t n, Operation operation)
{
    const int N = vector_of<T>::N;
    const int64_t first = (int64_t)blockIdx.x * (THREADS * VECTORS);
    const int left = (int)min(n / N - first, (int64_t)(THREADS * VECTORS));
    uint4 a[VECTORS], b[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int at = v * THREADS + (int)threadIdx.x;
        if (at < left) {
            a[v] = vector_at<ALIGNED>(in0, first + at);
            b[v] = Operation::INPUTS == 2 ? vector_at<ALIGNED>(in1, first + at) : a[v];
        }
    }
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int at = v * THREADS + (int)threadIdx.x;
        float x[N], y[N];
        if (at < left) {
            unpack<T>(x, a[v]);
            unpack<T>(y, b[v]);
            operation(x, y);
            put_vector<ALIGNED>(out, first + at, packed<T>(x));
        }
    }
    /* What does not fill a vector. */
    const int64_t i = n / N * N + threadIdx.x;
    if (blockIdx.x == gridDim.x - 1 && i < n) {
        float x[1] = {float_of(in0[i])};
        const float y[1] = {Operation::INPUTS == 2 ? float_of(in1[i]) : 0.0f};
        operation(x, y);
        out[i] = rounded<T>(x[0]);
    }
}

/* ---- launching ------------------------------------------------------------- */

static constexpr int at_least_one(int n)
{
    return n > 1 ? n : 1;
}

template <typename T, int VECTORS, bool ALIGNED, typename Operation>
static sl_status launch_vectors(kernel_call *call, Operation operation)
{
    const int64_t n_vectors = call->work->n / vector_of<T>::N;
    return launch_grid(call, elementwise<Operation, T, VECTORS, ALIGNED>,
                       ceil_div(n_vectors, THREADS * VECTORS), THREADS, 0, (T *)call->out,
                       (const T *)call->in0, (const T *)call->in1, call->work->n, operation);
}

template <typename Operation>
static sl_status launch_operation(kernel_call *call, Operation operation)
{
    return with_type(call, [&](auto zero) {
        typedef decltype(zero) T;
        const int most = at_least_one(Operation::ITEMS / vector_of<T>::N);
        if (!is_aligned(call))
            return launch_vectors<T, 1, false>(call, operation);
        if (fills_chip(call->dev, call->work->n / (most * vector_of<T>::N * THREADS)))
            return launch_vectors<T, most, true>(call, operation);
        return launch_vectors<T, 1, true>(call, operation);
    });
}

/* As in the simulator's power(): whole exponents up to 16 multiply, and powf does what is
 * left. */
static sl_status launch_pow(kernel_call *call)
{
    const double exponent = call->work->scalar, size = fabs(exponent);
    const int count = size <= 16 ? (int)size : -1;
    if (exponent == 2)
        return launch_operation(call, pow_fixed<2>());
    if (exponent == 3)
        return launch_operation(call, pow_fixed<3>());
    if (exponent == 0.5)
        return launch_operation(call, pow_half());
    if (count == size)
        return exponent < 0 ? launch_operation(call, pow_minus_whole{count})
                            : launch_operation(call, pow_whole{count});
    return launch_operation(call, pow_any{(float)exponent});
}

sl_status launch_elementwise(kernel_call *call)
{
    const float scalar = (float)call->work->scalar;
    switch ((sl_kernel)call->work->kernel) {
    case SL_KERNEL_POW: return launch_pow(call);
#define X(id, expression) case SL_KERNEL_##id: return launch_operation(call, of_##id{scalar});
    NUMBERS_OF_PAIRS(X)
    NUMBERS_OF_ONE(X)
#undef X
    default: return launch_status(call, cudaErrorInvalidValue);
    }
}
