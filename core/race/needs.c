/* needs.c - the list of what needs what, in the order of the calls. */
#include "needs.h"

#include <stdlib.h>

#include "../backend.h"

enum { MOST_NEEDS = 1 << 20 };

bool sl__needs_kept;

static struct { sl_race_need *list; size_t n, room; } needs;

static bool reserve(void)
{
    size_t room = needs.room ? 2 * needs.room : 256;
    sl_race_need *grown;

    if (needs.n < needs.room)
        return true;
    grown = room <= MOST_NEEDS ? realloc(needs.list, room * sizeof *grown) : NULL;
    if (!grown)
        return false;
    needs.list = grown;
    needs.room = room;
    return true;
}

void sl__needs_add(const sl__access *later, const sl__access *earlier)
{
    bool by_host = later->by == SL__BY_HOST;

    if (earlier->seq == 0 || (later->seq == 0 && !by_host))
        return;
    if (!reserve()) {
        sl_race_keep_needs(false);
        return;
    }
    needs.list[needs.n++] = (sl_race_need){ .seq = by_host ? 0 : later->seq,
                                            .host_ns = by_host ? later->host_ns : 0,
                                            .on = earlier->seq };
}

void sl_race_keep_needs(bool keep)
{
    free(needs.list);
    needs.list = NULL;
    needs.n = needs.room = 0;
    sl__needs_kept = keep;
}

bool sl_race_keeps_needs(void)
{
    return sl__needs_kept;
}

size_t sl_race_need_count(void)
{
    return needs.n;
}

const sl_race_need *sl_race_need_get(size_t index)
{
    return index < needs.n ? &needs.list[index] : NULL;
}
