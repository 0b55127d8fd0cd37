/* kinds.c - see kinds.h. */
#include "kinds.h"

#include <stdbool.h>
#include <stdlib.h>

typedef struct entry {
    uint64_t stack;
    int script;
    int64_t at;
} entry;

static int by_stack(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->stack != y->stack) return x->stack < y->stack ? -1 : 1;
    if (x->script != y->script) return x->script - y->script;
    return (x->at > y->at) - (x->at < y->at);
}

static bool is_taken(int64_t nth) { return nth == 3 || (nth & (nth - 1)) == 0; }

static entry *list(const oom_stacks *scripts, int n_scripts, size_t *n)
{
    *n = 0;
    for (int i = 0; i < n_scripts; i++)
        *n += (size_t)scripts[i].n;
    entry *entries = malloc((*n + 1) * sizeof *entries), *next = entries;
    for (int i = 0; i < n_scripts && entries; i++) {
        for (int64_t at = 0; at < scripts[i].n; at++)
            *next++ = (entry){ scripts[i].stack[at], i, at };
    }
    if (entries) qsort(entries, *n, sizeof *entries, by_stack);
    return entries;
}

int64_t oom_choose(const oom_stacks *scripts, int n_scripts, uint8_t *chosen)
{
    size_t n;
    int64_t kinds = 0, nth = 0, tried = 0;
    entry *entries = list(scripts, n_scripts, &n);
    if (!entries) return -1;
    for (size_t i = 0; i < n; i++) {
        bool other_stack = i == 0 || entries[i].stack != entries[i - 1].stack;
        bool other_script = other_stack || entries[i].script != entries[i - 1].script;
        if (other_stack) tried = 0;
        nth = other_script ? 1 : nth + 1;
        if (entries[i].script == n_scripts - 1) {
            kinds += other_script;
            chosen[entries[i].at] = nth <= tried || !is_taken(nth) ? OOM_LEFT_OUT
                                    : nth == 1                     ? OOM_FIRST
                                                                   : OOM_ONE_MORE;
        } else if (nth > tried) {
            tried = nth;
        }
    }
    free(entries);
    return kinds;
}
