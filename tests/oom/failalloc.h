/* failalloc.h - what the failing allocator and its runner share: a page of
 * memory, mapped from the file that FAIL_ALLOC_REPORT names.
 */
#ifndef TESTS_FAILALLOC_H
#define TESTS_FAILALLOC_H

#include <stdint.h>

typedef struct fail_report {
    int64_t fail_at;     /* in: which allocation fails, from 1; 0: none */
    int64_t fail_count;  /* in: and how many from there on */
    int64_t allocations; /* out: how many were asked for */
    int64_t failed;      /* out: how many of them failed */
    int64_t live;        /* out: blocks not freed yet */
} fail_report;

#endif
