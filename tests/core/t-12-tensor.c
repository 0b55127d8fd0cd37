/* t-12-tensor.c - tensors: shapes, bytes, reading and writing, copies, pinning. */
#include "fake_backend.h"

static sl_device *device, *other;
static sl_stream *stream;

static sl_status create(sl_place place, int ndim, int64_t d0, int64_t d1, sl_tensor **t,
                        sl_error *err)
{
    sl_tensor_spec spec = { .place = place, .ndim = ndim, .dim = { d0, d1 } };
    return sl_tensor_create(device, &spec, stream, t, err);
}

static void test_shapes(void)
{
    sl_tensor_spec spec = { .dtype = (sl_dtype)17 };
    sl_tensor *t = NULL;
    fails_with(create(SL_ON_DEVICE, 2, (int64_t)1 << 40, (int64_t)1 << 40, &t, err), SL_ESHAPE,
               "1099511627776x1099511627776 float32 elements do not fit in 64 bits",
               "rows times columns may not overflow");
    fails_with(create(SL_ON_DEVICE, 2, (int64_t)1 << 31, (int64_t)1 << 30, &t, err), SL_ESHAPE,
               "2147483648x1073741824 float32 elements do not fit in 64 bits", "nor may the bytes");
    fails_with(create(SL_PAGEABLE, 2, 3, -4, &t, err), SL_ESHAPE,
               "dimension 2 is -4: a size cannot be negative", "a size may not be negative");
    fails_with(create(SL_PAGEABLE, 9, 1, 1, &t, err), SL_ESHAPE,
               "a tensor has 0 to 8 dimensions, not 9", "nine dimensions are too many");
    fails_with(sl_tensor_create(device, &spec, stream, &t, err), SL_EDTYPE, "there is no dtype 17",
               "an unknown dtype is refused");
    fails_with(sl_tensor_create(device, NULL, stream, &t, err), SL_EINVAL,
               "a tensor needs a shape and a dtype", "so is no spec at all");
    fails_with(sl_tensor_create(other, &(sl_tensor_spec){ 0 }, stream, &t, err), SL_EDEVICE,
               "the stream is on another device (fake 0, Fake) than the tensor (fake 1, Fake)",
               "memory comes from a stream of its device");
    is_int(fake_stats(device).tensors, 0, "failures leave no tensor");
    is_int(create(SL_ON_DEVICE, 2, 0, (int64_t)1 << 62, &t, NULL), SL_OK,
           "a tensor may be empty, whatever its other sizes");
    is_int(sl_tensor_numel(t), 0, "it has no elements");
    is_int(sl_tensor_fill(t, 1, stream, NULL), SL_OK, "and can be filled");
    sl_tensor_release(t);
    create(SL_ON_DEVICE, 0, 0, 0, &t, NULL);
    is_int(sl_tensor_numel(t), 1, "a scalar has one element");
    is_int(sl_tensor_bytes(t), 4, "of four bytes");
    sl_tensor_release(t);
}

static void test_access(sl_place place, const char *where)
{
    sl_tensor *t = fake_tensor_2d(device, SL_FLOAT32, place, 2, 3);
    const double in[4] = { 1, 2.5, -3, 1e300 };
    double out[6] = { 9, 9, 9, 9, 9, 9 };
    is_int(sl_tensor_write(t, 1, 4, in, stream, NULL), SL_OK, "elements of a %s tensor are written",
           where);
    is_int(sl_tensor_read(t, 0, 6, out, stream, NULL), SL_OK, "and read");
    ok(out[0] == 0 && out[1] == 1 && out[2] == 2.5 && out[3] == -3 && out[5] == 0,
       "each is where it belongs");
    ok(isinf(out[4]), "a double that is too large for float32 becomes infinite");
    fails_with(sl_tensor_read(t, 4, 3, out, stream, err), SL_EINVAL,
               "3 elements after the first 4: the tensor has 6", "reading past the end fails");
    fails_with(sl_tensor_write(t, -1, 1, in, stream, err), SL_EINVAL,
               "1 elements after the first -1: the tensor has 6", "writing before the start fails");
    fails_with(sl_tensor_read(t, INT64_MAX, INT64_MAX, out, stream, err), SL_EINVAL,
               "9223372036854775807 elements after the first 9223372036854775807: "
               "the tensor has 6",
               "huge ranges do not overflow");
    is_int(sl_tensor_read(t, 6, 0, NULL, stream, NULL), SL_OK, "nothing can be read anywhere");
    fails_with(sl_tensor_read(t, 0, -1, out, stream, err), SL_EINVAL,
               "-1 elements after the first 0: the tensor has 6", "but not less than nothing");
    fails_with(sl_tensor_write(t, -1, 1, out, stream, err), SL_EINVAL,
               "1 elements after the first -1: the tensor has 6", "nor before the first");
    fails_with(sl_tensor_read(t, 7, 0, out, stream, err), SL_EINVAL,
               "0 elements after the first 7: the tensor has 6", "nor nothing behind the end");
    is_int(fake_stats(device).buffers, 1, "no temporary memory is left");
    sl_tensor_release(t);
}

