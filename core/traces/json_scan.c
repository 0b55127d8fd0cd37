/* json_scan.c - walking through JSON in memory, one value at a time.
 *
 * There is no recursion into skipped values: a stack of bits remembers which brackets are open.
 */
#include "json_scan.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define MAX_DEPTH 512
#define SHOWN_BYTES 36 /* of a value in a sentence */
#define MAX_DIGITS_VALUE (UINT64_MAX / 10 - 1)
#define MAX_EXPONENT 100000

void sl__scan_open(sl__scan *scan, const char *text, size_t n)
{
    *scan = (sl__scan){ .at = text, .end = text + n, .start = text };
}

/* ---- sentences ------------------------------------------------------------- */

const char *sl__json_show(const sl__json_value *value, char shown[SL__JSON_SHOWN])
{
    size_t n = value->n < SHOWN_BYTES ? value->n : SHOWN_BYTES;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)value->text[i];
        shown[i] = c < 0x20 || c >= 0x7F ? '?' : (char)c;
    }
    strcpy(shown + n, value->n > n ? "..." : "");
    return shown;
}

uint64_t sl__scan_position(const sl__scan *scan, const char *place)
{
    return scan->before + (uint64_t)(place - scan->start) + 1;
}

static sl_status fail_at(const sl__scan *scan, sl_error *err, const char *expected)
{
    uint64_t at = sl__scan_position(scan, scan->at);
    if (scan->at == scan->end)
        return sl_fail(err, SL_EINVAL, "it ends after byte %" PRIu64 ", where %s should be", at - 1,
                       expected);
    sl__json_value rest = { scan->at, 1, SL__JSON_WORD };
    char shown[SL__JSON_SHOWN];
    return sl_fail(err, SL_EINVAL, "at byte %" PRIu64 " there is '%s' where %s should be", at,
                   sl__json_show(&rest, shown), expected);
}

static sl_status fail_cut(sl__scan *scan, const char *from, sl_error *err, const char *what)
{
    scan->hit_end = true;
    return sl_fail(err, SL_EINVAL,
                   "it ends after byte %" PRIu64 " inside %s that begins at byte %" PRIu64,
                   sl__scan_position(scan, scan->end) - 1, what, sl__scan_position(scan, from));
}

/* ---- values ---------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

char sl__scan_peek(sl__scan *scan)
{
    while (scan->at < scan->end && is_blank(*scan->at))
        scan->at++;
    if (scan->at < scan->end) return *scan->at;
    scan->hit_end = true;
    return '\0';
}

/* Moves behind the text that begins at scan->at. */
static sl_status skip_text(sl__scan *scan, sl_error *err)
{
    const char *from = scan->at, *at = from + 1, *quote;
    while ((quote = memchr(at, '"', (size_t)(scan->end - at)))) {
        const char *escape;
        while (at <= quote && (escape = memchr(at, '\\', (size_t)(quote - at))))
            at = escape + 2; /* at most quote + 1: then the quote is escaped */
        if (at <= quote) {
            scan->at = quote + 1;
            return SL_OK;
        }
    }
    return fail_cut(scan, from, err, "a text");
}

/* Most bytes that are passed over are of words, or blanks and what stands between values. */
enum { OTHER, BETWEEN, OF_WORD };

/* clang-format off */
static const uint8_t class_of[256] = {
    [' '] = BETWEEN, ['\t'] = BETWEEN, ['\n'] = BETWEEN, ['\r'] = BETWEEN,
    [','] = BETWEEN, [':'] = BETWEEN,
#define X(c) [c] = OF_WORD,
    X('-') X('+') X('.')
    X('0') X('1') X('2') X('3') X('4') X('5') X('6') X('7') X('8') X('9')
    X('a') X('b') X('c') X('d') X('e') X('f') X('g') X('h') X('i') X('j') X('k') X('l') X('m')
    X('n') X('o') X('p') X('q') X('r') X('s') X('t') X('u') X('v') X('w') X('x') X('y') X('z')
    X('A') X('B') X('C') X('D') X('E') X('F') X('G') X('H') X('I') X('J') X('K') X('L') X('M')
    X('N') X('O') X('P') X('Q') X('R') X('S') X('T') X('U') X('V') X('W') X('X') X('Y') X('Z')
#undef X
};
/* clang-format on */

