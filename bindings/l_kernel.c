/* l_kernel.c - custom kernels: what they are, and launching them by a call, k(grid, block, ...).
 * bindings/kernels.lua reads the table of lab.kernel. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

#include <stdlib.h>
#include <string.h>

static sl_custom *check_self(lua_State *L, const char *op)
{
    return lsl_check_box(L, 1, LSL_KERNEL, "self", op);
}

/* ---- launching ---------------------------------------------------------------------- */

static bool read_list(lua_State *L, int arg, int64_t size[3])
{
    int is_whole;
    if (!lua_istable(L, arg)) return false;
    size_t n = lua_rawlen(L, arg);
    if (n < 1 || n > 3) return false;
    for (size_t i = 0; i < n; i++) {
        bool is_number = lua_rawgeti(L, arg, (lua_Integer)i + 1) == LUA_TNUMBER;
        if (is_number) size[i] = lua_tointegerx(L, -1, &is_whole);
        lua_pop(L, 1);
        if (!is_number || !is_whole) return false;
    }
    return true;
}

/* A number, or a list of one to three. */
LSL_COLD static void check_odd_size(lua_State *L, int arg, const char *name, int64_t size[3],
                                    const char *op)
{
    int is_whole;
    if (lua_type(L, arg) == LUA_TNUMBER) {
        size[0] = lua_tointegerx(L, arg, &is_whole);
        if (is_whole) return;
    } else if (read_list(L, arg, size)) {
        return;
    }
    const char *got = lua_type(L, arg) == LUA_TNUMBER ? lua_tostring(L, arg)
                                                      : lsl_type_name(L, arg);
    lsl_fail(L, SL_EINVAL, op,
             "argument %d (%s) must be a whole number or a list of up to three, { x, y, z }, "
             "got %s",
             arg - 1, name, got); /* "self" is not counted */
}

static inline void check_size(lua_State *L, int arg, const char *name, int64_t size[3],
                              const char *op)
{
    size[0] = size[1] = size[2] = 1;
    if (!lsl_read_integer(L, arg, &size[0])) check_odd_size(L, arg, name, size, op);
}

/* For options that lsl_quick_options does not read. */
LSL_COLD static void read_odd_options(lua_State *L, sl_custom_launch *launch, sl_stream **stream,
                                      const char *op)
{
    int cooperative = 0;
    const lsl_option options[] = {
        { "shared", LSL_OPT_INTEGER, &launch->shared_bytes },
        { "stream", LSL_OPT_STREAM, stream },
        { "cooperative", LSL_OPT_BOOL, &cooperative },
    };
    lsl_options(L, 4, options, LSL_COUNT(options), op);
    launch->cooperative = cooperative;
}

/* Those of the table at argument 4, if it is one; gives where the kernel's arguments begin. */
static int read_options(lua_State *L, sl_custom_launch *launch, sl_stream **stream, const char *op)
{
    const lsl_quick_whole shared = { LSL_QUICK_SHARED, 0, &launch->shared_bytes };
    lsl_quick given = { .flag = LSL_QUICK_NAMES, .whole = &shared, .n_whole = 1 };
    if (!lsl_is_table(L, 4)) return 4;
    if (lsl_quick_options(L, 4, &given))
        *stream = given.stream;
    else
        read_odd_options(L, launch, stream, op);
    return 5;
}

/* "in f32*" */
typedef struct declared {
    char text[24];
} declared;

static declared declared_of(const sl_arg *arg)
{
    static const char *const access[] = { "", "in ", "out ", "inout " };
    declared d;
    snprintf(d.text, sizeof d.text, "%s%s%s", access[arg->access & (SL_READS | SL_WRITES)],
             sl_arg_type_name((sl_arg_type)arg->type), arg->access ? "*" : "");
    return d;
}

