/* tuning_rig.h - gemm_tune.c, gemm_candidates.c and gemm_kept.c over fake_cublaslt.c, whose products take the time that
 * a test says. */
#ifndef TUNING_RIG_H
#define TUNING_RIG_H

#define _GNU_SOURCE /* mkdtemp */
#include "gemm_rig.h"

static int mallocs_until_failure;

static void *failing_malloc(size_t bytes)
{
    if (mallocs_until_failure > 0 && --mallocs_until_failure == 0) return NULL;
    return malloc(bytes);
}

#define calloc failing_calloc
#define malloc failing_malloc
#include "../../core/cuda/gemm_candidates.c"
#include "../../core/cuda/gemm_kept.c"
#include "../../core/cuda/gemm_operands.c"
#include "../../core/cuda/gemm_tune.c"
#undef malloc
#undef calloc

#include <signal.h>

/* ---- what the rest of the backend does, and CUDA ---- */

static struct {
    int events;            /* taken and not given back */
    int device_waits;      /* cuda_device_synchronize */
    int last_waits;        /* for what a failure has left in flight */
    int lucky, lucky_left; /* this candidate's next samples seem ten times as fast */
    int l2_bytes;
    volatile sig_atomic_t interrupted;
} seen;

typedef struct moment {
    double us;
} moment;

cudaError_t cuda_event_take(cuda_device *dev, bool timing, cudaEvent_t *event)
{
    (void)dev, (void)timing;
    if (rest.sticky) return rest.sticky;
    *event = (cudaEvent_t)calloc(1, sizeof(moment));
    seen.events++;
    return cudaSuccess;
}

void cuda_event_give(cuda_device *dev, bool timing, cudaEvent_t event)
{
    (void)dev, (void)timing;
    free(event);
    seen.events--;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)stream;
    ((moment *)event)->us = fake->clock_us;
    return rest.sticky;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t began, cudaEvent_t ended)
{
    double us = ((moment *)ended)->us - ((moment *)began)->us;
    if (fake->candidate == seen.lucky && seen.lucky_left > 0) {
        seen.lucky_left--;
        us /= 10;
    }
    *ms = (float)(us / 1000);
    return rest.sticky;
}

sl_status cuda_stream_synchronize(sl_stream *stream, sl_error *err)
{
    (void)stream;
    return seen.interrupted ? sl_fail(err, SL_EINTERRUPT, "interrupted") : SL_OK;
}

sl_status cuda_device_synchronize(sl_device *device, sl_error *err)
{
    (void)device, (void)err;
    seen.device_waits++;
    run_host_func();
    return SL_OK;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    seen.last_waits++;
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    (void)kind, (void)stream;
    memcpy(to, from, bytes);
    return rest.sticky;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    (void)device;
    *value = seen.l2_bytes;
    return attribute == cudaDevAttrL2CacheSize ? rest.sticky : cudaErrorInvalidValue;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13010;
    return cudaSuccess;
}

/* ---- products that are tuned ---- */

static rig *open_tuning(void)
{
    rig *r = open_rig();
    for (int i = 0; i < 2; i++)
        r->streams[i].base.device = &r->dev.base;
    snprintf(r->dev.base.info.name, sizeof r->dev.base.info.name, "GPU");
    r->dev.base.info.sm_count = 7;
    seen.lucky = -1;
    return r;
}

static void close_tuning(rig *r, const char *after)
{
    is_int(seen.events, 0, "no event is left after %s", after);
    close_rig(r, after);
}

typedef struct call {
    sl_work work;
    cuda_buffer a, b, out;
    sl_operand side[SL_SIDES];
    sl_product product;
} call;

/* A product of operands that hold zeros, on stream 0. */
static call *open_call(rig *r, sl_work work)
{
    const size_t bytes[2] = { 8 * (size_t)(work.m * work.k), 8 * (size_t)(work.k * work.n) };
    call *c = calloc(1, sizeof *c);
    c->work = work;
    c->a.data = memset(aligned_memory(bytes[0]), 0, bytes[0]);
    c->b.data = memset(aligned_memory(bytes[1]), 0, bytes[1]);
    c->side[0].buffer = &c->a.base;
    c->side[1].buffer = &c->b.base;
    c->product = (sl_product){ &r->streams[0].base, &c->work, c->side };
    return c;
}

static void close_call(call *c)
{
    free(c->a.data);
    free(c->b.data);
    free(c);
}

/* Measures; *image, if it is not NULL, is the caller's then. */
static sl_status tune_work(rig *r, sl_work work, sl_tuning *tuning, sl_image *image)
{
    call *c = open_call(r, work);
    sl_image kept = { NULL, 0 };
    *tuning = (sl_tuning){ .tuned = false };
    r->err = (sl_error){ 0 };
    sl_status status = cuda_gemm_plan_measure(&c->product, &kept, tuning, &r->err);
    close_call(c);
    if (image)
        *image = kept;
    else
        free(kept.data);
    return status;
}

static sl_work shape(int64_t k) { return matmul(3, k, 7, SL_FLOAT32); }

static sl_status tune(rig *r, int64_t k, sl_tuning *tuning)
{
    return tune_work(r, shape(k), tuning, NULL);
}

/* Which candidate multiplies that shape; -1: the product is wrong. */
static int in_use(rig *r, sl_work work)
{
    return product_is_right(r, 0, &work) ? fake->candidate : -1;
}

static void set_us(double first, double second, double third)
{
    fake->us[0] = first;
    fake->us[1] = second;
    fake->us[2] = third;
}

#endif
