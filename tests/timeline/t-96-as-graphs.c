/* t-96-as-graphs.c - what recorded work would take as graphs: makespans worked out by hand, and what
 * ends a graph. Times are in us.
 *
 * A launch takes 1.9, 0.1 for each kernel and 1 for each copy, which is given to the device then; the
 * first node starts 3 behind that, further first nodes 0.7 later each; kernels follow one another in
 * 0.5, copies in 1, and 2 pass between the engines. Of several nodes behind one, each starts 0.2 later
 * than the one before it; one behind several starts 0.4 later. A host function starts 10 behind a node,
 * and the next node 5 behind it.
 */
#include "../../core/graph_costs.h"
#include "causes.h"

static const sl_graph_costs costs = {
    .launch_kernels = { 1, 1001 }, /* 1.9, and 0.1 for each kernel */
    .launch_us = { 2, 102 },
    .branch_us = 0.5,
    .copy_us = 1,
    .submit_us = 3,
    .root_us = 0.7,
    .gap_us = 0.5,
    .copy_gap_us = 1,
    .switch_us = 2,
    .fork_us = 0.2,
    .join_us = 0.4,
    .cross_us = 0.3,
    .launch_gap_us = 1,
    .func_in_us = 10,
    .func_out_us = 5,
};

static sl_as_graphs as_graphs_with(const sl_graph_costs *with, sl_timeline *tl)
{
    sl_as_graphs found;
    sl_error err;
    finish(tl);
    must(sl_timeline_as_graphs(tl, with, &found, &err), &err);
    sl_timeline_release(tl);
    return found;
}

static sl_as_graphs as_graphs(sl_timeline *tl) { return as_graphs_with(&costs, tl); }

/* n kernels of 1 in stream 1, of which each call takes 4; from `at_us` on. */
static int64_t chain(sl_timeline *tl, int n, int64_t at_us)
{
    for (int i = 0; i < n; i++, at_us += 4)
        run_blocks(tl, 1, 4, "k", AT(at_us, at_us + 4), AT(at_us + 6, at_us + 7));
    return at_us;
}

/* Ten kernels of 1 with gaps of 0.5. */
static void test_chain(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    chain(tl, 10, 0);
    sl_as_graphs found = as_graphs(tl);
    is_int(found.makespan_ns, 14500, "a chain follows itself closely");
    ok(found.n_graphs == 1 && found.n_nodes == 10 && found.issue_ns == 40000,
       "it is one graph, and its calls took 40");
}

/* Kernel of 1, function of 2, kernel of 1: 1 + 10 + 2 + 5 + 1. */
static void test_host_function(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    run_blocks(tl, 1, 4, "k", AT(0, 4), AT(6, 7));
    run(tl, SL_SPAN_HOST_FUNC, 1, NULL, AT(4, 8), AT(18, 20));
    run_blocks(tl, 1, 4, "k", AT(8, 12), AT(26, 27));
    is_int(as_graphs(tl).makespan_ns, 19000, "a host function is called as late as in a stream");
}

/* Up of 5, kernel of 10, down of 5: 5 + 2 + 10 + 2 + 5. Another lane has the same: its copies come
 * behind the first one's, 5 + 5 + 2 + 10 + 2 + 5. */
static void test_pipeline(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    for (int64_t i = 0; i < 2; i++) {
        uint32_t stream = (uint32_t)i + 1;
        int64_t at = 60 * i;
        run(tl, SL_SPAN_MEMCPY_H2D, stream, "up", AT(at, at + 20), AT(at + 22, at + 27));
        run_blocks(tl, stream, 4, "k", AT(at + 20, at + 40), AT(at + 42, at + 52));
        run(tl, SL_SPAN_MEMCPY_D2H, stream, "down", AT(at + 40, at + 60), AT(at + 62, at + 67));
    }
    sl_as_graphs found = as_graphs(tl);
    is_int(found.makespan_ns, 29000, "two lanes share the engines, and no more");
    is_int((long long)found.n_nodes, 6, "all are nodes");
}

/* A kernel of 4; behind its event one of 20 in stream 2 beside one of 3 in stream 1; behind theirs
 * another of 2: 4 + 0.5 + 20 + 0.5 + 0.4 + 2. */
