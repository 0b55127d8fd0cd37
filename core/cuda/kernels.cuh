/* kernels.cuh - what the kernels have in common: their launch, and elements in pieces of
 * 16 bytes.
 *
 *   launch.cu               launching one
 *   kernels.cu              which kernel does what; spin and trap
 *   kernels_elementwise.cu  pow, and the expressions of core/kernel_table.h: add, ...
 *   kernels_cast.cu         cast
 *   kernels_generate.cu     fill, rand, randn
 *   kernels_reduce.cu       softmax, sum
 *   kernels_transpose.cu    transpose
 *
 * Arithmetic is in float32, rounded to nearest even on store, but for float64, which has its own,
 * and int32, which is taken modulo 2^32; no two operations are fused into one: the expressions of
 * core/kernel_table.h without functions, filling and random numbers have the bits of the
 * simulator's. Tensors begin at addresses that are multiples of 256, but for views, which begin at
 * any element: what does not begin at a multiple of 16 is moved element by element, to the same
 * numbers.
 *
 * A block is 256 threads, each of which moves 16 bytes of each tensor; a grid that fills
 * the chip even so takes several times as much a thread.
 */
#ifndef CUDA_KERNELS_CUH
#define CUDA_KERNELS_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <pthread.h>
#include <signal.h>

extern "C" {
#include "cuda.h"
}

enum { THREADS = 256, WARP = 32 };

/* ---- launching ------------------------------------------------------------- */

typedef struct kernel_call {
    cuda_device *dev;
    const sl_work *work;
    void *out;
    const void *in0, *in1;
    void *scratch;
    cudaStream_t stream;
    sl_error *err;
    uint32_t blocks, threads; /* launch_blocks fills these */
} kernel_call;

/* One for each family, in the file of its kernels. */
sl_status launch_elementwise(kernel_call *call);
sl_status launch_cast(kernel_call *call);
sl_status launch_generate(kernel_call *call);
sl_status launch_softmax(kernel_call *call);
sl_status launch_sum(kernel_call *call);
sl_status launch_transpose(kernel_call *call);

/* The device in a set of devices; 0 for those with too high a number. */
uint64_t device_bit(const cuda_device *dev);

/* CUDA's error as the status of the launch. */
sl_status launch_status(const kernel_call *call, cudaError_t code);

/* The driver loads a kernel's code at its first launch or when it is configured, and may
 * wait for the whole device then. Host functions that are pending run first: the wait would
 * hold the thread that runs them. If they cannot, nothing may be launched. */
sl_status before_load(const kernel_call *call, const void *kernel);

/* Launches `blocks` of the kernel, or one if there are none; SL_EBACKEND if a grid does not
 * have as many. `arguments` points at each of its arguments. */
sl_status launch_blocks(kernel_call *call, const void *kernel, int64_t blocks, uint32_t threads,
                        size_t shared_bytes, void **arguments);

template <typename T> struct as_given {
    typedef T type;
};

template <typename... P>
static inline sl_status launch_grid(kernel_call *call, void (*kernel)(P...), int64_t blocks,
                                    uint32_t threads, size_t shared_bytes,
                                    typename as_given<P>::type... arguments)
{
    void *list[] = { (void *)&arguments..., NULL };
    return launch_blocks(call, (const void *)kernel, blocks, threads, shared_bytes, list);
}

/* Each operand can be moved in vectors. */
static inline bool is_aligned(const kernel_call *call)
{
    return (((uintptr_t)call->out | (uintptr_t)call->in0 | (uintptr_t)call->in1) & 15) == 0;
}

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Several vectors a thread hide more of the memory's latency, once the grid fills the
 * chip without them. */
static inline bool fills_chip(const cuda_device *dev, int64_t blocks)
{
    return blocks >= (int64_t)dev->sm_count * (dev->threads_per_sm / THREADS);
}

/* Calls f with a zero of the element's type, of those that SL_TAKES_SHORT, ..._FLOATS or
 * ..._NUMBERS names. */
template <int TAKES, typename F> static inline sl_status with_dtype(const kernel_call *call, F f)
{
    static_assert(TAKES <= SL_TAKES_NUMBERS, "nothing computes in uint8");
    if constexpr (TAKES >= SL_TAKES_NUMBERS)
        if (call->work->dtype == SL_INT32) return f((int32_t)0);
    if constexpr (TAKES >= SL_TAKES_FLOATS)
        if (call->work->dtype == SL_FLOAT64) return f(0.0);
    switch (call->work->dtype) {
    case SL_FLOAT32: return f(0.0f);
    case SL_BFLOAT16: return f(__nv_bfloat16());
    case SL_FLOAT16: return f(__half());
    default: return launch_status(call, cudaErrorInvalidValue);
    }
}

/* ---- elements -------------------------------------------------------------- */

/* Elements of 16 bytes. */
template <typename T> struct vector_of {
    static const int N = 16 / (int)sizeof(T);
};

/* What they are in between. */
template <typename T> struct computed_in {
    typedef float type;
};
template <> struct computed_in<double> {
    typedef double type;
};
template <> struct computed_in<int32_t> {
    typedef int64_t type;
};

