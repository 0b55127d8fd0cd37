/* utf8.c - decoding UTF-8, and the width of a character on a terminal.
 *
 * wcwidth would depend on the locale and on the C library's version; the
 * ranges below are coarse (whole blocks), which is enough for labels.
 */
#include "utf8.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

/* Length of the sequence that `lead` begins, 0 if it begins none. */
static int sequence_length(unsigned char lead)
{
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return 2;
    if (lead >= 0xE0 && lead <= 0xEF) return 3;
    return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

uint32_t sl__utf8_next(const char **at, bool *good)
{
    static const uint32_t smallest[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *bytes = (const unsigned char *)*at;
    int length = sequence_length(bytes[0]);
    *good = true;
    if (length == 1) {
        *at += bytes[0] != 0;
        return bytes[0];
    }
    uint32_t c = length ? bytes[0] & (0x7Fu >> length) : 0;
    int i = 1;
    for (; i < length && (bytes[i] & 0xC0) == 0x80; i++) /* a NUL ends it, too */
        c = c << 6 | (bytes[i] & 0x3Fu);
    if (length == 0 || i < length || c < smallest[length] || c > 0x10FFFF
        || (c >= 0xD800 && c <= 0xDFFF)) {
        *good = false;
        *at += 1;
        return SL__UTF8_BAD;
    }
    *at += length;
    return c;
}

typedef struct range {
    uint32_t first, last;
} range;

static bool within(uint32_t c, const range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (c >= ranges[i].first && c <= ranges[i].last) return true;
    }
    return false;
}

int sl_character_columns(uint32_t c)
{
    static const range hidden[] = {
        { 0x00, 0x1F },     { 0x7F, 0x9F },       { 0x061C, 0x061C }, { 0x200B, 0x200B },
        { 0x200E, 0x200F }, { 0x2028, 0x202E },   { 0x2060, 0x206F }, { 0xFEFF, 0xFEFF },
        { 0xFFF9, 0xFFFB }, { 0xE0000, 0xE0FFF },
    };
    static const range zero[] = {
        { 0x0300, 0x036F }, { 0x0483, 0x0489 }, { 0x0591, 0x05BD }, { 0x064B, 0x065F },
        { 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF }, { 0x200C, 0x200D }, { 0x20D0, 0x20FF },
        { 0xFE00, 0xFE0F }, { 0xFE20, 0xFE2F },
    };
    static const range wide[] = {
        { 0x1100, 0x115F },   { 0x2E80, 0x303E },   { 0x3041, 0x4DBF },   { 0x4E00, 0xA4CF },
        { 0xA960, 0xA97F },   { 0xAC00, 0xD7A3 },   { 0xF900, 0xFAFF },   { 0xFE30, 0xFE6F },
        { 0xFF00, 0xFF60 },   { 0xFFE0, 0xFFE6 },   { 0x1F300, 0x1F64F }, { 0x1F680, 0x1F6FF },
        { 0x1F900, 0x1FAFF }, { 0x20000, 0x3FFFD },
    };
    if (c >= 0x20 && c < 0x7F) return 1;
    if (within(c, hidden, sizeof hidden / sizeof *hidden)) return -1;
    if (within(c, zero, sizeof zero / sizeof *zero)) return 0;
    return within(c, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

/* "\n", "\x1b": of a byte. */
static int show_byte(unsigned char byte, char *shown)
{
    static const char letters[] = "abtnvfr";
    if (byte >= 7 && byte <= 13) return snprintf(shown, SL_SAFE_BYTES, "\\%c", letters[byte - 7]);
    return snprintf(shown, SL_SAFE_BYTES, "\\x%02x", byte);
}

int sl_safe_character(const char **text, const char *end, bool lines, char shown[SL_SAFE_BYTES])
{
    const char *from = *text;
    bool good;
    uint32_t c = sl__utf8_next(text, &good);
    if (c == 0 && from < end) ++*text;
    bool stays = sl_character_columns(c) >= 0 || (lines && (c == '\n' || c == '\t'));
    if (!good || (!stays && c < 0x80)) return show_byte((unsigned char)*from, shown);
    if (!stays) return snprintf(shown, SL_SAFE_BYTES, "\\u{%x}", (unsigned)c);
    memcpy(shown, from, (size_t)(*text - from));
    return (int)(*text - from);
}
