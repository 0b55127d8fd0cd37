/* t-28-reuse.c - who gets the memory that was freed in a stream, and when. */
#include "fake_backend.h"

enum { BYTES = 4096 };

static sl_device *open_lending(sl_stream **stream)
{
    sl_device *device = fake_open();
    fake.lends = true;
    fake.parted = 0;
    sl_stream_create(device, NULL, stream, NULL);
    return device;
}

static void close_lending(sl_device *device, sl_stream *stream)
{
    sl_stream_release(stream);
    fake_close(device);
    fake.lends = false;
}

static sl_tensor *make(sl_stream *stream, int64_t bytes)
{
    sl_tensor_spec spec = { .dtype = SL_UINT8, .place = SL_ON_DEVICE, .ndim = 1, .dim = { bytes } };
    sl_tensor *tensor = NULL;
    if (sl_tensor_create(sl_stream_device(stream), &spec, stream, &tensor, NULL)) abort();
    return tensor;
}

static int64_t live(sl_stream *stream) { return fake_stats(sl_stream_device(stream)).device_bytes; }

static void test_one_stream(void)
{
    sl_stream *stream;
    sl_device *device = open_lending(&stream);
    for (int i = 0; i < 8; i++) {
        sl_tensor *t = make(stream, BYTES);
        sl_tensor_fill(t, i + 1, stream, NULL);
        is_int(live(stream), BYTES, "round %d in one stream has the memory of the one before", i);
        if (i % 2) sl_tensor_free(t, NULL);
        sl_tensor_release(t); /* as a garbage collector does */
    }
    is_int(fake_stats(device).buffers, 8, "each is a buffer of its own");
    is_int(live(stream), BYTES, "the last one's memory is there while work uses it");
    sl_device_synchronize(device, NULL);
    is_int(live(stream) + fake_stats(device).buffers, 0, "and no longer");
    close_lending(device, stream);
}

static void test_sizes(void)
{
    static const struct {
        int64_t bytes;
        bool same;
    } cases[] = {
        { 7 * BYTES, true },   { 7 * BYTES - 1000, true },
        { 6 * BYTES, true },   { 7 * BYTES / 2, true },
        { 3 * BYTES, false },  { 7 * BYTES + 1, false },
        { 14 * BYTES, false }, { 1, false },
        { 0, false },
    };
    sl_stream *stream;
    sl_device *device = open_lending(&stream);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sl_tensor *old = make(stream, 7 * BYTES), *t;
        sl_tensor_fill(old, 1, stream, NULL);
        sl_tensor_release(old);
        t = make(stream, cases[i].bytes);
        is_int(live(stream), 7 * BYTES + (cases[i].same ? 0 : cases[i].bytes), "%lld bytes %s",
               (long long)cases[i].bytes,
               cases[i].same ? "go where 28672 were" : "do not go where 28672 were");
        sl_device_synchronize(device, NULL);
        is_int(live(stream), cases[i].bytes, "and count when what was there is done with");
        sl_tensor_release(t);
        sl_device_synchronize(device, NULL);
        is_int(live(stream), 0, "and all is given back");
    }
    close_lending(device, stream);
}

/* What another stream uses stays until that has done so; as does what somebody still holds. */
static void test_other_streams(void)
{
    sl_stream *stream, *other;
    sl_device *device = open_lending(&stream);
    sl_tensor *a = make(stream, BYTES), *b, *view;
    sl_stream_create(device, NULL, &other, NULL);
    sl_tensor_fill(a, 1, stream, NULL);
    sl_tensor_fill(a, 2, other, NULL);
    sl_tensor_fill(a, 3, stream, NULL);
    sl_tensor_release(a);
    b = make(stream, BYTES);
    is_int(live(stream), 2 * BYTES, "memory that another stream uses is not given on");
    sl_tensor_release(b);
    fake_complete(2);
    sl_device_host_work(device, 0, NULL);
    b = make(stream, BYTES);
    is_int(live(stream), BYTES, "until that stream has used it");
    sl_tensor_fill(b, 4, stream, NULL);
    sl_tensor_release(b);
    b = make(other, BYTES);
    is_int(live(stream), 2 * BYTES, "nor to another stream");
    sl_tensor_release(b);
    sl_device_synchronize(device, NULL);

    a = make(stream, BYTES);
    sl_tensor_fill(a, 1, stream, NULL);
    if (sl_tensor_narrow(a, 0, 0, 1, &view, NULL)) abort();
    sl_tensor_release(a);
    b = make(stream, BYTES);
    is_int(live(stream), 2 * BYTES, "nor while a view sees it");
    sl_tensor_release(view);
    sl_tensor_release(b);
    sl_stream_release(other);
    close_lending(device, stream);
}

