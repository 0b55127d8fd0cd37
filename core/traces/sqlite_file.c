/* sqlite_file.c - reads SQLite databases with libsqlite3, which is loaded. */
#include "sqlite_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base.h"
#include "../text/divert.h"
#include "../text/text.h"

#define FIRST_BYTES "SQLite format 3"
#define LEAST_ROW 4          /* bytes that a row takes in the file */
#define STEPS_UNASKED 10000  /* of SQLite's, between two looks at what the user wants */
#define PROBE_BYTES 8388608  /* as much as the cache of pages below may have */
#define SCHEMA_BYTES 1000000 /* of a statement that makes a table */
#define CACHE_PRAGMA "PRAGMA cache_size = -8192; PRAGMA mmap_size = 0; PRAGMA cell_size_check = 1"

/* ---- the library ---- */

/* What sqlite3.h calls them. These numbers are part of its promise to stay compatible. */
enum {
    SQLITE_OK = 0,
    SQLITE_NOMEM = 7,
    SQLITE_ROW = 100,
    SQLITE_DONE = 101,
    SQLITE_INTEGER = 1,
    SQLITE_TEXT = 3,
    SQLITE_OPEN_READONLY = 1,
    SQLITE_OPEN_URI = 0x40,
    SQLITE_OPEN_PRIVATECACHE = 0x40000,
    SQLITE_LIMIT_LENGTH = 0,
    SQLITE_LIMIT_SQL_LENGTH = 1,
    SQLITE_LIMIT_ATTACHED = 7,
    SQLITE_DBCONFIG_ENABLE_TRIGGER = 1003,
    SQLITE_DBCONFIG_DEFENSIVE = 1010,
    SQLITE_DBCONFIG_ENABLE_VIEW = 1015,
    SQLITE_DBCONFIG_TRUSTED_SCHEMA = 1017
};

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

#define FUNCTIONS(X)                                                                               \
    X(int, open_v2, (const char *path, sqlite3 **db, int flags, const char *vfs))                  \
    X(int, close, (sqlite3 * db))                                                                  \
    X(int, exec, (sqlite3 * db, const char *sql, void *each, void *ud, char **error))              \
    X(int, prepare_v2, (sqlite3 * db, const char *sql, int n, sqlite3_stmt **s, const char **end)) \
    X(int, step, (sqlite3_stmt * s))                                                               \
    X(int, finalize, (sqlite3_stmt * s))                                                           \
    X(int, column_type, (sqlite3_stmt * s, int column))                                            \
    X(long long, column_int64, (sqlite3_stmt * s, int column))                                     \
    X(const unsigned char *, column_text, (sqlite3_stmt * s, int column))                          \
    X(int, column_bytes, (sqlite3_stmt * s, int column))                                           \
    X(const char *, errmsg, (sqlite3 * db))                                                        \
    X(int, limit, (sqlite3 * db, int what, int value))                                             \
    X(int, db_config, (sqlite3 * db, int what, ...))                                               \
    X(void, progress_handler, (sqlite3 * db, int steps, int (*stops)(void *), void *ud))

static struct {
#define X(type, name, arguments) type(*name) arguments;
    FUNCTIONS(X)
#undef X
} sqlite;

/* The same for data and functions, as POSIX has it. */
static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_all(void *library)
{
    bool all = true;
#define X(type, name, arguments) all &= find(library, "sqlite3_" #name, &sqlite.name);
    FUNCTIONS(X)
#undef X
    return all;
}

/* The library stays, once it is there. */
static sl_status load(sl_error *err)
{
    static const char *const names[] = { "libsqlite3.so.0", "libsqlite3.so",
                                         "/usr/lib/libsqlite3.dylib" };
    static bool is_loaded;
    for (size_t i = 0; i < sizeof names / sizeof *names && !is_loaded; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        is_loaded = library && find_all(library);
        if (library && !is_loaded) dlclose(library);
    }
    if (is_loaded) return SL_OK;
    return sl_fail(err, SL_EIO,
                   "an SQLite database is read with libsqlite3.so.0, which is not on this machine "
                   "(apt-get install libsqlite3-0, or dnf install sqlite-libs)");
}

