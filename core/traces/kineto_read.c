/* kineto_read.c - a timeline from a JSON trace of ours, of PyTorch's profiler (kineto), or
 * of another writer of the same events.
 *
 * This file goes through the events and takes down those that a timeline is made of;
 * kineto_match.c says what belongs together. Taken are, by "cat":
 *   kernel, gpu_memcpy, gpu_memset   operations. Where a copy goes is in CUPTI's name for
 *                                    it: "Memcpy HtoD (Pageable -> Device)"
 *   cuda_runtime, cuda_driver        the host's calls: those that launched an operation
 *                                    (the same "correlation"), and others
 *   cuda_sync                        which stream or event a call waited for
 *   cpu_op                           in our files host functions and host_work
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
#include "kineto_event.h"
#include "kineto_header.h"
#include "kineto_records.h"

#define MAX_STREAM_NUMBER (INT64_C(1) << 48)

typedef struct reader {
    sl__records records;
    sl__scan scan;
    sl_text text;               /* decoded last */
    sl__event event;
} reader;

/* ---- texts -------------------------------------------------------------------- */

static sl_status decode(reader *r, const sl__json_value *value, sl_error *err)
{
    r->text.len = 0;
    return sl__json_decode(value, &r->text, err);
}

/* 0 for what is no text. */
static sl_status intern(reader *r, const sl__json_value *value, uint32_t *id, sl_error *err)
{
    *id = 0;
    if (value->type != SL__JSON_TEXT)
        return SL_OK;
    sl_status status = decode(r, value, err);
    if (status == SL_OK)
        status = sl_timeline_intern(r->records.timeline, r->text.data, id, err);
    return status;
}

/* ---- operations ----------------------------------------------------------------- */

static bool contains(const char *text, const char *const *parts)
{
    for (; *parts; parts++) {
        if (strstr(text, *parts))
            return true;
    }
    return false;
}

/* CUPTI's words, and those of AMD's counterpart. Copies within the host and to or from
 * arrays pass for copies within the device. */
static sl_span_kind kind_of_copy(const char *name)
{
    static const char *const up[] = { "HtoD", "HostToDevice", "HtoA", NULL };
    static const char *const down[] = { "DtoH", "DeviceToHost", "AtoH", NULL };
    static const char *const across[] = { "PtoP", "PeerToPeer", NULL };
    if (contains(name, up))
        return SL_SPAN_MEMCPY_H2D;
    if (contains(name, down))
        return SL_SPAN_MEMCPY_D2H;
    return contains(name, across) ? SL_SPAN_MEMCPY_P2P : SL_SPAN_MEMCPY_D2D;
}

/* "Pageable -> Device" within a name. */
static uint8_t place_flags(const char *text)
{
    static const char *const places[] = { "Pageable", "Pinned", "Device" };
    static const uint8_t src[] = { SL_SPAN_SRC_PAGEABLE, SL_SPAN_SRC_PINNED, 0 };
    static const uint8_t dst[] = { SL_SPAN_DST_PAGEABLE, SL_SPAN_DST_PINNED, 0 };
    const char *arrow = strstr(text, " -> ");
    uint8_t flags = 0;
    for (size_t i = 0; arrow && i < 3; i++) {
        size_t n = strlen(places[i]);
        if ((size_t)(arrow - text) >= n && strncmp(arrow - n, places[i], n) == 0)
            flags |= src[i];
        if (strncmp(arrow + 4, places[i], n) == 0)
            flags |= dst[i];
    }
    return flags;
}

