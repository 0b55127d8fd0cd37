/* t-67-doubts.c - what a trace of another program says is doubted before it is believed.
 *
 * Expected values are worked out by hand from the events of each trace. */
#include "foreign.h"

#include <inttypes.h>

/* A call of thread `tid` of process `pid`, and a kernel. */
#define BY(pid, tid, name, ts, dur, id)                                                         \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"pid\":" #pid ",\"tid\":" #tid ",\"name\":\"" name \
    "\",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"correlation\":" #id "}}"
#define RANGE(ts)                                                                              \
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"r\",\"pid\":9,\"tid\":9,\"ts\":" #ts \
    ",\"dur\":30}"
#define RAN(ts, dur, id) \
    "{" K7 "\"name\":\"k\",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"correlation\":" #id "}}"

/* The traces below have an event a line. */
/* clang-format off */

static const sl_doubt *doubt_of(const sl_timeline *tl, sl_doubt_kind kind)
{
    static const sl_doubt none;
    size_t n;
    const sl_doubt *doubts = sl_timeline_doubts(tl, &n);
    for (size_t i = 0; i < n; i++)
        if (doubts[i].kind == kind) return &doubts[i];
    return &none;
}

/* The callers of all spans, then of all calls: "0 1 | 0". */
static const char *callers_of(const char *list)
{
    static char text[128];
    sl_timeline *tl = events(list);
    size_t n = 0;
    for (size_t i = 0; i < span_count(tl); i++)
        n += (size_t)sprintf(text + n, "%u ", sl_timeline_caller(tl, span_at(tl, i)->correlation));
    n += (size_t)sprintf(text + n, "|");
    for (size_t i = 0; i < call_count(tl); i++)
        n += (size_t)sprintf(text + n, " %u", sl_timeline_caller(tl, call_at(tl, i)->correlation));
    sl_timeline_release(tl);
    return text;
}

/* ---- threads ------------------------------------------------------------------------- */

static void test_threads(void)
{
    is_str(callers_of("[" BY(9, 1, "cudaLaunchKernel", 0, 4, 1) ","
                      BY(9, 2, "cudaHostAlloc", 2, 100, 2) ","
                      BY(9, 1, "cudaLaunchKernel", 5, 4, 3) ","
                      RAN(10, 5, 1) "," RAN(20, 5, 3) "]"),
           "0 0 | 1", "threads whose calls overlap are two");
    is_str(callers_of("[" BY(9, 1, "cudaLaunchKernel", 0, 4, 1) ","
                      BY(9, 2, "cudaLaunchKernel", 4, 4, 2) ","
                      BY(9, 1, "cudaLaunchKernel", 8, 4, 3) ","
                      RAN(10, 5, 1) "," RAN(20, 5, 2) "," RAN(30, 5, 3) "]"),
           "0 0 0 |", "threads whose calls never overlap hand work over to each other: they are one caller");
    is_str(callers_of("[" BY(9, 1, "cudaLaunchKernel", 0, 4, 1) ","
                      BY(9, 2, "cudaLaunchKernel", 3, 4, 2) ","
                      RAN(10, 5, 1) "," RAN(20, 5, 2) "]"),
           "0 0 |", "times in whole microseconds overlap by one");
    is_str(callers_of("[" BY(9, 1, "cudaLaunchKernel", 0, 4, 1) ","
                      BY(8, 1, "cudaLaunchKernel", 6, 4, 2) ","
                      RAN(10, 5, 1) "," RAN(20, 5, 2) "]"),
           "0 1 |", "threads of two processes are two");
    is_str(callers_of("[" BY(9, 1, "cudaLaunchKernel", 0, 4, 1) ","
                      BY(9, 3, "cudaEventQuery", 5, 4, 2) ","
                      BY(9, 2, "cudaLaunchKernel", 7, 4, 3) ","
                      BY(9, 1, "cudaLaunchKernel", 12, 4, 4) ","
                      BY(9, 2, "cudaLaunchKernel", 17, 4, 5) ","
                      RAN(10, 1, 1) "," RAN(20, 1, 3) "," RAN(30, 1, 4) "," RAN(40, 1, 5) "]"),
           "0 0 0 0 | 1", "a third thread with few calls does not keep the two with most apart");
}

