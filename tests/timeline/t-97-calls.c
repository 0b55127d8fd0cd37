/* t-97-calls.c - traces of other programs in which the host is held up in a call: which
 * operations depend on the call's end, and what ending the call would gain. */
#include "foreign.h"

/* The traces below have an event a line. */
/* clang-format off */

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

int main(void)
{
    plan(0);
    test_first_launch();
    test_last_launch();
    test_first_graph();
    return done_testing();
}
