/* zip.c - makes .zip files, with minizip.
 *
 * The file is written to memory, through functions that minizip calls for a file. The texts
 * belong to Lua: no Lua function is called between reading the list and the end, so that no error
 * can leak memory.
 */
#include "commands.h"

#include <errno.h>
#include <lauxlib.h>
#include <minizip/zip.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../run/embedded.h"

#define FIRST_OF_1980 0x0021u        /* day 1, month 1 of zip's first year, as MS-DOS packs it */
#define MADE_BY_UNIX (3u << 8 | 20u) /* so that the attributes' upper half is a mode; zip 2.0 */
#define REGULAR_FILE 0100000u        /* S_IFREG, as a .zip file has it everywhere */
#define NAMES_ARE_UTF8 (1u << 11)
#define MOST_NAME_BYTES 0xFFFFu
#define ZIP64_BYTES 0xFFFFFFFFu /* what is larger needs another kind of entry */
#define FIRST_BYTES ((size_t)1 << 16)
#define PART_BYTES ((size_t)1 << 30) /* minizip takes an unsigned int */

typedef struct entry {
    const char *name, *data;
    size_t len;
    bool executable;
} entry;

/* ---- memory as a file ------------------------------------------------------------- */

typedef struct archive {
    char *bytes;
    size_t len, room, at;
} archive;

static bool make_room(archive *a, size_t end)
{
    size_t room = a->room;
    while (room < end)
        room = room < FIRST_BYTES ? FIRST_BYTES : 2 * room;
    char *bytes = room > a->room ? realloc(a->bytes, room) : a->bytes;
    if (!bytes) return false;
    a->bytes = bytes;
    a->room = room;
    return true;
}

static voidpf open_archive(voidpf opaque, const void *name, int mode)
{
    (void)name;
    (void)mode;
    return opaque;
}

static uLong read_archive(voidpf opaque, voidpf stream, void *to, uLong n)
{
    archive *a = stream;
    (void)opaque;
    size_t part = n < a->len - a->at ? n : a->len - a->at;
    if (part > 0) memcpy(to, a->bytes + a->at, part);
    a->at += part;
    return (uLong)part;
}

static uLong write_archive(voidpf opaque, voidpf stream, const void *from, uLong n)
{
    archive *a = stream;
    (void)opaque;
    if (n == 0 || !make_room(a, a->at + n)) return 0;
    memcpy(a->bytes + a->at, from, n);
    a->at += n;
    a->len = a->at > a->len ? a->at : a->len;
    return n;
}

static ZPOS64_T tell_archive(voidpf opaque, voidpf stream)
{
    (void)opaque;
    return ((archive *)stream)->at;
}

static long seek_archive(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin)
{
    archive *a = stream;
    (void)opaque;
    size_t from = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                  : origin == ZLIB_FILEFUNC_SEEK_CUR ? a->at
                                                     : a->len;
    if (from + offset > a->len) return -1;
    a->at = from + (size_t)offset;
    return 0;
}

static int say_nothing(voidpf opaque, voidpf stream)
{
    (void)opaque;
    (void)stream;
    return 0;
}

/* ---- what is in it ------------------------------------------------------------------ */

static int add_entry(zipFile zip, const entry *e)
{
    mode_t mode = REGULAR_FILE | (e->executable ? 0755 : 0644);
    zip_fileinfo info = { .dosDate = (uLong)FIRST_OF_1980 << 16, .external_fa = (uLong)mode << 16 };
    int status = zipOpenNewFileInZip4_64(zip, e->name, &info, NULL, 0, NULL, 0, NULL, Z_DEFLATED,
                                         Z_DEFAULT_COMPRESSION, 0, -MAX_WBITS, DEF_MEM_LEVEL,
                                         Z_DEFAULT_STRATEGY, NULL, 0, MADE_BY_UNIX, NAMES_ARE_UTF8,
                                         e->len >= ZIP64_BYTES);
    for (size_t at = 0, part; status == ZIP_OK && at < e->len; at += part) {
        part = e->len - at < PART_BYTES ? e->len - at : PART_BYTES;
        status = zipWriteInFileInZip(zip, e->data + at, (unsigned)part);
    }
    return status == ZIP_OK ? zipCloseFileInZip(zip) : status;
}

/* False without memory: nothing else can go wrong there. */
static bool add_entries(archive *a, const entry *entries, size_t n)
{
    zlib_filefunc64_def functions = {
        open_archive, read_archive, write_archive, tell_archive,
        seek_archive, say_nothing,  say_nothing,   a,
    };
    zipFile zip = zipOpen2_64("", APPEND_STATUS_CREATE, NULL, &functions);
    int status = zip ? ZIP_OK : ZIP_INTERNALERROR;
    for (size_t i = 0; status == ZIP_OK && i < n; i++)
        status = add_entry(zip, &entries[i]);
    return zip && zipClose(zip, NULL) == ZIP_OK && status == ZIP_OK;
}

/* ---- the list --------------------------------------------------------------------- */

/* A string field of the table on the stack's top, which keeps it alive. */
static const char *text_field(lua_State *L, const char *field, lua_Integer i, size_t *len)
{
    if (lua_getfield(L, -1, field) != LUA_TSTRING)
        luaL_error(L, "zip: entry %I has no %s", i, field);
    const char *text = lua_tolstring(L, -1, len);
    lua_pop(L, 1);
    return text;
}

static void read_entry(lua_State *L, lua_Integer i, entry *e)
{
    size_t len;
    if (lua_rawgeti(L, 1, i) != LUA_TTABLE) luaL_error(L, "zip: entry %I is no table", i);
    e->name = text_field(L, "name", i, &len);
    if (len == 0 || len > MOST_NAME_BYTES || strlen(e->name) != len)
        luaL_error(L, "zip: entry %I has a name that a .zip file cannot have", i);
    e->data = text_field(L, "data", i, &e->len);
    lua_getfield(L, -1, "executable");
    e->executable = lua_toboolean(L, -1);
    lua_pop(L, 2);
}

/* Arguments: the archive, as light userdata. */
static int push_archive(lua_State *L)
{
    const archive *a = lua_touserdata(L, 1);
    lua_pushlstring(L, a->bytes, a->len);
    return 1;
}

static int zip(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    size_t n = lua_rawlen(L, 1);
    entry *entries = lua_newuserdatauv(L, (n + 1) * sizeof *entries, 0);
    for (size_t i = 0; i < n; i++)
        read_entry(L, (lua_Integer)i + 1, &entries[i]);
    archive a = { 0 };
    lua_pushcfunction(L, push_archive);
    lua_pushlightuserdata(L, &a);
    bool fine = add_entries(&a, entries, n);
    int status = fine ? lua_pcall(L, 1, 1, 0) : LUA_ERRMEM;
    free(a.bytes);
    if (!fine) return luaL_error(L, "not enough memory for a .zip file");
    return status == LUA_OK ? 1 : lua_error(L);
}

void zip_writer_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "zip", zip }, { NULL, NULL } };
    embedded_add(L, functions);
}
