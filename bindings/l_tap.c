/* l_tap.c - functions for lab.tap (tap.lua). Tensors are compared here, because a Lua table of
 * their elements would take many times the memory. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

enum { PIECE_ELEMS = 1 << 18 }; /* that are read at once */

/* One side: a tensor, or a number that stands for all elements. */
typedef struct side {
    sl_tensor *tensor; /* NULL: the number */
    double *values;    /* of the piece */
} side;

static side make_side(lua_State *L, int arg, int64_t piece)
{
    side s = { .tensor = NULL, .values = lsl_scratch(L, (size_t)piece, sizeof(double), "close") };
    double number = lua_tonumber(L, arg);
    if (lua_type(L, arg) != LUA_TNUMBER) s.tensor = lsl_check_tensor(L, arg, "want", "close");
    for (int64_t i = 0; !s.tensor && i < piece; i++)
        s.values[i] = number;
    return s;
}

static void read_piece(lua_State *L, const side *s, int64_t at, int64_t n)
{
    if (!s->tensor) return;
    sl_device *device = sl_tensor_device(s->tensor);
    sl_error err;
    lsl_mark(L, device);
    lsl_check(L, sl_tensor_read(s->tensor, at, n, s->values, lsl_current_stream(L, device), &err),
              &err, "close");
}

/* core.compare(got, want, rtol, atol): how many elements of the tensor differ from those of
 * `want`, a tensor with as many or a number; then, if any, the first one's place, from 1, and
 * both values. NaN differs from everything. */
static int internal_compare(lua_State *L)
{
    sl_tensor *tensor = lsl_check_tensor(L, 1, "got", "close");
    double rtol = luaL_checknumber(L, 3), atol = luaL_checknumber(L, 4);
    int64_t total = sl_tensor_numel(tensor), differing = 0, first = 0;
    int64_t piece = total < PIECE_ELEMS ? total : PIECE_ELEMS;
    double first_got = 0, first_want = 0;
    side got = make_side(L, 1, piece), want = make_side(L, 2, piece);
    for (int64_t at = 0; at < total; at += piece) {
        int64_t n = total - at < piece ? total - at : piece;
        lsl_stop_at(L, 0, "close");
        read_piece(L, &got, at, n);
        read_piece(L, &want, at, n);
        for (int64_t i = 0; i < n; i++) {
            if (lsl_is_close(got.values[i], want.values[i], rtol, atol)) continue;
            if (differing++ > 0) continue;
            first = at + i + 1;
            first_got = got.values[i];
            first_want = want.values[i];
        }
    }
    lua_pushinteger(L, differing);
    if (differing == 0) return 1;
    lua_pushinteger(L, first);
    lua_pushnumber(L, first_got);
    lua_pushnumber(L, first_want);
    return 4;
}

/* core.keep_needs(): from here on, keeps needs while the race checker is on. */
static int internal_keep_needs(lua_State *L)
{
    (void)L;
    sl_race_keep_needs(true);
    return 0;
}

/* core.needs(tl): a list of {correlation =, on =}, or {host_us =, on =} of what the host touched:
 * which operation was needed, in the order of the calls. nil where nothing was kept. */
static int internal_needs(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "needs");
    size_t n = sl_race_need_count();
    if (!sl_race_keeps_needs()) return 0;
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        const sl_race_need *need = sl_race_need_get(i);
        lsl_stop_at(L, (lua_Integer)i + 1, "needs");
        lua_createtable(L, 0, 2);
        lsl_set_integer(L, "on", need->on);
        if (need->seq != 0) {
            lsl_set_integer(L, "correlation", need->seq);
        } else {
            lsl_set_us(L, "host_us", need->host_ns - box->host_start_ns);
        }
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

const luaL_Reg lsl_tap_internals[] = {
    { "compare", internal_compare },       { "count_spans", lsl_timeline_count },
    { "selected", lsl_timeline_selected }, { "keep_needs", internal_keep_needs },
    { "needs", internal_needs },           { NULL, NULL },
};
