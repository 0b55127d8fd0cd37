/* links.h - what waits for what in a program, as a graph of moments: for play.c.
 *
 * A step has four moments: its call begins and ends, its operation starts and ends. Others stand
 * for all that has come into a joint of the rules so far. */
#ifndef SL_WHATIF_LINKS_H
#define SL_WHATIF_LINKS_H

#include "program.h"
#include "without.h"

enum { SL__CALL_BEGINS, SL__CALL_ENDS, SL__STARTS, SL__ENDS, SL__MOMENTS };

static inline uint32_t sl__moment_of(uint32_t step, int which)
{
    return step * SL__MOMENTS + (uint32_t)which;
}

/* How long the later moment comes behind the earlier one. */
typedef enum sl__link_kind {
    SL__LINK_AT_ONCE,
    SL__LINK_PAUSE,   /* pause_ns */
    SL__LINK_SUBMIT,  /* submit_ns, from the call's end, */
    SL__LINK_IN_CALL, /* or in the call */
    SL__LINK_FOLLOW,  /* follow_ns */
    SL__LINK_UNIT,    /* likewise, behind what its unit was busy with */
    SL__LINK_BESIDE,  /* what was recorded between both starts */
    SL__LINK_AWAIT,   /* return_ns: what the call waits for by itself, */
    SL__LINK_RETURN,  /* or by an edit */
    SL__LINK_EDGE     /* its own delay */
} sl__link_kind;

typedef struct sl__link {
    uint32_t to;            /* a moment */
    uint32_t kind : 4;      /* sl__link_kind */
    uint32_t delay_ns : 28; /* of an edge */
} sl__link;

typedef struct sl__links {
    sl__link *at; /* by the moment from which they lead, in the order in which they were made */
    size_t n;
    uint32_t *first; /* by moment: n_moments + 1 of them */
    size_t cap_first;
    uint32_t n_moments;
} sl__links;

/* Whether the link holds `to`, the step to which it leads: edits that only end a call's wait, or
 * give an operation its unit for itself, leave all other links as they are. */
static inline bool sl__link_holds(const sl__link *link, const sl__step *to)
{
    if (link->kind == SL__LINK_AWAIT) return to->awaits != SL__AWAITS_NOTHING;
    return link->kind != SL__LINK_UNIT || !(to->without & SL__NO_ENGINE);
}

/* SL_ENOMEM, SL_EINTERRUPT; on failure there is nothing to free. */
sl_status sl__links_make(const sl__program *program, sl__links *links, sl_error *err);
void sl__links_free(sl__links *links);

#endif
