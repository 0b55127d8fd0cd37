/* completion.h - lists of words that could complete the one before the cursor.
 *
 * Whoever opens the reader finds them (reader.h).
 */
#ifndef REPL_COMPLETION_H
#define REPL_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>

typedef struct completion {
    size_t first; /* the byte of the text, from 0, at which the word begins */
    char **words; /* sorted, each once */
    int n_words;
} completion;

/* Finds the words for the end of `text`, which is what stands before the cursor. False: there
 * are none, and nothing is to be freed. */
typedef bool completion_find(void *context, const char *text, size_t len, completion *c);

/* Sorts the words by their bytes and frees those that come twice. */
void completion_sort(completion *c);

/* How many bytes all words have in common at their start; whole characters. */
size_t completion_common(const completion *c);

/* The words in columns that fit the width, in at most `rows` rows; a last row says how many
 * are left out. To be freed; NULL without memory. */
char *completion_columns(const completion *c, int width, int rows);

void completion_free(completion *c);

#endif
