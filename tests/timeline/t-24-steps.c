/* t-24-steps.c - steps: how long each took, for how long the GPU worked in it, and what took longer
 * in one than in another.
 *
 *   ns        0 ... 100      100 ... 250               250 . 340   340 . 460
 *   step      s#1            s#2                       s#3         s#4
 *   thread 0  op 10..60      op 110..160
 *               launch 20..30  launch 120..130, cudaMalloc 130..150
 *             sync 60..90    sync 160..230
 *   thread 1                                           launch 255..256
 *   GPU       k 40..80       k 140..200                copy 300 ...... 400
 */
#include "../../core/timeline/step_names.h"
#include "make.h"

static void range(sl_timeline *tl, sl_host_range_kind kind, const char *name, int64_t start_ns,
                  int64_t end_ns)
{
    sl_error err;
    const sl_host_range r = { .start_ns = start_ns,
                              .end_ns = end_ns,
                              .name = text_id(tl, name),
                              .thread = 0,
                              .kind = (uint8_t)kind };
    must(sl_timeline_add_host_range(tl, &r, &err), &err);
}

static void work(sl_timeline *tl, const char *name, sl_span_kind kind, const int64_t host_ns[2],
                 const int64_t ns[2])
{
    sl_error err;
    const sl_span s = { .start_ns = ns[0],
                        .end_ns = ns[1],
                        .host_start_ns = host_ns[0],
                        .host_end_ns = host_ns[1],
                        .stream = 1,
                        .correlation = ++issued,
                        .kind = (uint8_t)kind,
                        .name = text_id(tl, name) };
    must(sl_timeline_add_span(tl, &s, &err), &err);
}

static void host(sl_timeline *tl, sl_call_kind kind, const char *name, int64_t start_ns,
                 int64_t end_ns)
{
    sl_error err;
    const sl_call c = { .host_start_ns = start_ns,
                        .host_end_ns = end_ns,
                        .correlation = ++issued,
                        .kind = (uint8_t)kind,
                        .name = text_id(tl, name) };
    must(sl_timeline_add_call(tl, &c, &err), &err);
}

static sl_timeline *make_steps(void)
{
    sl_timeline *tl = make();
    sl_error err;
    range(tl, SL_HOST_RANGE_STEP, "s#2", 100, 250);
    range(tl, SL_HOST_RANGE_STEP, "s#1", 0, 100);
    range(tl, SL_HOST_RANGE_STEP, "s#3", 250, 340);
    range(tl, SL_HOST_RANGE_STEP, "s#4", 340, 460);
    range(tl, SL_HOST_RANGE_OPERATOR, "op", 10, 60);
    range(tl, SL_HOST_RANGE_LIBRARY, "torch/nn: forward", 12, 58);
    range(tl, SL_HOST_RANGE_OPERATOR, "op", 110, 160);
    work(tl, "k", SL_SPAN_KERNEL, (int64_t[]){ 20, 30 }, (int64_t[]){ 40, 80 });
    host(tl, SL_CALL_STREAM_SYNC, "", 60, 90);
    work(tl, "k", SL_SPAN_KERNEL, (int64_t[]){ 120, 130 }, (int64_t[]){ 140, 200 });
    host(tl, SL_CALL_PLAIN, "cudaMalloc", 130, 150);
    host(tl, SL_CALL_STREAM_SYNC, "", 160, 230);
    work(tl, "copy", SL_SPAN_MEMCPY_H2D, (int64_t[]){ 255, 256 }, (int64_t[]){ 300, 400 });
    const sl_thread_note thread = { issued, 1 };
    must(sl_timeline_add_thread(tl, &thread, &err), &err);
    sl_timeline_finish(tl, 0, 500);
    return tl;
}

static void test_list(void)
{
    sl_timeline *tl = make_steps();
    sl_step *steps;
    size_t n, median, slowest;
    sl_error err;
    must(sl_timeline_steps(tl, &steps, &n, &err), &err);
    is_int((int64_t)n, 4, "each step is there");
    is_str(sl_timeline_text(tl, steps[0].name), "s#1", "in the order in which they began");
    is_int(steps[0].busy_ns, 40, "the GPU works in it from 40 to 80");
    is_int(steps[1].busy_ns, 60, "in the second one from 140 to 200");
    is_int(steps[2].busy_ns, 40, "in the third one from 300 on");
    is_int(steps[3].busy_ns, 60, "and in the last one, which launched nothing, until 400");
    ok(sl_steps_extremes(steps, n, &median, &slowest), "of several");
    is_int((int64_t)slowest, 1, "one is the longest");
    is_int((int64_t)median, 0, "and one in the middle: 90, 100, 120, 150");
    ok(!sl_steps_extremes(steps, 1, &median, &slowest), "of one there is none");
    free(steps);
    sl_timeline_release(tl);
}

static void test_rows(void)
{
    sl_timeline *tl = make_steps();
    sl_share *shares;
    size_t n;
    sl_error err;
    must(sl_timeline_breakdown(tl, SL_BY_STEP, &shares, &n, &err), &err);
    is_int((int64_t)n, 4, "a step has a row also if it launched nothing");
    is_int(shares[1].wall_ns, 150, "with its length");
    is_int(shares[1].ran_ns, 60, "and how long the GPU worked in it");
    is_int((int64_t)shares[3].n, 0, "the last one has no operation");
    is_int(shares[3].ran_ns, 60, "but work of another step ran in it");
    is_int(shares[2].sum_ns, 100, "which that step has launched, by another thread");
    free(shares);
    sl_timeline_release(tl);
}

