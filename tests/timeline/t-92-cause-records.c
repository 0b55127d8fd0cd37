/* t-92-cause-records.c - what is known of a finding's two sides, whether it is a guess, and which
 * findings have the same cause. */
#include "causes.h"

#include "../../core/timeline/operations.h"

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
    ok(r.by.is_span && r.by.span.correlation == copy && !r.by.is_call, "an operation is found");
    is_str(r.by.name, "up", "with its name");
    is_str(r.by.stream_name, "urgent", "its stream's");
    is_int(r.by.priority, -2, "and the priority of that");
    is_str(r.by.where, "a.lua:7", "its line");
    is_str(r.by.source, "up:cuda()", "and what stands there");
    ok(r.waiter.is_span && !*r.waiter.name && !*r.waiter.stream_name && !*r.waiter.where
           && !*r.waiter.source && !r.waiter.short_name,
       "what is not known of one is empty");
    r = read(tl, (sl_finding){ .cause = SL_CAUSE_HOST_BLOCKED, .waiter = copy, .by = call });
    ok(r.by.is_call && !r.by.is_span, "a call is found");
    is_str(r.by.name, "cudaEventSynchronize", "with CUDA's name");
    is_str(r.by.where, "a.lua:9", "and its line");
    r = read(tl, (sl_finding){ .cause = SL_CAUSE_ROOM, .waiter = 99 });
    ok(!r.waiter.is_span && !r.waiter.is_call && !r.by.is_span && !r.by.is_call && !*r.by.name,
       "of what is not there nothing is known");
    sl_timeline_release(tl);
}

static void add_range(sl_timeline *tl, const char *name, sl_host_range_kind kind,
                      const int64_t when_us[2])
{
    sl_error err;
    const sl_host_range range = { .start_ns = when_us[0] * 1000,
                                  .end_ns = when_us[1] * 1000,
                                  .name = text_id(tl, name),
                                  .kind = (uint8_t)kind };
    must(sl_timeline_add_host_range(tl, &range, &err), &err);
}

