/* raw_enqueue.c - what single calls of CUDA cost the host.
 *
 *   e = raw.enqueue()        buffers, streams and events for all kinds of calls
 *   e:batch(kind, n)         nanoseconds that n such calls held the host; then waits
 *   e:values(kind, count)    the first floats of what that kind has written
 *
 * Kinds: "sgemm" and "lt_matmul" (128 x 128 float32), "pow" (4096 floats), "h2d" and "d2h"
 * (1 KiB, pinned), "record", "record_timing", "wait".
 */
#include "raw.h"

#include "raw_kernels.h"

enum { MATRIX = 128, VECTOR = 4096, COPY = 256, WORKSPACE = 32 << 20 };

typedef struct lt_plan { /* made once: a call with it asks no heuristics */
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t matmul;
    cublasLtMatrixLayout_t layout; /* of all three matrices */
    cublasLtMatmulAlgo_t algorithm;
    void *workspace;
} lt_plan;

typedef struct enqueue {
    cudaStream_t stream, other;
    cudaEvent_t untimed, timed, recorded;
    cublasHandle_t blas;
    lt_plan lt;
    raw_buffers matrix;       /* a, b, what sgemm writes, what lt_matmul writes */
    raw_buffers vector;       /* pow: in, out */
    raw_buffers host, device; /* copies: h2d and d2h */
} enqueue;

/* ---- the calls ---------------------------------------------------------------- */

typedef void (*call_fn)(lua_State *L, enqueue *e);

static void call_sgemm(lua_State *L, enqueue *e)
{
    float **m = e->matrix.data;
    TRY_BLAS(L, raw_sgemm(e->blas, MATRIX, m[0], m[1], m[2]));
}

static void call_lt_matmul(lua_State *L, enqueue *e)
{
    const float one = 1, zero = 0;
    float **m = e->matrix.data;
    const lt_plan *p = &e->lt;
    TRY_BLAS(L, cublasLtMatmul(p->handle, p->matmul, &one, m[1], p->layout, m[0], p->layout, &zero,
                               m[3], p->layout, m[3], p->layout, &p->algorithm, p->workspace,
                               WORKSPACE, e->stream));
}

static void call_pow(lua_State *L, enqueue *e)
{
    TRY_CUDA(L, raw_launch_cube(e->vector.data[1], e->vector.data[0], VECTOR, e->stream));
}

static void call_h2d(lua_State *L, enqueue *e)
{
    TRY_CUDA(L, cudaMemcpyAsync(e->device.data[0], e->host.data[0], COPY * sizeof(float),
                                cudaMemcpyHostToDevice, e->stream));
}

static void call_d2h(lua_State *L, enqueue *e)
{
    TRY_CUDA(L, cudaMemcpyAsync(e->host.data[1], e->device.data[1], COPY * sizeof(float),
                                cudaMemcpyDeviceToHost, e->stream));
}

static void call_record(lua_State *L, enqueue *e)
{
    TRY_CUDA(L, cudaEventRecord(e->untimed, e->stream));
}

static void call_record_timing(lua_State *L, enqueue *e)
{
    TRY_CUDA(L, cudaEventRecord(e->timed, e->stream));
}

static void call_wait(lua_State *L, enqueue *e)
{
    TRY_CUDA(L, cudaStreamWaitEvent(e->stream, e->recorded, 0));
}

static const char *const kind_names[] = {
    "sgemm", "lt_matmul", "pow", "h2d", "d2h", "record", "record_timing", "wait", NULL,
};
static const call_fn calls[] = {
    call_sgemm, call_lt_matmul, call_pow,           call_h2d,
    call_d2h,   call_record,    call_record_timing, call_wait,
};

static enqueue *check_self(lua_State *L)
{
    enqueue *e = luaL_checkudata(L, 1, "raw.enqueue");
    luaL_argcheck(L, e->stream, 1, "closed");
    return e;
}

static int enqueue_batch(lua_State *L)
{
    enqueue *e = check_self(L);
    call_fn call = calls[luaL_checkoption(L, 2, NULL, kind_names)];
    lua_Integer n = luaL_checkinteger(L, 3);

    int64_t began_ns = raw_now_ns();
    for (lua_Integer i = 0; i < n; i++)
        call(L, e);
    int64_t held_ns = raw_now_ns() - began_ns;
    TRY_CUDA(L, cudaDeviceSynchronize());
    lua_pushinteger(L, held_ns);
    return 1;
}

