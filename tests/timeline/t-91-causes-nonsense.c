/* t-91-causes-nonsense.c - timelines that contradict themselves are explained all the same, in bounded
 * time.
 */
#include "sound_causes.h"

static int64_t any_ns(void)
{
    static const int64_t extremes[] = {
        0, 1, -1, 1000000, (INT64_C(1) << 61) - 1, 1 - (INT64_C(1) << 61),
    };
    return random_below(3) == 0 ? extremes[random_below(6)] : (int64_t)random_below(3000000);
}

static void any_interval(int64_t *from, int64_t *to)
{
    int64_t a = any_ns(), b = any_ns();
    *from = a < b ? a : b;
    *to = a < b ? b : a;
}

/* Launches that overlap, of graphs and nodes that may not be there. */
static void add_launches(sl_timeline *tl)
{
    sl_error err;
    for (int i = 0; i < 10; i++) {
        uint64_t from = 1 + random_below(80);
        sl_launch_note launch = { .correlation = from,
                                  .last = from + random_below(30),
                                  .graph = random_below(3),
                                  .priorities = random_below(2),
                                  .uploads = random_below(2) };
        sl_node_note node = { .correlation = from + 1 + random_below(40),
                              .launch = from,
                              .priority = (int32_t)random_below(9) - 5 };
        must(sl_timeline_add_launch(tl, &launch, &err), &err);
        must(sl_timeline_add_node(tl, &node, &err), &err);
    }
}

/* Every field that can be anything is: correlations come twice, holds name operations that
 * come later, that are not there, or that ended after the waiter had started. */
static sl_timeline *make_nonsense(uint64_t number)
{
    sl_timeline *tl = make();
    sl_error err;
    seed(number);
    on_gpu(tl);
    uint32_t name = text_id(tl, "x");
    for (int i = 0; i < 60; i++) {
        sl_span s = {
            .correlation = 1 + random_below(80),
            .stream = random_below(4),
            .kind = (uint8_t)random_below(SL_SPAN_KINDS),
            .name = random_below(2) * name,
            .engine = (uint8_t)random_below(SL_ENGINES),
            .blocks = random_below(1000),
            .flags = (uint8_t)random_below(64),
        };
        any_interval(&s.start_ns, &s.end_ns);
        any_interval(&s.host_start_ns, &s.host_end_ns);
        must(sl_timeline_add_span(tl, &s, &err), &err);
        sl_call c = {
            .correlation = 1 + random_below(80),
            .stream = random_below(4),
            .kind = (uint8_t)random_below(SL_CALL_KINDS),
            .target = random_below(90),
            .device_ns = any_ns(),
            .queue_full = (uint8_t)random_below(2),
            .waited_for_device = (uint8_t)random_below(2),
        };
        any_interval(&c.host_start_ns, &c.host_end_ns);
        must(sl_timeline_add_call(tl, &c, &err), &err);
        sl_hold h = {
            .correlation = 1 + random_below(80),
            .ready_ns = any_ns(),
            .start_by = random_below(90),
            .ready_cause = (uint8_t)random_below(SL_CAUSES),
            .start_cause = (uint8_t)random_below(SL_CAUSES),
        };
        h.ready_by = random_below((uint32_t)h.correlation);
        if (number % 2 == 0) must(sl_timeline_add_hold(tl, &h, &err), &err);
    }
    if (number % 3 == 0) add_launches(tl);
    finish(tl);
    return tl;
}

static void test_nonsense(void)
{
    soundness wrong = { 0 };
    for (uint64_t number = 1; number <= 400; number++) {
        sl_timeline *tl = make_nonsense(number);
        examine(tl, &wrong);
        free(text_of(tl));
        sl_timeline_release(tl);
    }
    report(&wrong, "400 timelines that cannot be");
}

/* Each gap's walk goes through all operations of the host, and through a chain that lies
 * behind it: too many steps in all, so that the rest is unknown. */
static void test_steps(void)
{
    enum { GAPS = 3000 };
    sl_timeline *tl = make();
    sl_error err;
    for (int i = 0; i < GAPS; i++)
        add_call(tl, (sl_call){ .kind = SL_CALL_PLAIN }, AT(0, 0));
    for (int64_t i = 0; i < GAPS; i++) {
        sl_span s = {
            .start_ns = i * 10,
            .end_ns = i * 10 + 1,
            .stream = (uint32_t)i,
            .correlation = ++issued,
        };
        sl_hold h = {
            .correlation = s.correlation,
            .ready_ns = 20 * GAPS,
            .ready_cause = SL_CAUSE_LATENCY,
        };
        must(sl_timeline_add_span(tl, &s, &err), &err);
        must(sl_timeline_add_hold(tl, &h, &err), &err);
    }
    finish(tl);
    soundness wrong = { 0 };
    examine(tl, &wrong);
    is_int(wrong.findings + wrong.waits + wrong.gaps + wrong.chain, 0,
           "a timeline with far too many steps is explained, as far as they reach");
    sl_timeline_release(tl);
}

int main(void)
{
    plan(6);
    test_nonsense();
    test_steps();
    return done_testing();
}
