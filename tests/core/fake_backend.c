/* fake_backend.c - the functions of the backend that does what a test tells it to, compiled once for
 * all tests of the core. */
#include "fake_backend.h"

struct fake fake;

/* A lost device, or a wish to end the wait. */
static sl_status fake_alive(const sl_device *device, bool waits, sl_error *err)
{
    if (device->fault.status) {
        if (err) *err = device->fault;
        return device->fault.status;
    }
    if (waits && *device->interrupted)
        return sl_fail(err, SL_EINTERRUPT, "the fake wait was ended");
    return SL_OK;
}

static sl_status fake_maybe_fail(int *counter, sl_status status, sl_error *err)
{
    if (*counter <= 0) return SL_OK;
    --*counter;
    return sl_fail(err, status, "the fake backend fails as asked");
}

static sl_status fake_device_count(int *count, sl_error *err)
{
    *count = 2 + fake.extra_devices;
    if (*count == 0) sl_fail(err, SL_OK, "nobody has plugged one in");
    return SL_OK;
}

static sl_status fake_device_name(int index, char *name, size_t name_bytes, sl_error *err)
{
    (void)err;
    snprintf(name, name_bytes, "Fake %d", index);
    return SL_OK;
}

static sl_status fake_device_open(sl_device *device, const sl_setting *settings, size_t n,
                                  sl_error *err)
{
    if (n > 0) return sl_fail(err, SL_EINVAL, "unknown setting %s", settings[0].name);
    strcpy(device->info.name, "Fake");
    device->info.simulated = device->info.repeats = !fake.real;
    device->info.times_at_once = device->info.knows_causes = !fake.real;
    device->info.needs_no_code = !fake.real;
    device->info.memory_bytes = FAKE_MEMORY_BYTES;
    device->info.priority_least = 0;
    device->info.priority_greatest = -5;
    device->info.max_threads_per_block = 1024;
    device->info.max_shared_bytes_per_block = 49152;
    fake.devices++;
    return SL_OK;
}

static void fake_device_close(sl_device *device)
{
    (void)device;
    fake.devices--;
}

static sl_status fake_stream_open(sl_stream *stream, const char *name, sl_error *err)
{
    (void)name;
    sl_status status = fake_maybe_fail(&fake.fail_streams, SL_ENOMEM, err);

    if (status) return status;
    ((fake_stream *)stream)->magic = 1;
    fake.streams++;
    return SL_OK;
}

static void fake_stream_close(sl_stream *stream)
{
    ((fake_stream *)stream)->magic = 0;
    fake.streams--;
}

static sl_status fake_event_open(sl_event *event, sl_error *err)
{
    sl_status status = fake_maybe_fail(&fake.fail_events, SL_ENOMEM, err);
    if (status) return status;
    ((fake_event *)event)->magic = 1;
    fake.events++;
    return SL_OK;
}

static void fake_event_close(sl_event *event)
{
    ((fake_event *)event)->magic = 0;
    fake.events--;
}

static sl_status fake_buffer_open(sl_buffer *buffer, sl_alloc_how how, sl_stream *stream,
                                  sl_error *err)
{
    sl_status status = fake_maybe_fail(&fake.fail_buffers, SL_ENOMEM, err);
    (void)stream;
    fake.last_how = how;
    fake.now_ns += fake.buffer_open_ns;
    if (status) return status;
    if (!fake.lends) buffer->lender = NULL;
    /* Large memory is never looked at, so it need not be there. */
    ((fake_buffer *)buffer)->data = calloc(1, buffer->bytes < 1 << 20 ? buffer->bytes + 1 : 1);
    if (!((fake_buffer *)buffer)->data) return sl_fail(err, SL_ENOMEM, "the test is out of memory");
    ((fake_buffer *)buffer)->magic = 1;
    fake.buffers++;
    return SL_OK;
}

static void fake_buffer_close(sl_buffer *buffer)
{
    free(((fake_buffer *)buffer)->data);
    fake.buffers--;
}

static sl_status fake_buffer_part(sl_buffer *buffer, sl_error *err)
{
    (void)buffer;
    fake.parted++;
    return fake_maybe_fail(&fake.fail_parts, SL_ENOMEM, err);
}

