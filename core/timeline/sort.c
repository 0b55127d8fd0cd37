/* sort.c - a merge sort that takes the runs which are there: elements that are in order already,
 * or in the opposite order. A recording has few and long ones, since each stream, thread and buffer
 * is in order. Where these take turns, each is gathered first.
 *
 * Large elements stay where they are while pointers to them are sorted.
 */
#include "sort.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../base.h"

enum {
    LARGE = 64,    /* bytes of an element from which on pointers are sorted */
    MOST_ROWS = 16 /* streams and the like that take turns */
};

typedef struct sorting {
    int (*compare)(const void *, const void *);
    size_t size;
    bool indirect; /* elements are pointers to what is compared */
    size_t *runs;  /* where each begins, and at the end how many elements there are */
    size_t n_runs, cap_runs;
} sorting;

static inline int order(const sorting *s, const char *left, const char *right)
{
    if (!s->indirect) return s->compare(left, right);
    const void *a, *b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return s->compare(a, b);
}

/* Of any size, but those that are copied often are made of numbers of 8 bytes. */
static inline void copy(char *to, const char *from, size_t size)
{
    for (; size >= 8; size -= 8, to += 8, from += 8)
        memcpy(to, from, 8);
    for (; size > 0; size--)
        *to++ = *from++;
}

/* ---- runs ---- */

static void swap(char *a, char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

static void reverse(char *at, size_t n, size_t size)
{
    for (size_t i = 0; i < n / 2; i++)
        swap(at + i * size, at + (n - 1 - i) * size, size);
}

/* How many elements the run from `at` on has. Of equal ones the first stays the first, so that one
 * in the opposite order has none. */
static size_t run_at(const sorting *s, char *at, size_t n)
{
    const size_t size = s->size;
    size_t length = 1;
    if (n < 2) return n;
    if (order(s, at, at + size) > 0) {
        while (length < n && order(s, at + (length - 1) * size, at + length * size) > 0)
            length++;
        reverse(at, length, size);
        return length;
    }
    while (length < n && order(s, at + (length - 1) * size, at + length * size) <= 0)
        length++;
    return length;
}

/* What goes on where the run before it ends, as what was in the opposite order may, is no run of
 * its own. False: no memory. */
static bool find_runs(sorting *s, char *array, size_t n)
{
    for (size_t at = 0, length; at < n; at += length) {
        char *const run = array + at * s->size;
        length = run_at(s, run, n - at);
        if (at > 0 && order(s, run - s->size, run) <= 0) continue;
        if (!SL__GROW(s->runs, s->cap_runs, s->n_runs + 2)) return false;
        s->runs[s->n_runs++] = at;
    }
    s->runs[s->n_runs] = n;
    return true;
}

/* ---- rows that take turns ---- */

/* Deals the elements out to rows, each of which is in order: to the first whose last one does not
 * come behind the element. The lasts then are in the opposite order, so that of equal elements none
 * gets into a row before that of an earlier one. `length`: of each row; of[i]: element i's. False:
 * there are more rows than MOST_ROWS. */
static bool find_rows(sorting *s, const char *array, size_t n, uint8_t *of,
                      size_t length[MOST_ROWS])
{
    const char *last[MOST_ROWS];
    size_t n_rows = 0;
    for (size_t i = 0; i < n; i++) {
        const char *const at = array + i * s->size;
        size_t row = 0;
        while (row < n_rows && order(s, last[row], at) > 0)
            row++;
        if (row == MOST_ROWS) return false;
        if (row == n_rows) length[n_rows++] = 0;
        last[row] = at;
        length[row]++;
        of[i] = (uint8_t)row;
    }
    s->n_runs = n_rows;
    return true;
}

/* Writes row after row, which then are the runs. False: nothing has changed. */
static bool gather_rows(sorting *s, const char *array, size_t n, char *to)
{
    size_t length[MOST_ROWS], end[MOST_ROWS];
    uint8_t *of = malloc(n);
    const bool done = of && find_rows(s, array, n, of, length);
    for (size_t row = 0, at = 0; done && row < s->n_runs; at += length[row++])
        s->runs[row] = end[row] = at;
    for (size_t i = 0; done && i < n; i++)
        copy(to + end[of[i]]++ * s->size, array + i * s->size, s->size);
    if (done) s->runs[s->n_runs] = n;
    free(of);
    return done;
}

/* ---- merging ---- */

/* The run from `at` to `middle` and the one from there to `end`, written behind one another. */
static void merge(const sorting *s, const char *at, const char *middle, const char *end, char *to)
{
    const size_t size = s->size;
    const char *left = at, *right = middle;
    if (right == end || order(s, right - size, right) <= 0) {
        memcpy(to, at, (size_t)(end - at));
        return;
    }
    while (left < middle && right < end) {
        const bool is_right = order(s, left, right) > 0;
        copy(to, is_right ? right : left, size);
        *(is_right ? &right : &left) += size;
        to += size;
    }
    memcpy(to, left, (size_t)(middle - left));
    memcpy(to + (middle - left), right, (size_t)(end - right));
}

/* Merges each two runs that are neighbours. */
static void merge_all(sorting *s, const char *from, char *to)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_runs; i += 2) {
        const size_t at = s->runs[i] * s->size, middle = s->runs[i + 1] * s->size;
        const size_t end = i + 2 <= s->n_runs ? s->runs[i + 2] * s->size : middle;
        merge(s, from + at, from + middle, from + end, to + at);
        s->runs[n++] = s->runs[i];
    }
    s->runs[n] = s->runs[s->n_runs];
    s->n_runs = n;
}

