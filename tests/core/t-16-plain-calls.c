/* t-16-plain-calls.c - cudaMalloc and its kin: what they take, make and refuse. */
#include "../kept.h"
#include "fake_backend.h"

static sl_device *device;
static sl_stream *stream;

static void test_memory(void)
{
    sl_tensor *m = NULL, *h = NULL, *a = NULL;
    sl_tensor *pageable = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 2, 2);
    is_int(sl_cuda_malloc(device, 100, &m, NULL), SL_OK, "cudaMalloc gives memory");
    is_int(fake.last_plain, SL_PLAIN_MALLOC, "and costs a call");
    ok(sl_tensor_get_spec(m)->dtype == SL_UINT8 && sl_tensor_bytes(m) == 100, "of bytes");
    is_int(sl_cuda_malloc_host(device, 64, &h, NULL), SL_OK, "cudaMallocHost gives pinned memory");
    is_int(fake_stats(device).pinned_bytes, 64, "counted as such");
    is_int(sl_cuda_malloc_async(stream, 0, &a, NULL), SL_OK, "nothing can be allocated, too");
    fails_with(sl_cuda_free(h, err), SL_EPLACE,
               "cudaFree takes device memory; this is pinned host memory: use cudaFreeHost",
               "cudaFree refuses host memory and names the right call");
    fails_advising(sl_cuda_free(pageable, err), SL_EPLACE, SL_ADVICE_FREE_TENSOR,
                   "cudaFree takes device memory; this is a host tensor", "also for a host tensor");
    fails_with(sl_cuda_free_host(m, err), SL_EPLACE,
               "cudaFreeHost takes pinned host memory; this is device memory: use cudaFree",
               "cudaFreeHost refuses device memory");
    fails_with(sl_cuda_free_host(pageable, err), SL_EPLACE,
               "cudaFreeHost takes pinned host memory; this is a pageable host tensor: "
               "use its free",
               "and pageable memory");
    sl_tensor_pin(pageable, NULL);
    fails_with(sl_cuda_free_host(pageable, err), SL_EPLACE,
               "cudaFreeHost takes memory of cudaMallocHost; this is a host tensor that was "
               "pinned later: use cudaHostUnregister",
               "and memory that was pinned later");
    is_int(sl_cuda_free(m, NULL), SL_OK, "cudaFree frees");
    fails_with(sl_cuda_free(m, err), SL_ECLOSED, "the memory has been freed", "once");
    is_int(sl_cuda_free_host(h, NULL), SL_OK, "cudaFreeHost frees");
    is_int(sl_cuda_free_async(a, stream, NULL), SL_OK, "cudaFreeAsync frees");
    is_int(fake_stats(device).buffers, 1, "and the memory is gone");
    fails_with(sl_cuda_malloc(device, SIZE_MAX, &m, err), SL_ESHAPE,
               "18446744073709551615 bytes do not fit in 63 bits", "sizes are limited");
    sl_tensor_release(m);
    sl_tensor_release(h);
    sl_tensor_release(a);
    sl_tensor_release(pageable);
}

static void test_failed_malloc(void)
{
    sl_tensor *m = NULL;
    fake.fail_plain_calls = 1;
    is_int(sl_cuda_malloc(device, 8, &m, NULL), SL_EIO, "cudaMalloc can fail in the call");
    fake.fail_buffers = 2;
    is_int(sl_cuda_malloc(device, 8, &m, NULL), SL_ENOMEM, "or for want of memory");
    is_int(fake_stats(device).tensors + fake_stats(device).buffers, 0, "and leaves nothing");
    sl_cuda_malloc(device, 8, &m, NULL);
    fake.fail_plain_calls = 1;
    is_int(sl_cuda_free(m, NULL), SL_EIO, "cudaFree can fail");
    ok(!sl_tensor_is_freed(m), "and has not freed then");
    sl_tensor_release(m);
}

