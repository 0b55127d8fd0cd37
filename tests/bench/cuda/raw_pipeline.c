/* raw_pipeline.c - a pipeline of copies and matmuls, and copy kernels.
 *
 *   p = raw.pipeline(n, items)
 *   p:run(streams)          wall_ns of all items: H2D, matmul with one matrix that is on the
 *                           GPU, D2H, all in one stream; item i in stream i mod `streams`
 *   p:capture(streams)      captures that as a graph: stream 0 forks into the others and joins them
 *   p:launch()              host_ns, wall_ns of a launch of the graph
 *   p:values(i, count)      the first floats of the i-th result (from 1), on the host
 *
 *   c = raw.copier(elems)
 *   c:run(kind, launches)   nanoseconds of the GPU a launch, by events around all of them;
 *                           kinds: "one" and "four" pieces of 16 bytes a thread; "h2d" and
 *                           "d2h", from and to pinned memory
 *
 * Host memory is pinned; all memory is allocated before. Each stream has a cuBLAS handle
 * of its own, so that no call has to change the handle's stream.
 */
#include "raw.h"

#include "raw_kernels.h"

enum { MAX_STREAMS = 64, WORKSPACE_BYTES = 32 << 20 };

typedef struct pipeline {
    int n, items;
    size_t bytes;
    cudaStream_t stream[MAX_STREAMS];
    cublasHandle_t blas[MAX_STREAMS];
    void *workspace[MAX_STREAMS];           /* NULL until a capture */
    raw_buffers factor;                     /* one */
    raw_buffers host_in, in, out, host_out; /* one an item */
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
} pipeline;

static pipeline *check_pipeline(lua_State *L)
{
    pipeline *p = luaL_checkudata(L, 1, "raw.pipeline");
    luaL_argcheck(L, p->host_out.count, 1, "closed");
    return p;
}

static void enqueue_item(lua_State *L, const pipeline *p, int item, int s)
{
    cudaStream_t stream = p->stream[s];
    float *in = p->in.data[item], *out = p->out.data[item];

    TRY_CUDA(L,
             cudaMemcpyAsync(in, p->host_in.data[item], p->bytes, cudaMemcpyHostToDevice, stream));
    TRY_BLAS(L, raw_sgemm(p->blas[s], p->n, in, p->factor.data[0], out));
    TRY_CUDA(
        L, cudaMemcpyAsync(p->host_out.data[item], out, p->bytes, cudaMemcpyDeviceToHost, stream));
}

static int pipeline_run(lua_State *L)
{
    pipeline *p = check_pipeline(L);
    int streams = (int)luaL_checkinteger(L, 2);

    luaL_argcheck(L, streams >= 1 && streams <= p->items, 2, "from 1 to the number of items");
    TRY_CUDA(L, cudaDeviceSynchronize());
    int64_t began_ns = raw_now_ns();
    for (int i = 0; i < p->items; i++)
        enqueue_item(L, p, i, i % streams);
    TRY_CUDA(L, cudaDeviceSynchronize());
    lua_pushinteger(L, raw_now_ns() - began_ns);
    return 1;
}

/* Stream `later` waits for what is now in `earlier`. */
static void order(lua_State *L, const pipeline *p, int later, int earlier)
{
    TRY_CUDA(L, cudaEventRecord(p->event, p->stream[earlier]));
    TRY_CUDA(L, cudaStreamWaitEvent(p->stream[later], p->event, 0));
}

static void drop_graph(pipeline *p)
{
    if (p->exec) (void)cudaGraphExecDestroy(p->exec);
    if (p->graph) (void)cudaGraphDestroy(p->graph);
    p->exec = NULL;
    p->graph = NULL;
}

/* Without a workspace of its own a product that is captured allocates one at each replay. */
static void need_workspace(lua_State *L, pipeline *p, int s)
{
    if (p->workspace[s]) return;
    TRY_CUDA(L, cudaMalloc(&p->workspace[s], WORKSPACE_BYTES));
    TRY_BLAS(L, cublasSetWorkspace(p->blas[s], p->workspace[s], WORKSPACE_BYTES));
}

