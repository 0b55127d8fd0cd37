/* host_func.c - host functions in a stream.
 *
 * The backend calls op->host_fn. Core sets that to a function of its own, which keeps the rules:
 * while the user's function runs, no device may be called; once the device drains, no function
 * runs; and an error is kept for the call of the core in which it ran (sl__device_settle).
 */
#include <stdlib.h>

#include "device.h"
#include "observers.h"
#include "op.h"
#include "stream.h"

typedef struct host_func {
    sl_device *device; /* borrowed: the operation's stream holds it */
    sl_host_fn fn;
    void *ud;
    void (*release)(void *ud);
    const sl_op *op;
    uint64_t runs; /* so far: a node of a graph runs again and again */
} host_func;

/* Always returns true: an error of the user's function is none of the backend. */
static bool run_host_func(void *ud, sl_error *err)
{
    host_func *func = ud;
    sl_error failure = { .msg = "" };
    uint32_t where = func->device->core->where; /* of the call in which it runs */
    uint64_t run = func->runs++;
    (void)err;
    if (func->device->core->draining) return true;
    sl__host_func_depth++;
    sl__tell(host_function, func->op, run);
    bool succeeded = func->fn(func->ud, &failure);
    sl__tell(host_function, NULL, run);
    sl__host_func_depth--;
    func->device->core->where = where;
    if (!succeeded)
        sl__device_fail_later(func->device, SL_EHOSTFUNC,
                              failure.msg[0] ? failure.msg : "a host function failed");
    return true;
}

static void release_host_func(void *ud)
{
    host_func *func = ud;
    if (func->release) func->release(func->ud);
    free(func);
}

sl_status sl_stream_launch_host_func(sl_stream *stream, sl_host_fn fn, void *ud,
                                     void (*release)(void *ud), sl_error *err)
{
    const sl_work work = { .kind = SL_WORK_HOST_FUNC };
    host_func *func = NULL;
    sl_op *op;
    sl_status status = sl__stream_enter(stream, "launch_host_func", err);
    if (status != SL_OK) return status;
    if (!fn) return sl_fail(err, SL_EINVAL, "launch_host_func needs a function");
    sl_device *device = stream->device;
    func = malloc(sizeof *func);
    if (!func) return sl__no_memory(err, "a host function");
    *func = (host_func){ device, fn, ud, release, NULL, 0 };
    status = sl__op_begin(stream, &work, &(sl__operands){ 0 }, &op, err);
    if (status != SL_OK) goto fail;
    func->op = op;
    op->host_fn = run_host_func;
    op->host_ud = func;
    op->host_release = release_host_func;
    status = sl__device_leave(device, sl__op_submit(op, err), err);
    if (status != SL_OK) goto fail;
    /* Not settled: a failure of this call always means that `ud` is still the
     * caller's, and an earlier function's error is left for the next call to report. */
    return SL_OK;
fail:
    free(func);
    return status;
}
