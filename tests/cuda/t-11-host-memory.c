/* t-11-host-memory.c - core/cuda/host_memory.c and host_compute.c over fake_cudart.c:
 * page-locked and pageable tensors, page-locking in place, filling and copying. */
#include "memory_rig.h"

#include "../../core/numbers/elements.h"

#include <sys/resource.h>
#include <unistd.h>

void *cuda_library_symbol(cuda_library which, const char *name, sl_error *err)
{
    (void)which;
    sl_fail(err, SL_EUNSUPPORTED, "no %s", name);
    return NULL;
}

static size_t page_bytes;

/* ---- page-locked ---- */

static void test_pinned(void)
{
    open_devices(2);
    cuda_buffer nothing = tensor(&devices[0], SL_PINNED, 0);
    ok(!nothing.data && fake_cudart.host_allocs == 0, "a pinned tensor of no bytes has none");
    close_buffer(&nothing);
    cuda_buffer a = tensor(&devices[0], SL_PINNED, 3000);
    void *was = a.data;
    is_int(fake_cudart.host_flags, cudaHostAllocPortable, "all devices may use a pinned tensor");
    ok(rest.settles > 0, "host functions are settled before cudaHostAlloc");
    memset(a.data, 1, 3000);
    a.base.device = &devices[1].base; /* as core moves it */
    close_buffer(&a);
    is_int(fake_cudart.host_frees, 0, "closing does not free, which could wait");
    int calls = fake_cudart.calls;
    a = tensor(&devices[1], SL_PINNED, 3000);
    ok(a.data == was && fake_cudart.calls == calls, "the next one gets the memory, on any device");
    close_buffer(&a);

    cuda_buffer plain = buffer_of(&devices[0], SL_PINNED, 3000);
    cuda_buffer_open(&plain.base, SL_ALLOC_PLAIN, NULL, NULL);
    ok(plain.data != was, "cudaMallocHost is called for real");
    is_int(fake_cudart.host_flags, cudaHostAllocDefault, "without flags");
    was = plain.data;
    close_buffer(&plain);
    is_int(fake_cudart.host_frees, 0, "what a script forgot is not freed either");
    a = tensor(&devices[0], SL_PINNED, 2800);
    ok(a.data == was, "but given to tensors");
    close_buffer(&a);
    close_devices(2, "pinned tensors");
}

static void test_pinned_limit(void)
{
    enum { N = 8 };
    cuda_buffer many[N], last;
    cuda_host_idle_max_bytes = 4 * MIB;
    open_devices(1);
    for (int i = 0; i < N; i++)
        many[i] = tensor(&devices[0], SL_PINNED, MIB);
    for (int i = 0; i < N; i++)
        close_buffer(&many[i]);
    is_int(fake_cudart.host_blocks, N, "pinned memory above the limit is kept for the moment");
    last = tensor(&devices[0], SL_PINNED, MIB);
    is_int(fake_cudart.host_blocks, N, "taking from it frees nothing");
    close_buffer(&last);
    last = tensor(&devices[0], SL_PINNED, 2 * MIB);
    is_int(fake_cudart.host_blocks, 5, "the next cudaHostAlloc frees what is too much");
    close_buffer(&last);
    cuda_host_idle_max_bytes = 0;
    close_devices(1, "much pinned memory");
}

/* A container kills a process that has too much; a limit stands in for it here. */
static void test_default_limit(void)
{
    struct rlimit old, less;
    const size_t all = sl_host_memory_bytes();
    getrlimit(RLIMIT_DATA, &old);
    less = old;
    less.rlim_cur = all / 2;
    cuda_host_idle_max_bytes = 0;
    setrlimit(RLIMIT_DATA, &less);
    open_devices(1);
    setrlimit(RLIMIT_DATA, &old);
    is_int(cuda_host_idle_max_bytes, all / 2 / 4,
           "a quarter is kept of what the process may have, not of what the machine has");
    cuda_host_idle_max_bytes = 0;
    close_devices(1, "a limit of the process");
}

