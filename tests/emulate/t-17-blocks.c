/* t-17-blocks.c - launches of so many threads that blocks of the fast build run one behind the other:
 * each runs once, those whose threads wait as well, and a block that goes wrong is named. */
#include <errno.h>
#include <sys/wait.h>

#include "parts.h"

enum { COUNT, SOME_WAIT, ALL_WAIT, BEYOND, TRAP, STUCK, PARTS };

#define NUMBER "blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)"

static const test_part parts[PARTS] = {
    [COUNT] = { KERNEL "(int *x, int n) {\n"
                       "    if (threadIdx.x == 63) x[" NUMBER "] += 1 + blockIdx.x;\n"
                       "}\n",
                "x, n" },
    [SOME_WAIT] = { KERNEL "(int *x, int n) {\n"
                           "    int i = " NUMBER ", all = 64;\n"
                           "    if (i % 7 == 3) all = emu_syncthreads_count(threadIdx.x < 9, 12);\n"
                           "    if (threadIdx.x == 5) x[i] += all;\n"
                           "}\n",
                    "x, n" },
    [ALL_WAIT] = { KERNEL
                   "(int *x, int n) {\n"
                   "    int lane = threadIdx.x % 32, i = " NUMBER ";\n"
                   "    int next = emu_warp(EMU_WARP_SHUFFLE, ~0u, i + lane, (lane + 1) % 32, 12);\n"
                   "    if (threadIdx.x == 0) x[i] += next - i;\n"
                   "}\n",
                   "x, n" },
    [BEYOND] = { KERNEL "(int *x, int n) {\n"
                        "    int i = " NUMBER ";\n"
                        "    if (threadIdx.x == 7 && i == 1725) x[n] = 1;\n"
                        "}\n",
                 "x, n" },
    [TRAP] = { KERNEL "(int *x, int n) {\n"
                      "    if (threadIdx.x == 7 && " NUMBER " == 1725) __builtin_trap();\n"
                      "}\n",
               "x, n" },
    [STUCK] = { KERNEL "(int *x, int n) {\n"
                       "    if (" NUMBER " == 1725 && threadIdx.x < 9) __syncthreads();\n"
                       "}\n",
                "x, n" },
};

/* 2400 blocks of 64 threads: number 1725 is block (5,3,2). */
enum { BLOCKS = 40 * 20 * 3 };
static const test_launch launch = { .grid = { 40, 20, 3 }, .block = { 64 } };
static test_kernel *kernel;

static sl_status run(int part, int *data)
{
    const test_arg args[] = { test_tensor(data, BLOCKS * sizeof *data), test_i32(BLOCKS),
                              test_i32(part) };
    memset(data, 0, BLOCKS * sizeof *data);
    return kernel->status ? kernel->status : test_run(kernel, launch, args);
}

static int once(int i) { return 1 + i % 40; }
static int counted(int i) { return i % 7 == 3 ? 9 : 64; }
static int next(int i) { return (void)i, 1; }

static void runs(int part, int (*wanted)(int i), const char *test)
{
    int data[BLOCKS], wrong = 0;
    is_int(run(part, data), SL_OK, "%s", test);
    for (int i = 0; i < BLOCKS; i++)
        wrong += data[i] != wanted(i);
    is_int(wrong, 0, "and each block has run once, with its own index");
}

/* Processes that have run their blocks may be there still, but not behind what ran them. */
static void test_left(void)
{
    test_kernel_free(kernel);
    ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no process of a launch is left");
}

static void fails(int part, const char *wanted, const char *test)
{
    int data[BLOCKS];
    const sl_status status = run(part, data);
    ok(status == SL_EKERNEL && strstr(test_err.msg, wanted), "%s: %s", test, test_err.msg);
}

static void test_wrong(void)
{
    fails(BEYOND, "thread (7,0,0) of block (5,3,2) writes argument 1, element 2400 of 2400",
          "a block that writes beyond its tensor is named");
    fails(TRAP, "lab.lua:11: thread (7,0,0) of block (5,3,2) runs into a trap",
          "so is one that runs into a trap");
    fails(STUCK, "in block (5,3,2) 9 threads wait at __syncthreads() in line 11",
          "and one whose threads do not meet");
}

/* By itself in a source, so that compilers make vectors of its threads. */
static void test_vectors(void)
{
    static const char *const args[] = { "out i32*", "i32", NULL };
    static int data[BLOCKS * 64];
    test_kernel *all = test_kernel_new("f", args,
                                       "__global__ void f(int *x, int far) {\n"
                                       "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                       "    x[i + (i == 1725 * 64 + 7 ? far : 0)] = i;\n"
                                       "}\n");
    const test_arg to[] = { test_tensor(data, sizeof data), test_i32(1 << 29) };
    const test_launch row = { .grid = { BLOCKS, 1, 1 }, .block = { 64 } };
    const sl_status status = all->status ? all->status : test_run(all, row, to);
    ok(status == SL_EKERNEL && strstr(test_err.msg, "thread (7,0,0) of block (1725,0,0) writes"),
       "also one of threads that run as vectors: %s", test_err.msg);
    test_kernel_free(all);
}

int main(void)
{
    static const char *const args[] = { "inout i32*", "i32", "i32", NULL };
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    kernel = test_parts_new(args, "", "int *x, int n", parts, PARTS);
    runs(COUNT, once, "blocks in three dimensions run");
    runs(SOME_WAIT, counted, "threads of every seventh block wait for each other");
    runs(ALL_WAIT, next, "lanes of all blocks wait for each other");
    test_wrong();
    test_vectors();
    test_left();
    return done_testing();
}
