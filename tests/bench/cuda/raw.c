/* raw.c - the module itself, and what its objects share. See raw.h. */
#include "raw.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "raw_kernels.h"

int luaopen_raw(lua_State *L);

int raw_fail_cuda(lua_State *L, cudaError_t code, const char *call)
{
    return luaL_error(L, "%s: %s (%s)", call, cudaGetErrorString(code), cudaGetErrorName(code));
}

int raw_fail_blas(lua_State *L, cublasStatus_t status, const char *call)
{
    return luaL_error(L, "%s: %s", call, cublasGetStatusString(status));
}

int64_t raw_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

cublasStatus_t raw_sgemm(cublasHandle_t blas, int n, const float *a, const float *b, float *c)
{
    const float one = 1, zero = 0;
    return cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, n, a, n, &zero, c, n);
}

/* ---- buffers ---------------------------------------------------------------- */

static void fill_on_host(float *data, size_t elems, uint32_t seed)
{
    for (size_t i = 0; i < elems; i++)
        data[i] = raw_pattern((uint32_t)i, seed);
}

static void open_one(lua_State *L, float **data, size_t elems, raw_place place, uint32_t seed)
{
    void *memory = NULL;
    size_t bytes = elems * sizeof **data;

    if (place == RAW_DEVICE)
        TRY_CUDA(L, cudaMalloc(&memory, bytes));
    else if (place == RAW_PINNED)
        TRY_CUDA(L, cudaMallocHost(&memory, bytes));
    else if (!(memory = malloc(bytes)))
        luaL_error(L, "malloc: no memory for %I bytes", (lua_Integer)bytes);
    *data = memory;
    if (place == RAW_DEVICE)
        TRY_CUDA(L, raw_launch_pattern(memory, elems, seed, NULL));
    else
        fill_on_host(memory, elems, seed);
}

void raw_buffers_open(lua_State *L, raw_buffers *buffers, int count, size_t elems, raw_place place,
                      uint32_t seed)
{
    buffers->place = place;
    buffers->data = calloc((size_t)count, sizeof *buffers->data);
    if (!buffers->data) luaL_error(L, "calloc: no memory for %d pointers", count);
    buffers->count = count;
    for (int i = 0; i < count; i++)
        open_one(L, &buffers->data[i], elems, place, seed + (uint32_t)i);
    TRY_CUDA(L, cudaDeviceSynchronize());
}

void raw_buffers_close(raw_buffers *buffers)
{
    for (int i = 0; i < buffers->count; i++) {
        if (!buffers->data[i]) continue;
        if (buffers->place == RAW_DEVICE)
            (void)cudaFree(buffers->data[i]);
        else if (buffers->place == RAW_PINNED)
            (void)cudaFreeHost(buffers->data[i]);
        else
            free(buffers->data[i]);
    }
    free(buffers->data);
    memset(buffers, 0, sizeof *buffers);
}

int raw_push_values(lua_State *L, const float *data, size_t count)
{
    float *values = lua_newuserdatauv(L, count * sizeof *values, 0);

    TRY_CUDA(L, cudaDeviceSynchronize());
    TRY_CUDA(L, cudaMemcpy(values, data, count * sizeof *values, cudaMemcpyDefault));
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushnumber(L, values[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

void *raw_new_object(lua_State *L, size_t bytes, const char *name, const luaL_Reg *methods,
                     lua_CFunction close)
{
    void *object = lua_newuserdatauv(L, bytes, 0);

    memset(object, 0, bytes);
    if (luaL_newmetatable(L, name)) {
        luaL_setfuncs(L, methods, 0);
        lua_pushcfunction(L, close);
        lua_setfield(L, -2, "close");
        lua_pushcfunction(L, close);
        lua_setfield(L, -2, "__gc");
        lua_pushvalue(L, -1);
        lua_setfield(L, -2, "__index");
    }
    lua_setmetatable(L, -2);
    return object;
}

/* ---- functions -------------------------------------------------------------- */

static void set_version(lua_State *L, const char *field, long major, long minor)
{
    lua_pushfstring(L, "%d.%d", (int)major, (int)minor);
    lua_setfield(L, -2, field);
}

/* raw.open(index): makes the GPU the thread's, creates its context if there is none yet,
 * and gives {name =, driver_cuda =, cuda =, cublas =}. */
static int raw_open(lua_State *L)
{
    int index = (int)luaL_checkinteger(L, 1), driver = 0, runtime = 0;
    long cublas = (long)cublasLtGetVersion();
    struct cudaDeviceProp properties;

    TRY_CUDA(L, cudaSetDevice(index));
    TRY_CUDA(L, cudaFree(NULL));
    TRY_CUDA(L, cudaGetDeviceProperties(&properties, index));
    TRY_CUDA(L, cudaDriverGetVersion(&driver));
    TRY_CUDA(L, cudaRuntimeGetVersion(&runtime));
    lua_newtable(L);
    lua_pushstring(L, properties.name);
    lua_setfield(L, -2, "name");
    set_version(L, "driver_cuda", driver / 1000, driver % 1000 / 10);
    set_version(L, "cuda", runtime / 1000, runtime % 1000 / 10);
    set_version(L, "cublas", cublas / 10000, cublas % 10000 / 100);
    return 1;
}

static int raw_now(lua_State *L)
{
    lua_pushinteger(L, raw_now_ns());
    return 1;
}

int luaopen_raw(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "open", raw_open },     { "now_ns", raw_now },      { "enqueue", raw_enqueue },
        { "custom", raw_custom }, { "puzzler", raw_puzzler }, { "pipeline", raw_pipeline },
        { "copier", raw_copier }, { "matmul", raw_matmul },   { "threads", raw_threads },
        { NULL, NULL },
    };

    luaL_newlib(L, functions);
    return 1;
}