static void test_failed_access(void)
{
    sl_tensor *t = fake_matrix(device, 1, 1);
    double value = 3;
    fake.fail_enqueues = 1;
    is_int(sl_tensor_write(t, 0, 1, &value, stream, NULL), SL_EIO, "a write can fail to enqueue");
    fake.fail_buffers = 2;
    is_int(sl_tensor_read(t, 0, 1, &value, stream, NULL), SL_ENOMEM, "a read can be out of memory");
    fake.fail_synchronizes = 1;
    is_int(sl_tensor_read(t, 0, 1, &value, stream, NULL), SL_EINTERRUPT, "or be interrupted");
    sl_device_synchronize(device, NULL);
    is_int(fake_stats(device).buffers, 1, "no temporary memory is left by failures");
    sl_tensor_release(t);
}

static void test_large_read(void)
{
    enum { N = 5000 };
    static double in[N], out[N];
    sl_tensor *t = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, N, 1);
    bool same = true;
    for (int i = 0; i < N; i++)
        in[i] = i;
    sl_tensor_write(t, 0, N, in, NULL, NULL);
    sl_tensor_read(t, 0, N, out, NULL, NULL);
    for (int i = 0; i < N; i++)
        same = same && out[i] == in[i];
    ok(same, "a read of many pieces is whole");
    sl_tensor_release(t);
}

static void test_fill(void)
{
    sl_tensor *t = fake_matrix(device, 2, 2);
    sl_tensor *h = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 2, 2);
    sl_tensor *u = fake_tensor_2d(device, SL_UINT8, SL_ON_DEVICE, 2, 2);
    sl_tensor_fill(t, 0, stream, NULL);
    is_int(fake.last_work.kind, SL_WORK_MEMSET, "filling with 0 is a memset");
    is_int(fake.last_work.bytes, 16, "of all bytes");
    sl_tensor_fill(t, -0.0, stream, NULL);
    is_int(fake.last_work.kind, SL_WORK_KERNEL, "-0.0 is not 0");
    sl_tensor_fill(u, 300, stream, NULL);
    is_int(fake.last_work.byte_value, 255, "uint8 saturates, in a memset");
    sl_tensor_rand(t, 42, 7, stream, NULL);
    is_int(fake.last_work.kernel, SL_KERNEL_RAND, "rand is a kernel");
    ok(fake.last_work.seed == 42 && fake.last_work.sequence == 7, "by the seed and the sequence");
    fails_with(sl_tensor_randn(u, 1, 0, stream, err), SL_EDTYPE,
               "the tensor is uint8; random numbers need float32, bfloat16 or float16",
               "random bytes are refused");
    fake.computes = fake.enqueues = 0;
    sl_tensor_randn(h, 1, 0, NULL, NULL);
    ok(fake.computes == 1 && fake.enqueues == 0, "host tensors are filled by the host");
    fails_with(sl_tensor_fill(t, 1, NULL, err), SL_ECLOSED, "the stream is closed",
               "device tensors need a stream");
    fails_with(sl_tensor_fill(NULL, 1, stream, err), SL_ECLOSED, "the tensor is missing",
               "and a tensor is needed at all");
    sl_device_synchronize(device, NULL);
    sl_tensor_release(t);
    sl_tensor_release(h);
    sl_tensor_release(u);
}

