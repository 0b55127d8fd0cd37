/* rules.h - what an operation comes behind, and what a call of the host waits for: the rules of
 * streams, which stand nowhere else.
 *
 *   order         the earlier work of its stream. Records and waits of events are work, too;
 *   events        of a wait: the record;
 *   NULL stream   the legacy NULL stream's work comes behind all earlier work of its context's
 *                 blocking streams, and later work of these behind the NULL stream's;
 *   graphs        a launch comes behind what its stream has, and its stream goes on behind all of
 *                 it (a launch's nodes have edges, and bars of the NULL stream do not lie between
 *                 them); launches of one graph run one after the other, whatever their streams;
 *   collectives   those of one rank of a communicator run one after the other, whatever their
 *                 streams, as NCCL has them; those of one call (ncclGroupEnd) have no order;
 *   the host      what a thread issues comes behind what its earlier calls have waited for: a
 *                 stream (the NULL stream: all blocking ones as well), an event, a device, a copy;
 *   memory        freeing memory of the device, and loading a kernel's code, wait for all of the
 *                 device's earlier work.
 *
 * Each process has a context of its own on a device: what is said of a device's streams holds for
 * those of one context.
 *
 * Where they are from: docs/facts. What no rule says is left to those who ask: how long anything
 * takes, engines, hardware channels, the launch queue, and what times contradict.
 *
 * A joint stands for all that has been put into it so far: the work of a stream, of a device, what
 * a thread has waited for, a record. The rules name an operation's predecessors as joints, so that
 * their number does not grow with that of the streams. A board keeps for each joint when the
 * latest of its operations is over, on whichever clock its owner has (as recorded, as played again,
 * the length of a chain), and which operation that is:
 *
 *     for (sl__reading at = sl__rules_read(&rules); sl__reading_next(&at);) {
 *         sl__rules_of(&rules, &at.issue, &ruling);
 *         sl__board_wait(&board, &ruling);
 *         for (int k = 0; k < ruling.n_behind; k++)   // predecessor, cause, earliest time
 *             ... board.at[ruling.behind[k].joint], ruling.behind[k].cause ...
 *         sl__board_put(&board, &ruling, (sl__reach){ its end, itself });
 *     }
 *
 * An issue may be changed before it is ruled: moved to another stream, its call not to wait. Who
 * wants the operations themselves as predecessors gives each joint a node, and each putting an
 * edge. */
#ifndef SL_TIMELINE_RULES_H
#define SL_TIMELINE_RULES_H

#include "lanes.h"
#include "store.h"

#define SL__NO_JOINT UINT32_MAX
#define SL__NEVER INT64_MIN

/* What the rules look at. */
typedef enum sl__issue_kind {
    SL__ISSUE_SPAN,
    SL__ISSUE_RECORD,
    SL__ISSUE_WAIT,
    SL__ISSUE_STREAM_SYNC,
    SL__ISSUE_EVENT_SYNC,
    SL__ISSUE_DEVICE_SYNC, /* any call that waits for the device */
    SL__ISSUE_OTHER        /* no rule is about it */
} sl__issue_kind;

typedef struct sl__issue { /* a span or a call */
    uint32_t lane;         /* of its stream, as in sl__lanes */
    uint32_t thread;       /* of the host, that made the call */
    uint32_t launch;       /* of a graph that ran it: its index + 1, or 0 */
    uint32_t joint;    /* of a record its own; of a wait or synchronisation that of the record, or
                         * SL__NO_JOINT: there is none; of a collective that of its turns */
    uint8_t kind : 3;  /* an sl__issue_kind */
    bool loads : 1;    /* its call waits for the device before it is submitted, */
    bool waits : 1;    /* or until it has ended */
    bool is_first : 1; /* of what its launch ran in its stream */
    bool is_turn : 1;  /* of a collective: the first of its call, for which it takes a turn */
} sl__issue;

typedef struct sl__rule {
    uint32_t joint;
    uint8_t cause; /* an sl_cause: how a wait for it is called */
} sl__rule;

enum { SL__MOST_BEHIND = 8, SL__MOST_INTO = 10, SL__MOST_PASSED = 4 };

typedef struct sl__ruling {
    bool is_operation; /* else only `passed` counts */
    struct {
        uint32_t from, into;   /* of joints: the first is put into the second, before all else */
    } passed[SL__MOST_PASSED]; /* what the call waits for; what a launch, or a turn, finds */
    int n_passed;
    sl__rule behind[SL__MOST_BEHIND]; /* all of which the operation comes behind, */
    int n_behind;
    sl__rule into[SL__MOST_INTO]; /* and into which it is put, for what comes later */
    int n_into;
} sl__ruling;

