/* l_error.c - the error object of the Lua API.
 *
 * Every error that the API raises is a table {code, message, op, where} with the metatable
 * "streamlab.error"; tostring gives the one line "lab.lua:12: matmul: inner sizes differ: 4x3
 * times 4x3".
 *
 * An error inside a call that the prelude makes carries the name of the prelude's function that
 * the user called (lsl_call_as). */
#include "l_box.h"
#include "l_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ERROR_METATABLE "streamlab.error"

/* ---- raising ------------------------------------------------------------------- */

int lsl_call_as(lua_State *L)
{
    lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
    return lua_gettop(L) - 1; /* without op, which lies below */
}

const char *lsl_called_name(lua_State *L, const char *op)
{
    lua_Debug ar;
    if (!lua_getstack(L, 1, &ar) || !lua_getinfo(L, "f", &ar)) return op;
    if (lua_tocfunction(L, -1) != lsl_call_as || !lua_getlocal(L, &ar, 1)) return op;
    return lua_tostring(L, -1);
}

/* Whether the running function was called with a colon on lab or lab.cuda: no function of theirs
 * takes these tables first. Then fills `text` with the message. */
static bool called_with_colon(lua_State *L, const char *op, char *text, size_t size)
{
    const lsl_state *state = lsl_get(L);
    if (lua_type(L, 1) != LUA_TTABLE) return false;
    const void *given = lua_topointer(L, 1);
    if (given != state->module && given != state->cuda) return false;
    const char *table = given == state->module ? "lab" : "lab.cuda", *dot = strrchr(op, '.');
    if (dot) op = dot + 1;
    snprintf(text, size, "called as %s:%s(...); functions of %s take a dot: %s.%s(...)", table, op,
             table, table, op);
    return true;
}

void lsl_refuse_colon(lua_State *L, const char *op)
{
    char text[128];
    if (called_with_colon(L, op, text, sizeof text)) lsl_raise(L, SL_EINVAL, op, text);
}

/* The program's handler of Ctrl-C has set a hook, which raises an error when Lua continues.
 * Calls it now, so that the error comes from the call that was stopped; an event other than
 * LUA_HOOKCOUNT marks this case. */
static void run_hook(lua_State *L)
{
    lua_Hook hook = lua_gethook(L);
    lua_Debug ar = { .event = LUA_HOOKCALL, .currentline = -1 };
    if (hook) hook(L, &ar);
}

/* The message of an SL_ERACE with what would order the two, at the top of the stack. */
static const char *push_refusal(lua_State *L, const char *message)
{
    luaL_checkstack(L, 4, NULL);
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.internals");
    lua_getfield(L, -1, "refusal");
    lua_pushstring(L, message);
    lua_call(L, 1, 1);
    return lua_tostring(L, -1);
}

int lsl_raise(lua_State *L, sl_status status, const char *op, const char *message)
{
    char where[LSL_WHERE_TEXT], text[128];
    if (status == SL_EINTERRUPT) run_hook(L);
    if (called_with_colon(L, op, text, sizeof text)) { /* the cause of whatever went wrong */
        message = text;
        status = SL_EINVAL;
    }
    lsl_where_text(L, where, sizeof where);
    if (status == SL_ERACE) message = push_refusal(L, message);
    luaL_checkstack(L, 6, NULL);
    op = lsl_called_name(L, op);
    lua_createtable(L, 0, 4);
    lsl_set_text(L, "code", sl_status_name(status));
    lsl_set_text(L, "message", message);
    lsl_set_text(L, "op", op);
    lsl_set_text(L, "where", where);
    luaL_setmetatable(L, ERROR_METATABLE);
    return lua_error(L);
}

int lsl_raise_error(lua_State *L, sl_status status, const sl_error *err, const char *op)
{
    static const char *const advice[] = {
        [SL_ADVICE_NONE] = "",
        [SL_ADVICE_COPY_TO_GPU] = "; t:cuda() copies a tensor to the GPU",
        [SL_ADVICE_CAST] = "; t:to casts",
        [SL_ADVICE_FREE_TENSOR] = ": use t:free()",
        [SL_ADVICE_TIME_EVENT] = "; lab.event{ timing = true } and s:record_event{ timing = true } "
                                 "make one that has",
    };
    if (err->advice == SL_ADVICE_CAST && err->operand)
        return lsl_fail(L, status, op, "%s; t:to(\"%s\") casts", err->msg, err->operand);
    if (err->advice == SL_ADVICE_NONE) return lsl_raise(L, status, op, err->msg);
    return lsl_fail(L, status, op, "%s%s", err->msg, advice[err->advice]);
}

