/* t-95-graph-causes.c - why work of graphs waited: the launch's call, the first launch, the launch
 * before of the same graph, the edges, and priorities that a graph has not kept. Times are in us.
 */
#include "causes.h"

enum { ROW = 1 << 30 }; /* of what a graph captured in another stream */

typedef struct launch {
    uint64_t call;
    uint32_t graph, n;
    bool priorities, uploads;
} launch;

/* Called from host_us[0] to [1]; what it runs is added behind it. */
static launch begin(sl_timeline *tl, uint32_t graph, uint32_t stream, const int64_t host_us[2])
{
    sl_call call = { .kind = SL_CALL_PLAIN, .stream = stream };
    call.name = text_id(tl, "cudaGraphLaunch");
    call.where = text_id(tl, "g.lua:9");
    return (launch){ .call = add_call(tl, call, host_us), .graph = graph };
}

static uint64_t node(sl_timeline *tl, launch *l, uint64_t correlation, int32_t priority)
{
    sl_error err;
    sl_node_note note = { correlation, l->call, l->graph, l->n++, priority };
    must(sl_timeline_add_node(tl, &note, &err), &err);
    return correlation;
}

static void end(sl_timeline *tl, const launch *l)
{
    sl_error err;
    sl_launch_note note = { .correlation = l->call,
                            .last = issued,
                            .graph = l->graph,
                            .name = text_id(tl, "step"),
                            .n_nodes = l->n,
                            .priorities = l->priorities,
                            .uploads = l->uploads };
    must(sl_timeline_add_launch(tl, &note, &err), &err);
}

/* A launch of two kernels in a row, each of 10. */
static uint64_t chain(sl_timeline *tl, launch l, uint32_t stream, const int64_t host_us[2],
                      int64_t start_us)
{
    uint64_t a = run_blocks(tl, stream, 4, "a", host_us, AT(start_us, start_us + 10));
    uint64_t b = run_blocks(tl, stream, 4, "b", host_us, AT(start_us + 11, start_us + 21));
    node(tl, &l, a, 0);
    node(tl, &l, b, 0);
    end(tl, &l);
    return a;
}

static sl_finding first(const sl_timeline *tl)
{
    sl_explanation e = explain(tl);
    return e.n_findings > 0 ? e.findings[0] : (sl_finding){ 0 };
}

/* ---- the host ----------------------------------------------------------------------------- */

/* A first launch whose kernels of 2 start while it goes on: 4 apart, until the upload has ended, then 1.
 *   host       [0..................84]
 *   stream 1     |10..12| |16..18| ... |76..78| |82..84| |85..87| ... |112..114|
 * Thirteen nodes come by the upload, which loses 4 before each but the first; the next one waits for the
 * call's end. Without the upload all follow 1 behind one another. */
static void test_uploading(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    launch l = begin(tl, 1, 1, AT(0, 84));
    l.uploads = true;
    for (int64_t i = 0; i < 23; i++) {
        int64_t at = i < 13 ? 10 + 6 * i : 85 + 3 * (i - 13);
        node(tl, &l, run_blocks(tl, 1, 132, "a", AT(0, 0), AT(at, at + 2)), 0);
    }
    end(tl, &l);
    finish(tl);
    sl_explanation e = explain(tl);
    is_int(e.findings[0].cause, SL_CAUSE_HOST_BLOCKED,
           "a first launch is what its nodes wait for while it "
           "goes on");
    is_int(e.findings[0].lost_ns, 12 * 4000 + 1000, "twelve times 4, and 1 behind its end");
    ok(e.findings[0].gain_ns > 30000 && e.findings[0].gain_ns <= 36000, "and it gains 3 each");
    is_int((long long)e.findings[0].count, 1, "of one call");
    sl_timeline_release(tl);
}

/* The second call takes from 10 to 60. Its kernels start 3 behind it. */
static void test_launching(bool uploads, sl_cause cause, const char *what)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    launch warm = begin(tl, 1, 1, AT(0, 2));
    chain(tl, warm, 1, AT(0, 2), 5);
    launch slow = begin(tl, 2, 1, AT(10, 60));
    slow.uploads = uploads;
    uint64_t a = chain(tl, slow, 1, AT(10, 60), 63);
    finish(tl);
    sl_finding f = first(tl);
    is_int(f.cause, cause, "%s", what);
    is_int((long long)f.by, (long long)slow.call, "of the launch, and not of a node");
    is_int((long long)f.waiter, (long long)a, "its first node waited");
    sl_cause_record r;
    sl_cause_read(tl, &f, &r);
    ok(r.by.launch && r.by.launch->n_nodes == 2 && r.by.launch->uploads == uploads,
       "the call's record has the launch");
    is_str(r.waiter.graph_name, "step", "and the node's the name of its graph");
    sl_timeline_release(tl);
}

