/* copies.cuh - copies between the GPUs, and events across them. */
#ifndef RAW_COMM_COPIES_CUH
#define RAW_COMM_COPIES_CUH

#include "gpus.cuh"

/* ---- copies between the GPUs ---- */

/* One of `n` copies in a row in `stream` of GPU i, behind a hold. */
static void copy_row(int i, cudaStream_t stream, int to, int from, size_t bytes, int n,
                     cudaEvent_t begin, cudaEvent_t end)
{
    use(i);
    CHECK(cudaEventRecord(begin, stream));
    for (int k = 0; k < n; k++)
        CHECK(cudaMemcpyPeerAsync(gpus[to].b, to, gpus[from].a, from, bytes, stream));
    CHECK(cudaEventRecord(end, stream));
}

static void copies_of(size_t bytes, bool peer)
{
    const int n = reps_for(bytes);
    std::vector<double> one, pulled, there, back, beside, h2d;
    const size_t host_bytes = std::min(bytes, LARGE / 4);
    for (int row = 0; row < ROWS; row++) {
        hold(0, gpus[0].work, 300);
        copy_row(0, gpus[0].work, 1, 0, bytes, n, gpus[0].begin, gpus[0].end);
        wait_all();
        one.push_back(between_us(gpus[0].begin, gpus[0].end) / n);

        hold(1, gpus[1].work, 300);
        copy_row(1, gpus[1].work, 1, 0, bytes, n, gpus[1].begin, gpus[1].end);
        wait_all();
        pulled.push_back(between_us(gpus[1].begin, gpus[1].end) / n);

        hold(0, gpus[0].work, 400);
        hold(1, gpus[1].work, 400);
        copy_row(0, gpus[0].work, 1, 0, bytes, n, gpus[0].begin, gpus[0].end);
        copy_row(1, gpus[1].work, 0, 1, bytes, n, gpus[1].begin, gpus[1].end);
        wait_all();
        there.push_back(between_us(gpus[0].begin, gpus[0].end) / n);
        back.push_back(between_us(gpus[1].begin, gpus[1].end) / n);

        hold(0, gpus[0].work, 400);
        hold(0, gpus[0].side, 400);
        copy_row(0, gpus[0].work, 1, 0, bytes, n, gpus[0].begin, gpus[0].end);
        CHECK(cudaEventRecord(gpus[0].begin2, gpus[0].side));
        for (int k = 0; k < n; k++)
            CHECK(cudaMemcpyAsync(gpus[0].c, gpus[0].pinned, host_bytes, cudaMemcpyHostToDevice,
                                  gpus[0].side));
        CHECK(cudaEventRecord(gpus[0].end2, gpus[0].side));
        wait_all();
        beside.push_back(between_us(gpus[0].begin, gpus[0].end) / n);
        h2d.push_back(between_us(gpus[0].begin2, gpus[0].end2) / n);
    }
    report("copies",
           text("\"bytes\": %zu, \"peer_access\": %s, \"push_us\": %.2f, \"pull_us\": %.2f, "
                "\"both_there_us\": %.2f, \"both_back_us\": %.2f, \"beside_h2d_us\": %.2f, "
                "\"h2d_us\": %.2f, \"h2d_bytes\": %zu",
                bytes, peer ? "true" : "false", median(one), median(pulled), median(there),
                median(back), median(beside), median(h2d), host_bytes),
           "%8s %s: %9.2f us in a stream of the source, %9.2f of the destination; both at once "
           "%9.2f and %9.2f; beside H2D %9.2f (that %9.2f)",
           size_text(bytes).c_str(), peer ? "peer   " : "no peer", median(one), median(pulled),
           median(there), median(back), median(beside), median(h2d));
}

static void enable_peers(bool on)
{
    for (int i = 0; i < RANKS; i++) {
        int can = 0;
        use(i);
        CHECK(cudaDeviceCanAccessPeer(&can, i, 1 - i));
        if (!can) printf("GPU %d cannot access GPU %d\n", i, 1 - i);
        if (can && on) CHECK(cudaDeviceEnablePeerAccess(1 - i, 0));
        if (can && !on) CHECK(cudaDeviceDisablePeerAccess(1 - i));
    }
}

static void section_copies()
{
    for (int peer = 0; peer < 2; peer++) {
        if (peer) enable_peers(true);
        for (size_t bytes = 1 << 10; bytes <= LARGE; bytes *= 4)
            copies_of(bytes, peer);
        if (peer) enable_peers(false);
    }
}

/* ---- copies without peer access, beside others ---- */

struct beside_times {
    double call_us, peer_us, other_us, all_us;
};

/* A copy from GPU 0 to GPU 1 between two events, and after it `other`, NULL or in a stream of GPU
 * `at`; when both have ended, from before the first call. */
