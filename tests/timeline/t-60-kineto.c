/* t-60-kineto.c - the trace file: JSON, rows, flows, pairs, and whole or not at all. */
#define _XOPEN_SOURCE 700 /* mkdtemp, setrlimit */
#include "files.h"
#include "make.h"
#include "trace_rules.h"
#include "../../core/timeline/lanes.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void save(const sl_timeline *tl, const char *path)
{
    sl_error err;
    must(sl_timeline_save_kineto(tl, path, &err), &err);
}

/* ---- what is saved -------------------------------------------------------------------- */

static sl_timeline *rich(void)
{
    sl_error err;
    sl_timeline *tl = make();
    sl_device_info info = {
        .name = "NVIDIA \"H200\"",
        .profile = "h200",
        .backend = "sim",
        .simulated = true,
        .sm_count = 132,
        .memory_bytes = 150109880320,
        .compute_capability_major = 9,
    };
    sl_timeline_set_device(tl, &info);
    note(tl, 0, "NULL stream", false);
    note(tl, 1, "compute\n\xff", false);
    sl_span k = {
        .start_ns = 5000,
        .end_ns = 61700,
        .host_start_ns = 100,
        .host_end_ns = 3900,
        .correlation = ++issued,
        .stream = 1,
        .kind = SL_SPAN_KERNEL,
        .blocks = 64,
        .threads = 256,
        .registers = 168,
        .shared_bytes = 99328,
        .name = text_id(tl, "matmul_f32"),
        .where = text_id(tl, "puzzler.lua:12"),
    };
    must(sl_timeline_add_span(tl, &k, &err), &err);
    sl_span c = {
        .start_ns = 10000,
        .end_ns = 94000,
        .host_start_ns = 4000,
        .host_end_ns = 5400,
        .correlation = ++issued,
        .stream = 0,
        .kind = SL_SPAN_MEMCPY_H2D,
        .engine = SL_ENGINE_H2D,
        .bytes = 4194304,
        .flags = SL_SPAN_SRC_PINNED,
        .name = text_id(tl, "Memcpy HtoD (Pinned -> Device)"),
    };
    must(sl_timeline_add_span(tl, &c, &err), &err);
    span(tl, 0, SL_SPAN_MEMSET, 94000, 95000);
    span(tl, 1, SL_SPAN_HOST_FUNC, 70000, 80000);
    span(tl, 0, SL_SPAN_HOST_FUNC, 60000, 75000);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 0, record, 1);
    call(tl, SL_CALL_STREAM_WAIT, 0, 0, 0);
    call(tl, SL_CALL_STREAM_SYNC, 1, 0, 0);
    call(tl, SL_CALL_EVENT_SYNC, 0, record, 1);
    call(tl, SL_CALL_DEVICE_SYNC, 0, 0, 0);
    sl_call plain = {
        .host_start_ns = 200000,
        .host_end_ns = 210000,
        .correlation = ++issued,
        .kind = SL_CALL_PLAIN,
        .name = text_id(tl, "cudaFree"),
        .waited_for_device = true,
    };
    must(sl_timeline_add_call(tl, &plain, &err), &err);
    span(tl, 0, SL_SPAN_MEMCPY_D2D, 94900, 94950); /* 100 ns too early: moved to 95000 */
    sl_timeline_finish(tl, 0, 300000);
    return tl;
}

static bool has(const char *text, const char *line)
{
    bool found = strstr(text, line) != NULL;
    if (!found) diag("  not found: %s", line);
    return found;
}

static void test_header(const char *text)
{
    ok(is_json(text), "the file is JSON");
    ok(starts(first_event(text), "{\"ph\":\"M\""), "the first event is metadata");
    ok(has(text, "\"distributedInfo\":{\"rank\": 0}"), "the rank has its blank");
    ok(has(text, "\"schemaVersion\":1,") && has(text, "\"displayTimeUnit\":\"ms\",")
           && has(text, "\"baseTimeNanoseconds\":0,"),
       "kineto's header keys are there");
    ok(has(text, "\"name\":\"NVIDIA \\\"H200\\\"\",\"totalGlobalMem\":150109880320"),
       "the device is described, and quotes are escaped");
    ok(has(text,
           "\"streamlab\":{\"version\":\"" STREAMLAB_VERSION "\",\"backend\":\"sim\",\"device\":"),
       "so is who wrote it");
    ok(has(text, "\"name\":\"stream 8: compute\\n\xEF\xBF\xBD\""),
       "control characters are escaped, bytes that are no UTF-8 replaced");
}

