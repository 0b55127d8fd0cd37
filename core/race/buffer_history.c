/* buffer_history.c - the histories of bytes: a sorted array of ranges for each buffer. */
#include "buffer_history.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_COMPACTION = 64, /* ranges */
    MOST_RANGES = 1 << 16, /* of a buffer; then its history is forgotten */
    MOST_PAST = 64         /* of a range */
};

/* ---- a history -------------------------------------------------------------------- */

static bool comes_before(const sl__access *earlier, const sl__access *access,
                         const sl__vector *seen)
{
    if (earlier->slot == access->slot) return earlier->epoch <= access->epoch;
    return earlier->slot == SL__HOST_SLOT || sl__vector_at(seen, earlier->slot) >= earlier->epoch;
}

static void forget_dropped(sl__history *history)
{
    for (int i = 0; i < 2; i++) {
        sl__vector_release(history->dropped[i]);
        history->dropped[i] = NULL;
    }
}

static void free_history(sl__history *history)
{
    sl__access_drop(&history->write);
    sl__accesses_free(&history->others);
    sl__accesses_free(&history->past);
    forget_dropped(history);
    free(history);
}

/* An empty one. NULL: out of memory. */
static sl__history *new_history(void) { return calloc(1, sizeof(sl__history)); }

static sl__history *copy_history(const sl__history *from)
{
    sl__history *to = new_history();
    if (!to) return NULL;
    if (!sl__accesses_copy(&to->others, &from->others)
        || !sl__accesses_copy(&to->past, &from->past)) {
        free_history(to);
        return NULL;
    }
    sl__access_put(&to->write, &from->write);
    for (int i = 0; i < 2; i++)
        to->dropped[i] = sl__vector_retain(from->dropped[i]);
    return to;
}

/* If there are too many, drops the oldest. */
static bool add_past(sl__history *history, const sl__access *access)
{
    bool full = sl__accesses_count(&history->past) == MOST_PAST;
    if (!full && !sl__accesses_reserve(&history->past)) return false;
    if (full) sl__accesses_remove(&history->past, 0);
    sl__accesses_append(&history->past, access);
    return true;
}

static bool make_past(sl__history *history, uint32_t i)
{
    if (!add_past(history, sl__access_at(&history->others, i))) return false;
    sl__accesses_remove(&history->others, i);
    return true;
}

static bool note_write(sl__history *history, const sl__access *access, bool keep)
{
    while (keep && history->others.n > 0)
        if (!make_past(history, 0)) return false;
    if (keep && sl__access_is_there(&history->write) && !add_past(history, &history->write))
        return false;
    if (!keep) {
        sl__accesses_drop(&history->others);
        sl__accesses_drop(&history->past);
    }
    sl__access_drop(&history->write);
    sl__access_put(&history->write, access);
    return true;
}

static bool drop_shared(sl__history *history, uint32_t i, bool keep)
{
    if (keep) return make_past(history, i);
    sl__accesses_remove(&history->others, i);
    return true;
}

/* A read drops the reads that it comes after; an atomic update drops atomic updates. What is of the
 * other kind races with other accesses. Looks at all of them. */
static bool drop_all_shared(sl__history *history, const sl__access *access, const sl__vector *seen,
                            bool keep)
{
    for (uint32_t i = history->others.n; i-- > 0;) {
        const sl__access *other = sl__access_at(&history->others, i);
        sl__race_looks++;
        if (sl__access_is_there(other) && other->kind == access->kind
            && comes_before(other, access, seen) && !drop_shared(history, i, keep))
            return false;
    }
    return true;
}

typedef struct dropping {
    sl__accesses *others;
    uint8_t kind;
} dropping;

/* Those of the slot up to the epoch. */
static void drop_of_slot(void *ud, uint32_t slot, uint64_t epoch)
{
    const dropping *d = ud;
    uint32_t i = sl__accesses_find(d->others, slot, d->kind);
    while (i < d->others->n && sl__access_at(d->others, i)->epoch <= epoch) {
        sl__accesses_remove(d->others, i);
        i = sl__accesses_find(d->others, slot, d->kind);
    }
}

/* The same without `keep` and where no host function is among them, but looks only at the slots of
 * which `seen` has more than the accesses before it had. */
