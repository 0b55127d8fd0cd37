/* activity_records.c - CUPTI's activity records as records of the spool.
 *
 * Each release of CUPTI writes its own structs, which only grow at their ends. So of a record are
 * taken as many bytes as it has, and as the struct here has; what is missing is 0.
 */
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

#include "../cuda/cuda_kernel_names.h"
#include "../table.h"
#include "spool_write.h"

/* ---- names ---- */

/* What has a name: a text that stays where it is, as cuda_kernel_name keeps a kernel's, or a
 * function of CUDA's. */
typedef struct named {
    sl__entry entry;
    uint32_t id;
} named;

static sl__table names;

/* The number of a name; *is_new: it has got one now. SPOOL_NONE: out of memory. */
static uint32_t number_of(uint64_t key, bool *is_new)
{
    sl__entry *found = sl__table_find(&names, key);
    named *name = found ? (named *)found : calloc(1, sizeof *name);
    *is_new = !found && name && sl__table_add(&names, &name->entry, key);
    if (!found && !*is_new) {
        free(name);
        return SPOOL_NONE;
    }
    if (*is_new) name->id = spool_next_name();
    return name->id;
}

static void add_name(uint32_t id, const char *text)
{
    spool_add(&(spool_record){ .name = { SPOOL_NAME, id, text } });
}

uint32_t activity_name(const char *lasting)
{
    bool is_new;
    const uint32_t id = number_of((uint64_t)(uintptr_t)lasting, &is_new);
    if (is_new) add_name(id, lasting);
    return id;
}

static uint32_t name_of_kernel(const char *symbol)
{
    return symbol ? activity_name(cuda_kernel_name(symbol)) : SPOOL_NONE;
}

/* No pointer is as small as its key. */
uint32_t activity_call_name(CUpti_CallbackDomain domain, uint32_t cbid)
{
    char name[CALL_NAME_BYTES];
    bool is_new;
    const uint32_t id = number_of((uint64_t)domain << 12 | (cbid & 0xfff), &is_new);
    if (!is_new) return id;
    recorded_call_name(domain, cbid, name);
    add_name(id, name);
    return id;
}

/* ---- one record ---- */

typedef struct activity {
    const CUpti_Activity *record;
    size_t bytes;
} activity;

#define TAKE(type, name, a) \
    type name = { 0 };      \
    memcpy(&name, (a).record, (a).bytes < sizeof name ? (a).bytes : sizeof name)

/* CUPTI numbers graphs, and in the upper half of a node's number may have its graph's. */
static uint32_t graph_of(uint32_t graph, uint64_t node)
{
    return graph ? graph : (uint32_t)(node >> 32);
}

/* 0: more than the spool's numbers have room for. */
static uint32_t blocks_of(const CUpti_ActivityKernel9 *k)
{
    const uint64_t n = (uint64_t)k->gridX * (uint64_t)k->gridY * (uint64_t)k->gridZ;
    return n <= UINT32_MAX ? (uint32_t)n : 0;
}

static void add_kernel(activity a)
{
    TAKE(CUpti_ActivityKernel9, k, a);
    spool_add(&(spool_record){
        .kernel = {
            .kind = SPOOL_KERNEL,
            .name = name_of_kernel(k.name),
            .registers = k.registersPerThread,
            .threads = (uint16_t)(k.blockX * k.blockY * k.blockZ),
            .blocks = blocks_of(&k),
            .shared_bytes = (uint32_t)k.staticSharedMemory + (uint32_t)k.dynamicSharedMemory,
            .device = k.deviceId,
            .context = k.contextId,
            .stream = k.streamId,
            .correlation = k.correlationId,
            .graph = graph_of(k.graphId, k.graphNodeId),
            .node = (uint32_t)k.graphNodeId,
            .start_ns = k.start,
            .end_ns = k.end,
        } });
}

/* What the three kinds of copies have in common. */
#define COPY_FIELDS(c)                                                                           \
    .size = (c).bytes, .device = (c).deviceId, .context = (c).contextId, .stream = (c).streamId, \
    .from_device = SPOOL_NONE, .to_device = SPOOL_NONE, .correlation = (c).correlationId,        \
    .graph = graph_of((c).graphId, (c).graphNodeId), .node = (uint32_t)(c).graphNodeId,          \
    .start_ns = (c).start, .end_ns = (c).end

static void add_copy(activity a)
{
    TAKE(CUpti_ActivityMemcpy5, c, a);
    spool_add(
        &(spool_record){ .copy = { COPY_FIELDS(c), .kind = SPOOL_COPY, .direction = c.copyKind,
                                   .from = c.srcKind, .to = c.dstKind } });
}

