/* Profiles: a whole one is read; every kind of mistake names the key. */
#include "../../core/sim/profile.h"

#include <stdlib.h>

#include "../tap.h"

enum { CAP = 256 };

/* A profile that is right, with room for more settings. */
typedef struct draft {
    sl_setting setting[CAP];
    double least[CAP];
    size_t n;
} draft;

static const double pairs[] = { 1024, 10, 2048, 20, 8192, 8 };
static const double capability[] = { 9, 0 };

static sl_setting *find(draft *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->setting[i].name, name) == 0) return &d->setting[i];
    return NULL;
}

static sl_setting *put(draft *d, const char *name, const double *values, size_t n, const char *text)
{
    sl_setting *setting = find(d, name);
    if (!setting) setting = &d->setting[d->n++];
    *setting = (sl_setting){ name, values, n, text };
    return setting;
}

static void drop(draft *d, const char *name)
{
    sl_setting *setting = find(d, name);
    if (setting) *setting = d->setting[--d->n];
}

static void start(draft *d)
{
    d->n = 0;
#define X(field, key, low, high) \
    d->least[d->n] = low;        \
    put(d, key, &d->least[d->n], 1, NULL);
    SIM_PROFILE_NUMBERS(X)
#undef X
    put(d, "h2d_staging_gb_per_s", pairs, 6, NULL);
    put(d, "d2h_staging_gb_per_s", pairs, 2, NULL);
    put(d, "name", NULL, 0, "Test GPU");
    put(d, "compute_capability", capability, 2, NULL);
    put(d, "d2d_engine", NULL, 0, "sm");
}

static void fails(const draft *d, const char *message, const char *name)
{
    sim_profile profile;
    sl_error err = { 0 };
    sl_status status = sim_profile_read(&profile, d->setting, d->n, &err);
    is_int(status, SL_EINVAL, "%s: refused", name);
    is_str(err.msg, message, "%s: the sentence", name);
    if (status == SL_OK) sim_profile_free(&profile);
}

static void reads_a_whole_profile(draft *d)
{
    static const double sms = 132, us = 12.5, per_mib = 0.25, waits = 1;
    sim_profile profile;
    sl_error err = { 0 };
    start(d);
    put(d, "sm_count", &sms, 1, NULL);
    put(d, "gemm_us.float32", pairs, 6, NULL);
    put(d, "note", NULL, 0, "ignored");
    put(d, "calls.cudaFree.us", &us, 1, NULL);
    put(d, "calls.cudaFree.us_per_mib", &per_mib, 1, NULL);
    put(d, "calls.cudaFree.waits", &waits, 1, NULL);
    put(d, "calls.cudaMalloc.waits", NULL, 0, "device");
    put(d, "calls.cudaMemcpy.h2d_pageable.waits", NULL, 0, "stream");
    put(d, "calls.cudaMemcpy.h2d_pageable.from_bytes", &sms, 1, NULL);
    put(d, "calls.cudaEventRecord.serialises", NULL, 0, "blocking");
    put(d, "calls.cudaMemcpyAsync.d2d.serialises", &waits, 1, NULL);
    if (!ok(sim_profile_read(&profile, d->setting, d->n, &err) == SL_OK,
            "a whole profile is read (%s)", err.msg))
        return;
    is_double(profile.sm_count, 132, 0, "a number");
    is_double(profile.priority_least, -1000, 0, "a negative number");
    is_str(profile.name, "Test GPU", "the name");
    is_int(profile.compute_capability_major, 9, "the compute capability");
    ok(profile.d2d_on_sm, "d2d_engine 'sm'");
    is_int(profile.gemm[SIM_GEMM_FP32].us.n, 3, "an optional table that is there");
    is_int(profile.gemm[SIM_GEMM_TF32].us.n, 0, "an optional table that is not");
    is_double(profile.calls[SL_PLAIN_FREE].us, 12.5, 0, "a call's cost");
    is_double(profile.calls[SL_PLAIN_FREE].us_per_mib, 0.25, 0, "a call's cost by size");
    is_int(profile.calls[SL_PLAIN_FREE].waits, SIM_DEVICE, "a call that waits");
    is_int(profile.calls[SL_PLAIN_MALLOC].waits, SIM_DEVICE, "one that waits by name");
    is_double(profile.calls[SL_PLAIN_MALLOC].us, 1, 0, "a plain call without a cost costs 1 us");
    is_double(profile.calls[SIM_CALL_LAUNCH].us, 0, 0, "others cost what is in `host`");
    is_int(profile.calls[SL_PLAIN_FREE_HOST].waits, SIM_NOTHING,
           "a call that is not named does not wait");
    const sim_call_cost *copy = &profile.calls[SIM_CALL_SYNC_COPY_H2D_PAGEABLE];
    is_int(copy->waits, SIM_STREAM, "a copy of one kind waits for its stream");
    is_double(copy->from_bytes, 132, 0, "from a size on");
    is_int(profile.calls[SIM_CALL_COPY_H2D_PAGEABLE].waits, SIM_NOTHING, "others do not");
    is_int(profile.calls[SIM_CALL_EVENT_RECORD].serialises, SIM_BLOCKING, "a barrier of a call");
    is_int(profile.calls[SIM_CALL_COPY_D2D].serialises, SIM_DEVICE, "and one for all streams");

    const sim_table *table = &profile.h2d_staging_gb_per_s;
    is_double(sim_table_at(table, 1), 10, 0, "a table is flat before its first pair");
    is_double(sim_table_at(table, 1024), 10, 0, "a table at its first pair");
    is_double(sim_table_at(table, 1536), 15, 1e-12, "a table half way between pairs");
    is_double(sim_table_at(table, 2048), 20, 0, "a table at a pair");
    is_double(sim_table_at(table, 5120), 14, 1e-12, "a table half way down");
    is_double(sim_table_at(table, 1e9), 8, 0, "a table is flat after its last pair");
    is_double(sim_table_at(&profile.d2h_staging_gb_per_s, 7), 10, 0, "a table of one pair");
    is_double(sim_table_at(&profile.gemm[SIM_GEMM_TF32].us, 7), 0, 0, "an empty table is 0");
    sim_profile_free(&profile);
    is_int(profile.gemm[SIM_GEMM_FP32].us.n, 0, "freed tables are empty");
}

