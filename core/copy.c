/* copy.c - moving bytes: between tensors, and between tensors and the caller.
 *
 * Reading and writing a device tensor goes through a temporary pageable buffer
 * and an ordinary copy in the stream, so it takes the time that it takes on a real
 * GPU and is in the timeline.
 */
#include "copy.h"

#include <stdlib.h>

#include "buffer.h"
#include "device.h"
#include "dtype.h"
#include "observers.h"
#include "op.h"
#include "record.h"
#include "stream.h"
#include "tensor.h"
#include "view.h"

uint8_t sl__copy_kind(const sl_tensor *dst, const sl_tensor *src)
{
    if (dst->spec.place != SL_ON_DEVICE) return SL_SPAN_MEMCPY_D2H;
    if (src->spec.place != SL_ON_DEVICE) return SL_SPAN_MEMCPY_H2D;
    return dst->device == src->device ? SL_SPAN_MEMCPY_D2D : SL_SPAN_MEMCPY_P2P;
}

sl_status sl__copy_on_host(sl_tensor *dst, sl_tensor *src, size_t bytes, sl_dtype dtype,
                           sl_error *err)
{
    const sl_work work = {
        .kind = SL_WORK_MEMCPY,
        .dtype = (uint8_t)dtype,
        .bytes = bytes,
    };
    const sl_operand touched[] = { sl__operand_part(src, bytes, SL_READS),
                                   sl__operand_part(dst, bytes, SL_WRITES) };
    sl_device *device = dst->device;
    sl_status status = SL_OK;
    sl__ask(status, access, touched, 2, err);
    if (status == SL_OK) status = sl__host_compute(&touched[1], &touched[0], &work, err);
    return sl__device_finish(device, status, err);
}

bool sl__copy_is_on_host(const sl_tensor *dst, const sl_tensor *src)
{
    return dst->spec.place != SL_ON_DEVICE && src->spec.place != SL_ON_DEVICE;
}

sl_status sl__copy_enter(const sl_tensor *dst, const sl_tensor *src, const char *what,
                         sl_device **device, sl_error *err)
{
    sl_status status = sl__tensor_check(dst, "the destination", err);
    if (status == SL_OK) status = sl__tensor_check(src, "the source", err);
    if (status == SL_OK) status = sl__tensor_meet(dst, src, device, err);
    if (status == SL_OK) status = sl__device_enter(*device, what, err);
    if (status == SL_OK && src->device != *device && sl__tensor_are_peers(dst, src))
        status = sl__device_enter(src->device, what, err);
    return status;
}

sl_status sl__copy_check_stream(const sl_tensor *dst, const sl_tensor *src, const sl_stream *stream,
                                const sl_device *device, sl_error *err)
{
    if (stream && stream->device == src->device && sl__tensor_are_peers(dst, src)) return SL_OK;
    return sl__stream_check_device(stream, device, err);
}

/* ---- between tensors ---------------------------------------------------------- */

SL__RARE static sl_status refuse_copy(const sl_tensor *dst, const sl_tensor *src, sl_error *err)
{
    sl__shape_text d, s;
    if (!sl__same_shape(&dst->spec, &src->spec))
        return sl_fail(err, SL_ESHAPE, "the destination is %s, the source %s",
                       sl__shape_format(&dst->spec, &d), sl__shape_format(&src->spec, &s));
    sl_fail(err, SL_EDTYPE, "the destination is %s, the source %s", sl_dtype_name(dst->spec.dtype),
            sl_dtype_name(src->spec.dtype));
    return sl_advise(err, SL_EDTYPE, SL_ADVICE_CAST, sl_dtype_name(dst->spec.dtype));
}

/* Whether check_copy has nothing to say, quickly: most copies are right, and of memory of one
 * device. */
static inline bool is_right(const sl_tensor *dst, const sl_tensor *src)
{
    return dst && src && dst->buffer && src->buffer && dst->buffer != src->buffer
           && dst->device == src->device && sl__device_is_ready(dst->device)
           && dst->spec.dtype == src->spec.dtype && sl__same_shape(&dst->spec, &src->spec);
}

SL__RARE static sl_status check_copy(sl_tensor *dst, sl_tensor *src, sl_device **device,
                                     sl_error *err)
{
    sl_status status = sl__copy_enter(dst, src, "copy", device, err);
    if (status != SL_OK) return status;
    if (!sl__same_shape(&dst->spec, &src->spec) || dst->spec.dtype != src->spec.dtype)
        return refuse_copy(dst, src, err);
    return sl__view_check_apart(dst, src, dst->bytes, err);
}

