/* display.c - draws a prompt and the text behind it.
 *
 * All rows are drawn again at each change, in one write: over a text with colours, which the next
 * key may change anywhere, nothing less is simple. An entry of more rows than the terminal has is
 * drawn in part.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* struct winsize */
#endif
#include "display.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lineedit.h"
#include "wide.h"

enum { ESCAPE = 27 };

static bool ask_size(struct winsize *size)
{
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, size) == 0 && size->ws_col > 1 && size->ws_row > 0;
}

int display_columns(void)
{
    struct winsize size;
    return ask_size(&size) ? size.ws_col : 80;
}

int display_rows(void)
{
    struct winsize size;
    return ask_size(&size) ? size.ws_row : 24;
}

/* ---- colours ----------------------------------------------------------------------------- */

static const char *colour_of(char style)
{
    switch (style) {
    case 'k': return "1;34";
    case 's': return "32";
    case 'n': return "36";
    case 'c': return "35";
    case '-': return "2";
    case 'b': return "1;4";
    case 'e': return "31";
    default: return NULL;
    }
}

static void change_style(FILE *out, char *now, char style)
{
    if (style == *now) return;
    if (colour_of(*now)) fputs("\033[0m", out);
    if (colour_of(style)) fprintf(out, "\033[%sm", colour_of(style));
    *now = style;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Where the next character comes, and which rows are drawn. column == columns: the row is full,
 * and the terminal goes to the next one when a character comes. */
typedef struct pen {
    FILE *out; /* NULL: only positions are computed */
    int row, column, columns;
    int top, bottom; /* the rows that are drawn, without the latter */
} pen;

static bool is_drawn(const pen *p) { return p->out && p->row >= p->top && p->row < p->bottom; }

static void put_cells(pen *p, wchar_t c, int width)
{
    if (p->column + width > p->columns) {
        p->row++;
        p->column = 0;
    }
    if (is_drawn(p)) fprintf(p->out, "%lc", (wint_t)c);
    p->column += width;
}

static void new_row(pen *p)
{
    if (is_drawn(p) && p->row + 1 < p->bottom)
        fputs(p->column < p->columns ? "\033[K\r\n" : "\r\n", p->out);
    p->row++;
    p->column = 0;
}

static void put_character(pen *p, wchar_t c)
{
    int width = wide_columns(c, p->column);
    if (c == L'\n') {
        new_row(p);
    } else if (c == L'\t') {
        while (width-- > 0)
            put_cells(p, L' ', 1);
    } else if (c < L' ' || c == 127) {
        put_cells(p, L'^', 1);
        put_cells(p, c ^ 64, 1);
    } else {
        put_cells(p, c, width);
    }
}

/* The end of the escape sequence that begins at c. */
static const wchar_t *skip_escape(const wchar_t *c)
{
    c++;
    if (*c == L'[') {
        for (c++; *c && (*c < 0x40 || *c > 0x7e); c++)
            continue;
    }
    return *c ? c + 1 : c;
}

static void put_prompt(pen *p, const wchar_t *prompt, bool colours)
{
    while (*prompt) {
        if (*prompt != ESCAPE) {
            put_character(p, *prompt++);
            continue;
        }
        for (const wchar_t *end = skip_escape(prompt); prompt < end; prompt++)
            if (colours && is_drawn(p)) fprintf(p->out, "%lc", (wint_t)*prompt);
    }
}

/* The cursor's row and column, where the next character would come. */
static void note_cursor(const pen *p, int *row, int *column)
{
    bool full = p->column >= p->columns;
    *row = p->row + full;
    *column = full ? 0 : p->column;
}

/* Draws all; *row and *column become the cursor's. */
static void put_content(pen *p, const display_content *c, int *row, int *column)
{
    const draft *text = c->text;
    size_t cursor = c->final ? text->n : text->at, byte = 0;
    char style = ' ';
    put_prompt(p, c->prompt, true);
    for (size_t i = 0; i < text->n; i++) {
        if (i == cursor) note_cursor(p, row, column);
        if (c->styles && is_drawn(p)) change_style(p->out, &style, c->styles[byte]);
        byte += c->styles ? wide_bytes(text->chars[i]) : 0;
        put_character(p, text->chars[i]);
    }
    if (p->out) change_style(p->out, &style, ' ');
    if (cursor == text->n) note_cursor(p, row, column);
    if (p->column >= p->columns) new_row(p);
}

/* As much as fits into a row. */
static void put_hint(pen *p, const char *hint, bool colours)
{
    wchar_t *wide = wide_of(hint);
    new_row(p);
    if (colours) fputs("\033[2m", p->out);
    for (const wchar_t *c = wide; wide && *c; c++) {
        if (*c < L' ' || p->column + wide_columns(*c, p->column) >= p->columns) break;
        put_cells(p, *c, wide_columns(*c, p->column));
    }
    if (colours) fputs("\033[0m", p->out);
    free(wide);
}

/* ---- terminals that obey -------------------------------------------------------------------- */

static void draw_rows(display *d, const display_content *c, FILE *out)
{
    int row = 0, column = 0, rows = display_rows();
    pen measure = { .columns = display_columns() };
    put_content(&measure, c, &row, &column);
    int last = measure.row, top = row >= rows ? row - rows + 1 : 0;
    pen p = { .out = out, .columns = measure.columns, .top = top, .bottom = top + rows };
    if (c->final) {
        p.top = 0;
        p.bottom = INT_MAX;
    } else if (p.bottom > last + 1) {
        p.bottom = last + 1;
    }
    if (d->cursor_row > 0) fprintf(out, "\033[%dA", d->cursor_row);
    fputc('\r', out);
    put_content(&p, c, &row, &column);
    if (c->hint && !c->final && last + 1 < rows) {
        p.bottom = last + 2;
        put_hint(&p, c->hint, c->styles != NULL);
    }
    fputs("\033[J", out);
    int drawn = p.row < p.bottom ? p.row : p.bottom - 1;
    if (drawn > row) fprintf(out, "\033[%dA", drawn - row);
    fputc('\r', out);
    if (column > 0) fprintf(out, "\033[%dC", column);
    d->cursor_row = row - p.top;
}

/* ---- plain terminals ------------------------------------------------------------------------- */

/* The first character that is shown, so that the cursor is in the row. */
static size_t first_shown(const draft *text, size_t cursor, int room)
{
    size_t first = cursor;
    for (int width = 0; first > 0; first--) {
        wchar_t c = text->chars[first - 1];
        width += c == L'\n' ? 2 : wide_columns(c, 0);
        if (width >= room) break;
    }
    return first;
}

static void put_part(pen *p, const draft *text, size_t from, size_t to)
{
    for (size_t i = from; i < to && p->column + 2 < p->columns; i++) {
        if (text->chars[i] == L'\n')
            put_cells(p, L' ', 1);
        else
            put_character(p, text->chars[i]);
    }
}

static void draw_row(const display_content *c, FILE *out)
{
    pen p = { .out = out, .columns = display_columns(), .bottom = INT_MAX };
    size_t cursor = c->final ? c->text->n : c->text->at;
    fputc('\r', out);
    put_prompt(&p, c->prompt, false);
    int behind_prompt = p.column;
    size_t first = first_shown(c->text, cursor, p.columns - p.column - 3);
    put_part(&p, c->text, first, c->text->n);
    fprintf(out, "%*s\r", p.columns - 1 - p.column, "");
    p.row = p.column = 0;
    put_prompt(&p, c->prompt, false);
    if (p.column == behind_prompt) put_part(&p, c->text, first, cursor);
}

/* ---- using it -------------------------------------------------------------------------------- */

void display_draw(display *d, const display_content *content)
{
    char *bytes = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&bytes, &n);
    if (!out) return;
    if (d->ansi)
        draw_rows(d, content, out);
    else
        draw_row(content, out);
    if (fclose(out) == 0) fwrite(bytes, 1, n, stdout);
    free(bytes);
    fflush(stdout);
    d->columns_then = display_columns();
}

void display_end(display *d, const display_content *content)
{
    display_content all = *content;
    all.final = true;
    display_draw(d, &all);
    fputc('\n', stdout);
    d->cursor_row = 0;
}

/* Erases what was drawn. */
static void erase(display *d)
{
    if (!d->ansi) {
        fputc('\n', stdout);
        return;
    }
    if (d->cursor_row > 0) printf("\033[%dA", d->cursor_row);
    fputs("\r\033[J", stdout);
    d->cursor_row = 0;
}

/* Some terminals rewrap text themselves and some do not; going up by the smaller number of rows
 * leaves what is above intact. */
void display_resized(display *d, const display_content *content)
{
    int row = 0, column = 0;
    pen measure = { .columns = display_columns() };
    put_content(&measure, content, &row, &column);
    if (row < d->cursor_row) d->cursor_row = row;
    erase(d);
}
