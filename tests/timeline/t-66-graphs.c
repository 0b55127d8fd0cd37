/* t-66-graphs.c - launches of graphs in traces: PyTorch's as worked out by hand, ours come back as
 * they were. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "files.h"
#include "foreign.h"
#include "../../core/timeline/operations.h"

static const sl_node_note *node_at(const sl_timeline *tl, size_t i)
{
    static const sl_node_note none = { .graph = 999 };
    const sl_node_note *note = sl_timeline_find_node(tl, span_at(tl, i)->correlation);
    return note ? note : &none;
}

static sl_timeline *branches(void)
{
    sl_error err;
    sl_timeline *tl = NULL;
    must(sl_timeline_load_kineto("tests/timeline/data/graph_branches.json", SL_BUSIEST_DEVICE, &tl,
                                 &err),
         &err);
    return tl;
}

/* ---- reading ------------------------------------------------------------------------ */

/* data/graph_branches.json: a kernel, two launches of a graph, a kernel; times count from 999.5 us.
 * In the graph `left` and `right_first`, `right_second` run side by side. */
static void test_nodes(void)
{
    static const struct {
        const char *name;
        uint64_t correlation, launch;
        uint32_t node, row;
        int64_t start_ns;
    } want[] = {
        { "split", 3, 2, 0, 0, 31500 },          { "left", 4, 2, 1, 0, 42500 },
        { "right_first", 5, 2, 2, 1, 43000 },    { "right_second", 6, 2, 3, 1, 54000 },
        { "join", 7, 2, 4, 1, 81500 },           { "split", 9, 8, 0, 0, 93500 },
        { "left", 10, 8, 1, 0, 104500 },         { "right_first", 11, 8, 2, 1, 105000 },
        { "right_second", 12, 8, 3, 1, 116000 }, { "join", 13, 8, 4, 1, 143500 },
    };
    sl_timeline *tl = branches();
    size_t n, right = 0, issued_by = 0;
    sl_timeline_nodes(tl, &n);
    is_int(n, 10, "what launches of graphs ran is noted");
    for (size_t i = 0; i < 10; i++) {
        const sl_span *s = span_at(tl, i + 1);
        const sl_node_note *note = node_at(tl, i + 1);
        const sl_call *launch = sl_timeline_find_call(tl, note->launch);
        right += strcmp(sl_timeline_text(tl, s->name), want[i].name) == 0
                 && s->correlation == want[i].correlation && note->launch == want[i].launch
                 && note->graph == 3 && note->node == want[i].node && s->stream == want[i].row
                 && s->start_ns == want[i].start_ns;
        issued_by += launch && launch->host_start_ns == s->host_start_ns
                     && launch->host_end_ns == s->host_end_ns;
    }
    is_int(right, 10, "each with its graph, its node, its launch, and a number of its own");
    is_int(issued_by, 10, "the launch enqueued all of them");
    ok(call_count(tl) == 3 && call_at(tl, 1)->host_start_ns == 22500
           && strcmp(sl_call_name(tl, call_at(tl, 1)), "cudaGraphLaunch") == 0,
       "launches are calls");
    const sl_launch_note *launch = sl_timeline_find_launch(tl, 10);
    ok(launch && launch->correlation == 8 && launch->last == 13 && launch->n_nodes == 5
           && launch->graph == 3 && strcmp(sl_timeline_text(tl, launch->name), "graph 3") == 0,
       "which are noted with what they ran");
    ok(node_at(tl, 0)->graph == 999 && node_at(tl, 11)->graph == 999,
       "other kernels are no nodes, also where the file says that their graph is 0");
    sl_timeline_release(tl);
}

static void test_rows(void)
{
    sl_error err;
    sl_timeline *tl = branches();
    const sl_stream_note *first, *second;
    is_str(stream_name(tl, 0, &first), "stream 7", "what ran one after the other stays in its row");
    is_str(stream_name(tl, 1, &second), "stream 7 (2)", "what ran beside it has one of its own");
    ok(first && !first->is_row && second && second->is_row && second->row_of == 0
           && second->number == 7 && second->non_blocking,
       "which is no stream");
    size_t n = 0;
    must(sl_timeline_stream_count(tl, &n, &err), &err);
    is_int(n, 1, "and does not count as one");
    ok(sl_timeline_origin(tl).unknown_edges, "the edges between the rows are not known");
    sl_timeline_release(tl);
}

static const char *name_of(const sl__operations *ops, size_t item)
{
    const sl_span *span = sl__item_span(ops, item);
    return span ? sl_timeline_text(ops->timeline, span->name) : "nothing";
}

/* Item 0 is `fill`, 1 and 7 are launches, 13 is `sum`, 14 the synchronisation. */
static void test_order(void)
{
    sl_error err;
    sl__operations ops;
    sl_timeline *tl = branches();
    must(sl__operations_collect(tl, true, &ops, &err), &err);
    is_str(name_of(&ops, ops.items[2].before), "fill", "a graph follows what its stream held");
    is_str(name_of(&ops, ops.items[3].before), "split", "nodes of a row follow one another");
    is_str(name_of(&ops, ops.items[4].ready_by), "split",
           "a branch begins behind the node that ended last before it");
    is_int(ops.items[4].ready_cause, SL_CAUSE_EVENT, "which is an edge, no order of a stream");
    is_str(name_of(&ops, ops.items[6].ready_by), "right_second", "so does what joins the branches");
    is_str(name_of(&ops, ops.items[8].before), "join", "the next launch follows all of this one");
    is_str(name_of(&ops, ops.items[13].before), "join", "so does what the stream has behind it");
    int beside = 0;
    for (size_t i = 0; i < ops.n; i++)
        beside += ops.items[i].before != SL__NO_ITEM && ops.items[i].in_stream
                  && ops.items[ops.items[i].before].end_ns > ops.items[i].start_ns;
    is_int(beside, 0, "nothing follows what ran at the same time");
    sl__operations_free(&ops);
    sl_timeline_release(tl);
}