static unsigned char *fake_data(sl_buffer *buffer) { return ((fake_buffer *)buffer)->data; }

/* Copies, memsets and float32 fills are done; of kernels only the order counts. */
static void fake_do(const sl_work *work, const sl_operand *out, const sl_operand *in)
{
    unsigned char *to = out->buffer ? fake_data(out->buffer) + out->offset : NULL;
    if (work->kind == SL_WORK_MEMCPY)
        memmove(to, fake_data(in->buffer) + in->offset, work->bytes);
    else if (work->kind == SL_WORK_MEMSET)
        memset(to, work->byte_value, work->bytes);
    else if (work->kind == SL_WORK_KERNEL && work->kernel == SL_KERNEL_FILL
             && work->dtype == SL_FLOAT32)
        for (int64_t i = 0; i < work->n; i++) {
            float value = (float)work->scalar;
            memcpy(to + i * 4, &value, 4);
        }
}

static void fake_hand_over(sl_op *op)
{
    op->next = NULL;
    if (!fake.done) fake.done_end = &fake.done;
    *fake.done_end = op;
    fake.done_end = &op->next;
}

/* One behind the other, 1000 ns each. */
static void fake_run_nodes(sl_op *op)
{
    for (uint32_t i = 0; i < op->body->n_nodes; i++) {
        sl_op *node = op->body->nodes[i].op;
        int64_t start = fake_tick();
        fake_do(&node->work, &node->side[SL_OUTPUT], &node->side[0]);
        if (!op->runs) continue;
        op->runs[i].start_ns = op->runs[i].ready_ns = start;
        op->runs[i].end_ns = fake_tick();
    }
}

static void fake_run(sl_op *op)
{
    op->start_ns = fake_tick();
    if (op->work.kind == SL_WORK_HOST_FUNC)
        fake.host_func_failures += !op->host_fn(op->host_ud, NULL);
    else if (op->work.kind == SL_WORK_GRAPH)
        fake_run_nodes(op);
    else
        fake_do(&op->work, &op->side[SL_OUTPUT], &op->side[0]);
    op->end_ns = op->work.kind >= SL_WORK_EVENT_RECORD ? op->start_ns : fake_tick();
    op->blocks = 1;
    op->threads = 32;
    if (fake.later) fake_time_later(op);
    fake_hand_over(op);
}

void fake_complete(int n)
{
    while (n-- > 0 && fake.n_queue > 0) {
        sl_op *op = fake.queue[0];
        memmove(fake.queue, fake.queue + 1, (size_t)--fake.n_queue * sizeof *fake.queue);
        fake_run(op);
    }
}

void fake_fault(sl_device *device, const char *cause)
{
    int n_kept = 0;
    sl_fail(&device->fault, SL_EFAULT, "%s", cause);
    device->fault.backend_code = 700;
    for (int64_t id = 99; id >= 0; id--)
        for (int i = 0; i < fake.n_queue; i++) {
            sl_op *op = fake.queue[i];
            if (op->stream->device != device || op->stream->id != id) continue;
            op->lost = true;
            fake_hand_over(op);
        }
    for (int i = 0; i < fake.n_queue; i++)
        if (!fake.queue[i]->lost) fake.queue[n_kept++] = fake.queue[i];
    fake.n_queue = n_kept;
}

/* As CUDA's runtime does: the call fails, and every capture is spoiled. */
static sl_status fake_maybe_refuse(sl_error *err)
{
    int code = fake.refused_with;
    if (!code) return SL_OK;
    fake.refused_with = 0;
    fake.spoiled = true;
    sl_fail(err, SL_ECAPTURE, "the fake library says %d", code);
    if (err) err->backend_code = code;
    if (err) err->operand = fake.refused_call;
    return SL_ECAPTURE;
}