static void knows_what_is_optional(draft *d)
{
    static const double gap = 3, copy_gap = 4, bytes = 4096;
    sim_profile profile;
    start(d);
    put(d, "stream_gap_us", &gap, 1, NULL);
    if (!ok(sim_profile_read(&profile, d->setting, d->n, NULL) == SL_OK,
            "optional numbers may be missing"))
        return;
    is_double(profile.copy_gap_us, 3, 0, "the gap between copies is that of a stream");
    is_double(profile.engine_switch_us, 3, 0, "and so is the one between engines");
    const double zero[] = {
        profile.engine_turn_us,
        profile.spin_fixed_us,
        profile.host_cache_bytes,
        profile.host_cold_bytes,
        profile.host_cold_launch_us,
        profile.host_cold_matmul_us,
        profile.host_cold_memcpy_async_us,
    };
    for (size_t i = 0; i < sizeof zero / sizeof *zero; i++)
        is_double(zero[i], 0, 0, "the others are 0");
    is_int(profile.gemm[SIM_GEMM_FP32].grid.n_x, 0, "a grid that is not there is empty");
    sim_profile_free(&profile);

    put(d, "copy_gap_us", &copy_gap, 1, NULL);
    put(d, "host_cold.bytes", &bytes, 1, NULL);
    is_int(sim_profile_read(&profile, d->setting, d->n, NULL), SL_OK, "they may be there");
    is_double(profile.copy_gap_us, 4, 0, "with their own value");
    is_double(profile.host_cold_bytes, 4096, 0, "also in a table of the profile");
    is_double(profile.engine_switch_us, 3, 0, "each by itself");
    sim_profile_free(&profile);
}

static void reads_tables_of_durations(draft *d)
{
    static const double falling[] = { 1, 8, 2, 6 }, one[] = { 5, 7 };
    sim_profile profile;
    start(d);
    put(d, "copy_us.h2d", pairs, 4, NULL); /* 1024: 10, 2048: 20 */
    put(d, "copy_us.d2h", falling, 4, NULL);
    put(d, "kernel_us.add", one, 2, NULL);
    is_int(sim_profile_read(&profile, d->setting, d->n, NULL), SL_OK, "tables of durations");
    is_double(sim_table_us(&profile.copy_us_h2d, 1), 10, 0, "flat before the first");
    is_double(sim_table_us(&profile.copy_us_h2d, 1536), 15, 1e-12, "half way");
    is_double(sim_table_us(&profile.copy_us_h2d, 2048), 20, 0, "at the last");
    is_double(sim_table_us(&profile.copy_us_h2d, 4096), 40, 1e-12, "beyond it the last slope");
    is_double(sim_table_us(&profile.copy_us_d2h, 9), 6, 0, "never downhill");
    is_double(sim_table_us(&profile.kernel_us_add, 9), 7, 0, "one pair has no slope");
    is_double(sim_table_us(&profile.kernel_us_pow, 9), 0, 0, "an empty one is 0");
    sim_profile_free(&profile);
}

