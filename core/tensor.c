/* tensor.c - tensors: creation with its checks, free, filling, page-locking. */
#include "tensor.h"

#include <math.h>
#include <stdlib.h>

#include "buffer.h"
#include "device.h"
#include "dtype.h"
#include "graph/graph.h"
#include "observers.h"
#include "op.h"
#include "record.h"
#include "view.h"

/* ---- shapes ----------------------------------------------------------------- */

static sl_status check_spec(const sl_tensor_spec *spec, sl_error *err)
{
    if (!spec) return sl_fail(err, SL_EINVAL, "a tensor needs a shape and a dtype");
    if ((unsigned)spec->dtype >= SL_DTYPES)
        return sl_fail(err, SL_EDTYPE, "there is no dtype %d", (int)spec->dtype);
    if ((unsigned)spec->place > SL_PINNED)
        return sl_fail(err, SL_EPLACE, "there is no place %d", (int)spec->place);
    if (spec->ndim < 0 || spec->ndim > SL_MAX_DIMS)
        return sl_fail(err, SL_ESHAPE, "a tensor has 0 to %d dimensions, not %d", SL_MAX_DIMS,
                       spec->ndim);
    for (int i = 0; i < spec->ndim; i++)
        if (spec->dim[i] < 0)
            return sl_fail(err, SL_ESHAPE, "dimension %d is %lld: a size cannot be negative", i + 1,
                           (long long)spec->dim[i]);
    return SL_OK;
}

/* The element count, which times the element's bytes must fit into an int64 and a size_t. */
static sl_status count_elems(const sl_tensor_spec *spec, int64_t *numel, sl_error *err)
{
    int64_t most = SIZE_MAX < INT64_MAX ? (int64_t)SIZE_MAX : INT64_MAX;
    int64_t limit = most / (int64_t)sl_dtype_bytes(spec->dtype);
    sl__shape_text shape;
    *numel = 1;
    for (int i = 0; i < spec->ndim; i++) {
        if (spec->dim[i] == 0) {
            *numel = 0;
            return SL_OK;
        }
    }
    for (int i = 0; i < spec->ndim; i++) {
        if (*numel > limit / spec->dim[i])
            return sl_fail(err, SL_ESHAPE, "%s %s elements do not fit in %d bits",
                           sl__shape_format(spec, &shape), sl_dtype_name(spec->dtype),
                           (int)sizeof(size_t) * 8);
        *numel *= spec->dim[i];
    }
    return SL_OK;
}

/* ---- lifecycle ---------------------------------------------------------------- */

static sl_status check_create(sl_device *device, const sl_tensor_spec *spec, sl_stream *stream,
                              sl_error *err)
{
    sl_status status = check_spec(spec, err);
    if (status != SL_OK || spec->place != SL_ON_DEVICE) return status;
    if (!stream) return sl_fail(err, SL_ECLOSED, "the stream is closed");
    return sl__device_check_same(stream->device, "the stream", device, "the tensor", err);
}

sl_tensor *sl__tensor_new(const sl_tensor_spec *spec, int64_t numel, sl_error *err)
{
    sl_tensor *tensor = calloc(1, sizeof *tensor);
    if (!tensor) {
        sl__no_memory(err, "a tensor's record");
        return NULL;
    }
    tensor->spec = *spec;
    tensor->numel = numel;
    tensor->bytes = (size_t)numel * sl_dtype_bytes(spec->dtype);
    tensor->refs = 1;
    return tensor;
}

void sl__tensor_attach(sl_tensor *tensor, sl_device *device, sl_buffer *buffer)
{
    tensor->buffer = buffer;
    SL__PUSH(buffer->tensors, tensor, next, link);
    tensor->device = sl_device_retain(device);
    tensor->id = ++device->core->last_tensor_id;
    device->core->stats.tensors++;
}

sl_status sl__tensor_create(sl_device *device, const sl_tensor_spec *spec, sl_alloc_how how,
                            sl_stream *stream, sl_tensor **out, sl_error *err)
{
    sl_buffer *buffer;
    int64_t numel;
    sl_status status = check_create(device, spec, stream, err);
    if (status == SL_OK) status = count_elems(spec, &numel, err);
    if (status != SL_OK) return status;
    sl_tensor *tensor = sl__tensor_new(spec, numel, err);
    if (!tensor) return SL_ENOMEM;
    status = sl__buffer_create(device, tensor->bytes, spec->place, how,
                               spec->place == SL_PAGEABLE ? NULL : stream, &buffer, err);
    if (status != SL_OK) {
        free(tensor);
        return status;
    }
    sl__tensor_attach(tensor, device, buffer);
    buffer->tensor_id = tensor->id;
    buffer->made_as = *spec;
    *out = tensor;
    return SL_OK;
}

