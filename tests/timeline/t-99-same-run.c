/* t-99-same-run.c - one run as a spool, as a trace of PyTorch's profiler and as a report of Nsight
 * Systems: all three give the same figures to the nanosecond, and the same waits. What is expected
 * is counted in slots of 100 ns. */
#define _XOPEN_SOURCE 700
#include "../tap.h"
#include "files.h"
#include "nsys_schema.h"
#include "sqlite.h"

#include "../../core/base.h"
#include "../../core/record/spool_pack.h"
#include "../../core/text/text.h"
#include "../../core/timeline/store.h"

enum {
    STEPS = 400,
    STREAMS = 3,
    EVENTS = 3,
    SLOT_NS = 100,
    FIRST_STREAM = 13,
    RECORDS_MOST = 200000
};

typedef enum step_kind {
    KERNEL,
    UP,
    DOWN,
    FILL,
    RECORD,
    WAIT,
    STREAM,
    EVENT,
    DEVICE,
    WHATS
} step_kind;

static const char *const call_names[WHATS] = { "cudaLaunchKernel",      "cudaMemcpyAsync",
                                               "cudaMemcpyAsync",       "cudaMemsetAsync",
                                               "cudaEventRecord",       "cudaStreamWaitEvent",
                                               "cudaStreamSynchronize", "cudaEventSynchronize",
                                               "cudaDeviceSynchronize" };
static const char *const work_names[] = { "gemm", "Memcpy HtoD (Pinned -> Device)",
                                          "Memcpy DtoH (Device -> Pinned)", "Memset (Device)" };
static const sl_call_kind kinds[WHATS] = { [WAIT] = SL_CALL_STREAM_WAIT,
                                           [STREAM] = SL_CALL_STREAM_SYNC,
                                           [EVENT] = SL_CALL_EVENT_SYNC,
                                           [DEVICE] = SL_CALL_DEVICE_SYNC };

/* Its correlation is its index and 1. */
typedef struct step {
    step_kind what;
    int stream, event, record;  /* the step whose record it is for */
    int64_t call_ns, return_ns; /* of the call */
    int64_t start_ns, end_ns;   /* of the operation */
} step;

static step steps[STEPS];

/* ---- the run ---- */

static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static int64_t some_slots(int most)
{
    return (int64_t)(next_random() % (uint64_t)most + 1) * SLOT_NS;
}

/* What a step does to the streams, each of which is free from a time on. The last step that
 * recorded its event is `record`; -1: none has. */
static void play(step *s, int64_t free_ns[STREAMS], int64_t *now_ns, int record)
{
    int64_t until_ns = 0;
    s->call_ns = *now_ns += some_slots(20);
    s->return_ns = *now_ns += some_slots(30);
    s->record = record;
    if (s->what <= FILL) {
        s->start_ns = sl__max(free_ns[s->stream], s->return_ns) + some_slots(30);
        s->end_ns = free_ns[s->stream] = s->start_ns + some_slots(200);
    } else if (s->what == RECORD) {
        s->end_ns = free_ns[s->stream];
    } else if (s->what == WAIT) {
        free_ns[s->stream] = sl__max(free_ns[s->stream], steps[record].end_ns);
    } else if (s->what == EVENT) {
        until_ns = steps[record].end_ns;
    } else {
        for (int i = 0; i < STREAMS; i++)
            if (s->what == DEVICE || i == s->stream) until_ns = sl__max(until_ns, free_ns[i]);
    }
    s->return_ns = *now_ns = sl__max(s->return_ns, until_ns + (until_ns > 0 ? 4000 : 0));
}

/* Each stream has an operation first, and a wait is never for its own stream. */
static void run(void)
{
    static const step_kind often[] = { KERNEL, KERNEL, KERNEL, UP,   DOWN,   FILL,
                                       RECORD, RECORD, WAIT,   WAIT, STREAM, EVENT };
    int64_t free_ns[STREAMS] = { 0 }, now_ns = 0;
    int records_of[EVENTS] = { -1, -1, -1 };
    for (int i = 0; i < STEPS; i++) {
        step *s = &steps[i];
        s->stream = i < STREAMS ? i : (int)(next_random() % STREAMS);
        s->event = (int)(next_random() % EVENTS);
        s->what = i < STREAMS ? KERNEL : often[next_random() % (sizeof often / sizeof *often)];
        if (i == STEPS - 1) s->what = DEVICE;
        const int record = records_of[s->event];
        if (record < 0 && (s->what == WAIT || s->what == EVENT)) s->what = RECORD;
        if (s->what == WAIT && steps[record].stream == s->stream)
            s->stream = (s->stream + 1) % STREAMS;
        play(s, free_ns, &now_ns, record);
        if (s->what == RECORD) records_of[s->event] = i;
    }
}

