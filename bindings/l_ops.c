/* l_ops.c - kernels: matmul, pow, add, sub, mul, div, neg, relu, softmax, sum, transpose, spin.
 * Each is a function of the module and a method of its first tensor; + - * / ^ are elementwise.
 *
 * When no out= is given, the result is created here; so what would make the
 * kernel refuse its operands is looked at before that, and a failed call has
 * allocated nothing.
 */
#include "lsl.h"

#include <stdio.h>

/* What is launched, and what the options say. */
typedef struct launch {
    sl_kernel kernel;
    sl_tensor *a, *b;       /* b: NULL if there is none */
    double number;          /* beside a; 0 if there is none */
    lsl_quick given;        /* stream NULL: the current one when the kernel is enqueued */
} launch;

static sl_stream *stream_of(lua_State *L, const launch *l)
{
    if (l->given.stream != NULL) return l->given.stream;
    return lsl_current_stream(L, sl_tensor_device(l->a));
}

/* read_launch for options that lsl_quick_options does not read. */
LSL_COLD static void read_odd_launch(lua_State *L, int arg, bool has_tf32, lsl_quick *given,
                                     const char *op)
{
    const lsl_option options[] = {
        {"out", LSL_OPT_OUT, &given->out}, {"stream", LSL_OPT_STREAM, &given->stream},
        {"tf32", LSL_OPT_BOOL, &given->flag_value},
    };
    lsl_options(L, arg, options, LSL_COUNT(options) - !has_tf32, op);
}

/* Reads {out =, stream =, tf32 =} at `arg`. Leaves the stack with one value behind it,
 * the out tensor or nil. */
static void read_launch(lua_State *L, int arg, bool has_tf32, launch *l, const char *op)
{
    lsl_no_more(L, arg, op);
    lua_settop(L, arg + 1);
    l->given.out.slot = arg + 1;
    l->given.flag = has_tf32 ? LSL_QUICK_TF32 : LSL_QUICK_NAMES;
    if (!lsl_quick_options(L, arg, &l->given)) read_odd_launch(L, arg, has_tf32, &l->given, op);
    lsl_mark(L, sl_tensor_device(l->a));
}

/* Raises for shapes that do not fit, with both of them. */
static int fail_shapes(lua_State *L, const launch *l, const char *fmt, const char *op)
{
    char a[LSL_SHAPE_TEXT], b[LSL_SHAPE_TEXT], text[2 * LSL_SHAPE_TEXT + 64];
    lsl_format_shape(sl_tensor_get_spec(l->a), a);
    lsl_format_shape(sl_tensor_get_spec(l->b), b);
    snprintf(text, sizeof(text), fmt, a, b);
    return lsl_raise(L, SL_ESHAPE, op, text);
}

static void check_operand(lua_State *L, const launch *l, sl_tensor *tensor, const char *name,
                          const char *op)
{
    const sl_tensor_spec *spec = sl_tensor_get_spec(tensor);
    sl_device *device = sl_tensor_device(tensor), *other = sl_stream_device(stream_of(L, l));
    const sl_device_info *info = sl_device_get_info(device), *info2 = sl_device_get_info(other);
    if (device != other)
        lsl_fail(L, SL_EDEVICE, op, "%s is on another device (%s %d, %s) than %s (%s %d, %s)", name,
                 info->backend, info->index, info->name,
                 sl_tensor_device(l->a) == other ? "a" : "the stream", info2->backend, info2->index,
                 info2->name);
    if (spec->place != SL_ON_DEVICE)
        lsl_fail(L, SL_EPLACE, op, "%s is on the cpu; t:cuda() copies a tensor to the GPU", name);
}

/* Places, devices and dtypes of the operands, in the core's order and words. */
static void check_operands(lua_State *L, const launch *l, const char *op)
{
    sl_error err;
    check_operand(L, l, l->a, "a", op);
    lsl_check(L, sl_kernel_check(l->kernel, sl_tensor_get_spec(l->a)->dtype, l->number, &err),
              &err, op);
    if (l->b == NULL) return;
    check_operand(L, l, l->b, "b", op);
    sl_dtype da = sl_tensor_get_spec(l->a)->dtype, db = sl_tensor_get_spec(l->b)->dtype;
    if (da != db)
        lsl_fail(L, SL_EDTYPE, op, "a is %s, b is %s: a kernel needs one dtype; t:to casts",
                 sl_dtype_name(da), sl_dtype_name(db));
}

/* The tensor that takes the result: out=, else a new one with the spec, which
 * is pushed. Either is on top of the stack afterwards. */
