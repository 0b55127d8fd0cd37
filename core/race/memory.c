/* memory.c - the histories of bytes: a sorted array of ranges for each buffer. */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_COMPACTION = 64,      /* ranges */
    MOST_RANGES = 1 << 16,      /* of a buffer; then its history is forgotten */
    MOST_PAST = 64              /* of a range */
};

/* ---- a range -------------------------------------------------------------------- */

static bool comes_before(const sl__access *earlier, const sl__access *access,
                         const sl__vector *seen)
{
    if (earlier->slot == access->slot)
        return earlier->epoch <= access->epoch;
    return earlier->slot == SL__HOST_SLOT || sl__vector_at(seen, earlier->slot) >= earlier->epoch;
}

static void clear_range(sl__range *range)
{
    sl__access_drop(&range->write);
    sl__accesses_free(&range->others);
    sl__accesses_free(&range->past);
}

static bool copy_range(sl__range *to, const sl__range *from)
{
    memset(to, 0, sizeof *to);
    if (!sl__accesses_copy(&to->others, &from->others)
        || !sl__accesses_copy(&to->past, &from->past)) {
        clear_range(to);
        return false;
    }
    to->first = from->first;
    to->end = from->end;
    sl__access_put(&to->write, &from->write);
    return true;
}

/* Of many the oldest goes. */
static bool add_past(sl__range *range, const sl__access *access)
{
    bool full = range->past.n == MOST_PAST;

    if (!full && !sl__accesses_reserve(&range->past, range->past.n + 1))
        return false;
    if (full) {
        sl__accesses_remove(&range->past, 0);
        sl__memory_totals.forgotten++;
    }
    sl__accesses_append(&range->past, access);
    return true;
}

static bool make_past(sl__range *range, uint32_t i)
{
    if (!add_past(range, sl__access_at(&range->others, i)))
        return false;
    sl__accesses_remove(&range->others, i);
    return true;
}

static bool note_write(sl__range *range, const sl__access *access, bool keep)
{
    while (keep && range->others.n > 0)
        if (!make_past(range, 0))
            return false;
    if (keep && sl__access_is_there(&range->write) && !add_past(range, &range->write))
        return false;
    if (!keep) {
        sl__accesses_drop(&range->others);
        sl__accesses_drop(&range->past);
    }
    sl__access_drop(&range->write);
    sl__access_put(&range->write, access);
    return true;
}

/* The slot's own read; the number of others if there is none. It is mostly the oldest, or one of
 * the latest: streams that read no more lie in between. */
static uint32_t find_read(const sl__accesses *others, uint32_t slot)
{
    for (uint32_t i = 0; i < others->n; i++) {
        uint32_t at = i % 2 ? others->n - 1 - i / 2 : i / 2;
        const sl__access *other = sl__access_at(others, at);
        sl__race_looks++;
        if (other->slot == slot && other->kind == SL_ACCESS_READ && other->by == SL__BY_STREAM)
            return at;
    }
    return others->n;
}

static bool drop_read(sl__range *range, uint32_t i, bool keep)
{
    if (keep)
        return make_past(range, i);
    sl__accesses_remove(&range->others, i);
    return true;
}

/* The reads that it comes after; but what a host function did, which ran late, stays. */
static bool drop_reads(sl__range *range, const sl__access *access, const sl__vector *seen,
                       bool keep)
{
    for (uint32_t i = range->others.n; i-- > 0;) {
        const sl__access *other = sl__access_at(&range->others, i);
        sl__race_looks++;
        if (other->kind == SL_ACCESS_READ && comes_before(other, access, seen)
            && !drop_read(range, i, keep))
            return false;
    }
    return true;
}

