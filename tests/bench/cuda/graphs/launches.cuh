/* launches.cuh - what stands between graphs, and between graphs and kernels. */
#ifndef RAW_GRAPHS_LAUNCHES_CUH
#define RAW_GRAPHS_LAUNCHES_CUH

#include "gaps.cuh"

struct log_rig {
    span_log *log;
    cudaStream_t s, t;

    void clear()
    {
        TRY(cudaMemset(log, 0, sizeof *log));
        TRY(cudaDeviceSynchronize());
    }
    std::vector<span> read()
    {
        static span_log copy;
        TRY(cudaDeviceSynchronize());
        TRY(cudaMemcpy(&copy, log, sizeof copy, cudaMemcpyDeviceToHost));
        int count = std::min((int)LOG_SPANS, copy.count);
        std::vector<span> spans(copy.at, copy.at + count);
        std::sort(spans.begin(), spans.end(),
                  [](const span &a, const span &b) { return a.begin < b.begin; });
        return spans;
    }
};

static double gap_us(const span &a, const span &b)
{
    return ((double)b.begin - (double)a.end) / 1000;
}

static cudaGraph_t stamped_chain(log_rig &l, int nodes, double us)
{
    return capture([&](cudaStream_t s) {
        for (int i = 0; i < nodes; i++)
            TRY(launch_stamped(s, l.log, -1, us));
    });
}

/* Launches the two in turns; prints the gaps between nodes of one and between launches. */
static void gaps_of_row(log_rig &l, const char *name, int nodes, cudaGraphExec_t a,
                        cudaGraphExec_t b, double stall_us)
{
    enum { LAUNCHES = 20 };
    std::vector<double> inner, outer;
    for (int run = 0; run < 5; run++) {
        l.clear();
        TRY(cudaDeviceSynchronize());
        if (stall_us > 0) TRY(launch_spin(l.s, stall_us));
        for (int i = 0; i < LAUNCHES; i++)
            TRY(cudaGraphLaunch(i % 2 ? b : a, l.s));
        std::vector<span> spans = l.read();
        for (size_t i = 1; i < spans.size(); i++)
            (i % nodes ? inner : outer).push_back(gap_us(spans[i - 1], spans[i]));
    }
    if (nodes > 1) row(median(inner), "us", "%s.%d_nodes.gap_inside", name, nodes);
    row(median(outer), "us", "%s.%d_nodes.gap_between_launches", name, nodes);
}

static void rows_of_launches(log_rig &l)
{
    for (int nodes : { 1, 10, 100 }) {
        cudaGraph_t graph = stamped_chain(l, nodes, 8);
        cudaGraphExec_t a = instantiate(graph), b = instantiate(graph);
        if (a && b) {
            gaps_of_row(l, "same_exec", nodes, a, a, 0);
            gaps_of_row(l, "same_exec_queued", nodes, a, a, 1000);
            gaps_of_row(l, "two_execs", nodes, a, b, 0);
            gaps_of_row(l, "two_execs_queued", nodes, a, b, 1000);
        }
        destroy(a, nullptr);
        destroy(b, graph);
    }
    l.clear();
    std::vector<double> gap;
    TRY(launch_spin(l.s, 1000));
    for (int i = 0; i < 100; i++)
        TRY(launch_stamped(l.s, l.log, -1, 8));
    std::vector<span> spans = l.read();
    for (size_t i = 1; i < spans.size(); i++)
        gap.push_back(gap_us(spans[i - 1], spans[i]));
    row(median(gap), "us", "plain_kernels_queued.gap");
}

/* The same without clocks in the kernels: 20 launches against one graph of all their nodes. */
static void extra_per_launch(log_rig &l)
{
    for (int nodes : { 1, 10, 100 }) {
        auto chain = [](int count) {
            return [=](cudaStream_t s) {
                for (int i = 0; i < count; i++)
                    TRY(launch_spin(s, 8));
            };
        };
        cudaGraph_t small = capture(chain(nodes)), large = capture(chain(nodes * 20));
        cudaGraphExec_t one = instantiate(small), all = instantiate(large);
        if (one && all) {
            auto whole = [&](cudaStream_t s) { TRY(cudaGraphLaunch(all, s)); };
            auto parts = [&](cudaStream_t s) {
                for (int i = 0; i < 20; i++)
                    TRY(cudaGraphLaunch(one, s));
            };
            time_of(l.s, 2, whole);
            time_of(l.s, 2, parts);
            double difference = queued_us(l.s, 1000, parts) - queued_us(l.s, 1000, whole);
            row(difference / 19, "us", "extra_per_launch.%d_nodes", nodes);
        }
        destroy(one, small);
        destroy(all, large);
    }
}

static void two_streams(log_rig &l)
{
    cudaGraph_t graph = stamped_chain(l, 10, 100);
    cudaGraphExec_t a = instantiate(graph), b = instantiate(graph);
    cudaEvent_t done = new_event();
    auto both = [&](cudaGraphExec_t first, cudaGraphExec_t second) {
        return time_of(l.s, 7,
                       [&](cudaStream_t s) {
                           TRY(cudaGraphLaunch(first, s));
                           TRY(cudaGraphLaunch(second, l.t));
                           TRY(cudaEventRecord(done, l.t));
                           TRY(cudaStreamWaitEvent(s, done, 0));
                       })
            .wall;
    };
    if (a && b) {
        row(time_of(l.s, 7, [&](cudaStream_t s) { TRY(cudaGraphLaunch(a, s)); }).wall, "us",
            "alone.1000_us");
        row(both(a, a), "us", "one_exec_two_streams.1000_us_each.wall");
        l.clear();
        both(a, a);
        l.clear();
        TRY(cudaGraphLaunch(a, l.s));
        TRY(cudaGraphLaunch(a, l.t));
        std::vector<span> spans = l.read();
        if (spans.size() == 20)
            row(gap_us(spans[9], spans[10]), "us", "one_exec_two_streams.gap_between");
        row(both(a, b), "us", "two_execs_two_streams.1000_us_each.wall");
    }
    destroy(a, nullptr);
    destroy(b, graph);
    TRY(cudaEventDestroy(done));
}

