/* record.c - the recorder.
 *
 * A timeline has its own texts; a recording keeps the map from the device's
 * text ids to the timeline's, so that noting an operation is an append and two
 * array look-ups. Recording must not break a script: when memory runs out the
 * span is lost, and the next call that settles reports that, once.
 */
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "op.h"
#include "timeline/store.h"

typedef sl__recording recording;

void sl__record_report_loss(sl_device *device)
{
    sl__device_fail_later(device, SL_ENOMEM, "recording: out of memory; a span is missing");
}

void sl__record_lose(sl_device *device, recording *rec)
{
    if (!rec->reported) sl__record_report_loss(device);
    rec->reported = true;
}

/* sl__record_text for a text that the timeline may not have. */
static bool add_text(sl_device *device, recording *rec, uint32_t device_id, uint32_t *id)
{
    *id = 0;
    if (!device_id) return true;
    if (!SL__GROW_ZEROED(rec->texts, rec->n_texts, (size_t)device_id + 1)) return false;
    if (sl_timeline_intern(rec->timeline, sl__strings_text(&device->core->strings, device_id), id,
                           NULL))
        return false;
    rec->texts[device_id] = *id + 1;
    return true;
}

bool sl__record_text(sl_device *device, recording *rec, uint32_t device_id, uint32_t *id)
{
    if (device_id >= rec->n_texts || !rec->texts[device_id])
        return add_text(device, rec, device_id, id);
    *id = rec->texts[device_id] - 1;
    return true;
}

/* The device is listed in the timeline from the first thing that it does. */
static bool note_device(sl_device *device, recording *rec)
{
    return rec->place >= 0
           || !sl_timeline_add_device(rec->timeline, &device->info, &rec->place, NULL);
}

bool sl__record_stream(sl_device *device, recording *rec, const sl_stream *stream, uint32_t *id)
{
    sl_stream_note note;
    if (!note_device(device, rec)) return false;
    *id = sl_timeline_stream_id(rec->place, stream ? stream->id : 0);
    if (!stream || (stream->id < rec->n_streams && rec->streams_noted[stream->id])) return true;
    if (!SL__GROW_ZEROED(rec->streams_noted, rec->n_streams, (size_t)stream->id + 1)) return false;
    memset(&note, 0, sizeof note);
    note.id = *id;
    note.priority = stream->priority;
    note.non_blocking = stream->non_blocking;
    if (!sl__record_text(device, rec, stream->name, &note.name)
        || sl_timeline_add_stream(rec->timeline, &note, NULL))
        return false;
    rec->streams_noted[stream->id] = true;
    return true;
}

/* ---- notes ---------------------------------------------------------------- */

static bool add_span(sl_device *device, recording *rec, const sl_op *op, uint32_t stream)
{
    sl_span span = {
        .start_ns = op->start_ns,
        .end_ns = op->end_ns,
        .host_start_ns = op->host_start_ns,
        .host_end_ns = op->host_end_ns,
        .bytes = op->work.kind == SL_WORK_KERNEL ? 0 : op->work.bytes,
        .correlation = op->seq,
        .stream = stream,
        .blocks = op->blocks,
        .threads = op->threads,
        .registers = op->registers,
        .kernels = op->kernels,
        .kernels_after = op->kernels_after,
        .shared_bytes = op->shared_bytes,
        .kind = (uint8_t)sl__span_kind(&op->work),
        .engine = op->engine,
        .flags = op->span_flags,
    };
    uint32_t name = op->graph ? op->graph->name /* a launch whose nodes have no times */
                              : sl__span_name(device, op);
    /* 0: no memory for it */
    return name && sl__record_text(device, rec, name, &span.name)
           && sl__record_text(device, rec, op->where, &span.where)
           && !sl_timeline_add_span(rec->timeline, &span, NULL);
}

