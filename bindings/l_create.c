/* l_create.c - new tensors: lab.empty, zeros, ones, full, rand, randn, tensor. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

#include <stdio.h>
#include <string.h>

sl_tensor *lsl_create_tensor(lua_State *L, sl_device *device, const sl_tensor_spec *spec,
                             sl_stream *stream, const char *op)
{
    lsl_box *box = lsl_new_box(L, LSL_TENSOR);
    /* The current stream is looked up only now: making the box may have run
     * finalizers that changed it. */
    if (!stream && spec->place == SL_ON_DEVICE) stream = lsl_current_stream(L, device);
    sl_tensor *tensor;
    sl_error err;
    /* Memory pressure may run finalizers of the user's in here: hold the stream. */
    sl_stream_retain(stream);
    sl_status status = sl_tensor_create(device, spec, stream, &tensor, &err);
    sl_stream_release(stream);
    lsl_check(L, status, &err, op);
    box->p = tensor;
    return tensor;
}

/* ---- sizes and options ----------------------------------------------------------- */

typedef struct tensor_plan { /* what the arguments of a constructor ask for */
    sl_tensor_spec spec;
    sl_device *device; /* NULL: the current one */
    sl_stream *stream; /* NULL: the current one of the device */
    lsl_seed seed;
} tensor_plan;

static void read_size(lua_State *L, int arg, int which, int64_t *size, const char *op)
{
    int whole;
    if (lua_type(L, arg) != LUA_TNUMBER)
        lsl_fail(L, SL_EINVAL, op, "size %d must be a whole number, got %s", which,
                 lsl_type_name(L, arg));
    *size = lua_tointegerx(L, arg, &whole);
    if (!whole)
        lsl_fail(L, SL_ESHAPE, op, "size %d must be a whole number, got %.14g", which,
                 lsl_printable(lua_tonumber(L, arg)));
    if (*size < 0)
        lsl_fail(L, SL_ESHAPE, op, "size %d must not be negative, got %lld", which,
                 (long long)*size);
}

/* device= at stack index `slot`, and pinned=, into the plan. */
static void read_place(lua_State *L, int slot, int pinned, tensor_plan *plan, const char *op)
{
    lsl_home home = { .host = false };
    if (!lua_isnil(L, slot) && !lsl_read_home(L, slot, &home, op))
        lsl_fail(L, SL_EINVAL, op,
                 "option 'device' must be \"cuda\", \"cpu\", the number of a GPU "
                 "as in \"cuda:1\", or a device, got %s",
                 lsl_push_given(L, slot));
    if (pinned && !home.host)
        lsl_fail(L, SL_EPLACE, op,
                 "only host memory can be pinned: pinned = true needs device = \"cpu\"");
    plan->device = home.device;
    plan->spec.place = !home.host ? SL_ON_DEVICE : pinned ? SL_PINNED : SL_PAGEABLE;
}

