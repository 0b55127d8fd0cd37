/* state.h - what the files of the race checker share: one checker for the process. */
#ifndef SL_RACE_STATE_H
#define SL_RACE_STATE_H

#include "../strings.h"
#include "checker.h"
#include "clock.h"
#include "memory.h"

/* A stream's place in time. */
typedef struct sl__race_clock {
    struct sl__race_clock *next, **link;    /* of all clocks */
    sl_stream *stream;
    uint32_t slot;
    uint64_t epoch;                 /* of its last operation */
    sl__seen seen;                  /* by its next one */
    uint64_t host_version;          /* of the host's `seen` that is in it */
    bool beyond_host;               /* `seen` may have what the host's has not */
    uint64_t legacy_epoch;          /* of the NULL stream that is in it */
    bool is_undoable;               /* `before` is what it had seen before its last operation, */
    sl__seen before;                /* of which it is not known yet whether it happens */
    bool in_news;                   /* the NULL stream has not seen the last operation */
    struct sl__race_clock *next_news;
    struct sl__race_clock *news;    /* the NULL stream's: whose operations it has not seen, */
    sl__seen closed;                /* and what of streams that have closed since */
} sl__race_clock;

/* An event's latest record. */
typedef struct sl__race_record {
    struct sl__race_record *next, **link;   /* of all records */
    sl_event *event;
    sl__point point;
} sl__race_record;

enum { SL__MOST_CHANCES = 8 };

/* By which chance the host has seen a slot up to an epoch. */
typedef struct sl__chance {
    uint64_t epoch;
    sl_race_chance why;
    uint32_t call, where;           /* the checker's text ids; the call's name if it is one */
} sl__chance;

/* What is known of a slot also when its stream has closed. */
typedef struct sl__slot {
    sl__race_clock *clock;          /* NULL: closed */
    sl_device *device;              /* NULL: closed; its texts have gone */
    uint32_t stream_id;
    uint32_t name, made;            /* the device's text ids; where it was made */
    bool is_blocking;               /* toward the NULL stream */
    bool is_per_thread;
    uint64_t epoch;                 /* the last one */
    sl__seen seen;                  /* of a closed stream: by that */
    uint64_t retired;               /* the last operation that has ended */
    uint32_t next_unseen;           /* slots with operations that the host may not have seen */
    bool is_unseen;
    uint32_t next_closed;
    sl__chance chances[SL__MOST_CHANCES];   /* the latest, the n-th at n modulo their number */
    uint32_t n_chances;
} sl__slot;

/* A host function that is waiting to run. */
typedef struct sl__waiting {
    sl__point point;
} sl__waiting;

typedef struct sl__checker {
    sl_check_mode mode;
    sl__strings strings;            /* of races, and the host's accesses */
    bool starved;                   /* a text or a race found no memory */
    sl__slot *slots;                /* 0 is the host's */
    uint32_t n_slots, slots_room;
    uint32_t unseen, closed;        /* the first of these slots, 0: none */
    uint64_t first_epoch;           /* of slots: earlier checks had those up to it */
    uint64_t host_epoch;            /* counts enqueued operations, from 1 */
    sl__seen host_seen;
    bool is_host_undoable;          /* `host_before` is what it had seen before a call waited, of */
    sl__seen host_before;           /* which it is not known yet whether it happens */
    uint64_t host_version;          /* counts changes of host_seen, from 1 */
    sl__race_clock *clocks;
    sl__race_record *records;
    sl__race_memory *memories;
    sl__waiting *waiting;
    size_t n_waiting, waiting_room;
    const sl__waiting *running;     /* the host function that runs, NULL: none */
    uint64_t running_seq;
} sl__checker;

extern sl__checker sl__race;

/* The checker's ids of a text, and of the script's position. 0: an empty one, or the checker is
 * starved. */
uint32_t sl__race_text(const char *text);
uint32_t sl__race_where(const sl_device *device);

/* ---- order.c: what comes before what ------------------------------------------------ */

