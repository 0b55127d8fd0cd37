/* t-99-nsys.c - reports of Nsight Systems as SQLite databases: what is in them, what older versions
 * lack, and what no version writes. */
#define _XOPEN_SOURCE 700
#include "../tap.h"
#include "../fuzz/exercise.h"
#include "files.h"
#include "nsys_schema.h"
#include "sqlite.h"

#include "../../core/timeline/store.h"

/* ---- loading ---- */

static sl_error why;

/* The timeline of a new database; NULL: it is refused, and `why` says so. */
static sl_timeline *load(const char *statements)
{
    sl_timeline *tl = NULL;
    why = (sl_error){ 0 };
    make_database(in_directory("r.sqlite"), statements);
    sl_status status = sl_timeline_load(in_directory("r.sqlite"), SL_BUSIEST_DEVICE, &tl, &why);
    if (status != SL_OK) diag("refused: %s", why.msg);
    if (tl) exercise_outputs(tl, in_directory("x.out"));
    if (tl) exercise_round_trip(tl, in_directory("x.json"));
    return tl;
}

static sl_call call_of(const sl_timeline *tl, sl_call_kind kind)
{
    for (size_t i = 0; i < sl_timeline_call_count(tl); i++)
        if (sl_timeline_call(tl, i).kind == kind) return sl_timeline_call(tl, i);
    return (sl_call){ .kind = SL_CALL_KINDS };
}

static bool doubts(const sl_timeline *tl, sl_doubt_kind kind, const char *part)
{
    size_t n;
    const sl_doubt *all = sl_timeline_doubts(tl, &n);
    for (size_t i = 0; i < n; i++)
        if (all[i].kind == kind) return strstr(all[i].sentence, part) != NULL;
    return false;
}

static const char *text_of(const sl_timeline *tl, uint32_t id) { return sl_timeline_text(tl, id); }

/* ---- what is there ---- */

static void test_run(void)
{
    sl_timeline *tl = load(NSYS_TABLES NSYS_RUN NSYS_WAITS);
    if (!ok(tl != NULL, "a report of 2026 is read")) return;
    is_int(sl_timeline_span_count(tl), 2, "with a copy and a kernel");
    const sl_span copy = sl_timeline_span(tl, 0), kernel = sl_timeline_span(tl, 1);
    is_int(copy.kind, SL_SPAN_MEMCPY_H2D, "the copy goes to the GPU");
    is_int(copy.bytes, 1048576, "with its bytes");
    ok(copy.flags & SL_SPAN_SRC_PAGEABLE, "from pageable memory");
    is_int(copy.start_ns, 10000, "times count from the first call");
    is_int(copy.end_ns, 50000, "in ns");
    is_int(copy.host_start_ns, 0, "the call of the copy is known");
    is_int(copy.host_end_ns, 2000, "to its end");
    is_str(text_of(tl, kernel.name), "void scale<float>(float *, int)", "the kernel has its name");
    is_int(kernel.start_ns, 51000, "its start");
    is_int(kernel.end_ns, 88000, "its end");
    is_int(kernel.host_start_ns, 7000, "the run time's call");
    is_int(kernel.host_end_ns, 9000, "and not the driver's within it");
    is_int(kernel.blocks, 128, "its blocks");
    is_int(kernel.threads, 256, "threads of a block");
    is_int(kernel.registers, 32, "registers");
    is_int(kernel.shared_bytes, 1536, "and static and dynamic shared memory");
    const sl_call wait = call_of(tl, SL_CALL_STREAM_WAIT), sync = call_of(tl, SL_CALL_STREAM_SYNC);
    const sl_call record = call_of(tl, SL_CALL_EVENT_RECORD);
    is_int(record.stream, copy.stream, "the record is behind the copy");
    is_int(wait.stream, kernel.stream, "the kernel's stream waits");
    is_int(wait.target, record.correlation, "for this record");
    is_int(sync.stream, kernel.stream, "the host waits for the kernel's stream");
    is_int(sync.host_end_ns, 90000, "until it returns");
    is_int(sl_timeline_call_count(tl), 3, "there are no other calls");
    ok(sl_timeline_origin(tl).recorded && !sl_timeline_origin(tl).unknown_waits,
       "what each wait is for is known");
    is_str(sl_timeline_device(tl)->name, "NVIDIA H200", "the GPU has its name");
    is_int(sl_timeline_device(tl)->sm_count, 132, "and its SMs");
    is_str(sl_timeline_notice(tl), "", "nothing is in doubt");
    sl_timeline *saved = NULL;
    ok(sl_timeline_save_kineto(tl, in_directory("x.json"), &why) == SL_OK
           && sl_timeline_load(in_directory("x.json"), SL_BUSIEST_DEVICE, &saved, &why) == SL_OK
           && sl_timeline_origin(saved).recorded && sl_timeline_origin(saved).costs.call_ns == 0,
       "a trace that is made of it does not have the cost of our recorder either");
    sl_timeline_release(saved);
    sl_timeline_release(tl);
}

