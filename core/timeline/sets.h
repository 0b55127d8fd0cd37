/* sets.h - how long exactly the members of each set were busy. */
#ifndef SL_TIMELINE_SETS_H
#define SL_TIMELINE_SETS_H

#include "../streamlab.h"
#include "keys.h"

enum { SL__SET_MEMBERS = 64 }; /* a set is a word of bits */

typedef struct sl__sets { /* all zero: no time, and nothing is busy */
    sl__keys sets;
    int64_t *ns; /* by number of the set */
    size_t cap;
    size_t most;  /* sets; 0: as many as there are */
    uint64_t now; /* the set that is busy, */
    int64_t since_ns;
    sl_status lost; /* SL_EUNSUPPORTED: there were too many members or sets; SL_ENOMEM */
} sl__sets;

/* From `at_ns` on, no earlier than the last time, the member is busy, or no longer. */
void sl__sets_turn(sl__sets *sets, size_t member, int64_t at_ns);
/* The time in which members of each of the n masks were busy. */
int64_t sl__sets_common_ns(const sl__sets *sets, const uint64_t *masks, size_t n);
void sl__sets_free(sl__sets *sets);

#endif
