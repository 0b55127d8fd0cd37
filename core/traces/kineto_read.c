/* kineto_read.c - a timeline from a JSON trace of ours, of PyTorch's profiler (kineto), or
 * of another writer of the same events.
 *
 * This file goes through the events and notes those that a timeline is made of;
 * kineto_match.c says what belongs together. Taken are, by "cat":
 *   kernel, gpu_memcpy, gpu_memset   operations. Where a copy goes is in CUPTI's name for
 *                                    it: "Memcpy HtoD (Pageable -> Device)"
 *   cuda_runtime, cuda_driver        the host's calls: those that launched an operation
 *                                    (the same "correlation"), and others
 *   cuda_sync                        which stream or event a call waited for
 *   cpu_op                           in our files host functions and host_work
 *   graph_edge                       in our files captured records and waits
 * and thread_name metadata for the names of streams. Everything else that has a duration
 * counts for when the trace begins and ends, but for "Trace" and "overhead", which are the
 * profiler's own. Unknown members are not looked at.
 *
 * Times keep their nanoseconds: they are read as decimals, never as doubles.
 */
#include "kineto_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../text/infile.h"
#include "../timeline/store.h"
#include "kineto.h"

/* ---- events ----------------------------------------------------------------------- */

static sl_status read_thread(sl__reader *r)
{
    sl__event *event = &r->event;
    sl__records *records = &r->records;
    sl__thread thread = { .name = event->arg[SL__ARG_NAME] };
    if (event->status != SL_OK || thread.name.type != SL__JSON_TEXT
        || !sl__json_whole(&event->pid, &thread.pid) || !sl__json_whole(&event->tid, &thread.tid))
        return event->status;
    return SL__RECORDS_ADD(records, threads, &thread, event->err);
}

static void widen(sl__records *records, int64_t start_ns, int64_t end_ns)
{
    if (!records->timed || start_ns < records->first_ns) records->first_ns = start_ns;
    if (!records->timed || end_ns > records->last_ns) records->last_ns = end_ns;
    records->timed = true;
}

/* The event is not used, so that errors in its times do not matter. */
static void pass_over(sl__reader *r)
{
    int64_t start_ns, end_ns;
    r->event.err = NULL;
    if (sl__event_interval(&r->event, &start_ns, &end_ns) == SL_OK)
        widen(&r->records, start_ns, end_ns);
}

/* The cpu_ops of our files: host functions on rows of their own, else the script's
 * host_work. */
static bool is_own_work(const sl__reader *r, int64_t *stream)
{
    int64_t pid, tid;
    if (!sl__json_whole(&r->event.pid, &pid) || !sl__json_whole(&r->event.tid, &tid)
        || pid != SL__HOST_PID || tid < 0 || tid > SL__HOST_FUNC_TID + SL__MAX_STREAM_NUMBER)
        return false;
    *stream = tid < SL__HOST_FUNC_TID ? SL__NO_STREAM : tid - SL__HOST_FUNC_TID;
    return true;
}

static sl_status read_timed(sl__reader *r, int64_t func_stream)
{
    sl__records *records = &r->records;
    sl__category category = r->event.category;
    int64_t start_ns, end_ns, base_ns = records->start_ns;
    sl__event_read_args(&r->scan, &r->event);
    if (category == SL__CAT_SYNC) return sl__sync_read(r);
    if (sl__event_interval(&r->event, &start_ns, &end_ns) != SL_OK) return r->event.status;
    widen(records, start_ns, end_ns);
    bool call = category == SL__CAT_CALL
                || (category == SL__CAT_CPU_OP && func_stream == SL__NO_STREAM);
    sl__host host = { .call = { .host_start_ns = base_ns + start_ns,
                                .host_end_ns = base_ns + end_ns, }, .number = r->event.number, };
    sl__work work = {
        .span = { .start_ns = base_ns + start_ns, .end_ns = base_ns + end_ns },
        .number = r->event.number,
        .stream = func_stream,
    };
    return call ? sl__host_read(r, &host) : sl__work_read(r, &work);
}

/* Its times are those of the launch. */
static sl_status read_edge(sl__reader *r)
{
    sl__host host = { .number = r->event.number };
    sl__event_read_args(&r->scan, &r->event);
    sl__event_count(&r->event, SL__ARG_LAUNCHED_BY, &host.launched_by);
    return sl__host_read(r, &host);
}

