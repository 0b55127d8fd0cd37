/* t-98-streams.c - whose streams they are: recorded processes, contexts and GPUs number theirs
 * alike. */
#define _XOPEN_SOURCE 700
#include "../tap.h"
#include "files.h"
#include "make.h"

#include "../../core/record/spool_pack.h"
#include "../../core/traces/traces.h"

#define BASE INT64_C(1300000000000000000)
#define US(time) (BASE + INT64_C(1000) * (time))
enum { DEFAULT = 1, NON_BLOCKING, NULL_STREAM };                /* CUpti_ActivityStreamFlag */
enum { FREE = 1, LAUNCH, SYNCHRONIZE, KERNEL, REDUCE, GATHER }; /* names */

static uint8_t records[8192];
static size_t n_records;
static spool_packer packer;

static void put(spool_record record)
{
    n_records = (size_t)(spool_pack(&packer, &record, records + n_records) - records);
}
#define PUT(member, ...) put((spool_record){ .member = __VA_ARGS__ })

static void begin(uint32_t pid)
{
    static const char *const names[] = { "",
                                         "cudaFree",
                                         "cudaLaunchKernel",
                                         "cudaDeviceSynchronize",
                                         "k",
                                         "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                                         "ncclDevKernel_AllGather_RING_LL" };
    n_records = 0;
    spool_pack_begin(&packer);
    PUT(start, { .kind = SPOOL_START,
                 .version = SPOOL_VERSION,
                 .pid = pid,
                 .cupti_ns = BASE,
                 .system_ns = BASE,
                 .program = "train" });
    for (uint32_t id = 1; id <= GATHER; id++)
        PUT(name, { .kind = SPOOL_NAME, .id = id, .text = names[id] });
}

/* With its NULL stream, 7. */
static void context(uint32_t id, uint32_t device)
{
    PUT(context, { .kind = SPOOL_CONTEXT, .context = id, .device = device, .null_stream = 7 });
    PUT(stream, { .kind = SPOOL_STREAM, .context = id, .stream = 7, .flag = NULL_STREAM });
}

static void made(uint32_t context, uint32_t id, uint32_t flag)
{
    PUT(stream, { .kind = SPOOL_STREAM, .context = context, .stream = id, .flag = flag });
}

static void cuda_call(uint32_t name, uint32_t correlation, int start, int end)
{
    PUT(call, { .kind = SPOOL_CALL,
                .name = name,
                .thread = 5,
                .correlation = correlation,
                .start_ns = (uint64_t)US(start),
                .end_ns = (uint64_t)US(end) });
}

/* Launched 10 us before it starts. */
static void run_as(uint32_t name, uint32_t device, uint32_t context, uint32_t stream,
                   uint32_t correlation, int start, int end)
{
    cuda_call(LAUNCH, correlation, start - 10, start - 8);
    PUT(kernel, { .kind = SPOOL_KERNEL,
                  .name = name,
                  .blocks = 1,
                  .threads = 32,
                  .device = device,
                  .context = context,
                  .stream = stream,
                  .correlation = correlation,
                  .start_ns = (uint64_t)US(start),
                  .end_ns = (uint64_t)US(end) });
}

static void run(uint32_t device, uint32_t context, uint32_t stream, uint32_t correlation, int start,
                int end)
{
    run_as(KERNEL, device, context, stream, correlation, start, end);
}

static void write_spool(const char *path)
{
    PUT(end, { .kind = SPOOL_END });
    const spool_chunk chunk = { SPOOL_MAGIC, (uint32_t)n_records,
                                sl__checksum(SL__HASH_START, records, n_records) };
    FILE *file = fopen(path, "wb");
    fwrite(&chunk, 1, sizeof chunk, file);
    fwrite(records, 1, n_records, file);
    fclose(file);
}

static sl_timeline *load(const char *path, int device)
{
    sl_timeline *tl = NULL;
    sl_error err;
    must(sl_timeline_load(path, device, &tl, &err), &err);
    return tl;
}

/* "100 stream 7 null", a stream a line, of those that have spans, by their starts. */
static const char *describe(const sl_timeline *tl)
{
    static char text[512];
    size_t n = 0, n_notes;
    const sl_stream_note *notes = sl_timeline_streams(tl, &n_notes);
    text[0] = '\0';
    for (size_t i = 0; i < sl_timeline_span_count(tl); i++) {
        char name[SL_STREAM_NAME_BYTES];
        const uint32_t id = sl_timeline_span(tl, i).stream;
        size_t at = 0;
        while (at < n_notes && notes[at].id != id)
            at++;
        const bool blocks = at < n_notes && !notes[at].non_blocking;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%s", i ? ", " : "",
                              sl_timeline_stream_name(tl, id, name),
                              sl_timeline_is_null_stream(tl, id) ? " null"
                              : blocks                           ? " blocking"
                                                                 : "");
    }
    return text;
}

