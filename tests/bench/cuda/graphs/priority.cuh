/* priority.cuh - does an urgent kernel overtake a long one, as a node too? */
#ifndef RAW_GRAPHS_PRIORITY_CUH
#define RAW_GRAPHS_PRIORITY_CUH

#include "tools.cuh"

enum { THREADS = 1024, WAVES = 10 };

static int blocks_that_fit()
{
    int sms = 132, each = 2;
    TRY(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, spin_kernel, THREADS, 0));
    return sms * each;
}

static void urgent_time(const char *name, cudaStream_t low, cudaStream_t s, int blocks,
                        const work &urgent)
{
    std::vector<double> list;
    for (int i = 0; i < 7; i++) {
        TRY(cudaDeviceSynchronize());
        if (blocks) TRY(launch_spin(low, 1000, blocks, THREADS));
        for (double began = now_us(); now_us() - began < 500;) {
        }
        double began = now_us();
        urgent(s);
        TRY(cudaStreamSynchronize(s));
        list.push_back(now_us() - began);
    }
    TRY(cudaDeviceSynchronize());
    row(median(list), "us", "%s.urgent_done", name);
    row(*std::max_element(list.begin(), list.end()), "us", "%s.urgent_done_most", name);
}

static void print_node_priority(const char *name, cudaGraph_t graph)
{
    cudaGraphNode_t node;
    size_t count = 1;
    cudaLaunchAttributeValue value = {};
    if (!TRY(cudaGraphGetNodes(graph, &node, &count))) return;
    if (TRY(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value)))
        row(value.priority, "priority", "%s.node_priority", name);
}

static void urgent_nodes(cudaStream_t low, cudaStream_t s0, cudaStream_t s5, int blocks, int most)
{
    auto urgent = [](cudaStream_t s) { TRY(launch_spin(s, 5, 16)); };
    for (int priority : { 0, most }) {
        cudaGraph_t graph = capture(urgent, nullptr, priority);
        if (!graph) continue;
        char name[80];
        snprintf(name, sizeof name, "node_from_%d", priority);
        print_node_priority(name, graph);
        for (unsigned flag : { 0u, (unsigned)cudaGraphInstantiateFlagUseNodePriority }) {
            cudaGraphExec_t exec = instantiate(graph, nullptr, flag);
            if (!exec) continue;
            auto launch = [=](cudaStream_t s) { TRY(cudaGraphLaunch(exec, s)); };
            time_of(s0, 2, launch);
            time_of(s5, 2, launch);
            const char *with = flag ? "with_flag" : "without_flag";
            snprintf(name, sizeof name, "node_from_%d.%s.launched_in_0", priority, with);
            urgent_time(name, low, s0, blocks, launch);
            snprintf(name, sizeof name, "node_from_%d.%s.launched_in_%d", priority, with, most);
            urgent_time(name, low, s5, blocks, launch);
            destroy(exec, nullptr);
        }
        destroy(nullptr, graph);
    }
}

/* One graph: a long grid, and beside it a short kernel and then the urgent one. */
static void urgent_branch(span_log *log, cudaStream_t s, int blocks, int most, unsigned flag)
{
    fan slow(1), quick(1, most);
    cudaGraph_t graph = capture([&](cudaStream_t to) {
        slow.fork(to);
        quick.fork(to);
        TRY(launch_stamped(slow.lane[0], log, 0, 1000, blocks, THREADS));
        TRY(launch_stamped(quick.lane[0], log, 1, 300));
        TRY(launch_stamped(quick.lane[0], log, 2, 5, 16));
        slow.join(to);
        quick.join(to);
    });
    cudaGraphExec_t exec = instantiate(graph, nullptr, flag);
    std::vector<double> first, second, wall;
    for (int i = 0; exec && i < 7; i++) {
        static span_log copy;
        wall.push_back(
            time_of(s, 1, [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); }).wall);
        TRY(cudaMemcpy(&copy, log, sizeof copy, cudaMemcpyDeviceToHost));
        first.push_back(((double)copy.at[1].begin - (double)copy.at[0].begin) / 1000);
        second.push_back(gap_us(copy.at[1], copy.at[2]));
    }
    const char *with = flag ? "with_flag" : "without_flag";
    row(median(first), "us", "one_graph.%s.long_start_to_side_start", with);
    row(median(second), "us", "one_graph.%s.side_end_to_urgent_start", with);
    row(median(wall), "us", "one_graph.%s.wall", with);
    destroy(exec, graph);
}

static void priority()
{
    measure_clock("begin");
    int least = 0, most = 0, blocks = blocks_that_fit() * WAVES;
    TRY(cudaDeviceGetStreamPriorityRange(&least, &most));
    row(least, "priority", "range.least");
    row(most, "priority", "range.greatest");
    row(blocks, "blocks", "long_grid.blocks_of_1_ms");
    cudaStream_t low = new_stream(0), s0 = new_stream(0), s5 = new_stream(most);
    auto urgent = [](cudaStream_t s) { TRY(launch_spin(s, 5, 16)); };
    urgent_time("idle_gpu", low, s0, 0, urgent);
    urgent_time("stream_0", low, s0, blocks, urgent);
    char name[32];
    snprintf(name, sizeof name, "stream_%d", most);
    urgent_time(name, low, s5, blocks, urgent);
    urgent_nodes(low, s0, s5, blocks, most);
    span_log *log;
    if (TRY(cudaMalloc(&log, sizeof *log))) {
        TRY(cudaMemset(log, 0, sizeof *log));
        for (unsigned flag : { 0u, (unsigned)cudaGraphInstantiateFlagUseNodePriority })
            urgent_branch(log, s0, blocks, most, flag);
        TRY(cudaFree(log));
    }
    for (cudaStream_t s : { low, s0, s5 })
        TRY(cudaStreamDestroy(s));
}

#endif
