/* kernels_cast.cu - the elements of one dtype in another: the bits of core/numbers/elements.c. */
#include "kernels.cuh"

/* ---- one element ------------------------------------------------------------- */

/* float32 holds what lies between the narrow dtypes, float64 all others. */
template <typename T> struct is_wide {
    static const bool value = false;
};
template <> struct is_wide<double> {
    static const bool value = true;
};
template <> struct is_wide<int32_t> {
    static const bool value = true;
};
template <bool WIDE> struct between {
    typedef float type;
};
template <> struct between<true> {
    typedef double type;
};

template <typename V> static __device__ __forceinline__ V widened(uint8_t x) { return x; }
template <typename V> static __device__ __forceinline__ V widened(float x) { return x; }
template <typename V> static __device__ __forceinline__ V widened(double x) { return x; }
template <typename V> static __device__ __forceinline__ V widened(int32_t x) { return x; }
template <typename V> static __device__ __forceinline__ V widened(__half x) { return value_of(x); }
template <typename V> static __device__ __forceinline__ V widened(__nv_bfloat16 x)
{
    return value_of(x);
}

/* Towards zero; saturates, and NaN becomes 0. */
static __device__ __forceinline__ int32_t whole(double x, int32_t least, int32_t most)
{
    if (!(x > least)) return x <= least ? least : 0;
    return x < most ? (int32_t)x : most;
}

template <typename T, typename V> struct narrowed {
    static __device__ __forceinline__ T of(V x) { return rounded<T>((float)x); }
};
template <typename V> struct narrowed<double, V> {
    static __device__ __forceinline__ double of(V x) { return x; }
};
template <typename V> struct narrowed<int32_t, V> {
    static __device__ __forceinline__ int32_t of(V x) { return whole(x, INT32_MIN, INT32_MAX); }
};
template <typename V> struct narrowed<uint8_t, V> {
    static __device__ __forceinline__ uint8_t of(V x) { return (uint8_t)whole(x, 0, UINT8_MAX); }
};

/* ---- the kernel ---------------------------------------------------------------- */

const int EACH = 4; /* elements that a thread moves */

template <typename TO, typename FROM>
__global__ void __launch_bounds__(THREADS) cast(TO *out, const FROM *in, int64_t n)
{
    typedef typename between<is_wide<TO>::value || is_wide<FROM>::value>::type V;
    const int64_t first = (int64_t)blockIdx.x * (THREADS * EACH) + threadIdx.x;
#pragma unroll
    for (int v = 0; v < EACH; v++)
        if (first + v * THREADS < n)
            out[first + v * THREADS] = narrowed<TO, V>::of(widened<V>(in[first + v * THREADS]));
}

/* ---- launching ----------------------------------------------------------------- */

/* Calls f with a zero of the dtype. */
template <typename F> static sl_status with_any(const kernel_call *call, uint8_t dtype, F f)
{
    switch (dtype) {
    case SL_FLOAT32: return f(0.0f);
    case SL_BFLOAT16: return f(__nv_bfloat16());
    case SL_FLOAT16: return f(__half());
    case SL_FLOAT64: return f(0.0);
    case SL_INT32: return f((int32_t)0);
    case SL_UINT8: return f((uint8_t)0);
    default: return launch_status(call, cudaErrorInvalidValue);
    }
}

sl_status launch_cast(kernel_call *call)
{
    const int64_t n = call->work->n;
    return with_any(call, call->work->dtype, [&](auto to) {
        return with_any(call, call->work->in_dtype, [&](auto from) {
            typedef decltype(to) TO;
            typedef decltype(from) FROM;
            return launch_grid(call, cast<TO, FROM>, ceil_div(n, THREADS * EACH), THREADS, 0,
                               (TO *)call->out, (const FROM *)call->in0, n);
        });
    });
}