/* What our own files say where the category and the name do not. */
static sl_status take_own_kind(reader *r, sl_span *span, sl_error *err)
{
    const sl__json_value *kind = &r->event.arg[SL__ARG_KIND];
    const sl__json_value *engine = &r->event.arg[SL__ARG_ENGINE];
    const sl__json_value *memory = &r->event.arg[SL__ARG_MEMORY];
    sl_span_kind named = (sl_span_kind)span->kind;
    sl_engine on;
    sl_status status = SL_OK;
    if (kind->type == SL__JSON_TEXT) {
        status = decode(r, kind, err);
        if (status == SL_OK && sl_span_kind_parse(r->text.data, &named))
            span->kind = (uint8_t)named;
    }
    span->engine = (uint8_t)sl__usual_engine(named);
    if (status == SL_OK && engine->type == SL__JSON_TEXT) {
        status = decode(r, engine, err);
        if (status == SL_OK && sl_engine_parse(r->text.data, &on))
            span->engine = (uint8_t)on;
    }
    if (status == SL_OK && memory->type == SL__JSON_TEXT) {
        status = decode(r, memory, err);
        if (status == SL_OK)
            span->flags = place_flags(r->text.data);
    }
    return status;
}

static sl_status take_kind(reader *r, sl_span *span, sl_error *err)
{
    static const sl_span_kind kinds[] = {
        [SL__CAT_KERNEL] = SL_SPAN_KERNEL, [SL__CAT_MEMSET] = SL_SPAN_MEMSET,
        [SL__CAT_CPU_OP] = SL_SPAN_HOST_FUNC,
    };
    bool copy = r->event.category == SL__CAT_MEMCPY;
    sl_status status = intern(r, &r->event.name, &span->name, err);
    if (status != SL_OK)
        return status;
    const char *name = sl_timeline_text(r->records.timeline, span->name);
    sl_span_kind kind = copy ? kind_of_copy(name) : kinds[r->event.category];
    span->kind = (uint8_t)kind;
    span->engine = (uint8_t)sl__usual_engine(kind);
    if (copy || r->records.own)
        span->flags = place_flags(name);
    return r->records.own ? take_own_kind(r, span, err) : SL_OK;
}

/* What no GPU has is not known either. */
static sl_status take_resources(const sl__event *event, sl_span *span, sl_error *err)
{
    uint64_t registers = 0, shared_bytes = 0;
    sl_status status = sl__event_count(event, SL__ARG_REGISTERS, &registers, err);
    if (status == SL_OK)
        status = sl__event_count(event, SL__ARG_SHARED, &shared_bytes, err);
    if (status == SL_OK && registers > 0 && registers <= UINT16_MAX &&
        shared_bytes <= UINT32_MAX) {
        span->registers = (uint16_t)registers;
        span->shared_bytes = (uint32_t)shared_bytes;
    }
    return status;
}

static sl_status take_sizes(reader *r, sl__work *work, sl_error *err)
{
    const sl__event *event = &r->event;
    uint64_t blocks = 0, threads = 0;
    int64_t priority = 0;
    sl_status status = sl__event_count(event, SL__ARG_BYTES, &work->span.bytes, err);
    if (status == SL_OK)
        status = sl__event_product(event, SL__ARG_GRID, UINT32_MAX, &blocks, err);
    if (status == SL_OK)
        status = sl__event_product(event, SL__ARG_BLOCK, UINT16_MAX, &threads, err);
    if (status == SL_OK)
        status = take_resources(event, &work->span, err);
    if (status == SL_OK)
        status = sl__event_whole(event, SL__ARG_PRIORITY, &priority, err);
    if (status == SL_OK)
        status = intern(r, &event->arg[SL__ARG_SYMBOL], &work->span.symbol, err);
    work->span.blocks = (uint32_t)blocks;
    work->span.threads = (uint16_t)threads;
    work->priority = priority < INT32_MIN || priority > INT32_MAX ? 0 : (int32_t)priority;
    return status;
}

static sl_status read_cause(reader *r, sl__arg arg, uint8_t *cause, sl_error *err)
{
    sl_cause found;
    const sl__json_value *value = &r->event.arg[arg];
    sl_status status = value->type == SL__JSON_TEXT ? decode(r, value, err) : SL_OK;
    if (status == SL_OK && value->type == SL__JSON_TEXT && sl_cause_parse(r->text.data, &found))
        *cause = (uint8_t)found;
    return status;
}

