/* labels.c - measures, cleans, shortens and wraps texts by the columns that they take on a
 * terminal. */
#include "labels.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

#define DOTS "..."

/* The next character as it may go to a terminal: in its character set, and never a
 * control character. Returns its columns. */
static int next_character(const char **at, bool unicode, const char **bytes, int *n_bytes)
{
    bool good;
    *bytes = *at;
    uint32_t character = sl__utf8_next(at, &good);
    *n_bytes = (int)(*at - *bytes);
    int columns = sl_character_columns(character);
    if (good && columns >= 0 && (unicode || character < 0x80)) return columns;
    *bytes = "?";
    *n_bytes = 1;
    return 1;
}

int sl_label_columns(const char *text, bool unicode)
{
    int width = 0;
    while (*text) {
        const char *bytes;
        int n_bytes;
        width += next_character(&text, unicode, &bytes, &n_bytes);
    }
    return width;
}

/* As much of the text's beginning as fits; returns the columns used. */
static int add_head(sl_text *out, const char *text, int room, bool unicode)
{
    int used = 0;
    while (*text) {
        const char *bytes;
        int n_bytes, width = next_character(&text, unicode, &bytes, &n_bytes);
        if (used + width > room) break;
        sl_text_add(out, "%.*s", n_bytes, bytes);
        used += width;
    }
    return used;
}

/* What is left of a text `width` columns wide when its beginning is dropped so far
 * that it fits; no accent of a dropped letter stays. */
static const char *find_tail(const char *text, int width, int room, bool unicode)
{
    while (*text) {
        const char *bytes, *next = text;
        int n_bytes, one = next_character(&next, unicode, &bytes, &n_bytes);
        if (width <= room && one > 0) break;
        width -= one;
        text = next;
    }
    return text;
}

int sl_label_add(sl_text *out, const char *text, int columns, bool unicode)
{
    int width = sl_label_columns(text, unicode);
    if (width <= columns) return add_head(out, text, columns, unicode);
    int dots = unicode ? 1 : 2, tail = (columns - dots) / 2;
    int used = add_head(out, text, columns - dots - tail, unicode) + dots;
    sl_text_add(out, "%s", unicode ? "…" : "..");
    return used + add_head(out, find_tail(text, width, tail, unicode), tail, unicode);
}

/* ---- in sentences ---------------------------------------------------------------- */

static int columns_between(const char *text, const char *end)
{
    int columns = 0, n;
    const char *bytes;
    while (text < end && columns < INT_MAX / 2)
        columns += next_character(&text, true, &bytes, &n);
    return columns;
}

/* The characters that lie between two columns of the text. */
static void put_between(sl_text *out, const char *text, int from, int to)
{
    int at = 0, n;
    const char *bytes;
    while (*text) {
        int columns = next_character(&text, true, &bytes, &n);
        if (at + columns > to) return;
        if (at >= from) sl_text_add(out, "%.*s", n, bytes);
        at += columns;
    }
}

/* Where the arguments of a template begin, with which the text ends; NULL: it has none. */
static const char *find_arguments(const char *text)
{
    const size_t n = strlen(text), head = strcspn(text, "<");
    if (head == n || text[n - 1] != '>' || strcspn(text, " (") < head) return NULL;
    return text + head;
}

/* The template's name is cut, since its arguments tell kernels apart; false: it is too short. */
static bool clip_template(sl_text *out, const char *text, int all, int columns)
{
    enum { LEAST_HEAD = 8, LEAST_COLUMNS = 20 };
    const char *arguments = find_arguments(text);
    const int head = arguments ? columns_between(text, arguments) : 0;
    const int kept = sl__max(columns - (all - head), LEAST_HEAD);
    if (head <= LEAST_HEAD || columns < LEAST_COLUMNS) return false;
    put_between(out, text, 0, kept - (int)strlen(DOTS));
    sl_text_add(out, DOTS);
    sl_label_clip(out, arguments, columns - kept);
    return true;
}

