/* lineedit.c - editing a line at a terminal, with libedit.
 *
 * It uses libedit's native interface, in wide characters, because conversions of the narrow one
 * can fail in the middle of a line. Three things differ from libedit's defaults:
 *   - Characters are read here (EL_GETCFN), because a signal is then taken where the
 *     library's state is whole; libedit's own handlers draw from inside the handler and send
 *     the signal on to the whole process group.
 *   - A pasted block comes between ESC[200~ and ESC[201~, which is bound to a function as a
 *     key is, and is put into the line with its newlines.
 *   - The locale is the user's only while a line is read (uselocale). The rest of the program
 *     keeps "C", whose numbers and letters Lua expects. Where it is ASCII, UTF-8 is taken
 *     instead: libedit drops what its locale cannot hold.
 */
#include "lineedit_parts.h"

#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "../run/signals.h"

enum { HISTORY_ENTRIES = 10000 };

/* ---- the prompt --------------------------------------------------------------- */

static wchar_t *give_prompt(EditLine *el)
{
    static wchar_t none[] = L"> ";
    lineedit *e = lineedit__of(el);
    return e->prompt ? e->prompt : none;
}

static void set_prompt(lineedit *e, const char *text)
{
    free(e->prompt);
    wchar_t *wide = lineedit__widen(text);
    e->prompt = wide ? lineedit__mark_colours(wide) : NULL;
    free(wide);
}

/* Output may have left the cursor in the middle of a row, where libedit would compute wrong
 * positions. Printing as many blanks as there are columns moves it to the next row then, and
 * changes nothing otherwise. */
static void begin_fresh_row(lineedit *e)
{
    if (e->ansi) printf("%*s\r\033[K", lineedit__columns(e), "");
}

/* ---- signals -------------------------------------------------------------------- */

static void set_pasting(const lineedit *e, bool on)
{
    if (e->ansi) printf("\033[?2004%c", on ? 'h' : 'l');
    fflush(stdout);
}

/* The terminal's width has changed: the prompt and line are drawn again. Some terminals rewrap
 * text themselves and some do not; going up by the smaller number of rows leaves what is above
 * intact. */
static void follow_size(lineedit *e)
{
    int before = lineedit__cursor_row(e);
    el_resize(e->el);
    int after = lineedit__cursor_row(e);
    lineedit__erase(e, before < after ? before : after);
    el_wset(e->el, EL_REFRESH);
}

/* Whatever is not Ctrl-C. */
static void obey(lineedit *e, int number)
{
    if (number == SIGWINCH) {
        follow_size(e);
        return;
    }
    set_pasting(e, false);
    el_wset(e->el, EL_PREP_TERM, 0);
    if (number != SIGCONT) signals_obey(number);
    el_wset(e->el, EL_PREP_TERM, 1);
    set_pasting(e, true);
    fputc('\r', stdout);
    el_resize(e->el);
    el_wset(e->el, EL_REFRESH);
}

/* Reads characters for libedit: returns 1, or 0 after setting e->result. Once it is set every
 * call returns 0, because a key's function may take the first 0 for an error of its own. */
static int read_character(EditLine *el, wchar_t *c)
{
    lineedit *e = lineedit__of(el);
    mbstate_t state = { 0 };
    while (e->result == LINEEDIT_LINE) {
        int number = signals_wait(STDIN_FILENO);
        if (number == SIGINT) {
            e->result = LINEEDIT_INTERRUPTED;
            break;
        }
        if (number) {
            obey(e, number);
            continue;
        }
        char byte;
        ssize_t n = read(STDIN_FILENO, &byte, 1);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) {
            e->result = LINEEDIT_END;
            break;
        }
        size_t used = mbrtowc(c, &byte, 1, &state);
        if (used == (size_t)-1) { /* what came before it was half a character */
            memset(&state, 0, sizeof state);
            used = mbrtowc(c, &byte, 1, &state);
        }
        if (used == (size_t)-1)
            memset(&state, 0, sizeof state);
        else if (used != (size_t)-2)
            return 1;
    }
    return 0;
}

/* ---- opening --------------------------------------------------------------------------- */

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

