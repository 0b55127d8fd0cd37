/* played_ranges.c - a program that marks ranges with NVTX's own headers, on a machine without a GPU:
 * it launches as played_launch.c has it, so that the call of launch n begins at 2n us on the played
 * clock, and sets that clock, which ranges take their times from. With an argument:
 *
 *   mixed      one range of each sort around some launches; prints what NVTX returns
 *   names N    N ranges, each with a name of its own, around a launch each
 *   threads N  two threads at once, each with N ranges of N levels around a launch
 *   loop       a launch, and two in a range "measured"
 *   deep N     N ranges within each other around a launch
 *   started N  N ranges that are started, and not ended, and one that is
 *   left       a thread ends in the range that it has pushed
 *   fork       marks a range, and has a child that uses CUDA within another one
 *   nccl       calls of NCCL's, with what it says of them, and kernels
 *   none       what a range costs: prints ns for a push and a pop, without CUDA
 *   cost       the same while it is recorded
 */
#include <nvtx3/nvToolsExt.h>

#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#endif

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../core/record/mark_calls.h"
#include "played_cupti.h"

/* The headers above were both read: they say the same. */
#define SAME(ours, real) _Static_assert((int)(ours) == (int)(real), #ours " is " #real)
SAME(sizeof(nvtx_event), sizeof(nvtxEventAttributes_t));
SAME(offsetof(nvtx_event, message_type), offsetof(nvtxEventAttributes_t, messageType));
SAME(offsetof(nvtx_event, message), offsetof(nvtxEventAttributes_t, message));
SAME(sizeof(nvtx_callbacks), sizeof(NvtxExportTableCallbacks));
SAME(NVTX_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(NVTX_CORE, NVTX_CB_MODULE_CORE);
SAME(NVTX_CORE2, NVTX_CB_MODULE_CORE2);
SAME(NVTX_MARK_EX, NVTX_CBID_CORE_MarkEx);
SAME(NVTX_START_W, NVTX_CBID_CORE_RangeStartW);
SAME(NVTX_END, NVTX_CBID_CORE_RangeEnd);
SAME(NVTX_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME(NVTX_POP, NVTX_CBID_CORE_RangePop);
SAME(NVTX_DOMAIN_MARK, NVTX_CBID_CORE2_DomainMarkEx);
SAME(NVTX_DOMAIN_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(NVTX_REGISTER_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(NVTX_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
SAME(NVTX_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(NVTX_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(NVTX_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);

void launch(const char *name);

static void set_clock(int ns)
{
    void *loaded = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    const played_cupti *cupti = loaded ? dlsym(loaded, "played") : NULL;
    if (cupti) cupti->set_clock(UINT64_C(1300000000000000000) + (uint64_t)ns);
}

static nvtxEventAttributes_t event_of(const char *text)
{
    return (nvtxEventAttributes_t){ .version = NVTX_VERSION,
                                    .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                    .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                    .message = { .ascii = text } };
}

static void *end_elsewhere(void *id)
{
    nvtxRangeEnd(*(const nvtxRangeId_t *)id);
    return NULL;
}

static void use_domain(void)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
    nvtxEventAttributes_t event = event_of(NULL);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "work");
    set_clock(3500);
    const int pushed = nvtxDomainRangePushEx(domain, &event);
    launch("second");
    set_clock(5000);
    const int popped = nvtxDomainRangePop(domain);
    printf("domain %d %d %d\n", pushed, popped, nvtxDomainRangePop(domain) < 0);
}

/* Ends on another thread, behind the range that began after it. */
static void use_started(void)
{
    pthread_t other;
    set_clock(9500);
    nvtxRangeId_t across = nvtxRangeStartA("across");
    launch("fifth");
    set_clock(11000);
    if (pthread_create(&other, NULL, end_elsewhere, &across) == 0) pthread_join(other, NULL);
}

static void use_all(void)
{
    const nvtxEventAttributes_t wide = { .version = NVTX_VERSION,
                                         .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                         .messageType = NVTX_MESSAGE_TYPE_UNICODE,
                                         .message = { .unicode = L"wide \u00e9\U0001f600" } };
    const nvtxEventAttributes_t empty = { 0 };
    printf("first %d\n", nvtxRangePushA("before CUDA"));
    launch("first");
    set_clock(3000);
    printf("second %d\n", nvtxRangePushA("epoch"));
    use_domain();
    launch("third");
    set_clock(7000);
    printf("pop %d\n", nvtxRangePop());
    set_clock(7500);
    nvtxRangePushEx(&wide);
    launch("fourth");
    set_clock(9000);
    nvtxRangePop();
    use_started();
    set_clock(11500);
    nvtxMarkA("mark");
    nvtxRangePushEx(&empty);
    set_clock(11600);
    launch("sixth");
    set_clock(13000);
}

static void use_names(int n)
{
    char name[64];
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "iteration %d", i);
        nvtxRangePushA(name);
        launch("k");
        set_clock(2000 * (i + 1) + 1000);
        nvtxRangePop();
    }
}

static void *use_levels(void *ud)
{
    const int n = *(const int *)ud;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            nvtxRangePushA(k % 2 ? "odd" : "even");
        launch("k");
        for (int k = 0; k < n; k++)
            nvtxRangePop();
    }
    return NULL;
}

static void use_threads(int n)
{
    pthread_t other;
    launch("k");
    const bool begun = pthread_create(&other, NULL, use_levels, &n) == 0;
    use_levels(&n);
    if (begun) pthread_join(other, NULL);
}

static void use_loop(void)
{
    launch("warm");
    set_clock(3500);
    nvtxRangePushA("measured");
    launch("first");
    launch("second");
    set_clock(7000);
    nvtxRangePop();
}

static void *leave_open(void *ud)
{
    set_clock(3500);
    nvtxRangePushA("left");
    launch("second");
    set_clock(5000);
    return ud;
}

static void use_ended_thread(void)
{
    pthread_t other;
    launch("first");
    if (pthread_create(&other, NULL, leave_open, NULL) == 0) pthread_join(other, NULL);
    set_clock(9000);
    launch("third");
}

static void use_depth(int n)
{
    launch("k");
    for (int i = 0; i < n; i++)
        nvtxRangePushA("level");
    launch("k");
    for (int i = 0; i < n; i++)
        nvtxRangePop();
}

static void start_many(int n)
{
    launch("k");
    for (int i = 0; i < n; i++)
        nvtxRangeStartA("started");
    nvtxRangeEnd(nvtxRangeStartA("ended"));
}

static void use_child(void)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
    nvtxEventAttributes_t event = event_of(NULL);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "work");
    nvtxRangePushA("parent");
    const nvtxRangeId_t outside = nvtxRangeStartA("outside");
    const pid_t child = fork();
    if (child > 0) waitpid(child, NULL, 0);
    if (child != 0) return;
    launch("first");
    set_clock(3500);
    const nvtxRangeId_t inside = nvtxRangeStartA("inside");
    nvtxRangeEnd(outside);
    nvtxDomainRangePushEx(domain, &event);
    launch("second");
    set_clock(5000);
    nvtxRangeEnd(inside);
    nvtxDomainRangePop(domain);
    nvtxRangePop();
    exit(0);
}

