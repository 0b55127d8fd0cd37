/* strings.c - the text interner: a hash table with linear probing over an
 * array of texts. Ids depend on the order of interning only, never on hashes. */
#include "strings.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_text(const char *text)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
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
        place_id(slots, n_slots, s->hashes[i], i + 1);
    free(s->slots);
    s->slots = slots;
    s->n_slots = n_slots;
    return 1;
}

static int grow_texts(sl__strings *s)
{
    uint32_t cap = s->cap ? s->cap * 2 : 32;
    char **texts = realloc(s->texts, cap * sizeof *texts);
    uint32_t *hashes;

    if (!texts) return 0;
    s->texts = texts;
    hashes = realloc(s->hashes, cap * sizeof *hashes);
    if (!hashes) return 0;
    s->hashes = hashes;
    s->cap = cap;
    return 1;
}

static uint32_t find_text(const sl__strings *s, const char *text, uint32_t hash)
{
    if (!s->n_slots) return 0;
    for (uint32_t at = hash & (s->n_slots - 1); s->slots[at]; at = (at + 1) & (s->n_slots - 1)) {
        uint32_t id = s->slots[at];
        if (s->hashes[id - 1] == hash && !strcmp(s->texts[id - 1], text)) return id;
    }
    return 0;
}

uint32_t sl__strings_find(const sl__strings *s, const char *text)
{
    return *text ? find_text(s, text, hash_text(text)) : 0;
}

uint32_t sl__strings_intern(sl__strings *s, const char *text)
{
    uint32_t hash, id;
    size_t bytes;
    char *copy;

    if (!text || !*text) return 0;
    hash = hash_text(text);
    id = find_text(s, text, hash);
    if (id) return id;
    if (s->n == s->cap && !grow_texts(s)) return 0;
    if ((s->n + 1) * 2 > s->n_slots && !grow_slots(s)) return 0;
    bytes = strlen(text) + 1;
    copy = malloc(bytes);
    if (!copy) return 0;
    memcpy(copy, text, bytes);
    s->texts[s->n] = copy;
    s->hashes[s->n] = hash;
    id = ++s->n;
    place_id(s->slots, s->n_slots, hash, id);
    return id;
}

const char *sl__strings_text(const sl__strings *s, uint32_t id)
{
    return id && id <= s->n ? s->texts[id - 1] : "";
}

void sl__strings_free(sl__strings *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        free(s->texts[i]);
    free(s->texts);
    free(s->hashes);
    free(s->slots);
    memset(s, 0, sizeof *s);
}
