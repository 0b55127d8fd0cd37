/* source_scan.c - tells the tokens of a kernel's source apart, as a preprocessor does: continued
 * lines are joined, then comments, texts, names, numbers and signs are separated.
 *
 * Where compilers differ, the source is refused: raw strings, numbers with ', %:. With ## a name
 * could be made that is nowhere in the source, so that is refused as well.
 */
#include "source_scan.h"

#include <ctype.h>
#include <string.h>

sl_status sl__source_refuse(sl__source *s, const char *what, const char *why)
{
    return sl_fail(s->err, SL_ECOMPILE, "%s is refused here: %s", what, why);
}

/* ---- characters ---- */

/* The character at hand, after line ends that a backslash takes away. */
char sl__source_here(sl__source *s)
{
    for (;;) {
        size_t n = s->at[0] != '\\'                       ? 0
                   : s->at[1] == '\n'                     ? 2
                   : s->at[1] == '\r' && s->at[2] == '\n' ? 3
                                                          : 0;
        if (n == 0) return *s->at;
        s->at += n;
        s->line++;
    }
}

char sl__source_step(sl__source *s)
{
    if (*s->at == '\n') s->line++;
    s->at++;
    return sl__source_here(s);
}

bool sl__source_begins_name(char c) { return isalpha((unsigned char)c) || c == '_'; }
bool sl__source_goes_on(char c) { return isalnum((unsigned char)c) || c == '_'; }
bool sl__source_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

/* ---- tokens ---- */

/* Behind the opening slash and star. A comment without end goes to the end of the source. */
static void skip_block(sl__source *s)
{
    char c = sl__source_step(s);
    while (c) {
        bool star = c == '*';
        c = sl__source_step(s);
        if (star && c == '/') {
            sl__source_step(s);
            return;
        }
    }
}

/* True: there was a slash that begins no comment, which has been passed. */
static bool skip_comment(sl__source *s)
{
    char c = sl__source_step(s);
    if (c == '*') {
        skip_block(s);
    } else if (c == '/') {
        while (c && c != '\n')
            c = sl__source_step(s);
    } else {
        return true;
    }
    return false;
}

static sl_status take_text(sl__source *s, char quote)
{
    size_t n = 0;
    char c = sl__source_step(s);
    for (; c != quote; c = sl__source_step(s)) {
        if (c == '\\') { /* what is escaped may be the quote */
            if (n < SL__SOURCE_NAME_BYTES) s->name[n++] = c;
            c = sl__source_step(s);
        }
        if (c == '\0' || c == '\n')
            return sl__source_refuse(s,
                                     quote == '"' ? "a \" without another one in its line"
                                                  : "a ' without another one in its line",
                                     "nobody knows where that text ends");
        if (n < SL__SOURCE_NAME_BYTES) s->name[n++] = c;
    }
    s->name[n] = '\0';
    s->kind = SL__SOURCE_TEXT;
    sl__source_step(s);
    return SL_OK;
}

/* R"x(...)x" has rules of its own, and so have 1'000 and x'y'. */
static sl_status check_quote(sl__source *s)
{
    static const char *const prefixes[] = { "u8", "u", "U", "L" };
    char c = sl__source_here(s);
    if (c == '"' && s->name[strlen(s->name) - 1] == 'R')
        return sl__source_refuse(s, "a raw text (R\"...\")", "write it as \"...\"");
    if (c != '\'') return SL_OK;
    if (SL__FIND_NAME(prefixes, *prefixes, s->name) >= 0) return SL_OK;
    return sl__source_refuse(s, "a ' right behind a name or a number", "write 1000 for 1'000");
}

static sl_status take_name(sl__source *s)
{
    size_t n = 0;
    for (char c = sl__source_here(s); sl__source_goes_on(c); c = sl__source_step(s)) {
        if (n == SL__SOURCE_NAME_BYTES)
            return sl__source_refuse(s, "a name of more than 120 characters",
                                     "a shorter one will do");
        s->name[n++] = c;
    }
    s->name[n] = '\0';
    s->kind = SL__SOURCE_NAME;
    return check_quote(s);
}

/* Signs of an exponent are left: what is behind them is looked at as a name, whatever compilers
 * say. */
static sl_status take_number(sl__source *s)
{
    strcpy(s->name, "0");
    for (char c = sl__source_here(s); sl__source_goes_on(c) || c == '.'; c = sl__source_step(s))
        continue;
    s->kind = SL__SOURCE_NUMBER;
    return check_quote(s);
}

static sl_status take_sign(sl__source *s, char c)
{
    if (c == '\\' || c == '$' || c == '@' || c == '`' || (unsigned char)c >= 0x80)
        return sl__source_refuse(
            s,
            "a \\, $, @, ` or a letter that is not English outside of texts and "
            "comments",
            "CUDA C++ has no use for it");
    s->kind = SL__SOURCE_SIGN;
    s->sign = c;
    char next = sl__source_step(s);
    if (c == '%' && next == ':') return sl__source_refuse(s, "%:", "it is another way to write #");
    if (c == '#' && next == '#')
        return sl__source_refuse(s, "##", "it makes names that are nowhere in the source");
    return SL_OK;
}

sl_status sl__source_next(sl__source *s)
{
    for (;;) {
        char c = sl__source_here(s);
        if (c == '/') {
            s->kind = SL__SOURCE_SIGN, s->sign = '/';
            if (skip_comment(s)) return SL_OK;
        } else if (sl__source_is_blank(c)) {
            sl__source_step(s);
        } else if (c == '\0' || c == '\n') {
            s->kind = c ? SL__SOURCE_NEWLINE : SL__SOURCE_END;
            if (c) sl__source_step(s);
            return SL_OK;
        } else if (c == '"' || c == '\'') {
            return take_text(s, c);
        } else if (sl__source_begins_name(c)) {
            return take_name(s);
        } else if (isdigit((unsigned char)c)) {
            return take_number(s);
        } else {
            return take_sign(s, c);
        }
    }
}
