/* t-46-custom.c - custom kernels of the CUDA backend, compiled by NVRTC and launched on the driver
 * of fake_driver.c: loading, what a launch passes, captures, host functions, unloading, faults. */
#define _GNU_SOURCE /* mkdtemp */
#include "fake_driver.h"
#include "played_rig.h"

#include <cuda.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../core/launch.h"

static const char source[] = "__global__ void saxpy(float a, const float *x, float *y, int n)\n"
                             "{\n"
                             "    if (threadIdx.x < n) y[threadIdx.x] += a * x[threadIdx.x];\n"
                             "}\n";

static sl_error err;

/* NULL: err says why. */
static sl_custom *make(const char *text)
{
    static const char *const args[] = { "f32", "in f32*", "inout f32*", "i32" };
    const sl_custom_spec spec = {
        .source = text, .name = "saxpy", .file = "lab.lua", .line = 7, .args = args, .n_args = 4
    };
    sl_custom *kernel = NULL;
    char *log = NULL;
    err.msg[0] = '\0';
    sl_custom_create(gpus[0], &spec, &kernel, &log, &err);
    free(log);
    fake_driver.n_args = 4;
    return kernel;
}

static sl_tensor *floats(int64_t n)
{
    return tensor_on(gpus[0], SL_ON_DEVICE, SL_FLOAT32, n, &err);
}

static sl_status launch(sl_custom *kernel, sl_tensor *x, sl_tensor *y, bool cooperative,
                        int64_t shared_bytes)
{
    const sl_custom_launch how = { .grid = { 3, 2, 1 },
                                   .block = { 64, 4, 1 },
                                   .shared_bytes = shared_bytes,
                                   .cooperative = cooperative,
                                   .us = -1,
                                   .bytes = -1,
                                   .flops = -1 };
    const sl_custom_arg args[] = {
        { .number = 2.5 }, { .tensor = x }, { .tensor = y }, { .is_integer = true, .integer = -7 }
    };
    err.msg[0] = '\0';
    return sl_custom_launch_in(kernel, &how, args, 4, streams[0], &err);
}

/* ---- making ---- */

static void test_made(void)
{
    open_gpus(1);
    sl_custom *kernel = make(source);
    ok(kernel != NULL, "a kernel is made");
    if (!kernel) diag("%s", err.msg);
    const sl_custom_info *info = sl_custom_get_info(kernel);
    is_str(fake_driver.name, "_Z5saxpyfPKfPfi", "by the name that NVRTC gave it");
    is_int(fake_driver.function_loads, 1, "its code is put on the device at once");
    ok(info->registers == 24 && info->shared_bytes == 1024 && info->local_bytes == 0
           && info->max_threads == 512 && !info->from_cache && info->has_values,
       "its figures are the driver's");
    is_int(fake_driver.dynamic_bytes,
           -1024 + sl_device_get_info(gpus[0])->max_shared_bytes_per_block,
           "a block may have the shared memory that is left");
    int blocks = -1;
    is_int(sl_custom_occupancy(kernel, 256, 0, &blocks, &err), SL_OK, "its occupancy");
    is_int(blocks, 8, "is the driver's");
    is_int(sl_custom_occupancy(kernel, 1024, 0, &blocks, &err), SL_OK,
           "a block that it cannot have");
    is_int(blocks, 0, "fits not at all");
    sl_custom *again = make(source);
    ok(again && sl_custom_get_info(again)->from_cache, "the next one comes from the cache");
    sl_custom_release(again);
    sl_custom_release(kernel);
    is_int(fake_driver.unloaded, fake_driver.loaded, "both are unloaded on an idle device");
    close_gpus(1, "making kernels");
}

static void test_not_made(void)
{
    open_gpus(1);
    is_int(make("__global__ void saxpy(float a, const float *x, float *y, int n)\n{ y = z; }")
               != NULL,
           0, "a wrong source gives no kernel");
    is_str(err.msg, "lab.lua:8: identifier \"z\" is undefined", "and the place of the mistake");
    is_int(err.status, SL_ECOMPILE, "as an error of the source");
    fake_driver.load_error = CUDA_ERROR_OUT_OF_MEMORY;
    is_int(make(source) != NULL, 0, "without memory there is none either");
    is_int(err.status, SL_ENOMEM, "which is reported so");
    fake_driver.load_error = CUDA_ERROR_NO_BINARY_FOR_GPU;
    is_int(make(source) != NULL, 0,
           "nor from code that the driver refuses, even when compiled again");
    ok(strstr(err.msg, "cuLibraryLoadData") != NULL, "%s", err.msg);
    fake_driver.load_error = 0;
    is_int(make("__device__ void saxpy(float, const float *, float *, int) {}") != NULL, 0,
           "nor of a function of the device's");
    is_str(err.msg, "saxpy is not a __global__ function", "which it says");
    is_int(fake_driver.unloaded, fake_driver.loaded, "nothing stays loaded");
    close_gpus(1, "kernels that cannot be made");
}

