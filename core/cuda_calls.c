/* cuda_calls.c - single CUDA calls, for scripts that ask what synchronises with what. Each does
 * what the CUDA call of that name does, and takes the time that the backend says; see
 * docs/design/simulator.md. */
#include <string.h>

#include "buffer.h"
#include "copy.h"
#include "device.h"
#include "graph/capture.h"
#include "observers.h"
#include "op.h"
#include "record.h"
#include "reuse.h"
#include "stream.h"
#include "tensor.h"
#include "view.h"

const char *const sl__plain_call_names[SL_PLAIN_CALLS] = {
    [SL_PLAIN_MALLOC] = "cudaMalloc",
    [SL_PLAIN_FREE] = "cudaFree",
    [SL_PLAIN_MALLOC_HOST] = "cudaMallocHost",
    [SL_PLAIN_FREE_HOST] = "cudaFreeHost",
    [SL_PLAIN_HOST_REGISTER] = "cudaHostRegister",
    [SL_PLAIN_HOST_UNREGISTER] = "cudaHostUnregister",
    [SL_PLAIN_MALLOC_ASYNC] = "cudaMallocAsync",
    [SL_PLAIN_FREE_ASYNC] = "cudaFreeAsync",
    [SL_PLAIN_FUNC_SET_CACHE_CONFIG] = "cudaFuncSetCacheConfig",
    [SL_PLAIN_DEVICE_SET_LIMIT] = "cudaDeviceSetLimit",
    [SL_PLAIN_CUBLAS_CREATE] = "cublasCreate",
    [SL_PLAIN_CUBLAS_DESTROY] = "cublasDestroy",
};

/* The backend's part of a call, charged and noted. */
static sl_status backend_call(sl_device *device, sl_call *call, sl_plain_call which,
                              sl_buffer *buffer, sl_stream *stream, sl_error *err)
{
    bool waited = false;
    device->asks_waits = sl__observers != NULL;
    sl_status status = device->backend->plain_call(device, which, buffer, stream,
                                                   buffer ? buffer->bytes : 0, &waited, err);
    call->waited_for_device = waited;
    if (status == SL_OK) sl__tell(called, device, which, buffer, stream, waited);
    return status;
}

/* Whether a capture permits it. */
static sl_status check_capture(sl_device *device, sl_plain_call which, const sl_stream *stream,
                               sl_error *err)
{
    const char *name = sl__plain_call_names[which];
    sl_status status = sl__capture_refuses_memory_node(stream, name, err);
    return status != SL_OK ? status
                           : sl__capture_check(device, SL__CALLED_UNSAFE, name, stream, NULL, err);
}

/* A whole call. */
static sl_status plain_call(sl_device *device, sl_plain_call which, sl_buffer *buffer,
                            sl_stream *stream, sl_error *err)
{
    sl_call call;
    sl_status status = sl__call_begin_as(device, &call, sl__plain_call_names[which], err);
    if (status != SL_OK) return status;
    status = backend_call(device, &call, which, buffer, stream, err);
    sl__call_end(device, &call, NULL, status);
    return status;
}

/* ---- memory ------------------------------------------------------------------- */

/* Where the memory comes from, and what CUDA calls that. */
typedef struct source {
    sl_plain_call which;
    sl_place place;
    sl_alloc_how how;
} source;

/* The memory is allocated before its time is charged, so that a call that fails takes no time. On a
 * real GPU the allocation is the call. */
static sl_status allocate_in_call(sl_device *device, const source *from, const sl_tensor_spec *spec,
                                  sl_stream *stream, sl_tensor **memory, sl_error *err)
{
    sl_stream *named = from->how == SL_ALLOC_ASYNC ? stream : NULL;
    sl_call call;
    sl_status status = sl__call_begin_as(device, &call, sl__plain_call_names[from->which], err);
    if (status != SL_OK) return status;
    status = sl__tensor_create(device, spec, from->how, stream, memory, err);
    if (status == SL_OK) {
        status = backend_call(device, &call, from->which, (*memory)->buffer, named, err);
        if (status != SL_OK) {
            sl_tensor_release(*memory);
            *memory = NULL;
        }
    }
    sl__call_end(device, &call, NULL, status);
    return status;
}

