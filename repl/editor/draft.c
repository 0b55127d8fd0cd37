/* draft.c - the text that is edited.
 */
#include "draft.h"

#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "../run/growing.h"

/* ---- earlier states ----------------------------------------------------------------- */

static wchar_t *copy_of(const wchar_t *chars, size_t n)
{
    wchar_t *copy = malloc((n + 1) * sizeof *copy);
    if (copy && n > 0) wmemcpy(copy, chars, n);
    if (copy) copy[n] = L'\0';
    return copy;
}

static void forget_oldest(draft *d)
{
    free(d->states[0].chars);
    memmove(d->states, d->states + 1, --d->n_states * sizeof *d->states);
}

/* Called before a change. Without memory the change cannot be taken back, no more. */
static void keep_state(draft *d)
{
    d->typing = false;
    wchar_t *copy = copy_of(d->chars, d->n);
    if (!copy) return;
    if (d->n_states == DRAFT_STATES) forget_oldest(d);
    d->states[d->n_states++] = (draft_state){ copy, d->n, d->at };
}

void draft_forget_states(draft *d)
{
    while (d->n_states > 0)
        free(d->states[--d->n_states].chars);
    d->typing = false;
}

bool draft_undo(draft *d)
{
    if (d->n_states == 0) return false;
    draft_state *s = &d->states[--d->n_states];
    free(d->chars);
    d->chars = s->chars;
    d->n = s->n;
    d->at = s->at;
    d->room = s->n + 1;
    d->typing = false;
    return true;
}

/* ---- changes ---------------------------------------------------------------------------- */

static bool put(draft *d, const wchar_t *text, size_t n)
{
    if (!GROW(d->chars, d->room, d->n + n + 1)) return false;
    wmemmove(d->chars + d->at + n, d->chars + d->at, d->n - d->at);
    wmemcpy(d->chars + d->at, text, n);
    d->n += n;
    d->at += n;
    d->chars[d->n] = L'\0';
    return true;
}

static void take_out(draft *d, size_t from, size_t to)
{
    wmemmove(d->chars + from, d->chars + to, d->n - to);
    d->n -= to - from;
    d->chars[d->n] = L'\0';
    if (d->at > to)
        d->at -= to - from;
    else if (d->at > from)
        d->at = from;
}

bool draft_begin(draft *d)
{
    draft_forget_states(d);
    d->n = d->at = 0;
    if (!GROW(d->chars, d->room, 1)) return false;
    d->chars[0] = L'\0';
    return true;
}

void draft_free(draft *d)
{
    draft_forget_states(d);
    free(d->chars);
    free(d->cut);
}

bool draft_insert(draft *d, const wchar_t *text, size_t n)
{
    keep_state(d);
    return put(d, text, n);
}

bool draft_type(draft *d, wchar_t c)
{
    bool goes_on = d->typing && !iswspace((wint_t)c);
    if (!goes_on) keep_state(d);
    d->typing = true;
    return put(d, &c, 1);
}

bool draft_set(draft *d, const wchar_t *text)
{
    size_t n = wcslen(text);
    if (!GROW(d->chars, d->room, n + 1)) return false;
    keep_state(d);
    wmemmove(d->chars, text, n + 1);
    d->n = d->at = n;
    return true;
}

bool draft_remove(draft *d, size_t from, size_t to)
{
    if (from < to) {
        keep_state(d);
        take_out(d, from, to);
    }
    return true;
}

bool draft_cut(draft *d, size_t from, size_t to)
{
    wchar_t *copy = copy_of(d->chars + from, to - from);
    if (!copy) return false;
    free(d->cut);
    d->cut = copy;
    return draft_remove(d, from, to);
}

bool draft_paste(draft *d) { return d->cut && draft_insert(d, d->cut, wcslen(d->cut)); }

/* ---- places ------------------------------------------------------------------------------- */

size_t draft_line_start(const draft *d)
{
    size_t i = d->at;
    while (i > 0 && d->chars[i - 1] != L'\n')
        i--;
    return i;
}

size_t draft_line_end(const draft *d)
{
    size_t i = d->at;
    while (i < d->n && d->chars[i] != L'\n')
        i++;
    return i;
}

static bool in_word(wchar_t c) { return iswalnum((wint_t)c) || c == L'_'; }

size_t draft_word_left(const draft *d)
{
    size_t i = d->at;
    while (i > 0 && !in_word(d->chars[i - 1]))
        i--;
    while (i > 0 && in_word(d->chars[i - 1]))
        i--;
    return i;
}

size_t draft_word_right(const draft *d)
{
    size_t i = d->at;
    while (i < d->n && !in_word(d->chars[i]))
        i++;
    while (i < d->n && in_word(d->chars[i]))
        i++;
    return i;
}

bool draft_up(draft *d)
{
    size_t start = draft_line_start(d), column = d->at - start;
    if (start == 0) return false;
    d->at = start - 1;
    size_t end = d->at, above = draft_line_start(d);
    d->at = column < end - above ? above + column : end;
    return true;
}

bool draft_down(draft *d)
{
    size_t column = d->at - draft_line_start(d), end = draft_line_end(d);
    if (end == d->n) return false;
    d->at = end + 1;
    size_t below = d->at, last = draft_line_end(d);
    d->at = column < last - below ? below + column : last;
    return true;
}
