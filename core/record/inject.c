/* inject.c - the library that `streamlab record` has loaded into a program: the CUDA driver opens
 * the file that CUDA_INJECTION64_PATH names when the program first uses it, and calls
 * InitializeInjection. From then on CUPTI's records go to a spool (spool.h) in the folder that
 * STREAMLAB_RECORD names.
 *
 * The program is somebody else's. So all here fails quietly, and the spool says why; nothing is
 * printed, no signal is handled; in a child that the program forks nothing is written. The one
 * thread that is started has all signals blocked: once a second it asks CUPTI for the buffers that
 * are complete, so that a program that is killed loses the last second.
 *
 * STREAMLAB_RECORD_FOR  ns after which the recording ends, and the program goes on
 * STREAMLAB_RECORD_PYTHON  set: the line of Python at which each call is made, too
 * STREAMLAB_RECORD_STACKS  set: the same of compiled code
 * STREAMLAB_RECORD_WITHOUT  kinds of records that are left out, such as "driver,event", to measure
 *                       what they cost; what depends on them is then not known
 */
#define _GNU_SOURCE /* RTLD_NOLOAD, dl_iterate_phdr, program_invocation_short_name, secure_getenv */

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../cuda/cuda_kernel_names.h"
#include "recorder.h"
#include "spool_write.h"

enum {
    DELIVERY_NS = 1000000000,
    LOOK_NS = 100000000 /* whether so many calls wait that they are written at once */
};
#define PATIENCE_NS INT64_C(2000000000) /* of a program that ends, for its last records */

__attribute__((visibility("default"))) int InitializeInjection(void);

static struct {
    pid_t pid;             /* 0: nothing is recorded */
    pthread_mutex_t spool; /* guards the spool */
    pthread_mutex_t lock;  /* guards the next two, and `changed` says that one has */
    pthread_cond_t changed;
    bool attached, is_ending; /* CUPTI is; the program is */
    bool has_thread;          /* which ends the recording, too */
    atomic_bool notes_calls;
    int64_t end_ns; /* on the clock of now_ns; 0: with the program */
    CUpti_SubscriberHandle subscriber;
} recorder = { .spool = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER };

static int64_t now_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t now_ns(void) { return now_of(CLOCK_MONOTONIC); }

/* A child that was forked has all of this, and none of the threads: one of them may have held a
 * lock, so that none is taken there. */
static bool is_here(void) { return recorder.pid != 0 && getpid() == recorder.pid; }

/* Calls are noted without asking the system for the process. */
static void forget_in_child(void) { recorder.pid = 0; }

/* ---- what is recorded ---- */

static const struct {
    const char *name;
    CUpti_ActivityKind kind;
    bool needed;
} kinds[] = {
    { "kernel", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true },
    { "copy", CUPTI_ACTIVITY_KIND_MEMCPY, true },
    { "peer", CUPTI_ACTIVITY_KIND_MEMCPY2, true },
    { "memset", CUPTI_ACTIVITY_KIND_MEMSET, true },
    { "stream", CUPTI_ACTIVITY_KIND_STREAM, false },
    { "context", CUPTI_ACTIVITY_KIND_CONTEXT, false },
    { "device", CUPTI_ACTIVITY_KIND_DEVICE, false },
    { "overhead", CUPTI_ACTIVITY_KIND_OVERHEAD, false },
    { "memory", CUPTI_ACTIVITY_KIND_MEMORY2, false },
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* Whose calls are noted by callbacks. */
static const struct {
    const char *name;
    CUpti_CallbackDomain domain;
} domains[] = {
    { "runtime", CUPTI_CB_DOMAIN_RUNTIME_API },
    { "driver", CUPTI_CB_DOMAIN_DRIVER_API },
};
enum { N_DOMAINS = sizeof domains / sizeof *domains };

/* Whether a list of words has one. */
static bool lists(const char *list, const char *word)
{
    for (size_t n; list && *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if (n == strlen(word) && strncmp(list, word, n) == 0) return true;
    }
    return false;
}

/* ---- buffers ---- */

static void CUPTIAPI on_requested(uint8_t **data, size_t *bytes, size_t *most_records)
{
    *bytes = 0;
    *data = is_here() ? record_buffer_take(bytes) : NULL;
    *most_records = 0; /* as many as fit */
}

/* The spool's lock is held. */
static void write_noted(void)
{
    call_lines_write();
    noted_calls_write(false);
    nvtx_write();
    spool_write();
}

/* Before the spool's lock is taken: who holds the loader's may launch something, and come here. */
static void prepare_to_write(void)
{
    cuda_kernel_names_prepare();
    call_lines_find();
}

static void CUPTIAPI on_completed(CUcontext context, uint32_t stream, uint8_t *data, size_t bytes,
                                  size_t valid_bytes)
{
    (void)context, (void)stream, (void)bytes;
    if (!data || !is_here()) return;
    taken_over_note_buffer();
    prepare_to_write();
    pthread_mutex_lock(&recorder.spool);
    activity_records_add(data, valid_bytes);
    write_noted();
    pthread_mutex_unlock(&recorder.spool);
    record_buffer_give(data, valid_bytes);
}

/* What is noted goes to the spool where no buffers come, too: another profiler may have them. */
static void write_without_buffer(void)
{
    if (!is_here()) return;
    prepare_to_write();
    pthread_mutex_lock(&recorder.spool);
    write_noted();
    pthread_mutex_unlock(&recorder.spool);
}

static void write_ranges(void)
{
    if (!is_here()) return;
    pthread_mutex_lock(&recorder.spool);
    nvtx_write();
    spool_write();
    pthread_mutex_unlock(&recorder.spool);
}

/* Of streams and contexts, which several functions destroy. */
static const CUpti_CallbackId destroyed[] = { CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
                                              CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING };

/* CUPTI forgets the records of a context that ends. */
static void CUPTIAPI on_call(void *ud, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                             const void *data)
{
    const CUpti_CallbackData *call = data;
    (void)ud;
    if (!recorder.notes_calls || recorder.pid == 0) return;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        call_order_forget(cbid, data);
        return;
    }
    if (call->callbackSite != CUPTI_API_ENTER) {
        noted_call_end(domain, cbid, call);
        return;
    }
    if (recorded_call_traits(domain, cbid) & CALL_ENDS_CONTEXT && is_here())
        cupti.ActivityFlushAll(0);
    noted_call_begin(domain, cbid, call);
}

