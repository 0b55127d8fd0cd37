/* l_output.c - growing texts for files that Lua composes a piece at a time, without a string of Lua
 * for each: millions of lines, or of messages as Protocol Buffers have them.
 *
 * core.output() gives an empty one, which core.write_files takes as `text`. Without memory an
 * addition does nothing, and core.write_files says so.
 */
#include "l_box.h"
#include "l_error.h"
#include "l_parts.h"

#include <string.h>

static int internal_output(lua_State *L)
{
    lsl_new_text(L);
    return 1;
}

static void add_string(lua_State *L, sl_text *out, int idx)
{
    size_t n;
    const char *text = luaL_checklstring(L, idx, &n);
    sl_text_add_bytes(out, text, n);
}

static void move_text(sl_text *out, sl_text *from)
{
    sl_text_add_bytes(out, from->data, from->len);
    out->failed = out->failed || from->failed;
    sl_text_free(from);
}

/* put(output, ...): adds texts as they are, whole numbers as decimals, and what is in another
 * output, which becomes empty. */
static int internal_put(lua_State *L)
{
    sl_text *out = lsl_scratch_at(L, 1);
    const int n = lua_gettop(L);
    for (int i = 2; i <= n; i++) {
        const int type = lua_type(L, i);
        if (type == LUA_TNUMBER)
            sl_json_add_integer(out, luaL_checkinteger(L, i));
        else if (type == LUA_TUSERDATA)
            move_text(out, lsl_scratch_at(L, i));
        else
            add_string(L, out, i);
    }
    return 0;
}

/* ---- messages --------------------------------------------------------------------------- */

enum { NUMBER_BYTES = 10 };

/* Seven bits a byte, the lowest first. */
static size_t encode(uint64_t number, char bytes[NUMBER_BYTES])
{
    size_t n = 0;
    for (; number > 0x7f; number >>= 7)
        bytes[n++] = (char)(number | 0x80);
    bytes[n++] = (char)number;
    return n;
}

static void add_number(sl_text *out, lua_Integer number)
{
    char bytes[NUMBER_BYTES];
    sl_text_add_bytes(out, bytes, encode((uint64_t)number, bytes));
}

/* What was added since comes behind its length. */
static void end_message(sl_text *out, size_t begun)
{
    char length[NUMBER_BYTES];
    const size_t inner = out->len - begun, n = encode(inner, length);
    sl_text_add_bytes(out, length, n);
    if (out->failed) return;
    memmove(out->data + begun + n, out->data + begun, inner);
    memcpy(out->data + begun, length, n);
}

static void add_list(lua_State *L, sl_text *out, int list, lua_Integer n)
{
    const size_t begun = out->len;
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, list, i);
        add_number(out, lua_tointeger(L, -1));
        lua_pop(L, 1);
    }
    end_message(out, begun);
}

/* put_message(output, ...): adds, behind their length, texts as they are, whole numbers as varints,
 * and of a list, which its length must follow, the numbers behind their own length. */
static int internal_put_message(lua_State *L)
{
    sl_text *out = lsl_scratch_at(L, 1);
    const int n = lua_gettop(L);
    const size_t begun = out->len;
    luaL_checkstack(L, 1, NULL);
    for (int i = 2; i <= n; i++) {
        const int type = lua_type(L, i);
        if (type == LUA_TNUMBER) {
            add_number(out, luaL_checkinteger(L, i));
        } else if (type == LUA_TTABLE) {
            add_list(L, out, i, luaL_checkinteger(L, i + 1));
            i++;
        } else {
            add_string(L, out, i);
        }
    }
    end_message(out, begun);
    return 0;
}

const luaL_Reg lsl_output_internals[] = {
    { "output", internal_output },
    { "put", internal_put },
    { "put_message", internal_put_message },
    { NULL, NULL },
};
