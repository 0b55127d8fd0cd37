/* l_source.c - the script's lines, for explanations.
 *
 * When a timeline is explained or saved, the lines of its positions are read from the chunks that
 * these are in (l_chunk.c). */
#include <stdlib.h>
#include <string.h>

#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

enum { MOST_LINE_BYTES = 240 };

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
    lua_pushvalue(L, -1);
    lsl_read_chunk(L);
    if (lua_isstring(L, -1) && lua_rawlen(L, -1) <= LSL_MOST_SOURCE_BYTES) {
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

const luaL_Reg lsl_source_internals[] = { { "source_line", internal_source_line }, { NULL, NULL } };
