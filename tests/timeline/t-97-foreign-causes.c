/* t-97-foreign-causes.c - what operations waited for in traces of other programs: the end of the
 * call that submitted them, a call that waited, others of their stream. */
#include "foreign.h"

/* The traces below have an event a line. */
/* clang-format off */

#define SMS(n) "{\"deviceProperties\":[{\"id\":0,\"name\":\"G\",\"numSms\":" #n "}],"
/* A kernel of few blocks: others run beside it. */
#define SMALL(tid, ts, dur, id) "{" KERNEL "\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur \
    ",\"args\":{\"correlation\":" #id ",\"grid\":[4,1,1],\"block\":[32,1,1]}}"

/* What ending the largest cause of this kind gains, in us; -1: there is none. */
static double gain_us(const char *list, sl_cause cause)
{
    sl_timeline *tl = events(list);
    sl_error err;
    const sl_explanation *e;
    int64_t ns = -1000;
    must(sl_timeline_causes(tl, &e, &err), &err);
    for (size_t i = 0; i < e->n_findings; i++) {
        if (e->findings[i].cause == cause && e->findings[i].gain_ns > ns)
            ns = e->findings[i].gain_ns;
    }
    sl_timeline_release(tl);
    return (double)ns / 1000;
}

/* ---- a slow call, near whose end its operation begins --------------------------------- */

/* A kernel of 100, then a first launch that takes 4,000,000 from 200 on; its kernel begins at `ts`,
 * and 100 behind the call's end another one is launched. */
#define FIRST_LAUNCH(call, ts) "[" AT("cudaLaunchKernel", 0, 5, 1) "," \
    "{" K7 "\"ts\":10,\"dur\":100,\"args\":{\"correlation\":1}}," \
    AT(call, 200, 4000000, 2) "," \
    "{" K7 "\"name\":\"slow\",\"ts\":" #ts ",\"dur\":100,\"args\":{\"correlation\":2}}," \
    AT("cudaLaunchKernel", 4000220, 5, 3) "," \
    "{" K7 "\"ts\":4000320,\"dur\":100,\"args\":{\"correlation\":3}}]"

/* A launch takes 4 us where it has nothing else to do, so 3,999,996 less. What begins within the
 * call does so at most 12 us before its end, so some microseconds are open. */
static void test_first_launch(void)
{
    is_double(gain_us(FIRST_LAUNCH("cudaLaunchKernel", 4000203), SL_CAUSE_HOST_BLOCKED), 3999996, 20,
            "without a slow call all goes on sooner, where its kernel begins behind the call");
    is_double(gain_us(FIRST_LAUNCH("cudaLaunchKernel", 4000197), SL_CAUSE_HOST_BLOCKED), 3999996, 20,
            "also where that begins 3 us before the call returns");
    is_double(gain_us(FIRST_LAUNCH("cudaLaunchKernel", 4000192), SL_CAUSE_HOST_BLOCKED), 3999996, 20,
            "or 8 us before");
    is_double(gain_us(FIRST_LAUNCH("hipLaunchKernel", 4000190), SL_CAUSE_HOST_BLOCKED), 3999996, 20,
            "or 10 us before, as on AMD's GPUs");
    is_double(gain_us(FIRST_LAUNCH("cudaLaunchKernel", 300), SL_CAUSE_HOST_BLOCKED), 3999996, 120,
            "a kernel that begins early in the call does not depend on its end; the next one does");
}

/* The kernel is the last: it ends at 4000300, and begins at `ts`. */
#define LAST_LAUNCH(ts, dur) "[" AT("cudaLaunchKernel", 0, 5, 1) "," \
    "{" K7 "\"ts\":10,\"dur\":100,\"args\":{\"correlation\":1}}," \
    AT("cudaLaunchKernel", 200, 4000000, 2) "," \
    "{" K7 "\"name\":\"slow\",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"correlation\":2}}]"

static void test_last_launch(void)
{
    is_double(gain_us(LAST_LAUNCH(4000192, 100), SL_CAUSE_HOST_BLOCKED), 3999996, 20,
            "the kernel itself depends on the call's end");
    ok(gain_us(LAST_LAUNCH(300, 4000000), SL_CAUSE_HOST_BLOCKED) < 1,
       "one that begins early in the call does not: a shorter call gains nothing");
}

