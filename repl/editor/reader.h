/* reader.h - where the console's lines come from.
 *
 * repl/editor/ reads lines: editing at a terminal, history, completion, and plain lines where
 * there is no terminal. It knows no Lua: what the lines mean only repl/console/ knows, which also
 * finds the words for completion.
 *
 * At a terminal they are edited, with a history, if stdout is a terminal too; otherwise they are
 * read plainly: with a prompt, on stderr if need be, where
 * stdin is a terminal, and without where it is none. Ctrl-C drops the line in all cases.
 */
#ifndef REPL_READER_H
#define REPL_READER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "history.h"
#include "lineedit.h"

typedef enum reader_result { READER_LINE, READER_DROPPED /* Ctrl-C */, READER_END } reader_result;

typedef struct reader {
    bool terminal;    /* stdin is one */
    FILE *prompts;    /* where they go: stdout or stderr */
    lineedit *editor; /* NULL: lines are read plainly */
    history_file history;
    struct sigaction interrupt_before; /* what Ctrl-C did before the console */
    char *plain;                       /* the line that was read so, and how large its memory is */
    size_t room;
} reader;

/* Says on stderr what is wrong with the history file. */
void reader_open(reader *r, const lineedit_language *language, void *context);

/* The next line: *line, without its newline, is valid up to the next call. `before` is what
 * was read of the entry before it. */
reader_result reader_read(reader *r, const char *prompt, const char *before, const char **line,
                          size_t *len);

/* Keeps an entry for the arrows and for later sessions. */
void reader_remember(reader *r, const char *entry);

void reader_close(reader *r);

#endif
