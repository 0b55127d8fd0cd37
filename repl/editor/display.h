/* display.h - draws a prompt and the text behind it, as often as it changes. */
#ifndef REPL_DISPLAY_H
#define REPL_DISPLAY_H

#include <stdbool.h>

#include "draft.h"

typedef struct display {
    bool ansi;        /* the terminal obeys ESC[... */
    int cursor_row;   /* rows from the first one that is drawn to the cursor */
    int columns_then; /* the terminal's, when it was drawn */
} display;

typedef struct display_content {
    const wchar_t *prompt; /* colours may be in it */
    const draft *text;
    const char *styles; /* a letter for each byte of the text; NULL: no colours */
    const char *hint;   /* below the text; NULL: nothing */
    bool final;         /* the whole text, also of more rows than there are, the cursor behind it */
} display_content;

int display_columns(void);
int display_rows(void);

/* Draws over what was drawn before. */
void display_draw(display *d, const display_content *content);

/* Draws for the last time, and goes to a fresh row below. */
void display_end(display *d, const display_content *content);

/* The terminal has another width: what was drawn is erased. */
void display_resized(display *d, const display_content *content);

#endif
