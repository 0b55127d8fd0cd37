/* costs.cuh - what capturing, instantiating and launching costs the host. */
#ifndef RAW_GRAPHS_COSTS_CUH
#define RAW_GRAPHS_COSTS_CUH

#include "tools.cuh"

static void add_empty(cudaStream_t s, int nodes, fan *side)
{
    if (!side) {
        for (int i = 0; i < nodes; i++)
            TRY(launch_empty(s));
        return;
    }
    side->fork(s);
    int lanes = (int)side->lane.size();
    for (int i = 0; i < nodes; i++)
        TRY(launch_empty(side->lane[i % lanes]));
    side->join(s);
}

/* Launch, first after instantiating and later; prints. */
static void first_launches(cudaGraph_t graph, cudaStream_t s, const char *name, int nodes, int runs)
{
    std::vector<double> made, uploaded, upload_wall, host, wall, destroyed, after_upload;
    for (int i = 0; i < runs; i++) {
        double us;
        cudaGraphExec_t exec = instantiate(graph, &us);
        if (!exec) return;
        made.push_back(us);
        timing t = time_of(s, 1, [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); });
        host.push_back(t.host);
        wall.push_back(t.wall);
        double began = now_us();
        TRY(cudaGraphExecDestroy(exec));
        destroyed.push_back(now_us() - began);
        exec = instantiate(graph);
        if (!exec) return;
        t = time_of(s, 1, [&](cudaStream_t to) { TRY(cudaGraphUpload(exec, to)); });
        uploaded.push_back(t.host);
        upload_wall.push_back(t.wall);
        t = time_of(s, 1, [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); });
        after_upload.push_back(t.host);
        TRY(cudaGraphExecDestroy(exec));
    }
    row(median(made), "us", "%s.%d.instantiate", name, nodes);
    row(median(host), "us", "%s.%d.first_launch_host", name, nodes);
    row(median(wall), "us", "%s.%d.first_launch_wall", name, nodes);
    row(median(uploaded), "us", "%s.%d.upload_host", name, nodes);
    row(median(upload_wall), "us", "%s.%d.upload_wall", name, nodes);
    row(median(after_upload), "us", "%s.%d.first_launch_after_upload_host", name, nodes);
    row(median(destroyed), "us", "%s.%d.exec_destroy", name, nodes);
}

static void later_launches(cudaGraphExec_t exec, cudaStream_t s, const char *name, int nodes)
{
    enum { ROW = 20 };
    auto one = [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); };
    auto many = [&](cudaStream_t to) {
        for (int i = 0; i < ROW; i++)
            TRY(cudaGraphLaunch(exec, to));
    };
    time_of(s, 2, one);
    timing single = time_of(s, 51, one), batch = time_of(s, nodes > 2000 ? 3 : 11, many);
    row(single.host, "us", "%s.%d.launch_host", name, nodes);
    row(single.wall, "us", "%s.%d.launch_wall", name, nodes);
    row(batch.host / ROW, "us", "%s.%d.launch_host_in_row_of_20", name, nodes);
    row(batch.wall / ROW, "us", "%s.%d.launch_wall_in_row_of_20", name, nodes);
}

static void update_cost(cudaGraphExec_t exec, cudaGraph_t graph, const char *name, int nodes)
{
    std::vector<double> list;
    for (int i = 0; i < 5; i++) {
        cudaGraphExecUpdateResultInfo info;
        double began = now_us();
        TRY(cudaGraphExecUpdate(exec, graph, &info));
        list.push_back(now_us() - began);
    }
    row(median(list), "us", "%s.%d.exec_update", name, nodes);
}

