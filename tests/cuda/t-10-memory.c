/* t-10-memory.c - core/cuda/pool.c and the device memory of memory.c over
 * fake_cudart.c: size classes, reuse, growth, shortage, how blocks are freed. */
#include "memory_rig.h"

void *cuda_library_symbol(cuda_library which, const char *name, sl_error *err)
{
    (void)which;
    sl_fail(err, SL_EUNSUPPORTED, "no %s", name);
    return NULL;
}

/* ---- size classes ---- */

static void test_size_classes(void)
{
    static const size_t pairs[][2] = {
        { 1, 512 },
        { 512, 512 },
        { 513, 576 },
        { 576, 576 },
        { 577, 640 },
        { 1000, 1024 },
        { 1024, 1024 },
        { 1025, 1152 },
        { 4 << 20, 4 << 20 },
        { (4 << 20) + 1, 4718592 },
        { 400000000, 402653184 },
        { (size_t)1 << 62, (size_t)1 << 62 },
        { INT64_MAX, (size_t)1 << 63 },
    };
    bool close = true, same = true;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        is_int(cuda_class_bytes(pairs[i][0]), pairs[i][1], "%zu bytes are in the class of %zu",
               pairs[i][0], pairs[i][1]);
    for (size_t bytes = 512; bytes < (size_t)1 << 40; bytes += bytes / 37 + 1) {
        size_t class_bytes = cuda_class_bytes(bytes);
        close = close && class_bytes >= bytes && class_bytes - bytes <= bytes / 8;
        same = same && cuda_class_bytes(class_bytes) == class_bytes;
    }
    ok(close, "a class is at most an eighth larger than what it is asked for");
    ok(same, "a class holds its own size");
}

static void test_pool(void)
{
    cuda_pool pool = { .bytes = 0 };
    cuda_block a = { .bytes = 1024 }, b = { .bytes = 1024 }, odd = { .bytes = 1100 };
    cuda_pool_put(&pool, &a);
    cuda_pool_put(&pool, &b);
    is_int(pool.bytes, 2048, "a pool counts its bytes");
    ok(cuda_pool_take(&pool, 1000) == &b, "the block that came last goes first");
    ok(!cuda_pool_take(&pool, 960) && !cuda_pool_take(&pool, 1025), "other classes have none");
    cuda_pool_put(&pool, &odd);
    ok(cuda_pool_take(&pool, 1025) == NULL, "a block between two classes is not too small");
    ok(cuda_pool_take_largest(&pool) == &odd, "it is in the class below, before older ones");
    ok(cuda_pool_take_largest(&pool) == &a && !cuda_pool_take_largest(&pool),
       "the largest go first, until there is none");
    is_int(pool.bytes, 0, "the pool is empty then");
}

/* ---- tensors ---- */

static void test_reuse(void)
{
    open_devices(1);
    cuda_buffer nothing = tensor(&devices[0], SL_ON_DEVICE, 0);
    ok(!nothing.data && fake_cudart.pool_mallocs == 0, "a tensor of no bytes has no memory");
    close_buffer(&nothing);

    cuda_buffer a = tensor(&devices[0], SL_ON_DEVICE, 4 * MIB);
    cuda_buffer b = tensor(&devices[0], SL_ON_DEVICE, 4 * MIB);
    void *was = a.data;
    ok(a.data && b.data && a.data != b.data, "two tensors have two memories");
    is_int(fake_cudart.mallocs, 0, "without cudaMalloc");
    int calls = fake_cudart.calls;
    close_buffer(&a);
    ok(!a.data && !a.block, "a closed buffer has none");
    cuda_buffer c = tensor(&devices[0], SL_ON_DEVICE, 4 * MIB - 5);
    ok(c.data == was, "the next tensor of the class gets the memory of the last one");
    is_int(fake_cudart.calls, calls, "without a call of CUDA's");
    close_buffer(&b);
    close_buffer(&c);

    cuda_block *own = cuda_block_take(&devices[0], 4 * MIB, NULL);
    ok(own && own->data == was, "the backend's own blocks are the same");
    is_int(fake_cudart.calls, calls, "and cost the same");
    cuda_block_give(&devices[0], own);
    close_devices(1, "tensors");
}

/* What core does when a stream's freed memory goes to its next tensor (core/reuse.h). */
static cuda_buffer heir_of(cuda_buffer *lender, size_t bytes)
{
    cuda_buffer heir = buffer_of(&devices[0], SL_ON_DEVICE, bytes);
    heir.base.lender = &lender->base;
    if (open_tensor(&heir, NULL)) diag("no heir of %zu bytes", bytes);
    return heir;
}

