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
    bool in_news;                   /* the NULL stream has not seen the last operation */
    struct sl__race_clock *next_news;
    struct sl__race_clock *news;    /* the NULL stream's: whose operations it has not seen */
} sl__race_clock;

/* An event's latest record. */
typedef struct sl__race_record {
    struct sl__race_record *next, **link;   /* of all records */
    sl_event *event;
    sl__point point;
} sl__race_record;

/* What is known of a slot also when its stream has closed. */
typedef struct sl__slot {
    sl__race_clock *clock;          /* NULL: closed */
    sl_device *device;              /* NULL: closed; its texts have gone */
    uint32_t stream_id, name;       /* the device's text id */
    bool is_blocking;               /* toward the NULL stream */
    bool is_per_thread;
    uint64_t epoch;                 /* of a closed stream: its last */
    uint64_t retired;               /* the last operation that has ended */
    uint32_t chance, chance_where;  /* the checker's text ids: what last made the host wait for
                                     * it by chance, and where; 0: nothing */
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
    uint64_t host_epoch;            /* counts enqueued operations, from 1 */
    sl__seen host_seen;
    uint64_t host_version;          /* counts changes of host_seen, from 1 */
    sl__race_clock *clocks;
    sl__race_record *records;
    sl__race_memory *memories;
    sl__waiting *waiting;
    size_t n_waiting, waiting_room;
    const sl__waiting *running;     /* the host function that runs, NULL: none */
    uint64_t running_seq;
    uint32_t running_where;
} sl__checker;

extern sl__checker sl__race;

/* The checker's id of a text; 0: of an empty one, or the checker is starved. */
uint32_t sl__race_text(const char *text);

/* ---- order.c: what comes before what ------------------------------------------------ */

/* Who makes an access: what it comes after. `late`: a host function. */
typedef struct sl__actor {
    sl__point point;                /* borrowed */
    bool is_late;
} sl__actor;

/* What the stream's next operation comes after, which it becomes. False: out of memory. */
bool sl__order_next(sl_stream *stream, sl__actor *actor);
/* The host as it is now. */
sl__actor sl__order_host(void);

typedef enum sl__order { SL__UNORDERED, SL__BY_CHANCE, SL__ORDERED } sl__order;
sl__order sl__order_of(const sl__access *earlier, const sl__actor *actor);
/* Whether `actor`, which is late, comes before an access that was made already. */
bool sl__order_is_behind(const sl__access *access, const sl__actor *actor);

/* The host has seen the point. `why` and `where` (checker's text ids) say by what chance. */
bool sl__order_join_host(const sl__point *point, bool sure, uint32_t why, uint32_t where);
/* The stream's clock, made at its first use. NULL: out of memory. */
sl__race_clock *sl__order_clock(sl_stream *stream);
sl__point sl__order_point(const sl__race_clock *clock);     /* of its last operation; borrowed */

/* Forgets all clocks and slots. */
void sl__order_clear(void);

/* ---- found.c: the races found ------------------------------------------------------- */

/* Two accesses that nothing orders, in the script's order, and the bytes [from, to) of both. */
typedef struct sl__meeting {
    sl_race_kind kind;
    sl_buffer *buffer;
    const sl__access *first, *second;
    size_t from, to;
} sl__meeting;
void sl__found_add(const sl__meeting *meeting);

/* An operation has ended: whose access it was in a race happened then. */
void sl__found_retired(uint32_t slot, const sl_op *op);
/* An operation was refused: races with it are none. */
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
