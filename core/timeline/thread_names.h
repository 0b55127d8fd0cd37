/* thread_names.h - what is known of the threads of the host, by their numbers: names, and which of
 * them hand the work over to each other, as PyTorch's main thread and that of autograd do. Such
 * threads are one caller: who waits for whom is asked of callers, what a call lies in of threads.
 */
#ifndef SL_TIMELINE_THREAD_NAMES_H
#define SL_TIMELINE_THREAD_NAMES_H

#include "../streamlab.h"

typedef struct sl_host_thread {
    uint32_t caller; /* the lowest number of the threads that it hands work over to, and its own */
    uint32_t name;   /* text id; 0: it has none */
} sl_host_thread;

/* Before finish; what has not been set is its own caller, and has no name. SL_EINVAL: no such
 * thread or text, or a caller that is no lower thread. SL_ENOMEM. */
sl_status sl_timeline_set_host_thread(sl_timeline *timeline, uint32_t thread,
                                      const sl_host_thread *is, sl_error *err);
/* Something is known of threads below this number. */
uint32_t sl_timeline_known_threads(const sl_timeline *timeline);
/* Of any number of a thread. */
sl_host_thread sl_timeline_host_thread(const sl_timeline *timeline, uint32_t thread);
const char *sl_timeline_thread_name(const sl_timeline *timeline, uint32_t thread); /* or "" */
/* The caller of the span or call with this correlation. After finish. */
uint32_t sl_timeline_caller(const sl_timeline *timeline, uint64_t correlation);
/* The largest number of a caller, and 1: 1 where all threads are one. After finish. */
uint32_t sl_timeline_caller_count(const sl_timeline *timeline);

/* ---- for the timeline ---- */

typedef struct sl__host_threads { /* all zero: nothing is known */
    sl_host_thread *at;           /* by number */
    size_t n, cap;
} sl__host_threads;

#endif
