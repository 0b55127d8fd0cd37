/* columns.h - long columns of integers as a short text, for data inside a page.
 *
 * Neighbours in a column of a timeline are alike, so that differences are kept: a
 * zero byte and how many of them follow for a run of equal values, else the
 * difference with its sign in the lowest bit. Numbers are little-endian in groups
 * of seven bits, the bytes are written as base64. A span takes some 15 bytes in all.
 * The reader is report/data.js.
 */
#ifndef SL_PICTURES_COLUMNS_H
#define SL_PICTURES_COLUMNS_H

#include "../text/outfile.h"

#define SL__COLUMN_MAX ((INT64_C(1) << 53) - 1) /* exact in a double */

typedef struct sl__column {
    sl__outfile *file;
    int64_t last;
    uint64_t repeats; /* of `last`, not written yet */
    uint32_t bits;    /* of bytes not written yet */
    int n_bytes;
} sl__column;

void sl__column_begin(sl__column *column, sl__outfile *file);
/* Negative values are written as 0, values above SL__COLUMN_MAX as that. */
void sl__column_add(sl__column *column, int64_t value);
void sl__column_end(sl__column *column);

#endif
