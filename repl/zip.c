/* zip.c - writes .zip files, with minizip.
 *
 * The texts stay Lua's: nothing of Lua is called between reading the list and the end, so
 * that no error can leave a file open or a temporary one behind.
 */
#include "zip.h"

#include <errno.h>
#include <lauxlib.h>
#include <minizip/zip.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded.h"

#define FIRST_OF_1980 0x0021u       /* day 1, month 1 of zip's first year, as MS-DOS packs it */
#define MADE_BY_UNIX (3u << 8 | 20u)    /* so that the attributes' upper half is a mode; zip 2.0 */
#define REGULAR_FILE 0100000u         /* S_IFREG, as a .zip file has it everywhere */
#define NAMES_ARE_UTF8 (1u << 11)
#define MOST_NAME_BYTES 0xFFFFu
#define ZIP64_BYTES 0xFFFFFFFFu     /* what is larger needs another kind of entry */
#define PART_BYTES ((size_t)1 << 30)    /* minizip takes an unsigned int */

typedef struct entry {
    const char *name, *data;
    size_t len;
    bool executable;
} entry;

/* ---- the file --------------------------------------------------------------------- */

static int add_entry(zipFile zip, const entry *e)
{
    mode_t mode = REGULAR_FILE | (e->executable ? 0755 : 0644);
    zip_fileinfo info = {.dosDate = (uLong)FIRST_OF_1980 << 16, .external_fa = (uLong)mode << 16};
    int status = zipOpenNewFileInZip4_64(zip, e->name, &info, NULL, 0, NULL, 0, NULL, Z_DEFLATED,
        Z_BEST_COMPRESSION, 0, -MAX_WBITS, DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, NULL, 0,
        MADE_BY_UNIX, NAMES_ARE_UTF8, e->len >= ZIP64_BYTES);
    for (size_t at = 0, part; status == ZIP_OK && at < e->len; at += part) {
        part = e->len - at < PART_BYTES ? e->len - at : PART_BYTES;
        status = zipWriteInFileInZip(zip, e->data + at, (unsigned)part);
    }
    return status == ZIP_OK ? zipCloseFileInZip(zip) : status;
}

/* 0, or an errno. */
static int write_entries(const char *path, const entry *entries, size_t n)
{
    errno = 0;
    zipFile zip = zipOpen64(path, APPEND_STATUS_CREATE);
    int status = zip ? ZIP_OK : ZIP_ERRNO, error = errno;
    for (size_t i = 0; status == ZIP_OK && i < n; i++)
        status = add_entry(zip, &entries[i]);
    if (status != ZIP_OK)
        error = errno;
    if (zip && zipClose(zip, NULL) != ZIP_OK && status == ZIP_OK) {
        status = ZIP_ERRNO;
        error = errno;
    }
    return status == ZIP_OK ? 0 : error ? error : EIO;
}

/* mkstemp's files are for their owner alone; this one is to be like others. */
static bool make_temporary(char *template)
{
    int fd = mkstemp(template);
    if (fd < 0)
        return false;
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    close(fd);
    return true;
}

/* By way of a temporary file, whose name is written over its template. 0, or an errno. */
static int write_file(const char *path, char *template, const entry *entries, size_t n)
{
    if (!make_temporary(template))
        return errno;
    int error = write_entries(template, entries, n);
    if (error == 0 && rename(template, path) != 0)
        error = errno;
    if (error != 0)
        unlink(template);
    return error;
}

/* ---- the list --------------------------------------------------------------------- */

/* A string field of the table on the stack's top, which keeps it alive. */
static const char *text_field(lua_State *L, const char *field, lua_Integer i, size_t *len)
{
    if (lua_getfield(L, -1, field) != LUA_TSTRING)
        luaL_error(L, "write_zip: entry %I has no %s", i, field);
    const char *text = lua_tolstring(L, -1, len);
    lua_pop(L, 1);
    return text;
}

static void read_entry(lua_State *L, lua_Integer i, entry *e)
{
    size_t len;
    if (lua_rawgeti(L, 2, i) != LUA_TTABLE)
        luaL_error(L, "write_zip: entry %I is no table", i);
    e->name = text_field(L, "name", i, &len);
    if (len == 0 || len > MOST_NAME_BYTES || strlen(e->name) != len)
        luaL_error(L, "write_zip: entry %I has a name that a .zip file cannot have", i);
    e->data = text_field(L, "data", i, &e->len);
    lua_getfield(L, -1, "executable");
    e->executable = lua_toboolean(L, -1);
    lua_pop(L, 2);
}

static int write_zip(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    size_t n = lua_rawlen(L, 2);
    entry *entries = lua_newuserdatauv(L, (n + 1) * sizeof *entries, 0);
    for (size_t i = 0; i < n; i++)
        read_entry(L, (lua_Integer)i + 1, &entries[i]);
    size_t bytes = strlen(path) + sizeof ".XXXXXX";
    char *template = lua_newuserdatauv(L, bytes, 0);
    snprintf(template, bytes, "%s.XXXXXX", path);
    int error = write_file(path, template, entries, n);
    if (error == 0)
        return 0;
    lua_pushfstring(L, "cannot write %s: %s", path, strerror(error));
    return lua_error(L);
}

void zip_writer_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"write_zip", write_zip}, {NULL, NULL}};
    embedded_add(L, functions);
}
