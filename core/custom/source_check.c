/* source_check.c - reads the source of an untrusted kernel (source_scan.h) and refuses what could
 * name a file: directives and names other than those that kernels need. Control characters,
 * trigraphs, and a backslash before a blank at a line's end are refused before that.
 */
#include "source_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source_scan.h"

/* What no line of a source may have, whatever it is part of. */
static sl_status check_bytes(sl__source *s, const char *source)
{
    const char *at = source;
    for (s->line = 1; *at; s->line += *at == '\n', at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '\r' ? at[1] != '\n' : c < ' ' && c != '\n' && !sl__source_is_blank((char)c))
            return sl__source_refuse(s, "a control character",
                                     "compilers do not agree on what it is");
        if (c == '?' && at[1] == '?' && at[2] && strchr("=/'()!<>-", at[2]))
            return sl__source_refuse(s, "??", "with the next character it is a trigraph");
        if (c == '\\' && sl__source_is_blank(at[1]) && at[1] != '\r') {
            size_t blanks = strspn(at + 1, " \t\v\f\r");
            if (at[1 + blanks] == '\n' || at[1 + blanks] == '\0')
                return sl__source_refuse(s, "a backslash with a blank behind it at a line's end",
                                         "compilers do not agree on whether the line goes on");
        }
    }
    if (at - source > SL_MOST_SOURCE_BYTES)
        return sl_fail(s->err, SL_ECOMPILE, "a source of %lld bytes is refused here: at most %d",
                       (long long)(at - source), (int)SL_MOST_SOURCE_BYTES);
    s->line = 1;
    return SL_OK;
}

static sl_status check_name(sl__source *s)
{
    char what[SL__SOURCE_NAME_BYTES + 8];
    if (sl_source_name_is_fine(s->name)) return SL_OK;
    snprintf(what, sizeof what, "%s", s->name);
    if (sl_source_name_is_ours(s->name))
        return sl__source_refuse(s, what,
                                 "names that begin with emu_, EMU_ or Emu are reserved for the "
                                 "program that runs kernels on the host");
    return sl__source_refuse(s, what,
                             s->name[0] == '_'
                                 ? "of the names that begin like this a kernel has "
                                   "those that CUDA describes"
                                 : "assembly, modules and a compiler's attributes are "
                                   "no part of a kernel");
}

/* ---- directives ---- */

/* The rest of a directive's line, whose names are looked at. A # is part of a macro. */
static sl_status check_rest(sl__source *s)
{
    sl_status status;
    while ((status = sl__source_next(s)) == SL_OK && s->kind != SL__SOURCE_NEWLINE
           && s->kind != SL__SOURCE_END) {
        if (s->kind == SL__SOURCE_NAME) status = check_name(s);
        if (status != SL_OK) return status;
    }
    return status;
}

static const char headers[] =
    "assert.h cassert cfloat climits cmath cooperative_groups.h cooperative_groups/reduce.h "
    "cstddef cstdint cstdio cstring cuda_bf16.h cuda_fp16.h cuda_runtime.h "
    "device_launch_parameters.h float.h limits limits.h math.h math_constants.h stddef.h "
    "stdint.h stdio.h string.h type_traits";

static sl_status check_include(sl__source *s)
{
    char name[64];
    size_t n = 0;
    char c = sl__source_here(s), end;
    while (sl__source_is_blank(c))
        c = sl__source_step(s);
    end = c == '<' ? '>' : '"';
    if (c != '<' && c != '"')
        return sl__source_refuse(s, "#include of a macro", "write the header's name");
    for (c = sl__source_step(s); c && c != end && c != '\n' && n + 1 < sizeof name;
         c = sl__source_step(s))
        name[n++] = c;
    name[n] = '\0';
    if (c == end && sl__source_is_listed(headers, name)) {
        sl__source_step(s);
        return check_rest(s);
    }
    return sl_fail(s->err, SL_ECOMPILE,
                   "#include of %.60s is refused here: only CUDA's headers for "
                   "kernels are here (cuda_fp16.h, cuda_bf16.h, "
                   "cooperative_groups.h) and some of C's (math.h, stdint.h)",
                   name);
}