/* ---- what a report may have instead ---- */

static void test_whole_graphs(void)
{
    sl_timeline *tl = load(NSYS_TABLES NSYS_GRAPH_TRACE NSYS_RUN NSYS_WAITS
                           "INSERT INTO StringIds VALUES (20, 'cudaGraphLaunch_v10000');"
                           "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
                           " (101000, 104000, 0, " NSYS_TID ", 6, 20, 0, NULL);"
                           "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES"
                           " (105000, 125000, 0, 1, NULL, 13, 6, " NSYS_PID ", 3, 5);");
    if (!ok(tl != NULL, "a launch of a graph may be recorded as a whole")) return;
    const sl_span graph = sl_timeline_span(tl, 2);
    is_str(text_of(tl, graph.name), "graph 5", "it is one operation");
    is_int(graph.end_ns - graph.start_ns, 20000, "as long as it ran");
    ok(doubts(tl, SL_DOUBT_WHOLE_GRAPHS, "--cuda-graph-trace=node"),
       "and how to record its nodes is said");
    ok(!doubts(tl, SL_DOUBT_NO_NODES, ""), "it is no launch without operations");
    sl_timeline_release(tl);
}

static void test_migrations(void)
{
    sl_timeline *tl = load(
        NSYS_TABLES NSYS_RUN NSYS_WAITS
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId,"
        " streamId, correlationId, globalPid, bytes, copyKind) VALUES"
        " (30000, 34000, 0, 1, 0, 0, " NSYS_PID ", 4096, 11),"
        " (35000, 36000, 0, 1, 0, 0, " NSYS_PID ", 4096, 12);");
    if (!ok(tl != NULL, "pages of managed memory may move")) return;
    is_int(sl_timeline_span_count(tl), 2, "which is no operation of a stream");
    ok(doubts(tl, SL_DOUBT_MIGRATIONS,
              "2 times pages of managed memory moved between host and "
              "GPU, in 5.00 us in total"),
       "and is said");
    sl_timeline_release(tl);
}

/* The name of the innermost range of NVTX at a time, in ns from the first call; "": there is
 * none. */
static const char *range_at(const sl_timeline *tl, int64_t ns)
{
    size_t at = sl_timeline_find_host_range(tl, SL_HOST_RANGE_NVTX, 0, ns);
    return at == SL_NOT_FOUND ? "" : text_of(tl, sl_timeline_host_range(tl, at).name);
}

