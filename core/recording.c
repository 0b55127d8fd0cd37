/* recording.c - starting and stopping a recording. */
#include <stdlib.h>

#include "device.h"
#include "record.h"
#include "timeline/store.h"

static sl_status open_recording(sl_device *device, sl__recording **out, sl_error *err)
{
    sl__recording *rec = calloc(1, sizeof *rec);
    sl_status status;

    if (!rec) return sl_fail(err, SL_ENOMEM, "out of host memory for a recording");
    status = sl_timeline_create(&rec->timeline, err);
    if (status != SL_OK) {
        free(rec);
        return status;
    }
    sl_timeline_set_device(rec->timeline, &device->info);
    sl__timeline_expect_times(rec->timeline);
    *out = rec;
    return SL_OK;
}

sl_status sl_record_start(sl_device *device, const char *name, sl_timeline **timeline,
                          sl_error *err)
{
    sl__recording *rec = NULL;
    sl_status status = sl__device_enter(device, "record", err);

    if (status != SL_OK) return status;
    status = open_recording(device, &rec, err);
    if (status != SL_OK) return status;
    status = device->backend->record_begin(device, name ? name : "recording", err);
    if (status != SL_OK) {
        sl__recording_free(rec);
        return sl__device_leave(device, status, err);
    }
    rec->first_seq = device->core->numbers->last_seq + 1;
    rec->host_start_ns = device->backend->host_now_ns(device);
    rec->next = device->core->recordings;
    device->core->recordings = rec;
    *timeline = sl_timeline_retain(rec->timeline);
    return SL_OK;
}

void sl_record_stop(sl_device *device, sl_timeline *timeline)
{
    sl__recording **link, *rec;

    if (!device || !timeline) return;
    sl__device_reap(device);
    for (link = &device->core->recordings; *link; link = &(*link)->next) {
        rec = *link;
        if (rec->timeline != timeline) continue;
        if (sl__host_func_depth) {
            rec->stopped = device->core->late_stops = true;
            return;
        }
        *link = rec->next;
        sl__recording_close(device, rec);
        return;
    }
}
