/* profile.c - a profile from settings, with an error that names the key.
 *
 * The keys are the X tables of profile.h. Reading goes over the settings once,
 * notes which keys were there, and then asks for the missing ones: a profile
 * with a mistyped key should say so, and not run with a figure from nowhere.
 */
#include "profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum key_kind {
    NUMBER,
    TABLE,
    GRID,
    NAME,
    COMPUTE_CAPABILITY,
    D2D_ENGINE,
    NOTE,
    PROFILE
} key_kind;

static const struct {
    const char *name;
    size_t offset;
    double least, greatest;
    key_kind kind;
    bool optional;
} keys[] = {
#define X(field, key, least, greatest) \
    { key, offsetof(sim_profile, field), least, greatest, NUMBER, false },
    SIM_PROFILE_NUMBERS(X)
#undef X
#define X(field, key, least, greatest, otherwise) \
    { key, offsetof(sim_profile, field), least, greatest, NUMBER, true },
        SIM_PROFILE_OPTIONAL(X)
#undef X
#define X(field, key, optional, least) \
    { key, offsetof(sim_profile, field), least, 0, TABLE, optional },
            SIM_GEMM_TABLES(X, SIM_GEMM_FP32, "float32") SIM_GEMM_TABLES(X, SIM_GEMM_TF32, "tf32")
                SIM_GEMM_TABLES(X, SIM_GEMM_BF16, "bfloat16") SIM_PROFILE_TABLES(X)
                    SIM_COMM_TABLES(X)
#undef X
#define X(field, key) { key, offsetof(sim_profile, field), 0, 0, GRID, true },
                        SIM_GEMM_GRIDS(X, SIM_GEMM_FP32, "float32")
                            SIM_GEMM_GRIDS(X, SIM_GEMM_TF32, "tf32")
                                SIM_GEMM_GRIDS(X, SIM_GEMM_BF16, "bfloat16")
#undef X
                                    { "name", 0, 0, 0, NAME, false },
    { "compute_capability", 0, 0, 0, COMPUTE_CAPABILITY, false },
    { "d2d_engine", 0, 0, 0, D2D_ENGINE, false },
    { "note", 0, 0, 0, NOTE, true },
    { "profile", 0, 0, 0, PROFILE, true },
};

/* calls.NAME.FIELD: all optional */
enum { CALL_US, CALL_US_PER_MIB, CALL_WAITS, CALL_SERIALISES, CALL_FROM_BYTES, CALL_FIELDS };
static const char *const call_fields[CALL_FIELDS] = {
    "us", "us_per_mib", "waits", "serialises", "from_bytes",
};

/* Those that are no plain calls. */
static const char *const sim_call_names[SIM_CALLS] = {
    [SIM_CALL_LAUNCH] = "cudaLaunchKernel",
    [SIM_CALL_MEMSET] = "cudaMemset",
    [SIM_CALL_MEMSET_ASYNC] = "cudaMemsetAsync",
    [SIM_CALL_COPY_D2D] = "cudaMemcpyAsync.d2d",
    [SIM_CALL_COPY_H2D_PAGEABLE] = "cudaMemcpyAsync.h2d_pageable",
    [SIM_CALL_COPY_H2D_PINNED] = "cudaMemcpyAsync.h2d_pinned",
    [SIM_CALL_COPY_D2H_PAGEABLE] = "cudaMemcpyAsync.d2h_pageable",
    [SIM_CALL_COPY_D2H_PINNED] = "cudaMemcpyAsync.d2h_pinned",
    [SIM_CALL_SYNC_COPY_D2D] = "cudaMemcpy.d2d",
    [SIM_CALL_SYNC_COPY_H2D_PAGEABLE] = "cudaMemcpy.h2d_pageable",
    [SIM_CALL_SYNC_COPY_H2D_PINNED] = "cudaMemcpy.h2d_pinned",
    [SIM_CALL_SYNC_COPY_D2H_PAGEABLE] = "cudaMemcpy.d2h_pageable",
    [SIM_CALL_SYNC_COPY_D2H_PINNED] = "cudaMemcpy.d2h_pinned",
    [SIM_CALL_EVENT_RECORD] = "cudaEventRecord",
    [SIM_CALL_EVENT_WAIT] = "cudaStreamWaitEvent",
    [SIM_CALL_HOST_FUNC] = "cudaLaunchHostFunc",
    [SIM_CALL_STREAM_CREATE] = "cudaStreamCreate",
    [SIM_CALL_EVENT_CREATE] = "cudaEventCreate",
    [SIM_CALL_MEM_GET_INFO] = "cudaMemGetInfo",
    [SIM_CALL_FREE_ORDERED] = "cudaFree.malloc_async",
};