/* Reads the options at `arg`, and the default seed of the program. */
static void read_options(lua_State *L, int arg, bool random, tensor_plan *plan, const char *op)
{
    const char *dtype = "float32";
    int pinned = 0;
    lua_pushnil(L);
    int device = lua_gettop(L);
    const lsl_option options[] = {
        { "device", LSL_OPT_ANY, &device },    { "pinned", LSL_OPT_BOOL, &pinned },
        { "dtype", LSL_OPT_TEXT, &dtype },     { "stream", LSL_OPT_STREAM, &plan->stream },
        { "seed", LSL_OPT_SEED, &plan->seed },
    };
    if (random) {
        lsl_push_default(L, "seed");
        plan->seed.value = lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    lsl_options(L, arg, options, LSL_COUNT(options) - !random, op);
    read_place(L, device, pinned, plan, op);
    if (!sl_dtype_parse(dtype, &plan->spec.dtype))
        lsl_fail(L, SL_EDTYPE, op,
                 "unknown dtype \"%s\"; known: float32, float64, bfloat16, float16, int32, uint8",
                 dtype);
}

/* Reads sizes from `first` on, and a table of options behind them. */
static void read_plan(lua_State *L, int first, bool random, tensor_plan *plan, const char *op)
{
    int last = lua_gettop(L);
    memset(plan, 0, sizeof *plan);
    if (last > first && lua_isnil(L, last)) last--; /* opts of a wrapper that got none */
    bool has_options = last >= first && lua_istable(L, last);
    int ndim = last - first + 1 - has_options;
    if (ndim > SL_MAX_DIMS)
        lsl_fail(L, SL_ESHAPE, op, "a tensor has at most %d dimensions, got %d", SL_MAX_DIMS, ndim);
    for (int i = 0; i < ndim; i++)
        read_size(L, first + i, i + 1, &plan->spec.dim[i], op);
    plan->spec.ndim = ndim;
    read_options(L, has_options ? last : last + 1, random, plan, op);
}

static sl_tensor *create(lua_State *L, const tensor_plan *plan, const char *op)
{
    sl_device *device = plan->device ? plan->device : lsl_device(L, op);
    lsl_mark(L, device);
    sl_stream *stream = plan->spec.place == SL_ON_DEVICE ? plan->stream : NULL;
    return lsl_create_tensor(L, device, &plan->spec, stream, op);
}

static sl_stream *stream_of(lua_State *L, const tensor_plan *plan, sl_tensor *tensor)
{
    return plan->stream ? plan->stream : lsl_current_stream(L, sl_tensor_device(tensor));
}

/* ---- filled with one rule --------------------------------------------------------- */

static int lab_empty(lua_State *L)
{
    tensor_plan plan;
    read_plan(L, 1, false, &plan, "empty");
    create(L, &plan, "empty");
    return 1;
}

/* Sizes and options begin at argument `first`. If filling fails, the tensor is released at once. */
static int create_filled(lua_State *L, int first, double value, const char *op)
{
    tensor_plan plan;
    read_plan(L, first, false, &plan, op);
    sl_tensor *tensor = create(L, &plan, op);
    sl_error err;
    lsl_check_new(L, sl_tensor_fill(tensor, value, stream_of(L, &plan, tensor), &err), &err, op);
    return 1;
}

static int lab_zeros(lua_State *L) { return create_filled(L, 1, 0, "zeros"); }
static int lab_ones(lua_State *L) { return create_filled(L, 1, 1, "ones"); }

static int lab_full(lua_State *L)
{
    return create_filled(L, 2, lsl_check_number(L, 1, "value", "full"), "full");
}

typedef sl_status (*random_fn)(sl_tensor *, uint64_t, uint64_t, sl_stream *, sl_error *);

/* A seed that is given has the same numbers each time; without one each tensor has its own. */
static int create_random(lua_State *L, random_fn fn, const char *op)
{
    tensor_plan plan;
    read_plan(L, 1, true, &plan, op);
    sl_tensor *tensor = create(L, &plan, op);
    uint64_t sequence = plan.seed.given ? 0 : sl_tensor_id(tensor);
    sl_error err;
    sl_status status = fn(tensor, (uint64_t)plan.seed.value, sequence, stream_of(L, &plan, tensor),
                          &err);
    lsl_check_new(L, status, &err, op);
    return 1;
}

static int lab_rand(lua_State *L) { return create_random(L, sl_tensor_rand, "rand"); }
static int lab_randn(lua_State *L) { return create_random(L, sl_tensor_randn, "randn"); }

/* ---- from a nested table ------------------------------------------------------------ */

/* The shape along the first elements of the table at index 1. */
static void measure_table(lua_State *L, sl_tensor_spec *spec)
{
    lua_pushvalue(L, 1);
    while (lua_istable(L, -1)) {
        if (spec->ndim == SL_MAX_DIMS)
            lsl_fail(L, SL_ESHAPE, "tensor", "a tensor has at most %d dimensions", SL_MAX_DIMS);
        spec->dim[spec->ndim++] = (int64_t)lua_rawlen(L, -1);
        lua_rawgeti(L, -1, 1);
        lua_remove(L, -2);
    }
    lua_pop(L, 1);
}

typedef struct table_walk { /* over a nested table, in reading order */
    const sl_tensor_spec *spec;
    double *next;
    int64_t n_read;          /* elements */
    int64_t at[SL_MAX_DIMS]; /* indices from 1, for messages */
} table_walk;

/* "row 2" or "row 2, 1": where the walk is, above `depth`. */
static void describe(const table_walk *walk, int depth, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, depth > 0 ? "row" : "the table");
    for (int i = 0; i < depth && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s %lld", i > 0 ? "," : "",
                                 (long long)walk->at[i]);
}

/* Raises for a list of `n` where the first one on its level gave another size. */
static int fail_length(lua_State *L, const table_walk *walk, int depth, int64_t n)
{
    char row[128], first_row[128];
    table_walk first = *walk;
    for (int i = 0; i < depth; i++)
        first.at[i] = 1;
    describe(walk, depth, row, sizeof row);
    describe(&first, depth, first_row, sizeof first_row);
    return lsl_fail(L, SL_ESHAPE, "tensor", "%s has %lld element%s, %s has %lld", row, (long long)n,
                    n == 1 ? "" : "s", first_row, (long long)walk->spec->dim[depth]);
}

/* By type, then by value where that has an order: the key that is reported must not depend on
 * Lua's hash order. */
