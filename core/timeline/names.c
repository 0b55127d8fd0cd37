/* names.c - kinds, engines, causes, calls, kernels and streams by their names, as scripts and
 * files have them. */
#include "timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store.h"

/* In files; in a sentence: of one, of several. */
static const struct {
    const char *name, *nouns[2];
} kinds[SL_SPAN_KINDS] = {
    [SL_SPAN_KERNEL] = { "kernel", { "kernel", "kernels" } },
    [SL_SPAN_COLLECTIVE] = { "collective", { "collective", "collectives" } },
    [SL_SPAN_MEMCPY_H2D] = { "memcpy_h2d", { "H2D copy", "H2D copies" } },
    [SL_SPAN_MEMCPY_D2H] = { "memcpy_d2h", { "D2H copy", "D2H copies" } },
    [SL_SPAN_MEMCPY_D2D] = { "memcpy_d2d", { "D2D copy", "D2D copies" } },
    [SL_SPAN_MEMCPY_P2P] = { "memcpy_p2p", { "P2P copy", "P2P copies" } },
    [SL_SPAN_MEMSET] = { "memset", { "memset", "memsets" } },
    [SL_SPAN_HOST_FUNC] = { "host_func", { "host function", "host functions" } },
};

static const struct {
    const char *name;
    unsigned traits;
} causes[SL_CAUSES] = {
#define X(id, name, traits, leaves_out) { name, traits },
    SL_CAUSE_MAP(X)
#undef X
};

static const char *const engine_names[SL_ENGINES] = {
    [SL_ENGINE_COMPUTE] = "compute", [SL_ENGINE_COMM] = "comm", [SL_ENGINE_H2D] = "h2d",
    [SL_ENGINE_D2H] = "d2h",         [SL_ENGINE_P2P] = "p2p",   [SL_ENGINE_COPY] = "copy",
    [SL_ENGINE_HOST] = "host",
};

static const char *const call_kind_names[SL_CALL_KINDS] = {
    [SL_CALL_EVENT_RECORD] = "event_record", [SL_CALL_STREAM_WAIT] = "stream_wait",
    [SL_CALL_STREAM_SYNC] = "stream_sync",   [SL_CALL_EVENT_SYNC] = "event_sync",
    [SL_CALL_DEVICE_SYNC] = "device_sync",   [SL_CALL_PLAIN] = "plain",
    [SL_CALL_HOST_WORK] = "host_work",
};

/* A plain call has its name with it, and so has what the host computed. */
static const char *const call_names[SL_CALL_KINDS] = {
    [SL_CALL_EVENT_RECORD] = "cudaEventRecord",      [SL_CALL_STREAM_WAIT] = "cudaStreamWaitEvent",
    [SL_CALL_STREAM_SYNC] = "cudaStreamSynchronize", [SL_CALL_EVENT_SYNC] = "cudaEventSynchronize",
    [SL_CALL_DEVICE_SYNC] = "cudaDeviceSynchronize", [SL_CALL_HOST_WORK] = "host_work",
};

static const char *const memory_names[SL_MEMORY_KINDS] = {
    [SL_MEMORY_DEVICE] = "device",
    [SL_MEMORY_POOL] = "pool",
    [SL_MEMORY_PINNED] = "pinned",
    [SL_MEMORY_MANAGED] = "managed",
};

const char *sl_span_kind_name(sl_span_kind kind)
{
    return (unsigned)kind < SL_SPAN_KINDS ? kinds[kind].name : "unknown";
}

const char *sl_span_kind_noun(sl_span_kind kind, size_t n) { return kinds[kind].nouns[n != 1]; }

const char *sl_engine_name(sl_engine engine)
{
    return (unsigned)engine < SL_ENGINES ? engine_names[engine] : "unknown";
}

bool sl_span_kind_parse(const char *name, sl_span_kind *kind)
{
    const int i = SL__FIND_NAME(kinds, kinds->name, name);
    if (i >= 0) *kind = (sl_span_kind)i;
    return i >= 0;
}

bool sl_engine_parse(const char *name, sl_engine *engine)
{
    const int i = SL__FIND_NAME(engine_names, *engine_names, name);
    if (i >= 0) *engine = (sl_engine)i;
    return i >= 0;
}

const char *sl_cause_name(sl_cause cause)
{
    return (unsigned)cause < SL_CAUSES ? causes[cause].name : "unknown";
}

unsigned sl_cause_traits(sl_cause cause)
{
    return (unsigned)cause < SL_CAUSES ? causes[cause].traits : 0;
}

bool sl_cause_parse(const char *name, sl_cause *cause)
{
    const int i = SL__FIND_NAME(causes, causes->name, name);
    if (i >= 0) *cause = (sl_cause)i;
    return i >= 0;
}

const char *sl_memory_kind_name(sl_memory_kind kind)
{
    return (unsigned)kind < SL_MEMORY_KINDS ? memory_names[kind] : "unknown";
}

