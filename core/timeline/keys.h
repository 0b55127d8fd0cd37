/* keys.h - numbers for keys, from 0 on in the order in which the keys come. */
#ifndef SL_TIMELINE_KEYS_H
#define SL_TIMELINE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sl__keys { /* all zero: none */
    uint64_t *at;         /* by number; a key has `more` of these behind its first */
    size_t n, cap, more;
    uint32_t *slots; /* open addressing: number + 1, 0 is free */
    size_t n_slots;  /* a power of 2, at least 2 * n */
} sl__keys;

/* A key is 1 + more numbers. False: it has none. */
bool sl__keys_find(const sl__keys *keys, const uint64_t *key, size_t *number);
/* Gives it one if it has none. False: no memory; nothing changed. */
bool sl__keys_number(sl__keys *keys, const uint64_t *key, size_t *number);
/* No more keys will come, and none is looked for. */
void sl__keys_trim(sl__keys *keys);
void sl__keys_clear(sl__keys *keys); /* keeps the room */
void sl__keys_free(sl__keys *keys);

#endif
