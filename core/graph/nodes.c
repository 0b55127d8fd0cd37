/* nodes.c - sets of a graph's nodes. Large ones have a table of hashes, so that a join costs what
 * comes in, not what is there. */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 8 };

sl__nodes *sl__nodes_retain(sl__nodes *set)
{
    if (set) set->refs++;
    return set;
}

void sl__nodes_release(sl__nodes *set)
{
    if (!set || --set->refs > 0) return;
    free(set->at);
    free(set->table);
    free(set);
}

/* ---- the table ---- */

static uint32_t places(const sl__nodes *set) { return 2 * set->cap; }

/* The node's place in the table, or the free one for it. */
static uint32_t *place_of(const sl__nodes *set, uint32_t node)
{
    uint32_t last = places(set) - 1, i = node * UINT32_C(2654435769) & last;
    while (set->table[i] && set->at[set->table[i] - 1] != node)
        i = (i + 1) & last;
    return &set->table[i];
}

static bool has(const sl__nodes *set, uint32_t node)
{
    if (set->table) return *place_of(set, node) != 0;
    for (uint32_t i = 0; i < set->n; i++)
        if (set->at[i] == node) return true;
    return false;
}

/* There is room, and it lacks the node. */
static void add(sl__nodes *set, uint32_t node)
{
    set->at[set->n++] = node;
    if (set->table) *place_of(set, node) = set->n;
}

/* ---- room ---- */

static sl__nodes *with_room(uint32_t cap)
{
    sl__nodes *set = calloc(1, sizeof *set);
    if (!set) return NULL;
    set->refs = 1;
    set->cap = cap;
    set->at = malloc(cap * sizeof *set->at);
    if (cap > FEW) set->table = calloc(places(set), sizeof *set->table);
    if (set->at && (cap <= FEW || set->table)) return set;
    sl__nodes_release(set);
    return NULL;
}

static sl__nodes *copy(const sl__nodes *set, uint32_t cap)
{
    sl__nodes *to = with_room(cap);
    for (uint32_t i = 0; to && i < set->n; i++)
        add(to, set->at[i]);
    return to;
}

static bool own(sl__nodes **set, uint64_t n)
{
    uint64_t cap = (*set)->cap;
    while (cap < n)
        cap *= 2;
    if ((*set)->refs == 1 && cap == (*set)->cap) return true;
    sl__nodes *grown = cap < UINT32_MAX / 4 ? copy(*set, (uint32_t)cap) : NULL;
    if (!grown) return false;
    sl__nodes_release(*set);
    *set = grown;
    return true;
}

/* ---- joining ---- */

/* Of `more`, the first that the set lacks; more->n: none. */
static uint32_t first_new(const sl__nodes *set, const sl__nodes *more)
{
    uint32_t i = 0;
    while (i < more->n && has(set, more->at[i]))
        i++;
    return i;
}

bool sl__nodes_reserve(sl__nodes **set, const sl__nodes *more)
{
    if (!*set || !more || *set == more) return true;
    uint32_t i = first_new(*set, more);
    return i == more->n || own(set, (uint64_t)(*set)->n + more->n - i);
}

void sl__nodes_join(sl__nodes **set, sl__nodes *more)
{
    if (!more || *set == more) return;
    if (!*set) {
        *set = sl__nodes_retain(more);
        return;
    }
    for (uint32_t i = first_new(*set, more); i < more->n; i++)
        if (!has(*set, more->at[i])) add(*set, more->at[i]);
}

/* ---- one node ---- */

sl__nodes *sl__nodes_to_become(sl__nodes *set)
{
    bool fits = set && set->refs == 1 && !set->table;
    return fits ? sl__nodes_retain(set) : with_room(1);
}

void sl__nodes_become(sl__nodes *set, uint32_t node)
{
    set->n = 0;
    add(set, node);
}
