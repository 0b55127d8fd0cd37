/* t-30-activity.c - core/cuda/cuda_activity.c with CUPTI: which operation a record belongs to, the clocks,
 * losses. */
#define _GNU_SOURCE /* mkdtemp */

#if __has_include(<cupti.h>)

#include "cupti_rig.h"

/* ---- whose record ---- */

static void test_one(void)
{
    rig *r = open_recording("x");
    fake_cupti_work work = kernel(1002000, 1005000);
    work.name = "_Z4fillIfEvPT_S0_m";
    work.registers = 255;
    work.shared_bytes[0] = 1024, work.shared_bytes[1] = 231424;
    rest.step_ns = 10;
    cuda_op *op = enqueue(r, SL_WORK_KERNEL, &work, 1, NULL);
    rest.step_ns = 0;
    ok(op->base.host_start_ns == 1 && op->base.host_end_ns == 21,
       "an operation knows when the host enqueued it");
    ok(op->base.start_ns == SL_TIME_LATER && op->base.end_ns == SL_TIME_LATER,
       "and that its own times come later");
    is_int((int64_t)trace.matching.n_calls, 1,
           "its call is known, once, although the driver's is within the run time's");
    complete(r, op);
    set_clocks(1010000, 10000);
    is_int(collect(r), 1, "its activity is collected");
    is_int(found.first[0].seq, 1, "as that operation's");
    is_int(found.first[0].start_ns, 2000, "its start on the host's clock");
    is_int(found.first[0].end_ns, 5000, "and its end");
    is_int(found.first[0].blocks, 24, "the kernel's blocks");
    is_int(found.first[0].threads, 256, "and threads");
    is_int(found.first[0].registers, 255, "the registers of one");
    is_int(found.first[0].shared_bytes, 232448, "a block's shared memory of both kinds");
    is_str(found.symbols[0], cuda_kernel_name(work.name), "and name");
    is_int(collect(r), 0, "once");
    end_recording(r, "a kernel");
}

static void test_kinds(void)
{
    static const int kinds_of[] = {
        CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMCPY2,
        CUPTI_ACTIVITY_KIND_MEMSET,
    };
    static const sl_work_kind of[] = { SL_WORK_MEMCPY, SL_WORK_MEMCPY, SL_WORK_MEMSET };
    rig *r = open_recording("x");
    for (int i = 0; i < 3; i++) {
        fake_cupti_work work = {
            .kind = kinds_of[i],
            .start = 1000001 + (uint64_t)i,
            .end = 1000007,
        };
        complete(r, enqueue(r, of[i], &work, 1, NULL));
    }
    is_int(collect(r), 3, "copies, copies between devices and memsets have activities");
    for (int i = 0; i < 3; i++)
        ok(found.first[i].seq == (uint64_t)i + 1 && found.first[i].start_ns == 1 + i
               && found.first[i].end_ns == 7 && found.first[i].blocks == 0
               && found.first[i].registers == 0 && !found.first[i].symbol,
           "with times and no grid");
    end_recording(r, "copies");
}

/* ---- graphs ---- */

/* Nodes 0 and 2 of the body; the first is two of CUDA's. CUPTI numbers what was captured. */
static uint64_t captured_ids[] = { (UINT64_C(7) << 32) + 4, (UINT64_C(7) << 32) + 1,
                                   (UINT64_C(7) << 32) + 2 };

static cuda_graph *new_graph(void)
{
    static const uint32_t nodes_of[] = { 2, 0, 0 };
    cuda_graph *graph = calloc(1, sizeof *graph);
    graph->n_nodes = 3;
    graph->nodes = calloc(3, sizeof *graph->nodes);
    for (int i = 0; i < 3; i++)
        graph->nodes[i] = (cuda_node){ .handle = (cudaGraphNode_t)(void *)&captured_ids[i],
                                       .index = nodes_of[i] };
    return graph;
}

static void free_graph(cuda_graph *graph)
{
    cuda_node_ids_release(graph->ids);
    free(graph->nodes);
    free(graph);
}

/* A kernel that was this node of the executable graph, whose number is 9. */
static fake_cupti_work node_kernel(uint32_t node, uint64_t start, uint64_t end)
{
    fake_cupti_work work = kernel(start, end);
    work.graph_node = (UINT64_C(9) << 32) + node;
    return work;
}

