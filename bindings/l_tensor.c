/* l_tensor.c - tensors: their fields, elements, copies and memory. How they are
 * made is in l_create.c, what is computed with them in l_ops.c.
 */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sl_tensor *check_self(lua_State *L, const char *op)
{
    return lsl_check_tensor(L, 1, "self", op);
}

static sl_stream *current_of(lua_State *L, sl_tensor *tensor)
{
    return lsl_current_stream(L, sl_tensor_device(tensor));
}

static const char *place_name(sl_place place) { return place == SL_ON_DEVICE ? "cuda" : "cpu"; }

/* ---- fields ---------------------------------------------------------------------- */

LSL_GETTER(sl_tensor, dtype, string, sl_dtype_name(sl_tensor_get_spec(self)->dtype))
LSL_GETTER(sl_tensor, device, string, place_name(sl_tensor_get_spec(self)->place))
LSL_GETTER(sl_tensor, pinned, boolean, sl_tensor_get_spec(self)->place == SL_PINNED)
LSL_GETTER(sl_tensor, ndim, integer, sl_tensor_get_spec(self)->ndim)
LSL_GETTER(sl_tensor, is_view, boolean, sl_tensor_is_view(self))
LSL_GETTER(sl_tensor, id, integer, (lua_Integer)sl_tensor_id(self))

/* The number of its GPU; nil on the host, as torch.device("cpu").index is None. */
static int get_device_index(lua_State *L)
{
    sl_tensor *tensor = check_self(L, "device_index");
    if (sl_tensor_get_spec(tensor)->place != SL_ON_DEVICE) return 0;
    lua_pushinteger(L, sl_device_get_info(sl_tensor_device(tensor))->index);
    return 1;
}

/* The only field that a freed tensor has. */
static int get_freed(lua_State *L)
{
    lsl_box *box = lsl_to(L, 1, LSL_TENSOR);
    if (!box) lsl_type_error(L, 1, "self", "a tensor", "freed");
    lua_pushboolean(L, !lsl_is_open(box) || sl_tensor_is_freed(box->p));
    return 1;
}

/* t:size() gives all sizes, t:size(d) the d-th, t:size(-1) the last. */
static int tensor_size(lua_State *L)
{
    const sl_tensor_spec *spec = sl_tensor_get_spec(check_self(L, "size"));
    lsl_no_more(L, 2, "size");
    if (!lua_isnoneornil(L, 2)) {
        lua_pushinteger(L, spec->dim[lsl_check_dimension(L, 2, spec, "size")]);
        return 1;
    }
    luaL_checkstack(L, SL_MAX_DIMS, NULL);
    for (int i = 0; i < spec->ndim; i++)
        lua_pushinteger(L, spec->dim[i]);
    return spec->ndim;
}

static int tensor_numel(lua_State *L)
{
    lsl_no_more(L, 1, "numel");
    lua_pushinteger(L, sl_tensor_numel(check_self(L, "numel")));
    return 1;
}

static int tensor_nbytes(lua_State *L)
{
    lsl_no_more(L, 1, "nbytes");
    lua_pushinteger(L, (lua_Integer)sl_tensor_bytes(check_self(L, "nbytes")));
    return 1;
}

static const char *state_text(const sl_tensor *tensor)
{
    bool pinned = sl_tensor_get_spec(tensor)->place == SL_PINNED;
    if (sl_tensor_is_freed(tensor)) return " (freed)";
    if (sl_tensor_is_view(tensor)) return pinned ? " (pinned view)" : " (view)";
    return pinned ? " (pinned)" : "";
}