static void test_order_of_rows(const char *text)
{
    ok(has(text, "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":4242,\"tid\":0,\"ts\":0,"
                 "\"args\":{\"sort_index\":0}}")
           && has(text,
                  "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":0,\"tid\":0,\"ts\":0,"
                  "\"args\":{\"sort_index\":1}}"),
       "the host stands above the GPU");
    ok(has(text, "\"name\":\"thread_sort_index\",\"pid\":0,\"tid\":8,\"ts\":0,"
                 "\"args\":{\"sort_index\":8}}"),
       "and streams in their order");
}

static void test_operations(const char *text)
{
    ok(has(text,
           "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":4242,"
           "\"tid\":4242,\"ts\":0.100,\"dur\":3.800,\"loc\":\"puzzler.lua:12\",\"args\":{"
           "\"External id\":1,\"correlation\":1,\"where\":\"puzzler.lua:12\"}},\n"),
       "the launch is a slice of the host");
    ok(has(text, "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"matmul_f32\",\"pid\":0,\"tid\":8,"
                 "\"ts\":5.000,\"dur\":56.700,\"args\":{\"External id\":1,\"device\":0,"
                 "\"context\":1,\"correlation\":1,\"stream\":8,\"queued\":0,\"priority\":0,"
                 "\"registers per thread\":168,\"shared memory\":99328,"
                 "\"blocks per SM\":0.484,\"warps per SM\":3.878,\"grid\":[64,1,1],"
                 "\"block\":[256,1,1]}},\n"),
       "the kernel is a slice of its stream, 1 + 7");
    /* 4194304 B in 84000 ns: 49.932 GB/s */
    ok(has(text, "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pinned -> Device)\","
                 "\"pid\":0,\"tid\":7,\"ts\":10.000,\"dur\":84.000,\"args\":{\"External id\":2,"
                 "\"device\":0,\"context\":1,\"correlation\":2,\"stream\":7,\"bytes\":4194304,"
                 "\"memory bandwidth (GB/s)\":49.932}},\n"),
       "a copy has bytes and bandwidth");
    ok(has(text, "\"cat\":\"gpu_memset\"") && has(text, "cudaMemsetAsync"), "a memset is one");
    ok(has(text, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"host_func\",\"pid\":4242,"
                 "\"tid\":2000008,\"ts\":70.000,\"dur\":10.000,\"args\":{\"External id\":4}},\n"),
       "a host function is work of the host, without stream and correlation");
    ok(has(text, "\"cat\":\"gpu_memcpy\",\"name\":\"memcpy_d2d\",\"pid\":0,\"tid\":7,"
                 "\"ts\":95.000,\"dur\":0.000"),
       "a slice never begins before the last one's end");
}

static void test_calls(const char *text)
{
    ok(has(text, "\"name\":\"cudaEventRecord\"") && has(text, "\"name\":\"cudaStreamWaitEvent\"")
           && has(text, "\"name\":\"cudaStreamSynchronize\"")
           && has(text, "\"name\":\"cudaEventSynchronize\"")
           && has(text, "\"name\":\"cudaDeviceSynchronize\""),
       "every call has CUDA's name");
    ok(has(text, "\"name\":\"cudaFree\"") && has(text, "\"waited for device\":true"),
       "a plain call that waited says so");
    ok(has(text, "\"cat\":\"cuda_sync\",\"name\":\"Stream Wait Event\",\"pid\":0,\"tid\":1000007,")
           && has(text, "\"correlation\":7,\"stream\":7,\"wait_on_stream\":8,"
                        "\"wait_on_cuda_event_record_corr_id\":6}}"),
       "a wait names the waiter, the recorder and the record");
    const char *wait = strstr(text, "Stream Wait Event");
    ok(wait && !strstr(wait + 1, "Stream Wait Event"), "a wait for no record has no sync event");
    ok(has(text, "\"name\":\"Stream Sync\",\"pid\":0,\"tid\":1000008,")
           && has(text, "\"correlation\":9,\"stream\":8}}"),
       "a stream synchronisation has its stream");
    ok(has(text, "\"name\":\"Event Sync\",\"pid\":0,\"tid\":1000000,")
           && has(text, "\"correlation\":10,\"stream\":-1,\"wait_on_stream\":8,"
                        "\"wait_on_cuda_event_record_corr_id\":6}}"),
       "an event's has stream -1");
    ok(has(text, "\"name\":\"Context Sync\",\"pid\":0,\"tid\":1000000,")
           && has(text, "\"correlation\":11,\"stream\":-1}}"),
       "so has the device's");
}

