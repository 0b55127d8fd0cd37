/* t-34-idle.c - why a GPU was idle, in timelines worked out by hand. Times are in microseconds. */
#include "causes.h"

/* "copy 100/0 x1", a line a row: no kernel ran, nothing did, how many stretches. */
static const char *tell_rows(const sl_idle *idle)
{
    static char text[2048];
    char *at = text, *end = text + sizeof text;
    *at = '\0';
    for (size_t i = 0; i < idle->n && end - at > 200; i++) {
        const sl_idle_row *row = &idle->rows[i];
        at += snprintf(at, (size_t)(end - at), "%s%s%s%s ", i > 0 ? "\n" : "",
                       sl_idle_kind_name(row->kind), *row->call ? " " : "", row->call);
        put_us(&at, end, row->no_kernel_ns);
        at += snprintf(at, (size_t)(end - at), "/");
        put_us(&at, end, row->nothing_ns);
        at += snprintf(at, (size_t)(end - at), " x%zu", row->n);
    }
    return text;
}

static void check_idle(void (*build)(sl_timeline *), bool reported, int64_t no_kernel_us,
                       int64_t nothing_us, const char *rows, const char *what)
{
    sl_timeline *tl = make();
    sl_error err;
    sl_idle idle;
    int64_t no_kernel_ns = 0, nothing_ns = 0;
    reports_holds = reported;
    build(tl);
    sl_timeline_finish(tl, 0, 10000000);
    must(sl_timeline_idle(tl, 0, &idle, &err), &err);
    for (size_t i = 0; i < idle.n; i++) {
        no_kernel_ns += idle.rows[i].no_kernel_ns;
        nothing_ns += idle.rows[i].nothing_ns;
    }
    is_int(idle.no_kernel_ns, no_kernel_us * 1000, "%s: no kernel ran", what);
    is_int(idle.nothing_ns, nothing_us * 1000, "%s: nothing ran", what);
    ok(no_kernel_ns == idle.no_kernel_ns && nothing_ns == idle.nothing_ns,
       "%s: the rows add up to both", what);
    is_str(tell_rows(&idle), rows, "%s: why", what);
    free(idle.rows);
    sl_timeline_release(tl);
}

/* The host waits for K1, works, allocates, and goes on; what it did counts 3 later, when the work
 * behind it came. No kernel comes behind K2.
 *   host   K1[0..4] sync[4..26]   ...   cudaMalloc[80..100] K2[100..104] D2H[104..106]
 *   GPU    |K1 5..25|                                        |K2 107..127|  |D2H 128..168| */
static void host_in_between(sl_timeline *tl)
{
    uint64_t k1 = run(tl, SL_SPAN_KERNEL, 1, "K1", AT(0, 4), AT(5, 25));
    add_call(tl, (sl_call){ .kind = SL_CALL_STREAM_SYNC, .stream = 1 }, AT(4, 26));
    add_call(tl,
             (sl_call){ .kind = SL_CALL_PLAIN,
                        .name = text_id(tl, "cudaMalloc"),
                        .waited_for_device = true },
             AT(80, 100));
    uint64_t k2 = run(tl, SL_SPAN_KERNEL, 1, "K2", AT(100, 104), AT(107, 127));
    uint64_t d = run(tl, SL_SPAN_MEMCPY_D2H, 1, NULL, AT(104, 106), AT(128, 168));
    hold(tl, k1, 5, SL_CAUSE_LATENCY, 0);
    hold(tl, k2, 107, SL_CAUSE_LATENCY, 0);
    hold(tl, d, 128, SL_CAUSE_STREAM_ORDER, k2);
}

/* A launch of 1 ms is the first of its kind, and so is the loading of a library before it.
 *   host   A[0..4] cuLibraryLoadData[6..106] B[106..1106]
 *   GPU    |A 5..10|                                       |B 1109..1119| */
static void first_launch(sl_timeline *tl)
{
    run(tl, SL_SPAN_KERNEL, 1, "A", AT(0, 4), AT(5, 10));
    add_call(tl, (sl_call){ .kind = SL_CALL_PLAIN, .name = text_id(tl, "cuLibraryLoadData") },
             AT(6, 106));
    run(tl, SL_SPAN_KERNEL, 1, "B", AT(106, 1106), AT(1109, 1119));
}

/* K1 5..15, a collective 16..66 and K2 67..77 in one stream. */
static void behind_collective(sl_timeline *tl)
{
    uint64_t k1 = run(tl, SL_SPAN_KERNEL, 1, "K1", AT(0, 2), AT(5, 15));
    uint64_t c = run_collective(tl, 1, 4, "all_reduce", AT(2, 4), AT(16, 66));
    uint64_t k2 = run(tl, SL_SPAN_KERNEL, 1, "K2", AT(4, 6), AT(67, 77));
    hold(tl, k1, 5, SL_CAUSE_LATENCY, 0);
    hold(tl, c, 16, SL_CAUSE_STREAM_ORDER, k1);
    hold(tl, k2, 67, SL_CAUSE_STREAM_ORDER, c);
}

static void copy_alone(sl_timeline *tl)
{
    run(tl, SL_SPAN_MEMCPY_H2D, 1, NULL, AT(0, 2), AT(5, 105));
}

static void nothing_at_all(sl_timeline *tl) { (void)tl; }

int main(void)
{
    plan(6 * 4);
    check_idle(event_wait, true, 103, 3, "copy 100/0 x1\nlatency 3/3 x1", "an event");
    check_idle(host_in_between, true, 123, 83,
               "host_work 54/54 x1\nafter_last 41/0 x1\nhost_call cudaMalloc 20/20 x1\n"
               "host_issuing 4/4 x1\nhost_call cudaStreamSynchronize 4/4 x1\nlatency 0/1 x0",
               "the host");
    check_idle(first_launch, false, 1099, 1099, "start_up 1099/1099 x2", "a first launch");
    check_idle(behind_collective, true, 52, 2, "communication 50/0 x1\nlatency 2/2 x2",
               "a collective");
    check_idle(copy_alone, false, 100, 0, "after_last 100/0 x1", "a copy alone");
    check_idle(nothing_at_all, false, 0, 0, "", "an empty timeline");
    return done_testing();
}
