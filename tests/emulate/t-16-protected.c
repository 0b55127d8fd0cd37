/* t-16-protected.c - what a kernel cannot change of the program around it: the variables that tell
 * threads apart, the text behind its source, how its process ends, what is checked. */
#include "kernel.h"

static const char *const args[] = { "in f32*", "out f32*", "i32", NULL };

enum { N = 1000 };
static float x[N], y[N];

/* With so many blocks of 256 threads. */
static sl_status run(test_kernel *kernel, uint32_t blocks)
{
    const test_arg values[] = { test_tensor(x, sizeof x), test_tensor(y, sizeof y), test_i32(N) };
    const test_launch launch = { .grid = { blocks }, .block = { 256 } };
    for (int i = 0; i < N; i++)
        x[i] = (float)i, y[i] = -1;
    return test_run(kernel, launch, values);
}

static bool is_doubled(void)
{
    for (int i = 0; i < N; i++)
        if (y[i] != 2 * (float)i) return false;
    return true;
}

/* A kernel of that body, with that text in front of it and behind it. */
static test_kernel *make(const char *before, const char *body, const char *behind)
{
    static char source[4096]; /* the kernel refers to it */
    snprintf(source, sizeof source,
             "%s\n__global__ void twice(const float *x, float *y, int n)\n"
             "{\n"
             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "    if (i < n) y[i] = 2 * x[i];\n"
             "%s\n}\n%s",
             before, body, behind);
    return test_kernel_new("twice", args, source);
}

static void test_refused(const char *body, const char *words, const char *name)
{
    test_kernel *kernel = make("", body, "");
    is_int(run(kernel, 4), SL_EKERNEL, "%s", name);
    ok(strstr(test_err.msg, words), "and it says so: %s", test_err.msg);
    ok(y[0] == -1, "nothing is changed");
    test_kernel_free(kernel);
}

static void test_index(void)
{
    test_refused("threadIdx.x = 0;", "(0,0,0) of block (0,0,0) writes a variable that is not the",
                 "threadIdx is not written");
    test_refused("*(volatile unsigned *)&gridDim.y = 2;", "writes a variable that is not the",
                 "nor is gridDim by a pointer");
    test_refused("for (int k = -64; k < 64; k++) y[0] += ((volatile unsigned *)&threadIdx.x)[k];",
                 "reads a variable that is not the", "nor is what lies beside them read");
    test_refused("atomicAdd(&threadIdx.x, 1u);", "a variable that is not the",
                 "nor added to by an atomic");
    test_refused("if (i == 5) printf(\"%d%5$hhn\\n\", n);", "printf with %n",
                 "printf does not write to memory");
}

static void test_macros(void)
{
    static const char macros[] =
        "#define n 3\n#define x (\n#define unsigned float\n"
        "#define static\n#define threadIdx blockIdx\n"
        "#define noinline\n#define always_inline\n#define section(name)\n"
        "#define const\n#define return for (;;) return\n"
        "#define call_kernel(a) (void)0\n#define if while\n#define auto int";
    test_kernel *kernel = make("", "", macros);
    is_int(kernel->status, SL_OK, "macros behind a kernel change nothing of what calls it");
    is_int(run(kernel, 4), SL_OK, "it runs");
    ok(is_doubled(), "with the right values");
    is_int(run(kernel, 4000), SL_OK, "so does a large launch");
    ok(is_doubled(), "with the same values");
    test_kernel_free(kernel);
}

/* Definitions change the source alone, not what stands in front of it: as an attribute of what checks
 * an access `const` would take the check out. */