static void test_rows(const char *text)
{
    findings found = check_events(text);
    is_int(found.recordings, 1, "a slice spans the recording");
    is_int(found.slices, 6 * 2 + 7 + 4, "six operations, seven calls, four synchronisations");
    is_int(found.overlaps, 0, "slices of one row never overlap and ascend");
    is_int(found.unnamed, 0, "every row has a name before its first slice");
    is_int(found.flow_starts, 6, "every operation starts a flow");
    is_int(found.flow_ends, 6, "and ends it");
    is_int(found.loose_flows, 0, "at the start of the slices that it joins");
    is_int(found.other, 0, "there are no other events, and metadata stands at 0");
}

static void test_saving(const sl_timeline *tl, const char *text)
{
    sl_error err;
    save(tl, in_directory("again.json"));
    char *again = contents(in_directory("again.json"));
    is_str(again, text, "the same timeline under another name is the same bytes");
    free(again);
    const char *nowhere = in_directory("none/x.json");
    is_int(sl_timeline_save_kineto(tl, nowhere, &err), SL_EIO, "a missing folder is SL_EIO");
    ok(strstr(err.msg, nowhere) && strstr(err.msg, "No such file"), "and named: %s", err.msg);
    is_int(sl_timeline_save_kineto(tl, directory, &err), SL_EIO, "so is a folder as the path");
    is_int(sl_timeline_save_kineto(tl, "/dev/null", &err), SL_OK, "a device is written to");
    struct stat info;
    ok(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode), "and stays a device");
    if (symlink("again.json", in_directory("link.json")) != 0) diag("no symbolic link");
    save(tl, in_directory("link.json"));
    ok(lstat(in_directory("link.json"), &info) == 0 && S_ISLNK(info.st_mode),
       "a symbolic link stays one");
    is_int(files_in_directory(), 3, "no temporary file is left");
}

/* A disk that is full after 4 KiB. */
static void test_full_disk(const sl_timeline *tl)
{
    const char *path = in_directory("old.json");
    FILE *file = fopen(path, "w");
    if (file) {
        fputs("old", file);
        fclose(file);
    }
    int before = files_in_directory();
    struct rlimit limit, small = { 4096, 4096 };
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small.rlim_max = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    sl_error err;
    sl_status status = sl_timeline_save_kineto(tl, path, &err);
    setrlimit(RLIMIT_FSIZE, &limit);
    is_int(status, SL_EIO, "a write that fails is SL_EIO: %s", err.msg);
    char *text = contents(path);
    is_str(text, "old", "the old file is whole");
    is_int(files_in_directory(), before, "the temporary file is gone");
    free(text);
}

static bool is_trace(const char *path)
{
    char *text = contents(path);
    bool fine = text && is_json(text);
    free(text);
    return fine;
}

/* The mode of a new file, and of one that had `mode` before. */
static int mode_after(const sl_timeline *tl, int mode)
{
    const char *path = in_directory("mode.json");
    struct stat info = { 0 };
    unlink(path);
    if (mode >= 0) {
        FILE *file = fopen(path, "w");
        if (file) fclose(file);
        chmod(path, (mode_t)mode);
    }
    save(tl, path);
    stat(path, &info);
    unlink(path);
    return (int)(info.st_mode & 07777);
}

static void test_modes(const sl_timeline *tl)
{
    mode_t old = umask(022);
    is_int(mode_after(tl, -1), 0644, "a new file has the mode that the umask leaves");
    is_int(mode_after(tl, 0666), 0666, "an old file keeps its mode, also if all may write");
    is_int(mode_after(tl, 0600), 0600, "and if only its owner may");
    umask(old);
}