LSL_COLD static void refuse_arg(lua_State *L, const sl_custom *kernel, int first, int i,
                                const char *op)
{
    const lsl_box *box = lsl_to(L, first + i, LSL_TENSOR);
    declared d = declared_of(&sl_custom_args(kernel)[i]);
    if (box) lsl_fail(L, SL_ECLOSED, op, "argument %d (%s): the tensor was freed", i + 1, d.text);
    lsl_fail(L, SL_EINVAL, op, "argument %d (%s) must be a %s, got %s", i + 1, d.text,
             sl_custom_args(kernel)[i].access ? "tensor" : "number", lsl_type_name(L, first + i));
}

static void read_arg(lua_State *L, const sl_custom *kernel, int first, int i, sl_custom_arg *arg,
                     const char *op)
{
    const int at = first + i;
    if (lua_type(L, at) == LUA_TNUMBER) {
        arg->is_integer = lua_isinteger(L, at);
        arg->integer = lua_tointeger(L, at);
        arg->number = lua_tonumber(L, at);
        return;
    }
    const lsl_box *box = lsl_to(L, at, LSL_TENSOR);
    if (!box || !lsl_is_open(box) || sl_tensor_is_freed(box->p))
        refuse_arg(L, kernel, first, i, op);
    arg->tensor = box->p;
}

/* The same as Lua lays it out; false: it is something else, or wrong. */
static inline bool read_raw_arg(const lsl_raw_value *value, sl_custom_arg *arg)
{
    if (value->tag == LSL_TAG_INTEGER) {
        arg->is_integer = true;
        arg->integer = value->value.i;
        return true;
    }
    if (value->tag == LSL_TAG_NUMBER) {
        arg->number = value->value.n;
        return true;
    }
    const lsl_box *box = lsl_raw_box(value->tag, value->value, LSL_TENSOR);
    if (!box || sl_tensor_is_freed(box->p)) return false;
    arg->tensor = box->p;
    return true;
}

static int read_args(lua_State *L, const sl_custom *kernel, int first,
                     sl_custom_arg args[SL_MOST_ARGS], const char *op)
{
    int n = lsl_top(L) - first + 1, declared_n = (int)sl_custom_arg_count(kernel);
    if (n < 0) n = 0;
    if (n != declared_n)
        lsl_fail(L, SL_EINVAL, op, "%d argument%s behind grid and block: the kernel has %d", n,
                 n == 1 ? "" : "s", declared_n);
    const lsl_raw_value *raw = lsl_layout_fits ? lsl_raw_argument(L, first) : NULL;
    for (int i = 0; i < n; i++) {
        args[i] = (sl_custom_arg){ .tensor = NULL };
        if (!raw || !read_raw_arg(raw + i, &args[i])) read_arg(L, kernel, first, i, &args[i], op);
    }
    return n;
}

/* Calls the function of bindings/kernels.lua that the kernel has if something tells how long its
 * launches take: f(grid, block, shared, args...) gives us, bytes, flops, cold_us; nil: not
 * known. */
static void find_cost(lua_State *L, int first, int n, sl_custom_launch *launch)
{
    if (lua_getiuservalue(L, 1, 1) != LUA_TFUNCTION) {
        lua_pop(L, 1);
        return;
    }
    luaL_checkstack(L, n + 4, NULL);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 3);
    lua_pushinteger(L, launch->shared_bytes);
    for (int i = 0; i < n; i++)
        lua_pushvalue(L, first + i);
    lua_call(L, 3 + n, 4);
    double *const to[] = { &launch->us, &launch->bytes, &launch->flops, &launch->cold_us };
    for (int i = 0; i < 4; i++)
        if (lua_type(L, -4 + i) == LUA_TNUMBER) *to[i] = lua_tonumber(L, -4 + i);
    lua_pop(L, 4);
}

/* For `streamlab calibrate --kernels`: calls the function with the kernel and what it is called
 * with. */
LSL_COLD static void watch(lua_State *L)
{
    const int n = lua_gettop(L);
    luaL_checkstack(L, n + 4, NULL);
    lua_rawgeti(L, LUA_REGISTRYINDEX, lsl_get(L)->watch_ref);
    for (int i = 1; i <= n; i++)
        lua_pushvalue(L, i);
    lua_call(L, n, 0);
}

