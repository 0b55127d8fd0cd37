/* played_rig.h - the core with the CUDA backend on the driver that fake_streams.c plays, for
 * tests that use core/streamlab.h. Included once a program. */
#ifndef PLAYED_RIG_H
#define PLAYED_RIG_H

#include "../../core/backend.h"
#include "../tap.h"
#include "fake_streams.h"

#include <stdlib.h>

/* In place of core/backends.c and core/plugin.c. */
const sl_backend *const sl__backends[] = { NULL };
const sl_backend *sl_backend_entry(char *why, size_t why_bytes);
sl_status sl__plugin_backend(const char *name, const sl_backend **backend, sl_error *err);

sl_status sl__plugin_backend(const char *name, const sl_backend **backend, sl_error *err)
{
    (void)name, (void)err;
    *backend = sl_backend_entry(NULL, 0);
    return SL_OK;
}

static sl_device *gpus[FAKE_DEVICES];
static sl_stream *streams[FAKE_DEVICES]; /* one of each */

TAP_UNUSED static void check(sl_status status, const sl_error *err, const char *what)
{
    if (status) diag("%s: %s", what, err->msg);
}

/* Opens the first n, in this order, and a stream of each. */
TAP_UNUSED static void open_gpus(int n)
{
    sl_error err = { .msg = "" };
    for (int i = 0; i < n; i++) {
        check(sl_device_open("cuda", i, NULL, 0, &gpus[i], &err), &err, "open");
        check(sl_stream_create(gpus[i], NULL, &streams[i], &err), &err, "stream");
    }
}

/* And checks that nothing is left of them. */
TAP_UNUSED static void close_gpus(int n, const char *after)
{
    const fake_cudart_state *seen = &fake_cudart;
    bool lost = false;
    for (int i = 0; i < n; i++) {
        sl_stream_release(streams[i]);
        sl_device_drain(gpus[i]);
        sl_device_release(gpus[i]);
        lost = lost || seen->lost[i];
    }
    fake_streams_end();
    if (!lost)
        is_int(seen->blocks + seen->host_blocks + seen->registered + seen->streams + seen->pools, 0,
               "nothing is left after %s", after);
    is_int(seen->events, 0, "nor any event, after %s", after);
    is_int(seen->misuses + seen->hangs, 0, "and no call was wrong or held the host for ever");
    fake_cudart_forget();
}

/* NULL: *err says why. */
TAP_UNUSED static sl_tensor *tensor_on(sl_device *device, sl_place place, sl_dtype dtype, int64_t n,
                                       sl_error *err)
{
    const sl_tensor_spec spec = { .dtype = dtype, .place = place, .ndim = 1, .dim = { n } };
    sl_tensor *tensor = NULL;
    err->msg[0] = '\0';
    sl_tensor_create(device, &spec, sl_device_default_stream(device), &tensor, err);
    return tensor;
}

TAP_UNUSED static sl_tensor *bytes_on(sl_device *device, sl_place place, int64_t n, sl_error *err)
{
    return tensor_on(device, place, SL_UINT8, n, err);
}

static int funcs_run;

static bool count_run(void *ud, sl_error *err)
{
    (void)ud, (void)err;
    funcs_run++;
    return true;
}

TAP_UNUSED static void launch_func(sl_stream *stream)
{
    sl_error err = { .msg = "" };
    check(sl_stream_launch_host_func(stream, count_run, NULL, NULL, &err), &err, "host function");
}

#endif
