/* table.h - finds things by a key, in steps that do not grow with their number. A thing has an
 * entry as its first member, so that adding it takes no memory but the table's own. */
#ifndef SL_TABLE_H
#define SL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sl__entry {
    struct sl__entry *next;
    uint64_t key;
} sl__entry;

/* All zero: empty. */
typedef struct sl__table {
    sl__entry **at; /* `room` chains, a power of two */
    size_t room, n;
} sl__table;

/* A key of several values. Others may have the same one: compare what is found. */
uint64_t sl__table_key(const void *what, uint64_t a, uint64_t b);

/* The latest entry with that key, and the next one of its key; NULL: none. */
sl__entry *sl__table_find(const sl__table *table, uint64_t key);
sl__entry *sl__table_next(const sl__entry *entry);

bool sl__table_add(sl__table *table, sl__entry *entry, uint64_t key); /* false: out of memory */
void sl__table_remove(sl__table *table, sl__entry *entry);            /* one that is there */
void sl__table_free(sl__table *table); /* what it has itself, not the entries; it is empty then */
/* The same, and gives each entry to `let_go`, which may free it. */
void sl__table_clear(sl__table *table, void (*let_go)(sl__entry *entry, void *ud), void *ud);

#endif
