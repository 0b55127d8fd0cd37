/* json.c - the few pieces of JSON that a trace is made of. */
#include "json.h"

#include <string.h>

#include "utf8.h"

#define NUMBER_BYTES 24  /* room for 20 digits, a sign and a point */
#define ESCAPED_BYTES 12 /* of a character: two units of UTF-16 */

/* ---- digits and characters --------------------------------------------------- */

/* Each puts the number before `end` and gives where it begins. */
static char *put_uint(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

/* Also of INT64_MIN. */
static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static char *put_sign(char *at, int64_t value)
{
    if (value < 0) *--at = '-';
    return at;
}

static char *put_int(char *end, int64_t value)
{
    return put_sign(put_uint(end, magnitude(value)), value);
}

static char *put_milli(char *end, int64_t thousandths)
{
    uint64_t value = magnitude(thousandths);
    for (int place = 0; place < 3; place++, value /= 10)
        *--end = (char)('0' + value % 10);
    *--end = '.';
    return put_sign(put_uint(end, value), thousandths);
}

/* "\u202e" for a unit of UTF-16; gives where it ends. */
static char *put_unit(char *at, uint32_t unit)
{
    static const char hex[] = "0123456789abcdef";
    *at++ = '\\';
    *at++ = 'u';
    for (int shift = 12; shift >= 0; shift -= 4)
        *at++ = hex[unit >> shift & 15];
    return at;
}

/* The next character of a text that ends at `end`, as a JSON string has it: *n bytes, which may be
 * in `escaped`. What must not reach a terminal is escaped, since people print JSON there. */
static const char *next_character(const char **text, const char *end, char escaped[ESCAPED_BYTES],
                                  size_t *n)
{
    static const char short_ones[] = "\"\"\\\\\nn\rr\tt";
    const char *from = *text;
    bool good;
    uint32_t c = sl__utf8_next(text, &good);
    if (c == 0 && from < end) ++*text;
    *n = (size_t)(*text - from);
    if (good && sl_character_columns(c) >= 0 && c != '"' && c != '\\') return from;
    if (!good) {
        *n = 3;
        return "\xEF\xBF\xBD";
    }
    for (const char *at = short_ones; *at; at += 2)
        if (c == (unsigned char)*at) {
            escaped[0] = '\\';
            escaped[1] = at[1];
            *n = 2;
            return escaped;
        }
    char *behind = c < 0x10000
                       ? put_unit(escaped, c)
                       : put_unit(put_unit(escaped, 0xD7C0 + (c >> 10)), 0xDC00 | (c & 0x3FF));
    *n = (size_t)(behind - escaped);
    return escaped;
}

/* ---- to a file ----------------------------------------------------------------- */

void sl__json_raw(sl__outfile *file, const char *text)
{
    sl__outfile_write(file, text, strlen(text));
}

static void put(sl__outfile *file, const char *key, const char *at, const char *end)
{
    sl__json_raw(file, key);
    sl__outfile_write(file, at, (size_t)(end - at));
}

void sl__json_uint(sl__outfile *file, const char *key, uint64_t value)
{
    char number[NUMBER_BYTES], *end = number + sizeof number;
    put(file, key, put_uint(end, value), end);
}

void sl__json_int(sl__outfile *file, const char *key, int64_t value)
{
    char number[NUMBER_BYTES], *end = number + sizeof number;
    put(file, key, put_int(end, value), end);
}

void sl__json_milli(sl__outfile *file, const char *key, int64_t thousandths)
{
    char number[NUMBER_BYTES], *end = number + sizeof number;
    put(file, key, put_milli(end, thousandths), end);
}

void sl__json_bool(sl__outfile *file, const char *key, bool value)
{
    sl__json_raw(file, key);
    sl__json_raw(file, value ? "true" : "false");
}

static void put_string(sl__outfile *file, const char *key, const char *text, bool in_script)
{
    char escaped[ESCAPED_BYTES];
    size_t n;
    sl__json_raw(file, key);
    sl__outfile_write(file, "\"", 1);
    for (const char *end = text + strlen(text); text < end;) {
        const char *bytes = next_character(&text, end, escaped, &n);
        if (*bytes == '<' && in_script)
            sl__json_raw(file, "\\u003c");
        else
            sl__outfile_write(file, bytes, n);
    }
    sl__outfile_write(file, "\"", 1);
}

void sl__json_string(sl__outfile *file, const char *key, const char *text)
{
    put_string(file, key, text, false);
}

void sl__json_script_string(sl__outfile *file, const char *key, const char *text)
{
    put_string(file, key, text, true);
}

/* ---- to a text ------------------------------------------------------------------- */

void sl_json_add_integer(sl_text *out, int64_t value)
{
    char number[NUMBER_BYTES], *end = number + sizeof number, *at = put_int(end, value);
    sl_text_add_bytes(out, at, (size_t)(end - at));
}

void sl_json_add_milli(sl_text *out, int64_t thousandths)
{
    char number[NUMBER_BYTES], *end = number + sizeof number, *at = put_milli(end, thousandths);
    sl_text_add_bytes(out, at, (size_t)(end - at));
}

void sl_json_add_string(sl_text *out, const char *text, size_t length)
{
    char escaped[ESCAPED_BYTES];
    size_t n;
    sl_text_add_bytes(out, "\"", 1);
    for (const char *end = text + length; text < end;) {
        const char *bytes = next_character(&text, end, escaped, &n);
        sl_text_add_bytes(out, bytes, n);
    }
    sl_text_add_bytes(out, "\"", 1);
}
