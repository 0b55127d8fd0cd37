/* raw.h - the Lua module `raw`, the plain CUDA C side of bench-cuda, inside: what its
 * files share.
 *
 *   raw.c           the module: opening the GPU, the clock, buffers, errors
 *   raw_enqueue.c   raw.enqueue(): what single calls cost the host
 *   raw_custom.c    raw.custom(): a kernel from a string
 *   raw_puzzler.c   raw.puzzler(n, matmuls, copies): the puzzler
 *   raw_pipeline.c  raw.pipeline(n, items): H2D, matmul, D2H; raw.copier(elems): copy kernels
 *   raw_matmul.c    raw.matmul(n): products by cublasSgemm
 *   raw_threads.c   raw.threads(n): launches from n threads
 *   raw_kernels.cu  its own kernels
 *
 * It runs in the process of the program that it is compared with, on the same CUDA
 * context, in streams and on buffers of its own. The loops are in C and contain what a
 * careful C programmer would write: the calls and a look at what each returned.
 */
#ifndef RAW_H
#define RAW_H

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <lauxlib.h>
#include <lua.h>
#include <stddef.h>
#include <stdint.h>

/* Raise a Lua error with the call's text and CUDA's, unless it has succeeded. */
#define TRY_CUDA(L, call)                                         \
    do {                                                          \
        cudaError_t code_ = (call);                               \
        if (code_ != cudaSuccess) raw_fail_cuda(L, code_, #call); \
    } while (0)
#define TRY_BLAS(L, call)                                                       \
    do {                                                                        \
        cublasStatus_t status_ = (call);                                        \
        if (status_ != CUBLAS_STATUS_SUCCESS) raw_fail_blas(L, status_, #call); \
    } while (0)

int raw_fail_cuda(lua_State *L, cudaError_t code, const char *call);
int raw_fail_blas(lua_State *L, cublasStatus_t status, const char *call);

int64_t raw_now_ns(void); /* CLOCK_MONOTONIC */

typedef enum raw_place { RAW_DEVICE, RAW_PINNED, RAW_PAGEABLE } raw_place;

typedef struct raw_buffers { /* zeroed: none */
    float **data;
    int count;
    raw_place place;
} raw_buffers;

/* `count` buffers of `elems` floats, the i-th (from 0) filled with the pattern seed + i and
 * so touched. Raises; what was allocated until then is for raw_buffers_close. */
void raw_buffers_open(lua_State *L, raw_buffers *buffers, int count, size_t elems, raw_place place,
                      uint32_t seed);
/* Frees them; nothing may be using them. They are none afterwards. */
void raw_buffers_close(raw_buffers *buffers);

/* Pushes a list of the first `count` floats at `data`, on the host or the GPU. Waits for
 * the GPU. */
int raw_push_values(lua_State *L, const float *data, size_t count);

/* Pushes a zeroed userdata with the metatable `name`, which is made with these methods if
 * there is none yet. `close` is a method and __gc, and so must bear a second call. */
void *raw_new_object(lua_State *L, size_t bytes, const char *name, const luaL_Reg *methods,
                     lua_CFunction close);

/* c[n,n] = a b in row-major order: to cuBLAS, which counts by columns, the product of the
 * transposed in reverse order. */
cublasStatus_t raw_sgemm(cublasHandle_t blas, int n, const float *a, const float *b, float *c);

int raw_enqueue(lua_State *L);
int raw_custom(lua_State *L);
int raw_puzzler(lua_State *L);
int raw_pipeline(lua_State *L);
int raw_copier(lua_State *L);
int raw_matmul(lua_State *L);
int raw_threads(lua_State *L);

#endif
