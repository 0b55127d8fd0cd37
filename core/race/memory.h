/* memory.h - who last touched which bytes of a buffer.
 *
 * A buffer's bytes are cut into ranges that have the same history: the last write, and the
 * reads since then that no later read comes after. What a range has forgotten cannot race
 * with anything new that does not also race with what it kept, unless it raced already.
 *
 * Host functions are an exception: they run later than they are enqueued, and may race with
 * what came in between. While one is waiting to run, what would be dropped is kept, each
 * access with where it stands; those that only a host function has to look at are `past`.
 * The host's own accesses are of that kind: all that it enqueues later comes after them.
 */
#ifndef SL_RACE_MEMORY_H
#define SL_RACE_MEMORY_H

#include "accesses.h"

typedef struct sl__history {
    sl__access write;           /* the last one */
    sl__accesses others;        /* reads, and what host functions did */
    sl__accesses past;          /* what only a host function has to look at */
} sl__history;

typedef struct sl__range {
    size_t first, end;          /* bytes [first, end) */
    sl__history *history;
} sl__range;

typedef struct sl__race_memory {
    struct sl__race_memory *next, **link;       /* of all memories */
    sl_buffer *buffer;
    sl__range *ranges;          /* ascending, apart from each other */
    size_t n, room;
    size_t compact_at;          /* when there are so many */
} sl__race_memory;

sl__race_memory *sl__memory_new(sl_buffer *buffer);
void sl__memory_free(sl__race_memory *memory);

/* How many accesses it holds, for tests. */
size_t sl__memory_accesses(const sl__race_memory *memory);

/* Calls fn, once for each range, for each earlier access that `access` to [first, end)
 * conflicts with: one of them writes. `late` is a host function, which sees what is past, too. */
typedef void (*sl__conflict_fn)(void *ud, const sl__access *earlier);
void sl__memory_meet(const sl__race_memory *memory, const sl__access *access, size_t first,
                     size_t end, bool late, sl__conflict_fn fn, void *ud);

/* Notes the access, whose `seen` says what of the history it comes after. With `keep`
 * accesses become past instead of being dropped, of which a range has a bounded number.
 * `settled` is what everything new comes after. False: out of memory; the access is noted for
 * some of the bytes, or none. */
bool sl__memory_note(sl__race_memory *memory, const sl__access *access, size_t first, size_t end,
                     const sl__vector *seen, bool keep, const sl__vector *settled);

/* Drops an access that has not happened. What it had replaced stays forgotten. */
void sl__memory_cancel(sl__race_memory *memory, uint32_t slot, uint64_t epoch);

/* Drops what everything new comes after, and joins ranges of one history. */
void sl__memory_compact(sl__race_memory *memory, const sl__vector *settled);

#endif
