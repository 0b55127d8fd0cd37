/* source.c - reads a source word by word, and rewrites declarations of dynamic shared memory.
 *
 *     extern __shared__ float tile[];      extern            float tile[] __asm__("tile");
 *
 * A macro could not do that: __shared__ means `static` elsewhere. The variable's name is a symbol
 * of its own, whose definition is an assembler's label. */
#include "unit.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct word {
    const char *at;
    size_t n;
} word;

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool is(const word *one, const char *text)
{
    return one->n == strlen(text) && strncmp(one->at, text, one->n) == 0;
}

/* Behind a comment, or a text in quotes, that begins at `at`; `at` itself if none does. */
static const char *skip_quoted(const char *at)
{
    const char quote = *at;
    const char *end;
    if (at[0] == '/' && at[1] == '/') return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (quote != '"' && quote != '\'') return at;
    for (at++; *at && *at != quote && *at != '\n'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

/* The next word or sign; its n is 0 at the end. */
static word next_word(const char *at)
{
    const char *behind;
    size_t n = 0;
    while (*at) {
        behind = skip_quoted(at);
        if (behind == at && !isspace((unsigned char)*at)) break;
        at = behind == at ? at + 1 : behind;
    }
    if (*at && !is_letter(*at)) return (word){ at, 1 };
    while (is_letter(at[n]))
        n++;
    return (word){ at, n };
}

static bool ends_declaration(const word *one)
{
    return one->n == 0 || is(one, ";") || is(one, "{") || is(one, "}");
}

typedef struct declaration { /* of one variable */
    bool is_shared, is_external;
    word shared, kept; /* the words __shared__, and static */
    word name;         /* in front of its first bracket */
    const char *end;
} declaration;

static declaration read_declaration(const char *at)
{
    declaration d = { .is_shared = false };
    word one = next_word(at), before = { at, 0 };
    for (; !ends_declaration(&one); one = next_word(one.at + one.n)) {
        if (is(&one, "__shared__")) {
            d.is_shared = true;
            d.shared = one;
        }
        d.is_external |= is(&one, "extern");
        if (is(&one, "static")) d.kept = one;
        if (is(&one, "[") && !d.name.n && is_letter(*before.at)) d.name = before;
        before = one;
    }
    d.end = one.at + one.n;
    return d;
}

/* Adds the text from `from` to `to`, and blanks for the word in it. */
static void add_without(emu_text *unit, const char *from, const char *to, const word *without)
{
    if (!without->n) {
        emu_text_add(unit, from, (size_t)(to - from));
        return;
    }
    emu_text_add(unit, from, (size_t)(without->at - from));
    emu_text_printf(unit, "%*s", (int)without->n, "");
    emu_text_add(unit, without->at + without->n, (size_t)(to - without->at) - without->n);
}

/* The symbol is the name itself, in a namespace, too. */
static void add_dynamic(emu_text *unit, const char *source, const declaration *d)
{
    const char *sign = d->end - 1; /* ";" */
    add_without(unit, source, sign, &d->shared);
    emu_text_printf(unit, " __asm__(\"%.*s\")%c", (int)d->name.n, d->name.at, *sign);
}

static void define(emu_text *definitions, const word *name)
{
    char label[128];
    snprintf(label, sizeof label, "\"%.*s:\\n\"\n", (int)name->n, name->at);
    if (!definitions->data || !strstr(definitions->data, label)) emu_text_puts(definitions, label);
}

void emu_source_add(const char *source, emu_text *unit, emu_text *definitions)
{
    while (*source) {
        const declaration d = read_declaration(source);
        const word none = { source, 0 };
        const bool is_dynamic = d.is_shared && d.is_external && d.name.n;
        if (is_dynamic) {
            add_dynamic(unit, source, &d);
            define(definitions, &d.name);
        } else {
            add_without(unit, source, d.end, d.is_shared ? &d.kept : &none);
        }
        source = d.end;
    }
}

/* ---- macros ---- */

static bool begins_name(const word *one)
{
    return one->n > 0 && is_letter(*one->at) && !isdigit((unsigned char)*one->at);
}

/* Our own macros. */
static bool is_ours(const word *one) { return strncmp(one->at, "EMU_", 4) == 0; }

void emu_source_undefine(const char *text, emu_text *unit)
{
    for (word one = next_word(text); one.n; one = next_word(one.at + one.n)) {
        if (!begins_name(&one) || is_ours(&one)) continue;
        emu_text_printf(unit, "#undef %.*s\n", (int)one.n, one.at);
    }
}
