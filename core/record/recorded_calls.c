/* recorded_calls.c - which of CUDA's functions have their calls recorded, and their names.
 *
 * Functions that only tell or set something are left out: PyTorch asks for the device several times
 * an operator. The others are watched one by one by callbacks: where CUPTI's activity records of
 * calls are enabled, every function takes 0.1 to 0.4 us longer on an H200 (CUDA 13.0), also those
 * whose records are switched off; a callback costs the other functions nothing.
 */
#include "recorder.h"

#include <string.h>

enum { FUNCTIONS_MOST = 2048 }; /* of a domain: also those of later releases */

/* What the names begin with, behind "cuda" or "cu". The first row that fits counts. */
static const struct {
    const char *name;
    uint8_t traits;
} recorded[] = {
    { "LaunchKernel", CALL_LAUNCHES },
    { "LaunchCooperativeKernel", CALL_LAUNCHES },
    { "Launch", 0 },
    { "GraphLaunch", 0 },
    { "GraphAddEventRecordNode", 0 },
    { "GraphEventRecordNodeSetEvent", 0 },
    { "GraphExecEventRecordNodeSetEvent", 0 },
    { "GraphUpload", 0 },
    { "GraphInstantiate", 0 },
    { "GraphExecUpdate", 0 },
    { "Memcpy", 0 },
    { "Memset", 0 },
    { "EventRecordWithFlags", CALL_HAS_FLAGS },
    { "EventRecord", 0 },
    { "CtxRecordEvent", 0 },
    { "CtxWaitEvent", 0 },
    { "GreenCtxRecordEvent", 0 },
    { "GreenCtxWaitEvent", 0 },
    { "EventSynchronize", CALL_WAITS },
    { "EventQuery", 0 },
    { "EventDestroy", 0 },
    { "StreamWait", 0 },
    { "StreamWriteValue", 0 },
    { "StreamBatchMemOp", 0 },
    { "StreamSynchronize", CALL_WAITS },
    { "StreamQuery", 0 },
    { "StreamCreate", 0 },
    { "StreamDestroy", 0 },
    { "StreamBeginCapture", CALL_BEGINS_CAPTURE },
    { "StreamEndCapture", CALL_ENDS_CAPTURE },
    { "StreamAddCallback", 0 },
    { "DeviceSynchronize", CALL_WAITS },
    { "CtxSynchronize", CALL_WAITS },
    { "ThreadSynchronize", CALL_WAITS },
    { "DeviceReset", CALL_ENDS_CONTEXT },
    { "DevicePrimaryCtxReset", CALL_ENDS_CONTEXT },
    { "DevicePrimaryCtxRelease", CALL_ENDS_CONTEXT }, /* if nobody else has it */
    { "CtxDestroy", CALL_ENDS_CONTEXT },
    { "CtxDetach", CALL_ENDS_CONTEXT },
    { "ThreadExit", CALL_ENDS_CONTEXT },
    { "GreenCtxDestroy", CALL_ENDS_CONTEXT },
    { "CtxCreate", 0 },
    { "GreenCtxCreate", 0 },
    { "GreenCtxStreamCreate", 0 },
    { "Malloc", 0 },
    { "Free", 0 },
    { "HostAlloc", 0 },
    { "HostRegister", 0 },
    { "HostUnregister", 0 },
    { "MemAlloc", 0 },
    { "MemFree", 0 },
    { "MemHostAlloc", 0 },
    { "MemHostRegister", 0 },
    { "MemHostUnregister", 0 },
    { "MemCreate", 0 },
    { "MemMap", 0 },
    { "MemUnmap", 0 },
    { "MemRelease", 0 },
    { "MemPrefetch", 0 },
    { "MemDiscard", 0 },
    { "MemBatchDecompress", 0 },
    { "MemPoolTrimTo", 0 },
    { "MemPoolDestroy", 0 },
    { "DeviceGraphMemTrim", 0 },
    { "ArrayCreate", 0 },
    { "ArrayDestroy", 0 },
    { "Array3DCreate", 0 },
    { "MipmappedArrayCreate", 0 },
    { "MipmappedArrayDestroy", 0 },
    { "StreamAttachMem", 0 },
    { "SignalExternalSemaphores", 0 },
    { "WaitExternalSemaphores", 0 },
    { "GraphicsMapResources", 0 },
    { "GraphicsUnmapResources", 0 },
    { "DeviceEnablePeerAccess", 0 },
    { "CtxEnablePeerAccess", 0 },
    { "ModuleLoad", 0 },
    { "ModuleUnload", 0 },
    { "FuncLoad", 0 },
    { "LinkAdd", 0 },
    { "LinkComplete", 0 },
    { "LibraryLoad", 0 },
    { "LibraryUnload", 0 },
    { "IpcOpen", 0 },
    { "IpcClose", 0 },
};

