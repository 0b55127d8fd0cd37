/* t-23-part.c - a part of a timeline: what the host began during steps, or during ranges of a name.
 *
 *   ns        0 .. 30              30 .. 60            60 .. 90
 *   step      ProfilerStep#4       ProfilerStep#5      ProfilerStep#11
 *   thread 0  kernel, record       wait, kernel        kernel
 *   thread 1                       |load 32 .. 38| kernel
 *
 * Each call takes 2 ns, 10 ns apart: correlation n begins at 10 n.
 */
#include "make.h"

#include "../../core/timeline/step_names.h"

static void range(sl_timeline *tl, sl_host_range_kind kind, uint32_t thread, const char *name,
                  int64_t start_ns, int64_t end_ns)
{
    sl_error err;
    const sl_host_range r = { .start_ns = start_ns,
                              .end_ns = end_ns,
                              .name = text_id(tl, name),
                              .thread = thread,
                              .kind = (uint8_t)kind };
    must(sl_timeline_add_host_range(tl, &r, &err), &err);
}

static sl_timeline *make_steps(void)
{
    sl_timeline *tl = make();
    sl_error err;
    range(tl, SL_HOST_RANGE_STEP, 0, "ProfilerStep#4", 5, 35);
    range(tl, SL_HOST_RANGE_STEP, 0, "ProfilerStep#5", 35, 65);
    range(tl, SL_HOST_RANGE_STEP, 0, "ProfilerStep#11", 65, 95);
    range(tl, SL_HOST_RANGE_ANNOTATION, 1, "load", 55, 63);
    range(tl, SL_HOST_RANGE_NVTX, 0, "loader", 85, 89);
    kernel(tl, 1, 20, 120);                                          /* 1 */
    const uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0); /* 2 */
    kernel(tl, 1, 120, 125);                                         /* 3 */
    call(tl, SL_CALL_STREAM_WAIT, 2, record, 1);                     /* 4 */
    kernel(tl, 2, 125, 140);                                         /* 5 */
    kernel(tl, 2, 140, 150);                                         /* 6, by thread 1 */
    const sl_thread_note thread = { 6, 1 };
    must(sl_timeline_add_thread(tl, &thread, &err), &err);
    const sl_hold hold = {
        .correlation = 5, .ready_ns = 125, .ready_by = 3, .ready_cause = SL_CAUSE_EVENT
    };
    must(sl_timeline_add_hold(tl, &hold, &err), &err);
    kernel(tl, 1, 150, 160); /* 7 */
    note(tl, 2, "side", true);
    must(sl_timeline_set_source(tl, text_id(tl, "x.lua:3"), "lab.spin(1)", &err), &err);
    finish(tl);
    return tl;
}

static sl_timeline *part_of(const sl_timeline *tl, sl_part_choice choice)
{
    sl_timeline *part;
    sl_error err;
    must(sl_timeline_part(tl, &choice, &part, &err), &err);
    return part;
}

/* The correlations of its spans, as digits. */
static const char *spans_in(const sl_timeline *tl)
{
    static char digits[32];
    size_t n = sl_timeline_span_count(tl);
    for (size_t i = 0; i < n; i++)
        digits[i] = (char)('0' + sl_timeline_span(tl, i).correlation);
    digits[n] = '\0';
    return digits;
}