static sl_status skip_word(sl__scan *scan, sl_error *err)
{
    const char *from = scan->at;
    while (scan->at < scan->end && class_of[(unsigned char)*scan->at] == OF_WORD)
        scan->at++;
    if (scan->at == scan->end) scan->hit_end = true;
    return scan->at > from ? SL_OK : fail_at(scan, err, "a value");
}

static void skip_between(sl__scan *scan)
{
    const char *at = scan->at;
    while (at < scan->end && class_of[(unsigned char)*at] != OTHER)
        at++;
    scan->at = at;
}

/* Moves behind the object or array that begins at scan->at. */
static sl_status skip_nested(sl__scan *scan, sl_error *err)
{
    uint64_t objects[MAX_DEPTH / 64 + 1] = { 0 }; /* a bit a level: is it an object */
    const char *from = scan->at;
    for (size_t depth = 0; scan->at < scan->end;) {
        char c = *scan->at;
        uint64_t *word = &objects[depth / 64], bit = UINT64_C(1) << depth % 64;
        if (c == '"') {
            sl_status status = skip_text(scan, err);
            if (status != SL_OK) return status;
            skip_between(scan);
            continue;
        }
        if (c == '{' || c == '[') {
            if (depth == MAX_DEPTH)
                return sl_fail(err, SL_EINVAL,
                               "at byte %" PRIu64 " values are nested more than %d deep",
                               sl__scan_position(scan, scan->at), MAX_DEPTH);
            *word = c == '{' ? *word | bit : *word & ~bit;
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
            bool object = objects[depth / 64] >> depth % 64 & 1;
            if (object != (c == '}')) return fail_at(scan, err, object ? "'}'" : "']'");
        } else {
            return fail_at(scan, err, "a value");
        }
        scan->at++;
        if (depth == 0) return SL_OK;
        skip_between(scan);
    }
    return fail_cut(scan, from, err, *from == '{' ? "an object" : "a list");
}

static sl__json_type type_of(char first)
{
    switch (first) {
    case '{': return SL__JSON_OBJECT;
    case '[': return SL__JSON_ARRAY;
    case '"': return SL__JSON_TEXT;
    }
    return first == '-' || (first >= '0' && first <= '9') ? SL__JSON_NUMBER : SL__JSON_WORD;
}

sl_status sl__scan_value(sl__scan *scan, sl__json_value *value, sl_error *err)
{
    char c = sl__scan_peek(scan);
    const char *from = scan->at;
    sl_status status;
    *value = (sl__json_value){ .text = from, .type = type_of(c) };
    if (c == '{' || c == '[')
        status = skip_nested(scan, err);
    else if (c == '"')
        status = skip_text(scan, err);
    else
        status = skip_word(scan, err);
    value->n = (size_t)(scan->at - from);
    return status;
}

/* ---- objects and arrays ------------------------------------------------------ */

sl_status sl__scan_enter(sl__scan *scan, char bracket, sl_error *err)
{
    if (sl__scan_peek(scan) != bracket)
        return fail_at(scan, err, bracket == '{' ? "an object" : "a list");
    scan->at++;
    return SL_OK;
}

sl_status sl__scan_next(sl__scan *scan, char close, bool *first, bool *more, sl_error *err)
{
    char c = sl__scan_peek(scan);
    *more = c != close;
    if (c == close) {
        scan->at++;
        return SL_OK;
    }
    if (!*first) {
        if (c != ',') return fail_at(scan, err, close == '}' ? "',' or '}'" : "',' or ']'");
        scan->at++;
        c = sl__scan_peek(scan);
        if (c == close) { /* a comma too many, which viewers forgive */
            scan->at++;
            *more = false;
        }
    }
    *first = false;
    return SL_OK;
}