static bool drop_newly_seen(sl__history *history, const sl__access *access, sl__vector *seen)
{
    sl__vector **dropped = &history->dropped[access->kind == SL_ACCESS_ATOMIC];
    sl__vector *before = sl__vector_retain(*dropped);
    dropping d = { &history->others, access->kind };
    bool raised = false, joined = sl__vector_join(dropped, seen, 0, 0, &raised);
    if (joined && raised) sl__vector_each_raised(before, *dropped, drop_of_slot, &d);
    sl__vector_release(before);
    drop_of_slot(&d, access->slot, access->epoch);
    drop_of_slot(&d, SL__HOST_SLOT, UINT64_MAX);
    return joined;
}

/* Adds it as the latest. What comes after others that are not there yet, as a host function that
 * ran late, may be in `dropped`. */
static bool add_other(sl__history *history, const sl__access *access)
{
    for (int i = 0; i < 2; i++)
        if (sl__vector_at(history->dropped[i], access->slot) >= access->epoch)
            forget_dropped(history);
    if (!sl__accesses_reserve(&history->others)) return false;
    sl__accesses_append(&history->others, access);
    return true;
}

/* If the vector is the same as at the slot's last one of this kind, there are no others to drop. */
static bool note_shared(sl__history *history, const sl__access *access, sl__vector *seen, bool keep)
{
    sl__access read = *access;
    uint32_t own = sl__accesses_find(&history->others, access->slot, access->kind);
    bool done;
    read.seen_id = seen ? seen->id : 0;
    if (!keep) sl__accesses_drop(&history->past);
    if (own < history->others.n && sl__access_at(&history->others, own)->seen_id == read.seen_id)
        done = drop_shared(history, own, keep);
    else if (keep || history->others.n_late > 0)
        done = drop_all_shared(history, access, seen, keep);
    else
        done = drop_newly_seen(history, access, seen);
    return done && add_other(history, &read);
}

/* Adds an access of a host function, which may have run after later calls. It replaces accesses
 * that it comes after: whatever could race with them races with it. */
static bool note_late(sl__history *history, const sl__access *access, const sl__vector *seen)
{
    for (uint32_t i = 0; i < history->others.n; i++)
        if (sl__access_same(sl__access_at(&history->others, i), access)) return true;
    for (uint32_t i = history->others.n; i-- > 0;) {
        const sl__access *other = sl__access_at(&history->others, i);
        bool weaker = access->kind != SL_ACCESS_READ || other->kind == SL_ACCESS_READ;
        if (sl__access_is_there(other) && weaker && comes_before(other, access, seen)
            && !make_past(history, i))
            return false;
    }
    if (!add_other(history, access)) return false;
    for (uint32_t i = 0; i < history->others.n; i++) {
        sl__access *other = sl__access_at(&history->others, i);
        if (sl__access_is_there(other)) other->seen_id = SL__SEEN_NOTHING;
    }
    return true;
}

/* ---- ranges --------------------------------------------------------------------- */

/* The first range that ends behind `byte`. */
static size_t find(const sl__race_memory *memory, size_t byte)
{
    size_t at;
    SL__SEARCH(at, memory->n, memory->ranges[at].end <= byte);
    return at;
}

static bool reserve_ranges(sl__race_memory *memory, size_t more)
{
    return SL__GROW(memory->ranges, memory->room, memory->n + more);
}

/* Takes over range.history; false if that is NULL (out of memory). Room is reserved. */
static bool insert(sl__race_memory *memory, size_t at, sl__range range)
{
    sl__range *place = &memory->ranges[at];
    if (!range.history) return false;
    memmove(place + 1, place, (memory->n - at) * sizeof *place);
    *place = range;
    memory->n++;
    return true;
}

static void erase(sl__race_memory *memory, size_t at, size_t n)
{
    if (n == 0) return; /* there may be no array yet */
    for (size_t i = at; i < at + n; i++)
        free_history(memory->ranges[i].history);
    memmove(&memory->ranges[at], &memory->ranges[at + n],
            (memory->n - at - n) * sizeof memory->ranges[0]);
    memory->n -= n;
}