/* A hundred threads whose calls all overlap; the calls after the 64th are the first thread's. */
static void test_many_threads(void)
{
    char list[20000], *at = list;
    for (int i = 0; i < 100; i++)
        at += sprintf(at, "%c{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"pid\":9,\"tid\":%d,\"name\":"
                          "\"cudaFree\",\"ts\":%d,\"dur\":1000,\"args\":{\"correlation\":%d}}",
                      i ? ',' : '[', i, i, i + 1);
    sprintf(at, "," RAN(1, 1, 1000) "]");
    sl_timeline *tl = events(list);
    is_int(sl_timeline_thread_count(tl), 64, "at most 64 threads are told apart");
    sl_timeline_release(tl);
}

/* ---- processes ------------------------------------------------------------------------ */

static void test_processes(void)
{
    sl_timeline *tl = events(
        "[" BY(9, 9, "cudaLaunchKernel", 0, 4, 1) ","
        BY(9, 9, "cudaStreamSynchronize", 20, 10, 2) ","
        "{" SYNC "\"name\":\"Stream Sync\",\"ts\":20,\"dur\":10,\"args\":{\"correlation\":2,"
        "\"device\":0,\"stream\":7}},"
        BY(8, 8, "cudaLaunchKernel", 1000, 4, 1) ","
        BY(8, 8, "cudaLaunchKernel", 1010, 4, 2) ","
        RAN(10, 15, 1) "," RAN(1008, 2, 1) "," RAN(1016, 5, 2) "]");
    is_int(span_count(tl), 3, "two processes with the same correlations have three operations");
    is_int(call_count(tl), 1, "a launch of one is not the other's synchronisation");
    is_int(span_at(tl, 1)->host_start_ns, 1000000, "an operation is the call's that began last before it");
    is_int(span_at(tl, 2)->host_start_ns, 1010000, "so is the next");
    is_int(call_at(tl, 0)->kind, SL_CALL_STREAM_SYNC, "a synchronisation is explained by its own event");
    is_int(doubt_of(tl, SL_DOUBT_PROCESSES)->n, 2, "that there are two processes is said");
    is_int(doubt_of(tl, SL_DOUBT_PROCESSES)->ns, 970000, "with the time between them, from 30 to 1000 us");
    is_int(doubt_of(tl, SL_DOUBT_NO_LAUNCH)->n, 0, "all have their launches");
    sl_timeline_release(tl);
    tl = events("[" BY(9, 9, "cudaLaunchKernel", 0, 40, 1) "," BY(8, 8, "cudaLaunchKernel", 30, 4, 1) ","
                RAN(35, 1, 1) "]");
    is_str(doubt_of(tl, SL_DOUBT_PROCESSES)->sentence, "The trace has calls of 2 processes.",
           "where they ran at the same time there is none between them");
    sl_timeline_release(tl);
}

/* ---- records without a time ------------------------------------------------------------ */

