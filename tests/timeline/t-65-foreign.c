/* t-65-foreign.c - what a trace of another program does not say must not be claimed. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "files.h"
#include "foreign.h"
#include "../../core/timeline/sm_room.h"

/* The traces below have an event a line. */
/* clang-format off */

/* ---- waits -------------------------------------------------------------------------- */

/* Without cuda_sync events. Stream 7 runs to 30, stream 8 to 50. */
static void test_inferred_waits(void)
{
    sl_timeline *tl = events(
        "[" AT("cudaLaunchKernel", 0, 1, 1) ","
        AT("cudaLaunchKernel", 2, 1, 2) ","
        AT("cudaEventRecord", 3, 1, 3) ","
        AT("cudaStreamWaitEvent", 4, 1, 4) ","
        AT("cudaFree", 5, 10, 5) ","
        AT("cudaStreamSynchronize", 16, 15, 6) ","
        AT("cudaHostAlloc", 32, 28, 7) ","
        AT("cudaStreamSynchronize", 61, 1, 8) ","
        AT("cudaEventSynchronize", 63, 1, 9) ","
        "{" K7 "\"ts\":10,\"dur\":20,\"args\":{\"correlation\":1}},"
        "{" KERNEL "\"tid\":8,\"ts\":12,\"dur\":38,\"args\":{\"correlation\":2}}]");
    static const sl_call_kind kinds[] = { SL_CALL_PLAIN, SL_CALL_PLAIN, SL_CALL_PLAIN,
        SL_CALL_STREAM_SYNC, SL_CALL_PLAIN, SL_CALL_PLAIN, SL_CALL_EVENT_SYNC, };
    int right = 0;
    for (size_t i = 0; i < 7; i++)
        right += call_at(tl, i)->kind == kinds[i];
    is_int(right, 7, "what nobody knows the stream of stays a plain call");
    ok(!call_at(tl, 2)->waited_for_device, "a cudaFree that returned before the work did not wait");
    is_int(call_at(tl, 3)->stream, 0, "a wait was for the stream whose work ended before it did");
    ok(call_at(tl, 4)->waited_for_device, "a cudaHostAlloc waited until all work was done");
    is_str(sl_timeline_text(tl, call_at(tl, 5)->name), "cudaStreamSynchronize",
           "what waited for nothing keeps its name");
    is_int(call_at(tl, 6)->target, 0, "an event of which nothing is known has no record");
    ok(strstr(sl_timeline_notice(tl), "for what 2 of its calls waited"), "which is reported");
    const sl_stream_note *found;
    stream_name(tl, 1, &found);
    ok(found && found->non_blocking, "a stream that ran beside the default one is non-blocking");
    sl_timeline_release(tl);
}

/* Of all calls in order: "1 0" for one that waited for the device and one that did not. */
static const char *waited(const char *list)
{
    static char text[64];
    sl_timeline *tl = events(list);
    char *at = text;
    for (size_t i = 0; i < call_count(tl) && i < 20; i++)
        at += sprintf(at, "%s%d", i > 0 ? " " : "", call_at(tl, i)->waited_for_device);
    sl_timeline_release(tl);
    return text;
}

/* Kernels launched at 0 and 4000 that begin 10 later and take `first` and `second`. */
#define TWO_KERNELS(first, second) "[" AT("cudaLaunchKernel", 0, 1, 1) "," \
    "{" K7 "\"ts\":10,\"dur\":" #first ",\"args\":{\"correlation\":1}}," \
    AT("cudaLaunchKernel", 4000, 1, 2) "," \
    "{" K7 "\"ts\":4010,\"dur\":" #second ",\"args\":{\"correlation\":2}},"