/* A first launch of a graph takes 4000 from 200 on; its two nodes begin at `ts` and 110 later. */
#define FIRST_GRAPH(ts, next) "[" AT("cudaLaunchKernel", 0, 5, 1) "," \
    "{" K7 "\"ts\":10,\"dur\":100,\"args\":{\"correlation\":1}}," \
    AT("cudaGraphLaunch", 200, 4000, 2) "," \
    "{" K7 "\"ts\":" #ts ",\"dur\":100,\"args\":{\"correlation\":2,\"graph id\":4,\"graph node id\":1}}," \
    "{" K7 "\"ts\":" #next ",\"dur\":100,\"args\":{\"correlation\":2,\"graph id\":4,\"graph node id\":2}}]"

static void test_first_graph(void)
{
    double behind = gain_us(FIRST_GRAPH(4203, 4313), SL_CAUSE_HOST_ISSUING);
    is_double(gain_us(FIRST_GRAPH(4192, 4302), SL_CAUSE_HOST_ISSUING), behind, 20,
            "what a graph runs depends on the end of its launch, likewise");
    ok(behind > 3900, "which gains what the launch took");
}

/* ---- copies whose call waits for them ------------------------------------------------- */

#define COPY(name, ts, dur, id) "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"pid\":0,\"tid\":7," \
    "\"ts\":" #ts ",\"dur\":" #dur ",\"name\":\"Memcpy " name "\",\"args\":{\"correlation\":" #id "}}"
/* A kernel from 10 to 1010, and a copy from 1012 to 1015 whose call lasts from `ts` for `dur`. */
#define READ(call, ts, dur, name) "[" AT("hipLaunchKernel", 0, 5, 1) "," \
    "{" K7 "\"ts\":10,\"dur\":1000,\"args\":{\"correlation\":1}}," \
    AT(call, ts, dur, 2) "," COPY(name, 1012, 3, 2) "," \
    AT("hipLaunchKernel", 1090, 5, 3) "," \
    "{" K7 "\"ts\":1100,\"dur\":100,\"args\":{\"correlation\":3}}]"

static bool host_waited(const char *list)
{
    sl_timeline *tl = events(list);
    bool waited = span_at(tl, 1)->flags & SL_SPAN_HOST_WAITED;
    sl_timeline_release(tl);
    return waited;
}

static void test_copy_calls(void)
{
    ok(host_waited(READ("hipMemcpyWithStream", 20, 1010, "DtoH (Device -> Host)")),
       "a call that ended with its copy waited for it, whatever its name");
    ok(host_waited(READ("cudaMemcpyAsync", 20, 1010, "DtoH (Device -> Pinned)")),
       "also where the copy is said to be to pinned memory");
    ok(host_waited(READ("hipMemcpyAsync", 20, 1010, "HtoD (Host -> Device)")), "or from the host");
    ok(!host_waited(READ("hipMemcpyAsync", 20, 990, "DtoH (Device -> Host)")),
       "one that returned before the copy's end did not");
    ok(!host_waited(READ("hipMemcpyAsync", 1008, 10, "DtoH (Device -> Host)")),
       "nor did one that took no longer than a call that only issues");
    ok(!host_waited(READ("hipMemcpyAsync", 20, 1050, "DtoH (Device -> Host)")),
       "nor one that went on for 55 us: the copy's end did not end it");
    ok(host_waited(READ("cudaMemcpyAsync", 20, 1050, "DtoH (Device -> Pageable)")),
       "unless it is known to wait: it copies to pageable memory");
}

/* Without the wait the last kernel follows the copy: it starts at 1016 in place of 1100. */
static void test_item(void)
{
    is_double(gain_us(READ("hipMemcpyWithStream", 20, 1010, "DtoH (Device -> Host)"),
                      SL_CAUSE_HOST_BLOCKED), 84, 2, "without the wait the host goes on at once");
}

