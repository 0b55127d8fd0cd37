/* t-15-threads.c - threads that wait for each other: barriers, warps, blocks of a grid, and what is
 * said of those that wait for what never comes. */
#include "parts.h"

enum {
    SUM,
    COUNT,
    SHARED,
    WARP,
    GRID,
    FEW_WAIT,
    TWO_BARRIERS,
    WARP_ELSEWHERE,
    NO_LANE,
    NOT_IN_MASK,
    GRID_PART,
    CONSTANTS,
    PARTS
};

static const test_part parts[PARTS] = {
    [SUM] = { KERNEL "(int *x, int n) {\n"
                     "    __shared__ int part[96];\n"
                     "    int t = threadIdx.x + threadIdx.y * blockDim.x;\n"
                     "    part[t] = x[t];\n"
                     "    for (int i = 1; i < n; i++) {\n"
                     "        __syncthreads();\n"
                     "        int left = part[(t + 1) % n];\n"
                     "        __syncthreads();\n"
                     "        part[t] = left;\n"
                     "        x[t] += left;\n"
                     "    }\n"
                     "}\n",
              "x, n" },
    [COUNT] = { KERNEL "(int *x, int n) {\n"
                       "    x[threadIdx.x] = emu_syncthreads_count(threadIdx.x % 3 == 0, 11);\n"
                       "}\n",
                "x, n" },
    [SHARED] = { "template <typename T> __device__ void put(int *x, int value) {\n"
                 "    __shared__ T of_template[8];\n"
                 "    if (threadIdx.x == 0) of_template[3] = value;\n"
                 "    __syncthreads();\n"
                 "    x[threadIdx.x] = of_template[3];\n"
                 "}\n" KERNEL "(int *x, int n) {\n"
                 "    extern __shared__ int dynamic[];\n"
                 "    __shared__ int plain[8];\n"
                 "    put<float>(x, 7);\n"
                 "    put<double>(x + 32, 9);\n"
                 "    if (threadIdx.x == 1) {\n"
                 "        x[70] = plain[2];\n"
                 "        x[71] = dynamic[1];\n"
                 "        dynamic[1] = plain[2] = 5;\n"
                 "        x[72] = dynamic[1];\n"
                 "    }\n"
                 "}\n",
                 "x, n" },
    [WARP] = { KERNEL
               "(int *x, int n) {\n"
               "    unsigned t = threadIdx.x, lane = t % 32;\n"
               "    if (t >= 40) return;\n"
               "    x[t] = emu_warp(EMU_WARP_SHUFFLE, t < 32 ? 0xffffffffu : 0xffu, t, (lane + 1) % (t < 32 ? 32 : 8), 13);\n"
               "    if (t < 32) {\n"
               "        x[64 + lane] = emu_warp(EMU_WARP_BALLOT, 0xffffffffu, lane % 2, 0, 15);\n"
               "        x[96 + lane] = emu_warp(EMU_WARP_MATCH, 0xffffffffu, lane / 8, 0, 16);\n"
               "        if (lane < 4) x[128 + lane] = emu_warp(EMU_WARP_ACTIVE, 0, 0, 0, 17);\n"
               "        uint64_t all[32];\n"
               "        if (lane >= 30) { emu_warp_gather(0xc0000000u, lane, all, 18);\n"
               "            x[130 + lane] = all[30] + all[31] + all[0]; }\n"
               "    }\n"
               "}\n",
               "x, n" },
    [GRID] = { KERNEL "(int *x, int n) {\n"
                      "    __shared__ int mine;\n"
                      "    if (threadIdx.x == 0) mine = blockIdx.x;\n"
                      "    for (int i = 0; i < 5; i++) {\n"
                      "        int next = x[(blockIdx.x + 1) % n];\n"
                      "        emu_grid_sync(15);\n"
                      "        if (threadIdx.x == 0) x[mine] = next;\n"
                      "        emu_grid_sync(17);\n"
                      "    }\n"
                      "}\n",
               "x, n" },
    [FEW_WAIT] = { KERNEL "(int *x, int n) {\n"
                          "    if (threadIdx.x < 40)\n"
                          "        __syncthreads();\n"
                          "    x[0] = 1;\n"
                          "}\n",
                   "x, n" },
    [TWO_BARRIERS] = { KERNEL "(int *x, int n) {\n"
                              "    if (threadIdx.x == 0)\n"
                              "        __syncthreads();\n"
                              "    else\n"
                              "        __syncthreads();\n"
                              "}\n",
                       "x, n" },
    [WARP_ELSEWHERE] = { KERNEL
                         "(int *x, int n) {\n"
                         "    if (threadIdx.x < 16) emu_warp(EMU_WARP_SYNC, 0xffffffffu, 0, 0, __LINE__);\n"
                         "    else __syncthreads();\n"
                         "}\n",
                         "x, n" },
    [NO_LANE] = { KERNEL "(int *x, int n) {\n"
                         "    emu_warp(EMU_WARP_SHUFFLE, 0xffffffffu, 0, 20, __LINE__);\n"
                         "}\n",
                  "x, n" },
    [NOT_IN_MASK] = { KERNEL "(int *x, int n) {\n"
                             "    emu_warp(EMU_WARP_SYNC, 0xff, 0, 0, __LINE__);\n"
                             "}\n",
                      "x, n" },
    [GRID_PART] = { KERNEL "(int *x, int n) {\n"
                           "    if (blockIdx.x) emu_grid_sync(11);\n"
                           "}\n",
                    "x, n" },
    [CONSTANTS] = { "__constant__ int c[2] = { 3, 4 };\n"
                    "__device__ const int d[2] = { 5, 6 };\n" KERNEL
                    "(int *x, int n) { x[n - 1] = c[n - 3] + d[n - 4]; }\n",
                    "x, n" },
};

