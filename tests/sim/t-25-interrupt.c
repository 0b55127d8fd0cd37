/* t-25-interrupt.c - the user stops what takes long: values are computed later as if nothing had
 * been, and virtual time goes on. */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include <stdlib.h>

#include "../../core/sim/interrupt_flag.h"
#include "../../core/sim/value_node.h"
#include "../tap.h"
#include "small_gpu.h"

enum { LARGE = 300000 }; /* elements: several pieces of work */

static volatile sig_atomic_t wish;

static sl_work kernel(sl_kernel which, int64_t m, int64_t n, double scalar)
{
    return (sl_work){ .kind = SL_WORK_KERNEL,
                      .kernel = (uint8_t)which,
                      .dtype = SL_FLOAT32,
                      .m = m,
                      .n = n,
                      .k = 1,
                      .scalar = scalar,
                      .seed = 1,
                      .sequence = 2 };
}

/* A literal that nobody else holds, so that its memory is taken. */
static sim_value *counting(int64_t n)
{
    float *x = malloc(4 * (size_t)n);
    for (int64_t i = 0; x && i < n; i++)
        x[i] = (float)(i % 1000);
    sim_value *value = sim_value_write(sim_value_bytes_set(4 * (size_t)n, 0), 0, 4 * (size_t)n, x,
                                       NULL);
    free(x);
    return value;
}

/* The work on `in`, which is given away. */
static sim_value *apply(const sl_work *work, size_t bytes, sim_value *in0, sim_value *in1)
{
    sim_value *value = sim_value_apply(work, bytes, SIM_VALUES(in0, in1), NULL);
    sim_value_release(in0);
    if (in1 != in0) sim_value_release(in1);
    return value;
}

static float at(sim_value *value, int64_t i)
{
    float x = -1;
    return sim_value_read(value, 4 * (size_t)i, 4, &x, NULL) == SL_OK ? x : -1;
}

/* Reads with the wish set: so many times it must fail. */
static void is_stopped(sim_value *value, int times, const char *what)
{
    float x;
    int stopped = 0;
    wish = 1;
    for (int i = 0; i < times; i++)
        stopped += sim_value_read(value, 0, 4, &x, NULL) == SL_EINTERRUPT;
    wish = 0;
    is_int(stopped, times, "%s is stopped", what);
    ok(!sim_value_is_computed(value), "and is still to be computed");
}

/* `v` after so many rounds in place, as the engine has them: captured. */
static sim_value *in_place(const sl_work *work, sim_value *v, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        sim_value *next = sim_value_apply(work, v->bytes, SIM_VALUES(sim_value_retain(v)), v);
        sim_value_release(v);
        sim_value_release(v);
        v = next;
    }
    return v;
}

/* The memory of an input is used again for what takes a moment. Half of that cannot be kept, so it
 * is done to its end. */
static void elementwise_in_place(void)
{
    const sl_work add = kernel(SL_KERNEL_ADD_SCALAR, 1, LARGE, 5);
    const sl_work root = kernel(SL_KERNEL_POW, 1, LARGE, 0.5);
    sim_value *v = apply(&add, 4 * LARGE, counting(LARGE), NULL), *kept;
    float x;
    wish = 1;
    is_double(at(v, 7), 12, 0, "an elementwise kernel in place ends by itself");
    v = in_place(&root, in_place(&add, v, 1), 1);
    is_int(sim_value_read(v, 0, 4, &x, NULL), SL_EINTERRUPT, "before the next one it is stopped");
    wish = 0;
    is_double(at(v, 19), 5.385165, 1e-5, "nothing is computed twice");
    is_double(at(v, LARGE - 1), 31.764760, 1e-5, "or left out");
    sim_value_release(v);

    kept = counting(LARGE);
    v = apply(&add, 4 * LARGE, sim_value_retain(kept), NULL);
    is_stopped(v, 2, "one whose input is held by somebody else");
    is_double(at(v, LARGE - 1), 1004, 0, "and begins anew");
    is_double(at(kept, LARGE - 1), 999, 0, "from the input as it was");
    sim_value_release(v);
    sim_value_release(kept);

    const sl_work mul = kernel(SL_KERNEL_MUL, 1, 1 << 20, 0);
    const sl_work fill = kernel(SL_KERNEL_FILL, 1, 1 << 20, 2);
    sim_value *twos = sim_value_apply(&fill, 4 << 20, SIM_VALUES(NULL), NULL);
    v = apply(&mul, 4 << 20, counting(1 << 20), twos);
    is_stopped(v, 2, "one with 4 MiB of a constant");
    is_double(at(v, 1048575), 1150, 0, "and is right when it is let");
    sim_value_release(v);
}

