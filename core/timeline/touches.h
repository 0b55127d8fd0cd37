/* touches.h - the memory that spans and calls touch, in a few bytes for each of them.
 *
 * Loops touch the same memory again and again: an operation whose operands are those of a recent
 * one is kept as the slot of that one in a table, others in full. The table is not kept: reading
 * makes it once more.
 */
#ifndef SL_TIMELINE_TOUCHES_H
#define SL_TIMELINE_TOUCHES_H

#include "timeline.h"

typedef struct sl__touches { /* all zero: none */
    uint8_t *bytes;
    size_t n_bytes, cap;
    size_t n;                  /* notes */
    uint64_t correlation;      /* of the last ones, */
    uint64_t memory;           /* and theirs */
    struct sl__recent *recent; /* while they are added */
} sl__touches;

/* No more will be added. */
void sl__touches_trim(sl__touches *touches);
void sl__touches_free(sl__touches *touches);

#endif
