/* history_search.h - Ctrl-R: the newest entry with what is typed in it, and older ones. */
#ifndef REPL_HISTORY_SEARCH_H
#define REPL_HISTORY_SEARCH_H

#include <stdbool.h>
#include <wchar.h>

#include "recall.h"

enum { SEARCH_MOST = 200, SEARCH_PROMPT = SEARCH_MOST + 40 };

typedef struct search {
    const recall *entries;
    wchar_t sought[SEARCH_MOST + 1];
    size_t n;
    int skipped;                   /* of the entries that fit, the newer ones that were passed */
    wchar_t prompt[SEARCH_PROMPT]; /* what is searched for, in words */
} search;

void search_begin(search *s, const recall *entries);

/* What a key does. False: the search is over, and the key is to be obeyed. */
bool search_obey(search *s, wint_t key);

/* The entry that is found, or NULL. */
const wchar_t *search_found(const search *s);

#endif
