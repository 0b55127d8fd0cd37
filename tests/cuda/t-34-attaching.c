/* t-34-attaching.c - core/cuda/cuda_activity.c with CUPTI: when it is attached and leaves, and what is done
 * where it cannot be. */
#define _GNU_SOURCE /* mkdtemp */

#if __has_include(<cupti.h>)

#include "cupti_rig.h"

static bool only_enabled(const int *wanted, size_t n)
{
    for (int kind = 0; kind < FAKE_CUPTI_KINDS; kind++) {
        bool is_wanted = false;
        for (size_t i = 0; i < n; i++)
            is_wanted |= wanted[i] == kind;
        if (fake->enabled[kind] != is_wanted) return false;
    }
    return true;
}

static void test_attach(void)
{
    static const int wanted[] = {
        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
        CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMCPY2,
        CUPTI_ACTIVITY_KIND_MEMSET,
    };
    rig *r = open_rig();
    ok(only_enabled(NULL, 0) && !fake->subscribed, "CUPTI is not touched before a recording");
    is_int(cuda_record_begin(&r->dev.base, "outer", &r->err), SL_OK, "a recording begins");
    ok(only_enabled(wanted, sizeof wanted / sizeof *wanted) && fake->subscribed == 1,
       "and enables the kinds of records that it needs");
    is_int(fake->watched, 4, "and watches the calls that give work, and no others");
    ok(!r->dev.timed_by_events && !r->dev.base.notice, "CUPTI takes the times, without a word");
    is_int(rest.launches, 32, "kernels of nobody's are timed, and make CUPTI ready");
    is_int(cuda_record_begin(&r->dev.base, "inner", &r->err), SL_OK, "a recording begins in it");
    is_int(r->dev.recording, 2, "and both are on");
    cuda_record_end(&r->dev.base);
    ok(fake->subscribed == 1 && r->dev.recording == 1, "the inner one's end changes nothing");
    cuda_record_end(&r->dev.base);
    ok(only_enabled(NULL, 0) && !fake->subscribed, "the outer one's end switches CUPTI off");
    ok(fake->buffers == 0 && live_blocks == 0, "and frees its buffers");
    cuda_record_end(&r->dev.base);
    is_int(r->dev.recording, 0, "an end too many is nothing");
    is_int(collect(r), 0, "and there is nothing to collect");
    ok(!fake->finalized, "CUPTI stays in the process");
    close_rig(r, "recordings of nothing");
}

static void test_close_while_recording(void)
{
    rig *r = open_recording("x");
    run_kernel(r, 1, 2);
    cuda_record_begin(&r->dev.base, NULL, NULL);
    close_rig(r, "two recordings without an end");
    ok(!fake->subscribed && fake->buffers == 0 && live_blocks == 0, "CUPTI is off then");
}

static void test_refusals(void)
{
    static const struct {
        int subscribe, enable;
        uint32_t version;
        const char *why;
    } cases[] = {
        { CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 0, 0,
          "CUPTI is in use by another profiler (CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)" },
        { CUPTI_ERROR_NOT_INITIALIZED, 0, 0,
          "CUPTI cannot be used (cuptiSubscribe: CUPTI_ERROR_NOT_INITIALIZED)" },
        { 0, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, 0,
          "this user may not profile (cuptiActivityEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)" },
        { 0, CUPTI_ERROR_UNKNOWN, 0,
          "CUPTI cannot be used (cuptiActivityEnable: an unknown error)" },
        { 0, 0, 130000, "CUPTI's release 130000 has errors that a later one corrects" },
    };
    rig *r = open_rig();
    cuda_activity activity = { .device = &r->dev };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[256] = "";
        fake->subscribe_code = cases[i].subscribe;
        fake->enable_code = cases[i].enable;
        fake->failing_kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
        fake->version = cases[i].version ? cases[i].version : CUPTI_API_VERSION;
        ok(!cuda_trace_begin(&activity, why, sizeof why), "CUPTI can refuse");
        is_str(why, cases[i].why, "and says why");
        ok(only_enabled(NULL, 0) && !fake->subscribed && live_blocks == 0,
           "and nothing is left behind");
    }
    fake->subscribe_code = fake->enable_code = 0;
    fake->version = CUPTI_API_VERSION;
    close_rig(r, "refusals");
}

