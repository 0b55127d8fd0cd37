/* activity_rig.h - a device for the tests of core/cuda/cuda_activity.c and the files behind it,
 * and what they need of the rest of the backend and of CUDA. The clocks stand still
 * unless asked. Included once a program. */
#ifndef ACTIVITY_RIG_H
#define ACTIVITY_RIG_H

#include "../../core/cuda/cuda_activity.h"
#include "../tap.h"

#include <stdlib.h>

static struct {
    int64_t host_ns, step_ns;     /* the host's clock; each reading adds a step */
    int64_t device_ns;            /* what an event that is recorded now will say */
    int events;                   /* taken and not given back */
    int streams;                  /* created and not destroyed */
    int launches;                 /* of kernels of nobody's */
    int64_t launch_ns, slower_ns; /* what one takes, and how much longer while *slower is not 0 */
    const int *slower;
    int asked_in_vain; /* the next queries of events that are not ready */
    int funcs_run;
    int records;         /* calls of cudaEventRecord */
    int record_fails_at; /* this one fails; 0: none */
    bool no_events;      /* cuda_event_take fails */
    cudaError_t sticky;  /* of a lost device: what most calls report */
    cudaError_t last_error;
} rest;

typedef struct fake_event {
    int64_t device_ns;
} fake_event;

/* ---- the rest of the backend ---- */

int64_t cuda_now_ns(void)
{
    int64_t now = rest.host_ns;
    rest.host_ns += rest.step_ns;
    return now;
}

void cuda_use(const cuda_device *dev) { (void)dev; }

sl_status cuda_check(cuda_device *dev, cudaError_t code, const char *call, sl_error *err)
{
    if (code == cudaSuccess) return SL_OK;
    rest.last_error = cudaSuccess;
    sl_status status = code == rest.sticky ? SL_EFAULT : SL_EBACKEND;
    if (status == SL_EFAULT)
        sl_fail(&dev->base.fault, status, "an illegal memory access was encountered");
    return sl_fail(err, status, "%s: error %d", call, (int)code);
}

cudaError_t cuda_event_take(cuda_device *dev, bool timing, cudaEvent_t *event)
{
    (void)dev, (void)timing;
    if (rest.no_events) return rest.last_error = cudaErrorMemoryAllocation;
    *event = calloc(1, sizeof(fake_event));
    rest.events++;
    return cudaSuccess;
}

void cuda_event_give(cuda_device *dev, bool timing, cudaEvent_t event)
{
    (void)dev, (void)timing;
    free(event);
    rest.events--;
}

void cuda_own_begin(void) {}

void cuda_own_end(void) {}

int32_t cuda_funcs_pending;
bool cuda_funcs_running(void) { return false; }

bool cuda_funcs_run_all(void)
{
    cuda_funcs_pending--;
    rest.funcs_run++;
    return true;
}

sl_status cuda_kernel_launch(cuda_device *dev, const sl_work *work, void *out, const void *in0,
                             const void *in1, void *scratch, cudaStream_t stream, uint32_t *blocks,
                             uint16_t *threads, sl_error *err)
{
    (void)out, (void)in0, (void)in1, (void)scratch, (void)blocks, (void)threads, (void)err;
    rest.launches += work->n == 0 && stream == dev->memory_stream;
    rest.host_ns += rest.launch_ns + (rest.slower && *rest.slower ? rest.slower_ns : 0);
    return SL_OK;
}

/* ---- CUDA ---- */

cudaError_t cudaGetLastError(void)
{
    cudaError_t code = rest.last_error;
    rest.last_error = cudaSuccess;
    return code;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    *stream = flags == cudaStreamNonBlocking ? (cudaStream_t)&rest : NULL;
    rest.streams++;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    rest.streams -= stream == (cudaStream_t)&rest;
    return rest.last_error = rest.sticky;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)stream;
    if (++rest.records == rest.record_fails_at)
        return rest.last_error = cudaErrorInvalidResourceHandle;
    ((fake_event *)event)->device_ns = rest.device_ns;
    return rest.last_error = rest.sticky;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    (void)event;
    if (rest.asked_in_vain == 0) return rest.last_error = rest.sticky;
    rest.asked_in_vain--;
    return rest.last_error = cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    *ms = (float)((double)(((fake_event *)end)->device_ns - ((fake_event *)start)->device_ns)
                  / 1e6);
    return rest.last_error = rest.sticky;
}

/* ---- a device ---- */

typedef struct rig {
    cuda_device dev;
    cuda_stream stream;
    uint64_t last_seq;
    volatile sig_atomic_t interrupted;
    sl_error err;
} rig;

static cuda_device *opened; /* the devices that are open, by next_open */

cuda_device *cuda_open_devices(void) { return opened; }

static rig *open_rig(void)
{
    rig *r = calloc(1, sizeof *r);
    r->dev.base.interrupted = &r->interrupted;
    r->dev.memory_stream = (cudaStream_t)&r->dev;
    r->stream.base.device = &r->dev.base;
    r->stream.handle = (cudaStream_t)&r->stream;
    return r;
}

static void close_rig(rig *r, const char *after)
{
    cuda_activity_close(&r->dev);
    ok(rest.events == 0 && rest.streams == 0 && !r->dev.activity && rest.last_error == cudaSuccess,
       "a device that closes leaves nothing behind after %s", after);
    free(r);
}

static cuda_op *new_op(rig *r, sl_work_kind kind)
{
    cuda_op *op = calloc(1, sizeof *op);
    op->base.stream = &r->stream.base;
    op->base.seq = ++r->last_seq;
    op->base.work.kind = (uint8_t)kind;
    return op;
}

/* It has completed; frees it. */
static void complete(rig *r, cuda_op *op)
{
    cuda_activity_completed(op);
    r->dev.n_in_flight--;
    free(op);
}

#endif
