/* program.h - a recorded program as arrays that can be changed and played (play.c): what the host
 * calls, what each call submits, and what each of both waits for.
 *
 * Operations stand in order of issue. What an operation comes behind is not kept: it follows from
 * the issues (rules.h) whenever the program is played. So an edit changes issues, delays and
 * durations, and the rules of streams hold in the changed program as well. */
#ifndef SL_WHATIF_PROGRAM_H
#define SL_WHATIF_PROGRAM_H

#include <math.h>

#include "../base.h"
#include "../timeline/operations.h"

#define SL__CALL_NS 4000   /* of a call that has nothing to wait for */
#define SL__SUBMIT_NS 4000 /* from a call to the start of its operation, on an idle stream */
#define SL__FOLLOW_NS 1000 /* from one operation to the next of its stream */
#define SL__MANY_WAVES 4   /* of more than these all but the last have no SM left */

/* From which moment of its call an operation is submitted. */
typedef enum sl__submitted {
    SL__SUBMITTED_AT_END,
    SL__SUBMITTED_IN_CALL, /* it began before its call had ended */
    SL__NOT_SUBMITTED      /* the times contradict that the call came first, or there is none */
} sl__submitted;

/* What a call waits for before it returns. */
typedef enum sl__awaits {
    SL__AWAITS_NOTHING,
    SL__AWAITS_RULE,  /* what the rules say (sl__awaited_joint) */
    SL__AWAITS_QUEUE, /* room in the launch queue: an earlier operation of its stream */
    SL__AWAITS_END,   /* the end of its own operation */
    SL__AWAITS_START  /* the start of its own operation: of a copy that the call takes part in */
} sl__awaits;

typedef struct sl__step { /* a call of the host, an operation of the device, or both */
    sl__issue issue;
    int64_t host_start_ns, host_end_ns, ready_ns, start_ns, end_ns; /* as recorded */
    /* Of its call: the host's time before it, since the call before it of its thread; its own time;
     * and from when that which it waits for has happened to its end. */
    int64_t pause_ns, call_ns, return_ns;
    int64_t recording_ns; /* what of its call recording took */
    int64_t submit_ns;    /* from its submission to its start at the earliest, */
    int64_t follow_ns;    /* and from the end of the last that it comes behind */
    double work_ns;       /* how long it takes alone, */
    /* and how much less, or more, that and the pause may be: what an edit leaves in doubt. */
    double work_less_ns, work_more_ns;
    int64_t pause_less_ns, pause_more_ns;
    float share;        /* of its unit, by blocks; of the SMs, at most all */
    float waves;        /* how often its blocks fill the SMs, by occupancy */
    uint32_t submitter; /* the step whose call submits it, or itself */
    uint32_t awaited;   /* AWAITS_QUEUE: the step whose end makes room, or SL__NO_STEP */
    uint32_t follows;   /* the step whose end alone explains when it started, or SL__NO_STEP */
    uint32_t ignores;   /* bits by sl_cause: rules that the recorded times contradict */
    uint32_t turn_ns;   /* how long its unit takes to turn to it from another stream */
    uint16_t without;   /* bits of without.h: what does not hold it */
    int32_t priority;
    int16_t unit;          /* sl__unit; -1: it takes no time on the device */
    uint8_t submitted;     /* an sl__submitted */
    uint8_t awaits;        /* an sl__awaits */
    bool has_call : 1;     /* it is a call of its thread; nodes of graphs are none */
    bool is_first : 1;     /* of its thread: it begins at host_start_ns */
    bool is_operation : 1; /* of a stream */
    bool is_span : 1;      /* it counts for the makespan */
    bool is_beside : 1;    /* as recorded it started while that before it in its stream ran */
    /* By the NULL stream's rule, or a communicator's, it came behind what that before it in its
     * stream came behind, or behind that: no more than the order of its stream says. */
    bool null_implied : 1, comm_implied : 1;
    bool has_hold : 1;    /* what the records name beyond the rules held it: an item's ready_by */
    bool at_call_end : 1; /* submitted in its call, SL__CALL_END_NS before that ends */
    bool is_removed : 1;
    /* Moved to a stream of its own: its number, from 1. It does not come behind its old stream, or
     * that not behind it, but for synchronisations. */
    uint8_t side;
    bool leaves_before : 1, leaves_behind : 1; /* the latter without a side: as `async` has it */
    bool is_early : 1; /* its call comes earlier; what came behind it still does */
    bool is_pinned : 1;
    bool is_helped : 1; /* another thread makes its call, two items ahead (links.c) */
    bool by_host : 1;   /* the host takes part in the work: a copy of pageable memory */
} sl__step;

