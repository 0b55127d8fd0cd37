/* played_program.c - a CUDA program on a machine without a GPU: it loads what the driver would load
 * (CUDA_INJECTION64_PATH), and gives the played CUPTI the records of what it would do.
 *
 *   played_program WHAT [NUMBER]    WHAT, one or several, one after the other:
 *     streams      two streams, events, copies, a launch of a graph: times of 10-record.t.lua
 *     orders       events and waits of all kinds (played_orders.c)
 *     failures     calls of all kinds that fail (played_failures.c)
 *     kernels N    N kernels, which take 1 us each, 2 us apart, a buffer handed over every 100
 *     grid N       kernels have N * 65535 blocks from here on
 *     driver N     the same by the driver's function alone
 *     memory       allocations and frees: what 20-memory.t.lua expects
 *     launches N   N launches, one each 200 us, of 40 kernels with 10 grids each, in two streams,
 *                  with events, copies and waits; a buffer handed over when full, and each second
 *     threads N    N threads at once, each of which ends behind 300 kernels, 2 us apart; all but the
 *                  first one have names
 *     queries N    N calls that only ask whether a stream is done
 *     events N     records N events and destroys none
 *     failing N    N launches that fail     captured N  N launches into a graph
 *     invalid      a capture that fails
 *     unfinished   a launch of a kernel that does not end
 *     wait         waits for the device     reset       resets it
 *     release      lets go of the device's context
 *     hold         flushes of CUPTI's wait  let_go      until here
 *     share N      prints what the recorder's part of a launch takes, in ns: N are made, each with
 *                  the driver's function in it, whose callbacks are played and nothing else
 *     share_of_record N  the same of a record of an event
 *     count        from here on a file "issued" has how many kernels there have been, as a number
 *                  of 4 bytes, whatever ends the program
 *     kill_in N    is killed N us from here on
 *     profiler     has a profiler of its own, which takes CUPTI's buffers from here on
 *     kill N       ends by that signal      exit N    with that status
 *     handler N    with that status, by exit() in the handler of a signal
 *     held N       the same, in the middle of a function of CUPTI's
 *     leave N      at once, without handlers (_exit)
 *     threads_end  by the end of its last thread (pthread_exit)
 *     fork         has a child that exits   sleep N   ms
 *     peak         prints how many KiB it had at most (VmHWM)
 *     keys         has taken all keys of threads before it uses CUDA, and ends with status 95 if
 *                  somebody else then changed what it has there (first word)
 *     none         does not use CUDA        drop N    records are said to be dropped
 *     close        closes all descriptors but the first three, and gives their numbers, up to 600,
 *                  to a file "own"
 *     unload       lets go of the library   ended     waits until nothing is recorded any more
 *
 * It uses the driver of played_driver.c if PLAYED_DRIVER is in the environment.
 */
#define _GNU_SOURCE /* RTLD_NOLOAD */

#include <cupti.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "played_calls.h"

static void pool_memory(CUpti_ActivityMemoryOperationType operation, uint32_t correlation, int time,
                        uint64_t address, uint64_t bytes, uint64_t pool_bytes)
{
    CUpti_ActivityMemory4 m = { .kind = CUPTI_ACTIVITY_KIND_MEMORY2,
                                .memoryOperationType = operation,
                                .memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                                .correlationId = correlation,
                                .address = address,
                                .bytes = bytes,
                                .timestamp = US(time),
                                .contextId = 1,
                                .streamId = 13,
                                .isAsync = 1,
                                .memoryPoolConfig = {
                                    .memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
                                    .pool.size = pool_bytes,
                                    .utilizedSize = bytes,
                                } };
    ADD(m, sizeof m);
}

/* ---- what it does ---- */

#define CALL(name, ...) call(CUPTI_RUNTIME_TRACE_CBID_##name, __VA_ARGS__)
#define CALL_WITH(name, ...) call_with(CUPTI_RUNTIME_TRACE_CBID_##name, __VA_ARGS__)

