/* mark_ranges.c - ranges of NVTX from their start to their end, when they wait for being written.
 *
 * The lock of the names guards all of this. It is never held while something is written: what has
 * ended is taken out under it, and written without. */
#include "marks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "recorder.h"
#include "spool_write.h"

enum {
    LEVELS_MOST = 4096,   /* of a thread; what is pushed above is only counted */
    STARTED_MOST = 65536, /* by nvtxRangeStart, and not ended; more are not recorded */
    ENDED_MOST = 32768    /* ranges that are not written yet: who ends one more writes them */
};

typedef struct level {
    const nvtx_domain *domain;
    nvtx_name *name;
    uint64_t start_ns; /* 0: before the recording */
} level;

typedef struct thread {
    struct thread *next, **link; /* of those that have had ranges */
    uint32_t number;
    level *at;
    size_t n, cap, n_above;
} thread;

typedef struct started {
    sl__entry entry; /* by number */
    nvtx_name *name;
    uint64_t start_ns;
    uint32_t thread;
} started;

typedef struct ended {
    nvtx_name *name;
    uint64_t start_ns, end_ns;
    uint32_t thread;
} ended;

static struct {
    bool records;
    void (*write)(void);
    uint64_t begin_ns; /* of the recording */
    thread *threads;
    sl__table started;
    uint64_t last_number, dropped;
    ended *ended, *spare;
    size_t n, cap, cap_spare;
} ranges;

static pthread_key_t of_thread;
static bool has_key; /* a program may have them all: then no end of a thread is noticed */
static _Thread_local thread *mine;

/* CUPTI's clock; 0 while nothing is recorded. */
static uint64_t now(void) { return ranges.records ? cupti_now() : 0; }

/* ---- the end of a range ---- */

/* Takes over the reference of the name. */
static void end_range(nvtx_name *name, uint32_t number, uint64_t start_ns, uint64_t end_ns)
{
    if (!name || !ranges.records || !SL__GROW(ranges.ended, ranges.cap, ranges.n + 1)) {
        ranges.dropped += ranges.records;
        nvtx_name_drop(name);
        return;
    }
    ranges.ended[ranges.n++] = (ended){ name, start_ns ? start_ns : ranges.begin_ns, end_ns,
                                        number };
}

/* The lock is let go. */
static void unlock_and_write(void)
{
    void (*write)(void) = ranges.n >= ENDED_MOST ? ranges.write : NULL;
    nvtx_unlock();
    if (write) write();
}

/* ---- threads ---- */

/* Its ranges that are not popped end here. */
static void end_thread(void *ud)
{
    thread *t = ud;
    nvtx_lock();
    const uint64_t end_ns = now();
    for (size_t i = 0; i < t->n; i++)
        end_range(t->at[i].name, t->number, t->at[i].start_ns, end_ns);
    SL__UNLINK(t, next, link);
    unlock_and_write();
    free(t->at);
    free(t);
    mine = NULL;
}

/* In a child the other threads are not there: one of them may have held the lock, or have been
 * changing what it guards. Nothing is recorded before the child uses CUDA. What was started in the
 * parent has numbers that nothing in the child gets, and may be ended there. */
static void begin_child(void)
{
    const uint64_t last_number = ranges.last_number;
    memset(&ranges, 0, sizeof ranges);
    ranges.last_number = last_number;
    nvtx_names_leave();
    if (mine) SL__PUSH(ranges.threads, mine, next, link);
}

static void prepare(void)
{
    has_key = pthread_key_create(&of_thread, end_thread) == 0;
    pthread_atfork(NULL, NULL, begin_child);
}

void nvtx_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
}

/* That of the caller; NULL: out of memory. The lock is held. */
static thread *own_thread(void)
{
    if (mine) return mine;
    mine = calloc(1, sizeof *mine);
    if (!mine) return NULL;
    mine->number = (uint32_t)(uintptr_t)pthread_self();
    SL__PUSH(ranges.threads, mine, next, link);
    if (has_key) pthread_setspecific(of_thread, mine);
    return mine;
}

/* ---- pushed and popped ---- */

static int level_of(const thread *t, size_t end, const nvtx_domain *domain)
{
    int n = 0;
    for (size_t i = 0; i < end; i++)
        n += t->at[i].domain == domain;
    return n;
}