/* The first kernel runs from 10 to 1010, the second from 4010 to 5010. */
static void test_coincidences(void)
{
    is_str(waited(TWO_KERNELS(1000, 1000) AT("cudaFreeHost", 20, 1410, 3) "]"), "1",
           "a call that returned 0.42 ms after the work's end waited for it");
    is_str(waited(TWO_KERNELS(1000, 1000) AT("cudaHostAlloc", 20, 2000, 3) "]"), "0",
           "one that went on for a millisecond after it did something else");
    is_str(waited(TWO_KERNELS(1000, 1000) AT("cudaHostAlloc", 20, 1000, 3) ","
                  AT("cudaHostAlloc", 4020, 500, 4) "]"), "0 0",
           "nor did one whose like returned while work that came before it still ran");
    is_str(waited(TWO_KERNELS(1000, 1000) AT("cudaHostAlloc", 20, 500, 3) ","
                  AT("cudaHostAlloc", 4020, 1000, 4) "]"), "0 0", "also where that was earlier");
    is_str(waited(TWO_KERNELS(1000, 1000) AT("cudaFree", 20, 1000, 3) ","
                  AT("cudaHostAlloc", 4020, 500, 4) "]"), "1 0",
           "calls of another name say nothing of it");
    is_str(waited(TWO_KERNELS(1000, 1000) AT("cudaFree", 20, 1000, 3) ","
                  AT("cudaFree", 4020, 989, 4) "]"), "1 0",
           "nor does one that returned a microsecond early: two clocks may differ");
    is_str(waited(TWO_KERNELS(1000, 1000) AT("cudaFree", 20, 1, 3) ","
                  AT("cudaFree", 4020, 1000, 4) "]"), "0 1",
           "nor does one that had nothing to free, as cudaFree(NULL)");
    is_str(waited(TWO_KERNELS(1000, 1000) AT("cudaHostAlloc", 20, 100, 3) ","
                  AT("cudaHostAlloc", 4020, 1000, 4) "]"), "0 1",
           "one that took ten times as long as one that did not wait may have waited");
    is_str(waited(TWO_KERNELS(1000, 1000) AT("cudaHostAlloc", 20, 100, 3) ","
                  AT("cudaHostAlloc", 4020, 1100, 4) "]"), "0 0",
           "if it did not return as late as a tenth of its time behind the work's end");
    is_str(waited(TWO_KERNELS(1000, 1000) AT("cudaFree", 20, 1000, 3) ","
                  AT("cudaFree", 1100, 5, 4) "," AT("cudaFree", 4020, 1000, 5) "]"), "1 0 1",
           "nor one that had nothing to wait for");
}

/* The kernel ends at 1010; the record of call 2 or none lies behind it. */
static void test_event_sync(void)
{
    sl_timeline *tl = events("[" AT("cudaLaunchKernel", 0, 1, 1) ","
        AT("cudaEventRecordWithFlags", 2, 1, 2) "," AT("cudaEventSynchronize", 5, 1010, 3) ","
        "{" K7 "\"ts\":10,\"dur\":1000,\"args\":{\"correlation\":1}}]");
    is_int(call_at(tl, 0)->kind, SL_CALL_EVENT_RECORD, "what the host waited for is a record");
    is_int(call_at(tl, 1)->target, 2, "the wait that ended 5 us behind the kernel was for it");
    sl_timeline_release(tl);
    tl = events("[" AT("cudaLaunchKernel", 0, 1, 1) ","
        AT("cudaEventRecordWithFlags", 2, 1, 2) "," AT("cudaEventSynchronize", 5, 1100, 3) ","
        "{" K7 "\"ts\":10,\"dur\":1000,\"args\":{\"correlation\":1}}]");
    is_int(call_at(tl, 1)->target, 0, "one that ended 95 us later is not understood");
    sl_timeline_release(tl);
    tl = events("[" AT("cudaEventRecordWithFlags", 0, 1, 1) "," AT("cudaLaunchKernel", 2, 1, 2) ","
        AT("cudaEventSynchronize", 5, 1010, 3) ","
        "{" K7 "\"ts\":10,\"dur\":1000,\"args\":{\"correlation\":2}}]");
    is_int(call_at(tl, 1)->target, 0, "nor one without a record behind the kernel");
    sl_timeline_release(tl);
}

/* ---- pageable copies ------------------------------------------------------------------ */

static bool is_claimed(const char *list, sl_cause cause)
{
    sl_timeline *tl = events(list);
    sl_error err;
    const sl_explanation *e;
    bool found = false;
    must(sl_timeline_causes(tl, &e, &err), &err);
    for (size_t i = 0; i < e->n_findings; i++)
        found |= e->findings[i].cause == cause;
    sl_timeline_release(tl);
    return found;
}

#define COPIED(tid, ts, dur, id) "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"pid\":0,\"tid\":" #tid \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"name\":\"Memcpy DtoH (Device -> Pageable)\"," \
    "\"args\":{\"correlation\":" #id "}}"