/* Not settled, as sl_tensor_create. */
static sl_status allocate(sl_device *device, const source *from, size_t n_bytes, sl_stream *stream,
                          sl_tensor **memory, sl_error *err)
{
    sl_tensor_spec spec = { .dtype = SL_UINT8, .place = from->place, .ndim = 1 };
    sl_stream *named = from->how == SL_ALLOC_ASYNC ? stream : NULL;
    sl_status status = sl__device_enter(device, sl__plain_call_names[from->which], err);
    if (status != SL_OK) return status;
    if (n_bytes > INT64_MAX)
        return sl_fail(err, SL_ESHAPE, "%zu bytes do not fit in 63 bits", n_bytes);
    spec.dim[0] = (int64_t)n_bytes;
    status = check_capture(device, from->which, named, err);
    if (status == SL_OK) status = allocate_in_call(device, from, &spec, stream, memory, err);
    return sl__device_leave(device, status, err);
}

sl_status sl_cuda_malloc(sl_device *device, size_t n_bytes, sl_tensor **memory, sl_error *err)
{
    static const source from = { SL_PLAIN_MALLOC, SL_ON_DEVICE, SL_ALLOC_PLAIN };
    if (!device) return sl_fail(err, SL_ECLOSED, "the device is closed");
    return allocate(device, &from, n_bytes, device->core->legacy, memory, err);
}

sl_status sl_cuda_malloc_host(sl_device *device, size_t n_bytes, sl_tensor **memory, sl_error *err)
{
    static const source from = { SL_PLAIN_MALLOC_HOST, SL_PINNED, SL_ALLOC_PLAIN };
    return allocate(device, &from, n_bytes, NULL, memory, err);
}

sl_status sl_cuda_malloc_async(sl_stream *stream, size_t n_bytes, sl_tensor **memory, sl_error *err)
{
    static const source from = { SL_PLAIN_MALLOC_ASYNC, SL_ON_DEVICE, SL_ALLOC_ASYNC };
    if (!stream) return sl_fail(err, SL_ECLOSED, "the stream is closed");
    return allocate(stream->device, &from, n_bytes, stream, memory, err);
}

static sl_status enter_memory(sl_tensor *memory, const char *what, sl_error *err)
{
    sl_status status = sl__tensor_check(memory, "the memory", err);
    return status != SL_OK ? status : sl__device_enter(memory->device, what, err);
}

/* CUDA takes the address that it gave. */
static sl_status enter_whole(sl_tensor *memory, const char *what, sl_error *err)
{
    sl_status status = enter_memory(memory, what, err);
    if (status != SL_OK || !memory->is_view) return status;
    return sl_fail(err, SL_EINVAL,
                   "%s takes the tensor whose memory it is; this is a view of a "
                   "part of it",
                   what);
}

/* Reaps what the call has waited for while the tensor still has its memory. */
static sl_status release_memory(sl_tensor *memory, sl_plain_call which, sl_stream *stream,
                                sl_error *err)
{
    sl_device *device = memory->device;
    sl_status status = check_capture(device, which, stream, err);
    if (status == SL_OK) status = sl__buffer_settle_all(memory->buffer, err);
    sl__ask(status, call, which, memory->buffer, stream, err);
    if (status == SL_OK) status = plain_call(device, which, memory->buffer, stream, err);

    status = sl__device_leave(device, status, err);
    if (status != SL_OK) return status;
    sl__buffer_freed(memory->buffer, stream);
    sl__view_drop_all(memory->buffer);
    return sl__device_settle(device, err);
}

/* cudaFree and cudaFreeAsync take device memory. */
static sl_status check_device_memory(const sl_tensor *memory, const char *what, sl_error *err)
{
    if (memory->spec.place == SL_ON_DEVICE) return SL_OK;
    if (memory->spec.place == SL_PINNED && !memory->registered)
        return sl_fail(err, SL_EPLACE,
                       "%s takes device memory; this is pinned host memory: use cudaFreeHost",
                       what);
    sl_fail(err, SL_EPLACE, "%s takes device memory; this is a host tensor", what);
    return sl_advise(err, SL_EPLACE, SL_ADVICE_FREE_TENSOR, NULL);
}

