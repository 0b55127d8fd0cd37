/* t-33-waves.c - kernels of many waves: the simulator leaps over waves that are like the last
 * ones, and nothing comes out different. How far it goes at a time is counted in points in time
 * (sim_device.steps); where the host looks at the device every few waves there is nothing to
 * leap over. Before leaping the huge kernels here took minutes to years, until the time limit of
 * tests/run. */
#include <inttypes.h>

#include "../../core/sim/sim.h"
#include "lab.h"

static uint64_t steps_of(const lab *l) { return ((const sim_device *)l->device)->machine->steps; }

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* ---- the same with and without leaps ------------------------------------------------ */

/* AT_ONCE: the blocks that the GPU holds. */
enum { MIXES = 12, OPS = 10, STREAMS = 6, LOOK_NS = 1500, AT_ONCE = 4 * 8 };

static const lab_setup small_mix = {
    LAB_MORE({ "memory_bytes", 1e12 }, { "stream_gap_us", 0.7 }, { "shared_reserved_bytes", 1024 },
             { "gemm_fixed_us", 0.3 }),
};

static sl_stream *urgent(lab *l, int level)
{
    sl_stream_options options = { .non_blocking = true, .priority = -level };
    sl_stream *stream = NULL;
    l->failed += sl_stream_create(l->device, &options, &stream, NULL) != SL_OK;
    return stream;
}

static void random_spin(lab *l, sl_stream *stream, uint32_t *random)
{
    sl_spin_options spin = {
        .duration_ns = 1000 + 37 * (int64_t)(next_random(random) % 60),
        .blocks = 1 + (int64_t)(next_random(random) % 2 * (next_random(random) % 600)),
        .threads = 32 << next_random(random) % 6,
        .shared_bytes = (int64_t)(next_random(random) % 4) * 9000,
    };
    l->failed += sl_spin(&spin, stream, NULL) != SL_OK;
}

/* On memory that nobody reads. */
static void random_kernel(lab *l, sl_stream *stream, uint32_t *random)
{
    int64_t n = 1 + (int64_t)(next_random(random) % 1500000);
    sl_tensor *a = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, 1, n);
    if (next_random(random) % 2)
        l->failed += launch_number(SL_KERNEL_POW, a, a, next_random(random) % 2 ? 2 : 2.5, stream,
                                   NULL)
                     != SL_OK;
    else
        l->failed += sl_cuda_memset_async(a, 0, (size_t)n, stream, NULL) != SL_OK;
}

static void random_product(lab *l, sl_stream *stream, uint32_t *random)
{
    int64_t side = 128 * (1 + (int64_t)(next_random(random) % 12)), k = side / 4;
    sl_tensor *a = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, side, k);
    sl_tensor *b = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, k, side);
    sl_tensor *c = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, side, side);
    l->failed += launch_matmul(c, a, b, next_random(random) % 2, stream, NULL) != SL_OK;
}

/* Of some more waves than are gone through one by one. */
static void long_spin(lab *l, sl_stream *stream, uint32_t *random)
{
    sl_spin_options spin = {
        .duration_ns = 1000 + 37 * (int64_t)(next_random(random) % 60),
        .blocks = AT_ONCE * (4300 + (int64_t)(next_random(random) % 3000)),
        .threads = 32 << next_random(random) % 4,
    };
    l->failed += sl_spin(&spin, stream, NULL) != SL_OK;
}

static void long_kernel(lab *l, sl_stream *stream, uint32_t *random)
{
    int64_t n = 1024 * AT_ONCE * (4300 + (int64_t)(next_random(random) % 3000));
    sl_tensor *a = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, 1, n);
    l->failed += launch_number(SL_KERNEL_POW, a, a, 2.5, stream, NULL) != SL_OK;
}

static void random_op(lab *l, sl_stream *stream, uint32_t *random)
{
    switch (next_random(random) % 6) {
    case 0: random_kernel(l, stream, random); break;
    case 1: random_product(l, stream, random); break;
    case 2: lab_h2d(l, 1, 1 + next_random(random) % 900000); break;
    default: random_spin(l, stream, random); break;
    }
}

