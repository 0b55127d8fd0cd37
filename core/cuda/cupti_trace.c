/* cupti_trace.c - the times of operations from CUPTI's activity records.
 *
 * CUPTI belongs to the process, so the state here does too. CUPTI requests buffers, fills them with
 * records and hands them back, on any thread; those two functions only move buffers between two
 * lists under a lock. The Lua thread reads the buffers.
 *
 * CUPTI numbers the calls of CUDA's, and the records of the device's work have that number. A
 * callback at the beginning of a call that can give the device work says its number, and the thread
 * that makes it knows for which operation: so no record is read whose call is not known. That takes
 * each call less time than CUPTI's records of calls, and than its external ids.
 *
 * CUPTI is attached from the first recording until the last one ends. Otherwise nothing is
 * subscribed or enabled; but calls stay slower until CUPTI leaves the process (finalize).
 */
#include "cuda_activity.h"

#include <stdio.h>

#include "cupti_attach.h"

#ifdef STREAMLAB_NO_CUPTI

bool cuda_trace_begin(cuda_activity *activity, char *why, size_t why_bytes)
{
    (void)activity;
    snprintf(why, why_bytes, "this build has no CUPTI");
    return false;
}

void cuda_trace_end(cuda_activity *activity) { (void)activity; }

bool cuda_trace_is_there(void) { return false; }

void cuda_trace_push(const cuda_activity *activity, uint64_t seq) { (void)activity, (void)seq; }

void cuda_trace_pop(void) {}

void cuda_trace_push_group(sl_op *const *ops, size_t n) { (void)ops, (void)n; }

bool cuda_trace_node_id(cudaGraphNode_t node, uint64_t *id)
{
    (void)node, (void)id;
    return false;
}

void cuda_trace_tidy(void) {}

void cuda_trace_leave(void) {}

void cuda_trace_deliver(void) {}

void cuda_trace_deliver_now(void) {}

void cuda_trace_collect(cuda_activity *activity, sl_activity_fn fn, void *ud)
{
    (void)activity, (void)fn, (void)ud;
}

#else

#include <stdlib.h>

#include "matching.h"
#include "trace_buffers.h"

enum {
    BUFFERS_WAITING = 4, /* at most so many full ones stay unread */
    CLOCK_TRIES = 8,
    DELIVERY_NS = 1000000000,
    LEAVING_NS = 100000000,
    SEQ_BITS = 40,      /* of an external id: the number of an operation */
    RECORDING_BITS = 23 /* above them */
};
#define GROUP_BIT (UINT64_C(1) << 63) /* the id of a group: the rest is its number */

typedef struct clock_sample {
    int64_t cupti_ns, host_ns;
} clock_sample;

/* Operations that NCCL takes together: its kernels are launched at the end of their group, for all
 * devices. */
typedef struct group {
    struct group *next;
    uint64_t id;
    size_t n;
    struct {
        uint64_t id; /* as of a single operation */
        uint32_t device;
    } ops[];
} group;

static struct {
    cuda_activity *traced; /* by `next`; CUPTI is attached while there are any */
    uint64_t last_id;
    int64_t detached_ns;      /* when it was detached, but has not left the process; 0: it has */
    clock_sample before, now; /* two readings of both clocks */
    cuda_matching matching;
    group *groups; /* the latest first */
    uint64_t last_group;
    int64_t next_delivery_ns;
} trace;

static _Thread_local struct {
    uint64_t id;          /* of the operation whose calls the thread makes; 0: none */
    uint32_t correlation; /* of the latest of them */
} here;

/* ---- records ---------------------------------------------------------------- */

/* Newer releases of CUPTI only add fields at the ends of records. A time of 0: CUPTI could not take
 * it; an end of 0 also if the operation still runs. */
static void note_record(const cuda_record *record)
{
    if (record->start_ns > 0 && record->end_ns >= record->start_ns)
        cuda_matching_add_record(&trace.matching, record);
}

static void note_kernel(const CUpti_ActivityKernel9 *k)
{
    note_record(&(cuda_record){
        .start_ns = k->start,
        .end_ns = k->end,
        .correlation = k->correlationId,
        .device = k->deviceId,
        .graph_node = k->graphNodeId,
        .symbol = k->name ? cuda_kernel_name(k->name) : NULL,
        .blocks = (uint32_t)k->gridX * (uint32_t)k->gridY * (uint32_t)k->gridZ,
        .threads = (uint16_t)(k->blockX * k->blockY * k->blockZ),
        .registers = k->registersPerThread,
        .shared_bytes = (uint32_t)k->staticSharedMemory + (uint32_t)k->dynamicSharedMemory,
    });
}