/* ---- as a spool ---- */

static unsigned char records[RECORDS_MOST];
static size_t n_records;
static spool_packer packer;

static void put(spool_record record)
{
    n_records = (size_t)(spool_pack(&packer, &record, records + n_records) - records);
}
#define PUT(member, ...) put((spool_record){ .member = __VA_ARGS__ })
#define BASE INT64_C(1300000000000000000)

static void put_work(const step *s, uint32_t correlation)
{
    const uint64_t start_ns = (uint64_t)(BASE + s->start_ns), end_ns = (uint64_t)(BASE + s->end_ns);
    const uint32_t stream = (uint32_t)(FIRST_STREAM + s->stream);
    if (s->what == KERNEL)
        PUT(kernel, { .kind = SPOOL_KERNEL,
                      .name = 100,
                      .registers = 32,
                      .threads = 128,
                      .blocks = 8,
                      .context = 1,
                      .stream = stream,
                      .correlation = correlation,
                      .start_ns = start_ns,
                      .end_ns = end_ns });
    else
        PUT(copy, { .kind = s->what == FILL ? SPOOL_SET : SPOOL_COPY,
                    .direction = s->what == UP     ? 1
                                 : s->what == DOWN ? 2
                                                   : 0,
                    .from = s->what == UP ? 2 : 3,
                    .to = s->what == DOWN ? 2 : 3,
                    .context = 1,
                    .from_device = SPOOL_NONE,
                    .to_device = SPOOL_NONE,
                    .stream = stream,
                    .size = 4096,
                    .correlation = correlation,
                    .start_ns = start_ns,
                    .end_ns = end_ns });
}

static void put_step(const step *s, uint32_t correlation)
{
    const uint32_t stream = (uint32_t)(FIRST_STREAM + s->stream);
    const bool has_event = s->what == WAIT || s->what == EVENT;
    static const uint32_t types[WHATS] = { [EVENT] = 1, [WAIT] = 2, [STREAM] = 3, [DEVICE] = 4 };
    PUT(call, { .kind = SPOOL_CALL,
                .name = (uint32_t)s->what + 1,
                .thread = 101,
                .correlation = correlation,
                .start_ns = (uint64_t)(BASE + s->call_ns),
                .end_ns = (uint64_t)(BASE + s->return_ns) });
    if (s->what <= FILL) put_work(s, correlation);
    if (s->what == RECORD)
        PUT(event, { .kind = SPOOL_EVENT,
                     .context = 1,
                     .stream = stream,
                     .event = (uint32_t)s->event,
                     .correlation = correlation,
                     .record = correlation });
    if (types[s->what])
        PUT(sync, { .kind = SPOOL_SYNC,
                    .type = types[s->what],
                    .context = 1,
                    .stream = s->what == DEVICE ? SPOOL_NONE : stream,
                    .event = has_event ? (uint32_t)s->event : SPOOL_NONE,
                    .correlation = correlation,
                    .record = has_event ? (uint64_t)s->record + 1 : 0,
                    .start_ns = (uint64_t)(BASE + s->call_ns),
                    .end_ns = (uint64_t)(BASE + s->return_ns) });
}

static void write_spool(const char *path)
{
    n_records = 0;
    spool_pack_begin(&packer);
    PUT(start, { .kind = SPOOL_START, .version = SPOOL_VERSION, .pid = 100, .program = "x" });
    for (uint32_t i = 0; i < WHATS; i++)
        PUT(name, { .kind = SPOOL_NAME, .id = i + 1, .text = call_names[i] });
    PUT(name, { .kind = SPOOL_NAME, .id = 100, .text = work_names[KERNEL] });
    PUT(context, { .kind = SPOOL_CONTEXT, .context = 1, .null_stream = 7 });
    for (uint32_t i = 0; i < STEPS; i++)
        put_step(&steps[i], i + 1);
    PUT(end, { .kind = SPOOL_END });
    const spool_chunk chunk = { SPOOL_MAGIC, (uint32_t)n_records,
                                sl__checksum(SL__HASH_START, records, n_records) };
    FILE *file = fopen(path, "wb");
    fwrite(&chunk, 1, sizeof chunk, file);
    fwrite(records, 1, n_records, file);
    fclose(file);
}

/* ---- as a trace of PyTorch's profiler ---- */

#define US(ns) (long long)((ns) / 1000), (long long)((ns) % 1000)
#define TIMES "\"ts\":%lld.%03lld,\"dur\":%lld.%03lld"

