/* source_plain.c - joins continued lines and takes out comments, so that the check of sources, the
 * emulator's rewriting and the compiler agree on where a line and a comment end: what they get has
 * neither. Texts and characters in quotes are copied, raw texts to the byte. */
#include "source_check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct copier {
    const char *at;
    char *to, *begin;
    int line, owed; /* line ends that joining has taken away, put back at the next one */
} copier;

/* Bytes of a backslash, blanks and a line's end; 0: the line does not go on. */
static size_t continuation(const char *at)
{
    if (*at != '\\') return 0;
    size_t blanks = strspn(at + 1, " \t\v\f\r");
    return at[1 + blanks] == '\n' ? blanks + 2 : at[1 + blanks] ? 0 : blanks + 1;
}

/* The character at hand, behind what joins lines, and the \r of Windows' lines. */
static char here(copier *c)
{
    for (size_t n; (n = continuation(c->at)) > 0; c->at += n) {
        c->owed += c->at[n - 1] == '\n';
        c->line += c->at[n - 1] == '\n';
    }
    if (c->at[0] == '\r' && c->at[1] == '\n') c->at++;
    return *c->at;
}

/* What comes behind the character at hand. */
static char behind(const copier *c)
{
    copier next = *c;
    next.at++;
    return here(&next);
}

static void put(copier *c, char one)
{
    *c->to++ = one;
    for (; one == '\n' && c->owed > 0; c->owed--)
        *c->to++ = '\n';
}

/* The character at hand, or a blank for it. */
static void take(copier *c, bool blank)
{
    const char one = here(c);
    c->line += one == '\n';
    put(c, blank && one != '\n' && one != '\t' ? ' ' : one);
    c->at++;
}

/* False: it has no end. */
static bool skip_block(copier *c)
{
    take(c, true);
    take(c, true);
    while (here(c) && !(here(c) == '*' && behind(c) == '/'))
        take(c, true);
    if (!here(c)) return false;
    take(c, true);
    take(c, true);
    return true;
}

static bool is_part_of_name(char one) { return isalnum((unsigned char)one) || one == '_'; }

/* The letters and digits in front of what comes next, from the last other character on. */
static const char *word_before(const copier *c)
{
    const char *at = c->to;
    while (at > c->begin && is_part_of_name(at[-1]))
        at--;
    return at;
}

/* 1.5e+3, 0x1p-2f, 1'000: a preprocessor's number ends where we are. */
static bool is_in_number(const copier *c)
{
    const char *at = c->to;
    while (at > c->begin
           && (is_part_of_name(at[-1]) || at[-1] == '.' || at[-1] == '\''
               || (strchr("+-", at[-1]) && at - 1 > c->begin && strchr("eEpP", at[-2]))))
        at--;
    if (at < c->to && *at == '.') at++;
    return at < c->to && isdigit((unsigned char)*at);
}

static bool is_raw(const copier *c)
{
    static const char *const prefixes[] = { "R", "u8R", "uR", "UR", "LR" };
    const char *word = word_before(c);
    if (is_in_number(c)) return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if ((size_t)(c->to - word) == strlen(prefixes[i])
            && strncmp(word, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* R"x( ... )x", in which nothing is joined. */
static void copy_raw(copier *c)
{
    const char *open = strchr(c->at, '('), *end = open;
    const size_t mark = open ? (size_t)(open - c->at) - 1 : 0; /* its characters */
    while (end && (end = strchr(end, ')')) != NULL) {
        if (strncmp(end + 1, c->at + 1, mark) == 0 && end[1 + mark] == '"') break;
        end++;
    }
    for (const char *stop = end ? end + mark + 2 : c->at + 1; c->at < stop; c->at++) {
        c->line += *c->at == '\n';
        *c->to++ = *c->at; /* no line ends that are owed */
    }
}

/* Up to the quote, or the end of the line. */
static void copy_quoted(copier *c, char quote)
{
    take(c, false);
    while (here(c) && here(c) != '\n' && here(c) != quote) {
        if (here(c) == '\\' && behind(c) && behind(c) != '\n') take(c, false);
        take(c, false);
    }
    if (here(c) == quote) take(c, false);
}

static bool copy_next(copier *c)
{
    const char one = here(c);
    if (one == '/' && behind(c) == '*') return skip_block(c);
    if (one == '/' && behind(c) == '/')
        while (here(c) && here(c) != '\n')
            take(c, true);
    else if (one == '"' && is_raw(c))
        copy_raw(c);
    else if (one == '"' || (one == '\'' && !is_in_number(c)))
        copy_quoted(c, one);
    else
        take(c, false);
    return true;
}

sl_status sl_source_plain(const char *source, char **plain, int *line, sl_error *err)
{
    copier c = { .at = source, .line = 1 };
    *line = 1;
    c.begin = c.to = *plain = malloc(strlen(source) + 2);
    if (!*plain) return sl__no_memory(err, "a kernel's source");
    while (here(&c)) {
        *line = c.line;
        if (copy_next(&c)) continue;
        free(*plain);
        *plain = NULL;
        return sl_fail(err, SL_ECOMPILE, "a comment has no end");
    }
    for (; c.owed > 0; c.owed--)
        *c.to++ = '\n';
    *c.to = '\0';
    return SL_OK;
}
