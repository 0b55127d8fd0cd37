/* l_cuda.c - lab.cuda: host API calls of CUDA in snake_case, for probes. Memory comes as a
 * uint8 tensor. Where a call takes a stream, it is the last argument, as {stream = s} or as the
 * stream itself; without one it is the current stream. Calls that allocate return nil, a message
 * and the code if memory is short, so that scripts can find out what fits. Everything else that
 * fails raises. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

#include <stdio.h>

static int64_t check_bytes(lua_State *L, int arg, const char *op)
{
    const int64_t most = SIZE_MAX < INT64_MAX ? (int64_t)SIZE_MAX : INT64_MAX;
    return lsl_check_integer(L, arg, "bytes", 0, most, op);
}

/* The byte count in front of the stream may be missing: puts a nil in its place. */
static void insert_bytes(lua_State *L, int arg)
{
    if (!lua_istable(L, arg) && !lsl_to(L, arg, LSL_STREAM)) return;
    lua_pushnil(L);
    lua_insert(L, arg);
}

/* The optional byte count at `arg`: by default all of `memory`. */
static size_t opt_bytes(lua_State *L, int arg, sl_tensor *memory, const char *op)
{
    if (lua_isnoneornil(L, arg)) return sl_tensor_bytes(memory);
    return (size_t)check_bytes(L, arg, op);
}

static sl_stream *opt_stream(lua_State *L, int arg, sl_device *device, const char *op)
{
    sl_stream *stream = lsl_stream_option(L, arg, op);
    lsl_no_more(L, arg, op);
    return stream ? stream : lsl_current_stream(L, device);
}

/* ---- memory ------------------------------------------------------------------------- */

/* The result of an allocation, for the box on top of the stack. */
static int finish_malloc(lua_State *L, lsl_box *box, sl_tensor *memory, sl_status status,
                         const sl_error *err, const char *op)
{
    if (status == SL_ENOMEM) return lsl_push_failure(L, status, err);
    lsl_check(L, status, err, op);
    box->p = memory;
    return 1;
}

typedef sl_status (*malloc_fn)(sl_device *, size_t, sl_tensor **, sl_error *);

static int plain_malloc(lua_State *L, malloc_fn fn, const char *op)
{
    size_t n_bytes = (size_t)check_bytes(L, 1, op);
    lsl_no_more(L, 1, op);
    sl_device *device = lsl_device(L, op);
    lsl_box *box = lsl_new_box(L, LSL_TENSOR);
    sl_tensor *memory = NULL;
    sl_error err;
    lsl_mark(L, device);
    sl_status status = fn(device, n_bytes, &memory, &err);
    return finish_malloc(L, box, memory, status, &err, op);
}

static int cuda_malloc(lua_State *L) { return plain_malloc(L, sl_cuda_malloc, "cuda.malloc"); }

static int cuda_malloc_host(lua_State *L)
{
    return plain_malloc(L, sl_cuda_malloc_host, "cuda.malloc_host");
}

static int cuda_malloc_async(lua_State *L)
{
    const char *op = "cuda.malloc_async";
    size_t n_bytes = (size_t)check_bytes(L, 1, op);
    sl_stream *stream = opt_stream(L, 2, lsl_device(L, op), op);
    lsl_box *box = lsl_new_box(L, LSL_TENSOR);
    sl_tensor *memory = NULL;
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    sl_stream_retain(stream); /* memory pressure may run finalizers of the user's */
    sl_status status = sl_cuda_malloc_async(stream, n_bytes, &memory, &err);
    sl_stream_release(stream);
    return finish_malloc(L, box, memory, status, &err, op);
}

typedef sl_status (*memory_fn)(sl_tensor *, sl_error *);

static int on_memory(lua_State *L, memory_fn fn, const char *op)
{
    sl_tensor *memory = lsl_check_tensor(L, 1, "memory", op);
    lsl_no_more(L, 1, op);
    sl_error err;
    lsl_mark(L, sl_tensor_device(memory));
    lsl_check(L, fn(memory, &err), &err, op);
    return 0;
}

