/* t-51-summary-json.c - the figures as a JSON object, on timelines worked out by hand. */
#include "make.h"

static char *figures(sl_timeline *tl)
{
    sl_text text = { 0 };
    sl_error err;
    must(sl_timeline_summary_json(tl, &text, &err), &err);
    sl_timeline_release(tl);
    return text.data;
}

static void has(sl_timeline *tl, const char *line, const char *name)
{
    char *text = figures(tl);
    bool found = strstr(text, line) != NULL;
    ok(found, "%s", name);
    if (!found)
        diag("  %s\n  is not in\n%s", line, text);
    free(text);
}

/*   stream 1   0 ......... 100 kernel, 100 .. 100.5 memset
 *   stream 2          50 .............. 150 copy
 * In us. Makespan 150, serial 200.5, compute busy for 100.5, and that is the bound:
 * 150 / 100.5 = 1.49254. Two engines from 50 to 100.5, else one. */
static void test_all_of_it(void)
{
    sl_timeline *tl = make();
    sl_device_info info = { .name = "GPU \"A\"", .backend = "sim", .simulated = true };
    sl_timeline_set_device(tl, &info);
    note(tl, 1, "work\tbench", false);
    kernel(tl, 1, 0, 100000);
    span(tl, 2, SL_SPAN_MEMCPY_H2D, 50000, 150000);
    span(tl, 1, SL_SPAN_MEMSET, 100000, 100500);
    sl_timeline_finish(tl, -1000, 160001);
    char *text = figures(tl);
    is_str(text,
           "{\n"
           "  \"makespan_us\": 150.000,\n"
           "  \"wall_us\": 161.001,\n"
           "  \"lower_bound_us\": 100.500,\n"
           "  \"unblocked_bound_us\": 100.500,\n"
           "  \"serial_us\": 200.500,\n"
           "  \"critical_path_us\": 100.500,\n"
           "  \"busiest_engine\": \"compute\",\n"
           "  \"busiest_engine_us\": 100.500,\n"
           "  \"makespan_over_bound\": 1.4925,\n"
           "  \"device\": \"GPU \\\"A\\\"\",\n"
           "  \"device_index\": 0,\n"
           "  \"simulated\": true,\n"
           "  \"span_count\": 3,\n"
           "  \"count\": {\"kernel\": 1, \"memcpy_h2d\": 1, \"memset\": 1},\n"
           "  \"busy_us\": {\"kernel\": 100.000, \"memcpy_h2d\": 100.000, \"memset\": 0.500},\n"
           "  \"engine_busy_us\": {\"compute\": 100.500, \"h2d\": 100.000},\n"
           "  \"overlap_us\": {\"kernel&memcpy_h2d\": 50.000, \"kernel&memset\": 0.000, "
           "\"memcpy_h2d&memset\": 0.500},\n"
           "  \"engine_overlap_us\": {\"compute&h2d\": 50.500},\n"
           "  \"concurrency_us\": {\"engines\": [0.000, 99.500, 50.500], \"kernels\": [0.000, "
           "100.000], \"streams\": [0.000, 99.500, 50.500]},\n"
           "  \"streams\": [\n"
           "    {\"name\": \"work\\u0009bench\", \"id\": 1, \"busy_us\": 100.500, \"count\": 2},\n"
           "    {\"name\": \"stream 2\", \"id\": 2, \"busy_us\": 100.000, \"count\": 1}\n"
           "  ],\n"
           "  \"verdict\": {\"good\": false, \"joint\": false, \"gain_us\": 49.500, \"ratio\": "
           "1.4925, \"code\": \"unknown\",\n"
           "    \"sentence\": \"To gain: at most 49.5 us of 150 us (1.49 x): memcpy_h2d in stream "
           "2 waits for something that the records do not tell.\"},\n"
           "  \"causes\": [\n"
           "    {\"code\": \"unknown\", \"engine\": \"h2d\", \"idle\": true, "
           "\"guess\": true, \"lost_us\": 49.978, "
           "\"gain_us\": 49.500, \"count\": 1,\n"
           "     \"operands\": {\"waiter\": {\"name\": \"memcpy_h2d\", \"stream\": \"stream 2\", "
           "\"where\": null, \"correlation\": 2},\n"
           "       \"by\": null},\n"
           "     \"sentence\": \"No H2D copy ran for 50.0 us: memcpy_h2d in stream 2 waited for "
           "something that the records do not tell\", \"remedy\": null},\n"
           "    {\"code\": \"host_issuing\", \"engine\": \"h2d\", \"idle\": true, "
           "\"guess\": false, \"lost_us\": "
           "0.012, \"gain_us\": null, \"count\": 1,\n"
           "     \"operands\": {\"waiter\": {\"name\": \"memcpy_h2d\", \"stream\": \"stream 2\", "
           "\"where\": null, \"correlation\": 2},\n"
           "       \"by\": {\"name\": \"kernel\", \"stream\": \"work\\u0009bench\", \"where\": "
           "null, \"correlation\": 1}},\n"
           "     \"sentence\": \"No H2D copy ran for 12 ns: the host was still issuing kernel in "
           "stream \\\"work?bench\\\", and memcpy_h2d in stream 2 came after that\", \"remedy\": "
           "\"Issue the two alternately, or first the one that came too late\"},\n"
           "    {\"code\": \"host_issuing\", \"engine\": \"h2d\", \"idle\": true, "
           "\"guess\": false, \"lost_us\": "
           "0.010, \"gain_us\": null, \"count\": 1,\n"
           "     \"operands\": {\"waiter\": {\"name\": \"memcpy_h2d\", \"stream\": \"stream 2\", "
           "\"where\": null, \"correlation\": 2},\n"
           "       \"by\": {\"name\": \"memcpy_h2d\", \"stream\": \"stream 2\", \"where\": null, "
           "\"correlation\": 2}},\n"
           "     \"sentence\": \"No H2D copy ran for 10 ns: the host was still issuing memcpy_h2d "
           "in stream 2, and the GPU had to wait for that\", \"remedy\": \"The GPU waits for "
           "launches: fewer and larger operations keep it busy\"}\n"
           "  ]\n"
           "}", "two streams");
    free(text);
}

