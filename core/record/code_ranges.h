/* code_ranges.h - what the addresses of a program's file belong to: a function, or a part of its
 * line numbers. */
#ifndef CODE_RANGES_H
#define CODE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_RANGES_MOST = 1 << 19 }; /* 8 MiB */

typedef struct code_range {
    uint64_t from;
    uint32_t bytes; /* not 0 */
    uint32_t at;    /* of what it belongs to, in its section */
} code_range;

/* All zero: empty. */
typedef struct code_ranges {
    code_range *all;
    size_t n, cap;
} code_ranges;

/* Adds [from, to) if it is one. One that is hardly behind the latest, of the same thing, is added
 * to that. False: out of memory, or there are too many. */
bool code_ranges_add(code_ranges *ranges, uint64_t from, uint64_t to, uint64_t at);

/* Before they are looked through. */
void code_ranges_sort(code_ranges *ranges);

/* The one that has an address and begins last; NULL: none. */
const code_range *code_ranges_find(const code_ranges *ranges, uint64_t address);

void code_ranges_free(code_ranges *ranges); /* it is empty then */

#endif
