/* findings.h - stretches of waiting, taken together by what they have in common. */
#ifndef SL_TIMELINE_FINDINGS_H
#define SL_TIMELINE_FINDINGS_H

#include "operations.h"
#include "overlap.h"

/* What the stretches of a finding have in common. */
typedef struct sl__group {
    uint32_t texts[4];     /* where and name of the waiter, and of what it waited for */
    uint8_t cause, engine; /* sl_cause, sl_engine */
    uint8_t place;         /* of the device of that engine */
    bool idle;
    bool by_itself; /* it was being issued itself */
    uint8_t first;  /* sl__first: calls of first launches, whichever they are */
    size_t n;       /* its stretches */
} sl__group;

/* What an sl_wait is made of. Items have 32 bits, as there may be several stretches for each. */
typedef struct sl__stretch {
    int64_t from_ns, to_ns;
    uint32_t waiter, by; /* items; by may be SL__NOBODY */
    uint32_t group;
} sl__stretch;

#define SL__NOBODY UINT32_MAX

typedef struct sl__stretches {
    const sl__operations *ops;
    sl__stretch *at;
    size_t n, cap;
    sl__group *groups;
    size_t n_groups, cap_groups;
    sl__keys keys; /* what the stretches of a group have in common, to its number */
    bool chain;    /* parts of the makespan: latency of all operations is one part */
    bool failed;   /* out of memory */
} sl__stretches;

/* Waiting from `from_ns` to `to_ns`. An empty one is left out; one that ends where the last one
 * begins, and has the same cause and sides, is joined to it. */
void sl__stretches_add(sl__stretches *list, sl_cause cause, int unit, bool idle, size_t waiter,
                       size_t by, int64_t from_ns, int64_t to_ns);
void sl__stretches_clear(sl__stretches *list);
void sl__stretches_free(sl__stretches *list);

/* Which stretches each finding has. Waits are made of them when gains have put the findings in
 * order. */
typedef struct sl__waits {
    const sl__stretches *list; /* as long as nothing is added to it */
    uint32_t *order;           /* into list->at */
    size_t *first;             /* by finding: where in `order` its n_waits begin */
} sl__waits;
static inline const sl__stretch *sl__waits_at(const sl__waits *waits, size_t finding, size_t k)
{
    return &waits->list->at[waits->order[waits->first[finding] + k]];
}
/* Sets the explanation's waits. SL_ENOMEM. */
sl_status sl__waits_tell(const sl__waits *waits, sl_explanation *explanation, sl_error *err);
void sl__waits_free(sl__waits *waits);

/* By engine of a device when it worked, and by device when kernels ran beside which others had
 * room. */
enum { SL__BESIDE = SL__UNITS, SL__BUSY_UNIONS = SL__UNITS + SL_MOST_DEVICES };

/* The findings of the list, the largest loss first; those that lost nothing are left out. `busy`:
 * SL__BUSY_UNIONS of them. `waits` may be NULL. The caller frees all, also on failure. */
sl_status sl__stretches_sum(const sl__stretches *list, const sl__union *busy, sl_finding **findings,
                            size_t *n_findings, sl__waits *waits, sl_error *err);

/* The operation that the cause held up: the waiter, or one that it came behind. */
size_t sl__held_by(const sl__operations *ops, size_t waiter, sl_cause cause);

#endif
