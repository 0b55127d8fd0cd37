/* How long custom kernels take, alone and beside each other. 4 SMs of 2048 threads and 228 KiB of
 * shared memory, 1 TFLOPS (a million operations a us) and 100 GB/s (100,000 bytes a us). Threads
 * wait for nothing but in as_waited(). */
#include "lab.h"

#define CHIP                                                                     \
    { "max_threads_per_sm", 2048 }, { "max_blocks_per_sm", 32 },                 \
        { "shared_bytes_per_sm", 233472 }, { "shared_bytes_per_block", 232448 }, \
    {                                                                            \
        "shared_reserved_bytes", 1024                                            \
    }

#define GPU \
    CHIP, { "thread.operation_ns", 0 }

static const lab_setup plain = { LAB_MORE(GPU) };
static const lab_setup cached = { LAB_MORE(GPU, { "l2_bytes", 8e6 }, { "l2_gb_per_s", 200 }) };
static const lab_setup half_rate = { LAB_MORE(GPU, { "gemm_efficiency.float32", 0.5 }) };
static const lab_setup starting = { LAB_MORE(GPU, { "block_start_ns", 2 }) };
#define WAITING                                                                                    \
    CHIP, { "thread.operation_ns", 1.536 }, { "thread.shared_ns", 24.576 }, { "thread.l1_ns", 5 }, \
        { "thread.l2_ns", 30 },                                                                    \
    {                                                                                              \
        "thread.memory_ns", 60                                                                     \
    }
static const lab_setup waiting = { LAB_MORE(WAITING) };
static const lab_setup waiting_cached = { LAB_MORE(WAITING, { "l2_bytes", 8e6 },
                                                   { "l2_gb_per_s", 200 }) };
static const lab_setup slow_end = { LAB_MORE(GPU, { "kernel_fixed_us", 2 }) };

typedef struct given {
    double us, bytes, flops; /* below 0: not given */
} given;
#define US(us) \
    (given) { us, 0, -1 }
#define BYTES(bytes) \
    (given) { -1, bytes, -1 }
#define FLOPS(flops) \
    (given) { -1, 0, flops }

static sl_custom *make(lab *l, const char *const *args, size_t n_args)
{
    const sl_custom_spec spec = { .name = "own", .args = args, .n_args = n_args };
    sl_custom *kernel = NULL;
    char *log;
    sl_error err = { 0 };
    if (sl_custom_create(l->device, &spec, &kernel, &log, &err) != SL_OK) {
        printf("Bail out! %s\n", err.msg);
        exit(1);
    }
    return kernel;
}

static void launch(lab *l, sl_custom *kernel, int stream, int64_t grid, int64_t block,
                   int64_t shared, given cost)
{
    const sl_custom_launch how = {
        .grid = { grid, 1, 1 },
        .block = { block, 1, 1 },
        .shared_bytes = shared,
        .us = cost.us,
        .bytes = cost.bytes,
        .flops = cost.flops,
    };
    sl_error err = { 0 };
    if (sl_custom_launch_in(kernel, &how, NULL, 0, l->stream[stream], &err) == SL_OK) return;
    l->failed++;
    diag("%s", err.msg);
}

/* ---- alone ---- */

enum { KIB = 1024 };

static void alone(const lab_setup *setup, int64_t grid, int64_t block, given cost, int64_t ns,
                  const char *name)
{
    lab l;
    lab_open(&l, setup);
    sl_custom *own = make(&l, NULL, 0);
    launch(&l, own, 1, grid, block, block == 1024 ? 100 * KIB : 0, cost);
    lab_end(&l);
    is_int(lab_ns(&l, 0), ns, "%s", name);
    sl_custom_release(own);
    lab_close(&l);
}

static void as_given(void)
{
    alone(&slow_end, 1, 1024, US(10), 10000, "one block takes what is given");
    alone(&slow_end, 1, 32, US(10), 10000, "one warp");
    alone(&slow_end, 5, 1024, US(10), 10000, "five blocks on four SMs");
    alone(&slow_end, 8, 1024, US(10), 10000, "a full wave");
    alone(&slow_end, 12, 1024, US(10), 10000, "one and a half waves");
    alone(&slow_end, 24, 1024, US(10), 10000, "three waves, which thirds of a ps do not divide");
    alone(&slow_end, 300000, 1024, US(10), 10000, "37500 waves");
    alone(&slow_end, 8, 1024, US(1), 1000, "less than the end of other kernels");
    alone(&slow_end, 4, 512, (given){ 10, 4e6, 4e6 }, 10000,
          "given is given, whatever it moves and computes");
}

static void as_moved(void)
{
    alone(&slow_end, 4, 512, BYTES(1e6), 12000, "bytes: 10 us, and 2 us at the end");
    alone(&plain, 1, 32, BYTES(1e6), 10000, "however few threads, if they do not wait");
    alone(&plain, 400, 512, BYTES(1e6), 10000, "or however many");
    alone(&starting, 5000, 32, BYTES(1e5), 10000, "5000 blocks start, one every 2 ns");
}