static void use_events(void)
{
    CALL_WITH(cudaEventRecord_v3020, 12, event_of(1), stream_of(13), 76, 77);
    CALL_WITH(cudaStreamWaitEvent_v3020, 13, stream_of(14), event_of(1), 78, 79);
    CALL(cudaLaunchKernel_ptsz_v7000, 14, 80, 84);
    kernel("second", 14, 14, 182, 282, 0);
    CALL_WITH(cudaEventRecord_v3020, 15, event_of(2), stream_of(14), 85, 86);
    CALL_WITH(cudaEventRecord_v3020, 16, event_of(1), stream_of(13), 87, 88);
    CALL_WITH(cudaEventSynchronize_v3020, 17, event_of(2), NULL, 90, 290);
}

static void use_streams(void)
{
    const uint64_t graph = UINT64_C(5) << 32;
    device();
    stream(7, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL, 0);
    stream(13, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT, 0);
    stream(14, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING, -1);
    CALL(cudaGetDevice_v3020, 9, -2, -1);
    CALL(cudaMemcpyAsync_v3020, 10, 0, 60);
    copy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE,
         CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, 10, 13, 20, 50);
    played_call outer = runtime_call(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 11);
    played_call inner = driver_launch(11);
    enter(&outer, 70);
    enter(&inner, 71);
    leave(&inner, 74);
    leave(&outer, 75);
    kernel("_Z5firstPfi", 11, 13, 80, 180, 0);
    use_events();
    CALL(cudaGraphLaunch_v10000, 18, 300, 310);
    kernel("node", 18, 13, 320, 330, graph + 1);
    kernel("node", 18, 13, 332, 350, graph + 2);
    CALL_WITH(cudaStreamSynchronize_v3020, 19, stream_of(13), NULL, 311, 352);
    CALL(cudaMemcpyAsync_v3020, 20, 360, 365);
    copy(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
         CUPTI_ACTIVITY_MEMORY_KIND_PINNED, 20, 14, 370, 390);
    CALL(cudaDeviceSynchronize_v3020, 21, 366, 392);
}

/* cudaFree waits for the kernel, which ends at 150. The memory at 0x900 was there before. */
static void use_memory(void)
{
    const CUpti_ActivityMemoryOperationType takes = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    const CUpti_ActivityMemoryOperationType frees = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    const CUpti_ActivityMemoryKind device_kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    device();
    CALL(cudaMalloc_v3020, 30, 0, 10);
    memory(takes, device_kind, 30, 9, 0x1000, 1 << 20);
    CALL(cudaMallocHost_v3020, 31, 11, 19);
    memory(takes, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, 31, 18, 0x2000, 4096);
    CALL(cudaMallocManaged_v6000, 32, 20, 29);
    memory(takes, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED, 32, 28, 0x3000, 8192);
    CALL(cudaMallocAsync_v11020, 33, 30, 39);
    pool_memory(takes, 33, 38, 0x4000, 512, 1 << 25);
    CALL(cudaLaunchKernel_v7000, 34, 40, 44);
    kernel("k", 34, 13, 50, 150, 0);
    CALL(cudaFreeAsync_v11020, 35, 45, 49);
    pool_memory(frees, 35, 48, 0x4000, 512, 1 << 25);
    CALL(cudaFree_v3020, 36, 51, 160);
    memory(frees, device_kind, 36, 159, 0x1000, 0);
    CALL(cudaFree_v3020, 37, 161, 170);
    memory(frees, device_kind, 37, 169, 0x900, 64);
    CALL(cudaMalloc_v3020, 38, 171, 180);
    memory(takes, device_kind, 38, 179, 0x1000, 1 << 10);
}

static void use_kernels(int n)
{
    device();
    for (int i = 0; i < n; i++) {
        CALL(cudaLaunchKernel_v7000, (uint32_t)i + 100, 2 * i, 2 * i + 1);
        kernel("k", (uint32_t)i + 100, 7, 2 * i + 1, 2 * i + 2, 0);
        if (i % 100 == 99 && cupti) cupti->deliver();
    }
}