static void launch_graph(rig *r, cuda_graph *graph, const fake_cupti_work *work, int n)
{
    cuda_op *op = new_op(r, SL_WORK_GRAPH);
    op->base.graph = &graph->base;
    pass(1);
    cuda_activity_before(op, NULL);
    fake->call(work, n);
    cuda_activity_after(op, true);
    r->dev.n_in_flight++;
    r->last_seq += 3; /* its nodes are operations */
    complete(r, op);
}

static bool is_activity(size_t i, uint64_t seq, int64_t start_ns)
{
    return found.first[i].seq == seq && found.first[i].start_ns == start_ns;
}

static void test_graphs(void)
{
    rig *r = open_recording("x");
    cuda_graph *graph = new_graph();
    const fake_cupti_work first[] = { node_kernel(1, 1000010, 1000020),
                                      node_kernel(2, 1000020, 1000030),
                                      node_kernel(4, 1000030, 1000040) };
    const fake_cupti_work second[] = { node_kernel(1, 1000050, 1000060),
                                       node_kernel(3, 1000060, 1000070),
                                       node_kernel(4, 1000070, 1000080) };
    launch_graph(r, graph, first, 3);  /* operation 1, and its nodes 2 to 4 */
    launch_graph(r, graph, second, 3); /* operation 5 */
    run_kernel(r, 1000090, 1000095);   /* operation 9 */
    free_graph(graph);
    cuda_activity_func_ran(&r->dev, 7, 33, 44);
    is_int(collect(r), 7, "each node of a launch has its activities, each launch anew");
    ok(is_activity(0, 7, 33), "a host function has the host's times");
    ok(is_activity(1, 2, 10) && is_activity(2, 2, 20) && is_activity(3, 4, 30),
       "those of the first launch; an operation may be several of CUDA's nodes");
    ok(is_activity(4, 6, 50) && is_activity(5, 8, 70),
       "those of the second, but for a node that is not known");
    ok(is_activity(6, 9, 90), "and what comes behind it is nobody's node");
    is_int(collect(r), 0, "all of them once");
    end_recording(r, "launches of a graph");
}

static void test_several_kernels(void)
{
    rig *r = open_recording("x");
    fake_cupti_work split[] = { kernel(1000010, 1000020), kernel(1000020, 1000030) };
    complete(r, enqueue(r, SL_WORK_KERNEL, split, 2, NULL));
    cuda_op *op = new_op(r, SL_WORK_KERNEL);
    pass(1);
    cuda_activity_before(op, NULL);
    fake->call(&split[0], 1);
    fake->call(&split[1], 1);
    cuda_activity_after(op, true);
    r->dev.n_in_flight++;
    complete(r, op);
    is_int(collect(r), 4, "each kernel of an operation is an activity");
    ok(found.first[0].seq == 1 && found.first[1].seq == 1, "from one call");
    ok(found.first[2].seq == 2 && found.first[3].seq == 2, "or from two");
    end_recording(r, "split kernels");
}

static void test_nobodys(void)
{
    rig *r = open_recording("x");
    fake_cupti_work work = kernel(1000001, 1000002), broken[] = { kernel(0, 0), kernel(9, 8) };
    fake->call(&work, 1);
    run_kernel(r, 1000003, 1000004);
    pass(1);
    fake->call(&work, 1);
    complete(r, enqueue(r, SL_WORK_KERNEL, broken, 2, NULL));
    complete(r, enqueue(r, SL_WORK_EVENT_RECORD, NULL, 0, NULL));
    complete(r, enqueue(r, SL_WORK_EVENT_WAIT, &work, 1, NULL));
    is_int(collect(r), 1, "records of nobody's, and those without times, are passed over");
    is_int(found.first[0].start_ns, 3, "among one of ours");
    cuda_op *failed = new_op(r, SL_WORK_KERNEL);
    cuda_activity_before(failed, NULL);
    cuda_activity_after(failed, false);
    free(failed);
    pass(1);
    fake->call(&work, 1);
    is_int(collect(r), 0, "what follows an operation that could not be enqueued is not that one's");
    cuda_op *func = enqueue(r, SL_WORK_HOST_FUNC, &work, 1, NULL);
    ok(func->base.start_ns == 0, "a host function's times are not ours");
    is_int(collect(r), 0, "nor are the calls that are made for it");
    complete(r, func);
    end_recording(r, "records of nobody's");
}