/* A hundred launches of a graph with one kernel of 1, each call takes 4 and a pause of 1. */
static void test_launch_bound(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    for (int64_t i = 0; i < 100; i++) {
        launch l = begin(tl, 1, 1, AT(5 * i, 5 * i + 4));
        node(tl, &l, run_blocks(tl, 1, 4, "k", AT(5 * i, 5 * i + 4), AT(5 * i + 7, 5 * i + 8)), 0);
        end(tl, &l);
    }
    finish(tl);
    sl_explanation e = explain(tl);
    is_str(tell_findings(e.findings, e.n_findings),
           "host_issuing compute idle 396 x99 #4<-#3 gains 297",
           "where the GPU waits for launches the host issues them");
    sl_timeline_release(tl);
}

/* ---- one graph in two streams ------------------------------------------------------------- */

/* The second launch, of the same graph in stream 2, starts when the first has ended, at 26. */
static void test_turns(bool reported, uint32_t second)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    reports_holds = reported;
    uint64_t a = chain(tl, begin(tl, 1, 1, AT(0, 2)), 1, AT(0, 2), 5);
    launch l = begin(tl, second, 2, AT(2, 4));
    uint64_t b = chain(tl, l, 2, AT(2, 4), 27);
    hold(tl, a, 5, SL_CAUSE_LATENCY, 0);
    hold(tl, b, 26, SL_CAUSE_EVENT, reported ? a + 1 : 0);
    finish(tl);
    sl_explanation e = explain(tl);
    const sl_finding *found = NULL;
    for (size_t i = 0; i < e.n_findings; i++)
        if (e.findings[i].cause == SL_CAUSE_GRAPH) found = &e.findings[i];
    if (second == 1) {
        ok(found && found->waiter == b && found->by == a + 1,
           "a launch waits for the one before of its graph, %s",
           reported ? "as the backend reports" : "as is inferred");
        is_int(found ? found->gain_ns : 0, 19000,
               "side by side the second starts 4 behind its call, and ends at 29");
    } else {
        ok(!found, "two graphs do not wait for one another");
    }
    reports_holds = false;
    sl_timeline_release(tl);
}

static void test_turns_in_one_stream(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    chain(tl, begin(tl, 1, 1, AT(0, 2)), 1, AT(0, 2), 5);
    chain(tl, begin(tl, 1, 1, AT(2, 4)), 1, AT(2, 4), 27);
    finish(tl);
    sl_explanation e = explain(tl);
    bool found = false;
    for (size_t i = 0; i < e.n_findings; i++)
        found = found || e.findings[i].cause == SL_CAUSE_GRAPH;
    ok(!found, "in one stream the stream orders them");
    sl_timeline_release(tl);
}

/* A copy of 10 and a kernel of 10, called from host_us[0] on. */
static uint64_t up_and_run(sl_timeline *tl, const int64_t host_us[2], int64_t start_us)
{
    launch l = begin(tl, 1, 1, host_us);
    uint64_t copy = run(tl, SL_SPAN_MEMCPY_H2D, 1, "up", host_us, AT(start_us, start_us + 10));
    uint64_t k = run_blocks(tl, 1, 4, "k", host_us, AT(start_us + 11, start_us + 21));
    node(tl, &l, copy, 0);
    node(tl, &l, k, 0);
    end(tl, &l);
    return copy;
}

/* The second copy could begin behind the first, at 15; its kernel would end at 36 in place of 48. */
static void test_launches_in_one_stream(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    uint64_t first_copy = up_and_run(tl, AT(0, 2), 5), copy = up_and_run(tl, AT(2, 4), 27);
    finish(tl);
    sl_explanation e = explain(tl);
    const sl_finding *f = NULL;
    for (size_t i = 0; i < e.n_findings; i++)
        if (e.findings[i].waiter == copy && e.findings[i].cause == SL_CAUSE_STREAM_ORDER)
            f = &e.findings[i];
    ok(f && f->cause == SL_CAUSE_STREAM_ORDER && f->by == first_copy + 1,
       "a launch waits for all of the launch before it in its stream");
    is_int(f ? f->gain_ns : 0, 12000, "in two streams they would overlap");
    sl_timeline_release(tl);
}

