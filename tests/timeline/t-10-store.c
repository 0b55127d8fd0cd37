/* t-10-store.c - the timeline's store: texts, spans, streams, names, order. */
#include "make.h"
#include "../../core/timeline/store.h"

static void test_texts(void)
{
    sl_timeline *tl = make();
    is_int(text_id(tl, ""), 0, "the empty text is 0");
    uint32_t first = text_id(tl, "first"), second = text_id(tl, "second");
    is_int(first, 1, "ids begin at 1");
    is_int(second, 2, "and are dense");
    is_int(text_id(tl, "first"), first, "a known text keeps its id");
    const char *kept = sl_timeline_text(tl, first);
    bool same = true;
    for (int i = 0; i < 5000; i++) {
        char name[32];
        snprintf(name, sizeof name, "text %d", i);
        text_id(tl, name);
    }
    for (int i = 0; i < 5000; i++) {
        char name[32];
        snprintf(name, sizeof name, "text %d", i);
        same = same && text_id(tl, name) == (uint32_t)i + 3
               && strcmp(sl_timeline_text(tl, (uint32_t)i + 3), name) == 0;
    }
    ok(same, "five thousand texts are found again");
    ok(kept == sl_timeline_text(tl, first), "a text stays where it is while others are added");
    is_str(sl_timeline_text(tl, 99999), "", "an unknown id reads as the empty text");
    sl_timeline_release(tl);
}

static void test_order(void)
{
    sl_timeline *tl = make();
    sl_error err;
    static const uint64_t correlations[] = { 5, 2, 9, 1 };
    for (int i = 0; i < 4; i++) {
        sl_span s = { .start_ns = 100 + i, .end_ns = 200 + i, .correlation = correlations[i] };
        sl_call c = { .correlation = correlations[i] + 10, .kind = SL_CALL_DEVICE_SYNC };
        must(sl_timeline_add_span(tl, &s, &err), &err);
        must(sl_timeline_add_call(tl, &c, &err), &err);
    }
    note(tl, 7, "seven", false);
    note(tl, 3, "three", false);
    note(tl, 5, "five", true);
    note(tl, 3, "drei", false);
    sl_timeline_finish(tl, 50, 450);
    size_t n;
    const sl_span *spans = spans_of(tl, &n);
    ok(n == 4 && spans[0].correlation == 1 && spans[1].correlation == 2 && spans[2].correlation == 5
           && spans[3].correlation == 9,
       "spans are sorted by correlation");
    const sl_call *calls = calls_of(tl, &n);
    ok(n == 4 && calls[0].correlation == 11 && calls[3].correlation == 19, "calls are, too");
    const sl_stream_note *notes = sl_timeline_streams(tl, &n);
    ok(n == 3 && notes[0].id == 3 && notes[1].id == 5 && notes[2].id == 7,
       "streams are sorted by id, each once");
    is_str(sl_timeline_text(tl, notes[0].name), "drei", "a second note replaces the first");
    is_int(sl_timeline_makespan_ns(tl), 103, "the makespan is from 100 to 203");
    is_int(sl_timeline_wall_ns(tl), 400, "the wall time is the host's");
    is_int(sl_timeline_add_span(tl, &spans[0], &err), SL_ESTATE,
           "a finished timeline takes no span");
    uint32_t id;
    is_int(sl_timeline_intern(tl, "new", &id, &err), SL_ESTATE, "nor a new text");
    is_int(sl_timeline_intern(tl, "five", &id, &err), SL_OK, "but finds a known one");
    sl_timeline_release(sl_timeline_retain(tl));
    is_int(sl_timeline_wall_ns(tl), 400, "a retained timeline lives on");
    sl_timeline_release(tl);
    sl_timeline_release(NULL);
}

static void test_refusals(void)
{
    sl_timeline *tl = make();
    sl_error err;
    sl_span good = { .start_ns = 1, .end_ns = 2, .correlation = 1 }, bad = good;
    bad.end_ns = 0;
    is_int(sl_timeline_add_span(tl, &bad, &err), SL_EINVAL, "a span cannot end before its start");
    ok(strstr(err.msg, "from 1 to 0") != NULL, "and the sentence says both: %s", err.msg);
    bad = good;
    bad.correlation = 0;
    is_int(sl_timeline_add_span(tl, &bad, &err), SL_EINVAL, "a span needs a correlation");
    bad = good;
    bad.kind = SL_SPAN_KINDS;
    is_int(sl_timeline_add_span(tl, &bad, &err), SL_EINVAL, "a span needs a known kind");
    bad = good;
    bad.name = 1;
    is_int(sl_timeline_add_span(tl, &bad, NULL), SL_EINVAL, "a span's texts must be known");
    bad = good;
    bad.end_ns = INT64_MAX;
    is_int(sl_timeline_add_span(tl, &bad, &err), SL_EINVAL, "a time beyond 2^61 ns is refused");
    sl_call c = { .correlation = 1, .kind = SL_CALL_KINDS };
    is_int(sl_timeline_add_call(tl, &c, &err), SL_EINVAL, "a call needs a known kind");
    sl_stream_note n = { .id = 1, .name = 77 };
    is_int(sl_timeline_add_stream(tl, &n, &err), SL_EINVAL, "a stream's name must be known");
    size_t n_spans, n_calls, n_streams;
    n_spans = sl_timeline_span_count(tl);
    n_calls = sl_timeline_call_count(tl);
    sl_timeline_streams(tl, &n_streams);
    is_int(n_spans + n_calls + n_streams, 0, "nothing refused was kept");
    sl_timeline_release(tl);
}

