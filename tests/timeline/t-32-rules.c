/* t-32-rules.c - one set of rules for all that ask: small programs, worked out by hand, of which the
 * bound, the inference, the exporters and the player must say the same.
 *
 * Each program ends with an operation of its own stream; what it comes behind is asked. Durations, in
 * us, are 100 for what comes first and 50 for the last, unless a comment says otherwise.
 */
#include "make.h"

#include "../../core/timeline/operations.h"
#include "../../core/whatif/without.h"

enum { ROW = 1 << 30, US = 1000 };

static uint64_t run(sl_timeline *tl, uint32_t stream, int64_t start_us, int64_t end_us)
{
    return kernel(tl, stream, start_us * US, end_us * US);
}

/* ---- programs -------------------------------------------------------------------------- */

static void launch(sl_timeline *tl, uint64_t from, uint32_t graph)
{
    sl_error err;
    sl_launch_note note = { .correlation = from, .last = issued, .graph = graph, .n_nodes = 1 };
    note.name = text_id(tl, "g");
    must(sl_timeline_add_launch(tl, &note, &err), &err);
}

static void one_launch(sl_timeline *tl, uint32_t graph, uint32_t stream, int64_t start_us,
                       int64_t end_us)
{
    uint64_t from = call(tl, SL_CALL_PLAIN, stream, 0, 0);
    run(tl, stream, start_us, end_us);
    launch(tl, from, graph);
}

/* The same graph, or two, in two streams. */
static sl_timeline *launches(uint32_t first, uint32_t second)
{
    sl_timeline *tl = make();
    one_launch(tl, first, 1, 100, 200);
    one_launch(tl, second, 2, 200, 250);
    return tl;
}

static void collective(sl_timeline *tl, uint32_t stream, uint64_t comm, int32_t rank,
                       int64_t start_us, int64_t end_us)
{
    sl_error err;
    sl_collective_note note = { .comm = comm, .number = issued, .rank = rank, .ranks = 2 };
    note.peer = -1;
    note.correlation = span(tl, stream, SL_SPAN_COLLECTIVE, start_us * US, end_us * US);
    must(sl_timeline_add_collective(tl, &note, &err), &err);
}

/* Two collectives in two streams, of these communicators and ranks. */
static sl_timeline *collectives(uint64_t comm, int32_t rank)
{
    sl_timeline *tl = make();
    collective(tl, 1, 1, 0, 100, 200);
    collective(tl, 2, comm, rank, 200, 250);
    return tl;
}

/* Two of one call: one kernel. */
static sl_timeline *group(void)
{
    sl_error err;
    sl_timeline *tl = make();
    for (uint32_t stream = 1; stream <= 2; stream++) {
        sl_span part = { .stream = stream };
        sl_collective_note note = { .comm = 1, .number = stream, .ranks = 2, .peer = -1 };
        part.start_ns = 100 * US;
        part.end_ns = (stream == 1 ? 200 : 150) * US;
        part.host_start_ns = 10;
        part.host_end_ns = 20;
        note.correlation = part.correlation = ++issued;
        part.kind = SL_SPAN_COLLECTIVE;
        part.engine = SL_ENGINE_COMM;
        must(sl_timeline_add_span(tl, &part, &err), &err);
        must(sl_timeline_add_collective(tl, &note, &err), &err);
    }
    return tl;
}

static sl_timeline *behind_group(void)
{
    sl_timeline *tl = group();
    collective(tl, 3, 1, 0, 200, 250);
    return tl;
}

static void add_row(sl_timeline *tl, uint32_t stream)
{
    sl_error err;
    sl_stream_note row = { .id = ROW | stream, .is_row = true, .row_of = stream };
    must(sl_timeline_add_stream(tl, &row, &err), &err);
}

/* In one stream a kernel of 20, then a launch of two nodes side by side, of 100 and 60; the trace of
 * another program puts the longer one into a further row. */
