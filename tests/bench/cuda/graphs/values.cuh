/* values.cuh - when captured work reads memory, and in which order host functions run. */
#ifndef RAW_GRAPHS_VALUES_CUH
#define RAW_GRAPHS_VALUES_CUH

#include "tools.cuh"

#include <atomic>
#include <thread>

/* Value that the copy delivers: 1 if read at capture, 2 at instantiation, 3 and 4 at replay. */
static void moment_of_copy(const char *name, int *host, int *device, size_t bytes)
{
    size_t last = bytes / sizeof(int) - 1;
    auto write = [&](int value) { host[0] = host[last] = value; };
    cudaStream_t s = new_stream();
    write(1);
    cudaGraph_t graph = capture([&](cudaStream_t to) {
        TRY(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, to));
    });
    write(2);
    cudaGraphExec_t exec = instantiate(graph);
    for (int value = 3; exec && value <= 4; value++) {
        int got[2] = { -1, -1 };
        write(value);
        TRY(cudaGraphLaunch(exec, s));
        TRY(cudaStreamSynchronize(s));
        TRY(cudaMemcpy(&got[0], device, sizeof(int), cudaMemcpyDeviceToHost));
        TRY(cudaMemcpy(&got[1], device + last, sizeof(int), cudaMemcpyDeviceToHost));
        row(got[0], "value", "%s.launched_with_%d.first", name, value);
        row(got[1], "value", "%s.launched_with_%d.last", name, value);
    }
    if (exec) { /* Is the source read before the launch returns, or when the node runs? */
        int got = -1;
        write(5);
        TRY(launch_spin(s, 3000));
        double began = now_us();
        TRY(cudaGraphLaunch(exec, s));
        double us = now_us() - began;
        write(6);
        TRY(cudaStreamSynchronize(s));
        TRY(cudaMemcpy(&got, device, sizeof(int), cudaMemcpyDeviceToHost));
        row(got, "value", "%s.launched_with_5_then_6_behind_3_ms", name);
        row(us, "us", "%s.launch_call_behind_3_ms", name);
    }
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
}

static void moment_of_copy_back(const char *name, int *host, int *device, size_t bytes)
{
    cudaStream_t s = new_stream();
    size_t last = bytes / sizeof(int) - 1;
    cudaGraph_t graph = capture([&](cudaStream_t to) {
        TRY(launch_spin(to, 3000));
        TRY(cudaMemsetAsync(device, 7, bytes, to));
        TRY(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, to));
    });
    cudaGraphExec_t exec = instantiate(graph);
    if (exec) {
        host[0] = host[last] = 0;
        double began = now_us();
        TRY(cudaGraphLaunch(exec, s));
        double us = now_us() - began;
        int early = *(volatile int *)host;
        TRY(cudaStreamSynchronize(s));
        row(us, "us", "%s.launch_call_before_3_ms", name);
        row(early == 0, "true", "%s.unwritten_at_return", name);
        row(host[0] == 0x07070707 && host[last] == 0x07070707, "true", "%s.written_at_end", name);
    }
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
}

static void copy_values()
{
    int *device, *pinned, *pageable = (int *)aligned_alloc(4096, 16 * MIB);
    if (!pageable || !TRY(cudaMalloc(&device, 16 * MIB)) || !TRY(cudaMallocHost(&pinned, 16 * MIB)))
        return;
    memset(pageable, 0, 16 * MIB);
    const struct {
        const char *name;
        size_t bytes;
    } sizes[] = { { "1k", KIB }, { "64k", 64 * KIB }, { "1m", MIB }, { "16m", 16 * MIB } };
    for (auto &size : sizes)
        for (bool pin : { false, true }) {
            char name[64];
            const char *kind = pin ? "pinned" : "pageable";
            snprintf(name, sizeof name, "h2d_%s_%s", kind, size.name);
            moment_of_copy(name, pin ? pinned : pageable, device, size.bytes);
            snprintf(name, sizeof name, "d2h_%s_%s", kind, size.name);
            moment_of_copy_back(name, pin ? pinned : pageable, device, size.bytes);
        }
    TRY(cudaFreeHost(pinned));
    TRY(cudaFree(device));
    free(pageable);
}

struct host_note {
    std::atomic<int> next, running, most, order[16], elsewhere;
    std::thread::id caller, runner;
    std::atomic<int> threads;
};

struct host_call {
    host_note *note;
    int number;
};

static void CUDART_CB note_call(void *data)
{
    host_call *call = (host_call *)data;
    host_note &note = *call->note;
    int running = ++note.running;
    if (running > note.most) note.most = running;
    int at = note.next++;
    if (at < 16) note.order[at] = call->number;
    if (std::this_thread::get_id() != note.caller) note.elsewhere++;
    if (at == 0) note.runner = std::this_thread::get_id();
    if (std::this_thread::get_id() != note.runner) note.threads++;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    note.running--;
}