/* PyTorch: a copy that stays on GPUs never waits. */
static bool has_host_side(uint8_t copy_kind)
{
    return copy_kind != SL_SPAN_MEMCPY_D2D && copy_kind != SL_SPAN_MEMCPY_P2P;
}

static sl_status submit_copy(sl_stream *stream, const sl_work *work, const sl__operands *operands,
                             sl_error *err)
{
    sl_op *op;
    sl_status status = sl__op_begin(stream, work, operands, &op, err);
    return status != SL_OK ? status : sl__op_submit(op, err);
}

/* When a copy from pageable memory returns, CUDA promises only that its source has been read. That
 * the data has arrived is what streamlab and PyTorch add. */
SL__RARE static sl_status wait_for_copy(sl_stream *stream, const sl_tensor *src, sl_error *err)
{
    bool is_promised = src->spec.place != SL_PAGEABLE;
    sl_status status = sl__stream_wait_idle(stream, err);
    if (status == SL_OK)
        sl__tell(waited_for_stream, stream,
                 is_promised ? SL_ACCIDENT_UNKNOWN : SL_ACCIDENT_BLOCKING_COPY);
    return status;
}

/* The end of a copy that has been checked. */
static inline sl_status enqueue_copy(const sl_work *work, const sl__operands *operands,
                                     const sl_tensor *src, bool non_blocking, sl_stream *stream,
                                     sl_error *err)
{
    if (non_blocking || !has_host_side(work->copy_kind))
        return sl__op_enqueue(stream, work, operands, err);
    sl_status status = submit_copy(stream, work, operands, err);
    if (status == SL_OK) status = wait_for_copy(stream, src, err);
    return sl__device_finish(stream->device, status, err);
}

/* A copy that is not known; apart, so that one that is runs through fewer lines of code. */
__attribute__((noinline)) static sl_status
copy_new(sl_tensor *dst, sl_tensor *src, bool non_blocking, sl_stream *stream, sl_error *err)
{
    sl_work work = { .kind = SL_WORK_MEMCPY };
    sl_status status = SL_OK;
    const bool right = is_right(dst, src);
    sl_device *device = right ? dst->device : NULL;
    if (!right) status = check_copy(dst, src, &device, err);
    if (status != SL_OK) return status;
    bool on_host = sl__copy_is_on_host(dst, src);
    if (!on_host) status = sl__copy_check_stream(dst, src, stream, device, err);
    if (status != SL_OK
        || sl__view_same_bytes(dst, src)) /* PyTorch: a copy onto itself does nothing */
        return status;
    if (dst->device != src->device) {
        sl__tensor_follow(dst, device);
        sl__tensor_follow(src, device);
    }
    work.bytes = dst->bytes;
    work.dtype = (uint8_t)dst->spec.dtype;
    if (on_host) return sl__copy_on_host(dst, src, work.bytes, dst->spec.dtype, err);
    work.copy_kind = sl__copy_kind(dst, src);
    const sl_operand from = sl__operand_of(src, SL_READS), to = sl__operand_of(dst, SL_WRITES);
    const sl_operand side[SL_SIDES] = { from, [SL_OUTPUT] = to };
    if (right)
        sl__form_remember(device->core->forms, SL__COPIES, dst, &(sl_kernel_args){ .a = src },
                          device->core->drops + 1, &work, side);
    return enqueue_copy(&work, &(sl__operands){ .side = side }, src, non_blocking, stream, err);
}

sl_status sl_tensor_copy(sl_tensor *dst, sl_tensor *src, bool non_blocking, sl_stream *stream,
                         sl_error *err)
{
    const sl_kernel_args args = { .a = src };
    const bool may_be_known = stream && sl__device_is_ready(stream->device);
    const sl__device_core *core = may_be_known ? stream->device->core : NULL;
    const sl__launch_form *form = NULL;
    if (core) form = sl__form_find(core->forms, SL__COPIES, dst, &args, core->drops + 1);
    if (!form) return copy_new(dst, src, non_blocking, stream, err);
    const sl__operands operands = { .side = form->side, .known = true };
    return enqueue_copy(&form->work, &operands, src, non_blocking, stream, err);
}

/* ---- between a tensor and the caller -------------------------------------------- */

