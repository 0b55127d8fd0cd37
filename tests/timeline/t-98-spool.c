/* t-98-spool.c - spools made by hand: two processes in one timeline, and bytes that no recorder
 * writes, behind checksums that are right. What programs leave is in tests/record. */
#define _XOPEN_SOURCE 700
#include "../tap.h"
#include "../fuzz/exercise.h"
#include "files.h"

#include <signal.h>
#include <sys/wait.h>

#include "../../core/base.h"
#include "../../core/record/spool_pack.h"
#include "../../core/timeline/sm_room.h"
#include "../../core/timeline/store.h"

#define BASE INT64_C(1300000000000000000)
enum { RECORDS_MOST = 4096 };

/* The records of a chunk. */
static unsigned char records[RECORDS_MOST];
static size_t n_records;
static spool_packer packer;

static void put(spool_record record)
{
    const uint8_t *end = spool_pack(&packer, &record, records + n_records);
    n_records = (size_t)(end - records);
}
#define PUT(member, ...) put((spool_record){ .member = __VA_ARGS__ })

static void put_name(uint32_t id, const char *text)
{
    PUT(name, { .kind = SPOOL_NAME, .id = id, .text = text });
}

static void start_records(void)
{
    n_records = 0;
    spool_pack_begin(&packer);
}

/* system_ns: what the system's clock shows when CUPTI's shows BASE. */
static void put_beginning(uint32_t pid, int64_t system_ns)
{
    PUT(start, { .kind = SPOOL_START,
                 .version = SPOOL_VERSION,
                 .pid = pid,
                 .cupti_ns = BASE,
                 .system_ns = system_ns,
                 .program = "train" });
    put_name(1, "cudaLaunchKernel");
    put_name(2, "k");
    put_name(3, "cudaEventRecord");
    PUT(context, { .kind = SPOOL_CONTEXT, .context = 1, .device = 0, .null_stream = 7 });
    PUT(device, { .kind = SPOOL_DEVICE, .sms = 12, .name = "Played GPU" });
    PUT(stream, { .kind = SPOOL_STREAM, .context = 1, .stream = 13, .flag = 2, .priority = -1 });
}

/* A call at 10 us and its kernel from 20 to 30, by CUPTI's clock. */
static void put_kernel(void)
{
    PUT(call, { .kind = SPOOL_CALL,
                .name = 1,
                .start_ns = BASE + 10000,
                .end_ns = BASE + 12000,
                .thread = 5,
                .correlation = 1 });
    PUT(kernel, { .kind = SPOOL_KERNEL,
                  .registers = 8,
                  .threads = 64,
                  .start_ns = BASE + 20000,
                  .end_ns = BASE + 30000,
                  .correlation = 1,
                  .context = 1,
                  .stream = 13,
                  .blocks = 3,
                  .name = 2 });
}

/* The record of an event behind the kernel, and another stream's wait for it. */
static void put_wait(void)
{
    PUT(call, { .kind = SPOOL_CALL,
                .name = 3,
                .start_ns = BASE + 13000,
                .end_ns = BASE + 14000,
                .thread = 5,
                .correlation = 2 });
    PUT(event, { .kind = SPOOL_EVENT,
                 .correlation = 2,
                 .context = 1,
                 .stream = 13,
                 .event = 1,
                 .record = 9 });
    PUT(sync, { .kind = SPOOL_SYNC,
                .type = 2,
                .correlation = 3,
                .context = 1,
                .stream = 7,
                .event = 1,
                .record = 9 });
}

/* A call at 15 us and its copy from 40 to 50, a node of a graph. */
static void put_copy(void)
{
    PUT(call, { .kind = SPOOL_CALL,
                .name = 1,
                .start_ns = BASE + 15000,
                .end_ns = BASE + 16000,
                .thread = 5,
                .correlation = 4 });
    PUT(copy, { .kind = SPOOL_COPY,
                .direction = 1,
                .from = 1,
                .to = 3,
                .start_ns = BASE + 40000,
                .end_ns = BASE + 50000,
                .size = 4096,
                .correlation = 4,
                .context = 1,
                .stream = 7,
                .graph = 2,
                .node = 1 });
}

/* The call of the copy allocates, too, and the record's frees that. */
static void put_memory(void)
{
    PUT(memory, { .kind = SPOOL_MEMORY,
                  .operation = 1,
                  .memory = 3,
                  .correlation = 4,
                  .size = 4096,
                  .address = 0x7000,
                  .time_ns = BASE + 15500 });
    PUT(memory, { .kind = SPOOL_MEMORY,
                  .operation = 2,
                  .memory = 3,
                  .correlation = 2,
                  .address = 0x7000,
                  .time_ns = BASE + 15600,
                  .pool_bytes = UINT64_MAX });
}