static int cuda_free(lua_State *L) { return on_memory(L, sl_cuda_free, "cuda.free"); }

static int cuda_free_host(lua_State *L)
{
    return on_memory(L, sl_cuda_free_host, "cuda.free_host");
}

static int cuda_host_register(lua_State *L)
{
    return on_memory(L, sl_tensor_pin, "cuda.host_register");
}

static int cuda_host_unregister(lua_State *L)
{
    return on_memory(L, sl_tensor_unpin, "cuda.host_unregister");
}

static int cuda_free_async(lua_State *L)
{
    const char *op = "cuda.free_async";
    sl_tensor *memory = lsl_check_tensor(L, 1, "memory", op);
    sl_stream *stream = opt_stream(L, 2, sl_tensor_device(memory), op);
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_cuda_free_async(memory, stream, &err), &err, op);
    return 0;
}

/* ---- memset and memcpy ------------------------------------------------------------------ */

static int set_memory(lua_State *L, bool async, const char *op)
{
    sl_tensor *memory = lsl_check_tensor(L, 1, "memory", op);
    int value = (int)lsl_check_integer(L, 2, "value", 0, 255, op);
    sl_stream *stream = NULL;
    sl_error err;
    if (async) insert_bytes(L, 3);
    size_t n_bytes = opt_bytes(L, 3, memory, op);
    if (async) stream = opt_stream(L, 4, sl_tensor_device(memory), op);
    lsl_no_more(L, async ? 4 : 3, op);
    lsl_mark(L, async ? sl_stream_device(stream) : sl_tensor_device(memory));
    lsl_check(L,
              async ? sl_cuda_memset_async(memory, value, n_bytes, stream, &err)
                    : sl_cuda_memset(memory, value, n_bytes, &err),
              &err, op);
    return 0;
}

static int cuda_memset(lua_State *L) { return set_memory(L, false, "cuda.memset"); }
static int cuda_memset_async(lua_State *L) { return set_memory(L, true, "cuda.memset_async"); }

/* By default as many bytes as the source has. */
static int copy_memory(lua_State *L, bool async, const char *op)
{
    sl_tensor *dst = lsl_check_tensor(L, 1, "dst", op), *src = lsl_check_tensor(L, 2, "src", op);
    sl_stream *stream = NULL;
    sl_error err;
    if (async) insert_bytes(L, 3);
    size_t n_bytes = opt_bytes(L, 3, src, op);
    sl_device *device = sl_stream_device(lsl_copy_stream(L, dst, src));
    if (async) stream = opt_stream(L, 4, device, op);
    lsl_no_more(L, async ? 4 : 3, op);
    lsl_mark(L, async ? sl_stream_device(stream) : device);
    lsl_check(L,
              async ? sl_cuda_memcpy_async(dst, src, n_bytes, stream, &err)
                    : sl_cuda_memcpy(dst, src, n_bytes, &err),
              &err, op);
    return 0;
}

static int cuda_memcpy(lua_State *L) { return copy_memory(L, false, "cuda.memcpy"); }
static int cuda_memcpy_async(lua_State *L) { return copy_memory(L, true, "cuda.memcpy_async"); }

/* ---- calls that only cost the host time ----------------------------------------------------- */

static int plain_call(lua_State *L, const char *cuda_name, const char *op)
{
    lsl_no_more(L, 0, op);
    sl_device *device = lsl_device(L, op);
    sl_error err;
    lsl_mark(L, device);
    lsl_check(L, sl_cuda_call(device, cuda_name, &err), &err, op);
    return 0;
}

static int cuda_func_set_cache_config(lua_State *L)
{
    return plain_call(L, "cudaFuncSetCacheConfig", "cuda.func_set_cache_config");
}

static int cuda_device_set_limit(lua_State *L)
{
    return plain_call(L, "cudaDeviceSetLimit", "cuda.device_set_limit");
}

static int cuda_cublas_create(lua_State *L)
{
    return plain_call(L, "cublasCreate", "cuda.cublas_create");
}

static int cuda_cublas_destroy(lua_State *L)
{
    return plain_call(L, "cublasDestroy", "cuda.cublas_destroy");
}