static sl_timeline *rows(uint32_t stream)
{
    sl_timeline *tl = make();
    add_row(tl, stream);
    run(tl, stream, 80, 100);
    uint64_t from = call(tl, SL_CALL_PLAIN, stream, 0, 0);
    run(tl, stream, 100, 160);
    run(tl, ROW | stream, 100, 200);
    launch(tl, from, 5);
    return tl;
}

static sl_timeline *rows_then_same_stream(void)
{
    sl_timeline *tl = rows(1);
    run(tl, 1, 200, 250);
    return tl;
}

static sl_timeline *rows_then_synchronisation(void)
{
    sl_timeline *tl = rows(1);
    call(tl, SL_CALL_STREAM_SYNC, 1, 0, 0);
    run(tl, 2, 200, 250);
    return tl;
}

/* Nodes of 100 and 60 of a launch in the NULL stream, side by side: neither waits for the other. */
static sl_timeline *rows_of_null_stream(void)
{
    sl_timeline *tl = make();
    add_row(tl, 0);
    uint64_t from = call(tl, SL_CALL_PLAIN, 0, 0, 0);
    run(tl, ROW, 100, 200);
    run(tl, 0, 100, 160);
    launch(tl, from, 5);
    return tl;
}

/* Another stream's kernel, and then the launch, of which the row waits as well. */
static sl_timeline *row_behind_blocking(void)
{
    sl_timeline *tl = make();
    add_row(tl, 0);
    run(tl, 1, 100, 200);
    uint64_t from = call(tl, SL_CALL_PLAIN, 0, 0, 0);
    run(tl, 0, 200, 210);
    run(tl, ROW, 200, 250);
    launch(tl, from, 5);
    return tl;
}

/* A blocking stream, a wait for an event without a record in the NULL stream, another stream. */
static sl_timeline *wait_for_nothing(void)
{
    sl_timeline *tl = make();
    run(tl, 1, 100, 200);
    call(tl, SL_CALL_STREAM_WAIT, 0, 0, 0);
    run(tl, 2, 200, 250);
    return tl;
}

static void waiting_span(sl_timeline *tl, uint32_t stream, uint8_t flags, int64_t start_us,
                         int64_t end_us)
{
    sl_error err;
    sl_span s = { .stream = stream, .flags = flags };
    s.start_ns = start_us * US;
    s.end_ns = end_us * US;
    s.correlation = ++issued;
    s.host_start_ns = (int64_t)issued * 10;
    s.host_end_ns = s.host_start_ns + 2;
    must(sl_timeline_add_span(tl, &s, &err), &err);
}

/* The second kernel's code is loaded first. */
static sl_timeline *loaded(void)
{
    sl_timeline *tl = make();
    note(tl, 1, "one", true);
    note(tl, 2, "two", true);
    run(tl, 1, 100, 200);
    waiting_span(tl, 2, SL_SPAN_LOADED, 200, 250);
    return tl;
}

/* Another thread of the host waits for the first kernel, or the first one does. */
static sl_timeline *synchronised(uint32_t thread)
{
    sl_error err;
    sl_timeline *tl = make();
    run(tl, 1, 100, 200);
    sl_thread_note note = { call(tl, SL_CALL_STREAM_SYNC, 1, 0, 0), thread };
    if (thread > 0) must(sl_timeline_add_thread(tl, &note, &err), &err);
    run(tl, 2, 200, 250);
    return tl;
}

/* The NULL stream, in which nothing is. */
static sl_timeline *null_synchronised(bool non_blocking)
{
    sl_timeline *tl = make();
    note(tl, 1, "one", non_blocking);
    run(tl, 1, 100, 200);
    call(tl, SL_CALL_STREAM_SYNC, 0, 0, 0);
    run(tl, 2, 200, 250);
    return tl;
}

/* A stream of another process: the NULL stream of that, or a blocking one. */
static void foreign_stream(sl_timeline *tl, uint32_t id, bool is_null)
{
    sl_error err;
    const sl_stream_note stream = { .id = id, .context = 1, .is_null = is_null };
    must(sl_timeline_add_stream(tl, &stream, &err), &err);
}

