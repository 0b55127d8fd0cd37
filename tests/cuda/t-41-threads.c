/* t-41-threads.c - the backend under many operations on several streams of two GPUs, each with
 * a thread of its own in fake_streams.c; `make check-tsan` looks for races in it. */
#include "played_rig.h"

enum { N_STREAMS = 4, N_STEPS = 2000 };

static sl_error err;
static sl_stream *all[N_STREAMS];
static sl_event *events[N_STREAMS];
static uint64_t random_state = 88172645463325252u;

static unsigned pick(unsigned n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % n;
}

static void open_all(void)
{
    open_gpus(2);
    for (int i = 0; i < N_STREAMS; i++) {
        sl_stream_create(gpus[i % 2], NULL, &all[i], NULL);
        sl_event_create(gpus[i % 2], false, &events[i], NULL);
    }
}

static void close_all(const char *after)
{
    for (int i = 0; i < N_STREAMS; i++) {
        sl_event_release(events[i]);
        sl_stream_release(all[i]);
    }
    close_gpus(2, after);
}

static int launched;

static sl_status launch_one(sl_stream *stream)
{
    launched++;
    return sl_stream_launch_host_func(stream, count_run, NULL, NULL, &err);
}

static sl_status step(void)
{
    sl_stream *stream = all[pick(N_STREAMS)];
    const sl_spin_options spin = { .duration_ns = 1000 };
    sl_tensor *tensor;
    bool done;
    switch (pick(12)) {
    case 0: return launch_one(stream);
    case 1: return sl_event_record(events[pick(N_STREAMS) & ~1u], all[0], &err);
    case 2: return sl_stream_wait_event(stream, events[0], &err);
    case 3: return sl_stream_query(stream, &done, &err);
    case 4: return sl_event_query(events[0], &done, &err);
    case 5: return pick(8) ? SL_OK : sl_stream_synchronize(stream, &err);
    case 6: return pick(16) ? SL_OK : sl_device_synchronize(gpus[pick(2)], &err);
    case 7:
        tensor = bytes_on(gpus[pick(2)], pick(2) ? SL_PINNED : SL_ON_DEVICE, 1 + pick(1 << 16),
                          &err);
        sl_tensor_release(tensor);
        return tensor ? SL_OK : err.status;
    default: return sl_spin(&spin, stream, &err);
    }
}

static void test_random(void)
{
    sl_status status = SL_OK;
    open_all();
    funcs_run = launched = 0;
    for (int i = 0; i < N_STEPS && status == SL_OK; i++)
        status = step();
    ok(status == SL_OK, "every call succeeds");
    check(status, &err, "a call");
    for (int i = 0; i < 2; i++)
        sl_device_synchronize(gpus[i], &err);
    is_int(funcs_run, launched, "every host function has run once");
    for (int i = 0; i < 2; i++) {
        sl_device_stats stats;
        sl_device_get_stats(gpus[i], &stats);
        is_int(stats.ops_in_flight, 0, "nothing is left in flight on GPU %d", i);
    }
    close_all("random work");
}

/* One GPU fails in the midst of it; the other goes on. */
static void test_random_loss(void)
{
    bool fine = true;
    for (int round = 0; round < 10; round++) {
        open_all();
        for (int i = 0; i < 100; i++)
            step();
        sl_trap(all[1], NULL);
        for (int i = 0; i < 100; i++)
            step();
        fine = sl_device_synchronize(gpus[1], &err) == SL_EFAULT && fine;
        fine = sl_device_synchronize(gpus[0], &err) == SL_OK && fine;
        close_all("a loss in the midst of random work");
    }
    ok(fine, "the GPU that fails says so, and the other does not");
}

int main(void)
{
    plan(0);
    test_random();
    test_random_loss();
    return done_testing();
}