/* ---- questions and several GPUs ------------------------------------------------------------- */

/* free, total */
static int cuda_mem_get_info(lua_State *L)
{
    const char *op = "cuda.mem_get_info";
    lsl_no_more(L, 0, op);
    sl_device *device = lsl_device(L, op);
    int64_t free_bytes, total_bytes;
    sl_error err;
    lsl_mark(L, device);
    lsl_check(L, sl_cuda_mem_get_info(device, &free_bytes, &total_bytes, &err), &err, op);
    lua_pushinteger(L, (lua_Integer)free_bytes);
    lua_pushinteger(L, (lua_Integer)total_bytes);
    return 2;
}

static int cuda_device_can_access_peer(lua_State *L)
{
    const char *op = "cuda.device_can_access_peer";
    sl_device *device = lsl_check_device(L, 1, "device", op);
    sl_device *peer = lsl_check_device(L, 2, "peer", op);
    lsl_no_more(L, 2, op);
    bool can;
    sl_error err;
    lsl_mark(L, device);
    lsl_check(L, sl_cuda_device_can_access_peer(device, peer, &can, &err), &err, op);
    lua_pushboolean(L, can);
    return 1;
}

/* As in CUDA it is the current device that is given access to the peer, or loses it. */
typedef sl_status (*peer_fn)(sl_device *, sl_device *, sl_error *);

static int change_peer_access(lua_State *L, peer_fn fn, const char *op)
{
    sl_device *peer = lsl_check_device(L, 1, "peer", op), *device = NULL;
    const lsl_option options[] = { { "device", LSL_OPT_DEVICE, &device } };
    lsl_options(L, 2, options, LSL_COUNT(options), op);
    lsl_no_more(L, 2, op);
    if (!device) device = lsl_device(L, op);
    sl_error err;
    lsl_mark(L, device);
    lsl_check(L, fn(device, peer, &err), &err, op);
    return 0;
}

static int cuda_device_enable_peer_access(lua_State *L)
{
    return change_peer_access(L, sl_cuda_device_enable_peer_access,
                              "cuda.device_enable_peer_access");
}

static int cuda_device_disable_peer_access(lua_State *L)
{
    return change_peer_access(L, sl_cuda_device_disable_peer_access,
                              "cuda.device_disable_peer_access");
}

/* lab.cuda.trap({stream =}): a kernel that faults, on purpose. */
static int cuda_trap(lua_State *L)
{
    const char *op = "cuda.trap";
    sl_stream *stream = opt_stream(L, 1, lsl_device(L, op), op);
    sl_error err;
    lsl_mark(L, sl_stream_device(stream));
    lsl_check(L, sl_trap(stream, &err), &err, op);
    return 0;
}

static const luaL_Reg functions[] = {
    { "malloc", cuda_malloc },
    { "free", cuda_free },
    { "malloc_host", cuda_malloc_host },
    { "free_host", cuda_free_host },
    { "malloc_async", cuda_malloc_async },
    { "free_async", cuda_free_async },
    { "host_register", cuda_host_register },
    { "host_unregister", cuda_host_unregister },
    { "memset", cuda_memset },
    { "memset_async", cuda_memset_async },
    { "memcpy", cuda_memcpy },
    { "memcpy_async", cuda_memcpy_async },
    { "func_set_cache_config", cuda_func_set_cache_config },
    { "device_set_limit", cuda_device_set_limit },
    { "cublas_create", cuda_cublas_create },
    { "cublas_destroy", cuda_cublas_destroy },
    { "mem_get_info", cuda_mem_get_info },
    { "device_can_access_peer", cuda_device_can_access_peer },
    { "device_enable_peer_access", cuda_device_enable_peer_access },
    { "device_disable_peer_access", cuda_device_disable_peer_access },
    { "trap", cuda_trap },
    { NULL, NULL },
};

void lsl_open_cuda(lua_State *L)
{
    lua_newtable(L);
    lsl_get(L)->cuda = lua_topointer(L, -1);
    lsl_set_functions(L, functions);
    lua_setfield(L, -2, "cuda");
}