static void test_options(void)
{
    static char *options[] = {
        "-Dnoinline=const", "-D__noinline__=", "-DTWO=2", "-DONE",           "-D",
        "THREE=3",          "-Dif=while",      "-Uif",    "-DADD(a)=(a + 1)"
    };
    static const char source[] =
        "__global__ void twice(const float *x, float *y, int n)\n"
        "{\n"
        "    if (threadIdx.x == 0) y[0] = ONE + TWO * 10 + THREE * 100 + 1000 * ADD(3);\n"
        "    if (n < 0 && threadIdx.x < 2) y[1] = threadIdx.x;\n"
        "}\n";
    test_kernel kernel = { .custom = { .device = &test_device,
                                       .name = (char *)"twice",
                                       .source = (char *)source,
                                       .file = "lab.lua",
                                       .line = 10,
                                       .options = options,
                                       .n_options = sizeof options / sizeof *options } };
    test_arg values[] = { test_tensor(x, sizeof x), test_tensor(y, sizeof y), test_i32(N) };
    const test_launch launch = { .grid = { 1 }, .block = { 32 } };
    for (int i = 0; i < 3; i++)
        sl_arg_parse(args[i], &kernel.custom.args[kernel.custom.n_args++], &test_err);
    kernel.status = sl_emulate_build(&kernel.custom, &kernel.image, &test_err);
    if (!kernel.status)
        kernel.status = sl_emulate_open(&kernel.custom, &kernel.image, &kernel.emulated, &test_err);
    is_int(kernel.status, SL_OK, "definitions are the source's: %s",
           kernel.custom.log ? kernel.custom.log : "");
    is_int(test_run(&kernel, launch, values), SL_OK, "it runs");
    is_double(y[0], 4321, 0, "with their values");
    values[2] = test_i32(-1);
    is_int(test_run(&kernel, launch, values), SL_EKERNEL, "and what it writes is checked");
    sl_emulate_close(kernel.emulated);
    free(kernel.image.data);
    free(kernel.custom.log);
}

/* What rewrites declarations of dynamic shared memory reads the comment as the compiler does: a symbol of
 * that name would take the place of the function's. */
static void test_comment(void)
{
    test_kernel *kernel = make("// a comment \\\nextern __shared__ float expf[];",
                               "if (i == 0) y[0] = expf(x[0]);", "// the last line \\");
    is_int(kernel->status, SL_OK, "a comment that goes on declares nothing");
    is_int(run(kernel, 4), SL_OK, "the kernel runs");
    is_double(y[0], 1, 0, "and its functions are C's");
    test_kernel_free(kernel);
    kernel = make("", "", "/* without end");
    is_int(kernel->status, SL_ECOMPILE, "a comment without end is an error");
    ok(kernel->custom.log
           && strstr(kernel->custom.log, "lab.lua:17:1: error: a comment has no end"),
       "in its line: %s", kernel->custom.log ? kernel->custom.log : "");
    test_kernel_free(kernel);
}

/* The linker's message would name files of its own. */
static void test_missing(void)
{
    test_kernel *kernel = make("__device__ float half_of(float);", "y[0] = half_of(x[1]);", "");
    is_int(kernel->status, SL_ECOMPILE, "a function without a definition is an error");
    is_str(kernel->custom.log ? kernel->custom.log : "",
           "lab.lua:10:1: error: half_of(float) is declared, and defined nowhere\n",
           "which names it and its line");
    test_kernel_free(kernel);
}

static void test_end(void)
{
    test_kernel *kernel = make("extern \"C\" void _exit(int);", "if (i == n - 1) _exit(0);", "");
    is_int(run(kernel, 4), SL_EKERNEL, "a launch whose process ends early has failed");
    ok(strstr(test_err.msg, "its process ended before its blocks did"), "the message says it: %s",
       test_err.msg);
    is_int(run(kernel, 4000), SL_EKERNEL, "so has a large one");
    ok(y[0] == -1, "nothing is changed");
    test_kernel_free(kernel);
}

/* Where the variables lie is the same in the checked build, which small launches run in, and in the
 * fast one. */
static void test_builds(void)
{
    test_kernel *kernel = make("",
                               "__shared__ float a[4], b[4];\n"
                               "if (i == 0) y[0] = (float)((char *)b - (char *)a);",
                               "");
    float checked;
    is_int(run(kernel, 4), SL_OK, "a small launch");
    checked = y[0];
    is_int(run(kernel, 4000), SL_OK, "a large launch");
    ok(checked != 0 && y[0] == checked, "variables lie as far from each other in both");
    test_kernel_free(kernel);
}

int main(void)
{
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    test_index();
    test_macros();
    test_options();
    test_comment();
    test_missing();
    test_end();
    test_builds();
    return done_testing();
}
