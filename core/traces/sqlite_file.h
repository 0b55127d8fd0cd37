/* sqlite_file.h - the tables of an SQLite database, a row at a time.
 *
 * The library, libsqlite3, is loaded when the first database is opened: who reads none needs none.
 * The database is untrusted. It is opened for reading alone, its views and triggers do not run,
 * generated columns count as missing, and each table is gone through from its first row to its
 * last, without an index. A table may have no more rows and texts than fit in the file.
 */
#ifndef SL_TRACES_SQLITE_FILE_H
#define SL_TRACES_SQLITE_FILE_H

#include "../streamlab.h"

typedef struct sl__sqlite sl__sqlite;

/* Whether a file begins as a database does; false for what cannot be read, and for what is no
 * file. */
bool sl__is_sqlite(const char *path);

/* *db, also after an error, is closed by the caller. SL_EIO: it cannot be read, or the library
 * cannot be loaded. SL_EINVAL, with a sentence about "it": it is no database, or has more that is
 * not in the file yet. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__sqlite_open(const char *path, sl__sqlite **db, sl_error *err);
void sl__sqlite_close(sl__sqlite *db); /* NULL: nothing happens */

/* Why some table could not be read to its end; NULL: all could. Valid until the database is
 * closed. */
const char *sl__sqlite_damage(const sl__sqlite *db);

typedef struct sl__rows {
    sl__sqlite *db;
    struct sqlite3_stmt *statement; /* NULL: there are no rows */
    uint64_t n, text_bytes;         /* so far */
    uint32_t has;                   /* bit i: there is column i */
    bool is_short;                  /* of memory: a text could not be had */
} sl__rows;

/* Before the first row of a table; columns, at most 32, ends in NULL. There are no rows where the
 * table is missing. Closed by the caller, also after an error. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__rows_open(sl__sqlite *db, const char *table, const char *const columns[],
                        sl__rows *rows, sl_error *err);
/* The same of the tables that there are: column 0 is the name of one. */
sl_status sl__rows_open_tables(sl__sqlite *db, sl__rows *rows, sl_error *err);
/* *more: there is a next row. What is damaged ends the table. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__rows_next(sl__rows *rows, bool *more, sl_error *err);
void sl__rows_close(sl__rows *rows);

/* A column of the row, by its index in `columns`. What is missing, NULL or of another type is
 * `otherwise`. */
int64_t sl__rows_whole(const sl__rows *rows, int column, int64_t otherwise);
/* *n bytes of a text, without its zeros; valid until the next row. NULL: it is none. */
const char *sl__rows_text(sl__rows *rows, int column, size_t *n);

#endif