/* The call lasts from 0 to 60, the copy from 5 on for `dur`, a synchronisation from 61 to 62. */
#define STAGED(dur) "[" AT("cudaMemcpyAsync", 0, 60, 1) "," \
    AT("cudaStreamSynchronize", 61, 1, 2) "," AT("cudaLaunchKernel", 63, 3, 3) "," \
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":" #dur "," \
    "\"name\":\"Memcpy HtoD (Pageable -> Device)\",\"args\":{\"correlation\":1}}," \
    "{" SYNC "\"name\":\"Stream Sync\",\"tid\":7,\"ts\":61,\"dur\":1," \
    "\"args\":{\"correlation\":2,\"stream\":7}}," \
    "{" K7 "\"ts\":70,\"dur\":5,\"args\":{\"correlation\":3}}]"

/* The parts of the makespan in which the host was blocked in span 1, in ns. */
static int64_t blocked_ns(const char *list)
{
    sl_timeline *tl = events(list);
    sl_error err;
    const sl_explanation *e;
    int64_t ns = 0;
    must(sl_timeline_causes(tl, &e, &err), &err);
    for (size_t i = 0; i < e->n_chain; i++)
        ns += e->chain[i].cause == SL_CAUSE_HOST_BLOCKED && e->chain[i].by == 1 ? e->chain[i].lost_ns
                                                                               : 0;
    sl_timeline_release(tl);
    return ns;
}

/* Whether the copy ends before the synchronisation begins depends on its last microseconds. All
 * times of the host count 4 us later, which the kernel's start takes, where no device time does. */
static void test_staging(void)
{
    is_int(blocked_ns(STAGED(55)), 59000, "a copy from pageable memory holds the host");
    is_int(blocked_ns(STAGED(56.5)), 55000, "also one that a synchronisation waited for");
}

/* A copy that starts 18 us after its call began, in which the host is: an A100's, say. */
static void test_slow_start(void)
{
    const char *list = "[" AT("cudaMemcpyAsync", 0, 100, 1) "," AT("cudaMemcpyAsync", 142, 29, 2)
        "," COPIED(7, 5, 95, 1) "," COPIED(7, 160, 2, 2) "]";
    ok(!is_claimed(list, SL_CAUSE_UNKNOWN), "a copy to pageable memory prepares in its call");
}

/* Two copies to pageable memory: the first kept a memset waiting, the second a kernel. */
static void test_one_part(void)
{
    sl_error err;
    const sl_explanation *e;
    int n = 0;
    sl_timeline *tl = events("[" AT("cudaMemcpyAsync", 0, 100, 1) ","
        AT("cudaMemsetAsync", 101, 3, 2) "," AT("cudaMemcpyAsync", 105, 100, 3) ","
        AT("cudaLaunchKernel", 206, 3, 4) ","
        COPIED(7, 5, 95, 1) "," COPIED(7, 120, 85, 3) ","
        "{" K7 "\"name\":\"a\",\"ts\":110,\"dur\":2,\"args\":{\"correlation\":2}},"
        "{" K7 "\"name\":\"b\",\"ts\":215,\"dur\":5,\"args\":{\"correlation\":4}}]");
    must(sl_timeline_causes(tl, &e, &err), &err);
    for (size_t i = 0; i < e->n_chain; i++)
        n += e->chain[i].cause == SL_CAUSE_HOST_BLOCKED;
    is_int(n, 1, "the calls of one name are one part of the makespan, whatever came behind them");
    sl_timeline_release(tl);
}

/* ---- streams ------------------------------------------------------------------------ */

static void test_blocking(void)
{
    const sl_stream_note *found;
    sl_timeline *tl = events("[{" K7 "\"ts\":10,\"dur\":20},"
                             "{" KERNEL "\"tid\":8,\"ts\":29,\"dur\":9}]");
    stream_name(tl, 1, &found);
    ok(found && !found->non_blocking, "whole microseconds that touch are no overlap");
    sl_timeline_release(tl);
}

