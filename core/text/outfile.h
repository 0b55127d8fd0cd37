/* outfile.h - writing a file piece by piece, whole or not at all, as file.h says.
 *
 * A compressed file's header holds neither time nor name nor system, so that equal runs give
 * equal bytes (where zlib is the same: another version may compress differently).
 */
#ifndef SL_TEXT_OUTFILE_H
#define SL_TEXT_OUTFILE_H

#include <stdbool.h>

#include "file.h"

typedef struct sl__outfile {
    const char *path; /* as the user gave it; borrowed until close */
    char *target;     /* what is to be replaced, NULL to write directly */
    char *temporary;  /* exists while not NULL */
    char *buffer;
    size_t used;
    struct sl__gzip *gzip; /* NULL: not compressed */
    int fd;
    int error;    /* errno of the first failed write; later writes do nothing */
    bool stopped; /* the user has stopped it; later writes do nothing */
} sl__outfile;

/* SL_EIO with path and reason. On failure there is nothing to close. */
sl_status sl__outfile_open(const char *path, sl__outfile *file, sl_error *err);
/* The same of a file that is compressed if its name ends in ".gz". */
sl_status sl__outfile_open_packed(const char *path, sl__outfile *file, sl_error *err);
/* Buffered; failures show at close. */
void sl__outfile_write(sl__outfile *file, const char *bytes, size_t n);
/* Whether further writes do nothing: for loops that write much. */
bool sl__outfile_failed(const sl__outfile *file);
/* Makes the file durable and puts it in its place, or removes it and fails; SL_EINTERRUPT
 * if the user stopped it. */
sl_status sl__outfile_close(sl__outfile *file, sl_error *err);
/* Both halves of that, for files that belong together. A failure has abandoned the file. */
sl_status sl__outfile_finish(sl__outfile *file, sl_error *err);
sl_status sl__outfile_place(sl__outfile *file, sl_error *err);
/* Opens and abandons it; a device or a pipe is not opened. */
sl_status sl__outfile_try(const char *path, bool *direct, sl_error *err);
/* Removes what was written, unless it went to a device or a pipe. */
void sl__outfile_abandon(sl__outfile *file);

#endif