sl_status sl_cuda_free(sl_tensor *memory, sl_error *err)
{
    sl_status status = enter_whole(memory, "cudaFree", err);
    if (status == SL_OK) status = check_device_memory(memory, "cudaFree", err);
    return status != SL_OK ? status : release_memory(memory, SL_PLAIN_FREE, NULL, err);
}

sl_status sl_cuda_free_host(sl_tensor *memory, sl_error *err)
{
    sl_status status = enter_whole(memory, "cudaFreeHost", err);
    if (status != SL_OK) return status;
    if (memory->spec.place == SL_ON_DEVICE)
        return sl_fail(err, SL_EPLACE,
                       "cudaFreeHost takes pinned host memory; this is device memory: "
                       "use cudaFree");
    if (memory->registered)
        return sl_fail(err, SL_EPLACE,
                       "cudaFreeHost takes memory of cudaMallocHost; this is a host tensor that "
                       "was pinned later: use cudaHostUnregister");
    if (memory->spec.place == SL_PAGEABLE)
        return sl_fail(err, SL_EPLACE,
                       "cudaFreeHost takes pinned host memory; this is a pageable host tensor: "
                       "use its free");
    return release_memory(memory, SL_PLAIN_FREE_HOST, NULL, err);
}

sl_status sl_cuda_free_async(sl_tensor *memory, sl_stream *stream, sl_error *err)
{
    sl_status status = enter_whole(memory, "cudaFreeAsync", err);
    if (status == SL_OK) status = sl__tensor_check_stream(memory, "the memory", stream, err);
    if (status == SL_OK) status = check_device_memory(memory, "cudaFreeAsync", err);
    return status != SL_OK ? status : release_memory(memory, SL_PLAIN_FREE_ASYNC, stream, err);
}

/* ---- page-locking --------------------------------------------------------------- */

static sl_status pin_in_call(sl_tensor *tensor, bool pin, sl_plain_call which, sl_error *err)
{
    sl_device *device = tensor->device;
    sl_call call;
    sl_status status = sl__call_begin_as(device, &call, sl__plain_call_names[which], err);
    if (status != SL_OK) return status;
    status = device->backend->host_pin(tensor->buffer, pin, err);
    if (status == SL_OK) {
        status = backend_call(device, &call, which, tensor->buffer, NULL, err);
        if (status != SL_OK) device->backend->host_pin(tensor->buffer, !pin, NULL);
    }
    sl__call_end(device, &call, NULL, status);
    return status;
}

static sl_status change_pinning(sl_tensor *tensor, bool pin, sl_error *err)
{
    sl_place place = pin ? SL_PINNED : SL_PAGEABLE;
    sl_plain_call which = pin ? SL_PLAIN_HOST_REGISTER : SL_PLAIN_HOST_UNREGISTER;
    sl_status status = check_capture(tensor->device, which, NULL, err);
    if (status == SL_OK) status = pin_in_call(tensor, pin, which, err);
    if (status != SL_OK) return sl__device_leave(tensor->device, status, err);
    sl__view_set_place(tensor->buffer, place);
    tensor->registered = pin;
    return sl__device_settle(tensor->device, err);
}

sl_status sl_tensor_pin(sl_tensor *tensor, sl_error *err)
{
    sl_status status = enter_whole(tensor, "pin", err);
    if (status != SL_OK) return status;
    if (tensor->spec.place == SL_ON_DEVICE)
        return sl_fail(err, SL_EPLACE, "a device tensor cannot be pinned: only host memory can");
    if (tensor->spec.place == SL_PINNED)
        return sl_fail(err, SL_ESTATE, "the tensor is pinned already");
    return change_pinning(tensor, true, err);
}