static void test_ranges(void)
{
    sl_timeline *tl = load(
        NSYS_TABLES NSYS_NVTX NSYS_RUN NSYS_WAITS
        "INSERT INTO StringIds VALUES (30, 'registered');"
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, textId, domainId, globalTid) VALUES"
        " (9000, 19500, 59, 'step', NULL, 0, " NSYS_TID "),"
        " (12500, 16500, 60, NULL, 30, 0, " NSYS_TID "),"
        " (16600, 19200, 59, 'launch', NULL, 3, " NSYS_TID "),"
        " (8000, NULL, 75, 'NCCL', NULL, 3, " NSYS_TID ")," /* a domain's name, behind its use */
        " (0, 1000, 59, 'first', NULL, 0, " NSYS_TID "),"
        " (9500, NULL, 59, 'open', NULL, 0, " NSYS_TID "),"
        " (9500, 99000, 33, 'category', NULL, 0, " NSYS_TID "),"
        " (11000, NULL, 34, 'mark', NULL, 0, " NSYS_TID "),"
        " (11000, 11000, 59, 'elsewhere', NULL, 0, 16777216001);");
    if (!ok(tl != NULL, "a report may have ranges of NVTX")) return;
    is_str(range_at(tl, 1500), "step", "a call is in a range");
    is_str(range_at(tl, 5500), "registered", "of which a text may be a number");
    is_str(range_at(tl, 8500), "NCCL:launch", "that of a domain has its name");
    is_str(range_at(tl, 12000), "", "a range without an end, and a category, are none");
    is_int(sl_timeline_host_range_count(tl), 5,
           "a mark is one that ends at once, and one may begin with the report");
    is_int(sl_timeline_origin(tl).devices, 1, "a process without calls of CUDA is left out");
    ok(!doubts(tl, SL_DOUBT_PROCESSES, ""), "and is no process of the timeline");
    sl_timeline_release(tl);
}

static void test_memory(void)
{
    sl_memory_use use[SL_MEMORY_KINDS];
    sl_error err;
    sl_timeline *tl = load(
        NSYS_TABLES NSYS_MEMORY NSYS_RUN NSYS_WAITS
        "INSERT INTO StringIds VALUES (40, 'cudaMalloc_v3020'), (41, 'cudaFree_v3020'),"
        " (42, 'cudaMallocAsync_v11020');"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
        " (101000, 102000, 0, " NSYS_TID ", 6, 40, 0, NULL),"
        " (103000, 104000, 0, " NSYS_TID ", 7, 41, 0, NULL),"
        " (105000, 106000, 0, " NSYS_TID ", 8, 42, 0, NULL);"
        "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES"
        " (101900, " NSYS_PID ", 0, 1, 4096, 0, 1000, 2, 0, NULL, 6, NULL, NULL, NULL, NULL),"
        " (103100, " NSYS_PID ", 0, 1, 4096, 0, 1000, 2, 1, NULL, 7, NULL, NULL, NULL, NULL),"
        " (105100, " NSYS_PID ", 0, 1, 8192, 0, 500, 2, 0, NULL, 8, 13, 65536, 2048, NULL);");
    if (!ok(tl != NULL, "a report may have what was allocated")) return;
    ok(sl_timeline_memory_use(tl, use, &err) == SL_OK, "it is added up");
    is_int(use[SL_MEMORY_DEVICE].peak_bytes, 1000, "plain memory");
    is_int(use[SL_MEMORY_DEVICE].n_frees, 1, "that is freed");
    is_int(use[SL_MEMORY_POOL].peak_bytes, 500, "and memory of a pool");
    is_int(use[SL_MEMORY_POOL].reserved_bytes, 2048, "which holds more");
    sl_timeline_release(tl);
}

static void test_warnings(void)
{
    sl_timeline *tl = load(NSYS_TABLES NSYS_DIAGNOSTIC NSYS_RUN NSYS_WAITS
                           "INSERT INTO DIAGNOSTIC_EVENT VALUES"
                           " (0, 1, 1, 1, 'Number of CUDA events collected: 9.', NULL),"
                           " (0, 1, 1, 2, 'CPU sampling is not allowed.', NULL),"
                           " (0, 1, 1, 2, 'Not all CUDA events' || char(10, 27) || '[1m"
                           "might have been collected. ', NULL);");
    if (!ok(tl != NULL, "a report may have warnings")) return;
    ok(doubts(tl, SL_DOUBT_WARNINGS,
              "Nsight Systems warns in the report: Not all CUDA events  [1mmight have been "
              "collected."),
       "those about CUDA are said, without what a terminal takes as an order");
    sl_timeline_release(tl);
}