static void test_order(void)
{
    for (int way = 0; way < 4; way++) {
        rig *r = open_recording("x");
        bool right = true;
        fake->backwards = way & 1;
        fake->other_threads = way & 2;
        for (uint64_t i = 0; i < 20; i++)
            run_kernel(r, 1000100 + 10 * i, 1000105 + 10 * i);
        is_int(collect(r), 20, "every operation has its activity, way %d", way);
        for (int i = 0; i < 20; i++)
            right &= found.first[i].start_ns == 90 + 10 * (int64_t)found.first[i].seq;
        ok(right, "in whatever order the records come");
        end_recording(r, "that");
    }
    fake->backwards = fake->other_threads = false;
}

/* A delivery takes time, and makes the next call longer. */
static void test_delivery(void)
{
    rig *r = open_recording("x");
    run_kernel(r, 1000010, 1000020);
    fake->flushes = 0;
    rest.host_ns += 60000000;
    cuda_activity_idle(&r->dev);
    is_int(fake->flushes, 0, "a wait in a recording's first second asks for no records");
    rest.host_ns += 1000000000;
    cuda_activity_idle(&r->dev);
    is_int(fake->flushes, 1, "a later one does");
    cuda_activity_idle(&r->dev);
    is_int(fake->flushes, 1, "and the next one not at once again");
    end_recording(r, "a long recording");
}

/* What still runs must not be asked for: CUPTI would give it up without an end. */
static void test_in_flight(void)
{
    rig *r = open_recording("x");
    uint32_t call;
    fake_cupti_work work = kernel(0, 0);
    cuda_record_begin(&r->dev.base, "inner", NULL);
    run_kernel(r, 1000010, 1000020);
    cuda_op *op = enqueue(r, SL_WORK_KERNEL, &work, 1, &call);
    fake->forced_flushes = 0;
    is_int(collect(r), 0, "a buffer with an operation in flight is left alone");
    is_int(fake->forced_flushes, 0, "no flush is forced");
    fake->finish(call, 1000030, 1000040);
    is_int(collect(r), 2, "when its kernel has ended it comes without force");
    complete(r, op);
    run_kernel(r, 1000050, 1000060);
    is_int(collect(r), 1, "and once");
    ok(fake->forced_flushes > 0, "a flush is forced when nothing is in flight");
    cuda_record_end(&r->dev.base);
    end_recording(r, "an operation in flight");
}

static void test_end_in_flight(void)
{
    rig *r = open_recording("x");
    uint32_t call;
    fake_cupti_work work = kernel(0, 0);
    run_kernel(r, 1000001, 1000002);
    cuda_op *op = enqueue(r, SL_WORK_KERNEL, &work, 1, &call);
    is_int(collect(r), 1,
           "the last recording gets what shares a buffer with an operation that "
           "is in flight");
    is_int(found.first[0].seq, 1, "and nothing of that operation");
    cuda_record_end(&r->dev.base);
    ok(fake->buffers == 0 && live_blocks == 0, "a recording ends while an operation is in flight");
    ok(!trace.matching.calls && !trace.matching.records, "and keeps nothing of it");
    complete(r, op);
    set_clocks(1000000, 0);
    cuda_record_begin(&r->dev.base, "y", NULL);
    run_kernel(r, 1000010, 1000020);
    is_int(collect(r), 1, "the next recording has its own operations alone");
    is_int(found.first[0].seq, 3, "by their numbers");
    end_recording(r, "that");
}

static void test_two_devices(void)
{
    rig *a = open_recording("a"), *b = open_recording("b");
    is_int(fake->subscribed, 1, "two devices share CUPTI");
    run_kernel(a, 1000010, 1000020);
    run_kernel(b, 1000030, 1000040);
    is_int(collect(a), 1, "each gets its own operations");
    is_int(found.first[0].start_ns, 10, "the first its first one");
    run_kernel(b, 1000050, 1000060);
    is_int(collect(b), 2, "what came meanwhile was kept for the second");
    ok(found.first[0].seq == 1 && found.first[0].start_ns == 30 && found.first[1].seq == 2,
       "whose numbers are the same");
    is_int(collect(b), 0, "once");
    run_kernel(a, 1000070, 1000080);
    uint32_t call;
    fake_cupti_work work = kernel(0, 0);
    cuda_op *op = enqueue(a, SL_WORK_KERNEL, &work, 1, &call);
    run_kernel(b, 1000080, 1000090);
    fake->forced_flushes = 0;
    collect(b);
    is_int(fake->forced_flushes, 0, "what the other has in flight is not asked for");
    end_recording(b, "a recording beside another");
    ok(fake->subscribed == 1, "CUPTI stays as long as one of them records");
    fake->finish(call, 1000090, 1000095);
    complete(a, op);
    is_int(collect(a), 2, "and goes on");
    end_recording(a, "the other one");
    ok(live_blocks == 0, "nothing is left behind");
}