/* `t` has the memory of a tensor that the stream still uses. */
static sl_tensor *borrowed(sl_stream *stream)
{
    sl_tensor *old = make(stream, BYTES);
    sl_tensor_fill(old, 1, stream, NULL);
    sl_tensor_release(old);
    return make(stream, BYTES);
}

static void test_first_use(void)
{
    sl_stream *stream, *other;
    sl_device *device = open_lending(&stream);
    sl_tensor *t = borrowed(stream), *next;
    sl_stream_create(device, NULL, &other, NULL);
    is_int(sl_tensor_fill(t, 2, other, NULL), SL_OK, "the first use is in another stream");
    is_int(fake.parted, 1, "which does not come behind the old one's work: memory of its own");
    is_int(live(stream), 2 * BYTES, "which counts");
    next = make(stream, BYTES);
    is_int(live(stream), 2 * BYTES, "what it had is the stream's next tensor's");
    sl_tensor_release(next);
    sl_tensor_release(t);
    sl_device_synchronize(device, NULL);
    is_int(live(stream), 0, "and nothing is left over");

    t = borrowed(stream);
    sl_tensor_fill(t, 2, stream, NULL);
    sl_tensor_fill(t, 3, other, NULL);
    is_int(fake.parted, 1, "a later use in another stream is for the script to order");
    sl_tensor_release(t);
    sl_device_synchronize(device, NULL);

    t = borrowed(stream);
    sl_device_synchronize(device, NULL);
    sl_tensor_fill(t, 2, other, NULL);
    is_int(fake.parted, 1, "with the old one's work done there is nothing to order");
    sl_tensor_release(t);

    t = borrowed(stream);
    fake.fail_enqueues = 1;
    sl_tensor_fill(t, 2, stream, NULL);
    sl_tensor_fill(t, 2, other, NULL);
    is_int(fake.parted, 2, "a use that failed is none");
    sl_tensor_release(t);
    sl_stream_release(other);
    close_lending(device, stream);
}

/* Of `n` of the bytes from `first` on. */
static void fill_part(sl_tensor *tensor, int64_t first, int64_t n, sl_stream *stream)
{
    sl_tensor *view;
    if (sl_tensor_narrow(tensor, 0, first, n, &view, NULL) || sl_tensor_fill(view, 2, stream, NULL))
        abort();
    sl_tensor_release(view);
}

/* Two streams may each fill their half, and neither waits for the other. */
static void test_parts(void)
{
    sl_stream *stream, *other;
    sl_device *device = open_lending(&stream);
    sl_tensor *t = borrowed(stream);
    sl_stream_create(device, NULL, &other, NULL);
    fill_part(t, 0, BYTES, stream);
    is_int(fake.parted, 0, "a view of all of it is no part");
    sl_tensor_release(t);
    sl_device_synchronize(device, NULL);
    t = borrowed(stream);
    fill_part(t, 0, BYTES / 2, stream);
    is_int(fake.parted, 1, "a first use of a part: memory of its own, for the rest is anybody's");
    fill_part(t, BYTES / 2, BYTES / 2, other);
    is_int(fake.parted, 1, "once");
    sl_tensor_release(t);
    sl_device_synchronize(device, NULL);
    t = borrowed(stream);
    fill_part(t, 0, BYTES, stream);
    fill_part(t, BYTES / 2, BYTES / 2, stream);
    is_int(fake.parted, 1, "not after a use of all of it, which others must come behind");
    sl_tensor_release(t);
    sl_stream_release(other);
    close_lending(device, stream);
}

/* Memory for it may only be had when the old one's work is done. */
static void test_no_memory_to_part(void)
{
    sl_stream *stream, *other;
    sl_device *device = open_lending(&stream);
    sl_tensor *t = borrowed(stream);
    sl_stream_create(device, NULL, &other, NULL);
    fake.fail_parts = 2;
    fake.synchronizes = 0;
    is_int(sl_tensor_fill(t, 2, other, NULL), SL_OK, "without memory for its own");
    is_int(fake.synchronizes, 1, "the device is waited for");
    is_int(fake.parted, 2, "after a second attempt");
    is_int(live(stream), BYTES, "and the memory is then the new tensor's alone");
    sl_tensor_release(t);
    sl_device_synchronize(device, NULL);
    t = borrowed(stream);
    fake.fail_parts = 2;
    sl_interrupt(true);
    is_int(sl_tensor_fill(t, 2, other, NULL), SL_EINTERRUPT, "that wait can be ended");
    sl_interrupt(false);
    is_int(fake_stats(device).ops_in_flight, 1, "then nothing has been enqueued");
    sl_tensor_release(t);
    sl_stream_release(other);
    close_lending(device, stream);
}

