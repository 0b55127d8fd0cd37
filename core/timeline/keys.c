/* keys.c - a hash table from keys to their numbers. */
#include "keys.h"

#include <stdlib.h>

#include "store.h"

static size_t slot_of(const sl__keys *keys, uint64_t key)
{
    const size_t mask = keys->n_slots - 1;
    size_t slot = (size_t)((key * 0x9e3779b97f4a7c15) >> 32) & mask;
    while (keys->slots[slot] && keys->at[keys->slots[slot] - 1] != key)
        slot = (slot + 1) & mask;
    return slot;
}

bool sl__keys_find(const sl__keys *keys, uint64_t key, size_t *number)
{
    if (keys->n == 0) return false;
    const uint32_t found = keys->slots[slot_of(keys, key)];
    *number = (size_t)found - 1;
    return found != 0;
}

static bool widen(sl__keys *keys)
{
    const size_t n_slots = keys->n_slots ? 2 * keys->n_slots : 64;
    uint32_t *slots = keys->n < UINT32_MAX / 2 ? calloc(n_slots, sizeof *slots) : NULL;
    if (!slots) return false;
    free(keys->slots);
    keys->slots = slots;
    keys->n_slots = n_slots;
    for (size_t i = 0; i < keys->n; i++)
        keys->slots[slot_of(keys, keys->at[i])] = (uint32_t)i + 1;
    return true;
}

bool sl__keys_number(sl__keys *keys, uint64_t key, size_t *number)
{
    void *at = keys->at;
    if (sl__keys_find(keys, key, number)) return true;
    if (!sl__reserve(&at, keys->n, &keys->cap, sizeof *keys->at)) return false;
    keys->at = at;
    if (2 * (keys->n + 1) > keys->n_slots && !widen(keys)) return false;
    keys->slots[slot_of(keys, key)] = (uint32_t)keys->n + 1;
    keys->at[keys->n] = key;
    *number = keys->n++;
    return true;
}

void sl__keys_free(sl__keys *keys)
{
    free(keys->at);
    free(keys->slots);
    *keys = (sl__keys){ 0 };
}
