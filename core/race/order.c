/* order.c - what comes before what: the streams' clocks, the host's.
 *
 * The rules, with where CUDA states them, are in docs/design/races.md. */
#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "state.h"

/* ---- clocks --------------------------------------------------------------------- */

sl__race_clock *sl__order_clock(sl__checker *checker, sl_stream *stream)
{
    sl__race_clock *clock = stream->race;
    if (clock) return clock;
    clock = calloc(1, sizeof *clock);
    uint32_t at = clock ? sl__slot_take(checker) : 0;
    if (!at) {
        free(clock);
        return NULL;
    }
    sl__slot *slot = &checker->slots[at];
    clock->stream = stream;
    clock->slot = at;
    clock->epoch = slot->epoch; /* continues, so that older accesses stay older */
    slot->clock = clock;
    sl__seen_release(&slot->seen);
    slot->device = stream->device;
    slot->stream_id = stream->id;
    slot->name = stream->name;
    slot->made = stream->where;
    slot->is_blocking = !stream->non_blocking && !stream->legacy;
    slot->is_per_thread = stream == stream->device->core->per_thread;
    slot->is_lane = false;
    slot->retired = 0;
    stream->race = clock;
    SL__PUSH(checker->clocks, clock, next, link);
    return clock;
}

/* ---- what may not happen --------------------------------------------------------- */

/* Keeps what the stream has seen before its next operation adds what an event, or the NULL stream,
 * has seen: if the operation is refused, that is undone. */
void sl__order_keep(sl__race_clock *clock)
{
    if (clock->is_undoable) return;
    clock->before = sl__seen_retain(clock->seen);
    clock->is_undoable = true;
}

void sl__order_keep_host(sl__checker *checker)
{
    checker->host.before = sl__seen_retain(checker->host.seen);
    checker->host.is_undoable = true;
}

static void forget_host_before(sl__checker *checker)
{
    sl__seen_release(&checker->host.before);
    checker->host.is_undoable = false;
}

/* The accidents by which the host has seen more than it had before. */
static void forget_accidents(sl__checker *checker)
{
    for (uint32_t i = 1; i < checker->n_slots; i++) {
        sl__slot *slot = &checker->slots[i];
        uint64_t epoch = sl__vector_at(checker->host.before.likely, i);
        while (slot->n_accidents > 0) {
            sl__accident *last = &slot->accidents[(slot->n_accidents - 1) % SL__MOST_ACCIDENTS];
            if (last->epoch <= epoch) break;
            memset(last, 0, sizeof *last);
            slot->n_accidents--;
        }
    }
}

static void undo_host(sl__checker *checker, sl__race_clock *clock)
{
    forget_accidents(checker);
    sl__seen_release(&checker->host.seen);
    checker->host.seen = sl__seen_retain(checker->host.before);
    checker->host.version = ++checker->host_versions;
    for (uint32_t i = 1; i < checker->n_slots; i++)
        if (!sl__slot_is_seen(checker, i)) sl__slot_note_unseen(checker, i);
    clock->beyond_host = true;
    forget_host_before(checker);
}

static void undo_clock(sl__race_clock *clock)
{
    sl__seen_release(&clock->seen);
    clock->seen = clock->before;
    clock->before = (sl__seen){ NULL, NULL };
    clock->is_undoable = false;
    clock->host_version = 0; /* so that it is joined again */
    clock->legacy_epoch = 0;
}

/* The epoch is not given back: no operation has it. */
void sl__order_undo(sl__checker *checker, sl__race_clock *clock)
{
    if (clock->is_undoable) undo_clock(clock);
    if (checker->host.is_undoable) undo_host(checker, clock);
}

/* ---- the NULL stream ------------------------------------------------------------- */

static sl__race_clock *legacy_of(const sl__race_clock *clock)
{
    return clock->stream->device->core->legacy->race;
}

/* CUDA: an operation in the NULL stream comes after all earlier ones in blocking streams. Streams
 * with such operations are in its list `unseen_by_null` until it has happened. */
static bool order_null_after_blocking(sl__checker *checker, sl__race_clock *legacy)
{
    sl__point closed = { .seen = legacy->closed };
    bool raised = false, joined = sl__seen_join(&legacy->seen, &closed, true, &raised);
    legacy->beyond_host |= raised || legacy->unseen_by_null != NULL;
    for (sl__race_clock *clock = legacy->unseen_by_null; clock && joined;
         clock = clock->next_unseen) {
        sl__point point = sl__order_point(checker, clock);
        joined = sl__seen_join(&legacy->seen, &point, true, &raised);
    }
    return joined;
}

