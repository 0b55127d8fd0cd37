/* checker.c - operations and waits that the core reports; switching the checker on and off. */
#include "checker.h"

#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "../op.h"
#include "replays.h"
#include "state.h"

enum { STAGED_BYTES = 64 << 10 }; /* CUDA: pageable copies of more wait for their stream */

static void clear(sl__checker *checker);

void sl__race_give_up(sl__checker *checker, sl_device *device)
{
    clear(checker);
    sl__races_finish(checker);
    checker->starved = false;
    checker->head.mode = SL_CHECK_OFF;
    sl__device_fail_later(device, SL_ENOMEM, "the race checker ran out of memory and is off");
}

/* ---- operations ------------------------------------------------------------------------ */

static uint8_t wait_of(const sl_op *op)
{
    const sl_work *work = &op->work;
    bool sync = work->flags & SL_WORK_SYNC;

    if (work->kind == SL_WORK_MEMSET && sync) return SL__WAIT_SURE;
    if (work->kind != SL_WORK_MEMCPY) return SL__WAIT_NONE;
    if (op->out->place != SL_ON_DEVICE && sync) return SL__WAIT_SURE;
    if (op->out->place == SL_PAGEABLE) return SL__WAIT_BY_CHANCE;
    if (op->in[0]->place == SL_PINNED && sync) return SL__WAIT_SURE;
    if (op->in[0]->place != SL_PAGEABLE || (!sync && work->bytes <= STAGED_BYTES))
        return SL__WAIT_NONE;
    return sync ? SL__WAIT_BEFORE : SL__WAIT_BEFORE_BY_CHANCE;
}

static sl__touch touch_of(sl__checker *checker, const sl_op *op, const sl__operand *o,
                          const sl__actor *actor)
{
    sl_device *device = op->stream->device;
    sl__touch t = {
        .checker = checker, .buffer = o->buffer, .actor = actor,
        .first = o->offset, .end = o->offset + o->bytes,
        .access = {
            .epoch = actor->point.epoch, .slot = actor->point.slot, .seq = op->seq,
            .kind = (uint8_t)o->kind, .by = SL__BY_STREAM, .where = op->where,
            .first = o->offset, .end = o->offset + o->bytes,
            .what = sl__span_name(device, op),
        },
    };

    if (actor->point.slot == checker->host.slot) {
        t.access.by = SL__BY_HOST;
        t.access.seq = 0;
        t.access.where = sl__race_where(checker, device);
        t.access.what = sl__race_text(checker,
                                      sl__strings_text(&device->core->strings, t.access.what));
        t.access.host_ns = wait_of(op) == SL__WAIT_BEFORE ? -1
                                                          : device->backend->host_now_ns(device);
    }
    return t;
}

/* False: out of memory. In error mode all of them are checked before any is noted. */
static bool touch_operands(sl__checker *checker, const sl_op *op, const sl__actor *actor,
                           bool meets, bool notes, bool *is_refused)
{
    const sl__actor host = sl__order_host(checker);
    sl__operand list[SL__MOST_OPERANDS];
    int n = sl__operands_of(op, list);
    bool done = true;

    for (int i = 0; i < n && done; i++) {
        bool by_host = sl__operand_is_hosts(op, &list[i]);
        sl__touch t = touch_of(checker, op, &list[i], by_host ? &host : actor);
        if (meets) sl__touch_check(&t);
        *is_refused |= t.is_refused;
        if (notes && (!by_host || checker->n_waiting > 0 || checker->threads))
            done = sl__touch_note(&t);
    }
    return done && !checker->starved;
}

/* The event's record, if a wait for it surely finds it: another thread may not have made it yet. NULL:
 * the wait orders nothing, which `idle` remembers. */
static const sl__race_record *record_of(sl__checker *checker, const sl_event *event,
                                        sl__idle_wait *idle)
{
    const sl__race_record *record = event->race;

    if (record && sl__thread_has_seen(checker, record->by, record->point.host_epoch)) {
        if (idle->event == event) *idle = (sl__idle_wait){ .why = SL_IDLE_NONE };
        return record;
    }
    if (record || !event->record_seq)
        *idle = (sl__idle_wait){ .why = record ? SL_IDLE_UNORDERED : SL_IDLE_UNRECORDED,
                                 .where = sl__race_where(checker, event->device),
                                 .event = event };
    return NULL;
}

