/* t-60-own-traces.c - what only our trace files have: each part read back and saved again as the same
 * bytes, and slices that touch each other or lie in each other. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "rich_trace.h"

static void hold(sl_timeline *tl, sl_hold h)
{
    sl_error err;
    must(sl_timeline_add_hold(tl, &h, &err), &err);
}

static void describe_own(sl_timeline *tl)
{
    sl_error err;
    sl_device_info info = {
        .name = "G",
        .profile = "p",
        .backend = "sim",
        .simulated = true,
        .async_engine_count = 3,
        .priority_greatest = -5,
    };
    sl_timeline_set_device(tl, &info);
    sl_timeline_set_origin(tl, (sl_origin){ .costs.work_ns = 900 });
    note(tl, 0, "default", false);
    sl_stream_note urgent = {
        .id = 3,
        .name = text_id(tl, "urgent"),
        .priority = -5,
        .non_blocking = true,
    };
    must(sl_timeline_add_stream(tl, &urgent, &err), &err);
}

/* Returns the text of its line. */
static uint32_t add_kernel_that_waited(sl_timeline *tl)
{
    sl_error err;
    sl_span k = {
        .start_ns = 5000,
        .end_ns = 6000,
        .host_start_ns = 1100,
        .host_end_ns = 1200,
        .correlation = 1,
        .stream = 3,
        .flags = SL_SPAN_QUEUE_FULL | SL_SPAN_LOADED | SL_SPAN_GUESSED,
        .blocks = 2,
        .threads = 32,
        .name = text_id(tl, "k"),
        .where = text_id(tl, "a.lua:2"),
    };
    must(sl_timeline_add_span(tl, &k, &err), &err);
    hold(tl, (sl_hold){ .correlation = 1,
                        .ready_ns = 2500,
                        .ready_cause = SL_CAUSE_LATENCY,
                        .start_cause = SL_CAUSE_ENGINE,
                        .start_by = 1 });
    return k.where;
}

static void add_odd_copy(sl_timeline *tl)
{
    sl_error err;
    sl_span c = {
        .start_ns = 5900,
        .end_ns = 6500,
        .host_start_ns = 1300,
        .host_end_ns = 7000,
        .correlation = 2,
        .stream = 3,
        .kind = SL_SPAN_MEMCPY_D2D,
        .bytes = 600,
        .engine = SL_ENGINE_P2P,
        .flags = SL_SPAN_HOST_WAITED | SL_SPAN_DST_PAGEABLE,
        .name = text_id(tl, "copy"),
    };
    must(sl_timeline_add_span(tl, &c, &err), &err); /* 100 ns too early for its stream */
    hold(tl, (sl_hold){ .correlation = 2,
                        .ready_ns = 5900,
                        .ready_by = 1,
                        .ready_cause = SL_CAUSE_STREAM_ORDER });
}

static void add_record_wait_and_work(sl_timeline *tl, uint32_t where)
{
    sl_error err;
    sl_call r = {
        .host_start_ns = 7100,
        .host_end_ns = 7200,
        .device_ns = 7300,
        .correlation = 3,
        .stream = 3,
        .queue_full = true,
    };
    must(sl_timeline_add_call(tl, &r, &err), &err);
    hold(tl, (sl_hold){ .correlation = 3, .ready_ns = 7300 });
    sl_call old = {
        .host_start_ns = 7300,
        .host_end_ns = 7400,
        .device_ns = 7500,
        .correlation = 40,
        .target = 7,
        .target_stream = 5,
        .kind = SL_CALL_STREAM_WAIT,
    };
    must(sl_timeline_add_call(tl, &old, &err), &err);
    sl_call work = {
        .host_start_ns = 7500,
        .host_end_ns = 8000,
        .correlation = 41,
        .kind = SL_CALL_HOST_WORK,
        .where = where,
    };
    must(sl_timeline_add_call(tl, &work, &err), &err);
}

static void add_host_func(sl_timeline *tl)
{
    sl_error err;
    sl_span f = {
        .start_ns = 8200,
        .end_ns = 8300,
        .host_start_ns = 8100,
        .host_end_ns = 8150,
        .correlation = 42,
        .kind = SL_SPAN_HOST_FUNC,
        .engine = SL_ENGINE_HOST,
        .name = text_id(tl, "f"),
    };
    must(sl_timeline_add_span(tl, &f, &err), &err);
    hold(tl, (sl_hold){ .correlation = 42,
                        .ready_ns = 8200,
                        .ready_by = 40,
                        .ready_cause = SL_CAUSE_NULL_STREAM });
}

