/* strings.h - texts that are kept once each and known by a number.
 *
 * A device and a timeline keep names and script positions here, so that an operation or a span
 * carries four bytes instead of a string. Ids are given in order of arrival; 0 is always "".
 */
#ifndef SL_STRINGS_H
#define SL_STRINGS_H

#include <stddef.h>
#include <stdint.h>

typedef struct sl__string {
    char *text; /* never moves */
    uint32_t hash;
} sl__string;

typedef struct sl__strings { /* all zero is an empty table */
    sl__string *texts;       /* by id - 1 */
    size_t cap;
    uint32_t n;
    uint32_t *slots;  /* open addressing: ids, 0 is free */
    uint32_t n_slots; /* a power of two, at least 2 * n */
} sl__strings;

/* The id of `text`, which is copied when it is new. 0 for NULL and "", and without memory; then
 * nothing has changed. */
uint32_t sl__strings_intern(sl__strings *strings, const char *text);

/* The id of a text that is there; 0 for "" and for one that is not. */
uint32_t sl__strings_find(const sl__strings *strings, const char *text);

/* How many ids there are, with that of "". */
static inline size_t sl__strings_count(const sl__strings *strings)
{
    return (size_t)strings->n + 1;
}

/* "" for an id that was never given out. Valid until sl__strings_free. */
const char *sl__strings_text(const sl__strings *strings, uint32_t id);
void sl__strings_free(sl__strings *strings);

#endif
