/* json_parts.c - a text that is scanned while it is read, a part at a time. */
#include "json_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PART_BYTES ((size_t)1 << 18)
#define MAX_VALUE_BYTES ((size_t)64 << 20)

/* Moves what is kept to the front, in a larger block if `cap` does not fit. */
static sl_status move_to_front(sl__parts *parts, sl__scan *scan, size_t cap, sl_error *err)
{
    size_t kept = (size_t)(scan->end - scan->at);
    char *text = cap > parts->cap ? malloc(cap) : parts->text;
    if (!text) return sl__no_memory(err, "%zu bytes of a trace", cap);
    if (kept > 0) memmove(text, scan->at, kept);
    if (text != parts->text) {
        free(parts->text);
        parts->cap = cap;
    }
    parts->text = text;
    scan->before += (uint64_t)(scan->at - scan->start);
    scan->at = scan->start = text;
    scan->end = text + kept;
    return SL_OK;
}

/* At least as much as is kept, so that a large value is not scanned once for each part of it. */
sl_status sl__parts_more(sl__parts *parts, sl__scan *scan, bool *more, sl_error *err)
{
    size_t kept = (size_t)(scan->end - scan->at), n = 0;
    size_t part = parts->part ? parts->part : PART_BYTES;
    size_t room = kept > part ? kept : part;
    *more = parts->read && !parts->ended;
    if (!*more) return SL_OK;
    if (kept >= MAX_VALUE_BYTES)
        return sl_fail(err, SL_EINVAL, "the value at byte %" PRIu64 " has more than %zu MiB",
                       sl__scan_position(scan, scan->at), MAX_VALUE_BYTES >> 20);
    if (room > MAX_VALUE_BYTES - kept) room = MAX_VALUE_BYTES - kept;
    sl_status status = move_to_front(parts, scan, kept + room, err);
    if (status == SL_OK) status = parts->read(parts->ud, parts->text + kept, room, &n, err);
    if (status != SL_OK) return status;
    scan->end += n;
    parts->ended = n == 0;
    return SL_OK;
}

void sl__parts_free(sl__parts *parts) { free(parts->text); }
