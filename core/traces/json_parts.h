/* json_parts.h - a text that is scanned while it is read, a part at a time.
 *
 * What lies before the step that is being taken is dropped. A value is scanned when all of it is
 * there, so the room grows with the largest one, up to a limit.
 */
#ifndef SL_TRACES_JSON_PARTS_H
#define SL_TRACES_JSON_PARTS_H

#include "json_scan.h"

/* The next bytes of a text, at most `room` > 0 of them; *n is 0 at the end alone. */
typedef sl_status sl__part_reader(void *ud, char *to, size_t room, size_t *n, sl_error *err);

typedef struct sl__parts {
    sl__part_reader *read; /* NULL: the text is there whole */
    void *ud;
    const char *name; /* of the file; NULL: none */
    size_t part;      /* bytes to read at once, 0: the usual number */
    char *text;
    size_t cap;
    bool ended;
} sl__parts;

/* Drops what lies before scan->at and adds what follows; the bytes move, and scan with them.
 * *more false: the end was seen before, and nothing has changed. SL_EINVAL: the value at scan->at
 * has more than 64 MiB. SL_ENOMEM, and what reading fails with. */
sl_status sl__parts_more(sl__parts *parts, sl__scan *scan, bool *more, sl_error *err);
void sl__parts_free(sl__parts *parts);

#endif
