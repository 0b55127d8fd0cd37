/* kernels_elementwise.cu - pow and the expressions of core/kernel_table.h: element i of the
 * output from element i of the inputs, which may be the output. */
#include <math.h>

#include "kernels.cuh"

/* ---- the operations -------------------------------------------------------- */

/* Each works on one vector, x from the first input and y from the second. INPUTS are read,
 * ITEMS elements of each by a thread at most: as many as 32 registers hold, so that an SM
 * is full of threads. */

#define OPERATION(id, inputs, items, expression)                                      \
    template <typename V> struct of_##id {                                            \
        enum { INPUTS = inputs, ITEMS = items };                                      \
        V s;                                                                          \
        template <int N> __device__ void operator()(V (&a)[N], const V (&b)[N]) const \
        {                                                                             \
            _Pragma("unroll") for (int i = 0; i < N; i++)                             \
            {                                                                         \
                const V x = a[i], y = b[i];                                           \
                (void)y;                                                              \
                a[i] = (expression);                                                  \
            }                                                                         \
        }                                                                             \
    };

enum { INPUTS_PAIR = 2, INPUTS_NUMBER = 1, INPUTS_ONE = 1 };

#define X(id, name, family, dtypes, slots, flops, expression) \
    OPERATION(id, INPUTS_##family, 16 / INPUTS_##family, expression)
SL_ELEMENTWISE_TABLE(X)
#undef X

/* ((x x) x) x ... from the left, as the simulator multiplies; x^0 is 1 for every x. */
template <typename V, int COUNT> struct pow_fixed {
    enum { INPUTS = 1, ITEMS = 16 };
    template <int N> __device__ void operator()(V (&x)[N], const V (&)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const V base = x[i];
#pragma unroll
            for (int j = 1; j < COUNT; j++)
                x[i] = x[i] * base;
        }
    }
};

template <typename V, int N> static __device__ __forceinline__ void raise(V (&x)[N], int count)
{
    V product[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        product[i] = 1;
#pragma unroll 1
    for (int j = 0; j < count; j++) {
#pragma unroll
        for (int i = 0; i < N; i++)
            product[i] = product[i] * x[i];
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = product[i];
}

template <typename V> struct pow_whole {
    enum { INPUTS = 1, ITEMS = 16 };
    int count;
    template <int N> __device__ void operator()(V (&x)[N], const V (&)[N]) const
    {
        raise(x, count);
    }
};

template <typename V> struct pow_minus_whole {
    enum { INPUTS = 1, ITEMS = 8 };
    int count;
    template <int N> __device__ void operator()(V (&x)[N], const V (&)[N]) const
    {
        raise(x, count);
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = 1 / x[i];
    }
};

/* The roots are rounded once. */
static __device__ __forceinline__ float root(float x) { return __fsqrt_rn(x); }
static __device__ __forceinline__ double root(double x) { return __dsqrt_rn(x); }
static __device__ __forceinline__ float power(float x, float e) { return powf(x, e); }
static __device__ __forceinline__ double power(double x, double e) { return pow(x, e); }

/* The root of -0 is -0 and that of -infinity is not a number, but their powers 0.5 are 0
 * and infinity. */
template <typename V> struct pow_half {
    enum { INPUTS = 1, ITEMS = 8 };
    template <int N> __device__ void operator()(V (&x)[N], const V (&)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = x[i] == -INFINITY ? (V)INFINITY : (V)fabs(root(x[i]));
    }
};

template <typename V> struct pow_any {
    enum { INPUTS = 1, ITEMS = 4 }; /* it computes more than it waits */
    V exponent;
    template <int N> __device__ void operator()(V (&x)[N], const V (&)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = power(x[i], exponent);
    }
};

/* Of int32, modulo 2^32. */
struct pow_int {
    enum { INPUTS = 1, ITEMS = 8 };
    uint32_t exponent;
    template <int N> __device__ void operator()(int64_t (&x)[N], const int64_t (&)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            uint32_t product = 1, square = (uint32_t)x[i];
            for (uint32_t left = exponent; left > 0; left >>= 1, square *= square)
                product *= left & 1 ? square : 1;
            x[i] = product;
        }
    }
};

/* ---- the kernel ------------------------------------------------------------ */

/* A thread loads all its vectors before it computes, so that the loads are under way
 * together. */
template <typename Operation, typename T, int VECTORS, bool ALIGNED>
__global__ void __launch_bounds__(THREADS)
    elementwise(T *out, const T *in0, const T *in1, int64_t n, Operation operation)
{
    typedef typename computed_in<T>::type V;
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
        V x[N], y[N];
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
        V x[1] = { value_of(in0[i]) };
        const V y[1] = { Operation::INPUTS == 2 ? value_of(in1[i]) : (V)0 };
        operation(x, y);
        out[i] = rounded<T>(x[0]);
    }
}

