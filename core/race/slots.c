/* slots.c - slots: of streams, and of the lanes of graphs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "state.h"

bool sl__slot_is_seen(const sl__checker *checker, uint32_t slot)
{
    if (checker->threads) return false; /* by one of them, but by others? */
    return sl__vector_at(checker->host.seen.sure, slot) >= checker->slots[slot].epoch;
}

void sl__slot_note_unseen(sl__checker *checker, uint32_t slot)
{
    if (checker->slots[slot].is_unseen) return;
    checker->slots[slot].is_unseen = true;
    checker->slots[slot].next_unseen = checker->unseen;
    checker->unseen = slot;
}

uint32_t sl__slot_next_unseen(sl__checker *checker, uint32_t slot)
{
    uint32_t *link = slot ? &checker->slots[slot].next_unseen : &checker->unseen;
    while (*link && sl__slot_is_seen(checker, *link)) {
        sl__slot *seen = &checker->slots[*link];
        sl__race_looks++;
        seen->is_unseen = false;
        *link = seen->next_unseen;
    }
    sl__race_looks++;
    return *link;
}

void sl__slot_close(sl__checker *checker, uint32_t slot)
{
    uint32_t last = checker->last_closed;
    checker->slots[slot].next_closed = 0;
    if (last)
        checker->slots[last].next_closed = slot;
    else
        checker->closed = slot;
    checker->last_closed = slot;
}

static uint32_t take_first_closed(sl__checker *checker)
{
    uint32_t slot = checker->closed;
    checker->closed = checker->slots[slot].next_closed;
    if (!checker->closed) checker->last_closed = 0;
    return slot;
}

enum { MOST_ASKED = 8 };

/* The slot of a closed stream can be used again when every later access comes after its operations.
 * Not while a host function waits to run: it is compared with earlier accesses, whose texts are
 * those of the old stream. A few are asked, those that have waited longest; which are not ready
 * wait again, behind the others. */
static uint32_t reusable_slot(sl__checker *checker)
{
    if (checker->n_waiting > 0) return 0;
    for (int i = 0; i < MOST_ASKED && checker->closed; i++) {
        uint32_t slot = take_first_closed(checker);
        sl__race_looks++;
        if (sl__slot_is_seen(checker, slot)) return slot;
        sl__slot_close(checker, slot);
    }
    return 0;
}

static void clear_slot(sl__checker *checker, uint32_t slot)
{
    memset(&checker->slots[slot], 0, sizeof(sl__slot));
    checker->slots[slot].epoch = checker->first_epoch;
}

uint32_t sl__slot_take(sl__checker *checker)
{
    uint32_t slot = reusable_slot(checker);
    if (slot) return slot;
    if (!SL__GROW(checker->slots, checker->slots_room, checker->n_slots + 1)) return 0;
    if (checker->n_slots == 0) clear_slot(checker, checker->n_slots++); /* the host's */
    if (!SL__GROW(checker->slots, checker->slots_room, checker->n_slots + 1)) return 0;
    clear_slot(checker, checker->n_slots);
    return checker->n_slots++;
}

/* ---- nodes of graphs -------------------------------------------------------------- */

/* The nodes of one lane run in order, also those of different launches. What they come after
 * is with their launch, and what comes after them with its stream. */
uint32_t sl__slot_of_lane(sl__checker *checker, const sl_stream *stream)
{
    sl__device_core *core = stream->device->core;
    uint32_t at = sl__slot_take(checker);
    sl__slot *slot = &checker->slots[at];
    char name[128];
    if (!at) return 0;
    snprintf(name, sizeof name, "%.100s (graph)", sl__stream_name(stream));
    sl__seen_release(&slot->seen);
    slot->device = stream->device;
    slot->stream_id = stream->id;
    slot->name = sl__strings_intern(&core->strings, name);
    slot->captured = stream->name;
    slot->made = stream->where;
    slot->is_blocking = slot->is_per_thread = false;
    slot->is_lane = true;
    slot->retired = 0;
    return at;
}

uint64_t sl__slot_tick(sl__checker *checker, uint32_t slot)
{
    sl__slot_note_unseen(checker, slot);
    return ++checker->slots[slot].epoch;
}
