/* spool_read.c - the spools of recorded programs, a process each, as the records of a timeline.
 *
 * What trace_match.c makes of these is the same as for a trace of PyTorch's profiler, but that a
 * spool leaves nothing to guess: it says of each wait which record it is for, of each record and
 * synchronisation the stream, and of each stream how it was made. Several processes share a
 * timeline: each has numbers of its own for correlations and streams, and its clock is shifted to
 * the system's.
 */
#include "spool_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../timeline/sort.h"
#include "../timeline/store.h"
#include "call_names.h"
#include "kineto.h"
#include "comm_nvtx.h"
#include "spool_file.h"
#include "spool_lines.h"
#include "spool_memory.h"
#include "spool_streams.h"
#include "torch_nvtx.h"

#define NAMES_AHEAD 65536 /* of a name's number, of as many names as came before it */

/* ---- lists of a process ---- */

typedef struct sl__process {
    sl__spools *all;
    sl__records *records; /* all->records */
    uint64_t index;       /* of the process */
    bool is_interned;     /* names are ids of texts */
    int64_t shift_ns;     /* from its clock to that of all */
    uint32_t pid;
    spool_end end;   /* kind 0: it has none */
    uint32_t *names; /* text ids, by number */
    size_t n_names, cap_names;
    size_t n_named; /* records of names, so far */
    sl__spool_streams streams;
    spool_event *events;
    size_t n_events, cap_events;
    spool_sync *syncs;
    size_t n_syncs, cap_syncs;
    sl__spool_lines lines;
    spool_memory *memory;
    size_t n_memory, cap_memory;
    uint32_t *failures; /* correlations of calls, in order once all are there */
    size_t n_failures, cap_failures;
    bool failed; /* why it ends early is said */
} process;

#define ADD(p, list, item, err)                                                                    \
    sl__records_add((void **)&(p)->list, &(p)->n_##list, &(p)->cap_##list, (item), sizeof *(item), \
                    (err))

static uint64_t number_of(const process *p, uint32_t correlation)
{
    return correlation ? p->index << SL__PROCESS_BITS | correlation : 0;
}

static uint32_t name_of(const process *p, uint32_t id)
{
    if (p->is_interned) return id;
    return id < p->n_names ? p->names[id] : 0;
}

/* Times that no clock has are none, as they are in other traces. */
static int64_t time_of(const process *p, uint64_t ns)
{
    if (ns == 0 || ns >= (uint64_t)SL__TIME_LIMIT_NS) return 0;
    const int64_t time_ns = (int64_t)ns + p->shift_ns;
    return time_ns > 0 && time_ns < SL__TIME_LIMIT_NS ? time_ns : 0;
}

static void widen(sl__records *records, int64_t start_ns, int64_t end_ns)
{
    if (!records->timed || start_ns < records->first_ns) records->first_ns = start_ns;
    if (!records->timed || end_ns > records->last_ns) records->last_ns = end_ns;
    records->timed = true;
}

/* ---- one record ---- */

/* The first process's clock is that of all, and a process alone names the timeline. */
static sl_status take_start(process *p, const spool_start *start, sl_error *err)
{
    const bool is_clock = start->cupti_ns > 0 && start->cupti_ns < INT64_MAX / 4
                          && start->system_ns > 0 && start->system_ns < INT64_MAX / 4;
    p->pid = start->pid;
    if (!p->all->several && start->program && *start->program) {
        sl_status status = sl_timeline_set_name(p->records->timeline, start->program, err);
        if (status != SL_OK) return status;
    }
    if (!is_clock) return SL_OK;
    const int64_t ahead_ns = start->system_ns - start->cupti_ns;
    if (!p->all->is_timed) p->all->ahead_ns = p->records->clock_ns = ahead_ns;
    p->all->is_timed = true;
    p->shift_ns = ahead_ns - p->all->ahead_ns;
    return SL_OK;
}

static sl_status take_name(process *p, const spool_name *name, sl_error *err)
{
    const uint32_t id = name->id, none = 0;
    sl_status status = SL_OK;
    if (id > p->n_named++ + NAMES_AHEAD) return SL_OK;
    while (status == SL_OK && p->n_names <= id)
        status = ADD(p, names, &none, err);
    if (status != SL_OK) return status;
    return sl_timeline_intern(p->records->timeline, name->text, &p->names[id], err);
}

static void doubt(process *p, sl_doubt_kind kind, const char *why)
{
    sl__doubted *doubted = &p->records->doubted[kind];
    if (doubted->n++ == 0) sl_text_add(&doubted->what, "%s", why);
}

