/* cupti_attach.c - CUPTI itself: its functions, which of its records are enabled, and whose buffers
 * it fills. It belongs to the process, and so does the state here. */
#include "cupti_attach.h"

#ifndef STREAMLAB_NO_CUPTI

#include <stdio.h>
#include <string.h>

#include "trace_buffers.h"

cuda_cupti_functions cuda_cupti;
static CUpti_SubscriberHandle subscriber;

/* ---- buffers --------------------------------------------------------------- */

/* On any thread. Without memory CUPTI gets no buffer, drops records and counts them. */
static void CUPTIAPI on_requested(uint8_t **data, size_t *bytes, size_t *most_records)
{
    cuda_trace_buffer *b = cuda_trace_take_free();
    *data = b ? b->data : NULL;
    *bytes = b ? sizeof b->data : 0;
    *most_records = 0; /* as many as fit */
}

/* On any thread. */
static void CUPTIAPI on_completed(CUcontext context, uint32_t stream, uint8_t *data, size_t bytes,
                                  size_t valid_bytes)
{
    (void)context, (void)stream, (void)bytes;
    if (data)
        cuda_trace_give_full(
            (cuda_trace_buffer *)(void *)(data - offsetof(cuda_trace_buffer, data)), valid_bytes);
}

/* ---- what is recorded ---------------------------------------------------------- */

/* Records the calls of one function, or not. Since CUDA 12.5. */
typedef CUptiResult(CUPTIAPI *enable_api_fn)(CUpti_CallbackId cbid, uint8_t enable);

static const CUpti_ActivityKind kinds[] = {
    CUPTI_ACTIVITY_KIND_RUNTIME,
    CUPTI_ACTIVITY_KIND_DRIVER,
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, /* KERNEL: one at a time */
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static bool find_functions(char *why, size_t why_bytes)
{
    static const char *const names[] = {
#define X(name) "cupti" #name,
        CUDA_CUPTI_FUNCTIONS(X)
#undef X
    };
    sl_error err;
    if (cuda_cupti.Subscribe
        || !cuda_library_functions(CUDA_CUPTI, names, sizeof names / sizeof *names, &cuda_cupti,
                                   &err))
        return true;
    snprintf(why, why_bytes, "%s", err.msg);
    return false;
}

/* CUPTI of CUDA 13.0 as first released crashes after calls of NVTX, when it is flushed,
 * and may hang when it is switched off; update 1 corrects it (NVIDIA's release notes). */
static bool version_works(char *why, size_t why_bytes)
{
    const uint32_t broken = 130000;
    uint32_t version = 0;
    if (cuda_cupti.GetVersion(&version) == CUPTI_SUCCESS && version != broken) return true;
    snprintf(why, why_bytes, "CUPTI's release %u has errors that a later one corrects", version);
    return false;
}

static bool refuse(CUptiResult code, const char *call, char *why, size_t why_bytes)
{
    const char *name = NULL;
    if (cuda_cupti.GetResultString(code, &name) != CUPTI_SUCCESS || !name)
        name = "an unknown error";
    switch (code) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        snprintf(why, why_bytes, "CUPTI is in use by another profiler (%s)", name);
        break;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
        snprintf(why, why_bytes, "this user may not profile (%s: %s)", call, name);
        break;
    default: snprintf(why, why_bytes, "CUPTI cannot be used (%s: %s)", call, name); break;
    }
    return false;
}

static enable_api_fn api_function(const char *symbol)
{
    void *found = cuda_library_symbol(CUDA_CUPTI, symbol, NULL);
    enable_api_fn enable = NULL;
    memcpy(&enable, &found, sizeof enable);
    return enable;
}

/* Excepts the calls of a waiting host and those for events, whose records are not used. Enabling
 * the kind undoes this. CUPTI before 12.5 cannot except calls: a wait then fills a buffer of 1 MiB
 * with some 26 000 queries. cuda_trace_tidy reads these during the wait, so they do not pile up. */
static void except_waiting(void)
{
    static const uint32_t calls[] = {
        CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020,
    };
    enable_api_fn enable = api_function("cuptiActivityEnableRuntimeApi");
    for (size_t i = 0; enable && i < sizeof calls / sizeof *calls; i++)
        enable(calls[i], 0);
}

static bool enqueues_work(uint32_t cbid)
{
    switch (cbid) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz: return true;
    default: return false;
    }
}

/* Of the driver's calls those matter that enqueue work: ours (driver.h), and those of libraries,
 * cublasLt's for its Hopper kernels, and NCCL's. To record the others, too, costs each call of the
 * run time as much as its own record. To enable single calls without the kind gives no records
 * (CUPTI 13.0). */
static void except_driver(void)
{
    enable_api_fn enable = api_function("cuptiActivityEnableDriverApi");
    for (uint32_t cbid = 1; enable && cbid < CUPTI_DRIVER_TRACE_CBID_SIZE; cbid++)
        if (!enqueues_work(cbid)) enable(cbid, 0);
}

static void CUPTIAPI on_nothing(void *ud, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                                const void *data)
{
    (void)ud, (void)domain, (void)cbid, (void)data;
}

/* The subscriber gets no callbacks. CUPTI has one subscriber at a time: so a profiler around the
 * process is noticed. */
bool cuda_cupti_attach(char *why, size_t why_bytes)
{
    size_t n = 0;
    if (!find_functions(why, why_bytes) || !version_works(why, why_bytes)) return false;
    CUptiResult code = cuda_cupti.Subscribe(&subscriber, on_nothing, NULL);
    if (code != CUPTI_SUCCESS) return refuse(code, "cuptiSubscribe", why, why_bytes);
    cuda_trace_make_buffers();
    code = cuda_cupti.ActivityRegisterCallbacks(on_requested, on_completed);
    while (code == CUPTI_SUCCESS && n < N_KINDS)
        code = cuda_cupti.ActivityEnable(kinds[n++]);
    if (code == CUPTI_SUCCESS) {
        except_waiting();
        except_driver();
        return true;
    }
    refuse(code, n ? "cuptiActivityEnable" : "cuptiActivityRegisterCallbacks", why, why_bytes);
    while (n > 0)
        cuda_cupti.ActivityDisable(kinds[--n]);
    cuda_cupti.Unsubscribe(subscriber);
    cuda_trace_free_buffers();
    return false;
}

void cuda_cupti_detach(void)
{
    for (size_t n = N_KINDS; n > 0; n--)
        cuda_cupti.ActivityDisable(kinds[n - 1]);
    cuda_cupti.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    cuda_cupti.Unsubscribe(subscriber);
    cuda_trace_free_buffers();
}

#endif
