/* l_ops.c - kernels: one function for each family of core/kernel_table.h, which takes the
 * arguments that the family has. Each kernel is a function of the module and a method of its
 * first tensor, and a closure of its family's function; + - * / ^ are elementwise.
 *
 * When no out= is given, the result is created here. What the core would refuse it refuses
 * before that (sl_kernel_result), so that a failed call has allocated nothing.
 */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

/* What is launched, and what the options say. */
typedef struct launch {
    sl_kernel kernel;
    sl_kernel_args args;
    lsl_quick given; /* stream NULL: the current one when the kernel is enqueued */
} launch;

static sl_stream *stream_of(lua_State *L, const launch *l)
{
    if (l->given.stream) return l->given.stream;
    return lsl_current_stream(L, sl_tensor_device(l->args.a));
}

const sl_epilogue *lsl_epilogue(lua_State *L, sl_tensor *bias, const char *activation,
                                sl_epilogue *epilogue, const char *op)
{
    if (!bias && !activation) return NULL;
    *epilogue = (sl_epilogue){ .bias = bias };
    if (activation && !sl_activation_parse(activation, &epilogue->activation))
        lsl_fail(L, SL_EINVAL, op,
                 "option 'activation' must be \"relu\" or \"gelu\", got \"%.60s\"", activation);
    return epilogue;
}

/* read_launch for options that lsl_quick_options does not read. */
LSL_COLD static void read_odd_launch(lua_State *L, int arg, sl_epilogue *epilogue, launch *l,
                                     const char *op)
{
    lsl_out out = { .slot = arg + 2 }, bias = { .slot = arg + 1 };
    const char *activation = NULL;
    const lsl_option options[] = {
        { "out", LSL_OPT_OUT, &out },
        { "stream", LSL_OPT_STREAM, &l->given.stream },
        { "tf32", LSL_OPT_BOOL, &l->given.flag_value },
        { "bias", LSL_OPT_OUT, &bias },
        { "activation", LSL_OPT_TEXT, &activation },
    };
    lua_settop(L, arg + 2);
    lsl_options(L, arg, options, epilogue ? LSL_COUNT(options) : 2, op);
    l->given.out = out.tensor;
    if (epilogue) l->args.epilogue = lsl_epilogue(L, bias.tensor, activation, epilogue, op);
}

/* Reads {out =, stream =} at `arg`, and if `epilogue` is not NULL also {tf32 =, bias =,
 * activation =}. Leaves the out tensor, if it is given, on top of the stack. */
LSL_STEP void read_launch(lua_State *L, int arg, sl_epilogue *epilogue, launch *l, const char *op)
{
    lsl_no_more(L, arg, op);
    l->given = (lsl_quick){ .takes_out = true,
                            .flag = epilogue ? LSL_QUICK_TF32 : LSL_QUICK_NAMES };
    if (!lsl_quick_options(L, arg, &l->given)) read_odd_launch(L, arg, epilogue, l, op);
    lsl_mark(L, sl_tensor_device(l->args.a));
}

/* Pushes the result: out=, else a new tensor, which is released if the launch fails. */
LSL_STEP int enqueue(lua_State *L, const launch *l, const char *op)
{
    sl_tensor *out = l->given.out;
    sl_tensor_spec spec;
    sl_error err;
    if (out) {
        lsl_check(L, sl_launch(l->kernel, out, &l->args, stream_of(L, l), &err), &err, op);
        return 1;
    }
    lsl_check(L, sl_kernel_result(l->kernel, &l->args, stream_of(L, l), &spec, &err), &err, op);
    out = lsl_create_tensor(L, sl_tensor_device(l->args.a), &spec, l->given.stream, op);
    lsl_check_new(L, sl_launch(l->kernel, out, &l->args, stream_of(L, l), &err), &err, op);
    return 1;
}

