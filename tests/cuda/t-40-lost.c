/* t-40-lost.c - a GPU that fails beside one that does not, and with host functions pending, on
 * the driver of fake_streams.c. */
#include "played_rig.h"

static sl_error err;

/* Finds out that the GPU is lost, as a script would. */
static void notice_loss(int gpu)
{
    sl_trap(streams[gpu], NULL);
    if (sl_device_synchronize(gpus[gpu], &err) != SL_EFAULT)
        diag("GPU %d is not lost: %s", gpu, err.msg);
    err.msg[0] = '\0';
}

static bool is_fine(sl_status status, int runs)
{
    if (status || funcs_run != runs)
        diag("  status %d, \"%s\"; %d functions ran", (int)status, err.msg, funcs_run);
    return status == SL_OK && funcs_run == runs;
}

/* What page-locks settles the host functions of all GPUs first. */
static void test_page_locking(void)
{
    open_gpus(3);
    notice_loss(2);
    funcs_run = 0;
    launch_func(streams[0]);
    sl_tensor *pinned = bytes_on(gpus[0], SL_PINNED, 5000, &err);
    ok(is_fine(pinned ? SL_OK : err.status, 1), "a pinned tensor of a GPU beside a lost one");
    sl_tensor *pageable = bytes_on(gpus[0], SL_PAGEABLE, 10000, &err);
    launch_func(streams[0]);
    ok(is_fine(sl_tensor_pin(pageable, &err), 2), "pinning in place");
    launch_func(streams[0]);
    ok(is_fine(sl_tensor_unpin(pageable, &err), 3), "unpinning");
    sl_tensor *plain = NULL;
    launch_func(streams[0]);
    ok(is_fine(sl_cuda_malloc_host(gpus[0], 100, &plain, &err), 4), "cudaMallocHost");
    launch_func(streams[0]);
    ok(is_fine(sl_cuda_free_host(plain, &err), 5), "cudaFreeHost");
    launch_func(streams[0]);
    ok(is_fine(sl_cuda_device_enable_peer_access(gpus[0], gpus[1], &err), 6), "peer access");
    sl_tensor_release(pinned);
    sl_tensor_release(pageable);
    sl_tensor_release(plain);
    close_gpus(3, "page-locking beside a lost GPU");
}

/* It moves to a page of its own, for which all operations that may use it are waited for. */
static void test_part_of_a_page(void)
{
    for (int lost = 0; lost < 2; lost++) {
        open_gpus(2);
        notice_loss(lost);
        funcs_run = 0;
        sl_tensor *part = bytes_on(gpus[!lost], SL_PAGEABLE, 100, &err), *view = NULL;
        const int64_t dim = 100;
        sl_tensor_view(part, 1, &dim, &view, NULL);
        ok(is_fine(sl_tensor_pin(part, &err), 0), "less than a page is pinned, GPU %d being lost",
           lost);
        sl_tensor_release(view);
        sl_tensor_release(part);
        close_gpus(2, "pinning less than a page");
    }
}

/* Nobody knows yet that GPU 1 is lost, and with it the function that is settled for. */
static void test_lost_function(void)
{
    open_gpus(2);
    funcs_run = 0;
    fake_hold(1, true);
    launch_func(streams[1]);
    launch_func(streams[0]);
    fake_lose(1);
    sl_tensor *pinned = bytes_on(gpus[0], SL_PINNED, 5000, &err);
    ok(is_fine(pinned ? SL_OK : err.status, 1),
       "a function that is lost with its GPU holds up no other GPU");
    is_int(sl_device_synchronize(gpus[1], &err), SL_EFAULT, "the lost one says so itself");
    is_str(err.msg,
           "an illegal memory access was encountered (cudaErrorIllegalAddress); in "
           "flight: host_func",
           "and what it had");
    sl_tensor_release(pinned);
    close_gpus(2, "a lost function");
}

/* The driver has sent a thread to the host function, and the device fails, before it gets
 * there; it arrives when the device has been closed. */
static void test_late_thread(void)
{
    open_gpus(1);
    funcs_run = 0;
    fake_hold_host_funcs(true);
    launch_func(streams[0]);
    fake_wait_for_held(1);
    fake_lose(0);
    is_int(sl_device_synchronize(gpus[0], &err), SL_EFAULT, "a GPU is lost");
    sl_stream_release(streams[0]);
    sl_device_drain(gpus[0]);
    sl_device_release(gpus[0]);
    void *again[64]; /* what was freed is given out again, and overwritten */
    for (int i = 0; i < 64; i++)
        memset(again[i] = malloc(64u << i % 12), 0xA5, 64u << i % 12);
    fake_hold_host_funcs(false);
    fake_streams_end();
    is_int(funcs_run, 0,
           "a thread of the driver's that comes to its host function after the "
           "device was closed finds nothing to do");
    for (int i = 0; i < 64; i++)
        free(again[i]);
    fake_cudart_forget();
}

/* Threads wait in the host functions of both streams when the device fails. */
static void test_waiting_threads(void)
{
    sl_stream *other = NULL;
    open_gpus(1);
    funcs_run = 0;
    sl_stream_create(gpus[0], NULL, &other, NULL);
    fake_hold_host_funcs(true);
    for (int i = 0; i < 3; i++) {
        launch_func(streams[0]);
        launch_func(other);
    }
    fake_wait_for_held(2);
    fake_lose(0);
    fake_hold_host_funcs(false);
    is_int(sl_stream_synchronize(streams[0], &err), SL_EFAULT,
           "a GPU with waiting threads is lost");
    ok(funcs_run <= 2, "what its streams had not reached never runs");
    sl_stream_release(other);
    close_gpus(1, "a loss under waiting threads");
}

int main(void)
{
    plan(0);
    test_page_locking();
    test_part_of_a_page();
    test_lost_function();
    test_waiting_threads();
    test_late_thread();
    return done_testing();
}