/* The first one is that of all others. */
static const call_ordering ordering[] = {
    { "", ORDER_NONE, 0, 0, 0 },
    { "EventRecord", ORDER_RECORD, .event = 1, .stream = 2 },
    { "EventSynchronize", ORDER_EVENT_SYNC, .event = 1 },
    { "EventQuery", ORDER_EVENT_SYNC, .event = 1 }, /* that succeeds, as CUPTI's record has it */
    { "EventDestroy", ORDER_FORGET_EVENT, .event = 1 },
    { "CtxRecordEvent", ORDER_FORGET_EVENT, .event = 2 },
    { "GreenCtxRecordEvent", ORDER_FORGET_EVENT, .event = 2 },
    { "StreamWaitEvent", ORDER_STREAM_WAIT, .event = 2, .stream = 1 },
    { "StreamSynchronize", ORDER_STREAM_SYNC, .stream = 1 },
    { "StreamQuery", ORDER_STREAM_SYNC, .stream = 1 },
    { "GreenCtxDestroy", ORDER_FORGET_GREEN, .context = 1 },
    { "GraphAddEventRecordNode", ORDER_IN_GRAPH, .event = 5 },
    { "GraphEventRecordNodeSetEvent", ORDER_IN_GRAPH, .event = 2 },
    { "GraphExecEventRecordNodeSetEvent", ORDER_IN_GRAPH, .event = 3 },
    { "GraphLaunch", ORDER_LAUNCH_GRAPH, 0, 0, 0 },
    { "CtxSynchronize_v2", ORDER_CONTEXT_SYNC, .context = 1 },
    { "CtxSynchronize", ORDER_CONTEXT_SYNC, 0, 0, 0 },
    { "DeviceSynchronize", ORDER_CONTEXT_SYNC, 0, 0, 0 },
    { "ThreadSynchronize", ORDER_CONTEXT_SYNC, 0, 0, 0 },
};

/* Where a version or the variant for a thread's own default stream begins. */
static size_t bare_length(const char *name)
{
    const char *at = name;
    while ((at = strchr(at, '_')) != NULL) {
        if ((at[1] == 'v' && at[2] >= '0' && at[2] <= '9') || strncmp(at, "_pts", 4) == 0
            || strncmp(at, "_ptds", 5) == 0)
            return (size_t)(at - name);
        at++;
    }
    return strlen(name);
}

/* NULL: there is no such function. */
static const char *full_name(CUpti_CallbackDomain domain, uint32_t cbid)
{
    const char *text = NULL;
    return cupti.GetCallbackName(domain, cbid, &text) == CUPTI_SUCCESS ? text : NULL;
}

void recorded_call_name(CUpti_CallbackDomain domain, uint32_t cbid, char name[CALL_NAME_BYTES])
{
    const char *text = full_name(domain, cbid);
    name[0] = '\0';
    if (!text) return;
    text += strspn(text, "_");
    size_t n = bare_length(text);
    if (n >= CALL_NAME_BYTES) n = CALL_NAME_BYTES - 1;
    memcpy(name, text, n);
    name[n] = '\0';
}

/* Of the functions that are recorded, by domain. */
static uint8_t traits[CUPTI_CB_DOMAIN_RUNTIME_API + 1][FUNCTIONS_MOST];
static uint8_t orders[CUPTI_CB_DOMAIN_RUNTIME_API + 1][FUNCTIONS_MOST]; /* rows of ordering */

uint8_t recorded_call_traits(CUpti_CallbackDomain domain, uint32_t cbid)
{
    return cbid < FUNCTIONS_MOST && domain <= CUPTI_CB_DOMAIN_RUNTIME_API ? traits[domain][cbid]
                                                                          : 0;
}

const call_ordering *recorded_call_ordering(CUpti_CallbackDomain domain, uint32_t cbid)
{
    const bool is_known = cbid < FUNCTIONS_MOST && domain <= CUPTI_CB_DOMAIN_RUNTIME_API;
    return &ordering[is_known ? orders[domain][cbid] : 0];
}

/* What nvcc's code calls begins with "__". */
static const char *bare_name(const char *name)
{
    name += strspn(name, "_");
    return name + (strncmp(name, "cuda", 4) == 0 ? 4 : 2);
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* False: it is not recorded. */
static bool find_traits(const char *name, uint8_t *found)
{
    const char *bare = bare_name(name);
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        if (begins(bare, recorded[i].name)) {
            *found = recorded[i].traits | (strstr(name, "_ptsz") ? CALL_PER_THREAD : 0);
            return true;
        }
    return false;
}

static uint8_t find_ordering(const char *name)
{
    const char *bare = bare_name(name);
    for (uint8_t i = 1; i < sizeof ordering / sizeof *ordering; i++)
        if (begins(bare, ordering[i].name)) return i;
    return 0;
}

void recorded_calls_watch(CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain, bool on)
{
    for (uint32_t cbid = 1; cbid < FUNCTIONS_MOST; cbid++) {
        const char *name = full_name(domain, cbid);
        if (!name || !find_traits(name, &traits[domain][cbid])) continue;
        orders[domain][cbid] = find_ordering(name);
        cupti.EnableCallback(on, subscriber, domain, cbid);
    }
}
