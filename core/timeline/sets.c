/* sets.c - exact times of sets, by a walk over the times at which they change. */
#include "sets.h"

#include <stdlib.h>

#include "../base.h"

static sl_status add(sl__sets *sets, int64_t ns)
{
    const size_t n = sets->sets.n;
    size_t number;
    if (!sl__keys_find(&sets->sets, &sets->now, &number)) {
        if (sets->most && n == sets->most) return SL_EUNSUPPORTED;
        if (!SL__GROW(sets->ns, sets->cap, n + 1)
            || !sl__keys_number(&sets->sets, &sets->now, &number))
            return SL_ENOMEM;
        sets->ns[number] = 0;
    }
    sets->ns[number] += ns;
    return SL_OK;
}

void sl__sets_turn(sl__sets *sets, size_t member, int64_t at_ns)
{
    if (member >= SL__SET_MEMBERS && sets->lost == SL_OK) sets->lost = SL_EUNSUPPORTED;
    if (sets->lost != SL_OK) return;
    if (at_ns > sets->since_ns && sets->now) sets->lost = add(sets, at_ns - sets->since_ns);
    sets->since_ns = at_ns;
    sets->now ^= UINT64_C(1) << member;
}

int64_t sl__sets_common_ns(const sl__sets *sets, const uint64_t *masks, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < sets->sets.n; i++) {
        size_t hit = 0;
        while (hit < n && sets->sets.at[i] & masks[hit])
            hit++;
        if (hit == n) sum += sets->ns[i];
    }
    return sum;
}

void sl__sets_free(sl__sets *sets)
{
    sl__keys_free(&sets->sets);
    free(sets->ns);
}