#define SL__MOST_EDGE_NS ((UINT32_C(1) << 28) - 1)
#define SL__AGAIN (UINT32_C(1) << 31)
enum { SL__SIDES = 16 };

typedef struct sl__extra { /* an order that an edit has added */
    uint32_t from, to;     /* steps: when the first has ended, the second starts, or returns; */
    bool is_edge;          /* with a delay of its own, */
    uint32_t delay_ns;     /* up to SL__MOST_EDGE_NS */
} sl__extra;

typedef struct sl__program {
    const sl__operations *ops;
    sl__step *steps; /* by item */
    size_t n;
    uint32_t *order; /* of issue: steps; of an early one again where it was, with SL__AGAIN */
    size_t n_order;
    sl__extra *extra; /* none as recorded */
    size_t n_extra, cap_extra;
    /* By thread: the median behind calls that wait for nothing; and of these, where another line of
     * the program begins. */
    int64_t *usual_pause_ns, *line_pause_ns;
} sl__program;

/* As recorded. The operations have to live as long. SL_ENOMEM, SL_EINTERRUPT; on failure there is
 * nothing to close. */
sl_status sl__program_open(const sl__operations *ops, sl__program *program, sl_error *err);
/* A copy to be changed: likewise. */
sl_status sl__program_copy(const sl__program *program, sl__program *copy, sl_error *err);
/* The copy as the program is. */
void sl__program_restore(const sl__program *program, sl__program *copy);
void sl__program_close(sl__program *program);

/* Whether a rule of this cause holds operations in a played program: what the host waits for holds
 * its calls. */
bool sl__cause_holds(uint8_t cause);

/* ---- units: engines, and the SMs, which kernels share (sharing.c) ----------------------- */

/* What a recording does not say is assumed: what is likely, and cases that differ from that in one
 * thing each. What kernels take from each other that newly run beside each other: by their blocks;
 * as little as can be; all. What edits leave in doubt: its likely, least, or most time. How fast
 * the host is when nothing records it, as a factor of its time; and how much later it goes on
 * behind a wait, in ns. */
typedef enum sl__room { SL__ROOM_LIKELY, SL__ROOM_FREE, SL__ROOM_SERIAL } sl__room;
typedef enum sl__leeway { SL__LEEWAY_LIKELY, SL__LEEWAY_LEAST, SL__LEEWAY_MOST } sl__leeway;
#define SL__ASSUMED_MAP(X)                            \
    X(LIKELY, ROOM_LIKELY, LEEWAY_LIKELY, 1, 0)       \
    X(ROOM_FREE, ROOM_FREE, LEEWAY_LIKELY, 1, 0)      \
    X(ROOM_SERIAL, ROOM_SERIAL, LEEWAY_LIKELY, 1, 0)  \
    X(LEAST, ROOM_LIKELY, LEEWAY_LEAST, 1, 0)         \
    X(MOST, ROOM_LIKELY, LEEWAY_MOST, 1, 0)           \
    X(FAST_HOST, ROOM_LIKELY, LEEWAY_LIKELY, 0.65, 0) \
    X(SLOW_HOST, ROOM_LIKELY, LEEWAY_LIKELY, 1.5, 0)  \
    X(LATE_HOST, ROOM_LIKELY, LEEWAY_LIKELY, 1, 50000)

