/* l_view.c - views: tensors that share the memory of another, t:view, t:narrow, t:chunk. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

static const sl_tensor_spec *check_self(lua_State *L, sl_tensor **tensor, const char *op)
{
    *tensor = lsl_check_tensor(L, 1, "self", op);
    return sl_tensor_get_spec(*tensor);
}

/* t:view(sizes ...): one may be -1 */
static int tensor_view(lua_State *L)
{
    sl_tensor *tensor;
    int64_t dim[SL_MAX_DIMS];
    int ndim = lua_gettop(L) - 1;
    check_self(L, &tensor, "view");
    if (ndim > SL_MAX_DIMS)
        lsl_fail(L, SL_ESHAPE, "view", "a tensor has at most %d dimensions, got %d", SL_MAX_DIMS,
                 ndim);
    for (int i = 0; i < ndim; i++)
        dim[i] = lsl_check_integer(L, i + 2, "size", INT64_MIN, INT64_MAX, "view");
    lsl_box *box = lsl_new_box(L, LSL_TENSOR);
    sl_tensor *view;
    sl_error err;
    lsl_check(L, sl_tensor_view(tensor, ndim, dim, &view, &err), &err, "view");
    box->p = view;
    return 1;
}

/* Pushes a view; `dim` and `start` from 0. */
static void push_narrow(lua_State *L, sl_tensor *tensor, int dim, int64_t start, int64_t length,
                        const char *op)
{
    lsl_box *box = lsl_new_box(L, LSL_TENSOR);
    sl_tensor *view;
    sl_error err;
    lsl_check(L, sl_tensor_narrow(tensor, dim, start, length, &view, &err), &err, op);
    box->p = view;
}

/* t:narrow(dim, start, length): dim from 1, or from -1 for the last as in t:size */
static int tensor_narrow(lua_State *L)
{
    sl_tensor *tensor;
    const sl_tensor_spec *spec = check_self(L, &tensor, "narrow");
    if (spec->ndim == 0) lsl_check_integer(L, 2, "dimension", INT64_MIN, INT64_MAX, "narrow");
    int dim = spec->ndim > 0 ? lsl_check_dimension(L, 2, spec, "narrow") : 0;
    int64_t start = lsl_check_integer(L, 3, "start", 1, INT64_MAX, "narrow");
    int64_t length = lsl_check_integer(L, 4, "length", 0, INT64_MAX, "narrow");
    lsl_no_more(L, 4, "narrow");
    push_narrow(L, tensor, dim, start - 1, length, "narrow");
    return 1;
}

/* t:chunk(n): a list of at most n parts along the first dimension, as torch.chunk cuts */
static int tensor_chunk(lua_State *L)
{
    sl_tensor *tensor;
    const sl_tensor_spec *spec = check_self(L, &tensor, "chunk");
    int64_t n = lsl_check_integer(L, 2, "number of chunks", 1, INT32_MAX, "chunk");
    lsl_no_more(L, 2, "chunk");
    if (spec->ndim == 0) lsl_fail(L, SL_ESHAPE, "chunk", "a scalar has no dimension to cut");
    int64_t size = spec->dim[0], each = size / n + (size % n != 0);
    if (each > 0) n = size / each + (size % each != 0);
    if (n > LSL_MOST_OBJECTS)
        lsl_fail(L, SL_ESHAPE, "chunk", "%lld views are too many, at most %d", (long long)n,
                 LSL_MOST_OBJECTS);
    lua_createtable(L, (int)n, 0);
    for (int64_t i = 0; i < n; i++) {
        int64_t left = size - i * each;
        lsl_stop_at(L, i, "chunk");
        push_narrow(L, tensor, 0, i * each, left < each ? left : each, "chunk");
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* In elements and from 0, as in PyTorch: how many lie before the first one. */
static int tensor_storage_offset(lua_State *L)
{
    sl_tensor *tensor;
    const sl_tensor_spec *spec = check_self(L, &tensor, "storage_offset");
    lsl_no_more(L, 1, "storage_offset");
    lua_pushinteger(L, (lua_Integer)(sl_tensor_offset(tensor) / sl_dtype_bytes(spec->dtype)));
    return 1;
}

static const luaL_Reg methods[] = {
    { "view", tensor_view },
    { "narrow", tensor_narrow },
    { "chunk", tensor_chunk },
    { "storage_offset", tensor_storage_offset },
    { NULL, NULL },
};

/* After lsl_open_tensor, as lsl_open_ops. */
void lsl_open_view(lua_State *L) { lsl_add_methods(L, LSL_TENSOR, methods); }
