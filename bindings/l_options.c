/* l_options.c - tables of named options. A name that the function does not know is an error, so
 * that a typo cannot pass.
 *
 * Without mistakes the table is read in one walk: with lua_next, on hot paths as Lua lays it out
 * (lsl_quick_options). Only after a mistake is the table read
 * again, in a fixed order, so that the mistake that is reported does not depend on Lua's hash
 * order. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* read_value for an option that is an object. */
static const char *read_object(lua_State *L, const lsl_option *option)
{
    const lsl_box *box;
    switch (option->kind) {
    case LSL_OPT_STREAM:
        box = lsl_to(L, -1, LSL_STREAM);
        if (!box) return "a stream";
        if (!lsl_is_open(box)) return "an open stream";
        *(sl_stream **)option->to = box->p;
        return NULL;
    case LSL_OPT_OUT:
        box = lsl_to(L, -1, LSL_TENSOR);
        if (!box) return "a tensor";
        if (!lsl_is_open(box) || sl_tensor_is_freed(box->p)) return "a tensor that was not freed";
        ((lsl_out *)option->to)->tensor = box->p;
        lua_copy(L, -1, ((lsl_out *)option->to)->slot);
        return NULL;
    default:
        box = lsl_to(L, -1, LSL_DEVICE);
        if (!box || !lsl_is_open(box)) return "a device";
        *(sl_device **)option->to = box->p;
        return NULL;
    }
}

/* Reads the value on top of the stack. NULL, or what was needed if it is wrong. */
static const char *read_value(lua_State *L, const lsl_option *option)
{
    int whole = 0;
    switch (option->kind) {
    case LSL_OPT_BOOL:
        if (!lua_isboolean(L, -1)) return "true or false";
        *(int *)option->to = lua_toboolean(L, -1);
        return NULL;
    case LSL_OPT_INTEGER:
    case LSL_OPT_COUNT: {
        if (lua_type(L, -1) != LUA_TNUMBER) return "a whole number";
        int64_t value = lua_tointegerx(L, -1, &whole);
        if (!whole) return "a whole number";
        if (value < 0 && option->kind == LSL_OPT_INTEGER) return "a whole number from 0 on";
        if (value < 1 && option->kind == LSL_OPT_COUNT) return "a whole number, at least 1";
        *(int64_t *)option->to = value;
        return NULL;
    }
    case LSL_OPT_SEED:
        if (lua_type(L, -1) != LUA_TNUMBER) return "a whole number";
        *(lsl_seed *)option->to = (lsl_seed){ lua_tointegerx(L, -1, &whole), true };
        return whole ? NULL : "a whole number";
    case LSL_OPT_NUMBER:
        if (lua_type(L, -1) != LUA_TNUMBER || isnan(lua_tonumber(L, -1))) return "a number";
        *(double *)option->to = lua_tonumber(L, -1);
        return NULL;
    case LSL_OPT_TEXT:
        if (lua_type(L, -1) != LUA_TSTRING) return "a string";
        if (strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1)) return "a string without zero bytes";
        *(const char **)option->to = lua_tostring(L, -1);
        return NULL;
    case LSL_OPT_STREAM:
    case LSL_OPT_OUT:
    case LSL_OPT_DEVICE: return read_object(L, option);
    case LSL_OPT_ANY: lua_copy(L, -1, *(int *)option->to); return NULL;
    }
    return "something else";
}

/* Comparing the first character is cheaper than strcmp and enough for most names. */
static const lsl_option *find_option(const char *name, const lsl_option *options, int n)
{
    for (const lsl_option *option = options; option < options + n; option++)
        if (option->name[0] == name[0] && strcmp(option->name, name) == 0) return option;
    return NULL;
}

/* Raises for an unknown name; `known` lists the others. */
static void fail_unknown(lua_State *L, const char *name, const lsl_option *options, int n,
                         const char *op)
{
    char known[256] = "";
    size_t used = 0;
    for (int i = 0; i < n && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                                 options[i].name);
    lsl_fail(L, SL_EINVAL, op, "unknown option '%s'; known: %s", name, n > 0 ? known : "none");
}

