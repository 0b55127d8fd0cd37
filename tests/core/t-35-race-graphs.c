/* t-35-race-graphs.c - the race checker and graphs: what orders the nodes of a launch, a launch and
 * other work, and launches that do not happen. Sixty-four bytes a tensor. */
#include "../../core/race/checker.h"
#include "../../core/race/clock.h"
#include "fake_backend.h"

static sl_device *device;
static sl_stream *a, *b, *c;
static sl_tensor *x, *y, *pinned, *pageable;

static void at(int line)
{
    char where[32];
    snprintf(where, sizeof where, "lab.lua:%d", line);
    sl_device_set_where(device, sl_device_intern(device, where));
}

static sl_stream *new_stream(const char *name)
{
    sl_stream *stream = NULL;
    const sl_stream_options options = { .name = name, .non_blocking = true };
    if (sl_stream_create(device, &options, &stream, NULL)) abort();
    return stream;
}

static void set_up(sl_check_mode mode)
{
    device = fake_open();
    a = new_stream("a");
    b = new_stream("b");
    c = new_stream("c");
    x = fake_matrix(device, 4, 4);
    y = fake_matrix(device, 4, 4);
    pinned = fake_tensor_2d(device, SL_FLOAT32, SL_PINNED, 4, 4);
    pageable = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 4, 4);
    sl_check(mode, NULL);
}

static void take_down(void)
{
    sl_device_synchronize(device, NULL);
    sl_check(SL_CHECK_OFF, NULL);
    sl_stream_release(a);
    sl_stream_release(b);
    sl_stream_release(c);
    sl_tensor_release(x);
    sl_tensor_release(y);
    sl_tensor_release(pinned);
    sl_tensor_release(pageable);
    fake_close(device);
}

static void fill(sl_tensor *tensor, sl_stream *stream, int line)
{
    at(line);
    if (sl_tensor_fill(tensor, 1, stream, NULL)) abort();
}

static void copy(sl_tensor *dst, sl_tensor *src, sl_stream *stream, int line)
{
    at(line);
    if (sl_tensor_copy(dst, src, true, stream, NULL)) abort();
}

static void begin(void)
{
    if (sl_stream_begin_capture(a, SL_CAPTURE_RELAXED, NULL)) abort();
}

static void wait_for(sl_stream *stream, sl_stream *other)
{
    if (sl_stream_wait_stream(stream, other, NULL)) abort();
}

static sl_graph *captured(void)
{
    sl_graph *graph = NULL;
    if (sl_stream_end_capture(a, &graph, NULL)) abort();
    return graph;
}

static sl_graph *end(void)
{
    sl_graph *graph = captured();
    if (sl_graph_instantiate(graph, false, NULL)) abort();
    return graph;
}

static void launch(sl_graph *graph, sl_stream *stream, int line)
{
    at(line);
    if (sl_graph_launch(graph, stream, NULL)) abort();
}

/* One node: x is filled, in line 1. */
static sl_graph *filling(sl_tensor *tensor)
{
    begin();
    fill(tensor, a, 1);
    return end();
}

static int races(void) { return (int)sl_race_count(); }
static const sl_race *race(void) { return sl_race_get((size_t)races() - 1); }

/* Two branches fill x, the second only behind the first if `ordered`. */
static sl_graph *branches(bool ordered)
{
    begin();
    wait_for(b, a);
    fill(x, a, 2);
    if (ordered) wait_for(b, a);
    fill(x, b, 3);
    wait_for(a, b);
    return end();
}

static void test_branches(void)
{
    set_up(SL_CHECK_WARN);
    sl_graph *graph = branches(true);
    launch(graph, c, 9);
    is_int(races(), 0, "an edge orders two nodes");
    sl_graph_release(graph);
    graph = branches(false);
    is_int(races(), 0, "a capture runs nothing");
    launch(graph, c, 9);
    launch(graph, c, 9);
    is_int(races(), 1, "two branches without an edge race");
    is_int((int)race()->count, 2, "in each launch");
    is_str(race()->first.where, "lab.lua:2", "the first was captured there");
    is_str(race()->second.where, "lab.lua:3", "the second there");
    is_str(race()->second.launched, "lab.lua:9", "and launched there");
    is_str(race()->second.graph, "graph 2", "in this graph");
    is_str(race()->first.stream_name, "c", "nodes of the first stream are in the launching one");
    is_str(race()->second.stream_name, "b (graph)", "those of another have a row of their own");
    is_str(race()->first.captured, "a", "they were captured in a");
    is_str(race()->second.captured, "b", "and in b");
    is_int(race()->remedy, SL_REMEDY_CAPTURE_WAITS, "what helps is a wait in the capture");
    sl_graph_release(graph);
    take_down();
}

