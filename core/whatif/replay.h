/* replay.h - the recorded schedule, played again without some of its waits.
 *
 * Removing a cause does not gain all the time that an engine stood still for it: another cause
 * may have delayed the work for nearly as long. So the schedule is played again. Played with
 * nothing left out it ends when it was recorded to end, but for what recording itself took of the
 * host's time (recording_cost.c): no replay has that. */
#ifndef SL_WHATIF_REPLAY_H
#define SL_WHATIF_REPLAY_H

#include "../timeline/operations.h"

/* Bits by item: what does not hold it. */
enum {
    SL__NO_STREAM = 1,    /* what comes before it in its stream; its events still do */
    SL__NO_EVENT = 2,     /* of a wait: the event; of a span: one that was guessed */
    SL__NO_NULL = 4,      /* the NULL stream */
    SL__NO_CHANNEL = 8,   /* its hardware channel */
    SL__NO_ENGINE = 16,   /* its engine, the room on the SMs */
    SL__NO_CALL = 32,     /* its call waits for nothing, and copies no pageable memory */
    SL__NO_PAUSE = 64,    /* the host goes on at once behind its call */
    SL__NO_ISSUE = 128,   /* its call takes no time, nor does a short pause before it */
    SL__NO_LATENCY = 256, /* it starts as soon as it may */
    SL__NO_LAST = 512,    /* the last one before it in its stream, but those before that */
    SL__NO_GRAPH = 1024,  /* the launch of its graph before it, in another stream */
    SL__NO_LAUNCH = 2048, /* what its stream had before the launch that ran it */
    SL__NO_RANK = 4096,   /* the rank of its collective that comes last */
    SL__NO_COMM = 8192,   /* the collective of its communicator before it, in another stream */
    SL__ASIDE = 16384, /* of a collective: what comes behind it in its stream goes on without it */
    SL__BY_PART =
        32768 /* of a collective: it begins with its part of what was computed (tails.h) */
};

typedef struct sl__played {
    int64_t host_start_ns, host_end_ns, start_ns, end_ns;
} sl__played;

/* What the recording says of an item's delays. */
typedef struct sl__delays {
    int64_t call_ns;   /* its call without what it waits for, and without what recording took */
    int64_t return_ns; /* from the end of that to the call's end, likewise */
    int64_t submit_ns; /* from its call to its start */
    int64_t follow_ns; /* from the last other thing that it waited for to its start */
    bool follows_all;  /* of a kernel that fills the GPU: smaller ones, too, kept it waiting */
} sl__delays;

typedef struct sl__played_stream {
    int64_t before_tail_ns; /* the last end but one */
    int64_t event_tail_ns;  /* the last event that it has waited for */
    int64_t launch_tail_ns; /* the last end of what its last launch ran */
    uint32_t launch;        /* which that is, as in sl__issue */
    size_t bar,
        turn; /* the last items for the NULL stream's rule, and of a communicator, behind which
                       * something of it came */
} sl__played_stream;

typedef struct sl__replay {
    const sl__operations *ops;
    uint64_t *steps; /* in order of recorded time: an item, and which of its times */
    size_t n_steps;
    sl__played *played;         /* by item */
    sl__delays *delays;         /* by item */
    sl__board board;            /* the last end, as played, of each joint */
    sl__played_stream *streams; /* by lane */
    const size_t *parts;        /* by item: whose end makes its part; NULL: not known */
    size_t *callers;            /* by thread of the host: whose call ended last, or SL__NO_ITEM */
    sl__pinned pinned;          /* what pageable copies would take */
} sl__replay;

/* A kernel that leaves no SM empty, as far as is known. */
bool sl__fills_gpu(const sl_timeline *timeline, const sl_span *span);

sl_status sl__replay_open(const sl__operations *ops, sl__replay *replay, sl_error *err);
void sl__replay_close(sl__replay *replay);

/* The makespan without what `left_out`, an entry an item, has bits for; NULL finds the delays.
 * Stops early, with a makespan that means nothing, when the user wants to stop. */
int64_t sl__replay_makespan_ns(sl__replay *replay, const uint16_t *left_out);

#endif
