/* device.c - devices: finding a backend, opening a device, the host's clock, waiting for devices,
 * and settings that a device keeps for its scripts. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "graph/capture.h"
#include "observers.h"
#include "op.h"
#include "record.h"
#include "stream.h"

/* ---- backends --------------------------------------------------------------- */

static sl_status no_such_backend(const char *name, sl_error *err)
{
    char names[128] = "";
    for (int i = 0; sl__backends[i]; i++) {
        size_t len = strlen(names);
        snprintf(names + len, sizeof names - len, "%s%s", i ? ", " : "", sl__backends[i]->name);
    }
    return sl_fail(err, SL_ENOTFOUND, "there is no backend \"%.40s\": this build has %s", name,
                   names);
}

static sl_status find_backend(const char *name, const sl_backend **found, sl_error *err)
{
    if (!name) return sl_fail(err, SL_EINVAL, "a backend needs a name");
    for (int i = 0; sl__backends[i]; i++) {
        const sl_backend *backend = sl__backends[i];
        if (strcmp(backend->name, name)) continue;
        if (backend->abi_version != SL_BACKEND_ABI)
            return sl_fail(err, SL_EUNSUPPORTED,
                           "backend %s has interface version %u, needed is %u", name,
                           (unsigned)backend->abi_version, (unsigned)SL_BACKEND_ABI);
        *found = backend;
        return SL_OK;
    }
    if (!strcmp(name, "cuda")) return sl__plugin_backend(name, found, err);
    return no_such_backend(name, err);
}

sl_status sl_backend_device_count(const char *backend_name, int *count, sl_error *err)
{
    const sl_backend *backend = NULL;
    sl_status status = find_backend(backend_name, &backend, err);
    if (status != SL_OK) return status;
    if (err) *err = (sl_error){ .status = SL_OK };
    return backend->device_count(count, err);
}

/* Finds the backend, and checks that it has device `index`. */
static sl_status find_device(const char *backend_name, int index, const sl_backend **backend,
                             sl_error *err)
{
    sl_error reason = { .status = SL_OK };
    int count = 0;
    sl_status status = find_backend(backend_name, backend, err);
    if (status != SL_OK) return status;
    status = (*backend)->device_count(&count, &reason);
    if (status != SL_OK) {
        if (err) *err = reason;
        return status;
    }
    if (index >= 0 && index < count) return SL_OK;
    if (count == 0 && reason.msg[0])
        return sl_fail(err, SL_ENOTFOUND, "there is no device %d: %.200s", index, reason.msg);
    return sl_fail(err, SL_ENOTFOUND, "there is no device %d: backend %s has %d device%s", index,
                   (*backend)->name, count, count == 1 ? "" : "s");
}

sl_status sl_backend_device_name(const char *backend_name, int index, char *name, size_t name_bytes,
                                 sl_error *err)
{
    const sl_backend *backend = NULL;
    sl_status status = find_device(backend_name, index, &backend, err);
    return status != SL_OK ? status : backend->device_name(index, name, name_bytes, err);
}

/* ---- lifecycle --------------------------------------------------------------- */

static sl_status allocate(const sl_backend *backend, int index, sl_device *beside, sl_device **out,
                          sl_error *err)
{
    sl_device *device = calloc(1, backend->device_bytes);
    sl__device_core *core = calloc(1, sizeof *core);
    sl__numbers *numbers = beside ? beside->core->numbers : calloc(1, sizeof *numbers);
    if (!device || !core || !numbers) {
        free(device);
        free(core);
        if (!beside) free(numbers);
        return sl__no_memory(err, "a device");
    }
    device->backend = backend;
    device->core = core;
    core->numbers = numbers;
    numbers->refs++;
    device->refs = 1;
    device->info.backend = backend->name;
    device->info.index = index;
    device->interrupted = sl__interrupt_flag();
    device->fail_wait = sl__wait_value_fail;
    *out = device;
    return SL_OK;
}

void sl_backend_preload(void)
{
    for (int i = 0; sl__backends[i]; i++) {
        const sl_backend *backend = sl__backends[i];
        if (backend->abi_version == SL_BACKEND_ABI && backend->preload) backend->preload();
    }
}

static void link_device(sl_device *device)
{
    sl_device **at = &device->core->numbers->devices;
    while (*at && (*at)->info.index < device->info.index)
        at = &(*at)->core->beside;
    device->core->beside = *at;
    *at = device;
    device->threads = device->core->numbers->threads;
}

static sl_status open_device(const char *backend_name, int index, sl_device *beside,
                             const sl_setting *settings, size_t n_settings, sl_device **out,
                             sl_error *err)
{
    const sl_backend *backend = NULL;
    sl_device *device = NULL;
    if (sl__host_func_depth)
        return sl_fail(err, SL_ESTATE, "a host function must not open a device");
    sl_status status = find_device(backend_name, index, &backend, err);
    if (status != SL_OK) return status;
    status = allocate(backend, index, beside, &device, err);
    if (status != SL_OK) return status;
    device->beside = beside;
    status = backend->device_open(device, settings, n_settings, err);
    device->beside = NULL;
    if (status != SL_OK) goto fail;
    status = sl__stream_open_owned(device, true, "default", &device->core->legacy, err);
    if (status != SL_OK) {
        backend->device_close(device);
        goto fail;
    }
    device->core->current = device->core->legacy;
    link_device(device);
    sl__ask(status, opened, device, err);
    if (status != SL_OK) {
        sl_device_release(device);
        return status;
    }
    *out = device;
    return SL_OK;
fail:
    sl__device_deallocate(device);
    return status;
}

