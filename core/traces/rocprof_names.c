/* rocprof_names.c - what the numbers in the records of AMD's rocprofv3 mean: GPUs, calls, kernels,
 * ranges of ROCTx.
 */
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "../timeline/sort.h"
#include "../timeline/store.h"
#include "call_names.h"
#include "kineto.h"
#include "rocprof.h"
#include "torch_nvtx.h"

/* While members are visited. */
typedef struct visit {
    sl__reader *r;
    sl__roc *p;
    sl__roc_agent agent;
    sl__roc_name name;
    int64_t number;
    bool is_gpu, is_named;
} visit;

static sl_status intern(visit *v, const sl__json_value *value, uint32_t *id, sl_error *err)
{
    sl_text *text = &v->r->text;
    *id = 0;
    if (value->type != SL__JSON_TEXT) return SL_OK;
    text->len = 0;
    sl_status status = sl__json_decode(value, text, err);
    return status == SL_OK ? sl_timeline_intern(v->r->records.timeline, text->data, id, err)
                           : status;
}

static uint64_t whole(const sl__json_value *value)
{
    int64_t number = 0;
    sl__json_whole(value, &number);
    return (uint64_t)number;
}

uint64_t sl__roc_handle(const sl__json_value *value)
{
    uint64_t handle = 0;
    for (size_t i = 0; i < value->n; i++) {
        const char c = value->text[i];
        if (c < '0' || c > '9' || i == 20) return 0;
        handle = handle * 10 + (uint64_t)(c - '0');
    }
    return handle;
}

/* ---- agents ---- */

static sl_status take_handle(void *ud, const sl__json_value *key, const sl__json_value *value,
                             sl_error *err)
{
    (void)err;
    if (sl__json_is(key, "handle")) ((visit *)ud)->agent.handle = sl__roc_handle(value);
    return SL_OK;
}

/* Plain characters alone: it is printed. */
static void copy_name(const sl__json_value *value, sl_device_info *info)
{
    const size_t n = value->type == SL__JSON_TEXT ? value->n - 2 : 0;
    if (n == 0 || n >= sizeof info->name) return;
    for (size_t i = 0; i < n; i++) {
        const char c = value->text[1 + i];
        info->name[i] = c >= ' ' && c <= '~' && c != '\\' ? c : ' ';
    }
    info->name[n] = '\0';
}

static sl_status take_of_agent(void *ud, const sl__json_value *key, const sl__json_value *value,
                               sl_error *err)
{
    enum { GPU = 2 };
    visit *v = ud;
    sl_device_info *info = &v->agent.info;
    if (sl__json_is(key, "id")) return sl__json_each(&v->r->scan, value, take_handle, v, err);
    if (sl__json_is(key, "type")) v->is_gpu = whole(value) == GPU;
    if (sl__json_is(key, "cu_count")) info->sm_count = (int)sl__min(whole(value), INT32_MAX);
    if (sl__json_is(key, "product_name")) {
        copy_name(value, info);
        v->is_named = info->name[0] != '\0';
    }
    if (sl__json_is(key, "name") && !v->is_named) copy_name(value, info); /* "gfx90a" */
    return SL_OK;
}

static sl_status add_agent(void *ud, const sl__json_value *key, const sl__json_value *value,
                           sl_error *err)
{
    visit *v = ud;
    int n_gpus = 0;
    (void)key;
    v->agent = (sl__roc_agent){ 0 };
    v->is_gpu = v->is_named = false;
    for (size_t i = 0; i < v->p->n_agents; i++)
        n_gpus += v->p->agents[i].info.index >= 0;
    sl_status status = sl__json_each(&v->r->scan, value, take_of_agent, v, err);
    v->agent.info.index = v->is_gpu ? n_gpus : -1;
    if (status != SL_OK || v->p->n_agents == 1024) return status;
    return SL__ROC_ADD(v->p, agents, &v->agent, err);
}

/* ---- strings ---- */

static sl_status add_operation(void *ud, const sl__json_value *key, const sl__json_value *value,
                               sl_error *err)
{
    visit *v = ud;
    uint32_t id;
    (void)key;
    sl_status status = intern(v, value, &id, err);
    if (status != SL_OK) return status;
    v->p->kinds[v->p->n_kinds - 1].n++;
    return SL__ROC_ADD(v->p, operations, &id, err);
}