static sl_status check_pragma(sl__source *s)
{
    sl_status status = sl__source_next(s);
    if (status != SL_OK) return status;
    if (s->kind != SL__SOURCE_NAME || strcmp(s->name, "unroll") != 0)
        return sl__source_refuse(s, "a #pragma other than unroll", "it may name files");
    return check_rest(s);
}

/* Behind the #. */
static sl_status check_directive(sl__source *s)
{
    static const char *const plain[] = { "define", "undef", "if",    "ifdef", "ifndef",
                                         "elif",   "else",  "endif", "error" };
    char what[SL__SOURCE_NAME_BYTES + 8];
    sl_status status = sl__source_next(s);
    if (status != SL_OK || s->kind == SL__SOURCE_NEWLINE || s->kind == SL__SOURCE_END)
        return status;
    if (s->kind == SL__SOURCE_NAME && strcmp(s->name, "include") == 0) return check_include(s);
    if (s->kind == SL__SOURCE_NAME && strcmp(s->name, "pragma") == 0) return check_pragma(s);
    if (s->kind == SL__SOURCE_NAME && SL__FIND_NAME(plain, *plain, s->name) >= 0)
        return check_rest(s);
    snprintf(what, sizeof what, "#%s", s->kind == SL__SOURCE_NAME ? s->name : "");
    return sl__source_refuse(
        s, what,
        "a kernel has #define, #undef, #if and its like, #error, #pragma unroll "
        "and #include of CUDA's headers");
}

/* ---- all of it ---- */

static sl_status check_tokens(sl__source *s)
{
    bool first = true;
    for (;;) {
        sl_status status = sl__source_next(s);
        if (status != SL_OK || s->kind == SL__SOURCE_END) return status;
        if (s->kind == SL__SOURCE_NAME) status = check_name(s);
        if (status == SL_OK && s->kind == SL__SOURCE_NAME && first
            && strcmp(s->name, "module") == 0)
            status = sl__source_refuse(s, "module", "a kernel is one source");
        if (status == SL_OK && s->kind == SL__SOURCE_SIGN && s->sign == '#') {
            status = check_directive(s);
            if (status == SL_OK && s->kind == SL__SOURCE_END) return SL_OK;
        }
        if (status != SL_OK) return status;
        first = s->kind == SL__SOURCE_NEWLINE;
    }
}

/* What a compiler on the host gets: where the two were not the same, this one counts. */
static sl_status check_plain(const char *source, int *line, sl_error *err)
{
    char *plain;
    sl_status status = sl_source_plain(source, &plain, line, err);
    sl__source s = { .at = plain, .line = 1, .err = err };
    if (status != SL_OK) return status;
    status = check_tokens(&s);
    *line = s.line;
    free(plain);
    return status;
}

sl_status sl_source_check(const char *source, int *line, sl_error *err)
{
    sl__source s = { .at = source, .err = err };
    sl_status status = check_bytes(&s, source);
    if (status == SL_OK) status = check_tokens(&s);
    *line = s.line;
    return status == SL_OK ? check_plain(source, line, err) : status;
}

/* ---- options ---- */

/* "SL__SOURCE_NAME", "SL__SOURCE_NAME=12", "SL__SOURCE_NAME=float". */
static bool is_definition(const char *text)
{
    char name[SL__SOURCE_NAME_BYTES + 1];
    size_t n = strcspn(text, "=");
    if (n == 0 || n >= sizeof name || !sl__source_begins_name(*text)) return false;
    memcpy(name, text, n);
    name[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (!sl__source_goes_on(name[i])) return false;
    if (!sl_source_name_is_fine(name)) return false;
    text += n + (text[n] == '=');
    for (size_t i = 0; text[i]; i++)
        if (!sl__source_goes_on(text[i]) && text[i] != '.' && text[i] != '-' && text[i] != '+')
            return false;
    for (; *text; text += *text != '\0') { /* each name in the value */
        n = 0;
        while (sl__source_goes_on(text[n]))
            n++;
        if (n >= sizeof name) return false;
        memcpy(name, text, n);
        name[n] = '\0';
        if (n > 0 && sl__source_begins_name(*name) && !sl_source_name_is_fine(name)) return false;
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
    return SL__FIND_NAME(known, *known, option) >= 0;
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