/* All keys in one row: those above, then each field of each call. */
enum {
    FIRST_CALL = sizeof keys / sizeof *keys,
    N_KEYS = FIRST_CALL + CALL_FIELDS * SIM_CALLS,
    KEY_CHARS = 96
};

const char *sim_call_name(sim_call call)
{
    return (int)call < SL_PLAIN_CALLS ? sl__plain_call_names[call] : sim_call_names[call];
}

static const char *key_at(int index, char buffer[KEY_CHARS])
{
    if (index < FIRST_CALL) return keys[index].name;
    index -= FIRST_CALL;
    snprintf(buffer, KEY_CHARS, "calls.%s.%s", sim_call_name((sim_call)(index / CALL_FIELDS)),
             call_fields[index % CALL_FIELDS]);
    return buffer;
}

static bool is_optional(int index) { return index >= FIRST_CALL || keys[index].optional; }

/* Of a call's key behind "calls.": "cudaFree.us". */
static int find_call_key(const char *key)
{
    const char *dot = strrchr(key, '.');
    const size_t length = dot ? (size_t)(dot - key) : 0;
    int field = 0;
    while (dot && field < CALL_FIELDS && strcmp(dot + 1, call_fields[field]) != 0)
        field++;
    if (!dot || field == CALL_FIELDS) return -1;
    for (int i = 0; i < SIM_CALLS; i++) {
        const char *name = sim_call_name((sim_call)i);
        if (strncmp(key, name, length) == 0 && !name[length])
            return FIRST_CALL + i * CALL_FIELDS + field;
    }
    return -1;
}

static int find_key(const char *key)
{
    if (strncmp(key, "calls.", 6) == 0) return find_call_key(key + 6);
    for (int i = 0; i < FIRST_CALL; i++)
        if (key[0] == keys[i].name[0] && strcmp(key, keys[i].name) == 0) return i;
    return -1;
}

/* ---- unknown and missing keys ---- */

/* The known key that looks most like `key`, if one looks like it at all. */
static int nearest_key(const char *key)
{
    char buffer[KEY_CHARS];
    const size_t length = strlen(key);
    if (length >= KEY_CHARS) return -1;
    int nearest = -1, least = length < 9 ? 3 : (int)length / 3;
    for (int i = 0; i < N_KEYS; i++) {
        int distance = sl_edit_distance(key, key_at(i, buffer));
        if (distance < least) {
            least = distance;
            nearest = i;
        }
    }
    return nearest;
}

static sl_status fail_unknown(const char *key, sl_error *err)
{
    char buffer[KEY_CHARS];
    const int nearest = nearest_key(key);
    if (nearest < 0) return sl_fail(err, SL_EINVAL, "profile has an unknown key '%.80s'", key);
    return sl_fail(err, SL_EINVAL, "profile has an unknown key '%.80s'; did you mean '%s'?", key,
                   key_at(nearest, buffer));
}

static sl_status check_missing(const bool seen[N_KEYS], sl_error *err)
{
    enum { NAMED = 3 };
    char buffer[KEY_CHARS], list[NAMED * (KEY_CHARS + 4)] = "";
    int missing = 0;
    for (int i = 0; i < N_KEYS; i++) {
        if (seen[i] || is_optional(i)) continue;
        if (missing < NAMED) {
            size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%s'%s'", used ? ", " : "",
                     key_at(i, buffer));
        }
        missing++;
    }
    if (missing == 0) return SL_OK;
    if (missing <= NAMED) return sl_fail(err, SL_EINVAL, "profile lacks %s", list);
    return sl_fail(err, SL_EINVAL, "profile lacks %s and %d more keys", list, missing - NAMED);
}