/* Who makes an access: what it comes after. `late`: a host function. */
typedef struct sl__actor {
    sl__point point;                /* borrowed */
    bool is_late;
} sl__actor;

/* What the host sees from here on it does not see unless the next operation happens. */
void sl__order_keep_host(void);
/* What the stream's next operation comes after, `awaited` (or NULL) besides the rules, which it
 * becomes. False: out of memory. Then one of the two below: it happens, or it does not and has
 * ordered nothing. */
bool sl__order_next(sl_stream *stream, const sl__point *awaited, sl__actor *actor);
void sl__order_happens(sl__race_clock *clock);
void sl__order_undo(sl__race_clock *clock);
/* The host as it is now. */
sl__actor sl__order_host(void);

/* Between the actor and an access that was made already: before it, or behind an actor that is
 * late. */
typedef enum sl__order { SL__UNORDERED, SL__BY_CHANCE, SL__ORDERED } sl__order;
sl__order sl__order_of(const sl__access *earlier, const sl__actor *actor);

/* The chance by which the host first saw the access, as far as that is remembered. */
sl__chance sl__order_chance(const sl__access *access);

/* The host has seen the point: for sure (NULL), or by a chance, whose epoch is not used. */
bool sl__order_join_host(const sl__point *point, const sl__chance *chance);
/* All that the slot's stream has, also if it has closed. */
bool sl__order_join_slot(uint32_t slot, const sl__chance *chance);
/* The first slot behind `slot` (0: of all) that has operations which the host has not seen for
 * sure; 0: none. */
uint32_t sl__order_next_unseen(uint32_t slot);
/* The stream's clock, made at its first use. NULL: out of memory. */
sl__race_clock *sl__order_clock(sl_stream *stream);
sl__point sl__order_point(const sl__race_clock *clock);     /* of its last operation; borrowed */

/* The device closes: all its work has ended, and nothing races with it any more. */
void sl__order_device_closed(sl_device *device);

/* Forgets all clocks and slots. */
void sl__order_clear(void);

/* ---- touch.c: one access ------------------------------------------------------------ */

enum { SL__MOST_MET = 16 };

/* An access to bytes [first, end) of a buffer, and what is found out about it. */
typedef struct sl__touch {
    sl_buffer *buffer;
    const sl__actor *actor;
    sl__access access;
    size_t first, end;
    bool is_refused;            /* in error mode: it races, and must not happen */
    bool has_happened;          /* cudaFree: nothing can refuse it any more */
    bool frees_by_waiting;      /* and what it waits for is an accident */
    struct sl__met { uint32_t slot, where; uint64_t epoch; uint8_t kind; } met[SL__MOST_MET];
    int n_met;                  /* in several ranges, and reported once */
} sl__touch;

/* Adds what it races with to the races found. */
void sl__touch_meet(sl__touch *t);
/* False: out of memory. */
bool sl__touch_note(sl__touch *t);

/* ---- checker.c ---------------------------------------------------------------------- */

/* Without memory there is no checking; the script goes on. */
void sl__race_give_up(sl_device *device);

/* ---- found.c: the races found ------------------------------------------------------- */

/* Two accesses that nothing orders, in the script's order, and the bytes [from, to) of both. */
typedef struct sl__meeting {
    sl_race_kind kind;
    sl_buffer *buffer;
    const sl__access *first, *second;
    const sl__access *refused;      /* of them, in error mode: does not happen, its call fails */
    size_t from, to;
} sl__meeting;
void sl__found_add(const sl__meeting *meeting);

/* An operation has ended: whose access it was in a race happened then. */
void sl__found_retired(uint32_t slot, const sl_op *op);
/* An operation does not happen: what came of its races is never known. */
void sl__found_cancelled(uint32_t slot, uint64_t epoch);
/* Operations of the slot do not end any more, as far as races can know. */
void sl__found_lost(uint32_t slot);

/* Fails with the sentence of the latest race. */
sl_status sl__found_fail(sl_error *err);

/* What has not been told has no outcome; to be told. */
void sl__found_finish(void);
/* The same, tells, and forgets all. */
void sl__found_clear(void);

#endif