/* Our own files: what the operation was held by. */
static sl_status take_hold(reader *r, uint64_t correlation, sl_error *err)
{
    const sl__event *event = &r->event;
    sl__records *records = &r->records;
    if (!records->own || event->arg[SL__ARG_READY].type == SL__JSON_MISSING)
        return SL_OK;
    sl_hold hold = { .correlation = correlation };
    sl_status status = sl__event_time(event, SL__ARG_READY, &hold.ready_ns, err);
    hold.ready_ns += records->start_ns;
    if (status == SL_OK)
        status = sl__event_count(event, SL__ARG_HELD_BY, &hold.ready_by, err);
    if (status == SL_OK)
        status = sl__event_count(event, SL__ARG_START_BY, &hold.start_by, err);
    if (status == SL_OK)
        status = read_cause(r, SL__ARG_HELD_CAUSE, &hold.ready_cause, err);
    if (status == SL_OK)
        status = read_cause(r, SL__ARG_START_CAUSE, &hold.start_cause, err);
    if (status == SL_OK)
        status = sl__records_reserve((void **)&records->holds, records->n_holds,
                                     &records->cap_holds, sizeof hold, err);
    if (status == SL_OK)
        records->holds[records->n_holds++] = hold;
    return status;
}

/* The stream's number: "stream", or the row if that is a number. */
static sl_status take_stream(reader *r, int64_t *stream, sl_error *err)
{
    const sl__event *event = &r->event;
    sl_status status = SL_OK;
    int64_t number = 0;
    if (event->arg[SL__ARG_STREAM].type != SL__JSON_MISSING)
        status = sl__event_whole(event, SL__ARG_STREAM, &number, err);
    else if (!sl__json_whole(&event->tid, &number))
        number = 0;
    if (status == SL_OK && (number < 0 || number > MAX_STREAM_NUMBER))
        return sl__event_fail(event, err, "it is in stream %" PRId64 ", which cannot be", number);
    *stream = number;
    return status;
}

/* "device", or the process if that is a number. */
static sl_status take_device(const sl__event *event, int64_t *device, sl_error *err)
{
    *device = 0;
    if (event->arg[SL__ARG_DEVICE].type == SL__JSON_MISSING) {
        if (!sl__json_whole(&event->pid, device))
            *device = 0;
        return SL_OK;
    }
    return sl__event_whole(event, SL__ARG_DEVICE, device, err);
}

static sl_status add_work(reader *r, const sl__work *work, sl_error *err)
{
    sl__records *records = &r->records;
    sl_status status = sl__records_reserve((void **)&records->works, records->n_works,
                                           &records->cap_works, sizeof *work, err);
    if (status == SL_OK)
        records->works[records->n_works++] = *work;
    return status;
}

/* The interval is set. */
static sl_status read_work(reader *r, sl__work *work, sl_error *err)
{
    sl_span *span = &work->span;
    bool host_func = r->event.category == SL__CAT_CPU_OP;
    sl__arg id = host_func ? SL__ARG_EXTERNAL_ID : SL__ARG_CORRELATION;
    span->host_start_ns = span->host_end_ns = span->start_ns;
    sl_status status = take_kind(r, span, err);
    if (status == SL_OK)
        status = take_sizes(r, work, err);
    if (status == SL_OK)
        status = sl__event_count(&r->event, id, &span->correlation, err);
    if (status == SL_OK && !host_func)
        status = take_stream(r, &work->stream, err);
    if (status == SL_OK && !host_func)
        status = take_device(&r->event, &work->device, err);
    if (status == SL_OK)
        status = take_hold(r, span->correlation, err);
    return status == SL_OK ? add_work(r, work, err) : status;
}

/* ---- calls ----------------------------------------------------------------------- */

static bool begins(const char **text, const char *start)
{
    size_t n = strlen(start);
    bool does = strncmp(*text, start, n) == 0;
    *text += does ? n : 0;
    return does;
}

/* "EventRecord" of cudaEventRecord, cuEventRecord_ptsz or hipEventRecord; "" if it is none
 * of these libraries' names. The buffer is cut. */
static void bare_name(const char *name, char bare[32])
{
    bare[0] = '\0';
    if (!begins(&name, "cuda") && !begins(&name, "hip") && !begins(&name, "cu"))
        return;
    size_t n = strcspn(name, "_");
    n = n < 31 ? n : 31;
    memcpy(bare, name, n);
    bare[n] = '\0';
}

