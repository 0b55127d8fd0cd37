/* t-12-plain.c - core/cuda/plain.c over fake_cudart.c: the plain calls, what they
 * waited for, peer access. */
#include "memory_rig.h"

#include <cublas_v2.h>

/* ---- a cuBLAS ---- */

static struct {
    bool missing;
    cublasStatus_t answer;
    int answers; /* so many calls get it; 0: all */
    int live;
} blas;

static cublasStatus_t create(cublasHandle_t *handle)
{
    cublasStatus_t code = blas.answer;
    if (blas.answers > 0 && --blas.answers == 0) blas.answer = CUBLAS_STATUS_SUCCESS;
    if (code != CUBLAS_STATUS_SUCCESS) return code;
    *handle = malloc(1);
    blas.live++;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t destroy(cublasHandle_t handle)
{
    free(handle);
    blas.live--;
    return blas.answer;
}

void *cuda_library_symbol(cuda_library which, const char *name, sl_error *err)
{
    if (which == CUDA_CUBLAS && !blas.missing && !strcmp(name, "cublasCreate_v2"))
        return (void *)create;
    if (which == CUDA_CUBLAS && !blas.missing && !strcmp(name, "cublasDestroy_v2"))
        return (void *)destroy;
    sl_fail(err, SL_EUNSUPPORTED, "no %s", name);
    return NULL;
}

/* ---- calls ---- */

static bool waited; /* of the latest call */

static sl_status call(cuda_device *dev, sl_plain_call which, cuda_buffer *buffer,
                      cuda_stream *stream, sl_error *err)
{
    return cuda_plain_call(&dev->base, which, buffer ? &buffer->base : NULL,
                           stream ? &stream->base : NULL, buffer ? buffer->base.bytes : 0, &waited,
                           err);
}

static cuda_buffer plain_memory(cuda_device *dev, sl_place place, sl_alloc_how how,
                                cuda_stream *stream, size_t bytes)
{
    cuda_buffer buffer = buffer_of(dev, place, bytes);
    if (cuda_buffer_open(&buffer.base, how, stream ? &stream->base : NULL, NULL)) diag("no memory");
    return buffer;
}

/* ---- freeing ---- */

static void test_free(void)
{
    cuda_device *dev = &devices[0];
    open_devices(1);
    cuda_buffer a = plain_memory(dev, SL_ON_DEVICE, SL_ALLOC_PLAIN, NULL, MIB);
    int calls = fake_cudart.calls;
    ok(call(dev, SL_PLAIN_MALLOC, &a, NULL, NULL) == SL_OK && fake_cudart.calls == calls,
       "cudaMalloc has been called by buffer_open, and is not called again");
    is_int(call(dev, SL_PLAIN_FREE, &a, NULL, NULL), SL_OK, "cudaFree frees it");
    ok(fake_cudart.frees == 1 && fake_cudart.blocks == 0, "at once and for real");
    ok(!a.data && !a.block, "the buffer has no memory then");
    close_buffer(&a);
    is_int(fake_cudart.misuses, 0, "and does not free it again");
    is_int(rest.stream_waits, 0, "CUDA itself waits for those who use memory of cudaMalloc");

    cuda_buffer nothing = plain_memory(dev, SL_ON_DEVICE, SL_ALLOC_PLAIN, NULL, 0);
    calls = fake_cudart.calls;
    ok(call(dev, SL_PLAIN_FREE, &nothing, NULL, NULL) == SL_OK
           && call(dev, SL_PLAIN_FREE_ASYNC, &nothing, NULL, NULL) == SL_OK
           && call(dev, SL_PLAIN_FREE_HOST, &nothing, NULL, NULL) == SL_OK
           && fake_cudart.calls == calls,
       "memory of no bytes needs no freeing");

    a = tensor(dev, SL_ON_DEVICE, MIB);
    call(dev, SL_PLAIN_FREE, &a, NULL, NULL);
    ok(fake_cudart.frees == 2 && fake_cudart.blocks == 0, "cudaFree takes tensors, too");
    rest.interrupted = true;
    a = tensor(dev, SL_ON_DEVICE, MIB);
    is_int(call(dev, SL_PLAIN_FREE, &a, NULL, NULL), SL_EINTERRUPT, "its wait may be interrupted");
    ok(a.data && fake_cudart.blocks == 1, "then nothing is freed");
    rest.interrupted = false;
    close_buffer(&a);
    close_devices(1, "cudaFree");
}

static void uses(sl_op *op, int side, cuda_buffer *buffer)
{
    op->operand = op->side;
    op->n_operands = SL_SIDES;
    op->side[side].buffer = &buffer->base;
}

/* cudaFree does not wait for those who use memory of a pool. */
static void test_free_in_use(void)
{
    cuda_device *dev = &devices[0];
    cuda_stream mine, other, peers;
    fake_stream of_mine, of_other, of_peers;
    sl_op reads = { .seq = 1 }, writes = { .seq = 2 }, apart = { .seq = 3 };
    open_devices(2);
    add_stream(dev, &mine, &of_mine, 1);
    add_stream(dev, &other, &of_other, 2);
    add_stream(&devices[1], &peers, &of_peers, 1);
    cuda_buffer a = tensor(dev, SL_ON_DEVICE, MIB);
    uses(&reads, 1, &a);
    uses(&writes, SL_OUTPUT, &a);
    put_in_flight(&mine, &reads);
    put_in_flight(&peers, &writes);
    put_in_flight(&other, &apart);
    is_int(call(dev, SL_PLAIN_FREE, &a, NULL, NULL), SL_OK, "a tensor in use can be freed");
    ok(!of_mine.busy && !of_peers.busy, "when those who use it are done, on each device");
    ok(of_other.busy, "no other stream is waited for");
    close_buffer(&a);

    cuda_buffer b = plain_memory(dev, SL_ON_DEVICE, SL_ALLOC_ASYNC, &mine, 100);
    uses(&writes, SL_OUTPUT, &b);
    put_in_flight(&mine, &writes);
    call(dev, SL_PLAIN_FREE, &b, NULL, NULL);
    ok(of_mine.busy, "for those who use memory of cudaMallocAsync nobody waits, as in CUDA");
    ok(!b.data && !b.block, "it is freed");
    dev->streams = NULL;
    devices[1].streams = NULL;
    close_devices(2, "freeing memory in use");
}

static void test_free_async(void)
{
    cuda_device *dev = &devices[0];
    cuda_stream stream;
    fake_stream of;
    sl_error err = { .msg = "" };
    open_devices(1);
    add_stream(dev, &stream, &of, 1);
    cuda_buffer a = plain_memory(dev, SL_ON_DEVICE, SL_ALLOC_ASYNC, &stream, MIB);
    cuda_buffer b = plain_memory(dev, SL_ON_DEVICE, SL_ALLOC_PLAIN, NULL, MIB);
    cuda_buffer c = tensor(dev, SL_ON_DEVICE, MIB);
    call(dev, SL_PLAIN_MALLOC_ASYNC, &a, &stream, NULL);
    call(dev, SL_PLAIN_FREE_ASYNC, &a, &stream, NULL);
    call(dev, SL_PLAIN_FREE_ASYNC, &b, &stream, NULL);
    call(dev, SL_PLAIN_FREE_ASYNC, &c, &stream, NULL);
    ok(of.freed_in == 3 && fake_cudart.blocks == 0, "cudaFreeAsync frees in the stream");
    ok(!a.data && !b.data && !c.data, "whatever the memory came from");
    fake_cudart.no_async_free = true;
    a = tensor(dev, SL_ON_DEVICE, MIB);
    is_int(call(dev, SL_PLAIN_FREE_ASYNC, &a, &stream, &err), SL_EBACKEND, "it can fail");
    ok(a.data && a.block, "then the buffer keeps its memory");
    fake_cudart.no_async_free = false;
    close_buffer(&a);
    dev->streams = NULL;
    close_devices(1, "cudaFreeAsync");
}

static void test_free_host(void)
{
    cuda_device *dev = &devices[0];
    open_devices(1);
    cuda_buffer a = plain_memory(dev, SL_PINNED, SL_ALLOC_PLAIN, NULL, 5000);
    cuda_buffer b = tensor(dev, SL_PINNED, 5000), c = tensor(dev, SL_PAGEABLE, 5000);
    call(dev, SL_PLAIN_MALLOC_HOST, &a, NULL, NULL);
    call(dev, SL_PLAIN_FREE_HOST, &a, NULL, NULL);
    is_int(fake_cudart.host_frees, 1, "cudaFreeHost frees memory of cudaMallocHost");
    call(dev, SL_PLAIN_FREE_HOST, &b, NULL, NULL);
    is_int(fake_cudart.host_frees, 2, "and pinned tensors");
    ok(!a.data && !b.block && fake_cudart.host_blocks == 0, "for real");
    cuda_host_pin(&c.base, true, NULL);
    c.base.place = SL_PINNED;
    close_buffer(&c);
    c = tensor(dev, SL_PINNED, 5000);
    is_int(call(dev, SL_PLAIN_FREE_HOST, &c, NULL, NULL), SL_OK,
           "also one whose memory was pageable once");
    ok(fake_cudart.unregisters == 1 && fake_cudart.host_frees == 2, "which is unregistered");
    a = plain_memory(dev, SL_PINNED, SL_ALLOC_PLAIN, NULL, 5000);
    rest.interrupted = true;
    is_int(call(dev, SL_PLAIN_FREE_HOST, &a, NULL, NULL), SL_EINTERRUPT, "it can be interrupted");
    ok(a.data, "and has freed nothing then");
    rest.interrupted = false;
    close_buffer(&a);
    close_devices(1, "cudaFreeHost");
}

/* ---- what a call waited for ---- */

static void test_waited(void)
{
    cuda_device *dev = &devices[0];
    cuda_stream stream;
    fake_stream of;
    sl_op op = { .seq = 1 };
    open_devices(1);
    add_stream(dev, &stream, &of, 1);
    cuda_buffer a = tensor(dev, SL_ON_DEVICE, MIB);
    uses(&op, SL_OUTPUT, &a);
    put_in_flight(&stream, &op);
    call(dev, SL_PLAIN_FREE, &a, NULL, NULL);
    ok(!waited, "without a recording nobody asks whether a call waited");
    dev->base.asks_waits = true;
    a = tensor(dev, SL_ON_DEVICE, MIB);
    uses(&op, SL_OUTPUT, &a);
    put_in_flight(&stream, &op);
    call(dev, SL_PLAIN_FUNC_SET_CACHE_CONFIG, NULL, NULL, NULL);
    ok(!waited, "a call that leaves work in flight has not waited");
    call(dev, SL_PLAIN_FREE, &a, NULL, NULL);
    ok(waited, "a call after which there is none has");
    call(dev, SL_PLAIN_FUNC_SET_CACHE_CONFIG, NULL, NULL, NULL);
    ok(!waited, "an idle device is not waited for");

    cuda_buffer host = tensor(dev, SL_PAGEABLE, 12);
    host.base.refs = 2;
    put_in_flight(&stream, &op);
    cuda_host_pin(&host.base, true, NULL);
    call(dev, SL_PLAIN_HOST_REGISTER, &host, NULL, NULL);
    ok(waited, "of a call made before, the answer is kept");
    put_in_flight(&stream, &op);
    cuda_buffer b = plain_memory(dev, SL_ON_DEVICE, SL_ALLOC_PLAIN, NULL, 100);
    call(dev, SL_PLAIN_MALLOC, &b, NULL, NULL);
    ok(!waited, "of that call alone");
    dev->base.asks_waits = false;
    host.base.place = SL_PINNED;
    close_buffer(&host);
    close_buffer(&b);
    dev->streams = NULL;
    close_devices(1, "waits");
}

/* ---- calls without memory ---- */

static void test_limit(void)
{
    cuda_device *dev = &devices[0];
    open_devices(1);
    call(dev, SL_PLAIN_DEVICE_SET_LIMIT, NULL, NULL, NULL);
    is_int(fake_cudart.limit_bytes, 2 << 20, "cudaDeviceSetLimit raises a limit");
    call(dev, SL_PLAIN_DEVICE_SET_LIMIT, NULL, NULL, NULL);
    is_int(fake_cudart.limit_bytes, 1 << 20, "and lowers it again");
    call(dev, SL_PLAIN_DEVICE_SET_LIMIT, NULL, NULL, NULL);
    is_int(fake_cudart.limit_bytes, 2 << 20, "in turn");
    fake_cudart.no_printf_limit = true;
    is_int(call(dev, SL_PLAIN_DEVICE_SET_LIMIT, NULL, NULL, NULL), SL_OK, "where that is refused");
    ok(fake_cudart.limit == cudaLimitStackSize && fake_cudart.limit_bytes == 1024,
       "another limit is set to what it is");
    call(dev, SL_PLAIN_FUNC_SET_CACHE_CONFIG, NULL, NULL, NULL);
    is_int(rest.cache_configs, 1, "cudaFuncSetCacheConfig is called");
    bool before = rest.prefers_shared;
    call(dev, SL_PLAIN_FUNC_SET_CACHE_CONFIG, NULL, NULL, NULL);
    ok(rest.prefers_shared != before, "and changes the preference, so that there is a switch");
    rest.interrupted = true;
    is_int(call(dev, SL_PLAIN_DEVICE_SET_LIMIT, NULL, NULL, NULL), SL_EINTERRUPT,
           "both settle host functions first");
    is_int(call(dev, SL_PLAIN_FUNC_SET_CACHE_CONFIG, NULL, NULL, NULL), SL_EINTERRUPT,
           "for they may wait");
    rest.interrupted = false;
    close_devices(1, "limits");
}

static void test_cublas(void)
{
    cuda_device *dev = &devices[0];
    sl_error err = { .msg = "" };
    open_devices(1);
    is_int(call(dev, SL_PLAIN_CUBLAS_DESTROY, NULL, NULL, &err), SL_ESTATE,
           "without a handle there is none to destroy");
    is_str(err.msg, "no handle of cublas_create is left", "as the error says");
    for (int i = 0; i < 3; i++)
        call(dev, SL_PLAIN_CUBLAS_CREATE, NULL, NULL, NULL);
    call(dev, SL_PLAIN_CUBLAS_DESTROY, NULL, NULL, NULL);
    is_int(blas.live, 2, "handles are created and destroyed");
    blas.answer = CUBLAS_STATUS_ALLOC_FAILED;
    is_int(call(dev, SL_PLAIN_CUBLAS_CREATE, NULL, NULL, &err), SL_ENOMEM, "creating can fail");
    is_str(err.msg, "cublasCreate: cuBLAS answered with status 3", "with cuBLAS's answer");
    cuda_buffer unused = tensor(dev, SL_ON_DEVICE, MIB);
    close_buffer(&unused);
    blas.answer = CUBLAS_STATUS_NOT_INITIALIZED;
    blas.answers = 1;
    is_int(call(dev, SL_PLAIN_CUBLAS_CREATE, NULL, NULL, &err), SL_OK,
           "but if memory is short it gets what nobody uses");
    is_int(fake_cudart.blocks, 0, "which the pool gives back");
    call(dev, SL_PLAIN_CUBLAS_DESTROY, NULL, NULL, NULL);
    blas.answer = CUBLAS_STATUS_INTERNAL_ERROR;
    is_int(call(dev, SL_PLAIN_CUBLAS_DESTROY, NULL, NULL, &err), SL_EBACKEND, "so can destroying");
    is_int(blas.live, 1, "after which the handle is gone");
    blas.answer = CUBLAS_STATUS_SUCCESS;
    blas.missing = true;
    is_int(call(dev, SL_PLAIN_CUBLAS_CREATE, NULL, NULL, &err), SL_EUNSUPPORTED,
           "cuBLAS may not be there");
    blas.missing = false;
    close_devices(1, "cuBLAS");
    is_int(blas.live, 0, "a device that closes destroys the handles that are left");
}

/* ---- peers ---- */

static void test_peers(void)
{
    sl_device *a, *b;
    sl_error err = { .msg = "" };
    bool answer = false;
    open_devices(2);
    a = &devices[0].base, b = &devices[1].base;
    cuda_peer_access(a, b, SL_PEER_CAN_ACCESS, &answer, NULL);
    ok(answer, "devices can reach each other");
    cuda_peer_access(a, b, SL_PEER_ENABLE, &answer, NULL);
    ok(answer && fake_cudart.peers[0][1] && !fake_cudart.peers[1][0], "in one direction each");
    ok(devices[0].peers == 2 && devices[1].peers == 0, "which is noted for recordings");
    ok(fake_cudart.pool_peers[0][1] == 2 && !fake_cudart.pool_peers[1][0],
       "the pools of the peer are shared, too");
    cuda_peer_access(a, b, SL_PEER_ENABLE, &answer, NULL);
    ok(!answer && cudaGetLastError() == cudaSuccess, "a second time changes nothing");
    cuda_peer_access(a, b, SL_PEER_DISABLE, &answer, NULL);
    ok(answer && !fake_cudart.peers[0][1] && devices[0].peers == 0, "access can be taken back");
    is_int(rest.device_waits, 2, "when nothing of the two devices is in flight");
    cuda_peer_access(a, b, SL_PEER_DISABLE, &answer, NULL);
    ok(!answer && cudaGetLastError() == cudaSuccess, "a second time there is none to take");

    fake_cudart.no_pool_access = true;
    is_int(cuda_peer_access(a, b, SL_PEER_ENABLE, &answer, NULL), SL_EBACKEND,
           "where the pools cannot be shared");
    ok(!answer && !fake_cudart.peers[0][1], "nothing is");
    fake_cudart.no_pool_access = false;
    rest.interrupted = true;
    is_int(cuda_peer_access(a, b, SL_PEER_DISABLE, &answer, NULL), SL_EINTERRUPT,
           "taking it back waits, which may be interrupted");
    is_int(cuda_peer_access(a, b, SL_PEER_ENABLE, &answer, NULL), SL_EINTERRUPT,
           "as may be enabling, which settles host functions");
    ok(!answer && !fake_cudart.peers[0][1], "and has changed nothing then");
    rest.interrupted = false;
    funcs_running = true;
    ok(cuda_peer_access(a, b, SL_PEER_ENABLE, &answer, &err) == SL_ESTATE
           && cuda_peer_access(a, b, SL_PEER_DISABLE, &answer, NULL) == SL_ESTATE,
       "inside a host function both are refused");
    is_str(err.msg,
           "cudaDeviceEnablePeerAccess inside a host function: it may wait for GPU 1, "
           "which waits for the function",
           "because they could never return");
    funcs_running = false;
    cuda_peer_access(a, b, SL_PEER_ENABLE, &answer, NULL);
    ok(answer && fake_cudart.peers[0][1], "settling leaves the right device current");
    cuda_peer_access(a, b, SL_PEER_DISABLE, &answer, NULL);
    fake_cudart.no_peer = true;
    ok(cuda_peer_access(a, b, SL_PEER_CAN_ACCESS, &answer, NULL) == SL_OK && !answer,
       "devices may be unable to reach each other");
    is_int(cuda_peer_access(a, b, SL_PEER_ENABLE, &answer, NULL), SL_EBACKEND,
           "then enabling is an error");
    close_devices(2, "peers");
}

int main(void)
{
    plan(0);
    test_free();
    test_free_in_use();
    test_free_async();
    test_free_host();
    test_waited();
    test_limit();
    test_cublas();
    test_peers();
    return done_testing();
}
