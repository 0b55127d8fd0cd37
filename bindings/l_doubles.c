/* l_doubles.c - a tensor's values as bytes, for a program that is connected: Python has arrays
 * without Lua's tables in between. Each value is a double in this machine's byte order.
 */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

#include <string.h>

static void fail_bytes(lua_State *L, size_t n, size_t needed)
{
    lsl_fail(L, SL_EINVAL, "set_doubles", "%lld bytes were given, the tensor has %lld",
             (long long)n, (long long)needed);
}

/* doubles(tensor): its values, in reading order. */
static int internal_doubles(lua_State *L)
{
    sl_tensor *tensor = lsl_check_tensor(L, 1, "tensor", "doubles");
    size_t n = (size_t)sl_tensor_numel(tensor);
    double *values = lsl_scratch(L, n, sizeof *values, "doubles");
    sl_stream *stream = lsl_current_stream(L, sl_tensor_device(tensor));
    sl_error err;
    lsl_check(L, sl_tensor_read(tensor, 0, (int64_t)n, values, stream, &err), &err, "doubles");
    lua_pushlstring(L, (const char *)values, n * sizeof *values);
    return 1;
}

/* set_doubles(tensor, bytes) */
static int internal_set_doubles(lua_State *L)
{
    size_t n_bytes;
    sl_tensor *tensor = lsl_check_tensor(L, 1, "tensor", "set_doubles");
    const char *bytes = luaL_checklstring(L, 2, &n_bytes);
    size_t n = (size_t)sl_tensor_numel(tensor);
    if (n_bytes != n * sizeof(double)) fail_bytes(L, n_bytes, n * sizeof(double));
    double *values = lsl_scratch(L, n, sizeof *values, "set_doubles");
    if (n > 0) memcpy(values, bytes, n_bytes);
    sl_stream *stream = lsl_current_stream(L, sl_tensor_device(tensor));
    sl_error err;
    lsl_check(L, sl_tensor_write(tensor, 0, (int64_t)n, values, stream, &err), &err, "set_doubles");
    return 0;
}

const luaL_Reg lsl_doubles_internals[] = {
    { "doubles", internal_doubles },
    { "set_doubles", internal_set_doubles },
    { NULL, NULL },
};
