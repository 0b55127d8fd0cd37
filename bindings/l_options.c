/* l_options.c - tables of named options. A name that the function does not know
 * is an error, so that a typo cannot pass.
 *
 * The good case is one walk with lua_next and string comparisons. Only when that
 * meets something wrong is the table looked at again, in an order of ours: which
 * of two mistakes is reported must not depend on Lua's hash order.
 */
#include "lsl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Reads the value on top of the stack. Gives what was needed if it is wrong. */
static const char *read_value(lua_State *L, const lsl_option *option)
{
    int type = lua_type(L, -1), whole = 0;
    lsl_box *box;
    switch (option->kind) {
    case LSL_OPT_BOOL:
        if (type != LUA_TBOOLEAN) return "true or false";
        *(int *)option->to = lua_toboolean(L, -1);
        return NULL;
    case LSL_OPT_INTEGER:
    case LSL_OPT_COUNT:
    case LSL_OPT_SEED: {
        if (type != LUA_TNUMBER) return "a whole number";
        int64_t value = lua_tointegerx(L, -1, &whole);
        if (!whole) return "a whole number";
        if (value < 0 && option->kind == LSL_OPT_INTEGER) return "a whole number from 0 on";
        if (value < 1 && option->kind == LSL_OPT_COUNT) return "a whole number, at least 1";
        *(int64_t *)option->to = value;
        return NULL;
    }
    case LSL_OPT_NUMBER:
        if (type != LUA_TNUMBER || isnan(lua_tonumber(L, -1))) return "a number";
        *(double *)option->to = lua_tonumber(L, -1);
        return NULL;
    case LSL_OPT_TEXT:
        if (type != LUA_TSTRING) return "a string";
        if (strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1)) return "a string without zero bytes";
        *(const char **)option->to = lua_tostring(L, -1);
        return NULL;
    case LSL_OPT_STREAM:
        box = lsl_to(L, -1, LSL_STREAM);
        if (box == NULL) return "a stream";
        if (!lsl_is_open(box)) return "an open stream";
        *(sl_stream **)option->to = box->p;
        return NULL;
    case LSL_OPT_OUT:
        box = lsl_to(L, -1, LSL_TENSOR);
        if (box == NULL) return "a tensor";
        if (!lsl_is_open(box) || sl_tensor_is_freed(box->p)) return "a tensor that was not freed";
        ((lsl_out *)option->to)->tensor = box->p;
        lua_pushvalue(L, -1);
        lua_replace(L, ((lsl_out *)option->to)->slot);
        return NULL;
    case LSL_OPT_ANY:
        lua_pushvalue(L, -1);
        lua_replace(L, *(int *)option->to);
        return NULL;
    }
    return "something else";
}

static const lsl_option *find_option(const char *name, const lsl_option *options, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(options[i].name, name) == 0) return &options[i];
    return NULL;
}

/* Raises for an unknown name; `known` lists the others. */
static void fail_unknown(lua_State *L, const char *name, const lsl_option *options, int n,
                         const char *op)
{
    char known[256] = "";
    size_t used = 0;
    for (int i = 0; i < n && used < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i > 0 ? ", " : "",
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
        if (find_option(name, options, n) == NULL && (unknown == NULL || strcmp(name, unknown) < 0))
            unknown = name;
    }
    if (unknown != NULL) fail_unknown(L, unknown, options, n, op);
    for (int i = 0; i < n; i++) {
        lua_pushstring(L, options[i].name);
        if (lua_rawget(L, arg) == LUA_TNIL) continue;
        const char *needed = read_value(L, &options[i]);
        if (needed == NULL) continue;
        if (lua_type(L, -1) == LUA_TNUMBER)
            lsl_fail(L, SL_EINVAL, op, "option '%s' must be %s, got %.14g", options[i].name, needed,
                     lsl_printable(lua_tonumber(L, -1)));
        if (lua_type(L, -1) == LUA_TSTRING && options[i].kind == LSL_OPT_TEXT)
            lsl_fail(L, SL_EINVAL, op, "option '%s' has a zero byte in it", options[i].name);
        lsl_box *box = lsl_to(L, -1, LSL_TENSOR);
        bool freed = box != NULL && options[i].kind == LSL_OPT_OUT;
        box = lsl_to(L, -1, LSL_STREAM);
        bool closed = box != NULL && options[i].kind == LSL_OPT_STREAM;
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
        const lsl_option *option = NULL;
        if (lua_type(L, -2) == LUA_TSTRING)
            option = find_option(lua_tostring(L, -2), options, n);
        if (option == NULL || read_value(L, option) != NULL)
            fail_options(L, arg, options, n, op);
        lua_pop(L, 1);
    }
}

sl_stream *lsl_stream_option(lua_State *L, int arg, const char *op)
{
    sl_stream *stream = NULL;
    const lsl_option options[] = {{"stream", LSL_OPT_STREAM, &stream}};
    if (lsl_to(L, arg, LSL_STREAM) != NULL) return lsl_check_stream(L, arg, "stream", op);
    if (!lua_isnoneornil(L, arg) && !lua_istable(L, arg))
        lsl_type_error(L, arg, "stream", "a stream or a table of options", op);
    lsl_options(L, arg, options, LSL_COUNT(options), op);
    return stream;
}
