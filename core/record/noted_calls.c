/* noted_calls.c - the calls of the functions that are recorded, from CUPTI's callbacks at their
 * beginning and end to the spool.
 *
 * Each thread of the program adds its calls to blocks of its own without a lock; who writes the
 * spool reads behind it, and frees the blocks that it has read. A call that is made within another
 * one, as the driver's within the run time's, is not noted: it has the number of the outer one.
 */
#define _GNU_SOURCE /* gettid, pthread_getname_np */

#include "recorder.h"

#include <pthread.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spool_write.h"

enum {
    BLOCK_CALLS = 170,  /* 8 KiB */
    BLOCKS_MOST = 4096, /* 32 MiB; 700,000 calls, more than a thread makes in 0.2 s */
    BLOCKS_MANY = BLOCKS_MOST / 4,
    NAME_BYTES = 16 /* of a thread, as Linux has it */
};

typedef struct block {
    struct block *_Atomic next;
    atomic_uint n;
    noted_call calls[BLOCK_CALLS];
} block;

typedef struct thread {
    struct thread *next;
    uint32_t number;
    atomic_bool has_ended;
    block *filled; /* by the thread itself */
    block *read;   /* by who writes the spool, as the next two */
    uint32_t n_read, line;
    pid_t tid;
    char end_name[NAME_BYTES]; /* by the thread itself, before it has ended */
    char name[NAME_BYTES];     /* by who writes the spool, */
    char written[NAME_BYTES];  /* where this one is */
} thread;