bool sl_memory_kind_parse(const char *name, sl_memory_kind *kind)
{
    const int i = SL__FIND_NAME(memory_names, *memory_names, name);
    if (i >= 0) *kind = (sl_memory_kind)i;
    return i >= 0;
}

const char *sl_call_kind_name(sl_call_kind kind)
{
    return (unsigned)kind < SL_CALL_KINDS ? call_kind_names[kind] : "unknown";
}

const char *sl_call_name(const sl_timeline *timeline, const sl_call *call)
{
    const char *name = call->kind < SL_CALL_KINDS ? call_names[call->kind] : NULL;
    return name && !call->name ? name : sl_timeline_text(timeline, call->name);
}

const char *sl_span_call_name(const sl_span *span)
{
    switch ((sl_span_kind)span->kind) {
    case SL_SPAN_KERNEL:
    case SL_SPAN_COLLECTIVE: return "cudaLaunchKernel";
    case SL_SPAN_MEMSET: return "cudaMemsetAsync";
    case SL_SPAN_HOST_FUNC: return "cudaLaunchHostFunc";
    case SL_SPAN_MEMCPY_H2D:
    case SL_SPAN_MEMCPY_D2H:
    case SL_SPAN_MEMCPY_D2D:
    case SL_SPAN_MEMCPY_P2P:
    case SL_SPAN_KINDS: break;
    }
    return "cudaMemcpyAsync";
}

const char *sl_timeline_kernel_label(const sl_timeline *timeline, uint32_t name, char *buffer)
{
    const char *short_name = sl__timeline_kernel_name(timeline, name);
    if (short_name) return short_name;
    sl_label_kernel(sl_timeline_text(timeline, name), buffer);
    return buffer;
}

const char *sl_timeline_stream_name(const sl_timeline *timeline, uint32_t id,
                                    char buffer[SL_STREAM_NAME_BYTES])
{
    const sl_stream_note *note = sl__timeline_note(timeline, id);
    if (note && note->name != 0) return sl_timeline_text(timeline, note->name);
    snprintf(buffer, SL_STREAM_NAME_BYTES, "stream %" PRIu32, id);
    return buffer;
}

const char *sl_timeline_device_prefix(const sl_timeline *timeline, int place,
                                      char buffer[SL_PREFIX_BYTES])
{
    buffer[0] = '\0';
    if (sl_timeline_has_several(timeline))
        sl__device_prefix(buffer, sl_timeline_origin(timeline).is_joined,
                          sl_timeline_device_at(timeline, place)->index);
    return buffer;
}

const char *sl_timeline_engine_name(const sl_timeline *timeline, uint32_t unit,
                                    char buffer[SL_STREAM_NAME_BYTES])
{
    const char *name = sl_engine_name((sl_engine)(unit % SL_ENGINES));
    char prefix[SL_PREFIX_BYTES];
    if (!sl_timeline_has_several(timeline)) return name;
    sl_timeline_device_prefix(timeline, (int)(unit / SL_ENGINES), prefix);
    snprintf(buffer, SL_STREAM_NAME_BYTES, "%s%s", prefix, name);
    return buffer;
}

/* The device that all spans are of, or the first one. */
static const sl_device_info *working_device(const sl_timeline *timeline)
{
    bool any = sl_timeline_span_count(timeline) > 0;
    int place = any ? sl_timeline_place(timeline, sl_timeline_span(timeline, 0).stream) : 0;
    return sl_timeline_device_at(timeline, sl_timeline_has_several(timeline) ? 0 : place);
}

/* Their names: "NVIDIA H200, 2 GPUs", or only how many where they differ. */
static const char *name_several(const sl_timeline *timeline, char buffer[SL_DEVICE_NAME_BYTES])
{
    int n = sl_timeline_device_count(timeline);
    const char *name = sl_timeline_device(timeline)->name;
    bool same = true;
    for (int place = 1; place < n; place++)
        same = same && strcmp(sl_timeline_device_at(timeline, place)->name, name) == 0;
    same = same && name[0] != '\0';
    snprintf(buffer, SL_DEVICE_NAME_BYTES, "%s%s%d %s", same ? name : "", same ? ", " : "", n,
             sl_timeline_origin(timeline).is_joined ? "ranks" : "GPUs");
    return buffer;
}

const char *sl_timeline_device_name(const sl_timeline *timeline, char buffer[SL_DEVICE_NAME_BYTES])
{
    const sl_device_info *device = working_device(timeline);
    uint64_t devices = sl_timeline_origin(timeline).devices;
    char number[32];
    if (sl_timeline_has_several(timeline)) return name_several(timeline, buffer);
    snprintf(number, sizeof number, "GPU %d", device->index);
    if ((devices & (devices - 1)) == 0 || strcmp(device->name, number) == 0) /* one, or none */
        return device->name;
    snprintf(buffer, SL_DEVICE_NAME_BYTES, "%s, %s", device->name, number);
    return buffer;
}