/* All costs of the graph of what `enqueue` does. */
static void graph_costs(const char *name, int nodes, const work &enqueue)
{
    int runs = nodes > 2000 ? 3 : 7;
    std::vector<double> captured, destroyed;
    cudaGraph_t graph = nullptr;
    for (int i = 0; i < runs; i++) {
        double us;
        if (graph) {
            double began = now_us();
            TRY(cudaGraphDestroy(graph));
            destroyed.push_back(now_us() - began);
        }
        graph = capture(enqueue, &us);
        if (!graph) return;
        captured.push_back(us);
    }
    row(median(captured), "us", "%s.%d.capture", name, nodes);
    row(median(captured) / nodes, "us/node", "%s.%d.capture_per_node", name, nodes);
    row(median(destroyed), "us", "%s.%d.graph_destroy", name, nodes);
    cudaStream_t s = new_stream();
    first_launches(graph, s, name, nodes, runs);
    cudaGraphExec_t exec = instantiate(graph);
    if (exec) {
        later_launches(exec, s, name, nodes);
        cudaGraph_t again = capture(enqueue);
        if (again) update_cost(exec, again, name, nodes);
        destroy(nullptr, again);
    }
    destroy(exec, graph);
    timing plain = time_of(s, nodes > 2000 ? 3 : 11, enqueue);
    row(plain.host, "us", "%s.%d.stream_host", name, nodes);
    row(plain.wall, "us", "%s.%d.stream_wall", name, nodes);
    TRY(cudaStreamDestroy(s));
}

/* An event node in a capture; a record in a stream, where the flag is not allowed. */
static void add_record(cudaStream_t s, cudaEvent_t event)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    TRY(cudaStreamIsCapturing(s, &status));
    bool capturing = status == cudaStreamCaptureStatusActive;
    TRY(cudaEventRecordWithFlags(event, s,
                                 capturing ? cudaEventRecordExternal : cudaEventRecordDefault));
}

static void cost_of_other_nodes()
{
    char *device, *pinned;
    if (!TRY(cudaMalloc(&device, 2 * MIB)) || !TRY(cudaMallocHost(&pinned, MIB))) return;
    cudaEvent_t event = new_event();
    const struct {
        const char *name;
        work one;
    } kinds[] = {
        { "h2d_4k",
          [=](cudaStream_t s) {
              TRY(cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice, s));
          } },
        { "d2h_4k",
          [=](cudaStream_t s) {
              TRY(cudaMemcpyAsync(pinned, device, 4096, cudaMemcpyDeviceToHost, s));
          } },
        { "d2d_4k",
          [=](cudaStream_t s) {
              TRY(cudaMemcpyAsync(device + MIB, device, 4096, cudaMemcpyDeviceToDevice, s));
          } },
        { "memset_4k", [=](cudaStream_t s) { TRY(cudaMemsetAsync(device, 1, 4096, s)); } },
        { "host_func", [=](cudaStream_t s) { TRY(cudaLaunchHostFunc(s, nothing, nullptr)); } },
        { "event_record_external", [=](cudaStream_t s) { add_record(s, event); } },
    };
    for (auto &kind : kinds)
        for (int nodes : { 1, 10, 100, 400 })
            graph_costs(kind.name, nodes, [&](cudaStream_t s) {
                for (int i = 0; i < nodes; i++)
                    kind.one(s);
            });
    TRY(cudaEventDestroy(event));
    TRY(cudaFreeHost(pinned));
    TRY(cudaFree(device));
}

static void costs()
{
    static const int sizes[] = { 1, 2, 5, 10, 20, 50, 100, 200, 400, 1000, 4000, 10000 };
    measure_clock("begin");
    double us;
    cudaGraph_t first = capture([](cudaStream_t s) { TRY(launch_empty(s)); }, &us);
    row(us, "us", "first_capture_of_process");
    cudaGraphExec_t exec = instantiate(first, &us);
    row(us, "us", "first_instantiate_of_process");
    destroy(exec, first);
    for (int nodes : sizes)
        graph_costs("chain", nodes, [=](cudaStream_t s) { add_empty(s, nodes, nullptr); });
    for (int lanes : { 4, 16 }) {
        fan side(lanes);
        char name[32];
        snprintf(name, sizeof name, "branches_%d", lanes);
        for (int nodes : sizes)
            if (nodes >= lanes)
                graph_costs(name, nodes, [&](cudaStream_t s) { add_empty(s, nodes, &side); });
    }
    cost_of_other_nodes();
}

#endif