static void CUPTIAPI give_buffer(uint8_t **data, size_t *bytes, size_t *most_records)
{
    static _Alignas(16) uint8_t buffer[1 << 16];
    *bytes = sizeof buffer;
    *data = buffer;
    *most_records = 0;
}

/* It does not free what the recorder gave. */
static void CUPTIAPI take_buffer(CUcontext context, uint32_t id, uint8_t *data, size_t bytes,
                                 size_t valid_bytes)
{
    (void)context, (void)id, (void)data, (void)bytes, (void)valid_bytes;
}

static void start_profiler(void)
{
    __typeof__(cuptiActivityRegisterCallbacks) *start = NULL;
    void *loaded = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = loaded ? dlsym(loaded, "cuptiActivityRegisterCallbacks") : NULL;
    memcpy(&start, &symbol, sizeof start);
    if (start) start(give_buffer, take_buffer);
}

static void use_driver(int n)
{
    device();
    for (int i = 0; i < n; i++) {
        played_call made = driver_launch((uint32_t)i + 100);
        enter(&made, 2 * i);
        leave(&made, 2 * i + 1);
        kernel("k", (uint32_t)i + 100, 7, 2 * i + 1, 2 * i + 2, 0);
    }
}

/* An event behind the i-th launch, for which the other one of the streams 13 and 14 waits. */
static void pass_on(int i, uint32_t *correlation, uint32_t from, int at)
{
    const void *event = event_of((uint32_t)i % 8);
    CALL_WITH(cudaEventRecord_v3020, ++*correlation, event, stream_of(from), at + 5, at + 6);
    CALL_WITH(cudaStreamWaitEvent_v3020, ++*correlation, stream_of(27 - from), event, at + 7,
              at + 8);
}

static void fetch(uint32_t *correlation, uint32_t from, int at)
{
    CALL(cudaMemcpyAsync_v3020, ++*correlation, at + 9, at + 12);
    copy(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
         CUPTI_ACTIVITY_MEMORY_KIND_PINNED, *correlation, from, at + 191, at + 193);
    CALL_WITH(cudaStreamSynchronize_v3020, ++*correlation, stream_of(from), NULL, at + 13,
              at + 195);
}

static void use_launches(int n)
{
    static char names[40][48];
    uint32_t correlation = 100;
    for (int i = 0; i < 40; i++)
        snprintf(names[i], sizeof names[i], "a_kernel_whose_name_is_longer_%d", i);
    device();
    for (int i = 0; i < n; i++) {
        const int at = 200 * i;
        const uint32_t in = i % 20 < 10 ? 13 : 14;
        grid_x = 1 + i % 400 / 40;
        CALL(cudaLaunchKernel_v7000, ++correlation, at, at + 4);
        kernel(names[i % 40], correlation, in, at + 10, at + 110 + i * 7 % 80, 0);
        if (i % 10 == 9) pass_on(i, &correlation, in, at);
        if (i % 100 == 99) fetch(&correlation, in, at);
        if (i % 5000 == 4999 && cupti) cupti->deliver();
    }
}

enum { OF_THREAD = 300 };

static void *use_thread(void *ud)
{
    const int first = (int)(intptr_t)ud * OF_THREAD;
    char name[16];
    snprintf(name, sizeof name, "worker %d", (int)(intptr_t)ud);
    if (first > 0) pthread_setname_np(pthread_self(), name);
    for (int i = first; i < first + OF_THREAD; i++) {
        CALL(cudaLaunchKernel_v7000, (uint32_t)i + 1, 2 * i, 2 * i + 1);
        kernel("k", (uint32_t)i + 1, 7, 2 * i + 1, 2 * i + 2, 0);
    }
    return NULL;
}