sl_status sl_tensor_unpin(sl_tensor *tensor, sl_error *err)
{
    sl_status status = enter_whole(tensor, "unpin", err);
    if (status != SL_OK) return status;
    if (tensor->spec.place == SL_ON_DEVICE)
        return sl_fail(err, SL_EPLACE, "a device tensor is not pinned: only host memory can be");
    if (tensor->spec.place == SL_PAGEABLE)
        return sl_fail(err, SL_ESTATE, "the tensor is not pinned");
    if (!tensor->registered)
        return sl_fail(err, SL_ESTATE,
                       "the tensor was allocated pinned: only what pin has pinned can be "
                       "unpinned");
    return change_pinning(tensor, false, err);
}

/* ---- memset, memcpy ---------------------------------------------------------------- */

static sl_status check_length(const sl_tensor *tensor, const char *noun, size_t n_bytes,
                              sl_error *err)
{
    if (n_bytes <= tensor->bytes) return SL_OK;
    return sl_fail(err, SL_EINVAL, "%zu bytes: %s has %zu", n_bytes, noun, tensor->bytes);
}

/* `flags` is SL_WORK_SYNC where the host waits. */
static sl_status set_bytes(sl_tensor *memory, int value, size_t n_bytes, sl_stream *stream,
                           unsigned flags, const char *what, sl_error *err)
{
    const sl_work work = {
        .kind = SL_WORK_MEMSET,
        .byte_value = (unsigned char)value,
        .bytes = n_bytes,
        .flags = (uint8_t)flags,
    };
    sl_operand side[SL_SIDES] = { { .buffer = NULL } };
    sl_status status = enter_memory(memory, what, err);
    if (status == SL_OK) status = sl__tensor_check_stream(memory, "the memory", stream, err);
    if (status != SL_OK) return status;
    if (memory->spec.place == SL_PAGEABLE)
        return sl_fail(err, SL_EPLACE,
                       "%s takes device or pinned memory; this is pageable: "
                       "use fill_",
                       what);
    status = check_length(memory, "the memory", n_bytes, err);
    if (status != SL_OK) return status;
    side[SL_OUTPUT] = sl__operand_part(memory, n_bytes, SL_WRITES);
    return sl__op_enqueue(stream, &work, &(sl__operands){ .side = side }, err);
}

sl_status sl_cuda_memset(sl_tensor *memory, int value, size_t n_bytes, sl_error *err)
{
    sl_status status = sl__tensor_check(memory, "the memory", err);
    if (status != SL_OK) return status;
    return set_bytes(memory, value, n_bytes, memory->device->core->legacy,
                     memory->spec.place == SL_PINNED ? SL_WORK_SYNC : 0, "cudaMemset", err);
}

sl_status sl_cuda_memset_async(sl_tensor *memory, int value, size_t n_bytes, sl_stream *stream,
                               sl_error *err)
{
    return set_bytes(memory, value, n_bytes, stream, 0, "cudaMemsetAsync", err);
}

/* CUDA copies between host tensors in the stream, streamlab at once. */
static sl_status copy_on_host(sl_tensor *dst, sl_tensor *src, size_t n_bytes,
                              const sl_stream *stream, bool sync, sl_error *err)
{
    sl_status status = SL_OK;
    if (stream->branch)
        return sl_fail(err, SL_EUNSUPPORTED,
                       "cudaMemcpyAsync between host tensors in stream \"%s\", which is captured: "
                       "streamlab copies them at once, which a graph cannot repeat: copy them in a "
                       "host function",
                       sl_stream_name(stream));
    if (sync || stream->legacy)
        status = sl__capture_check(stream->device, SL__CALLED_BY_CORE,
                                   sync ? "cudaMemcpy" : "cudaMemcpyAsync", stream, NULL, err);
    if (status != SL_OK) return sl__device_leave(stream->device, status, err);
    return sl__copy_on_host(dst, src, n_bytes, SL_UINT8, err);
}