/* False: no memory, and the elements are in some order. */
static bool sort_runs(sorting *s, char *array, size_t n)
{
    const size_t bytes = n * s->size;
    char *from = array, *to = NULL;
    bool done = find_runs(s, array, n);
    if (done && s->n_runs > 1) {
        to = malloc(bytes);
        done = to != NULL;
    }
    char *const room = to;
    if (done && s->n_runs > MOST_ROWS && gather_rows(s, from, n, to)) {
        from = room;
        to = array;
    }
    while (done && s->n_runs > 1) {
        merge_all(s, from, to);
        char *const merged = to;
        to = from;
        from = merged;
    }
    if (done && from != array) memcpy(array, from, bytes);
    free(room);
    free(s->runs);
    return done;
}

/* ---- large elements ---- */

/* Each element goes where its pointer is: along the circles in which they change. */
static void follow(char *array, char **at, size_t n, size_t size, char *held)
{
    for (size_t i = 0; i < n; i++) {
        size_t to = i;
        if (at[i] == array + i * size) continue;
        memcpy(held, array + i * size, size);
        while (at[to] != array + i * size) {
            const size_t from = (size_t)(at[to] - array) / size;
            memcpy(array + to * size, at[to], size);
            at[to] = array + to * size;
            to = from;
        }
        memcpy(array + to * size, held, size);
        at[to] = array + to * size;
    }
}

static bool sort_pointers(void *array, size_t n, size_t size,
                          int (*compare)(const void *, const void *))
{
    sorting s = { .compare = compare, .size = sizeof(char *), .indirect = true };
    char **at = malloc(n * sizeof *at), *held = malloc(size);
    bool done = at && held;
    for (size_t i = 0; done && i < n; i++)
        at[i] = (char *)array + i * size;
    done = done && sort_runs(&s, (char *)at, n);
    if (done) follow(array, at, n, size, held);
    free(at);
    free(held);
    return done;
}

void sl__sort(void *array, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    sorting s = { .compare = compare, .size = size };
    if (n < 2 || run_at(&s, array, n) == n) return;
    if (!(size >= LARGE ? sort_pointers(array, n, size, compare) : sort_runs(&s, array, n)))
        qsort(array, n, size, compare);
}
