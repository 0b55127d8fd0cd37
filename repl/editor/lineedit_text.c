/* lineedit_text.c - texts in wide characters and back, and the editor that a libedit belongs to.
 */
#include "lineedit_parts.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

wchar_t *lineedit__widen(const char *text)
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

char *lineedit__narrow(const wchar_t *wide, size_t n, size_t extra, size_t *len)
{
    char *text = malloc(extra + n * MB_CUR_MAX + 1);
    mbstate_t state = { 0 };
    size_t at = extra;
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

lineedit *lineedit__of(EditLine *el)
{
    lineedit *e;
    el_wget(el, EL_CLIENTDATA, &e);
    return e;
}