static void test_lending(void)
{
    open_devices(1);
    cuda_buffer a = tensor(&devices[0], SL_ON_DEVICE, 4 * MIB);
    void *was = a.data;
    cuda_buffer b = heir_of(&a, 4 * MIB - 9);
    ok(b.data == was && b.base.lender && !a.data, "an heir has its lender's memory");
    close_buffer(&b);
    ok(a.data == was && !b.data && !b.block, "which is the lender's again when it is closed");
    b = heir_of(&a, 4 * MIB);
    is_int(cuda_buffer_part(&b.base, NULL), SL_OK, "or when it gets memory of its own");
    ok(a.data == was && b.data && b.data != was && b.block->bytes == 4 * MIB, "as large");
    b.base.lender = NULL;
    cuda_buffer c = heir_of(&a, 4 * MIB);
    c.base.lender = NULL; /* core, when the lender's work has ended */
    close_buffer(&a);
    cuda_buffer d = tensor(&devices[0], SL_ON_DEVICE, 4 * MIB);
    ok(c.data == was && d.data != was, "a lender that is closed leaves it to the heir");
    is_int(fake_cudart.frees + fake_cudart.mallocs, 0, "the driver frees nothing");

    b.base.lender = NULL;
    cuda_buffer *all[] = { &b, &c, &d };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        close_buffer(all[i]);
    close_devices(1, "heirs");
}

static void test_not_lending(void)
{
    open_devices(1);
    cuda_buffer freed = buffer_of(&devices[0], SL_ON_DEVICE, 4 * MIB), e = heir_of(&freed, 4 * MIB);
    ok(!e.base.lender && e.data, "of a lender without memory nothing is taken");
    cuda_buffer small = tensor(&devices[0], SL_ON_DEVICE, 4 * MIB);
    small.block->bytes = 4 * MIB - 64; /* as when memory was short */
    cuda_buffer f = heir_of(&small, 4 * MIB);
    ok(!f.base.lender && f.data != small.data, "nor of one that is too small");
    small.block->bytes = 4 * MIB;

    cuda_buffer async = buffer_of(&devices[0], SL_ON_DEVICE, 4 * MIB);
    async.base.how = SL_ALLOC_ASYNC;
    cuda_stream stream;
    fake_stream of;
    add_stream(&devices[0], &stream, &of, 7);
    async.base.lender = &small.base;
    cuda_buffer_open(&async.base, SL_ALLOC_ASYNC, &stream.base, NULL);
    ok(async.data && small.data && async.base.lender, "cudaMallocAsync is the driver's affair");
    is_int(cuda_buffer_part(&async.base, NULL), SL_OK, "nothing is parted there");
    async.base.lender = NULL;
    cuda_buffer *all[] = { &e, &f, &small, &async };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        close_buffer(all[i]);
    close_devices(1, "what is not lent");
}

static void test_lending_in_a_shortage(void)
{
    fake_cudart.total_bytes = 600 * MIB;
    open_devices(1);
    cuda_buffer a = tensor(&devices[0], SL_ON_DEVICE, 512 * MIB);
    cuda_buffer b = heir_of(&a, 512 * MIB);
    is_int(cuda_buffer_part(&b.base, NULL), SL_ENOMEM, "without memory for its own");
    ok(b.data && !a.data, "an heir keeps what it has");
    close_buffer(&b);
    close_buffer(&a);
    close_devices(1, "a shortage");
}

static void test_growth(void)
{
    enum { N = 1000 };
    static cuda_buffer many[N];
    fake_cudart.total_bytes = (size_t)80 << 30;
    open_devices(1);
    for (int i = 0; i < N; i++)
        many[i] = tensor(&devices[0], SL_ON_DEVICE, 4 * MIB);
    ok(fake_cudart.mappings <= 16, "1000 tensors of 4 MiB map memory a few times only");
    diag("%d mappings, %zu MiB mapped", fake_cudart.mappings, fake_cudart.reserved_bytes[0] / MIB);
    ok(fake_cudart.reserved_bytes[0] <= 5000 * MIB, "and a GiB more than they need at most");
    int calls = fake_cudart.calls;
    for (int i = 0; i < N; i++)
        close_buffer(&many[i]);
    for (int i = 0; i < N; i++)
        many[i] = tensor(&devices[0], SL_ON_DEVICE, 4 * MIB);
    is_int(fake_cudart.calls, calls, "the second thousand costs no call");
    for (int i = 0; i < N; i++)
        close_buffer(&many[i]);
    cuda_memory_trim(&devices[0]);
    is_int(fake_cudart.taken_bytes[0], 0, "a trim gives all of it back");
    close_devices(1, "a thousand tensors");

    fake_cudart.total_bytes = 40 * MIB;
    open_devices(1);
    cuda_buffer a = tensor(&devices[0], SL_ON_DEVICE, 4 * MIB);
    is_int(fake_cudart.taken_bytes[0], 20 * MIB, "half of a small device is left alone");
    close_buffer(&a);
    close_devices(1, "a small device");
}

