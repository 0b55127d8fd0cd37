/* nsys_read.c - reports of Nsight Systems, which `nsys export --type sqlite` makes databases of.
 *
 * Nsight Systems has CUPTI's records, as our recorder has, in a table a kind. Each row becomes the
 * record that a spool would have of it, and spool_read.c takes it: what waits are for, and what
 * belongs together, is found as it is for a spool. The rows of several processes lie mixed; a row
 * says whose it is ("globalPid": hardware, machine and process, above 24 bits for a thread).
 *
 * The schema is that of 2021 to 2026 (NVIDIA's "SQLite Schema Reference"). Tables and columns are
 * there if the report has something for them, and come and go with versions: what is missing counts
 * as not known. Where a table of enumerations says what a number means, that holds.
 */
#include "nsys_read.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "nsys_report.h"

/* ---- processes ---- */

static int64_t process_bits(int64_t global) { return (int64_t)((uint64_t)global >> 24); }

static uint32_t pid_of(int64_t process) { return (uint32_t)(process & 0xffffff); }

static sl_status add_member(sl__nsys_report *r, int64_t process, sl_error *err)
{
    sl__nsys_process *m = &r->members[r->n_members];
    spool_start start = { .kind = SPOOL_START, .version = SPOOL_VERSION, .pid = pid_of(process) };
    *m = (sl__nsys_process){ .global = process };
    sl_status status = sl__process_open(r->all, true, &m->process, err);
    if (m->process) r->last = r->n_members++;
    return status == SL_OK ? SL__NSYS_HAND_OVER(m, start, start, err) : status;
}

/* Whose row it is; NULL: of none that is known. Old reports do not say it of every row. */
static sl__nsys_process *find_member(sl__nsys_report *r, int64_t global)
{
    const int64_t process = process_bits(global);
    if (r->n_members > 0 && (global == 0 || r->members[r->last].global == process))
        return &r->members[r->last];
    for (size_t i = 0; i < r->n_members; i++)
        if (r->members[i].global == process) return &r->members[r->last = i];
    return NULL;
}

/* The same, also of one that is not known; *found is NULL for one process too many. */
static sl_status find_or_add(sl__nsys_report *r, int64_t global, sl__nsys_process **found,
                             sl_error *err)
{
    *found = find_member(r, global);
    if (*found) return SL_OK;
    r->n_left_out += r->n_members == SL__NSYS_PROCESSES;
    if (r->n_members == SL__NSYS_PROCESSES) return SL_OK;
    sl_status status = add_member(r, process_bits(global), err);
    *found = &r->members[r->last];
    return status;
}

/* ---- tables ---- */

static sl_status read_table(sl__nsys_report *r, const sl__nsys_table *t, bool adds, sl_error *err)
{
    sl__rows rows;
    bool more = false;
    sl_status status = sl__rows_open(r->db, t->name, t->columns, &rows, err);
    while (status == SL_OK && (status = sl__rows_next(&rows, &more, err)) == SL_OK && more) {
        const int64_t global = sl__rows_whole(&rows, t->process, 0);
        sl__nsys_process *m = find_member(r, global);
        if (!m && adds) status = find_or_add(r, global, &m, err);
        if (status == SL_OK && m) status = t->take(r, &rows, m, err);
    }
    sl__rows_close(&rows);
    return status;
}

/* ---- what there is ---- */

/* The process with a system's number; NULL: it did nothing. */
static sl__nsys_process *member_of_pid(sl__nsys_report *r, int64_t pid)
{
    for (size_t i = 0; i < r->n_members; i++)
        if (pid_of(r->members[i].global) == pid) return &r->members[i];
    return NULL;
}

static sl_status read_gpus(sl__nsys_report *r, sl_error *err)
{
    static const char *const columns[] = { "pid", "cudaId", "gpuId", NULL };
    sl__rows rows;
    bool more = false;
    sl_status status = sl__rows_open(r->db, "TARGET_INFO_CUDA_DEVICE", columns, &rows, err);
    while (status == SL_OK && (status = sl__rows_next(&rows, &more, err)) == SL_OK && more) {
        const sl__nsys_gpu gpu = { .pid = sl__nsys_number(&rows, 0, 0),
                                   .cuda = sl__nsys_number(&rows, 1, SPOOL_NONE),
                                   .gpu = sl__nsys_number(&rows, 2, SPOOL_NONE) };
        if (gpu.cuda == SPOOL_NONE || gpu.gpu == SPOOL_NONE || r->n_gpus == SL__NSYS_GPUS) continue;
        for (size_t i = 0; i < r->n_gpus; i++)
            r->are_apart |= r->gpus[i].cuda == gpu.cuda && r->gpus[i].gpu != gpu.gpu;
        r->gpus[r->n_gpus++] = gpu;
    }
    sl__rows_close(&rows);
    return status;
}

