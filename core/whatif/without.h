/* without.h - a program in which some causes hold nothing: for what ending them gains (gains.c).
 *
 * No edit says what the change would be: an operation no longer comes behind something, a call no
 * longer waits. Delays and durations change at once (without.c), what comes behind what when the
 * program is played (links.c). */
#ifndef SL_WHATIF_WITHOUT_H
#define SL_WHATIF_WITHOUT_H

#include "program.h"

/* Bits by step: what does not hold it. */
enum {
    SL__NO_STREAM = 1,    /* what its stream has for other engines; its events still do */
    SL__NO_EVENT = 2,     /* of a wait: the event; of a span: one that was guessed, or a value */
    SL__NO_NULL = 4,      /* the NULL stream; nor what comes behind the step in its stream */
    SL__NO_CHANNEL = 8,   /* its hardware channel */
    SL__NO_ENGINE = 16,   /* its engine, the room on the SMs: it takes nothing of either */
    SL__NO_CALL = 32,     /* its call waits for nothing, and copies no pageable memory */
    SL__NO_PAUSE = 64,    /* the host goes on at once behind its call */
    SL__NO_ISSUE = 128,   /* its call takes no time, nor does a short pause before it */
    SL__NO_LATENCY = 256, /* it starts as soon as it may */
    SL__NO_LAST = 512,    /* the last one before it in its stream, but those before that */
    SL__NO_GRAPH = 1024,  /* the launch of its graph before it, in another stream */
    SL__NO_LAUNCH = 2048, /* what its stream had before the launch that ran it */
    SL__NO_RANK = 4096,   /* the rank of its collective that comes last */
    SL__NO_COMM = 8192,   /* as NO_NULL: the collective of its communicator before it, elsewhere */
    SL__ASIDE = 16384, /* of a collective: what comes behind it in its stream goes on without it */
    SL__BY_PART =
        32768 /* of a collective: it begins with its part of what was computed (tails.h) */
};

/* Changes the program, which is as recorded: left_out has bits for each step; parts, which may be
 * NULL, the step whose end makes the part of one with BY_PART. SL_ENOMEM. */
sl_status sl__program_without(sl__program *program, const uint16_t *left_out, const size_t *parts,
                              sl_error *err);

#endif
