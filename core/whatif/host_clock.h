/* host_clock.h - what a time of the host as recorded is in a played program: of what is no call, as
 * a range of NVTX or a step. */
#ifndef SL_WHATIF_HOST_CLOCK_H
#define SL_WHATIF_HOST_CLOCK_H

#include "program.h"

typedef struct sl__host_point {
    int64_t from_ns, to_ns;
} sl__host_point;

typedef struct sl__host_clock {
    sl__host_point *at; /* thread after thread, each in order of time */
    size_t *first;      /* by thread: n_threads + 1 of them */
    uint32_t n_threads;
} sl__host_clock;

/* Of a program as it was played. Threads are those of the issues of `recorded`, which is it before
 * its changes. SL_ENOMEM. */
sl_status sl__host_clock_open(const sl__program *program, const sl__program *recorded,
                              const sl__played_step *played, sl__host_clock *clock, sl_error *err);
void sl__host_clock_close(sl__host_clock *clock);
/* Begins and ends of the thread's calls become those that were played, and what lies between two of
 * them is stretched. A thread without calls has the time of the first one. Of two times of a thread
 * the later one never becomes the earlier one. */
int64_t sl__host_clock_at(const sl__host_clock *clock, uint32_t thread, int64_t ns);

#endif
