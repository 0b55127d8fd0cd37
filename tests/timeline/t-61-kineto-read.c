/* t-61-kineto-read.c - traces read: ours come back as they were, PyTorch's as worked out by hand. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "files.h"
#include "foreign.h"

/* ---- ours ------------------------------------------------------------------------- */

static void describe(sl_timeline *tl)
{
    sl_device_info info = {
        .name = "NVIDIA \"H200\"",
        .profile = "h200",
        .backend = "sim",
        .simulated = true,
        .sm_count = 132,
        .memory_bytes = 150109880320,
        .compute_capability_major = 9,
        .max_threads_per_block = 1024,
        .max_shared_bytes_per_block = 232448,
    };
    sl_timeline_set_device(tl, &info);
    note(tl, 0, "default", false);
    note(tl, 1, "compute \\ \"quoted\" \xC3\xA9", false);
}

static void add_kernel_and_copy(sl_timeline *tl)
{
    sl_error err;
    sl_span k = {
        .start_ns = 5001,
        .end_ns = 61700,
        .host_start_ns = 1100,
        .host_end_ns = 3900,
        .correlation = ++issued,
        .stream = 1,
        .kind = SL_SPAN_KERNEL,
        .blocks = 64,
        .threads = 256,
        .registers = 255,
        .shared_bytes = 232448,
        .name = text_id(tl, "matmul_f32"),
        .symbol = text_id(tl, "_Z3gemm"),
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
}

/* Returns the record's number. */
static uint64_t add_record_and_wait(sl_timeline *tl)
{
    sl_error err;
    sl_call record = {
        .kind = SL_CALL_EVENT_RECORD,
        .stream = 1,
        .correlation = ++issued,
        .host_start_ns = 5400,
        .host_end_ns = 5500,
    };
    must(sl_timeline_add_call(tl, &record, &err), &err);
    sl_call wait = {
        .kind = SL_CALL_STREAM_WAIT,
        .stream = 0,
        .correlation = ++issued,
        .host_start_ns = 5600,
        .host_end_ns = 5700,
        .target = issued - 1,
        .target_stream = 1,
    };
    must(sl_timeline_add_call(tl, &wait, &err), &err);
    return record.correlation;
}

static void add_host_func_and_memset(sl_timeline *tl)
{
    sl_error err;
    sl_span f = {
        .start_ns = 70000,
        .end_ns = 80000,
        .host_start_ns = 6000,
        .host_end_ns = 6100,
        .correlation = ++issued,
        .stream = 1,
        .kind = SL_SPAN_HOST_FUNC,
        .engine = SL_ENGINE_HOST,
        .name = text_id(tl, "host_func"),
    };
    must(sl_timeline_add_span(tl, &f, &err), &err);
    sl_span m = {
        .start_ns = 94000,
        .end_ns = 94000,
        .host_start_ns = 6200,
        .host_end_ns = 6300,
        .correlation = ++issued,
        .kind = SL_SPAN_MEMSET,
        .bytes = 7,
        .name = text_id(tl, "Memset (Device)"),
    };
    must(sl_timeline_add_span(tl, &m, &err), &err);
}

static void add_host_calls(sl_timeline *tl, uint64_t record)
{
    sl_error err;
    static const sl_call_kind syncs[] = {
        SL_CALL_STREAM_SYNC,
        SL_CALL_EVENT_SYNC,
        SL_CALL_DEVICE_SYNC,
    };
    for (int i = 0; i < 3; i++) {
        sl_call s = {
            .kind = (uint8_t)syncs[i],
            .stream = i == 0,
            .correlation = ++issued,
            .host_start_ns = 100000 + i * 100,
            .host_end_ns = 100050 + i * 100,
            .target = i == 1 ? record : 0,
            .target_stream = i == 1,
        };
        must(sl_timeline_add_call(tl, &s, &err), &err);
    }
    sl_call plain = {
        .host_start_ns = 200000,
        .host_end_ns = 210000,
        .correlation = ++issued,
        .kind = SL_CALL_PLAIN,
        .name = text_id(tl, "cudaFree"),
        .waited_for_device = true,
    };
    must(sl_timeline_add_call(tl, &plain, &err), &err);
}

/* On a clock that does not begin at 0, with each kind of span and call. */
static sl_timeline *rich(void)
{
    sl_timeline *tl = make();
    describe(tl);
    add_kernel_and_copy(tl);
    uint64_t record = add_record_and_wait(tl);
    add_host_func_and_memset(tl);
    add_host_calls(tl, record);
    sl_timeline_finish(tl, 1000, 300000);
    return tl;
}

static bool same_span(const sl_timeline *a, const sl_span *x, const sl_timeline *b,
                      const sl_span *y)
{
    int64_t shift = sl_timeline_host_start_ns(a) - sl_timeline_host_start_ns(b);
    return x->start_ns - y->start_ns == shift && x->end_ns - y->end_ns == shift
           && x->host_start_ns - y->host_start_ns == shift
           && x->host_end_ns - y->host_end_ns == shift && x->bytes == y->bytes
           && x->correlation == y->correlation && x->stream == y->stream && x->blocks == y->blocks
           && x->threads == y->threads && x->kind == y->kind && x->registers == y->registers
           && x->shared_bytes == y->shared_bytes && x->engine == y->engine && x->flags == y->flags
           && strcmp(sl_timeline_text(a, x->name), sl_timeline_text(b, y->name)) == 0
           && strcmp(sl_timeline_text(a, x->where), sl_timeline_text(b, y->where)) == 0
           && strcmp(sl_timeline_text(a, x->symbol), sl_timeline_text(b, y->symbol)) == 0;
}

static bool same_call(const sl_timeline *a, const sl_call *x, const sl_timeline *b,
                      const sl_call *y)
{
    int64_t shift = sl_timeline_host_start_ns(a) - sl_timeline_host_start_ns(b);
    return x->host_start_ns - y->host_start_ns == shift && x->kind == y->kind
           && x->host_end_ns - y->host_end_ns == shift && x->correlation == y->correlation
           && x->target == y->target && x->stream == y->stream
           && x->target_stream == y->target_stream && x->waited_for_device == y->waited_for_device
           && x->queue_full == y->queue_full
           && strcmp(sl_timeline_text(a, x->name), sl_timeline_text(b, y->name)) == 0
           && strcmp(sl_timeline_text(a, x->where), sl_timeline_text(b, y->where)) == 0;
}

static void test_round_trip(void)
{
    sl_error err;
    sl_timeline *tl = rich(), *back = NULL;
    must(sl_timeline_save_kineto(tl, in_directory("a.json"), &err), &err);
    must(sl_timeline_load_kineto(in_directory("a.json"), SL_BUSIEST_DEVICE, &back, &err), &err);
    int spans = 0, calls = 0;
    for (size_t i = 0; i < span_count(tl); i++)
        spans += same_span(tl, span_at(tl, i), back, span_at(back, i));
    for (size_t i = 0; i < call_count(tl); i++)
        calls += same_call(tl, call_at(tl, i), back, call_at(back, i));
    ok(span_count(back) == 4 && spans == 4, "our operations come back as they were");
    ok(call_count(back) == 6 && calls == 6, "so do the calls: %d", calls);
    is_int(sl_timeline_makespan_ns(back), 94000 - 5001, "the makespan is the same");
    const sl_device_info *info = sl_timeline_device(back);
    is_str(info->name, "NVIDIA \"H200\"", "the device has its name");
    is_str(info->backend, "sim", "its backend");
    ok(info->simulated && info->sm_count == 132 && info->memory_bytes == 150109880320
           && info->max_shared_bytes_per_block == 232448 && strcmp(info->profile, "h200") == 0,
       "and its figures");
    const sl_stream_note *found;
    is_str(stream_name(back, 1, &found), "compute \\ \"quoted\" \xC3\xA9", "streams have names");
    is_str(sl_timeline_notice(back), "", "there is nothing to tell");
    must(sl_timeline_save_kineto(back, in_directory("b.json"), &err), &err);
    char *a = contents(in_directory("a.json")), *b = contents(in_directory("b.json"));
    is_str(b, a, "saved again it is the same bytes");
    free(a);
    free(b);
    sl_timeline_release(tl);
    sl_timeline_release(back);
}

static void test_empty(void)
{
    sl_error err;
    sl_timeline *tl = make(), *back = NULL;
    sl_timeline_finish(tl, 0, 0);
    must(sl_timeline_save_kineto(tl, in_directory("empty.json"), &err), &err);
    is_int(sl_timeline_load_kineto(in_directory("empty.json"), SL_BUSIEST_DEVICE, &back, &err),
           SL_OK, "an empty timeline of ours loads");
    ok(back && span_count(back) == 0 && call_count(back) == 0, "and is empty");
    sl_timeline_release(back);
    sl_timeline_release(tl);
}

/* ---- PyTorch's, by hand ------------------------------------------------------------- */

/* data/pytorch.json: an upload in stream 20, an event, a matrix product in the default
 * stream behind it, a power beside it in stream 20, a pageable download, and cudaFree. Times
 * are relative to ProfilerStep#0, which begins at 5112000100 us. */
static void test_pytorch(void)
{
    static const struct {
        uint64_t correlation;
        sl_span_kind kind;
        uint32_t stream;
        int64_t start_ns, end_ns, host_start_ns, host_end_ns;
    } want[] = {
        { 101, SL_SPAN_MEMCPY_H2D, 13, 50000, 250000, 20000, 40500 },
        { 112, SL_SPAN_KERNEL, 0, 251000, 351125, 60000, 66000 },
        { 115, SL_SPAN_KERNEL, 13, 252000, 302000, 70000, 75000 },
        { 118, SL_SPAN_MEMSET, 13, 310000, 311024, 80000, 84000 },
        { 121, SL_SPAN_MEMCPY_D2H, 0, 352000, 527000, 100000, 530000 },
        { 125, SL_SPAN_KERNEL, 13, 560000, 600000, 540000, 545000 },
    };
    sl_error err;
    sl_timeline *tl = NULL;
    must(sl_timeline_load_kineto("tests/timeline/data/pytorch.json", SL_BUSIEST_DEVICE, &tl, &err),
         &err);
    is_int(span_count(tl), 6, "every kernel, copy and memset is an operation");
    int right = 0;
    for (size_t i = 0; i < 6; i++) {
        const sl_span *s = span_at(tl, i);
        right += s->correlation == want[i].correlation && s->kind == want[i].kind
                 && s->stream == want[i].stream && s->start_ns == want[i].start_ns
                 && s->end_ns == want[i].end_ns && s->host_start_ns == want[i].host_start_ns
                 && s->host_end_ns == want[i].host_end_ns;
    }
    is_int(right, 6, "with its kind, stream, times, and those of the call that launched it");
    is_str(sl_timeline_text(tl, span_at(tl, 1)->name),
           "void gemm_kernel<float, \"tn\">(float const*, float*)", "a kernel has its name");
    ok(span_at(tl, 1)->blocks == 512 && span_at(tl, 1)->threads == 256,
       "the grid is the product of its sides");
    is_int(span_at(tl, 2)->blocks, UINT32_MAX, "or the most that can be noted");
    ok(span_at(tl, 1)->registers == 168 && span_at(tl, 1)->shared_bytes == 188636,
       "a kernel has its registers and shared memory");
    ok(span_at(tl, 2)->registers == 20 && span_at(tl, 2)->shared_bytes == 0,
       "of which there may be none");
    is_int(span_at(tl, 0)->flags, SL_SPAN_SRC_PINNED, "a pinned copy is one");
    is_int(span_at(tl, 4)->flags, SL_SPAN_DST_PAGEABLE | SL_SPAN_HOST_WAITED,
           "the host waited for a pageable copy that was over when its call returned");
    is_int(span_at(tl, 0)->bytes, 10000000, "copies have bytes");
    is_int(sl_timeline_wall_ns(tl), 1000000, "the host's time is that of all that happened");
    is_str(sl_timeline_device(tl)->name, "NVIDIA H200", "the device is described");
    is_int(sl_timeline_device(tl)->sm_count, 132, "with its SMs");
    const sl_stream_note *zero, *other;
    is_str(stream_name(tl, 0, &zero), "stream 7", "streams are called by the file's numbers");
    is_str(stream_name(tl, 13, &other), "stream 20", "each of them");
    ok(zero && !zero->non_blocking && other && other->non_blocking,
       "PyTorch's streams are non-blocking");
    is_int(other ? other->priority : 0, -1, "with the priority that their kernels show");
    is_str(sl_timeline_notice(tl), "", "nothing was left out");
    sl_timeline_release(tl);
}

static void test_pytorch_calls(void)
{
    static const sl_call_kind kinds[] = {
        SL_CALL_EVENT_RECORD, SL_CALL_STREAM_WAIT, SL_CALL_PLAIN,
        SL_CALL_STREAM_SYNC,  SL_CALL_PLAIN,       SL_CALL_DEVICE_SYNC,
    };
    sl_error err;
    sl_timeline *tl = NULL;
    must(sl_timeline_load_kineto("tests/timeline/data/pytorch.json", SL_BUSIEST_DEVICE, &tl, &err),
         &err);
    int right = 0;
    for (size_t i = 0; i < 6; i++)
        right += call_at(tl, i)->kind == kinds[i];
    ok(call_count(tl) == 6 && right == 6, "calls that launch nothing are calls of their kind");
    const sl_call *record = call_at(tl, 0), *wait = call_at(tl, 1), *sync = call_at(tl, 3);
    ok(record->correlation == 104 && record->stream == 13, "a record is in the stream that waits "
                                                           "for it name");
    ok(wait->target == 104 && wait->target_stream == 13 && wait->stream == 0,
       "a wait knows what it waits for");
    is_int(sync->stream, 0, "a synchronisation its stream");
    is_str(sl_timeline_text(tl, call_at(tl, 4)->name), "cudaFree", "a plain call has its name");
    ok(call_at(tl, 4)->waited_for_device, "cudaFree waited: the last kernel ended meanwhile");
    ok(!call_at(tl, 2)->waited_for_device, "a query did not");
    /* 200 H2D, then 100.125 + 175 behind the event; 40 after both waits. */
    sl_bounds bounds;
    must(sl_timeline_bounds(tl, &bounds, &err), &err);
    is_int(bounds.critical_path_ns, 200000 + 100125 + 175000 + 40000, "the critical path follows");
    is_int(bounds.serial_ns, 200000 + 100125 + 50000 + 1024 + 175000 + 40000, "so does the sum");
    sl_timeline_release(tl);
}

/* ---- small foreign ones --------------------------------------------------------------- */

static void test_times(void)
{
    sl_timeline *tl = events("[{" K7 "\"name\":\"a\",\"ts\":1755000000000000.123,\"dur\":2.0004},"
                             "{" K7 "\"name\":\"b\",\"ts\":1755000000000003.1239999,\"dur\":1.5e1},"
                             "{" K7 "\"name\":\"c\",\"ts\":17550000000000.40e2,\"dur\":12E-1}]");
    ok(span_at(tl, 0)->start_ns == 0 && span_at(tl, 0)->end_ns == 2000,
       "times since 1970 keep their nanoseconds, and are rounded to them");
    ok(span_at(tl, 1)->start_ns == 3001 && span_at(tl, 1)->end_ns == 18001, "to the nearest");
    ok(span_at(tl, 2)->start_ns == 39877 && span_at(tl, 2)->end_ns == 41077, "exponents count");
    sl_timeline_release(tl);
    tl = events("[{" K7 "\"ts\":-3,\"dur\":1},{" K7 "\"ts\":0,\"dur\":0}]");
    ok(span_at(tl, 0)->start_ns == 0 && span_at(tl, 1)->end_ns == 3000,
       "times before zero count from the first");
    sl_timeline_release(tl);
}

static void test_older_kind(void)
{
    const sl_stream_note *found;
    sl_timeline *tl = events(
        "{\"traceEvents\":[{\"cat\":\"Memcpy\",\"name\":\"Memcpy DtoH\",\"pid\":0,"
        "\"tid\":\"stream 7\",\"ts\":30,\"dur\":5},"
        "{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k\",\"pid\":\"GPU\",\"tid\":3,"
        "\"ts\":10,\"dur\":5},]}");
    is_int(span_count(tl), 2, "a trace without correlations is one");
    ok(span_at(tl, 0)->correlation == 1 && span_at(tl, 0)->kind == SL_SPAN_KERNEL
           && span_at(tl, 1)->correlation == 2,
       "operations are numbered as they start");
    ok(span_at(tl, 0)->host_start_ns == span_at(tl, 0)->start_ns, "and issued then");
    ok(strstr(sl_timeline_notice(tl), "The trace has no launches"), "which is reported");
    is_str(sl_timeline_device(tl)->name, "GPU 0", "a device without properties has a name");
    is_str(stream_name(tl, span_at(tl, 1)->stream, &found), "stream 0",
           "a row that is no number is stream 0");
    sl_timeline_release(tl);
}

/* 3 and 2^33 are no numbers of CUPTI's; 8 is taken by its number. */
static void test_stream_numbers(void)
{
    sl_timeline *tl = events("[{" K7 "\"ts\":1,\"dur\":1},{" KERNEL "\"tid\":8,\"ts\":2,\"dur\":1},"
                             "{" KERNEL "\"tid\":3,\"ts\":3,\"dur\":1},"
                             "{" KERNEL "\"tid\":8589934592,\"ts\":4,\"dur\":1},"
                             "{" KERNEL "\"tid\":10,\"ts\":5,\"dur\":1},"
                             "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":3,"
                             "\"args\":{\"name\":\"copies \"}},"
                             "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":8,"
                             "\"args\":{\"name\":\"stream 8: co\\u0301py\"}},"
                             "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":7,"
                             "\"args\":{\"name\":\"other\"}}]");
    const sl_stream_note *found;
    ok(span_at(tl, 0)->stream == 0 && span_at(tl, 1)->stream == 1 && span_at(tl, 2)->stream == 2
           && span_at(tl, 3)->stream == 4 && span_at(tl, 4)->stream == 3,
       "stream ids never collide");
    is_str(stream_name(tl, 2, &found), "copies", "a stream has the name of its row");
    is_str(stream_name(tl, 1, &found), "co\xCC\x81py", "without the number before it");
    is_str(stream_name(tl, 4, &found), "stream 8589934592", "or its number");
    is_str(stream_name(tl, 0, &found), "stream 7", "rows of other processes do not count");
    sl_timeline_release(tl);
    tl = events("[{" KERNEL "\"tid\":0,\"ts\":1,\"dur\":1},"
                "{" KERNEL "\"tid\":1,\"ts\":2,\"dur\":1}]");
    ok(span_at(tl, 0)->stream == 0 && span_at(tl, 1)->stream == 1,
       "without a 7, stream 0 is the default one");
    sl_timeline_release(tl);
}

/* The traces of these have an event a line. */
/* clang-format off */
/* One launch, two kernels; and the driver's call inside the run-time's. */
static void test_launches(void)
{
    sl_timeline *tl = events(
        "[" AT("cudaGraphLaunch", 1, 9, 5) ","
        AT("cuGraphLaunch", 2, 7, 5) ","
        AT("cudaGetDevice", 20, 1, 6) ","
        "{" KERNEL "\"tid\":8,\"name\":\"b\",\"ts\":40,\"dur\":5,\"args\":{\"correlation\":5}},"
        "{" K7 "\"name\":\"a\",\"ts\":30,\"dur\":5,\"args\":{\"correlation\":5}}]");
    ok(span_count(tl) == 2 && call_count(tl) == 2, "a graph's launch is a call of its own");
    is_str(sl_timeline_text(tl, call_at(tl, 0)->name), "cudaGraphLaunch", "the outer one");
    ok(call_at(tl, 0)->correlation == 1 && span_at(tl, 0)->correlation == 2 &&
       span_at(tl, 1)->correlation == 3 && call_at(tl, 1)->correlation == 4,
       "new numbers replace those that are not unique");
    is_str(sl_timeline_text(tl, span_at(tl, 0)->name), "a", "in order of start for one launch");
    ok(span_at(tl, 1)->host_start_ns == 0 && span_at(tl, 1)->host_end_ns == 9000,
       "both were issued by the outer call");
    sl_timeline_release(tl);
}

/* The launch of `early` is not in the file; `late` was launched before `early` started. */
static void test_unlaunched(void)
{
    sl_timeline *tl = events(
        "[{" K7 "\"name\":\"late\",\"ts\":20,\"dur\":5,\"args\":{\"correlation\":9}},"
        "{" K7 "\"name\":\"early\",\"ts\":10,\"dur\":5,\"args\":{\"correlation\":2}},"
        AT("cudaLaunchKernel", 4, 1, 9) "]");
    is_str(sl_timeline_text(tl, span_at(tl, 0)->name), "early",
           "what started first in a stream was issued first");
    ok(span_at(tl, 0)->correlation == 2 && span_at(tl, 1)->correlation == 9, "numbers stay");
    is_int(span_at(tl, 0)->host_start_ns, 0, "no later than what follows it");
    ok(strstr(sl_timeline_notice(tl), "Of 2 operations, one has no launch"), "which is reported");
    sl_timeline_release(tl);
}

static const char two_devices[] =
        "{\"deviceProperties\":[{\"id\":3,\"name\":\"B\",\"numSms\":7},{\"id\":1,\"name\":\"A\"}],"
        "\"traceEvents\":["
        AT("cudaLaunchKernel", 0, 1, 1) ","
        AT("cudaLaunchKernel", 1, 1, 2) ","
        AT("cudaLaunchKernel", 2, 1, 3) ","
        AT("cudaDeviceSynchronize", 3, 4, 4) ","
        "{" SYNC "\"name\":\"Context Sync\",\"ts\":3,\"dur\":4,\"args\":{\"correlation\":4,"
        "\"device\":1,\"stream\":-1}},"
        "{" K7 "\"ts\":5,\"dur\":1,\"args\":{\"device\":1,\"correlation\":1}},"
        "{" K7 "\"ts\":6,\"dur\":1,\"args\":{\"device\":3,\"correlation\":2}},"
        "{" K7 "\"ts\":7,\"dur\":1,\"args\":{\"device\":3,\"correlation\":3}}]}";
/* clang-format on */

static void test_devices(void)
{
    sl_timeline *tl = events(two_devices);
    is_int(span_count(tl), 2, "of several devices the busiest one is taken");
    char name[SL_DEVICE_NAME_BYTES];
    is_str(sl_timeline_device(tl)->name, "B", "with its own properties");
    is_str(sl_timeline_device_name(tl, name), "B, GPU 3", "pages and pictures say which it is");
    is_int(sl_timeline_device(tl)->index, 3, "and index");
    is_str(sl_timeline_notice(tl),
           "The trace has work on several GPUs: 1 (1 operation), 3 (2). "
           "This is GPU 3.",
           "which is reported");
    ok(call_count(tl) == 2 && call_at(tl, 1)->kind == SL_CALL_PLAIN,
       "launches of the other are calls, and who waited for it did not wait for this one");
    sl_origin origin = sl_timeline_origin(tl);
    ok(origin.devices == 0xA && origin.first_ns == 5000 && origin.last_ns == 8000,
       "which GPUs there are, and when they worked, is known");
    sl_timeline_release(tl);
    sl_error err;
    must(sl__kineto_parse(two_devices, strlen(two_devices), 1, &tl, &err), &err);
    ok(span_count(tl) == 1 && sl_timeline_device(tl)->index == 1, "each of them can be had");
    is_int(span_at(tl, 0)->start_ns, 5000, "with the same times");
    is_int(call_at(tl, call_count(tl) - 1)->kind, SL_CALL_DEVICE_SYNC, "and who waited for it");
    sl_timeline_release(tl);
    is_int(sl__kineto_parse(two_devices, strlen(two_devices), 2, &tl, &err), SL_ENOTFOUND,
           "one that is not there is refused");
    is_str(err.msg, "it has no work on GPU 2; it has on 1 (1 operation), 3 (2)",
           "in a sentence that says which are");
}

/* A record in a stream of device 1, which a wait of device 0 claims to wait for. */
static void test_elsewhere(void)
{
    sl_timeline *tl = events("[" AT("cudaEventRecord", 1, 1, 4) "," AT(
        "cudaStreamWaitEvent", 3, 1,
        7) ","
           "{" SYNC "\"name\":\"Stream Wait Event\",\"args\":{\"wait_on_stream\":20,\"stream\":10,"
           "\"wait_on_cuda_event_record_corr_id\":4,\"correlation\":7,\"device\":0}},"
           "{" SYNC "\"name\":\"Event Sync\",\"args\":{\"wait_on_stream\":20,\"stream\":20,"
           "\"correlation\":4,\"device\":1}},{" K7 "\"ts\":5,\"dur\":3}]");
    ok(call_at(tl, 0)->kind == SL_CALL_PLAIN && call_at(tl, 0)->stream == 0,
       "a record in a stream of another device is a plain call");
    ok(call_at(tl, 1)->kind == SL_CALL_STREAM_WAIT && call_at(tl, 1)->stream == 3
           && call_at(tl, 1)->target == 0,
       "and nothing that a stream of this one can wait for");
    sl_timeline_release(tl);
}

static void test_tolerance(void)
{
    sl_timeline *tl = events(
        "\xEF\xBB\xBF[{" K7 "\"name\":\"a\xFF\\ud800b\\n\",\"ts\":1,\"dur\":1,"
        "\"args\":{\"occupancy\":NaN,\"x\":[{}, [1,{\"y\":\"]}\\\"\"}]],\"big\":1e999,"
        "\"correlation\":4.0}},{\"ph\":\"C\",\"ts\":\"x\"},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":\"x\",\"args\":7}]");
    is_int(span_count(tl), 1, "slips in what nobody needs do not matter");
    is_int(span_at(tl, 0)->correlation, 4, "4.0 is a whole number");
    is_str(sl_timeline_text(tl, span_at(tl, 0)->name),
           "a\xFF\\ud800"
           "b\n",
           "what of a name cannot be decoded stays as it is");
    sl_timeline_release(tl);
    tl = events("[{" K7 "\"ts\":1,\"dur\":1,\"name\":"
                "\"\\\"\\\\\\/\\b\\f\\r\\t\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\\u0000\\q\\u12\"}]");
    is_str(sl_timeline_text(tl, span_at(tl, 0)->name),
           "\"\\/\b\f\r\tA\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBD\\q\\u12",
           "escapes are decoded");
    sl_timeline_release(tl);
}

/* ---- large -------------------------------------------------------------------------------- */

static void test_million(void)
{
    const int N = sized(100000, 1000000);
    static const char event[] = "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,"
                                "\"tid\":%d,\"ts\":%d.5,\"dur\":1},\n";
    char *text = malloc((size_t)N * 90 + 16);
    size_t n = 1;
    if (!text) {
        skip(1, "no memory");
        return;
    }
    text[0] = '[';
    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(text + n, event, 7 + i % 1000, i);
    text[n++] = ']';
    sl_error err;
    sl_timeline *tl = NULL;
    must(sl__kineto_parse(text, n, SL_BUSIEST_DEVICE, &tl, &err), &err);
    free(text);
    ok(span_count(tl) == (size_t)N && span_at(tl, N - 1)->start_ns == (N - 1) * INT64_C(1000)
           && span_at(tl, N - 1)->stream == 999,
       "%d events are read", N);
    sl_timeline_release(tl);
}

int main(void)
{
    make_directory();
    plan(0);
    test_round_trip();
    test_empty();
    test_pytorch();
    test_pytorch_calls();
    test_times();
    test_older_kind();
    test_stream_numbers();
    test_launches();
    test_unlaunched();
    test_devices();
    test_elsewhere();
    test_tolerance();
    test_million();
    static const char *const files[] = { "a.json", "b.json", "empty.json" };
    for (size_t i = 0; i < 3; i++)
        unlink(in_directory(files[i]));
    rmdir(directory);
    return done_testing();
}
