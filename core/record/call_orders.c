/* call_orders.c - which record of an event each wait is for, and in which stream: from the
 * parameters of the calls that record events and wait. CUPTI has activity records of both, but each
 * of these kinds makes every function of the run time take 0.1 to 0.4 us longer on an H200
 * (CUDA 13.0).
 *
 * A record of an event gets the next number when its call returns. A wait names the number that its
 * event's last record had when the wait's call began. Nothing is noted of calls that fail, nor in
 * streams that are captured, where nothing runs yet. A graph that was captured, or made, with the
 * record of an event in it records that whenever it is launched: from the next launch of a graph on
 * the event's last record is not known.
 */
#define _GNU_SOURCE /* RTLD_NOLOAD */

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../table.h"
#include "recorder.h"
#include "spool_write.h"

enum {
    EVENTS_MOST = 1 << 18, /* 14 MiB with their table */
    STREAMS_KEPT = 16      /* by each thread */
};

_Static_assert(
    (int)ORDER_EVENT_SYNC == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE
        && (int)ORDER_STREAM_WAIT == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT
        && (int)ORDER_STREAM_SYNC == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE
        && (int)ORDER_CONTEXT_SYNC == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
    "waits have CUPTI's numbers");

typedef struct event {
    sl__entry entry; /* key: its handle */
    uint32_t id, context;
    uint64_t record; /* its last one; 0: none */
    bool is_in_graph;
    unsigned n_launches; /* of graphs, before its last record */
} event;

/* What CUPTI says of a stream. */
typedef struct stream {
    bool is_known, is_per_thread;
    uint32_t current; /* context of the thread that asked: it says which NULL stream is meant */
    const void *handle;
    uint32_t context, id;
} stream;

static struct {
    bool notes_events, notes_syncs;
    CUresult(CUDAAPI *is_capturing)(CUstream stream, CUstreamCaptureStatus *status);
    CUresult(CUDAAPI *context_of)(CUstream stream, CUcontext *context);
    CUresult(CUDAAPI *of_green)(CUcontext *context, const void *green);
    atomic_uint n_destroyed; /* streams, and contexts with theirs */
    atomic_uint n_launches;  /* of graphs */
    pthread_mutex_t lock;    /* guards what follows */
    sl__table events;
    uint32_t n_ids;
    uint64_t n_records;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Of the calling thread. */
static _Thread_local struct {
    unsigned n_destroyed; /* when it was empty */
    stream at[STREAMS_KEPT];
} kept;

/* ISO C has no cast from an object pointer to a function pointer. */
static void take(void *driver, const char *name, void *function)
{
    void *symbol = driver ? dlsym(driver, name) : NULL;
    memcpy(function, &symbol, sizeof symbol);
}

void call_orders_begin(bool notes_events, bool notes_syncs)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    all.notes_events = notes_events;
    all.notes_syncs = notes_syncs;
    take(driver, "cuStreamIsCapturing", &all.is_capturing);
    take(driver, "cuStreamGetCtx", &all.context_of);
    take(driver, "cuCtxFromGreenCtx", &all.of_green);
}

/* ---- events ---- */

/* The lock is held. */
static event *find_event(const void *handle)
{
    return (event *)sl__table_find(&all.events, (uintptr_t)handle);
}

/* Likewise. NULL: out of memory, or there are too many. */
static event *add_event(const void *handle)
{
    event *made = all.events.n < EVENTS_MOST ? calloc(1, sizeof *made) : NULL;
    if (!made || !sl__table_add(&all.events, &made->entry, (uintptr_t)handle)) {
        free(made);
        return NULL;
    }
    made->id = ++all.n_ids;
    return made;
}

/* The handle may come again, of another event. */
static void forget_event(const void *handle)
{
    pthread_mutex_lock(&all.lock);
    event *found = find_event(handle);
    if (found) sl__table_remove(&all.events, &found->entry);
    pthread_mutex_unlock(&all.lock);
    free(found);
}

/* The same of all events and streams of a context. */
static void forget_context(uint32_t context)
{
    all.n_destroyed++;
    pthread_mutex_lock(&all.lock);
    for (size_t i = 0; i < all.events.room; i++)
        for (sl__entry *at = all.events.at[i], *next; at; at = next) {
            next = at->next;
            if (((event *)at)->context != context) continue;
            sl__table_remove(&all.events, at);
            free(at);
        }
    pthread_mutex_unlock(&all.lock);
}