/* The recorder's way: added without times, edited, finished. */
static void test_times_that_come_later(void)
{
    sl_timeline *tl = make();
    sl_error err;
    size_t n;
    sl_span s = { .start_ns = SL__UNTIMED, .end_ns = SL__UNTIMED, .correlation = 3 };
    sl_call c = { .device_ns = SL__UNTIMED, .correlation = 9, .kind = SL_CALL_EVENT_RECORD };
    is_int(sl_timeline_add_span(tl, &s, &err), SL_EINVAL, "a span has times");
    is_int(sl_timeline_add_call(tl, &c, &err), SL_EINVAL, "and so has a record");
    sl__timeline_expect_times(tl);
    ok(!sl__timeline_has_untimed(tl), "unless they are expected");
    for (uint64_t i = 3; i > 0; i--) {
        s.correlation = i;
        must(sl_timeline_add_span(tl, &s, &err), &err);
    }
    must(sl_timeline_add_call(tl, &c, &err), &err);
    s = (sl_span){ .start_ns = 900, .end_ns = 950, .correlation = 4 };
    must(sl_timeline_add_span(tl, &s, &err), &err);
    ok(sl__timeline_has_untimed(tl), "then they may be missing");
    sl__timeline_sort(tl);
    ok(sl_timeline_span_count(tl) == 4 && sl_timeline_span(tl, 0).correlation == 1
           && sl_timeline_span(tl, 3).correlation == 4,
       "spans are given theirs in order");
    const sl_span later[] = { { .start_ns = 500, .end_ns = 600, .correlation = 1 },
                              { .start_ns = 700, .end_ns = 650, .correlation = 2 } };
    for (size_t i = 0; i < 2; i++)
        if (!sl__timeline_set_span(tl, i, &later[i])) abort();
    sl_timeline_finish(tl, 0, 1000);
    const sl_span *kept = spans_of(tl, &n);
    ok(n == 2 && kept[0].correlation == 1 && kept[1].correlation == 4,
       "what has no times then, or wrong ones, is taken out");
    is_int(sl_timeline_makespan_ns(tl), 450, "the makespan is that of the rest");
    is_int(calls_of(tl, &n)->device_ns, 0, "a record without a moment has none");
    sl_timeline_release(tl);
}

/* ---- launches of graphs ---- */

/* Launch 4 ran 5 (a record) and 6, launch 9 ran 10; 7 and 8 are no graph's. */
static void test_launches(void)
{
    sl_timeline *tl = make();
    sl_error err;
    uint32_t step = text_id(tl, "step");
    sl_launch_note late = { .correlation = 9, .last = 10, .graph = 2, .name = step, .n_nodes = 1 };
    sl_launch_note early = { .correlation = 4, .last = 6, .graph = 1, .name = step, .n_nodes = 1 };
    sl_node_note node = { .correlation = 6, .launch = 4, .graph = 1, .node = 0, .priority = -2 };
    must(sl_timeline_add_launch(tl, &late, &err), &err);
    must(sl_timeline_add_launch(tl, &early, &err), &err);
    must(sl_timeline_add_node(tl, &node, &err), &err);
    for (uint64_t i = 5; i <= 6; i++)
        must(sl_timeline_add_span(tl, &(sl_span){ .correlation = i }, &err), &err);
    late.name = 77;
    is_int(sl_timeline_add_launch(tl, &late, &err), SL_EINVAL,
           "a launch needs a text for its name");
    early.last = 3;
    is_int(sl_timeline_add_launch(tl, &early, &err), SL_EINVAL, "and cannot end before it begins");
    finish(tl);
    is_int(sl_timeline_add_launch(tl, &late, &err), SL_ESTATE, "nor come after finish");
    size_t n;
    const sl_launch_note *launches = sl_timeline_launches(tl, &n);
    ok(n == 2 && launches[0].correlation == 4 && launches[1].correlation == 9,
       "launches are sorted by their numbers");
    bool found = sl_timeline_find_launch(tl, 4) == launches
                 && sl_timeline_find_launch(tl, 5) == launches
                 && sl_timeline_find_launch(tl, 6) == launches
                 && sl_timeline_find_launch(tl, 10) == launches + 1;
    ok(found, "a launch is found by its own number and by those of what it ran");
    ok(!sl_timeline_find_launch(tl, 3) && !sl_timeline_find_launch(tl, 7)
           && !sl_timeline_find_launch(tl, 8) && !sl_timeline_find_launch(tl, 11),
       "other operations have none");
    sl_node_note found_node;
    ok(!sl_timeline_find_node(tl, 5, &found_node) && sl_timeline_find_node(tl, 6, &found_node)
           && found_node.priority == -2 && found_node.launch == 4,
       "a node has the priority that it was captured with");
    sl_timeline_release(tl);
}

