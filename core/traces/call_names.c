/* call_names.c - what the names say that CUDA and CUPTI give to calls and copies. */
#include "call_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- calls ---- */

static bool begins(const char **text, const char *start)
{
    size_t n = strlen(start);
    bool does = strncmp(*text, start, n) == 0;
    *text += does ? n : 0;
    return does;
}

enum { BARE_BYTES = 48 };

/* "EventRecord" of cudaEventRecord, cuEventRecord_ptsz or hipEventRecord, and of Intel's libraries
 * ur (unified runtime) and ze (Level Zero); "" if it is none of these libraries' names. The buffer
 * is cut. */
static void bare_name(const char *name, char bare[BARE_BYTES])
{
    static const char *const libraries[] = { "cuda", "hip", "cu", "ur", "ze" };
    const char *from = name;
    bare[0] = '\0';
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && name == from; i++)
        begins(&name, libraries[i]);
    if (name == from || *name < 'A' || *name > 'Z') return;
    size_t n = strcspn(name, "_");
    n = n < BARE_BYTES - 1 ? n : BARE_BYTES - 1;
    memcpy(bare, name, n);
    bare[n] = '\0';
}

/* What calls do, by their bare names. */
static const struct {
    sl_call_kind kind;
    sl__host_does does;
    const char *names[22];
} calls[] = {
    { SL_CALL_EVENT_RECORD,
      SL__DOES_OTHER,
      { "EventRecord", "EventRecordWithFlags", "StreamWriteValue32" } },
    { SL_CALL_STREAM_WAIT, SL__DOES_OTHER, { "StreamWaitEvent", "StreamWaitValue32" } },
    { SL_CALL_STREAM_SYNC,
      SL__DOES_OTHER,
      { "StreamSynchronize", "QueueFinish", "CommandQueueSynchronize",
        "CommandListHostSynchronize" } },
    { SL_CALL_EVENT_SYNC,
      SL__DOES_OTHER,
      { "EventSynchronize", "EventWait", "EventHostSynchronize" } },
    { SL_CALL_DEVICE_SYNC, SL__DOES_OTHER, { "DeviceSynchronize", "CtxSynchronize" } },
    { SL_CALL_PLAIN, SL__DOES_ASK_EVENT, { "EventQuery" } },
    { SL_CALL_PLAIN, SL__DOES_ASK_STREAM, { "StreamQuery" } },
    { SL_CALL_PLAIN, SL__DOES_LAUNCH_GRAPH, { "GraphLaunch" } },
    { SL_CALL_PLAIN,
      SL__DOES_BEGIN_CAPTURE,
      { "StreamBeginCapture", "StreamBeginCaptureToGraph" } },
    { SL_CALL_PLAIN, SL__DOES_END_CAPTURE, { "StreamEndCapture" } },
    { SL_CALL_PLAIN,
      SL__DOES_LAUNCH_KERNEL,
      { "LaunchKernel", "LaunchKernelExC", "LaunchKernelEx", "LaunchCooperativeKernel",
        "ModuleLaunchKernel", "ExtModuleLaunchKernel", "ExtLaunchKernel", "EnqueueKernelLaunch",
        "EnqueueKernelLaunchWithArgsExp", "EnqueueKernelLaunchCustomExp",
        "EnqueueCooperativeKernelLaunchExp", "CommandListAppendLaunchKernel",
        "CommandListAppendLaunchCooperativeKernel" } },
    { SL_CALL_PLAIN,
      SL__DOES_COPY,
      { "Memcpy", "Memcpy2D", "Memcpy3D", "MemcpyToSymbol", "MemcpyFromSymbol", "MemcpyHtoD",
        "MemcpyDtoH", "MemcpyWithStream" } },
    { SL_CALL_PLAIN,
      SL__DOES_WAIT_MAYBE,
      { "Free",         "FreeHost",        "FreeArray",         "Malloc",
        "MallocHost",   "MallocArray",     "HostAlloc",         "HostMalloc",
        "HostFree",     "HostRegister",    "HostUnregister",    "DeviceReset",
        "MemFree",      "MemFreeHost",     "MemAlloc",          "MemAllocHost",
        "MemHostAlloc", "MemHostRegister", "MemHostUnregister", "ModuleLoadData",
        "ModuleUnload" } },
};

