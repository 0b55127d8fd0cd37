/* t-35-peer-times.c - core/cuda/peer_times.c: how long a copy between two GPUs takes that goes through
 * the host's memory, where CUPTI has a record of its last piece alone. */
#define _GNU_SOURCE

#if __has_include(<cupti.h>)

#include "cupti_rig.h"

enum { BYTES = 1 << 20 };

static rig *from, *to;
static sl_buffer in, out;

static void open_pair(void)
{
    from = open_recording("x");
    to = open_rig();
    to->dev.base.info.index = 1;
    in = (sl_buffer){ .device = &from->dev.base };
    out = (sl_buffer){ .device = &to->dev.base };
}

static void close_pair(const char *after)
{
    end_recording(from, after);
    close_rig(to, "the same");
}

static cuda_op *new_copy(size_t bytes)
{
    cuda_op *op = new_op(from, SL_WORK_MEMCPY);
    op->base.work.copy_kind = SL_SPAN_MEMCPY_P2P;
    op->base.work.bytes = bytes;
    op->base.side[0].buffer = &in;
    op->base.side[SL_OUTPUT].buffer = &out;
    return op;
}

/* The events around it are reached at these times of the device, and CUPTI has a record of its end. */
static cuda_op *copy(size_t bytes, int64_t began_ns, int64_t ended_ns, uint64_t start, uint64_t end)
{
    const fake_cupti_work last = { .kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                                   .start = start,
                                   .end = end };
    cuda_op *op = new_copy(bytes);
    pass(1);
    rest.device_ns = began_ns;
    cuda_activity_before(op, NULL);
    fake->call(&last, 1);
    rest.device_ns = ended_ns;
    cuda_activity_after(op, true);
    from->dev.n_in_flight++;
    pass(10);
    return op;
}

/* From the first start to the last end of what was collected for operation `seq`, as core takes it. */
static bool is_span(uint64_t seq, int64_t start_ns, int64_t end_ns)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < found.n; i++) {
        if (found.first[i].seq != seq) continue;
        if (found.first[i].start_ns < first) first = found.first[i].start_ns;
        if (found.first[i].end_ns > last) last = found.first[i].end_ns;
    }
    if (first != start_ns || last != end_ns) diag("  %d to %d", (int)first, (int)last);
    return first == start_ns && last == end_ns;
}

/* CUPTI's clock is 1000000 ahead. */
static void test_whole_time(void)
{
    open_pair();
    complete(from, copy(BYTES, 5000, 5459, 1000900, 1000957));
    run_kernel(from, 1001000, 1001020);
    complete(from, copy(BYTES, 6000, 6300, 1001400, 1001457));
    collect(from);
    ok(is_span(1, 957 - 459, 957), "a copy through the host is as long as between its events");
    ok(is_span(2, 1000, 1020), "a kernel as its record");
    ok(is_span(3, 1457 - 300, 1457), "and a later copy as its own");
    is_int(collect(from), 0, "they are handed over once");
    is_int(rest.events, 0, "their events are given back when they complete");
    close_pair("copies through the host");
}

static void test_access(void)
{
    open_pair();
    from->dev.peers = cuda_peer_bit(&to->dev.base);
    complete(from, copy(BYTES, 5000, 5459, 1000900, 1000957));
    from->dev.peers = 0;
    to->dev.peers = cuda_peer_bit(&from->dev.base);
    complete(from, copy(BYTES, 5000, 5459, 1001900, 1001957));
    to->dev.peers = 0;
    complete(from, copy(0, 5000, 5459, 1002900, 1002957));
    collect(from);
    ok(is_span(1, 900, 957), "with access a copy is as its record");
    ok(is_span(2, 1900, 1957), "with access of either GPU to the other");
    ok(is_span(3, 2900, 2957), "and so is one of no bytes");
    is_int(cuda_peer_bit(&(sl_device){ .info.index = 64 }), 0,
           "the 65th GPU has no bit of its own");
    close_pair("copies with access");
}

static void test_in_flight(void)
{
    open_pair();
    cuda_record_begin(&from->dev.base, "inner", NULL);
    cuda_op *op = copy(BYTES, 5000, 5459, 1000900, 1000957);
    is_int(collect(from), 1, "before a copy is known to have completed its record comes");
    complete(from, op);
    collect(from);
    ok(is_span(1, 957 - 459, 957), "and then its whole time");
    op = copy(BYTES, 5000, 5459, 1001900, 1001957);
    cuda_record_end(&from->dev.base);
    cuda_record_end(&from->dev.base);
    complete(from, op);
    is_int(rest.events, 0, "a copy that outlives its recording gives its events back");
    cuda_record_begin(&from->dev.base, "y", NULL);
    is_int(collect(from), 0, "and is not in the next one");
    close_pair("a copy in flight");
}

static void test_failures(void)
{
    open_pair();
    cuda_op *op = new_copy(BYTES);
    cuda_activity_before(op, NULL);
    cuda_activity_after(op, false);
    ok(!op->began && rest.events == 0, "of a copy that was not enqueued nothing is kept");
    free(op);
    rest.no_events = true;
    complete(from, copy(BYTES, 5000, 5459, 1000900, 1000957));
    rest.no_events = false;
    collect(from);
    ok(is_span(2, 900, 957), "without an event a copy is as its record");
    op = copy(BYTES, 5000, 5459, 1001900, 1001957);
    op->base.lost = true;
    complete(from, op);
    collect(from);
    ok(is_span(3, 1900, 1957), "as is one of a lost GPU");
    rest.sticky = cudaErrorLaunchFailure;
    op = new_copy(BYTES);
    is_int(cuda_activity_before(op, &from->err), SL_EFAULT, "the next one there is refused");
    free(op);
    rest.sticky = rest.last_error = cudaSuccess;
    close_pair("failures");
}

int main(int argc, char **argv)
{
    plan(0);
    (void)argc;
    unsetenv("STREAMLAB_CUPTI");
    if (!ok(offer_fake(argv[0]), "CUPTI is opened where STREAMLAB_CUDA_LIB says"))
        return done_testing();
    test_whole_time();
    test_access();
    test_in_flight();
    test_failures();
    return done_testing();
}

#else

#include "../tap.h"

int main(void)
{
    plan(1);
    skip(1, "cupti.h is not here");
    return done_testing();
}

#endif