/* With ProfilerActivity.CUDA alone there is no cpu_op; but the profiler names itself. */
static void test_pytorch_without_cpu_ops(void)
{
    const sl_stream_note *zero, *found;
    sl_timeline *tl = events("[{" K7 "\"ts\":10,\"dur\":20},"
                             "{" KERNEL "\"tid\":8,\"ts\":31,\"dur\":9},"
                             "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\","
                             "\"pid\":\"Spans\",\"tid\":\"PyTorch Profiler\",\"ts\":1,"
                             "\"dur\":50}]");
    stream_name(tl, 0, &zero);
    stream_name(tl, 1, &found);
    ok(zero && !zero->non_blocking && found && found->non_blocking,
       "PyTorch's streams are non-blocking also in a trace of the GPU alone");
    sl_error err;
    sl_timeline *back = NULL;
    must(sl_timeline_save_kineto(tl, in_directory("p.json"), &err), &err);
    must(sl_timeline_load_kineto(in_directory("p.json"), SL_BUSIEST_DEVICE, &back, &err), &err);
    ok(sl_timeline_origin(tl).pytorch && sl_timeline_origin(back).pytorch,
       "it stays PyTorch's when it has been saved by us");
    unlink(in_directory("p.json"));
    sl_timeline_release(back);
    sl_timeline_release(tl);
    tl = events("[{" K7 "\"ts\":10,\"dur\":20}]");
    ok(!sl_timeline_origin(tl).pytorch, "what does not name it is not PyTorch's");
    sl_timeline_release(tl);
}

static bool has_stream(const sl_figures *figures, const char *label, int64_t number)
{
    for (size_t i = 0; i < figures->n_streams; i++) {
        const sl_stream_figures *s = &figures->streams[i];
        if (strcmp(s->label, label) == 0 && s->number == number)
            return true;
    }
    return false;
}

static void has_ids(const sl_timeline *tl, const char *what)
{
    sl_figures figures;
    sl_error err;
    must(sl_timeline_figures(tl, SL_FIGURES_STREAMS, &figures, &err), &err);
    ok(has_stream(&figures, "stream 7", 7) && has_stream(&figures, "stream 25", 25) &&
       has_stream(&figures, "stream 3", 3), "%s", what);
    sl_figures_free(&figures);
}

/* The timeline's own ids are 0, 18 and 1. */
static void test_numbers(void)
{
    sl_error err;
    sl_timeline *back = NULL;
    sl_timeline *tl = events("[{" K7 "\"ts\":10,\"dur\":20},"
                             "{" KERNEL "\"tid\":25,\"ts\":31,\"dur\":9},"
                             "{" KERNEL "\"tid\":3,\"ts\":45,\"dur\":9}]");
    has_ids(tl, "a stream has one number, that of the file");
    must(sl_timeline_save_kineto(tl, in_directory("c.json"), &err), &err);
    must(sl_timeline_load_kineto(in_directory("c.json"), SL_BUSIEST_DEVICE, &back, &err), &err);
    has_ids(back, "also when the trace has been saved by us");
    unlink(in_directory("c.json"));
    sl_timeline_release(back);
    sl_timeline_release(tl);
}

/* ---- events that nobody tells of --------------------------------------------------------- */

#define SMS(n) "{\"deviceProperties\":[{\"id\":0,\"name\":\"G\",\"numSms\":" #n "}],"
/* Stream 8 runs "long" from 10 to 1010, launched at 0; stream 9's "late", launched at 40, starts at
 * 1011. There is room for both. `between` are calls in between. */
#define SMALL(tid, ts, dur, id) "{" KERNEL "\"tid\":" #tid ",\"name\":\"k" #id "\",\"ts\":" #ts \
    ",\"dur\":" #dur ",\"args\":{\"correlation\":" #id ",\"grid\":[4,1,1]," \
    "\"block\":[32,1,1]}}"
#define LATE(between) SMS(132) "\"traceEvents\":[" AT("cudaLaunchKernel", 0, 1, 1) "," between \
    AT("cudaLaunchKernel", 40, 1, 9) "," SMALL(8, 10, 1000, 1) "," SMALL(9, 1011, 500, 9) "]}"
#define RECORD(ts, id) AT("cudaEventRecord", ts, 1, id) ","
#define WAIT(ts, id) AT("cudaStreamWaitEvent", ts, 1, id) ","
#define LAUNCH(ts, id) AT("cudaLaunchKernel", ts, 1, id) ","

