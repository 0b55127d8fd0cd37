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
        32768, /* of a collective: it begins with its part of what was computed (tails.h) */
    /* Those that leave delays, durations and waits of the host for the device as the links have
     * them (sl__link_holds). */
    SL__SAME_ORDER = SL__NO_ENGINE | SL__NO_CALL | SL__NO_PAUSE | SL__NO_ISSUE | SL__NO_LATENCY
                     | SL__NO_RANK
};

/* A recorded program, to be played without some causes, again and again: what is left out changes
 * it, and is put back. Links are made once, but where the order changes. */
typedef struct sl__without {
    sl__program program;
    struct sl__call_before *calls; /* of steps that are changed */
    size_t n_calls, cap_calls;
    struct sl__operation_before *operations;
    size_t n_operations, cap_operations;
    sl__player *player; /* or NULL: where links were made for another order, that went */
} sl__without;

/* SL_ENOMEM, SL_EINTERRUPT; on failure there is nothing to close. */
sl_status sl__without_open(const sl__operations *ops, sl__without *without, sl_error *err);
/* As sl__program_play, without what recording took. `bits` are those of each step; parts, which may
 * be NULL, has the step whose end makes the part of one with BY_PART. */
sl_status sl__without_play(sl__without *without, const uint16_t *bits, const size_t *parts,
                           sl__outcome *outcome, sl_error *err);
void sl__without_close(sl__without *without);

#endif
