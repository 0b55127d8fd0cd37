/* completion.h - what could stand for the word before the cursor.
 *
 * Lua finds it (repl/console/completion/complete.lua); here it is copied out of Lua's reach, so that
 * whoever edits a line need not know Lua.
 */
#ifndef REPL_COMPLETION_H
#define REPL_COMPLETION_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct completion {
    size_t first;       /* the byte of the text, from 0, at which the word begins */
    char **words;       /* sorted, each once */
    int n_words;
} completion;

/* Asks Lua about the text before the cursor. False: there is nothing, and nothing is to be
 * freed. Never raises, and leaves the stack as it was. */
bool completion_find(lua_State *L, const char *text, size_t len, completion *c);

/* How many bytes all words have in common at their start; whole characters. */
size_t completion_common(const completion *c);

/* The words in columns that fit the width, in at most `rows` rows; a last row says how many
 * are left out. To be freed; NULL without memory. */
char *completion_columns(const completion *c, int width, int rows);

void completion_free(completion *c);

#endif
