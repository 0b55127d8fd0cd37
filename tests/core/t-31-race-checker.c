/* t-31-race-checker.c - the race checker where things go wrong: calls that fail, objects that
 * close, a checker that is turned on while work is under way. */
#include "fake_backend.h"

#include "../../core/race/checker.h"

static sl_status read_status; /* of read_tensor */
static int n_told, n_accidents_told;

static void count_told(void *ud, const sl_race *race)
{
    (void)ud;
    n_told++;
    n_accidents_told += race->kind == SL_RACE_ACCIDENT;
}

static void start(sl_check_mode mode)
{
    sl_check(SL_CHECK_OFF, NULL);
    sl_race_set_hook(count_told, NULL);
    n_told = n_accidents_told = 0;
    sl_check(mode, NULL);
}

static void stop(void)
{
    sl_check(SL_CHECK_OFF, NULL);
    sl_race_set_hook(NULL, NULL);
}

static sl_stream *new_stream_of(sl_device *device, sl_stream_options options)
{
    sl_stream *stream = NULL;
    if (sl_stream_create(device, &options, &stream, NULL)) abort();
    return stream;
}

static sl_stream *new_stream(sl_device *device, const char *name)
{
    return new_stream_of(device, (sl_stream_options){ .name = name });
}

static sl_stream *new_exempt_stream(sl_device *device, const char *name)
{
    return new_stream_of(device, (sl_stream_options){ .name = name, .non_blocking = true });
}

typedef struct scene {
    sl_device *device;
    sl_stream *a, *b;
    sl_tensor *x, *y, *pinned;
} scene;

static scene set_up(void)
{
    scene s = { .device = fake_open() };
    s.a = new_stream(s.device, "a");
    s.b = new_stream(s.device, "b");
    s.x = fake_matrix(s.device, 4, 4);
    s.y = fake_matrix(s.device, 4, 4);
    s.pinned = fake_tensor_2d(s.device, SL_FLOAT32, SL_PINNED, 4, 4);
    return s;
}