static int enqueue_values(lua_State *L)
{
    enqueue *e = check_self(L);
    int kind = luaL_checkoption(L, 2, NULL, kind_names);
    const float *written[] = {
        e->matrix.data[2], e->matrix.data[3], e->vector.data[1], e->device.data[0], e->host.data[1],
    };

    luaL_argcheck(L, kind < (int)(sizeof written / sizeof *written), 2, "it writes nothing");
    return raw_push_values(L, written[kind], (size_t)luaL_checkinteger(L, 3));
}

/* ---- opening and closing ------------------------------------------------------ */

static int enqueue_close(lua_State *L)
{
    enqueue *e = luaL_checkudata(L, 1, "raw.enqueue");

    (void)cudaDeviceSynchronize();
    if (e->lt.layout) (void)cublasLtMatrixLayoutDestroy(e->lt.layout);
    if (e->lt.matmul) (void)cublasLtMatmulDescDestroy(e->lt.matmul);
    if (e->lt.handle) (void)cublasLtDestroy(e->lt.handle);
    if (e->blas) (void)cublasDestroy(e->blas);
    (void)cudaFree(e->lt.workspace);
    cudaEvent_t events[] = { e->untimed, e->timed, e->recorded };
    for (int i = 0; i < 3; i++)
        if (events[i]) (void)cudaEventDestroy(events[i]);
    if (e->stream) (void)cudaStreamDestroy(e->stream);
    if (e->other) (void)cudaStreamDestroy(e->other);
    raw_buffers *buffers[] = { &e->matrix, &e->vector, &e->host, &e->device };
    for (int i = 0; i < 4; i++)
        raw_buffers_close(buffers[i]);
    *e = (enqueue){ 0 };
    return 0;
}

static cublasStatus_t choose_algorithm(lt_plan *plan, int *found)
{
    size_t most = WORKSPACE;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    cublasStatus_t status = cublasLtMatmulPreferenceCreate(&preference);

    if (status) return status;
    status = cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most);
    if (!status)
        status = cublasLtMatmulAlgoGetHeuristic(plan->handle, plan->matmul, plan->layout,
                                                plan->layout, plan->layout, plan->layout,
                                                preference, 1, &result, found);
    if (!status && *found) plan->algorithm = result.algo;
    (void)cublasLtMatmulPreferenceDestroy(preference);
    return status;
}

static void open_plan(lua_State *L, lt_plan *plan)
{
    int found = 0;

    TRY_BLAS(L, cublasLtCreate(&plan->handle));
    TRY_BLAS(L, cublasLtMatmulDescCreate(&plan->matmul, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    TRY_BLAS(L, cublasLtMatrixLayoutCreate(&plan->layout, CUDA_R_32F, MATRIX, MATRIX, MATRIX));
    TRY_CUDA(L, cudaMalloc(&plan->workspace, WORKSPACE));
    TRY_BLAS(L, choose_algorithm(plan, &found));
    if (!found) luaL_error(L, "cublasLt has no algorithm for a matmul of %d x %d", MATRIX, MATRIX);
}

/* Seeds 1 and 2 are a and b, 3 is the input of pow, 4 that of h2d, 6 that of d2h. */
int raw_enqueue(lua_State *L)
{
    static const luaL_Reg methods[] = {
        { "batch", enqueue_batch },
        { "values", enqueue_values },
        { NULL, NULL },
    };
    enqueue *e = raw_new_object(L, sizeof *e, "raw.enqueue", methods, enqueue_close);

    TRY_CUDA(L, cudaStreamCreate(&e->stream));
    TRY_CUDA(L, cudaStreamCreate(&e->other));
    TRY_CUDA(L, cudaEventCreateWithFlags(&e->untimed, cudaEventDisableTiming));
    TRY_CUDA(L, cudaEventCreate(&e->timed));
    TRY_CUDA(L, cudaEventCreateWithFlags(&e->recorded, cudaEventDisableTiming));
    TRY_CUDA(L, cudaEventRecord(e->recorded, e->other));
    TRY_BLAS(L, cublasCreate(&e->blas));
    TRY_BLAS(L, cublasSetStream(e->blas, e->stream));
    open_plan(L, &e->lt);
    raw_buffers_open(L, &e->matrix, 4, MATRIX * MATRIX, RAW_DEVICE, 1);
    raw_buffers_open(L, &e->vector, 2, VECTOR, RAW_DEVICE, 3);
    raw_buffers_open(L, &e->host, 2, COPY, RAW_PINNED, 4);
    raw_buffers_open(L, &e->device, 2, COPY, RAW_DEVICE, 5);
    return 1;
}
