/* kernel.h - a kernel and its launches, without a device: what the tests of tests/emulate/ share. */
#ifndef TESTS_EMULATE_KERNEL_H
#define TESTS_EMULATE_KERNEL_H

#include <stdlib.h>

#include "../../core/emulate/emulate.h"
#include "../tap.h"

static volatile sig_atomic_t test_interrupted;
static sl_device test_device = { .interrupted = &test_interrupted };
static sl_error test_err;

typedef struct test_kernel {
    sl_custom custom;
    sl_image image;
    sl_emulated *emulated;
    sl_status status; /* of making it */
} test_kernel;

/* Skips the test where no compiler is here. */
TAP_UNUSED static bool test_lacks_compiler(void)
{
    char key[256];
    const bool lacks = sl_emulate_key(NULL, key, sizeof key, &test_err) == SL_EUNSUPPORTED;
    if (lacks) skip(1, "%s", test_err.msg);
    return lacks;
}

/* Compiles it, as if it began in line 10 of lab.lua. `args` ends with NULL. */
TAP_UNUSED static test_kernel *test_kernel_new(const char *name, const char *const *args,
                                               const char *source)
{
    test_kernel *kernel = calloc(1, sizeof *kernel);
    kernel->custom.device = &test_device;
    kernel->custom.name = (char *)name;
    kernel->custom.source = (char *)source;
    kernel->custom.file = "lab.lua";
    kernel->custom.line = 10;
    for (; args[kernel->custom.n_args]; kernel->custom.n_args++)
        sl_arg_parse(args[kernel->custom.n_args], &kernel->custom.args[kernel->custom.n_args],
                     &test_err);
    kernel->status = sl_emulate_build(&kernel->custom, &kernel->image, &test_err);
    if (!kernel->status)
        kernel->status = sl_emulate_open(&kernel->custom, &kernel->image, &kernel->emulated,
                                         &test_err);
    if (kernel->status) diag("%s: %s", test_err.msg, kernel->custom.log ? kernel->custom.log : "");
    return kernel;
}

TAP_UNUSED static void test_kernel_free(test_kernel *kernel)
{
    sl_emulate_close(kernel->emulated);
    free(kernel->image.data);
    free(kernel->custom.log);
    free(kernel);
}

typedef struct test_arg {
    void *data; /* NULL: a number */
    size_t bytes;
    uint64_t bits;
} test_arg;

static inline test_arg test_tensor(void *data, size_t bytes)
{
    return (test_arg){ data, bytes, 0 };
}
static inline test_arg test_f32(float number)
{
    test_arg arg = { 0 };
    memcpy(&arg.bits, &number, sizeof number);
    return arg;
}
static inline test_arg test_i32(int number) { return (test_arg){ .bits = (uint32_t)number }; }

typedef struct test_launch {
    uint32_t grid[3], block[3];
    size_t shared_bytes;
    bool cooperative;
} test_launch;

/* Each tensor is a region of its own. */
TAP_UNUSED static sl_status test_run(test_kernel *kernel, test_launch launch, const test_arg *args)
{
    const uint32_t n = kernel->custom.n_args;
    sl_custom_call *call = calloc(1, sizeof *call + n * sizeof *call->arg);
    sl_emulate_region regions[SL_MOST_ARGS];
    sl_emulate_arg places[SL_MOST_ARGS] = { 0 };
    uint32_t n_regions = 0;
    sl_status status;
    call->kernel = &kernel->custom;
    for (int i = 0; i < 3; i++) {
        call->grid[i] = launch.grid[i] ? launch.grid[i] : 1;
        call->block[i] = launch.block[i] ? launch.block[i] : 1;
    }
    call->shared_bytes = launch.shared_bytes;
    call->cooperative = launch.cooperative;
    call->n = n;
    for (uint32_t i = 0; i < n; i++) {
        call->arg[i].bits = args[i].bits;
        if (!args[i].data) continue;
        places[i] = (sl_emulate_arg){ n_regions, 0, args[i].bytes };
        regions[n_regions++] = (sl_emulate_region){ args[i].data, args[i].bytes };
    }
    test_err = (sl_error){ 0 };
    status = sl_emulate_run(kernel->emulated, call, regions, n_regions, places, &test_err);
    free(call);
    return status;
}

#endif
