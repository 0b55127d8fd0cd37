/* completion.c - lists of words that could complete the one before the cursor.
 */
#include "completion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the words -------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void completion_sort(completion *c)
{
    qsort(c->words, (size_t)c->n_words, sizeof *c->words, by_bytes);
    int kept = 0;
    for (int i = 0; i < c->n_words; i++) {
        if (kept > 0 && strcmp(c->words[kept - 1], c->words[i]) == 0)
            free(c->words[i]);
        else
            c->words[kept++] = c->words[i];
    }
    c->n_words = kept;
}

void completion_free(completion *c)
{
    for (int i = 0; i < c->n_words; i++)
        free(c->words[i]);
    free(c->words);
    *c = (completion){ 0 };
}

/* ---- for the editor ---------------------------------------------------------- */

static bool continues_character(char byte) { return ((unsigned char)byte & 0xc0) == 0x80; }

size_t completion_common(const completion *c)
{
    size_t n = strlen(c->words[0]);
    for (int i = 1; i < c->n_words; i++) {
        size_t same = 0;
        while (same < n && c->words[i][same] == c->words[0][same])
            same++;
        n = same;
    }
    while (n > 0 && continues_character(c->words[0][n]))
        n--;
    return n;
}

/* Names are mostly ASCII: a character takes a column. */
static int width_of(const char *word)
{
    int n = 0;
    for (; *word; word++)
        n += !continues_character(*word);
    return n;
}

/* Down the columns, as ls does. */
static void write_columns(FILE *out, const completion *c, int shown, int rows, int cell)
{
    for (int row = 0; row < rows; row++) {
        for (int i = row; i < shown; i += rows) {
            int room = i + rows < shown ? cell - width_of(c->words[i]) : 0;
            fprintf(out, "%s%*s", c->words[i], room, "");
        }
        fputc('\n', out);
    }
}

char *completion_columns(const completion *c, int width, int rows)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    if (!out) return NULL;
    int cell = 0;
    for (int i = 0; i < c->n_words; i++) {
        int needed = width_of(c->words[i]) + 2;
        cell = needed > cell ? needed : cell;
    }
    int columns = (width + 1) / cell > 0 ? (width + 1) / cell : 1;
    int wanted = (c->n_words + columns - 1) / columns;
    if (wanted <= rows || rows < 2) {
        write_columns(out, c, c->n_words, wanted, cell);
    } else {
        int shown = (rows - 1) * columns;
        write_columns(out, c, shown, rows - 1, cell);
        fprintf(out, "... and %d more\n", c->n_words - shown);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
