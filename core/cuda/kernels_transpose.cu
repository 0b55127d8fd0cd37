/* kernels_transpose.cu - in[outer, m, middle, n, k] to out[outer, n, middle, m, k], as bits of any
 * type. The two lie apart. */
#include "kernels.cuh"

extern "C" {
#include "../numbers/elements.h"
}

typedef struct extents {
    int64_t outer, m, middle, n, k;
} extents;

/* ---- matrices of elements ---------------------------------------------------- */

const int SIDE = 32, ROWS = THREADS / SIDE; /* of a tile; of it at a time */

/* k is 1: outer x middle matrices of m x n. A block moves a tile by way of shared memory, so that
 * it reads and writes rows. */
template <typename T>
__global__ void __launch_bounds__(THREADS)
    transpose_tiles(T *out, const T *in, extents e, int64_t across, int64_t tiles)
{
    __shared__ T tile[SIDE][SIDE + 1];
    const int64_t of_matrix = across * ((e.m + SIDE - 1) / SIDE);
    if (blockIdx.x >= tiles) /* there are none, but there is a block */
        return;
    const int64_t matrix = blockIdx.x / of_matrix, at = blockIdx.x % of_matrix;
    const int64_t o = matrix / e.middle, b = matrix % e.middle;
    const int64_t row = at / across * SIDE, column = at % across * SIDE;
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    in += (o * e.m * e.middle + b) * e.n;
    out += (o * e.n * e.middle + b) * e.m;
#pragma unroll
    for (int i = y; i < SIDE; i += ROWS)
        if (row + i < e.m && column + x < e.n)
            tile[i][x] = in[(row + i) * e.middle * e.n + column + x];
    __syncthreads();
#pragma unroll
    for (int i = y; i < SIDE; i += ROWS)
        if (column + i < e.n && row + x < e.m)
            out[(column + i) * e.middle * e.m + row + x] = tile[x][i];
}

/* ---- rows of k ----------------------------------------------------------------- */

const int EACH = 4; /* elements that a thread moves */

template <typename T>
__global__ void __launch_bounds__(THREADS)
    transpose_rows(T *out, const T *in, extents e, int64_t elems)
{
    const int64_t first = (int64_t)blockIdx.x * (THREADS * EACH) + threadIdx.x;
#pragma unroll
    for (int v = 0; v < EACH; v++) {
        const int64_t at = first + v * THREADS;
        if (at >= elems) return;
        const int64_t c = at % e.k, cell = at / e.k;
        const int64_t i = cell % e.m, above = cell / e.m;
        const int64_t b = above % e.middle, j = above / e.middle % e.n;
        const int64_t o = above / e.middle / e.n;
        out[at] = in[(((o * e.m + i) * e.middle + b) * e.n + j) * e.k + c];
    }
}

/* ---- launching ----------------------------------------------------------------- */

template <typename T> static sl_status launch_bits(kernel_call *call)
{
    const sl_work *work = call->work;
    const extents e = { work->outer, work->m, work->middle, work->n, work->k };
    const int64_t elems = sl_kernel_elems(work, SL_OUTPUT), across = ceil_div(e.n, SIDE);
    const int64_t tiles = elems > 0 ? e.outer * e.middle * across * ceil_div(e.m, SIDE) : 0;
    if (e.k == 1)
        return launch_grid(call, transpose_tiles<T>, tiles, THREADS, 0, (T *)call->out,
                           (const T *)call->in0, e, across, tiles);
    return launch_grid(call, transpose_rows<T>, ceil_div(elems, THREADS * EACH), THREADS, 0,
                       (T *)call->out, (const T *)call->in0, e, elems);
}

sl_status launch_transpose(kernel_call *call)
{
    switch (numbers_dtype_bytes((sl_dtype)call->work->dtype)) {
    case 1: return launch_bits<uint8_t>(call);
    case 2: return launch_bits<uint16_t>(call);
    case 4: return launch_bits<uint32_t>(call);
    default: return launch_bits<uint64_t>(call);
    }
}