/* Work of one stream, then of another, of which each is of one of two processes: streams 0 and 1 of
 * the first, 5 (its NULL stream) and 6 of the second. */
static sl_timeline *processes(uint32_t first, uint32_t second)
{
    sl_timeline *tl = make();
    foreign_stream(tl, 5, true);
    foreign_stream(tl, 6, false);
    run(tl, first, 100, 200);
    run(tl, second, 200, 250);
    return tl;
}

/* The host waits for the whole device between the two, as the process of stream `waiter`. */
static sl_timeline *process_synchronised(uint32_t first, uint32_t waiter)
{
    sl_timeline *tl = make();
    foreign_stream(tl, 5, true);
    foreign_stream(tl, 6, false);
    run(tl, first, 100, 200);
    call(tl, SL_CALL_DEVICE_SYNC, waiter, 0, 0);
    run(tl, waiter, 200, 250);
    return tl;
}

/* ---- what they come behind ----------------------------------------------------------------- */

static int64_t chain_us(sl_timeline *tl)
{
    sl_bounds found;
    sl_error err;
    finish(tl);
    must(sl_timeline_bounds(tl, &found, &err), &err);
    sl_timeline_release(tl);
    return found.critical_path_ns / US;
}

static void test_bounds(void)
{
    is_int(chain_us(launches(5, 5)), 150, "launches of one graph take turns: 100 + 50");
    is_int(chain_us(launches(5, 6)), 100, "those of two graphs do not: max(100, 50)");
    is_int(chain_us(launches(0, 0)), 100, "nor do those of which the graph is not known");
    is_int(chain_us(collectives(1, 0)), 150, "collectives of a rank take turns: 100 + 50");
    is_int(chain_us(collectives(1, 1)), 100, "those of two ranks do not");
    is_int(chain_us(collectives(2, 0)), 100, "nor those of two communicators");
    is_int(chain_us(group()), 100, "nor those of one group: max(100, 50)");
    is_int(chain_us(behind_group()), 150, "what comes next comes behind all of it: 100 + 50");
    is_int(chain_us(rows_then_same_stream()), 170,
           "a launch comes behind its stream, and that goes on behind all rows: 20 + 100 + 50");
    is_int(chain_us(rows_then_synchronisation()), 170,
           "a synchronisation of the stream waits for all rows: 20 + 100 + 50");
    is_int(chain_us(rows_of_null_stream()), 100,
           "nodes of one launch in the NULL stream do not wait for each other: max(100, 60)");
    is_int(chain_us(row_behind_blocking()), 150,
           "all rows of the NULL stream come behind the blocking streams: 100 + 50");
    is_int(chain_us(wait_for_nothing()), 150, "any wait in the NULL stream is a barrier: 100 + 50");
    is_int(chain_us(loaded()), 150, "loading code waits for the device: 100 + 50");
    is_int(chain_us(synchronised(0)), 150, "what a thread waited for, it issues behind: 100 + 50");
    is_int(chain_us(synchronised(1)), 100, "what another thread waited for, it does not");
    is_int(chain_us(null_synchronised(false)), 150,
           "a synchronisation of the NULL stream takes in blocking streams: 100 + 50");
    is_int(chain_us(null_synchronised(true)), 100, "and no others");
    is_int(chain_us(processes(0, 6)), 100,
           "a process's NULL stream and another one's blocking stream know nothing of each other");
    is_int(chain_us(processes(1, 5)), 100, "nor do these the other way round");
    is_int(chain_us(processes(0, 5)), 100, "nor do two NULL streams");
    is_int(chain_us(processes(5, 6)), 150, "those of one process do: 100 + 50");
    is_int(chain_us(processes(6, 5)), 150, "in both directions");
    is_int(chain_us(process_synchronised(6, 5)), 150, "a process waits for its own work: 100 + 50");
    is_int(chain_us(process_synchronised(1, 5)), 100, "and not for that of another one");
}

