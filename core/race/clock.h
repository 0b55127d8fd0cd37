/* clock.h - what is known to have happened before what: vector clocks.
 *
 * Every stream has a slot and counts its operations there: operation n of slot s is the
 * epoch (s, n). A vector says for each slot up to which epoch everything has happened before
 * something. Vectors are shared and never change while more than one holds them, so that
 * recording an event or noting where an access stands costs a reference, whatever the
 * number of streams. Joining costs one where one of the two is known to cover the other: what
 * the host has seen of a thousand streams, each of them takes over without a look at it.
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

enum { SL__VECTOR_COVERS = 4 };

typedef struct sl__vector {
    int32_t refs;
    uint32_t n;                 /* slots behind it are 0 */
    uint64_t id;                /* another one after each change */
    uint64_t covers[SL__VECTOR_COVERS];     /* ids of some that say no more than it; 0: none */
    uint64_t epoch[];
} sl__vector;

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

static inline uint64_t sl__vector_at(const sl__vector *vector, uint32_t slot)
{
    return vector && slot < vector->n ? vector->epoch[slot] : 0;
}

/* Raises *vector to what `other` says, and slot to `epoch` (none if epoch is 0). False: out
 * of memory, and it says no more than it would. *raised is set when it has changed, and may be when
 * it is another vector that says the same. */
bool sl__vector_join(sl__vector **vector, sl__vector *other, uint32_t slot, uint64_t epoch,
                     bool *raised);
sl__vector *sl__vector_retain(sl__vector *vector);
void sl__vector_release(sl__vector *vector);

sl__seen sl__seen_retain(sl__seen seen);
void sl__seen_release(sl__seen *seen);          /* leaves it empty */

/* Joins a point: with `sure` to both vectors, else to the likely one. */
bool sl__seen_join(sl__seen *seen, const sl__point *point, bool sure, bool *raised);

#endif
