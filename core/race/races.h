/* races.h - the race checker, as its users see it. Included by streamlab.h.
 *
 * While it is on, every operation, host access, wait and free is put in order by what
 * CUDA guarantees: stream order, events, synchronisation, the NULL stream's rules. Two
 * accesses to the same bytes, one of them a write, that no such guarantee orders, are a
 * race, whatever happened this time. It is one checker for all devices of the process,
 * since the host and its memory are one. docs/design/races.md has the rules.
 *
 * Two kinds: of a race nothing orders the accesses; of an accident something does that no
 * documentation promises, such as cudaFree waiting for the device.
 */
#ifndef SL_RACES_H
#define SL_RACES_H

/* What a found race does. The call that would race fails with SL_ERACE in ERROR mode, and
 * has not happened; an accident never fails, nor does a cudaFree or cudaFreeHost, of which it
 * is known only afterwards whether it waited. */
typedef enum sl_check_mode { SL_CHECK_OFF, SL_CHECK_WARN, SL_CHECK_ERROR } sl_check_mode;

/* From here on; forgets the races found so far. What was enqueued before counts as ordered.
 * Turning it off keeps the races found. SL_ENOMEM: it stays as it was. */
sl_status sl_check(sl_check_mode mode, sl_error *err);
sl_check_mode sl_check_get_mode(void);

typedef enum sl_race_kind { SL_RACE_UNORDERED, SL_RACE_ACCIDENT } sl_race_kind;

typedef enum sl_race_access_kind {
    SL_ACCESS_READ, SL_ACCESS_WRITE, SL_ACCESS_FREE
} sl_race_access_kind;

/* Whether the simulator's schedule had the two accesses in the other order, so that a stale
 * value was in fact read or kept. UNKNOWN: an access has not retired, or a real GPU's. */
typedef enum sl_race_outcome { SL_RACE_UNKNOWN, SL_RACE_HELD, SL_RACE_STALE } sl_race_outcome;

/* Which wait of the host orders the accesses of an accident, though no documentation says so. */
typedef enum sl_race_chance {
    SL_CHANCE_UNKNOWN,          /* not remembered, or no accident */
    SL_CHANCE_FROM_PAGEABLE,    /* a copy from pageable memory waits for its stream first */
    SL_CHANCE_TO_PAGEABLE,      /* a copy to pageable memory returns when it has arrived */
    SL_CHANCE_BLOCKING_COPY,    /* a blocking copy from pageable memory, likewise */
    SL_CHANCE_NULL_STREAM,      /* a wait for the NULL stream includes the blocking streams */
    SL_CHANCE_CALL              /* a call, such as cudaFree, waits for the device */
} sl_race_chance;

/* Who is to wait for the stream of the first access. */
typedef enum sl_race_remedy { SL_REMEDY_STREAM_WAITS, SL_REMEDY_HOST_WAITS } sl_race_remedy;

typedef struct sl_race_access {
    sl_race_access_kind kind;
    const char *what;           /* as in timelines: "matmul_f32", "Memcpy HtoD (Pinned -> Device)";
                                 * of the host: "read", "write", "cudaFree" */
    const char *where;          /* "lab.lua:12", "" if unknown */
    bool by_host;               /* the host itself, not a stream */
    bool in_host_func;          /* by a host function that ran in the stream */
    uint32_t stream;            /* its id, unless by_host */
    const char *stream_name;    /* "" if by_host */
    const char *stream_made;    /* where the stream was made, "" if unknown */
    bool in_per_thread;         /* the stream is the per-thread default stream */
    uint64_t seq;               /* sl_span.correlation of the operation, 0 if by_host */
    size_t first_byte, n_bytes; /* in the tensor's memory */
} sl_race_access;

/* All texts live as long as the race is listed. */
typedef struct sl_race {
    sl_race_kind kind;
    sl_race_access first, second;       /* in the order in which the script made them */
    uint64_t tensor_id;         /* whose memory it is, */
    sl_tensor_spec made_as;     /* as that tensor was made, in the place where it is now, */
    const char *made_where;     /* and where, "" if unknown */
    size_t first_byte, n_bytes; /* that both touch, in the tensor's memory */
    sl_race_chance chance;      /* of an accident: what orders them today */
    const char *chance_call;    /* CALL: its name, "cudaFree"; else "" */
    const char *chance_where;   /* where the wait was, "" if unknown or the second access itself */
    sl_race_remedy remedy;      /* what orders them, before the second */
    sl_race_outcome outcome;
    uint64_t count;             /* how often these two lines met so over this memory */
} sl_race;

/* Those found since the last sl_check, in order. One for each two positions, kind of access
 * and tensor's origin; `count` has the rest. At most SL_MOST_RACES are kept. Borrowed until
 * the next call of the core. */
enum { SL_MOST_RACES = 1000 };
size_t sl_race_count(void);
const sl_race *sl_race_get(size_t index);       /* NULL behind the last */

/* The race that the latest SL_ERACE was for, also if it is not listed; NULL before the first.
 * `is_late`: what failed is its first access, which a host function makes after the second. */
const sl_race *sl_race_refused(bool *is_late);

/* How often accesses met that race, also those that were not kept. */
uint64_t sl_race_total(void);

/* Told of each listed race once that no SL_ERACE has told of, when its outcome is known or
 * cannot be any more, on the thread of the core call that finds that out, at its end. Must not
 * call the core. NULL: no more. */
typedef void (*sl_race_hook)(void *ud, const sl_race *race);
void sl_race_set_hook(sl_race_hook hook, void *ud);

/* What needs what, whether or not anything puts the two in order: two accesses to the same bytes,
 * one of them a write, the second one a stream's or the host's. */
typedef struct sl_race_need {
    uint64_t seq;               /* sl_span.correlation of the second operation; 0: the host, */
    int64_t host_ns;            /* at that time of the host's clock */
    uint64_t on;                /* sl_span.correlation of the first one */
} sl_race_need;

/* From here on keeps a list of them while the checker is on, up to a million; or no more. What was
 * kept before is forgotten. More than a million: nothing is kept. */
void sl_race_keep_needs(bool keep);
bool sl_race_keeps_needs(void);
size_t sl_race_need_count(void);
const sl_race_need *sl_race_need_get(size_t index);     /* NULL behind the last */

#endif
