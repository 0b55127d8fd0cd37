/* failalloc.h - what the failing allocator and its runner share: memory mapped from the file that
 * FAIL_ALLOC_REPORT names.
 */
#ifndef TESTS_FAILALLOC_H
#define TESTS_FAILALLOC_H

#include <stdint.h>

enum { FAIL_STACKS = 1 << 19 };

typedef struct fail_report {
    int64_t fail_at;      /* in: which allocation fails, from 1; 0: none */
    int64_t fail_count;   /* in: and how many from there on */
    int64_t takes_stacks; /* in: whether the array below is filled in */
    int64_t allocations;  /* out: how many were asked for */
    int64_t failed;       /* out: how many of them failed */
    int64_t live;         /* out: blocks not freed yet */
    /* Out: a hash of the program's call stack at each of the first FAIL_STACKS allocations. 0: none
     * of its functions was on it. */
    uint64_t stack[];
} fail_report;

#define FAIL_REPORT_BYTES (sizeof(fail_report) + FAIL_STACKS * sizeof(uint64_t))

#endif
