/* state.h - the state of the race checker, and what its files share. */
#ifndef SL_RACE_STATE_H
#define SL_RACE_STATE_H

#include "../device.h"
#include "checker.h"
#include "clock.h"
#include "buffer_history.h"

/* A wait for an event that orders nothing. */
typedef struct sl__idle_wait {
    sl_race_idle why;
    uint32_t where;        /* the checker's text id */
    const sl_event *event; /* only compared */
} sl__idle_wait;

/* What a stream's operations come after. */
typedef struct sl__race_clock {
    struct sl__race_clock *next, **link; /* of all clocks */
    sl_stream *stream;
    uint32_t slot;
    uint64_t epoch; /* of its last operation */
    uint64_t batch; /* number of the latest operations enqueued together that has one in it, */
    uint64_t before_batch; /* and its epoch before those */
    sl__seen seen;         /* what its next operation comes after */
    uint64_t host_version; /* version of the host's `seen` that is in it */
    bool beyond_host;      /* `seen` may be larger than the host's */
    uint64_t legacy_epoch; /* of the NULL stream that is in it */
    bool is_undoable;      /* `before` is `seen` before the last operation, */
    sl__seen before;       /* which may yet be refused */
    struct sl__race_clock *next_unseen, **link_unseen; /* of the list below; link NULL: not in it */
    struct sl__race_clock *unseen_by_null; /* of the NULL stream: streams with operations that */
    sl__seen closed;                       /* it has not seen; operations of those closed since */
    sl__idle_wait idle;                    /* the latest of the stream */
    struct {             /* a value that the stream waits for, which no write before has written */
        bool waits;      /* false: it waits for none */
        uint64_t buffer; /* id; 0: it waits for several */
        size_t offset;
        uint32_t word;
        uint8_t compare;
    } open;
} sl__race_clock;

/* An event's latest record. */
typedef struct sl__race_record {
    struct sl__race_record *next, **link; /* of all records */
    sl_event *event;
    sl__point point;
    uint32_t by; /* slot of the thread that called it, at the point's host_epoch */
} sl__race_record;

/* The host, or one of its threads. */
typedef struct sl__host {
    uint32_t slot;
    sl__seen seen;
    uint64_t version; /* of `seen`: another number with each change, of all hosts */
    bool is_undoable; /* `before` is `seen` before the wait of a call that may yet be refused */
    sl__seen before;
    sl__idle_wait idle; /* the latest */
} sl__host;

/* A thread of the host, while there are several. */
typedef struct sl__race_thread sl__race_thread;

enum { SL__MOST_ACCIDENTS = 8 };

/* By which accident the host has seen a slot up to an epoch. */
typedef struct sl__accident {
    uint64_t epoch;
    sl_race_accident why;
    uint32_t call, where; /* the checker's text ids; the call's name if it is one */
} sl__accident;

/* A slot; it outlives its stream. */
typedef struct sl__slot {
    sl__race_clock *clock; /* NULL: closed */
    sl_device *device;     /* NULL: closed, and its texts freed */
    uint32_t stream_id;    /* of a thread of the host: its number */
    uint32_t name, made;   /* the device's text ids; where it was made */
    bool is_blocking;      /* toward the NULL stream */
    bool is_per_thread;
    bool is_lane;         /* of nodes of a graph that were captured in the stream of this id, */
    uint32_t captured;    /* which has this name */
    uint64_t epoch;       /* the last one */
    sl__seen seen;        /* of a closed stream: its last `seen` */
    uint64_t retired;     /* number of the last operation that has ended */
    uint32_t next_unseen; /* slots with operations that the host may not have seen */
    bool is_unseen;
    uint32_t next_closed;                       /* closed later */
    sl__accident accidents[SL__MOST_ACCIDENTS]; /* the latest, the n-th at n modulo their number */
    uint32_t n_accidents;
} sl__slot;

