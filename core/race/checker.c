/* checker.c - operations, and waits of the host. */
#include "checker.h"

#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "../op.h"
#include "replays.h"
#include "state.h"

enum { STAGED_BYTES = 64 << 10 }; /* CUDA: pageable copies of more wait for their stream */

/* ---- operations ------------------------------------------------------------------------ */

/* How the host waits in the call of an operation. */
typedef enum host_wait {
    WAIT_NONE,
    WAIT_BEFORE, /* for the earlier work of the stream */
    WAIT_BEFORE_BY_ACCIDENT,
    WAIT_BY_ACCIDENT, /* for the operation */
    WAIT_SURE         /* likewise */
} host_wait;

static host_wait wait_of(const sl_op *op)
{
    const sl_work *work = &op->work;
    const sl_buffer *to = op->side[SL_OUTPUT].buffer, *from = op->side[0].buffer;
    bool sync = work->flags & SL_WORK_SYNC;
    if (work->kind == SL_WORK_MEMSET && sync) return WAIT_SURE;
    if (work->kind != SL_WORK_MEMCPY) return WAIT_NONE;
    if (to->place != SL_ON_DEVICE && sync) return WAIT_SURE;
    if (to->place == SL_PAGEABLE) return WAIT_BY_ACCIDENT;
    if (from->place == SL_PINNED && sync) return WAIT_SURE;
    if (from->place != SL_PAGEABLE || (!sync && work->bytes <= STAGED_BYTES)) return WAIT_NONE;
    return sync ? WAIT_BEFORE : WAIT_BEFORE_BY_ACCIDENT;
}

static sl__touch touch_of(sl__checker *checker, const sl_op *op, const sl_operand *o,
                          const sl__actor *actor)
{
    sl_device *device = op->stream->device;
    sl__touch t = sl__touch_of(checker, o, actor);
    t.access.seq = op->seq;
    t.access.where = op->where;
    t.access.what = sl__span_name(device, op);
    if (actor->point.slot == checker->host.slot) {
        t.access.by = SL__BY_HOST;
        t.access.seq = 0;
        t.access.where = sl__race_where(checker, device);
        t.access.what = sl__race_text(checker,
                                      sl__strings_text(&device->core->strings, t.access.what));
        t.access.host_ns = wait_of(op) == WAIT_BEFORE ? -1 : device->backend->host_now_ns(device);
    }
    return t;
}