void sl_label_clip(sl_text *out, const char *text, int columns)
{
    int all = columns_between(text, text + strlen(text)), room = columns - (int)strlen(DOTS);
    if (all <= columns) {
        put_between(out, text, 0, all);
        return;
    }
    if (clip_template(out, text, all, columns)) return;
    int tail = room / 3;
    put_between(out, text, 0, room - tail);
    sl_text_add(out, DOTS);
    put_between(out, text, all - tail, all);
}

void sl_label_clip_end(sl_text *out, const char *text, int columns)
{
    int all = columns_between(text, text + strlen(text)), room = columns - (int)strlen(DOTS);
    put_between(out, text, 0, all <= columns ? all : room);
    if (all > columns) sl_text_add(out, DOTS);
}

/* The bytes of a word, as many as fit into `room` columns and at least one character; *used
 * are its columns. */
static int word_length(const char *text, int room, int *used)
{
    int n = 0;
    *used = 0;
    while (text[n] && text[n] != ' ') {
        int next = n + 1;
        while (((unsigned char)text[next] & 0xC0) == 0x80)
            next++;
        int columns = columns_between(text + n, text + next);
        if (n > 0 && *used + columns > room) break;
        *used += columns;
        n = next;
    }
    return n;
}

/* " ms" of "3.5 ms,": a number stays with its unit. 0 where there is none. */
static int unit_length(const char *text, int number_length)
{
    static const char *const units[] = { "ns", "us", "ms", "s", "x", "%" };
    const char *unit = text + number_length + 1;
    if (text[number_length] != ' ' || (int)strspn(text, "(0123456789.") != number_length) return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i]);
        if (strncmp(unit, units[i], n) == 0 && strchr(" .,:;)", unit[n]))
            return 1 + (int)strcspn(unit, " ");
    }
    return 0;
}

void sl_label_fold(sl_text *out, const char *text, int indent, int columns)
{
    int room = columns - indent, used = 0;
    bool blank = false;
    while (*text) {
        int width, n = word_length(text, room, &width), unit = unit_length(text, n);
        if (width + unit <= room) {
            n += unit;
            width += unit;
        }
        if (used > 0 && used + blank + width > room) {
            sl_text_add(out, "\n%*s", indent, "");
            used = 0;
            blank = false;
        }
        sl_text_add(out, "%s%.*s", blank ? " " : "", n, text);
        used += blank + width;
        text += n;
        blank = *text == ' ';
        text += blank;
    }
    sl_text_add(out, "\n");
}

/* Where arguments begin: those of a template or of a function. Words in brackets behind a
 * blank are none: "Memcpy HtoD (Pinned -> Device)". */
static size_t measure_name(const char *name)
{
    size_t n = strcspn(name, "<(");
    return n > 0 && name[n] == '(' && name[n - 1] == ' ' ? strlen(name) : n;
}

/* The length of "<name>", or 0. */
static size_t measure_argument(const char *text)
{
    if (*text != '<') return 0;
    size_t n = 1 + strcspn(text + 1, "<>(){}, ");
    return text[n] == '>' ? n + 1 : 0;
}

void sl_label_kernel(const char *name, char buffer[SL__KERNEL_BYTES])
{
    static const char anonymous[] = "(anonymous namespace)::";
    if (strncmp(name, "void ", 5) == 0) name += 5;
    for (const char *at;
         strncmp(at = name + strcspn(name, "<("), anonymous, sizeof anonymous - 1) == 0;)
        name = at + sizeof anonymous - 1;
    size_t n = measure_name(name), more = n > 0 ? measure_argument(name + n) : 0;
    if (n == 0) n = strlen(name);
    for (size_t i = n; i >= 2; i--) {
        if (name[i - 1] == ':' && name[i - 2] == ':' && i < n) {
            name += i;
            n -= i;
            break;
        }
    }
    n += more;
    if (n > SL__KERNEL_BYTES - 1) n = SL__KERNEL_BYTES - 1;
    while (n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80) /* no half characters */
        n--;
    snprintf(buffer, SL__KERNEL_BYTES, "%.*s", (int)n, name);
}