sl_status sl_device_open(const char *backend, int index, const sl_setting *settings,
                         size_t n_settings, sl_device **device, sl_error *err)
{
    return open_device(backend, index, NULL, settings, n_settings, device, err);
}

sl_status sl_device_open_beside(sl_device *beside, int index, const sl_setting *settings,
                                size_t n_settings, sl_device **device, sl_error *err)
{
    return open_device(beside->backend->name, index, beside, settings, n_settings, device, err);
}

/* Then ends what waits for ever, so that all retires. */
static sl_status wait_to_the_end(sl_device *device, sl_error *err)
{
    const sl_backend *backend = device->backend;
    sl_status status = backend->device_synchronize(device, err);
    for (sl_status now = status;
         now == SL_ESTATE && backend->end_wait && backend->end_wait(device);)
        now = backend->device_synchronize(device, NULL);
    return status;
}

sl_status sl_device_finish(sl_device *device, sl_error *err)
{
    sl_status status = sl__device_enter_lost(device, "finish", err);
    if (status != SL_OK) return status;
    sl__device_core *core = device->core;
    sl__captures_abandon(device);
    core->draining = true;
    if (!device->fault.status) /* nothing runs any more on a lost device */
        status = wait_to_the_end(device, err);
    if (status == SL_OK) sl__tell(waited_for_device, device);
    sl__device_reap(device);
    core->draining = core->stats.ops_in_flight > 0;
    if (device->fault.status != SL_OK && core->fault.reported) return SL_OK;
    return sl__device_finish(device, status, err);
}

sl_status sl_device_set_figures(sl_device *device, const sl_setting *settings, size_t n_settings,
                                sl_error *err)
{
    if (!device->backend->device_set_figures)
        return sl_fail(err, SL_EUNSUPPORTED, "the figures of %s cannot be changed",
                       device->info.name);
    return device->backend->device_set_figures(device, settings, n_settings, err);
}

/* Host functions that the wait reaches are skipped, since the host language may be closing. The
 * current stream becomes the NULL stream, because a user stream that is current holds its device,
 * which holds the stream. */
void sl_device_drain(sl_device *device)
{
    if (!device || sl__host_func_depth) return;
    sl_device_finish(device, NULL);
    sl_device_set_current_stream(device, device->core->legacy, NULL);
    device->core->pending.status = SL_OK;
    device->core->more_pending = 0;
}

const sl_device_info *sl_device_get_info(const sl_device *device) { return &device->info; }

void sl_device_get_stats(const sl_device *device, sl_device_stats *stats)
{
    *stats = device->core->stats;
}

bool sl_device_is_recording(const sl_device *device) { return device->core->recordings != NULL; }

/* ---- the host and the whole device ----------------------------------------------- */

sl_status sl_device_synchronize(sl_device *device, sl_error *err)
{
    sl_call call;
    sl_status status = sl__device_enter(device, "synchronize", err);
    if (status != SL_OK) return status;
    status = sl__capture_check(device, SL__CALLED_DEVICE, "cudaDeviceSynchronize", NULL, NULL, err);
    if (status != SL_OK) return sl__device_leave(device, status, err);
    sl__call_begin(device, &call, SL_CALL_DEVICE_SYNC);
    status = device->backend->device_synchronize(device, err);
    sl__call_end(device, &call, NULL, status);
    if (status == SL_OK) sl__tell(waited_for_device, device);
    return sl__device_finish(device, status, err);
}

sl_status sl_device_wait_idle(sl_device *device, sl_error *err)
{
    sl_status status = sl__device_enter(device, "synchronize", err);
    if (status == SL_OK) status = sl_device_host_work(device, 0, err); /* retires what has ended */
    if (status != SL_OK) return status;
    if (device->core->stats.ops_in_flight > 0) return sl_device_synchronize(device, err);
    sl__tell(waited_for_device, device);
    return SL_OK;
}

int64_t sl_device_host_now_ns(sl_device *device) { return device->backend->host_now_ns(device); }

static sl_status plain_host_work(sl_device *device, int64_t duration_ns, sl_error *err)
{
    sl_status status = device->backend->host_work(device, duration_ns, err);
    return sl__device_finish(device, status, err);
}

/* Not in a host function, whose work is part of its span. */
static sl_status noted_host_work(sl_device *device, int64_t duration_ns, sl_error *err)
{
    sl_call call;
    sl__call_begin(device, &call, SL_CALL_HOST_WORK);
    sl_status status = device->backend->host_work(device, duration_ns, err);
    sl__call_end(device, &call, NULL, status);
    return sl__device_finish(device, status, err);
}

sl_status sl_device_host_work(sl_device *device, int64_t duration_ns, sl_error *err)
{
    if (!device) return sl_fail(err, SL_ECLOSED, "the device is closed");
    if (duration_ns < 0)
        return sl_fail(err, SL_EINVAL, "host work takes %lld ns: a duration cannot be negative",
                       (long long)duration_ns);
    return duration_ns > 0 && !sl__host_func_depth ? noted_host_work(device, duration_ns, err)
                                                   : plain_host_work(device, duration_ns, err);
}

uint32_t sl_device_intern(sl_device *device, const char *text)
{
    return sl__strings_intern(&device->core->strings, text);
}

const char *sl_device_text(const sl_device *device, uint32_t id)
{
    return sl__strings_text(&device->core->strings, id);
}

void sl_device_set_where(sl_device *device, uint32_t where_id) { device->core->where = where_id; }

void sl_device_set_pressure_hook(sl_device *device, sl_pressure_hook hook, void *ud)
{
    device->core->pressure_hook = hook;
    device->core->pressure_ud = ud;
}

const char *sl_device_take_notice(sl_device *device)
{
    const char *notice = device->notice;
    device->notice = NULL;
    return notice;
}
