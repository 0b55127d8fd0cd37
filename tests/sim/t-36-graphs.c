/* Launches of graphs: when their nodes start, on a GPU whose gaps are all different. */
#include "lab.h"

#define GAPS                                                                             \
    { "stream_gap_us", 0.007 }, { "copy_gap_us", 0.020 }, { "engine_switch_us", 0.050 }, \
        { "cross_stream_us", 0.011 },                                                    \
    {                                                                                    \
        "graph.gap_us", 0.003                                                            \
    }

static void begin(lab *l, int stream)
{
    l->failed += sl_stream_begin_capture(l->stream[stream], SL_CAPTURE_THREAD_LOCAL, NULL) != SL_OK;
}

static sl_graph *end_as(lab *l, int stream, bool priorities)
{
    sl_graph *graph = NULL;
    l->failed += sl_stream_end_capture(l->stream[stream], &graph, NULL) != SL_OK;
    l->failed += !graph || sl_graph_instantiate(graph, priorities, NULL) != SL_OK;
    return graph;
}

static sl_graph *end(lab *l, int stream) { return end_as(l, stream, false); }

static void launch(lab *l, sl_graph *graph, int stream)
{
    sl_error err = { 0 };
    if (sl_graph_launch(graph, l->stream[stream], &err) != SL_OK) {
        l->failed++;
        diag("%s", err.msg);
    }
}

/* Of span i. */
static int ready_cause(const lab *l, size_t i)
{
    size_t n;
    const sl_hold *holds = holds_of(l->timeline, &n);
    for (size_t k = 0; k < n; k++)
        if (holds[k].correlation == lab_span(l, i)->correlation) return holds[k].ready_cause;
    return -1;
}

static void chain(void)
{
    const lab_setup setup = { LAB_MORE(GAPS) };
    lab l;
    lab_open(&l, &setup);
    begin(&l, 1);
    lab_spin(&l, 1, 1000);
    lab_spin(&l, 1, 1000);
    lab_h2d(&l, 1, 5000);
    lab_h2d(&l, 1, 5000);
    lab_d2h(&l, 1, 5000);
    lab_spin(&l, 1, 100);
    sl_graph *graph = end(&l, 1);
    launch(&l, graph, 1);
    lab_end(&l);
    LAB_STARTS(&l, "nodes of a chain follow each other with the gaps of a graph", 0, 1003, 2053,
               2573, 3123, 3673);
    is_int(ready_cause(&l, 1), SL_CAUSE_STREAM_ORDER, "an edge in a stream is its order");
    sl_graph_release(graph);
    lab_close(&l);
}

/* 0 -> 1, 2 -> 3: node 2 in another stream. */
static void fork_and_join(void)
{
    const lab_setup setup = { LAB_MORE(GAPS) };
    lab l;
    lab_open(&l, &setup);
    begin(&l, 1);
    lab_spin(&l, 1, 1000); /* to 1000 */
    lab_record(&l, 1, l.event[0]);
    lab_spin(&l, 1, 300); /* 1003 to 1303 */
    lab_wait(&l, 2, l.event[0]);
    lab_spin(&l, 2, 500); /* 1003 to 1503 */
    lab_record(&l, 2, l.event[1]);
    lab_wait(&l, 1, l.event[1]);
    lab_spin(&l, 1, 100); /* 1506 */
    sl_graph *graph = end(&l, 1);
    launch(&l, graph, 3);
    lab_end(&l);
    LAB_STARTS(&l, "branches run side by side, and a join waits for both", 0, 1003, 1003, 1506);
    is_int(ready_cause(&l, 2), SL_CAUSE_EVENT, "an edge between streams is an event's");
    sl_graph_release(graph);
    lab_close(&l);
}

