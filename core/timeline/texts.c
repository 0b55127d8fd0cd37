/* texts.c - interned texts: a hash table whose order is never visible, since ids are given
 * in order of arrival. */
#include "texts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash_text(const char *text)
{
    uint32_t hash = 2166136261u;        /* FNV-1a */
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        hash = (hash ^ *at) * 16777619u;
    return hash;
}

/* The slot that holds `text`, or the free one where it belongs. */
static size_t find_slot(const sl__texts *texts, const char *text, uint32_t hash)
{
    size_t mask = texts->n_slots - 1;
    for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
        uint32_t id = texts->slots[slot];
        if (id == 0 || (texts->hashes[id] == hash && strcmp(texts->at[id], text) == 0))
            return slot;
    }
}

/* Keeps the table at most half full. */
static sl_status grow_slots(sl__texts *texts, sl_error *err)
{
    if (texts->n_slots > 2 * (texts->n + 1))
        return SL_OK;
    size_t n_slots = texts->n_slots ? texts->n_slots * 2 : 64;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return sl_fail(err, SL_ENOMEM, "no memory for %zu texts of a timeline", n_slots / 2);
    for (size_t id = 1; id < texts->n; id++) {
        size_t slot = texts->hashes[id] & (n_slots - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (n_slots - 1);
        slots[slot] = (uint32_t)id;
    }
    free(texts->slots);
    texts->slots = slots;
    texts->n_slots = n_slots;
    return SL_OK;
}

static sl_status reserve(sl__texts *texts, sl_error *err)
{
    if (texts->n >= UINT32_MAX)
        return sl_fail(err, SL_ENOMEM, "a timeline holds at most %" PRIu32 " texts", UINT32_MAX);
    if (texts->n < texts->cap)
        return SL_OK;
    size_t cap = texts->cap ? texts->cap * 2 : 16;
    char **at = realloc(texts->at, cap * sizeof *at);
    if (at)
        texts->at = at;
    uint32_t *hashes = at ? realloc(texts->hashes, cap * sizeof *hashes) : NULL;
    if (!hashes)
        return sl_fail(err, SL_ENOMEM, "no memory for %zu texts of a timeline", cap);
    texts->hashes = hashes;
    texts->cap = cap;
    return SL_OK;
}

sl_status sl__texts_open(sl__texts *texts, sl_error *err)
{
    *texts = (sl__texts){ .n = 1 };
    sl_status status = reserve(texts, err);
    return status == SL_OK ? grow_slots(texts, err) : status;
}

void sl__texts_free(sl__texts *texts)
{
    for (size_t id = 1; id < texts->n; id++)
        free(texts->at[id]);
    free(texts->at);
    free(texts->hashes);
    free(texts->slots);
    *texts = (sl__texts){ 0 };
}

uint32_t sl__texts_find(const sl__texts *texts, const char *text)
{
    return *text ? texts->slots[find_slot(texts, text, hash_text(text))] : 0;
}

sl_status sl__texts_add(sl__texts *texts, const char *text, uint32_t *id, sl_error *err)
{
    size_t size = strlen(text) + 1;
    sl_status status = reserve(texts, err);
    if (status != SL_OK || (status = grow_slots(texts, err)) != SL_OK)
        return status;
    char *copy = malloc(size);
    if (!copy)
        return sl_fail(err, SL_ENOMEM, "no memory for a text of %zu bytes", size);
    memcpy(copy, text, size);
    texts->at[texts->n] = copy;
    texts->hashes[texts->n] = hash_text(text);
    texts->slots[find_slot(texts, text, texts->hashes[texts->n])] = (uint32_t)texts->n;
    *id = (uint32_t)texts->n++;
    return SL_OK;
}