static void note_span(uint64_t start_ns, uint64_t end_ns, uint32_t correlation, uint32_t device,
                      uint64_t graph_node)
{
    note_record(&(cuda_record){ .start_ns = start_ns,
                                .end_ns = end_ns,
                                .correlation = correlation,
                                .device = device,
                                .graph_node = graph_node });
}

static void note(const CUpti_Activity *record)
{
    const CUpti_ActivityMemcpy5 *copy = (const void *)record;
    const CUpti_ActivityMemcpyPtoP4 *peer_copy = (const void *)record;
    const CUpti_ActivityMemset4 *set = (const void *)record;
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: note_kernel((const void *)record); break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        note_span(copy->start, copy->end, copy->correlationId, copy->deviceId, copy->graphNodeId);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        note_span(peer_copy->start, peer_copy->end, peer_copy->correlationId, peer_copy->deviceId,
                  peer_copy->graphNodeId);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        note_span(set->start, set->end, set->correlationId, set->deviceId, set->graphNodeId);
        break;
    default: break;
    }
}

static bool read_one(void)
{
    cuda_trace_buffer *b = cuda_trace_take_full();
    CUpti_Activity *record = NULL;
    if (!b) return false;
    while (cuda_cupti.ActivityGetNextRecord(b->data, b->valid_bytes, &record) == CUPTI_SUCCESS)
        note(record);
    cuda_trace_give_free(b);
    return true;
}

void cuda_trace_tidy(void)
{
    if (cuda_trace_n_full() > BUFFERS_WAITING) read_one();
}

/* ---- clocks ------------------------------------------------------------------ */

/* CUPTI can use a clock of ours (cuptiActivityRegisterTimestampCallback), but from CUDA 12.6 Update
 * 2 to 13.1 kernels may then have no times, and WSL refuses it. So both clocks are read together,
 * at each collection. Of several tries the one that took the least time is used. */
static clock_sample read_clocks(void)
{
    clock_sample best = { .cupti_ns = 0 };
    int64_t best_ns = INT64_MAX;
    for (int i = 0; i < CLOCK_TRIES; i++) {
        uint64_t cupti_ns = 0;
        int64_t start_ns = cuda_now_ns();
        cuda_cupti.GetTimestamp(&cupti_ns);
        int64_t width_ns = cuda_now_ns() - start_ns;
        if (width_ns < best_ns) {
            best = (clock_sample){ (int64_t)cupti_ns, start_ns + width_ns / 2 };
            best_ns = width_ns;
        }
    }
    return best;
}

/* CUPTI's clock to the host's. They may run at slightly different rates, so the difference
 * is interpolated between the two readings. */
static int64_t to_host(uint64_t time_ns)
{
    int64_t cupti_ns = (int64_t)time_ns;
    int64_t before = trace.before.host_ns - trace.before.cupti_ns;
    int64_t now = trace.now.host_ns - trace.now.cupti_ns;
    int64_t span_ns = trace.now.cupti_ns - trace.before.cupti_ns;
    double part = span_ns > 0 ? (double)(cupti_ns - trace.before.cupti_ns) / (double)span_ns : 1;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return cupti_ns + before + (int64_t)(part * (double)(now - before));
}

/* ---- attaching ---------------------------------------------------------------- */

/* Whether no recorded operation is in flight. */
static bool is_idle(void)
{
    for (const cuda_activity *a = trace.traced; a; a = a->next)
        if (a->device->n_in_flight > 0) return false;
    return true;
}

static void free_groups(void)
{
    while (trace.groups) {
        group *g = trace.groups;
        trace.groups = g->next;
        free(g);
    }
}

static void detach(void)
{
    cuda_cupti_detach();
    trace.detached_ns = cuda_now_ns();
    cuda_matching_clear(&trace.matching);
    free_groups();
    trace.matching.n_lost = 0;
}