/* ---- reading one setting ---- */

static sl_status read_number(const sl_setting *setting, double least, double greatest,
                             double *number, sl_error *err)
{
    if (!setting->values)
        return sl_fail(err, SL_EINVAL, "profile key '%s' needs a number, got the text '%.60s'",
                       setting->name, setting->text ? setting->text : "");
    if (setting->n_values != 1)
        return sl_fail(err, SL_EINVAL, "profile key '%s' needs one number, got %zu", setting->name,
                       setting->n_values);
    const double value = setting->values[0];
    if (!(value >= least && value <= greatest)) /* also NaN */
        return sl_fail(err, SL_EINVAL, "profile key '%s' is %g, must be from %g to %g",
                       setting->name, value, least, greatest);
    *number = value;
    return SL_OK;
}

static sl_status check_table(const sl_setting *setting, double least, sl_error *err)
{
    if (!setting->values)
        return sl_fail(err, SL_EINVAL,
                       "profile key '%s' needs pairs of numbers, got the text '%.60s'",
                       setting->name, setting->text ? setting->text : "");
    if (setting->n_values % 2 != 0)
        return sl_fail(err, SL_EINVAL, "profile key '%s' needs pairs of numbers, got %zu numbers",
                       setting->name, setting->n_values);
    for (size_t i = 0; i < setting->n_values; i += 2) {
        const double *pair = setting->values + i;
        if (!isfinite(pair[0]) || !isfinite(pair[1]) || pair[0] < 0 || pair[1] < least)
            return sl_fail(err, SL_EINVAL,
                           "profile key '%s' has the pair {%g, %g}: "
                           "needs a first number >= 0 and a second %s 0",
                           setting->name, pair[0], pair[1], least > 0 ? ">" : ">=");
        if (i > 0 && pair[-2] >= pair[0])
            return sl_fail(err, SL_EINVAL, "profile key '%s' must ascend, but %g follows %g",
                           setting->name, pair[0], pair[-2]);
    }
    return SL_OK;
}

static sl_status read_table(const sl_setting *setting, bool optional, double least,
                            sim_table *table, sl_error *err)
{
    sl_status status = check_table(setting, least, err);
    if (status != SL_OK) return status;
    const size_t n = setting->n_values / 2;
    if (n == 0)
        return optional ? SL_OK
                        : sl_fail(err, SL_EINVAL,
                                  "profile key '%s' needs at least one "
                                  "pair of numbers",
                                  setting->name);
    double *memory = malloc(2 * n * sizeof *memory); /* x, and y behind it */
    if (!memory) return sl__no_memory(err, "the %zu pairs of profile key '%s'", n, setting->name);
    *table = (sim_table){ n, memory, memory + n };
    for (size_t i = 0; i < n; i++) {
        table->x[i] = setting->values[2 * i];
        table->y[i] = setting->values[2 * i + 1];
    }
    return SL_OK;
}

/* How many rows begin with the first row's first number; 0 when they do not make a grid. */
static size_t grid_columns(const double *row, size_t rows)
{
    size_t n = 1;
    while (n < rows && row[3 * n] == row[0])
        n++;
    if (rows % n != 0) return 0;
    for (size_t i = 0; i < rows; i++) {
        const double *first = row + 3 * (i - i % n), *above = row + 3 * (i % n);
        bool ascends = i % n > 0 ? row[3 * i + 1] > row[3 * i - 2]
                                 : i == 0 || row[3 * i] > row[3 * i - 3];
        if (row[3 * i] != first[0] || row[3 * i + 1] != above[1] || !ascends) return 0;
    }
    return n;
}