/* The index of a GPU of the machine among the records' devices. */
static uint32_t index_of_gpu(const sl__nsys_report *r, const sl__rows *rows, int id, int cuda)
{
    const uint32_t gpu = sl__nsys_number(rows, id, 0);
    if (r->are_apart) return gpu;
    for (size_t i = 0; i < r->n_gpus; i++)
        if (r->gpus[i].gpu == gpu) return r->gpus[i].cuda;
    return sl__nsys_number(rows, cuda, gpu);
}

/* A green context, a part of the GPU, has its streams in the context that it is made in. */
static sl_status read_contexts(sl__nsys_report *r, sl_error *err)
{
    static const char *const columns[] = { "processId",    "contextId",      "deviceId",
                                           "nullStreamId", "isGreenContext", NULL };
    enum { PID, ID, DEVICE, NULL_STREAM, GREEN };
    sl__rows rows;
    bool more = false;
    sl_status status = sl__rows_open(r->db, "TARGET_INFO_CUDA_CONTEXT_INFO", columns, &rows, err);
    while (status == SL_OK && (status = sl__rows_next(&rows, &more, err)) == SL_OK && more) {
        sl__nsys_process *m = member_of_pid(r, sl__rows_whole(&rows, PID, -1));
        spool_context context = { .kind = SPOOL_CONTEXT,
                                  .context = sl__nsys_number(&rows, ID, 0),
                                  .null_stream = sl__nsys_number(&rows, NULL_STREAM, 0) };
        if (!m || sl__rows_whole(&rows, GREEN, 0) != 0) continue;
        context.device = sl__nsys_device(r, m, sl__nsys_number(&rows, DEVICE, 0));
        status = SL__NSYS_HAND_OVER(m, context, context, err);
    }
    sl__rows_close(&rows);
    return status;
}

static sl_status read_streams(sl__nsys_report *r, sl_error *err)
{
    static const char *const columns[] = { "processId", "contextId", "streamId",
                                           "priority",  "flag",      NULL };
    enum { PID, IN, NUMBER, PRIORITY, FLAG };
    sl__rows rows;
    bool more = false;
    sl_status status = sl__rows_open(r->db, "TARGET_INFO_CUDA_STREAM", columns, &rows, err);
    while (status == SL_OK && (status = sl__rows_next(&rows, &more, err)) == SL_OK && more) {
        sl__nsys_process *m = member_of_pid(r, sl__rows_whole(&rows, PID, -1));
        const int64_t priority = sl__rows_whole(&rows, PRIORITY, 0);
        spool_stream stream = { .kind = SPOOL_STREAM,
                                .context = sl__nsys_number(&rows, IN, 0),
                                .stream = sl__nsys_number(&rows, NUMBER, SPOOL_NONE),
                                .flag = sl__nsys_number(&rows, FLAG, 0),
                                .priority = priority >= INT32_MIN && priority <= INT32_MAX
                                                ? (int32_t)priority
                                                : 0 };
        if (m && stream.stream != SPOOL_NONE) status = SL__NSYS_HAND_OVER(m, stream, stream, err);
    }
    sl__rows_close(&rows);
    return status;
}

static sl_status read_devices(sl__nsys_report *r, sl_error *err)
{
    static const char *const columns[] = { "id",
                                           "cuDevice",
                                           "name",
                                           "totalMemory",
                                           "smCount",
                                           "computeMajor",
                                           "computeMinor",
                                           "maxThreadsPerBlock",
                                           "maxShmemPerSm",
                                           "asyncEngines",
                                           NULL };
    enum { ID, CUDA, NAME, MEMORY, SMS, MAJOR, MINOR, THREADS, SHARED, ENGINES };
    sl__rows rows;
    bool more = false;
    sl_status status = sl__rows_open(r->db, "TARGET_INFO_GPU", columns, &rows, err);
    while (status == SL_OK && (status = sl__rows_next(&rows, &more, err)) == SL_OK && more) {
        size_t n;
        const char *given = sl__rows_text(&rows, NAME, &n);
        char name[64] = "";
        spool_device device = { .kind = SPOOL_DEVICE,
                                .index = index_of_gpu(r, &rows, ID, CUDA),
                                .memory_bytes = sl__nsys_size(&rows, MEMORY),
                                .sms = sl__nsys_number(&rows, SMS, 0),
                                .major = sl__nsys_number(&rows, MAJOR, 0),
                                .minor = sl__nsys_number(&rows, MINOR, 0),
                                .threads_per_block = sl__nsys_number(&rows, THREADS, 0),
                                .shared_per_sm = sl__nsys_number(&rows, SHARED, 0),
                                .copy_engines = sl__nsys_number(&rows, ENGINES, 0),
                                .name = name };
        if (given) memcpy(name, given, sl__min(n, sizeof name - 1));
        if (r->n_members > 0) status = SL__NSYS_HAND_OVER(&r->members[0], device, device, err);
    }
    sl__rows_close(&rows);
    return status;
}