/* Links to nothing: one beside its target, one to a link, one that goes round. */
static void test_links(const sl_timeline *tl)
{
    sl_error err;
    struct stat info;
    const char *first = in_directory("first.json"), *second = in_directory("second.json");
    const char *target = in_directory("there.json");
    if (symlink("second.json", first) != 0 || symlink(target, second) != 0)
        diag("no symbolic link");
    save(tl, first);
    ok(lstat(first, &info) == 0 && S_ISLNK(info.st_mode) && lstat(second, &info) == 0
           && S_ISLNK(info.st_mode),
       "links to nothing stay links");
    ok(is_trace(target), "and the file that they name is made");
    unlink(first);
    unlink(second);
    unlink(target);
    if (symlink("first.json", first) != 0) diag("no symbolic link");
    is_int(sl_timeline_save_kineto(tl, first, &err), SL_EIO, "a link to itself is SL_EIO");
    unlink(first);
}

/* Names of 255 bytes are the longest that file systems take. */
static void test_long_names(const sl_timeline *tl)
{
    char path[1200];
    sl_error err;
    int n = snprintf(path, sizeof path, "%s/", directory);
    memset(path + n, 'n', 256);
    strcpy(path + n + 250, ".json");
    is_int(sl_timeline_save_kineto(tl, path, &err), SL_OK, "a name may have 255 bytes");
    ok(is_trace(path), "and is the trace's");
    unlink(path);
    strcpy(path + n + 251, "x.json");
    memset(path + n + 250, 'n', 1);
    is_int(sl_timeline_save_kineto(tl, path, &err), SL_EIO, "one more is too many");
    ok(strstr(err.msg, "name too long"), "and the reason is there: %s", err.msg);
    for (int i = 0; i < 4; i++)
        strcat(path, "/nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn");
    path[n + 100] = '/';
    path[n + 200] = '/';
    is_int(sl_timeline_save_kineto(tl, path, &err), SL_EIO, "a long path into no folder fails");
    ok(strstr(err.msg, "No such file"), "and does not hide the reason: %s", err.msg);
}

/* Ids that differ in their high bits only. The longest run of taken slots bounds how
 * long a search is. */
static void test_sparse_streams(void)
{
    enum { STREAMS = 4096 };
    sl_error err;
    sl_timeline *tl = make();
    for (uint32_t i = 0; i < STREAMS; i++)
        span(tl, i << 20 | i >> 12, SL_SPAN_KERNEL, i, i + 1);
    finish(tl);
    sl__lanes lanes;
    must(sl__lanes_collect(tl, false, &lanes, &err), &err);
    size_t longest = 0, taken = 0;
    for (size_t slot = 0; slot < lanes.keys.n_slots; slot++) {
        taken = lanes.keys.slots[slot] ? taken + 1 : 0;
        longest = taken > longest ? taken : longest;
    }
    is_int((int64_t)lanes.n, STREAMS, "every stream has a lane");
    ok(longest < 200, "ids that differ in their high bits only spread over the table (%zu)",
       longest);
    bool found = true;
    for (uint32_t i = 0; i < STREAMS; i++)
        found = found && lanes.ids[sl__lanes_find(&lanes, i << 20)] == i << 20;
    ok(found, "and are found");
    sl__lanes_free(&lanes);
    sl_timeline_release(tl);
}

static void test_empty(void)
{
    sl_timeline *tl = make();
    finish(tl);
    save(tl, in_directory("again.json"));
    char *text = contents(in_directory("again.json"));
    ok(is_json(text) && check_events(text).slices == 0, "an empty timeline is a valid trace");
    free(text);
    sl_timeline_release(tl);
}

/* A recording that began at 2000 ns: its times are counted from there. */
/* On a real GPU a kernel has a name of its own besides that of its operation. */
static void test_symbol(void)
{
    sl_error err;
    sl_timeline *tl = make();
    sl_span s = { .end_ns = 5, .correlation = 1, .blocks = 2, .threads = 32 };
    s.name = text_id(tl, "matmul_f32");
    s.symbol = text_id(tl, "void gemm<float, 4>");
    must(sl_timeline_add_span(tl, &s, &err), &err);
    s.symbol = 77;
    is_int(sl_timeline_add_span(tl, &s, &err), SL_EINVAL, "a symbol is a text of the timeline");
    finish(tl);
    save(tl, in_directory("again.json"));
    char *text = contents(in_directory("again.json"));
    ok(is_json(text) && has(text, "\"name\":\"matmul_f32\"")
           && has(text, "\"block\":[32,1,1],\"kernel\":\"void gemm<float, 4>\"}}"),
       "the kernel's own name is among its arguments");
    free(text);
    sl_timeline_release(tl);
}