static void as_computed(void)
{
    alone(&plain, 4, 512, FLOPS(1e7), 10000, "operations at the chip's rate");
    alone(&half_rate, 4, 512, FLOPS(1e7), 20000, "or at the part of it that products reach");
    alone(&plain, 1, 512, FLOPS(1e7), 40000, "a block has one SM and no more");
    alone(&plain, 5, 512, FLOPS(1e7), 16000, "one of five blocks is the second on its SM");
    alone(&plain, 12, 1024, FLOPS(7.5e5), 12000,
          "with shared memory a sixteenth of the rate; three on each SM, two at a time");
    alone(&plain, 4, 512, (given){ -1, 1e6, 2e7 }, 20000, "the slower of both counts");
    alone(&plain, 4, 512, (given){ -1, 3e6, 2e7 }, 30000, "whichever it is");
}

/* ---- what its threads wait for ---- */

/* The last of `launches` of a kernel with `args`, which are float32 tensors of so many elements. */
static void reads(const lab_setup *setup, int launches, const char *arg, int64_t elems,
                  int64_t grid, double bytes, int64_t ns, const char *name)
{
    const char *const args[] = { arg };
    lab l;
    lab_open(&l, setup);
    sl_custom *own = make(&l, args, 1);
    const sl_custom_arg mine = { .tensor = lab_tensor(&l, SL_ON_DEVICE, SL_FLOAT32, 1, elems) };
    const sl_custom_launch how = { { grid, 1, 1 }, { 500, 1, 1 }, 0, false, -1, bytes, 0, -1 };
    for (int i = 0; i < launches; i++)
        l.failed += sl_custom_launch_in(own, &how, &mine, 1, l.stream[1], NULL) != SL_OK;
    lab_end(&l);
    is_int(lab_ns(&l, (size_t)launches - 1), ns, "%s", name);
    sl_custom_release(own);
    lab_close(&l);
}

/* The root of the sum of squares of two times: what a thread waits, and what the chip takes. */
static void as_waited(void)
{
    alone(&waiting, 4, 512, FLOPS(8e6), 10000, "8 us; 3906.25 operations a thread take 6 us");
    alone(&waiting, 4, 1024, FLOPS(5e5), 8544,
          "with shared memory 8 us; 122.0703125 a thread take 3 us");
    alone(&waiting, 16, 1024, FLOPS(0), 0, "nothing to wait for");
    reads(&waiting, 1, "in f32*", 100000, 4, -1, 5000, "4 us; 50 reads a thread take 3 us");
    reads(&waiting, 1, "inout f32*", 100000, 4, 8e5, 8544,
          "8 us; what is written does not wait: 3 us");
    reads(&waiting, 1, "in f32*", 100000, 4, 1.6e6, 20000, "read four times: 16 us and 12 us");
    reads(&waiting, 1, "out f32*", 100000, 4, -1, 4000, "written only");
    reads(&waiting, 1, "in f32*", 100000, 4, 0, 0, "not read at all");
    reads(&waiting_cached, 1, "in f32*", 100000, 4, -1, 5000, "not in the L2 at first");
    reads(&waiting_cached, 2, "in f32*", 100000, 4, -1, 2500, "then 2 us, and 50 reads 1.5 us");
    reads(&waiting_cached, 2, "in f32*", 1000, 1, 4e4, 250,
          "0.2 us; of 20 reads a tenth from the L2, the others from the SM's cache: 0.15 us");
}

/* ---- a guess ---- */

static void guess(void)
{
    static const char *const args[] = { "in u8*", "out u8*" };
    lab l;
    lab_open(&l, &plain);
    sl_custom *own = make(&l, args, 2);
    const sl_custom_arg arg[] = { { .tensor = lab_bytes(&l, SL_ON_DEVICE, 500000) },
                                  { .tensor = lab_bytes(&l, SL_ON_DEVICE, 1000000) } };
    sl_custom_launch how = { { 4, 1, 1 }, { 512, 1, 1 }, 0, false, -1, -1, -1, -1 };
    l.failed += sl_custom_launch_in(own, &how, arg, 2, l.stream[1], NULL) != SL_OK;
    how.us = 7;
    l.failed += sl_custom_launch_in(own, &how, arg, 2, l.stream[1], NULL) != SL_OK;
    lab_end(&l);
    is_int(lab_ns(&l, 0), 15000, "without a cost each tensor is moved once");
    ok(lab_span(&l, 0)->flags & SL_SPAN_GUESSED, "which the timeline calls a guess");
    is_int(lab_ns(&l, 1), 7000, "with one");
    ok(!(lab_span(&l, 1)->flags & SL_SPAN_GUESSED), "it does not");
    is_int((long long)lab_span(&l, 0)->bytes, 0, "bytes are those of copies alone");
    sl_custom_release(own);
    lab_close(&l);
}