/* ---- the whole ---- */

static sl_status read_tables(sl__nsys_report *r, sl_error *err)
{
    sl_status status = sl__nsys_strings_read(&r->strings, r->db, err);
    if (status == SL_OK) status = sl__nsys_enums_read(&r->enums, r->db, err);
    if (status == SL_OK) status = read_gpus(r, err);
    for (const sl__nsys_table *t = sl__nsys_tables; t->name && status == SL_OK; t++)
        status = read_table(r, t, true, err);
    for (const sl__nsys_table *t = sl__nsys_host_tables; t->name && status == SL_OK; t++)
        status = read_table(r, t, false, err);
    if (status == SL_OK) status = sl__nsys_warnings_read(r, err);
    if (status == SL_OK) status = read_contexts(r, err);
    if (status == SL_OK) status = read_streams(r, err);
    if (status == SL_OK) status = read_devices(r, err);
    return status;
}

static sl_status end_processes(sl__nsys_report *r, size_t first_host, size_t first_work,
                               sl_error *err)
{
    const spool_end end = { .kind = SPOOL_END };
    sl_status status = SL_OK;
    r->all->several |= r->n_members > 1;
    for (size_t i = 0; i < r->n_members && status == SL_OK; i++) {
        status = SL__NSYS_HAND_OVER(&r->members[i], end, end, err);
        if (status == SL_OK) status = sl__process_end(r->members[i].process, first_work, NULL, err);
    }
    sl__inner_calls_leave(&r->all->records, first_host);
    return status;
}

static void doubt(sl__nsys_report *r)
{
    sl__doubted *doubted = r->all->records.doubted;
    const char *damage = sl__sqlite_damage(r->db);
    if (damage && doubted[SL_DOUBT_CUT_OFF].n++ == 0)
        sl_text_add(&doubted[SL_DOUBT_CUT_OFF].what, "%s", damage);
    if (r->n_left_out > 0 && doubted[SL_DOUBT_BAD_EVENTS].n == 0)
        sl_text_add(&doubted[SL_DOUBT_BAD_EVENTS].what, "it is of a process behind the first %d",
                    SL__NSYS_PROCESSES);
    doubted[SL_DOUBT_BAD_EVENTS].n += r->n_left_out;
    r->all->records.open_waits = r->n_syncs == 0 || r->n_events == 0;
}

/* Databases of other tools, by a table's name, and what to do instead. */
static const struct {
    const char *table, *sentence;
} others[] = {
    { "rocpd_", "it is a database of rocprofv3 (rocpd), whose form is not read: rocprofv3 "
                "--runtime-trace --output-format json -- COMMAND writes a file that can be read" },
    { "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
      "it is a database of nvprof, whose form is not read: nsys profile --trace=cuda COMMAND "
      "records the program, and nsys export --type sqlite makes a database of its report" },
};

static sl_status refuse_others(const sl__nsys_report *r, sl_error *err)
{
    sl__rows rows;
    bool more = false;
    sl_status status = sl__rows_open_tables(r->db, &rows, err);
    while (status == SL_OK && (status = sl__rows_next(&rows, &more, err)) == SL_OK && more) {
        size_t n;
        const char *name = sl__rows_text(&rows, 0, &n);
        for (size_t i = 0; name && i < sizeof others / sizeof *others && status == SL_OK; i++) {
            const size_t length = strlen(others[i].table);
            if (n >= length && memcmp(name, others[i].table, length) == 0)
                status = sl_fail(err, SL_EINVAL, "%s", others[i].sentence);
        }
    }
    sl__rows_close(&rows);
    return status;
}

sl_status sl__nsys_read(sl__spools *all, const char *path, sl_error *err)
{
    const size_t first_host = all->records.n_hosts, first_work = all->records.n_works;
    sl__nsys_report *r = calloc(1, sizeof *r);
    if (!r) return sl__no_memory(err, "a report");
    r->all = all;
    r->strings.timeline = all->records.timeline;
    all->records.nsys = true;
    sl_status status = sl__sqlite_open(path, &r->db, err);
    if (status == SL_OK) status = read_tables(r, err);
    if (status == SL_OK && all->records.n_works == first_work) status = refuse_others(r, err);
    if (status == SL_OK) status = end_processes(r, first_host, first_work, err);
    if (status == SL_OK) doubt(r);
    for (size_t i = 0; i < r->n_members; i++)
        sl__process_close(r->members[i].process);
    sl__nsys_strings_free(&r->strings);
    sl__sqlite_close(r->db);
    free(r);
    return status;
}
