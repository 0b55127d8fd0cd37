/* group.c - requests that are enqueued together. Numbers of operations are given out here, at the
 * end of the group: other operations of their streams may have come before. */
#include <stdlib.h>

#include "../device.h"
#include "../op.h"
#include "meeting.h"
#include "request.h"

/* The open group of the thread that calls. */
static _Thread_local struct {
    sl__request *requests;
    size_t n, cap;
    int depth;
} group;

/* ---- into the group ---- */

static sl_status check_backend(const sl_comm *comm, sl_error *err)
{
    const sl_device *first = group.n ? group.requests[0].comm->device : comm->device;
    if (first->backend == comm->device->backend) return SL_OK;
    return sl_fail(err, SL_EDEVICE, "the group has collectives of %s, and rank %d is a GPU of %s",
                   first->info.backend, comm->rank, comm->device->info.backend);
}

static sl_status add(const sl_comm_call *call, sl_error *err)
{
    sl__request request;
    sl_status status = sl__request_make(call, &request, err);
    if (status == SL_OK) status = check_backend(call->comm, err);
    if (status == SL_OK) status = sl__meeting_call(&request, err);
    if (status != SL_OK) return status;
    sl__request_hold(&request);
    group.requests[group.n++] = request;
    return SL_OK;
}

/* Takes the latest out again, until there are n. */
static void cancel_to(size_t n)
{
    while (group.n > n) {
        sl__request *request = &group.requests[--group.n];
        sl__meeting_cancel(request);
        sl__request_drop(request);
    }
}

/* ---- out of it ---- */

static sl_status begin(const sl__request *request, sl_op **op, sl_error *err)
{
    sl__device_core *core = request->comm->device->core;
    const sl__operands operands = { .side = request->side };
    uint32_t where = core->where;
    sl_status status = sl__comm_check_capture(request->comm, request->stream, err);
    if (status != SL_OK) return status;
    core->where = request->where;
    status = sl__op_begin(request->stream, &request->work, &operands, op, err);
    core->where = where;
    if (status == SL_OK) sl__comm_hold(*op, request->comm, request->meeting);
    return status;
}

/* `ops` has room for all. */
static sl_status enqueue(sl_op **ops, sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t i = 0; i < group.n; i++) {
        status = begin(&group.requests[i], &ops[i], err);
        if (status == SL_OK) continue;
        sl__op_undo(ops, i);
        return status;
    }
    status = sl__op_submit_all(ops, group.n, err);
    for (size_t i = 0; i < group.n && status == SL_OK; i++)
        sl__meeting_enqueued(&group.requests[i]);
    return status;
}

static sl_status check_complete(sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t i = 0; i < group.n && status == SL_OK; i++)
        if (!group.requests[i].comm->device->backend->comm_alone)
            status = sl__meeting_is_complete(&group.requests[i], err);
    return status;
}

/* Marks one request of each device. */
static void mark_devices(void)
{
    for (size_t i = 0; i < group.n; i++) {
        sl__device_core *core = group.requests[i].comm->device->core;
        group.requests[i].ends_call = !core->in_group;
        core->in_group = true;
    }
    for (size_t i = 0; i < group.n; i++)
        group.requests[i].comm->device->core->in_group = false;
}

/* The devices of the group's ranks, each once, end the call; the first error counts. */
static sl_status finish_devices(sl_status status, sl_error *err)
{
    mark_devices();
    for (size_t i = 0; i < group.n; i++) {
        sl_device *device = group.requests[i].comm->device;
        if (!group.requests[i].ends_call) continue;
        if (status != SL_OK)
            status = sl__device_leave(device, status, err);
        else
            status = sl__device_settle(device, err);
    }
    return status;
}

static sl_status flush(sl_error *err)
{
    sl_status status = check_complete(err);
    bool is_done = false;
    if (status == SL_OK) {
        sl_op **ops = malloc(group.n * sizeof *ops);
        status = ops ? enqueue(ops, err) : sl__no_memory(err, "a group");
        is_done = status == SL_OK;
        free(ops);
    }
    status = finish_devices(status, err);
    if (!is_done) cancel_to(0);
    while (group.n > 0)
        sl__request_drop(&group.requests[--group.n]);
    return status;
}

/* ---- the interface ---- */

void sl_comm_group_begin(void) { group.depth++; }

sl_status sl_comm_group_end(sl_error *err)
{
    if (--group.depth > 0 || group.n == 0) return SL_OK;
    return flush(err);
}

void sl_comm_group_abort(void)
{
    group.depth--;
    cancel_to(0);
}

sl_status sl_comm_call_all(const sl_comm_call *calls, size_t n, sl_error *err)
{
    const size_t had = group.n;
    sl_status status = SL__GROW(group.requests, group.cap, group.n + n)
                           ? SL_OK
                           : sl__no_memory(err, "a group");
    for (size_t i = 0; i < n && status == SL_OK; i++)
        status = add(&calls[i], err);
    if (status != SL_OK) {
        cancel_to(had);
        return status;
    }
    return group.depth > 0 || n == 0 ? SL_OK : flush(err);
}

void sl__group_free(void)
{
    cancel_to(0);
    free(group.requests);
    group.requests = NULL;
    group.n = group.cap = 0;
}
