/* t-32-race-cost.c - what a call costs the race checker, in nodes of vectors, slots and accesses that
 * it looks at: as much beside a thousand idle streams, or readers of the same bytes, as beside a
 * hundred. */
#include "fake_backend.h"

#include "../../core/race/clock.h"

enum { FEW = 100, MANY = 1000, ROUNDS = 50 };

typedef struct scene {
    sl_device *device;
    sl_stream *idle[MANY], *a, *b;
    sl_event *event;
    sl_tensor *own[MANY], *x, *y, *weights, *host;
    int n, failed;
} scene;

static sl_stream *new_stream(scene *s)
{
    const sl_stream_options options = { .non_blocking = true };
    sl_stream *stream = NULL;
    s->failed += sl_stream_create(s->device, &options, &stream, NULL) != SL_OK;
    return stream;
}

static void pow_in(scene *s, sl_tensor *out, sl_tensor *in, sl_stream *stream)
{
    s->failed += launch_number(SL_KERNEL_POW, out, in, 2, stream, NULL) != SL_OK;
}

static void wait_for(scene *s, sl_stream *waits, sl_stream *for_stream)
{
    s->failed += sl_event_record(s->event, for_stream, NULL) != SL_OK;
    s->failed += sl_stream_wait_event(waits, s->event, NULL) != SL_OK;
}

/* Each of n streams has read the weights, beside the others, and they have waited for one another
 * in a row; then they are idle. */
static void set_up(scene *s, int n)
{
    *s = (scene){ .device = fake_open(), .n = n };
    s->failed += sl_event_create(s->device, false, &s->event, NULL) != SL_OK;
    s->weights = fake_matrix(s->device, 4, 4);
    s->x = fake_matrix(s->device, 4, 4);
    s->y = fake_matrix(s->device, 4, 4);
    s->host = fake_tensor_2d(s->device, SL_FLOAT32, SL_PAGEABLE, 4, 4);
    s->failed += sl_check(SL_CHECK_WARN, NULL) != SL_OK;
    for (int i = 0; i < n; i++) {
        s->idle[i] = new_stream(s);
        s->own[i] = fake_matrix(s->device, 4, 4);
        pow_in(s, s->own[i], s->weights, s->idle[i]);
    }
    for (int i = 1; i < n; i++)
        wait_for(s, s->idle[i], s->idle[i - 1]);
    s->a = new_stream(s);
    s->b = new_stream(s);
    wait_for(s, s->a, s->idle[n - 1]);
    wait_for(s, s->b, s->idle[n - 1]);
}

static void take_down(scene *s)
{
    sl_device_synchronize(s->device, NULL);
    is_int(s->failed, 0, "all calls beside %d streams succeed", s->n);
    is_int((int)sl_race_count(), 0, "and none races");
    sl_check(SL_CHECK_OFF, NULL);
    for (int i = 0; i < s->n; i++) {
        sl_stream_release(s->idle[i]);
        sl_tensor_release(s->own[i]);
    }
    sl_stream_release(s->a);
    sl_stream_release(s->b);
    sl_event_release(s->event);
    sl_tensor_release(s->x);
    sl_tensor_release(s->y);
    sl_tensor_release(s->weights);
    sl_tensor_release(s->host);
    fake_close(s->device);
}

/* ---- calls ---------------------------------------------------------------------------- */

static void write_and_wait(scene *s)
{
    pow_in(s, s->x, s->x, s->a);
    s->failed += sl_stream_synchronize(s->a, NULL) != SL_OK;
}

static void read_weights(scene *s) { pow_in(s, s->x, s->weights, s->a); }

static void copy_to_host(scene *s)
{
    s->failed += sl_tensor_copy(s->host, s->x, true, s->a, NULL) != SL_OK;
}

static void hand_over(scene *s)
{
    pow_in(s, s->y, s->y, s->a);
    wait_for(s, s->b, s->a);
    pow_in(s, s->y, s->y, s->b);
    wait_for(s, s->a, s->b);
}

static void wait_for_device(scene *s)
{
    pow_in(s, s->x, s->x, s->a);
    s->failed += sl_device_synchronize(s->device, NULL) != SL_OK;
}

static void come_and_go(scene *s)
{
    sl_stream *stream = new_stream(s);
    wait_for(s, stream, s->a);
    sl_stream_release(stream);
    s->failed += sl_device_synchronize(s->device, NULL) != SL_OK;
}

static const struct {
    const char *name;
    void (*call)(scene *s);
} calls[] = {
    { "a kernel, and a wait for its stream", write_and_wait },
    { "reading what all streams have read", read_weights },
    { "a copy to pageable memory", copy_to_host },
    { "two streams that wait for each other", hand_over },
    { "a wait for the device", wait_for_device },
    { "a stream that comes and goes", come_and_go },
};

enum { CALLS = sizeof calls / sizeof *calls };

/* By call, once it has been made for the first time. */
static void count_looks(int n, int looks[CALLS])
{
    scene s;
    set_up(&s, n);
    for (int i = 0; i < CALLS; i++) {
        calls[i].call(&s);
        uint64_t before = sl__race_looks;
        for (int round = 0; round < ROUNDS; round++)
            calls[i].call(&s);
        looks[i] = (int)(sl__race_looks - before);
    }
    take_down(&s);
}

/* Of n streams that each read the same tensor. */
static int count_readers(int n)
{
    scene s;
    uint64_t before;
    set_up(&s, n);
    before = sl__race_looks;
    for (int i = 0; i < n; i++)
        pow_in(&s, s.own[i], s.x, s.idle[i]);
    before = sl__race_looks - before;
    take_down(&s);
    return (int)before;
}

int main(void)
{
    int few[CALLS], many[CALLS];
    plan(0);
    count_looks(FEW, few);
    count_looks(MANY, many);
    for (int i = 0; i < CALLS; i++) {
        is_int(many[i], few[i], "%s: a thousand idle streams cost no more than a hundred",
               calls[i].name);
        ok(few[i] <= 100 * ROUNDS, "and at most a hundred looks");
    }
    ok(count_readers(MANY) < 2 * MANY / FEW * count_readers(FEW),
       "a thousand readers of a tensor cost each as much as a hundred, but for the tree's height");
    return done_testing();
}