/* A kernel waits for something that came before the recording, for 400 ms; a copy behind it holds
 * the host until then. Then ten kernels of 480, each launched at once. */
#define RESOLVED(call, name) "[" AT("cudaLaunchKernel", 0, 5, 1) "," \
    "{" KERNEL "\"tid\":2,\"ts\":5,\"dur\":4,\"args\":{\"correlation\":1}}," \
    AT("cudaStreamWaitEvent", 20, 10, 2) "," AT("cudaLaunchKernel", 40, 5, 3) "," \
    "{" K7 "\"ts\":400000,\"dur\":6,\"args\":{\"correlation\":3}}," \
    AT(call, 80, 399950, 4) "," COPY(name, 400010, 5, 4) "," \
    AT("cudaLaunchKernel", 400040, 5, 5) "," \
    "{" K7 "\"ts\":400060,\"dur\":480,\"args\":{\"correlation\":5}}]"

static void test_wait_before_recording(void)
{
    is_double(gain_us(RESOLVED("cudaMemcpyAsync", "DtoH (Device -> Pageable)"), SL_CAUSE_UNKNOWN),
              399900, 100, "what a kernel waited for since before the recording is not known");
    is_double(gain_us(RESOLVED("hipMemcpyWithStream", "DtoH (Device -> Host)"), SL_CAUSE_UNKNOWN),
              399900, 100, "and counts in full where AMD's copy waits behind it");
}

/* ---- operations that overlap in one stream --------------------------------------------- */

/* Of the makespan; the parts with this cause. */
static double part_us(const char *list, sl_cause cause)
{
    sl_timeline *tl = events(list);
    sl_error err;
    const sl_explanation *e;
    int64_t ns = 0;
    must(sl_timeline_causes(tl, &e, &err), &err);
    for (size_t i = 0; i < e->n_chain; i++)
        ns += e->chain[i].cause == cause ? e->chain[i].lost_ns : 0;
    sl_timeline_release(tl);
    return (double)ns / 1000;
}

/* Programmatic dependent launch: the second kernel begins 20 before the first one's end. */
#define DEPENDENT "[" AT("cudaLaunchKernel", 0, 5, 1) "," \
    "{" K7 "\"name\":\"a\",\"ts\":10,\"dur\":100,\"args\":{\"correlation\":1}}," \
    AT("cudaLaunchKernelExC", 6, 5, 2) "," \
    "{" K7 "\"name\":\"b\",\"ts\":90,\"dur\":100,\"args\":{\"correlation\":2}}," \
    AT("cudaMemcpyAsync", 12, 5, 3) "," COPY("HtoD (Pinned -> Device)", 191, 50, 3) "]"

static void test_dependent_launch(void)
{
    is_double(part_us(DEPENDENT, SL_CAUSE_UNKNOWN), 0, 0, "what overlaps in its stream is not unknown");
    is_double(part_us(DEPENDENT, SL_CAUSE_NONE), 230, 0.1,
              "80 of the first kernel, 100 of the second, and the copy");
    is_double(gain_us(DEPENDENT, SL_CAUSE_UNKNOWN), -1, 0, "nor is any wait");
}

/* Stream 8 runs a kernel from 10 to 1010; stream 9 waits for its event, needlessly, runs one from 1011
 * to 1111 and a dependent one from 1091 to 1191. Without the event these begin as soon as they are
 * launched, and end before 1010: 181 are gained. */
static void test_replayed_overlap(void)
{
    const char *list = SMS(132) "\"traceEvents\":[" AT("cudaLaunchKernel", 0, 5, 1) ","
        SMALL(8, 10, 1000, 1) "," AT("cudaEventRecord", 6, 1, 2) ","
        AT("cudaStreamWaitEvent", 8, 1, 3) ","
        AT("cudaLaunchKernel", 20, 5, 4) "," SMALL(9, 1011, 100, 4) ","
        AT("cudaLaunchKernelExC", 26, 4, 5) "," SMALL(9, 1091, 100, 5) "]}";
    is_double(gain_us(list, SL_CAUSE_EVENT), 181, 1,
              "in the replay they run beside each other for as long as was recorded");
}