static void launches_in_turn(void)
{
    const lab_setup setup = { LAB_MORE(GAPS) };
    lab l;
    lab_open(&l, &setup);
    begin(&l, 1);
    lab_spin(&l, 1, 1000);
    lab_spin(&l, 1, 1000);
    sl_graph *graph = end(&l, 1);
    lab_spin(&l, 1, 100);  /* to 100 */
    launch(&l, graph, 1);  /* 107, 1110 to 2110 */
    launch(&l, graph, 1);  /* 2117, 3120 to 4120 */
    lab_spin(&l, 1, 1000); /* 4127 */
    launch(&l, graph, 2);  /* 4120 + 11, 5134 */
    lab_end(&l);
    LAB_STARTS(&l, "one executable graph runs once at a time, in the order of the calls", 0, 107,
               1110, 2117, 3120, 4127, 4131, 5134);
    is_int(ready_cause(&l, 6), SL_CAUSE_GRAPH, "and that is what the later launch waited for");
    is_int(sl_graph_launches(graph), 3, "a graph counts its launches");
    sl_graph_release(graph);
    lab_close(&l);
}

/* An edge from the first to the last of a chain says nothing that the others do not. */
static void forks_and_joins_take_time(void)
{
    const lab_setup setup = { LAB_MORE({ "graph.fork_us", 0.01 }, { "graph.join_us", 0.1 },
                                       { "graph.cross_us", 0.02 }, { "graph.root_us", 0.3 }) };
    lab l;
    lab_open(&l, &setup);
    begin(&l, 1);
    lab_spin(&l, 1, 1000); /* 0 to 1000 */
    lab_record(&l, 1, l.event[0]);
    lab_spin(&l, 1, 100); /* 1000 to 1100 */
    lab_wait(&l, 2, l.event[0]);
    lab_spin(&l, 2, 200); /* the second behind it: 1010 to 1210 */
    lab_record(&l, 2, l.event[1]);
    lab_wait(&l, 3, l.event[0]);
    lab_spin(&l, 3, 300); /* 1020 to 1320 */
    lab_record(&l, 3, l.event[2]);
    lab_wait(&l, 1, l.event[1]);
    lab_wait(&l, 1, l.event[2]);
    lab_wait(&l, 1, l.event[0]);
    lab_spin(&l, 1, 100); /* behind three: 1420 to 1520 */
    lab_record(&l, 1, l.event[0]);
    lab_wait(&l, 2, l.event[0]);
    lab_spin(&l, 2, 100); /* behind the join alone: 1520 */
    lab_record(&l, 2, l.event[1]);
    lab_wait(&l, 1, l.event[1]);
    sl_graph *graph = end(&l, 1);
    launch(&l, graph, 1);
    lab_end(&l);
    LAB_STARTS(&l, "branches are told one after the other, and a join takes longer", 0, 1000, 1010,
               1020, 1420, 1520);
    sl_graph_release(graph);
    lab_close(&l);
}

static void first_nodes_in_turn(void)
{
    const lab_setup setup = { LAB_MORE({ "graph.root_us", 0.3 }) };
    lab l;
    lab_open(&l, &setup);
    begin(&l, 1);
    lab_record(&l, 1, l.event[0]);
    for (int stream = 2; stream < 5; stream++) {
        lab_wait(&l, stream, l.event[0]);
        lab_spin(&l, stream, 1000); /* 0, 300, 600 */
        lab_record(&l, stream, l.event[stream - 1]);
        lab_wait(&l, 1, l.event[stream - 1]);
    }
    sl_graph *graph = end(&l, 1);
    launch(&l, graph, 1);
    launch(&l, graph, 1); /* 1600, 1900, 2200 */
    lab_end(&l);
    LAB_STARTS(&l, "a graph's first nodes start one after the other", 0, 300, 600, 1600, 1900,
               2200);
    sl_graph_release(graph);
    lab_close(&l);
}

/* The GPU has room for one of the kernels at a time. A long one runs, a second one waits, and a
 * graph comes whose node was captured in a more urgent stream. */
