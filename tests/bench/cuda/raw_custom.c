/* raw_custom.c - a kernel from a string in plain CUDA C: NVRTC, cuModuleLoadData, cuLaunchKernel.
 *
 *   c = raw.custom()         streams, buffers of 4096 floats
 *   c:compile(source)        nanoseconds of compiling it for the current device: its kernel is
 *                            extern "C" saxpy(float, const float *, float *, int)
 *   c:load()                 nanoseconds of loading what was compiled last
 *   c:batch(n)               nanoseconds that n launches held the host; then waits
 *   c:values(count)          the first floats of y
 */
#include "raw.h"

#include <cuda.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw_kernels.h"

enum { VECTOR = 4096, THREADS = 256 };

typedef struct driver_calls {
    __typeof__(cuModuleLoadData) *load;
    __typeof__(cuModuleGetFunction) *get;
    __typeof__(cuModuleUnload) *unload;
    __typeof__(cuLaunchKernel) *launch;
} driver_calls;

typedef struct custom {
    driver_calls cu;
    cudaStream_t stream;
    raw_buffers vector; /* x, y */
    char *cubin;
    CUmodule module;
    CUfunction saxpy;
} custom;

static void try_nvrtc(lua_State *L, nvrtcResult code, const char *call)
{
    if (code != NVRTC_SUCCESS) luaL_error(L, "%s: %s", call, nvrtcGetErrorString(code));
}

/* The driver's codes have the numbers of the run-time's. */
static void try_driver(lua_State *L, CUresult code, const char *call)
{
    if (code != CUDA_SUCCESS) raw_fail_cuda(L, (cudaError_t)code, call);
}

static void find(lua_State *L, const char *name, void *function)
{
    enum cudaDriverEntryPointQueryResult found;
    void *symbol = NULL;

#if CUDART_VERSION >= 12050
    TRY_CUDA(L, cudaGetDriverEntryPointByVersion(name, &symbol, 12000, cudaEnableDefault, &found));
#else
    TRY_CUDA(L, cudaGetDriverEntryPoint(name, &symbol, cudaEnableDefault, &found));
#endif
    if (!symbol) luaL_error(L, "the driver has no %s", name);
    memcpy(function, &symbol, sizeof symbol);
}

static custom *check_self(lua_State *L)
{
    custom *c = luaL_checkudata(L, 1, "raw.custom");
    luaL_argcheck(L, c->stream, 1, "closed");
    return c;
}

static void take_cubin(lua_State *L, custom *c, nvrtcProgram program)
{
    size_t bytes;

    try_nvrtc(L, nvrtcGetCUBINSize(program, &bytes), "nvrtcGetCUBINSize");
    free(c->cubin);
    c->cubin = malloc(bytes);
    if (!c->cubin) luaL_error(L, "out of memory");
    try_nvrtc(L, nvrtcGetCUBIN(program, c->cubin), "nvrtcGetCUBIN");
}

static int custom_compile(lua_State *L)
{
    custom *c = check_self(L);
    const char *source = luaL_checkstring(L, 2);
    struct cudaDeviceProp prop;
    char arch[40];
    const char *const options[] = { arch, "--std=c++17" };
    nvrtcProgram program;
    int device;

    TRY_CUDA(L, cudaGetDevice(&device));
    TRY_CUDA(L, cudaGetDeviceProperties(&prop, device));
    snprintf(arch, sizeof arch, "--gpu-architecture=sm_%d%d", prop.major, prop.minor);
    int64_t began_ns = raw_now_ns();
    try_nvrtc(L, nvrtcCreateProgram(&program, source, "saxpy.cu", 0, NULL, NULL),
              "nvrtcCreateProgram");
    try_nvrtc(L, nvrtcCompileProgram(program, 2, options), "nvrtcCompileProgram");
    take_cubin(L, c, program);
    nvrtcDestroyProgram(&program);
    lua_pushinteger(L, raw_now_ns() - began_ns);
    return 1;
}

static int custom_load(lua_State *L)
{
    custom *c = check_self(L);

    luaL_argcheck(L, c->cubin, 1, "nothing was compiled");
    TRY_CUDA(L, cudaDeviceSynchronize());
    if (c->module) try_driver(L, c->cu.unload(c->module), "cuModuleUnload");
    c->module = NULL;
    int64_t began_ns = raw_now_ns();
    try_driver(L, c->cu.load(&c->module, c->cubin), "cuModuleLoadData");
    try_driver(L, c->cu.get(&c->saxpy, c->module, "saxpy"), "cuModuleGetFunction");
    lua_pushinteger(L, raw_now_ns() - began_ns);
    return 1;
}

static int custom_batch(lua_State *L)
{
    custom *c = check_self(L);
    lua_Integer n = luaL_checkinteger(L, 2);
    float a = 0.5f;
    int count = VECTOR;
    void *args[] = { &a, &c->vector.data[0], &c->vector.data[1], &count };

    luaL_argcheck(L, c->module, 1, "nothing was loaded");
    int64_t began_ns = raw_now_ns();
    for (lua_Integer i = 0; i < n; i++)
        try_driver(
            L,
            c->cu.launch(c->saxpy, VECTOR / THREADS, 1, 1, THREADS, 1, 1, 0, c->stream, args, NULL),
            "cuLaunchKernel");
    int64_t held_ns = raw_now_ns() - began_ns;
    TRY_CUDA(L, cudaDeviceSynchronize());
    lua_pushinteger(L, held_ns);
    return 1;
}

static int custom_values(lua_State *L)
{
    custom *c = check_self(L);
    return raw_push_values(L, c->vector.data[1], (size_t)luaL_checkinteger(L, 2));
}

static int custom_close(lua_State *L)
{
    custom *c = luaL_checkudata(L, 1, "raw.custom");

    (void)cudaDeviceSynchronize();
    if (c->module) (void)c->cu.unload(c->module);
    if (c->stream) (void)cudaStreamDestroy(c->stream);
    raw_buffers_close(&c->vector);
    free(c->cubin);
    *c = (custom){ 0 };
    return 0;
}

/* Seed 1 is x, 2 is y. */
int raw_custom(lua_State *L)
{
    static const luaL_Reg methods[] = {
        { "compile", custom_compile }, { "load", custom_load }, { "batch", custom_batch },
        { "values", custom_values },   { NULL, NULL },
    };
    custom *c = raw_new_object(L, sizeof *c, "raw.custom", methods, custom_close);

    find(L, "cuModuleLoadData", &c->cu.load);
    find(L, "cuModuleGetFunction", &c->cu.get);
    find(L, "cuModuleUnload", &c->cu.unload);
    find(L, "cuLaunchKernel", &c->cu.launch);
    TRY_CUDA(L, cudaStreamCreate(&c->stream));
    raw_buffers_open(L, &c->vector, 2, VECTOR, RAW_DEVICE, 1);
    return 1;
}
