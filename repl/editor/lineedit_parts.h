/* lineedit_parts.h - what the files of the editor share: lineedit.c opens libedit and reads
 * lines, lineedit_keys.c has the functions of keys, lineedit_search.c Ctrl-R, lineedit_screen.c
 * computes screen positions, lineedit_text.c converts texts.
 */
#ifndef REPL_LINEEDIT_PARTS_H
#define REPL_LINEEDIT_PARTS_H

#include <histedit.h>
#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include "lineedit.h"

struct lineedit {
    EditLine *el;
    HistoryW *history;
    locale_t locale; /* that of the terminal, while a line is read */
    bool ansi;       /* the terminal obeys ESC[... */
    completion_find *complete;
    void *context;
    wchar_t *prompt;        /* as lineedit__mark_colours has it; may be NULL */
    const char *before;     /* what of the entry stands in front of the line */
    char *line;             /* what lineedit_read gave */
    lineedit_result result; /* what ended the line; noted by the one who reads keys */
};

/* The text in wide characters, to be freed; bytes that are no character become "?". */
wchar_t *lineedit__widen(const char *text);
/* The other way; `extra` bytes are free in front of it, and counted in *len. */
char *lineedit__narrow(const wchar_t *wide, size_t n, size_t extra, size_t *len);

/* The editor whose library it is. */
lineedit *lineedit__of(EditLine *el);

/* What Ctrl-R does (lineedit_search.c). */
unsigned char lineedit__search(EditLine *el, int key);

/* Adds the functions and binds the keys. */
void lineedit__bind_keys(EditLine *el);

/* In a prompt, text between two of these takes no room on the screen. */
enum { LINEEDIT_LITERAL = 1 };

/* The prompt, to be freed, with its escape sequences marked. */
wchar_t *lineedit__mark_colours(const wchar_t *text);

int lineedit__columns(const lineedit *e);
int lineedit__rows(const lineedit *e);
/* The row of the screen, counted from the prompt's first, in which the cursor is. */
int lineedit__cursor_row(const lineedit *e);
/* Erases what is drawn from `up` rows above the cursor on; a terminal that cannot goes to a fresh
 * row. */
void lineedit__erase(const lineedit *e, int up);
/* Goes to a fresh row below all that is drawn of the line. */
void lineedit__go_below(const lineedit *e);

#endif