static int64_t urgent_start(bool has_priorities, int captured_in, int launched_in)
{
    const lab_setup setup = { 0 };
    const sl_stream_options options = { .non_blocking = true, .priority = -2 };
    lab l;
    sl_stream *urgent = NULL;
    lab_open(&l, &setup);
    l.failed += sl_stream_create(l.device, &options, &urgent, NULL) != SL_OK;
    sl_stream *const usual = l.stream[1];
    if (captured_in) l.stream[1] = urgent;
    begin(&l, 1);
    lab_spin_blocks(&l, 1, 1000, 4, 1024);
    sl_graph *graph = end_as(&l, 1, has_priorities);
    l.stream[1] = launched_in ? urgent : usual;
    lab_spin_blocks(&l, 2, 1000, 4, 1024);
    lab_spin_blocks(&l, 3, 1000, 4, 1024);
    launch(&l, graph, 1);
    lab_end(&l);
    l.stream[1] = usual;
    const int64_t start_ns = lab_span(&l, 2)->start_ns;
    sl_graph_release(graph);
    sl_stream_release(urgent);
    lab_close(&l);
    return start_ns;
}

static void priorities(void)
{
    is_int(urgent_start(false, 1, 0), 2000, "without the flag a node has no priority of its own");
    is_int(urgent_start(false, 0, 1), 1000, "it has that of the launching stream");
    is_int(urgent_start(true, 1, 0), 1000, "with the flag it has that of the captured stream");
    is_int(urgent_start(true, 0, 1), 2000, "and not that of the launching stream");
}

/* ---- the host ---- */

static int64_t host_ns(const lab *l) { return sl_device_host_now_ns(l->device); }

static void what_calls_cost(void)
{
    static const double launch_us[] = { 0, 1, 10, 2 }, make_us[] = { 0, 5, 10, 105 };
    static const double update_us[] = { 0, 0, 10, 50 };
    const lab_setup setup = {
        LAB_MORE({ "host_graph.begin_us", 0.001 }, { "host_graph.end_us", 0.002 },
                 { "host_graph.capture_kernel_us", 0.1 }, { "host_graph.capture_copy_us", 0.2 },
                 { "host_graph.capture_event_us", 0.03 },
                 { "host_graph.instantiate_other_us", 0.5 },
                 { "host_graph.instantiate_edge_us", 0.7 }, { "host_graph.upload_us", 3 },
                 { "host_graph.branch_us", 0.4 }, { "host_graph.copy_us", 2 },
                 { "host_graph.submit_us", 0.05 }),
        LAB_TABLES(LAB_TABLE("host_graph.launch_us", launch_us),
                   LAB_TABLE("host_graph.instantiate_us", make_us),
                   LAB_TABLE("host_graph.update_us", update_us)),
    };
    lab l;
    lab_open(&l, &setup);
    sl_tensor *device = lab_bytes(&l, SL_ON_DEVICE, 100), *pinned = lab_bytes(&l, SL_PINNED, 100);
    int64_t at_ns = host_ns(&l);
    sl_graph *graph[2];
    for (int i = 0; i < 2; i++) {
        begin(&l, 1);
        lab_record(&l, 1, l.event[0]);
        lab_copy(&l, 1, device, pinned, 100);
        lab_spin(&l, 1, 500);
        lab_wait(&l, 2, l.event[0]);
        lab_spin(&l, 2, 500);
        lab_record(&l, 2, l.event[1]);
        lab_wait(&l, 1, l.event[1]);
        lab_copy(&l, 1, pinned, device, 100);
        l.failed += sl_stream_end_capture(l.stream[1], &graph[i], NULL) != SL_OK;
    }
    is_int(host_ns(&l) - at_ns, 2 * (1 + 2 + 4 * 30 + 2 * 100 + 2 * 200),
           "a capture costs its beginning, its end and each call");
    at_ns = host_ns(&l);
    l.failed += sl_graph_instantiate(graph[0], false, NULL) != SL_OK;
    is_int(host_ns(&l) - at_ns, 25000 + 2 * 500 + 700,
           "instantiating: by kernels, each other node, each edge that is not a node's first");
    at_ns = host_ns(&l);
    launch(&l, graph[0], 1);
    is_int(host_ns(&l) - at_ns, 1200 + 2 * 3000 + 400 + 2 * 2000,
           "the first launch: by kernels, their upload, one more branch, each copy");
    const int64_t begin_ns = host_ns(&l) - 4400;
    at_ns = host_ns(&l);
    l.failed += sl_graph_update(graph[0], graph[1], NULL) != SL_OK;
    is_int(host_ns(&l) - at_ns, 20000, "an update: by nodes");
    at_ns = host_ns(&l);
    launch(&l, graph[0], 1);
    is_int(host_ns(&l) - at_ns, 1200 + 400 + 2 * 2000, "a later launch has nothing to upload");
    lab_end(&l);
    is_int(lab_span(&l, 0)->start_ns - begin_ns, 50 + 2000,
           "a copy starts when the call has come to it");
    is_int(lab_span(&l, 2)->start_ns - begin_ns, 50 + 2400, "a branch as well");
    is_int(lab_span(&l, 3)->start_ns - begin_ns, 50 + 4400, "and the last node of all");
    sl_graph_release(graph[0]);
    sl_graph_release(graph[1]);
    lab_close(&l);
}

