/* clock.h - what is known to have happened before what: vector clocks.
 *
 * Every stream has a slot and counts its operations there: operation n of slot s is the
 * epoch (s, n). A vector holds for each slot the epoch up to which its operations come before
 * something. It is a tree, with the epochs of neighbouring slots in its leaves. Trees share equal
 * nodes, and a node never changes while more than one tree holds it. So recording an
 * event or keeping what came before an access costs a reference, and changing or joining vectors
 * costs time for the nodes in which they differ: idle streams cost nothing, whatever their number.
 *
 * There are always two vectors: `sure` has the order that CUDA guarantees, `likely` also the order
 * that today's implementation happens to give (cudaFree waits for the device). They are mostly the
 * same vector.
 *
 * The host has slot 0. It comes before all that it enqueues later, so its own epoch, the
 * number of operations enqueued so far, is not in vectors.
 */
#ifndef SL_RACE_CLOCK_H
#define SL_RACE_CLOCK_H

#include "../backend.h"

enum { SL__HOST_SLOT = 0 };

enum { SL__VECTOR_BITS = 5, SL__VECTOR_WIDTH = 1 << SL__VECTOR_BITS, SL__VECTOR_COVERS = 4 };

/* A node of a tree; those of a vector's upper levels are vectors as well. */
typedef struct sl__vector {
    int32_t refs;
    uint32_t level;                     /* 0: a leaf */
    uint64_t id;                        /* changes with each change of the vector */
    uint64_t covers[SL__VECTOR_COVERS]; /* ids of vectors that are nowhere larger; 0: none */
    union {
        uint64_t epoch[SL__VECTOR_WIDTH];           /* of a leaf */
        struct sl__vector *child[SL__VECTOR_WIDTH]; /* one level lower; NULL: all 0 */
    };
} sl__vector;

/* Counts the nodes, slots and accesses that the checker has looked at, for tests of its cost. */
extern uint64_t sl__race_looks;

/* What has happened before something. NULL vectors are all zero. */
typedef struct sl__seen {
    sl__vector *sure, *likely;
} sl__seen;

/* One epoch and all that comes before it: of a record of an event, a host function or an access.
 * `host_epoch` is the epoch of the host when it was enqueued. */
typedef struct sl__point {
    uint32_t slot;
    uint64_t epoch, host_epoch;
    sl__seen seen;
} sl__point;

/* The index of the child with the slot, at this level. In the root it may be behind the last child:
 * those slots are 0. */
static inline uint32_t sl__vector_index(uint32_t slot, uint32_t level)
{
    return slot >> level * SL__VECTOR_BITS;
}

static inline uint64_t sl__vector_at(const sl__vector *vector, uint32_t slot)
{
    if (!vector || sl__vector_index(slot, vector->level) >= SL__VECTOR_WIDTH) return 0;
    while (vector && vector->level > 0)
        vector = vector->child[sl__vector_index(slot, vector->level) % SL__VECTOR_WIDTH];
    return vector ? vector->epoch[slot % SL__VECTOR_WIDTH] : 0;
}

/* Raises *vector to the maximum of itself and `other`, and `slot` to `epoch` (not if epoch is 0).
 * False: out of memory; it may have been raised in part. *raised is set if it has changed, and may
 * be set if it was replaced by an equal vector. */
bool sl__vector_join(sl__vector **vector, sl__vector *other, uint32_t slot, uint64_t epoch,
                     bool *raised);
/* Calls fn for each slot whose epoch is larger in `after` than in `before`. */
typedef void (*sl__vector_fn)(void *ud, uint32_t slot, uint64_t epoch);
void sl__vector_each_raised(const sl__vector *before, const sl__vector *after, sl__vector_fn fn,
                            void *ud);
sl__vector *sl__vector_retain(sl__vector *vector);
void sl__vector_release(sl__vector *vector);

sl__seen sl__seen_retain(sl__seen seen);
void sl__seen_release(sl__seen *seen); /* leaves it empty */

/* Joins a point: with `sure` to both vectors, else to the likely one. */
bool sl__seen_join(sl__seen *seen, const sl__point *point, bool sure, bool *raised);

#endif