/* Time may have passed for the host in the allocation. What has failed meanwhile is left for the
 * next call to report: this one has a tensor to return. */
sl_status sl_tensor_create(sl_device *device, const sl_tensor_spec *spec, sl_stream *stream,
                           sl_tensor **tensor, sl_error *err)
{
    sl_status status = sl__device_enter(device, "creating a tensor", err);
    if (status != SL_OK) return status;
    status = sl__tensor_create(device, spec, SL_ALLOC_TENSOR, stream, tensor, err);
    return sl__device_leave(device, status, err);
}

sl_tensor *sl_tensor_retain(sl_tensor *tensor)
{
    if (tensor) tensor->refs++;
    return tensor;
}

void sl__tensor_drop_buffer(sl_tensor *tensor)
{
    sl_buffer *buffer = tensor->buffer;
    if (!buffer) return;
    SL__UNLINK(tensor, next, link);
    tensor->device->core->drops++;
    tensor->buffer = NULL;
    sl__buffer_release(buffer);
}

void sl_tensor_release(sl_tensor *tensor)
{
    if (!tensor || --tensor->refs > 0) return;
    sl_device *device = tensor->device;
    sl__tensor_drop_buffer(tensor);
    free(tensor);
    device->core->stats.tensors--;
    sl_device_release(device);
}

sl_status sl_tensor_free(sl_tensor *tensor, sl_error *err)
{
    sl_status status = sl__tensor_check(tensor, "the tensor", err);
    if (status == SL_OK) /* inside a host function another call may be using it */
        status = sl__device_enter_lost(tensor->device, "free", err);
    if (status != SL_OK) return status;
    sl__tensor_drop_buffer(tensor);
    sl__device_reap(tensor->device);
    return SL_OK;
}

/* ---- questions ------------------------------------------------------------------ */

const sl_tensor_spec *sl_tensor_get_spec(const sl_tensor *tensor) { return &tensor->spec; }

sl_device *sl_tensor_device(const sl_tensor *tensor) { return tensor->device; }

int64_t sl_tensor_numel(const sl_tensor *tensor) { return tensor->numel; }

size_t sl_tensor_bytes(const sl_tensor *tensor) { return tensor->bytes; }

uint64_t sl_tensor_id(const sl_tensor *tensor) { return tensor->id; }

bool sl_tensor_is_freed(const sl_tensor *tensor) { return !tensor->buffer; }

int64_t sl_tensor_in_flight(const sl_tensor *tensor)
{
    const sl_buffer *buffer = tensor->buffer;
    return buffer ? buffer->uses + sl__graph_launches_using(tensor->device, buffer) : 0;
}

sl_status sl__tensor_refuse(const sl_tensor *tensor, const char *noun, sl_error *err)
{
    return sl_fail(err, SL_ECLOSED, tensor ? "%s has been freed" : "%s is missing", noun);
}

sl_status sl__tensor_check_stream(const sl_tensor *tensor, const char *noun,
                                  const sl_stream *stream, sl_error *err)
{
    sl_status status = sl__tensor_check(tensor, noun, err);
    if (status != SL_OK) return status;
    if (!stream) return sl_fail(err, SL_ECLOSED, "the stream is closed");
    return sl__device_check_same(tensor->device, noun, stream->device, "the stream", err);
}

bool sl__tensor_are_peers(const sl_tensor *dst, const sl_tensor *src)
{
    return dst->spec.place == SL_ON_DEVICE && src->spec.place == SL_ON_DEVICE
           && sl__device_are_peers(dst->device, src->device);
}

sl_status sl__tensor_meet(const sl_tensor *dst, const sl_tensor *src, sl_device **device,
                          sl_error *err)
{
    bool on_src = dst->spec.place != SL_ON_DEVICE && src->spec.place == SL_ON_DEVICE;
    const sl_tensor *host = on_src ? dst : src;
    *device = on_src ? src->device : dst->device;
    if (host->device == *device || sl__tensor_are_peers(dst, src)
        || (host->spec.place != SL_ON_DEVICE && host->device->backend == (*device)->backend))
        return SL_OK;
    return sl__device_check_same(src->device, "the source", dst->device, "the destination", err);
}

/* Operations of the old device that use the tensor continue there. All tensors of the buffer
 * move. */
