/* kernels_reduce.cu - sum over all elements, softmax over rows. The order of additions
 * depends on the lengths alone, so that the same tensor gives the same bits each time
 * and on every GPU. */
#include <math.h>

#include "kernels.cuh"

/* ---- over the threads of a warp and of a block ------------------------------- */

struct plus {
    template <typename V> __device__ V operator()(V a, V b) const { return a + b; }
};

/* The larger; of a number and a NaN the number. */
struct larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/* Every lane gets the result. */
template <typename V, typename Join>
static __device__ __forceinline__ V over_warp(V value, Join join)
{
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        value = join(value, __shfl_xor_sync(0xFFFFFFFFu, value, distance));
    return value;
}

/* Every thread gets the result. Blocks are whole warps; `none` changes nothing. Not static: nvcc
 * would name of_warp after the folder of the build, and a release would not be reproducible. */
template <typename V, typename Join>
__device__ __forceinline__ V over_block(V value, V none, Join join)
{
    __shared__ V of_warp[WARP];
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    value = over_warp(value, join);
    __syncthreads(); /* of_warp may still be read from the last time */
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    value = lane < (int)blockDim.x / WARP ? of_warp[lane] : none;
    return over_warp(value, join);
}

/* ---- sum --------------------------------------------------------------------- */

const int64_t SUM_BLOCKS = 512; /* at most: all of them fit on a large chip at a time */

/* What is added up in. */
template <typename V> struct summed_in {
    typedef double type;
};
template <> struct summed_in<int64_t> {
    typedef long long type;
};

typedef struct sum_scratch {
    uint32_t finished; /* blocks; 0 between kernels */
    union {
        double doubles[SUM_BLOCKS];
        long long wholes[SUM_BLOCKS];
    } of_block;
} sum_scratch;

static __device__ __forceinline__ double *of_blocks(sum_scratch *scratch, double)
{
    return scratch->of_block.doubles;
}

static __device__ __forceinline__ long long *of_blocks(sum_scratch *scratch, long long)
{
    return scratch->of_block.wholes;
}

static_assert(sizeof(sum_scratch) <= CUDA_SCRATCH_BYTES, "the scratch memory is too small");

template <typename T, typename A>
static __device__ __forceinline__ void add_vector(A (&sum)[4], uint4 vector)
{
    typename computed_in<T>::type x[vector_of<T>::N];
    unpack<T>(x, vector);
#pragma unroll
    for (int i = 0; i < vector_of<T>::N; i++)
        sum[i % 4] += x[i];
}

/* Vectors i, i + total, ... as far as there are any, and zeros for the others. */
template <bool ALIGNED, typename T>
static __device__ __forceinline__ void load_batch(uint4 (&batch)[4], const T *in, int64_t i,
                                                  int64_t total, int64_t n_vectors)
{
#pragma unroll
    for (int v = 0; v < 4; v++, i += total)
        batch[v] = i < n_vectors ? vector_at<ALIGNED>(in, i) : make_uint4(0, 0, 0, 0);
}

/* What the calling thread finds: every total-th vector. It loads four ahead of those that
 * it adds, or else the compiler would save registers and load them one after the other. */