/* Measured on an H100: until cuptiFinalize a launch took 3.8 us in place of 2.8; it takes 2 ms, and
 * to attach again 9 ms. So CUPTI leaves when no recording has followed for a while. NVIDIA
 * documents that as safe when the device is synchronised and the buffers are flushed; with graphs
 * only releases from 13 on are known to bear it. */
void cuda_trace_leave(void)
{
    uint32_t version = 0;
    if (trace.traced || !trace.detached_ns || cuda_now_ns() - trace.detached_ns < LEAVING_NS)
        return;
    for (const cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open)
        if (dev->captures || dev->n_in_flight + dev->n_replayed > 0) return;
    trace.detached_ns = 0;
    if (cuda_cupti.GetVersion(&version) == CUPTI_SUCCESS && version >= 130000)
        cuda_cupti.Finalize();
}

/* Without a lock: a thread that enqueues an operation has the turn while a recording is on. A call
 * within another one, as the driver's within the run time's, has the number of the outer one. */
static void CUPTIAPI on_call(void *ud, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                             const void *data)
{
    const CUpti_CallbackData *call = data;
    (void)ud, (void)domain, (void)cbid;
    if (here.id == 0 || call->callbackSite != CUPTI_API_ENTER
        || call->correlationId == here.correlation)
        return;
    here.correlation = call->correlationId;
    cuda_matching_add_call(&trace.matching, here.id, here.correlation);
}

static bool attach(char *why, size_t why_bytes)
{
    if (!cuda_cupti_attach(on_call, why, why_bytes)) return false;
    trace.before = trace.now = read_clocks();
    trace.next_delivery_ns = cuda_now_ns() + DELIVERY_NS;
    return true;
}

bool cuda_trace_begin(cuda_activity *activity, char *why, size_t why_bytes)
{
    if (!trace.traced && !attach(why, why_bytes)) return false;
    trace.detached_ns = 0;
    activity->traced = true;
    activity->id = ++trace.last_id & ((1u << RECORDING_BITS) - 1);
    activity->next = trace.traced;
    trace.traced = activity;
    return true;
}

void cuda_trace_end(cuda_activity *activity)
{
    if (!activity->traced) return;
    for (cuda_activity **link = &trace.traced; *link; link = &(*link)->next)
        if (*link == activity) {
            *link = activity->next;
            break;
        }
    activity->traced = false;
    free(activity->ready);
    activity->ready = NULL;
    activity->n_ready = activity->cap_ready = 0;
    if (!trace.traced) detach();
}

bool cuda_trace_is_there(void) { return trace.traced || trace.detached_ns; }

/* ---- operations ----------------------------------------------------------------- */

static uint64_t id_of(const cuda_activity *activity, uint64_t seq)
{
    return activity->id << SEQ_BITS | (seq & ((UINT64_C(1) << SEQ_BITS) - 1));
}

static void push(uint64_t id)
{
    here.id = id;
    here.correlation = 0;
}

void cuda_trace_push(const cuda_activity *activity, uint64_t seq) { push(id_of(activity, seq)); }

void cuda_trace_pop(void) { here.id = 0; }

/* Without memory for the group its operations have no times, and are counted as lost. */
void cuda_trace_push_group(sl_op *const *ops, size_t n)
{
    group *g = malloc(sizeof *g + n * sizeof g->ops[0]);
    uint64_t id = GROUP_BIT | ++trace.last_group;
    if (g) {
        *g = (group){ .next = trace.groups, .id = id };
        trace.groups = g;
    } else {
        trace.matching.n_lost += n;
    }
    for (size_t i = 0; g && i < n; i++) {
        const cuda_device *dev = cuda_of(ops[i]->stream->device);
        if (dev->recording == 0 || dev->timed_by_events) continue;
        g->ops[g->n].id = id_of(dev->activity, ops[i]->seq);
        g->ops[g->n++].device = (uint32_t)dev->base.info.index;
    }
    push(id);
}

bool cuda_trace_node_id(cudaGraphNode_t node, uint64_t *id)
{
    return cuda_cupti.GetGraphNodeId(node, id) == CUPTI_SUCCESS;
}

void cuda_trace_deliver_now(void)
{
    cuda_cupti.ActivityFlushAll(0);
    trace.next_delivery_ns = cuda_now_ns() + DELIVERY_NS;
}

/* Once a second at most: a delivery takes 0.1 ms, and the next call another 0.1 ms, since CUPTI
 * then begins a new buffer. A recording that is shorter has neither. */
