/* What a block needs of an SM beyond its threads: how the SM is split between shared memory and
 * cache, and registers in units. 4 SMs of 1024 threads, 8 blocks and 65536 bytes. */
#include "lab.h"

/* CUDA itself takes 1024 bytes of each block's shared memory, so at least 8192 of an SM's. */
static const double splits[] = { 1, 8192, 2, 16384, 3, 32768, 4, 65536 };
#define SPLITS \
    LAB_TABLES(LAB_TABLE("shared_splits", splits)), LAB_MORE({ "shared_reserved_bytes", 1024 })

static void spin(lab *l, int stream, int64_t ns, int64_t blocks, int64_t threads, int64_t shared)
{
    sl_spin_options options = {
        .duration_ns = ns,
        .blocks = blocks,
        .threads = threads,
        .shared_bytes = shared,
    };
    l->failed += sl_spin(&options, l->stream[stream], NULL) != SL_OK;
}

/* A block of 256 threads with so much shared memory comes beside one of 512 on each SM. */
static void beside(const lab_setup *setup, int64_t shared, int64_t start_ns, const char *name)
{
    lab l;
    lab_open(&l, setup);
    spin(&l, 1, 1000, 4, 512, 0);
    spin(&l, 2, 1000, 1, 256, shared);
    lab_end(&l);
    LAB_STARTS(&l, name, 0, start_ns);
    lab_close(&l);
}

static void small_splits(void)
{
    const lab_setup setup = { SPLITS }, none = { LAB_MORE({ "shared_reserved_bytes", 1024 }) };
    beside(&setup, 0, 0, "kernels without shared memory run beside each other");
    beside(&setup, 1024, 0, "four blocks of 2048 bytes ask for no other split");
    beside(&setup, 1025, 1000, "a byte more does, and it waits until an SM is idle");
    beside(&none, 1025, 0, "a profile that tells no splits has the whole SM for all");
}

static void an_idle_sm(void)
{
    const lab_setup setup = { SPLITS };
    lab l;
    lab_open(&l, &setup);
    spin(&l, 1, 1000, 3, 512, 0);
    spin(&l, 2, 3000, 1, 256, 15360); /* 4 x 16384: all of an SM, the idle one */
    spin(&l, 3, 3000, 4, 512, 0);     /* beside all of them */
    spin(&l, 4, 1000, 1, 256, 15360); /* beside the one of its kind */
    spin(&l, 4, 1000, 4, 256, 15360); /* three more are idle only at 3000 */
    lab_end(&l);
    LAB_STARTS(&l, "an idle SM is split as the kernel wants it that comes to it", 0, 0, 0, 0, 1000);
    is_int(lab_span(&l, 4)->end_ns, 4000, "and the others stay as they are while a block is there");
    lab_close(&l);
}

static void behind_it(void)
{
    const lab_setup setup = { SPLITS };
    lab l;
    lab_open(&l, &setup);
    spin(&l, 1, 1000, 4, 512, 0);
    spin(&l, 2, 1000, 1, 256, 4096);
    spin(&l, 3, 1000, 1, 256, 0);
    lab_end(&l);
    LAB_STARTS(&l, "who waits for another split holds up what comes after it", 0, 1000, 1000);
    size_t n;
    const sl_hold *hold = holds_of(l.timeline, &n);
    int told = 0;
    for (size_t i = 0; i < n; i++)
        told += hold[i].start_cause == SL_CAUSE_ROOM;
    is_int(told, 2, "both are recorded to have had no room");
    lab_close(&l);
}

/* 7 blocks of 8192 bytes on each SM, for which the split is all of it: 8192 bytes are free. */
static void free_bytes(int64_t shared, int64_t start_ns, const char *name)
{
    const lab_setup setup = { SPLITS };
    lab l;
    lab_open(&l, &setup);
    spin(&l, 1, 1000, 28, 32, 7168);
    spin(&l, 2, 1000, 1, 512, shared);
    lab_end(&l);
    LAB_STARTS(&l, name, 0, start_ns);
    lab_close(&l);
}

/* Two blocks of 256 threads an SM, and 65536 registers: a third one needs a third of them. */
static void registers(double per_thread, int64_t start_ns, const char *name)
{
    static const double grid[] = { 64, 64, 10, 64, 128, 20, 128, 64, 30, 128, 128, 60 };
    static const double blocks[] = { 64, 8 }, threads[] = { 64, 256 }, shared[] = { 64, 0 };
    const double count[] = { 64, per_thread };
    const lab_setup setup = {
        LAB_TABLES(
            LAB_TABLE("gemm_grid_us.float32", grid), LAB_TABLE("gemm_blocks.float32", blocks),
            LAB_TABLE("gemm_threads.float32", threads), LAB_TABLE("gemm_registers.float32", count),
            LAB_TABLE("gemm_shared_bytes.float32", shared)),
    };
    lab l;
    lab_open(&l, &setup);
    sl_tensor *a = lab_tensor(&l, SL_ON_DEVICE, SL_FLOAT32, 64, 64);
    for (int i = 1; i <= 2; i++) {
        sl_tensor *out = lab_tensor(&l, SL_ON_DEVICE, SL_FLOAT32, 64, 64);
        l.failed += launch_matmul(out, a, a, false, l.stream[i], NULL) != SL_OK;
    }
    lab_end(&l);
    is_int(lab_span(&l, 0)->registers, (int64_t)per_thread, "the timeline tells what was asked");
    LAB_STARTS(&l, name, 0, start_ns);
    lab_close(&l);
}

int main(void)
{
    plan(0);
    small_splits();
    an_idle_sm();
    behind_it();
    free_bytes(7168, 0, "of a split that is large enough the free bytes count");
    free_bytes(7169, 1000, "and not what the split would hold without the others");
    registers(80, 0, "three blocks of 256 x 80 registers fit on an SM");
    registers(81, 10000, "of 256 x 81 two: a thread takes 88, registers come in eights");
    return done_testing();
}
