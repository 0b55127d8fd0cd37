/* scratch_files.h - numbered files of a temporary folder of this process. */
#ifndef SL_TEXT_SCRATCH_FILES_H
#define SL_TEXT_SCRATCH_FILES_H

enum { SL__SCRATCH_PATH = 300 };

/* A new empty file; the folder is made for the first. 0, or an errno. */
int sl__scratch_make(unsigned *number);
/* A new one with the bytes of another file. */
int sl__scratch_copy(const char *from, unsigned *number);
/* `to` has SL__SCRATCH_PATH bytes. */
void sl__scratch_path(unsigned number, char *to);
void sl__scratch_remove(unsigned number); /* 0: none */
/* Removes all, and the folder. Safe in a signal handler. */
void sl__scratch_remove_all(void);

#endif
