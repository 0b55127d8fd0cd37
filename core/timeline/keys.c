/* keys.c - a hash table from keys to their numbers. */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"

static const uint64_t *key_at(const sl__keys *keys, size_t number)
{
    return keys->at + number * (1 + keys->more);
}

static bool is_same(const sl__keys *keys, const uint64_t *a, const uint64_t *b)
{
    bool same = a[0] == b[0];
    for (size_t i = 1; same && i <= keys->more; i++)
        same = a[i] == b[i];
    return same;
}

static uint64_t hash_of(const sl__keys *keys, const uint64_t *key)
{
    uint64_t hash = key[0] * 0x9e3779b97f4a7c15;
    for (size_t i = 1; i <= keys->more; i++)
        hash = (hash ^ hash >> 32 ^ key[i]) * 0x9e3779b97f4a7c15;
    return hash >> 32;
}

static size_t slot_of(const sl__keys *keys, const uint64_t *key)
{
    const size_t mask = keys->n_slots - 1;
    size_t slot = (size_t)hash_of(keys, key) & mask;
    while (keys->slots[slot] && !is_same(keys, key_at(keys, keys->slots[slot] - 1), key))
        slot = (slot + 1) & mask;
    return slot;
}

bool sl__keys_find(const sl__keys *keys, const uint64_t *key, size_t *number)
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
        keys->slots[slot_of(keys, key_at(keys, i))] = (uint32_t)i + 1;
    return true;
}

bool sl__keys_number(sl__keys *keys, const uint64_t *key, size_t *number)
{
    const size_t bytes = (1 + keys->more) * sizeof *key;
    if (sl__keys_find(keys, key, number)) return true;
    if (keys->n == keys->cap && !sl__grow(&keys->at, &keys->cap, keys->n + 1, bytes, false))
        return false;
    if (2 * (keys->n + 1) > keys->n_slots && !widen(keys)) return false;
    keys->slots[slot_of(keys, key)] = (uint32_t)keys->n + 1;
    memcpy(keys->at + keys->n * (1 + keys->more), key, bytes);
    *number = keys->n++;
    return true;
}

void sl__keys_trim(sl__keys *keys)
{
    sl__trim(&keys->at, &keys->cap, keys->n, (1 + keys->more) * sizeof *keys->at);
    free(keys->slots);
    keys->slots = NULL;
    keys->n_slots = 0;
}

void sl__keys_clear(sl__keys *keys)
{
    keys->n = 0;
    if (keys->slots) memset(keys->slots, 0, keys->n_slots * sizeof *keys->slots);
}

void sl__keys_free(sl__keys *keys)
{
    free(keys->at);
    free(keys->slots);
    *keys = (sl__keys){ 0 };
}