static sl_status take_of_kind(void *ud, const sl__json_value *key, const sl__json_value *value,
                              sl_error *err)
{
    visit *v = ud;
    if (sl__json_is(key, "kind"))
        return intern(v, value, &v->p->kinds[v->p->n_kinds - 1].name, err);
    return sl__json_is(key, "operations") ? sl__json_each(&v->r->scan, value, add_operation, v, err)
                                          : SL_OK;
}

static sl_status add_kind(void *ud, const sl__json_value *key, const sl__json_value *value,
                          sl_error *err)
{
    visit *v = ud;
    const sl__roc_kind kind = { .first = v->p->n_operations };
    (void)key;
    sl_status status = SL__ROC_ADD(v->p, kinds, &kind, err);
    return status == SL_OK ? sl__json_each(&v->r->scan, value, take_of_kind, v, err) : status;
}

static sl_status take_of_range(void *ud, const sl__json_value *key, const sl__json_value *value,
                               sl_error *err)
{
    visit *v = ud;
    if (sl__json_is(key, "key")) v->name.number = whole(value);
    return sl__json_is(key, "value") ? intern(v, value, &v->name.text, err) : SL_OK;
}

static sl_status add_range(void *ud, const sl__json_value *key, const sl__json_value *value,
                           sl_error *err)
{
    visit *v = ud;
    (void)key;
    v->name = (sl__roc_name){ 0 };
    sl_status status = sl__json_each(&v->r->scan, value, take_of_range, v, err);
    return status == SL_OK ? SL__ROC_ADD(v->p, ranges, &v->name, err) : status;
}

static sl_status take_strings(void *ud, const sl__json_value *key, const sl__json_value *value,
                              sl_error *err)
{
    visit *v = ud;
    if (sl__json_is(key, "buffer_records"))
        return sl__json_each(&v->r->scan, value, add_kind, v, err);
    return sl__json_is(key, "marker_api") ? sl__json_each(&v->r->scan, value, add_range, v, err)
                                          : SL_OK;
}

/* ---- kernels ---- */

/* A kernel's descriptor is called as the kernel, with ".kd" behind it. */
static sl_status intern_kernel(visit *v, const sl__json_value *value, uint32_t *id, sl_error *err)
{
    sl_text *text = &v->r->text;
    sl_status status = intern(v, value, id, err);
    if (status != SL_OK || *id == 0 || text->len <= 3
        || strcmp(text->data + text->len - 3, ".kd") != 0)
        return status;
    text->data[text->len -= 3] = '\0';
    return sl_timeline_intern(v->r->records.timeline, text->data, id, err);
}

/* The name as the user asked for it, else what there is. */
static sl_status take_of_kernel(void *ud, const sl__json_value *key, const sl__json_value *value,
                                sl_error *err)
{
    visit *v = ud;
    uint32_t id;
    const bool best = sl__json_is(key, "formatted_kernel_name");
    if (sl__json_is(key, "kernel_id")) v->name.number = whole(value);
    if (!best && !sl__json_is(key, "kernel_name") && !sl__json_is(key, "demangled_kernel_name"))
        return SL_OK;
    sl_status status = intern_kernel(v, value, &id, err);
    if (id != 0 && (best || !v->is_named)) v->name.text = id;
    v->is_named |= best && id != 0;
    return status;
}

static sl_status add_kernel(void *ud, const sl__json_value *key, const sl__json_value *value,
                            sl_error *err)
{
    visit *v = ud;
    (void)key;
    v->name = (sl__roc_name){ .number = v->p->n_kernels };
    v->is_named = false;
    sl_status status = sl__json_each(&v->r->scan, value, take_of_kernel, v, err);
    return status == SL_OK ? SL__ROC_ADD(v->p, kernels, &v->name, err) : status;
}

static sl_status take_metadata(void *ud, const sl__json_value *key, const sl__json_value *value,
                               sl_error *err)
{
    (void)err;
    if (sl__json_is(key, "pid")) sl__json_whole(value, &((visit *)ud)->p->pid);
    return SL_OK;
}

sl_status sl__roc_take(sl__reader *r, sl__roc *p, const sl__json_value *key,
                       const sl__json_value *value, sl_error *err)
{
    static const struct {
        const char *key;
        sl__json_visit visit;
    } members[] = { { "metadata", take_metadata },
                    { "agents", add_agent },
                    { "strings", take_strings },
                    { "kernel_symbols", add_kernel } };
    visit v = { .r = r, .p = p };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (sl__json_is(key, members[i].key))
            return sl__json_each(&r->scan, value, members[i].visit, &v, err);
    return SL_OK;
}

/* ---- a process whole ---- */

