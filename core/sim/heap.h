/* heap.h - virtual time, and the heap of events by time, with work whose rate changes. */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* ---- time ---- */

typedef int64_t sim_ps; /* picoseconds of virtual time */

#define SIM_PS_PER_NS 1000
#define SIM_PS_PER_US 1000000.0

/* The end of virtual time, after 46 days: enough for any script, and two such times add up within
 * 64 bits. Clocks stop there, and waits report it. */
#define SIM_LAST_PS ((sim_ps)4000000000000000000)
#define SIM_LONGEST_US 1e12 /* one kernel or copy: over eleven days */

/* A duration in whole ps, at most SIM_LAST_PS. */
static inline sim_ps sim_whole_ps(double ps)
{
    return ps < (double)SIM_LAST_PS ? (sim_ps)ps : SIM_LAST_PS;
}
static inline sim_ps sim_us_to_ps(double us) { return sim_whole_ps(us * SIM_PS_PER_US + 0.5); }
static inline sim_ps sim_later(sim_ps at, sim_ps duration)
{
    return at < SIM_LAST_PS - duration ? at + duration : SIM_LAST_PS;
}

/* ---- events ---- */

/* Kinds of events, handled in this order at equal times: completions come before starts, so that
 * an operation that starts at the instant at which another ends sees its result. Copies and blocks
 * start after all of these. */
typedef enum sim_what {
    SIM_WAVE_END,
    SIM_COPY_END,
    SIM_KERNEL_END,
    SIM_MEETING_END,
    SIM_COLLECTIVE_END,
    SIM_HOST_FUNC_END,
    SIM_RECORD_END,
    SIM_READY,
    SIM_KERNEL_AGAIN,
    SIM_COPY_START,
    SIM_RELAY_START,
    SIM_HOST_FUNC_START
} sim_what;

typedef struct sim_node { /* an event, embedded in what it happens to */
    sim_ps at;
    uint64_t seq;  /* issue order decides ties */
    uint32_t slot; /* index in the heap + 1; 0: not waiting */
    uint8_t what;  /* sim_what */
} sim_node;

typedef struct sim_heap {
    struct sim_heap_entry {
        sim_ps at;
        uint64_t key;
        sim_node *node;
    } * entry;
    uint32_t n, cap;
} sim_heap;

/* Room for n nodes at once, so that nothing can fail later. */
bool sim_heap_grow(sim_heap *heap, uint32_t n);
static inline bool sim_heap_reserve(sim_heap *heap, uint32_t n)
{
    return n <= heap->cap || sim_heap_grow(heap, n);
}
void sim_heap_set(sim_heap *heap, sim_node *node, sim_ps at); /* adds or moves */
sim_node *sim_heap_pop(sim_heap *heap);                       /* the first: there is one */
void sim_heap_remove(sim_heap *heap, sim_node *node);         /* not there: nothing */

/* Work whose rate other work changes: blocks, a copy's chunk. */
typedef struct sim_fluid {
    sim_node node;  /* its end */
    double left_ps; /* work left, in ps at full rate, as of `since` */
    double rate;    /* 0: not started */
    sim_ps since;
} sim_fluid;

void sim_fluid_start(sim_fluid *fluid, sim_ps now, double work_ps);
sim_ps sim_fluid_ps(double work_ps, double rate); /* its duration, rounded up */
void sim_fluid_set_rate(sim_heap *heap, sim_fluid *fluid, sim_ps now, double rate);

#endif