static void watch_calls(bool on)
{
    const char *without = on ? getenv("STREAMLAB_RECORD_WITHOUT") : NULL;
    for (size_t i = 0; i < N_DOMAINS; i++)
        if (!lists(without, domains[i].name))
            recorded_calls_watch(recorder.subscriber, domains[i].domain, on);
    for (size_t i = 0; i < sizeof destroyed / sizeof *destroyed; i++)
        cupti.EnableCallback(on, recorder.subscriber, CUPTI_CB_DOMAIN_RESOURCE, destroyed[i]);
}

/* ---- the end ---- */

static int is_torch(struct dl_phdr_info *object, size_t bytes, void *ud)
{
    (void)bytes, (void)ud;
    return object->dlpi_name && strstr(object->dlpi_name, "/libtorch_cuda.so") != NULL;
}

/* Libraries are listed, since a dlopen that fails leaves memory to the thread. */
static bool has_pytorch(void) { return dl_iterate_phdr(is_torch, NULL) != 0; }

static void add_end(bool is_pytorch)
{
    size_t dropped = 0;
    cupti.ActivityGetNumDroppedRecords(NULL, 0, &dropped);
    spool_add(&(spool_record){ .end = { .kind = SPOOL_END,
                                        .is_pytorch = is_pytorch,
                                        .dropped = dropped + noted_calls_dropped(),
                                        .dropped_ranges = nvtx_dropped(),
                                        .dropped_lines = call_lines_dropped(),
                                        .cupti_ns = (int64_t)cupti_now(),
                                        .system_ns = now_of(CLOCK_REALTIME) } });
}

/* Once. */
static void detach(void)
{
    recorder.notes_calls = false;
    watch_calls(false);
    for (size_t i = 0; i < N_KINDS; i++)
        cupti.ActivityDisable(kinds[i].kind);
    cupti.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    const bool is_pytorch = has_pytorch();
    prepare_to_write();
    pthread_mutex_lock(&recorder.spool);
    call_lines_write();
    noted_calls_write(true);
    nvtx_end_recording();
    const bool has_kernels = !lists(getenv("STREAMLAB_RECORD_WITHOUT"), "kernel");
    const char *why = has_kernels ? taken_over_why() : NULL;
    if (why) spool_add(&(spool_record){ .name = { SPOOL_FAILURE, 0, why } });
    add_end(is_pytorch);
    spool_write();
    pthread_mutex_unlock(&recorder.spool);
}

/* Until that time, or until one of the two flags of `recorder` has changed: its lock is held. */
static bool wait_until(int64_t ns)
{
    const struct timespec until = { ns / 1000000000, ns % 1000000000 };
    return pthread_cond_timedwait(&recorder.changed, &recorder.lock, &until) != ETIMEDOUT;
}