int nvtx_push(const nvtx_domain *domain, nvtx_name *name)
{
    int at = 0;
    nvtx_lock();
    thread *t = own_thread();
    if (t && t->n_above == 0 && t->n < LEVELS_MOST && SL__GROW(t->at, t->cap, t->n + 1)) {
        at = level_of(t, t->n, domain);
        t->at[t->n++] = (level){ domain, name, now() };
    } else {
        ranges.dropped++;
        nvtx_name_drop(name);
        if (t) t->n_above++;
    }
    nvtx_unlock();
    return at;
}

int nvtx_pop(const nvtx_domain *domain)
{
    int at = -1;
    nvtx_lock();
    thread *t = own_thread();
    size_t i = t && t->n_above == 0 ? t->n : 0;
    while (i > 0 && t->at[i - 1].domain != domain)
        i--;
    if (t && t->n_above > 0) at = LEVELS_MOST, t->n_above--;
    if (i > 0) {
        const level l = t->at[i - 1];
        end_range(l.name, t->number, l.start_ns, now());
        t->n--;
        memmove(&t->at[i - 1], &t->at[i], (t->n - (i - 1)) * sizeof *t->at);
        at = level_of(t, i - 1, domain);
    }
    unlock_and_write();
    return at;
}

/* ---- started and ended ---- */

uint64_t nvtx_start(nvtx_name *name)
{
    nvtx_lock();
    const uint64_t number = ++ranges.last_number;
    started *range = name && ranges.started.n < STARTED_MOST ? malloc(sizeof *range) : NULL;
    if (range && sl__table_add(&ranges.started, &range->entry, number)) {
        range->name = name;
        range->start_ns = now();
        range->thread = (uint32_t)(uintptr_t)pthread_self();
    } else {
        ranges.dropped++;
        nvtx_name_drop(name);
        free(range);
    }
    nvtx_unlock();
    return number;
}

void nvtx_end(uint64_t number)
{
    nvtx_lock();
    started *range = (started *)sl__table_find(&ranges.started, number);
    if (range) {
        sl__table_remove(&ranges.started, &range->entry);
        end_range(range->name, range->thread, range->start_ns, now());
        free(range);
    }
    unlock_and_write();
}

void nvtx_mark(nvtx_name *name)
{
    nvtx_lock();
    const uint64_t ns = now();
    end_range(name, (uint32_t)(uintptr_t)pthread_self(), ns, ns);
    unlock_and_write();
}

/* ---- the recording ---- */

void nvtx_begin_recording(void (*write)(void))
{
    nvtx_lock();
    ranges.write = write;
    ranges.records = true;
    ranges.begin_ns = now();
    nvtx_unlock();
}

/* Names are given back once they are written: until then none of them is forgotten. */
void nvtx_write(void)
{
    nvtx_lock();
    ended *list = ranges.ended;
    const size_t n = ranges.n, cap = ranges.cap;
    ranges.ended = ranges.spare;
    ranges.cap = ranges.cap_spare;
    ranges.spare = NULL;
    ranges.n = ranges.cap_spare = 0;
    nvtx_unlock();
    for (size_t i = 0; i < n; i++)
        spool_add(&(spool_record){ .range = { .kind = SPOOL_RANGE,
                                              .name = nvtx_name_number(list[i].name),
                                              .thread = list[i].thread,
                                              .start_ns = list[i].start_ns,
                                              .end_ns = list[i].end_ns } });
    nvtx_lock();
    for (size_t i = 0; i < n; i++)
        nvtx_name_drop(list[i].name);
    ranges.spare = list;
    ranges.cap_spare = cap;
    nvtx_unlock();
}

uint64_t nvtx_dropped(void)
{
    nvtx_lock();
    const uint64_t n = ranges.dropped;
    nvtx_unlock();
    return n;
}

/* Ranges that go on end with the recording. */
void nvtx_end_recording(void)
{
    nvtx_lock();
    const uint64_t end_ns = now();
    for (const thread *t = ranges.threads; t; t = t->next)
        for (size_t i = 0; i < t->n; i++) {
            if (t->at[i].name) t->at[i].name->refs++;
            end_range(t->at[i].name, t->number, t->at[i].start_ns, end_ns);
        }
    for (size_t i = 0; i < ranges.started.room; i++)
        for (sl__entry *entry = ranges.started.at[i]; entry; entry = entry->next) {
            const started *range = (started *)entry;
            range->name->refs++;
            end_range(range->name, range->thread, range->start_ns, end_ns);
        }
    ranges.records = false;
    nvtx_unlock();
    nvtx_write();
}
