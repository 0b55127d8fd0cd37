/* tails.h - collectives that begin only behind the last kernel of their device.
 *
 * Each of several could begin as soon as its part of the computation is there (buckets). With which
 * kernel that is no record tells: of n collectives, the k-th is taken to have its part when k of n
 * equal parts of the computation's time have passed. */
#ifndef SL_TIMELINE_TAILS_H
#define SL_TIMELINE_TAILS_H

#include "operations.h"

/* Of what the SMs of a device ran, by start. */
typedef struct sl__tail {
    const sl__order *order;
    size_t first, n;   /* its collectives, the last ones of the order; n is 0 if there is none */
    int64_t length_ns; /* for so long kernels ran before them, behind all other collectives */
    size_t at, part;   /* where the search for parts is: an entry, and the kernel before it; */
    int64_t ran_ns, to_ns; /* for how long kernels ran up to there, and when that ended */
} sl__tail;

/* None is a tail that the host issued late, or that other collectives kept waiting. Linear. */
sl__tail sl__tail_of(const sl__operations *ops, const sl__order *on_sms);

/* The kernel with whose end the k-th of the tail, from 1 to n, has its part. To be asked for in
 * order: linear for all together. */
size_t sl__tail_part(const sl__operations *ops, sl__tail *tail, size_t k);

#endif