/* How many operations the last one comes behind, where none of these implies another one. */
static size_t n_behind(sl_timeline *tl)
{
    sl_error err;
    sl_behind *behind;
    sl_behind_span at;
    size_t n = 0;
    finish(tl);
    must(sl_behind_open(tl, &behind, &err), &err);
    while (sl_behind_next(behind, &at))
        n = at.n_after;
    sl_behind_close(behind);
    sl_timeline_release(tl);
    return n;
}

static void test_behind(void)
{
    is_int((long long)n_behind(launches(5, 5)), 1, "exporters: launches of one graph take turns");
    is_int((long long)n_behind(launches(5, 6)), 0, "those of two do not");
    is_int((long long)n_behind(collectives(1, 0)), 1, "collectives of a rank take turns");
    is_int((long long)n_behind(collectives(1, 1)), 0, "those of two ranks do not");
    is_int((long long)n_behind(group()), 0, "nor those of one group");
    is_int((long long)n_behind(behind_group()), 2, "behind which comes the next one");
    is_int((long long)n_behind(rows_then_same_stream()), 2, "a stream goes on behind all rows");
    is_int((long long)n_behind(rows_then_synchronisation()), 2, "so does the host");
    is_int((long long)n_behind(rows_of_null_stream()), 0, "nodes of one launch have edges alone");
    is_int((long long)n_behind(row_behind_blocking()), 1, "rows come behind blocking streams");
    is_int((long long)n_behind(wait_for_nothing()), 1, "any wait in the NULL stream is a barrier");
    is_int((long long)n_behind(loaded()), 1, "loading code waits for the device");
    is_int((long long)n_behind(synchronised(0)), 1, "what a thread waited for comes before");
    is_int((long long)n_behind(synchronised(1)), 0, "what another one waited for does not");
    is_int((long long)n_behind(null_synchronised(false)), 1,
           "the NULL stream takes in blocking ones");
    is_int((long long)n_behind(null_synchronised(true)), 0, "and no others");
}

/* What the last operation waited for by its times and the rules; 0: for its call. */
static sl_hold inferred(sl_timeline *tl)
{
    sl_error err;
    sl__operations ops;
    sl_hold hold = { 0 };
    finish(tl);
    must(sl__operations_collect(tl, false, &ops, &err), &err);
    const sl__item *last = &ops.items[ops.n - 1];
    hold.ready_cause = last->ready_cause;
    if (last->ready_by != SL__NO_ITEM) hold.ready_by = ops.items[last->ready_by].correlation;
    sl__operations_free(&ops);
    sl_timeline_release(tl);
    return hold;
}

static void is_behind(sl_timeline *tl, sl_cause cause, uint64_t by, const char *what)
{
    sl_hold hold = inferred(tl);
    ok(hold.ready_cause == cause && hold.ready_by == by, "%s", what);
}

static void test_inference(void)
{
    is_behind(launches(5, 5), SL_CAUSE_GRAPH, 2, "inferred: launches of one graph take turns");
    is_behind(launches(5, 6), SL_CAUSE_LATENCY, 0, "those of two do not");
    is_behind(launches(0, 0), SL_CAUSE_LATENCY, 0, "nor do those of which the graph is not known");
    is_behind(collectives(1, 0), SL_CAUSE_COMM, 1, "collectives of a rank take turns");
    is_behind(collectives(1, 1), SL_CAUSE_LATENCY, 0, "those of two ranks do not");
    is_behind(behind_group(), SL_CAUSE_COMM, 1, "behind a group it is the one that ends last");
    is_behind(rows_then_same_stream(), SL_CAUSE_STREAM_ORDER, 4, "the longer row ends last");
    is_behind(row_behind_blocking(), SL_CAUSE_NULL_STREAM, 1, "rows come behind blocking streams");
    is_behind(wait_for_nothing(), SL_CAUSE_NULL_STREAM, 2,
              "a wait in the NULL stream is a barrier");
}

/* ---- played without some of it --------------------------------------------------------------------------------- */