static void test_streams(void)
{
    set_up(SL_CHECK_WARN);
    sl_graph *graph = branches(true);
    fill(x, c, 7);
    launch(graph, c, 9);
    fill(x, c, 10);
    is_int(races(), 0, "a launch comes behind its stream's work, and later work behind its nodes");
    wait_for(a, c);
    fill(x, a, 11);
    is_int(races(), 0, "so does a stream that waits for the launching one");
    launch(graph, c, 12);
    is_int(races(), 1, "a launch that waits for nothing races");
    is_str(race()->first.where, "lab.lua:11", "with the other stream");
    is_str(race()->second.launched, "lab.lua:12", "at the line of the launch");
    wait_for(b, a);
    fill(x, b, 13);
    is_int(races(), 2, "the stream of a captured branch is not that of its node");
    is_str(race()->first.stream_name, "b (graph)", "whose row has a name of its own");
    sl_device_synchronize(device, NULL);
    fill(x, a, 14);
    is_int(races(), 2, "a wait for the device is one for all nodes");
    sl_graph_release(graph);
    take_down();
}

static void test_one_executable(void)
{
    set_up(SL_CHECK_WARN);
    sl_graph *graph = branches(true), *other = filling(x);
    launch(graph, a, 8);
    launch(graph, b, 9);
    launch(graph, c, 10);
    is_int(races(), 0, "one executable graph never runs twice at once");
    fill(x, c, 11);
    is_int(races(), 0, "and what comes behind the last launch comes behind all");
    fill(x, a, 12);
    is_int(races(), 1, "what comes behind the first does not");
    sl_device_synchronize(device, NULL);
    launch(graph, a, 13);
    launch(other, b, 14);
    is_int(races(), 2, "two graphs with the same memory race");
    is_str(race()->first.graph, "graph 1", "the one");
    is_str(race()->second.graph, "graph 2", "with the other");
    sl_graph_release(graph);
    sl_graph_release(other);
    take_down();
}

static void test_null_stream(void)
{
    set_up(SL_CHECK_WARN);
    sl_graph *graph = branches(true);
    sl_stream *null_stream = sl_device_default_stream(device), *blocking = NULL;
    if (sl_stream_create(device, &(sl_stream_options){ .name = "blocking" }, &blocking, NULL))
        abort();
    fill(x, blocking, 8);
    launch(graph, null_stream, 9);
    fill(x, blocking, 10);
    launch(graph, blocking, 11);
    fill(x, null_stream, 12);
    is_int(races(), 0,
           "a launch in the NULL stream is a barrier, and one in a blocking stream "
           "meets it");
    launch(graph, c, 13);
    is_int(races(), 1, "a stream that does not block has no part in it");
    sl_stream_release(blocking);
    sl_graph_release(graph);
    take_down();
}

static void test_host(void)
{
    double value = 1;
    set_up(SL_CHECK_WARN);
    begin();
    copy(x, pinned, a, 1);
    copy(y, pageable, a, 2);
    sl_graph *graph = end();
    launch(graph, a, 9);
    at(10);
    sl_tensor_write(pinned, 0, 1, &value, a, NULL);
    is_int(races(), 1, "the host writes pinned memory that a launch reads");
    is_int(race()->kind, SL_RACE_UNORDERED, "which is a race");
    is_str(race()->first.launched, "lab.lua:9", "with that launch");
    at(11);
    sl_tensor_write(pageable, 0, 1, &value, a, NULL);
    is_int(races(), 2, "the host writes pageable memory that a launch has read");
    is_int(race()->kind, SL_RACE_ACCIDENT, "which is an accident");
    is_int(race()->accident, SL_ACCIDENT_GRAPH_SOURCE, "since the launch reads it in the call");
    is_str(race()->accident_where, "lab.lua:9", "there");
    sl_stream_synchronize(a, NULL);
    sl_tensor_write(pinned, 0, 1, &value, a, NULL);
    is_int((int)sl_race_total(), 2, "after a wait it is neither");
    sl_graph_release(graph);
    take_down();
}

