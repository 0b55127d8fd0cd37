/* lineedit.c - reading a line at a terminal: the keys, and what each does.
 *
 * Signals are taken where the state is whole (signals.h). The locale is the user's only while a
 * line is read (uselocale): the rest of the program keeps "C", whose numbers and letters Lua
 * expects. Where it is ASCII, UTF-8 is taken instead, so that all that is typed is kept.
 */
#include "lineedit.h"

#include <langinfo.h>
#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wctype.h>

#include "../run/growing.h"
#include "../run/signals.h"
#include "display.h"
#include "draft.h"
#include "terminal_keys.h"
#include "recall.h"
#include "history_search.h"
#include "wide.h"

enum { INDENT = 4 };

struct lineedit {
    const lineedit_language *language;
    void *context;
    locale_t locale; /* that of the terminal, while a line is read */
    display display;
    struct termios modes; /* the terminal's, before a line is read */
    draft text;
    recall entries;
    wchar_t *prompt;
    const char *before; /* what of the entry stands in front of the line */
    size_t indent;      /* blanks in front of the line that nobody typed */
    bool fresh;         /* nothing is typed but they */
    char *line;         /* what lineedit_read gave */
};

/* ---- opening ------------------------------------------------------------------------ */

/* The user's locale, or a UTF-8 one if that is ASCII. */
static locale_t open_locale(void)
{
    static const char *const names[] = { "C.UTF-8", "en_US.UTF-8", "UTF-8" };
    locale_t users = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    const char *codeset = users ? nl_langinfo_l(CODESET, users) : "ASCII";
    if (!strstr(codeset, "ASCII") && strcmp(codeset, "ANSI_X3.4-1968") != 0) return users;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        locale_t other = newlocale(LC_CTYPE_MASK, names[i], (locale_t)0);
        if (other) {
            if (users) freelocale(users);
            return other;
        }
    }
    return users;
}

/* From here to the other, the locale is the user's. */
static locale_t enter_locale(const lineedit *e)
{
    return e->locale ? uselocale(e->locale) : (locale_t)0;
}

static void leave_locale(locale_t before)
{
    if (before) uselocale(before);
}

static bool obeys_sequences(void)
{
    const char *type = getenv("TERM");
    return type && type[0] && strcmp(type, "dumb") != 0 && strcmp(type, "unknown") != 0;
}

lineedit *lineedit_open(const lineedit_language *language, void *context)
{
    lineedit *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->language = language;
    e->context = context;
    e->locale = open_locale();
    e->display.ansi = obeys_sequences();
    if (draft_begin(&e->text)) return e;
    lineedit_close(e);
    return NULL;
}

void lineedit_close(lineedit *e)
{
    draft_free(&e->text);
    recall_free(&e->entries);
    if (e->locale) freelocale(e->locale);
    free(e->prompt);
    free(e->line);
    free(e);
}

/* ---- the terminal ---------------------------------------------------------------------- */

static void prepare_terminal(lineedit *e)
{
    struct termios raw;
    if (tcgetattr(STDIN_FILENO, &e->modes) == 0) {
        raw = e->modes;
        raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | ISTRIP);
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    }
    if (e->display.ansi) fputs("\033[?2004h", stdout); /* pasted blocks come between brackets */
    fflush(stdout);
}

