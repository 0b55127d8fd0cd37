/* spool_pack.h - the records of a chunk as bytes, of which a launch and its kernel take about 20.
 *
 * A record is a sequence of numbers, LEB128: 7 bits a byte, the lowest ones first, and the 8th bit
 * says that another byte follows.
 *
 *   kind
 *   the first of its kind in a chunk: 2 * (how many shared fields it has) + (1 if it has a text),
 *                                     and how many fields of its own
 *   where it has shared fields: 0, and these; or 1 + n, as the nth combination of them had in this
 *                               chunk, counted from 0; one after SPOOL_SHARED_MOST is the 0th again
 *   each field of its own: its difference to the last record of the kind (0 before the first one),
 *                          -1 as 1, 1 as 2, -2 as 3; of an end, its difference to the start
 *   a text: its length, and as many bytes
 *
 * Which field is which, rows in spool_pack.c say. Later versions add shared fields behind the other
 * shared ones, and own fields behind the own: what an earlier one has not written is 0, what a
 * later one has in addition is passed over, and so is a kind that the reader does not know.
 */
#ifndef SPOOL_PACK_H
#define SPOOL_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "../timeline/keys.h"
#include "spool.h"

enum {
    SPOOL_FIELDS_MOST = 16,   /* of a record: shared ones, and as many own ones */
    SPOOL_SHARED_MOST = 4096, /* combinations */
    SPOOL_PACKED_MOST = 512,  /* bytes of a record, but for its text */
    SPOOL_KINDS_MOST = 64     /* above all kinds, of later versions too */
};

/* ---- written ---- */

typedef struct spool_packed_kind { /* what the chunk has had of it */
    bool begun;
    sl__keys shared;
    uint64_t last[SPOOL_FIELDS_MOST];
} spool_packed_kind;

typedef struct spool_packer { /* all zero at first */
    spool_packed_kind kinds[SPOOL_KINDS];
} spool_packer;

/* The next record belongs to another chunk. */
void spool_pack_begin(spool_packer *packer);

/* Writes the record's bytes, at most SPOOL_PACKED_MOST and its text's, of which SPOOL_TEXT_MOST - 1
 * are taken. Returns where they end; NULL: out of memory, and nothing has changed. */
uint8_t *spool_pack(spool_packer *packer, const spool_record *record, uint8_t *to);

/* ---- read ---- */

typedef struct spool_unpacked_kind {
    bool begun, has_text;
    size_t n_shared, n_own; /* of its fields in the chunk */
    uint64_t *shared;       /* combinations, of as many fields as the reader's kind has */
    size_t n, cap;
    uint64_t last[SPOOL_FIELDS_MOST];
} spool_unpacked_kind;

typedef struct spool_unpacker { /* all zero at first */
    const uint8_t *at, *end;    /* what is left of the chunk */
    spool_unpacked_kind kinds[SPOOL_KINDS_MOST];
    char *text;
    size_t text_cap;
} spool_unpacker;

typedef enum spool_unpacked {
    SPOOL_UNPACKED,
    SPOOL_AT_END,
    SPOOL_DAMAGED, /* no recorder writes that */
    SPOOL_NO_MEMORY
} spool_unpacked;

/* The bytes of a chunk's records: they are read where they are. */
void spool_unpack_begin(spool_unpacker *unpacker, const uint8_t *bytes, size_t n);

/* The next record of a known kind; its text is valid until the next call. */
spool_unpacked spool_unpack(spool_unpacker *unpacker, spool_record *record);

void spool_unpack_free(spool_unpacker *unpacker);

#endif