/* "tensor 1024x1024 float32 on cuda", "... on cuda:1" where it is not the first GPU. */
static void push_text(lua_State *L, const lsl_box *box)
{
    if (!lsl_is_open(box)) {
        lua_pushliteral(L, "tensor (freed)");
        return;
    }
    const sl_tensor_spec *spec = sl_tensor_get_spec(box->p);
    char shape[LSL_SHAPE_TEXT];
    int index = sl_device_get_info(sl_tensor_device(box->p))->index;
    char number[16] = "";
    if (spec->place == SL_ON_DEVICE && index > 0) snprintf(number, sizeof number, ":%d", index);
    lua_pushfstring(L, "tensor %s %s on %s%s%s", lsl_format_shape(spec, shape),
                    sl_dtype_name(spec->dtype), place_name(spec->place), number,
                    state_text(box->p));
}

/* ---- elements ----------------------------------------------------------------------- */

/* The flat position that the indices from argument 2 on name; `n` of them. */
static int64_t check_indices(lua_State *L, const sl_tensor_spec *spec, int n, const char *op)
{
    if (spec->ndim == 0 && n > 0)
        lsl_fail(L, SL_ESHAPE, op, "the tensor is a scalar, which has no index, got %d: %s", n,
                 strcmp(op, "get") == 0 ? "t:item() gives its number"
                                        : "t:set(value) sets its number");
    if (n != spec->ndim)
        lsl_fail(L, SL_ESHAPE, op, "the tensor has %d dimension%s, got %d ind%s", spec->ndim,
                 spec->ndim == 1 ? "" : "s", n, n == 1 ? "ex" : "ices");
    uint64_t flat = 0; /* may wrap where a size is 0, which is refused on the way */
    for (int i = 0; i < n; i++) {
        int whole = 0;
        lua_Integer index = 0;
        if (lua_type(L, i + 2) == LUA_TNUMBER) index = lua_tointegerx(L, i + 2, &whole);
        if (!whole && lua_type(L, i + 2) == LUA_TNUMBER)
            lsl_fail(L, SL_EINVAL, op, "index %d must be a whole number, got %.14g", i + 1,
                     lsl_printable(lua_tonumber(L, i + 2)));
        if (!whole)
            lsl_fail(L, SL_EINVAL, op, "index %d must be a whole number, got %s", i + 1,
                     lsl_type_name(L, i + 2));
        if (index < 1 || index > spec->dim[i])
            lsl_fail(L, SL_ESHAPE, op, "index %d is %lld, outside 1..%lld", i + 1, (long long)index,
                     (long long)spec->dim[i]);
        flat = flat * (uint64_t)spec->dim[i] + (uint64_t)(index - 1);
    }
    return (int64_t)flat;
}

static void read_elements(lua_State *L, sl_tensor *tensor, int64_t at, int64_t n, double *values,
                          const char *op)
{
    sl_error err;
    lsl_mark(L, sl_tensor_device(tensor));
    lsl_check(L, sl_tensor_read(tensor, at, n, values, current_of(L, tensor), &err), &err, op);
}

static int tensor_get(lua_State *L)
{
    sl_tensor *tensor = check_self(L, "get");
    int64_t at = check_indices(L, sl_tensor_get_spec(tensor), lua_gettop(L) - 1, "get");
    double value;
    read_elements(L, tensor, at, 1, &value, "get");
    lua_pushnumber(L, value);
    return 1;
}

static int tensor_set(lua_State *L)
{
    sl_tensor *tensor = check_self(L, "set");
    int last = lua_gettop(L);
    const sl_tensor_spec *spec = sl_tensor_get_spec(tensor);
    if (last < spec->ndim + 2)
        lsl_fail(L, SL_ESHAPE, "set", "needs %d ind%s and a value, got %d argument%s", spec->ndim,
                 spec->ndim == 1 ? "ex" : "ices", last - 1, last == 2 ? "" : "s");
    int64_t at = check_indices(L, spec, last - 2, "set");
    double value = lsl_check_number(L, last, "value", "set");
    sl_error err;
    lsl_mark(L, sl_tensor_device(tensor));
    lsl_check(L, sl_tensor_write(tensor, at, 1, &value, current_of(L, tensor), &err), &err, "set");
    lua_settop(L, 1);
    return 1;
}

