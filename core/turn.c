/* turn.c - see turn.h. */
#include "turn.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "threads.h"

enum {
    LOOKS = 4000,      /* before a thread sleeps: 10 to 20 us */
    CALLS = 16,        /* between two offers */
    OFFER_LOOKS = 1000 /* until somebody has taken it */
};

struct sl__turn {
    _Atomic(sl_thread *) owner; /* NULL: it is free */
    atomic_uint waiting;        /* threads that want it */
    atomic_uint taken;          /* how often */
    unsigned calls;             /* of the owner, since its last offer */
    pthread_mutex_t mutex;
    pthread_cond_t is_free;
};

sl__turn *sl__turn_new(sl_thread *thread)
{
    sl__turn *turn = calloc(1, sizeof *turn);

    if (!turn) return NULL;
    pthread_mutex_init(&turn->mutex, NULL);
    pthread_cond_init(&turn->is_free, NULL);
    atomic_init(&turn->owner, thread);
    return turn;
}

void sl__turn_free(sl__turn *turn)
{
    if (!turn) return;
    pthread_cond_destroy(&turn->is_free);
    pthread_mutex_destroy(&turn->mutex);
    free(turn);
}

static bool try_to_take(sl__turn *turn, sl_thread *thread)
{
    sl_thread *nobody = NULL;

    return !atomic_load(&turn->owner)
           && atomic_compare_exchange_strong(&turn->owner, &nobody, thread);
}

/* Who gives it back after this thread is counted as waiting wakes it. */
static void sleep_until_taken(sl__turn *turn, sl_thread *thread)
{
    pthread_mutex_lock(&turn->mutex);
    while (!try_to_take(turn, thread))
        pthread_cond_wait(&turn->is_free, &turn->mutex);
    pthread_mutex_unlock(&turn->mutex);
}

void sl__turn_take(sl_threads *threads, sl_thread *thread)
{
    sl__turn *turn = threads->turn;
    bool taken = try_to_take(turn, thread);

    if (!taken) {
        atomic_fetch_add(&turn->waiting, 1);
        for (int i = 0; i < LOOKS && !taken; i++)
            taken = try_to_take(turn, thread);
        if (!taken) sleep_until_taken(turn, thread);
        atomic_fetch_sub(&turn->waiting, 1);
    }
    atomic_fetch_add(&turn->taken, 1);
    if (threads->running != thread) sl__threads_exchange(threads, thread);
}

void sl__turn_give(sl_threads *threads)
{
    sl__turn *turn = threads->turn;

    atomic_store(&turn->owner, NULL);
    if (atomic_load(&turn->waiting) == 0) return;
    pthread_mutex_lock(&turn->mutex);
    pthread_cond_signal(&turn->is_free);
    pthread_mutex_unlock(&turn->mutex);
}

void sl__turn_offer(sl_threads *threads, sl_thread *thread)
{
    sl__turn *turn = threads->turn;
    const unsigned taken = atomic_load(&turn->taken);

    if (++turn->calls % CALLS != 0 || atomic_load(&turn->waiting) == 0) return;
    sl__turn_give(threads);
    for (int i = 0; i < OFFER_LOOKS && atomic_load(&turn->taken) == taken; i++)
        sched_yield();
    sl__turn_take(threads, thread);
}