static beside_times beside(size_t bytes, int at, void (*other)(size_t bytes, cudaStream_t stream))
{
    std::vector<double> call, peer, with, all;
    for (int row = 0; row < ROWS; row++) {
        wait_all();
        double from = now_us();
        copy_row(0, gpus[0].work, 1, 0, bytes, 1, gpus[0].begin, gpus[0].end);
        call.push_back(now_us() - from);
        if (other) {
            use(at);
            CHECK(cudaEventRecord(gpus[at].begin2, gpus[at].side));
            other(bytes, gpus[at].side);
            CHECK(cudaEventRecord(gpus[at].end2, gpus[at].side));
        }
        wait_all();
        all.push_back(now_us() - from);
        peer.push_back(between_us(gpus[0].begin, gpus[0].end));
        if (other) with.push_back(between_us(gpus[at].begin2, gpus[at].end2));
    }
    return { median(call), median(peer), other ? median(with) : 0, median(all) };
}

static void back(size_t bytes, cudaStream_t stream)
{
    CHECK(cudaMemcpyPeerAsync(gpus[0].b, 0, gpus[1].a, 1, bytes, stream));
}

static void again(size_t bytes, cudaStream_t stream)
{
    CHECK(cudaMemcpyPeerAsync(gpus[1].b, 1, gpus[0].a, 0, bytes, stream));
}

template <int gpu> static void download(size_t bytes, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(gpus[gpu].pinned, gpus[gpu].c, bytes, cudaMemcpyDeviceToHost, stream));
}

template <int gpu> static void upload(size_t bytes, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(gpus[gpu].c, gpus[gpu].pinned, bytes, cudaMemcpyHostToDevice, stream));
}

static void section_through_host()
{
    static const struct {
        const char *name;
        int at;
        void (*other)(size_t bytes, cudaStream_t stream);
    } cases[] = {
        { "nothing", 0, NULL },
        { "one back", 1, back },
        { "one more", 0, again },
        { "D2H of the source", 0, download<0> },
        { "H2D of the source", 0, upload<0> },
        { "D2H of the target", 1, download<1> },
        { "H2D of the target", 1, upload<1> },
    };
    for (size_t bytes = 64 << 10; bytes <= (64 << 20); bytes *= 4)
        for (const auto &c : cases) {
            beside_times t = beside(bytes, c.at, c.other);
            report(
                "through_host",
                text("\"bytes\": %zu, \"beside\": \"%s\", \"call_us\": %.2f, \"peer_us\": %.2f, "
                     "\"other_us\": %.2f, \"all_us\": %.2f",
                     bytes, c.name, t.call_us, t.peer_us, t.other_us, t.all_us),
                "%8s beside %-17s: the call %7.2f us, by events %8.2f, the other %8.2f, all %8.2f",
                size_text(bytes).c_str(), c.name, t.call_us, t.peer_us, t.other_us, t.all_us);
        }
}

/* ---- events across the GPUs ---- */

/* A chain of empty kernels, each behind an event of the one before: on streams of two GPUs, or two
 * streams of one. Gives the time of one link. */
static double chain_us(int other, int links)
{
    cudaStream_t streams[2] = { gpus[0].work, other ? gpus[1].work : gpus[0].side };
    cudaEvent_t events[2] = { gpus[0].meet, other ? gpus[1].meet : gpus[0].end2 };
    hold(0, gpus[0].work, 40 * links);
    CHECK(cudaEventRecord(gpus[0].begin, gpus[0].work));
    for (int k = 0; k < links; k++) {
        int from = k & 1, to = 1 - from;
        use(from ? other : 0);
        nothing<<<1, 1, 0, streams[from]>>>();
        CHECK(cudaEventRecord(events[from], streams[from]));
        use(to ? other : 0);
        CHECK(cudaStreamWaitEvent(streams[to], events[from], 0));
    }
    use(0);
    CHECK(cudaEventRecord(gpus[0].end, gpus[0].work));
    wait_all();
    return between_us(gpus[0].begin, gpus[0].end) / links;
}

static double own_chain_us(int links)
{
    hold(0, gpus[0].work, 10 * links);
    CHECK(cudaEventRecord(gpus[0].begin, gpus[0].work));
    for (int k = 0; k < links; k++)
        nothing<<<1, 1, 0, gpus[0].work>>>();
    CHECK(cudaEventRecord(gpus[0].end, gpus[0].work));
    wait_all();
    return between_us(gpus[0].begin, gpus[0].end) / links;
}

static void section_events()
{
    for (int peer = 0; peer < 2; peer++) {
        if (peer) enable_peers(true);
        std::vector<double> across, within, plain;
        for (int row = 0; row < ROWS; row++) {
            plain.push_back(own_chain_us(40));
            within.push_back(chain_us(0, 40));
            across.push_back(chain_us(1, 40));
        }
        report("events",
               text("\"peer_access\": %s, \"stream_us\": %.2f, \"streams_us\": %.2f, "
                    "\"gpus_us\": %.2f, \"gpus_least_us\": %.2f, \"gpus_most_us\": %.2f",
                    peer ? "true" : "false", median(plain), median(within), median(across),
                    least(across), most(across)),
               "empty kernels in a row, one: %.2f us in a stream, %.2f by events of two streams, "
               "%.2f (%.2f to %.2f) by events of two GPUs, %s access",
               median(plain), median(within), median(across), least(across), most(across),
               peer ? "with peer" : "without peer");
        if (peer) enable_peers(false);
    }
}

#endif
