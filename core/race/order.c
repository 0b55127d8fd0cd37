/* order.c - what comes before what: slots, the streams' clocks, the host's.
 *
 * The rules, with where CUDA states them, are in docs/design/races.md. */
#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "state.h"

sl__checker sl__race;

/* ---- slots ---------------------------------------------------------------------- */

/* A closed stream's slot serves again once everything new comes after its operations. What a
 * host function that is waiting meets is not new, and its texts are the old stream's. */
static uint32_t reusable_slot(void)
{
    if (sl__race.n_waiting > 0)
        return 0;
    for (uint32_t i = 1; i < sl__race.n_slots; i++)
        if (!sl__race.slots[i].clock
            && sl__vector_at(sl__race.host_seen.sure, i) >= sl__race.slots[i].epoch)
            return i;
    return 0;
}

static bool grow_slots(void)
{
    uint32_t room = sl__race.slots_room ? 2 * sl__race.slots_room : 16;
    sl__slot *grown;

    if (sl__race.n_slots < sl__race.slots_room)
        return true;
    grown = realloc(sl__race.slots, room * sizeof *grown);
    if (!grown)
        return false;
    sl__race.slots = grown;
    sl__race.slots_room = room;
    return true;
}

static void clear_slot(uint32_t slot)
{
    memset(&sl__race.slots[slot], 0, sizeof(sl__slot));
    sl__race.slots[slot].epoch = sl__race.first_epoch;
}

/* 0: out of memory. */
static uint32_t take_slot(void)
{
    uint32_t slot = reusable_slot();

    if (slot)
        return slot;
    if (!grow_slots())
        return 0;
    if (sl__race.n_slots == 0)
        clear_slot(sl__race.n_slots++);         /* the host's */
    if (!grow_slots())
        return 0;
    clear_slot(sl__race.n_slots);
    return sl__race.n_slots++;
}

static void link_clock(sl__race_clock *clock)
{
    clock->next = sl__race.clocks;
    clock->link = &sl__race.clocks;
    if (clock->next)
        clock->next->link = &clock->next;
    sl__race.clocks = clock;
}

sl__race_clock *sl__order_clock(sl_stream *stream)
{
    sl__race_clock *clock = stream->race;
    sl__slot *slot;
    uint32_t at;

    if (clock)
        return clock;
    clock = calloc(1, sizeof *clock);
    at = clock ? take_slot() : 0;
    if (!at) {
        free(clock);
        return NULL;
    }
    slot = &sl__race.slots[at];
    clock->stream = stream;
    clock->slot = at;
    clock->epoch = slot->epoch;     /* goes on, so that older accesses stay older */
    slot->clock = clock;
    sl__seen_release(&slot->seen);
    slot->device = stream->device;
    slot->stream_id = stream->id;
    slot->name = stream->name;
    slot->is_blocking = !stream->non_blocking && !stream->legacy;
    slot->is_per_thread = stream == stream->device->core->per_thread;
    slot->retired = slot->epoch;
    stream->race = clock;
    link_clock(clock);
    return clock;
}

/* ---- the NULL stream ------------------------------------------------------------- */

static sl__race_clock *legacy_of(const sl__race_clock *clock)
{
    return clock->stream->device->core->legacy->race;
}

/* CUDA: an operation in the NULL stream comes after all earlier ones in blocking streams. They
 * are news until it has happened. */
static bool see_blocking(sl__race_clock *legacy)
{
    bool raised = false, joined = true;

    legacy->beyond_host |= legacy->news != NULL;
    for (sl__race_clock *clock = legacy->news; clock && joined; clock = clock->next_news) {
        sl__point point = sl__order_point(clock);
        joined = sl__seen_join(&legacy->seen, &point, true, &raised);
    }
    return joined;
}

static void drop_news(sl__race_clock *legacy)
{
    for (sl__race_clock *clock = legacy->news; clock; clock = clock->next_news)
        clock->in_news = false;
    legacy->news = NULL;
}