static struct {
    bool has_lines, has_key;
    uint64_t begin_ns; /* of the recording */
    char
        main_name[NAME_BYTES]; /* of the first thread, which others have until they get their own */
    pthread_key_t key;         /* of a thread that has one: its end is noticed */
    pthread_mutex_t lock;      /* guards which threads there are */
    thread *threads;
    atomic_uint n_blocks, n_captures; /* that are going on */
    atomic_ullong dropped;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Of the calling thread: the call that it makes. */
static _Thread_local struct {
    thread *thread;
    noted_call call;
    uint32_t correlation; /* its number; 0: none */
    uint32_t buffers;
} here;

/* ---- names ---- */

/* What a thread is called now. One that has ended meanwhile keeps its name. */
static void ask_name(pid_t tid, char to[NAME_BYTES])
{
    char path[64], name[NAME_BYTES] = "";
    snprintf(path, sizeof path, "/proc/self/task/%ld/comm", (long)tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, name, NAME_BYTES - 1) : -1;
    if (fd >= 0) close(fd);
    if (n <= 0) return;
    name[strcspn(name, "\n")] = '\0';
    memcpy(to, name, NAME_BYTES);
}

/* ---- threads and blocks ---- */

/* Functions that are called as a thread ends may make calls after this. */
static void end_thread(void *ud)
{
    thread *ended = ud;
    here.thread = NULL;
    pthread_getname_np(pthread_self(), ended->end_name, NAME_BYTES);
    atomic_store(&ended->has_ended, true);
}

void noted_calls_begin(bool has_lines)
{
    all.has_lines = has_lines;
    all.begin_ns = cupti_now();
    ask_name(getpid(), all.main_name);
    all.has_key = pthread_key_create(&all.key, end_thread) == 0; /* a program may have them all */
}

/* NULL: out of memory, or there are too many. */
static block *make_block(void)
{
    if (atomic_fetch_add(&all.n_blocks, 1) < BLOCKS_MOST) {
        block *made = malloc(sizeof *made);
        if (made) {
            atomic_init(&made->next, NULL);
            atomic_init(&made->n, 0);
            return made;
        }
    }
    all.n_blocks--;
    return NULL;
}

static void free_block(block *read)
{
    free(read);
    all.n_blocks--;
}

/* NULL: out of memory. */
static thread *make_thread(void)
{
    thread *made = calloc(1, sizeof *made);
    block *first = made ? make_block() : NULL;
    if (!first) {
        free(made);
        return NULL;
    }
    made->number = (uint32_t)(uintptr_t)pthread_self();
    made->filled = made->read = first;
    made->line = SPOOL_NONE;
    made->tid = gettid();
    pthread_getname_np(pthread_self(), made->name, NAME_BYTES);
    if (all.has_key) pthread_setspecific(all.key, made);
    pthread_mutex_lock(&all.lock);
    made->next = all.threads;
    all.threads = made;
    pthread_mutex_unlock(&all.lock);
    return made;
}

/* A block of the thread that has room; NULL: there is none. */
static block *room(thread *of)
{
    if (of->filled->n < BLOCK_CALLS) return of->filled;
    block *made = make_block();
    if (!made) return NULL;
    atomic_store_explicit(&of->filled->next, made, memory_order_release);
    return of->filled = made;
}

static void add(const noted_call *call)
{
    if (!here.thread) here.thread = make_thread();
    block *to = here.thread ? room(here.thread) : NULL;
    if (!to) {
        all.dropped++;
        return;
    }
    const uint32_t n = atomic_load_explicit(&to->n, memory_order_relaxed);
    to->calls[n] = *call;
    atomic_store_explicit(&to->n, n + 1, memory_order_release);
}

/* ---- calls ---- */

/* What is launched is the first parameter, behind a configuration where the function takes one. */
static const void *kernel_of(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                             const CUpti_CallbackData *call)
{
    const void *const *parameters = call->functionParams;
    if (domain != CUPTI_CB_DOMAIN_RUNTIME_API || !parameters) return NULL;
    switch ((int)cbid) {
    case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000:
    case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000:
    case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000:
    case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000: return parameters[0];
    case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060:
    case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060: return parameters[1];
    }
    return NULL;
}

static uint32_t line_of(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                        const CUpti_CallbackData *call)
{
    return call_line(recorded_call_traits(domain, cbid) & CALL_LAUNCHES,
                     kernel_of(domain, cbid, call));
}

void noted_call_begin(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                      const CUpti_CallbackData *call)
{
    *call->correlationData = 0;
    if (here.correlation == call->correlationId) return;
    here.correlation = call->correlationId;
    here.call.domain = domain & 3;
    here.call.cbid = cbid & 0xfff;
    here.call.correlation = call->correlationId;
    here.call.line = all.has_lines ? line_of(domain, cbid, call) : SPOOL_NONE;
    call_order_begin(&here.call, call);
    here.buffers = taken_over_buffers();
    *call->correlationData = cupti_now();
}

/* One that began before the recording is not counted. */
static void end_capture(void)
{
    unsigned n = all.n_captures;
    while (n > 0 && !atomic_compare_exchange_weak(&all.n_captures, &n, n - 1))
        continue;
}

/* A capture that gives no graph is over all the same, but for calls that may not end it. */
static bool ends_capture(int result)
{
    return result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
           || result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

static void note_effect(uint8_t traits, int result)
{
    if (traits == 0) return;
    if (traits & CALL_ENDS_CAPTURE && ends_capture(result)) end_capture();
    if (result != CUDA_SUCCESS) return;
    if (traits & CALL_LAUNCHES && all.n_captures == 0) taken_over_note_launch(here.buffers);
    if (traits & CALL_WAITS) taken_over_note_wait();
    if (traits & CALL_BEGINS_CAPTURE) all.n_captures++;
}

/* Of a call in which the recording began only the end is seen. */
void noted_call_end(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                    const CUpti_CallbackData *call)
{
    const uint64_t start_ns = *call->correlationData;
    if (start_ns == 0) return;
    here.correlation = 0;
    const uint64_t end_ns = cupti_now();
    if (start_ns < all.begin_ns || start_ns > end_ns) return;
    noted_call made = here.call;
    made.start_ns = start_ns;
    made.end_ns = end_ns;
    made.result = call->functionReturnValue ? *(const unsigned *)call->functionReturnValue & 0x3fff
                                            : CUDA_SUCCESS;
    if (!call_order_end(&made, call, all.n_captures > 0)) all.dropped++;
    add(&made);
    note_effect(recorded_call_traits(domain, cbid), (int)made.result);
}

/* ---- the spool ---- */

bool noted_calls_are_many(void) { return all.n_blocks > BLOCKS_MANY; }

uint64_t noted_calls_dropped(void) { return all.dropped; }

static void write_call(thread *of, const noted_call *call)
{
    if (call->line != of->line)
        spool_add(&(spool_record){ .at = { .kind = SPOOL_AT,
                                           .line = call->line,
                                           .thread = of->number,
                                           .correlation = call->correlation } });
    of->line = call->line;
    spool_add(&(spool_record){ .call = { .kind = SPOOL_CALL,
                                         .name = activity_call_name(call->domain, call->cbid),
                                         .thread = of->number,
                                         .result = call->result,
                                         .correlation = call->correlation,
                                         .start_ns = call->start_ns,
                                         .end_ns = call->end_ns } });
    call_order_write(call);
}

static void write_name(thread *of)
{
    const char *before = of->written[0] ? of->written : all.main_name;
    if (!of->name[0] || strcmp(of->name, before) == 0) return;
    memcpy(of->written, of->name, NAME_BYTES);
    spool_add(&(spool_record){
        .thread = { .kind = SPOOL_THREAD, .thread = of->number, .name = of->written } });
}

/* The last block stays, since the thread may add a next one to it. */
static void write_thread(thread *of)
{
    for (block *next; of->read; of->read = next) {
        const uint32_t n = atomic_load_explicit(&of->read->n, memory_order_acquire);
        while (of->n_read < n)
            write_call(of, &of->read->calls[of->n_read++]);
        next = atomic_load_explicit(&of->read->next, memory_order_acquire);
        if (!next || n < BLOCK_CALLS) return;
        free_block(of->read);
        of->n_read = 0;
    }
}

/* Others may have been added before it. */
static void remove_thread(thread *ended)
{
    pthread_mutex_lock(&all.lock);
    thread **link = &all.threads;
    while (*link != ended)
        link = &(*link)->next;
    *link = ended->next;
    pthread_mutex_unlock(&all.lock);
    free_block(ended->read);
    free(ended);
}

void noted_calls_write(bool is_last)
{
    pthread_mutex_lock(&all.lock);
    thread *at = all.threads;
    pthread_mutex_unlock(&all.lock);
    for (thread *next; at; at = next) {
        const bool has_ended = at->has_ended;
        next = at->next;
        write_thread(at);
        if (has_ended)
            memcpy(at->name, at->end_name, NAME_BYTES);
        else if (is_last)
            ask_name(at->tid, at->name);
        write_name(at);
        if (has_ended) remove_thread(at);
    }
}