/* By a vector that has not changed since the slot's last read no others are to be dropped. */
static bool note_read(sl__range *range, const sl__access *access, const sl__vector *seen,
                      bool keep)
{
    sl__access read = *access;
    uint32_t own = find_read(&range->others, access->slot);
    bool done;

    read.seen_id = seen ? seen->id : 0;
    if (!keep)
        sl__accesses_drop(&range->past);
    if (own < range->others.n && sl__access_at(&range->others, own)->seen_id == read.seen_id)
        done = drop_read(range, own, keep);
    else
        done = drop_reads(range, access, seen, keep);
    if (!done || !sl__accesses_reserve(&range->others, range->others.n + 1))
        return false;
    sl__accesses_append(&range->others, &read);
    return true;
}

/* What a host function did, whatever has come since it was enqueued. It takes the place of
 * what comes before it, and races with all that this could race with. */
static bool note_late(sl__range *range, const sl__access *access, const sl__vector *seen)
{
    for (uint32_t i = 0; i < range->others.n; i++)
        if (sl__access_same(sl__access_at(&range->others, i), access))
            return true;
    for (uint32_t i = range->others.n; i-- > 0;) {
        const sl__access *other = sl__access_at(&range->others, i);
        bool weaker = access->kind != SL_ACCESS_READ || other->kind == SL_ACCESS_READ;
        if (weaker && comes_before(other, access, seen) && !make_past(range, i))
            return false;
    }
    if (!sl__accesses_reserve(&range->others, range->others.n + 1))
        return false;
    sl__accesses_append(&range->others, access);
    for (uint32_t i = 0; i < range->others.n; i++)
        sl__access_at(&range->others, i)->seen_id = SL__SEEN_NOTHING;
    return true;
}

/* ---- ranges --------------------------------------------------------------------- */