static test_kernel *kernel;

static sl_status run_on(int part, int *data, size_t n, test_launch launch)
{
    const test_arg args[] = { test_tensor(data, n * sizeof *data), test_i32((int)n),
                              test_i32(part) };
    return kernel->status ? kernel->status : test_run(kernel, launch, args);
}

static void fails(int part, test_launch launch, const char *wanted, const char *test)
{
    int data[64] = { 0 };
    sl_status status = run_on(part, data, 64, launch);
    ok(status == SL_EKERNEL && strstr(test_err.msg, wanted), "%s: %s", test, test_err.msg);
}

static void test_barrier(void)
{
    int data[96], wrong = 0;
    for (int i = 0; i < 96; i++)
        data[i] = i;
    is_int(run_on(SUM, data, 96, (test_launch){ .block = { 16, 6 } }), SL_OK,
           "threads in two dimensions meet at barriers in a loop");
    for (int i = 0; i < 96; i++)
        wrong += data[i] != 95 * 96 / 2;
    is_int(wrong, 0, "each thread has seen what the others wrote before the barrier");
}

static void test_count(void)
{
    int data[64] = { 0 };
    run_on(COUNT, data, 64, (test_launch){ .block = { 64 } });
    ok(data[0] == 22 && data[63] == 22, "a barrier counts the threads with a predicate");
}

static void test_shared(void)
{
    int data[80] = { 0 };
    is_int(run_on(SHARED, data, 80,
                  (test_launch){ .grid = { 3 }, .block = { 32 }, .shared_bytes = 16 }),
           SL_OK, "shared memory of templates, of a known size and of the launch's");
    ok(data[0] == 7 && data[31] == 7 && data[32] == 9, "holds what was written");
    ok(data[70] == -1 && data[71] == -1,
       "and nothing of the block before: all bits are set when a block begins");
    is_int(data[72], 5, "dynamic shared memory can be written");
}

static void test_warp(void)
{
    int data[192] = { 0 }, wrong = 0;
    is_int(run_on(WARP, data, 192, (test_launch){ .block = { 64 } }), SL_OK,
           "lanes of warps exchange values, though other threads have ended");
    for (int i = 0; i < 40; i++)
        wrong += data[i] != (i < 32 ? (i + 1) % 32 : 32 + (i + 1) % 8);
    is_int(wrong, 0, "a shuffle gives the value of the lane that is named");
    ok((unsigned)data[64] == 0xaaaaaaaau, "a vote gives the lanes");
    ok((unsigned)data[96 + 9] == 0xff00u, "a match gives the lanes with the same value");
    is_int(data[128], 0xf, "those that are active are those in the same line");
    is_int(data[160], 61, "gathered values are those of the mask");
}