static int tensor_item(lua_State *L)
{
    sl_tensor *tensor = check_self(L, "item");
    lsl_no_more(L, 1, "item");
    double value;
    if (sl_tensor_numel(tensor) != 1)
        lsl_fail(L, SL_ESHAPE, "item", "needs a tensor of one element, this one has %lld",
                 (long long)sl_tensor_numel(tensor));
    read_elements(L, tensor, 0, 1, &value, "item");
    lua_pushnumber(L, value);
    return 1;
}

/* All elements, in scratch memory that is left on the stack. */
static double *read_all(lua_State *L, sl_tensor *tensor, const char *op)
{
    int64_t n = sl_tensor_numel(tensor);
    double *values = lsl_scratch(L, (size_t)n, sizeof(double), op);
    read_elements(L, tensor, 0, n, values, op);
    return values;
}

/* Pushes the part of the tensor from dimension `d` on, and moves *next behind it. */
static void push_part(lua_State *L, const sl_tensor_spec *spec, int d, const double *values,
                      const double **next)
{
    if (d == spec->ndim) {
        lsl_stop_at(L, *next - values, "totable");
        lua_pushnumber(L, *(*next)++);
        return;
    }
    int64_t n = spec->dim[d];
    lua_createtable(L, n < INT32_MAX ? (int)n : INT32_MAX, 0);
    for (int64_t i = 1; i <= n; i++) {
        push_part(L, spec, d + 1, values, next);
        lua_rawseti(L, -2, i);
    }
}

/* 2^40 x 0 has no element, but 2^40 lists. */
static void check_lists(lua_State *L, const sl_tensor_spec *spec)
{
    int64_t lists = 1;
    for (int d = 0; d < spec->ndim && lists <= LSL_MOST_OBJECTS; d++)
        if (__builtin_mul_overflow(lists, spec->dim[d], &lists)) lists = INT64_MAX;
    char shape[LSL_SHAPE_TEXT];
    if (lists > LSL_MOST_OBJECTS)
        lsl_fail(L, SL_ESHAPE, "totable", "%s has no element, and more than %d lists",
                 lsl_format_shape(spec, shape), LSL_MOST_OBJECTS);
}

static int tensor_totable(lua_State *L)
{
    sl_tensor *tensor = check_self(L, "totable");
    lsl_no_more(L, 1, "totable");
    sl_tensor_spec spec = *sl_tensor_get_spec(tensor);
    if (sl_tensor_numel(tensor) == 0) check_lists(L, &spec);
    const double *values = read_all(L, tensor, "totable"), *next = values;
    luaL_checkstack(L, SL_MAX_DIMS + 4, NULL);
    push_part(L, &spec, 0, values, &next);
    return 1;
}

/* lab.allclose(a, b, {rtol =, atol =}): |a - b| <= atol + rtol * |b| everywhere. */
static int tensor_allclose(lua_State *L)
{
    const char *op = "allclose";
    double rtol = 1e-5, atol = 1e-8;
    const lsl_option options[] = {
        { "rtol", LSL_OPT_NUMBER, &rtol },
        { "atol", LSL_OPT_NUMBER, &atol },
    };
    sl_tensor *a = lsl_check_tensor(L, 1, "a", op), *b = lsl_check_tensor(L, 2, "b", op);
    lsl_options(L, 3, options, LSL_COUNT(options), op);
    lsl_no_more(L, 3, op);
    const sl_tensor_spec *sa = sl_tensor_get_spec(a), *sb = sl_tensor_get_spec(b);
    char ta[LSL_SHAPE_TEXT], tb[LSL_SHAPE_TEXT];
    if (!lsl_same_shape(sa, sb))
        lsl_fail(L, SL_ESHAPE, op, "the shapes differ: %s and %s", lsl_format_shape(sa, ta),
                 lsl_format_shape(sb, tb));
    int64_t n = sl_tensor_numel(a);
    const double *x = read_all(L, a, op), *y = read_all(L, b, op);
    bool close = true;
    for (int64_t i = 0; i < n && close; i++)
        close = lsl_is_close(x[i], y[i], rtol, atol);
    lua_pushboolean(L, close);
    return 1;
}