/* ---- the database ---- */

struct sl__sqlite {
    sqlite3 *db;
    uint64_t bytes; /* of the file */
    char damage[160], message[160];
    bool is_damaged, is_interrupted;
    sl_error why; /* it is interrupted */
};

static bool has_header(const char *path, unsigned char *header, size_t n, uint64_t *bytes)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < (off_t)n) return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool was_read = fd >= 0 && sl__read_all(fd, header, n, NULL);
    if (fd >= 0) close(fd);
    *bytes = (uint64_t)info.st_size;
    return was_read && memcmp(header, FIRST_BYTES, sizeof FIRST_BYTES) == 0;
}

bool sl__is_sqlite(const char *path)
{
    unsigned char header[sizeof FIRST_BYTES];
    uint64_t bytes;
    const char *instead;
    return sl_divert_open(path, SL_FILE_READ, &instead) == 0
           && has_header(instead, header, sizeof header, &bytes);
}

/* Not 0: the statement ends with SQLITE_INTERRUPT. */
static int stops(void *ud)
{
    sl__sqlite *db = ud;
    if (!db->is_interrupted) db->is_interrupted = sl_interrupt_check(&db->why) != SL_OK;
    return db->is_interrupted;
}

/* "file:" and the path, in which some bytes have a meaning. immutable: SQLite neither locks the
 * file nor looks for what lies beside it, which may be untrusted, too. */
static bool make_uri(sl_text *uri, const char *path)
{
    sl_text_add(uri, "file:");
    while (path[0] == '/' && path[1] == '/') /* what comes behind two would be a machine's name */
        path++;
    for (; *path; path++)
        if (strchr("%?#", *path))
            sl_text_add(uri, "%%%02X", (unsigned char)*path);
        else
            sl_text_add_bytes(uri, path, 1);
    sl_text_add(uri, "?mode=ro&immutable=1");
    return !uri->failed;
}

/* What SQLite says, which may have names out of the file: a terminal takes orders from other
 * characters. Valid until the next call. */
static const char *message(sl__sqlite *db)
{
    snprintf(db->message, sizeof db->message, "%s",
             db->db ? sqlite.errmsg(db->db) : "it cannot be opened");
    for (char *at = db->message; *at; at++)
        if (*at < ' ' || *at > '~') *at = '?';
    return db->message;
}

/* SQLite also says so of some databases that are damaged. */
static bool is_short_of_memory(void)
{
    void *volatile probe = malloc(PROBE_BYTES);
    const bool is_short = !probe;
    free(probe);
    return is_short;
}

static sl_status fail(sl__sqlite *db, int result, sl_error *err)
{
    if (result == SQLITE_NOMEM && is_short_of_memory()) return sl__no_memory(err, "a database");
    if (db->is_interrupted) return sl_fail(err, SL_EINTERRUPT, "%s", db->why.msg);
    return sl_fail(err, SL_EINVAL, "it is a damaged SQLite database: %s", message(db));
}