sl_status sl__roc_name_row(sl__reader *r, int64_t agent, int64_t row, const char *name,
                           sl_error *err)
{
    enum { MOST_ROWS = 256 };
    sl__records *records = &r->records;
    sl__thread thread = { .pid = agent, .tid = row };
    for (size_t i = 0; i < records->n_threads; i++)
        if (records->threads[i].pid == agent && records->threads[i].tid == row) return SL_OK;
    if (records->n_threads == MOST_ROWS) return SL_OK;
    sl_status status = sl_timeline_intern(records->timeline, name, &thread.name, err);
    return status == SL_OK ? SL__RECORDS_ADD(records, threads, &thread, err) : status;
}

SL__ORDER(by_number, sl__roc_name, x->number);

static uint32_t find_name(const sl__roc_name *all, size_t n, uint64_t number)
{
    size_t at;
    SL__SEARCH(at, n, all[at].number < number);
    return at < n && all[at].number == number ? all[at].text : 0;
}

static const sl__roc_agent *find_agent(const sl__roc *p, uint64_t handle)
{
    for (size_t i = 0; i < p->n_agents; i++)
        if (p->agents[i].handle == handle) return &p->agents[i];
    return NULL;
}

/* Of an agent that is not listed, or the host: 0. */
static int64_t gpu_of(const sl__roc *p, uint64_t handle)
{
    const sl__roc_agent *agent = find_agent(p, handle);
    return agent && agent->info.index >= 0 ? agent->info.index : 0;
}

/* The text of an operation of some kind; 0: it is not in the file. */
static uint32_t operation_of(const sl__roc *p, uint64_t kind, uint64_t operation)
{
    const bool is_there = kind < p->n_kinds && operation < p->kinds[kind].n;
    return is_there ? p->operations[p->kinds[kind].first + operation] : 0;
}

static sl_status name_or(sl__reader *r, uint32_t name, const char *otherwise, uint32_t *id,
                         sl_error *err)
{
    *id = name;
    return name != 0 ? SL_OK : sl_timeline_intern(r->records.timeline, otherwise, id, err);
}

static sl_status finish_kernel(sl__reader *r, const sl__roc *p, const sl__roc_open *open,
                               sl_error *err)
{
    sl__work *work = &r->records.works[open->index];
    const uint32_t name = find_name(p->kernels, p->n_kernels, open->number);
    sl_status status = name_or(r, name, "kernel", &work->span.name, err);
    work->device = gpu_of(p, open->agent);
    if (status == SL_OK
        && sl__names_collective(sl_timeline_text(r->records.timeline, work->span.name))) {
        work->span.kind = SL_SPAN_COLLECTIVE;
        work->span.engine = (uint8_t)sl__usual_engine(SL_SPAN_COLLECTIVE);
    }
    return status;
}

static bool is_gpu(const sl__roc_agent *agent) { return agent && agent->info.index >= 0; }

/* By where it goes from and to, if that is known; the name says the same. */
static sl_span_kind copy_kind(const sl__roc *p, const sl__roc_open *open, const char *name)
{
    const sl__roc_agent *from = find_agent(p, open->source), *to = find_agent(p, open->agent);
    if (!from || !to) return sl__named_copy_kind(name);
    if (is_gpu(from) && is_gpu(to)) return from == to ? SL_SPAN_MEMCPY_D2D : SL_SPAN_MEMCPY_P2P;
    return is_gpu(to) ? SL_SPAN_MEMCPY_H2D : is_gpu(from) ? SL_SPAN_MEMCPY_D2H : SL_SPAN_HOST_FUNC;
}

static sl_status finish_copy(sl__reader *r, const sl__roc *p, const sl__roc_open *open,
                             sl_error *err)
{
    sl__work *work = &r->records.works[open->index];
    const uint32_t name = operation_of(p, open->kind, open->operation);
    sl_status status = name_or(r, name, "copy", &work->span.name, err);
    const sl_span_kind kind = copy_kind(p, open, sl_timeline_text(r->records.timeline, name));
    work->span.kind = (uint8_t)kind;
    work->span.engine = (uint8_t)sl__usual_engine(kind);
    const uint64_t agent = kind == SL_SPAN_MEMCPY_D2H ? open->source : open->agent;
    work->device = gpu_of(p, agent);
    if (status != SL_OK || (work->stream & UINT32_MAX) != SL__ROC_COPIES) return status;
    work->stream += kind;
    return sl__roc_name_row(r, (int64_t)agent, work->stream, sl_span_kind_name(kind), err);
}