static sl_status fake_enqueue_one(sl_op *op, sl_error *err)
{
    sl_status status = fake_maybe_fail(&fake.fail_enqueues, SL_EIO, err);
    if (!status) status = fake_alive(op->stream->device, false, err);
    if (!status) status = fake_maybe_refuse(err);
    if (status) return status;
    if (op->captured) {
        fake.captured++;
        return SL_OK;
    }
    if (fake.n_queue == FAKE_MOST_OPS) return sl_fail(err, SL_ENOMEM, "the fake queue is full");
    op->host_start_ns = fake_tick();
    op->host_end_ns = fake_tick();
    if (op->work.kind == SL_WORK_MEMCPY && op->work.copy_kind == SL_SPAN_MEMCPY_P2P)
        op->engine = SL_ENGINE_P2P;
    ((fake_op *)op)->magic = 1;
    fake.last_work = op->work;
    memcpy(fake.last_side, op->side, sizeof fake.last_side);
    fake.last_target = op->wait_target;
    fake.enqueues++;
    fake.queue[fake.n_queue++] = op;
    if (op->work.flags & SL_WORK_SYNC) {
        fake_complete(fake.n_queue);
        op->host_end_ns = fake_tick();
    }
    return SL_OK;
}

static sl_status fake_enqueue(sl_op *const *ops, size_t n, sl_error *err)
{
    sl_status status = SL_OK;
    if (!ops[0]->comm) return fake_enqueue_one(ops[0], err);
    status = fake_maybe_fail(&fake.fail_enqueues, SL_EBACKEND, err);
    for (size_t i = 0; i < n && !status; i++)
        status = fake_enqueue_one(ops[i], err);
    fake.groups += !status;
    fake.grouped = status ? 0 : (int)n;
    return status;
}

/* Those of the device; the others stay. */
static sl_op *fake_reap(sl_device *device)
{
    sl_op *mine = NULL, **end = &mine, **link = &fake.done;
    while (*link) {
        sl_op *op = *link;
        if (op->stream->device != device) {
            link = &op->next;
            continue;
        }
        *link = op->next;
        op->next = NULL;
        *end = op;
        end = &op->next;
    }
    fake.done_end = link;
    return mine;
}

static sl_status fake_query(bool *done)
{
    fake_tick();
    *done = fake.n_queue == 0;
    return SL_OK;
}

static sl_status fake_stream_query(sl_stream *stream, bool *done, sl_error *err)
{
    (void)stream;
    (void)err;
    return fake_query(done);
}

static sl_status fake_event_query(sl_event *event, bool *done, sl_error *err)
{
    (void)event;
    (void)err;
    return fake_query(done);
}

static sl_status fake_synchronize(const sl_device *device, sl_error *err)
{
    sl_status status = fake_maybe_fail(&fake.fail_synchronizes, SL_EINTERRUPT, err);
    if (!status) status = fake_maybe_refuse(err);
    if (!status) status = fake_alive(device, true, err);
    if (status) return status;
    fake_tick();
    fake.synchronizes++;
    fake_complete(fake.n_queue);
    return SL_OK;
}

static sl_status fake_stream_synchronize(sl_stream *stream, sl_error *err)
{
    return fake_synchronize(stream->device, err);
}

static sl_status fake_event_synchronize(sl_event *event, sl_error *err)
{
    return fake_synchronize(event->device, err);
}

static sl_status fake_device_synchronize(sl_device *device, sl_error *err)
{
    return fake_synchronize(device, err);
}

static sl_status fake_event_elapsed(sl_event *start, sl_event *end, double *ms, sl_error *err)
{
    (void)err;
    *ms = (double)(end->record_seq - start->record_seq);
    return SL_OK;
}

static int64_t fake_host_now_ns(sl_device *device)
{
    (void)device;
    return fake.now_ns;
}

static sl_status fake_host_work(sl_device *device, int64_t duration_ns, sl_error *err)
{
    (void)device;
    (void)err;
    fake.now_ns += duration_ns;
    return SL_OK;
}

static sl_status fake_host_compute(const sl_operand *out, const sl_operand *in, const sl_work *work,
                                   sl_error *err)
{
    (void)err;
    fake.computes++;
    fake.last_work = *work;
    fake_do(work, out, in);
    return SL_OK;
}

static sl_status fake_host_read(sl_buffer *buffer, size_t offset, size_t bytes, void *data,
                                sl_error *err)
{
    (void)err;
    memcpy(data, fake_data(buffer) + offset, bytes);
    return SL_OK;
}