static void forget_unseen_by_null(sl__race_clock *legacy)
{
    for (sl__race_clock *clock = legacy->unseen_by_null; clock; clock = clock->next_unseen)
        clock->link_unseen = NULL;
    legacy->unseen_by_null = NULL;
    sl__seen_release(&legacy->closed);
}

/* And the next operation in a blocking stream comes after all earlier ones in the NULL stream. */
static bool order_after_null(sl__checker *checker, sl__race_clock *clock)
{
    sl__race_clock *legacy = legacy_of(clock);
    bool raised = false;
    if (!legacy && !(legacy = sl__order_clock(checker, clock->stream->device->core->legacy)))
        return false;
    if (legacy->epoch > clock->legacy_epoch) {
        sl__order_keep(clock);
        /* With the NULL stream's own epoch in the vector, blocking streams can share it. */
        sl__point point = { .slot = legacy->slot, .epoch = legacy->epoch };
        legacy->beyond_host = clock->beyond_host = true;
        if (!sl__seen_join(&legacy->seen, &point, true, &raised)) return false;
        point = sl__order_point(checker, legacy);
        if (!sl__seen_join(&clock->seen, &point, true, &raised)) return false;
        clock->legacy_epoch = legacy->epoch;
    }
    if (!clock->link_unseen) SL__PUSH(legacy->unseen_by_null, clock, next_unseen, link_unseen);
    return true;
}

/* ---- streams ---------------------------------------------------------------------- */

sl__point sl__order_point(sl__checker *checker, const sl__race_clock *clock)
{
    sl__point point = { clock->slot, clock->epoch, checker->host_epoch, clock->seen };
    return point;
}

static sl__point point_of_slot(sl__checker *checker, uint32_t at)
{
    const sl__slot *slot = &checker->slots[at];
    if (slot->clock) return sl__order_point(checker, slot->clock);
    return (sl__point){ at, slot->epoch, checker->host_epoch, slot->seen };
}

/* With several threads the stream also comes after the one that calls, which others may not. */
static bool see_thread(sl__checker *checker, sl__race_clock *clock)
{
    const sl__point host = sl__order_host(checker).point;
    bool raised = false;
    clock->host_version = 0;
    clock->beyond_host = true;
    return sl__seen_join(&clock->seen, &host, true, &raised);
}

static bool see_host(sl__checker *checker, sl__race_clock *clock)
{
    sl__point host = { SL__HOST_SLOT, 0, 0, checker->host.seen };
    bool raised = false;
    if (checker->threads) return see_thread(checker, clock);
    if (clock->host_version == checker->host.version) return true;
    if (!clock->beyond_host) {
        sl__seen_retain(host.seen);
        sl__seen_release(&clock->seen);
        clock->seen = host.seen;
    } else if (!sl__seen_join(&clock->seen, &host, true, &raised)) {
        return false;
    }
    clock->host_version = checker->host.version;
    return true;
}

bool sl__order_next(sl__checker *checker, sl_stream *stream, const sl__point *awaited,
                    sl__actor *actor)
{
    sl__race_clock *clock = sl__order_clock(checker, stream);
    bool raised = false;
    if (!clock) return false;
    if (awaited || stream->legacy) sl__order_keep(clock);
    clock->beyond_host |= awaited != NULL;
    if ((awaited && !sl__seen_join(&clock->seen, awaited, true, &raised))
        || !see_host(checker, clock))
        return false;
    if (stream->legacy ? !order_null_after_blocking(checker, clock)
                       : !stream->non_blocking && !order_after_null(checker, clock))
        return false;
    clock->epoch = sl__slot_tick(checker, clock->slot);
    *actor = (sl__actor){ .point = sl__order_point(checker, clock) };
    checker->host_epoch++; /* what the host does from now on is later */
    return true;
}

void sl__order_happens(sl__checker *checker, sl__race_clock *clock)
{
    sl__seen_release(&clock->before);
    clock->is_undoable = false;
    forget_host_before(checker);
    forget_unseen_by_null(clock); /* only the NULL stream has any */
}

/* ---- the host ----------------------------------------------------------------------- */

sl__actor sl__order_host(sl__checker *checker)
{
    return (sl__actor){ .point = {
                            checker->host.slot,
                            checker->host_epoch,
                            checker->host_epoch,
                            checker->host.seen,
                        } };
}

/* For sl__vector_each_raised: the accident by which the host has seen more. */
typedef struct raised_by {
    sl__checker *checker;
    const sl__accident *accident;
} raised_by;

static void note_accident(void *by_, uint32_t at, uint64_t epoch)
{
    const raised_by *by = by_;
    sl__slot *slot = &by->checker->slots[at];
    sl__accident accident = *by->accident;
    accident.epoch = epoch;
    slot->accidents[slot->n_accidents++ % SL__MOST_ACCIDENTS] = accident;
}

