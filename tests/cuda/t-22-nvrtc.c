/* t-22-nvrtc.c - core/cuda/nvrtc.c with NVRTC itself, which needs no GPU: names in the code, what is
 * declared of arguments against the parameters, lines of the user's file, architectures, options. */
#include "../../core/cuda/cuda.h"

#include "../tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = "#define N 4\n"
                             "#define T float\n"
                             "#include <cuda_fp16.h>\n"
                             "__global__ void saxpy(float a, const float *__restrict__ x,\n"
                             "                      T *y, int n)\n"
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) y[i] += a * x[i];\n"
                             "}\n"
                             "template <typename E> __global__ void scale(E a, E *x, size_t n)\n"
                             "{\n"
                             "    if (threadIdx.x < n) x[threadIdx.x] *= a;\n"
                             "}\n"
                             "namespace mine { __global__ void half(__half *x, volatile int *i,\n"
                             "                                      const unsigned char *u)\n"
                             "{\n"
                             "    x[*u] = *i;\n"
                             "} }\n"
                             "extern \"C\" __global__ void in(double d, unsigned u, long i) {}\n"
                             "__device__ int answer() { return 42; }\n";

static sl_error err;
static char *log_text;
static sl_image image;

typedef struct spec {
    const char *name, *args[5];
    const char *options[3];
    const char *text; /* NULL: that above */
    int arch;         /* 0: 8.0 */
} spec;

static sl_status build(spec s)
{
    char code[4000], name[100], file[] = "my \"lab\".lua";
    char *options[3] = { NULL };
    sl_custom kernel = { .source = code, .name = name, .file = file, .line = 12 };
    const int arch = s.arch ? s.arch : 80;
    snprintf(code, sizeof code, "%s", s.text ? s.text : source);
    snprintf(name, sizeof name, "%s", s.name);
    while (s.args[kernel.n_args]) {
        if (sl_arg_parse(s.args[kernel.n_args], &kernel.args[kernel.n_args], &err))
            diag("%s", err.msg);
        kernel.n_args++;
    }
    for (; s.options[kernel.n_options]; kernel.n_options++)
        options[kernel.n_options] = (char *)s.options[kernel.n_options];
    kernel.options = options;
    free(log_text);
    free(image.data);
    image = (sl_image){ NULL, 0 };
    err = (sl_error){ 0 };
    sl_status status = cuda_nvrtc_build(&kernel, arch / 10, arch % 10, &image, &err);
    log_text = kernel.log;
    if (status != SL_OK && status != SL_ECOMPILE) diag("%s", err.msg);
    return status;
}

/* The name in the image; "": there is none. */
static const char *lowered(void)
{
    return image.data ? (const char *)image.data + sizeof(cuda_code) : "";
}

/* Where the code begins; "": there is none. */
static const char *code(void)
{
    cuda_code head;
    if (!image.data) return "";
    memcpy(&head, image.data, sizeof head);
    return (const char *)image.data + head.code_at;
}

static bool log_has(const char *text) { return log_text && strstr(log_text, text); }

static void test_names(void)
{
    is_int(build((spec){ .name = "saxpy", .args = { "f32", "in f32*", "inout f32*", "i32" } }),
           SL_OK, "a kernel is compiled, __restrict__ and macros or not");
    is_str(lowered(), "_Z5saxpyfPKfPfi", "the image has its name in the code");
    ok(memcmp(code(), "\177ELF", 4) == 0, "and a cubin");
    ok(((uintptr_t)code() & 15) == 0, "at an address that is aligned");
    is_int(build((spec){ .name = "scale<float>", .args = { "f32", "inout f32*", "u64" } }), SL_OK,
           "so is an instance of a template; size_t is u64");
    is_str(lowered(), "_Z5scaleIfEvT_PS0_m", "under its own name");
    is_int(build((spec){ .name = "mine::half", .args = { "out f16*", "in i32*", "in u8*" } }),
           SL_OK, "in a namespace, with the toolkit's headers");
    is_int(build((spec){ .name = "in", .args = { "f64", "u32", "i64" } }), SL_OK, "long is i64");
    is_str(lowered(), "in", "extern \"C\" keeps the name");
}

static void test_mismatches(void)
{
    is_int(build((spec){ .name = "saxpy", .args = { "f32", "in f32*", "inout f32*" } }),
           SL_ECOMPILE, "another number of arguments does not compile");
    ok(log_has("my \"lab\".lua(15): error: static assertion failed with \"saxpy has not as many "
               "parameters as args, which are 3\""),
       "which is said of the kernel's line");
    is_int(build((spec){ .name = "saxpy", .args = { "f64", "in f32*", "inout f32*", "i32" } }),
           SL_ECOMPILE, "nor does a double for a float");
    ok(log_has("argument 1 of saxpy is declared as \"f64\": its parameter has to be double"),
       "and the argument is named");
    is_int(build((spec){ .name = "saxpy", .args = { "f32", "inout f32*", "inout f32*", "i32" } }),
           SL_ECOMPILE, "nor a written tensor for a const one");
    ok(log_has(
           "argument 2 of saxpy is declared as \"inout f32*\": its parameter has to be float *"),
       "which it says");
    is_int(build((spec){ .name = "saxpy", .args = { "f32", "in f16*", "inout f32*", "u32" } }),
           SL_ECOMPILE, "nor other elements");
    ok(log_has("\"in f16*\": its parameter has to be const __half * (or __half *)")
           && log_has("argument 4 of saxpy is declared as \"u32\""),
       "of which all are named");
    is_int(build((spec){ .name = "saxpy", .args = { "f32", "f32", "inout f32*", "i32" } }),
           SL_ECOMPILE, "nor a number for a pointer");
    is_int(build((spec){ .name = "answer" }), SL_EINVAL, "nor a function that is no kernel");
    is_str(err.msg, "answer is not a __global__ function", "which it says");
    is_int(build((spec){ .name = "nobody", .args = { "f32" } }), SL_ECOMPILE,
           "nor one that is not there");
    ok(log_has("my \"lab\".lua(12): error: identifier \"nobody\" is undefined"), "which it says");
}

