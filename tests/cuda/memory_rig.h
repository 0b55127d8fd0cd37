/* memory_rig.h - what the tests of core/cuda's memory files share: devices and buffers
 * over fake_cudart.c, and the rest of the backend, stood in for. Included once a program.
 */
#ifndef MEMORY_RIG_H
#define MEMORY_RIG_H

#include "../../core/cuda/cuda.h"
#include "../tap.h"
#include "fake_cudart.h"

#include <signal.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)

/* ---- the rest of the backend ---- */

static struct {
    int settles; /* cuda_funcs_settle */
    int stream_waits, device_waits;
    bool interrupted; /* settling and waiting fail */
    int cache_configs;
    bool prefers_shared;
    int funcs_run; /* cuda_funcs_run_all */
} rest;

void cuda_use(const cuda_device *dev) { fake_device = dev->base.info.index; }

sl_status cuda_check(cuda_device *dev, cudaError_t code, const char *call, sl_error *err)
{
    (void)dev;
    if (code == cudaSuccess) return SL_OK;
    cudaGetLastError();
    if (code == fake_lost()) return sl_fail(err, SL_EFAULT, "%s: lost", call);
    return sl_fail(err, code == cudaErrorMemoryAllocation ? SL_ENOMEM : SL_EBACKEND, "%s: error %d",
                   call, (int)code);
}

void cuda_own_begin(void) {}

void cuda_own_end(void) {}

cudaError_t cuda_ask_device(const cuda_device *dev)
{
    cudaError_t code = cudaStreamQuery(dev->memory_stream);
    return code == cudaErrorNotReady ? cudaSuccess : code;
}

int32_t cuda_captures;

sl_status cuda_capture_explain(cuda_device *dev, cuda_stream *stream, const char *call,
                               sl_error *err)
{
    (void)dev, (void)stream, (void)call, (void)err;
    return SL_OK;
}

int32_t cuda_funcs_pending;
static bool funcs_running; /* in a host function */
bool cuda_funcs_running(void) { return funcs_running; }

static fake_stream *waits_for_funcs; /* is busy until host functions have run */

bool cuda_funcs_run_all(void)
{
    cuda_funcs_pending = 0;
    rest.funcs_run++;
    fake_device = FAKE_DEVICES - 1; /* they may have used another one */
    if (waits_for_funcs) waits_for_funcs->busy = false;
    waits_for_funcs = NULL;
    return true;
}

sl_status cuda_funcs_settle_all(sl_error *err)
{
    rest.settles++;
    return rest.interrupted ? sl_fail(err, SL_EINTERRUPT, "interrupted") : SL_OK;
}

sl_status cuda_funcs_settle(cuda_device *dev, sl_error *err)
{
    sl_status status = cuda_funcs_settle_all(err);
    cuda_use(dev);
    return status;
}

static void drain(cuda_stream *stream)
{
    stream->head = NULL;
    stream->n_in_flight = 0;
    ((fake_stream *)stream->handle)->busy = false;
}

sl_status cuda_stream_synchronize(sl_stream *stream, sl_error *err)
{
    rest.stream_waits++;
    if (rest.interrupted) return sl_fail(err, SL_EINTERRUPT, "interrupted");
    drain((cuda_stream *)stream);
    return SL_OK;
}

sl_status cuda_device_synchronize(sl_device *device, sl_error *err)
{
    rest.device_waits++;
    if (rest.interrupted) return sl_fail(err, SL_EINTERRUPT, "interrupted");
    for (cuda_stream *stream = cuda_of(device)->streams; stream; stream = stream->next)
        drain(stream);
    return SL_OK;
}

cudaError_t cuda_kernel_set_cache_config(bool shared)
{
    rest.cache_configs++;
    rest.prefers_shared = shared;
    return cudaSuccess;
}

/* ---- devices ---- */

static cuda_device devices[FAKE_DEVICES];
static volatile sig_atomic_t interrupted;

/* Opens the first n. */
TAP_UNUSED static void open_devices(int n)
{
    memset(&rest, 0, sizeof rest);
    memset(devices, 0, sizeof devices);
    for (int i = 0; i < n; i++) {
        devices[i].base.info.index = i;
        devices[i].base.interrupted = &interrupted;
        strcpy(devices[i].base.info.name, "Fake GPU");
        if (cuda_memory_open(&devices[i], NULL)) diag("device %d does not open", i);
    }
}

/* And checks that nothing is left of them. */
TAP_UNUSED static void close_devices(int n, const char *after)
{
    const fake_cudart_state *seen = &fake_cudart;
    for (int i = 0; i < n; i++) {
        cuda_plain_close(&devices[i]);
        cuda_memory_close(&devices[i]);
    }
    is_int(seen->blocks + seen->host_blocks + seen->registered + seen->streams + seen->pools, 0,
           "nothing is left after %s", after);
    is_int(seen->misuses, 0, "and nothing was freed twice or with the wrong call");
    is_int(seen->taken_bytes[0] + seen->taken_bytes[1], 0, "and no memory of the devices is taken");
    fake_cudart_forget();
}

/* A stream of `dev` that is still open; `of` is CUDA's side of it. */
TAP_UNUSED static void add_stream(cuda_device *dev, cuda_stream *stream, fake_stream *of,
                                  uint32_t id)
{
    memset(stream, 0, sizeof *stream);
    memset(of, 0, sizeof *of);
    stream->base.device = &dev->base;
    stream->base.id = id;
    stream->handle = (cudaStream_t)of;
    stream->next = dev->streams;
    dev->streams = stream;
}

/* The only operation in flight in `stream`. */
TAP_UNUSED static void put_in_flight(cuda_stream *stream, sl_op *op)
{
    stream->head = op;
    stream->n_in_flight = 1;
    ((fake_stream *)stream->handle)->busy = true;
}

/* ---- buffers ---- */

TAP_UNUSED static cuda_buffer buffer_of(cuda_device *dev, sl_place place, size_t bytes)
{
    return (cuda_buffer){
        .base = { .device = &dev->base, .bytes = bytes, .place = (uint8_t)place, .refs = 1 },
    };
}

TAP_UNUSED static sl_status open_tensor(cuda_buffer *buffer, sl_error *err)
{
    return cuda_buffer_open(&buffer->base, SL_ALLOC_TENSOR, NULL, err);
}

/* A tensor that is there. */
TAP_UNUSED static cuda_buffer tensor(cuda_device *dev, sl_place place, size_t bytes)
{
    cuda_buffer buffer = buffer_of(dev, place, bytes);
    if (open_tensor(&buffer, NULL)) diag("no tensor of %zu bytes", bytes);
    return buffer;
}

TAP_UNUSED static void close_buffer(cuda_buffer *buffer) { cuda_buffer_close(&buffer->base); }

#endif
