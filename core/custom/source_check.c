/* source_check.c - reads the source of a stranger's kernel as a preprocessor does: continued lines
 * are joined, then comments, texts, names and directives are told apart.
 *
 * Where compilers differ, the source is refused: raw strings, numbers with ', trigraphs, %:, a
 * backslash before a blank at a line's end. With ## a name could be made that is nowhere in the
 * source, so that is refused as well.
 */
#include "source_check.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAME_BYTES = 120 };

typedef enum kind { END, NEWLINE, NAME, NUMBER, TEXT, SIGN } kind;

typedef struct scanner {
    const char *at;
    int line;
    kind kind;                      /* of the latest token */
    char name[MOST_NAME_BYTES + 1]; /* NAME; also the content of a TEXT that fits */
    char sign;                      /* SIGN */
    sl_error *err;
} scanner;

static sl_status refuse(scanner *s, const char *what, const char *why)
{
    return sl_fail(s->err, SL_ECOMPILE, "%s is refused here: %s", what, why);
}

/* ---- characters ---- */

/* The character at hand, after line ends that a backslash takes away. */
static char here(scanner *s)
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

static char step(scanner *s)
{
    if (*s->at == '\n') s->line++;
    s->at++;
    return here(s);
}

static bool begins_name(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool goes_on(char c) { return isalnum((unsigned char)c) || c == '_'; }
static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

/* What no line of a source may have, whatever it is part of. */
static sl_status check_bytes(scanner *s, const char *source)
{
    const char *at = source;

    for (s->line = 1; *at; s->line += *at == '\n', at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '\r' ? at[1] != '\n' : c < ' ' && c != '\n' && !is_blank((char)c))
            return refuse(s, "a control character", "compilers do not agree on what it is");
        if (c == '?' && at[1] == '?' && at[2] && strchr("=/'()!<>-", at[2]))
            return refuse(s, "??", "with the next character it is a trigraph");
        if (c == '\\' && is_blank(at[1]) && at[1] != '\r') {
            size_t blanks = strspn(at + 1, " \t\v\f\r");
            if (at[1 + blanks] == '\n' || at[1 + blanks] == '\0')
                return refuse(s, "a backslash with a blank behind it at a line's end",
                              "compilers do not agree on whether the line goes on");
        }
    }
    if (at - source > SL_MOST_SOURCE_BYTES)
        return sl_fail(s->err, SL_ECOMPILE, "a source of %lld bytes is refused here: at most %d",
                       (long long)(at - source), (int)SL_MOST_SOURCE_BYTES);
    s->line = 1;
    return SL_OK;
}

/* ---- tokens ---- */

/* Behind the opening slash and star. A comment without end goes to the end of the source. */
static void skip_block(scanner *s)
{
    char c = step(s);
    while (c) {
        bool star = c == '*';
        c = step(s);
        if (star && c == '/') {
            step(s);
            return;
        }
    }
}

/* True: there was a slash that begins no comment, which has been passed. */
static bool skip_comment(scanner *s)
{
    char c = step(s);
    if (c == '*') {
        skip_block(s);
    } else if (c == '/') {
        while (c && c != '\n')
            c = step(s);
    } else {
        return true;
    }
    return false;
}

static sl_status take_text(scanner *s, char quote)
{
    size_t n = 0;
    char c = step(s);

    for (; c != quote; c = step(s)) {
        if (c == '\\') { /* what is escaped may be the quote */
            if (n < MOST_NAME_BYTES) s->name[n++] = c;
            c = step(s);
        }
        if (c == '\0' || c == '\n')
            return refuse(s,
                          quote == '"' ? "a \" without another one in its line"
                                       : "a ' without another one in its line",
                          "nobody knows where that text ends");
        if (n < MOST_NAME_BYTES) s->name[n++] = c;
    }
    s->name[n] = '\0';
    s->kind = TEXT;
    step(s);
    return SL_OK;
}

/* R"x(...)x" has rules of its own, and so have 1'000 and x'y'. */
static sl_status check_quote(scanner *s)
{
    static const char *const prefixes[] = { "u8", "u", "U", "L" };
    char c = here(s);

    if (c == '"' && s->name[strlen(s->name) - 1] == 'R')
        return refuse(s, "a raw text (R\"...\")", "write it as \"...\"");
    if (c != '\'') return SL_OK;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strcmp(s->name, prefixes[i]) == 0) return SL_OK;
    return refuse(s, "a ' right behind a name or a number", "write 1000 for 1'000");
}