static void test_lines(void)
{
    is_int(build((spec){ .name = "f", .text = "__global__ void f()\n{\n    int x = y;\n}\n" }),
           SL_ECOMPILE, "a wrong source does not compile");
    ok(log_has("my \"lab\".lua(14): error: identifier \"y\" is undefined\n"
               "      int x = y;\n"
               "              ^\n"),
       "its lines are those of the user's file");
    ok(image.data == NULL, "and there is no image");
    is_int(build((spec){ .name = "f", .text = "__global__ void f() {} // no end of line" }), SL_OK,
           "a comment may end the source");
}

static void test_options(void)
{
    static const char tiled[] = "__global__ void f() { static_assert(TILE == 16, \"\"); }";
    is_int(build((spec){ .name = "f", .text = tiled, .options = { "-DTILE=16" } }), SL_OK,
           "options are passed on");
    is_int(build((spec){ .name = "f", .text = tiled, .options = { "--nonsense" } }), SL_EINVAL,
           "one that NVRTC does not know is refused");
    is_str(err.msg, "options: unrecognized option --nonsense found", "in its words");
    is_int(
        build((spec){ .name = "f",
                      .text = "__global__ void f() { static_assert(__cplusplus == 201402L, \"\"); "
                              "}",
                      .options = { "--std=c++14" } }),
        SL_OK, "the user's standard takes the place of ours");
    is_int(build((spec){ .name = "f",
                         .text = "__global__ void f() {}",
                         .options = { "--gpu-architecture=compute_90" } }),
           SL_OK, "and so does an architecture");
    ok(strstr(code(), ".target sm_90") != NULL, "which may give PTX");
}

static void test_architectures(void)
{
    static const char empty[] = "__global__ void f() {}";
    is_int(build((spec){ .name = "f", .text = empty, .arch = 999 }), SL_OK,
           "for a GPU that is newer than NVRTC");
    ok(strstr(code(), ".visible .entry _Z1fv") != NULL, "there is PTX, which its driver compiles");
    is_int(build((spec){ .name = "f", .text = empty, .arch = 20 }), SL_EUNSUPPORTED,
           "one that is too old is refused");
    ok(strncmp(err.msg, "NVRTC ", 6) == 0 && strstr(err.msg, "and the GPU's is 2.0"),
       "in a sentence with both: %s", err.msg);
}

/* What nvcc has without being asked, and NVRTC lacks. */
static void test_usual_names(void)
{
    static const char *const texts[] = {
        "#include <stdint.h>\n#include <math.h>\n#include <cuda_runtime.h>\n"
        "__global__ void f(float *x) { *x = -INFINITY + (float)(uint32_t)sizeof(int64_t); }",
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
        "__global__ void f(float *x) { *x = __half2float(__float2half(NAN)); }",
        "#include <cooperative_groups.h>\n"
        "__global__ void f(float *x) { cooperative_groups::this_thread_block().sync(); *x = 1; }",
        "typedef unsigned int uint32_t;\n#include <math_constants.h>\n"
        "__global__ void f(float *x) { *x = (uint32_t)CUDART_PI_F; }",
        "#include <float.h>\n#include <cfloat>\n#include <limits.h>\n#include <climits>\n"
        "#include <cstdint>\n#include <cstddef>\n#include <assert.h>\n#include <cassert>\n"
        "#include <stdio.h>\n#include <cstdio>\n#include <stddef.h>\n"
        "__global__ void f(float *x) { assert(*x < FLT_MAX); *x = DBL_EPSILON + (INT_MIN + 1.0f);"
        " static_assert(LONG_MAX > INT_MAX && ULLONG_MAX > LLONG_MAX, \"\"); printf(\"%f\", *x); }",
        "#include <stdint.h>\n#include <cstdint>\n#include <cstring>\n"
        "__global__ void f(float *x) { uint64_t n[2] = { UINT64_MAX, 4 }; atomicAdd(n, 6);"
        " memset(x, 0, 4); memcpy(n + 1, n, sizeof *n); *x = n[1] + max((std::int64_t)3, 2ll); }",
        "#include <cmath>\n#include <math.h>\n"
        "__global__ void f(float *x) { *x = std::sqrt(*x) + std::pow(2.0f, 3) + M_PI; }",
        "#include <type_traits>\n#include <limits>\n"
        "__global__ void f(float *x) { *x = std::is_same<float, int>::value"
        " + std::numeric_limits<float>::max(); }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sl_status status = build((spec){ .name = "f", .args = { "out f32*" }, .text = texts[i] });
        is_int(status, SL_OK, "usual names and headers, %d", (int)i + 1);
        if (status && log_text) diag("%s", log_text);
    }
}

int main(void)
{
    sl_error why;
    if (!cuda_library_open(CUDA_NVRTC, &why)) {
        printf("1..0 # SKIP %s\n", why.msg);
        return 0;
    }
    plan(0);
    test_names();
    test_mismatches();
    test_lines();
    test_options();
    test_architectures();
    test_usual_names();
    free(log_text);
    free(image.data);
    return done_testing();
}