/* The same, with options at `arg`. */
LSL_STEP int launch_with(lua_State *L, int arg, launch *l, const char *op)
{
    read_launch(L, arg, NULL, l, op);
    return enqueue(L, l, op);
}

/* ---- a function for each family ---- */

/* The kernel of the closure that runs; its name is that of the Lua function. */
static sl_kernel kernel_of(lua_State *L) { return (sl_kernel)(uintptr_t)lsl_upvalue(L, 2); }

/* The launch of that kernel, without what read_launch reads: GCC clears larger structs with
 * `rep stos`, which is slow to start. Gives the kernel's name. */
LSL_STEP const char *begin(lua_State *L, launch *l)
{
    l->kernel = kernel_of(L);
    l->args = (sl_kernel_args){ .a = NULL };
    return sl_kernel_name(l->kernel);
}

static int op_matmul(lua_State *L)
{
    launch l;
    sl_epilogue epilogue;
    const char *op = begin(L, &l);
    l.args.a = lsl_check_tensor(L, 1, "a", op);
    l.args.b = lsl_check_tensor(L, 2, "b", op);
    read_launch(L, 3, &epilogue, &l, op);
    l.args.tf32 = l.given.flag_value;
    enqueue(L, &l, op);
    lsl_take_notice(L, sl_tensor_device(l.args.a)); /* that it could not be tuned */
    return 1;
}

/* f(a) */
static int op_one(lua_State *L)
{
    launch l;
    const char *op = begin(L, &l);
    l.args.a = lsl_check_tensor(L, 1, "a", op);
    return launch_with(L, 2, &l, op);
}

/* f(a, number) */
static int op_number(lua_State *L)
{
    launch l;
    const char *op = begin(L, &l);
    l.args.a = lsl_check_tensor(L, 1, "a", op);
    l.args.number = lsl_check_number(L, 2, l.kernel == SL_KERNEL_POW ? "exponent" : "number", op);
    return launch_with(L, 3, &l, op);
}

/* What a kernel of two tensors is when a number stands before the tensor, or behind it;
 * SL_KERNELS: it takes tensors alone. */
static sl_kernel number_form(sl_kernel kernel, bool is_before)
{
    switch (kernel) {
#define X(pair, behind, before) \
    case SL_KERNEL_##pair: return is_before ? SL_KERNEL_##before : SL_KERNEL_##behind;
        SL_NUMBER_FORMS(X)
#undef X
    default: return SL_KERNELS;
    }
}

/* f(a, number), f(number, b), if the kernel has such forms. */
static int launch_with_number(lua_State *L, launch *l, const char *op)
{
    int number = lua_type(L, 1) == LUA_TNUMBER ? 1 : lua_type(L, 2) == LUA_TNUMBER ? 2 : 0;
    sl_kernel form = number != 0 ? number_form(l->kernel, number == 1) : SL_KERNELS;
    if (form != SL_KERNELS) {
        l->kernel = form;
        l->args.number = lua_tonumber(L, number);
        l->args.a = lsl_check_tensor(L, 3 - number, number == 1 ? "b" : "a", op);
        return launch_with(L, 3, l, op);
    }
    lsl_check_tensor(L, 1, "a", op);
    return lsl_type_error(
        L, 2, "b",
        number_form(l->kernel, false) != SL_KERNELS ? "a tensor or a number" : "a tensor", op);
}

/* f(a, b), or with a number */
static int op_pair(lua_State *L)
{
    launch l;
    const char *op = begin(L, &l);
    if (lua_type(L, 1) == LUA_TNUMBER || !lsl_to(L, 2, LSL_TENSOR))
        return launch_with_number(L, &l, op);
    l.args.a = lsl_check_tensor(L, 1, "a", op);
    l.args.b = lsl_check_tensor(L, 2, "b", op);
    return launch_with(L, 3, &l, op);
}