static void test_pinned_shortage(void)
{
    sl_error err = { .msg = "" };
    open_devices(1);
    cuda_buffer idle = tensor(&devices[0], SL_PINNED, MIB);
    close_buffer(&idle);
    fake_cudart.no_host_memory = true;
    cuda_buffer none = buffer_of(&devices[0], SL_PINNED, 2 * MIB - 100);
    is_int(open_tensor(&none, &err), SL_ENOMEM, "page-locked memory can be used up");
    is_str(err.msg, "out of page-locked host memory: 2097052 bytes asked", "as the error says");
    is_int(fake_cudart.host_allocs, 3, "it was tried again");
    is_int(fake_cudart.host_blocks, 0, "after what nobody used was freed");
    is_int(cuda_buffer_open(&none.base, SL_ALLOC_PLAIN, NULL, NULL), SL_ENOMEM,
           "cudaMallocHost fails alike");
    rest.interrupted = true;
    is_int(open_tensor(&none, &err), SL_EINTERRUPT, "a wait before it may be interrupted");
    rest.interrupted = false;
    funcs_running = true;
    is_int(open_tensor(&none, &err), SL_ESTATE, "inside a host function it is refused");
    is_str(err.msg,
           "cudaHostAlloc inside a host function: it may wait for GPU 0, which waits "
           "for the function",
           "because it could never return");
    funcs_running = false;
    ok(!none.block && !none.data, "the buffer stays empty");
    close_devices(1, "a shortage of pinned memory");
}

/* ---- pageable ---- */

static uintptr_t first_page(const cuda_buffer *buffer)
{
    return (uintptr_t)buffer->data / page_bytes;
}

static uintptr_t last_page(const cuda_buffer *buffer)
{
    return ((uintptr_t)buffer->data + buffer->base.bytes - 1) / page_bytes;
}

static void test_small_pageable(void)
{
    enum { N = 200 };
    cuda_buffer large[N], small[N];
    bool apart = true;
    open_devices(1);
    for (int i = 0; i < N; i++)
        large[i] = tensor(&devices[0], SL_PAGEABLE, page_bytes + 1);
    for (int i = 0; i < N; i++)
        small[i] = tensor(&devices[0], SL_PAGEABLE, 600);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            apart = apart
                    && (last_page(&small[i]) < first_page(&large[j])
                        || last_page(&large[j]) < first_page(&small[i]));
    ok(apart, "small host tensors stay out of the pages of others");
    for (int i = 0; i < N; i++) {
        close_buffer(&large[i]);
        close_buffer(&small[i]);
    }
    close_devices(1, "small pageable tensors");
}

static void test_pageable(void)
{
    enum { N = 40 };
    cuda_buffer many[N];
    bool aligned = true, apart = true, huge = true;
    open_devices(1);
    size_t bytes = page_bytes;
    for (int i = 0; i < N; i++, bytes += bytes / 4) {
        many[i] = tensor(&devices[0], SL_PAGEABLE, bytes);
        memset(many[i].data, i, bytes);
        aligned = aligned && (uintptr_t)many[i].data % page_bytes == 0;
        huge = huge && (bytes < 2 * MIB || (uintptr_t)many[i].data % (2 * MIB) == 0);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++)
            apart = apart
                    && (last_page(&many[i]) < first_page(&many[j])
                        || last_page(&many[j]) < first_page(&many[i]));
    ok(aligned, "host tensors of a page and more begin with a page");
    ok(apart, "no two share one");
    ok(huge, "large ones begin with a huge page");
    void *was = many[N - 1].data, *small_was = many[0].data;
    for (int i = 0; i < N; i++)
        close_buffer(&many[i]);
    many[0] = tensor(&devices[0], SL_PAGEABLE, page_bytes);
    many[1] = tensor(&devices[0], SL_PAGEABLE, many[N - 1].base.bytes);
    ok(many[0].data == small_was && many[1].data == was, "their memory is used again");
    close_buffer(&many[0]);
    close_buffer(&many[1]);
    is_int(fake_cudart.host_allocs + fake_cudart.registers, 0, "without a call of CUDA's");
    cuda_buffer none = buffer_of(&devices[0], SL_PAGEABLE, (size_t)1 << 62);
    sl_error err = { .msg = "" };
    is_int(open_tensor(&none, &err), SL_ENOMEM, "host memory can be used up");
    is_str(err.msg, "out of host memory: 4611686018427387904 bytes asked", "as the error says");
    close_devices(1, "pageable tensors");
}