static void reads_grids(draft *d)
{
    static const double rows[] = { 2, 1, 10, 2, 3, 20, 4, 1, 30, 4, 3, 60 };
    sim_profile profile;
    start(d);
    put(d, "gemm_grid_us.tf32", rows, 12, NULL);
    is_int(sim_profile_read(&profile, d->setting, d->n, NULL), SL_OK, "a grid is read");
    const sim_grid *grid = &profile.gemm[SIM_GEMM_TF32].grid;
    is_double(sim_grid_us(grid, 4, 1), 10, 0, "a grid at its first point");
    is_double(sim_grid_us(grid, 16, 3), 60, 0, "at its last");
    is_double(sim_grid_us(grid, 4, 2), 15, 1e-12, "between two of a row");
    is_double(sim_grid_us(grid, 10, 1), 20, 1e-12, "between two rows, by the area");
    is_double(sim_grid_us(grid, 10, 2), 30, 1e-12, "in the middle of four");
    is_double(sim_grid_us(grid, 1, 0), 10, 0, "before the first as the first");
    is_double(sim_grid_us(grid, 32, 1), 60, 1e-12, "beyond in proportion to the area");
    is_double(sim_grid_us(grid, 4, 6), 40, 1e-12, "to the other side");
    is_double(sim_grid_us(grid, 32, 6), 240, 1e-12, "to both");
    is_double(sim_grid_us(&profile.gemm[SIM_GEMM_FP32].grid, 4, 1), 0, 0, "an empty grid is 0");
    sim_profile_free(&profile);
    is_int(profile.gemm[SIM_GEMM_TF32].grid.n_x, 0, "freed grids are empty");
}

static void names_wrong_grids(draft *d)
{
#define GRID "profile key 'gemm_grid_us.tf32' "
    static const double missing[] = { 2, 1, 10, 2, 3, 20, 4, 1, 30 };
    static const double others[] = { 2, 1, 10, 2, 3, 20, 4, 1, 30, 4, 5, 60 };
    static const double k_down[] = { 2, 3, 10, 2, 1, 20, 4, 3, 30, 4, 1, 60 };
    static const double n_down[] = { 4, 1, 10, 4, 3, 20, 2, 1, 30, 2, 3, 60 };
    static const double flat[] = { 2, 1, 10, 2, 3, 0, 4, 1, 30, 4, 3, 60 };
    static const double row[] = { 2, 1, 10, 2, 3, 20 }, column[] = { 2, 1, 10, 4, 1, 20 };
    start(d);
    put(d, "gemm_grid_us.tf32", missing, 8, NULL);
    fails(d, GRID "needs rows of three numbers, {n, k, us}", "two numbers for three");
    put(d, "gemm_grid_us.tf32", NULL, 0, "fast");
    fails(d, GRID "needs rows of three numbers, {n, k, us}", "a text for a grid");
    put(d, "gemm_grid_us.tf32", missing, 0, NULL);
    fails(d, GRID "needs rows of three numbers, {n, k, us}", "a grid without rows");
    put(d, "gemm_grid_us.tf32", missing, 9, NULL);
    fails(d, GRID "needs for each n the same k, and both must ascend", "a point missing");
    put(d, "gemm_grid_us.tf32", others, 12, NULL);
    fails(d, GRID "needs for each n the same k, and both must ascend", "another k for another n");
    put(d, "gemm_grid_us.tf32", k_down, 12, NULL);
    fails(d, GRID "needs for each n the same k, and both must ascend", "k descending");
    put(d, "gemm_grid_us.tf32", n_down, 12, NULL);
    fails(d, GRID "needs for each n the same k, and both must ascend", "n descending");
    put(d, "gemm_grid_us.tf32", flat, 12, NULL);
    fails(d, GRID "has 0, needs numbers > 0", "no time at all");
    put(d, "gemm_grid_us.tf32", row, 6, NULL);
    fails(d, GRID "needs at least two n and two k", "a single n");
    put(d, "gemm_grid_us.tf32", column, 6, NULL);
    fails(d, GRID "needs at least two n and two k", "a single k");
#undef GRID
}

static void names_missing_and_unknown_keys(draft *d)
{
    static const double one = 1;
    start(d);
    drop(d, "sm_count");
    fails(d, "profile lacks 'sm_count'", "one key missing");
    drop(d, "host.launch_us");
    drop(d, "name");
    fails(d, "profile lacks 'sm_count', 'host.launch_us', 'name'", "three keys missing");
    drop(d, "h2d_staging_gb_per_s");
    drop(d, "wake_us");
    fails(d, "profile lacks 'sm_count', 'wake_us', 'host.launch_us' and 2 more keys",
          "five keys missing");
    d->n = 0;
    sim_profile profile;
    sl_error err = { 0 };
    is_int(sim_profile_read(&profile, NULL, 0, &err), SL_EINVAL, "no settings at all: refused");
    is_int(sim_profile_read(&profile, NULL, 0, NULL), SL_EINVAL, "also without an error to fill");

    start(d);
    put(d, "sm_cuont", &one, 1, NULL);
    fails(d, "profile has an unknown key 'sm_cuont'; did you mean 'sm_count'?", "a mistyped key");
    start(d);
    put(d, "calls.cudaFreee.us", &one, 1, NULL);
    fails(d, "profile has an unknown key 'calls.cudaFreee.us'; did you mean 'calls.cudaFree.us'?",
          "a mistyped call");
    start(d);
    put(d, "calls.cudaFree.ms", &one, 1, NULL);
    fails(d, "profile has an unknown key 'calls.cudaFree.ms'; did you mean 'calls.cudaFree.us'?",
          "a mistyped field of a call");
    start(d);
    put(d, "colour", &one, 1, NULL);
    fails(d, "profile has an unknown key 'colour'", "a key like no other");
    start(d);
    d->setting[d->n++] = (sl_setting){ "sm_count", &one, 1, NULL };
    fails(d, "profile key 'sm_count' is given twice", "a key twice");
}

