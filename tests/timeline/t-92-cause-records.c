/* t-92-cause-records.c - what is known of a finding's two sides, whether it is a guess, and which
 * findings have the same cause. */
#include "causes.h"

static sl_cause_record read(const sl_timeline *tl, sl_finding f)
{
    sl_cause_record record;
    sl_cause_read(tl, &f, &record);
    return record;
}

/* ---- sides ------------------------------------------------------------------------------ */

static void test_sides(void)
{
    sl_timeline *tl = make();
    sl_error err;
    sl_stream_note urgent = { .id = 3, .name = text_id(tl, "urgent"), .priority = -2 };
    must(sl_timeline_add_stream(tl, &urgent, &err), &err);
    sl_span s = op(tl, SL_SPAN_MEMCPY_H2D, 3, "up", AT(0, 4), AT(10, 20));
    s.where = text_id(tl, "a.lua:7");
    uint64_t copy = add(tl, s);
    uint64_t bare = run(tl, SL_SPAN_KERNEL, 5, "", AT(4, 8), AT(20, 30));
    uint64_t call = add_call(
        tl, (sl_call){ .kind = SL_CALL_EVENT_SYNC, .where = text_id(tl, "a.lua:9") }, AT(8, 30));
    finish(tl);
    must(sl_timeline_set_source(tl, text_id(tl, "a.lua:7"), "up:cuda()", &err), &err);
    sl_cause_record r = read(tl,
                             (sl_finding){ .cause = SL_CAUSE_EVENT, .waiter = bare, .by = copy });
    ok(r.by.span && r.by.span->correlation == copy && !r.by.call, "an operation is found");
    is_str(r.by.name, "up", "with its name");
    is_str(r.by.stream_name, "urgent", "its stream's");
    is_int(r.by.priority, -2, "and the priority of that");
    is_str(r.by.where, "a.lua:7", "its line");
    is_str(r.by.source, "up:cuda()", "and what stands there");
    ok(r.waiter.span && !*r.waiter.name && !*r.waiter.stream_name && !*r.waiter.where
           && !*r.waiter.source && !r.waiter.short_name,
       "what is not known of one is empty");
    r = read(tl, (sl_finding){ .cause = SL_CAUSE_HOST_BLOCKED, .waiter = copy, .by = call });
    ok(r.by.call && !r.by.span, "a call is found");
    is_str(r.by.name, "cudaEventSynchronize", "with CUDA's name");
    is_str(r.by.where, "a.lua:9", "and its line");
    r = read(tl, (sl_finding){ .cause = SL_CAUSE_ROOM, .waiter = 99 });
    ok(!r.waiter.span && !r.waiter.call && !r.by.span && !r.by.call && !*r.by.name,
       "of what is not there nothing is known");
    sl_timeline_release(tl);
}

static void test_short_names(void)
{
    sl_timeline *tl = make();
    uint64_t a = run(tl, SL_SPAN_KERNEL, 1, "void k<F1, int>(int)", AT(0, 4), AT(10, 20));
    uint64_t b = run(tl, SL_SPAN_KERNEL, 1, "void k<F2, int>(int)", AT(4, 8), AT(20, 30));
    finish(tl);
    sl_cause_record r = read(tl,
                             (sl_finding){ .cause = SL_CAUSE_STREAM_ORDER, .waiter = b, .by = a });
    is_str(r.by.short_name, "k<F1>", "kernels that would be called the same have short names");
    is_str(r.waiter.short_name, "k<F2>", "which differ");
    sl_timeline_release(tl);
}

/* ---- guesses ------------------------------------------------------------------------------ */

/* The causes that are guesses of this timeline, with a call that waited for the GPU as `by`. */
static const char *guesses(const sl_timeline *tl, uint64_t by)
{
    static char list[256];
    *list = '\0';
    for (int cause = 0; cause < SL_CAUSES; cause++) {
        if (read(tl, (sl_finding){ .cause = (sl_cause)cause, .by = by }).guess)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s ",
                     sl_cause_name((sl_cause)cause));
    }
    return list;
}