static sl_status take_event(sl__reader *r)
{
    int64_t func_stream = SL__NO_STREAM;
    switch (r->event.category) {
    case SL__CAT_NONE: /* the profiler's own row, also where the CPU was not recorded */
        r->records.pytorch |= !r->records.own && sl__json_is(&r->event.tid, "PyTorch Profiler");
        return SL_OK;
    case SL__CAT_THREAD_NAME: sl__event_read_args(&r->scan, &r->event); return read_thread(r);
    case SL__CAT_CPU_OP:
        if (r->records.own && is_own_work(r, &func_stream)) return read_timed(r, func_stream);
        r->records.pytorch |= !r->records.own;
        pass_over(r);
        return SL_OK;
    case SL__CAT_OTHER: pass_over(r); return SL_OK;
    case SL__CAT_EDGE: return r->records.own ? read_edge(r) : SL_OK;
    default: return read_timed(r, func_stream);
    }
}

static sl_status read_events(sl__reader *r, sl_error *err)
{
    bool first = true, more;
    sl_status status = sl__scan_enter(&r->scan, '[', err);
    for (uint64_t number = 1; status == SL_OK; number++) {
        status = sl__scan_next(&r->scan, ']', &first, &more, err);
        if (status != SL_OK || !more) break;
        status = sl__stops_at(number) ? sl_interrupt_check(err)
                                      : sl__event_read(&r->scan, number, &r->event, err);
        if (status == SL_OK) status = take_event(r);
    }
    return status;
}

/* ---- the file ---------------------------------------------------------------------- */

static sl_status read_member(sl__reader *r, bool *events, sl_error *err)
{
    sl__json_value key, value;
    sl_status status = sl__scan_key(&r->scan, &key, err);
    if (status != SL_OK) return status;
    if (sl__json_is(&key, "traceEvents")) {
        if (*events) return sl_fail(err, SL_EINVAL, "it has \"traceEvents\" twice");
        *events = true;
        return read_events(r, err);
    }
    status = sl__scan_value(&r->scan, &value, err);
    if (status == SL_OK && sl__json_is(&key, "deviceProperties"))
        return sl__header_devices(&r->records, &r->scan, &value, err);
    if (status == SL_OK && sl__json_is(&key, "streamlab"))
        return sl__header_own(&r->records, &r->scan, &value, err);
    return status;
}

static sl_status read_object(sl__reader *r, sl_error *err)
{
    bool first = true, more, events = false;
    sl_status status = sl__scan_enter(&r->scan, '{', err);
    while (status == SL_OK && (status = sl__scan_next(&r->scan, '}', &first, &more, err)) == SL_OK
           && more)
        status = read_member(r, &events, err);
    if (status == SL_OK && !events)
        return sl_fail(err, SL_EINVAL, "it has no \"traceEvents\", so that it is no trace");
    return status;
}

static sl_status read_text(sl__reader *r, sl_error *err)
{
    sl_status status = sl__scan_peek(&r->scan) == '[' ? read_events(r, err) : read_object(r, err);
    if (status == SL_OK && sl__scan_peek(&r->scan) != '\0')
        return sl_fail(err, SL_EINVAL, "something follows after its end, at byte %zu",
                       (size_t)(r->scan.at - r->scan.start) + 1);
    if (status == SL_OK && r->records.n_works == 0 && !r->records.own)
        return sl_fail(err, SL_EINVAL,
                       "it has no GPU events (cat kernel, gpu_memcpy or gpu_memset); PyTorch's "
                       "profiler records them with ProfilerActivity.CUDA");
    return status;
}

sl_status sl__kineto_parse(const char *text, size_t n, int device, sl_timeline **timeline,
                           sl_error *err)
{
    sl__reader r = { .records = { .wall_ns = -1, .wanted_device = device } };
    size_t mark = n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    sl__scan_open(&r.scan, text, n);
    r.scan.at += mark;
    sl_status status = sl_timeline_create(&r.records.timeline, err);
    if (status == SL_OK) status = read_text(&r, err);
    if (status == SL_OK) status = sl__records_match(&r.records, err);
    if (status == SL_OK)
        *timeline = r.records.timeline;
    else
        sl_timeline_release(r.records.timeline);
    sl__records_free(&r.records);
    sl_text_free(&r.text);
    return status;
}

sl_status sl_timeline_load_kineto(const char *path, int device, sl_timeline **timeline,
                                  sl_error *err)
{
    char *text;
    size_t n;
    sl_error why;
    sl_status status = sl__infile_read(path, &text, &n, err);
    if (status != SL_OK) return status;
    status = sl__kineto_parse(text, n, device, timeline, &why);
    free(text);
    if (status == SL_OK) /* short of memory it has none */
        sl_timeline_set_name(*timeline, sl__infile_name(path), NULL);
    if (status == SL_ENOMEM || status == SL_EINTERRUPT) return sl_fail(err, status, "%s", why.msg);
    return status == SL_OK ? SL_OK : sl_fail(err, status, "'%.100s': %s", path, why.msg);
}
