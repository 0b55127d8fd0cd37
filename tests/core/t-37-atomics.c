/* t-37-atomics.c - which tensors only atomic functions touch, as far as a kernel's source says. */
#include <string.h>

#include "fake_backend.h"

#include "../../core/custom/custom_kernel.h"
#include "../tap.h"

/* Which of the kernel's tensors are atomic, as "10": the first one is. Its arguments are inout, as many as
 * given. */
static const char *atomic(const char *source, const char *name, uint32_t n, const char *option)
{
    static char text[SL_MOST_ARGS + 1];
    char *options[] = { (char *)option };
    sl_custom kernel = { .source = (char *)source,
                         .name = (char *)name,
                         .options = options,
                         .n_options = option != NULL,
                         .n_args = n };
    for (uint32_t i = 0; i < n; i++)
        kernel.args[i].access = SL_READS | SL_WRITES;
    sl__find_atomics(&kernel);
    for (uint32_t i = 0; i < n; i++)
        text[i] = kernel.args[i].access & SL_ATOMIC ? '1' : '0';
    text[n] = '\0';
    return text;
}

/* Of a kernel `f` with the tensors p and q, whose body is given. */
static const char *body(const char *statements)
{
    static char source[1024];
    snprintf(source, sizeof source, "__global__ void f(int *p, int *q) {\n%s\n}\n", statements);
    return atomic(source, "f", 2, NULL);
}

static void test_bodies(void)
{
    is_str(body("atomicAdd(&p[threadIdx.x], 1);"), "10", "atomicAdd of an element");
    is_str(body("atomicAdd(p, 1);"), "10", "of the first one");
    is_str(body("atomicAdd(p + threadIdx.x, 1);"), "10", "of one further on");
    is_str(body("atomicMax_system(&p[0], 1); atomicCAS(&q[1], 0, 1);"), "11", "of two tensors");
    is_str(body("int old = atomicAdd(&p[0], 1); if (old) return;"), "10", "and what it gives");
    is_str(body("for (int i = 0; i < 2; i++) { atomicAdd(&p[i], 1); }"), "10", "in a loop");
    is_str(body("/* p[0] = 1; */ atomicAdd(&p[0], 1); // p[1]"), "10", "a comment is no use");
    is_str(body("atomicAdd(&p[q[0]], 1);"), "10", "an index that is read from another one");
    is_str(body("atomicAdd(&p[0], q[0]);"), "10", "a number that is read from another one");
    is_str(body("atomicAdd(&p[0], 1); p[1] = 2;"), "00", "not if it is written as well");
    is_str(body("atomicAdd(&p[0], p[1]);"), "00", "nor if it is read as well");
    is_str(body("atomicAdd(&p[p[0]], 1);"), "00", "nor for its own index");
    is_str(body("int *r = p; atomicAdd(&p[0], 1); r[0] = 1;"), "00",
           "nor if the pointer is copied");
    is_str(body("add(p); atomicAdd(&p[0], 1);"), "00", "nor if another function gets it");
    is_str(body("atomicAdd_block(&p[0], 1);"), "00", "nor among the threads of a block alone");
    is_str(body("atomicWhatever(&p[0], 1);"), "00", "nor by a function that is not CUDA's");
    is_str(body("x.atomicAdd(&p[0], 1);"), "00", "nor by a method");
    is_str(body("atomicAdd(&p[0] == q ? p : q, 1);"), "00", "nor where the address is chosen");
    is_str(body("q[0] = 1;"), "00", "nor if it is not touched at all");
}

static void test_sources(void)
{
    static const char plain[] = "__global__ void f(int *p) { atomicAdd(&p[0], 1); }\n";
    is_str(atomic(plain, "f", 1, NULL), "1", "a whole source");
    is_str(atomic(plain, "g", 1, NULL), "0", "not of another kernel");
    is_str(atomic(plain, "f", 2, NULL), "00", "nor with other arguments");
    is_str(atomic(plain, "f", 1, "-DN=4"), "1", "a macro of the options is fine");
    is_str(atomic(plain, "f", 1, "-DX=p"), "0", "unless it uses the name");
    is_str(atomic(plain, "f", 1, "-DatomicAdd=add"), "0", "or that of the function");
    is_str(atomic("#define N 4\n__global__ void f(int *p) { atomicAdd(&p[N], 1); }", "f", 1, NULL),
           "1", "so is one of the source");
    is_str(atomic("#define X p\n__global__ void f(int *p) { atomicAdd(&p[0], 1); X[0] = 1; }", "f",
                  1, NULL),
           "0", "unless it uses the name");
    is_str(atomic("#define atomicAdd(a, b) (*(a) += b)\n"
                  "__global__ void f(int *p) { atomicAdd(&p[0], 1); }",
                  "f", 1, NULL),
           "0", "or that of the function");
    is_str(atomic("__device__ int atomicAdd(int *a, int b) { return *a += b; }\n"
                  "__global__ void f(int *p) { atomicAdd(&p[0], 1); }",
                  "f", 1, NULL),
           "0", "a function of the source is not CUDA's");
    is_str(atomic("__global__ void f(int *p);\n"
                  "__device__ void g(int *p) { p[0] = 1; }\n"
                  "__global__ void f(int *p) { atomicAdd(&p[0], 1); }",
                  "f", 1, NULL),
           "1", "a declaration comes before, and other functions have names of their own");
    is_str(atomic("template <typename T> __global__ void f(T *p) { atomicAdd(&p[0], T(1)); }",
                  "f<float>", 1, NULL),
           "1", "a template");
    is_str(atomic("template <typename T> __global__ void f(T *p) { atomicAdd(&p[0], 1); }\n"
                  "template <> __global__ void f<int>(int *p) { p[0] = 1; }",
                  "f<int>", 1, NULL),
           "0", "not one with cases of its own");
    is_str(atomic("__global__ void f(int *p) { atomicAdd(&p[0], 1'000); }", "f", 1, NULL), "0",
           "nor a source that is not read in one way");
    is_str(atomic("__global__ void f(int *p) { atomicAdd(&p[0", "f", 1, NULL), "0",
           "nor half of one");
    is_str(atomic(NULL, "f", 1, NULL), "0", "nor none");
}

static void test_declared(void)
{
    sl_custom kernel = {
        .source = (char *)"__global__ void f(int *p, int *q, int n)"
                          "{ atomicAdd(p, 1); atomicExch(q, 2); atomicAdd(n, 1); }",
        .name = (char *)"f",
        .n_args = 3
    };
    kernel.args[0].access = SL_READS | SL_WRITES;
    kernel.args[1].access = SL_WRITES;
    sl__find_atomics(&kernel);
    is_int(kernel.args[0].access, SL_READS | SL_WRITES | SL_ATOMIC,
           "what is declared inout is atomic");
    is_int(kernel.args[1].access, SL_WRITES, "what is declared out is written");
    is_int(kernel.args[2].access, 0, "a number stays one");
}

int main(void)
{
    plan(0);
    test_bodies();
    test_sources();
    test_declared();
    return done_testing();
}