static void test_no_time(void)
{
    sl_timeline *tl = events(
        "[" BY(9, 9, "cudaLaunchKernel", 1790000000000000, 4, 1) ","
        BY(9, 9, "cudaLaunchKernel", 1790000000000010, 4, 2) ","
        RAN(1790000000000008, 20, 1) "," RAN(0, 0, 2) "]");
    is_int(span_count(tl), 1, "an operation at 0, where all others lie far from it, is left out");
    is_int(sl_timeline_makespan_ns(tl), 20000, "the makespan is that of the others");
    is_int(doubt_of(tl, SL_DOUBT_NO_TIME)->n, 1, "that it is left out is said");
    is_str(doubt_of(tl, SL_DOUBT_NO_TIME)->sentence,
           "One operation has no time in the trace (it starts at 0): it is left out.", "in a sentence");
    sl_timeline_release(tl);
    tl = events("[" RAN(0, 5, 1) "," RAN(10, 5, 2) "]");
    is_int(span_count(tl), 2, "a trace may begin at 0");
    is_int(sl_timeline_makespan_ns(tl), 15000, "from there on it counts");
    is_int(doubt_of(tl, SL_DOUBT_NO_TIME)->n, 0, "without a word");
    sl_timeline_release(tl);
    tl = events("[" BY(9, 9, "cudaLaunchKernel", 1, 4, 1) "," RAN(10, 5, 1) "," RANGE(0) "]");
    is_int(sl_timeline_host_range_count(tl), 1, "a range may begin at 0, too");
    sl_timeline_release(tl);
    tl = events("[" BY(9, 9, "cudaLaunchKernel", 1790000000000000, 4, 1) ","
                RAN(1790000000000008, 20, 1) "," RANGE(0) "," RANGE(1790000000000000) "]");
    is_int(sl_timeline_host_range_count(tl), 1, "and has no time where all else lies far from it");
    sl_timeline_release(tl);
    tl = events("[" RAN(0, 5, 1) "," RAN(2000000, 2000001, 2) "]");
    is_int(span_count(tl), 2, "an operation at 0 may come long before the others, if they last as long");
    sl_timeline_release(tl);
    sl_error err;
    const char *none = "[" BY(9, 9, "cudaLaunchKernel", 1790000000000000, 4, 1) "," RAN(0, 0, 1) "]";
    tl = parse_bytes(none, strlen(none), &err);
    ok(!tl && strstr(err.msg, "none of its 1 operations has a time"), "a trace whose operations have no time at all is refused");
}

/* ---- records that last too long ----------------------------------------------------------- */

static void test_too_long(void)
{
    sl_timeline *tl = events("[" RAN(0, 500, 1) "," RAN(20, 5, 2) "," RAN(30, 5, 3) "," RAN(40, 5, 4) "]");
    is_int(span_at(tl, 0)->end_ns, 20000, "what lasts beyond others of its stream is cut at the next start");
    is_int(sl_timeline_makespan_ns(tl), 45000, "it does not count");
    is_int(doubt_of(tl, SL_DOUBT_TOO_LONG)->n, 1, "that it is cut is said");
    is_int(doubt_of(tl, SL_DOUBT_TOO_LONG)->ns, 480000, "with the time, from 20 to 500 us");
    sl_timeline_release(tl);
    tl = events("[" RAN(0, 26, 1) "," RAN(20, 26, 2) "," RAN(40, 26, 3) "]");
    is_int(span_at(tl, 0)->end_ns, 26000, "programmatic dependent launch starts some us early: nothing is cut");
    is_int(doubt_of(tl, SL_DOUBT_TOO_LONG)->n, 0, "without a word");
    sl_timeline_release(tl);
    tl = events("[" RAN(0, 26, 1) "," RAN(10, 0, 2) "," RAN(12, 0, 3) "," RAN(14, 0, 4) "]");
    is_int(doubt_of(tl, SL_DOUBT_TOO_LONG)->n, 0, "operations of no length are none that ran within");
    sl_timeline_release(tl);
    tl = events("[{" KERNEL "\"tid\":8,\"name\":\"k\",\"ts\":0,\"dur\":500},"
                RAN(20, 5, 2) "," RAN(30, 5, 3) "]");
    is_int(doubt_of(tl, SL_DOUBT_TOO_LONG)->n, 0, "nor are those of other streams");
    sl_timeline_release(tl);
    tl = events("[" BY(9, 9, "cudaGraphLaunch", 0, 4, 1) ","
                RAN(10, 50, 1) "," RAN(20, 5, 1) "," RAN(30, 5, 1) "]");
    is_int(doubt_of(tl, SL_DOUBT_TOO_LONG)->n, 0, "nor nodes of one graph, which run side by side");
    sl_timeline_release(tl);
}

/* ---- copies within the host -------------------------------------------------------------- */

#define WITHIN_HOST(ts, dur, id) "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"pid\":0,\"tid\":7,\"name\":" \
    "\"Memcpy HtoH (Pinned -> Pageable)\",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"correlation\":" #id "}}"