/* A recording from 1000 ns on: two copies whose names do not say what they are, a kernel
 * that had to wait, a record, waits for it and for one made before, work of the host. */
static sl_timeline *all_that_is_ours(void)
{
    sl_error err;
    sl_timeline *tl = make();
    describe_own(tl);
    uint32_t where = add_kernel_that_waited(tl);
    add_odd_copy(tl);
    add_record_wait_and_work(tl, where);
    add_host_func(tl);
    sl_timeline_finish(tl, 1000, 9000);
    must(sl_timeline_set_source(tl, where, "lab.spin(\"1\")", &err), &err);
    return tl;
}

static void test_own_header(const char *text)
{
    ok(is_json(text), "all that is ours is JSON");
    ok(has(text, "\"backend\":\"sim\",\"device\":\"G\",\"profile\":\"p\",\"simulated\":true,"
                 "\"recording_ns\":900,\"async_engines\":3,\"priorities\":[0,-5],\n"
                 " \"start_ns\":1000,\"wall_ns\":8000,\n"),
       "the header has the device and the host's interval");
    ok(has(text, " \"streams\":[\n"
                 "  {\"id\":0,\"name\":\"default\",\"priority\":0,\"non_blocking\":false},\n"
                 "  {\"id\":3,\"name\":\"urgent\",\"priority\":-5,\"non_blocking\":true}],\n"),
       "and the streams");
    ok(has(text, " \"sources\":{\n  \"a.lua:2\":\"lab.spin(\\\"1\\\")\"}},\n"),
       "and the script's lines");
    ok(has(text, "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"streamlab\",\"pid\":4242,"
                 "\"tid\":4242,\"ts\":0.000,\"dur\":8.002}"),
       "the recording is an annotation");
}

static void test_own_spans(const char *text)
{
    ok(has(text, "\"where\":\"a.lua:2\",\"queue full\":true,\"loaded\":true}},\n"),
       "a launch that waited for room in the queue says so");
    ok(has(text, "\"queued\":0,\"priority\":-5,\"grid\":[2,1,1],\"block\":[32,1,1],"
                 "\"guessed\":true,\"ready us\":1.500,\"held cause\":\"latency\",\"start cause\":"
                 "\"engine_busy\",\"start by\":1}},\n"),
       "a kernel says what it was held by, and its priority");
    ok(has(text, "\"External id\":2,\"correlation\":2,\"host waited\":true}},\n"),
       "a call that returned after its operation's end says so");
    ok(has(text,
           "\"ts\":5.000,\"dur\":0.500,\"args\":{\"External id\":2,\"device\":0,\"context\":1,"
           "\"correlation\":2,\"stream\":10,\"bytes\":600,\"memory bandwidth (GB/s)\":1.200,"
           "\"kind\":\"memcpy_d2d\",\"engine\":\"p2p\",\"memory\":\"Device -> Pageable\","
           "\"ready us\":4.900,\"held cause\":\"stream_order\",\"held by\":1,"
           "\"own ts\":4.900,\"own dur\":0.600}},\n"),
       "a slice says what its name does not, and where it was before it was moved");
    ok(has(text, "\"tid\":2000007,\"ts\":7.200,\"dur\":0.100,\"args\":{\"External id\":42,"
                 "\"ready us\":7.200,\"held cause\":\"null_stream\",\"held by\":40}},\n"),
       "a host function has its hold");
}

static void test_own_calls(const char *text)
{
    ok(has(text, "\"External id\":3,\"correlation\":3,\"in stream\":10,\"device us\":6.300,"
                 "\"queue full\":true,\"ready us\":6.300}},\n"),
       "a record has its stream and its moment on the device");
    ok(has(text, "\"External id\":40,\"correlation\":40,\"in stream\":7,\"waits for\":7,"
                 "\"recorded in\":12,\"device us\":6.500}},\n"),
       "a wait for an earlier recording's event says for which");
    ok(has(text, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"host_work\",\"pid\":4242,"
                 "\"tid\":4242,\"ts\":6.500,\"dur\":0.500,\"loc\":\"a.lua:2\",\"args\":{"
                 "\"External id\":41,\"where\":\"a.lua:2\"}},\n"),
       "the host's own work is no call of CUDA's");
    findings found = check_events(text);
    is_int(found.overlaps + found.unnamed + found.loose_flows + found.other, 0,
           "and all of it keeps to the rules");
}

/* Nothing is lost: what was read back is written as before. */
static void test_read_back(const char *text, const char *name)
{
    sl_error err;
    sl_timeline *tl;
    must(sl_timeline_load_kineto(in_directory("again.json"), SL_BUSIEST_DEVICE, &tl, &err), &err);
    save(tl, in_directory("again.json"));
    char *again = contents(in_directory("again.json"));
    ok(strcmp(text, again) == 0, "%s", name);
    free(again);
    sl_timeline_release(tl);
}