static void test_grid(void)
{
    int data[7] = { 0, 1, 2, 3, 4, 5, 6 };
    const test_launch launch = { .grid = { 7 }, .block = { 33 }, .cooperative = true };
    is_int(run_on(GRID, data, 7, launch), SL_OK, "blocks wait for each other");
    ok(data[0] == 5 && data[6] == 4, "and each has its own shared memory");
    fails(GRID, (test_launch){ .grid = { 7 }, .block = { 33 } },
          "lab.lua:15: a grid's sync() needs a launch with cooperative = true",
          "which has to be said at the launch");
}

/* More blocks than their records' bytes can be counted: no machine has memory for them. */
static void test_no_memory(void)
{
    int data[7] = { 0 };
    const test_launch launch = { .grid = { INT32_MAX, 65535, 65535 }, .cooperative = true };
    const sl_status status = run_on(GRID, data, 7, launch);
    ok(status == SL_ENOMEM
           && strcmp(test_err.msg, "out of host memory for 9223090559730712575 blocks") == 0,
       "what a launch's process lacks memory for is no mistake of the kernel: %s", test_err.msg);
}

static void test_stuck(void)
{
    fails(FEW_WAIT, (test_launch){ .grid = { 2 }, .block = { 64 } },
          "lab.lua:12: in block (0,0,0) 40 threads wait at __syncthreads() in line 12, and thread "
          "(40,0,0) has ended: all threads have to get there",
          "a barrier that some threads do not reach");
    fails(TWO_BARRIERS, (test_launch){ .block = { 64 } },
          "lab.lua:12: in block (0,0,0) thread (0,0,0) waits at __syncthreads() in line 12, and 63 "
          "threads wait at __syncthreads() in line 14",
          "two barriers");
    fails(WARP_ELSEWHERE, (test_launch){ .block = { 32 } },
          "16 threads wait at __syncwarp in line 11", "a warp whose other lanes wait elsewhere");
    fails(NO_LANE, (test_launch){ .block = { 16 } },
          "lab.lua:11: thread (0,0,0) of block (0,0,0) shuffles a value from lane 20 of its warp, "
          "which the block does not have",
          "a shuffle from a lane that is not there");
    fails(NOT_IN_MASK, (test_launch){ .block = { 16 } },
          "lab.lua:11: thread (8,0,0) of block (0,0,0) is lane 8 of its warp, which is not in its "
          "mask 0xff",
          "a lane outside of its own mask");
    fails(GRID_PART, (test_launch){ .grid = { 4 }, .block = { 16 }, .cooperative = true },
          "1 blocks have ended, and the others wait at the grid's sync()",
          "a grid's barrier that one block does not reach");
}

static void refused(const char *source, const char *wanted, const char *test)
{
    static const char *const list[] = { "inout i32*", NULL };
    test_kernel *one = test_kernel_new("k", list, source);
    ok(one->status == SL_ECOMPILE && one->custom.log && strstr(one->custom.log, wanted), "%s: %s",
       test, one->custom.log ? one->custom.log : "it compiles");
    test_kernel_free(one);
}

static void test_variables(void)
{
    refused("\n__device__ int count; __global__ void k(int *x) { x[0] = count++; }\n",
            "lab.lua:11:1: error: variable count lies in the GPU's memory and can be changed",
            "a variable in the GPU's memory");
    refused("__global__ void k(int *x) { static int calls; x[0] = calls++; }\n",
            "variable calls lies in", "a variable that a function keeps");
    refused("__global__ void k(int *x) { __shared__ int a[20000]; a[x[0]] = 1; x[1] = a[x[2]]; }\n",
            "80000 bytes of __shared__ variables: a kernel can have 49152",
            "too much shared memory of a known size");
    int data[4] = { 0 };
    run_on(CONSTANTS, data, 4, (test_launch){ .block = { 1 } });
    is_int(data[3], 9, "constants can be read");
}

int main(void)
{
    static const char *const args[] = { "inout i32*", "i32", "i32", NULL };
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    kernel = test_parts_new(args, "", "int *x, int n", parts, PARTS);
    test_barrier();
    test_count();
    test_shared();
    test_warp();
    test_grid();
    test_no_memory();
    test_stuck();
    test_variables();
    test_kernel_free(kernel);
    return done_testing();
}