static void test_start(void)
{
    sl_error err;
    sl_timeline *tl = make();
    sl_span k = {
        .start_ns = 5000,
        .end_ns = 61700,
        .host_start_ns = 2100,
        .host_end_ns = 3900,
        .correlation = ++issued,
        .stream = 1,
        .name = text_id(tl, "pow_f32"),
    };
    must(sl_timeline_add_span(tl, &k, &err), &err);
    sl_timeline_finish(tl, 2000, 70000);
    save(tl, in_directory("again.json"));
    char *text = contents(in_directory("again.json"));
    ok(has(text, "\"pid\":4242,\"tid\":4242,\"ts\":0.100,\"dur\":1.800,"),
       "a call is counted from the recording's start");
    ok(has(text, "\"name\":\"pow_f32\",\"pid\":0,\"tid\":8,\"ts\":3.000,\"dur\":56.700,"),
       "so is the device's work");
    is_int(check_events(text).loose_flows, 0, "and both ends of the flow");
    free(text);
    sl_timeline_release(tl);
}

/* The host waits for streams in which nothing ran: they have a row for that alone. */
static void test_idle_streams(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 100);
    call(tl, SL_CALL_STREAM_SYNC, 5, 0, 0);
    call(tl, SL_CALL_STREAM_SYNC, 0, 0, 0);
    finish(tl);
    save(tl, in_directory("again.json"));
    char *text = contents(in_directory("again.json"));
    ok(has(text, "\"name\":\"stream 12 sync\"")
           && has(text, "\"name\":\"Stream Sync\",\"pid\":0,\"tid\":1000012,"),
       "a wait for a stream without work has a row");
    ok(has(text, "\"name\":\"stream 7 sync\"")
           && has(text, "\"name\":\"Stream Sync\",\"pid\":0,\"tid\":1000007,"),
       "each its own");
    ok(!strstr(text, "\"name\":\"stream 12\"") && !strstr(text, "\"name\":\"stream 8 sync\""),
       "and no other");
    findings found = check_events(text);
    ok(found.unnamed == 0 && found.overlaps == 0, "all rows are named, and nothing overlaps");
    free(text);
    sl_timeline_release(tl);
}

/* ---- what only we write ---------------------------------------------------------------- */

static void hold(sl_timeline *tl, sl_hold h)
{
    sl_error err;
    must(sl_timeline_add_hold(tl, &h, &err), &err);
}

static void describe_own(sl_timeline *tl)
{
    sl_error err;
    sl_device_info info = {
        .name = "G",
        .profile = "p",
        .backend = "sim",
        .simulated = true,
        .async_engine_count = 3,
        .priority_greatest = -5,
    };
    sl_timeline_set_device(tl, &info);
    note(tl, 0, "default", false);
    sl_stream_note urgent = {
        .id = 3,
        .name = text_id(tl, "urgent"),
        .priority = -5,
        .non_blocking = true,
    };
    must(sl_timeline_add_stream(tl, &urgent, &err), &err);
}

/* Returns the text of its line. */
static uint32_t add_kernel_that_waited(sl_timeline *tl)
{
    sl_error err;
    sl_span k = {
        .start_ns = 5000,
        .end_ns = 6000,
        .host_start_ns = 1100,
        .host_end_ns = 1200,
        .correlation = 1,
        .stream = 3,
        .flags = SL_SPAN_QUEUE_FULL | SL_SPAN_LOADED | SL_SPAN_GUESSED,
        .blocks = 2,
        .threads = 32,
        .name = text_id(tl, "k"),
        .where = text_id(tl, "a.lua:2"),
    };
    must(sl_timeline_add_span(tl, &k, &err), &err);
    hold(tl, (sl_hold){ .correlation = 1,
                        .ready_ns = 2500,
                        .ready_cause = SL_CAUSE_LATENCY,
                        .start_cause = SL_CAUSE_ENGINE,
                        .start_by = 1 });
    return k.where;
}

