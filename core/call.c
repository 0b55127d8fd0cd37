/* call.c - how calls of the core begin and end: checks before them, retiring what has completed,
 * and reporting errors that are pending. */
#include "device.h"

#include "graph/capture.h"
#include "observers.h"
#include "op.h"

/* After one call in many. */
SL__RARE static void retire(sl_device *device, sl_op *op)
{
    sl_op *next;
    for (; op; op = next) {
        next = op->next;
        sl__op_retire(device, op);
    }
    sl__tell(reaped, device);
}

static inline void reap(sl_device *device)
{
    sl_op *op = device->backend->reap(device);
    if (op || sl__observers) retire(device, op);
}

void sl__device_reap(sl_device *device)
{
    if (!sl__host_func_depth) reap(device);
}

/* Reaps once more: the sentence lists the operations that were in flight. */
static sl_status report_fault(sl_device *device, sl_error *err)
{
    sl__device_reap(device);
    return sl__fault_report(device, err);
}

sl_status sl__device_enter_lost(sl_device *device, const char *what, sl_error *err)
{
    if (!device) return sl_fail(err, SL_ECLOSED, "the device is closed");
    if (sl__host_func_depth)
        return sl_fail(err, SL_ESTATE, "a host function must not call CUDA (%s)", what);
    return SL_OK;
}

SL__RARE sl_status sl__device_enter_slowly(sl_device *device, const char *what, sl_error *err)
{
    sl_status status = sl__device_enter_lost(device, what, err);
    if (status != SL_OK) return status;
    if (device->threads) device->threads->before_call(device);
    return device->fault.status ? report_fault(device, err) : SL_OK;
}

SL__RARE static sl_status report(sl_device *device, sl_error *err)
{
    sl__device_core *core = device->core;
    if (device->fault.status != SL_OK && !core->fault.reported) return report_fault(device, err);
    return core->pending.status != SL_OK ? sl__device_take_pending(device, err) : SL_OK;
}

sl_status sl__device_settle(sl_device *device, sl_error *err)
{
    if (sl__host_func_depth) return SL_OK;
    reap(device);
    if (device->fault.status != SL_OK || device->core->pending.status != SL_OK)
        return report(device, err);
    return SL_OK;
}

sl_status sl__device_leave(sl_device *device, sl_status status, sl_error *err)
{
    sl__device_reap(device);
    if (status == SL_ECAPTURE) sl__capture_failed(device, err);
    if (status != SL_OK && device->fault.status) return report_fault(device, err);
    if (status == SL_EINTERRUPT) {
        sl_interrupt(false);
        return sl_fail(err, SL_EINTERRUPT, "interrupted");
    }
    return status;
}

sl_status sl__device_finish(sl_device *device, sl_status status, sl_error *err)
{
    return status != SL_OK ? sl__device_leave(device, status, err) : sl__device_settle(device, err);
}

/* ---- two devices ---- */

bool sl_device_are_of_one_machine(const sl_device *a, const sl_device *b)
{
    return a->backend == b->backend && a->machine == b->machine;
}

bool sl__device_are_peers(const sl_device *a, const sl_device *b)
{
    return a != b && a->backend->peer_copies && sl_device_are_of_one_machine(a, b);
}

sl_status sl__device_differs(const sl_device *device, const char *noun, const sl_device *other,
                             const char *other_noun, sl_error *err)
{
    if (device->backend == other->backend && device->info.index == other->info.index)
        return sl_fail(
            err, SL_EDEVICE,
            "%s is on %s %d of another machine than %s: lab.open of a device that is open "
            "makes a second machine; \"cuda:%d\" and comm.devices name the open one",
            noun, device->info.backend, device->info.index, other_noun, device->info.index);
    return sl_fail(err, SL_EDEVICE, "%s is on another device (%s %d, %.60s) than %s (%s %d, %.60s)",
                   noun, device->info.backend, device->info.index, device->info.name, other_noun,
                   other->info.backend, other->info.index, other->info.name);
}
