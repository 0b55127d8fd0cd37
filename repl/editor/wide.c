/* wide.c - texts in wide characters and back.
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* wcwidth */
#endif
#include "wide.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

wchar_t *wide_of(const char *text)
{
    size_t len = strlen(text), n = 0;
    wchar_t *wide = malloc((len + 1) * sizeof *wide);
    mbstate_t state = { 0 };
    while (wide && len > 0) {
        size_t used = mbrtowc(&wide[n], text, len, &state);
        if (used == (size_t)-1 || used == (size_t)-2) {
            wide[n] = L'?';
            used = 1;
            memset(&state, 0, sizeof state);
        }
        n++;
        text += used;
        len -= used;
    }
    if (wide) wide[n] = L'\0';
    return wide;
}

char *wide_narrow(const char *before, const wchar_t *wide, size_t n, size_t *len)
{
    size_t at = strlen(before);
    char *text = malloc(at + n * MB_CUR_MAX + 1);
    mbstate_t state = { 0 };
    if (text) memcpy(text, before, at);
    for (size_t i = 0; text && i < n; i++) {
        size_t used = wcrtomb(text + at, wide[i], &state);
        if (used == (size_t)-1)
            memset(&state, 0, sizeof state);
        else
            at += used;
    }
    if (text) text[at] = '\0';
    *len = at;
    return text;
}

size_t wide_bytes(wchar_t c)
{
    char bytes[MB_LEN_MAX];
    mbstate_t state = { 0 };
    size_t n = wcrtomb(bytes, c, &state);
    return n == (size_t)-1 ? 0 : n;
}

int wide_columns(wchar_t c, int column)
{
    if (c == L'\t') return 8 - column % 8;
    if (c < L' ' || c == 127) return 2;
    int width = wcwidth(c);
    return width > 0 ? width : 0;
}
