/* recorded_calls.c - which of CUDA's functions have their calls recorded, and their names.
 *
 * A record costs the call as much as a cheap function takes. So functions that only tell or set
 * something are left out: PyTorch asks for the device several times an operator.
 */
#include "recorder.h"

#include <string.h>

/* What the names begin with, behind "cuda" or "cu". */
static const char *const recorded[] = {
    "Launch",
    "GraphLaunch",
    "GraphUpload",
    "GraphInstantiate",
    "GraphExecUpdate",
    "Memcpy",
    "Memset",
    "EventRecord",
    "EventSynchronize",
    "EventQuery",
    "StreamWait",
    "StreamWriteValue",
    "StreamBatchMemOp",
    "StreamSynchronize",
    "StreamQuery",
    "StreamCreate",
    "StreamDestroy",
    "StreamBeginCapture",
    "StreamEndCapture",
    "StreamAddCallback",
    "DeviceSynchronize",
    "CtxSynchronize",
    "DeviceReset",
    "Malloc",
    "Free",
    "HostAlloc",
    "HostRegister",
    "HostUnregister",
    "MemAlloc",
    "MemFree",
    "MemHostAlloc",
    "MemHostRegister",
    "MemHostUnregister",
    "MemCreate",
    "MemMap",
    "MemUnmap",
    "MemRelease",
    "MemPrefetch",
    "MemPoolTrimTo",
    "ModuleLoad",
    "ModuleUnload",
    "LibraryLoad",
    "LibraryUnload",
    "IpcOpen",
    "IpcClose",
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

void recorded_call_name(CUpti_CallbackDomain domain, uint32_t cbid, char name[CALL_NAME_BYTES])
{
    const char *text = NULL;
    name[0] = '\0';
    if (cupti.GetCallbackName(domain, cbid, &text) != CUPTI_SUCCESS || !text) return;
    size_t n = bare_length(text);
    if (n >= CALL_NAME_BYTES) n = CALL_NAME_BYTES - 1;
    memcpy(name, text, n);
    name[n] = '\0';
}

static bool is_recorded(const char *name)
{
    const size_t prefix = strncmp(name, "cuda", 4) == 0 ? 4 : 2;
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        if (strncmp(name + prefix, recorded[i], strlen(recorded[i])) == 0) return true;
    return false;
}

/* `which`: those that are recorded, or all others. */
static void choose(CUpti_CallbackDomain domain, uint32_t end,
                   CUptiResult(CUPTIAPI *enable)(CUpti_CallbackId cbid, uint8_t enable), bool which,
                   bool on)
{
    char name[CALL_NAME_BYTES];
    for (uint32_t cbid = 1; enable && cbid < end; cbid++) {
        recorded_call_name(domain, cbid, name);
        if (name[0] && is_recorded(name) == which) enable(cbid, on);
    }
}

static void choose_all(bool which, bool on)
{
    choose(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE,
           cupti.ActivityEnableRuntimeApi, which, on);
    choose(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE, cupti.ActivityEnableDriverApi,
           which, on);
}

bool recorded_calls_can_be_few(void)
{
    return cupti.ActivityEnableRuntimeApi && cupti.ActivityEnableDriverApi;
}

void recorded_calls_leave_others(void) { choose_all(false, false); }

void recorded_calls_enable_few(bool on) { choose_all(true, on); }

static void watch(CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain, uint32_t end,
                  bool on)
{
    char name[CALL_NAME_BYTES];
    for (uint32_t cbid = 1; cbid < end; cbid++) {
        recorded_call_name(domain, cbid, name);
        if (name[0] && is_recorded(name)) cupti.EnableCallback(on, subscriber, domain, cbid);
    }
}

void recorded_calls_watch(CUpti_SubscriberHandle subscriber, bool on)
{
    watch(subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE, on);
    watch(subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE, on);
}
