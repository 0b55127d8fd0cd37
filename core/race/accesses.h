/* accesses.h - an access: who read, wrote or freed which bytes, when and where; and lists of
 * accesses in order of age. */
#ifndef SL_RACE_ACCESSES_H
#define SL_RACE_ACCESSES_H

#include "clock.h"

typedef enum sl__access_by { SL__BY_STREAM, SL__BY_HOST, SL__BY_HOST_FUNC } sl__access_by;

/* What came before an access; the accesses of one operation share it. */
typedef struct sl__standing {
    int32_t refs;
    sl__point point;
} sl__standing;
void sl__standing_release(sl__standing *standing); /* NULL: nothing */

/* A launch of a graph; the accesses of its nodes share it. Texts are those of the device. */
typedef struct sl__race_launch {
    int32_t refs;
    uint32_t slot;                /* of the stream that it is in */
    uint32_t where, graph;        /* the script's line; the graph's name */
    uint32_t origin, origin_made; /* the stream where the capture began, and where that was made */
} sl__race_launch;
void sl__race_launch_release(sl__race_launch *launch); /* NULL: nothing */

#define SL__SEEN_NOTHING UINT64_MAX

typedef struct sl__access {
    uint64_t epoch;          /* of the slot; 0: no access */
    uint64_t seq;            /* the operation's, 0 if it was none */
    int64_t host_ns;         /* when, unless BY_STREAM; below 0: after a wait of its call */
    size_t first, end;       /* all the bytes that it touched */
    sl__standing *standing;  /* NULL unless a host function was waiting */
    sl__race_launch *launch; /* of a node of a graph, else NULL */
    uint32_t slot;
    uint32_t where, what; /* text ids: BY_STREAM of its device, else the checker's */
    uint8_t kind;         /* sl_race_access_kind */
    uint8_t by;           /* sl__access_by */
    bool is_staged;       /* of a node: pageable memory, which in fact the launch reads */
    uint64_t seen_id;     /* of a read: id of the vector by which earlier reads were dropped;
                                 * SL__SEEN_NOTHING if a host function has added others since */
} sl__access;

/* Several of them may stand beside each other: reads beside reads, atomic updates beside those. */
static inline bool sl__access_shares(uint8_t kind)
{
    return kind == SL_ACCESS_READ || kind == SL_ACCESS_ATOMIC;
}

static inline bool sl__access_is_there(const sl__access *access) { return access->epoch != 0; }
/* Copies an access into an empty place, and empties a place. */
void sl__access_put(sl__access *place, const sl__access *access);
void sl__access_drop(sl__access *access);
bool sl__access_same(const sl__access *a, const sl__access *b);

/* Accesses in order of age: a ring, so that dropping the oldest is as cheap as appending. One that
 * is taken out of the middle leaves a hole, which is no access (sl__access_is_there); the first and
 * the last one are never holes. */
typedef struct sl__accesses {
    sl__access *list; /* a ring of `room`, a power of two */
    uint32_t first, n, room;
    uint32_t holes;            /* of the n */
    uint32_t n_writes, n_late; /* how many of the n write or free; are of host functions */
    /* Of a large ring: 1 + where in `list` an access is, by its slot; 4 * room places, some of
     * which may name what has gone. */
    uint32_t *table, in_table;
} sl__accesses;

static inline sl__access *sl__access_at(const sl__accesses *accesses, uint32_t i)
{
    return &accesses->list[(accesses->first + i) & (accesses->room - 1)];
}

static inline uint32_t sl__accesses_count(const sl__accesses *accesses)
{
    return accesses->n - accesses->holes;
}

/* Room for one more. The ring does not shrink. False: out of memory, and nothing has changed. Else
 * holes may have gone. */
bool sl__accesses_reserve(sl__accesses *accesses);
void sl__accesses_append(sl__accesses *accesses, const sl__access *access); /* room is reserved */
/* The indices of those before it may change, but none becomes larger. */
void sl__accesses_remove(sl__accesses *accesses, uint32_t i);
void sl__accesses_drop(sl__accesses *accesses); /* all; the ring stays */
void sl__accesses_free(sl__accesses *accesses);
bool sl__accesses_copy(sl__accesses *to, const sl__accesses *from); /* to an empty one */
bool sl__accesses_same(const sl__accesses *a, const sl__accesses *b);

/* The index of an access of that slot and kind, but of no host function; n: there is none. Of
 * several it is any. */
uint32_t sl__accesses_find(const sl__accesses *accesses, uint32_t slot, uint8_t kind);

#endif