/* The CPU begins when its call does, and copies from 100 to 105. */
static void test_within_host(void)
{
    sl_timeline *tl = events("[" RAN(0, 40, 1) "," RAN(50, 50, 2) "," WITHIN_HOST(5, 100, 3) ","
                             RAN(110, 5, 4) "]");
    is_int(span_at(tl, 2)->start_ns, 100000, "a copy within the host comes behind what its stream had before");
    is_int(span_at(tl, 2)->end_ns, 105000, "and ends when it did");
    is_int(doubt_of(tl, SL_DOUBT_TOO_LONG)->n, 0, "it does not last too long");
    sl_timeline_release(tl);
    tl = events("[" RAN(0, 5, 1) "," WITHIN_HOST(20, 10, 2) "," RAN(30, 5, 3) "]");
    is_int(span_at(tl, 1)->start_ns, 20000, "one whose stream was idle began with its call");
    sl_timeline_release(tl);
    tl = events("[" RAN(0, 5, 1) "," WITHIN_HOST(20, 10, 2) "," RAN(40, 5, 0) "]");
    is_int(span_at(tl, 1)->start_ns, 20000, "and does not follow what has no number");
    sl_timeline_release(tl);
}

/* ---- clocks ---------------------------------------------------------------------------- */

#define LAUNCH(ts, id) BY(9, 9, "cudaLaunchKernel", ts, 4, id)
#define DEVICE_SYNC(ts, dur, id) BY(9, 9, "cudaDeviceSynchronize", ts, dur, id)

#define ELSEWHERE(tid, ts, id) "{" KERNEL "\"tid\":" #tid ",\"name\":\"k\",\"ts\":" #ts \
    ",\"dur\":1,\"args\":{\"correlation\":" #id "}}"

/* When the first operation starts, the trace's first event being at 0. */
static int64_t first_start_ns(const char *list, sl_doubt_kind kind, size_t n, int64_t ns)
{
    sl_timeline *tl = events(list);
    int64_t start_ns = span_at(tl, 0)->start_ns;
    const sl_doubt *found = doubt_of(tl, kind);
    if (found->n != n || found->ns != ns)
        diag("said: %zu, %" PRId64 " ns: %s", found->n, found->ns, sl_timeline_notice(tl));
    start_ns = found->n == n && found->ns == ns ? start_ns : -1;
    sl_timeline_release(tl);
    return start_ns;
}