static void test_nothing(void)
{
    sl_timeline *tl = make();
    note(tl, 1, "idle", false);
    sl_timeline_finish(tl, 0, 2500);
    char *text = figures(tl);
    is_str(text,
           "{\n"
           "  \"makespan_us\": 0.000,\n"
           "  \"wall_us\": 2.500,\n"
           "  \"lower_bound_us\": 0.000,\n"
           "  \"unblocked_bound_us\": 0.000,\n"
           "  \"serial_us\": 0.000,\n"
           "  \"critical_path_us\": 0.000,\n"
           "  \"busiest_engine\": null,\n"
           "  \"busiest_engine_us\": 0.000,\n"
           "  \"makespan_over_bound\": null,\n"
           "  \"device\": null,\n"
           "  \"device_index\": 0,\n"
           "  \"simulated\": false,\n"
           "  \"span_count\": 0,\n"
           "  \"count\": {},\n"
           "  \"busy_us\": {},\n"
           "  \"engine_busy_us\": {},\n"
           "  \"overlap_us\": {},\n"
           "  \"engine_overlap_us\": {},\n"
           "  \"concurrency_us\": {\"engines\": [], \"kernels\": [], \"streams\": []},\n"
           "  \"streams\": [],\n"
           "  \"verdict\": {\"good\": true, \"joint\": false, \"gain_us\": 0.000, \"ratio\": "
           "null, \"code\": null,\n"
           "    \"sentence\": \"The timeline is empty: nothing ran on the device, so nothing "
           "waited.\"},\n"
           "  \"causes\": []\n"
           "}", "an empty timeline has all keys, and no stream that did nothing");
    free(text);
}