static void test_steps(void)
{
    sl_timeline *tl = make_steps();
    sl_timeline *part = part_of(tl, (sl_part_choice){ .first_step = 5, .last_step = 5 });
    is_str(spans_in(part), "56", "a step has what was begun during it, by any thread");
    is_int((int64_t)sl_timeline_call_count(part), 1, "calls, too");
    is_int((int64_t)sl_timeline_call(part, 0).target, 0,
           "what a wait is for is not known if that lies outside");
    sl_hold hold;
    ok(sl_timeline_find_hold(part, 5, &hold) && hold.ready_by == 0
           && hold.ready_cause == SL_CAUSE_EVENT,
       "nor what held an operation, but why it was held");
    is_int(sl_timeline_wall_ns(part), 30, "it lasts as long as the step");
    is_int(sl_timeline_makespan_ns(part), 25, "and its work from 125 to 150");
    is_int(sl_timeline_thread(part, 6), 1, "threads stay");
    char buffer[SL_STREAM_NAME_BYTES];
    is_str(sl_timeline_stream_name(part, 2, buffer), "side", "so do streams' names");
    is_str(sl_timeline_source(part, text_id(part, "x.lua:3")), "lab.spin(1)", "and lines");
    is_int((int64_t)sl_timeline_host_range_count(part), 2, "ranges are those that reach into it");
    sl_timeline_release(part);
    part = part_of(tl, (sl_part_choice){ .first_step = 4, .last_step = 6 });
    is_str(spans_in(part), "1356", "several steps are one part; 11 is not from 4 to 6");
    is_int((int64_t)sl_timeline_call(part, 1).target, 2, "in which a wait has its record");
    ok(sl_timeline_find_hold(part, 5, &hold) && hold.ready_by == 3, "and a hold its operation");
    sl_timeline_release(part);
    sl_timeline_release(tl);
}

static void test_ranges(void)
{
    sl_timeline *tl = make_steps();
    sl_timeline *part = part_of(tl, (sl_part_choice){ .name = "load" });
    is_str(spans_in(part), "6", "a range has what its own thread began");
    sl_timeline_release(part);
    part = part_of(tl, (sl_part_choice){ .name = "load*" });
    is_str(spans_in(part), "6", "of all ranges that the pattern matches; one has no work");
    is_int(sl_timeline_wall_ns(part), 34, "from 55 to 89, since its work is launched in between");
    sl_timeline_release(part);
    part = part_of(tl, (sl_part_choice){ .name = "ProfilerStep#1?" });
    is_str(spans_in(part), "7", "steps have names, too");
    sl_timeline *again = part_of(part, (sl_part_choice){ .first_step = 11, .last_step = 11 });
    is_str(spans_in(again), "7", "and a part has parts");
    sl_timeline_release(again);
    sl_timeline_release(part);
    sl_timeline_release(tl);
}

/*   ns       0 . 20        100 . 120 .......... 200000 . 200020
 *   range    |mm|          |mm|                 |mm|
 *   calls     a:10  b:50    c:110                d: 200010   (each 2 ns)
 *   stream 1    a 12..60  b 60..90  c 112..130    d 300000..300040
 *
 * Of the time between, a runs 20 to 60; b is not in the part; c runs 120 to 130, and what the launch
 * of d took is SL__LAUNCH_NS. */
static void work(sl_timeline *tl, int64_t call_ns, int64_t start_ns, int64_t end_ns)
{
    sl_error err;
    const sl_span s = { .start_ns = start_ns,
                        .end_ns = end_ns,
                        .host_start_ns = call_ns,
                        .host_end_ns = call_ns + 2,
                        .stream = 1,
                        .correlation = ++issued,
                        .kind = SL_SPAN_KERNEL,
                        .name = text_id(tl, "k") };
    must(sl_timeline_add_span(tl, &s, &err), &err);
}

static sl_timeline *make_repeated(void)
{
    sl_timeline *tl = make();
    range(tl, SL_HOST_RANGE_OPERATOR, 0, "mm", 0, 20);
    range(tl, SL_HOST_RANGE_OPERATOR, 0, "add", 40, 70);
    range(tl, SL_HOST_RANGE_OPERATOR, 0, "mm", 100, 120);
    range(tl, SL_HOST_RANGE_OPERATOR, 0, "mm", 200000, 200020);
    work(tl, 10, 12, 60);
    work(tl, 50, 60, 90);
    work(tl, 110, 112, 130);
    const uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    work(tl, 200010, 300000, 300040);
    const sl_hold hold = { .correlation = issued, .ready_ns = 200012 };
    sl_error err;
    must(sl_timeline_add_hold(tl, &hold, &err), &err);
    is_int((int64_t)record, 4, "a record is between the ranges");
    sl_timeline_finish(tl, 0, 300100);
    return tl;
}