static void test_failures(void)
{
    sl_timeline *tl = load(NSYS_TABLES NSYS_RUN NSYS_WAITS
                           "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
                           " (70000, 71000, 0, 1677721701, 90, 4, 701, NULL);");
    if (!ok(tl != NULL, "calls of a report may fail")) return;
    ok(doubts(tl, SL_DOUBT_FAILED_CALLS, "error 701 (too many resources)"), "which is reported");
    ok(!doubts(tl, SL_DOUBT_NO_OPERATION, ""), "and nothing is missed of them");
    sl_timeline_release(tl);
}

static void test_processes(void)
{
    sl_timeline *tl = load(
        NSYS_TABLES NSYS_RUN NSYS_WAITS
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
        " (17000, 19000, 0, 3355443401, 4, 4, 0, NULL);" /* thread 201 of process 200 */
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT start + 10000, end + 20000, deviceId,"
        " contextId, NULL, streamId, correlationId, 3355443200, demangledName, shortName,"
        " mangledName, launchType, cacheConfig, registersPerThread, gridX, gridY, gridZ, blockX,"
        " blockY, blockZ, staticSharedMemory, dynamicSharedMemory, gridId, graphNodeId, graphId"
        " FROM CUPTI_ACTIVITY_KIND_KERNEL;");
    if (!ok(tl != NULL, "a report may have several processes")) return;
    const sl_span one = sl_timeline_span(tl, 1), other = sl_timeline_span(tl, 2);
    is_int(sl_timeline_span_count(tl), 3, "which share the timeline");
    ok(one.stream != other.stream, "streams of the same number are two");
    is_int(one.host_start_ns, 7000, "calls of the same correlation, too");
    is_int(one.end_ns - one.start_ns, 37000, "and each operation is its process's");
    is_int(other.end_ns - other.start_ns, 47000, "also the other's");
    is_int(call_of(tl, SL_CALL_STREAM_SYNC).stream, one.stream, "a wait is for its own process's");
    ok(doubts(tl, SL_DOUBT_PROCESSES, "calls of 2 processes"), "and they are counted");
    sl_timeline_release(tl);
}