static __device__ __forceinline__ float value_of(float x) { return x; }
static __device__ __forceinline__ float value_of(__nv_bfloat16 x) { return __bfloat162float(x); }
static __device__ __forceinline__ float value_of(__half x) { return __half2float(x); }
static __device__ __forceinline__ double value_of(double x) { return x; }
static __device__ __forceinline__ int64_t value_of(int32_t x) { return x; }

template <typename T> static __device__ T rounded(typename computed_in<T>::type x);
template <> __device__ __forceinline__ float rounded<float>(float x) { return x; }
template <> __device__ __forceinline__ double rounded<double>(double x) { return x; }
template <> __device__ __forceinline__ int32_t rounded<int32_t>(int64_t x)
{
    return (int32_t)(uint32_t)x;
}
template <> __device__ __forceinline__ __nv_bfloat16 rounded<__nv_bfloat16>(float x)
{
    return __float2bfloat16_rn(x);
}
template <> __device__ __forceinline__ __half rounded<__half>(float x)
{
    return __float2half_rn(x);
}

static __device__ __forceinline__ float2 pair_of(__nv_bfloat162 x) { return __bfloat1622float2(x); }
static __device__ __forceinline__ float2 pair_of(__half2 x) { return __half22float2(x); }

template <typename T> struct two;
template <> struct two<__nv_bfloat16> {
    typedef __nv_bfloat162 type;
    static __device__ __forceinline__ type of(float a, float b)
    {
        return __floats2bfloat162_rn(a, b);
    }
};
template <> struct two<__half> {
    typedef __half2 type;
    static __device__ __forceinline__ type of(float a, float b) { return __floats2half2_rn(a, b); }
};

template <typename T> static __device__ __forceinline__ void unpack(float (&x)[8], uint4 vector)
{
    typedef typename two<T>::type pair;
    const uint32_t word[4] = { vector.x, vector.y, vector.z, vector.w };
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 both = pair_of(*(const pair *)&word[i]);
        x[2 * i] = both.x;
        x[2 * i + 1] = both.y;
    }
}

template <typename T> static __device__ __forceinline__ void unpack(float (&x)[4], uint4 vector)
{
    x[0] = __uint_as_float(vector.x);
    x[1] = __uint_as_float(vector.y);
    x[2] = __uint_as_float(vector.z);
    x[3] = __uint_as_float(vector.w);
}

template <typename T> static __device__ __forceinline__ void unpack(int64_t (&x)[4], uint4 vector)
{
    x[0] = (int32_t)vector.x;
    x[1] = (int32_t)vector.y;
    x[2] = (int32_t)vector.z;
    x[3] = (int32_t)vector.w;
}

template <typename T> static __device__ __forceinline__ void unpack(double (&x)[2], uint4 vector)
{
    x[0] = __hiloint2double((int)vector.y, (int)vector.x);
    x[1] = __hiloint2double((int)vector.w, (int)vector.z);
}

template <typename T> static __device__ __forceinline__ uint4 packed(const float (&x)[8])
{
    uint32_t word[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const typename two<T>::type both = two<T>::of(x[2 * i], x[2 * i + 1]);
        word[i] = *(const uint32_t *)&both;
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

template <typename T> static __device__ __forceinline__ uint4 packed(const float (&x)[4])
{
    return make_uint4(__float_as_uint(x[0]), __float_as_uint(x[1]), __float_as_uint(x[2]),
                      __float_as_uint(x[3]));
}

template <typename T> static __device__ __forceinline__ uint4 packed(const int64_t (&x)[4])
{
    return make_uint4((uint32_t)x[0], (uint32_t)x[1], (uint32_t)x[2], (uint32_t)x[3]);
}

template <typename T> static __device__ __forceinline__ uint4 packed(const double (&x)[2])
{
    return make_uint4((uint32_t)__double2loint(x[0]), (uint32_t)__double2hiint(x[0]),
                      (uint32_t)__double2loint(x[1]), (uint32_t)__double2hiint(x[1]));
}

/* The i-th vector of `from`, in one piece or by its elements. */
template <bool ALIGNED, typename T>
static __device__ __forceinline__ uint4 vector_at(const T *from, int64_t i)
{
    const int N = vector_of<T>::N;
    if constexpr (ALIGNED) {
        return ((const uint4 *)from)[i];
    } else {
        __align__(16) T element[N];
#pragma unroll
        for (int j = 0; j < N; j++)
            element[j] = from[i * N + j];
        return *(const uint4 *)element;
    }
}

template <bool ALIGNED, typename T>
static __device__ __forceinline__ void put_vector(T *to, int64_t i, uint4 vector)
{
    const int N = vector_of<T>::N;
    if constexpr (ALIGNED) {
        ((uint4 *)to)[i] = vector;
    } else {
        const T *element = (const T *)&vector;
#pragma unroll
        for (int j = 0; j < N; j++)
            to[i * N + j] = element[j];
    }
}

#endif
