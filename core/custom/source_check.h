/* source_check.h - whether the source of an untrusted kernel can be given to a compiler.
 *
 * A compiler reads any file that its source names: an #include, #embed, assembly with .incbin, even
 * a #line, whose file a message would quote. So this reads the source as a compiler does, and lets
 * through what kernels need and nothing that could name a file. What the code does when it runs is
 * not looked at: that is for the limits of the process that runs it.
 */
#ifndef SL_SOURCE_CHECK_H
#define SL_SOURCE_CHECK_H

#include "../backend.h"

enum { SL_MOST_SOURCE_BYTES = 128 << 10, SL_MOST_OPTIONS = 32 };

/* The source's file name for compilers on the host, and for messages in a compiler's form, in place
 * of one that would not be read as it is: it may have quotes, a line's end, any byte. */
#define SL_SOURCE_FILE "kernel.cu"
bool sl_source_file_is_plain(const char *file);

/* SL_ECOMPILE: err->msg says what is refused and why, *line where, counted from 1 in the source. */
sl_status sl_source_check(const char *source, int *line, sl_error *err);

/* The options for the compiler, and the name of the kernel, which becomes part of the source.
 * SL_EINVAL. */
sl_status sl_source_check_options(const char *const *options, size_t n, sl_error *err);
sl_status sl_source_check_name(const char *name, sl_error *err);

/* Whether a source may have that name: one with two underscores in front is the compiler's own, and
 * only those that CUDA has are let through. Names of the emulator's are reserved. */
bool sl_source_name_is_fine(const char *name);
bool sl_source_name_is_ours(const char *name);
/* Whether one of the words is the name; what stands before "*" at a word's end begins it. */
bool sl__source_is_listed(const char *words, const char *name);

/* ---- source_plain.c ---- */

/* A copy, of malloc, in which lines that a backslash continues are joined, comments are blanks, and
 * lines end in \n. Whatever follows stands in the same line, and in the same column but for
 * continued lines. Blanks between a backslash and the line's end do not count, as for g++ and
 * clang++. SL_ENOMEM; SL_ECOMPILE: a comment has no end; it begins in line *line, from 1. */
sl_status sl_source_plain(const char *source, char **plain, int *line, sl_error *err);

#endif
