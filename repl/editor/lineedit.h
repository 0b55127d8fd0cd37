/* lineedit.h - editing a line at a terminal: keys, history, completion, pasted blocks, colours.
 *
 * Texts are in the encoding of the user's locale, and may have several lines: a pasted block is
 * one text, and an entry from the history can be edited as a whole. The terminal is one that
 * obeys xterm's sequences, or a plain one, which gets none: there a line is moved sideways
 * where it is longer than the row.
 *
 *   lineedit.c   reads a line: the keys, and what each does
 *   terminal_keys.c       bytes from the terminal as keys
 *   draft.c      the text that is edited, and its earlier states
 *   display.c    draws it
 *   recall.c     the entries that Up, Down and Ctrl-R reach
 *   history_search.c     Ctrl-R
 *   wide.c       texts in wide characters and back
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

/* What the editor asks about the language that is typed. All are given the context and a text of
 * len bytes: the whole entry up to the end of the line. A cursor behind the end is none. */
typedef struct lineedit_language {
    completion_find *complete; /* the text ends at the cursor */
    /* A letter of lineedit_styles for each byte, to be freed; NULL: no colours. */
    char *(*styles)(void *context, const char *text, size_t len, size_t cursor);
    /* What is shown below the text, which ends at the cursor; to be freed; NULL: nothing. */
    char *(*hint)(void *context, const char *text, size_t len);
    /* By how many blanks the text's last line is to be indented. */
    int (*indent)(void *context, const char *text, size_t len);
} lineedit_language;

/* ' ' plain, 'k' keyword, 's' string, 'n' number, 'c' constant, '-' comment, 'b' bracket that
 * belongs to the one at the cursor, 'e' bracket that belongs to none. */
#define LINEEDIT_STYLES " ksnc-be"

/* An editor on stdin and stdout, which are terminals; NULL without memory. The language stays the
 * caller's. */
lineedit *lineedit_open(const lineedit_language *language, void *context);

/* Shows the prompt, in which colours may be, and waits for a line: *line, which is valid up
 * to the next call. `before` is what of the entry was already typed ("" for none). The terminal is
 * as it was when this returns, and the cursor on a fresh row. */
lineedit_result lineedit_read(lineedit *e, const char *prompt, const char *before,
                              const char **line, size_t *len);

/* Adds an entry to those that the arrows and Ctrl-R reach. */
void lineedit_remember(lineedit *e, const char *entry);

void lineedit_close(lineedit *e);

#endif
