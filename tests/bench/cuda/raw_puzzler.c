/* raw_puzzler.c - the puzzler (scripts/puzzler.lua) in plain CUDA C.
 *
 *   p = raw.puzzler(n, matmuls, copies)
 *   p:run(variant)       wall_ns, device_ms: from before the first call to the end of the
 *                        device synchronisation, and from an event before the first matmul
 *                        to the last of three events at the streams' ends
 *   p:values(i, count)   the first floats of the i-th product (from 1)
 *
 * The streams are blocking, as cudaStreamCreate makes them. All memory is allocated and
 * touched before. Variants: "nonblocking" copies to pinned and from pageable memory,
 * "blocking" to and from pageable memory and waits for each copy, "pinned" to and from
 * pinned memory.
 */
#include "raw.h"

#include <stdbool.h>

enum { STREAMS = 3 };

typedef struct puzzler {
    int n, matmuls, copies;
    size_t bytes; /* of one matrix */
    cublasHandle_t blas;
    cudaStream_t stream[STREAMS];
    cudaEvent_t start, end[STREAMS];
    raw_buffers matrix, product; /* the first stream's */
    raw_buffers out, in;         /* on the GPU: sources of D2H, results of H2D */
    raw_buffers results, inputs; /* pageable */
    raw_buffers pinned_results, pinned_inputs;
} puzzler;

static puzzler *check_self(lua_State *L)
{
    puzzler *p = luaL_checkudata(L, 1, "raw.puzzler");
    luaL_argcheck(L, p->blas, 1, "closed");
    return p;
}

static void copy_all(lua_State *L, const puzzler *p, cudaStream_t stream, const raw_buffers *to,
                     const raw_buffers *from, enum cudaMemcpyKind kind, bool blocking)
{
    for (int i = 0; i < p->copies; i++) {
        TRY_CUDA(L, cudaMemcpyAsync(to->data[i], from->data[i], p->bytes, kind, stream));
        if (blocking) TRY_CUDA(L, cudaStreamSynchronize(stream));
    }
}

static void enqueue_all(lua_State *L, const puzzler *p, const raw_buffers *results,
                        const raw_buffers *inputs, bool blocking)
{
    TRY_CUDA(L, cudaEventRecord(p->start, p->stream[0]));
    for (int i = 0; i < p->matmuls; i++) {
        const float *matrix = p->matrix.data[i];
        TRY_BLAS(L, raw_sgemm(p->blas, p->n, matrix, matrix, p->product.data[i]));
    }
    copy_all(L, p, p->stream[1], results, &p->out, cudaMemcpyDeviceToHost, blocking);
    copy_all(L, p, p->stream[2], &p->in, inputs, cudaMemcpyHostToDevice, blocking);
    for (int i = 0; i < STREAMS; i++)
        TRY_CUDA(L, cudaEventRecord(p->end[i], p->stream[i]));
}

static double longest_ms(lua_State *L, const puzzler *p)
{
    float longest = 0;

    for (int i = 0; i < STREAMS; i++) {
        float ms;
        TRY_CUDA(L, cudaEventElapsedTime(&ms, p->start, p->end[i]));
        longest = ms > longest ? ms : longest;
    }
    return longest;
}

static int puzzler_run(lua_State *L)
{
    static const char *const variants[] = { "nonblocking", "blocking", "pinned", NULL };
    puzzler *p = check_self(L);
    int variant = luaL_checkoption(L, 2, NULL, variants);
    const raw_buffers *results = variant == 1 ? &p->results : &p->pinned_results;
    const raw_buffers *inputs = variant == 2 ? &p->pinned_inputs : &p->inputs;

    TRY_CUDA(L, cudaDeviceSynchronize());
    int64_t began_ns = raw_now_ns();
    enqueue_all(L, p, results, inputs, variant == 1);
    TRY_CUDA(L, cudaDeviceSynchronize());
    lua_pushinteger(L, raw_now_ns() - began_ns);
    lua_pushnumber(L, longest_ms(L, p));
    return 2;
}

static int puzzler_values(lua_State *L)
{
    puzzler *p = check_self(L);
    lua_Integer i = luaL_checkinteger(L, 2);

    luaL_argcheck(L, i >= 1 && i <= p->matmuls, 2, "no such product");
    return raw_push_values(L, p->product.data[i - 1], (size_t)luaL_checkinteger(L, 3));
}

static int puzzler_close(lua_State *L)
{
    puzzler *p = luaL_checkudata(L, 1, "raw.puzzler");

    (void)cudaDeviceSynchronize();
    if (p->blas) (void)cublasDestroy(p->blas);
    if (p->start) (void)cudaEventDestroy(p->start);
    for (int i = 0; i < STREAMS; i++) {
        if (p->end[i]) (void)cudaEventDestroy(p->end[i]);
        if (p->stream[i]) (void)cudaStreamDestroy(p->stream[i]);
    }
    raw_buffers *buffers[] = {
        &p->matrix, &p->product,        &p->out,           &p->in, &p->results,
        &p->inputs, &p->pinned_results, &p->pinned_inputs,
    };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        raw_buffers_close(buffers[i]);
    *p = (puzzler){ 0 };
    return 0;
}

static void open_buffers(lua_State *L, puzzler *p)
{
    size_t elems = (size_t)p->n * (size_t)p->n;

    raw_buffers_open(L, &p->matrix, p->matmuls, elems, RAW_DEVICE, 1);
    raw_buffers_open(L, &p->product, p->matmuls, elems, RAW_DEVICE, 1);
    raw_buffers_open(L, &p->out, p->copies, elems, RAW_DEVICE, 1);
    raw_buffers_open(L, &p->in, p->copies, elems, RAW_DEVICE, 1);
    raw_buffers_open(L, &p->results, p->copies, elems, RAW_PAGEABLE, 1);
    raw_buffers_open(L, &p->inputs, p->copies, elems, RAW_PAGEABLE, 1);
    raw_buffers_open(L, &p->pinned_results, p->copies, elems, RAW_PINNED, 1);
    raw_buffers_open(L, &p->pinned_inputs, p->copies, elems, RAW_PINNED, 1);
}

int raw_puzzler(lua_State *L)
{
    static const luaL_Reg methods[] = {
        { "run", puzzler_run },
        { "values", puzzler_values },
        { NULL, NULL },
    };
    int n = (int)luaL_checkinteger(L, 1), matmuls = (int)luaL_checkinteger(L, 2);
    int copies = (int)luaL_checkinteger(L, 3);
    puzzler *p = raw_new_object(L, sizeof *p, "raw.puzzler", methods, puzzler_close);

    p->n = n;
    p->matmuls = matmuls;
    p->copies = copies;
    p->bytes = (size_t)n * (size_t)n * sizeof(float);
    TRY_CUDA(L, cudaEventCreate(&p->start));
    for (int i = 0; i < STREAMS; i++) {
        TRY_CUDA(L, cudaStreamCreate(&p->stream[i]));
        TRY_CUDA(L, cudaEventCreate(&p->end[i]));
    }
    TRY_BLAS(L, cublasCreate(&p->blas));
    TRY_BLAS(L, cublasSetStream(p->blas, p->stream[0]));
    open_buffers(L, p);
    return 1;
}
