/* rules.cuh - what each call returns during a capture. */
#ifndef RAW_GRAPHS_RULES_CUH
#define RAW_GRAPHS_RULES_CUH

#include "rule_table.cuh"

#include <thread>

static void open_shared(rig &r)
{
    memset((void *)&r, 0, sizeof r);
    TRY(cudaMalloc(&r.device, MIB));
    TRY(cudaMalloc(&r.target, MIB));
    TRY(cudaMalloc(&r.workspace, 32 * MIB));
    TRY(cudaMallocHost(&r.pinned, MIB));
    r.pageable = (char *)aligned_alloc(4096, MIB);
    r.plain = (char *)aligned_alloc(4096, MIB);
    memset(r.pageable, 1, MIB);
    memset(r.plain, 1, MIB);
}

static void open_case(rig &r, bool blocking)
{
    TRY(cudaStreamCreateWithFlags(&r.captured,
                                  blocking ? cudaStreamDefault : cudaStreamNonBlocking));
    TRY(cudaStreamCreate(&r.blocking));
    TRY(cudaStreamCreateWithFlags(&r.loose, cudaStreamNonBlocking));
    for (cudaEvent_t *e : { &r.event, &r.second, &r.outside, &r.never })
        TRY(cudaEventCreate(e));
    TRY(launch_empty(r.loose));
    TRY(cudaEventRecord(r.outside, r.loose));
    TRY(cudaDeviceSynchronize());
    r.made = r.made_host = nullptr;
    r.registered = false;
    r.made_stream = nullptr;
    r.made_event = nullptr;
    r.graph = nullptr;
    r.exec = nullptr;
    r.made_blas = nullptr;
    r.step = 0;
}

/* Ends captures that the case left in the other streams. Code of the last, -1 if none. */
static int end_others(rig &r)
{
    int code = -1;
    for (cudaStream_t s : { r.loose, r.blocking, r.captured }) {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        if (s && !cudaStreamIsCapturing(s, &status) && status != cudaStreamCaptureStatusNone)
            code = seen((int)end_capture(s));
        cudaGetLastError();
    }
    return code;
}

static void close_case(rig &r)
{
    TRY(cudaDeviceSynchronize());
    if (r.made) TRY(cudaFree(r.made));
    if (r.made_host) TRY(cudaFreeHost(r.made_host));
    if (r.registered) TRY(cudaHostUnregister(r.plain));
    if (r.made_stream) TRY(cudaStreamDestroy(r.made_stream));
    if (r.made_event) TRY(cudaEventDestroy(r.made_event));
    if (r.made_blas) TRY(cublasDestroy(r.made_blas));
    destroy(r.exec, r.graph);
    for (cudaStream_t s : { r.captured, r.blocking, r.loose })
        if (s) TRY(cudaStreamDestroy(s));
    for (cudaEvent_t e : { r.event, r.second, r.outside, r.never })
        if (e) TRY(cudaEventDestroy(e));
}

static const char *status_of(cudaStream_t s)
{
    cudaStreamCaptureStatus status;
    cudaError_t code = cudaStreamIsCapturing(s, &status);
    if (code) {
        static char text[32];
        snprintf(text, sizeof text, "error_%d", seen((int)code));
        cudaGetLastError();
        return text;
    }
    return status == cudaStreamCaptureStatusNone     ? "none"
           : status == cudaStreamCaptureStatusActive ? "active"
                                                     : "invalidated";
}

static int call_of(rig &r, const rule &rule)
{
    int code = -1;
    if (r.threaded)
        std::thread([&] { code = rule.call(r); }).join();
    else
        code = rule.call(r);
    cudaGetLastError();
    return code;
}

/* Codes of instantiating the graph and of running it once; -1 where that was not tried. */
static void replay(rig &r, cudaGraph_t graph, int *made, int *ran)
{
    cudaGraphExec_t exec = nullptr;
    *made = *ran = -1;
    if (!graph || !r.loose) return;
    *made = seen((int)cudaGraphInstantiate(&exec, graph, 0));
    if (*made == 0) {
        *ran = seen((int)cudaGraphLaunch(exec, r.loose));
        if (*ran == 0) *ran = seen((int)cudaStreamSynchronize(r.loose));
        TRY(cudaGraphExecDestroy(exec));
    }
    cudaGetLastError();
}

