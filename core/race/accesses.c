/* accesses.c - accesses: one of them, and lists in order of age. */
#include "accesses.h"

#include <stdlib.h>
#include <string.h>

/* ---- one ---------------------------------------------------------------------------- */

static void retain_access(const sl__access *access)
{
    if (access->standing) access->standing->refs++;
    if (access->launch) access->launch->refs++;
}

void sl__standing_release(sl__standing *standing)
{
    if (standing && --standing->refs == 0) {
        sl__seen_release(&standing->point.seen);
        free(standing);
    }
}

void sl__race_launch_release(sl__race_launch *launch)
{
    if (launch && --launch->refs == 0) free(launch);
}

void sl__access_drop(sl__access *access)
{
    if (!sl__access_is_there(access)) return;
    sl__standing_release(access->standing);
    sl__race_launch_release(access->launch);
    memset(access, 0, sizeof *access);
}

void sl__access_put(sl__access *place, const sl__access *access)
{
    *place = *access;
    if (sl__access_is_there(place)) retain_access(place);
}

/* The epoch alone is not enough: the host, and a host function, make several in one. */
bool sl__access_same(const sl__access *a, const sl__access *b)
{
    return a->epoch == b->epoch && a->slot == b->slot && a->kind == b->kind && a->by == b->by
           && a->where == b->where;
}

/* ---- which are there, by their slots ------------------------------------------------- */

enum { SMALL = 64 }; /* a ring that is searched from end to end */

static uint32_t places(const sl__accesses *accesses) { return 4 * accesses->room; }

static uint32_t first_place(const sl__accesses *accesses, uint32_t slot)
{
    return slot * UINT32_C(2654435769) & (places(accesses) - 1);
}

static void put_into_table(sl__accesses *accesses, uint32_t at)
{
    uint32_t place = first_place(accesses, accesses->list[at].slot);
    while (accesses->table[place])
        place = (place + 1) & (places(accesses) - 1);
    accesses->table[place] = at + 1;
    accesses->in_table++;
}

static void fill_table(sl__accesses *accesses)
{
    memset(accesses->table, 0, places(accesses) * sizeof *accesses->table);
    accesses->in_table = 0;
    for (uint32_t i = 0; i < accesses->n; i++)
        if (sl__access_is_there(sl__access_at(accesses, i)))
            put_into_table(accesses, (accesses->first + i) & (accesses->room - 1));
}

static bool is_sought(const sl__access *access, uint32_t slot, uint8_t kind)
{
    sl__race_looks++;
    return sl__access_is_there(access) && access->slot == slot && access->kind == kind
           && access->by != SL__BY_HOST_FUNC;
}

uint32_t sl__accesses_find(const sl__accesses *accesses, uint32_t slot, uint8_t kind)
{
    uint32_t i = 0, place;
    if (!accesses->table) {
        while (i < accesses->n && !is_sought(sl__access_at(accesses, i), slot, kind))
            i++;
        return i;
    }
    place = first_place(accesses, slot);
    for (; accesses->table[place]; place = (place + 1) & (places(accesses) - 1)) {
        uint32_t at = accesses->table[place] - 1;
        if (is_sought(&accesses->list[at], slot, kind))
            return (at - accesses->first) & (accesses->room - 1);
    }
    return accesses->n;
}

/* ---- accesses in order of age ----------------------------------------------------- */

/* Moves all to the front of an empty ring. */
static void move_all(const sl__accesses *from, sl__access *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < from->n; i++)
        if (sl__access_is_there(sl__access_at(from, i))) list[n++] = *sl__access_at(from, i);
}