/* A host function that is waiting to run. */
typedef struct sl__waiting {
    sl__point point;
    const sl_op *op;    /* that launched it; or the node */
    uint64_t run;       /* of the node: index of this run */
    const sl_op *until; /* it has run when this operation has ended: `op`, or the graph's launch */
    uint64_t seq;       /* of its accesses */
    sl__race_launch *launch; /* retained; NULL: no node */
} sl__waiting;

/* ---- the races found ---------------------------------------------------------------- */

enum { SL__RACE_SLOTS = 4096, SL__MOST_UNSETTLED = 1024 };

/* When an access happened, as far as that is known. */
typedef struct sl__access_time {
    enum { SL__KNOWN, SL__PENDING, SL__PAST, SL__NEVER } state;
    uint32_t slot; /* PENDING: of this operation's end */
    uint64_t epoch, seq;
    int64_t at_ns;
} sl__access_time;

/* An entry of the list. */
typedef struct sl__found {
    sl_race race;
    uint32_t first_where, second_where, first_what, second_what, made; /* text ids */
    uint32_t first_launched, second_launched;                          /* likewise */
    int unsettled; /* conflicts whose outcome is not known yet */
    bool reported;
} sl__found;

/* A conflict whose operations have not both ended. */
typedef struct sl__unsettled {
    sl__found *entry;
    sl__access_time first, second;
    bool first_writes, second_writes;
} sl__unsettled;

typedef struct sl__race_list {
    sl__found *entries[SL_MOST_RACES];
    size_t n;
    uint64_t total;
    uint16_t table[SL__RACE_SLOTS]; /* open addressing: index + 1 */
    sl__unsettled unsettled[SL__MOST_UNSETTLED];
    size_t n_unsettled;
    sl_race refused;           /* for which the latest call was refused: */
    bool has_refused, is_late; /* there is one; see sl_race_refused */
    sl_race_hook hook;
    void *hook_ud;
} sl__race_list;

/* What the checker knows of a graph (core/race/replays.h). */
typedef struct sl__race_graph sl__race_graph;

/* ---- needs.c: what needs what -------------------------------------------------------- */

typedef struct sl__needs {
    bool are_kept; /* as sl_race_keep_needs has asked */
    sl_race_need *list;
    size_t n, room;
} sl__needs;

/* The later access needs the earlier one's operation. Without memory nothing more is kept. */
void sl__needs_add(sl__needs *needs, const sl__access *later, const sl__access *earlier);

/* ---- the checker -------------------------------------------------------------------- */

struct sl__checker {
    sl_check_mode mode;
    bool has_unreported; /* races wait to be reported */
    sl__race_list races; /* outlives OFF */
    sl__needs needs;     /* likewise */
    sl__strings strings; /* of races, and the host's accesses */
    bool starved;        /* something found no memory: the checker gives up */
    sl__slot *slots;     /* 0 is the host's */
    uint32_t n_slots;
    size_t slots_room;
    uint32_t unseen, closed;  /* the first of these slots, 0: none */
    uint32_t last_closed;     /* likewise */
    uint64_t first_epoch;     /* of slots: earlier checks had those up to it */
    uint64_t host_epoch;      /* counts enqueued operations, from 1 */
    uint64_t batches;         /* of operations enqueued together, so far */
    sl__host host;            /* that calls */
    uint64_t host_versions;   /* counts changes of what hosts have seen, from 1 */
    sl__race_thread *threads; /* NULL: the host has one thread, in slot 0 */
    sl__table by_number;      /* the threads */
    uint32_t running_thread;  /* its number */
    sl__race_clock *clocks;
    sl__race_record *records;
    sl__race_memory *memories;
    sl__race_graph *graphs;
    sl__race_ranks *ranks;
    sl__waiting *waiting;
    size_t n_waiting, waiting_room;
    const sl__waiting *running; /* the host function that runs, NULL: none */
};

/* The checker, made if it is not there yet. NULL: out of memory. */
sl__checker *sl__race_make(void);

/* The checker's ids of a text, and of the script's position. 0: an empty one, or the checker is
 * starved. */
