/* l_text.c - what the sentences of bindings/words/ are made with: durations, and names cut
 * and folded as a terminal may show them; and the digest of a text. Measuring, shortening and
 * digesting is core/text's.
 */
#include "l_box.h"
#include "l_error.h"
#include "l_parts.h"

#include <math.h>

static void free_text(void *text) { sl_text_free(text); }

sl_text *lsl_new_text(lua_State *L) { return lsl_new_scratch(L, sizeof(sl_text), free_text); }

int lsl_push_text(lua_State *L, sl_text *text, const char *op)
{
    if (text->failed) lsl_fail(L, SL_ENOMEM, op, "no memory for a text");
    lua_pushlstring(L, text->data ? text->data : "", text->len);
    sl_text_free(text);
    return 1;
}

/* duration(ns): three significant figures and a unit, "56.7 ms"; ns >= 0 */
static int text_duration(lua_State *L)
{
    char text[SL__DURATION_BYTES];
    double ns = luaL_checknumber(L, 1);
    luaL_argcheck(L, ns >= 0 && ns < 9.2e18, 1, "no duration");
    sl_format_duration(text, lua_isinteger(L, 1) ? lua_tointeger(L, 1) : llround(ns));
    lua_pushstring(L, text);
    return 1;
}

/* ratio(part, whole, scale): part * scale / whole, rounded; 0 <= part, 0 < whole */
static int text_ratio(lua_State *L)
{
    lua_Integer part = luaL_checkinteger(L, 1), whole = luaL_checkinteger(L, 2);
    luaL_argcheck(L, part >= 0 && whole > 0, 1, "no ratio");
    lua_pushinteger(L, sl_ratio(part, whole, luaL_checkinteger(L, 3)));
    return 1;
}

/* json_string(text): quoted and escaped */
static int text_json_string(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    sl_text *out = lsl_new_text(L);
    sl_json_add_string(out, text, n);
    return lsl_push_text(L, out, "json");
}

/* json_milli(n): n / 1000 as a decimal with all its places: ns as us */
static int text_json_milli(lua_State *L)
{
    lua_Integer n = luaL_checkinteger(L, 1);
    sl_text *out = lsl_new_text(L);
    sl_json_add_milli(out, n);
    return lsl_push_text(L, out, "json");
}

/* f(text, columns): what `add` makes of the text */
static int shorten(lua_State *L, void (*add)(sl_text *out, const char *text, int columns))
{
    const char *text = luaL_checkstring(L, 1);
    int columns = (int)luaL_checkinteger(L, 2);
    sl_text *out = lsl_new_text(L);
    add(out, text, columns);
    return lsl_push_text(L, out, "clip");
}

/* clip(text, columns): in at most so many columns, with "..." in its middle if it was longer,
 * and "?" for all that must not reach a terminal; columns >= 8 */
static int text_clip(lua_State *L) { return shorten(L, sl_label_clip); }

/* clip_end(text, columns): the same, with the dots at the end */
static int text_clip_end(lua_State *L) { return shorten(L, sl_label_clip_end); }

/* label(text, columns, ascii): a name in at most so many columns, with "…" in its middle if it was
 * longer, or ".." and "?" for other characters if it is to be ASCII; columns >= 4 */
static int text_label(lua_State *L)
{
    const char *text = luaL_checkstring(L, 1);
    const int columns = (int)luaL_checkinteger(L, 2);
    const bool ascii = lua_toboolean(L, 3);
    sl_text *out = lsl_new_text(L);
    sl_label_add(out, text, columns, !ascii);
    return lsl_push_text(L, out, "clip");
}

/* label_columns(text, ascii): how many columns a name takes */
static int text_label_columns(lua_State *L)
{
    lua_pushinteger(L, sl_label_columns(luaL_checkstring(L, 1), !lua_toboolean(L, 2)));
    return 1;
}

/* fold(text, indent, columns): a sentence that begins in column `indent`, broken into lines
 * that begin there, too; ends with a newline */
static int text_fold(lua_State *L)
{
    const char *text = luaL_checkstring(L, 1);
    int indent = (int)luaL_checkinteger(L, 2), columns = (int)luaL_checkinteger(L, 3);
    sl_text *out = lsl_new_text(L);
    sl_label_fold(out, text, indent, columns);
    return lsl_push_text(L, out, "fold");
}

/* short_kernel(name): a kernel's name without its return type, namespaces and arguments */
static int text_short_kernel(lua_State *L)
{
    char name[SL__KERNEL_BYTES];
    sl_label_kernel(luaL_checkstring(L, 1), name);
    lua_pushstring(L, name);
    return 1;
}

/* xml(text, bytes): escaped, and at most so many bytes of it; nil: all */
static int text_xml(lua_State *L)
{
    const char *text = luaL_checkstring(L, 1);
    const lua_Integer bytes = luaL_optinteger(L, 2, 0);
    sl_text *out = lsl_new_text(L);
    sl_xml_add(out, text, (size_t)bytes);
    return lsl_push_text(L, out, "xml");
}

/* xml_px(text, size): about how many pixels it takes in a font of that size */
static int text_xml_px(lua_State *L)
{
    lua_pushinteger(L, sl_xml_px(luaL_checkstring(L, 1), (int)luaL_checkinteger(L, 2)));
    return 1;
}

/* xml_fit(text, room, size, middle, bytes): what of it fits so many pixels, without its end or its
 * middle, and fewer bytes, nil: 160; gives nil for too little to make sense */
static int text_xml_fit(lua_State *L)
{
    char buffer[256];
    const char *text = luaL_checkstring(L, 1);
    const int room = (int)luaL_checkinteger(L, 2), size = (int)luaL_checkinteger(L, 3);
    const lua_Integer bytes = luaL_optinteger(L, 5, 160);
    luaL_argcheck(L, size > 0, 3, "no size");
    luaL_argcheck(L, bytes >= 16 && (size_t)bytes <= sizeof buffer, 5, "no room");
    if (!sl_xml_fit(text, room, size, lua_toboolean(L, 4), buffer, (size_t)bytes)) return 0;
    lua_pushstring(L, buffer);
    return 1;
}

/* sha256(text): its digest, 64 hexadecimal digits */
static int text_sha256(lua_State *L)
{
    size_t n;
    char digest[SL_SHA256_CHARS];
    const char *bytes = luaL_checklstring(L, 1, &n);
    sl_sha256(bytes, n, digest);
    lua_pushstring(L, digest);
    return 1;
}

const luaL_Reg lsl_text_internals[] = {
    { "duration", text_duration },
    { "ratio", text_ratio },
    { "clip", text_clip },
    { "clip_end", text_clip_end },
    { "label", text_label },
    { "label_columns", text_label_columns },
    { "fold", text_fold },
    { "short_kernel", text_short_kernel },
    { "json_string", text_json_string },
    { "json_milli", text_json_milli },
    { "xml", text_xml },
    { "xml_px", text_xml_px },
    { "xml_fit", text_xml_fit },
    { "sha256", text_sha256 },
    { NULL, NULL },
};
