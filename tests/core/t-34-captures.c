/* t-34-captures.c - captures: what becomes a node, what ends one, and what a backend checks itself. */
#include "captures.h"

/* ---- nodes and edges ---- */

static void test_chain(void)
{
    sl_graph *graph = NULL;
    sl_graph_edge edges[2];
    sl_graph_node nodes[3];
    sl_capture_status status;
    int queued = fake.n_queue;
    sl_stream_capture_status(a, &status, NULL);
    is_str(sl_capture_status_name(status), "none", "a stream is in no capture");
    begin(a, SL_CAPTURE_GLOBAL);
    sl_stream_capture_status(a, &status, NULL);
    is_str(sl_capture_status_name(status), "active", "until one begins in it");
    for (int i = 0; i < 3; i++)
        fake_spin(a, NULL);
    is_int(fake.n_queue, queued, "nothing runs meanwhile");
    is_int(sl_stream_in_flight(a), 0, "nor is it in flight");
    is_int(sl_stream_end_capture(a, &graph, NULL), SL_OK, "the end gives a graph");
    is_int((int)sl_graph_node_count(graph), 3, "of what was enqueued");
    is_int((int)sl_graph_edge_count(graph), 2, "in order");
    sl_graph_get_edges(graph, edges);
    ok(edges[0].from == 0 && edges[0].to == 1 && edges[1].from == 1 && edges[1].to == 2,
       "each behind the one before it");
    is_int(sl_graph_get_nodes(graph, nodes, NULL), SL_OK, "what it has can be read");
    is_str(nodes[2].stream, "a", "a node knows its stream");
    is_str(nodes[2].where, "lab.lua:1", "and its line");
    is_str(sl_graph_name(graph), "graph 1", "it has a name");
    fails_with(sl_graph_launch(graph, a, err), SL_ESTATE,
               "graph 1 is not instantiated: instantiate it first",
               "it is instantiated before its first launch");
    sl_graph_release(graph);
}

/* A kernel in a, two in b behind it, and one in a behind both: a diamond's three edges and the
 * edge in b. */