static bool is_listed(const char *name, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(name, *names) == 0)
            return true;
    }
    return false;
}

static void classify(const char *name, sl__host *host)
{
    static const struct { const char *name; sl_call_kind kind; } kinds[] = {
        { "EventRecord", SL_CALL_EVENT_RECORD },
        { "EventRecordWithFlags", SL_CALL_EVENT_RECORD },
        { "StreamWaitEvent", SL_CALL_STREAM_WAIT },
        { "StreamSynchronize", SL_CALL_STREAM_SYNC },
        { "EventSynchronize", SL_CALL_EVENT_SYNC },
        { "DeviceSynchronize", SL_CALL_DEVICE_SYNC },
        { "CtxSynchronize", SL_CALL_DEVICE_SYNC },
    };
    static const char *const may_wait[] = {
        "Free", "FreeHost", "FreeArray", "Malloc", "MallocHost", "MallocArray", "HostAlloc",
        "HostMalloc", "HostFree", "HostRegister", "HostUnregister", "DeviceReset", "MemFree",
        "MemFreeHost", "MemAlloc", "MemAllocHost", "MemHostAlloc", "MemHostRegister",
        "MemHostUnregister", "ModuleLoadData", "ModuleUnload", NULL
    };
    static const char *const copies[] = {
        "Memcpy", "Memcpy2D", "Memcpy3D", "MemcpyToSymbol", "MemcpyFromSymbol", "MemcpyHtoD",
        "MemcpyDtoH", NULL
    };
    char bare[32];
    bare_name(name, bare);
    host->call.kind = SL_CALL_PLAIN;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(bare, kinds[i].name) == 0)
            host->call.kind = (uint8_t)kinds[i].kind;
    }
    host->may_wait = is_listed(bare, may_wait);
    host->copies = is_listed(bare, copies);
}

static sl_status take_stream_arg(const sl__event *event, sl__arg arg, int64_t *stream,
                                 sl_error *err)
{
    *stream = SL__NO_STREAM;
    sl_status status = sl__event_whole(event, arg, stream, err);
    if (*stream < 0 || *stream > MAX_STREAM_NUMBER || *stream == UINT32_MAX)
        *stream = SL__NO_STREAM;        /* CUPTI says -1 for none, also without a sign */
    return status;
}

/* What our own files say of a call. */
static sl_status take_own_call(reader *r, sl__host *host, sl_error *err)
{
    const sl__event *event = &r->event;
    sl_status status = intern(r, &event->arg[SL__ARG_WHERE], &host->call.where, err);
    if (status == SL_OK)
        status = sl__event_count(event, SL__ARG_WAITS_FOR, &host->call.target, err);
    if (status == SL_OK)
        status = sl__event_time(event, SL__ARG_DEVICE_TIME, &host->call.device_ns, err);
    if (status == SL_OK)
        status = take_stream_arg(event, SL__ARG_IN_STREAM, &host->stream, err);
    if (status == SL_OK)
        status = take_stream_arg(event, SL__ARG_RECORDED_IN, &host->target_stream, err);
    if (event->arg[SL__ARG_DEVICE_TIME].type != SL__JSON_MISSING)
        host->call.device_ns += r->records.start_ns;
    host->waited = sl__event_flag(event, SL__ARG_HOST_WAITED);
    host->queue_full = sl__event_flag(event, SL__ARG_QUEUE_FULL);
    host->loaded = sl__event_flag(event, SL__ARG_LOADED);
    host->call.waited_for_device = sl__event_flag(event, SL__ARG_DEVICE_WAITED);
    return status == SL_OK ? take_hold(r, host->call.correlation, err) : status;
}

