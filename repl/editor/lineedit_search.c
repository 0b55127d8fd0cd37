/* lineedit_search.c - Ctrl-R: the newest entry with what is typed in it, and older ones.
 *
 * libedit has such a search, whose prompt is "bck:". Here the prompt says what is searched for,
 * and the line is the entry that was found.
 */
#include "lineedit_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

enum { MOST_SOUGHT = 200, PROMPT_ROOM = MOST_SOUGHT + 40 };
enum { CTRL_G = 7, CTRL_H = 8, CTRL_R = 18, ESCAPE = 27, RUBOUT = 127 };

typedef struct search {
    lineedit *e;
    wchar_t sought[MOST_SOUGHT + 1];
    size_t n;
    int skipped; /* of the entries that fit, the newer ones that were passed */
    wchar_t prompt[PROMPT_ROOM];
    wchar_t *prompt_before, *line_before;
} search;

/* The entry that fits, behind `skipped` newer ones; NULL if there is none. */
static const wchar_t *find(const search *s)
{
    HistEventW event;
    int passed = 0;
    for (int more = history_w(s->e->history, &event, H_FIRST); more >= 0;
         more = history_w(s->e->history, &event, H_NEXT)) {
        if (wcsstr(event.str, s->sought) && passed++ == s->skipped) return event.str;
    }
    return NULL;
}

/* Draws `line` behind `prompt`; NULL: the line stays as it is. */
static void draw(lineedit *e, wchar_t *prompt, const wchar_t *line)
{
    const LineInfoW *l = el_wline(e->el);
    e->prompt = prompt;
    if (line) {
        el_cursor(e->el, (int)(l->lastchar - l->cursor));
        l = el_wline(e->el);
        el_deletestr(e->el, (int)(l->lastchar - l->buffer));
        el_winsertstr(e->el, line);
    }
    el_wset(e->el, EL_REFRESH);
}

/* Erases the drawn line. Called before prompt and line change. */
static void wipe(const lineedit *e) { lineedit__erase(e, lineedit__cursor_row(e)); }

static void show(search *s)
{
    const wchar_t *entry = s->n > 0 ? find(s) : NULL;
    wipe(s->e);
    swprintf(s->prompt, PROMPT_ROOM, L"search '%ls'%ls: ", s->sought,
             s->n == 0 || entry ? L"" : L" (not found)");
    draw(s->e, s->prompt, entry);
}

static void put_back(search *s, const wchar_t *line)
{
    wipe(s->e);
    draw(s->e, s->prompt_before, line);
}

static void add(search *s, wchar_t c)
{
    if (s->n == MOST_SOUGHT) return;
    s->sought[s->n++] = c;
    s->sought[s->n] = L'\0';
    s->skipped = 0;
}

/* What a key does while something is searched for. False: the search is over. */
static bool obey(search *s, wchar_t c)
{
    if (c == CTRL_R) {
        s->skipped++;
        if (!find(s)) s->skipped--;
    } else if (c == CTRL_H || c == RUBOUT) {
        s->n -= s->n > 0;
        s->sought[s->n] = L'\0';
        s->skipped = 0;
    } else if (c >= L' ') {
        add(s, c);
    } else {
        return false;
    }
    show(s);
    return true;
}

/* The key that ended the search is obeyed then, but for Escape. */
static void end(search *s, wchar_t c)
{
    wchar_t key[2] = { c, L'\0' };
    put_back(s, c == CTRL_G ? s->line_before : NULL);
    if (c != CTRL_G && c != ESCAPE) el_wpush(s->e->el, key);
}

static wchar_t *copy_line(EditLine *el)
{
    const LineInfoW *l = el_wline(el);
    size_t n = (size_t)(l->lastchar - l->buffer);
    wchar_t *copy = malloc((n + 1) * sizeof *copy);
    if (copy) {
        wmemcpy(copy, l->buffer, n);
        copy[n] = L'\0';
    }
    return copy;
}

unsigned char lineedit__search(EditLine *el, int key)
{
    (void)key;
    lineedit *e = lineedit__of(el);
    search s = { .e = e, .prompt_before = e->prompt, .line_before = copy_line(el) };
    if (!s.line_before) return CC_ERROR;
    show(&s);
    wchar_t c;
    int n;
    while ((n = el_wgetc(el, &c)) == 1 && obey(&s, c))
        continue;
    if (n == 1)
        end(&s, c);
    else
        put_back(&s, NULL);
    free(s.line_before);
    return n == 1 ? CC_REFRESH : CC_ERROR;
}
