/* infile.h - reading a file whole, compressed or not. */
#ifndef SL_TEXT_INFILE_H
#define SL_TEXT_INFILE_H

#include "text.h"

/* The bytes of the file, unpacked if it begins as gzip does, whatever its name ends in. The
 * caller frees *text. What does not begin as JSON does is not read to its end: a file that
 * unpacks to gigabytes of nothing is refused at once.
 * SL_EIO, SL_ENOMEM; SL_EINVAL for what is no JSON or has more than 4 GiB. */
sl_status sl__infile_read(const char *path, char **text, size_t *n, sl_error *err);
/* The path without its folder. */
const char *sl__infile_name(const char *path);

#endif