static void use_threads(int n)
{
    enum { MOST = 64 };
    pthread_t threads[MOST];
    device();
    for (int i = 0; i < n && i < MOST; i++)
        if (pthread_create(&threads[i], NULL, use_thread, (void *)(intptr_t)i) != 0) exit(94);
    for (int i = 0; i < n && i < MOST; i++)
        pthread_join(threads[i], NULL);
}

static void ask_often(int n)
{
    for (int i = 0; i < n; i++)
        CALL(cudaStreamQuery_v3020, (uint32_t)i + 10000, 1000 + i, 1001 + i);
}

static void record_events(int n)
{
    for (int i = 0; i < n; i++)
        CALL_WITH(cudaEventRecord_v3020, (uint32_t)i + 400000, event_of((uint32_t)i), stream_of(13),
                  1000 + i, 1001 + i);
}

static void fail(int n)
{
    for (int i = 0; i < n; i++) {
        played_call made = runtime_call(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
                                        (uint32_t)i + 20000);
        enter(&made, 1000 + i);
        made.result = cudaErrorInvalidConfiguration;
        leave(&made, 1001 + i);
    }
}

static void capture(int n)
{
    CALL(cudaStreamBeginCapture_v10000, 30000, 2000, 2001);
    for (int i = 1; i <= n; i++)
        CALL(cudaLaunchKernel_v7000, (uint32_t)i + 30000, 2000 + i, 2001 + i);
    CALL(cudaStreamEndCapture_v10000, (uint32_t)n + 30001, 2001 + n, 2002 + n);
}

static void capture_invalid(void)
{
    played_call end = runtime_call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamEndCapture_v10000, 30001);
    CALL(cudaStreamBeginCapture_v10000, 30000, 2000, 2001);
    enter(&end, 2002);
    end.result = cudaErrorStreamCaptureInvalidated;
    leave(&end, 2003);
}

/* The first key is 0, which a variable has that got none. */
static pthread_key_t first_key;

static void take_keys(void)
{
    pthread_key_t others;
    if (pthread_key_create(&first_key, NULL) != 0) exit(95);
    while (pthread_key_create(&others, NULL) == 0)
        continue;
    pthread_setspecific(first_key, &first_key);
}

static void release_context(void)
{
    played_call made = { .domain = CUPTI_CB_DOMAIN_DRIVER_API,
                         .cbid = CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2,
                         .correlation = 40000 };
    enter(&made, 3000);
    leave(&made, 3001);
}

static void hold(bool on)
{
    if (cupti) cupti->hold(on);
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void measure_share(int n, uint32_t cbid, const void *const *parameters)
{
    const double from_ns = now_ns();
    for (int i = 0; i < n; i++) {
        played_call outer = runtime_call(cbid, (uint32_t)i + 1);
        played_call inner = driver_launch((uint32_t)i + 1);
        outer.parameters = parameters;
        enter(&outer, 1);
        enter(&inner, 2);
        leave(&inner, 3);
        leave(&outer, 4);
    }
    printf("%.1f\n", (now_ns() - from_ns) / n);
}

/* The leak sanitizer asks this at the end of a process. In a child it would wait for ever where
 * another thread was allocating when the process was forked. */
static bool is_child;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return is_child; }

static void have_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        is_child = true;
        exit(0);
    }
    waitpid(child, NULL, 0);
}

static void close_all(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    for (int fd = open("own", O_WRONLY | O_CREAT, 0600); fd >= 0 && fd < 600;)
        fd = dup(fd);
}

static void count_kernels(void)
{
    const int fd = open("issued", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *issued) != 0) exit(96);
    void *at = mmap(NULL, sizeof *issued, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) exit(95);
    issued = at;
    close(fd);
}

static void have_killer(int us)
{
    const struct timespec pause = { us / 1000000, us % 1000000 * 1000L };
    if (fork() != 0) return;
    nanosleep(&pause, NULL);
    kill(getppid(), SIGKILL);
    _exit(0);
}

static volatile sig_atomic_t status;

static void on_signal(int signal)
{
    (void)signal;
    exit(status);
}