/* Before the first statement, which reads what tables there are. */
static void confine(sl__sqlite *db)
{
    static const struct {
        int what, value;
    } settings[] = { { SQLITE_DBCONFIG_DEFENSIVE, 1 },
                     { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
                     { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
                     { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 } };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        int is_set = 0; /* an older library knows less of them */
        sqlite.db_config(db->db, settings[i].what, settings[i].value, &is_set);
    }
    sqlite.limit(db->db, SQLITE_LIMIT_LENGTH,
                 (int)sl__min(db->bytes + SCHEMA_BYTES, UINT64_C(1000000000)));
    sqlite.limit(db->db, SQLITE_LIMIT_SQL_LENGTH, SCHEMA_BYTES);
    sqlite.limit(db->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite.progress_handler(db->db, STEPS_UNASKED, stops, db);
}

static sl_status open_file(sl__sqlite *db, const char *path, sl_error *err)
{
    sl_text uri = { 0 };
    if (!make_uri(&uri, path)) {
        sl_text_free(&uri);
        return sl__no_memory(err, "the name of a database");
    }
    int result = sqlite.open_v2(
        uri.data, &db->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE, NULL);
    sl_text_free(&uri);
    if (result != SQLITE_OK) return fail(db, result, err);
    confine(db);
    result = sqlite.exec(db->db, CACHE_PRAGMA, NULL, NULL, NULL);
    return result == SQLITE_OK ? SL_OK : fail(db, result, err);
}

/* Where the last changes lie in a file beside it, "-wal", the database is not complete. */
static bool has_more(const char *path, const unsigned char *header)
{
    enum { WRITE_VERSION = 18, WRITE_AHEAD = 2 };
    char beside[PATH_MAX];
    struct stat info;
    const int n = snprintf(beside, sizeof beside, "%s-wal", path);
    return header[WRITE_VERSION] == WRITE_AHEAD && n > 0 && (size_t)n < sizeof beside
           && stat(beside, &info) == 0 && info.st_size > 0;
}

sl_status sl__sqlite_open(const char *path, sl__sqlite **opened, sl_error *err)
{
    unsigned char header[100];
    const char *instead;
    *opened = NULL;
    sl_status status = load(err);
    if (status != SL_OK) return status;
    sl__sqlite *db = *opened = calloc(1, sizeof *db);
    if (!db) return sl__no_memory(err, "a database");
    if (sl_divert_open(path, SL_FILE_READ, &instead) != 0
        || !has_header(instead, header, sizeof header, &db->bytes))
        return sl_fail(err, SL_EINVAL, "it is no whole SQLite database");
    if (has_more(instead, header))
        return sl_fail(err, SL_EINVAL,
                       "it is an SQLite database that a program still writes: a part of it is in "
                       "the file beside it whose name ends in -wal");
    return open_file(db, instead, err);
}

void sl__sqlite_close(sl__sqlite *db)
{
    if (db && db->db) sqlite.close(db->db);
    free(db);
}

const char *sl__sqlite_damage(const sl__sqlite *db) { return db->is_damaged ? db->damage : NULL; }

static void note_damage(sl__sqlite *db, const char *why)
{
    if (!db->is_damaged) snprintf(db->damage, sizeof db->damage, "%s", why);
    db->is_damaged = true;
}

/* ---- rows ---- */

static sl_status prepare(sl__sqlite *db, const char *sql, sl__rows *rows, sl_error *err)
{
    *rows = (sl__rows){ .db = db };
    int result = sqlite.prepare_v2(db->db, sql, -1, &rows->statement, NULL);
    if (result == SQLITE_OK) return SL_OK;
    sl_status status = fail(db, result, err);
    if (status != SL_EINVAL) return status;
    note_damage(db, message(db)); /* it has no rows */
    return SL_OK;
}

sl_status sl__rows_next(sl__rows *rows, bool *more, sl_error *err)
{
    sl__sqlite *db = rows->db;
    *more = false;
    if (!rows->statement) return SL_OK;
    if (rows->is_short) return sl__no_memory(err, "a text of a database");
    int result = sqlite.step(rows->statement);
    if (result == SQLITE_DONE) return SL_OK;
    if (result != SQLITE_ROW) {
        sl_status status = fail(db, result, err);
        if (status != SL_EINVAL) return status;
        note_damage(db, message(db));
        return SL_OK;
    }
    *more = ++rows->n <= db->bytes / LEAST_ROW && rows->text_bytes <= db->bytes;
    if (!*more) note_damage(db, "a table has more in it than the file");
    return SL_OK;
}

void sl__rows_close(sl__rows *rows)
{
    if (rows->statement) sqlite.finalize(rows->statement);
    rows->statement = NULL;
}

int64_t sl__rows_whole(const sl__rows *rows, int column, int64_t otherwise)
{
    if (!(rows->has >> column & 1) || sqlite.column_type(rows->statement, column) != SQLITE_INTEGER)
        return otherwise;
    return sqlite.column_int64(rows->statement, column);
}

const char *sl__rows_text(sl__rows *rows, int column, size_t *n)
{
    *n = 0;
    if (!(rows->has >> column & 1) || sqlite.column_type(rows->statement, column) != SQLITE_TEXT)
        return NULL;
    const char *text = (const char *)sqlite.column_text(rows->statement, column);
    rows->is_short |= !text;
    if (!text) return NULL;
    const size_t bytes = (size_t)sqlite.column_bytes(rows->statement, column);
    rows->text_bytes += bytes;
    *n = strnlen(text, bytes);
    return text;
}

/* ---- tables ---- */

/* Views and virtual tables have no page of their own. */
static sl_status has_table(sl__sqlite *db, const char *table, bool *has, sl_error *err)
{
    char sql[160];
    sl__rows rows;
    snprintf(sql, sizeof sql,
             "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = '%s'",
             table);
    sl_status status = prepare(db, sql, &rows, err);
    if (status == SL_OK) status = sl__rows_next(&rows, has, err);
    sl__rows_close(&rows);
    return status;
}

/* Which of the columns there are, and are stored. */
static sl_status find_columns(sl__sqlite *db, const char *table, const char *const columns[],
                              uint32_t *has, sl_error *err)
{
    enum { NAME = 1, HIDDEN = 6 };
    char sql[120];
    sl__rows rows;
    size_t n;
    bool more = false;
    snprintf(sql, sizeof sql, "PRAGMA table_xinfo(\"%s\")", table);
    *has = 0;
    sl_status status = prepare(db, sql, &rows, err);
    rows.has = UINT32_MAX;
    while (status == SL_OK && (status = sl__rows_next(&rows, &more, err)) == SL_OK && more) {
        const char *name = sl__rows_text(&rows, NAME, &n);
        for (int i = 0; name && columns[i]; i++)
            if (strcmp(name, columns[i]) == 0 && sl__rows_whole(&rows, HIDDEN, 1) == 0)
                *has |= UINT32_C(1) << i;
    }
    sl__rows_close(&rows);
    return status;
}

sl_status sl__rows_open_tables(sl__sqlite *db, sl__rows *rows, sl_error *err)
{
    sl_status status = prepare(db, "SELECT name FROM sqlite_master WHERE type = 'table'", rows,
                               err);
    rows->has = 1;
    return status;
}

sl_status sl__rows_open(sl__sqlite *db, const char *table, const char *const columns[],
                        sl__rows *rows, sl_error *err)
{
    sl_text sql = { 0 };
    uint32_t has = 0;
    bool is_there = false;
    *rows = (sl__rows){ .db = db };
    sl_status status = has_table(db, table, &is_there, err);
    if (status == SL_OK && is_there) status = find_columns(db, table, columns, &has, err);
    if (status != SL_OK || has == 0) return status;
    sl_text_add(&sql, "SELECT ");
    for (int i = 0; columns[i]; i++)
        if (has >> i & 1)
            sl_text_add(&sql, "%s\"%s\"", i > 0 ? ", " : "", columns[i]);
        else
            sl_text_add(&sql, "%sNULL", i > 0 ? ", " : "");
    sl_text_add(&sql, " FROM \"%s\" NOT INDEXED", table);
    status = sql.failed ? sl__no_memory(err, "a table") : prepare(db, sql.data, rows, err);
    rows->has = has;
    sl_text_free(&sql);
    return status;
}
