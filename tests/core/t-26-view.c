/* t-26-view.c - views: which elements they are, what the backend is told, how long memory
 * lives. Sizes and offsets are worked out by hand. */
#include "fake_backend.h"

static sl_device *device, *other;
static sl_stream *stream;

static sl_tensor *view_of(sl_tensor *t, int ndim, int64_t d0, int64_t d1)
{
    const int64_t dim[SL_MAX_DIMS] = { d0, d1 };
    sl_tensor *view = NULL;
    sl_tensor_view(t, ndim, dim, &view, NULL);
    return view;
}

static sl_tensor *part_of(sl_tensor *t, int dim, int64_t start, int64_t length)
{
    sl_tensor *view = NULL;
    sl_tensor_narrow(t, dim, start, length, &view, NULL);
    return view;
}

/* Until release_kept. */
static sl_tensor *kept[32];
static int n_kept;

static sl_tensor *keep(sl_tensor *t) { return kept[n_kept++] = t; }

static void release_kept(void)
{
    while (n_kept > 0)
        sl_tensor_release(kept[--n_kept]);
}

/* Elements 0, 1, 2, ... */
static sl_tensor *counted(sl_place place, int64_t rows, int64_t columns)
{
    sl_tensor *t = fake_tensor_2d(device, SL_FLOAT32, place, rows, columns);
    for (int64_t i = 0; i < rows * columns; i++)
        sl_tensor_write(t, i, 1, &(double){ (double)i }, stream, NULL);
    return t;
}

static double element(sl_tensor *t, int64_t i)
{
    double value = -1;
    sl_tensor_read(t, i, 1, &value, stream, NULL);
    return value;
}

static void test_sizes(void)
{
    sl_tensor *t = fake_matrix(device, 4, 6), *empty = fake_matrix(device, 0, 6), *v = NULL;
    const int64_t huge[] = { (int64_t)1 << 62, 8 };
    v = view_of(t, 2, 3, -1);
    is_int(sl_tensor_get_spec(v)->dim[1], 8,
           "-1 is what is left: 24 elements in 3 rows are 8 each");
    ok(sl_tensor_is_view(v) && !sl_tensor_is_view(t), "what was made of a tensor is a view");
    is_int((int64_t)sl_tensor_id(v), (int64_t)sl_tensor_id(empty) + 1, "with a number of its own");
    sl_tensor_release(v);
    fails_with(sl_tensor_view(t, 2, (int64_t[]){ 5, -1 }, &v, err), SL_ESHAPE,
               "the tensor is 4x6 and has 24 elements: they do not make 5x-1",
               "5 does not divide 24");
    fails_with(sl_tensor_view(t, 1, (int64_t[]){ 25 }, &v, err), SL_ESHAPE,
               "the tensor is 4x6 and has 24 elements: they do not make 25", "nor are there 25");
    fails_with(sl_tensor_view(t, 2, huge, &v, err), SL_ESHAPE,
               "the tensor is 4x6 and has 24 elements: they do not make 4611686018427387904x8",
               "huge sizes do not overflow");
    fails_with(sl_tensor_view(t, 2, (int64_t[]){ -1, -1 }, &v, err), SL_ESHAPE,
               "sizes 1 and 2 are -1: only one can be what is left", "one -1 is enough");
    fails_with(sl_tensor_view(t, 2, (int64_t[]){ 6, -4 }, &v, err), SL_ESHAPE,
               "size 2 is -4: a size is 0 or more, or -1 for what is left", "-4 is no size");
    fails_with(sl_tensor_view(empty, 2, (int64_t[]){ 0, -1 }, &v, err), SL_ESHAPE,
               "size 2 is -1: beside a size of 0 it could be any", "nothing can be any size");
    fails_with(sl_tensor_view(t, 2, (int64_t[]){ 0, -1 }, &v, err), SL_ESHAPE,
               "the tensor is 4x6 and has 24 elements: they do not make 0x-1", "24 are not none");
    fails_with(sl_tensor_view(t, 0, NULL, &v, err), SL_ESHAPE,
               "the tensor is 4x6 and has 24 elements: they do not make scalar", "nor one");
    fails_with(sl_tensor_view(t, 9, huge, &v, err), SL_ESHAPE,
               "a tensor has 0 to 8 dimensions, not 9", "nine dimensions are too many");
    v = view_of(empty, 2, -1, 3);
    is_int(sl_tensor_get_spec(v)->dim[0], 0, "no elements in columns of 3 are no rows");
    is_int(fake_stats(device).tensors, 3, "failures leave no tensor");
    sl_tensor_release(v);
    sl_tensor_release(t);
    sl_tensor_release(empty);
}

