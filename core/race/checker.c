/* checker.c - every access is held against the history of its bytes. */
#include "checker.h"

#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "../dtype.h"
#include "../span_name.h"
#include "state.h"

enum {
    STAGED_BYTES = 64 << 10,            /* CUDA: pageable copies of more wait for their stream */
    MOST_MET = 16
};

bool sl__race_on;

static void clear(void);

/* Without memory there is no checking; the script goes on. */
static void give_up(sl_device *device)
{
    clear();
    sl__found_finish();
    sl__race.starved = false;
    sl__race.mode = SL_CHECK_OFF;
    sl__race_on = false;
    sl__device_fail_later(device, SL_ENOMEM, "the race checker ran out of memory and is off");
}

uint32_t sl__race_text(const char *text)
{
    uint32_t id = sl__strings_intern(&sl__race.strings, text);

    sl__race.starved |= !id && text && *text;
    return id;
}

static uint32_t current_where(const sl_device *device)
{
    return sl__race_text(sl__strings_text(&device->core->strings, device->core->where));
}

/* ---- one access --------------------------------------------------------------------- */

/* An access to bytes [first, end) of a buffer, and what is found out about it. */
typedef struct touch {
    sl_buffer *buffer;
    const sl__actor *actor;
    sl__access access;
    size_t first, end;
    bool races;
    bool frees_by_waiting;      /* cudaFree: what it waits for is an accident */
    struct met { uint32_t slot; uint64_t epoch; uint8_t kind; } met[MOST_MET];
    int n_met;                  /* in several ranges, and reported once */
} touch;

static sl__race_memory *memory_of(sl_buffer *buffer)
{
    sl__race_memory *memory = buffer->race;

    if (memory)
        return memory;
    memory = sl__memory_new(buffer);
    if (!memory)
        return NULL;
    memory->next = sl__race.memories;
    memory->link = &sl__race.memories;
    if (memory->next)
        memory->next->link = &memory->next;
    sl__race.memories = memory;
    buffer->race = memory;
    return memory;
}