static void test_copy(void)
{
    sl_tensor *a = fake_matrix(device, 2, 2), *b = fake_matrix(device, 2, 2);
    sl_tensor *wide = fake_matrix(device, 2, 3);
    sl_tensor *half = fake_tensor_2d(device, SL_FLOAT16, SL_ON_DEVICE, 2, 2);
    sl_tensor *h = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 2, 2);
    sl_tensor *p = fake_tensor_2d(device, SL_FLOAT32, SL_PINNED, 2, 2);
    fake.synchronizes = 0;
    sl_tensor_copy(a, b, false, stream, NULL);
    is_int(fake.synchronizes, 0, "a copy on the device does not wait, as in PyTorch");
    is_int(fake.last_work.copy_kind, SL_SPAN_MEMCPY_D2D, "it is a DtoD copy");
    sl_tensor_copy(a, h, true, stream, NULL);
    is_int(fake.last_work.copy_kind, SL_SPAN_MEMCPY_H2D, "host to device");
    is_int(fake.synchronizes, 0, "does not wait when it is non_blocking");
    sl_tensor_copy(p, a, false, stream, NULL);
    is_int(fake.last_work.copy_kind, SL_SPAN_MEMCPY_D2H, "device to host");
    is_int(fake.synchronizes, 1, "waits when it is not");
    fake.enqueues = fake.computes = 0;
    sl_tensor_copy(p, h, false, NULL, NULL);
    ok(fake.computes == 1 && fake.enqueues == 0, "host to host is host work");
    sl_tensor_copy(a, a, false, stream, NULL);
    is_int(fake.enqueues, 0, "a copy onto itself is nothing");
    fails_with(sl_tensor_copy(wide, a, false, stream, err), SL_ESHAPE,
               "the destination is 2x3, the source 2x2", "shapes must agree");
    fails_advising(sl_tensor_copy(half, a, false, stream, err), SL_EDTYPE, SL_ADVICE_CAST,
                   "the destination is float16, the source float32", "and dtypes");
    sl_tensor_free(b, NULL);
    fails_with(sl_tensor_copy(a, b, false, stream, err), SL_ECLOSED, "the source has been freed",
               "a freed tensor is named");
    sl_device_synchronize(device, NULL);
    sl_tensor_release(a);
    sl_tensor_release(b);
    sl_tensor_release(wide);
    sl_tensor_release(half);
    sl_tensor_release(h);
    sl_tensor_release(p);
}

static bool is_copy(sl_tensor *dst, sl_tensor *src, bool non_blocking, sl_span_kind kind)
{
    fake.last_work = (sl_work){ 0 };
    return sl_tensor_copy(dst, src, non_blocking, stream, NULL) == SL_OK
           && fake.last_work.kind == SL_WORK_MEMCPY && fake.last_work.copy_kind == kind
           && fake.last_work.bytes == 16;
}

/* Copies that are like one before are known, and have to be what they would be otherwise. */
static void test_known_copies(void)
{
    sl_tensor *a = fake_matrix(device, 2, 2), *b = fake_matrix(device, 2, 2);
    sl_tensor *h = fake_tensor_2d(device, SL_FLOAT32, SL_PINNED, 2, 2);
    sl_tensor *g = fake_tensor_2d(other, SL_FLOAT32, SL_ON_DEVICE, 2, 2);
    fake.synchronizes = 0;
    ok(is_copy(a, h, true, SL_SPAN_MEMCPY_H2D) && is_copy(a, h, true, SL_SPAN_MEMCPY_H2D),
       "the same copy again is the same");
    ok(is_copy(a, h, false, SL_SPAN_MEMCPY_H2D) && fake.synchronizes == 1,
       "and waits when it is not non_blocking");
    ok(is_copy(a, b, true, SL_SPAN_MEMCPY_D2D) && is_copy(h, a, true, SL_SPAN_MEMCPY_D2H),
       "other tensors are another copy");
    fails_with(sl_tensor_copy(h, a, true, NULL, err), SL_ECLOSED, "the stream is closed",
               "a known copy needs a stream");
    fails_with(sl_tensor_copy(h, a, true, sl_device_default_stream(other), err), SL_EDEVICE,
               "the stream is on another device (fake 1, Fake) than the memory (fake 0, Fake)",
               "of its device");
    ok(is_copy(a, h, true, SL_SPAN_MEMCPY_H2D), "one more that will be known");
    sl_tensor_copy(g, h, true, sl_device_default_stream(other), NULL);
    ok(sl_tensor_device(h) == other, "host memory goes to another GPU");
    ok(is_copy(a, h, true, SL_SPAN_MEMCPY_H2D) && sl_tensor_device(h) == device,
       "and comes back with a copy that was known");
    ok(is_copy(a, h, true, SL_SPAN_MEMCPY_H2D), "which is known again");
    sl_tensor_free(h, NULL);
    fails_with(sl_tensor_copy(a, h, true, stream, err), SL_ECLOSED, "the source has been freed",
               "but no longer when a tensor is freed");
    sl_device_synchronize(other, NULL);
    sl_device_synchronize(device, NULL);
    sl_tensor_release(a);
    sl_tensor_release(b);
    sl_tensor_release(h);
    sl_tensor_release(g);
}