static bool key_before(lua_State *L, int a, int b)
{
    int type = lua_type(L, a);
    if (type != lua_type(L, b)) return type < lua_type(L, b);
    if (type == LUA_TBOOLEAN) return lua_toboolean(L, a) < lua_toboolean(L, b);
    return (type == LUA_TNUMBER || type == LUA_TSTRING) && lua_compare(L, a, b, LUA_OPLT);
}

/* Raises if the table on top of the stack has keys besides those of its list of n. */
static void check_keys(lua_State *L, int64_t n, const char *row)
{
    int table = lua_gettop(L), first = table + 1, whole;
    lua_pushnil(L); /* the first wrong key so far */
    lua_pushnil(L);
    for (int64_t i = 0; lua_next(L, table); i++) {
        lsl_stop_at(L, i, "tensor");
        lua_pop(L, 1);
        lua_Integer at = lua_type(L, -1) == LUA_TNUMBER ? lua_tointegerx(L, -1, &whole) : 0;
        if (at >= 1 && at <= n) continue;
        if (!lua_isnil(L, first) && !key_before(L, first + 1, first)) continue;
        lua_pushvalue(L, -1);
        lua_replace(L, first);
    }
    if (!lua_isnil(L, first)) {
        bool text = lua_type(L, first) == LUA_TSTRING;
        bool plain = text || lua_isnumber(L, first) || lua_isboolean(L, first);
        lsl_fail(L, SL_EINVAL, "tensor", "%s has the key %s%.100s%s besides its list of %lld", row,
                 text ? "'" : "[", plain ? luaL_tolstring(L, first, NULL) : lsl_type_name(L, first),
                 text ? "'" : "]", (long long)n);
    }
    lua_pop(L, 1);
}

/* Takes what is on top of the stack, `depth` levels down. */
static void walk_table(lua_State *L, table_walk *walk, int depth)
{
    char row[128];
    if (depth == walk->spec->ndim) {
        lsl_stop_at(L, ++walk->n_read, "tensor");
        if (lua_type(L, -1) == LUA_TNUMBER) {
            *walk->next++ = lua_tonumber(L, -1);
            return;
        }
        describe(walk, depth, row, sizeof row);
        lsl_fail(L, lua_istable(L, -1) ? SL_ESHAPE : SL_EINVAL, "tensor",
                 "element %s must be a number, got %s", depth > 0 ? row + 4 : "1",
                 lsl_type_name(L, -1));
    }
    describe(walk, depth, row, sizeof row);
    if (!lua_istable(L, -1))
        lsl_fail(L, SL_ESHAPE, "tensor", "%s must be a list of %lld, as the first one is, got %s",
                 row, (long long)walk->spec->dim[depth], lsl_type_name(L, -1));
    int64_t n = (int64_t)lua_rawlen(L, -1);
    if (n != walk->spec->dim[depth]) fail_length(L, walk, depth, n);
    check_keys(L, n, row);
    for (int64_t i = 1; i <= n; i++) {
        walk->at[depth] = i;
        lua_rawgeti(L, -1, i);
        walk_table(L, walk, depth + 1);
        lua_pop(L, 1);
    }
}

/* lab.tensor(number or nested table, opts) */
static int lab_tensor(lua_State *L)
{
    const char *op = "tensor";
    tensor_plan plan;
    lsl_no_more(L, 2, op);
    lua_settop(L, 2);
    memset(&plan, 0, sizeof plan);
    if (!lua_istable(L, 1) && lua_type(L, 1) != LUA_TNUMBER)
        lsl_type_error(L, 1, "values", "a number or a nested table of numbers", op);
    read_options(L, 2, false, &plan, op);
    measure_table(L, &plan.spec);
    int64_t n = 1;
    for (int i = 0; i < plan.spec.ndim; i++)
        if (__builtin_mul_overflow(n, plan.spec.dim[i], &n))
            lsl_fail(L, SL_ESHAPE, op, "the table has too many elements");
    table_walk walk = { .spec = &plan.spec };
    double *values = walk.next = lsl_scratch(L, (size_t)n, sizeof(double), op);
    luaL_checkstack(L, SL_MAX_DIMS + 8, NULL);
    lua_pushvalue(L, 1);
    walk_table(L, &walk, 0);
    lua_pop(L, 1);
    sl_tensor *tensor = create(L, &plan, op);
    sl_error err;
    sl_status status = sl_tensor_write(tensor, 0, n, values, stream_of(L, &plan, tensor), &err);
    lsl_check_new(L, status, &err, op);
    return 1;
}

static const luaL_Reg functions[] = {
    { "empty", lab_empty }, { "zeros", lab_zeros }, { "ones", lab_ones },     { "full", lab_full },
    { "rand", lab_rand },   { "randn", lab_randn }, { "tensor", lab_tensor }, { NULL, NULL },
};

void lsl_open_create(lua_State *L) { lsl_set_functions(L, functions); }
