/* rich_trace.h - a timeline with each kind of operation and call, and its trace file, for tests. */
#ifndef TESTS_TIMELINE_RICH_TRACE_H
#define TESTS_TIMELINE_RICH_TRACE_H

#include "files.h"
#include "make.h"
#include "trace_rules.h"

static inline void save(const sl_timeline *tl, const char *path)
{
    sl_error err;
    must(sl_timeline_save_kineto(tl, path, &err), &err);
}

static inline sl_timeline *rich(void)
{
    sl_error err;
    sl_timeline *tl = make();
    sl_device_info info = {
        .name = "NVIDIA \"H200\"",
        .profile = "h200",
        .backend = "sim",
        .simulated = true,
        .sm_count = 132,
        .memory_bytes = 150109880320,
        .compute_capability_major = 9,
    };
    sl_timeline_set_device(tl, &info);
    note(tl, 0, "NULL stream", false);
    note(tl, 1, "compute\n\xff", false);
    sl_span k = {
        .start_ns = 5000,
        .end_ns = 61700,
        .host_start_ns = 100,
        .host_end_ns = 3900,
        .correlation = ++issued,
        .stream = 1,
        .kind = SL_SPAN_KERNEL,
        .blocks = 64,
        .threads = 256,
        .registers = 168,
        .shared_bytes = 99328,
        .name = text_id(tl, "matmul_f32"),
        .where = text_id(tl, "puzzler.lua:12"),
    };
    must(sl_timeline_add_span(tl, &k, &err), &err);
    sl_span c = {
        .start_ns = 10000,
        .end_ns = 94000,
        .host_start_ns = 4000,
        .host_end_ns = 5400,
        .correlation = ++issued,
        .stream = 0,
        .kind = SL_SPAN_MEMCPY_H2D,
        .engine = SL_ENGINE_H2D,
        .bytes = 4194304,
        .flags = SL_SPAN_SRC_PINNED,
        .name = text_id(tl, "Memcpy HtoD (Pinned -> Device)"),
    };
    must(sl_timeline_add_span(tl, &c, &err), &err);
    span(tl, 0, SL_SPAN_MEMSET, 94000, 95000);
    span(tl, 1, SL_SPAN_HOST_FUNC, 70000, 80000);
    span(tl, 0, SL_SPAN_HOST_FUNC, 60000, 75000);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
    call(tl, SL_CALL_STREAM_WAIT, 0, record, 1);
    call(tl, SL_CALL_STREAM_WAIT, 0, 0, 0);
    call(tl, SL_CALL_STREAM_SYNC, 1, 0, 0);
    call(tl, SL_CALL_EVENT_SYNC, 0, record, 1);
    call(tl, SL_CALL_DEVICE_SYNC, 0, 0, 0);
    sl_call plain = {
        .host_start_ns = 200000,
        .host_end_ns = 210000,
        .correlation = ++issued,
        .kind = SL_CALL_PLAIN,
        .name = text_id(tl, "cudaFree"),
        .waited_for_device = true,
    };
    must(sl_timeline_add_call(tl, &plain, &err), &err);
    span(tl, 0, SL_SPAN_MEMCPY_D2D, 94900, 94950); /* 100 ns too early: moved to 95000 */
    sl_timeline_finish(tl, 0, 300000);
    return tl;
}

static inline bool has(const char *text, const char *line)
{
    bool found = strstr(text, line) != NULL;
    if (!found) diag("  not found: %s", line);
    return found;
}

#endif