static void test_pin(void)
{
    sl_tensor *h = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 2, 2);
    sl_tensor *p = fake_tensor_2d(device, SL_FLOAT32, SL_PINNED, 1, 1);
    sl_tensor *d = fake_matrix(device, 1, 1);
    is_int(sl_tensor_pin(h, NULL), SL_OK, "a host tensor can be pinned in place");
    is_int(sl_tensor_get_spec(h)->place, SL_PINNED, "its place follows");
    is_int(fake_stats(device).pinned_bytes, 20, "its bytes count as pinned");
    is_int(fake.last_plain, SL_PLAIN_HOST_REGISTER, "it costs a cudaHostRegister");
    fails_with(sl_tensor_pin(h, err), SL_ESTATE, "the tensor is pinned already", "once only");
    fake.fail_plain_calls = 1;
    is_int(sl_tensor_unpin(h, NULL), SL_EIO, "unpinning can fail");
    is_int(sl_tensor_get_spec(h)->place, SL_PINNED, "and changes nothing then");
    is_int(sl_tensor_unpin(h, NULL), SL_OK, "or succeed");
    is_int(fake_stats(device).pageable_bytes, 16, "the bytes are pageable again");
    fails_with(sl_tensor_unpin(h, err), SL_ESTATE, "the tensor is not pinned",
               "what is not pinned cannot be unpinned");
    fails_with(sl_tensor_unpin(p, err), SL_ESTATE,
               "the tensor was allocated pinned: only what pin has pinned can be unpinned",
               "nor what was allocated pinned");
    fails_with(sl_tensor_pin(d, err), SL_EPLACE,
               "a device tensor cannot be pinned: only host memory can",
               "device memory is not host memory");
    sl_tensor_release(h);
    sl_tensor_release(p);
    sl_tensor_release(d);
}

/* Host memory belongs to no device; a copy that fails leaves it where it is. */
static void test_host_memory_of_another_device(void)
{
    sl_tensor *h = fake_tensor_2d(device, SL_FLOAT32, SL_PINNED, 2, 2);
    sl_tensor *g = fake_tensor_2d(other, SL_FLOAT32, SL_ON_DEVICE, 2, 2);
    sl_tensor *wide = fake_tensor_2d(other, SL_FLOAT32, SL_ON_DEVICE, 2, 3);
    sl_tensor *mine = fake_matrix(device, 2, 2);
    sl_stream *there = sl_device_default_stream(other);
    fails_with(sl_tensor_copy(h, wide, true, there, err), SL_ESHAPE,
               "the destination is 2x2, the source 2x3", "shapes are checked first");
    fails_with(sl_tensor_copy(h, g, true, stream, err), SL_EDEVICE,
               "the stream is on another device (fake 0, Fake) than the memory (fake 1, Fake)",
               "the stream must be the GPU's");
    fails_with(sl_cuda_memcpy(h, g, 17, err), SL_EINVAL, "17 bytes: the destination has 16",
               "a plain copy stays within the memory");
    ok(sl_tensor_device(h) == device, "copies that failed leave host memory where it was");
    is_int(fake_stats(device).pinned_bytes, 16, "and counted there");
    is_int(sl_tensor_copy(h, g, true, there, NULL), SL_OK, "host memory meets any GPU");
    ok(sl_tensor_device(h) == other, "and belongs to it from then on");
    is_int(fake_stats(device).pinned_bytes, 0, "no longer counted at the old one");
    is_int(fake_stats(other).pinned_bytes, 16, "but at the new one");
    is_int(sl_cuda_memcpy(mine, h, 16, NULL), SL_OK, "and back, by a plain call");
    fails_with(sl_tensor_copy(mine, g, true, stream, err), SL_EDEVICE,
               "the source is on another device (fake 1, Fake) than the destination (fake 0, Fake)",
               "two GPUs do not meet");
    sl_device_synchronize(other, NULL);
    sl_device_synchronize(device, NULL);
    sl_tensor_release(h);
    sl_tensor_release(g);
    sl_tensor_release(wide);
    sl_tensor_release(mine);
}

int main(void)
{
    plan(0);
    device = fake_open();
    sl_device_open("fake", 1, NULL, 0, &other, NULL);
    stream = sl_device_default_stream(device);
    test_shapes();
    test_access(SL_ON_DEVICE, "device");
    test_access(SL_PAGEABLE, "host");
    test_failed_access();
    test_large_read();
    test_fill();
    test_copy();
    test_known_copies();
    test_pin();
    test_host_memory_of_another_device();
    sl_device_release(other);
    fake_close(device);
    return done_testing();
}