static void write_event(FILE *file, const step *s, int correlation)
{
    static const char *const cats[] = { "kernel", "gpu_memcpy", "gpu_memcpy", "gpu_memset" };
    const int stream = FIRST_STREAM + s->stream;
    fprintf(file,
            ",\n{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"%s\",\"pid\":100,"
            "\"tid\":101," TIMES ",\"args\":{\"correlation\":%d}}",
            call_names[s->what], US(BASE / 1000 + s->call_ns), US(s->return_ns - s->call_ns),
            correlation);
    if (s->what <= FILL)
        fprintf(file,
                ",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":0,\"tid\":%d," TIMES
                ",\"args\":{\"correlation\":%d,\"stream\":%d,\"device\":0%s}}",
                cats[s->what], work_names[s->what], stream, US(BASE / 1000 + s->start_ns),
                US(s->end_ns - s->start_ns), correlation, stream,
                s->what == KERNEL ? ",\"grid\":[8,1,1],\"block\":[128,1,1],"
                                    "\"registers per thread\":32,\"shared memory\":0"
                                  : ",\"bytes\":4096");
    if (s->what <= RECORD) return;
    fprintf(file,
            ",\n{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"sync\",\"pid\":0,\"tid\":%d," TIMES
            ",\"args\":{\"correlation\":%d,\"device\":0,\"stream\":%d",
            stream, US(BASE / 1000 + s->call_ns), US(s->return_ns - s->call_ns), correlation,
            s->what == DEVICE || s->what == EVENT ? -1 : stream);
    if (s->what == WAIT || s->what == EVENT)
        fprintf(file, ",\"wait_on_stream\":%d,\"wait_on_cuda_event_record_corr_id\":%d",
                FIRST_STREAM + steps[s->record].stream, s->record + 1);
    fprintf(file, "}}");
}

static void write_trace(const char *path)
{
    FILE *file = fopen(path, "w");
    fprintf(file,
            "{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{}}");
    for (int i = 0; i < STEPS; i++)
        write_event(file, &steps[i], i + 1);
    fprintf(file, "]}\n");
    fclose(file);
}

/* ---- as a report of Nsight Systems ---- */

#define SESSION INT64_C(5000000000)
#define ON_STREAM "0, 1, NULL, %d, %d, " NSYS_PID

