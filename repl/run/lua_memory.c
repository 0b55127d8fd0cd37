/* lua_memory.c - the memory of the program's Lua state: malloc's, behind lists of small blocks that
 * are free.
 *
 * A table of options that is written in a call is garbage at once. The collector frees such tables
 * together, more of them than malloc keeps at hand, and malloc then takes longer than the rest of
 * the table's life. Each block is of malloc and of exactly its size, so those from before
 * memory_open are like the others. Under the address sanitizer malloc has to see every block. */
#include "run.h"

#include <stdbool.h>
#include <stdlib.h>

enum { STEP = 8, MOST_BYTES = 128, CLASSES = MOST_BYTES / STEP + 1, MOST_KEPT = 8192 };

typedef struct block {
    struct block *next;
} block;

static struct {
    block *first;
    int n;
} kept[CLASSES]; /* by size in STEPs; together 9 MB at most */

static bool is_kept(size_t bytes) { return bytes <= MOST_BYTES && bytes % STEP == 0; }

static void *take(size_t bytes)
{
    block *found = is_kept(bytes) ? kept[bytes / STEP].first : NULL;
    if (!found) return malloc(bytes);
    kept[bytes / STEP].first = found->next;
    kept[bytes / STEP].n--;
    return found;
}

static void give(block *freed, size_t bytes)
{
    if (!is_kept(bytes) || kept[bytes / STEP].n == MOST_KEPT) {
        free(freed);
        return;
    }
    freed->next = kept[bytes / STEP].first;
    kept[bytes / STEP].first = freed;
    kept[bytes / STEP].n++;
}

static void *allocate(void *ud, void *old, size_t old_bytes, size_t bytes)
{
    (void)ud;
    if (bytes > 0) return old ? realloc(old, bytes) : take(bytes);
    if (old) give(old, old_bytes); /* an empty table has no nodes */
    return NULL;
}

void memory_open(lua_State *L)
{
#ifndef __SANITIZE_ADDRESS__
    lua_setallocf(L, allocate, NULL);
#else
    (void)L, (void)allocate;
#endif
}

void memory_close(void)
{
    for (int i = 0; i < CLASSES; i++)
        while (kept[i].first) {
            block *freed = kept[i].first;
            kept[i].first = freed->next;
            kept[i].n--;
            free(freed);
        }
}