/* An operation after a wait for an event comes after what the event's record comes after. */
static bool enter(sl__checker *checker, sl_op *op, sl__actor *actor)
{
    sl__race_clock *clock = sl__order_clock(checker, op->stream);
    const sl__race_record *record = NULL;

    if (!clock) return false;
    if (op->work.kind == SL_WORK_EVENT_WAIT) record = record_of(checker, op->event, &clock->idle);
    return sl__order_next(checker, op->stream, record ? &record->point : NULL, actor);
}

/* An operation does not happen: its races have no outcome, and those of its reads by the host
 * neither. */
static void cancel_found(sl__checker *checker, uint32_t slot, uint64_t epoch)
{
    const sl__actor host = sl__order_host(checker);

    sl__races_cancelled(checker, slot, epoch);
    sl__races_cancelled(checker, host.point.slot, host.point.epoch);
}

static sl_status enqueue(sl__checker *checker, sl_op *op, sl__race_sent *sent, sl_error *err)
{
    bool strict = checker->head.mode == SL_CHECK_ERROR, is_refused = false;
    sl__actor actor;
    bool done = enter(checker, op, &actor);

    if (done && strict) done = touch_operands(checker, op, &actor, true, false, &is_refused);
    if (done && is_refused) {
        cancel_found(checker, actor.point.slot, actor.point.epoch);
        sl__order_undo(checker, op->stream->race);
        return sl__races_fail(checker, err);
    }
    if (done) done = touch_operands(checker, op, &actor, !strict, true, &is_refused);
    if (!done) {
        sl__race_give_up(checker, op->stream->device);
        return SL_OK;
    }
    if (op->work.kind == SL_WORK_HOST_FUNC
        && !sl__waiting_add(checker, &actor,
                            &(sl__waiting){ .op = op, .until = op, .seq = op->seq })) {
        sl__race_give_up(checker, op->stream->device);
        return SL_OK;
    }
    op->race_epoch = sent->epoch = actor.point.epoch;
    sent->event = op->work.kind == SL_WORK_EVENT_RECORD ? op->event : NULL;
    sent->host_waits = wait_of(op);
    return SL_OK;
}

/* cudaMemcpy from pageable memory waits for its stream before it begins. */
static sl_status enqueue_after_wait(sl__checker *checker, sl_op *op, sl__race_sent *sent,
                                    sl_error *err)
{
    sl__order_keep_host(checker);
    sl__race_waited_stream(checker, op->stream);
    return checker->head.mode != SL_CHECK_OFF ? enqueue(checker, op, sent, err) : SL_OK;
}

static sl_status enqueue_launch(sl__checker *checker, sl_op *op, sl__race_sent *sent, sl_error *err)
{
    sl_status status = sl__replay_enqueue(checker, op, sent, err);

    if (checker->starved) sl__race_give_up(checker, op->stream->device);
    return status;
}

sl_status sl__race_enqueue(sl__checker *checker, sl_op *op, sl__race_sent *sent, sl_error *err)
{
    memset(sent, 0, sizeof *sent);
    if (op->graph) return enqueue_launch(checker, op, sent, err);
    return wait_of(op) == SL__WAIT_BEFORE ? enqueue_after_wait(checker, op, sent, err)
                                          : enqueue(checker, op, sent, err);
}

/* ---- after the backend has it -------------------------------------------------------------- */

static bool set_record(sl__checker *checker, sl_event *event, const sl__point *point)
{
    sl__race_record *record = event->race;

    if (!record) {
        record = calloc(1, sizeof *record);
        if (!record) return false;
        record->event = event;
        record->next = checker->records;
        record->link = &checker->records;
        if (record->next) record->next->link = &record->next;
        checker->records = record;
        event->race = record;
    }
    sl__seen_retain(point->seen);
    sl__seen_release(&record->point.seen);
    record->point = *point;
    record->point.host_epoch--; /* it counts this operation; the call came before */
    record->by = checker->host.slot;
    return true;
}

