/* together.cuh - collectives beside a matmul, and with a rank that comes late. */
#ifndef RAW_COMM_TOGETHER_CUH
#define RAW_COMM_TOGETHER_CUH

#include "collectives.cuh"

/* ---- beside a matmul ---- */

enum { CUDA_R_16BF_ = 14, CUDA_R_32F_ = 0, COMPUTE_32F = 68, GEMM_DEFAULT = -1, MATMULS = 10 };

static void *handles[RANKS];

static void matmuls(int i, int n, int type, int count)
{
    const float one = 1, zero = 0;
    use(i);
    if (cublas.SetStream(handles[i], gpus[i].work)) printf("cublasSetStream failed\n");
    for (int k = 0; k < count; k++)
        if (cublas.GemmEx(handles[i], 0, 0, n, n, n, &one, gpus[i].c, type, n,
                          gpus[i].c + LARGE / 2, type, n, &zero, gpus[i].c + LARGE / 4 * 3, type, n,
                          COMPUTE_32F, GEMM_DEFAULT))
            printf("cublasGemmEx failed\n");
}

/* Both in streams of their own behind one hold: the times of the matmuls, of the collectives, and
 * from the first to the last. */
static void run_together(const ranks *r, int n, int type, bool compute, bool collect, bool urgent,
                         double us[3])
{
    cudaStream_t comm[RANKS];
    for (int i = 0; i < RANKS; i++) {
        gpu *g = &gpus[i];
        comm[i] = urgent ? g->urgent : g->side;
        hold(i, g->work, 1500);
        CHECK(cudaEventRecord(g->meet, g->work));
        CHECK(cudaStreamWaitEvent(comm[i], g->meet, 0));
        CHECK(cudaEventRecord(g->begin, g->work));
        CHECK(cudaEventRecord(g->begin2, comm[i]));
    }
    for (int i = 0; i < RANKS && compute; i++)
        matmuls(i, n, type, MATMULS);
    for (int k = 0; k < MATMULS && collect; k++)
        call(r, ALL_REDUCE, (size_t)256 << 20, comm[0], comm[1]);
    for (int i = 0; i < RANKS; i++) {
        use(i);
        CHECK(cudaEventRecord(gpus[i].end, gpus[i].work));
        CHECK(cudaEventRecord(gpus[i].end2, comm[i]));
    }
    wait_all();
    us[0] = between_us(gpus[0].begin, gpus[0].end);
    us[1] = between_us(gpus[0].begin2, gpus[0].end2);
    us[2] = std::max(us[0], us[1]);
}

static void together(const ranks *r, int channels, int n, int type, bool urgent)
{
    double us[3];
    std::vector<double> compute, collect, both[3];
    for (int row = 0; row < 3; row++) {
        run_together(r, n, type, true, false, urgent, us);
        compute.push_back(us[0]);
        run_together(r, n, type, false, true, urgent, us);
        collect.push_back(us[1]);
        run_together(r, n, type, true, true, urgent, us);
        for (int k = 0; k < 3; k++)
            both[k].push_back(us[k]);
    }
    const char *what = type == CUDA_R_16BF_ ? "bf16" : "float32";
    report("together",
           text("\"matmul\": \"%s %d\", \"channels\": %d, \"urgent\": %s, \"matmuls_us\": %.1f, "
                "\"all_reduces_us\": %.1f, \"both_matmuls_us\": %.1f, \"both_all_reduces_us\": "
                "%.1f, \"both_us\": %.1f",
                what, n, channels, urgent ? "true" : "false", median(compute), median(collect),
                median(both[0]), median(both[1]), median(both[2])),
           "10 matmuls %s %d and 10 all_reduces of 256 MiB, %d channels%s: alone %.0f and %.0f us; "
           "together %.0f and %.0f, in all %.0f",
           what, n, channels, urgent ? ", urgent" : "", median(compute), median(collect),
           median(both[0]), median(both[1]), median(both[2]));
}