/* The driver's stream of allocations may stand behind a host function. */
static void test_wait(void)
{
    open_devices(2);
    fake_stream *memory_stream = (fake_stream *)devices[0].memory_stream;
    memory_stream->busy = true;
    waits_for_funcs = memory_stream;
    cuda_funcs_pending = 1;
    cuda_buffer a = tensor(&devices[0], SL_ON_DEVICE, 4 * MIB);
    ok(a.data && rest.funcs_run == 1 && !memory_stream->busy,
       "memory is ready for every stream when it is handed out, after host functions");
    is_int(fake_device, 0, "the device is the current one again");
    is_int(cudaGetLastError(), cudaSuccess, "and no error is left");
    memory_stream->busy = true;
    waits_for_funcs = memory_stream;
    cuda_funcs_pending = 1;
    cuda_memory_trim(&devices[0]);
    ok(rest.funcs_run == 2 && !memory_stream->busy, "a trim waits in the same way");
    is_int(fake_cudart.stream_syncs, 0, "never in a call that would hold the host");
    close_buffer(&a);
    close_devices(2, "a wait for memory");
}

/* It may stand behind a long kernel: CUDA_DEVICE_MAX_CONNECTIONS=1. */
static void test_interrupted_wait(void)
{
    sl_error err = { .msg = "" };
    open_devices(1);
    fake_stream *memory_stream = (fake_stream *)devices[0].memory_stream;
    cuda_buffer a = buffer_of(&devices[0], SL_ON_DEVICE, 4 * MIB);
    memory_stream->busy = true;
    interrupted = 1;
    is_int(open_tensor(&a, &err), SL_EINTERRUPT, "a wait for memory can be interrupted");
    ok(!a.data && fake_cudart.blocks == 0, "and gives back what it waited for");
    cuda_memory_trim(&devices[0]);
    is_int(fake_cudart.trims, 0, "a trim is given up as well");
    interrupted = 0;
    memory_stream->busy = false;
    is_int(open_tensor(&a, &err), SL_OK, "afterwards there is memory again");
    is_int(cudaGetLastError(), cudaSuccess, "and no error is left");
    close_buffer(&a);
    close_devices(1, "an interrupted wait for memory");
}

/* NVIDIA does not say whether cudaMemPoolTrimTo waits. */
static void test_trim_settles(void)
{
    open_devices(1);
    cuda_buffer a = tensor(&devices[0], SL_ON_DEVICE, 4 * MIB);
    close_buffer(&a);
    devices[0].n_in_flight = 1;
    rest.interrupted = true;
    cuda_memory_trim(&devices[0]);
    is_int(fake_cudart.trims, 0, "pools are not trimmed before host functions have run");
    rest.interrupted = false;
    rest.settles = 0;
    cuda_memory_trim(&devices[0]);
    ok(rest.settles == 1 && fake_cudart.trims == 2, "but after them");
    devices[0].n_in_flight = 0;
    cuda_memory_trim(&devices[0]);
    ok(rest.settles == 1 && fake_cudart.trims == 4, "those of an idle device at once");
    close_devices(1, "trimming");
}

/* ---- shortage ---- */

static void test_nearly_all(void)
{
    fake_cudart.total_bytes = 1023 * MIB + 512; /* less than the class of 1023 MiB */
    open_devices(1);
    cuda_buffer all = buffer_of(&devices[0], SL_ON_DEVICE, 1023 * MIB);
    ok(open_tensor(&all, NULL) == SL_OK, "a tensor may have nearly all memory, class or not");
    is_int(all.block->bytes, 1023 * MIB, "no more than it asked for");
    const void *was = all.data;
    close_buffer(&all);
    all.base.bytes = 960 * MIB;
    ok(open_tensor(&all, NULL) == SL_OK && all.data == was, "which a smaller one gets then");
    close_buffer(&all);
    all.base.bytes = 1022 * MIB + 1;
    ok(open_tensor(&all, NULL) == SL_OK, "another large one has it freed first");
    close_buffer(&all);
    close_devices(1, "a tensor of nearly all memory");
}