/* A kernel without length lies within the one before it; the next one comes behind that. */
static void test_nested(void)
{
    const char *list = "[" AT("cudaLaunchKernel", 0, 5, 1) ","
        "{" K7 "\"name\":\"a\",\"ts\":100,\"dur\":50,\"args\":{\"correlation\":1}},"
        AT("cudaLaunchKernel", 10, 5, 2) ","
        "{" K7 "\"name\":\"thin\",\"ts\":120,\"dur\":0,\"args\":{\"correlation\":2}},"
        AT("cudaLaunchKernel", 20, 5, 3) ","
        "{" K7 "\"name\":\"b\",\"ts\":160,\"dur\":50,\"args\":{\"correlation\":3}}]";
    is_double(gain_us(list, SL_CAUSE_NULL_STREAM), -1, 0, "in one stream nobody waits for a default stream");
    is_double(part_us(list, SL_CAUSE_NONE), 100, 0.1, "what came behind waited for the one that ended last");
    is_double(part_us(list, SL_CAUSE_UNKNOWN), 0, 0, "nothing is unknown");
}

/* ---- kernels that fill the GPU beside smaller ones ---------------------------------------- */

#define BLOCKS(tid, ts, dur, id, blocks) "{" KERNEL "\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur \
    ",\"args\":{\"correlation\":" #id ",\"grid\":[" #blocks ",1,1],\"block\":[256,1,1]}}"
/* Stream 9 waits for event 2 of stream 8. */
#define WAITED AT("cudaEventRecord", 6, 1, 2) "," AT("cudaStreamWaitEvent", 8, 1, 3) "," \
    "{" SYNC "\"name\":\"Stream Wait Event\",\"tid\":9,\"ts\":8,\"dur\":1," \
    "\"args\":{\"correlation\":3,\"stream\":9,\"wait_on_stream\":8," \
    "\"wait_on_cuda_event_record_corr_id\":2}},"
/* A kernel from 10 to 510; one that fills the GPU waits for its event, from 511 to 911. */
#define NEEDLESS(blocks) SMS(132) "\"traceEvents\":[" AT("cudaLaunchKernel", 0, 5, 1) "," \
    BLOCKS(8, 10, 500, 1, blocks) "," WAITED \
    AT("cudaLaunchKernel", 20, 5, 4) "," BLOCKS(9, 511, 400, 4, 2112) "]}"

/* Without the wait the second kernel begins at 29. Beside 16 blocks it has 116 SMs of 132: it ends
 * at 29 + 400 * 132 / 116 = 484, so that the first one's end at 510 decides. Beside 66 it does 240.5
 * of its work until 510, and the rest alone, until 669.5. */
static void test_full_beside_small(void)
{
    is_double(gain_us(NEEDLESS(16), SL_CAUSE_EVENT), 401, 0.5,
              "a kernel that fills the GPU gains what it waited needlessly for a small one");
    is_double(gain_us(NEEDLESS(66), SL_CAUSE_EVENT), 241.5, 2,
              "less where that one takes half of the SMs");
    is_double(gain_us(NEEDLESS(132), SL_CAUSE_EVENT), 0, 1.5, "and nothing where both fill the GPU");
}

/* A memset takes no SMs, and here nobody knows how many there are: it is no smaller kernel. The host
 * waits for a copy from 8 to 283. Without the wait that call takes 4 us, the launch comes at 19 and the
 * kernel runs from 29 to 429, in place of 300 to 700. */
static void test_full_beside_memset(void)
{
    const char *list = "[" AT("cudaMemsetAsync", 0, 3, 1) ","
        "{\"ph\":\"X\",\"cat\":\"gpu_memset\",\"pid\":0,\"tid\":8,\"ts\":10,\"dur\":190,"
        "\"name\":\"Memset (Device)\",\"args\":{\"correlation\":1}}," AT("cudaMemcpyAsync", 4, 3, 2) ","
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"pid\":0,\"tid\":10,\"ts\":14,\"dur\":266,"
        "\"name\":\"Memcpy HtoD (Pinned -> Device)\",\"args\":{\"correlation\":2}},"
        AT("cudaDeviceSynchronize", 8, 275, 3) "," AT("cudaLaunchKernel", 290, 5, 4) ","
        BLOCKS(9, 300, 400, 4, 2112) "]";
    is_double(gain_us(list, SL_CAUSE_HOST_BLOCKED), 271, 0.5, "beside a memset a kernel takes as long");
}