static sl_status check_range(const sl_tensor *tensor, int64_t first, int64_t n,
                             const double *values, sl_error *err)
{
    if (first < 0 || n < 0 || first > tensor->numel || n > tensor->numel - first)
        return sl_fail(err, SL_EINVAL, "%lld elements after the first %lld: the tensor has %lld",
                       (long long)n, (long long)first, (long long)tensor->numel);
    if (n && !values)
        return sl_fail(err, SL_EINVAL, "there is no array for %lld values", (long long)n);
    return SL_OK;
}

/* Host tensors may be read and written inside a host function; device tensors
 * need the device. */
static sl_status enter_access(sl_tensor *tensor, const char *what, sl_stream *stream, sl_error *err)
{
    sl_status status = sl__tensor_check(tensor, "the tensor", err);
    if (status != SL_OK || tensor->spec.place != SL_ON_DEVICE) return status;
    status = sl__tensor_check_stream(tensor, "the tensor", stream, err);
    return status != SL_OK ? status : sl__device_enter(tensor->device, what, err);
}

/* In pieces through a small array, so that no allocation can fail half-way. */
static sl_status read_host(sl_buffer *buffer, size_t offset, sl_dtype dtype, int64_t n,
                           double *values, sl_error *err)
{
    unsigned char raw[8192];
    size_t elem_bytes = sl_dtype_bytes(dtype);
    int64_t most = (int64_t)(sizeof raw / elem_bytes);
    for (int64_t done = 0; done < n;) {
        int64_t part = n - done < most ? n - done : most;
        if (done > 0 && *buffer->device->interrupted)
            return sl_fail(err, SL_EINTERRUPT, "interrupted");
        sl_status status = buffer->device->backend->host_read(
            buffer, offset + (size_t)done * elem_bytes, (size_t)part * elem_bytes, raw, err);
        if (status != SL_OK) return status;
        sl__dtype_to_double(dtype, raw, (size_t)part, values + done);
        done += part;
    }
    return SL_OK;
}

/* A device tensor's elements into a temporary buffer: enqueue, wait. */
static sl_status fetch(sl_tensor *tensor, size_t offset, size_t bytes, sl_stream *stream,
                       sl_buffer *host, sl_error *err)
{
    const sl_work work = {
        .kind = SL_WORK_MEMCPY,
        .copy_kind = SL_SPAN_MEMCPY_D2H,
        .dtype = (uint8_t)tensor->spec.dtype,
        .bytes = bytes,
    };
    const sl_operand side[SL_SIDES] = {
        { .buffer = tensor->buffer, .offset = offset, .bytes = bytes, .access = SL_READS },
        [SL_OUTPUT] = { .buffer = host, .bytes = bytes, .access = SL_WRITES },
    };
    sl_status status = submit_copy(stream, &work, &(sl__operands){ .side = side }, err);
    return status != SL_OK ? status : sl__stream_wait(stream, err);
}

static sl_status read_device(sl_tensor *tensor, size_t offset, int64_t n, double *values,
                             sl_stream *stream, sl_error *err)
{
    size_t bytes = (size_t)n * sl_dtype_bytes(tensor->spec.dtype);
    sl_buffer *host;
    sl_status status = sl__buffer_create(tensor->device, bytes, SL_PAGEABLE, SL_ALLOC_TENSOR, NULL,
                                         &host, err);
    if (status != SL_OK) return status;
    status = fetch(tensor, offset, bytes, stream, host, err);
    if (status == SL_OK) status = read_host(host, 0, tensor->spec.dtype, n, values, err);
    sl__buffer_release(host);
    return status;
}

static sl_status read_host_tensor(sl_tensor *tensor, size_t offset, int64_t n, double *values,
                                  sl_error *err)
{
    size_t bytes = (size_t)n * sl_dtype_bytes(tensor->spec.dtype);
    const sl_operand read = {
        .buffer = tensor->buffer, .offset = offset, .bytes = bytes, .access = SL_READS
    };
    sl_status status = SL_OK;
    sl__ask(status, access, &read, 1, err);
    return status != SL_OK ? status
                           : read_host(tensor->buffer, offset, tensor->spec.dtype, n, values, err);
}