static sl_tensor *take_out(lua_State *L, const launch *l, const sl_tensor_spec *spec,
                           const char *op)
{
    if (l->given.out.tensor != NULL) return l->given.out.tensor;
    return lsl_create_tensor(L, sl_tensor_device(l->a), spec, l->given.stream, op);
}

/* Raises on failure; a result that was made for the call is released then. */
static int finish(lua_State *L, const launch *l, sl_status status, const sl_error *err,
                  const char *op)
{
    if (l->given.out.tensor != NULL)
        lsl_check(L, status, err, op);
    else
        lsl_check_new(L, status, err, op);
    return 1;
}

static int op_matmul(lua_State *L)
{
    const char *op = "matmul";
    launch l = {.kernel = SL_KERNEL_MATMUL, .a = lsl_check_tensor(L, 1, "a", op),
                .b = lsl_check_tensor(L, 2, "b", op)};
    read_launch(L, 3, true, &l, op);
    const sl_tensor_spec *a = sl_tensor_get_spec(l.a), *b = sl_tensor_get_spec(l.b);
    sl_tensor_spec spec = {.dtype = a->dtype, .place = SL_ON_DEVICE, .ndim = 2};
    if (l.given.out.tensor == NULL) {
        check_operands(L, &l, op);
        if (a->ndim != 2 || b->ndim != 2)
            fail_shapes(L, &l, "matmul needs matrices; a is %s, b is %s", op);
        if (a->dim[1] != b->dim[0]) fail_shapes(L, &l, "inner sizes differ: %s times %s", op);
        spec.dim[0] = a->dim[0];
        spec.dim[1] = b->dim[1];
    }
    sl_tensor *out = take_out(L, &l, &spec, op);
    sl_error err;
    sl_status status = sl_matmul(out, l.a, l.b, l.given.flag_value, stream_of(L, &l), &err);
    return finish(L, &l, status, &err, op);
}

/* Kernels of one tensor whose result is as a is. */
static sl_tensor *begin_unary(lua_State *L, int arg, launch *l, const char *op)
{
    read_launch(L, arg, false, l, op);
    if (l->given.out.tensor == NULL) check_operands(L, l, op);
    return take_out(L, l, sl_tensor_get_spec(l->a), op);
}

/* The options are at 3. */
static int launch_with_number(lua_State *L, launch *l, const char *op)
{
    sl_tensor *out = begin_unary(L, 3, l, op);
    sl_error err;
    sl_status status = sl_with_number(l->kernel, out, l->a, l->number, stream_of(L, l), &err);
    return finish(L, l, status, &err, op);
}

static int op_pow(lua_State *L)
{
    launch l = {.kernel = SL_KERNEL_POW, .a = lsl_check_tensor(L, 1, "a", "pow")};
    l.number = lsl_check_number(L, 2, "exponent", "pow");
    return launch_with_number(L, &l, "pow");
}

static int op_softmax(lua_State *L)
{
    launch l = {.kernel = SL_KERNEL_SOFTMAX, .a = lsl_check_tensor(L, 1, "a", "softmax")};
    sl_tensor *out = begin_unary(L, 2, &l, "softmax");
    sl_error err;
    return finish(L, &l, sl_softmax(out, l.a, stream_of(L, &l), &err), &err, "softmax");
}

/* The dimension at `arg`, from 0. */
static int read_dimension(lua_State *L, int arg, const sl_tensor_spec *spec, const char *op)
{
    int64_t d = lsl_check_integer(L, arg, "dimension", INT64_MIN, INT64_MAX, op);
    if (d < -spec->ndim || d > spec->ndim || d == 0)
        lsl_fail(L, SL_ESHAPE, op, "there is no dimension %lld: the tensor has %d", (long long)d,
                 spec->ndim);
    return (int)(d < 0 ? d + spec->ndim : d - 1);
}

/* The options are at `arg`. */
static int launch_transpose(lua_State *L, launch *l, int d1, int d2, int arg, const char *op)
{
    sl_error err;
    read_launch(L, arg, false, l, op);
    sl_tensor_spec spec = *sl_tensor_get_spec(l->a);
    int64_t size = spec.dim[d1];
    spec.dim[d1] = spec.dim[d2];
    spec.dim[d2] = size;
    if (l->given.out.tensor == NULL) check_operands(L, l, op);
    sl_tensor *out = take_out(L, l, &spec, op);
    return finish(L, l, sl_transpose(out, l->a, d1, d2, stream_of(L, l), &err), &err, op);
}

