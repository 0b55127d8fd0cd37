/* turn.c - see turn.h. */
#include "turn.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAUSES = 1000,      /* before a thread sleeps: some 40 us where one takes 140 cycles */
    CALLS = 16,         /* of a thread, until it offers the turn */
    OFFER_LOOKS = 1000, /* until somebody has taken it */
    LINE = 64           /* of the cache */
};

/* What waiting threads read again and again, what they count, and what the owner alone writes are
 * in lines of the cache of their own. */
struct sl__turn {
    _Alignas(LINE) _Atomic(sl_thread *) owner; /* NULL: it is free */
    _Alignas(LINE) atomic_uint waiting;        /* threads that want it */
    atomic_uint sleeping;                      /* of these */
    pthread_mutex_t mutex;
    pthread_cond_t is_free;
    _Alignas(LINE) atomic_uint taken; /* how often */
    unsigned calls;                   /* of the owner, since it had the turn */
};

sl__turn *sl__turn_new(sl_thread *thread)
{
    sl__turn *turn = aligned_alloc(LINE, sizeof *turn);
    if (!turn) return NULL;
    memset(turn, 0, sizeof *turn);
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

/* Leaves the processor's memory to others for a moment. */
static void pause_briefly(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb");
#endif
}

/* Looks the more seldom the more threads do, since each look takes the line of the cache away from
 * who is to write to it. */
static bool look_for_it(sl__turn *turn, sl_thread *thread)
{
    for (unsigned pauses = 0; pauses < PAUSES;) {
        for (unsigned n = atomic_load(&turn->waiting); n > 0; n--, pauses++)
            pause_briefly();
        if (try_to_take(turn, thread)) return true;
    }
    return false;
}

/* Who gives it back after this thread is counted as sleeping wakes it. */
static void sleep_until_taken(sl__turn *turn, sl_thread *thread)
{
    pthread_mutex_lock(&turn->mutex);
    atomic_fetch_add(&turn->sleeping, 1);
    while (!try_to_take(turn, thread))
        pthread_cond_wait(&turn->is_free, &turn->mutex);
    atomic_fetch_sub(&turn->sleeping, 1);
    pthread_mutex_unlock(&turn->mutex);
}

void sl__turn_take(sl_threads *threads, sl_thread *thread)
{
    sl__turn *turn = threads->turn;
    if (!try_to_take(turn, thread)) {
        atomic_fetch_add(&turn->waiting, 1);
        if (!look_for_it(turn, thread)) sleep_until_taken(turn, thread);
        atomic_fetch_sub(&turn->waiting, 1);
    }
    atomic_store(&turn->taken, atomic_load(&turn->taken) + 1);
}

void sl__turn_give(sl_threads *threads)
{
    sl__turn *turn = threads->turn;
    turn->calls = 0;
    atomic_store(&turn->owner, NULL);
    if (atomic_load(&turn->sleeping) == 0) return;
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