/* Every kind once, 10 ns each and at the same time. */
static void test_kinds(void)
{
    sl_timeline *tl = make();
    for (int kind = SL_SPAN_KINDS - 1; kind >= 0; kind--)
        span(tl, (uint32_t)kind, (sl_span_kind)kind, 0, 10);
    finish(tl);
    char *text = figures(tl);
    ok(strstr(text, "\"count\": {\"kernel\": 1, \"memcpy_h2d\": 1, \"memcpy_d2h\": 1, "
                    "\"memcpy_d2d\": 1, \"memcpy_p2p\": 1, \"memset\": 1, \"host_func\": 1},\n"),
       "kinds are in one order, whatever the order of issue");
    ok(strstr(text, "\"overlap_us\": {\"kernel&memcpy_h2d\": 0.010, \"kernel&memcpy_d2h\": 0.010"),
       "so are their pairs");
    int pairs = 0;
    for (const char *at = text; (at = strchr(at, '&')); at++)
        pairs++;
    is_int(pairs, 21 + 10 + 2 * 10,
           "seven kinds make 21 pairs, five engines 10 pairs and 10 triples");
    ok(strstr(text, "\"compute&h2d&d2h\": 0.010, "), "what three engines did at once");
    ok(strstr(text, "\"engine_busy_us\": {\"compute\": 0.010, \"h2d\": 0.010, \"d2h\": 0.010, "
                    "\"p2p\": 0.010, \"host\": 0.010},\n"), "engines are in one order as well");
    ok(strstr(text, "\"engines\": [0.000, 0.000, 0.000, 0.000, 0.000, 0.010]"),
       "and all five at once");
    free(text);
}

static void test_ratios(void)
{
    sl_timeline *tl = make();
    kernel(tl, 1, 0, 3);
    kernel(tl, 2, INT64_C(1000000000000000), INT64_C(1000000000000003));
    finish(tl);     /* 10^15 + 3 over 6 */
    has(tl, "\"makespan_over_bound\": 166666666666667.1667,\n", "a large ratio keeps its decimals");
    tl = make();
    kernel(tl, 1, 0, 100000);
    span(tl, 1, SL_SPAN_HOST_FUNC, 199999, 199999);
    finish(tl);
    has(tl, "\"makespan_over_bound\": 2.0000,\n", "1.99999 is rounded to 2.0000");
    tl = make();
    kernel(tl, 1, 5, 5);
    finish(tl);
    has(tl, "\"makespan_over_bound\": null,\n", "nothing is divided by 0");
    tl = make();
    const int64_t far = (INT64_C(1) << 61) - 1;
    kernel(tl, 1, -far, far);
    finish(tl);
    has(tl, "\"makespan_us\": 4611686018427387.902,\n", "the longest time is exact");
}

/* Waiting for the copy costs: with the wait 30 us, without it 20. */
static void test_bounds(void)
{
    sl_timeline *tl = make();
    sl_error err;
    sl_span copy = { .end_ns = 10000, .stream = 1, .correlation = ++issued,
                     .kind = SL_SPAN_MEMCPY_D2H, .engine = SL_ENGINE_D2H,
                     .flags = SL_SPAN_HOST_WAITED };
    must(sl_timeline_add_span(tl, &copy, &err), &err);
    kernel(tl, 2, 10000, 30000);
    finish(tl);
    has(tl, "\"lower_bound_us\": 30.000,\n  \"unblocked_bound_us\": 20.000,\n", "both bounds");
}

static void test_texts(void)
{
    sl_timeline *tl = make();
    note(tl, 3, "caf\xC3\xA9 \xFF", false);
    kernel(tl, 3, 0, 1);
    finish(tl);
    has(tl, "{\"name\": \"caf\xC3\xA9 \xEF\xBF\xBD\", \"id\": 3,",
        "UTF-8 stays, what is none is replaced");
    sl_text text = { 0 };
    sl_error err;
    tl = make();
    finish(tl);
    sl_text_add(&text, "before ");
    must(sl_timeline_summary_json(tl, &text, &err), &err);
    sl_timeline_release(tl);
    ok(strncmp(text.data, "before {\n", 9) == 0, "it is added to what is there");
    is_int(strlen(text.data), text.len, "and the text knows how long it is");
    sl_text_free(&text);
}

int main(void)
{
    plan(16);
    test_all_of_it();
    test_nothing();
    test_kinds();
    test_ratios();
    test_bounds();
    test_texts();
    return done_testing();
}