static void put_process(uint32_t pid, int64_t system_ns)
{
    start_records();
    put_beginning(pid, system_ns);
    put_kernel();
    put_wait();
    put_copy();
    put_memory();
    PUT(overhead, { .kind = SPOOL_OVERHEAD,
                    .type = 7 << 16,
                    .start_ns = BASE + 15100,
                    .end_ns = BASE + 15200 });
    PUT(end, { .kind = SPOOL_END });
}

static void write_chunks(const char *path, int n)
{
    const spool_chunk chunk = { SPOOL_MAGIC, (uint32_t)n_records,
                                sl__checksum(SL__HASH_START, records, n_records) };
    FILE *file = fopen(path, "wb");
    for (int i = 0; i < n; i++) {
        fwrite(&chunk, 1, sizeof chunk, file);
        fwrite(records, 1, n_records, file);
    }
    fclose(file);
}

static void write_spool(const char *path) { write_chunks(path, 1); }

static void test_processes(void)
{
    sl_timeline *tl = NULL;
    sl_error err = { 0 };
    put_process(100, BASE + 5000000);
    write_spool(in_directory("a.spool"));
    put_process(200, BASE + 5001000); /* its clock is 1 us further behind: it ran 1 us later */
    write_spool(in_directory("b.spool"));
    ok(sl_timeline_load(directory, SL_BUSIEST_DEVICE, &tl, &err) == SL_OK,
       "a folder of spools is one timeline");
    is_int(sl_timeline_span_count(tl), 4, "with the operations of all");
    int64_t starts[4];
    for (size_t i = 0; i < 4; i++)
        starts[i] = sl_timeline_span(tl, i).start_ns;
    is_int(starts[0], 10000, "times count from the first call");
    is_int(starts[1], 11000, "those of another process are by the system's clock");
    is_int(starts[2], 30000, "so it is behind");
    is_int(starts[3], 31000, "in both");
    ok(sl_timeline_span(tl, 0).stream != sl_timeline_span(tl, 1).stream,
       "streams of two processes are two");
    sl_timeline_release(tl);
    unlink(in_directory("a.spool"));
    unlink(in_directory("b.spool"));
}

static void put_range(uint32_t name, uint32_t thread, uint64_t start_us, uint64_t end_us)
{
    PUT(range, { .kind = SPOOL_RANGE,
                 .name = name,
                 .thread = thread,
                 .start_ns = BASE + start_us * 1000,
                 .end_ns = BASE + end_us * 1000 });
}

/* The first call of the process is at 10 us, which is the beginning of the timeline. */
static void test_ranges(void)
{
    sl_timeline *tl = NULL;
    sl_error err = { 0 };
    put_process(100, BASE + 5000000);
    put_name(4, "epoch");
    put_name(5, "forward");
    put_range(5, 5, 9, 11);
    put_range(4, 5, 2, 40);
    put_range(4, 77, 2, 40); /* of a thread without calls */
    put_range(5, 5, 30, 12); /* ends before it starts */
    write_spool(in_directory("r.spool"));
    ok(sl_timeline_load(in_directory("r.spool"), SL_BUSIEST_DEVICE, &tl, &err) == SL_OK,
       "a spool with ranges is read");
    is_int(sl_timeline_host_range_count(tl), 2,
           "ranges of threads that call, with times in order, are kept");
    const sl_host_range epoch = sl_timeline_host_range(tl, 0);
    is_str(sl_timeline_text(tl, epoch.name), "epoch", "they have their names");
    is_int(epoch.start_ns, -8000, "and the timeline's times,");
    is_int(epoch.end_ns, 30000, "both of them");
    is_int(epoch.thread, sl_timeline_thread(tl, 1), "in the thread that made the call");
    const sl_span span = sl_timeline_span(tl, 0);
    const size_t at = sl_timeline_find_host_range(tl, SL_HOST_RANGE_NVTX, 0, span.host_start_ns);
    is_str(at == SL_NOT_FOUND ? "none" : sl_timeline_text(tl, sl_timeline_host_range(tl, at).name),
           "forward", "so that the innermost one around a launch is known");
    sl_timeline_release(tl);
    unlink(in_directory("r.spool"));
}