/* What the backend is told: the memory, and the stream where the call has one. */
static void test_operands(void)
{
    sl_tensor *m = NULL, *a = NULL;
    sl_tensor *pageable = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 2, 2);
    const sl_buffer *buffer;
    sl_cuda_malloc(device, 8, &m, NULL);
    buffer = fake.last_plain_buffer;
    ok(buffer && buffer->bytes == 8 && !fake.last_plain_stream, "cudaMalloc has no stream");
    is_int(fake.last_how, SL_ALLOC_PLAIN, "and memory of its own");
    sl_cuda_free(m, NULL);
    ok(fake.last_plain_buffer == buffer && !fake.last_plain_stream, "cudaFree lets it go");
    sl_cuda_malloc_async(stream, 8, &a, NULL);
    ok(fake.last_plain_stream == stream, "cudaMallocAsync has a stream");
    is_int(fake.last_how, SL_ALLOC_ASYNC, "and memory in it");
    buffer = fake.last_plain_buffer;
    sl_cuda_free_async(a, stream, NULL);
    ok(fake.last_plain_buffer == buffer && fake.last_plain_stream == stream,
       "cudaFreeAsync lets it go there");
    sl_tensor_pin(pageable, NULL);
    ok(fake.last_plain_buffer && fake.last_plain_buffer->bytes == 16,
       "cudaHostRegister has its memory");
    sl_cuda_call(device, "cublasCreate", NULL);
    ok(!fake.last_plain_buffer && !fake.last_plain_stream, "cublasCreate has neither");
    sl_tensor_release(m);
    sl_tensor_release(a);
    sl_tensor_release(pageable);
}

/* On a real GPU the memory is had, or page-locked, before plain_call. */
static void test_recorded_times(void)
{
    sl_tensor *m = NULL;
    sl_tensor *pageable = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 2, 2);
    sl_timeline *timeline = NULL;
    const sl_call *calls;
    size_t n = 0;
    sl_record_start(device, "test", &timeline, NULL);
    fake.buffer_open_ns = 70000;
    sl_cuda_malloc(device, 8, &m, NULL);
    fake.buffer_open_ns = 0;
    fake.pin_ns = 80000;
    sl_tensor_pin(pageable, NULL);
    fake.pin_ns = 0;
    sl_record_stop(device, timeline);
    calls = calls_of(timeline, &n);
    if (ok(n == 2, "both are recorded")) {
        is_int(calls[0].host_end_ns - calls[0].host_start_ns, 71000,
               "cudaMalloc lasts as long as having the memory");
        is_int(calls[1].host_end_ns - calls[1].host_start_ns, 81000,
               "cudaHostRegister as long as page-locking it");
    }
    sl_timeline_release(timeline);
    sl_tensor_release(m);
    sl_tensor_release(pageable);
}

static void test_memory_info(void)
{
    int64_t free_bytes = 0, total_bytes = 0;
    size_t n = 0;
    sl_timeline *timeline = NULL;
    const sl_call *calls;
    sl_record_start(device, "test", &timeline, NULL);
    is_int(sl_cuda_mem_get_info(device, &free_bytes, &total_bytes, NULL), SL_OK,
           "a device is asked for its memory");
    sl_record_stop(device, timeline);
    is_int(free_bytes, 1 << 20, "what is free");
    is_int(total_bytes, 1 << 20, "and what there is");
    calls = calls_of(timeline, &n);
    ok(n == 1 && !strcmp(sl_timeline_text(timeline, calls[0].name), "cudaMemGetInfo"),
       "which is a call as others are");
    sl_timeline_release(timeline);
    fails_with(sl_cuda_mem_get_info(NULL, &free_bytes, &total_bytes, err), SL_ECLOSED,
               "the device is closed", "a closed device has none");
}

