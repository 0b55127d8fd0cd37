/* raw_comm.cu - what two GPUs and NCCL do and cost, in plain CUDA C++.
 *
 *   nvcc -O2 -std=c++17 -arch=sm_90 -Xcompiler -Wall,-Wextra tests/bench/cuda/raw_comm.cu \
 *        -ldl -o raw_comm && ./raw_comm [SECTION...] >raw_comm.txt
 *
 * Sections: copies, through_host, events, sizes, channels, host, together, late; all of them if none is named,
 * which takes about two minutes. Prints a table, and for each figure a line of JSON that begins
 * with {"section":. The GPUs 0 and 1 are used, each with about 5 GiB.
 *
 * NCCL, cuBLAS and CUPTI are opened at run time: RAW_NCCL, RAW_CUBLAS and RAW_CUPTI may name the
 * files. Without cuBLAS the section `together` is left out, without CUPTI the kernels' own times
 * and shapes. NVLink multicast is off (NCCL_NVLS_ENABLE=0) unless the environment says otherwise.
 *
 * The time of one operation is that of a row of them, between two events in its stream, divided by
 * their number; the row is enqueued behind a kernel that keeps the stream busy, so that the host's
 * time does not count. Each figure is the median of several rows. The sections are in comm/.
 */
#include "comm/collectives.cuh"
#include "comm/copies.cuh"
#include "comm/together.cuh"

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
        bool needs_nccl;
    } sections[] = {
        { "copies", section_copies, false },    { "through_host", section_through_host, false },
        { "events", section_events, false },    { "sizes", section_sizes, true },
        { "channels", section_channels, true }, { "host", section_host, true },
        { "together", section_together, true }, { "late", section_late, true },
    };
    int count = 0, version = 0;
    cudaDeviceProp prop;
    CHECK(cudaGetDeviceCount(&count));
    if (count < RANKS) {
        printf("%d GPUs: two are needed\n", count);
        return 1;
    }
    CHECK(cudaGetDeviceProperties(&prop, 0));
    open_cupti();
    bool has_nccl = open_nccl();
    open_cublas();
    if (has_nccl) nccl.GetVersion(&version);
    printf("# %s, %d GPUs, NCCL %d, cuBLAS %s, CUPTI %s\n", prop.name, count, version,
           cublas.is_there ? "yes" : "no", cupti.is_there ? "yes" : "no");
    open_gpus();
    for (const auto &section : sections) {
        bool wanted = argc < 2;
        for (int i = 1; i < argc; i++)
            wanted = wanted || !strcmp(argv[i], section.name);
        if (!wanted || (section.needs_nccl && !has_nccl)) continue;
        double from = now_us();
        printf("## %s\n", section.name);
        section.run();
        printf("# %s took %.1f s\n", section.name, (now_us() - from) * 1e-6);
    }
    return 0;
}
