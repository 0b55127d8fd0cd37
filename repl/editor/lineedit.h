/* lineedit.h - editing a line at a terminal: keys, history, completion, pasted blocks.
 *
 * Only lineedit*.c knows libedit; lineedit_none.c takes their place in a build without. Texts are
 * in the encoding of the user's locale, and may have several lines: a pasted block is one text,
 * and an entry from the history can be edited as a whole.
 */
#ifndef REPL_LINEEDIT_H
#define REPL_LINEEDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "completion.h"

typedef struct lineedit lineedit;

typedef enum lineedit_result {
    LINEEDIT_LINE,
    LINEEDIT_END /* Ctrl-D */,
    LINEEDIT_INTERRUPTED /* Ctrl-C */
} lineedit_result;

/* An editor on stdin and stdout, which are terminals; NULL if there is none in this build, or
 * no memory. *notice becomes a sentence for the user, which is to be freed, or NULL. */
lineedit *lineedit_open(completion_find *complete, void *context, char **notice);

/* Shows the prompt, in which colours may be, and waits for a line: *line, which is valid up
 * to the next call. `before` is what of the entry was already typed ("" for none), for
 * completion. The terminal is as it was when this returns, and the cursor on a fresh row. */
lineedit_result lineedit_read(lineedit *e, const char *prompt, const char *before,
                              const char **line, size_t *len);

/* Adds an entry to those that the arrows and Ctrl-R reach. */
void lineedit_remember(lineedit *e, const char *entry);

void lineedit_close(lineedit *e);

#endif