static void repeated(void)
{
    const sl_work add = kernel(SL_KERNEL_ADD_SCALAR, 1, LARGE, 1);
    const sl_work small = kernel(SL_KERNEL_ADD_SCALAR, 1, 1, 1);
    sim_value *v = in_place(&add, counting(LARGE), 2000), *one = in_place(&small, counting(1), 5);
    is_stopped(v, 2, "a kernel that is applied for long, over and over,");
    is_double(at(v, 7), 2007, 0, "and begins anew");
    wish = 1;
    is_double(at(one, 0), 5, 0, "for a moment it is not");
    wish = 0;
    sim_value_release(v);
    sim_value_release(one);
    one = in_place(&small, counting(1), 1);
    one->as.recipe.job.times = 1000000000;
    is_stopped(one, 2, "a kernel of one element a thousand million times");
    sim_value_release(one);
}

static void others(void)
{
    const sl_work softmax = kernel(SL_KERNEL_SOFTMAX, 3000, 100, 0);
    const sl_work sum = kernel(SL_KERNEL_SUM, 1, LARGE, 0);
    const sl_work randn = kernel(SL_KERNEL_RANDN, 1, LARGE, 0);
    const sl_work add = kernel(SL_KERNEL_ADD_SCALAR, 1, LARGE, 1);
    sim_value *v = apply(&softmax, 4 * LARGE, sim_value_bytes_set(4 * LARGE, 0), NULL);
    is_stopped(v, 2, "softmax");
    is_double(at(v, 0), 0.01, 1e-9, "of equal numbers");
    sim_value_release(v);
    v = apply(&softmax, 4 * LARGE, counting(LARGE), NULL);
    is_stopped(v, 2, "softmax of different ones");
    double rows = 0;
    for (int64_t i = LARGE - 100; i < LARGE; i++)
        rows += at(v, i);
    is_double(rows, 1, 1e-5, "whose rows add up to 1 all the same");
    sim_value_release(v);
    v = apply(&sum, 4, counting(LARGE), NULL);
    is_stopped(v, 1, "a sum");
    is_double(at(v, 0), 300 * 499500.0, 8, "is not added to twice");
    sim_value_release(v);
    v = apply(&add, 4 * LARGE, sim_value_apply(&randn, 4 * LARGE, SIM_VALUES(NULL), NULL), NULL);
    is_stopped(v, 1, "making random numbers");
    sim_value *same = apply(&add, 4 * LARGE,
                            sim_value_apply(&randn, 4 * LARGE, SIM_VALUES(NULL), NULL), NULL);
    is_double(at(v, LARGE / 2), at(same, LARGE / 2), 0, "which are the same afterwards");
    sim_value_release(v);
    sim_value_release(same);
}

static void products(void)
{
    sl_work matmul = kernel(SL_KERNEL_MATMUL, 200, 200, 0);
    matmul.k = 200;
    setenv("STREAMLAB_BLAS", "none", 1);
    for (int tf32 = 0; tf32 < 2; tf32++) {
        matmul.flags = tf32 ? SL_WORK_TF32 : 0;
        sim_value *ones = sim_value_bytes_set(160000, 0);
        float x[200];
        for (int i = 0; i < 200; i++)
            x[i] = 1;
        ones = sim_value_write(ones, 0, sizeof x, x, NULL); /* the first row */
        sim_value *v = apply(&matmul, 160000, counting(40000), ones);
        is_stopped(v, 2, tf32 ? "a product in TF32" : "a product");
        is_double(at(v, 200 * 3 + 5), 600, 0, "and is right when it is let");
        sim_value_release(v);
    }
}