static bool grow(sl__accesses *accesses)
{
    uint32_t room = accesses->room ? 2 * accesses->room : 2;
    sl__access *grown = calloc(room, sizeof *grown);
    uint32_t *table = room > SMALL ? malloc(4 * (size_t)room * sizeof *table) : NULL;
    if (!grown || (room > SMALL && !table)) {
        free(grown);
        free(table);
        return false;
    }
    move_all(accesses, grown);
    free(accesses->list);
    free(accesses->table);
    accesses->list = grown;
    accesses->table = table;
    accesses->room = room;
    accesses->n -= accesses->holes;
    accesses->first = accesses->holes = 0;
    if (table) fill_table(accesses);
    return true;
}

static void squeeze(sl__accesses *accesses)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < accesses->n; i++) {
        sl__access *access = sl__access_at(accesses, i);
        if (!sl__access_is_there(access)) continue;
        if (i != kept) {
            *sl__access_at(accesses, kept) = *access;
            memset(access, 0, sizeof *access);
        }
        kept++;
    }
    accesses->n = kept;
    accesses->holes = 0;
    if (accesses->table) fill_table(accesses);
}

bool sl__accesses_reserve(sl__accesses *accesses)
{
    if (accesses->holes > accesses->n / 2) squeeze(accesses);
    return accesses->n < accesses->room || grow(accesses);
}

static void count(sl__accesses *accesses, const sl__access *access, uint32_t by)
{
    accesses->n_writes += access->kind != SL_ACCESS_READ ? by : 0;
    accesses->n_late += access->by == SL__BY_HOST_FUNC ? by : 0;
}

void sl__accesses_append(sl__accesses *accesses, const sl__access *access)
{
    uint32_t at = (accesses->first + accesses->n++) & (accesses->room - 1);
    sl__access_put(&accesses->list[at], access);
    count(accesses, access, 1);
    if (!accesses->table) return;
    if (accesses->in_table < 2 * accesses->room)
        put_into_table(accesses, at);
    else
        fill_table(accesses);
}

static bool is_hole(const sl__accesses *accesses, uint32_t i)
{
    return !sl__access_is_there(sl__access_at(accesses, i));
}

void sl__accesses_remove(sl__accesses *accesses, uint32_t i)
{
    count(accesses, sl__access_at(accesses, i), UINT32_MAX); /* one less */
    sl__access_drop(sl__access_at(accesses, i));
    accesses->holes++;
    for (; accesses->n > 0 && is_hole(accesses, accesses->n - 1); accesses->n--)
        accesses->holes--;
    for (; accesses->n > 0 && is_hole(accesses, 0); accesses->n--, accesses->holes--)
        accesses->first = (accesses->first + 1) & (accesses->room - 1);
}

void sl__accesses_drop(sl__accesses *accesses)
{
    for (uint32_t i = 0; i < accesses->n; i++)
        sl__access_drop(sl__access_at(accesses, i));
    accesses->n = accesses->n_writes = accesses->n_late = accesses->holes = 0;
}

void sl__accesses_free(sl__accesses *accesses)
{
    sl__accesses_drop(accesses);
    free(accesses->list);
    free(accesses->table);
    memset(accesses, 0, sizeof *accesses);
}

bool sl__accesses_copy(sl__accesses *to, const sl__accesses *from)
{
    for (uint32_t i = 0; i < from->n; i++) {
        if (is_hole(from, i)) continue;
        if (!sl__accesses_reserve(to)) return false;
        sl__accesses_append(to, sl__access_at(from, i));
    }
    return true;
}

/* The next index from i on that is no hole; n: there is none. */
static uint32_t next_there(const sl__accesses *accesses, uint32_t i)
{
    while (i < accesses->n && is_hole(accesses, i))
        i++;
    return i;
}

bool sl__accesses_same(const sl__accesses *a, const sl__accesses *b)
{
    uint32_t i = next_there(a, 0), k = next_there(b, 0);
    bool same = sl__accesses_count(a) == sl__accesses_count(b);
    while (same && i < a->n) {
        same = sl__access_same(sl__access_at(a, i), sl__access_at(b, k));
        i = next_there(a, i + 1);
        k = next_there(b, k + 1);
    }
    return same;
}
