/* kinds.h - which allocations of a script the runner lets fail: some of each kind. */
#ifndef TESTS_OOM_KINDS_H
#define TESTS_OOM_KINDS_H

#include <stdint.h>

/* The call stacks, as hashes, at the allocations of a script. */
typedef struct oom_stacks {
    uint64_t *stack;
    int64_t n;
} oom_stacks;

enum { OOM_LEFT_OUT, OOM_ONE_MORE, OOM_FIRST };

/* Allocations from one call stack are of one kind. Of each kind in the last of the scripts it chooses
 * the 1st, 2nd, 3rd, 4th, 8th, 16th and so on, except those that a script before has: these were
 * tried there. Sets chosen[0..n) of the last one's n, to OOM_FIRST where no script has had the kind
 * before. Gives how many kinds that one has, -1 if memory is out. */
int64_t oom_choose(const oom_stacks *scripts, int n_scripts, uint8_t *chosen);

#endif
