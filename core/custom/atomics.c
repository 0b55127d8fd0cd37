/* atomics.c - reads a kernel's source for tensors that only atomic functions touch.
 *
 * Doubt makes a tensor an ordinary one: the race checker then reports what it reported before. */
#include "custom_kernel.h"

#include <string.h>

#include "source_scan.h"

enum { LATEST = 4 };

/* A token, as much of it as is needed. */
typedef struct token {
    sl__source_kind kind;
    char sign;
    char name[SL__SOURCE_NAME_BYTES + 1];
} token;

/* The source, with the latest tokens: [0] is the last one. */
typedef struct reader {
    sl__source scanner;
    token last[LATEST];
    bool in_macro; /* the last one is part of a #define */
} reader;

typedef struct parameters {
    char name[SL_MOST_ARGS][SL__SOURCE_NAME_BYTES + 1];
    uint32_t n;
} parameters;

static bool is_sign(const token *t, char sign)
{
    return t->kind == SL__SOURCE_SIGN && t->sign == sign;
}

static bool is_name(const token *t, const char *name)
{
    return t->kind == SL__SOURCE_NAME && strcmp(t->name, name) == 0;
}

/* False: the end, or what no compiler reads in one way. Line ends are skipped. */
static bool read_token(reader *r)
{
    do {
        if (sl__source_next(&r->scanner) != SL_OK || r->scanner.kind == SL__SOURCE_END)
            return false;
        r->in_macro &= r->scanner.kind != SL__SOURCE_NEWLINE;
    } while (r->scanner.kind == SL__SOURCE_NEWLINE);
    memmove(&r->last[1], &r->last[0], (LATEST - 1) * sizeof *r->last);
    r->last[0] = (token){ .kind = r->scanner.kind, .sign = r->scanner.sign };
    if (r->scanner.kind == SL__SOURCE_NAME) strcpy(r->last[0].name, r->scanner.name);
    r->in_macro |= is_name(&r->last[0], "define") && is_sign(&r->last[1], '#');
    return true;
}

static reader begin(const char *source)
{
    return (reader){ .scanner = { .at = source, .line = 1 } };
}

/* CUDA's, for all threads of the GPU or of the machine. */
static bool is_atomic(const token *t)
{
    static const char *const operations[] = { "Add", "Sub", "Exch", "Min", "Max", "Inc",
                                              "Dec", "CAS", "And",  "Or",  "Xor" };
    if (t->kind != SL__SOURCE_NAME || strncmp(t->name, "atomic", 6) != 0) return false;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const char *rest = t->name + 6;
        size_t n = strlen(operations[i]);
        if (strncmp(rest, operations[i], n) == 0 && (!rest[n] || strcmp(rest + n, "_system") == 0))
            return true;
    }
    return false;
}

/* ---- the parameters ---- */

/* Behind the opening parenthesis. The name of each is the last one before its comma. */
static bool read_parameters(reader *r, parameters *of)
{
    int depth = 0;
    memset(of, 0, sizeof *of);
    while (read_token(r)) {
        const token *t = &r->last[0];
        bool ends = depth == 0 && (is_sign(t, ',') || is_sign(t, ')'));
        if (ends && (r->last[1].kind != SL__SOURCE_NAME || of->n == SL_MOST_ARGS)) return false;
        if (ends) strcpy(of->name[of->n++], r->last[1].name);
        if (ends && is_sign(t, ')')) return true;
        depth += (is_sign(t, '<') || is_sign(t, '(')) - (is_sign(t, '>') || is_sign(t, ')'));
    }
    return false;
}

/* Leaves the reader behind the { of the kernel's only definition, with its parameters. False: there
 * is none, or several, as of a template with cases of its own. */
static bool find_kernel(reader *r, const char *name, parameters *of)
{
    reader found;
    parameters list;
    int n = 0;
    while (read_token(r)) {
        if (!is_name(&r->last[0], name)) continue;
        if (!read_token(r) || !is_sign(&r->last[0], '(') || !read_parameters(r, &list))
            return false;
        if (!read_token(r)) return false;
        if (!is_sign(&r->last[0], '{')) continue; /* a declaration */
        found = *r;
        *of = list;
        n++;
    }
    if (n == 1) *r = found;
    return n == 1;
}