/* Each of two processes sees one GPU, which is 0 for it. */
static void test_visible_devices(void)
{
    sl_timeline *tl = load(
        NSYS_TABLES NSYS_RUN NSYS_WAITS
        "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER,"
        " uuid TEXT, numMultiprocessors INTEGER);"
        "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (2, 0, 100, 'GPU-a', 132), (5, 0, 200, 'b', 1);"
        "UPDATE TARGET_INFO_GPU SET id = 2;"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (61000, 62000, 0, 1, NULL, 7, 4, 3355443200,"
        " 0, 4096, NULL, 2);");
    if (!ok(tl != NULL, "processes may see different GPUs")) return;
    is_int(sl_timeline_span_count(tl), 2, "what another one did is on another GPU");
    is_int(sl_timeline_device(tl)->index, 2, "GPUs have their numbers of the machine");
    is_str(sl_timeline_device(tl)->name, "NVIDIA H200", "by which they have their names");
    ok(doubts(tl, SL_DOUBT_SEVERAL_GPUS, "2 (2 operations), 5 (1)"), "and the others are said");
    sl_timeline_release(tl);
}

/* ---- older versions ---- */

#define OLD_SYNC                                                                                  \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT NOT NULL, end INT NOT NULL,"     \
    " deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, syncType INT," \
    " eventId INT);"
#define OLD_EVENT                                                                             \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INT, contextId INT, streamId INT," \
    " correlationId INT, globalPid INT, eventId INT);"
#define OLD_TABLES \
    NSYS_STRINGS NSYS_RUNTIME NSYS_KERNEL NSYS_MEMCPY OLD_SYNC OLD_EVENT NSYS_GPU NSYS_STREAM

/* Before CUPTI numbers records of events: a wait is for the last one before it. */
static void test_unnumbered(void)
{
    sl_timeline *tl = load(
        OLD_TABLES NSYS_RUN
        "INSERT INTO StringIds VALUES (50, 'cudaEventSynchronize_v3020');"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
        " (101000, 102000, 0, " NSYS_TID ", 6, 2, 0, NULL)," /* the event is recorded again */
        " (103000, 104000, 0, " NSYS_TID ", 7, 50, 0, NULL);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, 13, 2, " NSYS_PID ", 4),"
        " (0, 1, 14, 6, " NSYS_PID ", 4);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
        " (15100, 15900, 0, 1, 14, 3, " NSYS_PID ", 2, 4),"
        " (20000, 99500, 0, 1, 14, 5, " NSYS_PID ", 3, -1),"
        " (103000, 103900, 0, 1, 0, 7, " NSYS_PID ", 1, 4);");
    if (!ok(tl != NULL, "a report of 2023 is read")) return;
    is_int(call_of(tl, SL_CALL_STREAM_WAIT).target, 2, "a wait is for the last record before it");
    is_int(call_of(tl, SL_CALL_EVENT_SYNC).target, 6, "also where the event is recorded again");
    sl_timeline_release(tl);
}

static void test_no_waits(void)
{
    sl_timeline *tl = load(
        NSYS_STRINGS NSYS_RUNTIME NSYS_KERNEL NSYS_MEMCPY NSYS_GPU NSYS_STREAM NSYS_RUN);
    if (!ok(tl != NULL, "tables may be missing")) return;
    is_int(sl_timeline_span_count(tl), 2, "what is there is read");
    ok(!sl_timeline_origin(tl).recorded, "what waits are for is not known");
    ok(doubts(tl, SL_DOUBT_UNKNOWN_WAITS, "the report has no record of the synchronisation"),
       "and that is said");
    sl_timeline_release(tl);
}

static void test_columns(void)
{
    sl_timeline *tl = load(
        NSYS_STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, streamId INT,"
                     " shortName INT);"
                     "INSERT INTO StringIds VALUES (8, 'scale');"
                     "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (61000, 98000, 14, 8);");
    if (!ok(tl != NULL, "columns may be missing")) return;
    is_str(text_of(tl, sl_timeline_span(tl, 0).name), "scale", "a short name is a name");
    ok(doubts(tl, SL_DOUBT_NO_LAUNCH, "The trace has no launches"), "without calls no launches");
    sl_timeline_release(tl);
}

/* Where a later version numbers kinds in another way, its own tables say how. */
static void test_enums(void)
{
    sl_timeline *tl = load(
        NSYS_TABLES NSYS_RUN NSYS_WAITS
        "CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
        "INSERT INTO ENUM_CUDA_MEM_KIND VALUES"
        " (0, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned'),"
        " (2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device');"
        "CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT);"
        "INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (1, 'CUDA_MEMCPY_KIND_DTOH');");
    if (!ok(tl != NULL, "numbers of kinds may be others")) return;
    is_str(text_of(tl, sl_timeline_span(tl, 0).name), "Memcpy DtoH (Pinned -> Device)",
           "which a report says itself");
    sl_timeline_release(tl);
}

/* ---- what no version writes ---- */

static bool refuses(const char *statements, const char *part)
{
    sl_timeline *tl = NULL;
    make_database(in_directory("r.sqlite"), statements);
    why = (sl_error){ 0 };
    sl_status status = sl_timeline_load(in_directory("r.sqlite"), SL_BUSIEST_DEVICE, &tl, &why);
    sl_timeline_release(tl);
    if (status != SL_EINVAL || !strstr(why.msg, part)) diag("status %d: %s", status, why.msg);
    return status == SL_EINVAL && strstr(why.msg, part) != NULL;
}

static void test_refused(void)
{
    ok(refuses("CREATE TABLE birds (name); INSERT INTO birds VALUES ('wren');",
               "a database without operations of CUDA"),
       "another database is refused");
    ok(refuses(NSYS_TABLES, "nsys profile --trace=cuda"), "and an empty report");
    ok(refuses("CREATE TABLE \"rocpd_kernel_dispatch_0a\" (id INT);"
               "INSERT INTO \"rocpd_kernel_dispatch_0a\" VALUES (1);",
               "rocprofv3 --runtime-trace --output-format json"),
       "one of rocprofv3 is named, with the command that writes what can be read");
    ok(refuses("CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INT);", "of nvprof"),
       "so is one of nvprof");
    ok(refuses("CREATE TABLE a (start INT, end INT, streamId INT);"
               "INSERT INTO a VALUES (61000, 98000, 14);"
               "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM a;",
               "without operations"),
       "a view is no table");
    ok(refuses("CREATE TABLE t (a); PRAGMA writable_schema = 1;"
               "UPDATE sqlite_master SET sql = 'CREATE TABLE', name = char(27) || '[31m';",
               "a damaged SQLite database: malformed database schema (?[31m)"),
       "a name in a sentence sends nothing to the terminal but its letters");
    ok(refuses(
           "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (s INT, start INT AS (s), end INT AS (s + 9)"
           " STORED); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (s) VALUES (61000);",
           "without operations"),
       "a generated column counts as missing");
}

/* Values of other types are none, and the rest is read. */
static void test_types(void)
{
    sl_timeline *tl = load(
        NSYS_TABLES NSYS_RUN NSYS_WAITS
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 'soon', x'00', 0.5, 'one', NULL, 'two',"
        " 1e300, 'three', 'named', x'41', NULL, 1, 1, -5, -1, 4294967296, 9223372036854775807,"
        " 'x', 2, 3, -1, -2, 0, x'ff', 1.5;"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 200000, 210000, 'd', 'one', NULL, 14, -7,"
        " " NSYS_PID ", 'named here', 'x', NULL, 1, 1, -5, 9223372036854775807,"
        " 9223372036854775807, 2, 1025, 1025, 1, 9223372036854775807, 9223372036854775807, 0, -1,"
        " 'graph';"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, bytes,"
        " copyKind, srcKind, dstKind, globalPid) VALUES (220000, 230000, 0, 1, 13,"
        " -9223372036854775808, 4000000000, -1, 'Pinned', " NSYS_PID ");"
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId,"
        " streamId, correlationId, globalPid, syncType, eventId, eventSyncId) VALUES"
        " (-9223372036854775808, 9223372036854775807, 9, 9, 9, 9, " NSYS_PID ", 77, -1,"
        " -9223372036854775808);");
    if (!ok(tl != NULL, "values of other types leave the rest")) return;
    is_int(sl_timeline_span_count(tl), 4, "an operation without times is none");
    const sl_span kernel = sl_timeline_span(tl, 2), copy = sl_timeline_span(tl, 3);
    is_str(text_of(tl, kernel.name), "named here", "a name may be in its place itself");
    is_int(kernel.blocks, 0, "a grid that no GPU has is not known");
    is_int(kernel.threads, 0, "nor is such a block");
    is_int(kernel.shared_bytes, 0, "nor such shared memory");
    is_int(copy.bytes, 0, "nor fewer bytes than none");
    ok(doubts(tl, SL_DOUBT_NO_TIME, "One operation has no time"), "that one is missing is said");
    sl_timeline_release(tl);
}

static void test_texts(void)
{
    sl_timeline *tl = load(
        NSYS_TABLES NSYS_RUN NSYS_WAITS
        "UPDATE StringIds SET value = value || char(0) || 'hidden' WHERE id = 7;"
        "INSERT INTO StringIds VALUES (60, printf('%.*c', 3000000, 'x')), (61, '');"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT start + 100000, end + 100000, 0, 1, NULL,"
        " 14, 90, globalPid, 60, 60, NULL, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, NULL, NULL"
        " FROM CUPTI_ACTIVITY_KIND_KERNEL;");
    if (!ok(tl != NULL, "a text may have megabytes")) return;
    is_str(text_of(tl, sl_timeline_span(tl, 1).name), "void scale<float>(float *, int)",
           "one ends at its first zero");
    is_int(strlen(text_of(tl, sl_timeline_span(tl, 2).name)), 32759, "and is cut where it is huge");
    sl_timeline_release(tl);
}

static void write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    fwrite(bytes, 1, n, file);
    fclose(file);
}