static void test_fork(void)
{
    sl_graph *graph = NULL;
    sl_graph_edge edges[8];
    sl_capture_status status;
    begin(a, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    is_int(wait_for(b, a, NULL), SL_OK, "a stream that waits for a captured one takes part");
    sl_stream_capture_status(b, &status, NULL);
    is_int((int)status, SL_CAPTURE_STATUS_ACTIVE, "from then on");
    fake_spin(b, NULL);
    fake_spin(b, NULL);
    fake_spin(a, NULL);
    is_int(wait_for(a, b, NULL), SL_OK, "and comes back by a wait");
    fake_spin(a, NULL);
    is_int(sl_stream_end_capture(a, &graph, NULL), SL_OK, "then the capture can end");
    is_int((int)sl_graph_node_count(graph), 5, "records and waits are no nodes");
    is_int((int)sl_graph_edge_count(graph), 5, "but edges");
    sl_graph_get_edges(graph, edges);
    ok(edges[0].from == 0 && edges[0].to == 1, "b's first is behind a's");
    ok(edges[1].from == 1 && edges[1].to == 2, "b's second behind that");
    ok(edges[2].from == 0 && edges[2].to == 3, "a's second behind its first");
    ok(edges[3].to == 4 && edges[4].to == 4 && edges[3].from + edges[4].from == 5,
       "the last behind both streams");
    sl_stream_capture_status(b, &status, NULL);
    is_int((int)status, SL_CAPTURE_STATUS_NONE, "b is free again");
    sl_graph_release(graph);
}

static void test_unjoined(void)
{
    sl_graph *graph = NULL;
    begin(a, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    wait_for(b, a, NULL);
    is_int(end(a), 0, "a fork without work need not come back");
    begin(a, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    wait_for(b, a, NULL);
    fake_spin(b, NULL);
    fails_with(
        sl_stream_end_capture(a, &graph, err), SL_ECAPTURE,
        "cudaStreamEndCapture: stream \"b\" has captured work at lab.lua:1 that stream \"a\" "
        "does not wait for: let it wait_stream for \"b\" before the capture ends "
        "(cudaErrorStreamCaptureUnjoined, 904)",
        "one with work must");
    ok(!graph, "there is no graph then");
    is_int(fake.captures, 0, "and the capture is over");
    is_int(fake_spin(b, NULL), SL_OK, "b can be used");
    sl_device_synchronize(device, NULL);
}

static void test_launch(void)
{
    sl_tensor *x = NULL, *y = NULL;
    sl_tensor_spec spec = { .dtype = SL_FLOAT32, .place = SL_ON_DEVICE, .ndim = 1, .dim = { 2 } };
    sl_graph *graph = NULL;
    double values[2] = { 1, 2 };
    sl_tensor_create(device, &spec, a, &x, NULL);
    sl_tensor_create(device, &spec, a, &y, NULL);
    sl_tensor_write(x, 0, 2, values, a, NULL);
    begin(a, SL_CAPTURE_GLOBAL);
    sl_tensor_copy(y, x, true, a, NULL);
    sl_stream_end_capture(a, &graph, NULL);
    sl_graph_instantiate(graph, false, NULL);
    fails_with(sl_graph_instantiate(graph, false, err), SL_ESTATE,
               "the graph is instantiated already", "a graph is instantiated once");
    values[0] = 8;
    sl_tensor_write(x, 0, 2, values, a, NULL);
    is_int(sl_graph_launch(graph, b, NULL), SL_OK, "a graph is launched in any stream");
    sl_graph_release(graph);
    is_int(fake.graphs, 1, "and lives until that is done");
    sl_device_synchronize(device, NULL);
    is_int(fake.graphs, 0, "then it is gone");
    sl_tensor_read(y, 0, 2, values, a, NULL);
    ok(values[0] == 8 && values[1] == 2, "it read what was there at the launch");
    sl_tensor_release(x);
    sl_tensor_release(y);
}

static sl_graph *capture_copy(sl_tensor *to, sl_tensor *from)
{
    sl_graph *graph = NULL;
    begin(a, SL_CAPTURE_GLOBAL);
    sl_tensor_copy(to, from, true, a, NULL);
    sl_stream_end_capture(a, &graph, NULL);
    return graph;
}

static void test_update(void)
{
    sl_tensor *x = fake_matrix(device, 2, 2), *y = fake_matrix(device, 2, 2);
    sl_tensor *z = fake_matrix(device, 2, 2);
    sl_graph *graph = capture_copy(y, x), *from = capture_copy(z, x);
    sl_graph_instantiate(graph, false, NULL);
    sl_device_synchronize(device, NULL);
    sl_graph_launch(graph, a, NULL);
    is_int(sl_tensor_in_flight(y), 1, "a launch uses the memory of its nodes");
    is_int(sl_graph_update(graph, from, NULL), SL_OK, "a graph is updated by another");
    is_int(sl_tensor_in_flight(z), 0, "whose nodes nothing has launched yet");
    sl_graph_launch(graph, a, NULL);
    sl_graph_launch(graph, a, NULL);
    is_int(sl_tensor_in_flight(z), 2, "launches use them then, and are counted once");
    fails_with(sl_graph_instantiate(from, false, err), SL_ESTATE,
               "graph 7 has updated another graph, which has its nodes now: capture them again",
               "the other graph cannot be instantiated");
    fails_with(sl_graph_update(graph, from, err), SL_ESTATE,
               "graph 7 has updated another graph, which has its nodes now: capture them again",
               "or update again");
    sl_graph_release(graph);
    sl_device_synchronize(device, NULL);
    is_int(sl_graph_instantiate(from, false, NULL), SL_OK, "until the updated one is gone");
    sl_graph_release(from);
    sl_tensor_release(x);
    sl_tensor_release(y);
    sl_tensor_release(z);
}

static void test_update_across_devices(void)
{
    sl_device *other = NULL;
    sl_stream *stream = NULL;
    sl_graph *graph = NULL, *from = NULL;
    const sl_stream_options options = { .non_blocking = true };
    if (sl_device_open("fake", 1, NULL, 0, &other, NULL)
        || sl_stream_create(other, &options, &stream, NULL))
        abort();
    begin(a, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    sl_stream_end_capture(a, &graph, NULL);
    sl_graph_instantiate(graph, false, NULL);
    sl_stream_begin_capture(stream, SL_CAPTURE_GLOBAL, NULL);
    fake_spin(stream, NULL);
    sl_stream_end_capture(stream, &from, NULL);
    fails_with(sl_graph_update(graph, from, err), SL_EDEVICE,
               "the new graph is on another device (fake 1, Fake) than the graph (fake 0, Fake)",
               "a graph of another device updates none");
    sl_graph_release(from);
    sl_stream_release(stream);
    sl_device_finish(other, NULL);
    sl_device_release(other);
    is_int(sl_graph_launch(graph, a, NULL), SL_OK, "and what it did remains");
    sl_graph_release(graph);
}

static void test_memory(void)
{
    sl_tensor *x = fake_matrix(device, 2, 2), *made = NULL, *other = NULL;
    sl_tensor_spec spec = *sl_tensor_get_spec(x);
    sl_graph *graph = NULL;
    fake.lends = true;
    sl_tensor_create(device, &spec, a, &made, NULL);
    sl_tensor_fill(made, 2, a, NULL);
    sl_tensor_free(made, NULL);
    sl_tensor_release(made);
    sl_tensor_create(device, &spec, a, &other, NULL);
    is_int(fake_stats(device).device_bytes, 32, "a tensor has memory that its stream still uses");
    sl_tensor_release(other);
    begin(a, SL_CAPTURE_GLOBAL);
    sl_tensor_create(device, &spec, a, &made, NULL);
    is_int(fake_stats(device).device_bytes, 48, "one that is made in a capture has its own");
    sl_tensor_fill(made, 2, a, NULL);
    sl_tensor_fill(x, 3, a, NULL);
    sl_tensor_release(made);
    sl_tensor_release(x);
    sl_stream_end_capture(a, &graph, NULL);
    sl_device_synchronize(device, NULL);
    fake.lends = false;
    is_int(fake_stats(device).buffers, 2, "a graph holds the memory that its nodes name");
    sl_graph_release(graph);
    is_int(fake_stats(device).buffers, 0, "until it goes");
}

/* ---- events ---- */

static void test_events(void)
{
    bool done;
    double ms;
    sl_event_record(other_event, b, NULL);
    begin(a, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    sl_event_record(event, a, NULL);
    fails_with(sl_event_elapsed_ms(other_event, event, &ms, err), SL_ECAPTURE,
               "cudaEventElapsedTime: the event was recorded in the capture of stream \"a\", and "
               "happens only in the graph: ask for an event that is recorded behind the launch "
               "(cudaErrorCapturedEvent, 907)",
               "a captured record has no time");
    is_int(fake_spin(a, NULL), SL_OK, "which spoils nothing");
    is_int(code_of(sl_event_query(event, &done, &code_error)), 907, "nor can it be asked");
    is_int(end(a), 901, "which does");
    fails_with(
        sl_event_synchronize(event, err), SL_EINVAL,
        "cudaEventSynchronize: the event's latest record was in a capture that has ended, so "
        "that it has neither a time nor anything to wait for: record it again "
        "(cudaErrorInvalidValue, 1)",
        "once the capture is over it is of no use");
    is_int(sl_stream_wait_event(b, event, NULL), SL_EINVAL, "not for waits either");
    sl_event_record(event, b, NULL);
    is_int(sl_event_query(event, &done, NULL), SL_OK, "until it is recorded again");
    begin(a, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    fails_with(sl_stream_wait_event(a, other_event, err), SL_ECAPTURE,
               "cudaStreamWaitEvent: stream \"a\" is captured, and what it waits for was recorded "
               "outside of the capture: wait before the capture begins, or in the stream of the "
               "launch (cudaErrorStreamCaptureIsolation, 905)",
               "an event of outside cannot be waited for");
    is_int(end(a), 901, "and the capture is spoiled");
    sl_device_synchronize(device, NULL);
}

static void test_two_captures(void)
{
    bool done;
    begin(a, SL_CAPTURE_GLOBAL);
    begin(b, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    fake_spin(b, NULL);
    is_int(code_of(wait_for(b, a, &code_error)), 902, "two captures cannot become one");
    is_int(end(a), 901, "both");
    is_int(end(b), 901, "are spoiled");
    begin(a, SL_CAPTURE_GLOBAL);
    begin(b, SL_CAPTURE_GLOBAL);
    sl_event_record(event, b, NULL);
    is_int(code_of(sl_event_query(event, &done, &code_error)), 907, "of two captures");
    is_int(end(a), 0, "only that is spoiled");
    is_int(end(b), 901, "which the event was recorded in");
}

/* ---- failures and ends ---- */

static void test_failed_node(void)
{
    sl_graph *graph = NULL;
    fake.fail_enqueues = 1;
    is_int(sl_stream_begin_capture(a, SL_CAPTURE_GLOBAL, NULL), SL_EIO, "a capture may not begin");
    is_int(fake_spin(a, NULL), SL_OK, "then the stream is as it was");
    begin(a, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    fake.fail_enqueues = 1;
    is_int(fake_spin(a, NULL), SL_EIO, "an operation that fails");
    fake_spin(a, NULL);
    fake.fail_enqueues = 1;
    is_int(wait_for(b, a, NULL), SL_EIO, "or a record");
    is_int(sl_stream_end_capture(a, &graph, NULL), SL_OK, "spoils nothing");
    is_int((int)sl_graph_node_count(graph), 2, "and is no node");
    sl_graph_release(graph);
    sl_device_synchronize(device, NULL);
}

static void test_abandoned(void)
{
    begin(a, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    wait_for(b, a, NULL);
    fake_spin(b, NULL);
    sl_stream_abandon_capture(b);
    is_int(fake.captures, 1, "a stream that has joined a capture does not end it");
    sl_stream_abandon_capture(a);
    is_int(fake.captures, 0, "a capture is thrown away where it began");
    is_int(fake_stats(device).graphs, 0, "with its graph");
    is_int(sl_device_synchronize(device, NULL), SL_OK, "and all is permitted again");
    sl_stream_abandon_capture(a);
    ok(true, "without one nothing happens");
    begin(a, SL_CAPTURE_GLOBAL);
    sl_device_finish(device, NULL);
    is_int(fake.captures, 0, "the end of a device ends its captures");
}

/* ---- a backend that checks captures itself ---- */

static void test_checked(void)
{
    sl_graph *graph = NULL;
    double ms;
    begin(a, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    sl_event_record(event, a, NULL);
    is_int(code_of(sl_event_elapsed_ms(event, event, &ms, &code_error)), 907,
           "a captured event has no time, which core knows");
    is_int(sl_device_synchronize(device, NULL), SL_OK, "such a backend decides");
    fake.refused_with = 900;
    fake.refused_call = "cudaSomethingInside";
    sl_device_set_where(device, sl_device_intern(device, "lab.lua:5"));
    fails_with(
        sl_device_synchronize(device, err), SL_ECAPTURE,
        "cudaDeviceSynchronize waits for all streams, and \"a\" is captured: end the capture "
        "and launch the graph, then synchronize (cudaErrorStreamCaptureUnsupported, 900)",
        "from its number comes the same sentence");
    fails_with(fake_spin(a, err), SL_ECAPTURE,
               "cudaLaunchKernel: cudaDeviceSynchronize at lab.lua:5 has spoiled the capture of "
               "stream \"a\" (cudaErrorStreamCaptureUnsupported): end it, and capture again "
               "without that call (cudaErrorStreamCaptureInvalidated, 901)",
               "and who is to blame");
    is_int(end(a), 901, "until the end");
    begin(a, SL_CAPTURE_GLOBAL);
    wait_for(b, a, NULL);
    fake_spin(b, NULL);
    fake.refused_with = 904;
    fails_with(
        sl_stream_end_capture(a, &graph, err), SL_ECAPTURE,
        "cudaStreamEndCapture: stream \"b\" has captured work at lab.lua:1 that stream \"a\" "
        "does not wait for: let it wait_stream for \"b\" before the capture ends "
        "(cudaErrorStreamCaptureUnjoined, 904)",
        "core knows which stream has not come back");
}

int main(void)
{
    plan(0);
    open_all("fake");
    test_chain();
    test_fork();
    test_unjoined();
    test_launch();
    test_update();
    test_update_across_devices();
    test_memory();
    test_events();
    test_two_captures();
    test_failed_node();
    test_abandoned();
    close_all();
    open_all("checked");
    test_checked();
    close_all();
    return done_testing();
}