static sl_status ends_early(process *p, const char *why)
{
    p->failed = true;
    doubt(p, SL_DOUBT_ENDS_EARLY, why);
    return SL_OK;
}

static sl_status take_failure(process *p, const spool_name *name)
{
    char text[SPOOL_TEXT_MOST];
    snprintf(text, sizeof text, "%s", name->text);
    for (char *at = text; *at; at++) /* a terminal takes orders from the others */
        if (*at < ' ' || *at > '~') *at = '?';
    if (name->kind == SPOOL_FAILURE) return ends_early(p, text);
    doubt(p, SL_DOUBT_NO_LINES, text);
    return SL_OK;
}

static sl_status take_call(process *p, const spool_call *call, sl_error *err)
{
    sl__records *records = p->records;
    sl__host host = { .call = { .host_start_ns = time_of(p, call->start_ns),
                                .host_end_ns = time_of(p, call->end_ns),
                                .correlation = number_of(p, call->correlation),
                                .name = name_of(p, call->name) },
                      .number = records->n_hosts + records->n_works + 1,
                      .stream = SL__NO_STREAM,
                      .target_stream = SL__NO_STREAM,
                      .pid = p->pid,
                      .tid = call->thread };
    if (host.call.host_start_ns <= 0 || host.call.host_end_ns < host.call.host_start_ns)
        return SL_OK;
    sl__call_classify(sl_timeline_text(records->timeline, host.call.name), &host);
    records->n_recorded[SL__RECORDED_CALL]++;
    widen(records, host.call.host_start_ns, host.call.host_end_ns);
    if (sl__call_failed(records, &host, call->result)) {
        sl_status status = ADD(p, failures, &call->correlation, err);
        if (status != SL_OK) return status;
    }
    return SL__RECORDS_ADD(records, hosts, &host, err);
}

/* What kernels, copies and memsets have in common. An operation without times is counted. */
static sl_status add_work(process *p, sl__work *work, uint32_t graph, uint32_t node, sl_error *err)
{
    sl__records *records = p->records;
    sl_span *span = &work->span;
    if (span->start_ns <= 0 || span->end_ns < span->start_ns) {
        records->doubted[SL_DOUBT_NO_TIME].n++;
        return SL_OK;
    }
    span->host_start_ns = span->host_end_ns = span->start_ns;
    span->engine = (uint8_t)sl__usual_engine((sl_span_kind)span->kind);
    work->number = records->n_hosts + records->n_works + 1;
    work->is_node = work->is_numbered = graph != 0 || node != 0;
    work->graph = graph;
    work->node = node;
    work->launch = work->is_node ? span->correlation : 0;
    widen(records, span->start_ns, span->end_ns);
    return SL__RECORDS_ADD(records, works, work, err);
}

static sl_status take_kernel(process *p, const spool_kernel *k, sl_error *err)
{
    sl__work work = { .span = { .start_ns = time_of(p, k->start_ns),
                                .end_ns = time_of(p, k->end_ns),
                                .correlation = number_of(p, k->correlation),
                                .name = name_of(p, k->name),
                                .blocks = k->blocks,
                                .threads = k->threads,
                                .registers = k->registers,
                                .shared_bytes = k->registers ? k->shared_bytes : 0 },
                      .stream = k->stream,
                      .process = (uint32_t)p->index,
                      .context = k->context,
                      .device = k->device };
    const bool is_collective = sl__names_collective(
        sl_timeline_text(p->records->timeline, work.span.name));
    work.span.kind = is_collective ? SL_SPAN_COLLECTIVE : SL_SPAN_KERNEL;
    return add_work(p, &work, k->graph, k->node, err);
}