/* A patch on random numbers that nobody else wants. */
static void splices(void)
{
    const sl_work rand = kernel(SL_KERNEL_RAND, 1, LARGE, 0);
    sim_value *noise = sim_value_apply(&rand, 4 * LARGE, SIM_VALUES(NULL), NULL);
    sim_value *base = counting(LARGE);
    sim_value *v = sim_value_splice(base, 400, noise, 400, 4 * LARGE - 400);
    sim_value_release(base); /* its memory is taken, and given back */
    is_stopped(v, 2, "copying random numbers");
    is_double(at(v, 7), 7, 0, "what was there before stays");
    is_double(at(v, LARGE - 1), at(noise, LARGE - 1), 0, "and the rest is copied");
    sim_value_release(v);
    sim_value_release(noise);
}

static void what_is_small(void)
{
    const sl_work add = kernel(SL_KERNEL_ADD_SCALAR, 1, 100, 1);
    sim_value *v = apply(&add, 400, counting(100), NULL);
    wish = 1;
    is_double(at(v, 7), 8, 0, "what is small is computed in any case");
    wish = 0;
    sim_value_release(v);
}

/* ---- waits -------------------------------------------------------------------------- */

static sl_status spin_in(sl_stream *stream, int n)
{
    const sl_spin_options options = { .duration_ns = 1000, .blocks = 1 };
    sl_status status = SL_OK;
    for (int i = 0; i < n && status == SL_OK; i++)
        status = sl_spin(&options, stream, NULL);
    return status;
}

static sl_status spin(sl_device *device, int n)
{
    return spin_in(sl_device_default_stream(device), n);
}

static int64_t in_flight(sl_device *device)
{
    sl_device_stats stats;
    sl_device_get_stats(device, &stats);
    return stats.ops_in_flight;
}

static void waits(void)
{
    sl_error err = { .msg = "" };
    sl_device *device = small_gpu_open(NULL, 0, &err);
    bool done;
    if (!ok(device != NULL, "a GPU opens")) return;
    spin(device, 10);
    sl_interrupt(true);
    is_int(sl_device_synchronize(device, NULL), SL_OK, "a short wait ends by itself");
    sl_interrupt(false);
    int64_t start_ns = sl_device_host_now_ns(device);
    spin(device, 10000);
    sl_interrupt(true);
    is_int(sl_device_synchronize(device, &err), SL_EINTERRUPT, "a long one is stopped");
    is_str(err.msg, "interrupted", "which it says");
    ok(!sl_interrupt_wanted(), "and the wish is fulfilled");
    int64_t now_ns = sl_device_host_now_ns(device), left = in_flight(device);
    ok(left > 0 && left < 10000, "some of the work has been done");
    is_int(now_ns - start_ns, (10000 - left) * 1000, "and the host has waited for that");
    sl_interrupt(true);
    is_int(sl_stream_synchronize(sl_device_default_stream(device), NULL), SL_EINTERRUPT,
           "a wait for a stream is stopped likewise");
    sl_interrupt(true);
    is_int(sl_device_host_work(device, 100000000, NULL), SL_EINTERRUPT,
           "so is what happens while the host works");
    is_int(sl_stream_query(sl_device_default_stream(device), &done, NULL), SL_OK,
           "the next call goes on from there");
    ok(done, "and finds all done by then");
    is_int(sl_device_synchronize(device, NULL), SL_OK, "then there is nothing to wait for");
    is_int(in_flight(device), 0, "and everything has ended");
    sl_device_drain(device);
    sl_device_release(device);
}