static void names_wrong_values(draft *d)
{
    static const double zero = 0, two[] = { 1, 2 }, huge = 5000, text_pairs[] = { 1, 2, 1, 3 };
    static const double down[] = { 2, 1, 1, 1 }, negative[] = { 1, -2 }, version[] = { 9, 0.5 };
    const double nan_value = NAN;
    start(d);
    put(d, "sm_count", &zero, 1, NULL);
    fails(d, "profile key 'sm_count' is 0, must be from 1 to 4096", "too small");
    put(d, "sm_count", &huge, 1, NULL);
    fails(d, "profile key 'sm_count' is 5000, must be from 1 to 4096", "too large");
    put(d, "sm_count", two, 2, NULL);
    fails(d, "profile key 'sm_count' needs one number, got 2", "two numbers for one");
    put(d, "sm_count", NULL, 0, "many");
    fails(d, "profile key 'sm_count' needs a number, got the text 'many'", "a text for a number");
    start(d);
    put(d, "wake_us", &nan_value, 1, NULL);
    fails(d, "profile key 'wake_us' is nan, must be from 0 to 1e+06", "no number");
    start(d);
    put(d, "name", &zero, 1, NULL);
    fails(d, "profile key 'name' needs a text, got 1 numbers", "a number for a text");
    start(d);
    put(d, "d2d_engine", NULL, 0, "ce");
    fails(d, "profile key 'd2d_engine' is 'ce', must be 'sm' or 'copy'", "an unknown engine");
    start(d);
    put(d, "compute_capability", &zero, 1, NULL);
    fails(d, "profile key 'compute_capability' needs two numbers, such as { 9, 0 }",
          "half a compute capability");
    put(d, "compute_capability", version, 2, NULL);
    fails(d, "profile key 'compute_capability' has 0.5, must be whole numbers from 0 to 1000",
          "a broken compute capability");
    start(d);
    put(d, "calls.cudaMalloc.waits", &huge, 1, NULL);
    fails(d, "profile key 'calls.cudaMalloc.waits' is 5000, must be from 0 to 1",
          "a flag out of range");

    start(d);
    put(d, "gemm_us.tf32", pairs, 3, NULL);
    fails(d, "profile key 'gemm_us.tf32' needs pairs of numbers, got 3 numbers", "half a pair");
    put(d, "gemm_us.tf32", text_pairs, 4, NULL);
    fails(d, "profile key 'gemm_us.tf32' must ascend, but 1 follows 1", "the same x twice");
    put(d, "gemm_us.tf32", down, 4, NULL);
    fails(d, "profile key 'gemm_us.tf32' must ascend, but 1 follows 2", "a descending table");
    put(d, "gemm_us.tf32", negative, 2, NULL);
    fails(d,
          "profile key 'gemm_us.tf32' has the pair {1, -2}: needs a first number >= 0 and a "
          "second > 0",
          "a negative rate");
    start(d);
    put(d, "h2d_staging_gb_per_s", pairs, 0, NULL);
    fails(d, "profile key 'h2d_staging_gb_per_s' needs at least one pair of numbers",
          "an empty table");
    put(d, "h2d_staging_gb_per_s", NULL, 0, "fast");
    fails(d, "profile key 'h2d_staging_gb_per_s' needs pairs of numbers, got the text 'fast'",
          "a text for a table");
    start(d);
    put(d, "priority_greatest", two, 1, NULL);
    fails(d,
          "profile key 'priority_greatest' is 1, must not exceed 'priority_least', -1000: "
          "lower is more urgent",
          "priorities the wrong way round");
}

int main(void)
{
    static draft d;
    plan(0);
    reads_a_whole_profile(&d);
    knows_what_is_optional(&d);
    reads_tables_of_durations(&d);
    reads_grids(&d);
    names_wrong_grids(&d);
    names_missing_and_unknown_keys(&d);
    names_wrong_values(&d);
    return done_testing();
}
