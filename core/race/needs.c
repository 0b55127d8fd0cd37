/* needs.c - the list of what needs what, in the order of the calls: which operations touched the
 * same bytes before, one of the two writing. */
#include <stdlib.h>

#include "state.h"

enum { MOST_NEEDS = 1 << 20 };

static void start_again(sl__needs *needs, bool keep)
{
    free(needs->list);
    *needs = (sl__needs){ .are_kept = keep };
}

void sl__needs_add(sl__needs *needs, const sl__access *later, const sl__access *earlier)
{
    bool by_host = later->by == SL__BY_HOST;
    if (earlier->seq == 0 || (later->seq == 0 && !by_host)) return;
    if (needs->n == MOST_NEEDS || !SL__GROW(needs->list, needs->room, needs->n + 1)) {
        start_again(needs, false);
        return;
    }
    needs->list[needs->n++] = (sl_race_need){ .seq = by_host ? 0 : later->seq,
                                              .host_ns = by_host ? later->host_ns : 0,
                                              .on = earlier->seq };
}

void sl_race_keep_needs(bool keep)
{
    sl__checker *checker = sl__race_make();
    if (checker) start_again(&checker->needs, keep);
}

bool sl_race_keeps_needs(void) { return sl__race && sl__race->needs.are_kept; }

size_t sl_race_need_count(void) { return sl__race ? sl__race->needs.n : 0; }

const sl_race_need *sl_race_need_get(size_t index)
{
    return index < sl_race_need_count() ? &sl__race->needs.list[index] : NULL;
}
