/* Products whose sums are split: a second kernel adds up what the first one left. */
#include "lab.h"

/* A product of 64 x 64 x 64 takes 10 us. Its second kernel moves 16 bytes an element at 100 bytes
 * a ns, 0.65536 us, and comes 0.5 us behind the first, to which 8.84464 us are left. */
static const double grid[] = { 64, 64, 10, 64, 128, 2, 128, 64, 30, 128, 128, 60 };
static const double kernels[] = { 64, 64, 2, 64, 128, 2, 128, 64, 1, 128, 128, 1 };
static const double blocks[] = { 64, 4 }, threads[] = { 64, 256 }, registers[] = { 64, 32 },
                    shared[] = { 64, 0 };
#define FOOTPRINT                                                                      \
    LAB_TABLE("gemm_grid_us.float32", grid), LAB_TABLE("gemm_blocks.float32", blocks), \
        LAB_TABLE("gemm_threads.float32", threads),                                    \
        LAB_TABLE("gemm_registers.float32", registers),                                \
        LAB_TABLE("gemm_shared_bytes.float32", shared)
#define TWO LAB_TABLES(FOOTPRINT, LAB_TABLE("gemm_kernels.float32", kernels))
#define ONE LAB_TABLES(FOOTPRINT)
#define GAP                  \
    {                        \
        "stream_gap_us", 0.5 \
    }

static void product(lab *l, int stream, int64_t m, int64_t n, int64_t k)
{
    sl_tensor *out = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, m, n);
    sl_tensor *a = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, m, k);
    sl_tensor *b = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, k, n);
    l->failed += launch_matmul(out, a, b, false, l->stream[stream], NULL) != SL_OK;
}

static void alone(void)
{
    const lab_setup setup = { TWO, LAB_MORE(GAP, { "gemm_fixed_us", 1 }) };
    lab l;
    lab_open(&l, &setup);
    product(&l, 1, 64, 64, 64);
    product(&l, 1, 128, 128, 64);
    product(&l, 1, 64, 64, 128);
    lab_spin(&l, 1, 100);
    lab_end(&l);
    is_int(lab_span(&l, 0)->kernels, 2, "it is recorded as two kernels");
    is_int(lab_ns(&l, 0), 10000, "which take together what was measured, the fixed part in it");
    is_int(lab_span(&l, 1)->kernels, 1, "a product is one where the profile says so");
    is_int(lab_ns(&l, 1), 30000, "and takes what was measured");
    is_int(lab_span(&l, 2)->kernels, 1, "a second one is none that would take longer than all");
    is_int(lab_ns(&l, 2), 2000, "of a short product");
    is_int(lab_span(&l, 3)->kernels, 1, "other kernels are one");
    LAB_STARTS(&l, "the stream goes on behind the second", 0, 10500, 41000, 43500);
    lab_close(&l);
}

static int64_t call_ns(const lab *l, size_t span)
{
    return lab_span(l, span)->host_end_ns - lab_span(l, span)->host_start_ns;
}

/* A call costs the host 10 us, three times as much for products of about 128, and 1 us for a second
 * kernel. */
static void calls(void)
{
    static const double host[] = { 64, 1, 128, 3 };
    const lab_setup setup = {
        LAB_TABLES(FOOTPRINT, LAB_TABLE("gemm_kernels.float32", kernels),
                   LAB_TABLE("gemm_host.float32", host)),
        LAB_MORE({ "host.matmul_us", 10 }, { "host.launch_us", 1 }),
    };
    lab l;
    lab_open(&l, &setup);
    product(&l, 1, 64, 64, 64);
    product(&l, 1, 128, 128, 128);
    lab_end(&l);
    is_int(call_ns(&l, 0), 11000, "a second kernel is one more launch");
    is_int(call_ns(&l, 1), 30000, "a product's call costs what gemm_host says of its size");
    lab_close(&l);
}

/* A kernel that fills the SMs has come while the first one runs. */
static void who_comes_meanwhile(const lab_setup *setup, int64_t other_ns, int64_t end_ns,
                                const char *name)
{
    lab l;
    lab_open(&l, setup);
    product(&l, 1, 64, 64, 64);
    lab_spin_blocks(&l, 2, 20000, 4, 1024);
    lab_end(&l);
    LAB_STARTS(&l, name, 0, other_ns);
    is_int(lab_span(&l, 0)->end_ns, end_ns, "and the product ends accordingly");
    lab_close(&l);
}

static void behind_others(void)
{
    const lab_setup two = { TWO, LAB_MORE(GAP) }, one = { ONE, LAB_MORE(GAP) };
    who_comes_meanwhile(&two, 8844, 29500, "what has come meanwhile is before the second kernel");
    who_comes_meanwhile(&one, 10000, 10000, "and after the whole product, if it is one");
}

/* 512 threads beside the first kernel's 256, and beside the second's. */
static void with_room(void)
{
    const lab_setup setup = { TWO, LAB_MORE(GAP) };
    lab l;
    lab_open(&l, &setup);
    product(&l, 1, 64, 64, 64);
    lab_spin_blocks(&l, 2, 20000, 4, 512);
    lab_end(&l);
    LAB_STARTS(&l, "a kernel that leaves room comes beside the first", 0, 0);
    is_int(lab_span(&l, 0)->end_ns, 10000, "and holds up no second one");
    lab_close(&l);
}

/* Two streams in one channel. */
static void next_of_the_channel(const lab_setup *setup, int64_t start_ns, const char *name)
{
    lab l;
    lab_open(&l, setup);
    product(&l, 1, 64, 64, 64);
    lab_spin(&l, 2, 100);
    lab_end(&l);
    LAB_STARTS(&l, name, 0, start_ns);
    lab_close(&l);
}

static void channels(void)
{
    const lab_setup two = { TWO, LAB_MORE(GAP, { "connections", 1 }) };
    const lab_setup one = { ONE, LAB_MORE(GAP, { "connections", 1 }) };
    next_of_the_channel(&two, 9344,
                        "a product leaves its channel when the second kernel is placed");
    next_of_the_channel(&one, 0, "at once, if it is one");
}

int main(void)
{
    plan(0);
    alone();
    calls();
    behind_others();
    with_room();
    channels();
    return done_testing();
}
