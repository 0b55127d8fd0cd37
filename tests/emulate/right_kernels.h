/* right_kernels.h - kernels of the usual kinds, in which the checked build must find nothing. */
#ifndef TESTS_EMULATE_RIGHT_KERNELS_H
#define TESTS_EMULATE_RIGHT_KERNELS_H

#include "parts.h"

typedef struct right {
    const char *title, *call, *source;
    test_launch launch;
} right;

/* The tensors have 4,096 elements of 4 bytes. */
static const right rights[] = {
    { "a product of matrices by tiles",
      "y, x, x",
      KERNEL "(float *c, const float *a, const float *b) {\n"
             "    __shared__ float s[16][16], t[16][17];\n"
             "    int x = threadIdx.x, y = threadIdx.y;\n"
             "    int i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;\n"
             "    float sum = 0;\n"
             "    for (int k = 0; k < 64; k += 16) {\n"
             "        s[y][x] = a[i * 64 + k + x];\n"
             "        t[y][x] = b[(k + y) * 64 + j];\n"
             "        __syncthreads();\n"
             "        for (int m = 0; m < 16; m++) sum += s[y][m] * t[m][x];\n"
             "        __syncthreads();\n"
             "    }\n"
             "    c[i * 64 + j] = sum;\n"
             "}\n",
      { .grid = { 4, 4 }, .block = { 16, 16 } } },
    { "a histogram with atomics, in shared memory and in a tensor",
      "(int *)y, (const int *)x",
      KERNEL "(int *bins, const int *x) {\n"
             "    __shared__ int part[64];\n"
             "    if (threadIdx.x < 64) part[threadIdx.x] = 0;\n"
             "    __syncthreads();\n"
             "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 4096; i += gridDim.x * "
             "blockDim.x)\n"
             "        atomicAdd(&part[(x[i] + i) & 63], 1);\n"
             "    __syncthreads();\n"
             "    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], part[threadIdx.x]);\n"
             "}\n",
      { .grid = { 4 }, .block = { 256 } } },
    { "a sum by shuffles and shared memory",
      "y, x",
      KERNEL "(float *y, const float *x) {\n"
             "    __shared__ float part[8];\n"
             "    float v = x[blockIdx.x * 256 + threadIdx.x];\n"
             "    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);\n"
             "    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;\n"
             "    __syncthreads();\n"
             "    if (threadIdx.x == 0) {\n"
             "        for (int i = 1; i < 8; i++) v += part[i];\n"
             "        y[blockIdx.x] = v;\n"
             "    }\n"
             "}\n",
      { .grid = { 4 }, .block = { 256 } } },
    { "a sum within a warp, with __syncwarp()",
      "y, x",
      KERNEL "(float *y, const float *x) {\n"
             "    __shared__ float s[128];\n"
             "    int t = threadIdx.x, lane = t % 32;\n"
             "    s[t] = x[t];\n"
             "    __syncwarp();\n"
             "    for (int d = 16; d > 0; d /= 2) {\n"
             "        float other = lane < d ? s[t + d] : 0;\n"
             "        __syncwarp();\n"
             "        if (lane < d) s[t] += other;\n"
             "        __syncwarp();\n"
             "    }\n"
             "    if (lane == 0) y[t / 32] = s[t];\n"
             "}\n",
      { .grid = { 1 }, .block = { 128 } } },
    { "halves of a warp that meet on their own",
      "y, x",
      KERNEL "(float *y, const float *x) {\n"
             "    __shared__ float s[32];\n"
             "    int t = threadIdx.x;\n"
             "    unsigned mask = t < 16 ? 0xffff : 0xffff0000;\n"
             "    s[t] = x[t];\n"
             "    __syncwarp(mask);\n"
             "    y[t] = s[t ^ 5];\n"
             "}\n",
      { .grid = { 1 }, .block = { 32 } } },
    { "several threads that set the same flag",
      "(int *)y, (const int *)x",
      KERNEL "(int *y, const int *x) {\n"
             "    __shared__ int any;\n"
             "    if (threadIdx.x == 0) any = 0;\n"
             "    __syncthreads();\n"
             "    if (x[threadIdx.x] == 0) any = 1;\n"
             "    __syncthreads();\n"
             "    if (any) y[0] = 7;\n"
             "}\n",
      { .grid = { 3 }, .block = { 64 } } },
    { "threads that return early",
      "y, x",
      KERNEL "(float *y, const float *x) {\n"
             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "    if (i >= 1000) return;\n"
             "    y[i] = x[i] + x[999 - i];\n"
             "}\n",
      { .grid = { 4 }, .block = { 256 } } },
    { "vectors of four and structures",
      "y, x",
      "struct pair { double a; int b; };\n" KERNEL "(float *y, const float *x) {\n"
      "    int i = threadIdx.x;\n"
      "    ((float4 *)y)[i] = ((const float4 *)x)[i + 1];\n"
      "    pair *p = (pair *)(y + 2048) + i;\n"
      "    *p = pair{ 1.0, i };\n"
      "    p->b++;\n"
      "}\n",
      { .grid = { 1 }, .block = { 64 } } },
    { "a loop around atomicCAS that begins with a plain read",
      "y",
      KERNEL "(float *y) {\n"
             "    __shared__ int most;\n"
             "    if (threadIdx.x == 0) most = 0;\n"
             "    __syncthreads();\n"
             "    for (int k = 0; k < 2; k++) {\n"
             "        int *at = k ? &most : (int *)y;\n"
             "        int old = *at, seen;\n"
             "        do {\n"
             "            seen = old;\n"
             "            old = atomicCAS(at, seen, max(seen, (int)threadIdx.x));\n"
             "        } while (old != seen);\n"
             "    }\n"
             "}\n",
      { .grid = { 2 }, .block = { 64 } } },
    { "the last block, which sees the others' results behind a fence",
      "y, count",
      KERNEL "(float *y, int *count) {\n"
             "    __shared__ int last;\n"
             "    if (threadIdx.x == 0) {\n"
             "        y[blockIdx.x + 1] = blockIdx.x;\n"
             "        __threadfence();\n"
             "        last = atomicAdd(count, 1) == gridDim.x - 1;\n"
             "    }\n"
             "    __syncthreads();\n"
             "    if (last && threadIdx.x == 33)\n"
             "        for (int i = 1; i <= gridDim.x; i++) y[0] += y[i];\n"
             "}\n",
      { .grid = { 16 }, .block = { 64 } } },
    { "volatile flags of blocks",
      "y, count",
      KERNEL "(float *y, int *flags) {\n"
             "    volatile int *flag = flags;\n"
             "    if (blockIdx.x > 0 && threadIdx.x == 0) {\n"
             "        while (flag[blockIdx.x - 1] == 0) ;\n"
             "        __threadfence();\n"
             "        y[blockIdx.x] = y[blockIdx.x - 1] + 1;\n"
             "    }\n"
             "    __threadfence();\n"
             "    if (threadIdx.x == 0) flag[blockIdx.x] = 1;\n"
             "}\n",
      { .grid = { 16 }, .block = { 64 } } },
    { "blocks that use each other's results behind a grid's sync()",
      "y, x",
      KERNEL "(float *y, const float *x) {\n"
             "    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;\n"
             "    y[i] = x[i] + i;\n"
             "    cooperative_groups::this_grid().sync();\n"
             "    float other = y[n - 1 - i];\n"
             "    cooperative_groups::this_grid().sync();\n"
             "    y[i] += other;\n"
             "}\n",
      { .grid = { 4 }, .block = { 64 }, .cooperative = true } },
    { "tiles of a warp that meet on their own",
      "y, x",
      KERNEL "(float *y, const float *x) {\n"
             "    __shared__ float s[64];\n"
             "    auto block = cooperative_groups::this_thread_block();\n"
             "    auto tile = cooperative_groups::tiled_partition<8>(block);\n"
             "    int t = threadIdx.x;\n"
             "    s[t] = x[t] + t;\n"
             "    tile.sync();\n"
             "    y[t] = s[t ^ 7];\n"
             "}\n",
      { .grid = { 1 }, .block = { 64 } } },
    { "dynamic shared memory of two types",
      "y, x",
      KERNEL "(float *y, const float *x) {\n"
             "    extern __shared__ char raw[];\n"
             "    double *d = (double *)raw;\n"
             "    float *f = (float *)(d + 32);\n"
             "    int t = threadIdx.x;\n"
             "    d[t] = x[t];\n"
             "    f[t] = 1;\n"
             "    __syncthreads();\n"
             "    y[t] = d[31 - t] + f[31 - t];\n"
             "}\n",
      { .grid = { 2 }, .block = { 32 }, .shared_bytes = 32 * 12 } },
    { "arrays of a thread, and constants",
      "y, x",
      "__constant__ float weights[3] = { 1, 2, 1 };\n" KERNEL "(float *y, const float *x) {\n"
      "    float mine[8];\n"
      "    float *p = mine;\n"
      "    int t = threadIdx.x;\n"
      "    for (int i = 0; i < 8; i++) p[(i + t) & 7] = x[t + i];\n"
      "    y[t] = p[t & 7] * weights[t % 3];\n"
      "}\n",
      { .grid = { 1 }, .block = { 64 } } },
    { "bytes of one word, each written by another thread",
      "(unsigned char *)y, (const unsigned char *)x",
      KERNEL "(unsigned char *y, const unsigned char *x) {\n"
             "    __shared__ unsigned char s[256];\n"
             "    s[threadIdx.x] = x[threadIdx.x];\n"
             "    y[threadIdx.x] = s[threadIdx.x];\n"
             "}\n",
      { .grid = { 1 }, .block = { 256 } } },
};

