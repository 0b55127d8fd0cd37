/* gaps.cuh - time between nodes, in a graph and in a stream. */
#ifndef RAW_GRAPHS_GAPS_CUH
#define RAW_GRAPHS_GAPS_CUH

#include "tools.cuh"

/* Microseconds a piece: in a stream from an idle GPU, in a stream already queued, in a graph. */
static void piece_times(const char *name, int pieces, double own_us, const work &enqueue)
{
    cudaStream_t s = new_stream();
    timing plain = time_of(s, 5, enqueue);
    double stall = std::min(20000.0, plain.host * 1.3 + 200);
    double queued = queued_us(s, stall, enqueue);
    cudaGraph_t graph = capture(enqueue);
    cudaGraphExec_t exec = instantiate(graph);
    double in_graph = -1, graph_queued = -1;
    if (exec) {
        auto launch = [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); };
        time_of(s, 2, launch);
        in_graph = time_of(s, 5, launch).wall;
        graph_queued = queued_us(s, 300, launch);
    }
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
    row(plain.wall / pieces - own_us, "us", "%s.stream_wall", name);
    row(queued / pieces - own_us, "us", "%s.stream_queued", name);
    row(in_graph / pieces - own_us, "us", "%s.graph_wall", name);
    row(graph_queued / pieces - own_us, "us", "%s.graph_queued", name);
}

static void kernel_gaps()
{
    printf("# us a kernel less its own duration\n");
    for (int blocks : { 1, 132 })
        for (double us : { 1.0, 2.0, 5.0, 8.0, 20.0 }) {
            char name[64];
            snprintf(name, sizeof name, "chain_1000.%d_blocks.%.0f_us", blocks, us);
            piece_times(name, 1000, us, [=](cudaStream_t s) {
                for (int i = 0; i < 1000; i++)
                    TRY(launch_spin(s, us, blocks));
            });
            snprintf(name, sizeof name, "chain_500.%d_blocks.%.0f_us", blocks, us);
            piece_times(name, 500, us, [=](cudaStream_t s) {
                for (int i = 0; i < 500; i++)
                    TRY(launch_spin(s, us, blocks));
            });
        }
}

struct copy_rig {
    char *device, *target, *pinned;
    size_t bytes;

    void h2d(cudaStream_t s) const
    {
        TRY(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, s));
    }
    void d2h(cudaStream_t s) const
    {
        TRY(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, s));
    }
    void d2d(cudaStream_t s) const
    {
        TRY(cudaMemcpyAsync(target, device, bytes, cudaMemcpyDeviceToDevice, s));
    }
    void set(cudaStream_t s) const { TRY(cudaMemsetAsync(device, 1, bytes, s)); }
};

static work repeated(int times, const work &one)
{
    return [=](cudaStream_t s) {
        for (int i = 0; i < times; i++)
            one(s);
    };
}

static void mixed_gaps(const copy_rig &c, const char *size)
{
    enum { TIMES = 100 };
    const struct {
        const char *name;
        double own_us; /* duration of the kernels of one piece */
        work one;
    } pieces[] = {
        { "h2d", 0, [=](cudaStream_t s) { c.h2d(s); } },
        { "d2h", 0, [=](cudaStream_t s) { c.d2h(s); } },
        { "d2d", 0, [=](cudaStream_t s) { c.d2d(s); } },
        { "memset", 0, [=](cudaStream_t s) { c.set(s); } },
        { "h2d_d2h", 0, [=](cudaStream_t s) { c.h2d(s), c.d2h(s); } },
        { "h2d_d2d", 0, [=](cudaStream_t s) { c.h2d(s), c.d2d(s); } },
        { "kernel_h2d", 8, [=](cudaStream_t s) { TRY(launch_spin(s, 8)), c.h2d(s); } },
        { "kernel_d2h", 8, [=](cudaStream_t s) { TRY(launch_spin(s, 8)), c.d2h(s); } },
        { "kernel_d2d", 8, [=](cudaStream_t s) { TRY(launch_spin(s, 8)), c.d2d(s); } },
        { "kernel_memset", 8, [=](cudaStream_t s) { TRY(launch_spin(s, 8)), c.set(s); } },
        { "h2d_kernel_d2h", 8,
          [=](cudaStream_t s) { c.h2d(s), TRY(launch_spin(s, 8)), c.d2h(s); } },
        { "kernel_host_func", 8,
          [](cudaStream_t s) {
              TRY(launch_spin(s, 8)), TRY(cudaLaunchHostFunc(s, nothing, nullptr));
          } },
        { "host_func", 0, [](cudaStream_t s) { TRY(cudaLaunchHostFunc(s, nothing, nullptr)); } },
    };
    for (auto &piece : pieces) {
        char name[64];
        snprintf(name, sizeof name, "%s.%s", piece.name, size);
        piece_times(name, TIMES, piece.own_us, repeated(TIMES, piece.one));
    }
}