static void add_odd_copy(sl_timeline *tl)
{
    sl_error err;
    sl_span c = {
        .start_ns = 5900,
        .end_ns = 6500,
        .host_start_ns = 1300,
        .host_end_ns = 7000,
        .correlation = 2,
        .stream = 3,
        .kind = SL_SPAN_MEMCPY_D2D,
        .bytes = 600,
        .engine = SL_ENGINE_P2P,
        .flags = SL_SPAN_HOST_WAITED | SL_SPAN_DST_PAGEABLE,
        .name = text_id(tl, "copy"),
    };
    must(sl_timeline_add_span(tl, &c, &err), &err); /* 100 ns too early for its stream */
    hold(tl, (sl_hold){ .correlation = 2,
                        .ready_ns = 5900,
                        .ready_by = 1,
                        .ready_cause = SL_CAUSE_STREAM_ORDER });
}

static void add_record_wait_and_work(sl_timeline *tl, uint32_t where)
{
    sl_error err;
    sl_call r = {
        .host_start_ns = 7100,
        .host_end_ns = 7200,
        .device_ns = 7300,
        .correlation = 3,
        .stream = 3,
        .queue_full = true,
    };
    must(sl_timeline_add_call(tl, &r, &err), &err);
    hold(tl, (sl_hold){ .correlation = 3, .ready_ns = 7300 });
    sl_call old = {
        .host_start_ns = 7300,
        .host_end_ns = 7400,
        .device_ns = 7500,
        .correlation = 40,
        .target = 7,
        .target_stream = 5,
        .kind = SL_CALL_STREAM_WAIT,
    };
    must(sl_timeline_add_call(tl, &old, &err), &err);
    sl_call work = {
        .host_start_ns = 7500,
        .host_end_ns = 8000,
        .correlation = 41,
        .kind = SL_CALL_HOST_WORK,
        .where = where,
    };
    must(sl_timeline_add_call(tl, &work, &err), &err);
}

static void add_host_func(sl_timeline *tl)
{
    sl_error err;
    sl_span f = {
        .start_ns = 8200,
        .end_ns = 8300,
        .host_start_ns = 8100,
        .host_end_ns = 8150,
        .correlation = 42,
        .kind = SL_SPAN_HOST_FUNC,
        .engine = SL_ENGINE_HOST,
        .name = text_id(tl, "f"),
    };
    must(sl_timeline_add_span(tl, &f, &err), &err);
    hold(tl, (sl_hold){ .correlation = 42,
                        .ready_ns = 8200,
                        .ready_by = 40,
                        .ready_cause = SL_CAUSE_NULL_STREAM });
}

/* A recording from 1000 ns on: two copies whose names do not say what they are, a kernel
 * that had to wait, a record, waits for it and for one made before, work of the host. */
static sl_timeline *all_that_is_ours(void)
{
    sl_error err;
    sl_timeline *tl = make();
    describe_own(tl);
    uint32_t where = add_kernel_that_waited(tl);
    add_odd_copy(tl);
    add_record_wait_and_work(tl, where);
    add_host_func(tl);
    sl_timeline_finish(tl, 1000, 9000);
    must(sl_timeline_set_source(tl, where, "lab.spin(\"1\")", &err), &err);
    return tl;
}

static void test_own_header(const char *text)
{
    ok(is_json(text), "all that is ours is JSON");
    ok(has(text, "\"backend\":\"sim\",\"device\":\"G\",\"profile\":\"p\",\"simulated\":true,"
                 "\"async_engines\":3,\"priorities\":[0,-5],\n"
                 " \"start_ns\":1000,\"wall_ns\":8000,\n"),
       "the header has the device and the host's interval");
    ok(has(text, " \"streams\":[\n"
                 "  {\"id\":0,\"name\":\"default\",\"priority\":0,\"non_blocking\":false},\n"
                 "  {\"id\":3,\"name\":\"urgent\",\"priority\":-5,\"non_blocking\":true}],\n"),
       "and the streams");
    ok(has(text, " \"sources\":{\n  \"a.lua:2\":\"lab.spin(\\\"1\\\")\"}},\n"),
       "and the script's lines");
    ok(has(text, "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"streamlab\",\"pid\":4242,"
                 "\"tid\":4242,\"ts\":0.000,\"dur\":8.002}"),
       "the recording is an annotation");
}