static sl_status read_call(reader *r, sl__host *host, sl_error *err)
{
    sl__records *records = &r->records;
    bool host_work = r->event.category == SL__CAT_CPU_OP;
    sl__arg id = host_work ? SL__ARG_EXTERNAL_ID : SL__ARG_CORRELATION;
    host->stream = host->target_stream = SL__NO_STREAM;
    sl_status status = intern(r, &r->event.name, &host->call.name, err);
    if (status == SL_OK)
        status = sl__event_count(&r->event, id, &host->call.correlation, err);
    if (status != SL_OK)
        return status;
    classify(sl_timeline_text(records->timeline, host->call.name), host);
    if (host_work)
        host->call.kind = SL_CALL_HOST_WORK;
    if (records->own)
        status = take_own_call(r, host, err);
    if (status == SL_OK)
        status = sl__records_reserve((void **)&records->hosts, records->n_hosts,
                                     &records->cap_hosts, sizeof *host, err);
    if (status == SL_OK)
        records->hosts[records->n_hosts++] = *host;
    return status;
}

static sl_status read_sync(reader *r, sl_error *err)
{
    const sl__event *event = &r->event;
    sl__records *records = &r->records;
    sl__sync sync = { .record = -1 };
    sl_status status = sl__event_count(event, SL__ARG_CORRELATION, &sync.correlation, err);
    if (status == SL_OK)
        status = take_device(event, &sync.device, err);
    if (status == SL_OK)
        status = take_stream_arg(event, SL__ARG_STREAM, &sync.stream, err);
    if (status == SL_OK)
        status = take_stream_arg(event, SL__ARG_WAIT_STREAM, &sync.wait_stream, err);
    if (status == SL_OK)
        status = sl__event_whole(event, SL__ARG_WAIT_RECORD, &sync.record, err);
    if (status == SL_OK)
        status = sl__records_reserve((void **)&records->syncs, records->n_syncs,
                                     &records->cap_syncs, sizeof sync, err);
    if (status == SL_OK)
        records->syncs[records->n_syncs++] = sync;
    return status;
}

/* ---- events ----------------------------------------------------------------------- */

static sl_status read_thread(reader *r, sl_error *err)
{
    sl__records *records = &r->records;
    sl__thread thread = { .name = r->event.arg[SL__ARG_NAME] };
    if (thread.name.type != SL__JSON_TEXT || !sl__json_whole(&r->event.pid, &thread.pid) ||
        !sl__json_whole(&r->event.tid, &thread.tid))
        return SL_OK;
    sl_status status = sl__records_reserve((void **)&records->threads, records->n_threads,
                                           &records->cap_threads, sizeof thread, err);
    if (status == SL_OK)
        records->threads[records->n_threads++] = thread;
    return status;
}

static void widen(sl__records *records, int64_t start_ns, int64_t end_ns)
{
    if (!records->timed || start_ns < records->first_ns)
        records->first_ns = start_ns;
    if (!records->timed || end_ns > records->last_ns)
        records->last_ns = end_ns;
    records->timed = true;
}

/* Nothing is made of it: what is wrong with its times is nobody's trouble. */
static void pass_over(reader *r)
{
    int64_t start_ns, end_ns;
    if (sl__event_interval(&r->event, &start_ns, &end_ns, NULL) == SL_OK)
        widen(&r->records, start_ns, end_ns);
}

/* The cpu_ops of our files: host functions on rows of their own, else the script's
 * host_work. */
static bool is_own_work(const reader *r, int64_t *stream)
{
    int64_t pid, tid;
    if (!sl__json_whole(&r->event.pid, &pid) || !sl__json_whole(&r->event.tid, &tid) ||
        pid != SL__HOST_PID || tid < 0 || tid > SL__HOST_FUNC_TID + MAX_STREAM_NUMBER)
        return false;
    *stream = tid < SL__HOST_FUNC_TID ? SL__NO_STREAM : tid - SL__HOST_FUNC_TID;
    return true;
}