static void test_narrow(void)
{
    sl_tensor *t = keep(counted(SL_PAGEABLE, 4, 6)), *v = keep(part_of(t, 0, 1, 2)), *w, *x;
    ok(sl_tensor_get_spec(v)->dim[0] == 2 && sl_tensor_get_spec(v)->dim[1] == 6,
       "two rows of four");
    is_int((int64_t)sl_tensor_bytes(v), 48, "have 48 bytes");
    is_int((int64_t)sl_tensor_offset(v), 24, "behind the first row");
    is_double(element(v, 0), 6, 0, "they begin with element 6");
    w = keep(part_of(v, 0, 1, 1));
    x = keep(part_of(w, 1, 2, 3));
    is_int((int64_t)sl_tensor_offset(x), 56, "a part of a part: 2 rows and 2 elements before it");
    is_double(element(x, 2), 16, 0, "its third is element 16");
    sl_tensor_write(x, 0, 1, &(double){ 100 }, stream, NULL);
    is_double(element(t, 14), 100, 0, "what is written there, the tensor has");
    sl_tensor_fill(w, 7, stream, NULL);
    ok(element(t, 11) == 11 && element(t, 12) == 7 && element(t, 17) == 7 && element(t, 18) == 18,
       "a fill sets the view's elements alone");
    sl_tensor_fill(v, 0, stream, NULL);
    ok(element(t, 5) == 5 && element(t, 6) == 0 && element(t, 17) == 0 && element(t, 18) == 18,
       "zeros likewise");
    fails_with(sl_tensor_narrow(t, 1, 0, 3, &x, err), SL_ESHAPE,
               "a part of dimension 2 of 4x6 does not lie in one piece: only dimensions of size 1 "
               "may come before it",
               "columns do not lie in one piece");
    ok(keep(part_of(t, 1, 0, 6)) && keep(part_of(t, 1, 6, 0)), "all columns do, and none");
    fails_with(sl_tensor_narrow(t, 0, 2, 3, &x, err), SL_ESHAPE,
               "start 3 and length 3 lie outside of dimension 1, which has 4", "past the end");
    fails_with(
        sl_tensor_narrow(t, 0, INT64_MAX - 1, INT64_MAX, &x, err), SL_ESHAPE,
        "start 9223372036854775807 and length 9223372036854775807 lie outside of dimension 1, "
        "which has 4",
        "huge ranges do not overflow");
    fails_with(sl_tensor_narrow(t, 0, 0, -1, &x, err), SL_ESHAPE,
               "the length is -1: it cannot be negative", "less than nothing");
    fails_with(sl_tensor_narrow(t, 2, 0, 1, &x, err), SL_ESHAPE,
               "there is no dimension 3: the tensor has 2", "a third dimension");
    fails_with(sl_tensor_narrow(NULL, 0, 0, 1, &x, err), SL_ECLOSED, "the tensor is missing",
               "no tensor");
    release_kept();
}

