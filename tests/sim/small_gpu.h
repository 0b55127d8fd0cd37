/* small_gpu.h - a GPU for tests in C: a few SMs, round figures, no latencies, so that
 * every outcome can be worked out by hand. Fields of `small_gpu` are changed, and
 * optional numbers and tables given, by passing them; memory_bytes may be INFINITY. */
#ifndef SMALL_GPU_H
#define SMALL_GPU_H

#include <math.h>
#include <string.h>

#include "../../core/sim/profile.h"

enum { SMALL_GPU_MOST_SETTINGS = 128 };

typedef struct small_override {
    const char *key;
    double value;
} small_override;

/* What is not zero; all other numbers of a profile are its least value. */
static const small_override small_gpu[] = {
    { "sm_count", 4 },
    { "max_threads_per_sm", 1024 },
    { "max_blocks_per_sm", 8 },
    { "registers_per_sm", 65536 },
    { "shared_bytes_per_sm", 65536 },
    { "shared_bytes_per_block", 65536 },
    { "max_threads_per_block", 1024 },
    { "memory_bytes", 1e9 },
    { "async_engine_count", 2 },
    { "max_grids", 1024 },
    { "connections", 64 },
    { "copy_connections", 64 },
    { "launch_queue_depth", 1e6 },
    { "priority_least", 0 },
    { "priority_greatest", -2 },
    { "priority_levels", 3 },
    { "fp32_tflops", 1 },
    { "tf32_tflops", 1 },
    { "bf16_tflops", 1 },
    { "gemm_efficiency.float32", 1 },
    { "gemm_efficiency.tf32", 1 },
    { "gemm_efficiency.bfloat16", 1 },
    { "hbm_gb_per_s", 100 },
    { "l2_gb_per_s", 100 },
    { "d2d_gb_per_s", 50 },
    { "memset_gb_per_s", 100 },
    { "h2d_gb_per_s", 10 },
    { "d2h_gb_per_s", 10 },
    { "duplex_factor", 1 },
    { "stage_bytes", 1e6 },
    { "stage_buffers", 2 },
    { "host_gb_per_s", 10 },
    { "event_tick_ns", 1 },
};

static const small_override *find_override(const char *key, const small_override *more,
                                           size_t n_more)
{
    for (size_t i = 0; i < n_more; i++)
        if (!strcmp(more[i].key, key)) return &more[i];
    return NULL;
}

static double small_value(const char *key, double least, const small_override *more, size_t n_more)
{
    const small_override *override = find_override(key, more, n_more);
    if (override) return override->value;
    for (size_t i = 0; i < sizeof small_gpu / sizeof *small_gpu; i++)
        if (!strcmp(small_gpu[i].key, key)) return small_gpu[i].value;
    return least;
}

/* Its settings; returns how many. `value` is used by them, as `more` and `tables` are. */
static size_t small_gpu_settings(const small_override *more, size_t n_more,
                                 const sl_setting *tables, size_t n_tables,
                                 double value[SMALL_GPU_MOST_SETTINGS],
                                 sl_setting settings[SMALL_GPU_MOST_SETTINGS])
{
    /* Those that a profile must have, with their least values; and the others. */
    static const small_override numbers[] = {
#define X(field, key, least, greatest) { key, least },
        SIM_PROFILE_NUMBERS(X)
#undef X
    };
    static const char *const optional[] = {
#define X(field, key, least, greatest, otherwise) key,
        SIM_PROFILE_OPTIONAL(X)
#undef X
    };
    static const double version[] = { 9, 0 }, staging[] = { 1, 10 };
    size_t n = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *key = numbers[i].key;
        value[n] = small_value(key, numbers[i].value, more, n_more);
        settings[n] = isinf(value[n]) ? (sl_setting){ key, NULL, 0, "unlimited" }
                                      : (sl_setting){ key, &value[n], 1, NULL };
        n++;
    }
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
        const small_override *override = find_override(optional[i], more, n_more);
        if (override) settings[n++] = (sl_setting){ optional[i], &override->value, 1, NULL };
    }
    settings[n++] = (sl_setting){ "name", NULL, 0, "small GPU" };
    settings[n++] = (sl_setting){ "d2d_engine", NULL, 0, "sm" };
    settings[n++] = (sl_setting){ "compute_capability", version, 2, NULL };
    settings[n++] = (sl_setting){ "h2d_staging_gb_per_s", staging, 2, NULL };
    settings[n++] = (sl_setting){ "d2h_staging_gb_per_s", staging, 2, NULL };
    for (size_t i = 0; i < n_tables; i++)
        settings[n++] = tables[i];
    return n;
}

/* Opens it with tables of its own; NULL with a diagnostic in *err if a setting is refused. */
static sl_device *small_gpu_open_with(const small_override *more, size_t n_more,
                                      const sl_setting *tables, size_t n_tables, sl_error *err)
{
    double value[SMALL_GPU_MOST_SETTINGS];
    sl_setting settings[SMALL_GPU_MOST_SETTINGS];
    const size_t n = small_gpu_settings(more, n_more, tables, n_tables, value, settings);
    sl_device *device = NULL;
    return sl_device_open("sim", 0, settings, n, &device, err) == SL_OK ? device : NULL;
}

static inline sl_device *small_gpu_open(const small_override *more, size_t n_more, sl_error *err)
{
    return small_gpu_open_with(more, n_more, NULL, 0, err);
}

#endif