/* Notes may come before their operations, and these in any order. */
static void test_notes_that_come_first(void)
{
    sl_timeline *tl = make();
    sl_error err;
    sl_node_note node = { .correlation = 6, .launch = 4, .graph = 1, .node = 3 };
    const sl_thread_note of_call = { 4, 2 }, of_span = { 5, 1 }, of_nothing = { 99, 6 };
    must(sl_timeline_add_node(tl, &node, &err), &err);
    must(sl_timeline_add_thread(tl, &of_call, &err), &err);
    for (uint64_t i = 6; i >= 5; i--)
        must(sl_timeline_add_span(tl, &(sl_span){ .correlation = i }, &err), &err);
    must(sl_timeline_add_thread(tl, &of_span, &err), &err);
    must(sl_timeline_add_thread(tl, &of_nothing, &err), &err);
    must(sl_timeline_add_call(tl, &(sl_call){ .correlation = 4, .kind = SL_CALL_PLAIN }, &err),
         &err);
    node.launch = 6;
    is_int(sl_timeline_add_node(tl, &node, &err), SL_EINVAL, "a node is behind its launch");
    node.correlation += UINT64_C(1) << 32;
    is_int(sl_timeline_add_node(tl, &node, &err), SL_EINVAL, "by less than 2^32");
    finish(tl);
    ok(sl_timeline_find_node(tl, 6, &node) && node.launch == 4 && node.node == 3,
       "a node's note may come before its span");
    ok(!sl_timeline_find_node(tl, 5, &node) && !sl_timeline_find_node(tl, 4, &node),
       "others are no nodes");
    is_int(sl_timeline_node_count(tl), 1, "there is one");
    ok(sl_timeline_thread(tl, 4) == 2 && sl_timeline_thread(tl, 5) == 1
           && sl_timeline_thread(tl, 6) == 0,
       "threads made a call, and the call of a span that is not the last");
    is_int(sl_timeline_thread(tl, 99), 0, "what is not there has none");
    is_int(sl_timeline_thread_count(tl), 7, "though its thread counts");
    sl_timeline_release(tl);
}

static void test_names(void)
{
    bool kinds = true, engines = true;
    for (int i = 0; i < SL_SPAN_KINDS; i++) {
        sl_span_kind kind = SL_SPAN_KINDS;
        kinds = kinds && sl_span_kind_parse(sl_span_kind_name((sl_span_kind)i), &kind)
                && (int)kind == i;
    }
    for (int i = 0; i < SL_ENGINES; i++) {
        sl_engine engine = SL_ENGINES;
        engines = engines && sl_engine_parse(sl_engine_name((sl_engine)i), &engine)
                  && (int)engine == i;
    }
    ok(kinds, "every kind's name reads back");
    ok(engines, "every engine's name reads back");
    sl_span_kind kind = SL_SPAN_MEMSET;
    ok(!sl_span_kind_parse("Kernel", &kind) && kind == SL_SPAN_MEMSET, "an unknown one does not");
    sl_timeline *tl = make();
    sl_device_info info = { .name = "NVIDIA H200", .sm_count = 132 };
    is_str(sl_timeline_device(tl)->backend, "", "without a device its texts are empty");
    char backend[] = "sim";
    info.backend = backend;
    sl_timeline_set_device(tl, &info);
    backend[0] = 'x';
    is_str(sl_timeline_device(tl)->backend, "sim", "the backend's name is copied");
    is_int(sl_timeline_device(tl)->sm_count, 132, "the device's figures are kept");
    sl_timeline_release(tl);
}

static void test_text(void)
{
    sl_text text = { 0 };
    for (int i = 0; i < 1000; i++)
        sl_text_add(&text, "%03d,", i);
    is_int(text.len, 4000, "a text grows");
    ok(memcmp(text.data, "000,001,", 8) == 0 && strcmp(text.data + 3992, "998,999,") == 0,
       "and holds what was added");
    sl_text_free(&text);
    sl_text_add(&text, "%s", "");
    is_str(text.data, "", "adding nothing gives an empty text");
    sl_text_free(&text);
    ok(text.data == NULL && text.cap == 0, "a freed text is empty");
}

int main(void)
{
    plan(59);
    test_texts();
    test_order();
    test_refusals();
    test_times_that_come_later();
    test_launches();
    test_notes_that_come_first();
    test_names();
    test_text();
    return done_testing();
}
