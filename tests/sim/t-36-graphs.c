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
    const sl_hold *holds = sl_timeline_holds(l->timeline, &n);
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
    is_int(sl_graph_launches(graph), 3, "a graph counts its launches");
    sl_graph_release(graph);
    lab_close(&l);
}

int main(void)
{
    chain();
    fork_and_join();
    launches_in_turn();
    return done_testing();
}