static void test_own_spans(const char *text)
{
    ok(has(text, "\"where\":\"a.lua:2\",\"queue full\":true,\"loaded\":true}},\n"),
       "a launch that waited for room in the queue says so");
    ok(has(text, "\"queued\":0,\"priority\":-5,\"grid\":[2,1,1],\"block\":[32,1,1],"
                 "\"guessed\":true,\"ready us\":1.500,\"held cause\":\"latency\",\"start cause\":"
                 "\"engine_busy\",\"start by\":1}},\n"),
       "a kernel says what it was held by, and its priority");
    ok(has(text, "\"External id\":2,\"correlation\":2,\"host waited\":true}},\n"),
       "a call that returned after its operation's end says so");
    ok(has(text,
           "\"ts\":5.000,\"dur\":0.500,\"args\":{\"External id\":2,\"device\":0,\"context\":1,"
           "\"correlation\":2,\"stream\":10,\"bytes\":600,\"memory bandwidth (GB/s)\":1.200,"
           "\"kind\":\"memcpy_d2d\",\"engine\":\"p2p\",\"memory\":\"Device -> Pageable\","
           "\"ready us\":4.900,\"held cause\":\"stream_order\",\"held by\":1,"
           "\"own ts\":4.900,\"own dur\":0.600}},\n"),
       "a slice says what its name does not, and where it was before it was moved");
    ok(has(text, "\"tid\":2000007,\"ts\":7.200,\"dur\":0.100,\"args\":{\"External id\":42,"
                 "\"ready us\":7.200,\"held cause\":\"null_stream\",\"held by\":40}},\n"),
       "a host function has its hold");
}

static void test_own_calls(const char *text)
{
    ok(has(text, "\"External id\":3,\"correlation\":3,\"in stream\":10,\"device us\":6.300,"
                 "\"queue full\":true,\"ready us\":6.300}},\n"),
       "a record has its stream and its moment on the device");
    ok(has(text, "\"External id\":40,\"correlation\":40,\"in stream\":7,\"waits for\":7,"
                 "\"recorded in\":12,\"device us\":6.500}},\n"),
       "a wait for an earlier recording's event says for which");
    ok(has(text, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"host_work\",\"pid\":4242,"
                 "\"tid\":4242,\"ts\":6.500,\"dur\":0.500,\"loc\":\"a.lua:2\",\"args\":{"
                 "\"External id\":41,\"where\":\"a.lua:2\"}},\n"),
       "the host's own work is no call of CUDA's");
    findings found = check_events(text);
    is_int(found.overlaps + found.unnamed + found.loose_flows + found.other, 0,
           "and all of it keeps to the rules");
}

/* Nothing is lost: what was read back is written as before. */
static void test_read_back(const char *text, const char *name)
{
    sl_error err;
    sl_timeline *tl;
    must(sl_timeline_load_kineto(in_directory("again.json"), SL_BUSIEST_DEVICE, &tl, &err), &err);
    save(tl, in_directory("again.json"));
    char *again = contents(in_directory("again.json"));
    ok(strcmp(text, again) == 0, "%s", name);
    free(again);
    sl_timeline_release(tl);
}

static void test_own(void)
{
    sl_timeline *tl = all_that_is_ours();
    save(tl, in_directory("again.json"));
    char *text = contents(in_directory("again.json"));
    test_own_header(text);
    test_own_spans(text);
    test_own_calls(text);
    test_read_back(text, "what was read back is saved as the same bytes");
    free(text);
    sl_timeline_release(tl);
    tl = rich();
    save(tl, in_directory("again.json"));
    text = contents(in_directory("again.json"));
    test_read_back(text, "also where each kind of operation and call is there");
    free(text);
    sl_timeline_release(tl);
}

/* Calls one right after the other. As doubles, 203.442 + 0.270 is more than 203.712, and
 * 1000 * 2.006 is less than 2006 (both checked here); 1.000 + 1.000 is 2.000. */