sl__accident sl__order_accident(sl__checker *checker, const sl__access *access)
{
    const sl__slot *slot = &checker->slots[access->slot];
    sl__accident accident = { 0 };
    for (uint32_t n = 1; n <= slot->n_accidents && n <= SL__MOST_ACCIDENTS; n++) {
        const sl__accident *older = &slot->accidents[(slot->n_accidents - n) % SL__MOST_ACCIDENTS];
        if (older->epoch < access->epoch) break;
        accident = *older;
    }
    return accident;
}

bool sl__order_join_host(sl__checker *checker, const sl__point *point, const sl__accident *accident)
{
    sl__vector *before = accident ? sl__vector_retain(checker->host.seen.likely) : NULL;
    raised_by by = { checker, accident };
    bool raised = false;
    bool joined = sl__seen_join(&checker->host.seen, point, !accident, &raised);
    if (raised) checker->host.version = ++checker->host_versions;
    if (raised && accident)
        sl__vector_each_raised(before, checker->host.seen.likely, note_accident, &by);
    sl__vector_release(before);
    return joined;
}

bool sl__order_join_slot(sl__checker *checker, uint32_t at, const sl__accident *accident)
{
    sl__race_clock *clock = checker->slots[at].clock;
    sl__point point = point_of_slot(checker, at);
    if (!sl__order_join_host(checker, &point, accident)) return false;
    if (!accident && clock && !checker->threads) clock->beyond_host = false;
    return true;
}

/* ---- questions ----------------------------------------------------------------------- */

static sl__order seen_by(const sl__point *point, uint32_t slot, uint64_t epoch)
{
    if (slot == point->slot || sl__vector_at(point->seen.sure, slot) >= epoch) return SL__ORDERED;
    return sl__vector_at(point->seen.likely, slot) >= epoch ? SL__BY_ACCIDENT : SL__UNORDERED;
}

sl__order sl__order_of(const sl__access *earlier, const sl__actor *actor)
{
    sl__order order;
    if (earlier->slot != SL__HOST_SLOT)
        order = seen_by(&actor->point, earlier->slot, earlier->epoch);
    else if (!actor->is_late || earlier->epoch <= actor->point.host_epoch)
        order = SL__ORDERED;
    else
        order = SL__UNORDERED;
    if (order != SL__ORDERED && actor->is_late && earlier->standing) {
        sl__order behind = seen_by(&earlier->standing->point, actor->point.slot,
                                   actor->point.epoch);
        order = behind > order ? behind : order;
    }
    return order;
}

/* ---- the end ---------------------------------------------------------------------------- */

static void free_clock(sl__checker *checker, sl__race_clock *clock)
{
    SL__UNLINK(clock, next, link);
    clock->stream->race = NULL;
    checker->slots[clock->slot].clock = NULL;
    checker->slots[clock->slot].seen = clock->seen;
    sl__slot_close(checker, clock->slot);
    sl__seen_release(&clock->before);
    sl__seen_release(&clock->closed);
    free(clock);
}

/* The next operation of the NULL stream still comes after its operations. */
void sl__race_stream_closed(sl_stream *stream)
{
    sl__race_clock *clock = stream->race;
    bool raised = false;
    if (!clock) return;
    if (clock->link_unseen) {
        sl__point point = sl__order_point(sl__race, clock);
        (void)sl__seen_join(&legacy_of(clock)->closed, &point, true, &raised);
        SL__UNLINK(clock, next_unseen, link_unseen);
    }
    forget_unseen_by_null(clock);
    free_clock(sl__race, clock);
}

void sl__order_device_closed(sl__checker *checker, sl_device *device)
{
    bool raised = false;
    for (uint32_t i = 1; i < checker->n_slots; i++) {
        sl__slot *slot = &checker->slots[i];
        if (slot->device != device) continue;
        sl__point point = point_of_slot(checker, i);
        (void)sl__seen_join(&checker->host.seen, &point, true, &raised);
        slot->device = NULL;
    }
    if (raised) checker->host.version = ++checker->host_versions;
}

void sl__order_clear(sl__checker *checker)
{
    while (checker->clocks)
        free_clock(checker, checker->clocks);
    for (uint32_t i = 0; i < checker->n_slots; i++) {
        sl__seen_release(&checker->slots[i].seen);
        if (checker->slots[i].epoch > checker->first_epoch)
            checker->first_epoch = checker->slots[i].epoch;
    }
    free(checker->slots);
    checker->slots = NULL;
    checker->n_slots = checker->slots_room = 0;
    checker->unseen = checker->closed = checker->last_closed = 0;
    sl__seen_release(&checker->host.seen);
    forget_host_before(checker);
    checker->host_epoch = 1;
    checker->host.version = checker->host_versions = 1;
}
