/* pending.c - whether a host function runs, and errors that wait for the next call to report
 * them: those of host functions, of recordings and of the race checker. */
#include "device.h"

#include <stdio.h>
#include <string.h>

_Thread_local int sl__host_func_depth;

void sl__device_fail_later(sl_device *device, sl_status status, const char *msg)
{
    sl_error *pending = &device->core->pending;
    if (pending->status)
        device->core->more_pending++;
    else
        sl_fail(pending, status, "%s", msg);
}

sl_status sl__device_take_pending(sl_device *device, sl_error *err)
{
    sl_error *pending = &device->core->pending;
    sl_status status = pending->status;
    if (device->core->more_pending) {
        size_t len = strlen(pending->msg);
        snprintf(pending->msg + len, sizeof pending->msg - len, " (and %d more failed)",
                 device->core->more_pending);
        device->core->more_pending = 0;
    }
    if (err) *err = *pending;
    pending->status = SL_OK;
    return status;
}