/* k(grid, block, {shared =, stream =, cooperative =}, ...) */
static int kernel_call(lua_State *L)
{
    sl_custom *kernel = check_self(L, "kernel");
    const char *op = sl_custom_name(kernel);
    sl_device *device = sl_custom_device(kernel);
    sl_custom_launch launch = { .us = -1, .bytes = -1, .flops = -1, .cold_us = -1 };
    sl_custom_arg args[SL_MOST_ARGS];
    sl_stream *stream = NULL;
    sl_error err;
    check_size(L, 2, "grid", launch.grid, op);
    check_size(L, 3, "block", launch.block, op);
    const int first = read_options(L, &launch, &stream, op);
    const int n = read_args(L, kernel, first, args, op);
    if (sl_device_get_info(device)->simulated) find_cost(L, first, n, &launch);
    if (lsl_get(L)->watch_ref) watch(L);
    if (!stream) stream = lsl_current_stream(L, device);
    lsl_mark(L, device);
    lsl_check(L, sl_custom_launch_in(kernel, &launch, args, (size_t)n, stream, &err), &err, op);
    return 0;
}

/* ---- what it is ----------------------------------------------------------------------- */

static int64_t threads_of(lua_State *L, int arg, const char *op)
{
    int64_t size[3], threads = 1;
    check_size(L, arg + 1, "block", size, op);
    for (int i = 0; i < 3; i++) {
        if (size[i] < 1 || size[i] > 65536)
            lsl_fail(L, SL_EINVAL, op, "a block cannot have %lld threads in one direction",
                     (long long)size[i]);
        threads *= size[i];
    }
    return threads < INT32_MAX ? threads : INT32_MAX;
}

/* k:occupancy(block, {shared =}): blocks that an SM holds at a time. */
static int kernel_occupancy(lua_State *L)
{
    sl_custom *kernel = check_self(L, "occupancy");
    int64_t shared_bytes = 0;
    const lsl_option options[] = { { "shared", LSL_OPT_INTEGER, &shared_bytes } };
    int blocks = 0;
    sl_error err;
    lsl_no_more(L, 3, "occupancy");
    const int64_t threads = threads_of(L, 1, "occupancy");
    lsl_options(L, 3, options, LSL_COUNT(options), "occupancy");
    lsl_check(L, sl_custom_occupancy(kernel, (int)threads, shared_bytes, &blocks, &err), &err,
              "occupancy");
    lua_pushinteger(L, blocks);
    return 1;
}

static void push_known(lua_State *L, int64_t value, bool is_known)
{
    if (is_known)
        lua_pushinteger(L, value);
    else
        lua_pushnil(L);
}

static int get_registers(lua_State *L)
{
    const sl_custom_info *info = sl_custom_get_info(check_self(L, "registers"));
    push_known(L, info->registers, info->registers > 0);
    return 1;
}

static int get_shared_bytes(lua_State *L)
{
    const sl_custom_info *info = sl_custom_get_info(check_self(L, "shared_bytes"));
    push_known(L, info->shared_bytes, info->shared_bytes >= 0);
    return 1;
}

static int get_local_bytes(lua_State *L)
{
    const sl_custom_info *info = sl_custom_get_info(check_self(L, "local_bytes"));
    push_known(L, info->local_bytes, info->local_bytes >= 0);
    return 1;
}

/* Of one warp each. */
static int get_max_blocks_per_sm(lua_State *L)
{
    int blocks = 0;
    sl_error err;
    lsl_check(L, sl_custom_occupancy(check_self(L, "max_blocks_per_sm"), 32, 0, &blocks, &err),
              &err, "max_blocks_per_sm");
    lua_pushinteger(L, blocks);
    return 1;
}

LSL_GETTER(sl_custom, name, string, sl_custom_name(self))
LSL_GETTER(sl_custom, hash, string, sl_custom_hash(self))
LSL_GETTER(sl_custom, max_threads, integer, sl_custom_get_info(self)->max_threads)
LSL_GETTER(sl_custom, has_values, boolean, sl_custom_get_info(self)->has_values)
LSL_GETTER(sl_custom, from_cache, boolean, sl_custom_get_info(self)->from_cache)