typedef struct outcome {
    sl_timeline *timeline;
    int failed;
    uint64_t steps;
} outcome;

static int64_t in_flight(const lab *l)
{
    sl_device_stats stats;
    sl_device_get_stats(l->device, &stats);
    return stats.ops_in_flight;
}

/* `look_ns`: the host looks so often; 0: never before the end. */
static outcome run_mix(uint32_t seed, int64_t look_ns)
{
    uint32_t random = seed;
    sl_stream *stream[STREAMS];
    lab l;
    lab_open(&l, &small_mix);
    for (int i = 0; i < STREAMS; i++)
        stream[i] = urgent(&l, i % 3);
    for (int i = 0; i < OPS; i++) {
        sl_stream *in = stream[next_random(&random) % STREAMS];
        (i == 1 ? long_spin : i == 4 ? long_kernel : random_op)(&l, in, &random);
        if (next_random(&random) % 3 == 0)
            lab_host_work(&l, 50 * (int64_t)(next_random(&random) % 1000));
    }
    while (look_ns > 0 && in_flight(&l) > 0)
        lab_host_work(&l, look_ns);
    l.failed += sl_device_synchronize(l.device, NULL) != SL_OK;
    sl_record_stop(l.device, l.timeline);
    outcome o = { sl_timeline_retain(l.timeline), l.failed, steps_of(&l) };
    for (int i = 0; i < STREAMS; i++)
        sl_stream_release(stream[i]);
    lab_close(&l);
    return o;
}

static bool same_spans(const sl_timeline *a, const sl_timeline *b)
{
    size_t n, other_n;
    const sl_span *x = spans_of(a, &n), *y = spans_of(b, &other_n);
    bool same = n == OPS && other_n == OPS;
    for (size_t i = 0; same && i < n; i++) {
        same = x[i].start_ns == y[i].start_ns && x[i].end_ns == y[i].end_ns;
        if (!same)
            diag("span %zu: %" PRId64 " to %" PRId64 " ns with leaps, %" PRId64 " to %" PRId64
                 " without",
                 i, x[i].start_ns, x[i].end_ns, y[i].start_ns, y[i].end_ns);
    }
    return same;
}

static bool same_holds(const sl_timeline *a, const sl_timeline *b)
{
    size_t n, other_n;
    const sl_hold *x = holds_of(a, &n), *y = holds_of(b, &other_n);
    bool same = n == OPS && other_n == OPS;
    for (size_t i = 0; same && i < n; i++)
        same = x[i].ready_ns == y[i].ready_ns && x[i].ready_cause == y[i].ready_cause
               && x[i].ready_by == y[i].ready_by && x[i].start_cause == y[i].start_cause
               && x[i].start_by == y[i].start_by;
    return same;
}

static void mixes(void)
{
    uint64_t with = 0, without = 0;
    int different = 0, failed = 0;
    for (uint32_t seed = 1; seed <= MIXES; seed++) {
        outcome a = run_mix(seed * 7919u, 0), b = run_mix(seed * 7919u, LOOK_NS);
        bool same = same_spans(a.timeline, b.timeline) && same_holds(a.timeline, b.timeline);
        failed += a.failed + b.failed;
        if (!same && different++ == 0) diag("first difference with seed %u", seed);
        with += a.steps;
        without += b.steps;
        sl_timeline_release(a.timeline);
        sl_timeline_release(b.timeline);
    }
    is_int(failed, 0, "all calls succeed");
    is_int(different, 0,
           "%d random mixes of kernels and copies, and what holds them, are "
           "as when the host looks at every wave",
           MIXES);
    diag("points in time: %" PRIu64 " with leaps, %" PRIu64 " without", with, without);
    ok(10 * with < without, "with less than a tenth of the points in time");
}

/* ---- huge kernels --------------------------------------------------------------------- */

enum { HUGE_ELEMS_LOG2 = 50 };