/* Of torch.autograd.profiler.emit_nvtx(). */
static void test_operators(void)
{
    sl_timeline *tl = NULL;
    sl_error err = { 0 };
    put_process(100, BASE + 5000000);
    put_name(4, "aten::mm, op_id = 3");
    put_range(4, 5, 9, 11);
    write_spool(in_directory("o.spool"));
    ok(sl_timeline_load(in_directory("o.spool"), SL_BUSIEST_DEVICE, &tl, &err) == SL_OK,
       "a spool with operators is read");
    const sl_host_range range = sl_timeline_host_range(tl, 0);
    is_int(range.kind, SL_HOST_RANGE_OPERATOR, "a range that PyTorch made is an operator");
    is_str(sl_timeline_text(tl, range.name), "aten::mm", "with its name");
    sl_timeline_release(tl);
    unlink(in_directory("o.spool"));
}

static void put_line(uint32_t id, uint32_t number, uint32_t file, uint32_t function, bool is_other)
{
    PUT(line, { .kind = SPOOL_LINE,
                .id = id,
                .number = number,
                .file = file,
                .function = function,
                .is_other = is_other,
                .text = number == 1 ? "loss.backward()" : "" });
}

static void put_at(uint32_t correlation, uint32_t thread, uint32_t line)
{
    PUT(at, { .kind = SPOOL_AT, .correlation = correlation, .thread = thread, .line = line });
}

/* A call and its kernel, of CUPTI's thread. */
static void put_launch(uint32_t correlation, uint32_t thread)
{
    PUT(call, { .kind = SPOOL_CALL,
                .name = 1,
                .start_ns = BASE + correlation * 1000,
                .end_ns = BASE + correlation * 1000 + 500,
                .thread = thread,
                .correlation = correlation });
    PUT(kernel, { .kind = SPOOL_KERNEL,
                  .start_ns = BASE + correlation * 1000 + 600,
                  .end_ns = BASE + correlation * 1000 + 900,
                  .correlation = correlation,
                  .context = 1,
                  .stream = 13,
                  .name = 2 });
}

/* The program's threads are 1, 2 and 3; CUPTI gives the third one the number of the first. */
static void put_lines(void)
{
    put_name(4, "train.py");
    put_name(5, "step");
    put_name(6, "solver+0x12");
    put_name(7, "");
    put_line(1, 1, 4, 5, false);
    put_line(2, 20, 4, 7, true);
    put_line(3, 0, 6, 5, false);
    put_line(4000000000, 3, 4, 5, false); /* as if so many came before it */
    put_at(11, 1, 1);
    put_at(12, 2, 2);
    put_at(14, 1, 0); /* at none that is known */
    put_at(16, 3, 3);
    put_at(17, 3, 1);  /* whose call is missing */
    put_at(19, 3, 77); /* a line that is not there */
    put_at(90, 4, 1);  /* a thread without calls */
    put_at(20, 8, 2);  /* the only one of its thread, and its call is missing */
    put_launch(11, 5);
    put_launch(12, 6);
    put_launch(13, 5);
    put_launch(14, 5);
    put_launch(15, 6);
    put_launch(16, 5);
    put_launch(18, 5);
    put_launch(19, 5);
    put_launch(21, 8);
    put_launch(10, 7); /* of a thread of which nothing is noted */
}

static void test_lines(void)
{
    static const char *const expected[] = {
        "", "train.py:1 in step",         "train.py:20 (other thread)", "train.py:1 in step",
        "", "train.py:20 (other thread)", "solver+0x12 in step",        "train.py:1 in step",
        "", "train.py:20 (other thread)"
    };
    static const char *const what[] = {
        "a thread without notes has no line",
        "a call has the line that is noted for it",
        "one of another thread that of its own",
        "the next call is where the one before was",
        "up to a note that the line is not known",
        "which is of its thread alone",
        "a thread that got the number of another one has its own",
        "a note counts for later calls where its own is missing",
        "a line that is not there is none",
        "a thread whose only note is of a call that is missing has its number"
    };
    sl_timeline *tl = NULL;
    sl_error err = { 0 };
    start_records();
    put_beginning(100, BASE + 5000000);
    put_lines();
    write_spool(in_directory("l.spool"));
    ok(sl_timeline_load(in_directory("l.spool"), SL_BUSIEST_DEVICE, &tl, &err) == SL_OK,
       "a spool with lines is read");
    is_int(sl_timeline_span_count(tl), 10, "with all operations");
    for (size_t i = 0; i < 10; i++)
        is_str(sl_timeline_text(tl, sl_timeline_span(tl, i).where), expected[i], "%s", what[i]);
    is_str(sl_timeline_source(tl, sl_timeline_span(tl, 1).where), "loss.backward()",
           "a line has its text");
    sl_timeline_release(tl);
    unlink(in_directory("l.spool"));
}