static int get_device(lua_State *L)
{
    lsl_push_device(L, sl_custom_device(check_self(L, "device")));
    return 1;
}

/* {"f32", "in f32*"} */
static int get_args(lua_State *L)
{
    const sl_custom *kernel = check_self(L, "args");
    const int n = (int)sl_custom_arg_count(kernel);
    lua_createtable(L, n, 0);
    for (int i = 0; i < n; i++) {
        lua_pushstring(L, declared_of(&sl_custom_args(kernel)[i]).text);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* "kernel saxpy(f32, in f32*, inout f32*, i32)" */
static void push_text(lua_State *L, const lsl_box *box)
{
    if (!lsl_is_open(box)) {
        lua_pushliteral(L, "kernel (closed)");
        return;
    }
    luaL_Buffer buffer;
    const sl_custom *kernel = box->p;
    luaL_buffinit(L, &buffer);
    luaL_addstring(&buffer, "kernel ");
    luaL_addstring(&buffer, sl_custom_name(kernel));
    luaL_addstring(&buffer, "(");
    for (size_t i = 0; i < sl_custom_arg_count(kernel); i++) {
        if (i > 0) luaL_addstring(&buffer, ", ");
        luaL_addstring(&buffer, declared_of(&sl_custom_args(kernel)[i]).text);
    }
    luaL_addstring(&buffer, ")");
    luaL_pushresult(&buffer);
}

/* ---- making ---------------------------------------------------------------------------- */

enum { MOST_OPTIONS = 64 };

/* The texts of the list at `arg`, which stay in it. */
static size_t read_texts(lua_State *L, int arg, const char *texts[], size_t most, const char *what)
{
    size_t n = lua_rawlen(L, arg);
    if (n > most) lsl_fail(L, SL_EINVAL, "kernel", "%d %s: at most %d", (int)n, what, (int)most);
    for (size_t i = 0; i < n; i++) {
        lua_rawgeti(L, arg, (lua_Integer)i + 1);
        texts[i] = lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    return n;
}

/* Raises what creating reported; of SL_ECOMPILE with the compiler's messages. */
static void raise_failure(lua_State *L, sl_status status, const sl_error *err, const char *name,
                          char *log, void **owner)
{
    *owner = log; /* the collector frees it */
    if (!log) lsl_raise_error(L, status, err, "kernel");
    lua_pushfstring(L, "%s does not compile\n%s", name, log);
    lsl_raise(L, status, "kernel", lua_tostring(L, -1));
}

enum { SOURCE = 1, NAME, FILE_NAME, LINE, ARGS, OPTIONS, COMPUTE, COST };

/* new_kernel(source or nil, name, file, line, args, options, cpu or nil, cost or nil): all of them
 * checked but for what they say. */
static int internal_new_kernel(lua_State *L)
{
    const char *args[SL_MOST_ARGS + 1], *options[MOST_OPTIONS];
    sl_custom *kernel = NULL;
    char *log = NULL;
    sl_error err;
    lua_settop(L, COST);
    sl_custom_spec spec = {
        .source = lua_tostring(L, SOURCE),
        .name = lua_tostring(L, NAME),
        .file = lua_tostring(L, FILE_NAME),
        .line = (int)lua_tointeger(L, LINE),
        .args = args,
        .n_args = read_texts(L, ARGS, args, SL_MOST_ARGS, "arguments"),
        .options = options,
        .n_options = read_texts(L, OPTIONS, options, MOST_OPTIONS, "options"),
    };
    sl_device *device = lsl_device(L, "kernel");
    void **owner = lsl_new_owner(L);
    lsl_box *box = lsl_new_box(L, LSL_KERNEL);
    lua_pushvalue(L, COST);
    lua_setiuservalue(L, -2, 1);
    lsl_set_compute(L, COMPUTE, &spec);
    sl_status status = sl_custom_create(device, &spec, &kernel, &log, &err);
    if (status != SL_OK) raise_failure(L, status, &err, spec.name, log, owner);
    box->p = kernel;
    lsl_remember(L);
    return 1;
}

/* calling_chunk(): the base name of the user's chunk that calls, and its text if that can be
 * read. */
static int internal_calling_chunk(lua_State *L)
{
    char name[LSL_WHERE_TEXT];
    luaL_checkstack(L, 8, NULL);
    lua_settop(L, 0);
    if (!lsl_calling_chunk(L, name, sizeof name)) return 0;
    lsl_read_source(L);
    lua_pushstring(L, name);
    lua_insert(L, 1);
    return 2;
}

/* set_footprint(k, registers, shared_bytes) */
static int internal_set_footprint(lua_State *L)
{
    sl_custom_set_footprint(check_self(L, "kernel"), (int)luaL_checkinteger(L, 2),
                            luaL_checkinteger(L, 3));
    return 0;
}

/* set_cost(k, f): see find_cost. */
static int internal_set_cost(lua_State *L)
{
    check_self(L, "kernel");
    lua_settop(L, 2);
    lua_setiuservalue(L, 1, 1);
    return 0;
}

/* watch_launches(f): from now on f(k, grid, block, ...) is called before each launch; nil ends
 * that. */
static int internal_watch_launches(lua_State *L)
{
    lsl_state *state = lsl_get(L);
    lua_settop(L, 1);
    if (state->watch_ref) luaL_unref(L, LUA_REGISTRYINDEX, state->watch_ref);
    state->watch_ref = lua_isnil(L, 1) ? 0 : luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

static const luaL_Reg methods[] = { { "occupancy", kernel_occupancy }, { NULL, NULL } };
static const luaL_Reg getters[] = {
    { "name", get_name },
    { "args", get_args },
    { "hash", get_hash },
    { "registers", get_registers },
    { "shared_bytes", get_shared_bytes },
    { "local_bytes", get_local_bytes },
    { "max_threads", get_max_threads },
    { "max_blocks_per_sm", get_max_blocks_per_sm },
    { "has_values", get_has_values },
    { "from_cache", get_from_cache },
    { "device", get_device },
    { NULL, NULL },
};
static const lsl_class class = { push_text, NULL, methods, getters };

void lsl_open_kernel(lua_State *L)
{
    lsl_define_boxes(L, LSL_KERNEL, &class);
    lua_rawgeti(L, LUA_REGISTRYINDEX, lsl_get(L)->metatable_ref[LSL_KERNEL]);
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushcclosure(L, kernel_call, 1);
    lua_setfield(L, -2, "__call");
    lua_pop(L, 1);
}

/* ---- untrusted kernels: for course labs -------------------------------------------------- */

void lsl_serve_kernels(int fd, bool (*time_is_left)(void), bool (*compiler)(void),
                       bool (*kernel)(void));

/* The program's (repl/sandbox/kernel_server.c). */
void lsl_serve_kernels(int fd, bool (*time_is_left)(void), bool (*compiler)(void),
                       bool (*kernel)(void))
{
    const sl_custom_fences fences = { time_is_left, compiler, kernel };
    sl_custom_serve(fd, &fences);
}

/* distrust_kernels(descriptor or nil): from now on kernels are untrusted, and run in the
 * process at the other end of that socket. Gives nothing, or why it cannot run any. */
static int internal_distrust_kernels(lua_State *L)
{
    sl_error err;
    sl_custom_distrust();
    if (lua_isnoneornil(L, 1)) return 0;
    if (sl_custom_use_server((int)luaL_checkinteger(L, 1), &err) == SL_OK) return 0;
    lua_pushstring(L, err.msg);
    return 1;
}

const luaL_Reg lsl_kernel_internals[] = {
    { "new_kernel", internal_new_kernel },
    { "calling_chunk", internal_calling_chunk },
    { "set_footprint", internal_set_footprint },
    { "set_cost", internal_set_cost },
    { "watch_launches", internal_watch_launches },
    { "distrust_kernels", internal_distrust_kernels },
    { NULL, NULL },
};
