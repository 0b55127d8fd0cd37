/* t-38-unfinished-collectives.c - calls of collectives that do not come to their end: their thread
 * ends before its group, their queue does not move, their device is finished. */
#include <stdlib.h>
#include <string.h>

#include "small_gpu.h"

#include "../../core/streamlab.h"
#include "../tap.h"

enum { RANKS = 2, DEPTH = 2 };

typedef struct ranks {
    sl_device *device[RANKS];
    sl_stream *stream[RANKS];
    sl_comm *comm[RANKS];
    sl_tensor *tensor[RANKS], *word;
    sl_status called[RANKS];
} ranks;

static void must(sl_status status, const sl_error *err)
{
    if (status == SL_OK) return;
    printf("Bail out! %s\n", err->msg);
    exit(1);
}

static sl_tensor *make(sl_device *device, sl_dtype dtype, sl_place place)
{
    const sl_tensor_spec spec = { .dtype = dtype, .place = place, .ndim = 1, .dim = { 4 } };
    sl_tensor *tensor = NULL;
    sl_error err;
    must(sl_tensor_create(device, &spec, sl_device_default_stream(device), &tensor, &err), &err);
    return tensor;
}

static void write_word(const ranks *all, double value)
{
    sl_error err;
    must(sl_tensor_write(all->word, 0, 1, &value, all->stream[0], &err), &err);
}

static void open_ranks(ranks *all)
{
    static const small_override more[] = { { "launch_queue_depth", DEPTH } };
    double value[SMALL_GPU_MOST_SETTINGS];
    sl_setting settings[SMALL_GPU_MOST_SETTINGS];
    const size_t n = small_gpu_settings(more, 1, NULL, 0, value, settings);
    sl_error err;
    *all = (ranks){ 0 };
    must(sl_device_open("sim", 0, settings, n, &all->device[0], &err), &err);
    must(sl_device_open_beside(all->device[0], 1, settings, n, &all->device[1], &err), &err);
    for (int i = 0; i < RANKS; i++) {
        const sl_stream_options options = { .non_blocking = true };
        must(sl_stream_create(all->device[i], &options, &all->stream[i], &err), &err);
        all->tensor[i] = make(all->device[i], SL_FLOAT32, SL_ON_DEVICE);
    }
    all->word = make(all->device[0], SL_INT32, SL_PINNED);
    write_word(all, 0);
    must(sl_comm_create(all->device, RANKS, NULL, all->comm, &err), &err);
}

static void release_ranks(ranks *all)
{
    for (int i = 0; i < RANKS; i++) {
        sl_comm_release(all->comm[i]);
        all->comm[i] = NULL;
    }
}

static void close_ranks(ranks *all)
{
    for (int i = 0; i < RANKS; i++) {
        sl_device_drain(all->device[i]);
        sl_tensor_release(all->tensor[i]);
        sl_stream_release(all->stream[i]);
    }
    release_ranks(all);
    sl_tensor_release(all->word);
    for (int i = 0; i < RANKS; i++) {
        sl_device_stats stats;
        sl_device_get_stats(all->device[i], &stats);
        is_int(stats.comms, 0, "rank %d is gone", i);
        sl_device_release(all->device[i]);
    }
}

static sl_status reduce(ranks *all, int rank, sl_error *err)
{
    const sl_comm_call call = { .comm = all->comm[rank],
                                .collective = SL_ALL_REDUCE,
                                .in = all->tensor[rank],
                                .out = all->tensor[rank],
                                .stream = all->stream[rank] };
    return sl_comm_call_all(&call, 1, err);
}

/* ---- a call that fails when the other rank has called ---- */

/* The queue is full of what waits for a value. */
static void call_in_full_queue(void *ud)
{
    ranks *all = ud;
    const sl_spin_options spin = { .duration_ns = 1000 };
    sl_error err;
    must(sl_stream_wait_value(all->stream[0], all->word, 0, 5, SL_COMPARE_EQ, &err), &err);
    must(sl_spin(&spin, all->stream[0], &err), &err);
    all->called[0] = reduce(all, 0, &err);
    diag("%s", err.msg);
}

