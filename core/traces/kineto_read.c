/* kineto_read.c - a timeline from a JSON trace of ours, of PyTorch's profiler (kineto), or
 * of another writer of the same events.
 *
 * This file goes through the events and notes those that a timeline is made of;
 * trace_match.c says what belongs together. Taken are, by "cat":
 *   kernel, gpu_memcpy, gpu_memset   operations. Where a copy goes is in CUPTI's name for
 *                                    it: "Memcpy HtoD (Pageable -> Device)"
 *   cuda_runtime, cuda_driver        the host's calls: those that launched an operation
 *                                    (the same "correlation"), and others
 *   cuda_sync                        which stream or event a call waited for
 *   cpu_op                           in our files host functions and host_work, but on rows of
 *                                    ranges
 *   graph_edge                       in our files captured records and waits
 *   instants "[memory]"              what PyTorch's allocator has given away and holds
 *   cpu_op, python_function, user_annotation   of others ranges of the host
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
#include "rocprof.h"

#define MAX_BLANKS ((size_t)1 << 18)

/* ---- events ----------------------------------------------------------------------- */

static sl_status read_thread(sl__reader *r)
{
    sl__event *event = &r->event;
    sl__records *records = &r->records;
    sl__thread thread = { .name = sl__reader_intern(r, &event->arg[SL__ARG_NAME]) };
    if (event->status == SL_OK && thread.name && sl__json_whole(&event->pid, &thread.pid)
        && sl__json_whole(&event->tid, &thread.tid))
        event->status = SL__RECORDS_ADD(records, threads, &thread, event->err);
    return event->status;
}

/* The event is not used, so that errors in its times do not matter. */
static void pass_over(sl__reader *r)
{
    int64_t start_ns, end_ns;
    r->event.err = NULL;
    if (sl__event_interval(&r->event, &start_ns, &end_ns) == SL_OK)
        sl__records_widen(&r->records, start_ns, end_ns);
}