/* ---- processes ---- */

/* Two with the same numbers: kernels at 20 and 60, those of the second at 120 and 160. The second
 * one waits for its device, and frees memory, which ends when a kernel of the first one does. */
static void put_processes(void)
{
    begin(100);
    context(1, 0);
    made(1, 13, DEFAULT);
    run(0, 1, 7, 1, 20, 30);
    run(0, 1, 13, 2, 60, 70);
    run(0, 1, 13, 3, 210, 300);
    write_spool(in_directory("a.spool"));
    begin(200);
    context(1, 0);
    made(1, 13, DEFAULT);
    made(1, 14, NON_BLOCKING);
    run(0, 1, 7, 1, 120, 130);
    run(0, 1, 13, 2, 160, 170);
    run(0, 1, 14, 3, 180, 190);
    cuda_call(SYNCHRONIZE, 4, 182, 192);
    cuda_call(FREE, 5, 220, 301);
    write_spool(in_directory("b.spool"));
}

static void test_processes(void)
{
    put_processes();
    for (int saved = 0; saved < 2; saved++) {
        sl_error err;
        sl_timeline *tl = load(saved ? in_directory("p.json") : directory, SL_BUSIEST_DEVICE);
        is_str(describe(tl),
               "100 stream 7 null, 100 stream 13 blocking, 200 stream 7 null, "
               "200 stream 13 blocking, 200 stream 14, 100 stream 13 blocking",
               "each process has a NULL stream, and streams that wait for it%s",
               saved ? ", in the written file, too" : "");
        const sl_call wait = sl_timeline_call(tl, 0), freed = sl_timeline_call(tl, 1);
        char name[SL_STREAM_NAME_BYTES];
        is_str(sl_timeline_stream_name(tl, wait.stream, name), "200 stream 7",
               "a process waits for its own work");
        ok(!freed.waited_for_device, "memory is not freed when another process's kernel ends");
        if (!saved) must(sl_timeline_save_kineto(tl, in_directory("p.json"), &err), &err);
        sl_timeline_release(tl);
        if (!saved) unlink(in_directory("a.spool"));
        if (!saved) unlink(in_directory("b.spool"));
    }
    unlink(in_directory("p.json"));
}

/* Kernels of one from 20 to 60 and 100 to 140, of the other from 50 to 110, and an empty one; a
 * third one's come when these are over. */
static void test_turns(void)
{
    size_t n;
    begin(100);
    context(1, 0);
    run(0, 1, 7, 1, 20, 60);
    run(0, 1, 7, 2, 100, 140);
    write_spool(in_directory("a.spool"));
    begin(200);
    context(1, 0);
    run(0, 1, 7, 1, 30, 30);
    run(0, 1, 7, 2, 50, 110);
    write_spool(in_directory("b.spool"));
    begin(300);
    context(1, 0);
    run(0, 1, 7, 1, 140, 150);
    write_spool(in_directory("c.spool"));
    sl_timeline *tl = load(directory, SL_BUSIEST_DEVICE);
    const sl_doubt *doubts = sl_timeline_doubts(tl, &n);
    size_t at = 0;
    while (at < n && doubts[at].kind != SL_DOUBT_TURNS)
        at++;
    ok(at < n && doubts[at].n == 2 && doubts[at].ns == 20000,
       "two of three processes have kernels under way at once for 10 + 10 us");
    sl_timeline_release(tl);
    unlink(in_directory("a.spool"));
    unlink(in_directory("b.spool"));
    unlink(in_directory("c.spool"));
}

/* ---- contexts ---- */

static void test_contexts(void)
{
    begin(100);
    context(1, 0);
    made(1, 13, NON_BLOCKING);
    run(0, 1, 13, 1, 20, 30);
    run(0, 1, 7, 2, 40, 50);
    context(2, 0); /* behind cudaDeviceReset */
    made(2, 13, DEFAULT);
    run(0, 2, 13, 3, 60, 70);
    run(0, 2, 7, 4, 80, 90);
    write_spool(in_directory("c.spool"));
    sl_timeline *tl = load(in_directory("c.spool"), SL_BUSIEST_DEVICE);
    is_str(describe(tl),
           "stream 13, stream 7 null, stream 13 (context 2) blocking, stream 7 (context 2) null",
           "a context that comes later has streams of its own, also with the same numbers");
    sl_timeline_release(tl);
    unlink(in_directory("c.spool"));
}