static void take_down(scene *s)
{
    sl_device_synchronize(s->device, NULL);
    stop();
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

/* ---- calls that fail ---------------------------------------------------------------- */

static void test_failed_null_stream(void)
{
    scene s = set_up();
    start(SL_CHECK_WARN);
    fill(s.x, s.a);
    fake.fail_enqueues = 1;
    is_int(sl_tensor_fill(s.y, 1, sl_device_default_stream(s.device), NULL), SL_EIO,
           "an operation in the NULL stream fails");
    fill(s.x, s.b);
    is_int((int)sl_race_count(), 1, "and is no barrier between blocking streams");
    fill(s.y, sl_device_default_stream(s.device));
    fill(s.x, s.a);
    is_int((int)sl_race_total(), 1, "the next one, which happens, is");
    take_down(&s);
}

static void test_failed_wait(void)
{
    scene s = set_up();
    sl_event *event = NULL;
    start(SL_CHECK_WARN);
    sl_event_create(s.device, false, &event, NULL);
    fill(s.x, s.a);
    sl_event_record(event, s.a, NULL);
    fake.fail_enqueues = 1;
    is_int(sl_stream_wait_event(s.b, event, NULL), SL_EIO, "waiting for an event fails");
    fill(s.x, s.b);
    is_int((int)sl_race_count(), 1, "and orders nothing");
    sl_event_release(event);
    take_down(&s);
}

/* Until a value is written, what comes behind a wait for it races with nothing. */
static void test_failed_value_wait(void)
{
    scene s = set_up();
    start(SL_CHECK_WARN);
    fill(s.y, s.b);
    fill(s.x, s.a);
    fake.fail_enqueues = 1;
    is_int(sl_stream_wait_value(s.b, s.pinned, 0, 1, SL_COMPARE_EQ, NULL), SL_EIO,
           "waiting for a value fails");
    fill(s.x, s.b);
    is_int((int)sl_race_count(), 1, "and what its stream does next is looked at");
    sl_device_synchronize(s.device, NULL);
    sl_stream_wait_value(s.b, s.pinned, 0, 1, SL_COMPARE_EQ, NULL);
    fake.fail_enqueues = 1;
    is_int(sl_stream_wait_value(s.b, s.pinned, 1, 1, SL_COMPARE_EQ, NULL), SL_EIO,
           "one behind a wait fails");
    fill(s.x, s.a);
    fill(s.x, s.b);
    is_int((int)sl_race_total(), 1, "and the stream waits as before");
    take_down(&s);
}

static void test_failed_operation(void)
{
    scene s = set_up();
    start(SL_CHECK_WARN);
    fake.fail_enqueues = 1;
    is_int(sl_tensor_fill(s.x, 1, s.a, NULL), SL_EIO, "a fill fails");
    fill(s.x, s.b);
    is_int((int)sl_race_count(), 0, "nothing races with it");
    take_down(&s);
}

static bool do_nothing(void *ud, sl_error *err)
{
    (void)ud, (void)err;
    return true;
}

static void test_failed_host_function(void)
{
    scene s = set_up();
    start(SL_CHECK_WARN);
    fake.fail_enqueues = 1;
    is_int(sl_stream_launch_host_func(s.a, do_nothing, NULL, NULL, NULL), SL_EIO,
           "launching a host function fails");
    for (int i = 0; i < 200; i++)
        fill(s.x, s.a);
    is_int((int)sl__race_accesses(sl__race), 1, "and nothing is kept for it");
    take_down(&s);
}

/* ---- a wait for a value ------------------------------------------------------------------- */

static void test_value_wait_and_event(void)
{
    scene s = set_up();
    sl_event *event = NULL;
    start(SL_CHECK_WARN);
    sl_event_create(s.device, false, &event, NULL);
    fill(s.x, s.a);
    sl_stream_wait_value(s.b, s.pinned, 0, 1, SL_COMPARE_EQ, NULL);
    sl_stream_wait_event(s.b, event, NULL);
    fill(s.x, s.b);
    is_int((int)sl_race_count(), 0, "a wait for an event does not end the wait for a value before");
    sl_event_release(event);
    take_down(&s);
}

/* ---- error mode -------------------------------------------------------------------------- */

static void test_refused_null_stream(void)
{
    scene s = set_up();
    sl_stream *other = new_exempt_stream(s.device, "exempt");
    start(SL_CHECK_ERROR);
    fill(s.x, s.a);
    fill(s.y, other);
    is_int(sl_tensor_fill(s.y, 1, sl_device_default_stream(s.device), NULL), SL_ERACE,
           "an operation in the NULL stream is refused");
    is_int(sl_tensor_fill(s.x, 1, s.b, NULL), SL_ERACE, "and is no barrier");
    sl_stream_release(other);
    take_down(&s);
}

/* x is ordered by the wait of a copy to pageable memory alone, y by nothing. */
static void test_refused_with_accident(void)
{
    scene s = set_up();
    sl_tensor *out = fake_matrix(s.device, 4, 4);
    sl_tensor *host = fake_tensor_2d(s.device, SL_FLOAT32, SL_PAGEABLE, 4, 4);
    start(SL_CHECK_ERROR);
    fill(s.x, s.a);
    sl_tensor_copy(host, s.x, true, s.a, NULL);
    fill(s.y, s.a);
    is_int(launch_pair(SL_KERNEL_ADD, out, s.x, s.y, s.b, NULL), SL_ERACE,
           "an operation with an accident and a race");
    is_int((int)sl_race_count(), 2, "has both listed");
    sl_device_synchronize(s.device, NULL);
    is_int(n_accidents_told, 1, "and the accident is reported, since no error has");
    is_int(n_told, 1, "the race is not");
    sl_tensor_release(host);
    sl_tensor_release(out);
    take_down(&s);
}

/* The fake cudaFreeHost does not wait. */
static void test_free_in_error_mode(void)
{
    scene s = set_up();
    sl_tensor *block = NULL;
    start(SL_CHECK_ERROR);
    sl_cuda_malloc_host(s.device, 16, &block, NULL);
    sl_cuda_memset_async(block, 1, 16, s.a, NULL);
    is_int(sl_cuda_free_host(block, NULL), SL_OK, "a free that races has happened");
    sl_device_synchronize(s.device, NULL);
    is_int((int)sl_race_count(), 1, "it is listed");
    is_int(n_told, 1, "and reported, since no error has");
    sl_tensor_release(block);
    take_down(&s);
}

static bool read_tensor(void *ud, sl_error *err)
{
    double value;
    read_status = sl_tensor_read(ud, 0, 1, &value, NULL, err);
    return true;
}

static void test_host_function_in_error_mode(void)
{
    scene s = set_up();
    start(SL_CHECK_ERROR);
    sl_stream_launch_host_func(s.a, read_tensor, s.pinned, NULL, NULL);
    sl_tensor_copy(s.pinned, s.x, true, s.b, NULL);
    sl_device_synchronize(s.device, NULL);
    is_int(read_status, SL_ERACE, "a host function that races is reported by an error");
    is_int(n_told, 0, "and by that alone");
    is_int((int)sl_race_count(), 1, "the race is listed");
    take_down(&s);
}

/* ---- the checker is turned on while work is under way ------------------------------------- */

static void test_host_function_from_before(void)
{
    scene s = set_up();
    stop();
    sl_stream_launch_host_func(s.a, read_tensor, s.pinned, NULL, NULL);
    start(SL_CHECK_ERROR);
    sl_tensor_copy(s.pinned, s.x, true, s.b, NULL);
    read_status = SL_EIO;
    sl_device_synchronize(s.device, NULL);
    is_int(read_status, SL_OK, "a host function enqueued before the checker was on is ordered");
    is_int((int)sl_race_count(), 0, "and races with nothing");
    take_down(&s);
}

/* Both host functions are the first operation of their stream since a check. */
static void test_checked_again(void)
{
    scene s = set_up();
    const sl_race *race;
    start(SL_CHECK_WARN);
    sl_stream_launch_host_func(s.a, do_nothing, NULL, NULL, NULL);
    sl_check(SL_CHECK_WARN, NULL);
    sl_stream_launch_host_func(s.a, read_tensor, s.pinned, NULL, NULL);
    fake_complete(1);
    sl_device_host_work(s.device, 0, NULL);
    sl_tensor_copy(s.pinned, s.x, true, s.b, NULL);
    sl_device_synchronize(s.device, NULL);
    race = sl_race_get(0);
    ok(race && race->first.in_host_func && !race->first.by_host,
       "an operation of an earlier check is not taken for one of this");
    take_down(&s);
}

static void test_outcome_checked_again(void)
{
    scene s = set_up();
    const sl_race *race;
    start(SL_CHECK_WARN);
    fill(s.y, s.a);
    sl_check(SL_CHECK_WARN, NULL);
    fill(s.x, s.a);
    fake_complete(1);
    sl_device_host_work(s.device, 0, NULL); /* the old operation has ended, not the new one */
    fill(s.x, s.b);
    race = sl_race_get(0);
    is_int(race ? (int)race->outcome : -1, SL_RACE_UNKNOWN, "nor as having ended");
    sl_device_synchronize(s.device, NULL);
    is_int(race ? (int)race->outcome : -1, SL_RACE_HELD, "until it has");
    take_down(&s);
}

/* ---- what is reported ---------------------------------------------------------------------- */

static void test_two_parts(void)
{
    scene s = set_up();
    sl_tensor *first, *second, *end, *out;
    const sl_race *race;
    sl_tensor_narrow(s.x, 0, 0, 2, &first, NULL);
    sl_tensor_narrow(s.x, 0, 2, 2, &second, NULL);
    sl_tensor_narrow(s.x, 0, 3, 1, &end, NULL);
    out = fake_matrix(s.device, 2, 4);
    start(SL_CHECK_WARN);
    launch_pair(SL_KERNEL_ADD, out, first, second, s.a, NULL);
    fill(end, s.b);
    race = sl_race_get(0);
    is_int(race ? (int)race->first_byte : -1, 48, "both parts that an operation reads are known");
    is_int(race ? (int)race->n_bytes : -1, 16, "and what of them another one writes");
    sl_tensor_release(first);
    sl_tensor_release(second);
    sl_tensor_release(end);
    sl_tensor_release(out);
    take_down(&s);
}

/* ---- objects that close ------------------------------------------------------------- */

static sl_device *open_pair(int index)
{
    sl_device *device = NULL;
    if (sl_device_open("pair", index, NULL, 0, &device, NULL)) abort();
    return device;
}

static void test_closed_stream(void)
{
    sl_device *here = open_pair(0), *there = open_pair(1);
    sl_stream *waiter = new_exempt_stream(here, "waiter"), *copier = new_stream(there, "copier");
    sl_tensor *x = fake_matrix(there, 4, 4);
    sl_tensor *pinned = fake_tensor_2d(there, SL_FLOAT32, SL_PINNED, 4, 4);
    sl_event *event = NULL;
    start(SL_CHECK_WARN);
    sl_event_create(there, false, &event, NULL);
    sl_tensor_copy(pinned, x, true, copier, NULL);
    sl_event_record(event, copier, NULL);
    sl_stream_wait_event(waiter, event, NULL);
    fake_complete(fake.n_queue);
    sl_device_host_work(here, 0, NULL);
    sl_stream_release(waiter);
    sl_device_synchronize(here, NULL);
    sl_tensor_fill(pinned, 1, NULL, NULL);
    is_int((int)sl_race_count(), 0,
           "the host that waits for a device has seen what closed streams had");
    stop();
    sl_event_release(event);
    sl_tensor_release(x);
    sl_tensor_release(pinned);
    sl_stream_release(copier);
    sl_device_drain(here);
    sl_device_release(here);
    fake_close(there);
}

int main(void)
{
    test_failed_null_stream();
    test_failed_wait();
    test_failed_value_wait();
    test_failed_operation();
    test_failed_host_function();
    test_value_wait_and_event();
    test_refused_null_stream();
    test_refused_with_accident();
    test_free_in_error_mode();
    test_host_function_in_error_mode();
    test_host_function_from_before();
    test_checked_again();
    test_outcome_checked_again();
    test_two_parts();
    test_closed_stream();
    return done_testing();
}