typedef struct sl__rules_lane {
    uint32_t place;   /* of its device */
    uint32_t context; /* dense: that of a place is its number */
    uint32_t stream;  /* the lane of the stream that it is a further row of, or its own */
    bool has_rows;    /* that stream has others */
    bool is_null;     /* the legacy NULL stream */
    bool is_blocking; /* it waits for the NULL stream, and that for it; the NULL stream does */
    uint32_t launch;  /* while reading: the last one that ran something in the stream */
    sl__rule behind[3], into[5]; /* of an operation that no graph ran: what every one has */
    int n_behind, n_into;
    uint32_t all; /* the joint that a synchronisation waits for */
} sl__rules_lane;

typedef struct sl__rules {
    const sl_timeline *timeline;
    sl__lanes lanes;
    sl__rules_lane *of; /* by lane */
    uint32_t n_threads;
    uint32_t *previous; /* by launch: the joint of the launch of its graph before it, if that was
                         * in another stream, or SL__NO_JOINT */
    size_t n_launches;
    uint32_t n_contexts;
    struct sl__turns *turns; /* ranks of communicators, in order */
    size_t n_turns;
    uint64_t *records; /* their correlations, ascending */
    size_t n_records;
    /* The first joint of each kind; threads of the host have those from 0 on. */
    uint32_t device, null, null_before, blocking, blocking_before, legacy; /* by context, */
    uint32_t stream, rows, rows_before;                                    /* by lane, */
    uint32_t ran, turn, turn_before, record; /* by launch, turns, record */
    uint32_t n_joints;
} sl__rules;

/* Of a finished timeline. SL_ENOMEM; on failure there is nothing to close. */
sl_status sl__rules_open(const sl_timeline *timeline, sl__rules *rules, sl_error *err);
void sl__rules_close(sl__rules *rules);

/* Spans and calls, as sl__issues has them. One reading at a time. */
typedef struct sl__reading {
    sl__rules *rules;
    sl__issues at;
    size_t launch; /* the next one, or that which ran what comes next */
    sl__issue issue;
} sl__reading;
sl__reading sl__rules_read(sl__rules *rules);
bool sl__reading_next(sl__reading *reading);

/* Apart for those who put an operation later than they ask what it comes behind: all but `into`,
 * which is empty then; and `into` of an operation. */
void sl__rules_behind(const sl__rules *rules, const sl__issue *issue, sl__ruling *ruling);
void sl__rules_into(const sl__rules *rules, const sl__issue *issue, sl__ruling *ruling);
static inline void sl__rules_of(const sl__rules *rules, const sl__issue *issue, sl__ruling *ruling)
{
    sl__rules_behind(rules, issue, ruling);
    if (ruling->is_operation) sl__rules_into(rules, issue, ruling);
}

/* What the issue's call waits for, or SL__NO_JOINT. */
static inline uint32_t sl__awaited_joint(const sl__rules *rules, const sl__issue *issue)
{
    const sl__rules_lane *lane = &rules->of[issue->lane];
    if (issue->kind == SL__ISSUE_STREAM_SYNC) return lane->all;
    if (issue->kind == SL__ISSUE_EVENT_SYNC) return issue->joint;
    bool all = issue->kind == SL__ISSUE_DEVICE_SYNC || issue->loads;
    return all ? rules->device + lane->context : SL__NO_JOINT;
}
/* The work of a stream, of one row where it has several. */
static inline uint32_t sl__order_joint(const sl__rules *rules, uint32_t lane)
{
    return rules->stream + lane;
}

/* ---- boards ---- */

typedef struct sl__reach { /* how far a joint reaches */
    int64_t ns;            /* SL__NEVER: nothing has been put into it */
    size_t item;           /* of several that reach as far the one put last */
} sl__reach;

typedef struct sl__board {
    sl__reach *at; /* by joint */
    uint32_t n;
} sl__board;

/* SL_ENOMEM. Empty. */
sl_status sl__board_open(const sl__rules *rules, sl__board *board, sl_error *err);
void sl__board_clear(sl__board *board);
void sl__board_close(sl__board *board);

static inline void sl__board_add(sl__board *board, uint32_t joint, sl__reach reach)
{
    if (reach.ns >= board->at[joint].ns) board->at[joint] = reach;
}
/* What comes before the operation itself: what its call waits for, what its launch finds. */
static inline void sl__board_wait(sl__board *board, const sl__ruling *ruling)
{
    for (int k = 0; k < ruling->n_passed; k++)
        sl__board_add(board, ruling->passed[k].into, board->at[ruling->passed[k].from]);
}
static inline void sl__board_put(sl__board *board, const sl__ruling *ruling, sl__reach reach)
{
    sl__reach *at = board->at;
    for (int k = 0; k < ruling->n_into; k++) {
        sl__reach *joint = &at[ruling->into[k].joint];
        if (reach.ns >= joint->ns) *joint = reach;
    }
}

#endif
