/* t-48-host-threads.c - threads of the host on a GPU that is played: they launch into streams of their
 * own and into one that they share, wait, and page-lock nothing. `make check-tsan` looks for races
 * between them. */
#include "played_rig.h"

enum { N_THREADS = 4, N_STEPS = 400 };

typedef struct worker {
    sl_thread *thread;
    sl_stream *stream;
    unsigned random_state;
    int launched;
    sl_status status;
    sl_error err;
    bool current; /* what it made current was current in its end */
} worker;

static sl_stream *shared;
static sl_event *event;
static worker workers[N_THREADS];
static unsigned pick(worker *w, unsigned n)
{
    w->random_state = w->random_state * 1664525u + 1013904223u;
    return (w->random_state >> 16) % n;
}

static sl_status enqueue_func(worker *w, sl_stream *stream)
{
    w->launched++;
    return sl_stream_launch_host_func(stream, count_run, NULL, NULL, &w->err);
}

static sl_status use_tensor(worker *w)
{
    const sl_tensor_spec spec = { .ndim = 1, .dim = { 1000 }, .place = SL_ON_DEVICE };
    sl_tensor *tensor = NULL;
    sl_status status = sl_tensor_create(gpus[0], &spec, w->stream, &tensor, &w->err);
    sl_tensor_release(tensor);
    return status;
}

static sl_status step(worker *w)
{
    sl_stream *stream = pick(w, 2) ? w->stream : shared;
    const sl_spin_options spin = { .duration_ns = 1000 };
    bool done;
    switch (pick(w, 12)) {
    case 0: return enqueue_func(w, stream);
    case 1: return sl_event_record(event, shared, &w->err);
    case 2: return sl_stream_wait_event(w->stream, event, &w->err);
    case 3: return sl_stream_query(stream, &done, &w->err);
    case 4: return pick(w, 8) ? SL_OK : sl_stream_synchronize(w->stream, &w->err);
    case 5: return pick(w, 32) ? SL_OK : sl_device_synchronize(gpus[0], &w->err);
    case 6: return pick(w, 8) ? SL_OK : sl_device_host_work(gpus[0], 20000, &w->err);
    case 7: return use_tensor(w);
    default: return sl_spin(&spin, stream, &w->err);
    }
}

static void work(void *ud)
{
    worker *w = ud;
    sl_device_set_current_stream(gpus[0], w->stream, NULL);
    for (int i = 0; i < N_STEPS && w->status == SL_OK; i++)
        w->status = step(w);
    w->current = sl_device_current_stream(gpus[0]) == w->stream;
}

static void start(worker *w, int i)
{
    *w = (worker){ .random_state = 77u + (unsigned)i };
    sl_stream_create(gpus[0], NULL, &w->stream, NULL);
    check(sl_thread_start(gpus[0], work, w, &w->thread, &w->err), &w->err, "start");
}

static void test_random(void)
{
    int launched = 0;
    bool fine = true, current = true;
    sl_device_stats stats;

    open_gpus(1);
    sl_stream_create(gpus[0], NULL, &shared, NULL);
    sl_event_create(gpus[0], false, &event, NULL);
    for (int i = 0; i < N_THREADS; i++)
        start(&workers[i], i);
    for (int i = 0; i < N_THREADS; i++) {
        worker *w = &workers[i];
        sl_error err = { .msg = "" };
        check(sl_thread_join(w->thread, &err), &err, "join");
        check(w->status, &w->err, "a call");
        fine = fine && w->status == SL_OK;
        current = current && w->current;
        launched += w->launched;
    }
    ok(fine, "every call of every thread succeeds");
    ok(current, "what a thread makes current stays so in it");
    ok(sl_device_current_stream(gpus[0]) == sl_device_default_stream(gpus[0]), "and nowhere else");
    sl_device_synchronize(gpus[0], NULL);
    is_int(funcs_run, launched, "every host function has run once");
    sl_device_get_stats(gpus[0], &stats);
    is_int(stats.ops_in_flight, 0, "nothing is left in flight");
    for (int i = 0; i < N_THREADS; i++)
        sl_stream_release(workers[i].stream);
    sl_event_release(event);
    sl_stream_release(shared);
    close_gpus(1, "threads of the host");
}

/* ---- a wait of one thread ------------------------------------------------------- */

static bool reached;

static void reach(void *ud)
{
    (void)ud;
    reached = true;
    sl_device_host_work(gpus[0], 1000, NULL);
    fake_hold(0, false);
}

/* The stream is done only when the other thread has had the turn. */
static void test_wait(void)
{
    const sl_spin_options spin = { .duration_ns = 1000 };
    sl_error err = { .msg = "" };
    sl_thread *thread = NULL;

    open_gpus(1);
    fake_hold(0, true);
    check(sl_spin(&spin, streams[0], &err), &err, "spin");
    check(sl_thread_start(gpus[0], reach, NULL, &thread, &err), &err, "start");
    is_int(sl_stream_synchronize(streams[0], &err), SL_OK, "a wait ends");
    ok(reached, "which another thread has ended meanwhile");
    check(sl_thread_join(thread, &err), &err, "join");
    close_gpus(1, "a wait beside another thread");
}

int main(void)
{
    plan(0);
    test_random();
    test_wait();
    return done_testing();
}