static sl_status fake_host_write(sl_buffer *buffer, size_t offset, size_t bytes, const void *data,
                                 sl_error *err)
{
    (void)err;
    memcpy(fake_data(buffer) + offset, data, bytes);
    return SL_OK;
}

static sl_status fake_host_pin(sl_buffer *buffer, bool pin, sl_error *err)
{
    (void)buffer;
    (void)pin;
    (void)err;
    fake.now_ns += fake.pin_ns;
    return SL_OK;
}

static sl_status fake_plain_call(sl_device *device, sl_plain_call call, sl_buffer *buffer,
                                 sl_stream *stream, size_t bytes, bool *waited, sl_error *err)
{
    sl_status status = fake_maybe_fail(&fake.fail_plain_calls, SL_EIO, err);
    (void)device;
    (void)bytes;
    if (status) return status;
    fake.plain_calls++;
    fake.last_plain = call;
    fake.last_plain_buffer = buffer;
    fake.last_plain_stream = stream;
    *waited = call == SL_PLAIN_FREE;
    if (*waited) fake_complete(fake.n_queue);
    fake_tick();
    return SL_OK;
}

static sl_status fake_memory_info(sl_device *device, int64_t *free_bytes, int64_t *total_bytes,
                                  sl_error *err)
{
    (void)err;
    fake_tick();
    *total_bytes = 1 << 20;
    *free_bytes = *total_bytes - device->info.index;
    return SL_OK;
}

/* Every device reaches every other one. */
static sl_status fake_peer_access(sl_device *device, sl_device *peer, sl_peer_call call,
                                  bool *answer, sl_error *err)
{
    bool *enabled = &fake.peer_enabled[device->info.index][peer->info.index];
    bool wanted = call == SL_PEER_ENABLE;
    (void)err;
    fake_tick();
    *answer = call == SL_PEER_CAN_ACCESS || *enabled != wanted;
    if (call != SL_PEER_CAN_ACCESS) *enabled = wanted;
    return SL_OK;
}

static sl_status fake_record_begin(sl_device *device, const char *name, sl_error *err)
{
    sl_status status = fake_maybe_fail(&fake.fail_record_begins, SL_EBACKEND, err);
    (void)device;
    if (status) return status;
    snprintf(fake.range, sizeof fake.range, "%s", name);
    fake.recordings++;
    return SL_OK;
}

/* The latest first: the core must not count on an order. */
static void fake_record_collect(sl_device *device, sl_activity_fn fn, void *ud)
{
    (void)device;
    while (fake.n_activities > 0)
        fn(ud, &fake.activities[--fake.n_activities]);
}

static void fake_record_end(sl_device *device)
{
    (void)device;
    if (--fake.recordings > 0) return;
    free(fake.activities);
    fake.activities = NULL;
    fake.n_activities = fake.cap_activities = 0;
}

static sl_status fake_capture_begin(sl_stream *stream, sl_capture_mode mode, sl_error *err)
{
    sl_status status = fake_maybe_fail(&fake.fail_enqueues, SL_EIO, err);
    (void)stream;
    (void)mode;
    if (status) return status;
    fake.captures++;
    return SL_OK;
}

static sl_status fake_capture_end(sl_stream *stream, sl_graph *graph, sl_error *err)
{
    (void)stream;
    fake.captures--;
    fake.spoiled = fake.spoiled && fake.captures > 0;
    return graph ? fake_maybe_refuse(err) : SL_OK;
}

static sl_status fake_capture_status(sl_stream *stream, sl_capture_status *status, sl_error *err)
{
    (void)stream;
    (void)err;
    *status = fake.spoiled ? SL_CAPTURE_STATUS_INVALIDATED : SL_CAPTURE_STATUS_ACTIVE;
    return SL_OK;
}

static sl_status fake_graph_open(sl_graph *graph, sl_error *err)
{
    sl_status status = fake_maybe_fail(&fake.fail_enqueues, SL_EIO, err);
    (void)graph;
    if (status) return status;
    fake.graphs++;
    return SL_OK;
}

static sl_status fake_graph_update(sl_graph *graph, sl_graph *from, sl_error *err)
{
    (void)graph;
    (void)from;
    return fake_maybe_fail(&fake.fail_enqueues, SL_EUNSUPPORTED, err);
}

