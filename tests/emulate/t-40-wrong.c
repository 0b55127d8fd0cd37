/* t-40-wrong.c - what the checked build reports, with its exact words. */
#include "wrong_kernels.h"

/* 65,536 threads and more run in the fast build: here a write too near to fault, which only its
 * effect shows. A region of 1,000 elements ends its pages. */
static void test_fast_build(void)
{
    static const char *const list[] = { "inout f32*", NULL };
    static const char source[] = HEAD "(float *y) {\n"
                                      "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                      "    if (i == 70000) y[-3] = 1;\n"
                                      "}\n";
    test_kernel *kernel = test_kernel_new("k", list, source);
    float y[1000] = { 0 };
    const test_arg args[] = { test_tensor(y, sizeof y) };
    const test_launch launch = { .grid = { 1024 }, .block = { 256 } };

    is_int(test_run(kernel, launch, args), SL_EKERNEL,
           "a large launch: a write beside is reported");
    is_str(test_err.msg, "a thread writes argument 1, element -3 of 1000", "its message");
    test_kernel_free(kernel);
}

int main(void)
{
    plan(0);
    if (test_lacks_compiler()) {
        skip(1, "%s", test_err.msg);
        return done_testing();
    }
    test_all_wrong();
    test_fast_build();
    return done_testing();
}
