/* text.h - texts and files: what measures, escapes, wraps, reads and writes them belongs here,
 * and knows nothing of timelines.
 */
#ifndef SL_TEXT_H
#define SL_TEXT_H

#include "../base.h"
#include "../streamlab.h"

/* A growing text; data is NUL-terminated once something was added. */
struct sl_text {
    char *data;
    size_t len, cap;
    bool failed;
};
void sl_text_add(sl_text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sl_text_add_bytes(sl_text *text, const char *bytes, size_t n);
void sl_text_free(sl_text *text);

/* Pieces of JSON (json.c): a whole number, thousandths as a decimal, a text, quoted and escaped. */
void sl_json_add_integer(sl_text *text, int64_t value);
void sl_json_add_milli(sl_text *text, int64_t thousandths);
void sl_json_add_string(sl_text *text, const char *string, size_t n);

/* A text from outside (the name of a file, a stream or a kernel, a message) may contain what
 * changes or corrupts a terminal: control characters, also those from U+0080 on, marks for the
 * direction of writing, bytes that are no UTF-8. This gives its next character as it may be
 * printed: itself, or as Lua escapes it, \x1b, \x9b, \u{202e}. Newlines and tabs stay if `lines`.
 * Moves *text on, which lies before `end`, where a NUL must be; fills `shown` and gives the number
 * of its bytes. */
enum { SL_SAFE_BYTES = 12 };
int sl_safe_character(const char **text, const char *end, bool lines, char shown[SL_SAFE_BYTES]);

/* How many characters to change, add, drop or swap with the next one to turn `a` into `b`, which is
 * shorter than SL_EDIT_CHARS. */
enum { SL_EDIT_CHARS = 128 };
int sl_edit_distance(const char *a, const char *b);

/* Columns of a character on a terminal: 0, 1 or 2; -1: it must not reach one. */
int sl_character_columns(uint32_t c);

#endif