/* A copy in its place. */
#define LATE_COPY(ts) SMS(132) "\"traceEvents\":[" LAUNCH(0, 1) RECORD(10, 2) WAIT(20, 3) \
    AT("cudaMemcpyAsync", 40, 1, 9) "," SMALL(8, 10, 1000, 1) "," \
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"pid\":0,\"tid\":9,\"ts\":" #ts ",\"dur\":100," \
    "\"name\":\"k9 HtoD\",\"args\":{\"correlation\":9}}]}"

/* In stream 10, before the wait. */
#define FIVE_MORE LAUNCH(6, 31) LAUNCH(7, 32) LAUNCH(8, 33) LAUNCH(9, 34) LAUNCH(10, 35) \
    SMALL(10, 100, 1, 31) "," SMALL(10, 200, 1, 32) "," SMALL(10, 300, 1, 33) "," \
    SMALL(10, 400, 1, 34) "," SMALL(10, 500, 1, 35) ","

/* The kernel for whose event kernel 9 waited. */
static const char *awaited(const char *list)
{
    static char text[64];
    sl_timeline *tl = events(list);
    sl_error err;
    const sl_explanation *e;
    must(sl_timeline_causes(tl, &e, &err), &err);
    snprintf(text, sizeof text, "nothing");
    for (size_t i = 0; i < e->n_findings; i++) {
        const sl_span *by = span_of(tl, e->findings[i].by);
        const sl_span *waiter = span_of(tl, e->findings[i].waiter);
        if (e->findings[i].cause == SL_CAUSE_EVENT && by && waiter
            && strncmp(sl_timeline_text(tl, waiter->name), "k9", 2) == 0)
            snprintf(text, sizeof text, "%s", sl_timeline_text(tl, by->name));
    }
    sl_timeline_release(tl);
    return text;
}

static void test_guessed_events(void)
{
    is_str(awaited(LATE(RECORD(10, 2) WAIT(20, 3))), "k1",
           "what starts right behind a record and a wait waited for the record");
    is_str(awaited(LATE(WAIT(20, 3))), "k1",
           "also where the trace has no records of events at all");
    is_str(awaited(LATE_COPY(1023)), "k1", "a copy starts up to 24 us behind the end");
    is_str(awaited(LATE_COPY(1035)), "nothing", "but not later");
    is_str(awaited(LATE("")), "nothing", "without a wait there is nothing to guess");
    is_str(awaited(LATE(WAIT(10, 2) RECORD(20, 3))), "nothing", "a record behind the wait is another's");
    is_str(awaited(LATE(RECORD(10, 2) WAIT(20, 3) LAUNCH(30, 4) SMALL(10, 45, 5, 4) ",")),
           "nothing", "the wait may have been that of what was issued between");
    is_str(awaited(LATE(RECORD(10, 2) WAIT(20, 3) WAIT(25, 5) LAUNCH(30, 4)
                        SMALL(10, 45, 5, 4) ",")), "k1", "unless there are two of them");
    is_str(awaited(LATE(LAUNCH(5, 4) SMALL(8, 1010.5, 9, 4) "," RECORD(10, 2) WAIT(20, 3))),
           "nothing", "a record behind what came later in that stream says nothing of this");
    is_str(awaited(LATE(LAUNCH(5, 4) SMALL(8, 1010.5, 9, 4) "," WAIT(20, 3))), "k1",
           "without records a start right behind one end in a millisecond is hardly by chance");
    is_str(awaited(LATE(LAUNCH(5, 4) SMALL(8, 1010.5, 9, 4) "," FIVE_MORE WAIT(20, 36))), "nothing",
           "behind one of six it may be");
    sl_timeline *tl = events(LATE(RECORD(10, 2) WAIT(20, 3)));
    ok(sl_timeline_origin(tl).unknown_waits, "such a trace is known to be guessed about");
    sl_timeline_release(tl);
}

/* Stream 8's kernel runs from 10 to 110; stream 9's, launched at 20, starts at `ts`. */
#define NO_REASON(ts) SMS(132) "\"traceEvents\":[" AT("cudaLaunchKernel", 0, 1, 1) "," \
    AT("cudaLaunchKernel", 20, 1, 9) "," SMALL(8, 10, 100, 1) "," SMALL(9, ts, 50, 9) "]}"

