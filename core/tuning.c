/* tuning.c - plans of products: measured once, then kept in the user's cache. */
#include "tuning.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "custom/cache.h"
#include "device.h"

static void notice(sl_device *device, const char *text)
{
    sl__strings *strings = &device->core->strings;
    device->notice = sl__strings_text(strings, sl__strings_intern(strings, text));
}

/* ---- the cache ---- */

static void report_damage(sl_device *device)
{
    notice(device, "a plan of matmul in the cache is damaged or another's: it is measured again");
}

/* *found: the backend has it now. */
static sl_status load(const sl_product *product, const char *key, sl_tuning *tuning, bool *found,
                      sl_error *err)
{
    sl_device *device = product->stream->device;
    sl_image image = { NULL, 0 };
    bool damaged;
    *found = sl__cache_find(SL_CACHE_PLANS, key, strlen(key), &image, &damaged);
    if (damaged) report_damage(device);
    if (!*found) return SL_OK;
    sl_status status = device->backend->plan_load(product, &image, tuning, err);
    free(image.data);
    *found = status == SL_OK;
    if (status != SL_EIO) return status;
    report_damage(device);
    return SL_OK;
}

static sl_status measure(const sl_product *product, const char *key, sl_tuning *tuning,
                         sl_error *err)
{
    sl_image image = { NULL, 0 };
    sl_status status = product->stream->device->backend->plan_measure(product, &image, tuning, err);
    if (status != SL_OK) return status;
    sl__cache_keep(SL_CACHE_PLANS, key, strlen(key), &image);
    free(image.data);
    tuning->measured = true;
    return SL_OK;
}

/* ---- finding a plan ---- */

static bool is_empty(const sl_work *work) { return !work->m || !work->n || !work->k; }

/* A plan that is measured again competes with the one that is kept. */
sl_status sl__tuning_find(const sl_product *product, bool again, sl_tuning *tuning, sl_error *err)
{
    sl_device *device = product->stream->device;
    const sl_backend *backend = device->backend;
    char key[512];
    *tuning = (sl_tuning){ .tuned = false };
    if (!backend->plan_measure || is_empty(product->work)) return SL_OK;
    if (device->core->captures)
        return sl_fail(
            err, SL_ESTATE,
            "measuring needs the device to itself, and a stream of it is being captured");
    bool found = backend->plan_tuned(product, tuning);
    if (found && !again) return SL_OK;
    sl_status status = backend->plan_key(product, key, sizeof key, err);
    if (status == SL_OK && !found) status = load(product, key, tuning, &found, err);
    if (status != SL_OK || (found && !again)) return status;
    return measure(product, key, tuning, err);
}

sl_status sl__tuning_before(const sl_product *product, sl_error *err)
{
    sl_device *device = product->stream->device;
    char text[sizeof err->msg + 64];
    sl_tuning tuning;
    sl_error why = { .status = SL_OK };
    if (device->core->captures) return SL_OK;
    sl_status status = sl__tuning_find(product, false, &tuning, &why);
    if (status == SL_OK) return SL_OK;
    if (status == SL_EINTERRUPT || status == SL_EFAULT) {
        if (err) *err = why;
        return status;
    }
    snprintf(text, sizeof text, "matmul is not tuned from here on: %s", why.msg);
    notice(device, text);
    device->tunes = false;
    return SL_OK;
}

void sl_device_set_tuning(sl_device *device, bool on)
{
    device->tunes = on && device->backend->plan_measure;
    device->core->drops++; /* products that are known may not be tuned */
}