static void test_clock(void)
{
    is_int(first_start_ns("[" LAUNCH(100, 1) "," LAUNCH(120, 2) "," LAUNCH(140, 3) ","
                          RAN(50, 5, 1) "," RAN(71, 5, 2) "," RAN(92, 5, 3) "]",
                          SL_DOUBT_CLOCK_EARLY, 3, 50000),
           50000, "where launches start before their calls all are moved by the most that one needs");
    is_int(first_start_ns("[" LAUNCH(100, 1) "," LAUNCH(120, 2) "," LAUNCH(140, 3) ","
                          DEVICE_SYNC(145, 30, 4) ","
                          RAN(50, 5, 1) "," RAN(71, 5, 2) "," RAN(92, 5, 3) "]",
                          SL_DOUBT_CLOCK_EARLY, 3, 64000),
           64000, "to the middle, where a wait says how much is too much: 50 to 175 - 97 us");
    is_int(first_start_ns("[" LAUNCH(0, 1) "," LAUNCH(20, 2) "," DEVICE_SYNC(25, 10, 3) ","
                          RAN(28, 5, 1) "," RAN(48, 5, 2) "]",
                          SL_DOUBT_CLOCK_LATE, 1, 23000),
           5000, "where a wait returns 18 us before the end, and launches allow 28, operations go back by 23");
    is_int(first_start_ns("[" LAUNCH(0, 1) "," LAUNCH(20, 2) "," DEVICE_SYNC(25, 10, 3) ","
                          "{" SYNC "\"name\":\"Context Sync\",\"ts\":25,\"dur\":10,\"args\":{\"correlation\":3,"
                          "\"device\":1}}," RAN(28, 5, 1) "," RAN(48, 5, 2) "]",
                          SL_DOUBT_CLOCK_LATE, 0, 0),
           28000, "a wait for another GPU says nothing about this one's clock");
    is_int(first_start_ns("[" LAUNCH(0, 1) "," LAUNCH(20, 2) "," DEVICE_SYNC(25, 10, 3) ","
                          RAN(6, 5, 1) "," RAN(26, 900, 2) "]",
                          SL_DOUBT_AFTER_WAIT, 1, 891000),
           6000, "where launches do not allow as much, that is only said: 926 against 35");
    is_int(first_start_ns("[" LAUNCH(0, 1) "," LAUNCH(20, 2) "," LAUNCH(40, 3) "," LAUNCH(60, 4) ","
                          RAN(6, 5, 1) "," RAN(26, 5, 2) "," RAN(46, 5, 3) "," RAN(52, 5, 4) "]",
                          SL_DOUBT_BEFORE_CALL, 1, 8000),
           6000, "one of four that starts before its call is only said to do so");
    is_int(first_start_ns("[" LAUNCH(0, 1) "," LAUNCH(20, 2) "," RAN(6, 5, 1) "," RAN(19.5, 5, 2) "]",
                          SL_DOUBT_BEFORE_CALL, 0, 0),
           6000, "half a microsecond is within the clocks' accuracy");
    is_int(first_start_ns("[" LAUNCH(0, 1) "," LAUNCH(10, 2) "," LAUNCH(20, 3) "," LAUNCH(30, 4) ","
                          RAN(6, 100, 1) "," RAN(106, 100, 2) "," RAN(206, 100, 3) "," RAN(306, 100, 4) ","
                          "{" KERNEL "\"tid\":8,\"name\":\"k\",\"ts\":25,\"dur\":1,\"args\":{\"correlation\":4}}]",
                          SL_DOUBT_BEFORE_CALL, 1, 5000),
           6000, "operations that queue behind others do not tell: a single one moves nothing");
    const char *few = "[" LAUNCH(0, 1) "," LAUNCH(10, 2) "," LAUNCH(20, 3) "," LAUNCH(30, 4) ","
        LAUNCH(50, 5) "," LAUNCH(55, 6) "," LAUNCH(60, 7) "," DEVICE_SYNC(70, %d, 8) ","
        RAN(6, 100, 1) "," RAN(106, 100, 2) "," RAN(206, 100, 3) "," RAN(306, 100, 4) ","
        ELSEWHERE(8, 30, 5) "," ELSEWHERE(9, 35, 6) "," ELSEWHERE(10, 40, 7) "]";
    char list[2048];
    snprintf(list, sizeof list, few, 339);
    is_int(first_start_ns(list, SL_DOUBT_BEFORE_CALL, 3, 20000), 6000,
           "nor do three of seven, if a wait returned 3 us behind the last operation");
    snprintf(list, sizeof list, few, 359);
    is_int(first_start_ns(list, SL_DOUBT_CLOCK_EARLY, 3, 21500), 27500,
           "but do if it returned 23 us behind that");
}

/* ---- what is missing -------------------------------------------------------------------- */