static test_kernel *new_rights(void)
{
    enum { N = sizeof rights / sizeof *rights };
    static const char *const args[] = { "inout f32*", "in f32*", "inout i32*", "i32", NULL };
    test_part parts[N];
    for (int i = 0; i < N; i++)
        parts[i] = (test_part){ rights[i].source, rights[i].call };
    return test_parts_new(args, "#include <cooperative_groups.h>\n",
                          "float *y, const float *x, int *count", parts, N);
}

static void test_right(test_kernel *kernel, int i)
{
    enum { N = 4096 };
    float *x = calloc(N, sizeof *x), *y = calloc(N, sizeof *y);
    int *count = calloc(N, sizeof *count);
    const test_arg args[] = { test_tensor(y, N * sizeof *y), test_tensor(x, N * sizeof *x),
                              test_tensor(count, N * sizeof *count), test_i32(i) };
    is_int(test_run(kernel, rights[i].launch, args), SL_OK, "right: %s", rights[i].title);
    if (*test_err.msg) diag("%s", test_err.msg);
    free(x);
    free(y);
    free(count);
}

TAP_UNUSED static void test_all_right(void)
{
    test_kernel *kernel = new_rights();
    is_int(kernel->status, SL_OK, "all right kernels compile");
    for (size_t i = 0; kernel->status == SL_OK && i < sizeof rights / sizeof *rights; i++)
        test_right(kernel, (int)i);
    test_kernel_free(kernel);
}

#endif
