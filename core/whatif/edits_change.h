/* edits_change.h - what the functions of a change work on, and what they share: for edits.c, which
 * has the table, and edits_*.c, which have the functions by what they change. */
#ifndef SL_WHATIF_EDITS_CHANGE_H
#define SL_WHATIF_EDITS_CHANGE_H

#include "edits.h"

typedef struct sl__member { /* of a run; of a batch, which is of one name and number of waits */
    uint32_t name;          /* text id */
    uint32_t run;           /* the first step of its run */
    uint32_t n_waits;       /* of the host before it */
    uint32_t step;
} sl__member;

typedef struct sl__change {
    sl__program *p;
    const bool *chosen;       /* by step */
    double number;            /* the argument */
    const sl_gpu_ratios *gpu; /* likewise */
    size_t n;                 /* changed so far */
    sl__pinned pinned;
    uint32_t *last; /* by lane, or by thread: the first or last of a run, which has not ended */
    bool failed;    /* out of memory */
    /* By step: the call of its thread before it, and behind it; or SL__NO_STEP. */
    uint32_t *previous, *next;
    /* Of batches, and of what is fused: */
    sl__member *members;
    size_t n_members, cap_members;
    uint32_t n_waits; /* so far */
    uint32_t sync;    /* behind the last that was chosen, or SL__NO_STEP */
} sl__change;

/* One a row: changes a step that was chosen and suits, and says whether it did. */
#define X(id, name, of, argument) bool sl__edit_##name(sl__change *c, uint32_t i);
SL__EDIT_MAP(X)
#undef X

static inline const sl_span *sl__span_of(const sl__change *c, uint32_t i)
{
    return sl__item_span(c->p->ops, i);
}

/* ---- edits_host.c ---- */

/* The host makes the call no longer, and does no longer what is usual before one. */
void sl__drop_call(sl__change *c, uint32_t i);
/* The synchronisation right behind a copy, which waits for the copy, or SL__NO_STEP. */
uint32_t sl__sync_behind(const sl__change *c, uint32_t i);

/* Of a step that was not chosen: ends the run before it. */
void sl__end_graph(sl__change *c, uint32_t i);

/* Of one that was not chosen: calls that a thread may be given along with one that is. */
void sl__pass_call(sl__change *c, uint32_t i);
/* At worst the host waits while the thread works. SL_ENOMEM. */
sl_status sl__take_turns(sl__change *c, sl_error *err);

/* ---- edits_fuse.c ---- */

/* What was chosen becomes one for each run. SL_EINTERRUPT. */
sl_status sl__merge_fused(sl__change *c, sl_error *err);

/* ---- edits_batch.c ---- */

/* Adds a step to its stream's run. */
void sl__add_member(sl__change *c, uint32_t i);
/* Of one that was not chosen: ends the run before it, and counts waits of the host. */
void sl__end_batches(sl__change *c, uint32_t i);
/* What was chosen becomes one for each run and name. SL_EINTERRUPT. */
sl_status sl__merge_batches(sl__change *c, sl_error *err);

/* ---- edits_comm.c ---- */

/* What has become asynchronous is waited for where its result may be needed. SL_ENOMEM,
 * SL_EINTERRUPT. */
sl_status sl__join_async(sl__change *c, sl_error *err);

/* ---- edits_buckets.c ---- */

/* The all-reduces that were noted become as large as the argument says. SL_ENOTFOUND: of none the
 * size is known; SL_EINVAL: one would be several, and when its parts are there is not known;
 * SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__fill_buckets(sl__change *c, sl_error *err);

/* ---- edits_order.c ---- */

/* The order of issue with early steps where they are called now. SL_ENOMEM. */
sl_status sl__reorder(sl__change *c, sl_error *err);

#endif
