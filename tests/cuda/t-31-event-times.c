/* t-31-event-times.c - core/cuda/cuda_activity.c without CUPTI: the times that events give, and
 * what becomes of the events. */
#define _GNU_SOURCE /* setenv */

#include "activity_rig.h"

#include <nvtx3/nvToolsExt.h>

/* ---- a profiler ---- */

static struct {
    char text[256]; /* "+name" for a range that starts, "-number" for one that ends */
    uint64_t last;
    bool attached;
} ranges;

static nvtxRangeId_t NVTX_API on_start(const char *name)
{
    size_t n = strlen(ranges.text);
    snprintf(ranges.text + n, sizeof ranges.text - n, "+%s ", name);
    return ++ranges.last;
}

static void NVTX_API on_end(nvtxRangeId_t range)
{
    size_t n = strlen(ranges.text);
    snprintf(ranges.text + n, sizeof ranges.text - n, "-%d ", (int)range);
}

#if NVTX_SUPPORT_STATIC_INJECTION_LIBRARY /* by NVTX's release: profilers linked in */

static int NVTX_API attach(NvtxGetExportTableFunc_t get_table)
{
    const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table;
    unsigned n = 0;
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &n)
        || n <= NVTX_CBID_CORE_RangeEnd)
        return 0;
    *table[NVTX_CBID_CORE_RangeStartA] = (NvtxFunctionPointer)on_start;
    *table[NVTX_CBID_CORE_RangeEnd] = (NvtxFunctionPointer)on_end;
    ranges.attached = true;
    return 1;
}

/* NVTX calls it at its first use. */
static void offer_profiler(void) { InitializeInjectionNvtx2_fnptr = attach; }

#else

static void offer_profiler(void) { (void)on_start, (void)on_end; }

#endif

/* ---- recordings ---- */

static rig *open_recording(void)
{
    rig *r = open_rig();
    r->err = (sl_error){ .status = SL_OK };
    rest.host_ns = 1000000;
    rest.device_ns = 77000000;
    is_int(cuda_record_begin(&r->dev.base, "x", &r->err), SL_OK, "a recording begins");
    return r;
}

static void end_recording(rig *r, const char *after)
{
    cuda_record_end(&r->dev.base);
    close_rig(r, after);
}

static void never(void *ud, const sl_activity *activity)
{
    (void)ud, (void)activity;
    ok(false, "operations with times of their own have no activities");
}

/* Enqueues an operation that the device reaches and leaves at these times. */
static cuda_op *enqueue(rig *r, sl_work_kind kind, int64_t start_ns, int64_t end_ns)
{
    cuda_op *op = new_op(r, kind);
    rest.device_ns = start_ns;
    if (cuda_activity_before(op, &r->err)) {
        free(op);
        return NULL;
    }
    rest.device_ns = end_ns;
    cuda_activity_after(op, true);
    r->dev.n_in_flight++;
    return op;
}

static bool has_times(const cuda_op *op, int64_t start_ns, int64_t end_ns)
{
    if (op->base.start_ns == start_ns && op->base.end_ns == end_ns) return true;
    diag("from %" PRId64 " to %" PRId64, op->base.start_ns, op->base.end_ns);
    return false;
}

static void test_notice(void)
{
    rig *r = open_recording();
    ok(r->dev.timed_by_events, "with STREAMLAB_CUPTI=0 events take the times");
    is_str(r->dev.base.notice,
           "STREAMLAB_CUPTI is 0: the timeline's times come from events, "
           "which are coarser; a launch of a graph is one span",
           "and a notice says so");
    is_int(rest.launches, 0, "no kernel is launched for CUPTI");
    cuda_record_collect(&r->dev.base, never, NULL);
    cuda_activity_tidy(&r->dev);
    cuda_record_end(&r->dev.base);
    close_rig(r, "an empty recording");
    r = open_recording();
    ok(!r->dev.base.notice, "once per process");
    end_recording(r, "another");
}

