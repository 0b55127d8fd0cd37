/* temporary_folder.h - folders for what is needed for a moment: compilers' files, and the like.
 *
 * One is named streamlab-PID-PLACE-XXXXXX, where PLACE tells machines and containers apart, of
 * which several may use one folder for temporary files. Whoever makes the first one of a process
 * removes those that this user's ended processes have left. */
#ifndef SL_TEXT_TEMPORARY_FOLDER_H
#define SL_TEXT_TEMPORARY_FOLDER_H

#include <stddef.h>

enum { SL_TEMPORARY_FOLDER_BYTES = 256 }; /* that its path has at most */

/* Makes an empty one below $TMPDIR or /tmp, for this user alone. 0; or an errno, and then `path`
 * is what could not be made. */
int sl_temporary_folder_make(char path[SL_TEMPORARY_FOLDER_BYTES]);

/* Removes it with all that is in it. Links are removed, not followed. Whoever wrote into it is
 * to have ended. */
void sl_temporary_folder_remove(const char *path);

#endif