static void restore_terminal(const lineedit *e)
{
    if (e->display.ansi) fputs("\033[?2004l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &e->modes);
}

/* Output may have left the cursor in the middle of a row. Printing as many blanks as there are
 * columns moves it to the next row then, and changes nothing otherwise. */
static void begin_fresh_row(lineedit *e)
{
    if (e->display.ansi) printf("%*s\r\033[K", display_columns(), "");
    e->display.cursor_row = 0;
}

/* ---- drawing --------------------------------------------------------------------------- */

/* What the language is asked about: the entry up to character n of the line, to be freed. */
static char *entry_up_to(const lineedit *e, size_t n, size_t *len)
{
    return wide_narrow(e->before, e->text.chars, n, len);
}

/* The styles of the whole entry, to be freed. While it is edited, brackets at the cursor are
 * marked. */
static char *ask_styles(const lineedit *e, bool edited)
{
    size_t len, cursor;
    free(entry_up_to(e, e->text.at, &cursor));
    char *text = entry_up_to(e, e->text.n, &len);
    if (!edited) cursor = len + 1;
    char *styles = text ? e->language->styles(e->context, text, len, cursor) : NULL;
    free(text);
    return styles;
}

static char *ask_hint(const lineedit *e)
{
    size_t len;
    char *text = e->display.ansi ? entry_up_to(e, e->text.at, &len) : NULL;
    char *hint = text ? e->language->hint(e->context, text, len) : NULL;
    free(text);
    return hint;
}

static void show(lineedit *e, const wchar_t *prompt,
                 void (*draw)(display *, const display_content *))
{
    bool edited = draw == display_draw;
    char *styles = ask_styles(e, edited), *hint = edited ? ask_hint(e) : NULL;
    display_content content = { .prompt = prompt ? prompt : L"> ",
                                .text = &e->text,
                                .hint = hint,
                                .styles = styles ? styles + strlen(e->before) : NULL };
    draw(&e->display, &content);
    free(styles);
    free(hint);
}

static void redraw(lineedit *e) { show(e, e->prompt, display_draw); }

/* ---- signals --------------------------------------------------------------------------- */

/* Whatever is not Ctrl-C. */
static void obey_signal(lineedit *e, int number)
{
    if (number == SIGWINCH) {
        show(e, e->prompt, display_resized);
        redraw(e);
        return;
    }
    restore_terminal(e);
    if (number != SIGCONT) signals_obey(number);
    prepare_terminal(e);
    fputc('\r', stdout);
    e->display.cursor_row = 0;
    redraw(e);
}

/* The next key, after obeying signals; KEY_SIGNAL is Ctrl-C. */
static wint_t next_key(lineedit *e, wint_t (*read)(int *signal))
{
    int number;
    wint_t key;
    while ((key = read(&number)) == KEY_SIGNAL && number != SIGINT)
        obey_signal(e, number);
    return key;
}

static void bell(void)
{
    fputc('\a', stdout);
    fflush(stdout);
}

static void ring_unless(bool done)
{
    if (!done) bell();
}

/* ---- indenting ----------------------------------------------------------------------------- */

static int ask_indent(const lineedit *e)
{
    size_t len;
    char *text = entry_up_to(e, e->text.n, &len);
    int blanks = text ? e->language->indent(e->context, text, len) : 0;
    free(text);
    return blanks;
}

/* Puts as many blanks in front of the line as the language wants there. */
static void indent_line(lineedit *e)
{
    draft *d = &e->text;
    size_t wanted = (size_t)ask_indent(e), at = d->at - e->indent;
    if (wanted < e->indent) draft_remove(d, wanted, e->indent);
    e->indent = d->at = wanted < e->indent ? wanted : e->indent;
    while (e->indent < wanted && draft_insert(d, L" ", 1))
        e->indent++;
    d->at = e->indent + at;
}

static void begin_line(lineedit *e)
{
    draft_begin(&e->text);
    recall_begin(&e->entries);
    e->indent = 0;
    if (e->before[0]) indent_line(e);
    draft_forget_states(&e->text); /* what nobody typed is not taken back */
    e->fresh = e->indent > 0;
}

/* An "end" that was just typed belongs under what it ends; "ende" does not. */
static void adjust_indent(lineedit *e)
{
    bool automatic = e->before[0] && wcsspn(e->text.chars, L" ") == e->indent;
    if (automatic && e->text.at == e->text.n) indent_line(e);
}

/* ---- pasting ------------------------------------------------------------------------ */

typedef struct block {
    wchar_t *text;
    size_t n, room;
} block;

static bool add_character(block *b, wchar_t c)
{
    if (!GROW(b->text, b->room, b->n + 2)) return false;
    b->text[b->n++] = c;
    b->text[b->n] = L'\0';
    return true;
}

/* Reads up to ESC[201~, which is not kept. Another key than KEY_PASTE ends the line. */
static wint_t read_block(lineedit *e, block *b)
{
    static const wchar_t mark[] = L"\033[201~";
    const size_t n = sizeof mark / sizeof mark[0] - 1;
    wint_t c;
    while ((c = next_key(e, keys_read_character)) < KEY_UP && add_character(b, (wchar_t)c)) {
        if (b->n >= n && wmemcmp(b->text + b->n - n, mark, n) == 0) {
            b->n -= n;
            return KEY_PASTE;
        }
    }
    return c < KEY_UP ? KEY_EOF : c;
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
}

static wint_t paste(lineedit *e)
{
    block b = { 0 };
    wint_t key = read_block(e, &b);
    if (key == KEY_PASTE) {
        clean_block(&b);
        bool has_its_own = e->fresh && b.n > 0 && iswspace((wint_t)b.text[0]);
        if (has_its_own) draft_remove(&e->text, 0, e->text.n);
        ring_unless(b.n == 0 || draft_insert(&e->text, b.text, b.n));
    }
    free(b.text);
    return key;
}

/* ---- completion ---------------------------------------------------------------------- */

/* Replaces what was typed of the word by the common start of all words. */
static bool replace_word(draft *d, const completion *c, const char *typed)
{
    size_t common = completion_common(c);
    wchar_t *old = wide_of(typed);
    char *text = malloc(common + 1);
    wchar_t *new = NULL;
    if (text) {
        memcpy(text, c->words[0], common);
        text[common] = '\0';
        new = wide_of(text);
    }
    bool fine = old && new;
    if (fine && (c->n_words == 1 || wcslen(new) >= wcslen(old))) {
        draft_remove(d, d->at - wcslen(old), d->at);
        fine = draft_insert(d, new, wcslen(new));
    }
    free(old);
    free(text);
    free(new);
    return fine;
}

static void show_words(lineedit *e, const completion *c)
{
    int rows = display_rows();
    char *list = completion_columns(c, display_columns(), rows < 6 ? 4 : rows - 2);
    if (!list) return;
    show(e, e->prompt, display_end);
    fputs(list, stdout);
    free(list);
}

static bool complete(lineedit *e)
{
    draft *d = &e->text;
    size_t start = draft_line_start(d), len;
    while (start < d->at && (d->chars[start] == L' ' || d->chars[start] == L'\t'))
        start++;
    if (start == d->at) /* nothing is there yet but indentation */
        return e->fresh || draft_insert(d, L"    ", INDENT);
    char *text = entry_up_to(e, d->at, &len);
    completion c;
    bool found = text && e->language->complete(e->context, text, len, &c);
    if (found && c.first >= strlen(e->before)) {
        if (c.n_words > 1) show_words(e, &c);
        replace_word(d, &c, text + c.first);
    }
    if (found) completion_free(&c);
    free(text);
    return found;
}

/* ---- earlier entries ---------------------------------------------------------------------- */

static bool take_entry(lineedit *e, const wchar_t *entry)
{
    return entry && draft_set(&e->text, entry);
}

static bool older(lineedit *e)
{
    return take_entry(e, recall_older(&e->entries, e->text.chars, e->text.at));
}

static bool newer(lineedit *e) { return take_entry(e, recall_newer(&e->entries)); }

/* Returns the key that ended the search, which is to be obeyed; KEY_UNKNOWN: none. */
static wint_t search_entries(lineedit *e)
{
    search s;
    wchar_t *own = wcsdup(e->text.chars);
    if (!own) return KEY_UNKNOWN;
    wint_t key;
    search_begin(&s, &e->entries);
    do {
        const wchar_t *found = search_found(&s);
        if (found) draft_set(&e->text, found);
        show(e, s.prompt, display_draw);
    } while (search_obey(&s, key = next_key(e, keys_read)));
    if (key == KEY_CTRL_G) draft_set(&e->text, own);
    free(own);
    return key == KEY_CTRL_G || key == KEY_ESCAPE ? KEY_UNKNOWN : key;
}

/* ---- keys ---------------------------------------------------------------------------------- */

/* Keys that move the cursor. */
static bool move(draft *d, wint_t key)
{
    switch (key) {
    case KEY_LEFT:
    case KEY_CTRL_B: d->at -= d->at > 0; return true;
    case KEY_RIGHT:
    case KEY_CTRL_F: d->at += d->at < d->n; return true;
    case KEY_WORD_LEFT: d->at = draft_word_left(d); return true;
    case KEY_WORD_RIGHT: d->at = draft_word_right(d); return true;
    case KEY_HOME:
    case KEY_CTRL_A: d->at = draft_line_start(d); return true;
    case KEY_END:
    case KEY_CTRL_E: d->at = draft_line_end(d); return true;
    default: return false;
    }
}

/* Exchanges the two characters before the cursor, or around it. */
static bool exchange(draft *d)
{
    if (d->n < 2 || d->at == 0) return false;
    size_t at = d->at == d->n ? d->at - 1 : d->at;
    wchar_t pair[2] = { d->chars[at], d->chars[at - 1] };
    draft_remove(d, at - 1, at + 1);
    d->at = at - 1;
    return draft_insert(d, pair, 2);
}

/* From the end of a word's start back, as a shell's Ctrl-W: up to a blank. */
static size_t blank_left(const draft *d)
{
    size_t i = d->at;
    while (i > 0 && iswspace((wint_t)d->chars[i - 1]))
        i--;
    while (i > 0 && !iswspace((wint_t)d->chars[i - 1]))
        i--;
    return i;
}

/* Backspace in front of a line removes as much as Tab puts there. */
static size_t backspace_from(const draft *d)
{
    size_t start = draft_line_start(d), blanks = d->at - start;
    bool only_blanks = blanks > 0 && wcsspn(d->chars + start, L" ") >= blanks;
    return d->at - (only_blanks ? (blanks - 1) % INDENT + 1 : d->at > 0);
}

/* Keys that change the text. */
static bool change(lineedit *e, wint_t key)
{
    draft *d = &e->text;
    switch (key) {
    case KEY_CTRL_H:
    case KEY_RUBOUT: return d->at > 0 && draft_remove(d, backspace_from(d), d->at);
    case KEY_CTRL_D:
    case KEY_DELETE: return d->at < d->n && draft_remove(d, d->at, d->at + 1);
    case KEY_CTRL_W: return draft_cut(d, blank_left(d), d->at);
    case KEY_CUT_WORD_RIGHT: return draft_cut(d, d->at, draft_word_right(d));
    case KEY_CTRL_K: return draft_cut(d, d->at, draft_line_end(d));
    case KEY_CTRL_U: return draft_cut(d, 0, d->n);
    case KEY_CTRL_Y: return draft_paste(d);
    case KEY_CTRL_T: return exchange(d);
    case KEY_UNDO: return draft_undo(d);
    case KEY_TAB: return complete(e);
    case KEY_UP: return draft_up(d) || older(e);
    case KEY_DOWN: return draft_down(d) || newer(e);
    case KEY_CTRL_P: return older(e);
    case KEY_CTRL_N: return newer(e);
    default: break;
    }
    if (key < L' ' || key >= KEY_UP || !draft_type(d, (wchar_t)key)) return false;
    adjust_indent(e);
    return true;
}

static void clear_screen(lineedit *e)
{
    if (e->display.ansi) fputs("\033[H\033[2J", stdout);
    e->display.cursor_row = 0;
}

/* ---- using it ------------------------------------------------------------------------------ */

/* Obeys the key. True: it ends the line, and *result says how. */
static bool obey(lineedit *e, wint_t key, lineedit_result *result)
{
    if (key == KEY_CTRL_R) key = search_entries(e);
    if (key == KEY_PASTE) key = paste(e);
    bool is_empty = e->text.n == 0 || e->fresh;
    if (key == KEY_RETURN || key == KEY_NEWLINE)
        *result = LINEEDIT_LINE;
    else if (key == KEY_EOF || (key == KEY_CTRL_D && is_empty))
        *result = LINEEDIT_END;
    else if (key == KEY_SIGNAL)
        *result = LINEEDIT_INTERRUPTED;
    else {
        if (key == KEY_CTRL_L)
            clear_screen(e);
        else if (key != KEY_PASTE && key != KEY_UNKNOWN && key != KEY_ESCAPE)
            ring_unless(move(&e->text, key) || change(e, key));
        e->fresh = false;
        return false;
    }
    return true;
}

static lineedit_result read_keys(lineedit *e)
{
    lineedit_result result;
    do {
        if (!keys_pending()) redraw(e);
    } while (!obey(e, next_key(e, keys_read), &result));
    return result;
}

static lineedit_result finish(lineedit *e, lineedit_result result, size_t *len)
{
    if (result == LINEEDIT_INTERRUPTED) {
        e->text.at = e->text.n;
        draft_insert(&e->text, L"\003", 1); /* which is drawn as ^C */
    } else if (result == LINEEDIT_LINE && e->fresh) {
        draft_begin(&e->text);
    }
    show(e, e->prompt, display_end);
    if (result != LINEEDIT_LINE) return result;
    e->line = wide_narrow("", e->text.chars, e->text.n, len);
    return e->line ? LINEEDIT_LINE : LINEEDIT_INTERRUPTED;
}

lineedit_result lineedit_read(lineedit *e, const char *prompt, const char *before,
                              const char **line, size_t *len)
{
    locale_t outside = enter_locale(e);
    free(e->line);
    free(e->prompt);
    e->line = NULL;
    e->before = before;
    e->prompt = wide_of(prompt);
    signals_hold();
    begin_line(e);
    prepare_terminal(e);
    begin_fresh_row(e);
    lineedit_result result = finish(e, read_keys(e), len);
    restore_terminal(e);
    signals_release();
    leave_locale(outside);
    *line = e->line;
    return result;
}

void lineedit_remember(lineedit *e, const char *entry)
{
    locale_t before = enter_locale(e);
    recall_add(&e->entries, entry);
    leave_locale(before);
}
