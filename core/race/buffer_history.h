/* buffer_history.h - the history of a buffer: which accesses were the last to its bytes.
 *
 * A buffer's bytes are cut into ranges, each with one history: the last write, and the reads since
 * then that no later read comes after; atomic updates likewise. Whatever races with an access that
 * was dropped also races with one that was kept, unless the dropped one raced already.
 *
 * Host functions are an exception: they run later than they are enqueued, and may race with
 * accesses of calls in between. While one waits to run, accesses that would be dropped are kept as
 * `past`, each with what came before it; only host functions are compared with them. The host's own
 * accesses are also `past`: all that the host enqueues later comes after them.
 */
#ifndef SL_RACE_BUFFER_HISTORY_H
#define SL_RACE_BUFFER_HISTORY_H

#include "accesses.h"

typedef struct sl__history {
    sl__access write;       /* the last one */
    sl__accesses others;    /* reads, and what host functions did */
    sl__accesses past;      /* only compared with host functions */
    sl__vector *dropped[2]; /* by kind, reads and atomic updates: none of `others` is in it */
} sl__history;

typedef struct sl__range {
    size_t first, end; /* bytes [first, end) */
    sl__history *history;
} sl__range;

typedef struct sl__race_memory {
    struct sl__race_memory *next, **link; /* of all memories */
    sl_buffer *buffer;
    sl__range *ranges; /* ascending; they do not overlap */
    size_t n, room;
    size_t compact_at; /* number of ranges at which to compact */
    sl__access freed;  /* the host's call that has freed it: a graph still names it */
} sl__race_memory;

sl__race_memory *sl__memory_new(sl_buffer *buffer);
void sl__memory_free(sl__race_memory *memory);

/* How many accesses it holds, for tests. */
size_t sl__memory_accesses(const sl__race_memory *memory);

/* Calls fn for each range and each earlier access there that `access` to [first, end) conflicts
 * with, which is so if one of the two writes and they are not
 * both atomic updates. `late`: `access` is of a host function, which is
 * compared with past accesses, too. */
typedef void (*sl__meet_fn)(void *ud, const sl__access *earlier);
void sl__memory_meet(const sl__race_memory *memory, const sl__access *access, size_t first,
                     size_t end, bool late, sl__meet_fn fn, void *ud);

/* Adds the access to the history. `seen` is what it comes after. With `keep`, accesses become past
 * instead of being dropped; a range keeps a bounded number of those. `settled` is what every later
 * access comes after. False: out of memory; the access is added for some of the bytes, or none. */
bool sl__memory_note(sl__race_memory *memory, const sl__access *access, size_t first, size_t end,
                     sl__vector *seen, bool keep, const sl__vector *settled);

/* Drops an access that does not happen. What it had replaced is not restored. */
void sl__memory_cancel(sl__race_memory *memory, uint32_t slot, uint64_t epoch);

/* Drops accesses that every later one comes after, and joins neighbouring ranges with the same
 * history. */
void sl__memory_compact(sl__race_memory *memory, const sl__vector *settled);

#endif