static sl_status take_name(scanner *s)
{
    size_t n = 0;

    for (char c = here(s); goes_on(c); c = step(s)) {
        if (n == MOST_NAME_BYTES)
            return refuse(s, "a name of more than 120 characters", "a shorter one will do");
        s->name[n++] = c;
    }
    s->name[n] = '\0';
    s->kind = NAME;
    return check_quote(s);
}

/* Signs of an exponent are left: what is behind them is looked at as a name, whatever compilers
 * say. */
static sl_status take_number(scanner *s)
{
    strcpy(s->name, "0");
    for (char c = here(s); goes_on(c) || c == '.'; c = step(s))
        continue;
    s->kind = NUMBER;
    return check_quote(s);
}

static sl_status take_sign(scanner *s, char c)
{
    char next;

    if (c == '\\' || c == '$' || c == '@' || c == '`' || (unsigned char)c >= 0x80)
        return refuse(s,
                      "a \\, $, @, ` or a letter that is not English outside of texts and "
                      "comments",
                      "CUDA C++ has no use for it");
    s->kind = SIGN;
    s->sign = c;
    next = step(s);
    if (c == '%' && next == ':') return refuse(s, "%:", "it is another way to write #");
    if (c == '#' && next == '#')
        return refuse(s, "##", "it makes names that are nowhere in the source");
    return SL_OK;
}

static sl_status next(scanner *s)
{
    for (;;) {
        char c = here(s);
        if (c == '/') {
            s->kind = SIGN, s->sign = '/';
            if (skip_comment(s)) return SL_OK;
        } else if (is_blank(c)) {
            step(s);
        } else if (c == '\0' || c == '\n') {
            s->kind = c ? NEWLINE : END;
            if (c) step(s);
            return SL_OK;
        } else if (c == '"' || c == '\'') {
            return take_text(s, c);
        } else if (begins_name(c)) {
            return take_name(s);
        } else if (isdigit((unsigned char)c)) {
            return take_number(s);
        } else {
            return take_sign(s, c);
        }
    }
}

static sl_status check_name(scanner *s)
{
    char what[MOST_NAME_BYTES + 8];

    if (sl_source_name_is_fine(s->name)) return SL_OK;
    snprintf(what, sizeof what, "%s", s->name);
    return refuse(s, what,
                  s->name[0] == '_' ? "of the names that begin like this a kernel has "
                                      "those that CUDA describes"
                                    : "assembly, modules and a compiler's attributes are "
                                      "no part of a kernel");
}

/* ---- directives ---- */

/* The rest of a directive's line, whose names are looked at. A # is part of a macro. */
static sl_status check_rest(scanner *s)
{
    sl_status status;
    while ((status = next(s)) == SL_OK && s->kind != NEWLINE && s->kind != END) {
        if (s->kind == NAME) status = check_name(s);
        if (status != SL_OK) return status;
    }
    return status;
}

static const char *const headers[] = {
    "assert.h",
    "cassert",
    "cfloat",
    "climits",
    "cmath",
    "cooperative_groups.h",
    "cooperative_groups/reduce.h",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstring",
    "cuda_bf16.h",
    "cuda_fp16.h",
    "cuda_runtime.h",
    "device_launch_parameters.h",
    "float.h",
    "limits",
    "limits.h",
    "math.h",
    "math_constants.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "string.h",
    "type_traits",
};

static sl_status check_include(scanner *s)
{
    char name[64];
    size_t n = 0;
    char c = here(s), end;

    while (is_blank(c))
        c = step(s);
    end = c == '<' ? '>' : '"';
    if (c != '<' && c != '"') return refuse(s, "#include of a macro", "write the header's name");
    for (c = step(s); c && c != end && c != '\n' && n + 1 < sizeof name; c = step(s))
        name[n++] = c;
    name[n] = '\0';
    for (size_t i = 0; c == end && i < sizeof headers / sizeof *headers; i++) {
        if (strcmp(headers[i], name) != 0) continue;
        step(s);
        return check_rest(s);
    }
    return sl_fail(s->err, SL_ECOMPILE,
                   "#include of %.60s is refused here: only CUDA's headers for "
                   "kernels are here (cuda_fp16.h, cuda_bf16.h, "
                   "cooperative_groups.h) and some of C's (math.h, stdint.h)",
                   name);
}

static sl_status check_pragma(scanner *s)
{
    sl_status status = next(s);
    if (status != SL_OK) return status;
    if (s->kind != NAME || strcmp(s->name, "unroll") != 0)
        return refuse(s, "a #pragma other than unroll", "it may name files");
    return check_rest(s);
}