/* ---- clocks ---- */

/* NCCL launches the kernels of a group in one call for all devices; here two operations of the
 * first device and one of the second. */
static void test_group(void)
{
    rig *one = open_recording("one"), *two = open_recording("two");
    fake_cupti_work work[2] = { kernel(1000100, 1000200), kernel(1000110, 1000250) };
    two->dev.base.info.index = 1;
    work[1].device = 1;
    two->last_seq = 40;
    cuda_op *ops[3] = { new_op(one, SL_WORK_COLLECTIVE), new_op(two, SL_WORK_COLLECTIVE),
                        new_op(one, SL_WORK_COLLECTIVE) };
    sl_op *const list[3] = { &ops[0]->base, &ops[1]->base, &ops[2]->base };
    is_int(cuda_activity_group_before(list, 3, NULL), SL_OK, "a group of collectives begins");
    fake->call(&work[0], 1);
    fake->call(&work[1], 1);
    cuda_activity_group_after(list, 3, true);
    ok(ops[1]->base.start_ns == SL_TIME_LATER, "its times come later");
    is_int(collect(one), 2, "a device gets what its operations did");
    ok(found.first[0].seq == 1 && found.first[0].end_ns - found.first[0].start_ns == 100,
       "the first has the kernel's time");
    ok(found.first[1].seq == 2 && found.first[1].start_ns == found.first[0].end_ns
           && found.first[1].end_ns == found.first[0].end_ns,
       "the other one ends with it");
    is_int(collect(two), 1, "and the other device too");
    ok(found.first[0].seq == 41 && found.first[0].end_ns - found.first[0].start_ns == 140,
       "what it did");
    for (int i = 0; i < 3; i++)
        free(ops[i]);
    end_recording(two, "a group of two devices");
    end_recording(one, "the same");
}

static void test_clocks(void)
{
    rig *r = open_rig();
    set_clocks(5000000000, 1000);
    cuda_record_begin(&r->dev.base, "x", NULL);
    for (uint64_t i = 0; i <= 4; i++) /* at 0, 1/4, ... 1 of the time */
        run_kernel(r, 5000000000 + i * 1000000, 5000000000 + i * 1000000);
    set_clocks(5004000000, 1000 + 4000000 - 8000);
    is_int(collect(r), 5, "clocks drift apart by 8 us in 4 ms");
    for (int i = 0; i <= 4; i++)
        is_int(found.first[i].start_ns, 1000 + i * (1000000 - 2000),
               "which is spread over the time between two readings");
    run_kernel(r, 5004000000, 5005000000);
    set_clocks(5005000000, 1000 + 5000000 - 8000);
    collect(r);
    is_int(found.first[0].start_ns, 1000 + 4000000 - 8000, "the next reading begins there");
    is_int(found.first[0].end_ns, 1000 + 5000000 - 8000, "and goes on");
    end_recording(r, "drifting clocks");
}

/* ---- many, and losses ---- */

static uint8_t *seen_seqs;

static void on_one_of_many(void *ud, const sl_activity *activity)
{
    uint64_t n = *(const uint64_t *)ud;
    if (activity->seq >= 1 && activity->seq <= n
        && activity->start_ns == 10 * (int64_t)activity->seq)
        seen_seqs[activity->seq]++;
}

static void test_many(void)
{
    uint64_t n = 1000000, right = 0;
    rig *r = open_recording("x");
    seen_seqs = calloc(n + 1, 1);
    fake->other_threads = true;
    most_live_blocks = 0;
    for (uint64_t i = 1; i <= n; i++)
        run_kernel(r, 1000000 + 10 * i, 1000005 + 10 * i);
    fake->wait();
    for (int i = 0; i < 100; i++)
        cuda_activity_tidy(&r->dev);
    is_int(atomic_load(&buffers.n_full), BUFFERS_WAITING, "a host that waits reads full buffers");
    cuda_record_collect(&r->dev.base, on_one_of_many, &n);
    for (uint64_t i = 1; i <= n; i++)
        right += seen_seqs[i] == 1;
    is_int(right, n, "each of a million operations has its activity, once");
    ok(most_live_blocks <= 16, "CUPTI's buffers are read as they come");
    diag("buffers of 1 MiB at a time: %d of %d", most_live_blocks, fake->requests);
    ok(!r->dev.base.notice, "nothing is lost");
    fake->other_threads = false;
    free(seen_seqs);
    end_recording(r, "a million operations");
    ok(live_blocks == 0, "and no buffers stay");
}

