/* collectives.cuh - what collectives take, by size and by channels, and the host. */
#ifndef RAW_COMM_COLLECTIVES_CUH
#define RAW_COMM_COLLECTIVES_CUH

#include "gpus.cuh"
#include "kernel_times.cuh"

enum { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, KINDS };
static const char *const names[] = { "all_reduce", "all_gather", "reduce_scatter", "broadcast" };

typedef struct ranks {
    ncclComm_t comm[RANKS];
} ranks;

static ranks open_ranks(int channels, int policy)
{
    ranks r = {};
    nccl_id id;
    const int undefined = INT32_MIN;
    NCCL(nccl.GetUniqueId(&id));
    NCCL(nccl.GroupStart());
    for (int i = 0; i < RANKS; i++) {
        nccl_config config = { sizeof config, 0xcafebeef, 22809,     1,         undefined,
                               undefined,     undefined,  NULL,      undefined, undefined,
                               NULL,          undefined,  undefined, undefined, undefined,
                               undefined,     undefined };
        if (channels) config.minCTAs = config.maxCTAs = channels;
        if (policy) config.CTAPolicy = policy;
        use(i);
        NCCL(nccl.CommInitRankConfig(&r.comm[i], RANKS, id, i, &config));
    }
    NCCL(nccl.GroupEnd());
    return r;
}

static void close_ranks(ranks *r)
{
    for (int i = 0; i < RANKS; i++) {
        use(i);
        NCCL(nccl.CommDestroy(r->comm[i]));
    }
}

/* `bytes`: of the larger side. */
static void call(const ranks *r, int kind, size_t bytes, cudaStream_t s0, cudaStream_t s1)
{
    cudaStream_t streams[RANKS] = { s0, s1 };
    const size_t n = bytes / 4, part = n / RANKS;
    NCCL(nccl.GroupStart());
    for (int i = 0; i < RANKS; i++) {
        char *a = gpus[i].a, *b = gpus[i].b;
        ncclComm_t comm = r->comm[i];
        cudaStream_t s = streams[i];
        use(i);
        if (kind == ALL_REDUCE) NCCL(nccl.AllReduce(a, b, n, NCCL_FLOAT32, NCCL_SUM, comm, s));
        if (kind == ALL_GATHER) NCCL(nccl.AllGather(a, b, part, NCCL_FLOAT32, comm, s));
        if (kind == REDUCE_SCATTER)
            NCCL(nccl.ReduceScatter(a, b, part, NCCL_FLOAT32, NCCL_SUM, comm, s));
        if (kind == BROADCAST) NCCL(nccl.Broadcast(a, b, n, NCCL_FLOAT32, 0, comm, s));
    }
    NCCL(nccl.GroupEnd());
}

static void both_hold(double us)
{
    hold(0, gpus[0].work, us);
    hold(1, gpus[1].work, us);
}

static double row_us(const ranks *r, int kind, size_t bytes, int n)
{
    both_hold(200 + 60 * n);
    call(r, kind, bytes, gpus[0].work, gpus[1].work); /* both have come */
    use(0);
    CHECK(cudaEventRecord(gpus[0].begin, gpus[0].work));
    for (int k = 0; k < n; k++)
        call(r, kind, bytes, gpus[0].work, gpus[1].work);
    use(0);
    CHECK(cudaEventRecord(gpus[0].end, gpus[0].work));
    wait_all();
    return between_us(gpus[0].begin, gpus[0].end) / n;
}

/* One that comes alone, behind a kernel of each rank. */
static double single_us(const ranks *r, int kind, size_t bytes)
{
    both_hold(200);
    for (int i = 0; i < RANKS; i++) {
        use(i);
        CHECK(cudaEventRecord(gpus[i].begin, gpus[i].work));
    }
    call(r, kind, bytes, gpus[0].work, gpus[1].work);
    for (int i = 0; i < RANKS; i++) {
        use(i);
        CHECK(cudaEventRecord(gpus[i].end, gpus[i].work));
    }
    wait_all();
    return std::min(between_us(gpus[0].begin, gpus[0].end), between_us(gpus[1].begin, gpus[1].end));
}

