/* code_ranges.c - ranges of addresses, sorted by their beginnings. They hardly overlap: functions
 * are within others only where one has several entries. */
#include "code_ranges.h"

#include <stdlib.h>

#include "../base.h"

enum {
    GAP_MOST = 64, /* bytes between functions, to begin at a multiple of some number */
    LOOKED_BACK = 16
};

bool code_ranges_add(code_ranges *ranges, uint64_t from, uint64_t to, uint64_t at)
{
    code_range *latest = ranges->n > 0 ? &ranges->all[ranges->n - 1] : NULL;
    if (from >= to || to - from > UINT32_MAX || at > UINT32_MAX) return true;
    if (latest && latest->at == at && from >= latest->from + latest->bytes
        && from - latest->from - latest->bytes < GAP_MOST && to - latest->from <= UINT32_MAX) {
        latest->bytes = (uint32_t)(to - latest->from);
        return true;
    }
    if (ranges->n >= CODE_RANGES_MOST || !SL__GROW(ranges->all, ranges->cap, ranges->n + 1))
        return false;
    ranges->all[ranges->n++] = (code_range){ from, (uint32_t)(to - from), (uint32_t)at };
    return true;
}

SL__ORDER(by_address, code_range, x->from, x->bytes, x->at);

void code_ranges_sort(code_ranges *ranges)
{
    SL__TRIM(ranges->all, ranges->cap, ranges->n);
    if (ranges->n > 1) qsort(ranges->all, ranges->n, sizeof *ranges->all, by_address);
}

const code_range *code_ranges_find(const code_ranges *ranges, uint64_t address)
{
    size_t at;
    SL__SEARCH(at, ranges->n, ranges->all[at].from <= address);
    for (int left = LOOKED_BACK; at > 0 && left > 0; left--) {
        const code_range *range = &ranges->all[--at];
        if (address - range->from < range->bytes) return range;
    }
    return NULL;
}

void code_ranges_free(code_ranges *ranges)
{
    free(ranges->all);
    *ranges = (code_ranges){ 0 };
}
