/* l_source.c - the script's lines, for explanations.
 *
 * A position is "lab.lua:12": the script's base name. With each position the chunk of that name
 * is noted (lsl_note_chunk). When a timeline is explained or saved, the lines are read from that
 * chunk: from its file, or from its text if it was loaded from a string. What the program reads
 * itself, entries at its prompt ("=lab[3]") and options ("=(command line)"), is in a table of
 * the program's. A name that two chunks share gives no lines, and neither does a file that was
 * changed after the script ran. */
#define _XOPEN_SOURCE 700 /* st_mtim */
#include "lsl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "l_timeline.h"

static const char chunks_key[] = "streamlab.chunks";   /* base name -> lua_Debug's source */
static const char stamps_key[] = "streamlab.stamps";   /* source -> stamp of its file */
static const char entries_key[] = "streamlab.entries"; /* the program's: "=..." -> its text */

enum { MOST_SOURCE_BYTES = 16 << 20, MOST_LINE_BYTES = 240, STAMP_BYTES = 80 };

/* ---- files --------------------------------------------------------------------------- */

/* Identifies this version of a file by inode, size and time. False if it is no regular file: a
 * pipe must not be opened again. */
static bool stamp_file(const char *path, char stamp[STAMP_BYTES], size_t *bytes)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    if (info.st_size > MOST_SOURCE_BYTES) return false;
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

/* Where each line of a text begins; the text is its user value. */
typedef struct lines {
    const char *text;
    size_t n;
    uint32_t start[];
} lines;

/* Replaces the text on top by its lines. */
static void index_lines(lua_State *L)
{
    const char *text = lua_tostring(L, -1);
    size_t n = 1, at = 0;
    for (const char *c = text; (c = strchr(c, '\n')) != NULL; c++)
        n++;
    lines *index = lua_newuserdatauv(L, sizeof *index + n * sizeof index->start[0], 1);
    index->text = text;
    index->n = n;
    for (size_t i = 0; i < n; i++) {
        index->start[i] = (uint32_t)at;
        at += strcspn(text + at, "\n") + 1;
    }
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, 1);
}

/* Pushes the lines of the chunk with that base name, or false. They are kept in the table
 * at `cache`, so that each file is read once. */
static void push_lines(lua_State *L, int cache, const char *name, size_t name_bytes)
{
    lua_pushlstring(L, name, name_bytes);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, cache) != LUA_TNIL) {
        lua_remove(L, -2);
        return;
    }
    lua_pop(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, chunks_key);
    lua_pushvalue(L, -2);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    if (lua_isstring(L, -1)) lsl_read_source(L);
    if (lua_isstring(L, -1) && lua_rawlen(L, -1) <= MOST_SOURCE_BYTES) {
        index_lines(L);
    } else {
        lua_pop(L, 1);
        lua_pushboolean(L, 0);
    }
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, cache);
    lua_remove(L, -2);
}

/* Line `number` without blanks around it, whole characters of it; NULL if it has none. */
static const char *find_line(const lines *index, long number, size_t *bytes)
{
    if (number < 1 || (size_t)number > index->n) return NULL;
    const char *text = index->text + index->start[number - 1];
    text += strspn(text, " \t");
    *bytes = strcspn(text, "\r\n");
    while (*bytes > 0 && (text[*bytes - 1] == ' ' || text[*bytes - 1] == '\t'))
        (*bytes)--;
    if (*bytes > MOST_LINE_BYTES) {
        *bytes = MOST_LINE_BYTES;
        while (*bytes > 0 && ((unsigned char)text[*bytes] & 0xC0) == 0x80)
            (*bytes)--;
    }
    return *bytes > 0 ? text : NULL;
}

/* Pushes the line of the script at that position ("lab.lua:12") without blanks around it, or
 * nil. The table at `cache` keeps the lines that were read. */
static void push_source_line(lua_State *L, int cache, const char *where)
{
    const char *colon = strrchr(where, ':');
    size_t bytes = 0;
    if (!colon) {
        lua_pushnil(L);
        return;
    }
    push_lines(L, cache, where, (size_t)(colon - where));
    const lines *index = lua_touserdata(L, -1);
    const char *line = index ? find_line(index, strtol(colon + 1, NULL, 10), &bytes) : NULL;
    if (line)
        lua_pushlstring(L, line, bytes);
    else
        lua_pushnil(L);
    lua_remove(L, -2);
}

static void set_line(lua_State *L, int cache, sl_timeline *timeline, uint32_t where, const char *op)
{
    push_source_line(L, cache, sl_timeline_text(timeline, where));
    const char *line = lua_tostring(L, -1);
    if (line) {
        sl_error err;
        lsl_check(L, sl_timeline_set_source(timeline, where, line, &err), &err, op);
    }
    lua_pop(L, 1);
}

/* Looks each position up once, however many operations have it. */
void lsl_timeline_add_sources(lua_State *L, lsl_timeline *box, const char *op)
{
    if (box->has_sources) return;
    luaL_checkstack(L, 10, NULL);
    size_t n_texts = sl_timeline_text_count(box->p);
    bool *wanted = lua_newuserdatauv(L, n_texts, 0);
    memset(wanted, 0, n_texts * sizeof *wanted);
    const size_t n_spans = sl_timeline_span_count(box->p);
    const size_t n_calls = sl_timeline_call_count(box->p);
    for (size_t i = 0; i < n_spans; i++)
        wanted[sl_timeline_span(box->p, i).where] = true;
    for (size_t i = 0; i < n_calls; i++)
        wanted[sl_timeline_call(box->p, i).where] = true;
    lua_newtable(L);
    int cache = lua_gettop(L);
    for (size_t id = 1; id < n_texts; id++)
        if (wanted[id] && *sl_timeline_source(box->p, (uint32_t)id) == '\0')
            set_line(L, cache, box->p, (uint32_t)id, op);
    lua_pop(L, 2);
    box->has_sources = true;
}

/* source_line(cache, where): the line at that position, or nil; see push_source_line. */
static int internal_source_line(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    push_source_line(L, 1, luaL_checkstring(L, 2));
    return 1;
}

void lsl_open_source_internal(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "stamp", internal_stamp },
        { "stamped", internal_stamped },
        { "source_line", internal_source_line },
        { NULL, NULL },
    };
    lsl_set_functions(L, functions);
}