static void test_fork_and_join(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    run_blocks(tl, 1, 4, "a", AT(0, 10), AT(12, 16));
    uint64_t fork = record(tl, 1, AT(10, 20), 22);
    wait_event(tl, 2, fork, AT(20, 30), 32);
    run_blocks(tl, 2, 4, "b", AT(30, 40), AT(42, 62));
    run_blocks(tl, 1, 4, "c", AT(40, 50), AT(52, 55));
    uint64_t join = record(tl, 2, AT(50, 60), 62);
    wait_event(tl, 1, join, AT(60, 70), 72);
    run_blocks(tl, 1, 4, "d", AT(70, 80), AT(82, 84));
    sl_as_graphs found = as_graphs(tl);
    is_int(found.makespan_ns, 27400, "events are edges");
    is_int((long long)found.n_nodes, 4, "and no nodes");
}

/* Three kernels of 10 in streams of their own. */
static void test_roots(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    for (int64_t i = 0; i < 3; i++)
        run_blocks(tl, (uint32_t)i + 1, 4, "k", AT(20 * i, 20 * i + 20),
                   AT(20 * i + 22, 20 * i + 32));
    is_int(as_graphs(tl).makespan_ns, 11400, "first nodes start one after the other");
}

/* A kernel of 4, and behind its event three of 10 in streams of their own; from `at` on. */
static void fork(sl_timeline *tl, int64_t at)
{
    run_blocks(tl, 1, 4, "a", AT(at, at + 10), AT(at + 12, at + 16));
    uint64_t record_id = record(tl, 1, AT(at + 10, at + 20), at + 22);
    for (uint32_t i = 0; i < 3; i++) {
        at += 20;
        wait_event(tl, 2 + i, record_id, AT(at, at + 10), at + 12);
        run_blocks(tl, 2 + i, 4, "k", AT(at + 10, at + 20), AT(at + 22, at + 32));
    }
}

static void test_forks(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    fork(tl, 0);
    is_int(as_graphs(tl).makespan_ns, 14900, "so do those behind one node");
}

/* The second launch's call takes 2.3 for its kernels, twice 0.5 for its branches, and thrice 7 for
 * the nodes at which these begin. The graph before it takes 7, and its end is seen after 2. From
 * the call's end it is 3 to the first node, and then 14.9. */
static void test_call_of_branches(void)
{
    sl_graph_costs with = costs;
    with.cross_node_us = 7;
    sl_timeline *tl = make();
    on_gpu(tl);
    chain(tl, 5, 0);
    add_call(tl, (sl_call){ .kind = SL_CALL_STREAM_SYNC, .stream = 1 }, AT(20, 25));
    fork(tl, 25);
    is_int(as_graphs_with(&with, tl).makespan_ns, 7000 + 2000 + 2300 + 1000 + 21000 + 3000 + 14900,
           "branches and the nodes where they begin make a launch's call longer");
}

/* Of 2, 11 and 2001 kernels, worked out by hand. */
static void test_chains(void)
{
    const sl_graph_costs rows = { .launch_kernels = { 1, 10, 100 }, .launch_us = { 2, 3.8, 12.8 } };
    const sl_graph_costs falling = { .launch_kernels = { 1, 10 }, .launch_us = { 2, 1 } };
    const sl_graph_costs one = { .launch_us = { 5 } };
    is_double(sl_graph_chain_us(&rows, 0), 2, 0,
              "a launch takes what the first row says, at least");
    is_double(sl_graph_chain_us(&rows, 2), 2.2, 1e-9, "between two rows in proportion");
    is_double(sl_graph_chain_us(&rows, 10), 3.8, 1e-9, "at a row what it says");
    is_double(sl_graph_chain_us(&rows, 11), 3.9, 1e-9, "and in proportion again");
    is_double(sl_graph_chain_us(&rows, 200), 22.8, 1e-9, "beyond the last as between the last two");
    is_double(sl_graph_chain_us(&falling, 200), 1, 1e-9, "but never less than the last");
    is_double(sl_graph_chain_us(&one, 200), 5, 0, "one number holds for all");
}

/* Stream 2 waits for a, stream 1 for b behind that: c comes behind a through b alone, and is no join:
 * 4 + 0.5 + 5 + 0.5 + 5. */
static void test_implied_edges(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    run_blocks(tl, 1, 4, "a", AT(0, 10), AT(12, 16));
    uint64_t a = record(tl, 1, AT(10, 20), 22);
    wait_event(tl, 2, a, AT(20, 30), 32);
    run_blocks(tl, 2, 4, "b", AT(30, 40), AT(42, 47));
    uint64_t b = record(tl, 2, AT(40, 50), 52);
    wait_event(tl, 1, b, AT(50, 60), 62);
    run_blocks(tl, 1, 4, "c", AT(60, 70), AT(72, 77));
    is_int(as_graphs(tl).makespan_ns, 15000, "an edge that others imply is none");
}

