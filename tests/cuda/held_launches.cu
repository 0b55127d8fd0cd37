/* held_launches.cu - how many launches of a graph with host functions return before the first of
 * these has run: 17 graphs, the figures of docs/design/cuda.md ("Graphs"). 10 s on one GPU.
 *
 *     nvcc -O1 -arch=native -o held_launches tests/cuda/held_launches.cu && ./held_launches
 */
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include <cuda_runtime.h>

namespace
{

enum { GRAPHS = 8, STREAMS = 4, LAUNCHES = 300 };

struct shape {
    int funcs, kernels;
    bool alternate; /* the functions lie among the kernels, or all before them */
    int graphs, streams;
};

std::atomic<bool> may_run;
std::atomic<int> launched;

void CUDART_CB wait(void *)
{
    while (!may_run)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
}

__global__ void nothing() {}

cudaGraphExec_t made(const shape &s, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int left = s.kernels;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    for (int i = 0; i < s.funcs; i++) {
        for (int k = 0; s.alternate && k < s.kernels / s.funcs; k++, left--)
            nothing<<<1, 1, 0, stream>>>();
        cudaLaunchHostFunc(stream, wait, nullptr);
    }
    while (left-- > 0)
        nothing<<<1, 1, 0, stream>>>();
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);
    return exec;
}

/* Launches that have returned when none has for 0.4 s, LAUNCHES if all have. */
int returned(const shape &s)
{
    cudaStream_t streams[STREAMS];
    cudaGraphExec_t graphs[GRAPHS];
    for (auto &stream : streams)
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    may_run = true;
    for (int i = 0; i < s.graphs; i++) {
        graphs[i] = made(s, streams[0]);
        cudaGraphLaunch(graphs[i], streams[0]);
        cudaDeviceSynchronize();
    }
    may_run = false;
    launched = 0;
    std::thread thread([&] {
        for (int i = 0; i < LAUNCHES; i++, launched++)
            cudaGraphLaunch(graphs[i % s.graphs], streams[i % s.streams]);
    });
    for (int last = -1, quiet = 0; launched < LAUNCHES && quiet < 8;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        quiet = launched == last ? quiet + 1 : 0;
        last = launched;
    }
    const int result = launched;
    may_run = true;
    thread.join();
    cudaDeviceSynchronize();
    for (int i = 0; i < s.graphs; i++)
        cudaGraphExecDestroy(graphs[i]);
    for (auto &stream : streams)
        cudaStreamDestroy(stream);
    return result;
}

} // namespace

int main()
{
    const shape shapes[] = {
        { 1, 0, false, 1, 1 },   { 8, 0, false, 1, 1 },  { 40, 0, false, 1, 1 },
        { 100, 0, false, 1, 1 }, { 1, 1, true, 1, 1 },   { 1, 16, true, 1, 1 },
        { 1, 64, true, 1, 1 },   { 4, 4, true, 1, 1 },   { 4, 64, true, 1, 1 },
        { 4, 16, false, 1, 1 },  { 8, 64, true, 1, 1 },  { 16, 32, true, 1, 1 },
        { 40, 40, true, 1, 1 },  { 8, 12, true, 8, 1 },  { 8, 12, true, 8, 4 },
        { 1, 4, true, 8, 4 },    { 0, 19, false, 1, 1 },
    };
    std::printf("functions kernels alternating graphs streams: launches, functions\n");
    for (const shape &s : shapes) {
        const int n = returned(s);
        std::printf("%9d %7d %11d %6d %7d: %d%s, %d\n", s.funcs, s.kernels, s.alternate, s.graphs,
                    s.streams, n, n == LAUNCHES ? " (all)" : "", n * s.funcs);
    }
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