static void call_later(void *ud)
{
    ranks *all = ud;
    must(sl_device_host_work(all->device[1], 1000000, NULL), NULL);
    all->called[1] = reduce(all, 1, NULL);
    (void)sl_stream_synchronize(all->stream[1], NULL);
}

static void run_both(ranks *all, void (*first)(void *ud), void (*second)(void *ud))
{
    sl_thread *thread[RANKS];
    sl_error err;
    must(sl_thread_start(all->device[0], first, all, &thread[0], &err), &err);
    must(sl_thread_start(all->device[1], second, all, &thread[1], &err), &err);
    for (int i = 0; i < RANKS; i++)
        must(sl_thread_join(thread[i], &err), &err);
}

static void test_failed_call(void)
{
    ranks all;
    sl_error err = { 0 };
    open_ranks(&all);
    run_both(&all, call_in_full_queue, call_later);
    is_int(all.called[0], SL_ESTATE, "rank 0's call fails, since its queue does not move");
    is_int(all.called[1], SL_OK, "rank 1's call was enqueued meanwhile");
    is_int(sl_stream_synchronize(all.stream[1], &err), SL_ESTATE, "and waits for rank 0");
    diag("%s", err.msg);
    write_word(&all, 5);
    must(reduce(&all, 0, &err), &err);
    is_int(sl_stream_synchronize(all.stream[1], &err), SL_OK, "until that calls it again");
    close_ranks(&all);
}

/* ---- a thread that leaves a group open ---- */

static void leave_group_open(void *ud)
{
    ranks *all = ud;
    sl_comm_group_begin();
    all->called[0] = reduce(all, 0, NULL);
}

static void test_open_group(void)
{
    ranks all;
    sl_thread *thread;
    sl_error err = { 0 };
    open_ranks(&all);
    must(sl_thread_start(all.device[0], leave_group_open, &all, &thread, &err), &err);
    must(sl_thread_join(thread, &err), &err);
    is_int(all.called[0], SL_OK, "a thread's group has a call");
    for (int rank = 0; rank < RANKS; rank++)
        must(reduce(&all, rank, &err), &err);
    is_int(sl_device_synchronize(all.device[0], &err), SL_OK,
           "which is forgotten with the thread that has not ended the group");
    is_int(sl_comm_free(all.comm[0], &err), SL_OK, "and the communicator can be freed");
    diag("%s", err.msg);
    close_ranks(&all);
}

/* ---- a device that is finished while a rank waits ---- */

static void test_finished_device(void)
{
    ranks all;
    sl_error err = { 0 };
    open_ranks(&all);
    must(reduce(&all, 0, &err), &err);
    is_int(sl_device_finish(all.device[0], &err), SL_ESTATE, "finish ends what waits for ever");
    for (int rank = 0; rank < RANKS; rank++)
        is_int(reduce(&all, rank, &err), SL_ESTATE, "rank %d's next call is refused", rank);
    diag("%s", err.msg);
    is_int(sl_comm_free(all.comm[0], &err), SL_OK, "the communicator can be freed");
    release_ranks(&all);
    must(sl_stream_wait_value(all.stream[0], all.word, 0, 5, SL_COMPARE_EQ, &err), &err);
    is_int(sl_device_synchronize(all.device[0], &err), SL_ESTATE, "a later wait for ever");
    ok(strstr(err.msg, "wait_value"), "is for what it is for: %s", err.msg);
    close_ranks(&all);
}

/* While rank 0's call waits for its queue. */
static void test_finished_during_call(void)
{
    ranks all;
    sl_thread *thread;
    sl_error err = { 0 };
    open_ranks(&all);
    must(sl_thread_start(all.device[0], call_in_full_queue, &all, &thread, &err), &err);
    must(sl_device_host_work(all.device[1], 1000000, &err), &err);
    must(reduce(&all, 1, &err), &err);
    is_int(sl_device_finish(all.device[1], &err), SL_ESTATE, "finish ends rank 1's part");
    must(sl_thread_join(thread, &err), &err);
    is_int(all.called[0], SL_ESTATE, "and rank 0's call fails all the same");
    is_int(sl_comm_free(all.comm[0], &err), SL_OK, "the communicator can be freed");
    close_ranks(&all);
}

int main(void)
{
    test_finished_device();
    test_finished_during_call();
    test_open_group();
    test_failed_call();
    return done_testing();
}