static const lab_setup slow_memory = {
    LAB_MORE({ "memory_bytes", INFINITY }, { "hbm_gb_per_s", 80 }, { "l2_gb_per_s", 80 }),
};
static const lab_setup huge = { LAB_MORE({ "memory_bytes", INFINITY }) };

static void lab_pow(lab *l, int stream, int log2_elems, double exponent)
{
    sl_tensor *a = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, 1, INT64_C(1) << log2_elems);
    l->failed += launch_number(SL_KERNEL_POW, a, a, exponent, l->stream[stream], NULL) != SL_OK;
}

/* n blocks of 1000 ns, AT_ONCE at a time. */
static int64_t waves_ns(int64_t n) { return (n + AT_ONCE - 1) / AT_ONCE * 1000; }

static void has_few_steps(const lab *l, uint64_t most, const char *what)
{
    if (!ok(steps_of(l) <= most, "%s: at most %" PRIu64 " points in time", what, most))
        diag("they are %" PRIu64, steps_of(l));
}

/* The second one's blocks fill what the first one's last wave leaves. */
static void one_behind_the_other(void)
{
    lab l;
    lab_open(&l, &huge);
    lab_spin_blocks(&l, 1, 1000, INT32_MAX - 2, 32);
    lab_spin_blocks(&l, 2, 1000, INT32_MAX, 32);
    lab_end(&l);
    int64_t last_wave_ns = waves_ns(INT32_MAX - 2) - 1000;
    is_int(lab_span(&l, 0)->end_ns, last_wave_ns + 1000, "a kernel of 2^31 - 3 blocks");
    is_int(lab_span(&l, 1)->start_ns, last_wave_ns, "another one begins in its last wave");
    is_int(lab_span(&l, 1)->end_ns, waves_ns(2 * (int64_t)INT32_MAX - 2), "and ends after as many");
    has_few_steps(&l, 60, "two kernels");
    lab_close(&l);
}

/* The memory moves 8 bytes an element. */
static void fills(void)
{
    const int64_t bytes = INT64_C(8) << HUGE_ELEMS_LOG2, bytes_per_s = INT64_C(100000000000);
    lab l;
    lab_open(&l, &huge);
    lab_pow(&l, 1, HUGE_ELEMS_LOG2, 2);
    lab_pow(&l, 2, HUGE_ELEMS_LOG2, 2);
    lab_end(&l);
    is_int(lab_span(&l, 0)->end_ns / 1000000000, bytes / bytes_per_s,
           "2^50 elements take their bytes' time");
    is_int(lab_span(&l, 1)->end_ns / 1000000000, 2 * bytes / bytes_per_s,
           "and as many in another stream, too");
    has_few_steps(&l, 60, "two elementwise kernels");
    lab_close(&l);
}

/* A product of one tile, which takes an hour and a half. */
static void lab_long_tile(lab *l, int stream)
{
    sl_tensor *a = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, 32, INT64_C(1) << 40);
    sl_tensor *b = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, INT64_C(1) << 40, 32);
    sl_tensor *c = lab_tensor(l, SL_ON_DEVICE, SL_FLOAT32, 32, 32);
    l->failed += launch_matmul(c, a, b, false, l->stream[stream], NULL) != SL_OK;
}

/* One SM has more tiles than the others beside the huge kernel's blocks and is slower: the SMs keep
 * no common time. Where the memory is short as well, sums do not come out even, and some 2^18
 * waves are gone through before the rest is leapt over. */
static void slower_on_one(const lab_setup *setup, int tiles, uint64_t most)
{
    lab l;
    lab_open(&l, setup);
    for (int i = 0; i < tiles; i++)
        lab_long_tile(&l, 2 + i);
    lab_pow(&l, 1, HUGE_ELEMS_LOG2, 2.5);
    lab_end(&l);
    ok(lab_span(&l, (size_t)tiles)->start_ns == 0, "a huge kernel runs beside %d products", tiles);
    has_few_steps(&l, most, "these");
    lab_close(&l);
}