static void test_own(void)
{
    sl_timeline *tl = all_that_is_ours();
    save(tl, in_directory("again.json"));
    char *text = contents(in_directory("again.json"));
    test_own_header(text);
    test_own_spans(text);
    test_own_calls(text);
    test_read_back(text, "what was read back is saved as the same bytes");
    free(text);
    sl_timeline_release(tl);
    tl = rich();
    save(tl, in_directory("again.json"));
    text = contents(in_directory("again.json"));
    test_read_back(text, "also where each kind of operation and call is there");
    free(text);
    sl_timeline_release(tl);
}

/* Calls one right after the other. As doubles, 203.442 + 0.270 is more than 203.712, and
 * 1000 * 2.006 is less than 2006 (both checked here); 1.000 + 1.000 is 2.000. */
static void test_touching(void)
{
    static const int64_t edges[] = { 1000, 2000, 2006, 203442, 203712, 203800 };
    volatile double sum = 203.442, product = 2.006;
    sum += 0.270;
    product *= 1000;
    ok(sum > 203.712 && product < 2006, "decimals as doubles are not exact");
    sl_error err;
    sl_timeline *tl = make();
    for (int i = 0; i < 5; i++) {
        sl_call c = {
            .host_start_ns = edges[i],
            .host_end_ns = edges[i + 1],
            .correlation = ++issued,
            .kind = SL_CALL_PLAIN,
            .name = text_id(tl, "cudaMalloc"),
        };
        must(sl_timeline_add_call(tl, &c, &err), &err);
    }
    sl_timeline_finish(tl, 0, 203800);
    save(tl, in_directory("again.json"));
    char *text = contents(in_directory("again.json"));
    ok(has(text, "\"ts\":2.000,\"dur\":0.006,\"args\":{\"External id\":2,\"correlation\":2}}"),
       "a slice that touches the one before it stays where it is");
    ok(has(text, "\"ts\":2.007,\"dur\":201.435,\"args\":{\"External id\":3,\"correlation\":3,"
                 "\"own ts\":2.006,\"own dur\":201.436}}"),
       "unless its start would be cut to a time before that one's end");
    ok(has(text, "\"ts\":203.713,\"dur\":0.087,\"args\":{\"External id\":5,\"correlation\":5,"
                 "\"own ts\":203.712,\"own dur\":0.088}}"),
       "or ts and dur of that one add up to more");
    is_int(check_events(text).overlaps, 0, "and nothing overlaps");
    free(text);
    sl_timeline_release(tl);
}

/* A wait within a call, as when memory is short, and a call of another thread. */
static void test_calls_at_once(void)
{
    static const int64_t times[][2] = {
        { 1000, 9000 },
        { 2000, 5000 },
        { 4000, 9500 },
        { 9000, 9900 },
    };
    sl_error err;
    sl_timeline *tl = make();
    for (int i = 0; i < 4; i++) {
        sl_call c = {
            .host_start_ns = times[i][0],
            .host_end_ns = times[i][1],
            .correlation = ++issued,
            .name = text_id(tl, "cudaMalloc"),
            .kind = SL_CALL_PLAIN,
        };
        must(sl_timeline_add_call(tl, &c, &err), &err);
    }
    sl_timeline_finish(tl, 0, 10000);
    save(tl, in_directory("again.json"));
    char *text = contents(in_directory("again.json"));
    ok(has(text, "\"tid\":4242,\"ts\":1.000,\"dur\":8.000,")
           && has(text, "\"tid\":4243,\"ts\":2.000,\"dur\":3.000,")
           && has(text, "\"tid\":4244,\"ts\":4.000,\"dur\":5.500,"),
       "calls at the same time have rows of their own");
    ok(has(text, "\"tid\":4242,\"ts\":9.000,\"dur\":0.900,"), "the next one is the script's again");
    ok(has(text, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":4242,\"tid\":4244,\"ts\":0,"
                 "\"args\":{\"name\":\"beside the script, 2\"}}"),
       "which say what they are");
    findings found = check_events(text);
    is_int(found.overlaps + found.unnamed, 0, "and are named before they are used");
    free(text);
    sl_timeline_release(tl);
}

int main(void)
{
    plan(0);
    make_directory();
    test_own();
    test_touching();
    test_calls_at_once();
    unlink(in_directory("again.json"));
    rmdir(directory);
    return done_testing();
}
