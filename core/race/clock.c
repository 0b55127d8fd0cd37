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

static uint64_t new_id(void)
{
    static uint64_t last;

    return ++last;
}

static bool covers(const sl__vector *vector, const sl__vector *other)
{
    if (!other || other == vector)
        return true;
    for (int i = 0; vector && i < SL__VECTOR_COVERS; i++)
        if (vector->covers[i] == other->id)
            return true;
    return false;
}

static void note_covers(sl__vector *vector, uint64_t id)
{
    memmove(&vector->covers[1], &vector->covers[0], sizeof vector->covers - sizeof id);
    vector->covers[0] = id;
}

/* Whether each says more than the other, of some slot. */
static void compare(const sl__vector *a, const sl__vector *b, bool *a_more, bool *b_more)
{
    uint32_t n = a->n < b->n ? a->n : b->n;
    bool a_above = false, b_above = false;

    for (uint32_t i = 0; i < n; i++) {
        a_above |= a->epoch[i] > b->epoch[i];
        b_above |= b->epoch[i] > a->epoch[i];
    }
    for (uint32_t i = n; i < a->n && !a_above; i++)
        a_above = a->epoch[i] > 0;
    for (uint32_t i = n; i < b->n && !b_above; i++)
        b_above = b->epoch[i] > 0;
    *a_more = a_above;
    *b_more = b_above;
}

/* One with room for n slots that nobody else holds, in place of *vector; to be changed. */
static bool make_own(sl__vector **vector, uint32_t n)
{
    sl__vector *old = *vector, *own;
    uint32_t room = n < 8 ? 8 : n;

    if (old && old->refs == 1 && old->n >= n) {
        old->id = new_id();
        return true;
    }
    if (old && old->n > room)
        room = old->n;
    own = malloc(sizeof *own + room * sizeof own->epoch[0]);
    if (!own)
        return false;
    memset(own, 0, sizeof *own + room * sizeof own->epoch[0]);
    own->refs = 1;
    own->n = room;
    own->id = new_id();
    if (old) {
        memcpy(own->epoch, old->epoch, old->n * sizeof own->epoch[0]);
        memcpy(own->covers, old->covers, sizeof own->covers);
        note_covers(own, old->id);
    }
    sl__vector_release(old);
    *vector = own;
    return true;
}

static bool raise_all(sl__vector **vector, const sl__vector *other)
{
    if (!make_own(vector, other->n))
        return false;
    for (uint32_t i = 0; i < other->n; i++)
        if (other->epoch[i] > (*vector)->epoch[i])
            (*vector)->epoch[i] = other->epoch[i];
    note_covers(*vector, other->id);
    return true;
}

/* *vector says what both say, a copy of one of them only where each says more. */
static bool join_all(sl__vector **vector, sl__vector *other, bool *raised)
{
    bool more = true, other_more = true;

    if (covers(*vector, other))
        return true;
    if (covers(other, *vector))
        more = false;
    else
        compare(*vector, other, &more, &other_more);
    if (!other_more) {
        note_covers(*vector, other->id);
        return true;
    }
    if (more) {
        if (!raise_all(vector, other))
            return false;
    } else {
        sl__vector_retain(other);
        sl__vector_release(*vector);
        *vector = other;
    }
    *raised = true;
    return true;
}

bool sl__vector_join(sl__vector **vector, sl__vector *other, uint32_t slot, uint64_t epoch,
                     bool *raised)
{
    if (!join_all(vector, other, raised))
        return false;
    if (epoch <= sl__vector_at(*vector, slot))
        return true;
    if (!make_own(vector, slot + 1))
        return false;
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