static const char *const mode_names[] = { "global", "thread_local", "relaxed" };

static void try_rule(rig &r, const rule &rule, const char *kind, bool blocking, bool codes_are_cuda)
{
    open_case(r, blocking);
    if (rule.before) TRY(rule.before(r));
    int begin = seen((int)cudaStreamBeginCapture(r.captured, r.mode));
    if (begin) printf("error begin %d\n", begin);
    TRY(launch_empty(r.captured));
    int call = call_of(r, rule);
    if (codes_are_cuda && call > 0) seen(call);
    std::string state = status_of(r.captured);
    int later = seen((int)launch_empty(r.captured));
    cudaGraph_t graph = nullptr;
    int end = seen((int)cudaStreamEndCapture(r.captured, &graph));
    cudaGetLastError();
    int others = end_others(r);
    size_t nodes = 0;
    if (end == 0 && graph) TRY(cudaGraphGetNodes(graph, nullptr, &nodes));
    printf("rule %-12s %-18s %-40s -> %3d %3d  state=%s later=%d nodes=%d", mode_names[r.mode],
           kind, rule.name, call, end, state.c_str(), later, (int)nodes);
    if (r.step) printf(" step=%d", seen(r.step));
    if (others >= 0) printf(" other_end=%d", others);
    if (rule.after) printf(" after=%d", seen(rule.after(r)));
    cudaGetLastError();
    int made, ran;
    replay(r, end == 0 ? graph : nullptr, &made, &ran);
    printf(" instantiate=%d replay=%d\n", made, ran);
    if (end == 0 && graph) TRY(cudaGraphDestroy(graph));
    close_case(r);
}

static void print_codes()
{
    for (int code : codes_seen)
        printf("code %d %s\n", code, code < 0 ? "not_tried" : cudaGetErrorName((cudaError_t)code));
}

typedef std::vector<rule> rule_list;

static void try_rules(const rule_list &list, bool codes_are_cuda)
{
    static const char *const kinds[] = { "blocking", "nonblocking", "nonblocking_thread" };
    static const cudaStreamCaptureMode modes[] = { cudaStreamCaptureModeGlobal,
                                                   cudaStreamCaptureModeThreadLocal,
                                                   cudaStreamCaptureModeRelaxed };
    rig r;
    open_shared(r);
    if (!codes_are_cuda) TRY(cublasCreate(&r.blas));
    printf("# rule mode kind call -> its code, EndCapture's code; state after the call, code of\n"
           "# a later launch, nodes captured, codes of other captures' ends, of the call after\n"
           "# the capture, of instantiating and of replaying\n");
    for (cudaStreamCaptureMode mode : modes)
        for (int kind = 0; kind < 3; kind++)
            for (const rule &one : list) {
                r.mode = mode;
                r.which = (int)mode * 3 + kind;
                r.threaded = kind == 2;
                if (r.threaded && (one.traits & BEGINS)) continue;
                try_rule(r, one, kinds[kind], kind == 0, codes_are_cuda);
            }
    print_codes();
}

template <size_t N> static void append(rule_list &list, const rule (&more)[N])
{
    list.insert(list.end(), more, more + N);
}

static void rules()
{
    rule_list list;
    append(list, launch_rules);
    append(list, memory_rules);
    append(list, copy_rules);
    append(list, wait_rules);
    append(list, event_rules);
    append(list, fork_rules);
    append(list, object_rules);
    append(list, spoiled_rules);
    try_rules(list, true);
}

static void rules_blas()
{
    rule_list list;
    append(list, blas_rules);
    try_rules(list, false);
}

static void print_info(const char *state, cudaStream_t s)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;
    cudaGraph_t graph = nullptr;
    const cudaGraphNode_t *nodes = nullptr;
    const cudaGraphEdgeData *edges = nullptr;
    size_t count = 0;
    int is = (int)is_capturing(s);
    int code = (int)cudaStreamGetCaptureInfo(s, &status, &id, &graph, &nodes, &edges, &count);
    printf("info %-32s is_capturing=%d get_info=%d status=%s id=%s graph=%s dependencies=%d\n",
           state, is, code, status_of(s), id ? "set" : "0", graph ? "set" : "0", (int)count);
    cudaGetLastError();
}