static void test_missing(void)
{
    sl_timeline *tl = events("[" LAUNCH(0, 1) "," LAUNCH(10, 2) "," LAUNCH(20, 3) ","
        BY(9, 9, "cudaFree", 30, 4, 4) "," RAN(6, 5, 1) "," RAN(26, 5, 3) "]");
    is_int(doubt_of(tl, SL_DOUBT_NO_OPERATION)->n, 1, "a launch without an operation is counted");
    is_str(doubt_of(tl, SL_DOUBT_NO_OPERATION)->sentence,
           "Of 3 launches of kernels, one has no operation in the trace: the GPU may have worked where it "
           "seems idle.", "and what that means is said");
    sl_timeline_release(tl);
    tl = events("[" BY(9, 9, "cudaGraphLaunch", 0, 4, 1) "," BY(9, 9, "cudaGraphLaunch", 10, 4, 2) ","
        RAN(6, 1, 1) "," RAN(8, 1, 1) "]");
    is_int(doubt_of(tl, SL_DOUBT_NO_NODES)->n, 1, "a launch of a graph without operations is counted");
    is_int(doubt_of(tl, SL_DOUBT_NO_OPERATION)->n, 0, "as no launch of a kernel");
    sl_timeline_release(tl);
    tl = events("[" BY(9, 9, "cudaStreamBeginCapture", 0, 1, 1) "," LAUNCH(2, 2) ","
        BY(9, 8, "cudaLaunchKernel", 7, 4, 5) "," BY(9, 9, "cudaStreamEndCapture", 12, 1, 3) ","
        BY(8, 8, "cudaStreamBeginCapture", 13, 1, 6) "," LAUNCH(14, 4) "," BY(9, 8, "cudaLaunchKernel", 19, 4, 7) ","
        RAN(30, 5, 4) "]");
    is_int(doubt_of(tl, SL_DOUBT_NO_OPERATION)->n, 1,
           "a launch within a capture runs in none, nor does one of another thread at that time, as autograd makes "
           "them; one behind it, or within that of another process, is missing");
    is_int(doubt_of(tl, SL_DOUBT_NO_OPERATION)->from_ns, 19000, "what is missing has its time: from its call");
    is_int(doubt_of(tl, SL_DOUBT_NO_OPERATION)->to_ns, 23000, "to the call's end");
    sl_timeline_release(tl);
    tl = events("[" BY(9, 9, "cuStreamBeginCaptureToGraph", 0, 1, 1) "," LAUNCH(2, 2) ","
        BY(9, 9, "cuStreamEndCapture", 12, 1, 3) "," LAUNCH(14, 4) "," RAN(30, 5, 4) "]");
    is_int(doubt_of(tl, SL_DOUBT_NO_OPERATION)->n, 0, "a capture may add to a graph that is there");
    sl_timeline_release(tl);
    tl = events("[" LAUNCH(0, 1) ",{\"ph\":\"X\",\"cat\":\"cuda_driver\",\"pid\":9,\"tid\":9,\"name\":\"cuLaunchKernel\","
        "\"ts\":1,\"dur\":2,\"args\":{\"correlation\":1}}," LAUNCH(10, 2) ","
        RAN(6, 1, 1) ",{" KERNEL "\"tid\":7,\"name\":\"k\",\"ts\":16,\"dur\":1,\"args\":{\"device\":1,\"correlation\":2}},"
        RAN(26, 1, 7) "]");
    is_int(doubt_of(tl, SL_DOUBT_NO_OPERATION)->n, 0,
           "the driver's call within the run-time's lacks none, nor does a launch on another GPU");
    sl_timeline_release(tl);
}

/* ---- the profiler itself ------------------------------------------------------------------ */

#define STALL(name, ts, dur) \
    "{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":\"" name "\",\"pid\":-1,\"tid\":0,\"ts\":" #ts ",\"dur\":" #dur "}"

