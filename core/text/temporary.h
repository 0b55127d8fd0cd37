/* temporary.h - the files that are written beside what they are to replace.
 *
 * One is named streamlab-PID-N.tmp and lies in the folder of its target; its writer holds a
 * lock on it. Whoever makes one removes those that ended writers have left in that folder.
 */
#ifndef SL_TEXT_TEMPORARY_H
#define SL_TEXT_TEMPORARY_H

#include <stddef.h>

/* Bytes of the path up to and with its last slash. */
size_t sl__folder_bytes(const char *path);

/* Makes one for that target: its path, for sl__temporary_forget, and a descriptor to write
 * to. 0, or an errno; then there is nothing to free. */
int sl__temporary_make(const char *target, char **path, int *fd);

/* It has been renamed or removed: frees the path. NULL is fine. */
void sl__temporary_forget(char *path);

#endif
