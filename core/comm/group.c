/* group.c - requests that are enqueued together. Numbers of operations are given out here, at the
 * end of the group: other operations of their streams may have come before. */
#include <stdlib.h>

#include "../device.h"
#include "../graph/capture.h"
#include "../op.h"
#include "../race/checker.h"
#include "../table.h"
#include "meeting.h"
#include "request.h"

/* The open group of the thread that calls. */
static _Thread_local struct {
    sl__request *requests;
    size_t n, cap;
    int depth;
} group;

bool sl__group_has(const sl_comm_ranks *all)
{
    for (size_t i = 0; i < group.n; i++)
        if (group.requests[i].comm->all == all) return true;
    return false;
}

/* ---- into the group ---- */

static bool make_room(size_t n)
{
    size_t cap = group.cap ? group.cap : 16;
    sl__request *grown;

    if (group.n + n <= group.cap) return true;
    while (cap < group.n + n)
        cap *= 2;
    grown = realloc(group.requests, cap * sizeof *grown);
    if (!grown) return false;
    group.requests = grown;
    group.cap = cap;
    return true;
}

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

typedef struct member { /* a stream of the group, for the race checker */
    sl__entry entry;
    const sl_stream *stream;
    size_t first, latest; /* of its operations that the checker has seen */
} member;

typedef struct batch { /* of the group's requests, in order */
    sl_op **ops;
    sl__race_sent *sent;
    sl__table streams;
    member *members; /* room for as many as operations; NULL: the checker is off */
    size_t n_members;
    size_t n_begun, n_checked; /* the first of them have begun, the race checker has seen them */
} batch;

static sl_status begin(const sl__request *request, sl_op **op, sl_error *err)
{
    sl__device_core *core = request->comm->device->core;
    const sl__operands operands = { .out = request->out, .in = { request->in } };
    uint32_t where = core->where;
    sl_status status;

    core->where = request->where;
    status = sl__op_begin(request->stream, &request->work, &operands, op, err);
    core->where = where;
    if (status == SL_OK) sl__comm_hold(*op, request->comm);
    return status;
}

static member *find_member(const batch *b, const sl_stream *stream)
{
    sl__entry *entry = sl__table_find(&b->streams, sl__table_key(stream, 0, 0));

    while (entry && ((member *)entry)->stream != stream)
        entry = sl__table_next(entry);
    return (member *)entry;
}

/* NULL: out of memory. */
static member *new_member(batch *b, const sl_stream *stream)
{
    member *m = &b->members[b->n_members];

    *m = (member){ .stream = stream, .first = b->n_checked, .latest = b->n_checked };
    if (!sl__table_add(&b->streams, &m->entry, sl__table_key(stream, 0, 0))) return NULL;
    b->n_members++;
    return m;
}

/* The checker can undo one operation of a stream, the latest: one before it has then happened. */
static void settle(const batch *b, size_t i)
{
    sl__race_enqueued(sl__race, b->ops[i]->stream, &b->sent[i]);
    b->sent[i].epoch = 0;
}

static sl_status check_races(batch *b, sl_op *op, sl_error *err)
{
    sl__device_core *core = op->stream->device->core;
    uint32_t where = core->where;
    sl_status status;
    member *m;

    if (!sl__race_on()) return SL_OK;
    m = find_member(b, op->stream);
    if (m)
        settle(b, m->latest);
    else if (!(m = new_member(b, op->stream)))
        return sl_fail(err, SL_ENOMEM, "out of host memory for a group");
    core->where = op->where;
    status = sl__race_enqueue(sl__race, op, &b->sent[b->n_checked], err);
    core->where = where;
    if (status == SL_OK) m->latest = b->n_checked++;
    return status;
}

static sl_status check_capture(sl_op *op, sl_error *err)
{
    return op->stream->device->core->captures ? sl__capture_refuses_op(op, err) : SL_OK;
}

static void undo(batch *b)
{
    while (b->n_checked > 0)
        if (b->sent[--b->n_checked].epoch) sl__race_cancelled(sl__race, b->ops[b->n_checked]);
    while (b->n_begun > 0) {
        sl_op *op = b->ops[--b->n_begun];
        sl_device *device = op->stream->device;
        if (device->core->numbers->last_seq == op->seq) device->core->numbers->last_seq--;
        sl__op_drop(device, op);
    }
}

/* The last epoch of its stream before the group. Operations of a group have no order among each
 * other: the library makes one kernel of them. */
static uint64_t epoch_before(const batch *b, const sl_op *op)
{
    return b->ops[find_member(b, op->stream)->first]->race_epoch - 1;
}

static void report_part(batch *b, size_t i)
{
    sl__meeting *meeting = group.requests[i].meeting;
    const sl_op *op = b->ops[i];

    sl__race_enqueued(sl__race, op->stream, &b->sent[i]);
    if (meeting && op->race_epoch)
        sl__race_rank_called(sl__race, &meeting->race, op, epoch_before(b, op));
}

static void enqueued(batch *b)
{
    for (size_t i = 0; i < b->n_begun; i++) {
        if (i < b->n_checked) report_part(b, i);
        sl__op_enqueued(b->ops[i]);
    }
    for (size_t i = 0; i < b->n_begun; i++)
        sl__meeting_enqueued(&group.requests[i]);
}

static sl_status enqueue(batch *b, sl_error *err)
{
    sl_status status = SL_OK;

    for (size_t i = 0; i < group.n && status == SL_OK; i++) {
        status = begin(&group.requests[i], &b->ops[i], err);
        b->n_begun += status == SL_OK;
    }
    for (size_t i = 0; i < group.n && status == SL_OK; i++) {
        status = check_capture(b->ops[i], err);
        if (status == SL_OK) status = check_races(b, b->ops[i], err);
    }
    if (status == SL_OK)
        status = b->ops[0]->stream->device->backend->comm_enqueue(b->ops, group.n, err);
    if (status == SL_OK)
        enqueued(b);
    else
        undo(b);
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
    batch b = { 0 };
    sl_status status = check_complete(err);
    bool is_done = false;

    if (status == SL_OK) {
        b.ops = malloc(group.n * sizeof *b.ops);
        b.sent = malloc(group.n * sizeof *b.sent);
        if (sl__race_on()) b.members = malloc(group.n * sizeof *b.members);
        status = b.ops && b.sent && (b.members || !sl__race_on())
                     ? enqueue(&b, err)
                     : sl_fail(err, SL_ENOMEM, "out of host memory for a group");
        is_done = status == SL_OK;
    }
    free(b.ops);
    free(b.sent);
    free(b.members);
    sl__table_free(&b.streams);
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
    sl_status status = make_room(n) ? SL_OK
                                    : sl_fail(err, SL_ENOMEM, "out of host memory for a group");

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
    free(group.requests);
    group.requests = NULL;
    group.n = group.cap = 0;
}