static void test_copies_to_pageable_memory(void)
{
    double value;
    set_up(SL_CHECK_WARN);
    begin();
    fill(x, a, 1);
    copy(pageable, x, a, 2);
    fill(y, a, 3);
    sl_graph *graph = end();
    launch(graph, a, 9);
    at(10);
    sl_tensor_read(pageable, 0, 1, &value, a, NULL);
    is_int(races(), 1, "the host reads what a launch has copied to pageable memory");
    is_int(race()->accident, SL_ACCIDENT_TO_PAGEABLE,
           "in order by chance: the launch waits for it");
    fill(x, b, 11);
    is_int(race()->kind, SL_RACE_ACCIDENT, "what comes before that copy is over by chance, too");
    fill(y, b, 12);
    is_int(race()->kind, SL_RACE_UNORDERED, "and what comes behind it is not");
    sl_graph_release(graph);
    take_down();
}

static void test_freed(void)
{
    sl_tensor *block = NULL, *other = NULL;
    set_up(SL_CHECK_WARN);
    sl_cuda_malloc(device, 64, &block, NULL);
    sl_cuda_malloc_async(b, 64, &other, NULL);
    begin();
    at(1);
    sl_cuda_memset_async(block, 1, 64, a, NULL);
    at(2);
    sl_cuda_memset_async(other, 1, 64, a, NULL);
    sl_graph *graph = end();
    sl_device_synchronize(device, NULL);
    launch(graph, a, 8);
    sl_device_synchronize(device, NULL);
    is_int(races(), 0, "a launch uses memory that is there");
    at(9);
    sl_cuda_free(block, NULL);
    is_int(races(), 0, "memory may be freed behind the last launch");
    launch(graph, a, 10);
    is_int(races(), 1, "a later launch uses memory that is gone");
    is_int(race()->kind, SL_RACE_AFTER_FREE, "which is a kind of its own");
    is_str(race()->first.what, "cudaFree", "it was freed by that call");
    is_str(race()->first.where, "lab.lua:9", "there");
    is_str(race()->second.where, "lab.lua:1", "captured there");
    is_str(race()->second.launched, "lab.lua:10", "and launched there");
    sl_check(SL_CHECK_ERROR, NULL);
    sl_device_synchronize(device, NULL);
    at(11);
    sl_cuda_free_async(other, b, NULL);
    int queued = fake.n_queue;
    fails_with(sl_graph_launch(graph, a, err), SL_ERACE,
               "its node Memset (Device) at lab.lua:2 uses memory that cudaFreeAsync at lab.lua:11 "
               "has freed",
               "error mode refuses the launch");
    is_int(fake.n_queue, queued, "which does nothing");
    sl_graph_release(graph);
    sl_tensor_release(block);
    sl_tensor_release(other);
    take_down();
}

static void test_refused(void)
{
    set_up(SL_CHECK_ERROR);
    sl_graph *inside = branches(false), *graph = branches(true);
    int queued = fake.n_queue;
    fails_with(sl_graph_launch(inside, a, err), SL_ERACE,
               "its node fill_f32 at lab.lua:3 races with its node fill_f32 at lab.lua:2: no edge "
               "orders them",
               "error mode refuses a launch whose nodes race");
    is_int(sl_graph_launch(inside, a, NULL), SL_ERACE, "each time");
    is_int(fake.n_queue, queued, "and nothing is enqueued");
    fill(x, a, 7);
    launch(graph, a, 8);
    is_int(races(), 1, "what was refused has not happened");
    fails_with(sl_graph_launch(graph, b, err), SL_OK, "", "the same graph in another stream may");
    at(9);
    fails_with(sl_tensor_fill(x, 1, c, err), SL_ERACE,
               "it races with fill_f32 at lab.lua:3 in stream \"b (graph)\": nothing orders them",
               "other work is refused because of a node");
    fill(y, c, 10);
    begin();
    fill(y, a, 11);
    sl_graph *third = end();
    fails_with(sl_graph_launch(third, b, err), SL_ERACE,
               "it races with fill_f32 at lab.lua:10 in stream \"c\": nothing orders them",
               "a launch is refused because of other work");
    fill(x, b, 12);
    wait_for(b, c);
    fails_with(sl_graph_launch(third, b, err), SL_OK, "", "until it waits for that");
    sl_graph_release(inside);
    sl_graph_release(graph);
    sl_graph_release(third);
    take_down();
}

