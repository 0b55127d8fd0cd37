/* divert.h - runs of a script that leave files as they are.
 *
 * A script that runs several times, so that one sees how its times vary, writes its results once.
 * In its first run files are written as always, and copies are kept of what they were before. In
 * later runs, which are diverted, files of a temporary folder stand for those that are written:
 * such a run finds all files as they were before the first one, and reads what it has written
 * itself. Devices and pipes get nothing. What commands answered in the first run they answer in
 * later ones, where none is started.
 *
 * One such script runs at a time in a process. Errors are errno's.
 */
#ifndef SL_TEXT_DIVERT_H
#define SL_TEXT_DIVERT_H

#include <stdbool.h>

/* What the runs of one script share. */
typedef struct sl_diversion sl_diversion;
sl_diversion *sl_diversion_new(void); /* NULL: out of memory */
void sl_diversion_free(sl_diversion *d);

/* A run begins, the first one or a diverted one. */
void sl_divert_begin(sl_diversion *d, bool diverted);
void sl_divert_end(void);
bool sl_divert_is_on(void); /* a run has begun */
bool sl_divert_is_diverted(void);

typedef enum sl_file_use {
    SL_FILE_READ,
    SL_FILE_CHANGE, /* one that is there */
    SL_FILE_APPEND, /* one that may be there */
    SL_FILE_REPLACE
} sl_file_use;

/* Which file is to be opened: *instead is `path`, or valid until the next call. 0, or why it
 * cannot be. */
int sl_divert_open(const char *path, sl_file_use use, const char **instead);
/* For remove and rename. True: it was done for this run, with *error; false: the caller is to do
 * it. */
bool sl_divert_remove(const char *path, int *error);
bool sl_divert_rename(const char *from, const char *to, int *error);

/* Runs a shell command, or finds what it answered: *status is that of system and pclose.
 * *output, unless it is NULL, becomes the path of a file with what it wrote to stdout, valid
 * until the next call. 0; ENOENT: the first run has not run it so many times. */
int sl_divert_command(const char *command, const char **output, int *status);

/* Removes the temporary folder, when the process ends. Safe in a signal handler. */
void sl_divert_abandon(void);

#endif