static void put_stall(uint32_t type, uint32_t thread, uint64_t start_us, uint64_t end_us)
{
    PUT(overhead, { .kind = SPOOL_OVERHEAD,
                    .type = type << 16,
                    .thread = thread,
                    .start_ns = BASE + start_us * 1000,
                    .end_ns = BASE + end_us * 1000 });
}

/* Of the kinds BUFFER_FLUSH and BUFFER_REQUEST. Thread 5 calls at 10 us, 15 us and 1000 us; 9 is
 * the recorder's own. */
static void put_stalls(void)
{
    put_process(100, BASE + 5000000); /* its own stall is before the first operation */
    put_stall(1, 9, 16, 24);
    put_stall(7, 5, 1001, 1003);
    PUT(call, { .kind = SPOOL_CALL,
                .name = 1,
                .start_ns = BASE + 1000000,
                .end_ns = BASE + 1010000,
                .thread = 5,
                .correlation = 11 });
    PUT(kernel, { .kind = SPOOL_KERNEL,
                  .start_ns = BASE + 1020000,
                  .end_ns = BASE + 1030000,
                  .correlation = 11,
                  .context = 1,
                  .stream = 13,
                  .name = 2 });
}

static const sl_doubt *doubt_of(const sl_timeline *tl, sl_doubt_kind kind)
{
    static const sl_doubt none = { 0 };
    size_t n;
    const sl_doubt *doubts = sl_timeline_doubts(tl, &n);
    for (size_t i = 0; i < n; i++)
        if (doubts[i].kind == kind) return &doubts[i];
    return &none;
}

static void test_stalls(void)
{
    sl_timeline *tl = NULL;
    sl_error err = { 0 };
    put_stalls();
    write_spool(in_directory("o.spool"));
    ok(sl_timeline_load(in_directory("o.spool"), SL_BUSIEST_DEVICE, &tl, &err) == SL_OK,
       "a spool with overheads is read");
    is_int(doubt_of(tl, SL_DOUBT_PROFILER_STALLS)->n, 1,
           "what a thread without calls did behind the first operation held up nobody");
    is_int(doubt_of(tl, SL_DOUBT_PROFILER_STALLS)->ns, 2000, "the stall of 2 us held up the call");
    const sl_explanation *e = NULL;
    ok(sl_timeline_causes(tl, &e, &err) == SL_OK && e->n_findings > 0, "it is explained");
    is_int(e->findings[0].cause, SL_CAUSE_HOST_WORK,
           "behind the second call the host issued nothing for 984 us");
    ok(e->findings[0].gain_ns > 900000, "which is what there is to gain");
    sl_timeline_release(tl);
    unlink(in_directory("o.spool"));
}

/* Each number may leave 65536 out, but not all of them: a file of some MB would ask for GB. */
static void test_names(void)
{
    sl_timeline *tl = NULL;
    sl_error err = { 0 };
    put_process(100, BASE + 5000000);
    put_name(65000, "near");
    put_name(130000, "far");
    for (uint32_t name = 65000; name <= 130000; name += 65000)
        PUT(kernel, { .kind = SPOOL_KERNEL,
                      .start_ns = BASE + 60000 + name,
                      .end_ns = BASE + 61000 + name,
                      .correlation = name,
                      .context = 1,
                      .stream = 13,
                      .name = name });
    write_spool(in_directory("n.spool"));
    ok(sl_timeline_load(in_directory("n.spool"), SL_BUSIEST_DEVICE, &tl, &err) == SL_OK,
       "names may leave numbers out");
    is_str(sl_timeline_text(tl, sl_timeline_span(tl, 2).name), "near", "some of them");
    is_str(sl_timeline_text(tl, sl_timeline_span(tl, 3).name), "", "but not without end");
    sl_timeline_release(tl);
    unlink(in_directory("n.spool"));
}

/* What the fuzzer starts from, and what it has found: `moved-clock` became longer than a file may
 * say, since its operations begin years before their launches. */
static void test_corpus(void)
{
    static const char *const names[] = { "streams",       "old-streams", "kernels", "moved-clock",
                                         "large-kernels", "lines",       "memory" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        sl_timeline *tl = NULL;
        sl_error err = { 0 };
        snprintf(path, sizeof path, "tests/fuzz/spools/%s", names[i]);
        FILE *file = fopen(path, "rb");
        n_records = file ? fread(records, 1, sizeof records, file) : 0;
        if (file) fclose(file);
        write_spool(in_directory("f.spool"));
        ok(sl_timeline_load(in_directory("f.spool"), SL_BUSIEST_DEVICE, &tl, &err) == SL_OK,
           "%s is read", path);
        ok(tl && sl_timeline_wall_ns(tl) < SL__TIME_LIMIT_NS, "and is no longer than it may be");
        if (tl) exercise_round_trip(tl, in_directory("f.spool"));
        sl_timeline_release(tl);
        unlink(in_directory("f.spool"));
    }
}