static void test_times(void)
{
    rig *r = open_recording();
    cuda_op *a = enqueue(r, SL_WORK_KERNEL, 77000000 + 500, 77000000 + 1500);
    cuda_op *b = enqueue(r, SL_WORK_MEMCPY, 77000000 + 1500, 77000000 + 2500);
    cuda_op *c = enqueue(r, SL_WORK_MEMSET, 77000000 + 2500, 77000000 + 250000);
    ok(a->base.start_ns == SL_TIME_LATER && a->base.end_ns == SL_TIME_LATER,
       "an operation has no times before it has completed");
    cuda_activity_completed(a);
    cuda_activity_completed(b);
    cuda_activity_completed(c);
    ok(has_times(a, 1000500, 1001500), "a kernel's times count from the base event");
    ok(has_times(b, 1001500, 1002500), "a copy begins where it ended, not before");
    ok(has_times(c, 1002500, 1250000), "a memset, too");
    is_int(rest.events, 1, "their events are given back, all but the base");
    cuda_activity_completed(a);
    ok(has_times(a, 1000500, 1001500), "completing twice does nothing");
    free(a), free(b), free(c);
    r->dev.n_in_flight = 0;
    end_recording(r, "three operations");
}

static void test_host_times(void)
{
    rig *r = open_recording();
    int records = rest.records;
    rest.step_ns = 7;
    cuda_op *func = enqueue(r, SL_WORK_HOST_FUNC, 0, 0);
    cuda_op *record = enqueue(r, SL_WORK_EVENT_RECORD, 0, 0);
    cuda_op *wait = enqueue(r, SL_WORK_EVENT_WAIT, 0, 0);
    rest.step_ns = 0;
    is_int(rest.records, records, "host functions and operations around events have no events");
    ok(has_times(func, 0, 0), "a host function's times are not ours");
    ok(has_times(record, SL_TIME_LATER, SL_TIME_LATER)
           && has_times(wait, SL_TIME_LATER, SL_TIME_LATER),
       "core works out the others'");
    ok(wait->base.host_end_ns - wait->base.host_start_ns == 7,
       "all know when the host enqueued them");
    complete(r, func);
    complete(r, record);
    complete(r, wait);
    end_recording(r, "operations without events");
}

/* The host's clock steps by 100 a reading; of the tries at the base one is tight. */
static void test_base(void)
{
    rig *r = open_rig();
    rest.device_ns = 5000;
    rest.host_ns = 1000000;
    rest.step_ns = 100;
    cuda_record_begin(&r->dev.base, "x", NULL);
    rest.step_ns = 0;
    cuda_op *op = enqueue(r, SL_WORK_KERNEL, 5000, 6000);
    cuda_activity_completed(op);
    ok(has_times(op, 1000050, 1001050), "the base lies in the middle of the tightest try");
    r->dev.n_in_flight = 0;
    free(op);
    rest.asked_in_vain = 3;
    cuda_funcs_pending = 2;
    rest.funcs_run = 0;
    rest.host_ns = 9000000;
    rest.device_ns = 8000000;
    cuda_record_collect(&r->dev.base, never, NULL);
    is_int(rest.funcs_run, 2, "host functions run while the base is waited for");
    op = enqueue(r, SL_WORK_KERNEL, 8000000, 8000000 + 2000);
    cuda_record_collect(&r->dev.base, never, NULL);
    cuda_activity_completed(op);
    ok(has_times(op, 9000000, 9002000), "collecting renews the base, if nothing is in flight");
    r->dev.n_in_flight = 0;
    free(op);
    rest.host_ns = 9001000;
    rest.device_ns = 8003000;
    cuda_record_collect(&r->dev.base, never, NULL);
    op = enqueue(r, SL_WORK_KERNEL, 8003000, 8004000);
    cuda_activity_completed(op);
    ok(has_times(op, 9002000, 9003000), "a new base never makes operations overlap");
    r->dev.n_in_flight = 0;
    free(op);
    is_int(rest.events, 1, "one base is kept");
    end_recording(r, "bases");
}

static void test_interrupt(void)
{
    rig *r = open_rig();
    rest.asked_in_vain = 1;
    r->interrupted = 1;
    is_int(cuda_record_begin(&r->dev.base, "x", &r->err), SL_EINTERRUPT,
           "Ctrl-C ends the wait for the base");
    is_int(r->dev.recording, 0, "and there is no recording");
    r->interrupted = 0;
    is_int(cuda_record_begin(&r->dev.base, "x", &r->err), SL_OK, "the next one begins");
    end_recording(r, "an interrupt");
}

