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
    PIECE_BYTES = 1 << 18 /* a start takes half of it */
};

typedef struct block {
    struct block *next;
} block;

static struct {
    block *first;
    int n;
} kept[CLASSES]; /* by size in STEPs; together 9 MB at most, and the piece */

static struct {
    char *at;
    size_t used;
} piece;

static bool is_of_piece(const void *p)
{
    return (uintptr_t)p - (uintptr_t)piece.at < PIECE_BYTES && piece.at;
}

static size_t class_of(size_t bytes) { return (bytes + STEP - 1) / STEP; }

/* Off the piece, as long as there is room. */
static __attribute__((noinline)) void *take_new(size_t bytes)
{
    const size_t rounded = class_of(bytes) * STEP;
    if (bytes > MOST_BYTES || !piece.at || PIECE_BYTES - piece.used < rounded) return malloc(bytes);
    char *next = piece.at + piece.used;
    piece.used += rounded;
    return next;
}

static void *take(size_t bytes)
{
    block *found = bytes <= MOST_BYTES ? kept[class_of(bytes)].first : NULL;
    if (!found) return take_new(bytes);
    kept[class_of(bytes)].first = found->next;
    kept[class_of(bytes)].n--;
    return found;
}

/* False: it is given back to malloc. Blocks of the piece cannot be. */
static bool can_keep(const block *freed, size_t bytes)
{
    if (bytes > MOST_BYTES) return false;
    return (bytes % STEP == 0 && kept[class_of(bytes)].n < MOST_KEPT) || is_of_piece(freed);
}

static void give(block *freed, size_t bytes)
{
    if (!can_keep(freed, bytes)) {
        free(freed);
        return;
    }
    freed->next = kept[class_of(bytes)].first;
    kept[class_of(bytes)].first = freed;
    kept[class_of(bytes)].n++;
}

static __attribute__((noinline)) void *change(void *old, size_t old_bytes, size_t bytes)
{
    if (!is_of_piece(old)) return realloc(old, bytes);
    if (class_of(bytes) == class_of(old_bytes)) return old;
    void *changed = take(bytes);
    if (!changed) return bytes <= old_bytes ? old : NULL; /* to make it smaller must not fail */
    memcpy(changed, old, old_bytes < bytes ? old_bytes : bytes);
    give(old, old_bytes);
    return changed;
}

static void *allocate(void *ud, void *old, size_t old_bytes, size_t bytes)
{
    (void)ud;
    if (!old) return bytes > 0 ? take(bytes) : NULL; /* an empty table has no nodes */
    if (bytes > 0) return change(old, old_bytes, bytes);
    give(old, old_bytes);
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
