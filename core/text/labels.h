/* labels.h - names that users gave, as they may go to a terminal, and sentences with them. */
#ifndef SL_TEXT_LABELS_H
#define SL_TEXT_LABELS_H

#include "text.h"

/* How many columns the text takes. Control characters, bytes that are no UTF-8, and without
 * `unicode` all that is not ASCII are shown as "?". */
int sl_label_columns(const char *text, bool unicode);

/* Appends the text, in at most `columns` (>= 4) columns: a longer one is cut in the middle,
 * since names that are long mostly differ at their ends. Returns the columns used. */
int sl_label_add(sl_text *out, const char *text, int columns, bool unicode);

/* The same for sentences, which have "..." in the middle of what is longer, and every
 * character set (columns >= 8). Of a template it is the name that is cut, as far as it goes:
 * "vectorized_elem...<FillFunctor>". */
void sl_label_clip(sl_text *out, const char *text, int columns);
/* What is too long is cut at its end. */
void sl_label_clip_end(sl_text *out, const char *text, int columns);

/* Appends a sentence from column `indent` on, broken at blanks but not between a number and
 * its unit, words that are longer than a line anywhere, and a newline. The first line has
 * begun already. */
void sl_label_fold(sl_text *out, const char *text, int indent, int columns);

#define SL__KERNEL_BYTES 121

/* A kernel's name without its return type, namespaces, arguments and what templates were
 * given, of which most of a C++ name consists; a template's argument that is one name stays,
 * since that is the kernel's (cutlass::Kernel2<...>). */
void sl_label_kernel(const char *name, char buffer[SL__KERNEL_BYTES]);

#endif
