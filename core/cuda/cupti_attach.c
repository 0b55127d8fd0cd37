/* cupti_attach.c - CUPTI itself: its functions, which of its records are enabled, which calls it
 * tells of, and whose buffers it fills. It belongs to the process, and so does the state here. */
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

/* Not CUPTI_ACTIVITY_KIND_RUNTIME and DRIVER: each makes every function of the run time 0.1 to 0.4
 * us longer, also those whose records are switched off (docs/results/recording.md). */
static const CUpti_ActivityKind kinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, /* KERNEL: one at a time */
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,
};
enum {
    N_KINDS = sizeof kinds / sizeof *kinds,
    FUNCTIONS_MOST = 2048 /* of a domain: also those of later releases */
};

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

/* What the names begin with of the functions that give the device work, behind "cuda" or "cu": ours
 * (driver.h), and those of cublasLt and NCCL. */
static bool enqueues_work(const char *name)
{
    static const char *const begins[] = { "LaunchKernel", "LaunchCooperativeKernel", "GraphLaunch",
                                          "Memcpy", "Memset" };
    name += strncmp(name, "cuda", 4) == 0 ? 4 : 2;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

/* Numbers of functions have gaps: to some there is no name. */
static void watch_calls(CUpti_CallbackDomain domain)
{
    for (uint32_t cbid = 1; cbid < FUNCTIONS_MOST; cbid++) {
        const char *name = NULL;
        if (cuda_cupti.GetCallbackName(domain, cbid, &name) == CUPTI_SUCCESS && name
            && enqueues_work(name))
            cuda_cupti.EnableCallback(1, subscriber, domain, cbid);
    }
}

/* CUPTI has one subscriber at a time: so a profiler around the process is noticed. */
bool cuda_cupti_attach(CUpti_CallbackFunc on_call, char *why, size_t why_bytes)
{
    size_t n = 0;
    if (!find_functions(why, why_bytes) || !version_works(why, why_bytes)) return false;
    CUptiResult code = cuda_cupti.Subscribe(&subscriber, on_call, NULL);
    if (code != CUPTI_SUCCESS) return refuse(code, "cuptiSubscribe", why, why_bytes);
    cuda_trace_make_buffers();
    code = cuda_cupti.ActivityRegisterCallbacks(on_requested, on_completed);
    while (code == CUPTI_SUCCESS && n < N_KINDS)
        code = cuda_cupti.ActivityEnable(kinds[n++]);
    if (code == CUPTI_SUCCESS) {
        watch_calls(CUPTI_CB_DOMAIN_RUNTIME_API);
        watch_calls(CUPTI_CB_DOMAIN_DRIVER_API);
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