/* What the host was about: a range, if it has times and a name. */
static sl_status read_range(sl__reader *r)
{
    int64_t start_ns, end_ns;
    sl_error *err = r->event.err;
    r->event.err = NULL;
    if (sl__event_interval(&r->event, &start_ns, &end_ns) != SL_OK) return SL_OK;
    sl__records_widen(&r->records, start_ns, end_ns);
    r->event.err = err;
    return sl__range_read(r, start_ns, end_ns);
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
    sl__event_check_name(&r->event);
    if (category == SL__CAT_SYNC) return sl__sync_read(r);
    if (sl__event_interval(&r->event, &start_ns, &end_ns) != SL_OK) return r->event.status;
    sl__records_widen(records, start_ns, end_ns);
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

/* It does not count for the time of the whole. */
static sl_status read_overhead(sl__reader *r)
{
    sl__event *event = &r->event;
    sl__host host = { .number = event->number,
                      .stream = SL__NO_STREAM,
                      .target_stream = SL__NO_STREAM,
                      .call.kind = SL_CALL_HOST_WORK };
    sl_call *call = &host.call;
    if (!sl__reader_decode(r, &event->name) || !sl__is_profilers_own(r->text.data))
        return event->status;
    call->name = sl__reader_intern(r, &event->name);
    if (sl__event_interval(event, &call->host_start_ns, &call->host_end_ns) != SL_OK)
        return event->status;
    return SL__RECORDS_ADD(&r->records, stalls, &host, event->err);
}

static sl_status take_event(sl__reader *r)
{
    int64_t func_stream = SL__NO_STREAM;
    switch (r->event.category) {
    case SL__CAT_NONE: /* the profiler's own row, also where the CPU was not recorded */
        r->records.pytorch |= !r->records.own && sl__json_is(&r->event.tid, "PyTorch Profiler");
        sl__writer_note(r);
        return r->records.own ? SL_OK : sl__xla_note(r);
    case SL__CAT_THREAD_NAME:
        if (sl__xla_has(r)) return sl__xla_note(r);
        sl__event_read_args(&r->scan, &r->event);
        return read_thread(r);
    case SL__CAT_CPU_OP:
        if (sl__range_is_own(r)) return sl__range_read_own(r);
        if (r->records.own && is_own_work(r, &func_stream)) return read_timed(r, func_stream);
        r->records.pytorch |= !r->records.own;
        r->records.n_recorded[SL__RECORDED_OPERATOR]++;
        return read_range(r);
    case SL__CAT_PYTHON:
        if (sl__range_is_own(r)) return sl__range_read_own(r);
        r->records.n_recorded[SL__RECORDED_PYTHON]++;
        return read_range(r);
    case SL__CAT_ANNOTATION: return sl__range_is_own(r) ? sl__range_read_own(r) : read_range(r);
    case SL__CAT_OVERHEAD: return r->records.own ? SL_OK : read_overhead(r);
    case SL__CAT_OTHER:
        if (sl__xla_has(r)) return sl__xla_take(r);
        sl__writer_note(r);
        pass_over(r);
        return SL_OK;
    case SL__CAT_MEMORY: return sl__sample_read(r);
    case SL__CAT_EDGE: return r->records.own ? read_edge(r) : SL_OK;
    case SL__CAT_KERNEL:
    case SL__CAT_MEMCPY:
    case SL__CAT_MEMSET:
    case SL__CAT_CALL:
    case SL__CAT_SYNC: break;
    }
    return read_timed(r, func_stream);
}

/* ---- steps through the file ----------------------------------------------------------- */

/* What begins with blanks alone is not read to its end: a file that unpacks to gigabytes of
 * nothing is refused at once. */
static sl_status begin(sl__reader *r, sl_error *err)
{
    sl__scan *scan = &r->scan;
    size_t n = (size_t)(scan->end - scan->start);
    if (n >= 3 && memcmp(scan->at, "\xEF\xBB\xBF", 3) == 0) scan->at += 3;
    char c = sl__scan_peek(scan);
    if (n < 3 || (c != '{' && c != '[' && n < SL__START_BYTES)) scan->hit_end = true;
    if (n >= MAX_BLANKS) scan->hit_end = false;
    if (n == 0) return sl_fail(err, SL_EINVAL, "it is empty");
    if (c != '{' && c != '[') return sl__writer_refuse_start(scan->start, n, r->parts.name, err);
    r->first = true;
    return sl__scan_enter(scan, c, err);
}

/* SL_OK also for one that is no event, if its end is found: the event's status says so. */
static sl_status next_event(sl__reader *r, sl_error *err)
{
    sl_status status = sl__scan_next(&r->scan, ']', &r->first, &r->more, err);
    if (status != SL_OK || !r->more) return status;
    const sl__scan from = r->scan;
    status = sl__event_read(&r->scan, r->number, &r->event, err);
    r->event.lenient = !r->records.own;
    if (status == SL_OK || r->scan.hit_end) return status;
    r->scan = from;
    return sl__scan_value(&r->scan, &r->value, err);
}

/* Of events the bracket alone. */
static sl_status next_member(sl__reader *r, sl_error *err)
{
    sl_status status = sl__scan_next(&r->scan, '}', &r->first, &r->more, err);
    if (status != SL_OK || !r->more) return status;
    status = sl__scan_key(&r->scan, &r->key, err);
    if (status != SL_OK) return status;
    if (sl__json_is(&r->key, "rocprofiler-sdk-tool"))
        return sl__scan_enter(&r->scan, sl__scan_peek(&r->scan) == '{' ? '{' : '[', err);
    return sl__json_is(&r->key, "traceEvents") ? sl__scan_enter(&r->scan, '[', err)
                                               : sl__scan_value(&r->scan, &r->value, err);
}

static sl_status end(sl__reader *r, sl_error *err)
{
    if (sl__scan_peek(&r->scan) == '\0') return SL_OK;
    return sl_fail(err, SL_EINVAL, "something follows after its end, at byte %" PRIu64,
                   sl__scan_position(&r->scan, r->scan.at));
}

/* ---- the file -------------------------------------------------------------------------- */

/* One that is not as it should be is left out. */
static sl_status take_or_skip(sl__reader *r, sl_error *err)
{
    const sl__filled before = sl__records_filled(&r->records);
    sl_status status = r->event.status == SL_OK ? take_event(r) : r->event.status;
    if (status == SL_EINVAL) {
        sl__event_skip(r, before, err->msg);
        status = SL_OK;
    } else if (r->event.bad[0] || r->event.twice[0]) {
        sl__flaws_of_event(r);
    }
    return status;
}

/* Behind the bracket. */
static sl_status read_events(sl__reader *r, sl_error *err)
{
    sl_status status = SL_OK;
    r->first = true;
    for (r->number = 1; status == SL_OK; r->number++) {
        if (sl__stops_at(r->number)) status = sl_interrupt_check(err);
        if (status == SL_OK) status = sl__reader_step(r, next_event, err);
        if (status != SL_OK || !r->more) break;
        status = take_or_skip(r, err);
    }
    r->first = false;
    return status;
}

static sl_status read_member(sl__reader *r, bool *events, sl_error *err)
{
    if (sl__json_is(&r->key, "traceEvents")) {
        if (*events) return sl_fail(err, SL_EINVAL, "it has \"traceEvents\" twice");
        *events = true;
        return read_events(r, err);
    }
    if (sl__json_is(&r->key, "rocprofiler-sdk-tool")) {
        *events = true;
        return sl__rocprof_read(r, err);
    }
    sl_status status = SL_OK;
    sl__writer_note_member(r);
    if (sl__json_is(&r->key, "deviceProperties"))
        status = sl__header_devices(&r->records, &r->scan, &r->value, err);
    else if (sl__json_is(&r->key, "distributedInfo"))
        status = sl__header_ranks(&r->records, &r->scan, &r->value, err);
    else if (sl__json_is(&r->key, "baseTimeNanoseconds"))
        sl__header_base(&r->records, &r->value);
    else if (sl__json_is(&r->key, "streamlab"))
        status = sl__header_own(&r->records, &r->scan, &r->value, err);
    if (status != SL_EINVAL) return status;
    sl__flaw_note(&r->records, SL_DOUBT_BAD_MEMBERS, err->msg);
    return SL_OK;
}

static sl_status read_object(sl__reader *r, sl_error *err)
{
    bool events = false;
    sl_status status;
    while ((status = sl__reader_step(r, next_member, err)) == SL_OK && r->more) {
        status = read_member(r, &events, err);
        if (status != SL_OK) break;
        r->first = false;
    }
    return status == SL_OK && !events ? sl__writer_refuse_object(r, err) : status;
}

static sl_status read_whole(sl__reader *r, sl_error *err)
{
    sl_status status = sl__reader_step(r, begin, err);
    if (status == SL_OK) status = r->scan.at[-1] == '[' ? read_events(r, err) : read_object(r, err);
    return status == SL_OK ? sl__reader_step(r, end, err) : status;
}

/* Of a trace without operations: why. Ours may have none. */
static sl_status refuse_empty(const sl__reader *r, sl_error *err)
{
    for (int kind = SL_DOUBT_BAD_EVENTS; kind <= SL_DOUBT_BAD_MEMBERS; kind++) {
        const sl__doubted *flaw = &r->records.doubted[kind];
        if (flaw->n > 0)
            return sl_fail(err, SL_EINVAL, "%s", flaw->what.len ? flaw->what.data : "");
    }
    if (r->records.own) return SL_OK;
    return sl__writer_refuse(r->writer, err);
}

static sl_status read_text(sl__reader *r, sl_error *err)
{
    sl_status status = read_whole(r, err);
    if (status == SL_EINVAL && r->records.n_works > 0) {
        sl__flaw_note(&r->records, SL_DOUBT_CUT_OFF, err->msg);
        status = SL_OK;
    }
    if (status == SL_OK) status = sl__xla_end(r, err);
    return status == SL_OK && r->records.n_works == 0 ? refuse_empty(r, err) : status;
}

static sl_status read_all(sl__reader *r, sl_timeline **timeline, sl_error *err)
{
    sl_status status = sl_timeline_create(&r->records.timeline, err);
    if (status == SL_OK) status = read_text(r, err);
    sl__parts_free(&r->parts); /* matching needs room */
    if (status == SL_OK) status = sl__records_match(&r->records, err);
    if (status == SL_OK)
        *timeline = r->records.timeline;
    else
        sl_timeline_release(r->records.timeline);
    sl__records_free(&r->records);
    sl__xla_free(&r->xla);
    sl_text_free(&r->text);
    return status;
}

sl_status sl__kineto_parse(const char *text, size_t n, int device, sl_timeline **timeline,
                           sl_error *err)
{
    sl__reader r = { .records = { .wall_ns = -1, .wanted_device = device } };
    sl__scan_open(&r.scan, text, n);
    return read_all(&r, timeline, err);
}

sl_status sl__kineto_parse_parts(sl__parts parts, int device, sl_timeline **timeline, sl_error *err)
{
    sl__reader r = { .records = { .wall_ns = -1, .wanted_device = device }, .parts = parts };
    sl__scan_open(&r.scan, "", 0);
    return read_all(&r, timeline, err);
}

static sl_status read_part(void *ud, char *to, size_t room, size_t *n, sl_error *err)
{
    return sl__infile_read(ud, to, room, n, err);
}

sl_status sl_timeline_load_kineto(const char *path, int device, sl_timeline **timeline,
                                  sl_error *err)
{
    sl__infile *in;
    sl_error why;
    sl_status status = sl__infile_open(path, &in, err);
    if (status != SL_OK) return status;
    const sl__parts parts = { .read = read_part, .ud = in, .name = sl__infile_name(path) };
    status = sl__kineto_parse_parts(parts, device, timeline, &why);
    sl__infile_close(in);
    if (status == SL_OK) /* short of memory it has none */
        sl_timeline_set_name(*timeline, sl__infile_name(path), NULL);
    if (status == SL_OK) return SL_OK;
    bool says_path = status != SL_EINVAL && status != SL_ENOTFOUND;
    return says_path ? sl_fail(err, status, "%s", why.msg)
                     : sl_fail(err, status, "'%.100s': %s", path, why.msg);
}