/* False: it has no room. */
static bool note_record(noted_call *call, const void *handle)
{
    pthread_mutex_lock(&all.lock);
    event *of = find_event(handle);
    if (!of) of = add_event(handle);
    if (of) {
        of->context = call->context;
        of->record = ++all.n_records;
        of->n_launches = all.n_launches;
        call->event = of->id;
        call->record = of->record;
    }
    pthread_mutex_unlock(&all.lock);
    return of != NULL;
}

static void find_record(noted_call *call, const void *handle)
{
    pthread_mutex_lock(&all.lock);
    const event *of = find_event(handle);
    if (of && of->record && !(of->is_in_graph && of->n_launches != all.n_launches)) {
        call->context = of->context;
        call->event = of->id;
        call->record = of->record;
    }
    pthread_mutex_unlock(&all.lock);
}

/* Its records by graphs have no numbers. */
static void note_in_graph(const void *handle)
{
    pthread_mutex_lock(&all.lock);
    event *of = find_event(handle);
    if (!of) of = add_event(handle);
    if (of) of->is_in_graph = true;
    pthread_mutex_unlock(&all.lock);
}

/* ---- streams ---- */

/* The two handles that stand for a NULL stream, whatever the program was compiled for, become it:
 * CUPTI knows the NULL stream and which of the two is meant. */
static stream named_stream(const noted_call *call, const void *handle, uint32_t current)
{
    const bool is_per_thread = handle == (const void *)CU_STREAM_PER_THREAD
                               || (!handle
                                   && recorded_call_traits(call->domain, call->cbid)
                                          & CALL_PER_THREAD);
    const bool is_null = is_per_thread || handle == (const void *)CU_STREAM_LEGACY;
    return (stream){ .is_per_thread = is_per_thread,
                     .current = current,
                     .handle = is_null ? NULL : handle };
}

static CUstream handle_of(const stream *of) { return (CUstream)(uintptr_t)of->handle; }

/* A stream may be of another context than that of the thread. */
static void ask_cupti(stream *of, CUcontext current)
{
    CUcontext context = NULL;
    of->context = of->current;
    if (of->handle && all.context_of && all.context_of(handle_of(of), &context) == CUDA_SUCCESS)
        cupti.GetContextId(context, &of->context);
    of->is_known = cupti.GetStreamIdEx(of->handle ? NULL : current, handle_of(of),
                                       of->is_per_thread, &of->id)
                   == CUPTI_SUCCESS;
}

/* Handles come again once a stream has been destroyed. */
static void find_stream(noted_call *call, stream named, CUcontext current)
{
    const uintptr_t handle = (uintptr_t)named.handle;
    stream *at = &kept.at[(handle >> 4 ^ handle >> 8 ^ handle >> 12) % STREAMS_KEPT];
    const unsigned n_destroyed = all.n_destroyed;
    if (kept.n_destroyed != n_destroyed) memset(&kept, 0, sizeof kept);
    kept.n_destroyed = n_destroyed;
    if (!at->is_known || at->handle != named.handle || at->is_per_thread != named.is_per_thread
        || at->current != named.current) {
        ask_cupti(&named, current);
        *at = named;
    }
    call->context = at->context;
    call->stream = at->is_known ? at->id : SPOOL_NONE;
}

/* The driver refuses to say it of a NULL stream for which a captured one would wait. */
static bool is_captured(const stream *of)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUstream asked = of->is_per_thread ? CU_STREAM_PER_THREAD : handle_of(of);
    return all.is_capturing && all.is_capturing(asked, &status) == CUDA_SUCCESS
           && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* ---- calls ---- */

/* The parameters of functions that order something are of 8 bytes up to the last of these. */
typedef struct parameters {
    const void *event, *stream, *context;
} parameters;

static const void *parameter(const CUpti_CallbackData *data, uint8_t number)
{
    return number > 0 ? ((const void *const *)data->functionParams)[number - 1] : NULL;
}

static parameters parameters_of(const call_ordering *of, const CUpti_CallbackData *data)
{
    return (parameters){ .event = parameter(data, of->event),
                         .stream = parameter(data, of->stream),
                         .context = parameter(data, of->context) };
}

static bool has_parameters(const call_ordering *of)
{
    return of->event || of->stream || of->context;
}

static void forget_of_handle(CUcontext handle)
{
    uint32_t context;
    if (handle && cupti.GetContextId(handle, &context) == CUPTI_SUCCESS) forget_context(context);
}