template <bool ALIGNED, typename A, typename T>
static __device__ __forceinline__ A sum_of_thread(const T *in, int64_t n)
{
    const int64_t n_vectors = n / vector_of<T>::N, total = (int64_t)gridDim.x * THREADS;
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t rest = n_vectors * vector_of<T>::N + i;
    A sum[4] = { rest < n ? (A)value_of(in[rest]) : (A)0, 0, 0, 0 };
    uint4 batch[4];
    load_batch<ALIGNED>(batch, in, i, total, n_vectors);
    while (i < n_vectors) {
        uint4 ahead[4];
        i += 4 * total;
        load_batch<ALIGNED>(ahead, in, i, total, n_vectors);
#pragma unroll
        for (int v = 0; v < 4; v++) {
            add_vector<T>(sum, batch[v]);
            batch[v] = ahead[v];
        }
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* In double throughout, as the simulator adds: exact for whole numbers; int32 in 64 bits. The
 * block that finishes last adds up what the others left in the scratch memory. */
template <typename T, bool ALIGNED>
__global__ void __launch_bounds__(THREADS) sum(T *out, const T *in, int64_t n, sum_scratch *scratch)
{
    typedef typename computed_in<T>::type V;
    typedef typename summed_in<V>::type A;
    __shared__ bool is_last;
    A *of_block = of_blocks(scratch, A());
    A value = over_block(sum_of_thread<ALIGNED, A>(in, n), A(), plus());
    if (threadIdx.x == 0) {
        of_block[blockIdx.x] = value;
        __threadfence();
        is_last = atomicInc(&scratch->finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    value = 0;
    for (int i = threadIdx.x; i < (int)gridDim.x; i += THREADS)
        value += __ldcg(&of_block[i]);
    value = over_block(value, A(), plus());
    if (threadIdx.x == 0) *out = rounded<T>((V)value);
}

sl_status launch_sum(kernel_call *call)
{
    return with_dtype<SL_TAKES_NUMBERS>(call, [&](auto zero) {
        typedef decltype(zero) T;
        const int64_t blocks = ceil_div(call->work->n / vector_of<T>::N, THREADS);
        const bool aligned = ((uintptr_t)call->in0 & 15) == 0;
        return launch_grid(call, aligned ? sum<T, true> : sum<T, false>,
                           blocks < SUM_BLOCKS ? blocks : SUM_BLOCKS, THREADS, 0, (T *)call->out,
                           (const T *)call->in0, call->work->n, (sum_scratch *)call->scratch);
    });
}

/* ---- softmax ------------------------------------------------------------------- */

/* Rows of up to WARP * ITEMS elements: a warp holds one in its registers. */
template <typename T, int ITEMS>
__global__ void __launch_bounds__(THREADS) softmax(T *out, const T *in, int64_t rows, int n)
{
    const int64_t row = (int64_t)blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP;
    const int lane = threadIdx.x % WARP;
    float x[ITEMS], largest = -INFINITY, sum = 0;
    if (row >= rows) return;
    in += row * n;
    out += row * n;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        x[i] = i * WARP + lane < n ? value_of(in[i * WARP + lane]) : -INFINITY;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        largest = fmaxf(largest, x[i]);
    largest = over_warp(largest, larger());
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        x[i] = i * WARP + lane < n ? expf(x[i] - largest) : 0.0f;
        sum += x[i];
    }
    sum = over_warp(sum, plus());
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (i * WARP + lane < n) out[i * WARP + lane] = rounded<T>(x[i] / sum);
}

/* exp(x - reference) for the elements that a thread has seen. */
typedef struct running_sum {
    float largest, sum;
} running_sum;

/* What to subtract: the largest element, unless there is none but -infinity. */
static __device__ __forceinline__ float reference_of(float largest)
{
    return largest == -INFINITY ? 0.0f : largest;
}

template <int N>
static __device__ __forceinline__ void add_terms(running_sum *running, const float (&x)[N])
{
    float largest = running->largest, sum = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        largest = fmaxf(largest, x[i]);
    const float reference = reference_of(largest);
    if (largest > running->largest) running->sum *= expf(running->largest - reference);
#pragma unroll
    for (int i = 0; i < N; i++)
        sum += expf(x[i] - reference);
    running->largest = largest;
    running->sum += sum;
}

/* Longer rows: a block reads one twice. */
template <typename T> __global__ void softmax_long(T *out, const T *in, int64_t rows, int64_t n)
{
    const int ITEMS = 4;
    running_sum running = { -INFINITY, 0 };
    if (blockIdx.x >= rows) /* there are no rows, but there is a block */
        return;
    in += blockIdx.x * n;
    out += blockIdx.x * n;
    for (int64_t first = threadIdx.x; first < n; first += ITEMS * blockDim.x) {
        float x[ITEMS];
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            const int64_t at = first + i * blockDim.x;
            x[i] = at < n ? value_of(in[at]) : -INFINITY;
        }
        add_terms(&running, x);
    }
    const float largest = over_block(running.largest, -INFINITY, larger());
    const float reference = reference_of(largest);
    const float sum = over_block(running.sum * expf(running.largest - reference), 0.0f, plus());
#pragma unroll 4
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = rounded<T>(expf(value_of(in[i]) - reference) / sum);
}

template <typename T, int ITEMS> static sl_status launch_rows(kernel_call *call)
{
    const int64_t rows = call->work->n > 0 ? call->work->m : 0; /* that have elements */
    return launch_grid(call, softmax<T, ITEMS>, ceil_div(rows, THREADS / WARP), THREADS, 0,
                       (T *)call->out, (const T *)call->in0, rows, (int)call->work->n);
}

sl_status launch_softmax(kernel_call *call)
{
    const int64_t n = call->work->n;
    return with_dtype<SL_TAKES_SHORT>(call, [&](auto zero) {
        typedef decltype(zero) T;
        if (n <= WARP) return launch_rows<T, 1>(call);
        if (n <= 8 * WARP) return launch_rows<T, 8>(call);
        if (n <= 32 * WARP) return launch_rows<T, 32>(call);
        return launch_grid(call, softmax_long<T>, call->work->m, n <= 64 * THREADS ? THREADS : 1024,
                           0, (T *)call->out, (const T *)call->in0, call->work->m, n);
    });
}