/* ---- edges --------------------------------------------------------------------------------- */

/* a in stream 1, of 10; an edge to b of 10 in another row. */
static void test_edges(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    launch l = begin(tl, 1, 1, AT(0, 2));
    uint64_t copy = run(tl, SL_SPAN_MEMCPY_H2D, 1, "up", AT(0, 2), AT(5, 15));
    uint64_t event = record(tl, 1, AT(0, 2), 15);
    wait_event(tl, ROW, event, AT(0, 2), 15);
    uint64_t b = run_blocks(tl, ROW, 4, "b", AT(0, 2), AT(16, 26));
    node(tl, &l, copy, 0);
    node(tl, &l, b, 0);
    end(tl, &l);
    finish(tl);
    sl_finding f = first(tl);
    ok(f.cause == SL_CAUSE_EVENT && f.waiter == b && f.by == copy, "an edge is an event: %s",
       sl_cause_name(f.cause));
    sl_cause_record r;
    sl_cause_read(tl, &f, &r);
    ok(r.waiter.is_node && r.by.is_node && r.waiter.node.launch == r.by.node.launch
           && r.waiter.node.node == 1,
       "both sides are nodes of the launch");
    sl_timeline_release(tl);
}

/* ---- priorities ---------------------------------------------------------------------------- */

/* As on an H200: the upload comes first, and the nodes start some time before the call ends. A kernel
 * runs until 5; the call takes from 1 to 120, its nodes from 70 on. Uploaded before, they start 8 after
 * the call's beginning at the latest: 61 sooner. */
static void test_upload_before_nodes(void)
{
    sl_timeline *tl = make();
    on_gpu(tl);
    run_blocks(tl, 1, 132, "before", AT(0, 1), AT(2, 5));
    launch l = begin(tl, 1, 1, AT(1, 120));
    l.uploads = true;
    for (int64_t i = 0; i < 10; i++)
        node(tl, &l, run_blocks(tl, 1, 132, "a", AT(0, 0), AT(70 + 3 * i, 72 + 3 * i)), 0);
    end(tl, &l);
    finish(tl);
    sl_explanation e = explain(tl);
    is_int(e.findings[0].cause, SL_CAUSE_HOST_BLOCKED, "nodes behind an upload waited for it");
    ok(e.findings[0].gain_ns >= 60000 && e.findings[0].gain_ns <= 65000,
       "and start when the launch is submitted without it: %lld", (long long)e.findings[0].gain_ns);
    sl_timeline_release(tl);
}

/* A kernel that fills the GPU until 1000. A node that was captured with priority -5 waits. */
static sl_cause_record urgent_node(bool priorities)
{
    sl_timeline *tl = make();
    sl_cause_record r;
    on_gpu(tl);
    run_blocks(tl, 1, 4096, "long", AT(0, 2), AT(5, 1000));
    launch l = begin(tl, 1, 2, AT(2, 4));
    l.priorities = priorities;
    node(tl, &l, run_blocks(tl, 2, 4096, "urgent", AT(2, 4), AT(1001, 1100)), -5);
    end(tl, &l);
    finish(tl);
    sl_finding f = first(tl);
    sl_cause_read(tl, &f, &r);
    is_int(f.cause, SL_CAUSE_ROOM, "a node waits for room");
    is_int(r.waiter.priority, priorities ? -5 : 0, "its priority is the %s's",
           priorities ? "captured stream" : "launching stream");
    is_int(r.waiter.is_node ? r.waiter.node.priority : 0, -5, "its note has the captured one");
    sl_timeline_release(tl);
    return r;
}

int main(void)
{
    plan(33);
    test_uploading();
    test_upload_before_nodes();
    test_launching(true, SL_CAUSE_HOST_BLOCKED, "a first launch holds the host");
    test_launching(false, SL_CAUSE_HOST_ISSUING, "a later one issues");
    test_launch_bound();
    test_turns(true, 1);
    test_turns(false, 1);
    test_turns(false, 2);
    test_turns_in_one_stream();
    test_launches_in_one_stream();
    test_edges();
    urgent_node(false);
    urgent_node(true);
    return done_testing();
}