/* The second GPU's kernels end later, and it has one more. */
static void test_peer_copies(void)
{
    begin(100);
    context(1, 0);
    for (uint32_t to = 0; to < 3; to++)
        PUT(copy, { .kind = SPOOL_COPY,
                    .direction = 10, /* from GPU to GPU */
                    .from = 3,
                    .to = 3,
                    .context = 1,
                    .stream = 7,
                    .from_device = 0,
                    .to_device = to == 2 ? SPOOL_NONE : to,
                    .correlation = to + 1,
                    .start_ns = (uint64_t)US(20 + 10 * (int)to),
                    .end_ns = (uint64_t)US(25 + 10 * (int)to) });
    write_spool(in_directory("e.spool"));
    sl_timeline *tl = load(in_directory("e.spool"), 0);
    const char *const names[] = { "Memcpy PtoP (Device -> Device)",
                                  "Memcpy PtoP (Device 0 -> Device 1)",
                                  "Memcpy PtoP (Device -> Device)" };
    for (size_t i = 0; i < 3; i++)
        is_str(sl_timeline_text(tl, sl_timeline_span(tl, i).name), names[i],
               "a copy says between which GPUs it is, where these are two");
    sl_timeline_release(tl);
    unlink(in_directory("e.spool"));
}

static void test_devices(void)
{
    begin(100);
    context(1, 0);
    context(2, 1);
    made(1, 13, NON_BLOCKING);
    made(2, 13, DEFAULT);
    run(0, 1, 13, 1, 20, 30);
    run(0, 1, 7, 2, 40, 50);
    run(1, 2, 13, 3, 60, 75);
    run(1, 2, 7, 4, 80, 95);
    run(1, 2, 7, 5, 100, 120);
    write_spool(in_directory("d.spool"));
    sl_timeline *tl = load(in_directory("d.spool"), 0);
    is_str(describe(tl), "stream 13, stream 7 null", "streams of the first GPU");
    sl_timeline_release(tl);
    tl = load(in_directory("d.spool"), SL_BUSIEST_DEVICE);
    is_str(describe(tl), "stream 13 blocking, stream 7 null, stream 7 null",
           "are others than those of the second one with the same numbers");
    is_int(sl_timeline_device(tl)->index, 1, "which has more operations, and is the one taken");
    sl_timeline_release(tl);
    unlink(in_directory("d.spool"));
}

/* ---- ranks ---- */

/* A process on each of two GPUs: the second one comes to the first collective at 70, the first to
 * the other at 150. `last` is the second one's other collective, which starts at last_us. */
static sl_timeline *ranks(uint32_t last, int last_us)
{
    begin(100);
    context(1, 0);
    run_as(REDUCE, 0, 1, 13, 1, 20, 100);
    run_as(GATHER, 0, 1, 13, 2, 150, 170);
    run(0, 1, 7, 3, 200, 210);
    write_spool(in_directory("a.spool"));
    begin(200);
    context(1, 1);
    run_as(REDUCE, 1, 1, 13, 1, 70, 101);
    run_as(last, 1, 1, 13, 2, last_us, last_us + 60);
    write_spool(in_directory("b.spool"));
    sl_timeline *tl = load(directory, 0);
    unlink(in_directory("a.spool"));
    unlink(in_directory("b.spool"));
    return tl;
}

static const sl_collective_note *note_of(const sl_timeline *tl, size_t span)
{
    return sl_timeline_find_collective(tl, sl_timeline_span(tl, span).correlation);
}

static void test_ranks(void)
{
    sl_timeline *tl = ranks(GATHER, 110);
    const sl_collective_note *first = note_of(tl, 0), *second = note_of(tl, 1);
    ok(first && first->collective == SL_ALL_REDUCE && first->dtype == SL_BFLOAT16
           && first->rank == 0 && first->ranks == 2,
       "kernels of NCCL are parts of collectives, by name and order");
    is_int(first ? first->met_ns - sl_timeline_span(tl, 0).start_ns : 0, 50000,
           "which begin when the last rank has come, 50 us later");
    is_int(first ? first->late_rank : -1, 1, "which is that of the other GPU");
    ok(second && second->collective == SL_ALL_GATHER && second->late_rank == 0
           && second->number == 2,
       "of the next one it is this one");
    ok(!note_of(tl, 2), "another kernel is no collective");
    sl_timeline_release(tl);
    tl = ranks(REDUCE, 110);
    ok(!note_of(tl, 0), "ranks that call others belong to groups, of which nothing is known");
    sl_timeline_release(tl);
    tl = ranks(GATHER, 171);
    ok(!note_of(tl, 1), "a collective does not end before all ranks have come: it is none");
    sl_timeline_release(tl);
}