/* None that is cut ends the program, and none is said to be whole. */
static void test_cut(void)
{
    make_database(
        in_directory("r.sqlite"),
        "PRAGMA page_size = 512;" NSYS_TABLES NSYS_RUN NSYS_WAITS
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
        " INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET SELECT i * 100000, i * 100000 + 50000, 0,"
        " 1, NULL, 13, i + 100, " NSYS_PID ", 0, 4096, NULL, 2 FROM n;");
    FILE *file = fopen(in_directory("r.sqlite"), "rb");
    static char bytes[1 << 16];
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    int n_refused = 0, n = 0;
    for (size_t cut = 0; cut < size; cut += 700, n++) {
        sl_timeline *tl = NULL;
        write_bytes(in_directory("c.sqlite"), bytes, cut);
        n_refused += sl_timeline_load(in_directory("c.sqlite"), SL_BUSIEST_DEVICE, &tl, &why)
                     == SL_EINVAL;
        sl_timeline_release(tl);
    }
    is_int(n_refused, n, "a report that is cut is refused, wherever it ends");
    sl_timeline *tl = NULL;
    memset(bytes + size - 2048, 0, 512);
    write_bytes(in_directory("c.sqlite"), bytes, size);
    ok(sl_timeline_load(in_directory("c.sqlite"), SL_BUSIEST_DEVICE, &tl, &why) == SL_OK
           && doubts(tl, SL_DOUBT_CUT_OFF,
                     "cannot be read to its end: database disk image is "
                     "malformed"),
       "one with a damaged page is read up to there");
    ok(tl && sl_timeline_span_count(tl) > 200 && sl_timeline_span_count(tl) < 302,
       "and has what comes before");
    sl_timeline_release(tl);
    tl = NULL;
    bytes[19] = bytes[18] = 2; /* written ahead */
    write_bytes(in_directory("c.sqlite"), bytes, size);
    write_bytes(in_directory("c.sqlite-wal"), bytes, 100);
    ok(sl_timeline_load(in_directory("c.sqlite"), SL_BUSIEST_DEVICE, &tl, &why) == SL_EINVAL
           && strstr(why.msg, "that a program still writes"),
       "one of which a part lies beside it is refused");
    unlink(in_directory("c.sqlite-wal"));
    unlink(in_directory("c.sqlite"));
}