/* ---- side by side ---- */

static void beside(int64_t block, given a, given b, const int64_t end_ns[2], const char *name)
{
    lab l;
    lab_open(&l, &plain);
    sl_custom *own = make(&l, NULL, 0);
    launch(&l, own, 1, 4, block, 0, a);
    launch(&l, own, 2, 4, block, 0, b);
    lab_end(&l);
    LAB_STARTS(&l, name, 0, 0);
    is_int(lab_span(&l, 0)->end_ns, end_ns[0], "  the first one's end");
    is_int(lab_span(&l, 1)->end_ns, end_ns[1], "  the second one's end");
    sl_custom_release(own);
    lab_close(&l);
}

#define ENDS(a, b) \
    (const int64_t[]) { a, b }
static void two(void)
{
    beside(512, US(10), US(10), ENDS(10000, 10000), "two that move nothing run beside each other");
    beside(512, BYTES(1e6), BYTES(1e6), ENDS(20000, 20000), "two that move share the memory");
    beside(512, (given){ 20, 0, 1e7 }, (given){ 20, 0, 1e7 }, ENDS(20000, 20000),
           "two that take half of an SM fit");
    beside(512, (given){ 10, 0, 7.5e6 }, (given){ 10, 0, 7.5e6 }, ENDS(15000, 15000),
           "two that take three quarters of an SM share it");
    beside(512, (given){ 20, 1e6, -1 }, (given){ 20, 1e6, -1 }, ENDS(20000, 20000),
           "two that take half of the bandwidth for as long as is given fit");
    beside(512, (given){ 10, 1e6, -1 }, (given){ 10, 1e6, -1 }, ENDS(20000, 20000),
           "and two that take all of it share it");
}

/* ---- by age ---- */

/* An SM of 1000 slots. The first of two that compute has 900 of them, so that 10 us take 11.111;
 * then the second one has 10 - 1.111 us to go. A kernel of which nothing is known, or that moves,
 * asks for 100; a tenth of that is what it gets at least: 1 us of 10 in 10. */
static void by_age(void)
{
    beside(512, FLOPS(1e7), FLOPS(1e7), ENDS(11111, 20000),
           "of two that compute the first goes on");
    beside(512, FLOPS(1e7), BYTES(1e6), ENDS(10000, 19000), "one that moves waits for the first");
    beside(512, BYTES(1e6), FLOPS(1e7), ENDS(10000, 10000), "unless it was there before");
    beside(512, FLOPS(1e7), US(10), ENDS(10000, 19000), "one of which nothing is known waits");
    beside(512, US(10), FLOPS(1e7), ENDS(19000, 10000), "also if it was there before");
    beside(512, (given){ 10, 0, 9.5e6 }, US(10), ENDS(10000, 15000),
           "what is left suffices for half of its rate");
    beside(512, (given){ 10, 0, 6e6 }, US(10), ENDS(10000, 10000), "beside 600 slots it has all");
    beside(256, (given){ 10, 1e6, 0 }, (given){ 10, 0, 1e7 }, ENDS(19000, 10000),
           "with 8 warps all slots: instructions that never wait, so not even what moves goes on");
}

static void three(void)
{
    lab l;
    lab_open(&l, &plain);
    sl_custom *own = make(&l, NULL, 0);
    for (int i = 1; i <= 3; i++)
        launch(&l, own, i, 4, 512, 0, FLOPS(1e7));
    lab_end(&l);
    LAB_STARTS(&l, "three compute on each SM", 0, 0, 0);
    is_int(lab_span(&l, 0)->end_ns, 12500, "  the first has 800 slots");
    is_int(lab_span(&l, 1)->end_ns, 22222, "  then the second 900: 8.75 us take 9.722");
    is_int(lab_span(&l, 2)->end_ns, 30000, "  and the last one what they leave");
    sl_custom_release(own);
    lab_close(&l);
}

static void spins(void)
{
    lab l;
    lab_open(&l, &plain);
    sl_custom *own = make(&l, NULL, 0);
    launch(&l, own, 1, 4, 512, 0, FLOPS(1e7));
    lab_spin_blocks(&l, 2, 10000, 4, 512);
    lab_end(&l);
    is_int(lab_ns(&l, 1), 10000, "a spin takes its time beside it");
    is_int(lab_ns(&l, 0), 10000, "and takes none of it");
    sl_custom_release(own);
    lab_close(&l);
}