/* What NCCL says as a communicator of two ends: in a process with `of` of them. */
static int32_t ranks_said(uint32_t of)
{
    static const char *const ends[] = { "NCCL:ncclCommDestroy, comm = ab, ranks = 2, rank = 0",
                                        "NCCL:ncclCommDestroy, comm = ab, ranks = 2, rank = 1" };
    begin(100);
    context(1, 0);
    run(0, 1, 7, 1, 20, 30);
    for (uint32_t i = 0; i < of; i++) {
        PUT(name, { .kind = SPOOL_NAME, .id = GATHER + 1 + i, .text = ends[i] });
        PUT(range, { .kind = SPOOL_RANGE,
                     .name = GATHER + 1 + i,
                     .thread = 5,
                     .start_ns = (uint64_t)US(40),
                     .end_ns = (uint64_t)US(41) });
    }
    write_spool(in_directory("a.spool"));
    sl_timeline *tl = load(in_directory("a.spool"), 0);
    const int32_t ranks = sl_timeline_origin(tl).ranks;
    sl_timeline_release(tl);
    unlink(in_directory("a.spool"));
    return ranks;
}

/* As NCCL names a range of a call on thread 5. */
static void said(uint32_t id, const char *name, int at)
{
    PUT(name, { .kind = SPOOL_NAME, .id = id, .text = name });
    PUT(range, { .kind = SPOOL_RANGE,
                 .name = id,
                 .thread = 5,
                 .start_ns = (uint64_t)US(at),
                 .end_ns = (uint64_t)US(at) });
}

/* Bytes of the collective on that GPU, of a thread that calls one for each of two within a group:
 * calls at 5 and 6 us, launches at 10 and 12, and a further kernel of the first GPU behind. */
static int64_t group_bytes(int device, const char *first, const char *second)
{
    begin(100);
    context(1, 0);
    context(2, 1);
    said(GATHER + 1, first, 5);
    said(GATHER + 2, second, 6);
    run_as(REDUCE, 0, 1, 7, 1, 20, 30);
    run_as(REDUCE, 1, 2, 7, 2, 22, 30);
    run_as(REDUCE, 0, 1, 7, 3, 32, 40);
    write_spool(in_directory("a.spool"));
    sl_timeline *tl = load(in_directory("a.spool"), device);
    const sl_exchange_note *note = sl_timeline_find_exchange(tl,
                                                             sl_timeline_span(tl, 0).correlation);
    const int64_t bytes = note ? (int64_t)note->bytes : -1;
    ok(device != 0 || !sl_timeline_find_exchange(tl, sl_timeline_span(tl, 1).correlation),
       "a GPU's further kernel of a group is a part");
    sl_timeline_release(tl);
    unlink(in_directory("a.spool"));
    return bytes;
}

static void test_several_gpus_of_a_thread(void)
{
    static const char small[] = "NCCL:ncclAllReduce, comm = ab, bytes = 4096",
                      large[] = "NCCL:ncclAllReduce, comm = ab, bytes = 5000";
    is_int(group_bytes(0, small, small), 4096, "of two calls for two GPUs one is the first's");
    is_int(group_bytes(1, small, small), 4096, "and one the other's");
    is_int(group_bytes(0, small, large), 0, "whose is which of two sizes is not known");
    is_int(group_bytes(1, small, large), 0, "nor on the other one");
}

static void test_ranks_said(void)
{
    is_int(ranks_said(1), 2, "a process that is a rank says of how many");
    is_int(ranks_said(2), 0, "one that is all ranks is none of them");
}

int main(void)
{
    plan(0);
    make_directory();
    test_processes();
    test_turns();
    test_contexts();
    test_devices();
    test_peer_copies();
    test_ranks();
    test_ranks_said();
    test_several_gpus_of_a_thread();
    ok(rmdir(directory) == 0, "no file is left");
    return done_testing();
}
