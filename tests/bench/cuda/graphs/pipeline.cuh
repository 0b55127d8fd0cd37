/* pipeline.cuh - copies in, a product, copies out, in four streams and as a graph. */
#ifndef RAW_GRAPHS_PIPELINE_CUH
#define RAW_GRAPHS_PIPELINE_CUH

#include "tools.cuh"

#include <cublas_v2.h>

enum { ITEMS = 32, LANES = 4 };

struct pipeline_rig {
    fan side;
    cublasHandle_t blas[LANES];
    void *workspace[LANES];
    std::vector<float *> in, out;           /* device */
    std::vector<float *> host_in, host_out; /* pinned */
    int n;
    double kernel_us; /* a kernel of this length stands for the product, unless 0 */

    pipeline_rig() : side(LANES), blas(), workspace(), n(0), kernel_us(0) {}
};

static bool open_pipeline(pipeline_rig &p, int largest)
{
    size_t bytes = (size_t)largest * largest * sizeof(float);
    bool fine = true;
    for (int i = 0; fine && i < ITEMS; i++) {
        float *list[4] = {};
        fine = TRY(cudaMalloc(&list[0], bytes)) && TRY(cudaMalloc(&list[1], bytes))
               && TRY(cudaMallocHost(&list[2], bytes)) && TRY(cudaMallocHost(&list[3], bytes))
               && TRY(cudaMemset(list[0], 0, bytes));
        if (fine) std::fill(list[2], list[2] + (size_t)largest * largest, 1.0f);
        p.in.push_back(list[0]);
        p.out.push_back(list[1]);
        p.host_in.push_back(list[2]);
        p.host_out.push_back(list[3]);
    }
    for (int i = 0; fine && i < LANES; i++)
        fine = TRY(cublasCreate(&p.blas[i])) && TRY(cublasSetStream(p.blas[i], p.side.lane[i]))
               && TRY(cudaMalloc(&p.workspace[i], 32 * MIB));
    return fine;
}

static void add_items(pipeline_rig &p, cudaStream_t s)
{
    const float one = 1, zero = 0;
    size_t bytes = (size_t)p.n * p.n * sizeof(float);
    p.side.fork(s);
    for (int i = 0; i < ITEMS; i++) {
        cudaStream_t lane = p.side.lane[i % LANES];
        TRY(cudaMemcpyAsync(p.in[i], p.host_in[i], bytes, cudaMemcpyHostToDevice, lane));
        if (p.kernel_us > 0)
            TRY(launch_spin(lane, p.kernel_us, 132, 256));
        else
            TRY(cublasSgemm(p.blas[i % LANES], CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.n, p.n, &one,
                            p.in[i], p.n, p.in[i], p.n, &zero, p.out[i], p.n));
        TRY(cudaMemcpyAsync(p.host_out[i], p.out[i], bytes, cudaMemcpyDeviceToHost, lane));
    }
    p.side.join(s);
}

static void print_node_types(const char *name, cudaGraph_t graph)
{
    size_t count = 0;
    if (!TRY(cudaGraphGetNodes(graph, nullptr, &count)) || !count) return;
    std::vector<cudaGraphNode_t> nodes(count);
    TRY(cudaGraphGetNodes(graph, nodes.data(), &count));
    int kernels = 0, copies = 0, memsets = 0, others = 0;
    for (cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
        TRY(cudaGraphNodeGetType(node, &type));
        (type == cudaGraphNodeTypeKernel   ? kernels
         : type == cudaGraphNodeTypeMemcpy ? copies
         : type == cudaGraphNodeTypeMemset ? memsets
                                           : others)++;
    }
    row((double)count, "nodes", "%s.nodes", name);
    row(kernels, "nodes", "%s.kernel_nodes", name);
    row(copies, "nodes", "%s.memcpy_nodes", name);
    row(memsets, "nodes", "%s.memset_nodes", name);
    row(others, "nodes", "%s.other_nodes", name);
}

static void pipeline_times(pipeline_rig &p, const char *name)
{
    cudaStream_t s = new_stream();
    auto enqueue = [&](cudaStream_t to) { add_items(p, to); };
    time_of(s, 2, enqueue);
    timing plain = time_of(s, 11, enqueue);
    row(plain.host, "us", "%s.stream_host", name);
    row(plain.wall, "us", "%s.stream_wall", name);
    double captured, made;
    cudaGraph_t graph = capture(enqueue, &captured);
    cudaGraphExec_t exec = instantiate(graph, &made);
    if (exec) {
        auto launch = [&](cudaStream_t to) { TRY(cudaGraphLaunch(exec, to)); };
        timing first = time_of(s, 1, launch), later = time_of(s, 51, launch);
        print_node_types(name, graph);
        row(captured, "us", "%s.capture", name);
        row(made, "us", "%s.instantiate", name);
        row(first.host, "us", "%s.first_launch_host", name);
        row(first.wall, "us", "%s.first_launch_wall", name);
        row(later.host, "us", "%s.launch_host", name);
        row(later.wall, "us", "%s.launch_wall", name);
        cudaGraph_t again = capture(enqueue);
        if (again) update_cost(exec, again, name, ITEMS);
        destroy(nullptr, again);
    }
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
}

static void pipeline()
{
    static const struct {
        int n;
        double us; /* about the duration of sgemm on an H200 */
    } sizes[] = { { 256, 12 }, { 1024, 57 }, { 2048, 341 } };
    measure_clock("begin");
    static pipeline_rig p;
    if (!open_pipeline(p, 2048)) return;
    for (int variant = 0; variant < 3; variant++) {
        static const char *const names[] = { "sgemm", "sgemm_own_workspace", "kernel" };
        for (int i = 0; variant == 1 && i < LANES; i++)
            TRY(cublasSetWorkspace(p.blas[i], p.workspace[i], 32 * MIB));
        for (auto &size : sizes) {
            char name[64];
            p.n = size.n;
            p.kernel_us = variant == 2 ? size.us : 0;
            snprintf(name, sizeof name, "pipeline.%s.%d", names[variant], size.n);
            pipeline_times(p, name);
        }
    }
}

#endif