/* Host memory is copied to staging buffers at 10 bytes a ns, as the engines copy. */
static void pageable_sources(void)
{
    const lab_setup setup = { LAB_MORE({ "h2d_async_bytes", 5000 }) };
    lab l;
    lab_open(&l, &setup);
    sl_tensor *small = lab_bytes(&l, SL_PAGEABLE, 4000), *large = lab_bytes(&l, SL_PAGEABLE, 6000);
    sl_tensor *to = lab_bytes(&l, SL_ON_DEVICE, 6000);
    double read[2] = { 0 };
    l.failed += sl_tensor_fill(small, 3, l.stream[0], NULL) != SL_OK;
    begin(&l, 1);
    lab_copy(&l, 1, to, small, 4000);
    sl_graph *graph = end(&l, 1);
    begin(&l, 1);
    lab_copy(&l, 1, to, large, 6000);
    sl_graph *waiting = end(&l, 1);
    int64_t at_ns = host_ns(&l);
    lab_spin(&l, 1, 10000);
    launch(&l, graph, 1);
    is_int(host_ns(&l) - at_ns, 400, "the call of a launch reads a small pageable source at once");
    l.failed += sl_tensor_fill(small, 7, l.stream[0], NULL) != SL_OK;
    at_ns = host_ns(&l);
    launch(&l, waiting, 1);
    is_int(host_ns(&l) > at_ns + 9000, 1, "before a large one it waits for its stream");
    launch(&l, graph, 1);
    lab_spin(&l, 1, 1000);
    lab_end(&l);
    l.failed += sl_tensor_read(to, 0, 1, read, l.stream[0], NULL) != SL_OK;
    is_int((int)read[0], 7, "each launch copies what the memory had when it was launched");
    sl_graph_release(graph);
    sl_graph_release(waiting);
    lab_close(&l);
}

static void pageable_targets(void)
{
    const lab_setup setup = { 0 };
    lab l;
    lab_open(&l, &setup);
    sl_tensor *from = lab_bytes(&l, SL_ON_DEVICE, 4000), *to = lab_bytes(&l, SL_PAGEABLE, 4000);
    begin(&l, 1);
    lab_copy(&l, 1, to, from, 4000);
    lab_spin(&l, 1, 9000);
    sl_graph *graph = end(&l, 1);
    const int64_t at_ns = host_ns(&l);
    lab_spin(&l, 1, 10000);
    launch(&l, graph, 1);
    is_int(host_ns(&l) - at_ns, 10000 + 400 + 400,
           "a launch waits for a copy to pageable memory, and then copies that itself");
    lab_end(&l);
    sl_graph_release(graph);
    lab_close(&l);
}

/* ---- values ---- */

typedef struct operands {
    sl_tensor *x, *y, *z, *in, *back;
} operands;