/* And a blocking stream's next one comes after all earlier ones in the NULL stream. */
static bool see_legacy(sl__race_clock *clock)
{
    sl__race_clock *legacy = legacy_of(clock);
    bool raised = false;

    if (!legacy && !(legacy = sl__order_clock(clock->stream->device->core->legacy)))
        return false;
    if (legacy->epoch > clock->legacy_epoch) {
        /* With its own epoch in it, the streams can take the vector over as it is. */
        sl__point point = { .slot = legacy->slot, .epoch = legacy->epoch };
        legacy->beyond_host = clock->beyond_host = true;
        if (!sl__seen_join(&legacy->seen, &point, true, &raised))
            return false;
        point = sl__order_point(legacy);
        if (!sl__seen_join(&clock->seen, &point, true, &raised))
            return false;
        clock->legacy_epoch = legacy->epoch;
    }
    if (!clock->in_news) {
        clock->in_news = true;
        clock->next_news = legacy->news;
        legacy->news = clock;
    }
    return true;
}

/* ---- streams ---------------------------------------------------------------------- */

sl__point sl__order_point(const sl__race_clock *clock)
{
    sl__point point = { clock->slot, clock->epoch, sl__race.host_epoch, clock->seen };

    return point;
}

sl__point sl__order_point_of_slot(uint32_t at)
{
    const sl__slot *slot = &sl__race.slots[at];

    if (slot->clock)
        return sl__order_point(slot->clock);
    return (sl__point){ at, slot->epoch, sl__race.host_epoch, slot->seen };
}

static bool see_host(sl__race_clock *clock)
{
    sl__point host = { SL__HOST_SLOT, 0, 0, sl__race.host_seen };
    bool raised = false;

    if (clock->host_version == sl__race.host_version)
        return true;
    if (!clock->beyond_host) {
        sl__seen_retain(host.seen);
        sl__seen_release(&clock->seen);
        clock->seen = host.seen;
    } else if (!sl__seen_join(&clock->seen, &host, true, &raised)) {
        return false;
    }
    clock->host_version = sl__race.host_version;
    return true;
}

/* What an operation sees beyond that which its stream's next one would see anyhow: an event, or
 * blocking streams, which others see through the NULL stream. */
static void keep_before(sl__race_clock *clock)
{
    sl__seen_release(&clock->before);
    clock->before = sl__seen_retain(clock->seen);
    clock->is_undoable = true;
}

bool sl__order_next(sl_stream *stream, const sl__point *awaited, sl__actor *actor)
{
    sl__race_clock *clock = sl__order_clock(stream);
    bool raised = false;

    if (!clock)
        return false;
    if (awaited || stream->legacy)
        keep_before(clock);
    clock->beyond_host |= awaited != NULL;
    if ((awaited && !sl__seen_join(&clock->seen, awaited, true, &raised)) || !see_host(clock))
        return false;
    if (stream->legacy ? !see_blocking(clock) : !stream->non_blocking && !see_legacy(clock))
        return false;
    clock->epoch++;
    sl__race.slots[clock->slot].epoch = clock->epoch;
    *actor = (sl__actor){ .point = sl__order_point(clock) };
    sl__race.host_epoch++;          /* what the host does from here on comes later */
    return true;
}

void sl__order_happens(sl__race_clock *clock)
{
    sl__seen_release(&clock->before);
    clock->is_undoable = false;
    drop_news(clock);           /* only the NULL stream has any */
}

/* Its epoch stays: nobody has it. */
void sl__order_undo(sl__race_clock *clock)
{
    if (!clock->is_undoable)
        return;
    sl__seen_release(&clock->seen);
    clock->seen = clock->before;
    clock->before = (sl__seen){ NULL, NULL };
    clock->is_undoable = false;
    clock->host_version = 0;    /* to be seen again */
    clock->legacy_epoch = 0;
}

/* ---- the host ----------------------------------------------------------------------- */

sl__actor sl__order_host(void)
{
    return (sl__actor){ .point = { SL__HOST_SLOT, sl__race.host_epoch, sl__race.host_epoch,
                                   sl__race.host_seen } };
}

static void note_chance(const sl__vector *before, const sl__vector *after, uint32_t why,
                        uint32_t where)
{
    for (uint32_t i = 1; i < sl__race.n_slots; i++) {
        if (sl__vector_at(after, i) > sl__vector_at(before, i)) {
            sl__slot *slot = &sl__race.slots[i];
            slot->chances[slot->n_chances++ % SL__MOST_CHANCES] =
                (sl__chance){ sl__vector_at(after, i), why, where };
        }
    }
}

