/* context.c - what all files of the backend stand on: the host's clock, the current device, the
 * turns of the host's threads, CUDA's errors, and the store of events. */
#include "cuda.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* ---- the clock ---- */

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t clock_base_ns; /* when the plugin was loaded */

void cuda_clock_start(void)
{
    if (clock_base_ns == 0) clock_base_ns = monotonic_ns();
}

int64_t cuda_now_ns(void) { return monotonic_ns() - clock_base_ns; }

/* ---- the current device ---- */

/* CUDA keeps the current device per thread; asking it costs as much as setting it. Not in the
 * memory that threads have from their start (initial-exec), which would need no call: a library
 * that is loaded later may find no room there ("cannot allocate memory in static TLS block"). */
static _Thread_local int current_ordinal = -1;

void cuda_use(const cuda_device *dev)
{
    if (current_ordinal == dev->base.info.index) return;
    /* It fails for a lost device, and makes it the current one all the same: the calls that
     * follow report the loss. */
    if (cudaSetDevice(dev->base.info.index) != cudaSuccess) cudaGetLastError();
    current_ordinal = dev->base.info.index;
}

void cuda_use_again(void) { current_ordinal = -1; }

/* The first call that needs the context makes it: cudaSetDevice does since CUDA 12,
 * cudaFree(NULL) always. */
sl_status cuda_context_open(int index, struct cudaDeviceProp *prop, sl_error *err)
{
    cudaError_t code = cudaSetDevice(index);
    current_ordinal = -1;
    if (code == cudaSuccess) code = cudaFree(NULL);
    if (code == cudaSuccess) code = cudaGetDeviceProperties(prop, index);
    if (code != cudaSuccess) {
        cudaGetLastError();
        return sl_fail(err, SL_EBACKEND, "GPU %d: %s (%s)", index, cudaGetErrorString(code),
                       cudaGetErrorName(code));
    }
    current_ordinal = index;
    return SL_OK;
}

/* ---- threads ---- */

void cuda_let_others(const cuda_device *dev)
{
    if (!dev->base.threads) return;
    cuda_leave(dev);
    sched_yield();
    cuda_enter(dev);
}

/* ---- captures ---- */

int32_t cuda_captures;

/* Of the thread, as CUDA's mode is. */
static _Thread_local int own_depth;
static _Thread_local enum cudaStreamCaptureMode users_mode; /* where `relaxed` */
static _Thread_local bool relaxed;

void cuda_own_begin(void)
{
    if (own_depth++ > 0 || cuda_captures == 0) return;
    users_mode = cudaStreamCaptureModeRelaxed;
    relaxed = cudaThreadExchangeStreamCaptureMode(&users_mode) == cudaSuccess;
}

void cuda_own_end(void)
{
    if (--own_depth > 0 || !relaxed) return;
    relaxed = false;
    cudaThreadExchangeStreamCaptureMode(&users_mode);
}

/* ---- errors ---- */

/* Asking for the work of a stream does not wait. */
cudaError_t cuda_ask_device(const cuda_device *dev)
{
    cuda_use(dev);
    cuda_own_begin();
    cudaError_t code = cudaStreamQuery(dev->memory_stream);
    cuda_own_end();
    if (code != cudaErrorNotReady) return code;
    cudaGetLastError(); /* it stays as the last error otherwise */
    return cudaSuccess;
}

/* After most errors CUDA goes on; after a fault of a kernel every later call on the device reports
 * it again. */
static bool is_lost(const cuda_device *dev)
{
    if (dev->base.fault.status) return true;
    cudaError_t again = cuda_ask_device(dev);
    cudaGetLastError();
    return again != cudaSuccess && cuda_ask_device(dev) == again;
}

static bool is_of_captures(cudaError_t code)
{
    return (code >= cudaErrorStreamCaptureUnsupported && code <= cudaErrorStreamCaptureWrongThread)
           || code == cudaErrorIllegalState;
}

sl_status cuda_check(cuda_device *dev, cudaError_t code, const char *call, sl_error *err)
{
    if (code == cudaSuccess) return SL_OK;
    cudaGetLastError();
    const char *name = cudaGetErrorName(code), *text = cudaGetErrorString(code);
    sl_status status = is_of_captures(code)                ? SL_ECAPTURE
                       : code == cudaErrorMemoryAllocation ? SL_ENOMEM
                                                           : SL_EBACKEND;
    if (status == SL_EBACKEND && is_lost(dev)) {
        status = SL_EFAULT;
        if (!dev->base.fault.status) {
            sl_fail(&dev->base.fault, status, "%s (%s)", text, name);
            dev->base.fault.backend_code = (int)code;
        }
        if (err) *err = dev->base.fault;
    } else {
        sl_fail(err, status, "%s: %s (%s)", call, text, name);
        if (err) err->backend_code = (int)code;
        if (err && status == SL_ECAPTURE) err->operand = call;
    }
    return status;
}

void cuda_ask_fault(cuda_device *dev)
{
    cuda_check(dev, cuda_ask_device(dev), "cudaStreamQuery", NULL);
}

/* ---- events to use again ---- */

cudaError_t cuda_event_take(cuda_device *dev, bool timing, cudaEvent_t *event)
{
    if (dev->n_free_events[timing] > 0) {
        *event = dev->free_events[timing][--dev->n_free_events[timing]];
        return cudaSuccess;
    }
    cuda_use(dev);
    return cudaEventCreateWithFlags(event, timing ? cudaEventDefault : cudaEventDisableTiming);
}

void cuda_event_give(cuda_device *dev, bool timing, cudaEvent_t event)
{
    size_t *n = &dev->n_free_events[timing];
    if (SL__GROW(dev->free_events[timing], dev->cap_free_events[timing], *n + 1))
        dev->free_events[timing][(*n)++] = event;
    else
        cudaEventDestroy(event);
}

void cuda_events_close(cuda_device *dev)
{
    for (int timing = 0; timing < 2; timing++) {
        while (dev->n_free_events[timing] > 0)
            cudaEventDestroy(dev->free_events[timing][--dev->n_free_events[timing]]);
        free(dev->free_events[timing]);
        dev->free_events[timing] = NULL;
    }
}
