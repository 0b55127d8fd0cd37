/* raw_matmul.c - products of two matrices by cublasSgemm, timed on the GPU alone.
 *
 *   m = raw.matmul(n)       two n x n matrices, and their product
 *   m:run(launches)         nanoseconds of the GPU a product, by events around all of them
 *   m:values(count)         the first floats of the product
 *
 * A host function holds the stream until all is enqueued, so that the host's time is not in it.
 */
#include "raw.h"

#include <time.h>

typedef struct matmul {
    int n;
    cublasHandle_t blas;
    cudaStream_t stream;
    cudaEvent_t start, end;
    raw_buffers in, out; /* two, one */
} matmul;

static matmul *check_self(lua_State *L)
{
    matmul *m = luaL_checkudata(L, 1, "raw.matmul");
    luaL_argcheck(L, m->blas, 1, "closed");
    return m;
}

static void hold(void *launches)
{
    const struct timespec time = { 0, 500000 + 20000 * (long)(intptr_t)launches };
    nanosleep(&time, NULL);
}

static int matmul_run(lua_State *L)
{
    matmul *m = check_self(L);
    lua_Integer launches = luaL_checkinteger(L, 2);
    float ms;

    luaL_argcheck(L, launches >= 1 && launches <= 1000, 2, "from 1 to 1000");
    TRY_CUDA(L, cudaLaunchHostFunc(m->stream, hold, (void *)(intptr_t)launches));
    TRY_CUDA(L, cudaEventRecord(m->start, m->stream));
    for (lua_Integer i = 0; i < launches; i++)
        TRY_BLAS(L, raw_sgemm(m->blas, m->n, m->in.data[0], m->in.data[1], m->out.data[0]));
    TRY_CUDA(L, cudaEventRecord(m->end, m->stream));
    TRY_CUDA(L, cudaEventSynchronize(m->end));
    TRY_CUDA(L, cudaEventElapsedTime(&ms, m->start, m->end));
    lua_pushnumber(L, 1e6 * (double)ms / (double)launches);
    return 1;
}

static int matmul_values(lua_State *L)
{
    const matmul *m = check_self(L);
    return raw_push_values(L, m->out.data[0], (size_t)luaL_checkinteger(L, 2));
}

static int matmul_close(lua_State *L)
{
    matmul *m = luaL_checkudata(L, 1, "raw.matmul");

    (void)cudaDeviceSynchronize();
    if (m->blas) (void)cublasDestroy(m->blas);
    if (m->start) (void)cudaEventDestroy(m->start);
    if (m->end) (void)cudaEventDestroy(m->end);
    if (m->stream) (void)cudaStreamDestroy(m->stream);
    raw_buffers_close(&m->in);
    raw_buffers_close(&m->out);
    *m = (matmul){ 0 };
    return 0;
}

int raw_matmul(lua_State *L)
{
    static const luaL_Reg methods[] = {
        { "run", matmul_run },
        { "values", matmul_values },
        { NULL, NULL },
    };
    int n = (int)luaL_checkinteger(L, 1);
    matmul *m = raw_new_object(L, sizeof *m, "raw.matmul", methods, matmul_close);
    size_t elems = (size_t)n * (size_t)n;

    m->n = n;
    TRY_CUDA(L, cudaStreamCreateWithFlags(&m->stream, cudaStreamNonBlocking));
    TRY_CUDA(L, cudaEventCreate(&m->start));
    TRY_CUDA(L, cudaEventCreate(&m->end));
    TRY_BLAS(L, cublasCreate(&m->blas));
    TRY_BLAS(L, cublasSetStream(m->blas, m->stream));
    raw_buffers_open(L, &m->in, 2, elems, RAW_DEVICE, 1);
    raw_buffers_open(L, &m->out, 1, elems, RAW_DEVICE, 3);
    return 1;
}
