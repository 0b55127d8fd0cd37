/* t-43-tuning.c - core/tuning.c: when a backend is asked to measure how a product is computed, what is
 * kept of that and found again, and what happens when it cannot. */
#define _GNU_SOURCE /* mkdtemp */
#include "fake_backend.h"

#include <stdio.h>
#include <unistd.h>

static char home[200];

static void remove_all(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", home);
    if (*home && system(command) != 0) diag("%s is left", home);
}

/* ---- a backend that tunes ---- */

static struct {
    int keys, loads, measures;    /* calls */
    bool tuned;                   /* its plan */
    sl_status loading, measuring; /* what the entries give */
    sl_work work;                 /* that was measured */
    const sl_buffer *out, *in[2];
    int version; /* in the key */
} tuner;

static bool plan_tuned(const sl_product *product, sl_tuning *tuning)
{
    (void)product;
    if (tuner.tuned) *tuning = (sl_tuning){ .tuned = true, .ns = 10 };
    return tuner.tuned;
}

static sl_status plan_key(const sl_product *product, char *key, size_t key_bytes, sl_error *err)
{
    (void)err;
    tuner.keys++;
    snprintf(key, key_bytes, "%d: %d %d %d", tuner.version, (int)product->work->m,
             (int)product->work->k, (int)product->work->n);
    return SL_OK;
}

static sl_status plan_load(const sl_product *product, const sl_image *image, sl_tuning *tuning,
                           sl_error *err)
{
    (void)product;
    tuner.loads++;
    if (tuner.loading) return sl_fail(err, tuner.loading, "loading fails as asked");
    tuner.tuned = true;
    *tuning = (sl_tuning){ .tuned = true, .ns = *(const char *)image->data };
    return SL_OK;
}

static sl_status plan_measure(const sl_product *product, sl_image *image, sl_tuning *tuning,
                              sl_error *err)
{
    tuner.measures++;
    if (tuner.measuring) return sl_fail(err, tuner.measuring, "measuring fails as asked");
    tuner.work = *product->work;
    tuner.out = product->side[SL_OUTPUT].buffer;
    for (int i = 0; i < 2; i++)
        tuner.in[i] = product->side[i].buffer;
    tuner.tuned = true;
    *image = (sl_image){ malloc(1), 1 };
    *(char *)image->data = 77;
    *tuning = (sl_tuning){ .tuned = true, .ns = 77 };
    return SL_OK;
}

static sl_backend tuning_backend;
static sl_device *device;
static sl_stream *stream;
static sl_tensor *a, *b, *out;

/* Forgets what was measured, but not what is kept. */
static void forget(void)
{
    const int version = tuner.version;
    memset(&tuner, 0, sizeof tuner);
    tuner.version = version;
}

/* From here on nothing that is kept is found. */
static void forget_all(void)
{
    forget();
    tuner.version++;
}

static sl_status tune(bool again, sl_tuning *tuning, sl_error *err)
{
    const sl_kernel_args args = { .a = a, .b = b, .tf32 = true };
    return sl_tune(&args, again, stream, tuning, err);
}

static sl_status multiply(sl_error *err) { return launch_matmul(out, a, b, true, stream, err); }

/* ---- asked for ---- */

static void test_measured(void)
{
    sl_tuning tuning;
    forget_all();
    is_int(tune(false, &tuning, NULL), SL_OK, "a shape is tuned");
    ok(tuning.tuned && tuning.measured && tuning.ns == 77, "by measuring");
    ok(tuner.work.m == 4 && tuner.work.k == 3 && tuner.work.n == 5
           && tuner.work.flags == SL_WORK_TF32 && tuner.work.kernel == SL_KERNEL_MATMUL,
       "the backend gets the product");
    ok(!tuner.out && tuner.in[0] && tuner.in[1] && tuner.in[0] != tuner.in[1],
       "its operands, and no result");
    is_int(fake.enqueues, 0, "and no operation");
    tune(false, &tuning, NULL);
    ok(tuner.measures == 1 && tuning.tuned && !tuning.measured, "a second call measures nothing");
    is_int(tuner.keys, 1, "nor looks for what is kept");
    forget();
    tune(false, &tuning, NULL);
    ok(tuner.loads == 1 && tuner.measures == 0 && tuning.ns == 77 && !tuning.measured,
       "in another run what was kept is loaded");
    tune(true, &tuning, NULL);
    ok(tuner.measures == 1 && tuning.measured, "unless it is to be measured again");
    forget();
    tune(true, &tuning, NULL);
    ok(tuner.loads == 1 && tuner.measures == 1,
       "in a new run that is loaded first, so that it competes");
    is_int(sl_tune(&(sl_kernel_args){ .a = a, .b = a }, false, stream, &tuning, NULL), SL_ESHAPE,
           "what cannot be multiplied is refused");
}