static sl_status read_grid(const sl_setting *setting, sim_grid *grid, sl_error *err)
{
    const double *row = setting->values;
    const size_t rows = setting->n_values / 3;
    if (!row || rows == 0 || setting->n_values % 3 != 0)
        return sl_fail(err, SL_EINVAL, "profile key '%s' needs rows of three numbers, {n, k, us}",
                       setting->name);
    for (size_t i = 0; i < 3 * rows; i++)
        if (!isfinite(row[i]) || row[i] <= 0)
            return sl_fail(err, SL_EINVAL, "profile key '%s' has %g, needs numbers > 0",
                           setting->name, row[i]);
    const size_t n = grid_columns(row, rows);
    if (n == 1 || n == rows)
        return sl_fail(err, SL_EINVAL, "profile key '%s' needs at least two n and two k",
                       setting->name);
    if (n == 0)
        return sl_fail(err, SL_EINVAL,
                       "profile key '%s' needs for each n the same k, and both "
                       "must ascend",
                       setting->name);
    double *memory = malloc((rows / n + n + rows) * sizeof *memory);
    if (!memory) return sl__no_memory(err, "the %zu rows of profile key '%s'", rows, setting->name);
    *grid = (sim_grid){ rows / n, n, memory, memory + rows / n, memory + rows / n + n };
    for (size_t i = 0; i < rows; i++) {
        grid->x[i / n] = row[3 * i];
        grid->y[i % n] = row[3 * i + 1];
        grid->z[i] = row[3 * i + 2];
    }
    return SL_OK;
}

static sl_status read_compute_capability(sim_profile *profile, const sl_setting *setting,
                                         sl_error *err)
{
    if (!setting->values || setting->n_values != 2)
        return sl_fail(err, SL_EINVAL, "profile key '%s' needs two numbers, such as { 9, 0 }",
                       setting->name);
    for (int i = 0; i < 2; i++) {
        double number = setting->values[i];
        if (!(number >= 0 && number <= 1000) || number != floor(number))
            return sl_fail(err, SL_EINVAL,
                           "profile key '%s' has %g, must be whole numbers from 0 to 1000",
                           setting->name, number);
    }
    profile->compute_capability_major = (int)setting->values[0];
    profile->compute_capability_minor = (int)setting->values[1];
    return SL_OK;
}

static sl_status read_text(sim_profile *profile, key_kind kind, const sl_setting *setting,
                           sl_error *err)
{
    if (!setting->text)
        return sl_fail(err, SL_EINVAL, "profile key '%s' needs a text, got %zu numbers",
                       setting->name, setting->n_values);
    if (kind == NAME) {
        if (strlen(setting->text) >= sizeof profile->name)
            return sl_fail(err, SL_EINVAL, "profile key 'name' has %zu characters, at most %zu fit",
                           strlen(setting->text), sizeof profile->name - 1);
        strcpy(profile->name, setting->text);
    }
    if (kind == PROFILE) snprintf(profile->profile, sizeof profile->profile, "%s", setting->text);
    if (kind == D2D_ENGINE) {
        profile->d2d_on_sm = strcmp(setting->text, "sm") == 0;
        if (!profile->d2d_on_sm && strcmp(setting->text, "copy") != 0)
            return sl_fail(err, SL_EINVAL,
                           "profile key 'd2d_engine' is '%.60s', must be 'sm' or 'copy'",
                           setting->text);
    }
    return SL_OK;
}

/* How far a call's waiting goes, or its barrier: a boolean, "device", or the field's `own`. */
static sl_status read_reach(const sl_setting *setting, const char *own, sim_reach own_reach,
                            sim_reach *reach, sl_error *err)
{
    double flag = 0;
    if (!setting->text) {
        sl_status status = read_number(setting, 0, 1, &flag, err);
        if (status == SL_OK) *reach = flag != 0 ? SIM_DEVICE : SIM_NOTHING;
        return status;
    }
    bool whole = strcmp(setting->text, "device") == 0;
    if (!whole && strcmp(setting->text, own) != 0)
        return sl_fail(err, SL_EINVAL,
                       "profile key '%s' is '%.60s', must be true, false, 'device' or '%s'",
                       setting->name, setting->text, own);
    *reach = whole ? SIM_DEVICE : own_reach;
    return SL_OK;
}

