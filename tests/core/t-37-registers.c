/* t-37-registers.c - which registers and shared memory a kernel takes, as far as its source says. */
#include "fake_backend.h"

#include "../../core/custom/custom_kernel.h"
#include "../tap.h"

static int arrays(const char *source, const char *name)
{
    sl_custom kernel = { .source = (char *)source, .name = (char *)name };
    sl__find_arrays(&kernel);
    return kernel.array_registers;
}

/* Of a kernel `f` whose body is given. */
static int body(const char *statements)
{
    static char source[1024];
    snprintf(source, sizeof source, "__global__ void f(float *p, int n)\n{\n%s\n}\n", statements);
    return arrays(source, "f");
}

static void test_counted(void)
{
    is_int(body("float sum[8][8] = {}, a[8], b[8];"), 80, "8 x 8 + 8 + 8");
    is_int(body("float a[4] = { 1, 2 }; int b[3];"), 7, "of two declarations");
    is_int(body("const double a[4];"), 8, "a double takes two");
    is_int(body("float4 a[2];"), 8, "and a float4 four");
    is_int(body("for (int i = 0; i < n; i++) { float a[16]; p[i] = a[i % 16]; }"), 16,
           "in a block of its own");
    is_int(body("const int M = 4; float a[M], b[M * 2];"), 4,
           "a size with a name; what is computed is not known");
    is_int(arrays("#define M 4\n__global__ void f(float *p) { float a[M][M]; }", "f"), 16,
           "a size that is defined");
    is_int(arrays("template <class T> __global__ void f(T *p) { float a[5]; }", "f<float>"), 5,
           "of a template");
    is_int(arrays("__global__ void f(float *p);\n__global__ void f(float *p) { float a[6]; }", "f"),
           6, "declared before");
    is_int(arrays("__global__ void g(float *p) { float a[9]; }\n"
                  "__global__ void f(float *p) { float a[6]; }",
                  "f"),
           6, "not those of other kernels");
}

static void test_not_counted(void)
{
    is_int(body("float a = p[8], b = p[4];"), 0, "what is read is no array");
    is_int(body("float a = g(p[8], p[4]);"), 0, "nor what a function gets");
    is_int(body("p[8] = 1; a[4] = 2;"), 0, "nor what is written");
    is_int(body("__shared__ float a[32];"), 0, "shared memory is no register");
    is_int(body("extern __shared__ float a[];"), 0, "nor is what the launch asks for");
    is_int(body("float a[n], b[T];"), 0, "sizes of which nothing is known");
    is_int(body("float a[16][16];"), 0, "more than fit lie in memory");
    is_int(body("float a[128]; float b[128];"), 0, "also in all");
    is_int(body("float a[4"), 0, "a source that ends");
    is_int(body("// float a[4];\n/* float b[4]; */"), 0, "comments");
    is_int(arrays("__global__ void f(float p[4]) {}", "f"), 0, "a parameter");
    is_int(arrays("", "f"), 0, "no source to speak of");
    is_int(arrays(NULL, "f"), 0, "none");
}

/* -1: not known, as create.c has it before. */
static int shared_bytes(const char *statements)
{
    static char source[1024];
    snprintf(source, sizeof source, "__global__ void f(float *p, int n)\n{\n%s\n}\n", statements);
    sl_custom kernel = { .source = source, .name = "f", .info = { .shared_bytes = -1 } };
    sl__find_arrays(&kernel);
    ok(kernel.declares_shared == (strstr(statements, "__shared__") != NULL), "is there any: %s",
       statements);
    return (int)kernel.info.shared_bytes;
}

static void test_shared(void)
{
    is_int(shared_bytes("__shared__ float a[32][33];"), 4 * 32 * 33, "an array");
    is_int(shared_bytes("__shared__ int a[4], sum; __shared__ double b[2];"), 4 * 5 + 16,
           "arrays and a number");
    is_int(shared_bytes("__shared__ unsigned int a[256]; float b[4];"), 1024, "of two words");
    is_int(shared_bytes("const int M = 300;\n__shared__ float a[M];"), 1200, "a size with a name");
    is_int(shared_bytes("if (n) { __shared__ float a[8]; }"), 32, "in a block of its own");
    is_int(shared_bytes("float a[8];"), -1, "none");
    is_int(shared_bytes("extern __shared__ float a[];"), -1, "the launch says how large");
    is_int(shared_bytes("__shared__ float a[8]; __shared__ T b[8];"), -1, "a type not known");
    is_int(shared_bytes("__shared__ T b[8]; __shared__ float a[8];"), -1, "nor if it comes first");
    is_int(shared_bytes("#ifdef A\n__shared__ float a[8];\n#else\n__shared__ float a[16];\n#endif"),
           -1, "what the preprocessor leaves out");
    is_int(shared_bytes("#pragma unroll\n__shared__ float a[8];"), 32,
           "a pragma leaves out nothing");
    is_int(shared_bytes("__shared__ unsigned char a[8];"), -1, "of bytes");
    is_int(shared_bytes("__shared__ float a[2 * 8];"), -1, "a size that is computed");
    is_int(shared_bytes("__shared__ float a[16384], b;"), -1, "more than an SM has");
    is_int(shared_bytes("__shared__ float a[16384]; __shared__ float b;"), -1, "in two statements");
    is_int(shared_bytes("__shared__ float a[99999999999];"), -1, "far more");
    is_int(shared_bytes("__shared__ float a[8"), -1, "a source that ends");
    is_int(shared_bytes("__shared__"), -1, "at once");
}

/* Each look for a name reads the source: of a stranger's there may be many. */
static void test_many_names(void)
{
    enum { MANY = 100, BYTES = 64 };
    static char statements[MANY * BYTES];
    static char source[sizeof statements + 256];
    for (int i = 0; i < MANY; i++)
        strcat(statements, "float a[N];\n");
    snprintf(source, sizeof source, "#define N 1\n__global__ void f()\n{\n%s\n}\n", statements);
    is_int(arrays(source, "f"), 64, "so many names of sizes are looked for, and no more");
}

static void test_registers(void)
{
    sl_custom kernel = { .array_registers = 80 };
    is_int(sl_custom_registers(&kernel), -80, "a guess");
    kernel.info.registers = 142;
    is_int(sl_custom_registers(&kernel), 142, "what is known is known");
    kernel = (sl_custom){ .array_registers = 0 };
    is_int(sl_custom_registers(&kernel), 0, "no arrays: nothing is known");
}

int main(void)
{
    plan(0);
    test_counted();
    test_not_counted();
    test_shared();
    test_many_names();
    test_registers();
    return done_testing();
}