sl_status sl__scan_key(sl__scan *scan, sl__json_value *key, sl_error *err)
{
    if (sl__scan_peek(scan) != '"') return fail_at(scan, err, "a member's name in quotes");
    sl_status status = sl__scan_value(scan, key, err);
    if (status != SL_OK) return status;
    if (sl__scan_peek(scan) != ':') return fail_at(scan, err, "':'");
    scan->at++;
    return SL_OK;
}

bool sl__json_is(const sl__json_value *value, const char *text)
{
    size_t n = strlen(text);
    return value->type == SL__JSON_TEXT && value->n == n + 2
           && memcmp(value->text + 1, text, n) == 0;
}

bool sl__json_true(const sl__json_value *value)
{
    return value->type == SL__JSON_WORD && value->n == 4 && memcmp(value->text, "true", 4) == 0;
}

/* ---- numbers ----------------------------------------------------------------- */

/* digits * 10^exponent */
typedef struct decimal {
    bool negative;
    uint64_t digits;
    int exponent;
} decimal;

static const char *skip_digits(const char *at, const char *end, decimal *number, int step)
{
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        bool room = number->digits <= MAX_DIGITS_VALUE;
        if (room) number->digits = number->digits * 10 + (uint64_t)(*at - '0');
        if (room ? step < 0 : step >= 0) { /* digits without room are too small to change the
                                                 * rounding */
            if (number->exponent > -MAX_EXPONENT && number->exponent < MAX_EXPONENT)
                number->exponent += room ? -1 : 1;
        }
    }
    return at;
}

static bool read_exponent(const char *at, const char *end, int *exponent)
{
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end) return false;
    int value = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        value = value < MAX_EXPONENT ? value * 10 + (*at - '0') : value;
    *exponent += negative ? -value : value;
    return at == end;
}

static bool read_decimal(const sl__json_value *value, decimal *number)
{
    const sl__json_value held = sl__json_unquoted(value);
    *number = (decimal){ 0 };
    if (held.type != SL__JSON_NUMBER) return false;
    const char *at = held.text, *end = at + held.n;
    number->negative = *at == '-';
    at += number->negative;
    const char *from = at;
    at = skip_digits(at, end, number, 0);
    if (at == from) return false;
    if (at < end && *at == '.') {
        from = ++at;
        at = skip_digits(at, end, number, -1);
        if (at == from) return false;
    }
    if (at == end) return true;
    return (*at == 'e' || *at == 'E') && read_exponent(at + 1, end, &number->exponent);
}

/* *cut: something other than zeros was rounded away. */
static bool scale(const decimal *number, int shift, int64_t *result, bool *cut)
{
    uint64_t digits = number->digits, last = 0;
    *cut = false;
    for (int e = number->exponent + shift; e > 0 && digits > 0; e--) {
        if (digits > INT64_MAX / 10) return false;
        digits *= 10;
    }
    for (int e = number->exponent + shift; e < 0 && (digits > 0 || last > 0); e++) {
        last = digits % 10;
        digits /= 10;
        *cut |= last > 0;
    }
    digits += last >= 5;
    if (digits > INT64_MAX) return false;
    *result = number->negative ? -(int64_t)digits : (int64_t)digits;
    return true;
}

sl__json_value sl__json_unquoted(const sl__json_value *value)
{
    if (value->type != SL__JSON_TEXT || value->n < 3) return *value;
    sl__json_value held = { value->text + 1, value->n - 2, type_of(value->text[1]) };
    return held.type == SL__JSON_NUMBER || held.type == SL__JSON_ARRAY ? held : *value;
}

