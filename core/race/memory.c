/* memory.c - the histories of bytes: a sorted array of ranges for each buffer. */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_COMPACTION = 64,      /* ranges */
    MOST_RANGES = 1 << 16,      /* of a buffer; then its history is forgotten */
    MOST_PAST = 64              /* of a range */
};

sl__memory_stats sl__memory_totals;

/* ---- accesses ------------------------------------------------------------------- */

static bool is_there(const sl__access *access)
{
    return access->epoch != 0;
}

static void retain_access(const sl__access *access)
{
    if (access->standing)
        access->standing->refs++;
    sl__memory_totals.accesses++;
}

void sl__standing_release(sl__standing *standing)
{
    if (standing && --standing->refs == 0) {
        sl__seen_release(&standing->point.seen);
        free(standing);
    }
}

static void drop_access(sl__access *access)
{
    if (!is_there(access))
        return;
    sl__memory_totals.accesses--;
    sl__standing_release(access->standing);
    memset(access, 0, sizeof *access);
}

static void put_access(sl__access *place, const sl__access *access)
{
    *place = *access;
    if (is_there(place))
        retain_access(place);
}

static bool comes_before(const sl__access *earlier, const sl__access *access,
                         const sl__vector *seen)
{
    if (earlier->slot == access->slot)
        return earlier->epoch <= access->epoch;
    return earlier->slot == SL__HOST_SLOT || sl__vector_at(seen, earlier->slot) >= earlier->epoch;
}

/* The host, and a host function, make several in one epoch. */
static bool same_access(const sl__access *a, const sl__access *b)
{
    return a->epoch == b->epoch && a->slot == b->slot && a->kind == b->kind && a->by == b->by
           && a->where == b->where && a->past == b->past;
}

/* ---- a range -------------------------------------------------------------------- */

static void clear_range(sl__range *range)
{
    drop_access(&range->write);
    for (uint32_t i = 0; i < range->n_others; i++)
        drop_access(&range->others[i]);
    sl__memory_totals.bytes -= range->room * sizeof range->others[0];
    free(range->others);
    range->others = NULL;
    range->n_others = range->room = 0;
}

static bool reserve_others(sl__range *range, uint32_t n)
{
    uint32_t room = range->room ? range->room : 2;
    sl__access *grown;

    if (n <= range->room)
        return true;
    while (room < n)
        room *= 2;
    grown = realloc(range->others, room * sizeof *grown);
    if (!grown)
        return false;
    sl__memory_totals.bytes += (room - range->room) * sizeof *grown;
    range->others = grown;
    range->room = room;
    return true;
}

static bool copy_range(sl__range *to, const sl__range *from)
{
    memset(to, 0, sizeof *to);
    if (!reserve_others(to, from->n_others))
        return false;
    to->first = from->first;
    to->end = from->end;
    put_access(&to->write, &from->write);
    for (uint32_t i = 0; i < from->n_others; i++)
        put_access(&to->others[i], &from->others[i]);
    to->n_others = from->n_others;
    return true;
}

/* The others stay in order of age. */
static void remove_other(sl__range *range, uint32_t i)
{
    drop_access(&range->others[i]);
    range->n_others--;
    memmove(&range->others[i], &range->others[i + 1],
            (range->n_others - i) * sizeof range->others[0]);
}

/* Room is reserved. */
static void add_other(sl__range *range, const sl__access *access)
{
    put_access(&range->others[range->n_others++], access);
}

/* Of many past accesses the oldest go. */
static void forget_oldest(sl__range *range)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < range->n_others; i++)
        n += range->others[i].past;
    for (uint32_t i = 0; n > MOST_PAST; ) {
        if (!range->others[i].past) {
            i++;
            continue;
        }
        remove_other(range, i);
        sl__memory_totals.forgotten++;
        n--;
    }
}

static void add_past(sl__range *range, const sl__access *access)
{
    add_other(range, access);
    range->others[range->n_others - 1].past = true;
    forget_oldest(range);
}

static void make_past(sl__range *range, uint32_t i)
{
    sl__access past = range->others[i];

    retain_access(&past);
    remove_other(range, i);
    add_past(range, &past);
    drop_access(&past);
}

static bool note_write(sl__range *range, const sl__access *access, bool keep)
{
    if (!keep) {
        while (range->n_others > 0)
            remove_other(range, range->n_others - 1);
    } else {
        if (!reserve_others(range, range->n_others + 1))
            return false;
        for (uint32_t i = 0; i < range->n_others; i++)
            range->others[i].past = true;
        if (is_there(&range->write))
            add_past(range, &range->write);
        forget_oldest(range);
    }
    drop_access(&range->write);
    put_access(&range->write, access);
    return true;
}