void sl__tensor_follow(sl_tensor *tensor, sl_device *device)
{
    sl_device *old = tensor->device;
    if (old == device || tensor->spec.place == SL_ON_DEVICE) return;
    sl__buffer_move(tensor->buffer, device);
    for (sl_tensor *t = tensor->buffer->tensors; t; t = t->next) {
        old->core->stats.tensors--;
        t->device = sl_device_retain(device);
        device->core->stats.tensors++;
        sl_device_release(old);
    }
}

/* ---- filling ---------------------------------------------------------------------- */

/* FILL, RAND or RANDN where the tensor is: a kernel, or host work. */
static sl_status fill_with(sl_tensor *tensor, sl_work *work, sl_stream *stream, sl_error *err)
{
    const sl_operand side[SL_SIDES] = { [SL_OUTPUT] = sl__operand_of(tensor, SL_WRITES) };
    sl_device *device = tensor->device;
    sl_status status = SL_OK;
    if (tensor->spec.place == SL_ON_DEVICE)
        return sl__op_enqueue(stream, work, &(sl__operands){ .side = side }, err);
    sl__ask(status, access, &side[SL_OUTPUT], 1, err);
    if (status == SL_OK) status = sl__host_compute(&side[SL_OUTPUT], NULL, work, err);
    return sl__device_finish(device, status, err);
}

static sl_status enter_fill(sl_tensor *tensor, const char *what, sl_stream *stream, sl_error *err)
{
    sl_status status = sl__tensor_check(tensor, "the tensor", err);
    if (status == SL_OK && tensor->spec.place == SL_ON_DEVICE)
        status = sl__tensor_check_stream(tensor, "the tensor", stream, err);
    return status != SL_OK ? status : sl__device_enter(tensor->device, what, err);
}

/* `value` as an integer tensor holds it; for other dtypes the kernel rounds. */
static double held(sl_dtype dtype, double value)
{
    int32_t raw;
    if (sl__dtype_is_float(dtype)) return value;
    sl__dtype_from_double(dtype, &value, 1, &raw);
    sl__dtype_to_double(dtype, &raw, 1, &value);
    return value;
}

/* Whether all bytes of `value` are the same in this dtype, so that a memset can fill it: those of 0
 * are, those of -0.0 are not, and of uint8 all are. */
static bool is_byte_fill(sl_dtype dtype, double value)
{
    return dtype == SL_UINT8 || (value == 0 && !signbit(value));
}

sl_status sl_tensor_fill(sl_tensor *tensor, double value, sl_stream *stream, sl_error *err)
{
    sl_work work = { .kind = SL_WORK_KERNEL, .kernel = SL_KERNEL_FILL };
    sl_status status = enter_fill(tensor, "fill", stream, err);
    if (status != SL_OK) return status;
    value = held(tensor->spec.dtype, value);
    if (tensor->spec.place == SL_ON_DEVICE && is_byte_fill(tensor->spec.dtype, value)) {
        work = (sl_work){ .kind = SL_WORK_MEMSET,
                          .bytes = tensor->bytes,
                          .byte_value = (uint8_t)value };
        return fill_with(tensor, &work, stream, err);
    }
    work.scalar = value;
    work.dtype = (uint8_t)tensor->spec.dtype;
    work.n = tensor->numel;
    return fill_with(tensor, &work, stream, err);
}

static sl_status fill_random(sl_tensor *tensor, sl_kernel kernel, const char *what, uint64_t seed,
                             uint64_t sequence, sl_stream *stream, sl_error *err)
{
    sl_work work = {
        .kind = SL_WORK_KERNEL,
        .kernel = (uint8_t)kernel,
        .seed = seed,
        .sequence = sequence,
    };
    sl_status status = enter_fill(tensor, what, stream, err);
    if (status != SL_OK) return status;
    if (!sl_kernel_takes(kernel, tensor->spec.dtype))
        return sl_fail(err, SL_EDTYPE,
                       "the tensor is %s; random numbers need float32, bfloat16 or float16",
                       sl_dtype_name(tensor->spec.dtype));
    work.dtype = (uint8_t)tensor->spec.dtype;
    work.n = tensor->numel;
    return fill_with(tensor, &work, stream, err);
}

sl_status sl_tensor_rand(sl_tensor *tensor, uint64_t seed, uint64_t sequence, sl_stream *stream,
                         sl_error *err)
{
    return fill_random(tensor, SL_KERNEL_RAND, "rand", seed, sequence, stream, err);
}

sl_status sl_tensor_randn(sl_tensor *tensor, uint64_t seed, uint64_t sequence, sl_stream *stream,
                          sl_error *err)
{
    return fill_random(tensor, SL_KERNEL_RANDN, "randn", seed, sequence, stream, err);
}