static void test_failed_launch(void)
{
    set_up(SL_CHECK_WARN);
    sl_graph *graph = branches(true);
    fake.fail_enqueues = 1;
    is_int(sl_graph_launch(graph, a, NULL), SL_EIO, "the backend fails to launch");
    fill(x, c, 8);
    is_int(races(), 0, "nothing races with that launch");
    launch(graph, c, 9);
    is_int(races(), 0, "nor does the next one come behind it");
    fill(x, a, 10);
    is_int(races(), 1, "and its stream comes behind nothing");
    sl_graph_release(graph);
    take_down();
}

static void test_update(void)
{
    sl_error err;
    set_up(SL_CHECK_WARN);
    sl_graph *graph = filling(x);
    begin();
    fill(y, a, 2);
    sl_graph *from = captured();
    launch(graph, a, 8);
    if (sl_graph_update(graph, from, &err)) abort();
    sl_graph_release(from);
    fill(x, a, 9);
    fill(y, b, 10);
    launch(graph, a, 11);
    is_int(races(), 1, "after an update a launch does what the graph does now");
    fill(x, c, 12);
    is_int(races(), 2, "and earlier ones did what they did");
    is_str(race()->first.where, "lab.lua:9", "in their order");
    sl_graph_release(graph);
    take_down();
}

static void test_switching(void)
{
    set_up(SL_CHECK_OFF);
    sl_graph *graph = branches(false);
    launch(graph, a, 8);
    sl_check(SL_CHECK_WARN, NULL);
    fill(x, c, 9);
    is_int(races(), 0, "launches before the checker was on count as ordered");
    launch(graph, c, 10);
    sl_check(SL_CHECK_WARN, NULL);
    is_int(races(), 0, "switching it on again forgets graphs");
    launch(graph, c, 11);
    is_int(races(), 1, "and finds them again");
    sl_graph_release(graph);
    sl_device_synchronize(device, NULL);
    fill(x, a, 12);
    is_int(races(), 1, "a graph may be freed when it has run");
    take_down();
}

/* A chain of n nodes in a and b by turns, with an edge from each to the next. */
static sl_graph *chain(int n)
{
    begin();
    for (int i = 0; i < n; i++) {
        fill(x, i % 2 ? b : a, 1);
        wait_for(i % 2 ? a : b, i % 2 ? b : a);
    }
    wait_for(a, b);
    return end();
}

static uint64_t looks_of(int n)
{
    sl_graph *graph = chain(n);
    uint64_t looks;
    launch(graph, a, 2);
    looks = sl__race_looks;
    launch(graph, a, 3);
    looks = sl__race_looks - looks;
    sl_graph_release(graph);
    return looks;
}

static void test_cost(void)
{
    set_up(SL_CHECK_WARN);
    uint64_t few = looks_of(100), many = looks_of(1000);
    ok(many <= 11 * few, "a launch of ten times as many nodes looks at about ten times as much");
    diag("%d and %d looks", (int)few, (int)many);
    sl_device_synchronize(device, NULL);
    sl_graph *graph = chain(100);
    for (int i = 0; i < 100; i++)
        launch(graph, a, 4);
    ok(sl__race_accesses(sl__race) <= 2, "and a hundred launches keep no more than one");
    is_int(races(), 0, "a chain through two streams is in order");
    sl_graph_release(graph);
    take_down();
}

int main(void)
{
    test_branches();
    test_streams();
    test_one_executable();
    test_null_stream();
    test_host();
    test_copies_to_pageable_memory();
    test_freed();
    test_refused();
    test_failed_launch();
    test_update();
    test_switching();
    test_cost();
    return done_testing();
}
