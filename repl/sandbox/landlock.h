/* landlock.h - which files this process and those that it starts can open, by Linux's Landlock. */
#ifndef REPL_LANDLOCK_H
#define REPL_LANDLOCK_H

#include <stdbool.h>

/* Whether this system has it. */
bool landlock_is_here(void);

/* From now on: the folders of the system can be read and their programs started, and so can `also`
 * (NULL: nothing else); in `folder` everything can be done. Nothing else can be opened, no TCP
 * connection be made, no process outside be signalled or traced (as far as this system's Landlock
 * goes). NULL, or why that is not so: a sentence's end. */
const char *landlock_confine(const char *folder, const char *also);

#endif
