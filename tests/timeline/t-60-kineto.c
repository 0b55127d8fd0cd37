/* t-60-kineto.c - the trace file: JSON, rows, flows, pairs, and whole or not at all. */
#define _XOPEN_SOURCE 700 /* mkdtemp, setrlimit */
#include "rich_trace.h"
#include "../../core/timeline/lanes.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* ---- what is saved -------------------------------------------------------------------- */

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

static void clean_up(void)
{
    static const char *const names[] = { "trace.json", "again.json", "link.json", "old.json" };
    for (int i = 0; i < 4; i++)
        unlink(in_directory(names[i]));
    rmdir(directory);
}

int main(void)
{
    plan(0);
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
    free(text);
    sl_timeline_release(tl);
    clean_up();
    return done_testing();
}
