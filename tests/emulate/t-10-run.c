/* t-10-run.c - kernels on the host: values, in one process and in several. */
#include "kernel.h"

static const char saxpy[] = "__global__ void saxpy(float a, const float *x, float *y, int n)\n"
                            "{\n"
                            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                            "    if (i < n) y[i] = a * x[i] + y[i];\n"
                            "}\n";
static const char *const saxpy_args[] = { "f32", "in f32*", "inout f32*", "i32", NULL };

static bool runs_saxpy(test_kernel *kernel, int n)
{
    float *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    const size_t bytes = (size_t)n * sizeof *x;
    test_launch launch = { .grid = { (uint32_t)(n + 255) / 256 }, .block = { 256 } };
    bool right;
    for (int i = 0; i < n; i++) {
        x[i] = (float)(i % 1000);
        y[i] = (float)(i % 7);
    }
    const test_arg args[] = { test_f32(2), test_tensor(x, bytes), test_tensor(y, bytes),
                              test_i32(n) };
    right = test_run(kernel, launch, args) == SL_OK;
    if (!right) diag("%s", test_err.msg);
    for (int i = 0; i < n; i++)
        right = right && y[i] == 2 * (float)(i % 1000) + (float)(i % 7);
    free(x);
    free(y);
    return right;
}

static void test_values(test_kernel *kernel)
{
    is_int(kernel->status, SL_OK, "a kernel compiles");
    ok(runs_saxpy(kernel, 1000), "a small launch has the right values");
    ok(runs_saxpy(kernel, 1000003), "a large launch has the right values");
}

static void test_bounds(test_kernel *kernel)
{
    float x[1000], y[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = y[i] = 1;
    const test_arg args[] = { test_f32(2), test_tensor(x, sizeof x), test_tensor(y, sizeof y),
                              test_i32(100000) };
    const test_launch launch = { .grid = { 400 }, .block = { 256 } };
    is_int(test_run(kernel, launch, args), SL_EKERNEL, "a kernel that leaves its tensors fails");
    ok(strstr(test_err.msg, "element 1000 of 1000"), "the message has the element: %s",
       test_err.msg);
    ok(y[0] == 1 && y[999] == 1, "the tensor is as it was");
}

int main(void)
{
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    test_kernel *kernel = test_kernel_new("saxpy", saxpy_args, saxpy);
    test_values(kernel);
    test_bounds(kernel);
    test_kernel_free(kernel);
    return done_testing();
}
