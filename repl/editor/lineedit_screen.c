/* lineedit_screen.c - the prompt, and where on the screen things are drawn.
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* wcwidth */
#endif
#include "lineedit_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

enum { ESCAPE = 27 };

/* ---- the prompt --------------------------------------------------------------- */

/* The end of the escape sequence that begins at p. */
static const wchar_t *skip_escape(const wchar_t *p)
{
    p++;
    if (*p == L'[') {
        for (p++; *p && (*p < 0x40 || *p > 0x7e); p++)
            continue;
    }
    return *p ? p + 1 : p;
}

/* Marks the escape sequences of `text`, which take no room on the screen. libedit attaches a
 * marked piece to the character that follows: so neighbours become one piece, and what
 * stands at the end moves in front of the last character. */
wchar_t *lineedit__mark_colours(const wchar_t *text)
{
    size_t len = wcslen(text), n = 0, last = 0;
    wchar_t *out = malloc((3 * len + 3) * sizeof *out);
    while (out && *text) {
        if (*text == LINEEDIT_LITERAL) {
            text++;
        } else if (*text != ESCAPE) {
            last = n;
            out[n++] = *text++;
        } else {
            size_t start = n;
            out[n++] = LINEEDIT_LITERAL;
            while (*text == ESCAPE) {
                for (const wchar_t *end = skip_escape(text); text < end; text++)
                    out[n++] = *text;
            }
            out[n++] = LINEEDIT_LITERAL;
            if (!*text && start > 0) {
                wchar_t character = out[last];
                wmemmove(out + last, out + last + 1, n - last - 1);
                out[n - 1] = character;
            }
        }
    }
    if (out) out[n] = L'\0';
    return out;
}

/* ---- where the cursor is ------------------------------------------------------- */

/* A number of the terminal's: "co" or "li". */
static int ask(const lineedit *e, const char *what, int otherwise)
{
    int n = 0;
    return el_get(e->el, EL_GETTC, what, &n) == 0 && n > 0 ? n : otherwise;
}

int lineedit__columns(const lineedit *e) { return ask(e, "co", 80); }

int lineedit__rows(const lineedit *e) { return ask(e, "li", 24); }

/* Moves the column on by a character; returns how many rows down that goes. */
static int advance(int *column, wchar_t c, int columns)
{
    int rows = 0;
    int width = c == L'\t' ? 8 - *column % 8 : c < L' ' || c == 127 ? 2 : wcwidth(c);
    if (c == L'\n') {
        *column = 0;
        return 1;
    }
    *column += width > 0 ? width : 0;
    if (*column >= columns) {
        *column -= columns;
        rows = 1;
    }
    return rows;
}

/* The row, from the prompt's first, in which the text's end is. */
static int row_of(const lineedit *e, const wchar_t *text, const wchar_t *end)
{
    int row = 0, column = 0, columns = lineedit__columns(e);
    bool literal = false;
    for (const wchar_t *p = e->prompt ? e->prompt : L""; *p; p++) {
        if (*p == LINEEDIT_LITERAL)
            literal = !literal;
        else if (!literal)
            row += advance(&column, *p, columns);
    }
    for (; text < end; text++)
        row += advance(&column, *text, columns);
    return row;
}

int lineedit__cursor_row(const lineedit *e)
{
    const LineInfoW *l = el_wline(e->el);
    return row_of(e, l->buffer, l->cursor);
}

void lineedit__erase(const lineedit *e, int up)
{
    if (e->ansi && up > 0) printf("\033[%dA", up);
    fputs(e->ansi ? "\r\033[J" : "\n", stdout);
}

void lineedit__go_below(const lineedit *e)
{
    const LineInfoW *l = el_wline(e->el);
    int down = row_of(e, l->buffer, l->lastchar) - row_of(e, l->buffer, l->cursor);
    for (int i = 0; i <= down; i++)
        fputc('\n', stdout);
}