/* The once per process that a recording says so; test_refusals has not used it up. */
static void test_fallback(void)
{
    rig *r = open_rig();
    fake->subscribe_code = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    is_int(cuda_record_begin(&r->dev.base, "x", &r->err), SL_OK, "a recording begins all the same");
    ok(r->dev.timed_by_events, "events take the times");
    is_str(r->dev.base.notice,
           "CUPTI is in use by another profiler "
           "(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED): the timeline's times come from "
           "events, which are coarser; a launch of a graph is one span",
           "and a notice says so");
    cuda_record_end(&r->dev.base);
    r->dev.base.notice = NULL;
    cuda_record_begin(&r->dev.base, "x", &r->err);
    ok(!r->dev.base.notice, "once");
    cuda_record_end(&r->dev.base);
    fake->subscribe_code = 0;
    cuda_record_begin(&r->dev.base, "x", &r->err);
    ok(!r->dev.timed_by_events, "a later recording may have CUPTI");
    end_recording(r, "events and then CUPTI");
}

/* A launch takes 3 us, and 1.2 us longer while CUPTI is there. */
static void test_cost(void)
{
    rig *r = open_rig();
    rest.launch_ns = 3000;
    rest.slower_ns = 1200;
    rest.slower = &fake->subscribed;
    r->dev.n_in_flight = 1;
    cuda_record_begin(&r->dev.base, "busy", NULL);
    cuda_record_end(&r->dev.base);
    is_int(r->dev.base.recording_ns, 0, "what recording costs is not measured on a busy device");
    r->dev.n_in_flight = 0;
    cuda_record_begin(&r->dev.base, "soon", NULL);
    cuda_record_end(&r->dev.base);
    is_int(r->dev.base.recording_ns, 0, "nor where CUPTI is still in the process");
    pass(100000000);
    cuda_activity_idle(&r->dev);
    cuda_record_begin(&r->dev.base, "later", NULL);
    is_int(r->dev.base.recording_ns, 1200, "but when it has left: by how much a launch is longer");
    cuda_record_end(&r->dev.base);
    rest.slower_ns = 2000;
    pass(100000000);
    cuda_activity_idle(&r->dev);
    rest.launches = 0;
    cuda_record_begin(&r->dev.base, "again", NULL);
    ok(r->dev.base.recording_ns == 1200 && rest.launches == 16, "once a device");
    rest.launch_ns = rest.slower_ns = 0;
    rest.slower = NULL;
    end_recording(r, "measured recordings");
}

/* Until CUPTI leaves, calls are slower; to come back takes it milliseconds. */
static void test_leave(void)
{
    const int64_t while_ns = 100000000;
    rig *r = open_recording("x");
    opened = &r->dev;
    cuda_activity_idle(&r->dev);
    cuda_record_end(&r->dev.base);
    pass(while_ns - 1);
    cuda_activity_idle(&r->dev);
    ok(!fake->finalized, "CUPTI stays while another recording may follow");
    pass(1);
    r->dev.n_in_flight = 1;
    cuda_activity_idle(&r->dev);
    ok(!fake->finalized, "and while an operation is in flight");
    r->dev.n_in_flight = 0;
    cuda_record_begin(&r->dev.base, "y", NULL);
    pass(while_ns);
    cuda_activity_idle(&r->dev);
    ok(!fake->finalized, "and in a recording");
    cuda_record_end(&r->dev.base);
    pass(while_ns);
    fake->version = 120000;
    cuda_activity_idle(&r->dev);
    ok(!fake->finalized, "a release that has errors with graphs stays for good");
    fake->version = 130100;
    cuda_record_begin(&r->dev.base, "z", NULL);
    cuda_record_end(&r->dev.base);
    pass(while_ns);
    cuda_activity_idle(&r->dev);
    ok(fake->finalized, "then it leaves the process");
    fake->finalized = false;
    pass(while_ns);
    cuda_activity_idle(&r->dev);
    ok(!fake->finalized, "once");
    cuda_record_begin(&r->dev.base, "again", NULL);
    run_kernel(r, (uint64_t)fake->now_ns, (uint64_t)fake->now_ns + 5);
    is_int(collect(r), 1, "and is back for the next recording");
    cuda_record_end(&r->dev.base);
    fake->version = CUPTI_API_VERSION;
    opened = NULL;
    close_rig(r, "recordings far apart");
}

int main(int argc, char **argv)
{
    plan(0);
    (void)argc;
    unsetenv("STREAMLAB_CUPTI");
    if (!ok(offer_fake(argv[0]), "CUPTI is opened where STREAMLAB_CUDA_LIB says"))
        return done_testing();
    test_attach();
    test_close_while_recording();
    test_refusals();
    test_fallback();
    test_leave();
    test_cost();
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