/* Called at host_us, in no time. */
static uint64_t issue(sl_timeline *tl, sl_span s, int64_t host_us, int64_t start_us, int64_t end_us)
{
    sl_error err;
    s.host_start_ns = s.host_end_ns = host_us * US;
    s.start_ns = start_us * US;
    s.end_ns = end_us * US;
    s.correlation = ++issued;
    must(sl_timeline_add_span(tl, &s, &err), &err);
    return issued;
}

static uint64_t call_at(sl_timeline *tl, sl_call c, int64_t from_us, int64_t to_us)
{
    sl_error err;
    c.host_start_ns = from_us * US;
    c.host_end_ns = to_us * US;
    c.correlation = ++issued;
    must(sl_timeline_add_call(tl, &c, &err), &err);
    return issued;
}

/* The makespan without what the bits say of `n` items from `first` on, and without `of_all` of each. */
static int64_t played_us(sl_timeline *tl, uint64_t first, int n, unsigned bits, unsigned of_all)
{
    sl_error err;
    sl__operations ops;
    sl__without without;
    sl__outcome outcome;
    finish(tl);
    must(sl__operations_collect(tl, false, &ops, &err), &err);
    must(sl__without_open(&ops, &without, &err), &err);
    uint16_t *left_out = calloc(ops.n, sizeof *left_out);
    for (size_t i = 0; i < ops.n; i++)
        left_out[i] = (uint16_t)of_all;
    for (int i = 0; i < n; i++)
        left_out[sl__operations_find(&ops, first + (uint64_t)i)] |= (uint16_t)bits;
    must(sl__without_play(&without, left_out, NULL, &outcome, &err), &err);
    must(sl__outcome_check(&outcome, &err), &err);
    free(left_out);
    sl__without_close(&without);
    sl__operations_free(&ops);
    sl_timeline_release(tl);
    return (outcome.makespan_ns + US / 2) / US;
}

/* Engines hold nothing. */
static int64_t replayed_us(sl_timeline *tl, uint64_t first, int n, unsigned bits)
{
    return played_us(tl, first, n, bits, SL__NO_ENGINE);
}

/* A launch of graph 5 in stream 1, from 100 to 200; in stream 2 a copy until 260, and behind it one of
 * graph `second` for 200. Without that stream's order it would start 4 behind its call. */
static int64_t without_order_us(uint32_t second)
{
    sl_timeline *tl = make();
    one_launch(tl, 5, 1, 100, 200);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 100 * US, 260 * US);
    one_launch(tl, second, 2, 260, 460);
    return replayed_us(tl, issued, 1, SL__NO_LAUNCH);
}

/* The same with collectives. */
static int64_t without_stream_us(uint64_t comm)
{
    sl_timeline *tl = make();
    collective(tl, 1, 1, 0, 100, 200);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 100 * US, 260 * US);
    collective(tl, 2, comm, 0, 260, 460);
    return replayed_us(tl, issued, 1, SL__NO_STREAM);
}

/* Work of the second GPU, of 100 and 100 in one stream, for which a stream of the first one waits, and the
 * host for the first one. Without the order of these two they end at 200, and the host goes on at 202:
 * then a kernel of 50 starts 4 behind its call. The first one would start at 4. */
static int64_t across_devices_us(void)
{
    sl_error err;
    int place;
    sl_timeline *tl = make();
    sl_device_info gpu = { .sm_count = 1 };
    must(sl_timeline_add_device(tl, &gpu, &place, &err), &err);
    uint32_t there = sl_timeline_stream_id(place, 1);
    issue(tl, (sl_span){ .stream = there }, 0, 100, 200);
    uint64_t second = issue(tl, (sl_span){ .stream = there }, 0, 200, 300);
    sl_call record = { .kind = SL_CALL_EVENT_RECORD, .stream = there, .device_ns = 300 * US };
    uint64_t event = call_at(tl, record, 0, 0);
    sl_call wait = { .kind = SL_CALL_STREAM_WAIT, .stream = 2, .target = event };
    wait.target_stream = there;
    wait.device_ns = 300 * US;
    call_at(tl, wait, 0, 0);
    call_at(tl, (sl_call){ .kind = SL_CALL_DEVICE_SYNC }, 1, 302);
    issue(tl, (sl_span){ .stream = 3 }, 302, 306, 356);
    return replayed_us(tl, second, 1, SL__NO_LAST);
}