static void test_transfers(void)
{
    sl_tensor *d = NULL, *h = NULL;
    sl_tensor *f = fake_matrix(device, 2, 2);
    sl_tensor *pageable = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 2, 2);
    double value = 0;
    sl_cuda_malloc(device, 16, &d, NULL);
    sl_cuda_malloc_host(device, 16, &h, NULL);
    is_int(sl_cuda_memset(d, 0x1ff, 16, NULL), SL_OK, "cudaMemset takes an int");
    is_int(fake.last_work.byte_value, 255, "and uses its low byte");
    is_int(fake.n_queue, 1, "without waiting");
    fails_with(sl_cuda_memset(d, 0, 17, err), SL_EINVAL, "17 bytes: the memory has 16",
               "it stays within the memory");
    fails_with(sl_cuda_memset_async(pageable, 0, 1, stream, err), SL_EPLACE,
               "cudaMemsetAsync takes device or pinned memory; this is pageable: use fill_",
               "which may not be pageable");
    sl_tensor_release(pageable);
    is_int(sl_cuda_memset(h, 0, 16, NULL), SL_OK, "cudaMemset takes pinned memory");
    is_int(fake.last_work.flags, SL_WORK_SYNC, "and waits then");
    is_int(sl_cuda_memcpy(h, d, 4, NULL), SL_OK, "cudaMemcpy copies the first bytes");
    is_int(fake.last_work.flags, SL_WORK_SYNC, "as the call that waits");
    is_int(fake_stats(device).ops_in_flight, 0, "and nothing is in flight after it");
    sl_tensor_read(h, 3, 1, &value, NULL, NULL);
    is_double(value, 255, 0, "they arrive");
    sl_tensor_read(h, 4, 1, &value, NULL, NULL);
    is_double(value, 0, 0, "and no others");
    is_int(sl_cuda_memcpy_async(f, h, 16, stream, NULL), SL_OK, "bytes go anywhere");
    is_int(fake.last_work.copy_kind, SL_SPAN_MEMCPY_H2D, "by the places of both sides");
    fails_with(sl_cuda_memcpy(f, d, 17, err), SL_EINVAL, "17 bytes: the destination has 16",
               "but not past the end");
    fake.computes = 0;
    sl_cuda_memcpy(h, h, 16, NULL);
    is_int(fake.computes, 1, "host to host is host work");
    sl_device_synchronize(device, NULL);
    sl_tensor_release(d);
    sl_tensor_release(h);
    sl_tensor_release(f);
}

static void test_handles(void)
{
    sl_device *other = NULL;
    int calls;
    sl_cuda_call(device, "cublasCreate", NULL);
    is_int(sl_cuda_call(device, "cublasDestroy", NULL), SL_OK, "a handle is destroyed");
    while (sl_cuda_call(device, "cublasDestroy", NULL) == SL_OK)
        ;
    calls = fake.plain_calls;
    fails_with(sl_cuda_call(device, "cublasDestroy", err), SL_ESTATE,
               "no handle of cublas_create is left", "as often as one was created");
    is_int(fake.plain_calls, calls, "then the backend is not asked");
    fake.fail_plain_calls = 1;
    sl_cuda_call(device, "cublasCreate", NULL);
    is_int(sl_cuda_call(device, "cublasDestroy", NULL), SL_ESTATE, "a failed call creates none");
    sl_cuda_call(device, "cublasCreate", NULL);
    fake.fail_plain_calls = 1;
    is_int(sl_cuda_call(device, "cublasDestroy", NULL), SL_EIO, "nor does it destroy one");
    if (sl_device_open("fake", 1, NULL, 0, &other, NULL)) abort();
    is_int(sl_cuda_call(other, "cublasDestroy", NULL), SL_ESTATE, "a handle is its device's");
    sl_device_release(other);
    is_int(sl_cuda_call(device, "cublasDestroy", NULL), SL_OK, "where it stays");
}

static void test_calls(void)
{
    is_int(sl_cuda_call(device, "cublasCreate", NULL), SL_OK, "a call by name");
    is_int(fake.last_plain, SL_PLAIN_CUBLAS_CREATE, "is that call");
    fails_with(sl_cuda_call(device, "cudaFree", err), SL_ENOTFOUND,
               "there is no plain call \"cudaFree\": known are cudaFuncSetCacheConfig, "
               "cudaDeviceSetLimit, cublasCreate, cublasDestroy",
               "calls that need an object are none of these");
    is_str(sl__plain_call_names[SL_PLAIN_FREE_HOST], "cudaFreeHost", "names are in order");
}

int main(void)
{
    plan(0);
    device = fake_open();
    stream = sl_device_default_stream(device);
    test_memory();
    test_failed_malloc();
    test_operands();
    test_recorded_times();
    test_memory_info();
    test_transfers();
    test_handles();
    test_calls();
    fake_close(device);
    return done_testing();
}