/* Bytes that change, as the fuzzer does it. */
static void test_damage(void)
{
    static char bytes[1 << 16], changed[1 << 16];
    static uint64_t state = 88172645463325252u;
    int n_read = 0;
    const int tries = sized(150, 10000);
    make_database(in_directory("r.sqlite"),
                  "PRAGMA page_size = 512;" NSYS_TABLES NSYS_RUN NSYS_WAITS);
    FILE *file = fopen(in_directory("r.sqlite"), "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (int i = 0; i < tries; i++) {
        sl_timeline *tl = NULL;
        memcpy(changed, bytes, size);
        for (int k = 0; k < 8; k++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            changed[100 + state % (size - 100)] = (char)(state >> 32);
        }
        write_bytes(in_directory("c.sqlite"), changed, size);
        why = (sl_error){ 0 };
        sl_status status = sl_timeline_load(in_directory("c.sqlite"), SL_BUSIEST_DEVICE, &tl, &why);
        if (status == SL_OK) exercise_round_trip(tl, in_directory("x.json"));
        if (status != SL_OK && status != SL_EINVAL) diag("status %d: %s", status, why.msg);
        n_read += status == SL_OK;
        sl_timeline_release(tl);
    }
    ok(n_read > tries / 10, "reports with damage are read (%d of %d), or refused", n_read, tries);
    unlink(in_directory("c.sqlite"));
}

