/* infile.h - reading a file a part at a time, compressed or not. */
#ifndef SL_TEXT_INFILE_H
#define SL_TEXT_INFILE_H

#include "text.h"

typedef struct sl__infile sl__infile;

/* What begins as gzip does will be unpacked, whatever the name ends in. SL_EIO, SL_ENOMEM. */
sl_status sl__infile_open(const char *path, sl__infile **in, sl_error *err);
/* The next bytes, at most `room` > 0 of them; *n is 0 at the end alone. SL_EIO and SL_ENOMEM with
 * the path; SL_EINTERRUPT; SL_EINVAL with a sentence about "it": what is compressed is damaged or
 * ends too early, or there are more than 4 GiB. A file that unpacks to more is no use, and may be
 * meant to fill a disk. */
sl_status sl__infile_read(sl__infile *in, char *to, size_t room, size_t *n, sl_error *err);
void sl__infile_close(sl__infile *in);
/* The path without its folder. */
const char *sl__infile_name(const char *path);

#endif