static sl_status read_timed(reader *r, int64_t func_stream, sl_error *err)
{
    sl__records *records = &r->records;
    int64_t start_ns, end_ns, base_ns = records->start_ns;
    sl_status status = sl__event_read_args(&r->scan, &r->event, err);
    if (status == SL_OK && r->event.category == SL__CAT_SYNC)
        return read_sync(r, err);
    if (status == SL_OK)
        status = sl__event_interval(&r->event, &start_ns, &end_ns, err);
    if (status != SL_OK)
        return status;
    widen(records, start_ns, end_ns);
    bool call = r->event.category == SL__CAT_CALL ||
                (r->event.category == SL__CAT_CPU_OP && func_stream == SL__NO_STREAM);
    sl__host host = { .call = { .host_start_ns = base_ns + start_ns,
                                .host_end_ns = base_ns + end_ns }, .number = r->event.number };
    sl__work work = { .span = { .start_ns = base_ns + start_ns, .end_ns = base_ns + end_ns },
                      .number = r->event.number, .stream = func_stream };
    return call ? read_call(r, &host, err) : read_work(r, &work, err);
}

static sl_status take_event(reader *r, sl_error *err)
{
    int64_t func_stream = SL__NO_STREAM;
    sl_status status;
    switch (r->event.category) {
    case SL__CAT_NONE:      /* the profiler's own row, also where the CPU was not recorded */
        r->records.pytorch |= !r->records.own && sl__json_is(&r->event.tid, "PyTorch Profiler");
        return SL_OK;
    case SL__CAT_THREAD_NAME:
        status = sl__event_read_args(&r->scan, &r->event, err);
        return status == SL_OK ? read_thread(r, err) : status;
    case SL__CAT_CPU_OP:
        if (r->records.own && is_own_work(r, &func_stream))
            return read_timed(r, func_stream, err);
        r->records.pytorch |= !r->records.own;
        pass_over(r);
        return SL_OK;
    case SL__CAT_OTHER:
        pass_over(r);
        return SL_OK;
    default:
        return read_timed(r, func_stream, err);
    }
}

static sl_status read_events(reader *r, sl_error *err)
{
    bool first = true, more;
    sl_status status = sl__scan_enter(&r->scan, '[', err);
    for (uint64_t number = 1; status == SL_OK; number++) {
        status = sl__scan_next(&r->scan, ']', &first, &more, err);
        if (status != SL_OK || !more)
            break;
        status = sl__stops_at(number) ? sl_interrupt_check(err)
                                      : sl__event_read(&r->scan, number, &r->event, err);
        if (status == SL_OK)
            status = take_event(r, err);
    }
    return status;
}

/* ---- the file ---------------------------------------------------------------------- */

static sl_status read_member(reader *r, bool *events, sl_error *err)
{
    sl__json_value key, value;
    sl_status status = sl__scan_key(&r->scan, &key, err);
    if (status != SL_OK)
        return status;
    if (sl__json_is(&key, "traceEvents")) {
        if (*events)
            return sl_fail(err, SL_EINVAL, "it has \"traceEvents\" twice");
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

static sl_status read_object(reader *r, sl_error *err)
{
    bool first = true, more, events = false;
    sl_status status = sl__scan_enter(&r->scan, '{', err);
    while (status == SL_OK &&
           (status = sl__scan_next(&r->scan, '}', &first, &more, err)) == SL_OK && more)
        status = read_member(r, &events, err);
    if (status == SL_OK && !events)
        return sl_fail(err, SL_EINVAL, "it has no \"traceEvents\", so that it is no trace");
    return status;
}

static sl_status read_text(reader *r, sl_error *err)
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
    reader r = { .records = { .wall_ns = -1, .wanted_device = device } };
    size_t mark = n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    sl__scan_open(&r.scan, text, n);
    r.scan.at += mark;
    sl_status status = sl_timeline_create(&r.records.timeline, err);
    if (status == SL_OK)
        status = read_text(&r, err);
    if (status == SL_OK)
        status = sl__records_match(&r.records, err);
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
    if (status != SL_OK)
        return status;
    status = sl__kineto_parse(text, n, device, timeline, &why);
    free(text);
    if (status == SL_OK)        /* short of memory it has none */
        sl_timeline_set_name(*timeline, sl__infile_name(path), NULL);
    if (status == SL_ENOMEM || status == SL_EINTERRUPT)
        return sl_fail(err, status, "%s", why.msg);
    return status == SL_OK ? SL_OK : sl_fail(err, status, "'%.100s': %s", path, why.msg);
}
