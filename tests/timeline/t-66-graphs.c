/* t-66-graphs.c - launches of graphs in traces: PyTorch's as worked out by hand, ours come back as
 * they were. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "files.h"
#include "foreign.h"
#include "trace_rules.h"
#include "../../core/timeline/operations.h"

static const sl_node_note *node_at(const sl_timeline *tl, size_t i)
{
    static sl_node_note note;
    if (!sl_timeline_find_node(tl, span_at(tl, i)->correlation, &note))
        note = (sl_node_note){ .graph = 999 };
    return &note;
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
    size_t right = 0, issued_by = 0;
    is_int(sl_timeline_node_count(tl), 10, "what launches of graphs ran is noted");
    for (size_t i = 0; i < 10; i++) {
        const sl_span *s = span_at(tl, i + 1);
        const sl_node_note *note = node_at(tl, i + 1);
        const sl_call *launch = call_of(tl, note->launch);
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

/* What is shown: numbers of the file as they are, counted ones and ours from 1. */
static void test_shown_numbers(void)
{
    sl_timeline *tl = branches();
    is_int(sl_timeline_node_number(tl, node_at(tl, 1)), 0, "numbers of the file are shown");
    sl_timeline_release(tl);
    tl = events("[" AT("cudaGraphLaunch", 1, 2,
                       5) ",{" K7 "\"ts\":10,\"dur\":1,\"args\":{\"correlation\":5}}]");
    is_int(sl_timeline_node_number(tl, node_at(tl, 0)), 1, "nodes are counted from 1");
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

/* The first launch of a graph may go on while its first nodes run. */
static void test_long_launch(void)
{
    sl_error err;
    sl__operations ops;
    sl_timeline *tl = events(
        "[" AT("cudaGraphLaunch", 1, 400,
               5) ",{" K7 "\"ts\":300,\"dur\":1,\"args\":{\"correlation\":5}},{" K7
                  "\"name\":\"k\",\"ts\":330,\"dur\":90,\"args\":{\"correlation\":5}}]");
    must(sl__operations_collect(tl, true, &ops, &err), &err);
    is_int(ops.items[2].start_cause, SL_CAUSE_HOST_BLOCKED, "a node can wait for its launch");
    is_int(ops.items[2].start_by, 0, "which is named");
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
        NODE(40, 1, ",\"graph id\":\"four\",\"graph node id\":[9]") ","
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

/* ---- ours ------------------------------------------------------------------------- */

enum { LAUNCH = 2, LAUNCH_START = 1000, LAUNCH_END = 4000 };

static void add_node(sl_timeline *tl, sl_span span, uint32_t node, int32_t priority)
{
    sl_error err;
    span.correlation = ++issued;
    span.host_start_ns = LAUNCH_START;
    span.host_end_ns = LAUNCH_END;
    must(sl_timeline_add_span(tl, &span, &err), &err);
    sl_node_note note = { issued, LAUNCH, 7, node, priority };
    must(sl_timeline_add_node(tl, &note, &err), &err);
}

static void add_edge(sl_timeline *tl, sl_call call)
{
    sl_error err;
    call.correlation = ++issued;
    call.host_start_ns = LAUNCH_START;
    call.host_end_ns = LAUNCH_END;
    must(sl_timeline_add_call(tl, &call, &err), &err);
}

static void add_launch(sl_timeline *tl)
{
    sl_error err;
    sl_call call = {
        .host_start_ns = LAUNCH_START,
        .host_end_ns = LAUNCH_END,
        .correlation = ++issued,
        .stream = 3,
        .kind = SL_CALL_PLAIN,
        .name = text_id(tl, "cudaGraphLaunch"),
        .where = text_id(tl, "g.lua:9"),
    };
    sl_launch_note note = {
        .correlation = LAUNCH,
        .last = 8,
        .graph = 7,
        .name = text_id(tl, "step \"one\""),
        .n_nodes = 4,
        .uploads = true,
    };
    must(sl_timeline_add_call(tl, &call, &err), &err);
    must(sl_timeline_add_launch(tl, &note, &err), &err);
}

static void add_last_nodes(sl_timeline *tl, uint32_t other)
{
    add_node(tl,
             (sl_span){ .start_ns = 10000,
                        .end_ns = 12000,
                        .stream = other,
                        .kind = SL_SPAN_HOST_FUNC,
                        .engine = SL_ENGINE_HOST,
                        .name = text_id(tl, "host_func"),
                        .where = text_id(tl, "g.lua:6") },
             1, -5);
    add_node(tl,
             (sl_span){ .start_ns = 13000,
                        .end_ns = 14000,
                        .stream = other,
                        .bytes = 64,
                        .kind = SL_SPAN_MEMCPY_D2H,
                        .engine = SL_ENGINE_D2H,
                        .flags = SL_SPAN_DST_PAGEABLE | SL_SPAN_HOST_WAITED,
                        .name = text_id(tl, "Memcpy DtoH (Device -> Pageable)") },
             2, -5);
    add_node(tl,
             (sl_span){ .start_ns = 13500,
                        .end_ns = 13600,
                        .stream = 3,
                        .bytes = 8,
                        .kind = SL_SPAN_MEMSET,
                        .flags = SL_SPAN_QUEUE_FULL,
                        .name = text_id(tl, "Memset (Device)") },
             3, 0);
}

/* Issued: 1 a kernel, 2 the launch, 3 a node in its stream, 4 a record behind it, 5 a wait for that
 * in the row of the other stream, 6 a host function there, 7 a copy, 8 a memset, 9 a kernel. */
static sl_timeline *launched(void)
{
    sl_error err;
    const uint32_t other = UINT32_C(1) << 30 | 5;
    sl_timeline *tl = make();
    sl_device_info info = { .name = "NVIDIA H200", .backend = "sim", .simulated = true };
    sl_timeline_set_device(tl, &info);
    note(tl, 3, "s", true);
    note(tl, other, "s2 (graph)", true);
    kernel(tl, 3, 100, 900);
    add_launch(tl);
    add_node(tl,
             (sl_span){ .start_ns = 5000,
                        .end_ns = 9000,
                        .stream = 3,
                        .blocks = 4,
                        .threads = 32,
                        .name = text_id(tl, "k"),
                        .where = text_id(tl, "g.lua:3") },
             0, 0);
    add_edge(tl, (sl_call){ .kind = SL_CALL_EVENT_RECORD,
                            .stream = 3,
                            .device_ns = 9000,
                            .where = text_id(tl, "g.lua:4") });
    add_edge(tl, (sl_call){ .kind = SL_CALL_STREAM_WAIT,
                            .stream = other,
                            .target = 4,
                            .target_stream = 3,
                            .where = text_id(tl, "g.lua:5") });
    add_last_nodes(tl, other);
    kernel(tl, 3, 15000, 16000);
    sl_hold hold = { .correlation = 6,
                     .ready_ns = 9000,
                     .ready_by = 5,
                     .ready_cause = SL_CAUSE_EVENT,
                     .start_cause = SL_CAUSE_LATENCY };
    must(sl_timeline_add_hold(tl, &hold, &err), &err);
    sl_timeline_finish(tl, 0, 20000);
    return tl;
}

static bool same_node(const sl_node_note *a, const sl_node_note *b)
{
    return a->correlation == b->correlation && a->launch == b->launch && a->graph == b->graph
           && a->node == b->node && a->priority == b->priority;
}

static int count_same(const sl_timeline *a, const sl_timeline *b)
{
    int same = 0;
    for (size_t i = 0; i < span_count(a); i++) {
        sl_span s = *span_at(b, i);
        bool texts = strcmp(sl_timeline_text(a, span_at(a, i)->where), sl_timeline_text(b, s.where))
                     == 0;
        s.name = span_at(a, i)->name;
        s.where = span_at(a, i)->where;
        same += texts && memcmp(&s, span_at(a, i), sizeof s) == 0;
    }
    for (size_t i = 0; i < call_count(a); i++) {
        const sl_call *x = call_at(a, i), *y = call_at(b, i);
        same += x->kind == y->kind && x->correlation == y->correlation && x->stream == y->stream
                && x->target == y->target && x->target_stream == y->target_stream
                && x->device_ns == y->device_ns && x->host_start_ns == y->host_start_ns
                && x->host_end_ns == y->host_end_ns
                && strcmp(sl_timeline_text(a, x->where), sl_timeline_text(b, y->where)) == 0;
    }
    return same;
}

static void check_notes(const sl_timeline *tl, const sl_timeline *back)
{
    size_t n, same = 0;
    sl_node_note node, again;
    for (size_t i = 0; i < span_count(tl); i++)
        same += sl_timeline_find_node(tl, span_at(tl, i)->correlation, &node)
                && sl_timeline_find_node(back, node.correlation, &again)
                && same_node(&node, &again);
    is_int(same, 4, "each node is the same node again");
    const sl_launch_note *launch = sl_timeline_find_launch(back, 8);
    ok(launch && launch->correlation == LAUNCH && launch->last == 8 && launch->graph == 7
           && launch->n_nodes == 4 && launch->uploads && !launch->priorities
           && strcmp(sl_timeline_text(back, launch->name), "step \"one\"") == 0,
       "and the launch the same launch");
    const sl_hold *holds = holds_of(back, &n);
    ok(n == 1 && holds->correlation == 6 && holds->ready_by == 5, "what held a node is as it was");
}

static void test_round_trip(void)
{
    sl_error err;
    sl_timeline *tl = launched(), *back = NULL;
    must(sl_timeline_save_kineto(tl, in_directory("a.json"), &err), &err);
    must(sl_timeline_load_kineto(in_directory("a.json"), SL_BUSIEST_DEVICE, &back, &err), &err);
    ok(span_count(back) == 6 && call_count(back) == 3, "nothing is added and nothing is lost");
    is_int(count_same(tl, back), 9,
           "operations, captured records and waits come back as they were");
    check_notes(tl, back);
    must(sl_timeline_save_kineto(back, in_directory("b.json"), &err), &err);
    char *a = contents(in_directory("a.json")), *b = contents(in_directory("b.json"));
    is_str(b, a, "saved again it is the same bytes");
    ok(is_json(a), "which are JSON");
    findings found = check_events(a);
    is_int(found.overlaps + found.unnamed + found.loose_flows + found.other, 0,
           "that keeps the rules of traces");
    free(a);
    free(b);
    sl_timeline_release(tl);
    sl_timeline_release(back);
}

/* 7 * 2^32 = 30064771072 */
static void test_written(void)
{
    sl_error err;
    sl_timeline *tl = launched();
    must(sl_timeline_save_kineto(tl, in_directory("a.json"), &err), &err);
    char *text = contents(in_directory("a.json"));
    is_int(count(text, "\"cat\":\"cuda_runtime\""), 3, "the launch is the only call for its nodes");
    is_int(count(text, "\"correlation\":2,"), 4, "which have its correlation");
    is_int(count(text, "{\"ph\":\"s\",\"id\":2,"), 1, "an arrow starts at it");
    is_int(count(text, "{\"ph\":\"f\",\"bp\":\"e\",\"id\":2,"), 4, "and ends at each of them");
    ok(strstr(text, "\"graph id\":7,\"graph node id\":30064771072,\"issue\":3,") != NULL
           && strstr(text, "\"graph id\":7,\"graph node id\":30064771075,") != NULL,
       "graph and node have kineto's keys");
    is_int(count(text, "\"ph\":\"i\""), 2, "captured records and waits are instants");
    ok(!strstr(text, "\"Stream Wait Event\""), "they are no synchronisations");
    free(text);
    sl_timeline_release(tl);
}

/* Without times of its nodes a launch is one span under the graph's name, whose number follows the
 * call's. */
static void test_as_one(void)
{
    sl_error err;
    sl_timeline *tl = make(), *back = NULL;
    kernel(tl, 3, 100, 900);
    add_launch(tl);
    must(sl_timeline_add_span(tl,
                              &(sl_span){ .correlation = 3,
                                          .start_ns = 5000,
                                          .end_ns = 9000,
                                          .host_start_ns = LAUNCH_START,
                                          .host_end_ns = LAUNCH_END,
                                          .stream = 3,
                                          .name = text_id(tl, "step") },
                              &err),
         &err);
    finish(tl);
    size_t call = sl_timeline_span_launch(tl, span_at(tl, 1));
    ok(call != SL_NOT_FOUND && sl_timeline_call(tl, call).correlation == 2,
       "a launch that has times as a whole has no other call than cudaGraphLaunch");
    ok(sl_timeline_span_launch(tl, span_at(tl, 0)) == SL_NOT_FOUND, "a kernel before it has");
    must(sl_timeline_save_kineto(tl, in_directory("a.json"), &err), &err);
    char *text = contents(in_directory("a.json"));
    is_int(count(text, "\"cat\":\"cuda_runtime\""), 2, "its trace has no other either");
    free(text);
    must(sl_timeline_load_kineto(in_directory("a.json"), SL_BUSIEST_DEVICE, &back, &err), &err);
    is_int(call_count(back), 1, "nor has it when it is read");
    ok(sl_timeline_span_count(back) == 2
           && span_at(back, 1)->end_ns - span_at(back, 1)->start_ns == 4000,
       "the whole is there");
    sl_timeline_release(back);
    sl_timeline_release(tl);
}

int main(void)
{
    make_directory();
    plan(0);
    test_nodes();
    test_rows();
    test_shown_numbers();
    test_order();
    test_long_launch();
    test_older();
    test_numbers();
    test_without_launch();
    test_many_rows();
    test_round_trip();
    test_written();
    test_as_one();
    unlink(in_directory("a.json"));
    unlink(in_directory("b.json"));
    rmdir(directory);
    return done_testing();
}
