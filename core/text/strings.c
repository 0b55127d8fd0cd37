/* strings.c - the text interner: a hash table with linear probing over an
 * array of texts. Ids depend on the order of interning only, never on hashes. */
#include "strings.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"

static uint32_t hash_text(const char *text)
{
    const uint64_t hash = sl__hash(SL__HASH_START, text, strlen(text));
    return (uint32_t)(hash ^ hash >> 32);
}

static void place_id(uint32_t *slots, uint32_t n_slots, uint32_t hash, uint32_t id)
{
    uint32_t at = hash & (n_slots - 1);
    while (slots[at])
        at = (at + 1) & (n_slots - 1);
    slots[at] = id;
}

static int grow_slots(sl__strings *s)
{
    uint32_t n_slots = s->n_slots ? s->n_slots * 2 : 64;
    uint32_t *slots = n_slots ? calloc(n_slots, sizeof *slots) : NULL; /* 0: too many */
    if (!slots) return 0;
    for (uint32_t i = 0; i < s->n; i++)
        place_id(slots, n_slots, s->texts[i].hash, i + 1);
    free(s->slots);
    s->slots = slots;
    s->n_slots = n_slots;
    return 1;
}

static uint32_t find_text(const sl__strings *s, const char *text, uint32_t hash)
{
    if (!s->n_slots) return 0;
    for (uint32_t at = hash & (s->n_slots - 1); s->slots[at]; at = (at + 1) & (s->n_slots - 1)) {
        uint32_t id = s->slots[at];
        if (s->texts[id - 1].hash == hash && !strcmp(s->texts[id - 1].text, text)) return id;
    }
    return 0;
}

uint32_t sl__strings_find(const sl__strings *s, const char *text)
{
    return *text ? find_text(s, text, hash_text(text)) : 0;
}

uint32_t sl__strings_intern(sl__strings *s, const char *text)
{
    if (!text || !*text) return 0;
    uint32_t hash = hash_text(text);
    uint32_t id = find_text(s, text, hash);
    if (id) return id;
    if (!SL__GROW(s->texts, s->cap, (size_t)s->n + 1)) return 0;
    if ((s->n + 1) * 2 > s->n_slots && !grow_slots(s)) return 0;
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    if (!copy) return 0;
    memcpy(copy, text, bytes);
    s->texts[s->n] = (sl__string){ copy, hash };
    id = ++s->n;
    place_id(s->slots, s->n_slots, hash, id);
    return id;
}

const char *sl__strings_text(const sl__strings *s, uint32_t id)
{
    return id && id <= s->n ? s->texts[id - 1].text : "";
}

void sl__strings_free(sl__strings *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        free(s->texts[i].text);
    free(s->texts);
    free(s->slots);
    memset(s, 0, sizeof *s);
}