static sl_status finish_call(sl__reader *r, const sl__roc *p, const sl__roc_open *open,
                             sl_error *err)
{
    sl__host *host = &r->records.hosts[open->index];
    const uint32_t name = operation_of(p, open->kind, open->operation);
    sl_status status = name_or(r, name, "a call of HIP", &host->call.name, err);
    host->pid = p->pid;
    if (status == SL_OK)
        sl__call_classify(sl_timeline_text(r->records.timeline, host->call.name), host);
    return status;
}

static const char *kind_name(const sl__reader *r, const sl__roc *p, uint64_t kind)
{
    return kind < p->n_kinds ? sl_timeline_text(r->records.timeline, p->kinds[kind].name) : "";
}

/* Newer files have the ranges beside the calls that begin and end them; in older ones the call that
 * begins a range lasts as long as the range. */
static const char *kind_of_ranges(const sl__reader *r, const sl__roc *p)
{
    static const char newer[] = "MARKER_CORE_RANGE_API";
    for (size_t i = 0; i < p->n_kinds; i++)
        if (strcmp(kind_name(r, p, i), newer) == 0) return newer;
    return "MARKER_CORE_API";
}

static sl_status finish_range(sl__reader *r, const sl__roc *p, const sl__roc_open *open,
                              const char *kind, sl_error *err)
{
    sl_host_range range = { .kind = SL_HOST_RANGE_NVTX,
                            .name = find_name(p->ranges, p->n_ranges, open->number),
                            .start_ns = open->start_ns,
                            .end_ns = open->end_ns };
    if (range.name == 0 || strcmp(kind_name(r, p, open->kind), kind) != 0) return SL_OK;
    sl_status status = sl__torch_nvtx_take(r->records.timeline, &range, err);
    return status == SL_OK ? sl__records_add_range(&r->records, p->pid, open->tid, range, err)
                           : status;
}

/* The compiler's part of a launch is no call of the program's. */
static void leave_inner_calls(sl__records *records, size_t first)
{
    size_t n = first;
    for (size_t i = first; i < records->n_hosts; i++) {
        const char *name = sl_timeline_text(records->timeline, records->hosts[i].call.name);
        if (strncmp(name, "__hip", 5) != 0) records->hosts[n++] = records->hosts[i];
    }
    records->n_hosts = n;
}

/* Stream 0 is the NULL stream, and queues have the rows of their GPU. */
static sl_status finish_gpus(sl__reader *r, const sl__roc *p, sl_error *err)
{
    sl__records *records = &r->records;
    sl_status status = SL_OK;
    for (size_t i = 0; i < p->n_agents && status == SL_OK && p->index == 0; i++) {
        const sl_device_info *info = &p->agents[i].info;
        const sl__stream_fact fact = { .device = info->index, .is_null = true };
        if (info->index < 0) continue;
        status = SL__RECORDS_ADD(records, devices, info, err);
        if (status == SL_OK && records->n_threads == 0)
            status = SL__RECORDS_ADD(records, facts, &fact, err);
    }
    for (size_t i = 0; i < records->n_threads; i++)
        if ((uint64_t)records->threads[i].tid >> 32 == p->index)
            records->threads[i].pid = gpu_of(p, (uint64_t)records->threads[i].pid);
    return status;
}

sl_status sl__roc_finish(sl__reader *r, sl__roc *p, sl_error *err)
{
    const char *ranges = kind_of_ranges(r, p);
    sl_status status = SL_OK;
    sl__sort(p->kernels, p->n_kernels, sizeof *p->kernels, by_number);
    sl__sort(p->ranges, p->n_ranges, sizeof *p->ranges, by_number);
    for (size_t i = 0; i < p->n_open && status == SL_OK; i++) {
        const sl__roc_open *open = &p->open[i];
        if (sl__stops_at(i)) status = sl_interrupt_check(err);
        if (status != SL_OK) break;
        switch (open->is) {
        case SL__ROC_KERNEL: status = finish_kernel(r, p, open, err); break;
        case SL__ROC_COPY: status = finish_copy(r, p, open, err); break;
        case SL__ROC_CALL: status = finish_call(r, p, open, err); break;
        case SL__ROC_RANGE: status = finish_range(r, p, open, ranges, err); break;
        }
    }
    leave_inner_calls(&r->records, p->first_host);
    return status == SL_OK ? finish_gpus(r, p, err) : status;
}

void sl__roc_free(sl__roc *p)
{
    free(p->agents);
    free(p->kinds);
    free(p->operations);
    free(p->kernels);
    free(p->ranges);
    free(p->queues);
    free(p->open);
}
