/* lineedit_keys.c - keys that libedit lacks or treats differently: moving in an entry of several
 * lines, pasting, completion.
 */
#include "lineedit_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* ---- moving ------------------------------------------------------------ */

/* The start and the end of the entry's line in which p is. */
static const wchar_t *line_start(const LineInfoW *l, const wchar_t *p)
{
    while (p > l->buffer && p[-1] != L'\n')
        p--;
    return p;
}

static const wchar_t *line_end(const LineInfoW *l, const wchar_t *p)
{
    while (p < l->lastchar && *p != L'\n')
        p++;
    return p;
}

static unsigned char go_to(EditLine *el, const LineInfoW *l, const wchar_t *place)
{
    el_cursor(el, (int)(place - l->cursor));
    return CC_CURSOR;
}

static unsigned char key_home(EditLine *el, int c)
{
    (void)c;
    const LineInfoW *l = el_wline(el);
    return go_to(el, l, line_start(l, l->cursor));
}

static unsigned char key_end(EditLine *el, int c)
{
    (void)c;
    const LineInfoW *l = el_wline(el);
    return go_to(el, l, line_end(l, l->cursor));
}

/* The same column of the entry's line above; from the first line on, the history. */
static unsigned char key_up(EditLine *el, int c)
{
    (void)c;
    const LineInfoW *l = el_wline(el);
    const wchar_t *start = line_start(l, l->cursor);
    if (start == l->buffer) {
        el_wpush(el, L"\020");
        return CC_NORM;
    }
    ptrdiff_t column = l->cursor - start;
    const wchar_t *end = start - 1, *above = line_start(l, end);
    return go_to(el, l, column < end - above ? above + column : end);
}

static unsigned char key_down(EditLine *el, int c)
{
    (void)c;
    const LineInfoW *l = el_wline(el);
    const wchar_t *end = line_end(l, l->cursor);
    if (end == l->lastchar) {
        el_wpush(el, L"\016");
        return CC_NORM;
    }
    ptrdiff_t column = l->cursor - line_start(l, l->cursor);
    const wchar_t *below = end + 1, *last = line_end(l, below);
    return go_to(el, l, column < last - below ? below + column : last);
}

/* ---- pasting ------------------------------------------------------------------------ */

typedef struct block {
    wchar_t *text;
    size_t n, room;
} block;

static bool add_character(block *b, wchar_t c)
{
    if (b->n + 1 >= b->room) {
        size_t room = b->room ? 2 * b->room : 1024;
        wchar_t *text = realloc(b->text, room * sizeof *text);
        if (!text) return false;
        b->text = text;
        b->room = room;
    }
    b->text[b->n++] = c;
    b->text[b->n] = L'\0';
    return true;
}

/* Reads up to ESC[201~, which is not kept. */
static bool read_block(EditLine *el, block *b)
{
    static const wchar_t mark[] = L"\033[201~";
    const size_t n = sizeof mark / sizeof mark[0] - 1;
    wchar_t c;
    while (el_wgetc(el, &c) == 1) {
        if (!add_character(b, c)) return false;
        if (b->n >= n && wmemcmp(b->text + b->n - n, mark, n) == 0) {
            b->n -= n;
            return true;
        }
    }
    return false;
}

/* Newlines come as carriage returns, line feeds, or both. Those at the end are removed, so that
 * the user runs the block by Enter. Control characters are removed. */
static void clean_block(block *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        wchar_t c = b->text[i];
        if (c == L'\r' || c == L'\n') {
            wchar_t next = i + 1 < b->n ? b->text[i + 1] : L'\0';
            if (next != c && (next == L'\r' || next == L'\n')) i++;
            b->text[n++] = L'\n';
        } else if ((c >= L' ' && c != 127) || c == L'\t') {
            b->text[n++] = c;
        }
    }
    while (n > 0 && b->text[n - 1] == L'\n')
        n--;
    b->n = n;
    if (b->text) b->text[n] = L'\0';
}

static unsigned char key_paste(EditLine *el, int c)
{
    (void)c;
    block b = { 0 };
    bool whole = read_block(el, &b);
    if (whole) {
        clean_block(&b);
        if (b.n > 0) whole = el_winsertstr(el, b.text) == 0;
    }
    free(b.text);
    return whole ? CC_REFRESH : CC_ERROR;
}