static void test_interrupt(void)
{
    sl_timeline *tl = NULL;
    make_database(in_directory("r.sqlite"), NSYS_TABLES NSYS_RUN
                  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
                  " INSERT INTO StringIds SELECT i + 1000, 'text' || i FROM n;");
    sl_interrupt(true);
    ok(sl_timeline_load(in_directory("r.sqlite"), SL_BUSIEST_DEVICE, &tl, &why) == SL_EINTERRUPT,
       "reading can be interrupted");
    sl_interrupt(false);
    sl_timeline_release(tl);
}

/* What has a meaning in the name of a database has none here. */
static void test_names(void)
{
    static const char *const names[] = { "a?mode=rw.sqlite", "50%.sqlite", "#1.sqlite", "%2e" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sl_timeline *tl = NULL;
        char path[128];
        snprintf(path, sizeof path, "/%s", in_directory(names[i]));
        make_database(path, NSYS_TABLES NSYS_RUN NSYS_WAITS);
        ok(sl_timeline_load(path, SL_BUSIEST_DEVICE, &tl, &why) == SL_OK, "a file may be named %s",
           names[i]);
        sl_timeline_release(tl);
        unlink(path);
    }
}

/* What the fuzzer starts from, databases of small pages; and what it found: a wait that failed, in a
 * process of its own, was not saved as it was loaded. */
static void test_corpus(void)
{
    static const char *const names[] = { "waits", "tables", "failed-synchronise" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        sl_timeline *tl = NULL;
        snprintf(path, sizeof path, "tests/fuzz/reports/%s", names[i]);
        ok(sl_timeline_load(path, SL_BUSIEST_DEVICE, &tl, &why) == SL_OK, "%s is read", path);
        if (tl) exercise_round_trip(tl, in_directory("x.json"));
        sl_timeline_release(tl);
    }
    sl_timeline *tl = NULL; /* the fuzzer found it: SQLite 3.40 says that memory is short */
    ok(sl_timeline_load("tests/fuzz/reports/damaged-schema", SL_BUSIEST_DEVICE, &tl, &why)
           != SL_ENOMEM,
       "one that is damaged is not said to need more memory");
    sl_timeline_release(tl);
}

int main(void)
{
    plan(0);
    if (!has_sqlite()) {
        ok(true, "nothing is tried without libsqlite3 # SKIP");
        return done_testing();
    }
    make_directory();
    test_run();
    test_whole_graphs();
    test_migrations();
    test_ranges();
    test_memory();
    test_warnings();
    test_failures();
    test_processes();
    test_visible_devices();
    test_unnumbered();
    test_no_waits();
    test_columns();
    test_enums();
    test_refused();
    test_types();
    test_texts();
    test_cut();
    test_damage();
    test_interrupt();
    test_names();
    test_corpus();
    unlink(in_directory("r.sqlite"));
    unlink(in_directory("x.out"));
    unlink(in_directory("x.json"));
    ok(rmdir(directory) == 0, "no file is left");
    return done_testing();
}