static int op_transpose(lua_State *L)
{
    launch l;
    const char *op = begin(L, &l);
    l.args.a = lsl_check_tensor(L, 1, "a", op);
    const sl_tensor_spec *spec = sl_tensor_get_spec(l.args.a);
    for (int i = 0; i < 2; i++)
        l.args.dim[i] = lsl_check_dimension(L, 2 + i, spec, op);
    return launch_with(L, 4, &l, op);
}

static lua_CFunction const families[] = {
    [SL_FAMILY_MATMUL] = op_matmul,
    [SL_FAMILY_PAIR] = op_pair,
    [SL_FAMILY_NUMBER] = op_number,
    [SL_FAMILY_ONE] = op_one,
    [SL_FAMILY_ROWS] = op_one,
    [SL_FAMILY_SUM] = op_one,
    [SL_FAMILY_TRANSPOSE] = op_transpose,
    [SL_FAMILY_NONE] = NULL,
};

/* An operator has no options: Lua calls - with its operand twice. 2 ^ a is an error: the
 * exponent is a number. */
static int operate(lua_State *L)
{
    sl_kernel_family family = sl_kernel_family_of(kernel_of(L));
    lua_settop(L, family == SL_FAMILY_ONE ? 1 : 2);
    return families[family](L);
}

/* ---- other functions ---- */

/* t:t(opts) */
static int tensor_t(lua_State *L)
{
    launch l = {
        .kernel = SL_KERNEL_TRANSPOSE,
        .args = { .a = lsl_check_tensor(L, 1, "self", "t"), .dim = { 0, 1 } },
    };
    const sl_tensor_spec *spec = sl_tensor_get_spec(l.args.a);
    char shape[LSL_SHAPE_TEXT];
    if (spec->ndim != 2)
        lsl_fail(L, SL_ESHAPE, "t", "needs a matrix; the tensor has %d dimension%s (%s)",
                 spec->ndim, spec->ndim == 1 ? "" : "s", lsl_format_shape(spec, shape));
    return launch_with(L, 2, &l, "t");
}

int lsl_cast(lua_State *L, sl_dtype dtype, int arg, const char *op)
{
    launch l = {
        .kernel = SL_KERNEL_CAST,
        .args = { .a = lsl_check_tensor(L, 1, "self", op), .dtype = dtype },
    };
    read_launch(L, arg, NULL, &l, op);
    if (l.given.out || sl_tensor_get_spec(l.args.a)->dtype != dtype) return enqueue(L, &l, op);
    lua_settop(L, 1);
    return 1;
}

static int tensor_float(lua_State *L) { return lsl_cast(L, SL_FLOAT32, 2, "float"); }
static int tensor_double(lua_State *L) { return lsl_cast(L, SL_FLOAT64, 2, "double"); }
static int tensor_half(lua_State *L) { return lsl_cast(L, SL_FLOAT16, 2, "half"); }
static int tensor_bfloat16(lua_State *L) { return lsl_cast(L, SL_BFLOAT16, 2, "bfloat16"); }
static int tensor_int(lua_State *L) { return lsl_cast(L, SL_INT32, 2, "int"); }
static int tensor_byte(lua_State *L) { return lsl_cast(L, SL_UINT8, 2, "byte"); }

/* For options that lsl_quick_options does not read. */
LSL_COLD static void read_odd_spin(lua_State *L, sl_spin_options *spin, sl_stream **stream)
{
    const lsl_option options[] = {
        { "blocks", LSL_OPT_COUNT, &spin->blocks },
        { "threads", LSL_OPT_COUNT, &spin->threads },
        { "shared_bytes", LSL_OPT_INTEGER, &spin->shared_bytes },
        { "stream", LSL_OPT_STREAM, stream },
    };
    lsl_options(L, 2, options, LSL_COUNT(options), "spin");
}