/* ---- NCCL ---- */

#ifdef NVTX_PAYLOAD_TYPE_EXT
/* As NCCL 2.28 has them. */
typedef struct sized {
    uint64_t comm;
    size_t bytes;
    int root;
} sized;

typedef struct member {
    uint64_t comm;
    int ranks, rank, device;
} member;

static void push_nccl(nvtxDomainHandle_t domain, const char *function, const void *data,
                      size_t size)
{
    nvtxEventAttributes_t event = event_of(NULL);
    const nvtxPayloadData_t payload = { .schemaId = 1 << 24, .size = size, .payload = data };
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, function);
    event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    event.reserved0 = 1;
    event.payload.ullValue = (uintptr_t)&payload;
    nvtxDomainRangePushEx(domain, &event);
}

static void push_sized(nvtxDomainHandle_t domain, const char *function, uint64_t comm, size_t bytes)
{
    const sized data = { comm, bytes, 0 };
    const bool is_long = strcmp(function, "ncclAllGather") != 0;
    push_nccl(domain, function, &data, is_long ? sizeof data : offsetof(sized, root));
}

static void use_group(nvtxDomainHandle_t domain, const char *first, size_t first_bytes,
                      const char *second, size_t second_bytes)
{
    push_sized(domain, first, 0x5f3759df, first_bytes);
    nvtxDomainRangePop(domain);
    push_sized(domain, second, 0x5f3759df, second_bytes);
    nvtxDomainRangePop(domain);
}

/* Kernels are launched at 2, 4, ... us. */
static void use_nccl(void)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
    const size_t old[] = { 4096, 0 }; /* before 2.24, without the communicator */
    const member left = { 0x5f3759df, 2, 1, 0 };
    launch("ncclDevKernel_without_a_call");
    set_clock(3000);
    push_sized(domain, "ncclAllReduce", 0x5f3759df, 4096);
    launch("ncclDevKernel_AllReduce");
    set_clock(5000);
    nvtxDomainRangePop(domain);
    use_group(domain, "ncclAllReduce", 1000, "ncclAllReduce", 24);
    launch("ncclDevKernel_AllReduce");
    set_clock(7000);
    push_sized(domain, "ncclAllGather", 0x5f3759df, 512);
    launch("ncclDevKernel_AllGather");
    set_clock(9000);
    nvtxDomainRangePop(domain);
    use_group(domain, "ncclSend", 64, "ncclBroadcast", 32);
    launch("ncclDevKernel_SendRecv");
    launch("ncclDevKernel_of_the_same_group");
    set_clock(13000);
    push_nccl(domain, "ncclAllReduce", old, sizeof old);
    launch("ncclDevKernel_AllReduce");
    set_clock(15000);
    nvtxDomainRangePop(domain);
    push_nccl(domain, "ncclCommDestroy", &left, sizeof left);
    set_clock(16000);
    nvtxDomainRangePop(domain);
}
#else
static void use_nccl(void) { puts("no payloads"); }
#endif

static void measure(void)
{
    enum { TIMES = 200000 };
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < TIMES; i++) {
        nvtxRangePushA("aten::addmm, seq = 17");
        nvtxRangePop();
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.0f\n",
           ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / TIMES);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const int n = argc > 2 ? atoi(argv[2]) : 0;
    if (strcmp(what, "mixed") == 0) use_all();
    if (strcmp(what, "names") == 0) use_names(n);
    if (strcmp(what, "threads") == 0) use_threads(n);
    if (strcmp(what, "loop") == 0) use_loop();
    if (strcmp(what, "deep") == 0) use_depth(n);
    if (strcmp(what, "started") == 0) start_many(n);
    if (strcmp(what, "left") == 0) use_ended_thread();
    if (strcmp(what, "fork") == 0) use_child();
    if (strcmp(what, "nccl") == 0) use_nccl();
    if (strcmp(what, "cost") == 0) launch("k");
    if (strcmp(what, "cost") == 0 || strcmp(what, "none") == 0) measure();
    return 0;
}