static void test_stalls(void)
{
    sl_timeline *tl = events("[" LAUNCH(0, 1) "," BY(9, 9, "cudaLaunchKernel", 10, 1010, 2) ","
        STALL("Activity Buffer Request", 12, 1000) "," RAN(6, 5, 1) "," RAN(1022, 5, 2) "]");
    is_int(doubt_of(tl, SL_DOUBT_PROFILER_STALLS)->n, 1, "the profiler's stall is told");
    is_int(doubt_of(tl, SL_DOUBT_PROFILER_STALLS)->ns, 1000000, "with its time");
    is_int(span_at(tl, 1)->host_start_ns, 1012000, "the launch that it held up begins behind it");
    is_int(call_count(tl), 1, "it is work of the host");
    is_int(call_at(tl, 0)->kind, SL_CALL_HOST_WORK, "of its own");
    is_str(sl_timeline_text(tl, call_at(tl, 0)->name), "Activity Buffer Request", "with its name");
    sl_timeline_release(tl);
    /* From 8 to 1012, around a call from 10 to 1010 that is all of it. */
    tl = events("[" RAN(2, 5, 1) "," LAUNCH(10, 2) "," STALL("Activity Buffer Request", 8, 1004) ","
        RAN(1022, 5, 2) "]");
    is_int(span_count(tl), 2, "a stall that is longer than the call that it held up can be read");
    sl_timeline_release(tl);
    tl = events("[" LAUNCH(0, 1) "," BY(9, 9, "cudaLaunchKernel", 10, 30, 2) ","
        STALL("Activity Buffer Request", 14, 6) "," RAN(4, 5, 1) "," RAN(18, 5, 2) "]");
    is_int(span_at(tl, 1)->host_start_ns, 10000,
           "a call whose kernel has started by the stall's end began before the stall");
    is_int(span_at(tl, 1)->host_end_ns, 14000, "and ended there");
    is_int(doubt_of(tl, SL_DOUBT_BEFORE_CALL)->n, 0, "so that the kernel's time is not in doubt");
    sl_timeline_release(tl);
    tl = events("[" STALL("Activity Buffer Request", 0, 400) "," LAUNCH(410, 1) "," RAN(416, 5, 1) ","
        STALL("Buffer Flush", 430, 90) "]");
    is_int(call_count(tl), 0, "stalls before the first operation and behind the last one delay nothing");
    is_int(doubt_of(tl, SL_DOUBT_PROFILER_STALLS)->n, 0, "and are not told");
    is_int(sl_timeline_wall_ns(tl), 11000, "nor do they count for the host's time");
    sl_timeline_release(tl);
    tl = events("[" LAUNCH(0, 1) "," LAUNCH(1020, 2) "," STALL("Lazy Function Loading", 12, 1000) ","
        RAN(6, 5, 1) "," RAN(1026, 5, 2) "]");
    is_int(doubt_of(tl, SL_DOUBT_PROFILER_STALLS)->n, 0, "what a program has without a profiler is no stall of one");
    sl_timeline_release(tl);
}

/* n operators of 8 us, each of which launches a kernel of `dur` us. */
static size_t cost_of(int n, int dur, const char *cat)
{
    char list[40000], *at = list;
    for (int i = 0; i < n; i++)
        at += sprintf(at, "%c{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"aten::add\",\"pid\":9,\"tid\":9,\"ts\":%d,"
                          "\"dur\":8},{" CALL "\"name\":\"cudaLaunchKernel\",\"ts\":%d,\"dur\":4,\"args\":"
                          "{\"correlation\":%d}},{" K7 "\"name\":\"k\",\"ts\":%d,\"dur\":%d,\"args\":"
                          "{\"correlation\":%d}}", i ? ',' : '[', cat, i * 10, i * 10 + 2, i + 1,
                      i * 10 + 8, dur, i + 1);
    strcpy(at, "]");
    sl_timeline *tl = events(list);
    const sl_doubt *cost = doubt_of(tl, SL_DOUBT_PROFILER_COST);
    size_t found = cost->n;
    if (found > 0) ok(cost->ns > (int64_t)found * 500 && cost->ns < (int64_t)found * 2500,
                      "an event costs a microsecond or two");
    sl_timeline_release(tl);
    return found;
}

/* The first call began before the first kernel. */
static void test_cost(void)
{
    is_int(cost_of(50, 2, "cpu_op"), 98, "where the GPU waits for the host, what recording 49 calls and operators costs is told");
    is_int(cost_of(50, 10, "cpu_op"), 0, "not where the GPU is busy all the time");
    is_int(cost_of(50, 2, "other"), 0, "nor in traces that are not PyTorch's");
}

int main(void)
{
    plan(0);
    test_threads();
    test_many_threads();
    test_processes();
    test_no_time();
    test_too_long();
    test_within_host();
    test_clock();
    test_missing();
    test_stalls();
    test_cost();
    return done_testing();
}
