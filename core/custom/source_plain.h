/* source_plain.h - a kernel's source as all who read it see it: without comments and continued lines. */
#ifndef SL_SOURCE_PLAIN_H
#define SL_SOURCE_PLAIN_H

#include "../backend.h"

/* A copy, of malloc, in which lines that a backslash continues are joined, comments are blanks, and lines
 * end in \n. Whatever follows stands in the same line, and in the same column but for continued lines.
 * Blanks between a backslash and the line's end do not count, as for g++ and clang++. SL_ENOMEM;
 * SL_ECOMPILE: a comment has no end; it begins in line *line, from 1. */
sl_status sl_source_plain(const char *source, char **plain, int *line, sl_error *err);

#endif