static bool add_collective(recording *rec, const sl_op *op)
{
    const sl_work *work = &op->work;
    if (!op->comm) return true;
    sl_collective_note note = (sl_collective_note){
        .correlation = op->seq,
        .number = work->number,
        .in_elems = work->n,
        .out_elems = work->m,
        .met_ns = op->met_ns,
        .late_by = op->late_by,
        .late_rank = op->late_rank,
        .peer = (int32_t)work->peer,
        .collective = work->collective,
        .dtype = work->dtype,
        .reduction = work->reduction,
        .comm = op->comm->all->id,
        .rank = op->comm->rank,
        .ranks = op->comm->all->size,
    };
    return !sl_timeline_add_collective(rec->timeline, &note, NULL);
}

/* The recording of the same session on another device, or NULL. */
static recording *find_member(const recording *rec, const sl_device *device)
{
    recording *member = rec->session->members;
    while (member && member->device != device)
        member = member->beside;
    return member;
}

/* The devices of a copy from one to another. That which the copy does not run on may have done
 * nothing else. */
static bool add_peer(recording *rec, const sl_op *op)
{
    bool is_peer = op->work.kind == SL_WORK_MEMCPY && op->work.copy_kind == SL_SPAN_MEMCPY_P2P;
    recording *from = is_peer ? find_member(rec, op->side[0].buffer->device) : NULL;
    recording *to = is_peer ? find_member(rec, op->side[SL_OUTPUT].buffer->device) : NULL;
    sl_peer_note note = { .correlation = op->seq };
    if (!from || !to) return true;
    if (!note_device(from->device, from) || !note_device(to->device, to)) return false;
    note.from = from->place;
    note.to = to->place;
    return !sl_timeline_add_peer(rec->timeline, &note, NULL);
}

/* The operands that are memory, of at most SL_MOST_ARGS. */
static bool add_touches(recording *rec, uint64_t correlation, const sl_operand *operands, size_t n)
{
    const uint8_t both = SL_TOUCH_READS | SL_TOUCH_WRITES;
    sl_touch_note notes[SL_MOST_ARGS];
    size_t n_notes = 0;
    for (const sl_operand *one = operands; one < operands + n; one++) {
        if (!one->buffer || one->bytes == 0) continue;
        notes[n_notes++] = (sl_touch_note){
            .correlation = correlation,
            .memory = one->buffer->id,
            .from = one->offset,
            .to = one->offset + one->bytes,
            .access = one->access & SL_ATOMIC ? both : one->access & both,
        };
    }
    return !sl_timeline_add_touches(rec->timeline, notes, n_notes, NULL);
}

/* What the operation waited for, from a backend that knows it. */
static bool add_hold(recording *rec, const sl_op *op)
{
    if (op->ready_cause == SL_CAUSE_NONE) return true;
    sl_hold hold = (sl_hold){
        .correlation = op->seq,
        .ready_ns = op->ready_ns,
        .ready_by = op->ready_by,
        .start_by = op->start_by,
        .ready_cause = op->ready_cause,
        .start_cause = op->start_cause,
    };
    return !sl_timeline_add_hold(rec->timeline, &hold, NULL);
}

static bool add_event_call(sl_device *device, recording *rec, const sl_op *op, uint32_t stream,
                           uint32_t target)
{
    const sl_work_row *row = sl_work_row_of(op->work.kind);
    sl_call call = {
        .host_start_ns = op->host_start_ns,
        .host_end_ns = op->host_end_ns,
        .device_ns = op->start_ns,
        .correlation = op->seq,
        .stream = stream,
        .target = op->wait_target,
        .target_stream = target,
        .kind = row->point == SL_POINT_WAIT ? SL_CALL_STREAM_WAIT : SL_CALL_EVENT_RECORD,
        .queue_full = (op->span_flags & SL_SPAN_QUEUE_FULL) != 0,
    };
    /* Not an event's: the kind of the call does not say which one it was. */
    uint32_t name = row->is_work ? sl__strings_intern(&device->core->strings, row->call[0]) : 0;
    return sl__record_text(device, rec, op->where, &call.where)
           && sl__record_text(device, rec, name, &call.name)
           && !sl_timeline_add_call(rec->timeline, &call, NULL);
}

bool sl__record_thread(recording *rec, uint64_t correlation, uint32_t thread)
{
    const sl_thread_note note = { correlation, thread };
    return thread == 0 || !sl_timeline_add_thread(rec->timeline, &note, NULL);
}