/* A chance at the script's position. */
static sl__chance chance_at(sl__checker *checker, const sl_device *device, sl_race_chance why,
                            const char *call)
{
    return (sl__chance){ .why = why,
                         .call = sl__race_text(checker, call),
                         .where = sl__race_where(checker, device) };
}

static bool join_wait(sl__checker *checker, const sl_device *device, sl__point point,
                      sl__race_wait wait)
{
    sl__chance chance;

    if (wait == SL__WAIT_NONE || wait == SL__WAIT_BEFORE) return true; /* that wait is over */
    if (wait == SL__WAIT_SURE) return sl__order_join_host(checker, &point, NULL);
    chance = chance_at(checker, device, SL_CHANCE_TO_PAGEABLE, NULL);
    if (wait == SL__WAIT_BEFORE_BY_CHANCE) {
        point.epoch--;
        chance.why = SL_CHANCE_FROM_PAGEABLE;
    }
    return sl__order_join_host(checker, &point, &chance) && !checker->starved;
}

void sl__race_enqueued(sl__checker *checker, sl_stream *stream, const sl__race_sent *sent)
{
    sl__race_clock *clock = stream->race;
    sl__point point;
    bool done = true;

    if (!clock || !sent->epoch) return;
    sl__order_happens(checker, clock);
    point = sl__order_point(checker, clock);
    if (sent->event) done = set_record(checker, sent->event, &point);
    if (done && sent->graph) done = sl__replay_enqueued(checker, sent->graph, &point);
    if (done) done = join_wait(checker, stream->device, point, (sl__race_wait)sent->host_waits);
    if (!done) sl__race_give_up(checker, stream->device);
}

/* Undoes sl__race_enqueue: nothing races with the operation, or comes after it. */
void sl__race_cancelled(sl__checker *checker, const sl_op *op)
{
    const sl__actor host = sl__order_host(checker);
    sl__race_clock *clock = op->stream->race;
    sl__operand list[SL__MOST_OPERANDS];

    if (!clock || !op->race_epoch) return;
    if (op->graph) {
        sl__replay_cancelled(checker, op);
        return;
    }
    for (int i = sl__operands_of(op, list); i-- > 0;) {
        sl__race_memory *memory = list[i].buffer->race;
        bool by_host = sl__operand_is_hosts(op, &list[i]);
        if (memory)
            sl__memory_cancel(memory, by_host ? host.point.slot : clock->slot,
                              by_host ? host.point.epoch : op->race_epoch);
    }
    if (op->work.kind == SL_WORK_HOST_FUNC) sl__waiting_forget(checker, op);
    cancel_found(checker, clock->slot, op->race_epoch);
    sl__order_undo(checker, clock);
}

void sl__race_retired(sl__checker *checker, const sl_op *op)
{
    sl__race_clock *clock = op->stream->race;

    if (!clock || op->race_epoch <= checker->first_epoch) return;
    if (op->work.kind == SL_WORK_HOST_FUNC) sl__waiting_forget(checker, op);
    if (op->graph) {
        sl__replay_retired(checker, op);
        return;
    }
    checker->slots[clock->slot].retired = op->seq;
    sl__races_retired(checker, clock->slot, op);
}

/* ---- the host waits -------------------------------------------------------------- */

/* False: out of memory, and the checker is off. */
static bool wait_stream(sl__checker *checker, sl_stream *stream, const sl__chance *chance)
{
    const sl__race_clock *clock = sl__order_clock(checker, stream);

    if (clock && sl__order_join_slot(checker, clock->slot, chance) && !checker->starved)
        return true;
    sl__race_give_up(checker, stream->device);
    return false;
}