static void add_peer_copy(activity a)
{
    TAKE(CUpti_ActivityMemcpyPtoP4, c, a);
    spool_record record = { .copy = { COPY_FIELDS(c), .kind = SPOOL_COPY, .direction = c.copyKind,
                                      .from = c.srcKind, .to = c.dstKind } };
    record.copy.from_device = c.srcDeviceId;
    record.copy.to_device = c.dstDeviceId;
    spool_add(&record);
}

static void add_set(activity a)
{
    TAKE(CUpti_ActivityMemset4, c, a);
    spool_add(&(spool_record){
        .copy = { COPY_FIELDS(c), .kind = SPOOL_SET, .to = (uint8_t)c.memoryKind } });
}

static void add_stream(activity a)
{
    TAKE(CUpti_ActivityStream, s, a);
    spool_add(&(spool_record){ .stream = { .kind = SPOOL_STREAM,
                                           .context = s.contextId,
                                           .stream = s.streamId,
                                           .flag = (uint32_t)s.flag,
                                           .priority = (int32_t)s.priority } });
}

static void add_context(activity a)
{
    TAKE(CUpti_ActivityContext, c, a);
    spool_add(&(spool_record){ .context = { .kind = SPOOL_CONTEXT,
                                            .context = c.contextId,
                                            .device = c.deviceId,
                                            .null_stream = c.nullStreamId } });
}

static void add_device(activity a)
{
    TAKE(CUpti_ActivityDevice4, d, a);
    spool_add(&(spool_record){ .device = { .kind = SPOOL_DEVICE,
                                           .index = d.id,
                                           .memory_bytes = d.globalMemorySize,
                                           .sms = d.numMultiprocessors,
                                           .major = d.computeCapabilityMajor,
                                           .minor = d.computeCapabilityMinor,
                                           .threads_per_block = d.maxThreadsPerBlock,
                                           .shared_per_sm = d.maxSharedMemoryPerMultiprocessor,
                                           .copy_engines = d.numMemcpyEngines,
                                           .name = d.name } });
}

static void add_overhead(activity a)
{
    TAKE(CUpti_ActivityOverhead2, o, a);
    const bool of_thread = o.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD;
    spool_add(&(spool_record){ .overhead = { .kind = SPOOL_OVERHEAD,
                                             .type = (uint32_t)o.overheadKind,
                                             .thread = of_thread ? o.objectId.pt.threadId : 0,
                                             .correlation = o.correlationId,
                                             .start_ns = o.start,
                                             .end_ns = o.end } });
}

/* Memory4 and later have more, which is not used. */
static void add_memory(activity a)
{
    TAKE(CUpti_ActivityMemory3, m, a);
    const bool is_known = m.memoryPoolConfig.memoryPoolType
                          == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
    spool_add(&(spool_record){ .memory = {
                                   .kind = SPOOL_MEMORY,
                                   .operation = (uint8_t)m.memoryOperationType,
                                   .memory = (uint8_t)m.memoryKind,
                                   .is_ordered = m.isAsync != 0,
                                   .device = m.deviceId,
                                   .stream = m.streamId,
                                   .correlation = m.correlationId,
                                   .size = m.bytes,
                                   .address = m.address,
                                   .time_ns = m.timestamp,
                                   .pool_bytes = is_known ? m.memoryPoolConfig.pool.size : 0,
                               } });
}

/* ---- a buffer ---- */

/* CUPTI has sixty kinds, of which these are enabled. */
static void add(activity a)
{
    switch ((int)a.record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: add_kernel(a); break;
    case CUPTI_ACTIVITY_KIND_MEMCPY: add_copy(a); break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2: add_peer_copy(a); break;
    case CUPTI_ACTIVITY_KIND_MEMSET: add_set(a); break;
    case CUPTI_ACTIVITY_KIND_STREAM: add_stream(a); break;
    case CUPTI_ACTIVITY_KIND_CONTEXT: add_context(a); break;
    case CUPTI_ACTIVITY_KIND_DEVICE: add_device(a); break;
    case CUPTI_ACTIVITY_KIND_OVERHEAD: add_overhead(a); break;
    case CUPTI_ACTIVITY_KIND_MEMORY2: add_memory(a); break;
    }
}

/* A record's length is the distance to the next one. */
void activity_records_add(uint8_t *buffer, size_t valid_bytes)
{
    CUpti_Activity *record = NULL, *next = NULL;
    while (cupti.ActivityGetNextRecord(buffer, valid_bytes, &next) == CUPTI_SUCCESS) {
        if (record) add((activity){ record, (size_t)((uint8_t *)next - (uint8_t *)record) });
        record = next;
    }
    if (record) add((activity){ record, (size_t)(buffer + valid_bytes - (uint8_t *)record) });
}
