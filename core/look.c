/* look.c - looking at what is there in order to show it: how streams and events stand,
 * and the values of tensors, with as little effect on the experiment as there can be. */
#include <stdlib.h>

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
    int32_t tensors = 0;

    for (const sl_tensor *t = tensor->buffer->tensors; t; t = t->next)
        tensors++;
    return tensor->buffer->refs > tensors;
}

static sl_status check_wish(const sl_tensor *tensor, const sl_look_wish *wish, sl_error *err)
{
    for (int64_t i = 0; i < wish->n_first; i++) {
        int64_t first = wish->first[i];
        if (first < 0 || wish->n_elems < 0 || first > tensor->numel ||
            wish->n_elems > tensor->numel - first)
            return sl_fail(err, SL_EINVAL,
                           "%lld elements after the first %lld: the tensor has %lld",
                           (long long)wish->n_elems, (long long)first, (long long)tensor->numel);
    }
    return SL_OK;
}

static sl_status enter_look(const sl_tensor *tensor, const sl_stream *stream,
                            const sl_look_wish *wish, sl_error *err)
{
    sl_status status = sl__tensor_check(tensor, "the tensor", err);

    if (!status && tensor->spec.place == SL_ON_DEVICE)
        status = sl__tensor_check_stream(tensor, "the tensor", stream, err);
    if (!status)
        status = check_wish(tensor, wish, err);
    return status ? status : sl__device_enter(tensor->device, "look", err);
}

/* By the backend, which enqueues nothing. */
static sl_status look_within(sl_tensor *tensor, sl_stream *stream, const sl_look_wish *wish,
                             double *values, sl_look *look, sl_error *err)
{
    size_t elem_bytes = sl_dtype_bytes(tensor->spec.dtype);
    size_t n = (size_t)wish->n_first, each = (size_t)wish->n_elems;
    size_t *offset = malloc((n + 1) * sizeof *offset);
    void *raw = malloc(n * each * elem_bytes + 1);
    sl_look_parts parts = { .offset = offset, .n = n, .bytes = each * elem_bytes,
                            .most_s = wish->most_s };
    sl_status status;

    if (!offset || !raw) {
        status = sl_fail(err, SL_ENOMEM, "out of host memory for %zu values", n * each);
    } else {
        for (size_t i = 0; i < n; i++)
            offset[i] = tensor->offset + (size_t)wish->first[i] * elem_bytes;
        status = tensor->device->backend->look(tensor->buffer, stream, &parts, raw, look, err);
        if (!status && look->has_values)
            sl__dtype_to_double(tensor->spec.dtype, raw, n * each, values);
    }
    free(offset);
    free(raw);
    return status ? sl__device_leave(tensor->device, status, err) : SL_OK;
}

/* By copies. */
static sl_status look_by_reading(sl_tensor *tensor, sl_stream *stream, const sl_look_wish *wish,
                                 double *values, sl_look *look, sl_error *err)
{
    sl_status status = SL_OK;

    for (int64_t i = 0; i < wish->n_first && !status; i++)
        status = sl_tensor_read(tensor, wish->first[i], wish->n_elems,
                                values + i * wish->n_elems, stream, err);
    look->has_values = !status;
    return status;
}

sl_status sl_tensor_look(sl_tensor *tensor, sl_stream *stream, const sl_look_wish *wish,
                         double *values, sl_look *look, sl_error *err)
{
    const sl_backend *backend;
    sl_status status = enter_look(tensor, stream, wish, err);

    *look = (sl_look){ .has_values = false };
    if (status)
        return status;
    backend = tensor->device->backend;
    status = backend->host_work(tensor->device, 0, err);
    status = sl__device_finish(tensor->device, status, err);
    if (status)
        return status;
    if (tensor->spec.place != SL_ON_DEVICE && backend->look)
        stream = NULL;
    if (backend->look)
        return look_within(tensor, stream, wish, values, look, err);
    status = look_by_reading(tensor, stream, wish, values, look, err);
    look->in_use = !status && is_in_use(tensor);
    return status;
}