static uint64_t suspect_of(const char *list)
{
    sl_timeline *tl = events(list);
    sl_error err;
    const sl_explanation *e;
    uint64_t by = UINT64_MAX;
    must(sl_timeline_causes(tl, &e, &err), &err);
    for (size_t i = 0; i < e->n_findings; i++)
        by = e->findings[i].cause == SL_CAUSE_UNKNOWN ? e->findings[i].by : by;
    sl_timeline_release(tl);
    return by;
}

static void test_suspects(void)
{
    is_int((int64_t)suspect_of(NO_REASON(115)), 1, "what ended 5 us before may be the reason");
    is_int((int64_t)suspect_of(NO_REASON(210)), 0, "what ended 100 us before is not suspected");
}

/* ---- what fits on an SM ----------------------------------------------------------------- */

/* An H200's SM has 2048 threads, 32 blocks, 65536 registers and 228 KB. Beside `n` blocks of one
 * kind, on `sms` SMs, another of the same kind. */
static bool fits(int64_t n, uint16_t threads, uint16_t registers, uint32_t shared_bytes, int sms)
{
    sl_device_info device = { .compute_capability_major = 9, .sm_count = sms };
    sl_span span = { .kind = SL_SPAN_KERNEL, .blocks = (uint32_t)n, .threads = threads,
                     .registers = registers, .shared_bytes = shared_bytes, };
    sl__sm_use use = { 0 };
    sl__sm_use_add(&use, &span);
    return sl__fits_beside(&device, &use, &span);
}

static void test_fits(void)
{
    ok(fits(1, 1024, 0, 0, 1), "a second block of 1024 threads fits on an SM");
    ok(!fits(2, 1024, 0, 0, 1), "a third does not");
    ok(fits(7, 256, 0, 0, 1) && !fits(8, 256, 0, 0, 1), "nor does a ninth of 256");
    ok(fits(31, 32, 0, 0, 1) && !fits(32, 32, 0, 0, 1), "nor a 33rd of 32");
    ok(fits(1, 256, 128, 0, 1) && !fits(2, 256, 128, 0, 1), "registers count, 32768 of 65536 each");
    ok(fits(1, 32, 0, 100 << 10, 1) && !fits(2, 32, 0, 100 << 10, 1), "and shared memory");
    ok(!fits(2, 256, 0, 120 << 10, 2), "two SMs may have a block each, and room for none more");
    ok(fits(2, 256, 0, 120 << 10, 3), "a third one has room");
    ok(!fits(1, 32, 0, 229 << 10, 100), "what needs more than an SM has fits nowhere");
    sl_device_info none = { .sm_count = 1 };
    is_int(sl__sm_limits_of(&none).threads, 1024, "of an unknown GPU the least is believed");
}

/* ---- room on the SMs ------------------------------------------------------------------ */

/* Stream 8 runs from 10 to 1010; stream 9's kernel, launched at 20, starts at 1010.2, and stream
 * 10's, launched between, at 1010.3. All three have `args`. */
#define ONE_BEHIND(args) "\"traceEvents\":[" AT("cudaLaunchKernel", 0, 1, 1) "," \
    AT("cudaLaunchKernel", 15, 1, 2) "," AT("cudaLaunchKernel", 20, 1, 3) "," \
    "{" KERNEL "\"tid\":8,\"name\":\"long\",\"ts\":10,\"dur\":1000," \
    "\"args\":{\"correlation\":1" args "}}," \
    "{" KERNEL "\"tid\":10,\"name\":\"other\",\"ts\":1010.3,\"dur\":500," \
    "\"args\":{\"correlation\":2" args "}}," \
    "{" KERNEL "\"tid\":9,\"name\":\"late\",\"ts\":1010.2,\"dur\":500," \
    "\"args\":{\"correlation\":3" args "}}]}"

/* Stream 8's kernel of 100 blocks runs beside stream 10's, which has `args`; stream 9's, launched at
 * 20, starts right behind them. */
