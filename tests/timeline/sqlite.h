/* sqlite.h - writes SQLite databases, with libsqlite3, which is loaded: a machine without it has
 * nothing to test. */
#ifndef TESTS_TIMELINE_SQLITE_H
#define TESTS_TIMELINE_SQLITE_H

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "../tap.h"

static struct {
    int (*open)(const char *path, void **db);
    int (*exec)(void *db, const char *sql, void *each, void *ud, char **error);
    int (*close)(void *db);
} sqlite;

static bool find_function(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

TAP_UNUSED static bool has_sqlite(void)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    return library && find_function(library, "sqlite3_open", &sqlite.open)
           && find_function(library, "sqlite3_exec", &sqlite.exec)
           && find_function(library, "sqlite3_close", &sqlite.close);
}

/* Adds what the statements say to the database, which they make if there is none. */
TAP_UNUSED static void run_sql(const char *path, const char *statements)
{
    void *db = NULL;
    char *error = NULL;
    int result = sqlite.open(path, &db);
    if (result == 0) result = sqlite.exec(db, "PRAGMA synchronous = OFF", NULL, NULL, &error);
    if (result == 0) result = sqlite.exec(db, statements, NULL, NULL, &error);
    sqlite.close(db);
    if (result == 0) return;
    printf("Bail out! no database: %s\n", error ? error : path);
    exit(1);
}

TAP_UNUSED static void make_database(const char *path, const char *statements)
{
    unlink(path);
    run_sql(path, statements);
}

#endif
