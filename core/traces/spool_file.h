/* spool_file.h - a spool (core/record/spool.h) as its records, one at a time. */
#ifndef SL_TRACES_SPOOL_FILE_H
#define SL_TRACES_SPOOL_FILE_H

#include "../record/spool_pack.h"
#include "../text/infile.h"

typedef struct sl__spool_file {
    sl__infile *in;
    uint8_t *chunk; /* the records of one, packed */
    size_t cap;
    spool_unpacker unpacker;
    bool begun;
    const char *damage; /* why it is not read to its end; NULL: it is */
} sl__spool_file;

/* SL_EIO, SL_ENOMEM. */
sl_status sl__spool_file_open(sl__spool_file *file, const char *path, sl_error *err);
void sl__spool_file_close(sl__spool_file *file);

/* The next record of a kind that is known, whose text is valid until the next call. Its kind is 0
 * at the end, which a damaged chunk is, too. SL_EINVAL: it is no spool, or one of a later version;
 * SL_EIO, SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__spool_file_next(sl__spool_file *file, spool_record *record, sl_error *err);

/* Whether a file begins as a spool does; false for what cannot be read, and for what is no file. */
bool sl__is_spool(const char *path);

#endif