static void test_guesses(void)
{
    sl_timeline *tl = make();
    uint64_t waited = add_call(tl, (sl_call){ .kind = SL_CALL_PLAIN, .waited_for_device = 1 },
                               AT(0, 4));
    uint64_t sync = add_call(tl, (sl_call){ .kind = SL_CALL_DEVICE_SYNC }, AT(4, 8));
    finish(tl);
    is_str(guesses(tl, waited),
           "null_stream channel_alias no_sm_room launch_queue_full host_blocked "
           "unknown ",
           "what a trace of another program does not say is a guess");
    is_str(guesses(tl, sync), "null_stream channel_alias no_sm_room launch_queue_full unknown ",
           "that a synchronisation waits is none");
    sl_timeline_set_origin(tl, (sl_origin){ .unknown_waits = true });
    is_str(guesses(tl, sync),
           "event_wait null_stream channel_alias no_sm_room launch_queue_full "
           "unknown ",
           "that an event was waited for is, where a trace does not say which");
    sl_timeline_set_origin(tl, (sl_origin){ 0 });
    sl_timeline_set_device(tl, &(sl_device_info){ .backend = "sim" });
    is_str(guesses(tl, waited), "unknown ", "of a recording nothing but what is unknown");
    sl_timeline_release(tl);
}

/* ---- the same cause ------------------------------------------------------------------------ */

/* A copy from pageable memory holds the host 100, and with it the D2H copy and the kernel of
 * other streams; each engine is a finding. */
static void test_grouped(void)
{
    sl_timeline *tl = make();
    sl_timeline_set_device(tl, &(sl_device_info){ .backend = "sim" });
    sl_span s = op(tl, SL_SPAN_MEMCPY_H2D, 1, "up", AT(0, 100), AT(5, 104));
    s.flags = SL_SPAN_SRC_PAGEABLE;
    s.where = text_id(tl, "a.lua:3");
    add(tl, s);
    s = op(tl, SL_SPAN_KERNEL, 2, "gemm", AT(100, 104), AT(107, 157));
    s.where = text_id(tl, "a.lua:4");
    add(tl, s);
    s = op(tl, SL_SPAN_MEMCPY_D2H, 3, "down", AT(104, 106), AT(109, 119));
    s.where = text_id(tl, "a.lua:5");
    add(tl, s);
    finish(tl);
    sl_explanation e = explain(tl);
    is_str(tell_findings(e.findings, e.n_findings),
           "host_blocked compute idle 98 x1 #2<-#1 gains 53\n"
           "host_blocked d2h idle 98 x1 #3<-#1 gains 53\n"
           "host_issuing compute idle 4 x1 #2<-#2 gains 4\n"
           "host_issuing d2h idle 4 x1 #3<-#2 gains 4\n"
           "host_issuing d2h idle 2 x1 #3<-#3",
           "one call kept two engines idle");
    static const size_t same_as[] = { 0, 0, 2, 2, 4 };
    for (size_t i = 0; i < e.n_findings && i < 5; i++)
        is_int((long long)e.findings[i].same_as, (long long)same_as[i],
               "finding %zu has the cause of "
               "the first with that call",
               i);
    sl_timeline_release(tl);
}

/* ---- kept ------------------------------------------------------------------------------------ */

static void test_kept(void)
{
    sl_timeline *tl = make();
    run(tl, SL_SPAN_KERNEL, 1, "a", AT(0, 4), AT(10, 20));
    run(tl, SL_SPAN_KERNEL, 1, "b", AT(40, 44), AT(50, 60));
    finish(tl);
    const sl_explanation *kept, *again;
    sl_error err;
    must(sl_timeline_causes(tl, &kept, &err), &err);
    must(sl_timeline_causes(tl, &again, &err), &err);
    ok(kept == again, "a timeline looks for its causes once");
    sl_explanation e;
    must(sl_timeline_infer_causes(tl, &e, &err), &err);
    ok(e.n_findings > 0 && kept->n_findings == e.n_findings && kept->n_chain == e.n_chain
           && kept->findings[0].cause == e.findings[0].cause
           && kept->findings[0].lost_ns == e.findings[0].lost_ns,
       "and keeps what is found anyway");
    sl_explanation_free(&e);
    sl_timeline_release(tl);
}

int main(void)
{
    plan(0);
    test_sides();
    test_short_names();
    test_guesses();
    test_grouped();
    test_kept();
    return done_testing();
}
