/* strings.h - texts interned once, known by a dense id from then on.
 *
 * A device keeps stream names, script positions and span names here, so that an
 * operation carries four bytes instead of a string. Id 0 is always "".
 */
#ifndef SL_STRINGS_H
#define SL_STRINGS_H

#include <stddef.h>
#include <stdint.h>

typedef struct sl__strings {    /* all zero is an empty table */
    char **texts;               /* by id - 1; a text never moves */
    uint32_t *hashes;           /* by id - 1 */
    uint32_t n, cap;
    uint32_t *slots;            /* open addressing: ids, 0 is free */
    uint32_t n_slots;           /* a power of two, at least 2 * n */
} sl__strings;

/* The id of `text`, which is copied when it is new. NULL and "" are 0; so is
 * the answer when memory is out, which loses the text and nothing else. */
uint32_t sl__strings_intern(sl__strings *strings, const char *text);

/* "" for an id that was never given out. Valid until sl__strings_free. */
const char *sl__strings_text(const sl__strings *strings, uint32_t id);
void sl__strings_free(sl__strings *strings);

#endif