/* The fuzzer found it, in `large-kernels`. */
static void test_room(void)
{
    const sl_span large = { .blocks = UINT32_MAX, .threads = 32, .shared_bytes = 1u << 31 };
    sl__sm_use use = { 0 };
    sl__sm_use_add(&use, &large);
    ok(use.shared_bytes > 0, "a kernel that is larger than any GPU takes room");
    sl__sm_use_add(&use, &large);
    ok(use.shared_bytes > 0, "and so do two");
}

/* What a recorder says is printed as it is. */
static void test_failure(void)
{
    sl_timeline *tl = NULL;
    sl_error err = { 0 };
    put_process(100, BASE + 5000000);
    PUT(name, { .kind = SPOOL_FAILURE, .text = "\33[31mdisk \377" });
    write_spool(in_directory("w.spool"));
    ok(sl_timeline_load(in_directory("w.spool"), SL_BUSIEST_DEVICE, &tl, &err) == SL_OK
           && strstr(sl_timeline_notice(tl), "?[31mdisk ?") != NULL,
       "a sentence of a spool sends nothing to the terminal but its letters");
    sl_timeline_release(tl);
    unlink(in_directory("w.spool"));
}

/* xorshift: the same bytes on every machine. */
static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void damage(void)
{
    for (size_t n = 1 + next_random() % 6; n > 0; n--) {
        const uint64_t random = next_random();
        const size_t at = random % n_records;
        const unsigned char bytes[] = { 0, 1, 0x7f, 0xff, (unsigned char)(random >> 40) };
        records[at] = bytes[(random >> 32) % 5];
    }
    if (next_random() % 8 == 0) n_records = next_random() % n_records + 1;
}

static void test_damage(void)
{
    const char *path = in_directory("x.spool");
    char spool[128];
    int n_read = 0;
    const int tries = sized(200, 20000);
    snprintf(spool, sizeof spool, "%s", path);
    for (int i = 0; i < tries; i++) {
        sl_timeline *tl = NULL;
        sl_error err = { 0 };
        put_process(100, BASE + 5000000);
        damage();
        write_spool(spool);
        sl_status status = sl_timeline_load(spool, SL_BUSIEST_DEVICE, &tl, &err);
        if (status != SL_OK) continue;
        exercise_outputs(tl, in_directory("x.out"));
        exercise_round_trip(tl, in_directory("x.json"));
        sl_timeline_release(tl);
        n_read++;
    }
    ok(n_read > tries / 4 && n_read < tries,
       "bytes that no recorder writes are read, or refused with a sentence");
    unlink(spool);
}

/* Another process makes the file empty and writes it again, over and over. */
static void test_truncated(void)
{
    enum { CHUNKS = 400, TRIES = 60, MOST = 10000 };
    char path[128];
    int n = 0, n_read = 0, n_whole = 0, n_refused = 0;
    snprintf(path, sizeof path, "%s", in_directory("t.spool"));
    put_process(100, BASE + 5000000);
    write_chunks(path, CHUNKS);
    const pid_t child = fork();
    while (child == 0)
        write_chunks(path, CHUNKS);
    for (; n < TRIES || (n == n_whole && n < MOST); n++) {
        sl_timeline *tl = NULL;
        sl_error err = { 0 };
        const sl_status status = sl_timeline_load(path, SL_BUSIEST_DEVICE, &tl, &err);
        n_read += status == SL_OK;
        n_whole += tl && sl_timeline_span_count(tl) == 2 * CHUNKS;
        n_refused += status == SL_EINVAL && err.msg[0];
        sl_timeline_release(tl);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ok(n_read + n_refused == n, "a spool that another process truncates is read or refused");
    ok(n_whole < n, "and some of it was gone meanwhile");
    unlink(path);
}

int main(void)
{
    plan(0);
    make_directory();
    test_processes();
    test_names();
    test_lines();
    test_stalls();
    test_ranges();
    test_operators();
    test_corpus();
    test_failure();
    test_room();
    test_damage();
    test_truncated();
    unlink(in_directory("x.out"));
    unlink(in_directory("x.json"));
    ok(rmdir(directory) == 0, "no file is left");
    return done_testing();
}