/* The kernel of rank 0: its time and shape. */
static ran kernel_of(const ranks *r, int kind, size_t bytes)
{
    ran found = {};
    for (const ran &k : kernels_of([&] {
             both_hold(200);
             call(r, kind, bytes, gpus[0].work, gpus[1].work);
             wait_all();
         }))
        if (k.device == 0 && k.name.find("nccl") != std::string::npos) found = k;
    return found;
}

static void measure(const ranks *r, const char *section, int channels, int policy, int kind,
                    size_t bytes)
{
    std::vector<double> row, single;
    row_us(r, kind, bytes, 1);
    for (int i = 0; i < ROWS; i++) {
        row.push_back(row_us(r, kind, bytes, reps_for(bytes)));
        single.push_back(single_us(r, kind, bytes));
    }
    ran k = kernel_of(r, kind, bytes);
    report(section,
           text("\"collective\": \"%s\", \"bytes\": %zu, \"channels\": %d, \"policy\": %d, "
                "\"us\": %.2f, \"least_us\": %.2f, \"most_us\": %.2f, \"single_us\": %.2f, "
                "\"kernel_us\": %.2f, \"blocks\": %d, \"threads\": %d, \"registers\": %d, "
                "\"shared_bytes\": %d, \"kernel\": \"%s\"",
                names[kind], bytes, channels, policy, median(row), least(row), most(row),
                median(single), k.end_us - k.start_us, k.blocks, k.threads, k.registers, k.shared,
                k.name.c_str()),
           "%-14s %8s: %9.2f us (%9.2f to %9.2f), alone %9.2f; %d blocks of %d threads, %d "
           "registers, %d bytes",
           names[kind], size_text(bytes).c_str(), median(row), least(row), most(row),
           median(single), k.blocks, k.threads, k.registers, k.shared);
}

static void section_sizes()
{
    ranks r = open_ranks(0, 0);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t bytes = 1 << 10; bytes <= LARGE; bytes *= 4)
            measure(&r, "sizes", 0, 0, kind, bytes);
    close_ranks(&r);
}

static void section_channels()
{
    for (int channels : { 1, 2, 4, 8, 16, 24, 32 }) {
        ranks r = open_ranks(channels, 0);
        measure(&r, "channels", channels, 0, ALL_REDUCE, (size_t)256 << 20);
        measure(&r, "channels", channels, 0, ALL_REDUCE, (size_t)1 << 20);
        measure(&r, "channels", channels, 0, ALL_GATHER, (size_t)256 << 20);
        close_ranks(&r);
    }
    ranks r = open_ranks(0, CTA_POLICY_ZERO);
    measure(&r, "channels", 0, CTA_POLICY_ZERO, ALL_GATHER, (size_t)256 << 20);
    close_ranks(&r);
}

/* ---- the host ---- */

static void section_host()
{
    ranks r = open_ranks(0, 0);
    for (size_t bytes : { (size_t)1 << 10, (size_t)16 << 20 }) {
        std::vector<double> took;
        for (int k = 0; k < 10; k++)
            call(&r, ALL_REDUCE, bytes, gpus[0].work, gpus[1].work);
        wait_all();
        for (int k = 0; k < 200; k++) {
            double from = now_us();
            call(&r, ALL_REDUCE, bytes, gpus[0].work, gpus[1].work);
            took.push_back(now_us() - from);
            if (k % 10 == 9) wait_all();
        }
        report("host",
               text("\"collective\": \"all_reduce\", \"bytes\": %zu, \"ranks\": %d, \"us\": %.2f, "
                    "\"least_us\": %.2f",
                    bytes, RANKS, median(took), least(took)),
               "all_reduce of %s: the group of both ranks takes the host %.2f us (least %.2f)",
               size_text(bytes).c_str(), median(took), least(took));
    }
    close_ranks(&r);
}

#endif