static void test_shortage(void)
{
    sl_error err = { .msg = "" };
    open_devices(1);
    cuda_buffer keeps = tensor(&devices[0], SL_ON_DEVICE, 256 * MIB);
    cuda_buffer goes = tensor(&devices[0], SL_ON_DEVICE, 512 * MIB);
    close_buffer(&goes);
    cuda_buffer late = buffer_of(&devices[0], SL_ON_DEVICE, 640 * MIB);
    ok(open_tensor(&late, &err) == SL_OK, "memory that nobody uses makes room for a tensor");
    close_buffer(&late);
    late.base.bytes = 700 * MIB;
    ok(cuda_buffer_open(&late.base, SL_ALLOC_PLAIN, NULL, &err) == SL_OK, "and for cudaMalloc");

    cuda_buffer none = buffer_of(&devices[0], SL_ON_DEVICE, 100 * MIB);
    is_int(open_tensor(&none, &err), SL_ENOMEM, "without any room left there is an error");
    is_str(err.msg,
           "out of device memory: 104857600 bytes asked, 71303168 of Fake GPU's "
           "1073741824 are free",
           "which says what was asked and what there is");
    is_int(err.backend_code, cudaErrorMemoryAllocation, "with CUDA's code");
    ok(!none.data && !none.block, "and leaves the buffer empty");
    is_int(cudaGetLastError(), cudaSuccess, "and no error behind");
    is_int(cuda_buffer_open(&none.base, SL_ALLOC_PLAIN, NULL, &err), SL_ENOMEM,
           "cudaMalloc fails alike");
    is_int(cuda_buffer_open(&none.base, SL_ALLOC_ASYNC, NULL, NULL), SL_ENOMEM,
           "so does cudaMallocAsync");
    ok(!cuda_block_take(&devices[0], 100 * MIB, NULL), "so does a block of the backend");
    close_buffer(&late);
    close_buffer(&keeps);
    close_devices(1, "a shortage");
}

/* ---- plain memory that the script does not free ---- */

static void test_plain_memory(void)
{
    cuda_stream stream, other;
    fake_stream of, of_other;
    open_devices(1);
    add_stream(&devices[0], &stream, &of, 7);
    add_stream(&devices[0], &other, &of_other, 8);
    cuda_buffer plain = buffer_of(&devices[0], SL_ON_DEVICE, 100), async = plain, late = plain;
    cuda_buffer_open(&plain.base, SL_ALLOC_PLAIN, &stream.base, NULL);
    ok(plain.data && fake_cudart.mallocs == 1, "cudaMalloc is called at once");
    ok(rest.settles > 0, "after host functions that it might wait for");
    cuda_buffer_open(&async.base, SL_ALLOC_ASYNC, &stream.base, NULL);
    ok(async.data && fake_cudart.async_mallocs == 1, "cudaMallocAsync is, too");
    is_int(fake_cudart.stream_syncs, 0, "and nobody waits for it");
    cuda_buffer_open(&late.base, SL_ALLOC_ASYNC, &stream.base, NULL);
    close_buffer(&plain);
    is_int(fake_cudart.frees, 0, "forgotten memory of cudaMalloc is not freed by cudaFree");
    is_int(fake_cudart.blocks, 2, "but it is freed");
    is_int(of.freed_in, 0, "not in the script's stream");
    close_buffer(&async);
    is_int(of.freed_in, 1, "memory of cudaMallocAsync is freed in the stream that it is of");
    devices[0].streams = NULL;
    close_buffer(&late);
    ok(of.freed_in == 1 && fake_cudart.blocks == 0, "or in another one if that is gone");
    close_devices(1, "plain memory");
}