uint32_t sl__race_text(sl__checker *checker, const char *text);
uint32_t sl__race_where(sl__checker *checker, const sl_device *device);

/* ---- slots.c ------------------------------------------------------------------------ */

/* A new slot, or one that no access needs any more. 0: out of memory. */
uint32_t sl__slot_take(sl__checker *checker);
/* It can be taken again, once every later access comes after its operations. */
void sl__slot_close(sl__checker *checker, uint32_t slot);
/* Whether the host has seen all its operations for sure. */
bool sl__slot_is_seen(const sl__checker *checker, uint32_t slot);
/* Adds the slot to those that a wait for the device looks at; idle streams are not among them. */
void sl__slot_note_unseen(sl__checker *checker, uint32_t slot);
/* The first slot behind `slot` (0: of all) that has operations which the host has not seen for
 * sure; 0: none. */
uint32_t sl__slot_next_unseen(sl__checker *checker, uint32_t slot);
/* A slot for the nodes of a graph that were captured in `stream`. 0: out of memory. */
uint32_t sl__slot_of_lane(sl__checker *checker, const sl_stream *stream);
/* The slot's next epoch. */
uint64_t sl__slot_tick(sl__checker *checker, uint32_t slot);

/* ---- order.c: what comes before what ------------------------------------------------ */

/* Who makes an access, and what it comes after. `is_late`: a host function. */
typedef struct sl__actor {
    sl__point point; /* borrowed */
    bool is_late;
} sl__actor;

/* Keeps what the host has seen, so that it is undone if the next operation is refused. */
void sl__order_keep_host(sl__checker *checker);
/* Begins the stream's next operation: *actor is it, with what it comes after by CUDA's rules, and
 * by `awaited` if that is not NULL. False: out of memory. If it succeeds, one of the next two is
 * called: the operation happens, or it does not, and its order is undone. */
bool sl__order_next(sl__checker *checker, sl_stream *stream, const sl__point *awaited,
                    sl__actor *actor);
void sl__order_happens(sl__checker *checker, sl__race_clock *clock);
void sl__order_undo(sl__checker *checker, sl__race_clock *clock);
/* Keeps what the stream comes after, so that it is undone if its next operation is refused. */
void sl__order_keep(sl__race_clock *clock);
/* The host as an actor, now. */
sl__actor sl__order_host(sl__checker *checker);

/* The order of an earlier access and the actor: the access comes before it or, if the actor is
 * late, behind it. */
typedef enum sl__order { SL__UNORDERED, SL__BY_ACCIDENT, SL__ORDERED } sl__order;
sl__order sl__order_of(const sl__access *earlier, const sl__actor *actor);

/* The accident by which the host first saw the access, as far as that is remembered. */
sl__accident sl__order_accident(sl__checker *checker, const sl__access *access);

/* The host has seen the point: for sure (NULL), or by an accident, whose epoch is not used. */
bool sl__order_join_host(sl__checker *checker, const sl__point *point,
                         const sl__accident *accident);
/* All that the slot's stream has, also if it has closed. */
bool sl__order_join_slot(sl__checker *checker, uint32_t slot, const sl__accident *accident);
/* The stream's clock, made at its first use. NULL: out of memory. */
sl__race_clock *sl__order_clock(sl__checker *checker, sl_stream *stream);
sl__point sl__order_point(sl__checker *checker,
                          const sl__race_clock *clock); /* of its last operation; borrowed */

/* The device closes: all its work has ended, and nothing races with it any more. */
void sl__order_device_closed(sl__checker *checker, sl_device *device);

/* Forgets all clocks and slots. */
void sl__order_clear(sl__checker *checker);

/* ---- operands.c: what an operation touches ------------------------------------------ */

enum { SL__MOST_OPERANDS = 2 * SL_MOST_ARGS };

/* What it reads and then what it writes, each byte once in each way; returns how many. */
int sl__operands_of(const sl_op *op, sl_operand list[SL__MOST_OPERANDS]);
/* A copy from pageable memory has read its source when the call returns: the host reads. */
bool sl__operand_is_hosts(const sl_op *op, const sl_operand *operand);

