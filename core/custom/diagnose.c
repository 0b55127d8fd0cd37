/* diagnose.c - compilers' messages, made readable.
 *
 * NVRTC writes    FILE(12): error: TEXT        then lines that continue TEXT, the line of the
 *                                              source, a line with ^, and an empty one
 * g++, clang++    FILE:12:5: error: TEXT       then lines that are not used here
 */
#include "custom_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/text.h"
#include "../text/utf8.h"
#include "source_check.h"

enum {
    MOST_SHOWN = 10,
    MOST_KEPT = 64,     /* messages of which it is known what they say; others are counted */
    MOST_TEXT = 400,    /* bytes of a message */
    MOST_COLUMNS = 160, /* of a line of the source */
    TAB = 4,            /* columns */
    MOST_CONTINUED = 4, /* lines */
    LINE_BYTES = 4 * MOST_COLUMNS + 16
};

/* Bytes of the log or the source. */
typedef struct piece {
    const char *at;
    size_t n;
} piece;

typedef struct message {
    bool is_error;
    piece file;        /* n is 0: the message names no place */
    long line, column; /* from 1; 0: not known. The column is in bytes */
    piece text, more[MOST_CONTINUED];
    piece echo; /* the line of the source, as the compiler shows it */
} message;

typedef struct report {
    const sl_custom *kernel;
    message *messages; /* MOST_KEPT */
    size_t n_kept, n_errors, n_warnings;
} report;

/* ---- pieces ---- */

static piece text_piece(const char *text) { return (piece){ text, strlen(text) }; }

static bool is_same(piece a, piece b) { return a.n == b.n && memcmp(a.at, b.at, a.n) == 0; }

static piece from(piece p, size_t n) { return (piece){ p.at + n, p.n - n }; }

static bool begins_with(piece p, const char *text)
{
    size_t n = strlen(text);
    return p.n >= n && memcmp(p.at, text, n) == 0;
}

static piece trimmed(piece p)
{
    while (p.n > 0 && (*p.at == ' ' || *p.at == '\t'))
        p = from(p, 1);
    while (p.n > 0 && strchr(" \t\r", p.at[p.n - 1]))
        p.n--;
    return p;
}

/* The first line of *rest, which moves behind it. False at the end. */
static bool next_line(const char **rest, piece *line)
{
    size_t n = strcspn(*rest, "\n");
    if (!**rest) return false;
    *line = (piece){ *rest, n };
    *rest += n + ((*rest)[n] == '\n');
    if (line->n > 0 && line->at[line->n - 1] == '\r') line->n--;
    return true;
}

/* ---- one message ---- */