/* ---- launching ------------------------------------------------------------- */

static constexpr int at_least_one(int n) { return n > 1 ? n : 1; }

template <typename T, int VECTORS, bool ALIGNED, typename Operation>
static sl_status launch_vectors(kernel_call *call, Operation operation)
{
    const int64_t n_vectors = call->work->n / vector_of<T>::N;
    return launch_grid(call, elementwise<Operation, T, VECTORS, ALIGNED>,
                       ceil_div(n_vectors, THREADS * VECTORS), THREADS, 0, (T *)call->out,
                       (const T *)call->in0, (const T *)call->in1, call->work->n, operation);
}

/* `zero`: of the element's type. What computes in 64 bits takes no more vectors than float32. */
template <typename T, typename Operation>
static sl_status launch_operation(kernel_call *call, T zero, Operation operation)
{
    const int N = vector_of<T>::N, most = at_least_one(Operation::ITEMS / (N > 4 ? N : 4));
    (void)zero;
    if (!is_aligned(call)) return launch_vectors<T, 1, false>(call, operation);
    if (fills_chip(call->dev, call->work->n / (most * N * THREADS)))
        return launch_vectors<T, most, true>(call, operation);
    return launch_vectors<T, 1, true>(call, operation);
}

/* As in the simulator's POWER: whole exponents up to 16 multiply, and pow does what is
 * left. */
template <typename T> static sl_status launch_pow(kernel_call *call, T zero)
{
    typedef typename computed_in<T>::type V;
    const double exponent = call->work->scalar, size = fabs(exponent);
    const int count = size <= 16 ? (int)size : -1;
    if (exponent == 2) return launch_operation(call, zero, pow_fixed<V, 2>());
    if (exponent == 3) return launch_operation(call, zero, pow_fixed<V, 3>());
    if (exponent == 0.5) return launch_operation(call, zero, pow_half<V>());
    if (count == size)
        return exponent < 0 ? launch_operation(call, zero, pow_minus_whole<V>{ count })
                            : launch_operation(call, zero, pow_whole<V>{ count });
    return launch_operation(call, zero, pow_any<V>{ (V)exponent });
}

static sl_status launch_pow(kernel_call *call, int32_t zero)
{
    return launch_operation(call, zero, pow_int{ (uint32_t)call->work->scalar });
}

template <template <typename> class Operation, typename T>
static sl_status launch_of(kernel_call *call, T zero)
{
    typedef typename computed_in<T>::type V;
    return launch_operation(call, zero, Operation<V>{ (V)call->work->scalar });
}

sl_status launch_elementwise(kernel_call *call)
{
    switch ((sl_kernel)call->work->kernel) {
    case SL_KERNEL_POW:
        return with_dtype<SL_TAKES_NUMBERS>(call,
                                            [&](auto zero) { return launch_pow(call, zero); });
#define X(id, name, family, dtypes, slots, flops, expression) \
    case SL_KERNEL_##id:                                      \
        return with_dtype<SL_TAKES_##dtypes>(                 \
            call, [&](auto zero) { return launch_of<of_##id>(call, zero); });
        SL_ELEMENTWISE_TABLE(X)
#undef X
    default: return launch_status(call, cudaErrorInvalidValue);
    }
}
