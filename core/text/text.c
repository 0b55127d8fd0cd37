/* text.c - sl_text, a text that grows by doubling.
 *
 * A failed allocation sets `failed`; what was there stays, later additions do
 * nothing, and the writer checks once at its end. Nothing here depends on the
 * locale unless a format asks for a floating-point number: pictures of a
 * timeline print integers only.
 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and the final NUL. */
static bool reserve(sl_text *text, size_t more)
{
    if (text->cap - text->len > more) return true;
    text->failed = more >= SIZE_MAX - text->len
                   || !SL__GROW(text->data, text->cap, text->len + more + 1);
    return !text->failed;
}

void sl_text_add(sl_text *text, const char *fmt, ...)
{
    if (text->failed || !reserve(text, 0)) return;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text->data + text->len, text->cap - text->len, fmt, args);
    va_end(args);
    if (n < 0) {
        text->data[text->len] = '\0';
        text->failed = true;
        return;
    }
    if ((size_t)n >= text->cap - text->len) {
        if (!reserve(text, (size_t)n)) {
            text->data[text->len] = '\0';
            return;
        }
        va_start(args, fmt);
        vsnprintf(text->data + text->len, text->cap - text->len, fmt, args);
        va_end(args);
    }
    text->len += (size_t)n;
}

void sl_text_add_bytes(sl_text *text, const char *bytes, size_t n)
{
    if (n == 0 || text->failed || !reserve(text, n)) return;
    memcpy(text->data + text->len, bytes, n);
    text->len += n;
    text->data[text->len] = '\0';
}

void sl_text_free(sl_text *text)
{
    free(text->data);
    *text = (sl_text){ 0 };
}

int sl_edit_distance(const char *a, const char *b)
{
    int rows[3][SL_EDIT_CHARS];
    const int n = (int)strlen(b), m = (int)strlen(a);
    for (int j = 0; j <= n; j++)
        rows[0][j] = j;
    for (int i = 1; i <= m; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (exchanged && second[j - 2] + 1 < best) best = second[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[m % 3][n];
}
