/* race_threads.c - threads of the host.
 *
 * While there is one, it has slot 0 and comes before all that it enqueues. While there are several
 * each has a slot of its own, as a stream has: the streams that it uses come after what it has
 * done, and whoever waits for these comes after it as well. A thread begins after what its starter
 * has done, and who joins it comes after all that it has done. */
#include <stdlib.h>

#include "../device.h"
#include "state.h"

struct sl__race_thread {
    sl__entry entry; /* by its number */
    sl__race_thread *next, **link;
    uint32_t number;
    sl__host host; /* unless it runs: then the checker has it */
};

static sl__race_thread *find(const sl__checker *checker, uint32_t number)
{
    return (sl__race_thread *)sl__table_find(&checker->by_number, number);
}

bool sl__thread_has_seen(const sl__checker *checker, uint32_t slot, uint64_t host_epoch)
{
    return slot == checker->host.slot || slot == SL__HOST_SLOT
           || sl__vector_at(checker->host.seen.sure, slot) >= host_epoch;
}

static void free_slot(sl__checker *checker, uint32_t slot)
{
    checker->slots[slot].epoch = checker->host_epoch;
    sl__slot_close(checker, slot);
}

static sl__race_thread *add(sl__checker *checker, uint32_t number)
{
    sl__race_thread *thread = calloc(1, sizeof *thread);
    bool added = thread && sl__table_add(&checker->by_number, &thread->entry, number);
    uint32_t slot = added ? sl__slot_take(checker) : 0;
    if (!slot) {
        if (added) sl__table_remove(&checker->by_number, &thread->entry);
        free(thread);
        return NULL;
    }
    sl__seen_release(&checker->slots[slot].seen);
    checker->slots[slot].device = NULL;
    if (checker->host_epoch <= checker->slots[slot].epoch) /* a stream may have had the slot */
        checker->host_epoch = checker->slots[slot].epoch + 1;
    checker->slots[slot].stream_id = thread->number = number;
    thread->host.slot = slot;
    SL__PUSH(checker->threads, thread, next, link);
    return thread;
}

/* Its memory. */
static void remove_thread(sl__checker *checker, sl__race_thread *thread)
{
    sl__table_remove(&checker->by_number, &thread->entry);
    SL__UNLINK(thread, next, link);
    free(thread);
}

/* What comes later is not what others have seen so far. */
static bool join(sl__checker *checker, sl__host *host, const sl__host *other)
{
    const sl__point point = { other->slot, checker->host_epoch, checker->host_epoch, other->seen };
    bool raised = false, joined = sl__seen_join(&host->seen, &point, true, &raised);
    host->version = ++checker->host_versions;
    checker->host_epoch++;
    return joined;
}

static bool start(sl__checker *checker, uint32_t number)
{
    sl__race_thread *thread, *first = NULL;
    if (!checker->threads) {
        first = add(checker, checker->running_thread);
        if (!first) return false;
        checker->host.slot = first->host.slot;
    }
    thread = add(checker, number);
    return thread && join(checker, &thread->host, &checker->host);
}

static void run(sl__checker *checker, uint32_t number)
{
    sl__race_thread *now = find(checker, checker->running_thread), *next = find(checker, number);
    if (!now || !next || now == next) return;
    now->host = checker->host;
    checker->host = next->host;
    checker->running_thread = number;
}

/* The only thread left is the host: its slot's accesses come before all that it does from now
 * on. */
static bool be_alone(sl__checker *checker)
{
    sl__race_thread *thread = checker->threads;
    const sl__host self = { .slot = checker->host.slot };
    if (!join(checker, &checker->host, &self)) return false;
    free_slot(checker, checker->host.slot);
    checker->host.slot = SL__HOST_SLOT;
    remove_thread(checker, thread);
    return true;
}

static void drop(sl__checker *checker, sl__race_thread *thread)
{
    sl__seen_release(&thread->host.seen);
    sl__seen_release(&thread->host.before);
    free_slot(checker, thread->host.slot);
    remove_thread(checker, thread);
}

static bool end(sl__checker *checker, uint32_t number, bool is_joined)
{
    sl__race_thread *thread = find(checker, number);
    if (!thread || number == checker->running_thread) return true;
    bool joined = join(checker, &checker->host, &thread->host);
    if (is_joined) drop(checker, thread);
    return joined && (!is_joined || checker->threads->next || be_alone(checker));
}

void sl__race_thread_news(sl_device *device, uint32_t number, sl__thread_news news)
{
    bool done = true;
    (void)device;
    switch (news) {
    case SL__THREAD_STARTED: done = start(sl__race, number); break;
    case SL__THREAD_RUNS: run(sl__race, number); break;
    case SL__THREAD_ENDED: done = end(sl__race, number, false); break;
    case SL__THREAD_JOINED: done = end(sl__race, number, true); break;
    }
    if (!done) sl__race->starved = true;
}

void sl__threads_clear(sl__checker *checker)
{
    while (checker->threads) {
        sl__race_thread *thread = checker->threads;
        if (thread->number != checker->running_thread) {
            sl__seen_release(&thread->host.seen);
            sl__seen_release(&thread->host.before);
        }
        remove_thread(checker, thread);
    }
    sl__table_free(&checker->by_number);
    checker->host.slot = SL__HOST_SLOT;
    checker->host.idle = (sl__idle_wait){ .why = SL_IDLE_NONE };
}
