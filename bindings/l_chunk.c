/* l_chunk.c - the chunks that positions are in, and their texts.
 *
 * A position is "lab.lua:12": the script's base name. With each position the chunk of that name
 * is noted (lsl_note_chunk). Its text is read from its file, or is at hand if it was loaded from a
 * string. What the program reads itself, entries at its prompt ("=lab[3]") and options
 * ("=(command line)"), is in a table of the program's. A name that two chunks share has no text,
 * and neither has a file that was changed after the script ran. */
#define _XOPEN_SOURCE 700 /* st_mtim */
#include "l_box.h"
#include "l_error.h"
#include "l_parts.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char chunks_key[] = "streamlab.chunks";   /* base name -> lua_Debug's source */
static const char stamps_key[] = "streamlab.stamps";   /* source -> stamp of its file */
static const char entries_key[] = "streamlab.entries"; /* the program's: "=..." -> its text */

enum { STAMP_BYTES = 80 };

/* ---- files --------------------------------------------------------------------------- */

/* Identifies this version of a file by inode, size and time. False if it is no regular file: a
 * pipe must not be opened again. */
static bool stamp_file(const char *path, char stamp[STAMP_BYTES], size_t *bytes)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    if (info.st_size > LSL_MOST_SOURCE_BYTES) return false;
    snprintf(stamp, STAMP_BYTES, "%lld %lld %lld.%09ld", (long long)info.st_ino,
             (long long)info.st_size, (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    *bytes = (size_t)info.st_size;
    return true;
}

/* stamp(path): that of the file as it is now, or nil. */
static int internal_stamp(lua_State *L)
{
    char stamp[STAMP_BYTES];
    size_t bytes;
    if (!stamp_file(luaL_checkstring(L, 1), stamp, &bytes)) return 0;
    lua_pushstring(L, stamp);
    return 1;
}

/* Pushes the contents of a file that still has the stamp, or nil. Between opening and
 * closing nothing can raise. */
static void push_file(lua_State *L, const char *path, const char *noted)
{
    char stamp[STAMP_BYTES];
    size_t bytes = 0, n = 0;
    if (!noted || !stamp_file(path, stamp, &bytes) || strcmp(noted, stamp) != 0) {
        lua_pushnil(L);
        return;
    }
    char *text = lua_newuserdatauv(L, bytes + 1, 0);
    FILE *file = fopen(path, "rb");
    if (file) {
        n = fread(text, 1, bytes, file);
        fclose(file);
    }
    if (n == bytes)
        lua_pushlstring(L, text, n);
    else
        lua_pushnil(L);
    lua_remove(L, -2);
}

/* stamped(path, stamp): the contents of the file if it still has the stamp, or nil. */
static int internal_stamped(lua_State *L)
{
    push_file(L, luaL_checkstring(L, 1), lua_tostring(L, 2));
    return 1;
}

/* ---- noting -------------------------------------------------------------------------- */

static void note_stamp(lua_State *L, const char *source)
{
    char stamp[STAMP_BYTES];
    size_t bytes;
    if (source[0] != '@' || !stamp_file(source + 1, stamp, &bytes)) return;
    luaL_getsubtable(L, LUA_REGISTRYINDEX, stamps_key);
    lsl_set_text(L, source, stamp);
    lua_pop(L, 1);
}

void lsl_note_chunk(lua_State *L, const char *where, const char *source)
{
    const char *colon = strrchr(where, ':');
    if (!colon) return;
    luaL_checkstack(L, 6, NULL);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, chunks_key);
    lua_pushlstring(L, where, (size_t)(colon - where));
    lua_pushvalue(L, -1);
    lua_rawget(L, -3);
    bool is_new = lua_isnil(L, -1);
    bool same = lua_isstring(L, -1) && strcmp(lua_tostring(L, -1), source) == 0;
    lua_pop(L, 1);
    if (is_new) {
        note_stamp(L, source);
        lua_pushstring(L, source);
        lua_rawset(L, -3);
    } else if (!same) {
        lua_pushboolean(L, 0);
        lua_rawset(L, -3);
    } else {
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* ---- reading -------------------------------------------------------------------------- */

void lsl_read_source(lua_State *L)
{
    const char *source = lua_tostring(L, -1);
    if (source[0] == '@') {
        luaL_getsubtable(L, LUA_REGISTRYINDEX, stamps_key);
        lua_getfield(L, -1, source);
        push_file(L, source + 1, lua_tostring(L, -1));
        lua_replace(L, -3);
        lua_pop(L, 1);
    } else if (source[0] == '=') {
        luaL_getsubtable(L, LUA_REGISTRYINDEX, entries_key);
        lua_getfield(L, -1, source);
        lua_remove(L, -2);
    } else {
        return;
    }
    lua_remove(L, -2);
}

void lsl_read_chunk(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, chunks_key);
    lua_insert(L, -2);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    if (lua_isstring(L, -1)) lsl_read_source(L);
}

const luaL_Reg lsl_chunk_internals[] = {
    { "stamp", internal_stamp },
    { "stamped", internal_stamped },
    { NULL, NULL },
};