/* Of a trace with stacks: a call has no line, but is in a function. */
static void test_functions(void)
{
    sl_timeline *tl = make();
    uint64_t bare = run(tl, SL_SPAN_KERNEL, 1, "k", AT(2, 4), AT(10, 20));
    sl_span s = op(tl, SL_SPAN_KERNEL, 1, "k", AT(4, 8), AT(20, 30));
    s.where = text_id(tl, "a.py:7");
    uint64_t lined = add(tl, s);
    uint64_t outside = run(tl, SL_SPAN_KERNEL, 1, "k", AT(50, 54), AT(60, 70));
    add_range(tl, "train.py(3): main", SL_HOST_RANGE_PYTHON, AT(0, 40));
    add_range(tl, "torch/nn/modules/linear.py(116): forward", SL_HOST_RANGE_LIBRARY, AT(1, 9));
    finish(tl);
    sl_cause_record r = read(
        tl, (sl_finding){ .cause = SL_CAUSE_STREAM_ORDER, .waiter = lined, .by = bare });
    is_str(r.by.where, "train.py(3): main", "a call without a line has the program's function");
    is_str(r.by.source, "", "of which no line is shown");
    is_str(r.waiter.where, "a.py:7", "one with a line keeps it");
    r = read(tl, (sl_finding){ .cause = SL_CAUSE_STREAM_ORDER, .waiter = outside, .by = bare });
    is_str(r.waiter.where, "", "outside of all functions there is none");
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

/* ---- what no SM had ---------------------------------------------------------------------- */

/* What the second kernel lacks beside the first, on a GPU of 132 SMs like an H100's: each has 2048
 * threads, 32 blocks, 65536 registers and 233472 bytes of shared memory. */
static sl_sm_lack lack_beside(sl_span other, sl_span kernel)
{
    sl_timeline *tl = make();
    sl_device_info h100 = { .backend = "cuda", .sm_count = 132, .compute_capability_major = 9 };
    sl_span s[2] = { op(tl, SL_SPAN_KERNEL, 1, "long", AT(0, 4), AT(10, 90)),
                     op(tl, SL_SPAN_KERNEL, 2, "late", AT(4, 8), AT(90, 99)) };
    const sl_span shapes[2] = { other, kernel };
    uint64_t id[2];
    for (int i = 0; i < 2; i++) {
        s[i].blocks = shapes[i].blocks;
        s[i].threads = shapes[i].threads;
        s[i].registers = shapes[i].registers;
        s[i].shared_bytes = shapes[i].shared_bytes;
        id[i] = add(tl, s[i]);
    }
    sl_timeline_set_device(tl, &h100);
    finish(tl);
    sl_cause_record r = read(tl,
                             (sl_finding){ .cause = SL_CAUSE_ROOM, .waiter = id[1], .by = id[0] });
    sl_timeline_release(tl);
    return r.lack;
}

static void is_lack(sl_span other, sl_span kernel, sl_sm_lack want, const char *name)
{
    sl_sm_lack got = lack_beside(other, kernel);
    if (!ok(got.threads == want.threads && got.registers == want.registers
                && got.shared_bytes == want.shared_bytes && got.block_slot == want.block_slot,
            "%s", name))
        printf("# %d threads, %d registers, %d bytes, slot %d\n", (int)got.threads,
               (int)got.registers, (int)got.shared_bytes, got.block_slot);
}

static void test_lack(void)
{
    const sl_span ring = { .blocks = 24, .threads = 544, .registers = 96, .shared_bytes = 103808 };
    /* 384 * 168 registers leave 1024, and 544 * 96 are needed; 189660 bytes leave 43812. */
    is_lack((sl_span){ .blocks = 132, .threads = 384, .registers = 168, .shared_bytes = 188636 },
            ring, (sl_sm_lack){ .registers = 52224, .shared_bytes = 103808 },
            "a collective beside a matmul has too few registers and too little shared memory");
    is_lack((sl_span){ .blocks = 132, .threads = 384, .registers = 32, .shared_bytes = 188636 },
            ring, (sl_sm_lack){ .shared_bytes = 103808 }, "or shared memory alone");
    /* Four blocks of 512 fill an SM, however many the grid has. */
    is_lack((sl_span){ .blocks = 5000, .threads = 512, .registers = 16 },
            (sl_span){ .blocks = 1, .threads = 100, .registers = 16 },
            (sl_sm_lack){ .threads = 100 }, "threads");
    is_lack((sl_span){ .blocks = 5000, .threads = 32, .registers = 16 },
            (sl_span){ .blocks = 1, .threads = 32, .registers = 16 },
            (sl_sm_lack){ .block_slot = true }, "the 32 blocks of an SM");
    is_lack((sl_span){ .blocks = 131, .threads = 1024, .registers = 64 },
            (sl_span){ .blocks = 1, .threads = 1024, .registers = 64 }, (sl_sm_lack){ 0 },
            "nothing is certain where a grid is smaller than the GPU");
    is_lack((sl_span){ .blocks = 132, .threads = 1024, .registers = 32 },
            (sl_span){ .blocks = 1, .threads = 1024, .registers = 32 }, (sl_sm_lack){ 0 },
            "nothing lacks where both fit: something else has kept it");
    is_lack((sl_span){ .blocks = 132 }, ring, (sl_sm_lack){ 0 },
            "nor of a kernel of unknown shape");
}

/* ---- a communicator's turns ------------------------------------------------------------------- */

/* Two collectives of rank 0, the second in another stream and of communicator `comm`, right behind the
 * first. How long it waited for its communicator, in us. */
static int64_t turn_us(uint64_t comm, uint32_t stream)
{
    sl_timeline *tl = make();
    sl_collective_note note = { .comm = 1, .number = 1, .ranks = 2, .peer = -1 };
    const sl_explanation *e;
    sl_error err;
    int64_t ns = 0;
    note.correlation = run(tl, SL_SPAN_KERNEL, 1, "sum", AT(0, 4), AT(10, 100));
    must(sl_timeline_add_collective(tl, &note, &err), &err);
    note.comm = comm;
    note.number = 2;
    note.correlation = run(tl, SL_SPAN_KERNEL, stream, "gather", AT(4, 8), AT(101, 150));
    must(sl_timeline_add_collective(tl, &note, &err), &err);
    finish(tl);
    must(sl_timeline_causes(tl, &e, &err), &err);
    for (size_t i = 0; i < e->n_findings; i++)
        if (e->findings[i].cause == SL_CAUSE_COMM) ns += e->findings[i].lost_ns;
    sl_timeline_release(tl);
    return ns / 1000;
}

static void test_turns(void)
{
    is_int(turn_us(1, 2), 90,
           "a collective waits for the one of its communicator, while that runs");
    is_int(turn_us(2, 2), 0, "not for that of another one");
    is_int(turn_us(1, 1), 0, "in one stream the reason is the stream");
}

/* ---- fewer SMs ------------------------------------------------------------------------------ */

/* Of 132 SMs 24 have a block of the collective from 10 to 100. The kernel runs from 40 to 150.
 * How long it had fewer SMs, in us, and how many. */
static int64_t squeezed_us(sl_span kernel, int *sms)
{
    sl_timeline *tl = make();
    sl_device_info h100 = { .backend = "cuda", .sm_count = 132, .compute_capability_major = 9 };
    sl_collective_note note = { .comm = 1, .number = 1, .ranks = 2, .peer = -1 };
    sl_span ring = op(tl, SL_SPAN_COLLECTIVE, 1, "ring", AT(0, 4), AT(10, 100));
    sl_span other = op(tl, SL_SPAN_KERNEL, 2, "k", AT(4, 8), AT(40, 150));
    const sl_explanation *e;
    sl_error err;
    int64_t ns = 0;
    ring.blocks = 24;
    ring.threads = 544;
    ring.registers = 96;
    ring.shared_bytes = 103808;
    other.blocks = kernel.blocks;
    other.threads = kernel.threads;
    other.registers = kernel.registers;
    other.shared_bytes = kernel.shared_bytes;
    note.correlation = add(tl, ring);
    add(tl, other);
    must(sl_timeline_add_collective(tl, &note, &err), &err);
    sl_timeline_set_device(tl, &h100);
    finish(tl);
    must(sl_timeline_causes(tl, &e, &err), &err);
    *sms = 0;
    for (size_t i = 0; i < e->n_findings; i++) {
        if (e->findings[i].cause != SL_CAUSE_FEWER_SMS) continue;
        ns += e->findings[i].lost_ns;
        *sms = read(tl, e->findings[i]).sms;
        is_int(e->findings[i].gain_ns, -1, "what it would gain with all SMs is not known");
    }
    sl_timeline_release(tl);
    return ns / 1000;
}

static void test_squeezed(void)
{
    sl_span matmul = { .blocks = 132, .threads = 384, .registers = 168, .shared_bytes = 188636 };
    int sms;
    is_int(squeezed_us(matmul, &sms), 60,
           "a matmul has fewer SMs while the collective runs, 40..100");
    is_int(sms, 108, "those without a block of it");
    matmul.blocks = 109;
    is_int(squeezed_us(matmul, &sms), 60, "also if it needs one more than there are");
    matmul.blocks = 108;
    is_int(squeezed_us(matmul, &sms), 0, "not if these are enough");
    matmul = (sl_span){ .blocks = 1000, .threads = 256, .registers = 32 };
    is_int(squeezed_us(matmul, &sms), 0, "nor if its blocks fit beside those of the collective");
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
           "host_issuing d2h idle 2 x1 #3<-#3 gains 4",
           "one call kept two engines idle");
    static const size_t same_as[] = { 0, 0, 2, 2, 2 };
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

/* ---- what is issued later --------------------------------------------------------------- */

/* Of stream 1's kernel the wait is for what stream 2's, issued after it, has written. */
static void test_later(void)
{
    reports_holds = true;
    sl_timeline *tl = make();
    sl_error err;
    on_gpu(tl);
    run_blocks(tl, 3, 1, "first", AT(-4, 0), AT(1, 2));
    uint64_t waiter = run_blocks(tl, 1, 1, "waits", AT(0, 4), AT(60, 70));
    uint64_t writer = run_blocks(tl, 2, 1, "writes", AT(4, 8), AT(10, 60));
    hold(tl, waiter, 60, SL_CAUSE_VALUE, writer);
    sl_hold later = { .correlation = waiter, .ready_by = writer, .ready_cause = SL_CAUSE_EVENT };
    is_int(sl_timeline_add_hold(tl, &later, &err), SL_EINVAL,
           "no event is recorded after the wait for it");
    later.ready_by = waiter;
    later.ready_cause = SL_CAUSE_VALUE;
    is_int(sl_timeline_add_hold(tl, &later, &err), SL_EINVAL, "nothing writes what it waits for");
    finish(tl);
    sl_explanation e = explain(tl);
    bool found = false;
    for (size_t i = 0; i < e.n_findings; i++)
        if (e.findings[i].cause == SL_CAUSE_VALUE) {
            found = true;
            is_int((int64_t)e.findings[i].by, (int64_t)writer, "a value that was written later");
            is_int(e.findings[i].gain_ns, 10000, "and beside which the waiter could have run");
        }
    ok(found, "is found");
    sl_timeline_release(tl);
}

/* A file may say anything. */
static void test_circle(void)
{
    sl_timeline *tl = make();
    sl_hold *holds;
    sl_error err;
    on_gpu(tl);
    run(tl, SL_SPAN_KERNEL, 5, "first", AT(0, 4), AT(8, 9));
    uint64_t a = run(tl, SL_SPAN_KERNEL, 1, "a", AT(0, 4), AT(60, 60));
    uint64_t b = run(tl, SL_SPAN_KERNEL, 2, "b", AT(4, 8), AT(60, 60));
    uint64_t c = record(tl, 3, AT(8, 9), 60), d = record(tl, 4, AT(9, 10), 60);
    hold(tl, a, 60, SL_CAUSE_VALUE, b);
    hold(tl, b, 60, SL_CAUSE_VALUE, a);
    hold(tl, c, 60, SL_CAUSE_VALUE, d);
    hold(tl, d, 60, SL_CAUSE_VALUE, c);
    uint64_t last = run(tl, SL_SPAN_KERNEL, 3, "c", AT(10, 12), AT(60, 70));
    hold(tl, last, 60, SL_CAUSE_STREAM_ORDER, c);
    finish(tl);
    ok(explain(tl).n_findings > 0, "holds in a circle are followed to an end");
    must(sl__span_holds_collect(tl, &holds, &err), &err);
    is_int((int64_t)holds[1].ready_by, (int64_t)b, "also to spans");
    free(holds);
    sl_timeline_release(tl);
    reports_holds = false;
}

int main(void)
{
    plan(0);
    test_sides();
    test_functions();
    test_short_names();
    test_lack();
    test_turns();
    test_squeezed();
    test_guesses();
    test_grouped();
    test_kept();
    test_later();
    test_circle();
    return done_testing();
}