static void test_refused_free(void)
{
    open_devices(1);
    fake_cudart.no_async_free = true;
    cuda_buffer plain = buffer_of(&devices[0], SL_ON_DEVICE, 4096);
    cuda_buffer_open(&plain.base, SL_ALLOC_PLAIN, NULL, NULL);
    void *was = plain.data;
    close_buffer(&plain);
    is_int(cudaGetLastError(), cudaSuccess, "a cudaFreeAsync that is refused leaves no error");
    plain = tensor(&devices[0], SL_ON_DEVICE, 4096);
    ok(plain.data == was, "a tensor gets the memory instead");
    close_buffer(&plain);
    fake_cudart.no_async_free = false;
    rest.interrupted = true;
    cuda_memory_trim(&devices[0]);
    is_int(fake_cudart.blocks, 1, "a trim that is interrupted does not call cudaFree");
    rest.interrupted = false;
    cuda_memory_trim(&devices[0]);
    is_int(fake_cudart.blocks, 0, "the next one does");
    close_devices(1, "a refused free");
}

static void test_without_pools(void)
{
    sl_error err = { .msg = "" };
    fake_cudart.no_pools = true;
    open_devices(1);
    is_int(fake_cudart.pools, 0, "a device may have no pools");
    cuda_buffer a = tensor(&devices[0], SL_ON_DEVICE, MIB);
    void *was = a.data;
    ok(a.data && fake_cudart.mallocs == 1, "its tensors come from cudaMalloc");
    close_buffer(&a);
    ok(fake_cudart.frees == 0 && fake_cudart.blocks == 1, "and are not freed");
    cuda_buffer plain = buffer_of(&devices[0], SL_ON_DEVICE, 10);
    cuda_buffer_open(&plain.base, SL_ALLOC_PLAIN, NULL, NULL);
    close_buffer(&plain);
    ok(fake_cudart.frees == 0 && fake_cudart.blocks == 2, "neither is what a script forgot");
    a = tensor(&devices[0], SL_ON_DEVICE, MIB);
    ok(a.data == was, "they are used again");
    close_buffer(&a);
    is_int(cuda_buffer_open(&plain.base, SL_ALLOC_ASYNC, NULL, &err), SL_EBACKEND,
           "cudaMallocAsync fails there");
    rest.interrupted = true;
    is_int(cuda_buffer_open(&plain.base, SL_ALLOC_PLAIN, NULL, &err), SL_EINTERRUPT,
           "an interrupted wait before cudaMalloc is an error");
    ok(!plain.block, "that allocates nothing");
    rest.interrupted = false;
    close_devices(1, "a device without pools");
}

/* ---- devices ---- */

static void test_two_devices(void)
{
    int64_t free_bytes = 0, total_bytes = 0;
    open_devices(2);
    cuda_buffer a = tensor(&devices[0], SL_ON_DEVICE, 64 * MIB);
    cuda_buffer b = tensor(&devices[1], SL_ON_DEVICE, 128 * MIB);
    const void *was = a.data;
    ok(fake_cudart.taken_bytes[0] == 64 * MIB && fake_cudart.taken_bytes[1] == 128 * MIB,
       "each device has its own memory");
    close_buffer(&a);
    cuda_buffer c = tensor(&devices[1], SL_ON_DEVICE, 64 * MIB);
    ok(c.data != was, "and its own pool");
    cuda_memory_info(&devices[1].base, &free_bytes, &total_bytes, NULL);
    ok(free_bytes < (int64_t)(900 * MIB) && total_bytes == 1024 * MIB,
       "cudaMemGetInfo is asked of each");
    close_buffer(&b);
    close_buffer(&c);
    close_devices(2, "two devices");
}

static void test_lost_device(void)
{
    sl_error err = { .msg = "" };
    open_devices(1);
    cuda_buffer a = tensor(&devices[0], SL_ON_DEVICE, MIB), plain = a, fresh = a;
    cuda_buffer_open(&plain.base, SL_ALLOC_PLAIN, NULL, NULL);
    fake_cudart.lost[0] = cudaErrorIllegalAddress;
    fresh.base.bytes = 7 * MIB;
    is_int(open_tensor(&fresh, &err), SL_EFAULT, "a lost device gives no memory");
    close_buffer(&a);
    close_buffer(&plain);
    cuda_memory_trim(&devices[0]);
    cuda_memory_close(&devices[0]);
    ok(!cuda_open_devices(), "and can be closed all the same");
    fake_cudart_forget();
}

int main(void)
{
    plan(0);
    test_size_classes();
    test_pool();
    test_reuse();
    test_lending();
    test_not_lending();
    test_lending_in_a_shortage();
    test_growth();
    test_wait();
    test_interrupted_wait();
    test_trim_settles();
    test_nearly_all();
    test_shortage();
    test_plain_memory();
    test_refused_free();
    test_without_pools();
    test_two_devices();
    test_lost_device();
    return done_testing();
}