static sl_status read_call(sim_profile *profile, int index, const sl_setting *setting,
                           sl_error *err)
{
    sim_call_cost *cost = &profile->calls[index / CALL_FIELDS];
    switch (index % CALL_FIELDS) {
    case CALL_US: return read_number(setting, 0, 1e9, &cost->us, err);
    case CALL_US_PER_MIB: return read_number(setting, 0, 1e9, &cost->us_per_mib, err);
    case CALL_FROM_BYTES: return read_number(setting, 0, 1e18, &cost->from_bytes, err);
    case CALL_WAITS: return read_reach(setting, "stream", SIM_STREAM, &cost->waits, err);
    default: return read_reach(setting, "blocking", SIM_BLOCKING, &cost->serialises, err);
    }
}

static sl_status read_setting(sim_profile *profile, int index, const sl_setting *setting,
                              sl_error *err)
{
    if (index >= FIRST_CALL) return read_call(profile, index - FIRST_CALL, setting, err);
    void *field = (char *)profile + keys[index].offset;
    switch (keys[index].kind) {
    case NUMBER:
        if (field == &profile->memory_bytes && setting->text
            && strcmp(setting->text, "unlimited") == 0) {
            profile->memory_bytes = INFINITY;
            return SL_OK;
        }
        return read_number(setting, keys[index].least, keys[index].greatest, field, err);
    case TABLE: return read_table(setting, keys[index].optional, keys[index].least, field, err);
    case GRID: return read_grid(setting, field, err);
    case COMPUTE_CAPABILITY: return read_compute_capability(profile, setting, err);
    default: return read_text(profile, keys[index].kind, setting, err);
    }
}

/* ---- profiles ---- */

/* How many products in float64 a GPU computes for one in float32, as the data sheets of its
 * compute capability have it: with tensor cores as many on an A100 and an H100. */
static double fp64_share(const sim_profile *p)
{
    switch (10 * p->compute_capability_major + p->compute_capability_minor) {
    case 80:
    case 90: return 1;
    case 60:
    case 70:
    case 100: return 1.0 / 2;
    case 75: return 1.0 / 32;
    default: return 1.0 / 64;
    }
}

/* What collectives send over a link is some less than what copies do; without peer access they go
 * through the host's memory. */
static double comm_link(const sim_profile *p)
{
    return p->peer_gb_per_s > 0 ? p->peer_gb_per_s * 0.93 : p->peer_host_gb_per_s * 0.5;
}

/* The optional numbers that were not there, from the others. Numbers are the first keys. */
static void fill_in(sim_profile *p, const bool seen[N_KEYS])
{
    int i = 0;
#define X(field, key, least, greatest) i++;
    SIM_PROFILE_NUMBERS(X)
#undef X
#define X(field, key, least, greatest, otherwise) \
    if (!seen[i++]) p->field = otherwise;
    SIM_PROFILE_OPTIONAL(X)
#undef X
}

static sl_status read_all(sim_profile *profile, const sl_setting *settings, size_t n_settings,
                          sl_error *err)
{
    bool seen[N_KEYS] = { false };
    for (size_t i = 0; i < n_settings; i++) {
        const int index = find_key(settings[i].name);
        if (index < 0) return fail_unknown(settings[i].name, err);
        if (seen[index])
            return sl_fail(err, SL_EINVAL, "profile key '%s' is given twice", settings[i].name);
        seen[index] = true;
        sl_status status = read_setting(profile, index, &settings[i], err);
        if (status != SL_OK) return status;
    }
    sl_status status = check_missing(seen, err);
    if (status != SL_OK) return status;
    fill_in(profile, seen);
    if (profile->priority_greatest > profile->priority_least)
        return sl_fail(err, SL_EINVAL,
                       "profile key 'priority_greatest' is %g, must not exceed "
                       "'priority_least', %g: lower is more urgent",
                       profile->priority_greatest, profile->priority_least);
    if (profile->host_graph_launch_us.n > SL_GRAPH_LAUNCHES)
        return sl_fail(err, SL_EINVAL,
                       "profile key 'host_graph.launch_us' has %zu pairs, at most %d fit",
                       profile->host_graph_launch_us.n, SL_GRAPH_LAUNCHES);
    return SL_OK;
}

