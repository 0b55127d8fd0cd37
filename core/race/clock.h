/* clock.h - what is known to have happened before what: vector clocks.
 *
 * Every stream has a slot and counts its operations there: operation n of slot s is the
 * epoch (s, n). A vector says for each slot up to which epoch everything has happened before
 * something. A vector is a tree, with the epochs of neighbouring slots in its leaves. Trees share
 * what they have in common, and a node never changes while more than one holds it. So recording an
 * event or noting where an access stands costs a reference, and changing or joining vectors
 * costs what they differ in: streams that are idle cost nothing, whatever their number.
 *
 * Everywhere there are two of them: `sure` has what CUDA guarantees, `likely` also what
 * merely happens (cudaFree waits for the device). They are mostly the same vector.
 *
 * The host has slot 0. It comes before all that it enqueues later, so its own epoch, the
 * number of operations enqueued so far, needs no place in vectors.
 */
#ifndef SL_RACE_CLOCK_H
#define SL_RACE_CLOCK_H

#include "../backend.h"

enum { SL__HOST_SLOT = 0 };

enum { SL__VECTOR_BITS = 5, SL__VECTOR_WIDTH = 1 << SL__VECTOR_BITS, SL__VECTOR_COVERS = 4 };

/* A node of a tree; those of a vector's upper levels are vectors as well. */
typedef struct sl__vector {
    int32_t refs;
    uint32_t level;             /* 0: a leaf */
    uint64_t id;                /* another one after each change */
    uint64_t covers[SL__VECTOR_COVERS];     /* ids of some that say no more than it; 0: none */
    union {
        uint64_t epoch[SL__VECTOR_WIDTH];               /* of a leaf */
        struct sl__vector *child[SL__VECTOR_WIDTH];     /* one level lower; NULL: all 0 */
    };
} sl__vector;

/* How much the checker has done, for tests: nodes of vectors, slots and accesses that it has looked
 * at. */
extern uint64_t sl__race_looks;

/* What has happened before something. NULL vectors are all zero. */
typedef struct sl__seen {
    sl__vector *sure, *likely;
} sl__seen;

/* One epoch and all that it has seen: a record of an event, a host function, the place of
 * an access. `host_epoch` is the host's when it was enqueued. */
typedef struct sl__point {
    uint32_t slot;
    uint64_t epoch, host_epoch;
    sl__seen seen;
} sl__point;

/* Which child has the slot, at this level of a tree; in the root, all behind the last are 0. */
static inline uint32_t sl__vector_index(uint32_t slot, uint32_t level)
{
    return slot >> level * SL__VECTOR_BITS;
}

static inline uint64_t sl__vector_at(const sl__vector *vector, uint32_t slot)
{
    if (!vector || sl__vector_index(slot, vector->level) >= SL__VECTOR_WIDTH)
        return 0;
    while (vector && vector->level > 0)
        vector = vector->child[sl__vector_index(slot, vector->level) % SL__VECTOR_WIDTH];
    return vector ? vector->epoch[slot % SL__VECTOR_WIDTH] : 0;
}

/* Raises *vector to what `other` says, and slot to `epoch` (none if epoch is 0). False: out
 * of memory, and it says no more than it would. *raised is set when it has changed, and may be when
 * it is another vector that says the same. */
bool sl__vector_join(sl__vector **vector, sl__vector *other, uint32_t slot, uint64_t epoch,
                     bool *raised);
/* Calls fn for each slot of which `after` says more than `before`. */
typedef void (*sl__vector_fn)(void *ud, uint32_t slot, uint64_t epoch);
void sl__vector_each_raised(const sl__vector *before, const sl__vector *after, sl__vector_fn fn,
                            void *ud);
sl__vector *sl__vector_retain(sl__vector *vector);
void sl__vector_release(sl__vector *vector);

sl__seen sl__seen_retain(sl__seen seen);
void sl__seen_release(sl__seen *seen);          /* leaves it empty */

/* Joins a point: with `sure` to both vectors, else to the likely one. */
bool sl__seen_join(sl__seen *seen, const sl__point *point, bool sure, bool *raised);

#endif
