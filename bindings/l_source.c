/* l_source.c - the script's lines, for explanations.
 *
 * A position is "lab.lua:12": the script's base name. While positions are noted, which
 * chunk each name belongs to is noted too (lsl_note_chunk); when a timeline is explained
 * or saved, the lines are read from there: from the file, or from the text itself of what
 * came with -e. A name that two chunks share gives no lines.
 */
#include "lsl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "l_timeline.h"

static const char chunks_key[] = "streamlab.chunks";    /* base name -> lua_Debug's source */

enum { MOST_SOURCE_BYTES = 16 << 20, MOST_LINE_BYTES = 240 };

void lsl_note_chunk(lua_State *L, const char *where, const char *source)
{
    const char *colon = strrchr(where, ':');
    if (colon == NULL || source[0] == '=') return;
    luaL_checkstack(L, 6, NULL);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, chunks_key);
    lua_pushlstring(L, where, (size_t)(colon - where));
    lua_pushvalue(L, -1);
    lua_rawget(L, -3);
    bool known = lua_isstring(L, -1) && strcmp(lua_tostring(L, -1), source) == 0;
    bool other = !lua_isnil(L, -1) && !known;
    lua_pop(L, 1);
    if (other)
        lua_pushboolean(L, 0);
    else
        lua_pushstring(L, source);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

/* Pushes the file's contents, or nil. All memory is there before the file is opened, which
 * an error of Lua's would leave open. */
static void push_file(lua_State *L, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) {
        lua_pushnil(L);
        return;
    }
    size_t room = info.st_size < MOST_SOURCE_BYTES ? (size_t)info.st_size : MOST_SOURCE_BYTES;
    luaL_Buffer buffer;
    char *text = luaL_buffinitsize(L, &buffer, room);
    FILE *file = fopen(path, "rb");
    size_t n = 0;
    if (file != NULL) {
        n = fread(text, 1, room, file);
        fclose(file);
    }
    luaL_pushresultsize(&buffer, n);
}

/* Pushes the text of the chunk with that base name, or nil. Texts are kept in the table at
 * `cache`, so that each file is read once. */
static void push_chunk(lua_State *L, int cache, const char *name, size_t name_bytes)
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
    const char *source = lua_isstring(L, -1) ? lua_tostring(L, -1) : NULL;
    if (source == NULL)
        lua_pushboolean(L, 0);
    else if (source[0] == '@')
        push_file(L, source + 1);
    else
        lua_pushvalue(L, -1);
    lua_remove(L, -2);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, 0);
    }
    lua_rawset(L, cache);
    lua_remove(L, -2);
}

/* Line `number` of the text, without blanks around it; NULL if there is none. */
static const char *find_line(const char *text, long number, size_t *bytes)
{
    for (; number > 1 && text != NULL; number--) {
        text = strchr(text, '\n');
        if (text != NULL) text++;
    }
    if (text == NULL || number < 1) return NULL;
    text += strspn(text, " \t");
    *bytes = strcspn(text, "\r\n");
    while (*bytes > 0 && (text[*bytes - 1] == ' ' || text[*bytes - 1] == '\t')) (*bytes)--;
    if (*bytes > MOST_LINE_BYTES) *bytes = MOST_LINE_BYTES;
    return *bytes > 0 ? text : NULL;
}

static void set_line(lua_State *L, int cache, sl_timeline *timeline, uint32_t where)
{
    const char *text = sl_timeline_text(timeline, where), *colon = strrchr(text, ':');
    size_t bytes = 0;
    if (colon == NULL) return;
    push_chunk(L, cache, text, (size_t)(colon - text));
    const char *chunk = lua_isstring(L, -1) ? lua_tostring(L, -1) : NULL;
    const char *line = chunk != NULL ? find_line(chunk, strtol(colon + 1, NULL, 10), &bytes) : NULL;
    if (line != NULL) {
        lua_pushlstring(L, line, bytes);
        sl_timeline_set_source(timeline, where, lua_tostring(L, -1), NULL);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* Positions are few; each is looked up once, however many operations carry it. */
void lsl_timeline_add_sources(lua_State *L, lsl_timeline *box)
{
    if (box->has_sources) return;
    box->has_sources = true;
    size_t n_texts = sl_timeline_text_count(box->p), n_spans, n_calls;
    bool *wanted = lua_newuserdatauv(L, n_texts, 0);
    memset(wanted, 0, n_texts * sizeof(*wanted));
    const sl_span *spans = sl_timeline_spans(box->p, &n_spans);
    const sl_call *calls = sl_timeline_calls(box->p, &n_calls);
    for (size_t i = 0; i < n_spans; i++) wanted[spans[i].where] = true;
    for (size_t i = 0; i < n_calls; i++) wanted[calls[i].where] = true;
    lua_newtable(L);
    int cache = lua_gettop(L);
    for (size_t id = 1; id < n_texts; id++)
        if (wanted[id] && *sl_timeline_source(box->p, (uint32_t)id) == '\0')
            set_line(L, cache, box->p, (uint32_t)id);
    lua_pop(L, 2);
}