static const struct {
    const char *word;
    bool is_error, counts;
} kinds[] = {
    { "error", true, true },
    { "fatal error", true, true },
    { "catastrophic error", true, true },
    { "internal error", true, true },
    { "warning", false, true },
    { "note", false, false },
    { "remark", false, false },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* "error: " or "error #20-D: " at the beginning: the bytes of it; 0: there is none. */
static size_t kind_bytes(piece p, const char *word)
{
    size_t n = strlen(word);
    if (!begins_with(p, word)) return 0;
    if (p.n > n + 1 && p.at[n] == ' ' && p.at[n + 1] == '#')
        while (n < p.n && p.at[n] != ':')
            n++;
    return n + 1 < p.n && p.at[n] == ':' && p.at[n + 1] == ' ' ? n + 2 : 0;
}

/* Cuts a number, at most 9 digits, off the end of *p; 0: there is none. */
static long cut_number(piece *p)
{
    size_t n = p->n;
    long number = 0;
    while (n > 0 && p->n - n < 9 && p->at[n - 1] >= '0' && p->at[n - 1] <= '9')
        n--;
    for (size_t i = n; i < p->n; i++)
        number = 10 * number + (p->at[i] - '0');
    if (number > 0) p->n = n;
    return number;
}

static bool cut_char(piece *p, char c)
{
    if (p->n == 0 || p->at[p->n - 1] != c) return false;
    p->n--;
    return true;
}

/* "FILE(12)", "FILE:12:5", "FILE:12". False: it is a place of no such form (the linker's). */
static bool parse_place(piece place, message *m)
{
    piece rest = place;
    if (cut_char(&rest, ')')) {
        m->line = cut_number(&rest);
        m->file = rest;
        return m->line > 0 && cut_char(&m->file, '(');
    }
    long number = cut_number(&rest);
    if (number == 0 || !cut_char(&rest, ':')) return false;
    m->line = number;
    m->file = rest;
    number = cut_number(&rest);
    if (number == 0 || !cut_char(&rest, ':')) return true;
    m->column = m->line;
    m->line = number;
    m->file = rest;
    return true;
}

/* False: the line begins no message (one that begins with a blank shows the source). *counts: it is
 * more than a remark about one. */
static bool parse_message(piece line, message *m, bool *counts)
{
    if (trimmed(line).at != line.at) return false;
    for (size_t at = 0; at + 2 < line.n; at++) {
        if (at > 0 && (line.at[at - 1] != ' ' || at < 2 || line.at[at - 2] != ':')) continue;
        for (int k = 0; k < KINDS; k++) {
            size_t n = kind_bytes(from(line, at), kinds[k].word);
            if (n == 0) continue;
            *m = (message){ .is_error = kinds[k].is_error, .text = trimmed(from(line, at + n)) };
            *counts = kinds[k].counts;
            if (at >= 2 && !parse_place((piece){ line.at, at - 2 }, m)) m->line = m->column = 0;
            if (m->line == 0) m->file.n = 0;
            return true;
        }
    }
    return false;
}

/* A line of blanks and one ^. */
static bool is_caret(piece line, size_t *column)
{
    piece mark = trimmed(line);
    *column = mark.n ? (size_t)(mark.at - line.at) + 1 : 0;
    return mark.n == 1 && *mark.at == '^';
}

/* What NVRTC has below a message: lines that begin with blanks, two before those of the source. */
static void parse_below(const char **rest, message *m)
{
    const char *at = *rest;
    piece line, last = { NULL, 0 };
    int n = 0;
    size_t column;
    while (next_line(&at, &line) && trimmed(line).n > 0 && trimmed(line).at != line.at) {
        if (is_caret(line, &column)) {
            if (last.n > 2 && column > 2) m->echo = from(last, 2);
            if (last.n > 2 && column > 2) m->column = (long)column - 2;
            last.n = 0;
            *rest = at;
            return;
        }
        if (last.n > 0 && n < MOST_CONTINUED) m->more[n++] = trimmed(last);
        last = line;
        *rest = at;
    }
    if (last.n > 0 && n < MOST_CONTINUED) m->more[n] = trimmed(last);
}

/* ---- all of them ---- */

/* NVRTC looks for the kernel's name a second time, in a text of its own. */
static bool is_internal(const message *m) { return is_same(m->file, text_piece("__nv_name_map")); }

/* The message has the name of the file that the compiler got for the kernel. */
static void give_file(message *m, const sl_custom *kernel)
{
    if (is_same(m->file, text_piece(SL_SOURCE_FILE))) m->file = text_piece(kernel->file);
}

static void parse_log(const char *rest, report *r)
{
    piece line;
    message m;
    bool counts;
    while (next_line(&rest, &line)) {
        if (!parse_message(line, &m, &counts)) continue;
        if (m.line > 0 && m.column == 0) parse_below(&rest, &m);
        give_file(&m, r->kernel);
        if (!counts || (is_internal(&m) && r->n_errors > 0)) continue;
        r->n_errors += m.is_error;
        r->n_warnings += !m.is_error;
        if (r->n_kept < MOST_KEPT) r->messages[r->n_kept++] = m;
    }
}

/* ---- texts that may be shown ---- */

/* Appends at most `most` bytes of it, on one line. */
static void add_piece(sl_text *out, piece p, size_t most)
{
    char copy[MOST_TEXT + 1], shown[SL_SAFE_BYTES + 1];
    const char *at = copy;
    const size_t n = p.n < most ? p.n : most;
    memcpy(copy, p.at, n);
    copy[n] = '\0';
    while (at < copy + n) {
        int bytes = sl_safe_character(&at, copy + n, false, shown);
        sl_text_add(out, "%.*s", bytes, shown);
    }
    if (p.n > most) sl_text_add(out, "...");
}

/* static_assert's own words around its text. */
static piece without_assertion(piece text, bool *is_assertion)
{
    static const char *const begins[] = { "static assertion failed with \"",
                                          "static assertion failed: ",
                                          "static assertion failed due to requirement '" };
    for (size_t i = 0; i < 3; i++) {
        if (!begins_with(text, begins[i])) continue;
        *is_assertion = true;
        text = from(text, strlen(begins[i]));
        if (i == 0) cut_char(&text, '"');
        for (size_t at = 0; i == 2 && at + 3 < text.n; at++)
            if (memcmp(text.at + at, "': ", 3) == 0) return from(text, at + 3);
        return text;
    }
    *is_assertion = false;
    return text;
}

static void add_place(sl_text *out, const message *m)
{
    if (m->line == 0) return;
    add_piece(out, m->file, MOST_TEXT / 2);
    sl_text_add(out, "%s%ld: ", m->file.n ? ":" : "line ", m->line);
}

/* "FILE:LINE: TEXT" */
static void add_sentence(sl_text *out, const message *m)
{
    bool is_assertion;
    add_place(out, m);
    add_piece(out, without_assertion(m->text, &is_assertion), MOST_TEXT);
    for (int i = 0; i < MOST_CONTINUED && m->more[i].n > 0; i++) {
        sl_text_add(out, "%s", i == 0 ? "; " : " ");
        add_piece(out, m->more[i], MOST_TEXT / 2);
    }
}

/* ---- lines of the source ---- */

/* Line `number` of the kernel's file. False: the source does not have it. */
static bool source_line(const sl_custom *kernel, long number, piece *line)
{
    const char *rest = kernel->source;
    if (!rest || number < kernel->line) return false;
    for (long at = kernel->line; next_line(&rest, line); at++)
        if (at == number) return true;
    return false;
}

/* Appends a line of the source; the column where its byte `column` (from 1) is shown, from 0; -1:
 * it is not shown. */
static int add_line(sl_text *out, piece line, long column)
{
    char copy[LINE_BYTES + 1], shown[SL_SAFE_BYTES + 1];
    const size_t n = line.n < LINE_BYTES ? line.n : LINE_BYTES;
    const char *at = copy;
    int columns = 0, found = -1;
    memcpy(copy, line.at, n);
    copy[n] = '\0';
    while (at < copy + n && columns < MOST_COLUMNS) {
        const long byte = at - copy + 1;
        const char *peek = at;
        bool good;
        int bytes;
        if (byte <= column) found = columns;
        int wide = sl_character_columns(sl__utf8_next(&peek, &good));
        if (*at == '\t') {
            wide = TAB - columns % TAB;
            sl_text_add(out, "%*s", wide, "");
            at++;
        } else {
            bytes = sl_safe_character(&at, copy + n, false, shown);
            sl_text_add(out, "%.*s", bytes, shown);
            if (wide < 0 || !good) wide = bytes;
        }
        columns += wide;
    }
    if (at < copy + n || line.n > n) sl_text_add(out, "...");
    return column > at - copy ? -1 : found;
}

static void add_source(sl_text *out, const sl_custom *kernel, const message *m)
{
    piece before, line;
    bool is_assertion;
    long column = m->column;
    if (!is_same(m->file, text_piece(kernel->file)) || !source_line(kernel, m->line, &line)) return;
    without_assertion(m->text, &is_assertion);
    /* An assertion may be the backend's, which stands in no line of the source. */
    if (is_assertion || (m->echo.n > 0 && !is_same(trimmed(m->echo), trimmed(line)))) column = 0;
    if (source_line(kernel, m->line - 1, &before) && trimmed(before).n > 0) {
        sl_text_add(out, "%6ld | ", m->line - 1);
        add_line(out, before, 0);
        sl_text_add(out, "\n");
    }
    sl_text_add(out, "%6ld | ", m->line);
    int shown = add_line(out, line, column);
    sl_text_add(out, "\n");
    if (column > 0 && shown >= 0) sl_text_add(out, "       | %*s^\n", shown, "");
}

/* ---- in all ---- */

static bool is_shown(const report *r, const message *m) { return m->is_error || r->n_errors == 0; }

static void add_messages(const report *r, sl_text *out)
{
    const size_t n = r->n_errors ? r->n_errors : r->n_warnings;
    size_t shown = 0;
    for (size_t i = 0; i < r->n_kept && shown < MOST_SHOWN; i++) {
        if (!is_shown(r, &r->messages[i])) continue;
        add_sentence(out, &r->messages[i]);
        sl_text_add(out, "\n");
        add_source(out, r->kernel, &r->messages[i]);
        shown++;
    }
    if (n > shown) sl_text_add(out, "and %zu more\n", n - shown);
}

static const message *first_shown(const report *r)
{
    for (size_t i = 0; i < r->n_kept; i++)
        if (is_shown(r, &r->messages[i])) return &r->messages[i];
    return NULL;
}

/* Of a log without messages the first line that says something. */
static void add_first_line(sl_text *out, const char *log)
{
    piece line;
    while (next_line(&log, &line))
        if (trimmed(line).n > 0) {
            add_piece(out, trimmed(line), MOST_TEXT);
            return;
        }
    sl_text_add(out, "it does not compile, and the compiler does not say why");
}

static void fail(const report *r, const char *log, sl_error *err)
{
    const message *first = first_shown(r);
    const size_t n = r->n_errors ? r->n_errors : r->n_warnings;
    sl_text sentence = { 0 };
    if (first)
        add_sentence(&sentence, first);
    else
        add_first_line(&sentence, log);
    sl_fail(err, SL_ECOMPILE, "%.440s", sentence.failed ? "it does not compile" : sentence.data);
    sl_text_free(&sentence);
    if (err && n > 1) {
        size_t length = strlen(err->msg);
        snprintf(err->msg + length, sizeof err->msg - length, " (and %zu more)", n - 1);
    }
}

sl_status sl__diagnose(sl_custom *kernel, sl_error *err)
{
    const char *log = kernel->log ? kernel->log : "";
    report r = { .kernel = kernel, .messages = calloc(MOST_KEPT, sizeof *r.messages) };
    sl_text out = { 0 };
    if (!r.messages) return sl_fail(err, SL_ECOMPILE, "%.400s", log);
    parse_log(log, &r);
    add_messages(&r, &out);
    if (r.n_kept == 0) add_first_line(&out, log);
    fail(&r, log, err);
    free(r.messages);
    if (out.failed || !out.data) {
        sl_text_free(&out);
        return SL_ECOMPILE;
    }
    free(kernel->log);
    kernel->log = out.data;
    return SL_ECOMPILE;
}