/* ---- race_threads.c: threads of the host ----------------------------------------------------- */

/* Whether the running thread comes after what the one of that slot did until then. */
bool sl__thread_has_seen(const sl__checker *checker, uint32_t slot, uint64_t host_epoch);
/* The host is one thread again, of which nothing is known. */
void sl__threads_clear(sl__checker *checker);

/* ---- host_functions.c: those that wait to run --------------------------------------- */

/* A copy, which holds what its point has seen. False: out of memory. */
bool sl__waiting_add(sl__checker *checker, const sl__waiting *waiting);
/* Those that have run when the operation has ended. */
void sl__waiting_forget(sl__checker *checker, const sl_op *until);
void sl__waiting_clear(sl__checker *checker);

/* ---- conflicts.c: one access ------------------------------------------------------------ */

enum { SL__MOST_MET = 16 };

/* An access to a buffer, and what is found out about it. */
typedef struct sl__touch {
    sl__checker *checker;
    sl_buffer *buffer;
    const sl__actor *actor;
    sl__access access;
    bool is_refused;       /* in error mode: it races, and must not happen */
    bool has_happened;     /* cudaFree: nothing can refuse it any more */
    bool frees_by_waiting; /* and what it waits for is an accident */
    struct sl__met {
        uint32_t slot, where;
        uint64_t epoch;
        uint8_t kind;
    } met[SL__MOST_MET];
    int n_met; /* in several ranges, and reported once */
} sl__touch;

/* The actor's access to an operand that is only read, only written, or only updated by atomic
 * functions. Who makes it, what and where is the caller's. */
sl__touch sl__touch_of(sl__checker *checker, const sl_operand *operand, const sl__actor *actor);
/* To all of a buffer. */
sl__touch sl__touch_of_all(sl__checker *checker, sl_buffer *buffer, sl_race_access_kind kind,
                           const sl__actor *actor);
/* Adds the races of the access to the list. */
void sl__touch_check(sl__touch *t);
/* False: out of memory. */
bool sl__touch_note(sl__touch *t);
/* Frees what is known of a buffer. */
void sl__touch_forget(sl__race_memory *memory);

/* A call has freed the memory. False: out of memory. */
bool sl__touch_freed(sl__touch *t);

/* ---- races.c: the races found ------------------------------------------------------- */

/* Two accesses that nothing orders, in the script's order, and the bytes [from, to) of both. */
typedef struct sl__conflict {
    sl_race_kind kind;
    sl_buffer *buffer;
    const sl__access *first, *second;
    const sl__access *refused; /* of them, in error mode: does not happen, its call fails */
    size_t from, to;
} sl__conflict;
void sl__races_add(sl__checker *checker, const sl__conflict *conflict);

/* Fails with the race for which the latest call was refused. */
sl_status sl__races_fail(sl__checker *checker, sl_error *err);

/* Gives races whose outcome is not known yet the outcome UNKNOWN, so that they can be reported. */
void sl__races_finish(sl__checker *checker);
/* The same, reports them, and forgets all. */
void sl__races_clear(sl__checker *checker);

/* ---- outcomes.c: which harm they did ------------------------------------------------- */

/* Follows a conflict until its outcome is known, if it can be. */
void sl__outcome_follow(sl__checker *checker, sl__found *entry, const sl__conflict *conflict);
/* All that are followed. */
void sl__outcomes_forget(sl__checker *checker);

/* An operation has ended: sets when its accesses happened, and outcomes that are known then. */
void sl__races_retired(sl__checker *checker, const sl_op *op);
/* An operation does not happen: its races have no outcome. */
void sl__races_cancelled(sl__checker *checker, uint32_t slot, uint64_t epoch);
/* The device of the slot has closed: the end of its operations is never reported. */
void sl__races_lost(sl__checker *checker, uint32_t slot);

#endif