/* A copy until 1000; a small kernel waits for its event, needlessly, and runs until 1010. Another one,
 * launched at 30, starts 15 behind that, and nothing else explains this. */
static void test_full_follows_small(void)
{
    const char *list = SMS(132) "\"traceEvents\":[" AT("cudaMemcpyAsync", 0, 5, 1) ","
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"pid\":0,\"tid\":8,\"ts\":10,\"dur\":990,"
        "\"name\":\"Memcpy HtoD (Pinned -> Device)\",\"args\":{\"correlation\":1}}," WAITED
        AT("cudaLaunchKernel", 20, 5, 4) "," BLOCKS(9, 1003, 7, 4, 16) ","
        AT("cudaLaunchKernel", 30, 5, 5) "," BLOCKS(10, 1025, 400, 5, 2112) "]}";
    is_double(gain_us(list, SL_CAUSE_EVENT), 425, 1,
              "where only the small one's end explains its start, it follows that one");
}

/* ---- collectives alone ---------------------------------------------------------------------- */

/* From 10 to 110 and from 1010 to 1110: nothing runs for 900 of 1100, and no kernel waits. */
static void test_collectives_alone(void)
{
    sl_timeline *tl = events("[" AT("cudaLaunchKernel", 0, 5, 1) ","
        "{" KERNEL "\"tid\":20,\"name\":\"ncclDevKernel_AllReduce_Sum_f32\",\"ts\":10,\"dur\":100,"
        "\"args\":{\"correlation\":1}}," AT("cudaLaunchKernel", 1000, 5, 2) ","
        "{" KERNEL "\"tid\":20,\"name\":\"ncclDevKernel_AllReduce_Sum_f32\",\"ts\":1010,\"dur\":100,"
        "\"args\":{\"correlation\":2}}]");
    const sl_explanation *e;
    sl_error err = { 0 };
    must(sl_timeline_causes(tl, &e, &err), &err);
    sl_verdict v = sl_explanation_judge(tl, e);
    ok(!v.good && v.unknown, "where only collectives run, and seldom, the schedule is not called good");
    is_int(v.lost_ns, 900000, "and the time in which nothing ran is told");
    sl_timeline_release(tl);
}

/* ---- loops of questions -------------------------------------------------------------- */

/* A kernel from 10 to 1010 and a record behind it, questions, and at 1020 another launch. */
#define LOOP(questions) "[" AT("cudaLaunchKernel", 0, 5, 1) "," \
    "{" K7 "\"ts\":10,\"dur\":1000,\"args\":{\"correlation\":1}}," AT("cudaEventRecord", 6, 1, 2) "," \
    questions "," AT("cudaLaunchKernel", 1020, 5, 9) "," \
    "{" K7 "\"ts\":1030,\"dur\":100,\"args\":{\"correlation\":9}}]"
#define FOUR(name, last) AT(name, 20, 3, 3) "," AT(name, 300, 3, 4) "," AT(name, 990, 3, 5) "," \
    AT(name, last, 3, 6)

/* The kinds of the calls from the record on: "record event", "plain" for what waits for nothing. */
static const char *kinds(const char *list)
{
    static const char *const names[SL_CALL_KINDS] = {
        [SL_CALL_EVENT_RECORD] = "record", [SL_CALL_EVENT_SYNC] = "event",
        [SL_CALL_STREAM_SYNC] = "stream", [SL_CALL_PLAIN] = "plain",
    };
    static char text[128];
    sl_timeline *tl = events(list);
    text[0] = '\0';
    for (size_t i = 0; i < call_count(tl) && i < 9; i++) {
        const char *name = names[call_at(tl, i)->kind];
        if (i > 0) strcat(text, " ");
        strcat(text, name ? name : "?");
    }
    sl_timeline_release(tl);
    return text;
}