/* Cuts the range that `byte` is inside of. Room is reserved. */
static bool cut(sl__race_memory *memory, size_t byte)
{
    size_t at = find(memory, byte);
    sl__range *range = &memory->ranges[at];
    if (at == memory->n || range->first >= byte) return true;
    if (!insert(memory, at + 1, (sl__range){ byte, range->end, copy_history(range->history) }))
        return false;
    range->end = byte;
    return true;
}

/* Makes ranges for all of [first, end): *n, from *at on. Room is reserved. */
static bool fill_gaps(sl__race_memory *memory, size_t first, size_t end, size_t *at, size_t *n)
{
    size_t i = *at = find(memory, first);
    while (first < end) {
        size_t next = i < memory->n && memory->ranges[i].first < end ? memory->ranges[i].first
                                                                     : end;
        if (next > first && !insert(memory, i, (sl__range){ first, next, new_history() }))
            return false;
        first = memory->ranges[i].end;
        i++;
    }
    *n = i - *at;
    return true;
}

static size_t count_in(const sl__race_memory *memory, size_t first, size_t end)
{
    size_t n = 0;
    for (size_t i = find(memory, first); i < memory->n && memory->ranges[i].first < end; i++)
        n++;
    return n;
}

static bool same_history(const sl__history *a, const sl__history *b)
{
    return sl__access_same(&a->write, &b->write) && sl__accesses_same(&a->others, &b->others)
           && sl__accesses_same(&a->past, &b->past);
}

/* Joins neighbours with the same history among `n` ranges from `at` on and the one behind them. */
static void join_neighbours(sl__race_memory *memory, size_t at, size_t n)
{
    size_t from = at > 0 ? at - 1 : 0, kept = from;
    size_t end = at + n + 1 < memory->n ? at + n + 1 : memory->n;
    for (size_t i = from + 1; i < end; i++) {
        sl__range *last = &memory->ranges[kept], *range = &memory->ranges[i];
        if (last->end == range->first && same_history(last->history, range->history)) {
            last->end = range->end;
            free_history(range->history);
        } else {
            memory->ranges[++kept] = *range;
        }
    }
    if (kept + 1 == end) return;
    memmove(&memory->ranges[kept + 1], &memory->ranges[end],
            (memory->n - end) * sizeof memory->ranges[0]);
    memory->n -= end - kept - 1;
}

/* ---- compaction -------------------------------------------------------------------- */

static bool is_settled(const sl__access *access, const sl__vector *settled)
{
    return sl__access_is_there(access)
           && (access->slot == SL__HOST_SLOT
               || sl__vector_at(settled, access->slot) >= access->epoch);
}

static void settle(sl__history *history, const sl__vector *settled)
{
    for (uint32_t i = history->others.n; i-- > 0;)
        if (is_settled(sl__access_at(&history->others, i), settled))
            sl__accesses_remove(&history->others, i);
    sl__accesses_drop(&history->past);
    if (is_settled(&history->write, settled)) sl__access_drop(&history->write);
}

void sl__memory_compact(sl__race_memory *memory, const sl__vector *settled)
{
    size_t kept = 0;
    for (size_t i = 0; i < memory->n; i++) {
        sl__history *history = memory->ranges[i].history;
        settle(history, settled);
        if (sl__access_is_there(&history->write) || history->others.n > 0)
            memory->ranges[kept++] = memory->ranges[i];
        else
            free_history(history);
    }
    memory->n = kept;
    if (kept > 0) join_neighbours(memory, 0, kept);
}

static void keep_bounded(sl__race_memory *memory, bool keep, const sl__vector *settled)
{
    if (memory->n < memory->compact_at) return;
    if (!keep) sl__memory_compact(memory, settled);
    if (memory->n >= MOST_RANGES) erase(memory, 0, memory->n);
    memory->compact_at = memory->n * 2 > FIRST_COMPACTION ? memory->n * 2 : FIRST_COMPACTION;
    if (memory->compact_at > MOST_RANGES) memory->compact_at = MOST_RANGES;
}

static bool is_of(const sl__access *access, uint32_t slot, uint64_t epoch)
{
    return sl__access_is_there(access) && access->slot == slot && access->epoch == epoch;
}