static const sl_step_change *find(const sl_step_change *changes, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(changes[i].name, name) == 0) return &changes[i];
    return &(const sl_step_change){ .part = SL_STEP_PARTS, .name = "" };
}

static void test_changes(void)
{
    sl_timeline *tl = make_steps();
    sl_step *steps;
    sl_step_change *changes;
    size_t n;
    int64_t was_ns = 0, is_ns = 0;
    sl_error err;
    must(sl_timeline_steps(tl, &steps, &n, &err), &err);
    must(sl_timeline_step_changes(tl, &steps[0], &steps[1], &changes, &n, &err), &err);
    is_str(changes[0].name, "cudaStreamSynchronize", "what took longest comes first");
    ok(changes[0].part == SL_STEP_WAIT && changes[0].was_ns == 30 && changes[0].is_ns == 70,
       "the host waited for 70 instead of 30");
    const sl_step_change *c = find(changes, n, "cudaMalloc");
    ok(c->part == SL_STEP_CALL && c->was_ns == 0 && c->is_ns == 20 && c->n_was == 0 && c->n_is == 1,
       "a call that the other one has not");
    c = find(changes, n, "op");
    ok(c->part == SL_STEP_RANGE && c->was_ns == 40 && c->is_ns == 20,
       "a range has its time without that of calls in it; functions of a library do not count");
    c = find(changes, n, "cudaLaunchKernel");
    ok(c->was_ns == 10 && c->is_ns == 10, "a launch is a call");
    c = find(changes, n, "");
    ok(c->part == SL_STEP_HOST && c->was_ns == 20 && c->is_ns == 30, "what is left has no name");
    c = find(changes, n, "k");
    ok(c->part == SL_STEP_GPU && c->was_ns == 40 && c->is_ns == 60, "operations have their time");
    for (size_t i = 0; i < n; i++) {
        was_ns += changes[i].part == SL_STEP_GPU ? 0 : changes[i].was_ns;
        is_ns += changes[i].part == SL_STEP_GPU ? 0 : changes[i].is_ns;
    }
    is_int(was_ns, 100, "the host's parts add up to a step");
    is_int(is_ns, 150, "and to the other one");
    free(changes);
    free(steps);
    sl_timeline_release(tl);
}

/* Two ranges that overlap: the one that began last has the time. After its end the other one goes
 * on. */
static void test_crossing(void)
{
    sl_timeline *tl = make();
    sl_step *steps;
    sl_step_change *changes;
    size_t n;
    sl_error err;
    range(tl, SL_HOST_RANGE_STEP, "s#1", 0, 1);
    range(tl, SL_HOST_RANGE_STEP, "s#2", 10, 100);
    range(tl, SL_HOST_RANGE_NVTX, "s#2", 10, 100);
    range(tl, SL_HOST_RANGE_NVTX, "a", 0, 50);
    range(tl, SL_HOST_RANGE_OPERATOR, "b", 40, 60);
    range(tl, SL_HOST_RANGE_NVTX, "c", 90, 200);
    sl_timeline_finish(tl, 0, 200);
    must(sl_timeline_steps(tl, &steps, &n, &err), &err);
    must(sl_timeline_step_changes(tl, &steps[0], &steps[1], &changes, &n, &err), &err);
    is_int(find(changes, n, "a")->is_ns, 30, "from the step's start to the other one's");
    is_int(find(changes, n, "a")->was_ns, 1, "the first step lies in it");
    is_int(find(changes, n, "b")->is_ns, 20, "which then has its own time");
    is_int(find(changes, n, "c")->is_ns, 10, "to the step's end");
    is_int(find(changes, n, "")->is_ns, 30, "60 to 90 are left, which the step's range is not");
    free(changes);
    free(steps);
    sl_timeline_release(tl);
}

static void test_none(void)
{
    sl_timeline *tl = make();
    sl_step *steps;
    size_t n;
    sl_error err;
    sl_timeline_finish(tl, 0, 10);
    must(sl_timeline_steps(tl, &steps, &n, &err), &err);
    is_int((int64_t)n, 0, "a timeline may have no steps");
    free(steps);
    sl_timeline_release(tl);
}

/* A profiler that was started twice, and a step that two threads mark. */
static void test_same_name(void)
{
    sl_timeline *tl = make();
    sl_error err;
    sl_step *steps;
    size_t n;
    int64_t number = 0;
    range(tl, SL_HOST_RANGE_STEP, "s#3", 0, 100);
    range(tl, SL_HOST_RANGE_STEP, "s#4", 100, 200);
    range(tl, SL_HOST_RANGE_STEP, "s#3", 300, 400);
    range(tl, SL_HOST_RANGE_STEP, "s#3", 310, 400);
    sl_timeline_finish(tl, 0, 500);
    must(sl_timeline_steps(tl, &steps, &n, &err), &err);
    is_int((int64_t)n, 4, "steps of one name are as many as there are");
    is_str(sl_timeline_text(tl, steps[0].name), "s#3", "the first has the name,");
    is_str(sl_timeline_text(tl, steps[1].name), "s#4", "others keep theirs,");
    is_str(sl_timeline_text(tl, steps[2].name), "s#3 (2)", "the second says that it is,");
    is_str(sl_timeline_text(tl, steps[3].name), "s#3 (3)", "and the third");
    ok(sl_step_number("s#3 (2)", &number) && number == 3, "all are step 3");
    ok(!sl_step_number("s (2)", &number), "a name with nothing but such a number is none");
    ok(!sl_step_number("(2)", &number), "nor is such a number alone");
    free(steps);
    sl_timeline_release(tl);
}

int main(void)
{
    test_same_name();
    test_list();
    test_rows();
    test_changes();
    test_crossing();
    test_none();
    return done_testing();
}
