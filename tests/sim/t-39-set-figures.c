/* t-39-set-figures.c - figures of a device that is open: what must stay, since work in flight was
 * made for it. */
#include <string.h>

#include "lab.h"

/* The device's own figures, with another speed and another engine for copies within it. */
static sl_status set(const lab *l, double gb_per_s, const char *engine, sl_error *err)
{
    const small_override speed = { "d2d_gb_per_s", gb_per_s };
    double value[SMALL_GPU_MOST_SETTINGS];
    sl_setting settings[SMALL_GPU_MOST_SETTINGS];
    const size_t n = small_gpu_settings(&speed, 1, NULL, 0, value, settings);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(settings[i].name, "d2d_engine")) settings[i].text = engine;
    return sl_device_set_figures(l->device, settings, n, err);
}

static sl_tensor *tensor(lab *l)
{
    const sl_tensor_spec spec = { .dtype = SL_FLOAT32, .ndim = 1, .dim = { 1000 } };
    sl_tensor *made = NULL;
    l->failed += sl_tensor_create(l->device, &spec, l->stream[1], &made, NULL) != SL_OK;
    return made;
}

/* On the SMs a copy is blocks, on an engine bytes. */
static void copy_in_flight(void)
{
    const lab_setup setup = { .blocking = false };
    sl_error err = { 0 };
    double value = 0;
    lab l;
    lab_open(&l, &setup);
    sl_tensor *from = tensor(&l), *to = tensor(&l);
    l.failed += sl_tensor_fill(from, 7, l.stream[1], NULL) != SL_OK;
    lab_spin(&l, 1, 1000);
    l.failed += sl_tensor_copy(to, from, true, l.stream[1], NULL) != SL_OK;
    is_int(set(&l, 50, "copy", &err), SL_EINVAL, "where copies run must stay");
    ok(strstr(err.msg, "'d2d_engine' of an open device cannot change"), "%s", err.msg);
    is_int(set(&l, 1, "sm", &err), SL_OK, "how fast they are may change");
    is_int(sl_device_synchronize(l.device, &err), SL_OK, "the copy ends");
    l.failed += sl_tensor_read(to, 999, 1, &value, l.stream[1], NULL) != SL_OK;
    is_int(value, 7, "and has copied");
    lab_end(&l);
    sl_tensor_release(from);
    sl_tensor_release(to);
    lab_close(&l);
}

int main(void)
{
    plan(0);
    copy_in_flight();
    return done_testing();
}
