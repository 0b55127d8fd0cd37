/* raw_threads.c - kernels that several threads launch at the same time, each into a stream of its own.
 *
 *   t = raw.threads(n)      n threads' streams and buffers
 *   t:run(launches)         nanoseconds a launch took each thread, on average
 */
#include "raw.h"

#include <pthread.h>

#include "raw_kernels.h"

enum { MOST = 64, ELEMS = 1024 };

typedef struct threads threads;

typedef struct worker {
    threads *all;
    pthread_t thread;
    cudaStream_t stream;
    lua_Integer launches;
    int64_t ns;
    cudaError_t code;
} worker;

struct threads {
    int n;
    worker worker[MOST];
    raw_buffers in, out;
};

static threads *check_self(lua_State *L)
{
    threads *t = luaL_checkudata(L, 1, "raw.threads");
    luaL_argcheck(L, t->n > 0, 1, "closed");
    return t;
}

static void *launch_all(void *ud)
{
    worker *w = ud;
    const threads *t = w->all;
    const long i = (long)(w - t->worker);

    int64_t began_ns = raw_now_ns();
    w->code = cudaSuccess;
    for (lua_Integer l = 0; l < w->launches && w->code == cudaSuccess; l++)
        w->code = raw_launch_cube(t->out.data[i], t->in.data[i], ELEMS, w->stream);
    w->ns = raw_now_ns() - began_ns;
    return NULL;
}

/* All have ended when it returns; an error of the system, or 0. */
static int run_all(threads *t, lua_Integer launches)
{
    int n = 0, error = 0;
    for (; n < t->n && !error; n++) {
        t->worker[n].launches = launches;
        error = pthread_create(&t->worker[n].thread, NULL, launch_all, &t->worker[n]);
    }
    for (int i = 0; i < (error ? n - 1 : n); i++)
        pthread_join(t->worker[i].thread, NULL);
    return error;
}

static int threads_run(lua_State *L)
{
    threads *t = check_self(L);
    double ns = 0;
    int error = run_all(t, luaL_checkinteger(L, 2));

    if (error) return luaL_error(L, "pthread_create: error %d", error);
    for (int i = 0; i < t->n; i++) {
        TRY_CUDA(L, t->worker[i].code);
        ns += (double)t->worker[i].ns / (double)t->worker[i].launches / t->n;
    }
    TRY_CUDA(L, cudaDeviceSynchronize());
    lua_pushnumber(L, ns);
    return 1;
}

static int threads_close(lua_State *L)
{
    threads *t = luaL_checkudata(L, 1, "raw.threads");

    (void)cudaDeviceSynchronize();
    for (int i = 0; i < t->n; i++)
        if (t->worker[i].stream) (void)cudaStreamDestroy(t->worker[i].stream);
    raw_buffers_close(&t->in);
    raw_buffers_close(&t->out);
    t->n = 0;
    return 0;
}

int raw_threads(lua_State *L)
{
    static const luaL_Reg methods[] = { { "run", threads_run }, { NULL, NULL } };
    int n = (int)luaL_checkinteger(L, 1);
    luaL_argcheck(L, n >= 1 && n <= MOST, 1, "from 1 to 64");
    threads *t = raw_new_object(L, sizeof *t, "raw.threads", methods, threads_close);

    t->n = n;
    for (int i = 0; i < n; i++) {
        t->worker[i].all = t;
        TRY_CUDA(L, cudaStreamCreateWithFlags(&t->worker[i].stream, cudaStreamNonBlocking));
    }
    raw_buffers_open(L, &t->in, n, ELEMS, RAW_DEVICE, 1);
    raw_buffers_open(L, &t->out, n, ELEMS, RAW_DEVICE, 1);
    return 1;
}