bool sl__record_note(sl_device *device, recording *rec, const sl_op *op, uint32_t stream,
                     uint32_t target)
{
    return (sl_has_span(op) ? add_span(device, rec, op, stream)
                            : add_event_call(device, rec, op, stream, target))
           && add_hold(rec, op) && add_collective(rec, op) && add_peer(rec, op)
           && (!sl_has_span(op) || add_touches(rec, op->seq, op->operand, op->n_operands))
           && sl__record_thread(rec, op->seq, op->thread);
}

/* *id: the row of the record that a wait waits for. Its device may be another one. */
static bool find_target(recording *rec, const sl_op *op, uint32_t *id)
{
    sl_device *device = op->event ? op->event->device : rec->device;
    recording *member = device == rec->device ? rec : find_member(rec, device);
    *id = 0;
    if (!op->wait_target || !member) return true;
    if (!note_device(device, member)) return false;
    *id = sl_timeline_stream_id(member->place, op->wait_target_stream);
    return true;
}

bool sl__record_op(recording *rec, const sl_op *op)
{
    uint32_t stream, target;
    return sl__record_stream(rec->device, rec, op->stream, &stream) && find_target(rec, op, &target)
           && sl__record_note(rec->device, rec, op, stream, target);
}

void sl__call_begin(sl_device *device, sl_call *call, sl_call_kind kind)
{
    memset(call, 0, sizeof *call);
    call->kind = (uint8_t)kind;
    call->where = device->core->where;
    if (!device->core->recordings) /* no number without a recording: a timeline must */
        return;                    /* not depend on waits before it */
    call->correlation = ++device->core->numbers->last_seq;
    call->host_start_ns = device->backend->host_now_ns(device);
}

sl_status sl__call_begin_as(sl_device *device, sl_call *call, const char *name, sl_error *err)
{
    uint32_t id = sl__strings_intern(&device->core->strings, name);
    if (!id) return sl__no_memory(err, "the name of a call");
    sl__call_begin(device, call, SL_CALL_PLAIN);
    call->name = id;
    return SL_OK;
}

void sl__call_end(sl_device *device, sl_call *call, const sl_stream *stream, sl_status status)
{
    sl__device_core *core = device->core;
    if (status != SL_OK) {
        if (call->correlation && core->numbers->last_seq == call->correlation)
            core->numbers->last_seq--;
        return;
    }
    if (core->recordings) call->host_end_ns = device->backend->host_now_ns(device);
    for (recording *rec = core->recordings; rec; rec = rec->next) {
        sl_call noted = *call;
        if (call->correlation < rec->first_seq) continue; /* it began before the recording */
        bool placed = sl__record_stream(device, rec, stream, &noted.stream);
        noted.target_stream = placed ? sl_timeline_stream_id(rec->place, call->target_stream) : 0;
        if (!placed || !sl__record_text(device, rec, call->name, &noted.name)
            || !sl__record_text(device, rec, call->where, &noted.where)
            || sl_timeline_add_call(rec->timeline, &noted, NULL)
            || !sl__record_thread(rec, call->correlation, core->thread))
            sl__record_lose(device, rec);
    }
}

sl_status sl__host_compute(const sl_operand *out, const sl_operand *in, const sl_work *work,
                           sl_error *err)
{
    sl_device *device = out->buffer->device;
    sl_call call;
    if (!device->core->recordings) return device->backend->host_compute(out, in, work, err);
    sl__call_begin(device, &call, SL_CALL_HOST_WORK);
    call.name = sl__host_work_name(device, work,
                                   sl__span_places(out->buffer, (in ? in : out)->buffer));
    sl_status status = device->backend->host_compute(out, in, work, err);
    sl__call_end(device, &call, NULL, status);
    const sl_operand operands[] = { *out, in ? *in : *out };
    for (recording *rec = device->core->recordings; rec && status == SL_OK; rec = rec->next) {
        if (call.correlation < rec->first_seq) continue;
        if (!add_touches(rec, call.correlation, operands, in ? 2 : 1)) sl__record_lose(device, rec);
    }
    return status;
}