static bool is_listed(const char *name, const char *const *names)
{
    for (; *names; names++) {
        if (**names == *name && strcmp(name, *names) == 0) return true;
    }
    return false;
}

void sl__call_classify(const char *name, sl__host *host)
{
    char bare[BARE_BYTES];
    bare_name(name, bare);
    host->call.kind = SL_CALL_PLAIN;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0] && bare[0]; i++) {
        if (!is_listed(bare, calls[i].names)) continue;
        host->call.kind = (uint8_t)calls[i].kind;
        host->does = calls[i].does;
        return;
    }
}

size_t sl__call_name_length(const char *name)
{
    for (const char *at = name; (at = strchr(at, '_')) != NULL; at++)
        if ((at[1] == 'v' && at[2] >= '0' && at[2] <= '9') || strncmp(at, "_pts", 4) == 0
            || strncmp(at, "_ptds", 5) == 0)
            return (size_t)(at - name);
    return strlen(name);
}

/* ---- copies ---- */

static bool contains(const char *text, const char *const *parts)
{
    for (; *parts; parts++) {
        if (strstr(text, *parts)) return true;
    }
    return false;
}

/* CUPTI's words, those of AMD's counterpart, of XLA and of Intel's, for which M is memory of the
 * host that SYCL did not allocate, and H such that it did. A copy within the host is its work, in
 * the stream's order, as a host function is. Copies to or from arrays, or memory that is shared,
 * count as copies within the device. */
sl_span_kind sl__named_copy_kind(const char *name)
{
    static const char *const up[] = { "HtoD", "HostToDevice",   "HtoA", "H2D",
                                      "M2D",  "HOST_TO_DEVICE", NULL };
    static const char *const down[] = { "DtoH", "DeviceToHost",   "AtoH", "D2H",
                                        "D2M",  "DEVICE_TO_HOST", NULL };
    static const char *const across[] = { "PtoP", "PeerToPeer", "P2P", NULL };
    static const char *const host[] = { "HtoH", "HostToHost", "H2H",          "M2M",
                                        "M2H",  "H2M",        "HOST_TO_HOST", NULL };
    if (contains(name, host)) return SL_SPAN_HOST_FUNC;
    if (contains(name, up)) return SL_SPAN_MEMCPY_H2D;
    if (contains(name, down)) return SL_SPAN_MEMCPY_D2H;
    return contains(name, across) ? SL_SPAN_MEMCPY_P2P : SL_SPAN_MEMCPY_D2D;
}

void sl__peer_copy_name(int64_t from, int64_t to, char name[SL__COPY_NAME_BYTES])
{
    snprintf(name, SL__COPY_NAME_BYTES, "Memcpy PtoP (Device %" PRId64 " -> Device %" PRId64 ")",
             from, to);
}

uint8_t sl__named_memory(const char *text)
{
    static const struct {
        const char *name;
        uint8_t src, dst;
    } places[] = {
        { "Pageable", SL_SPAN_SRC_PAGEABLE, SL_SPAN_DST_PAGEABLE },
        { "Pinned", SL_SPAN_SRC_PINNED, SL_SPAN_DST_PINNED },
        { "MEMORY(Unknown)", SL_SPAN_SRC_PAGEABLE, SL_SPAN_DST_PAGEABLE }, /* Intel's words */
        { "HOST", SL_SPAN_SRC_PINNED, SL_SPAN_DST_PINNED },
    };
    const char *arrow = strstr(text, " -> ");
    uint8_t flags = 0;
    for (size_t i = 0; arrow && i < sizeof places / sizeof *places; i++) {
        const char *name = places[i].name;
        size_t n = strlen(name);
        if ((size_t)(arrow - text) >= n && strncmp(arrow - n, name, n) == 0) flags |= places[i].src;
        if (strncmp(arrow + 4, name, n) == 0) flags |= places[i].dst;
    }
    return flags;
}