/* Files of the cache that are damaged, or have code that the driver refuses. */
static void test_cached(void)
{
    open_gpus(1);
    char command[200];
    snprintf(command, sizeof command,
             "for f in %s/kernels/*; do printf x | dd of=\"$f\" bs=1 seek=200 conv=notrunc; done "
             "2>/dev/null",
             getenv("STREAMLAB_CACHE"));
    is_int(system(command), 0, "a cache is damaged");
    sl_custom *kernel = make(source);
    ok(kernel && !sl_custom_get_info(kernel)->from_cache, "then the kernel is compiled again");
    sl_custom_release(kernel);
    char text[500];
    snprintf(text, sizeof text, "#include <cuda_fp16.h>\n%s", source);
    for (int i = 0; i < 2; i++) {
        kernel = make(text);
        is_int(kernel && sl_custom_get_info(kernel)->from_cache, i,
               "headers of CUDA's do not change");
        sl_custom_release(kernel);
    }
    char path[100];
    snprintf(path, sizeof path, "%s/own.h", getenv("STREAMLAB_CACHE"));
    FILE *header = fopen(path, "w");
    if (header) fclose(header);
    snprintf(text, sizeof text, " # include \"%s\"\n%s", path, source);
    for (int i = 0; i < 2; i++) {
        kernel = make(text);
        ok(kernel && !sl_custom_get_info(kernel)->from_cache, "the user's own may: %s", err.msg);
        sl_custom_release(kernel);
    }
    close_gpus(1, "a cache");
}

/* ---- launching ---- */

static void test_launched(void)
{
    open_gpus(1);
    sl_custom *kernel = make(source);
    sl_tensor *x = floats(100), *y = floats(100), *none = floats(0);
    float a;
    int32_t n;
    fake_log();
    is_int(launch(kernel, x, y, false, 3000), SL_OK, "a launch");
    is_str(fake_log(), "K", "is one kernel");
    memcpy(&a, &fake_driver.args[0], sizeof a);
    memcpy(&n, &fake_driver.args[3], sizeof n);
    ok(a == 2.5f && n == -7, "its numbers are the kernel's types");
    ok(fake_driver.args[1] && fake_driver.args[2] && fake_driver.args[1] != fake_driver.args[2],
       "its tensors are addresses");
    ok(fake_driver.grid[0] == 3 && fake_driver.grid[1] == 2 && fake_driver.block[0] == 64
           && fake_driver.block[1] == 4 && fake_driver.shared_bytes == 3000,
       "grid, block and shared memory are as given");
    is_int(launch(kernel, none, y, true, 0), SL_OK, "a cooperative one, with an empty tensor");
    ok(fake_driver.cooperative_launches == 1 && fake_driver.args[1] == 0,
       "is the driver's cooperative launch, and an empty tensor has no address");
    is_int(launch(kernel, x, y, false, 0), SL_OK, "another one");
    sl_custom_release(kernel);
    is_int(sl_stream_synchronize(streams[0], &err), SL_OK, "which is waited for");
    sl_tensor_release(x);
    sl_tensor_release(y);
    sl_tensor_release(none);
    close_gpus(1, "launches");
}

/* Launches that are like the one before are known (core/custom/custom_launch.c). */
static void test_known(void)
{
    open_gpus(1);
    sl_custom *kernel = make(source);
    sl_tensor *x = floats(100), *y = floats(100);
    ok(!launch(kernel, x, y, false, 16) && !launch(kernel, x, y, false, 16), "a launch, and again");
    const uint64_t address = fake_driver.args[2];
    ok(!launch(kernel, y, x, false, 16) && fake_driver.args[1] == address,
       "with its tensors in another order it is another one");
    ok(!launch(kernel, y, x, false, 32) && fake_driver.shared_bytes == 32,
       "and with more shared memory");
    is_int(sl_stream_synchronize(streams[0], &err), SL_OK, "all are waited for");
    memset(fake_driver.args, 0, sizeof fake_driver.args);
    ok(!launch(kernel, y, x, false, 32) && fake_driver.args[1] == address, "the same once more");
    is_int(launch(kernel, y, x, false, -1), SL_EINVAL, "one that is wrong is refused");
    ok(!launch(kernel, y, x, false, 32), "and the one before it is none the worse");
    fake_driver.cooperative_launches = 0;
    is_int(launch(kernel, y, x, true, 32), SL_OK, "a cooperative one");
    is_int(fake_driver.cooperative_launches, 1, "is none that is known");
    ok(!launch(kernel, y, x, false, 32), "nor the next");
    is_int(fake_driver.cooperative_launches, 1, "which is not cooperative");
    sl_tensor_free(y, NULL);
    is_int(launch(kernel, y, x, false, 32), SL_ECLOSED, "a tensor that was freed is refused");
    is_int(sl_stream_synchronize(streams[0], &err), SL_OK, "all are waited for");
    sl_custom_release(kernel);
    sl_tensor_release(x);
    sl_tensor_release(y);
    close_gpus(1, "known launches");
}