static const char lost_one[] =
    "recording: out of memory for 1 of CUPTI's records; operations are without times";

static void test_losses(void)
{
    rig *r = open_recording("x");
    fake->dropped = 7;
    collect(r);
    is_str(r->dev.base.notice,
           "recording: out of memory for 7 of CUPTI's records; operations "
           "are without times",
           "what CUPTI dropped is reported");
    r->dev.base.notice = NULL;
    collect(r);
    ok(!r->dev.base.notice, "once");
    growths_until_failure = 1;
    run_kernel(r, 1000001, 1000002);
    is_int(collect(r), 0, "without memory for a call its record is nobody's");
    is_str(r->dev.base.notice, lost_one, "and that is reported");
    r->dev.base.notice = NULL;
    run_kernel(r, 1000001, 1000002);
    growths_until_failure = 1;
    is_int(collect(r), 0, "without memory for a record it is lost");
    is_str(r->dev.base.notice, lost_one, "and that is reported");
    run_kernel(r, 1000001, 1000002);
    is_int(collect(r), 1, "what comes after is not");
    end_recording(r, "losses");
}

static void test_no_memory(void)
{
    rig *r = open_rig();
    mallocs_until_failure = 1;
    is_int(cuda_record_begin(&r->dev.base, "x", NULL), SL_OK,
           "a recording begins without memory for a buffer");
    run_kernel(r, 1000001, 1000002); /* has a buffer */
    is_int(collect(r), 1, "and has one when there is");
    cuda_record_end(&r->dev.base);
    mallocs_until_failure = 1;
    cuda_record_begin(&r->dev.base, "x", NULL);
    cuda_trace_free_buffers();
    buffers.attached = true;
    mallocs_until_failure = 1;
    run_kernel(r, 1000001, 1000002);
    ok(fake->refused > 0, "CUPTI gets no buffer when there is no memory");
    is_int(collect(r), 0, "and drops the record");
    ok(r->dev.base.notice != NULL, "which is reported");
    rig *b = open_recording("b");
    run_kernel(b, 1000001, 1000002);
    growths_until_failure = 2; /* for the record, and to keep it for b */
    r->dev.base.notice = NULL;
    is_int(collect(r), 0, "what is found for another device can be lost, too");
    is_str(r->dev.base.notice, lost_one, "which is reported");
    end_recording(b, "a loss");
    end_recording(r, "losses");
    ok(live_blocks == 0 && fake->buffers == 0, "nothing is left behind");
}

static void test_late_buffer(void)
{
    uint8_t *data;
    size_t bytes, most;
    rig *r = open_recording("x");
    on_requested(&data, &bytes, &most);
    ok(((uintptr_t)data & 7) == 0 && bytes >= 1 << 20 && most == 0,
       "a buffer is large and aligned");
    end_recording(r, "a recording with a buffer outside");
    on_completed(NULL, 0, data, bytes, 0);
    ok(live_blocks == 0, "a buffer that comes back late is freed");
}

static void test_lost_device(void)
{
    rig *r = open_recording("x");
    uint32_t call;
    fake_cupti_work work = kernel(0, 0);
    run_kernel(r, 1000010, 1000020);
    cuda_op *op = enqueue(r, SL_WORK_KERNEL, &work, 1, &call);
    rest.sticky = cudaErrorLaunchFailure;
    sl_fail(&r->dev.base.fault, SL_EFAULT, "unspecified launch failure");
    op->base.lost = true;
    complete(r, op);
    is_int(collect(r), 1, "of a lost device what has run is collected");
    rest.launches = 0;
    rest.sticky = cudaSuccess;
    end_recording(r, "a fault");
}

int main(int argc, char **argv)
{
    plan(0);
    (void)argc;
    unsetenv("STREAMLAB_CUPTI");
    if (!ok(offer_fake(argv[0]), "CUPTI is opened where STREAMLAB_CUDA_LIB says"))
        return done_testing();
    test_one();
    test_kinds();
    test_graphs();
    test_several_kernels();
    test_nobodys();
    test_order();
    test_delivery();
    test_in_flight();
    test_end_in_flight();
    test_two_devices();
    test_group();
    test_clocks();
    test_losses();
    test_no_memory();
    test_late_buffer();
    test_lost_device();
    test_many();
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