/* False: out of memory. In error mode all of them are checked before any is noted. */
static bool touch_operands(sl__checker *checker, const sl_op *op, const sl__actor *actor,
                           bool meets, bool notes, bool *is_refused)
{
    const sl__actor host = sl__order_host(checker);
    sl_operand list[SL__MOST_OPERANDS];
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

/* The event's record, if a wait for it surely finds it: another thread may not have made it yet.
 * NULL: the wait orders nothing, which `idle` remembers. */
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

/* Its stream waits for a value that no write before has written: what comes behind may come after
 * anything that is yet to be enqueued, so that nothing races with it until that is a write which
 * ends the wait, or the stream is empty. */
static bool is_open(const sl__race_clock *clock) { return clock->open.waits; }

static void open_wait(sl__race_clock *clock, const sl_op *op)
{
    const sl_operand *at = &op->side[0];
    clock->open.buffer = is_open(clock) ? 0 : at->buffer->id;
    clock->open.waits = true;
    clock->open.offset = at->offset;
    clock->open.word = op->work.word;
    clock->open.compare = op->work.compare;
    clock->idle = (sl__idle_wait){ .why = SL_IDLE_NONE };
}

/* Of several, which ones stays unknown. */
static void undo_open_wait(sl__race_clock *clock) { clock->open.waits = clock->open.buffer == 0; }

static bool ends(const sl_op *write, const sl__race_clock *clock)
{
    const sl_operand *at = &write->side[SL_OUTPUT];
    return is_open(clock) && clock->open.buffer == at->buffer->id
           && clock->open.offset == at->offset
           && sl_compare_holds((sl_compare)clock->open.compare, write->work.word, clock->open.word);
}

/* What is enqueued from now on behind a wait that the write ends comes after the write. */
static bool end_waits(sl__checker *checker, const sl_op *write)
{
    bool done = true, raised;
    for (sl__race_clock *clock = checker->clocks; clock && done; clock = clock->next) {
        if (!ends(write, clock)) continue;
        clock->open.waits = false;
        clock->beyond_host = true;
        done = sl__seen_join(&clock->seen, &write->event->race->point, true, &raised);
    }
    return done;
}

/* An operation after a wait for an event comes after what the event's record comes after. */
static bool enter(sl__checker *checker, sl_op *op, sl__actor *actor)
{
    sl__race_clock *clock = sl__order_clock(checker, op->stream);
    const sl_point point = sl_work_row_of(op->work.kind)->point;
    const sl__race_record *record = NULL;
    if (!clock) return false;
    if (op->stream->in_flight == 0) clock->open.waits = false;
    if (point == SL_POINT_WAIT && !op->event)
        open_wait(clock, op);
    else if (point == SL_POINT_WAIT)
        record = record_of(checker, op->event, &clock->idle);
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

static sl_status enqueue(sl__checker *checker, sl_op *op, sl_error *err)
{
    bool strict = checker->mode == SL_CHECK_ERROR, is_refused = false;
    sl__actor actor;
    bool done = enter(checker, op, &actor);
    const bool looks = done && !is_open(op->stream->race);
    if (looks && strict) done = touch_operands(checker, op, &actor, true, false, &is_refused);
    if (done && is_refused) {
        cancel_found(checker, actor.point.slot, actor.point.epoch);
        sl__order_undo(checker, op->stream->race);
        return sl__races_fail(checker, err);
    }
    if (looks) done = touch_operands(checker, op, &actor, !strict, true, &is_refused);
    if (done && op->work.kind == SL_WORK_HOST_FUNC)
        done = sl__waiting_add(
            checker, &(sl__waiting){ .point = actor.point, .op = op, .until = op, .seq = op->seq });
    if (done)
        op->race_epoch = actor.point.epoch;
    else
        checker->starved = true;
    return SL_OK;
}

/* cudaMemcpy from pageable memory waits for its stream before it begins. */
static sl_status enqueue_after_wait(sl__checker *checker, sl_op *op, sl_error *err)
{
    sl__order_keep_host(checker);
    sl__race_waited_for_stream(op->stream, SL_ACCIDENT_UNKNOWN);
    return checker->starved ? SL_OK : enqueue(checker, op, err);
}

static sl_status enqueue_one(sl__checker *checker, sl_op *op, sl_error *err)
{
    if (op->graph) return sl__replay_enqueue(checker, op, err);
    return wait_of(op) == WAIT_BEFORE ? enqueue_after_wait(checker, op, err)
                                      : enqueue(checker, op, err);
}

/* One operation of a stream can be undone, the latest: one before it has then happened. */
static void settle_earlier(sl__checker *checker, const sl_op *op, uint64_t batch)
{
    sl__race_clock *clock = op->stream->race;
    if (clock && clock->batch == batch) sl__order_happens(checker, clock);
}

static void join_batch(const sl_op *op, uint64_t batch)
{
    sl__race_clock *clock = op->stream->race;
    if (!clock || clock->batch == batch) return;
    clock->batch = batch;
    clock->before_batch = op->race_epoch - 1;
}

sl_status sl__race_enqueue(sl_op *const *ops, size_t n, sl_error *err)
{
    sl__checker *checker = sl__race;
    uint64_t batch = ++checker->batches;
    sl_status status = SL_OK;
    for (size_t i = 0; i < n && status == SL_OK && !checker->starved; i++) {
        settle_earlier(checker, ops[i], batch);
        status = enqueue_one(checker, ops[i], err);
        if (status == SL_OK)
            join_batch(ops[i], batch);
        else
            sl__race_cancelled(ops, i);
    }
    return status;
}

/* ---- after the backend has it -------------------------------------------------------------- */

static bool set_record(sl__checker *checker, sl_event *event, const sl__point *point)
{
    sl__race_record *record = event->race;
    if (!record) {
        record = calloc(1, sizeof *record);
        if (!record) return false;
        record->event = event;
        SL__PUSH(checker->records, record, next, link);
        event->race = record;
    }
    sl__seen_retain(point->seen);
    sl__seen_release(&record->point.seen);
    record->point = *point;
    record->point.host_epoch--; /* it counts this operation; the call came before */
    record->by = checker->host.slot;
    return true;
}

/* An accident at the script's position. */
static sl__accident accident_at(sl__checker *checker, const sl_device *device, sl_race_accident why,
                                const char *call)
{
    return (sl__accident){ .why = why,
                           .call = sl__race_text(checker, call),
                           .where = sl__race_where(checker, device) };
}

static bool join_wait(sl__checker *checker, const sl_device *device, sl__point point,
                      host_wait wait)
{
    if (wait == WAIT_NONE || wait == WAIT_BEFORE) return true; /* that wait is over */
    if (wait == WAIT_SURE) return sl__order_join_host(checker, &point, NULL);
    sl__accident accident = accident_at(checker, device, SL_ACCIDENT_TO_PAGEABLE, NULL);
    if (wait == WAIT_BEFORE_BY_ACCIDENT) {
        point.epoch--;
        accident.why = SL_ACCIDENT_FROM_PAGEABLE;
    }
    return sl__order_join_host(checker, &point, &accident) && !checker->starved;
}

static void happens(sl__checker *checker, const sl_op *op)
{
    sl__race_clock *clock = op->stream->race;
    bool done = true;
    if (!clock || !op->race_epoch) return;
    sl__order_happens(checker, clock);
    sl__point point = sl__order_point(checker, clock);
    if (sl_work_row_of(op->work.kind)->point == SL_POINT_RECORD)
        done = set_record(checker, op->event, &point);
    if (done && op->work.kind == SL_WORK_WRITE_VALUE) done = end_waits(checker, op);
    if (done && op->graph) done = sl__replay_enqueued(checker, op->graph, &point);
    if (done) done = join_wait(checker, op->stream->device, point, wait_of(op));
    if (!done) checker->starved = true;
}

void sl__race_enqueued(sl_op *const *ops, size_t n)
{
    sl__checker *checker = sl__race;
    uint64_t batch = ++checker->batches; /* as it was in the enqueue, but for what came between */
    for (size_t i = 0; i < n && !checker->starved; i++) {
        join_batch(ops[i], batch);
        happens(checker, ops[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (ops[i]->meeting && ops[i]->meeting->sides > 1) sl__race_part_enqueued(ops[i]);
}

/* Undoes enqueue_one: nothing races with the operation, or comes after it. */
static void cancel(sl__checker *checker, const sl_op *op)
{
    const sl__actor host = sl__order_host(checker);
    sl__race_clock *clock = op->stream->race;
    sl_operand list[SL__MOST_OPERANDS];
    if (!clock || op->race_epoch != clock->epoch) return; /* it was settled */
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
    if (op->work.kind == SL_WORK_WAIT_VALUE && !op->event) undo_open_wait(clock);
    cancel_found(checker, clock->slot, op->race_epoch);
    sl__order_undo(checker, clock);
}

void sl__race_cancelled(sl_op *const *ops, size_t n)
{
    while (n > 0)
        cancel(sl__race, ops[--n]);
}

void sl__race_retired(const sl_op *op)
{
    sl__checker *checker = sl__race;
    const sl_op *enqueued = op->launch ? op->launch : op;
    const sl__race_clock *clock = enqueued->stream->race;
    if (!clock || enqueued->race_epoch <= checker->first_epoch) return;
    sl__races_retired(checker, op);
    if (op->launch) return; /* all of them with the launch */
    if (op->work.kind == SL_WORK_HOST_FUNC || op->graph) sl__waiting_forget(checker, op);
    checker->slots[clock->slot].retired = sl__op_last_number(op);
    if (op->graph) sl__replay_retired(checker, op);
}

/* ---- the host waits -------------------------------------------------------------- */

/* For all streams of a device, or the blocking ones, those that have closed among them. */
static void wait_streams(sl__checker *checker, sl_device *device, bool blocking_only,
                         const sl__accident *accident)
{
    bool joined = true;
    for (uint32_t i = 0; joined && (i = sl__slot_next_unseen(checker, i)) != 0;) {
        const sl__slot *slot = &checker->slots[i];
        if (slot->device == device && (slot->is_blocking || !blocking_only))
            joined = sl__order_join_slot(checker, i, accident) && !checker->starved;
    }
    if (!joined) checker->starved = true;
}

/* Waiting for the NULL stream also waits for the blocking streams: measured, and not in CUDA's
 * documentation. */
void sl__race_waited_for_stream(sl_stream *stream, sl_race_accident why)
{
    sl__checker *checker = sl__race;
    const sl__race_clock *clock = sl__order_clock(checker, stream);
    const bool all_blocking = stream->legacy && !why;
    sl__accident accident = { 0 };
    if (why || all_blocking)
        accident = accident_at(checker, stream->device, why ? why : SL_ACCIDENT_NULL_STREAM, NULL);
    if (!clock || !sl__order_join_slot(checker, clock->slot, why ? &accident : NULL))
        checker->starved = true;
    if (all_blocking && !checker->starved) wait_streams(checker, stream->device, true, &accident);
}

void sl__race_waited_for_event(sl_event *event)
{
    const sl__race_record *record = record_of(sl__race, event, &sl__race->host.idle);
    if (record && !sl__order_join_host(sl__race, &record->point, NULL)) sl__race->starved = true;
}

void sl__race_waited_for_device(sl_device *device) { wait_streams(sl__race, device, false, NULL); }

void sl__race_call_waited(sl_device *device, const char *call)
{
    const sl__accident accident = accident_at(sl__race, device, SL_ACCIDENT_CALL, call);
    wait_streams(sl__race, device, false, &accident);
}

/* ---- the end --------------------------------------------------------------------- */

static void free_record(sl__race_record *record)
{
    SL__UNLINK(record, next, link);
    record->event->race = NULL;
    sl__seen_release(&record->point.seen);
    free(record);
}

void sl__race_event_closed(sl_event *event)
{
    if (event->race) free_record(event->race);
}

void sl__race_records_clear(sl__checker *checker)
{
    while (checker->records)
        free_record(checker->records);
}

void sl__race_device_closed(sl_device *device)
{
    sl__checker *checker = sl__race;
    for (uint32_t i = 1; i < checker->n_slots; i++)
        if (checker->slots[i].device == device) sl__races_lost(checker, i);
    sl__order_device_closed(checker, device);
}

size_t sl__race_accesses(sl__checker *checker)
{
    size_t n = 0;
    for (const sl__race_memory *memory = checker->memories; memory; memory = memory->next)
        n += sl__memory_accesses(memory);
    return n;
}