/* Of the process, in pages. */
static long mapped_pages(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1) pages = -1;
    if (file) fclose(file);
    return pages;
}

static void test_pageable_limit(void)
{
    enum { N = 24 };
    cuda_buffer small, large, many[N];
    const long few = (long)(8 * MIB / page_bytes);
    cuda_host_idle_max_bytes = 64 * MIB;
    open_devices(1);
    long before = mapped_pages();
    small = tensor(&devices[0], SL_PAGEABLE, 16 * MIB);
    large = tensor(&devices[0], SL_PAGEABLE, 512 * MIB);
    long most = mapped_pages();
    close_buffer(&large);
    long after = mapped_pages();
    close_buffer(&small);
    large = tensor(&devices[0], SL_PAGEABLE, 56 * MIB);
    close_buffer(&large);
    long kept = mapped_pages();
    for (int i = 0; i < N; i++)
        many[i] = tensor(&devices[0], SL_PAGEABLE, 3 * MIB);
    for (int i = 0; i < N; i++)
        close_buffer(&many[i]);
    close_devices(1, "large pageable tensors");
    cuda_host_idle_max_bytes = 0;
    if (before < 0) {
        skip(3, "there is no /proc/self/statm");
        return;
    }
    ok(most - after > (long)(500 * MIB / page_bytes), "memory above the limit is freed at once");
    ok(kept - before < (long)(24 * MIB / page_bytes), "also when it is the sum that is above");
    ok(mapped_pages() - before < few, "and the rest when the last device closes");
}

/* ---- page-locking in place ---- */

static void test_pin(void)
{
    sl_error err = { .msg = "" };
    open_devices(1);
    cuda_buffer a = tensor(&devices[0], SL_PAGEABLE, 5 * page_bytes + 8);
    void *was = a.data;
    memset(a.data, 7, a.base.bytes);
    is_int(cuda_host_pin(&a.base, true, &err), SL_OK, "a host tensor is pinned");
    ok(a.data == was && fake_cudart.registered == 1, "where it is");
    is_int(fake_cudart.host_flags, cudaHostRegisterPortable, "for all devices");
    ok(fake_cudart.register_bytes >= a.base.bytes && fake_cudart.register_bytes % page_bytes == 0,
       "in whole pages");
    is_int(cuda_host_pin(&a.base, false, &err), SL_OK, "and unpinned");
    is_int(fake_cudart.registered, 0, "for real");
    cuda_host_pin(&a.base, true, NULL);
    a.base.place = SL_PINNED;
    close_buffer(&a);
    is_int(fake_cudart.unregisters, 1, "a pinned tensor that is closed is not unregistered");
    a = tensor(&devices[0], SL_PAGEABLE, 5 * page_bytes + 8);
    ok(a.data != was, "its memory is not pageable memory any more");
    close_buffer(&a);
    a = tensor(&devices[0], SL_PINNED, 5 * page_bytes + 8);
    ok(a.data == was && fake_cudart.host_allocs == 0, "but serves a pinned tensor");
    close_buffer(&a);

    cuda_buffer nothing = tensor(&devices[0], SL_PAGEABLE, 0);
    int calls = fake_cudart.calls;
    is_int(cuda_host_pin(&nothing.base, true, &err), SL_OK, "no bytes can be pinned");
    is_int(cuda_host_pin(&nothing.base, false, &err), SL_OK, "and unpinned");
    is_int(fake_cudart.calls, calls, "which does nothing");
    close_buffer(&nothing);
    close_devices(1, "pinning in place");
}