/* CUPTI's numbers, in the words of its names. */
static const char *direction_of(uint8_t direction)
{
    static const char *const names[] = { "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                         "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP" };
    return names[direction < sizeof names / sizeof *names ? direction : 0];
}

static const char *memory_of(uint8_t memory)
{
    static const char *const names[] = { "Unknown", "Pageable", "Pinned",        "Device",
                                         "Array",   "Managed",  "Device Static", "Managed Static" };
    return names[memory < sizeof names / sizeof *names ? memory : 0];
}

static sl_status take_copy(process *p, const spool_copy *c, sl_error *err)
{
    char name[SL__COPY_NAME_BYTES];
    const bool is_peer = c->from_device != c->to_device && c->from_device != SPOOL_NONE
                         && c->to_device != SPOOL_NONE;
    sl__work work = { .span = { .start_ns = time_of(p, c->start_ns),
                                .end_ns = time_of(p, c->end_ns),
                                .correlation = number_of(p, c->correlation),
                                .bytes = c->size <= INT64_MAX ? c->size : 0 },
                      .stream = c->stream,
                      .process = (uint32_t)p->index,
                      .context = c->context,
                      .device = c->device };
    if (c->kind == SPOOL_SET)
        snprintf(name, sizeof name, "Memset (%s)", memory_of(c->to));
    else if (is_peer)
        sl__peer_copy_name(c->from_device, c->to_device, name);
    else
        snprintf(name, sizeof name, "Memcpy %s (%s -> %s)", direction_of(c->direction),
                 memory_of(c->from), memory_of(c->to));
    work.span.kind = c->kind == SPOOL_SET ? SL_SPAN_MEMSET : (uint8_t)sl__named_copy_kind(name);
    if (c->kind == SPOOL_COPY) work.span.flags = sl__named_memory(name);
    sl_status status = sl_timeline_intern(p->records->timeline, name, &work.span.name, err);
    return status == SL_OK ? add_work(p, &work, c->graph, c->node, err) : status;
}

static sl_status take_device(process *p, const spool_device *d, sl_error *err)
{
    sl_device_info info = { .index = (int)(d->index & INT32_MAX),
                            .sm_count = (int)(d->sms & INT32_MAX),
                            .memory_bytes = (int64_t)(d->memory_bytes & INT64_MAX),
                            .compute_capability_major = (int)(d->major & 0xffff),
                            .compute_capability_minor = (int)(d->minor & 0xffff),
                            .max_threads_per_block = (int)(d->threads_per_block & INT32_MAX),
                            .max_shared_bytes_per_block = d->shared_per_sm };
    snprintf(info.name, sizeof info.name, "%s", d->name);
    return SL__RECORDS_ADD(p->records, devices, &info, err);
}

/* The words of PyTorch's profiler for them: which ones are the recorder's is decided by these. */
static const char *overhead_of(uint32_t type)
{
    switch (type) {
    case 1 << 16: return "Buffer Flush";
    case 2 << 16: return "Instrumentation";
    case 3 << 16: return "Resource";
    case 7 << 16: return "Activity Buffer Request";
    case 8 << 16: return "UVM Activity Init";
    }
    return "";
}

static sl_status take_overhead(process *p, const spool_overhead *o, sl_error *err)
{
    const char *name = overhead_of(o->type);
    sl__host host = { .stream = SL__NO_STREAM,
                      .target_stream = SL__NO_STREAM,
                      .pid = p->pid,
                      .tid = o->thread,
                      .call = { .kind = SL_CALL_HOST_WORK,
                                .host_start_ns = time_of(p, o->start_ns),
                                .host_end_ns = time_of(p, o->end_ns) } };
    if (!sl__is_profilers_own(name) || host.call.host_start_ns <= 0
        || host.call.host_end_ns < host.call.host_start_ns)
        return SL_OK;
    sl_status status = sl_timeline_intern(p->records->timeline, name, &host.call.name, err);
    return status == SL_OK ? SL__RECORDS_ADD(p->records, stalls, &host, err) : status;
}

static sl_status take_range(process *p, const spool_range *r, sl_error *err)
{
    sl_host_range range = { .start_ns = time_of(p, r->start_ns),
                            .end_ns = time_of(p, r->end_ns),
                            .name = name_of(p, r->name),
                            .kind = SL_HOST_RANGE_NVTX };
    sl_status status = sl__torch_nvtx_take(p->records->timeline, &range, err);
    if (status == SL_OK) status = sl__comm_nvtx_take(p->records, p->pid, r->thread, &range, err);
    if (status != SL_OK) return status;
    return sl__records_add_range(p->records, p->pid, r->thread, range, err);
}

static sl_status take_thread(process *p, const spool_thread *thread, sl_error *err)
{
    sl__thread named = { .pid = p->pid, .tid = thread->thread };
    sl_status status = sl_timeline_intern(p->records->timeline, thread->name, &named.name, err);
    return status == SL_OK ? SL__RECORDS_ADD(p->records, threads, &named, err) : status;
}

static sl_status take_line(process *p, const spool_line *line, sl_error *err)
{
    return sl__spool_lines_add(&p->lines, p->records->timeline, line, name_of(p, line->file),
                               name_of(p, line->function), err);
}

sl_status sl__process_take(process *p, const spool_record *record, sl_error *err)
{
    switch (record->kind) {
    case SPOOL_START: return take_start(p, &record->start, err);
    case SPOOL_FAILURE:
    case SPOOL_NO_LINES: return take_failure(p, &record->name);
    case SPOOL_NAME: return take_name(p, &record->name, err);
    case SPOOL_CALL: return take_call(p, &record->call, err);
    case SPOOL_KERNEL: return take_kernel(p, &record->kernel, err);
    case SPOOL_COPY:
    case SPOOL_SET: return take_copy(p, &record->copy, err);
    case SPOOL_SYNC: return ADD(p, syncs, &record->sync, err);
    case SPOOL_EVENT: return ADD(p, events, &record->event, err);
    case SPOOL_STREAM: return sl__spool_stream_add(&p->streams, &record->stream, err);
    case SPOOL_CONTEXT: return sl__spool_context_add(&p->streams, &record->context, err);
    case SPOOL_DEVICE: return take_device(p, &record->device, err);
    case SPOOL_OVERHEAD: return take_overhead(p, &record->overhead, err);
    case SPOOL_RANGE: return take_range(p, &record->range, err);
    case SPOOL_END: p->end = record->end; return SL_OK;
    case SPOOL_LINE: return take_line(p, &record->line, err);
    case SPOOL_AT: return sl__spool_lines_note(&p->lines, &record->at, err);
    case SPOOL_THREAD: return take_thread(p, &record->thread, err);
    case SPOOL_MEMORY: return ADD(p, memory, &record->memory, err);
    case SPOOL_KINDS: break;
    }
    return SL_OK;
}

/* ---- what a process's records say together ---- */

SL__ORDER(by_call, sl__host, x->call.correlation, x->call.host_start_ns,
          SL__DOWN(x->call.host_end_ns), x->number);

void sl__inner_calls_leave(sl__records *records, size_t first)
{
    size_t n = first;
    if (records->n_hosts == n) return;
    sl__sort(records->hosts + n, records->n_hosts - n, sizeof *records->hosts, by_call);
    for (size_t i = n; i < records->n_hosts; i++) {
        const uint64_t correlation = records->hosts[i].call.correlation;
        if (n > first && correlation && records->hosts[n - 1].call.correlation == correlation)
            continue;
        records->hosts[n++] = records->hosts[i];
    }
    records->n_hosts = n;
}

SL__ORDER(by_record, spool_event, x->record, x->event, x->correlation);

/* Which record of the event a wait is for: the one of its number; in a spool without numbers, as
 * the recorder wrote it where CUPTI had none (before CUDA 12.8), the last one before the wait's
 * call. Events are in order of `by_record`. */
static const spool_event *record_of(const process *p, const spool_sync *sync)
{
    const spool_event key = { .record = sync->record,
                              .event = sync->event,
                              .correlation = sync->correlation };
    size_t at;
    if (sync->record) {
        SL__SEARCH(at, p->n_events, p->events[at].record < sync->record);
        return at < p->n_events && p->events[at].record == sync->record ? &p->events[at] : NULL;
    }
    SL__SEARCH(at, p->n_events, by_record(&p->events[at], &key) < 0);
    const bool found = at > 0 && p->events[at - 1].record == 0
                       && p->events[at - 1].event == sync->event;
    return found ? &p->events[at - 1] : NULL;
}

static sl_status add_sync(process *p, const spool_sync *from, sl_error *err)
{
    enum { EVENT_SYNC = 1, STREAM_WAIT, STREAM_SYNC, CONTEXT_SYNC }; /* CUPTI's types */
    sl__sync sync = { .correlation = number_of(p, from->correlation),
                      .start_ns = time_of(p, from->start_ns),
                      .device = sl__spool_device(&p->streams, from->context),
                      .stream = SL__NO_STREAM,
                      .wait_stream = SL__NO_STREAM,
                      .record = -1 };
    const bool is_wait = from->type >= EVENT_SYNC && from->type <= CONTEXT_SYNC;
    if (!is_wait && from->type != SPOOL_CAPTURED) return SL_OK;
    if (from->type == STREAM_WAIT || from->type == STREAM_SYNC)
        sync.stream = sl__spool_stream(&p->streams, from->context, from->stream);
    if (from->type == CONTEXT_SYNC) sync.stream = sl__spool_null_stream(&p->streams, from->context);
    if (from->type == STREAM_WAIT || from->type == EVENT_SYNC) {
        const spool_event *event = record_of(p, from);
        if (event) {
            sync.record = (int64_t)number_of(p, event->correlation);
            sync.wait_stream = sl__spool_stream(&p->streams, event->context, event->stream);
        }
    }
    return SL__RECORDS_ADD(p->records, syncs, &sync, err);
}

/* In which stream each record of an event is, and what each wait waits for. */
static sl_status resolve(process *p, sl_error *err)
{
    sl_status status = SL_OK;
    if (p->n_events > 1) sl__sort(p->events, p->n_events, sizeof *p->events, by_record);
    for (size_t i = 0; i < p->n_events && status == SL_OK; i++) {
        const spool_event *event = &p->events[i];
        const sl__sync sync = { .correlation = number_of(p, event->correlation),
                                .device = sl__spool_device(&p->streams, event->context),
                                .stream = sl__spool_stream(&p->streams, event->context,
                                                           event->stream),
                                .wait_stream = SL__NO_STREAM,
                                .record = -1 };
        status = SL__RECORDS_ADD(p->records, syncs, &sync, err);
    }
    for (size_t i = 0; i < p->n_syncs && status == SL_OK; i++)
        status = add_sync(p, &p->syncs[i], err);
    return status;
}

SL__ORDER(by_value, uint32_t, *x);

/* What a call could not allocate. */
static void leave_failed_memory(process *p)
{
    size_t n = 0, at;
    if (p->n_failures > 1) qsort(p->failures, p->n_failures, sizeof *p->failures, by_value);
    for (size_t i = 0; i < p->n_memory; i++) {
        SL__SEARCH(at, p->n_failures, p->failures[at] < p->memory[i].correlation);
        if (at == p->n_failures || p->failures[at] != p->memory[i].correlation)
            p->memory[n++] = p->memory[i];
    }
    p->n_memory = n;
}

static void doubt_end(process *p, const char *damage)
{
    if (p->failed) return;
    if (damage)
        ends_early(p, damage);
    else if (p->end.kind == 0)
        ends_early(p, "the program did not end by itself, or it goes on; the last second before "
                      "that may be missing");
    p->records->doubted[SL_DOUBT_DROPPED].n += sl__min(p->end.dropped, UINT32_MAX);
    p->records->doubted[SL_DOUBT_DROPPED_MARKS].n += sl__min(p->end.dropped_ranges, UINT32_MAX)
                                                     + sl__min(p->end.dropped_lines, UINT32_MAX);
    p->records->pytorch |= p->end.is_pytorch != 0;
}

/* ---- a process ---- */

sl_status sl__process_open(sl__spools *all, bool is_interned, process **opened, sl_error *err)
{
    process *p = calloc(1, sizeof *p);
    *opened = p;
    if (!p) return sl__no_memory(err, "a process");
    *p = (process){
        .all = all, .records = &all->records, .index = all->n++, .is_interned = is_interned
    };
    p->streams.process = p->index;
    return SL_OK;
}

sl_status sl__process_end(process *p, size_t first_work, const char *damage, sl_error *err)
{
    sl_status status = sl__spool_streams_settle(&p->streams, p->records, first_work,
                                                p->all->several ? p->pid : 0, err);
    if (status == SL_OK) status = resolve(p, err);
    leave_failed_memory(p);
    if (status == SL_OK)
        status = sl__spool_memory_take(p->records, p->memory, p->n_memory,
                                       p->index << SL__PROCESS_BITS, err);
    if (status == SL_OK) doubt_end(p, damage);
    return status;
}

void sl__process_close(process *p)
{
    if (!p) return;
    free(p->names);
    sl__spool_streams_free(&p->streams);
    free(p->events);
    free(p->syncs);
    sl__spool_lines_free(&p->lines);
    free(p->memory);
    free(p->failures);
    free(p);
}

/* ---- the file ---- */

static sl_status read_all(process *p, sl__spool_file *file, sl_error *err)
{
    const size_t first_host = p->records->n_hosts, first_work = p->records->n_works;
    spool_record record;
    sl_status status;
    while ((status = sl__spool_file_next(file, &record, err)) == SL_OK && record.kind)
        if ((status = sl__process_take(p, &record, err)) != SL_OK) break;
    if (status == SL_OK) status = sl__process_end(p, first_work, file->damage, err);
    if (status != SL_OK) return status;
    sl__inner_calls_leave(p->records, first_host);
    sl__spool_lines_apply(&p->lines, p->records, first_host);
    return SL_OK;
}

sl_status sl__spool_read(sl__spools *all, const char *path, sl_error *err)
{
    process *p;
    sl__spool_file file;
    sl_status status = sl__process_open(all, false, &p, err);
    if (status != SL_OK) return status;
    status = sl__spool_file_open(&file, path, err);
    if (status == SL_OK) status = read_all(p, &file, err);
    sl__spool_file_close(&file);
    sl__process_close(p);
    return status;
}
