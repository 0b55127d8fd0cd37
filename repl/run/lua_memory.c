/* lua_memory.c - the memory of the program's Lua states: small blocks from one piece, behind
 * lists of those that are free.
 *
 * A start makes thousands of small blocks and frees them at its end; malloc and free were a fifth
 * of its instructions. So the first ones are taken off one piece of memory, one behind the other.
 *
 * A table of options that is written in a call is garbage at once. The collector frees such tables
 * together, more of them than malloc keeps at hand, and malloc then takes longer than the rest of
 * the table's life. So what is freed is kept in a list for the next block of that size.
 *
 * A list of size N has blocks of at least N bytes: those of the piece are rounded up, and those of
 * malloc, which come once the piece is used up or were there before the allocator, are kept if they
 * have exactly N. Under the address sanitizer malloc has to see every block. */
#include "run.h"

#include <lauxlib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP = 8,
    MOST_BYTES = 128,
    CLASSES = MOST_BYTES / STEP + 1,
    MOST_KEPT = 8192,
    PIECE_BYTES = 1 << 20 /* twice what a start has; what is not used is not in memory */
};

typedef struct block {
    struct block *next;
} block;

static struct {
    block *first;
    int n;       /* of malloc's */
} kept[CLASSES]; /* by size in STEPs; of malloc together 9 MB at most */

static struct {
    char *at;
    size_t used;
} piece;

static bool is_of_piece(const void *p)
{
    return (uintptr_t)p - (uintptr_t)piece.at < PIECE_BYTES && piece.at;
}

static size_t class_of(size_t bytes) { return (bytes + STEP - 1) / STEP; }

static void *take(size_t bytes)
{
    if (bytes > MOST_BYTES) return malloc(bytes);
    const size_t class = class_of(bytes);
    block *found = kept[class].first;
    if (found) {
        kept[class].first = found->next;
        kept[class].n -= !is_of_piece(found);
        return found;
    }
    if (!piece.at || PIECE_BYTES - piece.used < class * STEP) return malloc(bytes);
    char *next = piece.at + piece.used;
    piece.used += class * STEP;
    return next;
}

static void give(block *freed, size_t bytes)
{
    const size_t class = class_of(bytes);
    if (!is_of_piece(freed)) {
        if (bytes > MOST_BYTES || bytes % STEP != 0 || kept[class].n == MOST_KEPT) {
            free(freed);
            return;
        }
        kept[class].n++;
    }
    freed->next = kept[class].first;
    kept[class].first = freed;
}

static void *change(void *old, size_t old_bytes, size_t bytes)
{
    if (!is_of_piece(old)) return realloc(old, bytes);
    if (class_of(bytes) == class_of(old_bytes)) return old;
    void *changed = take(bytes);
    if (!changed) return NULL;
    memcpy(changed, old, old_bytes < bytes ? old_bytes : bytes);
    give(old, old_bytes);
    return changed;
}

static void *allocate(void *ud, void *old, size_t old_bytes, size_t bytes)
{
    (void)ud;
    if (bytes > 0) return old ? change(old, old_bytes, bytes) : take(bytes);
    if (old) give(old, old_bytes); /* an empty table has no nodes */
    return NULL;
}

lua_State *memory_new_state(void)
{
    lua_State *L = luaL_newstate();
#ifndef __SANITIZE_ADDRESS__
    if (!piece.at) piece.at = malloc(PIECE_BYTES);
    if (L) lua_setallocf(L, allocate, NULL);
#else
    (void)allocate;
#endif
    return L;
}

void memory_close(void)
{
    for (int i = 0; i < CLASSES; i++)
        while (kept[i].first) {
            block *freed = kept[i].first;
            kept[i].first = freed->next;
            if (!is_of_piece(freed)) free(freed);
        }
    free(piece.at);
}
