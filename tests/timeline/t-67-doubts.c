/* t-67-doubts.c - what a trace of another program says is doubted before it is believed.
 *
 * Expected values are worked out by hand from the events of each trace. */
#include "foreign.h"

/* A call of thread `tid` of process `pid`, and a kernel. */
#define BY(pid, tid, name, ts, dur, id)                                                          \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"pid\":" #pid ",\"tid\":" #tid ",\"name\":\"" name  \
    "\",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"correlation\":" #id "}}"
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

/* The threads of all spans, then of all calls: "0 1 | 0". */
static const char *threads_of(const char *list)
{
    static char text[128];
    sl_timeline *tl = events(list);
    size_t n = 0;
    for (size_t i = 0; i < span_count(tl); i++)
        n += (size_t)sprintf(text + n, "%u ", sl_timeline_thread(tl, span_at(tl, i)->correlation));
    n += (size_t)sprintf(text + n, "|");
    for (size_t i = 0; i < call_count(tl); i++)
        n += (size_t)sprintf(text + n, " %u", sl_timeline_thread(tl, call_at(tl, i)->correlation));
    sl_timeline_release(tl);
    return text;
}

/* ---- threads ------------------------------------------------------------------------- */

static void test_threads(void)
{
    is_str(threads_of("[" BY(9, 1, "cudaLaunchKernel", 0, 4, 1) ","
                      BY(9, 2, "cudaHostAlloc", 2, 100, 2) ","
                      BY(9, 1, "cudaLaunchKernel", 5, 4, 3) ","
                      RAN(10, 5, 1) "," RAN(20, 5, 3) "]"),
           "0 0 | 1", "threads whose calls overlap are two");
    is_str(threads_of("[" BY(9, 1, "cudaLaunchKernel", 0, 4, 1) ","
                      BY(9, 2, "cudaLaunchKernel", 4, 4, 2) ","
                      BY(9, 1, "cudaLaunchKernel", 8, 4, 3) ","
                      RAN(10, 5, 1) "," RAN(20, 5, 2) "," RAN(30, 5, 3) "]"),
           "0 0 0 |", "threads whose calls never overlap hand work over to each other: they are one");
    is_str(threads_of("[" BY(9, 1, "cudaLaunchKernel", 0, 4, 1) ","
                      BY(9, 2, "cudaLaunchKernel", 3, 4, 2) ","
                      RAN(10, 5, 1) "," RAN(20, 5, 2) "]"),
           "0 0 |", "times in whole microseconds overlap by one");
    is_str(threads_of("[" BY(9, 1, "cudaLaunchKernel", 0, 4, 1) ","
                      BY(8, 1, "cudaLaunchKernel", 6, 4, 2) ","
                      RAN(10, 5, 1) "," RAN(20, 5, 2) "]"),
           "0 1 |", "threads of two processes are two");
    is_str(threads_of("[" BY(9, 1, "cudaLaunchKernel", 0, 4, 1) ","
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

int main(void)
{
    plan(0);
    test_threads();
    test_many_threads();
    test_processes();
    return done_testing();
}