#define GRID(blocks, threads) ",\"grid\":[" #blocks ",1,1],\"block\":[" #threads ",1,1]"
#define ONE_OF_TWO(args) "\"traceEvents\":[" AT("cudaLaunchKernel", 0, 1, 1) "," \
    AT("cudaLaunchKernel", 5, 1, 2) "," AT("cudaLaunchKernel", 20, 1, 3) "," \
    "{" KERNEL "\"tid\":8,\"ts\":10,\"dur\":1000,\"args\":{\"correlation\":1," \
    "\"grid\":[100,1,1],\"block\":[256,1,1]}}," \
    "{" KERNEL "\"tid\":10,\"ts\":12,\"dur\":998,\"args\":{\"correlation\":2" args "}}," \
    "{" KERNEL "\"tid\":9,\"ts\":1010.2,\"dur\":500,\"args\":{\"correlation\":3," \
    "\"grid\":[100,1,1],\"block\":[256,1,1]}}]}"

/* Stream 8's kernels fill the GPU from 10 to 110 and from 600 to 700; stream 9's, launched at 20,
 * starts right behind the second. */
#define LARGE(tid, ts, dur, id) "{" KERNEL "\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur \
    ",\"args\":{\"correlation\":" #id ",\"grid\":[4000,1,1],\"block\":[256,1,1]}}"
#define TWO_WAVES "\"traceEvents\":[" AT("cudaLaunchKernel", 0, 1, 1) "," \
    AT("cudaLaunchKernel", 20, 1, 2) "," AT("cudaLaunchKernel", 590, 1, 3) "," \
    LARGE(8, 10, 100, 1) "," LARGE(8, 600, 100, 3) "," LARGE(9, 700.5, 50, 2) "]}"

static sl_cause first_cause(const char *list)
{
    sl_timeline *tl = events(list);
    sl_error err;
    const sl_explanation *e;
    sl_cause cause = SL_CAUSE_NONE;
    must(sl_timeline_causes(tl, &e, &err), &err);
    if (e->n_findings > 0)
        cause = e->findings[0].cause;
    sl_timeline_release(tl);
    return cause;
}

static void test_room(void)
{
    static const struct { const char *list, *what; sl_cause cause; } traces[] = {
        { SMS(132) ONE_BEHIND(",\"grid\":[4000,1,1],\"block\":[256,1,1]"),
          "behind a kernel of 4000 blocks there was no room", SL_CAUSE_ROOM },
        { SMS(132) ONE_BEHIND(""), "behind one without a grid nobody knows",
          SL_CAUSE_UNKNOWN },
        { SMS(0) ONE_BEHIND(",\"grid\":[4000,1,1],\"block\":[256,1,1]"),
          "nor on a GPU whose SMs are not reported", SL_CAUSE_UNKNOWN },
    };
    ok(!is_claimed(SMS(132) ONE_OF_TWO(""), SL_CAUSE_ROOM),
       "nor where something without a grid ran beside one with a grid");
    ok(!is_claimed(SMS(132) ONE_OF_TWO(GRID(100, 256)), SL_CAUSE_ROOM),
       "two of 100 small blocks leave room on 132 SMs, wherever they lie");
    ok(is_claimed(SMS(132) ONE_OF_TWO(GRID(100, 1024)), SL_CAUSE_ROOM),
       "one of 100 blocks of 1024 threads may leave none");
    ok(!is_claimed(SMS(132) TWO_WAVES, SL_CAUSE_ROOM),
       "who found room between two kernels and did not start waited for something else");
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
        is_str(sl_cause_name(first_cause(traces[i].list)), sl_cause_name(traces[i].cause), "%s",
               traces[i].what);
}

static void test_peer_copy(void)
{
    sl_timeline *tl = events(
        "[{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy PtoP (Device -> Device)\","
        "\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"args\":{\"device\":1,\"stream\":7,"
        "\"fromDevice\":1,\"inDevice\":1,\"toDevice\":3}}]");
    is_str(sl_timeline_text(tl, sl_timeline_span(tl, 0).name), "Memcpy PtoP (Device 1 -> Device 3)",
           "a copy between two GPUs names them");
    is_int(sl_timeline_span(tl, 0).kind, SL_SPAN_MEMCPY_P2P, "and is one");
    sl_timeline_release(tl);
}

int main(void)
{
    make_directory();
    plan(0);
    test_inferred_waits();
    test_peer_copy();
    test_coincidences();
    test_event_sync();
    test_staging();
    test_one_part();
    test_slow_start();
    test_blocking();
    test_pytorch_without_cpu_ops();
    test_numbers();
    test_guessed_events();
    test_suspects();
    test_fits();
    test_room();
    rmdir(directory);
    return done_testing();
}