/* The traces of these have an event a line. */
/* clang-format off */
#define NODE(ts, dur, args) \
    "{" K7 "\"name\":\"k\",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"correlation\":5" args "}}"

static void test_older(void)
{
    sl_timeline *tl = events(
        "[" AT("cudaGraphLaunch", 1, 2, 5) "," NODE(30, 10, "") "," NODE(10, 10, "") ","
        NODE(19, 11, "") "," NODE(20, 20, "") "]");
    ok(node_at(tl, 0)->graph == 0 && node_at(tl, 0)->node == 0 && node_at(tl, 1)->node == 1 &&
       node_at(tl, 2)->node == 2 && node_at(tl, 3)->node == 3,
       "without numbers in the file nodes are counted in order of start");
    is_int(span_at(tl, 1)->stream, 0, "times in whole microseconds may overlap by one");
    is_int(span_at(tl, 2)->stream, 1, "more is an overlap");
    is_int(span_at(tl, 3)->stream, 0, "a row is used again");
    sl_timeline_release(tl);
    tl = events("[" AT("cudaGraphLaunch", 1, 2, 5) "," NODE(10.0, 5.5, "") "," NODE(15.0, 5, "") "]");
    is_int(span_at(tl, 1)->stream, 1, "times in nanoseconds may not");
    sl_timeline_release(tl);
}

/* 4 * 2^32 + 9 */
static void test_numbers(void)
{
    sl_timeline *tl = events(
        "[" AT("cudaGraphLaunch", 1, 2, 5) ","
        NODE(10, 1, ",\"graph id\":4,\"graph node id\":17179869193") ","
        NODE(20, 1, ",\"graph id\":4,\"graph node id\":9") ","
        NODE(30, 1, ",\"graph node id\":17179869193") ","
        NODE(40, 1, ",\"graph id\":\"4\",\"graph node id\":[9]") ","
        NODE(50, 1, ",\"graph id\":-1,\"graph node id\":-9223372036854775808") "]");
    int same = 0;
    for (size_t i = 0; i < 3; i++)
        same += node_at(tl, i)->graph == 4 && node_at(tl, i)->node == 9;
    is_int(same, 3, "a node's number has its graph in the upper half, or not");
    ok(node_at(tl, 3)->graph == 0 && node_at(tl, 3)->node == 0, "what is no number is not given");
    is_int(node_at(tl, 4)->graph, UINT32_MAX, "numbers that cannot be are kept within 32 bits");
    sl_timeline_release(tl);
}

static void test_without_launch(void)
{
    sl_timeline *tl = events(
        "[" NODE(10, 10, ",\"graph id\":4,\"graph node id\":1") ","
        NODE(12, 10, ",\"graph id\":4,\"graph node id\":2") "]");
    ok(node_at(tl, 0)->launch == 0 && node_at(tl, 0)->graph == 4 && node_at(tl, 1)->node == 2,
       "nodes whose launch is not in the file say so");
    ok(span_at(tl, 0)->stream == 0 && span_at(tl, 1)->stream == 1, "and have rows");
    sl_timeline_release(tl);
    tl = events("[" AT("cudaGraphLaunch", 1, 2, 6) "," NODE(10, 10, "") "]");
    ok(call_count(tl) == 1 && node_at(tl, 0)->graph == 999, "a launch may have run nothing here");
    sl_timeline_release(tl);
    tl = events("[" AT("hipGraphLaunch", 1, 2, 5) "," NODE(10, 10, "") "]");
    is_int(node_at(tl, 0)->launch, 1, "AMD's launches are launches");
    sl_timeline_release(tl);
}

/* More at a time than a GPU runs: they share the last rows. */
static void test_many_rows(void)
{
    enum { N = 1000 };
    char *text = malloc(200 * N), *at = text;
    if (!text) return;
    at += sprintf(at, "[" AT("cudaGraphLaunch", 1, 2, 5));
    for (int i = 0; i < N; i++)
        at += sprintf(at, ",{" K7 "\"ts\":%d,\"dur\":5000,\"args\":{\"correlation\":5}}", 10 + i);
    sprintf(at, "]");
    sl_timeline *tl = events(text);
    uint32_t last = 0;
    for (size_t i = 0; i < N; i++)
        if (span_at(tl, i)->stream > last) last = span_at(tl, i)->stream;
    is_int(last, 127, "rows are bounded");
    sl_timeline_release(tl);
    free(text);
}
/* clang-format on */

int main(void)
{
    make_directory();
    plan(0);
    test_nodes();
    test_rows();
    test_order();
    test_older();
    test_numbers();
    test_without_launch();
    test_many_rows();
    rmdir(directory);
    return done_testing();
}
