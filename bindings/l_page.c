/* l_page.c - a timeline as a page, with its words from bindings/words/. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

/* The i-th text of the list at `list`, which keeps it; NULL if it has none. */
static const char *kept_text(lua_State *L, int list, lua_Integer i)
{
    lua_rawgeti(L, list, i);
    const char *text = lua_tostring(L, -1);
    lua_pop(L, 1);
    return text;
}

/* Fills the words at argument 2 for the page of the timeline at argument 1, and returns the table
 * that keeps them. */
static int make_page_words(lua_State *L)
{
    sl_page_words *words = lua_touserdata(L, 2);
    size_t n = lsl_push_explanation(L, 1, false, "save")->n_findings;
    if (n > SL_PAGE_FINDINGS) n = SL_PAGE_FINDINGS;
    lsl_push_words(L, "page");
    lua_pushvalue(L, -2);
    lua_pushinteger(L, (lua_Integer)n);
    lua_call(L, 2, 1);
    int table = lua_gettop(L);
    luaL_checkstack(L, 4, NULL);
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
    lua_getfield(L, table, "verdict");
    words->verdict = lua_tostring(L, -1);
    lua_getfield(L, table, "doubts");
    words->doubts = lua_tostring(L, -1);
    lua_settop(L, table);
    return 1;
}

/* The words need a Lua that has memory and is not stopped. A page without is better than none. */
sl_status lsl_save_page(lua_State *L, const sl_timeline *timeline, const char *path, sl_error *err)
{
    sl_page_words words;
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushcclosure(L, make_page_words, 1);
    lua_pushvalue(L, 1);
    lua_pushlightuserdata(L, &words);
    bool has_words = lua_pcall(L, 2, 1, 0) == LUA_OK;
    return sl_timeline_save_html(timeline, path, has_words ? &words : NULL, err);
}