static void test_damaged(void)
{
    sl_tuning tuning;
    char command[400];
    forget_all();
    tune(false, &tuning, NULL);
    forget();
    tuner.loading = SL_EIO;
    is_int(tune(false, &tuning, NULL), SL_OK, "what the backend refuses is no failure");
    ok(tuner.measures == 1 && tuning.measured, "it is measured");
    is_str(sl_device_take_notice(device),
           "a plan of matmul in the cache is damaged or another's: it is measured again",
           "and reported");
    forget();
    tuner.loading = SL_ENOMEM;
    is_int(tune(false, &tuning, NULL), SL_ENOMEM, "other failures are reported");
    is_int(tuner.measures, 0, "and nothing is measured");
    forget();
    snprintf(command, sizeof command, "for f in '%s'/plans/*; do echo x >>\"$f\"; done", home);
    if (system(command) != 0) diag("no files to damage");
    tune(false, &tuning, NULL);
    ok(tuner.loads == 0 && tuner.measures == 1, "a damaged file is not loaded");
    is_str(sl_device_take_notice(device),
           "a plan of matmul in the cache is damaged or another's: it is measured again",
           "but reported");
    forget();
    tune(false, &tuning, NULL);
    ok(tuner.loads == 1 && tuner.measures == 0 && !sl_device_take_notice(device),
       "and written again");
}

static void test_not_measured(void)
{
    sl_tensor *none = fake_matrix(device, 3, 0);
    sl_tuning tuning;
    forget_all();
    tuner.measuring = SL_ENOMEM;
    fails_with(tune(false, &tuning, err), SL_ENOMEM, "measuring fails as asked",
               "a failure to measure is reported");
    ok(!tuning.tuned, "and nothing is tuned");
    forget();
    tune(false, &tuning, NULL);
    ok(tuner.loads == 0 && tuner.measures == 1, "nor kept");

    forget_all();
    sl_tune(&(sl_kernel_args){ .a = a, .b = none }, false, stream, &tuning, NULL);
    ok(!tuning.tuned && tuner.measures == 0, "a product without elements is not measured");
    sl_tensor_release(none);

    forget_all();
    sl_stream_begin_capture(stream, SL_CAPTURE_RELAXED, NULL);
    fails_with(tune(false, &tuning, err), SL_ESTATE,
               "measuring needs the device to itself, and a stream of it is being captured",
               "in a capture nothing is measured");
    sl_device_set_tuning(device, true);
    is_int(multiply(NULL), SL_OK, "a product in a capture is taken");
    sl_device_set_tuning(device, false);
    is_int(tuner.keys + tuner.measures, 0, "as it is");
    sl_graph *graph = NULL;
    sl_stream_end_capture(stream, &graph, NULL);
    sl_graph_release(graph);
}

/* ---- at the first product ---- */

static void test_before(void)
{
    forget_all();
    fake.enqueues = 0;
    multiply(NULL);
    is_int(tuner.measures, 0, "unless it is asked for no product is tuned");
    sl_device_set_tuning(device, true);
    tuner.measuring = SL_EINTERRUPT;
    sl_interrupt(true);
    is_int(multiply(NULL), SL_EINTERRUPT, "who interrupts measuring has no product");
    ok(!sl_interrupt_wanted(), "and has interrupted nothing else");
    is_int(fake.enqueues, 1, "which was not enqueued");
    tuner.measuring = SL_OK;
    is_int(multiply(NULL), SL_OK, "the next one is measured");
    ok(tuner.measures == 2 && tuner.out && fake.enqueues == 2, "and enqueued");
    multiply(NULL);
    is_int(tuner.measures, 2, "once");
    launch_number(SL_KERNEL_POW, out, out, 2, stream, NULL);
    is_int(tuner.measures, 2, "other kernels are not");

    forget_all();
    tuner.measuring = SL_ENOMEM;
    is_int(multiply(NULL), SL_OK, "without memory to measure in a product is enqueued as it is");
    is_str(sl_device_take_notice(device),
           "matmul is not tuned from here on: measuring fails as asked", "this is reported");
    tuner.measuring = SL_OK;
    multiply(NULL);
    is_int(tuner.measures, 1, "and no more is measured");
    sl_device_set_tuning(device, false);
}

/* A backend that cannot. */
static void test_untunable(void)
{
    sl_tuning tuning = { .tuned = true };
    device->backend = &fake_backend;
    forget_all();
    sl_device_set_tuning(device, true);
    is_int(multiply(NULL), SL_OK, "a backend that does not tune multiplies");
    is_int(tune(true, &tuning, NULL), SL_OK, "and takes no notice of being asked to tune");
    ok(!tuning.tuned && !tuning.measured && tuner.keys == 0, "which says so");
    device->backend = &tuning_backend;
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    plan(0);
    snprintf(home, sizeof home, "%.150s/tuning-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(home)) return 1;
    atexit(remove_all);
    setenv("STREAMLAB_CACHE", home, 1);
    device = fake_open();
    tuning_backend = fake_backend;
    tuning_backend.plan_tuned = plan_tuned;
    tuning_backend.plan_key = plan_key;
    tuning_backend.plan_load = plan_load;
    tuning_backend.plan_measure = plan_measure;
    device->backend = &tuning_backend;
    sl_stream_create(device, NULL, &stream, NULL);
    a = fake_matrix(device, 4, 3);
    b = fake_matrix(device, 3, 5);
    out = fake_matrix(device, 4, 5);
    test_measured();
    test_damaged();
    test_not_measured();
    test_before();
    test_untunable();
    sl_tensor_release(a);
    sl_tensor_release(b);
    sl_tensor_release(out);
    sl_stream_release(stream);
    sl_device_drain(device);
    sl_device_release(device);
    ok(fake.devices == 0 && fake.buffers == 0, "nothing is left");
    return done_testing();
}