/* For all streams of a device, or the blocking ones, those that have closed among them. */
static void wait_streams(sl__checker *checker, sl_device *device, bool blocking_only,
                         const sl__chance *chance)
{
    bool joined = true;

    for (uint32_t i = 0; joined && (i = sl__slot_next_unseen(checker, i)) != 0;) {
        const sl__slot *slot = &checker->slots[i];
        if (slot->device == device && (slot->is_blocking || !blocking_only))
            joined = sl__order_join_slot(checker, i, chance) && !checker->starved;
    }
    if (!joined) sl__race_give_up(checker, device);
}

/* Waiting for the NULL stream also waits for the blocking streams: measured, and not in CUDA's
 * documentation. */
void sl__race_waited_stream(sl__checker *checker, sl_stream *stream)
{
    sl__chance chance;

    if (!wait_stream(checker, stream, NULL) || !stream->legacy) return;
    chance = chance_at(checker, stream->device, SL_CHANCE_NULL_STREAM, NULL);
    wait_streams(checker, stream->device, true, &chance);
}

void sl__race_waited_stream_by_chance(sl__checker *checker, sl_stream *stream, sl_race_chance why)
{
    const sl__chance chance = chance_at(checker, stream->device, why, NULL);

    wait_stream(checker, stream, &chance);
}

void sl__race_waited_event(sl__checker *checker, sl_event *event)
{
    const sl__race_record *record = record_of(checker, event, &checker->host.idle);

    if (record && !sl__order_join_host(checker, &record->point, NULL))
        sl__race_give_up(checker, event->device);
}

void sl__race_waited_device(sl__checker *checker, sl_device *device)
{
    wait_streams(checker, device, false, NULL);
}

void sl__race_waited_device_by_chance(sl__checker *checker, sl_device *device, const char *call)
{
    const sl__chance chance = chance_at(checker, device, SL_CHANCE_CALL, call);

    wait_streams(checker, device, false, &chance);
}

/* ---- the end --------------------------------------------------------------------- */

static void free_record(sl__race_record *record)
{
    *record->link = record->next;
    if (record->next) record->next->link = record->link;
    record->event->race = NULL;
    sl__seen_release(&record->point.seen);
    free(record);
}

void sl__race_event_closed(sl_event *event)
{
    if (event->race) free_record(event->race);
}

void sl__race_device_closed(sl__checker *checker, sl_device *device)
{
    if (!checker) return;
    for (uint32_t i = 1; i < checker->n_slots; i++)
        if (checker->slots[i].device == device) sl__races_lost(checker, i);
    sl__order_device_closed(checker, device);
}

static void clear(sl__checker *checker)
{
    while (checker->memories)
        sl__touch_forget(checker->memories);
    while (checker->records)
        free_record(checker->records);
    sl__replay_clear(checker);
    sl__race_ranks_clear(checker);
    sl__waiting_clear(checker);
    sl__threads_clear(checker);
    sl__order_clear(checker);
}

sl_status sl_check(sl_check_mode mode, sl_error *err)
{
    sl__checker *checker;

    if (mode != SL_CHECK_OFF && mode != SL_CHECK_WARN && mode != SL_CHECK_ERROR)
        return sl_fail(err, SL_EINVAL, "there is no such mode of the race checker");
    if (sl__host_func_depth)
        return sl_fail(err, SL_ESTATE, "a host function must not switch the race checker");
    checker = sl__race_make();
    if (!checker) return sl_fail(err, SL_ENOMEM, "out of host memory for the race checker");
    clear(checker);
    if (mode == SL_CHECK_OFF) {
        sl__races_finish(checker); /* what is listed stays */
        sl__races_report(checker);
    } else {
        sl__races_clear(checker);
        sl__strings_free(&checker->strings);
        checker->starved = false;
    }
    checker->head.mode = mode;
    return SL_OK;
}

sl_check_mode sl_check_get_mode(void) { return sl__race ? sl__race->head.mode : SL_CHECK_OFF; }

size_t sl__race_accesses(sl__checker *checker)
{
    size_t n = 0;

    for (const sl__race_memory *memory = checker->memories; memory; memory = memory->next)
        n += sl__memory_accesses(memory);
    return n;
}
