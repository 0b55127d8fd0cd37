/* t-36-headers.c - what a kernel may include, and what it may name: that a source which NVRTC takes
 * (tests/cuda/t-22-nvrtc.c has these headers too) is taken here, and one that it refuses is not. */
#include "kernel.h"

static const char *const args[] = { "inout f32*", NULL };

static test_kernel *make(const char *text) { return test_kernel_new("f", args, text); }

static sl_status run(float x[8], const char *text)
{
    test_kernel *kernel = make(text);
    const test_arg arg = test_tensor(x, 8 * sizeof *x);
    sl_status status = kernel->status ? kernel->status : test_run(kernel, (test_launch){ 0 }, &arg);
    test_kernel_free(kernel);
    return status;
}

static void test_headers(void)
{
    float x[8] = { 2, 2, 2, 2 };
    is_int(run(x, "#include <stdint.h>\n#include <stddef.h>\n#include <cstdint>\n"
                  "#include <cstddef>\n#include <cuda_runtime.h>\n"
                  "#include <device_launch_parameters.h>\n#include <assert.h>\n"
                  "#include <cassert>\n#include <stdio.h>\n#include <cstdio>\n"
                  "#include <float.h>\n#include <limits.h>\n#include <cfloat>\n"
                  "#include <climits>\n#include <limits>\n#include <math_constants.h>\n"
                  "/* #include <mma.h> */\n#if 0\n#include <nothing.h>\n#endif\n"
                  "#if !defined __CUDACC__ || __CUDA_ARCH__ < 700 || __CUDACC_VER_MAJOR__ < 11\n"
                  "#error\n#endif\n"
                  "__global__ void __launch_bounds__(64) __maxnreg__(32) f(float *x) {\n"
                  "    x[0] += (uint32_t)sizeof(int64_t);\n"
                  "    uint64_t n[2] = { UINT64_MAX, 4 }; atomicAdd(n, 6);\n"
                  "    memset(x + 1, 0, 4); memcpy(n + 1, n, sizeof *n);\n"
                  "    x[1] += n[1] + max((std::int64_t)3, 2ll);\n"
                  "    x[2] = FLT_MAX > 1 && std::numeric_limits<int>::max() == INT_MAX;\n"
                  "    x[3] = 1 / CUDART_INF_F + CUDART_ONE_F;\n"
                  "    x[4] = __LINE__;\n"
                  "}"),
           SL_OK, "headers are there, and macros of CUDA's compiler");
    is_double(x[0], 10, 0, "headers of types, and those that are empty");
    is_double(x[1], 8, 0, "numbers of 64 bits are what CUDA's functions take");
    is_double(x[2], 1, 0, "limits of types");
    is_double(x[3], 1, 0, "CUDA's constants");
    is_double(x[4], 40, 0, "what is not compiled is not included");
    x[0] = 2;
    is_int(run(x, "#include <math.h>\n#include <cmath>\n#include <type_traits>\n"
                  "__global__ void f(float *x) {\n"
                  "    *x = std::sqrt(*x * 8) + std::pow(2.0f, 3) + (M_PI > 3)\n"
                  "         + std::is_same<float, float>::value + std::abs(-2); }"),
           SL_OK, "functions of std, and traits");
    is_double(x[0], 16, 0, "and have the right values");
    is_int(run(x, "#define N 4\n#define T float\n#define M 3\n#include <cuda_fp16.h>\n"
                  "#include \"cuda_bf16.h\"\n#include <cooperative_groups.h>\n"
                  "#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n"
                  "#include <cooperative_groups/reduce.h>\n"
                  "__global__ void f(T *x) { *x = __half2float(__float2half(N)) + M; }"),
           SL_OK, "CUDA's headers, twice, after macros with short names");
    is_double(x[0], 7, 0, "and have the right values");
}

/* It fails to compile, and each of the words, up to NULL, is in one of the messages. */
static void refused(const char *text, const char *const (*words)[2])
{
    test_kernel *kernel = make(text);
    const char *log = kernel->custom.log ? kernel->custom.log : "";
    is_int(kernel->status, SL_ECOMPILE, "a source does not compile");
    for (; (*words)[0]; words++)
        if (!ok(strstr(log, (*words)[0]) != NULL, "%s", (*words)[1])) diag("%s", log);
    test_kernel_free(kernel);
}

static void test_refused(void)
{
    static const char *const headers[][2] = {
        { "<mma.h> is for a real GPU", "mma.h is refused with a reason" },
        { "lab.lua:11:2: error:", "and with the line that includes it" },
        { "<cuda/std/atomic> is for a real GPU", "and so are headers of cuda/std" },
        { "<stdlib.h> is for the host: a GPU has", "and headers of the host" },
        { NULL, NULL },
    };
    static const char *const plain[][2] = {
        { "lab.lua:12:", "the square root of an integer is ambiguous, as it is for NVRTC" },
        { "lab.lua:13:", "and so is max of int and float" },
        { "lab.lua:14:", "std has no functions without cmath" },
        { "lab.lua:15:", "__half needs its header" },
        { NULL, NULL },
    };
    static const char *const library[][2] = {
        { "lab.lua:13:", "a sum of half and float is ambiguous, as it is for NVRTC" },
        { "a tile has 1, 2, 4", "a tile of 24 threads is refused" },
        { NULL, NULL },
    };
    refused("\n#include <mma.h>\n#include <cuda/std/atomic>\n#include <stdlib.h>\n"
            "__global__ void f(float *x) {}\n",
            headers);
    refused("__global__ void f(float *x)\n{\n"
            "    *x = sqrt(threadIdx.x);\n"
            "    *x = max(1, 2.0f);\n"
            "    *x = std::sqrt(2.0f);\n"
            "    __half h;\n"
            "}\n",
            plain);
    refused("#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n"
            "__global__ void f(float *x) {\n"
            "    __half h = 1; *x = h + 1.0f;\n"
            "    auto b = cooperative_groups::this_thread_block();\n"
            "    auto t = cooperative_groups::tiled_partition<24>(b);\n"
            "}\n",
            library);
}

int main(void)
{
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    test_headers();
    test_refused();
    return done_testing();
}