/* Where the backend is told that operands begin. */
static void test_offsets(void)
{
    sl_tensor *t = keep(fake_matrix(device, 8, 4)), *u = keep(fake_matrix(device, 4, 4));
    sl_tensor *low = keep(part_of(t, 0, 0, 4)), *same = keep(part_of(t, 0, 0, 4));
    sl_tensor *mid = keep(part_of(t, 0, 2, 4)), *high = keep(part_of(t, 0, 4, 4));
    sl_tensor *host = keep(fake_tensor_2d(device, SL_FLOAT32, SL_PINNED, 8, 4));
    sl_tensor *host_high = keep(part_of(host, 0, 4, 4)), *row = keep(part_of(u, 0, 3, 1));
    const sl_work *work = &fake.last_work;
    const sl_operand *side = fake.last_side;
    is_int(launch_matmul(u, low, high, false, stream, NULL), SL_OK, "views are multiplied");
    ok(side[SL_OUTPUT].offset == 0 && side[0].offset == 0 && side[1].offset == 64,
       "the second begins behind 4 rows of 16 bytes");
    launch_pair(SL_KERNEL_ADD, low, u, high, stream, NULL);
    ok(side[SL_OUTPUT].offset == 0 && side[0].offset == 0 && side[1].offset == 64, "so in a sum");
    launch_one(SL_KERNEL_SOFTMAX, high, high, stream, NULL);
    ok(side[SL_OUTPUT].offset == 64 && side[0].offset == 64 && side[1].offset == 0,
       "in place both begin there");
    sl_tensor_rand(row, 5, 6, stream, NULL);
    ok(side[SL_OUTPUT].offset == 48 && work->sequence == 6 && work->n == 4,
       "random numbers go there, by seed and sequence");
    sl_tensor_copy(high, host_high, true, stream, NULL);
    ok(side[SL_OUTPUT].offset == 64 && side[0].offset == 64 && work->bytes == 64,
       "copies have both");
    sl_cuda_memset_async(high, 1, 8, stream, NULL);
    ok(side[SL_OUTPUT].offset == 64 && work->bytes == 8, "so has cudaMemset");
    sl_cuda_memcpy_async(host, high, 60, stream, NULL);
    ok(side[SL_OUTPUT].offset == 0 && side[0].offset == 64 && work->bytes == 60, "and cudaMemcpy");
    fails_with(sl_cuda_memset(high, 1, 65, err), SL_EINVAL, "65 bytes: the memory has 64",
               "which ends where the view does");
    fails_with(launch_matmul(low, low, u, false, stream, err), SL_EINVAL,
               "out may not be a: matmul reads it while it writes", "matmul's output is apart");
    fails_with(launch_matmul(mid, low, u, false, stream, err), SL_EINVAL,
               "out shares memory with a, which matmul reads while it writes",
               "by every byte of a");
    fails_with(launch_matmul(mid, u, high, false, stream, err), SL_EINVAL,
               "out shares memory with b, which matmul reads while it writes", "and of b");
    is_int(launch_matmul(low, high, u, false, stream, NULL), SL_OK,
           "another part of the memory will do");
    fails_with(launch_number(SL_KERNEL_MUL_SCALAR, mid, low, 2, stream, err), SL_EINVAL,
               "out and a share some of their "
               "bytes: they may be the same memory, or lie apart",
               "so for elementwise kernels");
    fails_with(launch_pair(SL_KERNEL_ADD, mid, u, high, stream, err), SL_EINVAL,
               "out and b share some of their bytes: "
               "they may be the same memory, or lie apart",
               "of either operand");
    is_int(launch_number(SL_KERNEL_MUL_SCALAR, low, same, 2, stream, NULL), SL_OK,
           "two views of the very same bytes are in place");
    fails_with(sl_tensor_copy(mid, low, false, stream, err), SL_EINVAL,
               "the destination and the "
               "source share some of their bytes: copy by way of another tensor",
               "so for copies");
    fake.enqueues = 0;
    sl_tensor_copy(low, same, false, stream, NULL);
    is_int(fake.enqueues, 0, "a copy onto the same bytes does nothing");
    fails_with(sl_cuda_memcpy(mid, low, 33, err), SL_EINVAL,
               "the destination and the source share "
               "some of their bytes: copy by way of another tensor",
               "cudaMemcpy is refused, too");
    is_int(sl_cuda_memcpy(mid, low, 32, NULL), SL_OK, "unless the bytes that it copies lie apart");
    sl_stream_synchronize(stream, NULL);
    release_kept();
}

static void test_lives(void)
{
    int before = fake.buffers;
    sl_tensor *t = counted(SL_PAGEABLE, 2, 4), *v = part_of(t, 0, 1, 1), *w = view_of(v, 1, 4, 0),
              *none;
    sl_tensor_free(t, NULL);
    ok(sl_tensor_is_freed(t) && !sl_tensor_is_freed(v), "freeing a tensor leaves its views");
    is_double(element(v, 0), 4, 0, "with their memory");
    fails_with(sl_tensor_view(t, 1, (int64_t[]){ 8 }, &none, err), SL_ECLOSED,
               "the tensor has been freed", "no view is made of it any more");
    sl_tensor_release(v);
    is_int(fake.buffers, before + 1, "the last view holds the memory");
    is_double(element(w, 3), 7, 0, "of which a view of a view is one");
    sl_tensor_release(w);
    is_int(fake.buffers, before, "and when it goes, so does the memory");
    sl_tensor_release(t);

    t = fake_matrix(device, 2, 4);
    v = part_of(t, 0, 1, 1);
    launch_number(SL_KERNEL_ADD_SCALAR, v, v, 1, stream, NULL);
    sl_tensor_free(v, NULL);
    ok(!sl_tensor_is_freed(t), "freeing a view leaves the tensor");
    sl_tensor_release(v);
    sl_tensor_release(t);
    is_int(fake.buffers, before + 1, "an operation holds the memory");
    sl_stream_synchronize(stream, NULL);
    is_int(fake.buffers, before, "until it has been done");
}

