/* causes.h - timelines made by hand whose waits are to be explained, and explanations as
 * texts that tests can compare. Times are in microseconds.
 */
#ifndef TESTS_TIMELINE_CAUSES_H
#define TESTS_TIMELINE_CAUSES_H

#include "../../core/timeline/timeline.h"
#include "make.h"

static bool reports_holds; /* hold() adds holds; else the causes have to be inferred */

/* The engine of a kind, and the name of its operations if they have no other. */
TAP_UNUSED static const struct {
    sl_engine engine;
    const char *name;
} usual[SL_SPAN_KINDS] = {
    [SL_SPAN_KERNEL] = { SL_ENGINE_COMPUTE, "kernel" },
    [SL_SPAN_COLLECTIVE] = { SL_ENGINE_COMM, "collective" },
    [SL_SPAN_MEMCPY_H2D] = { SL_ENGINE_H2D, "h2d" },
    [SL_SPAN_MEMCPY_D2H] = { SL_ENGINE_D2H, "d2h" },
    [SL_SPAN_MEMCPY_D2D] = { SL_ENGINE_COMPUTE, "d2d" },
    [SL_SPAN_MEMCPY_P2P] = { SL_ENGINE_P2P, "p2p" },
    [SL_SPAN_MEMSET] = { SL_ENGINE_COMPUTE, "set" },
    [SL_SPAN_HOST_FUNC] = { SL_ENGINE_HOST, "host_func" },
};

TAP_UNUSED static uint64_t add(sl_timeline *tl, sl_span s)
{
    sl_error err;
    s.correlation = ++issued;
    must(sl_timeline_add_span(tl, &s, &err), &err);
    return issued;
}

/* Called from host_us[0] to [1], ran from us[0] to [1]. */
TAP_UNUSED static sl_span op(sl_timeline *tl, sl_span_kind kind, uint32_t stream, const char *name,
                             const int64_t host_us[2], const int64_t us[2])
{
    return (sl_span){ .start_ns = us[0] * 1000,
                      .end_ns = us[1] * 1000,
                      .host_start_ns = host_us[0] * 1000,
                      .host_end_ns = host_us[1] * 1000,
                      .stream = stream,
                      .kind = (uint8_t)kind,
                      .engine = (uint8_t)usual[kind].engine,
                      .name = text_id(tl, name ? name : usual[kind].name) };
}

/* Of a script of ours: work of the host is the script's, and no stall of a profiler. */
TAP_UNUSED static void of_script(sl_timeline *tl)
{
    sl_timeline_set_device(tl, &(sl_device_info){ .backend = "sim" });
}

#define AT(from, to) ((const int64_t[2]){ from, to })

TAP_UNUSED static uint64_t run(sl_timeline *tl, sl_span_kind kind, uint32_t stream,
                               const char *name, const int64_t host_us[2], const int64_t us[2])
{
    return add(tl, op(tl, kind, stream, name, host_us, us));
}

TAP_UNUSED static uint64_t run_flags(sl_timeline *tl, sl_span_kind kind, uint32_t stream,
                                     unsigned flags, const char *name, const int64_t host_us[2],
                                     const int64_t us[2])
{
    sl_span s = op(tl, kind, stream, name, host_us, us);
    s.flags = (uint8_t)flags;
    return add(tl, s);
}

TAP_UNUSED static uint64_t run_blocks(sl_timeline *tl, uint32_t stream, uint32_t blocks,
                                      const char *name, const int64_t host_us[2],
                                      const int64_t us[2])
{
    sl_span s = op(tl, SL_SPAN_KERNEL, stream, name, host_us, us);
    s.blocks = blocks;
    s.threads = 256;
    return add(tl, s);
}

/* The same of a collective. */
TAP_UNUSED static uint64_t run_collective(sl_timeline *tl, uint32_t stream, uint32_t blocks,
                                          const char *name, const int64_t host_us[2],
                                          const int64_t us[2])
{
    sl_span s = op(tl, SL_SPAN_COLLECTIVE, stream, name, host_us, us);
    s.blocks = blocks;
    s.threads = 256;
    return add(tl, s);
}

TAP_UNUSED static uint64_t add_call(sl_timeline *tl, sl_call c, const int64_t host_us[2])
{
    sl_error err;
    c.host_start_ns = host_us[0] * 1000;
    c.host_end_ns = host_us[1] * 1000;
    c.correlation = ++issued;
    must(sl_timeline_add_call(tl, &c, &err), &err);
    return issued;
}

TAP_UNUSED static uint64_t record(sl_timeline *tl, uint32_t stream, const int64_t host_us[2],
                                  int64_t at_us)
{
    return add_call(
        tl, (sl_call){ .kind = SL_CALL_EVENT_RECORD, .stream = stream, .device_ns = at_us * 1000 },
        host_us);
}

TAP_UNUSED static uint64_t wait_event(sl_timeline *tl, uint32_t stream, uint64_t target,
                                      const int64_t host_us[2], int64_t at_us)
{
    return add_call(tl,
                    (sl_call){ .kind = SL_CALL_STREAM_WAIT,
                               .stream = stream,
                               .target = target,
                               .device_ns = at_us * 1000 },
                    host_us);
}