/* In stream 1 a kernel until 200, and behind it a launch of two nodes side by side, until 260 and 300; the
 * host waits for the stream until 302. Without what the stream had before, both nodes start at 4, and
 * the host waits for the kernel until 202: then one of 50 starts at 206. */
static int64_t behind_rows_us(void)
{
    sl_timeline *tl = make();
    add_row(tl, 1);
    issue(tl, (sl_span){ .stream = 1 }, 0, 100, 200);
    uint64_t from = call_at(tl, (sl_call){ .kind = SL_CALL_PLAIN, .stream = 1 }, 0, 0);
    issue(tl, (sl_span){ .stream = 1 }, 0, 200, 260);
    issue(tl, (sl_span){ .stream = ROW | 1 }, 0, 200, 300);
    launch(tl, from, 5);
    call_at(tl, (sl_call){ .kind = SL_CALL_STREAM_SYNC, .stream = 1 }, 1, 302);
    issue(tl, (sl_span){ .stream = 2 }, 302, 306, 356);
    return replayed_us(tl, from + 1, 2, SL__NO_LAUNCH);
}

/* Behind what runs until 200 elsewhere, stream 2 runs two of 50. The first does not wait for it:
 * nor does the second, which comes behind the first. */
static int64_t both_let_go_us(bool collectives)
{
    sl_timeline *tl = make();
    uint64_t second;
    if (collectives) {
        collective(tl, 1, 1, 0, 100, 200);
        collective(tl, 2, 1, 0, 200, 250);
        second = issued;
        collective(tl, 2, 1, 0, 250, 300);
    } else {
        run(tl, 0, 100, 200);
        second = run(tl, 2, 200, 250);
        run(tl, 2, 250, 300);
    }
    return replayed_us(tl, second, 1, collectives ? SL__NO_COMM : SL__NO_NULL);
}

/* On 132 SMs work of 33 blocks for 100, in whose stream a kernel that fills the GPU for 200 comes next.
 * Without that order the kernel starts at 4, and for 100 has three quarters of the SMs: it lacks 25. */
static int64_t beside_us(sl_span_kind kind, sl_engine engine)
{
    sl_timeline *tl = make();
    sl_device_info gpu = { .sm_count = 132 };
    sl_timeline_set_device(tl, &gpu);
    sl_span first = { .stream = 1, .blocks = 33, .kind = (uint8_t)kind, .engine = (uint8_t)engine };
    issue(tl, first, 0, 100, 200);
    uint64_t second = issue(tl, (sl_span){ .stream = 1, .blocks = 132 }, 0, 200, 400);
    return played_us(tl, second, 1, SL__NO_LAST, 0);
}

static void test_played(void)
{
    is_int(beside_us(SL_SPAN_COLLECTIVE, SL_ENGINE_COMM), 225,
           "a kernel lacks the SMs of a collective while both run: 4 to 229");
    is_int(beside_us(SL_SPAN_KERNEL, SL_ENGINE_COMPUTE), 225, "and those of a smaller kernel");
    is_int(both_let_go_us(true), 196, "what comes behind a collective let go is as well: 4 to 200");
    is_int(both_let_go_us(false), 196, "so it is behind the NULL stream");
    is_int(without_order_us(5), 300, "played: launches of one graph take turns: 100 to 400");
    is_int(without_order_us(6), 256, "those of two do not: 4 to 260");
    is_int(without_stream_us(1), 300, "collectives of a rank take turns: 100 to 400");
    is_int(without_stream_us(2), 256, "those of two communicators do not: 4 to 260");
    is_int(across_devices_us(), 252,
           "waiting for a device takes in its waits for others: 4 to 256");
    is_int(behind_rows_us(), 252,
           "without what was before the launch all its rows go on: 4 to 256");
}

int main(void)
{
    plan(0);
    test_bounds();
    test_behind();
    test_inference();
    test_played();
    return done_testing();
}
