/* call_names.c - what the names say that CUDA and CUPTI give to calls and copies. */
#include "call_names.h"

#include <string.h>

/* ---- calls ---- */

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
    if (!begins(&name, "cuda") && !begins(&name, "hip") && !begins(&name, "cu")) return;
    size_t n = strcspn(name, "_");
    n = n < 31 ? n : 31;
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
    { SL_CALL_STREAM_SYNC, SL__DOES_OTHER, { "StreamSynchronize" } },
    { SL_CALL_EVENT_SYNC, SL__DOES_OTHER, { "EventSynchronize" } },
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
        "ModuleLaunchKernel", "ExtModuleLaunchKernel", "ExtLaunchKernel" } },
    { SL_CALL_PLAIN,
      SL__DOES_COPY,
      { "Memcpy", "Memcpy2D", "Memcpy3D", "MemcpyToSymbol", "MemcpyFromSymbol", "MemcpyHtoD",
        "MemcpyDtoH" } },
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
    char bare[32];
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

/* CUPTI's words, and those of AMD's counterpart. A copy within the host is its work, in the
 * stream's order, as a host function is. Copies to or from arrays count as copies within the
 * device. */
sl_span_kind sl__named_copy_kind(const char *name)
{
    static const char *const up[] = { "HtoD", "HostToDevice", "HtoA", NULL };
    static const char *const down[] = { "DtoH", "DeviceToHost", "AtoH", NULL };
    static const char *const across[] = { "PtoP", "PeerToPeer", NULL };
    static const char *const host[] = { "HtoH", "HostToHost", NULL };
    if (contains(name, host)) return SL_SPAN_HOST_FUNC;
    if (contains(name, up)) return SL_SPAN_MEMCPY_H2D;
    if (contains(name, down)) return SL_SPAN_MEMCPY_D2H;
    return contains(name, across) ? SL_SPAN_MEMCPY_P2P : SL_SPAN_MEMCPY_D2D;
}

uint8_t sl__named_memory(const char *text)
{
    static const char *const places[] = { "Pageable", "Pinned", "Device" };
    static const uint8_t src[] = { SL_SPAN_SRC_PAGEABLE, SL_SPAN_SRC_PINNED, 0 };
    static const uint8_t dst[] = { SL_SPAN_DST_PAGEABLE, SL_SPAN_DST_PINNED, 0 };
    const char *arrow = strstr(text, " -> ");
    uint8_t flags = 0;
    for (size_t i = 0; arrow && i < 3; i++) {
        size_t n = strlen(places[i]);
        if ((size_t)(arrow - text) >= n && strncmp(arrow - n, places[i], n) == 0) flags |= src[i];
        if (strncmp(arrow + 4, places[i], n) == 0) flags |= dst[i];
    }
    return flags;
}