/* Both graphs have five kernels: 7 each, from the first start to the last end. The host waits from 20
 * on until the fifth kernel is done, which was recorded to be at 23, and returns 2 later. The first
 * graph starts at 2.4 + 3; its end, 12.4, is seen at 14.4; the second launch then takes 2.4, and its
 * kernels start at 19.8: 26.8 - 5.4. */
static void test_wait_between(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    chain(tl, 5, 0);
    add_call(tl, (sl_call){ .kind = SL_CALL_STREAM_SYNC, .stream = 1 }, AT(20, 25));
    chain(tl, 5, 25);
    sl_as_graphs found = as_graphs(tl);
    is_int((long long)found.n_graphs, 2, "a synchronisation ends a graph");
    is_int(found.makespan_ns, 21400, "and the next is launched when the host has waited");
}

static size_t graphs_around(sl_call c, const int64_t host_us[2], const char *name)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    c.name = text_id(tl, name);
    chain(tl, 5, 0);
    add_call(tl, c, host_us);
    chain(tl, 5, host_us[1]);
    return as_graphs(tl).n_graphs;
}

static void test_cuts(void)
{
    sl_call plain = { .kind = SL_CALL_PLAIN }, work = { .kind = SL_CALL_HOST_WORK };
    is_int((long long)graphs_around(work, AT(20, 100), "host_work"), 2, "work of the host cuts");
    is_int((long long)graphs_around(plain, AT(20, 22), "cudaMalloc"), 2, "so does an allocation");
    is_int((long long)graphs_around(plain, AT(20, 22), "cudaEventQuery"), 2, "a query");
    is_int((long long)graphs_around(plain, AT(20, 22), "cudaGraphLaunch"), 2, "another graph");
    is_int((long long)graphs_around(plain, AT(20, 40), "cudaDeviceGetAttribute"), 2,
           "a call that takes long");
    is_int((long long)graphs_around(plain, AT(20, 22), "cudaDeviceGetAttribute"), 1,
           "a short question does not");
    sl_timeline *tl = make();
    on_gpu(tl);
    chain(tl, 5, 0);
    chain(tl, 5, 200);
    is_int((long long)as_graphs(tl).n_graphs, 2, "a long pause cuts");
}

static size_t graphs_with(unsigned flags)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    chain(tl, 5, 0);
    run_flags(tl, SL_SPAN_MEMCPY_H2D, 1, flags, NULL, AT(20, 40), AT(26, 39));
    chain(tl, 5, 40);
    return as_graphs(tl).n_graphs;
}

static void test_copies(void)
{
    is_int((long long)graphs_with(SL_SPAN_SRC_PINNED), 1, "a copy of pinned memory is a node");
    is_int((long long)graphs_with(SL_SPAN_SRC_PAGEABLE), 2, "one of pageable memory is not");
    is_int((long long)graphs_with(SL_SPAN_SRC_PINNED | SL_SPAN_HOST_WAITED), 2,
           "nor is one that the host waits for");
}

/* Stream 2 has a long kernel beside what is issued after a synchronisation with stream 1. */
static void test_partial_wait(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    run_blocks(tl, 2, 4, "long", AT(0, 4), AT(6, 100));
    int64_t at = chain(tl, 5, 4);
    add_call(tl, (sl_call){ .kind = SL_CALL_STREAM_SYNC, .stream = 1 }, AT(at, at + 5));
    chain(tl, 5, at + 5);
    sl_as_graphs found = as_graphs(tl);
    ok(found.n_graphs == 1 && found.n_nodes == 5,
       "what runs beside later work is no graph: the later work would wait for all of it");
}

static void test_nothing(void)
{
    sl_timeline *tl = make();
    ok(as_graphs(tl).n_graphs == 0, "nothing is no graph");
    tl = make();
    on_gpu(tl);
    chain(tl, 1, 0);
    sl_as_graphs found = as_graphs(tl);
    ok(found.n_graphs == 0 && found.makespan_ns == 1000, "one operation stays as it is");
}

int main(void)
{
    plan(33);
    test_chain();
    test_host_function();
    test_pipeline();
    test_fork_and_join();
    test_roots();
    test_forks();
    test_call_of_branches();
    test_chains();
    test_implied_edges();
    test_wait_between();
    test_cuts();
    test_copies();
    test_partial_wait();
    test_nothing();
    return done_testing();
}
