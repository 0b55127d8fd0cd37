/* table.c - a table of chains, which doubles when it has as many entries as chains. */
#include "table.h"

#include <stdlib.h>

/* The last step of SplitMix64 (Vigna, 2015): each bit of the result depends on all of x. */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t sl__table_key(const void *what, uint64_t a, uint64_t b)
{
    return mixed(mixed(mixed((uintptr_t)what) + a) + b);
}

static sl__entry **chain(const sl__table *table, uint64_t key)
{
    return &table->at[key & (table->room - 1)];
}

static sl__entry *with_key(sl__entry *entry, uint64_t key)
{
    while (entry && entry->key != key)
        entry = entry->next;
    return entry;
}

sl__entry *sl__table_find(const sl__table *table, uint64_t key)
{
    return table->n > 0 ? with_key(*chain(table, key), key) : NULL;
}

sl__entry *sl__table_next(const sl__entry *entry) { return with_key(entry->next, entry->key); }

static void link_entry(sl__table *table, sl__entry *entry)
{
    sl__entry **first = chain(table, entry->key);
    entry->next = *first;
    *first = entry;
}

/* The later entries of a chain go over first, which puts them last: it is turned round before. */
static sl__entry *turned(sl__entry *entry)
{
    sl__entry *before = NULL;
    while (entry) {
        sl__entry *next = entry->next;
        entry->next = before;
        before = entry;
        entry = next;
    }
    return before;
}

static bool grow(sl__table *table)
{
    sl__table grown = { .room = table->room ? 2 * table->room : 16, .n = table->n };
    grown.at = calloc(grown.room, sizeof(sl__entry *));
    if (!grown.at) return false;
    for (size_t i = 0; i < table->room; i++)
        for (sl__entry *entry = turned(table->at[i]), *next; entry; entry = next) {
            next = entry->next;
            link_entry(&grown, entry);
        }
    free(table->at);
    *table = grown;
    return true;
}

bool sl__table_add(sl__table *table, sl__entry *entry, uint64_t key)
{
    if (table->n == table->room && !grow(table)) return false;
    entry->key = key;
    link_entry(table, entry);
    table->n++;
    return true;
}

void sl__table_remove(sl__table *table, sl__entry *entry)
{
    sl__entry **link = chain(table, entry->key);
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    table->n--;
}

void sl__table_free(sl__table *table)
{
    free(table->at);
    *table = (sl__table){ 0 };
}

void sl__table_clear(sl__table *table, void (*let_go)(sl__entry *entry, void *ud), void *ud)
{
    for (size_t i = 0; i < table->room; i++)
        for (sl__entry *entry = table->at[i], *next; entry; entry = next) {
            next = entry->next;
            let_go(entry, ud);
        }
    sl__table_free(table);
}
