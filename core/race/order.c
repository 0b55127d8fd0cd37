/* order.c - what comes before what: slots, the streams' clocks, the host's.
 *
 * The rules, with where CUDA states them, are in docs/design/races.md. */
#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "state.h"

sl__checker sl__race;

/* ---- slots ---------------------------------------------------------------------- */

/* A closed stream's slot serves again once everything new comes after its operations. */
static uint32_t reusable_slot(void)
{
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

/* 0: out of memory. */
static uint32_t take_slot(void)
{
    uint32_t slot = reusable_slot();

    if (slot)
        return slot;
    if (!grow_slots())
        return 0;
    if (sl__race.n_slots == 0)
        memset(&sl__race.slots[sl__race.n_slots++], 0, sizeof(sl__slot));  /* the host's */
    if (!grow_slots())
        return 0;
    memset(&sl__race.slots[sl__race.n_slots], 0, sizeof(sl__slot));
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

/* CUDA: an operation in the NULL stream comes after all earlier ones in blocking streams. */
static bool see_blocking(sl__race_clock *legacy)
{
    bool raised = false, joined = true;

    legacy->beyond_host |= legacy->news != NULL;
    while (legacy->news && joined) {
        sl__race_clock *clock = legacy->news;
        sl__point point = sl__order_point(clock);
        joined = sl__seen_join(&legacy->seen, &point, true, &raised);
        legacy->news = clock->next_news;
        clock->in_news = false;
    }
    return joined;
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

bool sl__order_next(sl_stream *stream, sl__actor *actor)
{
    sl__race_clock *clock = sl__order_clock(stream);

    if (!clock || !see_host(clock))
        return false;
    if (stream->legacy ? !see_blocking(clock) : !stream->non_blocking && !see_legacy(clock))
        return false;
    clock->epoch++;
    sl__race.slots[clock->slot].epoch = clock->epoch;
    *actor = (sl__actor){ .point = sl__order_point(clock) };
    sl__race.host_epoch++;          /* what the host does from here on comes later */
    return true;
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
            sl__race.slots[i].chance = why;
            sl__race.slots[i].chance_where = where;
        }
    }
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
    sl__seen_release(&clock->seen);
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
        unlink_news(legacy, clock);
    }
    for (sl__race_clock *other = clock->news; other; other = other->next_news)
        other->in_news = false;
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
        (void)sl__seen_join(&sl__race.host_seen, &(sl__point){ .slot = i, .epoch = slot->epoch },
                            true, &raised);
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
    free(sl__race.slots);
    sl__race.slots = NULL;
    sl__race.n_slots = sl__race.slots_room = 0;
    sl__seen_release(&sl__race.host_seen);
    sl__race.host_epoch = 1;
    sl__race.host_version = 1;
}