static void test_unused(void)
{
    sl_stream *stream;
    sl_device *device = open_lending(&stream);
    sl_tensor *t = borrowed(stream), *u;
    sl_tensor_release(t);
    is_int(live(stream), BYTES, "dropped without a use, the memory is the old one's again");
    t = make(stream, BYTES);
    u = make(stream, BYTES);
    is_int(live(stream), 2 * BYTES, "for one tensor, not for two");
    sl_tensor_fill(t, 1, stream, NULL);
    sl_tensor_release(t);
    t = make(stream, BYTES);
    is_int(live(stream), 2 * BYTES, "a chain of three");
    sl_tensor_release(u);
    sl_tensor_release(t);
    sl_device_synchronize(device, NULL);
    is_int(live(stream) + fake_stats(device).buffers, 0, "all go");

    fake.fail_buffers = 1;
    t = borrowed(stream); /* the first attempt for the old one fails */
    sl_tensor_release(t);
    fake.fail_buffers = 0;
    sl_device_synchronize(device, NULL);
    t = make(stream, BYTES);
    sl_tensor_fill(t, 1, stream, NULL);
    sl_tensor_release(t);
    fake.fail_buffers = 1;
    t = make(stream, BYTES);
    is_int(live(stream), BYTES, "an attempt that failed leaves the memory to the next");
    sl_tensor_release(t);
    fake.lends = false;
    t = make(stream, BYTES);
    is_int(live(stream), 2 * BYTES, "a backend need not take it");
    sl_tensor_release(t);
    close_lending(device, stream);
}

static void test_plain_calls(void)
{
    sl_stream *stream, *other;
    sl_device *device = open_lending(&stream);
    sl_tensor *t = NULL;
    sl_stream_create(device, NULL, &other, NULL);
    for (int i = 0; i < 4; i++) {
        sl_cuda_malloc_async(stream, BYTES, &t, NULL);
        is_int(live(stream), BYTES, "cudaMallocAsync %d in the stream", i);
        sl_cuda_memset_async(t, 0, BYTES, stream, NULL);
        sl_cuda_free_async(t, stream, NULL);
        sl_tensor_release(t);
    }
    t = make(stream, BYTES);
    is_int(live(stream), 2 * BYTES, "a tensor has no memory of cudaMallocAsync");
    sl_tensor_release(t);
    sl_cuda_malloc_async(other, BYTES, &t, NULL);
    is_int(live(stream), 2 * BYTES, "nor has another stream");
    sl_cuda_memset_async(t, 0, BYTES, other, NULL);
    sl_cuda_memset_async(t, 0, BYTES, stream, NULL);
    sl_cuda_free_async(t, stream, NULL);
    sl_tensor_release(t);
    sl_cuda_malloc_async(stream, BYTES, &t, NULL);
    sl_cuda_memset_async(t, 0, BYTES, stream, NULL);
    is_int(live(stream), 2 * BYTES, "it is the stream's that cudaFreeAsync named");
    sl_stream_release(other);
    sl_device_synchronize(device, NULL);
    sl_cuda_free(t, NULL);
    sl_tensor_release(t);
    is_int(fake_stats(device).streams, 1, "freed memory holds no stream when its work is done");

    t = borrowed(stream);
    fake.parted = 0;
    sl_cuda_free(t, NULL);
    is_int(fake.parted, 1, "cudaFree takes no memory that another's work still uses");
    sl_tensor_release(t);
    t = make(stream, BYTES);
    sl_tensor_fill(t, 1, stream, NULL);
    sl_cuda_free_async(t, stream, NULL);
    sl_tensor_release(t);
    t = make(stream, BYTES);
    is_int(live(stream), 2 * BYTES, "nor is a tensor's used again that cudaFreeAsync has freed");
    sl_tensor_release(t);
    close_lending(device, stream);
}

/* Everything in flight goes at once, the latest stream's first. */
static void test_lost(void)
{
    sl_stream *stream, *other;
    sl_device *device = open_lending(&stream);
    sl_tensor *t;
    sl_stream_create(device, NULL, &other, NULL);
    for (int i = 0; i < 6; i++) {
        t = make(i % 2 ? stream : other, BYTES);
        sl_tensor_fill(t, 1, i % 2 ? stream : other, NULL);
        sl_tensor_release(t);
    }
    t = borrowed(stream);
    fake_fault(device, "lost");
    sl_device_synchronize(device, NULL);
    sl_tensor_release(t);
    is_int(live(stream) + fake_stats(device).buffers, 0, "a lost device has no memory in use");
    sl_stream_release(other);
    close_lending(device, stream);
}

int main(void)
{
    test_one_stream();
    test_sizes();
    test_other_streams();
    test_first_use();
    test_parts();
    test_no_memory_to_part();
    test_unused();
    test_plain_calls();
    test_lost();
    return done_testing();
}