/* ---- completion ---------------------------------------------------------------------- */

/* Replaces what was typed of the word by the common start of all words. */
static void replace_word(EditLine *el, const completion *c, const char *typed)
{
    size_t common = completion_common(c);
    wchar_t *old = lineedit__widen(typed);
    char *text = malloc(common + 1);
    wchar_t *new = NULL;
    if (text) {
        memcpy(text, c->words[0], common);
        text[common] = '\0';
        new = lineedit__widen(text);
    }
    if (old && new && (c->n_words == 1 || wcslen(new) >= wcslen(old))) {
        el_deletestr(el, (int)wcslen(old));
        el_winsertstr(el, new);
    }
    free(old);
    free(text);
    free(new);
}

static void show_words(lineedit *e, const completion *c)
{
    int rows = lineedit__rows(e);
    char *list = completion_columns(c, lineedit__columns(e), rows < 6 ? 4 : rows - 2);
    if (!list) return;
    lineedit__go_below(e);
    fputs(list, stdout);
    free(list);
}

static unsigned char key_complete(EditLine *el, int key)
{
    (void)key;
    lineedit *e = lineedit__of(el);
    const LineInfoW *l = el_wline(el);
    const wchar_t *start = line_start(l, l->cursor);
    while (start < l->cursor && (*start == L' ' || *start == L'\t'))
        start++;
    if (start == l->cursor) /* nothing is there yet but indentation */
        return el_winsertstr(el, L"    ") == 0 ? CC_REFRESH : CC_ERROR;
    size_t n_before = strlen(e->before), len;
    char *text = lineedit__narrow(l->buffer, (size_t)(l->cursor - l->buffer), n_before, &len);
    completion c;
    if (!text) return CC_ERROR;
    memcpy(text, e->before, n_before);
    bool found = e->complete(e->context, text, len, &c) && c.first >= n_before;
    if (found && c.n_words > 1) show_words(e, &c);
    if (found) replace_word(el, &c, text + c.first);
    if (found && c.n_words > 1) el_wset(el, EL_REFRESH);
    if (found) completion_free(&c);
    free(text);
    return found ? CC_REFRESH : CC_ERROR;
}

/* ---- binding ------------------------------------------------------------ */

static const struct {
    const wchar_t *name, *help;
    unsigned char (*act)(EditLine *el, int c);
} functions[] = {
    { L"lab-up", L"The line above, or the history", key_up },
    { L"lab-down", L"The line below, or the history", key_down },
    { L"lab-home", L"The start of the line", key_home },
    { L"lab-end", L"The end of the line", key_end },
    { L"lab-paste", L"What the terminal pastes", key_paste },
    { L"lab-complete", L"Completes the word", key_complete },
    { L"lab-search", L"Searches the history", lineedit__search },
};

static const struct {
    const wchar_t *key, *function;
} keys[] = {
    { L"\033[A", L"lab-up" },
    { L"\033OA", L"lab-up" },
    { L"\033[B", L"lab-down" },
    { L"\033OB", L"lab-down" },
    { L"\033[H", L"lab-home" },
    { L"\033OH", L"lab-home" },
    { L"\033[1~", L"lab-home" },
    { L"\033[7~", L"lab-home" },
    { L"^A", L"lab-home" },
    { L"\033[F", L"lab-end" },
    { L"\033OF", L"lab-end" },
    { L"\033[4~", L"lab-end" },
    { L"\033[8~", L"lab-end" },
    { L"^E", L"lab-end" },
    { L"\033[3~", L"ed-delete-next-char" },
    { L"\033[1;5C", L"em-next-word" },
    { L"\033[1;5D", L"ed-prev-word" },
    { L"\033[1;3C", L"em-next-word" },
    { L"\033[1;3D", L"ed-prev-word" },
    { L"^P", L"ed-prev-history" },
    { L"^N", L"ed-next-history" },
    { L"^R", L"lab-search" },
    { L"^I", L"lab-complete" },
    { L"\033[200~", L"lab-paste" },
};

void lineedit__bind_keys(EditLine *el)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        el_wset(el, EL_ADDFN, functions[i].name, functions[i].help, functions[i].act);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        el_wset(el, EL_BIND, keys[i].key, keys[i].function, NULL);
}
