/* played_failures.c - what a played program does that fails: 20-failures.t.lua expects what comes of
 * it. Times are us, and each call takes 1.
 */
#include "played_calls.h"

static uint32_t correlation;

static void run(CUpti_CallbackDomain domain, uint32_t cbid, int at, int result)
{
    const void *const parameters[] = { event_of(1), stream_of(13) };
    played_call made = {
        .domain = domain, .cbid = cbid, .correlation = ++correlation, .parameters = parameters
    };
    enter(&made, at);
    made.result = result;
    leave(&made, at + 1);
}

#define FAIL(name, at, result) \
    run(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##name, at, result)
#define FAIL_IN_DRIVER(name, at, result) \
    run(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##name, at, result)

static void fail_launches(void)
{
    FAIL(cudaLaunchKernel_v7000, 10, cudaErrorInvalidConfiguration);
    FAIL(cudaLaunchKernelExC_v11060, 12, cudaErrorLaunchOutOfResources);
    FAIL(cudaLaunchCooperativeKernel_v9000, 14, cudaErrorCooperativeLaunchTooLarge);
    FAIL_IN_DRIVER(cuLaunchKernel, 16, CUDA_ERROR_INVALID_VALUE);
    FAIL_IN_DRIVER(cuLaunchKernelEx, 18, CUDA_ERROR_INVALID_VALUE);
    FAIL(cudaGraphLaunch_v10000, 20, cudaErrorInvalidValue);
    FAIL(cudaLaunchHostFunc_v10000, 22, cudaErrorInvalidValue);
    FAIL(cudaMemcpyAsync_v3020, 24, cudaErrorInvalidValue);
    FAIL(cudaMemsetAsync_v3020, 26, cudaErrorInvalidValue);
}

static void fail_waits(void)
{
    FAIL(cudaEventRecord_v3020, 30, cudaErrorInvalidResourceHandle);
    FAIL(cudaStreamWaitEvent_v3020, 32, cudaErrorInvalidResourceHandle);
    FAIL(cudaEventSynchronize_v3020, 34, cudaErrorInvalidResourceHandle);
    FAIL(cudaStreamSynchronize_v3020, 36, cudaErrorInvalidResourceHandle);
}

/* Of one there is a record all the same. */
static void fail_allocations(void)
{
    FAIL(cudaMalloc_v3020, 40, cudaErrorMemoryAllocation);
    memory(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
           correlation, 41, 0, UINT64_C(1) << 40);
    FAIL(cudaMallocAsync_v11020, 42, cudaErrorMemoryAllocation);
}

/* What programs ask with: that it is not done, or was done before, is no failure. */
static void ask(void)
{
    FAIL(cudaEventQuery_v3020, 50, cudaErrorNotReady);
    FAIL(cudaStreamQuery_v3020, 52, cudaErrorNotReady);
    FAIL(cudaHostRegister_v4000, 54, cudaErrorHostMemoryAlreadyRegistered);
    FAIL(cudaFree_v3020, 56, cudaErrorCudartUnloading);
}

/* A capture that does not begin captures nothing: the launch behind it has no operation. */
static void fail_capture(void)
{
    FAIL(cudaStreamBeginCapture_v10000, 60, cudaErrorStreamCaptureUnsupported);
    call(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, ++correlation, 62, 63);
}

void use_failures(void)
{
    device();
    call(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, ++correlation, 0, 1);
    kernel("k", correlation, 13, 2, 100, 0);
    fail_launches();
    fail_waits();
    fail_allocations();
    ask();
    fail_capture();
}
