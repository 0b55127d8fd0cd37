/* kernels_generate.cu - fill, rand, randn: the bits of core/numbers/generate.c. */
#include "kernels.cuh"

#define PHILOX_INLINE static __device__ __forceinline__
#define PHILOX_TABLE_CONST static __device__ const
#include "../numbers/philox_core.h"

extern "C" {
#include "../numbers/elements.h"
}

/* ---- fill ------------------------------------------------------------------ */

/* `pattern` is eight bytes of elements, over and over. */
template <int VECTORS>
__global__ void __launch_bounds__(THREADS) fill(uint8_t *out, int64_t n_bytes, uint64_t pattern)
{
    const uint32_t low = (uint32_t)pattern, high = (uint32_t)(pattern >> 32);
    const int64_t n_vectors = n_bytes / 16;
    const int64_t first = (int64_t)blockIdx.x * (THREADS * VECTORS) + threadIdx.x;
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        if (first + v * THREADS < n_vectors)
            ((uint4 *)out)[first + v * THREADS] = make_uint4(low, high, low, high);
    const int64_t i = n_vectors * 16 + threadIdx.x;
    if (blockIdx.x == gridDim.x - 1 && i < n_bytes)
        out[i] = (uint8_t)(pattern >> 8 * (threadIdx.x % 8));
}

/* Where the tensor does not begin at a multiple of 16. `value` is the pattern's low bytes. */
template <typename T>
__global__ void __launch_bounds__(THREADS) fill_elements(T *out, int64_t n, T value)
{
    const int64_t first = (int64_t)blockIdx.x * (THREADS * 4) + threadIdx.x;
#pragma unroll
    for (int v = 0; v < 4; v++)
        if (first + v * THREADS < n) out[first + v * THREADS] = value;
}

template <typename T> static sl_status launch_fill_elements(kernel_call *call, uint64_t pattern)
{
    const int64_t n = call->work->n;
    return launch_grid(call, fill_elements<T>, ceil_div(n, THREADS * 4), THREADS, 0, (T *)call->out,
                       n, (T)pattern);
}

static sl_status launch_fill(kernel_call *call)
{
    const int64_t bytes = (int64_t)numbers_dtype_bytes((sl_dtype)call->work->dtype);
    const int64_t n_bytes = call->work->n * bytes;
    const int64_t n_vectors = n_bytes / 16;
    uint64_t pattern;
    numbers_generate(call->work, 0, sizeof pattern / (size_t)bytes, &pattern);
    if (!is_aligned(call))
        return bytes == 8   ? launch_fill_elements<uint64_t>(call, pattern)
               : bytes == 4 ? launch_fill_elements<uint32_t>(call, pattern)
               : bytes == 2 ? launch_fill_elements<uint16_t>(call, pattern)
                            : launch_fill_elements<uint8_t>(call, pattern);
    if (fills_chip(call->dev, n_vectors / (4 * THREADS)))
        return launch_grid(call, fill<4>, ceil_div(n_vectors, 4 * THREADS), THREADS, 0,
                           (uint8_t *)call->out, n_bytes, pattern);
    return launch_grid(call, fill<1>, ceil_div(n_vectors, THREADS), THREADS, 0,
                       (uint8_t *)call->out, n_bytes, pattern);
}

/* ---- rand, randn ----------------------------------------------------------- */

typedef struct random_source {
    uint32_t key[2], id[2]; /* low and high words of seed and sequence */
} random_source;

static __device__ __forceinline__ void block_words(uint32_t (&word)[4], random_source source,
                                                   uint64_t block)
{
    word[0] = (uint32_t)block;
    word[1] = (uint32_t)(block >> 32);
    word[2] = source.id[0];
    word[3] = source.id[1];
    philox_rounds(word, source.key[0], source.key[1]);
}

/* Elements of one block: four uniform, or two normal. */
struct uniform {
    enum { PER_BLOCK = 4 };
    static __device__ __forceinline__ void take(float *x, const uint32_t (&word)[4])
    {
#pragma unroll
        for (int i = 0; i < PER_BLOCK; i++)
            x[i] = philox_uniform_number(word[i]);
    }
};

struct normal {
    enum { PER_BLOCK = 2 };
    static __device__ __forceinline__ void take(float *x, const uint32_t (&word)[4])
    {
#pragma unroll
        for (int i = 0; i < PER_BLOCK; i++)
            x[i] = philox_normal_number(word[2 * i], word[2 * i + 1]);
    }
};

/* A thread makes one vector, of which the last one may be cut off. */
template <typename Distribution, typename T, bool ALIGNED>
__global__ void __launch_bounds__(THREADS) random_numbers(T *out, int64_t n, random_source source)
{
    const int N = vector_of<T>::N, BLOCKS = N / Distribution::PER_BLOCK;
    const int64_t vector = (int64_t)blockIdx.x * THREADS + threadIdx.x, first = vector * N;
    float x[N];
    if (first >= n) return;
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) {
        uint32_t word[4];
        block_words(word, source, (uint64_t)vector * BLOCKS + b);
        Distribution::take(x + b * Distribution::PER_BLOCK, word);
    }
    if (first + N <= n) {
        put_vector<ALIGNED>(out, vector, packed<T>(x));
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        if (first + i < n) out[first + i] = rounded<T>(x[i]);
}

template <typename Distribution> static sl_status launch_random(kernel_call *call)
{
    const sl_work *work = call->work;
    const random_source source = {
        { (uint32_t)work->seed, (uint32_t)(work->seed >> 32) },
        { (uint32_t)work->sequence, (uint32_t)(work->sequence >> 32) },
    };
    return with_dtype<SL_TAKES_SHORT>(call, [&](auto zero) {
        typedef decltype(zero) T;
        return launch_grid(call,
                           is_aligned(call) ? random_numbers<Distribution, T, true>
                                            : random_numbers<Distribution, T, false>,
                           ceil_div(work->n, vector_of<T>::N * THREADS), THREADS, 0, (T *)call->out,
                           work->n, source);
    });
}

sl_status launch_generate(kernel_call *call)
{
    switch ((sl_kernel)call->work->kernel) {
    case SL_KERNEL_RAND: return launch_random<uniform>(call);
    case SL_KERNEL_RANDN: return launch_random<normal>(call);
    default: return launch_fill(call);
    }
}