static int pipeline_capture(lua_State *L)
{
    pipeline *p = check_pipeline(L);
    int streams = (int)luaL_checkinteger(L, 2);

    luaL_argcheck(L, streams >= 1 && streams <= p->items, 2, "from 1 to the number of items");
    drop_graph(p);
    for (int i = 0; i < streams; i++)
        need_workspace(L, p, i);
    TRY_CUDA(L, cudaStreamBeginCapture(p->stream[0], cudaStreamCaptureModeThreadLocal));
    for (int i = 1; i < streams; i++)
        order(L, p, i, 0);
    for (int i = 0; i < p->items; i++)
        enqueue_item(L, p, i, i % streams);
    for (int i = 1; i < streams; i++)
        order(L, p, 0, i);
    TRY_CUDA(L, cudaStreamEndCapture(p->stream[0], &p->graph));
    TRY_CUDA(L, cudaGraphInstantiate(&p->exec, p->graph, 0));
    return 0;
}

static int pipeline_launch(lua_State *L)
{
    pipeline *p = check_pipeline(L);

    luaL_argcheck(L, p->exec, 1, "capture first");
    TRY_CUDA(L, cudaDeviceSynchronize());
    int64_t began_ns = raw_now_ns();
    TRY_CUDA(L, cudaGraphLaunch(p->exec, p->stream[0]));
    int64_t launched_ns = raw_now_ns();
    TRY_CUDA(L, cudaDeviceSynchronize());
    lua_pushinteger(L, launched_ns - began_ns);
    lua_pushinteger(L, raw_now_ns() - began_ns);
    return 2;
}

static int pipeline_values(lua_State *L)
{
    pipeline *p = check_pipeline(L);
    lua_Integer i = luaL_checkinteger(L, 2);

    luaL_argcheck(L, i >= 1 && i <= p->items, 2, "no such item");
    return raw_push_values(L, p->host_out.data[i - 1], (size_t)luaL_checkinteger(L, 3));
}

static int pipeline_close(lua_State *L)
{
    pipeline *p = luaL_checkudata(L, 1, "raw.pipeline");

    (void)cudaDeviceSynchronize();
    drop_graph(p);
    if (p->event) (void)cudaEventDestroy(p->event);
    for (int i = 0; i < MAX_STREAMS; i++) {
        if (p->workspace[i]) (void)cudaFree(p->workspace[i]);
        if (p->blas[i]) (void)cublasDestroy(p->blas[i]);
        if (p->stream[i]) (void)cudaStreamDestroy(p->stream[i]);
    }
    raw_buffers *buffers[] = { &p->factor, &p->host_in, &p->in, &p->out, &p->host_out };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        raw_buffers_close(buffers[i]);
    *p = (pipeline){ 0 };
    return 0;
}

/* Seed 1 is the matrix on the GPU, 2 the first item's. */
int raw_pipeline(lua_State *L)
{
    static const luaL_Reg methods[] = {
        { "run", pipeline_run },
        { "capture", pipeline_capture },
        { "launch", pipeline_launch },
        { "values", pipeline_values },
        { NULL, NULL },
    };
    int n = (int)luaL_checkinteger(L, 1), items = (int)luaL_checkinteger(L, 2);
    size_t elems = (size_t)n * (size_t)n;
    luaL_argcheck(L, items >= 1 && items <= MAX_STREAMS, 2, "from 1 to 64");
    pipeline *p = raw_new_object(L, sizeof *p, "raw.pipeline", methods, pipeline_close);

    p->n = n;
    p->items = items;
    p->bytes = elems * sizeof(float);
    for (int i = 0; i < items; i++) {
        TRY_CUDA(L, cudaStreamCreate(&p->stream[i]));
        TRY_BLAS(L, cublasCreate(&p->blas[i]));
        TRY_BLAS(L, cublasSetStream(p->blas[i], p->stream[i]));
    }
    TRY_CUDA(L, cudaEventCreateWithFlags(&p->event, cudaEventDisableTiming));
    raw_buffers_open(L, &p->factor, 1, elems, RAW_DEVICE, 1);
    raw_buffers_open(L, &p->host_in, items, elems, RAW_PINNED, 2);
    raw_buffers_open(L, &p->in, items, elems, RAW_DEVICE, 1);
    raw_buffers_open(L, &p->out, items, elems, RAW_DEVICE, 1);
    raw_buffers_open(L, &p->host_out, items, elems, RAW_PINNED, 1);
    return 1;
}

