/* threads.c - threads of the host: starting and joining them, who has the turn, and what is current
 * in each.
 *
 * One thread of a machine has the turn: it alone uses the core, and what lies over it, so that
 * nothing there needs a lock. A simulator says who is next (sl_backend.thread_turn). On a real GPU
 * the turn is a lock that a thread gives back while it waits and while it is in a call of the
 * driver (turn.h).
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "comm/meeting.h"
#include "device.h"
#include "graph/capture.h"
#include "observers.h"
#include "op.h"
#include "record.h"
#include "turn.h"

enum { MOST_DEVICES = 64 }; /* of a machine */

/* What is current in a thread on a device, while another one runs. */
struct sl__seat {
    sl_stream *current;    /* counted as sl__device_core.current; NULL: the NULL stream */
    sl_stream *per_thread; /* the device's; NULL: not used so far */
    uint32_t where;
};

struct sl__os {
    pthread_t thread;
    pthread_cond_t turn; /* it is this thread's */
    sl_threads *threads; /* that it is one of */
    sl_thread *before;   /* in its list; of the first: the last one */
    void (*fn)(void *ud);
    void *ud;
};

/* Of all machines: it is held for moments only. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Which one calls; NULL: the first. */
static _Thread_local sl_thread *own;

/* ---- the turn ---------------------------------------------------------------- */

static void exchange_seats(sl_thread *from, const sl_thread *to, sl_device *devices)
{
    for (sl_device *device = devices; device; device = device->core->beside) {
        sl__device_core *core = device->core;
        const int i = device->info.index;
        from->seat[i] = (struct sl__seat){ core->current, core->per_thread, core->where };
        core->current = to->seat[i].current ? to->seat[i].current : core->legacy;
        core->per_thread = to->seat[i].per_thread;
        core->where = to->seat[i].where;
        core->thread = to->number;
    }
}

/* What is current in the running thread becomes what is current in `next`, which then runs. */
static void exchange(sl_threads *threads, sl_thread *next)
{
    const sl_thread *started = next->number > 0 ? next : threads->running;
    exchange_seats(threads->running, next, started->device->core->numbers->devices);
    sl__tell(thread, started->device, next->number, SL__THREAD_RUNS);
    threads->running = next;
}

/* For a backend that says who is next. */
static void give_turn(sl_threads *threads, sl_thread *next)
{
    pthread_mutex_lock(&mutex);
    exchange(threads, next);
    pthread_cond_signal(&next->os->turn);
    pthread_mutex_unlock(&mutex);
}

