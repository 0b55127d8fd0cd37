/* wrong_kernels.h - kernels that do what they must not, and what the checked build says of each. */
#ifndef TESTS_EMULATE_WRONG_KERNELS_H
#define TESTS_EMULATE_WRONG_KERNELS_H

#include "parts.h"

typedef struct wrong {
    const char *title, *call, *source, *message;
    test_launch launch;
} wrong;

/* The source begins in line 10; the tensors have 64 elements. */
static const wrong wrongs[] = {
    { "a read behind the end",
      "y, x",
      KERNEL "(float *y, const float *x) {\n"
             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "    y[i / 2] = x[i];\n"
             "}\n",
      "lab.lua:12: thread (0,0,0) of block (2,0,0) reads argument 2, element 64 of 64",
      { .grid = { 3 }, .block = { 32 } } },
    { "a write in front of the beginning",
      "y",
      KERNEL "(float *y) {\n"
             "    int i = threadIdx.x;\n"
             "    float *p = y - 1;\n"
             "    p[i] = 1;\n"
             "}\n",
      "lab.lua:13: thread (0,0,0) of block (0,0,0) writes argument 1, element -1 of 64",
      { .grid = { 1 }, .block = { 32 } } },
    { "an address far behind",
      "y",
      KERNEL "(float *y) {\n"
             "    y[1000000] = 1;\n"
             "}\n",
      "lab.lua:11: thread (0,0,0) of block (0,0,0) writes argument 1, element 1000000 of "
      "64",
      { .grid = { 1 }, .block = { 32 } } },
    { "an address that belongs to nothing",
      "y",
      KERNEL "(float *y) {\n"
             "    float *p = (float *)0x10;\n"
             "    y[0] = *p;\n"
             "}\n",
      "lab.lua:12: thread (0,0,0) of block (0,0,0) reads address 0x10, which is in no "
      "argument",
      { .grid = { 1 }, .block = { 1 } } },
    { "a write of what is declared in",
      "y, (float *)x",
      KERNEL "(float *y, float *x) {\n"
             "    y[threadIdx.x] = 1;\n"
             "    if (threadIdx.x == 7) x[5] = 2;\n"
             "}\n",
      "lab.lua:12: thread (7,0,0) of block (0,0,0) writes argument 2, element 5, but it is "
      "declared as \"in\"",
      { .grid = { 1 }, .block = { 32 } } },
    { "four elements at a time, over the end",
      "y, x",
      KERNEL "(float *y, const float *x) {\n"
             "    struct four { float x, y, z, w; };\n"
             "    *(four *)y = *(const four *)(x + 62);\n"
             "}\n",
      "lab.lua:12: thread (0,0,0) of block (0,0,0) reads argument 2, element 64 of 64",
      { .grid = { 1 }, .block = { 1 } } },
    { "memcpy over the end",
      "y, x",
      KERNEL "(float *y, const float *x) {\n"
             "    int n = threadIdx.x + 65;\n"
             "    __builtin_memcpy(y, x, 4 * n);\n"
             "}\n",
      "lab.lua:12: thread (0,0,0) of block (0,0,0) reads argument 2, element 64 of 64",
      { .grid = { 1 }, .block = { 1 } } },
    { "an address that is not aligned",
      "y",
      KERNEL "(float *y) {\n"
             "    struct __align__(16) four { float x, y, z, w; };\n"
             "    ((four *)(y + 1))->x = 3;\n"
             "}\n",
      "lab.lua:12: thread (0,0,0) of block (0,0,0) uses argument 1, element 1 as a type "
      "whose address must be a multiple of 16",
      { .grid = { 1 }, .block = { 1 } } },
    { "shared memory behind its end",
      "y",
      KERNEL "(float *y) {\n"
             "    __shared__ float tile[32];\n"
             "    tile[threadIdx.x] = y[threadIdx.x];\n"
             "    __syncthreads();\n"
             "    y[threadIdx.x] = tile[threadIdx.x + 1];\n"
             "}\n",
      "lab.lua:14: thread (31,0,0) of block (0,0,0) reads shared memory `tile`, byte 128 of "
      "128",
      { .grid = { 1 }, .block = { 32 } } },
    { "dynamic shared memory behind its end",
      "y",
      KERNEL "(float *y) {\n"
             "    extern __shared__ float buffer[];\n"
             "    buffer[threadIdx.x] = y[threadIdx.x];\n"
             "}\n",
      "lab.lua:12: thread (16,0,0) of block (0,0,0) writes dynamic shared memory, byte 64 "
      "of 64",
      { .grid = { 1 }, .block = { 32 }, .shared_bytes = 64 } },
    { "a missing barrier",
      "y",
      KERNEL "(float *y) {\n"
             "    __shared__ float tile[64];\n"
             "    int i = threadIdx.x;\n"
             "    tile[i] = y[i];\n"
             "    y[i] = tile[63 - i];\n"
             "}\n",
      "lab.lua:13: threads (31,0,0) and (32,0,0) of block (0,0,0) use shared memory `tile`, "
      "byte 128 without a barrier between them: the one reads in line 14, the other writes in "
      "line 13; put a __syncthreads() between",
      { .grid = { 1 }, .block = { 64 } } },
    { "two threads that write an element",
      "y",
      KERNEL "(float *y) {\n"
             "    y[5] = threadIdx.x;\n"
             "}\n",
      "lab.lua:11: threads (0,0,0) and (1,0,0) of block (0,0,0) write argument 1, element "
      "5 without a barrier between them: use an atomic (atomicAdd), or put a "
      "__syncthreads() (__syncwarp() within a warp) between",
      { .grid = { 1 }, .block = { 64 } } },
    { "two blocks that write an element",
      "y",
      KERNEL "(float *y) {\n"
             "    if (threadIdx.x == 0) y[0] = blockIdx.x + 1;\n"
             "}\n",
      "lab.lua:11: thread (0,0,0) of block (0,0,0) and thread (0,0,0) of block (1,0,0) write "
      "argument 1, element 0: blocks run in any order, so only atomics (atomicAdd) can do that",
      { .grid = { 2 }, .block = { 64 } } },
    { "shared memory that is read before all have added to it",
      "(int *)y",
      KERNEL "(int *y) {\n"
             "    __shared__ int sum;\n"
             "    if (threadIdx.x == 0) sum = 0;\n"
             "    __syncthreads();\n"
             "    atomicAdd(&sum, 1);\n"
             "    if (threadIdx.x == 40) y[0] = sum;\n"
             "}\n",
      "lab.lua:14: threads (40,0,0) and (41,0,0) of block (0,0,0) use shared memory `sum`, byte 0 "
      "without a barrier between them: the one reads in line 15, the other uses an atomic in line "
      "14; put a __syncthreads() (__syncwarp() within a warp) between",
      { .grid = { 1 }, .block = { 64 } } },
    { "lanes of a warp without __syncwarp()",
      "y",
      KERNEL "(float *y) {\n"
             "    __shared__ float s[32];\n"
             "    int i = threadIdx.x;\n"
             "    s[i] = y[i] + 1;\n"
             "    y[i] = s[i ^ 1];\n"
             "}\n",
      "lab.lua:13: threads (0,0,0) and (1,0,0) of block (0,0,0) use shared memory `s`, byte 4 "
      "without a barrier between them: the one reads in line 14, the other writes in line 13; put "
      "a __syncwarp() between",
      { .grid = { 1 }, .block = { 32 } } },
    { "halves of a warp that meet on their own, and use each other's",
      "y",
      KERNEL "(float *y) {\n"
             "    __shared__ float s[32];\n"
             "    int i = threadIdx.x;\n"
             "    s[i] = y[i];\n"
             "    __syncwarp(i < 16 ? 0xffff : 0xffff0000);\n"
             "    y[i] = s[i < 16 ? i : 31 - i];\n"
             "}\n",
      "lab.lua:15: threads (15,0,0) and (16,0,0) of block (0,0,0) use shared memory `s`, byte 60 "
      "without a barrier between them: the one writes in line 13, the other reads in line 15; put "
      "a __syncwarp() between",
      { .grid = { 1 }, .block = { 32 } } },
    { "the last block, without a fence of the others",
      "y, count",
      KERNEL "(float *y, int *count) {\n"
             "    y[blockIdx.x + 1] = 1 + blockIdx.x;\n"
             "    if (atomicAdd(count, 1) < gridDim.x - 1) return;\n"
             "    for (int i = 1; i <= gridDim.x; i++) y[0] += y[i];\n"
             "}\n",
      "lab.lua:13: thread (0,0,0) of block (0,0,0) and thread (0,0,0) of block (3,0,0) use argument "
      "1, element 1: the one writes in line 11, the other reads in line 13; blocks run in any "
      "order: use atomics, two launches, or a grid's sync()",
      { .grid = { 4 }, .block = { 1 } } },
    { "an atomic behind the end",
      "y",
      KERNEL "(float *y) {\n"
             "    int i = threadIdx.x;\n"
             "    atomicAdd(&y[i + 33], 1.0f);\n"
             "}\n",
      "lab.lua:12: thread (31,0,0) of block (0,0,0) has an atomic on argument 1, element 64 of 64",
      { .grid = { 1 }, .block = { 32 } } },
    { "blocks that write the same, in front of a grid's sync()",
      "y",
      KERNEL "(float *y) {\n"
             "    cooperative_groups::this_grid().sync();\n"
             "    y[threadIdx.x] = 1 + blockIdx.x;\n"
             "    cooperative_groups::this_grid().sync();\n"
             "}\n",
      "lab.lua:12: thread (0,0,0) of block (0,0,0) and thread (0,0,0) of block (1,0,0) write "
      "argument 1, element 0: blocks run in any order, so only atomics (atomicAdd) can do that",
      { .grid = { 2 }, .block = { 32 }, .cooperative = true } },
    { "a read by a library's function behind the end",
      "y",
      KERNEL "(float *y) {\n"
             "    y[0] = __ldg(y + 64);\n"
             "}\n",
      "lab.lua:11: thread (0,0,0) of block (0,0,0) reads argument 1, element 64 of 64",
      { .grid = { 1 }, .block = { 1 } } },
    { "recursion without an end",
      "y",
      "__device__ __noinline__ int deep(volatile int *a, int n) {\n"
      "    volatile int b[64];\n"
      "    b[n & 63] = a[0];\n"
      "    return n == 1 << 30 ? 0 : deep(b, n + 1) + b[n & 63];\n"
      "}\n" KERNEL "(float *y) {\n"
      "    int zero = 0;\n"
      "    y[0] = deep(&zero, 0);\n"
      "}\n",
      "lab.lua:10: thread (0,0,0) of block (0,0,0) needs more than the 128 KiB that a thread has here for local "
      "arrays and calls",
      { .grid = { 1 }, .block = { 1 } } },
    { "a division by zero",
      "(int *)y",
      KERNEL "(int *y) {\n"
             "    int i = threadIdx.x;\n"
             "    y[i] = 5 / (y[i] + i - 3);\n"
             "}\n",
      "lab.lua:12: thread (3,0,0) of block (0,0,0) divides an integer by zero",
      { .grid = { 1 }, .block = { 64 } } },
    /* 65,536 threads and more run in the fast build: here a write too near to fault, which only its
     * effect shows. */
    { "a write beside a tensor in a large launch",
      "y",
      KERNEL "(float *y) {\n"
             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "    if (i == 70000) y[-3] = 1;\n"
             "}\n",
      "a thread writes argument 1, element -3 of 64",
      { .grid = { 1024 }, .block = { 256 } } },
};