static void test_pin_small(void)
{
    cuda_stream stream;
    fake_stream of;
    sl_op op = { .n_operands = SL_SIDES };
    open_devices(2);
    add_stream(&devices[1], &stream, &of, 1);
    cuda_buffer a = tensor(&devices[0], SL_PAGEABLE, 12), b = tensor(&devices[0], SL_PAGEABLE, 12);
    memcpy(a.data, "hello there", 12);
    memcpy(b.data, "twice hello", 12);
    ok(cuda_host_pin(&a.base, true, NULL) == SL_OK && cuda_host_pin(&b.base, true, NULL) == SL_OK,
       "two small tensors can both be pinned");
    is_int(rest.device_waits, 0, "at once, if no operation has them");
    ok(!memcmp(a.data, "hello there", 12) && !memcmp(b.data, "twice hello", 12),
       "and hold what they held");
    cuda_host_pin(&a.base, false, NULL);
    void *was = a.data;
    cuda_host_pin(&a.base, true, NULL);
    ok(a.data == was, "the second time they have a page of their own");
    cuda_buffer c = tensor(&devices[0], SL_PAGEABLE, 12);
    c.base.refs = 2;
    op.operand = op.side;
    op.side[SL_OUTPUT].buffer = &c.base;
    put_in_flight(&stream, &op);
    cuda_host_pin(&c.base, true, NULL);
    ok(!of.busy, "an operation that has it is waited for, on whichever device");
    a.base.place = b.base.place = c.base.place = SL_PINNED;
    close_buffer(&a);
    close_buffer(&b);
    close_buffer(&c);
    close_devices(2, "pinning small tensors");
}

static void test_pin_failures(void)
{
    sl_error err = { .msg = "" };
    open_devices(1);
    cuda_buffer a = tensor(&devices[0], SL_PAGEABLE, 100000);
    void *was = a.data;
    fake_cudart.no_host_memory = true;
    is_int(cuda_host_pin(&a.base, true, &err), SL_ENOMEM, "pinning can fail");
    is_int(fake_cudart.registers, 2, "after a second try");
    is_int(cudaGetLastError(), cudaSuccess, "no error is left behind");
    fake_cudart.no_host_memory = false;
    is_int(cuda_host_pin(&a.base, false, &err), SL_EBACKEND, "what is not pinned is not unpinned");
    rest.interrupted = true;
    is_int(cuda_host_pin(&a.base, true, &err), SL_EINTERRUPT, "the wait before may be interrupted");
    rest.interrupted = false;
    ok(a.data == was && fake_cudart.registered == 0, "the tensor stays as it was");
    close_buffer(&a);
    a = tensor(&devices[0], SL_PAGEABLE, 100000);
    ok(a.data == was, "and its memory pageable");
    cuda_host_pin(&a.base, true, NULL);
    fake_cudart.lost[0] = cudaErrorIllegalAddress;
    is_int(cuda_host_pin(&a.base, false, &err), SL_EFAULT, "a lost device unpins nothing");
    a.base.place = SL_PINNED;
    close_buffer(&a);
    cuda_buffer b = tensor(&devices[0], SL_PAGEABLE, 3 * MIB);
    memset(b.data, 1, 3 * MIB);
    ok(b.data, "pageable memory is still to be had");
    close_buffer(&b);
    cuda_memory_close(&devices[0]);
    ok(!cuda_open_devices(), "and the device closes");
    fake_cudart_forget();
}

/* ---- numbers and copies ---- */

static bool is_generated(sl_kernel kernel, sl_dtype dtype, size_t n)
{
    const size_t element_bytes = dtype == SL_FLOAT32 ? 4 : dtype == SL_UINT8 ? 1 : 2;
    const sl_work work = {
        .kind = SL_WORK_KERNEL,
        .kernel = (uint8_t)kernel,
        .dtype = (uint8_t)dtype,
        .n = (int64_t)n,
        .scalar = 3,
        .seed = 42,
        .sequence = 9,
    };
    cuda_buffer out = tensor(&devices[0], SL_PAGEABLE, n * element_bytes);
    char *expected = malloc(n * element_bytes + 1);
    sl_status status = cuda_host_compute(&(sl_operand){ .buffer = &out.base }, NULL, &work, NULL);
    numbers_generate(&work, 0, n, expected);
    bool same = status == SL_OK && (n == 0 || !memcmp(out.data, expected, n * element_bytes));
    free(expected);
    close_buffer(&out);
    return same;
}