/* `flags` is SL_WORK_SYNC for cudaMemcpy. A copy of bytes, whatever the dtypes. */
static sl_status copy_bytes(sl_tensor *dst, sl_tensor *src, size_t n_bytes, sl_stream *stream,
                            unsigned flags, sl_error *err)
{
    sl_work work = {
        .kind = SL_WORK_MEMCPY,
        .flags = (uint8_t)flags,
        .bytes = n_bytes,
        .dtype = SL_UINT8,
    };
    const sl_operand side[SL_SIDES] = {
        sl__operand_part(src, n_bytes, SL_READS),
        [SL_OUTPUT] = sl__operand_part(dst, n_bytes, SL_WRITES),
    };
    sl_status status = check_length(dst, "the destination", n_bytes, err);
    if (status == SL_OK) status = check_length(src, "the source", n_bytes, err);
    if (status == SL_OK) status = sl__view_check_apart(dst, src, n_bytes, err);
    if (status != SL_OK) return status;
    sl__tensor_follow(dst, stream->device);
    sl__tensor_follow(src, stream->device);
    if (sl__copy_is_on_host(dst, src))
        return copy_on_host(dst, src, n_bytes, stream, flags & SL_WORK_SYNC, err);
    work.copy_kind = sl__copy_kind(dst, src);
    return sl__op_enqueue(stream, &work, &(sl__operands){ .side = side }, err);
}

sl_status sl_cuda_memcpy(sl_tensor *dst, sl_tensor *src, size_t n_bytes, sl_error *err)
{
    sl_device *device = NULL;
    sl_status status = sl__copy_enter(dst, src, "cudaMemcpy", &device, err);
    if (status != SL_OK) return status;
    return copy_bytes(dst, src, n_bytes, device->core->legacy, SL_WORK_SYNC, err);
}

sl_status sl_cuda_memcpy_async(sl_tensor *dst, sl_tensor *src, size_t n_bytes, sl_stream *stream,
                               sl_error *err)
{
    sl_device *device = NULL;
    sl_status status = sl__copy_enter(dst, src, "cudaMemcpyAsync", &device, err);
    if (status == SL_OK && stream && sl__copy_is_on_host(dst, src))
        device = stream->device; /* between host tensors any stream will do */
    if (status == SL_OK) status = sl__copy_check_stream(dst, src, stream, device, err);
    return status != SL_OK ? status : copy_bytes(dst, src, n_bytes, stream, 0, err);
}

/* ---- questions, and access between devices ------------------------------------------ */

sl_status sl_cuda_mem_get_info(sl_device *device, int64_t *free_bytes, int64_t *total_bytes,
                               sl_error *err)
{
    sl_call call;
    sl_status status = sl__device_enter(device, "cudaMemGetInfo", err);
    if (status == SL_OK && device->info.repeats)
        sl__buffer_relieve(device); /* whatever garbage there is, the answer is the same */
    if (status == SL_OK) status = sl__call_begin_as(device, &call, "cudaMemGetInfo", err);
    if (status != SL_OK) return status;
    status = device->backend->memory_info(device, free_bytes, total_bytes, err);
    sl__call_end(device, &call, NULL, status);
    return sl__device_finish(device, status, err);
}

static sl_status check_pair(sl_device *device, sl_device *peer, const char *cuda_name,
                            sl_error *err)
{
    sl_status status = sl__device_enter(device, cuda_name, err);
    if (status == SL_OK) status = sl__device_enter(peer, cuda_name, err);
    if (status != SL_OK) return status;
    if (device->backend != peer->backend)
        return sl_fail(err, SL_EDEVICE, "%s takes two devices of one backend, not %s %d and %s %d",
                       cuda_name, device->backend->name, device->info.index, peer->backend->name,
                       peer->info.index);
    if (device->info.index == peer->info.index)
        return sl_fail(err, SL_EINVAL, "%s takes two devices; both are %s %d", cuda_name,
                       device->backend->name, device->info.index);
    return SL_OK;
}