/* The first range that ends behind `byte`. */
static size_t find(const sl__race_memory *memory, size_t byte)
{
    size_t low = 0, high = memory->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->ranges[middle].end <= byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool reserve_ranges(sl__race_memory *memory, size_t more)
{
    size_t room = memory->room ? memory->room : 1;
    sl__range *grown;

    if (memory->n + more <= memory->room)
        return true;
    while (room < memory->n + more)
        room *= 2;
    grown = realloc(memory->ranges, room * sizeof *grown);
    if (!grown)
        return false;
    sl__memory_totals.bytes += (room - memory->room) * sizeof *grown;
    memory->ranges = grown;
    memory->room = room;
    return true;
}

/* Room is reserved. */
static sl__range *insert(sl__race_memory *memory, size_t at, size_t first, size_t end)
{
    sl__range *range = &memory->ranges[at];

    memmove(range + 1, range, (memory->n - at) * sizeof *range);
    memset(range, 0, sizeof *range);
    range->first = first;
    range->end = end;
    memory->n++;
    return range;
}

static void erase(sl__race_memory *memory, size_t at, size_t n)
{
    if (n == 0)
        return;                 /* there may be no array yet */
    for (size_t i = at; i < at + n; i++)
        clear_range(&memory->ranges[i]);
    memmove(&memory->ranges[at], &memory->ranges[at + n],
            (memory->n - at - n) * sizeof memory->ranges[0]);
    memory->n -= n;
}

/* No range crosses `byte` any more. Room is reserved. */
static bool cut(sl__race_memory *memory, size_t byte)
{
    size_t at = find(memory, byte);
    sl__range rest;

    if (at == memory->n || memory->ranges[at].first >= byte)
        return true;
    if (!copy_range(&rest, &memory->ranges[at]))
        return false;
    insert(memory, at + 1, byte, rest.end);
    rest.first = byte;
    memory->ranges[at + 1] = rest;
    memory->ranges[at].end = byte;
    return true;
}

/* Ranges for all of [first, end); gives the index of the first. Room is reserved. */
static size_t fill_gaps(sl__race_memory *memory, size_t first, size_t end, size_t *n)
{
    size_t at = find(memory, first), i = at;

    while (first < end) {
        size_t next = i < memory->n && memory->ranges[i].first < end ? memory->ranges[i].first
                                                                     : end;
        if (next > first)
            insert(memory, i, first, next);
        first = memory->ranges[i].end;
        i++;
    }
    *n = i - at;
    return at;
}

static size_t count_in(const sl__race_memory *memory, size_t first, size_t end)
{
    size_t n = 0;

    for (size_t i = find(memory, first); i < memory->n && memory->ranges[i].first < end; i++)
        n++;
    return n;
}

static bool same_history(const sl__range *a, const sl__range *b)
{
    return sl__access_same(&a->write, &b->write) && sl__accesses_same(&a->others, &b->others)
           && sl__accesses_same(&a->past, &b->past);
}

/* An operation may have touched two neighbours apart: now it has both. */
static void join_ranges(sl__range *to, sl__range *from)
{
    to->end = from->end;
    sl__access_widen(&to->write, &from->write);
    sl__accesses_widen(&to->others, &from->others);
    sl__accesses_widen(&to->past, &from->past);
    clear_range(from);
}

/* Joins neighbours of one history among `n` ranges from `at` on, and the one behind them. */
static void join_neighbours(sl__race_memory *memory, size_t at, size_t n)
{
    size_t from = at > 0 ? at - 1 : 0, kept = from;
    size_t end = at + n + 1 < memory->n ? at + n + 1 : memory->n;

    for (size_t i = from + 1; i < end; i++) {
        sl__range *last = &memory->ranges[kept], *range = &memory->ranges[i];
        if (last->end == range->first && same_history(last, range)) {
            join_ranges(last, range);
        } else {
            memory->ranges[++kept] = *range;
        }
    }
    if (kept + 1 == end)
        return;
    memmove(&memory->ranges[kept + 1], &memory->ranges[end],
            (memory->n - end) * sizeof memory->ranges[0]);
    memory->n -= end - kept - 1;
}

/* ---- compaction -------------------------------------------------------------------- */

static bool is_settled(const sl__access *access, const sl__vector *settled)
{
    return access->slot == SL__HOST_SLOT
           || sl__vector_at(settled, access->slot) >= access->epoch;
}

static void settle_range(sl__range *range, const sl__vector *settled)
{
    for (uint32_t i = range->others.n; i-- > 0;)
        if (is_settled(sl__access_at(&range->others, i), settled))
            sl__accesses_remove(&range->others, i);
    sl__accesses_drop(&range->past);
    if (sl__access_is_there(&range->write) && is_settled(&range->write, settled))
        sl__access_drop(&range->write);
}

void sl__memory_compact(sl__race_memory *memory, const sl__vector *settled)
{
    size_t kept = 0;

    for (size_t i = 0; i < memory->n; i++) {
        sl__range *range = &memory->ranges[i];
        settle_range(range, settled);
        if (sl__access_is_there(&range->write) || range->others.n > 0)
            memory->ranges[kept++] = *range;
        else
            clear_range(range);
    }
    memory->n = kept;
    if (kept > 0)
        join_neighbours(memory, 0, kept);
}

static void forget(sl__race_memory *memory)
{
    for (size_t i = 0; i < memory->n; i++)
        sl__memory_totals.forgotten += memory->ranges[i].others.n + memory->ranges[i].past.n
                                       + (sl__access_is_there(&memory->ranges[i].write) ? 1 : 0);
    erase(memory, 0, memory->n);
}

static void keep_bounded(sl__race_memory *memory, bool keep, const sl__vector *settled)
{
    if (memory->n < memory->compact_at)
        return;
    if (!keep)
        sl__memory_compact(memory, settled);
    if (memory->n >= MOST_RANGES)
        forget(memory);
    memory->compact_at = memory->n * 2 > FIRST_COMPACTION ? memory->n * 2 : FIRST_COMPACTION;
    if (memory->compact_at > MOST_RANGES)
        memory->compact_at = MOST_RANGES;
}

static bool is_of(const sl__access *access, uint32_t slot, uint64_t epoch)
{
    return access->slot == slot && access->epoch == epoch;
}

static void remove_of(sl__accesses *accesses, uint32_t slot, uint64_t epoch)
{
    for (uint32_t i = accesses->n; i-- > 0;)
        if (is_of(sl__access_at(accesses, i), slot, epoch))
            sl__accesses_remove(accesses, i);
}

/* ---- the interface -------------------------------------------------------------------- */

sl__race_memory *sl__memory_new(sl_buffer *buffer)
{
    sl__race_memory *memory = calloc(1, sizeof *memory);

    if (!memory)
        return NULL;
    memory->buffer = buffer;
    memory->compact_at = FIRST_COMPACTION;
    sl__memory_totals.bytes += sizeof *memory;
    return memory;
}

void sl__memory_free(sl__race_memory *memory)
{
    erase(memory, 0, memory->n);
    sl__memory_totals.bytes -= sizeof *memory + memory->room * sizeof memory->ranges[0];
    free(memory->ranges);
    free(memory);
}

void sl__memory_cancel(sl__race_memory *memory, uint32_t slot, uint64_t epoch)
{
    for (size_t at = 0; at < memory->n; at++) {
        sl__range *range = &memory->ranges[at];
        if (is_of(&range->write, slot, epoch))
            sl__access_drop(&range->write);
        remove_of(&range->others, slot, epoch);
        remove_of(&range->past, slot, epoch);
    }
}

static void meet_in(const sl__accesses *accesses, bool reads, sl__conflict_fn fn, void *ud)
{
    for (uint32_t i = 0; i < accesses->n && !(reads && accesses->n_writes == 0); i++) {
        const sl__access *other = sl__access_at(accesses, i);
        sl__race_looks++;
        if (!(reads && other->kind == SL_ACCESS_READ))
            fn(ud, other);
    }
}

void sl__memory_meet(const sl__race_memory *memory, const sl__access *access, size_t first,
                     size_t end, bool late, sl__conflict_fn fn, void *ud)
{
    bool reads = access->kind == SL_ACCESS_READ;

    for (size_t i = find(memory, first); i < memory->n && memory->ranges[i].first < end; i++) {
        const sl__range *range = &memory->ranges[i];
        if (sl__access_is_there(&range->write))
            fn(ud, &range->write);
        if (late)
            meet_in(&range->past, reads, fn, ud);
        meet_in(&range->others, reads, fn, ud);
    }
}

/* The usual case: the range is there. */
static sl__range *exact(const sl__race_memory *memory, size_t first, size_t end)
{
    size_t at = find(memory, first);
    sl__range *range = &memory->ranges[at];

    return at < memory->n && range->first == first && range->end == end ? range : NULL;
}

static bool note_in(sl__range *range, const sl__access *access, const sl__vector *seen, bool keep)
{
    if (access->by == SL__BY_HOST_FUNC)
        return note_late(range, access, seen);
    if (access->by == SL__BY_HOST)
        return add_past(range, access);
    return access->kind == SL_ACCESS_READ ? note_read(range, access, seen, keep)
                                          : note_write(range, access, keep);
}

bool sl__memory_note(sl__race_memory *memory, const sl__access *access, size_t first, size_t end,
                     const sl__vector *seen, bool keep, const sl__vector *settled)
{
    sl__range *range;
    size_t at, n;

    if (first >= end)
        return true;
    range = exact(memory, first, end);
    if (range)
        return note_in(range, access, seen, keep);
    keep_bounded(memory, keep, settled);
    if (!reserve_ranges(memory, count_in(memory, first, end) + 3) || !cut(memory, first)
        || !cut(memory, end))
        return false;
    if (!keep && access->kind != SL_ACCESS_READ) {      /* nothing below it is left */
        at = find(memory, first);
        erase(memory, at, count_in(memory, first, end));
        sl__access_put(&insert(memory, at, first, end)->write, access);
        return true;
    }
    at = fill_gaps(memory, first, end, &n);
    for (size_t i = at; i < at + n; i++)
        if (!note_in(&memory->ranges[i], access, seen, keep))
            return false;
    join_neighbours(memory, at, n);
    return true;
}