static void forget_green(const void *handle)
{
    CUcontext context = NULL;
    all.n_destroyed++;
    if (all.of_green && all.of_green(&context, handle) == CUDA_SUCCESS) forget_of_handle(context);
}

/* What handles stand for is forgotten before they can come again. */
void call_order_forget(CUpti_CallbackId resource, const CUpti_ResourceData *data)
{
    if (resource == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING) all.n_destroyed++;
    if (resource == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) forget_of_handle(data->context);
}

static void begin(call_order order, const parameters *of)
{
    switch (order) {
    case ORDER_FORGET_EVENT: forget_event(of->event); break;
    case ORDER_FORGET_GREEN: forget_green(of->context); break;
    case ORDER_IN_GRAPH: note_in_graph(of->event); break;
    case ORDER_LAUNCH_GRAPH: all.n_launches++; break;
    case ORDER_NONE:
    case ORDER_EVENT_SYNC:
    case ORDER_STREAM_WAIT:
    case ORDER_STREAM_SYNC:
    case ORDER_CONTEXT_SYNC:
    case ORDER_RECORD:
    case ORDER_CAPTURED: break;
    }
}

void call_order_begin(noted_call *call, const CUpti_CallbackData *data)
{
    const call_ordering *ordering = recorded_call_ordering(call->domain, call->cbid);
    const call_order order = ordering->order;
    call->order = ORDER_NONE;
    if (order == ORDER_NONE || (!data->functionParams && has_parameters(ordering))) return;
    const parameters of = parameters_of(ordering, data);
    call->context = 0;
    call->stream = call->event = SPOOL_NONE;
    call->record = 0;
    begin(order, &of);
    if (order == ORDER_EVENT_SYNC || order == ORDER_STREAM_WAIT) find_record(call, of.event);
    if (order <= ORDER_RECORD && (order == ORDER_RECORD ? all.notes_events : all.notes_syncs))
        call->order = order & 15;
}

/* Outside of the graph, that is: cudaEventRecordExternal. */
static bool records_in_graph(const noted_call *call, const CUpti_CallbackData *data)
{
    const uintptr_t external = CU_EVENT_RECORD_EXTERNAL;
    return recorded_call_traits(call->domain, call->cbid) & CALL_HAS_FLAGS
           && (uintptr_t)parameter(data, 3) & external;
}

/* A context may be made by the call itself. */
bool call_order_end(noted_call *call, const CUpti_CallbackData *data, bool captures)
{
    const call_order order = (call_order)call->order;
    if (order == ORDER_NONE) return true;
    call->order = ORDER_NONE;
    if (call->result != CUDA_SUCCESS) return true;
    const parameters of = parameters_of(recorded_call_ordering(call->domain, call->cbid), data);
    if (order == ORDER_CONTEXT_SYNC || call->context == 0) call->context = data->contextUid;
    if (of.context) cupti.GetContextId((CUcontext)(uintptr_t)of.context, &call->context);
    if (order != ORDER_CONTEXT_SYNC && order != ORDER_EVENT_SYNC) {
        const stream named = named_stream(call, of.stream, data->contextUid);
        if (captures && is_captured(&named)) {
            if (order == ORDER_RECORD && records_in_graph(call, data)) note_in_graph(of.event);
            call->order = ORDER_CAPTURED;
            call->event = SPOOL_NONE;
            call->record = 0;
            return true;
        }
        find_stream(call, named, data->context);
    }
    if (order == ORDER_RECORD && !note_record(call, of.event)) return false;
    call->order = order & 15;
    return true;
}

void call_order_write(const noted_call *call)
{
    if (call->order == ORDER_NONE) return;
    if (call->order == ORDER_RECORD)
        spool_add(&(spool_record){ .event = { .kind = SPOOL_EVENT,
                                              .context = call->context,
                                              .stream = call->stream,
                                              .event = call->event,
                                              .correlation = call->correlation,
                                              .record = call->record } });
    else
        spool_add(&(spool_record){
            .sync = { .kind = SPOOL_SYNC,
                      .type = call->order == ORDER_CAPTURED ? SPOOL_CAPTURED : call->order,
                      .context = call->context,
                      .stream = call->stream,
                      .event = call->event,
                      .correlation = call->correlation,
                      .record = call->record,
                      .start_ns = call->start_ns,
                      .end_ns = call->end_ns } });
}