/* ---- uses ---- */

/* Behind name [: what is in the brackets is read on its own. Whether a comma follows them. */
static bool is_element(reader r)
{
    int depth = 1;
    while (depth > 0 && read_token(&r))
        depth += is_sign(&r.last[0], '[') - is_sign(&r.last[0], ']');
    return depth == 0 && read_token(&r) && is_sign(&r.last[0], ',');
}

/* The reader has just read the name of a pointer. */
static bool is_address_of_atomic(reader r)
{
    const bool by_element = is_sign(&r.last[1], '&');
    const token *before = &r.last[by_element ? 2 : 1], *function = before + 1;
    if (!is_sign(before, '(') || !is_atomic(function)) return false;
    if (!read_token(&r)) return false;
    if (by_element) return is_sign(&r.last[0], '[') && is_element(r);
    return is_sign(&r.last[0], ',') || is_sign(&r.last[0], '+');
}

/* The numbers of the parameters of that name, as bits. */
static uint32_t named(const parameters *of, const token *t)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < of->n; i++)
        if (is_name(t, of->name[i])) bits |= 1u << i;
    return bits;
}

/* The parameters that are addresses in calls of atomic functions in the kernel's body, and nothing
 * else there. */
static uint32_t read_body(reader *r, const parameters *of)
{
    uint32_t atomic = 0, other = 0;
    for (int depth = 1; depth > 0 && read_token(r);) {
        uint32_t bits = named(of, &r->last[0]);
        depth += is_sign(&r->last[0], '{') - is_sign(&r->last[0], '}');
        if (bits) *(is_address_of_atomic(*r) ? &atomic : &other) |= bits;
    }
    return atomic & ~other;
}

/* ---- what may mean something else ---- */

/* Behind a type a name is defined; behind :: . and -> it is another one. What comes after `return`
 * and `else` is a call. */
static bool may_be_another(const token *before)
{
    if (before->kind == SL__SOURCE_NAME)
        return !is_name(before, "return") && !is_name(before, "else");
    return before->kind == SL__SOURCE_SIGN && strchr("*&:.>", before->sign) != NULL;
}

/* Parameters whose names a macro may use; all of them if a macro, or a function of the source, may
 * stand for an atomic function. */
static uint32_t hidden(const char *text, bool in_macro, const parameters *of)
{
    uint32_t bits = 0;
    reader r = begin(text);
    while (read_token(&r)) {
        bool in = in_macro || r.in_macro;
        if (is_atomic(&r.last[0]) && (in || may_be_another(&r.last[1]))) return UINT32_MAX;
        if (in) bits |= named(of, &r.last[0]);
    }
    return r.scanner.kind == SL__SOURCE_END ? bits : UINT32_MAX;
}

static uint32_t hidden_by_options(const sl_custom *kernel, const parameters *of)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < kernel->n_options; i++)
        bits |= hidden(kernel->options[i] + (strncmp(kernel->options[i], "-D", 2) == 0 ? 2 : 0),
                       true, of);
    return bits;
}

/* ---- the whole ---- */

static uint32_t find(const sl_custom *kernel)
{
    char name[SL__SOURCE_NAME_BYTES + 1];
    size_t n = strcspn(kernel->name, "<");
    parameters of;
    reader r = begin(kernel->source);
    if (n > SL__SOURCE_NAME_BYTES) return 0;
    memcpy(name, kernel->name, n);
    name[n] = '\0';
    if (!find_kernel(&r, name, &of) || of.n != kernel->n_args) return 0;
    return read_body(&r, &of) & ~hidden(kernel->source, false, &of)
           & ~hidden_by_options(kernel, &of);
}

void sl__find_atomics(sl_custom *kernel)
{
    uint32_t atomic = kernel->source ? find(kernel) : 0;
    for (uint32_t i = 0; i < kernel->n_args; i++)
        if (atomic >> i & 1 && kernel->args[i].access == (SL_READS | SL_WRITES))
            kernel->args[i].access |= SL_ATOMIC;
}