bool sl__json_scaled(const sl__json_value *value, int shift, int64_t *result)
{
    decimal number;
    bool cut;
    return read_decimal(value, &number) && scale(&number, shift, result, &cut);
}

bool sl__json_whole(const sl__json_value *value, int64_t *result)
{
    decimal number;
    bool cut;
    return read_decimal(value, &number) && scale(&number, 0, result, &cut) && !cut;
}

/* ---- texts --------------------------------------------------------------------- */

/* The four digits at `at`, or -1. */
static int32_t read_unit(const char *at, const char *end)
{
    int32_t unit = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* The character of "\uD83D\uDE00" behind its first "\u"; *at moves behind it. -1: none. */
static int32_t read_escaped(const char **at, const char *end)
{
    int32_t c = read_unit(*at, end), low = -1;
    if (c >= 0xD800 && c <= 0xDBFF && end - *at >= 6 && (*at)[4] == '\\' && (*at)[5] == 'u')
        low = read_unit(*at + 6, end);
    if (low >= 0xDC00 && low <= 0xDFFF) {
        *at += 10;
        return 0x10000 + ((c - 0xD800) << 10 | (low - 0xDC00));
    }
    if (c < 0 || (c >= 0xD800 && c <= 0xDFFF)) return -1;
    *at += 4;
    return c ? c : 0xFFFD;
}

static char *put_utf8(char *to, int32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const int leads[] = { 0, 0xC0, 0xE0, 0xF0 };
    *to++ = (char)(leads[more] | c >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (c >> 6 * more & 0x3F));
    return to;
}

/* In place, since no escape is shorter than its character. Returns the new end. */
static char *unescape(char *text, const char *end)
{
    static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    char *to = text;
    for (const char *at = text; at < end;) {
        const char *name = *at == '\\' && end - at > 1 ? strchr(names, at[1]) : NULL;
        const char *behind = at + 2;
        int32_t c = *at == '\\' && end - at > 1 && at[1] == 'u' ? read_escaped(&behind, end) : -1;
        if (c >= 0) {
            to = put_utf8(to, c);
            at = behind;
        } else if (name && *name) {
            *to++ = means[name - names];
            at += 2;
        } else {
            *to++ = *at++;
        }
    }
    return to;
}

sl_status sl__json_decode(const sl__json_value *value, sl_text *out, sl_error *err)
{
    size_t n = value->n - 2, from = out->len;
    sl_text_add(out, "%.*s", n < INT_MAX ? (int)n : INT_MAX, value->text + 1);
    if (out->failed) return sl__no_memory(err, "a text of %zu bytes", n);
    char *end = unescape(out->data + from, out->data + out->len);
    out->len = (size_t)(end - out->data);
    *end = '\0';
    return SL_OK;
}

/* ---- walking through all of an object or array ------------------------------------ */

sl_status sl__scan_each(sl__scan *scan, char bracket, sl__json_visit visit, void *ud, sl_error *err)
{
    bool object = bracket == '{', first = true, more;
    sl_status status = sl__scan_enter(scan, bracket, err);
    while (status == SL_OK) {
        sl__json_value key = { 0 }, member;
        status = sl__scan_next(scan, object ? '}' : ']', &first, &more, err);
        if (status != SL_OK || !more) break;
        if (object) status = sl__scan_key(scan, &key, err);
        if (status == SL_OK) status = sl__scan_value(scan, &member, err);
        if (status == SL_OK) status = visit(ud, &key, &member, err);
    }
    return status;
}

sl_status sl__json_each(const sl__scan *whole, const sl__json_value *value, sl__json_visit visit,
                        void *ud, sl_error *err)
{
    if (value->type != SL__JSON_OBJECT && value->type != SL__JSON_ARRAY) return SL_OK;
    sl__scan scan = *whole;
    scan.at = value->text;
    scan.end = value->text + value->n;
    return sl__scan_each(&scan, *value->text, visit, ud, err);
}