/* Raises for what is wrong in the table at arg: the first unknown name by
 * alphabet, else the first wrong value in the options' order. */
static void fail_options(lua_State *L, int arg, const lsl_option *options, int n, const char *op)
{
    const char *unknown = NULL;
    lua_pushnil(L);
    while (lua_next(L, arg)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            lsl_fail(L, SL_EINVAL, op, "options have names, but the table has %s",
                     lua_type(L, -1) == LUA_TNUMBER ? "list items" : "keys that are no strings");
        const char *name = lua_tostring(L, -1);
        if (!find_option(name, options, n) && (!unknown || strcmp(name, unknown) < 0))
            unknown = name;
    }
    if (unknown) fail_unknown(L, unknown, options, n, op);
    for (int i = 0; i < n; i++) {
        lua_pushstring(L, options[i].name);
        if (lua_rawget(L, arg) == LUA_TNIL) continue;
        const char *needed = read_value(L, &options[i]);
        if (!needed) continue;
        if (lua_type(L, -1) == LUA_TNUMBER)
            lsl_fail(L, SL_EINVAL, op, "option '%s' must be %s, got %.14g", options[i].name, needed,
                     lsl_printable(lua_tonumber(L, -1)));
        if (lua_type(L, -1) == LUA_TSTRING && options[i].kind == LSL_OPT_TEXT)
            lsl_fail(L, SL_EINVAL, op, "option '%s' has a zero byte in it", options[i].name);
        bool freed = options[i].kind == LSL_OPT_OUT && lsl_to(L, -1, LSL_TENSOR);
        bool closed = options[i].kind == LSL_OPT_STREAM && lsl_to(L, -1, LSL_STREAM);
        if (freed || closed)
            lsl_fail(L, SL_ECLOSED, op, "option '%s': the %s", options[i].name,
                     freed ? "tensor was freed" : "stream was closed");
        lsl_fail(L, SL_EINVAL, op, "option '%s' must be %s, got %s", options[i].name, needed,
                 lsl_type_name(L, -1));
    }
}

void lsl_options(lua_State *L, int arg, const lsl_option *options, int n, const char *op)
{
    int type = lua_type(L, arg);
    if (type == LUA_TNONE || type == LUA_TNIL) return;
    if (type != LUA_TTABLE) lsl_type_error(L, arg, "options", "a table of options", op);
    lua_pushnil(L);
    while (lua_next(L, arg)) {
        /* lua_tostring converts a number in place, which would break lua_next; but then the walk
         * ends. */
        const char *name = lua_tostring(L, -2);
        const lsl_option *option = name ? find_option(name, options, n) : NULL;
        if (!option || read_value(L, option)) fail_options(L, arg, options, n, op);
        lua_pop(L, 1);
    }
}

static bool read_whole(const lsl_raw_node *node, const lsl_quick_whole *option)
{
    if (node->tag != LSL_TAG_INTEGER || node->value.i < option->least) return false;
    *option->to = node->value.i;
    return true;
}

/* Whether the table's entry is what the option of that name needs; then it is put into *quick. */
static inline bool read_quick(const lsl_raw_node *node, const void *const *names, lsl_quick *quick,
                              const lsl_raw_node **out)
{
    const lsl_box *box;
    if (node->key_tag != LSL_TAG_NAME) return false;
    if (node->key.p == names[LSL_QUICK_STREAM]) {
        box = lsl_raw_box(node->tag, node->value, LSL_STREAM);
        if (box) quick->stream = box->p;
        return box != NULL;
    }
    if (node->key.p == names[LSL_QUICK_OUT] && quick->takes_out) {
        box = lsl_raw_box(node->tag, node->value, LSL_TENSOR);
        if (!box || sl_tensor_is_freed(box->p)) return false;
        quick->out = box->p;
        *out = node;
        return true;
    }
    for (int i = 0; i < quick->n_whole; i++)
        if (node->key.p == names[quick->whole[i].name]) return read_whole(node, &quick->whole[i]);
    if (quick->flag == LSL_QUICK_NAMES || node->key.p != names[quick->flag]) return false;
    quick->flag_value = node->tag == LSL_TAG_TRUE;
    return node->tag == LSL_TAG_TRUE || node->tag == LSL_TAG_FALSE;
}

