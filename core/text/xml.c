/* xml.c - escaping for XML 1.0, and the width of a text without a font.
 *
 * The widths are those of common sans-serif fonts, rounded up: which one a viewer uses is not
 * known.
 */
#include "xml.h"

#include <limits.h>
#include <string.h>

#include "utf8.h"

#define DOTS "…"
#define DOTS_WIDTH 1000
#define FEWEST_CHARACTERS 6 /* of a text without its end that still make sense */

/* ---- escaping ---------------------------------------------------------------- */

static bool may_appear(uint32_t c)
{
    return sl_character_columns(c) >= 0 && c != 0xFFFE && c != 0xFFFF;
}

static const char *entity(uint32_t c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    case '\t':
    case '\n':
    case '\r': return " ";
    default: return NULL;
    }
}

/* The escape of a character; NULL: the character itself. */
static const char *escaped(uint32_t c, bool good)
{
    const char *name = entity(c);
    return name ? name : good && may_appear(c) ? NULL : "\xEF\xBF\xBD";
}

void sl_xml_add(sl_text *out, const char *text, size_t max_bytes)
{
    const char *begin = text, *plain = text; /* from there on nothing was to escape */
    while (*text) {
        const char *from = text;
        bool good;
        uint32_t c = sl__utf8_next(&text, &good);
        const char *instead = escaped(c, good);
        bool ends = max_bytes > 0 && (size_t)(text - begin) > max_bytes;
        if (!instead && !ends) continue;
        sl_text_add(out, "%.*s%s", (int)(from - plain), plain, ends ? DOTS : instead);
        plain = text;
        if (ends) return;
    }
    sl_text_add(out, "%s", plain);
}

/* ---- widths ------------------------------------------------------------------ */

static int character_width(uint32_t c)
{
    if (c >= 0x80)
        return sl_character_columns(c) == 0 ? 0 : sl_character_columns(c) == 2 ? 1050 : 700;
    if (strchr("iljI.,:;'|! ", (int)c)) return 320;
    if (strchr("ftr()[]{}-/\\\"`", (int)c)) return 400;
    if (strchr("mMWw@%", (int)c)) return 950;
    if (c >= 'A' && c <= 'Z') return 730;
    return c == '_' || (c >= '0' && c <= '9') ? 600 : 610;
}

/* In thousandths of the font's size. */
static int64_t width_of(const char *text)
{
    int64_t width = 0;
    bool good;
    while (*text)
        width += character_width(sl__utf8_next(&text, &good));
    return width;
}

int sl_xml_px(const char *text, int size)
{
    int64_t px = (width_of(text) * size + 999) / 1000;
    return px < INT_MAX ? (int)px : INT_MAX;
}

/* Bytes of the longest beginning that fits, and the number of its characters. */
static size_t head_bytes(const char *text, int64_t room, size_t max_bytes, int *n_characters)
{
    const char *at = text;
    int64_t width = 0;
    bool good;
    *n_characters = 0;
    while (*at) {
        const char *next = at;
        width += character_width(sl__utf8_next(&next, &good));
        if (width > room || (size_t)(next - text) > max_bytes) break;
        at = next;
        ++*n_characters;
    }
    return (size_t)(at - text);
}

/* Where the longest end begins that fits. */
static const char *find_tail(const char *text, int64_t room, size_t max_bytes)
{
    int64_t width = width_of(text);
    size_t left = strlen(text);
    bool good;
    while (*text && (width > room || left > max_bytes)) {
        const char *from = text;
        width -= character_width(sl__utf8_next(&text, &good));
        left -= (size_t)(text - from);
    }
    return text;
}

/* The beginning, dots, the tail. */
static void join(char *buffer, const char *text, size_t n, const char *tail)
{
    memcpy(buffer, text, n);
    memcpy(buffer + n, DOTS, sizeof DOTS - 1);
    memcpy(buffer + n + sizeof DOTS - 1, tail, strlen(tail) + 1);
}

bool sl_xml_fit(const char *text, int room, int size, bool middle, char *buffer, size_t bytes)
{
    int64_t left = (int64_t)room * 1000 / size;
    size_t n = strlen(text);
    if (n < bytes && width_of(text) <= left) {
        memcpy(buffer, text, n + 1);
        return n > 0;
    }
    int n_characters;
    size_t most = bytes - sizeof DOTS; /* bytes of the text */
    int64_t tail_room = middle ? (left - DOTS_WIDTH) / 2 : 0;
    const char *tail = middle ? find_tail(text, tail_room, most / 2) : "";
    n = head_bytes(text, left - DOTS_WIDTH - tail_room, most - strlen(tail), &n_characters);
    if (n_characters < (middle ? 1 : FEWEST_CHARACTERS)) return false;
    join(buffer, text, n, tail);
    return true;
}