/* Kept are 0..60, 100..130, 200000..200020 and 288000..300040, one behind the other. */
static void test_repeated(void)
{
    sl_timeline *tl = make_repeated();
    sl_timeline *part = part_of(tl, (sl_part_choice){ .name = "mm" });
    is_str(spans_in(part), "135", "a range that comes three times has three operations");
    is_int(sl_timeline_span(part, 0).end_ns, 60, "up to the first end times stay");
    is_int(sl_timeline_span(part, 1).host_start_ns, 70, "40 ns are left out before the second");
    is_int(sl_timeline_span(part, 1).start_ns, 72, "on the device, too");
    is_int(sl_timeline_span(part, 2).host_start_ns, 100, "then 199870");
    is_int(sl_timeline_span(part, 2).start_ns, 110 + 12000,
           "and 87980, but for what a launch takes");
    is_int(sl_timeline_span(part, 2).end_ns, 110 + 12040, "durations stay");
    sl_hold hold;
    ok(sl_timeline_find_hold(part, 5, &hold) && hold.ready_ns == 102, "holds are moved, too");
    is_int(sl_timeline_wall_ns(part), 110,
           "the host's time is that of the ranges and of their work");
    is_int(sl_timeline_makespan_ns(part), 12138, "the makespan may be longer: work ends later");
    is_int((int64_t)sl_timeline_host_range_count(part), 4, "a range that reaches into it is there");
    size_t n;
    const sl_doubt *doubts = sl_timeline_doubts(part, &n);
    is_int((int64_t)n, 1, "it is said");
    ok(doubts[0].kind == SL_DOUBT_LEFT_OUT && doubts[0].n == 3 && doubts[0].ns == 287890,
       "how long, and how often");
    ok(strstr(doubts[0].sentence, "288 us are left out (3 times)") != NULL, "in a sentence");
    sl_timeline_release(part);
    part = part_of(tl, (sl_part_choice){ .name = "add" });
    sl_timeline_doubts(part, &n);
    is_int((int64_t)n, 0, "of one range nothing is left out");
    is_int(sl_timeline_span(part, 0).start_ns, 60, "and times stay");
    sl_timeline_release(part);
    sl_timeline_release(tl);
}

/* The device waits between the ranges, for work of others: that is no loss of the part. */
static void test_no_loss_between(void)
{
    sl_timeline *tl = make();
    sl_error err;
    for (int64_t i = 0; i < 10; i++) {
        const int64_t at_ns = i * 1000000;
        range(tl, SL_HOST_RANGE_OPERATOR, 0, "mm", at_ns, at_ns + 20000);
        work(tl, at_ns + 2000, at_ns + 6000, at_ns + 16000);
    }
    sl_timeline_finish(tl, 0, 10000000);
    sl_timeline *part = part_of(tl, (sl_part_choice){ .name = "mm" });
    const sl_explanation *explanation;
    must(sl_timeline_causes(part, &explanation, &err), &err);
    is_int(sl_timeline_makespan_ns(part), 190000,
           "ten ranges of 20 us, from 6 us on, to 4 us less");
    is_int(explanation->idle_ns, 90000, "the device is idle for 10 us between two operations");
    ok(explanation->joint_gain_ns <= 90000, "and no more can be gained");
    sl_timeline_release(part);
    sl_timeline_release(tl);
}

static void test_operations(void)
{
    sl_timeline *tl = make_steps();
    sl_timeline *part = part_of(tl, (sl_part_choice){ .skip = 1, .count = 2 });
    is_str(spans_in(part), "35", "two operations behind the first one, in order of issue");
    is_int((int64_t)sl_timeline_call_count(part), 1, "with the calls between them");
    sl_timeline_release(part);
    part = part_of(tl, (sl_part_choice){ .count = 3 });
    is_str(spans_in(part), "135", "or the first ones");
    sl_timeline_release(part);
    part = part_of(tl, (sl_part_choice){ .skip = 3, .count = SIZE_MAX });
    is_str(spans_in(part), "67", "or all that are left");
    sl_timeline_release(part);
    part = part_of(tl, (sl_part_choice){ .count = 5 });
    is_str(spans_in(part), "13567", "or all that there are");
    is_int(sl_timeline_wall_ns(part), sl_timeline_wall_ns(tl), "which last as long as the whole");
    sl_timeline_release(part);
    const sl_part_choice none = { .skip = 5, .count = 1 };
    sl_error err;
    is_int(sl_timeline_part(tl, &none, &part, &err), SL_ENOTFOUND, "but none is no part");
    ok(strstr(err.msg, "has 5 operations") != NULL, "and it says how many there are");
    sl_timeline_release(tl);
}