/* A handler of a signal may end the program, in the middle of a call of CUDA's, of CUPTI's or of
 * malloc, whose locks its thread then holds. So another thread does what there is to do, and the
 * program goes on if that one is held up. */
static void on_exit_of_program(void)
{
    if (!is_here()) return;
    if (!recorder.has_thread) {
        detach();
        return;
    }
    const int64_t until_ns = now_ns() + PATIENCE_NS;
    pthread_mutex_lock(&recorder.lock);
    recorder.is_ending = true;
    pthread_cond_broadcast(&recorder.changed);
    while (recorder.attached && wait_until(until_ns))
        continue;
    pthread_mutex_unlock(&recorder.lock);
}

/* ---- the thread ---- */

static bool is_ending_by(int64_t ns)
{
    pthread_mutex_lock(&recorder.lock);
    while (!recorder.is_ending && wait_until(ns))
        continue;
    const bool is_ending = recorder.is_ending;
    pthread_mutex_unlock(&recorder.lock);
    return is_ending;
}

/* Whether the program ends before that time. */
static bool ends_before(int64_t ns)
{
    for (int64_t next_ns; (next_ns = now_ns() + LOOK_NS) < ns;) {
        if (is_ending_by(next_ns)) return true;
        if (noted_calls_are_many()) write_without_buffer();
    }
    return is_ending_by(ns);
}

/* Whether all threads of the program have ended: main's by pthread_exit, after which a process goes
 * on until its last thread has ended, and is a zombie meanwhile. */
static bool is_left_alone(void)
{
    enum { THREADS = 2, FOLDERS = 2 }; /* main's and this one; . and .. */
    struct stat tasks;
    char text[256];
    if (stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink != THREADS + FOLDERS) return false;
    FILE *file = fopen("/proc/self/stat", "re");
    const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[n] = '\0';
    const char *state = strrchr(text, ')'); /* "1234 (a name) Z ..." */
    return state && state[1] == ' ' && state[2] == 'Z';
}

static void *deliver(void *ud)
{
    (void)ud;
    for (bool is_last = false; !is_last;) {
        int64_t next_ns = now_ns() + DELIVERY_NS;
        is_last = recorder.end_ns && recorder.end_ns <= next_ns;
        if (ends_before(is_last ? recorder.end_ns : next_ns) || is_left_alone()) is_last = true;
        if (!is_last) {
            cupti.ActivityFlushAll(0);
            write_without_buffer();
        }
    }
    detach();
    pthread_mutex_lock(&recorder.lock);
    recorder.attached = false;
    pthread_cond_broadcast(&recorder.changed);
    pthread_mutex_unlock(&recorder.lock);
    return NULL;
}

static void start_thread(void)
{
    pthread_t thread;
    pthread_condattr_t attributes;
    sigset_t all, before;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&recorder.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    recorder.has_thread = pthread_create(&thread, NULL, deliver, NULL) == 0;
    if (recorder.has_thread) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the beginning ---- */

static const char *reason_of(CUptiResult code)
{
    static const struct {
        CUptiResult code;
        const char *reason;
    } reasons[] = {
        { CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
          "another profiler (Nsight, PyTorch's profiler) uses CUPTI, which serves one at a time" },
        { CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
          "this user may not profile: the driver asks for NVreg_RestrictProfilingToAdminUsers=0, "
          "or in a container for the capability CAP_SYS_ADMIN" },
        { CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
          "this virtual GPU may not be profiled: its host has to allow that" },
        { CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
          "CUPTI does not know how to profile this virtual GPU" },
        { CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
          "a GPU in confidential computing is not profiled" },
        { CUPTI_ERROR_NOT_INITIALIZED, "CUPTI finds no driver that it can work with" },
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].code == code) return reasons[i].reason;
    return "CUPTI cannot be used";
}

static bool refuse(CUptiResult code, const char *call, char *why, size_t why_bytes)
{
    const char *name = NULL;
    if (cupti.GetResultString(code, &name) != CUPTI_SUCCESS || !name) name = "an unknown error";
    snprintf(why, why_bytes, "%s (%s: %s)", reason_of(code), call, name);
    return false;
}

/* CUPTI of CUDA 13.0 as first released crashes after calls of NVTX (NVIDIA's release notes). */
static bool version_works(uint32_t *version, char *why, size_t why_bytes)
{
    const uint32_t broken = 130000;
    const CUptiResult code = cupti.GetVersion(version);
    if (code != CUPTI_SUCCESS) return refuse(code, "cuptiGetVersion", why, why_bytes);
    if (*version != broken) return true;
    snprintf(why, why_bytes,
             "CUPTI's release %u crashes some programs; update 1 of CUDA 13.0 "
             "corrects it",
             *version);
    return false;
}

