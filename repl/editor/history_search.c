/* history_search.c - Ctrl-R.
 */
#include "history_search.h"

#include "terminal_keys.h"

const wchar_t *search_found(const search *s)
{
    return s->n > 0 ? recall_find(s->entries, s->sought, s->skipped) : NULL;
}

static void make_prompt(search *s)
{
    swprintf(s->prompt, SEARCH_PROMPT, L"search '%ls'%ls: ", s->sought,
             s->n == 0 || search_found(s) ? L"" : L" (not found)");
}

void search_begin(search *s, const recall *entries)
{
    *s = (search){ .entries = entries };
    make_prompt(s);
}

static void shorten(search *s)
{
    s->n -= s->n > 0;
    s->sought[s->n] = L'\0';
    s->skipped = 0;
}

static void add(search *s, wchar_t c)
{
    if (s->n == SEARCH_MOST) return;
    s->sought[s->n++] = c;
    s->sought[s->n] = L'\0';
    s->skipped = 0;
}

bool search_obey(search *s, wint_t key)
{
    if (key == KEY_CTRL_R) {
        s->skipped++;
        if (!search_found(s)) s->skipped--;
    } else if (key == KEY_CTRL_H || key == KEY_RUBOUT) {
        shorten(s);
    } else if (key >= L' ' && key < KEY_UP) {
        add(s, (wchar_t)key);
    } else {
        return false;
    }
    make_prompt(s);
    return true;
}
