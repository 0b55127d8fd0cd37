/* columns.c - long columns of integers as a short text. */
#include "columns.h"

#include "../text/bytes.h"

/* ---- base64 ------------------------------------------------------------------- */

static void put_group(sl__column *column, int n)
{
    char digits[4];
    sl__base64_group(column->bits, n, digits);
    sl__outfile_write(column->file, digits, sizeof digits);
    column->bits = 0;
    column->n_bytes = 0;
}

static void put_byte(sl__column *column, unsigned byte)
{
    column->bits |= (uint32_t)byte << (16 - 8 * column->n_bytes);
    if (++column->n_bytes == 3) put_group(column, 3);
}

/* ---- numbers ------------------------------------------------------------------ */

static void put_number(sl__column *column, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(column, (unsigned)(value & 0x7F) | 0x80);
    put_byte(column, (unsigned)value);
}

static void put_repeats(sl__column *column)
{
    if (column->repeats == 0) return;
    put_byte(column, 0);
    put_number(column, column->repeats - 1);
    column->repeats = 0;
}

void sl__column_begin(sl__column *column, sl__outfile *file)
{
    *column = (sl__column){ .file = file };
}

void sl__column_add(sl__column *column, int64_t value)
{
    if (value < 0) value = 0;
    if (value > SL__COLUMN_MAX) value = SL__COLUMN_MAX;
    int64_t change = value - column->last;
    column->last = value;
    if (change == 0) {
        column->repeats++;
        return;
    }
    put_repeats(column);
    put_number(column, change > 0 ? (uint64_t)change * 2 : (uint64_t)-change * 2 - 1);
}

void sl__column_end(sl__column *column)
{
    put_repeats(column);
    if (column->n_bytes > 0) put_group(column, column->n_bytes);
}