static int op_transpose(lua_State *L)
{
    const char *op = "transpose";
    launch l = {.kernel = SL_KERNEL_TRANSPOSE, .a = lsl_check_tensor(L, 1, "a", op)};
    const sl_tensor_spec *spec = sl_tensor_get_spec(l.a);
    int d1 = read_dimension(L, 2, spec, op), d2 = read_dimension(L, 3, spec, op);
    return launch_transpose(L, &l, d1, d2, 4, op);
}

/* t:t(opts) */
static int tensor_t(lua_State *L)
{
    launch l = {.kernel = SL_KERNEL_TRANSPOSE, .a = lsl_check_tensor(L, 1, "self", "t")};
    const sl_tensor_spec *spec = sl_tensor_get_spec(l.a);
    char shape[LSL_SHAPE_TEXT];
    if (spec->ndim != 2)
        lsl_fail(L, SL_ESHAPE, "t", "needs a matrix; the tensor has %d dimension%s (%s)",
                 spec->ndim, spec->ndim == 1 ? "" : "s", lsl_format_shape(spec, shape));
    return launch_transpose(L, &l, 0, 1, 2, "t");
}

int lsl_cast(lua_State *L, sl_dtype dtype, int arg, const char *op)
{
    launch l = {.kernel = SL_KERNEL_CAST, .a = lsl_check_tensor(L, 1, "self", op)};
    sl_error err;
    read_launch(L, arg, false, &l, op);
    sl_tensor_spec spec = *sl_tensor_get_spec(l.a);
    sl_tensor *out = l.given.out.tensor;
    if (out == NULL && spec.dtype == dtype) {
        lua_settop(L, 1);
        return 1;
    }
    if (out != NULL && sl_tensor_get_spec(out)->dtype != dtype)
        lsl_fail(L, SL_EDTYPE, op, "out is %s, needed %s",
                 sl_dtype_name(sl_tensor_get_spec(out)->dtype), sl_dtype_name(dtype));
    if (out == NULL) check_operands(L, &l, op);
    spec.dtype = dtype;
    out = take_out(L, &l, &spec, op);
    return finish(L, &l, sl_cast(out, l.a, stream_of(L, &l), &err), &err, op);
}

static int tensor_float(lua_State *L) { return lsl_cast(L, SL_FLOAT32, 2, "float"); }
static int tensor_double(lua_State *L) { return lsl_cast(L, SL_FLOAT64, 2, "double"); }
static int tensor_half(lua_State *L) { return lsl_cast(L, SL_FLOAT16, 2, "half"); }
static int tensor_bfloat16(lua_State *L) { return lsl_cast(L, SL_BFLOAT16, 2, "bfloat16"); }
static int tensor_int(lua_State *L) { return lsl_cast(L, SL_INT32, 2, "int"); }
static int tensor_byte(lua_State *L) { return lsl_cast(L, SL_UINT8, 2, "byte"); }

static int op_sum(lua_State *L)
{
    launch l = {.kernel = SL_KERNEL_SUM, .a = lsl_check_tensor(L, 1, "a", "sum")};
    read_launch(L, 2, false, &l, "sum");
    sl_tensor_spec spec = {.dtype = sl_tensor_get_spec(l.a)->dtype, .place = SL_ON_DEVICE};
    if (l.given.out.tensor == NULL) check_operands(L, &l, "sum");
    sl_tensor *out = take_out(L, &l, &spec, "sum");
    sl_error err;
    return finish(L, &l, sl_sum(out, l.a, stream_of(L, &l), &err), &err, "sum");
}

static int op_unary(lua_State *L, sl_kernel kernel, const char *op)
{
    launch l = {.kernel = kernel, .a = lsl_check_tensor(L, 1, "a", op)};
    sl_tensor *out = begin_unary(L, 2, &l, op);
    sl_error err;
    return finish(L, &l, sl_unary(kernel, out, l.a, stream_of(L, &l), &err), &err, op);
}

static int op_neg(lua_State *L) { return op_unary(L, SL_KERNEL_NEG, "neg"); }
static int op_relu(lua_State *L) { return op_unary(L, SL_KERNEL_RELU, "relu"); }

/* Of two tensors, or of a tensor and a number in either order. */
typedef struct binary {
    const char *name;
    sl_kernel pair, with_number, reversed;      /* reversed: the number comes first */
} binary;

