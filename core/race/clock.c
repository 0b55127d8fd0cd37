/* clock.c - vector clocks, shared until somebody has to change one. */
#include "clock.h"

#include <stdlib.h>
#include <string.h>

sl__vector *sl__vector_retain(sl__vector *vector)
{
    if (vector)
        vector->refs++;
    return vector;
}

void sl__vector_release(sl__vector *vector)
{
    if (vector && --vector->refs == 0)
        free(vector);
}

/* Whether joining would change anything. */
static bool adds(const sl__vector *vector, const sl__vector *other, uint32_t slot, uint64_t epoch)
{
    if (epoch > sl__vector_at(vector, slot))
        return true;
    if (!other || other == vector)
        return false;
    for (uint32_t i = 0; i < other->n; i++)
        if (other->epoch[i] > sl__vector_at(vector, i))
            return true;
    return false;
}

/* One with room for n slots that nobody else holds, in place of *vector. */
static bool make_own(sl__vector **vector, uint32_t n)
{
    sl__vector *old = *vector, *own;
    uint32_t room = n < 8 ? 8 : n;

    if (old && old->refs == 1 && old->n >= n)
        return true;
    if (old && old->n > room)
        room = old->n;
    own = malloc(sizeof *own + room * sizeof own->epoch[0]);
    if (!own)
        return false;
    own->refs = 1;
    own->n = room;
    memset(own->epoch, 0, room * sizeof own->epoch[0]);
    if (old)
        memcpy(own->epoch, old->epoch, old->n * sizeof own->epoch[0]);
    sl__vector_release(old);
    *vector = own;
    return true;
}

bool sl__vector_join(sl__vector **vector, const sl__vector *other, uint32_t slot, uint64_t epoch,
                     bool *raised)
{
    uint32_t n = epoch ? slot + 1 : 0;

    if (!adds(*vector, other, slot, epoch))
        return true;
    if (other && other->n > n)
        n = other->n;
    if (!make_own(vector, n))
        return false;
    for (uint32_t i = 0; other && i < other->n; i++)
        if (other->epoch[i] > (*vector)->epoch[i])
            (*vector)->epoch[i] = other->epoch[i];
    if (epoch > sl__vector_at(*vector, slot))
        (*vector)->epoch[slot] = epoch;
    *raised = true;
    return true;
}

sl__seen sl__seen_retain(sl__seen seen)
{
    sl__vector_retain(seen.sure);
    sl__vector_retain(seen.likely);
    return seen;
}

void sl__seen_release(sl__seen *seen)
{
    sl__vector_release(seen->sure);
    sl__vector_release(seen->likely);
    seen->sure = seen->likely = NULL;
}

bool sl__seen_join(sl__seen *seen, const sl__point *point, bool sure, bool *raised)
{
    bool same = seen->sure == seen->likely && point->seen.sure == point->seen.likely;

    if (!sure)
        return sl__vector_join(&seen->likely, point->seen.likely, point->slot, point->epoch,
                               raised);
    if (same) {                 /* one vector for both, and it stays one */
        sl__vector_release(seen->likely);
        seen->likely = NULL;
    }
    bool joined = sl__vector_join(&seen->sure, point->seen.sure, point->slot, point->epoch,
                                  raised);
    if (same)
        seen->likely = sl__vector_retain(seen->sure);
    else if (joined)
        joined = sl__vector_join(&seen->likely, point->seen.likely, point->slot, point->epoch,
                                 raised);
    return joined;
}
