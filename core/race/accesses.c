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

void sl__launch_release(sl__launch *launch)
{
    if (launch && --launch->refs == 0) free(launch);
}

void sl__access_drop(sl__access *access)
{
    if (!sl__access_is_there(access)) return;
    sl__standing_release(access->standing);
    sl__launch_release(access->launch);
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

/* ---- accesses in order of age ----------------------------------------------------- */

bool sl__accesses_reserve(sl__accesses *accesses, uint32_t n)
{
    uint32_t room = accesses->room ? accesses->room : 2;
    sl__access *grown;

    if (n <= accesses->room) return true;
    while (room < n)
        room *= 2;
    grown = malloc(room * sizeof *grown);
    if (!grown) return false;
    for (uint32_t i = 0; i < accesses->n; i++)
        grown[i] = *sl__access_at(accesses, i);
    free(accesses->list);
    accesses->list = grown;
    accesses->first = 0;
    accesses->room = room;
    return true;
}

void sl__accesses_append(sl__accesses *accesses, const sl__access *access)
{
    sl__access_put(sl__access_at(accesses, accesses->n++), access);
    accesses->n_writes += access->kind != SL_ACCESS_READ;
}

/* Moves those before it or those behind it, whichever are fewer. */
void sl__accesses_remove(sl__accesses *accesses, uint32_t i)
{
    accesses->n_writes -= sl__access_at(accesses, i)->kind != SL_ACCESS_READ;
    sl__access_drop(sl__access_at(accesses, i));
    accesses->n--;
    if (i > accesses->n / 2) {
        for (; i < accesses->n; i++)
            *sl__access_at(accesses, i) = *sl__access_at(accesses, i + 1);
        return;
    }
    for (; i > 0; i--)
        *sl__access_at(accesses, i) = *sl__access_at(accesses, i - 1);
    accesses->first = (accesses->first + 1) & (accesses->room - 1);
}

void sl__accesses_drop(sl__accesses *accesses)
{
    for (uint32_t i = 0; i < accesses->n; i++)
        sl__access_drop(sl__access_at(accesses, i));
    accesses->n = accesses->n_writes = 0;
}

void sl__accesses_free(sl__accesses *accesses)
{
    sl__accesses_drop(accesses);
    free(accesses->list);
    memset(accesses, 0, sizeof *accesses);
}

bool sl__accesses_copy(sl__accesses *to, const sl__accesses *from)
{
    if (from->n > 0 && !sl__accesses_reserve(to, from->n)) return false;
    for (uint32_t i = 0; i < from->n; i++)
        sl__accesses_append(to, sl__access_at(from, i));
    return true;
}

bool sl__accesses_same(const sl__accesses *a, const sl__accesses *b)
{
    bool same = a->n == b->n;

    for (uint32_t i = 0; i < a->n && same; i++)
        same = sl__access_same(sl__access_at(a, i), sl__access_at(b, i));
    return same;
}