static int op_binary(lua_State *L, const binary *which)
{
    launch l = {.kernel = which->pair};
    const char *op = which->name;
    sl_error err;
    int number = lua_type(L, 1) == LUA_TNUMBER ? 1 : lua_type(L, 2) == LUA_TNUMBER ? 2 : 0;
    if (number != 0) {
        l.kernel = number == 1 ? which->reversed : which->with_number;
        l.number = lua_tonumber(L, number);
        l.a = lsl_check_tensor(L, 3 - number, number == 1 ? "b" : "a", op);
        return launch_with_number(L, &l, op);
    }
    l.a = lsl_check_tensor(L, 1, "a", op);
    if (lsl_to(L, 2, LSL_TENSOR) == NULL) lsl_type_error(L, 2, "b", "a tensor or a number", op);
    l.b = lsl_check_tensor(L, 2, "b", op);
    read_launch(L, 3, false, &l, op);
    const sl_tensor_spec *sa = sl_tensor_get_spec(l.a), *sb = sl_tensor_get_spec(l.b);
    if (l.given.out.tensor == NULL) {
        check_operands(L, &l, op);
        if (!lsl_same_shape(sa, sb))
            fail_shapes(L, &l, "a is %s, b is %s: the shapes differ", op);
    }
    sl_tensor *out = take_out(L, &l, sa, op);
    return finish(L, &l, sl_pair(l.kernel, out, l.a, l.b, stream_of(L, &l), &err), &err, op);
}

/* op_add and meta_add, ...: operators have no options. */
#define BINARY(name, pair, with_number, reversed)                                          \
    static int op_##name(lua_State *L)                                                     \
    {                                                                                      \
        static const binary which = {#name, SL_KERNEL_##pair, SL_KERNEL_##with_number,     \
                                     SL_KERNEL_##reversed};                                \
        return op_binary(L, &which);                                                       \
    }                                                                                      \
    static int meta_##name(lua_State *L)                                                   \
    {                                                                                      \
        lua_settop(L, 2);                                                                  \
        return op_##name(L);                                                               \
    }
BINARY(add, ADD, ADD_SCALAR, ADD_SCALAR)
BINARY(sub, SUB, SUB_SCALAR, RSUB_SCALAR)
BINARY(mul, MUL, MUL_SCALAR, MUL_SCALAR)
BINARY(div, DIV, DIV_SCALAR, RDIV_SCALAR)

/* 2 ^ a is an error: the exponent is a number. */
static int meta_pow(lua_State *L)
{
    lua_settop(L, 2);
    return op_pow(L);
}

static int meta_unm(lua_State *L)
{
    lua_settop(L, 1);
    return op_neg(L);
}

/* lab.spin(ms, {blocks =, threads =, shared_bytes =, stream =}) */
static int op_spin(lua_State *L)
{
    sl_spin_options spin = {.duration_ns = lsl_check_ms(L, 1, "ms", "spin")};
    sl_stream *stream = NULL;
    const lsl_option options[] = {
        {"blocks", LSL_OPT_COUNT, &spin.blocks}, {"threads", LSL_OPT_COUNT, &spin.threads},
        {"shared_bytes", LSL_OPT_INTEGER, &spin.shared_bytes},
        {"stream", LSL_OPT_STREAM, &stream},
    };
    lsl_options(L, 2, options, LSL_COUNT(options), "spin");
    lsl_no_more(L, 2, "spin");
    if (stream == NULL) stream = lsl_current_stream(L, lsl_device(L, "spin"));
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_spin(&spin, stream, &err), &err, "spin");
    return 0;
}

static const luaL_Reg operators[] = {
    {"__add", meta_add}, {"__mul", meta_mul}, {"__pow", meta_pow},
    {"__sub", meta_sub}, {"__div", meta_div}, {"__unm", meta_unm}, {NULL, NULL}
};
static const luaL_Reg ops[] = {
    {"matmul", op_matmul}, {"pow", op_pow}, {"add", op_add}, {"sub", op_sub}, {"mul", op_mul},
    {"div", op_div}, {"neg", op_neg}, {"relu", op_relu}, {"softmax", op_softmax},
    {"sum", op_sum}, {"transpose", op_transpose}, {NULL, NULL}
};
static const luaL_Reg methods[] = {
    {"t", tensor_t}, {"float", tensor_float}, {"double", tensor_double}, {"half", tensor_half},
    {"bfloat16", tensor_bfloat16}, {"int", tensor_int}, {"byte", tensor_byte}, {NULL, NULL}
};
static const luaL_Reg functions[] = {{"spin", op_spin}, {NULL, NULL}};

/* After lsl_open_tensor: the methods and operators join the tensors' tables. */
void lsl_open_ops(lua_State *L)
{
    lsl_set_functions(L, functions);
    lsl_set_functions(L, ops);
    lua_rawgeti(L, LUA_REGISTRYINDEX, lsl_get(L)->metatable_ref[LSL_TENSOR]);
    lsl_set_functions(L, operators);
    lua_pop(L, 1);
    lsl_add_methods(L, LSL_TENSOR, ops);
    lsl_add_methods(L, LSL_TENSOR, methods);
}