static void test_captured(void)
{
    open_gpus(1);
    sl_tensor *x = floats(100), *y = floats(100);
    sl_graph *graph = NULL;
    is_int(sl_stream_begin_capture(streams[0], SL_CAPTURE_GLOBAL, &err), SL_OK, "in a capture");
    sl_custom *kernel = make(source);
    ok(kernel != NULL, "a kernel can be made");
    is_int(launch(kernel, x, y, false, 0), SL_OK, "and launched");
    sl_custom_release(kernel);
    is_int(sl_stream_end_capture(streams[0], &graph, &err), SL_OK, "which makes a graph");
    if (!graph) diag("%s", err.msg);
    is_int(graph ? (int64_t)sl_graph_node_count(graph) : -1, 1, "of one node");
    is_int(fake_driver.loaded - fake_driver.unloaded, 1, "that holds the kernel");
    is_int(sl_graph_instantiate(graph, false, &err), SL_OK, "it is instantiated");
    fake_log();
    is_int(sl_graph_launch(graph, streams[0], &err), SL_OK, "and launched");
    sl_stream_synchronize(streams[0], &err);
    is_str(fake_log(), "G", "which runs it");
    sl_graph_release(graph);
    sl_tensor_release(x);
    sl_tensor_release(y);
    close_gpus(1, "a capture");
    is_int(fake_driver.unloaded, fake_driver.loaded, "and nothing is loaded");
}

/* ---- waiting ---- */

/* Loading runs host functions first; a launch does not. */
static void test_host_functions(void)
{
    open_gpus(1);
    sl_custom *kernel = make(source);
    sl_tensor *x = floats(100), *y = floats(100);
    funcs_run = 0;
    fake_hold(0, true);
    launch_func(streams[0]);
    is_int(launch(kernel, x, y, false, 0), SL_OK, "a launch behind a host function");
    is_int(funcs_run, 0, "does not wait for it");
    fake_hold(0, false);
    sl_custom *other = make(source);
    is_int(funcs_run, 1, "making a kernel does");
    sl_custom_release(other);
    fake_driver.local_bytes = 64;
    other = make(source);
    fake_driver.local_bytes = 0;
    launch_func(streams[0]);
    is_int(launch(other, x, y, false, 0), SL_OK, "a kernel with local memory is launched");
    is_int(funcs_run, 2, "which waits, for room");
    fake_hold(0, true);
    launch_func(streams[0]);
    is_int(launch(other, x, y, false, 0), SL_OK, "it is launched again");
    is_int(funcs_run, 2, "which does not wait");
    fake_hold(0, false);
    sl_custom_release(other);
    sl_custom_release(kernel);
    sl_stream_synchronize(streams[0], &err);
    sl_tensor_release(x);
    sl_tensor_release(y);
    close_gpus(1, "host functions");
}

static void test_unloaded_late(void)
{
    open_gpus(1);
    sl_custom *kernel = make(source), *other = make(source);
    sl_tensor *x = floats(100), *y = floats(100);
    const int unloaded = fake_driver.unloaded;
    fake_hold(0, true);
    launch(kernel, x, y, false, 0);
    sl_custom_release(other);
    is_int(fake_driver.unloaded, unloaded, "while the device works nothing is unloaded");
    fake_hold(0, false);
    sl_stream_synchronize(streams[0], &err);
    sl_custom_release(kernel);
    is_int(fake_driver.unloaded, unloaded + 2, "when it is idle both are");
    sl_tensor_release(x);
    sl_tensor_release(y);
    close_gpus(1, "late unloading");
}

/* ---- faults ---- */

static void test_fault(void)
{
    open_gpus(1);
    sl_custom *kernel = make(source);
    sl_tensor *x = floats(100), *y = floats(100);
    sl_device_set_where(gpus[0], sl_device_intern(gpus[0], "lab.lua:20"));
    fake_hold(0, true);
    launch(kernel, x, y, false, 0);
    fake_lose(0);
    fake_hold(0, false);
    is_int(sl_stream_synchronize(streams[0], &err), SL_EFAULT, "a device is lost");
    ok(strstr(err.msg, "in flight: saxpy(2.5, in f32*[100], inout f32*[100], -7) at lab.lua:20"),
       "and the sentence names the kernel, its arguments and the line: %s", err.msg);
    sl_custom_release(kernel);
    sl_tensor_release(x);
    sl_tensor_release(y);
    close_gpus(1, "a fault");
}

int main(void)
{
    char cache[] = "/tmp/custom-XXXXXX", command[100];
    if (!mkdtemp(cache)) return 1;
    setenv("STREAMLAB_CACHE", cache, 1);
    fake_driver.static_bytes = 1024;
    plan(0);
    test_made();
    test_not_made();
    test_cached();
    test_launched();
    test_known();
    test_captured();
    test_host_functions();
    test_unloaded_late();
    test_fault();
    snprintf(command, sizeof command, "rm -rf %s", cache);
    if (system(command) != 0) diag("%s is left", cache);
    return done_testing();
}