static void await_turn(const sl_threads *threads, sl_thread *thread)
{
    pthread_mutex_lock(&mutex);
    while (threads->running != thread)
        pthread_cond_wait(&thread->os->turn, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void pass(sl_threads *threads, sl_thread *next)
{
    sl_thread *thread = threads->running;
    give_turn(threads, next);
    await_turn(threads, thread);
}

static bool takes_turns(const sl_device *device) { return device->backend->thread_turn != NULL; }

static sl_thread *self(const sl_threads *threads) { return own ? own : threads->first; }

static void resume(sl_threads *threads)
{
    if (threads->running != self(threads)) exchange(threads, self(threads));
}

static void enter(sl_threads *threads)
{
    sl__turn_take(threads, self(threads));
    resume(threads);
}

static void offer(sl_threads *threads)
{
    sl__turn_offer(threads, self(threads));
    resume(threads);
}

static void before_call(sl_device *device)
{
    if (takes_turns(device))
        device->backend->thread_turn(device);
    else
        offer(device->threads);
}

/* ---- numbers of operations ----------------------------------------------------- */

static void renumber(sl_op *const *ops, size_t n)
{
    sl__numbers *numbers = ops[0]->stream->device->core->numbers;
    if (numbers->last_seq == sl__op_last_number(ops[n - 1])) return;
    for (size_t i = 0; i < n; i++) {
        sl_op *op = ops[i];
        op->seq = numbers->last_seq + 1;
        numbers->last_seq = sl__op_last_number(op);
        if (sl_work_row_of(op->work.kind)->point != SL_POINT_WAIT || !op->wait_target) continue;
        op->wait_target = op->event->record_seq;
        op->wait_target_stream = op->event->record_stream;
    }
}

/* ---- making and freeing -------------------------------------------------------- */

static void free_thread(sl_thread *thread)
{
    if (!thread) return;
    if (thread->os) pthread_cond_destroy(&thread->os->turn);
    free(thread->os);
    free(thread->seat);
    free(thread);
}

static sl_thread *new_thread(const sl_backend *backend)
{
    sl_thread *thread = calloc(1, backend->thread_bytes);
    if (!thread) return NULL;
    thread->seat = calloc(MOST_DEVICES, sizeof *thread->seat);
    thread->os = calloc(1, sizeof *thread->os);
    if (thread->os) pthread_cond_init(&thread->os->turn, NULL);
    if (thread->seat && thread->os) return thread;
    free_thread(thread);
    return NULL;
}

static void free_threads(sl_threads *threads)
{
    sl__turn_free(threads->turn);
    free_thread(threads->first);
    free(threads);
}

/* The thread that calls is number 0. */
static sl_threads *make_threads(sl_device *device)
{
    sl__numbers *numbers = device->core->numbers;
    sl_threads *threads = numbers->threads ? numbers->threads : calloc(1, sizeof *threads);
    if (numbers->threads || !threads) return threads;
    threads->first = threads->running = new_thread(device->backend);
    if (threads->first && !takes_turns(device)) threads->turn = sl__turn_new(threads->first);
    if (!threads->first || (!threads->turn && !takes_turns(device))) {
        free_threads(threads);
        return NULL;
    }
    threads->first->os->before = threads->first;
    threads->pass = pass;
    threads->leave = sl__turn_give;
    threads->enter = enter;
    threads->renumber = renumber;
    threads->before_call = before_call;
    threads->free = free_threads;
    return numbers->threads = threads;
}

/* ---- a thread's life ------------------------------------------------------------ */

static sl_threads *threads_of(const sl_thread *thread) { return thread->os->threads; }

static void leave_streams(const sl_thread *thread)
{
    for (sl_device *device = thread->device->core->numbers->devices; device;
         device = device->core->beside) {
        sl__captures_leave_thread(device);
        (void)sl_device_set_current_stream(device, device->core->legacy, NULL);
    }
}

static void *run(void *ud)
{
    sl_thread *thread = ud;
    sl_threads *threads = threads_of(thread);
    own = thread;
    if (takes_turns(thread->device))
        await_turn(threads, thread);
    else
        enter(threads);
    thread->os->fn(thread->os->ud);
    leave_streams(thread);
    sl__group_free();
    thread->ended = true;
    if (takes_turns(thread->device))
        give_turn(threads, thread->device->backend->thread_end(thread));
    else
        threads->leave(threads);
    return NULL;
}

/* Signals are for the thread that the program began with. */
static int start(sl_thread *thread)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread->os->thread, NULL, run, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void append(sl_threads *threads, sl_thread *thread)
{
    struct sl__os *first = threads->first->os;
    thread->os->before = first->before;
    thread->os->before->next = thread;
    first->before = thread;
    thread->number = ++threads->last_number;
}

static void unlink_thread(sl_threads *threads, const sl_thread *thread)
{
    sl_thread *behind = thread->next ? thread->next : threads->first;
    thread->os->before->next = thread->next;
    behind->os->before = thread->os->before;
}

static sl_status check_start(sl_device *device, sl_error *err)
{
    if (!device->backend->thread_bytes)
        return sl_fail(err, SL_EUNSUPPORTED, "%s has no threads", device->info.name);
    return SL_OK;
}

static sl_status start_thread(sl_device *device, sl_threads *threads, sl_thread *thread,
                              sl_error *err)
{
    thread->device = device;
    thread->os->threads = threads;
    for (sl_device *of = device->core->numbers->devices; of; of = of->core->beside)
        of->threads = threads;
    append(threads, thread);
    threads->in_order = sl__observers_need_order();
    int error = start(thread);
    if (!error) { /* it waits for its turn */
        if (takes_turns(device)) device->backend->thread_open(thread);
        sl_device_retain(device);
        sl__tell(thread, device, thread->number, SL__THREAD_STARTED);
        return SL_OK;
    }
    unlink_thread(threads, thread);
    /* The playground's C library says so (repl/playground/wasm/missing.c). */
    if (error == ENOSYS) return sl_fail(err, SL_EUNSUPPORTED, "a page has no threads");
    return sl_fail(err, SL_ESTATE, "the system starts no thread: %s",
                   error == EAGAIN ? "there is no memory for one, or there are too many"
                                   : strerror(error));
}

sl_status sl_thread_start(sl_device *device, void (*fn)(void *ud), void *ud, sl_thread **out,
                          sl_error *err)
{
    sl_status status = sl__device_enter(device, "thread", err);
    if (status == SL_OK) status = check_start(device, err);
    if (status != SL_OK) return status;
    sl_threads *threads = make_threads(device);
    sl_thread *thread = threads ? new_thread(device->backend) : NULL;
    if (!thread) return sl__no_memory(err, "a thread");
    thread->os->fn = fn;
    thread->os->ud = ud;
    status = start_thread(device, threads, thread, err);
    if (status != SL_OK)
        free_thread(thread);
    else
        *out = thread;
    return sl__device_leave(device, status, err);
}

sl_status sl_thread_query(sl_thread *thread, bool *ended, sl_error *err)
{
    sl_device *device = thread->device;
    sl_status status = sl__device_enter(device, "done", err);
    if (status != SL_OK) return status;
    *ended = thread->ended;
    if (takes_turns(device)) status = device->backend->thread_query(thread, ended, err);
    if (status == SL_OK && *ended) sl__tell(thread, device, thread->number, SL__THREAD_ENDED);
    return status;
}

/* After an interrupt as well: the thread is interrupted, too. */
static void await_end(const sl_thread *thread)
{
    sl_threads *threads = threads_of(thread);
    threads->leave(threads);
    pthread_join(thread->os->thread, NULL);
    threads->enter(threads);
}

/* Recorded as a call of the host. */
static sl_status wait_for(sl_thread *thread, sl_error *err)
{
    sl_device *device = thread->device;
    sl_call call;
    sl_status status = SL_OK;
    sl__call_begin(device, &call, SL_CALL_PLAIN);
    call.name = sl__strings_intern(&device->core->strings, "thread:join");
    if (takes_turns(device))
        status = device->backend->thread_join(thread, err);
    else
        await_end(thread);
    sl__call_end(device, &call, NULL, status);
    return status;
}

sl_status sl_thread_join(sl_thread *thread, sl_error *err)
{
    sl_device *device = thread->device;
    sl_status status = sl__device_enter_lost(device, "join", err);
    if (status == SL_OK) status = wait_for(thread, err);
    if (status != SL_OK) return sl__device_leave(device, status, err);
    if (takes_turns(device))
        pthread_join(thread->os->thread, NULL); /* it has given the turn away */
    sl__tell(thread, device, thread->number, SL__THREAD_JOINED);
    unlink_thread(threads_of(thread), thread);
    free_thread(thread);
    sl_device_release(device);
    return SL_OK;
}

void sl_thread_offer(sl_device *device)
{
    if (device->threads && !takes_turns(device)) offer(device->threads);
}

bool sl_thread_has_ended(const sl_thread *thread) { return thread->ended; }

uint32_t sl_thread_number(const sl_thread *thread) { return thread->number; }
