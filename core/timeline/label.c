/* label.c - texts of others made fit for a terminal, and shortened. */
#include "label.h"

#include <limits.h>
#include <string.h>

#include "utf8.h"

#define DOTS "..."

/* Moves *at behind a character; the bytes to print for it are at *bytes, *n of them. */
static int next_shown(const char **at, const char **bytes, int *n)
{
    bool good;
    const char *from = *at;
    int columns = sl__utf8_columns(sl__utf8_next(at, &good));
    bool shown = good && columns >= 0;
    *bytes = shown ? from : "?";
    *n = shown ? (int)(*at - from) : 1;
    return shown ? columns : 1;
}

int sl__label_columns(const char *text, size_t length)
{
    int columns = 0, n;
    const char *bytes, *end = text + length;
    while (text < end && columns < INT_MAX / 2)
        columns += next_shown(&text, &bytes, &n);
    return columns;
}

/* The characters that lie between two columns of the text. */
static void put_between(sl_text *out, const char *text, int from, int to)
{
    int at = 0, n;
    const char *bytes;
    while (*text) {
        int columns = next_shown(&text, &bytes, &n);
        if (at + columns > to)
            return;
        if (at >= from)
            sl_text_add(out, "%.*s", n, bytes);
        at += columns;
    }
}

void sl__put_label(sl_text *out, const char *text, int columns)
{
    int all = sl__label_columns(text, strlen(text)), room = columns - (int)strlen(DOTS);
    if (all <= columns) {
        put_between(out, text, 0, all);
        return;
    }
    int tail = room / 3;
    put_between(out, text, 0, room - tail);
    sl_text_add(out, DOTS);
    put_between(out, text, all - tail, all);
}

void sl__put_start(sl_text *out, const char *text, int columns)
{
    int all = sl__label_columns(text, strlen(text)), room = columns - (int)strlen(DOTS);
    put_between(out, text, 0, all <= columns ? all : room);
    if (all > columns)
        sl_text_add(out, DOTS);
}