sl_status sl_tensor_read(sl_tensor *tensor, int64_t first, int64_t n, double *values,
                         sl_stream *stream, sl_error *err)
{
    sl_status status = enter_access(tensor, "read", stream, err);
    if (status == SL_OK) status = check_range(tensor, first, n, values, err);
    if (status != SL_OK || n == 0) return status;
    size_t offset = tensor->offset + (size_t)first * sl_dtype_bytes(tensor->spec.dtype);
    if (tensor->spec.place == SL_ON_DEVICE)
        status = read_device(tensor, offset, n, values, stream, err);
    else
        status = read_host_tensor(tensor, offset, n, values, err);
    return sl__device_finish(tensor->device, status, err);
}

sl_status sl_tensor_peek(sl_tensor *tensor, int64_t first, int64_t n, double most_s, double *values,
                         bool *has_values, sl_stream *stream, sl_error *err)
{
    const sl_dtype dtype = tensor->spec.dtype;
    const sl_backend *backend = tensor->device->backend;
    *has_values = true;
    if (tensor->spec.place == SL_ON_DEVICE && tensor->device->core->captures)
        return sl_fail(err, SL_ESTATE, "a stream is captured: reading would spoil that");
    if (!backend->pending_s) return sl_tensor_read(tensor, first, n, values, stream, err);
    sl_status status = enter_access(tensor, "read", stream, err);
    if (status == SL_OK) status = check_range(tensor, first, n, values, err);
    if (status != SL_OK) return status;
    *has_values = backend->pending_s(tensor->buffer, most_s) <= most_s;
    if (*has_values)
        status = read_host(tensor->buffer, tensor->offset + (size_t)first * sl_dtype_bytes(dtype),
                           dtype, n, values, err);
    return status != SL_OK ? sl__device_leave(tensor->device, status, err) : SL_OK;
}

static sl_status write_device(sl_tensor *tensor, size_t offset, size_t bytes, const void *raw,
                              sl_stream *stream, sl_error *err)
{
    const sl_work work = {
        .kind = SL_WORK_MEMCPY,
        .copy_kind = SL_SPAN_MEMCPY_H2D,
        .dtype = (uint8_t)tensor->spec.dtype,
        .bytes = bytes,
    };
    sl_device *device = tensor->device;
    sl_buffer *host;
    sl_status status = sl__buffer_create(device, bytes, SL_PAGEABLE, SL_ALLOC_TENSOR, NULL, &host,
                                         err);
    if (status != SL_OK) return status;
    const sl_operand side[SL_SIDES] = {
        { .buffer = host, .bytes = bytes, .access = SL_READS },
        [SL_OUTPUT] = { .buffer = tensor->buffer,
                        .offset = offset,
                        .bytes = bytes,
                        .access = SL_WRITES },
    };
    status = device->backend->host_write(host, 0, bytes, raw, err);
    if (status == SL_OK) status = submit_copy(stream, &work, &(sl__operands){ .side = side }, err);
    sl__buffer_release(host); /* the operation keeps it */
    return status != SL_OK ? status : sl__stream_wait(stream, err);
}

static sl_status write_host(sl_buffer *buffer, size_t offset, size_t bytes, const void *raw,
                            sl_error *err)
{
    const sl_operand written = {
        .buffer = buffer, .offset = offset, .bytes = bytes, .access = SL_WRITES
    };
    sl_status status = SL_OK;
    sl__ask(status, access, &written, 1, err);
    return status != SL_OK ? status
                           : buffer->device->backend->host_write(buffer, offset, bytes, raw, err);
}

sl_status sl_tensor_write(sl_tensor *tensor, int64_t first, int64_t n, const double *values,
                          sl_stream *stream, sl_error *err)
{
    sl_status status = enter_access(tensor, "write", stream, err);
    if (status == SL_OK) status = check_range(tensor, first, n, values, err);
    if (status != SL_OK || n == 0) return status;
    size_t elem_bytes = sl_dtype_bytes(tensor->spec.dtype);
    size_t bytes = (size_t)n * elem_bytes;
    size_t offset = tensor->offset + (size_t)first * elem_bytes;
    void *raw = malloc(bytes);
    if (!raw) return sl__no_memory(err, "%lld values to write", (long long)n);
    sl__dtype_from_double(tensor->spec.dtype, values, (size_t)n, raw);
    if (tensor->spec.place == SL_ON_DEVICE)
        status = write_device(tensor, offset, bytes, raw, stream, err);
    else
        status = write_host(tensor->buffer, offset, bytes, raw, err);
    free(raw);
    return sl__device_finish(tensor->device, status, err);
}
