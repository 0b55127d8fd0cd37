/* t-33-race-needs.c - which operation needs which: two touches of the same bytes, one a write,
 * whether or not anything puts them in order. */
#include "fake_backend.h"

typedef struct scene {
    sl_device *device;
    sl_stream *a, *b;
    sl_tensor *x, *y, *pinned;
} scene;

static sl_stream *new_stream(sl_device *device)
{
    sl_stream *stream = NULL;
    if (sl_stream_create(device, &(sl_stream_options){ .non_blocking = true }, &stream, NULL))
        abort();
    return stream;
}

static scene set_up(void)
{
    scene s = { .device = fake_open() };
    s.a = new_stream(s.device);
    s.b = new_stream(s.device);
    s.x = fake_matrix(s.device, 4, 4);
    s.y = fake_matrix(s.device, 4, 4);
    s.pinned = fake_tensor_2d(s.device, SL_FLOAT32, SL_PINNED, 4, 4);
    sl_device_synchronize(s.device, NULL);
    sl_check(SL_CHECK_WARN, NULL);
    return s;
}

static void take_down(scene *s)
{
    sl_device_synchronize(s->device, NULL);
    sl_race_keep_needs(false);
    sl_check(SL_CHECK_OFF, NULL);
    sl_stream_release(s->a);
    sl_stream_release(s->b);
    sl_tensor_release(s->x);
    sl_tensor_release(s->y);
    sl_tensor_release(s->pinned);
    fake_close(s->device);
}

static void fill(sl_tensor *tensor, sl_stream *stream)
{
    if (sl_tensor_fill(tensor, 1, stream, NULL)) abort();
}

/* Fills of x and y, then a copy of x: of the two it needs the first alone. */
static void test_operations(void)
{
    scene s = set_up();
    fill(s.x, s.a);
    is_int((int)sl_race_need_count(), 0, "nothing is kept unasked");
    sl_race_keep_needs(true);
    fill(s.x, s.a);
    fill(s.y, s.a);
    sl_tensor_copy(s.pinned, s.x, true, s.a, NULL);
    is_int((int)sl_race_need_count(), 2, "a write needs the write before, a read the last one");
    const sl_race_need *write = sl_race_need_get(0), *read = sl_race_need_get(1);
    ok(write->on + 1 == write->seq, "the second fill needs the first");
    ok(read->on == write->seq && read->seq == read->on + 2, "the copy needs the second, in order");
    fill(s.x, s.b);
    is_int((int)sl_race_need_count(), 4, "a write needs the reads as well, ordered or not");
    ok(sl_race_need_get(4) == NULL, "and behind the last there is none");
    sl_race_keep_needs(true);
    is_int((int)sl_race_need_count(), 0, "asked again it begins anew");
    take_down(&s);
}

static void test_host(void)
{
    scene s = set_up();
    sl_race_keep_needs(true);
    sl_tensor_copy(s.pinned, s.x, true, s.a, NULL);
    sl_stream_synchronize(s.a, NULL);
    fill(s.pinned, NULL);
    is_int((int)sl_race_need_count(), 1, "the host that writes needs the copy that wrote");
    const sl_race_need *need = sl_race_need_get(0);
    ok(need->seq == 0 && need->host_ns > 0 && need->on > 0, "at a time of its clock");
    take_down(&s);
}

int main(void)
{
    test_operations();
    test_host();
    return done_testing();
}