/* ---- copies ------------------------------------------------------------------------------ */

static bool is_between_devices(sl_tensor *dst, sl_tensor *src)
{
    return sl_tensor_device(dst) != sl_tensor_device(src)
           && sl_tensor_get_spec(dst)->place == SL_ON_DEVICE
           && sl_tensor_get_spec(src)->place == SL_ON_DEVICE;
}

/* Whether the copy can only fail for reasons of the device: what goes before it must not
 * be enqueued for a copy that is refused. */
static bool fits(sl_tensor *dst, sl_tensor *src)
{
    const sl_tensor_spec *d = sl_tensor_get_spec(dst), *s = sl_tensor_get_spec(src);
    return sl_device_are_of_one_machine(sl_tensor_device(dst), sl_tensor_device(src))
           && d->dtype == s->dtype && lsl_same_shape(d, s);
}

/* Copies in the stream; NULL: in the current one. Between two GPUs that is, as in PyTorch,
 * the source's; the copy comes after what the destination's holds now, and what that gets
 * next comes after the copy. */
LSL_STEP sl_status copy(lua_State *L, sl_tensor *dst, sl_tensor *src, bool non_blocking,
                        sl_stream *named, sl_error *err)
{
    sl_stream *stream = named ? named : lsl_copy_stream(L, dst, src);
    lsl_mark(L, sl_stream_device(stream));
    if (named || !is_between_devices(dst, src) || !fits(dst, src))
        return sl_tensor_copy(dst, src, non_blocking, stream, err);
    sl_stream *other = current_of(L, dst);
    lsl_mark(L, sl_tensor_device(dst));
    sl_status status = sl_stream_wait_stream(stream, other, err);
    if (status == SL_OK) status = sl_tensor_copy(dst, src, non_blocking, stream, err);
    return status == SL_OK ? sl_stream_wait_stream(other, stream, err) : status;
}

/* For options that lsl_quick_options does not read. */
LSL_COLD static void read_odd_copy(lua_State *L, lsl_quick *given)
{
    const lsl_option options[] = {
        { "non_blocking", LSL_OPT_BOOL, &given->flag_value },
        { "stream", LSL_OPT_STREAM, &given->stream },
    };
    lsl_options(L, 3, options, LSL_COUNT(options), "copy_");
}

/* dst:copy_(src, {non_blocking =, stream =}) */
static int tensor_copy(lua_State *L)
{
    sl_tensor *dst = check_self(L, "copy_"), *src = lsl_check_tensor(L, 2, "src", "copy_");
    lsl_quick given = { .flag = LSL_QUICK_NON_BLOCKING };
    if (!lsl_quick_options(L, 3, &given)) read_odd_copy(L, &given);
    lsl_no_more(L, 3, "copy_");
    sl_error err;
    sl_status status = copy(L, dst, src, given.flag_value, given.stream, &err);
    if (status == SL_ESHAPE && sl_tensor_numel(dst) == sl_tensor_numel(src))
        lsl_fail(
            L, status, "copy_",
            "%s; t:view(sizes) gives either the other's shape: out:copy_(t:view(1)) takes a scalar",
            err.msg);
    lsl_check(L, status, &err, "copy_");
    return lsl_return_first(L);
}