/* In ns from 20 on, the first start: k 0..100, k 100..105, k 105..120, k 120..130, k 130..140; each
 * is in the place that its correlation has in make_steps. */
static void test_time(void)
{
    sl_timeline *tl = make_steps();
    sl_timeline *part = part_of(tl,
                                (sl_part_choice){ .is_time = true, .from_ns = 90, .to_ns = 110 });
    is_str(spans_in(part), "135", "what runs in a time, wholly or in part");
    is_int(sl_timeline_span(part, 0).start_ns, 110, "what began earlier is cut");
    is_int(sl_timeline_span(part, 0).end_ns, 120, "and ends where it ended");
    is_int(sl_timeline_span(part, 1).end_ns - sl_timeline_span(part, 1).start_ns, 5,
           "what lies in it is whole");
    is_int(sl_timeline_span(part, 2).end_ns, 130, "what goes on is cut at the end");
    is_int(sl_timeline_span(part, 0).host_start_ns, 10, "its call was earlier");
    is_int(sl_timeline_wall_ns(part), 20, "it lasts for that time");
    is_int(sl_timeline_makespan_ns(part), 20, "in which the device worked");
    sl_timeline_release(part);
    part = part_of(tl, (sl_part_choice){ .is_time = true, .from_ns = 120, .to_ns = INT64_MAX });
    is_str(spans_in(part), "67", "an operation that ends where the time begins is not in it");
    sl_timeline_release(part);
    part = part_of(tl, (sl_part_choice){ .is_time = true, .from_ns = 0, .to_ns = 22 });
    is_int((int64_t)sl_timeline_call_count(part), 2, "calls are those that the host made then");
    is_int(sl_timeline_call(part, 1).host_end_ns, 42, "each whole where it ends by then");
    sl_timeline_release(part);
    part = part_of(tl, (sl_part_choice){ .is_time = true, .from_ns = 0, .to_ns = 21 });
    is_int(sl_timeline_call(part, 1).host_end_ns, 41, "else cut");
    sl_timeline_release(part);
    const sl_part_choice none = { .is_time = true, .from_ns = 140, .to_ns = 200 };
    sl_error err;
    is_int(sl_timeline_part(tl, &none, &part, &err), SL_ENOTFOUND, "nothing runs at the end");
    is_str(err.msg,
           "nothing runs from 0.140 us to 0.200 us; operations run from 0.000 us to 0.140 us",
           "and it says when something does");
    sl_timeline_release(tl);
}