static void fake_graph_close(sl_graph *graph) { fake.graphs -= graph->opened; }

/* ---- communicators: of "pair", which refuses a rank alone, and of "alone", which does not ---- */

static sl_status fake_comm_id(sl_device *device, sl_comm_id *id, sl_error *err)
{
    (void)device;
    (void)err;
    memset(id, 7, sizeof *id);
    return SL_OK;
}

static sl_status fake_comm_open(sl_comm_ranks *ranks, const sl_comm_id *id, sl_error *err)
{
    sl_status status = fake_maybe_fail(&fake.fail_comms, SL_EBACKEND, err);
    (void)ranks;
    if (status) return status;
    fake.has_comm_id = id && id->bytes[0] == 7;
    fake.comms++;
    return SL_OK;
}

static void fake_comm_close(sl_comm_ranks *ranks)
{
    (void)ranks;
    fake.comms--;
}

static void fake_comm_abort(sl_comm_ranks *ranks)
{
    (void)ranks;
    fake.aborted++;
    fake_complete(fake.n_queue);
}

#define FAKE_RANKS                                                                               \
    .comm_bytes = sizeof(sl_comm), .meeting_bytes = sizeof(sl_meeting), .comm_id = fake_comm_id, \
    .comm_open = fake_comm_open, .comm_close = fake_comm_close, .comm_abort = fake_comm_abort

#define FAKE_ENTRIES                                                                               \
    .abi_version = SL_BACKEND_ABI, .device_bytes = sizeof(sl_device),                              \
    .stream_bytes = sizeof(fake_stream), .event_bytes = sizeof(fake_event),                        \
    .buffer_bytes = sizeof(fake_buffer), .op_bytes = sizeof(fake_op),                              \
    .device_count = fake_device_count, .device_name = fake_device_name,                            \
    .device_open = fake_device_open, .device_close = fake_device_close,                            \
    .stream_open = fake_stream_open, .stream_close = fake_stream_close,                            \
    .event_open = fake_event_open, .event_close = fake_event_close,                                \
    .buffer_open = fake_buffer_open, .buffer_close = fake_buffer_close,                            \
    .buffer_part = fake_buffer_part, .enqueue = fake_enqueue, .reap = fake_reap,                   \
    .stream_query = fake_stream_query, .stream_synchronize = fake_stream_synchronize,              \
    .event_query = fake_event_query, .event_synchronize = fake_event_synchronize,                  \
    .event_elapsed = fake_event_elapsed, .device_synchronize = fake_device_synchronize,            \
    .host_now_ns = fake_host_now_ns, .host_work = fake_host_work,                                  \
    .host_compute = fake_host_compute, .host_read = fake_host_read, .host_write = fake_host_write, \
    .host_pin = fake_host_pin, .plain_call = fake_plain_call, .memory_info = fake_memory_info,     \
    .peer_access = fake_peer_access, .record_begin = fake_record_begin,                            \
    .record_collect = fake_record_collect, .record_end = fake_record_end,                          \
    .graph_bytes = sizeof(sl_graph), .capture_begin = fake_capture_begin,                          \
    .capture_end = fake_capture_end, .capture_status = fake_capture_status,                        \
    .graph_open = fake_graph_open, .graph_update = fake_graph_update,                              \
    .graph_close = fake_graph_close

const sl_backend fake_backend = { .name = "fake", FAKE_ENTRIES };
static const sl_backend fake_pair_backend = {
    .name = "pair", .peer_copies = true, FAKE_RANKS, FAKE_ENTRIES
};
static const sl_backend fake_alone_backend = {
    .name = "alone", .peer_copies = true, .comm_alone = true, FAKE_RANKS, FAKE_ENTRIES
};
static const sl_backend fake_checked_backend = { .name = "checked",
                                                 .checks_captures = true,
                                                 FAKE_ENTRIES };
static const sl_backend fake_old_backend = { .abi_version = 0, .name = "old" };

extern const sl_backend *const sl__backends[];
const sl_backend *const sl__backends[] = {
    &fake_backend,         &fake_pair_backend, &fake_alone_backend,
    &fake_checked_backend, &fake_old_backend,  NULL,
};