static void add_row(sl_text *sql, const step *s, int correlation)
{
    const long long start = SESSION + s->start_ns, end = SESSION + s->end_ns;
    const long long call = SESSION + s->call_ns, back = SESSION + s->return_ns;
    const int stream = FIRST_STREAM + s->stream;
    static const int types[WHATS] = { [EVENT] = 1, [WAIT] = 2, [STREAM] = 3, [DEVICE] = 4 };
    sl_text_add(sql,
                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (%lld, %lld, 0, " NSYS_TID
                ", %d, %d, 0, NULL);",
                call, back, correlation, (int)s->what + 1);
    if (s->what == KERNEL)
        sl_text_add(sql,
                    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (%lld, %lld, " ON_STREAM
                    ", 100, 100, NULL, 1, 0, 32, 8, 1, 1, 128, 1, 1, 0, 0, 1, NULL, NULL);",
                    start, end, stream, correlation);
    else if (s->what == FILL)
        sl_text_add(sql,
                    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (%lld, %lld, " ON_STREAM
                    ", 0, 4096, NULL, 2);",
                    start, end, stream, correlation);
    else if (s->what < FILL)
        sl_text_add(sql,
                    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (%lld, %lld, " ON_STREAM
                    ", 4096, %d, NULL, %d, %d, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1);",
                    start, end, stream, correlation, s->what == UP ? 1 : 2, s->what == UP ? 1 : 2,
                    s->what == UP ? 2 : 1);
    else if (s->what == RECORD)
        sl_text_add(sql,
                    "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, " ON_STREAM ", %d, %d);",
                    stream, correlation, s->event, correlation);
    else
        sl_text_add(sql,
                    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (%lld, %lld, " ON_STREAM
                    ", NULL, %d, %d, %d);",
                    call, back, s->what == DEVICE ? -1 : stream, correlation, types[s->what],
                    s->event, s->what == WAIT || s->what == EVENT ? s->record + 1 : 0);
}

static void write_report(const char *path)
{
    sl_text sql = { 0 };
    sl_text_add(&sql, "BEGIN;%s", NSYS_TABLES);
    for (int i = 0; i < WHATS; i++)
        sl_text_add(&sql, "INSERT INTO StringIds VALUES (%d, '%s_v3020');", i + 1, call_names[i]);
    sl_text_add(&sql, "INSERT INTO StringIds VALUES (100, '%s');", work_names[KERNEL]);
    for (int i = 0; i < STEPS; i++)
        add_row(&sql, &steps[i], i + 1);
    sl_text_add(&sql, "COMMIT;");
    make_database(path, sql.data);
    sl_text_free(&sql);
}

/* ---- what they give ---- */

static const sl_engine engines[] = { SL_ENGINE_COMPUTE, SL_ENGINE_H2D, SL_ENGINE_D2H };

static int engine_of(step_kind what) { return what == UP ? 1 : what == DOWN ? 2 : 0; }

/* The slots in which all of the engines worked; bit i of `set` is engine i. */
static int64_t expected_ns(int set)
{
    static unsigned char busy[1 << 20];
    int64_t slots = 0;
    memset(busy, 0, sizeof busy);
    for (int i = 0; i < STEPS; i++)
        for (int64_t at = steps[i].start_ns; steps[i].what <= FILL && at < steps[i].end_ns;
             at += SLOT_NS)
            busy[at / SLOT_NS] |= (unsigned char)(1 << engine_of(steps[i].what));
    for (size_t i = 0; i < sizeof busy; i++)
        slots += set && (busy[i] & set) == set;
    return slots * SLOT_NS;
}

static void check_times(const sl_timeline *tl, const char *as)
{
    int64_t first_ns = INT64_MAX, last_ns = 0, ns = -1;
    sl_error err;
    for (int i = 0; i < STEPS; i++) {
        if (steps[i].what > FILL) continue;
        first_ns = sl__min(first_ns, steps[i].start_ns);
        last_ns = sl__max(last_ns, steps[i].end_ns);
    }
    is_int(sl_timeline_makespan_ns(tl), last_ns - first_ns, "%s: the makespan", as);
    for (int set = 1; set < 8; set++) {
        sl_selection all[3];
        size_t n = 0;
        for (int i = 0; i < 3; i++)
            if (set >> i & 1) {
                all[n] = sl_select_all;
                all[n++].engine = (int)engines[i];
            }
        sl_timeline_common_ns(tl, all, n, &ns, &err);
        is_int(ns, expected_ns(set), "%s: what engines %d have in common", as, set);
    }
}

/* The stream of the operation that came first in it. */
static uint32_t stream_of(const sl_timeline *tl, int stream)
{
    for (size_t i = 0; i < sl_timeline_span_count(tl); i++)
        if (sl_timeline_span(tl, i).correlation == (uint64_t)stream + 1)
            return sl_timeline_span(tl, i).stream;
    return UINT32_MAX;
}

static bool is_expected(const sl_timeline *tl, const sl_call *call)
{
    const step *s = &steps[call->correlation - 1];
    if (s->what == RECORD) return call->kind == SL_CALL_EVENT_RECORD || call->kind == SL_CALL_PLAIN;
    if (call->kind != kinds[s->what]) return false;
    if ((s->what == WAIT || s->what == STREAM) && call->stream != stream_of(tl, s->stream))
        return false;
    if (s->what != WAIT && s->what != EVENT) return true;
    return call->target == (uint64_t)s->record + 1
           && call->target_stream == stream_of(tl, steps[s->record].stream);
}

static void check_waits(const sl_timeline *tl, const char *as)
{
    size_t n = 0, n_right = 0;
    for (int i = 0; i < STEPS; i++)
        n += steps[i].what > FILL;
    for (size_t i = 0; i < sl_timeline_call_count(tl); i++) {
        const sl_call call = sl_timeline_call(tl, i);
        n_right += is_expected(tl, &call);
    }
    is_int(sl_timeline_call_count(tl), n, "%s: the calls that launch nothing", as);
    is_int(n_right, n, "%s: each waits for what it waited for", as);
}

static void check(const char *path, const char *as)
{
    sl_timeline *tl = NULL;
    sl_error err = { 0 };
    if (!ok(sl_timeline_load(path, SL_BUSIEST_DEVICE, &tl, &err) == SL_OK, "%s: %s is read", as,
            path + sizeof directory))
        diag("%s", err.msg);
    if (!tl) return;
    is_str(sl_timeline_notice(tl), "", "%s: nothing is in doubt", as);
    check_times(tl, as);
    check_waits(tl, as);
    sl_timeline_release(tl);
    unlink(path);
}

int main(void)
{
    plan(0);
    make_directory();
    run();
    write_spool(in_directory("r.spool"));
    check(in_directory("r.spool"), "recorded by us");
    write_trace(in_directory("r.json"));
    check(in_directory("r.json"), "by PyTorch's profiler");
    if (has_sqlite()) {
        write_report(in_directory("r.sqlite"));
        check(in_directory("r.sqlite"), "by Nsight Systems");
    }
    ok(rmdir(directory) == 0, "no file is left");
    return done_testing();
}