sl__chance sl__order_chance(const sl__access *access)
{
    const sl__slot *slot = &sl__race.slots[access->slot];
    sl__chance chance = { 0 };

    for (uint32_t n = 1; n <= slot->n_chances && n <= SL__MOST_CHANCES; n++) {
        const sl__chance *older = &slot->chances[(slot->n_chances - n) % SL__MOST_CHANCES];
        if (older->epoch < access->epoch)
            break;
        chance = *older;
    }
    return chance;
}

bool sl__order_join_host(const sl__point *point, bool sure, uint32_t why, uint32_t where)
{
    sl__vector *before = sure ? NULL : sl__vector_retain(sl__race.host_seen.likely);
    bool raised = false;
    bool joined = sl__seen_join(&sl__race.host_seen, point, sure, &raised);

    if (raised)
        sl__race.host_version++;
    if (raised && !sure)
        note_chance(before, sl__race.host_seen.likely, why, where);
    sl__vector_release(before);
    return joined;
}

/* ---- questions ----------------------------------------------------------------------- */

sl__order sl__order_of(const sl__access *earlier, const sl__actor *actor)
{
    const sl__point *point = &actor->point;

    if (earlier->slot == SL__HOST_SLOT)
        return !actor->is_late || earlier->epoch <= point->host_epoch ? SL__ORDERED
                                                                       : SL__UNORDERED;
    if (earlier->slot == point->slot
        || sl__vector_at(point->seen.sure, earlier->slot) >= earlier->epoch)
        return SL__ORDERED;
    return sl__vector_at(point->seen.likely, earlier->slot) >= earlier->epoch ? SL__BY_CHANCE
                                                                               : SL__UNORDERED;
}

bool sl__order_is_behind(const sl__access *access, const sl__actor *actor)
{
    const sl__point *point = &actor->point;

    return access->standing
           && sl__vector_at(access->standing->point.seen.sure, point->slot) >= point->epoch;
}

/* ---- the end ---------------------------------------------------------------------------- */

static void unlink_news(sl__race_clock *legacy, const sl__race_clock *clock)
{
    for (sl__race_clock **link = &legacy->news; *link; link = &(*link)->next_news) {
        if (*link == clock) {
            *link = clock->next_news;
            return;
        }
    }
}

static void free_clock(sl__race_clock *clock)
{
    *clock->link = clock->next;
    if (clock->next)
        clock->next->link = clock->link;
    clock->stream->race = NULL;
    sl__race.slots[clock->slot].clock = NULL;
    sl__race.slots[clock->slot].seen = clock->seen;
    sl__seen_release(&clock->before);
    free(clock);
}

/* What the NULL stream has not seen of it, it sees now: its next operation would have. */
void sl__race_stream_closed(sl_stream *stream)
{
    sl__race_clock *clock = stream->race;
    sl__race_clock *legacy;
    bool raised = false;

    if (!clock)
        return;
    legacy = clock->in_news ? legacy_of(clock) : NULL;
    if (legacy) {
        sl__point point = sl__order_point(clock);
        legacy->beyond_host = true;
        (void)sl__seen_join(&legacy->seen, &point, true, &raised);
        if (legacy->is_undoable)
            (void)sl__seen_join(&legacy->before, &point, true, &raised);
        unlink_news(legacy, clock);
    }
    drop_news(clock);
    free_clock(clock);
}

/* All its work has ended: nothing races with it any more. */
void sl__race_device_closed(sl_device *device)
{
    bool raised = false;

    for (uint32_t i = 1; i < sl__race.n_slots; i++) {
        sl__slot *slot = &sl__race.slots[i];
        if (slot->device != device)
            continue;
        sl__point point = sl__order_point_of_slot(i);
        (void)sl__seen_join(&sl__race.host_seen, &point, true, &raised);
        slot->device = NULL;
        sl__found_lost(i);
    }
    if (raised)
        sl__race.host_version++;
}

void sl__order_clear(void)
{
    while (sl__race.clocks)
        free_clock(sl__race.clocks);
    for (uint32_t i = 0; i < sl__race.n_slots; i++) {
        sl__seen_release(&sl__race.slots[i].seen);
        if (sl__race.slots[i].epoch > sl__race.first_epoch)
            sl__race.first_epoch = sl__race.slots[i].epoch;
    }
    free(sl__race.slots);
    sl__race.slots = NULL;
    sl__race.n_slots = sl__race.slots_room = 0;
    sl__seen_release(&sl__race.host_seen);
    sl__race.host_epoch = 1;
    sl__race.host_version = 1;
}