/* The first time that the touch meets this access. */
static bool meets_first(touch *t, const sl__access *earlier)
{
    for (int i = 0; i < t->n_met; i++)
        if (t->met[i].slot == earlier->slot && t->met[i].epoch == earlier->epoch
            && t->met[i].kind == earlier->kind)
            return false;
    if (t->n_met < MOST_MET)
        t->met[t->n_met++] = (struct met){ earlier->slot, earlier->epoch, earlier->kind };
    return true;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static void conflict(void *ud, const sl__access *earlier)
{
    touch *t = ud;
    sl__order order = sl__order_of(earlier, t->actor);
    bool swapped = false;

    if (order == SL__UNORDERED && t->actor->is_late) {
        if (sl__order_is_behind(earlier, t->actor))
            return;
        swapped = true;     /* the script made it after it had enqueued the function */
        if (earlier->slot != SL__HOST_SLOT && earlier->seq < sl__race.running_seq)
            swapped = false;
    }
    if (order == SL__ORDERED || !meets_first(t, earlier))
        return;
    const sl__meeting meeting = {
        .kind = order == SL__BY_CHANCE || t->frees_by_waiting ? SL_RACE_ACCIDENT
                                                               : SL_RACE_UNORDERED,
        .buffer = t->buffer,
        .from = larger(earlier->first, t->first), .to = smaller(earlier->end, t->end),
        .first = swapped ? &t->access : earlier, .second = swapped ? earlier : &t->access,
    };
    t->races |= meeting.kind == SL_RACE_UNORDERED;
    sl__found_add(&meeting);
}

static void meet(touch *t)
{
    if (t->buffer->race && t->first < t->end)
        sl__memory_meet(t->buffer->race, &t->access, t->first, t->end, t->actor->is_late,
                        conflict, t);
}

/* Where the accesses of an actor stand, while a host function may come to ask. */
static bool stand(const sl__actor *actor, sl__standing **standing)
{
    *standing = NULL;
    if (sl__race.n_waiting == 0)
        return true;
    *standing = malloc(sizeof **standing);
    if (!*standing)
        return false;
    (*standing)->refs = 1;
    (*standing)->point = actor->point;
    sl__seen_retain(actor->point.seen);
    return true;
}

static void unstand(sl__standing *standing)
{
    if (standing && --standing->refs == 0) {
        sl__seen_release(&standing->point.seen);
        free(standing);
    }
}

static bool note(touch *t)
{
    bool keep = sl__race.n_waiting > 0, done;
    sl__race_memory *memory;

    if (t->first >= t->end)
        return true;
    memory = memory_of(t->buffer);
    if (!memory || !stand(t->actor, &t->access.standing))
        return false;
    done = sl__memory_note(memory, &t->access, t->first, t->end, t->actor->point.seen.sure, keep,
                           sl__race.host_seen.sure);
    unstand(t->access.standing);
    return done;
}

/* ---- operations ------------------------------------------------------------------------ */

typedef struct operand {
    sl_buffer *buffer;
    size_t offset, bytes;
    sl_race_access_kind kind;
} operand;

static size_t kernel_elems(const sl_work *work, int which)
{
    switch ((sl_kernel)work->kernel) {
    case SL_KERNEL_MATMUL:
        return (size_t)(which == 0 ? work->m * work->k : which == 1 ? work->k * work->n
                                                                     : work->m * work->n);
    case SL_KERNEL_SOFTMAX: return (size_t)(work->m * work->n);
    case SL_KERNEL_SUM: return which == 2 ? 1 : (size_t)work->n;
    default: return (size_t)work->n;
    }
}

/* matmul(a, a): one read. */
static bool reads_twice(const sl_op *op)
{
    const sl_work *work = &op->work;

    return op->in[0] == op->in[1] && work->in_offset[0] == work->in_offset[1]
           && kernel_elems(work, 0) == kernel_elems(work, 1);
}

/* What the operation reads and writes: up to two inputs, and the output last. */
static int operands_of(const sl_op *op, operand list[3])
{
    const sl_work *work = &op->work;
    bool is_kernel = work->kind == SL_WORK_KERNEL;
    size_t elem_bytes = is_kernel ? sl_dtype_bytes((sl_dtype)work->dtype) : 0;
    int n = 0;

    for (int i = 0; i < 2; i++)
        if (op->in[i] && !(i == 1 && reads_twice(op)))
            list[n++] = (operand){ op->in[i], work->in_offset[i],
                                   is_kernel ? kernel_elems(work, i) * elem_bytes : work->bytes,
                                   SL_ACCESS_READ };
    if (op->out)
        list[n++] = (operand){ op->out, work->out_offset,
                               is_kernel ? kernel_elems(work, 2) * elem_bytes : work->bytes,
                               SL_ACCESS_WRITE };
    return n;
}

/* A copy from pageable memory has read its source when the call returns: the host reads. */
static bool host_reads(const sl_op *op, const operand *o)
{
    return op->work.kind == SL_WORK_MEMCPY && o->kind == SL_ACCESS_READ
           && o->buffer->place == SL_PAGEABLE;
}

static touch touch_of(const sl_op *op, const operand *o, const sl__actor *actor)
{
    sl_device *device = op->stream->device;
    unsigned places = op->work.kind == SL_WORK_MEMCPY ? sl__span_places(op->out, op->in[0]) : 0;
    touch t = {
        .buffer = o->buffer, .actor = actor,
        .first = o->offset, .end = o->offset + o->bytes,
        .access = {
            .epoch = actor->point.epoch, .slot = actor->point.slot, .seq = op->seq,
            .kind = (uint8_t)o->kind, .by = SL__BY_STREAM, .where = op->where,
            .first = o->offset, .end = o->offset + o->bytes,
            .what = sl__span_name(device, &op->work, places),
        },
    };

    if (actor->point.slot == SL__HOST_SLOT) {
        t.access.by = SL__BY_HOST;
        t.access.seq = 0;
        t.access.where = current_where(device);
        t.access.what = sl__race_text(sl__strings_text(&device->core->strings, t.access.what));
        t.access.host_ns = device->backend->host_now_ns(device);
    }
    return t;
}

/* False: out of memory. In error mode all of them are met before any is noted. */
static bool touch_operands(const sl_op *op, const sl__actor *actor, bool meets, bool notes,
                           bool *races)
{
    const sl__actor host = sl__order_host();
    operand list[3];
    int n = operands_of(op, list);
    bool done = true;

    for (int i = 0; i < n && done; i++) {
        bool by_host = host_reads(op, &list[i]);
        touch t = touch_of(op, &list[i], by_host ? &host : actor);
        if (meets)
            meet(&t);
        *races |= t.races;
        if (notes && (!by_host || sl__race.n_waiting > 0))
            done = note(&t);
    }
    return done && !sl__race.starved;
}

static uint8_t wait_of(const sl_op *op)
{
    const sl_work *work = &op->work;
    bool sync = work->flags & SL_WORK_SYNC;

    if (work->kind == SL_WORK_MEMSET && sync)
        return SL__WAIT_SURE;
    if (work->kind != SL_WORK_MEMCPY)
        return SL__WAIT_NONE;
    if (op->out->place != SL_ON_DEVICE && sync)
        return SL__WAIT_SURE;
    if (op->out->place == SL_PAGEABLE)
        return SL__WAIT_BY_CHANCE;
    if (op->in[0]->place == SL_PINNED && sync)
        return SL__WAIT_SURE;
    if (op->in[0]->place == SL_PAGEABLE && work->bytes > STAGED_BYTES)
        return SL__WAIT_BEFORE_BY_CHANCE;
    return SL__WAIT_NONE;
}

static bool add_waiting(const sl__actor *actor)
{
    if (sl__race.n_waiting == sl__race.waiting_room) {
        size_t room = sl__race.waiting_room ? 2 * sl__race.waiting_room : 16;
        sl__waiting *grown = realloc(sl__race.waiting, room * sizeof *grown);
        if (!grown)
            return false;
        sl__race.waiting = grown;
        sl__race.waiting_room = room;
    }
    sl__seen_retain(actor->point.seen);
    sl__race.waiting[sl__race.n_waiting++].point = actor->point;
    return true;
}

/* A stream that waits for an event has seen what the event's record has. */
static bool see_event(sl_stream *stream, const sl_event *event)
{
    sl__race_clock *clock = sl__order_clock(stream);
    bool raised = false;

    if (!clock || !event->race)
        return clock != NULL;
    clock->beyond_host = true;
    return sl__seen_join(&clock->seen, &event->race->point, true, &raised);
}

static bool enter(sl_op *op, sl__actor *actor)
{
    if (op->work.kind == SL_WORK_EVENT_WAIT && !see_event(op->stream, op->event))
        return false;
    return sl__order_next(op->stream, actor);
}

sl_status sl__race_enqueue(sl_op *op, sl__race_sent *sent, sl_error *err)
{
    bool strict = sl__race.mode == SL_CHECK_ERROR, races = false;
    sl__actor actor;
    bool done = enter(op, &actor);

    memset(sent, 0, sizeof *sent);
    if (done && strict)
        done = touch_operands(op, &actor, true, false, &races);
    if (races && strict)
        return sl__found_fail(err);
    if (done)
        done = touch_operands(op, &actor, !strict, true, &races);
    if (!done) {
        give_up(op->stream->device);
        return SL_OK;
    }
    op->race_epoch = sent->epoch = actor.point.epoch;
    sent->event = op->work.kind == SL_WORK_EVENT_RECORD ? op->event : NULL;
    sent->host_waits = wait_of(op);
    if (op->work.kind == SL_WORK_HOST_FUNC && !add_waiting(&actor))
        give_up(op->stream->device);
    return SL_OK;
}

/* ---- after the backend has it -------------------------------------------------------------- */

static bool set_record(sl_event *event, const sl__point *point)
{
    sl__race_record *record = event->race;

    if (!record) {
        record = calloc(1, sizeof *record);
        if (!record)
            return false;
        record->event = event;
        record->next = sl__race.records;
        record->link = &sl__race.records;
        if (record->next)
            record->next->link = &record->next;
        sl__race.records = record;
        event->race = record;
    }
    sl__seen_retain(point->seen);
    sl__seen_release(&record->point.seen);
    record->point = *point;
    return true;
}

static bool join_wait(const sl_device *device, sl__point point, sl__race_wait wait)
{
    static const char *const reasons[] = {
        [SL__WAIT_BEFORE_BY_CHANCE] = "a copy from pageable memory waits for its stream before it "
                                      "begins",
        [SL__WAIT_BY_CHANCE] = "a copy to pageable memory waits until it has arrived",
    };

    if (wait == SL__WAIT_NONE)
        return true;
    if (wait == SL__WAIT_SURE)
        return sl__order_join_host(&point, true, 0, 0);
    if (wait == SL__WAIT_BEFORE_BY_CHANCE)
        point.epoch--;
    return sl__order_join_host(&point, false, sl__race_text(reasons[wait]), current_where(device))
           && !sl__race.starved;
}

void sl__race_enqueued(sl_stream *stream, const sl__race_sent *sent, sl_status status)
{
    sl__race_clock *clock = stream->race;
    sl__point point;
    bool done = true;

    if (!clock || !sent->epoch)
        return;
    point = sl__order_point(clock);
    if (status) {               /* it has not happened: nothing may race with it */
        sl__found_cancelled(point.slot, sent->epoch);
        return;
    }
    if (sent->event)
        done = set_record(sent->event, &point);
    if (done)
        done = join_wait(stream->device, point, (sl__race_wait)sent->host_waits);
    if (!done)
        give_up(stream->device);
}

static void forget_waiting(const sl_op *op)
{
    uint32_t slot = op->stream->race ? op->stream->race->slot : 0;

    for (size_t i = 0; i < sl__race.n_waiting; i++) {
        sl__point *point = &sl__race.waiting[i].point;
        if (point->slot != slot || point->epoch != op->race_epoch)
            continue;
        sl__seen_release(&point->seen);
        sl__race.waiting[i] = sl__race.waiting[--sl__race.n_waiting];
        return;
    }
}

void sl__race_retired(const sl_op *op)
{
    sl__race_clock *clock = op->stream->race;

    if (!clock || !op->race_epoch)
        return;
    if (op->work.kind == SL_WORK_HOST_FUNC)
        forget_waiting(op);
    sl__race.slots[clock->slot].retired = op->race_epoch;
    sl__found_retired(clock->slot, op);
}

/* ---- the host waits --------------------------------------------------------------------------- */

/* The host has waited for all that a slot's stream has, also if it has closed. `why`: by chance. */
static bool join_slot(sl_device *device, uint32_t at, const char *why)
{
    sl__race_clock *clock = sl__race.slots[at].clock;
    sl__point point = clock ? sl__order_point(clock)
                            : (sl__point){ .slot = at, .epoch = sl__race.slots[at].epoch };

    if (why)
        return sl__order_join_host(&point, false, sl__race_text(why), current_where(device))
               && !sl__race.starved;
    if (!sl__order_join_host(&point, true, 0, 0))
        return false;
    if (clock)
        clock->beyond_host = false;
    return true;
}

/* False: out of memory, and the checker is off. */
static bool wait_stream(sl_stream *stream, const char *why)
{
    const sl__race_clock *clock = sl__order_clock(stream);

    if (clock && join_slot(stream->device, clock->slot, why))
        return true;
    give_up(stream->device);
    return false;
}

/* For all streams of a device, or the blocking ones, those that have closed among them. */
static void wait_streams(sl_device *device, bool blocking_only, const char *why)
{
    bool joined = true;

    for (uint32_t i = 1; i < sl__race.n_slots && joined; i++)
        if (sl__race.slots[i].device == device && (sl__race.slots[i].is_blocking || !blocking_only))
            joined = join_slot(device, i, why);
    if (!joined)
        give_up(device);
}

/* That the host waits for the blocking streams as well was measured, and is on no page of
 * CUDA's. */
void sl__race_waited_stream(sl_stream *stream)
{
    if (wait_stream(stream, NULL) && stream->legacy)
        wait_streams(stream->device, true,
                     "waiting for the NULL stream waits for the blocking streams as well");
}

void sl__race_waited_stream_by_chance(sl_stream *stream, const char *why)
{
    wait_stream(stream, why);
}

void sl__race_waited_event(sl_event *event)
{
    if (event->race && !sl__order_join_host(&event->race->point, true, 0, 0))
        give_up(event->device);
}

void sl__race_waited_device(sl_device *device)
{
    wait_streams(device, false, NULL);
}

void sl__race_waited_device_by_chance(sl_device *device, const char *why)
{
    wait_streams(device, false, why);
}

/* ---- the host's accesses ------------------------------------------------------------------------ */

static sl__actor actor_now(void)
{
    if (!sl__race.running)
        return sl__order_host();
    return (sl__actor){ .point = sl__race.running->point, .is_late = true };
}

/* Met, and noted where something to come may race with it: what the host enqueues comes after
 * it, host functions that are waiting may not. */
static bool touch_by_host(touch *t, sl_device *device, const char *what)
{
    const sl__point *point = &t->actor->point;
    bool late = t->actor->is_late;

    t->access.epoch = point->epoch;
    t->access.slot = point->slot;
    t->access.first = t->first;
    t->access.end = t->end;
    t->access.by = late ? SL__BY_HOST_FUNC : SL__BY_HOST;
    t->access.seq = late ? sl__race.running_seq : 0;
    t->access.what = sl__race_text(what);
    t->access.where = current_where(device);
    t->access.host_ns = device->backend->host_now_ns(device);
    meet(t);
    if (sl__race.starved)
        return false;
    if (t->races && sl__race.mode == SL_CHECK_ERROR && !late)
        return true;
    if (!late && sl__race.n_waiting == 0)
        return true;
    return note(t);
}

sl_status sl__race_host(sl_buffer *buffer, sl_race_access_kind kind, const char *what,
                        size_t first, size_t n_bytes, sl_error *err)
{
    const sl__actor actor = actor_now();
    touch t = {
        .buffer = buffer, .actor = &actor, .first = first, .end = first + n_bytes,
        .access = { .kind = (uint8_t)kind },
    };

    if (!touch_by_host(&t, buffer->device, what)) {
        give_up(buffer->device);
        return SL_OK;
    }
    return t.races && sl__race.mode == SL_CHECK_ERROR ? sl__found_fail(err) : SL_OK;
}

void sl__race_freed(sl_buffer *buffer, const char *what, bool waited)
{
    const sl__actor actor = sl__order_host();
    touch t = {
        .buffer = buffer, .actor = &actor, .end = buffer->bytes, .frees_by_waiting = waited,
        .access = { .kind = SL_ACCESS_FREE },
    };

    if (!touch_by_host(&t, buffer->device, what))
        give_up(buffer->device);
}

sl_status sl__race_free_async(sl_buffer *buffer, sl_stream *stream, sl_error *err)
{
    sl_device *device = stream->device;
    sl__actor actor;
    touch t = {
        .buffer = buffer, .actor = &actor, .end = buffer->bytes,
        .access = {
            .kind = SL_ACCESS_FREE, .by = SL__BY_STREAM, .end = buffer->bytes, .where = device->core->where,
            .what = sl__strings_intern(&device->core->strings, "cudaFreeAsync"),
        },
    };

    if (!sl__order_next(stream, &actor)) {
        give_up(device);
        return SL_OK;
    }
    t.access.epoch = actor.point.epoch;
    t.access.slot = actor.point.slot;
    meet(&t);
    if (sl__race.starved) {
        give_up(device);
        return SL_OK;
    }
    return t.races && sl__race.mode == SL_CHECK_ERROR ? sl__found_fail(err) : SL_OK;
}

/* ---- host functions -------------------------------------------------------------------------------- */

void sl__race_host_func_begin(const sl_op *op)
{
    uint32_t slot = op->stream->race ? op->stream->race->slot : 0;

    sl__race.running = NULL;
    for (size_t i = 0; i < sl__race.n_waiting; i++)
        if (sl__race.waiting[i].point.slot == slot
            && sl__race.waiting[i].point.epoch == op->race_epoch)
            sl__race.running = &sl__race.waiting[i];
    sl__race.running_seq = op->seq;
}

void sl__race_host_func_end(void)
{
    sl__race.running = NULL;
}

/* ---- the end --------------------------------------------------------------------------------------- */

static void free_record(sl__race_record *record)
{
    *record->link = record->next;
    if (record->next)
        record->next->link = record->link;
    record->event->race = NULL;
    sl__seen_release(&record->point.seen);
    free(record);
}

static void free_memory(sl__race_memory *memory)
{
    *memory->link = memory->next;
    if (memory->next)
        memory->next->link = memory->link;
    memory->buffer->race = NULL;
    sl__memory_free(memory);
}

void sl__race_event_closed(sl_event *event)
{
    if (event->race)
        free_record(event->race);
}

void sl__race_buffer_closed(sl_buffer *buffer)
{
    if (buffer->race)
        free_memory(buffer->race);
}

static void clear(void)
{
    while (sl__race.memories)
        free_memory(sl__race.memories);
    while (sl__race.records)
        free_record(sl__race.records);
    for (size_t i = 0; i < sl__race.n_waiting; i++)
        sl__seen_release(&sl__race.waiting[i].point.seen);
    free(sl__race.waiting);
    sl__race.waiting = NULL;
    sl__race.n_waiting = sl__race.waiting_room = 0;
    sl__race.running = NULL;
    sl__order_clear();
}

sl_status sl_check(sl_check_mode mode, sl_error *err)
{
    if (mode != SL_CHECK_OFF && mode != SL_CHECK_WARN && mode != SL_CHECK_ERROR)
        return sl_fail(err, SL_EINVAL, "there is no such mode of the race checker");
    if (sl__host_func_depth)
        return sl_fail(err, SL_ESTATE, "a host function must not switch the race checker");
    clear();
    if (mode == SL_CHECK_OFF) {
        sl__found_finish();         /* what is listed stays */
        sl__race_tell();
    } else {
        sl__found_clear();
        sl__strings_free(&sl__race.strings);
        sl__race.starved = false;
    }
    sl__race.mode = mode;
    sl__race_on = mode != SL_CHECK_OFF;
    return SL_OK;
}

sl_check_mode sl_check_get_mode(void)
{
    return sl__race.mode;
}

void sl_race_get_stats(sl_race_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    for (const sl__race_clock *clock = sl__race.clocks; clock; clock = clock->next)
        stats->clocks++;
    stats->accesses = sl__memory_totals.accesses;
    stats->bytes = sl__memory_totals.bytes + stats->clocks * sizeof(sl__race_clock)
                   + sl__race.slots_room * sizeof(sl__slot);
    stats->forgotten = sl__memory_totals.forgotten;
}