static void test_without_events(void)
{
    rig *r = open_recording();
    rest.no_events = true;
    cuda_op *op = enqueue(r, SL_WORK_KERNEL, 1, 2);
    ok(op && !op->began, "without memory for events an operation is enqueued all the same");
    rest.no_events = false;
    cuda_activity_completed(op);
    ok(has_times(op, SL_TIME_LATER, SL_TIME_LATER), "and has no times");
    complete(r, op);
    for (int k = 1; k <= 2; k++) {
        rest.record_fails_at = rest.records + k;
        op = enqueue(r, SL_WORK_KERNEL, 1, 2);
        ok(op && rest.last_error == cudaSuccess, "so it is when event %d cannot be recorded", k);
        cuda_activity_completed(op);
        ok(has_times(op, SL_TIME_LATER, SL_TIME_LATER) && rest.events == 1, "which is given back");
        complete(r, op);
    }
    rest.record_fails_at = 0;
    end_recording(r, "missing events");
    r = open_rig();
    rest.no_events = true;
    is_int(cuda_record_begin(&r->dev.base, "x", &r->err), SL_EBACKEND,
           "a recording without a base cannot begin");
    rest.no_events = false;
    ok(strstr(r->err.msg, "cudaEventCreateWithFlags"), "and says so");
    close_rig(r, "that");
}

static void test_not_run(void)
{
    rig *r = open_recording();
    cuda_op *op = new_op(r, SL_WORK_KERNEL);
    cuda_activity_before(op, NULL);
    cuda_activity_after(op, false);
    ok(!op->began && !op->ended && rest.events == 1,
       "an operation that could not be enqueued gives its event back");
    free(op);
    op = enqueue(r, SL_WORK_KERNEL, 1, 2);
    op->base.lost = true;
    cuda_activity_completed(op);
    ok(has_times(op, SL_TIME_LATER, SL_TIME_LATER) && rest.events == 1,
       "an operation that is lost has no times and gives its events back");
    complete(r, op);
    end_recording(r, "operations that did not run");
}

static void test_fault(void)
{
    rig *r = open_recording();
    cuda_op *op = enqueue(r, SL_WORK_KERNEL, 1, 2);
    rest.sticky = cudaErrorIllegalAddress;
    ok(!enqueue(r, SL_WORK_KERNEL, 3, 4), "on a lost device nothing is enqueued");
    is_int(r->err.status, SL_EFAULT, "and the fault is reported");
    op->base.lost = true;
    cuda_activity_completed(op);
    cuda_record_collect(&r->dev.base, never, NULL);
    rest.last_error = cudaSuccess;
    ok(rest.events == 1, "its events are given back");
    complete(r, op);
    cuda_record_end(&r->dev.base);
    close_rig(r, "a fault");
    r = open_rig();
    is_int(cuda_record_begin(&r->dev.base, "x", &r->err), SL_EFAULT,
           "on a lost device no recording begins");
    close_rig(r, "that");
    rest.sticky = cudaSuccess;
}

static void test_ranges(void)
{
    rig *a = open_rig(), *b = open_rig();
    ranges.text[0] = '\0';
    ranges.last = 0;
    cuda_record_begin(&a->dev.base, "a1", NULL);
    cuda_record_begin(&b->dev.base, "b2", NULL);
    cuda_record_begin(&a->dev.base, "a3", NULL);
    cuda_record_end(&a->dev.base);
    cuda_record_end(&a->dev.base);
    cuda_record_end(&b->dev.base);
    cuda_record_begin(&b->dev.base, NULL, NULL);
    cuda_record_end(&b->dev.base);
    cuda_record_end(&b->dev.base);
    if (ranges.attached)
        is_str(ranges.text, "+a1 +b2 +a3 -3 -1 -2 +streamlab -4 ",
               "profilers see a range for each recording, apart from those of other devices");
    else
        skip(1, "this NVTX knows no profiler that is linked in");
    for (int i = 0; i < 9; i++)
        cuda_record_begin(&a->dev.base, "deep", NULL);
    is_int(a->dev.recording, 9, "recordings nest as deep as one likes");
    cuda_activity_close(&b->dev);
    close_rig(a, "nine recordings");
    close_rig(b, "one");
}

int main(void)
{
    plan(0);
    setenv("STREAMLAB_CUPTI", "0", 1);
    offer_profiler();
    test_notice();
    test_ranges();
    test_times();
    test_host_times();
    test_base();
    test_interrupt();
    test_without_events();
    test_not_run();
    test_fault();
    return done_testing();
}