static void print_notes(const char *name, const host_note &note, double wall)
{
    printf("%s.order", name);
    for (int i = 0; i < note.next && i < 16; i++)
        printf(" %d", note.order[i].load());
    printf(" numbers\n");
    row(note.most, "functions", "%s.most_at_once", name);
    row(note.elsewhere, "calls", "%s.outside_callers_thread", name);
    row(note.threads, "calls", "%s.in_another_thread_than_the_first", name);
    row(wall, "us", "%s.wall", name);
}

/* Host functions of 2 ms: numbers 0 to 3 in a chain; or lane and place in four branches. */
static void host_functions(bool branches, bool as_graph)
{
    host_note note = {};
    host_call calls[8];
    note.caller = std::this_thread::get_id();
    fan side(4);
    cudaStream_t s = new_stream();
    auto enqueue = [&](cudaStream_t to) {
        if (branches) side.fork(to);
        for (int i = 0; i < 8; i++) {
            cudaStream_t lane = branches ? side.lane[i % 4] : to;
            calls[i] = { &note, i };
            TRY(launch_empty(lane));
            TRY(cudaLaunchHostFunc(lane, note_call, &calls[i]));
        }
        if (branches) side.join(to);
    };
    char name[64];
    snprintf(name, sizeof name, "host_functions.%s.%s", branches ? "branches" : "chain",
             as_graph ? "graph" : "stream");
    cudaGraph_t graph = as_graph ? capture(enqueue) : nullptr;
    cudaGraphExec_t exec = instantiate(graph);
    row(note.next, "calls", "%s.calls_at_capture", name);
    if (exec || !as_graph) {
        timing t = time_of(s, 1, [&](cudaStream_t to) {
            if (exec)
                TRY(cudaGraphLaunch(exec, to));
            else
                enqueue(to);
        });
        print_notes(name, note, t.wall);
    }
    TRY(cudaDeviceSynchronize());
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
}

/* Events that a replay records: around a kernel of 100 us. */
static void event_values(unsigned flags, const char *name)
{
    cudaEvent_t from = new_event(cudaEventDefault), to = new_event(cudaEventDefault);
    cudaStream_t s = new_stream();
    cudaGraph_t graph = capture([&](cudaStream_t c) {
        TRY(cudaEventRecordWithFlags(from, c, flags));
        TRY(launch_spin(c, 100));
        TRY(cudaEventRecordWithFlags(to, c, flags));
    });
    cudaGraphExec_t exec = instantiate(graph);
    if (graph) print_node_types(name, graph);
    printf("%s.query_before_replay %d code\n", name, (int)cudaEventQuery(to));
    cudaGetLastError();
    for (int i = 0; exec && i < 3; i++) {
        float ms = -1;
        TRY(cudaGraphLaunch(exec, s));
        TRY(cudaStreamSynchronize(s));
        int code = (int)cudaEventElapsedTime(&ms, from, to);
        cudaGetLastError();
        printf("%s.elapsed_code %d code\n", name, code);
        if (code == 0) row(ms * 1000.0, "us", "%s.elapsed", name);
    }
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
    TRY(cudaEventDestroy(from));
    TRY(cudaEventDestroy(to));
}

static void memset_values()
{
    unsigned char *device, got[2] = { 0, 0 };
    if (!TRY(cudaMalloc(&device, MIB))) return;
    TRY(cudaMemset(device, 0, MIB));
    cudaStream_t s = new_stream();
    cudaGraph_t graph = capture(
        [&](cudaStream_t to) { TRY(cudaMemsetAsync(device, 0x5a, MIB, to)); });
    cudaGraphExec_t exec = instantiate(graph);
    TRY(cudaMemcpy(&got[0], device, 1, cudaMemcpyDeviceToHost));
    if (exec) TRY(cudaGraphLaunch(exec, s));
    TRY(cudaStreamSynchronize(s));
    TRY(cudaMemcpy(&got[1], device + MIB - 1, 1, cudaMemcpyDeviceToHost));
    row(got[0], "value", "memset.before_replay");
    row(got[1], "value", "memset.after_replay_90_expected");
    destroy(exec, graph);
    TRY(cudaStreamDestroy(s));
    TRY(cudaFree(device));
}

static void values()
{
    measure_clock("begin");
    copy_values();
    for (bool as_graph : { false, true })
        for (bool branches : { false, true })
            host_functions(branches, as_graph);
    event_values(cudaEventRecordDefault, "events_plain");
    event_values(cudaEventRecordExternal, "events_external");
    memset_values();
}

#endif
