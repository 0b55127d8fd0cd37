/* stream.c - streams: those of the user, and the two that a device owns (the NULL stream, the
 * per-thread stream). */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "graph/capture.h"
#include "observers.h"
#include "record.h"

static int clamp_priority(const sl_device_info *info, int priority)
{
    if (priority > info->priority_least) return info->priority_least;
    return priority < info->priority_greatest ? info->priority_greatest : priority;
}

/* Everything but the references. */
static sl_status open_stream(sl_device *device, const sl_stream_options *options, bool legacy,
                             sl_stream **out, sl_error *err)
{
    sl__device_core *core = device->core;
    sl_stream *stream = calloc(1, device->backend->stream_bytes);
    const char *name = options->name;
    char default_name[32];
    if (!stream) return sl__no_memory(err, "a stream");
    stream->device = device;
    stream->refs = 1;
    stream->legacy = legacy;
    stream->id = legacy ? 0 : core->last_stream_id + 1;
    stream->priority = clamp_priority(&device->info, options->priority);
    stream->non_blocking = options->non_blocking;
    snprintf(default_name, sizeof default_name, "stream %lu", (unsigned long)stream->id);
    if (!name) name = default_name;
    stream->name = sl__strings_intern(&core->strings, name);
    if (*name && !stream->name) {
        free(stream);
        return sl__no_memory(err, "a stream's name");
    }
    sl_status status = device->backend->stream_open(stream, name, err);
    if (status != SL_OK) {
        free(stream);
        return status;
    }
    if (!legacy) core->last_stream_id = stream->id;
    *out = stream;
    return SL_OK;
}

sl_status sl__stream_open_owned(sl_device *device, bool legacy, const char *name,
                                sl_stream **stream, sl_error *err)
{
    sl_stream_options options = { .name = name };
    sl_status status = open_stream(device, &options, legacy, stream, err);
    if (status == SL_OK) (*stream)->owned = true;
    return status;
}

sl_status sl_stream_create(sl_device *device, const sl_stream_options *options, sl_stream **stream,
                           sl_error *err)
{
    const sl_stream_options defaults = { 0 };
    sl_status status = sl__device_enter(device, "creating a stream", err);
    if (status != SL_OK) return status;
    status = open_stream(device, options ? options : &defaults, false, stream, err);
    if (status == SL_OK) {
        (*stream)->where = device->core->where;
        sl_device_retain(device);
        device->core->stats.streams++;
    }
    return sl__device_leave(device, status, err);
}

sl_device *sl_stream_device(const sl_stream *stream) { return stream->device; }

uint32_t sl_stream_id(const sl_stream *stream) { return stream->id; }

const char *sl_stream_name(const sl_stream *stream) { return sl__stream_name(stream); }

int sl_stream_priority(const sl_stream *stream) { return stream->priority; }

bool sl_stream_is_non_blocking(const sl_stream *stream) { return stream->non_blocking; }

sl_status sl__stream_enter(sl_stream *stream, const char *what, sl_error *err)
{
    if (!stream) return sl_fail(err, SL_ECLOSED, "the stream is closed");
    return sl__device_enter(stream->device, what, err);
}

sl_status sl__stream_check_device(const sl_stream *stream, const sl_device *device, sl_error *err)
{
    if (!stream) return sl_fail(err, SL_ECLOSED, "the stream is closed");
    return sl__device_check_same(stream->device, "the stream", device, "the memory", err);
}

/* ---- current stream ---------------------------------------------------- */

sl_stream *sl_device_default_stream(sl_device *device) { return device->core->legacy; }

sl_stream *sl_device_current_stream(sl_device *device) { return device->core->current; }

sl_status sl_device_per_thread_stream(sl_device *device, sl_stream **stream, sl_error *err)
{
    sl_status status;
    if (!device) return sl_fail(err, SL_ECLOSED, "the device is closed");
    sl__device_core *core = device->core;
    if (!core->per_thread) {
        status = sl__device_enter(device, "creating the per-thread stream", err);
        if (status != SL_OK) return status;
        status = sl__stream_open_owned(device, false, "per-thread", &core->per_thread, err);
        if (status == SL_OK) {
            core->per_thread->next_own = core->per_threads;
            core->per_threads = core->per_thread;
        }
        status = sl__device_leave(device, status, err);
        if (status != SL_OK) return status;
    }
    *stream = core->per_thread;
    return SL_OK;
}

sl_status sl_device_set_current_stream(sl_device *device, sl_stream *stream, sl_error *err)
{
    if (!device || !stream)
        return sl_fail(err, SL_ECLOSED, "the %s is closed", device ? "stream" : "device");
    sl_status status = sl__device_check_same(stream->device, "the stream", device, "the device",
                                             err);
    if (status != SL_OK) return status;
    sl__device_core *core = device->core;
    sl_stream *old = core->current;
    core->current = stream->owned ? stream : sl_stream_retain(stream);
    if (!old->owned) sl_stream_release(old);
    return SL_OK;
}

/* ---- waiting ------------------------------------------------------------ */

sl_status sl__stream_wait_idle(sl_stream *stream, sl_error *err)
{
    sl_call call;
    sl_status status = sl__capture_check(stream->device, SL__CALLED_STREAM, "cudaStreamSynchronize",
                                         stream, NULL, err);
    if (status != SL_OK) return status;
    sl__call_begin(stream->device, &call, SL_CALL_STREAM_SYNC);
    call.stream = stream->id;
    status = stream->device->backend->stream_synchronize(stream, err);
    sl__call_end(stream->device, &call, stream, status);
    return status;
}

sl_status sl__stream_wait(sl_stream *stream, sl_error *err)
{
    sl_status status = sl__stream_wait_idle(stream, err);
    if (status == SL_OK) sl__tell(waited_for_stream, stream, SL_ACCIDENT_UNKNOWN);
    return status;
}

sl_status sl_stream_synchronize(sl_stream *stream, sl_error *err)
{
    sl_status status = sl__stream_enter(stream, "synchronize", err);
    if (status != SL_OK) return status;
    status = sl__stream_wait(stream, err);
    return sl__device_finish(stream->device, status, err);
}

sl_status sl_stream_query(sl_stream *stream, bool *done, sl_error *err)
{
    sl_status status = sl__stream_enter(stream, "query", err);
    if (status != SL_OK) return status;
    status = sl__capture_check(stream->device, SL__CALLED_STREAM, "cudaStreamQuery", stream, NULL,
                               err);
    if (status == SL_OK) status = stream->device->backend->stream_query(stream, done, err);
    if (status == SL_OK && *done) sl__tell(waited_for_stream, stream, SL_ACCIDENT_UNKNOWN);
    return sl__device_finish(stream->device, status, err);
}

int64_t sl_stream_in_flight(const sl_stream *stream) { return stream->in_flight; }