/* libedit prints two lines about an unknown terminal type; they are replaced by a sentence. */
static EditLine *open_libedit(char **notice)
{
    char *complaint = NULL;
    size_t len = 0;
    FILE *errors = open_memstream(&complaint, &len);
    if (!errors) return NULL;
    EditLine *el = el_init("streamlab", stdin, stdout, errors);
    if (el) el_wset(el, EL_SETFP, 2, stderr);
    fclose(errors);
    if (len > 0) {
        const char *type = getenv("TERM");
        const char format[] = "this machine does not know the terminal '%s' (TERM); editing works"
                              " as on a plain one";
        size_t n = sizeof format + (type ? strlen(type) : 0);
        if ((*notice = malloc(n)) != NULL) snprintf(*notice, n, format, type ? type : "");
    }
    free(complaint);
    return el;
}

static bool set_up(lineedit *e)
{
    EditLine *el = e->el;
    HistEventW event;
    char *clear = NULL;
    if (!el || !e->history) return false;
    history_w(e->history, &event, H_SETSIZE, HISTORY_ENTRIES);
    history_w(e->history, &event, H_SETUNIQUE, 1);
    el_wset(el, EL_CLIENTDATA, e);
    el_wset(el, EL_EDITOR, L"emacs");
    el_wset(el, EL_HIST, history_w, e->history);
    el_wset(el, EL_PROMPT_ESC, give_prompt, LINEEDIT_LITERAL);
    el_wset(el, EL_GETCFN, read_character);
    el_source(el, NULL); /* ~/.editrc: vi keys, for instance */
    lineedit__bind_keys(el);
    e->ansi = el_get(el, EL_GETTC, "cd", &clear) == 0 && clear && strncmp(clear, "\033[J", 3) == 0;
    return true;
}

lineedit *lineedit_open(completion_find *complete, void *context, char **notice)
{
    *notice = NULL;
    lineedit *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->complete = complete;
    e->context = context;
    e->locale = open_locale();
    locale_t before = enter_locale(e);
    e->el = open_libedit(notice);
    e->history = history_winit();
    bool fine = set_up(e);
    leave_locale(before);
    if (fine) return e;
    lineedit_close(e);
    return NULL;
}

void lineedit_close(lineedit *e)
{
    locale_t before = enter_locale(e);
    if (e->history) history_wend(e->history);
    if (e->el) el_end(e->el);
    leave_locale(before);
    if (e->locale) freelocale(e->locale);
    free(e->prompt);
    free(e->line);
    free(e);
}

/* ---- using it ------------------------------------------------------------------------------ */

/* Turns libedit's result into the caller's: read_character has noted what ended the line. */
static lineedit_result take_line(lineedit *e, const wchar_t *wide, int n, size_t *len)
{
    if (e->result == LINEEDIT_LINE && (!wide || n < 1)) e->result = LINEEDIT_END;
    if (e->result == LINEEDIT_LINE) {
        n -= wide[n - 1] == L'\n';
        e->line = lineedit__narrow(wide, (size_t)n, 0, len);
        if (!e->line) e->result = LINEEDIT_INTERRUPTED;
    } else if (e->result == LINEEDIT_INTERRUPTED) {
        fputs("^C", stdout);
        lineedit__go_below(e);
    } else {
        fputc('\n', stdout);
    }
    return e->result;
}

lineedit_result lineedit_read(lineedit *e, const char *prompt, const char *before,
                              const char **line, size_t *len)
{
    int n = 0;
    locale_t outside = enter_locale(e);
    free(e->line);
    e->line = NULL;
    e->before = before;
    e->result = LINEEDIT_LINE;
    set_prompt(e, prompt);
    el_resize(e->el);
    begin_fresh_row(e);
    signals_hold();
    el_wset(e->el, EL_PREP_TERM, 1); /* or else what is typed at the prompt may be echoed */
    set_pasting(e, true);
    const wchar_t *wide = el_wgets(e->el, &n);
    lineedit_result result = take_line(e, wide, n, len);
    set_pasting(e, false);
    signals_release();
    leave_locale(outside);
    *line = e->line;
    return result;
}

void lineedit_remember(lineedit *e, const char *entry)
{
    HistEventW event;
    locale_t before = enter_locale(e);
    wchar_t *wide = lineedit__widen(entry);
    if (wide) history_w(e->history, &event, H_ENTER, wide);
    free(wide);
    leave_locale(before);
}