void cuda_trace_deliver(void)
{
    if (trace.traced && cuda_now_ns() >= trace.next_delivery_ns) cuda_trace_deliver_now();
}

/* ---- collecting ------------------------------------------------------------------ */

typedef struct collector {
    cuda_activity *activity;
    sl_activity_fn fn;
    void *ud;
} collector;

/* Keeps a record for a device that has not collected yet. */
static void keep(cuda_activity *activity, const sl_activity *found)
{
    if (SL__GROW(activity->ready, activity->cap_ready, activity->n_ready + 1))
        activity->ready[activity->n_ready++] = *found;
    else
        trace.matching.n_lost++;
}

/* Whose recording the external id names; NULL: it has ended. */
static cuda_activity *find_activity(uint64_t external_id)
{
    cuda_activity *activity = trace.traced;
    while (activity && activity->id != external_id >> SEQ_BITS)
        activity = activity->next;
    return activity;
}

static void hand_over_one(const collector *c, uint64_t external_id, const cuda_record *record)
{
    cuda_activity *activity = find_activity(external_id);
    sl_activity found = {
        .seq = external_id & ((UINT64_C(1) << SEQ_BITS) - 1),
        .start_ns = to_host(record->start_ns),
        .end_ns = to_host(record->end_ns),
        .blocks = record->blocks,
        .threads = record->threads,
        .symbol = record->symbol,
        .registers = record->registers,
        .shared_bytes = record->shared_bytes,
    };
    if (!activity
        || (record->graph_node
            && !cuda_graph_times_find(activity, found.seq, record->graph_node, &found.seq)))
        return;
    cuda_peer_times_ended(activity, found.seq, found.end_ns);
    if (activity == c->activity)
        c->fn(c->ud, &found);
    else
        keep(activity, &found);
}

static void hand_over_group(const collector *c, uint64_t id, const cuda_record *record)
{
    const group *g = trace.groups;
    const cuda_record end = { .start_ns = record->end_ns, .end_ns = record->end_ns };
    bool is_first = true;
    while (g && g->id != id)
        g = g->next;
    for (size_t i = 0; g && i < g->n; i++) {
        if (g->ops[i].device != record->device) continue;
        hand_over_one(c, g->ops[i].id, is_first ? record : &end);
        is_first = false;
    }
}

static void hand_over(void *ud, uint64_t external_id, const cuda_record *record)
{
    if (external_id & GROUP_BIT)
        hand_over_group(ud, external_id, record);
    else
        hand_over_one(ud, external_id, record);
}

static void report_losses(cuda_activity *activity)
{
    size_t dropped = 0;
    if (cuda_cupti.ActivityGetNumDroppedRecords(NULL, 0, &dropped) != CUPTI_SUCCESS) dropped = 0;
    trace.matching.n_lost += dropped;
    if (trace.matching.n_lost == 0 || activity->device->base.notice) return;
    snprintf(activity->notice, sizeof activity->notice,
             "recording: out of memory for %zu of CUPTI's records; operations are without times",
             trace.matching.n_lost);
    activity->device->base.notice = activity->notice;
    trace.matching.n_lost = 0;
}

/* Whether the recording that collects is the only one: core ends it next. */
static bool is_last(const cuda_activity *activity)
{
    return activity->device->recording == 1 && trace.traced == activity && !activity->next;
}

/* Without force CUPTI keeps a buffer in which one record has no end yet, and so up to 3000
 * operations that have completed. A forced flush also gives the records of running operations,
 * without an end and never again. So it is used if nothing runs, and for the last recording. */
void cuda_trace_collect(cuda_activity *activity, sl_activity_fn fn, void *ud)
{
    collector c = { activity, fn, ud };
    bool idle = is_idle();
    if (!activity->traced) return;
    cuda_cupti.ActivityFlushAll(0);
    if (idle || is_last(activity)) cuda_cupti.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    while (read_one())
        continue;
    trace.now = read_clocks();
    for (size_t i = 0; i < activity->n_ready; i++)
        fn(ud, &activity->ready[i]);
    activity->n_ready = 0;
    cuda_matching_run(&trace.matching, idle, hand_over, &c);
    if (idle) free_groups();
    trace.before = trace.now;
    report_losses(activity);
}

#endif
