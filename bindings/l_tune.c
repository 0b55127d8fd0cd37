/* l_tune.c - lab.tune: how products of one shape are computed fastest. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

static void push_tuning(lua_State *L, const sl_tuning *tuning)
{
    lua_createtable(L, 0, 10);
    lsl_set_boolean(L, "tuned", tuning->tuned);
    lsl_set_boolean(L, "measured", tuning->measured);
    if (!tuning->tuned) return;
    lsl_set_us(L, "us", tuning->ns);
    lsl_set_us(L, "first_us", tuning->first_ns);
    lsl_set_integer(L, "candidates", tuning->candidates);
    lsl_set_integer(L, "algorithm", tuning->algorithm);
    lsl_set_integer(L, "tile", tuning->tile);
    lsl_set_integer(L, "stages", tuning->stages);
    lsl_set_integer(L, "split_k", tuning->split_k);
    lsl_set_integer(L, "workspace_bytes", tuning->workspace_bytes);
}

/* lab.tune(a, b, {activation =, again =, bias =, stream =, tf32 =}) */
static int lab_tune(lua_State *L)
{
    sl_stream *stream = NULL;
    int again = 0, tf32 = 0;
    lsl_out bias = { .slot = 4 };
    const char *activation = NULL;
    sl_epilogue epilogue;
    const lsl_option options[] = {
        { "activation", LSL_OPT_TEXT, &activation },
        { "again", LSL_OPT_BOOL, &again },
        { "bias", LSL_OPT_OUT, &bias },
        { "stream", LSL_OPT_STREAM, &stream },
        { "tf32", LSL_OPT_BOOL, &tf32 },
    };
    sl_kernel_args args = {
        .a = lsl_check_tensor(L, 1, "a", "tune"),
        .b = lsl_check_tensor(L, 2, "b", "tune"),
    };
    lsl_no_more(L, 3, "tune");
    lua_settop(L, 4);
    lsl_options(L, 3, options, LSL_COUNT(options), "tune");
    args.tf32 = tf32;
    args.epilogue = lsl_epilogue(L, bias.tensor, activation, &epilogue, "tune");
    sl_device *device = sl_tensor_device(args.a);
    if (!stream) stream = lsl_current_stream(L, device);
    sl_tuning tuning;
    sl_error err;
    lsl_mark(L, device);
    sl_status status = sl_tune(&args, again, stream, &tuning, &err);
    lsl_take_notice(L, device);
    lsl_check(L, status, &err, "tune");
    push_tuning(L, &tuning);
    return 1;
}

/* core.set_tuning(device, on): the first matmul of each shape is tuned. */
static int internal_set_tuning(lua_State *L)
{
    sl_device_set_tuning(lsl_check_device(L, 1, "device", "open"), lua_toboolean(L, 2));
    return 0;
}

static const luaL_Reg functions[] = { { "tune", lab_tune }, { NULL, NULL } };
const luaL_Reg lsl_tune_internals[] = { { "set_tuning", internal_set_tuning }, { NULL, NULL } };

void lsl_open_tune(lua_State *L) { lsl_set_functions(L, functions); }