static operands make_operands(lab *l)
{
    operands o = {
        .x = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, 8, 8),
        .y = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, 8, 8),
        .z = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, 8, 8),
        .in = lab_tensor(l, SL_PINNED, SL_FLOAT32, 8, 8),
        .back = lab_tensor(l, SL_PINNED, SL_FLOAT32, 8, 8),
    };
    l->failed += sl_tensor_rand(o.in, 42, 0, l->stream[0], NULL) != SL_OK;
    l->failed += sl_tensor_fill(o.z, 0.5, l->stream[0], NULL) != SL_OK;
    l->failed += sl_device_synchronize(l->device, NULL) != SL_OK;
    return o;
}

/* z changes each time. */
static void compute(lab *l, const operands *o)
{
    lab_copy(l, 1, o->x, o->in, 256);
    lab_record(l, 1, l->event[0]);
    lab_wait(l, 2, l->event[0]);
    l->failed += launch_matmul(o->y, o->x, o->x, false, l->stream[2], NULL) != SL_OK;
    l->failed += launch_pair(SL_KERNEL_ADD, o->z, o->z, o->x, l->stream[1], NULL) != SL_OK;
    lab_record(l, 2, l->event[1]);
    lab_wait(l, 1, l->event[1]);
    l->failed += launch_pair(SL_KERNEL_MUL, o->z, o->z, o->y, l->stream[1], NULL) != SL_OK;
    lab_copy(l, 1, o->back, o->z, 256);
}

static void values(void)
{
    const lab_setup setup = { 0 };
    double plain[64] = { 0 }, replayed[64] = { 1 };
    lab l;
    lab_open(&l, &setup);
    operands a = make_operands(&l), b = make_operands(&l);
    for (int i = 0; i < 3; i++)
        compute(&l, &a);
    begin(&l, 1);
    compute(&l, &b);
    sl_graph *graph = end(&l, 1);
    for (int i = 0; i < 3; i++)
        launch(&l, graph, 1);
    lab_end(&l);
    l.failed += sl_tensor_read(a.back, 0, 64, plain, l.stream[0], NULL) != SL_OK;
    l.failed += sl_tensor_read(b.back, 0, 64, replayed, l.stream[0], NULL) != SL_OK;
    ok(memcmp(plain, replayed, sizeof plain) == 0 && plain[0] != 0,
       "launches compute what the same operations do without a graph");
    is_int(l.failed, 0, "the values can be read");
    sl_graph_release(graph);
    lab_close(&l);
}

static bool calls_host(void *ud, sl_error *err)
{
    (void)err;
    ++*(int *)ud;
    return true;
}

static void host_functions_and_nothing(void)
{
    const lab_setup setup = { LAB_MORE({ "host_func_in_us", 1 }, { "host_func_out_us", 2 }) };
    int calls = 0;
    lab l;
    lab_open(&l, &setup);
    begin(&l, 1);
    sl_graph *empty = end(&l, 1);
    begin(&l, 1);
    l.failed += sl_stream_launch_host_func(l.stream[1], calls_host, &calls, NULL, NULL) != SL_OK;
    lab_spin(&l, 1, 100);
    sl_graph *graph = end(&l, 1);
    launch(&l, empty, 1);
    launch(&l, graph, 1); /* 1000; 3000 */
    launch(&l, empty, 1);
    launch(&l, graph, 1); /* 4100; 6100 */
    lab_end(&l);
    is_int(calls, 2, "each launch calls a host function");
    LAB_STARTS(&l, "a graph without nodes takes no time", 1000, 3000, 4100, 6100);
    sl_graph_release(graph);
    sl_graph_release(empty);
    lab_close(&l);
}

int main(void)
{
    chain();
    fork_and_join();
    launches_in_turn();
    forks_and_joins_take_time();
    first_nodes_in_turn();
    priorities();
    what_calls_cost();
    pageable_sources();
    pageable_targets();
    values();
    host_functions_and_nothing();
    return done_testing();
}