typedef enum sl__assumed {
#define X(id, room, leeway, host, wake) SL__ASSUMED_##id,
    SL__ASSUMED_MAP(X)
#undef X
        SL__ASSUMED
} sl__assumed;

typedef struct sl__unit_entry {
    uint32_t step;
    bool has_started;
    int32_t priority;
    double share;            /* of the unit, 0 to 1 */
    double waves;            /* of its blocks */
    bool has_many_waves;     /* it leaves nothing to those behind it */
    double rate;             /* at which it works now, 0 to 1 */
    double done_ns, work_ns; /* so far, and in all */
    int64_t key_ns;          /* those of the same kind are served in order of it */
} sl__unit_entry;

typedef struct sl__unit_state {
    sl__unit_entry *at; /* in the order in which they are served */
    size_t n, cap;
    size_t n_served; /* behind so many nothing is left: their rates are 0 */
    int64_t now_ns;
} sl__unit_state;

/* False: out of memory. */
bool sl__unit_add(sl__unit_state *unit, const sl__unit_entry *entry);
void sl__unit_remove(sl__unit_state *unit, size_t k);
void sl__unit_advance(sl__unit_state *unit, int64_t to_ns); /* with the rates of before */
void sl__unit_share(sl__unit_state *unit);                  /* sets the rates */
double sl__unit_share_of(const sl__step *step, sl__room room);

/* How often the kernel's blocks fill all SMs of the device, as far as registers and shared memory
 * are known; 0: not known. Blocks run in whole waves. */
double sl__waves_of(const sl_device_info *device, const sl_span *span);
static inline double sl__whole_waves(double waves) { return sl__max(1.0, ceil(waves - 1e-9)); }

/* Sets work_ns of all steps: how long each takes where nothing shares its unit. */
sl_status sl__units_learn(sl__program *program, sl_error *err);

/* ---- playing (play.c) ----------------------------------------------------------------- */

#define SL__NO_STEP UINT32_MAX

typedef struct sl__played_step {
    int64_t host_start_ns, host_end_ns, start_ns, end_ns;
    int64_t ready_ns;  /* from here on only its unit kept the operation waiting */
    uint32_t ready_by; /* what it waited for last until then: its submitter is its call, others
                         * are operations; */
    uint32_t start_by; /* and what ended when the unit let it start: SL__NO_STEP if at once */
} sl__played_step;

typedef struct sl__outcome {
    int64_t makespan_ns; /* from the first start of an operation to the last end */
    size_t n_stuck;      /* operations that waited for each other: 0, or the program is none */
    bool has_shared;     /* several were on a unit, or waited for it, at a time */
} sl__outcome;

/* SL_EINVAL: operations wait for each other. */
sl_status sl__outcome_check(const sl__outcome *outcome, sl_error *err);

/* Plays the program: with what recording took of the host, or without. played, by step, may be
 * NULL. The same every time. About linear. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__program_play(const sl__program *program, bool with_recording, sl__assumed assumed,
                           sl__played_step *played, sl__outcome *outcome, sl_error *err);

/* For a program that is played again and again with other bits of without.h: links and memory are
 * used again. SL_ENOMEM, SL_EINTERRUPT; on failure *out is NULL. */
typedef struct sl__player sl__player;
sl_status sl__player_open(const sl__program *program, sl__player **out, sl_error *err);
/* As sl__program_play, without what recording took. Since the player was opened the program has
 * changed by bits of SL__SAME_ORDER alone. */
sl_status sl__player_play(sl__player *player, const sl__program *program, sl__outcome *outcome,
                          sl_error *err);
void sl__player_close(sl__player *player); /* NULL: nothing */

/* The makespan under each assumption, without what recording took. SL_EINVAL: operations wait for
 * each other; SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__program_play_each(const sl__program *program, int64_t makespan_ns[SL__ASSUMED],
                                sl_error *err);

#endif
