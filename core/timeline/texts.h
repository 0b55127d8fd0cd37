/* texts.h - texts that are kept once each, by number. */
#ifndef SL_TIMELINE_TEXTS_H
#define SL_TIMELINE_TEXTS_H

#include "timeline.h"

typedef struct sl__texts {
    char **at;              /* by id; [0] is never used, it means "" */
    uint32_t *hashes;       /* by id, so that growing needs no rehash of the bytes */
    size_t n, cap;
    uint32_t *slots;        /* open addressing, a power of two; 0 is free */
    size_t n_slots;
} sl__texts;

/* With id 0 for "". SL_ENOMEM: there is something to free. */
sl_status sl__texts_open(sl__texts *texts, sl_error *err);
void sl__texts_free(sl__texts *texts);
/* The id of a text, 0 if it is "" or not there. */
uint32_t sl__texts_find(const sl__texts *texts, const char *text);
/* Adds one that is not there. Nothing changes on failure. SL_ENOMEM. */
sl_status sl__texts_add(sl__texts *texts, const char *text, uint32_t *id, sl_error *err);

#endif
