/* t-36-headers.c - what a kernel may include, and what it may name: that a source which NVRTC takes
 * (tests/cuda/t-22-nvrtc.c has these headers too) is taken here, and one that it refuses is not. */
#include "kernel.h"

static const char *const args[] = { "inout f32*", NULL };

static test_kernel *make(const char *text) { return test_kernel_new("f", args, text); }

/* What it leaves in x[0], which was 2; NAN if it fails. */
static double result_of(const char *text)
{
    test_kernel *kernel = make(text);
    float x[8] = { 2 };
    const test_arg arg = test_tensor(x, sizeof x);

    sl_status status = kernel->status ? kernel->status : test_run(kernel, (test_launch){ 0 }, &arg);
    test_kernel_free(kernel);
    return status ? 0.0 / 0.0 : x[0];
}

static void test_headers(void)
{
    is_double(result_of("#include <stdint.h>\n#include <stddef.h>\n#include <cstdint>\n"
                        "#include <cstddef>\n#include <cuda_runtime.h>\n"
                        "#include <device_launch_parameters.h>\n#include <assert.h>\n"
                        "#include <cassert>\n#include <stdio.h>\n#include <cstdio>\n"
                        "__global__ void f(float *x) { *x += (uint32_t)sizeof(int64_t); }"),
              10, 0, "headers of types, and those that are empty");
    is_double(result_of("#include <stdint.h>\n#include <cstdint>\n"
                        "__global__ void f(float *x) {\n"
                        "    uint64_t n[2] = { UINT64_MAX, 4 }; atomicAdd(n, 6);\n"
                        "    memset(x, 0, 4); memcpy(n + 1, n, sizeof *n);\n"
                        "    *x = n[1] + max((std::int64_t)3, 2ll); }"),
              8, 0, "numbers of 64 bits are what CUDA's functions take");
    is_double(
        result_of(
            "#include <float.h>\n#include <limits.h>\n#include <cfloat>\n"
            "#include <climits>\n#include <limits>\n"
            "__global__ void f(float *x) { *x = FLT_MAX > 1 && std::numeric_limits<int>::max() == INT_MAX; }"),
        1, 0, "limits of types");
    is_double(result_of("#include <math.h>\n#include <cmath>\n#include <type_traits>\n"
                        "__global__ void f(float *x) {\n"
                        "    *x = std::sqrt(*x * 8) + std::pow(2.0f, 3) + (M_PI > 3)\n"
                        "         + std::is_same<float, float>::value + std::abs(-2); }"),
              16, 0, "functions of std, and traits");
    is_double(result_of("#include <math_constants.h>\n"
                        "__global__ void f(float *x) { *x = 1 / CUDART_INF_F + CUDART_ONE_F; }"),
              1, 0, "CUDA's constants");
    is_double(result_of("#define N 4\n#define T float\n#define M 3\n#include <cuda_fp16.h>\n"
                        "#include \"cuda_bf16.h\"\n#include <cooperative_groups.h>\n"
                        "#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n"
                        "#include <cooperative_groups/reduce.h>\n"
                        "__global__ void f(T *x) { *x = __half2float(__float2half(N)) + M; }"),
              7, 0, "CUDA's headers, twice, after macros with short names");
    is_double(result_of("/* #include <mma.h> */\n#if 0\n#include <nothing.h>\n#endif\n"
                        "__global__ void f(float *x) { *x = __LINE__; }"),
              14, 0, "what is not compiled is not included");
    is_double(
        result_of("#if !defined __CUDACC__ || __CUDA_ARCH__ < 700 || __CUDACC_VER_MAJOR__ < 11\n"
                  "#error\n#endif\n"
                  "__global__ void __launch_bounds__(64) __maxnreg__(32) f(float *x) { *x = 5; }"),
        5, 0, "macros of CUDA's compiler");
}

static bool is_refused(const char *text, const char *words)
{
    test_kernel *kernel = make(text);
    bool found = kernel->status == SL_ECOMPILE && kernel->custom.log
                 && strstr(kernel->custom.log, words);

    if (!found) diag("%d: %s", (int)kernel->status, kernel->custom.log ? kernel->custom.log : "");
    test_kernel_free(kernel);
    return found;
}

#define BODY(text) "__global__ void f(float *x)\n{\n    " text "\n}\n"

static void test_refused(void)
{
    ok(is_refused("\n#include <mma.h>\n" BODY(""), "<mma.h> is for a real GPU"),
       "mma.h is refused with a reason");
    ok(is_refused("\n#include <mma.h>\n" BODY(""), "lab.lua:11:2: error:"),
       "and with the line that includes it");
    ok(is_refused("#include <cuda/std/atomic>\n" BODY(""), "<cuda/std/atomic> is for a real GPU"),
       "and so are headers of cuda/std");
    ok(is_refused("#include <stdlib.h>\n" BODY(""), "<stdlib.h> is for the host: a GPU has"),
       "and headers of the host");
    ok(is_refused(BODY("*x = sqrt(threadIdx.x);"), "lab.lua:12:"),
       "the square root of an integer is ambiguous, as it is for NVRTC");
    ok(is_refused(BODY("*x = max(1, 2.0f);"), "lab.lua:12:"), "and so is max of int and float");
    ok(is_refused(BODY("*x = std::sqrt(2.0f);"), "lab.lua:12:"),
       "std has no functions without cmath");
    ok(is_refused(BODY("__half h;"), "lab.lua:12:"), "__half needs its header");
    ok(is_refused("#include <cuda_fp16.h>\n" BODY("__half h = 1; *x = h + 1.0f;"), "lab.lua:13:"),
       "a sum of half and float is ambiguous, as it is for NVRTC");
    ok(is_refused("#include <cooperative_groups.h>\n" BODY(
                      "auto b = cooperative_groups::this_thread_block();"
                      " auto t = cooperative_groups::tiled_partition<24>(b);"),
                  "a tile has 1, 2, 4"),
       "a tile of 24 threads is refused");
}

int main(void)
{
    plan(0);
    if (test_lacks_compiler()) {
        skip(1, "%s", test_err.msg);
        return done_testing();
    }
    test_headers();
    test_refused();
    return done_testing();
}
