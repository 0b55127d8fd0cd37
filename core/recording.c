/* recording.c - starting and stopping a recording of all devices of a machine, and the recorder as
 * an observer, which watches while there is one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "record.h"
#include "timeline/store.h"

static sl__observer recorder, late_stops;
static int live; /* recordings of all devices */

/* ---- the devices --------------------------------------------------------------- */

/* A recording on one more device, with the backend's. */
static sl_status add_device(sl__session *session, sl_device *device, uint64_t first_seq,
                            sl_error *err)
{
    sl__recording *rec = calloc(1, sizeof *rec), **last = &session->members;
    if (!rec) return sl__no_memory(err, "a recording");
    sl_status status = device->backend->record_begin(device, session->name, err);
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
    if (live++ == 0) sl__observe(&recorder);
    return SL_OK;
}

/* ---- the end -------------------------------------------------------------------- */

static void report_untimed(sl_device *device, size_t n)
{
    bool incomplete = device->core->activities.incomplete;
    char msg[128];
    snprintf(msg, sizeof msg, "recording: %zu operation%s no times: %s", n,
             n == 1 ? " has" : "s have",
             incomplete ? "out of memory for them" : "the profiler lost their records");
    sl__device_fail_later(device, incomplete ? SL_ENOMEM : SL_EBACKEND, msg);
}

/* 0: no memory for it. */
static uint32_t map_symbol(void *ud, uint32_t device_id)
{
    sl__recording *rec = ud;
    uint32_t id;
    if (!sl__record_text(rec->device, rec, device_id, &id)) sl__record_lose(rec->device, rec);
    return id;
}

/* Fills in what its device has delivered, and ends it there. */
static void end_recording(sl__recording *rec)
{
    sl_device *device = rec->device;
    size_t n_untimed;
    sl__activity_collect(device);
    if (rec->place >= 0 && sl__timeline_has_untimed(rec->timeline)) {
        n_untimed = sl__activity_time_spans(device, rec->timeline, rec->place, map_symbol, rec);
        if (n_untimed) report_untimed(device, n_untimed);
    }
    if (rec->reported) /* again: that error may have gone to another caller */
        sl__record_report_loss(device);
    device->backend->record_end(device);
}

static void unlink_recording(sl__recording *rec)
{
    sl__recording **link = &rec->device->core->recordings, **member = &rec->session->members;
    while (*link != rec)
        link = &(*link)->next;
    *link = rec->next;
    while (*member != rec)
        member = &(*member)->beside;
    *member = rec->beside;
}

static void free_recording(sl__recording *rec)
{
    sl_device *device = rec->device;
    unlink_recording(rec);
    free(rec->texts);
    free(rec->streams_noted);
    free(rec->in_flight);
    free(rec);
    if (!device->core->recordings) sl__activity_forget(device);
    if (--live > 0) return;
    sl__unobserve(&recorder);
    sl__unobserve(&late_stops);
    sl__unobserve(&sl__in_flight_observer);
}

static void free_session(sl__session *session)
{
    while (session->members)
        free_recording(session->members);
    sl_timeline_release(session->timeline);
    free(session->name);
    free(session);
}

static void close_session(sl__session *session)
{
    sl_device *device = session->members->device;
    int64_t host_end_ns = device->backend->host_now_ns(device);
    for (sl__recording *rec = session->members; rec; rec = rec->beside)
        end_recording(rec);
    sl__activity_time_calls(session->timeline);
    sl_timeline_finish(session->timeline, session->host_start_ns, host_end_ns);
    free_session(session);
}

/* ---- what the core tells -------------------------------------------------------------- */

static bool note(sl__recording *rec, const sl_op *op)
{
    if (op->graph) return sl__graph_note_launch(rec, op);
    return op->launch ? sl__graph_note_node(rec, op) : sl__record_op(rec, op);
}

static void retired(const sl_op *op)
{
    sl_device *device = op->stream->device;
    for (sl__recording *rec = device->core->recordings; rec && !op->lost; rec = rec->next)
        if (op->seq >= rec->first_seq && !note(rec, op)) sl__record_lose(device, rec);
}

/* A device that is opened has done nothing: all that it will do is recorded. */
static sl_status opened(sl_device *device, sl_error *err)
{
    sl_device *other = device->core->numbers->devices;
    sl_status status = SL_OK;
    if (other == device) other = device->core->beside;
    for (sl__recording *rec = other ? other->core->recordings : NULL; rec && status == SL_OK;
         rec = rec->next)
        status = add_device(rec->session, device, 0, err);
    return status;
}

/* What it recorded stays in the timelines of others, and those that nobody stopped are closed. */
static void device_closed(sl_device *device)
{
    sl__recording *rec;
    while ((rec = device->core->recordings)) {
        if (rec == rec->session->members && !rec->beside) {
            close_session(rec->session);
        } else {
            end_recording(rec);
            free_recording(rec);
        }
    }
}

/* Closes recordings that a host function stopped: they could not be closed in it, since the backend
 * may be in the middle of a launch. */
static void reaped(sl_device *device)
{
    sl__recording *next;
    for (sl__recording *rec = device->core->recordings; rec; rec = next) {
        next = rec->next;
        if (rec->stopped) close_session(rec->session);
    }
}

static sl__observer recorder = {
    .retired = retired,
    .opened = opened,
    .device_closed = device_closed,
};

static sl__observer late_stops = { .reaped = reaped }; /* while there may be one */

/* ---- start and stop -------------------------------------------------------------- */

static sl_status open_session(sl_device *device, const char *name, sl__session **out, sl_error *err)
{
    sl__session *session = calloc(1, sizeof *session);
    if (!session) return sl__no_memory(err, "a recording");
    session->name = strdup(name);
    sl_status status = session->name ? sl_timeline_create(&session->timeline, err)
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
    free_session(session);
    return sl__device_leave(device, status, err);
}

/* The device itself is the timeline's first one. */
static sl_status begin_on_all(sl__session *session, sl_device *device, sl_error *err)
{
    uint64_t first_seq = device->core->numbers->last_seq + 1;
    sl_status status = add_device(session, device, first_seq, err);
    if (status == SL_OK) session->members->place = 0;
    for (sl_device *other = device->core->numbers->devices; other && status == SL_OK;
         other = other->core->beside)
        if (other != device && !other->fault.status)
            status = add_device(session, other, first_seq, err);
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
    sl_timeline_set_origin(session->timeline, (sl_origin){ .costs.work_ns = device->recording_ns });
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
    sl_status status = sl_timeline_keep_summary(timeline, err);
    if (status == SL_OK) sl__observe(&sl__in_flight_observer);
    return status;
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
    if (!sl__host_func_depth) {
        close_session(rec->session);
        return;
    }
    rec->stopped = true;
    sl__observe(&late_stops);
}