/* Lua keeps one copy of equal short strings, so that names can be compared by address. The walk is
 * needed to find unknown names: a table may change between two calls. */
bool lsl_quick_options(lua_State *L, int arg, lsl_quick *quick)
{
    if (!lsl_layout_fits) return false;
    const lsl_raw_value *given = lsl_raw_argument(L, arg);
    if (!given || lsl_raw_is_nil(given->tag)) return true;
    if (given->tag != LSL_TAG_TABLE) return false;
    const lsl_raw_table *table = given->value.p;
    const void *const *names = lsl_get(L)->quick_name;
    const lsl_raw_node *node = table->node, *out = NULL,
                       *end = node + ((size_t)1 << table->log2_nodes);
    if (table->listed > 0) return false;
    for (; node < end; node++)
        if (!lsl_raw_is_nil(node->tag) && !read_quick(node, names, quick, &out)) return false;
    if (out) lsl_raw_push(L, out->value, out->tag);
    return true;
}

void lsl_define_options(lua_State *L)
{
    static const char *const names[LSL_QUICK_NAMES] = {
        "stream", "out", "non_blocking", "tf32", "blocks", "threads", "shared_bytes", "shared",
    };
    for (int i = 0; i < LSL_QUICK_NAMES; i++) {
        lua_pushstring(L, names[i]);
        lsl_get(L)->quick_name[i] = lua_topointer(L, -1);
        luaL_ref(L, LUA_REGISTRYINDEX); /* keeps it until the end */
    }
}

/* The number of "cuda:12"; "cuda:" and "cuda:-1" are no places. */
static bool parse_index(const char *text, int *index)
{
    enum { DIGITS = 4 };
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > DIGITS || text[n] != '\0') return false;
    *index = (int)strtol(text, NULL, 10);
    return true;
}

bool lsl_read_home(lua_State *L, int idx, lsl_home *home, const char *op)
{
    const lsl_box *box = lsl_to(L, idx, LSL_DEVICE);
    *home = (lsl_home){ .host = false, .device = NULL };
    if (box) {
        home->device = box->p;
        return lsl_is_open(box);
    }
    if (lua_type(L, idx) != LUA_TSTRING) return false;
    const char *text = lua_tostring(L, idx);
    int index;
    if (strlen(text) != lua_rawlen(L, idx)) return false;
    home->host = strcmp(text, "cpu") == 0;
    if (home->host || strcmp(text, "cuda") == 0) return true;
    if (strncmp(text, "cuda:", 5) != 0 || !parse_index(text + 5, &index)) return false;
    home->device = lsl_device_at(L, index, op);
    return true;
}

const char *lsl_push_given(lua_State *L, int idx)
{
    if (lua_type(L, idx) != LUA_TSTRING) return lua_pushstring(L, lsl_type_name(L, idx));
    const char *text = lua_tostring(L, idx);
    if (strlen(text) != lua_rawlen(L, idx)) return lua_pushliteral(L, "text with a zero byte");
    return lua_pushfstring(L, "\"%s\"", text);
}

sl_stream *lsl_stream_option(lua_State *L, int arg, const char *op)
{
    sl_stream *stream = NULL;
    const lsl_option options[] = { { "stream", LSL_OPT_STREAM, &stream } };
    if (lsl_to(L, arg, LSL_STREAM)) return lsl_check_stream(L, arg, "stream", op);
    if (!lua_isnoneornil(L, arg) && !lua_istable(L, arg))
        lsl_type_error(L, arg, "stream", "a stream or a table of options", op);
    lsl_options(L, arg, options, LSL_COUNT(options), op);
    return stream;
}