static void copy_gaps()
{
    copy_rig c = {};
    if (!TRY(cudaMalloc(&c.device, MIB)) || !TRY(cudaMalloc(&c.target, MIB))
        || !TRY(cudaMallocHost(&c.pinned, MIB)))
        return;
    printf("# us a piece of copies and kernels, less the kernel's duration\n");
    const struct {
        const char *name;
        size_t bytes;
    } sizes[] = { { "4_bytes", 4 }, { "64_kib", 64 * KIB }, { "1_mib", MIB } };
    for (auto &size : sizes) {
        c.bytes = size.bytes;
        mixed_gaps(c, size.name);
    }
    TRY(cudaFreeHost(c.pinned));
    TRY(cudaFree(c.target));
    TRY(cudaFree(c.device));
}

/* Levels of as many parallel kernels as there are lanes; after each, an empty one if wished. */
static void add_levels(cudaStream_t s, fan &side, int levels, double us, bool kernel_at_join)
{
    for (int i = 0; i < levels; i++) {
        side.fork(s);
        for (cudaStream_t lane : side.lane)
            TRY(launch_spin(lane, us));
        side.join(s);
        if (kernel_at_join) TRY(launch_empty(s));
    }
}

/* Returns the time to instantiate. */
static double level_times(int lanes, int levels, double us, bool kernel_at_join)
{
    fan side(lanes);
    cudaStream_t s = new_stream();
    char name[80];
    snprintf(name, sizeof name, "levels_%d.lanes_%d.%s", levels, lanes,
             kernel_at_join ? "kernel_at_join" : "no_kernel_at_join");
    auto enqueue = [&](cudaStream_t to) { add_levels(to, side, levels, us, kernel_at_join); };
    double captured, made = 0;
    cudaGraph_t graph = capture(enqueue, &captured);
    cudaGraphExec_t exec = instantiate(graph, &made);
    if (exec) {
        size_t nodes = 0, edges = 0;
        TRY(cudaGraphGetNodes(graph, nullptr, &nodes));
        TRY(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
        auto launch = [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); };
        timing first = time_of(s, 1, launch), later = time_of(s, 7, launch);
        row((double)nodes, "nodes", "%s.nodes", name);
        row((double)edges, "edges", "%s.edges", name);
        row(captured, "us", "%s.capture", name);
        row(made, "us", "%s.instantiate", name);
        row(first.host, "us", "%s.first_launch_host", name);
        row(later.host, "us", "%s.launch_host", name);
        row(later.wall, "us", "%s.wall", name);
        row(later.wall / levels - us, "us", "%s.wall_per_level_less_kernel", name);
        row(queued_us(s, 300, launch) / levels - us, "us", "%s.queued_per_level_less_kernel", name);
    }
    destroy(exec, graph);
    row(time_of(s, 5, enqueue).wall / levels - us, "us", "%s.stream_wall_per_level_less_kernel",
        name);
    TRY(cudaStreamDestroy(s));
    return made;
}

static void branch_gaps()
{
    for (bool kernel_at_join : { true, false })
        for (int levels : { 1, 100 }) {
            double made = 0;
            for (int lanes : { 1, 2, 4, 8, 16, 32 })
                if (made < 2e6)
                    made = level_times(lanes, levels, 8, kernel_at_join);
                else
                    printf("# levels_%d.lanes_%d left out: instantiating is too slow\n", levels,
                           lanes);
        }
}

static void nodes_at_once()
{
    printf("# parallel branches of one block of 100 us\n");
    for (int lanes : { 1, 16, 32, 64, 120, 128, 130, 132, 200, 256, 264, 300 })
        level_times(lanes, 1, 100, false);
}

static void gaps()
{
    measure_clock("begin");
    kernel_gaps();
    copy_gaps();
    nodes_at_once();
    branch_gaps();
    measure_clock("end");
}

#endif