static void end_in_handler(int n, bool held)
{
    status = n;
    signal(SIGUSR1, on_signal);
    if (held && cupti) cupti->interrupt(SIGUSR1);
    raise(SIGUSR1);
}

static void print_peak(void)
{
    char line[128];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0) printf("%d\n", atoi(line + 6));
    if (file) fclose(file);
}

static void unload(void)
{
    if (library) dlclose(library);
    if (!dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_NOLOAD)) exit(97);
}

static void await_end(void)
{
    const struct timespec pause = { 0, 1000000 };
    while (cupti && cupti->records())
        nanosleep(&pause, NULL);
}

static void run(const char *what, int n)
{
    const struct timespec pause = { n / 1000, n % 1000 * 1000000L };
    const void *const recorded[] = { event_of(1), stream_of(13) };
    if (strcmp(what, "streams") == 0) use_streams();
    if (strcmp(what, "orders") == 0) use_orders();
    if (strcmp(what, "failures") == 0) use_failures();
    if (strcmp(what, "kernels") == 0) use_kernels(n);
    if (strcmp(what, "grid") == 0) grid_x = n, grid_y = 65535;
    if (strcmp(what, "driver") == 0) use_driver(n);
    if (strcmp(what, "profiler") == 0) start_profiler();
    if (strcmp(what, "memory") == 0) use_memory();
    if (strcmp(what, "launches") == 0) use_launches(n);
    if (strcmp(what, "threads") == 0) use_threads(n);
    if (strcmp(what, "queries") == 0) ask_often(n);
    if (strcmp(what, "events") == 0) record_events(n);
    if (strcmp(what, "failing") == 0) fail(n);
    if (strcmp(what, "captured") == 0) capture(n);
    if (strcmp(what, "invalid") == 0) capture_invalid();
    if (strcmp(what, "unfinished") == 0) CALL(cudaLaunchKernel_v7000, 50000, 4000, 4001);
    if (strcmp(what, "wait") == 0) CALL(cudaDeviceSynchronize_v3020, 60000, 5000, 5001);
    if (strcmp(what, "reset") == 0) CALL(cudaDeviceReset_v3020, 40000, 3000, 3001);
    if (strcmp(what, "release") == 0) release_context();
    if (strcmp(what, "hold") == 0) hold(true);
    if (strcmp(what, "let_go") == 0) hold(false);
    if (strcmp(what, "share") == 0)
        measure_share(n, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, NULL);
    if (strcmp(what, "share_of_record") == 0)
        measure_share(n, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, recorded);
    if (strcmp(what, "count") == 0) count_kernels();
    if (strcmp(what, "kill_in") == 0) have_killer(n);
    if (strcmp(what, "peak") == 0) print_peak();
    if (strcmp(what, "kill") == 0) raise(n);
    if (strcmp(what, "exit") == 0) exit(n);
    if (strcmp(what, "handler") == 0) end_in_handler(n, false);
    if (strcmp(what, "held") == 0) end_in_handler(n, true);
    if (strcmp(what, "leave") == 0) _exit(n);
    if (strcmp(what, "threads_end") == 0) pthread_exit(NULL);
    if (strcmp(what, "fork") == 0) have_child();
    if (strcmp(what, "sleep") == 0) nanosleep(&pause, NULL);
    if (strcmp(what, "close") == 0) close_all();
    if (strcmp(what, "unload") == 0) unload();
    if (strcmp(what, "ended") == 0) await_end();
    if (strcmp(what, "drop") == 0 && cupti) cupti->drop((size_t)n);
}

int main(int argc, char **argv)
{
    const bool has_keys = argc > 1 && strcmp(argv[1], "keys") == 0;
    if (has_keys) take_keys();
    if (argc < 2 || strcmp(argv[1], "none") != 0) use_cuda();
    for (int i = 1; i < argc; i++)
        run(argv[i], i + 1 < argc ? atoi(argv[i + 1]) : 0);
    return has_keys && pthread_getspecific(first_key) != &first_key ? 95 : 0;
}