/* lab.spin(ms, {blocks =, threads =, shared_bytes =, stream =}) */
static int op_spin(lua_State *L)
{
    sl_spin_options spin = { .duration_ns = lsl_check_ms(L, 1, "ms", "spin") };
    const lsl_quick_whole whole[] = {
        { LSL_QUICK_BLOCKS, 1, &spin.blocks },
        { LSL_QUICK_THREADS, 1, &spin.threads },
        { LSL_QUICK_SHARED_BYTES, 0, &spin.shared_bytes },
    };
    lsl_quick given = { .flag = LSL_QUICK_NAMES, .whole = whole, .n_whole = LSL_COUNT(whole) };
    if (!lsl_quick_options(L, 2, &given)) read_odd_spin(L, &spin, &given.stream);
    sl_stream *stream = given.stream;
    lsl_no_more(L, 2, "spin");
    if (!stream) stream = lsl_current_stream(L, lsl_device(L, "spin"));
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_spin(&spin, stream, &err), &err, "spin");
    return 0;
}

static const luaL_Reg methods[] = {
    { "t", tensor_t },
    { "float", tensor_float },
    { "double", tensor_double },
    { "half", tensor_half },
    { "bfloat16", tensor_bfloat16 },
    { "int", tensor_int },
    { "byte", tensor_byte },
    { NULL, NULL },
};
static const luaL_Reg functions[] = { { "spin", op_spin }, { NULL, NULL } };
static const struct {
    const char *event;
    sl_kernel kernel;
} operators[] = {
    { "__add", SL_KERNEL_ADD }, { "__sub", SL_KERNEL_SUB }, { "__mul", SL_KERNEL_MUL },
    { "__div", SL_KERNEL_DIV }, { "__pow", SL_KERNEL_POW }, { "__unm", SL_KERNEL_NEG },
};

static bool is_number_form(sl_kernel kernel)
{
#define X(pair, behind, before) || kernel == SL_KERNEL_##behind || kernel == SL_KERNEL_##before
    return false SL_NUMBER_FORMS(X);
#undef X
}

/* The function of Lua's that launches the kernel; NULL: it has none of its own. */
static lua_CFunction function_of(sl_kernel kernel)
{
    sl_kernel_family family = sl_kernel_family_of(kernel);
    return is_number_form(kernel) ? NULL : families[family];
}

static void push_closure(lua_State *L, lua_CFunction function, sl_kernel kernel)
{
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushlightuserdata(L, (void *)(uintptr_t)kernel); /* faster to read than an integer */
    lua_pushcclosure(L, function, 2);
}

/* After lsl_open_tensor: the methods and operators join the tensors' tables. */
void lsl_open_ops(lua_State *L)
{
    int module = lua_gettop(L);
    lsl_set_functions(L, functions);
    lua_rawgeti(L, LUA_REGISTRYINDEX, lsl_get(L)->metatable_ref[LSL_TENSOR]);
    for (int i = 0; i < LSL_COUNT(operators); i++) {
        push_closure(L, operate, operators[i].kernel);
        lua_setfield(L, -2, operators[i].event);
    }
    lua_getfield(L, -1, "__methods");
    lsl_set_functions(L, methods);
    for (sl_kernel kernel = 0; kernel < SL_KERNELS; kernel++) {
        if (!function_of(kernel)) continue;
        /* Two closures: help tells a function from a method by its value. */
        push_closure(L, function_of(kernel), kernel);
        lua_setfield(L, -2, sl_kernel_name(kernel));
        push_closure(L, function_of(kernel), kernel);
        lua_setfield(L, module, sl_kernel_name(kernel));
    }
    lua_pop(L, 2);
}

/* Adds `kernels`, the names of the kernels' functions in Lua. */
void lsl_open_ops_internal(lua_State *L)
{
    lua_newtable(L);
    for (sl_kernel kernel = 0; kernel < SL_KERNELS; kernel++) {
        if (!function_of(kernel)) continue;
        lua_pushstring(L, sl_kernel_name(kernel));
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
    lua_setfield(L, -2, "kernels");
}