static bool note_read(sl__range *range, const sl__access *access, const sl__vector *seen,
                      bool keep)
{
    if (!reserve_others(range, range->n_others + 1))
        return false;
    for (uint32_t i = range->n_others; i-- > 0;) {
        sl__access *other = &range->others[i];
        if (other->kind != SL_ACCESS_READ && !other->past)
            continue;           /* a host function's, which ran late */
        if (keep && comes_before(other, access, seen) && !other->past) {
            make_past(range, i);
        } else if (!keep && (other->past || comes_before(other, access, seen))) {
            remove_other(range, i);
        }
    }
    add_other(range, access);
    return true;
}

static bool note_past(sl__range *range, const sl__access *access)
{
    if (!reserve_others(range, range->n_others + 1))
        return false;
    add_past(range, access);
    return true;
}

/* What a host function did, whatever has come since it was enqueued. It takes the place of
 * what comes before it, and races with all that this could race with. */
static bool note_late(sl__range *range, const sl__access *access, const sl__vector *seen)
{
    for (uint32_t i = 0; i < range->n_others; i++)
        if (same_access(&range->others[i], access))
            return true;
    if (!reserve_others(range, range->n_others + 1))
        return false;
    for (uint32_t i = range->n_others; i-- > 0;) {
        const sl__access *other = &range->others[i];
        bool weaker = access->kind != SL_ACCESS_READ || other->kind == SL_ACCESS_READ;
        if (!other->past && weaker && comes_before(other, access, seen))
            make_past(range, i);
    }
    add_other(range, access);
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
    if (a->n_others != b->n_others || !same_access(&a->write, &b->write))
        return false;
    for (uint32_t i = 0; i < a->n_others; i++)
        if (!same_access(&a->others[i], &b->others[i]))
            return false;
    return true;
}

static void widen(sl__access *access, const sl__access *other)
{
    access->first = access->first < other->first ? access->first : other->first;
    access->end = access->end > other->end ? access->end : other->end;
}

/* An operation may have touched two neighbours apart: now it has both. */
static void join_ranges(sl__range *to, sl__range *from)
{
    to->end = from->end;
    widen(&to->write, &from->write);
    for (uint32_t i = 0; i < to->n_others; i++)
        widen(&to->others[i], &from->others[i]);
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
    for (uint32_t i = range->n_others; i-- > 0;)
        if (range->others[i].past || is_settled(&range->others[i], settled))
            remove_other(range, i);
    if (is_there(&range->write) && is_settled(&range->write, settled))
        drop_access(&range->write);
}

void sl__memory_compact(sl__race_memory *memory, const sl__vector *settled)
{
    size_t kept = 0;

    for (size_t i = 0; i < memory->n; i++) {
        sl__range *range = &memory->ranges[i];
        settle_range(range, settled);
        if (is_there(&range->write) || range->n_others > 0)
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
        sl__memory_totals.forgotten +=
            memory->ranges[i].n_others + (is_there(&memory->ranges[i].write) ? 1 : 0);
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

static bool is_of(const sl__access *access, uint32_t slot, uint64_t epoch)
{
    return access->slot == slot && access->epoch == epoch;
}

void sl__memory_cancel(sl__race_memory *memory, uint32_t slot, uint64_t epoch)
{
    for (size_t at = 0; at < memory->n; at++) {
        sl__range *range = &memory->ranges[at];
        if (is_of(&range->write, slot, epoch))
            drop_access(&range->write);
        for (uint32_t i = range->n_others; i-- > 0;)
            if (is_of(&range->others[i], slot, epoch))
                remove_other(range, i);
    }
}

void sl__memory_meet(const sl__race_memory *memory, const sl__access *access, size_t first,
                     size_t end, bool late, sl__conflict_fn fn, void *ud)
{
    bool reads = access->kind == SL_ACCESS_READ;

    for (size_t i = find(memory, first); i < memory->n && memory->ranges[i].first < end; i++) {
        const sl__range *range = &memory->ranges[i];
        if (is_there(&range->write))
            fn(ud, &range->write);
        for (uint32_t j = 0; j < range->n_others; j++) {
            const sl__access *other = &range->others[j];
            if ((late || !other->past) && !(reads && other->kind == SL_ACCESS_READ))
                fn(ud, other);
        }
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
        return note_past(range, access);
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
        put_access(&insert(memory, at, first, end)->write, access);
        return true;
    }
    at = fill_gaps(memory, first, end, &n);
    for (size_t i = at; i < at + n; i++)
        if (!note_in(&memory->ranges[i], access, seen, keep))
            return false;
    join_neighbours(memory, at, n);
    return true;
}
