/* recall.c - the entries that Up, Down and Ctrl-R reach.
 */
#include "recall.h"

#include <stdlib.h>
#include <string.h>

#include "../run/growing.h"
#include "wide.h"

enum { MOST_ENTRIES = 10000 };

void recall_add(recall *r, const char *entry)
{
    wchar_t *wide = wide_of(entry);
    bool known = wide && r->n > 0 && wcscmp(r->entries[r->n - 1], wide) == 0;
    if (!wide || known || !GROW(r->entries, r->room, r->n + 1)) {
        free(wide);
        return;
    }
    if (r->n == MOST_ENTRIES) {
        free(r->entries[0]);
        memmove(r->entries, r->entries + 1, --r->n * sizeof *r->entries);
    }
    r->entries[r->n++] = wide;
}

void recall_free(recall *r)
{
    while (r->n > 0)
        free(r->entries[--r->n]);
    free(r->entries);
    free(r->own);
}

void recall_begin(recall *r)
{
    free(r->own);
    r->own = NULL;
    r->at = r->n;
}

static bool begins(const recall *r, const wchar_t *entry)
{
    return r->own && wcsncmp(entry, r->own, r->n_prefix) == 0 && wcscmp(entry, r->own) != 0;
}

const wchar_t *recall_older(recall *r, const wchar_t *text, size_t prefix)
{
    if (r->at == r->n) {
        free(r->own);
        r->own = wcsdup(text);
        r->n_prefix = prefix;
    }
    for (size_t i = r->at; i-- > 0;)
        if (begins(r, r->entries[i])) return r->entries[r->at = i];
    return NULL;
}

const wchar_t *recall_newer(recall *r)
{
    if (r->at == r->n) return NULL;
    for (size_t i = r->at + 1; i < r->n; i++)
        if (begins(r, r->entries[i])) return r->entries[r->at = i];
    r->at = r->n;
    return r->own;
}

const wchar_t *recall_find(const recall *r, const wchar_t *sought, int skipped)
{
    for (size_t i = r->n; i-- > 0;)
        if (wcsstr(r->entries[i], sought) && skipped-- == 0) return r->entries[i];
    return NULL;
}