static void test_loops(void)
{
    const char *loop = LOOP(FOUR("cudaEventQuery", 1012));
    is_str(kinds(loop), "record event", "a loop of cudaEventQuery is a wait for the event");
    sl_timeline *tl = events(loop);
    is_int(call_at(tl, 1)->target, 2, "which was recorded behind what ended before the last question");
    is_int(call_at(tl, 1)->host_start_ns, 20000, "from the first question");
    is_int(call_at(tl, 1)->host_end_ns, 1015000, "to the end of the last one");
    ok(strstr(sl_timeline_notice(tl), "A loop that asks until work is done"), "which is said");
    sl_timeline_release(tl);
    is_str(kinds(LOOP(FOUR("hipEventQuery", 1012))), "record event", "AMD's likewise");
    is_str(kinds(LOOP(FOUR("cudaStreamQuery", 1012))), "plain stream",
           "one of cudaStreamQuery is a wait for the stream");
    is_str(kinds(LOOP(FOUR("cudaEventQuery", 1004))), "plain plain plain plain plain",
           "one that ended before anything was done gave up");
    is_str(kinds(LOOP(AT("cudaEventQuery", 990, 3, 5) "," AT("cudaEventQuery", 1012, 3, 6))),
           "plain plain plain", "two questions are no loop");
    is_str(kinds(LOOP(AT("cudaEventQuery", 20, 3, 3) "," AT("cudaMalloc", 500, 2, 4) ","
                          AT("cudaEventQuery", 990, 3, 5) "," AT("cudaEventQuery", 1012, 3, 6))),
           "plain plain plain plain plain", "nor are those with other calls in between");
    is_str(kinds(LOOP(AT("cudaEventQuery", 20, 3, 3) "," AT("cudaGetDevice", 500, 2, 4) ","
                          AT("cudaEventQuery", 990, 3, 5) "," AT("cudaEventQuery", 1012, 3, 6))),
           "record event", "but those that only tell something are part of the loop");
}

/* A call of another thread, from 500 to 520: both threads work at once, so they stay two. */
#define ANOTHER(name, ts, id) "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"pid\":9,\"tid\":10," \
    "\"name\":\"" name "\",\"ts\":" #ts ",\"dur\":20,\"args\":{\"correlation\":" #id "}}"

static void test_loop_and_thread(void)
{
    is_str(kinds(LOOP(AT("cudaEventQuery", 20, 3, 3) "," ANOTHER("cudaMalloc", 500, 4) ","
                          AT("cudaEventQuery", 510, 3, 5) "," AT("cudaEventQuery", 990, 3, 7) ","
                          AT("cudaEventQuery", 1012, 3, 6))),
           "record event plain", "what another thread does meanwhile does not end a loop");
    is_str(kinds(LOOP(AT("cudaEventQuery", 20, 3, 3) "," ANOTHER("cudaLaunchKernel", 500, 4) ","
                          "{" KERNEL "\"tid\":8,\"ts\":530,\"dur\":9,\"args\":{\"correlation\":4}},"
                          AT("cudaEventQuery", 510, 3, 5) "," AT("cudaEventQuery", 990, 3, 7) ","
                          AT("cudaEventQuery", 1012, 3, 6))),
           "record event", "nor does what it launches");
}

/* Without the wait the launch comes a short pause after the record: its kernel follows the first one
 * at 1011 in place of 1030. */
static void test_loop_gain(void)
{
    is_double(gain_us(LOOP(FOUR("cudaEventQuery", 1012)), SL_CAUSE_HOST_BLOCKED), 19, 1.5,
              "ending it gains what a synchronisation would");
}

int main(void)
{
    plan(0);
    test_first_launch();
    test_last_launch();
    test_first_graph();
    test_copy_calls();
    test_item();
    test_wait_before_recording();
    test_dependent_launch();
    test_replayed_overlap();
    test_nested();
    test_full_beside_small();
    test_full_beside_memset();
    test_full_follows_small();
    test_collectives_alone();
    test_loops();
    test_loop_and_thread();
    test_loop_gain();
    return done_testing();
}