/* What a stream says of itself at each state of a capture. */
static void rules_states()
{
    rig r;
    open_shared(r);
    r.mode = cudaStreamCaptureModeThreadLocal;
    for (bool blocking : { true, false }) {
        open_case(r, blocking);
        printf("# captured stream is %s\n", blocking ? "blocking" : "nonblocking");
        print_info("before_begin", r.captured);
        TRY(cudaStreamBeginCapture(r.captured, r.mode));
        print_info("begun", r.captured);
        TRY(launch_empty(r.captured));
        print_info("one_kernel", r.captured);
        print_info("other_stream", r.loose);
        print_info("null_stream", nullptr);
        TRY(cudaEventRecord(r.event, r.captured));
        TRY(cudaStreamWaitEvent(r.loose, r.event, 0));
        print_info("forked_stream", r.loose);
        TRY(launch_empty(r.loose));
        TRY(cudaEventRecord(r.second, r.loose));
        TRY(cudaStreamWaitEvent(r.captured, r.second, 0));
        print_info("joined_captured", r.captured);
        print_info("joined_fork", r.loose);
        int spoils = (int)cudaStreamSynchronize(r.captured);
        cudaGetLastError();
        printf("info synchronize_of_captured %d\n", spoils);
        print_info("invalidated", r.captured);
        print_info("invalidated_fork", r.loose);
        int end = (int)end_capture(r.captured);
        cudaGetLastError();
        printf("info end_of_invalidated %d\n", end);
        print_info("ended", r.captured);
        print_info("ended_fork", r.loose);
        printf("info launch_after_ended %d\n", (int)launch_empty(r.captured));
        printf("info launch_in_fork_after_ended %d\n", (int)launch_empty(r.loose));
        printf("info end_again %d\n", (int)end_capture(r.captured));
        cudaGetLastError();
        close_case(r);
    }
}

/* Captures in the default streams. */
static void rules_null()
{
    static const struct {
        const char *name;
        cudaStream_t stream;
    } streams[] = { { "null", nullptr },
                    { "legacy", cudaStreamLegacy },
                    { "per_thread", cudaStreamPerThread } };
    for (auto &one : streams)
        for (int mode = 0; mode < 3; mode++) {
            int begin = (int)cudaStreamBeginCapture(one.stream, (cudaStreamCaptureMode)mode);
            cudaGetLastError();
            int launch = (int)launch_empty(one.stream);
            int end = (int)end_capture(one.stream);
            cudaGetLastError();
            printf("begin_in %-12s %-12s begin=%d (%s) launch=%d end=%d\n", one.name,
                   mode_names[mode], begin, cudaGetErrorName((cudaError_t)begin), launch, end);
            TRY(cudaDeviceSynchronize());
        }
}

/* The captured stream is destroyed; last, since nothing may be sure after that. */
static void rules_destroy()
{
    rig r;
    open_shared(r);
    for (int mode = 0; mode < 3; mode++)
        for (bool blocking : { true, false }) {
            r.mode = (cudaStreamCaptureMode)mode;
            open_case(r, blocking);
            TRY(cudaStreamBeginCapture(r.captured, r.mode));
            TRY(launch_empty(r.captured));
            int code = (int)cudaStreamDestroy(r.captured);
            cudaGetLastError();
            int malloc_code = (int)cudaMalloc(&r.made, MIB);
            cudaGetLastError();
            int null_code = (int)launch_empty(nullptr);
            cudaGetLastError();
            printf("stream_destroy_captured %-12s %-12s -> %d, then malloc %d, launch_null %d\n",
                   mode_names[mode], blocking ? "blocking" : "nonblocking", code, malloc_code,
                   null_code);
            if (code == 0)
                r.captured = nullptr;
            else
                printf("end_capture_after_destroy %d\n", (int)end_capture(r.captured));
            cudaGetLastError();
            close_case(r);
        }
}

#endif
