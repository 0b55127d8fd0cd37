/* registers.c - reads a kernel's source for the arrays that each thread has for itself, and for
 * shared memory.
 *
 * They lie in registers, where a compiler unrolls the loops over them. Where nobody has measured a
 * kernel's registers, the simulator takes these to come on top of what every kernel needs. */
#include "custom_kernel.h"

#include <stdlib.h>
#include <string.h>

#include "source_scan.h"

enum {
    UNKNOWN = 0,
    MOST = 192,            /* larger arrays do not fit, and lie in memory */
    MOST_SHARED = 1 << 14, /* words: more than a kernel can declare */
    MOST_LOOKS = 64        /* for what a name gives: each reads the source once more */
};

typedef struct named {
    const char *source;
    int looks;         /* so far */
    int most;          /* what a size can be */
    bool shared;       /* whether __shared__ has come */
    int shared_words;  /* what is declared so; UNKNOWN if one has no known size */
    bool has_branches; /* whether the preprocessor leaves out some of the body */
} named;

static bool is_name(const sl__source *s, const char *name)
{
    return s->kind == SL__SOURCE_NAME && strcmp(s->name, name) == 0;
}

static bool is_sign(const sl__source *s, char sign)
{
    return s->kind == SL__SOURCE_SIGN && s->sign == sign;
}

/* False: the end, or what no compiler reads in one way. Line ends are skipped. */
static bool next(sl__source *s)
{
    do {
        if (sl__source_next(s) != SL_OK) return false;
    } while (s->kind == SL__SOURCE_NEWLINE);
    return s->kind != SL__SOURCE_END;
}

/* The number that has just been read. */
static int number(const sl__source *s, const named *in)
{
    const char *begin = s->at;
    while (sl__source_goes_on(begin[-1]))
        begin--;
    const long value = strtol(begin, NULL, 0);
    return value > 0 && value <= in->most ? (int)value : UNKNOWN;
}

/* What `#define name 8` or `name = 8` gives it. */
static int constant(named *in, const char *name)
{
    sl__source s = { .at = in->source, .line = 1 };
    bool defines = false;
    if (in->looks++ >= MOST_LOOKS) return UNKNOWN;
    while (next(&s)) {
        if (!is_name(&s, name)) {
            defines = is_name(&s, "define");
            continue;
        }
        if (!next(&s)) break;
        if (is_sign(&s, '=') && next(&s)) defines = true;
        if (defines && s.kind == SL__SOURCE_NUMBER) return number(&s, in);
        defines = false;
    }
    return UNKNOWN;
}

/* How many registers, or words of four bytes, one of that type takes; 0: it is none of these. */
static int width(const sl__source *s)
{
    static const struct {
        const char *name;
        int registers;
    } types[] = { { "float", 1 },  { "int", 1 },    { "unsigned", 1 }, { "uint32_t", 1 },
                  { "double", 2 }, { "float2", 2 }, { "float4", 4 },   { "__half2", 1 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is_name(s, types[i].name)) return types[i].registers;
    return 0;
}

/* Behind the first [ of a declaration: the product of what is in all brackets. */
static int elements(sl__source *s, named *in)
{
    int product = 1;
    do {
        int n = UNKNOWN;
        if (!next(s)) return UNKNOWN;
        if (s->kind == SL__SOURCE_NUMBER) n = number(s, in);
        if (s->kind == SL__SOURCE_NAME) n = constant(in, s->name);
        if (!next(s) || !is_sign(s, ']') || n == UNKNOWN || n * product > in->most) return UNKNOWN;
        product *= n;
    } while (next(s) && is_sign(s, '['));
    return product;
}

/* Behind the { of the kernel's first definition. */
static bool find_body(sl__source *s, const char *name, size_t name_bytes)
{
    while (next(s)) {
        if (s->kind != SL__SOURCE_NAME || strlen(s->name) != name_bytes
            || memcmp(s->name, name, name_bytes) != 0)
            continue;
        while (!is_sign(s, '{') && !is_sign(s, ';'))
            if (!next(s)) return false;
        if (is_sign(s, '{')) return true;
    }
    return false;
}

static void skip_braces(sl__source *s)
{
    for (int depth = 1; depth > 0 && next(s);)
        depth += is_sign(s, '{') - is_sign(s, '}');
}

/* One declaration, behind its type, to its end: float a[8] = {}, b[4][4]; */
static int declared(sl__source *s, named *in, int registers)
{
    int sum = 0, depth = 0;
    bool is_value = false, more = next(s);
    while (more && sum <= MOST && !(depth == 0 && is_sign(s, ';'))) {
        const bool names = s->kind == SL__SOURCE_NAME && depth == 0 && !is_value;
        if (is_sign(s, '{')) skip_braces(s);
        depth += is_sign(s, '(') - is_sign(s, ')');
        if (depth < 0) break; /* a parameter, or a cast */
        if (depth == 0 && (is_sign(s, '=') || is_sign(s, ','))) is_value = is_sign(s, '=');
        more = next(s);
        if (more && names && is_sign(s, '[')) sum += registers * elements(s, in);
    }
    return sum;
}

/* One declaration behind __shared__, to its end: float a[32][33], sum; In words; UNKNOWN: it has
 * another form, another type or a size that is not known. */
static int shared_words(sl__source *s, named *in)
{
    const int words = next(s) ? width(s) : 0;
    int sum = 0;
    bool more = next(s);
    if (is_name(s, "int")) more = next(s); /* unsigned int */
    while (words > 0 && more && s->kind == SL__SOURCE_NAME && next(s)) {
        const int n = is_sign(s, '[') ? elements(s, in) : 1;
        sum += words * n;
        if (n == UNKNOWN || sum > MOST_SHARED) return UNKNOWN;
        if (is_sign(s, ';')) return sum;
        more = is_sign(s, ',') && next(s);
    }
    return UNKNOWN;
}

static void add_shared(sl__source *s, named *in)
{
    const bool is_first = !in->shared;
    in->most = MOST_SHARED;
    const int words = shared_words(s, in);
    in->most = MOST;
    in->shared = true;
    const bool is_known = words != UNKNOWN && (is_first || in->shared_words != UNKNOWN)
                          && in->shared_words + words <= MOST_SHARED;
    in->shared_words = is_known ? in->shared_words + words : UNKNOWN;
}

static int in_body(sl__source *s, named *in)
{
    int sum = 0;
    bool begins = true;
    for (int depth = 1; depth > 0 && next(s);) {
        const int registers = begins ? width(s) : 0;
        if (begins && is_name(s, "const")) continue;
        if (is_name(s, "__shared__")) add_shared(s, in);
        in->has_branches |= is_name(s, "endif");
        if (registers > 0) sum = sl__min(MOST + 1, sum + declared(s, in, registers));
        depth += is_sign(s, '{') - is_sign(s, '}');
        begins = is_sign(s, '{') || is_sign(s, '}') || is_sign(s, ';');
    }
    return sum;
}

void sl__find_arrays(sl_custom *kernel)
{
    sl__source s = { .at = kernel->source, .line = 1 };
    if (!kernel->source || !find_body(&s, kernel->name, strcspn(kernel->name, "<"))) return;
    named in = { .source = kernel->source, .most = MOST };
    const int sum = in_body(&s, &in);
    kernel->array_registers = (uint8_t)(sum <= MOST ? sum : 0);
    kernel->declares_shared = in.shared;
    if (in.shared_words != UNKNOWN && !in.has_branches)
        kernel->info.shared_bytes = 4 * (int64_t)in.shared_words;
}