static CUptiResult enable_kinds(void)
{
    const char *without = getenv("STREAMLAB_RECORD_WITHOUT");
    for (size_t i = 0; i < N_KINDS; i++) {
        if (lists(without, kinds[i].name)) continue;
        const CUptiResult code = cupti.ActivityEnable(kinds[i].kind);
        if (code != CUPTI_SUCCESS && kinds[i].needed) return code;
    }
    return CUPTI_SUCCESS;
}

static void say_buffers_are_clear(void)
{
    uint8_t yes = 1;
    size_t bytes = sizeof yes;
    if (cupti.ActivitySetAttribute)
        cupti.ActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &yes);
}

/* No buffer comes back meanwhile: the program gives its GPU work later. */
static bool attach(char *why, size_t why_bytes)
{
    const char *call = "cuptiSubscribe";
    CUptiResult code = cupti.Subscribe(&recorder.subscriber, on_call, NULL);
    if (code != CUPTI_SUCCESS) return refuse(code, call, why, why_bytes);
    record_buffers_make();
    say_buffers_are_clear();
    code = cupti.ActivityRegisterCallbacks(on_requested, on_completed);
    if (code == CUPTI_SUCCESS) code = enable_kinds(), call = "cuptiActivityEnable";
    if (code != CUPTI_SUCCESS) {
        for (size_t i = 0; i < N_KINDS; i++)
            cupti.ActivityDisable(kinds[i].kind);
        cupti.Unsubscribe(recorder.subscriber);
        return refuse(code, call, why, why_bytes);
    }
    return true;
}

static int ask_driver(void)
{
    int version = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = driver ? dlsym(driver, "cuDriverGetVersion") : NULL;
    CUresult(CUDAAPI * ask)(int *version) = NULL;
    memcpy(&ask, &symbol, sizeof ask);
    if (ask && ask(&version) != CUDA_SUCCESS) version = 0;
    return version;
}

static void add_start(int driver, uint32_t version)
{
    const uint64_t cupti_ns = cupti.GetTimestamp ? cupti_now() : 0;
    spool_add(&(spool_record){ .start = { .kind = SPOOL_START,
                                          .version = SPOOL_VERSION,
                                          .cupti_version = version,
                                          .driver_version = (uint32_t)driver,
                                          .pid = (uint32_t)getpid(),
                                          .parent = (uint32_t)getppid(),
                                          .cupti_ns = (int64_t)cupti_ns,
                                          .system_ns = now_of(CLOCK_REALTIME),
                                          .program = program_invocation_short_name } });
}

/* Buffers may come back from here on. */
static void begin_calls(void)
{
    const char *without = getenv("STREAMLAB_RECORD_WITHOUT");
    char why[200];
    call_orders_begin(!lists(without, "event"), !lists(without, "sync"));
    noted_calls_begin(call_lines_begin(why, sizeof why));
    recorder.notes_calls = true;
    watch_calls(true);
    if (!why[0]) return;
    pthread_mutex_lock(&recorder.spool);
    spool_add(&(spool_record){ .name = { SPOOL_NO_LINES, 0, why } });
    pthread_mutex_unlock(&recorder.spool);
}

/* The spool has its first records before CUPTI can add others. */
static bool begin(void)
{
    uint32_t version = 0;
    char why[300] = "";
    const int driver = ask_driver();
    bool fine = cupti_find(driver, why, sizeof why) && version_works(&version, why, sizeof why);
    add_start(driver, version);
    spool_write();
    fine = fine && attach(why, sizeof why);
    if (fine) {
        nvtx_begin_recording(write_ranges);
        begin_calls();
        return true;
    }
    spool_add(&(spool_record){ .name = { SPOOL_FAILURE, 0, why } });
    spool_write();
    return false;
}

/* The driver calls this once, inside of the program's first call. It goes on whatever happens. A
 * program that has more rights than who started it writes no file that they name, and loads no
 * library. */
int InitializeInjection(void)
{
    const char *folder = secure_getenv("STREAMLAB_RECORD"), *limit = getenv("STREAMLAB_RECORD_FOR");
    if (recorder.pid || !folder || !spool_open(folder)) return 1;
    recorder.end_ns = limit ? now_ns() + strtoll(limit, NULL, 10) : 0;
    recorder.pid = getpid();
    recorder.attached = begin();
    if (recorder.attached) {
        pthread_atfork(NULL, NULL, forget_in_child);
        atexit(on_exit_of_program);
        start_thread();
    }
    return 1;
}