/* Pushes a copy of `src` in the given place, on `device` or in its host memory. */
static int push_copy(lua_State *L, sl_tensor *src, sl_place place, sl_device *device,
                     bool non_blocking, sl_stream *stream, const char *op)
{
    sl_tensor_spec spec = *sl_tensor_get_spec(src);
    sl_stream *own = stream && sl_stream_device(stream) == device ? stream : NULL;
    sl_error err;
    if (spec.place == SL_ON_DEVICE && place == SL_PINNED) own = sl_device_default_stream(device);
    spec.place = place;
    lsl_mark(L, device);
    sl_tensor *dst = lsl_create_tensor(L, device, &spec, own, op);
    lsl_check_new(L, copy(L, dst, src, non_blocking, stream, &err), &err, op);
    return 1;
}

/* Moves the tensor at index 1, options at `arg`. As in PyTorch the tensor itself
 * is the result if it is there already, and a non-blocking copy to the host
 * goes to pinned memory. "cuda" without a number is the stream's GPU, else the current
 * one, whichever was current when a host tensor was made. */
static int move_to(lua_State *L, lsl_home home, int arg, const char *op)
{
    sl_tensor *tensor = check_self(L, op);
    int non_blocking = 0, pinned = -1;
    sl_stream *stream = NULL;
    const lsl_option options[] = {
        { "non_blocking", LSL_OPT_BOOL, &non_blocking },
        { "pinned", LSL_OPT_BOOL, &pinned },
        { "stream", LSL_OPT_STREAM, &stream },
    };
    lsl_options(L, arg, options, LSL_COUNT(options), op);
    lsl_no_more(L, arg, op);
    sl_place now = sl_tensor_get_spec(tensor)->place;
    sl_device *device = sl_tensor_device(tensor);
    if (!home.host && pinned == 1)
        lsl_fail(L, SL_EPLACE, op, "only host memory can be pinned: pinned = true needs \"cpu\"");
    if (!home.host && !home.device)
        home.device = stream ? sl_stream_device(stream) : lsl_device(L, op);
    bool there = home.host ? now != SL_ON_DEVICE && (pinned < 0 || pinned == (now == SL_PINNED))
                           : now == SL_ON_DEVICE && device == home.device;
    if (there) {
        lua_settop(L, 1);
        return 1;
    }
    if (pinned < 0) pinned = non_blocking;
    sl_place place = !home.host ? SL_ON_DEVICE : pinned ? SL_PINNED : SL_PAGEABLE;
    if (!home.host) device = home.device;
    return push_copy(L, tensor, place, device, non_blocking, stream, op);
}

/* t:to(place, opts), t:to(dtype, opts) */
static int tensor_to(lua_State *L)
{
    lsl_home home;
    sl_dtype dtype;
    check_self(L, "to");
    if (lua_type(L, 2) == LUA_TSTRING && sl_dtype_parse(lua_tostring(L, 2), &dtype))
        return lsl_cast(L, dtype, 3, "to");
    if (!lsl_read_home(L, 2, &home, "to"))
        lsl_fail(L, SL_EINVAL, "to",
                 "argument 2 (place) must be \"cuda\", \"cpu\", the number of "
                 "a GPU as in \"cuda:1\", a device, or a dtype, got %s",
                 lsl_push_given(L, 2));
    return move_to(L, home, 3, "to");
}

static int tensor_cpu(lua_State *L) { return move_to(L, (lsl_home){ .host = true }, 2, "cpu"); }

/* t:cuda(opts), t:cuda(1, opts) */
static int tensor_cuda(lua_State *L)
{
    lsl_home home = { .host = false };
    bool numbered = lua_type(L, 2) == LUA_TNUMBER;
    check_self(L, "cuda");
    if (numbered) {
        int index = (int)lsl_check_integer(L, 2, "index", 0, INT32_MAX, "cuda");
        home.device = lsl_device_at(L, index, "cuda");
    }
    return move_to(L, home, numbered ? 3 : 2, "cuda");
}