static void test_numbers(void)
{
    static const size_t sizes[] = { 0, 1, 4097, 131072, 1000003, 9000001 };
    static const sl_kernel kernels[] = { SL_KERNEL_FILL, SL_KERNEL_RAND, SL_KERNEL_RANDN };
    bool same = true;
    open_devices(1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof kernels / sizeof *kernels; j++)
            same = same && is_generated(kernels[j], SL_FLOAT32, sizes[i]);
    ok(same, "threads give the same numbers as one pass over the tensor, in float32");
    ok(is_generated(SL_KERNEL_RAND, SL_BFLOAT16, 3000001)
           && is_generated(SL_KERNEL_RANDN, SL_FLOAT16, 3000001)
           && is_generated(SL_KERNEL_FILL, SL_UINT8, 30000001),
       "and in the other dtypes");
    close_devices(1, "numbers");
}

static bool is_copied(size_t n, size_t dst_offset, size_t src_offset)
{
    const sl_work work = {
        .kind = SL_WORK_MEMCPY,
        .bytes = n,
    };
    cuda_buffer dst = tensor(&devices[0], SL_PAGEABLE, n + dst_offset + 1);
    cuda_buffer src = tensor(&devices[0], SL_PINNED, n + src_offset + 1);
    unsigned char *from = src.data, *to = dst.data;
    for (size_t i = 0; i <= n + src_offset; i++)
        from[i] = (unsigned char)(i * 2654435761u >> 13);
    memset(to, 1, n + dst_offset + 1);
    cuda_host_compute(&(sl_operand){ .buffer = &dst.base, .offset = dst_offset },
                      &(sl_operand){ .buffer = &src.base, .offset = src_offset }, &work, NULL);
    bool same = !memcmp(to + dst_offset, from + src_offset, n) && to[n + dst_offset] == 1
                && (dst_offset == 0 || to[dst_offset - 1] == 1);
    close_buffer(&dst);
    close_buffer(&src);
    return same;
}

static void test_copies(void)
{
    open_devices(1);
    ok(is_copied(0, 0, 0) && is_copied(1, 3, 5) && is_copied(MIB, 0, 7)
           && is_copied(40 * MIB + 13, 11, 4),
       "host copies move their bytes and no others");
    sl_work work = { .kind = SL_WORK_MEMCPY, .bytes = 9 * MIB };
    cuda_buffer a = tensor(&devices[0], SL_PAGEABLE, 10 * MIB);
    uint32_t *words = a.data;
    for (uint32_t i = 0; i < 10 * MIB / 4; i++)
        words[i] = i;
    cuda_host_compute(&(sl_operand){ .buffer = &a.base, .offset = 4096 },
                      &(sl_operand){ .buffer = &a.base }, &work, NULL);
    bool moved = true;
    for (uint32_t i = 0; i < 9 * MIB / 4; i++)
        moved = moved && words[i + 1024] == i;
    ok(moved, "also within one tensor");
    char text[] = "streams", back[sizeof text] = "";
    cuda_host_write(&a.base, 1001, sizeof text, text, NULL);
    cuda_host_read(&a.base, 1001, sizeof back, back, NULL);
    is_str(back, text, "what is written is read back");
    close_buffer(&a);
    a = tensor(&devices[0], SL_PAGEABLE, 0);
    ok(cuda_host_write(&a.base, 0, 0, NULL, NULL) == SL_OK
           && cuda_host_read(&a.base, 0, 0, NULL, NULL) == SL_OK,
       "no bytes can be read, too");
    close_devices(1, "copies");
}

int main(void)
{
    plan(0);
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    test_pinned();
    test_pinned_limit();
    test_default_limit();
    test_pinned_shortage();
    test_small_pageable();
    test_pageable();
    test_pageable_limit();
    test_pin();
    test_pin_small();
    test_pin_failures();
    test_numbers();
    test_copies();
    return done_testing();
}
