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
    { "GraphUpload", 0 },
    { "GraphInstantiate", 0 },
    { "GraphExecUpdate", 0 },
    { "Memcpy", 0 },
    { "Memset", 0 },
    { "EventRecord", 0 },
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
    { "DeviceReset", CALL_ENDS_CONTEXT },
    { "DevicePrimaryCtxReset", CALL_ENDS_CONTEXT },
    { "CtxDestroy", CALL_ENDS_CONTEXT },
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
    { "MemPoolTrimTo", 0 },
    { "ModuleLoad", 0 },
    { "ModuleUnload", 0 },
    { "LibraryLoad", 0 },
    { "LibraryUnload", 0 },
    { "IpcOpen", 0 },
    { "IpcClose", 0 },
};

static const struct {
    const char *name;
    call_order order;
} ordering[] = {
    { "EventRecord", ORDER_RECORD },
    { "EventSynchronize", ORDER_EVENT_SYNC },
    { "EventQuery", ORDER_EVENT_SYNC }, /* which succeeds: like CUPTI's activity record */
    { "EventDestroy", ORDER_FORGET_EVENT },
    { "StreamWaitEvent", ORDER_STREAM_WAIT },
    { "StreamSynchronize", ORDER_STREAM_SYNC },
    { "StreamQuery", ORDER_STREAM_SYNC },
    { "StreamDestroy", ORDER_FORGET_STREAM },
    { "CtxDestroy", ORDER_FORGET_CONTEXT },
    { "DeviceReset", ORDER_FORGET_CURRENT },
    { "DevicePrimaryCtxReset", ORDER_FORGET_CURRENT }, /* in most programs the thread's */
    { "CtxSynchronize", ORDER_CONTEXT_SYNC },
    { "DeviceSynchronize", ORDER_CONTEXT_SYNC },
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
    size_t n = bare_length(text);
    if (n >= CALL_NAME_BYTES) n = CALL_NAME_BYTES - 1;
    memcpy(name, text, n);
    name[n] = '\0';
}

/* Of the functions that are recorded, by domain. */
static uint8_t traits[CUPTI_CB_DOMAIN_RUNTIME_API + 1][FUNCTIONS_MOST];
static uint8_t orders[CUPTI_CB_DOMAIN_RUNTIME_API + 1][FUNCTIONS_MOST];

uint8_t recorded_call_traits(CUpti_CallbackDomain domain, uint32_t cbid)
{
    return cbid < FUNCTIONS_MOST && domain <= CUPTI_CB_DOMAIN_RUNTIME_API ? traits[domain][cbid]
                                                                          : 0;
}

call_order recorded_call_order(CUpti_CallbackDomain domain, uint32_t cbid)
{
    const bool is_known = cbid < FUNCTIONS_MOST && domain <= CUPTI_CB_DOMAIN_RUNTIME_API;
    return is_known ? (call_order)orders[domain][cbid] : ORDER_NONE;
}

static const char *bare_name(const char *name)
{
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

static call_order find_order(const char *name)
{
    const char *bare = bare_name(name);
    for (size_t i = 0; i < sizeof ordering / sizeof *ordering; i++)
        if (begins(bare, ordering[i].name)) return ordering[i].order;
    return ORDER_NONE;
}

void recorded_calls_watch(CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain, bool on)
{
    for (uint32_t cbid = 1; cbid < FUNCTIONS_MOST; cbid++) {
        const char *name = full_name(domain, cbid);
        if (!name || !find_traits(name, &traits[domain][cbid])) continue;
        orders[domain][cbid] = (uint8_t)find_order(name);
        cupti.EnableCallback(on, subscriber, domain, cbid);
    }
}
