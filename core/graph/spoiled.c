/* spoiled.c - which call has spoiled a capture, and which capture a failed call has to do with. */
#include "../device.h"
#include "../op.h"
#include "capture.h"

bool sl__capture_is_invalidated(const sl__capture *capture)
{
    const sl_backend *backend = capture->origin->device->backend;
    sl_capture_status now = SL_CAPTURE_STATUS_ACTIVE;
    if (!backend->checks_captures || capture->invalidated) return capture->invalidated;
    return backend->capture_status(capture->origin, &now, NULL) == SL_OK
           && now == SL_CAPTURE_STATUS_INVALIDATED;
}

/* The first capture that the call has spoiled, else one that was spoiled before. */
static sl__capture *find_spoiled(sl_device *device)
{
    sl__capture *spoiled = NULL;
    for (sl__capture *capture = device->core->captures; capture; capture = capture->next) {
        if (!sl__capture_is_invalidated(capture)) continue;
        if (!capture->reported) return capture;
        if (!spoiled) spoiled = capture;
    }
    return spoiled;
}

/* The capture that a failed call has to do with, or NULL. */
static const sl__capture *find_concerned(sl_device *device, const sl_error *err)
{
    const sl_stream *stream = device->core->latest_call.stream;
    sl__capture *spoiled = find_spoiled(device);
    if (stream && stream->branch && err->backend_code != SL_CAPTURE_CAPTURED_EVENT)
        return stream->branch->capture;
    return spoiled && (!spoiled->reported || err->backend_code == SL_CAPTURE_INVALIDATED)
               ? spoiled
               : device->core->captures;
}

/* Who has spoiled a capture is not known if this call is the first to hear of it. */
static void note_spoiled(sl_device *device, const char *call, int code)
{
    for (sl__capture *capture = device->core->captures; capture; capture = capture->next) {
        if (!sl__capture_is_invalidated(capture)) continue;
        capture->reported = capture->invalidated = true;
        if (capture->spoiled_by || code == SL_CAPTURE_INVALIDATED) continue;
        capture->spoiled_by = call;
        capture->spoiled_where = device->core->where;
        capture->spoiled_code = code;
    }
}

void sl__capture_failed(sl_device *device, sl_error *err)
{
    const sl__capture *concerned = err ? find_concerned(device, err) : NULL;
    note_spoiled(device, device->core->latest_call.call, err ? err->backend_code : 0);
    if (err) sl__capture_explain(device, concerned, err);
}

void sl__capture_suspect(sl_device *device, const char *call)
{
    if (!device->backend->checks_captures)
        for (sl__capture *capture = device->core->captures; capture; capture = capture->next)
            capture->invalidated = true;
    note_spoiled(device, call, 0);
}

sl_status sl__capture_hidden(sl_device *device, sl_status status, sl_error *err)
{
    const sl__capture *spoiled = find_spoiled(device);
    if (status == SL_ECAPTURE || !spoiled || spoiled->reported) return status;
    sl_fail(err, SL_ECAPTURE, "%s", sl_capture_error_name(SL_CAPTURE_UNSUPPORTED));
    if (err) err->backend_code = SL_CAPTURE_UNSUPPORTED;
    return SL_ECAPTURE;
}