static void test_plain_calls(void)
{
    sl_tensor *m, *v, *w, *host = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 2, 4);
    int before = fake.buffers;
    sl_cuda_malloc(device, 64, &m, NULL);
    v = view_of(m, 2, 8, 8);
    w = part_of(v, 0, 2, 2);
    fails_with(sl_cuda_free(v, err), SL_EINVAL,
               "cudaFree takes the tensor whose memory it is; this "
               "is a view of a part of it",
               "a view is not cudaFree's");
    fails_with(sl_cuda_free_async(w, stream, err), SL_EINVAL,
               "cudaFreeAsync takes the tensor whose "
               "memory it is; this is a view of a part of it",
               "nor cudaFreeAsync's");
    is_int(sl_cuda_free(m, NULL), SL_OK, "the tensor is");
    ok(sl_tensor_is_freed(v) && sl_tensor_is_freed(w), "its views are freed with it");
    is_int(fake.buffers, before, "and the memory has gone");
    fails_with(sl_tensor_read(w, 0, 1, &(double){ 0 }, stream, err), SL_ECLOSED,
               "the tensor has been freed", "later uses fail");
    sl_tensor_release(m);
    sl_tensor_release(v);
    sl_tensor_release(w);

    v = part_of(host, 0, 1, 1);
    fails_with(sl_tensor_pin(v, err), SL_EINVAL,
               "pin takes the tensor whose memory it is; this is a "
               "view of a part of it",
               "a view cannot be page-locked");
    sl_tensor_pin(host, NULL);
    is_int(sl_tensor_get_spec(v)->place, SL_PINNED, "it is with its tensor");
    fails_with(sl_tensor_unpin(v, err), SL_EINVAL,
               "unpin takes the tensor whose memory it is; this "
               "is a view of a part of it",
               "nor unlocked");
    fails_with(sl_cuda_free_host(v, err), SL_EINVAL,
               "cudaFreeHost takes the tensor whose memory it "
               "is; this is a view of a part of it",
               "nor freed by cudaFreeHost");
    w = part_of(v, 1, 0, 2);
    is_int(sl_tensor_get_spec(w)->place, SL_PINNED, "a view of pinned memory is pinned");
    sl_tensor_unpin(host, NULL);
    ok(sl_tensor_get_spec(v)->place == SL_PAGEABLE && sl_tensor_get_spec(w)->place == SL_PAGEABLE,
       "all of them become pageable together");
    sl_tensor_release(host);
    sl_tensor_release(v);
    sl_tensor_release(w);
}

/* Host memory goes to the device that it is copied to. */
static void test_devices(void)
{
    sl_tensor *host = counted(SL_PAGEABLE, 2, 4), *v = part_of(host, 0, 1, 1);
    sl_tensor *there = fake_matrix(other, 1, 4);
    int64_t tensors = fake_stats(device).tensors;
    is_int(sl_tensor_copy(there, v, false, sl_device_default_stream(other), NULL), SL_OK,
           "a view is copied to another device");
    ok(sl_tensor_device(v) == other && sl_tensor_device(host) == other,
       "its memory belongs there then, and whoever sees it");
    is_int(fake_stats(device).tensors, tensors - 2, "the first device has them no longer");
    is_double(element(host, 5), 5, 0, "the tensor is as it was");
    sl_tensor_release(host);
    sl_tensor_release(v);
    sl_tensor_release(there);
}

int main(void)
{
    plan(0);
    device = fake_open();
    sl_device_open("fake", 1, NULL, 0, &other, NULL);
    stream = sl_device_default_stream(device);
    test_sizes();
    test_lives();
    test_plain_calls();
    test_devices();
    test_narrow();
    test_offsets();
    sl_device_release(other);
    fake_close(device);
    return done_testing();
}