/* Of 5 operations and 2 calls the second step has 2 and 1; from 125 to 150 its GPU is never idle. */
static void test_doubts(void)
{
    sl_timeline *tl = make_steps();
    size_t n;
    sl_error err;
    const sl_doubt all[] = {
        { SL_DOUBT_CUT_OFF, 1, 0, 0, 0, "The file ends." },
        { SL_DOUBT_BEFORE_CALL, 8, 36, 0, 0, "8 operations start early." },
        { SL_DOUBT_PROFILER_COST, 700, 70, 0, 0, "Recording 700 operators took about 70 ns." },
        { SL_DOUBT_NO_NODES, 2, 0, 1, 25, "Two launches have no operations." },
        { SL_DOUBT_NO_OPERATION, 1, 0, 1, 52, "One launch has no operation." },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        must(sl_timeline_add_doubt(tl, &all[i], &err), &err);
    sl_timeline *part = part_of(tl, (sl_part_choice){ .first_step = 5, .last_step = 5 });
    const sl_doubt *doubts = sl_timeline_doubts(part, &n);
    is_int(
        (int64_t)n, 3,
        "what the profiler cost is left out where the device was not idle, and what lies outside");
    is_str(doubts[0].sentence, "The file ends.", "what is said about the file stays");
    is_str(doubts[1].sentence, "Of the whole trace: 8 operations start early.",
           "what counts operations is said to be of the whole");
    is_str(doubts[2].sentence, "Of the whole trace: one launch has no operation.",
           "so is what may lie in the part");
    sl_timeline *again = part_of(part, (sl_part_choice){ .first_step = 5, .last_step = 5 });
    doubts = sl_timeline_doubts(again, &n);
    is_str(doubts[1].sentence, "Of the whole trace: 8 operations start early.", "once");
    sl_timeline_release(again);
    sl_timeline_release(part);
    sl_timeline_release(tl);
}

/* A part has half of the operations, and was idle for 90000 ns. */
static void test_cost(void)
{
    sl_timeline *tl = make();
    size_t n;
    sl_error err;
    range(tl, SL_HOST_RANGE_OPERATOR, 0, "mm", 0, 1500000);
    for (int64_t i = 0; i < 4; i++)
        work(tl, i * 1000000 + 2000, i * 1000000 + 6000, i * 1000000 + 16000);
    sl_timeline_finish(tl, 0, 10000000);
    const sl_doubt cost = { SL_DOUBT_PROFILER_COST, 700, 30000, 0, 0, "of the whole" };
    must(sl_timeline_add_doubt(tl, &cost, &err), &err);
    sl_timeline *part = part_of(tl, (sl_part_choice){ .name = "mm" });
    const sl_doubt *doubts = sl_timeline_doubts(part, &n);
    ok(n == 1 && doubts[0].n == 350 && doubts[0].ns == 15000, "its cost is as much smaller");
    is_str(doubts[0].sentence,
           "The profiler slows the host down: recording about 350 operators and calls of this part "
           "took about 15.0 us of it.",
           "and a sentence says so");
    sl_timeline_release(part);
    sl_timeline_release(tl);
}

static void test_refused(void)
{
    sl_timeline *tl = make_steps(), *part = tl;
    sl_error err;
    const sl_part_choice none = { .first_step = 6, .last_step = 10 }, name = { .name = "x" };
    is_int(sl_timeline_part(tl, &none, &part, &err), SL_ENOTFOUND, "no step, no part");
    ok(!part && strstr(err.msg, "\"ProfilerStep#4\""), "the message names steps that there are");
    is_int(sl_timeline_part(tl, &name, &part, &err), SL_ENOTFOUND, "no range, no part");
    ok(strstr(err.msg, "\"x\"") && strstr(err.msg, "\"load\""), "with the name, and others");
    sl_timeline_release(tl);
    tl = make();
    range(tl, SL_HOST_RANGE_NVTX, 0, "epoch", 5, 35);
    finish(tl);
    is_int(sl_timeline_part(tl, &name, &part, &err), SL_ENOTFOUND, "nor in a recording");
    ok(strstr(err.msg, "it has \"epoch\""), "which has ranges of NVTX");
    sl_timeline_release(tl);
    tl = make();
    must(sl_timeline_keep_summary(tl, &err), &err);
    finish(tl);
    is_int(sl_timeline_part(tl, &name, &part, &err), SL_EUNSUPPORTED, "a summary has no parts");
    sl_timeline_release(tl);
}

static void test_numbers(void)
{
    int64_t number;
    ok(sl_step_number("ProfilerStep#550", &number) && number == 550, "a step's number is known");
    ok(!sl_step_number("ProfilerStep#", &number), "a name may have none");
    ok(!sl_step_number("ProfilerStep#5x", &number), "or something behind it");
    ok(!sl_step_number("ProfilerStep#9999999999999999999", &number), "or too large a one");
    ok(!sl_step_number("step", &number), "or none at all");
}

int main(void)
{
    test_steps();
    test_ranges();
    test_repeated();
    test_no_loss_between();
    test_operations();
    test_time();
    test_doubts();
    test_cost();
    test_refused();
    test_numbers();
    return done_testing();
}