static void remove_of(sl__accesses *accesses, uint32_t slot, uint64_t epoch)
{
    for (uint32_t i = accesses->n; i-- > 0;)
        if (is_of(sl__access_at(accesses, i), slot, epoch)) sl__accesses_remove(accesses, i);
}

/* ---- the interface -------------------------------------------------------------------- */

sl__race_memory *sl__memory_new(sl_buffer *buffer)
{
    sl__race_memory *memory = calloc(1, sizeof *memory);
    if (!memory) return NULL;
    memory->buffer = buffer;
    memory->compact_at = FIRST_COMPACTION;
    return memory;
}

void sl__memory_free(sl__race_memory *memory)
{
    erase(memory, 0, memory->n);
    free(memory->ranges);
    free(memory);
}

size_t sl__memory_accesses(const sl__race_memory *memory)
{
    size_t n = 0;
    for (size_t i = 0; i < memory->n; i++) {
        const sl__history *history = memory->ranges[i].history;
        n += sl__accesses_count(&history->others) + sl__accesses_count(&history->past)
             + sl__access_is_there(&history->write);
    }
    return n;
}

void sl__memory_cancel(sl__race_memory *memory, uint32_t slot, uint64_t epoch)
{
    for (size_t at = 0; at < memory->n; at++) {
        sl__history *history = memory->ranges[at].history;
        if (is_of(&history->write, slot, epoch)) sl__access_drop(&history->write);
        remove_of(&history->others, slot, epoch);
        remove_of(&history->past, slot, epoch);
    }
}

static void meet_in(const sl__accesses *accesses, uint8_t kind, sl__meet_fn fn, void *ud)
{
    bool shares = sl__access_shares(kind), reads = kind == SL_ACCESS_READ;
    for (uint32_t i = 0; i < accesses->n && !(reads && accesses->n_writes == 0); i++) {
        const sl__access *other = sl__access_at(accesses, i);
        sl__race_looks++;
        if (sl__access_is_there(other) && !(shares && other->kind == kind)) fn(ud, other);
    }
}

void sl__memory_meet(const sl__race_memory *memory, const sl__access *access, size_t first,
                     size_t end, bool late, sl__meet_fn fn, void *ud)
{
    for (size_t i = find(memory, first); i < memory->n && memory->ranges[i].first < end; i++) {
        const sl__history *history = memory->ranges[i].history;
        if (sl__access_is_there(&history->write)) fn(ud, &history->write);
        if (late) meet_in(&history->past, access->kind, fn, ud);
        meet_in(&history->others, access->kind, fn, ud);
    }
}

/* The usual case: the range is there. */
static sl__history *exact(const sl__race_memory *memory, size_t first, size_t end)
{
    size_t at = find(memory, first);
    const sl__range *range = &memory->ranges[at];
    return at < memory->n && range->first == first && range->end == end ? range->history : NULL;
}

static bool note_in(sl__history *history, const sl__access *access, sl__vector *seen, bool keep)
{
    if (access->by == SL__BY_HOST_FUNC) return note_late(history, access, seen);
    if (access->slot == SL__HOST_SLOT) return add_past(history, access);
    return sl__access_shares(access->kind) ? note_shared(history, access, seen, keep)
                                           : note_write(history, access, keep);
}

bool sl__memory_note(sl__race_memory *memory, const sl__access *access, size_t first, size_t end,
                     sl__vector *seen, bool keep, const sl__vector *settled)
{
    size_t at, n;
    if (first >= end) return true;
    sl__history *history = exact(memory, first, end);
    if (history) return note_in(history, access, seen, keep);
    keep_bounded(memory, keep, settled);
    if (!reserve_ranges(memory, count_in(memory, first, end) + 3) || !cut(memory, first)
        || !cut(memory, end))
        return false;
    if (!keep && !sl__access_shares(access->kind)) { /* it replaces all that was there */
        at = find(memory, first);
        erase(memory, at, count_in(memory, first, end));
        history = new_history();
        if (!insert(memory, at, (sl__range){ first, end, history })) return false;
        sl__access_put(&history->write, access);
        return true;
    }
    if (!fill_gaps(memory, first, end, &at, &n)) return false;
    for (size_t i = at; i < at + n; i++)
        if (!note_in(memory->ranges[i].history, access, seen, keep)) return false;
    join_neighbours(memory, at, n);
    return true;
}
