/* json.c - the few pieces of JSON that a trace is made of. */
#include "json.h"

#include <string.h>

#include "utf8.h"

void sl__json_raw(sl__outfile *file, const char *text)
{
    sl__outfile_write(file, text, strlen(text));
}

void sl__json_uint(sl__outfile *file, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    sl__outfile_write(file, digits + at, sizeof digits - at);
}

/* The sign; returns the magnitude, also of INT64_MIN. */
static uint64_t put_sign(sl__outfile *file, int64_t value)
{
    if (value >= 0)
        return (uint64_t)value;
    sl__outfile_write(file, "-", 1);
    return 0 - (uint64_t)value;
}

void sl__json_int(sl__outfile *file, int64_t value)
{
    sl__json_uint(file, put_sign(file, value));
}

void sl__json_milli(sl__outfile *file, int64_t thousandths)
{
    uint64_t magnitude = put_sign(file, thousandths), part = magnitude % 1000;
    char places[4] = { '.', (char)('0' + part / 100), (char)('0' + part / 10 % 10),
                       (char)('0' + part % 10) };
    sl__json_uint(file, magnitude / 1000);
    sl__outfile_write(file, places, sizeof places);
}

void sl__json_string(sl__outfile *file, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    sl__outfile_write(file, "\"", 1);
    while (*text) {
        const char *from = text;
        bool good;
        uint32_t c = sl__utf8_next(&text, &good);
        if (!good) {
            sl__json_raw(file, "\xEF\xBF\xBD");
        } else if (c == '"' || c == '\\') {
            char escaped[2] = { '\\', (char)c };
            sl__outfile_write(file, escaped, sizeof escaped);
        } else if (c < 0x20 || c == 0x7F) {
            char escaped[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };
            sl__outfile_write(file, escaped, sizeof escaped);
        } else {
            sl__outfile_write(file, from, (size_t)(text - from));
        }
    }
    sl__outfile_write(file, "\"", 1);
}
