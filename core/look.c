/* look.c - looking at what is there in order to show it: how streams and events stand,
 * and the values of tensors, with as little effect on the experiment as there can be. */
#include "buffer.h"
#include "device.h"
#include "dtype.h"
#include "tensor.h"

int64_t sl_stream_in_flight(const sl_stream *stream)
{
    return stream->in_flight;
}

bool sl_event_has_happened(const sl_event *event)
{
    return event->record_seq && event->retired_seq == event->record_seq;
}

bool sl_device_is_recording(const sl_device *device)
{
    return device->core->recordings != NULL;
}

/* Operations in flight hold their buffers. */
static bool is_in_use(const sl_tensor *tensor)
{
    return tensor->buffer->refs > 1;
}

static sl_status enter_look(const sl_tensor *tensor, const sl_stream *stream, sl_error *err)
{
    sl_status status = sl__tensor_check(tensor, "the tensor", err);

    if (!status && tensor->spec.place == SL_ON_DEVICE)
        status = sl__tensor_check_stream(tensor, "the tensor", stream, err);
    return status ? status : sl__device_enter(tensor->device, "look", err);
}

sl_status sl_tensor_look(sl_tensor *tensor, sl_stream *stream, sl_look *look, sl_error *err)
{
    const sl_backend *backend;
    sl_status status = enter_look(tensor, stream, err);

    if (status)
        return status;
    backend = tensor->device->backend;
    status = backend->host_work(tensor->device, 0, err);
    status = sl__device_finish(tensor->device, status, err);
    if (!status && is_in_use(tensor) && tensor->spec.place == SL_ON_DEVICE) {
        status = backend->stream_synchronize(stream, err);
        status = sl__device_finish(tensor->device, status, err);
    }
    if (status)
        return status;
    look->in_use = is_in_use(tensor);
    look->compute_s = backend->buffer_look_s ? backend->buffer_look_s(tensor->buffer) : 0;
    return SL_OK;
}

/* Piecewise through a small array. */
static sl_status look_at(sl_tensor *tensor, int64_t first, int64_t n, double *values,
                         sl_error *err)
{
    unsigned char raw[4096];
    size_t elem_bytes = sl_dtype_bytes(tensor->spec.dtype);
    int64_t most = (int64_t)(sizeof raw / elem_bytes);

    for (int64_t done = 0; done < n;) {
        int64_t part = n - done < most ? n - done : most;
        sl_status status = tensor->device->backend->buffer_look(
            tensor->buffer, (size_t)(first + done) * elem_bytes, (size_t)part * elem_bytes, raw,
            err);
        if (status)
            return status;
        sl__dtype_to_double(tensor->spec.dtype, raw, (size_t)part, values + done);
        done += part;
    }
    return SL_OK;
}

sl_status sl_tensor_look_at(sl_tensor *tensor, int64_t first, int64_t n, double *values,
                            sl_stream *stream, sl_error *err)
{
    sl_status status = enter_look(tensor, stream, err);

    if (status)
        return status;
    if (!tensor->device->backend->buffer_look)
        return sl_tensor_read(tensor, first, n, values, stream, err);
    if (first < 0 || n < 0 || first > tensor->numel || n > tensor->numel - first)
        return sl_fail(err, SL_EINVAL, "%lld elements after the first %lld: the tensor has %lld",
                       (long long)n, (long long)first, (long long)tensor->numel);
    return look_at(tensor, first, n, values, err);
}