static void test_touching(void)
{
    static const int64_t edges[] = { 1000, 2000, 2006, 203442, 203712, 203800 };
    volatile double sum = 203.442, product = 2.006;
    sum += 0.270;
    product *= 1000;
    ok(sum > 203.712 && product < 2006, "decimals as doubles are not exact");
    sl_error err;
    sl_timeline *tl = make();
    for (int i = 0; i < 5; i++) {
        sl_call c = {
            .host_start_ns = edges[i],
            .host_end_ns = edges[i + 1],
            .correlation = ++issued,
            .kind = SL_CALL_PLAIN,
            .name = text_id(tl, "cudaMalloc"),
        };
        must(sl_timeline_add_call(tl, &c, &err), &err);
    }
    sl_timeline_finish(tl, 0, 203800);
    save(tl, in_directory("again.json"));
    char *text = contents(in_directory("again.json"));
    ok(has(text, "\"ts\":2.000,\"dur\":0.006,\"args\":{\"External id\":2,\"correlation\":2}}"),
       "a slice that touches the one before it stays where it is");
    ok(has(text, "\"ts\":2.007,\"dur\":201.435,\"args\":{\"External id\":3,\"correlation\":3,"
                 "\"own ts\":2.006,\"own dur\":201.436}}"),
       "unless its start would be cut to a time before that one's end");
    ok(has(text, "\"ts\":203.713,\"dur\":0.087,\"args\":{\"External id\":5,\"correlation\":5,"
                 "\"own ts\":203.712,\"own dur\":0.088}}"),
       "or ts and dur of that one add up to more");
    is_int(check_events(text).overlaps, 0, "and nothing overlaps");
    free(text);
    sl_timeline_release(tl);
}

/* A wait within a call, as when memory is short, and a call of another thread. */
static void test_calls_at_once(void)
{
    static const int64_t times[][2] = {
        { 1000, 9000 },
        { 2000, 5000 },
        { 4000, 9500 },
        { 9000, 9900 },
    };
    sl_error err;
    sl_timeline *tl = make();
    for (int i = 0; i < 4; i++) {
        sl_call c = {
            .host_start_ns = times[i][0],
            .host_end_ns = times[i][1],
            .correlation = ++issued,
            .name = text_id(tl, "cudaMalloc"),
            .kind = SL_CALL_PLAIN,
        };
        must(sl_timeline_add_call(tl, &c, &err), &err);
    }
    sl_timeline_finish(tl, 0, 10000);
    save(tl, in_directory("again.json"));
    char *text = contents(in_directory("again.json"));
    ok(has(text, "\"tid\":4242,\"ts\":1.000,\"dur\":8.000,")
           && has(text, "\"tid\":4243,\"ts\":2.000,\"dur\":3.000,")
           && has(text, "\"tid\":4244,\"ts\":4.000,\"dur\":5.500,"),
       "calls at the same time have rows of their own");
    ok(has(text, "\"tid\":4242,\"ts\":9.000,\"dur\":0.900,"), "the next one is the script's again");
    ok(has(text, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":4242,\"tid\":4244,\"ts\":0,"
                 "\"args\":{\"name\":\"beside the script, 2\"}}"),
       "which say what they are");
    findings found = check_events(text);
    is_int(found.overlaps + found.unnamed, 0, "and are named before they are used");
    free(text);
    sl_timeline_release(tl);
}

static void clean_up(void)
{
    static const char *const names[] = { "trace.json", "again.json", "link.json", "old.json" };
    for (int i = 0; i < 4; i++)
        unlink(in_directory(names[i]));
    rmdir(directory);
}

int main(void)
{
    plan(91);
    make_directory();
    sl_timeline *tl = rich();
    save(tl, in_directory("trace.json"));
    char *text = contents(in_directory("trace.json"));
    test_header(text);
    test_order_of_rows(text);
    test_operations(text);
    test_calls(text);
    test_rows(text);
    test_saving(tl, text);
    test_full_disk(tl);
    test_modes(tl);
    test_links(tl);
    test_long_names(tl);
    test_sparse_streams();
    test_empty();
    test_symbol();
    test_start();
    test_idle_streams();
    test_own();
    test_touching();
    test_calls_at_once();
    free(text);
    sl_timeline_release(tl);
    clean_up();
    return done_testing();
}