static test_kernel *new_wrongs(void)
{
    enum { N = sizeof wrongs / sizeof *wrongs };
    static const char *const args[] = { "inout f32*", "in f32*", "inout i32*", "i32", NULL };
    test_part parts[N];
    for (int i = 0; i < N; i++)
        parts[i] = (test_part){ wrongs[i].source, wrongs[i].call };
    return test_parts_new(args, "#include <cooperative_groups.h>\n",
                          "float *y, const float *x, int *count", parts, N);
}

static void test_wrong(test_kernel *kernel, int i)
{
    float x[64] = { 0 }, y[64] = { 0 };
    int count[64] = { 0 };
    const test_arg args[] = { test_tensor(y, sizeof y), test_tensor(x, sizeof x),
                              test_tensor(count, sizeof count), test_i32(i) };
    is_int(test_run(kernel, wrongs[i].launch, args), SL_EKERNEL, "%s is reported", wrongs[i].title);
    is_str(test_err.msg, wrongs[i].message, "%s: its message", wrongs[i].title);
}

TAP_UNUSED static void test_all_wrong(void)
{
    test_kernel *kernel = new_wrongs();
    is_int(kernel->status, SL_OK, "all wrong kernels compile");
    for (size_t i = 0; kernel->status == SL_OK && i < sizeof wrongs / sizeof *wrongs; i++)
        test_wrong(kernel, (int)i);
    test_kernel_free(kernel);
}

#endif