void lsl_stop_at(lua_State *L, int64_t i, const char *op)
{
    sl_error err;
    if (i % 4096 == 4095 && sl_interrupt_wanted()) lsl_check(L, sl_interrupt_check(&err), &err, op);
}

int lsl_fail(lua_State *L, sl_status status, const char *op, const char *fmt, ...)
{
    char message[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return lsl_raise(L, status, op, message);
}

void lsl_check_new(lua_State *L, sl_status status, const sl_error *err, const char *op)
{
    if (status == SL_OK) return;
    lsl_box *box = lua_touserdata(L, -1);
    sl_tensor *tensor = box->p;
    box->p = NULL;
    sl_tensor_release(tensor);
    lsl_raise_error(L, status, err, op);
}

int lsl_push_failure(lua_State *L, sl_status status, const sl_error *err)
{
    lua_pushnil(L);
    lua_pushstring(L, err->msg);
    lua_pushstring(L, sl_status_name(status));
    return 3;
}

int lsl_push_false(lua_State *L, const sl_error *err)
{
    lua_pushboolean(L, 0);
    lua_pushstring(L, err->msg);
    return 2;
}

static bool is_error(lua_State *L, int idx)
{
    if (lua_type(L, idx) != LUA_TTABLE || !lua_getmetatable(L, idx)) return false;
    luaL_getmetatable(L, ERROR_METATABLE);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
}

/* Appends field and separator, unless the field is missing or empty. */
static void add_part(lua_State *L, luaL_Buffer *buffer, const char *field, const char *separator)
{
    lua_pushstring(L, field);
    lua_rawget(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING && lua_rawlen(L, -1) > 0) {
        luaL_addvalue(buffer);
        luaL_addstring(buffer, separator);
    } else {
        lua_pop(L, 1);
    }
}

static int error_tostring(lua_State *L)
{
    luaL_argexpected(L, is_error(L, 1), 1, "error of the laboratory");
    lua_settop(L, 1);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    add_part(L, &buffer, "where", ": ");
    add_part(L, &buffer, "op", ": ");
    add_part(L, &buffer, "message", "");
    luaL_pushresult(&buffer);
    return 1;
}

/* "failed: " .. err uses tostring(err). The other side is a string, a number or another error. */
static int error_concat(lua_State *L)
{
    lua_settop(L, 2);
    for (int i = 1; i <= 2; i++)
        if (!lua_isstring(L, i) && !is_error(L, i))
            luaL_error(L, "attempt to concatenate a %s value", luaL_typename(L, i));
    luaL_tolstring(L, 1, NULL);
    luaL_tolstring(L, 2, NULL);
    lua_concat(L, 2);
    return 1;
}

/* Of the other state only raw access: nothing is called there that raises. */
static const char *const error_fields[] = { "code", "message", "op", "where" };

/* Protected. Argument: a table. Returns its fields, up to the first that is no text. */
static int texts_of_error(lua_State *L)
{
    int n = 0;
    luaL_checkstack(L, LSL_COUNT(error_fields) + 1, NULL);
    do
        lua_pushstring(L, error_fields[n]);
    while (lua_rawget(L, 1) == LUA_TSTRING && ++n < LSL_COUNT(error_fields));
    return n;
}

/* The other state is not protected here, and even the name of a field may need memory. */
bool lsl_push_error_of(lua_State *L, lua_State *from, int idx)
{
    const int top = lua_gettop(from);
    if (lua_type(from, idx) != LUA_TTABLE || !lua_checkstack(from, 2)) return false;
    lua_pushcfunction(from, texts_of_error);
    lua_pushvalue(from, idx);
    const int status = lua_pcall(from, 1, LUA_MULTRET, 0);
    if (status == LUA_OK && lua_gettop(from) - top == LSL_COUNT(error_fields)) {
        luaL_checkstack(L, 4, NULL);
        lua_createtable(L, 0, LSL_COUNT(error_fields));
        for (int i = 0; i < LSL_COUNT(error_fields); i++)
            lsl_set_text(L, error_fields[i], lua_tostring(from, top + 1 + i));
        luaL_setmetatable(L, ERROR_METATABLE);
        lua_settop(from, top);
        return true;
    }
    lua_settop(from, top);
    if (status == LUA_ERRMEM) luaL_error(L, "not enough memory");
    return false;
}

void lsl_define_error(lua_State *L)
{
    luaL_newmetatable(L, ERROR_METATABLE);
    lua_pushcfunction(L, error_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_pushcfunction(L, error_concat);
    lua_setfield(L, -2, "__concat");
    lua_pop(L, 1);
}