/* The kernel at the queue's head is long; meanwhile another stream has many short ones. */
static void a_full_queue(void)
{
    enum { DEPTH = 2000 };
    const small_override depth[] = { { "launch_queue_depth", DEPTH } };
    const sl_spin_options head = { .duration_ns = 4000000, .blocks = 1 };
    const sl_stream_options apart = { .non_blocking = true };
    sl_device *device = small_gpu_open(depth, 1, NULL);
    sl_stream *other = NULL, *stream = sl_device_default_stream(device);
    sl_stream_create(device, &apart, &other, NULL);
    spin_in(other, DEPTH);
    sl_spin(&head, stream, NULL);
    is_int(spin(device, DEPTH - 1), SL_OK, "a queue is filled");
    sl_interrupt(true);
    is_int(spin(device, 1), SL_EINTERRUPT, "a call that waits for room is stopped");
    is_int(sl_stream_in_flight(stream), DEPTH, "and has not been made");
    is_int(spin(device, 1), SL_OK, "it can be made again");
    is_int(sl_device_host_now_ns(device), 4000 * 1000, "when there is room");
    is_int(sl_device_synchronize(device, NULL), SL_OK, "and the device goes on");
    is_int(sl_device_host_now_ns(device), 4000 * 1000 + DEPTH * 1000, "to the same end");
    sl_stream_release(other);
    sl_device_drain(device);
    sl_device_release(device);
}

/* ---- launches that repeat one another ---- */

/* x = 2 x + 1, during whose second run the user has had enough. */
typedef struct doubling {
    int runs;
} doubling;

static sl_status double_it(void *ud, const uint32_t grid[3], const uint32_t block[3],
                           const sl_compute_arg *args, size_t n, sl_error *err)
{
    doubling *d = ud;
    (void)grid, (void)block, (void)n, (void)err;
    args[0].values[0] = 2 * args[0].values[0] + 1;
    if (++d->runs == 2) sl_interrupt(true);
    return SL_OK;
}

/* From 0, n runs give 2^n - 1. */
static void launches_that_repeat(void)
{
    const char *const args[] = { "inout f32*" };
    const sl_custom_launch once = { { 1, 1, 1 }, { 1, 1, 1 }, 0, false, -1, -1, -1, -1 };
    doubling d = { 0 };
    const sl_custom_spec spec = {
        .name = "own", .args = args, .n_args = 1, .compute = double_it, .compute_ud = &d
    };
    const sl_tensor_spec one = { .dtype = SL_FLOAT32, .ndim = 1, .dim = { 1 } };
    sl_device *device = small_gpu_open(NULL, 0, NULL);
    sl_stream *stream = sl_device_default_stream(device);
    sl_custom *kernel = NULL;
    sl_custom_arg x = { .tensor = NULL };
    char *log = NULL;
    double found = -1;
    sl_custom_create(device, &spec, &kernel, &log, NULL);
    sl_tensor_create(device, &one, stream, &x.tensor, NULL);
    sl_tensor_fill(x.tensor, 0, stream, NULL);
    for (int i = 0; i < 3; i++)
        sl_custom_launch_in(kernel, &once, &x, 1, stream, NULL);
    is_int(sl_tensor_read(x.tensor, 0, 1, &found, stream, NULL), SL_EINTERRUPT,
           "launches that repeat one another are stopped between two of them");
    sl_custom_launch_in(kernel, &once, &x, 1, stream, NULL);
    is_int(sl_tensor_read(x.tensor, 0, 1, &found, stream, NULL), SL_OK, "and go on");
    is_int(d.runs, 4, "with the one left, and one that was launched then");
    is_double(found, 15, 0, "each of which does its part");
    sl_tensor_release(x.tensor);
    sl_custom_release(kernel);
    sl_device_drain(device);
    sl_device_release(device);
}

int main(void)
{
    plan(0);
    sim_interrupt_flag = &wish;
    elementwise_in_place();
    repeated();
    others();
    products();
    splices();
    what_is_small();
    waits();
    a_full_queue();
    launches_that_repeat();
    return done_testing();
}
