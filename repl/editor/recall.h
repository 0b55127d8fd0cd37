/* recall.h - the entries that Up, Down and Ctrl-R reach. */
#ifndef REPL_RECALL_H
#define REPL_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

typedef struct recall {
    wchar_t **entries; /* oldest first */
    size_t n, room;
    size_t at;       /* the entry that is shown; n: the user's own text */
    wchar_t *own;    /* that text, while an entry is shown */
    size_t n_prefix; /* of its characters entries must have */
} recall;

/* Adds an entry, unless it is the latest already. At most 10,000 are kept. */
void recall_add(recall *r, const char *entry);
void recall_free(recall *r);

/* Back to the user's own text, which is a new one. */
void recall_begin(recall *r);

/* The next older or newer entry that begins as the user's text does up to the cursor, when the
 * search began: `text`, the first `prefix` characters. After the newest comes that text itself.
 * NULL: there is none. */
const wchar_t *recall_older(recall *r, const wchar_t *text, size_t prefix);
const wchar_t *recall_newer(recall *r);

/* The entry with `sought` in it behind `skipped` newer ones; NULL: there is none. */
const wchar_t *recall_find(const recall *r, const wchar_t *sought, int skipped);

#endif
