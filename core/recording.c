/* recording.c - starting and stopping a recording of all devices of a machine. */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "record.h"
#include "timeline/store.h"

/* ---- the devices --------------------------------------------------------------- */

sl_status sl__session_add(sl__session *session, sl_device *device, uint64_t first_seq,
                          sl_error *err)
{
    sl__recording *rec = calloc(1, sizeof *rec), **last = &session->members;
    sl_status status;

    if (!rec) return sl__no_memory(err, "a recording");
    status = device->backend->record_begin(device, session->name, err);
    if (status != SL_OK) {
        free(rec);
        return status;
    }
    while (*last)
        last = &(*last)->beside;
    *last = rec;
    *rec = (sl__recording){ .next = device->core->recordings,
                            .device = device,
                            .session = session,
                            .timeline = session->timeline,
                            .first_seq = first_seq,
                            .place = -1 };
    device->core->recordings = rec;
    return SL_OK;
}

/* A device that is opened has done nothing: all that it will do is recorded. */
sl_status sl__record_join(sl_device *device, sl_error *err)
{
    sl_device *other = device->core->numbers->devices;
    sl_status status = SL_OK;

    if (other == device) other = device->core->beside;
    for (sl__recording *rec = other ? other->core->recordings : NULL; rec && status == SL_OK;
         rec = rec->next)
        status = sl__session_add(rec->session, device, 0, err);
    return status;
}

/* ---- start and stop -------------------------------------------------------------- */

static sl_status open_session(sl_device *device, const char *name, sl__session **out, sl_error *err)
{
    sl__session *session = calloc(1, sizeof *session);
    sl_status status;

    if (!session) return sl__no_memory(err, "a recording");
    session->name = strdup(name);
    status = session->name ? sl_timeline_create(&session->timeline, err)
                           : sl__no_memory(err, "a recording");
    if (status != SL_OK) {
        free(session->name);
        free(session);
        return status;
    }
    sl_timeline_set_device(session->timeline, &device->info);
    sl__timeline_expect_times(session->timeline);
    *out = session;
    return SL_OK;
}

/* Undoes what the devices have begun. */
static sl_status give_up(sl__session *session, sl_device *device, sl_status status, sl_error *err)
{
    for (sl__recording *rec = session->members; rec; rec = rec->beside)
        rec->device->backend->record_end(rec->device);
    sl__session_free(session);
    return sl__device_leave(device, status, err);
}

/* The device itself is the timeline's first one. */
static sl_status begin_on_all(sl__session *session, sl_device *device, sl_error *err)
{
    uint64_t first_seq = device->core->numbers->last_seq + 1;
    sl_status status = sl__session_add(session, device, first_seq, err);

    if (status == SL_OK) session->members->place = 0;
    for (sl_device *other = device->core->numbers->devices; other && status == SL_OK;
         other = other->core->beside)
        if (other != device && !other->fault.status)
            status = sl__session_add(session, other, first_seq, err);
    return status;
}

sl_status sl_record_start(sl_device *device, const char *name, sl_timeline **timeline,
                          sl_error *err)
{
    sl__session *session = NULL;
    sl_status status = sl__device_enter(device, "record", err);

    if (status != SL_OK) return status;
    status = open_session(device, name ? name : "recording", &session, err);
    if (status != SL_OK) return status;
    status = begin_on_all(session, device, err);
    if (status != SL_OK) return give_up(session, device, status, err);
    session->host_start_ns = device->backend->host_now_ns(device);
    *timeline = sl_timeline_retain(session->timeline);
    return SL_OK;
}

sl_status sl_record_keep_summary(sl_device *device, sl_timeline *timeline, sl_error *err)
{
    if (!device->info.times_at_once)
        return sl_fail(
            err, SL_EUNSUPPORTED,
            "keeping only a summary needs a simulated GPU: of %s the times of operations "
            "come only at the end",
            device->info.name);
    return sl_timeline_keep_summary(timeline, err);
}

void sl_record_stop(sl_device *device, sl_timeline *timeline)
{
    sl__recording *rec;

    if (!device || !timeline) return;
    for (sl_device *other = device->core->numbers->devices; other; other = other->core->beside)
        sl__device_reap(other);
    for (rec = device->core->recordings; rec && rec->timeline != timeline; rec = rec->next)
        ;
    if (!rec) return;
    if (sl__host_func_depth)
        rec->stopped = device->core->late_stops = true;
    else
        sl__session_close(rec->session);
}