static sl_status peer_access(sl_device *device, sl_device *peer, sl_peer_call which, bool *answer,
                             sl_error *err)
{
    static const char *const names[] = {
        [SL_PEER_CAN_ACCESS] = "cudaDeviceCanAccessPeer",
        [SL_PEER_ENABLE] = "cudaDeviceEnablePeerAccess",
        [SL_PEER_DISABLE] = "cudaDeviceDisablePeerAccess",
    };
    sl_call call;
    sl_status status = check_pair(device, peer, names[which], err);
    if (status == SL_OK) status = sl__call_begin_as(device, &call, names[which], err);
    if (status != SL_OK) return status;
    status = device->backend->peer_access(device, peer, which, answer, err);
    sl__call_end(device, &call, NULL, status);
    return sl__device_finish(device, status, err);
}

sl_status sl_cuda_device_can_access_peer(sl_device *device, sl_device *peer, bool *can,
                                         sl_error *err)
{
    return peer_access(device, peer, SL_PEER_CAN_ACCESS, can, err);
}

sl_status sl_cuda_device_enable_peer_access(sl_device *device, sl_device *peer, sl_error *err)
{
    bool changed = false;
    sl_status status = peer_access(device, peer, SL_PEER_ENABLE, &changed, err);
    if (status != SL_OK || changed) return status;
    return sl_fail(err, SL_ESTATE, "device %d has access to device %d already", device->info.index,
                   peer->info.index);
}

sl_status sl_cuda_device_disable_peer_access(sl_device *device, sl_device *peer, sl_error *err)
{
    bool changed = false;
    sl_status status = peer_access(device, peer, SL_PEER_DISABLE, &changed, err);
    if (status != SL_OK || changed) return status;
    return sl_fail(err, SL_ESTATE, "device %d has no access to device %d that could be taken",
                   device->info.index, peer->info.index);
}

/* ---- calls that only cost ------------------------------------------------------------ */

/* What captures make of these calls: cudaFuncSetCacheConfig is permitted, and so is cublasDestroy,
 * which spoils them. */
static sl_status permitted_call(sl_device *device, sl_plain_call which, sl_error *err)
{
    bool is_safe = which == SL_PLAIN_FUNC_SET_CACHE_CONFIG || which == SL_PLAIN_CUBLAS_DESTROY;
    sl_status status = is_safe ? SL_OK : check_capture(device, which, NULL, err);
    if (status == SL_OK) status = plain_call(device, which, NULL, NULL, err);
    if (which == SL_PLAIN_CUBLAS_DESTROY && status == SL_OK)
        sl__capture_suspect(device, sl__plain_call_names[which]);
    if (which == SL_PLAIN_CUBLAS_CREATE && status != SL_OK)
        status = sl__capture_hidden(device, status, err);
    return status;
}

static sl_status costing_call(sl_device *device, sl_plain_call which, sl_error *err)
{
    int *handles = &device->core->cublas_handles;
    if (which == SL_PLAIN_CUBLAS_DESTROY && *handles == 0)
        return sl_fail(err, SL_ESTATE, "no handle of cublas_create is left");
    sl_status status = permitted_call(device, which, err);
    if (status == SL_OK)
        *handles += (which == SL_PLAIN_CUBLAS_CREATE) - (which == SL_PLAIN_CUBLAS_DESTROY);
    return sl__device_finish(device, status, err);
}

sl_status sl_cuda_call(sl_device *device, const char *cuda_name, sl_error *err)
{
    static const sl_plain_call calls[] = {
        SL_PLAIN_FUNC_SET_CACHE_CONFIG,
        SL_PLAIN_DEVICE_SET_LIMIT,
        SL_PLAIN_CUBLAS_CREATE,
        SL_PLAIN_CUBLAS_DESTROY,
    };
    if (!cuda_name) return sl_fail(err, SL_EINVAL, "a plain call needs a name");
    sl_status status = sl__device_enter(device, cuda_name, err);
    if (status != SL_OK) return status;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(sl__plain_call_names[calls[i]], cuda_name))
            return costing_call(device, calls[i], err);
    return sl_fail(err, SL_ENOTFOUND,
                   "there is no plain call \"%.60s\": known are cudaFuncSetCacheConfig, "
                   "cudaDeviceSetLimit, cublasCreate, cublasDestroy",
                   cuda_name);
}
