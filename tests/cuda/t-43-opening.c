/* t-43-opening.c - opening GPUs: why there is none, one that the build has no code for, on two
 * threads, and one GPU twice; on the driver of fake_streams.c. */
#include "played_rig.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <time.h>

static sl_error err;

static const char *why_none(cudaError_t code)
{
    int count = -1;
    fake_cudart.no_devices = code;
    sl_backend_device_count("cuda", &count, &err);
    fake_cudart.no_devices = cudaSuccess;
    return count == 0 ? err.msg : "there are some";
}

static void test_no_gpu(void)
{
    char expected[200];
    unsetenv("CUDA_VISIBLE_DEVICES");
    is_str(why_none(cudaErrorNoDevice),
           "no GPU answered: the NVIDIA driver shows this process no GPU",
           "a driver without a GPU may have one for other processes");
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    is_str(why_none(cudaErrorNoDevice),
           "no GPU answered: the NVIDIA driver shows this process no "
           "GPU (CUDA_VISIBLE_DEVICES is \"\")",
           "a variable that hides GPUs is named");
    setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    is_str(why_none(cudaErrorNoDevice),
           "no GPU answered: the NVIDIA driver shows this process no "
           "GPU (CUDA_VISIBLE_DEVICES is \"7\")",
           "with its value");
    unsetenv("CUDA_VISIBLE_DEVICES");
    is_str(why_none(cudaErrorInsufficientDriver), "no GPU answered: there is no NVIDIA driver",
           "no driver is no old driver");
    fake_cudart.driver_version = 11040;
    snprintf(expected, sizeof expected,
             "no GPU answered: the NVIDIA driver is one for CUDA 11.4, "
             "and this build needs one for CUDA %d.0 or later",
             CUDART_VERSION / 1000);
    is_str(why_none(cudaErrorInsufficientDriver), expected,
           "of a driver that is too old both versions are reported");
    is_str(why_none(cudaErrorIllegalAddress),
           "no GPU answered: an illegal memory access was encountered", "other errors are CUDA's");
}

/* The build has no kernels for this GPU. */
static void test_no_code(void)
{
    sl_device *device = NULL;
    fake_cudart.no_code = cudaErrorNoKernelImageForDevice;
    is_int(sl_device_open("cuda", 0, NULL, 0, &device, &err), SL_EUNSUPPORTED,
           "a GPU that the build has no kernels for is not opened");
    const char *rest = strstr(err.msg, " cannot run this build's kernels: they are for sm_");
    ok(!strncmp(err.msg, "GPU 0 (Fake GPU, compute capability 8.0)", 40) && rest,
       "a sentence says which GPU that is: %s", err.msg);
    ok(rest && strstr(rest, "sm_90") && strstr(rest, ", and in PTX from compute_")
           && strstr(rest, " on (cudaErrorNoKernelImageForDevice)"),
       "and what the build has");
    fake_cudart.no_code = cudaSuccess;
    open_gpus(1);
    ok(gpus[0], "another GPU is opened after that");
    close_gpus(1, "a GPU without kernels");
}

static void *open_second(void *ud)
{
    *(sl_status *)ud = sl_device_open("cuda", 1, NULL, 0, &gpus[1], &err);
    return NULL;
}

static sl_status open_on_another_thread(void)
{
    sl_status status = SL_OK;
    pthread_t thread;
    pthread_create(&thread, NULL, open_second, &status);
    pthread_join(thread, NULL);
    return status;
}

static void test_threads(void)
{
    gpus[1] = NULL;
    open_gpus(1);
    is_int(open_on_another_thread(), SL_ESTATE, "a second thread cannot open another GPU");
    is_str(err.msg, "another thread has opened a GPU: all GPUs of a process belong to one thread",
           "a sentence says why");
    close_gpus(1, "a second thread");
    is_int(open_on_another_thread(), SL_OK, "it can when the first has closed all");
    sl_device_release(gpus[1]);
    fake_cudart_forget();
}

static void *let_go_soon(void *ud)
{
    nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    fake_hold(0, false);
    return ud;
}

/* In two Lua states of a process. CUDA's cudaDeviceSynchronize waits for both. */
static void test_twice(void)
{
    sl_device *twin = NULL;
    sl_stream *stream = NULL;
    pthread_t thread;
    open_gpus(1);
    check(sl_device_open("cuda", 0, NULL, 0, &twin, &err), &err, "open");
    sl_stream_create(twin, NULL, &stream, NULL);
    funcs_run = 0;
    fake_hold(0, true);
    launch_func(stream);
    pthread_create(&thread, NULL, let_go_soon, NULL);
    is_int(sl_device_synchronize(gpus[0], &err), SL_OK, "a GPU that is open twice is waited for");
    pthread_join(thread, NULL);
    is_int(funcs_run, 1, "and a host function of the other has run");
    is_int(fake_cudart.hangs, 0, "without holding the host, which runs it");
    sl_stream_release(stream);
    sl_device_drain(twin);
    sl_device_release(twin);
    close_gpus(1, "a GPU opened twice");
}

int main(void)
{
    plan(0);
    test_no_gpu();
    test_no_code();
    test_threads();
    test_twice();
    return done_testing();
}