/* Urgent kernels come in between, others wait, copies go on; each is an event or two. */
static void many_beside(void)
{
    enum { N = 100 };
    lab l;
    lab_open(&l, &huge);
    sl_stream *high = urgent(&l, 2);
    sl_tensor *to = lab_bytes(&l, SL_ON_DEVICE, 1000000), *from = lab_bytes(&l, SL_PINNED, 1000000);
    lab_spin_blocks(&l, 1, 1000, INT32_MAX, 32);
    for (int i = 0; i < N; i++) {
        sl_spin_options spin = { .duration_ns = 1500, .blocks = 3 };
        l.failed += sl_spin(&spin, high, NULL) != SL_OK;
        lab_copy(&l, 2, to, from, 1000000);
        lab_spin(&l, 3 + i % 20, 700);
        if (i % 4 == 0) lab_host_work(&l, 12345678);
    }
    lab_end(&l);
    is_int(lab_span(&l, 1)->start_ns, 1000, "an urgent kernel comes in at the end of a wave");
    ok(lab_span(&l, 3)->start_ns > waves_ns(INT32_MAX) - 1000, "others wait for the last one");
    has_few_steps(&l, 60 * N, "a huge kernel beside 300 operations");
    sl_stream_release(high);
    lab_close(&l);
}

static void no_time_at_all(void)
{
    lab l;
    lab_open(&l, &huge);
    lab_spin_blocks(&l, 1, 0, INT32_MAX, 32);
    lab_end(&l);
    is_int(lab_span(&l, 0)->end_ns, 0, "2^31 - 1 blocks that take no time take none");
    has_few_steps(&l, 2, "they");
    lab_close(&l);
}

static void the_end_of_time(void)
{
    sl_error err = { 0 };
    lab l;
    lab_open(&l, &huge);
    for (int i = 0; i < 10; i++)
        lab_pow(&l, 1 + i % 3, 56, 2);
    is_int(sl_device_synchronize(l.device, &err), SL_ESTATE, "what lasts beyond the end of time");
    is_str(err.msg, "virtual time has passed 46 days; open a new device", "says so");
    has_few_steps(&l, 500, "until then");
    lab_end(&l);
    lab_close(&l);
}

/* Four portions of 1000 ns, which are two points in time with the kernel's arrival. */
static void portions(void)
{
    lab l;
    lab_open(&l, &huge);
    lab_spin_blocks(&l, 1, 1000, 3 * AT_ONCE + 1, 32);
    lab_end(&l);
    is_int(lab_span(&l, 0)->end_ns, 4000, "a kernel that fills the GPU three times");
    has_few_steps(&l, 2, "it");
    lab_close(&l);
}

/* Whoever comes while it runs waits for its last portion, which leaves room. */
static void comes_during_portions(int64_t at_ns, bool in_its_stream)
{
    lab l;
    lab_open(&l, &huge);
    lab_spin_blocks(&l, 1, 1000, 3 * AT_ONCE + 1, 32);
    lab_host_work(&l, at_ns);
    lab_spin(&l, in_its_stream ? 1 : 2, 100);
    lab_end(&l);
    const int64_t free_ns = in_its_stream ? 4000 : 3000;
    is_int(lab_span(&l, 0)->end_ns, 4000, "with one behind it at %d ns it takes as long",
           (int)at_ns);
    is_int(lab_span(&l, 1)->start_ns, sl__max(at_ns, free_ns), "that one waits for room%s",
           in_its_stream ? ", and its stream" : "");
    lab_close(&l);
}

int main(void)
{
    plan(0);
    mixes();
    portions();
    for (int at_ns = 0; at_ns <= 3500; at_ns += 500)
        for (int in_its_stream = 0; in_its_stream <= 1; in_its_stream++)
            comes_during_portions(at_ns, in_its_stream);
    one_behind_the_other();
    fills();
    slower_on_one(&huge, 1, 100);
    slower_on_one(&slow_memory, 5, 300000);
    many_beside();
    no_time_at_all();
    the_end_of_time();
    return done_testing();
}
