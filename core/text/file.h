/* file.h - writing files whole or not at all.
 *
 * A file's bytes go to a temporary file beside it, which is made durable and then takes its
 * place. So whatever fails (a full disk, an interrupt, the end of the process), an old file is
 * as it was. It keeps its mode, and its owner where that is allowed. A symbolic link is
 * followed, also to a file that is not there yet; a device or a pipe is written
 * to directly, and so is what stdout or stderr writes to ("/dev/stdout").
 */
#ifndef SL_TEXT_FILE_H
#define SL_TEXT_FILE_H

#include "../streamlab.h"

typedef struct sl_file {
    const char *path;
    const char *bytes;
    size_t n_bytes;
} sl_file;

/* Writes all of them: each is complete before the first takes its place. SL_EIO with the
 * path and the reason; SL_EINTERRUPT if the user stopped it. */
sl_status sl_files_write(const sl_file *files, size_t n, sl_error *err);

/* Finds out whether a file can be written, as sl_files_write would, and changes nothing. *direct
 * (may be NULL): it would be written to directly. */
sl_status sl_file_try(const char *path, bool *direct, sl_error *err);

/* Makes the folders above a path that are missing, for the user alone. What fails shows when the
 * path is opened. */
void sl_make_folders_above(const char *path);

/* Removes what the process has begun to write, when it ends. Safe in a signal handler. (Files of a
 * process that ended without this call are removed by the next one that writes there.) */
void sl_files_abandon(void);

#endif
