/* spool_write.h - the spool of this process: records are gathered into a chunk, which is appended
 * to the file at once. Not for several threads at a time.
 */
#ifndef SPOOL_WRITE_H
#define SPOOL_WRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "spool.h"

/* Makes a file of its own in the folder. False, and errno, if that cannot be. */
bool spool_open(const char *folder);

/* Adds a record to the chunk, which is written first where it is full. A text that is too long is
 * cut. False: out of memory, or the file is closed. */
bool spool_add(const spool_record *record);

/* A number that no name of the spool has had. */
uint32_t spool_next_name(void);

/* Appends what has been gathered. Where that fails (the disk is full, the file may not grow), the
 * file keeps its whole chunks, gets a sentence about that if there is room, and is closed. A file
 * whose descriptor the program has closed is opened again; where that fails, it ends. */
void spool_write(void);

#endif