static void show_kernels(const char *section, const char *what, const std::vector<ran> &kernels,
                         size_t at_most)
{
    size_t shown = 0;
    double first = kernels.empty() ? 0 : kernels[0].start_us;
    for (const ran &k : kernels) {
        if (shown++ == at_most) break;
        report(section,
               text("\"what\": \"%s\", \"gpu\": %d, \"stream\": %u, \"start_us\": %.2f, "
                    "\"end_us\": %.2f, \"blocks\": %d, \"threads\": %d, \"registers\": %d, "
                    "\"shared_bytes\": %d, \"kernel\": \"%.80s\"",
                    what, k.device, k.stream, k.start_us - first, k.end_us - first, k.blocks,
                    k.threads, k.registers, k.shared, k.name.c_str()),
               "  GPU %d stream %3u %10.2f to %10.2f us, %5d blocks of %4d, %3d registers, %6d "
               "bytes: %.60s",
               k.device, k.stream, k.start_us - first, k.end_us - first, k.blocks, k.threads,
               k.registers, k.shared, k.name.c_str());
    }
}

static void section_together()
{
    if (!cublas.is_there) {
        printf("no cuBLAS: %s\n", dlerror());
        return;
    }
    for (int i = 0; i < RANKS; i++) {
        use(i);
        CHECK(cudaMemset(gpus[i].c, 0, LARGE));
        if (cublas.Create(&handles[i])) printf("cublasCreate failed\n");
        matmuls(i, 8192, CUDA_R_16BF_, 1);
        matmuls(i, 4096, CUDA_R_32F_, 1);
    }
    wait_all();
    for (int channels : { 0, 1, 8, 16 }) {
        ranks r = open_ranks(channels, 0);
        double us[3];
        run_together(&r, 8192, CUDA_R_16BF_, false, true, false, us);
        together(&r, channels, 8192, CUDA_R_16BF_, false);
        together(&r, channels, 4096, CUDA_R_32F_, false);
        if (channels == 0) {
            together(&r, channels, 8192, CUDA_R_16BF_, true);
            printf("The kernels of both together, default channels:\n");
            show_kernels("together_kernels", "default channels", kernels_of([&] {
                             run_together(&r, 8192, CUDA_R_16BF_, true, true, false, us);
                         }),
                         48);
        }
        close_ranks(&r);
    }
}

/* ---- a rank that comes late ---- */

/* GPU 1 comes 2 ms late. On GPU 0 a kernel whose blocks need an SM each is launched once the
 * collective waits there. */
static void late(const ranks *r, int channels)
{
    printf("GPU 1 comes 2 ms late to an all_reduce of 1 MiB, %d channels; GPU 0 then launches a "
           "kernel of %d blocks that need an SM each:\n",
           channels, gpus[0].sms);
    std::vector<ran> kernels = kernels_of([&] {
        hold(1, gpus[1].work, 2000);
        use(0);
        CHECK(cudaEventRecord(gpus[0].begin, gpus[0].side));
        call(r, ALL_REDUCE, 1 << 20, gpus[0].work, gpus[1].work);
        for (double until = now_us() + 300; now_us() < until;)
            ;
        use(0);
        CHECK(cudaEventRecord(gpus[0].begin2, gpus[0].side));
        spin<<<gpus[0].sms, 32, (size_t)gpus[0].shared_per_sm, gpus[0].side>>>(20 * 1000);
        CHECK(cudaEventRecord(gpus[0].end2, gpus[0].side));
        CHECK(cudaEventRecord(gpus[0].end, gpus[0].work));
        wait_all();
    });
    report("late",
           text("\"channels\": %d, \"collective_end_us\": %.1f, \"full_kernel_us\": %.1f", channels,
                between_us(gpus[0].begin, gpus[0].end), between_us(gpus[0].begin2, gpus[0].end2)),
           "  by events: the collective of GPU 0 ends %.1f us after its call; the kernel of 20 us, "
           "launched 300 us after it, takes %.1f us",
           between_us(gpus[0].begin, gpus[0].end), between_us(gpus[0].begin2, gpus[0].end2));
    show_kernels("late_kernels", channels ? "few channels" : "default channels", kernels, 12);
}

static void section_late()
{
    for (int channels : { 0, 1, 8 }) {
        ranks r = open_ranks(channels, 0);
        call(&r, ALL_REDUCE, 1 << 20, gpus[0].work, gpus[1].work);
        wait_all();
        late(&r, channels);
        close_ranks(&r);
    }
}

#endif
