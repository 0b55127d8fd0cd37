/* l_page.c - a timeline as a page, with its words from bindings/words/. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

void lsl_push_needed(lua_State *L, const char *file)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.internals");
    lua_getfield(L, -1, "need");
    lua_remove(L, -2);
    lua_pushstring(L, file);
    lua_call(L, 1, 1);
}

/* The i-th text of the list at `list`, which keeps it; NULL if it has none. */
static const char *kept_text(lua_State *L, int list, lua_Integer i)
{
    lua_rawgeti(L, list, i);
    const char *text = lua_tostring(L, -1);
    lua_pop(L, 1);
    return text;
}

static int64_t integer(lua_State *L, int table, const char *field)
{
    lua_getfield(L, table, field);
    const int64_t value = lua_tointeger(L, -1);
    lua_pop(L, 1);
    return value;
}

static const char *text(lua_State *L, int table, const char *field)
{
    lua_getfield(L, table, field);
    const char *value = lua_tostring(L, -1);
    lua_pop(L, 1);
    return value;
}

/* Of a timeline at `timeline`, with a table that keeps its texts on top of the stack. */
static void make_words(lua_State *L, int timeline, sl_page_words *words)
{
    size_t n = lsl_push_explanation(L, timeline, false, "save")->n_findings;
    if (n > SL_PAGE_FINDINGS) n = SL_PAGE_FINDINGS;
    lsl_push_words(L, "page");
    lua_pushvalue(L, -2);
    lua_pushinteger(L, (lua_Integer)n);
    lua_pushvalue(L, timeline);
    lua_call(L, 3, 1);
    int table = lua_gettop(L);
    luaL_checkstack(L, 8, NULL);
    lua_getfield(L, table, "sentences");
    lua_getfield(L, table, "remedies");
    for (size_t i = 0; i < n; i++) {
        words->sentences[i] = kept_text(L, table + 1, (lua_Integer)i + 1);
        words->remedies[i] = kept_text(L, table + 2, (lua_Integer)i + 1);
    }
    lua_getfield(L, table, "titles");
    lua_getfield(L, table, "shorts");
    for (int cause = 0; cause < SL_CAUSES; cause++) {
        words->titles[cause] = kept_text(L, table + 3, cause + 1);
        words->shorts[cause] = kept_text(L, table + 4, cause + 1);
    }
    words->verdict = text(L, table, "verdict");
    words->doubts = text(L, table, "doubts");
    lua_settop(L, table);
}

/* The change on top of the stack, whose table gets what keeps its words. */
static void make_change(lua_State *L, sl_page_change *change)
{
    const int row = lua_gettop(L);
    *change = (sl_page_change){
        .what = text(L, row, "what"),
        .command = text(L, row, "command"),
        .after_ns = integer(L, row, "after_ns"),
        .low_ns = integer(L, row, "low_ns"),
        .high_ns = integer(L, row, "high_ns"),
    };
    if (lua_getfield(L, row, "timeline") == LUA_TNIL) return;
    change->timeline = lsl_to_timeline(L, row + 1)->p;
    sl_page_words *words = lsl_scratch(L, 1, sizeof *words, "save");
    *words = (sl_page_words){ 0 };
    lua_setfield(L, row, "of_words");
    make_words(L, row + 1, words);
    lua_setfield(L, row, "words");
    change->words = words;
}

/* What changes of the timeline at argument 1 would gain: sets a field of the table on top of the
 * stack, which keeps it. */
static void make_changes(lua_State *L, sl_page_words *words)
{
    const int table = lua_gettop(L);
    lsl_push_needed(L, "whatif");
    lua_getfield(L, -1, "page");
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    const size_t n = lua_rawlen(L, -1);
    sl_page_change *changes = lsl_scratch(L, n, sizeof *changes, "save");
    lua_setfield(L, table, "of_changes");
    for (size_t i = 0; i < n; i++) {
        lua_rawgeti(L, table + 2, (lua_Integer)i + 1);
        make_change(L, &changes[i]);
        lua_settop(L, table + 2);
    }
    words->before_ns = integer(L, table + 2, "before_ns");
    words->changes = changes;
    words->n_changes = n;
    lua_setfield(L, table, "changes");
    lua_settop(L, table);
}

/* Fills the words at argument 2 for the page of the timeline at argument 1, and returns the table
 * that keeps them. */
static int make_page_words(lua_State *L)
{
    sl_page_words *words = lua_touserdata(L, 2);
    make_words(L, 1, words);
    make_changes(L, words);
    return 1;
}

/* The words need a Lua that has memory and is not stopped. A page without is better than none. */
sl_status lsl_save_page(lua_State *L, const sl_timeline *timeline, const char *path, sl_error *err)
{
    sl_page_words words = { 0 };
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushcclosure(L, make_page_words, 1);
    lua_pushvalue(L, 1);
    lua_pushlightuserdata(L, &words);
    bool has_words = lua_pcall(L, 2, 1, 0) == LUA_OK;
    return sl_timeline_save_html(timeline, path, has_words ? &words : NULL, err);
}