/* t:pin_memory(): a pinned copy; as in PyTorch the tensor itself if it is pinned. */
static int tensor_pin_memory(lua_State *L)
{
    sl_tensor *tensor = check_self(L, "pin_memory");
    lsl_no_more(L, 1, "pin_memory");
    sl_place place = sl_tensor_get_spec(tensor)->place;
    if (place == SL_ON_DEVICE)
        lsl_fail(L, SL_EPLACE, "pin_memory", "only host memory can be pinned; this is on cuda");
    if (place == SL_PINNED) {
        lua_settop(L, 1);
        return 1;
    }
    sl_device *device = sl_tensor_device(tensor);
    return push_copy(L, tensor, SL_PINNED, device, false, NULL, "pin_memory");
}

/* ---- in place ------------------------------------------------------------------------------- */

static int fill(lua_State *L, double value, int arg, const char *op)
{
    sl_tensor *tensor = check_self(L, op);
    sl_stream *stream = lsl_stream_option(L, arg, op);
    lsl_no_more(L, arg, op);
    if (!stream) stream = current_of(L, tensor);
    sl_error err;
    lsl_mark(L, sl_tensor_device(tensor));
    lsl_check(L, sl_tensor_fill(tensor, value, stream, &err), &err, op);
    lua_settop(L, 1);
    return 1;
}

static int tensor_fill(lua_State *L)
{
    check_self(L, "fill_");
    return fill(L, lsl_check_number(L, 2, "value", "fill_"), 3, "fill_");
}

static int tensor_zero(lua_State *L) { return fill(L, 0, 2, "zero_"); }

static int change_pin(lua_State *L, sl_status (*change)(sl_tensor *, sl_error *), const char *op)
{
    sl_error err;
    sl_tensor *tensor = check_self(L, op);
    lsl_no_more(L, 1, op);
    lsl_mark(L, sl_tensor_device(tensor));
    lsl_check(L, change(tensor, &err), &err, op);
    lua_settop(L, 1);
    return 1;
}

static int tensor_pin(lua_State *L) { return change_pin(L, sl_tensor_pin, "pin"); }
static int tensor_unpin(lua_State *L) { return change_pin(L, sl_tensor_unpin, "unpin"); }

static int tensor_free(lua_State *L)
{
    sl_error err;
    sl_tensor *tensor = check_self(L, "free");
    lsl_no_more(L, 1, "free");
    if (lsl_get(L)->in_host_func > 0)
        lsl_fail(L, SL_ESTATE, "free", "a host function must not free a tensor");
    lsl_check(L, sl_tensor_free(tensor, &err), &err, "free");
    return 0;
}

static int tensor_close(lua_State *L) { return lsl_close(L, LSL_TENSOR); }

/* ---- tables ---------------------------------------------------------------------------------- */

static const luaL_Reg functions[] = { { "allclose", tensor_allclose }, { NULL, NULL } };
static const luaL_Reg methods[] = {
    { "size", tensor_size },
    { "numel", tensor_numel },
    { "nbytes", tensor_nbytes },
    { "get", tensor_get },
    { "set", tensor_set },
    { "item", tensor_item },
    { "totable", tensor_totable },
    { "allclose", tensor_allclose },
    { "copy_", tensor_copy },
    { "to", tensor_to },
    { "cpu", tensor_cpu },
    { "cuda", tensor_cuda },
    { "pin_memory", tensor_pin_memory },
    { "pin", tensor_pin },
    { "unpin", tensor_unpin },
    { "fill_", tensor_fill },
    { "zero_", tensor_zero },
    { "free", tensor_free },
    { NULL, NULL },
};
static const luaL_Reg getters[] = {
    { "dtype", get_dtype },     { "device", get_device }, { "device_index", get_device_index },
    { "pinned", get_pinned },   { "ndim", get_ndim },     { "id", get_id },
    { "is_view", get_is_view }, { "freed", get_freed },   { NULL, NULL },
};
static const lsl_class class = { push_text, tensor_close, methods, getters };

void lsl_open_tensor(lua_State *L)
{
    lsl_define_boxes(L, LSL_TENSOR, &class);
    lsl_set_functions(L, functions);
}