static void half_a_wave(void)
{
    lab l;
    lab_open(&l, &plain);
    sl_custom *own = make(&l, NULL, 0);
    launch(&l, own, 1, 12, 1024, 100 * KIB, US(10));
    launch(&l, own, 2, 4, 1024, 100 * KIB, US(10));
    lab_end(&l);
    LAB_STARTS(&l, "another kernel comes to what the last wave leaves free", 0, 5000);
    sl_custom_release(own);
    lab_close(&l);
}

/* 1e7 operations in four blocks take 10 us with one block on each SM. */
static void fill_up(void)
{
    lab l;
    lab_open(&l, &plain);
    sl_custom *own = make(&l, NULL, 0);
    launch(&l, own, 1, 8, 1024, 0, US(10));
    launch(&l, own, 2, 4, 512, 0, FLOPS(1e7));
    lab_end(&l);
    LAB_STARTS(&l, "blocks that wait for room come to the first SM that has some", 0, 10000);
    is_int(lab_ns(&l, 1), 40000, "  all four to one SM, whose issue slots they share");
    sl_custom_release(own);
    lab_close(&l);
}

static void come_early(void)
{
    lab l;
    lab_open(&l, &plain);
    sl_custom *own = make(&l, NULL, 0);
    launch(&l, own, 1, 4, 1024, 0, US(10));
    launch(&l, own, 2, 4, 512, 0, FLOPS(1e7));
    lab_end(&l);
    LAB_STARTS(&l, "blocks that find room on all SMs are spread", 0, 0);
    is_int(lab_ns(&l, 1), 10000, "  one on each SM");
    sl_custom_release(own);
    lab_close(&l);
}

/* ---- in the L2 ---- */

/* Two launches of 1 MB in a row, the second after `between` bytes were used; how long it takes. */
static int64_t second_ns(const lab_setup *setup, size_t between)
{
    static const char *const args[] = { "in u8*" };
    lab l;
    lab_open(&l, setup);
    sl_custom *own = make(&l, args, 1);
    const sl_custom_arg mine = { .tensor = lab_bytes(&l, SL_ON_DEVICE, 1000000) };
    const sl_custom_arg other = { .tensor = lab_bytes(&l, SL_ON_DEVICE, between) };
    const sl_custom_launch how = {
        .grid = { 4, 1, 1 }, .block = { 512, 1, 1 }, .us = 7, .bytes = -1, .flops = -1, .cold_us = 9
    };
    const sl_custom_arg *const order[] = { &mine, &other, &mine };
    for (int i = 0; i < 3; i++)
        l.failed += sl_custom_launch_in(own, &how, order[i], 1, l.stream[1], NULL) != SL_OK;
    lab_end(&l);
    const int64_t ns = lab_ns(&l, 2);
    sl_custom_release(own);
    lab_close(&l);
    return ns;
}

static void in_l2(void)
{
    is_int(second_ns(&cached, 1000000), 7000, "what an eighth of the L2 ago was used is there");
    is_int(second_ns(&cached, 3000000), 8000, "at half of it, half of it is there");
    is_int(second_ns(&cached, 5000000), 9000, "at three quarters none");
}

/* ---- how many fit ---- */

static void fits(lab *l, sl_custom *own, int threads, int64_t shared, int blocks, const char *name)
{
    int got = -1;
    l->failed += sl_custom_occupancy(own, threads, shared, &got, NULL) != SL_OK;
    is_int(got, blocks, "%s", name);
}

static void occupancy(void)
{
    lab l;
    lab_open(&l, &plain);
    sl_custom *own = make(&l, NULL, 0);
    fits(&l, own, 1024, 100 * KIB, 2, "2 x (100 + 1) KiB of 228");
    fits(&l, own, 1024, 113 * KIB, 2, "2 x (113 + 1) KiB are all of it");
    fits(&l, own, 1024, 113 * KIB + 1, 1, "a byte more");
    fits(&l, own, 96, 0, 21, "2048 threads, by 96");
    fits(&l, own, 65, 0, 21, "65 threads are three warps");
    sl_custom_set_footprint(own, 40, -1);
    fits(&l, own, 256, 0, 6, "40 registers: 48 warps");
    sl_custom_set_footprint(own, 64, 49 * KIB);
    fits(&l, own, 1024, 0, 1, "64 registers: one block of 1024 threads");
    fits(&l, own, 256, 0, 4, "its own 49 KiB count");
    fits(&l, own, 256, 26 * KIB, 3, "and with them what the launch asks for");
    sl_custom_set_footprint(own, 80, 0);
    fits(&l, own, 32, 0, 24, "80 registers: 6 warps on each quarter of the SM");
    lab_end(&l);
    sl_custom_release(own);
    lab_close(&l);
}

int main(void)
{
    plan(0);
    as_given();
    as_moved();
    as_computed();
    as_waited();
    guess();
    two();
    by_age();
    three();
    spins();
    half_a_wave();
    fill_up();
    come_early();
    in_l2();
    occupancy();
    return done_testing();
}