TAP_UNUSED static void hold_start(sl_timeline *tl, uint64_t correlation, int64_t ready_us,
                                  sl_cause cause, uint64_t by, sl_cause start, uint64_t start_by)
{
    sl_error err;
    sl_hold h = {
        .correlation = correlation,
        .ready_ns = ready_us * 1000,
        .ready_by = by,
        .ready_cause = (uint8_t)cause,
        .start_cause = (uint8_t)start,
        .start_by = start_by,
    };
    if (reports_holds) must(sl_timeline_add_hold(tl, &h, &err), &err);
}

TAP_UNUSED static void hold(sl_timeline *tl, uint64_t correlation, int64_t ready_us, sl_cause cause,
                            uint64_t by)
{
    hold_start(tl, correlation, ready_us, cause, by, SL_CAUSE_NONE, 0);
}

TAP_UNUSED static void priority(sl_timeline *tl, uint32_t stream, int32_t value)
{
    sl_error err;
    sl_stream_note n = { .id = stream, .priority = value };
    must(sl_timeline_add_stream(tl, &n, &err), &err);
}

/* A GPU of 132 SMs. */
TAP_UNUSED static void on_gpu(sl_timeline *tl)
{
    sl_timeline_set_device(tl, &(sl_device_info){ .backend = "cuda", .sm_count = 132 });
}

/* Why it lost time; the timeline keeps the arrays. */
TAP_UNUSED static sl_explanation explain(const sl_timeline *tl)
{
    const sl_explanation *kept;
    sl_error err;
    must(sl_timeline_causes(tl, &kept, &err), &err);
    return *kept;
}

static void put_us(char **at, char *end, int64_t ns)
{
    *at += snprintf(*at, (size_t)(end - *at), ns % 1000 ? "%.3f" : "%.0f", (double)ns / 1000);
}

/* "event_wait compute idle 100 x1 #4<-#1 gains 52", a line each; no gain, nothing of it. */
TAP_UNUSED static const char *tell_findings(const sl_finding *findings, size_t n)
{
    static char text[8192];
    char *at = text, *end = text + sizeof text;
    *at = '\0';
    for (size_t i = 0; i < n && end - at > 200; i++) {
        const sl_finding *f = &findings[i];
        at += snprintf(at, (size_t)(end - at), "%s%s %s %s ", i > 0 ? "\n" : "",
                       sl_cause_name(f->cause), sl_engine_name(f->engine),
                       f->idle ? "idle" : "busy");
        put_us(&at, end, f->lost_ns);
        at += snprintf(at, (size_t)(end - at), " x%zu #%" PRIu64, f->n_waits, f->waiter);
        if (f->by) at += snprintf(at, (size_t)(end - at), "<-#%" PRIu64, f->by);
        if (f->gain_ns > 0) {
            at += snprintf(at, (size_t)(end - at), " gains ");
            put_us(&at, end, f->gain_ns);
        }
    }
    return text;
}

/* The parts of the makespan: "none compute 100 x1 #4", a line each. */
TAP_UNUSED static const char *tell_chain(const sl_explanation *e)
{
    static char text[8192];
    char *at = text, *end = text + sizeof text;
    *at = '\0';
    for (size_t i = 0; i < e->n_chain && end - at > 200; i++) {
        const sl_finding *f = &e->chain[i];
        at += snprintf(at, (size_t)(end - at), "%s%s ", i > 0 ? "\n" : "", sl_cause_name(f->cause));
        put_us(&at, end, f->lost_ns);
        at += snprintf(at, (size_t)(end - at), " #%" PRIu64, f->waiter);
        if (f->by) at += snprintf(at, (size_t)(end - at), "<-#%" PRIu64, f->by);
    }
    return text;
}

TAP_UNUSED static int64_t chain_sum_ns(const sl_explanation *e)
{
    int64_t sum = 0;
    for (size_t i = 0; i < e->n_chain; i++)
        sum += e->chain[i].lost_ns;
    return sum;
}

/* The kernel waits for an event behind the copy of another stream.
 *   stream 1   |H2D 5..105|record
 *   stream 2               wait 107|K 108..158| */
TAP_UNUSED static void event_wait(sl_timeline *tl)
{
    uint64_t h = run(tl, SL_SPAN_MEMCPY_H2D, 1, NULL, AT(0, 2), AT(5, 105));
    uint64_t e = record(tl, 1, AT(2, 3), 105);
    uint64_t w = wait_event(tl, 2, e, AT(3, 4), 107);
    uint64_t k = run(tl, SL_SPAN_KERNEL, 2, NULL, AT(4, 8), AT(108, 158));
    hold(tl, h, 5, SL_CAUSE_LATENCY, 0);
    hold(tl, e, 105, SL_CAUSE_STREAM_ORDER, h);
    hold(tl, w, 107, SL_CAUSE_EVENT, e);
    hold(tl, k, 108, SL_CAUSE_STREAM_ORDER, w);
}

#endif