sl_status sim_profile_read(sim_profile *profile, const sl_setting *settings, size_t n_settings,
                           sl_error *err)
{
    memset(profile, 0, sizeof *profile);
    for (int i = 0; i < SL_PLAIN_CALLS; i++)
        profile->calls[i] = (sim_call_cost){ .us = 1 };
    sl_status status = read_all(profile, settings, n_settings, err);
    if (status != SL_OK) sim_profile_free(profile);
    return status;
}

void sim_profile_free(sim_profile *profile)
{
    for (int i = 0; i < FIRST_CALL; i++) {
        void *field = (char *)profile + keys[i].offset;
        if (keys[i].kind == TABLE)
            free(((sim_table *)field)->x);
        else if (keys[i].kind == GRID)
            free(((sim_grid *)field)->x);
    }
    memset(profile, 0, sizeof *profile);
}

/* The i with x[i] <= at < x[i + 1]; at an end the first or the last but one. n > 1. */
static size_t interval(const double *x, size_t n, double at)
{
    size_t low;
    SL__SEARCH(low, n - 2, x[low + 1] <= at);
    return low;
}

double sim_table_at(const sim_table *table, double x)
{
    const size_t n = table->n;
    if (n == 0) return 0;
    if (x <= table->x[0]) return table->y[0];
    if (!(x < table->x[n - 1])) return table->y[n - 1];
    const size_t low = interval(table->x, n, x);
    const double part = (x - table->x[low]) / (table->x[low + 1] - table->x[low]);
    return table->y[low] + part * (table->y[low + 1] - table->y[low]);
}

double sim_table_us(const sim_table *table, double amount)
{
    const size_t n = table->n;
    if (n < 2 || amount <= table->x[n - 1]) return sim_table_at(table, amount);
    const double slope = (table->y[n - 1] - table->y[n - 2]) / (table->x[n - 1] - table->x[n - 2]);
    return table->y[n - 1] + (amount - table->x[n - 1]) * (slope > 0 ? slope : 0);
}

/* Where `at` lies between two of n values: 0 to 1; before the first 0, beyond the last 1. */
static double part_of(const double *x, size_t i, double at, bool squared)
{
    const double from = squared ? x[i] * x[i] : x[i];
    const double to = squared ? x[i + 1] * x[i + 1] : x[i + 1];
    const double part = (at - from) / (to - from);
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

double sim_grid_us(const sim_grid *grid, double area, double y)
{
    const size_t n_x = grid->n_x, n_y = grid->n_y;
    if (n_x < 2 || n_y < 2) return 0;
    size_t i = 0;
    while (i + 2 < n_x && grid->x[i + 1] * grid->x[i + 1] <= area)
        i++;
    const size_t j = interval(grid->y, n_y, y);
    const double u = part_of(grid->x, i, area, true), v = part_of(grid->y, j, y, false);
    const double *z = grid->z + i * n_y + j;
    const double low = z[0] + v * (z[1] - z[0]), high = z[n_y] + v * (z[n_y + 1] - z[n_y]);
    /* Beyond the grid the work grows in proportion. */
    const double most_area = grid->x[n_x - 1] * grid->x[n_x - 1], most_y = grid->y[n_y - 1];
    return (low + u * (high - low)) * (area > most_area ? area / most_area : 1)
           * (y > most_y ? y / most_y : 1);
}

/* The i whose x, or its square, is the nearest to `at` by ratio. */
static size_t nearest(const double *x, size_t n, double at, bool squared)
{
    size_t i = 0;
    while (i + 1 < n && (squared ? x[i] * x[i + 1] * x[i] * x[i + 1] : x[i] * x[i + 1]) < at * at)
        i++;
    return i;
}

size_t sim_table_nearest(const sim_table *table, double x)
{
    return nearest(table->x, table->n, x, false);
}

double sim_grid_nearest(const sim_grid *grid, double area, double y)
{
    if (grid->n_x == 0) return 0;
    const size_t i = nearest(grid->x, grid->n_x, area, true);
    return grid->z[i * grid->n_y + nearest(grid->y, grid->n_y, y, false)];
}