/* ---- copy kernels ------------------------------------------------------------- */

typedef struct copier {
    size_t elems;
    cudaStream_t stream;
    cudaEvent_t start, end;
    raw_buffers buffers; /* from, to */
    raw_buffers pinned;  /* one */
} copier;

static cudaError_t copy_once(const copier *c, int kind)
{
    const float *from = c->buffers.data[0];
    float *to = c->buffers.data[1], *pinned = c->pinned.data[0];
    const size_t bytes = c->elems * sizeof *to;

    switch (kind) {
    case 0: return raw_launch_copy_one(to, from, c->elems, c->stream);
    case 1: return raw_launch_copy_four(to, from, c->elems, c->stream);
    case 2: return cudaMemcpyAsync(to, pinned, bytes, cudaMemcpyHostToDevice, c->stream);
    default: return cudaMemcpyAsync(pinned, from, bytes, cudaMemcpyDeviceToHost, c->stream);
    }
}

static int copier_run(lua_State *L)
{
    static const char *const kinds[] = { "one", "four", "h2d", "d2h", NULL };
    copier *c = luaL_checkudata(L, 1, "raw.copier");
    int kind = luaL_checkoption(L, 2, NULL, kinds);
    lua_Integer launches = luaL_checkinteger(L, 3);
    float ms;

    luaL_argcheck(L, c->stream, 1, "closed");
    TRY_CUDA(L, cudaEventRecord(c->start, c->stream));
    for (lua_Integer i = 0; i < launches; i++)
        TRY_CUDA(L, copy_once(c, kind));
    TRY_CUDA(L, cudaEventRecord(c->end, c->stream));
    TRY_CUDA(L, cudaStreamSynchronize(c->stream));
    TRY_CUDA(L, cudaEventElapsedTime(&ms, c->start, c->end));
    lua_pushnumber(L, ms * 1e6 / (double)launches);
    return 1;
}

static int copier_values(lua_State *L)
{
    copier *c = luaL_checkudata(L, 1, "raw.copier");

    luaL_argcheck(L, c->stream, 1, "closed");
    return raw_push_values(L, c->buffers.data[1], (size_t)luaL_checkinteger(L, 2));
}

static int copier_close(lua_State *L)
{
    copier *c = luaL_checkudata(L, 1, "raw.copier");

    (void)cudaDeviceSynchronize();
    if (c->start) (void)cudaEventDestroy(c->start);
    if (c->end) (void)cudaEventDestroy(c->end);
    if (c->stream) (void)cudaStreamDestroy(c->stream);
    raw_buffers_close(&c->buffers);
    raw_buffers_close(&c->pinned);
    *c = (copier){ 0 };
    return 0;
}

int raw_copier(lua_State *L)
{
    static const luaL_Reg methods[] = {
        { "run", copier_run },
        { "values", copier_values },
        { NULL, NULL },
    };
    lua_Integer elems = luaL_checkinteger(L, 1);
    luaL_argcheck(L, elems > 0 && elems % 4096 == 0, 1, "a multiple of 4096");
    copier *c = raw_new_object(L, sizeof *c, "raw.copier", methods, copier_close);

    c->elems = (size_t)elems;
    TRY_CUDA(L, cudaStreamCreate(&c->stream));
    TRY_CUDA(L, cudaEventCreate(&c->start));
    TRY_CUDA(L, cudaEventCreate(&c->end));
    raw_buffers_open(L, &c->buffers, 2, c->elems, RAW_DEVICE, 1);
    raw_buffers_open(L, &c->pinned, 1, c->elems, RAW_PINNED, 1);
    return 1;
}