/* Gap i of what is logged, over the runs. */
static void logged_gaps(log_rig &l, const char *name, const std::vector<const char *> &places,
                        const std::vector<int> &at, const std::function<void()> &enqueue)
{
    std::vector<std::vector<double>> gap(at.size());
    for (int run = 0; run < 21; run++) {
        l.clear();
        TRY(cudaDeviceSynchronize());
        enqueue();
        std::vector<span> spans = l.read();
        for (size_t i = 0; i < at.size(); i++)
            if (at[i] + 1 < (int)spans.size())
                gap[i].push_back(gap_us(spans[at[i]], spans[at[i] + 1]));
    }
    for (size_t i = 0; i < at.size(); i++)
        row(median(gap[i]), "us", "%s.%s", name, places[i]);
}

static void kernels_beside(log_rig &l)
{
    cudaGraph_t graph = stamped_chain(l, 10, 8);
    cudaGraphExec_t exec = instantiate(graph);
    cudaEvent_t event = new_event();
    auto kernel = [&](cudaStream_t s) { TRY(launch_stamped(s, l.log, -1, 8)); };
    auto launch = [&](cudaStream_t s) { TRY(cudaGraphLaunch(exec, s)); };
    auto after_event = [&](const work &then) {
        return [&, then] {
            TRY(launch_stamped(l.t, l.log, -1, 500));
            TRY(cudaEventRecord(event, l.t));
            TRY(cudaStreamWaitEvent(l.s, event, 0));
            then(l.s);
        };
    };
    if (exec) {
        launch(l.s);
        for (double stall : { 0.0, 500.0 })
            logged_gaps(l, stall > 0 ? "kernel_graph_kernel_queued" : "kernel_graph_kernel",
                        { "before", "inside", "after" }, { 0, 5, 10 }, [&] {
                            if (stall > 0) TRY(launch_spin(l.s, stall));
                            kernel(l.s), launch(l.s), kernel(l.s);
                        });
        logged_gaps(l, "kernel_event_graph", { "gap" }, { 0 }, after_event(launch));
        logged_gaps(l, "kernel_event_kernel", { "gap" }, { 0 }, after_event(kernel));
        logged_gaps(l, "graph_event_kernel", { "gap" }, { 9 }, [&] {
            launch(l.t);
            TRY(cudaEventRecord(event, l.t));
            TRY(cudaStreamWaitEvent(l.s, event, 0));
            kernel(l.s);
        });
        logged_gaps(l, "kernel_kernel_queued", { "gap" }, { 0 }, [&] {
            TRY(launch_spin(l.s, 300));
            kernel(l.s), kernel(l.s);
        });
    }
    destroy(exec, graph);
    TRY(cudaEventDestroy(event));
}

/* When the host sees what the first kernel writes, after the launch began and returned. */
static void start_delay(log_rig &l, const char *name, const volatile int *flag, const work &launch)
{
    std::vector<double> call, start, all;
    for (int i = 1; i <= 111; i++) {
        TRY(cudaStreamSynchronize(l.s));
        int before = *flag;
        double began = now_us();
        launch(l.s);
        double returned = now_us(), now = returned;
        while (*flag == before && now - returned < 100000)
            now = now_us();
        if (i <= 10) continue;
        call.push_back(returned - began);
        start.push_back(now - returned);
        all.push_back(now - began);
    }
    row(median(call), "us", "%s.call", name);
    row(median(start), "us", "%s.return_to_first_write_seen", name);
    row(median(all), "us", "%s.call_to_first_write_seen", name);
}

static void start_delays(log_rig &l)
{
    int *flag, *count = nullptr;
    if (!TRY(cudaHostAlloc(&flag, 4096, cudaHostAllocMapped)) || !TRY(cudaMalloc(&count, 4096)))
        return;
    *flag = 0;
    TRY(cudaMemset(count, 0, 4096));
    TRY(cudaDeviceSynchronize());
    auto signal = [=](cudaStream_t s) {
        signal_kernel<<<1, 1, 0, s>>>(flag, count);
        TRY(cudaGetLastError());
    };
    start_delay(l, "start.plain_kernel", flag, signal);
    for (int nodes : { 1, 2, 10, 100, 1000 }) {
        char name[64];
        snprintf(name, sizeof name, "start.graph_%d", nodes);
        cudaGraph_t graph = capture([&](cudaStream_t s) {
            signal(s);
            add_empty(s, nodes - 1, nullptr);
        });
        cudaGraphExec_t exec = instantiate(graph);
        if (exec)
            start_delay(l, name, flag, [=](cudaStream_t s) { TRY(cudaGraphLaunch(exec, s)); });
        TRY(cudaDeviceSynchronize());
        destroy(exec, graph);
    }
    TRY(cudaFreeHost(flag));
    TRY(cudaFree(count));
}

static void launches()
{
    measure_clock("begin");
    log_rig l = { nullptr, new_stream(), new_stream() };
    if (!TRY(cudaMalloc(&l.log, sizeof *l.log))) return;
    rows_of_launches(l);
    extra_per_launch(l);
    two_streams(l);
    kernels_beside(l);
    start_delays(l);
    TRY(cudaFree(l.log));
    TRY(cudaStreamDestroy(l.s));
    TRY(cudaStreamDestroy(l.t));
}

#endif