/* Behind the #. */
static sl_status check_directive(scanner *s)
{
    static const char *const plain[] = { "define", "undef", "if",    "ifdef", "ifndef",
                                         "elif",   "else",  "endif", "error" };
    char what[MOST_NAME_BYTES + 8];
    sl_status status = next(s);

    if (status != SL_OK || s->kind == NEWLINE || s->kind == END) return status;
    if (s->kind == NAME && strcmp(s->name, "include") == 0) return check_include(s);
    if (s->kind == NAME && strcmp(s->name, "pragma") == 0) return check_pragma(s);
    for (size_t i = 0; s->kind == NAME && i < sizeof plain / sizeof *plain; i++)
        if (strcmp(s->name, plain[i]) == 0) return check_rest(s);
    snprintf(what, sizeof what, "#%s", s->kind == NAME ? s->name : "");
    return refuse(s, what,
                  "a kernel has #define, #undef, #if and its like, #error, #pragma unroll "
                  "and #include of CUDA's headers");
}

/* ---- all of it ---- */

static sl_status check_tokens(scanner *s)
{
    bool first = true;
    for (;;) {
        sl_status status = next(s);
        if (status != SL_OK || s->kind == END) return status;
        if (s->kind == NAME) status = check_name(s);
        if (status == SL_OK && s->kind == NAME && first && strcmp(s->name, "module") == 0)
            status = refuse(s, "module", "a kernel is one source");
        if (status == SL_OK && s->kind == SIGN && s->sign == '#') {
            status = check_directive(s);
            if (status == SL_OK && s->kind == END) return SL_OK;
        }
        if (status != SL_OK) return status;
        first = s->kind == NEWLINE;
    }
}

sl_status sl_source_check(const char *source, int *line, sl_error *err)
{
    scanner s = { .at = source, .err = err };
    sl_status status = check_bytes(&s, source);

    if (status == SL_OK) status = check_tokens(&s);
    *line = s.line;
    return status;
}

/* ---- options ---- */

/* "NAME", "NAME=12", "NAME=float". */
static bool is_definition(const char *text)
{
    char name[MOST_NAME_BYTES + 1];
    size_t n = strcspn(text, "=");

    if (n == 0 || n >= sizeof name || !begins_name(*text)) return false;
    memcpy(name, text, n);
    name[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (!goes_on(name[i])) return false;
    if (!sl_source_name_is_fine(name)) return false;
    text += n + (text[n] == '=');
    for (size_t i = 0; text[i]; i++)
        if (!goes_on(text[i]) && text[i] != '.' && text[i] != '-' && text[i] != '+') return false;
    for (; *text; text += *text != '\0') { /* each name in the value */
        n = 0;
        while (goes_on(text[n]))
            n++;
        if (n >= sizeof name) return false;
        memcpy(name, text, n);
        name[n] = '\0';
        if (n > 0 && begins_name(*name) && !sl_source_name_is_fine(name)) return false;
        text += n;
    }
    return true;
}

static bool is_option(const char *option)
{
    static const char *const known[] = {
        "-std=c++11",      "-std=c++14",     "-std=c++17",  "-std=c++20",
        "--std=c++11",     "--std=c++14",    "--std=c++17", "--std=c++20",
        "--use_fast_math", "-use_fast_math", "-lineinfo",   "--generate-line-info",
        "-fmad=true",      "-fmad=false",    "--fmad=true", "--fmad=false",
    };

    if (strncmp(option, "-D", 2) == 0) return is_definition(option + 2);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], option) == 0) return true;
    return false;
}

sl_status sl_source_check_options(const char *const *options, size_t n, sl_error *err)
{
    if (n > SL_MOST_OPTIONS)
        return sl_fail(err, SL_EINVAL, "%zu options are refused here: at most %d", n,
                       (int)SL_MOST_OPTIONS);
    for (size_t i = 0; i < n; i++) {
        if (!is_option(options[i]))
            return sl_fail(err, SL_EINVAL,
                           "the option \"%.60s\" is refused here: -DNAME=16, -std=c++17 and "
                           "--use_fast_math are not",
                           options[i]);
    }
    return SL_OK;
}

sl_status sl_source_check_name(const char *name, sl_error *err)
{
    int line;
    sl_error why = { .status = SL_OK };

    if (strpbrk(name, "#\"'\\\n/") || sl_source_check(name, &line, &why) != SL_OK)
        return sl_fail(err, SL_EINVAL, "the name \"%.60s\" is refused here", name);
    return SL_OK;
}
